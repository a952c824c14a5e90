//! MOVE: a statement executed earlier or later in its block, or in front of, in or behind a loop beside it.
//!
//! The statement stands in the woven text once more at each place where it can go, and there only the copy is
//! executed. It passes what is neither a label nor a jump, and no declaration of a name that it mentions.

mod across;

use patchwright_csource::{StmtId, StmtKind, Storage};
use patchwright_text::{Edit, Span};

use crate::{
    choices::{Alternative, Destination, Finder, Form, Standing},
    space::Schema,
};

/// Most neighbours that a statement passes.
const FURTHEST: usize = 3;

/// A statement with a longer text is left alone: it is repeated for each place.
const LONGEST: u32 = 300;

/// The statement that is taken away and the one that is put there.
const NEIGHBOUR_COST: u32 = 2;

/// For each neighbour that it passes.
const STEP_COST: u32 = 1;

/// Adds statements that are executed earlier or later.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let Some((block, place)) = standing.block else {
            continue;
        };
        if !is_movable(finder, standing.id) {
            continue;
        }
        if !finder.is_short(standing.span, LONGEST) {
            finder.found.refuse("MOVE of a statement with a long text");
            continue;
        }
        let StmtKind::Compound(inner) = &finder.function.stmt(block).kind else {
            continue;
        };
        let inner = inner.clone();
        let mut names = Vec::new();
        mentioned(finder, standing.id, &mut names);
        let mut alternatives = Vec::new();
        let mut destinations = Vec::new();
        let mut go =
            |finder: &mut Finder<'_, '_, '_>, way: &mut dyn Iterator<Item = usize>, after: bool| {
                for (step, other) in way.take(FURTHEST).enumerate() {
                    let labelled = labelled(finder, inner[other]).filter(|_| !after);
                    let passed = labelled.unwrap_or(inner[other]);
                    let Some(beside) = passable(finder, passed, &names) else {
                        break;
                    };
                    // Two neighbours change places when the first passes the second, and the other way round.
                    let told = step == 0
                        && !after
                        && is_movable(finder, inner[other])
                        && finder.is_short(beside, LONGEST);
                    if told {
                        continue;
                    }
                    let source = &finder.builder.unit.source;
                    let Some(edit) = moved(source, &standing, beside, after) else {
                        finder
                            .found
                            .refuse("MOVE past a directive or the comment of a line");
                        break;
                    };
                    destinations.push(Destination { beside, after });
                    alternatives.push(Alternative {
                        schema: Schema::Move,
                        cost: NEIGHBOUR_COST + STEP_COST * step as u32,
                        woven: finder.text(standing.span),
                        edit,
                    });
                    if labelled.is_some() {
                        break;
                    }
                }
            };
        go(finder, &mut (0..place).rev(), false);
        go(finder, &mut (place + 1..inner.len()), true);
        for (destination, edit) in across::destinations(finder, &standing, &inner, &names) {
            destinations.push(destination);
            alternatives.push(Alternative {
                schema: Schema::Move,
                cost: NEIGHBOUR_COST + STEP_COST,
                woven: finder.text(standing.span),
                edit,
            });
        }
        finder.add(standing.span, None, Form::Moved(destinations), alternatives);
    }
}

/// What is executed where a label of a `switch` stands: nothing comes between the label and what is moved there.
fn labelled(finder: &Finder<'_, '_, '_>, id: StmtId) -> Option<StmtId> {
    match finder.function.stmt(id).kind {
        StmtKind::Case(body) | StmtKind::Default(body) => {
            Some(labelled(finder, body).unwrap_or(body))
        }
        _ => None,
    }
}

/// Whether a statement means the same at another place of its block, as far as its own text goes.
fn is_movable(finder: &Finder<'_, '_, '_>, id: StmtId) -> bool {
    let eligible = finder.function.stmt(id).kind.is_step();
    eligible && !has_label(finder, id, false)
}

/// The text of a statement that can be passed by one that mentions these names.
fn passable(finder: &Finder<'_, '_, '_>, id: StmtId, names: &[String]) -> Option<Span> {
    let stmt = finder.function.stmt(id);
    let span = match stmt.place {
        patchwright_csource::Place::Written(span) => span,
        _ => return None,
    };
    match &stmt.kind {
        StmtKind::Expression(_)
        | StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::Do { .. } => {}
        StmtKind::For { .. } | StmtKind::Switch { .. } | StmtKind::Compound(_) => {}
        StmtKind::Declaration(variables) => {
            let mut declared = variables.iter().map(|&id| finder.builder.unit.variable(id));
            // A declaration of types or functions may be what the statement needs.
            if variables.is_empty()
                || declared.any(|variable| {
                    names.contains(&variable.name) || variable.storage != Storage::Local
                })
            {
                return None;
            }
        }
        _ => return None,
    }
    (!has_label(finder, id, false)).then_some(span)
}

/// Whether a statement holds a label that can be jumped to from outside, or a statement expression. `case` labels count unless their
/// `switch` is inside of it, too (`in_switch`).
pub(crate) fn has_label(finder: &Finder<'_, '_, '_>, id: StmtId, in_switch: bool) -> bool {
    let function = finder.function;
    match &function.stmt(id).kind {
        StmtKind::Label { .. } | StmtKind::Other { .. } => true,
        StmtKind::Case(_) | StmtKind::Default(_) if !in_switch => true,
        kind => {
            let in_switch = in_switch || matches!(kind, StmtKind::Switch { .. });
            let mut expressions = finder.builder.unit.expressions_of(kind).into_iter();
            let mut inner = kind.inner().into_iter();
            expressions.any(|expr| finder.has_statements(expr))
                || inner.any(|id| has_label(finder, id, in_switch))
        }
    }
}

/// The names of the variables that a statement mentions, wherever they are declared: all words of its text.
fn mentioned(finder: &Finder<'_, '_, '_>, id: StmtId, names: &mut Vec<String>) {
    if let patchwright_csource::Place::Written(span) = finder.function.stmt(id).place {
        let text = &finder.builder.unit.source[span.range()];
        names.extend(patchwright_csource::lex::words(text));
    }
}

/// The statement taken from its place and put beside another one of its block; `None` where directives or comments
/// would come to mean something else.
fn moved(source: &[u8], standing: &Standing, beside: Span, after: bool) -> Option<Edit> {
    let own = standing.span;
    let text = |start: u32, end: u32| &source[start as usize..end as usize];
    let own_text = text(own.start, own.end);
    let gap = line_break(source, own.start);
    let (whole, other) = match after {
        true => (Span::new(own.start, beside.end), text(own.end, beside.end)),
        false => (
            Span::new(beside.start, own.end),
            text(beside.start, own.start),
        ),
    };
    if has_directive(text(whole.start, whole.end)) {
        return None;
    }
    let other = other.trim_ascii();
    let last_line = other.rsplit(|&c| c == b'\n').next().unwrap_or(other);
    let parts: [&[u8]; 3] = match after {
        true => [other, &gap, own_text],
        // What follows on the line would become a part of the comment.
        false if last_line.windows(2).any(|pair| pair == b"//") => return None,
        false => [own_text, &gap, other],
    };
    Some(Edit::replace(whole, parts.concat()))
}

/// A line end and the indentation of a statement that begins its line, or else a blank.
fn line_break(source: &[u8], start: u32) -> Vec<u8> {
    let before = &source[..start as usize];
    let indent = before.len()
        - before
            .iter()
            .rev()
            .take_while(|c| b" \t".contains(c))
            .count();
    match before[..indent].last() {
        Some(b'\n') => {
            let newline: &[u8] = match before[..indent].ends_with(b"\r\n") {
                true => b"\r\n",
                false => b"\n",
            };
            [newline, &before[indent..]].concat()
        }
        _ => b" ".to_vec(),
    }
}

/// Whether a line of the text begins with `#`.
pub(crate) fn has_directive(text: &[u8]) -> bool {
    let mut lines = text.split(|&c| c == b'\n');
    lines.any(|line| line.trim_ascii_start().starts_with(b"#"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use patchwright_csource::{Scope, StmtId};

    fn after_move(source: &str, own: &str, beside: &str, after: bool) -> Option<String> {
        let span = |text: &str| {
            let start = source.find(text).unwrap();
            Span::new(start as u32, (start + text.len()) as u32)
        };
        let standing = Standing {
            id: StmtId(0),
            span: span(own),
            is_body: false,
            block: None,
            in_loop: false,
            breakable: false,
            scope: Scope::default(),
        };
        let edit = moved(source.as_bytes(), &standing, span(beside), after)?;
        let text = patchwright_text::apply_edits(source.as_bytes(), &[edit]).unwrap();
        Some(String::from_utf8(text).unwrap())
    }

    #[test]
    fn a_statement_takes_its_line_with_it() {
        let source = "{\n  a();\n  /* b */\n  b();\n  c();\n}";
        assert_eq!(
            after_move(source, "a();", "b();", true).as_deref(),
            Some("{\n  /* b */\n  b();\n  a();\n  c();\n}")
        );
        assert_eq!(
            after_move(source, "c();", "a();", false).as_deref(),
            Some("{\n  c();\n  a();\n  /* b */\n  b();\n}")
        );
        assert_eq!(
            after_move("{ a(); b(); }", "a();", "b();", true).as_deref(),
            Some("{ b(); a(); }")
        );
    }

    #[test]
    fn directives_and_comments_to_the_end_of_a_line_stop_it() {
        assert_eq!(after_move("a();\n#if X\nb();", "a();", "b();", true), None);
        assert_eq!(
            after_move("a(); // first\nb();", "b();", "a();", false),
            None
        );
        assert_eq!(
            after_move("a(); // first\nb();", "a();", "b();", true).as_deref(),
            Some("// first\nb(); a();")
        );
    }
}
