//! The modes of a measurement, and the result of each.

use std::{collections::BTreeMap, error::Error, time::Instant};

use patchwright_exec::{
    CancelToken, Project, ProjectFlags, RunnerProgram, Scratch, forget_own_peak_memory,
    own_peak_memory,
};
use patchwright_repair::{
    Bounds, Event, Relations, RepairOptions, Sample, Surroundings,
    found::Found,
    instrument::instrument,
    instrumented::Instrumented,
    levels::search,
    localize::focus,
    phases::Phases,
    prepare::{Prepared, prepare},
    repair,
};
use patchwright_space::{HoleKind, Schemas, term::Context};
use serde::{Deserialize, Serialize};

use super::{Arguments, developer::Developer, list::Entry};

/// The counts and times of one search of a project, as the tables of `docs/results/repair.md` show them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Run {
    /// Candidates whose cost was reached.
    pub candidates: u64,
    /// Candidates whose verdict is known.
    pub explored: u64,
    /// Executions of tests.
    pub executions: u64,
    /// Classes that executions told apart.
    pub classes: u64,
    /// Plausible candidates.
    pub plausible: u64,
    /// Time of the search.
    pub seconds: f64,
    /// Whether the time was over before everything was explored.
    pub out_of_time: bool,
    /// Whether the permitted number of executions was reached before everything was explored.
    pub out_of_executions: bool,
    /// The part of the space that was explored, where it is a random one.
    pub sampled: Option<f64>,
    /// The most memory that the host had resident meanwhile, in bytes.
    #[serde(default)]
    pub peak_memory: u64,
}

/// The numbers of a search at locations of one kind.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Kind {
    /// Locations.
    pub locations: usize,
    /// Candidates whose cost was reached.
    pub candidates: u64,
    /// Candidates whose verdict is known.
    pub explored: u64,
    /// Classes of the failing tests.
    pub classes: u64,
    /// Executions of tests.
    pub executions: u64,
}

/// A patch that a repair with default flags has reported.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Reported {
    /// Its diff.
    pub diff: String,
    /// How it shows that it has the developer's effect, if it does.
    pub same: Option<String>,
}

/// All measurements of a project.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Its name.
    pub name: String,
    /// What the bug is.
    pub about: String,
    /// Why the developer's fix is no candidate.
    pub not_in_space: Option<String>,
    /// Failing tests.
    pub failing: usize,
    /// Passing tests.
    pub passing: usize,
    /// Locations that all failing tests reach.
    pub locations: usize,
    /// A repair with the tool's defaults.
    pub first: Option<Run>,
    /// Seconds that it took in all, with builds and verification.
    pub total_seconds: f64,
    /// Its patches.
    pub patches: Vec<Reported>,
    /// Patches that the final verification rejected.
    pub rejected: usize,
    /// The first plausible candidate without classes.
    pub first_plain: Option<Run>,
    /// The whole space, or as much of it as the time permits.
    pub full: Option<Run>,
    /// The same by kind of location.
    pub kinds: BTreeMap<String, Kind>,
    /// A random sample of what was explored, without classes.
    pub plain: Option<Run>,
    /// A small space, with classes and without.
    pub small: Option<(Run, Run)>,
    /// Assignments of single leaves: with both relations, by values, by dependencies, without classes.
    pub relations: BTreeMap<String, Run>,
}

impl Measured {
    /// Returns the place of the first patch with the developer's effect, from 1.
    pub fn rank(&self) -> Option<usize> {
        let found = self.patches.iter().position(|patch| patch.same.is_some());
        found.map(|at| at + 1)
    }
}

/// A prepared and instrumented project, on which searches are made.
struct Session<'a> {
    prepared: &'a Prepared,
    project: &'a Project,
    instrumented: Instrumented,
    surroundings: &'a Surroundings<'a>,
    jobs: usize,
}

impl Session<'_> {
    /// Makes a search.
    fn search(&mut self, options: RepairOptions) -> Result<(Run, Found), Box<dyn Error>> {
        let options = RepairOptions {
            jobs: self.jobs,
            ..options
        };
        forget_own_peak_memory();
        let started = Instant::now();
        let found = search(
            &mut self.instrumented,
            self.prepared,
            self.project,
            &options,
            self.surroundings,
        )?;
        let stats = &found.stats;
        let run = Run {
            candidates: stats.candidates,
            explored: stats.explored,
            executions: stats.executions,
            classes: stats.classes,
            plausible: stats.plausible,
            seconds: started.elapsed().as_secs_f64(),
            out_of_time: stats.out_of_time,
            out_of_executions: stats.out_of_bounds,
            sampled: options.sample.map(|sample| sample.rate),
            peak_memory: own_peak_memory().unwrap_or(0),
        };
        Ok((run, found))
    }

    fn kinds(&self, found: &Found) -> BTreeMap<String, Kind> {
        let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
        for (&entry, effort) in &found.effort {
            let hole = &self.instrumented.holes[entry].hole;
            let name = match (&hole.kind, hole.context) {
                (HoleKind::Expression { .. }, Context::Truth) => "conditions",
                (HoleKind::Expression { .. }, _) => "values",
                (HoleKind::Refinement(_), _) => "impure conditions",
                (HoleKind::Guard { .. }, _) => "statements (guards)",
                (HoleKind::Assignment(_), _) => "places for assignments",
                (HoleKind::Choice(_), _) => "alternatives",
                (HoleKind::Exit(_), _) => "exits",
            };
            let kind = kinds.entry(name.to_owned()).or_default();
            kind.locations += 1;
            kind.candidates += effort.candidates;
            kind.explored += effort.explored;
            kind.classes += effort.classes;
            kind.executions += effort.executions;
        }
        kinds
    }
}

/// Measures a project in all modes.
pub fn measure(entry: &Entry, arguments: &Arguments) -> Result<Measured, Box<dyn Error>> {
    let project = Project::load(&entry.folder, &ProjectFlags::default())?;
    let scratch = Scratch::in_default_place()?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let show = |event: Event| {
        if let Event::Warning(text) = event {
            eprintln!("  warning: {text}");
        }
    };
    let surroundings = Surroundings {
        program: &program,
        scratch: &scratch,
        cancel: CancelToken::new()?,
        events: &show,
    };
    let mut measured = Measured {
        name: entry.listed.name.clone(),
        about: entry.listed.about.clone(),
        not_in_space: entry.listed.not_in_space.clone(),
        ..Measured::default()
    };
    let budget = Some(arguments.budget);
    let defaults = RepairOptions {
        jobs: arguments.jobs,
        budget,
        ..RepairOptions::default()
    };
    let mut phases = Phases::default();
    let mut prepared = prepare(&project, &defaults, &surroundings, &mut phases)?;
    measured.failing = prepared.failing.len();
    measured.passing = prepared.passing.len();
    if arguments.wants("first") {
        eprintln!("  repair with the defaults");
        first(entry, &project, &defaults, &mut prepared, &mut measured)?;
    }
    let wants_search = ["plain-first", "full", "small", "relations"];
    if !wants_search.iter().any(|mode| arguments.wants(mode)) {
        return Ok(measured);
    }
    focus(
        &mut prepared,
        &project,
        &defaults,
        &surroundings,
        &mut phases,
    )?;
    let instrumented = instrument(
        &mut prepared,
        &project,
        &defaults,
        &surroundings,
        &mut phases,
    )?;
    measured.locations = instrumented.holes.len();
    let mut session = Session {
        prepared: &prepared,
        project: &project,
        instrumented,
        surroundings: &surroundings,
        jobs: arguments.jobs,
    };
    if arguments.wants("plain-first") {
        eprintln!("  the first patch without classes");
        let options = RepairOptions {
            first: true,
            relations: Relations::None,
            bounds: Bounds {
                executions: Some(arguments.executions),
                candidates: None,
            },
            ..defaults.clone()
        };
        measured.first_plain = Some(session.search(options)?.0);
    }
    let all = RepairOptions {
        all: true,
        space: defaults.space.of_whole_spaces(),
        bounds: Bounds {
            executions: Some(arguments.executions),
            candidates: None,
        },
        ..defaults
    };
    if arguments.wants("full") {
        eprintln!("  full exploration");
        full(&mut session, &all, arguments, &mut measured)?;
    }
    if arguments.wants("small") {
        eprintln!("  a small space with and without classes");
        small(&mut session, &all, &mut measured)?;
    }
    if arguments.wants("relations") {
        eprintln!("  each relation");
        relations(&mut session, &all, &mut measured)?;
    }
    Ok(measured)
}

/// A repair as a user makes it.
fn first(
    entry: &Entry,
    project: &Project,
    options: &RepairOptions,
    prepared: &mut Prepared,
    measured: &mut Measured,
) -> Result<(), Box<dyn Error>> {
    // A run of its own, with a folder of its own.
    let scratch = Scratch::in_default_place()?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let surroundings = Surroundings {
        program: &program,
        scratch: &scratch,
        cancel: CancelToken::new()?,
        events: &|_| {},
    };
    forget_own_peak_memory();
    let started = Instant::now();
    let outcome = repair(project, options, &surroundings)?;
    measured.total_seconds = started.elapsed().as_secs_f64();
    let stats = &outcome.stats;
    measured.first = Some(Run {
        candidates: stats.candidates,
        explored: stats.explored,
        executions: stats.executions,
        classes: stats.classes,
        plausible: stats.plausible,
        seconds: stats.phases.search.as_secs_f64(),
        out_of_time: stats.out_of_time,
        out_of_executions: stats.out_of_bounds,
        sampled: None,
        peak_memory: own_peak_memory().unwrap_or(0),
    });
    measured.rejected = stats.rejected.len();
    let developer = Developer::new(entry, &project.root)?;
    for patch in &outcome.patches {
        measured.patches.push(Reported {
            diff: String::from_utf8_lossy(&patch.diff).into_owned(),
            same: developer.recognizes(patch, prepared)?,
        });
    }
    Ok(())
}

/// The whole space within the budget, and a sample of what was explored, without classes.
fn full(
    session: &mut Session<'_>,
    all: &RepairOptions,
    arguments: &Arguments,
    measured: &mut Measured,
) -> Result<(), Box<dyn Error>> {
    let (run, found) = session.search(all.clone())?;
    measured.kinds = session.kinds(&found);
    let rate = (arguments.sample as f64 / run.candidates.max(1) as f64).min(1.0);
    let bounds = Bounds {
        executions: None,
        candidates: Some(run.candidates),
    };
    measured.full = Some(run);
    eprintln!("  a sample without classes");
    let options = RepairOptions {
        relations: Relations::None,
        sample: Some(Sample { rate, seed: 1 }),
        bounds,
        ..all.clone()
    };
    measured.plain = Some(session.search(options)?.0);
    Ok(())
}

/// All candidates up to a cost, with and without classes: the same ones.
fn small(
    session: &mut Session<'_>,
    all: &RepairOptions,
    measured: &mut Measured,
) -> Result<(), Box<dyn Error>> {
    let mut with = None;
    // The smallest cost with so many candidates that a ratio means something.
    for max_cost in 1..=4 {
        let options = RepairOptions {
            max_cost,
            schemas: Schemas {
                assignment: false,
                ..Schemas::default()
            },
            ..all.clone()
        };
        let (run, _) = session.search(options.clone())?;
        let enough = run.candidates >= SMALL_SPACE;
        with = Some((run, options));
        if enough {
            break;
        }
    }
    if let Some((run, options)) = with.filter(|(run, _)| run.candidates <= MOST_SMALL_SPACE) {
        let options = RepairOptions {
            relations: Relations::None,
            ..options
        };
        let (plain, _) = session.search(options)?;
        measured.small = Some((run, plain));
    }
    Ok(())
}

/// A space for the comparison of times has at least so many candidates.
const SMALL_SPACE: u64 = 5_000;

/// And at most so many: each is executed.
const MOST_SMALL_SPACE: u64 = 60_000;

/// Assignments of single leaves, with each relation.
fn relations(
    session: &mut Session<'_>,
    all: &RepairOptions,
    measured: &mut Measured,
) -> Result<(), Box<dyn Error>> {
    for (name, relations) in [
        ("both", Relations::Both),
        ("value", Relations::Value),
        ("dependency", Relations::Dependency),
        ("none", Relations::None),
    ] {
        let options = RepairOptions {
            relations,
            max_cost: 3,
            schemas: Schemas {
                assignment: true,
                ..Schemas::NONE
            },
            ..all.clone()
        };
        let (run, _) = session.search(options)?;
        measured.relations.insert(name.to_owned(), run);
    }
    Ok(())
}
