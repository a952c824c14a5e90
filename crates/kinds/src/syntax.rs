//! Patterns: C with holes, as a tree.

use patchwright_csource::{BinaryOperator, UnaryOperator};

/// Names a node of one [`Pattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct NodeId(pub(crate) u32);

/// A C expression, or statements, with holes.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Tells it from all others, for what is known of it.
    pub(crate) number: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: Root,
}

/// What a pattern is a pattern of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Root {
    Expression(NodeId),
    Statements(Vec<NodeId>),
}

/// A word of C, or a hole for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    Hole(String),
    Text(String),
}

/// An operator with two operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    One(BinaryOperator),
    /// One of a class; what is there has this name.
    Any(String, Class),
}

/// Operators that stand in one another's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Comparison,
    Order,
    Sum,
    Product,
    Logic,
    Bits,
    /// Whatever an `each` finds.
    Chosen,
}

impl Class {
    /// The class of a name, which may have a number behind it: `cmp2`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "cmp" => Class::Comparison,
            "order" => Class::Order,
            "sum" => Class::Sum,
            "product" => Class::Product,
            "logic" => Class::Logic,
            "bits" => Class::Bits,
            "new" => Class::Chosen,
            _ => return None,
        })
    }

    /// Whether the class has this operator.
    pub(crate) fn contains(self, operator: BinaryOperator) -> bool {
        use BinaryOperator::*;
        match self {
            Class::Comparison => matches!(operator, Lt | Le | Gt | Ge | Eq | Ne),
            Class::Order => matches!(operator, Lt | Le | Gt | Ge),
            Class::Sum => matches!(operator, Add | Sub),
            Class::Product => matches!(operator, Mul | Div | Rem),
            Class::Logic => matches!(operator, LogicalAnd | LogicalOr),
            Class::Bits => matches!(operator, And | Or | Xor),
            Class::Chosen => true,
        }
    }

    /// An operator of the class, by which a parser of C reads a text with it.
    pub(crate) fn stand_in(self) -> &'static str {
        match self {
            Class::Comparison | Class::Order | Class::Chosen => "<",
            Class::Sum => "+",
            Class::Product => "*",
            Class::Logic => "&&",
            Class::Bits => "&",
        }
    }
}

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// `$x`: any expression; twice the same one.
    Hole(String),
    /// `$..x`: any number of arguments, or of statements.
    Rest(String),
    /// A number or a character.
    Number {
        value: i128,
        character: bool,
        text: String,
    },
    String(String),
    Name(String),
    Member {
        base: NodeId,
        arrow: bool,
        name: Word,
    },
    Subscript(NodeId, NodeId),
    Unary(UnaryOperator, NodeId),
    Step {
        increment: bool,
        prefix: bool,
        operand: NodeId,
    },
    Binary(Operator, NodeId, NodeId),
    Assign(Option<Operator>, NodeId, NodeId),
    Conditional(NodeId, NodeId, NodeId),
    /// A conversion to the type of this text.
    Cast(String, NodeId),
    /// `sizeof`, and what stands behind it in parentheses.
    SizeOf(String, Option<NodeId>),
    Call(NodeId, Vec<NodeId>),
    /// `$S;`: any statement.
    Statement(String),
    Expression(NodeId),
    Declaration {
        ty: Word,
        name: Word,
        value: Option<NodeId>,
    },
    If(NodeId, NodeId, Option<NodeId>),
    While(NodeId, NodeId),
    Do(NodeId, NodeId),
    For(Option<NodeId>, Option<NodeId>, Option<NodeId>, NodeId),
    Return(Option<NodeId>),
    Break,
    Continue,
    Goto(Word),
    Compound(Vec<NodeId>),
    Null,
}

impl Pattern {
    /// Returns a node of the pattern.
    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The statements of the pattern; those of an expression are none.
    pub(crate) fn statements(&self) -> &[NodeId] {
        match &self.root {
            Root::Statements(all) => all,
            Root::Expression(_) => &[],
        }
    }

    /// The names of the holes, each once, in order.
    pub(crate) fn holes(&self) -> Vec<&str> {
        let mut found: Vec<&str> = Vec::new();
        let mut add = |name| {
            if !found.contains(&name) {
                found.push(name);
            }
        };
        for node in &self.nodes {
            match node {
                Node::Hole(name) | Node::Rest(name) | Node::Statement(name) => add(name.as_str()),
                Node::Member {
                    name: Word::Hole(name),
                    ..
                }
                | Node::Goto(Word::Hole(name)) => add(name),
                Node::Binary(Operator::Any(name, _), ..)
                | Node::Assign(Some(Operator::Any(name, _)), ..) => add(name),
                Node::Declaration { ty, name, .. } => {
                    for word in [ty, name] {
                        if let Word::Hole(name) = word {
                            add(name);
                        }
                    }
                }
                _ => {}
            }
        }
        found
    }
}
