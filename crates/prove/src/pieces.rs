//! The pieces of text from which the texts of mutations are made.

use patchwright_csource::types::IntegerKind;
use patchwright_text::Span;

/// A piece of text that a mutation changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) span: Span,
    pub(crate) text: Text,
    /// Length of the expression around which this stands; insertions at one place are ordered by it.
    pub(crate) extent: u32,
    /// It stands behind the expression.
    pub(crate) closing: bool,
    /// Only needed where another mutation changes what is beside or around it.
    pub(crate) cautious: bool,
}

/// The text of a piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    Is(String),
    /// The constant that this number leaves open.
    Open {
        number: u32,
        /// The type of the literal.
        kind: IntegerKind,
        /// Parentheses for negative numbers.
        parenthesised: bool,
    },
    /// Pieces of text one after the other.
    All(Vec<Text>),
    /// What the source has there, with the changes that are made in it: it moves.
    Moved {
        from: Span,
        parentheses: Parentheses,
    },
}

/// Where text that moves needs parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parentheses {
    Never,
    /// Where something in it is changed, too.
    IfChanged,
    Always,
}

impl Text {
    /// Returns the number and the type of the open constant, if the text has one.
    pub(crate) fn open(&self) -> Option<(u32, IntegerKind)> {
        match self {
            Text::Is(_) | Text::Moved { .. } => None,
            Text::Open { number, kind, .. } => Some((*number, *kind)),
            Text::All(all) => all.iter().find_map(Text::open),
        }
    }
}

/// Returns a number in C in this type; of a number that does not fit, the low bits.
pub(crate) fn literal(value: i128, kind: IntegerKind, parenthesised: bool) -> String {
    let suffix = suffix(kind);
    let text = match kind {
        IntegerKind::UnsignedInt => format!("{}{suffix}", value as u32),
        IntegerKind::UnsignedLong | IntegerKind::UnsignedLongLong => {
            format!("{}{suffix}", value as u64)
        }
        // The least numbers have no literal of their type.
        IntegerKind::Long | IntegerKind::LongLong if value as i64 == i64::MIN => {
            return format!("(-{}{suffix} - 1)", i64::MAX);
        }
        IntegerKind::Long | IntegerKind::LongLong => format!("{}{suffix}", value as i64),
        _ if value as i32 == i32::MIN => return format!("(-{} - 1)", i32::MAX),
        _ => format!("{}", value as i32),
    };
    match parenthesised && text.starts_with('-') {
        true => format!("({text})"),
        false => text,
    }
}

fn suffix(kind: IntegerKind) -> &'static str {
    match kind {
        IntegerKind::UnsignedInt => "U",
        IntegerKind::Long => "L",
        IntegerKind::UnsignedLong => "UL",
        IntegerKind::LongLong => "LL",
        IntegerKind::UnsignedLongLong => "ULL",
        _ => "",
    }
}

/// Text in the place of other text.
pub(crate) fn replace(span: Span, text: &str) -> Piece {
    Piece {
        span,
        text: Text::Is(text.to_owned()),
        extent: span.len(),
        closing: false,
        cautious: false,
    }
}

/// Makes a piece of text behind an expression.
pub(crate) fn behind(place: Span, text: &str, extent: u32) -> Piece {
    Piece {
        span: Span::empty(place.end),
        text: Text::Is(text.to_owned()),
        extent,
        closing: true,
        cautious: false,
    }
}

/// Makes parentheses around an expression. Cautious ones are only written where something else changes too.
pub(crate) fn parentheses(place: Span, cautious: bool) -> [Piece; 2] {
    let piece = |at: u32, text: &str, closing: bool| Piece {
        span: Span::empty(at),
        text: Text::Is(text.to_owned()),
        extent: place.len(),
        closing,
        cautious,
    };
    [piece(place.start, "(", false), piece(place.end, ")", true)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_of_their_type_also_the_least_ones() {
        use IntegerKind::*;
        assert_eq!(literal(-5, Int, true), "(-5)");
        assert_eq!(literal(-5, Int, false), "-5");
        assert_eq!(
            literal(i128::from(i32::MIN), Int, false),
            "(-2147483647 - 1)"
        );
        assert_eq!(literal(-1, UnsignedLong, false), "18446744073709551615UL");
        assert_eq!(literal(7, Long, false), "7L");
    }
}
