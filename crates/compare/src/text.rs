//! Compares the texts of two versions and the code that they become.

use patchwright_ir::{Module, Origin, print_module};
use patchwright_symbolic::ParameterShape;
use patchwright_text::{LineMap, line_edits};

/// Returns the lines of `old`, counted from 1, that a diff with `new` removes or changes.
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

/// Whether both versions become the same code, apart from places in the source.
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

/// Checks that parameters of one name have one type in both versions, so that both can get the same
/// arguments.
///
/// # Errors
/// The name of a parameter whose types differ.
pub fn same_parameters(old: &[ParameterShape], new: &[ParameterShape]) -> Result<(), String> {
    for one in old {
        let other = new.iter().find(|other| other.name == one.name);
        if other.is_some_and(|other| other.shape != one.shape) {
            return Err(one.name.clone());
        }
    }
    Ok(())
}

/// Returns parameters that only have another name in NEW, as pairs of the new and the old name. They
/// stand at the same place, and neither name exists in the other version.
pub fn renamed_parameters(old: &[ParameterShape], new: &[ParameterShape]) -> Vec<(String, String)> {
    let has = |all: &[ParameterShape], name: &str| all.iter().any(|one| one.name == name);
    old.iter()
        .zip(new)
        .filter(|(old_one, new_one)| !has(new, &old_one.name) && !has(old, &new_one.name))
        .map(|(old_one, new_one)| (new_one.name.clone(), old_one.name.clone()))
        .collect()
}
