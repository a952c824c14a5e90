//! Measures where small fixes of git histories stand among the candidates of their functions.

pub mod data;
mod measure;
mod same;

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    ffi::OsString,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use patchwright_changes::git::History;
use patchwright_csource::Clang;
use patchwright_exec::{
    CancelToken, Project, ProjectFlags, RunnerProgram, Scratch, Worker, WorkerOptions, files::Log,
    record_build,
};
use patchwright_history::small_fixes::{Counts, SmallFixes};
use patchwright_repair::{
    RepairOptions,
    likelihood::{Traits, Weights, kind_name, places, untyped},
    linked::Linked,
};
use patchwright_space::{Schemas, exits::Conditions};

use crate::statistics::median;
use data::Measured;
use measure::{Checkout, Outcome, Request};

/// Flags of `patchwright-bench fixes`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Working trees of git repositories, at the newest version, which is built: with a compile_commands.json, or with a build command, which is watched
    #[arg(required_unless_present = "table")]
    repositories: Vec<PathBuf>,
    /// The build command, run in a copy of each, instead of the one in its patchwright.toml
    #[arg(long, value_name = "CMD")]
    build: Option<OsString>,
    /// So many fixes of each repository whose files compile as they were
    #[arg(short, long, value_name = "N", default_value_t = 40)]
    number: usize,
    /// So many small fixes of each repository are tried at most
    #[arg(long, value_name = "N", default_value_t = 200)]
    tried: usize,
    /// Candidates that cost more are not counted
    #[arg(long, value_name = "COST", default_value_t = 4)]
    max_cost: u32,
    /// The change is looked for among candidates up to this cost
    #[arg(long, value_name = "COST", default_value_t = 4)]
    sought_cost: u32,
    /// Leave functions with more locations out
    #[arg(long, value_name = "N", default_value_t = 600)]
    locations: usize,
    /// Draw so many candidates of each cost and kind
    #[arg(long, value_name = "N", default_value_t = 24)]
    sample: usize,
    /// With early exits under any condition, as `repair --schemas all`
    #[arg(long)]
    exits: bool,
    /// Leave changes in more places out, which no candidate is; 0 leaves none out
    #[arg(long, value_name = "N", default_value_t = 0)]
    places: usize,
    /// Measure those fixes again that this file of JSON lines has in the space, such as after a change of the features
    #[arg(long, value_name = "FILE")]
    again: Option<PathBuf>,
    /// Only tell what the changes of one place do: nothing is built, and no candidates are looked at
    #[arg(long)]
    untyped: bool,
    /// Add what is measured to this file of JSON lines
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Print the tables of this file of JSON lines, and measure nothing
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
}

/// What became of the small fixes of a repository.
#[derive(Default)]
struct Row {
    counts: Counts,
    not_built: usize,
    not_compiled: usize,
    not_one_function: usize,
    too_large: usize,
    too_many_places: usize,
    measured: usize,
}

/// Measures fixes and prints Markdown tables.
pub fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    if let Some(table) = &arguments.table {
        print!("{}", tables(&data::read(table)?));
        return Ok(true);
    }
    let mut all = Vec::new();
    let mut rows = BTreeMap::new();
    let mut log = match &arguments.data {
        Some(data) => Some(Log::open(data)?.0),
        None => None,
    };
    if arguments.untyped {
        return count_untyped(arguments, &mut log);
    }
    for repository in &arguments.repositories {
        let name = name_of(repository)?;
        match measure(repository, &name, arguments, &mut all, &mut log) {
            Ok(row) => {
                rows.insert(name, row);
            }
            Err(error) => eprintln!("{name} is left out: {error}"),
        }
    }
    println!(
        "| repository | commits | fixes | of one C file | small | not built | not compiled | not in one function | too large | in too many places | measured |"
    );
    println!("| --- |{}", " ---: |".repeat(10));
    for (name, row) in &rows {
        let counts = row.counts;
        println!(
            "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            counts.commits,
            counts.fixes,
            counts.one_file,
            counts.small,
            row.not_built,
            row.not_compiled,
            row.not_one_function,
            row.too_large,
            row.too_many_places,
            row.measured
        );
    }
    print!("\n{}", tables(&all));
    Ok(!all.is_empty())
}

fn name_of(repository: &Path) -> Result<String, Box<dyn Error>> {
    let folder = repository.canonicalize()?;
    let name = folder.file_name().unwrap_or_default();
    Ok(name.to_string_lossy().into_owned())
}

/// Counts what small fixes do.
fn count_untyped(arguments: &Arguments, log: &mut Option<Log>) -> Result<bool, Box<dyn Error>> {
    let mut forms: BTreeMap<String, usize> = BTreeMap::new();
    for repository in &arguments.repositories {
        let name = name_of(repository)?;
        let history = History::open(repository)?;
        for fix in SmallFixes::of(&history)?.take(arguments.tried) {
            let fix = fix?;
            let Some(traits) = untyped(&fix.old, &fix.new) else {
                continue;
            };
            let counted = data::Untyped {
                repository: name.clone(),
                traits,
            };
            if let Some(log) = log {
                log.add(&serde_json::to_vec(&counted)?)?;
            }
            *forms.entry(counted.traits.form.name()).or_default() += 1;
        }
    }
    println!("| what the change does | fixes |\n| --- | ---: |");
    let mut forms: Vec<(String, usize)> = forms.into_iter().collect();
    forms.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (form, count) in &forms {
        println!("| {form} | {count} |");
    }
    Ok(!forms.is_empty())
}

fn measure(
    repository: &Path,
    name: &str,
    arguments: &Arguments,
    all: &mut Vec<Measured>,
    log: &mut Option<Log>,
) -> Result<Row, Box<dyn Error>> {
    let flags = ProjectFlags {
        build: arguments.build.clone(),
        ..ProjectFlags::default()
    };
    let mut project = Project::load(repository, &flags)?;
    project.files.clear();
    let history = History::open(repository)?;
    let scratch = Scratch::in_default_place()?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let mut worker = Worker::start(
        0,
        "copy",
        &WorkerOptions {
            program: &program,
            scratch: &scratch,
            project: &project.root,
            source: &project.root,
            prepare: None,
            view: true,
            exclude: vec![PathBuf::from(".git")],
            build_timeout: None,
            cancel: CancelToken::new()?,
        },
    )?;
    let commands = record_build(&mut worker, &project)?;
    let clang = Clang::find(&mut worker.runner)?;
    let mut checkout = Checkout {
        name: name.to_owned(),
        linked: Linked::read(worker.sandbox.folder()),
        worker,
        commands,
        clang,
        history: &history,
        revision: history.commit("HEAD")?.id,
    };
    let mut options = RepairOptions::default();
    if arguments.exits {
        options.schemas = Schemas {
            exits: Some(Conditions::All),
            ..options.schemas
        };
    }
    let request = Request {
        most_cost: arguments.max_cost,
        sought_cost: arguments.sought_cost.max(arguments.max_cost),
        locations: arguments.locations,
        sample: arguments.sample,
        options,
    };
    let mut row = Row::default();
    let built = checkout.sources();
    let mut fixes = SmallFixes::of(&history)?;
    let mut tried = 0;
    let known: Option<BTreeSet<String>> = match &arguments.again {
        Some(again) => Some(data::inside(again)?),
        None => None,
    };
    while row.measured < arguments.number && tried < arguments.tried {
        let Some(fix) = fixes.next().transpose()? else {
            break;
        };
        if !built.contains_key(&fix.path) {
            row.not_built += 1;
            continue;
        }
        if known
            .as_ref()
            .is_some_and(|known| !known.contains(&fix.commit))
        {
            continue;
        }
        if arguments.places > 0 && places(&fix.old, &fix.new) > arguments.places {
            row.too_many_places += 1;
            continue;
        }
        tried += 1;
        match checkout.measure(&fix, &request)? {
            Outcome::NotBuilt => row.not_built += 1,
            Outcome::NotCompiled => row.not_compiled += 1,
            Outcome::NotOneFunction => row.not_one_function += 1,
            Outcome::TooLarge => row.too_large += 1,
            Outcome::Measured(measured) => {
                row.measured += 1;
                eprintln!("{}", progress(&measured));
                if let Some(log) = &mut *log {
                    log.add(&serde_json::to_vec(&measured)?)?;
                }
                all.push(*measured);
            }
        }
    }
    row.counts = fixes.counts;
    Ok(row)
}

fn progress(measured: &Measured) -> String {
    let found = match &measured.developer {
        Some(found) => format!(
            "{} of cost {}, rank {} and {:.0} of {}",
            kind_name(found.traits.kind),
            found.traits.cost,
            found.rank,
            measured
                .rank(|a, b| Weights::fitted().order(a, b))
                .unwrap_or_default(),
            measured.total()
        ),
        None => format!(
            "not in the space: {} at {} places",
            measured.form, measured.places
        ),
    };
    let (name, commit) = (&measured.repository, &measured.commit[..10]);
    format!("{name} {commit} {}: {found}", measured.function)
}

/// All tables as Markdown.
fn tables(all: &[Measured]) -> String {
    let mut out = String::new();
    let mut by_repository: BTreeMap<&str, Vec<&Measured>> = BTreeMap::new();
    for one in all {
        by_repository.entry(&one.repository).or_default().push(one);
    }
    out.push_str(
        "| repository | fixes | in the space | the same text | dearer | candidates (median) | rank in the search (median) | in the report (median) | first 20 of the report |\n| --- |",
    );
    out.push_str(&" ---: |".repeat(8));
    out.push('\n');
    let every: Vec<&Measured> = all.iter().collect();
    for (name, fixes) in by_repository
        .iter()
        .map(|(name, fixes)| (*name, fixes))
        .chain([("all", &every)])
    {
        row(&mut out, name, fixes);
    }
    let mut kinds: BTreeMap<String, Vec<&Measured>> = BTreeMap::new();
    for one in all {
        if let Some(developer) = &one.developer {
            kinds
                .entry(kind_name(developer.traits.kind))
                .or_default()
                .push(one);
        }
    }
    out.push_str("\n| kind | fixes | median cost | rank in the search (median) | in the report (median) |\n| --- |");
    out.push_str(&" ---: |".repeat(4));
    out.push('\n');
    let mut kinds: Vec<(String, Vec<&Measured>)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, fixes)| std::cmp::Reverse(fixes.len()));
    for (kind, fixes) in kinds {
        let costs: Vec<f64> = found(&fixes)
            .map(|(_, traits)| f64::from(traits.cost))
            .collect();
        let (search, report) = ranks(&fixes);
        let _ = writeln!(
            out,
            "| {kind} | {} | {:.1} | {:.0} | {:.0} |",
            fixes.len(),
            median(&costs),
            median(&search),
            median(&report)
        );
    }
    let mut forms: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for one in all {
        let form = match one.places {
            0 | 1 => one.form.clone(),
            2 => format!("{} (two places)", one.form),
            _ => "three places and more".to_owned(),
        };
        let form = match (&one.refused, &one.developer) {
            (Some(reason), None) => format!("function left alone: {reason}"),
            _ => form,
        };
        let counts = forms.entry(form).or_default();
        counts.0 += 1;
        counts.1 += usize::from(one.developer.is_some());
    }
    out.push_str("\n| what the change does | fixes | in the space |\n| --- | ---: | ---: |\n");
    let mut forms: Vec<(String, (usize, usize))> = forms.into_iter().collect();
    forms.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.0));
    for (form, (fixes, inside)) in forms {
        let _ = writeln!(out, "| {form} | {fixes} | {inside} |");
    }
    out
}

/// Those that are in the space.
fn found<'m>(fixes: &'m [&'m Measured]) -> impl Iterator<Item = (&'m Measured, &'m Traits)> {
    fixes
        .iter()
        .filter_map(|one| Some((*one, &one.developer.as_ref()?.traits)))
}

/// The ranks of those that are counted, in the search and in the report.
fn ranks(fixes: &[&Measured]) -> (Vec<f64>, Vec<f64>) {
    let counted = fixes.iter().filter_map(|one| {
        let developer = one.developer.as_ref()?;
        (developer.traits.cost as usize <= one.candidates.len()).then(|| {
            (
                developer.rank as f64,
                one.rank(|a, b| Weights::fitted().order(a, b))
                    .unwrap_or_default(),
            )
        })
    });
    counted.unzip()
}

fn row(out: &mut String, name: &str, fixes: &[&Measured]) {
    let inside = found(fixes).count();
    let exactly = fixes.iter().filter_map(|one| one.developer.as_ref());
    let exactly = exactly.filter(|developer| !developer.respelled).count();
    let dearer = found(fixes).filter(|(one, traits)| traits.cost as usize > one.candidates.len());
    let (search, report) = ranks(fixes);
    let counted = fixes.iter().filter(|one| one.developer.is_some());
    let candidates: Vec<f64> = counted.map(|one| one.total() as f64).collect();
    let first = report.iter().filter(|rank| **rank <= 20.0).count();
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let _ = writeln!(
        out,
        "| {name} | {} | {inside} ({:.0} %) | {exactly} | {} | {:.0} | {:.0} | {:.0} | {:.0} % |",
        fixes.len(),
        share(inside, fixes.len()),
        dearer.count(),
        median(&candidates),
        median(&search),
        median(&report),
        share(first, report.len()),
    );
}
