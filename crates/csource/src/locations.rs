//! Decides which expressions of a function can be edited in place, and why the others cannot.

use std::collections::BTreeMap;

use patchwright_text::{Edit, Span};

use crate::tree::*;

/// The expressions of a function that can be edited, and the number of others by reason.
#[derive(Clone, Debug, Default)]
pub struct Locations {
    /// Expressions whose text can be replaced, the outermost of those with one text.
    pub editable: Vec<(ExprId, Span)>,
    /// How many expressions cannot be edited, by reason. Implicit conversions do not count.
    pub refused: BTreeMap<Refusal, usize>,
}

impl Locations {
    /// Returns the number of expressions that cannot be edited.
    pub fn refused_in_total(&self) -> usize {
        self.refused.values().sum()
    }
}

/// Decides for each expression of `function` whether it can be edited in place.
pub fn locations(types: &crate::types::TypeTable, function: &Function) -> Locations {
    let mut found = Locations::default();
    let mut seen = rustc_hash::FxHashMap::default();
    let not_replaceable = not_replaceable(function);
    for (i, expr) in function.exprs.iter().enumerate() {
        let id = ExprId(i as u32);
        if matches!(expr.kind, ExprKind::Cast { implicit: true, .. }) {
            continue;
        }
        let refusal = if let Some(refusal) = function.refusal {
            Some(refusal)
        } else if !expr.evaluated {
            Some(Refusal::Unevaluated)
        } else if not_replaceable.contains(&id)
            || matches!(types.kind(expr.ty), crate::types::TypeKind::Void)
        {
            // Of an expression without a value there is nothing to replace; and what a macro
            // gives clang as `(void)0` may be an attribute for gcc.
            Some(Refusal::Unsupported)
        } else {
            expr.place.refusal()
        };
        match (refusal, expr.place.editable()) {
            (None, Some(span)) => {
                // Children come before their parents: the last one with a text is outermost.
                if let Some(&at) = seen.get(&span) {
                    let entry: &mut (ExprId, Span) = &mut found.editable[at];
                    entry.0 = id;
                } else {
                    seen.insert(span, found.editable.len());
                    found.editable.push((id, span));
                }
            }
            (Some(refusal), _) => *found.refused.entry(refusal).or_default() += 1,
            (None, None) => *found.refused.entry(Refusal::Unsupported).or_default() += 1,
        }
    }
    found
}

/// Expressions that C does not let stand in parentheses or be replaced by a value: initialiser
/// lists, strings that initialise arrays, the names of called functions.
fn not_replaceable(function: &Function) -> rustc_hash::FxHashSet<ExprId> {
    let mut found = rustc_hash::FxHashSet::default();
    for (i, expr) in function.exprs.iter().enumerate() {
        let id = ExprId(i as u32);
        match &expr.kind {
            ExprKind::Call { callee, .. } => {
                found.insert(function.stripped(*callee));
            }
            ExprKind::Function(_) => {
                found.insert(id);
            }
            ExprKind::String => {
                found.insert(id);
            }
            ExprKind::Other { kind, .. }
                if !matches!(
                    kind.as_str(),
                    "BinaryConditionalOperator" | "BinaryOperator" | "CompoundAssignOperator"
                ) =>
            {
                found.insert(id);
            }
            _ => {}
        }
    }
    found
}

/// Returns edits that put parentheses around all editable expressions of a source at once, for all ways
/// in which it is compiled. The result must compile to the same object code. That is the test that all
/// places are exact.
pub fn parentheses(units: &[TranslationUnit]) -> Vec<Edit> {
    let mut spans: Vec<Span> = units
        .iter()
        .flat_map(|unit| unit.functions.iter().map(move |function| (unit, function)))
        .flat_map(|(unit, function)| locations(&unit.types, function).editable)
        .map(|(_, span)| span)
        .collect();
    spans.sort_by_key(|span| (span.start, span.end));
    spans.dedup();
    let mut opens: BTreeMap<u32, usize> = BTreeMap::new();
    let mut closes: BTreeMap<u32, usize> = BTreeMap::new();
    for span in spans {
        *opens.entry(span.start).or_default() += 1;
        *closes.entry(span.end).or_default() += 1;
    }
    let mut offsets: Vec<u32> = opens.keys().chain(closes.keys()).copied().collect();
    offsets.sort_unstable();
    offsets.dedup();
    offsets
        .into_iter()
        .map(|at| Edit {
            span: Span { start: at, end: at },
            text: format!(
                "{}{}",
                ")".repeat(closes.get(&at).copied().unwrap_or(0)),
                "(".repeat(opens.get(&at).copied().unwrap_or(0)),
            )
            .into(),
        })
        .collect()
}
