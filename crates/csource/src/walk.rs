//! The one walk over the tree: what stands directly in a statement or an expression, and all that stands below.
//!
//! Who reaches the parts of a tree asks here and says only what it does with them. Whoever gives each kind of statement a
//! meaning of its own (where control goes, what is executed) matches on [`StmtKind`] itself.

use crate::tree::{
    ExprId, ExprKind, Function, StmtId, StmtKind, TranslationUnit, UnaryOperator, VarId,
};

/// Where a statement stands in the one around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// In a block, at this place from 0.
    Block(usize),
    /// What an `if` executes, or its `else`.
    Arm,
    /// The body of a loop.
    Loop,
    /// The body of a `switch`.
    Switch,
    /// Behind a label, `case` or `default`.
    Labelled,
    /// Before the first `;` of a `for`.
    Init,
    /// In something that is left alone.
    Unknown,
}

/// What a whole expression is for its statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// An expression statement, or the step of a `for`: its value is not used.
    Effect,
    /// The condition of an `if` or a loop: only its truth matters.
    Condition,
    /// What a `switch` asks for.
    Selector,
    /// What a function returns.
    Result,
    /// In something that is left alone.
    Unknown,
}

/// Something that stands directly in a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A statement.
    Statement(StmtId, Slot),
    /// A whole expression.
    Expression(ExprId, Role),
    /// A variable that is declared there, perhaps with an initialiser.
    Variable(VarId),
}

impl StmtKind {
    /// Returns what stands directly in the statement, in the order of the text.
    pub fn parts(&self) -> Vec<Part> {
        use Part::{Expression, Statement, Variable};
        match self {
            StmtKind::Compound(inner) => {
                let places = inner.iter().enumerate();
                places
                    .map(|(place, &id)| Statement(id, Slot::Block(place)))
                    .collect()
            }
            StmtKind::Declaration(variables) => variables.iter().copied().map(Variable).collect(),
            StmtKind::Expression(expr) => vec![Expression(*expr, Role::Effect)],
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let arms = std::iter::once(*then).chain(*otherwise);
                std::iter::once(Expression(*condition, Role::Condition))
                    .chain(arms.map(|arm| Statement(arm, Slot::Arm)))
                    .collect()
            }
            StmtKind::While { condition, body } => vec![
                Expression(*condition, Role::Condition),
                Statement(*body, Slot::Loop),
            ],
            StmtKind::Do { body, condition } => vec![
                Statement(*body, Slot::Loop),
                Expression(*condition, Role::Condition),
            ],
            StmtKind::For {
                init,
                condition,
                increment,
                body,
            } => {
                let init = init.map(|id| Statement(id, Slot::Init));
                let condition = condition.map(|id| Expression(id, Role::Condition));
                let increment = increment.map(|id| Expression(id, Role::Effect));
                let body = Some(Statement(*body, Slot::Loop));
                [init, condition, increment, body]
                    .into_iter()
                    .flatten()
                    .collect()
            }
            StmtKind::Switch { condition, body } => vec![
                Expression(*condition, Role::Selector),
                Statement(*body, Slot::Switch),
            ],
            StmtKind::Case(body) | StmtKind::Default(body) | StmtKind::Label { body, .. } => {
                vec![Statement(*body, Slot::Labelled)]
            }
            StmtKind::Return(value) => {
                let value = value.iter();
                value.map(|&id| Expression(id, Role::Result)).collect()
            }
            StmtKind::Other {
                expressions,
                statements,
                ..
            } => {
                let statements = statements.iter();
                expressions
                    .iter()
                    .map(|&id| Expression(id, Role::Unknown))
                    .chain(statements.map(|&id| Statement(id, Slot::Unknown)))
                    .collect()
            }
            StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Null => Vec::new(),
        }
    }

    /// Returns the statements directly inside of it, in the order of the text.
    pub fn inner(&self) -> Vec<StmtId> {
        let parts = self.parts().into_iter();
        parts
            .filter_map(|part| match part {
                Part::Statement(id, _) => Some(id),
                _ => None,
            })
            .collect()
    }

    /// Returns the body of the statement if it is a loop.
    pub fn loop_body(&self) -> Option<StmtId> {
        match self {
            StmtKind::For { body, .. }
            | StmtKind::While { body, .. }
            | StmtKind::Do { body, .. } => Some(*body),
            _ => None,
        }
    }

    /// Returns the condition of an `if` or a loop: what is only asked for its truth.
    pub fn condition(&self) -> Option<ExprId> {
        match self {
            StmtKind::If { condition, .. }
            | StmtKind::While { condition, .. }
            | StmtKind::Do { condition, .. } => Some(*condition),
            StmtKind::For { condition, .. } => *condition,
            _ => None,
        }
    }
}

impl TranslationUnit {
    /// Returns the whole expressions of a statement, in the order of the text: not those of statements inside of it.
    pub fn expressions_of(&self, kind: &StmtKind) -> Vec<ExprId> {
        let parts = kind.parts().into_iter();
        parts
            .filter_map(|part| match part {
                Part::Expression(id, _) => Some(id),
                Part::Variable(id) => self.variable(id).initializer,
                Part::Statement(..) => None,
            })
            .collect()
    }
}

impl Function {
    /// Returns the direct operands of `id`, in the order of the text.
    pub fn children(&self, id: ExprId) -> Vec<ExprId> {
        match &self.expr(id).kind {
            ExprKind::Member { base, .. } => vec![*base],
            ExprKind::Subscript { base, index } => vec![*base, *index],
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => vec![*operand],
            ExprKind::Binary { left, right, .. } => vec![*left, *right],
            ExprKind::Assign { target, value, .. } => vec![*target, *value],
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => vec![*condition, *then, *otherwise],
            ExprKind::Paren(inner) => vec![*inner],
            ExprKind::Call {
                callee, arguments, ..
            } => std::iter::once(*callee)
                .chain(arguments.iter().copied())
                .collect(),
            ExprKind::Other { children, .. } => children.clone(),
            ExprKind::Integer { .. }
            | ExprKind::Float(_)
            | ExprKind::String
            | ExprKind::Variable(_)
            | ExprKind::Function(_)
            | ExprKind::CompilerConstant => Vec::new(),
        }
    }

    /// Returns an expression and all operands inside of it: each before its own operands, and these in the order of the text.
    pub fn within(&self, id: ExprId) -> impl Iterator<Item = ExprId> + '_ {
        self.within_while(id, |_| true)
    }

    /// Returns an expression and all operands inside of it, as [`within`](Self::within) does, but nothing of those for which
    /// `enters` is false.
    pub fn within_while<'a>(
        &'a self,
        id: ExprId,
        enters: impl Fn(ExprId) -> bool + 'a,
    ) -> impl Iterator<Item = ExprId> + 'a {
        let mut open = vec![id];
        std::iter::from_fn(move || {
            loop {
                let id = open.pop()?;
                if enters(id) {
                    open.extend(self.children(id).into_iter().rev());
                    return Some(id);
                }
            }
        })
    }

    /// Returns a statement and all statements inside of it: each before those in it, and these in the order of the text.
    pub fn statements_within(&self, id: StmtId) -> impl Iterator<Item = StmtId> + '_ {
        let mut open = vec![id];
        std::iter::from_fn(move || {
            let id = open.pop()?;
            open.extend(self.stmt(id).kind.inner().into_iter().rev());
            Some(id)
        })
    }

    /// Returns the variables that an expression names, each once, in the order of the text.
    pub fn variables_within(&self, id: ExprId) -> Vec<VarId> {
        let mut found = Vec::new();
        for id in self.within(id) {
            if let ExprKind::Variable(variable) = self.expr(id).kind
                && !found.contains(&variable)
            {
                found.push(variable);
            }
        }
        found
    }

    /// Whether an expression names a variable.
    pub fn mentions(&self, id: ExprId, variable: VarId) -> bool {
        let is_named =
            |id| matches!(self.expr(id).kind, ExprKind::Variable(other) if other == variable);
        self.within(id).any(is_named)
    }

    /// Whether evaluating an expression may change something. Calls count, and so do expressions that the tree does not model.
    pub fn has_effects(&self, id: ExprId) -> bool {
        self.within(id).any(|id| self.is_effect(id))
    }

    /// Whether an expression may change something by itself, whatever its operands do.
    pub fn is_effect(&self, id: ExprId) -> bool {
        match self.expr(id).kind {
            ExprKind::Assign { .. } | ExprKind::Call { .. } | ExprKind::Other { .. } => true,
            ExprKind::Unary { operator, .. } => operator == UnaryOperator::Step,
            _ => false,
        }
    }

    /// Returns the statement behind labels, `case` and `default`.
    pub fn behind_labels(&self, mut id: StmtId) -> StmtId {
        while let StmtKind::Case(body) | StmtKind::Default(body) | StmtKind::Label { body, .. } =
            self.stmt(id).kind
        {
            id = body;
        }
        id
    }
}
