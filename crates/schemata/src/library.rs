//! Functions of the C library that an evaluation may call: what they do to memory can be told beforehand, and they have
//! no other effect, not on `errno` either.
//!
//! Which bytes exactly they touch is a question that only evaluations have; crate `dependence` says to which objects
//! the functions of the library do something.

/// A function and what is checked before it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// What each argument is.
    pub parameters: &'static [Parameter],
    /// All of these must hold.
    pub checks: &'static [Check],
}

/// An argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// Memory that is only read.
    Source,
    /// Memory that is written.
    Target,
    /// An `int`.
    Character,
    /// A number of bytes.
    Size,
}

impl Parameter {
    /// The type of a variable that holds it.
    pub fn c_type(self) -> &'static str {
        match self {
            Parameter::Source => "const void *",
            Parameter::Target => "void *",
            Parameter::Character => "int ",
            Parameter::Size => "unsigned long ",
        }
    }
}

/// What must hold of arguments, which are counted from 0.
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

use Check::{Classified, Read, Room, RoomBehind, Text, TextOf, Write};
use Parameter::{Character, Size, Source, Target};

/// Functions with the same parameters and checks.
type Row = (
    &'static [&'static str],
    &'static [Parameter],
    &'static [Check],
);

const TABLE: &[Row] = &[
    (&["strlen"], &[Source], &[Text(0)]),
    (&["strnlen"], &[Source, Size], &[TextOf(0, 1)]),
    (
        &[
            "strcmp",
            "strcasecmp",
            "strstr",
            "strspn",
            "strcspn",
            "strpbrk",
        ],
        &[Source, Source],
        &[Text(0), Text(1)],
    ),
    (
        &["strncmp", "strncasecmp"],
        &[Source, Source, Size],
        &[TextOf(0, 2), TextOf(1, 2)],
    ),
    (
        &["strchr", "strrchr", "index", "rindex"],
        &[Source, Character],
        &[Text(0)],
    ),
    (&["memchr"], &[Source, Character, Size], &[Read(0, 2)]),
    (
        &["memcmp", "bcmp"],
        &[Source, Source, Size],
        &[Read(0, 2), Read(1, 2)],
    ),
    (
        &["memcpy", "memmove"],
        &[Target, Source, Size],
        &[Read(1, 2), Write(0, 2)],
    ),
    (&["memset"], &[Target, Character, Size], &[Write(0, 2)]),
    (&["bzero"], &[Target, Size], &[Write(0, 1)]),
    (&["strcpy"], &[Target, Source], &[Text(1), Room(0, 1)]),
    (
        &["strncpy"],
        &[Target, Source, Size],
        &[TextOf(1, 2), Write(0, 2)],
    ),
    (
        &["strcat"],
        &[Target, Source],
        &[Text(0), Text(1), RoomBehind(0, 1)],
    ),
    (
        &[
            "isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint",
            "ispunct", "isspace", "isupper", "isxdigit", "tolower", "toupper",
        ],
        &[Character],
        &[Classified(0)],
    ),
    (&["abs"], &[Character], &[]),
];

/// What is known of a function.
pub fn known(name: &str) -> Option<Known> {
    TABLE.iter().find_map(|(names, parameters, checks)| {
        let name = names.iter().find(|known| **known == name)?;
        Some(Known {
            name,
            parameters,
            checks,
        })
    })
}

/// Whether a macro of this name classifies characters by a table, and evaluates its argument once.
pub fn is_classification(name: &str) -> bool {
    name.starts_with("is") && known(name).is_some_and(|known| known.checks == [Classified(0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_about_arguments_that_are_there() {
        for (names, parameters, checks) in TABLE {
            for check in *checks {
                let fits = match *check {
                    Text(of) => parameters[of] != Size,
                    TextOf(of, size) | Read(of, size) => {
                        parameters[of] == Source && parameters[size] == Size
                    }
                    Write(of, size) => parameters[of] == Target && parameters[size] == Size,
                    Room(of, text) | RoomBehind(of, text) => {
                        parameters[of] == Target && parameters[text] == Source
                    }
                    Classified(of) => parameters[of] == Character,
                };
                assert!(fits, "{names:?}");
            }
            // Whatever is written is noted.
            let written = parameters.iter().filter(|of| **of == Target).count();
            let noted = checks
                .iter()
                .filter(|check| matches!(check, Write(..) | Room(..) | RoomBehind(..)));
            assert_eq!(written, noted.count(), "{names:?}");
        }
        assert!(is_classification("isspace") && !is_classification("toupper"));
    }
}
