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
    /// The type of the value, as the caller sees it.
    pub(crate) result: Type,
    /// Somebody uses the value.
    pub(crate) used: bool,
    /// Nobody asks for more than its sign.
    pub(crate) only_sign: bool,
    pub(crate) place: &'a Place,
}

impl Call<'_> {
    /// An argument that must be there and be a value.
    pub(crate) fn argument(&self, index: usize) -> Option<(Type, Term)> {
        let (ty, value) = *self.arguments.get(index)?;
        Some((ty, value?))
    }
}
