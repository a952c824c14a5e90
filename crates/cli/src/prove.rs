//! `patchwright prove`.

mod by_paths;
mod decide;
mod deeper;
mod flags;
mod parts;
mod read;
mod repairs;
mod show;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, Mutex},
    time::Instant,
};

use patchwright_exec::{CancelToken, Scratch, files};
use patchwright_ir::Node;
use patchwright_prove::{
    Counterexample, Mutations, Source, Spec, Verdict, choices, link, locate, mixes_arguments, spec,
    unchanged,
};
use patchwright_report::{
    findings::Findings,
    page,
    proof::{self, Report},
    text::Style,
};
use patchwright_solve::{Budget, Statistics, Terms};
use patchwright_symbolic::{Check, EncodeError, Encoding, Entry, Options, encode};

use crate::{
    Exit,
    encoded::{Problem, Reader, checks, deep},
    limits::{self, Limits},
    places::Places,
    progress::Progress,
    shards::PartFile,
    signals,
};
use decide::Decided;
pub use flags::{ProveArgs, usual};
use read::Program;

/// Instructions that are encoded at most, where the user does not say.
const INSTRUCTIONS: u64 = 5_000_000;

/// Runs `patchwright prove`: prints the verdict with counterexamples or repairs. Returns the exit status; a limit that was reached
/// gives [`Exit::Undecided`].
pub fn run(args: &ProveArgs) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        Err(Problem::Input(message)) => {
            eprintln!("patchwright: error: {message}");
            Exit::BadInput
        }
        Err(Problem::Interrupted) => {
            if let Some(why) = limits::exceeded() {
                eprintln!("patchwright: unknown, because {why}");
                return Exit::Undecided;
            }
            eprintln!(
                "patchwright: interrupted before anything was found; --function NAME, --paths or a smaller --bound ask for less"
            );
            Exit::Interrupted
        }
    }
}

fn try_run(args: &ProveArgs) -> Result<Exit, Problem> {
    let started = Instant::now();
    let part = PartFile::begin(&args.sharding).map_err(Problem::of)?;
    let scratch = Scratch::in_default_place_telling(&signals::removing).map_err(Problem::of)?;
    let cancel = CancelToken::new().map_err(Problem::of)?;
    signals::cancel_on_signals(cancel.clone(), false);
    let first = args.sources.first().map_or("".as_ref(), Path::new);
    let places = Places::new(scratch.path(), first);
    let progress = Progress::new(&places);
    progress.phase("reading");
    let program = read::program(args, &scratch, cancel.clone())?;
    let scratch = Arc::new(Mutex::new(Some(scratch)));
    // The thread that watches the limits outlives the job.
    let end = move || drop(scratch.lock().map(|mut scratch| scratch.take()));
    let limits = Limits {
        memory: args.memory,
        time: args.budget,
    };
    limits.watch(started, cancel.clone(), end.clone());
    let result = deep(|| {
        let mut job = Job::new(args, program, &cancel);
        job.progress = Some(&progress);
        job.part = part;
        job.run()
    });
    progress.finish();
    end();
    result
}

struct Job<'a> {
    args: &'a ProveArgs,
    program: Program,
    cancel: &'a CancelToken,
    terms: Terms,
    stats: proof::Stats,
    style: Style,
    /// The most rounds that a loop of the program has in a row.
    longest: u64,
    /// What the user sees of it, where it is all that happens.
    progress: Option<&'a Progress<'a>>,
    /// The reference's encoding, once it is needed.
    like: Option<Encoding>,
    /// Instructions and conflicts of deciding about the formula of all paths, the last time.
    work: (u64, u64),
    /// A few paths were looked at, which did not decide it.
    tried_paths: bool,
    /// The file of a part of the run.
    part: Option<PartFile>,
    /// Bytes of standard input at most.
    input: u32,
    /// What is looked for, where that is not what the user says.
    checks: Option<BTreeSet<Check>>,
}

/// A program that is asked about.
struct Asked {
    encoding: Encoding,
    spec: Spec,
}

/// Decides about a program that was read already. The second result is whether the program states
/// something that must hold.
pub fn decided(
    args: &ProveArgs,
    reader: Reader,
    sources: Vec<Source>,
    cancel: &CancelToken,
) -> Result<(Report, bool), Problem> {
    let program = read::assembled(args, reader, sources, None, Instant::now())?;
    let is_stated = program.reference.is_some() || program.has_assertion();
    let Decided { report, bug, .. } = deep(|| Job::new(args, program, cancel).decided())?;
    match bug {
        None => Ok((report, is_stated)),
        Some(message) => Err(Problem::Input(format!(
            "of a bug of Patchwright: the counterexample is not what an execution does: {message}; please report it \
             with the program"
        ))),
    }
}

impl<'a> Job<'a> {
    fn new(args: &'a ProveArgs, program: Program, cancel: &'a CancelToken) -> Job<'a> {
        let colour = crate::shown::colour();
        let mut stats = proof::Stats::default();
        stats.seconds.push(("read".to_owned(), program.seconds));
        Job {
            args,
            program,
            cancel,
            terms: Terms::new(),
            stats,
            style: Style { colour },
            longest: 0,
            progress: None,
            like: None,
            work: (0, 0),
            tried_paths: false,
            part: None,
            input: args.input,
            checks: None,
        }
    }

    /// Instructions that are encoded at most.
    fn instructions(&self) -> u64 {
        self.args.max_instructions.unwrap_or(INSTRUCTIONS)
    }

    fn options(&self, bound: u32) -> Result<Options, Problem> {
        let args = self.args;
        Ok(Options {
            bound,
            recursion: bound,
            checks: match &self.checks {
                Some(checks) => checks.clone(),
                None => checks(args.check.as_deref(), Check::usual())?,
            },
            havoc: args.havoc,
            abort_fails: !args.abort_ends && !self.program.has_error_function(),
            instructions: self.instructions(),
            input: self.input,
            argument_numbers: true,
            ..Options::default()
        })
    }

    fn encoded(
        &mut self,
        own: Option<&[Mutations]>,
        options: &Options,
    ) -> Result<Encoding, Problem> {
        let linked = self.linked(own)?;
        let options = match own {
            Some(own) => self.with_choices(own, options),
            None => options.clone(),
        };
        let entry = self.program.entry.clone();
        self.encode(&linked, &entry, &options)
    }

    /// The program, or the meta-program with these mutations.
    fn linked(&self, own: Option<&[Mutations]>) -> Result<patchwright_ir::Program, Problem> {
        let alternatives: Option<Vec<_>> =
            own.map(|own| own.iter().map(|one| &one.alternatives).collect());
        let linked = link(
            &self.program.sources,
            alternatives.as_deref(),
            &self.program.library,
        );
        linked.map_err(Problem::of)
    }

    /// How a meta-program with these mutations is encoded.
    fn with_choices(&self, own: &[Mutations], options: &Options) -> Options {
        Options {
            choices: choices(own),
            decided_rounds: Some(self.longest),
            ..options.clone()
        }
    }

    fn encode(
        &mut self,
        linked: &patchwright_ir::Program,
        entry: &Entry,
        options: &Options,
    ) -> Result<Encoding, Problem> {
        let cancel = self.cancel;
        let interrupt = || cancel.is_cancelled();
        let encoding = encode(linked, entry, options, &mut self.terms, &interrupt);
        let encoding = encoding.map_err(|error| match error {
            EncodeError::Interrupted => Problem::Interrupted,
            other => Problem::of(other),
        })?;
        self.stats.instructions += encoding.counts.instructions;
        if options.choices.is_empty() {
            self.longest = self.longest.max(encoding.counts.longest);
        }
        Ok(encoding)
    }

    /// The program, or with alternatives all that repairs make of it, and what it shall do.
    fn asked(
        &mut self,
        own: Option<&[Mutations]>,
        options: &mut Options,
    ) -> Result<Asked, Problem> {
        loop {
            let encoding = self.encoded(own, options)?;
            if self.like.is_none() {
                self.like = self.reference(options)?;
            }
            let reference = self.like.as_ref();
            let mut spec = spec(&mut self.terms, &encoding, reference);
            self.leave_to_others(&mut spec);
            let both: Vec<&Encoding> = std::iter::once(&encoding).chain(reference).collect();
            if !options.argument_numbers || !mixes_arguments(&self.terms, &spec.roots(), &both) {
                return Ok(Asked { encoding, spec });
            }
            options.argument_numbers = false;
            self.like = None;
        }
    }

    /// Leaves what this part of the run is about.
    fn leave_to_others(&self, spec: &mut Spec) {
        if let Some(shard) = self.args.sharding.shard {
            spec.keep(&|name| shard.has_named(name));
        }
    }

    /// The reference's encoding, in the same terms.
    fn reference(&mut self, options: &Options) -> Result<Option<Encoding>, Problem> {
        let Some(linked) = self.linked_reference()? else {
            return Ok(None);
        };
        let Some(entry) = self.program.reference.as_ref().map(|one| one.entry.clone()) else {
            return Ok(None);
        };
        let options = Options {
            prefix: "reference.".to_owned(),
            locations: false,
            choices: BTreeMap::new(),
            ..options.clone()
        };
        self.encode(&linked, &entry, &options).map(Some)
    }

    fn linked_reference(&self) -> Result<Option<patchwright_ir::Program>, Problem> {
        let Some(reference) = &self.program.reference else {
            return Ok(None);
        };
        let sources = std::slice::from_ref(&reference.source);
        let linked = link(sources, None, &self.program.library);
        linked.map(Some).map_err(Problem::of)
    }

    fn run(&mut self) -> Result<Exit, Problem> {
        let Decided {
            verdict,
            mut report,
            bug,
            expected,
            options,
        } = self.decided()?;
        let assumed = self.args.assume.iter();
        report
            .notes
            .extend(assumed.map(|condition| format!("{condition} (--assume)")));
        let cancel = self.cancel;
        let interrupt = move || cancel.is_cancelled();
        let budget = Budget {
            conflicts: self.args.conflicts,
            interrupt: Some(&interrupt),
        };
        let quiet = self.args.json;
        if !quiet {
            self.print(&report.verdict(self.style))?;
        }
        if let Verdict::Failed(found) = &verdict {
            self.write_test(found, expected.as_deref())?;
        }
        if let Some(message) = bug {
            if quiet {
                self.print(&report.json())?;
            }
            eprintln!(
                "patchwright: this is a bug of Patchwright: the counterexample is not what an execution does: \
                 {message}; please report it with the program"
            );
            return Ok(Exit::Bug);
        }
        if self.args.locate {
            self.locate(&verdict, &mut report, &options, &budget)?;
        }
        let mut repaired = None;
        let is_right = matches!(verdict, Verdict::Proved | Verdict::Void);
        if self.args.repair && !is_right && !matches!(verdict, Verdict::Budget) {
            repaired = Some(self.repair(&verdict, &mut report, &options, &budget)?);
        }
        self.finish(&mut report)?;
        self.write_part(&report)?;
        if let Some(why) = limits::exceeded() {
            eprintln!("patchwright: {why}");
        } else if self.cancel.is_cancelled() {
            return Ok(Exit::Interrupted);
        }
        Ok(match (repaired, &verdict) {
            (Some(exit), _) => exit,
            (None, Verdict::Proved) => Exit::Found,
            (None, Verdict::Failed(_)) => Exit::Nothing,
            (None, Verdict::Void) => Exit::BadInput,
            (None, _) => Exit::Undecided,
        })
    }

    fn phase(&mut self, name: &str, started: Instant) {
        self.took(name, started.elapsed().as_secs_f64());
    }

    /// A phase took so long, once more where it has been before.
    fn took(&mut self, name: &str, seconds: f64) {
        let mut phases = self.stats.seconds.iter_mut();
        match phases.find(|(known, _)| known == name) {
            Some((_, all)) => *all += seconds,
            None => self.stats.seconds.push((name.to_owned(), seconds)),
        }
    }

    fn count(&mut self, statistics: &Statistics) {
        self.stats.variables += statistics.variables;
        self.stats.clauses += statistics.clauses;
        self.stats.calls += statistics.calls;
        self.stats.conflicts += statistics.conflicts;
    }

    /// Tells what is done now.
    fn doing(&self, what: &'static str) {
        if let Some(progress) = self.progress {
            progress.phase(what);
        }
    }

    fn print(&self, text: &str) -> Result<(), Problem> {
        print_beside(self.progress, text);
        Ok(())
    }

    fn locate(
        &mut self,
        verdict: &Verdict,
        report: &mut Report,
        options: &Options,
        budget: &Budget<'_>,
    ) -> Result<(), Problem> {
        self.doing("locating the fault");
        let started = Instant::now();
        let mut options = Options {
            locations: true,
            ..options.clone()
        };
        let Asked { encoding, spec } = self.asked(None, &mut options)?;
        const MOST: usize = 5;
        let program = &self.program;
        let unchanged: Vec<_> = program
            .sources
            .iter()
            .map(|source| unchanged(&source.unit, &source.trusted))
            .collect();
        let changeable = |place: &patchwright_symbolic::Place| {
            let position = program
                .sources
                .iter()
                .position(|source| source.path == place.file);
            position.is_some_and(
                |position| match place.origin.and_then(|origin| origin.node) {
                    Some(Node::Expression(id)) => {
                        !unchanged[position].contains(&(place.function.clone(), id))
                    }
                    _ => true,
                },
            )
        };
        let shown = match verdict {
            Verdict::Failed(found) => found.inputs.as_slice(),
            _ => &[],
        };
        let found = locate(
            &mut self.terms,
            &encoding,
            &spec,
            &changeable,
            shown,
            MOST,
            budget,
        );
        self.phase("locate", started);
        let program = &self.program;
        let places = |all: &[patchwright_symbolic::Place]| {
            let own = all.iter().filter(|place| program.is_own(place));
            own.map(|place| show::place(program, place))
                .collect::<Vec<_>>()
        };
        let sets = found
            .iter()
            .map(|one| proof::MustSets {
                message: one.message.clone(),
                place: one.place.as_ref().map(|place| show::place(program, place)),
                inputs: show::inputs(&one.input),
                slice: places(&one.slice),
                core: places(&one.core),
            })
            .collect();
        report.must_sets = Some(sets);
        if !self.args.json {
            match self.args.annotate {
                true => self.print(&show::annotated(program, report))?,
                false => self.print(&report.must_sets(self.style))?,
            }
        }
        Ok(())
    }

    fn finish(&mut self, report: &mut Report) -> Result<(), Problem> {
        if let Some(progress) = self.progress {
            progress.finish();
        }
        if self.args.stats {
            self.stats.terms = self.terms.len() as u64;
            self.stats.memory = limits::peak();
            report.stats = Some(self.stats.clone());
        }
        if let Some(file) = &self.args.html {
            files::write_atomic(file, page::prove(report).as_bytes()).map_err(Problem::of)?;
        }
        let findings = || Findings::of_proof(report);
        self.args
            .ci
            .write(".".as_ref(), findings)
            .map_err(Problem::of)?;
        if self.args.json {
            self.print(&report.json())?;
        } else if self.args.stats {
            eprint!("{}", report.stats());
        }
        Ok(())
    }

    /// Writes what this part of the run has found out.
    fn write_part(&self, report: &Report) -> Result<(), Problem> {
        let Some(part) = &self.part else {
            return Ok(());
        };
        let schema = (proof::PART_SCHEMA, proof::PART_VERSION);
        let is_partial = report.verdict == proof::Verdict::Interrupted;
        let key = parts::key(self.args, &self.program);
        let mut stats = self.stats.clone();
        stats.terms = self.terms.len() as u64;
        let report = Report {
            stats: Some(stats),
            ..report.clone()
        };
        let written = part.write(schema, key, is_partial, report);
        written.map_err(Problem::of)
    }

    fn write_test(&self, found: &Counterexample, expected: Option<&[u8]>) -> Result<(), Problem> {
        let Some(folder) = &self.args.test else {
            return Ok(());
        };
        files::create_folder(folder).map_err(Problem::of)?;
        let name = "counterexample";
        let write = |ending: &str, contents: &[u8]| {
            let path = folder.join(format!("{name}.{ending}"));
            files::write_atomic(&path, contents).map_err(Problem::of)
        };
        let test = self.program.test(found, expected)?;
        write("c", test.file.as_bytes())?;
        if self.args.function.is_none() {
            write("in", &test.input)?;
            write("args", test.arguments.as_bytes())?;
            if let Some(expected) = expected {
                write("out", expected)?;
            }
        }
        if let (false, Some(command)) = (self.args.json, found.compiled_by()) {
            let file = folder.join(format!("{name}.c"));
            self.print(&format!(
                "{} fails when it is compiled with `{command}`.\n",
                file.display()
            ))?;
        }
        Ok(())
    }
}

/// Prints, and shows the progress below that.
fn print_beside(progress: Option<&Progress<'_>>, text: &str) {
    let write = || print!("{text}");
    match progress {
        Some(progress) => progress.aside(write),
        None => write(),
    }
}
