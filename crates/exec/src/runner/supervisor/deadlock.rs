//! Detects deadlocks of a run: every thread of every process waits for another one of them.
//!
//! All threads are inspected at least twice. A thread has waited all the time if it waits at both inspections and the kernel's count
//! of its context switches is the same. So at one moment between the inspections all threads waited at once. Each waits for
//! another one: for a futex without a time limit, for its children, for a pipe of the run, or for a signal. Only a timer could
//! end that, and there is none.
//!
//! The verdict is that of a time-out, as for endless loops (`endless`). A run that waits for anything else, such as a time or a
//! socket, goes on until its time-out.

use std::fs;
use std::ops::ControlFlow;
use std::time::Duration;

use super::endless;
use super::sys::Pid;
use super::tree::{Process, Tree};

/// Most threads that are looked at.
const MOST_THREADS: usize = 1024;

/// A thread that waits.
#[derive(Debug, PartialEq, Eq)]
struct Waiting {
    process: Pid,
    thread: Pid,
    /// How often it was switched to another one.
    switches: Vec<String>,
    /// It waits for a futex, at this address.
    futex: Option<u64>,
}

impl Tree {
    /// Whether none of the descendants will ever do anything.
    pub(super) fn is_deadlocked(&mut self) -> bool {
        // The question for timers lets threads run for a moment, so it stands before and behind the two looks. A timer
        // that is set behind the first and is over before the second has brought somebody to another place.
        let Some(first) = self.all_waiting().filter(|all| !all.is_empty()) else {
            return false;
        };
        self.are_timeless(&first)
            && self.waits_again(&first)
            && self.are_timeless(&first)
            && self.waits_again(&first)
    }

    /// Whether all wait at one moment, where they waited before. Those that were stopped get some time to begin again.
    fn waits_again(&mut self, before: &[Waiting]) -> bool {
        const TRIES: u32 = 50;
        let places = |all: &[Waiting]| -> Vec<(Pid, Option<u64>)> {
            all.iter().map(|one| (one.thread, one.futex)).collect()
        };
        (0..TRIES).any(|_| {
            let now = self.all_waiting();
            let is_back = now
                .as_ref()
                .is_some_and(|now| places(now) == places(before));
            if is_back && self.all_waiting() == now {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
            false
        })
    }

    /// All threads of the descendants, if each waits for others of them.
    fn all_waiting(&mut self) -> Option<Vec<Waiting>> {
        let mut all = Some(Vec::new());
        self.walk(|tree, process| {
            if !process.is_alive() {
                return ControlFlow::Continue(());
            }
            let own = tree.waiting_threads(&process);
            all = all.take().zip(own).map(|(mut all, own)| {
                all.extend(own);
                all
            });
            match &all {
                Some(all) if all.len() <= MOST_THREADS => ControlFlow::Continue(()),
                _ => {
                    all = None;
                    ControlFlow::Break(())
                }
            }
        });
        all
    }

    /// The threads of a process, if each waits.
    fn waiting_threads(&mut self, process: &Process) -> Option<Vec<Waiting>> {
        let pid = process.pid();
        let mut threads = Vec::new();
        for task in fs::read_dir(format!("/proc/{pid}/task")).ok()? {
            threads.push(task.ok()?.file_name().to_str()?.parse::<Pid>().ok()?);
        }
        threads.sort_unstable();
        let mut waiting = Vec::new();
        for thread in threads {
            let path = format!("/proc/{pid}/task/{thread}");
            let (call, arguments) = self.system_call(&path)?;
            let futex = futex_without_limit(call, &arguments);
            let waits = futex.is_some()
                || matches!(call, libc::SYS_pause | libc::SYS_rt_sigsuspend)
                || self.is_for_others(pid, call, &arguments);
            if !waits {
                return None;
            }
            let status = fs::read_to_string(format!("{path}/status")).ok()?;
            let counts = status.lines().filter(|line| line.contains("ctxt_switches"));
            waiting.push(Waiting {
                process: pid,
                thread,
                switches: counts.map(str::to_owned).collect(),
                futex,
            });
        }
        Some(waiting)
    }

    /// Whether nothing but these threads ends what they wait for: no timer, and nobody else who could change a futex.
    fn are_timeless(&self, all: &[Waiting]) -> bool {
        let mut processes: Vec<Pid> = all.iter().map(|one| one.process).collect();
        processes.dedup();
        processes.into_iter().all(|process| {
            let own = all.iter().filter(|one| one.process == process);
            let futexes: Vec<u64> = own.filter_map(|one| one.futex).collect();
            endless::waits_without_timer(process, &futexes)
        })
    }
}

/// The address of the futex for which a system call waits, if no time limits that.
fn futex_without_limit(call: i64, arguments: &[u64]) -> Option<u64> {
    const WAITS: [i32; 4] = [
        libc::FUTEX_WAIT,
        libc::FUTEX_WAIT_BITSET,
        libc::FUTEX_LOCK_PI,
        libc::FUTEX_LOCK_PI2,
    ];
    let flags = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
    match arguments {
        [address, operation, _, 0, ..]
            if call == libc::SYS_futex && WAITS.contains(&(*operation as i32 & !flags)) =>
        {
            Some(*address)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_waits_without_a_time_limit_are_for_ever() {
        let private = (libc::FUTEX_WAIT_BITSET | libc::FUTEX_PRIVATE_FLAG) as u64;
        let wait = |limit| futex_without_limit(libc::SYS_futex, &[64, private, 0, limit, 0, 0]);
        assert_eq!(wait(0), Some(64));
        assert_eq!(wait(4096), None);
        let wake = [64, libc::FUTEX_WAKE as u64, 1, 0, 0, 0];
        assert_eq!(futex_without_limit(libc::SYS_futex, &wake), None);
        assert_eq!(
            futex_without_limit(libc::SYS_read, &[64, private, 0, 0]),
            None
        );
    }
}
