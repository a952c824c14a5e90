//! The functions of `<ctype.h>`, which the C library of most Linux systems also has as macros.
//!
//! A call of such a macro is a look-up in a table that comes from the macro's body, so nothing could be said of the function
//! that the user has written. The library leaves these macros out where `__NO_CTYPE` is defined. C asks for both to mean the
//! same (7.1.4): the macro's type is the function's, and it evaluates its argument once, in parentheses.

use patchwright_exec::{CompileCommand, Runner};

use patchwright_ctext as lex;

use crate::{
    clang::{Clang, ParseError},
    macros::MacroTable,
};

/// Makes the library declare its functions only. Other libraries do not know the name.
const WITHOUT_MACROS: &str = "__NO_CTYPE";

/// The functions of `<ctype.h>`, such as `isdigit` and `toupper`.
pub const CTYPE_FUNCTIONS: [&str; 14] = [
    "isalnum", "isalpha", "isblank", "iscntrl", "isdigit", "isgraph", "islower", "isprint",
    "ispunct", "isspace", "isupper", "isxdigit", "tolower", "toupper",
];

/// What else is a macro or not, as [`WITHOUT_MACROS`] says.
const OTHERS: [&str; 5] = [WITHOUT_MACROS, "isascii", "toascii", "_tolower", "_toupper"];

/// Returns the compile command, and its preprocessed text, under which calls of [`CTYPE_FUNCTIONS`] in `source` are function calls and
/// no macros. Returns what was given in two cases: no such call is a macro, or leaving out the macros would change other text.
pub(crate) fn as_functions(
    clang: &Clang,
    runner: &mut Runner,
    command: &CompileCommand,
    preprocessed: String,
    source: &[u8],
) -> Result<(CompileCommand, String), ParseError> {
    let plain = command.clone();
    let called = lex::words(source);
    let called = || {
        let named = |name: &&&str| called.iter().any(|word| word == **name);
        CTYPE_FUNCTIONS.iter().filter(named)
    };
    if called().next().is_none() {
        return Ok((plain, preprocessed));
    }
    let macros = MacroTable::from_preprocessor(&preprocessed);
    let is_macro = |name: &&str| macros.definitions(name).iter().any(|one| one.system);
    if !called().any(is_macro) || is_conditional(&clang.with_conditions(runner, command)?) {
        return Ok((plain, preprocessed));
    }
    let mut changed = plain;
    changed.arguments.push(format!("-D{WITHOUT_MACROS}").into());
    let preprocessed = clang.preprocess(runner, &changed)?;
    Ok((changed, preprocessed))
}

/// Whether conditions in a source with all that it includes, the library's own header aside, ask for one of the macros.
fn is_conditional(text: &str) -> bool {
    let mut in_library = false;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let Some(directive) = line.trim_start().strip_prefix('#') else {
            continue;
        };
        let mut directive = directive.trim_start().to_owned();
        // # 12 "file" 1 3: the flag 3 marks a file of the system.
        if let Some((name, flags)) = directive.rsplit_once('"')
            && name.starts_with(|c: char| c.is_ascii_digit())
        {
            in_library = name.ends_with("/ctype.h") && flags.split(' ').any(|flag| flag == "3");
            continue;
        }
        while let Some(spliced) = directive.strip_suffix('\\') {
            directive = format!("{spliced}{}", lines.next().unwrap_or_default());
        }
        let words = lex::words(directive.as_bytes());
        let asks = match words.first().map_or("", String::as_str) {
            // A macro may stand for a condition.
            "define" => words.iter().any(|word| word == "defined"),
            word => word.starts_with("if") || word.starts_with("elif"),
        };
        if asks && !in_library && words.iter().any(|word| depends(word)) {
            return true;
        }
    }
    false
}

/// Whether a name is one of the library's macros, or one of those for a locale of their own.
fn depends(word: &str) -> bool {
    let plain = word.strip_suffix("_l").unwrap_or(word);
    let plain = plain.strip_prefix("__").unwrap_or(plain);
    let mut all = CTYPE_FUNCTIONS.iter().chain(&OTHERS);
    all.any(|&name| name == plain || name == word)
}

#[cfg(test)]
mod tests {
    use super::is_conditional;

    #[test]
    fn a_condition_that_asks_for_a_macro_is_found() {
        for (text, asks) in [
            (
                "#include <ctype.h>\nint f(int c) { return isalpha(c); }\n",
                false,
            ),
            (
                "#ifndef isblank\n#define isblank(c) ((c) == ' ')\n#endif\n",
                true,
            ),
            ("#if defined X && \\\n  !defined(isascii)\n#endif\n", true),
            ("  # elif defined toupper_l\n", true),
            ("#if __NO_CTYPE\n#endif\n", true),
            ("#define HAS defined(isblank)\n", true),
            (
                "#undef isalpha\n#define is_word(c) (isalnum(c) || (c) == '_')\n",
                false,
            ),
            (
                "# 9 \"/usr/include/ctype.h\" 3 4\n#if !defined __NO_CTYPE\n#endif\n",
                false,
            ),
            (
                "# 9 \"/usr/include/ctype.h\" 3 4\n# 2 \"a.c\" 2\n#ifdef isalpha\n#endif\n",
                true,
            ),
            ("# 9 \"own/ctype.h\" 1\n#ifdef isalpha\n#endif\n", true),
        ] {
            assert_eq!(is_conditional(text), asks, "{text}");
        }
    }
}
