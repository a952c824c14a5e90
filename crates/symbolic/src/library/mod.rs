//! Models of functions that cannot be written in C: those that make inputs, end a program, give memory or
//! print.

mod allocation;
mod bits;
mod environment;
mod floating;
mod format;
mod input;
pub(crate) mod model;
mod number;
mod output;
mod scanf;
pub(crate) mod unknown;
mod unsupported;
mod verifier;

pub use allocation::MEMORY_IS_THERE;
pub use input::INPUT_IS_LIMITED;
pub use scanf::SCANF_SUCCEEDS;
pub(crate) use unknown::called;

use model::Model;

/// The model of a function.
pub(crate) fn model(name: &str) -> Option<Model> {
    verifier::find(name)
        .or_else(|| allocation::find(name))
        .or_else(|| output::find(name))
        .or_else(|| input::find(name))
        .or_else(|| floating::find(name))
        .or_else(|| number::find(name))
        .or_else(|| bits::find(name))
        .or_else(|| environment::find(name))
}

/// Whether anything is known of a function without a body: it has a model, it is one of the library, or it is not encoded.
pub(crate) fn is_known(name: &str) -> bool {
    model(name).is_some()
        || patchwright_clib::facts(name).is_some()
        || unsupported::unsupported(name).is_some()
}
