//! Watching a running command: its output, its limits, its end, and what it leaves behind.

use std::io::Read;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};

use patchwright_probe_abi::CHANNEL_VARIABLE;

use super::endless;
use super::kept::Kept;
use super::spawn::Command;
use super::sys::{self, Pid, Precedence, Reaped};
use super::tree::Tree;
use super::waiting::Waiting;
use crate::runner::protocol::{self, HostFrame};
use crate::runner::{Ending, LimitKind, Outcome, Overflow, Request, Sink, TimeKind};

/// The first sample is taken after this time; the interval then doubles up to the longest.
const FIRST_SAMPLE: Duration = Duration::from_millis(1);
const LONGEST_INTERVAL: Duration = Duration::from_millis(20);
/// Sampling takes at most one part in so many of the time, as long as that is no longer than [`PATIENCE`] between two samples.
const SAMPLING_SHARE: u32 = 64;
/// See [`SAMPLING_SHARE`].
const PATIENCE: Duration = Duration::from_millis(100);
/// Of many processes that take long to look at, sampling takes at most one part in so many of the time.
const MOST_SAMPLING: u32 = 10;
/// How often to look for the end of the command where the kernel cannot notify us.
const BLIND_INTERVAL: Duration = Duration::from_millis(2);
/// How long the command has waited for a processor is not looked at before one part in so many of its time is over.
const CALM: u32 = 4;
/// Bytes that the pipe of a dump holds.
const ROOM: usize = 1 << 20;
/// Compilers write in pieces of 4 KiB, and each one would wake us up. In this time one of them does not fill the pipe.
const REST: Duration = Duration::from_millis(1);
/// The time between a process closing its files and its end.
const ENDING: Duration = Duration::from_millis(10);

/// The other end of the channel is closed: the host has died or wants no more.
pub(super) struct HostGone;

/// The end of a run.
pub(super) enum Finish {
    Done(Box<Outcome>),
    Cancelled,
}

/// Why the command was not left to end by itself.
enum Stop {
    Time(TimeKind),
    Limit(LimitKind),
    Cancelled,
}

/// Watches a command until nothing of it is left.
pub(super) fn supervise(
    command: Command,
    request: &Request,
    sequence: u64,
    channel: &UnixStream,
    tree: &mut Tree,
    experience: &mut Experience,
) -> Result<Finish, HostGone> {
    let mut watch = Watch {
        request,
        sequence,
        channel,
        tree,
        process: sys::open_process(command.pid),
        pid: command.pid,
        started: command.started,
        forked: command.forked,
        stdout: Stream::new(command.stdout, request.stdout == Sink::Dump),
        stderr: Stream::new(command.stderr, false),
        rest_until: None,
        captured: 0,
        truncated: false,
        status: None,
        childless: false,
        reaped_cpu: Duration::ZERO,
        peak: 0,
        precedence: None,
        looks: Looks::default(),
        waiting: Waiting::new(command.started),
        idle: Idle::new(command.started),
        experience,
    };
    let stop = watch.until_end()?;
    let wall = watch.started.elapsed().saturating_sub(watch.looks.wall);
    let leftovers = watch.clear_away(&stop)?;
    let killed = watch.tree.kill_all();
    watch.read_outputs();
    let ending = match stop {
        Some(Stop::Cancelled) => return Ok(Finish::Cancelled),
        Some(Stop::Time(kind)) => Ending::TimedOut(kind),
        Some(Stop::Limit(kind)) => Ending::LimitExceeded(kind),
        None => watch.ending(),
    };
    Ok(Finish::Done(Box::new(Outcome {
        ending,
        stdout: watch.stdout.kept.into_bytes(),
        stderr: watch.stderr.kept.into_bytes(),
        output_truncated: watch.truncated,
        wall,
        cpu: (watch.reaped_cpu + killed.cpu).saturating_sub(watch.looks.cpu),
        peak_memory: watch.peak.max(killed.peak),
        leftovers,
        survivors: killed.survivors,
        forked: watch.forked,
        attempts: Vec::new(),
        leaves_private: false,
    })))
}

/// Our end of a captured output.
struct Stream {
    /// `None` once its end was seen.
    fd: Option<std::fs::File>,
    kept: Kept,
    /// How many bytes were kept, before they were compressed.
    length: u64,
    /// There is room for what comes while nobody reads.
    roomy: bool,
}

impl Stream {
    fn new(fd: Option<OwnedFd>, is_dump: bool) -> Self {
        Stream {
            roomy: is_dump && fd.as_ref().is_some_and(|fd| sys::make_roomy(fd, ROOM)),
            fd: fd.map(Into::into),
            kept: Kept::new(is_dump),
            length: 0,
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        self.kept.add(bytes);
        self.length += bytes.len() as u64;
    }

    fn raw(&self) -> RawFd {
        self.fd.as_ref().map_or(-1, |fd| fd.as_raw_fd())
    }
}

struct Watch<'a> {
    request: &'a Request,
    sequence: u64,
    channel: &'a UnixStream,
    tree: &'a mut Tree,
    process: Option<OwnedFd>,
    pid: Pid,
    started: Instant,
    forked: bool,
    stdout: Stream,
    stderr: Stream,
    /// Until then nothing is read of a dump, so that a large piece of it can be read at once.
    rest_until: Option<Instant>,
    /// Bytes kept of both streams.
    captured: u64,
    truncated: bool,
    /// The command's wait status, once it has ended.
    status: Option<i32>,
    /// Whether the last `wait` found that there is no child at all.
    childless: bool,
    reaped_cpu: Duration,
    peak: u64,
    /// Taken as soon as the run is not one of the short and simple ones.
    precedence: Option<Precedence>,
    looks: Looks,
    waiting: Waiting,
    idle: Idle,
    experience: &'a mut Experience,
}

/// How long the command has done nothing.
struct Idle {
    /// The processor time of the command when it was seen to do something last.
    cpu: Duration,
    /// That moment.
    since: Instant,
    /// After this time of doing nothing it is looked at next.
    look_after: Duration,
}

impl Idle {
    const FIRST_LOOK: Duration = Duration::from_millis(60);

    fn new(since: Instant) -> Idle {
        Idle {
            cpu: Duration::ZERO,
            since,
            look_after: Self::FIRST_LOOK,
        }
    }

    /// Whether to look at a command that has used so much processor time.
    fn advises(&mut self, cpu: Duration) -> bool {
        if cpu != self.cpu {
            *self = Idle {
                cpu,
                ..Idle::new(Instant::now())
            };
        }
        let advises = self.since.elapsed() >= self.look_after;
        if advises {
            self.look_after *= 2;
        }
        advises
    }
}

/// What came of looks whether commands never end, in all runs so far. Where hardly any proves it, they cost more than they
/// save, unless a command runs for long.
#[derive(Default)]
pub(super) struct Experience {
    made: u32,
    proved: u32,
    left_out: u32,
}

impl Experience {
    /// Whether to look at a command that has used so much processor time.
    fn advises(&mut self, cpu: Duration) -> bool {
        const LONG: Duration = Duration::from_millis(400);
        const ENOUGH: u32 = 6;
        const ONE_IN: u32 = 16;
        if cpu >= LONG || self.made < ENOUGH || self.proved * ENOUGH >= self.made {
            return true;
        }
        self.left_out += 1;
        self.left_out.is_multiple_of(ONE_IN)
    }
}

/// Looks whether the command never ends.
#[derive(Default)]
struct Looks {
    /// The processor time of the command at the last one.
    last: Duration,
    /// What they have taken, which is not the command's.
    wall: Duration,
    cpu: Duration,
}

impl Watch<'_> {
    /// Watches until the command has ended (`None`) or must be ended.
    fn until_end(&mut self) -> Result<Option<Stop>, HostGone> {
        let mut interval = FIRST_SAMPLE;
        let mut next_sample = self.started + interval;
        loop {
            let deadline = self.deadline();
            let mut until = deadline.map_or(next_sample, |deadline| deadline.min(next_sample));
            if self.process.is_none() {
                until = until.min(Instant::now() + BLIND_INTERVAL);
            }
            let (ended, stop) = self.wait_for_news(until)?;
            if stop.is_some() {
                return Ok(stop);
            }
            if ended {
                self.reap();
                if self.status.is_some() {
                    return Ok(None);
                }
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) {
                self.waiting.look(self.tree);
                if self.deadline().is_none_or(|deadline| now < deadline) {
                    continue;
                }
                return Ok(Some(Stop::Time(TimeKind::Wall)));
            }
            if now >= next_sample {
                self.reap();
                if self.status.is_some() {
                    return Ok(None);
                }
                let looked = self.looks.wall;
                if let Some(stop) = self.sample() {
                    return Ok(Some(stop));
                }
                interval = (interval * 2).min(LONGEST_INTERVAL);
                // Looks are rare enough by themselves.
                let cost = now.elapsed().saturating_sub(self.looks.wall - looked);
                let rest = (cost * SAMPLING_SHARE).min(PATIENCE);
                next_sample = now + interval.max(rest).max(cost * MOST_SAMPLING);
            }
        }
    }

    /// When the command's time is up: what it has waited for a processor, and for us, does not count.
    fn deadline(&self) -> Option<Instant> {
        let wall = self.request.limits.wall;
        let wall = wall.saturating_add(self.looks.wall + self.waiting.total());
        self.started.checked_add(wall)
    }

    /// Waits for output, the command's end, the host or the time. Tells whether the command may
    /// have ended, and reads what there is to read.
    fn wait_for_news(&mut self, until: Instant) -> Result<(bool, Option<Stop>), HostGone> {
        let process = self
            .process
            .as_ref()
            .map_or(-1, |process| process.as_raw_fd());
        let now = Instant::now();
        let rest = self.rest_until.take().filter(|&end| end > now);
        let until = rest.map_or(until, |end| end.min(until));
        let stdout = match rest {
            Some(_) => -1,
            None => self.stdout.raw(),
        };
        let descriptors = [self.channel.as_raw_fd(), process, stdout, self.stderr.raw()];
        let mut fds = descriptors.map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        });
        sys::poll(&mut fds, until.saturating_duration_since(now));
        if fds[0].revents != 0 && self.listen()? {
            return Ok((false, Some(Stop::Cancelled)));
        }
        if fds[2].revents | fds[3].revents != 0 {
            if self.read_outputs() {
                return Ok((false, Some(Stop::Limit(LimitKind::Output))));
            }
            self.rest_until = self.stdout.roomy.then(|| Instant::now() + REST);
        }
        Ok((fds[1].revents != 0 || self.process.is_none(), None))
    }

    /// Reads a frame of the host; tells whether it cancels this run.
    fn listen(&mut self) -> Result<bool, HostGone> {
        let mut stream = self.channel;
        match protocol::read_host_frame(&mut stream) {
            Ok(HostFrame::Cancel(sequence)) => Ok(sequence == self.sequence),
            // The host sends no other frame before it has our answer.
            _ => Err(HostGone),
        }
    }

    /// Reads what is in the pipes; tells whether that is more than allowed.
    fn read_outputs(&mut self) -> bool {
        let limit = self.request.limits.output;
        let mut exceeded = false;
        for stream in [&mut self.stdout, &mut self.stderr] {
            let mut chunk = [0; 1 << 16];
            // Bounded, so that a command that never stops writing cannot keep us here.
            for _ in 0..32 {
                let Some(fd) = &mut stream.fd else { break };
                match fd.read(&mut chunk) {
                    Ok(0) => stream.fd = None,
                    Ok(count) => {
                        let room = usize::try_from(limit - self.captured).unwrap_or(usize::MAX);
                        let kept = count.min(room);
                        stream.keep(&chunk[..kept]);
                        self.captured += kept as u64;
                        exceeded |= kept < count;
                    }
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
        }
        let most = self.request.limits.stdout.unwrap_or(u64::MAX);
        exceeded |= self.stdout.length > most;
        self.truncated |= exceeded;
        exceeded && self.request.overflow == Overflow::Stop
    }

    fn outputs_open(&self) -> bool {
        self.stdout.fd.is_some() || self.stderr.fd.is_some()
    }

    /// Reaps every child that has ended: the command and orphans.
    fn reap(&mut self) {
        loop {
            match self.tree.reap() {
                Reaped::Child {
                    pid,
                    status,
                    cpu,
                    peak,
                } => {
                    self.reaped_cpu += cpu;
                    self.peak = self.peak.max(peak);
                    if pid == self.pid {
                        self.status = Some(status);
                    }
                }
                Reaped::NoneEnded => return,
                Reaped::NoChild => {
                    self.childless = true;
                    return;
                }
            }
        }
    }

    /// Measures the tree and compares it with the limits.
    fn sample(&mut self) -> Option<Stop> {
        self.precedence.get_or_insert_with(Precedence::take);
        if self.started.elapsed() >= self.request.limits.wall / CALM {
            self.waiting.look(self.tree);
        }
        let limits = &self.request.limits;
        let usage = self.tree.usage(self.most_processes());
        if limits.processes.is_some_and(|most| usage.processes > most) {
            return Some(Stop::Limit(LimitKind::Processes));
        }
        let cpu = (self.reaped_cpu + usage.cpu).saturating_sub(self.looks.cpu);
        if limits.cpu.is_some_and(|most| cpu > most) {
            return Some(Stop::Time(TimeKind::Cpu));
        }
        if let Some(after) = limits.endless_after
            && cpu >= after.max(self.looks.last * 2)
            && self.never_ends(cpu)
        {
            return Some(Stop::Time(TimeKind::Endless));
        }
        if limits.endless_after.is_some() && self.idle.advises(cpu) && self.tree.is_deadlocked() {
            return Some(Stop::Time(TimeKind::Endless));
        }
        let mut memory = usage.resident;
        if let Some(most) = limits.memory
            && memory > most
        {
            // Pages that processes share, as after a fork, were counted more than once.
            memory = self.tree.proportional_memory();
            if memory > most {
                self.peak = self.peak.max(memory);
                return Some(Stop::Limit(LimitKind::Memory));
            }
        }
        self.peak = self.peak.max(memory);
        None
    }

    /// Looks whether the command, which has used so much processor time, provably goes on for ever.
    fn never_ends(&mut self, cpu: Duration) -> bool {
        const SHARE: u32 = 8;
        const LEAST: Duration = Duration::from_millis(40);
        const MOST: Duration = Duration::from_secs(2);
        self.looks.last = cpu;
        if !self.experience.advises(cpu) {
            return false;
        }
        let Some((pid, others)) = self.tree.computing_alone() else {
            return false;
        };
        let begun = Instant::now();
        let most = self.most_processes();
        let before = self.tree.usage(most).cpu;
        // What a woven program shares with us is written by nobody else, and read by us only when it has ended.
        let set = &self.request.environment.set;
        let mut channel = set.iter().filter(|(name, _)| *name == CHANNEL_VARIABLE);
        let channel = channel.next_back().map(|(_, path)| Path::new(path));
        let deadline = begun + (cpu / SHARE).clamp(LEAST, MOST);
        let own_limit = super::spawn::cpu_seconds(&self.request.limits).map(|(soft, _)| soft);
        let proved = endless::never_ends(pid, &others, channel, own_limit, deadline);
        self.looks.cpu += self.tree.usage(most).cpu.saturating_sub(before);
        self.looks.wall += begun.elapsed();
        self.experience.made += 1;
        self.experience.proved += u32::from(proved);
        proved
    }

    /// Deals with what is alive after the end: gives those that hold the output a moment, then
    /// asks them to end. Returns the number of processes that outlived the command.
    fn clear_away(&mut self, stop: &Option<Stop>) -> Result<u32, HostGone> {
        match stop {
            None => {
                self.read_outputs();
                self.reap();
                if self.childless {
                    return Ok(0);
                }
                self.precedence.get_or_insert_with(Precedence::take);
                self.wait_for_outputs()?;
                let most = self.most_processes();
                let leftovers = self.tree.count_alive(most);
                if leftovers > 0 && !self.is_harmful() {
                    self.terminate();
                }
                Ok(leftovers)
            }
            Some(Stop::Time(_)) => {
                self.terminate();
                Ok(0)
            }
            // Each moment more is more harm.
            Some(_) => Ok(0),
        }
    }

    /// After the command's end: reads on until its outputs are closed, no process is left or the
    /// grace is over.
    fn wait_for_outputs(&mut self) -> Result<(), HostGone> {
        if !self.outputs_open() {
            return Ok(());
        }
        let deadline = Instant::now() + self.request.limits.pipe_grace;
        // Its end has been seen; it would be reported for ever.
        self.process = None;
        while self.outputs_open() && !self.childless {
            let now = Instant::now();
            if now >= deadline {
                break;
            }
            let (_, stop) = self.wait_for_news(deadline.min(now + BLIND_INTERVAL))?;
            self.reap();
            if stop.is_some() || self.is_harmful() {
                return Ok(());
            }
        }
        // Who closes its outputs by ending has not quite ended yet.
        let deadline = deadline.min(Instant::now() + ENDING);
        while !self.outputs_open() && !self.childless && Instant::now() < deadline {
            sys::pause(Duration::from_micros(200));
            self.reap();
        }
        Ok(())
    }

    /// Whether what is left exceeds a limit other than time.
    fn is_harmful(&mut self) -> bool {
        matches!(self.sample(), Some(Stop::Limit(_)))
    }

    fn most_processes(&self) -> u32 {
        self.request.limits.processes.unwrap_or(u32::MAX)
    }

    /// Asks all processes to end and gives them the grace to do so, still within the limits.
    fn terminate(&mut self) {
        if self.request.limits.term_grace.is_zero() {
            return;
        }
        self.tree.ask_all_to_end(self.most_processes());
        let deadline = Instant::now() + self.request.limits.term_grace;
        let mut pause = Duration::from_micros(200);
        loop {
            self.read_outputs();
            self.reap();
            if self.childless || Instant::now() >= deadline {
                return;
            }
            if self.is_harmful() {
                return;
            }
            sys::pause(pause.min(deadline.saturating_duration_since(Instant::now())));
            pause = (pause * 2).min(LONGEST_INTERVAL);
        }
    }

    /// How a command that was left alone has ended.
    fn ending(&self) -> Ending {
        let status = self.status.unwrap_or(0);
        if libc::WIFEXITED(status) {
            return Ending::Exited(libc::WEXITSTATUS(status));
        }
        match libc::WTERMSIG(status) {
            libc::SIGXCPU if self.request.limits.cpu.is_some() => Ending::TimedOut(TimeKind::Cpu),
            libc::SIGXFSZ if self.request.limits.file_size.is_some() => {
                Ending::LimitExceeded(LimitKind::FileSize)
            }
            signal => Ending::Signaled(signal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_looks_prove_nothing_they_become_rare_but_for_commands_that_run_for_long() {
        let (short, long) = (Duration::from_millis(50), Duration::from_secs(1));
        let mut experience = Experience::default();
        assert!(experience.advises(short));
        (experience.made, experience.proved) = (60, 9);
        let advised = (0..160).filter(|_| experience.advises(short)).count();
        assert_eq!(advised, 10);
        assert!(experience.advises(long));
        experience.proved = 10;
        assert!((0..20).all(|_| experience.advises(short)));
    }
}
