//! `offsetof`: the JSON dump has the expression, and not what it is about. The compiler prints the
//! source anew from its tree, with the same expressions in the same order, and is then asked for
//! their values.

use patchwright_exec::{CompileCommand, Runner};
use rustc_hash::FxHashMap;

use crate::{
    clang::{Clang, ParseError},
    detail::{Detail, Details},
    layout::{self, ToldMember},
    questions,
    tree::ExprId,
    types::{RecordId, TypeKind, TypeTable},
};

const PREFIX: &str = "__patchwright_offset_";

/// How the compiler prints it.
const SPELLING: &str = "__builtin_offsetof(";

/// Computes the value of each `offsetof` in these details of functions; `count` is their number in the dump. An `offsetof` with a variable
/// index or a type of a function's own stays without a value.
pub(crate) fn ask<'d>(
    clang: &Clang,
    runner: &mut Runner,
    command: &CompileCommand,
    count: u32,
    types: &mut TypeTable,
    details: impl Iterator<Item = &'d mut Details>,
) -> Result<(), ParseError> {
    if count == 0 {
        return Ok(());
    }
    let printed = clang.print(runner, command)?;
    let mut found = spelled(&printed);
    let mut values = vec![None; count as usize];
    // If they are not as many, which is which is not known.
    if found.len() != count as usize {
        found.clear();
    } else {
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
    for text in found.iter().filter(|text| text.contains("(unnamed ")) {
        if let Some((ty, _)) = text[SPELLING.len()..].split_once(',') {
            types.parse(ty.trim());
        }
    }
    let told = match found.iter().any(|text| text.contains("(unnamed ")) {
        true => layout::members(clang, runner, command, types)?,
        false => FxHashMap::default(),
    };
    for details in details {
        details.of.retain(|_, detail| match detail {
            Detail::OffsetOf {
                number,
                value,
                indices,
            } => {
                *value = values.get(*number as usize).copied().flatten();
                if value.is_some() {
                    indices.clear();
                } else if let Some(text) = found.get(*number as usize) {
                    *value = path(types, &told, text, indices);
                }
                value.is_some()
            }
            _ => true,
        });
    }
    Ok(())
}

/// Returns the constant part of an `offsetof` with variable indices, or with a type that is defined in it, and notes the size of the elements
/// that each index counts. `told` has the members of records whose definition is not in the dump.
fn path(
    types: &mut TypeTable,
    told: &FxHashMap<RecordId, Vec<ToldMember>>,
    text: &str,
    indices: &mut [(ExprId, u64)],
) -> Option<u64> {
    let inside = text.strip_prefix(SPELLING)?.strip_suffix(')')?;
    let (ty, mut rest) = inside.split_once(',')?;
    let mut ty = types.parse(ty.trim());
    let mut offset = 0;
    let mut indices = indices.iter_mut();
    rest = rest.trim();
    while !rest.is_empty() {
        if let Some(index) = rest.strip_prefix('[') {
            let mut depth = 1;
            let end = index.char_indices().find(|&(_, c)| {
                depth += i32::from(c == '[') - i32::from(c == ']');
                depth == 0
            });
            rest = &index[end?.0 + 1..];
            ty = types.element(ty)?;
            indices.next()?.1 = types.size_and_align(ty)?.0;
            continue;
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
        let length = rest.find(['.', '[']).unwrap_or(rest.len());
        let name = &rest[..length];
        rest = &rest[length..];
        let TypeKind::Record(record) = *types.kind(ty) else {
            return None;
        };
        let Some(layout) = types.layout(record) else {
            let member = told.get(&record)?.iter().find(|one| one.name == name)?;
            offset += member.offset;
            ty = types.parse(&member.ty);
            continue;
        };
        let fields = types.record(record).fields.as_ref()?;
        let position = fields.iter().position(|field| field.name == name)?;
        offset += layout.offsets[position] / 8;
        ty = fields[position].ty;
    }
    indices.next().is_none().then_some(offset)
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
