//! Reads the text of a pattern: C, whose holes are names with a `$` in front, and whose classes of operators stand in angle brackets.

use std::{
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

use patchwright_csource::{BinaryOperator, UnaryOperator};
use tree_sitter::{Node as Tree, Parser};

use crate::syntax::{Class, Node, NodeId, Operator, Pattern, Root, Word};

/// What is wrong with a text, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) at: usize,
    pub(crate) message: String,
}

fn wrong(at: usize, message: impl Into<String>) -> Wrong {
    Wrong {
        at,
        message: message.into(),
    }
}

/// What stands around a pattern so that it is a source.
const BEFORE_EXPRESSION: &str = "void f(void) { (";
const BEHIND_EXPRESSION: &str = "); }";
const BEFORE_STATEMENTS: &str = "void f(void) { ";
const BEHIND_STATEMENTS: &str = " }";

/// Reads a pattern: statements if the text ends with a semicolon or a brace, an expression otherwise.
pub(crate) fn pattern(text: &str) -> Result<Pattern, Wrong> {
    if text.trim().is_empty() {
        return Err(wrong(0, "a pattern is missing"));
    }
    let is_statements = text.trim_end().ends_with([';', '}']);
    let (before, behind) = match is_statements {
        true => (BEFORE_STATEMENTS, BEHIND_STATEMENTS),
        false => (BEFORE_EXPRESSION, BEHIND_EXPRESSION),
    };
    let (plain, classes) = plain(text)?;
    let whole = format!("{before}{plain}{behind}");
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_c::LANGUAGE.into())
        .expect("the grammar is of the parser's version");
    let tree = parser
        .parse(&whole, None)
        .expect("a parser with a language and without a time limit returns a tree");
    let mut reader = Reader {
        text: &whole,
        offset: before.len(),
        length: text.len(),
        classes,
        nodes: Vec::new(),
    };
    if let Some(error) = first_error(tree.root_node()) {
        return Err(reader.wrong(error, "this is not C"));
    }
    let body = tree.root_node().child(0).and_then(|function| {
        let is_function = function.kind() == "function_definition";
        function
            .child_by_field_name("body")
            .filter(|_| is_function && tree.root_node().child_count() == 1)
    });
    let Some(body) = body else {
        return Err(wrong(0, "this is neither an expression nor statements"));
    };
    let inner = named(body);
    let root = match is_statements {
        true => {
            let all: Result<Vec<NodeId>, Wrong> = inner
                .into_iter()
                .map(|child| reader.statement(child))
                .collect();
            Root::Statements(all?)
        }
        false => {
            let parens = inner.first().and_then(|statement| statement.named_child(0));
            let expression = parens
                .filter(|parens| parens.kind() == "parenthesized_expression" && inner.len() == 1);
            let Some(expression) = expression else {
                return Err(wrong(0, "this is not one expression"));
            };
            Root::Expression(reader.expression(expression)?)
        }
    };
    static READ: AtomicUsize = AtomicUsize::new(0);
    Ok(Pattern {
        number: READ.fetch_add(1, Ordering::Relaxed),
        nodes: reader.nodes,
        root,
    })
}

type Classes = Vec<(Range<usize>, String, Class)>;

/// The text as plain C of the same length, and where its classes of operators stand.
fn plain(text: &str) -> Result<(String, Classes), Wrong> {
    let mut plain = String::with_capacity(text.len());
    let mut classes = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("$..") {
            plain.push_str("$__");
            at += 3;
        } else if let Some((name, length)) = class_name(rest) {
            let Some(class) = Class::named(name) else {
                let message = format!(
                    "`<{name}>` is no class of operators; there are cmp, order, sum, product, logic, bits, and new for what an `each` finds"
                );
                return Err(wrong(at, message));
            };
            let is_assignment = rest[length..].starts_with('=');
            let sign = class.stand_in();
            let blanks = " ".repeat(length - sign.len());
            match is_assignment {
                // Only arithmetic can be assigned with.
                true if matches!(class, Class::Comparison | Class::Order | Class::Logic) => {
                    return Err(wrong(at, format!("`<{name}>=` is no assignment")));
                }
                true => plain.push_str(&format!(
                    "{blanks}{}",
                    if class == Class::Chosen { "+" } else { sign }
                )),
                false => plain.push_str(&format!("{sign}{blanks}")),
            }
            classes.push((at..at + length, name.to_owned(), class));
            at += length;
        } else {
            let c = rest.chars().next().unwrap_or_default();
            plain.push(c);
            at += c.len_utf8();
        }
    }
    Ok((plain, classes))
}

/// The name in angle brackets that a text begins with, and its length with them.
fn class_name(text: &str) -> Option<(&str, usize)> {
    let inner = text.strip_prefix('<')?;
    let end = inner.find(|c: char| !c.is_ascii_alphanumeric())?;
    let name = &inner[..end];
    let is_name = name.len() > 1 && name.starts_with(|c: char| c.is_ascii_lowercase());
    (is_name && inner[end..].starts_with('>')).then_some((name, end + 2))
}

fn first_error(node: Tree) -> Option<Tree> {
    if !node.has_error() {
        return None;
    }
    let inner = node.children(&mut node.walk()).find_map(first_error);
    inner.or_else(|| (node.is_error() || node.is_missing()).then_some(node))
}

fn named<'t>(node: Tree<'t>) -> Vec<Tree<'t>> {
    let all: Vec<Tree> = node.named_children(&mut node.walk()).collect();
    all.into_iter()
        .filter(|node| node.kind() != "comment")
        .collect()
}

struct Reader<'t> {
    text: &'t str,
    /// Where the pattern begins, and how long it is.
    offset: usize,
    length: usize,
    classes: Classes,
    nodes: Vec<Node>,
}

impl<'t> Reader<'t> {
    fn wrong(&self, node: Tree, message: impl Into<String>) -> Wrong {
        let at = node.start_byte().saturating_sub(self.offset);
        wrong(at.min(self.length), message)
    }

    fn add(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    fn text(&self, node: Tree) -> &'t str {
        &self.text[node.byte_range()]
    }

    fn field(&self, node: Tree<'t>, name: &str) -> Result<Tree<'t>, Wrong> {
        let child = node.child_by_field_name(name);
        child.ok_or_else(|| self.wrong(node, format!("the {name} is missing")))
    }

    fn word(&self, node: Tree) -> Word {
        let text = self.text(node);
        match text.strip_prefix('$') {
            Some(name) => Word::Hole(name.to_owned()),
            None => Word::Text(text.to_owned()),
        }
    }

    fn operator(&self, node: Tree, spelling: &str) -> Result<Operator, Wrong> {
        let start = node.start_byte().saturating_sub(self.offset);
        let class = self
            .classes
            .iter()
            .find(|(range, ..)| range.contains(&start));
        if let Some((_, name, class)) = class {
            return Ok(Operator::Any(name.clone(), *class));
        }
        let operator = BinaryOperator::from_spelling(spelling);
        let operator = operator
            .ok_or_else(|| self.wrong(node, format!("patterns have no operator `{spelling}`")))?;
        Ok(Operator::One(operator))
    }

    fn expression(&mut self, node: Tree<'t>) -> Result<NodeId, Wrong> {
        let own = self.text(node);
        let found = match node.kind() {
            "parenthesized_expression" => {
                let Some(inner) = named(node).first().copied() else {
                    return Err(self.wrong(node, "parentheses without an expression"));
                };
                return self.expression(inner);
            }
            "identifier" | "type_identifier" => match own.strip_prefix('$') {
                Some("" | "__") => return Err(self.wrong(node, "this hole has no name")),
                Some(name) => match name.strip_prefix("__") {
                    Some(name) => Node::Rest(name.to_owned()),
                    None => Node::Hole(name.to_owned()),
                },
                None => Node::Name(own.to_owned()),
            },
            "null" | "true" | "false" => Node::Name(own.to_owned()),
            "number_literal" => Node::Number {
                value: number(own)
                    .ok_or_else(|| self.wrong(node, format!("`{own}` is no whole number")))?,
                character: false,
                text: own.to_owned(),
            },
            "char_literal" => Node::Number {
                value: character(own)
                    .ok_or_else(|| self.wrong(node, format!("`{own}` is not one character")))?,
                character: true,
                text: own.to_owned(),
            },
            "string_literal" => Node::String(own.to_owned()),
            "field_expression" => {
                let base = self.field(node, "argument")?;
                let base = self.expression(base)?;
                Node::Member {
                    base,
                    arrow: self.text(self.field(node, "operator")?) == "->",
                    name: self.word(self.field(node, "field")?),
                }
            }
            "subscript_expression" => {
                let base = self.field(node, "argument")?;
                let index = self.field(node, "index")?;
                Node::Subscript(self.expression(base)?, self.expression(index)?)
            }
            "unary_expression" | "pointer_expression" => {
                let operand = self.field(node, "argument")?;
                let operator = match self.text(self.field(node, "operator")?) {
                    "-" => UnaryOperator::Minus,
                    "+" => UnaryOperator::Plus,
                    "~" => UnaryOperator::Complement,
                    "!" => UnaryOperator::Not,
                    "*" => UnaryOperator::Dereference,
                    "&" => UnaryOperator::AddressOf,
                    other => {
                        return Err(self.wrong(node, format!("patterns have no `{other}`")));
                    }
                };
                Node::Unary(operator, self.expression(operand)?)
            }
            "update_expression" => {
                let operand = self.field(node, "argument")?;
                let operator = self.field(node, "operator")?;
                Node::Step {
                    increment: self.text(operator) == "++",
                    prefix: operator.start_byte() < operand.start_byte(),
                    operand: self.expression(operand)?,
                }
            }
            "binary_expression" => {
                let sign = self.field(node, "operator")?;
                let operator = self.operator(sign, self.text(sign))?;
                let (left, right) = (self.field(node, "left")?, self.field(node, "right")?);
                Node::Binary(operator, self.expression(left)?, self.expression(right)?)
            }
            "comma_expression" => {
                let (left, right) = (self.field(node, "left")?, self.field(node, "right")?);
                let operator = Operator::One(BinaryOperator::Comma);
                Node::Binary(operator, self.expression(left)?, self.expression(right)?)
            }
            "assignment_expression" => {
                let sign = self.field(node, "operator")?;
                let operator = match self.text(sign) {
                    "=" => None,
                    other => Some(self.operator(sign, other.trim_end_matches('='))?),
                };
                let (left, right) = (self.field(node, "left")?, self.field(node, "right")?);
                Node::Assign(operator, self.expression(left)?, self.expression(right)?)
            }
            "conditional_expression" => {
                let condition = self.field(node, "condition")?;
                let then = self.field(node, "consequence")?;
                let otherwise = self.field(node, "alternative")?;
                Node::Conditional(
                    self.expression(condition)?,
                    self.expression(then)?,
                    self.expression(otherwise)?,
                )
            }
            "cast_expression" => {
                let ty = self.text(self.field(node, "type")?).to_owned();
                let value = self.field(node, "value")?;
                Node::Cast(ty, self.expression(value)?)
            }
            "sizeof_expression" => match node.child_by_field_name("value") {
                Some(value) => {
                    let text = self.text(value).to_owned();
                    Node::SizeOf(text, Some(self.expression(value)?))
                }
                None => Node::SizeOf(self.text(self.field(node, "type")?).to_owned(), None),
            },
            "call_expression" => {
                let callee = self.field(node, "function")?;
                let callee = self.expression(callee)?;
                let arguments = self.field(node, "arguments")?;
                let arguments: Result<Vec<NodeId>, Wrong> = named(arguments)
                    .into_iter()
                    .map(|argument| self.expression(argument))
                    .collect();
                Node::Call(callee, arguments?)
            }
            other => {
                let message = format!("patterns have no {}", other.replace('_', " "));
                return Err(self.wrong(node, message));
            }
        };
        Ok(self.add(found))
    }

    fn optional(&mut self, node: Tree<'t>, field: &str) -> Result<Option<NodeId>, Wrong> {
        let child = node.child_by_field_name(field);
        child.map(|child| self.expression(child)).transpose()
    }

    fn statement(&mut self, node: Tree<'t>) -> Result<NodeId, Wrong> {
        let found = match node.kind() {
            "expression_statement" => match named(node).first() {
                None => Node::Null,
                Some(inner) => {
                    let own = self.text(*inner);
                    let is_statement = |name: &str| name.starts_with(|c: char| c.is_uppercase());
                    match own.strip_prefix('$') {
                        Some("" | "__") => {
                            return Err(self.wrong(*inner, "this hole has no name"));
                        }
                        Some(name) if inner.kind() == "identifier" && name.starts_with("__") => {
                            Node::Rest(name.trim_start_matches('_').to_owned())
                        }
                        Some(name) if inner.kind() == "identifier" && is_statement(name) => {
                            Node::Statement(name.to_owned())
                        }
                        _ => Node::Expression(self.expression(*inner)?),
                    }
                }
            },
            "declaration" => {
                let ty = self.word(self.field(node, "type")?);
                let declarator = self.field(node, "declarator")?;
                let (name, value) = match declarator.kind() {
                    "identifier" => (declarator, None),
                    "init_declarator" => {
                        let value = self.field(declarator, "value")?;
                        let name = self.field(declarator, "declarator")?;
                        (name, Some(self.expression(value)?))
                    }
                    _ => return Err(self.wrong(declarator, "patterns declare one name")),
                };
                Node::Declaration {
                    ty,
                    name: self.word(name),
                    value,
                }
            }
            "if_statement" => {
                let condition = self.field(node, "condition")?;
                let then = self.field(node, "consequence")?;
                let otherwise = node.child_by_field_name("alternative");
                let otherwise = otherwise.and_then(|clause| named(clause).first().copied());
                let condition = self.expression(condition)?;
                let then = self.statement(then)?;
                let otherwise = otherwise.map(|inner| self.statement(inner)).transpose()?;
                Node::If(condition, then, otherwise)
            }
            "while_statement" => {
                let condition = self.field(node, "condition")?;
                let body = self.field(node, "body")?;
                Node::While(self.expression(condition)?, self.statement(body)?)
            }
            "do_statement" => {
                let condition = self.field(node, "condition")?;
                let body = self.field(node, "body")?;
                let body = self.statement(body)?;
                Node::Do(body, self.expression(condition)?)
            }
            "for_statement" => {
                let init = match node.child_by_field_name("initializer") {
                    Some(init) if init.kind() == "declaration" => Some(self.statement(init)?),
                    Some(init) => {
                        let inner = self.expression(init)?;
                        Some(self.add(Node::Expression(inner)))
                    }
                    None => None,
                };
                let condition = self.optional(node, "condition")?;
                let update = self.optional(node, "update")?;
                let body = self.field(node, "body")?;
                Node::For(init, condition, update, self.statement(body)?)
            }
            "return_statement" => {
                let value = named(node).first().copied();
                Node::Return(value.map(|value| self.expression(value)).transpose()?)
            }
            "break_statement" => Node::Break,
            "continue_statement" => Node::Continue,
            "goto_statement" => Node::Goto(self.word(self.field(node, "label")?)),
            "compound_statement" => {
                let inner: Result<Vec<NodeId>, Wrong> = named(node)
                    .into_iter()
                    .map(|child| self.statement(child))
                    .collect();
                Node::Compound(inner?)
            }
            other => {
                let message = format!("patterns have no {}", other.replace('_', " "));
                return Err(self.wrong(node, message));
            }
        };
        Ok(self.add(found))
    }
}

/// The value of a whole number as C writes it.
fn number(text: &str) -> Option<i128> {
    let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let lower = digits.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0x") {
        return i128::from_str_radix(digits, 16).ok();
    }
    if lower.len() > 1 && lower.starts_with('0') {
        return i128::from_str_radix(&lower, 8).ok();
    }
    digits.parse().ok()
}

/// The value of a character as C writes it.
fn character(text: &str) -> Option<i128> {
    let inner = text.strip_prefix('\'')?.strip_suffix('\'')?;
    let mut all = inner.chars();
    let value = match (all.next()?, all.next()) {
        ('\\', Some(escaped)) => match escaped {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '0' => '\0',
            other => other,
        },
        (plain, None) => plain,
        _ => return None,
    };
    Some(value as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_an_expression_or_statements() {
        let expression = pattern("$a[$i][$j]").unwrap();
        assert!(matches!(expression.root, Root::Expression(_)));
        assert_eq!(expression.holes(), ["a", "i", "j"]);
        let statements = pattern("if ($a <cmp> $b) { $..before; $S; } else return 0;").unwrap();
        assert_eq!(statements.statements().len(), 1);
        assert_eq!(statements.holes(), ["a", "b", "cmp", "before", "S"]);
    }

    #[test]
    fn what_is_no_pattern_is_told_with_its_place() {
        let error = pattern("$a + + ) $b").unwrap_err();
        assert_eq!(error.message, "this is not C");
        let error = pattern("$a <any> $b").unwrap_err();
        assert_eq!(error.at, 3);
        assert!(pattern("switch ($x) { }").is_err());
        assert!(pattern("").is_err());
    }
}
