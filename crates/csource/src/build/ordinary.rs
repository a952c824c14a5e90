//! The table of ordinary identifiers: all names but tags, labels and members.

use crate::tree::VarId;

/// The meaning of an ordinary identifier in the scope that is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ordinary {
    Variable(VarId),
    Enumerator(i128),
    Typedef,
}
