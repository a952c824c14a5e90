//! Which patches compile, found out for many at once.
//!
//! A function is the *isolation unit* of C's compilers: an error inside of one keeps its messages there. So each patched
//! function is put behind the original as a *clone* under another name, and the file with all clones is compiled once,
//! up to the types. Clones with errors are left out, and what remains must compile; a compiler that lost its place
//! after an error of syntax may have blamed what follows, so that is asked again without the culprit.

use patchwright_csource::{Function, lex};
use patchwright_exec::Worker;
use patchwright_text::Span;

use crate::compiler::{Compiler, CompilerError, Depth, Diagnostic, is_syntax_error};

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

/// Asks the compiler about clones.
pub struct Isolation<'a> {
    /// A built copy of the untouched program.
    pub worker: &'a mut Worker,
    /// The compiler of the file.
    pub compiler: &'a Compiler,
    /// The file.
    pub source: &'a [u8],
    /// Its functions.
    pub functions: &'a [Function],
    /// The clones.
    pub clones: &'a [Clone],
    /// Is counted up.
    pub compilations: &'a mut usize,
}

/// What one compilation of clones says.
struct Answer {
    /// Clones with errors, in order of the text: number, line counted from its first, message.
    errors: Vec<(usize, u32, String)>,
    /// An error that is about no clone.
    elsewhere: Option<String>,
    /// Clones that use functions that are not declared.
    undeclared: Vec<(usize, String)>,
}

impl Isolation<'_> {
    /// Says of each clone whether it compiles.
    ///
    /// # Errors
    /// A compiler that cannot be run.
    pub fn check(&mut self) -> Result<Vec<Compiles>, CompilerError> {
        let mut verdicts: Vec<Option<Compiles>> = self
            .clones
            .iter()
            .map(|clone| self.unnamed(clone))
            .collect();
        let mut suspended: Vec<usize> = Vec::new();
        for pass in 0.. {
            let mut wanted: Vec<usize> = (0..self.clones.len())
                .filter(|number| verdicts[*number].is_none())
                .collect();
            if wanted.is_empty() {
                break;
            }
            if pass >= PASSES && !suspended.is_empty() {
                // One suspect at a time.
                wanted = suspended.drain(..1).collect();
            }
            let answer = self.ask(&wanted)?;
            match (answer.errors.is_empty(), answer.elsewhere) {
                (true, None) => {
                    for number in wanted {
                        let known = answer.undeclared.iter().find(|(known, _)| *known == number);
                        verdicts[number] = Some(match known {
                            Some((_, message)) => Compiles::Undeclared(message.clone()),
                            None => Compiles::Yes,
                        });
                    }
                }
                // Nothing says whose fault it is: halves, until one clone is left.
                (true, Some(message)) => {
                    self.bisect(&wanted, &message, &mut verdicts)?;
                    // No half shows the error: only together are they wrong.
                    if wanted.iter().all(|number| verdicts[*number].is_none()) {
                        for number in wanted {
                            verdicts[number] = Some(Compiles::Unknown(message.clone()));
                        }
                    }
                    suspended.retain(|number| verdicts[*number].is_none());
                }
                (false, _) => {
                    suspended.clear();
                    let mut lost = false;
                    for (number, offset, message) in answer.errors {
                        if lost {
                            suspended.push(number);
                            continue;
                        }
                        lost = is_syntax_error(&message);
                        let clone = &self.clones[number];
                        let line = (clone.line + offset).saturating_sub(self.head_lines(clone));
                        verdicts[number] = Some(Compiles::No { line, message });
                    }
                }
            }
        }
        // Every clone has a verdict when the loop ends.
        Ok(verdicts.into_iter().flatten().collect())
    }

    fn unnamed(&self, clone: &Clone) -> Option<Compiles> {
        let known = renamed(self.source, &self.functions[clone.function], "x").is_some();
        (!known).then(|| Compiles::Unknown("its function's name is not in its text".into()))
    }

    /// Line breaks in the head of a clone's function.
    fn head_lines(&self, clone: &Clone) -> u32 {
        let function = &self.functions[clone.function];
        let head = Span::new(function.span.start, function.body_span.start);
        let head = head.slice(self.source).unwrap_or_default();
        head.iter().filter(|byte| **byte == b'\n').count() as u32
    }

    /// Compiles these clones.
    fn ask(&mut self, wanted: &[usize]) -> Result<Answer, CompilerError> {
        *self.compilations += 1;
        let with = cloned(self.source, self.functions, self.clones, wanted);
        let diagnostics = self
            .compiler
            .check(self.worker, &with.text, Depth::Syntax)?;
        let clone_at = |line: u32| {
            let place = with.lines.partition_point(|(_, first, _)| *first <= line);
            with.lines[..place]
                .last()
                .filter(|(_, _, behind)| line < *behind)
                .map(|(number, first, _)| (*number, line - first))
        };
        let mut answer = Answer {
            errors: Vec::new(),
            elsewhere: None,
            undeclared: Vec::new(),
        };
        // That a clone is not used, or not declared before, says nothing about the patch.
        let about_patches = diagnostics
            .into_iter()
            .filter(|diagnostic| !diagnostic.message.contains("__pw_clone_"));
        for Diagnostic {
            line,
            is_error,
            message,
        } in about_patches
        {
            match line.and_then(clone_at) {
                Some((number, offset)) if is_error => {
                    let known = answer.errors.iter().any(|(known, ..)| *known == number);
                    if !known {
                        answer.errors.push((number, offset, message));
                    }
                }
                Some((number, _)) if message.contains("implicit declaration of function") => {
                    answer.undeclared.push((number, message));
                }
                None if is_error => answer.elsewhere = Some(message),
                _ => {}
            }
        }
        let place = |number: usize| with.lines.iter().position(|(known, ..)| *known == number);
        answer.errors.sort_by_key(|(number, ..)| place(*number));
        Ok(answer)
    }

    /// Finds the clones by which an error comes about that is about none of them.
    fn bisect(
        &mut self,
        wanted: &[usize],
        message: &str,
        verdicts: &mut [Option<Compiles>],
    ) -> Result<(), CompilerError> {
        if let [number] = wanted {
            verdicts[*number] = Some(Compiles::Unknown(message.to_owned()));
            return Ok(());
        }
        let (low, high) = wanted.split_at(wanted.len() / 2);
        for half in [low, high] {
            let answer = self.ask(half)?;
            let first = answer
                .errors
                .into_iter()
                .next()
                .map(|(_, _, message)| message);
            if let Some(message) = first.or(answer.elsewhere) {
                self.bisect(half, &message, verdicts)?;
            }
        }
        Ok(())
    }
}
