//! MOVE to the direction that is missing: `fill(y, x - 1)` beside `fill(y, x + 1)`, `fill(y - 1, x)` and `fill(y + 1, x)`; as one more term of a sum, or
//! as one more statement.
//!
//! What goes one further in one direction mostly goes back in it as well. Calls and elements that differ only in what is one more or one less
//! tell in which directions the program goes.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, Function, StmtId, StmtKind, UnaryOperator, lex,
};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Finder, Form},
    insertion::insertion_after,
    operators::LONGEST,
    space::Schema,
    term::promote,
    wraps::used,
};

/// The repeated text, and its direction.
const COST: u32 = 3;

/// The number of directions from which they count as a pattern.
const LEAST_ALIKE: usize = 3;

/// Most that are added in one place.
const MOST_AT: usize = 6;

/// Adds the direction that sums and statements leave out.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    sums(finder);
    statements(finder);
}

/// Sums whose terms go in different directions.
fn sums(finder: &mut Finder<'_, '_, '_>) {
    let mut spans: Vec<Span> = Vec::new();
    for used in used(finder) {
        let expr = finder
            .function
            .expr(finder.function.without_parens(used.id));
        let (ty, place) = (expr.ty, expr.place);
        let mut terms = Vec::new();
        addends(finder, used.id, &mut terms);
        let Some(span) = place
            .editable()
            .filter(|span| finder.is_short(*span, LONGEST))
        else {
            continue;
        };
        // The parts of a sum are sums as well.
        let is_part = spans.iter().any(|known| known.contains_span(span));
        if terms.len() < LEAST_ALIKE || is_part || finder.has_statements(used.id) {
            continue;
        }
        spans.push(span);
        let Some(ctype) = finder
            .builder
            .ctype(ty)
            .filter(|ctype| ctype.is_arithmetic())
        else {
            continue;
        };
        let read: Option<Vec<Directed>> = terms.iter().map(|&id| directed(finder, id)).collect();
        let Some(read) = read else { continue };
        let own = finder.plain(span);
        let alternatives = missing(&read).into_iter().map(|text| Alternative {
            schema: Schema::Move,
            cost: COST,
            woven: format!("{own} + {text}"),
            edit: Edit::insert(span.end, format!(" + {text}")),
        });
        let alternatives = alternatives.collect();
        finder.add(span, Some(promote(ctype)), Form::Expression, alternatives);
    }
}

/// What a sum adds up.
fn addends(finder: &Finder<'_, '_, '_>, id: ExprId, found: &mut Vec<ExprId>) {
    let bare = finder.function.stripped(id);
    match finder.function.expr(bare).kind {
        ExprKind::Binary {
            operator: BinaryOperator::Add,
            left,
            right,
        } => {
            addends(finder, left, found);
            addends(finder, right, found);
        }
        _ => found.push(bare),
    }
}

/// Calls in a row that go in different directions.
fn statements(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let StmtKind::Compound(inner) = finder.function.stmt(standing.id).kind.clone() else {
            continue;
        };
        let call = |id: StmtId| -> Option<(Span, Directed)> {
            let stmt = finder.function.stmt(id);
            let StmtKind::Expression(expr) = stmt.kind else {
                return None;
            };
            let called = finder.function.stripped(expr);
            let is_call = matches!(finder.function.expr(called).kind, ExprKind::Call { .. });
            let whole = stmt.place.editable()?;
            (is_call && !finder.has_statements(expr))
                .then(|| Some((whole, directed(finder, called)?)))
                .flatten()
        };
        let rows: Vec<Option<(Span, Directed)>> = inner.iter().map(|&id| call(id)).collect();
        for row in rows.split(Option::is_none) {
            let row: Vec<&(Span, Directed)> = row.iter().flatten().collect();
            let Some(&&(last, _)) = row.last() else {
                continue;
            };
            let read: Vec<Directed> = row.iter().map(|(_, read)| read.clone()).collect();
            let source = &finder.builder.unit.source;
            let own = finder.plain(last);
            let alternatives = missing(&read).into_iter().map(|text| {
                let text = format!("{text};");
                Alternative {
                    schema: Schema::Move,
                    cost: COST,
                    woven: format!("{own} {text}"),
                    edit: insertion_after(source, last, false, &text),
                }
            });
            let alternatives = alternatives.collect();
            finder.add(last, None, Form::Instead, alternatives);
        }
    }
}

/// A call or an element, with what its arguments and subscripts go on from. It is read from the tree: `1 + y` goes where `y + 1` goes.
#[derive(Clone)]
struct Directed {
    /// The text between the arguments, and each of these without what is one more or one less.
    between: Vec<String>,
    starts: Vec<String>,
    /// How far each goes: 1, -1 or 0.
    steps: Vec<i32>,
}

impl Directed {
    /// What is the same for all directions.
    fn shape(&self) -> (Vec<Vec<&str>>, &[String]) {
        let between = self.between.iter().map(|text| {
            let tokens = lex::tokens(text).into_iter();
            tokens.map(|(token, _)| token).collect()
        });
        (between.collect(), &self.starts)
    }

    /// The text with other steps.
    fn written(&self, steps: &[i32]) -> String {
        let mut text = self.between[0].clone();
        let parts = self.starts.iter().zip(steps).zip(&self.between[1..]);
        for ((start, step), between) in parts {
            text.push_str(start);
            text.push_str(match step {
                1 => " + 1",
                -1 => " - 1",
                _ => "",
            });
            text.push_str(between);
        }
        text
    }
}

/// Reads a call or an element; `None` if its text is not that of the tree, as in the body of a macro.
fn directed(finder: &Finder<'_, '_, '_>, id: ExprId) -> Option<Directed> {
    let function = finder.function;
    let id = function.stripped(id);
    let whole = function.expr(id).place.editable()?;
    let mut places = Vec::new();
    arguments(function, id, &mut places);
    let mut found = Directed {
        between: Vec::new(),
        starts: Vec::new(),
        steps: Vec::new(),
    };
    let mut read = Vec::new();
    for place in places {
        let (start, step) = start_and_step(function, place);
        let span = function.expr(place).place.editable()?;
        let start = function.expr(function.stripped(start)).place.editable()?;
        read.push((span, finder.plain(start), step));
    }
    read.sort_by_key(|(span, ..)| span.start);
    let mut from = whole.start;
    for (span, start, step) in read {
        if span.start < from || span.end > whole.end {
            return None;
        }
        found
            .between
            .push(between(finder, Span::new(from, span.start)));
        found.starts.push(start);
        found.steps.push(step);
        from = span.end;
    }
    found
        .between
        .push(between(finder, Span::new(from, whole.end)));
    Some(found)
}

/// What stands between two arguments, with a blank behind a comma whatever stands there.
fn between(finder: &Finder<'_, '_, '_>, span: Span) -> String {
    let text = finder.plain(span);
    match text.ends_with(',') {
        true => format!("{text} "),
        false => text,
    }
}

/// The arguments and subscripts of an expression that are names, or one more or less than one; of other ones those inside.
fn arguments(function: &Function, id: ExprId, found: &mut Vec<ExprId>) {
    let id = function.stripped(id);
    let (own, rest): (Vec<ExprId>, Vec<ExprId>) = match &function.expr(id).kind {
        ExprKind::Call {
            callee, arguments, ..
        } => (arguments.clone(), vec![*callee]),
        ExprKind::Subscript { base, index } => (vec![*index], vec![*base]),
        ExprKind::Unary {
            operator: UnaryOperator::Dereference,
            operand,
            // Its parentheses stay.
        } => (vec![function.stripped(*operand)], Vec::new()),
        _ => (Vec::new(), function.children(id)),
    };
    for argument in own {
        let (start, _) = start_and_step(function, argument);
        match is_name(function, start) {
            true => found.push(argument),
            false => arguments(function, argument, found),
        }
    }
    for other in rest {
        arguments(function, other, found);
    }
}

/// What an expression is one more or one less than, and that: `y` and 1 of `y + 1`, and of `1 + y`.
fn start_and_step(function: &Function, id: ExprId) -> (ExprId, i32) {
    let is_one = |id: ExprId| {
        matches!(
            function.expr(function.stripped(id)).kind,
            ExprKind::Integer {
                value: 1,
                character: false,
                enumerator: None
            }
        )
    };
    match function.expr(function.stripped(id)).kind {
        ExprKind::Binary {
            operator: BinaryOperator::Add,
            left,
            right,
        } if is_one(right) => (left, 1),
        ExprKind::Binary {
            operator: BinaryOperator::Add,
            left,
            right,
        } if is_one(left) => (right, 1),
        ExprKind::Binary {
            operator: BinaryOperator::Sub,
            left,
            right,
        } if is_one(right) => (left, -1),
        _ => (id, 0),
    }
}

/// Whether an expression is a variable or a member.
fn is_name(function: &Function, id: ExprId) -> bool {
    matches!(
        function.expr(function.stripped(id)).kind,
        ExprKind::Variable(_) | ExprKind::Member { .. }
    )
}

/// The texts of directions that are opposite to one of those that are there, and are not there themselves.
fn missing(read: &[Directed]) -> Vec<String> {
    let mut found = Vec::new();
    for (number, first) in read.iter().enumerate() {
        let alike = |other: &&Directed| other.shape() == first.shape();
        if read[..number].iter().any(|known| alike(&known)) {
            continue;
        }
        let directions: Vec<&[i32]> = read
            .iter()
            .filter(alike)
            .map(|read| &read.steps[..])
            .collect();
        if directions.len() < LEAST_ALIKE {
            continue;
        }
        for direction in &directions {
            let opposite: Vec<i32> = direction.iter().map(|step| -step).collect();
            if directions.iter().all(|known| **known != opposite) {
                found.push(first.written(&opposite));
            }
        }
    }
    found.dedup();
    found.truncate(MOST_AT);
    found
}
