//! What a run tells while it works: a line that changes, on a terminal; warnings always.

use std::{io::IsTerminal, sync::Mutex, time::Duration};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use patchwright_repair::Event;

use crate::places::Places;

/// Shows events on standard error.
pub struct Progress<'a> {
    places: &'a Places,
    bar: ProgressBar,
    phase: Mutex<&'static str>,
}

impl<'a> Progress<'a> {
    /// A display; it stays silent but for warnings unless standard error is a terminal.
    pub fn new(places: &'a Places) -> Self {
        let bar = ProgressBar::new_spinner();
        if std::io::stderr().is_terminal() {
            bar.set_style(
                ProgressStyle::with_template("{spinner} {msg} ({elapsed})")
                    .unwrap_or_else(|_| ProgressStyle::default_spinner()),
            );
            bar.enable_steady_tick(Duration::from_millis(120));
        } else {
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
        Progress {
            places,
            bar,
            phase: Mutex::new(""),
        }
    }

    /// A phase begins.
    pub fn phase(&self, name: &'static str) {
        *self.phase.lock().unwrap_or_else(|e| e.into_inner()) = name;
        self.bar.set_message(name);
    }

    /// How far the phase is.
    pub fn progress(&self, done: usize, total: usize) {
        let phase = *self.phase.lock().unwrap_or_else(|e| e.into_inner());
        self.bar.set_message(format!("{phase} {done}/{total}"));
    }

    /// Shows any text.
    pub fn message(&self, text: String) {
        self.bar.set_message(text);
    }

    /// Something the user should know.
    pub fn warn(&self, text: &str) {
        let text = self.places.shown(text);
        self.bar
            .suspend(|| eprintln!("patchwright: warning: {text}"));
    }

    /// Something the user wants to know.
    pub fn note(&self, text: &str) {
        let text = self.places.shown(text);
        self.bar.suspend(|| eprintln!("patchwright: {text}"));
    }

    /// Does something that writes to the terminal.
    pub fn aside(&self, write: impl FnOnce()) {
        self.bar.suspend(write);
    }

    /// Shows an event.
    pub fn show(&self, event: Event) {
        match event {
            Event::Phase(name) => self.phase(name),
            Event::Progress { done, total } => self.progress(done, total),
            Event::Search {
                explored,
                executions,
                cost,
                plausible,
            } => self.bar.set_message(format!(
                "searching, cost {cost}: {explored} candidates explored with {executions} \
                 executions, {plausible} plausible classes"
            )),
            Event::Warning(text) => self.warn(&text),
            Event::Note(text) => self.note(&text),
            Event::Verified(_) => {}
        }
    }

    /// Removes the line.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
