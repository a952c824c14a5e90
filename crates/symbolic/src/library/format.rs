//! Computes what a format of `printf` prints: bytes and their number.

use patchwright_ir::{Type, Undefined};
use patchwright_solve::{Sort, Term};

use crate::{
    calling::Call,
    content::Read,
    encoder::{Dead, Encoder, Go, World},
    encoding::Piece,
    meaning,
};

/// Bytes of a string that is formatted at most.
pub(super) const MOST: u64 = 4096;
/// Bytes that are written to memory at most.
const MOST_WRITTEN: usize = 1024;

/// Bytes that follow each other.
enum Part {
    /// All of them.
    Bytes(Vec<u8>),
    /// The first so many (64 bits).
    Counted(Vec<Term>, Term),
    /// It is not known which, nor how many.
    Unknown,
}

/// What a format gives.
pub(super) struct Formatted {
    parts: Vec<Part>,
    /// The strings that were read for it, and how many bytes of each (64 bits).
    sources: Vec<(Term, Term)>,
}

/// Where the text goes, if it is printed: whether that is standard error.
type Stream = Option<bool>;

/// A conversion: `%-5.3ld`.
struct Conversion<'f> {
    text: &'f [u8],
    letter: u8,
    flags: Vec<u8>,
    width: u64,
    precision: Option<u64>,
    /// A width or precision is an argument.
    starred: usize,
}

impl<'f> Conversion<'f> {
    fn read(text: &'f [u8]) -> Conversion<'f> {
        let mut rest = text;
        let mut flags = Vec::new();
        while let Some((&flag, after)) = rest.split_first()
            && b"-+ #0'".contains(&flag)
        {
            flags.push(flag);
            rest = after;
        }
        let number = |rest: &mut &[u8]| {
            let mut value = 0u64;
            while let Some((&digit, after)) = rest.split_first()
                && digit.is_ascii_digit()
            {
                value = value
                    .saturating_mul(10)
                    .saturating_add(u64::from(digit - b'0'));
                *rest = after;
            }
            value
        };
        let width = number(&mut rest);
        let precision = match rest.split_first() {
            Some((b'.', after)) => {
                rest = after;
                Some(number(&mut rest))
            }
            _ => None,
        };
        Conversion {
            text,
            letter: text.last().copied().unwrap_or(0),
            flags,
            width,
            precision,
            starred: text.iter().filter(|byte| **byte == b'*').count(),
        }
    }

    /// The type of its argument, as far as its size and kind matter; nothing where it is not known.
    fn wanted(&self) -> Option<Type> {
        match self.letter {
            _ if self.text.contains(&b'$') => None,
            b's' | b'p' | b'n' | b'S' => Some(Type::Ptr),
            b'a' | b'A' | b'e' | b'E' | b'f' | b'F' | b'g' | b'G' => {
                match self.text.contains(&b'L') {
                    true => Some(Type::F80),
                    false => Some(Type::F64),
                }
            }
            b'c' | b'd' | b'i' | b'u' | b'x' | b'X' | b'o'
                if self.bits() == 64 && self.letter != b'c' =>
            {
                Some(Type::I64)
            }
            b'c' | b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => Some(Type::I32),
            _ => None,
        }
    }

    /// Bits of the integer that it prints.
    fn bits(&self) -> u32 {
        let has = |size: &[u8]| self.text.windows(size.len()).any(|part| part == size);
        match () {
            () if has(b"hh") => 8,
            () if has(b"h") => 16,
            () if self.text.iter().any(|byte| b"ljztqLZ".contains(byte)) => 64,
            () => 32,
        }
    }
}

/// Formats the arguments from `next` on. `stream` says where it is printed, if it is; `counted` whether somebody looks at the
/// bytes or their number.
pub(super) fn formatted(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    format: &[u8],
    mut next: usize,
    stream: Stream,
) -> Go<Formatted> {
    let mut parts = Vec::new();
    let mut sources = Vec::new();
    let mut text = Vec::new();
    let mut rest = format;
    let end_text =
        |encoder: &mut Encoder<'_>, world: &World, parts: &mut Vec<Part>, text: &mut Vec<u8>| {
            if text.is_empty() {
                return;
            }
            let text = std::mem::take(text);
            if let Some(error) = stream {
                encoder.print(world, error, Piece::Text(text.clone()));
            }
            parts.push(Part::Bytes(text));
        };
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            text.push(byte);
            continue;
        }
        let length = rest
            .iter()
            .position(|byte| {
                byte.is_ascii_alphabetic() && !b"hlLqjztZ".contains(byte) || *byte == b'%'
            })
            .map_or(rest.len(), |end| end + 1);
        let (spelled, after) = rest.split_at(length);
        rest = after;
        let conversion = Conversion::read(spelled);
        if conversion.letter == b'%' {
            text.push(b'%');
            continue;
        }
        end_text(encoder, world, &mut parts, &mut text);
        // A width or precision that is an argument.
        for _ in 0..conversion.starred {
            if let Some(&(ty, _)) = call.arguments.get(next) {
                must_fit(encoder, call, world, "*", (ty, Type::I32))?;
            }
            if let (Some((ty, value)), Some(error)) = (call.argument(next), stream) {
                encoder.print(world, error, Piece::Value("*".to_owned(), ty, value));
            }
            next += 1;
        }
        if call.arguments.get(next).is_none() {
            return Err(super::verifier::bad_call(
                encoder,
                call,
                world,
                (
                    Undefined::BadVariadic,
                    "the format has more conversions than there are arguments",
                ),
            ));
        }
        if let (Some(&(ty, _)), Some(wanted)) = (call.arguments.get(next), conversion.wanted()) {
            let spelled = String::from_utf8_lossy(spelled).into_owned();
            must_fit(encoder, call, world, &spelled, (ty, wanted))?;
        }
        let Some((ty, value)) = call.argument(next) else {
            encoder.unknown(
                world,
                "what is printed of a type that is not encoded",
                call.place,
            );
            return Err(Dead);
        };
        next += 1;
        let is_plain = spelled.len() == 1;
        match conversion.letter {
            b's' if is_plain => {
                let (bytes, count) = string(encoder, call, world, value, stream)?;
                let one = encoder.word(1);
                sources.push((value, encoder.terms.add(count, one)));
                parts.push(Part::Counted(bytes, count));
            }
            b'c' if is_plain => {
                let byte = encoder.terms.extract(value, 7, 0);
                if let Some(error) = stream {
                    encoder.print(world, error, Piece::Byte(byte));
                }
                let one = encoder.word(1);
                parts.push(Part::Counted(vec![byte], one));
            }
            b's' | b'n' => {
                let reason = format!("`%{}` in a format", String::from_utf8_lossy(spelled));
                encoder.unknown(world, reason, call.place);
                return Err(Dead);
            }
            _ => {
                if let Some(error) = stream {
                    let spelled = format!("%{}", String::from_utf8_lossy(spelled));
                    encoder.print(world, error, Piece::Value(spelled, ty, value));
                }
                if stream.is_none() || call.used {
                    parts.push(number(encoder, &conversion, ty, value));
                }
            }
        }
    }
    end_text(encoder, world, &mut parts, &mut text);
    Ok(Formatted { parts, sources })
}

/// An argument must have the size and the kind that its conversion takes.
fn must_fit(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &World,
    spelled: &str,
    (given, wanted): (Type, Type),
) -> Go<()> {
    let alike = given.size() == wanted.size() && !given.is_float() && !wanted.is_float();
    if given == wanted || alike {
        return Ok(());
    }
    let message = format!("`%{spelled}` gets an argument of type {}", given.in_c());
    Err(super::verifier::bad_call(
        encoder,
        call,
        world,
        (Undefined::BadVariadic, &message),
    ))
}

/// The digits of an integer.
fn number(encoder: &mut Encoder<'_>, conversion: &Conversion<'_>, ty: Type, value: Term) -> Part {
    if let (b'f' | b'F', Type::F64, Some(bits)) =
        (conversion.letter, ty, encoder.terms.as_constant(value))
        && conversion.flags.is_empty()
        && conversion.starred == 0
    {
        let value = f64::from_bits(bits as u64);
        let digits = conversion.precision.unwrap_or(6).min(MOST) as usize;
        let width = conversion.width.min(MOST) as usize;
        if value.is_finite() {
            return Part::Bytes(format!("{value:width$.digits$}").into_bytes());
        }
    }
    let base: u128 = match conversion.letter {
        b'd' | b'i' | b'u' => 10,
        b'x' | b'X' => 16,
        b'o' => 8,
        _ => return Part::Unknown,
    };
    let is_odd = conversion.starred > 0 || conversion.flags.iter().any(|flag| b"#'".contains(flag));
    if is_odd
        || !ty.is_integer()
        || conversion.width > 64
        || conversion.precision.is_some_and(|most| most > 64)
    {
        return Part::Unknown;
    }
    let signed = matches!(conversion.letter, b'd' | b'i');
    let (given, bits) = (encoder.terms.width(value), conversion.bits());
    let terms = &mut *encoder.terms;
    let value = meaning::resize(terms, value, given, bits, ty.is_signed());
    let value = meaning::resize(terms, value, bits, 64, signed);
    let zero = terms.constant(64, 0);
    let negative = match signed {
        true => terms.slt(value, zero),
        false => terms.truth(false),
    };
    let turned = terms.neg(value);
    let magnitude = terms.ite(negative, turned, value);
    let one = terms.constant(64, 1);
    // With a precision of 0, zero has no digits.
    let mut digits = match conversion.precision {
        Some(0) => {
            let none = terms.eq(magnitude, zero);
            terms.ite(none, zero, one)
        }
        _ => one,
    };
    let mut power = base;
    let mut most = 1;
    while power < 1 << bits {
        let limit = terms.constant(64, power);
        let reached = terms.ule(limit, magnitude);
        let more = terms.ite(reached, one, zero);
        digits = terms.add(digits, more);
        power *= base;
        most += 1;
    }
    let larger = |terms: &mut patchwright_solve::Terms, count: Term, least: u64| {
        let least = terms.constant(64, u128::from(least));
        let less = terms.ult(count, least);
        terms.ite(less, least, count)
    };
    let digits = larger(terms, digits, conversion.precision.unwrap_or(0));
    let has_sign = conversion.flags.iter().any(|flag| b"+ ".contains(flag)) && signed;
    let sign = match has_sign {
        true => one,
        false => terms.ite(negative, one, zero),
    };
    let count = terms.add(digits, sign);
    let count = larger(terms, count, conversion.width);
    let most = conversion
        .width
        .max(conversion.precision.unwrap_or(0).max(most) + u64::from(signed));
    let bytes = match (terms.as_constant(value), base) {
        (Some(bits), 10) if conversion.text.len() == 1 => {
            let text = match signed {
                true => (bits as u64 as i64).to_string(),
                false => (bits as u64).to_string(),
            };
            return Part::Bytes(text.into_bytes());
        }
        _ => (0..most).map(|_| some_byte(encoder)).collect(),
    };
    Part::Counted(bytes, count)
}

/// A byte of a text: any but 0.
fn some_byte(encoder: &mut Encoder<'_>) -> Term {
    let any = encoder.open("which digits a number has", Sort::Bits(8));
    let (zero, other) = (encoder.terms.constant(8, 0), encoder.terms.constant(8, 48));
    let is_end = encoder.terms.eq(any, zero);
    encoder.terms.ite(is_end, other, any)
}

/// The bytes of a string up to its zero, and how many there are.
fn string(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    text: Term,
    stream: Stream,
) -> Go<(Vec<Term>, Term)> {
    let null = encoder.is_null(text);
    let null = encoder.settled(null, call.place);
    let message = || format!("`{}`: a null pointer in place of a text", call.name);
    encoder.undefined(world, null, Undefined::NullPointer, message, call.place);
    let before = world.path.clone();
    let there = encoder.terms.not(null);
    world.path = before.and(encoder.terms, there).ok_or(Dead)?;
    let (bytes, count, lost) = read_string(encoder, call, world, text, stream)?;
    let goes_on = encoder.terms.not(lost);
    let goes_on = encoder.terms.and(there, goes_on);
    world.path = before.and(encoder.terms, goes_on).ok_or(Dead)?;
    Ok((bytes, count))
}

/// Encodes the printing of a string up to its NUL. `error` selects standard error.
pub(super) fn printed(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    text: Term,
    error: bool,
) -> Go<()> {
    let before = world.path.clone();
    let (_, _, lost) = read_string(encoder, call, world, text, Some(error))?;
    let goes_on = encoder.terms.not(lost);
    world.path = before.and(encoder.terms, goes_on).ok_or(Dead)?;
    Ok(())
}

/// The bytes of a string up to its zero, how many there are, and the condition under which it has no end where it may be
/// read: those executions go no further. Leaves the path narrowed.
fn read_string(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    text: Term,
    stream: Stream,
) -> Go<(Vec<Term>, Term, Term)> {
    let mut known = Vec::new();
    let mut bytes = Vec::new();
    let one = encoder.word(1);
    let zero = encoder.terms.constant(8, 0);
    let mut count = encoder.word(0);
    let mut on = encoder.terms.truth(true);
    let none = encoder.terms.truth(false);
    let flush = |encoder: &mut Encoder<'_>, world: &World, known: &mut Vec<u8>| {
        if let (Some(error), false) = (stream, known.is_empty()) {
            encoder.print(world, error, Piece::Text(std::mem::take(known)));
        }
    };
    for index in 0..MOST {
        let at = encoder.moved(text, index);
        let Ok(byte) = encoder.load_word(world, Type::U8, at, call.place) else {
            flush(encoder, world, &mut known);
            return Ok((bytes, count, on));
        };
        let constant = encoder.terms.as_constant(byte);
        if constant == Some(0) {
            flush(encoder, world, &mut known);
            return Ok((bytes, count, none));
        }
        if constant.is_none() {
            flush(encoder, world, &mut known);
            let ends = encoder.terms.eq(byte, zero);
            let goes_on = encoder.terms.not(ends);
            let goes_on = encoder.settled(goes_on, call.place);
            match world.path.and(encoder.terms, goes_on) {
                Some(path) => world.path = path,
                None => return Ok((bytes, count, none)),
            }
            on = encoder.terms.and(on, goes_on);
        }
        match constant {
            Some(byte) => known.push(byte as u8),
            None => {
                if let Some(error) = stream {
                    encoder.print(world, error, Piece::Byte(byte));
                }
            }
        }
        bytes.push(byte);
        let more = encoder.terms.add(count, one);
        count = encoder.terms.ite(on, more, count);
    }
    encoder.unknown(world, "a string that is too long is printed", call.place);
    Ok((bytes, count, on))
}

impl Formatted {
    /// Adds the failure that a string which is read overlaps the text that is written from `to` on. The text has a NUL at its end, and with a
    /// `size` (64 bits) at most so many bytes.
    pub(super) fn must_be_apart(
        &self,
        encoder: &mut Encoder<'_>,
        call: &Call<'_>,
        world: &World,
        to: Term,
        size: Option<Term>,
    ) {
        if self.sources.is_empty() {
            return;
        }
        let count = self.count(encoder);
        let count = encoder.terms.zero_extend(count, 64);
        let one = encoder.word(1);
        let mut written = encoder.terms.add(count, one);
        if let Some(size) = size {
            let less = encoder.terms.ult(size, written);
            written = encoder.terms.ite(less, size, written);
        }
        for &(from, read) in &self.sources {
            super::allocation::must_not_overlap(encoder, call, world, (to, written), (from, read));
        }
    }

    /// Returns the number of printed bytes as an `int`.
    pub(super) fn count(&self, encoder: &mut Encoder<'_>) -> Term {
        let mut count = encoder.word(0);
        for part in &self.parts {
            let more = match part {
                Part::Bytes(bytes) => encoder.word(bytes.len() as u64),
                Part::Counted(_, count) => *count,
                Part::Unknown => return encoder.open("how many bytes are printed", Sort::Bits(32)),
            };
            count = encoder.terms.add(count, more);
        }
        encoder.terms.extract(count, 31, 0)
    }

    /// Writes the bytes and a zero behind them to memory; with a size (64 bits), no more than that.
    pub(super) fn write(
        &self,
        encoder: &mut Encoder<'_>,
        call: &Call<'_>,
        world: &mut World,
        to: Term,
        size: Option<Term>,
    ) -> Go<()> {
        let mut position = encoder.word(0);
        let zero = encoder.terms.constant(8, 0);
        let always = encoder.terms.truth(true);
        let mut written = 0;
        for part in &self.parts {
            let (bytes, count) = match part {
                Part::Bytes(bytes) => {
                    let all = bytes
                        .iter()
                        .map(|&byte| encoder.terms.constant(8, u128::from(byte)));
                    let all: Vec<Term> = all.collect();
                    let count = encoder.word(all.len() as u64);
                    (all, count)
                }
                Part::Counted(bytes, count) => (bytes.clone(), *count),
                Part::Unknown => {
                    let reason = format!("what `{}` writes, and how much", call.name);
                    encoder.unknown(world, reason, call.place);
                    return Err(Dead);
                }
            };
            written += bytes.len();
            if written > MOST_WRITTEN {
                let reason = format!("`{}` writes too many bytes", call.name);
                encoder.unknown(world, reason, call.place);
                return Err(Dead);
            }
            for (index, byte) in bytes.into_iter().enumerate() {
                let index = encoder.word(index as u64);
                let mut there = encoder.terms.ult(index, count);
                let at = encoder.terms.add(position, index);
                if let Some(size) = size {
                    // A byte behind which the zero has no place is left out.
                    let one = encoder.word(1);
                    let behind = encoder.terms.add(at, one);
                    let fits = encoder.terms.ult(behind, size);
                    there = encoder.terms.and(there, fits);
                }
                put(encoder, call, world, (to, at), there, byte)?;
            }
            position = encoder.terms.add(position, count);
        }
        let Some(size) = size else {
            return put(encoder, call, world, (to, position), always, zero);
        };
        let (none, one) = (encoder.word(0), encoder.word(1));
        let empty = encoder.terms.eq(size, none);
        let some = encoder.terms.not(empty);
        let last = encoder.terms.sub(size, one);
        let fits = encoder.terms.ult(position, size);
        let at = encoder.terms.ite(fits, position, last);
        put(encoder, call, world, (to, at), some, zero)
    }
}

fn put(
    encoder: &mut Encoder<'_>,
    call: &Call<'_>,
    world: &mut World,
    (to, at): (Term, Term),
    condition: Term,
    byte: Term,
) -> Go<()> {
    let condition = encoder.settled(condition, call.place);
    if encoder.terms.as_truth(condition) == Some(false) {
        return Ok(());
    }
    let written = encoder.terms.truth(true);
    let at = encoder.advanced(to, at);
    let value = Read {
        value: byte,
        written,
    };
    encoder.write_where(world, condition, (at, 1), value, call.place)
}
