//! What is known of survivors beyond the tests: a proof that they do the same, or an input that kills them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Parser;
use patchwright_compare::Verdict;
use patchwright_exec::{
    CancelToken, Project, RunnerProgram, Scratch, Worker, WorkerOptions, files,
};
use patchwright_mutants::{Answer, Asked};
use patchwright_prove::{arguments, standard_input};
use patchwright_report::comparison::{Partition, Side};

use super::MutantsArgs;
use crate::{
    compare::{
        self,
        arguments::CompareArgs,
        named::{Made, Named, What},
        symbolic::{self, Compared},
        tests_of,
    },
    encoded::Problem,
};

/// Less time is not worth beginning something else.
const LEAST: Duration = Duration::from_secs(2);

/// This part of the time is for the function, where there is a program, too.
const OF_FUNCTION: f64 = 0.3;

/// This part of the rest is for the program with as many arguments as it reads.
const OF_READ: f64 = 0.7;

/// The number of arguments up to which the program is also tried, besides the number that it reads.
const MOST_ARGUMENTS: u32 = 2;

/// So much of what a program printed is shown.
const MOST_SHOWN: usize = 200;

/// The flags of a comparison, as they are where nobody gives any.
#[derive(Parser)]
struct Usual {
    #[command(flatten)]
    args: CompareArgs,
}

/// Answers questions about survivors.
pub struct Answers<'a> {
    args: &'a MutantsArgs,
    project: &'a Project,
    scratch: &'a Scratch,
    cancel: &'a CancelToken,
    /// A copy of the built program in which mutants are written.
    copy: Option<Worker>,
    /// Comparisons so far.
    number: usize,
}

impl<'a> Answers<'a> {
    /// Prepares to answer questions about the survivors of this project.
    pub fn new(
        args: &'a MutantsArgs,
        project: &'a Project,
        scratch: &'a Scratch,
        cancel: &'a CancelToken,
    ) -> Self {
        Answers {
            args,
            project,
            scratch,
            cancel,
            copy: None,
            number: 0,
        }
    }

    /// Asks for a proof or an input for a survivor.
    ///
    /// # Errors
    /// Why nothing is known, in words.
    pub fn answer(&mut self, asked: &Asked<'_>) -> Result<Answer, String> {
        let found = match self.project.single_file.clone() {
            Some(file) => self.of_single_file(asked, &file),
            None => self.of_function(asked),
        };
        found.map_err(|problem| match problem {
            Problem::Input(message) => self.shown(&message, asked),
            Problem::Interrupted => "the time is over".to_owned(),
        })
    }

    /// The function, if it is proved to do the same; else the program of a single file, whose inputs are the user's; else what is
    /// known of the function.
    fn of_single_file(&mut self, asked: &Asked<'_>, file: &Path) -> Result<Answer, Problem> {
        let is_program = asked.mutant.source.windows(5).any(|text| text == b"main(");
        let folder = self
            .scratch
            .create_folder(&format!("survivor-{}", asked.number));
        let folder = folder.map_err(Problem::of)?;
        let new = folder.join(file.file_name().unwrap_or_default());
        files::write_atomic(&new, asked.text).map_err(Problem::of)?;
        let home = file.parent().filter(|home| *home != Path::new(""));
        let home = std::path::absolute(home.unwrap_or(Path::new("."))).map_err(Problem::of)?;
        let shown = asked.mutant.mistake.file.display().to_string();
        let old = Named {
            shown: shown.clone(),
            what: What::File(file.to_path_buf(), None),
        };
        let new = Named {
            shown,
            what: What::File(new, Some(home)),
        };
        let pair = [&old, &new];
        let mut of_function = None;
        if asked.mutant.mistake.function != "main" {
            let share = if is_program { OF_FUNCTION } else { 1.0 };
            let time = left(asked).mul_f64(share);
            let args = self.compare_args(Some(&asked.mutant.mistake.function), time)?;
            match self.compare(&args, pair, None) {
                Ok(mut compared) => {
                    let answer = self.read(&mut compared, &args, asked, false)?;
                    if !is_program || answer.is_proved() {
                        return self.read(&mut compared, &args, asked, true);
                    }
                    of_function = Some((compared, args, answer));
                }
                Err(problem) if !is_program => return Err(problem),
                // The program may still be compared.
                Err(_) => {}
            }
        }
        match (self.of_program(asked, pair), of_function) {
            (Ok(known), _) if known.is_definite() => Ok(known),
            (_, Some((mut compared, args, answer))) if answer.is_definite() => {
                self.read(&mut compared, &args, asked, true)
            }
            (of_program, _) => of_program,
        }
    }

    /// The program, with as many arguments as it reads, and then with others.
    fn of_program(&mut self, asked: &Asked<'_>, pair: [&Named; 2]) -> Result<Answer, Problem> {
        let args = self.compare_args(None, left(asked).mul_f64(OF_READ))?;
        let mut compared = self.compare(&args, pair, None)?;
        let known = self.read(&mut compared, &args, asked, true)?;
        let Some(read) = compared.report.arguments else {
            return Ok(known);
        };
        let Answer::Equivalent { of, bound, inputs } = &known else {
            return Ok(known);
        };
        let (of, mut bound, mut inputs) = (of.clone(), *bound, inputs.clone());
        for count in (0..=MOST_ARGUMENTS).filter(|count| *count != read) {
            if left(asked) < LEAST {
                break;
            }
            let args = CompareArgs {
                arguments: Some(count),
                no_native: true,
                ..self.compare_args(None, left(asked) / 2)?
            };
            let mut compared = self.compare(&args, pair, None)?;
            match self.read(&mut compared, &args, asked, true)? {
                Answer::Equivalent {
                    bound: other,
                    inputs: more,
                    ..
                } => {
                    bound = bound.max(other);
                    inputs.extend(more);
                }
                found @ Answer::Killable { .. } => return Ok(found),
                Answer::Unknown { .. } => {}
            }
        }
        Ok(Answer::Equivalent { of, bound, inputs })
    }

    /// The function of a project.
    fn of_function(&mut self, asked: &Asked<'_>) -> Result<Answer, Problem> {
        let relative = &asked.mutant.mistake.file;
        let sources = asked.commands.iter();
        let mut own = sources.filter(|one| one.source() == asked.folder.join(relative));
        if own.any(|command| command.included.is_some()) {
            return Err(Problem::Input(format!(
                "{} is compiled as a part of another file",
                relative.display()
            )));
        }
        if self.copy.is_none() {
            let program = RunnerProgram::current_exe(["__runner"]).map_err(Problem::of)?;
            let options = WorkerOptions::new(
                self.project,
                asked.folder,
                &program,
                self.scratch,
                self.cancel,
            );
            let worker = Worker::start(0, "survivors", &options).map_err(Problem::of)?;
            self.copy = Some(worker);
        }
        let Some(copy) = &self.copy else {
            return Err(Problem::Interrupted);
        };
        let folder = copy.sandbox.folder().to_path_buf();
        let commands = asked.commands.iter();
        let commands = commands
            .map(|one| one.rebase(asked.folder, &folder))
            .collect();
        let exchanged = files::Exchanged::put(&folder.join(relative), asked.text);
        let exchanged = exchanged.map_err(Problem::of)?;
        let named = |shown: &str| Named {
            shown: shown.to_owned(),
            what: What::Project(Box::new(self.project.clone()), None),
        };
        let (old, new) = (named("untouched"), named("mutant"));
        let made = vec![
            Made {
                built: None,
                folder: asked.folder.to_path_buf(),
                commands: asked.commands.to_vec(),
            },
            Made {
                built: None,
                folder,
                commands,
            },
        ];
        let args = self.compare_args(Some(&asked.mutant.mistake.function), left(asked))?;
        let found = self.compare(&args, [&old, &new], Some(made));
        let answer = found.and_then(|mut one| self.read(&mut one, &args, asked, true));
        exchanged.put_back().map_err(Problem::of)?;
        answer
    }

    fn compare(
        &mut self,
        args: &CompareArgs,
        pair: [&Named; 2],
        made: Option<Vec<Made>>,
    ) -> Result<Compared, Problem> {
        self.number += 1;
        let number = self.number;
        compare::quietly(args, pair, made, number, self.scratch, self.cancel)
    }

    /// The flags of a comparison of a function, or of programs, within this time.
    fn compare_args(&self, function: Option<&str>, time: Duration) -> Result<CompareArgs, Problem> {
        let usual = Usual::try_parse_from(["compare", "untouched", "mutant"]);
        let args = usual.map_err(Problem::of)?.args;
        let description = &self.args.project.description;
        Ok(CompareArgs {
            function: function.map(str::to_owned),
            budget: Some(time),
            cache: self.args.cache.clone(),
            resuming: self.args.resuming.clone(),
            minimal: true,
            // A function is called at any time.
            havoc: function.is_some(),
            description: crate::args::DescriptionArgs {
                cases: self
                    .args
                    .project
                    .case_folder
                    .clone()
                    .or(description.cases.clone()),
                ..description.clone()
            },
            ..args
        })
    }

    /// What a comparison says of the survivor. Its test is written if that `writes`.
    fn read(
        &self,
        compared: &mut Compared,
        args: &CompareArgs,
        asked: &Asked<'_>,
        writes: bool,
    ) -> Result<Answer, Problem> {
        if let Some(bug) = &compared.bug {
            return Err(Problem::Input(format!(
                "executions are not what the comparison says, which is a bug of Patchwright: {bug}"
            )));
        }
        let of = match &args.function {
            Some(function) => format!("`{function}`"),
            None => "the program".to_owned(),
        };
        let report = &compared.report;
        let mut inputs = report.inputs.clone();
        inputs.extend(report.assumed.iter().cloned());
        let bound = report.bound;
        let answer = match compared.answer {
            _ if !compared.cases.is_empty() => self.seen(compared, asked, of)?,
            symbolic::Answer::Same => Answer::Equivalent {
                of,
                bound: None,
                inputs: Vec::new(),
            },
            symbolic::Answer::Symbolic(Verdict::Equal | Verdict::EqualWithinBound)
                if !report.notes.is_empty() =>
            {
                // A called function of another file may tell both apart.
                let notes = report.notes.join("; ");
                Answer::Unknown {
                    because: self.shown(&format!("a proof would take for granted: {notes}"), asked),
                }
            }
            symbolic::Answer::Symbolic(Verdict::Equal) => Answer::Equivalent {
                of,
                bound: None,
                inputs,
            },
            symbolic::Answer::Symbolic(Verdict::EqualWithinBound) => Answer::Equivalent {
                of,
                bound: Some(bound),
                inputs,
            },
            symbolic::Answer::Symbolic(Verdict::Different) => {
                self.differs(compared, args, asked, (of, writes))?
            }
            _ => Answer::Unknown {
                because: self.because(compared, asked, &of),
            },
        };
        Ok(answer)
    }

    /// An input that the interpreter has executed in both versions.
    fn differs(
        &self,
        compared: &mut Compared,
        args: &CompareArgs,
        asked: &Asked<'_>,
        (of, writes): (String, bool),
    ) -> Result<Answer, Problem> {
        let is_shown = |one: &&Partition, kind: &str| {
            one.kind == kind && one.replay == "agrees" && !one.undetermined
        };
        let all = &compared.report.partitions;
        let differing = all.iter().find(|one| is_shown(one, "different"));
        let failing = || all.iter().find(|one| is_shown(one, "new-fails"));
        let Some(found) = differing.or_else(failing).cloned() else {
            let only_old = all.iter().any(|one| one.kind.ends_with("fails"));
            let because = match only_old {
                true => format!("a difference is known only where {of} itself is undefined"),
                false => "the inputs that were found could not be executed in both".to_owned(),
            };
            return Ok(Answer::Unknown { because });
        };
        let mut written = Vec::new();
        if let Some(folder) = self.args.output.as_ref().filter(|_| writes) {
            let name = format!("mutant-{}", asked.number);
            written = match args.function {
                None => self.case(compared, folder, &name, &found)?,
                Some(_) => self.c_test(compared, args, asked, folder, &name)?,
            };
        }
        let (untouched, mutated) = told(&found);
        let observed = found.new.observed.as_ref();
        let is_undefined = observed.is_some_and(|did| did.ending.starts_with("undefined"));
        let mut input = found.sample.clone();
        if input.is_empty() && args.function.is_none() {
            input.push(("arguments".to_owned(), "none".to_owned()));
        }
        Ok(Answer::Killable {
            of,
            input,
            untouched: self.shown(&untouched, asked),
            mutated: self.shown(&mutated, asked),
            by: match is_undefined {
                // A compiled program may do the same all the same.
                true => "C does not define what the mutant does, by the interpreter".to_owned(),
                false => "executed by the interpreter".to_owned(),
            },
            files: written,
        })
    }

    /// The case of a program.
    fn case(
        &self,
        compared: &Compared,
        folder: &Path,
        name: &str,
        found: &Partition,
    ) -> Result<Vec<PathBuf>, Problem> {
        let samples = compared.partitions.get(found.number - 1);
        let (Some(partition), Some(observed)) = (samples, &found.old.observed) else {
            return Ok(Vec::new());
        };
        let reads = partition
            .samples
            .iter()
            .map(|inputs| standard_input(inputs));
        let input = reads.max_by_key(Vec::len).unwrap_or_default();
        let words = arguments(&partition.samples[0]);
        let did = (&observed.ending[..], observed.output.as_bytes());
        tests_of::case(folder, name, (&input, &words), did)
    }

    /// The C program that calls a function.
    fn c_test(
        &self,
        compared: &mut Compared,
        args: &CompareArgs,
        asked: &Asked<'_>,
        folder: &Path,
        name: &str,
    ) -> Result<Vec<PathBuf>, Problem> {
        let file = folder.join(format!("{name}.c"));
        let own = match &self.project.single_file {
            Some(file) => std::path::absolute(file).map_err(Problem::of)?,
            None => self.project.root.join(&asked.mutant.mistake.file),
        };
        let source = own.to_string_lossy();
        "the untouched program".clone_into(&mut compared.report.old);
        tests_of::c_test(compared, args, Some(&source), &file)?;
        Ok(vec![file])
    }

    /// An input for which executions of both programs differ.
    fn seen(&self, compared: &Compared, asked: &Asked<'_>, of: String) -> Result<Answer, Problem> {
        let Some(seen) = compared.report.seen.first() else {
            return Ok(Answer::Unknown {
                because: self.because(compared, asked, &of),
            });
        };
        let mut files = Vec::new();
        if let (Some(folder), Some(case)) = (&self.args.output, compared.cases.first()) {
            let name = format!("mutant-{}", asked.number);
            let given = (&case.case.input[..], &case.case.arguments[..]);
            if let (true, Some(ran)) = (case.case.files.is_empty(), case.ran.first()) {
                files = tests_of::case(folder, &name, given, (&ran.ending, &ran.output))?;
            }
        }
        let mut input = Vec::new();
        for (at, word) in seen.arguments.iter().enumerate() {
            input.push((format!("argv[{}]", at + 1), quoted(word)));
        }
        if input.is_empty() {
            input.push(("arguments".to_owned(), "none".to_owned()));
        }
        if !seen.input.is_empty() {
            input.push(("standard input".to_owned(), quoted(&seen.input)));
        }
        let shown = |ran: &patchwright_report::comparison::Ran| {
            let printed = format!("{}{}", ran.output, ran.errors);
            format!("{}, prints {}", ran.ending, quoted(&printed))
        };
        Ok(Answer::Killable {
            of,
            input,
            untouched: shown(&seen.old),
            mutated: shown(&seen.new),
            by: "executed as programs".to_owned(),
            files,
        })
    }

    /// Why nothing is known.
    fn because(&self, compared: &Compared, asked: &Asked<'_>, of: &str) -> String {
        let report = &compared.report;
        let reasons = report.reasons.iter().map(|reason| match &reason.place {
            Some(place) => format!("{} ({place})", reason.text),
            None => reason.text.clone(),
        });
        let reasons: Vec<String> = reasons.take(2).collect();
        let known = match (reasons.is_empty(), report.ended_early) {
            (false, _) => reasons.join("; "),
            (true, true) => format!("the time for {of} was over, and no difference was found"),
            (true, false) if report.none_ends => {
                format!("no input that was explored lets {of} end in both versions")
            }
            (true, false) => format!("no difference of {of} was found, and no proof"),
        };
        self.shown(&known, asked)
    }

    /// Messages with the user's own paths.
    fn shown(&self, message: &str, asked: &Asked<'_>) -> String {
        let mut message = message.replace(&format!("{}/", asked.folder.display()), "");
        if let Some(copy) = &self.copy {
            message = message.replace(&format!("{}/", copy.sandbox.folder().display()), "");
        }
        let own = self
            .scratch
            .path()
            .join(format!("survivor-{}/", asked.number));
        message = message.replace(&own.display().to_string(), "");
        message.replace("untouched/", "").replace("mutant/", "")
    }
}

/// The time that is left for an answer.
fn left(asked: &Asked<'_>) -> Duration {
    asked.end.saturating_duration_since(Instant::now())
}

fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(MOST_SHOWN).collect();
    let more = if cut.len() < text.len() { "…" } else { "" };
    format!(
        "{}{more}",
        patchwright_report::text::quoted_bytes(cut.as_bytes())
    )
}

/// What both did with the sample: only what differs, if something that is left does.
fn told(partition: &Partition) -> (String, String) {
    let of = |side: &Side, other: &Side| {
        let Some(observed) = &side.observed else {
            return side.failure.clone().unwrap_or_default();
        };
        let there = other.observed.as_ref();
        let mut parts = Vec::new();
        for (name, value) in &observed.left {
            let is_same =
                there.is_some_and(|there| there.left.contains(&(name.clone(), value.clone())));
            if !is_same {
                parts.push(format!("{name} = {value}"));
            }
        }
        if there.is_none_or(|there| there.output != observed.output) {
            parts.push(format!("prints {}", quoted(&observed.output)));
        }
        let is_other = there.is_none_or(|there| there.ending != observed.ending);
        match &side.failure {
            Some(failure) => parts.insert(0, failure.clone()),
            None if parts.is_empty() || is_other => parts.insert(0, observed.ending.clone()),
            None => {}
        }
        parts.join(", ")
    };
    (
        of(&partition.old, &partition.new),
        of(&partition.new, &partition.old),
    )
}
