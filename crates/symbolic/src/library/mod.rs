//! Models of functions that C cannot be written for: what makes inputs, what ends a program, what gives
//! memory, what prints. All other functions of the library are C, in `library.c`.

mod allocation;
mod bits;
mod environment;
mod floating;
mod format;
mod input;
mod number;
mod output;
mod unknown;
mod verifier;

use patchwright_clib::{Extent, Fact, Size, facts};
use patchwright_solve::Term;

pub(crate) use unknown::called;

use crate::{
    call::Call,
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

fn usual(run: fn(&mut Encoder<'_>, &Call<'_>, &mut World) -> Given) -> Option<Model> {
    Some(Model { run, always: false })
}

fn always(run: fn(&mut Encoder<'_>, &Call<'_>, &mut World) -> Given) -> Option<Model> {
    Some(Model { run, always: true })
}

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

/// Why a function that has neither a body nor a model cannot be taken to change nothing.
pub(crate) fn unsupported(name: &str) -> Option<String> {
    let what = match name {
        "setjmp" | "_setjmp" | "__sigsetjmp" | "sigsetjmp" | "longjmp" | "_longjmp"
        | "siglongjmp" => "jumps out of functions",
        "pthread_create" | "thrd_create" => "threads",
        "signal" | "sigaction" | "raise" => "signals",
        "fseek" | "fseeko" | "lseek" | "rewind" | "fsetpos" | "freopen" => "places in files",
        _ if patchwright_clib::changes_system(name) => "files and processes",
        _ if facts(name)?.into_iter().any(matters) => {
            return Some(format!("`{name}` is not encoded"));
        }
        _ if name.starts_with("__builtin_") || name.starts_with("__sync_") => {
            return Some(format!("`{name}` is not encoded"));
        }
        _ => return None,
    };
    Some(format!("`{name}`: {what} are not encoded"))
}

/// Whether it matters to a program besides the value that a function returns.
fn matters(fact: Fact) -> bool {
    match fact {
        // As many bytes as an argument says: they are any afterwards.
        Fact::Write(_, Extent::Exactly(Size::Of(_)) | Extent::AtMost(Size::Of(_))) => false,
        Fact::Write(..)
        | Fact::WriteFrom(_)
        | Fact::WritesList(_)
        | Fact::CopyPointers(..)
        | Fact::StoresNew(_)
        | Fact::Stores(..)
        | Fact::StoresLibrary(_)
        | Fact::Output(_)
        | Fact::Prints
        | Fact::Calls(..)
        | Fact::Exits
        | Fact::NeverReturns
        | Fact::LeavesAtOnce
        | Fact::System
        | Fact::Environment
        | Fact::Unknown => true,
        Fact::Read(..)
        | Fact::ReadFrom(_)
        | Fact::ReadsList(_)
        | Fact::Classifies(_)
        | Fact::Gives(_)
        | Fact::GivesNew(..)
        | Fact::GivesLibrary
        | Fact::GivesStream
        | Fact::GivesErrno
        | Fact::Input
        | Fact::State
        | Fact::ReadsState
        | Fact::Errno
        | Fact::Varies => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_function_of_the_library_changes_is_never_left_out() {
        for name in ["strxfrm", "qsort", "fwrite", "write", "getline", "fork"] {
            let reason = unsupported(name).expect("it changes something");
            assert!(reason.contains(name), "{reason}");
        }
        assert_eq!(unsupported("isatty"), None);
        assert_eq!(unsupported("function_of_somebody"), None);
    }
}
