//! The C library functions that an evaluation may call, because their effects on memory are known before
//! the call.

use patchwright_clib::{Extent, Fact, Parameter, Size, facts, parameters};

/// A function with the checks before its call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// What each argument is.
    pub parameters: Vec<Parameter>,
    /// All of these must hold.
    pub checks: Vec<Check>,
}

/// A condition on arguments, which count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// A string that can be read to its end.
    Text(usize),
    /// A string that can be read to its end, or as far as the second argument says.
    TextOf(usize, usize),
    /// As many bytes as the second argument says can be read.
    Read(usize, usize),
    /// As many bytes as the second argument says can be written, and are noted.
    Write(usize, usize),
    /// There is room for the string in the second argument, and the bytes are noted.
    Room(usize, usize),
    /// The same, behind the string that is there.
    RoomBehind(usize, usize),
    /// A value for which the tables of `<ctype.h>` have an entry.
    Classified(usize),
}

/// Returns the checks before a call of the function `name`, or `None` if an evaluation must not call it.
pub fn known(name: &str) -> Option<Known> {
    let parameters = parameters(name)?;
    let mut checks = Vec::new();
    for fact in facts(name)? {
        checks.push(match fact {
            Fact::Read(of, Extent::Text) => Check::Text(of),
            Fact::Read(of, Extent::TextOf(size)) => Check::TextOf(of, size),
            Fact::Read(of, Extent::Exactly(Size::Of(size))) => Check::Read(of, size),
            Fact::Write(of, Extent::Exactly(Size::Of(size))) => Check::Write(of, size),
            Fact::Write(of, Extent::CopyOf(text)) => Check::Room(of, text),
            Fact::Write(of, Extent::CopyBehind(text)) => Check::RoomBehind(of, text),
            Fact::Classifies(of) => Check::Classified(of),
            Fact::Gives(_) | Fact::CopyPointers(..) => continue,
            _ => return None,
        });
    }
    // What is written over is looked at first.
    checks.sort_by_key(|check| {
        matches!(
            check,
            Check::Write(..) | Check::Room(..) | Check::RoomBehind(..)
        )
    });
    Some(Known { parameters, checks })
}

/// Returns the C type of a variable that holds an argument.
pub fn c_type(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::Source => "const void *",
        Parameter::Target => "void *",
        Parameter::Int => "int ",
        Parameter::Long => "long ",
        Parameter::Size => "unsigned long ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_checked_before_it_writes() {
        let known = known("strcat").expect("it is known");
        assert_eq!(
            known.checks,
            [Check::Text(0), Check::Text(1), Check::RoomBehind(0, 1)]
        );
    }

    #[test]
    fn a_function_with_another_effect_is_not_called() {
        for name in [
            "malloc", "puts", "strtol", "rand", "exit", "isatty", "nothing",
        ] {
            assert_eq!(known(name), None, "{name}");
        }
        assert!(known("strlen").is_some() && known("abs").is_some());
    }
}
