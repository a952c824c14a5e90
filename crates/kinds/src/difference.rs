//! The edit that makes of a place what the pattern of the replacement says.
//!
//! What stands in both patterns stays as it is written, with its layout and its comments. So the edit is as small as the change, and the text that is
//! compiled is the text that is reported.

use patchwright_csource::{BinaryOperator, ExprId, StmtId, StmtKind, lex};
use patchwright_text::{Edit, Span};

use crate::{
    layout::{
        choice_of_statements, delete_statement, guard_statement, insertion, insertion_after,
        insertion_as_else,
    },
    matches::{At, Match, Value},
    print::{Printer, needs_parentheses},
    syntax::{Node, NodeId, Operator, Pattern, Word},
    tree::{Tree, mirrored},
};

/// Makes the edits that turn one pattern into another at the place where it was found.
pub(crate) struct Difference<'m, 'a> {
    tree: &'m Tree<'a>,
    old: &'m Pattern,
    new: &'m Pattern,
    found: &'m Match,
    edits: Vec<Edit>,
}

/// The edits that make of an expression the one of the new pattern.
pub(crate) fn of_expression(
    tree: &Tree<'_>,
    (old, from): (&Pattern, NodeId),
    (new, to): (&Pattern, NodeId),
    found: &Match,
) -> Option<Vec<Edit>> {
    let mut difference = Difference {
        tree,
        old,
        new,
        found,
        edits: Vec::new(),
    };
    difference.expression(from, to)?;
    Some(difference.edits)
}

/// Makes the edits that turn statements in a row into those of the new pattern. `is_body` says that a single statement stands where the
/// grammar wants one.
pub(crate) fn of_statements(
    tree: &Tree<'_>,
    (old, new): (&Pattern, &Pattern),
    found: &Match,
    is_body: bool,
) -> Option<Vec<Edit>> {
    let mut difference = Difference {
        tree,
        old,
        new,
        found,
        edits: Vec::new(),
    };
    difference.row(old.statements(), new.statements(), is_body)?;
    Some(difference.edits)
}

/// The edit that writes an expression anew.
pub(crate) fn replaced(
    tree: &Tree<'_>,
    id: ExprId,
    (new, to): (&Pattern, NodeId),
    found: &Match,
) -> Option<Edit> {
    let printer = Printer {
        tree,
        pattern: new,
        found,
        on_one_line: false,
    };
    let span = tree.place(id)?;
    let text = printer.within(to, tree.least(tree.placed(id)))?;
    // `- -1`
    let before = tree.unit.source[..span.start as usize].last();
    let text = match (before, text.as_bytes().first()) {
        (Some(b'-'), Some(b'-')) | (Some(b'+'), Some(b'+')) | (Some(b'&'), Some(b'&')) => {
            format!("({text})")
        }
        _ => text,
    };
    Some(Edit::replace(span, text))
}

/// Joins several edits to one that covers them; `None` without edits, or if two conflict.
pub(crate) fn composed(source: &[u8], mut edits: Vec<Edit>) -> Option<Edit> {
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let first = edits.first()?.span.start;
    let mut at = first;
    let mut text: Vec<u8> = Vec::new();
    for edit in &edits {
        if edit.span.start < at {
            return None;
        }
        text.extend_from_slice(&source[at as usize..edit.span.start as usize]);
        text.extend_from_slice(&edit.text);
        at = edit.span.end;
    }
    Some(Edit::replace(Span::new(first, at), text))
}

impl<'a> Difference<'_, 'a> {
    fn printer(&self) -> Printer<'_, 'a> {
        Printer {
            tree: self.tree,
            pattern: self.new,
            found: self.found,
            on_one_line: false,
        }
    }

    fn expression_at(&self, node: NodeId) -> Option<ExprId> {
        match self.found.nodes.get(&node)? {
            At::Expression(id) => Some(*id),
            At::Statement(_) => None,
        }
    }

    fn statement_at(&self, node: NodeId) -> Option<StmtId> {
        match self.found.nodes.get(&node)? {
            At::Statement(id) => Some(*id),
            At::Expression(_) => None,
        }
    }

    fn is_same_hole(&self, old: NodeId, new: NodeId) -> bool {
        match (self.old.node(old), self.new.node(new)) {
            (Node::Hole(a), Node::Hole(b))
            | (Node::Rest(a), Node::Rest(b))
            | (Node::Statement(a), Node::Statement(b)) => a == b,
            (a @ (Node::Number { .. } | Node::String(_) | Node::Name(_)), b) => a == b,
            _ => false,
        }
    }

    /// Whether a part of the new pattern is all of a part of the old one.
    fn contains(&self, new: NodeId, old: NodeId) -> bool {
        let is_plain = matches!(self.old.node(old), Node::Binary(..));
        let mut parts = children(self.new.node(new)).into_iter();
        is_plain && (self.is_equal(new, old) || parts.any(|part| self.contains(part, old)))
    }

    fn is_equal(&self, new: NodeId, old: NodeId) -> bool {
        let (one, other) = (self.new.node(new), self.old.node(old));
        let same = match (one, other) {
            (Node::Binary(a, ..), Node::Binary(b, ..)) => a == b,
            (Node::Subscript(..), Node::Subscript(..)) | (Node::Call(..), Node::Call(..)) => true,
            (Node::Unary(a, _), Node::Unary(b, _)) => a == b,
            (Node::Cast(a, _), Node::Cast(b, _)) => a == b,
            (
                Node::Member { arrow, name, .. },
                Node::Member {
                    arrow: a, name: n, ..
                },
            ) => arrow == a && name == n,
            _ => self.is_same_hole(old, new),
        };
        let (left, right) = (children(one), children(other));
        same && left.len() == right.len()
            && left
                .into_iter()
                .zip(right)
                .all(|(new, old)| self.is_equal(new, old))
    }

    fn expression(&mut self, old: NodeId, new: NodeId) -> Option<()> {
        if self.is_same_hole(old, new) {
            return Some(());
        }
        // Something is put around all that is there.
        if self.contains(new, old) && !self.is_equal(new, old) {
            return self.replace(old, new);
        }
        match (self.old.node(old), self.new.node(new)) {
            (Node::Subscript(a, i), Node::Subscript(b, j)) => {
                self.expression(*a, *b)?;
                self.expression(*i, *j)
            }
            (Node::Unary(one, a), Node::Unary(other, b)) if one == other => self.expression(*a, *b),
            (
                Node::Step {
                    increment,
                    prefix,
                    operand,
                },
                Node::Step {
                    increment: same,
                    prefix: side,
                    operand: other,
                },
            ) if increment == same && prefix == side => self.expression(*operand, *other),
            (
                Node::Member { base, arrow, name },
                Node::Member {
                    base: other,
                    arrow: other_arrow,
                    name: other_name,
                },
            ) if arrow == other_arrow => {
                if name != other_name {
                    self.member(old, new)?;
                }
                self.expression(*base, *other)
            }
            (Node::Binary(one, a, b), Node::Binary(other, c, d)) => {
                let (from, to) = (self.before(one)?, self.printer().operator(other)?);
                if from != to && !self.operator(old, (from, to), (*a, *b))? {
                    return self.replace(old, new);
                }
                self.expression(*a, *c)?;
                self.expression(*b, *d)
            }
            (Node::Assign(one, a, b), Node::Assign(other, c, d)) => {
                if one != other {
                    let spelled = |operator: Option<BinaryOperator>| match operator {
                        Some(operator) => format!("{}=", operator.spelling()),
                        None => "=".to_owned(),
                    };
                    let from = match one {
                        Some(one) => Some(self.before(one)?),
                        None => None,
                    };
                    let to = match other {
                        Some(other) => Some(self.printer().operator(other)?),
                        None => None,
                    };
                    let (left, right) = (self.expression_at(*a)?, self.expression_at(*b)?);
                    let place = operator_between(self.tree, left, right, &spelled(from))?;
                    self.edits.push(Edit::replace(place, spelled(to)));
                }
                self.expression(*a, *c)?;
                self.expression(*b, *d)
            }
            (Node::Call(one, own), Node::Call(other, wanted)) if own.len() == wanted.len() => {
                self.expression(*one, *other)?;
                for (a, b) in own.iter().zip(wanted) {
                    self.expression(*a, *b)?;
                }
                Some(())
            }
            (Node::Conditional(a, b, c), Node::Conditional(d, e, f)) => {
                self.expression(*a, *d)?;
                self.expression(*b, *e)?;
                self.expression(*c, *f)
            }
            (Node::Cast(ty, a), Node::Cast(other, b)) if ty == other => self.expression(*a, *b),
            _ => self.replace(old, new),
        }
    }

    /// The operator that the old pattern has found.
    fn before(&self, operator: &Operator) -> Option<BinaryOperator> {
        self.printer().operator(operator)
    }

    /// Another operator between the operands that stay; whether it can stand there.
    fn operator(
        &mut self,
        node: NodeId,
        (from, to): (BinaryOperator, BinaryOperator),
        (left, right): (NodeId, NodeId),
    ) -> Option<bool> {
        let (mut left, mut right) = (self.expression_at(left)?, self.expression_at(right)?);
        let (mut from, mut to) = (from, to);
        if self.found.mirrored.contains(&node) {
            std::mem::swap(&mut left, &mut right);
            (from, to) = (mirrored(from)?, mirrored(to)?);
        }
        let own = self.expression_at(node)?;
        let fits = from.precedence() == to.precedence()
            || !needs_parentheses(to.precedence(), self.tree.least(own))
                && !needs_parentheses(
                    self.tree.precedence(left),
                    crate::tree::operand_of(to, true),
                )
                && !needs_parentheses(
                    self.tree.precedence(right),
                    crate::tree::operand_of(to, false),
                );
        if !fits {
            return Some(false);
        }
        let Some(place) = operator_between(self.tree, left, right, from.spelling()) else {
            return Some(false);
        };
        self.edits.push(Edit::replace(place, to.spelling()));
        Some(true)
    }

    /// Another member.
    fn member(&mut self, old: NodeId, new: NodeId) -> Option<()> {
        let (Node::Member { name: from, .. }, Node::Member { name: to, .. }) =
            (self.old.node(old), self.new.node(new))
        else {
            return None;
        };
        let word = |word: &Word| match word {
            Word::Text(text) => Some(text.clone()),
            Word::Hole(name) => {
                let value = self.found.values.get(name)?;
                self.printer().value(value).map(|(text, _)| text)
            }
        };
        let (from, to) = (word(from)?, word(to)?);
        let place = self.tree.place(self.expression_at(old)?)?;
        let start = place.end.checked_sub(from.len() as u32)?;
        let name = Span::new(start, place.end);
        if self.tree.text(name) != from {
            return None;
        }
        self.edits.push(Edit::replace(name, to));
        Some(())
    }

    /// The whole expression is written anew.
    fn replace(&mut self, old: NodeId, new: NodeId) -> Option<()> {
        let id = self.expression_at(old)?;
        let edit = replaced(self.tree, id, (self.new, new), self.found)?;
        self.edits.push(edit);
        Some(())
    }

    fn statement(&mut self, old: NodeId, new: NodeId, is_body: bool) -> Option<()> {
        if self.is_same_hole(old, new) {
            return Some(());
        }
        match (self.old.node(old), self.new.node(new)) {
            (Node::Expression(a), Node::Expression(b)) => self.expression(*a, *b),
            (Node::Return(Some(a)), Node::Return(Some(b))) => self.expression(*a, *b),
            (Node::Return(None), Node::Return(None))
            | (Node::Break, Node::Break)
            | (Node::Continue, Node::Continue)
            | (Node::Null, Node::Null) => Some(()),
            (
                Node::Declaration { value: a, ty, name },
                Node::Declaration {
                    value: b,
                    ty: t,
                    name: n,
                },
            ) if ty == t && name == n => match (a, b) {
                (Some(a), Some(b)) => self.expression(*a, *b),
                _ => None,
            },
            (Node::While(c, body), Node::While(d, other)) => {
                self.expression(*c, *d)?;
                self.statement(*body, *other, true)
            }
            (Node::Do(body, c), Node::Do(other, d)) => {
                self.statement(*body, *other, true)?;
                self.expression(*c, *d)
            }
            (Node::For(a, b, c, body), Node::For(d, e, f, other)) => {
                match (a, d) {
                    (Some(a), Some(d)) => self.statement(*a, *d, false)?,
                    (None, None) => {}
                    _ => return self.replace_statement(old, new),
                }
                for pair in [(b, e), (c, f)] {
                    match pair {
                        (Some(one), Some(other)) => self.expression(*one, *other)?,
                        (None, None) => {}
                        _ => return self.replace_statement(old, new),
                    }
                }
                self.statement(*body, *other, true)
            }
            (Node::If(c, a, b), Node::If(d, x, y)) => self.branches((*c, *a, *b), (*d, *x, *y)),
            (Node::Compound(own), Node::Compound(wanted)) => {
                let is_block = matches!(
                    self.tree.function.stmt(self.statement_at(old)?).kind,
                    StmtKind::Compound(_)
                );
                let (own, wanted) = (own.clone(), wanted.clone());
                self.row(&own, &wanted, !is_block)
            }
            // A statement under a condition.
            (Node::Statement(name), Node::If(condition, then, None)) if matches!(self.new.node(*then), Node::Statement(same) if same == name) =>
            {
                let id = self.statement_at(old)?;
                let (condition, _) = self.printer().expression(*condition)?;
                let source = &self.tree.unit.source;
                let span = self.tree.statement_place(id)?;
                self.edits
                    .push(guard_statement(source, span, is_body, &condition));
                Some(())
            }
            // And what is done instead.
            (Node::Statement(name), Node::If(condition, then, Some(otherwise))) if matches!(self.new.node(*then), Node::Statement(same) if same == name) =>
            {
                let id = self.statement_at(old)?;
                let (condition, _) = self.printer().expression(*condition)?;
                let otherwise = self.printer().statement(*otherwise)?;
                let source = &self.tree.unit.source;
                let span = self.tree.statement_place(id)?;
                self.edits.push(choice_of_statements(
                    source,
                    span,
                    is_body,
                    (&condition, &otherwise),
                ));
                Some(())
            }
            _ => self.replace_statement(old, new),
        }
    }

    fn replace_statement(&mut self, old: NodeId, new: NodeId) -> Option<()> {
        let span = self.tree.statement_place(self.statement_at(old)?)?;
        let text = self.printer().statement(new)?;
        self.edits.push(Edit::replace(span, text));
        Some(())
    }

    fn branches(
        &mut self,
        (c, a, b): (NodeId, NodeId, Option<NodeId>),
        (d, x, y): (NodeId, NodeId, Option<NodeId>),
    ) -> Option<()> {
        self.expression(c, d)?;
        self.statement(a, x, true)?;
        let then = self.statement_at(a)?;
        let end = self.tree.statement_place(then)?.end;
        match (b, y) {
            (None, None) => Some(()),
            (Some(b), Some(y)) => self.statement(b, y, true),
            (Some(b), None) => {
                let other = self.tree.statement_place(self.statement_at(b)?)?;
                self.edits
                    .push(Edit::replace(Span::new(end, other.end), ""));
                Some(())
            }
            (None, Some(y)) => {
                // Of `if (a) if (b) x;` it would be the inner one's.
                if takes_else(self.tree, then) {
                    return None;
                }
                let text = self.printer().statement(y)?;
                let is_block = matches!(self.tree.function.stmt(then).kind, StmtKind::Compound(_));
                let is_simple = !text.starts_with('{') && !text.starts_with("if");
                let edit = match is_block || !is_simple {
                    true => Edit::insert(end, format!(" else {text}")),
                    false => {
                        let outer = self.tree.around(then)?.0;
                        let span = self.tree.statement_place(outer)?;
                        insertion_as_else(&self.tree.unit.source, span, false, &text)
                    }
                };
                self.edits.push(edit);
                Some(())
            }
        }
    }

    /// Statements in a row.
    fn row(&mut self, old: &[NodeId], new: &[NodeId], is_body: bool) -> Option<()> {
        if let ([one], [other]) = (old, new) {
            return self.statement(*one, *other, is_body);
        }
        let pairs = self.pairs(old, new);
        let source = &self.tree.unit.source;
        for (place, &node) in old.iter().enumerate() {
            match pairs.iter().find(|(from, _)| *from == place) {
                Some(&(_, to)) => self.statement(node, new[to], is_body)?,
                None => {
                    for id in self.of(node) {
                        let span = self.tree.statement_place(id)?;
                        self.edits.push(delete_statement(source, span, is_body));
                    }
                }
            }
        }
        for (place, &node) in new.iter().enumerate() {
            if pairs.iter().any(|(_, to)| *to == place) {
                continue;
            }
            let text = Printer {
                on_one_line: true,
                ..self.printer()
            };
            let text = text.statement(node)?;
            let next = pairs.iter().find(|(_, to)| *to > place);
            let before = pairs.iter().rfind(|(_, to)| *to < place);
            let next = next.and_then(|(from, _)| self.of(old[*from]).first().copied());
            let before = before.and_then(|(from, _)| self.of(old[*from]).last().copied());
            let edit = match (before, next) {
                (_, Some(next)) => {
                    insertion(source, self.tree.statement_place(next)?, is_body, &text)
                }
                (Some(before), None) => {
                    insertion_after(source, self.tree.statement_place(before)?, is_body, &text)
                }
                (None, None) => return None,
            };
            self.edits.push(edit);
        }
        Some(())
    }

    /// The statements that a node of the old pattern has found.
    fn of(&self, node: NodeId) -> Vec<StmtId> {
        match self.old.node(node) {
            Node::Rest(name) => match self.found.values.get(name) {
                Some(Value::Statements(all)) => all.clone(),
                _ => Vec::new(),
            },
            _ => self.statement_at(node).into_iter().collect(),
        }
    }

    /// The places of the old row whose statement stays, each with its place in the new one: the most that are possible in order.
    fn pairs(&self, old: &[NodeId], new: &[NodeId]) -> Vec<(usize, usize)> {
        let mut best = vec![vec![0usize; new.len() + 1]; old.len() + 1];
        for i in (0..old.len()).rev() {
            for j in (0..new.len()).rev() {
                let paired = self.corresponds(old[i], new[j]) * 4;
                let taken = if paired > 0 {
                    paired + best[i + 1][j + 1]
                } else {
                    0
                };
                best[i][j] = taken.max(best[i + 1][j]).max(best[i][j + 1]);
            }
        }
        let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
        while i < old.len() && j < new.len() {
            let paired = self.corresponds(old[i], new[j]) * 4;
            if paired > 0 && best[i][j] == paired + best[i + 1][j + 1] {
                pairs.push((i, j));
                (i, j) = (i + 1, j + 1);
            } else if best[i][j] == best[i + 1][j] {
                i += 1;
            } else {
                j += 1;
            }
        }
        pairs
    }

    /// How well two statements correspond: 2 if they are the same, 1 if they are of one form, 0 otherwise.
    fn corresponds(&self, old: NodeId, new: NodeId) -> usize {
        if self.is_same_hole(old, new) {
            return 2;
        }
        let (one, other) = (self.old.node(old), self.new.node(new));
        let wraps = matches!(
            (one, other),
            (Node::Statement(name), Node::If(_, then, _))
                if matches!(self.new.node(*then), Node::Statement(same) if same == name)
        );
        let is_hole = matches!(one, Node::Statement(_) | Node::Rest(_));
        let same_form = std::mem::discriminant(one) == std::mem::discriminant(other);
        usize::from(wraps || same_form && !is_hole)
    }
}

/// The expressions directly in one.
fn children(node: &Node) -> Vec<NodeId> {
    match node {
        Node::Subscript(a, b) | Node::Binary(_, a, b) => vec![*a, *b],
        Node::Unary(_, a) | Node::Cast(_, a) | Node::Member { base: a, .. } => vec![*a],
        Node::Call(callee, arguments) => std::iter::once(*callee)
            .chain(arguments.iter().copied())
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether an `else` behind a statement would belong to an `if` in it.
fn takes_else(tree: &Tree<'_>, id: StmtId) -> bool {
    match &tree.function.stmt(id).kind {
        StmtKind::If {
            otherwise: None, ..
        } => true,
        StmtKind::If {
            otherwise: Some(inner),
            ..
        }
        | StmtKind::While { body: inner, .. }
        | StmtKind::For { body: inner, .. }
        | StmtKind::Label { body: inner, .. } => takes_else(tree, *inner),
        _ => false,
    }
}

/// Returns the place of the operator between two operands, if only parentheses stand between them besides.
pub(crate) fn operator_between(
    tree: &Tree<'_>,
    left: ExprId,
    right: ExprId,
    operator: &str,
) -> Option<Span> {
    let (left, right) = (tree.place(left)?, tree.place(right)?);
    if left.end > right.start {
        return None;
    }
    let text = tree.text(Span::new(left.end, right.start));
    let start = left.end + lex::sign_between(&text, operator)? as u32;
    Some(Span::new(start, start + operator.len() as u32))
}
