//! The entry points that woven source calls.

use crate::process::Lost;
use crate::{observe, process, survey, system, watch};
use core::ffi::c_char;
use core::slice;
use core::sync::atomic::{AtomicU8, Ordering};
use patchwright_probe_abi::{
    ATTACH_DONE, ATTACH_LOST, Mode, SELECTED_CANDIDATE, SELECTED_COVERAGE, UNIT_VERSION, UnitTable,
};

/// Introduces a translation unit to the run: fills in its functions and selects what is active in this process.
///
/// When there is no run, nothing changes. When there is one that the process cannot report to, [`ATTACH_LOST`] is
/// returned: what this process would do at the holes would not be seen.
///
/// # Safety
/// `unit` must be null or point to a table that stays valid as long as the unit's code; `channel` must be null or a
/// string that ends with a zero byte.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn patchwright_attach(unit: *mut UnitTable, channel: *const c_char) -> i32 {
    // SAFETY: the caller answers for the pointer.
    let Some(unit) = (unsafe { unit.as_mut() }) else {
        return ATTACH_DONE;
    };
    if unit.version != UNIT_VERSION {
        return ATTACH_LOST;
    }
    // SAFETY: the caller answers for the path.
    let process = match unsafe { process::attach(channel, unit.found_by_path != 0) } {
        Ok(Some(process)) => process,
        Ok(None) => return ATTACH_DONE,
        Err(Lost) => return ATTACH_LOST,
    };
    process::set_poisoned(unit.poisoned);
    unit.value = Some(value);
    unit.mark = Some(mark);
    // SAFETY: the unit's arrays have the lengths that its table says.
    let (functions, function_ids, holes, hole_ids) = unsafe {
        (
            atomics(unit.functions, unit.function_count),
            slice::from_raw_parts(unit.function_ids, unit.function_count as usize),
            atomics(unit.holes, unit.hole_count),
            slice::from_raw_parts(unit.hole_ids, unit.hole_count as usize),
        )
    };
    match process.mode {
        Mode::Off => {}
        Mode::Coverage => {
            select(functions, function_ids, SELECTED_CANDIDATE, |_| true);
            select(holes, hole_ids, SELECTED_COVERAGE, |_| true);
        }
        Mode::Candidate => {
            select(functions, function_ids, SELECTED_CANDIDATE, |id| {
                id == process.function
            });
            select(holes, hole_ids, SELECTED_CANDIDATE, |id| id == process.hole);
        }
        Mode::Survey => {
            unit.value = Some(original);
            select(functions, function_ids, SELECTED_CANDIDATE, |_| true);
            for (byte, id) in holes.iter().zip(hole_ids) {
                if let Some((location, _)) = process.location(*id) {
                    survey::remember(location, byte);
                    byte.store(SELECTED_CANDIDATE, Ordering::Relaxed);
                }
            }
        }
        Mode::Watch => {
            unit.enter = Some(enter);
            unit.visit = Some(visit);
            unit.touch = Some(touch);
            unit.begin = Some(begin);
            // Bits are numbered by function: a unit without it has other variables under the same ones.
            if function_ids.contains(&process.function) {
                unit.watch = process.watch;
                select(functions, function_ids, SELECTED_CANDIDATE, |id| {
                    id == process.function
                });
            }
        }
    }
    ATTACH_DONE
}

/// # Safety
/// There must be `count` bytes at `bytes`.
unsafe fn atomics<'a>(bytes: *mut u8, count: u32) -> &'a [AtomicU8] {
    // SAFETY: an atomic byte has the layout of a byte.
    unsafe { slice::from_raw_parts(bytes.cast::<AtomicU8>(), count as usize) }
}

fn select(bytes: &[AtomicU8], ids: &[u32], selection: u8, selected: impl Fn(u32) -> bool) {
    for (byte, id) in bytes.iter().zip(ids) {
        if selected(*id) {
            byte.store(selection, Ordering::Relaxed);
        }
    }
}

/// The candidate's value at a visit of `hole`.
///
/// # Safety
/// There must be `count` words at `entries`.
unsafe extern "C" fn value(hole: u32, entries: *const u64, count: u32) -> u64 {
    let Some(process) = process::current() else {
        system::end_process();
    };
    // SAFETY: the caller answers for the entries.
    let entries = unsafe { slice::from_raw_parts(entries, count as usize) };
    observe::visit(process, hole, entries)
}

/// The original's value at a visit of `hole`, which is surveyed.
///
/// # Safety
/// There must be `count` words at `entries`.
unsafe extern "C" fn original(hole: u32, entries: *const u64, count: u32) -> u64 {
    let Some(process) = process::current() else {
        system::end_process();
    };
    // SAFETY: the caller answers for the entries.
    let entries = unsafe { slice::from_raw_parts(entries, count as usize) };
    survey::visit(process, hole, entries)
}

/// Hands over a pending value.
///
/// # Safety
/// `place` must be writable.
unsafe fn pending(value: Option<u64>, place: *mut u64) -> u32 {
    let Some(value) = value else { return 0 };
    // SAFETY: the caller answers for the pointer.
    unsafe { place.write(value) };
    1
}

/// # Safety
/// `value` must be writable.
unsafe extern "C" fn enter(hole: u32, value: *mut u64) -> u32 {
    let stored = process::current().and_then(|process| watch::enter(process, hole));
    // SAFETY: the caller answers for the pointer.
    unsafe { pending(stored, value) }
}

/// # Safety
/// There must be `count` words at `entries`.
unsafe extern "C" fn visit(hole: u32, entries: *const u64, count: u32) {
    let Some(process) = process::current() else {
        return;
    };
    // SAFETY: the caller answers for the entries.
    let entries = unsafe { slice::from_raw_parts(entries, count as usize) };
    watch::visit(process, hole, entries);
}

/// # Safety
/// `value` must be writable.
unsafe extern "C" fn touch(value: *mut u64) -> u32 {
    let stored = process::current().and_then(watch::touch);
    // SAFETY: the caller answers for the pointer.
    unsafe { pending(stored, value) }
}

unsafe extern "C" fn begin() {
    if let Some(process) = process::current() {
        watch::begin(process);
    }
}

/// Marks `hole` as visited and clears its selection byte.
///
/// # Safety
/// `selection` must point to the hole's selection byte.
unsafe extern "C" fn mark(hole: u32, selection: *mut u8) {
    let Some(channel) = process::current().and_then(|process| process.channel) else {
        return;
    };
    if let Some(byte) = channel.coverage().get(hole as usize) {
        byte.store(1, Ordering::Relaxed);
    }
    // SAFETY: the caller answers for the pointer.
    let selection = unsafe { AtomicU8::from_ptr(selection) };
    selection.store(0, Ordering::Relaxed);
}
