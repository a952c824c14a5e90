//! Checks several patches at once for undefined behaviour and other objections.
//!
//! A build with sanitizers, or what clang makes of a source, takes as long for one patch as for ten. So patches that change the bodies of
//! functions of one file are put into one text: each function has its body and those of the patches, and a variable says which of them
//! is executed. An object that is linked to the programs reads that variable's value from a file before anything else happens.
//!
//! What is found so only *clears* patches: where nothing speaks against one, it is not asked again by itself. Otherwise, and
//! where something does not work, each is asked by itself, and that alone is told. A patch that is not in what runs passes
//! no test that fails without it, so it is not cleared by mistake.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use patchwright_csource::Function;
use patchwright_exec::{files, runner::Environment};
use patchwright_text::{LineMap, Span};

use crate::{
    RepairError,
    at_once::at_once,
    changed_file::Candidate,
    circumstances::{Cleared, Kind},
    clean_copy::CleanCopy,
    object,
    prepare::Prepared,
    undefined::{Scrutiny, Trial},
};

/// The largest number of bodies that a text gets besides its own.
const MOST_BODIES: usize = 16;

/// The variable that says which bodies are executed.
const CHOSEN: &str = "__pw_chosen_patch";

/// Makes a copy of a tree.
type Beside<'b, 'a> = dyn Fn(&str, &Path) -> Result<CleanCopy<'a>, RepairError> + Sync + 'b;

/// What is known not to speak against candidates that pass every test, of each of them.
///
/// # Errors
/// When a copy, a build or a test cannot be made or run.
pub(crate) fn cleared(
    scrutiny: &Scrutiny,
    candidates: &[&Candidate<'_>],
    prepared: &Prepared,
    beside: &Beside<'_, '_>,
    jobs: usize,
) -> Result<Vec<Cleared>, RepairError> {
    let mut of_file: BTreeMap<&Path, Vec<usize>> = BTreeMap::new();
    for (number, candidate) in candidates.iter().enumerate() {
        if candidate
            .function
            .is_some_and(|function| function.labels.is_empty())
        {
            of_file.entry(candidate.file).or_default().push(number);
        }
    }
    let cleared = Mutex::new(vec![Cleared::default(); candidates.len()]);
    for (file, numbers) in of_file {
        let untouched = files::read(&prepared.worker.sandbox.folder().join(file))?;
        let members = numbers.into_iter().filter_map(|number| {
            let candidate = candidates[number];
            let function = candidate.function?;
            let body = body(&untouched, candidate.text, function.body_span)?;
            Some(Member {
                number,
                candidate,
                function,
                body,
            })
        });
        let members: Vec<Member<'_>> = members.collect();
        for members in members.chunks(MOST_BODIES) {
            if members.len() > 1 {
                let joined = Joined {
                    file,
                    untouched: &untouched,
                    members,
                };
                joined.ask(scrutiny, prepared, beside, jobs, &cleared)?;
            }
        }
    }
    Ok(cleared.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// What a function's body is in a text that differs in it alone.
fn body<'t>(untouched: &[u8], text: &'t [u8], span: Span) -> Option<&'t [u8]> {
    let (start, end) = (span.start as usize, span.end as usize);
    let behind = untouched.get(end..)?;
    let body_end = text.len().checked_sub(behind.len())?;
    let is_alone = text.get(..start)? == untouched.get(..start)? && &text[body_end..] == behind;
    let body = text.get(start..body_end)?;
    (is_alone && body.starts_with(b"{") && body.ends_with(b"}")).then_some(body)
}

/// A candidate in such a text.
struct Member<'m> {
    number: usize,
    candidate: &'m Candidate<'m>,
    function: &'m Function,
    /// The function's body with the change.
    body: &'m [u8],
}

/// Candidates of one file.
struct Joined<'j> {
    file: &'j Path,
    untouched: &'j [u8],
    members: &'j [Member<'j>],
}

/// Bodies of one function with their numbers.
type Bodies<'j> = Vec<(usize, &'j [u8])>;

/// What is asked at the same time.
enum Question<'q> {
    /// What compiler and analysis say.
    Read,
    /// Tests of one build.
    Tests(Vec<&'q Trial>),
}

impl Joined<'_> {
    /// Adds what the candidates are cleared of.
    fn ask(
        &self,
        scrutiny: &Scrutiny,
        prepared: &Prepared,
        beside: &Beside<'_, '_>,
        jobs: usize,
        cleared: &Mutex<Vec<Cleared>>,
    ) -> Result<(), RepairError> {
        let mut questions = vec![Question::Read];
        questions.extend(scrutiny.builds().into_iter().map(Question::Tests));
        let base = prepared.worker.sandbox.folder();
        let asked = at_once(jobs, &questions, |_, question| match question {
            Question::Read => self.read(scrutiny, prepared, beside("read", base)?, cleared),
            Question::Tests(trials) => {
                let Some(first) = trials.first() else {
                    return Ok(());
                };
                let base = first.base().unwrap_or(base);
                self.test(trials, beside(first.kind.name(), base)?, cleared)
            }
        });
        asked.into_iter().collect()
    }

    fn clear(
        &self,
        cleared: &Mutex<Vec<Cleared>>,
        member: &Member<'_>,
        clear: impl Fn(&mut Cleared),
    ) {
        let mut cleared = cleared.lock().unwrap_or_else(PoisonError::into_inner);
        clear(&mut cleared[member.number]);
    }

    /// Asks the compiler and the analysis of definite values.
    fn read(
        &self,
        scrutiny: &Scrutiny,
        prepared: &Prepared,
        mut copy: CleanCopy<'_>,
        cleared: &Mutex<Vec<Cleared>>,
    ) -> Result<(), RepairError> {
        let text = self.text(false);
        let joined = self.candidate(&text);
        copy.put(&joined)?;
        if copy.reads_of_nothing(&joined)?.is_none() {
            for member in self.members {
                self.clear(cleared, member, |cleared| cleared.by_compiler = true);
            }
        }
        let mut names: Vec<&str> = Vec::new();
        for member in self.members {
            if !names.contains(&member.function.name.as_str()) {
                names.push(&member.function.name);
            }
        }
        let harmless = copy.harmless(scrutiny.untouched(), prepared, (self.file, &text), &names)?;
        for member in self.members {
            if harmless.contains(&member.function.name.as_str()) {
                self.clear(cleared, member, |cleared| cleared.by_analysis = true);
            }
        }
        copy.remove()
    }

    /// Builds the text once and tests each candidate in it.
    fn test(
        &self,
        trials: &[&Trial],
        mut copy: CleanCopy<'_>,
        cleared: &Mutex<Vec<Cleared>>,
    ) -> Result<(), RepairError> {
        let Some((first, chooser)) = trials.first().zip(Chooser::make(&mut copy)?) else {
            return copy.remove();
        };
        let text = self.text(true);
        copy.put(&self.candidate(&text))?;
        let environment: Environment = first.linking(&mut copy, Some(&chooser.object))?;
        if let Some(error) = copy.build(&environment)? {
            tracing::info!("patches do not build together{error}");
            return copy.remove();
        }
        for (at, member) in self.members.iter().enumerate() {
            chooser.choose(at + 1)?;
            for trial in trials {
                // Elsewhere all that failed must pass.
                let is_there = trial.kind != Kind::Sanitized || trial.passes_any(&mut copy)?;
                let is_clear = is_there && trial.objection(&mut copy, member.candidate)?.is_none();
                if is_clear {
                    self.clear(cleared, member, |cleared| {
                        cleared.in_trials.insert(trial.kind);
                    });
                }
            }
        }
        copy.remove()
    }

    /// The text in the place of a candidate's.
    fn candidate<'t>(&'t self, text: &'t [u8]) -> Candidate<'t> {
        Candidate {
            file: self.file,
            text,
            diff: &[],
            visited_by: None,
            function: None,
        }
    }

    /// The file with all bodies. With `lines` each line keeps its number.
    fn text(&self, lines: bool) -> Vec<u8> {
        let map = LineMap::new(self.untouched);
        let directive = |at: u32| match lines {
            true => format!("\n#line {}\n", map.line(at)).into_bytes(),
            false => b"\n".to_vec(),
        };
        let mut functions: BTreeMap<u32, (Span, Bodies<'_>)> = BTreeMap::new();
        for (at, member) in self.members.iter().enumerate() {
            let span = member.function.body_span;
            let (_, bodies) = functions.entry(span.start).or_insert((span, Vec::new()));
            bodies.push((at + 1, member.body));
        }
        let mut text = format!("extern int {CHOSEN};").into_bytes();
        text.extend(directive(0));
        let mut done = 0;
        for (start, (span, bodies)) in functions {
            text.extend_from_slice(&self.untouched[done..start as usize]);
            text.push(b'{');
            let own = span.slice(self.untouched).unwrap_or_default();
            for (number, body) in &bodies {
                text.extend_from_slice(format!(" if ({CHOSEN} == {number})").as_bytes());
                text.extend(directive(start));
                text.extend_from_slice(body);
                text.extend_from_slice(b" else");
            }
            text.extend(directive(start));
            text.extend_from_slice(own);
            text.push(b'}');
            text.extend(directive(span.end.saturating_sub(1)));
            done = span.end as usize;
        }
        text.extend_from_slice(&self.untouched[done..]);
        text
    }
}

/// Says which bodies are executed.
struct Chooser {
    /// The file that has the number.
    file: PathBuf,
    /// What reads it, as programs see it.
    object: PathBuf,
}

impl Chooser {
    /// Makes it for a copy; `None` where that cannot be compiled.
    fn make(copy: &mut CleanCopy<'_>) -> Result<Option<Self>, RepairError> {
        let (folder, seen) = copy.run_folders();
        let (folder, seen) = (folder.join("chosen"), seen.join("chosen"));
        let shown = seen.join("number").display().to_string();
        if shown.contains(['"', '\\', '\n']) {
            return Ok(None);
        }
        let source = include_str!("together/chosen.c");
        let source = format!("#define NUMBER_FILE \"{shown}\"\n#define CHOSEN {CHOSEN}\n{source}");
        if !folder.exists() {
            files::create_private_folder(&folder)?;
        }
        let file = folder.join("number");
        let Some(object) = object::compiled(copy, "chosen", &source)? else {
            return Ok(None);
        };
        let chooser = Chooser { file, object };
        chooser.choose(0)?;
        Ok(Some(chooser))
    }

    /// Programs that start from now on have the bodies of this number; the untouched ones have 0.
    fn choose(&self, number: usize) -> Result<(), RepairError> {
        Ok(files::write_atomic(
            &self.file,
            number.to_string().as_bytes(),
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_of_a_text_that_differs_elsewhere_too_is_not_taken() {
        let untouched = b"int f(int a) { return a; }\nint g;\n";
        let span = Span::new(13, 26);
        let of = |text: &'static str| body(untouched, text.as_bytes(), span);
        assert_eq!(
            of("int f(int a) { return a + 1; }\nint g;\n"),
            Some(&b"{ return a + 1; }"[..])
        );
        assert_eq!(of("int f(int a) { return a + 1; }\nint h;\n"), None);
        assert_eq!(of("int f(int b) { return a; }\nint g;\n"), None);
        assert_eq!(of("int f(int a)"), None);
    }
}
