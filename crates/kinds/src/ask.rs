//! What is asked of holes: `where`.

use std::{iter, rc::Rc};

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, Scope, StmtId, StmtKind, Storage, UnaryOperator,
    types::{IntegerKind, TypeId, TypeKind},
};

use crate::{
    clause::{Condition, Inside, Trait},
    matches::{Match, Matcher, Value},
    syntax::{Pattern, Root},
    tree::{Parts, Places, Tree},
};

/// Where a change is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Here<'a> {
    /// The statement that it is in.
    pub(crate) statement: StmtId,
    pub(crate) scope: &'a Scope,
}

impl Tree<'_> {
    /// Returns all expressions and statements of the function; they are collected once.
    pub(crate) fn whole(&self) -> Rc<Parts> {
        let whole = self.whole.get_or_init(|| {
            let mut found = Parts::default();
            self.parts_of_statement(self.function.body, &mut found);
            Rc::new(found)
        });
        whole.clone()
    }

    /// Returns the places where a pattern of one expression or statement fits if nothing is known of its holes. Known holes can only rule
    /// places out.
    pub(crate) fn places(&self, pattern: &Pattern) -> Rc<Places> {
        if let Some(known) = self.places.borrow().get(&pattern.number) {
            return known.clone();
        }
        let matcher = Matcher {
            tree: self,
            pattern,
        };
        let mut places = Places::default();
        match &pattern.root {
            Root::Expression(root) => {
                let all = (0..self.function.exprs.len()).map(|number| ExprId(number as u32));
                let is_place = |id: &ExprId| {
                    !matcher
                        .at_expression(*root, *id, Match::default())
                        .is_empty()
                };
                places.expressions.extend(all.filter(is_place));
            }
            Root::Statements(nodes) => {
                if let [one] = nodes[..] {
                    let all = (0..self.function.stmts.len()).map(|number| StmtId(number as u32));
                    let is_place =
                        |id: &StmtId| !matcher.at_statement(one, *id, Match::default()).is_empty();
                    places.statements.extend(all.filter(is_place));
                }
            }
        }
        let places = Rc::new(places);
        let mut known = self.places.borrow_mut();
        known.insert(pattern.number, places.clone());
        places
    }

    /// Adds an expression and all expressions in it.
    pub(crate) fn parts_of_expression(&self, id: ExprId, found: &mut Parts) {
        found.expressions.extend(self.function.within(id));
    }

    /// Adds a statement with all statements and expressions in it.
    pub(crate) fn parts_of_statement(&self, id: StmtId, found: &mut Parts) {
        found.statements.push(id);
        for inner in self.function.stmt(id).kind.inner() {
            self.parts_of_statement(inner, found);
        }
        let mut own = Vec::new();
        if !matches!(self.function.stmt(id).kind, StmtKind::Compound(_)) {
            self.whole_expressions(id, &mut own);
        }
        for expr in own {
            self.parts_of_expression(expr, found);
        }
    }

    /// Returns the expressions and statements inside a place. The place "file" has those of the function itself.
    pub(crate) fn parts(&self, inside: &Inside, here: Here<'_>, known: &Match) -> Rc<Parts> {
        let mut found = Parts::default();
        match inside {
            Inside::Function | Inside::File => return self.whole(),
            Inside::Statement => self.parts_of_statement(here.statement, &mut found),
            Inside::Hole(name) => match known.values.get(name) {
                Some(Value::Expression(id)) => self.parts_of_expression(*id, &mut found),
                Some(Value::Statement(id)) => self.parts_of_statement(*id, &mut found),
                Some(Value::Statements(all)) => {
                    for id in all {
                        self.parts_of_statement(*id, &mut found);
                    }
                }
                Some(Value::Arguments(all)) => {
                    for id in all {
                        self.parts_of_expression(*id, &mut found);
                    }
                }
                _ => {}
            },
        }
        Rc::new(found)
    }

    /// The ways in which a pattern is found among some parts.
    pub(crate) fn found_in(&self, pattern: &Pattern, parts: &Parts, known: &Match) -> Vec<Match> {
        let matcher = Matcher {
            tree: self,
            pattern,
        };
        match &pattern.root {
            Root::Expression(root) => {
                let places = self.places(pattern);
                let bare = parts.expressions.iter().filter(|&&id| {
                    let is_bare = !matches!(
                        self.function.expr(id).kind,
                        ExprKind::Paren(_) | ExprKind::Cast { implicit: true, .. }
                    );
                    is_bare && places.expressions.contains(&id)
                });
                bare.flat_map(|&id| matcher.at_expression(*root, id, known.clone()))
                    .collect()
            }
            Root::Statements(all) => match all[..] {
                [one] => {
                    let places = self.places(pattern);
                    let each = parts.statements.iter();
                    let each = each.filter(|id| places.statements.contains(id));
                    each.flat_map(|&id| matcher.at_statement(one, id, known.clone()))
                        .collect()
                }
                _ => {
                    let blocks = parts.statements.iter();
                    let blocks = blocks.filter_map(|&id| match &self.function.stmt(id).kind {
                        StmtKind::Compound(inner) => Some(inner),
                        _ => None,
                    });
                    let rows = blocks.flat_map(|inner| (0..inner.len()).map(|at| &inner[at..]));
                    rows.flat_map(|row| matcher.row(row, known.clone()))
                        .map(|(found, _)| found)
                        .collect()
                }
            },
        }
    }

    /// Whether a condition holds of what is known.
    pub(crate) fn holds(&self, condition: &Condition, known: &Match, here: Here<'_>) -> bool {
        let value = |hole: &str| known.values.get(hole);
        match condition {
            Condition::Is { hole, not, any } => {
                let own = Value::Statement(here.statement);
                let subject = if hole.is_empty() {
                    Some(&own)
                } else {
                    value(hole)
                };
                let Some(value) = subject else {
                    return false;
                };
                any.iter().any(|one| self.is(value, *one)) != *not
            }
            Condition::Equal { one, other, not } => {
                let (Some(one), Some(other)) = (value(one), value(other)) else {
                    return false;
                };
                self.is_equal(one, other) != *not
            }
            Condition::SameType { one, other } => {
                let ty = |hole: &str| value(hole).and_then(|value| self.type_of_value(value));
                match (ty(one), ty(other)) {
                    (Some(one), Some(other)) => self.same_type(one, other),
                    _ => false,
                }
            }
            Condition::Has { inside, not, any } => {
                let parts = self.parts(inside, here, known);
                let own = |pattern: &Pattern| !self.found_in(pattern, &parts, known).is_empty();
                let mut found = any.iter().any(own);
                if *inside == Inside::File && !found {
                    found = iter::once(self).chain(self.others()).any(|tree| {
                        let parts = tree.parts(&Inside::Function, here, known);
                        let none = Match::default();
                        let mut any = any.iter();
                        any.any(|pattern| !tree.found_in(pattern, &parts, &none).is_empty())
                    });
                }
                found != *not
            }
            Condition::Before { one, other } => {
                let place = |hole: &str| match value(hole)? {
                    Value::Expression(id) => Some(self.place(*id)?.start),
                    Value::Statement(id) => Some(self.statement_place(*id)?.start),
                    _ => None,
                };
                match (place(one), place(other)) {
                    (Some(one), Some(other)) => one < other,
                    _ => false,
                }
            }
            Condition::Declared(name) => self.can_name(name),
            Condition::Compared {
                hole,
                comparison,
                number,
            } => {
                let own = match value(hole) {
                    Some(Value::Number(own)) => Some(*own),
                    Some(Value::Word(name)) => self.constant(name),
                    Some(Value::Expression(id)) => {
                        match self.function.expr(self.function.stripped(*id)).kind {
                            ExprKind::Integer { value, .. } => Some(value),
                            _ => None,
                        }
                    }
                    _ => None,
                };
                own.is_some_and(|own| comparison.holds(own, *number))
            }
            Condition::Mentions { whole, part, not } => {
                let parts = self.parts(&Inside::Hole(whole.clone()), here, known);
                let mentions = match value(part) {
                    Some(part) => parts
                        .expressions
                        .iter()
                        .any(|&id| self.is_equal(&Value::Expression(id), part)),
                    None => false,
                };
                mentions != *not
            }
        }
    }

    /// The value of a constant of this name.
    fn constant(&self, name: &str) -> Option<i128> {
        let mut macros = self.unit.macros.iter();
        let known = macros.find(|constant| constant.name == name);
        let known = known.map(|constant| constant.value);
        known.or_else(|| {
            let mut enumerators = self.unit.enumerations.iter().flatten();
            let own = enumerators.find(|(own, _)| own == name);
            own.map(|(_, value)| *value)
        })
    }

    /// Whether two values of holes are the same piece of C, apart from parentheses and layout.
    pub(crate) fn is_equal(&self, one: &Value, other: &Value) -> bool {
        let bare = |id: ExprId| &self.function.expr(self.function.stripped(id)).kind;
        match (one, other) {
            (Value::Expression(a), Value::Expression(b)) => self.is_alike(*a, *b),
            (Value::Variable(a), Value::Variable(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => a == b,
            (Value::Word(a), Value::Word(b)) => a == b,
            (Value::Operator(a), Value::Operator(b)) => a == b,
            (Value::Expression(id), Value::Variable(variable))
            | (Value::Variable(variable), Value::Expression(id)) => {
                matches!(bare(*id), ExprKind::Variable(own) if own == variable)
            }
            (Value::Expression(id), Value::Number(number))
            | (Value::Number(number), Value::Expression(id)) => {
                matches!(bare(*id), ExprKind::Integer { value, .. } if value == number)
            }
            (Value::Text { text, .. }, Value::Expression(id))
            | (Value::Expression(id), Value::Text { text, .. }) => {
                self.plain(*id).is_some_and(|own| own == *text)
            }
            (Value::Text { text, .. }, Value::Text { text: other, .. }) => text == other,
            (Value::Statement(a), Value::Statement(b)) => a == b,
            _ => false,
        }
    }

    /// Returns the declared type of the value of a hole.
    pub(crate) fn type_of_value(&self, value: &Value) -> Option<TypeId> {
        match value {
            // Nothing has the type of what it is given to.
            Value::Expression(id) if self.is_null(*id) => {
                Some(self.function.expr(self.with_conversions(*id)).ty)
            }
            Value::Expression(id) => Some(self.type_of(*id)),
            Value::Variable(id) => Some(self.unit.variable(*id).ty),
            Value::Text { ty, .. } => *ty,
            _ => None,
        }
    }

    fn is(&self, value: &Value, wanted: Trait) -> bool {
        if let Some(answer) = self.is_of_type(value, wanted) {
            return answer;
        }
        match value {
            Value::Expression(id) => self.is_expression(*id, wanted),
            Value::Variable(id) => match wanted {
                Trait::Variable | Trait::Pure => true,
                Trait::Local => self.unit.variable(*id).storage != Storage::Global,
                Trait::Parameter => self.unit.variable(*id).storage == Storage::Parameter,
                _ => false,
            },
            Value::Statement(id) => self.is_statement(*id, wanted),
            Value::Number(_) => matches!(wanted, Trait::Literal | Trait::Pure),
            Value::Word(name) => {
                matches!(wanted, Trait::Literal | Trait::Pure) && self.constant(name).is_some()
            }
            _ => false,
        }
    }

    fn is_of_type(&self, value: &Value, wanted: Trait) -> Option<bool> {
        let types = &self.unit.types;
        let ty = self.type_of_value(value);
        let kind = ty.map(|ty| types.kind(ty));
        let integer = ty.and_then(|ty| types.integer_kind(ty));
        let is_signed = |kind: IntegerKind| {
            use IntegerKind::*;
            matches!(
                kind,
                Char | SignedChar | Short | Int | Long | LongLong | Int128
            )
        };
        Some(match wanted {
            Trait::Integer => integer.is_some(),
            Trait::Signed => integer.is_some_and(is_signed),
            Trait::Unsigned => integer.is_some_and(|kind| !is_signed(kind)),
            Trait::Floating => matches!(kind, Some(TypeKind::Float(_))),
            Trait::Number => integer.is_some() || matches!(kind, Some(TypeKind::Float(_))),
            Trait::Pointer => matches!(kind, Some(TypeKind::Pointer(_))),
            Trait::Array => {
                matches!(
                    kind,
                    Some(TypeKind::Array(..) | TypeKind::VariableArray(..))
                )
            }
            Trait::Enumeration => matches!(kind, Some(TypeKind::Enum { .. })),
            Trait::Byte => integer.is_some_and(|kind| kind.size() == 1),
            Trait::Text => {
                let element = ty.and_then(|ty| types.element(ty));
                element.and_then(|ty| types.integer_kind(ty)) == Some(IntegerKind::Char)
            }
            _ => return None,
        })
    }

    fn is_expression(&self, id: ExprId, wanted: Trait) -> bool {
        let bare = self.function.stripped(id);
        let kind = &self.function.expr(bare).kind;
        match wanted {
            Trait::Variable => matches!(kind, ExprKind::Variable(_)),
            Trait::Local | Trait::Parameter => match kind {
                ExprKind::Variable(id) => {
                    let storage = self.unit.variable(*id).storage;
                    match wanted {
                        Trait::Local => storage != Storage::Global,
                        _ => storage == Storage::Parameter,
                    }
                }
                _ => false,
            },
            Trait::Member => matches!(kind, ExprKind::Member { .. }),
            Trait::Element => matches!(kind, ExprKind::Subscript { .. }),
            Trait::Literal => matches!(
                kind,
                ExprKind::Integer { .. } | ExprKind::Float(_) | ExprKind::String
            ),
            Trait::Character => matches!(
                kind,
                ExprKind::Integer {
                    character: true,
                    ..
                }
            ),
            Trait::Words => matches!(kind, ExprKind::String) && self.is_passed_on(id),
            Trait::Null => self.is_null(id),
            Trait::Call => matches!(kind, ExprKind::Call { .. }),
            Trait::Calculation => matches!(kind, ExprKind::Binary { .. }),
            Trait::Comparison => {
                use BinaryOperator::{Eq, Ge, Gt, Le, Lt, Ne};
                matches!(kind, ExprKind::Binary { operator, .. } if matches!(operator, Lt | Le | Gt | Ge | Eq | Ne))
            }
            Trait::Pure => self.is_pure(id),
            Trait::Unused => self.is_unused(bare),
            Trait::Condition => self.is_condition(bare),
            Trait::Given => self.is_given(bare),
            _ => false,
        }
    }

    fn outermost(&self, mut id: ExprId) -> (ExprId, Option<ExprId>) {
        while let Some(parent) = self.parent(id) {
            match self.function.expr(parent).kind {
                ExprKind::Paren(_) | ExprKind::Cast { implicit: true, .. } => id = parent,
                _ => return (id, Some(parent)),
            }
        }
        (id, None)
    }

    /// An expression with the parentheses and the conversions around it.
    pub(crate) fn with_conversions(&self, id: ExprId) -> ExprId {
        self.outermost(id).0
    }

    /// Returns the expression of which this one is an operand, apart from parentheses and conversions.
    pub(crate) fn user(&self, id: ExprId) -> Option<ExprId> {
        self.outermost(id).1
    }

    /// Whether the value of an expression is not used.
    pub(crate) fn is_unused(&self, id: ExprId) -> bool {
        let (id, user) = self.outermost(id);
        match user.map(|user| &self.function.expr(user).kind) {
            Some(ExprKind::Binary {
                operator: BinaryOperator::Comma,
                left,
                ..
            }) => *left == id || user.is_some_and(|user| self.is_unused(user)),
            Some(_) => false,
            None => match self
                .statement_of(id)
                .map(|owner| (&self.function.stmt(owner).kind, owner))
            {
                // The value of a statement expression is that of its last statement.
                Some((StmtKind::Expression(_), owner)) => !self.is_value_of_block(owner),
                Some((StmtKind::For { increment, .. }, _)) => *increment == Some(id),
                _ => false,
            },
        }
    }

    fn is_value_of_block(&self, id: StmtId) -> bool {
        let Some((block, place)) = self.around(id) else {
            return false;
        };
        let is_last = matches!(&self.function.stmt(block).kind, StmtKind::Compound(inner) if place + 1 == inner.len());
        is_last && self.around(block).is_none() && block != self.function.body
    }

    fn is_condition(&self, id: ExprId) -> bool {
        let (id, user) = self.outermost(id);
        match user.map(|user| &self.function.expr(user).kind) {
            Some(ExprKind::Conditional { condition, .. }) => *condition == id,
            Some(ExprKind::Binary { operator, .. }) => matches!(
                operator,
                BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr
            ),
            Some(ExprKind::Unary { operator, .. }) => *operator == UnaryOperator::Not,
            Some(_) => false,
            None => {
                self.statement_of(id)
                    .is_some_and(|owner| match &self.function.stmt(owner).kind {
                        StmtKind::If { .. } | StmtKind::While { .. } | StmtKind::Do { .. } => true,
                        StmtKind::For { condition, .. } => *condition == Some(id),
                        _ => false,
                    })
            }
        }
    }

    fn is_given(&self, id: ExprId) -> bool {
        let (id, user) = self.outermost(id);
        match user.map(|user| &self.function.expr(user).kind) {
            Some(ExprKind::Assign { value, .. }) => *value == id,
            Some(ExprKind::Call { callee, .. }) => *callee != id,
            Some(_) => false,
            None => self.statement_of(id).is_some_and(|owner| {
                matches!(
                    self.function.stmt(owner).kind,
                    StmtKind::Return(_) | StmtKind::Declaration(_)
                )
            }),
        }
    }

    fn is_statement(&self, id: StmtId, wanted: Trait) -> bool {
        let kind = &self.function.stmt(id).kind;
        let around = self.around(id);
        match wanted {
            Trait::Jump => kind.is_jump(),
            Trait::Step => kind.is_step(),
            Trait::Block => matches!(kind, StmtKind::Compound(_)),
            Trait::Loop => kind.loop_body().is_some(),
            Trait::If => matches!(kind, StmtKind::If { .. }),
            Trait::Simple => matches!(kind, StmtKind::Expression(_)),
            Trait::Declaration => matches!(kind, StmtKind::Declaration(_)),
            Trait::Last => around.is_some_and(|(block, place)| {
                matches!(&self.function.stmt(block).kind, StmtKind::Compound(inner) if inner.len() == place + 1)
            }),
            Trait::Body => !around.is_some_and(|(block, _)| {
                matches!(self.function.stmt(block).kind, StmtKind::Compound(_))
            }),
            Trait::InLoop => self.is_in(id, false),
            Trait::InSwitchOrLoop => self.is_in(id, true),
            _ => false,
        }
    }

    /// Whether `continue` can stand in place of a statement and leads to another round. With `breaks` it is `break` that must be possible
    /// there, and must not lead to the end of a function with a result.
    pub(crate) fn is_in(&self, id: StmtId, breaks: bool) -> bool {
        let mut at = id;
        while let Some((outer, _)) = self.around(at) {
            match self.function.stmt(outer).kind {
                StmtKind::For { body, .. }
                | StmtKind::While { body, .. }
                | StmtKind::Do { body, .. } => {
                    return !(self.ends)(if breaks { outer } else { body });
                }
                StmtKind::Switch { .. } if breaks => return !(self.ends)(outer),
                _ => at = outer,
            }
        }
        false
    }
}
