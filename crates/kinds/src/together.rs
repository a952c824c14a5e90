//! One change in all places of one form.
//!
//! Who takes `<` for `<=` takes it in all comparisons that are alike, and no single one of these can be mended by itself.

use std::collections::BTreeMap;

use patchwright_csource::{ExprId, ExprKind, StmtId, StmtKind};
use patchwright_text::Edit;

use crate::{
    ask::Here,
    difference::{composed, of_expression},
    find::{Change, Found, Target, filled},
    matches::{Match, Matcher, Value},
    read::{Action, Kind},
    syntax::Root,
    tree::{Parts, Tree},
};

/// Adds the changes of a kind in all places of a condition, of conditions in a row, and of the function.
pub(crate) fn find(tree: &Tree<'_>, kind: &Kind, add: &mut dyn FnMut(Found) -> bool) {
    let mut links: Vec<StmtId> = Vec::new();
    let mut all = Parts::default();
    tree.parts_of_statement(tree.function.body, &mut all);
    for &id in &all.statements {
        let rows: Vec<Vec<StmtId>> = match &tree.function.stmt(id).kind {
            StmtKind::Compound(inner) => {
                let is_if =
                    |id: &StmtId| matches!(tree.function.stmt(*id).kind, StmtKind::If { .. });
                let rows = inner.chunk_by(|one, other| is_if(one) && is_if(other));
                rows.map(<[StmtId]>::to_vec).collect()
            }
            kind => {
                let inner = kind.inner();
                let is_block =
                    |id: &StmtId| matches!(tree.function.stmt(*id).kind, StmtKind::Compound(_));
                let bodies = inner.into_iter().filter(|id| !is_block(id));
                bodies.map(|id| vec![id]).collect()
            }
        };
        for row in rows {
            // An `else if` belongs to the chain that it is in.
            if row.iter().any(|id| links.contains(id)) {
                continue;
            }
            for id in &row {
                add_links(tree, *id, &mut links);
            }
            if !in_row(tree, kind, &row, add) {
                return;
            }
        }
    }
    if let StmtKind::Compound(inner) = &tree.function.stmt(tree.function.body).kind
        && let (Some(first), Some(last)) = (inner.first(), inner.last())
    {
        let mut whole = Vec::new();
        for id in &all.statements {
            tree.whole_expressions(*id, &mut whole);
        }
        in_set(tree, kind, (*first, *last), &whole, add);
    }
}

fn add_links(tree: &Tree<'_>, id: StmtId, links: &mut Vec<StmtId>) {
    let mut at = id;
    while let StmtKind::If {
        otherwise: Some(otherwise),
        ..
    } = tree.function.stmt(at).kind
    {
        links.push(otherwise);
        at = otherwise;
    }
}

fn in_row(
    tree: &Tree<'_>,
    kind: &Kind,
    row: &[StmtId],
    add: &mut dyn FnMut(Found) -> bool,
) -> bool {
    let (Some(&first), Some(&last)) = (row.first(), row.last()) else {
        return true;
    };
    let mut heads: Vec<ExprId> = Vec::new();
    for id in row {
        let mut at = Some(*id);
        while let Some(id) = at {
            tree.whole_expressions(id, &mut heads);
            at = match tree.function.stmt(id).kind {
                StmtKind::If { otherwise, .. } => otherwise,
                _ => None,
            };
        }
    }
    let mut goes_on = in_set(tree, kind, (first, last), &heads, add);
    if heads.len() > 1 {
        for head in &heads {
            goes_on = goes_on && in_set(tree, kind, (first, last), &[*head], add);
        }
    }
    goes_on
}

/// The changes of all places in some expressions at once, of those that change the same operators into the same ones.
fn in_set(
    tree: &Tree<'_>,
    kind: &Kind,
    (first, last): (StmtId, StmtId),
    whole: &[ExprId],
    add: &mut dyn FnMut(Found) -> bool,
) -> bool {
    let mut parts = Parts::default();
    for id in whole {
        tree.parts_of_expression(*id, &mut parts);
    }
    let mut groups: BTreeMap<String, Vec<Edit>> = BTreeMap::new();
    for (number, pattern) in kind.find.iter().enumerate() {
        let Root::Expression(root) = pattern.root else {
            continue;
        };
        let matcher = Matcher { tree, pattern };
        for &id in &parts.expressions {
            let is_bare = !matches!(
                tree.function.expr(id).kind,
                ExprKind::Paren(_) | ExprKind::Cast { implicit: true, .. }
            );
            if !is_bare || !tree.function.expr(id).evaluated {
                continue;
            }
            let whole = tree.with_conversions(id);
            let (Some(scope), Some(statement)) = (tree.scope_of(id), tree.statement_of(id)) else {
                continue;
            };
            let here = Here { statement, scope };
            for found in matcher.at_expression(root, whole, Match::default()) {
                for found in filled(tree, kind, found, here) {
                    for (action, new) in kind.actions.iter().enumerate() {
                        let Action::Replace(new) = new else {
                            continue;
                        };
                        let Root::Expression(to) = new.root else {
                            continue;
                        };
                        let edits = of_expression(tree, (pattern, root), (new, to), &found);
                        let key = format!("{number} {action} {}", operators(&found));
                        groups
                            .entry(key)
                            .or_default()
                            .extend(edits.into_iter().flatten());
                    }
                }
            }
        }
    }
    for (_, edits) in groups {
        // One by itself is a change of another kind.
        if edits.len() < 2 {
            continue;
        }
        let Some(edit) = composed(&tree.unit.source, edits) else {
            continue;
        };
        let found = Found {
            target: Target::Statements(first, last),
            change: Change::Edit(edit),
        };
        if !add(found) {
            return false;
        }
    }
    true
}

/// The operators of a match, by which changes are the same.
fn operators(found: &Match) -> String {
    let values = found.values.iter().filter_map(|(name, value)| match value {
        Value::Operator(operator) => Some(format!("{name}{}", operator.spelling())),
        _ => None,
    });
    values.collect::<Vec<_>>().join(" ")
}
