//! What `prove` and `compare` share: reading C, flags with the same meaning, and the thread for encoding.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fmt::Display,
    path::{Path, PathBuf},
};

use patchwright_csource::{Clang, TranslationUnit, parse_meaning};
use patchwright_exec::{
    CancelToken, CompileCommand, Runner, RunnerProgram, Scratch, files, sandbox::normalize,
};
use patchwright_ir::Module;
use patchwright_lower::lower;
use patchwright_symbolic::Check;

use crate::cached::CacheArgs;

/// Why a command cannot go on.
#[derive(Debug)]
pub enum Problem {
    /// What the user gave is wrong: a message.
    Input(String),
    /// It was interrupted.
    Interrupted,
}

impl Problem {
    /// Makes an error that the user can mend.
    pub fn of(error: impl Display) -> Problem {
        Problem::Input(error.to_string())
    }
}

/// Reads C files for `prove` and `compare`, with clang and the flags of the user.
pub struct Reader {
    runner: Runner,
    clang: Clang,
    /// The folder of this run, whose files no other run will meet.
    scratch: PathBuf,
    flags: Vec<OsString>,
    /// The folder that names of files are relative to.
    pub here: PathBuf,
    /// A folder for files of our own.
    pub folder: PathBuf,
}

impl Reader {
    /// Starts the reader with the value of `--cflags`. Its own files go into a folder of this name.
    pub fn start(
        cflags: Option<&str>,
        cache: &CacheArgs,
        scratch: &Scratch,
        folder: &str,
        cancel: CancelToken,
    ) -> Result<Reader, Problem> {
        let program = RunnerProgram::current_exe(["__runner"]).map_err(Problem::of)?;
        let mut runner = Runner::start(&program, None, cancel).map_err(Problem::of)?;
        let clang = Clang::find(&mut runner).map_err(Problem::of)?;
        let clang = clang.with_cache(cache.open());
        // Types that other verifiers know without a header.
        let mut flags: Vec<String> = ["-D__CPROVER_bool=_Bool", "-D__CPROVER_size_t=__SIZE_TYPE__"]
            .map(str::to_owned)
            .to_vec();
        if let Some(given) = cflags {
            flags.extend(
                shlex::split(given).ok_or_else(|| {
                    Problem::Input(format!("`--cflags {given}` has an open quote"))
                })?,
            );
        }
        Ok(Reader {
            runner,
            clang,
            scratch: scratch.path().to_owned(),
            flags: flags.into_iter().map(OsString::from).collect(),
            here: std::env::current_dir().map_err(Problem::of)?,
            folder: scratch.create_folder(folder).map_err(Problem::of)?,
        })
    }

    /// Announces files that are read next, so that clang is asked about all of them at once.
    pub fn expect(&mut self, files: &[PathBuf]) {
        let commands: Vec<CompileCommand> = files
            .iter()
            .map(|file| self.command(file.clone(), None))
            .collect();
        self.clang = self.clang.ask_ahead(&mut self.runner, &commands);
    }

    fn command(&self, file: PathBuf, included: Option<PathBuf>) -> CompileCommand {
        let mut words: Vec<OsString> = vec!["cc".into()];
        words.extend(self.flags.iter().cloned());
        words.extend(["-c".into(), file.clone().into_os_string()]);
        CompileCommand {
            directory: self.here.clone(),
            arguments: words,
            output: None,
            included: included.map(|path| normalize(&path)),
            file,
        }
    }

    /// Reads `file`, or the file `included` that it includes as its program. It also returns the path
    /// of what was read.
    pub fn parse(
        &mut self,
        file: PathBuf,
        included: Option<PathBuf>,
    ) -> Result<(TranslationUnit, String), Problem> {
        let read = included.clone().unwrap_or_else(|| file.clone());
        let bytes = files::read(&read).map_err(Problem::of)?;
        let command = self.command(file, included);
        let clang = match read.starts_with(&self.scratch) || command.file.starts_with(&self.scratch)
        {
            true => &self.clang.without_cache(),
            false => &self.clang,
        };
        let unit = parse_meaning(clang, &mut self.runner, &command, bytes);
        let unit = unit.map_err(Problem::of)?;
        Ok((unit, read.to_string_lossy().into_owned()))
    }

    /// Sets the compile command for the files that are read from now on.
    pub fn compile_as(&mut self, command: &CompileCommand) {
        self.here.clone_from(&command.directory);
        let arguments = command.without_products();
        let is_source = |word: &OsString| {
            let path = command.directory.join(word);
            path == command.file || word.as_os_str() == command.file.as_os_str()
        };
        self.flags = arguments
            .into_iter()
            .skip(1)
            .filter(|word| !is_source(word))
            .collect();
    }

    /// Adds a folder in which headers are found.
    pub fn include_from(&mut self, folder: &Path) {
        self.flags.extend(["-iquote".into(), folder.into()]);
    }

    /// Reads a C text of our own as a module of the IR.
    pub fn module(&mut self, name: &str, text: &str) -> Result<Module, Problem> {
        let file = self.folder.join(name);
        files::write_atomic(&file, text.as_bytes()).map_err(Problem::of)?;
        let (unit, path) = self.parse(file, None)?;
        Ok(lower(&unit, &path))
    }
}

/// Reads the value of `--check`. Without the flag it is `usual`.
pub fn checks(flag: Option<&str>, usual: BTreeSet<Check>) -> Result<BTreeSet<Check>, Problem> {
    let Some(text) = flag else {
        return Ok(usual);
    };
    let mut found = BTreeSet::new();
    for name in text.split(',').map(str::trim) {
        match name {
            "all" => found.extend(Check::ALL),
            "none" => {}
            _ => match Check::ALL.into_iter().find(|check| check.name() == name) {
                Some(check) => {
                    found.insert(check);
                }
                None => {
                    let known: Vec<&str> = Check::ALL.iter().map(|check| check.name()).collect();
                    return Err(Problem::Input(format!(
                        "`--check {name}`: there is no such check; there are {}, all and none",
                        known.join(", ")
                    )));
                }
            },
        }
    }
    Ok(found)
}

/// Runs `job` on a thread whose stack is large enough for the program's nested calls and terms.
pub fn deep<T: Send>(job: impl FnOnce() -> Result<T, Problem> + Send) -> Result<T, Problem> {
    const STACK: usize = 2 << 30;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .stack_size(STACK)
            .spawn_scoped(scope, job);
        match thread.map_err(Problem::of)?.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
