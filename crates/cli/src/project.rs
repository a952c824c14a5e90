//! Loads the project that the flags describe.

use std::path::Path;

use patchwright_exec::{FileSelection, Project, ProjectError, ProjectFlags, Scratch, limits::MIB};

use crate::args::{DescriptionArgs, ProjectArgs};

/// Loads the project that the flags describe, with the files or lines selected by `--files`.
///
/// # Errors
/// When the description is wrong.
pub fn load(args: &ProjectArgs, scratch: &Scratch) -> Result<Project, ProjectError> {
    let mut files = Vec::new();
    for selection in &args.files {
        let place = patchwright_exec::project::Place::Flag("--files");
        files.push(
            FileSelection::parse(selection)
                .map_err(|source| ProjectError::Selection { place, source })?,
        );
    }
    files.extend(args.changed.selected(&args.project)?);
    let cases = args.case_folder.as_deref();
    load_described(&args.project, cases, &args.description, files, scratch)
}

/// Names as users write them, with blanks between them, with commas or with both.
fn names(given: &[String]) -> Vec<String> {
    let parts = given.iter().flat_map(|name| name.split(','));
    parts
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Loads the project of a folder or of a C file, as the flags describe it.
///
/// # Errors
/// When the description is wrong.
pub fn load_described(
    project: &Path,
    cases: Option<&Path>,
    args: &DescriptionArgs,
    files: Vec<FileSelection>,
    scratch: &Scratch,
) -> Result<Project, ProjectError> {
    let flags = ProjectFlags {
        files,
        build: args.build.clone(),
        prepare: args.prepare.clone(),
        exclude: args.exclude.clone(),
        build_timeout: args.build_timeout,
        build_memory: args.build_memory.map(|memory| memory.saturating_mul(MIB)),
        compile_commands: args.compile_commands.clone(),
        driver: args.driver.clone(),
        tests: names(&args.tests),
        program: args.program.clone(),
        cases: args.cases.clone(),
        test_timeout: args.test_timeout,
        ignore_trailing_whitespace: args.ignore_trailing_whitespace,
        allow_writes: args
            .allow_writes
            .iter()
            // Of where the user is, as `--output`.
            .map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.clone()))
            .collect(),
        network: args.network,
        unprotected: args.unprotected,
        ..ProjectFlags::default()
    };
    if project.is_dir() {
        if let Some(folder) = cases {
            return Err(ProjectError::CasesOfFolder {
                folder: folder.to_path_buf(),
                root: project.to_path_buf(),
            });
        }
        return Project::load(project, &flags);
    }
    let cases = match cases.or(args.cases.as_deref()) {
        Some(cases) => cases.to_path_buf(),
        None => project.parent().unwrap_or(Path::new(".")).join("cases"),
    };
    let cflags: Vec<std::ffi::OsString> = args
        .cflags
        .as_deref()
        .unwrap_or_default()
        .split_whitespace()
        .map(Into::into)
        .collect();
    Project::single_file(project, &cases, &cflags, scratch, &flags)
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn names_are_separated_by_blanks_or_commas() {
        let given = ["a,b", "c,", "-q", ", d"].map(str::to_owned);
        assert_eq!(names(&given), ["a", "b", "c", "-q", "d"]);
        assert!(names(&[]).is_empty());
    }
}
