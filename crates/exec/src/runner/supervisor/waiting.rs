//! Measures how long a command has waited for a processor. That time does not count against its limit, because on an overloaded machine a
//! command gets less done in the same time.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::sys::Pid;
use super::tree::Tree;

/// The time for which a command has waited for a processor.
#[derive(Debug)]
pub(super) struct Waiting {
    /// For each process alive at the last look, how long it has waited since it began.
    known: BTreeMap<Pid, Duration>,
    last: Instant,
    total: Duration,
}

impl Waiting {
    /// None, for a command that begins now.
    pub(super) fn new(started: Instant) -> Self {
        Self {
            known: BTreeMap::new(),
            last: started,
            total: Duration::ZERO,
        }
    }

    /// Returns the time that was waited for a processor, as far as it is known.
    pub(super) fn total(&self) -> Duration {
        self.total
    }

    /// Looks at the processes of the command.
    pub(super) fn look(&mut self, tree: &mut Tree) {
        let now = Instant::now();
        let waits = tree.waits();
        self.note(waits, now.saturating_duration_since(self.last));
        self.last = now;
    }

    /// Takes in what each process has waited since it began, and how long the last look is ago. Processes beside each other wait at the
    /// same time, so that counts by which the one has waited longest that has waited most.
    fn note(&mut self, waits: BTreeMap<Pid, Duration>, since: Duration) {
        let grown = waits.iter().map(|(pid, wait)| {
            let before = self.known.get(pid).copied().unwrap_or_default();
            wait.saturating_sub(before)
        });
        self.total += grown.max().unwrap_or_default().min(since);
        self.known = waits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(of: &[(Pid, u64)]) -> BTreeMap<Pid, Duration> {
        let milliseconds = of.iter();
        milliseconds
            .map(|(pid, wait)| (*pid, Duration::from_millis(*wait)))
            .collect()
    }

    #[test]
    fn of_processes_beside_each_other_the_longest_wait_counts() {
        let mut waiting = Waiting::new(Instant::now());
        let since = Duration::from_millis(20);
        for (now, total) in [
            (&[(7, 5), (8, 3)][..], 5),
            (&[(7, 5), (8, 13)], 15),
            // One has ended, another has begun, and waited for longer than there was time.
            (&[(7, 6), (9, 40)], 35),
            (&[(7, 6), (9, 40)], 35),
            (&[], 35),
        ] {
            waiting.note(waits(now), since);
            assert_eq!(waiting.total(), Duration::from_millis(total));
        }
    }
}
