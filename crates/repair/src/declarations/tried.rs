//! Tries changes of declarations, and decides when.

use std::{path::PathBuf, sync::Arc};

use super::edits::Change;
use crate::found::Header;

/// The cost of changed declarations. They come after all other candidates of this cost.
pub(crate) const DECLARATION_COST: u32 = 3;

/// The cost of changed declarations for which failing tests speak. They come when all candidates of cost 1 are explored.
pub(crate) const SHOWN_COST: u32 = 2;

/// The cost of parentheses that a macro lacks. They come before the other candidates of this cost.
pub(crate) const PARENTHESES_COST: u32 = 2;

/// A turn of changed declarations: those that are tried at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DeclarationTurn {
    /// Parentheses that bodies of macros lack.
    Parentheses,
    /// Those that failing tests speak for ([`evidence`]).
    Shown,
    /// All others.
    Others,
}

/// A change with the location that it is reported for.
pub(crate) struct Tried {
    pub(super) entry: usize,
    pub(super) file: PathBuf,
    pub(super) header: Option<Arc<Header>>,
    pub(super) change: Change,
    pub(super) text: Vec<u8>,
    pub(super) diff: Vec<u8>,
}

impl DeclarationTurn {
    /// Returns the cost at which the turn comes.
    pub(super) fn cost(self) -> u32 {
        match self {
            DeclarationTurn::Parentheses => PARENTHESES_COST,
            DeclarationTurn::Shown => SHOWN_COST,
            DeclarationTurn::Others => DECLARATION_COST,
        }
    }
}
