//! One evaluation of an alternative: its writes are undone, and its effect is compared with those of
//! others.

use crate::system;
use core::ffi::c_void;
use patchwright_probe_abi::NONE;

/// Most writes of one evaluation.
const MAX_WRITES: usize = 512;
/// Most bytes that one evaluation writes.
const MAX_BYTES: usize = 8192;
/// Most effects of one visit that can be told apart.
const MAX_EFFECTS: usize = 1024;
/// Most changed bytes of all effects of one visit.
const MAX_CHANGES: usize = 1 << 15;
/// Protection changes at multiples of this.
const PAGE: usize = 4096;
/// Pages that are remembered at once.
const REMEMBERED: usize = 8;
/// Where the bytes of an evaluation's value are put among its changes: no address of a program.
const VALUE: u64 = 1 << 63;

#[derive(Clone, Copy)]
struct Write {
    address: usize,
    size: usize,
    /// Where its old bytes are.
    offset: usize,
}

/// A byte that an alternative changes.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Change {
    address: u64,
    byte: u8,
}

/// What an alternative does: its control outcome and its changes.
#[derive(Clone, Copy)]
struct Effect {
    control: u32,
    first: usize,
    count: usize,
    /// The group that patches with this effect are split off with, once there is one.
    group: u32,
}

/// The state of evaluations during a visit of a place. It lives in zeroed memory of the library.
pub struct Evaluation {
    writes: [Write; MAX_WRITES],
    write_count: usize,
    old: [u8; MAX_BYTES],
    new: [u8; MAX_BYTES],
    used: usize,
    changes: [Change; MAX_CHANGES],
    change_count: usize,
    effects: [Effect; MAX_EFFECTS],
    effect_count: usize,
    readable: Pages,
    writable: Pages,
}

/// Pages known to be accessible during this visit.
struct Pages {
    pages: [usize; REMEMBERED],
    next: usize,
}

impl Pages {
    /// Remembers the page of address 0, which is never accessible and is refused apart.
    const NEW: Self = Self {
        pages: [0; REMEMBERED],
        next: 0,
    };

    fn has(&self, page: usize) -> bool {
        self.pages.contains(&page)
    }

    fn add(&mut self, page: usize) {
        if let Some(entry) = self.pages.get_mut(self.next) {
            *entry = page;
        }
        self.next = (self.next + 1) % REMEMBERED;
    }
}

/// Whether every page of a region passes the test; pages that did are remembered.
fn all_pages(known: &mut Pages, start: usize, size: usize, test: fn(usize) -> bool) -> bool {
    let Some(last) = size
        .checked_sub(1)
        .and_then(|length| start.checked_add(length))
    else {
        return false;
    };
    // Not the first page, not the kernel's half of the address space.
    if start < PAGE || last >= 1 << 47 {
        return false;
    }
    for page in start / PAGE..=last / PAGE {
        if known.has(page) {
            continue;
        }
        if !test(page * PAGE) {
            return false;
        }
        known.add(page);
    }
    true
}

fn is_poisoned(start: usize, size: usize) -> bool {
    crate::process::poisoned().is_some_and(|poisoned| {
        // SAFETY: AddressSanitizer's own function, which takes any region.
        !unsafe { poisoned(start as *mut c_void, size) }.is_null()
    })
}

impl Evaluation {
    /// The state before the first visit.
    pub const NEW: Self = Self {
        writes: [Write {
            address: 0,
            size: 0,
            offset: 0,
        }; MAX_WRITES],
        write_count: 0,
        old: [0; MAX_BYTES],
        new: [0; MAX_BYTES],
        used: 0,
        changes: [Change {
            address: 0,
            byte: 0,
        }; MAX_CHANGES],
        change_count: 0,
        effects: [Effect {
            control: 0,
            first: 0,
            count: 0,
            group: 0,
        }; MAX_EFFECTS],
        effect_count: 0,
        readable: Pages::NEW,
        writable: Pages::NEW,
    };

    /// Forgets the effects and the known pages of the last visit.
    pub fn begin_visit(&mut self) {
        self.change_count = 0;
        self.effect_count = 0;
        self.readable = Pages::NEW;
        self.writable = Pages::NEW;
    }

    /// Begins the evaluation of one alternative.
    pub fn begin(&mut self) {
        self.write_count = 0;
        self.used = 0;
    }

    /// Whether `size` bytes at `start` can be read.
    pub fn can_read(&mut self, start: usize, size: usize) -> bool {
        all_pages(&mut self.readable, start, size, system::is_readable) && !is_poisoned(start, size)
    }

    /// Notes the old bytes of a region before it is written. It returns false if the region must not
    /// be written.
    pub fn write(&mut self, start: usize, size: usize) -> bool {
        let accessible = all_pages(&mut self.readable, start, size, system::is_readable)
            && all_pages(&mut self.writable, start, size, system::is_writable)
            && !is_poisoned(start, size);
        if !accessible {
            return false;
        }
        let end = self.used.saturating_add(size);
        let (Some(write), Some(old)) = (
            self.writes.get_mut(self.write_count),
            self.old.get_mut(self.used..end),
        ) else {
            return false;
        };
        *write = Write {
            address: start,
            size,
            offset: self.used,
        };
        copy_from(start, old);
        self.used = end;
        self.write_count += 1;
        true
    }

    /// Undoes all writes, and returns the number of the evaluation's effect. It is `None` if there is
    /// no room for the effect.
    pub fn end(&mut self, control: u32, value: &[u8]) -> Option<u32> {
        for write in self.writes.iter().take(self.write_count) {
            let range = write.offset..write.offset.saturating_add(write.size);
            if let Some(new) = self.new.get_mut(range) {
                copy_from(write.address, new);
            }
        }
        for write in self.writes.iter().take(self.write_count).rev() {
            let range = write.offset..write.offset.saturating_add(write.size);
            if let Some(old) = self.old.get(range) {
                copy_to(old, write.address);
            }
        }
        let first = self.change_count;
        for number in 0..self.write_count {
            let write = *self.writes.get(number)?;
            for i in 0..write.size {
                let byte = *self.new.get(write.offset.wrapping_add(i))?;
                let address = write.address.wrapping_add(i);
                if read(address) != byte {
                    self.insert(first, address as u64, byte)?;
                }
            }
        }
        for (i, byte) in value.iter().enumerate() {
            self.insert(first, VALUE + i as u64, *byte)?;
        }
        let count = self.change_count - first;
        let changes = self.changes.get(first..self.change_count)?;
        for (number, effect) in self.effects.iter().take(self.effect_count).enumerate() {
            let known = self
                .changes
                .get(effect.first..effect.first + effect.count)?;
            if effect.control == control && known == changes {
                self.change_count = first;
                return Some(number as u32);
            }
        }
        let number = self.effect_count;
        *self.effects.get_mut(number)? = Effect {
            control,
            first,
            count,
            group: NONE,
        };
        self.effect_count += 1;
        Some(number as u32)
    }

    /// Puts a change in order of addresses among those from `first` on; the same byte is changed once.
    fn insert(&mut self, first: usize, address: u64, byte: u8) -> Option<()> {
        let mut place = self.change_count;
        while place > first && self.changes.get(place - 1)?.address > address {
            place -= 1;
        }
        if place > first && self.changes.get(place - 1)?.address == address {
            return Some(());
        }
        // The last entry stays free, so that a full table is seen before it is moved.
        if self.change_count + 1 >= MAX_CHANGES {
            self.change_count = first;
            return None;
        }
        let mut at = self.change_count;
        while at > place {
            *self.changes.get_mut(at)? = *self.changes.get(at - 1)?;
            at -= 1;
        }
        *self.changes.get_mut(place)? = Change { address, byte };
        self.change_count += 1;
        Some(())
    }

    /// Returns the group of an effect, which `new` makes if the effect has none yet.
    pub fn group(&mut self, effect: u32, new: impl FnOnce() -> u32) -> u32 {
        match self.effects.get_mut(effect as usize) {
            Some(effect) => {
                if effect.group == NONE {
                    effect.group = new();
                }
                effect.group
            }
            None => new(),
        }
    }
}

fn read(address: usize) -> u8 {
    // SAFETY: the byte was accessible when it was written during this evaluation.
    unsafe { (address as *const u8).read_volatile() }
}

fn copy_from(start: usize, bytes: &mut [u8]) {
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = read(start.wrapping_add(i));
    }
}

fn copy_to(bytes: &[u8], start: usize) {
    for (i, byte) in bytes.iter().enumerate() {
        // SAFETY: as for `read`; the page was writable.
        unsafe { (start.wrapping_add(i) as *mut u8).write_volatile(*byte) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation() -> Box<Evaluation> {
        Box::new(Evaluation::NEW)
    }

    /// Evaluates writes of (index, value) to an array.
    fn effect(evaluation: &mut Evaluation, array: &mut [u32; 4], writes: &[(usize, u32)]) -> u32 {
        evaluation.begin();
        for (index, value) in writes {
            let cell: *mut u32 = &raw mut array[*index];
            assert!(evaluation.write(cell as usize, 4));
            // SAFETY: a cell of the array.
            unsafe { cell.write_volatile(*value) };
        }
        evaluation.end(0, &[]).unwrap()
    }

    #[test]
    fn writes_are_undone_and_effects_compared_by_their_changes() {
        let mut evaluation = evaluation();
        let mut array = [1, 2, 3, 4];
        evaluation.begin_visit();
        let nothing = effect(&mut evaluation, &mut array, &[]);
        let same = effect(&mut evaluation, &mut array, &[(0, 7), (0, 1)]);
        let one = effect(&mut evaluation, &mut array, &[(1, 9), (2, 8)]);
        let other_order = effect(&mut evaluation, &mut array, &[(2, 8), (1, 5), (1, 9)]);
        let other = effect(&mut evaluation, &mut array, &[(1, 9), (3, 8)]);
        assert_eq!(array, [1, 2, 3, 4]);
        assert_eq!(nothing, same);
        assert_eq!(one, other_order);
        assert!(one != other && one != nothing && other != nothing);
    }

    #[test]
    fn control_and_value_are_part_of_an_effect() {
        let mut evaluation = evaluation();
        evaluation.begin_visit();
        let mut end = |control, value: &[u8]| {
            evaluation.begin();
            evaluation.end(control, value).unwrap()
        };
        let (a, b, c, d) = (end(0, &[]), end(1, &[]), end(1, &[5]), end(1, &[5]));
        assert!(a != b && b != c);
        assert_eq!(c, d);
    }

    #[test]
    fn memory_that_is_not_there_or_cannot_be_written_is_refused() {
        static CONSTANT: [u8; 64] = [7; 64];
        let mut evaluation = evaluation();
        evaluation.begin_visit();
        evaluation.begin();
        let constant = CONSTANT.as_ptr() as usize;
        assert!(evaluation.can_read(constant, 8));
        assert!(!evaluation.write(constant, 8));
        for address in [0, 8, usize::MAX - 3, 1 << 63] {
            assert!(!evaluation.can_read(address, 8), "{address:#x}");
            assert!(!evaluation.write(address, 8), "{address:#x}");
        }
        let mut here = 5u64;
        assert!(evaluation.write(&raw mut here as usize, 8));
        assert_eq!(here, 5);
    }

    #[test]
    fn too_many_writes_are_refused_and_the_others_undone() {
        let mut evaluation = evaluation();
        evaluation.begin_visit();
        evaluation.begin();
        let mut cell = 0u8;
        let address = &raw mut cell;
        let mut count = 0;
        while evaluation.write(address as usize, 1) {
            // SAFETY: a local variable.
            unsafe { address.write_volatile(1) };
            count += 1;
        }
        assert_eq!(count, MAX_WRITES);
        evaluation.end(0, &[]).unwrap();
        assert_eq!(cell, 0);
    }
}
