//! Finds variables that lose or gain their only use by a change.
//!
//! An author declares a variable to read it. If nothing reads it after a change, the change hardly does what the author had in mind.
//! If a change reads a variable that nothing has read so far, it may be the missing use.

use std::collections::BTreeSet;

use patchwright_csource::{
    ExprId, ExprKind, Function, StmtKind, Storage, TranslationUnit, UnaryOperator, VarId,
};
use patchwright_text::{Edit, Span};

use crate::names::names;

/// The reads of a function's own variables.
#[derive(Default)]
pub(crate) struct Reads {
    /// Of each variable its name, where it is read, and whether it may be read elsewhere as well.
    variables: Vec<(Vec<u8>, Vec<Span>, bool)>,
}

impl Reads {
    /// Finds the reads of a function's own local variables.
    pub(crate) fn of(unit: &TranslationUnit, function: &Function) -> Self {
        let written = written(function);
        let locals: BTreeSet<VarId> = function.locals.iter().copied().collect();
        let own = locals.into_iter().filter(|id| {
            unit.variable(*id).storage == Storage::Local && !function.parameters.contains(id)
        });
        let variables = own.map(|id| {
            let (mut places, mut is_elsewhere) = (Vec::new(), false);
            for (number, expr) in function.exprs.iter().enumerate() {
                let is_it = matches!(expr.kind, ExprKind::Variable(other) if other == id);
                if !is_it || written.contains(&ExprId(number as u32)) {
                    continue;
                }
                match expr.place.editable() {
                    Some(span) => places.push(span),
                    None => is_elsewhere = true,
                }
            }
            let name = unit.variable(id).name.clone().into_bytes();
            (name, places, is_elsewhere)
        });
        Reads {
            variables: variables.collect(),
        }
    }

    /// Whether nothing reads some variable any more after the edit.
    pub(crate) fn forgets(&self, edit: &Edit) -> bool {
        let kept = names(&edit.text);
        self.variables.iter().any(|(name, places, is_elsewhere)| {
            !is_elsewhere
                && !places.is_empty()
                && places.iter().all(|place| edit.span.contains_span(*place))
                && !kept.contains(&&name[..])
        })
    }
}

/// The variables that are only given a value where they stand: the targets of assignments, and of steps that are statements.
fn written(function: &Function) -> BTreeSet<ExprId> {
    let targets = function.exprs.iter().filter_map(|expr| match expr.kind {
        ExprKind::Assign { target, .. } => Some(function.stripped(target)),
        _ => None,
    });
    let steps = function.stmts.iter().filter_map(|stmt| match stmt.kind {
        StmtKind::Expression(expr) => match function.expr(function.stripped(expr)).kind {
            ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand,
            } => Some(function.stripped(operand)),
            _ => None,
        },
        _ => None,
    });
    targets.chain(steps).collect()
}
