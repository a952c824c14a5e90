//! The host's side of the trace: which statements the processes of a run executed, and how each process ended.

use crate::shared::{self, SharedFileError};
use memmap2::MmapRaw;
use patchwright_probe_abi as abi;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::Ordering;
use tempfile::NamedTempFile;

/// Processes of a run whose last statements are kept; those of later ones are not.
const TRAILS: u32 = 256;

/// Memory in which the processes of one run after the other note what they execute; its file is removed when it is
/// dropped. One trace serves one worker.
pub struct Trace {
    file: NamedTempFile,
    memory: MmapRaw,
    layout: abi::TraceLayout,
}

/// How one process ended, and which statements it executed last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessEnd {
    /// The process.
    pub process: u32,
    /// It has called `exit` or returned from `main`. If not, it was ended by a signal or by a sanitizer, has called
    /// `_exit`, or has become another program by `exec`.
    pub exited: bool,
    /// The statements that it executed last, the latest first, as far back as is remembered.
    pub recent: Vec<u32>,
}

impl Trace {
    /// Makes a trace for programs whose statements have ids below `statements`, as a file in `folder` (best on a file
    /// system in memory).
    ///
    /// # Errors
    /// When the file cannot be made, filled or mapped.
    pub fn create(folder: &Path, statements: u32) -> Result<Self, SharedFileError> {
        let layout = abi::TraceLayout {
            statement_count: statements,
            trail_count: TRAILS,
        };
        let (file, memory) = shared::create(folder, "patchwright-trace-", layout.size())?;
        let trace = Self {
            file,
            memory,
            layout,
        };
        trace.reset();
        Ok(trace)
    }

    /// Returns the environment variables that a test needs. `probe` is the absolute path of a file
    /// with [`PROBE`](crate::PROBE).
    pub fn environment(&self, probe: &Path) -> [(&'static str, OsString); 2] {
        [
            (abi::PROBE_VARIABLE, probe.into()),
            (abi::TRACE_VARIABLE, self.file.path().into()),
        ]
    }

    /// Returns the path of the trace's file.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Forgets what was noted, before the next run. No process of the last run may be alive.
    pub fn reset(&self) {
        let shared = self.shared();
        shared.write_header();
        let taken = &shared.header().trails_taken;
        for number in 0..taken.swap(0, Ordering::Relaxed).min(TRAILS) {
            let Some(trail) = shared.trail(number) else {
                break;
            };
            trail.next.store(0, Ordering::Relaxed);
            trail.state.store(abi::TRAIL_FREE, Ordering::Relaxed);
        }
        for byte in shared.statements() {
            byte.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the number of processes that found the trace since the last reset, forked ones
    /// included.
    pub fn attached(&self) -> u32 {
        self.shared().header().trails_taken.load(Ordering::Relaxed)
    }

    /// Returns the statements executed since the last reset, in ascending order.
    pub fn executed(&self) -> Vec<u32> {
        (0..)
            .zip(self.shared().statements())
            .filter(|(_, byte)| byte.load(Ordering::Relaxed) != 0)
            .map(|(id, _)| id)
            .collect()
    }

    /// Returns how each process ended, in the order in which they began. Read it when the run has
    /// ended.
    pub fn ends(&self) -> Vec<ProcessEnd> {
        let shared = self.shared();
        (0..self.attached().min(TRAILS))
            .filter_map(|number| shared.trail(number))
            .filter_map(|trail| {
                let state = trail.state.load(Ordering::Relaxed);
                let next = trail.next.load(Ordering::Relaxed);
                let kept = next.min(abi::TRAIL_LENGTH as u32);
                let recent = (1..=kept)
                    .map(|back| {
                        let place = next.wrapping_sub(back) as usize % abi::TRAIL_LENGTH;
                        trail.statements[place].load(Ordering::Relaxed)
                    })
                    // A broken program may write anywhere.
                    .filter(|&id| id < self.layout.statement_count)
                    .collect();
                (state != abi::TRAIL_FREE).then(|| ProcessEnd {
                    process: trail.process.load(Ordering::Relaxed),
                    exited: state == abi::TRAIL_EXITED,
                    recent,
                })
            })
            .collect()
    }

    fn shared(&self) -> abi::TraceMemory<'_> {
        // SAFETY: the mapping lives as long as `self`, and is only used through traces.
        unsafe { abi::TraceMemory::new(self.memory.as_mut_ptr(), self.memory.len(), self.layout) }
            .expect("the file was made with the size of its layout")
    }
}
