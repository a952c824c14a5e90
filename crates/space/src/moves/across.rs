//! Statements that move out of a loop or a branch of an `if`, into one that stands beside them, or into the other branch.

use patchwright_csource::{Place, StmtId, StmtKind, VarId};
use patchwright_text::{Edit, Span};

use super::{has_directive, line_break, moved};
use crate::choices::{Destination, Finder, Standing};
use crate::endings::goes_on;

/// Returns the places across the bounds of a loop or a branch to which a statement of a block can move. `names` are those that the
/// statement mentions.
pub(super) fn destinations(
    finder: &Finder<'_, '_, '_>,
    standing: &Standing,
    siblings: &[StmtId],
    names: &[String],
) -> Vec<(Destination, Edit)> {
    let Some((block, place)) = standing.block else {
        return Vec::new();
    };
    // They would mean another loop.
    if jumps(finder, standing.id) {
        return Vec::new();
    }
    let source = &finder.builder.unit.source;
    let own = standing.span;
    let mut found = Vec::new();
    let mut add = |beside: Span, after: bool, edit: Option<Edit>| {
        found.extend(edit.map(|edit| (Destination { beside, after }, edit)));
    };
    if let Some((outer, span)) = loop_with_body(finder, block)
        && !declares(finder, outer, block, names)
    {
        if place + 1 == siblings.len() && place > 0 {
            add(span, true, out_behind(source, own, span));
        }
        if place == 0 && siblings.len() > 1 {
            add(span, false, out_before(source, own, span));
        }
    }
    let inner = |place: Option<usize>| -> Option<Vec<StmtId>> {
        let &id = siblings.get(place?)?;
        let body = body(finder, id)?;
        let StmtKind::Compound(inner) = &finder.function.stmt(body).kind else {
            return None;
        };
        (!declares(finder, id, body, names)).then(|| inner.clone())
    };
    let written = |id: StmtId| match finder.function.stmt(id).place {
        Place::Written(span) => Some(span),
        _ => None,
    };
    if let Some(inner) = inner(place.checked_sub(1))
        && let Some(&last) = inner.last()
        && goes_on(finder.function, last)
        && let Some(beside) = written(last)
    {
        add(beside, true, into_end(source, own, beside));
    }
    if let Some(inner) = inner(Some(place + 1))
        && let Some(&first) = inner.first()
        && let Some(beside) = written(first)
    {
        add(beside, false, into_beginning(source, own, beside));
    }
    if let Some((whole, other)) = branch_of(finder, block)
        // What the branch itself declares is nowhere else.
        && !declares(finder, block, block, names)
    {
        if place + 1 == siblings.len() {
            add(whole, true, out_behind(source, own, whole));
        }
        if place == 0 {
            add(whole, false, out_before(source, own, whole));
        }
        if let Some(other) = other.filter(|&other| !declares(finder, other, other, names)) {
            let statements = statements_of(finder, other);
            let place = finder.function.stmt(other).place.editable();
            let is_earlier = place.is_some_and(|other| other.start > own.start);
            if let Some(first) = statements.first().and_then(|&id| written(id)) {
                let edit = match is_earlier {
                    true => into_beginning(source, own, first),
                    false => moved(source, standing, first, false),
                };
                add(first, false, edit);
            }
            if let Some(&last) = statements.last()
                && goes_on(finder.function, last)
                && let Some(beside) = written(last)
            {
                let edit = match is_earlier {
                    true => moved(source, standing, beside, true),
                    false => into_end(source, own, beside),
                };
                add(beside, true, edit);
            }
        }
    }
    for branch in branches(finder, place.checked_sub(1).and_then(|at| siblings.get(at))) {
        let statements = statements_of(finder, branch);
        if let Some(&last) = statements.last()
            && goes_on(finder.function, last)
            && !declares(finder, branch, branch, names)
            && let Some(beside) = written(last)
        {
            add(beside, true, into_end(source, own, beside));
        }
    }
    for branch in branches(finder, siblings.get(place + 1)) {
        if let Some(&first) = statements_of(finder, branch).first()
            && !declares(finder, branch, branch, names)
            && let Some(beside) = written(first)
        {
            add(beside, false, into_beginning(source, own, beside));
        }
    }
    found
}

/// The `if` of which a block is a branch, if it stands in a block itself, and the other branch if that is a block.
fn branch_of(finder: &Finder<'_, '_, '_>, block: StmtId) -> Option<(Span, Option<StmtId>)> {
    let function = finder.function;
    finder.statements.iter().find_map(|standing| {
        let StmtKind::If {
            then, otherwise, ..
        } = function.stmt(standing.id).kind
        else {
            return None;
        };
        let other = match () {
            () if then == block => otherwise,
            () if otherwise == Some(block) => Some(then),
            () => return None,
        };
        standing.block?;
        let is_block = |id: &StmtId| matches!(function.stmt(*id).kind, StmtKind::Compound(_));
        Some((standing.span, other.filter(is_block)))
    })
}

/// The branches of an `if` that are blocks.
fn branches(finder: &Finder<'_, '_, '_>, id: Option<&StmtId>) -> Vec<StmtId> {
    let function = finder.function;
    let kind = id.map(|&id| &function.stmt(id).kind);
    let Some(&StmtKind::If {
        then, otherwise, ..
    }) = kind
    else {
        return Vec::new();
    };
    let all = [Some(then), otherwise].into_iter().flatten();
    let is_block = |id: &StmtId| matches!(function.stmt(*id).kind, StmtKind::Compound(_));
    all.filter(is_block).collect()
}

/// What stands in a block.
fn statements_of<'f>(finder: &Finder<'_, '_, 'f>, block: StmtId) -> &'f [StmtId] {
    match &finder.function.stmt(block).kind {
        StmtKind::Compound(inner) => inner,
        _ => &[],
    }
}

/// The loop whose body a block is, if it stands in a block itself.
fn loop_with_body(finder: &Finder<'_, '_, '_>, block: StmtId) -> Option<(StmtId, Span)> {
    let mut all = finder.statements.iter();
    let found = all.find(|standing| body(finder, standing.id) == Some(block))?;
    found.block.map(|_| (found.id, found.span))
}

/// The body of a loop.
fn body(finder: &Finder<'_, '_, '_>, id: StmtId) -> Option<StmtId> {
    finder.function.stmt(id).kind.loop_body()
}

/// Whether a loop or its body declares one of these names.
fn declares(finder: &Finder<'_, '_, '_>, id: StmtId, body: StmtId, names: &[String]) -> bool {
    let function = finder.function;
    let init = match function.stmt(id).kind {
        StmtKind::For { init, .. } => init,
        _ => None,
    };
    let inner: &[StmtId] = match &function.stmt(body).kind {
        StmtKind::Compound(inner) => inner,
        _ => &[],
    };
    let is_named = |id: &VarId| names.contains(&finder.builder.unit.variable(*id).name);
    init.iter()
        .chain(inner)
        .any(|&id| match &function.stmt(id).kind {
            // Types and functions are not looked at.
            StmtKind::Declaration(variables) => {
                variables.is_empty() || variables.iter().any(is_named)
            }
            _ => false,
        })
}

/// Whether a statement has a `break` or a `continue` for what is around it.
fn jumps(finder: &Finder<'_, '_, '_>, id: StmtId) -> bool {
    match &finder.function.stmt(id).kind {
        StmtKind::Break | StmtKind::Continue => true,
        // The `continue` of a `switch` is that of a loop around; a `break` is not told from it.
        kind if kind.loop_body().is_some() || matches!(kind, StmtKind::Other { .. }) => false,
        kind => kind.inner().into_iter().any(|id| jumps(finder, id)),
    }
}

fn text(source: &[u8], start: u32, end: u32) -> &[u8] {
    &source[start as usize..end as usize]
}

/// Whether nothing but blanks follows on the line.
fn ends_line(rest: &[u8]) -> bool {
    let blanks = rest
        .iter()
        .take_while(|byte| b" \t\r".contains(byte))
        .count();
    rest.get(blanks).is_none_or(|&byte| byte == b'\n')
}

/// Whether the last line of a text is a comment up to its end, perhaps.
fn ends_in_comment(text: &[u8]) -> bool {
    let last = text.rsplit(|&byte| byte == b'\n').next().unwrap_or(text);
    last.windows(2).any(|pair| pair == b"//")
}

/// The last statement of a loop, put behind the loop.
fn out_behind(source: &[u8], own: Span, around: Span) -> Option<Edit> {
    let before = text(source, around.start, own.start);
    let rest = text(source, own.end, around.end);
    let start = match ends_line(rest) {
        true => around.start + before.trim_ascii_end().len() as u32,
        false => own.start,
    };
    let whole = Span::new(start, around.end);
    let gap = line_break(source, around.start);
    let parts = [rest, &gap, text(source, own.start, own.end)];
    (!has_directive(text(source, own.start, around.end)))
        .then(|| Edit::replace(whole, parts.concat()))
}

/// The first statement of a loop, put in front of the loop.
fn out_before(source: &[u8], own: Span, around: Span) -> Option<Edit> {
    let before = text(source, around.start, own.start).trim_ascii_end();
    let follows = &source[own.end as usize..];
    if has_directive(before) || ends_in_comment(before) && !ends_line(follows) {
        return None;
    }
    let whole = Span::new(around.start, own.end);
    let gap = line_break(source, around.start);
    let parts = [text(source, own.start, own.end), &gap, before];
    Some(Edit::replace(whole, parts.concat()))
}

/// The statement behind a loop, put behind the last one in it.
fn into_end(source: &[u8], own: Span, last: Span) -> Option<Edit> {
    let between = text(source, last.end, own.start).trim_ascii_end();
    let follows = &source[own.end as usize..];
    if has_directive(between) || ends_in_comment(between) && !ends_line(follows) {
        return None;
    }
    let whole = Span::new(last.end, own.end);
    let gap = line_break(source, last.start);
    let parts = [&gap[..], text(source, own.start, own.end), between];
    Some(Edit::replace(whole, parts.concat()))
}

/// The statement in front of a loop, put before the first one in it.
fn into_beginning(source: &[u8], own: Span, first: Span) -> Option<Edit> {
    let between = text(source, own.end, first.start);
    if has_directive(between) {
        return None;
    }
    let gap = line_break(source, first.start);
    let whole = Span::new(own.start, first.start);
    let parts = [
        between.trim_ascii_start(),
        text(source, own.start, own.end),
        &gap,
    ];
    Some(Edit::replace(whole, parts.concat()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(
        source: &str,
        own: &str,
        other: &str,
        change: fn(&[u8], Span, Span) -> Option<Edit>,
    ) -> String {
        let span = |text: &str| {
            let start = source.find(text).unwrap();
            Span::new(start as u32, (start + text.len()) as u32)
        };
        let edit = change(source.as_bytes(), span(own), span(other)).unwrap();
        let text = patchwright_text::apply_edits(source.as_bytes(), &[edit]).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn a_statement_leaves_a_loop() {
        let around = "while (x) {\n    a();\n    b();\n  }";
        let source = format!("{{\n  {around}\n  c();\n}}");
        assert_eq!(
            applied(&source, "b();", around, out_behind),
            "{\n  while (x) {\n    a();\n  }\n  b();\n  c();\n}"
        );
        assert_eq!(
            applied(&source, "a();", around, out_before),
            "{\n  a();\n  while (x) {\n    b();\n  }\n  c();\n}"
        );
    }

    #[test]
    fn a_statement_enters_a_loop() {
        let source = "{\n  c();\n  while (x) {\n    a();\n    b();\n  }\n  d();\n}";
        assert_eq!(
            applied(source, "d();", "b();", into_end),
            "{\n  c();\n  while (x) {\n    a();\n    b();\n    d();\n  }\n}"
        );
        assert_eq!(
            applied(source, "c();", "a();", into_beginning),
            "{\n  while (x) {\n    c();\n    a();\n    b();\n  }\n  d();\n}"
        );
    }
}
