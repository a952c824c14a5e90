//! Level 3: off by one, other variables, and added conditions.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Function, StmtKind, Storage, UnaryOperator, VarId,
    types::{IntegerKind, TypeId, TypeKind},
};
use patchwright_lower::alternatives::{Alternative, Atom};
use patchwright_text::Span;
use rustc_hash::FxHashSet;

use crate::{
    enumerate::{Role, Root, Walker},
    mutation::Mutation,
    numbers::{range, size_of},
    pieces::{Piece, Text, behind, parentheses, replace},
    syntax::{binding, needs_parentheses},
};

impl Walker<'_> {
    /// `x + 1` and `x - 1` in place of `x`.
    pub(crate) fn off_by_one(&mut self, bound: ExprId) {
        let mut id = bound;
        while let ExprKind::Cast {
            operand,
            implicit: true,
            cast: CastKind::Arithmetic,
        } = self.function.expr(id).kind
        {
            id = operand;
        }
        let expr = self.function.expr(id);
        let is_constant = matches!(
            self.function.expr(self.function.stripped(id)).kind,
            ExprKind::Integer { .. } | ExprKind::CompilerConstant
        );
        let promoted = match self.unit.types.kind(expr.ty) {
            TypeKind::Pointer(_) => true,
            _ => {
                let kind = self.unit.types.integer_kind(expr.ty);
                kind.is_some_and(|kind| range(kind).is_some())
            }
        };
        if is_constant || !promoted || !expr.evaluated {
            return;
        }
        let Some(span) = self.editable(id) else {
            return;
        };
        let parent = self.parents.get(&id).copied();
        let weak = binding(self.function, id) < BinaryOperator::Add.precedence();
        let whole = needs_parentheses(self.function, id, parent, BinaryOperator::Add.precedence());
        let found = [1, -1]
            .into_iter()
            .map(|by: i64| {
                let text = if by > 0 { " + 1" } else { " - 1" };
                let mut pieces = Vec::from(parentheses(span, !weak));
                pieces.push(behind(span, text, span.len() + 1));
                let mut outer = parentheses(span, !whole);
                outer.iter_mut().for_each(|piece| piece.extent += 2);
                pieces.extend(outer);
                (Alternative::Plus(by), Mutation::new(pieces))
            })
            .collect();
        self.add(id, span, found);
    }

    /// Variables that can be named where the root stands, those of the function first.
    fn visible(&self, root: &Root) -> Vec<VarId> {
        let Some(scope) = &root.scope else {
            return Vec::new();
        };
        let unit = self.unit;
        let name = |id: &VarId| unit.variable(*id).name.as_str();
        let hidden: FxHashSet<&str> = scope.visible.iter().map(name).collect();
        let mut found: Vec<VarId> = scope.visible.clone();
        let mut named = hidden.clone();
        for &global in &unit.globals {
            let variable = unit.variable(global);
            let before = variable
                .declared_at
                .is_some_and(|at| at < self.function.span.start);
            if before && !variable.in_system_header && named.insert(&variable.name) {
                found.push(global);
            }
        }
        found.retain(|&id| {
            let variable = unit.variable(id);
            !unit.types.qualifiers(variable.ty).is_volatile
                && !unit.types.qualifiers(variable.ty).is_atomic
                && !variable.name.is_empty()
                && !unit.replaced_names.contains(&variable.name)
        });
        found
    }

    /// The declaration that stands for a variable with a name at file scope, of which there may be several.
    fn same_variable(&self, a: VarId, b: VarId) -> bool {
        let (x, y) = (self.unit.variable(a), self.unit.variable(b));
        a == b || x.storage == Storage::Global && y.storage == Storage::Global && x.name == y.name
    }

    /// Whether two types are the same but for qualifiers.
    pub(crate) fn same_type(&self, a: TypeId, b: TypeId) -> bool {
        let types = &self.unit.types;
        a == b || types.kind(a) == types.kind(b)
    }

    /// Adds other variables of the same type in place of a variable.
    pub(crate) fn variable(&mut self, id: ExprId, variable: VarId, root: &Root) {
        let ty = self.unit.variable(variable).ty;
        let Some(span) = self.editable(id) else {
            return;
        };
        let all = self.visible(root);
        let found = all
            .into_iter()
            .filter(|&other| {
                !self.same_variable(other, variable)
                    && self.same_type(self.unit.variable(other).ty, ty)
            })
            .map(|other| {
                let name = &self.unit.variable(other).name;
                let mutation = Mutation::new(vec![replace(span, name)]);
                (Alternative::Variable(other), mutation)
            })
            .collect();
        self.add(id, span, found);
        self.number_for_variable(id, span);
    }

    /// A number, which the solver finds, in place of reading a variable.
    fn number_for_variable(&mut self, id: ExprId, span: Span) {
        let kind = self.unit.types.integer_kind(self.function.expr(id).ty);
        let Some(kind) = kind.filter(|kind| range(*kind).is_some()) else {
            return;
        };
        let number = *self.next;
        *self.next += 1;
        let text = Text::Open {
            number,
            kind,
            parenthesised: true,
        };
        let mutation = Mutation::new(vec![Piece {
            span,
            text,
            extent: span.len(),
            closing: false,
            cautious: false,
        }]);
        self.add(id, span, vec![(Alternative::Open(number), mutation)]);
    }

    /// Arithmetic values that can be exchanged.
    pub(crate) fn is_arithmetic(&self, ty: TypeId) -> bool {
        matches!(self.unit.types.kind(ty), TypeKind::Float(_))
            || self.unit.types.integer_kind(ty).is_some()
    }

    /// Whether a type is arithmetic or a pointer.
    pub(crate) fn is_scalar(&self, ty: TypeId) -> bool {
        matches!(self.unit.types.kind(ty), TypeKind::Pointer(_)) || self.is_arithmetic(ty)
    }

    /// Variables in place of a number.
    pub(crate) fn variable_for_number(&mut self, id: ExprId, span: Span, root: &Root) {
        let ty = self.function.expr(id).ty;
        let found = self
            .visible(root)
            .into_iter()
            .filter(|&variable| self.same_type(self.unit.variable(variable).ty, ty))
            .map(|variable| {
                let name = &self.unit.variable(variable).name;
                let mutation = Mutation::new(vec![replace(span, name)]);
                (Alternative::Variable(variable), mutation)
            })
            .collect();
        self.add(id, span, found);
    }

    /// Adds conditions beside a condition, joined by `&&` or `||`.
    pub(crate) fn beside(&mut self, id: ExprId, parent: Option<ExprId>, role: Role, root: &Root) {
        let function = self.function;
        let logical = matches!(
            function.expr(id).kind,
            ExprKind::Binary {
                operator: BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr,
                ..
            }
        );
        let inner = matches!(
            function.expr(id).kind,
            ExprKind::Paren(_) | ExprKind::Cast { implicit: true, .. }
        );
        let in_logical = parent.is_some_and(|parent| {
            matches!(
                function.expr(parent).kind,
                ExprKind::Binary {
                    operator: BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr,
                    ..
                }
            )
        });
        // The condition itself: not what is inside of its conversions, nor a part of a larger one.
        let whole = match role {
            Role::Condition => !in_logical,
            Role::Value => (logical || self.is_truth_value(id)) && !in_logical,
            Role::Effect => logical && !in_logical,
        };
        let is_read = matches!(
            function.expr(id).kind,
            ExprKind::Cast {
                implicit: true,
                cast: CastKind::LValueToRValue,
                ..
            }
        );
        if !whole || inner && !is_read {
            return;
        }
        let Some(span) = self.editable(id) else {
            return;
        };
        let own = binding(function, id);
        let before = self.is_pure(id);
        let number = *self.next;
        let mut found = Vec::new();
        let comparisons = self.comparisons(root, number);
        for operator in [BinaryOperator::LogicalAnd, BinaryOperator::LogicalOr] {
            let new = operator.precedence();
            let whole = needs_parentheses(function, id, parent, new);
            for (left, comparison, right, text) in &comparisons {
                let mut pieces = Vec::from(parentheses(span, own >= new));
                let spelled = operator.spelling();
                let at = if before { span.start } else { span.end };
                let added = match before {
                    true => vec![text.clone(), Text::Is(format!(" {spelled} "))],
                    false => vec![Text::Is(format!(" {spelled} ")), text.clone()],
                };
                pieces.push(Piece {
                    span: Span::empty(at),
                    text: Text::All(added),
                    extent: span.len() + 1,
                    closing: !before,
                    cautious: false,
                });
                let mut outer = parentheses(span, !whole);
                outer.iter_mut().for_each(|piece| piece.extent += 2);
                pieces.extend(outer);
                found.push((
                    Alternative::Beside {
                        operator,
                        before,
                        left: left.clone(),
                        comparison: *comparison,
                        right: right.clone(),
                    },
                    Mutation::new(pieces),
                ));
            }
        }
        *self.next += 1;
        self.add(id, span, found);
    }

    /// What can be asked where the root stands: variables against numbers, against each other, and functions
    /// without parameters that return a comparison. Others would be encoded once more for each place that may ask them,
    /// with all that may be changed in them, and with what they call.
    fn comparisons(&self, root: &Root, open: u32) -> Vec<(Atom, BinaryOperator, Atom, Text)> {
        use BinaryOperator::*;
        let unit = self.unit;
        let all = self.visible(root);
        let name = |id: VarId| unit.variable(id).name.clone();
        let integer = |id: VarId| unit.types.integer_kind(unit.variable(id).ty);
        let mut found = Vec::new();
        for &id in &all {
            if integer(id).is_some_and(|kind| size_of(kind).is_some()) {
                for op in [Le, Ge, Eq, Ne] {
                    let text = Text::All(vec![
                        Text::Is(format!("{} {} ", name(id), op.spelling())),
                        Text::Open {
                            number: open,
                            kind: IntegerKind::Int,
                            parenthesised: false,
                        },
                    ]);
                    found.push((Atom::Variable(id), op, Atom::Open(open), text));
                }
            } else if matches!(unit.types.kind(unit.variable(id).ty), TypeKind::Pointer(_)) {
                for op in [Ne, Eq] {
                    let text = Text::Is(format!("{} {} 0", name(id), op.spelling()));
                    found.push((Atom::Variable(id), op, Atom::Constant(0), text));
                }
            }
        }
        let near: Vec<VarId> = all
            .iter()
            .copied()
            .filter(|&id| {
                let mut mentioned = self.mentioned.iter();
                mentioned.any(|&other| self.same_variable(id, other))
            })
            .collect();
        for (index, &a) in near.iter().enumerate() {
            for &b in &near[index + 1..] {
                let same = self.same_type(unit.variable(a).ty, unit.variable(b).ty);
                if !same || integer(a).is_none_or(|kind| size_of(kind).is_none()) {
                    continue;
                }
                for op in [Lt, Le, Gt, Ge, Eq, Ne] {
                    let text = Text::Is(format!("{} {} {}", name(a), op.spelling(), name(b)));
                    found.push((Atom::Variable(a), op, Atom::Variable(b), text));
                }
            }
        }
        for other in &unit.functions {
            let kind = unit.types.integer_kind(other.return_type);
            let declared = unit.declarations.get(&other.name);
            let fits = other.parameters.is_empty()
                && other.span.end <= self.function.span.start
                && other.name != "main"
                && is_predicate(other)
                && kind.is_some_and(|kind| size_of(kind).is_some())
                && declared.is_none_or(|declared| !declared.variadic);
            if fits {
                for op in [Ne, Eq] {
                    let text = Text::Is(format!("{}() {} 0", other.name, op.spelling()));
                    found.push((Atom::Call(other.name.clone()), op, Atom::Constant(0), text));
                }
            }
        }
        found
    }

    /// Evaluating it changes nothing.
    fn is_pure(&self, id: ExprId) -> bool {
        !self.function.has_effects(id)
    }
}

/// Whether a function does nothing but return the truth of a comparison, without calling others.
fn is_predicate(function: &Function) -> bool {
    let StmtKind::Compound(body) = &function.stmt(function.body).kind else {
        return false;
    };
    let [only] = body.as_slice() else {
        return false;
    };
    let StmtKind::Return(Some(value)) = function.stmt(*only).kind else {
        return false;
    };
    let has_effect = function.exprs.iter().any(|expr| match &expr.kind {
        ExprKind::Assign { .. } | ExprKind::Call { .. } | ExprKind::Other { .. } => true,
        ExprKind::Unary { operator, .. } => *operator == UnaryOperator::Step,
        _ => false,
    });
    let is_truth = match &function.expr(function.stripped(value)).kind {
        ExprKind::Binary { operator, .. } => {
            use BinaryOperator::*;
            matches!(
                operator,
                Lt | Le | Gt | Ge | Eq | Ne | LogicalAnd | LogicalOr
            )
        }
        ExprKind::Unary { operator, .. } => *operator == UnaryOperator::Not,
        _ => false,
    };
    is_truth && !has_effect
}
