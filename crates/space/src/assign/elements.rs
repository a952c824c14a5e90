//! Elements of strings that a function writes to and does not end: `copy[length] = 0;` was forgotten.

use patchwright_csource::{ExprId, ExprKind, Storage, UnaryOperator, VarId, types::TypeKind};
use rustc_hash::FxHashSet;

use super::{Planner, Reach, Source, Watchable};
use crate::term::CType;

/// Most such elements that are assigned to.
const MOST_ELEMENTS: usize = 6;

impl Planner<'_, '_, '_> {
    /// Adds the elements that integer variables among `variables` are the indices of, those of the first ones first. Of
    /// these `lasting` can be named to the function's end.
    pub(super) fn find_elements(&mut self, variables: &[VarId], lasting: &FxHashSet<VarId>) {
        let strings = self.written_strings();
        let is_own = |planner: &Self, id: VarId| {
            let storage = planner.builder.unit.variable(id).storage;
            matches!(storage, Storage::Local | Storage::Parameter)
        };
        let mut room = MOST_ELEMENTS;
        for &string in variables.iter().filter(|id| strings.contains(id)) {
            for &index in variables {
                let variable = self.builder.unit.variable(index);
                let types = &self.builder.unit.types;
                if room == 0
                    || !is_own(self, index)
                    || types.integer_kind(variable.ty).is_none()
                    || types.size(variable.ty) == Some(1)
                {
                    continue;
                }
                let name = &self.builder.unit.variable(string).name;
                let lvalue = format!("{name}[{}]", variable.name);
                if self.watchables.iter().any(|known| known.lvalue == lvalue) {
                    continue;
                }
                room -= 1;
                self.watchables.push(Watchable {
                    lvalue,
                    ctype: CType::Char,
                    source: Source::Element(string, index),
                    roots: vec![string, index],
                    reach: Reach::Memory,
                    tracked: lasting.contains(&string) && lasting.contains(&index),
                });
            }
        }
    }

    /// Strings of which the function writes elements.
    fn written_strings(&mut self) -> FxHashSet<VarId> {
        let mut found = FxHashSet::default();
        for expr in &self.function.exprs {
            let ExprKind::Assign { target, .. } = expr.kind else {
                continue;
            };
            let target = self.function.without_parens(target);
            let string = match self.function.expr(target).kind {
                ExprKind::Subscript { base, .. } => self.variable_below(base),
                ExprKind::Unary {
                    operator: UnaryOperator::Dereference,
                    operand,
                } => self.variable_below(operand),
                _ => None,
            };
            found.extend(string.filter(|_| expr.evaluated));
        }
        found.retain(|&id| {
            let ty = self.builder.unit.variable(id).ty;
            let types = &self.builder.unit.types;
            let is_string = matches!(types.kind(ty), TypeKind::Array(..) | TypeKind::Pointer(_));
            let element = types.element(ty).filter(|_| is_string);
            let element = element.filter(|&element| !types.qualifiers(element).is_const);
            element.and_then(|element| self.builder.ctype(element)) == Some(CType::Char)
        });
        found
    }

    fn variable_below(&self, id: ExprId) -> Option<VarId> {
        match self.function.expr(self.function.stripped(id)).kind {
            ExprKind::Variable(id) => Some(id),
            _ => None,
        }
    }
}
