//! Finds patches that may need more stack than the others. A woven program has a larger stack, so its
//! verdict says nothing about them.

use std::collections::BTreeSet;

use patchwright_csource::{ExprKind, Function, StmtKind, TranslationUnit, lex};
use patchwright_text::{Edit, Span};

use crate::planned::{PlannedPatch, SourceFile};
use crate::runs::extent;

/// Whether a patch calls functions that may lead back to the changed one, declares arrays in a function,
/// or changes declarations there.
pub fn may_take_more(planned: &PlannedPatch, sources: &[SourceFile]) -> bool {
    planned.files.iter().any(|file| {
        let source = &sources[file.file];
        let base = &source.unit.source;
        let functions = &source.unit.functions;
        let in_functions = file.functions.iter().any(|own| {
            let round = leading_to(functions, &functions[own.function].name);
            let function = &functions[own.function];
            let adds = |edit: &Edit| {
                if changes_declaration(&source.unit, function, edit) {
                    return true;
                }
                let old = edit.span.slice(base).unwrap_or_default();
                let calls = |text: &[u8]| {
                    let words = lex::words(text).into_iter();
                    words.filter(|word| round.contains(word.as_str())).count()
                };
                calls(&edit.text) > calls(old) || arrays(&edit.text) > arrays(old)
            };
            own.edits.iter().any(adds)
        });
        // What is added may call itself, and what it changes.
        let calls_again = |text: &[u8]| {
            let words = lex::words(text);
            let again = |name: &String| words.iter().filter(|word| *word == name).count() > 1;
            planned.brought.defined.iter().any(again) || arrays(text) > 0
        };
        in_functions
            || file
                .additions
                .iter()
                .any(|addition| calls_again(&addition.text))
    })
}

/// Whether an edit changes a declaration other than in what a variable begins with.
fn changes_declaration(unit: &TranslationUnit, function: &Function, edit: &Edit) -> bool {
    let at = edit.span;
    function.stmts.iter().any(|stmt| {
        let StmtKind::Declaration(variables) = &stmt.kind else {
            return false;
        };
        let is_inside = |span: Span| span.start < at.end.max(at.start + 1) && at.start < span.end;
        let begins = variables.iter().filter_map(|id| {
            let initializer = unit.variables[id.0 as usize].initializer?;
            function.expr(initializer).place.editable()
        });
        extent(stmt).is_some_and(is_inside)
            && !begins.into_iter().any(|span| span.contains_span(at))
    })
}

/// The names of functions of a file that call one, themselves or in turn, and its own.
fn leading_to<'f>(functions: &'f [Function], name: &'f str) -> BTreeSet<&'f str> {
    let mut found = BTreeSet::from([name]);
    loop {
        let before = found.len();
        for function in functions {
            let calls = |expr: &patchwright_csource::Expr| matches!(&expr.kind, ExprKind::Function(name) if found.contains(name.as_str()));
            if function.exprs.iter().any(calls) {
                found.insert(&function.name);
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// Number of declarations of arrays in a text, about: a name behind a word, with a bracket behind it; and of calls that take memory of
/// the stack.
fn arrays(text: &[u8]) -> usize {
    const STATEMENTS: [&str; 5] = ["return", "else", "do", "case", "sizeof"];
    let words = lex::words_with_places(text);
    let declares = |pair: &&[(String, usize)]| {
        let [(first, at), (name, place)] = pair else {
            return false;
        };
        let between = &text[at + first.len()..*place];
        let behind = text[place + name.len()..].trim_ascii_start();
        let is_gap = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'*';
        !between.is_empty()
            && between.iter().all(is_gap)
            && behind.starts_with(b"[")
            && !STATEMENTS.contains(&first.as_str())
    };
    let taken = words.iter().filter(|(word, _)| word.ends_with("alloca"));
    words.windows(2).filter(declares).count() + taken.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_told_from_their_elements() {
        assert_eq!(arrays(b"char buffer[1 << 20]; int a [3], *b[4];"), 2);
        assert_eq!(arrays(b"return table[n] + x[1]; else a[0] = 1;"), 0);
        assert_eq!(arrays(b"p = alloca(n);"), 1);
    }
}
