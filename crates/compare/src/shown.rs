//! Writes terms as C conditions over the names of inputs.

use std::cell::Cell;

use patchwright_ir::Type;
use patchwright_prove::shown;
use patchwright_solve::{Float, Node, Sort, Term, Terms};
use patchwright_symbolic::{Pointee, naming::opened};
use rustc_hash::FxHashMap;

use crate::{
    code::*,
    leads::{Led, Pointees, spelled},
};

/// Terms that nest deeper are cut.
const DEEPEST: u32 = 40;
/// The largest number of terms that are written. A term that contains others again and again would fill the memory.
const MOST: u32 = 2000;

/// A name and a type for each variable that is an input.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) of: FxHashMap<Term, (String, Option<Type>)>,
    /// What the numbers of pointers mean.
    pub(crate) pointees: Pointees,
}

/// Prints terms.
pub(crate) struct Printer<'t> {
    pub(crate) terms: &'t Terms,
    pub(crate) names: &'t Names,
    /// Terms that may still be written.
    left: Cell<u32>,
}

impl<'t> Printer<'t> {
    /// Makes a printer that calls inputs by these names.
    pub(crate) fn new(terms: &'t Terms, names: &'t Names) -> Printer<'t> {
        Printer {
            terms,
            names,
            left: Cell::new(MOST),
        }
    }

    /// Whether a term at this depth is cut.
    pub(crate) fn is_cut(&self, depth: u32) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        depth > DEEPEST || left == 0
    }

    /// Returns a value of a type as a C expression.
    pub(crate) fn value(&self, term: Term, ty: Type) -> String {
        self.left.set(MOST);
        match (ty, self.terms.as_constant(term)) {
            (Type::Ptr, _) => self.pointer(term),
            (_, Some(bits)) => shown(ty, bits),
            (Type::F32, _) => self.float(Float::F32, term, 0).0,
            (Type::F64, _) => self.float(Float::F64, term, 0).0,
            _ => {
                let sign = if ty.is_signed() {
                    Sign::Signed
                } else {
                    Sign::Unsigned
                };
                self.bits(term, sign, 0).text
            }
        }
    }

    /// A pointer, by its number.
    fn pointer(&self, term: Term) -> String {
        let pointees = &self.names.pointees;
        let other = || shown(Type::Ptr, 1);
        if let Some(bits) = self.terms.as_constant(term) {
            return match pointees.read(bits) {
                Led::Null => shown(Type::Ptr, 0),
                Led::Elsewhere => other(),
                Led::To(pointee, offset) => spelled(pointee, offset),
            };
        }
        let Node::Concat(above, below) = self.terms.node(term) else {
            return other();
        };
        let offset_bits = Pointees::offset_bits();
        match self.terms.as_constant(above) {
            Some(place) if self.terms.sort(below) == Sort::Bits(offset_bits) => {
                match pointees.read(place << offset_bits) {
                    Led::To(pointee, _) => {
                        let bytes = self.bits(below, Sign::Signed, 0).text;
                        match pointee {
                            Pointee::Object {
                                element: Some(1), ..
                            } => format!("{} + ({bytes})", spelled(pointee, 0)),
                            _ => format!("(char *){} + ({bytes})", spelled(pointee, 0)),
                        }
                    }
                    Led::Null | Led::Elsewhere => other(),
                }
            }
            _ => other(),
        }
    }

    /// Returns a truth value as a C condition. `is_joined` says that `&&` joins it with others.
    pub(crate) fn condition(&self, term: Term, is_joined: bool) -> String {
        self.left.set(MOST);
        let least = if is_joined { BOTH } else { 0 };
        wrapped(self.truth(term, true, 0), least)
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

    /// Writes a truth value, or its negation if `holds` is false. Terms deeper than the limit become `…`.
    pub(crate) fn truth(&self, term: Term, holds: bool, depth: u32) -> (String, Precedence) {
        if self.is_cut(depth) {
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
                if let Some(text) = self.equal_floats(a, word, b, depth) {
                    return (text, EQUAL);
                }
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
                let text = format!("{} * {} {word}", a.within(TIMES), b.within(TIMES));
                (text, EITHER)
            }
            Node::Variable(_) => {
                let name = self.name(term);
                let equal = name.split_once(" == ").filter(|_| !name.contains("&&"));
                match (equal, holds) {
                    (Some((pointer, other)), true) => (format!("{pointer} == {other}"), EQUAL),
                    (Some((pointer, other)), false) => (format!("{pointer} != {other}"), EQUAL),
                    (None, true) if name.contains(" && ") => (name, BOTH),
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
                    _ => match self.kind_of(argument) {
                        Some(kind) => self.float(kind, argument, depth).0,
                        None => self.bits(argument, Sign::Any, depth).text,
                    },
                });
        let arguments: Vec<String> = arguments.collect();
        let name = self.terms.symbol_name(function);
        match opened(name) {
            Some(what) => what.to_owned(),
            None => format!("{name}({})", arguments.join(", ")),
        }
    }

    fn less(&self, a: Term, b: Term, holds: bool, sign: Sign, depth: u32) -> (String, Precedence) {
        if let Some(text) = self.of_float(a, b, sign, depth) {
            return match holds {
                true => (text, PRIMARY),
                false => (format!("!{text}"), UNARY),
            };
        }
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
        let mut left = self.bits(a, sign, depth);
        let mut right = match self.terms.as_constant(b) {
            Some(bits) => {
                let is_byte = self.is_byte(a);
                let width = self.terms.width(b);
                let of_float = match self.kind_of(a) {
                    Some(Float::F32) if sign == Sign::Unsigned => self.bits_of(Type::F32, bits),
                    Some(Float::F64) if sign == Sign::Unsigned => self.bits_of(Type::F64, bits),
                    _ => None,
                };
                match of_float {
                    Some(text) => Text::of(text, PRIMARY, width, true),
                    None => Text::constant(number(width, bits, sign, is_byte), width, bits, sign),
                }
            }
            None => self.bits(b, sign, depth),
        };
        // What is negative must not become a large number.
        if sign == Sign::Signed && left.makes_unsigned(&right) {
            (left, right) = (left.signed(), right.signed());
        }
        let text = format!(
            "{} {word} {}",
            left.within(precedence + 1),
            right.within(precedence + 1)
        );
        (text, precedence)
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
            // A few bits of a number are none.
            Node::Extract { .. } if !matches!(self.terms.width(term), 8 | 16 | 32 | 64) => {
                Sign::Unsigned
            }
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

    /// Returns the name of a variable as the user knows it.
    pub(crate) fn name(&self, term: Term) -> String {
        match self.names.of.get(&term) {
            Some((name, _)) => name.clone(),
            None => format!("[{}]", self.terms.name(term).unwrap_or("?")),
        }
    }

    /// An expression of C for bits. Its value is that of the bits with this sign, or, with any, one that is the same modulo
    /// two to the power of their width. It is calculated as a compiler does that lets signed numbers wrap.
    pub(crate) fn bits(&self, term: Term, sign: Sign, depth: u32) -> Text {
        if self.is_cut(depth) {
            return Text::cut();
        }
        let depth = depth + 1;
        let width = self.terms.width(term);
        match self.terms.node(term) {
            Node::Constant(bits) => {
                let text = number(width, bits, sign, false);
                Text::constant(text, width, bits, sign)
            }
            // What is compared or combined like that are the bits of the number.
            Node::Variable(_) if self.kind_of(term).is_some() => {
                let bits = Text::of(format!("bits({})", self.name(term)), PRIMARY, width, true);
                match sign {
                    Sign::Signed => bits.fitted(width, sign),
                    _ => bits,
                }
            }
            Node::Variable(_) => {
                let ty = self.names.of.get(&term).and_then(|(_, ty)| *ty);
                let own = match ty.is_some_and(Type::is_signed) {
                    true => Sign::Signed,
                    false => Sign::Unsigned,
                };
                let name = Text::of(self.name(term), PRIMARY, width, own == Sign::Unsigned);
                match sign == own || sign == Sign::Any {
                    true => name,
                    false => name.fitted(width, sign),
                }
            }
            // Promotions are not written in C.
            Node::SignExtend(a) => {
                let a = self.bits(a, Sign::Signed, depth);
                a.of_signed(width, sign)
            }
            Node::Concat(high, low) if self.terms.as_constant(high) == Some(0) => {
                self.bits(low, Sign::Unsigned, depth)
            }
            Node::Concat(high, low) => {
                if let Some(sum) = self.sum_of_apart(high, low, sign, depth) {
                    return sum;
                }
                let by = self.terms.width(low);
                let is_whole = matches!(width, 32 | 64 | 128);
                let is_blank = self.terms.as_constant(low) == Some(0);
                // The upper bits that are shifted out are not asked for.
                let moved = match (self.terms.node(high), is_whole || sign == Sign::Any) {
                    (Node::Extract { of, low: 0, .. }, true) => self.bits(of, Sign::Any, depth),
                    _ => self.bits(high, sign, depth),
                };
                let moved = match (sign, is_whole) {
                    (Sign::Unsigned, true) => moved.widened(width, true),
                    _ => moved.widened(width, false),
                };
                // What may be negative is not shifted in C.
                let is_product = !moved.is_unsigned && by + 1 < moved.rank.min(32);
                let mut joined = match is_product {
                    true => moved.with(&format!(" * {}", 1u64 << by), TIMES),
                    false => moved.with(&format!(" << {by}"), SHIFT),
                };
                if !is_blank {
                    joined = joined.and("|", self.bits(low, Sign::Unsigned, depth), OR);
                }
                match is_whole {
                    true => joined.wrapping(width, sign),
                    false => joined,
                }
            }
            Node::Extract { of, high, low } => {
                let is_top = high + 1 == self.terms.width(of);
                if is_top && let Some(dividend) = self.dividend(of, low) {
                    let dividend = self.bits(dividend, Sign::Signed, depth).signed();
                    let quotient = dividend.with(&format!(" / {}", 1u128 << low), TIMES);
                    return quotient.of_signed(width, sign);
                }
                let whole = match sign {
                    Sign::Signed | Sign::Unsigned if is_top => sign,
                    _ => Sign::Any,
                };
                let mut whole = self.bits(of, whole, depth);
                if low > 0 {
                    if is_top && sign == Sign::Signed {
                        whole = whole.signed();
                    }
                    whole = whole.widened(high + 1, false);
                    whole = whole.with(&format!(" >> {low}"), SHIFT);
                }
                match is_top {
                    true => whole,
                    false => whole.fitted(width, sign),
                }
            }
            Node::Neg(a) => {
                let a = self.bits(a, sign, depth).widened(width, false);
                a.prefixed("-").wrapping(width, sign)
            }
            Node::BitNot(a) => {
                let a = self.bits(a, sign, depth).widened(width, false);
                a.prefixed("~").wrapping(width, sign)
            }
            Node::Add(a, b) => {
                if let Some((of, by)) = self.rest_of_power(term) {
                    let of = self.bits(of, Sign::Signed, depth);
                    let rest = of.signed().with(&format!(" % {by}"), TIMES);
                    return rest.of_signed(width, sign);
                }
                if let Node::Neg(b) = self.terms.node(b) {
                    return self.wrapping((a, "-", b, PLUS), sign, depth);
                }
                if let Node::Neg(a) = self.terms.node(a) {
                    return self.wrapping((b, "-", a, PLUS), sign, depth);
                }
                if let Some(k) = self.terms.as_constant(b)
                    && let text = number(width, k, Sign::Signed, false)
                    && let Some(positive) = text.strip_prefix('-')
                {
                    let left = self.bits(a, sign, depth).widened(width, false);
                    let sum = left.with(&format!(" - {positive}"), PLUS);
                    return sum.wrapping(width, sign);
                }
                self.wrapping((a, "+", b, PLUS), sign, depth)
            }
            Node::Mul(a, b) => self.wrapping((a, "*", b, TIMES), sign, depth),
            Node::BitAnd(a, b) => self.bitwise((a, "&", b, AND), sign, depth),
            Node::BitXor(a, b) => self.bitwise((a, "^", b, XOR), sign, depth),
            Node::Shl(a, b) => {
                // What may be negative is not shifted in C.
                let a = self.bits(a, Sign::Any, depth).widened(width, true);
                let b = self.bits(b, Sign::Unsigned, depth);
                a.shifted("<<", &b).wrapping(width, sign)
            }
            Node::Udiv(a, b) => self.unsigned((a, "/", b), sign, depth),
            Node::Urem(a, b) => self.unsigned((a, "%", b), sign, depth),
            Node::Lshr(a, b) => {
                let a = self.bits(a, Sign::Unsigned, depth);
                let b = self.bits(b, Sign::Unsigned, depth);
                a.shifted(">>", &b).of_unsigned(width, sign)
            }
            Node::Sdiv(a, b) => self.signed((a, "/", b), sign, depth),
            Node::Srem(a, b) => self.signed((a, "%", b), sign, depth),
            Node::Ashr(a, b) => {
                let a = self.bits(a, Sign::Signed, depth).signed();
                let b = self.bits(b, Sign::Unsigned, depth);
                let moved = a.shifted(">>", &b);
                moved.of_signed(width, sign)
            }
            Node::Ite(c, a, b) => {
                let c = self.truth(c, true, depth);
                let (mut a, mut b) = (self.bits(a, sign, depth), self.bits(b, sign, depth));
                if sign == Sign::Signed && a.makes_unsigned(&b) {
                    (a, b) = (a.signed(), b.signed());
                }
                let (is_unsigned, rank) = (a.makes_unsigned(&b), a.rank.max(b.rank));
                let text = format!(
                    "{} ? {} : {}",
                    wrapped(c, CHOICE + 1),
                    a.within(CHOICE),
                    b.within(CHOICE)
                );
                Text::of(text, CHOICE, rank, is_unsigned)
            }
            Node::FloatBinary(kind, ..)
            | Node::FloatSqrt(kind, _)
            | Node::FloatFromSigned(kind, _)
            | Node::FloatFromUnsigned(kind, _)
            | Node::FloatConvert(_, kind, _) => {
                let (text, precedence) = self.float(kind, term, depth);
                Text::of(text, precedence, width, false)
            }
            Node::FloatToSigned(kind, a) => {
                let a = self.float(kind, a, depth);
                let text = format!("({}){}", signed(width), wrapped(a, UNARY));
                let whole = Text::of(text, UNARY, width, false);
                whole.of_signed(width, sign)
            }
            Node::FloatToUnsigned(kind, a) => {
                let a = self.float(kind, a, depth);
                let text = format!("({}){}", unsigned(width), wrapped(a, UNARY));
                Text::of(text, UNARY, width, true).of_unsigned(width, sign)
            }
            Node::Apply(function, list) => {
                let call = self.call(function, list, depth);
                Text::of(call, PRIMARY, width, sign == Sign::Unsigned)
            }
            Node::Select(array, index) => {
                let name = self.terms.name(array).unwrap_or("…").to_owned();
                let index = self.bits(index, Sign::Unsigned, depth).text;
                let text = format!("{name}[{index}]");
                Text::of(text, PRIMARY, width, true).of_unsigned(width, sign)
            }
            _ => Text::cut(),
        }
    }

    /// A sum of a term whose lowest bits are all zero, and a number of no more bits, which is kept as bits side by side.
    fn sum_of_apart(&self, high: Term, low: Term, sign: Sign, depth: u32) -> Option<Text> {
        let number = self.terms.as_constant(low).filter(|&bits| bits != 0)?;
        let by = self.terms.width(low);
        let Node::Extract {
            of,
            low: from,
            high: top,
        } = self.terms.node(high)
        else {
            return None;
        };
        let width = self.terms.width(of);
        let is_all = from == by && top + 1 == width && matches!(width, 32 | 64);
        if !is_all || self.terms.trailing_zeros(of) < by {
            return None;
        }
        let sum = self.bits(of, sign, depth).widened(width, false);
        Some(
            sum.with(&format!(" + {number}"), PLUS)
                .wrapping(width, sign),
        )
    }

    /// What is right modulo two to the power of the width, whatever the signs.
    fn wrapping(
        &self,
        (a, word, b, precedence): (Term, &str, Term, Precedence),
        sign: Sign,
        depth: u32,
    ) -> Text {
        let width = self.terms.width(a);
        let a = self.bits(a, sign, depth).widened(width, false);
        let b = self.bits(b, sign, depth);
        a.and(word, b, precedence).wrapping(width, sign)
    }

    /// What has the sign that its parts have.
    fn bitwise(
        &self,
        (a, word, b, precedence): (Term, &str, Term, Precedence),
        sign: Sign,
        depth: u32,
    ) -> Text {
        let width = self.terms.width(a);
        let a = self.bits(a, sign, depth).widened(width, false);
        let done = a.and(word, self.bits(b, sign, depth), precedence);
        match sign {
            Sign::Signed => done.signed(),
            Sign::Unsigned | Sign::Any => done,
        }
    }

    fn unsigned(&self, (a, word, b): (Term, &str, Term), sign: Sign, depth: u32) -> Text {
        let width = self.terms.width(a);
        let (a, b) = (
            self.bits(a, Sign::Unsigned, depth),
            self.bits(b, Sign::Unsigned, depth),
        );
        a.and(word, b, TIMES).of_unsigned(width, sign)
    }

    fn signed(&self, (a, word, b): (Term, &str, Term), sign: Sign, depth: u32) -> Text {
        let width = self.terms.width(a);
        let (mut a, mut b) = (
            self.bits(a, Sign::Signed, depth),
            self.bits(b, Sign::Signed, depth),
        );
        if a.makes_unsigned(&b) {
            (a, b) = (a.signed(), b.signed());
        }
        let done = a.and(word, b, TIMES);
        done.of_signed(width, sign)
    }

    /// `a % 4` with sign, as it is calculated: `a` without the quotient times 4.
    fn rest_of_power(&self, term: Term) -> Option<(Term, u128)> {
        let Node::Add(a, b) = self.terms.node(term) else {
            return None;
        };
        let of = |a: Term, negative: Term| {
            let Node::Neg(product) = self.terms.node(negative) else {
                return None;
            };
            let Node::Concat(quotient, blank) = self.terms.node(product) else {
                return None;
            };
            let Node::Extract { of: sum, high, low } = self.terms.node(quotient) else {
                return None;
            };
            let by = self.terms.width(blank);
            let is_all = self.terms.as_constant(blank) == Some(0)
                && low == by
                && high + 1 == self.terms.width(a);
            (is_all && self.dividend(sum, by) == Some(a)).then_some((a, 1 << by))
        };
        of(a, b).or_else(|| of(b, a))
    }

    /// Returns the number of which a shift computes the quotient by a power of two. Compilers add the divisor less 1 to a
    /// negative number, so that the quotient is rounded towards zero.
    fn dividend(&self, sum: Term, by: u32) -> Option<Term> {
        let Node::Add(x, y) = self.terms.node(sum) else {
            return None;
        };
        let is_of = |of: Term, bias: Term| {
            let Node::Concat(zeros, signs) = self.terms.node(bias) else {
                return false;
            };
            let sign = match self.terms.node(signs) {
                Node::SignExtend(sign) => sign,
                _ => signs,
            };
            let top = self.terms.width(of) - 1;
            self.terms.as_constant(zeros) == Some(0)
                && self.terms.width(signs) == by
                && self.terms.node(sign)
                    == Node::Extract {
                        of,
                        high: top,
                        low: top,
                    }
        };
        match (is_of(x, y), is_of(y, x)) {
            (true, _) => Some(x),
            (_, true) => Some(y),
            _ => None,
        }
    }
}
