//! The formats of `printf` and its relatives.

use patchwright_ir::Type;
use patchwright_semantics::Ty;

use super::{calling::Arg, decimal, wide_print};
use crate::{
    fault::{Run, Stop, Undefined, undefined},
    machine::Machine,
};

/// Where the arguments of a format come from.
pub(super) enum Source<'a> {
    /// Those of the call, after the declared ones.
    Call(&'a [Arg], usize),
    /// A `va_list`.
    List(u64),
}

impl Source<'_> {
    /// The place of the next argument in a call.
    fn position(&self) -> usize {
        match self {
            Source::Call(_, at) => *at,
            Source::List(_) => 0,
        }
    }

    /// The next argument is this one, counted from 1 for that at `first`.
    fn select(&mut self, first: usize, number: usize) -> Run<()> {
        match self {
            Source::Call(_, at) if number > 0 => {
                *at = first + number - 1;
                Ok(())
            }
            _ => Err(Stop::Unsupported(
                "a format with numbered arguments of a list".to_owned(),
            )),
        }
    }

    /// Returns the bits of the next argument, which a conversion takes as a `ty`.
    pub(super) fn next(&mut self, machine: &mut Machine<'_>, ty: Type) -> Run<u128> {
        match self {
            Source::List(list) => machine.next_argument(*list, ty),
            Source::Call(arguments, at) => {
                let Some(arg) = arguments.get(*at) else {
                    return undefined(
                        Undefined::BadVariadic,
                        format!("the format asks for more than the {} arguments given", at),
                    );
                };
                *at += 1;
                let fits = arg.ty == ty
                    || (arg.ty.size() == ty.size()
                        && !arg.ty.is_float()
                        && !ty.is_float()
                        && ty.is_value());
                if !fits {
                    machine.accept_variadic(arg.ty, ty, || {
                        format!(
                            "an argument of type {} is formatted as {}",
                            arg.ty.in_c(),
                            ty.in_c()
                        )
                    })?;
                }
                Ok(patchwright_ir::wide::canonical(ty, arg.bits))
            }
        }
    }
}

#[derive(Default)]
struct Spec {
    minus: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// Its argument is given by its number.
    numbered: bool,
}

impl Spec {
    fn flags(&mut self, text: &[u8], at: &mut usize) {
        while let Some(&c) = text.get(*at) {
            match c {
                b'-' => self.minus = true,
                b'+' => self.plus = true,
                b' ' => self.space = true,
                b'#' => self.alternate = true,
                b'0' => self.zero = true,
                b'\'' | b'I' => {}
                _ => break,
            }
            *at += 1;
        }
    }
}

fn numbered_width() -> Stop {
    Stop::Unsupported("a width or precision of a format that is a numbered argument".to_owned())
}

/// The text that a format gives.
pub(super) fn format(
    machine: &mut Machine<'_>,
    text: &[u8],
    source: &mut Source<'_>,
) -> Run<Vec<u8>> {
    machine.library.formatted.clear();
    let first = source.position();
    let mut out = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if text[at] != b'%' {
            out.push(text[at]);
            at += 1;
            continue;
        }
        at += 1;
        let mut spec = Spec::default();
        spec.flags(text, &mut at);
        if text.get(at) == Some(&b'*') {
            at += 1;
            let width = source.next(machine, Type::I32)? as u64 as i64;
            spec.minus |= width < 0;
            spec.width = width.unsigned_abs() as usize;
        } else {
            spec.width = number(text, &mut at);
        }
        if text.get(at) == Some(&b'$') {
            // What comes first was the argument's number; flags and width come behind it.
            at += 1;
            source.select(first, spec.width)?;
            spec = Spec {
                numbered: true,
                ..Spec::default()
            };
            spec.flags(text, &mut at);
            match text.get(at) {
                Some(b'*') => return Err(numbered_width()),
                _ => spec.width = number(text, &mut at),
            }
        }
        if text.get(at) == Some(&b'.') {
            at += 1;
            if text.get(at) == Some(&b'*') {
                if spec.numbered {
                    return Err(numbered_width());
                }
                at += 1;
                let precision = source.next(machine, Type::I32)? as u64 as i64;
                spec.precision = usize::try_from(precision).ok();
            } else {
                spec.precision = Some(number(text, &mut at));
            }
        }
        let start = at;
        while text
            .get(at)
            .is_some_and(|c| matches!(c, b'h' | b'l' | b'j' | b'z' | b't' | b'L' | b'q' | b'Z'))
        {
            at += 1;
        }
        let length = &text[start..at];
        let Some(&conversion) = text.get(at) else {
            return undefined(Undefined::BadArgument, "a format that ends after %");
        };
        at += 1;
        convert(machine, source, &mut out, &spec, length, conversion)?;
    }
    Ok(out)
}

/// C libraries print something else each, and compilers make calls of it that crash.
fn no_text<T>() -> Run<T> {
    undefined(
        Undefined::NullPointer,
        "a null pointer is formatted as a text",
    )
}

fn number(text: &[u8], at: &mut usize) -> usize {
    let mut value = 0usize;
    while let Some(c) = text.get(*at).filter(|c| c.is_ascii_digit()) {
        value = value
            .saturating_mul(10)
            .saturating_add(usize::from(c - b'0'));
        *at += 1;
    }
    value.min(1 << 24)
}

fn convert(
    machine: &mut Machine<'_>,
    source: &mut Source<'_>,
    out: &mut Vec<u8>,
    spec: &Spec,
    length: &[u8],
    conversion: u8,
) -> Run<()> {
    let long = matches!(
        length,
        b"l" | b"ll" | b"j" | b"z" | b"t" | b"q" | b"L" | b"Z"
    );
    match conversion {
        b'%' => out.push(b'%'),
        b'd' | b'i' => {
            let ty = if long { Type::I64 } else { Type::I32 };
            let value = source.next(machine, ty)? as u64;
            let value = match length {
                b"hh" => Ty::I8.canonical(value),
                b"h" => Ty::I16.canonical(value),
                _ => value,
            } as i64;
            let sign = sign(spec, value < 0);
            integer(out, spec, sign, value.unsigned_abs().to_string());
        }
        b'u' | b'o' | b'x' | b'X' => {
            let ty = if long { Type::U64 } else { Type::U32 };
            let value = source.next(machine, ty)? as u64;
            let value = match length {
                b"hh" => value & 0xff,
                b"h" => value & 0xffff,
                _ => value,
            };
            let (prefix, digits) = match conversion {
                b'u' => ("", value.to_string()),
                b'o' => {
                    let digits = format!("{value:o}");
                    let padded = spec.precision.unwrap_or(0) > digits.len();
                    match spec.alternate && value != 0 && !padded {
                        true => ("", format!("0{digits}")),
                        false => ("", digits),
                    }
                }
                b'x' => (
                    if spec.alternate && value != 0 {
                        "0x"
                    } else {
                        ""
                    },
                    format!("{value:x}"),
                ),
                _ => (
                    if spec.alternate && value != 0 {
                        "0X"
                    } else {
                        ""
                    },
                    format!("{value:X}"),
                ),
            };
            integer(out, spec, prefix, digits);
        }
        b'c' => {
            let value = source.next(machine, Type::I32)?;
            let byte = match length {
                b"l" => wide_print::narrow_character(value as u64 & 0xffff_ffff)?,
                _ => value as u8,
            };
            pad(out, spec, &[byte]);
        }
        b's' if length == b"l" => {
            let address = source.next(machine, Type::Ptr)? as u64;
            let text = match address {
                0 => return no_text(),
                _ => wide_print::narrow(machine, address, spec.precision.unwrap_or(usize::MAX))?,
            };
            pad(out, spec, &text);
        }
        b's' => {
            let address = source.next(machine, Type::Ptr)? as u64;
            let text = match (address, spec.precision) {
                (0, _) => return no_text(),
                (_, None) => machine.text(address)?,
                (_, Some(most)) => {
                    let mut text = Vec::new();
                    while text.len() < most {
                        let byte = machine.memory.read(address + text.len() as u64, 1)?[0];
                        if byte == 0 {
                            break;
                        }
                        text.push(byte);
                    }
                    text
                }
            };
            let read = text.len() as u64 + u64::from(spec.precision.is_none());
            machine.library.formatted.push((address, read));
            pad(out, spec, &text);
        }
        b'p' => {
            let value = source.next(machine, Type::Ptr)? as u64;
            let text = match value {
                0 => "(nil)".to_owned(),
                _ => format!("{value:#x}"),
            };
            pad(out, spec, text.as_bytes());
        }
        b'n' => {
            let address = source.next(machine, Type::Ptr)? as u64;
            let ty = match length {
                b"hh" => Ty::I8,
                b"h" => Ty::I16,
                b"" => Ty::I32,
                _ => Ty::I64,
            };
            machine.memory.store(ty, address, out.len() as u64)?;
        }
        b'm' => {
            let text = super::error::message(machine.errno());
            pad(out, spec, text.as_bytes());
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            let ty = if length == b"L" { Type::F80 } else { Type::F64 };
            let bits = source.next(machine, ty)?;
            float(out, spec, ty, bits, conversion);
        }
        other => {
            return undefined(
                Undefined::BadArgument,
                format!("a format with the conversion %{}", char::from(other)),
            );
        }
    }
    Ok(())
}

fn sign(spec: &Spec, negative: bool) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, _, _) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        _ => "",
    }
}

fn integer(out: &mut Vec<u8>, spec: &Spec, prefix: &str, digits: String) {
    let mut digits = digits;
    if spec.precision == Some(0) && digits == "0" {
        digits.clear();
    }
    let mut zeros = spec.precision.unwrap_or(0).saturating_sub(digits.len());
    if spec.zero && !spec.minus && spec.precision.is_none() {
        zeros = spec.width.saturating_sub(prefix.len() + digits.len());
    }
    let text = format!("{prefix}{}{digits}", "0".repeat(zeros));
    pad(out, spec, text.as_bytes());
}

fn pad(out: &mut Vec<u8>, spec: &Spec, text: &[u8]) {
    let blanks = spec.width.saturating_sub(text.len());
    if !spec.minus {
        out.resize(out.len() + blanks, b' ');
    }
    out.extend_from_slice(text);
    if spec.minus {
        out.resize(out.len() + blanks, b' ');
    }
}

fn float(out: &mut Vec<u8>, spec: &Spec, ty: Type, bits: u128, conversion: u8) {
    let upper = conversion.is_ascii_uppercase();
    let (negative, value) = decimal::parts(ty, bits);
    let sign = sign(spec, negative);
    let (body, finite) = match value {
        decimal::Float::Nan => ("nan".to_owned(), false),
        decimal::Float::Infinite => ("inf".to_owned(), false),
        decimal::Float::Finite { mantissa, exponent } => (
            finite(
                spec,
                ty,
                mantissa,
                exponent,
                conversion.to_ascii_lowercase(),
            ),
            true,
        ),
    };
    let body = if upper { body.to_uppercase() } else { body };
    // The zeros of padding stand behind `0x`.
    let (prefix, rest) = match body.get(..2) {
        Some(prefix @ ("0x" | "0X")) => (format!("{sign}{prefix}"), &body[2..]),
        _ => (sign.to_owned(), &body[..]),
    };
    let zeros = match spec.zero && !spec.minus && finite {
        true => spec.width.saturating_sub(prefix.len() + rest.len()),
        false => 0,
    };
    pad(
        out,
        spec,
        format!("{prefix}{}{rest}", "0".repeat(zeros)).as_bytes(),
    );
}

fn finite(spec: &Spec, ty: Type, mantissa: u64, exponent: i32, conversion: u8) -> String {
    let precision = spec.precision.unwrap_or(6);
    match conversion {
        b'f' => decimal::fixed(mantissa, exponent, precision, spec.alternate),
        b'e' => {
            let (digits, power) = decimal::scientific(mantissa, exponent, precision);
            scientific(&digits, power, spec.alternate)
        }
        b'g' => {
            let wanted = precision.max(1);
            let (mut digits, power) = decimal::scientific(mantissa, exponent, wanted - 1);
            if !spec.alternate {
                while digits.len() > 1 && digits.last() == Some(&0) {
                    digits.pop();
                }
            }
            if power < -4 || power >= wanted as i32 {
                scientific(&digits, power, spec.alternate)
            } else {
                let places = digits.len() as i32 - 1 - power;
                decimal::fixed(mantissa, exponent, places.max(0) as usize, spec.alternate)
            }
        }
        _ => hexadecimal(spec, ty, mantissa, exponent),
    }
}

fn scientific(digits: &[u8], power: i32, point_always: bool) -> String {
    let mut out = String::new();
    out.push(char::from(b'0' + digits[0]));
    if digits.len() > 1 || point_always {
        out.push('.');
    }
    out.extend(digits[1..].iter().map(|&d| char::from(b'0' + d)));
    let sign = if power < 0 { '-' } else { '+' };
    out.push_str(&format!("e{sign}{:02}", power.abs()));
    out
}

/// `%a`: as glibc, with one bit before the point for `double`, and four for `long double`.
fn hexadecimal(spec: &Spec, ty: Type, mantissa: u64, exponent: i32) -> String {
    if mantissa == 0 {
        let places = spec.precision.unwrap_or(0);
        let point = if places > 0 || spec.alternate {
            "."
        } else {
            ""
        };
        return format!("0x0{point}{}p+0", "0".repeat(places));
    }
    let shift = mantissa.leading_zeros();
    let normal = mantissa << shift;
    let exponent = exponent - shift as i32;
    let before = if ty == Type::F80 { 4 } else { 1 };
    let mut first = u128::from(normal >> (64 - before));
    let mut rest = u128::from(normal << before);
    let mut power = exponent + 64 - before;
    // A subnormal `double` has no bit before the point.
    if ty == Type::F64 && power < -1022 {
        let by = (-1022 - power).min(64) as u32;
        rest = (1 << 64 | rest) >> by;
        first = 0;
        power = -1022;
    }
    let mut digits = String::new();
    match spec.precision {
        None => {
            while rest != 0 {
                digits.push_str(&format!("{:x}", rest >> 60 & 0xf));
                rest = rest << 4 & u128::from(u64::MAX);
            }
        }
        Some(places) => {
            let kept = places.min(16);
            let mut whole = first << (4 * kept)
                | if kept == 0 {
                    0
                } else {
                    rest >> (64 - 4 * kept)
                };
            let dropped = rest << (4 * kept) & u128::from(u64::MAX);
            let half = 1u128 << 63;
            if dropped > half || (dropped == half && whole & 1 == 1) {
                whole += 1;
            }
            first = whole >> (4 * kept);
            if kept > 0 {
                let mask = (1u128 << (4 * kept)) - 1;
                digits = format!("{:0width$x}", whole & mask, width = kept);
            }
            digits.push_str(&"0".repeat(places - kept));
            if first >= 16 {
                first >>= 1;
                power += 1;
            }
        }
    }
    let point = if !digits.is_empty() || spec.alternate {
        "."
    } else {
        ""
    };
    format!("0x{first:x}{point}{digits}p{power:+}")
}
