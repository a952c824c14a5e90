//! OPERATOR: an assignment with another operator; BREAK: a section of a `switch` that does not go on into the next.
//!
//! `x += e` becomes `x -= e`, `x = e` becomes `x += e`, `x++` becomes `x--`, and a condition `x = e` becomes `x == e`: what
//! takes another operator has an effect, so no term can say it.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, Function, Place, StmtId, StmtKind, UnaryOperator, lex,
    types::TypeKind,
};
use patchwright_text::{Edit, Span};
use rustc_hash::FxHashSet;

use crate::endings::goes_on;
use crate::{
    choices::{Alternative, Finder, Form},
    insertion::insertion_after,
    space::Schema,
    term::CType,
};

/// An operator.
const OPERATOR_COST: u32 = 1;

/// A statement.
const BREAK_COST: u32 = 2;

/// Text that is longer is left alone: it would be repeated for each alternative.
pub(crate) const LONGEST: u32 = 400;

/// Operators of assignments that people write for each other; the first two also fit pointers, the first four floating
/// types.
const ARITHMETIC: [&str; 5] = ["+", "-", "*", "/", "%"];
const BITWISE: [&str; 3] = ["&", "|", "^"];
const SHIFTS: [&str; 2] = ["<<", ">>"];

/// Finds assignments and steps with other operators.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let discarded = discarded(finder.function);
    let conditions = conditions(finder.function);
    let mut spans: FxHashSet<Span> = FxHashSet::default();
    for number in 0..finder.function.exprs.len() {
        let id = ExprId(number as u32);
        let expr = finder.function.expr(id);
        let is_assignment = matches!(
            expr.kind,
            ExprKind::Assign { .. }
                | ExprKind::Unary {
                    operator: UnaryOperator::Step,
                    ..
                }
        );
        let Some(span) = expr.place.editable() else {
            continue;
        };
        if !is_assignment
            || !expr.evaluated
            || !finder.is_short(span, LONGEST)
            || finder.has_statements(id)
            || !spans.insert(span)
        {
            continue;
        }
        let ty = expr.ty;
        let kind = expr.kind.clone();
        let Some(ctype) = finder.builder.ctype(ty) else {
            continue;
        };
        let is_used = !discarded.contains(&id);
        if is_used && !finder.can_spell(ctype) {
            continue;
        }
        let texts = match kind {
            ExprKind::Unary { operand, .. } => stepped(finder, span, operand, is_used),
            ExprKind::Assign {
                operator: Some(operator),
                target,
                value,
            } => compound(finder, ctype, operator, target, value),
            ExprKind::Assign {
                operator: None,
                target,
                value,
            } if conditions.contains(&id) => compared(finder, target, value),
            // What was there before is lost: the others can be said by terms that name the target.
            ExprKind::Assign {
                operator: None,
                target,
                value,
            } if !is_used && ctype.is_arithmetic() => {
                let place = operator_between(finder, target, value, "=");
                place
                    .map(|place| Edit::replace(place, "+="))
                    .into_iter()
                    .collect()
            }
            _ => Vec::new(),
        };
        let value = is_used.then_some(ctype);
        add_edits(
            finder,
            span,
            value,
            (Schema::Operator, OPERATOR_COST),
            texts,
        );
    }
}

/// Adds a location whose alternatives are edits inside of an expression, all of one kind and cost.
pub(crate) fn add_edits(
    finder: &mut Finder<'_, '_, '_>,
    span: Span,
    value: Option<CType>,
    (schema, cost): (Schema, u32),
    edits: Vec<Edit>,
) {
    let alternatives = edits
        .into_iter()
        .map(|edit| Alternative {
            schema,
            cost,
            woven: within(finder, span, &edit),
            edit,
        })
        .collect();
    finder.add(span, value, Form::Expression, alternatives);
}

/// The text of a span with one edit inside of it.
pub(crate) fn within(finder: &Finder<'_, '_, '_>, span: Span, edit: &Edit) -> String {
    let before = finder.text(Span::new(span.start, edit.span.start));
    let after = finder.text(Span::new(edit.span.end, span.end));
    let replacement = String::from_utf8_lossy(&edit.text);
    format!("{before}{replacement}{after}")
}

/// Expressions whose value nobody looks at.
pub(crate) fn discarded(function: &Function) -> FxHashSet<ExprId> {
    let mut found = FxHashSet::default();
    let mut add = |mut id: ExprId| {
        // Of a comma, the right operand is the value.
        loop {
            id = function.stripped(id);
            let ExprKind::Binary {
                operator: BinaryOperator::Comma,
                right,
                ..
            } = function.expr(id).kind
            else {
                break;
            };
            id = right;
        }
        found.insert(id);
    };
    for stmt in &function.stmts {
        match stmt.kind {
            StmtKind::Expression(expr) => add(expr),
            StmtKind::For {
                increment: Some(increment),
                ..
            } => add(increment),
            _ => {}
        }
    }
    for expr in &function.exprs {
        if let ExprKind::Binary {
            operator: BinaryOperator::Comma,
            left,
            ..
        } = expr.kind
        {
            add(left);
        }
    }
    // The value of a statement expression is that of its last statement.
    for expr in &function.exprs {
        if let ExprKind::Other {
            body: Some(body), ..
        } = expr.kind
            && let StmtKind::Compound(inner) = &function.stmt(body).kind
            && let Some(&last) = inner.last()
            && let StmtKind::Expression(value) = function.stmt(last).kind
        {
            found.remove(&function.stripped(value));
        }
    }
    found
}

/// Expressions whose value is only looked at for its truth.
fn conditions(function: &Function) -> FxHashSet<ExprId> {
    let stmts = function.stmts.iter();
    let mut open: Vec<ExprId> = stmts.filter_map(|stmt| stmt.kind.condition()).collect();
    for expr in &function.exprs {
        match expr.kind {
            ExprKind::Conditional { condition, .. } => open.push(condition),
            ExprKind::Binary {
                operator: BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr,
                left,
                right,
            } => open.extend([left, right]),
            ExprKind::Unary {
                operator: UnaryOperator::Not,
                operand,
            } => open.push(operand),
            _ => {}
        }
    }
    open.into_iter().map(|id| function.stripped(id)).collect()
}

/// `x--` for `x++`; where the value matters and `x` is a variable, also `++x`.
fn stepped(finder: &Finder<'_, '_, '_>, span: Span, operand: ExprId, is_used: bool) -> Vec<Edit> {
    let text = finder.text(span);
    let (is_prefix, sign) = match text.as_bytes() {
        [a @ (b'+' | b'-'), b, ..] if a == b => (true, *a),
        [.., a, b @ (b'+' | b'-')] if a == b => (false, *b),
        _ => return Vec::new(),
    };
    let other = if sign == b'+' { "--" } else { "++" };
    let sign = if sign == b'+' { "++" } else { "--" };
    let operator = match is_prefix {
        true => Span::new(span.start, span.start + 2),
        false => Span::new(span.end - 2, span.end),
    };
    let mut found = vec![Edit::replace(operator, other)];
    let variable = finder
        .function
        .expr(finder.function.without_parens(operand));
    if is_used
        && matches!(variable.kind, ExprKind::Variable(_))
        && let Some(name) = variable.place.editable()
    {
        let name = finder.text(name);
        let text = match is_prefix {
            true => format!("{name}{sign}"),
            false => format!("{sign}{name}"),
        };
        found.push(Edit::replace(span, text));
    }
    found
}

/// Other operators for `target op= value`, and none.
fn compound(
    finder: &mut Finder<'_, '_, '_>,
    ctype: CType,
    operator: BinaryOperator,
    target: ExprId,
    value: ExprId,
) -> Vec<Edit> {
    let is_integer = |ctype: Option<CType>| ctype.is_some_and(|ctype| ctype.is_integer());
    let value_type = finder.function.expr(finder.function.stripped(value)).ty;
    let value_type = finder.builder.ctype(value_type);
    let both_integer = is_integer(Some(ctype)) && is_integer(value_type);
    let old = operator.spelling();
    let others: &[&str] = match ctype {
        CType::Pointer(_) => &ARITHMETIC[..2],
        _ if ARITHMETIC.contains(&old) && both_integer => &ARITHMETIC,
        _ if ARITHMETIC.contains(&old) => &ARITHMETIC[..4],
        _ if BITWISE.contains(&old) => &BITWISE,
        _ => &SHIFTS,
    };
    let Some(place) = operator_between(finder, target, value, &format!("{old}=")) else {
        return Vec::new();
    };
    let mut edits: Vec<Edit> = others
        .iter()
        .filter(|other| **other != old)
        .map(|other| Edit::replace(place, format!("{other}=")))
        .collect();
    // `sum += a[0]` of what has no value to begin with.
    if !matches!(ctype, CType::Pointer(_)) {
        edits.push(Edit::replace(place, "="));
    }
    edits
}

/// `target == value` for `target = value`.
fn compared(finder: &Finder<'_, '_, '_>, target: ExprId, value: ExprId) -> Vec<Edit> {
    let ty = finder.function.expr(target).ty;
    if matches!(finder.builder.unit.types.kind(ty), TypeKind::Record(_)) {
        return Vec::new();
    }
    let Some(place) = operator_between(finder, target, value, "=") else {
        return Vec::new();
    };
    let bare = finder.function.stripped(value);
    let inner = finder.function.expr(bare);
    // `x = a == b` means something else with another operator in front.
    let binds_loosely = matches!(
        inner.kind,
        ExprKind::Conditional { .. } | ExprKind::Assign { .. }
    ) || matches!(&inner.kind, ExprKind::Binary { operator, .. }
            if matches!(operator.spelling(), "==" | "!=" | "&" | "|" | "^" | "&&" | "||" | ","));
    let is_bare = finder.function.expr(value).place.editable() == inner.place.editable();
    match inner.place.editable() {
        Some(span) if binds_loosely && is_bare => {
            let text = finder.text(Span::new(place.end, span.start));
            let text = format!("=={text}({})", finder.text(span));
            vec![Edit::replace(Span::new(place.start, span.end), text)]
        }
        _ => vec![Edit::replace(place, "==")],
    }
}

/// Returns the place of the operator between two operands, if only parentheses stand between them besides.
pub(crate) fn operator_between(
    finder: &Finder<'_, '_, '_>,
    left: ExprId,
    right: ExprId,
    operator: &str,
) -> Option<Span> {
    let place = |id: ExprId| {
        let bare = finder.function.stripped(id);
        finder.function.expr(bare).place.editable()
    };
    let (left, right) = (place(left)?, place(right)?);
    if left.end > right.start {
        return None;
    }
    let text = finder.text(Span::new(left.end, right.start));
    let start = left.end + lex::sign_between(&text, operator)? as u32;
    Some(Span::new(start, start + operator.len() as u32))
}

/// Finds sections of a `switch` that go on into the next one, where `break;` may be missing.
pub(crate) fn find_breaks(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let function = finder.function;
        let is_label = |id: StmtId| {
            matches!(
                function.stmt(id).kind,
                StmtKind::Case(_) | StmtKind::Default(_)
            )
        };
        let (true, true, Some((block, place))) =
            (is_label(standing.id), standing.breakable, standing.block)
        else {
            continue;
        };
        let StmtKind::Compound(inner) = &function.stmt(block).kind else {
            continue;
        };
        let Some(&before) = place.checked_sub(1).and_then(|place| inner.get(place)) else {
            continue;
        };
        // What stands before the first label is never executed.
        if !inner[..place].iter().any(|&id| is_label(id)) || !goes_on(function, before) {
            continue;
        }
        let Place::Written(last) = function.stmt(function.behind_labels(before)).place else {
            continue;
        };
        let edit = insertion_after(&finder.builder.unit.source, last, false, "break;");
        let alternative = Alternative {
            schema: Schema::Break,
            cost: BREAK_COST,
            woven: "break;".to_owned(),
            edit,
        };
        let form = Form::Before { is_body: false };
        finder.add(standing.span, None, form, vec![alternative]);
    }
}
