//! One instrumented build that holds all locations, and which tests visit which of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    time::Instant,
};

use patchwright_csource::{Clang, ExprId, Refusal, TranslationUnit, scopes};
use patchwright_exec::{
    BuildError, CompileCommand, FileSelection, Limits, Project, Worker, files, run_build, run_test,
    runner::Environment,
};
use patchwright_probe_image::{Channel, PROBE};
use patchwright_space::{
    Added, AtomBuilder, Hole, HoleKind, LeafLimits, Parents, Slot, SlotSource, TermTypes, holes,
    leaves, mentions,
    term::{CType, Term},
};
use patchwright_text::LineMap;
use patchwright_weave::{
    CapturedPart, FunctionId, HoleId, Hook, HookKind, WovenFunction, can_duplicate, weave_file,
};

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    outcome::Phases,
    prepare::{Prepared, worker_options},
};

/// With more holes than this, a first build only tells which of them the failing tests visit.
const HOLES_IN_ONE_BUILD: usize = 500;

/// How often functions whose woven text does not compile are left out before giving up.
const WEAVE_ATTEMPTS: usize = 12;

/// A source file that has locations.
pub struct SourceFile {
    /// Relative to the project's root.
    pub relative: PathBuf,
    /// What is known of it.
    pub unit: TranslationUnit,
    /// The types of its terms.
    pub types: TermTypes,
    /// The parents of each function's expressions.
    pub parents: Vec<Parents>,
}

/// A hole with its leaves.
pub struct HoleEntry {
    /// Its file.
    pub file: usize,
    /// The hole.
    pub hole: Hole,
    /// What terms at the hole are made of.
    pub leaves: Vec<Term>,
    /// The expression, for holes that are one.
    pub expr: Option<ExprId>,
    /// Its number in the program.
    pub id: HoleId,
    /// The number of its function.
    pub function: FunctionId,
    /// The line on which it begins, from 1.
    pub line: u32,
    /// File and line, for messages.
    pub place: String,
    /// Tests that visit it, by index.
    pub visited_by: BTreeSet<usize>,
}

/// The instrumented program.
pub struct Instrumented {
    /// Files with locations.
    pub files: Vec<SourceFile>,
    /// Holes that all failing tests visit, in order of file and place.
    pub holes: Vec<HoleEntry>,
    /// Number of holes in the selected part of the program.
    pub holes_in_all: usize,
    /// Workers with copies of the instrumented build, each with its channel.
    pub workers: Vec<(Worker, Channel)>,
    /// Where the probe is.
    pub probe: PathBuf,
    /// Functions that have no location, and why, by reason.
    pub refused: BTreeMap<String, usize>,
    /// Passing tests that the instrumented program fails: they are only used for verification.
    pub set_aside: BTreeSet<usize>,
}

/// A file that is going to be woven.
struct Plan {
    file: SourceFile,
    /// Functions with locations: index in the unit, id.
    functions: Vec<(usize, FunctionId)>,
    host_path: PathBuf,
}

/// Reads the sources, weaves their holes, builds and runs every test once.
///
/// # Errors
/// When there is nothing to change, or the instrumented program cannot be built or observed.
pub fn instrument<'a>(
    prepared: &mut Prepared,
    project: &'a Project,
    options: &RepairOptions,
    surroundings: &Surroundings<'a>,
    phases: &mut Phases,
) -> Result<Instrumented, RepairError> {
    let events = surroundings.events;
    let started = Instant::now();
    events(Event::Phase("reading the sources"));
    let clang = Clang::find(&mut prepared.worker.runner)?;
    let mut refused = BTreeMap::new();
    let (mut plans, mut entries) = read_sources(
        prepared,
        project,
        options,
        &clang,
        surroundings,
        &mut refused,
    )?;
    let what = described(&project.files);
    if entries.is_empty() {
        return Err(RepairError::NoLocations {
            what,
            reason: refused
                .keys()
                .next()
                .map_or(
                    "nothing there is an expression or statement that a schema changes",
                    |s| s.as_str(),
                )
                .to_owned(),
        });
    }
    let holes_in_all = entries.len();
    phases.read = started.elapsed();
    let started = Instant::now();
    events(Event::Phase("weaving and building"));
    let probe = surroundings.scratch.path().join("probe.so");
    files::write_atomic(&probe, PROBE)?;
    let base = prepared.worker.sandbox.folder().to_path_buf();
    let mut worker = Worker::start(0, "woven-0", &worker_options(project, &base, surroundings))?;
    for plan in &mut plans {
        plan.host_path = worker.sandbox.folder().join(&plan.file.relative);
    }
    let mut channel = Channel::create(
        surroundings.scratch.shared_path(),
        entries.len() as u32,
        Default::default(),
    )?;
    let staged = entries.len() > HOLES_IN_ONE_BUILD;
    build_woven(
        &mut worker,
        project,
        &plans,
        &mut entries,
        !staged,
        events,
        &mut refused,
    )?;
    let mut set_aside = BTreeSet::new();
    let failing = prepared.failing.clone();
    coverage(
        &mut worker,
        &mut channel,
        &probe,
        prepared,
        project,
        &failing,
        &mut entries,
        &mut set_aside,
    )?;
    if set_aside.len() == failing.len() {
        return Err(RepairError::WovenDiffers {
            tests: names(prepared, &failing),
        });
    }
    let failing: Vec<usize> = failing
        .into_iter()
        .filter(|test| !set_aside.contains(test))
        .collect();
    entries.retain(|entry| failing.iter().all(|test| entry.visited_by.contains(test)));
    if entries.is_empty() {
        return Err(RepairError::NotReached {
            tests: names(prepared, &failing),
            holes: holes_in_all,
            what,
        });
    }
    if staged {
        build_woven(
            &mut worker,
            project,
            &plans,
            &mut entries,
            true,
            events,
            &mut refused,
        )?;
    }
    events(Event::Phase("finding which tests visit which locations"));
    let passing = prepared.passing.clone();
    let mut differing = BTreeSet::new();
    coverage(
        &mut worker,
        &mut channel,
        &probe,
        prepared,
        project,
        &passing,
        &mut entries,
        &mut differing,
    )?;
    for &test in &differing {
        events(Event::Warning(format!(
            "test {} passes, but not in the instrumented program: it is only used in the final verification",
            prepared.baseline.tests[test].name
        )));
    }
    set_aside.extend(differing);
    let mut workers = vec![(worker, channel)];
    let folder = workers[0].0.sandbox.folder().to_path_buf();
    for index in 1..options.jobs.max(1) {
        let worker = Worker::start(
            index,
            &format!("woven-{index}"),
            &worker_options(project, &folder, surroundings),
        )?;
        let channel = Channel::create(
            surroundings.scratch.shared_path(),
            holes_in_all as u32,
            Default::default(),
        )?;
        workers.push((worker, channel));
    }
    phases.weave = started.elapsed();
    Ok(Instrumented {
        files: plans.into_iter().map(|plan| plan.file).collect(),
        holes: entries,
        holes_in_all,
        workers,
        probe,
        refused,
        set_aside,
    })
}

fn names(prepared: &Prepared, tests: &[usize]) -> String {
    let names: Vec<&str> = tests
        .iter()
        .map(|&test| prepared.baseline.tests[test].name.as_str())
        .collect();
    names.join(", ")
}

fn described(selections: &[FileSelection]) -> String {
    if selections.is_empty() {
        return "the program".to_owned();
    }
    let list: Vec<String> = selections
        .iter()
        .map(|selection| match selection.lines {
            Some((first, last)) if first == last => {
                format!("{}:{first}", selection.file.display())
            }
            Some((first, last)) => format!("{}:{first}-{last}", selection.file.display()),
            None => selection.file.display().to_string(),
        })
        .collect();
    list.join(", ")
}

/// The sources to read: relative path and command. One command for each file: the first.
fn selected(
    prepared: &Prepared,
    project: &Project,
) -> Result<Vec<(PathBuf, CompileCommand)>, RepairError> {
    let root = prepared.worker.sandbox.run_root().to_path_buf();
    let mut sources: BTreeMap<PathBuf, CompileCommand> = BTreeMap::new();
    for command in &prepared.commands {
        let Ok(relative) = command.file.strip_prefix(&root) else {
            continue;
        };
        if relative
            .extension()
            .is_some_and(|extension| extension == "c")
            && prepared.worker.sandbox.folder().join(relative).exists()
        {
            sources
                .entry(relative.to_path_buf())
                .or_insert_with(|| command.clone());
        }
    }
    if project.files.is_empty() {
        return Ok(sources.into_iter().collect());
    }
    let mut chosen = BTreeMap::new();
    for selection in &project.files {
        match sources.get(&selection.file) {
            Some(command) => {
                chosen.insert(selection.file.clone(), command.clone());
            }
            None => {
                let name = selection.file.file_name();
                let alike: Vec<String> = sources
                    .keys()
                    .filter(|path| path.file_name() == name)
                    .map(|path| path.display().to_string())
                    .collect();
                let hint = if alike.is_empty() {
                    let few: Vec<String> = sources
                        .keys()
                        .take(5)
                        .map(|path| path.display().to_string())
                        .collect();
                    let more = if sources.len() > few.len() {
                        ", …"
                    } else {
                        ""
                    };
                    format!("; it compiles {}{more}", few.join(", "))
                } else {
                    format!("; did you mean {}?", alike.join(" or "))
                };
                return Err(RepairError::NotCompiled {
                    file: selection.file.clone(),
                    root: project.root.clone(),
                    hint,
                });
            }
        }
    }
    Ok(chosen.into_iter().collect())
}

fn read_sources(
    prepared: &mut Prepared,
    project: &Project,
    options: &RepairOptions,
    clang: &Clang,
    surroundings: &Surroundings<'_>,
    refused: &mut BTreeMap<String, usize>,
) -> Result<(Vec<Plan>, Vec<HoleEntry>), RepairError> {
    let events = surroundings.events;
    let sources = selected(prepared, project)?;
    let total = sources.len();
    let mut plans = Vec::new();
    let mut entries: Vec<HoleEntry> = Vec::new();
    let mut next_function = 0;
    for (done, (relative, command)) in sources.into_iter().enumerate() {
        events(Event::Progress { done, total });
        let host = prepared.worker.sandbox.folder().join(&relative);
        let text = files::read(&host)?;
        let unit =
            match patchwright_csource::parse(clang, &mut prepared.worker.runner, &command, text) {
                Ok(unit) => unit,
                Err(error @ patchwright_csource::ParseError::Rejected { .. })
                    if project.files.is_empty() =>
                {
                    events(Event::Warning(format!("{error}; the file is left alone")));
                    *refused
                        .entry(Refusal::NotAccepted.reason().to_owned())
                        .or_default() += 1;
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
        let file = plans.len();
        let (plan, found) = plan_file(
            file,
            relative,
            unit,
            project,
            options.leaves,
            &mut next_function,
            refused,
        );
        if !found.is_empty() {
            plans.push(plan);
            entries.extend(found);
        }
    }
    for (number, entry) in entries.iter_mut().enumerate() {
        tracing::debug!(
            "hole {number}: line {} {:?} {:?}",
            entry.line,
            entry.hole.span,
            entry.hole.kind
        );
        entry.id = HoleId(number as u32);
    }
    Ok((plans, entries))
}

fn plan_file(
    file: usize,
    relative: PathBuf,
    mut unit: TranslationUnit,
    project: &Project,
    limits: LeafLimits,
    next_function: &mut u32,
    refused: &mut BTreeMap<String, usize>,
) -> (Plan, Vec<HoleEntry>) {
    let mut types = TermTypes::default();
    let lines = LineMap::new(&unit.source);
    let wanted = |line: u32| {
        project.files.is_empty()
            || project
                .files
                .iter()
                .any(|selection| selection.file == relative && selection.contains_line(line))
    };
    let functions = std::mem::take(&mut unit.functions);
    let mut entries = Vec::new();
    let mut woven = Vec::new();
    let mut parents = Vec::new();
    for (index, function) in functions.iter().enumerate() {
        parents.push(Parents::of(function));
        let refusal = match function.refusal {
            Some(refusal) => Some(refusal.reason().to_owned()),
            None => can_duplicate(&unit.source[function.body_span.range()])
                .err()
                .map(|refusal| refusal.to_string()),
        };
        if let Some(reason) = refusal {
            *refused.entry(reason).or_default() += 1;
            continue;
        }
        // Scopes need the unit with its variables, but not its functions.
        let scope_map = scopes(&unit, function);
        let mut builder = AtomBuilder {
            unit: &mut unit,
            types: &mut types,
        };
        let mentioned = mentions(&mut builder, function);
        let mut found = holes(&mut builder, index, function, &scope_map);
        found.retain(|hole| wanted(lines.line(hole.span.start)));
        if found.is_empty() {
            continue;
        }
        let id = FunctionId(*next_function);
        *next_function += 1;
        woven.push((index, id));
        for mut hole in found {
            let leaves = leaves(&mut builder, function, &mentioned, &mut hole, limits);
            let line = lines.line(hole.span.start);
            entries.push(HoleEntry {
                file,
                line,
                place: format!("{}:{line}", relative.display()),
                expr: hole.expr,
                hole,
                leaves,
                id: HoleId(0),
                function: id,
                visited_by: BTreeSet::new(),
            });
        }
    }
    unit.functions = functions;
    (
        Plan {
            file: SourceFile {
                relative,
                unit,
                types,
                parents,
            },
            functions: woven,
            host_path: PathBuf::new(),
        },
        entries,
    )
}

fn hook(entry: &HoleEntry, with_slots: bool, file: &SourceFile) -> Hook {
    let kind = match (&entry.hole.kind, entry.hole.ctype) {
        (HoleKind::Guard { .. }, _) => HookKind::Guard,
        (HoleKind::Refinement(Added::Behind), _) => HookKind::AfterImpure,
        (HoleKind::Refinement(Added::AndBefore(_)), _) => HookKind::AndBefore,
        (HoleKind::Refinement(Added::OrBefore(_)), _) => HookKind::OrBefore,
        (HoleKind::Expression { .. }, None) => HookKind::Condition,
        (HoleKind::Expression { .. }, Some(CType::Float)) => HookKind::Float,
        (HoleKind::Expression { .. }, Some(CType::Double)) => HookKind::Double,
        (HoleKind::Expression { .. }, Some(CType::Pointer(id))) => HookKind::Pointer {
            ctype: file.types.pointees().pointer_spelling(id),
        },
        (HoleKind::Expression { .. }, Some(ctype)) => HookKind::Integer {
            ctype: ctype.keywords().unwrap_or("int").to_owned(),
        },
    };
    let slots = if with_slots {
        entry
            .hole
            .atoms
            .slots
            .iter()
            .map(|slot| slot.entry.clone())
            .collect()
    } else {
        Vec::new()
    };
    let captured = entry.hole.captured.as_ref().map(|part| CapturedPart {
        span: part.span,
        ctype: type_name(part.ctype, file),
    });
    Hook {
        id: entry.id,
        span: entry.hole.span,
        kind,
        slots,
        captured,
    }
}

/// A type's name in casts and declarations.
fn type_name(ctype: CType, file: &SourceFile) -> String {
    match ctype {
        CType::Pointer(id) => file.types.pointees().pointer_spelling(id),
        _ => ctype.keywords().map(str::to_owned),
    }
    .unwrap_or_else(|| "int".to_owned())
}

/// Writes the woven files and builds them. Functions in which the compiler finds errors are left
/// out, with their holes, and reported.
fn build_woven(
    worker: &mut Worker,
    project: &Project,
    plans: &[Plan],
    entries: &mut Vec<HoleEntry>,
    with_slots: bool,
    events: &(dyn Fn(Event) + Sync),
    refused: &mut BTreeMap<String, usize>,
) -> Result<(), RepairError> {
    let build = project.build.as_deref().unwrap_or_default();
    let mut left_out: BTreeSet<FunctionId> = BTreeSet::new();
    for attempt in 0.. {
        for (number, plan) in plans.iter().enumerate() {
            let mut functions = Vec::new();
            for &(index, id) in &plan.functions {
                let hooks: Vec<Hook> = entries
                    .iter()
                    .filter(|entry| entry.file == number && entry.function == id)
                    .map(|entry| hook(entry, with_slots, &plan.file))
                    .collect();
                if hooks.is_empty() || left_out.contains(&id) {
                    continue;
                }
                let function = &plan.file.unit.functions[index];
                functions.push(WovenFunction {
                    id,
                    body: function.body_span,
                    labels: function.labels.clone(),
                    hooks,
                });
            }
            let woven = match weave_file(&plan.file.unit.source, &functions) {
                Ok(woven) => woven,
                Err(error) => {
                    tracing::error!("{}: {error}", plan.file.relative.display());
                    events(Event::Warning(format!(
                        "{} cannot be woven and is left alone: {error}",
                        plan.file.relative.display()
                    )));
                    *refused.entry(error.to_string()).or_default() += functions.len();
                    left_out.extend(functions.iter().map(|function| function.id));
                    plan.file.unit.source.clone()
                }
            };
            if files::read(&plan.host_path)? != woven {
                files::replace(&plan.host_path, &woven)?;
            }
        }
        let built = run_build(
            &mut worker.runner,
            &worker.sandbox,
            build,
            &Environment::default(),
            &Limits::for_build(),
        );
        match built {
            Ok(_) => break,
            Err(BuildError::Run(error)) => return Err(error.into()),
            Err(error) if attempt >= WEAVE_ATTEMPTS => return Err(RepairError::WovenBuild(error)),
            Err(error) => {
                let blamed = blamed_functions(&error.to_string(), plans, &left_out);
                if blamed.is_empty() {
                    return Err(RepairError::WovenBuild(error));
                }
                for (id, name) in blamed {
                    events(Event::Warning(format!(
                        "the compiler does not accept function {name} when it is woven; it is left alone"
                    )));
                    *refused
                        .entry("its woven text does not compile (a bug of Patchwright)".to_owned())
                        .or_default() += 1;
                    left_out.insert(id);
                }
            }
        }
    }
    entries.retain(|entry| !left_out.contains(&entry.function));
    Ok(())
}

/// The functions in whose lines the compiler reports errors (`#line` keeps the numbers).
fn blamed_functions(
    message: &str,
    plans: &[Plan],
    left_out: &BTreeSet<FunctionId>,
) -> Vec<(FunctionId, String)> {
    let mut found = Vec::new();
    for line in message.lines() {
        let Some(at) = line
            .find(": error:")
            .or_else(|| line.find(": fatal error:"))
        else {
            continue;
        };
        let mut parts = line[..at].rsplit(':');
        let numbers: Vec<&str> = parts.by_ref().take(2).collect();
        let (Some(name), Some(number)) = (
            line[..at].split(':').next(),
            numbers.iter().rev().find_map(|n| n.parse::<u32>().ok()),
        ) else {
            continue;
        };
        for plan in plans {
            if Path::new(name).file_name() != plan.file.relative.file_name() {
                continue;
            }
            let lines = LineMap::new(&plan.file.unit.source);
            for &(index, id) in &plan.functions {
                let function = &plan.file.unit.functions[index];
                let first = lines.line(function.body_span.start);
                let last = lines.line(function.body_span.end);
                if (first..=last).contains(&number)
                    && !left_out.contains(&id)
                    && !found.iter().any(|(known, _)| *known == id)
                {
                    found.push((id, function.name.clone()));
                }
            }
        }
    }
    found
}

/// Runs tests once in coverage mode; notes visits, and tests whose verdict differs.
#[allow(clippy::too_many_arguments)]
fn coverage(
    worker: &mut Worker,
    channel: &mut Channel,
    probe: &Path,
    prepared: &Prepared,
    project: &Project,
    tests: &[usize],
    entries: &mut [HoleEntry],
    differing: &mut BTreeSet<usize>,
) -> Result<(), RepairError> {
    let suite = project.require_tests()?;
    let mut environment = suite.environment.clone();
    for (name, value) in channel.environment(probe) {
        environment.set.insert(name.into(), value);
    }
    let by_id: BTreeMap<HoleId, usize> = entries
        .iter()
        .enumerate()
        .map(|(i, entry)| (entry.id, i))
        .collect();
    let mut attached = false;
    for &test in tests {
        let known = &prepared.baseline.tests[test];
        channel.set_coverage();
        let limits = Limits {
            wall: known.timeout,
            ..project.limits.clone()
        };
        let run = run_test(
            &mut worker.runner,
            &worker.sandbox,
            &suite.tests[test],
            &environment,
            &limits,
        )?;
        attached |= channel.attached() > 0;
        if run.verdict.is_pass() != known.verdict.is_pass() {
            differing.insert(test);
        }
        for hole in channel.visited_holes() {
            if let Some(&entry) = by_id.get(&hole) {
                entries[entry].visited_by.insert(test);
            }
        }
    }
    if !attached
        && let Some(&test) = tests.first()
        && prepared.failing.contains(&test)
    {
        return Err(RepairError::NothingAttached {
            test: prepared.baseline.tests[test].name.clone(),
        });
    }
    Ok(())
}

/// The slots of a hole as the probe wants them.
pub fn probe_slots(slots: &[Slot]) -> Vec<patchwright_probe_image::Slot> {
    slots
        .iter()
        .map(|slot| match slot.source {
            SlotSource::Value => patchwright_probe_image::Slot::Value(slot.ty),
            SlotSource::Load {
                base,
                index,
                length,
            } => patchwright_probe_image::Slot::Load(patchwright_probe_image::Load {
                ty: slot.ty,
                base,
                index: index.map(|(slot, scale)| patchwright_probe_image::Index { slot, scale }),
                offset: 0,
                length,
            }),
        })
        .collect()
}
