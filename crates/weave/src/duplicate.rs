//! Decides which function bodies can stand in a file twice.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use patchwright_ctext::{Directive, Kind, Piece, pieces, runs};

/// Why the body of a function cannot be duplicated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A directive in the first copy would change the meaning of the second.
    #[error("it contains the directive `#{name}`")]
    Directive {
        /// Name of the directive, for a pragma with its first words.
        name: String,
    },
    /// The body begins or ends inside a conditional group, as where `#else` offers another head of the function.
    #[error("its conditional directives are not balanced")]
    UnbalancedConditionals,
    /// The body mentions a name that must be used once.
    #[error("it contains `{name}`")]
    Name {
        /// The name.
        name: String,
    },
    /// A `#line` directive in the body changes the name of the file, and what it was before is not known.
    #[error("a `#line` directive in it changes the name of the file")]
    FileName,
}

/// Pragmas that say something about the code that follows them and nothing about later code.
const HARMLESS_PRAGMAS: [&[&str]; 8] = [
    &["omp"],
    &["STDC"],
    &["unroll"],
    &["nounroll"],
    &["clang", "loop"],
    &["GCC", "diagnostic"],
    &["GCC", "ivdep"],
    &["GCC", "unroll"],
];

/// Whether a function's body, from `{` to `}`, means the same when it stands in the file twice.
///
/// The caller must exclude what only a parser sees: nested functions, and functions that are `inline` without `static`. Bodies of
/// the latter must not mention objects with internal linkage, such as the selection bytes.
///
/// # Errors
/// The first reason against it.
pub fn can_duplicate(body: &[u8]) -> Result<(), Refusal> {
    let mut depth = 0usize;
    let mut after_pragma_operator = false;
    let mut macros = Macros::default();
    for piece in pieces(body) {
        let token = match piece {
            Piece::Token(token) => token,
            Piece::Directive(directive) => {
                if !macros.take(&directive)? {
                    check_directive(&directive, &mut depth)?;
                }
                after_pragma_operator = false;
                continue;
            }
        };
        let text = token.text();
        let opening = *text == *b"(" && after_pragma_operator;
        let is_operator = matches!(&*text, b"_Pragma" | b"__pragma");
        match token.kind {
            Kind::Word => {
                check_word(&text)?;
                macros.mentioned.insert(text);
            }
            Kind::String if after_pragma_operator => {
                // Its prefix is no word of the pragma.
                let inside = text.iter().position(|byte| *byte == b'"');
                check_pragma(runs(&text[inside.unwrap_or(0)..]))?;
            }
            _ => {}
        }
        after_pragma_operator = opening || is_operator;
    }
    if depth != 0 {
        return Err(Refusal::UnbalancedConditionals);
    }
    macros.end()
}

/// The macros that a body defines. The second copy must find them as the first one did. A macro may be defined already if the
/// body mentions it only behind its definition, and if the definition is the same or was undone.
#[derive(Default)]
struct Macros<'a> {
    /// All words so far.
    mentioned: BTreeSet<Cow<'a, [u8]>>,
    /// What was defined so far, on the way through conditional groups that leads here.
    defined: Defined<'a>,
    /// Around here, from the outside in: what was defined before the conditional, and in its groups that have ended.
    around: Vec<(Defined<'a>, Defined<'a>)>,
}

/// By name: whether it is defined now, and how many definitions there were.
type Defined<'a> = BTreeMap<Cow<'a, [u8]>, (bool, usize)>;

/// Joins the macros known after two branches: a macro is defined if either branch defines it, and counts its definitions as the branch
/// with more of them.
fn joined<'a>(mut one: Defined<'a>, other: &Defined<'a>) -> Defined<'a> {
    for (name, &(is_defined, times)) in other {
        let known = one.entry(name.clone()).or_default();
        *known = (known.0 || is_defined, known.1.max(times));
    }
    one
}

impl<'a> Macros<'a> {
    /// Reads a directive. Tells whether it is a definition, or undoes one.
    fn take(&mut self, directive: &Directive<'a>) -> Result<bool, Refusal> {
        let name = directive.name();
        let words = directive.arguments();
        let mut words = words
            .filter(|token| token.kind == Kind::Word)
            .map(|word| word.text());
        let refusal = || Refusal::Directive {
            name: String::from_utf8_lossy(&name).into_owned(),
        };
        let is_definition = match &*name {
            b"define" | b"undef" => {
                let defined = words.next().ok_or_else(refusal)?;
                let (is_defined, times) = self.defined.get(&defined).copied().unwrap_or_default();
                let is_known = times > 0;
                let defines = *name == *b"define";
                if !is_known && (!defines || self.mentioned.contains(&defined))
                    || is_known && is_defined == defines
                {
                    return Err(refusal());
                }
                let state = (defines, times + usize::from(defines));
                self.defined.insert(defined, state);
                true
            }
            // Both copies go through the same group of a conditional, so definitions of different groups never meet.
            b"if" | b"ifdef" | b"ifndef" => {
                self.around.push((self.defined.clone(), Defined::new()));
                false
            }
            b"else" | b"elif" | b"elifdef" | b"elifndef" => {
                if let Some((before, ended)) = self.around.last_mut() {
                    let own = std::mem::replace(&mut self.defined, before.clone());
                    *ended = joined(own, ended);
                }
                false
            }
            b"endif" => {
                if let Some((_, ended)) = self.around.pop() {
                    self.defined = joined(std::mem::take(&mut self.defined), &ended);
                }
                false
            }
            _ => false,
        };
        self.mentioned.extend(words);
        Ok(is_definition)
    }

    fn end(&self) -> Result<(), Refusal> {
        match self
            .defined
            .values()
            .any(|&(is_defined, times)| is_defined && times > 1)
        {
            true => Err(Refusal::Directive {
                name: "define".to_owned(),
            }),
            false => Ok(()),
        }
    }
}

fn check_directive(directive: &Directive<'_>, depth: &mut usize) -> Result<(), Refusal> {
    let name = directive.name();
    match &*name {
        b"if" | b"ifdef" | b"ifndef" => *depth += 1,
        b"endif" => {
            *depth = depth
                .checked_sub(1)
                .ok_or(Refusal::UnbalancedConditionals)?
        }
        b"else" | b"elif" | b"elifdef" | b"elifndef" if *depth == 0 => {
            return Err(Refusal::UnbalancedConditionals);
        }
        b"else" | b"elif" | b"elifdef" | b"elifndef" => {}
        b"pragma" => {
            let words: Vec<Cow<'_, [u8]>> = directive
                .arguments()
                .filter(|token| matches!(token.kind, Kind::Word | Kind::Number))
                .map(|word| word.text())
                .collect();
            check_pragma(words.iter().map(|word| &**word))?;
        }
        b"" | b"line" | b"error" | b"warning" | b"ident" | b"sccs" => {}
        marker if marker[0].is_ascii_digit() => {}
        _ => {
            let name = String::from_utf8_lossy(&name).into_owned();
            return Err(Refusal::Directive { name });
        }
    }
    Ok(())
}

/// Judges a pragma by its words.
fn check_pragma<'p>(words: impl Iterator<Item = &'p [u8]>) -> Result<(), Refusal> {
    let words = words.take(2).map(String::from_utf8_lossy);
    let words: Vec<Cow<'_, str>> = words.collect();
    let begins_with = |known: &&[&str]| {
        words.len() >= known.len() && words.iter().zip(*known).all(|(word, known)| word == known)
    };
    if HARMLESS_PRAGMAS.iter().any(begins_with) {
        return Ok(());
    }
    let name = format!("pragma {}", words.join(" "));
    Err(Refusal::Directive { name })
}

fn check_word(word: &[u8]) -> Result<(), Refusal> {
    let once = matches!(
        word,
        b"__COUNTER__" | b"asm" | b"__asm" | b"__asm__" | b"__label__"
    );
    if once {
        let name = String::from_utf8_lossy(word).into_owned();
        return Err(Refusal::Name { name });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(body: &str) -> Option<String> {
        can_duplicate(body.as_bytes()).err().map(|r| r.to_string())
    }

    #[test]
    fn ordinary_bodies_can_stand_twice() {
        for body in [
            "{ return \"asm\"[0] + 'a'; /* __COUNTER__ */ // #define\n}",
            "{\n#if X\n a();\n# elif Y\n b();\n#else\n c();\n#endif\n}",
            "{\n#pragma omp parallel for\n for (;;); _Pragma(\"GCC diagnostic push\") }",
            "{\n# 12 \"x.y\"\n#line 7\n}",
            "{ int asmx = a # b; }",
        ] {
            assert_eq!(refusal(body), None, "{body}");
        }
    }

    #[test]
    fn directives_that_change_later_text_are_refused() {
        for (body, name) in [
            ("{\nint X = 0;\n#define X 1\n}", "#define"),
            ("{\n#ifdef X\n#define X 1\n#endif\n}", "#define"),
            ("{\n#define X 1\n#undef X\n#define X 2\n}", "#define"),
            ("{\n#if A\n#define X 1\n#endif\n#define X 2\n}", "#define"),
            (
                "{\n#if A\n#define X 1\n#else\n#define X 2\n#undef X\n#define X 3\n#endif\n}",
                "#define",
            ),
            ("{\n  # /**/ undef X\n}", "#undef"),
            ("{\n#include \"x.def\"\n}", "#include"),
            ("{\n#pragma pack(push, 1)\n}", "#pragma pack push"),
            ("{\n#pragma GCC poison x\n}", "#pragma GCC poison"),
            (
                "{ _Pragma(\"push_macro(\\\"x\\\")\") }",
                "#pragma push_macro x",
            ),
            ("{ X();\n#de\\\nfine X 1\n}", "#define"),
        ] {
            assert_eq!(
                refusal(body),
                Some(format!("it contains the directive `{name}`"))
            );
        }
    }

    #[test]
    fn macros_that_a_body_defines_before_it_mentions_them_can_be_defined_twice() {
        for body in [
            "{\n#define X 1\n return X; }",
            "{\n#define F(a) \\\n  ((a) + 1)\n return F(1);\n#undef F\n}",
            "{\n#if A\n# define X 1\n#else\n# define Y 2\n#endif\n return X; }",
            "{\n#define X 1\n f(X);\n#undef X\n#define X 2\n f(X);\n#undef X\n}",
            "{\n#if A\n# define X 1\n#elif B\n# define X 2\n#else\n# define X 3\n#endif\n return X; }",
            "{\n#if A\n#if B\n#define X 1\n#else\n#define X 2\n#endif\n#else\n#define X 3\n#endif\n f(X);\n#undef X\n}",
        ] {
            assert_eq!(refusal(body), None, "{body}");
        }
    }

    #[test]
    fn names_that_must_be_used_once_are_refused() {
        for name in ["asm", "__asm__", "__COUNTER__", "__label__"] {
            let body = format!("{{ {name} (\"x\"); }}");
            assert_eq!(refusal(&body), Some(format!("it contains `{name}`")));
        }
    }

    #[test]
    fn a_body_that_crosses_a_conditional_group_is_refused() {
        for body in [
            "{\n#else\n}",
            "{\n#endif\n}",
            "{\n#if X\n}",
            "{\n#elif X\n}",
        ] {
            let expected = "its conditional directives are not balanced";
            assert_eq!(refusal(body).as_deref(), Some(expected));
        }
    }
}
