//! The flags of a compile command that change the meaning of C, such as `-fwrapv` or `-funsigned-char`.

use patchwright_exec::CompileCommand;

/// The choices of a compile command where flags change what C means. The default is that of gcc and clang
/// without flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dialect {
    /// Signed arithmetic wraps around (`-fwrapv`, `-fno-strict-overflow`).
    pub wraps: bool,
    /// Tentative definitions of several files are one object (`-fcommon`).
    pub common: bool,
    /// `char` is unsigned (`-funsigned-char`).
    pub unsigned_char: bool,
    /// Enumerations take no more bytes than they need (`-fshort-enums`).
    pub short_enums: bool,
}

/// Flags that change the layout of objects or what types are, in ways that are not known here.
const NOT_KNOWN: [&str; 12] = [
    "-m32",
    "-mx32",
    "-m16",
    "-fpack-struct",
    "-fshort-wchar",
    "-funsigned-bitfields",
    "-fno-signed-bitfields",
    "-mlong-double-64",
    "-mlong-double-128",
    "-mms-bitfields",
    "-fsso-struct=big-endian",
    "-fshort-double",
];

impl Dialect {
    /// Reads the dialect of a command. Of contradicting flags the last one counts.
    pub fn of(command: &CompileCommand) -> Dialect {
        let mut dialect = Dialect::default();
        for argument in command.arguments.iter().skip(1) {
            match argument.to_string_lossy().as_ref() {
                "-fwrapv" | "-fno-strict-overflow" => dialect.wraps = true,
                "-fno-wrapv" | "-fstrict-overflow" | "-ftrapv" => dialect.wraps = false,
                "-fcommon" => dialect.common = true,
                "-fno-common" => dialect.common = false,
                "-funsigned-char" | "-fno-signed-char" => dialect.unsigned_char = true,
                "-fsigned-char" | "-fno-unsigned-char" => dialect.unsigned_char = false,
                "-fshort-enums" => dialect.short_enums = true,
                "-fno-short-enums" => dialect.short_enums = false,
                _ => {}
            }
        }
        dialect
    }

    /// Returns the first flag of a command that changes types in a way that is not supported.
    pub(crate) fn not_known(command: &CompileCommand) -> Option<String> {
        let arguments = command.arguments.iter().skip(1);
        let mut texts = arguments.map(|argument| argument.to_string_lossy());
        let found = texts
            .find(|text| NOT_KNOWN.contains(&text.as_ref()) || text.starts_with("-fpack-struct="));
        found.map(|text| text.into_owned())
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    fn command(flags: &str) -> CompileCommand {
        CompileCommand {
            file: "/p/a.c".into(),
            directory: "/p".into(),
            arguments: flags.split(' ').map(OsString::from).collect(),
            output: None,
            included: None,
        }
    }

    #[test]
    fn of_flags_that_contradict_each_other_the_last_one_counts() {
        let of = |flags| Dialect::of(&command(flags));
        assert_eq!(of("cc -c a.c"), Dialect::default());
        assert!(of("cc -fno-wrapv -fno-strict-overflow -c a.c").wraps);
        assert!(!of("cc -fwrapv -ftrapv -c a.c").wraps);
        assert!(of("cc -fno-common -fcommon -c a.c").common);
        assert!(!of("cc -funsigned-char -fsigned-char -c a.c").unsigned_char);
    }

    #[test]
    fn flags_that_change_types_in_unknown_ways_are_found() {
        let of = |flags| Dialect::not_known(&command(flags));
        assert_eq!(of("cc -O2 -fwrapv -c a.c"), None);
        assert_eq!(of("cc -O2 -m32 -c a.c").as_deref(), Some("-m32"));
        assert_eq!(
            of("cc -fpack-struct=2 -c a.c").as_deref(),
            Some("-fpack-struct=2")
        );
    }
}
