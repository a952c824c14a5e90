//! Terms as C conditions over the names of inputs.

use patchwright_ir::Type;
use patchwright_prove::shown;
use patchwright_solve::{Float, FloatOp, Node, Sort, Term, Terms};
use rustc_hash::FxHashMap;

/// How tightly what was printed binds, as in C.
type Precedence = u8;
const PRIMARY: Precedence = 15;
const UNARY: Precedence = 14;
const TIMES: Precedence = 13;
const PLUS: Precedence = 12;
const SHIFT: Precedence = 11;
const LESS: Precedence = 10;
const EQUAL: Precedence = 9;
const AND: Precedence = 8;
const XOR: Precedence = 7;
const OR: Precedence = 6;
const BOTH: Precedence = 5;
const EITHER: Precedence = 4;
const CHOICE: Precedence = 3;

/// Terms that nest deeper are cut.
const DEEPEST: u32 = 40;

/// A name and a type for each variable that is an input.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) of: FxHashMap<Term, (String, Option<Type>)>,
}

/// Prints terms.
pub(crate) struct Printer<'t> {
    pub(crate) terms: &'t Terms,
    pub(crate) names: &'t Names,
}

/// How the bits of a term are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Signed,
    Unsigned,
    /// Either; the same bits.
    Any,
}

impl Printer<'_> {
    /// A value.
    pub(crate) fn value(&self, term: Term, ty: Type) -> String {
        match (ty, self.terms.as_constant(term)) {
            (_, Some(bits)) => shown(ty, bits),
            (Type::F32, _) => self.float(Float::F32, term, 0).0,
            (Type::F64, _) => self.float(Float::F64, term, 0).0,
            _ => {
                let sign = if ty.is_signed() {
                    Sign::Signed
                } else {
                    Sign::Unsigned
                };
                self.bits(term, sign, 0).0
            }
        }
    }

    /// A truth value.
    pub(crate) fn condition(&self, term: Term) -> String {
        self.truth(term, true, 0).0
    }

    /// A constant that an input is compared with.
    pub(crate) fn constant_for(&self, ty: Option<Type>, width: u32, bits: u128) -> String {
        let is_signed = ty.is_none_or(Type::is_signed);
        number(
            width,
            bits,
            if is_signed {
                Sign::Signed
            } else {
                Sign::Unsigned
            },
            width == 8,
        )
    }

    fn truth(&self, term: Term, holds: bool, depth: u32) -> (String, Precedence) {
        if depth > DEEPEST {
            return ("…".to_owned(), PRIMARY);
        }
        let depth = depth + 1;
        match self.terms.node(term) {
            Node::Truth(value) => (u8::from(value == holds).to_string(), PRIMARY),
            Node::Not(a) => self.truth(a, !holds, depth),
            Node::And(a, b) => {
                let (word, precedence) = match holds {
                    true => ("&&", BOTH),
                    false => ("||", EITHER),
                };
                let (a, b) = (self.truth(a, holds, depth), self.truth(b, holds, depth));
                // Compilers warn where the two meet without parentheses.
                let part = |(text, own): (String, Precedence)| match own < precedence
                    || own == BOTH && !holds
                {
                    true => format!("({text})"),
                    false => text,
                };
                (format!("{} {word} {}", part(a), part(b)), precedence)
            }
            Node::Xor(a, b) => {
                let word = if holds { "!=" } else { "==" };
                let part = |term| format!("({})", self.truth(term, true, depth).0);
                (format!("{} {word} {}", part(a), part(b)), EQUAL)
            }
            Node::Ite(c, a, b) => {
                let c = wrapped(self.truth(c, true, depth), CHOICE + 1);
                let (a, b) = (self.truth(a, holds, depth), self.truth(b, holds, depth));
                (
                    format!("{c} ? {} : {}", wrapped(a, CHOICE), wrapped(b, CHOICE)),
                    CHOICE,
                )
            }
            Node::Eq(a, b) => {
                let word = if holds { "==" } else { "!=" };
                let sign = self.natural(a);
                self.comparison(a, word, b, sign, depth, EQUAL)
            }
            Node::Slt(a, b) => self.less(a, b, holds, Sign::Signed, depth),
            Node::Ult(a, b) => self.less(a, b, holds, Sign::Unsigned, depth),
            Node::MulOverflowsSigned(a, b) | Node::MulOverflowsUnsigned(a, b) => {
                let is_signed = matches!(self.terms.node(term), Node::MulOverflowsSigned(..));
                let sign = if is_signed {
                    Sign::Signed
                } else {
                    Sign::Unsigned
                };
                let (a, b) = (self.bits(a, sign, depth), self.bits(b, sign, depth));
                let word = if holds { "overflows" } else { "fits" };
                let text = format!("{} * {} {word}", wrapped(a, TIMES), wrapped(b, TIMES));
                (text, EITHER)
            }
            Node::Variable(_) => {
                let name = self.name(term);
                match (name.split_once(" == NULL"), holds) {
                    (Some((pointer, _)), true) => (format!("{pointer} == NULL"), EQUAL),
                    (Some((pointer, _)), false) => (format!("{pointer} != NULL"), EQUAL),
                    (None, true) => (name, PRIMARY),
                    (None, false) => (format!("!({name})"), UNARY),
                }
            }
            Node::Apply(function, list) => {
                let text = self.call(function, list, depth);
                (if holds { text } else { format!("!{text}") }, UNARY)
            }
            _ => ("…".to_owned(), PRIMARY),
        }
    }

    fn call(
        &self,
        function: patchwright_solve::Symbol,
        list: patchwright_solve::Arguments,
        depth: u32,
    ) -> String {
        let arguments =
            self.terms
                .arguments(list)
                .iter()
                .map(|&argument| match self.terms.sort(argument) {
                    Sort::Bool => self.truth(argument, true, depth).0,
                    _ => self.bits(argument, Sign::Any, depth).0,
                });
        let arguments: Vec<String> = arguments.collect();
        let name = self.terms.symbol_name(function);
        format!("{name}({})", arguments.join(", "))
    }

    fn less(&self, a: Term, b: Term, holds: bool, sign: Sign, depth: u32) -> (String, Precedence) {
        // A constant stands to the right.
        let (left, word, right) = match (self.terms.as_constant(a).is_some(), holds) {
            (true, true) => (b, ">", a),
            (true, false) => (b, "<=", a),
            (false, true) => (a, "<", b),
            (false, false) => (a, ">=", b),
        };
        self.comparison(left, word, right, sign, depth, LESS)
    }

    fn comparison(
        &self,
        a: Term,
        word: &str,
        b: Term,
        sign: Sign,
        depth: u32,
        precedence: Precedence,
    ) -> (String, Precedence) {
        let left = self.bits(a, sign, depth);
        let right = match self.terms.as_constant(b) {
            Some(bits) => {
                let is_byte = self.is_byte(a);
                (number(self.terms.width(b), bits, sign, is_byte), PRIMARY)
            }
            None => self.bits(b, sign, depth),
        };
        (
            format!(
                "{} {word} {}",
                wrapped(left, precedence + 1),
                wrapped(right, precedence + 1)
            ),
            precedence,
        )
    }

    /// A byte of input, however widened.
    fn is_byte(&self, mut term: Term) -> bool {
        loop {
            match self.terms.node(term) {
                Node::SignExtend(a) => term = a,
                Node::Concat(high, low) if self.terms.as_constant(high) == Some(0) => term = low,
                Node::Variable(_) => return self.terms.sort(term) == Sort::Bits(8),
                _ => return false,
            }
        }
    }

    /// Whether a term is meant with a sign, as its inputs tell.
    fn natural(&self, term: Term) -> Sign {
        match self.terms.node(term) {
            Node::SignExtend(_) | Node::Sdiv(..) | Node::Srem(..) => Sign::Signed,
            Node::Udiv(..) | Node::Urem(..) => Sign::Unsigned,
            Node::Variable(_) => match self.names.of.get(&term) {
                Some((_, Some(ty))) if !ty.is_signed() => Sign::Unsigned,
                _ => Sign::Signed,
            },
            Node::Add(a, _) | Node::Mul(a, _) | Node::Neg(a) | Node::BitAnd(a, _) => {
                self.natural(a)
            }
            Node::Concat(..) => match self.terms.width(term) >= 32 {
                true => Sign::Signed,
                false => Sign::Unsigned,
            },
            _ => Sign::Signed,
        }
    }

    fn name(&self, term: Term) -> String {
        match self.names.of.get(&term) {
            Some((name, _)) => name.clone(),
            None => format!("[{}]", self.terms.name(term).unwrap_or("?")),
        }
    }

    fn bits(&self, term: Term, sign: Sign, depth: u32) -> (String, Precedence) {
        if depth > DEEPEST {
            return ("…".to_owned(), PRIMARY);
        }
        let depth = depth + 1;
        let width = self.terms.width(term);
        let same = |a: Term| self.bits(a, sign, depth);
        let binary = |a: Term, word: &str, b: Term, precedence: Precedence, sign: Sign| {
            let (a, b) = (self.bits(a, sign, depth), self.bits(b, sign, depth));
            (
                format!(
                    "{} {word} {}",
                    wrapped(a, precedence),
                    wrapped(b, precedence + 1)
                ),
                precedence,
            )
        };
        match self.terms.node(term) {
            Node::Constant(bits) => {
                let text = number(width, bits, sign, false);
                let precedence = if text.starts_with('-') {
                    UNARY
                } else {
                    PRIMARY
                };
                (text, precedence)
            }
            Node::Variable(_) => {
                let name = self.name(term);
                let is_signed = match self.names.of.get(&term) {
                    Some((_, Some(ty))) => ty.is_signed(),
                    _ => return (name, PRIMARY),
                };
                match (sign, is_signed) {
                    (Sign::Unsigned, true) => (format!("({}){name}", unsigned(width)), UNARY),
                    (Sign::Signed, false) => (format!("({}){name}", signed(width)), UNARY),
                    _ => (name, PRIMARY),
                }
            }
            // Promotions are not written in C.
            Node::SignExtend(a) if sign != Sign::Unsigned => self.bits(a, Sign::Signed, depth),
            Node::SignExtend(a) => {
                let a = self.bits(a, Sign::Signed, depth);
                (format!("({}){}", unsigned(width), wrapped(a, UNARY)), UNARY)
            }
            Node::Concat(high, low) if self.terms.as_constant(high) == Some(0) => {
                self.bits(low, Sign::Unsigned, depth)
            }
            Node::Concat(high, low) if self.terms.as_constant(low) == Some(0) => {
                let by = self.terms.width(low);
                // The upper bits that are shifted out are not asked for.
                let high = match self.terms.node(high) {
                    Node::Extract { of, low: 0, .. } => of,
                    _ => high,
                };
                let high = self.bits(high, Sign::Any, depth);
                (format!("{} << {by}", wrapped(high, SHIFT)), SHIFT)
            }
            Node::Concat(high, low) => {
                let by = self.terms.width(low);
                let high = self.bits(high, Sign::Unsigned, depth);
                let low = self.bits(low, Sign::Unsigned, depth);
                (
                    format!(
                        "{} << {by} | {}",
                        wrapped(high, SHIFT),
                        wrapped(low, OR + 1)
                    ),
                    OR,
                )
            }
            Node::Extract { of, low: 0, .. } if matches!(width, 8 | 16 | 32) => {
                let cast = if sign == Sign::Signed {
                    signed(width)
                } else {
                    unsigned(width)
                };
                let of = self.bits(of, Sign::Any, depth);
                (format!("({cast}){}", wrapped(of, UNARY)), UNARY)
            }
            Node::Extract { of, high, low } => {
                let is_top = high + 1 == self.terms.width(of);
                let whole = self.bits(of, Sign::Unsigned, depth);
                let moved = match low {
                    0 => whole,
                    _ => (format!("{} >> {low}", wrapped(whole, SHIFT)), SHIFT),
                };
                if is_top && sign != Sign::Signed {
                    return moved;
                }
                let mask = (1u128 << width) - 1;
                (format!("{} & {mask}", wrapped(moved, AND)), AND)
            }
            Node::Neg(a) => (format!("-{}", wrapped(same(a), UNARY + 1)), UNARY),
            Node::BitNot(a) => (format!("~{}", wrapped(same(a), UNARY)), UNARY),
            Node::Add(a, b) => {
                if let Node::Neg(b) = self.terms.node(b) {
                    return binary(a, "-", b, PLUS, sign);
                }
                if let Node::Neg(a) = self.terms.node(a) {
                    return binary(b, "-", a, PLUS, sign);
                }
                if let Some(k) = self.terms.as_constant(b) {
                    let text = number(width, k, Sign::Signed, false);
                    let left = wrapped(same(a), PLUS);
                    return match text.strip_prefix('-') {
                        Some(positive) => (format!("{left} - {positive}"), PLUS),
                        None => (format!("{left} + {text}"), PLUS),
                    };
                }
                binary(a, "+", b, PLUS, sign)
            }
            Node::Mul(a, b) => binary(a, "*", b, TIMES, sign),
            Node::Udiv(a, b) => binary(a, "/", b, TIMES, Sign::Unsigned),
            Node::Urem(a, b) => binary(a, "%", b, TIMES, Sign::Unsigned),
            Node::Sdiv(a, b) => binary(a, "/", b, TIMES, Sign::Signed),
            Node::Srem(a, b) => binary(a, "%", b, TIMES, Sign::Signed),
            Node::BitAnd(a, b) => binary(a, "&", b, AND, sign),
            Node::BitXor(a, b) => binary(a, "^", b, XOR, sign),
            Node::Shl(a, b) => binary(a, "<<", b, SHIFT, sign),
            Node::Lshr(a, b) => binary(a, ">>", b, SHIFT, Sign::Unsigned),
            Node::Ashr(a, b) => binary(a, ">>", b, SHIFT, Sign::Signed),
            Node::Ite(c, a, b) => {
                let c = self.truth(c, true, depth);
                let (a, b) = (same(a), same(b));
                let text = format!(
                    "{} ? {} : {}",
                    wrapped(c, CHOICE + 1),
                    wrapped(a, CHOICE),
                    wrapped(b, CHOICE)
                );
                (text, CHOICE)
            }
            Node::FloatBinary(kind, ..)
            | Node::FloatSqrt(kind, _)
            | Node::FloatFromSigned(kind, _)
            | Node::FloatFromUnsigned(kind, _)
            | Node::FloatConvert(_, kind, _) => self.float(kind, term, depth),
            Node::FloatToSigned(kind, a) => {
                let a = self.float(kind, a, depth);
                (format!("({}){}", signed(width), wrapped(a, UNARY)), UNARY)
            }
            Node::FloatToUnsigned(kind, a) => {
                let a = self.float(kind, a, depth);
                (format!("({}){}", unsigned(width), wrapped(a, UNARY)), UNARY)
            }
            Node::Apply(function, list) => (self.call(function, list, depth), PRIMARY),
            Node::Select(array, index) => {
                let name = self.terms.name(array).unwrap_or("…").to_owned();
                (
                    format!("{name}[{}]", self.bits(index, Sign::Unsigned, depth).0),
                    PRIMARY,
                )
            }
            _ => ("…".to_owned(), PRIMARY),
        }
    }

    fn float(&self, kind: Float, term: Term, depth: u32) -> (String, Precedence) {
        if depth > DEEPEST {
            return ("…".to_owned(), PRIMARY);
        }
        let depth = depth + 1;
        let ty = match kind {
            Float::F32 => Type::F32,
            Float::F64 => Type::F64,
        };
        match self.terms.node(term) {
            Node::Constant(bits) => {
                let text = shown(ty, bits);
                let precedence = if text.starts_with('-') {
                    UNARY
                } else {
                    PRIMARY
                };
                (text, precedence)
            }
            Node::Variable(_) => (self.name(term), PRIMARY),
            Node::FloatBinary(_, op, a, b) => {
                let (word, precedence) = match op {
                    FloatOp::Add => ("+", PLUS),
                    FloatOp::Mul => ("*", TIMES),
                    FloatOp::Div => ("/", TIMES),
                };
                let (a, b) = (self.float(kind, a, depth), self.float(kind, b, depth));
                let text = format!(
                    "{} {word} {}",
                    wrapped(a, precedence),
                    wrapped(b, precedence + 1)
                );
                (text, precedence)
            }
            Node::FloatSqrt(_, a) => (format!("sqrt({})", self.float(kind, a, depth).0), PRIMARY),
            Node::FloatFromSigned(_, a) => {
                let a = self.bits(a, Sign::Signed, depth);
                (format!("({}){}", floating(kind), wrapped(a, UNARY)), UNARY)
            }
            Node::FloatFromUnsigned(_, a) => {
                let a = self.bits(a, Sign::Unsigned, depth);
                (format!("({}){}", floating(kind), wrapped(a, UNARY)), UNARY)
            }
            Node::FloatConvert(from, _, a) => {
                let a = self.float(from, a, depth);
                (format!("({}){}", floating(kind), wrapped(a, UNARY)), UNARY)
            }
            // The bits of a number, looked at as such.
            Node::BitXor(..) | Node::Concat(..) | Node::BitAnd(..) => {
                self.bits(term, Sign::Unsigned, depth)
            }
            _ => self.bits(term, Sign::Any, depth),
        }
    }
}

fn wrapped((text, own): (String, Precedence), least: Precedence) -> String {
    match own < least {
        true => format!("({text})"),
        false => text,
    }
}

const fn floating(kind: Float) -> &'static str {
    match kind {
        Float::F32 => "float",
        Float::F64 => "double",
    }
}

const fn unsigned(width: u32) -> &'static str {
    match width {
        8 => "unsigned char",
        16 => "unsigned short",
        64 => "unsigned long",
        128 => "unsigned __int128",
        _ => "unsigned",
    }
}

const fn signed(width: u32) -> &'static str {
    match width {
        8 => "signed char",
        16 => "short",
        64 => "long",
        128 => "__int128",
        _ => "int",
    }
}

/// A number; a byte that can be printed as the character that it is.
fn number(width: u32, bits: u128, sign: Sign, is_byte: bool) -> String {
    let negative = width < 128 && bits >> (width - 1) & 1 == 1;
    let value = match negative && sign != Sign::Unsigned {
        true => bits as i128 - (1 << width),
        false => bits as i128,
    };
    if is_byte && let Ok(byte) = u8::try_from(value) {
        match byte {
            b'\n' => return "'\\n'".to_owned(),
            b'\t' => return "'\\t'".to_owned(),
            b'\'' | b'\\' => return format!("'\\{}'", byte as char),
            b' '..=b'~' => return format!("'{}'", byte as char),
            _ => {}
        }
    }
    value.to_string()
}
