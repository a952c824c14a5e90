//! From flags to a project.

use std::{path::Path, time::Duration};

use patchwright_exec::{FileSelection, Project, ProjectError, ProjectFlags, Scratch};

use crate::args::ProjectArgs;

/// Loads the project that the flags describe.
///
/// # Errors
/// When the description is wrong.
pub fn load(args: &ProjectArgs, scratch: &Scratch) -> Result<Project, ProjectError> {
    let mut flags = ProjectFlags {
        build: args.build.clone(),
        prepare: args.prepare.clone(),
        compile_commands: args.compile_commands.clone(),
        driver: args.driver.clone(),
        tests: args.tests.clone(),
        program: args.program.clone(),
        cases: args.cases.clone(),
        test_timeout: args.test_timeout.map(Duration::from_millis),
        ..ProjectFlags::default()
    };
    for selection in &args.files {
        flags
            .files
            .push(
                FileSelection::parse(selection).map_err(|error| ProjectError::Selection {
                    place: patchwright_exec::project::Place::Flag("--files"),
                    source: error,
                })?,
            );
    }
    if args.project.is_dir() {
        return Project::load(&args.project, &flags);
    }
    let cases = match args.case_folder.as_ref().or(args.cases.as_ref()) {
        Some(cases) => cases.clone(),
        None => args
            .project
            .parent()
            .unwrap_or(Path::new("."))
            .join("cases"),
    };
    let cflags: Vec<std::ffi::OsString> = args
        .cflags
        .as_deref()
        .unwrap_or_default()
        .split_whitespace()
        .map(Into::into)
        .collect();
    Project::single_file(&args.project, &cases, &cflags, scratch, &flags)
}
