//! Reads C files as modules of the IR.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    thread::available_parallelism,
};

use patchwright_csource::{Clang, parse_meaning};
use patchwright_exec::{CancelToken, CompileCommand, Runner, RunnerProgram, files};
use patchwright_ir::Module;

use crate::cached::CacheArgs;

/// The number of files about which clang is asked at once. Its answers are held in memory.
const AT_ONCE: usize = 64;

/// A C file with its module.
pub struct Source {
    /// Its path, absolute.
    pub file: PathBuf,
    /// Its text.
    pub text: Vec<u8>,
    /// It in the IR; its file 0 is this file.
    pub module: Module,
}

/// Reads and lowers C files, with these flags for the compiler. Several are read at once.
///
/// # Errors
/// A message for the user.
pub fn lower(
    sources: &[OsString],
    cflags: Option<&str>,
    cache: &CacheArgs,
) -> Result<Vec<Source>, String> {
    let flags = match cflags {
        None => Vec::new(),
        Some(flags) => {
            shlex::split(flags).ok_or_else(|| format!("`--cflags {flags}` has an open quote"))?
        }
    };
    let here = std::env::current_dir().map_err(|e| e.to_string())?;
    let mut runner = runner()?;
    let clang = Clang::find(&mut runner).map_err(|e| e.to_string())?;
    let clang = clang.with_cache(cache.open());
    let more = available_parallelism()
        .map_or(1, usize::from)
        .min(sources.len())
        .max(1);
    let commands: Vec<CompileCommand> = sources
        .iter()
        .map(|source| command(source, &flags, &here))
        .collect();
    let read = |commands: &[CompileCommand], runner: &mut Runner| {
        let mut lowered = Vec::new();
        for some in commands.chunks(AT_ONCE) {
            let clang = clang.ask_ahead(runner, some);
            for command in some {
                lowered.push(lower_one(command, &clang, runner)?);
            }
        }
        Ok(lowered)
    };
    let parts = commands.chunks(commands.len().div_ceil(more).max(1));
    let mut parts: Vec<&[CompileCommand]> = parts.collect();
    let first = parts.remove(0);
    let all: Vec<Result<Vec<Source>, String>> = std::thread::scope(|scope| {
        let read = &read;
        let others: Vec<_> = parts
            .into_iter()
            .map(|part| scope.spawn(move || read(part, &mut self::runner()?)))
            .collect();
        let first = read(first, &mut runner);
        let others = others.into_iter().map(|other| match other.join() {
            Ok(read) => read,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        std::iter::once(first).chain(others).collect()
    });
    let mut lowered = Vec::new();
    for part in all {
        lowered.extend(part?);
    }
    Ok(lowered)
}

/// Returns a runner for programs that need no copy of a project.
pub fn runner() -> Result<Runner, String> {
    let program = RunnerProgram::current_exe(["__runner"]).map_err(|e| e.to_string())?;
    let cancel = CancelToken::new().map_err(|e| e.to_string())?;
    Runner::start(&program, None, cancel).map_err(|e| e.to_string())
}

fn command(source: &OsString, flags: &[String], here: &Path) -> CompileCommand {
    let mut words: Vec<OsString> = vec!["cc".into()];
    words.extend(flags.iter().map(OsString::from));
    words.push("-c".into());
    words.push(source.clone());
    CompileCommand {
        directory: here.to_owned(),
        arguments: words,
        output: None,
        included: None,
        file: here.join(source),
    }
}

fn lower_one(
    command: &CompileCommand,
    clang: &Clang,
    runner: &mut Runner,
) -> Result<Source, String> {
    let file = command.file.clone();
    let text = files::read(&file).map_err(|e| e.to_string())?;
    let unit = parse_meaning(clang, runner, command, text.clone()).map_err(|e| e.to_string())?;
    let module = patchwright_lower::lower(&unit, &file.to_string_lossy());
    Ok(Source { file, text, module })
}

/// Returns the default name of the program: that of its first file, without the extension.
pub fn program_name(first: &OsString) -> OsString {
    Path::new(first).with_extension("").into_os_string()
}
