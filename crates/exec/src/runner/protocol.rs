//! The messages between host and supervisor: length-prefixed binary frames.
//!
//! Both ends are the same build, so the format has no versions; the greeting carries a magic
//! number to tell a supervisor from any other program. A frame is the length of what follows
//! (eight bytes, little-endian), a byte for its kind, and the fields in order.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use super::{
    Ending, Environment, LimitKind, NotStarted, Outcome, Overflow, Request, Sink, Stage, Stdin,
    TimeKind,
};
use crate::attempts::Attempt;
use crate::limits::Limits;
use crate::refusal::{OBSTACLES, Refusal};
use crate::view::{Protection, View, ViewStatus};

/// "PWSUP" and the number of this format.
const MAGIC: u64 = 0x5057_5355_5000_0001;

/// The only argument of a test program that is to be a supervisor.
#[cfg(any(test, feature = "test-support"))]
pub(crate) const SUPERVISOR_FOR_TESTS: &str = "__patchwright_supervisor_for_tests";

/// What the host says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HostFrame {
    /// The first frame.
    Start(Option<View>),
    /// Run this; the number names the run.
    Run(u64, Box<Request>),
    /// End the run of this number, if it is still going on.
    Cancel(u64),
}

/// What the supervisor answers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SupervisorFrame {
    /// To [`HostFrame::Start`].
    Hello { status: ViewStatus },
    /// The run has ended. `own` is the processor time that the supervisor has used since it said so last.
    Done {
        outcome: Box<Outcome>,
        own: Duration,
    },
    /// The run was ended by [`HostFrame::Cancel`].
    Cancelled,
    /// The command could not be started.
    NotStarted(NotStarted),
}

/// Writes the request for one run, with its number.
pub(crate) fn write_run_frame(
    stream: &mut impl Write,
    sequence: u64,
    request: &Request,
) -> io::Result<()> {
    let mut out = Encoder::new(1);
    out.u64(sequence);
    out.request(request);
    out.send(stream)
}

/// Encodes a request as it is sent. Different requests have different bytes.
pub(crate) fn request_bytes(request: &Request) -> Vec<u8> {
    let mut out = Encoder::new(1);
    out.request(request);
    out.buffer
}

/// Writes a frame of the host.
pub(crate) fn write_host_frame(stream: &mut impl Write, frame: &HostFrame) -> io::Result<()> {
    let out = match frame {
        HostFrame::Start(view) => {
            let mut out = Encoder::new(0);
            out.u64(MAGIC);
            let shadow = view.as_ref().map_or(&[][..], |v| &v.shadow);
            let protection = view.as_ref().and_then(|view| view.protection.as_ref());
            out.flag(view.is_some());
            out.u64(shadow.len() as u64);
            for (source, target) in shadow {
                out.os(source.as_os_str());
                out.os(target.as_os_str());
            }
            out.flag(protection.is_some());
            if let Some(protection) = protection {
                out.protection(protection);
            }
            out
        }
        HostFrame::Run(sequence, request) => return write_run_frame(stream, *sequence, request),
        HostFrame::Cancel(sequence) => {
            let mut out = Encoder::new(2);
            out.u64(*sequence);
            out
        }
    };
    out.send(stream)
}

/// Reads a frame of the host.
pub(crate) fn read_host_frame(stream: &mut impl Read) -> io::Result<HostFrame> {
    let (kind, bytes) = receive(stream)?;
    let mut input = Decoder { bytes: &bytes };
    Ok(match kind {
        0 => {
            if input.u64()? != MAGIC {
                return Err(malformed());
            }
            let present = input.flag()?;
            let count = input.u64()?;
            let mut shadow = Vec::new();
            for _ in 0..count {
                shadow.push((input.path()?, input.path()?));
            }
            let protection = match input.flag()? {
                true => Some(input.protection()?),
                false => None,
            };
            HostFrame::Start(present.then_some(View { shadow, protection }))
        }
        1 => HostFrame::Run(input.u64()?, Box::new(input.request()?)),
        2 => HostFrame::Cancel(input.u64()?),
        _ => return Err(malformed()),
    })
}

/// Writes a frame of the supervisor.
pub(crate) fn write_supervisor_frame(
    stream: &mut impl Write,
    frame: &SupervisorFrame,
) -> io::Result<()> {
    let out = match frame {
        SupervisorFrame::Hello { status } => {
            let mut out = Encoder::new(0);
            out.u64(MAGIC);
            match status {
                ViewStatus::NotRequested => out.u8(0),
                ViewStatus::Active => out.u8(1),
                ViewStatus::Protected => out.u8(3),
                ViewStatus::Refused(Refusal { reason, obstacle }) => {
                    out.u8(2);
                    let number = OBSTACLES.iter().position(|one| one == obstacle);
                    out.u8(number.unwrap_or_default() as u8);
                    out.bytes(reason.as_bytes());
                }
            }
            out
        }
        SupervisorFrame::Done { outcome, own } => {
            let mut out = Encoder::new(1);
            out.duration(*own);
            out.outcome(outcome);
            out
        }
        SupervisorFrame::Cancelled => Encoder::new(2),
        SupervisorFrame::NotStarted(failure) => {
            let mut out = Encoder::new(3);
            out.u8(failure.stage as u8);
            out.u64(failure.errno as u64);
            out
        }
    };
    out.send(stream)
}

/// Reads a frame of the supervisor.
pub(crate) fn read_supervisor_frame(stream: &mut impl Read) -> io::Result<SupervisorFrame> {
    let (kind, bytes) = receive(stream)?;
    let mut input = Decoder { bytes: &bytes };
    Ok(match kind {
        0 => {
            if input.u64()? != MAGIC {
                return Err(malformed());
            }
            let status = match input.u8()? {
                0 => ViewStatus::NotRequested,
                1 => ViewStatus::Active,
                2 => {
                    let obstacle = OBSTACLES.get(usize::from(input.u8()?));
                    ViewStatus::Refused(Refusal {
                        obstacle: *obstacle.ok_or_else(malformed)?,
                        reason: String::from_utf8_lossy(input.bytes()?).into_owned(),
                    })
                }
                3 => ViewStatus::Protected,
                _ => return Err(malformed()),
            };
            SupervisorFrame::Hello { status }
        }
        1 => SupervisorFrame::Done {
            own: input.duration()?,
            outcome: Box::new(input.outcome()?),
        },
        2 => SupervisorFrame::Cancelled,
        3 => {
            let stages = [
                Stage::Resources,
                Stage::Stdin,
                Stage::Fork,
                Stage::Session,
                Stage::Redirect,
                Stage::WorkingDirectory,
                Stage::Execute,
            ];
            let stage = *stages.get(usize::from(input.u8()?)).ok_or_else(malformed)?;
            SupervisorFrame::NotStarted(NotStarted {
                stage,
                errno: input.u64()? as i32,
            })
        }
        _ => return Err(malformed()),
    })
}

/// Frames above this length are taken for garbage: no request or outcome comes near.
const LONGEST: u64 = 1 << 36;

fn receive(stream: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 9];
    stream.read_exact(&mut head)?;
    let [length @ .., kind] = head;
    let length = u64::from_le_bytes(length);
    if length > LONGEST {
        return Err(malformed());
    }
    let mut bytes = Vec::new();
    // Grows with what arrives, so that a garbled length cannot exhaust the memory.
    stream.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length {
        Ok((kind, bytes))
    } else {
        Err(malformed())
    }
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "malformed frame")
}

struct Encoder {
    buffer: Vec<u8>,
}

impl Encoder {
    fn new(kind: u8) -> Self {
        let mut buffer = vec![0; 8];
        buffer.push(kind);
        Encoder { buffer }
    }

    fn send(mut self, stream: &mut impl Write) -> io::Result<()> {
        let length = (self.buffer.len() - 9) as u64;
        self.buffer[..8].copy_from_slice(&length.to_le_bytes());
        stream.write_all(&self.buffer)
    }

    fn u8(&mut self, value: u8) {
        self.buffer.push(value);
    }

    fn flag(&mut self, value: bool) {
        self.u8(u8::from(value));
    }

    fn u64(&mut self, value: u64) {
        self.buffer.extend_from_slice(&value.to_le_bytes());
    }

    fn bytes(&mut self, value: &[u8]) {
        self.u64(value.len() as u64);
        self.buffer.extend_from_slice(value);
    }

    fn os(&mut self, value: &OsStr) {
        self.bytes(value.as_bytes());
    }

    fn option(&mut self, value: Option<u64>) {
        self.flag(value.is_some());
        self.u64(value.unwrap_or(0));
    }

    fn duration(&mut self, value: Duration) {
        self.u64(nanoseconds(value));
    }

    fn paths(&mut self, paths: &[PathBuf]) {
        self.u64(paths.len() as u64);
        for path in paths {
            self.os(path.as_os_str());
        }
    }

    fn protection(&mut self, protection: &Protection) {
        let Protection {
            writable,
            allowed,
            private,
            empty,
            temporary,
            kept,
            layers,
            network,
        } = protection;
        for list in [writable, allowed, private, empty, temporary, kept] {
            self.paths(list);
        }
        self.os(layers.as_os_str());
        self.flag(*network);
    }

    fn request(&mut self, request: &Request) {
        self.u64(request.command.len() as u64);
        for argument in &request.command {
            self.os(argument);
        }
        self.os(request.cwd.as_os_str());
        let environment = &request.environment;
        self.flag(environment.clear);
        self.u64(environment.remove.len() as u64);
        for name in &environment.remove {
            self.os(name);
        }
        self.u64(environment.set.len() as u64);
        for (name, value) in &environment.set {
            self.os(name);
            self.os(value);
        }
        match &request.stdin {
            Stdin::Null => self.u8(0),
            Stdin::File(path) => {
                self.u8(1);
                self.os(path.as_os_str());
            }
            Stdin::Bytes(bytes) => {
                self.u8(2);
                self.bytes(bytes);
            }
        }
        self.u8(request.stdout as u8);
        self.u8(request.stderr as u8);
        self.u8(request.overflow as u8);
        self.flag(request.repeated);
        let limits = &request.limits;
        self.duration(limits.wall);
        self.option(limits.cpu.map(nanoseconds));
        self.option(limits.endless_after.map(nanoseconds));
        self.option(limits.memory);
        self.option(limits.address_space);
        self.u64(limits.stack_factor);
        self.u64(limits.output);
        self.option(limits.stdout);
        self.option(limits.file_size);
        self.option(limits.processes.map(u64::from));
        self.duration(limits.pipe_grace);
        self.duration(limits.term_grace);
    }

    fn outcome(&mut self, outcome: &Outcome) {
        let (tag, number) = match outcome.ending {
            Ending::Exited(code) => (0, code as u64),
            Ending::Signaled(signal) => (1, signal as u64),
            Ending::TimedOut(kind) => (2, kind as u64),
            Ending::LimitExceeded(kind) => (3, kind as u64),
        };
        self.u8(tag);
        self.u64(number);
        self.bytes(&outcome.stdout);
        self.bytes(&outcome.stderr);
        self.flag(outcome.output_truncated);
        self.duration(outcome.wall);
        self.duration(outcome.cpu);
        self.u64(outcome.peak_memory);
        self.u64(u64::from(outcome.leftovers));
        self.u64(u64::from(outcome.survivors));
        self.flag(outcome.forked);
        self.u64(outcome.attempts.len() as u64);
        for attempt in &outcome.attempts {
            self.bytes(&attempt.to_bytes());
        }
        self.flag(outcome.leaves_private);
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

struct Decoder<'a> {
    bytes: &'a [u8],
}

impl<'a> Decoder<'a> {
    fn take(&mut self, length: usize) -> io::Result<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(malformed)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> io::Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn flag(&mut self) -> io::Result<bool> {
        Ok(self.u8()? != 0)
    }

    fn u64(&mut self) -> io::Result<u64> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(
            bytes.try_into().map_err(|_| malformed())?,
        ))
    }

    fn u32(&mut self) -> io::Result<u32> {
        u32::try_from(self.u64()?).map_err(|_| malformed())
    }

    fn bytes(&mut self) -> io::Result<&'a [u8]> {
        let length = usize::try_from(self.u64()?).map_err(|_| malformed())?;
        self.take(length)
    }

    fn os(&mut self) -> io::Result<OsString> {
        Ok(OsString::from_vec(self.bytes()?.to_vec()))
    }

    fn path(&mut self) -> io::Result<PathBuf> {
        self.os().map(PathBuf::from)
    }

    fn option(&mut self) -> io::Result<Option<u64>> {
        let present = self.flag()?;
        let value = self.u64()?;
        Ok(present.then_some(value))
    }

    fn duration(&mut self) -> io::Result<Duration> {
        self.u64().map(Duration::from_nanos)
    }

    fn choice<T: Copy>(&mut self, choices: &[T]) -> io::Result<T> {
        choices
            .get(usize::from(self.u8()?))
            .copied()
            .ok_or_else(malformed)
    }

    fn paths(&mut self) -> io::Result<Vec<PathBuf>> {
        let count = self.u64()?;
        (0..count).map(|_| self.path()).collect()
    }

    fn protection(&mut self) -> io::Result<Protection> {
        Ok(Protection {
            writable: self.paths()?,
            allowed: self.paths()?,
            private: self.paths()?,
            empty: self.paths()?,
            temporary: self.paths()?,
            kept: self.paths()?,
            layers: self.path()?,
            network: self.flag()?,
        })
    }

    fn request(&mut self) -> io::Result<Request> {
        let mut command = Vec::new();
        for _ in 0..self.u64()? {
            command.push(self.os()?);
        }
        if command.is_empty() {
            return Err(malformed());
        }
        let cwd = self.path()?;
        let mut environment = Environment {
            clear: self.flag()?,
            ..Environment::default()
        };
        for _ in 0..self.u64()? {
            environment.remove.insert(self.os()?);
        }
        for _ in 0..self.u64()? {
            environment.set.insert(self.os()?, self.os()?);
        }
        let stdin = match self.u8()? {
            0 => Stdin::Null,
            1 => Stdin::File(self.path()?),
            2 => Stdin::Bytes(self.bytes()?.to_vec()),
            _ => return Err(malformed()),
        };
        let sinks = [Sink::Capture, Sink::Null, Sink::WithStdout, Sink::Dump];
        Ok(Request {
            command,
            cwd,
            environment,
            stdin,
            stdout: self.choice(&sinks)?,
            stderr: self.choice(&sinks)?,
            overflow: self.choice(&[Overflow::Stop, Overflow::Discard])?,
            repeated: self.flag()?,
            limits: Limits {
                wall: self.duration()?,
                cpu: self.option()?.map(Duration::from_nanos),
                endless_after: self.option()?.map(Duration::from_nanos),
                memory: self.option()?,
                address_space: self.option()?,
                stack_factor: self.u64()?,
                output: self.u64()?,
                stdout: self.option()?,
                file_size: self.option()?,
                processes: self.option()?.map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
                pipe_grace: self.duration()?,
                term_grace: self.duration()?,
            },
        })
    }

    fn outcome(&mut self) -> io::Result<Outcome> {
        let tag = self.u8()?;
        let number = self.u64()?;
        let ending = match (tag, number) {
            (0, code) => Ending::Exited(code as i32),
            (1, signal) => Ending::Signaled(signal as i32),
            (2, 0) => Ending::TimedOut(TimeKind::Wall),
            (2, 1) => Ending::TimedOut(TimeKind::Cpu),
            (2, 2) => Ending::TimedOut(TimeKind::Endless),
            (3, 0) => Ending::LimitExceeded(LimitKind::Memory),
            (3, 1) => Ending::LimitExceeded(LimitKind::Output),
            (3, 2) => Ending::LimitExceeded(LimitKind::Processes),
            (3, 3) => Ending::LimitExceeded(LimitKind::FileSize),
            _ => return Err(malformed()),
        };
        Ok(Outcome {
            ending,
            stdout: self.bytes()?.to_vec(),
            stderr: self.bytes()?.to_vec(),
            output_truncated: self.flag()?,
            wall: self.duration()?,
            cpu: self.duration()?,
            peak_memory: self.u64()?,
            leftovers: self.u32()?,
            survivors: self.u32()?,
            forked: self.flag()?,
            attempts: {
                let count = self.u64()?;
                let attempt =
                    |input: &mut Self| Attempt::from_bytes(input.bytes()?).ok_or_else(malformed);
                (0..count)
                    .map(|_| attempt(self))
                    .collect::<io::Result<_>>()?
            },
            leaves_private: self.flag()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempts::AttemptKind;
    use proptest::prelude::*;

    fn os() -> impl Strategy<Value = OsString> {
        proptest::collection::vec(any::<u8>(), 0..20).prop_map(OsString::from_vec)
    }

    fn limits() -> impl Strategy<Value = Limits> {
        let optional = || proptest::option::of(any::<u64>());
        (
            any::<u64>(),
            optional(),
            optional(),
            optional(),
            proptest::option::of(any::<u32>()),
        )
            .prop_map(|(wall, cpu, memory, file_size, processes)| Limits {
                wall: Duration::from_nanos(wall),
                cpu: cpu.map(Duration::from_nanos),
                endless_after: memory.map(Duration::from_nanos),
                memory,
                file_size,
                processes,
                ..Limits::default()
            })
    }

    fn request() -> impl Strategy<Value = Request> {
        let stdin = prop_oneof![
            Just(Stdin::Null),
            os().prop_map(|path| Stdin::File(path.into())),
            proptest::collection::vec(any::<u8>(), 0..50).prop_map(Stdin::Bytes),
        ];
        let environment = (
            any::<bool>(),
            proptest::collection::btree_set(os(), 0..3),
            proptest::collection::btree_map(os(), os(), 0..3),
        )
            .prop_map(|(clear, remove, set)| Environment { clear, remove, set });
        (
            proptest::collection::vec(os(), 1..4),
            os(),
            environment,
            stdin,
            limits(),
        )
            .prop_map(|(command, cwd, environment, stdin, limits)| Request {
                command,
                environment,
                stdin,
                stderr: Sink::WithStdout,
                overflow: Overflow::Discard,
                repeated: true,
                limits,
                ..Request::new("", cwd)
            })
    }

    proptest! {
        #[test]
        fn a_request_survives_the_wire(sequence: u64, request in request()) {
            let mut wire = Vec::new();
            write_run_frame(&mut wire, sequence, &request).unwrap();
            let frame = read_host_frame(&mut wire.as_slice()).unwrap();
            prop_assert_eq!(frame, HostFrame::Run(sequence, Box::new(request)));
        }

        #[test]
        fn garbage_is_an_error_and_no_panic(wire in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read_host_frame(&mut wire.as_slice());
            let _ = read_supervisor_frame(&mut wire.as_slice());
        }

        #[test]
        fn a_truncated_frame_is_an_error(request in request(), cut in 1usize..9) {
            let mut wire = Vec::new();
            write_run_frame(&mut wire, 1, &request).unwrap();
            wire.truncate(wire.len() - cut);
            prop_assert!(read_host_frame(&mut wire.as_slice()).is_err());
        }
    }

    #[test]
    fn every_answer_survives_the_wire() {
        let outcome = |ending| {
            let outcome = Box::new(Outcome {
                ending,
                stdout: b"out\0\xff".to_vec(),
                stderr: vec![],
                output_truncated: true,
                wall: Duration::from_nanos(7),
                cpu: Duration::from_secs(3),
                peak_memory: 1 << 40,
                leftovers: 2,
                survivors: 1,
                forked: true,
                attempts: vec![Attempt {
                    kind: AttemptKind::Refused,
                    call: "unlinkat".into(),
                    program: "rm".into(),
                    what: "/home/me/notes".into(),
                }],
                leaves_private: true,
            });
            let own = Duration::from_micros(11);
            SupervisorFrame::Done { outcome, own }
        };
        let frames = [
            SupervisorFrame::Hello {
                status: ViewStatus::Active,
            },
            SupervisorFrame::Hello {
                status: ViewStatus::Protected,
            },
            SupervisorFrame::Cancelled,
            SupervisorFrame::NotStarted(NotStarted {
                stage: Stage::Execute,
                errno: 2,
            }),
            outcome(Ending::Exited(3)),
            outcome(Ending::Signaled(11)),
            outcome(Ending::TimedOut(TimeKind::Cpu)),
            outcome(Ending::TimedOut(TimeKind::Endless)),
            outcome(Ending::LimitExceeded(LimitKind::FileSize)),
        ];
        let refused = OBSTACLES.map(|obstacle| SupervisorFrame::Hello {
            status: ViewStatus::Refused(Refusal {
                reason: "no".into(),
                obstacle,
            }),
        });
        for frame in frames.into_iter().chain(refused) {
            let mut wire = Vec::new();
            write_supervisor_frame(&mut wire, &frame).unwrap();
            assert_eq!(read_supervisor_frame(&mut wire.as_slice()).unwrap(), frame);
        }
    }
}
