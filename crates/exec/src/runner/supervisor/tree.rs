//! The descendants of the supervisor: listing, measuring and killing them.
//!
//! The supervisor is a subreaper, so every process that a command starts stays its descendant,
//! whatever sessions and parents it leaves behind, and there is no descendant left exactly when
//! the supervisor has no child.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::fd::RawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::time::{Duration, Instant};

use super::sys::{self, Pid, Reaped};

/// How long to go on killing without any success before giving up on processes that are stuck in
/// the kernel.
const KILL_STALL: Duration = Duration::from_secs(10);
/// How long to go on killing at all.
const KILL_DEADLINE: Duration = Duration::from_secs(60);
/// The time that a killed process may need to end when many end at once.
const DYING: Duration = Duration::from_micros(500);

/// One descendant, as `/proc/PID/stat` describes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Process {
    pid: Pid,
    parent: Pid,
    group: Pid,
    state: u8,
    threads: u64,
    /// Processor time of it and the children it waited for, in clock ticks.
    ticks: u64,
    /// Resident memory in pages, including what it shares.
    resident: u64,
}

impl Process {
    /// Returns the number of the process.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// Whether the process has not ended yet.
    pub(super) fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X')
    }
}

/// What the descendants use together.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Usage {
    /// Processes alive; counted no further than needed.
    pub(super) processes: u32,
    /// Processor time of them and the children they waited for.
    pub(super) cpu: Duration,
    /// Sum of their resident memory in bytes; shared pages count once for each.
    pub(super) resident: u64,
}

/// Number of threads that this user has on the system, as `RLIMIT_NPROC` counts them.
pub(super) fn threads_of_user() -> u64 {
    // SAFETY: no pointers.
    let user = unsafe { libc::getuid() };
    let Ok(entries) = fs::read_dir("/proc") else {
        return 0;
    };
    let threads = |entry: fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read(entry.path().join("stat")).ok()?;
        let owned = entry.metadata().ok()?.uid() == user;
        owned.then_some(parse_stat(pid, &stat)?.threads)
    };
    entries.flatten().filter_map(threads).sum()
}

/// The view of the supervisor on its descendants.
pub(super) struct Tree {
    own: Pid,
    own_group: Pid,
    page: u64,
    ticks_per_second: u64,
    /// Whether the kernel lists children (`CONFIG_PROC_CHILDREN`).
    lists_children: bool,
    buffer: Vec<u8>,
    /// Children that wait to be forked: they belong to no run, and are not counted, measured or killed with one.
    servers: BTreeSet<Pid>,
}

impl Tree {
    /// Makes an empty list of the descendants of this process.
    pub(super) fn new() -> Self {
        // SAFETY: no pointers.
        let (own, own_group, page, ticks) = unsafe {
            (
                libc::getpid(),
                libc::getpgrp(),
                libc::sysconf(libc::_SC_PAGESIZE),
                libc::sysconf(libc::_SC_CLK_TCK),
            )
        };
        let positive = |value: i64, default| {
            u64::try_from(value)
                .ok()
                .filter(|v| *v > 0)
                .unwrap_or(default)
        };
        Tree {
            own,
            own_group,
            page: positive(page, 4096),
            ticks_per_second: positive(ticks, 100),
            lists_children: fs::exists(format!("/proc/{own}/task/{own}/children")).unwrap_or(false),
            buffer: Vec::new(),
            servers: BTreeSet::new(),
        }
    }

    /// Whether servers can be told from what a run leaves behind.
    pub(super) fn can_have_servers(&self) -> bool {
        self.lists_children
    }

    /// A child is a server from now on.
    pub(super) fn add_server(&mut self, pid: Pid) {
        self.servers.insert(pid);
    }

    /// Kills a server, if it is still there.
    pub(super) fn end_server(&mut self, pid: Pid) {
        if self.servers.remove(&pid) {
            sys::kill_child(pid);
        }
    }

    /// Whether a process has one thread.
    pub(super) fn has_one_thread(&mut self, pid: Pid) -> bool {
        self.read_process(pid)
            .is_some_and(|process| process.threads == 1)
    }

    /// Reaps a child that has ended, if there is one. Servers are no children here.
    pub(super) fn reap(&mut self) -> Reaped {
        loop {
            match sys::reap() {
                Reaped::Child { pid, .. } if self.servers.remove(&pid) => {}
                Reaped::NoneEnded if !self.servers.is_empty() => {
                    let mut children = VecDeque::new();
                    self.read_children(self.own, self.own, &mut children);
                    return match children.iter().all(|pid| self.servers.contains(pid)) {
                        true => Reaped::NoChild,
                        false => Reaped::NoneEnded,
                    };
                }
                other => return other,
            }
        }
    }

    /// Visits every descendant, parents before their children. The visitor acts before any further
    /// process is looked for, which matters when they multiply faster than they can be listed.
    pub(super) fn walk(&mut self, mut visit: impl FnMut(&mut Self, Process) -> ControlFlow<()>) {
        let mut queue = VecDeque::new();
        if self.lists_children {
            self.read_children(self.own, self.own, &mut queue);
            queue.retain(|pid| !self.servers.contains(pid));
        } else {
            queue = self.descendants_by_scan();
        }
        while let Some(pid) = queue.pop_front() {
            let Some(process) = self.read_process(pid) else {
                continue;
            };
            if visit(self, process).is_break() {
                return;
            }
            if self.lists_children {
                self.add_children(&process, &mut queue);
            }
        }
    }

    fn add_children(&mut self, process: &Process, queue: &mut VecDeque<Pid>) {
        let pid = process.pid;
        if process.threads <= 1 {
            self.read_children(pid, pid, queue);
        } else {
            // Each thread has the children that it started.
            for task in tasks_of(pid) {
                self.read_children(pid, task, queue);
            }
        }
    }

    fn read_children(&mut self, pid: Pid, task: Pid, queue: &mut VecDeque<Pid>) {
        if self.read_file(&format!("/proc/{pid}/task/{task}/children")) {
            let text = String::from_utf8_lossy(&self.buffer);
            let children = text.split_ascii_whitespace();
            queue.extend(children.filter_map(|pid| pid.parse::<Pid>().ok()));
        }
    }

    /// For kernels that do not list children: all processes, sorted out by their parents.
    fn descendants_by_scan(&mut self) -> VecDeque<Pid> {
        let Ok(entries) = fs::read_dir("/proc") else {
            return VecDeque::new();
        };
        let pids: Vec<Pid> = entries
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        let mut all: Vec<Process> = pids
            .into_iter()
            .filter_map(|pid| self.read_process(pid))
            .collect();
        let mut found = VecDeque::new();
        let mut parents = BTreeSet::from([self.own]);
        loop {
            let (children, rest): (Vec<_>, Vec<_>) = all
                .into_iter()
                .partition(|process| parents.contains(&process.parent));
            if children.is_empty() {
                return found;
            }
            parents = children.iter().map(|process| process.pid).collect();
            found.extend(&parents);
            all = rest;
        }
    }

    fn read_process(&mut self, pid: Pid) -> Option<Process> {
        if !self.read_file(&format!("/proc/{pid}/stat")) {
            return None;
        }
        parse_stat(pid, &self.buffer)
    }

    fn read_file(&mut self, path: &str) -> bool {
        self.buffer.clear();
        let read = fs::File::open(path).and_then(|mut file| file.read_to_end(&mut self.buffer));
        read.is_ok()
    }

    /// Returns the memory and time that the descendants use. It stops adding up when more than `most` processes are alive.
    pub(super) fn usage(&mut self, most: u32) -> Usage {
        let mut usage = Usage::default();
        let mut ticks = 0;
        self.walk(|tree, process| {
            usage.processes += u32::from(process.is_alive());
            usage.resident += process.resident * tree.page;
            ticks += process.ticks;
            continue_if(usage.processes <= most)
        });
        usage.cpu = Duration::from_millis(ticks * 1000 / self.ticks_per_second);
        usage
    }

    /// How long each descendant that is alive has waited for a processor since it began, where the kernel tells
    /// (`CONFIG_SCHED_INFO`). Of several threads the one that has waited longest counts.
    pub(super) fn waits(&mut self) -> BTreeMap<Pid, Duration> {
        let mut found = BTreeMap::new();
        self.walk(|tree, process| {
            let pid = process.pid;
            let tasks = if process.threads <= 1 {
                vec![pid]
            } else {
                tasks_of(pid)
            };
            let waits = tasks.into_iter().filter_map(|task| {
                let is_read = tree.read_file(&format!("/proc/{pid}/task/{task}/schedstat"));
                is_read.then(|| parse_wait(&String::from_utf8_lossy(&tree.buffer)))?
            });
            if let Some(longest) = waits.max() {
                found.insert(pid, longest);
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// The resident memory of the descendants with shared pages counted once, in bytes. Costs
    /// more than [`Tree::usage`], so it is asked for only when that gives cause.
    pub(super) fn proportional_memory(&mut self) -> u64 {
        let mut sum = 0;
        self.walk(|tree, process| {
            let rollup = if tree.read_file(&format!("/proc/{}/smaps_rollup", process.pid)) {
                parse_pss(&String::from_utf8_lossy(&tree.buffer))
            } else {
                None
            };
            sum += rollup.unwrap_or(process.resident * tree.page);
            ControlFlow::Continue(())
        });
        sum
    }

    /// Returns the only descendant that computes, if it has one thread, and the other descendants, if all of them wait for children or each
    /// other. Nothing but timers can then stop it or send it anything.
    pub(super) fn computing_alone(&mut self) -> Option<(Pid, Vec<Pid>)> {
        let (mut computing, mut waiting, mut others) = (Vec::new(), Vec::new(), false);
        self.walk(|tree, process| {
            match process.state {
                _ if !process.is_alive() => {}
                b'R' if process.threads == 1 => computing.push(process.pid),
                _ if tree.waits_for_others(&process) => waiting.push(process.pid),
                _ => others = true,
            }
            continue_if(!others && computing.len() <= 1)
        });
        match computing[..] {
            [only] if !others => Some((only, waiting)),
            _ => None,
        }
    }

    /// Returns whether a process sleeps until another process of the tree writes to it or ends: it waits for its children, or
    /// reads from pipes of the run. Timers are not looked at.
    fn waits_for_others(&mut self, process: &Process) -> bool {
        let pid = process.pid;
        if process.threads != 1 {
            return false;
        }
        let call = self.system_call(&format!("/proc/{pid}"));
        call.is_some_and(|(call, arguments)| self.is_for_others(pid, call, &arguments))
    }

    /// The system call in which a process or a thread waits, and its arguments; `None` if it does not wait. `path` is its
    /// folder in `/proc`.
    pub(super) fn system_call(&mut self, path: &str) -> Option<(i64, Vec<u64>)> {
        if !self.read_file(&format!("{path}/syscall")) {
            return None;
        }
        let text = String::from_utf8_lossy(&self.buffer);
        let mut words = text.split_ascii_whitespace();
        let call: i64 = words.next()?.parse().ok()?;
        let arguments =
            words.map_while(|word| u64::from_str_radix(word.strip_prefix("0x")?, 16).ok());
        Some((call, arguments.collect()))
    }

    /// Whether a system call of a process waits for its children, or for pipes of the run.
    pub(super) fn is_for_others(&self, pid: Pid, call: i64, arguments: &[u64]) -> bool {
        match (call, arguments) {
            (libc::SYS_wait4 | libc::SYS_waitid, _) => true,
            (libc::SYS_read, [file, ..]) => self.is_pipe_of_the_run(pid, *file as RawFd),
            (libc::SYS_poll, [files, count, time, ..]) if *time as i32 == -1 => {
                self.are_pipes_of_the_run(pid, *files, *count)
            }
            (libc::SYS_ppoll, [files, count, 0, ..]) => {
                self.are_pipes_of_the_run(pid, *files, *count)
            }
            _ => false,
        }
    }

    /// Whether the files that a process polls are such pipes: `count` structures at an address of it.
    fn are_pipes_of_the_run(&self, pid: Pid, files: u64, count: u64) -> bool {
        const MOST: u64 = 64;
        const SIZE: usize = size_of::<libc::pollfd>();
        let Ok(memory) = fs::File::open(format!("/proc/{pid}/mem")) else {
            return false;
        };
        let mut polled = vec![0; SIZE * count.min(MOST) as usize];
        if count > MOST || memory.read_exact_at(&mut polled, files).is_err() {
            return false;
        }
        polled.chunks(SIZE).all(|entry| {
            let file = i32::from_ne_bytes([entry[0], entry[1], entry[2], entry[3]]);
            // Negative ones are left out.
            file < 0 || self.is_pipe_of_the_run(pid, file)
        })
    }

    /// Whether a file of a process is a pipe, and not one of those that the command was given.
    fn is_pipe_of_the_run(&self, pid: Pid, file: RawFd) -> bool {
        let pipe = |path: String| fs::read_link(path).ok();
        let Some(own) = pipe(format!("/proc/{pid}/fd/{file}")) else {
            return false;
        };
        let is_pipe = own.to_str().is_some_and(|name| name.starts_with("pipe:"));
        let given = fs::read_dir("/proc/self/fd").into_iter().flatten();
        let mut given = given
            .flatten()
            .filter_map(|entry| fs::read_link(entry.path()).ok());
        is_pipe && !given.any(|given| given == own)
    }

    /// Number of descendants that are alive, or some number above `most` if there are more.
    pub(super) fn count_alive(&mut self, most: u32) -> u32 {
        self.usage(most).processes
    }

    /// Asks every descendant to end, also those that are stopped. At most `most` of them, lest
    /// they multiply faster than they can be asked.
    pub(super) fn ask_all_to_end(&mut self, most: u32) {
        for signal in [libc::SIGTERM, libc::SIGCONT] {
            self.signal_all(signal, most);
        }
    }

    /// Sends a signal to the descendants that are alive, to no more than `most` and one; returns to
    /// how many.
    fn signal_all(&mut self, signal: i32, most: u32) -> u32 {
        let mut groups = BTreeSet::new();
        let mut signalled = 0;
        self.walk(|tree, process| {
            if process.is_alive() {
                signalled += 1;
                tree.signal(&process, signal, &mut groups);
            }
            continue_if(signalled <= most)
        });
        signalled
    }

    /// Sends a signal to a process with its whole group, at once, so that no fork slips through;
    /// unless the group is one of those that have got it already. Groups of descendants hold
    /// nothing but descendants, because every command starts a session of its own.
    fn signal(&mut self, process: &Process, signal: i32, groups: &mut BTreeSet<Pid>) {
        if !process.is_alive() {
            return;
        }
        if process.group <= 1 || process.group == self.own_group {
            self.signal_exactly(process, signal);
        } else if groups.insert(process.group) {
            sys::signal_number(-process.group, signal);
        }
    }

    /// Sends a signal to one process, not to a stranger that got its number since it was listed.
    fn signal_exactly(&mut self, process: &Process, signal: i32) {
        let Some(exact) = sys::open_process(process.pid) else {
            sys::signal_number(process.pid, signal);
            return;
        };
        let parent = self.read_process(process.pid).map(|now| now.parent);
        if parent == Some(process.parent) || parent == Some(self.own) {
            sys::signal_process(&exact, signal);
        }
    }

    /// Kills every descendant and reaps them all.
    ///
    /// They are stopped first: while all stand still none can fork, replace another that was
    /// killed, or escape.
    pub(super) fn kill_all(&mut self) -> Killed {
        let mut killed = Killed::default();
        if killed.reap(self) {
            return killed;
        }
        let _precedence = sys::Precedence::take();
        let start = Instant::now();
        let mut progress = start;
        while !killed.reap(self) {
            let before = killed.reaped;
            self.freeze();
            let signalled = self.signal_all(libc::SIGKILL, u32::MAX);
            // Those that were killed need the processor to end; looking at them again before they
            // had it would only take it from them.
            let patience = Instant::now() + Duration::from_millis(5) + DYING * signalled;
            let mut pause = Duration::from_micros(100);
            while Instant::now() < patience {
                if killed.reap(self) {
                    return killed;
                }
                sys::pause(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
            let now = Instant::now();
            if killed.reaped > before {
                progress = now;
            }
            if now - progress > KILL_STALL || now - start > KILL_DEADLINE {
                killed.survivors = self.count_alive(u32::MAX);
                break;
            }
        }
        killed
    }

    /// Stops every descendant, also those that are forked meanwhile.
    ///
    /// A fork bomb makes new processes while the old ones are listed, so listing all again and
    /// again may never come to an end. The kernel gives out process ids in ascending order:
    /// after the first pass only those are looked at that are newer, and each pass is shorter
    /// than the one before.
    fn freeze(&mut self) {
        let mut newest = self.newest_pid();
        let mut known = BTreeSet::from([self.own]);
        self.walk(|tree, process| {
            known.insert(process.pid);
            tree.stop(&process);
            ControlFlow::Continue(())
        });
        for _ in 0..1000 {
            let since = newest;
            newest = self.newest_pid();
            let mut found = false;
            // After a wrap-around the range is empty, and the caller comes back.
            for pid in since.saturating_add(1)..=newest {
                // The parent of an orphan is the supervisor itself.
                if let Some(process) = self.read_process(pid)
                    && known.contains(&process.parent)
                {
                    known.insert(pid);
                    self.stop(&process);
                    found = true;
                }
            }
            if !found {
                return;
            }
        }
    }

    fn stop(&mut self, process: &Process) {
        if !matches!(process.state, b'T' | b't') {
            self.signal(process, libc::SIGSTOP, &mut BTreeSet::new());
        }
    }

    /// The process id that was given out last.
    fn newest_pid(&mut self) -> Pid {
        if !self.read_file("/proc/loadavg") {
            return 0;
        }
        let text = String::from_utf8_lossy(&self.buffer);
        let last = text.split_ascii_whitespace().last();
        last.and_then(|pid| pid.parse().ok()).unwrap_or(0)
    }
}

fn continue_if(condition: bool) -> ControlFlow<()> {
    if condition {
        ControlFlow::Continue(())
    } else {
        ControlFlow::Break(())
    }
}

/// The result of [`Tree::kill_all`].
#[derive(Debug, Default)]
pub(super) struct Killed {
    /// How many could not be killed.
    pub(super) survivors: u32,
    /// Processor time of those that were reaped.
    pub(super) cpu: Duration,
    /// The largest resident memory of one that was reaped, in bytes.
    pub(super) peak: u64,
    reaped: u64,
}

impl Killed {
    /// Reaps what has ended; tells whether there is no child left.
    fn reap(&mut self, tree: &mut Tree) -> bool {
        loop {
            match tree.reap() {
                Reaped::Child { cpu, peak, .. } => {
                    self.reaped += 1;
                    self.cpu += cpu;
                    self.peak = self.peak.max(peak);
                }
                Reaped::NoneEnded => return false,
                Reaped::NoChild => return true,
            }
        }
    }
}

/// The threads of a process.
fn tasks_of(pid: Pid) -> Vec<Pid> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"));
    let names = entries.into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    names.filter_map(number).collect()
}

/// How long a thread has waited for a processor, by its `schedstat`: the second of its numbers, in nanoseconds.
fn parse_wait(schedstat: &str) -> Option<Duration> {
    let number = schedstat.split_ascii_whitespace().nth(1)?;
    number.parse().ok().map(Duration::from_nanos)
}

/// Parses `/proc/PID/stat`. The name in parentheses may hold anything, so fields are counted from
/// the last parenthesis.
fn parse_stat(pid: Pid, stat: &[u8]) -> Option<Process> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    // Field 3 of proc(5) has index 0 here.
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index - 3)?.parse::<i64>().ok();
    let unsigned = |index| number(index).map(|n| n.max(0) as u64);
    Some(Process {
        pid,
        state: *fields.first()?.as_bytes().first()?,
        parent: number(4)? as Pid,
        group: number(5)? as Pid,
        ticks: (14..=17).map(unsigned).sum::<Option<u64>>()?,
        threads: unsigned(20)?,
        resident: unsigned(24)?,
    })
}

/// The proportional set size of `/proc/PID/smaps_rollup`, in bytes.
fn parse_pss(rollup: &str) -> Option<u64> {
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_name_with_parentheses_does_not_confuse_the_parser() {
        let stat = b"42 (a) R (b)) S 7 40 40 0 -1 4194560 1 2 3 4 10 20 30 40 20 0 3 0 99 1000 25 \
                     18446744073709551615 0";
        let process = parse_stat(42, stat).unwrap();
        assert_eq!((process.pid, process.parent, process.group), (42, 7, 40));
        assert_eq!((process.state, process.threads), (b'S', 3));
        assert_eq!((process.ticks, process.resident), (100, 25));
        assert!(parse_stat(1, b"garbage").is_none());
    }

    #[test]
    fn the_second_number_of_schedstat_is_how_long_a_thread_has_waited() {
        let wait = Some(Duration::from_nanos(77021));
        assert_eq!(parse_wait("1048002 77021 6\n"), wait);
        assert_eq!(parse_wait(""), None);
    }

    #[test]
    fn the_proportional_size_is_read_in_bytes() {
        assert_eq!(
            parse_pss("00 ---p\nRss:  10 kB\nPss:        1234 kB\n"),
            Some(1234 * 1024)
        );
        assert_eq!(parse_pss("Rss: 1 kB\n"), None);
    }
}
