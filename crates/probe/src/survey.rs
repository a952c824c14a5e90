//! Surveys the original program: many holes log their states in one run, and the program behaves as
//! always.

use crate::observe::{State, gather, hash, is_current, store_words};
use crate::process::Process;
use crate::system;
use crate::watch::{find_or_write, is_state_at, mix};
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use patchwright_probe_abi::window::{
    CUT_SHORT, MAX_LOCATIONS, MAX_SURVEYED_STATES, MAX_SURVEYED_VISITS, WindowRecord,
};
use patchwright_probe_abi::{Channel, MAX_SLOTS};
use patchwright_semantics::evaluate;

/// What this process has done at a place.
struct Surveyed {
    /// The byte that selects the hole.
    selection: AtomicPtr<u8>,
    visits: AtomicU32,
    /// States that it has logged.
    states: AtomicU32,
}

static SURVEYED: [Surveyed; MAX_LOCATIONS] = [const {
    Surveyed {
        selection: AtomicPtr::new(ptr::null_mut()),
        visits: AtomicU32::new(0),
        states: AtomicU32::new(0),
    }
}; MAX_LOCATIONS];

/// Notes which byte selects the hole at a place.
pub fn remember(location: u32, selection: &AtomicU8) {
    if let Some(place) = SURVEYED.get(location as usize) {
        place.selection.store(selection.as_ptr(), Ordering::Relaxed);
    }
}

/// Logs the state at a hole if it is new, and returns the original's value in it. If that value is
/// undefined, the process ends, because the host has described the hole wrongly.
pub fn visit(process: &Process, hole: u32, entries: &[u64]) -> u64 {
    // The stack that a visit needs depends on the number of slots.
    match entries.len() {
        0..=64 => visit_with_room::<64>(process, hole, entries),
        _ => visit_with_room::<MAX_SLOTS>(process, hole, entries),
    }
}

#[inline(never)]
fn visit_with_room<const ROOM: usize>(process: &Process, hole: u32, entries: &[u64]) -> u64 {
    let (Some(channel), Some((location, slots))) = (process.channel, process.location(hole)) else {
        system::end_process();
    };
    let header = channel.header();
    let mut values = [0; ROOM];
    let mut undefined = [0; ROOM];
    let (true, Some(values), Some(undefined)) = (
        slots.len() == entries.len(),
        values.get_mut(..entries.len()),
        undefined.get_mut(..entries.len()),
    ) else {
        header.mismatch.store(1, Ordering::Relaxed);
        system::end_process();
    };
    let mut state = State { values, undefined };
    gather(slots, process.depth, entries, &mut state);
    let Some(value) = evaluate(process.original(location), state.values, state.undefined) else {
        cut_short(channel, hole);
        header.undefined.store(1, Ordering::Relaxed);
        system::end_process();
    };
    let Some(place) = SURVEYED
        .get(location as usize)
        .filter(|_| is_current(process, channel))
    else {
        return value;
    };
    let visits = place.visits.fetch_add(1, Ordering::Relaxed);
    let is_enough = visits >= MAX_SURVEYED_VISITS
        || place.states.load(Ordering::Relaxed) >= MAX_SURVEYED_STATES
        || !log(process, channel, location, place, (&state, value));
    match is_enough {
        true => {
            cut_short(channel, hole);
            let selection = place.selection.load(Ordering::Relaxed);
            if !selection.is_null() {
                // SAFETY: it is the byte of a unit that has attached, which lives as long as its code.
                unsafe { AtomicU8::from_ptr(selection) }.store(0, Ordering::Relaxed);
            }
        }
        false => mark(channel, hole, 1),
    }
    value
}

/// Not all states of the hole are logged.
fn cut_short(channel: Channel<'_>, hole: u32) {
    mark(channel, hole, CUT_SHORT);
}

fn mark(channel: Channel<'_>, hole: u32, what: u8) {
    if let Some(byte) = channel.coverage().get(hole as usize) {
        byte.fetch_max(what, Ordering::Relaxed);
    }
}

/// Logs a state, if it is new; whether there was room.
fn log(
    process: &Process,
    channel: Channel<'_>,
    location: u32,
    place: &Surveyed,
    (state, value): (&State<'_>, u64),
) -> bool {
    let bits = state.values.len().div_ceil(64);
    let own = bits + state.values.len();
    let key = mix(hash(state), u64::from(location));
    let words = channel.log_words();
    let is_new = AtomicBool::new(false);
    let fill = |words: &[AtomicU64]| {
        if let Some((undefined, slots)) = words.split_at_checked(bits) {
            store_words(undefined, slots, state);
        }
        is_new.store(true, Ordering::Relaxed);
        (
            WindowRecord::State {
                location,
                value_undefined: false,
            },
            value,
        )
    };
    let same = |at: usize| is_state_at(words, at, location, state);
    let found = find_or_write(process, channel, key, own, same, fill);
    if is_new.load(Ordering::Relaxed) {
        place.states.fetch_add(1, Ordering::Relaxed);
    }
    found.is_some()
}
