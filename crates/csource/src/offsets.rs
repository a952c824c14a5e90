//! `offsetof`: the JSON dump has the expression, and not what it is about. The compiler prints the
//! source anew from its tree, with the same expressions in the same order, and is then asked for
//! their values.

use patchwright_exec::{CompileCommand, Runner};

use crate::{
    clang::{Clang, ParseError},
    detail::{Detail, Details},
    questions,
};

const PREFIX: &str = "__patchwright_offset_";

/// How the compiler prints it.
const SPELLING: &str = "__builtin_offsetof(";

/// Gives each `offsetof` its value, in these details of functions; `count` is how many of them the
/// dump has. What the compiler cannot tell (an index that is no constant, a type of a function's
/// own) stays without.
pub(crate) fn ask<'d>(
    clang: &Clang,
    runner: &mut Runner,
    command: &CompileCommand,
    count: u32,
    details: impl Iterator<Item = &'d mut Details>,
) -> Result<(), ParseError> {
    if count == 0 {
        return Ok(());
    }
    let printed = clang.print(runner, command)?;
    let found = spelled(&printed);
    let mut values = vec![None; count as usize];
    // If they are not as many, which is which is not known.
    if found.len() == count as usize {
        let mut texts: Vec<&str> = found.clone();
        texts.sort_unstable();
        texts.dedup();
        let mut file = String::new();
        for (number, text) in texts.iter().enumerate() {
            file.push_str(&format!("enum {{ {PREFIX}{number} = {text} }};\n"));
        }
        let answers = clang.ask(runner, command, file, PREFIX)?;
        for answer in answers.split(&format!("Dumping {PREFIX}")).skip(1) {
            let Some((number, value, _)) = questions::read(answer) else {
                continue;
            };
            for (index, text) in found.iter().enumerate() {
                if texts.get(number) == Some(text) {
                    values[index] = u64::try_from(value).ok();
                }
            }
        }
    }
    for details in details {
        details.of.retain(|_, detail| match detail {
            Detail::OffsetOf { number, value } => {
                *value = values.get(*number as usize).copied().flatten();
                value.is_some()
            }
            _ => true,
        });
    }
    Ok(())
}

/// The expressions in a text, in order; brackets in character constants do not occur in them.
fn spelled(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(next) = text[at..].find(SPELLING) {
        let start = at + next;
        let mut depth = 0usize;
        let end = text[start..].char_indices().find_map(|(offset, c)| {
            match c {
                '(' => depth += 1,
                ')' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(start + offset + 1);
                    }
                }
                _ => {}
            }
            None
        });
        let Some(end) = end else { break };
        found.push(&text[start..end]);
        // Others may stand within it, in an index.
        at = start + SPELLING.len();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_found_in_order_also_within_each_other() {
        let text = "return __builtin_offsetof(struct s, a[(1)]) + \
                    __builtin_offsetof(struct t, b[__builtin_offsetof(struct s, c)]);";
        assert_eq!(
            spelled(text),
            [
                "__builtin_offsetof(struct s, a[(1)])",
                "__builtin_offsetof(struct t, b[__builtin_offsetof(struct s, c)])",
                "__builtin_offsetof(struct s, c)",
            ]
        );
    }
}
