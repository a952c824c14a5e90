//! Finds out for many patches at once which compile.
//!
//! A function is the *isolation unit* of C compilers: an error inside of a function has its messages there. So each patched
//! function is put behind the original as a *clone* under another name. The file with all clones is compiled once, up to the
//! types.
//!
//! After a syntax error a compiler may lose its place and blame the code that follows. So behind each clone stands a *barrier*,
//! a function with a known error. If exactly this error is reported, the compiler has found its place again, and further messages
//! are about the next clone. Clones behind a barrier that did not hold are compiled once more. Clones with errors are left out, and a
//! second compilation without barriers must have no errors.

use std::borrow::Cow;
use std::collections::BTreeSet;

use patchwright_csource::{Function, lex};
use patchwright_exec::Worker;
use patchwright_text::Span;

use crate::compiler::{
    Compiler, CompilerError, Depth, Diagnostic, gave_up, is_syntax_error, undeclared_name,
};
use crate::edits::is_closed;
use crate::initializers::ChangedInitializer;

/// Most clones in one compilation: what a compiler takes to look for similar names grows with the square.
pub(crate) const AT_ONCE: usize = 500;

/// How often clones that stand behind an error of syntax are tried together; from then on each by itself.
const PASSES: usize = 6;

/// A copy of a function with a patched body, under another name.
pub struct Clone {
    /// Index of the function in its unit.
    pub function: usize,
    /// What stands before the body, if that is patched too.
    pub head: Option<Vec<u8>>,
    /// The body, from `{` to `}`.
    pub body: Vec<u8>,
    /// The line of the patched file on which the body begins, or the patched head.
    pub line: u32,
    /// Where the text of `head` stands as it is, if it is not a function under another name.
    pub stray_at: Option<u32>,
    /// What it defines is defined elsewhere, too.
    pub is_redefinition: bool,
}

impl Clone {
    /// Makes a clone of a function with a patched body.
    pub fn of_body(function: usize, body: Vec<u8>, line: u32) -> Self {
        Self {
            function,
            head: None,
            body,
            line,
            stray_at: None,
            is_redefinition: false,
        }
    }

    /// Makes a clone of an array with another initializer, under the name of clone `number`.
    pub fn of_array(changed: &ChangedInitializer, number: usize, line: u32) -> Self {
        let name = changed.name.range();
        let (text, own) = (&changed.text, clone_name(number));
        let head = [&text[..name.start], own.as_bytes(), &text[name.end..]];
        Self {
            head: Some(head.concat()),
            stray_at: Some(changed.definition.end),
            ..Self::of_body(0, Vec::new(), line)
        }
    }

    /// Makes a clone of text between definitions at `offset`. Only its syntax is checked, because it
    /// may define what is defined elsewhere. It is `None` if the text may belong to its neighbours.
    pub fn stray(text: Vec<u8>, offset: u32, line: u32) -> Option<Self> {
        let ends = text.trim_ascii_end().last();
        let has_end = ends.is_some_and(|last| b";}".contains(last));
        let closes = |text: &Vec<u8>| blocks(text).open <= 0;
        let closes = lex::branches(&text).iter().all(closes);
        let names_type = lex::words(&text).iter().any(|word| word == "typedef");
        let is_harmless = !names_type && defines_no_macros(&text);
        (has_end && is_whole(&text) && closes && is_harmless).then(|| Self {
            head: Some(text),
            stray_at: Some(offset),
            is_redefinition: true,
            ..Self::of_body(0, Vec::new(), line)
        })
    }

    /// Makes a clone of a function whose head is patched. It is `None` if the result of the compiler
    /// could depend on the function's name or reach beyond the clone.
    pub fn with_head(
        source: &[u8],
        functions: &[Function],
        index: usize,
        text: Vec<u8>,
        line: u32,
    ) -> Option<Self> {
        let function = &functions[index];
        let own = |word: &String| *word == function.name;
        let behind = lex::words(function.body_span.slice(source)?);
        let head = Span::new(function.span.start, function.body_span.start);
        let is_same_head = head
            .slice(source)
            .is_some_and(|head| text.starts_with(head));
        let calls_itself = behind.iter().any(own) && !is_same_head;
        let named = lex::words(&text).iter().filter(|word| own(word)).count();
        let is_named = named == 1 || is_same_head;
        (!calls_itself && is_named && stands_alone(&text)).then_some(Self {
            head: Some(text),
            ..Self::of_body(index, Vec::new(), line)
        })
    }

    /// What stands in front of the body, under another name; `None` when it has none.
    fn renamed_head(&self, source: &[u8], functions: &[Function], name: &str) -> Option<Vec<u8>> {
        if self.stray_at.is_some() {
            return self.head.clone();
        }
        let function = &functions[self.function];
        renamed(&self.head(source, function), function, name)
    }

    /// The head, without what belongs to conditions round it.
    fn head<'a>(&'a self, source: &'a [u8], function: &Function) -> Cow<'a, [u8]> {
        if let Some(head) = &self.head {
            return Cow::Borrowed(head);
        }
        let original = Span::new(function.span.start, function.body_span.start);
        let head = original.slice(source).unwrap_or_default();
        match head.contains(&b'#') {
            true => Cow::Owned(lex::without_open_conditionals(head)),
            false => Cow::Borrowed(head),
        }
    }
}

/// Returns whether a function's text can stand beside others of its kind. No text behind it may become a part of it, and it may
/// define nothing else. A text that closes a brace too many counts as well: it cannot compile anyway.
fn stands_alone(text: &[u8]) -> bool {
    let is_function = |text: &Vec<u8>| {
        let blocks = blocks(text);
        blocks.open < 0 || blocks.open == 0 && blocks.count == 1 && !blocks.ends
    };
    defines_no_macros(text) && is_whole(text) && lex::branches(text).iter().all(is_function)
}

/// Whether no comment, no literal and no condition is open at the end of a text.
fn is_whole(text: &[u8]) -> bool {
    let opened: i64 = lex::directives(text)
        .map(|directive| match &*directive.name() {
            b"if" | b"ifdef" | b"ifndef" => 1,
            b"endif" => -1,
            _ => 0,
        })
        .sum();
    is_closed(text) && opened == 0
}

/// The blocks of a text without directives.
#[derive(Default)]
struct Blocks {
    /// Braces that are open at its end; negative if more are closed.
    open: i64,
    /// Those that are in no other.
    count: u32,
    /// A semicolon is in none.
    ends: bool,
}

fn blocks(text: &[u8]) -> Blocks {
    let (mut at, mut blocks) = (0, Blocks::default());
    loop {
        at = lex::skip_blank(text, at);
        match text.get(at) {
            None => return blocks,
            Some(b'{') => {
                blocks.count += u32::from(blocks.open == 0);
                blocks.open += 1;
            }
            Some(b'}') => blocks.open -= 1,
            Some(b';') => blocks.ends |= blocks.open <= 0,
            Some(_) => {}
        }
        at = lex::step(text, at);
    }
}

/// Whether all directives of a text are conditions: what is defined in it would be defined behind it as well.
fn defines_no_macros(text: &[u8]) -> bool {
    lex::lasting_directives(text).is_empty()
}

/// The compiler's judgement of a clone.
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
    /// It compiles in C, but only as the linker decides: it uses functions that are not declared, these.
    Undeclared(BTreeSet<String>),
    /// The compiler's errors could not be told apart.
    Unknown(String),
}

/// The head of a function under another name; `None` when its name is not written in it.
fn renamed(head: &[u8], function: &Function, name: &str) -> Option<Vec<u8>> {
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

/// The beginning of the names of clones.
pub(crate) const CLONE: &str = "__pw_clone_";

/// The name of the clone with this number.
pub(crate) fn clone_name(number: usize) -> String {
    format!("{CLONE}{number}")
}

/// What has the error in a barrier, and stands nowhere else.
const BARRIER: &str = "__pw_barrier_error";

/// A body with that error. No name is looked up for it: what is not declared is compared with all names of the file, for
/// a hint, and that takes more than compiling the clones.
const BARRIER_BODY: &str = "{ (void)sizeof(struct { int __pw_barrier_error : -1; }); }";

/// A text with clones, and the lines of each.
pub(crate) struct Cloned {
    pub(crate) text: Vec<u8>,
    /// For each clone in it: its number, the first line of its body, the line behind its last. There stands its barrier,
    /// if it has one.
    pub(crate) lines: Vec<(usize, u32, u32)>,
}

/// Makes a text of the file in which these clones stand beside the functions.
pub(crate) fn cloned(
    source: &[u8],
    functions: &[Function],
    clones: &[Clone],
    wanted: &[usize],
    barriers: bool,
) -> Cloned {
    let mut order: Vec<usize> = wanted.to_vec();
    let behind = |number: usize| {
        let clone = &clones[number];
        clone
            .stray_at
            .unwrap_or_else(|| functions[clone.function].span.end)
    };
    order.sort_by_key(|number| (behind(*number), *number));
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
        let Some(head) = clone.renamed_head(source, functions, &clone_name(number)) else {
            continue;
        };
        let end = behind(number) as usize;
        push(&mut text, &mut line, &source[copied..end]);
        copied = end;
        push(&mut text, &mut line, b"\n");
        let first = line;
        push(&mut text, &mut line, &head);
        push(&mut text, &mut line, &clone.body);
        lines.push((number, first, line + 1));
        push(&mut text, &mut line, b"\n");
        if barriers {
            let barrier = format!("static void __pw_fence_{number}(void) {BARRIER_BODY}\n");
            push(&mut text, &mut line, barrier.as_bytes());
        }
    }
    push(&mut text, &mut line, &source[copied..]);
    Cloned { text, lines }
}

/// Asks the compiler about the clones of a source.
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
    /// The count to which calls of the compiler are added.
    pub compilations: &'a mut usize,
}

/// What one compilation of clones says.
struct Answer {
    /// Clones with errors, in order of the text.
    errors: Vec<CloneError>,
    /// An error that is about no clone.
    elsewhere: Option<String>,
    /// Clones that use functions that are not declared.
    undeclared: Vec<(usize, String)>,
    /// Clones whose barriers held.
    held: Vec<usize>,
    /// The clones in order of the text.
    order: Vec<usize>,
    /// The clone at which the compiler gave up, and what it said.
    gave_up: Option<(usize, String)>,
    /// A name is a type's and something else's.
    is_ambiguous: bool,
}

impl Answer {
    /// The clones that seem to have no errors, and have swallowed nothing of what follows.
    fn clean(&self) -> Vec<usize> {
        let held = self
            .order
            .iter()
            .filter(|number| self.held.contains(number));
        let has_error = |number: &usize| self.errors.iter().any(|error| error.number == *number);
        held.copied().filter(|number| !has_error(number)).collect()
    }

    /// That the compiler gives up at a clone leaves open whether that is an error of it.
    fn note_giving_up(&self, verdicts: &mut [Option<Compiles>]) {
        if let Some((number, message)) = &self.gave_up {
            verdicts[*number] = Some(Compiles::Unknown(message.clone()));
        }
    }
}

/// The first error of a clone.
struct CloneError {
    number: usize,
    /// The line, counted from its first.
    offset: u32,
    message: String,
}

impl Isolation<'_> {
    /// Returns for each clone whether it compiles.
    ///
    /// # Errors
    /// A compiler that cannot be run.
    pub fn check(&mut self) -> Result<Vec<Compiles>, CompilerError> {
        let mut verdicts: Vec<Option<Compiles>> = self
            .clones
            .iter()
            .map(|clone| self.unnamed(clone))
            .collect();
        let open = |verdicts: &[Option<Compiles>]| -> Vec<usize> {
            let open = verdicts.iter().enumerate();
            open.filter(|(_, verdict)| verdict.is_none())
                .map(|(number, _)| number)
                .collect()
        };
        let mut wanted = open(&verdicts);
        while !wanted.is_empty() {
            let before = wanted.len();
            wanted.truncate(AT_ONCE);
            let answer = self.between_barriers(&wanted, &mut verdicts)?;
            self.without_barriers(answer.clean(), &mut verdicts)?;
            if open(&verdicts).len() == before {
                // No barrier holds.
                self.without_barriers(wanted, &mut verdicts)?;
            }
            wanted = open(&verdicts);
        }
        // Every clone has a verdict when the loop ends.
        Ok(verdicts.into_iter().flatten().collect())
    }

    /// Returns for each clone that surely does not compile the line of the patched file and the
    /// message. This takes few compilations.
    ///
    /// # Errors
    /// A compiler that cannot be run.
    pub fn reject(&mut self) -> Result<Vec<Option<(u32, String)>>, CompilerError> {
        let mut wanted: Vec<usize> = (0..self.clones.len()).collect();
        let mut verdicts: Vec<Option<Compiles>> = vec![None; wanted.len()];
        for _ in 0..PASSES {
            let answer = self.between_barriers(&wanted, &mut verdicts)?;
            // The first whose barrier did not hold has swallowed those behind it.
            let mut order = answer.order.iter();
            order.find(|number| !answer.held.contains(number));
            let behind = order.copied().filter(|number| verdicts[*number].is_none());
            wanted = behind.collect();
            if wanted.is_empty() {
                break;
            }
        }
        let rejected = verdicts.into_iter().map(|verdict| match verdict {
            Some(Compiles::No { line, message }) => Some((line, message)),
            _ => None,
        });
        Ok(rejected.collect())
    }

    /// Notes which of these clones have errors of their own.
    fn between_barriers(
        &mut self,
        wanted: &[usize],
        verdicts: &mut [Option<Compiles>],
    ) -> Result<Answer, CompilerError> {
        let answer = self.ask(wanted, true)?;
        answer.note_giving_up(verdicts);
        let mut in_place = true;
        for number in &answer.order {
            let error = answer.errors.iter().find(|error| error.number == *number);
            let is_believed =
                in_place && !(answer.is_ambiguous && self.clones[*number].is_redefinition);
            // Else it may have been blamed for the one before it.
            if let (Some(error), true) = (error, is_believed) {
                verdicts[*number] = Some(self.rejected(error));
            }
            in_place = answer.held.contains(number);
        }
        Ok(answer)
    }

    /// Says of these clones whether they compile. An error of syntax is believed only of the first that has one.
    fn without_barriers(
        &mut self,
        mut open: Vec<usize>,
        verdicts: &mut [Option<Compiles>],
    ) -> Result<(), CompilerError> {
        let mut suspended: Vec<usize> = Vec::new();
        for pass in 0.. {
            open.retain(|number| verdicts[*number].is_none());
            let mut wanted = open.clone();
            if wanted.is_empty() {
                break;
            }
            if pass >= PASSES && !suspended.is_empty() {
                // One suspect at a time.
                wanted = suspended.drain(..1).collect();
            }
            let answer = self.ask(&wanted, false)?;
            answer.note_giving_up(verdicts);
            match (answer.errors.is_empty(), answer.elsewhere) {
                _ if answer.gave_up.is_some() => {}
                (true, None) => {
                    for number in wanted {
                        let clone = &self.clones[number];
                        let function = &self.functions[clone.function];
                        let before = function.body_span.slice(self.source);
                        // Compilers warn of a name once in a file. What is called so far as well is left out by a directive.
                        let brings = |name| {
                            is_called(&clone.body, name)
                                && !is_called(before.unwrap_or_default(), name)
                        };
                        let called = answer.undeclared.iter().filter_map(|(known, message)| {
                            let name = undeclared_name(message)?;
                            let calls = *known == number || brings(name);
                            calls.then(|| name.to_owned())
                        });
                        let called: BTreeSet<String> = called.collect();
                        verdicts[number] = Some(match called.is_empty() {
                            false => Compiles::Undeclared(called),
                            true => Compiles::Yes,
                        });
                    }
                }
                // Nothing says whose fault it is: halves, until one clone is left.
                (true, Some(message)) => {
                    self.bisect(&wanted, &message, verdicts)?;
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
                    for error in &answer.errors {
                        if lost {
                            suspended.push(error.number);
                            continue;
                        }
                        lost = is_syntax_error(&error.message);
                        verdicts[error.number] = Some(self.rejected(error));
                    }
                }
            }
        }
        Ok(())
    }

    fn rejected(&self, error: &CloneError) -> Compiles {
        if error.message.contains(CLONE) {
            // It has another name in the patch.
            return Compiles::Unknown(error.message.clone());
        }
        let clone = &self.clones[error.number];
        Compiles::No {
            line: (clone.line + error.offset).saturating_sub(self.head_lines(clone)),
            message: error.message.clone(),
        }
    }

    fn unnamed(&self, clone: &Clone) -> Option<Compiles> {
        let known = clone
            .renamed_head(self.source, self.functions, CLONE)
            .is_some();
        (!known).then(|| Compiles::Unknown("its function's name is not in its text".into()))
    }

    /// Line breaks in the head of a clone's function.
    fn head_lines(&self, clone: &Clone) -> u32 {
        if clone.head.is_some() {
            return 0;
        }
        let head = clone.head(self.source, &self.functions[clone.function]);
        head.iter().filter(|byte| **byte == b'\n').count() as u32
    }

    /// Compiles these clones.
    fn ask(&mut self, wanted: &[usize], barriers: bool) -> Result<Answer, CompilerError> {
        *self.compilations += 1;
        let with = cloned(self.source, self.functions, self.clones, wanted, barriers);
        let diagnostics = self
            .compiler
            .check(self.worker, &with.text, Depth::Syntax)?;
        // The clone at or before a line, and how many lines behind its first that is; its barrier is its last line.
        let clone_at = |line: u32| {
            let place = with.lines.partition_point(|(_, first, _)| *first <= line);
            let (number, first, behind) = *with.lines[..place].last()?;
            (line < behind + u32::from(barriers)).then_some((number, line - first, line == behind))
        };
        let mut answer = Answer {
            errors: Vec::new(),
            elsewhere: None,
            undeclared: Vec::new(),
            held: Vec::new(),
            order: with.lines.iter().map(|(number, ..)| *number).collect(),
            gave_up: None,
            is_ambiguous: false,
        };
        let mut broken = Vec::new();
        // That a clone is not used, or not declared before, says nothing about the patch.
        let about_patches = diagnostics.into_iter().filter(|diagnostic| {
            let message = &diagnostic.message;
            let unused = message.contains("not used") || message.contains("unused");
            let about_fence = message.contains("__pw_fence_") && unused;
            let only_warned = !diagnostic.is_error || message.contains("[-W");
            let about_name = only_warned && message.contains(CLONE);
            !(about_fence || about_name)
        });
        for Diagnostic {
            line,
            is_error,
            message,
        } in about_patches
        {
            answer.is_ambiguous |= message.contains("different kind of symbol");
            match line.and_then(clone_at) {
                Some((number, ..)) if gave_up(&message) => {
                    answer.gave_up = Some((number, message));
                }
                Some((number, _, true)) if is_error => {
                    let own = message.contains(BARRIER) && !answer.held.contains(&number);
                    match own {
                        true => answer.held.push(number),
                        // What is only a warning elsewhere is about the barrier's own words.
                        false if message.contains("[-W") => {}
                        false => broken.push(number),
                    }
                }
                Some((number, offset, false)) if is_error => {
                    let known = answer.errors.iter().any(|error| error.number == number);
                    // What it defines may be defined elsewhere as well.
                    let is_own = !self.clones[number].is_redefinition;
                    if !known && (is_own || is_of_text_alone(&message)) {
                        answer.errors.push(CloneError {
                            number,
                            offset,
                            message,
                        });
                    }
                }
                Some((number, _, false)) if undeclared_name(&message).is_some() => {
                    answer.undeclared.push((number, message));
                }
                None if is_error => answer.elsewhere = Some(message),
                _ => {}
            }
        }
        answer.held.retain(|number| !broken.contains(number));
        if let Some((number, _)) = &answer.gave_up {
            answer.errors.retain(|error| error.number != *number);
        }
        let place = |number: usize| answer.order.iter().position(|known| *known == number);
        answer.errors.sort_by_key(|error| place(error.number));
        tracing::debug!(
            "{} clones, barriers {barriers}: {} with errors, {} held, elsewhere {:?}",
            wanted.len(),
            answer.errors.len(),
            answer.held.len(),
            answer.elsewhere
        );
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
            let answer = self.ask(half, false)?;
            let first = answer.errors.into_iter().next();
            let first = first.map(|error| error.message);
            if let Some(message) = first.or(answer.elsewhere) {
                self.bisect(half, &message, verdicts)?;
            }
        }
        Ok(())
    }
}

/// Whether an error has to do with nothing that is defined elsewhere in the file.
fn is_of_text_alone(message: &str) -> bool {
    is_syntax_error(message) || message.contains("unknown type name")
}

/// Whether a text has a name with a parenthesis behind it.
fn is_called(text: &[u8], name: &str) -> bool {
    lex::words_with_places(text).iter().any(|(word, at)| {
        let behind = lex::skip_blank(text, at + word.len());
        word == name && text.get(behind) == Some(&b'(')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_called_where_a_parenthesis_follows_it() {
        assert!(is_called(b"x = f (1);", "f"));
        assert!(!is_called(b"f = g(1);", "f") && !is_called(b"ff(1);", "f"));
    }

    #[test]
    fn a_function_stands_alone_unless_it_swallows_what_follows_or_brings_another() {
        for (text, does) in [
            ("int f(void) { return 1; }", true),
            ("int f(void) { return 1; } }", true),
            ("int f(void) { if (a) return 1; } return 0; }", true),
            ("int f(void) { if (a) { return 1; }", false),
            ("int f(void) { return 1; /* }", false),
            ("int f(void) { s(\"{\"); }", true),
            ("int f(void) {\n#if A\n}", false),
            ("int f(void) {\n#if A\nreturn 1;\n#endif\n}", true),
            ("int f(void) {\n#define A 1\n}", false),
            ("int f(void) {\n#if A\nif (a) {\n#else\n{\n#endif\n}}", true),
            ("int f(void) {\n#if A\nif (a) {\n#endif\n}", false),
            (
                "int g(void) { return 2; } int f(void) { return g(); }",
                false,
            ),
            ("int g; int f(void) { return g; }", false),
        ] {
            assert_eq!(stands_alone(text.as_bytes()), does, "{text}");
        }
    }
}
