//! Finds the versions that the user names: C files, folders of projects, and patches of the first
//! version.

use std::{
    ffi::OsString,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use patchwright_exec::{
    CancelToken, CompileCommand, Project, ProjectFlags, RunnerProgram, Scratch, Worker,
    WorkerOptions, files, included, pool::PoolError, record_build_within,
};
use patchwright_patches::{Counts, FileChange, FolderTree, Patch, Reading, Source};
use patchwright_validate::read_set;

use super::{cover::Cover, native::Built};
use crate::{args::DescriptionArgs, encoded::Problem, project};

/// A version with the name that the user gave it.
#[derive(Clone, Debug)]
pub struct Named {
    /// What the user calls it.
    pub shown: String,
    /// What it is.
    pub what: What,
}

/// The kind of a version.
#[derive(Clone, Debug)]
pub enum What {
    /// A C file by itself; and the folder whose headers it includes, where it was written anew.
    File(PathBuf, Option<PathBuf>),
    /// A project, and perhaps a patch of it.
    Project(Box<Project>, Option<Box<Patch>>),
}

impl Named {
    /// Whether it is a patch of the first version.
    pub fn is_patch(&self) -> bool {
        match &self.what {
            What::File(_, headers) => headers.is_some(),
            What::Project(_, patch) => patch.is_some(),
        }
    }

    /// Whether it is a C file by itself.
    pub fn is_file(&self) -> bool {
        matches!(self.what, What::File(..))
    }
}

/// Finds out what each of `names` is. Patches belong to the first version.
///
/// # Errors
/// What is not there, or of no known kind.
pub fn named(
    names: &[OsString],
    description: &DescriptionArgs,
    scratch: &Scratch,
) -> Result<Vec<Named>, Problem> {
    let mut all: Vec<Named> = Vec::new();
    for name in names {
        let path = Path::new(name);
        let shown = path.display().to_string();
        if path.is_dir() && (all.is_empty() || !is_folder_of_patches(path)) {
            let described = DescriptionArgs {
                // It is said by itself which program is executed, and on what.
                program: None,
                cases: description
                    .cases
                    .clone()
                    .filter(|_| description.program.is_some()),
                ..description.clone()
            };
            let described = match (&described.cases, &description.program) {
                (Some(_), Some(program)) => DescriptionArgs {
                    program: Some(program.clone()),
                    ..described
                },
                _ => described,
            };
            let project = project::load_described(path, None, &described, Vec::new(), scratch)
                .map_err(Problem::of)?;
            all.push(Named {
                shown,
                what: What::Project(Box::new(project), None),
            });
        } else if path
            .extension()
            .is_some_and(|ending| ending == "c" || ending == "h")
            && path.is_file()
        {
            all.push(Named {
                shown,
                what: What::File(path.to_path_buf(), None),
            });
        } else if !path.exists() {
            return Err(Problem::Input(format!(
                "{shown}: there is no such file or folder; a version is a C file, the folder of a project, or a patch of the first version; A..B names two revisions"
            )));
        } else if let Some(first) = all.first().cloned() {
            all.extend(patched(&first, path, scratch, all.len())?);
        } else {
            return Err(Problem::Input(format!(
                "{shown} is neither a C file nor a folder; name the original first, then its patch"
            )));
        }
    }
    if all.len() < 2 {
        return Err(Problem::Input(
            "there is one version only; name a second one: a C file, a folder, or a patch"
                .to_owned(),
        ));
    }
    let is_file = |one: &&Named| one.is_file();
    if let (Some(file), Some(folder)) = (
        all.iter().find(is_file),
        all.iter().find(|one| !is_file(one)),
    ) {
        return Err(Problem::Input(format!(
            "{} is a file and {} a project: name two files or two folders",
            file.shown, folder.shown
        )));
    }
    Ok(all)
}

fn is_folder_of_patches(path: &Path) -> bool {
    let is_patch = |file: &PathBuf| {
        let ending = file.extension().and_then(|ending| ending.to_str());
        matches!(ending, Some("diff" | "patch"))
    };
    let is_description = path.join("patchwright.toml").exists();
    files::regular_files_below(path)
        .is_ok_and(|files| !is_description && !files.is_empty() && files.iter().all(is_patch))
}

/// The versions that the patches in a file or folder make of the first one.
fn patched(
    first: &Named,
    patches: &Path,
    scratch: &Scratch,
    number: usize,
) -> Result<Vec<Named>, Problem> {
    let root = match &first.what {
        What::Project(project, _) => project.root.clone(),
        What::File(file, _) => {
            let folder = file.parent().filter(|folder| *folder != Path::new(""));
            let folder = folder.unwrap_or(Path::new(".")).to_path_buf();
            std::path::absolute(&folder).unwrap_or(folder)
        }
    };
    let tree = FolderTree::new(&root);
    let reading = Reading {
        strip: None,
        counts: Counts::Corrected,
    };
    let sources = [Source::Path(patches.to_path_buf())];
    let set = read_set(
        &tree,
        &sources,
        &mut std::io::empty(),
        reading,
        None,
        |_| {},
    )
    .map_err(Problem::of)?;
    let mut all = Vec::new();
    // The first patch that is none of this program, if it is the only one; of several the others are compared.
    let mut unusable: Option<String> = None;
    let mut refuse = |message: String| {
        if set.entries.len() > 1 {
            eprintln!("patchwright: warning: {message}; it is left out");
        }
        unusable.get_or_insert(message);
    };
    for entry in &set.entries {
        let Some(patch) = entry.patch() else {
            let reason = match &entry.applied {
                patchwright_patches::Applied::DoesNotApply(not) => not.reason.to_string(),
                patchwright_patches::Applied::Patch(_) => String::new(),
            };
            refuse(format!(
                "the patch {} does not apply to {}: {reason}",
                entry.id().0,
                first.shown
            ));
            continue;
        };
        let shown = match set.entries.len() {
            1 => patches.display().to_string(),
            _ => entry.id().0.clone(),
        };
        let what = match &first.what {
            What::Project(project, _) => {
                What::Project(project.clone(), Some(Box::new(patch.clone())))
            }
            What::File(file, _) => {
                let name = file.file_name().unwrap_or_default();
                let own = patch.changes.iter().find_map(|change| match change {
                    FileChange::Modify { path, text, .. } if path.as_path() == Path::new(name) => {
                        Some(text.to_vec())
                    }
                    _ => None,
                });
                let Some(text) = own else {
                    refuse(format!(
                        "the patch {} does not change {}",
                        entry.id().0,
                        first.shown
                    ));
                    continue;
                };
                let folder = scratch
                    .create_folder(&format!("patched-{number}-{}", all.len()))
                    .map_err(Problem::of)?;
                let new = folder.join(name);
                files::write_atomic(&new, &text).map_err(Problem::of)?;
                What::File(new, Some(root.clone()))
            }
        };
        all.push(Named { shown, what });
    }
    match unusable {
        Some(message) if all.is_empty() => Err(Problem::Input(message)),
        _ => Ok(all),
    }
}

/// Everything that building versions needs.
pub struct Builder<'a> {
    /// Where copies go.
    pub scratch: &'a Scratch,
    /// Ends builds.
    pub cancel: CancelToken,
    /// `--program`.
    pub program: Option<PathBuf>,
    /// Flags for the compiler, for single files.
    pub cflags: Vec<OsString>,
    /// Whether they note what their executions go through.
    pub covers: bool,
}

/// A built version, and how its sources are compiled.
pub struct Made {
    /// The program, if it is known which it is.
    pub built: Option<Built>,
    /// The copy.
    pub folder: PathBuf,
    /// How each source is compiled.
    pub commands: Vec<CompileCommand>,
}

impl Builder<'_> {
    /// Copies and builds a version. The copy is called `name`.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn build(&self, named: &Named, name: &str) -> Result<Made, Problem> {
        let (project, patch, program) = match &named.what {
            What::Project(project, patch) => {
                let program = self.program.clone().or_else(|| program_of(project));
                (project.as_ref().clone(), patch.as_deref(), program)
            }
            What::File(file, headers) => {
                let project = self.single(file, headers.as_deref(), name)?;
                (project, None, Some(PathBuf::from("program")))
            }
        };
        self.made(&project, program, &named.shown, name, &|worker| {
            let mut changes = patch.iter().flat_map(|patch| &patch.changes);
            changes.try_for_each(|change| apply(worker, change))
        })
    }

    /// Copies a project, changes the copy by `change`, and builds it.
    ///
    /// # Errors
    /// When it cannot be built.
    pub fn made(
        &self,
        project: &Project,
        program: Option<PathBuf>,
        shown: &str,
        name: &str,
        change: &dyn Fn(&Worker) -> Result<(), Problem>,
    ) -> Result<Made, Problem> {
        let (worker, commands, cover) = match self.covers && program.is_some() {
            true => match self.recorded(project, shown, name, change, true) {
                Err(Problem::Input(message)) => {
                    // Perhaps only that cannot be built; what is wrong with the program itself is said then.
                    tracing::info!("{shown}: without marks, since: {message}");
                    self.recorded(project, shown, &format!("{name}-plain"), change, false)?
                }
                other => other?,
            },
            false => self.recorded(project, shown, name, change, false)?,
        };
        let sources = included::sources(&commands, &worker.sandbox);
        let (root, folder) = (
            worker.sandbox.run_root().to_path_buf(),
            worker.sandbox.folder().to_path_buf(),
        );
        let commands = sources
            .into_values()
            .filter_map(|commands| commands.into_iter().next())
            .map(|command| command.rebase(&root, &folder))
            .collect();
        Ok(Made {
            built: program.map(|program| Built {
                worker,
                program,
                cover,
                folders: Vec::new(),
            }),
            folder,
            commands,
        })
    }

    /// A copy that is built, how its sources are compiled, and what is noted of its executions if it `covers`.
    fn recorded(
        &self,
        project: &Project,
        shown: &str,
        name: &str,
        change: &dyn Fn(&Worker) -> Result<(), Problem>,
        covers: bool,
    ) -> Result<(Worker, Vec<CompileCommand>, Option<Cover>), Problem> {
        let start = RunnerProgram::current_exe(["__runner"]).map_err(Problem::of)?;
        let options =
            WorkerOptions::new(project, &project.root, &start, self.scratch, &self.cancel);
        let interrupted = |error: PoolError| match self.cancel.is_cancelled() {
            true => Problem::Interrupted,
            false => Problem::of(error),
        };
        let mut worker = Worker::start(0, name, &options).map_err(interrupted)?;
        change(&worker)?;
        let (environment, cover) = match covers {
            true => Cover::prepare(&mut worker)?.unzip(),
            false => (None, None),
        };
        let environment = environment.unwrap_or_default();
        let recorded = record_build_within(&mut worker, project, &environment);
        let commands = recorded.map_err(|error| match self.cancel.is_cancelled() {
            true => Problem::Interrupted,
            false => Problem::Input(format!("{shown}: {error}")),
        })?;
        Ok((worker, commands, cover))
    }

    /// A project that consists of a file.
    fn single(&self, file: &Path, headers: Option<&Path>, name: &str) -> Result<Project, Problem> {
        let folder = self
            .scratch
            .create_folder(&format!("source-{name}"))
            .map_err(Problem::of)?;
        let text = files::read(file).map_err(Problem::of)?;
        files::write_atomic(&folder.join("program.c"), &text).map_err(Problem::of)?;
        let own = match file.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let own = std::path::absolute(own).unwrap_or_else(|_| own.to_path_buf());
        let mut words: Vec<String> = vec!["cc".into(), "-g".into(), "-O1".into(), "-w".into()];
        for flag in &self.cflags {
            words.push(flag.to_string_lossy().into_owned());
        }
        for folder in [Some(own.as_path()), headers].into_iter().flatten() {
            words.push("-iquote".to_owned());
            words.push(String::from_utf8_lossy(folder.as_os_str().as_bytes()).into_owned());
        }
        words.extend(["-o", "program", "program.c", "-lm"].map(str::to_owned));
        let build = shlex::try_join(words.iter().map(String::as_str)).map_err(Problem::of)?;
        let flags = ProjectFlags {
            build: Some(build.into()),
            ..ProjectFlags::default()
        };
        Project::load(&folder, &flags).map_err(Problem::of)
    }
}

/// Returns the functions that both versions compile and whose own text differs, file by file.
pub fn changed_functions([old, new]: [&Made; 2]) -> Vec<String> {
    let mut files = Vec::new();
    let mut seen = Vec::new();
    for command in &old.commands {
        let Ok(relative) = command.source().strip_prefix(&old.folder) else {
            continue;
        };
        let texts = [command.source(), &new.folder.join(relative)].map(files::read);
        if let [Ok(a), Ok(b)] = texts
            && a != b
            && !seen.contains(&relative.to_path_buf())
        {
            seen.push(relative.to_path_buf());
            let source = |text| {
                Some(patchwright_changes::Source {
                    path: relative.display().to_string(),
                    text,
                })
            };
            files.push(patchwright_changes::FileChange {
                old: source(a),
                new: source(b),
            });
        }
    }
    functions_of(files)
}

/// Returns the functions of a file whose own text differs.
pub fn functions_between(relative: &Path, texts: [Vec<u8>; 2]) -> Vec<String> {
    let source = |text| {
        Some(patchwright_changes::Source {
            path: relative.display().to_string(),
            text,
        })
    };
    let [old, new] = texts.map(source);
    functions_of(vec![patchwright_changes::FileChange { old, new }])
}

fn functions_of(files: Vec<patchwright_changes::FileChange>) -> Vec<String> {
    let change = patchwright_changes::Change {
        files,
        rest: Some(Vec::new()),
        definitions: patchwright_changes::Definitions::default(),
        versions: None,
    };
    let measured = patchwright_changes::measure(&change);
    let changed = measured.functions.into_iter();
    changed
        .filter(|function| function.status == patchwright_changes::Status::Changed)
        .map(|function| function.name)
        .collect()
}

/// Returns the program that the project's tests run.
pub fn program_of(project: &Project) -> Option<PathBuf> {
    project
        .tests
        .as_ref()?
        .tests
        .iter()
        .find_map(|test| match &test.kind {
            patchwright_exec::TestKind::Case(case) => Some(case.program.clone()),
            patchwright_exec::TestKind::Driver { .. } => None,
        })
}

/// Makes one change of a patch in a copy.
///
/// # Errors
/// When the copy cannot be written.
pub fn apply(worker: &Worker, change: &FileChange) -> Result<(), Problem> {
    let sandbox = &worker.sandbox;
    if let FileChange::Rename { from, .. } = change {
        sandbox.remove_file(from.as_path()).map_err(Problem::of)?;
    }
    let path = change.path().as_path();
    let done = match change {
        FileChange::Delete { .. } => sandbox.remove_file(path),
        FileChange::Mode { executable, .. } => sandbox.set_executable(path, *executable),
        FileChange::Modify { text, .. } => sandbox.write(path, &text.to_vec(), None),
        FileChange::Add {
            text, executable, ..
        }
        | FileChange::Rename {
            text, executable, ..
        } => sandbox.write(path, &text.to_vec(), Some(*executable)),
    };
    done.map_err(Problem::of)
}
