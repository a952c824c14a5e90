//! What of a function decides whether a change in it compiles: what is declared, and what stands round the change.
//!
//! Whether a statement compiles depends on the declarations, loops, switches and labels round it, not on the statements
//! beside it. So a patched function is shown to the compiler without the statements that are far from the change, and a
//! function of a thousand lines costs what the change does. What is left out is taken for granted: a change by which something
//! else no longer compiles is found out when it is woven.

use patchwright_csource::{Function, Place, Stmt, StmtId, StmtKind, lex};
use patchwright_text::{Edit, Span};

use crate::runs::extent;

/// Fewer bytes are not worth a second text.
const LEAST: usize = 200;

/// The body of a function after `edits`, without statements that are far from them. Its lines stand where they stand in the whole
/// body. `None` when that is nearly all of it, or when a declaration changes, on which everything behind it depends.
pub fn nearby_body(source: &[u8], function: &Function, edits: &[Edit]) -> Option<Vec<u8>> {
    let mut far = Far {
        source,
        function,
        edits,
        spans: Vec::new(),
    };
    far.look_into(function.body)?;
    let left_out: usize = far.spans.iter().map(|span| span.range().len()).sum();
    if left_out < LEAST {
        return None;
    }
    let blanks = far.spans.iter().map(|&span| {
        let text = span.slice(source).unwrap_or_default();
        let lines = text.iter().filter(|byte| **byte == b'\n').count();
        Edit::replace(span, vec![b'\n'; lines])
    });
    let mut all: Vec<Edit> = edits.iter().cloned().chain(blanks).collect();
    all.sort_by_key(|edit| (edit.span.start, edit.span.end));
    Some(crate::runs::alternative(source, function.body_span, &all))
}

/// The statements that are left out.
struct Far<'a> {
    source: &'a [u8],
    function: &'a Function,
    edits: &'a [Edit],
    spans: Vec<Span>,
}

impl Far<'_> {
    /// Notes what is far from the edits in a statement. `None` when an edit changes a declaration.
    fn look_into(&mut self, id: StmtId) -> Option<()> {
        let function = self.function;
        match &function.stmt(id).kind {
            StmtKind::Compound(children) => return self.look_among(children),
            StmtKind::Declaration(_) => {
                let is_changed = self.touches(function.stmt(id)).unwrap_or(true);
                return (!is_changed).then_some(());
            }
            kind => {
                for part in parts(kind) {
                    self.look_into(part)?;
                }
            }
        }
        Some(())
    }

    fn look_among(&mut self, children: &[StmtId]) -> Option<()> {
        let function = self.function;
        let mut near = vec![false; children.len()];
        for edit in self.edits {
            let touched = |id: &StmtId| {
                extent(function.stmt(*id)).is_some_and(|span| touches(span, edit.span))
            };
            let first = children.iter().position(touched);
            let last = children.iter().rposition(touched);
            // What stands beside may belong to it: an `else`, what a condition governs.
            let (before, behind) = match (first, last) {
                (Some(first), Some(last)) => {
                    near[first..=last].fill(true);
                    (first.checked_sub(1), last + 1)
                }
                _ => {
                    let is_behind = |id: &StmtId| {
                        extent(function.stmt(*id)).is_some_and(|span| span.start >= edit.span.end)
                    };
                    let behind = children.iter().position(is_behind);
                    let behind = behind.unwrap_or(children.len());
                    (behind.checked_sub(1), behind)
                }
            };
            for beside in before.into_iter().chain([behind]) {
                if let Some(near) = near.get_mut(beside) {
                    *near = true;
                }
            }
        }
        for (&id, near) in children.iter().zip(near) {
            let stmt = function.stmt(id);
            match stmt.place {
                Place::Written(span) if !near && self.can_be_left_out(id, span) => {
                    self.spans.push(span);
                }
                _ => self.look_into(id)?,
            }
        }
        Some(())
    }

    /// Whether an edit touches a statement; `None` when it is not known where that stands.
    fn touches(&self, stmt: &Stmt) -> Option<bool> {
        let span = extent(stmt)?;
        Some(self.edits.iter().any(|edit| touches(span, edit.span)))
    }

    /// Whether nothing elsewhere needs the statement: no directive, no label, no case of a switch round it.
    fn can_be_left_out(&self, id: StmtId, span: Span) -> bool {
        let function = self.function;
        let text = span.slice(self.source).unwrap_or_default();
        let labels = &function.labels;
        function.stmt(id).kind.is_step()
            && !text.contains(&b'#')
            && !self.edits.iter().any(|edit| touches(span, edit.span))
            && (labels.is_empty() || !lex::words(text).iter().any(|word| labels.contains(word)))
            && !has_outer_case(function, id)
    }
}

/// Whether a statement has a case of a switch that is not in it, or something that is left alone.
fn has_outer_case(function: &Function, id: StmtId) -> bool {
    match &function.stmt(id).kind {
        StmtKind::Case(_) | StmtKind::Default(_) | StmtKind::Other { .. } => true,
        StmtKind::Switch { .. } => false,
        kind => {
            let mut parts = parts(kind).into_iter();
            parts.any(|part| has_outer_case(function, part))
        }
    }
}

/// The statements of which a statement consists.
fn parts(kind: &StmtKind) -> Vec<StmtId> {
    match kind {
        StmtKind::Compound(children) => children.clone(),
        StmtKind::If {
            then, otherwise, ..
        } => [Some(*then), *otherwise].into_iter().flatten().collect(),
        StmtKind::While { body, .. }
        | StmtKind::Do { body, .. }
        | StmtKind::For { body, .. }
        | StmtKind::Switch { body, .. }
        | StmtKind::Case(body)
        | StmtKind::Default(body)
        | StmtKind::Label { body, .. } => vec![*body],
        StmtKind::Other { statements, .. } => statements.clone(),
        StmtKind::Declaration(_)
        | StmtKind::Expression(_)
        | StmtKind::Goto(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Return(_)
        | StmtKind::Null => Vec::new(),
    }
}

fn touches(span: Span, edit: Span) -> bool {
    span.start <= edit.end && edit.start <= span.end
}
