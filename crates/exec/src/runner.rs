//! Running one command at a time, under limits, through a supervisor process.
//!
//! A [`Runner`] owns one *supervisor*: a small process that is started once and then starts every command
//! of this runner. There are three reasons:
//!
//! * A fork from a small process costs 0.4 ms; one from a big host costs 13 ms.
//! * The supervisor is a *subreaper* (`PR_SET_CHILD_SUBREAPER`). It becomes the parent of every orphan,
//!   so it can tell exactly when no descendant is left.
//! * If the host is killed, the supervisor lives long enough to kill everything that the host has
//!   started.

pub mod cancel;
pub mod deadline;
mod outcome;
mod protocol;
mod request;
pub mod supervisor;
mod time;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use patchwright_probe_abi::{
    CHANNEL_FILE, CHANNEL_VARIABLE, PROBE_FILE, PROBE_VARIABLE, TRACE_FILE, TRACE_VARIABLE,
};

pub use cancel::CancelToken;
pub use deadline::Deadline;
pub use outcome::{Ending, LimitKind, Outcome, TimeKind, signal_name};
use protocol::{HostFrame, SupervisorFrame};
pub use request::{Environment, Overflow, Request, Sink, Stdin};
pub use time::processor_time;

use crate::attempts::Attempts;
use crate::refusal::{MORE_DESCRIPTORS, Refusal, is_of_descriptors};
use crate::timeline;
use crate::view::{View, ViewStatus};

/// How the host starts its supervisors: a program that calls [`supervisor_main`](crate::supervisor_main)
/// before anything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnerProgram {
    /// The executable.
    pub exe: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

impl RunnerProgram {
    /// Names the executable of this process as the supervisor. `args` must make it call
    /// [`supervisor_main`](crate::supervisor_main).
    pub fn current_exe<I: Into<OsString>>(args: impl IntoIterator<Item = I>) -> io::Result<Self> {
        let args = args.into_iter().map(Into::into).collect();
        Ok(RunnerProgram {
            exe: std::env::current_exe()?,
            args,
        })
    }

    /// Names this executable as the supervisor. It becomes one before its `main`, because the feature
    /// `test-support` is on.
    #[cfg(any(test, feature = "test-support"))]
    pub fn this_binary() -> Self {
        let args = [protocol::SUPERVISOR_FOR_TESTS];
        RunnerProgram::current_exe(args).expect("the path of this executable is readable")
    }
}

/// Why a command could not be run. A command that ran and failed is an [`Outcome`].
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The supervisor could not be started.
    #[error("cannot start the supervisor {}: {source}{}", program.display(), advice(source))]
    StartSupervisor {
        /// The executable.
        program: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The program that was started as a supervisor does not speak its protocol.
    #[error("{} does not act as a supervisor of this version; was the program replaced while it ran?", program.display())]
    NotASupervisor {
        /// The executable.
        program: PathBuf,
    },
    /// What was to be protected cannot be.
    #[error("{0}")]
    Unprotectable(Refusal),
    /// The supervisor ended or its connection broke during a run.
    #[error("the supervisor ended unexpectedly while it ran {command:?}; was it killed?")]
    SupervisorLost {
        /// The program that was running.
        command: OsString,
    },
    /// The program could not be executed.
    #[error("cannot execute {}: {source}", program.display())]
    Execute {
        /// The program.
        program: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The working directory could not be entered.
    #[error("cannot enter the folder {}: {source}", path.display())]
    WorkingDirectory {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The file for the standard input could not be opened.
    #[error("cannot open {} as standard input: {source}", path.display())]
    Stdin {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// The system refused a process, a pipe or another resource.
    #[error("cannot start {}: {what} failed: {source}{}", program.display(), advice(source))]
    System {
        /// The program.
        program: PathBuf,
        /// The failing operation.
        what: &'static str,
        /// What the operating system said.
        source: io::Error,
    },
    /// An argument, path or variable that no process can be given.
    #[error("cannot run {command:?}: {what}")]
    Invalid {
        /// The program.
        command: OsString,
        /// What is wrong.
        what: &'static str,
    },
    /// The run was cancelled through the runner's [`CancelToken`].
    #[error("interrupted")]
    Cancelled,
}

/// Runs commands one at a time. When a run ends, no process of it is alive.
#[derive(Debug)]
pub struct Runner {
    program: RunnerProgram,
    view: Option<View>,
    cancel: CancelToken,
    sequence: u64,
    status: ViewStatus,
    connection: Option<Connection>,
    temporary: Option<PathBuf>,
    repeats: bool,
    /// The most time that a build may take.
    build_timeout: Option<Duration>,
    /// Where is noted what commands try outside of the copy. All runners of a run share it.
    attempts: Arc<Attempts>,
    /// What is being built and tested, if it is not the untouched program.
    subject: Option<String>,
    /// Commands have left something in layers that are thrown away.
    leaves_private: bool,
    /// What protected programs see at `RUN_FOLDER`, if the worker has such a folder.
    run: Option<PathBuf>,
    /// What is linked there.
    linked: [Option<OsString>; ANNOUNCED.len()],
}

/// Environment variables that tell a program where it finds its run. A protected program keeps its usual environment, so for
/// each variable a link in the run's folder tells it the same.
pub(crate) const ANNOUNCED: [(&str, &str); 3] = [
    (PROBE_VARIABLE, PROBE_FILE),
    (CHANNEL_VARIABLE, CHANNEL_FILE),
    (TRACE_VARIABLE, TRACE_FILE),
];

#[derive(Debug)]
struct Connection {
    stream: UnixStream,
    child: Child,
}

impl Drop for Connection {
    fn drop(&mut self) {
        // The supervisor takes the end of its connection as the order to kill everything and end.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        let _ = self.child.wait();
    }
}

/// How long a supervisor may take to answer its first message.
const HANDSHAKE: Duration = Duration::from_secs(20);

impl Runner {
    /// Starts a supervisor. Its commands inherit the environment that the host has now. With a
    /// `view`, the supervisor first tries to set it up; [`Runner::view_status`] tells the result.
    ///
    /// # Errors
    /// [`RunError::StartSupervisor`] and [`RunError::NotASupervisor`].
    pub fn start(
        program: &RunnerProgram,
        view: Option<View>,
        cancel: CancelToken,
    ) -> Result<Self, RunError> {
        Runner::start_with(program, view, cancel, Arc::default())
    }

    /// Starts a runner as [`Runner::start`] does. `attempts` gets what commands try to change outside of the copy.
    pub(crate) fn start_with(
        program: &RunnerProgram,
        view: Option<View>,
        cancel: CancelToken,
        attempts: Arc<Attempts>,
    ) -> Result<Self, RunError> {
        let (connection, status) = connect(program, view.as_ref())?;
        Ok(Runner {
            attempts,
            subject: None,
            leaves_private: false,
            run: None,
            linked: Default::default(),
            program: program.clone(),
            view,
            cancel,
            sequence: 0,
            status,
            connection: Some(connection),
            temporary: None,
            repeats: false,
            build_timeout: None,
        })
    }

    /// Starts another runner with the same view, rights and settings.
    ///
    /// # Errors
    /// As [`Runner::start`].
    pub fn twin(&self) -> Result<Runner, RunError> {
        let mut twin = Runner::start_with(
            &self.program,
            self.view.clone(),
            self.cancel.clone(),
            self.attempts.clone(),
        )?;
        twin.temporary.clone_from(&self.temporary);
        twin.build_timeout = self.build_timeout;
        Ok(twin)
    }

    /// The program that it was started with.
    pub(crate) fn program(&self) -> &RunnerProgram {
        &self.program
    }

    /// Limits the time of every later build to `most`, whatever its own limits say.
    pub fn set_build_timeout(&mut self, most: Option<Duration>) {
        self.build_timeout = most;
    }

    /// See [`Runner::set_build_timeout`].
    pub(crate) fn build_timeout(&self) -> Option<Duration> {
        self.build_timeout
    }

    /// Sets whether programs of cases are run as [`Request::repeated`], which forks one process for
    /// many runs of it.
    pub fn set_repeats_cases(&mut self, repeats: bool) {
        self.repeats = repeats;
    }

    /// Whether programs of cases are run as [`Request::repeated`].
    pub fn repeats_cases(&self) -> bool {
        self.repeats
    }

    /// Gives commands `folder` as `TMPDIR`, unless they set it themselves. The folder is emptied
    /// after each command, because killed compilers and tests leave their files behind.
    pub fn set_temporary_folder(&mut self, folder: PathBuf) {
        self.temporary = Some(folder);
    }

    /// Has protected programs find in this folder, which they see at `RUN_FOLDER`, what variables say to others.
    pub(crate) fn set_run_folder(&mut self, folder: PathBuf) {
        self.run = Some(folder);
    }

    /// Puts the links of [`ANNOUNCED`] into the run's folder.
    fn announce(&mut self, request: &Request) -> io::Result<()> {
        let Some(run) = &self.run else {
            return Ok(());
        };
        for ((variable, file), linked) in ANNOUNCED.iter().zip(&mut self.linked) {
            let wanted = request.environment.set.get(OsStr::new(variable));
            if wanted == linked.as_ref() {
                continue;
            }
            let link = run.join(file);
            match fs::remove_file(&link) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => *linked = None,
            }
            if let Some(target) = wanted {
                std::os::unix::fs::symlink(target, &link)?;
                *linked = Some(target.clone());
            }
        }
        Ok(())
    }

    /// Whether the view is in force.
    pub fn view_active(&self) -> bool {
        matches!(self.status, ViewStatus::Active | ViewStatus::Protected)
    }

    /// Whether commands are kept from changing anything outside of the copy.
    pub fn is_protected(&self) -> bool {
        self.status == ViewStatus::Protected
    }

    /// Names what is built and tested from now on, such as `patch 3`. Messages about attempts use it.
    /// `None` stands for the untouched program.
    pub fn set_subject(&mut self, subject: Option<String>) {
        self.subject = subject;
    }

    /// Lets the next command find the user's home and the folders for temporary files in their
    /// original state. What earlier commands have written there is dropped.
    pub fn forget_private(&mut self) {
        if std::mem::take(&mut self.leaves_private) {
            // The next supervisor begins with new ones.
            self.connection = None;
        }
    }

    /// Notes what a step, such as `the build`, has tried outside of the copy.
    pub(crate) fn note(&self, step: &str, outcome: &Outcome) {
        let of = self.subject.as_ref();
        let step = || match of {
            Some(subject) => format!("{subject}: {step}"),
            None => step.to_owned(),
        };
        self.attempts.add(step, &outcome.attempts);
    }

    /// Returns whether the view was set up, or why not.
    pub fn view_status(&self) -> &ViewStatus {
        &self.status
    }

    /// The process id of the supervisor, if one is running; where it has a namespace of its own, of the process that waits for it outside.
    pub fn supervisor_id(&self) -> Option<u32> {
        self.connection.as_ref().map(|c| c.child.id())
    }

    /// Returns the token that ends all runs of this runner.
    pub fn cancel_token(&self) -> &CancelToken {
        &self.cancel
    }

    /// Runs a command to its end and kills what it leaves behind. After an error that lost the
    /// supervisor the next call starts another.
    ///
    /// # Errors
    /// A command that could not be started, a lost supervisor, or [`RunError::Cancelled`]. A
    /// command that fails, crashes or exceeds its limits is no error but an [`Outcome`].
    pub fn run(&mut self, request: &Request) -> Result<Outcome, RunError> {
        let Some(temporary) = self.temporary.clone() else {
            return self.run_once(request);
        };
        let mut request = request.clone();
        let variables = &mut request.environment.set;
        variables
            .entry("TMPDIR".into())
            .or_insert_with(|| temporary.clone().into());
        let result = self.run_once(&request);
        if let Err(error) = crate::files::empty_folder(&temporary) {
            tracing::warn!("{error}");
        }
        result
    }

    fn run_once(&mut self, request: &Request) -> Result<Outcome, RunError> {
        let began = Instant::now();
        let result = self.run_untimed(request);
        timeline::command(began, || named(request));
        result
    }

    fn run_untimed(&mut self, request: &Request) -> Result<Outcome, RunError> {
        check(request)?;
        if self.cancel.is_cancelled() {
            return Err(RunError::Cancelled);
        }
        if self.connection.is_none() {
            let (connection, status) = connect(&self.program, self.view.as_ref())?;
            self.connection = Some(connection);
            self.status = status;
        }
        self.announce(request).map_err(|source| RunError::System {
            program: PathBuf::from(&request.command[0]),
            what: "linking what it reports to",
            source,
        })?;
        let lost = || RunError::SupervisorLost {
            command: request.command[0].clone(),
        };
        let connection = self.connection.as_ref().ok_or_else(lost)?;
        self.sequence += 1;
        let answer = converse(&connection.stream, request, self.sequence, &self.cancel);
        match answer {
            Ok(SupervisorFrame::Done { outcome, own }) => {
                time::add(outcome.cpu + own);
                self.leaves_private = outcome.leaves_private;
                Ok(*outcome)
            }
            Ok(SupervisorFrame::Cancelled) => Err(RunError::Cancelled),
            Ok(SupervisorFrame::NotStarted(failure)) => Err(failure.into_error(request)),
            Ok(SupervisorFrame::Hello { .. }) | Err(_) => {
                self.connection = None;
                Err(lost())
            }
        }
    }
}

/// Refuses what cannot be handed to a process.
fn check(request: &Request) -> Result<(), RunError> {
    use std::os::unix::ffi::OsStrExt;
    let command = request.command.first().cloned().unwrap_or_default();
    let invalid = |what| {
        Err(RunError::Invalid {
            command: command.clone(),
            what,
        })
    };
    if command.is_empty() {
        return invalid("the program's name is empty");
    }
    let has_nul = |text: &OsStr| text.as_bytes().contains(&0);
    let environment = &request.environment.set;
    if request.command.iter().any(|a| has_nul(a)) {
        return invalid("an argument contains a NUL byte");
    }
    if environment
        .iter()
        .any(|(name, value)| has_nul(name) || has_nul(value))
    {
        return invalid("an environment variable contains a NUL byte");
    }
    if environment
        .keys()
        .any(|name| name.is_empty() || name.as_bytes().contains(&b'='))
    {
        return invalid("the name of an environment variable is empty or contains '='");
    }
    if !request.cwd.is_absolute() || has_nul(request.cwd.as_os_str()) {
        return invalid("the working directory is not an absolute path");
    }
    match &request.stdin {
        Stdin::File(path) if !path.is_absolute() || has_nul(path.as_os_str()) => {
            invalid("the file for the standard input is not an absolute path")
        }
        _ => Ok(()),
    }
}

/// The beginning of a command, for people.
fn named(request: &Request) -> String {
    const MOST_LETTERS: usize = 120;
    let words = request.command.iter().map(|word| word.to_string_lossy());
    let words: Vec<_> = words.collect();
    words.join(" ").chars().take(MOST_LETTERS).collect()
}

fn connect(
    program: &RunnerProgram,
    view: Option<&View>,
) -> Result<(Connection, ViewStatus), RunError> {
    let start_error = |source| RunError::StartSupervisor {
        program: program.exe.clone(),
        source,
    };
    let (ours, theirs) = UnixStream::pair().map_err(start_error)?;
    let child = Command::new(&program.exe)
        .args(&program.args)
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        // Out of reach of the terminal's Ctrl-C: the host decides what an interrupt means.
        .process_group(0)
        .spawn()
        .map_err(start_error)?;
    let connection = Connection {
        stream: ours,
        child,
    };
    let hello = (|| {
        let mut stream = &connection.stream;
        stream.set_read_timeout(Some(HANDSHAKE))?;
        protocol::write_host_frame(&mut stream, &HostFrame::Start(view.cloned()))?;
        let answer = protocol::read_supervisor_frame(&mut stream)?;
        stream.set_read_timeout(None)?;
        io::Result::Ok(answer)
    })();
    match hello {
        Ok(SupervisorFrame::Hello {
            status: ViewStatus::Refused(refusal),
        }) if view.is_some_and(|view| view.protection.is_some()) => {
            Err(RunError::Unprotectable(refusal))
        }
        Ok(SupervisorFrame::Hello { status }) => Ok((connection, status)),
        _ => {
            let mut connection = connection;
            // It is not ours and may not mind the end of its connection.
            let _ = connection.child.kill();
            // It could not even get as far as its answer.
            if open_files() < LEAST_OPEN_FILES {
                return Err(start_error(io::Error::from_raw_os_error(libc::EMFILE)));
            }
            Err(RunError::NotASupervisor {
                program: program.exe.clone(),
            })
        }
    }
}

/// So many open files a supervisor needs at least; it has more in a large project.
const LEAST_OPEN_FILES: u64 = 64;

/// So many files may be open.
fn open_files() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the call fills the structure.
    match unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } {
        0 => limit.rlim_cur,
        _ => u64::MAX,
    }
}

/// What to do where the operating system refuses something.
fn advice(error: &io::Error) -> &'static str {
    match is_of_descriptors(error) {
        true => MORE_DESCRIPTORS,
        false => "",
    }
}

/// Sends the request and waits for the answer, passing on a cancellation.
fn converse(
    mut stream: &UnixStream,
    request: &Request,
    sequence: u64,
    cancel: &CancelToken,
) -> io::Result<SupervisorFrame> {
    protocol::write_run_frame(&mut stream, sequence, request)?;
    let mut fds = [
        libc::pollfd {
            fd: stream.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        },
        libc::pollfd {
            fd: cancel.as_raw_fd(),
            events: libc::POLLIN,
            revents: 0,
        },
    ];
    loop {
        // SAFETY: `fds` is an array of two initialised entries with open descriptors.
        let ready = unsafe { libc::poll(fds.as_mut_ptr(), 2, -1) };
        if ready < 0 {
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return Err(error);
        }
        if fds[0].revents != 0 {
            return protocol::read_supervisor_frame(&mut stream);
        }
        if fds[1].revents != 0 {
            protocol::write_host_frame(&mut stream, &HostFrame::Cancel(sequence))?;
            // Once is enough; a negative descriptor is ignored by poll.
            fds[1].fd = -1;
        }
    }
}

/// Why a command was not started, as the supervisor reports it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NotStarted {
    stage: Stage,
    errno: i32,
}

/// Where starting a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Resources,
    Stdin,
    Fork,
    Session,
    Redirect,
    WorkingDirectory,
    Execute,
}

impl NotStarted {
    fn into_error(self, request: &Request) -> RunError {
        let program = PathBuf::from(&request.command[0]);
        let source = io::Error::from_raw_os_error(self.errno);
        let what = match self.stage {
            Stage::Execute => return RunError::Execute { program, source },
            Stage::WorkingDirectory => {
                return RunError::WorkingDirectory {
                    path: request.cwd.clone(),
                    source,
                };
            }
            Stage::Stdin => {
                let path = match &request.stdin {
                    Stdin::File(path) => path.as_path(),
                    _ => Path::new("/dev/null"),
                };
                return RunError::Stdin {
                    path: path.to_path_buf(),
                    source,
                };
            }
            Stage::Resources => "creating its pipes",
            Stage::Fork => "fork",
            Stage::Session => "setsid",
            Stage::Redirect => "redirecting its input and output",
        };
        RunError::System {
            program,
            what,
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_that_links_this_crate_can_supervise() {
        let cancel = CancelToken::new().unwrap();
        let mut runner = Runner::start(&RunnerProgram::this_binary(), None, cancel).unwrap();
        let outcome = runner
            .run(&Request::shell("echo \"$0\"; exit 7", "/").arg("it's me"))
            .unwrap();
        assert_eq!(outcome.ending, Ending::Exited(7));
        assert_eq!(outcome.stdout, b"it's me\n");
    }
}
