//! Describes small fixes whose files need not compile, by the text of their functions alone.

use std::sync::Arc;

use patchwright_space::Schema;
use patchwright_text::{Edit, Span};
use similar::{Algorithm, DiffOp, capture_diff_slices};
use tree_sitter::{Node, Parser};

use super::{
    surprise::Habits,
    tokens::placed_tokens,
    traits::{Change, FunctionFacts, Traits, changed},
};

/// Returns the number of places in which the words and signs of two texts differ.
pub fn places(before: &[u8], after: &[u8]) -> usize {
    let (old, new) = changed(before, after);
    let operations = capture_diff_slices(Algorithm::Myers, &old, &new);
    let differs = |operation: &&DiffOp| !matches!(operation, DiffOp::Equal { .. });
    operations.iter().filter(differs).count()
}

/// Returns the traits of a change in one place of one function, or `None` for other changes. What they say of the kind of
/// change and its cost means nothing.
pub fn untyped(old: &[u8], new: &[u8]) -> Option<Traits> {
    if places(old, new) != 1 {
        return None;
    }
    let (before, after) = (placed_tokens(old), placed_tokens(new));
    let begin = before.iter().zip(&after);
    let begin = begin.take_while(|(a, b)| a.0 == b.0).count();
    let shorter = before.len().min(after.len());
    let end = before.iter().rev().zip(after.iter().rev());
    let end = end.take_while(|(a, b)| a.0 == b.0).count();
    let end = end.min(shorter - begin);
    let at = before.get(begin)?.1;
    let function = function(old, at)?;
    // The whole statement: candidates are changes of statements and conditions.
    let is_start = |token: &[u8]| matches!(token, b";" | b"{" | b"}");
    let first = before[..begin].iter().rposition(|token| is_start(token.0));
    let first = first.map_or(0, |at| at + 1);
    let behind = before.len() - end;
    let last = before[behind.max(first + 1) - 1..].iter();
    let last = last.take_while(|token| !is_start(token.0)).count() + behind.max(first + 1);
    let last = last.min(before.len());
    let last_after = after.len().checked_sub(before.len() - last)?;
    if first >= last || first >= last_after {
        return None;
    }
    let stop = |token: &(&[u8], usize)| token.1 + token.0.len();
    let span = Span::new(before[first].1 as u32, stop(&before[last - 1]) as u32);
    if !function.contains_span(span) {
        return None;
    }
    let text = new[after[first].1..stop(&after[last_after - 1])].to_vec();
    let edit = Edit { span, text };
    let facts = FunctionFacts::of_text(old, function).with_habits(Arc::new(Habits::of(old)));
    Some(facts.traits(Change {
        source: old,
        edit: &edit,
        kind: Schema::Expression,
        cost: 1,
        is_local: true,
        crash: false,
    }))
}

/// The function in which an offset is.
fn function(text: &[u8], at: usize) -> Option<Span> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
    let tree = parser.parse(text, None)?;
    let mut node: Node<'_> = tree.root_node().descendant_for_byte_range(at, at + 1)?;
    while node.kind() != "function_definition" {
        node = node.parent()?;
    }
    let range = node.byte_range();
    Some(Span::new(range.start as u32, range.end as u32))
}

#[cfg(test)]
mod tests {
    use super::{places, untyped};
    use crate::likelihood::{Form, Origin, Shape};

    const OLD: &[u8] =
        b"int g(int n);\nint f(char *p, int n)\n{\n  if (*p > n)\n    n = g(n);\n  return n;\n}\n";

    #[test]
    fn an_added_operand_is_one_of_its_condition() {
        let new = String::from_utf8_lossy(OLD).replace("*p > n", "p && *p > n");
        let traits = untyped(OLD, new.as_bytes()).unwrap();
        assert_eq!(traits.form, Form::AddedConjunct);
        assert_eq!(traits.shape, Shape::Truth);
        assert_eq!(traits.leaf, Origin::Statement);
    }

    #[test]
    fn a_change_in_two_places_has_two() {
        let before = b"{ if (a < b) c(d); }";
        assert_eq!(places(before, b"{ if (a <= b) { c(d); } }"), 1);
        assert_eq!(places(before, b"{ if (a <= b) c(e); }"), 2);
    }

    #[test]
    fn an_inserted_statement_is_inserted() {
        let new = String::from_utf8_lossy(OLD).replace("  return", "  n = 0;\n  return");
        let traits = untyped(OLD, new.as_bytes()).unwrap();
        assert_eq!(traits.form, Form::InsertedAssignment);
        assert_eq!(traits.removed, 0);
    }

    #[test]
    fn changes_outside_of_functions_and_in_two_places_are_left_out() {
        let text = String::from_utf8_lossy(OLD);
        let outside = text.replace("int g(int n)", "int g(long n)");
        assert!(untyped(OLD, outside.as_bytes()).is_none());
        let two = text
            .replace("*p > n", "*p >= n")
            .replace("g(n)", "g(n + 1)");
        assert!(untyped(OLD, two.as_bytes()).is_none());
    }
}
