//! Makes the blocks of changes without terms.

use super::SpaceBuilder;
use crate::ways_out::{Conditions, Exits};
use crate::{
    choices::Choice,
    space::{Schema, Template},
    term::{CType, Term},
};

/// The number of an alternative as a term.
fn number(place: usize) -> Term {
    let number = place + 1;
    Term::constant(number as u64, CType::Int, number.to_string())
}

impl SpaceBuilder<'_> {
    /// Adds a block for each alternative.
    pub(super) fn choices(&mut self, choice: &Choice) {
        for (place, alternative) in choice.alternatives.iter().enumerate() {
            if let Some(pool) = self.fixed(&number(place)) {
                let (cost, schema) = (alternative.cost, alternative.schema);
                self.block(0, Template::One(pool), cost, schema, usize::MAX);
            }
        }
    }

    /// `c ? n : 0` for each way out and each condition of so many nodes. All conditions of a way come before the next way: the
    /// ways are in the order in which they are likely.
    pub(super) fn exits(&mut self, exits: &Exits, size: u32, most: usize) {
        let mut conditions = match size {
            2 => self.crash_free.iter().map(|&(_, fails)| fails).collect(),
            _ => Vec::new(),
        };
        match exits.under {
            Conditions::All => {
                if size == 2 {
                    conditions.extend(self.additions(1));
                }
                conditions.extend(self.additions(size));
            }
            Conditions::Entry | Conditions::Answer if size == 3 => {
                conditions.extend(self.additions(size))
            }
            Conditions::Entry | Conditions::Answer | Conditions::CrashFree => {}
        }
        let Some(stay) = self.fixed(&Term::constant(0, CType::Int, "0")) else {
            return;
        };
        for (place, way) in exits.ways.iter().enumerate() {
            let Some(leave) = self.fixed(&number(place)) else {
                continue;
            };
            for &condition in &conditions {
                let cost = way.cost + self.cost(condition);
                let template = Template::Select(condition, leave, stay);
                self.block(0, template, cost, Schema::Exit, most);
            }
        }
    }
}
