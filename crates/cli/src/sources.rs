//! C files that are linked together, as modules of the IR.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread::available_parallelism,
};

use patchwright_csource::{Clang, parse_meaning};
use patchwright_exec::{CancelToken, CompileCommand, Runner, RunnerProgram, files};
use patchwright_ir::Module;

use crate::cached::CacheArgs;

/// A C file and what became of it.
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
    let next = AtomicUsize::new(0);
    let lowered = Mutex::new(Vec::new());
    // Each reader takes the next file, until there is none or one of them has failed.
    let read = |runner: &mut Runner| {
        while let Some(source) = sources.get(next.fetch_add(1, Ordering::Relaxed)) {
            let one = lower_one(source, &flags, &here, &clang, runner);
            let has_failed = one.is_err();
            let mut lowered = lowered.lock().unwrap_or_else(PoisonError::into_inner);
            lowered.push((source, one));
            if has_failed {
                next.store(sources.len(), Ordering::Relaxed);
            }
        }
    };
    let more = available_parallelism()
        .map_or(1, usize::from)
        .min(sources.len());
    std::thread::scope(|scope| {
        let read = &read;
        let others: Vec<_> = (1..more)
            .map(|_| {
                scope.spawn(move || {
                    // If it cannot be had, the others read.
                    if let Ok(mut runner) = self::runner() {
                        read(&mut runner);
                    }
                })
            })
            .collect();
        read(&mut runner);
        for other in others {
            if let Err(panic) = other.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
    let mut lowered = lowered.into_inner().unwrap_or_else(PoisonError::into_inner);
    // In the order of the command line; of several errors the first one is told.
    let place = |name: &OsString| sources.iter().position(|source| std::ptr::eq(source, name));
    lowered.sort_by_key(|(name, _)| place(name));
    lowered.into_iter().map(|(_, one)| one).collect()
}

fn runner() -> Result<Runner, String> {
    let program = RunnerProgram::current_exe(["__runner"]).map_err(|e| e.to_string())?;
    let cancel = CancelToken::new().map_err(|e| e.to_string())?;
    Runner::start(&program, None, cancel).map_err(|e| e.to_string())
}

fn lower_one(
    source: &OsString,
    flags: &[String],
    here: &Path,
    clang: &Clang,
    runner: &mut Runner,
) -> Result<Source, String> {
    let file = here.join(source);
    let text = files::read(&file).map_err(|e| e.to_string())?;
    let mut words: Vec<OsString> = vec!["cc".into()];
    words.extend(flags.iter().map(OsString::from));
    words.push("-c".into());
    words.push(source.clone());
    let command = CompileCommand {
        directory: here.to_owned(),
        arguments: words,
        output: None,
        included: None,
        file: file.clone(),
    };
    let unit = parse_meaning(clang, runner, &command, text.clone()).map_err(|e| e.to_string())?;
    let module = patchwright_lower::lower(&unit, &file.to_string_lossy());
    Ok(Source { file, text, module })
}

/// The name that a program is called by when nobody says another one: that of its first file,
/// without the extension.
pub fn program_name(first: &OsString) -> OsString {
    Path::new(first).with_extension("").into_os_string()
}
