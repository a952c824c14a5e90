//! Finds the values that a function already assigns to its variables. A missing assignment most often repeats one of them, as when
//! a sum is not reset before it is used again.

use patchwright_csource::{ExprId, ExprKind, Function, Storage, TranslationUnit};
use rustc_hash::FxHashMap;

/// The values that are assigned in a function, and those that its locals begin with: texts without blanks, by that of
/// what has them.
pub(super) fn given_values(
    unit: &TranslationUnit,
    function: &Function,
) -> FxHashMap<String, Vec<String>> {
    let text = |id: ExprId| {
        let span = function.expr(function.stripped(id)).place.editable()?;
        Some(without_blanks(&unit.text(span)))
    };
    let assigned = function.exprs.iter().filter_map(|expr| match expr.kind {
        ExprKind::Assign {
            operator: None,
            target,
            value,
        } if expr.evaluated => Some((text(target)?, text(value)?)),
        _ => None,
    });
    let begun = function.locals.iter().filter_map(|&id| {
        let variable = unit.variable(id);
        let is_local = variable.storage == Storage::Local;
        let value = variable.initializer.filter(|_| is_local)?;
        Some((variable.name.clone(), text(value)?))
    });
    let mut found: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for (target, value) in assigned.chain(begun) {
        let values = found.entry(target).or_default();
        if !values.contains(&value) {
            values.push(value);
        }
    }
    found
}

/// A text as [`given_values`] has it.
pub(crate) fn without_blanks(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}
