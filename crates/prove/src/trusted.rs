//! The parts of a program that repairs do not change.

use std::collections::{BTreeSet, HashSet};

use patchwright_clib::{Statement, statement};
use patchwright_csource::{
    ExprId, ExprKind, Function, Place, StmtId, StmtKind, TranslationUnit, lex,
};
use patchwright_text::Span;

/// The functions and lines of a source file that repairs do not change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trusted {
    /// All of it.
    pub everything: bool,
    /// These functions.
    pub functions: BTreeSet<String>,
    /// These lines, both ends included, counted from 1.
    pub lines: Vec<(u32, u32)>,
}

/// Whether a function of this name states what shall hold, or what is assumed.
fn states(name: &str) -> bool {
    statement(name).is_some_and(|statement| statement != Statement::Any)
}

/// Whether a function of this name is called only when something is wrong.
fn is_error(name: &str) -> bool {
    matches!(statement(name), Some(Statement::Error | Statement::GiveUp))
}

/// Whether a function says what shall hold, is trusted by its name, or is named as trusted.
pub(crate) fn is_trusted(trusted: &Trusted, name: &str) -> bool {
    trusted.everything
        || trusted.functions.contains(name)
        || name.starts_with("AllRepair_correct_")
        || states(name)
}

/// Spans of the source that AllRepair's comments mark as correct, or that `trusted` names by lines.
pub(crate) fn spans(trusted: &Trusted, unit: &TranslationUnit) -> Vec<Span> {
    const OPEN: &[u8] = b"//<ASSUME_CORRECT>";
    const CLOSE: &[u8] = b"//</ASSUME_CORRECT>";
    let source = &unit.source;
    let find = |what: &[u8], from: usize| {
        let rest = source.get(from..)?;
        let at = rest.windows(what.len()).position(|text| text == what)?;
        Some(from + at)
    };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = find(OPEN, at) {
        let end = find(CLOSE, start).unwrap_or(source.len());
        found.push(Span::new(start as u32, end as u32));
        at = end.max(start + OPEN.len());
    }
    let lines = patchwright_text::LineMap::new(source);
    for &(first, last) in &trusted.lines {
        let start = lines.line_span(first.max(1));
        let end = lines.line_span(last.min(lines.line_count()));
        if let (Some(start), Some(end)) = (start, end) {
            found.push(Span::new(start.start, end.end.max(start.start)));
        }
    }
    found
}

/// Returns the expressions of a source, by function, that no repair changes: those of assertions and
/// assumptions, and trusted ones.
pub fn unchanged(unit: &TranslationUnit, trusted: &Trusted) -> HashSet<(String, u32)> {
    let spans = spans(trusted, unit);
    let mut found = HashSet::new();
    for function in &unit.functions {
        let all = is_trusted(trusted, &function.name);
        let mut open: Vec<ExprId> = Vec::new();
        for (index, expr) in function.exprs.iter().enumerate() {
            let id = ExprId(index as u32);
            let inside = expr
                .place
                .editable()
                .is_some_and(|span| spans.iter().any(|trusted| trusted.overlaps(span)));
            let states = match &expr.kind {
                ExprKind::Call { callee, .. } => is_statement_call(function, *callee),
                _ => false,
            };
            if all || inside || states || is_in_assertion(unit, expr.place) {
                open.push(id);
            }
        }
        for statement in &function.stmts {
            if let StmtKind::If {
                condition,
                then,
                otherwise,
            } = &statement.kind
            {
                let arms = [Some(*then), *otherwise].into_iter().flatten();
                if arms.into_iter().any(|arm| reports_error(function, arm)) {
                    open.push(*condition);
                }
            }
        }
        while let Some(id) = open.pop() {
            if found.insert((function.name.clone(), id.0)) {
                open.extend(function.children(id));
            }
        }
    }
    found
}

/// Whether a call states what shall hold or what is assumed.
pub(crate) fn is_statement_call(function: &Function, callee: ExprId) -> bool {
    match &function.expr(function.stripped(callee)).kind {
        ExprKind::Function(name) => states(name),
        _ => false,
    }
}

/// Whether what comes from a macro comes from an assertion.
pub(crate) fn is_in_assertion(unit: &TranslationUnit, place: Place) -> bool {
    let invocation = match place {
        Place::MacroArgument { invocation, .. }
        | Place::MacroBody { invocation }
        | Place::Stringified { invocation }
        | Place::SeveralMeanings { invocation } => invocation,
        _ => return false,
    };
    let text = unit.text(invocation);
    let (name, _) = lex::first_word(&text);
    states(name) || name == "static_assert"
}

/// Whether a statement does nothing but report an error: the condition in front of it is an assertion.
pub(crate) fn reports_error(function: &Function, id: StmtId) -> bool {
    match &function.stmt(id).kind {
        StmtKind::Compound(inner) => inner
            .first()
            .is_some_and(|&first| reports_error(function, first)),
        StmtKind::Label { body, .. } => reports_error(function, *body),
        StmtKind::Expression(expr) => match &function.expr(function.stripped(*expr)).kind {
            ExprKind::Call { callee, .. } => {
                match &function.expr(function.stripped(*callee)).kind {
                    ExprKind::Function(name) => is_error(name),
                    _ => false,
                }
            }
            _ => false,
        },
        _ => false,
    }
}
