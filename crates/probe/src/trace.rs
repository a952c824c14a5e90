//! Connects the units of a process with the run's trace. The units note themselves what is executed.

use crate::system;
use core::cell::UnsafeCell;
use core::ffi::{c_char, c_void};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use patchwright_probe_abi::{
    TRACE_VERSION, TRAIL_EXITED, TRAIL_RUNNING, TraceMemory, TraceUnit, Trail,
};

/// Longest path of a trace, with its zero byte.
const LONGEST_PATH: usize = 4096;

/// A trail has a page of its own.
const PAGE: usize = 4096;

const UNATTACHED: u32 = 0;
const ATTACHING: u32 = 1;
const ATTACHED: u32 = 2;
const FAILED: u32 = 3;

static STATUS: AtomicU32 = AtomicU32::new(UNATTACHED);
static TRACE: Shared = Shared(UnsafeCell::new(Trace {
    memory: None,
    path: [0; LONGEST_PATH],
}));

/// How far the trail was when this process last forked. The parent goes on while the child copies its trail.
static AT_FORK: AtomicU32 = AtomicU32::new(0);

/// The trail of this process; null when all are taken.
static TRAIL: AtomicPtr<Trail> = AtomicPtr::new(null_mut());

struct Trace {
    memory: Option<TraceMemory<'static>>,
    /// For a child to map its own trail; the environment may change.
    path: [c_char; LONGEST_PATH],
}

/// Written by the one thread that took `STATUS` from `UNATTACHED` to `ATTACHING`, read after `ATTACHED`.
struct Shared(UnsafeCell<Trace>);

// SAFETY: see the type.
unsafe impl Sync for Shared {}

/// Connects a unit with the trace, so that its execution is seen. Without a trace nothing changes.
///
/// # Safety
/// `unit` must be null or point to a table that stays valid as long as the unit's code; `trace` must be null or a
/// string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn patchwright_trace(unit: *mut TraceUnit, trace: *const c_char) {
    // SAFETY: the caller answers for the pointer.
    let Some(unit) = (unsafe { unit.as_mut() }) else {
        return;
    };
    if unit.version != TRACE_VERSION {
        return;
    }
    // SAFETY: the caller answers for the path.
    let Some(memory) = (unsafe { attach(unit, trace) }) else {
        return;
    };
    let bytes = memory.statements();
    let Some(own) = bytes
        .get(unit.first as usize..)
        .and_then(|rest| rest.get(..unit.count as usize))
    else {
        return;
    };
    let trail = TRAIL.load(Ordering::Relaxed);
    if !trail.is_null() {
        unit.trail = trail;
    }
    unit.seen = own.as_ptr().cast_mut().cast::<u8>();
}

/// # Safety
/// As for [`patchwright_trace`].
unsafe fn attach(unit: &TraceUnit, path: *const c_char) -> Option<TraceMemory<'static>> {
    let taken =
        STATUS.compare_exchange(UNATTACHED, ATTACHING, Ordering::Acquire, Ordering::Acquire);
    if taken.is_ok() {
        // SAFETY: only this thread has come here, and readers wait for `ATTACHED`.
        let trace = unsafe { &mut *TRACE.0.get() };
        // SAFETY: the caller answers for the path.
        let good = unsafe { open(trace, path) }.is_some();
        if good {
            take_trail(trace);
            // SAFETY: both are functions of libc, and what they are given lives as long as the process.
            unsafe {
                if let Some(register) = unit.register_exit {
                    register(Some(on_exit), null_mut(), null_mut());
                }
                if let Some(register) = unit.register_fork {
                    register(Some(before_fork), None, Some(in_child), null_mut());
                }
            }
        }
        STATUS.store(if good { ATTACHED } else { FAILED }, Ordering::Release);
    }
    while STATUS.load(Ordering::Acquire) == ATTACHING {
        core::hint::spin_loop();
    }
    current()?.memory
}

fn current() -> Option<&'static Trace> {
    // SAFETY: nobody writes any more.
    (STATUS.load(Ordering::Acquire) == ATTACHED).then(|| unsafe { &*TRACE.0.get() })
}

/// # Safety
/// `path` must be null or a string that ends with a zero byte.
unsafe fn open(trace: &mut Trace, path: *const c_char) -> Option<()> {
    if path.is_null() {
        return None;
    }
    let mut length = 0;
    loop {
        // SAFETY: no byte behind the zero byte is read.
        let byte = unsafe { *path.add(length) };
        *trace.path.get_mut(length)? = byte;
        if byte == 0 {
            break;
        }
        length += 1;
    }
    // SAFETY: the caller answers for the path.
    let (address, length) = unsafe { system::map_file(path) }.ok()?;
    // SAFETY: the mapping stays until the process ends.
    trace.memory = Some(unsafe { TraceMemory::open(address, length) }?);
    Some(())
}

/// Takes the next free trail for this process.
fn take_trail(trace: &Trace) {
    let Some(memory) = trace.memory else {
        return;
    };
    let number = memory.header().trails_taken.fetch_add(1, Ordering::Relaxed);
    let Some(trail) = memory.trail(number) else {
        return;
    };
    begin(trail);
    TRAIL.store(core::ptr::from_ref(trail).cast_mut(), Ordering::Relaxed);
}

fn begin(trail: &Trail) {
    trail.process.store(system::process_id(), Ordering::Relaxed);
    trail.state.store(TRAIL_RUNNING, Ordering::Relaxed);
}

/// The process exits in an orderly way.
unsafe extern "C" fn on_exit(_: *mut c_void) {
    // SAFETY: a trail stays mapped as long as the process lives.
    if let Some(trail) = unsafe { TRAIL.load(Ordering::Relaxed).as_ref() } {
        trail.state.store(TRAIL_EXITED, Ordering::Relaxed);
    }
}

/// Remembers how far the trail is.
unsafe extern "C" fn before_fork() {
    // SAFETY: as in `on_exit`.
    if let Some(trail) = unsafe { TRAIL.load(Ordering::Relaxed).as_ref() } {
        AT_FORK.store(trail.next.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}

/// A forked process gets a trail of its own at the address of its parent's, so that no unit has to know. It begins
/// with what the parent executed last.
unsafe extern "C" fn in_child() {
    let address = TRAIL.load(Ordering::Relaxed);
    // SAFETY: as in `on_exit`.
    let (Some(trace), Some(trail)) = (current(), unsafe { address.as_ref() }) else {
        return;
    };
    let Some(memory) = trace.memory else {
        return;
    };
    let number = memory.header().trails_taken.fetch_add(1, Ordering::Relaxed);
    let (path, offset) = match memory.trail(number) {
        Some(own) => {
            own.next
                .store(AT_FORK.load(Ordering::Relaxed), Ordering::Relaxed);
            for (word, id) in own.statements.iter().zip(&trail.statements) {
                word.store(id.load(Ordering::Relaxed), Ordering::Relaxed);
            }
            (trace.path.as_ptr(), memory.layout().trail(number))
        }
        // All are taken: a page of its own takes the place of the parent's.
        None => (c"".as_ptr(), 0),
    };
    // SAFETY: the page is the trail of this process, and both paths end with a zero byte.
    unsafe { system::replace_mapping(address.cast::<u8>(), PAGE, path, offset) };
    begin(trail);
}
