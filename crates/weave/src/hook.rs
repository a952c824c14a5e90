//! Holes and the C text that they become.

use patchwright_ctext::{Piece, pieces};
use patchwright_probe_abi::HoleId;
use patchwright_text::Span;
use std::fmt::Write;

/// The kind of a hole: what stands there, and what the probe's value replaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookKind {
    /// An expression of an integer type. `ctype` names its type as a cast does: `unsigned long`, `_Bool`, `enum e`.
    Integer {
        /// Name of the type.
        ctype: String,
    },
    /// An expression of type `float`.
    Float,
    /// An expression of type `double`.
    Double,
    /// An expression of pointer type.
    Pointer {
        /// Name of the type; `None` takes the type of the expression itself, which does for types without a name. A
        /// null pointer constant such as `0` needs a name.
        ctype: Option<String>,
    },
    /// An expression of which only the truth matters: a condition, an operand of `!`, `&&` or `||`. The hole gives an
    /// `int`, 0 or 1.
    Condition,
    /// A condition with side effects. It is evaluated once, first, and its truth (0 or 1), named `__pw_c`, can be
    /// handed over by [`Hook::slots`]. The hole gives an `int`, 0 or 1.
    AfterImpure,
    /// A condition with side effects that is evaluated only if the value is true; else it counts as false.
    AndBefore,
    /// A condition with side effects that is evaluated only if the value is false; else it counts as true.
    OrBefore,
    /// A statement, with its `;` if it has one, that is executed when the value is true. Neither a declaration nor a
    /// labelled statement.
    Guard,
    /// A statement, as for [`HookKind::Guard`], that is executed unless the value is true.
    Skip,
    /// An expression; a value *n* from 1 evaluates the *n*th of the alternatives in its place. All are converted to
    /// the type, or to `void` if their value is not used.
    Choice {
        /// Name of the type.
        ctype: Option<String>,
        /// C expressions, each on one line.
        alternatives: Vec<String>,
    },
    /// A statement; a value *n* from 1 first executes the *n*th of the alternatives.
    Before {
        /// It stands alone where the grammar wants one statement, so that braces are needed.
        is_body: bool,
        /// C statements, each on one line.
        alternatives: Vec<String>,
    },
    /// A statement, as for [`HookKind::Guard`]; a value *n* from 1 executes the *n*th of the alternatives in its place.
    Instead {
        /// C statements, each on one line.
        alternatives: Vec<String>,
    },
    /// A statement or declaration in a block; a value *n* from 1 executes the *n*th of the alternatives after it.
    After {
        /// C statements, each on one line.
        alternatives: Vec<String>,
        /// C statements that are always executed, before the alternative; empty if there are none.
        always: String,
    },
}

impl HookKind {
    /// Returns the texts of the alternatives, if the kind of hole has some.
    pub fn alternatives_mut(&mut self) -> Option<&mut Vec<String>> {
        match self {
            HookKind::Choice { alternatives, .. }
            | HookKind::Before { alternatives, .. }
            | HookKind::Instead { alternatives }
            | HookKind::After { alternatives, .. } => Some(alternatives),
            _ => None,
        }
    }

    /// The woven text is more than one statement, where its place permits that.
    pub(crate) fn adds_statements(&self) -> bool {
        matches!(self, HookKind::Before { .. } | HookKind::After { .. })
    }
}

/// A copy of a statement that stands somewhere else in its block and is executed there if the hole, which is a
/// [`HookKind::Skip`], is selected and gives a certain value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The hole round the statement itself.
    pub id: HoleId,
    /// The value for which the copy is executed.
    pub value: u64,
    /// The statement of the same block beside which the copy stands.
    pub span: Span,
    /// It stands after that one, not before it.
    pub after: bool,
    /// The statement's text, on one line.
    pub text: String,
}

impl Moved {
    /// The woven copy; `hole` is the index of its hole in the file. Who comes here visits the hole, whether the
    /// statement itself is reached or not.
    pub(crate) fn text(&self, hole: usize, suffix: &str) -> String {
        format!(
            "if(__pw_holes_{suffix}[{hole}]&&__pw_on_{suffix}({hole})&&__pw_value_{suffix}({hole},0)=={}){{{}}}",
            self.value, self.text
        )
    }
}

/// `if(__pw_a==1){…}else if(__pw_a==2){…}` with the value of the hole.
fn executed(selected: &str, value: &str, alternatives: &[String]) -> String {
    let mut text = format!("{{int __pw_a={selected}?(int){value}:0;");
    for (number, alternative) in alternatives.iter().enumerate() {
        let otherwise = if number == 0 { "" } else { "else " };
        // Writing into a string cannot fail.
        let _ = write!(
            text,
            "{otherwise}if(__pw_a=={}){{{alternative}}}",
            number + 1
        );
    }
    text.push('}');
    text
}

/// `{int __pw_a=…;if(__pw_a==1){…}else …}`: a statement instead of which alternatives can be executed.
fn replaced(selected: &str, value: &str, alternatives: &[String], inner: &[u8]) -> Vec<u8> {
    let mut text = format!("{{int __pw_a={selected}?(int){value}:0;");
    for (number, alternative) in alternatives.iter().enumerate() {
        // Writing into a string cannot fail.
        let _ = write!(text, "if(__pw_a=={}){{{alternative}}}else ", number + 1);
    }
    let mut text = text.into_bytes();
    // An `else` that follows belongs to an `if` in front.
    text.push(b'{');
    text.extend_from_slice(inner);
    text.extend_from_slice(b"}}");
    text
}

/// An expression instead of which alternatives can be evaluated.
fn chosen(
    selected: &str,
    value: &str,
    ctype: Option<&str>,
    alternatives: &[String],
    inner: &[u8],
) -> Vec<u8> {
    let ctype = ctype.unwrap_or("void");
    let mut text = format!("(__extension__({{int __pw_a={selected}?(int){value}:0;");
    for (number, alternative) in alternatives.iter().enumerate() {
        let _ = write!(text, "__pw_a=={}?({ctype})({alternative}):", number + 1);
    }
    let _ = write!(text, "({ctype})(");
    let mut text = text.into_bytes();
    text.extend_from_slice(inner);
    text.extend_from_slice(b");}))");
    text
}

/// A hole to weave: its place, its kind and its slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The hole.
    pub id: HoleId,
    /// The expression or statement in the file.
    pub span: Span,
    /// What stands there.
    pub kind: HookKind,
    /// The entries handed to the probe: C expressions without side effects that are valid at the hole, of type
    /// `__pw_u64` and in canonical form. `(__pw_u64)(x)` for integers, `(__pw_u64)(__pw_uptr)(p)` for pointers,
    /// `__pw_f32(x)` and `__pw_f64(x)` for floats, the signed offset in bytes for loads.
    pub slots: Vec<String>,
    /// A part of the expression, or all of it, that is evaluated once, first, whether the hole is selected or not.
    pub captured: Option<CapturedPart>,
}

/// A part of an expression whose value slots can read under the name `__pw_c`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPart {
    /// Its text.
    pub span: Span,
    /// Name of its type.
    pub ctype: String,
}

/// Names of a file's glue, as the hooks use them.
pub(crate) struct Names<'a> {
    /// What makes names unique to the file.
    pub suffix: &'a str,
    /// Index of the hole in the file.
    pub hole: usize,
}

/// The text of a hook round `inner`, the text of its span in which inner hooks are already woven and what is captured
/// is replaced by its name; `original` is the span's text in the source. `None` when the text of a pointer's expression cannot be repeated.
pub(crate) fn hook_text(
    hook: &Hook,
    names: &Names<'_>,
    original: &[u8],
    inner: &[u8],
) -> Option<Vec<u8>> {
    let Names { suffix, hole } = names;
    let selected = format!("__pw_holes_{suffix}[{hole}]&&__pw_on_{suffix}({hole})");
    let mut value = format!("__pw_value_{suffix}({hole},{}", hook.slots.len());
    for slot in &hook.slots {
        // Writing into a string cannot fail.
        let _ = write!(value, ",{slot}");
    }
    value.push(')');
    let (before, after) = match &hook.kind {
        // The conditional would make an `int` of smaller types, which `typeof` and `sizeof` tell apart.
        HookKind::Integer { ctype } if is_promoted(ctype) => {
            (format!("(({ctype})({selected}?({ctype}){value}:("), ")))")
        }
        HookKind::Integer { ctype } => (format!("({selected}?({ctype}){value}:("), "))"),
        HookKind::Float => (format!("({selected}?__pw_as_f32({value}):("), "))"),
        HookKind::Double => (format!("({selected}?__pw_as_f64({value}):("), "))"),
        HookKind::Pointer { ctype: Some(ctype) } => {
            (format!("({selected}?({ctype})(__pw_uptr){value}:("), "))")
        }
        HookKind::Pointer { ctype: None } => {
            let expression = on_one_line(original)?;
            // The conditional turns an array into a pointer and drops qualifiers.
            let ctype = format!("__typeof__(1?({expression}):({expression}))");
            (format!("({selected}?({ctype})(__pw_uptr){value}:("), "))")
        }
        HookKind::Condition => (format!("({selected}?{value}!=0:("), ")?1:0)"),
        HookKind::AfterImpure => {
            let mut text = Vec::from(&b"(__extension__({int __pw_c=("[..]);
            text.extend_from_slice(inner);
            let rest = format!(")?1:0;{selected}?{value}!=0:__pw_c;}}))");
            text.extend_from_slice(rest.as_bytes());
            return Some(text);
        }
        HookKind::AndBefore => (
            format!("(__extension__({{int __pw_g={selected}?{value}!=0:1;__pw_g?("),
            ")?1:0:0;}))",
        ),
        HookKind::OrBefore => (
            format!("(__extension__({{int __pw_g={selected}?{value}!=0:0;__pw_g?1:("),
            ")?1:0;}))",
        ),
        HookKind::Guard => (format!("{{if({selected}?{value}!=0:1)"), "}"),
        HookKind::Skip => (format!("{{if({selected}?{value}==0:1)"), "}"),
        HookKind::Choice {
            ctype,
            alternatives,
        } => {
            let ctype = ctype.as_deref();
            return Some(chosen(&selected, &value, ctype, alternatives, inner));
        }
        HookKind::Before {
            is_body,
            alternatives,
        } => {
            let before = executed(&selected, &value, alternatives);
            match is_body {
                true => (format!("{{{before}"), "}"),
                false => (before, ""),
            }
        }
        HookKind::Instead { alternatives } => {
            return Some(replaced(&selected, &value, alternatives, inner));
        }
        HookKind::After {
            alternatives,
            always,
        } => {
            let mut text = inner.to_vec();
            text.extend_from_slice(always.as_bytes());
            text.extend_from_slice(executed(&selected, &value, alternatives).as_bytes());
            return Some(text);
        }
    };
    let mut text = before.into_bytes();
    // A guarded statement may begin with a word.
    if matches!(hook.kind, HookKind::Guard | HookKind::Skip) {
        text.push(b' ');
    }
    text.extend_from_slice(inner);
    text.extend_from_slice(after.as_bytes());
    Some(text)
}

/// Whether values of this type of integers are calculated with as those of `int`.
fn is_promoted(ctype: &str) -> bool {
    let mut words = ctype.split(' ');
    words.any(|word| matches!(word, "char" | "short" | "_Bool" | "bool"))
}

/// Returns the tokens of `expression` on one line. It is `None` if the text has directives or is not
/// UTF-8.
pub fn on_one_line(expression: &[u8]) -> Option<String> {
    let mut line = Vec::new();
    let mut end = 0;
    for piece in pieces(expression) {
        let Piece::Token(token) = piece else {
            return None;
        };
        if token.start != end {
            line.push(b' ');
        }
        line.extend_from_slice(&token.text());
        end = token.end();
    }
    String::from_utf8(line).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_newlines_are_dropped_from_repeated_text() {
        let line = on_one_line(b"a\n->b /* c */ [i] // d\n + \"x  y\"").unwrap();
        assert_eq!(line, "a ->b [i] + \"x  y\"");
        assert_eq!(on_one_line(b"a\n#if X\n->b\n#endif\n"), None);
    }
}
