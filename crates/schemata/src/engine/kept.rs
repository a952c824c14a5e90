//! Finds out whether the compiler keeps the statements of static functions in which patches put calls.
//!
//! What a compiler finds to be unreachable in a static function depends on its callers, so a copy beside it does not tell. But a
//! patch of one statement does not change whether that statement is reached. So a mark is set before it in the untouched function, and one
//! compilation of the file with all marks tells which statements are kept. Another one, with all the calls at those that are not, tells
//! whether these calls are removed with them.

use std::collections::BTreeMap;

use patchwright_csource::{Function, Place as Written, StmtKind, lex};
use patchwright_exec::Worker;
use patchwright_text::{Edit, Span, apply_edits};

use crate::compiler::CompilerError;
use crate::linked::Symbols;
use crate::outside::{Renames, renamed};
use crate::planned::{PlannedPatch, SourceFile};
use crate::runs::alternative;
use crate::undeclared_calls::UndeclaredCall;

/// Whether the compiler keeps or removes the statement of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// It keeps the statement, and whoever comes there evaluates the call, if nothing that is written before it in the patch ends the function.
    Kept,
    /// It removes the statement, whatever of these calls stand there.
    Removed,
    /// A compilation of the patch alone can tell.
    Unknown,
}

/// The calls of patches in one source, with the statements in which they stand.
pub struct Places<'a> {
    source: &'a SourceFile,
    calls: &'a [&'a UndeclaredCall],
    /// For each of them its statement, and what the patch makes of that.
    statements: Vec<Option<(Span, Vec<u8>)>>,
}

impl<'a> Places<'a> {
    /// Finds the statements of those calls that are evaluated whenever their statement is reached.
    pub fn new(
        source: &'a SourceFile,
        calls: &'a [&'a UndeclaredCall],
        planned: &[PlannedPatch],
    ) -> Self {
        let of_call = |call: &&UndeclaredCall| {
            let own = planned.iter().find(|own| own.patch == call.patch)?;
            let edit = only_edit(own)?;
            let span = unconditional(source, call, edit)?;
            let patched = alternative(&source.unit.source, span, std::slice::from_ref(edit));
            Some((span, patched))
        };
        Self {
            source,
            calls,
            statements: calls.iter().map(of_call).collect(),
        }
    }

    /// Returns what becomes of each call. It takes at most two compilations, and adds them to
    /// `compilations`.
    ///
    /// # Errors
    /// A compiler that cannot be run, and files that cannot be written.
    pub fn ask(
        &self,
        worker: &mut Worker,
        compilations: &mut usize,
    ) -> Result<Vec<Place>, CompilerError> {
        let mut marks: BTreeMap<Span, usize> = BTreeMap::new();
        for (span, _) in self.statements.iter().flatten() {
            let number = marks.len();
            marks.entry(*span).or_insert(number);
        }
        let mut places = vec![Place::Unknown; self.calls.len()];
        let marked = marks.iter().map(|(span, number)| (*span, marked(*number)));
        let Some(symbols) = self.symbols(worker, marked, compilations)? else {
            return Ok(places);
        };
        let mut removed: BTreeMap<Span, Vec<u8>> = BTreeMap::new();
        for (number, statement) in self.statements.iter().enumerate() {
            let Some((span, patched)) = statement else {
                continue;
            };
            if symbols.contain(&mark(marks[span])) {
                places[number] = Place::Kept;
                continue;
            }
            let renames = Renames::from([(self.calls[number].name.clone(), call(number))]);
            let all = removed.entry(*span).or_default();
            all.extend_from_slice(b"if (__pw_perhaps()) { ");
            all.extend_from_slice(&renamed(patched, &renames));
            all.extend_from_slice(b" } ");
        }
        let Some(symbols) = self.symbols(worker, removed.into_iter(), compilations)? else {
            return Ok(places);
        };
        // One that is not removed may be what keeps another one.
        let stands = |number: usize| symbols.contain(&call(number));
        if !(0..self.calls.len()).any(stands) {
            for (place, statement) in places.iter_mut().zip(&self.statements) {
                if *place == Place::Unknown && statement.is_some() {
                    *place = Place::Removed;
                }
            }
        }
        Ok(places)
    }

    /// The names in what the compiler makes of the source with these texts before statements; `None` if there are none, or it does not
    /// compile.
    fn symbols(
        &self,
        worker: &mut Worker,
        before: impl Iterator<Item = (Span, Vec<u8>)>,
        compilations: &mut usize,
    ) -> Result<Option<Symbols>, CompilerError> {
        let mut edits: Vec<Edit> = Vec::new();
        for (span, text) in before {
            edits.push(Edit::insert(span.start, [b"{ ", &text[..]].concat()));
            edits.push(Edit::insert(span.end, " }"));
        }
        edits.sort_by_key(|edit| edit.span.start);
        let Ok(text) = apply_edits(&self.source.unit.source, &edits) else {
            return Ok(None);
        };
        if edits.is_empty() {
            return Ok(None);
        }
        *compilations += 1;
        let object = self.source.compiler.object(worker, &text)?;
        Ok(object.map(|object| Symbols::of(&object)))
    }
}

/// The name by which a patched statement calls what is not declared.
fn call(number: usize) -> String {
    format!("__pw_removed_{number}_")
}

/// The name that an object refers to if it has the statement with this mark.
fn mark(number: usize) -> String {
    format!("__pw_kept_{number}_")
}

/// What stands before a statement with this mark: no instruction, and nothing that the compiler would have to reckon with.
fn marked(number: usize) -> Vec<u8> {
    let name = mark(number);
    format!(
        "__asm__ __inline__ __volatile__ (\".pushsection .pw_kept\\n\\t.dc.a {name}\\n\\t.popsection\"); "
    )
    .into_bytes()
}

/// The edit of a patch that has no other.
fn only_edit(planned: &PlannedPatch) -> Option<&Edit> {
    let [file] = &planned.files[..] else {
        return None;
    };
    match &file.functions[..] {
        [function] if !planned.adds() => match &function.edits[..] {
            [edit] => Some(edit),
            _ => None,
        },
        _ => None,
    }
}

/// The statement in which `edit` puts the call, if whoever reaches that statement evaluates the call.
fn unconditional(source: &SourceFile, call: &UndeclaredCall, edit: &Edit) -> Option<Span> {
    let function = &source.unit.functions[call.function];
    let in_macro = function.exprs.iter().any(|expr| match expr.place {
        Written::Written(_) => false,
        Written::MacroArgument { invocation, .. } | Written::MacroBody { invocation } => {
            invocation.contains_span(edit.span)
        }
        _ => true,
    });
    if in_macro {
        return None;
    }
    let (statement, expression) = innermost(function, edit.span)?;
    let text = &source.unit.source;
    let before = Span::new(expression.start, edit.span.start).slice(text)?;
    let words = lex::words_with_places(&edit.text);
    let (_, at) = words.iter().find(|(word, _)| *word == call.name)?;
    let own = &edit.text[..*at];
    // A word before a parenthesis may be a macro, or an operator that does not evaluate; what is written already is known.
    (is_evaluated_on(before) && is_evaluated_on(own) && !own.contains(&b'(')).then_some(statement)
}

/// The innermost statement that evaluates an expression around `span`, and this expression's span.
fn innermost(function: &Function, span: Span) -> Option<(Span, Span)> {
    let statements = function.stmts.iter().filter_map(|stmt| {
        let Written::Written(whole) = stmt.place else {
            return None;
        };
        let first = match stmt.kind {
            StmtKind::Expression(first)
            | StmtKind::If {
                condition: first, ..
            }
            | StmtKind::While {
                condition: first, ..
            }
            | StmtKind::Switch {
                condition: first, ..
            }
            | StmtKind::Return(Some(first)) => first,
            _ => return None,
        };
        let Written::Written(expression) = function.expr(first).place else {
            return None;
        };
        expression
            .contains_span(span)
            .then_some((whole, expression))
    });
    statements.min_by_key(|(whole, _)| whole.len())
}

/// Whether what stands behind this beginning of an expression is evaluated in any case.
fn is_evaluated_on(beginning: &[u8]) -> bool {
    const UNEVALUATED: [&str; 8] = [
        "sizeof",
        "_Alignof",
        "__alignof__",
        "alignof",
        "typeof",
        "__typeof__",
        "_Generic",
        "__builtin_constant_p",
    ];
    let has = |operator: &[u8]| beginning.windows(operator.len()).any(|at| at == operator);
    let words = lex::words(beginning);
    !has(b"&&")
        && !has(b"||")
        && !has(b"?")
        && !has(b"{")
        && !has(b"/*")
        && !has(b"//")
        && !words
            .iter()
            .any(|word| UNEVALUATED.contains(&word.as_str()))
}
