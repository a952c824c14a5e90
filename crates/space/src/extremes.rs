//! ASSIGNMENT of the first of some things to what becomes the least or the greatest of them: `least = most = a[0];` before the loop with
//! `if (a[i] < least) least = a[i];`, or `if (i == 0) least = most = x;` in front of `if (x < least) least = x;`.
//!
//! What begins with zero is never the least of numbers above it. Which variables belong together is told by comparisons that keep what they
//! compare with. ASSIGNMENT has such a statement for one variable only.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, StmtId, StmtKind, Storage, UnaryOperator, VarId,
};
use patchwright_text::Span;

use crate::{
    builder::ASSIGNMENT_COST,
    choices::{Alternative, Finder, Form, Standing},
    insertion::insertion,
    operators::LONGEST,
    predicates::mentioned_variables,
    remainders::has_effects,
    space::Schema,
    term::CType,
};

/// The statement, which says nothing new.
const COST: u32 = ASSIGNMENT_COST + 1;

/// Most things of one loop that are kept.
const MOST_KEPT: usize = 4;

/// Most variables that may count the rounds.
const MOST_COUNTERS: usize = 3;

/// `if (value < target) target = value;`
struct Kept {
    standing: Standing,
    target: ExprId,
    lvalue: String,
    value: ExprId,
    text: String,
    ctype: CType,
}

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let loops: Vec<Standing> = finder
        .statements
        .iter()
        .filter(|standing| {
            matches!(
                finder.function.stmt(standing.id).kind,
                StmtKind::While { .. } | StmtKind::Do { .. } | StmtKind::For { .. }
            )
        })
        .cloned()
        .collect();
    let statements = finder.statements.clone();
    let kept: Vec<Kept> = statements
        .into_iter()
        .filter_map(|standing| kept(finder, standing))
        .collect();
    for around in &loops {
        // Those of the innermost loop.
        let is_own = |kept: &&Kept| {
            let inside = |outer: &Standing| outer.span.contains_span(kept.standing.span);
            let innermost = loops.iter().filter(|outer| inside(outer));
            innermost
                .min_by_key(|outer| outer.span.len())
                .map(|own| own.span)
                == Some(around.span)
        };
        let mut own: Vec<&Kept> = kept.iter().filter(is_own).collect();
        own.truncate(MOST_KEPT);
        while let Some(first) = own.first() {
            let text = first.text.clone();
            let (alike, others): (Vec<&Kept>, Vec<&Kept>) =
                own.into_iter().partition(|kept| kept.text == text);
            own = others;
            before_loop(finder, around, &alike);
            in_first_round(finder, around, &alike);
        }
    }
}

/// The statement, if it keeps what it compares with.
fn kept(finder: &mut Finder<'_, '_, '_>, standing: Standing) -> Option<Kept> {
    let function = finder.function;
    let StmtKind::If {
        condition, then, ..
    } = function.stmt(standing.id).kind
    else {
        return None;
    };
    let ExprKind::Binary {
        operator: BinaryOperator::Lt | BinaryOperator::Gt | BinaryOperator::Le | BinaryOperator::Ge,
        left,
        right,
    } = function.expr(function.stripped(condition)).kind
    else {
        return None;
    };
    let ExprKind::Assign {
        operator: None,
        target,
        value,
    } = function.expr(only(finder, then)?).kind
    else {
        return None;
    };
    let text = |id: ExprId| {
        let span = function.expr(function.stripped(id)).place.editable()?;
        Some(finder.plain(span))
    };
    let (lvalue, kept) = (text(target)?, text(value)?);
    let compared = [text(left)?, text(right)?];
    let is_it =
        compared == [lvalue.clone(), kept.clone()] || compared == [kept.clone(), lvalue.clone()];
    let is_plain = !has_effects(finder, target)
        && !has_effects(finder, value)
        && finder.is_short(standing.span, LONGEST)
        && lvalue != kept;
    let (target, value) = (function.stripped(target), function.stripped(value));
    let ctype = finder.builder.ctype(function.expr(target).ty)?;
    (is_it && is_plain && ctype.is_arithmetic()).then_some(Kept {
        standing,
        target,
        lvalue,
        value,
        text: kept,
        ctype,
    })
}

/// The expression that is all of a statement, or of a block.
fn only(finder: &Finder<'_, '_, '_>, id: StmtId) -> Option<ExprId> {
    match &finder.function.stmt(id).kind {
        StmtKind::Expression(expr) => Some(finder.function.stripped(*expr)),
        StmtKind::Compound(inner) if inner.len() == 1 => only(finder, inner[0]),
        _ => None,
    }
}

/// All of them, and each by itself.
fn sets<'k>(alike: &[&'k Kept]) -> Vec<Vec<&'k Kept>> {
    let mut distinct: Vec<&Kept> = Vec::new();
    for &kept in alike {
        if !distinct.iter().any(|known| known.lvalue == kept.lvalue) {
            distinct.push(kept);
        }
    }
    let each = distinct.iter().map(|&kept| vec![kept]);
    match distinct.len() {
        1 => each.collect(),
        _ => std::iter::once(distinct.clone()).chain(each).collect(),
    }
}

/// `least = most = x;`
fn assignment(set: &[&Kept], value: &str) -> String {
    let is_chain = set.iter().all(|kept| kept.ctype == set[0].ctype);
    let targets = set.iter().map(|kept| kept.lvalue.as_str());
    match is_chain {
        true => {
            let targets: Vec<&str> = targets.collect();
            format!("{} = {value};", targets.join(" = "))
        }
        false => {
            let each: Vec<String> = targets
                .map(|target| format!("{target} = {value};"))
                .collect();
            format!("{{ {} }}", each.join(" "))
        }
    }
}

fn before_loop(finder: &mut Finder<'_, '_, '_>, around: &Standing, alike: &[&Kept]) {
    let function = finder.function;
    let Some(first) = alike.first() else {
        return;
    };
    let ExprKind::Subscript { base, index } = function.expr(first.value).kind else {
        return;
    };
    let ExprKind::Variable(index) = function.expr(function.stripped(index)).kind else {
        return;
    };
    let array = mentioned_variables(finder, base);
    let span = function.expr(function.stripped(base)).place.editable();
    let (Some(span), false) = (span, array.contains(&index)) else {
        return;
    };
    let value = format!("{}[0]", finder.plain(span));
    let mut texts = Vec::new();
    for set in sets(alike) {
        let targets = set
            .iter()
            .flat_map(|kept| mentioned_variables(finder, kept.target));
        let named: Vec<VarId> = targets.chain(array.iter().copied()).collect();
        let is_here = |id: &VarId| {
            let is_global = finder.builder.unit.variable(*id).storage == Storage::Global;
            is_global || around.scope.visible.contains(id)
        };
        if named.iter().all(is_here) {
            texts.push(assignment(&set, &value));
        }
    }
    add(finder, around, texts);
}

fn in_first_round(finder: &mut Finder<'_, '_, '_>, around: &Standing, alike: &[&Kept]) {
    // Nothing stands between an `else` and its `if`.
    let Some(first) = alike
        .iter()
        .find(|kept| !is_alternative(finder, kept.standing.id))
    else {
        return;
    };
    let mut texts = Vec::new();
    for (counter, begins) in counters(finder, around) {
        let name = finder.builder.unit.variable(counter).name.clone();
        let is_used = alike
            .iter()
            .any(|kept| kept.lvalue == name || kept.text == name);
        if is_used || !first.standing.scope.assigned.contains(&counter) {
            continue;
        }
        for set in sets(alike) {
            let assigned = assignment(&set, &first.text);
            texts.push(format!("if ({name} == {begins}) {assigned}"));
        }
    }
    let standing = first.standing.clone();
    add(finder, &standing, texts);
}

fn add(finder: &mut Finder<'_, '_, '_>, standing: &Standing, texts: Vec<String>) {
    let source = &finder.builder.unit.source;
    let is_body = standing.is_body;
    let alternatives = texts.into_iter().map(|text| Alternative {
        schema: Schema::Assignment,
        cost: COST,
        edit: insertion(source, standing.span, is_body, &text),
        woven: text,
    });
    let alternatives = alternatives.collect();
    finder.add(standing.span, None, Form::Before { is_body }, alternatives);
}

/// Whether the statement is what another `if` has as its `else`.
fn is_alternative(finder: &Finder<'_, '_, '_>, id: StmtId) -> bool {
    finder.function.stmts.iter().any(|stmt| {
        matches!(stmt.kind, StmtKind::If { otherwise: Some(otherwise), .. } if otherwise == id)
    })
}

/// What counts the rounds of a loop, and what it is in the first one.
fn counters(finder: &Finder<'_, '_, '_>, around: &Standing) -> Vec<(VarId, String)> {
    let function = finder.function;
    let variable = |id: ExprId| match function.expr(function.stripped(id)).kind {
        ExprKind::Variable(id) => Some(id),
        _ => None,
    };
    let number = |id: ExprId| match function.expr(function.stripped(id)).kind {
        ExprKind::Integer { value, .. } => Some(value.to_string()),
        _ => None,
    };
    let mut found: Vec<(VarId, String)> = Vec::new();
    if let StmtKind::For {
        init: Some(init), ..
    } = function.stmt(around.id).kind
    {
        match &function.stmt(init).kind {
            StmtKind::Declaration(variables) => {
                for &id in variables {
                    let value = finder.builder.unit.variable(id).initializer;
                    found.extend(value.and_then(number).map(|value| (id, value)));
                }
            }
            StmtKind::Expression(expr) => {
                if let ExprKind::Assign { target, value, .. } =
                    function.expr(function.stripped(*expr)).kind
                    && let (Some(id), Some(value)) = (variable(target), number(value))
                {
                    found.push((id, value));
                }
            }
            _ => {}
        }
    }
    for expr in &function.exprs {
        let is_inside = |span: Span| around.span.contains_span(span);
        if let ExprKind::Unary {
            operator: UnaryOperator::Step,
            operand,
        } = expr.kind
            && expr.place.editable().is_some_and(is_inside)
            && let Some(id) = variable(operand)
            && !found.iter().any(|(known, _)| *known == id)
        {
            found.push((id, "0".to_owned()));
        }
    }
    found.truncate(MOST_COUNTERS);
    found
}
