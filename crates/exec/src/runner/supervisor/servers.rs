//! Programs that are started once and forked for each run (fork servers).
//!
//! A woven program that is to run often with the same arguments and environment is asked in its first run whether it
//! can serve. If it can, the next run starts it as a *server*: a process that waits before `main` and makes a child for
//! each run. The children are the supervisor's own (`CLONE_PARENT`), in sessions of their own, with the standard
//! streams, limits and addresses that a newly executed program would have, so a run is watched and ended like any
//! other. What a server cannot promise (one thread, no files, nothing printed before `main`) is looked at when it is
//! ready; without it, or if anything goes wrong, the program is executed.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use patchwright_probe_abi::{NO_CPU_LIMIT, SERVER_ASK, SERVER_DESCRIPTOR, SERVER_START, ServerRun};

use super::spawn::{self, Command, Inherited, Wires};
use super::sys::{self, Pid};
use super::tree::Tree;
use crate::limits::Limits;
use crate::runner::{NotStarted, Request, Stdin, protocol};

/// The largest number of servers that wait at a time; programs beyond that are executed.
const MOST_SERVERS: usize = 64;

/// How long a program may take until it serves.
const READY: Duration = Duration::from_secs(10);

/// How long a server may take to make a child.
const ANSWER: Duration = Duration::from_secs(10);

/// What is known of a program with its arguments, environment and limits.
enum State {
    /// It cannot serve.
    Unable,
    /// It can.
    Able,
    /// It does.
    Serving(Server),
}

struct Server {
    pid: Pid,
    socket: OwnedFd,
}

/// A program that was asked in the run that is going on.
struct Asked {
    key: Vec<u8>,
    socket: OwnedFd,
    pid: Pid,
}

/// The servers of a supervisor.
#[derive(Default)]
pub(super) struct Servers {
    known: HashMap<Vec<u8>, State>,
    asked: Option<Asked>,
}

impl Servers {
    /// Starts a command: as a child of its server if it has one.
    pub(super) fn start(
        &mut self,
        request: &Request,
        inherited: &Inherited,
        tree: &mut Tree,
    ) -> Result<Command, NotStarted> {
        self.hear();
        if !request.repeated {
            // Whatever is run may build the programs anew.
            self.end_all(tree);
            return spawn::spawn(request, inherited, None);
        }
        let Some(key) = key(request).filter(|_| tree.can_have_servers()) else {
            return spawn::spawn(request, inherited, None);
        };
        match self.known.get(&key) {
            None => self.ask(key, request, inherited),
            Some(State::Unable) => spawn::spawn(request, inherited, None),
            Some(State::Able | State::Serving(_)) => {
                match self.serve(&key, request, inherited, tree) {
                    Some(command) => Ok(command),
                    None => {
                        self.end(&key, tree);
                        // It may have made a child nonetheless, which would do the run a second time.
                        tree.kill_all();
                        self.known.insert(key, State::Unable);
                        spawn::spawn(request, inherited, None)
                    }
                }
            }
        }
    }

    /// Kills all servers.
    pub(super) fn end_all(&mut self, tree: &mut Tree) {
        self.asked = None;
        let keys: Vec<Vec<u8>> = self.known.keys().cloned().collect();
        for key in keys {
            self.end(&key, tree);
        }
        self.known.clear();
    }

    fn end(&mut self, key: &[u8], tree: &mut Tree) {
        if let Some(State::Serving(server)) = self.known.remove(key) {
            tree.end_server(server.pid);
        }
    }

    /// Runs the program, which is asked on its way.
    fn ask(
        &mut self,
        key: Vec<u8>,
        request: &Request,
        inherited: &Inherited,
    ) -> Result<Command, NotStarted> {
        let Ok((ours, theirs)) = ordered(SERVER_ASK) else {
            return spawn::spawn(request, inherited, None);
        };
        let command = spawn::spawn(request, inherited, Some(&theirs))?;
        self.asked = Some(Asked {
            key,
            socket: ours,
            pid: command.pid,
        });
        Ok(command)
    }

    /// Reads the answer of the program that was asked, after its run.
    fn hear(&mut self) {
        let Some(asked) = self.asked.take() else {
            return;
        };
        // It must be the process that was started: a script's program cannot be forked in its place.
        let is_able = sys::receive_pid(&asked.socket, Duration::ZERO) == Some(asked.pid);
        let serving = |state: &&State| !matches!(state, State::Unable);
        let count = self.known.values().filter(serving).count();
        let state = match is_able && count < MOST_SERVERS {
            true => State::Able,
            false => State::Unable,
        };
        self.known.insert(asked.key, state);
    }

    /// A child of the server, which is started if it is not running.
    fn serve(
        &mut self,
        key: &[u8],
        request: &Request,
        inherited: &Inherited,
        tree: &mut Tree,
    ) -> Option<Command> {
        if let Some(State::Able) = self.known.get(key) {
            let server = launch(request, inherited, tree)?;
            self.known.insert(key.to_vec(), State::Serving(server));
        }
        let Some(State::Serving(server)) = self.known.get(key) else {
            return None;
        };
        let wires = Wires::open(request).ok()?;
        let (cpu_soft, cpu_hard) = match spawn::cpu_seconds(&request.limits) {
            Some((soft, hard)) => (soft, hard),
            None => (NO_CPU_LIMIT, NO_CPU_LIMIT),
        };
        let run = ServerRun {
            // SAFETY: no pointers.
            supervisor: unsafe { libc::getpid() } as u64,
            cpu_soft,
            cpu_hard,
        };
        let started = Instant::now();
        sys::send_with_descriptors(&server.socket, &run.to_bytes(), &wires.descriptors).ok()?;
        let pid = sys::receive_pid(&server.socket, ANSWER).filter(|pid| *pid > 0)?;
        Some(Command {
            forked: true,
            ..wires.into_command(pid, started)
        })
    }
}

/// Starts a server and sees to it that it can be one.
fn launch(request: &Request, inherited: &Inherited, tree: &mut Tree) -> Option<Server> {
    let (ours, theirs) = ordered(SERVER_START).ok()?;
    let printed = sys::memory_file("printed").ok()?;
    let pid = spawn::spawn_server(request, inherited, &theirs, &printed).ok()?;
    tree.add_server(pid);
    let server = Server { pid, socket: ours };
    drop(theirs);
    let is_ready = sys::receive_pid(&server.socket, READY) == Some(pid)
        && tree.has_one_thread(pid)
        && has_only_own_files(pid)
        && printed.metadata().is_ok_and(|printed| printed.len() == 0);
    if !is_ready {
        tree.end_server(pid);
        return None;
    }
    Some(server)
}

/// A pair of sockets, with an order in the second one.
fn ordered(order: u64) -> io::Result<(OwnedFd, OwnedFd)> {
    let (ours, theirs) = sys::message_sockets()?;
    sys::send(&ours, &order.to_le_bytes())?;
    Ok((ours, theirs))
}

/// Whether a process has no files open but its standard streams and the socket: children share the position in others.
fn has_only_own_files(pid: Pid) -> bool {
    let Ok(entries) = std::fs::read_dir(format!("/proc/{pid}/fd")) else {
        return false;
    };
    entries.flatten().all(|entry| {
        let number = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<i32>().ok());
        number.is_some_and(|number| number <= 2 || number == SERVER_DESCRIPTOR)
    })
}

/// What must be the same for runs to be children of one server; `None` if the program cannot be told.
fn key(request: &Request) -> Option<Vec<u8>> {
    let program = request.command.first()?;
    if !program.as_bytes().contains(&b'/') {
        return None;
    }
    let image = std::fs::metadata(request.cwd.join(program)).ok()?;
    // The input comes with each run, and so do the limits that a process does not inherit from its server.
    let limits = &request.limits;
    let inherited = Request {
        stdin: Stdin::Null,
        limits: Limits {
            file_size: limits.file_size,
            address_space: limits.address_space,
            stack_factor: limits.stack_factor,
            processes: limits.processes,
            ..Limits::default()
        },
        ..request.clone()
    };
    let mut key = protocol::request_bytes(&inherited);
    for number in [
        image.dev(),
        image.ino(),
        image.size(),
        image.mtime() as u64,
        image.mtime_nsec() as u64,
    ] {
        key.extend_from_slice(&number.to_le_bytes());
    }
    Some(key)
}
