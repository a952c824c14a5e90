//! Shows progress: on a terminal one line that changes, elsewhere a line every ten seconds. Warnings are
//! always shown.

use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use patchwright_exec::timeline;
use patchwright_repair::Event;
use patchwright_report::screen::one_line;

use crate::{places::Places, shown};

/// So often a line is written where nothing can be written over.
const BEAT: Duration = Duration::from_secs(10);

/// Shows events on standard error.
pub struct Progress<'a> {
    places: &'a Places,
    bar: ProgressBar,
    phase: Mutex<(&'static str, Instant)>,
    /// When the run ends at the latest, if that is known.
    end: Option<Instant>,
    /// Where standard error is no terminal.
    beat: Mutex<Option<Heartbeat>>,
}

impl<'a> Progress<'a> {
    /// Makes a display. With `--quiet` it shows only warnings.
    pub fn new(places: &'a Places) -> Self {
        let bar = ProgressBar::new_spinner();
        let mut beat = None;
        if shown::is_quiet() {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        } else if std::io::stderr().is_terminal() {
            // A wide message is cut where the line ends.
            bar.set_style(
                ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar.enable_steady_tick(Duration::from_millis(120));
        } else {
            bar.set_draw_target(ProgressDrawTarget::hidden());
            beat = Some(Heartbeat::start(BEAT, |line| {
                eprintln!("patchwright: {line}")
            }));
        }
        Progress {
            places,
            bar,
            phase: Mutex::new(("", Instant::now())),
            end: None,
            beat: Mutex::new(beat),
        }
    }

    /// The same for a run that has so much time.
    pub fn within(self, budget: Option<Duration>) -> Self {
        Progress {
            end: budget.map(|budget| Instant::now() + budget),
            ..self
        }
    }

    /// Shows that a phase begins.
    pub fn phase(&self, name: &'static str) {
        *self.phase.lock().unwrap_or_else(PoisonError::into_inner) = (name, Instant::now());
        timeline::phase(name);
        self.message(name.to_owned());
    }

    /// Shows how far the phase is.
    pub fn progress(&self, done: usize, total: usize) {
        let (phase, since) = *self.phase.lock().unwrap_or_else(PoisonError::into_inner);
        let left = left(since.elapsed(), done, total);
        self.message(format!("{phase} {done}/{total}{left}"));
    }

    /// Shows a text on one line.
    pub fn message(&self, text: String) {
        let text = one_line(&text.replace('\n', " ")).into_owned();
        let beat = self.beat.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(beat) = &*beat {
            beat.set(&text);
        }
        self.bar.set_message(text);
    }

    /// Shows a warning, also with `--quiet`.
    pub fn warn(&self, text: &str) {
        let text = indented(&self.places.shown(text));
        self.bar
            .suspend(|| eprintln!("patchwright: warning: {text}"));
    }

    /// Shows a note, unless `--quiet` is given.
    pub fn note(&self, text: &str) {
        if shown::is_quiet() {
            return;
        }
        let text = indented(&self.places.shown(text));
        self.bar.suspend(|| eprintln!("patchwright: {text}"));
    }

    /// Returns the changing line. Other writers must suspend it.
    pub fn bar(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Calls `write`, which writes to the terminal itself, with the changing line removed.
    pub fn aside(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    /// Shows an event of a repair: a phase, its progress, a note or a warning.
    pub fn show(&self, event: Event) {
        match event {
            Event::Phase(name) => self.phase(name),
            Event::Progress { done, total } => self.progress(done, total),
            Event::Search {
                explored,
                executions,
                cost,
                plausible,
            } => self.message(format!(
                "searching, cost {cost}: {explored} candidates explored with {executions} \
                 executions, {plausible} plausible{}",
                self.most_left()
            )),
            Event::Declarations { done, total } => self.message(format!(
                "building changed declarations: {done} of {total} tried"
            )),
            Event::Warning(text) => self.warn(&text),
            Event::Note(text) => self.note(&text),
            Event::Passed { .. } | Event::Verified(_) | Event::Finishing(_) => {}
        }
    }

    /// How long the run can still take, where nothing tells how much is left to do.
    fn most_left(&self) -> String {
        let left = self
            .end
            .map(|end| end.saturating_duration_since(Instant::now()));
        left.map_or(String::new(), |left| {
            let left = HumanDuration(Duration::from_secs(left.as_secs()));
            format!(", at most {left:#} left")
        })
    }

    /// Removes the changing line for good.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Returns `", about 3 minutes left"`: the time for the other `total - done` steps at the pace so far. The text is empty in
/// the first five seconds and when nothing or everything is done.
pub fn left(elapsed: Duration, done: usize, total: usize) -> String {
    const LEAST: Duration = Duration::from_secs(5);
    if elapsed < LEAST || done == 0 || done >= total {
        return String::new();
    }
    let rest = elapsed.mul_f64((total - done) as f64 / done as f64);
    let rest = HumanDuration(Duration::from_secs(rest.as_secs().max(1)));
    format!(", about {rest:#} left")
}

/// A message whose further lines stand further in: a name with an end of line in it shall not look like another message.
fn indented(text: &str) -> String {
    text.replace('\n', "\n  ")
}

/// Writes the message that is current, again and again, until it is dropped.
struct Heartbeat {
    message: Arc<Mutex<String>>,
    /// Ends the thread when it goes.
    _end: Sender<()>,
}

impl Heartbeat {
    fn start(interval: Duration, mut write: impl FnMut(&str) + Send + 'static) -> Self {
        let message = Arc::new(Mutex::new(String::new()));
        let (end, ended) = channel::<()>();
        let current = message.clone();
        let started = Instant::now();
        std::thread::spawn(move || {
            while ended.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                let text = current
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .clone();
                if !text.is_empty() {
                    write(&format!("{text} ({} s)", started.elapsed().as_secs()));
                }
            }
        });
        Heartbeat { message, _end: end }
    }

    fn set(&self, text: &str) {
        let mut message = self.message.lock().unwrap_or_else(PoisonError::into_inner);
        text.clone_into(&mut message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_follows_from_what_is_done() {
        let seconds = Duration::from_secs;
        assert_eq!(left(seconds(60), 1, 3), ", about 2m left");
        assert_eq!(left(seconds(10), 50, 60), ", about 2s left");
        for (elapsed, done, total) in [(1, 1, 9), (60, 0, 9), (60, 9, 9)] {
            assert_eq!(left(seconds(elapsed), done, total), "");
        }
    }

    #[test]
    fn without_a_terminal_the_current_message_is_written_again_and_again_until_the_end() {
        let (sender, lines) = channel();
        let beat = Heartbeat::start(Duration::from_millis(1), move |line| {
            let _ = sender.send(line.to_owned());
        });
        beat.set("building");
        let line = lines.recv().unwrap();
        assert!(
            line.starts_with("building (") && line.ends_with(" s)"),
            "{line}"
        );
        beat.set("testing 3/7");
        assert!(lines.iter().any(|line| line.starts_with("testing 3/7 (")));
        drop(beat);
        // The thread ends, and what it writes with goes with it.
        assert!(lines.iter().all(|line| line.starts_with("testing")));
    }
}
