//! Selects the flags of a compile command that matter for reading its source.

use std::{ffi::OsString, path::Path};

use patchwright_exec::CompileCommand;

/// Returns the language as which a command compiles its source, if it is not C.
pub(crate) fn other_language(command: &CompileCommand) -> Option<String> {
    let mut words = command.arguments.iter().map(|word| word.to_string_lossy());
    let compiler = words.next()?;
    let mut language = None;
    while let Some(word) = words.next() {
        if word == "-x" {
            language = words.next();
        } else if DROPPED_WITH_VALUE.contains(&&*word) || PREPROCESSOR_WITH_VALUE.contains(&&*word)
        {
            // A program may have a name that looks like a flag.
            words.next();
        } else if let Some(name) = word.strip_prefix("-x") {
            language = Some(name.to_owned().into());
        }
    }
    match language.as_deref() {
        Some("c" | "none") => None,
        Some(other) => Some(other.to_owned()),
        None => Path::new(compiler.as_ref())
            .file_name()?
            .to_string_lossy()
            .contains("++")
            .then(|| "C++".to_owned()),
    }
}

/// Options with a value that only the preprocessor looks at.
const PREPROCESSOR_WITH_VALUE: &[&str] = &[
    "-D",
    "-U",
    "-I",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-include",
    "-imacros",
    "-isysroot",
];

/// Options with a value that say nothing about how the source is read.
const DROPPED_WITH_VALUE: &[&str] = &[
    "-o",
    "-MF",
    "-MT",
    "-MQ",
    "-Xlinker",
    "-L",
    "-l",
    "-z",
    "-T",
    "-u",
    "-aux-info",
    "--param",
    "-specs",
];

/// The arguments of a compile command that matter to reading the source, in order: language,
/// macros, include paths and what changes types or predefined macros. All else (outputs,
/// warnings, optimisations that only gcc knows) is dropped.
pub(crate) fn flags(command: &CompileCommand) -> Vec<OsString> {
    const F_FLAGS: &[&str] = &[
        "-fsigned-char",
        "-funsigned-char",
        "-fshort-enums",
        "-fno-short-enums",
        "-fms-extensions",
        "-fno-builtin",
        "-ffreestanding",
        "-fhosted",
        "-fgnu89-inline",
        "-fopenmp",
        "-fPIC",
        "-fpic",
        "-fPIE",
        "-fpie",
        "-fno-common",
        "-fcommon",
        "-fshort-wchar",
        "-fno-signed-char",
        "-fno-unsigned-char",
        "-fwrapv",
        "-fno-wrapv",
        "-fstrict-overflow",
        "-fno-strict-overflow",
        "-fno-strict-aliasing",
        "-fblocks",
        "-fdollars-in-identifiers",
    ];
    let mut kept = Vec::new();
    let mut arguments = command.arguments.iter().skip(1);
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        let text = text.as_ref();
        let with_value = |flag: &str| PREPROCESSOR_WITH_VALUE.contains(&flag) || flag == "-x";
        if with_value(text) {
            if let Some(value) = arguments.next() {
                kept.push(argument.into());
                kept.push(value.into());
            }
        } else if DROPPED_WITH_VALUE.contains(&text) {
            arguments.next();
        } else if PREPROCESSOR_WITH_VALUE
            .iter()
            .chain(&["-x"])
            .any(|flag| text.starts_with(flag))
            || [
                "-std=",
                "--sysroot=",
                "-m32",
                "-m64",
                "-mx32",
                "-march=",
                "-msse",
                "-mavx",
                "-O",
                "-fsanitize=",
            ]
            .iter()
            .any(|flag| text.starts_with(flag))
            || F_FLAGS.contains(&text)
            || matches!(
                text,
                "-ansi" | "-pthread" | "-nostdinc" | "-undef" | "-traditional-cpp"
            )
        {
            // gcc's sanitizers may be unknown to clang; the address sanitizer's macro matters.
            if let Some(list) = text.strip_prefix("-fsanitize=") {
                if list.split(',').any(|name| name == "address") {
                    kept.push("-fsanitize=address".into());
                }
                continue;
            }
            if matches!(text, "-Og" | "-Ofast") {
                kept.push("-O1".into());
                continue;
            }
            kept.push(argument.into());
        }
    }
    kept
}

/// Whether two commands of one source give its types and literals the same meaning, macros aside.
pub(crate) fn has_same_types(a: &CompileCommand, b: &CompileCommand) -> bool {
    let matters = |command: &CompileCommand| -> Vec<OsString> {
        let all = flags(command);
        let mut kept = Vec::new();
        let mut all = all.into_iter();
        while let Some(flag) = all.next() {
            let text = flag.to_string_lossy();
            if PREPROCESSOR_WITH_VALUE.contains(&text.as_ref()) {
                all.next();
                continue;
            }
            let only_macros = PREPROCESSOR_WITH_VALUE
                .iter()
                .any(|known| text.starts_with(known))
                || text.starts_with("-O")
                || matches!(
                    text.as_ref(),
                    "-fPIC" | "-fpic" | "-fPIE" | "-fpie" | "-pthread"
                );
            if !only_macros {
                kept.push(flag);
            }
        }
        kept
    };
    matters(a) == matters(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_for_another_language_is_known() {
        let language = |line: &str| {
            other_language(&CompileCommand {
                file: "/p/a.c".into(),
                directory: "/p".into(),
                arguments: line.split(' ').map(OsString::from).collect(),
                output: None,
                included: None,
            })
        };
        assert_eq!(language("cc -x c -c a.c"), None);
        assert_eq!(language("clang -c a.c"), None);
        assert_eq!(language("/bin/g++-12 -c a.c").as_deref(), Some("C++"));
        assert_eq!(language("cc -xc++ -c a.c").as_deref(), Some("c++"));
    }
}
