//! The state at one point of a function: where pointers point, and which bytes of each object are
//! written.

use super::promise::{Follows, Promise};
use crate::bytes::{Bytes, END};

/// Where a pointer points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pointer {
    /// Nowhere, as far as is known: no value, or null.
    #[default]
    Nowhere,
    /// Into an object: so many bytes behind its start, if that is known.
    Into(usize, Option<i64>),
    /// Anywhere else.
    Unknown,
}

impl Pointer {
    /// Returns what is known of a pointer that is the one or the other.
    pub(super) fn join(self, other: Pointer) -> Pointer {
        match (self, other) {
            (Pointer::Nowhere, known) | (known, Pointer::Nowhere) => known,
            (Pointer::Into(a, at), Pointer::Into(b, also)) if a == b => {
                Pointer::Into(a, at.filter(|_| at == also))
            }
            _ => Pointer::Unknown,
        }
    }

    /// Returns the pointer that many bytes further on; `None` for an unknown number.
    pub(super) fn moved(self, by: Option<i64>) -> Pointer {
        match self {
            Pointer::Into(object, at) => {
                let moved = at.zip(by).and_then(|(at, by)| at.checked_add(by));
                Pointer::Into(object, moved)
            }
            other => other,
        }
    }
}

/// What holds at a point of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// Of each object, if it exists.
    pub(super) objects: Vec<Option<Bytes>>,
    /// Where the variables point that are registers.
    pub(super) pointers: Vec<Pointer>,
    /// What results of calls say of each object.
    pub(super) promises: Vec<Promise>,
    /// What variables hold that are registers.
    pub(super) results: Vec<Follows>,
}

impl State {
    /// Takes in another way to the same point; whether that changes anything.
    pub(super) fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        let both = self.objects.iter().zip(&other.objects);
        let promises = self.promises.iter_mut().zip(&other.promises);
        for ((own, other), (promise, others)) in both.zip(promises) {
            match (own, other) {
                (Some(own), Some(other)) => *promise = promise.meet(own, others, other),
                (None, Some(_)) => promise.clone_from(others),
                (_, None) => {}
            }
        }
        for (own, other) in self.results.iter_mut().zip(&other.results) {
            *own = own.filter(|own| *other == Some(*own));
        }
        for (own, other) in self.objects.iter_mut().zip(&other.objects) {
            *own = match (own.take(), other) {
                (Some(own), Some(other)) => Some(own.meet(other)),
                (own, other) => own.or_else(|| other.clone()),
            };
        }
        for (own, other) in self.pointers.iter_mut().zip(&other.pointers) {
            *own = own.join(*other);
        }
        *self != before
    }
}

/// Writes `size` bytes; `None` for some that are not known.
pub(super) fn write(state: &mut State, to: Pointer, size: Option<u64>) {
    match (to, size) {
        (Pointer::Into(object, Some(at)), Some(size)) => {
            if let Some(bytes) = &mut state.objects[object] {
                let end = at.saturating_add(i64::try_from(size).unwrap_or(END));
                bytes.written.add(at, end);
            }
        }
        (Pointer::Into(object, _), _) => {
            if let Some(bytes) = &mut state.objects[object] {
                bytes.weak = true;
            }
        }
        (Pointer::Unknown, _) => disturb(state),
        (Pointer::Nowhere, _) => {}
    }
}

/// Others come to know of an object.
pub(super) fn escape(state: &mut State, what: Pointer) {
    if let Pointer::Into(object, _) = what
        && let Some(bytes) = &mut state.objects[object]
    {
        bytes.escaped = true;
    }
}

/// Notes that other code may write the objects whose address it has.
pub(super) fn disturb(state: &mut State) {
    for bytes in state.objects.iter_mut().flatten() {
        bytes.weak |= bytes.escaped;
    }
}
