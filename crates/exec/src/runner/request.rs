//! A request to a runner: a command, its surroundings and its limits.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::PathBuf;

#[cfg(doc)]
use super::{LimitKind, Outcome};
use crate::limits::Limits;

/// Changes of the environment that a command inherits from the host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment {
    /// Start from nothing instead of the environment in which the runner was started.
    pub clear: bool,
    /// Variables to remove.
    pub remove: BTreeSet<OsString>,
    /// Variables to set; they win over `remove`.
    pub set: BTreeMap<OsString, OsString>,
}

/// The standard input of a command: nothing, a file or given bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Stdin {
    /// Nothing (`/dev/null`).
    #[default]
    Null,
    /// A file, named by an absolute path as the command sees it.
    File(PathBuf),
    /// These bytes. The command sees a regular file.
    Bytes(Vec<u8>),
}

/// Where an output of a command goes: into the [`Outcome`], nowhere, or to another stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sink {
    /// Into the [`Outcome`].
    #[default]
    Capture,
    /// Nowhere (`/dev/null`).
    Null,
    /// Standard error only: to where standard output goes, in the order of the writes.
    WithStdout,
    /// Standard output only: into the [`Outcome`] as a frame of zstd, for outputs of hundreds of megabytes that people may read:
    /// the blanks that lines begin with are left out. Where a line begins with `}{`, a second object, another frame begins. Limits count
    /// what the command writes.
    Dump,
}

/// What happens if the captured output exceeds [`Limits::output`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Overflow {
    /// The run ends with [`LimitKind::Output`].
    #[default]
    Stop,
    /// The rest is read and thrown away; [`Outcome::output_truncated`] tells.
    Discard,
}

/// One command to run, with its arguments, environment, streams and limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The program, then its arguments. A program without a slash is looked up in the command's
    /// own `PATH`; a script without `#!` is run by `/bin/sh`.
    pub command: Vec<OsString>,
    /// The working directory, an absolute path as the command sees it. The variable `PWD` is set
    /// to it.
    pub cwd: PathBuf,
    /// The environment.
    pub environment: Environment,
    /// Standard input.
    pub stdin: Stdin,
    /// Standard output ([`Sink::WithStdout`] means [`Sink::Capture`] here).
    pub stdout: Sink,
    /// Standard error ([`Sink::Dump`] means [`Sink::Capture`] here).
    pub stderr: Sink,
    /// What to do with too much output.
    pub overflow: Overflow,
    /// It will be run often, with nothing else in between: a program that can is started once and forked for each run.
    pub repeated: bool,
    /// What the command may use.
    pub limits: Limits,
}

impl Request {
    /// Makes a request for `program` without arguments. It runs in `cwd` with the inherited
    /// environment, an empty input, captured outputs and default limits.
    pub fn new(program: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Request {
            command: vec![program.into()],
            cwd: cwd.into(),
            environment: Environment::default(),
            stdin: Stdin::Null,
            stdout: Sink::Capture,
            stderr: Sink::Capture,
            overflow: Overflow::Stop,
            repeated: false,
            limits: Limits::default(),
        }
    }

    /// Makes a request for `sh -c script` in the folder `cwd`.
    pub fn shell(script: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Request::new("/bin/sh", cwd).arg("-c").arg(script)
    }

    /// Adds an argument of the command.
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.command.push(argument.into());
        self
    }

    /// Adds several arguments of the command.
    pub fn args<I: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = I>) -> Self {
        self.command.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.set.insert(name.into(), value.into());
        self
    }

    /// Switches ccache off for this command (`CCACHE_DISABLE`). Some versions of it (4.7.5) confuse
    /// two different texts under `-fsyntax-only`, and repeat what the compiler said about the other
    /// one.
    pub fn past_compiler_caches(self) -> Self {
        self.env("CCACHE_DISABLE", "1")
    }

    /// Sets the standard input.
    pub fn stdin(mut self, stdin: Stdin) -> Self {
        self.stdin = stdin;
        self
    }

    /// Sets where the standard output goes.
    pub fn stdout(mut self, sink: Sink) -> Self {
        self.stdout = sink;
        self
    }

    /// Sets the limits of the run.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }
}
