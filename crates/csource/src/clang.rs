//! Finds clang and runs it.

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use patchwright_exec::{
    Cache, CompileCommand, Ending, LimitKind, Limits, Request, RunError, Runner,
    runner::{Outcome, Sink, Stdin},
};

use crate::dump::{Dump, STANDARD_INPUT};
use crate::flags::{flags, other_language};
use crate::large::Reduced;
use crate::memory::{About, Memory, plan_without};
use crate::several::Ahead;

/// The oldest version of clang whose dumps are understood.
pub const OLDEST_VERSION: u32 = 16;

/// An installed clang of a supported version, perhaps with a cache of its answers.
#[derive(Clone, Debug)]
pub struct Clang {
    program: PathBuf,
    /// Its major version.
    pub version: u32,
    memory: Option<Arc<Memory>>,
    /// The source that it is asked about, where answers are kept.
    about: Option<Arc<About>>,
    /// What it was asked before, together with other sources.
    pub(crate) ahead: Option<Arc<Ahead>>,
}

/// Why a source could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// No clang can be run.
    #[error(
        "no clang of version {OLDEST_VERSION} or newer was found ({tried}); install one \
         (on Debian: apt-get install clang-19) or name it in PATCHWRIGHT_CLANG"
    )]
    NoClang {
        /// What was tried, and what became of it.
        tried: String,
    },
    /// A process could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The compiler rejects the source.
    #[error("clang does not accept {}: {message}", path.display())]
    Rejected {
        /// The source.
        path: PathBuf,
        /// The compiler's first error.
        message: String,
    },
    /// The dump could not be understood.
    #[error("clang's dump of {} cannot be read: {message}", path.display())]
    Dump {
        /// The source.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

/// What clang takes for an error unless told otherwise and gcc, before version 14, for a warning: the project's own compiler
/// decides what is an error.
const ACCEPTED_BY_GCC: [&str; 7] = [
    "implicit-function-declaration",
    "implicit-int",
    "incompatible-function-pointer-types",
    "incompatible-pointer-types",
    "int-conversion",
    "return-mismatch",
    "return-type",
];

/// Undefined behaviour that clang finds by following the flow of control: reads of variables without a value, and functions
/// that end without a `return` value.
const UNDEFINED_FLOW: [&str; 5] = [
    "-Wno-everything",
    "-Wreturn-type",
    "-Wuninitialized",
    "-Wsometimes-uninitialized",
    "-Wconditional-uninitialized",
];

/// Clang would nest 256 brackets; the project's own compiler decides how many there may be.
const BRACKET_DEPTH: &str = "-fbracket-depth=1000000";

/// The largest number of bodies of functions that are left out, one after the other, until clang prints a tree.
const MOST_LEFT_OUT: usize = 16;

impl Clang {
    /// Returns the path of clang, or its name in `PATH`.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Finds an installed clang: the one that `PATCHWRIGHT_CLANG` names, or the newest of `clang-22`
    /// to `clang-16`, or `clang`.
    ///
    /// # Errors
    /// [`ParseError::NoClang`] when none of them is new enough.
    pub fn find(runner: &mut Runner) -> Result<Clang, ParseError> {
        let mut candidates = Vec::new();
        match std::env::var_os("PATCHWRIGHT_CLANG") {
            Some(named) => candidates.push(named),
            None => {
                candidates.push(OsString::from("clang-19"));
                candidates.extend(
                    (OLDEST_VERSION..=22)
                        .rev()
                        .filter(|&version| version != 19)
                        .map(|version| format!("clang-{version}").into()),
                );
                candidates.push("clang".into());
            }
        }
        let mut tried = Vec::new();
        for candidate in candidates {
            if let Some(version) = version_of_link(&candidate)
                && version >= OLDEST_VERSION
            {
                return Ok(Clang {
                    program: candidate.into(),
                    version,
                    memory: None,
                    about: None,
                    ahead: None,
                });
            }
            let request = Request::new(&candidate, "/")
                .arg("--version")
                .limits(Limits::with_wall(Duration::from_secs(20)));
            let name = candidate.to_string_lossy().into_owned();
            match runner.run(&request) {
                Ok(outcome) if outcome.ending.is_success() => {
                    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
                    match version_of(&text) {
                        Some(version) if version >= OLDEST_VERSION => {
                            return Ok(Clang {
                                program: candidate.into(),
                                version,
                                memory: None,
                                about: None,
                                ahead: None,
                            });
                        }
                        Some(version) => tried.push(format!("{name}: version {version}")),
                        None => tried.push(format!("{name}: is no clang")),
                    }
                }
                Ok(_) => tried.push(format!("{name}: fails")),
                Err(RunError::Execute { .. }) => {
                    if name == "clang" || std::env::var_os("PATCHWRIGHT_CLANG").is_some() {
                        tried.push(format!("{name}: not found"));
                    }
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(ParseError::NoClang {
            tried: tried.join("; "),
        })
    }

    /// Returns this clang with a cache for its answers about sources that
    /// [`parse_meaning`](crate::parse_meaning) reads.
    pub fn with_cache(self, cache: Option<Cache>) -> Clang {
        Clang {
            memory: cache.map(|cache| Arc::new(Memory::new(cache))),
            about: None,
            ahead: None,
            ..self
        }
    }

    /// Returns this clang without a cache.
    pub fn without_cache(&self) -> Clang {
        self.clone().with_cache(None)
    }

    /// What it prints for a request about a source, as the inner value, or how it has failed.
    fn answer(
        &self,
        runner: &mut Runner,
        request: &Request,
    ) -> Result<Result<Vec<u8>, Outcome>, RunError> {
        let about = self.about.as_deref();
        if let Some(known) = about.and_then(|about| about.recall(request)) {
            return Ok(Ok(known));
        }
        let outcome = runner.run(request)?;
        if !outcome.ending.is_success() {
            return Ok(Err(outcome));
        }
        if let Some(about) = about {
            about.keep(request, &outcome.stdout);
        }
        Ok(Ok(outcome.stdout))
    }

    /// As [`Self::answer`], where a failure means that the source is not accepted.
    fn text_answer(
        &self,
        runner: &mut Runner,
        command: &CompileCommand,
        request: &Request,
    ) -> Result<String, ParseError> {
        match self.answer(runner, request)? {
            Ok(printed) => Ok(String::from_utf8_lossy(&printed).into_owned()),
            Err(outcome) => Err(Self::failed(&command.file, &outcome)),
        }
    }

    fn request(&self, command: &CompileCommand, extra: &[&str]) -> Request {
        self.request_with(command, &["-w"], extra)
    }

    fn request_with(&self, command: &CompileCommand, warnings: &[&str], extra: &[&str]) -> Request {
        let mut limits = Limits::with_wall(Duration::from_secs(300));
        limits.output = 4 << 30;
        // It parses what is nested by calling itself.
        limits.stack_factor = 64;
        Request::new(&self.program, &command.directory)
            .past_compiler_caches()
            .args(flags(command))
            .args(warnings.iter().copied())
            .args([
                "-Qunused-arguments",
                "-fno-color-diagnostics",
                "-fno-crash-diagnostics",
                BRACKET_DEPTH,
            ])
            .args(ACCEPTED_BY_GCC.map(|warning| format!("-Wno-error={warning}")))
            .args(extra.iter().copied())
            .limits(limits)
    }

    fn failed(path: &Path, outcome: &Outcome) -> ParseError {
        let errors = String::from_utf8_lossy(&outcome.stderr).into_owned();
        let said = errors
            .lines()
            .find(|line| line.contains("error:"))
            .or_else(|| errors.lines().next());
        let message = match (outcome.ending, said) {
            // Each operand of an expression is printed one step further in than the one before it.
            (Ending::LimitExceeded(LimitKind::Output), _) => {
                "its syntax tree is too large, as that of an expression with thousands of operands is, and no function was found \
                 that could be left out".to_owned()
            }
            (_, Some(said)) => said.to_owned(),
            (ending, None) => format!("it {ending}"),
        };
        ParseError::Rejected {
            path: path.to_owned(),
            message,
        }
    }

    /// The syntax tree, without the bodies of functions that are too large for it.
    pub(crate) fn dump(
        &self,
        runner: &mut Runner,
        command: &CompileCommand,
        source: &[u8],
    ) -> Result<(Dump, Reduced), ParseError> {
        let mut reduced = Reduced::new(source);
        for _ in 0..MOST_LEFT_OUT {
            let outcome = match self.dump_of(runner, command, reduced.text.clone())? {
                Ok(printed) => return Ok((dumped(printed, &reduced, command), reduced)),
                Err(outcome) => outcome,
            };
            let is_less = match limit_of(&outcome, command) {
                None => false,
                Some(Some(line)) => reduced.leave_out_at(line, source),
                Some(None) => reduced.leave_out_largest(source),
            };
            if !is_less {
                return Err(Self::failed(&command.file, &outcome));
            }
        }
        match self.dump_of(runner, command, reduced.text.clone())? {
            Ok(printed) => Ok((dumped(printed, &reduced, command), reduced)),
            Err(outcome) => Err(Self::failed(&command.file, &outcome)),
        }
    }

    /// What clang prints as the syntax tree of a source, or of a text in its place.
    fn dump_of(
        &self,
        runner: &mut Runner,
        command: &CompileCommand,
        text: Option<Vec<u8>>,
    ) -> Result<Result<Vec<u8>, Outcome>, ParseError> {
        let mut request = self.dump_request(command);
        if let Some(text) = text {
            let mut pair = command.source().as_os_str().to_owned();
            pair.push(";");
            pair.push(STANDARD_INPUT);
            request = request
                .args(["-Xclang", "-remap-file", "-Xclang"])
                .arg(pair)
                .stdin(Stdin::Bytes(text));
        }
        let request = request.arg(&command.file);
        if let Some(known) = self.ahead.as_ref().and_then(|ahead| ahead.dump(&request)) {
            return Ok(Ok(known));
        }
        Ok(self.answer(runner, &request)?)
    }

    /// Returns the lines of the source for which clang's flow analysis warns of undefined behaviour,
    /// each with the warning. The source is read as it stands on disk.
    ///
    /// # Errors
    /// A clang that cannot be run, or that does not accept the source.
    pub fn undefined_flow(
        &self,
        runner: &mut Runner,
        command: &CompileCommand,
    ) -> Result<Vec<(u32, String)>, ParseError> {
        let extra = ["-fsyntax-only", "-fno-caret-diagnostics"];
        let request = self
            .request_with(command, &UNDEFINED_FLOW, &extra)
            .arg(&command.file);
        let outcome = runner.run(&request)?;
        if !outcome.ending.is_success() {
            return Err(Self::failed(&command.file, &outcome));
        }
        let text = String::from_utf8_lossy(&outcome.stderr);
        let warnings = text.lines().filter_map(|line| {
            let (place, message) = line.split_once(": warning: ")?;
            let (place, _column) = place.rsplit_once(':')?;
            let (file, line) = place.rsplit_once(':')?;
            let line = line.parse().ok()?;
            command.is_source(file).then(|| (line, message.to_owned()))
        });
        Ok(warnings.collect())
    }

    /// The layouts of all complete records.
    pub(crate) fn layouts(
        &self,
        runner: &mut Runner,
        command: &CompileCommand,
        complete: bool,
    ) -> Result<String, ParseError> {
        let which = match complete {
            true => "-fdump-record-layouts-complete",
            false => "-fdump-record-layouts",
        };
        let request = self
            .request(command, &["-fsyntax-only", "-Xclang", which])
            .arg(&command.file);
        self.text_answer(runner, command, &request)
    }

    /// The source, printed anew from the syntax tree.
    pub(crate) fn print(
        &self,
        runner: &mut Runner,
        command: &CompileCommand,
    ) -> Result<String, ParseError> {
        let request = self
            .request(command, &["-fsyntax-only", "-Xclang", "-ast-print"])
            .arg(&command.file);
        self.text_answer(runner, command, &request)
    }

    /// The preprocessor's output with all definitions.
    pub(crate) fn preprocess(
        &self,
        runner: &mut Runner,
        command: &CompileCommand,
    ) -> Result<String, ParseError> {
        if let Some(language) = other_language(command) {
            return Err(ParseError::Rejected {
                path: command.file.clone(),
                message: format!("it is compiled as {language}, and only C is read"),
            });
        }
        let request = self.request(command, &["-E", "-dD"]).arg(&command.file);
        self.text_answer(runner, command, &request)
    }

    /// Runs the preprocessor as [`Self::preprocess`]. Also returns the clang to ask about the source, which has a cache if there is one.
    pub(crate) fn preprocess_first(
        &self,
        runner: &mut Runner,
        command: &CompileCommand,
    ) -> Result<(String, Clang), ParseError> {
        let request = self.preprocess_request(command).arg(&command.file);
        let ahead = self.ahead.as_ref();
        let (text, about) = match ahead.and_then(|ahead| ahead.preprocessed(&request)) {
            Some(known) => known,
            None if self.memory.is_none() || other_language(command).is_some() => {
                (self.preprocess(runner, command)?, None)
            }
            None => {
                let outcome = runner.run(&request)?;
                if outcome.ending.is_success() {
                    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
                    let plan = plan_without(&outcome.stderr, &[command.file.as_os_str()]);
                    let about = self.about(command, &text, &plan);
                    (text, about)
                } else {
                    // Once more, for a message without the other words.
                    (self.preprocess(runner, command)?, None)
                }
            }
        };
        let clang = Clang {
            about,
            ..self.clone()
        };
        Ok((text, clang))
    }

    /// Runs the preprocessor; where answers are kept, with what tells what they depend on.
    pub(crate) fn preprocess_request(&self, command: &CompileCommand) -> Request {
        match self.memory {
            Some(_) => self.request(command, &["-v", "-E", "-dD"]),
            None => self.request(command, &["-E", "-dD"]),
        }
    }

    /// Returns what clang's answers about a source depend on; `None` if they cannot be kept.
    pub(crate) fn about(
        &self,
        command: &CompileCommand,
        preprocessed: &str,
        plan: &[u8],
    ) -> Option<Arc<About>> {
        let memory = self.memory.as_ref()?;
        memory
            .about(&self.program, command, preprocessed, plan)
            .map(Arc::new)
    }

    /// Prints the syntax tree.
    pub(crate) fn dump_request(&self, command: &CompileCommand) -> Request {
        let extra = [
            "-fsyntax-only",
            "-ferror-limit=1",
            "-Xclang",
            "-ast-dump=json",
        ];
        self.request(command, &extra).stdout(Sink::Dump)
    }

    /// Preprocesses the source but keeps conditions as they are written.
    pub(crate) fn with_conditions(
        &self,
        runner: &mut Runner,
        command: &CompileCommand,
    ) -> Result<String, ParseError> {
        let request = self
            .request(command, &["-E", "-frewrite-includes"])
            .arg(&command.file);
        let outcome = runner.run(&request)?;
        if !outcome.ending.is_success() {
            return Err(Self::failed(&command.file, &outcome));
        }
        Ok(String::from_utf8_lossy(&outcome.stdout).into_owned())
    }

    /// The dump of the declarations of `questions` whose names contain `prefix`, after the
    /// source; errors in some of them are no failure.
    pub(crate) fn ask(
        &self,
        runner: &mut Runner,
        command: &CompileCommand,
        questions: String,
        prefix: &str,
    ) -> Result<String, ParseError> {
        let filter = format!("-ast-dump-filter={prefix}");
        let request = self
            .request(
                command,
                &[
                    "-fsyntax-only",
                    "-ferror-limit=0",
                    "-Xclang",
                    "-ast-dump",
                    "-Xclang",
                    &filter,
                    "-include",
                ],
            )
            .arg(&command.file)
            .args(["-x", "c", "-"])
            .stdin(Stdin::Bytes(questions.into_bytes()));
        let printed = match self.answer(runner, &request)? {
            Ok(printed) => printed,
            Err(outcome) => outcome.stdout,
        };
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }
}

/// The dump that clang has printed.
fn dumped(printed: Vec<u8>, reduced: &Reduced, command: &CompileCommand) -> Dump {
    let dump = Dump::new(printed);
    let file = match command.included {
        Some(_) => command.source(),
        None => &command.file,
    };
    match reduced.text {
        Some(_) => dump.in_place_of(&file.to_string_lossy()),
        None => dump,
    }
}

/// Whether clang has failed because of a limit of its own, or one of ours for its output; if it says so, on which line of the source.
fn limit_of(outcome: &Outcome, command: &CompileCommand) -> Option<Option<u32>> {
    let said = String::from_utf8_lossy(&outcome.stderr);
    let line = said.lines().find_map(|line| {
        let (place, _) = line.split_once(": fatal error: bracket nesting level exceeded")?;
        let (place, _column) = place.rsplit_once(':')?;
        let (file, line) = place.rsplit_once(':')?;
        command.is_source(file).then(|| line.parse().ok())
    });
    match outcome.ending {
        Ending::LimitExceeded(LimitKind::Output | LimitKind::Memory) => Some(None),
        // It has gone through its stack; the driver says so with a status above 128.
        Ending::Signaled(_) | Ending::Exited(129..) => Some(None),
        _ => line,
    }
}

/// Returns the version of the clang called `name` in the search path without starting it. Debian and its relatives make `clang-N` a
/// link to `clang` in the folder of LLVM N. Returns `None` elsewhere.
fn version_of_link(name: &OsStr) -> Option<u32> {
    let version = name.to_str()?.strip_prefix("clang-")?;
    let path = std::env::var_os("PATH")?;
    let file = std::env::split_paths(&path)
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())?;
    let real = file.canonicalize().ok()?;
    let of_llvm = format!("llvm-{version}/bin/clang");
    real.ends_with(of_llvm).then_some(())?;
    version.parse().ok()
}

fn version_of(text: &str) -> Option<u32> {
    let at = text.find("clang version ")?;
    text[at + "clang version ".len()..]
        .split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_from_the_banner() {
        assert_eq!(
            version_of("Debian clang version 19.1.7 (3~deb12u1)"),
            Some(19)
        );
        assert_eq!(version_of("gcc (Debian 12.2.0) 12.2.0"), None);
    }
}
