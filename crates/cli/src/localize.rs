//! `patchwright localize`.

use patchwright_exec::{CancelToken, RunnerProgram, Scratch, files};
use patchwright_repair::{RepairError, RepairOptions, Surroundings, localize, prepare};
use patchwright_report::{findings::Findings, localization, text};

use crate::{
    Exit,
    args::LocalizeArgs,
    places::Places,
    progress::Progress,
    project, protection,
    repair::{default_jobs, exit_of},
    signals,
};

/// Runs `patchwright localize`: prints the ranking of suspicious statements. Returns the exit status.
pub fn run(args: &LocalizeArgs) -> Exit {
    match try_run(args) {
        Ok(exit) => exit,
        Err(error) => {
            let exit = exit_of(&error);
            if exit == Exit::Interrupted {
                eprintln!("patchwright: interrupted before anything was found");
            } else {
                eprintln!("patchwright: {}{error}", exit.prefix());
            }
            exit
        }
    }
}

fn try_run(args: &LocalizeArgs) -> Result<Exit, RepairError> {
    let mut scratch = Scratch::in_default_place_telling(&signals::removing)?;
    let cancel =
        CancelToken::new().map_err(|source| files::FileError::new("open", "a pipe", source))?;
    signals::cancel_on_signals(cancel.clone(), false);
    let project = project::load(&args.project, &scratch)?;
    let permitted = protection::set_up(&mut scratch, &project, None)?;
    let program = RunnerProgram::current_exe(["__runner"])
        .map_err(|source| files::FileError::new("find", "the running program", source))?;
    args.ci.check()?;
    let places = Places::new(scratch.path(), &args.project.project);
    let progress = Progress::new(&places);
    permitted.iter().for_each(|told| progress.warn(told));
    let show = |event| progress.show(event);
    let surroundings = Surroundings {
        program: &program,
        scratch: &scratch,
        cancel,
        events: &show,
    };
    let options = RepairOptions {
        // Without passing tests there are still coverage and crashes.
        allow_all_failing: true,
        jobs: args.jobs.unwrap_or_else(default_jobs),
        ..Default::default()
    };
    let mut phases = patchwright_repair::phases::Phases::default();
    let found = prepare::prepare(&project, &options, &surroundings, &mut phases).and_then(
        |mut prepared| {
            let found = localize::localize(
                &mut prepared,
                &project,
                &options,
                &surroundings,
                &mut phases,
            )?;
            Ok((prepared.baseline, found))
        },
    );
    progress.finish();
    let tried = protection::untold(&scratch);
    tried.iter().for_each(|told| progress.warn(told));
    let (baseline, found) = found?;
    let report = localization::Report {
        ranking: found.rank(args.formula),
        found: &found,
        baseline: &baseline,
        formula: args.formula,
        top: if args.top == 0 { usize::MAX } else { args.top },
    };
    if let Some(page) = &args.html {
        files::write_atomic(page, report.html().as_bytes())?;
    }
    args.ci
        .write(&args.project.project, || Findings::of_localization(&report))?;
    if args.json {
        print!("{}", report.json());
    } else {
        let colour = crate::shown::colour();
        let style = text::Style { colour };
        if args.annotate {
            print!("{}", report.annotated(style));
        } else {
            print!("{}", report.table(style));
        }
    }
    Ok(Exit::Found)
}
