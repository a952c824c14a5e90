//! Summaries of functions: which objects they write and use, on which their callers may rely.

use crate::bytes::{Bytes, Ranges};

/// What a function does with what it is given, and what it gives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// It may return.
    pub returns: bool,
    /// What it does with what each of its parameters points to.
    pub parameters: Vec<Effect>,
    /// It returns null, or memory that it has allocated.
    pub fresh: Option<Fresh>,
}

/// What a function does with what a parameter points to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Effect {
    /// These bytes are written whenever it returns.
    pub written: Ranges,
    /// Others may be.
    pub weak: bool,
    /// Others come to know of it.
    pub escaped: bool,
    /// These bytes may be read before it has written them.
    pub reads: Ranges,
    /// Some of it may be, before it has written anything.
    pub reads_some: bool,
    /// These are copied, which uses no value.
    pub copied: Ranges,
}

/// Memory that a function returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fresh {
    /// What is written of it.
    pub bytes: Bytes,
    /// Its size, if it is always the same.
    pub size: Option<i64>,
}

impl Summary {
    /// Whether callers can rely on everything that `other` lets them rely on.
    pub fn gives_what(&self, other: &Summary) -> bool {
        let effects = self.parameters.iter().zip(&other.parameters);
        let fresh = match (&self.fresh, &other.fresh) {
            (Some(own), Some(other)) => covers(&own.bytes, &other.bytes),
            (Some(_), None) => false,
            (None, _) => true,
        };
        (other.returns || !self.returns)
            && fresh
            && effects.into_iter().all(|(own, other)| {
                own.written.contains_all(&other.written)
                    && (own.weak || !other.weak || own.written.contains_all(&Ranges::all()))
                    && other.reads.contains_all(&own.reads)
                    && (other.reads_some || !own.reads_some)
            })
    }
}

/// Whether what is written of one object is written of another.
pub(crate) fn covers(own: &Bytes, other: &Bytes) -> bool {
    own.written.contains_all(&other.written) && (own.weak || !other.weak)
}
