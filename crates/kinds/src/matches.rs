//! Where a pattern is found, and what its holes stand for there.

use std::collections::BTreeMap;

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, StmtId, StmtKind, UnaryOperator, VarId,
    detail::Detail, lex, types::TypeId,
};
use patchwright_semantics::Precedence;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    syntax::{Node, NodeId, Operator, Pattern, Word},
    tree::{Tree, alike, mirrored},
};

/// What a hole stands for.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Expression(ExprId),
    Statement(StmtId),
    Statements(Vec<StmtId>),
    Arguments(Vec<ExprId>),
    Operator(BinaryOperator),
    Word(String),
    Number(i128),
    Variable(VarId),
    /// A text that stands elsewhere in the file, as it would be written here.
    Text {
        text: String,
        precedence: Precedence,
        ty: Option<TypeId>,
    },
}

/// What a node of a pattern was found at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    Expression(ExprId),
    Statement(StmtId),
}

/// One way in which a pattern matches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Match {
    pub(crate) values: BTreeMap<String, Value>,
    pub(crate) nodes: FxHashMap<NodeId, At>,
    /// Nodes whose operands stand the other way round.
    pub(crate) mirrored: FxHashSet<NodeId>,
}

impl Match {
    fn at(mut self, node: NodeId, at: At) -> Self {
        self.nodes.insert(node, at);
        self
    }
}

/// Finds one pattern in one function.
pub(crate) struct Matcher<'m, 'a> {
    pub(crate) tree: &'m Tree<'a>,
    pub(crate) pattern: &'m Pattern,
}

/// Of ways to match one thing those with the operands as they stand, if there are such.
fn preferred(mut all: Vec<Match>) -> Vec<Match> {
    if all.iter().any(|found| found.mirrored.is_empty()) {
        all.retain(|found| found.mirrored.is_empty());
    }
    all
}

impl Matcher<'_, '_> {
    /// The ways in which a whole expression matches.
    pub(crate) fn at_expression(&self, node: NodeId, id: ExprId, known: Match) -> Vec<Match> {
        preferred(self.expression(node, id, known))
    }

    /// The ways in which a whole statement matches.
    pub(crate) fn at_statement(&self, node: NodeId, id: StmtId, known: Match) -> Vec<Match> {
        preferred(self.statement(node, id, known))
    }

    /// The ways in which an expression matches.
    fn expression(&self, node: NodeId, id: ExprId, known: Match) -> Vec<Match> {
        let function = self.tree.function;
        let bare = function.stripped(id);
        let known = known.at(node, At::Expression(id));
        let own = &function.expr(bare).kind;
        let one = |fits: bool, known: Match| if fits { vec![known] } else { Vec::new() };
        match (self.pattern.node(node), own) {
            (Node::Hole(name), _) => self.hole(name, id, known),
            (
                Node::Number {
                    value, character, ..
                },
                ExprKind::Integer {
                    value: own,
                    character: is_character,
                    enumerator: None,
                },
            ) => one(
                value == own && (*value == 0 || character == is_character),
                known,
            ),
            (Node::String(text), ExprKind::String) => {
                let fits = self.tree.plain(id).is_some_and(|own| own == *text);
                one(fits, known)
            }
            (Node::Number { value: 0, .. }, _) if self.tree.is_null(id) => vec![known],
            (Node::Name(name), _) if name == "NULL" => one(self.tree.is_null(id), known),
            (Node::Name(name), ExprKind::Variable(variable)) => {
                one(self.tree.unit.variable(*variable).name == *name, known)
            }
            (Node::Name(name), ExprKind::Function(own)) => one(name == own, known),
            (
                Node::Name(name),
                ExprKind::Integer {
                    enumerator: Some(own),
                    ..
                },
            ) => one(name == own, known),
            (Node::Name(name), ExprKind::Integer { .. }) => {
                one(self.tree.plain(id).is_some_and(|own| own == *name), known)
            }
            (
                Node::Member { base, arrow, name },
                ExprKind::Member {
                    base: own,
                    arrow: own_arrow,
                    name: own_name,
                    ..
                },
            ) if arrow == own_arrow => {
                let (base, own) = (*base, *own);
                let named = self.word(name, own_name, known);
                let each = named.into_iter();
                each.flat_map(|known| self.expression(base, own, known))
                    .collect()
            }
            (Node::Subscript(base, index), ExprKind::Subscript { base: a, index: i }) => {
                self.both((*base, *index), (*a, *i), known)
            }
            // `*(a + i)`
            (
                Node::Subscript(base, index),
                ExprKind::Unary {
                    operator: UnaryOperator::Dereference,
                    operand,
                },
            ) => match function.expr(function.stripped(*operand)).kind {
                ExprKind::Binary {
                    operator: BinaryOperator::Add,
                    left,
                    right,
                } => {
                    let is_pointer = self.tree.is_pointer(function.expr(left).ty);
                    let (a, i) = if is_pointer {
                        (left, right)
                    } else {
                        (right, left)
                    };
                    self.both((*base, *index), (a, i), known)
                }
                _ => Vec::new(),
            },
            (
                Node::Step {
                    increment,
                    prefix,
                    operand,
                },
                ExprKind::Unary {
                    operator: UnaryOperator::Step,
                    operand: own,
                },
            ) => {
                let wanted = Detail::Step {
                    increment: *increment,
                    prefix: *prefix,
                };
                // Where nobody looks at the value, both are the same.
                let is_same = match function.details.of.get(&bare) {
                    Some(Detail::Step { increment: own, .. })
                        if self.tree.parent(bare).is_none() =>
                    {
                        own == increment
                    }
                    own => own == Some(&wanted),
                };
                match is_same {
                    true => self.expression(*operand, *own, known),
                    false => Vec::new(),
                }
            }
            (
                Node::Unary(operator, operand),
                ExprKind::Unary {
                    operator: own_operator,
                    operand: own,
                },
            ) if operator == own_operator => self.expression(*operand, *own, known),
            (
                Node::Binary(operator, left, right),
                ExprKind::Binary {
                    operator: own,
                    left: a,
                    right: b,
                },
            ) => self.binary(node, (operator, *left, *right), (*own, *a, *b), known),
            (
                Node::Assign(operator, target, value),
                ExprKind::Assign {
                    operator: own,
                    target: a,
                    value: b,
                },
            ) => match (operator, own) {
                (None, None) => self.both((*target, *value), (*a, *b), known),
                (Some(operator), Some(own)) => match self.operator(operator, *own, &known) {
                    Some(known) => self.both((*target, *value), (*a, *b), known),
                    None => Vec::new(),
                },
                _ => Vec::new(),
            },
            (
                Node::Conditional(c, a, b),
                ExprKind::Conditional {
                    condition,
                    then,
                    otherwise,
                },
            ) => {
                let first = self.expression(*c, *condition, known);
                let all = first.into_iter();
                all.flat_map(|known| self.both((*a, *b), (*then, *otherwise), known))
                    .collect()
            }
            (
                Node::Cast(text, operand),
                ExprKind::Cast {
                    operand: own,
                    implicit: false,
                    ..
                },
            ) => {
                let spelled = self.tree.unit.types.spelling(function.expr(bare).ty);
                let written = self.tree.plain(id).is_some_and(|own| {
                    let inner = own.trim_start_matches('(');
                    inner
                        .strip_prefix(text.as_str())
                        .is_some_and(|rest| rest.trim_start().starts_with(')'))
                });
                match written || spelled.as_deref() == Some(text) {
                    true => self.expression(*operand, *own, known),
                    false => Vec::new(),
                }
            }
            // Memory is converted to what it is used for.
            (
                Node::Call(..),
                ExprKind::Cast {
                    operand,
                    cast: CastKind::Pointer,
                    ..
                },
            ) => self.expression(node, *operand, known),
            // Whatever it is the size of; a variable fills the hole.
            (Node::SizeOf(_, Some(operand)), ExprKind::CompilerConstant)
                if matches!(function.details.of.get(&bare), Some(Detail::SizeOf(_))) =>
            {
                match (self.pattern.node(*operand), self.sized(id)) {
                    (Node::Hole(name), Some(variable)) => {
                        let mut known = known;
                        known
                            .values
                            .entry(name.clone())
                            .or_insert(Value::Variable(variable));
                        vec![known]
                    }
                    _ => vec![known],
                }
            }
            (
                Node::Call(callee, arguments),
                ExprKind::Call {
                    callee: own,
                    arguments: own_arguments,
                    ..
                },
            ) => {
                let first = self.expression(*callee, *own, known);
                let all = first.into_iter();
                all.flat_map(|known| self.arguments(arguments, own_arguments, known))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// The variable whose size an expression is, by its name.
    fn sized(&self, id: ExprId) -> Option<VarId> {
        let text = self.tree.plain(id)?;
        let operand = text.strip_prefix("sizeof")?.trim();
        let name = operand
            .strip_prefix('(')
            .and_then(|inner| inner.strip_suffix(')'))
            .unwrap_or(operand)
            .trim();
        let visible = &self.tree.scope_of(id)?.visible;
        let own = visible.iter().rev().copied();
        own.chain(self.tree.unit.globals.iter().copied())
            .find(|id| self.tree.unit.variable(*id).name == name)
    }

    fn both(
        &self,
        (left, right): (NodeId, NodeId),
        (a, b): (ExprId, ExprId),
        known: Match,
    ) -> Vec<Match> {
        let first = self.expression(left, a, known).into_iter();
        first
            .flat_map(|known| self.expression(right, b, known))
            .collect()
    }

    fn binary(
        &self,
        node: NodeId,
        (operator, left, right): (&Operator, NodeId, NodeId),
        (own, a, b): (BinaryOperator, ExprId, ExprId),
        known: Match,
    ) -> Vec<Match> {
        let mut found = Vec::new();
        if let Some(known) = self.operator(operator, own, &known) {
            found = self.both((left, right), (a, b), known);
        }
        // Operands the other way round mean the same where both are only looked at.
        if let Some(turned) = mirrored(own)
            && self.tree.is_pure(a)
            && self.tree.is_pure(b)
            && let Some(mut known) = self.operator(operator, turned, &known)
        {
            known.mirrored.insert(node);
            found.extend(self.both((left, right), (b, a), known));
        }
        found
    }

    /// What is known if an operator is the one of the pattern.
    fn operator(&self, wanted: &Operator, own: BinaryOperator, known: &Match) -> Option<Match> {
        match wanted {
            Operator::One(operator) => (*operator == own).then(|| known.clone()),
            Operator::Any(name, class) => {
                let fits = match known.values.get(name) {
                    Some(Value::Operator(before)) => *before == own,
                    Some(_) => false,
                    None => class.contains(own),
                };
                fits.then(|| {
                    let mut known = known.clone();
                    known.values.insert(name.clone(), Value::Operator(own));
                    known
                })
            }
        }
    }

    fn word(&self, wanted: &Word, own: &str, mut known: Match) -> Option<Match> {
        match wanted {
            Word::Text(text) => (text == own).then_some(known),
            Word::Hole(name) => match known.values.get(name) {
                Some(Value::Word(before)) => (before == own).then_some(known),
                Some(_) => None,
                None => {
                    known
                        .values
                        .insert(name.clone(), Value::Word(own.to_owned()));
                    Some(known)
                }
            },
        }
    }

    fn hole(&self, name: &str, id: ExprId, mut known: Match) -> Vec<Match> {
        let function = self.tree.function;
        let fits = match known.values.get(name) {
            None => {
                known.values.insert(name.to_owned(), Value::Expression(id));
                true
            }
            Some(Value::Expression(before)) => self.tree.is_alike(*before, id),
            Some(Value::Variable(variable)) => {
                matches!(function.expr(function.stripped(id)).kind, ExprKind::Variable(own) if own == *variable)
            }
            Some(Value::Number(number)) => {
                matches!(function.expr(function.stripped(id)).kind, ExprKind::Integer { value, .. } if value == *number)
            }
            Some(Value::Word(word)) => self.tree.plain(id).is_some_and(|own| own == *word),
            Some(Value::Text { text, .. }) => {
                let own = self.tree.plain(id);
                own.is_some_and(|own| {
                    lex::tokens(&own)
                        .into_iter()
                        .map(|(t, _)| t)
                        .eq(lex::tokens(text).into_iter().map(|(t, _)| t))
                })
            }
            Some(_) => false,
        };
        if fits { vec![known] } else { Vec::new() }
    }

    fn arguments(&self, wanted: &[NodeId], own: &[ExprId], known: Match) -> Vec<Match> {
        let Some((&first, rest)) = wanted.split_first() else {
            return match own.is_empty() {
                true => vec![known],
                false => Vec::new(),
            };
        };
        if let Node::Rest(name) = self.pattern.node(first) {
            let mut found = Vec::new();
            for taken in 0..=own.len() {
                let mut known = known.clone();
                let value = Value::Arguments(own[..taken].to_vec());
                known.values.insert(name.clone(), value);
                found.extend(self.arguments(rest, &own[taken..], known));
            }
            return found;
        }
        let Some((&argument, behind)) = own.split_first() else {
            return Vec::new();
        };
        let first = self.expression(first, argument, known).into_iter();
        first
            .flat_map(|known| self.arguments(rest, behind, known))
            .collect()
    }

    /// The ways in which a statement matches.
    fn statement(&self, node: NodeId, id: StmtId, known: Match) -> Vec<Match> {
        let function = self.tree.function;
        let kind = &function.stmt(id).kind;
        let wanted = self.pattern.node(node);
        // A block with one statement is that statement, and the other way round.
        match (wanted, kind) {
            (Node::Statement(_) | Node::Compound(_), _) => {}
            (_, StmtKind::Compound(inner)) => {
                return match inner[..] {
                    [inner] => self.statement(node, inner, known),
                    _ => Vec::new(),
                };
            }
            _ => {}
        }
        let known = known.at(node, At::Statement(id));
        match (wanted, kind) {
            (Node::Statement(name), _) => {
                let mut known = known;
                match known.values.get(name) {
                    None => {
                        known.values.insert(name.clone(), Value::Statement(id));
                        vec![known]
                    }
                    Some(Value::Text { text, .. }) => match self.is_text(id, text) {
                        true => vec![known],
                        false => Vec::new(),
                    },
                    Some(Value::Statement(before)) if self.is_alike_statement(*before, id) => {
                        vec![known]
                    }
                    Some(_) => Vec::new(),
                }
            }
            (Node::Compound(wanted), StmtKind::Compound(inner)) => {
                self.statements(wanted, inner, known)
            }
            (Node::Compound(wanted), _) => self.statements(wanted, &[id], known),
            (Node::Expression(expr), StmtKind::Expression(own)) => {
                self.expression(*expr, *own, known)
            }
            (Node::Declaration { ty, name, value }, StmtKind::Declaration(variables)) => {
                let [variable] = variables[..] else {
                    return Vec::new();
                };
                let own = self.tree.unit.variable(variable);
                let types = &self.tree.unit.types;
                let Some(spelled) = types.spelling(own.ty) else {
                    return Vec::new();
                };
                let known = self.word(ty, &spelled, known).and_then(|mut known| {
                    let Word::Hole(name) = name else {
                        return self.word(name, &own.name, known);
                    };
                    let before = known.values.insert(name.clone(), Value::Variable(variable));
                    before.is_none().then_some(known)
                });
                match (known, value, own.initializer) {
                    (Some(known), Some(value), Some(own)) => self.expression(*value, own, known),
                    (Some(known), None, None) => vec![known],
                    _ => Vec::new(),
                }
            }
            (
                Node::If(c, a, b),
                StmtKind::If {
                    condition,
                    then,
                    otherwise,
                },
            ) => {
                let found = self.expression(*c, *condition, known);
                let found = self.statement_in_all(*a, *then, found);
                match (b, otherwise) {
                    (None, None) => found,
                    (Some(b), Some(otherwise)) => self.statement_in_all(*b, *otherwise, found),
                    _ => Vec::new(),
                }
            }
            (
                Node::While(c, body),
                StmtKind::While {
                    condition,
                    body: own,
                },
            ) => {
                let found = self.expression(*c, *condition, known);
                self.statement_in_all(*body, *own, found)
            }
            // `for (; c;)`
            (
                Node::While(c, body),
                StmtKind::For {
                    init: None,
                    condition: Some(condition),
                    increment: None,
                    body: own,
                },
            ) => {
                let found = self.expression(*c, *condition, known);
                self.statement_in_all(*body, *own, found)
            }
            (
                Node::Do(body, c),
                StmtKind::Do {
                    body: own,
                    condition,
                },
            ) => {
                let found = self.statement(*body, *own, known).into_iter();
                found
                    .flat_map(|known| self.expression(*c, *condition, known))
                    .collect()
            }
            (
                Node::For(init, condition, increment, body),
                StmtKind::For {
                    init: own_init,
                    condition: own_condition,
                    increment: own_increment,
                    body: own,
                },
            ) => {
                let found = match (init, own_init) {
                    (None, None) => vec![known],
                    (Some(init), Some(own)) => self.statement(*init, *own, known),
                    _ => return Vec::new(),
                };
                let pairs = [(condition, own_condition), (increment, own_increment)];
                let mut found = found;
                for pair in pairs {
                    found = match pair {
                        (None, None) => found,
                        (Some(node), Some(own)) => {
                            let all = found.into_iter();
                            all.flat_map(|known| self.expression(*node, *own, known))
                                .collect()
                        }
                        _ => return Vec::new(),
                    };
                }
                self.statement_in_all(*body, *own, found)
            }
            (Node::Return(None), StmtKind::Return(None))
            | (Node::Break, StmtKind::Break)
            | (Node::Continue, StmtKind::Continue)
            | (Node::Null, StmtKind::Null) => vec![known],
            (Node::Return(Some(value)), StmtKind::Return(Some(own))) => {
                self.expression(*value, *own, known)
            }
            (Node::Goto(word), StmtKind::Goto(label)) => {
                self.word(word, label, known).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    fn statement_in_all(&self, node: NodeId, id: StmtId, all: Vec<Match>) -> Vec<Match> {
        let all = all.into_iter();
        all.flat_map(|known| self.statement(node, id, known))
            .collect()
    }

    /// The ways in which all of some statements match.
    fn statements(&self, wanted: &[NodeId], own: &[StmtId], known: Match) -> Vec<Match> {
        let Some((&first, rest)) = wanted.split_first() else {
            return match own.is_empty() {
                true => vec![known],
                false => Vec::new(),
            };
        };
        if let Node::Rest(name) = self.pattern.node(first) {
            // A rest at the end takes all.
            let shortest = if rest.is_empty() { own.len() } else { 0 };
            let mut found = Vec::new();
            for taken in shortest..=own.len() {
                let mut known = known.clone();
                let value = Value::Statements(own[..taken].to_vec());
                known.values.insert(name.clone(), value);
                found.extend(self.statements(rest, &own[taken..], known));
            }
            return found;
        }
        let Some((&next, behind)) = own.split_first() else {
            return Vec::new();
        };
        let first = self.statement(first, next, known).into_iter();
        first
            .flat_map(|known| self.statements(rest, behind, known))
            .collect()
    }

    /// Returns the ways in which statements in a row match from the first one on, each with the number of statements that it takes.
    pub(crate) fn row(&self, own: &[StmtId], known: Match) -> Vec<(Match, usize)> {
        let wanted = self.pattern.statements();
        // Rests are inside of braces: in a row, each part of the pattern is one statement.
        let taken = wanted.len();
        match own.get(..taken) {
            Some(own) => {
                let found = preferred(self.statements(wanted, own, known));
                found.into_iter().map(|found| (found, taken)).collect()
            }
            None => Vec::new(),
        }
    }

    /// Whether a statement consists of the words and signs of a text.
    fn is_text(&self, id: StmtId, text: &str) -> bool {
        let words = |text: &str| {
            let words = lex::tokens(text)
                .into_iter()
                .map(|(word, _)| word.to_owned());
            words.collect::<Vec<String>>()
        };
        let own = self
            .tree
            .statement_place(id)
            .map(|span| self.tree.text(span));
        own.is_some_and(|own| words(&own) == words(text))
    }

    fn is_alike_statement(&self, one: StmtId, other: StmtId) -> bool {
        alike_statements(self.tree, one, other)
    }
}

/// Whether two statements are the same words and signs.
fn alike_statements(tree: &Tree<'_>, one: StmtId, other: StmtId) -> bool {
    let function = tree.function;
    if let (StmtKind::Expression(a), StmtKind::Expression(b)) =
        (&function.stmt(one).kind, &function.stmt(other).kind)
    {
        return alike((function, *a), (function, *b));
    }
    let words = |id: StmtId| {
        let text = tree.text(tree.statement_place(id)?);
        let words = lex::tokens(&text).into_iter().map(|(word, _)| word);
        Some(words.collect::<Vec<_>>().join(" "))
    };
    let own = words(one);
    own.is_some() && own == words(other)
}
