//! What a run did when, for viewers of Chrome's trace format: phases, and each command on the row of the thread that waited for it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::files::{self, FileError};

/// More commands are not kept, so that memory stays small.
const MOST: usize = 500_000;

/// The row of phases.
const PHASES: usize = 0;

static TIMELINE: OnceLock<Timeline> = OnceLock::new();

struct Timeline {
    began: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    events: Vec<Event>,
    rows: HashMap<ThreadId, usize>,
    phase: Option<(String, Instant)>,
    left_out: usize,
}

/// As the format has it; times are in microseconds.
#[derive(Serialize)]
struct Event {
    name: String,
    cat: &'static str,
    ph: &'static str,
    ts: u64,
    dur: u64,
    pid: u32,
    tid: usize,
}

#[derive(Serialize)]
struct RowName {
    name: &'static str,
    ph: &'static str,
    pid: u32,
    tid: usize,
    args: NameOfRow,
}

#[derive(Serialize)]
struct NameOfRow {
    name: String,
}

/// Starts to record phases and commands with their times, for `--trace`.
pub fn keep() {
    let _ = TIMELINE.set(Timeline {
        began: Instant::now(),
        state: Mutex::default(),
    });
}

impl Timeline {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(
        &self,
        state: &mut State,
        name: String,
        kind: &'static str,
        row: usize,
        span: (Instant, Duration),
    ) {
        if state.events.len() >= MOST {
            state.left_out += 1;
            return;
        }
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        state.events.push(Event {
            name,
            cat: kind,
            ph: "X",
            ts: micros(span.0.saturating_duration_since(self.began)),
            dur: micros(span.1),
            pid: 1,
            tid: row,
        });
    }

    fn end_phase(&self, state: &mut State) {
        if let Some((name, began)) = state.phase.take() {
            self.add(state, name, "phase", PHASES, (began, began.elapsed()));
        }
    }
}

/// Records that the phase `name` begins and the phase before it ends. Does nothing unless [`keep`] was called.
pub fn phase(name: &str) {
    if let Some(timeline) = TIMELINE.get() {
        let mut state = timeline.state();
        timeline.end_phase(&mut state);
        state.phase = Some((name.to_owned(), Instant::now()));
    }
}

/// A command was run since then. `name` is asked only if that is kept.
pub(crate) fn command(began: Instant, name: impl FnOnce() -> String) {
    if let Some(timeline) = TIMELINE.get() {
        let mut state = timeline.state();
        let next = state.rows.len() + 1;
        let row = *state
            .rows
            .entry(std::thread::current().id())
            .or_insert(next);
        timeline.add(&mut state, name(), "command", row, (began, began.elapsed()));
    }
}

/// Writes the recorded phases and commands to `path` in Chrome's trace format. Returns how many commands were left out because there
/// were too many.
///
/// # Errors
/// A file that cannot be written.
pub fn write(path: &Path) -> Result<usize, FileError> {
    let Some(timeline) = TIMELINE.get() else {
        return Ok(0);
    };
    let mut state = timeline.state();
    timeline.end_phase(&mut state);
    let rows = std::iter::once((PHASES, "phases".to_owned()))
        .chain((1..=state.rows.len()).map(|row| (row, format!("worker {row}"))));
    let names = rows.map(|(tid, name)| RowName {
        name: "thread_name",
        ph: "M",
        pid: 1,
        tid,
        args: NameOfRow { name },
    });
    // Strings and numbers only: this cannot fail.
    let lines = names.filter_map(|name| serde_json::to_string(&name).ok());
    let events = state.events.iter();
    let lines = lines.chain(events.filter_map(|event| serde_json::to_string(event).ok()));
    let lines: Vec<String> = lines.collect();
    let text = format!("{{\"traceEvents\":[\n{}\n]}}\n", lines.join(",\n"));
    files::write_atomic(path, text.as_bytes())?;
    Ok(state.left_out)
}
