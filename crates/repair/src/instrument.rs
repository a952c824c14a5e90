//! Makes one instrumented build with all locations, and finds which tests visit them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
    time::Instant,
};

use patchwright_csource::Clang;
use patchwright_exec::{Ending, FileSelection, Project, Worker, files, run_test};
use patchwright_probe_image::{CHANNEL_FILE, Channel, ChannelError, PROBE, PROBE_FILE};
use patchwright_space::HoleKind;
use patchwright_weave::{FunctionId, HoleId};

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    focus::Focus,
    instrumented::{HoleEntry, Instrumented, LeftAlone, LeftOut, SourceFile},
    localize,
    phases::Phases,
    prepare::{Prepared, worker_options},
    read::{Plan, is_wanted, read_sources},
    unchangeable,
    woven_build::{NOT_WOVEN, build_woven},
};

/// What the bytes of variables without a value hold, where the instrumented program must not find what makes tests pass by chance. As
/// numbers, the first is negative and the second is not.
const PATTERNS: [u8; 2] = [0xa5, 0x5a];

/// Reads the sources, weaves their holes, builds and runs every test once. With a focus, only the most suspicious
/// statements are looked at.
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
    // It is given back when nothing can fail any more.
    let own_focus = prepared.focus.take();
    let focus = own_focus.as_ref();
    let events = surroundings.events;
    let started = Instant::now();
    // Each round weaves a copy of its own.
    let round = prepared.looked_at.locations.len();
    let name = |index: usize| match round {
        0 => format!("woven-{index}"),
        _ => format!("woven-{round}-{index}"),
    };
    events(Event::Phase("reading the sources"));
    let clang = Clang::find(&mut prepared.worker.runner)?;
    let mut left_alone = LeftAlone::default();
    let what = described(&project.files);
    if let Some(focus) = focus.filter(|focus| focus.is_empty()) {
        return Err(RepairError::NotReached {
            tests: names(prepared, &prepared.failing),
            holes: focus.statements(),
            what,
        });
    }
    let (mut plans, mut entries, considered) = read_sources(
        prepared,
        project,
        options,
        focus,
        &clang,
        surroundings,
        &mut left_alone,
    )?;
    if entries.is_empty() {
        return Err(RepairError::NoLocations {
            what,
            reason: left_alone.reason(),
        });
    }
    let holes_in_all = entries.len();
    phases.read += started.elapsed();
    let started = Instant::now();
    events(Event::Phase("weaving and building"));
    let probe = surroundings.scratch.path().join("probe");
    files::write_atomic(&probe, PROBE)?;
    let base = prepared.worker.sandbox.folder().to_path_buf();
    let mut worker = Worker::start(0, &name(0), &worker_options(project, &base, surroundings))?;
    for plan in &mut plans {
        plan.host_path = worker.sandbox.folder().join(&plan.file.relative);
    }
    let mut channel = new_channel(&worker, surroundings, entries.len())?;
    show_run(&worker, &probe, &channel)?;
    build_woven(
        &mut worker,
        project,
        &plans,
        &mut entries,
        &surroundings.scratch.run_path(),
        events,
        &mut left_alone,
        None,
    )?;
    if entries.is_empty() {
        let reason = left_alone.reason();
        return Err(match left_alone.refused.contains_key(NOT_WOVEN) {
            true => RepairError::NotWoven { what, reason },
            false => RepairError::NoLocations { what, reason },
        });
    }
    let mut set_aside = BTreeSet::new();
    let failing = prepared.failing.clone();
    let mut found_by_path = coverage(
        &mut worker,
        &mut channel,
        &probe,
        prepared,
        project,
        &failing,
        &mut entries,
        &mut set_aside,
    )?;
    let mut unset = None;
    if !set_aside.is_empty() && entries.iter().any(HoleEntry::declares) {
        // What a variable holds before it has a value differs from build to build.
        events(Event::Warning(
            "failing tests pass in the instrumented program, because they use variables without a value; it is built again with \
             a pattern in such variables, and no assignments are tried in their functions"
                .to_owned(),
        ));
        // Which variable is watched is said to a whole file, for its one function that is selected.
        let always: BTreeSet<FunctionId> = entries
            .iter()
            .filter(|entry| entry.declares())
            .map(|entry| entry.function)
            .collect();
        entries.retain(|entry| {
            let assigns = matches!(entry.hole.kind, HoleKind::Assignment(_));
            !(assigns && always.contains(&entry.function))
        });
        let run = surroundings.scratch.run_path();
        for pattern in PATTERNS {
            unset = Some(pattern);
            set_aside.clear();
            entries
                .iter_mut()
                .for_each(|entry| entry.visited_by.clear());
            build_woven(
                &mut worker,
                project,
                &plans,
                &mut entries,
                &run,
                events,
                &mut left_alone,
                unset,
            )?;
            found_by_path |= coverage(
                &mut worker,
                &mut channel,
                &probe,
                prepared,
                project,
                &failing,
                &mut entries,
                &mut set_aside,
            )?;
            if set_aside.len() < failing.len() {
                break;
            }
        }
    }
    if set_aside.len() == failing.len() {
        let tests = names(prepared, &failing);
        return Err(match unset {
            Some(_) => RepairError::ReadsUnset { tests },
            None => RepairError::WovenDiffers { tests },
        });
    }
    let mut failing: Vec<usize> = failing
        .into_iter()
        .filter(|test| !set_aside.contains(test))
        .collect();
    let unreached: Vec<usize> = failing
        .iter()
        .copied()
        .filter(|test| !entries.iter().any(|entry| entry.visited_by.contains(test)))
        .collect();
    if !unreached.is_empty() && unreached.len() < failing.len() {
        events(Event::Warning(format!(
            "these failing tests execute no location in {what}, so they are set aside, and no patch has to pass them: {}",
            names(prepared, &unreached)
        )));
        failing.retain(|test| !unreached.contains(test));
        prepared.failing.retain(|test| !unreached.contains(test));
    }
    for entry in &mut entries {
        let is_whole = failing.iter().all(|test| entry.visited_by.contains(test));
        entry.is_partial = !is_whole;
    }
    // Statements that all failing tests execute are known where there is a focus.
    let keeps_partial = options.early_pairs && focus.is_none();
    entries.retain(|entry| !entry.is_partial || keeps_partial && !entry.visited_by.is_empty());
    if entries.iter().all(|entry| entry.is_partial) {
        return Err(RepairError::NotReached {
            tests: names(prepared, &failing),
            holes: holes_in_all,
            what,
        });
    }
    events(Event::Phase("finding which tests visit which locations"));
    let mut passing = prepared.passing.clone();
    if let Some(focus) = focus {
        // The others do not even execute the statements.
        let tests = focus.tests(considered);
        passing.retain(|test| tests.contains(test));
    }
    let mut differing = BTreeSet::new();
    found_by_path |= coverage(
        &mut worker,
        &mut channel,
        &probe,
        prepared,
        project,
        &passing,
        &mut entries,
        &mut differing,
    )?;
    // Where statements were observed first that is decided: of those, only the most suspicious have locations.
    if project.files.is_empty() && focus.is_none() {
        for file in programs_of_tests(&plans, &entries, &prepared.passing) {
            let relative = &plans[file].file.relative;
            events(Event::Warning(localize::program_of_tests(relative)));
            entries.retain(|entry| entry.file != file);
        }
    }
    // A statement that moves may come to stand where it is executed by tests that do not execute it now.
    let unseen: Vec<usize> = prepared
        .passing
        .iter()
        .copied()
        .filter(|test| !passing.contains(test))
        .collect();
    for entry in entries.iter_mut().filter(|entry| entry.moves()) {
        entry.visited_by.extend(&unseen);
    }
    for &test in &differing {
        events(Event::Warning(format!(
            "test {} passes, but not in the instrumented program: it is only used in the final verification",
            prepared.baseline.tests[test].name
        )));
    }
    set_aside.extend(differing);
    localize::rank(&mut entries, prepared, options);
    let mut partial: Vec<HoleEntry> = entries.extract_if(.., |entry| entry.is_partial).collect();
    localize::limit(&mut partial, options.locations);
    let of_locations = entries.len();
    if focus.is_none() {
        for &looked_at in &prepared.looked_at.locations {
            localize::skip(&mut entries, looked_at);
        }
        if entries.is_empty() {
            return Err(RepairError::NoLocations {
                what,
                reason: "all of them have been looked at".to_owned(),
            });
        }
    }
    let statements = focus.map_or(0, Focus::len);
    let left_out = LeftOut {
        // With a focus there are no more than wanted, whole statements aside.
        locations: match focus {
            Some(_) => 0,
            None => localize::limit(&mut entries, options.locations),
        },
        of_locations,
        statements: statements - considered.min(statements),
        of_statements: statements,
    };
    let mut workers = vec![(worker, channel)];
    let folder = workers[0].0.sandbox.folder().to_path_buf();
    let mut jobs = options.jobs.max(1);
    if found_by_path && jobs > 1 && !workers[0].0.runner.view_active() {
        events(Event::Warning(
            "the tests start the program without their environment, and this system does not let \
             each worker have its own files at one path: going on with one worker"
                .to_owned(),
        ));
        jobs = 1;
    }
    for index in 1..jobs {
        let worker = Worker::start(
            index,
            &name(index),
            &worker_options(project, &folder, surroundings),
        )?;
        let channel = new_channel(&worker, surroundings, holes_in_all)?;
        if worker.runner.view_active() {
            show_run(&worker, &probe, &channel)?;
        }
        workers.push((worker, channel));
    }
    let files: Vec<SourceFile> = plans.into_iter().map(|plan| plan.file).collect();
    let sandbox = &prepared.worker.sandbox;
    unchangeable::find(
        &files,
        &entries,
        &|file, line| is_wanted(project, file, line),
        &[sandbox.run_root(), sandbox.project(), sandbox.folder()],
        &mut left_alone.unchangeable,
    );
    phases.weave += started.elapsed();
    entries.extend(partial);
    prepared.looked_at.statements = considered;
    prepared.looked_at.locations.push(options.locations);
    let crash = prepared.baseline.crashes() || focus.is_some_and(Focus::has_crash);
    prepared.focus = own_focus;
    Ok(Instrumented {
        files,
        holes: entries,
        holes_in_all,
        left_out,
        workers,
        probe,
        left_alone,
        set_aside,
        unset,
        crash,
        weights: Arc::clone(&options.weights),
    })
}

/// The sources whose main function only failing tests execute, though passing ones execute others: test programs, whatever they are
/// called. A source whose main function has no location among `entries` says nothing about that: what else stands there may well
/// be what fails.
fn programs_of_tests(plans: &[Plan], entries: &[HoleEntry], passing: &[usize]) -> Vec<usize> {
    let is_passed = |entry: &HoleEntry| passing.iter().any(|test| entry.visited_by.contains(test));
    let starts = |entry: &&HoleEntry| {
        let mut functions = plans[entry.file].file.unit.functions.iter();
        functions
            .any(|function| function.name == "main" && function.span.contains_span(entry.hole.span))
    };
    let mut starting: BTreeMap<usize, bool> = BTreeMap::new();
    for entry in entries.iter().filter(starts) {
        *starting.entry(entry.file).or_default() |= is_passed(entry);
    }
    let tests: Vec<usize> = starting
        .into_iter()
        .filter_map(|(file, passed)| (!passed).then_some(file))
        .collect();
    let mut others = entries.iter().filter(|entry| !tests.contains(&entry.file));
    match others.any(is_passed) {
        true => tests,
        false => Vec::new(),
    }
}

/// A channel in memory, or on disk where there is too little memory for files, as in many containers.
fn new_channel(
    worker: &Worker,
    surroundings: &Surroundings<'_>,
    holes: usize,
) -> Result<Channel, ChannelError> {
    let create = |folder: &Path| Channel::create(folder, holes as u32, Default::default());
    create(&worker.shared).or_else(|error| {
        tracing::info!("{error}");
        create(&surroundings.scratch.common_path())
    })
}

/// Puts the run where processes look for it that have lost their environment.
fn show_run(worker: &Worker, probe: &Path, channel: &Channel) -> Result<(), RepairError> {
    // Without a view all workers have one folder, and a localization may have been there.
    for (file, name) in [(probe, PROBE_FILE), (channel.path(), CHANNEL_FILE)] {
        let link = worker.run_folder().join(name);
        files::remove_file(&link)?;
        files::create_link(file, &link)?;
    }
    Ok(())
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

/// Runs tests once in coverage mode; notes visits, and tests whose verdict differs. Tells whether some process found
/// the run by its folder only.
#[allow(clippy::too_many_arguments)]
fn coverage(
    worker: &mut Worker,
    channel: &mut Channel,
    probe: &Path,
    prepared: &mut Prepared,
    project: &Project,
    tests: &[usize],
    entries: &mut [HoleEntry],
    differing: &mut BTreeSet<usize>,
) -> Result<bool, RepairError> {
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
    let (mut attached, mut found_by_path) = (false, false);
    for &test in tests {
        let known = &prepared.baseline.tests[test];
        channel.set_coverage();
        let limits = known.limits(&project.limits, true).for_woven();
        let run = run_test(
            &mut worker.runner,
            &worker.sandbox,
            &suite.tests[test],
            &environment,
            &limits,
        )?;
        attached |= channel.attached() > 0;
        found_by_path |= channel.found_by_path() > 0;
        if run.verdict.is_pass() != known.verdict.is_pass() {
            differing.insert(test);
        }
        // What is woven takes longer. What was ended does not tell how long.
        if !matches!(run.outcome.ending, Ending::TimedOut(_)) {
            let expected = &mut prepared.baseline.tests[test].expected_cpu;
            *expected = run.outcome.cpu.max(*expected);
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
            failure: prepared.baseline.tests[test].failure(),
        });
    }
    Ok(found_by_path)
}
