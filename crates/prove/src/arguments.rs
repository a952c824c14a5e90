//! Finds how a program uses its arguments.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::{ExprKind, Function};
use patchwright_solve::{Term, Terms};
use patchwright_symbolic::{Encoding, Input, InputKind};

use crate::source::Source;

/// Which arguments `main` reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArgumentsRead {
    /// The largest constant index of its second parameter.
    pub constant: u32,
    /// It reads arguments otherwise as well: in a loop, or by handing them on.
    pub any: bool,
    /// It looks at them, or at their number.
    pub some: bool,
    /// It looks at their number.
    pub number: bool,
}

impl ArgumentsRead {
    /// Returns how many arguments the program gets by default: as many as it reads by constant
    /// indices, and at least one if it reads any.
    pub fn count(self) -> u32 {
        self.constant.max(u32::from(self.any))
    }

    /// Returns the arguments that at least one of two programs reads.
    #[must_use]
    pub fn and(self, other: ArgumentsRead) -> ArgumentsRead {
        ArgumentsRead {
            constant: self.constant.max(other.constant),
            any: self.any || other.any,
            some: self.some || other.some,
            number: self.number || other.number,
        }
    }
}

/// Returns which arguments `main` in `sources` reads.
pub fn arguments_read(sources: &[Source]) -> ArgumentsRead {
    let functions = sources.iter().flat_map(|source| &source.unit.functions);
    let mains = functions.filter(|function| function.name == "main");
    mains
        .map(read_in)
        .fold(ArgumentsRead::default(), ArgumentsRead::and)
}

fn read_in(main: &Function) -> ArgumentsRead {
    let mut read = ArgumentsRead::default();
    let (mut uses, mut known) = (0, 0);
    for expr in &main.exprs {
        match expr.kind {
            ExprKind::Variable(variable) => {
                read.some |= main.parameters.iter().take(2).any(|&one| one == variable);
                read.number |= main.parameters.first() == Some(&variable);
                uses += u32::from(main.parameters.get(1) == Some(&variable));
            }
            ExprKind::Subscript { base, index } => {
                let is_vector = match main.expr(main.stripped(base)).kind {
                    ExprKind::Variable(variable) => main.parameters.get(1) == Some(&variable),
                    _ => false,
                };
                if let ExprKind::Integer { value, .. } = main.expr(main.stripped(index)).kind
                    && is_vector
                {
                    known += 1;
                    read.constant = read.constant.max(u32::try_from(value).unwrap_or(0));
                }
            }
            _ => {}
        }
    }
    read.any = uses > known;
    read
}

/// Which arguments matter to some terms, and whether by their bytes or as numbers.
#[derive(Clone, Debug, Default)]
pub struct ArgumentUses {
    /// The number of an argument, and the size of the number that it is; 0 where its bytes matter.
    used: BTreeSet<(u32, u64)>,
}

impl ArgumentUses {
    /// Adds `roots` to the terms looked at. The result is whether they depend on one argument in two
    /// ways: by its bytes and as a number, or as numbers of several types. Then the numbers have to
    /// be what the bytes say.
    pub fn mix<'e>(
        &mut self,
        terms: &Terms,
        roots: &[Term],
        inputs: impl IntoIterator<Item = &'e Input>,
    ) -> bool {
        let mut ways: BTreeMap<Term, (u32, u64)> = BTreeMap::new();
        for input in inputs {
            match input.kind {
                InputKind::ArgumentByte(number, _) => {
                    ways.insert(input.term, (number, 0));
                }
                InputKind::ArgumentNumber(number, ty) => {
                    ways.insert(input.term, (number, ty.size()));
                }
                _ => {}
            }
        }
        if !ways.is_empty() {
            let within = terms.within(roots);
            let used = within.iter().filter_map(|variable| ways.get(variable));
            self.used.extend(used);
        }
        let arguments: BTreeSet<u32> = self.used.iter().map(|&(number, _)| number).collect();
        arguments.len() < self.used.len()
    }
}

/// Whether `roots` (what has to hold, or what may differ) depend on one argument in two ways, as
/// [`ArgumentUses::mix`] describes.
pub fn mixes_arguments(terms: &Terms, roots: &[Term], encodings: &[&Encoding]) -> bool {
    let inputs = encodings.iter().flat_map(|one| &one.inputs);
    ArgumentUses::default().mix(terms, roots, inputs)
}
