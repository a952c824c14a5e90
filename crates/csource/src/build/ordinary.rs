//! The table of ordinary identifiers: all names but tags, labels and members.

use crate::tree::VarId;

/// What an ordinary identifier names in the scope that is being read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Ordinary {
    Variable(VarId),
    Enumerator(i128),
    Typedef,
}
