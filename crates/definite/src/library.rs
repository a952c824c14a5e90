//! The effects of C library functions on the memory that they are given, as far as unwritten values are
//! concerned.

use patchwright_clib::{Extent, Fact, Size, facts, plain};

/// What a call does with what an argument points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    /// It writes so many bytes of it: the value of the argument with this number.
    Writes(usize),
    /// It may write to it.
    MayWrite,
    /// It reads so many bytes of it.
    Reads(u64),
    /// It reads some of it.
    ReadsSome,
    /// Nothing.
    Nothing,
}

/// What a call does to memory.
pub(crate) struct Called {
    facts: Vec<Fact>,
}

impl Called {
    /// The function called `name`; `None` if it is not known by name.
    pub(crate) fn named(name: &str) -> Option<Called> {
        let facts = facts(name).or_else(|| facts(plain(name)))?;
        Some(Called { facts })
    }

    /// Returns what the call does with the memory behind an argument.
    pub(crate) fn does(&self, argument: usize) -> Does {
        let mut does = Does::Nothing;
        for &fact in &self.facts {
            let this = match fact {
                Fact::Write(to, Extent::Exactly(Size::Of(size))) if to == argument => {
                    return Does::Writes(size);
                }
                // A string has an end at least, and what is written is behind it.
                Fact::Read(of, Extent::Text) if of == argument => return Does::Reads(1),
                Fact::Write(to, _) | Fact::StoresNew(to) | Fact::StoresLibrary(to)
                    if to == argument =>
                {
                    Does::MayWrite
                }
                Fact::Stores(to, what) if to == argument || what == argument => Does::MayWrite,
                Fact::WriteFrom(from) if from <= argument => Does::MayWrite,
                Fact::WritesList(list) if list == argument => Does::MayWrite,
                Fact::Calls(function, given)
                    if function == argument || given.contains(&Some(argument)) =>
                {
                    Does::MayWrite
                }
                Fact::Read(of, _) | Fact::ReadsList(of) if of == argument => Does::ReadsSome,
                Fact::ReadFrom(from) if from <= argument => Does::ReadsSome,
                _ => continue,
            };
            if does != Does::MayWrite {
                does = this;
            }
        }
        does
    }

    /// Whether it touches nothing of the program's memory but what its arguments point to.
    pub(crate) fn is_contained(&self) -> bool {
        !self.facts.iter().any(|fact| {
            matches!(
                fact,
                Fact::Calls(..) | Fact::State | Fact::StoresLibrary(_) | Fact::Unknown
            )
        })
    }
}

/// Whether the function called `name` gives new memory in which nothing is written.
pub(crate) fn gives_unwritten(name: &str) -> bool {
    patchwright_clib::gives_unwritten(plain(name))
}
