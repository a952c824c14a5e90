//! The text of two versions, and the code that it became.

use patchwright_ir::{Module, Origin, print_module};
use patchwright_symbolic::ParameterShape;
use patchwright_text::{LineMap, line_edits};

/// Lines of `old` that are not in `new`, counted from 1.
pub fn changed_lines(old: &[u8], new: &[u8]) -> Vec<u32> {
    let map = LineMap::new(old);
    let mut lines = Vec::new();
    for edit in line_edits(old, new) {
        if edit.span.is_empty() {
            continue;
        }
        lines.extend(map.line(edit.span.start)..=map.line(edit.span.end - 1));
    }
    lines
}

/// Both became the same code, places aside: whatever one does, so does the other.
pub fn is_same_code(old: &[Module], new: &[Module]) -> bool {
    let bare = |module: &Module| {
        let nowhere = Origin {
            node: None,
            span: None,
            line: None,
        };
        let mut module = module.clone();
        module.files.clear();
        for global in &mut module.globals {
            global.origin = nowhere;
        }
        for function in &mut module.functions {
            function.origins.fill(nowhere);
        }
        print_module(&module)
    };
    old.len() == new.len() && old.iter().zip(new).all(|(a, b)| bare(a) == bare(b))
}

/// Parameters of one name are of one type in both versions, so that both can be given the same arguments.
///
/// # Errors
/// The name of one that is not.
pub fn same_parameters(old: &[ParameterShape], new: &[ParameterShape]) -> Result<(), String> {
    for one in old {
        let other = new.iter().find(|other| other.name == one.name);
        if other.is_some_and(|other| other.shape != one.shape) {
            return Err(one.name.clone());
        }
    }
    Ok(())
}

/// Parameters that only have another name in NEW: where one of NEW has a name that OLD does not have, and the one of OLD at its place
/// one that NEW does not have. The names in NEW, with those in OLD.
pub fn renamed_parameters(old: &[ParameterShape], new: &[ParameterShape]) -> Vec<(String, String)> {
    let has = |all: &[ParameterShape], name: &str| all.iter().any(|one| one.name == name);
    old.iter()
        .zip(new)
        .filter(|(old_one, new_one)| !has(new, &old_one.name) && !has(old, &new_one.name))
        .map(|(old_one, new_one)| (new_one.name.clone(), old_one.name.clone()))
        .collect()
}
