//! What is reported has been applied to a clean copy, built without instrumentation, and tested.

use patchwright_exec::{
    BuildError, Limits, Project, Worker, files, run_build, run_test, runner::Environment,
};
use patchwright_space::Schema;
use patchwright_text::{Edit, LineMap, apply_edits, unified_diff};

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    found::{Found, FoundClass},
    instrument::Instrumented,
    outcome::{Patch, Verified},
    prepare::{Prepared, worker_options},
};

/// A plausible candidate, ready to be verified.
struct Proposal<'a> {
    class: usize,
    found: &'a FoundClass,
    edit: &'a Edit,
    schema: Schema,
    /// Its place in the class.
    member: usize,
    /// Bytes of the text that it takes away and adds.
    text_change: usize,
}

/// Most patches of one class in a report that has room for other classes.
const MEMBERS_REPORTED: usize = 4;

/// Whether the edit makes `x = x` of an assignment to a variable: nobody wants to read that.
fn is_self_assignment(source: &[u8], edit: &Edit) -> bool {
    let before = source[..edit.span.start as usize].trim_ascii_end();
    let Some(target) = before.strip_suffix(b"=") else {
        return false;
    };
    if target.ends_with(b"=") || target.last().is_some_and(|c| b"!<>+-*/%&|^".contains(c)) {
        return false;
    }
    let value = edit.text.trim_ascii();
    match target.trim_ascii_end().strip_suffix(value) {
        Some(rest) => !rest
            .last()
            .is_some_and(|c| c.is_ascii_alphanumeric() || b"_.>*".contains(c)),
        None => false,
    }
}

/// Bytes that differ between two texts, between what they begin and end with alike.
fn text_change(before: &[u8], after: &[u8]) -> usize {
    let alike =
        |pairs: &mut dyn Iterator<Item = (&u8, &u8)>| pairs.take_while(|(a, b)| a == b).count();
    let shorter = before.len().min(after.len());
    let start = alike(&mut before.iter().zip(after));
    let end = alike(&mut before.iter().rev().zip(after.iter().rev())).min(shorter - start);
    before.len() + after.len() - 2 * (start + end)
}

/// The order of the report: cost; what people rarely change after what they do (numbers as
/// conditions, signs, casts); the first of each class before the others; fewer bytes of text before
/// more; kind of change; the order of the search. The taking out of statements comes last of all.
fn ranked<'f>(found: &'f Found, instrumented: &Instrumented) -> Vec<Proposal<'f>> {
    let mut proposals: Vec<Proposal<'_>> = found
        .classes
        .iter()
        .enumerate()
        .flat_map(|(class, found)| {
            found
                .members
                .iter()
                .enumerate()
                .map(move |(member, (edit, schema))| {
                    let entry = &instrumented.holes[found.entry];
                    let source = &instrumented.files[entry.file].unit.source;
                    Proposal {
                        class,
                        found,
                        edit,
                        schema: *schema,
                        member,
                        text_change: text_change(&source[edit.span.range()], &edit.text),
                    }
                })
        })
        .collect();
    proposals.sort_by_key(|proposal| {
        (
            proposal.schema == Schema::Deletion,
            proposal.found.cost,
            proposal.schema == Schema::UnusualExpression,
            proposal.member,
            proposal.text_change,
            proposal.schema,
            proposal.class,
        )
    });
    proposals
}

/// Verifies the best candidates until there are as many patches as wanted.
///
/// # Errors
/// When the clean copy cannot be made or run.
pub fn verify<'a>(
    found: &Found,
    instrumented: &Instrumented,
    prepared: &Prepared,
    project: &'a Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'a>,
) -> Result<Verified, RepairError> {
    let mut verified = Verified::default();
    if found.interrupted {
        verified.interrupted = true;
        return Ok(verified);
    }
    (surroundings.events)(Event::Phase("verifying patches on a clean copy"));
    let wanted = if options.first {
        1
    } else if options.all {
        usize::MAX
    } else {
        options.max_patches
    };
    let mut numbers: Vec<usize> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    // Texts to verify, in order: those that differ.
    // Of a whole space, one patch for each class.
    let proposals = ranked(found, instrumented)
        .into_iter()
        .filter(|proposal| match options.all {
            true => proposal.member == 0,
            false => proposal.member < MEMBERS_REPORTED,
        });
    let mut candidates = proposals.filter_map(|proposal| {
        let entry = &instrumented.holes[proposal.found.entry];
        let file = &instrumented.files[entry.file];
        if is_self_assignment(&file.unit.source, proposal.edit) {
            return None;
        }
        let text = apply_edits(&file.unit.source, std::slice::from_ref(proposal.edit)).ok()?;
        let path = file.relative.to_string_lossy();
        let diff = unified_diff(path.as_bytes(), &file.unit.source, &text);
        (!diff.is_empty() && seen.insert(diff.clone())).then_some((proposal, text, diff))
    });
    let mut number = 0;
    while verified.patches.len() < wanted {
        (surroundings.events)(Event::Progress {
            done: verified.patches.len(),
            total: wanted.min(found.stats.plausible as usize),
        });
        let batch: Vec<_> = candidates
            .by_ref()
            .take(options.jobs.max(1).min(wanted - verified.patches.len()))
            .collect();
        if batch.is_empty() {
            break;
        }
        let results: Vec<Result<Option<Rejection>, RepairError>> = std::thread::scope(|scope| {
            let handles: Vec<_> = batch
                .iter()
                .map(|(proposal, text, _)| {
                    number += 1;
                    let name = format!("verify-{number}");
                    let entry = &instrumented.holes[proposal.found.entry];
                    let relative = &instrumented.files[entry.file].relative;
                    scope.spawn(move || {
                        let mut copy = CleanCopy::start(&name, prepared, project, surroundings)?;
                        let tests = prepared.failing.iter().chain(&prepared.passing);
                        let rejection = copy.check(relative, text, tests.copied())?;
                        copy.remove()?;
                        Ok(rejection)
                    })
                })
                .collect();
            handles
                .into_iter()
                .map(|handle| match handle.join() {
                    Ok(result) => result,
                    Err(panic) => std::panic::resume_unwind(panic),
                })
                .collect()
        });
        for ((proposal, _, diff), result) in batch.into_iter().zip(results) {
            let entry = &instrumented.holes[proposal.found.entry];
            let file = &instrumented.files[entry.file];
            let path = file.relative.display();
            let verdict = match result {
                Err(error) if error.is_cancelled() => {
                    // What has been verified stays so.
                    verified.interrupted = true;
                    return Ok(verified);
                }
                result => result?,
            };
            match verdict {
                None => {
                    let class = match numbers.iter().position(|&class| class == proposal.class) {
                        Some(at) => at + 1,
                        None => {
                            numbers.push(proposal.class);
                            numbers.len()
                        }
                    };
                    verified.patches.push(Patch {
                        file: file.relative.clone(),
                        line: LineMap::new(&file.unit.source).line(proposal.edit.span.start),
                        function: file.unit.functions[entry.hole.function].name.clone(),
                        schema: proposal.schema.name(),
                        cost: proposal.found.cost,
                        diff,
                        class,
                        class_size: proposal.found.count,
                        representative: proposal.member == 0,
                    });
                }
                Some(reason) => {
                    (surroundings.events)(Event::Warning(format!(
                        "a patch of {path}:{} passed in the instrumented program, but {reason}: \
                         it is not reported",
                        entry.line
                    )));
                    verified.rejected.push(format!(
                        "{path}:{}: {reason}\n{}",
                        entry.line,
                        String::from_utf8_lossy(&diff)
                    ));
                }
            }
        }
    }
    Ok(verified)
}

/// A copy of the untouched program in which changed files are built and tested, one after another.
pub struct CleanCopy<'a> {
    worker: Worker,
    project: &'a Project,
    prepared: &'a Prepared,
}

/// Why a changed program is no repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// It does not build.
    Build(String),
    /// It fails a test.
    Test {
        /// The test, by index.
        test: usize,
        /// Why, with the test's name.
        reason: String,
    },
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Rejection::Build(reason) | Rejection::Test { reason, .. } => f.write_str(reason),
        }
    }
}

impl<'a> CleanCopy<'a> {
    /// Makes the copy; `name` is that of its folder, which must be new.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn start(
        name: &str,
        prepared: &'a Prepared,
        project: &'a Project,
        surroundings: &Surroundings<'a>,
    ) -> Result<Self, RepairError> {
        let base = prepared.worker.sandbox.folder().to_path_buf();
        let worker = Worker::start(0, name, &worker_options(project, &base, surroundings))?;
        Ok(CleanCopy {
            worker,
            project,
            prepared,
        })
    }

    /// Builds the program with `text` as its file `file` and runs tests, by index, until one
    /// fails.
    ///
    /// # Errors
    /// When the build or a test cannot be run.
    pub fn check(
        &mut self,
        file: &std::path::Path,
        text: &[u8],
        tests: impl IntoIterator<Item = usize>,
    ) -> Result<Option<Rejection>, RepairError> {
        let worker = &mut self.worker;
        files::replace(&worker.sandbox.folder().join(file), text)?;
        let build = self.project.build.as_deref().unwrap_or_default();
        let built = run_build(
            &mut worker.runner,
            &worker.sandbox,
            build,
            &Environment::default(),
            &Limits::for_build(),
        );
        match built {
            Ok(_) => {}
            Err(BuildError::Run(error)) => return Err(error.into()),
            Err(error) => {
                return Ok(Some(Rejection::Build(format!(
                    "the clean program does not build with it: {error}"
                ))));
            }
        }
        for test in tests {
            let known = &self.prepared.baseline.tests[test];
            let limits = Limits {
                wall: known.timeout,
                ..self.project.limits.clone()
            };
            let run = run_test(
                &mut worker.runner,
                &worker.sandbox,
                &self.prepared.suite.tests[test],
                &self.prepared.suite.environment,
                &limits,
            )?;
            if let patchwright_exec::Verdict::Fail(why) = run.verdict {
                let reason = format!("test {} fails in the clean program: {why}", known.name);
                return Ok(Some(Rejection::Test { test, reason }));
            }
        }
        Ok(None)
    }

    /// Removes the copy.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(self) -> Result<(), RepairError> {
        let folder = self.worker.folder.clone();
        drop(self.worker);
        Ok(files::remove_tree(&folder)?)
    }
}

#[cfg(test)]
mod tests {
    use super::{is_self_assignment, text_change};
    use patchwright_text::{Edit, Span};

    #[test]
    fn an_assignment_of_a_variable_to_itself_is_seen() {
        let is = |source: &str, value: &str| {
            let start = source.find('@').unwrap() as u32;
            let edit = Edit::replace(Span::new(start, start + 1), value);
            is_self_assignment(source.as_bytes(), &edit)
        };
        assert!(is("x = @;", "x") && is("int x = @;", "x") && is("p->n =@;", "p->n"));
        assert!(!is("max = @;", "x") && !is("p->n = @;", "n") && !is("x == @;", "x"));
        assert!(!is("x += @;", "x") && !is("f(@);", "x"));
    }

    #[test]
    fn only_what_differs_counts_as_change() {
        assert_eq!(text_change(b"a < b", b"a <= b"), 1);
        assert_eq!(text_change(b"s[0].n", b"s[i].n"), 2);
        assert_eq!(text_change(b"aa", b"a"), 1);
        assert_eq!(text_change(b"x", b"x"), 0);
    }
}
