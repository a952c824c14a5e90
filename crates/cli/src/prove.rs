//! `patchwright prove`.

mod by_paths;
mod decide;
mod deeper;
mod flags;
mod read;
mod show;

use std::{
    collections::BTreeMap,
    io::Write,
    path::Path,
    sync::{Arc, Mutex},
    time::Instant,
};

use patchwright_exec::{CancelToken, Scratch, files};
use patchwright_ir::Node;
use patchwright_prove::{
    Counterexample, Extent, Found, Level, Mutations, Real, Repair, Search, Source, Spec, Verdict,
    choices, link, locate, mixes_arguments, mutations, patched, question, spec, unchanged,
};
use patchwright_report::{
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
    signals,
};
use decide::Decided;
pub use flags::{ProveArgs, usual};
use read::Program;

/// Instructions that are encoded at most, where the user does not say.
const INSTRUCTIONS: u64 = 5_000_000;

/// Runs the command.
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
    let scratch = Scratch::in_default_place().map_err(Problem::of)?;
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
        time: args.timeout,
    };
    limits.watch(started, cancel.clone(), end.clone());
    let result = deep(|| {
        let mut job = Job::new(args, program, &cancel);
        job.progress = Some(&progress);
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
}

/// A program that is asked about.
struct Asked {
    encoding: Encoding,
    spec: Spec,
}

/// Decides about a program that somebody else has read. Also whether something states what shall hold.
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
            checks: checks(args.check.as_deref(), Check::usual())?,
            havoc: args.havoc,
            abort_fails: !args.abort_ends && !self.program.has_error_function(),
            instructions: self.instructions(),
            input: args.input,
            argument_numbers: true,
            ..Options::default()
        })
    }

    fn encoded(
        &mut self,
        own: Option<&[Mutations]>,
        options: &Options,
    ) -> Result<Encoding, Problem> {
        let alternatives: Option<Vec<_>> =
            own.map(|own| own.iter().map(|one| &one.alternatives).collect());
        let linked = link(
            &self.program.sources,
            alternatives.as_deref(),
            &self.program.library,
        );
        let linked = linked.map_err(Problem::of)?;
        let mut options = options.clone();
        if let Some(own) = own {
            options.choices = choices(own);
            options.decided_rounds = Some(self.longest);
        }
        let entry = self.program.entry.clone();
        self.encode(&linked, &entry, &options)
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
            let spec = spec(&mut self.terms, &encoding, reference);
            let both: Vec<&Encoding> = std::iter::once(&encoding).chain(reference).collect();
            if !options.argument_numbers || !mixes_arguments(&self.terms, &spec.roots(), &both) {
                return Ok(Asked { encoding, spec });
            }
            options.argument_numbers = false;
            self.like = None;
        }
    }

    /// The reference's encoding, in the same terms.
    fn reference(&mut self, options: &Options) -> Result<Option<Encoding>, Problem> {
        let Some(reference) = &self.program.reference else {
            return Ok(None);
        };
        let linked = link(
            std::slice::from_ref(&reference.source),
            None,
            &self.program.library,
        );
        let linked = linked.map_err(Problem::of)?;
        let entry = reference.entry.clone();
        let options = Options {
            prefix: "reference.".to_owned(),
            locations: false,
            choices: BTreeMap::new(),
            ..options.clone()
        };
        self.encode(&linked, &entry, &options).map(Some)
    }

    fn run(&mut self) -> Result<Exit, Problem> {
        let Decided {
            verdict,
            mut report,
            bug,
            expected,
            options,
        } = self.decided()?;
        let cancel = self.cancel;
        let interrupt = move || cancel.is_cancelled();
        let budget = Budget {
            conflicts: self.args.budget,
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
            repaired = Some(self.repair(&mut report, &options, &budget)?);
        }
        self.finish(&mut report)?;
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

    fn repair(
        &mut self,
        report: &mut Report,
        options: &Options,
        budget: &Budget<'_>,
    ) -> Result<Exit, Problem> {
        let level = Level::from_number(self.args.level).unwrap_or(Level::Two);
        let own = mutations(&self.program.sources, level);
        let sites = || own.iter().flat_map(|one| &one.sites);
        let mut all = proof::Repairs {
            level: self.args.level,
            max_edits: self.args.max_edits,
            places: sites().count(),
            mutations: sites().map(|site| site.mutations.len()).sum(),
            out_of_reach: own.iter().map(|one| one.out_of_reach).sum(),
            ..proof::Repairs::default()
        };
        if all.places == 0 {
            return Err(Problem::Input(
                "no expression can be changed: all are trusted, or written by macros".to_owned(),
            ));
        }
        // With one change a program has much fewer ways than with two. Where much can be changed, the repairs of one are
        // looked for first.
        let most = self.args.max_edits;
        let steps = match level {
            Level::Three if most > 1 => vec![1, most],
            _ => vec![most],
        };
        if let Some(folder) = &self.args.output {
            files::create_output_folder(folder).map_err(Problem::of)?;
        }
        let mut shown: Vec<proof::Repair> = Vec::new();
        let mut problem = None;
        let cancel = self.cancel;
        let interrupt = move || cancel.is_cancelled();
        let mut found = Found::default();
        let mut leads_to_unknown = false;
        for (step, &changes) in steps.iter().enumerate() {
            self.doing("encoding what repairs may change");
            let started = Instant::now();
            let mut options = Options {
                single: changes == 1,
                ..options.clone()
            };
            let asked = match self.asked(Some(&own), &mut options) {
                // What was found before is told.
                Err(Problem::Interrupted) if step > 0 => {
                    found.complete = false;
                    found.interrupted = true;
                    break;
                }
                asked => asked?,
            };
            self.phase("encode mutants", started);
            self.doing("looking for repairs");
            let started = Instant::now();
            let question = question(&mut self.terms, &asked.spec, &own, budget);
            let extent = Extent {
                changes,
                conflicts: self.args.budget,
                void: self.args.vacuous,
                // Where much can be changed, much can be said in two ways.
                fewest: level == Level::Three,
                ..Extent::default()
            };
            let (program, args, style) = (&self.program, self.args, self.style);
            let progress = self.progress;
            let mut tell = |repair: &Repair| {
                let told = tell(program, args, &own, shown.len() + 1, repair);
                match told {
                    Ok(one) => {
                        if !args.json {
                            print_beside(progress, &one.text(style));
                        }
                        shown.push(one);
                        if let Some(progress) = progress {
                            let count = shown.len();
                            progress.message(format!("looking for repairs, {count} found"));
                        }
                    }
                    Err(error) => problem = Some(error),
                }
            };
            let search = Search::new(&mut self.terms, &question, extent, &interrupt);
            found = search.after(found).run(&mut tell);
            self.phase("search", started);
            if let Some(problem) = problem {
                return Err(problem);
            }
            // Of what is not encoded nothing is known: a patch with which it is executed is taken for wrong.
            if found.complete
                && !leads_to_unknown
                && let Some(first) = asked.encoding.unknown.first()
            {
                leads_to_unknown = true;
                eprintln!(
                    "patchwright: patches that lead to what is not encoded are not decided: {} at {}:{}",
                    first.reason,
                    self.program.shown(&first.place.file),
                    first.place.line
                );
            }
            let fails = asked.spec.fails(&mut self.terms);
            let real = Real::of(&self.terms, &[fails]);
            let names = [real.names(), real.unknown().to_vec()].concat();
            if found.complete && !leads_to_unknown && !names.is_empty() {
                leads_to_unknown = true;
                eprintln!(
                    "patchwright: repairs that rest on what {} gives may be missing: of it is only known that equal \
                     arguments give equal results",
                    names.join(", ")
                );
            }
            self.count(&found.solvers.0);
            self.count(&found.solvers.1);
            if !found.complete {
                break;
            }
        }
        found.complete &= !leads_to_unknown;
        self.stats.patches = found.counts.patches;
        self.stats.by_condition = found.counts.by_condition;
        self.stats.by_must_set = found.counts.by_must_set;
        self.stats.by_repair = found.counts.by_repair;
        all.repairs = shown;
        all.complete = found.complete;
        all.decided = found.decided;
        all.undecided = found.undecided.len();
        let exit = match (all.repairs.is_empty(), all.complete && all.undecided == 0) {
            (false, _) => Exit::Found,
            (true, true) => Exit::Nothing,
            (true, false) => Exit::Undecided,
        };
        report.repairs = Some(all);
        if !self.args.json {
            self.print(&report.repairs_end(self.style))?;
        }
        Ok(exit)
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
        if self.args.json {
            self.print(&report.json())?;
        } else if self.args.stats {
            eprint!("{}", report.stats());
        }
        Ok(())
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
        let test = self.program.test(found)?;
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
    let write = || {
        let mut out = std::io::stdout().lock();
        out.write_all(text.as_bytes())
            .and_then(|()| out.flush())
            .unwrap_or_else(|error| panic!("failed printing to stdout: {error}"));
    };
    match progress {
        Some(progress) => progress.aside(write),
        None => write(),
    }
}

/// A repair as it is shown; its diff is written where that is asked for.
fn tell(
    program: &Program,
    args: &ProveArgs,
    own: &[Mutations],
    number: usize,
    repair: &Repair,
) -> Result<proof::Repair, Problem> {
    let new = patched(&program.sources, own, repair).map_err(Problem::of)?;
    let mut diff = Vec::new();
    for (position, text) in new {
        let source = &program.sources[position];
        let name = program.shown(&source.path);
        diff.extend(patchwright_text::unified_diff(
            name.as_bytes(),
            &source.unit.source,
            &text,
        ));
    }
    if let Some(folder) = &args.output {
        let path = folder.join(format!("{number:04}.patch"));
        files::write_atomic(&path, &diff).map_err(Problem::of)?;
    }
    let mut places = Vec::new();
    let lines: BTreeMap<u32, _> = own
        .iter()
        .flat_map(|one| &one.sites)
        .map(|site| (site.number, site))
        .collect();
    for (site, _) in &repair.changes {
        if let Some(site) = lines.get(site) {
            places.push(show::line(program, site.source, site.line, &site.function));
        }
    }
    Ok(proof::Repair {
        number,
        places,
        diff: String::from_utf8_lossy(&diff).into_owned(),
        constants: repair.ranges.clone(),
        more_constants: repair.more,
        void: repair.void,
        same_as: repair.same_as.map(|other| other + 1),
    })
}
