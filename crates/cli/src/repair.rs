//! `patchwright repair`.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use patchwright_exec::{
    CancelToken, Deadline, ProjectError, RecordError, RunnerProgram, Scratch, files,
};
use patchwright_kinds::Kind;
use patchwright_localize::LocalizeError;
use patchwright_repair::{
    Event, Kept, Patch, RepairError, RepairOptions, RepairOutcome, Surroundings,
    likelihood::Weights,
    options::DEFAULT_LOCATIONS,
    repair,
    shard::{self, options_of_part},
};
use patchwright_report::{
    behaviour::Behaviour, findings::Findings, json, page, proofs::Proofs, text,
};
use patchwright_space::{Schemas, exits::Conditions};

use crate::{
    Exit,
    applied::{self, NotApplied},
    args::{BehaviourArgs, RepairArgs, SchemaName},
    behaviour,
    early::EarlyPatches,
    interactive::{Decision, Session},
    kinds, learn,
    places::Places,
    progress::Progress,
    project, proofs,
    proposing::{Proposing, sieve::Sieve},
    protection,
    shards::PartFile,
    signals, state,
};

/// Runs `patchwright repair`: prints verified patches as they come and the report at the end. Returns the exit status.
pub fn run(args: &RepairArgs) -> Exit {
    let mut places = None;
    let mut kinds = match kinds::list(&args.kinds, Some(&args.project.project)) {
        Ok(kinds) => kinds,
        Err(message) => {
            eprintln!("patchwright: error: {message}");
            return Exit::BadInput;
        }
    };
    if !args.schemas.contains(&SchemaName::All) {
        kinds.retain(|kind| !kind.is_on_request());
    }
    let weights = match learn::weights(&args.project.project) {
        Ok(weights) => weights,
        Err(message) => {
            eprintln!("patchwright: error: {message}");
            return Exit::BadInput;
        }
    };
    match try_run(args, (kinds, weights), &mut places) {
        Ok(exit) => exit,
        Err(error) => {
            let exit = exit_of(&error);
            if exit == Exit::Interrupted {
                eprintln!("patchwright: interrupted before anything was found; --resume goes on");
            } else {
                let text = error.to_string();
                let text = places.map_or(text.clone(), |places| places.shown(&text));
                eprintln!("patchwright: {}{text}", exit.prefix());
            }
            exit
        }
    }
}

fn schemas(names: &[SchemaName]) -> Schemas {
    if names.is_empty() {
        return Schemas::default();
    }
    let mut schemas = Schemas::NONE;
    for name in names {
        match name {
            SchemaName::Expression => schemas.expression = true,
            SchemaName::Refinement => schemas.refinement = true,
            SchemaName::Guard => schemas.guard = true,
            SchemaName::Assignment => schemas.assignment = true,
            SchemaName::Initialization => schemas.initialization = true,
            SchemaName::Function => schemas.function = true,
            SchemaName::Swap => schemas.swap = true,
            SchemaName::Format => schemas.format = true,
            SchemaName::Operator => schemas.operator = true,
            SchemaName::Break => schemas.breaks = true,
            SchemaName::Loop => schemas.loops = true,
            SchemaName::Move => schemas.moves = true,
            SchemaName::Exit => schemas.exits = Some(Conditions::All),
            SchemaName::Declaration => schemas.declarations = true,
            SchemaName::All => schemas = Schemas::ALL,
        }
    }
    schemas
}

/// Returns the exit status for an error of a repair.
pub(crate) fn exit_of(error: &RepairError) -> Exit {
    match error {
        error if error.is_cancelled() => Exit::Interrupted,
        RepairError::Record(RecordError::Build(_) | RecordError::AbsolutePaths { .. }) => {
            Exit::BadProject
        }
        RepairError::Project(ProjectError::NothingChanged { .. }) => Exit::Found,
        RepairError::Project(_)
        | RepairError::Record(_)
        | RepairError::NotCompiled { .. }
        | RepairError::Included { .. }
        | RepairError::NoLocations { .. }
        | RepairError::NotReached { .. }
        | RepairError::File(_)
        | RepairError::Journal(_)
        | RepairError::Channel(_)
        | RepairError::Parse(_)
        | RepairError::Test(_) => Exit::BadInput,
        RepairError::NothingFails { .. }
        | RepairError::EverythingFails { .. }
        | RepairError::OnlyFlaky { .. }
        | RepairError::NothingAttached { .. }
        | RepairError::ReadsUnset { .. } => Exit::BadProject,
        RepairError::Pool(_) | RepairError::Run(_) => Exit::BadInput,
        RepairError::Localize(error) => match error {
            LocalizeError::NothingAttached { .. } => Exit::BadProject,
            LocalizeError::MarkedDiffers | LocalizeError::MarkedBuild(_) => Exit::Bug,
            _ => Exit::BadInput,
        },
        RepairError::NotWoven { .. }
        | RepairError::WovenBuild(_)
        | RepairError::WovenDiffers { .. }
        | RepairError::Candidate(_) => Exit::Bug,
    }
}

fn try_run(
    args: &RepairArgs,
    (kinds, weights): (Vec<Kind>, Arc<Weights>),
    places: &mut Option<Places>,
) -> Result<Exit, RepairError> {
    let mut scratch = Scratch::in_default_place_telling(&signals::removing)?;
    let places = &*places.insert(Places::new(scratch.path(), &args.project.project));
    let cancel =
        CancelToken::new().map_err(|source| files::FileError::new("open", "a pipe", source))?;
    signals::cancel_on_signals(cancel.clone(), true);
    let project = project::load(&args.project, &scratch)?;
    let journal = state::journal(&args.resuming, "repair");
    let permitted = protection::set_up(&mut scratch, &project, journal.as_ref())?;
    if let Some(folder) = &args.output {
        // Now, not after the work: a folder that cannot be written to is an error at once.
        files::create_output_folder(folder)?;
    }
    args.ci.check()?;
    if let Some(page) = &args.html {
        files::write_atomic(page, b"")?;
    }
    let program = RunnerProgram::current_exe(["__runner"])
        .map_err(|source| files::FileError::new("find", "the running program", source))?;
    let space = patchwright_space::SpaceLimits::wanting(args.candidates, args.term_size);
    let part = PartFile::begin(&args.sharding)?;
    let command = args.proposing.propose.as_ref();
    let proposing = command.map(|command| Proposing::of(command, &project));
    let mut options = RepairOptions {
        jobs: args.jobs.unwrap_or_else(default_jobs),
        jobs_that_wait: args.jobs.unwrap_or_else(|| default_jobs() * WAITING_JOBS),
        all: args.all,
        first: args.first,
        max_patches: args.max_patches as usize,
        max_cost: args.max_cost,
        places: args.places.into(),
        schemas: schemas(&args.schemas),
        kinds: kinds.into(),
        weights,
        locations: match (args.locations, args.all) {
            (Some(locations), _) => locations,
            (None, true) => 0,
            (None, false) => DEFAULT_LOCATIONS,
        },
        widens: args.locations.is_none(),
        formula: args.formula,
        space: if args.all {
            space.of_whole_spaces()
        } else {
            space
        },
        allow_all_failing: args.allow_all_failing,
        budget: args.budget,
        kept: args.cache.open().map(Kept::in_cache),
        journal,
        relations: args.relations,
        virtualize: !args.no_virtualize,
        proposals: proposing.as_ref().map(|one| one.proposals.clone()),
        shard: args.sharding.shard,
        ..Default::default()
    };
    let key = match &part {
        Some(_) => {
            options_of_part(&mut options);
            shard::key(&project, &options)?
        }
        None => String::new(),
    };
    let progress = Progress::new(places).within(args.budget);
    permitted.iter().for_each(|told| progress.warn(told));
    let colour = crate::shown::colour();
    let style = text::Style { colour };
    let shown = AtomicUsize::new(0);
    let early = EarlyPatches::start(&progress);
    // The user may end the search and go on talking.
    let search = Deadline::new(&cancel, None)
        .map_err(|source| files::FileError::new("open", "a timer", source))?;
    let session = args
        .conversation
        .interactive
        .then(|| Session::start(search.token().clone()));
    let unwritten = Unwritten::new(args.json);
    let show = |event| match event {
        Event::Passed {
            patch,
            is_scrutinized,
        } => {
            unwritten.add(&patch, is_scrutinized);
            match &session {
                Some(session) => progress.aside(|| session.add(&patch)),
                None => early.show(&patch, is_scrutinized),
            }
        }
        Event::Finishing(time) => {
            signals::give_time(time);
            progress.note(&format!(
                "interrupted; verifying the best patches that were found, for at most {} s (interrupt again to stop)",
                time.as_secs()
            ));
        }
        // Whoever waits for the next one can read it already.
        // With --compare their order is not known yet.
        Event::Verified(patch) if reports_at_the_end(args) => {
            if let Some(session) = &session {
                progress.aside(|| session.add(&patch));
            }
        }
        Event::Verified(patch) if !args.json => {
            // The report begins.
            early.end();
            let number = shown.fetch_add(1, Ordering::Relaxed) + 1;
            progress.aside(|| print!("{}", text::patch(number, &patch, style)));
            unwritten.written(&patch);
        }
        event => progress.show(event),
    };
    let events = |event: Event| {
        if let Some(proposing) = &proposing {
            proposing.tell(&event);
        }
        show(event);
    };
    let surroundings = Surroundings {
        program: &program,
        scratch: &scratch,
        cancel: search.token().clone(),
        events: &events,
    };
    let run = || repair(&project, &options, &surroundings);
    let outcome = match &proposing {
        None => run(),
        Some(proposing) => {
            let sieve = Sieve {
                project: &project,
                program: &program,
                scratch: &scratch,
                jobs: options.jobs,
                build_timeout: args.project.description.build_timeout,
            };
            sieve.beside(&proposing.desk, search.token(), run)?
        }
    };
    early.end();
    progress.finish();
    let tried = protection::untold(&scratch);
    tried.iter().for_each(|told| progress.warn(told));
    let mut outcome = outcome?;
    if let Some(part) = &part {
        let found = shard::Found::new(&outcome, &options);
        let is_partial = cancel.is_cancelled() || outcome.stats.ended_in.is_some();
        part.write((shard::SCHEMA, shard::VERSION), key, is_partial, found)?;
    }
    // Who interrupts has decided.
    let session = session.filter(|_| !cancel.is_cancelled());
    let decision = session.map(|session| session.end(&outcome.patches));
    let asked = BehaviourArgs {
        ask: true,
        ..args.behaviour.clone()
    };
    let behaviour = match decision {
        Some(Decision::Ask) => &asked,
        _ => &args.behaviour,
    };
    let wants = behaviour.is_wanted();
    let behaviour = match wants && !outcome.patches.is_empty() && !cancel.is_cancelled() {
        true => behaviour::of_repair(
            behaviour,
            &project,
            &mut outcome,
            &scratch,
            &cancel,
            args.output.as_deref(),
        ),
        false => None,
    };
    let wants = args.proofs.prove && !outcome.patches.is_empty() && !cancel.is_cancelled();
    let proofs = wants
        .then(|| proofs::of_repair(&args.proofs, &project, &outcome, &scratch, &cancel))
        .flatten();
    let more = (behaviour.as_ref(), proofs.as_ref());
    signals::while_writing(|| write(args, &options, &outcome, more, &cancel))?;
    let applied = match (&decision, args.apply) {
        _ if cancel.is_cancelled() => None,
        (Some(Decision::Apply(patch)), _) => Some(applied::apply_one(&project, patch)),
        (_, Some(number)) => {
            let number = number as usize;
            Some(applied::apply(&project, &outcome.patches, number))
        }
        _ => None,
    };
    if let Some(applied) = applied {
        match applied {
            Ok(file) => eprintln!("patchwright: the patch is applied to {}", file.display()),
            Err(error) => {
                eprintln!("patchwright: error: {error}");
                return Ok(match error {
                    NotApplied::NoSuch { .. } => Exit::Nothing,
                    NotApplied::Changed { .. } | NotApplied::File(_) => Exit::BadInput,
                });
            }
        }
    }
    Ok(if cancel.is_cancelled() {
        eprintln!("patchwright: {}", signals::interrupted(true));
        Exit::Interrupted
    } else if outcome.patches.is_empty() {
        Exit::Nothing
    } else {
        Exit::Found
    })
}

/// Patches that have passed all tests and are not on standard output yet: whoever interrupts twice gets them all the same.
struct Unwritten {
    patches: Arc<Mutex<Vec<EarlyPatch>>>,
}

/// A patch, and whether it is known not to pass by what C does not define.
type EarlyPatch = (Patch, bool);

impl Unwritten {
    /// A document is not begun with something else, so beside JSON they go to standard error.
    fn new(is_json: bool) -> Self {
        let patches: Arc<Mutex<Vec<EarlyPatch>>> = Arc::default();
        let kept = patches.clone();
        signals::at_the_last_moment(move || {
            let style = text::Style { colour: false };
            let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            for (patch, is_scrutinized) in kept.iter() {
                let text = text::early_patch(patch, *is_scrutinized, style);
                match is_json {
                    true => eprint!("{text}"),
                    false => print!("{text}"),
                }
            }
        });
        Unwritten { patches }
    }

    fn change(&self, change: impl FnOnce(&mut Vec<EarlyPatch>)) {
        change(&mut self.patches.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn add(&self, patch: &Patch, is_scrutinized: bool) {
        self.change(|patches| patches.push((patch.clone(), is_scrutinized)));
    }

    fn written(&self, patch: &Patch) {
        self.change(|patches| patches.retain(|(known, _)| known.diff != patch.diff));
    }
}

/// Whether the order of the patches is not known before the end.
fn reports_at_the_end(args: &RepairArgs) -> bool {
    args.behaviour.is_wanted() || args.proposing.propose.is_some() || args.conversation.interactive
}

/// Writes what was found.
fn write(
    args: &RepairArgs,
    options: &RepairOptions,
    outcome: &RepairOutcome,
    (behaviour, proofs): (Option<&Behaviour>, Option<&Proofs>),
    cancel: &CancelToken,
) -> Result<(), RepairError> {
    if let Some(folder) = &args.output {
        for (i, patch) in outcome.patches.iter().enumerate() {
            files::write_atomic(&folder.join(format!("{}.diff", i + 1)), &patch.diff)?;
        }
    }
    if let Some(file) = &args.html {
        files::write_atomic(file, page::repair(outcome, behaviour).as_bytes())?;
    }
    args.ci
        .write(&args.project.project, || Findings::of_repair(outcome))?;
    if args.json {
        print!("{}", json::repair(outcome, behaviour, proofs));
    } else {
        if reports_at_the_end(args) {
            let colour = crate::shown::colour();
            for (at, patch) in outcome.patches.iter().enumerate() {
                print!("{}", text::patch(at + 1, patch, text::Style { colour }));
            }
        }
        print!("{}", text::summary(outcome));
        if let Some(behaviour) = behaviour {
            let colour = crate::shown::colour();
            print!("{}", behaviour.text(text::Style { colour }));
        }
        if let Some(proofs) = proofs {
            let colour = crate::shown::colour();
            print!("{}", proofs.text(text::Style { colour }));
        }
        let leaves_early = options.schemas.exits == Some(Conditions::All);
        if outcome.patches.is_empty() && !leaves_early && !cancel.is_cancelled() {
            println!(
                "Early exits (EXIT) were only tried where functions begin, at the ends of an `if`, and against crashes. \
                 --schemas all tries them everywhere."
            );
        }
        if args.stats {
            print!("\n{}", text::stats(&outcome.stats));
        }
    }
    Ok(())
}

/// At most so many workers for each processor where tests wait, if `-j` is not given.
const WAITING_JOBS: usize = 4;

/// Returns the number of workers if `-j` is not given.
pub fn default_jobs() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
