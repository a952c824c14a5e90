//! Which patches compile, found out for many at once.
//!
//! A function is the *isolation unit* of C's compilers: an error inside of one keeps its messages there. So each patched
//! function is put behind the original as a *clone* under another name, and the file with all clones is compiled once,
//! up to the types. Clones with errors are left out, and what remains must compile; a compiler that lost its place
//! after an error of syntax may have blamed what follows, so that is asked again without the culprit.

use patchwright_csource::{Function, lex};
use patchwright_exec::Worker;
use patchwright_text::Span;

use crate::compiler::{Compiler, CompilerError, Depth, is_syntax_error};

/// How often clones that stand behind an error of syntax are tried together; from then on each by itself.
const PASSES: usize = 6;

/// A function with a patched body.
pub struct Clone {
    /// Index of the function in its unit.
    pub function: usize,
    /// The body, from `{` to `}`.
    pub body: Vec<u8>,
    /// The line of the patched file on which the body begins.
    pub line: u32,
}

/// What the compiler says of a clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compiles {
    /// It does.
    Yes,
    /// It does not.
    No {
        /// The line of the patched file.
        line: u32,
        /// The compiler's first error.
        message: String,
    },
    /// It compiles in C, but only as the linker decides: it uses a function that is not declared.
    Undeclared(String),
    /// The compiler's errors could not be told apart.
    Unknown(String),
}

/// The head of a function under another name; `None` when its name is not written in it.
fn renamed(source: &[u8], function: &Function, name: &str) -> Option<Vec<u8>> {
    let head = Span::new(function.span.start, function.body_span.start).slice(source)?;
    let mut at = 0;
    while at < head.len() {
        at = lex::skip_blank(head, at);
        if at >= head.len() || head[at] == b'#' {
            return None;
        }
        let next = lex::step(head, at);
        if &head[at..next] == function.name.as_bytes() {
            return Some([&head[..at], name.as_bytes(), &head[next..]].concat());
        }
        at = next;
    }
    None
}

/// A text with clones, and the lines of each.
struct Cloned {
    text: Vec<u8>,
    /// For each clone in it: its number, the first line of its body, the line behind its last.
    lines: Vec<(usize, u32, u32)>,
}

fn cloned(source: &[u8], functions: &[Function], clones: &[Clone], wanted: &[usize]) -> Cloned {
    let mut order: Vec<usize> = wanted.to_vec();
    order.sort_by_key(|number| (functions[clones[*number].function].span.end, *number));
    let mut text = Vec::with_capacity(source.len());
    let mut lines = Vec::with_capacity(order.len());
    let mut copied = 0;
    // The number of the next line.
    let mut line = 1;
    let push = |text: &mut Vec<u8>, line: &mut u32, bytes: &[u8]| {
        *line += bytes.iter().filter(|byte| **byte == b'\n').count() as u32;
        text.extend_from_slice(bytes);
    };
    for number in order {
        let clone = &clones[number];
        let function = &functions[clone.function];
        let name = format!("__pw_clone_{number}");
        let Some(head) = renamed(source, function, &name) else {
            continue;
        };
        let end = function.span.end as usize;
        push(&mut text, &mut line, &source[copied..end]);
        copied = end;
        push(&mut text, &mut line, b"\n");
        let first = line;
        push(&mut text, &mut line, &head);
        push(&mut text, &mut line, &clone.body);
        lines.push((number, first, line + 1));
        push(&mut text, &mut line, b"\n");
    }
    push(&mut text, &mut line, &source[copied..]);
    Cloned { text, lines }
}

/// Says of each clone whether it compiles.
///
/// # Errors
/// A compiler that cannot be run.
pub fn check(
    worker: &mut Worker,
    compiler: &Compiler,
    source: &[u8],
    functions: &[Function],
    clones: &[Clone],
    compilations: &mut usize,
) -> Result<Vec<Compiles>, CompilerError> {
    let mut verdicts: Vec<Option<Compiles>> = clones
        .iter()
        .map(|clone| {
            let known = renamed(source, &functions[clone.function], "x").is_some();
            (!known).then(|| Compiles::Unknown("the name of its function is not in its text".into()))
        })
        .collect();
    let head_lines = |clone: &Clone| {
        let function = &functions[clone.function];
        let head = Span::new(function.span.start, function.body_span.start);
        let head = head.slice(source).unwrap_or_default();
        head.iter().filter(|byte| **byte == b'\n').count() as u32
    };
    let mut suspended: Vec<usize> = Vec::new();
    let mut pass = 0;
    loop {
        let undecided: Vec<usize> = (0..clones.len())
            .filter(|number| verdicts[*number].is_none())
            .collect();
        if undecided.is_empty() {
            break;
        }
        let wanted: Vec<usize> = if pass >= PASSES && !suspended.is_empty() {
            // One suspect at a time.
            suspended.drain(..1).collect()
        } else {
            undecided.clone()
        };
        pass += 1;
        *compilations += 1;
        let with = cloned(source, functions, clones, &wanted);
        let diagnostics = compiler.check(worker, &with.text, Depth::Syntax)?;
        let clone_at = |line: u32| {
            let place = with.lines.partition_point(|(_, first, _)| *first <= line);
            with.lines[..place]
                .last()
                .filter(|(_, _, behind)| line < *behind)
                .map(|(number, first, _)| (*number, line - first))
        };
        let mut lost = false;
        let mut first_error: Vec<(usize, u32, String)> = Vec::new();
        let mut elsewhere = None;
        let mut undeclared: Vec<(usize, String)> = Vec::new();
        for diagnostic in diagnostics {
            if diagnostic.message.contains("__pw_clone_") {
                continue;
            }
            match diagnostic.line.and_then(clone_at) {
                Some((number, offset)) if diagnostic.is_error => {
                    if !first_error.iter().any(|(known, ..)| *known == number) {
                        first_error.push((number, offset, diagnostic.message));
                    }
                }
                Some((number, _)) => {
                    if diagnostic.message.contains("implicit declaration of function") {
                        undeclared.push((number, diagnostic.message));
                    }
                }
                None if diagnostic.is_error => elsewhere = Some(diagnostic.message),
                None => {}
            }
        }
        first_error.sort_by_key(|(number, ..)| {
            with.lines.iter().position(|(known, ..)| known == number)
        });
        let clean = first_error.is_empty() && elsewhere.is_none();
        if first_error.is_empty()
            && let Some(message) = elsewhere
        {
            // Nothing says whose fault it is: halves, until one clone is left.
            bisect(
                worker,
                compiler,
                source,
                functions,
                clones,
                &wanted,
                &message,
                &mut verdicts,
                compilations,
            )?;
            // No half shows the error: only together are they wrong.
            if wanted.iter().all(|number| verdicts[*number].is_none()) {
                for number in wanted {
                    verdicts[number] = Some(Compiles::Unknown(message.clone()));
                }
            }
            suspended.retain(|number| verdicts[*number].is_none());
            continue;
        }
        suspended.clear();
        for (number, offset, message) in first_error {
            if lost {
                suspended.push(number);
                continue;
            }
            lost = is_syntax_error(&message);
            let clone = &clones[number];
            verdicts[number] = Some(Compiles::No {
                line: (clone.line + offset).saturating_sub(head_lines(clone)),
                message,
            });
        }
        if clean {
            for number in wanted {
                let message = undeclared.iter().find(|(known, _)| *known == number);
                verdicts[number] = Some(match message {
                    Some((_, message)) => Compiles::Undeclared(message.clone()),
                    None => Compiles::Yes,
                });
            }
        }
    }
    Ok(verdicts
        .into_iter()
        .map(|verdict| verdict.unwrap_or(Compiles::Yes))
        .collect())
}

#[allow(clippy::too_many_arguments)]
fn bisect(
    worker: &mut Worker,
    compiler: &Compiler,
    source: &[u8],
    functions: &[Function],
    clones: &[Clone],
    wanted: &[usize],
    message: &str,
    verdicts: &mut [Option<Compiles>],
    compilations: &mut usize,
) -> Result<(), CompilerError> {
    if let [number] = wanted {
        verdicts[*number] = Some(Compiles::Unknown(message.to_owned()));
        return Ok(());
    }
    let (low, high) = wanted.split_at(wanted.len() / 2);
    for half in [low, high] {
        *compilations += 1;
        let with = cloned(source, functions, clones, half);
        let diagnostics = compiler.check(worker, &with.text, Depth::Syntax)?;
        let error = diagnostics
            .into_iter()
            .find(|d| d.is_error && !d.message.contains("__pw_clone_"));
        if let Some(error) = error {
            bisect(
                worker,
                compiler,
                source,
                functions,
                clones,
                half,
                &error.message,
                verdicts,
                compilations,
            )?;
        }
    }
    Ok(())
}
