//! The formats of `scanf` and its relatives.

use patchwright_ir::Type;
use patchwright_semantics::Ty;

use super::format::Source;
use crate::{
    fault::{Run, Stop},
    machine::Machine,
};

/// Where characters come from: a string, or a stream that is read byte by byte.
pub(super) trait Input {
    fn next(&mut self, machine: &mut Machine<'_>) -> Run<Option<u8>>;
    fn back(&mut self, machine: &mut Machine<'_>, byte: u8);
}

/// The characters of a string.
pub(super) struct Characters(pub(super) Vec<u8>, pub(super) usize);

impl Input for Characters {
    fn next(&mut self, _machine: &mut Machine<'_>) -> Run<Option<u8>> {
        let byte = self.0.get(self.1).copied();
        self.1 += usize::from(byte.is_some());
        Ok(byte)
    }

    fn back(&mut self, _machine: &mut Machine<'_>, _byte: u8) {
        self.1 -= 1;
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 9..=13)
}

struct Scan<'a, 'b> {
    input: &'a mut dyn Input,
    source: &'a mut Source<'b>,
    read: u64,
    /// The input has ended.
    ended: bool,
}

/// The number of items assigned; -1 when the input ends before the first one.
pub(super) fn scan(
    machine: &mut Machine<'_>,
    format: &[u8],
    input: &mut dyn Input,
    source: &mut Source<'_>,
) -> Run<i64> {
    let mut scan = Scan {
        input,
        source,
        read: 0,
        ended: false,
    };
    let mut assigned = 0;
    let mut complete = true;
    let mut at = 0;
    while at < format.len() {
        let c = format[at];
        at += 1;
        if is_space(c) {
            scan.skip_space(machine)?;
            continue;
        }
        if c != b'%' {
            if !scan.expect(machine, c)? {
                complete = false;
                break;
            }
            continue;
        }
        let suppress = format.get(at) == Some(&b'*');
        at += usize::from(suppress);
        let mut width = 0usize;
        while let Some(d) = format.get(at).filter(|d| d.is_ascii_digit()) {
            width = width * 10 + usize::from(d - b'0');
            at += 1;
        }
        let start = at;
        while format
            .get(at)
            .is_some_and(|c| matches!(c, b'h' | b'l' | b'j' | b'z' | b't' | b'L' | b'q'))
        {
            at += 1;
        }
        let length = &format[start..at];
        let Some(&conversion) = format.get(at) else {
            break;
        };
        at += 1;
        let set = match conversion {
            b'[' => {
                let begin = at;
                at += usize::from(format.get(at) == Some(&b'^'));
                at += usize::from(format.get(at) == Some(&b']'));
                while format.get(at).is_some_and(|&c| c != b']') {
                    at += 1;
                }
                let set = &format[begin..at.min(format.len())];
                at += 1;
                set
            }
            _ => &[],
        };
        if conversion == b'n' {
            if !suppress {
                let address = scan.source.next(machine, Type::Ptr)? as u64;
                machine
                    .memory
                    .store(integer_type(length, true), address, scan.read)?;
            }
            continue;
        }
        let done = scan.item(machine, conversion, length, width, set, suppress)?;
        if !done {
            complete = false;
            break;
        }
        assigned += i64::from(!suppress && conversion != b'%');
    }
    // What is read and not assigned does not count.
    Ok(if assigned == 0 && scan.ended && !complete {
        -1
    } else {
        assigned
    })
}

fn integer_type(length: &[u8], signed: bool) -> Ty {
    match (length, signed) {
        (b"hh", _) => Ty::I8,
        (b"h", _) => Ty::I16,
        (b"", true) => Ty::I32,
        (b"", false) => Ty::U32,
        _ => Ty::I64,
    }
}

impl Scan<'_, '_> {
    fn next(&mut self, machine: &mut Machine<'_>) -> Run<Option<u8>> {
        let byte = self.input.next(machine)?;
        match byte {
            Some(_) => self.read += 1,
            None => self.ended = true,
        }
        Ok(byte)
    }

    fn back(&mut self, machine: &mut Machine<'_>, byte: u8) {
        self.read -= 1;
        self.input.back(machine, byte);
    }

    fn skip_space(&mut self, machine: &mut Machine<'_>) -> Run<()> {
        while let Some(byte) = self.next(machine)? {
            if !is_space(byte) {
                self.back(machine, byte);
                break;
            }
        }
        Ok(())
    }

    fn expect(&mut self, machine: &mut Machine<'_>, c: u8) -> Run<bool> {
        match self.next(machine)? {
            Some(byte) if byte == c => Ok(true),
            Some(byte) => {
                self.back(machine, byte);
                Ok(false)
            }
            None => Ok(false),
        }
    }

    /// Bytes for which `test` holds, given those before; at most `width`.
    fn take(
        &mut self,
        machine: &mut Machine<'_>,
        width: usize,
        test: &dyn Fn(&[u8], u8) -> bool,
    ) -> Run<Vec<u8>> {
        let mut found = Vec::new();
        while width == 0 || found.len() < width {
            match self.next(machine)? {
                Some(byte) if test(&found, byte) => found.push(byte),
                Some(byte) => {
                    self.back(machine, byte);
                    break;
                }
                None => break,
            }
        }
        Ok(found)
    }

    fn item(
        &mut self,
        machine: &mut Machine<'_>,
        conversion: u8,
        length: &[u8],
        width: usize,
        set: &[u8],
        suppress: bool,
    ) -> Run<bool> {
        if !matches!(conversion, b'c' | b'[') {
            self.skip_space(machine)?;
        }
        match conversion {
            b'%' => self.expect(machine, b'%'),
            b'c' => {
                let width = width.max(1);
                let found = self.take(machine, width, &|_, _| true)?;
                if found.len() < width {
                    return Ok(false);
                }
                if !suppress {
                    let address = self.source.next(machine, Type::Ptr)? as u64;
                    machine.put_bytes(address, &found)?;
                }
                Ok(true)
            }
            b's' | b'[' => {
                let found = match conversion {
                    b's' => self.take(machine, width, &|_, b| !is_space(b))?,
                    _ => self.take(machine, width, &|_, b| in_set(set, b))?,
                };
                if found.is_empty() {
                    return Ok(false);
                }
                if !suppress {
                    let address = self.source.next(machine, Type::Ptr)? as u64;
                    machine.put_text(address, &found)?;
                }
                Ok(true)
            }
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'p' => {
                let base = match conversion {
                    b'd' | b'u' => 10,
                    b'o' => 8,
                    b'i' => 0,
                    _ => 16,
                };
                let found = self.take(machine, width, &|before, b| in_integer(before, b, base))?;
                let (value, used, _) = super::stdlib::integer(&found, base, false);
                if used == 0 {
                    return Ok(false);
                }
                if !suppress {
                    let address = self.source.next(machine, Type::Ptr)? as u64;
                    let length: &[u8] = if conversion == b'p' { b"l" } else { length };
                    let ty = integer_type(length, true);
                    machine
                        .memory
                        .store(ty, address, ty.canonical(value as u64))?;
                }
                Ok(true)
            }
            b'f' | b'e' | b'g' | b'E' | b'G' | b'F' | b'a' | b'A' => {
                let found = self.take(machine, width, &in_float)?;
                let (ty, of) = match length {
                    b"L" => (Type::F80, None),
                    b"l" => (Type::F64, Some(Ty::F64)),
                    _ => (Type::F32, Some(Ty::F32)),
                };
                let (bits, used) = super::stdlib::float(&found, ty);
                if used == 0 {
                    return Ok(false);
                }
                if !suppress {
                    let address = self.source.next(machine, Type::Ptr)? as u64;
                    match of {
                        Some(of) => machine.memory.store(of, address, bits as u64)?,
                        None => machine.memory.store_wide(16, address, bits)?,
                    }
                }
                Ok(true)
            }
            other => Err(Stop::Unsupported(format!(
                "the conversion %{} of scanf",
                char::from(other)
            ))),
        }
    }
}

fn in_set(set: &[u8], byte: u8) -> bool {
    let (negated, set) = match set.strip_prefix(b"^") {
        Some(rest) => (true, rest),
        None => (false, set),
    };
    let mut found = false;
    let mut at = 0;
    while at < set.len() {
        if set.get(at + 1) == Some(&b'-') && at + 2 < set.len() {
            found |= (set[at]..=set[at + 2]).contains(&byte);
            at += 3;
        } else {
            found |= set[at] == byte;
            at += 1;
        }
    }
    found != negated
}

fn in_integer(before: &[u8], byte: u8, base: u32) -> bool {
    let digits = before
        .strip_prefix(b"-")
        .or_else(|| before.strip_prefix(b"+"))
        .unwrap_or(before);
    match byte {
        b'+' | b'-' => before.is_empty(),
        b'x' | b'X' => digits == b"0" && (base == 16 || base == 0),
        _ => {
            let hex = digits.len() > 1 && matches!(digits[1], b'x' | b'X');
            let base = match base {
                0 if hex => 16,
                0 if digits.starts_with(b"0") => 8,
                0 => 10,
                base => base,
            };
            char::from(byte).is_digit(base)
        }
    }
}

fn in_float(before: &[u8], byte: u8) -> bool {
    match byte {
        b'+' | b'-' => before.last().is_none_or(|b| matches!(b, b'e' | b'E')),
        b'.' => !before.contains(&b'.') && !before.contains(&b'e'),
        b'e' | b'E' => before.iter().any(u8::is_ascii_digit) && !before.contains(&b'e'),
        b'0'..=b'9' => true,
        b'i' | b'n' | b'f' | b'a' | b't' | b'y' | b'I' | b'N' | b'F' | b'A' | b'T' | b'Y' => {
            !before.iter().any(u8::is_ascii_digit)
        }
        _ => false,
    }
}
