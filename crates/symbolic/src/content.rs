//! The contents of an object: cells of bytes at known offsets, or an array of units if offsets are not
//! known and there are too many to try each.

use std::{collections::BTreeMap, rc::Rc};

use patchwright_solve::{Sort, Term, Terms};

use crate::affine::{Affine, affine};

/// The most cells that an access at an unknown offset is spelled out for.
const MOST_CELLS: usize = 256;
/// The most units of an object that is turned into an array with all that it holds.
const MOST_UNITS: u64 = 1 << 16;

/// Bytes that were written together.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    /// How many.
    width: u32,
    value: Term,
    /// They have a value.
    written: Term,
}

/// What bytes hold that are in no cell.
#[derive(Clone, Debug)]
enum Base {
    Zero,
    /// No value: any, if it is read all the same.
    Unwritten,
    /// These, then zeros.
    Bytes(Rc<[u8]>),
}

/// The content as arrays, the index having 32 bits.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Units {
    /// Bytes of an element.
    unit: u32,
    values: Term,
    /// One bit for each element; `None` when all are written.
    written: Option<Term>,
}

/// What an object holds.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    /// Names the variables that stand for bytes without a value.
    name: Rc<str>,
    base: Base,
    cells: BTreeMap<u64, Cell>,
    units: Option<Units>,
}

/// A value that was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) value: Term,
    /// All of its bytes have a value.
    pub(crate) written: Term,
}

impl Content {
    fn with(name: &str, base: Base) -> Content {
        Content {
            name: name.into(),
            base,
            cells: BTreeMap::new(),
            units: None,
        }
    }

    /// All zero.
    pub(crate) fn zero(name: &str) -> Content {
        Content::with(name, Base::Zero)
    }

    /// No byte has a value.
    pub(crate) fn unwritten(name: &str) -> Content {
        Content::with(name, Base::Unwritten)
    }

    /// These bytes, then zeros.
    pub(crate) fn bytes(name: &str, bytes: &[u8]) -> Content {
        Content::with(name, Base::Bytes(bytes.into()))
    }

    /// Whether the object is encoded as one array, whose parts are not told apart.
    pub(crate) fn is_array(&self) -> bool {
        self.units.is_some()
    }

    /// Whether bytes that were never written have no value, also beyond the object's end.
    pub(crate) fn is_unwritten_beyond(&self) -> bool {
        matches!(self.base, Base::Unwritten)
    }

    /// A byte that no cell has.
    fn base_byte(&self, terms: &mut Terms, at: u64) -> Read {
        let (value, written) = match &self.base {
            Base::Zero => (terms.constant(8, 0), true),
            Base::Bytes(bytes) => {
                let byte = bytes.get(at as usize).copied().unwrap_or(0);
                (terms.constant(8, u128::from(byte)), true)
            }
            Base::Unwritten => {
                let name = format!("unwritten.{}.{at}", self.name);
                (terms.variable(&name, Sort::Bits(8)), false)
            }
        };
        Read {
            value,
            written: terms.truth(written),
        }
    }

    /// The cell that covers a byte, and where it begins.
    fn cell_over(&self, at: u64) -> Option<(u64, Cell)> {
        let (&begin, &cell) = self.cells.range(..=at).next_back()?;
        (at < begin + u64::from(cell.width)).then_some((begin, cell))
    }

    /// Reads `width` bytes at a known offset within the object.
    pub(crate) fn read(&self, terms: &mut Terms, at: u64, width: u32) -> Read {
        if let Some(units) = self.units {
            let offset = terms.constant(64, u128::from(at));
            return read_units(terms, units, offset, width);
        }
        if let Some(cell) = self.cells.get(&at)
            && cell.width == width
        {
            return Read {
                value: cell.value,
                written: cell.written,
            };
        }
        if let (Base::Zero | Base::Bytes(_), None) = (
            &self.base,
            self.cells
                .range(..at + u64::from(width))
                .next_back()
                .filter(|(begin, cell)| **begin + u64::from(cell.width) > at),
        ) {
            let mut value = 0u128;
            for index in (0..u64::from(width)).rev() {
                let byte = match &self.base {
                    Base::Bytes(bytes) => bytes.get((at + index) as usize).copied(),
                    _ => None,
                };
                value = value << 8 | u128::from(byte.unwrap_or(0));
            }
            return Read {
                value: terms.constant(width * 8, value),
                written: terms.truth(true),
            };
        }
        let mut parts: Vec<Read> = Vec::new();
        let end = at + u64::from(width);
        let mut next = at;
        while next < end {
            match self.cell_over(next) {
                Some((begin, cell)) => {
                    let stop = (begin + u64::from(cell.width)).min(end);
                    let (low, high) = ((next - begin) as u32 * 8, (stop - begin) as u32 * 8 - 1);
                    parts.push(Read {
                        value: terms.extract(cell.value, high, low),
                        written: cell.written,
                    });
                    next = stop;
                }
                None => {
                    parts.push(self.base_byte(terms, next));
                    next += 1;
                }
            }
        }
        joined(terms, &parts)
    }

    /// Writes `width` bytes at a known offset within the object.
    pub(crate) fn write(
        &mut self,
        terms: &mut Terms,
        at: u64,
        width: u32,
        value: Term,
        written: Term,
    ) {
        if let Some(units) = &mut self.units {
            let offset = terms.constant(64, u128::from(at));
            *units = write_units(terms, *units, offset, width, value, written);
            return;
        }
        self.clear(terms, at, u64::from(width));
        self.cells.insert(
            at,
            Cell {
                width,
                value,
                written,
            },
        );
    }

    /// Takes a range out of the cells; what they hold beside it stays.
    fn clear(&mut self, terms: &mut Terms, at: u64, size: u64) {
        let end = at + size;
        if let Some(cell) = self.cells.get(&at)
            && u64::from(cell.width) == size
        {
            self.cells.remove(&at);
            return;
        }
        let mut overlapping: Vec<(u64, Cell)> = self
            .cells
            .range(at..end)
            .map(|(&begin, &cell)| (begin, cell))
            .collect();
        overlapping.extend(self.cell_over(at).filter(|&(begin, _)| begin < at));
        for (begin, cell) in overlapping {
            self.cells.remove(&begin);
            let stop = begin + u64::from(cell.width);
            for (from, to) in [(begin, at.min(stop)), (end.max(begin), stop)] {
                if from < to {
                    let (low, high) = ((from - begin) as u32 * 8, (to - begin) as u32 * 8 - 1);
                    let value = terms.extract(cell.value, high, low);
                    self.cells.insert(
                        from,
                        Cell {
                            width: (to - from) as u32,
                            value,
                            written: cell.written,
                        },
                    );
                }
            }
        }
    }

    /// Writes zeros.
    pub(crate) fn clear_to_zero(&mut self, terms: &mut Terms, at: u64, size: u64, whole: u64) {
        if at == 0 && size == whole {
            self.base = Base::Zero;
            self.cells.clear();
            self.units = None;
            return;
        }
        let yes = terms.truth(true);
        if self.units.is_none()
            && let Base::Zero | Base::Bytes(_) = self.base
        {
            // Where the bytes are zero without a cell, none is needed.
            self.clear(terms, at, size);
            let needed = match &self.base {
                Base::Bytes(bytes) => {
                    let end = ((at + size) as usize).min(bytes.len());
                    bytes
                        .get(at as usize..end)
                        .is_some_and(|part| part.iter().any(|&b| b != 0))
                }
                _ => false,
            };
            if !needed {
                return;
            }
        }
        let mut next = at;
        while next < at + size {
            let width = (at + size - next).min(8) as u32;
            let zero = terms.constant(width * 8, 0);
            self.write(terms, next, width, zero, yes);
            next += u64::from(width);
        }
    }

    /// Reads `width` bytes at an offset that is not known, which lies within the `size` bytes of the
    /// object.
    pub(crate) fn read_at(
        &mut self,
        terms: &mut Terms,
        offset: Term,
        width: u32,
        size: u64,
    ) -> Result<Read, &'static str> {
        let form = affine(terms, offset);
        if self.units.is_none()
            && let Some(places) = places(&form, width, size)
        {
            let mut result: Option<Read> = None;
            for &(at, index) in places.iter().rev() {
                let here = self.read(terms, at, width);
                result = Some(match result {
                    None => here,
                    Some(other) => {
                        let is = index_is(terms, &form, index, &places);
                        Read {
                            value: terms.ite(is, here.value, other.value),
                            written: terms.ite(is, here.written, other.written),
                        }
                    }
                });
            }
            if let Some(result) = result {
                return Ok(result);
            }
            return Ok(Read {
                value: terms.constant(width * 8, 0),
                written: terms.truth(true),
            });
        }
        let units = self.as_units(terms, width, &form, size)?;
        Ok(read_units(terms, units, offset, width))
    }

    /// Writes `width` bytes at an offset that is not known, which lies within the object.
    pub(crate) fn write_at(
        &mut self,
        terms: &mut Terms,
        offset: Term,
        width: u32,
        value: Term,
        size: u64,
    ) -> Result<(), &'static str> {
        let form = affine(terms, offset);
        let yes = terms.truth(true);
        if self.units.is_none()
            && let Some(places) = places(&form, width, size)
        {
            for &(at, index) in &places {
                let is = index_is(terms, &form, index, &places);
                let old = self.read(terms, at, width);
                let value = terms.ite(is, value, old.value);
                let written = terms.or(is, old.written);
                self.write(terms, at, width, value, written);
            }
            return Ok(());
        }
        let units = self.as_units(terms, width, &form, size)?;
        self.units = Some(write_units(terms, units, offset, width, value, yes));
        Ok(())
    }

    /// The content as arrays; from now on it is kept so.
    fn as_units(
        &mut self,
        terms: &mut Terms,
        width: u32,
        form: &Affine,
        size: u64,
    ) -> Result<Units, &'static str> {
        if let Some(units) = self.units {
            return Ok(units);
        }
        let regular = form.factor.unsigned_abs().is_multiple_of(u64::from(width))
            && form.rest.rem_euclid(i64::from(width)) == 0
            && matches!(width, 1 | 2 | 4 | 8);
        let unit = if regular { width } else { 1 };
        self.become_units(terms, unit, size)
    }

    fn become_units(
        &mut self,
        terms: &mut Terms,
        unit: u32,
        size: u64,
    ) -> Result<Units, &'static str> {
        let zero = terms.constant(unit * 8, 0);
        let (mut values, mut written) = match &self.base {
            Base::Zero | Base::Bytes(_) => (terms.array_of(32, zero), None),
            Base::Unwritten => {
                let sort = Sort::Array {
                    index: 32,
                    element: unit * 8,
                };
                let no = terms.constant(1, 0);
                let values = terms.variable(&format!("unwritten.{}.units.{unit}", self.name), sort);
                (values, Some(terms.array_of(32, no)))
            }
        };
        let mut touched: Vec<u64> = Vec::new();
        for (&at, cell) in &self.cells {
            let last = at + u64::from(cell.width) - 1;
            touched.extend(at / u64::from(unit)..=last / u64::from(unit));
        }
        if let Base::Bytes(bytes) = &self.base {
            let used = bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
            touched.extend(used.map(|(at, _)| at as u64 / u64::from(unit)));
        }
        touched.sort_unstable();
        touched.dedup();
        if touched.len() as u64 > MOST_UNITS {
            return Err(
                "an object with too many different parts is read or written at an offset that is not known",
            );
        }
        for number in touched {
            let at = number * u64::from(unit);
            let here = (size.saturating_sub(at)).min(u64::from(unit)) as u32;
            let part = self.read(terms, at, here);
            let value = terms.zero_extend(part.value, unit * 8);
            let index = terms.constant(32, u128::from(number));
            values = terms.store(values, index, value);
            if let Some(array) = written {
                let bit = bit_of(terms, part.written);
                written = Some(terms.store(array, index, bit));
            }
        }
        let units = Units {
            unit,
            values,
            written,
        };
        self.cells.clear();
        self.units = Some(units);
        Ok(units)
    }

    /// Merges the contents of an object on two paths: this one where `first` is true, else `other`.
    ///
    /// # Errors
    /// The reason why that cannot be encoded.
    pub(crate) fn merge(
        &self,
        other: &Content,
        terms: &mut Terms,
        first: Term,
        size: u64,
    ) -> Result<Content, &'static str> {
        if self.units.is_some() || other.units.is_some() {
            return self.merge_units(other, terms, first, size);
        }
        if !same_base(&self.base, &other.base) {
            return self.merge_bases(other, terms, first, size);
        }
        let mut result = self.clone();
        let both = |terms: &mut Terms, a: Read, b: Read| Read {
            value: terms.ite(first, a.value, b.value),
            written: terms.ite(first, a.written, b.written),
        };
        // First where the layouts agree, and all of this side's cells.
        for (&at, cell) in &self.cells {
            let theirs = match other.cells.get(&at) {
                Some(theirs) if theirs == cell => continue,
                _ => other.read(terms, at, cell.width),
            };
            let ours = Read {
                value: cell.value,
                written: cell.written,
            };
            let merged = both(terms, ours, theirs);
            result.write(terms, at, cell.width, merged.value, merged.written);
        }
        // Then what only the other side has, byte by byte where this side's cells cover a part.
        for (&at, cell) in &other.cells {
            let mut next = at;
            let end = at + u64::from(cell.width);
            while next < end {
                if let Some((begin, ours)) = self.cell_over(next) {
                    next = begin + u64::from(ours.width);
                    continue;
                }
                let stop = self
                    .cells
                    .range(next..end)
                    .next()
                    .map_or(end, |(&begin, _)| begin);
                let width = (stop - next) as u32;
                let ours = self.read(terms, next, width);
                let theirs = other.read(terms, next, width);
                let merged = both(terms, ours, theirs);
                result.write(terms, next, width, merged.value, merged.written);
                next = stop;
            }
        }
        Ok(result)
    }

    /// Two contents that begin with different bytes: each unit is a cell.
    fn merge_bases(
        &self,
        other: &Content,
        terms: &mut Terms,
        first: Term,
        size: u64,
    ) -> Result<Content, &'static str> {
        if size > 4096 {
            return self.merge_units(other, terms, first, size);
        }
        let mut result = self.clone();
        let mut at = 0;
        while at < size {
            let shared = [self, other].iter().find_map(|content| {
                content
                    .cells
                    .get(&at)
                    .map(|cell| cell.width)
                    .filter(|&width| u64::from(width) <= size - at)
            });
            let width = shared.unwrap_or(1);
            let (a, b) = (self.read(terms, at, width), other.read(terms, at, width));
            let value = terms.ite(first, a.value, b.value);
            let written = terms.ite(first, a.written, b.written);
            result.write(terms, at, width, value, written);
            at += u64::from(width);
        }
        Ok(result)
    }

    fn merge_units(
        &self,
        other: &Content,
        terms: &mut Terms,
        first: Term,
        size: u64,
    ) -> Result<Content, &'static str> {
        let unit = [self, other]
            .iter()
            .find_map(|content| content.units.map(|units| units.unit))
            .unwrap_or(1);
        let (mut ours, mut theirs) = (self.clone(), other.clone());
        let a = match ours.units {
            Some(units) => units,
            None => ours.become_units(terms, unit, size)?,
        };
        let b = match theirs.units {
            Some(units) => units,
            None => theirs.become_units(terms, unit, size)?,
        };
        if a.unit != b.unit {
            return Err(
                "an object is used as an array of two types, at offsets that are not known",
            );
        }
        let values = terms.ite(first, a.values, b.values);
        let written = match (a.written, b.written) {
            (None, None) => None,
            (a, b) => {
                let one = terms.constant(1, 1);
                let all = terms.array_of(32, one);
                Some(terms.ite(first, a.unwrap_or(all), b.unwrap_or(all)))
            }
        };
        ours.units = Some(Units {
            unit,
            values,
            written,
        });
        Ok(ours)
    }

    /// The pairs of values in which two contents differ; nothing where they differ in more than some values.
    pub(crate) fn differences(&self, other: &Content, found: &mut Vec<(Term, Term)>) -> Option<()> {
        const MOST: usize = 512;
        match (self.units, other.units) {
            (None, None) => {}
            (Some(a), Some(b)) if a == b => return Some(()),
            _ => return None,
        }
        if !same_base(&self.base, &other.base) || self.cells.len() != other.cells.len() {
            return None;
        }
        for ((at, a), (there, b)) in self.cells.iter().zip(&other.cells) {
            if (at, a.width, a.written) != (there, b.width, b.written) || found.len() > MOST {
                return None;
            }
            if a.value != b.value {
                found.push((a.value, b.value));
            }
        }
        Some(())
    }

    /// The offsets and widths of the cells in a range, in order, what lies between them by bytes.
    pub(crate) fn layout(&self, at: u64, size: u64) -> Vec<(u64, u32)> {
        let end = at + size;
        let mut parts = Vec::new();
        let mut next = at;
        while next < end {
            let (stop, whole) = match self.cell_over(next) {
                Some((begin, cell)) => (begin + u64::from(cell.width), true),
                None => {
                    let stop = self.cells.range(next..end).next();
                    (stop.map_or(end, |(&begin, _)| begin), false)
                }
            };
            let stop = stop.min(end);
            if whole {
                parts.push((next, (stop - next) as u32));
                next = stop;
            }
            while next < stop {
                let width = (stop - next).min(8);
                parts.push((next, width as u32));
                next += width;
            }
        }
        parts
    }
}

fn same_base(a: &Base, b: &Base) -> bool {
    match (a, b) {
        (Base::Zero, Base::Zero) | (Base::Unwritten, Base::Unwritten) => true,
        (Base::Bytes(a), Base::Bytes(b)) => Rc::ptr_eq(a, b) || a == b,
        _ => false,
    }
}

/// The offsets that an access can have, if they are few.
fn places(form: &Affine, width: u32, size: u64) -> Option<Vec<(u64, i64)>> {
    let last = match size.checked_sub(u64::from(width)) {
        Some(last) => last,
        None => return Some(Vec::new()),
    };
    form.candidates(last, MOST_CELLS)
}

/// Whether the index is this one, given that it is one of `all`: of so few, the low bits tell.
fn index_is(terms: &mut Terms, form: &Affine, index: i64, all: &[(u64, i64)]) -> Term {
    let Some(term) = form.index else {
        return terms.truth(true);
    };
    let bits = usize::BITS - all.len().saturating_sub(1).leading_zeros();
    let bits = bits.clamp(1, 64);
    let width = terms.width(term);
    let (low, width) = match bits < width {
        true => (terms.extract(term, bits - 1, 0), bits),
        false => (term, width),
    };
    let value = terms.constant(
        width,
        u128::from(index as u64) & (u128::MAX >> (128 - width)),
    );
    terms.eq(low, value)
}

/// Parts that follow each other, the first one lowest.
fn joined(terms: &mut Terms, parts: &[Read]) -> Read {
    let mut parts = parts.iter();
    let mut whole = match parts.next() {
        Some(&first) => first,
        None => Read {
            value: terms.constant(8, 0),
            written: terms.truth(true),
        },
    };
    for part in parts {
        whole.value = terms.concat(part.value, whole.value);
        whole.written = terms.and(whole.written, part.written);
    }
    whole
}

fn bit_of(terms: &mut Terms, condition: Term) -> Term {
    let (one, zero) = (terms.constant(1, 1), terms.constant(1, 0));
    terms.ite(condition, one, zero)
}

/// The number of the unit at an offset of 64 bits, and the byte within it (`None`: the first).
fn unit_at(terms: &mut Terms, units: Units, offset: Term) -> (Term, Option<Term>) {
    let shift = units.unit.trailing_zeros();
    if shift == 0 {
        return (terms.extract(offset, 31, 0), None);
    }
    let number = terms.extract(offset, 31 + shift, shift);
    let form = affine(terms, offset);
    let step = u64::from(units.unit);
    let aligned =
        form.factor.unsigned_abs().is_multiple_of(step) && form.rest.rem_euclid(step as i64) == 0;
    if aligned {
        return (number, None);
    }
    (number, Some(terms.extract(offset, shift - 1, 0)))
}

fn select_unit(terms: &mut Terms, units: Units, number: Term) -> Read {
    let value = terms.select(units.values, number);
    let written = match units.written {
        None => terms.truth(true),
        Some(array) => {
            let bit = terms.select(array, number);
            let one = terms.constant(1, 1);
            terms.eq(bit, one)
        }
    };
    Read { value, written }
}

fn read_units(terms: &mut Terms, units: Units, offset: Term, width: u32) -> Read {
    let (number, within) = unit_at(terms, units, offset);
    if within.is_none() && width <= units.unit {
        let whole = select_unit(terms, units, number);
        return Read {
            value: terms.extract(whole.value, width * 8 - 1, 0),
            written: whole.written,
        };
    }
    // Byte by byte: each lies in the unit that its own offset tells.
    let bytes: Vec<Read> = (0..width)
        .map(|index| {
            let step = terms.constant(64, u128::from(index));
            let at = terms.add(offset, step);
            let (number, within) = unit_at(terms, units, at);
            let whole = select_unit(terms, units, number);
            let value = match within {
                None => terms.extract(whole.value, 7, 0),
                Some(within) => {
                    let bits = units.unit * 8;
                    let three = terms.constant(3, 0);
                    let count = terms.concat(within, three);
                    let count = terms.zero_extend(count, bits);
                    let moved = terms.lshr(whole.value, count);
                    terms.extract(moved, 7, 0)
                }
            };
            Read {
                value,
                written: whole.written,
            }
        })
        .collect();
    joined(terms, &bytes)
}

fn write_units(
    terms: &mut Terms,
    mut units: Units,
    offset: Term,
    width: u32,
    value: Term,
    written: Term,
) -> Units {
    let (number, within) = unit_at(terms, units, offset);
    let bit = bit_of(terms, written);
    if within.is_none() && width == units.unit {
        units.values = terms.store(units.values, number, value);
        units.written = units.written.map(|array| terms.store(array, number, bit));
        return units;
    }
    for index in 0..width {
        let step = terms.constant(64, u128::from(index));
        let at = terms.add(offset, step);
        let (number, within) = unit_at(terms, units, at);
        let byte = terms.extract(value, index * 8 + 7, index * 8);
        let bits = units.unit * 8;
        let old = terms.select(units.values, number);
        let wide = terms.zero_extend(byte, bits);
        let new = match within {
            None if bits == 8 => byte,
            _ => {
                let mask = terms.constant(bits, 0xff);
                let (mask, wide) = match within {
                    None => (mask, wide),
                    Some(within) => {
                        let three = terms.constant(3, 0);
                        let count = terms.concat(within, three);
                        let count = terms.zero_extend(count, bits);
                        (terms.shl(mask, count), terms.shl(wide, count))
                    }
                };
                let around = terms.bit_not(mask);
                let kept = terms.bit_and(old, around);
                terms.bit_or(kept, wide)
            }
        };
        units.values = terms.store(units.values, number, new);
        units.written = units.written.map(|array| terms.store(array, number, bit));
    }
    units
}
