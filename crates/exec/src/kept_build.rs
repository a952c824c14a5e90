//! Keeps the products of a build in a [`Cache`], for later runs on the same project.
//!
//! What differs in a copy before and after its build is kept in a [`Cache`], with the commands that compile the sources. Another copy of
//! the same tree gets it, and is built once more: so the project's own build has the last word, and has little to do.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Permissions};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use patchwright_text::{Digest, Hasher};

use crate::cache::{Cache, stamp};
use crate::changes::Left;
use crate::compile_commands::CompileCommand;
use crate::files::{self, Context, FileError};
use crate::intercept::compilers_in_path;
use crate::journal::hash_tree;
use crate::pool::Worker;
use crate::project::Project;
use crate::record::{RecordError, record_build, run_in_copy};
use crate::sandbox::Sandbox;
use crate::snapshot::Snapshot;

/// The description of the project, which no build reads: who tests something else need not build again.
const DESCRIPTION: &str = "patchwright.toml";

/// Variables that say nothing to a build, and are different each time.
const OF_THE_TERMINAL: [&str; 9] = [
    "_", "COLUMNS", "LINES", "OLDPWD", "PWD", "RUST_LOG", "SHLVL", "TERM", "WINDOWID",
];

/// How hard compression tries: what is kept is to be had at once.
const COMPRESSION: i32 = 1;

/// Contents that a file has already, because the build has only touched it.
const AS_BEFORE: u64 = u64::MAX;

/// Returns a digest of all that a build and the tests of the untouched program depend on: the tree, the
/// commands, the environment, the compilers, and what commands may do outside.
///
/// # Errors
/// When the tree cannot be read.
pub fn program_key(project: &Project) -> Result<Digest, FileError> {
    let mut hasher = Hasher::new();
    hasher
        .field("patchwright-program")
        .field(env!("CARGO_PKG_VERSION"))
        .field(project.root.as_os_str().as_bytes());
    let mut left_out = project.exclude.clone();
    left_out.push(DESCRIPTION.into());
    hash_tree(&project.root, Path::new(""), &left_out, &mut hasher)?;
    for command in [&project.build, &project.prepare] {
        hasher.field(command.as_deref().unwrap_or_default().as_bytes());
    }
    let allowed: Vec<&PathBuf> = project.allow_writes.iter().map(|(path, _)| path).collect();
    hasher.field(format!(
        "{:?} {:?} {:?} {allowed:?} {} {}",
        project.compile_commands,
        project.files,
        project.exclude,
        project.network.is_some(),
        project.unprotected
    ));
    let mut variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    variables.retain(|(name, _)| !OF_THE_TERMINAL.iter().any(|other| name == *other));
    variables.sort();
    for (name, value) in variables {
        hasher.field(name.as_bytes()).field(value.as_bytes());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    for compiler in compilers_in_path(&path, std::env::var_os("CC").as_deref()).values() {
        let stamp = stamp(compiler);
        hasher.field(format!("{} {stamp:?}", compiler.display()));
    }
    Ok(hasher.finish())
}

/// Builds as [`record_build`] does, but begins with the products of an earlier build if `kept` has them
/// under its key ([`program_key`]). A build that takes at least `least` is kept there. The second result
/// is the duration of the earlier build, if it was used.
///
/// # Errors
/// See [`RecordError`].
pub fn record_kept_build(
    worker: &mut Worker,
    project: &Project,
    kept: Option<(&Cache, Digest)>,
    least: Duration,
) -> Result<(Vec<CompileCommand>, Option<Duration>), RecordError> {
    // Where the copy does not appear at the project's path, what is built names the copy's own.
    let kept = kept.filter(|_| worker.runner.view_active());
    let Some(((cache, key), build)) = kept.zip(project.build.as_deref()) else {
        return Ok((record_build(worker, project)?, None));
    };
    let key = Hasher::new().field("build").field(key.to_string()).finish();
    if let Some(bytes) = cache.get(key)
        && let Some(bytes) = zstd::decode_all(&*bytes).ok()
        && let Some((milliseconds, bytes)) = bytes.split_first_chunk()
        && let Some(commands) = put(bytes, &worker.sandbox)?
    {
        run_in_copy(worker, build).map_err(RecordError::Build)?;
        let taken = Duration::from_millis(u64::from_le_bytes(*milliseconds));
        return Ok((commands, Some(taken)));
    }
    let started = Instant::now();
    let before = Snapshot::take(&worker.sandbox)?;
    let commands = record_build(worker, project)?;
    let taken = started.elapsed();
    if taken < least {
        return Ok((commands, None));
    }
    if let Some(bytes) = made(&before, taken, &worker.sandbox, &project.root, &commands)?
        && let Ok(bytes) = zstd::encode_all(&*bytes, COMPRESSION)
    {
        cache.put(key, &bytes);
    }
    Ok((commands, None))
}

/// Fields of bytes, each with its length in front.
#[derive(Default)]
struct Fields(Vec<u8>);

impl Fields {
    fn number(&mut self, number: u64) -> &mut Self {
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    fn field(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }
}

/// Reads [`Fields`].
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn field(&mut self) -> Option<&'a [u8]> {
        let length = usize::try_from(self.number()?).ok()?;
        self.rest(length)
    }

    fn rest(&mut self, length: usize) -> Option<&'a [u8]> {
        let (field, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }

    fn path(&mut self) -> Option<PathBuf> {
        Some(OsStr::from_bytes(self.field()?).into())
    }
}

/// What a build has made since a snapshot, how long that took, and the commands; `None` if it has made something that cannot be kept. `project` is the
/// tree of which the copy is one.
fn made(
    before: &Snapshot,
    taken: Duration,
    sandbox: &Sandbox,
    project: &Path,
    commands: &[CompileCommand],
) -> Result<Option<Vec<u8>>, FileError> {
    let changes = before.changes(sandbox)?;
    if !changes.can_be_copied() {
        return Ok(None);
    }
    let mut fields = Fields::default();
    fields
        .number(taken.as_millis() as u64)
        .number(commands.len() as u64);
    for command in commands {
        fields
            .field(command.file.as_os_str().as_bytes())
            .field(command.directory.as_os_str().as_bytes());
        for path in [&command.output, &command.included] {
            let path = path.as_deref().unwrap_or(Path::new(""));
            fields.field(path.as_os_str().as_bytes());
        }
        fields.number(command.arguments.len() as u64);
        for argument in &command.arguments {
            fields.field(argument.as_bytes());
        }
    }
    for (relative, left) in changes.iter() {
        let path = sandbox.folder().join(relative);
        fields.field(relative.as_os_str().as_bytes());
        match left {
            Left::Nothing => drop(fields.field(b"gone")),
            Left::Folder { mode } => drop(fields.field(b"folder").number(u64::from(*mode))),
            Left::Link(to) => drop(fields.field(b"link").field(to.as_os_str().as_bytes())),
            Left::Special { .. } => return Ok(None),
            Left::File { mode, .. } => {
                let about = fs::metadata(&path).context("read", &path)?;
                let contents = files::read(&path)?;
                let is_as_before =
                    files::read(&project.join(relative)).is_ok_and(|was| was == contents);
                fields.field(b"file").number(u64::from(*mode));
                fields
                    .number(about.mtime() as u64)
                    .number(about.mtime_nsec() as u64);
                match is_as_before {
                    true => drop(fields.number(AS_BEFORE)),
                    false => drop(fields.field(&contents)),
                }
            }
        }
    }
    Ok(Some(fields.0))
}

/// Does to a copy what a build has done to another one; the commands. `None` if the text is damaged: the copy is to be built then.
fn put(bytes: &[u8], sandbox: &Sandbox) -> Result<Option<Vec<CompileCommand>>, FileError> {
    let mut reader = Reader(bytes);
    let Some(commands) = read_commands(&mut reader) else {
        return Ok(None);
    };
    while !reader.0.is_empty() {
        if put_entry(&mut reader, sandbox)?.is_none() {
            return Ok(None);
        }
    }
    Ok(Some(commands))
}

fn read_commands(reader: &mut Reader<'_>) -> Option<Vec<CompileCommand>> {
    let count = reader.number()?;
    let mut commands = Vec::new();
    for _ in 0..count {
        let (file, directory) = (reader.path()?, reader.path()?);
        let (output, included) = (reader.path()?, reader.path()?);
        let some = |path: PathBuf| Some(path).filter(|path| !path.as_os_str().is_empty());
        let arguments = reader.number()?;
        commands.push(CompileCommand {
            file,
            directory,
            output: some(output),
            included: some(included),
            arguments: (0..arguments)
                .map(|_| Some(OsString::from_vec(reader.field()?.to_vec())))
                .collect::<Option<_>>()?,
        });
    }
    Some(commands)
}

fn put_entry(reader: &mut Reader<'_>, sandbox: &Sandbox) -> Result<Option<()>, FileError> {
    let (Some(relative), Some(kind)) = (reader.path(), reader.field()) else {
        return Ok(None);
    };
    let path = sandbox.folder().join(relative);
    let is_folder = fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir());
    let remove = || match is_folder {
        true => files::remove_tree(&path),
        false => files::remove_file(&path),
    };
    let set_mode = |mode: u64| {
        let mode = Permissions::from_mode(mode as u32 & 0o7777);
        fs::set_permissions(&path, mode).context("set the mode of", &path)
    };
    match kind {
        b"gone" => remove()?,
        b"folder" => {
            let Some(mode) = reader.number() else {
                return Ok(None);
            };
            if !is_folder {
                remove()?;
                files::create_folder(&path)?;
            }
            set_mode(mode)?;
        }
        b"link" => {
            let Some(to) = reader.path() else {
                return Ok(None);
            };
            remove()?;
            files::create_link(&to, &path)?;
        }
        b"file" => {
            let numbers = [(); 4].map(|()| reader.number());
            let [Some(mode), Some(seconds), Some(nanoseconds), Some(length)] = numbers else {
                return Ok(None);
            };
            if length != AS_BEFORE {
                let Some(contents) = reader.rest(length as usize) else {
                    return Ok(None);
                };
                remove()?;
                fs::write(&path, contents).context("write", &path)?;
            }
            set_mode(mode)?;
            files::set_times(&path, seconds as i64, nanoseconds as i64)
                .context("set the time of", &path)?;
        }
        _ => return Ok(None),
    }
    Ok(Some(()))
}
