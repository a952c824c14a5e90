//! LOOP: a `for` over the same range the other way round, or over a range that begins and ends one further.
//!
//! Such a change is of two or three parts of the loop's head at once, none of which helps by itself. The whole statement stands
//! once more in the woven text for each of them.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, Place, StmtId, StmtKind, UnaryOperator, VarId, lex,
};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder, Form},
    moves,
    space::Schema,
    term::CType,
};

/// The beginning, the comparison and the step are one decision, and a loop has one other direction.
const REVERSED_COST: u32 = 2;

/// Two nodes.
const SHIFTED_COST: u32 = 2;

/// A loop with a longer text is left alone: it is repeated for each alternative.
const LONGEST: u32 = 2000;

/// The parts of a head that counts.
struct Head {
    /// The variable's name.
    variable: String,
    is_unsigned: bool,
    /// From where to where it counts, as texts.
    first: Bound,
    last: Bound,
    /// It counts up; else down.
    is_up: bool,
    /// The last one belongs to the range.
    is_inclusive: bool,
    /// Places of the parts.
    first_at: Span,
    condition_at: Span,
    increment_at: Span,
}

/// A bound of a range.
#[derive(Clone)]
struct Bound {
    text: String,
    /// An operator in front or behind needs no parentheses round it.
    is_tight: bool,
}

impl Bound {
    /// One more or one less.
    fn next(&self, more: bool) -> String {
        let text = self.text.trim();
        if let Ok(number) = text.parse::<i64>() {
            return if more { number + 1 } else { number - 1 }.to_string();
        }
        let (undone, done) = if more {
            (" - 1", " + 1")
        } else {
            (" + 1", " - 1")
        };
        let is_plain = |rest: &str| !rest.contains(['-', '+', '*', '/', '%', '?', '<', '>']);
        if let Some(rest) = text.strip_suffix(undone).filter(|rest| is_plain(rest)) {
            return rest.to_owned();
        }
        match self.is_tight {
            true => format!("{text}{done}"),
            false => format!("({text}){done}"),
        }
    }
}

/// Adds `for` loops that count the other way round, or begin and end one further.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let Some(head) = head(finder, standing.id) else {
            continue;
        };
        if !finder.is_short(standing.span, LONGEST) {
            finder.found.refuse("LOOP of a statement with a long text");
            continue;
        }
        if moves::has_label(finder, standing.id, false) {
            continue;
        }
        let source = &finder.builder.unit.source;
        let whole = Span::new(head.first_at.start, head.increment_at.end);
        let gap = |from: &Span, to: &Span| {
            let text = &source[from.end as usize..to.start as usize];
            String::from_utf8_lossy(text).into_owned()
        };
        let gaps = (
            gap(&head.first_at, &head.condition_at),
            gap(&head.condition_at, &head.increment_at),
        );
        // Nothing but the end of the beginning stands there.
        let is_end = |gap: &str| lex::on_one_line(gap).trim() == ";";
        if !is_end(&gaps.0) || !is_end(&gaps.1) {
            continue;
        }
        let mut alternatives = Vec::new();
        for (cost, first, condition, increment) in heads(&head) {
            let behind = match increment.is_empty() {
                // Without what would stand before nothing.
                true => lex::on_one_line(&gaps.1).trim().to_owned(),
                false => gaps.1.clone(),
            };
            let text = format!("{first}{}{condition}{behind}{increment}", gaps.0);
            let edit = Edit::replace(whole, text);
            alternatives.push(Alternative {
                schema: Schema::Loop,
                cost,
                woven: crate::operators::within(finder, standing.span, &edit),
                edit,
            });
        }
        finder.add(standing.span, None, Form::Instead, alternatives);
    }
}

/// The heads that are tried: beginning, condition, step.
fn heads(head: &Head) -> Vec<(u32, String, String, String)> {
    let Head {
        variable: v,
        first,
        last,
        is_up,
        is_inclusive,
        ..
    } = head;
    let step = |up: bool| format!("{v}{}", if up { "++" } else { "--" });
    let compared = |up: bool, inclusive: bool, bound: &str| {
        let operator = match (up, inclusive) {
            (true, true) => "<=",
            (true, false) => "<",
            (false, true) => ">=",
            (false, false) => ">",
        };
        format!("{v} {operator} {bound}")
    };
    let mut found = Vec::new();
    let reversed = match (is_up, head.is_unsigned) {
        // What is not negative is never less than the first one.
        (true, true) => {
            let from = if *is_inclusive {
                last.next(true)
            } else {
                last.text.clone()
            };
            (from, format!("{v}-- > {}", first.text), String::new())
        }
        (true, false) => {
            let from = if *is_inclusive {
                last.text.clone()
            } else {
                last.next(false)
            };
            (from, compared(false, true, &first.text), step(false))
        }
        (false, _) => {
            let from = if *is_inclusive {
                last.text.clone()
            } else {
                last.next(true)
            };
            let beyond = first.next(true);
            let condition = match beyond.ends_with(" + 1") {
                true => compared(true, true, &first.text),
                false => compared(true, false, &beyond),
            };
            (from, condition, step(true))
        }
    };
    let (from, condition, increment) = reversed;
    found.push((REVERSED_COST, from, condition, increment));
    for more in [true, false] {
        let from = first.next(more);
        // Nothing is counted from -1.
        if from.starts_with('-') && !first.text.starts_with('-') {
            continue;
        }
        for condition in [
            compared(*is_up, !is_inclusive, &last.text),
            compared(*is_up, *is_inclusive, &last.next(true)),
            compared(*is_up, *is_inclusive, &last.next(false)),
        ] {
            found.push((SHIFTED_COST, from.clone(), condition, step(*is_up)));
        }
    }
    found
}

/// The head of a `for` that counts one by one.
fn head(finder: &mut Finder<'_, '_, '_>, id: StmtId) -> Option<Head> {
    let function = finder.function;
    let StmtKind::For {
        init: Some(init),
        condition: Some(condition),
        increment: Some(increment),
        ..
    } = function.stmt(id).kind
    else {
        return None;
    };
    let (counter, first) = match &function.stmt(init).kind {
        StmtKind::Expression(expr) => match function.expr(function.stripped(*expr)).kind {
            ExprKind::Assign {
                operator: None,
                target,
                value,
            } => (variable(finder, target)?, value),
            _ => return None,
        },
        StmtKind::Declaration(variables) => {
            let &[only] = &variables[..] else {
                return None;
            };
            (only, finder.builder.unit.variable(only).initializer?)
        }
        _ => return None,
    };
    let ExprKind::Binary {
        operator,
        left,
        right,
    } = function.expr(function.stripped(condition)).kind
    else {
        return None;
    };
    // `n > i` says what `i < n` says.
    let is_first = variable(finder, left) == Some(counter);
    let (own, last) = match is_first {
        true => (left, right),
        false => (right, left),
    };
    let (is_less, is_inclusive) = match operator {
        BinaryOperator::Lt => (true, false),
        BinaryOperator::Le => (true, true),
        BinaryOperator::Gt => (false, false),
        BinaryOperator::Ge => (false, true),
        _ => return None,
    };
    let is_up = is_less == is_first;
    if variable(finder, own)? != counter || step(finder, increment, counter)? != is_up {
        return None;
    }
    let ctype = finder
        .builder
        .ctype(finder.builder.unit.variable(counter).ty);
    let ctype = ctype.filter(|ctype| ctype.is_integer() && *ctype != CType::Bool)?;
    let place = |id: ExprId| function.expr(function.stripped(id)).place;
    let written = |id: ExprId| match place(id) {
        Place::Written(span) => Some(span),
        _ => None,
    };
    let (condition_at, increment_at) = (written(condition)?, written(increment)?);
    let first_at = bound_at(finder, first)?;
    let (first, last) = (
        bound(finder, first, counter)?,
        bound(finder, last, counter)?,
    );
    Some(Head {
        variable: finder.builder.unit.variable(counter).name.clone(),
        is_unsigned: !ctype.value_type().is_signed_integer(),
        first,
        last,
        is_up,
        is_inclusive,
        first_at,
        condition_at,
        increment_at,
    })
}

/// The variable that an expression is.
fn variable(finder: &Finder<'_, '_, '_>, id: ExprId) -> Option<VarId> {
    match finder.function.expr(finder.function.stripped(id)).kind {
        ExprKind::Variable(id) => Some(id),
        _ => None,
    }
}

/// Whether an expression is one more of the variable, or one less.
fn step(finder: &Finder<'_, '_, '_>, id: ExprId, counter: VarId) -> Option<bool> {
    let id = finder.function.stripped(id);
    let expr = finder.function.expr(id);
    match expr.kind {
        ExprKind::Unary {
            operator: UnaryOperator::Step,
            operand,
        } if variable(finder, operand)? == counter => {
            let text = finder.plain(expr.place.editable()?);
            Some(text.contains("++"))
        }
        ExprKind::Assign {
            operator: Some(operator @ (BinaryOperator::Add | BinaryOperator::Sub)),
            target,
            value,
        } if variable(finder, target)? == counter => {
            let value = finder.function.stripped(value);
            let is_one = matches!(
                finder.function.expr(value).kind,
                ExprKind::Integer { value: 1, .. }
            );
            is_one.then_some(matches!(operator, BinaryOperator::Add))
        }
        _ => None,
    }
}

fn bound_at(finder: &Finder<'_, '_, '_>, id: ExprId) -> Option<Span> {
    // With its parentheses.
    let mut outer = id;
    while let ExprKind::Cast {
        operand,
        implicit: true,
        ..
    } = finder.function.expr(outer).kind
    {
        outer = operand;
    }
    match finder.function.expr(outer).place {
        Place::Written(span) => Some(span),
        // A macro that is a number.
        place => place.editable(),
    }
}

/// A bound that can stand in another part of the head: without effects, and without the variable itself.
fn bound(finder: &Finder<'_, '_, '_>, id: ExprId, counter: VarId) -> Option<Bound> {
    if !is_pure(finder, id, counter) {
        return None;
    }
    let text = finder.plain(bound_at(finder, id)?);
    let is_tight = match &finder.function.expr(finder.function.stripped(id)).kind {
        ExprKind::Binary { operator, .. } => {
            matches!(operator.spelling(), "+" | "-" | "*" | "/" | "%") || text.starts_with('(')
        }
        ExprKind::Conditional { .. } => text.starts_with('('),
        _ => true,
    };
    Some(Bound { text, is_tight })
}

fn is_pure(finder: &Finder<'_, '_, '_>, id: ExprId, counter: VarId) -> bool {
    let function = finder.function;
    function.within(id).all(|id| match &function.expr(id).kind {
        ExprKind::Variable(other) => *other != counter,
        ExprKind::Assign { .. } | ExprKind::Other { .. } => false,
        ExprKind::Unary { operator, .. } => *operator != UnaryOperator::Step,
        ExprKind::Binary { operator, .. } => *operator != BinaryOperator::Comma,
        // That of a string, and others that are asked for a length.
        ExprKind::Call { arguments, .. } => arguments.len() == 1,
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(first: &str, operator: &str, last: &str, is_unsigned: bool) -> Vec<String> {
        let bound = |text: &str| Bound {
            text: text.to_owned(),
            is_tight: true,
        };
        let nowhere = Span::new(0, 0);
        let head = Head {
            variable: "i".to_owned(),
            is_unsigned,
            first: bound(first),
            last: bound(last),
            is_up: operator.starts_with('<'),
            is_inclusive: operator.ends_with('='),
            first_at: nowhere,
            condition_at: nowhere,
            increment_at: nowhere,
        };
        let heads = heads(&head).into_iter();
        heads
            .map(|(_, first, condition, step)| format!("i = {first}; {condition}; {step}"))
            .collect()
    }

    #[test]
    fn a_range_is_passed_the_other_way_round() {
        let reversed = |first, operator, last, is_unsigned| {
            texts(first, operator, last, is_unsigned).swap_remove(0)
        };
        assert_eq!(reversed("0", "<", "n", false), "i = n - 1; i >= 0; i--");
        assert_eq!(reversed("1", "<=", "n", false), "i = n; i >= 1; i--");
        assert_eq!(reversed("0", "<", "n + 1", false), "i = n; i >= 0; i--");
        assert_eq!(reversed("n - 1", ">=", "0", false), "i = 0; i < n; i++");
        assert_eq!(reversed("n", ">", "m", false), "i = m + 1; i <= n; i++");
        assert_eq!(reversed("0", "<", "n", true), "i = n; i-- > 0; ");
    }

    #[test]
    fn a_range_begins_and_ends_one_further() {
        assert_eq!(
            texts("0", "<", "n - 1", false)[1..],
            [
                "i = 1; i <= n - 1; i++",
                "i = 1; i < n; i++",
                "i = 1; i < n - 1 - 1; i++",
            ]
        );
    }
}
