//! One source that is compiled in several ways: what they agree about.
//!
//! Every way has a tree of its own. An expression or statement can only be changed if it is the same in
//! all ways that compile its text: the same operators on the same variables and constants, of the
//! same types, at the same place. Everything else is refused
//! ([`Place::Disagreement`], [`Refusal::Ambiguous`]) in every tree. Text that a way leaves out
//! (`#if`) means nothing there, so it is no disagreement.

use patchwright_text::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use patchwright_ctext as lex;

use crate::{
    tree::*,
    types::{TypeId, TypeKind, TypeTable},
};

/// Refuses, in all trees of one source, the places about which the trees disagree.
pub(crate) fn agree(units: &mut [TranslationUnit]) {
    if units.len() < 2 {
        return;
    }
    let groups: Vec<Span> = lex::conditional_groups(&units[0].source)
        .into_iter()
        .map(|(start, end)| Span::new(start as u32, end as u32))
        .collect();
    let verdicts: Vec<Vec<Disagreements>> = units
        .iter()
        .enumerate()
        .map(|(i, unit)| {
            let others = units.iter().enumerate().filter(|(j, _)| *j != i);
            let others: Vec<&TranslationUnit> = others.map(|(_, other)| other).collect();
            unit.functions
                .iter()
                .map(|function| Disagreements::find(unit, function, &others, &groups))
                .collect()
        })
        .collect();
    for (unit, verdicts) in units.iter_mut().zip(verdicts) {
        for (function, verdict) in unit.functions.iter_mut().zip(verdicts) {
            if let Some(refusal) = verdict.function {
                function.refusal.get_or_insert(refusal);
            }
            for id in verdict.exprs {
                function.exprs[id].place = Place::Disagreement;
            }
            for id in verdict.stmts {
                function.stmts[id].place = Place::Disagreement;
            }
        }
    }
}

/// Whether two functions of two trees of one source stand at the same place.
pub fn is_same_function(function: &Function, other: &Function) -> bool {
    function.name == other.name && function.body_span == other.body_span
}

/// What other trees see differently in one function.
#[derive(Default)]
struct Disagreements {
    function: Option<Refusal>,
    exprs: Vec<usize>,
    stmts: Vec<usize>,
}

impl Disagreements {
    fn find(
        unit: &TranslationUnit,
        function: &Function,
        others: &[&TranslationUnit],
        groups: &[Span],
    ) -> Self {
        let mut found = Disagreements::default();
        let (mut exprs, mut stmts) = (FxHashSet::default(), FxHashSet::default());
        for other in others {
            let overlapping = other.functions.iter().find(|twin| {
                twin.span.start < function.span.end && function.span.start < twin.span.end
            });
            let Some(twin) = overlapping else { continue };
            // Labels are declared for the whole body when it is woven.
            if !is_same_function(function, twin) || function.labels != twin.labels {
                found.function = Some(Refusal::Ambiguous);
                return found;
            }
            if let Some(refusal) = twin.refusal {
                found.function = Some(refusal);
            }
            let pair = Pair {
                a: (unit, function),
                b: (other, twin),
            };
            pair.compare(groups, &mut exprs, &mut stmts);
        }
        found.exprs = exprs.into_iter().collect();
        found.stmts = stmts.into_iter().collect();
        found
    }
}

/// One function in two trees.
struct Pair<'a> {
    a: (&'a TranslationUnit, &'a Function),
    b: (&'a TranslationUnit, &'a Function),
}

impl Pair<'_> {
    /// Collects the editable expressions and statements of `a` of which `b` has another idea.
    fn compare(&self, groups: &[Span], exprs: &mut FxHashSet<usize>, stmts: &mut FxHashSet<usize>) {
        let twin = self.b.1;
        let mut by_place: FxHashMap<Place, Vec<ExprId>> = FxHashMap::default();
        for (i, expr) in twin.exprs.iter().enumerate() {
            by_place
                .entry(expr.place)
                .or_default()
                .push(ExprId(i as u32));
        }
        let stmt_places: FxHashSet<_> = standings(twin).collect();
        let mut starts: Vec<u32> = twin
            .exprs
            .iter()
            .map(|expr| expr.place)
            .chain(twin.stmts.iter().map(|stmt| stmt.place))
            .filter_map(start)
            .collect();
        starts.sort_unstable();
        // A group in which nothing of the function begins is left out by this way.
        let left_out = |span: Span| {
            groups.iter().any(|group| {
                group.contains_span(span) && {
                    let first = starts.partition_point(|&at| at < group.start);
                    starts.get(first).is_none_or(|&at| at >= group.end)
                }
            })
        };
        for (i, expr) in self.a.1.exprs.iter().enumerate() {
            let Some(span) = expr.place.editable() else {
                continue;
            };
            let same = by_place.get(&expr.place).is_some_and(|candidates| {
                candidates
                    .iter()
                    .any(|&candidate| self.same_expr(ExprId(i as u32), candidate))
            });
            if !same && !left_out(span) {
                exprs.insert(i);
            }
        }
        for (i, standing) in standings(self.a.1).enumerate() {
            let Some(span) = standing.0.editable() else {
                continue;
            };
            if !stmt_places.contains(&standing) && !left_out(span) {
                stmts.insert(i);
            }
        }
    }

    fn same_exprs(&self, a: &[ExprId], b: &[ExprId]) -> bool {
        a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| self.same_expr(a, b))
    }

    fn same_expr(&self, a: ExprId, b: ExprId) -> bool {
        let (x, y) = (self.a.1.expr(a), self.b.1.expr(b));
        x.place == y.place
            && x.evaluated == y.evaluated
            && x.lvalue == y.lvalue
            && same_type(&self.a.0.types, x.ty, &self.b.0.types, y.ty)
            && self.same_kind(&x.kind, &y.kind)
            && self.same_exprs(&self.a.1.children(a), &self.b.1.children(b))
    }

    /// Whether two expressions are the same, but for what is below them.
    fn same_kind(&self, a: &ExprKind, b: &ExprKind) -> bool {
        match (a, b) {
            (
                ExprKind::Integer {
                    value,
                    character,
                    enumerator,
                },
                ExprKind::Integer {
                    value: other_value,
                    character: other_character,
                    enumerator: other_enumerator,
                },
            ) => {
                value == other_value
                    && character == other_character
                    && enumerator == other_enumerator
            }
            (ExprKind::Float(a), ExprKind::Float(b)) => a.to_bits() == b.to_bits(),
            (ExprKind::Variable(a), ExprKind::Variable(b)) => {
                let (a, b) = (self.a.0.variable(*a), self.b.0.variable(*b));
                a.name == b.name
                    && a.storage == b.storage
                    && a.declared_at == b.declared_at
                    && a.thread_local == b.thread_local
                    && same_type(&self.a.0.types, a.ty, &self.b.0.types, b.ty)
            }
            (ExprKind::Function(a), ExprKind::Function(b)) => a == b,
            (
                ExprKind::Member {
                    arrow,
                    name,
                    bit_field,
                    ..
                },
                ExprKind::Member {
                    arrow: other_arrow,
                    name: other_name,
                    bit_field: other_bit_field,
                    ..
                },
            ) => arrow == other_arrow && name == other_name && bit_field == other_bit_field,
            (ExprKind::Unary { operator: a, .. }, ExprKind::Unary { operator: b, .. }) => a == b,
            (ExprKind::Binary { operator: a, .. }, ExprKind::Binary { operator: b, .. }) => a == b,
            (ExprKind::Assign { operator: a, .. }, ExprKind::Assign { operator: b, .. }) => a == b,
            (
                ExprKind::Cast { implicit, cast, .. },
                ExprKind::Cast {
                    implicit: other_implicit,
                    cast: other_cast,
                    ..
                },
            ) => implicit == other_implicit && cast == other_cast,
            (
                ExprKind::Other {
                    kind,
                    body,
                    evaluated,
                    ..
                },
                ExprKind::Other {
                    kind: other_kind,
                    body: other_body,
                    evaluated: other_evaluated,
                    ..
                },
            ) => {
                kind == other_kind
                    && body.is_some() == other_body.is_some()
                    && evaluated == other_evaluated
            }
            _ => std::mem::discriminant(a) == std::mem::discriminant(b),
        }
    }
}

/// Where each statement of a function stands, what it is, and whether it is one of several in a block. Where a way leaves out
/// an `else`, what stands behind is no body any more, and whatever is put before it would need braces in one way only.
fn standings(
    function: &Function,
) -> impl Iterator<Item = (Place, std::mem::Discriminant<StmtKind>, bool)> {
    let mut in_block = vec![false; function.stmts.len()];
    for stmt in &function.stmts {
        if let StmtKind::Compound(inner) = &stmt.kind {
            for id in inner {
                in_block[id.0 as usize] = true;
            }
        }
    }
    let stmts = function.stmts.iter().zip(in_block);
    stmts.map(|(stmt, in_block)| (stmt.place, std::mem::discriminant(&stmt.kind), in_block))
}

/// Whether types of two tables are the same, as far as programs that use them can tell.
fn same_type(table: &TypeTable, a: TypeId, other: &TypeTable, b: TypeId) -> bool {
    if table.qualifiers(a) != other.qualifiers(b) {
        return false;
    }
    match (table.kind(a), other.kind(b)) {
        (TypeKind::Pointer(a), TypeKind::Pointer(b))
        | (TypeKind::VariableArray(a, _), TypeKind::VariableArray(b, _)) => {
            same_type(table, *a, other, *b)
        }
        (TypeKind::Array(a, length), TypeKind::Array(b, other_length)) => {
            length == other_length && same_type(table, *a, other, *b)
        }
        (TypeKind::Enum { name }, TypeKind::Enum { name: other_name }) => {
            name == other_name && table.integer_kind(a) == other.integer_kind(b)
        }
        (TypeKind::Record(x), TypeKind::Record(y)) => {
            let (x, y) = (table.record(*x), other.record(*y));
            // Names that we give to records without one differ from tree to tree.
            let same_name = x.spelling == y.spelling && (x.spelling.is_none() || x.name == y.name);
            same_name && x.is_union == y.is_union && table.size(a) == other.size(b)
        }
        (a, b) => a == b,
    }
}

fn start(place: Place) -> Option<u32> {
    match place {
        Place::Written(span) | Place::MacroArgument { span, .. } => Some(span.start),
        Place::MacroBody { invocation }
        | Place::Stringified { invocation }
        | Place::SeveralMeanings { invocation } => Some(invocation.start),
        Place::OtherFile | Place::Disagreement | Place::Unknown => None,
    }
}
