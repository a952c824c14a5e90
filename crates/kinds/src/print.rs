//! Writes what a pattern becomes: the one printer of kinds.

use patchwright_csource::{BinaryOperator, UnaryOperator, lex};
use patchwright_semantics::Precedence;

use crate::{
    matches::{Match, Value},
    syntax::{Node, NodeId, Operator, Pattern, Word},
    tree::{Tree, operand_of},
};

/// Writes a pattern whose holes are filled.
pub(crate) struct Printer<'m, 'a> {
    pub(crate) tree: &'m Tree<'a>,
    pub(crate) pattern: &'m Pattern,
    pub(crate) found: &'m Match,
    /// What fills holes is written on one line, without its comments.
    pub(crate) on_one_line: bool,
}

/// Whether something that binds so tightly needs parentheses where `least` is needed.
pub(crate) fn needs_parentheses(own: Precedence, least: Precedence) -> bool {
    // Compilers warn of `a && b || c`.
    own < least || own == Precedence::LogicalAnd && least == Precedence::LogicalOr
}

impl Printer<'_, '_> {
    fn filled(&self, text: String) -> String {
        match self.on_one_line {
            true => lex::on_one_line(&text),
            false => text,
        }
    }

    /// Returns the C text of a hole's value, with its precedence.
    pub(crate) fn value(&self, value: &Value) -> Option<(String, Precedence)> {
        let tree = self.tree;
        Some(match value {
            Value::Expression(id) => {
                let text = self.filled(tree.text(tree.place(*id)?));
                (text, tree.precedence(*id))
            }
            Value::Statement(id) => {
                let text = tree.text(tree.statement_place(*id)?);
                (self.filled(text), Precedence::Comma)
            }
            Value::Statements(all) => {
                let texts = all
                    .iter()
                    .map(|id| Some(tree.text(tree.statement_place(*id)?)));
                let texts: Vec<String> = texts.collect::<Option<_>>()?;
                (self.filled(texts.join(" ")), Precedence::Comma)
            }
            Value::Arguments(all) => {
                let texts = all.iter().map(|id| Some(tree.text(tree.place(*id)?)));
                let texts: Vec<String> = texts.collect::<Option<_>>()?;
                (self.filled(texts.join(", ")), Precedence::Comma)
            }
            Value::Word(word) => (word.clone(), Precedence::Primary),
            Value::Number(number) if *number < 0 => (number.to_string(), Precedence::Unary),
            Value::Number(number) => (number.to_string(), Precedence::Primary),
            Value::Variable(id) => (tree.unit.variable(*id).name.clone(), Precedence::Primary),
            Value::Text {
                text, precedence, ..
            } => (text.clone(), *precedence),
            Value::Operator(operator) => (operator.spelling().to_owned(), Precedence::Comma),
        })
    }

    fn hole(&self, name: &str) -> Option<(String, Precedence)> {
        self.value(self.found.values.get(name)?)
    }

    fn word(&self, word: &Word) -> Option<String> {
        match word {
            Word::Text(text) => Some(text.clone()),
            Word::Hole(name) => self.hole(name).map(|(text, _)| text),
        }
    }

    /// Returns the operator that stands in a pattern, or that its hole has matched.
    pub(crate) fn operator(&self, operator: &Operator) -> Option<BinaryOperator> {
        match operator {
            Operator::One(operator) => Some(*operator),
            Operator::Any(name, _) => match self.found.values.get(name)? {
                Value::Operator(operator) => Some(*operator),
                _ => None,
            },
        }
    }

    /// Returns the text of an expression, in parentheses if it binds less tightly than `least`.
    pub(crate) fn within(&self, node: NodeId, least: Precedence) -> Option<String> {
        let (text, own) = self.expression(node)?;
        Some(match needs_parentheses(own, least) {
            true => format!("({text})"),
            false => text,
        })
    }

    /// The text of an expression, and how tightly it binds.
    pub(crate) fn expression(&self, node: NodeId) -> Option<(String, Precedence)> {
        Some(match self.pattern.node(node) {
            Node::Hole(name) | Node::Rest(name) => self.hole(name)?,
            Node::Number { text, .. } | Node::String(text) | Node::Name(text) => {
                (text.clone(), Precedence::Primary)
            }
            Node::Member { base, arrow, name } => {
                let base = self.within(*base, Precedence::Postfix)?;
                let sign = if *arrow { "->" } else { "." };
                (
                    format!("{base}{sign}{}", self.word(name)?),
                    Precedence::Postfix,
                )
            }
            Node::Subscript(base, index) => {
                let base = self.within(*base, Precedence::Postfix)?;
                let (index, _) = self.expression(*index)?;
                (format!("{base}[{index}]"), Precedence::Postfix)
            }
            Node::Unary(operator, operand) => {
                let sign = match operator {
                    UnaryOperator::Minus => "-",
                    UnaryOperator::Plus => "+",
                    UnaryOperator::Complement => "~",
                    UnaryOperator::Not => "!",
                    UnaryOperator::Dereference => "*",
                    UnaryOperator::AddressOf => "&",
                    _ => return None,
                };
                let operand = self.within(*operand, Precedence::Unary)?;
                let text = match operand.starts_with(sign) && sign != "!" && sign != "~" {
                    true => format!("{sign}({operand})"),
                    false => format!("{sign}{operand}"),
                };
                (text, Precedence::Unary)
            }
            Node::Step {
                increment,
                prefix,
                operand,
            } => {
                let sign = if *increment { "++" } else { "--" };
                match prefix {
                    true => (
                        format!("{sign}{}", self.within(*operand, Precedence::Unary)?),
                        Precedence::Unary,
                    ),
                    false => (
                        format!("{}{sign}", self.within(*operand, Precedence::Postfix)?),
                        Precedence::Postfix,
                    ),
                }
            }
            Node::Binary(operator, left, right) => {
                let operator = self.operator(operator)?;
                let left = self.within(*left, operand_of(operator, true))?;
                let right = self.within(*right, operand_of(operator, false))?;
                let text = match operator {
                    BinaryOperator::Comma => format!("{left}, {right}"),
                    _ => format!("{left} {} {right}", operator.spelling()),
                };
                (text, operator.precedence())
            }
            Node::Assign(operator, target, value) => {
                let sign = match operator {
                    Some(operator) => format!("{}=", self.operator(operator)?.spelling()),
                    None => "=".to_owned(),
                };
                let target = self.within(*target, Precedence::Unary)?;
                let value = self.within(*value, Precedence::Assignment)?;
                (format!("{target} {sign} {value}"), Precedence::Assignment)
            }
            Node::Conditional(condition, then, otherwise) => {
                let condition = self.within(*condition, Precedence::LogicalOr)?;
                let then = self.within(*then, Precedence::LogicalOr)?;
                let otherwise = self.within(*otherwise, Precedence::Conditional)?;
                let text = format!("{condition} ? {then} : {otherwise}");
                (text, Precedence::Conditional)
            }
            Node::Cast(ty, operand) => {
                let operand = self.within(*operand, Precedence::Unary)?;
                (format!("({ty}){operand}"), Precedence::Unary)
            }
            Node::SizeOf(ty, None) => (format!("sizeof({ty})"), Precedence::Unary),
            Node::SizeOf(_, Some(operand)) => {
                let (operand, _) = self.expression(*operand)?;
                (format!("sizeof({operand})"), Precedence::Unary)
            }
            Node::Call(callee, arguments) => {
                let callee = self.within(*callee, Precedence::Postfix)?;
                let mut texts = Vec::new();
                for argument in arguments {
                    let text = match self.pattern.node(*argument) {
                        Node::Rest(_) => self.expression(*argument)?.0,
                        _ => self.within(*argument, Precedence::Assignment)?,
                    };
                    if !text.is_empty() {
                        texts.push(text);
                    }
                }
                (
                    format!("{callee}({})", texts.join(", ")),
                    Precedence::Postfix,
                )
            }
            _ => return None,
        })
    }

    /// Statements, each with a blank before the next.
    pub(crate) fn statements(&self, all: &[NodeId]) -> Option<String> {
        let texts = all.iter().map(|node| self.statement(*node));
        let mut texts: Vec<String> = texts.collect::<Option<_>>()?;
        texts.retain(|text| !text.is_empty());
        Some(texts.join(" "))
    }

    /// The text of a statement, on one line but for what fills its holes.
    pub(crate) fn statement(&self, node: NodeId) -> Option<String> {
        let condition = |node: NodeId| self.expression(node).map(|(text, _)| text);
        let optional = |node: &Option<NodeId>| match node {
            Some(node) => condition(*node),
            None => Some(String::new()),
        };
        Some(match self.pattern.node(node) {
            Node::Statement(name) | Node::Rest(name) => self.hole(name)?.0,
            Node::Expression(expr) => format!("{};", self.expression(*expr)?.0),
            Node::Declaration { ty, name, value } => {
                let (ty, name) = (self.word(ty)?, self.word(name)?);
                let gap = if ty.ends_with('*') { "" } else { " " };
                match value {
                    Some(value) => {
                        let value = self.within(*value, Precedence::Assignment)?;
                        format!("{ty}{gap}{name} = {value};")
                    }
                    None => format!("{ty}{gap}{name};"),
                }
            }
            Node::If(c, then, otherwise) => {
                let mut text = format!("if ({}) {}", condition(*c)?, self.body(*then)?);
                if let Some(otherwise) = otherwise {
                    text.push_str(" else ");
                    text.push_str(&self.statement(*otherwise)?);
                }
                text
            }
            Node::While(c, body) => format!("while ({}) {}", condition(*c)?, self.body(*body)?),
            Node::Do(body, c) => {
                format!("do {} while ({});", self.statement(*body)?, condition(*c)?)
            }
            Node::For(init, c, increment, body) => {
                let init = match init {
                    Some(init) => self.statement(*init)?,
                    None => ";".to_owned(),
                };
                let (c, increment) = (optional(c)?, optional(increment)?);
                let gap = if c.is_empty() { "" } else { " " };
                let further = if increment.is_empty() { "" } else { " " };
                format!(
                    "for ({init}{gap}{c};{further}{increment}) {}",
                    self.body(*body)?
                )
            }
            Node::Return(None) => "return;".to_owned(),
            Node::Return(Some(value)) => format!("return {};", condition(*value)?),
            Node::Break => "break;".to_owned(),
            Node::Continue => "continue;".to_owned(),
            Node::Goto(word) => format!("goto {};", self.word(word)?),
            Node::Compound(inner) => format!("{{ {} }}", self.statements(inner)?),
            Node::Null => ";".to_owned(),
            _ => return None,
        })
    }

    /// What a head governs. An `if` that is filled in could take an `else` that belongs to another one.
    fn body(&self, node: NodeId) -> Option<String> {
        let text = self.statement(node)?;
        let is_filled = matches!(self.pattern.node(node), Node::Statement(_));
        Some(match is_filled && text.starts_with("if") {
            true => format!("{{ {text} }}"),
            false => text,
        })
    }
}
