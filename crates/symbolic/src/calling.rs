//! The interface through which models of functions see a call.

use patchwright_ir::{OriginId, Type};
use patchwright_solve::Term;

use crate::encoding::Place;

/// The origin of what belongs to no instruction.
pub(crate) const NO_ORIGIN: OriginId = OriginId(0);

/// A call as a model of the library sees it.
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a [(Type, Option<Term>)],
    /// Which of them point to what is `const` for the function: it is taken to write nothing there.
    pub(crate) to_const: &'a [bool],
    /// The type of the value, as the caller sees it.
    pub(crate) result: Type,
    /// Somebody uses the value.
    pub(crate) used: bool,
    /// Nobody asks for more than its sign.
    pub(crate) only_sign: bool,
    pub(crate) place: &'a Place,
}

impl Call<'_> {
    /// Whether the function may write to what an argument leads to. (A structure is handed over as the address of a copy, and the copy
    /// may hold pointers.)
    pub(crate) fn may_write_behind(&self, index: usize) -> bool {
        let ty = self.arguments.get(index).map(|one| one.0);
        let is_const = self.to_const.get(index).is_some_and(|&is_const| is_const);
        matches!(ty, Some(Type::Ptr | Type::Aggregate { .. })) && !is_const
    }

    /// What the function is taken not to write, for a note; empty if no argument points to what is `const`.
    pub(crate) fn but_const(&self) -> &'static str {
        match self.to_const.contains(&true) {
            true => " (it writes nothing behind pointers to `const`)",
            false => "",
        }
    }

    /// An argument that must be there and be a value.
    pub(crate) fn argument(&self, index: usize) -> Option<(Type, Term)> {
        let (ty, value) = *self.arguments.get(index)?;
        Some((ty, value?))
    }
}
