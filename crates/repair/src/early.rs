//! Verifies patches while the search goes on, so that the first one can be shown at once.
//!
//! The search does not depend on the results. The final verification takes them over instead of finding them out itself. So the
//! report is the same, with one exception: a patch that was shown stays in it.

use std::{
    collections::BTreeSet,
    path::PathBuf,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use patchwright_exec::Project;

use crate::{
    Event, RepairOptions, Surroundings,
    changed_file::Candidate,
    check::{Beyond, check_all},
    found::FoundClass,
    patch::Patch,
    prepare::Prepared,
    ranking::{Places, ranked},
};

/// After the first patch, this part of the time goes to further ones: they take processors away from the search.
const SHARE: u32 = 2;

/// So many times the patches of a report are verified here: what has turned out to be none makes room for others.
const MOST_VERIFIED: usize = 3;

/// When so many have passed, others can wait until the next locations have been looked at.
const ENOUGH_SHOWN: usize = 3;

/// The largest number of waiting classes. The report has room for some of them, and the first ones are the cheapest.
const MOST_WAITING: usize = 64;

/// So often it is looked whether it is time for another one.
const PACE: Duration = Duration::from_millis(100);

/// Verifies candidates that pass all tests while the search goes on, so that the user sees a patch early.
pub(crate) struct Early<'e, 'a> {
    pub(crate) prepared: &'e Prepared,
    pub(crate) project: &'a Project,
    pub(crate) options: &'e RepairOptions,
    pub(crate) surroundings: &'e Surroundings<'a>,
    queue: Mutex<Queue>,
    changed: Condvar,
    /// Classes whose first candidate has failed.
    rejected: AtomicUsize,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    /// Diffs that have been waiting.
    seen: BTreeSet<Vec<u8>>,
    is_over: bool,
    /// The next one is verified at once, however much time verification has had.
    is_urgent: bool,
    /// One is being verified.
    is_busy: bool,
    /// No more are verified.
    has_ended: bool,
}

/// The first candidate of a class.
struct Waiting {
    /// What keeps something from being done comes last.
    is_evasion: bool,
    /// The likelier comes first, and then what was found first.
    bits: f64,
    number: usize,
    file: PathBuf,
    text: Vec<u8>,
    visited_by: Option<BTreeSet<usize>>,
    patch: Patch,
}

impl Waiting {
    /// Which of two is verified first.
    fn order(&self, other: &Waiting) -> std::cmp::Ordering {
        let by_kind = self.is_evasion.cmp(&other.is_evasion);
        let by_bits = self.bits.total_cmp(&other.bits);
        by_kind.then(by_bits).then(self.number.cmp(&other.number))
    }
}

/// Ends [`Early::work`] when the search ends, however that is.
pub(crate) struct Ender<'r, 'e, 'a>(&'r Early<'e, 'a>);

impl Drop for Ender<'_, '_, '_> {
    fn drop(&mut self) {
        self.0.queue().is_over = true;
        self.0.changed.notify_all();
    }
}

impl<'e, 'a> Early<'e, 'a> {
    /// Starts with an empty queue.
    pub(crate) fn new(
        prepared: &'e Prepared,
        project: &'a Project,
        options: &'e RepairOptions,
        surroundings: &'e Surroundings<'a>,
    ) -> Self {
        Early {
            prepared,
            project,
            options,
            surroundings,
            queue: Mutex::default(),
            changed: Condvar::new(),
            rejected: AtomicUsize::new(0),
        }
    }

    /// Returns the number of classes whose first candidates have failed verification.
    pub(crate) fn rejected(&self) -> usize {
        self.rejected.load(Ordering::Relaxed)
    }

    /// Returns an [`Ender`].
    pub(crate) fn ender(&self) -> Ender<'_, 'e, 'a> {
        Ender(self)
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the first candidate of a new class verified.
    pub(crate) fn propose(&self, class: &FoundClass, places: Places<'_>) {
        if self.queue().waiting.len() >= MOST_WAITING {
            return;
        }
        let proposals = ranked(std::slice::from_ref(class), places);
        let waiting = proposals.iter().find_map(|proposal| {
            let (file, text, diff) = proposal.applied(places)?;
            Some(Waiting {
                is_evasion: proposal.is_evasion,
                bits: proposal.bits,
                number: 0,
                file: file.to_path_buf(),
                text,
                visited_by: proposal.visited_by(places).cloned(),
                patch: proposal.patch(places, diff),
            })
        });
        let mut queue = self.queue();
        if let Some(mut waiting) = waiting
            && queue.seen.insert(waiting.patch.diff.clone())
        {
            waiting.number = queue.seen.len();
            queue.waiting.push(waiting);
        }
        drop(queue);
        self.changed.notify_all();
    }

    /// Verifies waiting candidates one by one until the search is over. Up to half a report of those that pass is shown at once and keeps
    /// its place in the report. The final verification reuses the results of the others.
    pub(crate) fn work(&self) {
        self.verify_all();
        self.queue().has_ended = true;
        self.changed.notify_all();
    }

    fn verify_all(&self) {
        let (mut busy, mut first_since) = (Duration::ZERO, None);
        // A brief round is waited for, and this takes as long as a build or two: it is left to the next round.
        let mut is_scrutiny_ready = self.options.catches_up.is_some();
        if !is_scrutiny_ready && !self.prepared.checks.early().is_empty() {
            is_scrutiny_ready = true;
            self.make_scrutiny_ready();
        }
        for _ in 0..self.options.max_patches.saturating_mul(MOST_VERIFIED) {
            let Some(next) = self.next(busy, first_since) else {
                return;
            };
            let begun = Instant::now();
            let goes_on = self.verify(&next);
            let mut queue = self.queue();
            queue.is_busy = false;
            let is_idle = queue.waiting.is_empty();
            drop(queue);
            self.changed.notify_all();
            if !goes_on {
                return;
            }
            busy += begun.elapsed();
            if self.prepared.checks.early().is_empty() {
                continue;
            }
            first_since.get_or_insert(begun);
            // Verification of what waits tells more.
            if is_idle && !is_scrutiny_ready {
                is_scrutiny_ready = true;
                self.make_scrutiny_ready();
            }
        }
    }

    /// Builds what the sanitizers look at. It is needed in the end; whatever is wrong with it shows then.
    fn make_scrutiny_ready(&self) {
        let quiet = |event: Event| self.only_warnings(event);
        let surroundings = self.surroundings.telling(&quiet);
        let _ = self
            .prepared
            .scrutiny(self.project, self.options, &surroundings);
    }

    /// Waits until the search's finds are verified or enough patches are shown, at most for this time.
    pub(crate) fn catch_up(&self, most: Duration) {
        let begun = Instant::now();
        let mut queue = self.queue();
        queue.is_urgent = true;
        self.changed.notify_all();
        loop {
            let is_done = queue.has_ended || queue.waiting.is_empty() && !queue.is_busy;
            let is_shown = self.prepared.checks.early().len() >= ENOUGH_SHOWN;
            let is_cancelled = self.surroundings.cancel.is_cancelled();
            if is_done || is_shown || is_cancelled || begun.elapsed() >= most {
                break;
            }
            let waited = self.changed.wait_timeout(queue, PACE);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        queue.is_urgent = false;
    }

    /// Waits for what is verified next; `None` at the end of the search.
    fn next(&self, busy: Duration, first_since: Option<Instant>) -> Option<Waiting> {
        let mut queue = self.queue();
        loop {
            if queue.is_over || self.surroundings.cancel.is_cancelled() {
                return None;
            }
            let is_time =
                queue.is_urgent || first_since.is_none_or(|since| busy * SHARE <= since.elapsed());
            let waiting = queue.waiting.iter().enumerate();
            let best = waiting.min_by(|(_, a), (_, b)| a.order(b));
            if let Some(best) = best.map(|(at, _)| at).filter(|_| is_time) {
                queue.is_busy = true;
                return Some(queue.waiting.swap_remove(best));
            }
            let waited = self.changed.wait_timeout(queue, PACE);
            queue = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn only_warnings(&self, event: Event) {
        if let Event::Warning(_) = event {
            (self.surroundings.events)(event);
        }
    }

    /// Verifies one; whether others can be. It is shown unless it passes only by what C does not define, which is asked at once if that
    /// takes little time.
    fn verify(&self, waiting: &Waiting) -> bool {
        let quiet = |event: Event| self.only_warnings(event);
        let surroundings = self.surroundings.telling(&quiet);
        let is_quick = self.options.scrutinize && self.prepared.is_scrutinized_quickly();
        let scrutinize = is_quick.then_some(self.options);
        let candidate = Candidate {
            file: &waiting.file,
            text: &waiting.text,
            diff: &waiting.patch.diff,
            visited_by: waiting.visited_by.as_ref(),
            function: None,
        };
        let results = check_all(
            "early",
            &[candidate],
            self.prepared,
            self.project,
            &surroundings,
            &Beyond {
                scrutinize,
                passes: &|_| {},
                hurries: false,
            },
        );
        for result in results {
            match result {
                Ok(checked) if checked.rejection.is_none() && checked.undefined.is_none() => {
                    // The report needs room for better ones.
                    if self.prepared.checks.early().len() * 2 >= self.options.max_patches {
                        continue;
                    }
                    let patch = waiting.patch.clone();
                    self.prepared.checks.early().push(patch.clone());
                    self.prepared.checks.show(&patch);
                    (self.surroundings.events)(Event::Passed {
                        patch: Box::new(patch),
                        is_scrutinized: scrutinize.is_some() && !checked.is_unscrutinized,
                    });
                }
                Ok(checked) if checked.rejection.is_none() => {}
                Ok(_) => {
                    self.rejected.fetch_add(1, Ordering::Relaxed);
                }
                // If it is not because the time is over, the final verification meets it, too.
                Err(_) => return false,
            }
        }
        true
    }
}
