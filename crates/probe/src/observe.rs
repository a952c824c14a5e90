//! One visit of the active hole: it gathers the state, logs a new state, and returns the candidate's
//! value.

use crate::memory::Reader;
use crate::process::{self, Process};
use crate::system;
use core::sync::atomic::{AtomicU64, Ordering};
use patchwright_probe_abi::{
    Channel, FLAG_VALUE_UNDEFINED, MAX_SLOTS, Record, SlotDescriptor, SlotKind, TableEntry,
};
use patchwright_semantics::{Ty, evaluate};

/// The values of the slots of one visit. An undefined slot has the value 0.
pub struct State<'a> {
    pub values: &'a mut [u64],
    /// One byte for each slot, 1 when it is undefined.
    pub undefined: &'a mut [u8],
}

/// Returns the candidate's value in the state that `entries` describe. If the value is undefined, the
/// process ends.
pub fn visit(process: &Process, hole: u32, entries: &[u64]) -> u64 {
    if hole != process.hole || entries.len() != process.slots().len() {
        if let Some(channel) = process.channel {
            channel.header().mismatch.store(1, Ordering::Relaxed);
        }
        system::end_process();
    }
    // The stack that a visit needs depends on the number of slots, because threads and signal handlers may have little.
    match entries.len() {
        0..=32 => visit_with_room::<32>(process, entries),
        33..=128 => visit_with_room::<128>(process, entries),
        _ => visit_with_room::<MAX_SLOTS>(process, entries),
    }
}

#[inline(never)]
fn visit_with_room<const ROOM: usize>(process: &Process, entries: &[u64]) -> u64 {
    let mut values = [0; ROOM];
    let mut undefined = [0; ROOM];
    let (Some(values), Some(undefined)) = (
        values.get_mut(..entries.len()),
        undefined.get_mut(..entries.len()),
    ) else {
        system::end_process();
    };
    let mut state = State { values, undefined };
    gather(process.slots(), process.depth, entries, &mut state);
    let value = match process.channel {
        Some(channel) if is_current(process, channel) => log(process, channel, &state),
        _ => candidate(process, &state),
    };
    match value {
        Some(value) => value,
        None => system::end_process(),
    }
}

/// Whether the channel still belongs to the run in which this process started.
pub fn is_current(process: &Process, channel: Channel<'_>) -> bool {
    channel.header().generation.load(Ordering::Relaxed) == process.generation
}

/// Returns the candidate's value in `state`, or `None` if it is undefined.
pub fn candidate(process: &Process, state: &State<'_>) -> Option<u64> {
    evaluate(process.code(), state.values, state.undefined)
}

/// Fills `state` with the values of the slots: first those that only need their entry, then loads by
/// depth.
pub fn gather(slots: &[SlotDescriptor], deepest: u8, entries: &[u64], state: &mut State<'_>) {
    for (i, (slot, entry)) in slots.iter().zip(entries).enumerate() {
        if slot.kind == SlotKind::Value {
            set(state, i, Some(*entry));
        } else {
            set(state, i, None);
        }
    }
    if deepest == 0 {
        return;
    }
    let mut reader = Reader::new(entries.as_ptr() as usize, process::poisoned());
    for depth in 1..=deepest {
        for (i, (slot, entry)) in slots.iter().zip(entries).enumerate() {
            if slot.kind != SlotKind::Value && slot.depth == depth {
                let value = load(slot, *entry, state, &mut reader);
                set(state, i, value);
            }
        }
    }
}

fn set(state: &mut State<'_>, slot: usize, value: Option<u64>) {
    if let (Some(cell), Some(undefined)) =
        (state.values.get_mut(slot), state.undefined.get_mut(slot))
    {
        *cell = value.unwrap_or(0);
        *undefined = u8::from(value.is_none());
    }
}

fn get(state: &State<'_>, slot: u16) -> Option<u64> {
    let slot = usize::from(slot);
    let defined = *state.undefined.get(slot)? == 0;
    defined.then_some(*state.values.get(slot)?)
}

fn load(slot: &SlotDescriptor, entry: u64, state: &State<'_>, reader: &mut Reader) -> Option<u64> {
    let ty = Ty::from_u8(slot.ty)?;
    let (entry, first_bit) = match slot.kind {
        SlotKind::LoadBits => (entry as i64 >> 3, entry as u32 & 7),
        _ => (entry as i64, 0),
    };
    let mut position = entry.checked_add(slot.offset)?;
    if slot.index != SlotDescriptor::NO_INDEX {
        let index = get(state, slot.index)? as i64;
        position = position.checked_add(index.checked_mul(slot.scale)?)?;
    }
    if slot.kind == SlotKind::LoadBounded {
        let start = u64::try_from(position).ok()?;
        if start.checked_add(ty.size() as u64)? > slot.length {
            return None;
        }
    }
    let address = get(state, slot.base)?.checked_add_signed(position)?;
    if slot.kind == SlotKind::LoadBits {
        return load_bits(slot, ty, (address as usize, first_bit), reader);
    }
    reader
        .read(address as usize, ty.size())
        .map(|raw| ty.canonical(raw))
}

/// The value of bits, of which the lowest is this one of the byte at this address.
fn load_bits(
    slot: &SlotDescriptor,
    ty: Ty,
    (address, first): (usize, u32),
    reader: &mut Reader,
) -> Option<u64> {
    let (width, is_signed) = slot.bits();
    if !(1..=32).contains(&width) {
        return None;
    }
    let mut raw = 0u64;
    for byte in 0..(first + width).div_ceil(8) {
        raw |= reader.read(address.checked_add(byte as usize)?, 1)? << (byte * 8);
    }
    let above = 64 - width;
    let bits = raw >> first << above;
    let value = match is_signed {
        true => (bits as i64 >> above) as u64,
        false => bits >> above,
    };
    Some(ty.canonical(value))
}

/// The candidate's value, logged if the state is new.
fn log(process: &Process, channel: Channel<'_>, state: &State<'_>) -> Option<u64> {
    let header = channel.header();
    if header.visits.fetch_add(1, Ordering::Relaxed) >= process.most_visits {
        end(channel);
    }
    let hash = hash(state);
    let table = channel.table();
    let mask = table.len().wrapping_sub(1);
    // The record of this visit, once one had to be written.
    let mut own: Option<(u32, Option<u64>)> = None;
    for step in 0..table.len() {
        let Some(cell) = table.get((hash as usize).wrapping_add(step) & mask) else {
            break;
        };
        let mut word = cell.load(Ordering::Acquire);
        loop {
            let entry = TableEntry::decode(word);
            if entry.generation == process.generation {
                match known(process, channel, entry.record, hash, state) {
                    Some(value) => return value,
                    None => break,
                }
            }
            // The entry is free: lead it to a record of this state.
            let (record, value) = match own {
                Some(own) => own,
                None => match write(process, channel, hash, state) {
                    Some(written) => *own.insert(written),
                    None => {
                        return unlogged(process, channel, state);
                    }
                },
            };
            let entry = TableEntry {
                generation: process.generation,
                record,
            };
            match cell.compare_exchange(word, entry.encode(), Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return value,
                // Another process was quicker; it may have seen the same state.
                Err(other) => word = other,
            }
        }
    }
    unlogged(process, channel, state)
}

/// Ends a process that goes on for longer than the host wants to watch it.
fn end(channel: Channel<'_>) -> ! {
    channel.header().ended.store(1, Ordering::Relaxed);
    system::end_process();
}

/// The value in a state for which there is no room.
fn unlogged(process: &Process, channel: Channel<'_>, state: &State<'_>) -> Option<u64> {
    channel.header().overflow.store(1, Ordering::Relaxed);
    if process.ends_when_full {
        end(channel);
    }
    let value = candidate(process, state);
    if value.is_none() {
        channel.header().undefined.store(1, Ordering::Relaxed);
    }
    value
}

/// The value that a record gives, if it is a record of this state.
fn known(
    process: &Process,
    channel: Channel<'_>,
    record: u32,
    hash: u64,
    state: &State<'_>,
) -> Option<Option<u64>> {
    let record = channel.record(record, process.slots().len())?;
    let same = record.hash().load(Ordering::Relaxed) == hash
        && record.is_published(process.generation)
        && is_state(&record, state);
    same.then(|| {
        let undefined = record.flags().load(Ordering::Relaxed) & FLAG_VALUE_UNDEFINED != 0;
        (!undefined).then(|| record.value().load(Ordering::Relaxed))
    })
}

fn is_state(record: &Record<'_>, state: &State<'_>) -> bool {
    are_words_of(record.undefined(), record.slots(), state)
}

/// Whether the words of a logged state equal `state`.
pub fn are_words_of(undefined: &[AtomicU64], slots: &[AtomicU64], state: &State<'_>) -> bool {
    let values = slots.iter().zip(state.values.iter());
    let undefined = undefined
        .iter()
        .zip(state.undefined.chunks(u64::BITS as usize));
    values
        .into_iter()
        .all(|(word, value)| word.load(Ordering::Relaxed) == *value)
        && undefined
            .into_iter()
            .all(|(word, bytes)| word.load(Ordering::Relaxed) == bits(bytes))
}

/// Reserves, fills and publishes a record; its number and value. `None` when the log is full.
fn write(
    process: &Process,
    channel: Channel<'_>,
    hash: u64,
    state: &State<'_>,
) -> Option<(u32, Option<u64>)> {
    let header = channel.header();
    // Checked before the counter is touched, so that it cannot run over however often a full log is visited.
    if header.overflow.load(Ordering::Relaxed) != 0 {
        return None;
    }
    let number = header.records.fetch_add(1, Ordering::Relaxed);
    if number >= process.record_capacity {
        return None;
    }
    let record = channel.record(number, process.slots().len())?;
    let value = candidate(process, state);
    record.hash().store(hash, Ordering::Relaxed);
    record.value().store(value.unwrap_or(0), Ordering::Relaxed);
    let flags = if value.is_none() {
        FLAG_VALUE_UNDEFINED
    } else {
        0
    };
    record.flags().store(flags, Ordering::Relaxed);
    store_words(record.undefined(), record.slots(), state);
    record.publish(process.generation);
    if value.is_none() {
        header.undefined.store(1, Ordering::Relaxed);
    }
    Some((number, value))
}

/// Writes the words of `state` into the log.
pub fn store_words(undefined: &[AtomicU64], slots: &[AtomicU64], state: &State<'_>) {
    for (word, bytes) in undefined
        .iter()
        .zip(state.undefined.chunks(u64::BITS as usize))
    {
        word.store(bits(bytes), Ordering::Relaxed);
    }
    for (word, value) in slots.iter().zip(state.values.iter()) {
        word.store(*value, Ordering::Relaxed);
    }
}

/// One bit for each byte that is not 0, the first lowest.
fn bits(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |bits, byte| bits << 1 | u64::from(*byte != 0))
}

/// Returns a hash of the state. The table uses its low bits.
pub fn hash(state: &State<'_>) -> u64 {
    const FACTOR: u64 = 0xf135_7aea_2e62_a9c5;
    let mut hash = 0u64;
    for value in state.values.iter() {
        hash = (hash.rotate_left(5) ^ value).wrapping_mul(FACTOR);
    }
    for bytes in state.undefined.chunks(u64::BITS as usize) {
        hash = (hash.rotate_left(5) ^ bits(bytes)).wrapping_mul(FACTOR);
    }
    hash ^ (hash >> 32)
}
