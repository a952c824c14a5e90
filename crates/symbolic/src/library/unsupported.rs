//! Functions of the library that are not encoded.

use patchwright_clib::{Extent, Fact, Size, facts};

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
