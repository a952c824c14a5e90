//! Constants that the dump does not tell: values of macros, sizes of types. The compiler is
//! asked for them in a file of enumerators that follows the source.

use patchwright_exec::{CompileCommand, Runner};
use rustc_hash::FxHashMap;

use patchwright_ctext as lex;

use crate::{
    clang::{Clang, ParseError},
    macros::MacroTable,
    tree::MacroConstant,
    types::{TypeId, TypeKind, TypeTable},
};

const PREFIX: &str = "__patchwright_question_";

/// At most so many macros of the project that the source does not mention are asked for.
const UNMENTIONED_MACROS: usize = 2000;

/// Asks for the values of all object-like macros that may be integer constants, and for the
/// sizes of all records that pointers of the unit point to.
pub(crate) fn ask(
    clang: &Clang,
    runner: &mut Runner,
    command: &CompileCommand,
    source: &[u8],
    macros: &MacroTable,
    types: &mut TypeTable,
) -> Result<Vec<MacroConstant>, ParseError> {
    let mut mentioned: FxHashMap<String, Vec<u32>> = FxHashMap::default();
    for (word, at) in lex::words_with_places(source) {
        mentioned.entry(word).or_default().push(at as u32);
    }
    let mut unmentioned = 0;
    let names: Vec<(String, bool)> = macros
        .object_like()
        .filter(|(name, definition)| {
            let wanted = mentioned.contains_key(*name) || {
                unmentioned += 1;
                // Behind a file that is included others may be defined.
                let is_known = command.included.is_none() && !definition.system;
                is_known && unmentioned <= UNMENTIONED_MACROS
            };
            wanted && may_be_constant(&definition.body) && !name.starts_with("__")
        })
        .map(|(name, definition)| (name.to_owned(), !definition.system))
        .collect();
    let records: Vec<(TypeId, String)> = types
        .pointees()
        .into_iter()
        .filter(|&id| matches!(types.kind(id), TypeKind::Record(_)))
        .filter_map(|id| Some((id, types.spelling(id)?)))
        .collect();
    if names.is_empty() && records.is_empty() {
        return Ok(Vec::new());
    }
    let mut questions = String::new();
    for (i, (name, _)) in names.iter().enumerate() {
        questions.push_str(&format!("enum {{ {PREFIX}{i} = ({name}) }};\n"));
    }
    for (i, (_, spelling)) in records.iter().enumerate() {
        let i = names.len() + i;
        questions.push_str(&format!("enum {{ {PREFIX}{i} = sizeof({spelling}) }};\n"));
    }
    let dump = clang.ask(runner, command, questions, PREFIX)?;
    let mut found = Vec::new();
    for answer in dump.split(&format!("Dumping {PREFIX}")).skip(1) {
        let Some((number, value, spelled)) = read(answer) else {
            continue;
        };
        if let Some((name, in_project)) = names.get(number) {
            found.push(MacroConstant {
                name: name.clone(),
                value,
                ty: types.parse(spelled),
                in_project: *in_project,
                is_operand: macros.is_operand(name),
                mentions: mentioned.get(name).cloned().unwrap_or_default(),
            });
        } else if let Some((id, _)) = records.get(number - names.len())
            && let Ok(size) = u64::try_from(value)
        {
            types.set_record_size(*id, size);
        }
    }
    Ok(found)
}

/// Number, value and type of an answered question.
pub(crate) fn read(answer: &str) -> Option<(usize, i128, &str)> {
    let number = answer.split(':').next()?.parse().ok()?;
    let constant = answer.lines().find(|line| line.contains("ConstantExpr "))?;
    let mut quoted = constant.split('\'');
    let spelled = quoted.nth(1)?;
    let value = answer
        .lines()
        .find_map(|line| {
            line.trim_start_matches(['|', ' ', '-'])
                .strip_prefix("value: Int ")
        })?
        .trim()
        .parse()
        .ok()?;
    Some((number, value, spelled))
}

fn may_be_constant(body: &str) -> bool {
    let bytes = body.as_bytes();
    !bytes.is_empty()
        && !bytes
            .iter()
            .any(|c| matches!(c, b'"' | b'{' | b'}' | b';' | b'#' | b'='))
        && lex::is_balanced(bytes, false)
}
