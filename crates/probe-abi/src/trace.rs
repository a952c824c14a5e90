//! The memory in which woven programs note the statements that they execute.
//!
//! A file of its own, not a part of the channel: a *header*, one *trail* for each process, one byte for each statement
//! of the program. Statements are numbered from 0 across all files of a build. What a process wrote stays when it is
//! killed, because all of it is shared memory.

use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

/// The environment variable with the path of the trace.
pub const TRACE_VARIABLE: &str = "PATCHWRIGHT_TRACE";

/// The name of the trace in a run's folder.
pub const TRACE_FILE: &str = "trace";

/// The name of the probe's entry point for traces, of type [`TraceAttach`].
pub const TRACE_SYMBOL: &str = "patchwright_trace";

/// The version of [`TraceUnit`] and of the trace's layout.
pub const TRACE_VERSION: u32 = 1;

/// The first word of a trace.
pub const TRACE_MAGIC: u64 = u64::from_le_bytes(*b"PWtrace\0");

/// The number of last statements that a trail remembers, a power of two.
pub const TRAIL_LENGTH: usize = 256;

/// A page: trails are mapped one by one.
const PAGE: u64 = 4096;

/// The state of a trail that no process has taken.
pub const TRAIL_FREE: u32 = 0;

/// The state of a trail whose process runs, or has ended in another way than by `exit` or by returning
/// from `main`.
pub const TRAIL_RUNNING: u32 = 1;

/// The state of a trail whose process has called `exit` or returned from `main`.
pub const TRAIL_EXITED: u32 = 2;

/// The last statements that one process executed. Processes without a trace write into one of their own.
#[repr(C)]
pub struct Trail {
    /// Statements executed so far, modulo 2³²; the last is at `next - 1` in the ring.
    pub next: AtomicU32,
    /// One of [`TRAIL_FREE`], [`TRAIL_RUNNING`], [`TRAIL_EXITED`].
    pub state: AtomicU32,
    /// The process.
    pub process: AtomicU32,
    /// Keeps the ring aligned.
    pub reserved: u32,
    /// A ring of the ids of statements. Threads share it; a place that two of them take at once keeps one.
    pub statements: [AtomicU32; TRAIL_LENGTH],
}

/// Start of a trace.
#[repr(C)]
pub struct TraceHeader {
    /// [`TRACE_MAGIC`].
    pub magic: AtomicU64,
    /// [`TRACE_VERSION`].
    pub version: AtomicU32,
    /// Statements have ids below this.
    pub statement_count: AtomicU32,
    /// Number of trails.
    pub trail_count: AtomicU32,
    /// Trails taken; may exceed their number.
    pub trails_taken: AtomicU32,
}

/// The type of `__register_atfork`, which registers what a process does after a fork.
pub type RegisterFork = unsafe extern "C" fn(
    Option<unsafe extern "C" fn()>,
    Option<unsafe extern "C" fn()>,
    Option<unsafe extern "C" fn()>,
    *mut c_void,
) -> c_int;

/// The type of `__cxa_atexit`, which registers what a process does when it exits.
pub type RegisterExit = unsafe extern "C" fn(
    Option<unsafe extern "C" fn(*mut c_void)>,
    *mut c_void,
    *mut c_void,
) -> c_int;

/// The type of the function that connects a unit with the trace, whose path is the value of
/// [`TRACE_VARIABLE`] or null.
pub type TraceAttach = unsafe extern "C" fn(unit: *mut TraceUnit, trace: *const core::ffi::c_char);

/// The table by which a translation unit with marks and the probe know each other. The glue in the woven
/// file declares the same structure in C.
#[repr(C)]
pub struct TraceUnit {
    /// [`TRACE_VERSION`].
    pub version: u32,
    /// Id of the unit's first statement; the others follow.
    pub first: u32,
    /// Number of statements.
    pub count: u32,
    /// Zero.
    pub reserved: u32,
    /// Where the statements' bytes are: the unit's own, then those of the trace.
    pub seen: *mut u8,
    /// Where the trail is: the unit's own, then that of the process.
    pub trail: *mut Trail,
    /// libc's `__register_atfork`, or null.
    pub register_fork: Option<RegisterFork>,
    /// libc's `__cxa_atexit`, or null.
    pub register_exit: Option<RegisterExit>,
}

/// The sizes of a trace, from which all offsets follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceLayout {
    /// Statements have ids below this.
    pub statement_count: u32,
    /// Number of trails.
    pub trail_count: u32,
}

impl TraceLayout {
    /// Returns the offset of a trail. Each trail has pages of its own.
    pub const fn trail(&self, number: u32) -> u64 {
        PAGE * (1 + number as u64)
    }

    /// Returns the offset in the trace at which the statements' bytes begin.
    pub const fn statements(&self) -> u64 {
        self.trail(self.trail_count)
    }

    /// Returns the number of bytes of the whole trace.
    pub const fn size(&self) -> u64 {
        (self.statements() + self.statement_count as u64).div_ceil(PAGE) * PAGE
    }
}

/// A trace that is mapped into this process.
#[derive(Clone, Copy)]
pub struct TraceMemory<'a> {
    base: *mut u8,
    layout: TraceLayout,
    memory: core::marker::PhantomData<&'a TraceHeader>,
}

// SAFETY: every access goes through atomics.
unsafe impl Send for TraceMemory<'_> {}
// SAFETY: as above.
unsafe impl Sync for TraceMemory<'_> {}

impl<'a> TraceMemory<'a> {
    /// A trace of the host's own making in `length` bytes at `base`; `None` when they are too few or not aligned to
    /// pages.
    ///
    /// # Safety
    /// The memory must be readable and writable for `'a`, and only be used through traces.
    pub unsafe fn new(base: *mut u8, length: usize, layout: TraceLayout) -> Option<Self> {
        let good = (base as u64).is_multiple_of(PAGE) && layout.size() <= length as u64;
        good.then_some(Self {
            base,
            layout,
            memory: core::marker::PhantomData,
        })
    }

    /// The trace in `length` bytes at `base`, or `None` when there is none of this version.
    ///
    /// # Safety
    /// As for [`TraceMemory::new`].
    pub unsafe fn open(base: *mut u8, length: usize) -> Option<Self> {
        if !(base as u64).is_multiple_of(PAGE) || (length as u64) < PAGE {
            return None;
        }
        // SAFETY: the memory is long enough, aligned and only used through atomics.
        let header = unsafe { &*base.cast::<TraceHeader>() };
        let good = header.magic.load(Ordering::Acquire) == TRACE_MAGIC
            && header.version.load(Ordering::Relaxed) == TRACE_VERSION;
        let layout = TraceLayout {
            statement_count: header.statement_count.load(Ordering::Relaxed),
            trail_count: header.trail_count.load(Ordering::Relaxed),
        };
        if !good {
            return None;
        }
        // SAFETY: as above; `new` checks the length again.
        unsafe { Self::new(base, length, layout) }
    }

    /// Writes the header, by which processes recognize the trace and its sizes.
    pub fn write_header(&self) {
        let header = self.header();
        let layout = self.layout;
        header
            .statement_count
            .store(layout.statement_count, Ordering::Relaxed);
        header
            .trail_count
            .store(layout.trail_count, Ordering::Relaxed);
        header.version.store(TRACE_VERSION, Ordering::Relaxed);
        header.magic.store(TRACE_MAGIC, Ordering::Release);
    }

    /// Returns the sizes of the trace.
    pub fn layout(&self) -> TraceLayout {
        self.layout
    }

    /// Returns the header, which both sides read and write.
    pub fn header(&self) -> &'a TraceHeader {
        // SAFETY: `new` checked length and alignment.
        unsafe { &*self.base.cast::<TraceHeader>() }
    }

    /// Returns the trail `number`, or `None` if there are fewer.
    pub fn trail(&self, number: u32) -> Option<&'a Trail> {
        if number >= self.layout.trail_count {
            return None;
        }
        let start = self.base.wrapping_add(self.layout.trail(number) as usize);
        // SAFETY: the page lies inside the trace.
        Some(unsafe { &*start.cast::<Trail>() })
    }

    /// Returns one byte for each statement: 1 if it was executed.
    pub fn statements(&self) -> &'a [AtomicU8] {
        let start = self.base.wrapping_add(self.layout.statements() as usize);
        // SAFETY: the section lies inside the trace, and is only used through atomics.
        unsafe {
            core::slice::from_raw_parts(
                start.cast::<AtomicU8>(),
                self.layout.statement_count as usize,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_do_not_overlap_and_trails_fit_their_pages() {
        let layout = TraceLayout {
            statement_count: 5000,
            trail_count: 3,
        };
        assert!(size_of::<Trail>() as u64 <= PAGE && size_of::<TraceHeader>() as u64 <= PAGE);
        assert!(TRAIL_LENGTH.is_power_of_two());
        assert_eq!(layout.trail(0), PAGE);
        assert_eq!(layout.statements(), 4 * PAGE);
        assert_eq!(layout.size(), 6 * PAGE);
    }
}
