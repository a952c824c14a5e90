//! Shows patches on standard error as soon as they are verified. Standard output has only the report,
//! which is the same in each run.

use std::io::IsTerminal;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use patchwright_repair::Patch;
use patchwright_report::text;

use crate::{progress::Progress, shown};

/// A patch waits so long for the report, which may follow at once and has it, too.
const PATIENCE: Duration = patchwright_repair::TOLD_AFTER;

/// Shows patches before the report.
pub struct EarlyPatches {
    shared: Arc<Shared>,
    style: text::Style,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: Vec<(Instant, String)>,
    shown: usize,
    is_over: bool,
}

impl EarlyPatches {
    /// Starts to show patches.
    pub fn start(progress: &Progress<'_>) -> Self {
        let style = text::Style {
            colour: shown::colour() && std::io::stderr().is_terminal(),
        };
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        if !shown::is_quiet() {
            let (shared, bar) = (shared.clone(), progress.bar());
            std::thread::spawn(move || shared.work(&bar, PATIENCE, |text| eprint!("{text}")));
        }
        EarlyPatches { shared, style }
    }

    /// Shows a verified patch. `is_scrutinized` says that it was already checked for undefined
    /// behaviour.
    pub fn show(&self, patch: &Patch, is_scrutinized: bool) {
        let text = text::early_patch(patch, is_scrutinized, self.style);
        self.shared.add(text);
    }

    /// Stops, because the report has all patches.
    pub fn end(&self) {
        self.shared.end();
    }
}

impl Shared {
    fn add(&self, text: String) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.waiting.push((Instant::now(), text));
        self.changed.notify_all();
    }

    fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_over = true;
        self.changed.notify_all();
    }

    fn work(&self, bar: &ProgressBar, patience: Duration, mut write: impl FnMut(&str)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        while !state.is_over {
            let since = state.waiting.first().map(|(since, _)| since.elapsed());
            let Some(left) = since.map(|since| patience.saturating_sub(since)) else {
                let waited = self.changed.wait(state);
                state = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if !left.is_zero() {
                let waited = self.changed.wait_timeout(state, left);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let (_, text) = state.waiting.remove(0);
            let heading = match state.shown {
                0 => {
                    "patchwright: this patch passes all tests on a clean copy; the work goes on, and better ones may be found"
                }
                _ => "patchwright: this patch passes all tests, too",
            };
            state.shown += 1;
            // The lock is held, so that the report does not begin meanwhile.
            bar.suspend(|| write(&format!("{heading}\n{text}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    fn shared() -> Arc<Shared> {
        Arc::new(Shared {
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    #[test]
    fn a_patch_that_the_report_does_not_follow_at_once_is_shown() {
        let (shared, (sender, texts)) = (shared(), channel());
        let worker = shared.clone();
        let thread = std::thread::spawn(move || {
            worker.work(&ProgressBar::hidden(), Duration::ZERO, |text| {
                let _ = sender.send(text.to_owned());
            });
        });
        shared.add("first\n".to_owned());
        let text = texts.recv().unwrap();
        assert!(
            text.ends_with("better ones may be found\nfirst\n"),
            "{text}"
        );
        shared.add("second\n".to_owned());
        assert!(texts.recv().unwrap().ends_with("too\nsecond\n"));
        shared.end();
        thread.join().unwrap();
        assert!(texts.recv().is_err());
    }

    #[test]
    fn a_patch_that_the_report_follows_at_once_is_left_to_it() {
        let shared = shared();
        shared.add("first\n".to_owned());
        shared.end();
        let never = Duration::from_secs(3600);
        shared.work(&ProgressBar::hidden(), never, |text| panic!("{text}"));
    }
}
