//! The formats of `scanf` and its relatives.

use patchwright_ir::Type;
use patchwright_semantics::Ty;

use super::{
    format::Source,
    stdlib::{ERANGE, ReadFloat, float},
};
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
}

/// What a conversion finds in the input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Item,
    /// Other characters: a matching failure.
    Other,
    /// The end, before any character of the item: an input failure.
    End,
}

/// The number of items assigned; -1 when the input ends where the first one would begin.
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
    };
    let mut assigned = 0;
    let mut last = Found::Item;
    let mut at = 0;
    while at < format.len() {
        let c = format[at];
        at += 1;
        if is_space(c) {
            scan.skip_space(machine)?;
            continue;
        }
        if c != b'%' {
            last = scan.expect(machine, c)?;
            if last != Found::Item {
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
        last = scan.item(machine, conversion, length, width, set, suppress)?;
        if last != Found::Item {
            break;
        }
        assigned += i64::from(!suppress && conversion != b'%');
    }
    // What is read and not assigned does not count.
    Ok(match last {
        Found::End if assigned == 0 => -1,
        _ => assigned,
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
        self.read += u64::from(byte.is_some());
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

    fn expect(&mut self, machine: &mut Machine<'_>, c: u8) -> Run<Found> {
        Ok(match self.next(machine)? {
            Some(byte) if byte == c => Found::Item,
            Some(byte) => {
                self.back(machine, byte);
                Found::Other
            }
            None => Found::End,
        })
    }

    /// Whether the input ends here.
    fn is_at_end(&mut self, machine: &mut Machine<'_>) -> Run<bool> {
        let byte = self.next(machine)?;
        if let Some(byte) = byte {
            self.back(machine, byte);
        }
        Ok(byte.is_none())
    }

    /// Takes bytes for which `test` holds, at most as many as `left` says, which is counted down.
    fn take(
        &mut self,
        machine: &mut Machine<'_>,
        left: &mut usize,
        found: &mut Vec<u8>,
        test: &mut dyn FnMut(u8) -> bool,
    ) -> Run<()> {
        while *left > 0 {
            match self.next(machine)? {
                Some(byte) if test(byte) => {
                    found.push(byte);
                    *left -= 1;
                }
                Some(byte) => {
                    self.back(machine, byte);
                    break;
                }
                None => break,
            }
        }
        Ok(())
    }

    /// Takes the next byte if it is one of `bytes`.
    fn take_one(
        &mut self,
        machine: &mut Machine<'_>,
        left: &mut usize,
        found: &mut Vec<u8>,
        bytes: &[u8],
    ) -> Run<bool> {
        if *left == 0 {
            return Ok(false);
        }
        match self.next(machine)? {
            Some(byte) if bytes.contains(&byte) => {
                found.push(byte);
                *left -= 1;
                Ok(true)
            }
            Some(byte) => {
                self.back(machine, byte);
                Ok(false)
            }
            None => Ok(false),
        }
    }

    /// The digits of an integer behind its sign, without `0x`, and its base.
    fn integer(
        &mut self,
        machine: &mut Machine<'_>,
        left: &mut usize,
        mut base: u32,
    ) -> Run<(Vec<u8>, u32)> {
        let mut found = Vec::new();
        self.take_one(machine, left, &mut found, b"+-")?;
        if self.take_one(machine, left, &mut found, b"0")? {
            let hexadecimal = match base {
                0 | 16 => self.take_one(machine, left, &mut Vec::new(), b"xX")?,
                _ => false,
            };
            base = match base {
                0 if hexadecimal => 16,
                0 => 8,
                base => base,
            };
        } else if base == 0 {
            base = 10;
        }
        self.take(machine, left, &mut found, &mut |b| {
            char::from(b).is_digit(base)
        })?;
        Ok((found, base))
    }

    /// The characters of a float; `None` where they are those of none. They may have an exponent without digits at their end.
    fn float(&mut self, machine: &mut Machine<'_>, left: &mut usize) -> Run<Option<Vec<u8>>> {
        let mut found = Vec::new();
        self.take_one(machine, left, &mut found, b"+-")?;
        let sign = found.len();
        for word in ["nan", "inf"] {
            if !self.take_one(machine, left, &mut found, &either_case(word.as_bytes()[0]))? {
                continue;
            }
            if !self.rest_of_word(machine, left, &mut found, &word[1..])? {
                return Ok(None);
            }
            if word == "inf"
                && self.take_one(machine, left, &mut found, b"iI")?
                && !self.rest_of_word(machine, left, &mut found, "nity")?
            {
                return Ok(None);
            }
            return Ok(Some(found));
        }
        let mut digits = self.take_one(machine, left, &mut found, b"0")?;
        // The last character that the width allows is no `x`.
        let hexadecimal = digits && *left > 1 && self.take_one(machine, left, &mut found, b"xX")?;
        if hexadecimal {
            digits = false;
        }
        let (mut point, mut exponent) = (false, false);
        let mut last = 0;
        self.take(machine, left, &mut found, &mut |byte| {
            let of_exponent = byte.eq_ignore_ascii_case(if hexadecimal { &b'p' } else { &b'e' });
            let takes = match byte {
                b'0'..=b'9' => true,
                b'+' | b'-' => exponent && matches!(last, b'e' | b'E' | b'p' | b'P'),
                _ if hexadecimal && !exponent && byte.is_ascii_hexdigit() => true,
                b'.' => !point,
                _ => of_exponent && digits && !exponent,
            };
            if takes {
                match byte {
                    b'.' => point = true,
                    b'+' | b'-' => {}
                    _ if of_exponent => (exponent, point) = (true, true),
                    _ => digits = true,
                }
                last = byte;
            }
            takes
        })?;
        let only = sign + if hexadecimal { 2 } else { 0 };
        Ok((found.len() > only).then_some(found))
    }

    /// Takes letters of either case; whether all of them are there.
    fn rest_of_word(
        &mut self,
        machine: &mut Machine<'_>,
        left: &mut usize,
        found: &mut Vec<u8>,
        word: &str,
    ) -> Run<bool> {
        for letter in word.bytes() {
            if !self.take_one(machine, left, found, &either_case(letter))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn item(
        &mut self,
        machine: &mut Machine<'_>,
        conversion: u8,
        length: &[u8],
        width: usize,
        set: &[u8],
        suppress: bool,
    ) -> Run<Found> {
        if !matches!(conversion, b'c' | b'[') {
            self.skip_space(machine)?;
        }
        if self.is_at_end(machine)? {
            return Ok(Found::End);
        }
        let mut left = match width {
            0 => usize::MAX,
            width => width,
        };
        match conversion {
            b'%' => self.expect(machine, b'%'),
            b'c' => {
                left = width.max(1);
                let mut found = Vec::new();
                self.take(machine, &mut left, &mut found, &mut |_| true)?;
                if !suppress {
                    let address = self.source.next(machine, Type::Ptr)? as u64;
                    machine.put_bytes(address, &found)?;
                }
                Ok(Found::Item)
            }
            b's' | b'[' => {
                let mut found = Vec::new();
                self.take(machine, &mut left, &mut found, &mut |b| match conversion {
                    b's' => !is_space(b),
                    _ => in_set(set, b),
                })?;
                if found.is_empty() {
                    return Ok(Found::Other);
                }
                if !suppress {
                    let address = self.source.next(machine, Type::Ptr)? as u64;
                    machine.put_text(address, &found)?;
                }
                Ok(Found::Item)
            }
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'p' => {
                let base = match conversion {
                    b'd' | b'u' => 10,
                    b'o' => 8,
                    b'i' => 0,
                    _ => 16,
                };
                let unsigned = !matches!(conversion, b'd' | b'i');
                let (found, base) = self.integer(machine, &mut left, base)?;
                let (value, used, fits) = super::stdlib::integer(&found, base, unsigned);
                if used == 0 {
                    return Ok(Found::Other);
                }
                if !fits {
                    machine.set_errno(ERANGE);
                }
                if !suppress {
                    let address = self.source.next(machine, Type::Ptr)? as u64;
                    let length: &[u8] = if conversion == b'p' { b"l" } else { length };
                    let ty = integer_type(length, true);
                    machine
                        .memory
                        .store(ty, address, ty.canonical(value as u64))?;
                }
                Ok(Found::Item)
            }
            b'f' | b'e' | b'g' | b'E' | b'G' | b'F' | b'a' | b'A' => {
                let Some(found) = self.float(machine, &mut left)? else {
                    return Ok(Found::Other);
                };
                let (ty, of) = match length {
                    b"L" => (Type::F80, None),
                    b"l" => (Type::F64, Some(Ty::F64)),
                    _ => (Type::F32, Some(Ty::F32)),
                };
                let ReadFloat { bits, used, errno } = float(&found, ty);
                if errno != 0 {
                    machine.set_errno(errno);
                }
                if used == 0 {
                    return Ok(Found::Other);
                }
                if !suppress {
                    let address = self.source.next(machine, Type::Ptr)? as u64;
                    match of {
                        Some(of) => machine.memory.store(of, address, bits as u64)?,
                        None => machine.memory.store_wide(16, address, bits)?,
                    }
                }
                Ok(Found::Item)
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
        // The end of one range may begin the next. Where the end is the lesser one, the three characters are members.
        if set[at] == b'-' && at > 0 && at + 1 < set.len() && set[at - 1] <= set[at + 1] {
            found |= (set[at - 1]..set[at + 1]).contains(&byte);
            at += 1;
        } else {
            found |= set[at] == byte;
            at += 1;
        }
    }
    found != negated
}

fn either_case(letter: u8) -> [u8; 2] {
    [letter.to_ascii_lowercase(), letter.to_ascii_uppercase()]
}
