//! The description of a project: `patchwright.toml`, flags, or a single C file with cases.
//!
//! Flags and file are merged key by key; flags win. Everything is checked here, so that a mistake
//! is reported at once, with its place and a remedy, and not after a long build.

mod cases;
mod config;
mod error;
mod selection;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub use error::{Place, ProjectError};
pub use selection::{FileSelection, SelectionError};

use crate::files::{self, FileError};
use crate::included;
use crate::intercept::shell_quote;
use crate::limits::{Limits, MIB};
use crate::runner::Environment;
use crate::sandbox::normalize;
use crate::scratch::Scratch;
use crate::suite::{Comparison, Test, TestKind, TestSuite};
use config::{Config, Located};

/// The name of the file in a project's root that describes the project.
pub const CONFIG_FILE: &str = "patchwright.toml";

/// A project whose description was read and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its root: absolute, without symbolic links.
    pub root: PathBuf,
    /// The shell command that builds it, run from the root.
    pub build: Option<OsString>,
    /// The shell command that is run once in a copy before the build.
    pub prepare: Option<OsString>,
    /// The compile database, absolute. It may be made by the build, so it need not exist.
    pub compile_commands: Option<PathBuf>,
    /// The tests, if any are described.
    pub tests: Option<TestSuite>,
    /// The limits of each test.
    pub limits: Limits,
    /// Files and folders that are not in the copies, relative to the root.
    pub exclude: Vec<PathBuf>,
    /// The most time that a build may take, if the user says so.
    pub build_timeout: Option<Duration>,
    /// The most memory that a build may have, all of its processes together, if the user says so; in bytes.
    pub build_memory: Option<u64>,
    /// Where to repair; everywhere if empty. Files are relative to the root.
    pub files: Vec<FileSelection>,
    /// Folders outside of it to which builds and tests may write, with the place where each was permitted; absolute, without
    /// symbolic links.
    pub allow_writes: Vec<(PathBuf, Place)>,
    /// Where builds and tests were permitted to reach the network, if they were.
    pub network: Option<Place>,
    /// Builds and tests have all rights of the user; only a flag says so.
    pub unprotected: bool,
    /// The user's own file, for a project that was made of a single C file.
    pub single_file: Option<PathBuf>,
}

/// What the command line says about a project. All paths are relative to the project's root, as in
/// `patchwright.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFlags {
    /// The description to read instead of `patchwright.toml` in the root; it must exist.
    pub config: Option<PathBuf>,
    /// `--build`
    pub build: Option<OsString>,
    /// `--prepare`
    pub prepare: Option<OsString>,
    /// `--compile-commands`
    pub compile_commands: Option<PathBuf>,
    /// `--driver`
    pub driver: Option<PathBuf>,
    /// `--tests`: names of tests of the driver, or of the cases to use.
    pub tests: Vec<String>,
    /// `--program`
    pub program: Option<PathBuf>,
    /// `--cases`
    pub cases: Option<PathBuf>,
    /// `--test-timeout`
    pub test_timeout: Option<Duration>,
    /// `--ignore-trailing-whitespace`
    pub ignore_trailing_whitespace: bool,
    /// `--files`
    pub files: Vec<FileSelection>,
    /// `--exclude`
    pub exclude: Vec<PathBuf>,
    /// `--build-timeout`
    pub build_timeout: Option<Duration>,
    /// `--build-memory`, in bytes.
    pub build_memory: Option<u64>,
    /// `--allow-writes`; absolute.
    pub allow_writes: Vec<PathBuf>,
    /// `--network`
    pub network: bool,
    /// `--unprotected`
    pub unprotected: bool,
}

impl Project {
    /// Reads the description of the project in the folder `root`: its `patchwright.toml`, if there is
    /// one, and `flags`.
    ///
    /// # Errors
    /// See [`ProjectError`].
    pub fn load(root: &Path, flags: &ProjectFlags) -> Result<Self, ProjectError> {
        let found = fs::canonicalize(root).ok().filter(|path| path.is_dir());
        let root = found.ok_or_else(|| ProjectError::NoRoot {
            root: root.to_path_buf(),
        })?;
        let config = match &flags.config {
            Some(path) => Config::read(&root.join(path))?,
            None if root.join(CONFIG_FILE).exists() => Config::read(&root.join(CONFIG_FILE))?,
            None => Config::default(),
        };
        Project::merge(root, config, flags)
    }

    /// Makes a project of the C file `file` and the folder `cases`: the file is copied to a fresh
    /// folder in `scratch` and built there by `cc` with `cflags` into a program of its own name.
    /// Files of its folder that it includes by `#include "…"` are copied, too. Of the flags, `build`, `tests`, `test_timeout`,
    /// `ignore_trailing_whitespace` and `files` are used; the selected file may be written in any way that names `file`.
    ///
    /// # Errors
    /// See [`ProjectError`].
    pub fn single_file(
        file: &Path,
        cases: &Path,
        cflags: &[OsString],
        scratch: &Scratch,
        flags: &ProjectFlags,
    ) -> Result<Self, ProjectError> {
        let readable = fs::canonicalize(file).ok().filter(|path| path.is_file());
        let source = readable.ok_or_else(|| ProjectError::NoSource {
            file: file.to_path_buf(),
        })?;
        let name = file.file_name().unwrap_or_default();
        if file.extension() != Some(OsStr::new("c")) {
            return Err(ProjectError::NotC {
                file: file.to_path_buf(),
            });
        }
        let root = scratch.create_folder("single-file")?;
        let text = files::read(&source)?;
        files::write_atomic(&root.join(name), &text)?;
        let program = Path::new(name).with_extension("");
        let folder = source.parent().unwrap_or(Path::new("/"));
        copy_included(&text, folder, &root)?;
        let build = flags
            .build
            .clone()
            .unwrap_or_else(|| single_file_build(name, program.as_os_str(), folder, cflags));
        if !cases.is_dir() {
            return Err(ProjectError::FileCasesMissing {
                folder: cases.to_path_buf(),
            });
        }
        let cases = std::path::absolute(cases).unwrap_or_else(|_| cases.to_path_buf());
        let selections = flags.files.iter().map(|selection| {
            let named = fs::canonicalize(&selection.file).is_ok_and(|path| path == source);
            let file = if named {
                PathBuf::from(name)
            } else {
                selection.file.clone()
            };
            FileSelection {
                file,
                lines: selection.lines,
            }
        });
        let flags = ProjectFlags {
            build: Some(build),
            program: Some(program),
            cases: Some(cases),
            tests: flags.tests.clone(),
            test_timeout: flags.test_timeout,
            ignore_trailing_whitespace: flags.ignore_trailing_whitespace,
            files: selections.collect(),
            build_memory: flags.build_memory,
            build_timeout: flags.build_timeout,
            allow_writes: flags.allow_writes.clone(),
            network: flags.network,
            unprotected: flags.unprotected,
            ..ProjectFlags::default()
        };
        let project = Project::merge(root, Config::default(), &flags)?;
        Ok(Project {
            single_file: Some(source),
            ..project
        })
    }

    /// Returns the tests, or an error if the description names none.
    ///
    /// # Errors
    /// [`ProjectError::NoTestsDescribed`].
    pub fn require_tests(&self) -> Result<&TestSuite, ProjectError> {
        self.tests.as_ref().ok_or(ProjectError::NoTestsDescribed)
    }

    fn merge(root: PathBuf, config: Config, flags: &ProjectFlags) -> Result<Self, ProjectError> {
        let project = &config.file.project;
        let command = |flag: (&Option<OsString>, &'static str),
                       key: &Option<toml::Spanned<String>>| {
            let Some(Given { value, place }) = given(flag, key, &config) else {
                return Ok(None);
            };
            match value.as_bytes().trim_ascii().is_empty() {
                true => Err(ProjectError::NoCommand { place }),
                false => Ok(Some(value)),
            }
        };
        let compile_commands = flags
            .compile_commands
            .clone()
            .or_else(|| project.compile_commands.clone())
            .map(|path| normalize(&root.join(path)));
        Ok(Project {
            build: command((&flags.build, "--build"), &project.build)?,
            prepare: command((&flags.prepare, "--prepare"), &project.prepare)?,
            compile_commands,
            tests: suite(&root, &config, flags)?,
            limits: limits(&config)?,
            build_memory: build_memory(&config, flags)?,
            exclude: excluded(&root, &config, flags)?,
            build_timeout: flags.build_timeout,
            files: selections(&root, &config, flags)?,
            allow_writes: allowed(&root, &config, flags)?,
            network: network(&config, flags),
            unprotected: flags.unprotected,
            single_file: None,
            root,
        })
    }
}

/// The folders to write to, of flags and of the description.
fn allowed(
    root: &Path,
    config: &Config,
    flags: &ProjectFlags,
) -> Result<Vec<(PathBuf, Place)>, ProjectError> {
    let by_flags = flags.allow_writes.iter();
    let by_flags = by_flags.map(|path| (path.clone(), Place::Flag("--allow-writes")));
    let written = config.file.protection.allow_writes.iter().flatten();
    let written = written.map(|path| {
        let Located { value, place } = config.locate(path);
        (root.join(value), place)
    });
    let checked = |(path, place): (PathBuf, Place)| {
        let folder = fs::canonicalize(&path).ok().filter(|path| path.is_dir());
        match folder {
            None => Err(ProjectError::NoFolder {
                place,
                folder: path,
            }),
            Some(folder) if folder == Path::new("/") => Err(ProjectError::WholeSystem { place }),
            Some(folder) => Ok((folder, place)),
        }
    };
    by_flags.chain(written).map(checked).collect()
}

/// What copies leave out.
fn excluded(
    root: &Path,
    config: &Config,
    flags: &ProjectFlags,
) -> Result<Vec<PathBuf>, ProjectError> {
    let by_flags = flags.exclude.iter();
    let by_flags = by_flags.map(|path| (path.clone(), Place::Flag("--exclude")));
    let written = config.file.project.exclude.iter().flatten();
    let written = written.map(|path| {
        let Located { value, place } = config.locate(path);
        (PathBuf::from(value), place)
    });
    let inside = |(path, place): (PathBuf, Place)| {
        let relative = in_project(root, &path);
        match relative.is_absolute() || relative.as_os_str().is_empty() {
            true => Err(ProjectError::OutsideProject {
                place,
                file: path,
                root: root.to_path_buf(),
            }),
            false => Ok(relative),
        }
    };
    by_flags.chain(written).map(inside).collect()
}

/// Where the network was permitted.
fn network(config: &Config, flags: &ProjectFlags) -> Option<Place> {
    let key = config.file.protection.network.as_ref();
    let written = key.map(|key| config.locate(key));
    let written = written.filter(|located| *located.value);
    match flags.network {
        true => Some(Place::Flag("--network")),
        false => written.map(|located| located.place),
    }
}

/// Copies the files in and below `folder` that `text`, a file of it, includes by `#include "…"`, itself or in turn, to the same places
/// in `root`. Others are found where they are, and so is what includes a file outside of the folder from below it.
fn copy_included(text: &[u8], folder: &Path, root: &Path) -> Result<(), ProjectError> {
    let is_below = |path: &Path| {
        let mut parts = path.components();
        parts.all(|part| matches!(part, std::path::Component::Normal(_)))
    };
    let mut open = vec![(PathBuf::new(), included::quoted(text))];
    while let Some((within, names)) = open.pop() {
        for name in names {
            // As the compiler looks for it: beside what includes it, then by `-iquote`.
            let places = [within.join(&name), name].map(|path| normalize(&path));
            let is_there = |path: &&PathBuf| is_below(path) && folder.join(path).is_file();
            let Some(path) = places.iter().find(is_there) else {
                continue;
            };
            let copy = root.join(path);
            if copy.exists() {
                continue;
            }
            let text = files::read(&folder.join(path))?;
            let names = included::quoted(&text);
            let beside = path.parent().unwrap_or(Path::new("")).to_path_buf();
            let leaves = |name: &PathBuf| !is_below(&normalize(&beside.join(name)));
            if beside != Path::new("") && names.iter().any(leaves) {
                continue;
            }
            files::create_folder(&root.join(&beside))?;
            files::write_atomic(&copy, &text)?;
            open.push((beside, names));
        }
    }
    Ok(())
}

fn single_file_build(
    source: &OsStr,
    program: &OsStr,
    headers: &Path,
    cflags: &[OsString],
) -> OsString {
    let mut command = OsString::from("cc");
    let mut words = cflags.to_vec();
    words.extend([
        "-iquote".into(),
        headers.into(),
        "-o".into(),
        program.into(),
    ]);
    // A name may begin with a minus sign.
    let mut file = OsString::from("./");
    file.push(source);
    words.extend([file, "-lm".into()]);
    for word in words {
        command.push(" ");
        command.push(OsStr::from_bytes(&shell_quote(&word)));
    }
    command
}

/// A value and where it comes from.
struct Given<T> {
    value: T,
    place: Place,
}

/// The value of a flag, else of a key.
fn given<T: Clone, U: Into<T> + Clone>(
    flag: (&Option<T>, &'static str),
    key: &Option<toml::Spanned<U>>,
    config: &Config,
) -> Option<Given<T>> {
    match (flag.0, key) {
        (Some(value), _) => Some(Given {
            value: value.clone(),
            place: Place::Flag(flag.1),
        }),
        (None, Some(value)) => {
            let Located { value, place } = config.locate(value);
            Some(Given {
                value: value.clone().into(),
                place,
            })
        }
        (None, None) => None,
    }
}

fn suite(
    root: &Path,
    config: &Config,
    flags: &ProjectFlags,
) -> Result<Option<TestSuite>, ProjectError> {
    let table = &config.file.tests;
    // A flag that describes tests of one kind replaces a description of the other kind.
    let flags_cases = flags.cases.is_some() || flags.program.is_some();
    let flags_driver = flags.driver.is_some();
    let unless = |condition: bool, key: &Option<toml::Spanned<String>>| {
        if condition { None } else { key.clone() }
    };
    let driver = given(
        (&flags.driver, "--driver"),
        &unless(flags_cases, &table.driver),
        config,
    );
    let cases = given(
        (&flags.cases, "--cases"),
        &unless(flags_driver, &table.cases),
        config,
    );
    let program = given(
        (&flags.program, "--program"),
        &unless(flags_driver, &table.program),
        config,
    );
    let names: Vec<Given<String>> = if flags.tests.is_empty() {
        let names = table.names.iter().flatten().map(|name| config.locate(name));
        names
            .map(|name| Given {
                value: name.value.clone(),
                place: name.place,
            })
            .collect()
    } else {
        let given = |name: &String| Given {
            value: name.clone(),
            place: Place::Flag("--tests"),
        };
        flags.tests.iter().map(given).collect()
    };
    check_names(&names)?;
    let ignores_whitespace = match (
        flags.ignore_trailing_whitespace,
        &table.ignore_trailing_whitespace,
    ) {
        (true, _) => Some(Place::Flag("--ignore-trailing-whitespace")),
        // A key for cases means nothing where a flag names a driver instead of them.
        (false, Some(key)) if *key.get_ref() && !flags_driver => Some(config.locate(key).place),
        _ => None,
    };
    let comparison = match ignores_whitespace {
        Some(_) => Comparison::IgnoreTrailingWhitespace,
        None => Comparison::Exact,
    };
    let tests = match (driver, cases, program) {
        (Some(driver), None, None) => match ignores_whitespace {
            Some(place) => return Err(ProjectError::DriverCompares { place }),
            None => driver_tests(root, driver, names)?,
        },
        (None, Some(cases), Some(program)) => {
            case_tests(root, &cases, &program, comparison, names)?
        }
        (None, None, None) if names.is_empty() => return Ok(None),
        (None, None, None) => {
            return Err(ProjectError::NoDriver {
                place: names[0].place.clone(),
            });
        }
        (Some(driver), _, _) => {
            return Err(ProjectError::TwoKinds {
                place: driver.place,
            });
        }
        (None, Some(cases), None) => return Err(ProjectError::NoProgram { place: cases.place }),
        (None, None, Some(program)) => {
            return Err(ProjectError::NoCases {
                place: program.place,
            });
        }
    };
    if let Some(former) = &table.timeout_ms {
        let Located { value, place } = config.locate(former);
        return Err(ProjectError::FormerKey {
            place,
            former: format!("timeout-ms = {value}"),
            now: format!("timeout = \"{value}ms\""),
        });
    }
    let timeout = match (flags.test_timeout, &table.timeout) {
        (Some(timeout), _) if timeout.is_zero() => {
            return Err(ProjectError::ZeroTimeout {
                place: Place::Flag("--test-timeout"),
            });
        }
        (Some(timeout), _) => Some(timeout),
        (None, Some(timeout)) => {
            let Located { value, place } = config.locate(timeout);
            if value.0.is_zero() {
                return Err(ProjectError::ZeroTimeout { place });
            }
            Some(value.0)
        }
        (None, None) => None,
    };
    let set = &table.environment;
    let set: BTreeMap<_, _> = set.iter().map(|(n, v)| (n.into(), v.into())).collect();
    let environment = Environment {
        set,
        ..Environment::default()
    };
    Ok(Some(TestSuite {
        tests,
        timeout,
        environment,
    }))
}

fn check_names(names: &[Given<String>]) -> Result<(), ProjectError> {
    let mut seen = BTreeSet::new();
    for Given { value, place } in names {
        if value.is_empty() || value.contains('\0') {
            return Err(ProjectError::BadTestName {
                place: place.clone(),
                name: value.clone(),
            });
        }
        if !seen.insert(value) {
            return Err(ProjectError::DuplicateTest {
                place: place.clone(),
                name: value.clone(),
            });
        }
    }
    Ok(())
}

fn driver_tests(
    root: &Path,
    driver: Given<PathBuf>,
    names: Vec<Given<String>>,
) -> Result<Vec<Test>, ProjectError> {
    let Given {
        value: driver,
        place,
    } = driver;
    let path = root.join(&driver);
    if path.is_dir() {
        return Err(ProjectError::DriverIsFolder {
            place,
            driver: path,
        });
    }
    if !path.is_file() {
        return Err(ProjectError::DriverMissing {
            place,
            driver: path,
        });
    }
    if !files::is_executable(&path) {
        return Err(ProjectError::DriverNotExecutable {
            place,
            driver: path,
        });
    }
    if names.is_empty() {
        return Err(ProjectError::NoTestNames { place });
    }
    let driver = in_project(root, &driver);
    let test = |name: Given<String>| Test {
        name: name.value,
        kind: TestKind::Driver {
            driver: driver.clone(),
        },
    };
    Ok(names.into_iter().map(test).collect())
}

fn case_tests(
    root: &Path,
    cases: &Given<PathBuf>,
    program: &Given<PathBuf>,
    comparison: Comparison,
    names: Vec<Given<String>>,
) -> Result<Vec<Test>, ProjectError> {
    let folder = normalize(&root.join(&cases.value));
    let program = in_project(root, &program.value);
    let mut tests = Vec::new();
    for (name, case) in cases::read_cases(&folder, &program, comparison, &cases.place)? {
        tests.push(Test {
            name,
            kind: TestKind::Case(Arc::new(case)),
        });
    }
    if names.is_empty() {
        return Ok(tests);
    }
    let selected = names.into_iter().map(|Given { value, place }| {
        let found = tests.iter().find(|test| test.name == value).cloned();
        found.ok_or(ProjectError::UnknownCase {
            place,
            name: value,
            folder: folder.clone(),
        })
    });
    selected.collect()
}

/// The path relative to the root, for one inside it: the sandboxed copy of that file is meant.
fn in_project(root: &Path, path: &Path) -> PathBuf {
    let absolute = normalize(&root.join(path));
    absolute
        .strip_prefix(root)
        .map(Path::to_path_buf)
        .unwrap_or(absolute)
}

/// A limit of a description, which is at least 1.
fn positive(
    config: &Config,
    key: &Option<toml::Spanned<u64>>,
    name: &'static str,
) -> Result<Option<u64>, ProjectError> {
    let Some(key) = key else { return Ok(None) };
    let Located { value, place } = config.locate(key);
    match value {
        0 => Err(ProjectError::ZeroLimit { place, name }),
        value => Ok(Some(*value)),
    }
}

fn build_memory(config: &Config, flags: &ProjectFlags) -> Result<Option<u64>, ProjectError> {
    let said = positive(
        config,
        &config.file.limits.build_memory_mb,
        "build-memory-mb",
    )?;
    let said = said.map(|memory| memory.saturating_mul(MIB));
    Ok(flags.build_memory.or(said))
}

fn limits(config: &Config) -> Result<Limits, ProjectError> {
    let table = &config.file.limits;
    let positive = |key, name| positive(config, key, name);
    let mut limits = Limits::default();
    if let Some(memory) = positive(&table.memory_mb, "memory-mb")? {
        limits.memory = Some(memory.saturating_mul(MIB));
    }
    if let Some(output) = positive(&table.output_mb, "output-mb")? {
        limits.output = output.saturating_mul(MIB);
    }
    if let Some(processes) = positive(&table.processes, "processes")? {
        limits.processes = Some(u32::try_from(processes).unwrap_or(u32::MAX));
    }
    Ok(limits)
}

fn selections(
    root: &Path,
    config: &Config,
    flags: &ProjectFlags,
) -> Result<Vec<FileSelection>, ProjectError> {
    let mut given = Vec::new();
    if flags.files.is_empty() {
        for text in config.file.repair.files.iter().flatten() {
            let Located { value, place } = config.locate(text);
            let selection = FileSelection::parse(OsStr::new(value)).map_err(|source| {
                ProjectError::Selection {
                    place: place.clone(),
                    source,
                }
            })?;
            given.push((selection, place));
        }
    } else {
        given.extend(
            flags
                .files
                .iter()
                .map(|file| (file.clone(), Place::Flag("--files"))),
        );
    }
    let mut selections = Vec::new();
    for (selection, place) in given {
        let file = in_project(root, &selection.file);
        if file.is_absolute() {
            return Err(ProjectError::OutsideProject {
                place,
                file,
                root: root.to_path_buf(),
            });
        }
        let path = root.join(&file);
        if path.is_dir() && selection.lines.is_some() {
            return Err(ProjectError::LinesOfFolder {
                place,
                folder: path,
            });
        }
        if !path.is_file() && !path.is_dir() {
            return Err(ProjectError::FileMissing { place, file: path });
        }
        selections.push(FileSelection {
            file,
            lines: selection.lines,
        });
    }
    Ok(selections)
}

impl From<FileError> for ProjectError {
    fn from(source: FileError) -> Self {
        ProjectError::File { source }
    }
}
