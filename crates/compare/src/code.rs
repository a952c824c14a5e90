//! C expressions with their types, and the values that they have after C's conversions.

/// How tightly what was printed binds, as in C.
pub(crate) type Precedence = u8;
/// The precedence of names, numbers and calls. The constants below have their operators; a larger precedence binds more tightly.
pub(crate) const PRIMARY: Precedence = 15;
/// Operators in front of an operand, and casts.
pub(crate) const UNARY: Precedence = 14;
/// `*`, `/`, `%`.
pub(crate) const TIMES: Precedence = 13;
/// `+`, `-`.
pub(crate) const PLUS: Precedence = 12;
/// `<<`, `>>`.
pub(crate) const SHIFT: Precedence = 11;
/// `<`, `<=`, `>`, `>=`.
pub(crate) const LESS: Precedence = 10;
/// `==`, `!=`.
pub(crate) const EQUAL: Precedence = 9;
/// `&`.
pub(crate) const AND: Precedence = 8;
/// `^`.
pub(crate) const XOR: Precedence = 7;
/// `|`.
pub(crate) const OR: Precedence = 6;
/// `&&`.
pub(crate) const BOTH: Precedence = 5;
/// `||`.
pub(crate) const EITHER: Precedence = 4;
/// `? :`.
pub(crate) const CHOICE: Precedence = 3;

/// How the bits of a term are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    Signed,
    Unsigned,
    /// Either; the same bits.
    Any,
}

/// An expression of C for bits.
#[derive(Clone)]
pub(crate) struct Text {
    pub(crate) text: String,
    pub(crate) precedence: Precedence,
    /// The width of its type once it is promoted: 32, 64 or 128.
    pub(crate) rank: u32,
    /// Its type, once it is promoted, has no sign.
    pub(crate) is_unsigned: bool,
}

impl Text {
    /// Makes a text whose value has a type of this width and sign before C promotes it.
    pub(crate) fn of(text: String, precedence: Precedence, width: u32, is_unsigned: bool) -> Text {
        let rank = match width {
            0..=32 => 32,
            33..=64 => 64,
            _ => 128,
        };
        Text {
            text,
            precedence,
            rank,
            is_unsigned: is_unsigned && width >= 32,
        }
    }

    /// Returns `…`, which stands for a term that is too deep to be shown.
    pub(crate) fn cut() -> Text {
        Text::of("…".to_owned(), PRIMARY, 32, false)
    }

    /// A number: of the first type that can hold it.
    pub(crate) fn constant(text: String, width: u32, bits: u128, sign: Sign) -> Text {
        let precedence = match text.starts_with('-') {
            true => UNARY,
            false => PRIMARY,
        };
        let magnitude = text.trim_start_matches('-').parse::<u128>().unwrap_or(bits);
        // Without a suffix it would be of no type.
        if sign == Sign::Unsigned && width == 64 && magnitude >> 63 != 0 {
            return Text::of(format!("{text}u"), precedence, 64, true);
        }
        let rank = if magnitude >> 31 == 0 { 32 } else { 64 };
        Text::of(text, precedence, rank, false)
    }

    /// Returns the text and the precedence of its outermost operator.
    pub(crate) fn parts(self) -> (String, Precedence) {
        (self.text, self.precedence)
    }

    /// Returns the text, in parentheses if it binds less tightly than `least`.
    pub(crate) fn within(&self, least: Precedence) -> String {
        wrapped((self.text.clone(), self.precedence), least)
    }

    /// Whether C's usual conversions of both operands give an unsigned type.
    pub(crate) fn makes_unsigned(&self, other: &Text) -> bool {
        let rank = self.rank.max(other.rank);
        let decides = |text: &Text| text.is_unsigned && text.rank == rank;
        decides(self) || decides(other)
    }

    /// Casts to the integer type of this width.
    pub(crate) fn cast(self, width: u32, is_unsigned: bool) -> Text {
        let name = if is_unsigned {
            unsigned(width)
        } else {
            signed(width)
        };
        let text = format!("({name}){}", self.within(UNARY));
        Text::of(text, UNARY, width, is_unsigned)
    }

    /// Casts to the signed type of the same width, if the type is unsigned.
    pub(crate) fn signed(self) -> Text {
        let rank = self.rank;
        match self.is_unsigned {
            true => self.cast(rank, false),
            false => self,
        }
    }

    /// Casts to a type of at least this width, and without sign if `is_unsigned`, unless the type is such already.
    pub(crate) fn widened(self, width: u32, is_unsigned: bool) -> Text {
        match self.rank < width.max(32) || (is_unsigned && !self.is_unsigned) {
            true => {
                let is_unsigned = is_unsigned || self.is_unsigned;
                let rank = Text::of(String::new(), PRIMARY, width.max(self.rank), false).rank;
                self.cast(rank, is_unsigned)
            }
            false => self,
        }
    }

    /// The value that its lowest bits have with a sign.
    pub(crate) fn fitted(self, width: u32, sign: Sign) -> Text {
        match sign {
            Sign::Any => self,
            _ if matches!(width, 8 | 16 | 32 | 64 | 128) => {
                self.cast(width, sign == Sign::Unsigned)
            }
            _ => {
                let mask = (1u128 << width) - 1;
                let bits = self.widened(width, false).with(&format!(" & {mask}"), AND);
                match sign {
                    Sign::Signed => {
                        let half = 1u128 << (width - 1);
                        let turned = bits.with(&format!(" ^ {half}"), XOR);
                        turned.with(&format!(" - {half}"), PLUS).signed()
                    }
                    _ => bits,
                }
            }
        }
    }

    /// A result of a calculation that C does in `int` at least, where narrower bits would wrap.
    pub(crate) fn wrapping(self, width: u32, sign: Sign) -> Text {
        match sign {
            Sign::Any => self,
            Sign::Signed if width == self.rank => self.signed(),
            Sign::Unsigned if width == self.rank && self.is_unsigned => self,
            _ => self.fitted(width, sign),
        }
    }

    /// Returns the text for a signed value, cast if `sign` asks for another sign.
    pub(crate) fn of_signed(self, width: u32, sign: Sign) -> Text {
        match sign {
            Sign::Unsigned => self.fitted(width, sign),
            Sign::Signed | Sign::Any => self,
        }
    }

    /// Returns the text for an unsigned value, cast if `sign` asks for another sign.
    pub(crate) fn of_unsigned(self, width: u32, sign: Sign) -> Text {
        match sign {
            Sign::Signed => self.fitted(width, sign),
            Sign::Unsigned | Sign::Any => self,
        }
    }

    /// Puts text behind it, such as `[i]`, with parentheses where `precedence` needs them.
    pub(crate) fn with(self, behind: &str, precedence: Precedence) -> Text {
        Text {
            text: format!("{}{behind}", self.within(precedence)),
            precedence,
            ..self
        }
    }

    /// Puts a sign in front of it.
    pub(crate) fn prefixed(self, sign: &str) -> Text {
        let least = if sign == "-" { UNARY + 1 } else { UNARY };
        Text {
            text: format!("{sign}{}", self.within(least)),
            precedence: UNARY,
            ..self
        }
    }

    /// Joins two texts by the operator `word` of this precedence, which groups from the left.
    pub(crate) fn and(self, word: &str, other: Text, precedence: Precedence) -> Text {
        Text {
            text: format!(
                "{} {word} {}",
                self.within(precedence),
                other.within(precedence + 1)
            ),
            precedence,
            rank: self.rank.max(other.rank),
            is_unsigned: self.makes_unsigned(&other),
        }
    }

    /// The type of a shift is that of its left side.
    pub(crate) fn shifted(self, word: &str, by: &Text) -> Text {
        let by = by.within(SHIFT + 1);
        self.with(&format!(" {word} {by}"), SHIFT)
    }
}

/// Puts a text into parentheses if its precedence is less than `least`.
pub(crate) fn wrapped((text, own): (String, Precedence), least: Precedence) -> String {
    match own < least {
        true => format!("({text})"),
        false => text,
    }
}

/// Returns the name of the unsigned type of this width; `unsigned` for widths that no type has.
pub(crate) const fn unsigned(width: u32) -> &'static str {
    match width {
        8 => "unsigned char",
        16 => "unsigned short",
        64 => "unsigned long",
        128 => "unsigned __int128",
        _ => "unsigned",
    }
}

/// Returns the name of the signed type of this width; `int` for widths that no type has.
pub(crate) const fn signed(width: u32) -> &'static str {
    match width {
        8 => "signed char",
        16 => "short",
        64 => "long",
        128 => "__int128",
        _ => "int",
    }
}

/// Returns a number in C. A printable byte becomes a character constant.
pub(crate) fn number(width: u32, bits: u128, sign: Sign, is_byte: bool) -> String {
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
