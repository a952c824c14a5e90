//! The type of a model of a function.

use patchwright_solve::Term;

use crate::{
    calling::Call,
    encoder::{Encoder, Go, World},
};

/// What a model gives: `None` if it cannot do this call, which is then one of the body.
pub(crate) type Given = Go<Option<Option<Term>>>;

/// A model of a function.
#[derive(Clone, Copy)]
pub(crate) struct Model {
    pub(crate) run: fn(&mut Encoder<'_>, &Call<'_>, &mut World) -> Given,
    /// It counts even where the program has a function of this name with a body.
    pub(crate) always: bool,
}

/// A model of a function that counts where the program has none of its own.
pub(super) fn usual(run: fn(&mut Encoder<'_>, &Call<'_>, &mut World) -> Given) -> Option<Model> {
    Some(Model { run, always: false })
}

/// A model of a function that always counts.
pub(super) fn always(run: fn(&mut Encoder<'_>, &Call<'_>, &mut World) -> Given) -> Option<Model> {
    Some(Model { run, always: true })
}
