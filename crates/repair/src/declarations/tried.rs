//! Tries changes of declarations, and decides when.

use std::{path::PathBuf, sync::Arc};

use super::edits::Change;
use crate::found::Header;

/// They come behind all candidates of this cost, and have it.
pub(crate) const DECLARATION_COST: u32 = 3;

/// What failing tests speak for is tried when all candidates of cost 1 are explored, and has this cost.
pub(crate) const SHOWN_COST: u32 = 2;

/// What is known to lack parentheses is tried before the other candidates of this cost, and has it.
pub(crate) const PARENTHESES_COST: u32 = 2;

/// Which changes of declarations are tried at one time.
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
