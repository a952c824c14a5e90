//! Watching a variable: the places where it could be assigned, between its touches (f1x, section 3.4 and appendix B).
//!
//! The assignment of the candidate is done late, at the next touch. Until then nobody can tell, and the places that
//! follow still see the state that they would see if the assignment stood at one of them.

use crate::observe::{State, are_words_of, candidate, gather, hash, is_current, store_words};
use crate::process::Process;
use crate::system;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use patchwright_probe_abi::window::{MAX_VISITS, OpenWindow, WINDOW_FIXED_WORDS, WindowRecord};
use patchwright_probe_abi::{Channel, MAX_SLOTS, Record, TableEntry};

/// The thread of this process that was here last: a child of a fork inherits it.
static LAST: AtomicU32 = AtomicU32::new(0);

fn owner(process: &Process, thread: u32) -> u64 {
    u64::from(process.generation) << 32 | u64::from(thread)
}

/// The window of this thread. `None` when there is no run any more, or no room, which is then reported.
fn open_window(process: &Process) -> Option<(Channel<'static>, OpenWindow<'static>)> {
    let channel = process.channel?;
    if !is_current(process, channel) {
        return None;
    }
    let thread = system::thread();
    let owner_word = owner(process, thread);
    if let Some(window) = channel
        .open_windows()
        .find(|window| window.owner().load(Ordering::Relaxed) == owner_word)
    {
        LAST.store(thread, Ordering::Relaxed);
        return Some((channel, window));
    }
    // A value that the parent of this process has not stored yet would be lost here.
    let last = owner(process, LAST.swap(thread, Ordering::Relaxed));
    let inherits = channel.open_windows().any(|window| {
        window.owner().load(Ordering::Relaxed) == last
            && window.visits().load(Ordering::Relaxed) != 0
    });
    if inherits {
        channel.header().reentered.store(1, Ordering::Relaxed);
    }
    for window in channel.open_windows() {
        let found = window.owner().load(Ordering::Relaxed);
        if (found >> 32) as u32 == process.generation {
            continue;
        }
        let taken =
            window
                .owner()
                .compare_exchange(found, owner_word, Ordering::AcqRel, Ordering::Relaxed);
        if taken.is_ok() {
            window.visits().store(0, Ordering::Relaxed);
            window.pending().store(0, Ordering::Relaxed);
            return Some((channel, window));
        }
    }
    channel.header().overflow.store(1, Ordering::Relaxed);
    None
}

/// Notes that the watched function begins.
pub fn begin(process: &Process) {
    if let Some((channel, window)) = open_window(process)
        && window.visits().load(Ordering::Relaxed) != 0
    {
        // Its frame may still be alive (recursion), and then the value that waits belongs to it.
        channel.header().reentered.store(1, Ordering::Relaxed);
        close(process, channel, window);
    }
}

/// Returns the pending value that must be stored first, because the watched variable is going to be read
/// or written.
pub fn touch(process: &Process) -> Option<u64> {
    let (channel, window) = open_window(process)?;
    close(process, channel, window)
}

/// Returns the pending value that must be stored first, because a place is going to be visited and the
/// window ends there.
pub fn enter(process: &Process, hole: u32) -> Option<u64> {
    let (channel, window) = open_window(process)?;
    let (location, _) = process.location(hole)?;
    let words = channel.log_words();
    let again = window.states().iter().any(|state| {
        let at = state.load(Ordering::Relaxed) as usize;
        words.get(at + 2).is_some_and(|info| {
            let record = WindowRecord::decode(info.load(Ordering::Relaxed)).0;
            matches!(record, WindowRecord::State { location: known, .. } if known == location)
        })
    });
    if again || window.states().len() == MAX_VISITS {
        close(process, channel, window)
    } else {
        None
    }
}

/// Logs the state at a place. If the place is the active one, the candidate's value becomes pending.
pub fn visit(process: &Process, hole: u32, entries: &[u64]) {
    // The stack that a visit needs depends on the number of slots.
    match entries.len() {
        0..=64 => visit_with_room::<64>(process, hole, entries),
        _ => visit_with_room::<MAX_SLOTS>(process, hole, entries),
    }
}

#[inline(never)]
fn visit_with_room<const ROOM: usize>(process: &Process, hole: u32, entries: &[u64]) {
    let Some((channel, window)) = open_window(process) else {
        return;
    };
    let header = channel.header();
    let Some((location, slots)) = process.location(hole) else {
        return;
    };
    if slots.len() != entries.len() {
        header.mismatch.store(1, Ordering::Relaxed);
        system::end_process();
    }
    let mut values = [0; ROOM];
    let mut undefined = [0; ROOM];
    let (Some(values), Some(undefined)) = (
        values.get_mut(..entries.len()),
        undefined.get_mut(..entries.len()),
    ) else {
        system::end_process();
    };
    let mut state = State { values, undefined };
    gather(slots, process.depth, entries, &mut state);
    header.visits.fetch_add(1, Ordering::Relaxed);
    let is_active = hole == process.hole;
    let logged = log_state(process, channel, location, is_active, &state);
    let value = match logged {
        Some((at, value)) => {
            let count = window.states().len();
            if let Some(place) = window.room().get(count) {
                place.store(u64::from(at), Ordering::Relaxed);
                window.visits().store(count as u64 + 1, Ordering::Relaxed);
            }
            value
        }
        None => {
            header.overflow.store(1, Ordering::Relaxed);
            is_active.then(|| candidate(process, &state))
        }
    };
    match value {
        None => {}
        Some(Some(value)) => {
            window.value().store(value, Ordering::Relaxed);
            window.pending().store(1, Ordering::Relaxed);
        }
        Some(None) => {
            header.undefined.store(1, Ordering::Relaxed);
            system::end_process();
        }
    }
}

/// Ends the window: logs it if it is new, and gives the value that waited.
fn close(process: &Process, channel: Channel<'_>, window: OpenWindow<'_>) -> Option<u64> {
    let states = window.states();
    if states.is_empty() {
        return None;
    }
    let mut key = WINDOW_SEED;
    for state in states {
        key = mix(key, state.load(Ordering::Relaxed));
    }
    let same = |at: usize| {
        let words = channel.log_words();
        let Some(info) = words.get(at + 2) else {
            return false;
        };
        let (record, _) = WindowRecord::decode(info.load(Ordering::Relaxed));
        let visits = states.len() as u32;
        let start = at + WINDOW_FIXED_WORDS;
        record == WindowRecord::Window { visits }
            && words.get(start..start + states.len()).is_some_and(|known| {
                known
                    .iter()
                    .zip(states)
                    .all(|(a, b)| a.load(Ordering::Relaxed) == b.load(Ordering::Relaxed))
            })
    };
    let fill = |words: &[AtomicU64]| {
        for (word, state) in words.iter().zip(states) {
            word.store(state.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        (
            WindowRecord::Window {
                visits: states.len() as u32,
            },
            0,
        )
    };
    if find_or_write(process, channel, key, states.len(), same, fill).is_none() {
        channel.header().overflow.store(1, Ordering::Relaxed);
    }
    window.visits().store(0, Ordering::Relaxed);
    let waits = window.pending().swap(0, Ordering::Relaxed) != 0;
    waits.then(|| window.value().load(Ordering::Relaxed))
}

/// Whether the record at a word of the log has this state and place.
pub fn is_state_at(words: &[AtomicU64], at: usize, location: u32, state: &State<'_>) -> bool {
    let Some(info) = words.get(at + 2) else {
        return false;
    };
    let (record, _) = WindowRecord::decode(info.load(Ordering::Relaxed));
    let bits = state.values.len().div_ceil(64);
    let start = at + WINDOW_FIXED_WORDS;
    matches!(record, WindowRecord::State { location: known, .. } if known == location)
        && words
            .get(start..start + bits + state.values.len())
            .and_then(|words| words.split_at_checked(bits))
            .is_some_and(|(undefined, slots)| are_words_of(undefined, slots, state))
}

/// Where the state is in the log and, at the active place, the candidate's value in it.
fn log_state(
    process: &Process,
    channel: Channel<'_>,
    location: u32,
    is_active: bool,
    state: &State<'_>,
) -> Option<(u32, Option<Option<u64>>)> {
    let bits = state.values.len().div_ceil(64);
    let own = bits + state.values.len();
    let key = mix(hash(state), u64::from(location));
    let words = channel.log_words();
    let same = |at: usize| is_state_at(words, at, location, state);
    let fill = |words: &[AtomicU64]| {
        if let Some((undefined, slots)) = words.split_at_checked(bits) {
            store_words(undefined, slots, state);
        }
        let value = if is_active {
            candidate(process, state)
        } else {
            Some(0)
        };
        (
            WindowRecord::State {
                location,
                value_undefined: value.is_none(),
            },
            value.unwrap_or(0),
        )
    };
    let at = find_or_write(process, channel, key, own, same, fill)?;
    let value = is_active.then(|| {
        let word = |i: usize| {
            words
                .get(at as usize + i)
                .map_or(0, |word| word.load(Ordering::Relaxed))
        };
        match WindowRecord::decode(word(2)).0 {
            WindowRecord::State {
                value_undefined: true,
                ..
            } => None,
            _ => Some(word(3)),
        }
    });
    Some((at, value))
}

/// Returns the first word of the record with `hash` for which `same` holds. A missing record is written
/// by `fill`. It is `None` if the log or the table is full.
pub fn find_or_write(
    process: &Process,
    channel: Channel<'_>,
    hash: u64,
    own_words: usize,
    same: impl Fn(usize) -> bool,
    fill: impl Fn(&[AtomicU64]) -> (WindowRecord, u64),
) -> Option<u32> {
    let words = channel.log_words();
    let commit = Record::commit(process.generation);
    let is_same = |at: u32| {
        let at = at as usize;
        let head = words.get(at..at + 2);
        head.is_some_and(|head| {
            head.first()
                .is_some_and(|word| word.load(Ordering::Acquire) == commit)
                && head
                    .get(1)
                    .is_some_and(|word| word.load(Ordering::Relaxed) == hash)
        }) && same(at)
    };
    let table = channel.table();
    let mask = table.len().wrapping_sub(1);
    let mut own: Option<u32> = None;
    for step in 0..table.len() {
        let cell = table.get((hash as usize).wrapping_add(step) & mask)?;
        let mut word = cell.load(Ordering::Acquire);
        loop {
            let entry = TableEntry::decode(word);
            if entry.generation == process.generation {
                if is_same(entry.record) {
                    return Some(entry.record);
                }
                break;
            }
            let at = match own {
                Some(at) => at,
                None => *own.insert(write(process, channel, hash, own_words, &fill)?),
            };
            let entry = TableEntry {
                generation: process.generation,
                record: at,
            };
            match cell.compare_exchange(word, entry.encode(), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(at),
                Err(other) => word = other,
            }
        }
    }
    None
}

fn write(
    process: &Process,
    channel: Channel<'_>,
    hash: u64,
    own_words: usize,
    fill: &impl Fn(&[AtomicU64]) -> (WindowRecord, u64),
) -> Option<u32> {
    let header = channel.header();
    // Checked before the cursor is moved, so that it cannot run over.
    if header.overflow.load(Ordering::Relaxed) != 0 {
        return None;
    }
    let count = u32::try_from(WINDOW_FIXED_WORDS + own_words).ok()?;
    let at = header.records.fetch_add(count, Ordering::Relaxed);
    let (start, end) = (at as usize, at as usize + count as usize);
    let words = channel.log_words().get(start..end)?;
    let (head, rest) = words.split_at_checked(WINDOW_FIXED_WORDS)?;
    let (record, value) = fill(rest);
    let [commit, hash_word, info, value_word] = head else {
        return None;
    };
    hash_word.store(hash, Ordering::Relaxed);
    info.store(record.encode(count), Ordering::Relaxed);
    value_word.store(value, Ordering::Relaxed);
    commit.store(Record::commit(process.generation), Ordering::Release);
    Some(at)
}

const WINDOW_SEED: u64 = 0x5bd1_e995_97f4_a7c5;

/// Mixes a word into a hash.
pub fn mix(hash: u64, word: u64) -> u64 {
    let mixed = (hash.rotate_left(5) ^ word).wrapping_mul(0xf135_7aea_2e62_a9c5);
    mixed ^ (mixed >> 32)
}
