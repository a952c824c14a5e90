//! FORMAT: the text with which something is printed or read, written otherwise.
//!
//! Conversions that do not fit their argument (`%d` for a `long long`) are fitted. An end of line or a blank is added or
//! removed, a separator is exchanged, a number gets other digits. What a format says is not known beforehand, so each of these
//! is executed.

use std::collections::BTreeSet;

use patchwright_csource::types::{FloatKind, IntegerKind, TypeId, TypeKind, TypeTable};
use patchwright_text::{Edit, Span};

use crate::{
    calls::Call,
    choices::{Alternative, Finder},
    operators::within,
    passed,
    space::Schema,
    wording,
};

/// Most forms of one format.
const MOST_FORMS: usize = 40;

/// Characters that people put between what they print.
const SEPARATORS: [&str; 9] = [" ", ",", ";", ":", "-", ".", "/", "\\n", "\\t"];
/// Formats with more separators are left as they are.
const MOST_SEPARATORS: usize = 4;
/// Floating numbers with none of these digits are rare.
const DIGITS: [&str; 7] = [".0", ".1", ".2", ".3", ".4", ".6", ""];

const FITTED_COST: u32 = 1;
const BLANK_COST: u32 = 2;
const OTHER_COST: u32 = 3;

/// Other forms of the text with which the call prints or reads, if that is one string literal.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, call: &Call, found: &mut Vec<Alternative>) {
    let Some((number, use_)) = call.name.as_deref().and_then(text_argument) else {
        return;
    };
    let Some(argument) = call.arguments.get(number) else {
        return;
    };
    let inner = argument
        .text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let Some(text) = inner.filter(|text| is_one_literal(text)) else {
        return;
    };
    let types = &finder.builder.unit.types;
    let values: Vec<Value> = call.arguments[number + 1..]
        .iter()
        .map(|argument| value(types, argument.ty, use_ == Use::Input))
        .collect();
    let span = Span::new(argument.span.start + 1, argument.span.end - 1);
    let forms = forms(text, use_, &values);
    if forms.len() > MOST_FORMS {
        finder.found.refuse("FORMAT: further forms of a format");
    }
    for (cost, form) in forms.into_iter().take(MOST_FORMS) {
        let edit = Edit::replace(span, form);
        found.push(Alternative {
            schema: Schema::Format,
            cost,
            woven: within(finder, call.span, &edit),
            edit,
        });
    }
    for (cost, form) in wording::texts(text, use_, &finder.shown.lines) {
        let edit = Edit::replace(span, form);
        found.push(Alternative {
            schema: Schema::Format,
            cost,
            woven: within(finder, call.span, &edit),
            edit,
        });
    }
    passed::find(finder, call, (number, use_), (text, span), found);
}

/// Whether this stands between the quotation marks of one literal, not of several or of their names, and can be written
/// again: of other encodings than UTF-8 not all characters are known.
pub(crate) fn is_one_literal(text: &str) -> bool {
    let mut is_escaped = false;
    text.chars().all(|character| {
        let is_unknown = character == char::REPLACEMENT_CHARACTER;
        let ends = is_unknown || character == '\n' || character == '"' && !is_escaped;
        is_escaped = character == '\\' && !is_escaped;
        !ends
    })
}

/// Returns which argument of a function that prints or reads by a format is the format, from 0. It is
/// `None` for other functions.
pub fn changed_argument(function: &str) -> Option<usize> {
    text_argument(function).map(|(number, _)| number)
}

/// Returns the format, without its quotation marks, with conversions fitted to the passed arguments. It
/// is `None` if they fit already.
pub fn fitted_format(
    types: &TypeTable,
    function: &str,
    text: &str,
    passed: &[TypeId],
) -> Option<String> {
    let (_, use_) = text_argument(function).filter(|(_, use_)| *use_ != Use::Plain)?;
    if !is_one_literal(text) {
        return None;
    }
    let values: Vec<Value> = passed
        .iter()
        .map(|&ty| value(types, ty, use_ == Use::Input))
        .collect();
    let form = fitted(text, use_, &conversions(text, use_)?, &values)?;
    (form != text).then_some(form)
}

/// What a function does with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// It prints what the conversions say.
    Output,
    /// It reads what the conversions say.
    Input,
    /// It prints it as it is.
    Plain,
}

/// The argument of this function that is such a text, and what it does with it.
fn text_argument(function: &str) -> Option<(usize, Use)> {
    Some(match function {
        "printf" => (0, Use::Output),
        "fprintf" | "sprintf" | "dprintf" => (1, Use::Output),
        "snprintf" => (2, Use::Output),
        "scanf" => (0, Use::Input),
        "fscanf" | "sscanf" => (1, Use::Input),
        "puts" | "fputs" => (0, Use::Plain),
        _ => return None,
    })
}

/// What a conversion is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// An integer: the modifier of its length, and whether it has a sign.
    Integer(&'static str, bool),
    /// A floating number, with the modifier of its length.
    Floating(&'static str),
    /// Characters.
    Text,
    /// Something else.
    Other,
}

/// Returns what a conversion needs to print an argument of this type, or to read into it.
pub(crate) fn value(types: &TypeTable, ty: TypeId, is_input: bool) -> Value {
    let is_character = |ty: TypeId| {
        use IntegerKind::{Char, SignedChar, UnsignedChar};
        matches!(
            types.kind(ty),
            TypeKind::Integer(Char | SignedChar | UnsignedChar)
        )
    };
    let ty = match (types.kind(ty), is_input) {
        (TypeKind::Pointer(to) | TypeKind::Array(to, _) | TypeKind::VariableArray(to, _), _)
            if is_character(*to) =>
        {
            return Value::Text;
        }
        (TypeKind::Pointer(to) | TypeKind::Array(to, _), true) => *to,
        (_, true) => return Value::Other,
        (_, false) => ty,
    };
    use IntegerKind as I;
    match types.kind(ty) {
        TypeKind::Integer(kind) => match kind {
            I::Long => Value::Integer("l", true),
            I::UnsignedLong => Value::Integer("l", false),
            I::LongLong => Value::Integer("ll", true),
            I::UnsignedLongLong => Value::Integer("ll", false),
            I::UnsignedInt => Value::Integer("", false),
            I::Int => Value::Integer("", true),
            I::Short if is_input => Value::Integer("h", true),
            I::UnsignedShort if is_input => Value::Integer("h", false),
            I::Int128 | I::UnsignedInt128 => Value::Other,
            _ if is_input => Value::Other,
            // Promoted.
            _ => Value::Integer("", true),
        },
        TypeKind::Enum { .. } if !is_input => Value::Integer("", true),
        TypeKind::Float(FloatKind::Double) if is_input => Value::Floating("l"),
        TypeKind::Float(FloatKind::Float | FloatKind::Double) => Value::Floating(""),
        TypeKind::Float(FloatKind::LongDouble) => Value::Floating("L"),
        _ => Value::Other,
    }
}

/// A conversion of a format: places in its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub(crate) start: usize,
    /// Where the modifier of the length begins.
    length: usize,
    /// Where the letter stands that says what it is.
    pub(crate) letter: usize,
    pub(crate) end: usize,
    /// The number of its argument, if it has one.
    pub(crate) argument: Option<usize>,
}

/// The other forms of a text, which stands between quotation marks as C writes it, each with its cost. `values` are those
/// of the arguments behind it.
fn forms(text: &str, use_: Use, values: &[Value]) -> Vec<(u32, String)> {
    let conversions = match use_ {
        Use::Plain => Some(Vec::new()),
        _ => conversions(text, use_),
    };
    let Some(conversions) = conversions else {
        return Vec::new();
    };
    let mut found = Vec::new();
    if let Some(form) = fitted(text, use_, &conversions, values) {
        // What becomes a floating number has the digits that others have.
        for digits in precisions(text, &conversions) {
            let more = with_precision(text, &conversions, &form, &digits);
            found.extend(more.map(|form| (FITTED_COST + 1, form)));
        }
        found.insert(0, (FITTED_COST, form));
    }
    blanks(text, use_, &conversions, &mut found);
    if use_ != Use::Input {
        letters(text, &conversions, &mut found);
        digits(text, &conversions, &mut found);
        separators(text, &conversions, &mut found);
        cases(text, &conversions, &mut found);
    }
    // Compilers warn of formats that say nothing.
    let mut seen = BTreeSet::from([text.to_owned(), String::new()]);
    found.retain(|(_, form)| seen.insert(form.clone()));
    found
}

/// The conversions of a format; `None` if it has some that are not usual.
pub(crate) fn conversions(text: &str, use_: Use) -> Option<Vec<Conversion>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut arguments = 0..;
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'\\' {
            at += 2;
            continue;
        }
        if bytes[at] != b'%' {
            at += 1;
            continue;
        }
        let start = at;
        at += 1;
        let mut is_suppressed = false;
        let flags = b"-+ #0123456789.*'";
        while bytes.get(at).is_some_and(|byte| flags.contains(byte)) {
            if bytes[at] == b'*' {
                match use_ {
                    Use::Input => is_suppressed = true,
                    _ => drop(arguments.next()),
                }
            }
            at += 1;
        }
        let length = at;
        while bytes.get(at).is_some_and(|byte| b"hlLzjtq".contains(byte)) {
            at += 1;
        }
        let letter = at;
        let end = match bytes.get(at)? {
            b'%' if at == start + 1 => {
                at += 1;
                continue;
            }
            b'[' => {
                let closing = bytes.get(at + 2..)?.iter().position(|&byte| byte == b']')?;
                at + 2 + closing + 1
            }
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' | b'c' | b's' | b'p' | b'f' | b'F' | b'e'
            | b'E' | b'g' | b'G' => at + 1,
            _ => return None,
        };
        let argument = match is_suppressed {
            true => None,
            false => arguments.next(),
        };
        found.push(Conversion {
            start,
            length,
            letter,
            end,
            argument,
        });
        at = end;
    }
    Some(found)
}

/// The format with each conversion fitted to its argument.
fn fitted(text: &str, use_: Use, conversions: &[Conversion], values: &[Value]) -> Option<String> {
    let mut form = text.to_owned();
    for one in conversions.iter().rev() {
        let Some(value) = one.argument.and_then(|number| values.get(number)) else {
            continue;
        };
        let (length, letter) = (&text[one.length..one.letter], &text[one.letter..one.end]);
        let is_integer = "diuxXo".contains(letter);
        let is_floating = "fFeEgG".contains(letter);
        let usual = match length {
            "z" | "j" | "t" => "l",
            "q" => "ll",
            "hh" | "h" if use_ == Use::Output => "",
            other => other,
        };
        let better = match *value {
            Value::Integer(wanted, _) if is_integer => {
                if usual == wanted {
                    continue;
                }
                format!("{wanted}{letter}")
            }
            // A character is printed as an `int`.
            Value::Integer("", _) if letter == "c" && use_ == Use::Output => continue,
            Value::Integer(wanted, is_signed) => {
                format!("{wanted}{}", if is_signed { "d" } else { "u" })
            }
            Value::Floating(wanted) if is_floating => {
                let is_fitting =
                    usual == wanted || use_ == Use::Output && usual == "l" && wanted.is_empty();
                if is_fitting {
                    continue;
                }
                format!("{wanted}{letter}")
            }
            Value::Floating(wanted) => format!("{wanted}f"),
            Value::Text if letter == "s" || letter == "p" || letter.starts_with('[') => continue,
            // Small numbers are read into characters.
            Value::Text if letter == "c" && use_ == Use::Input || length == "hh" => continue,
            Value::Text => "s".to_owned(),
            Value::Other => continue,
        };
        form.replace_range(one.length..one.end, &better);
    }
    (form != text).then_some(form)
}

/// The numbers of digits behind the point that a format has, else the usual ones.
fn precisions(text: &str, conversions: &[Conversion]) -> Vec<String> {
    let flags = conversions
        .iter()
        .map(|one| &text[one.start + 1..one.length]);
    let own = flags.filter_map(|flags| Some(flags.get(flags.find('.')?..)?.to_owned()));
    let mut own: Vec<String> = own.collect();
    own.dedup();
    match own.is_empty() {
        true => [".1", ".2", ".3"].map(str::to_owned).to_vec(),
        false => own,
    }
}

/// A fitted form of a format with so many digits behind the points of those numbers that had none; `None` if there are no such.
fn with_precision(
    text: &str,
    conversions: &[Conversion],
    form: &str,
    digits: &str,
) -> Option<String> {
    let fitted = self::conversions(form, Use::Output)?;
    let mut found = form.to_owned();
    for (old, new) in conversions.iter().zip(&fitted).rev() {
        let was_floating = "fFeEgG".contains(&text[old.letter..old.end]);
        let has_digits = text[old.start..old.length].contains('.');
        if !was_floating && !has_digits && form[new.letter..new.end].ends_with('f') {
            found.insert_str(new.length, digits);
        }
    }
    (found != form).then_some(found)
}

/// Whether the text ends with a backslash that the next character belongs to.
fn is_open(text: &str) -> bool {
    let backslashes = text.len() - text.trim_end_matches('\\').len();
    backslashes % 2 == 1
}

/// An end of line or a blank more or less; blanks to be skipped before characters are read.
fn blanks(text: &str, use_: Use, conversions: &[Conversion], found: &mut Vec<(u32, String)>) {
    if use_ == Use::Input {
        for one in conversions.iter().filter(|one| {
            let letter = &text[one.letter..one.end];
            letter == "c" || letter.starts_with('[')
        }) {
            if !text[..one.start].ends_with(' ') {
                let mut form = text.to_owned();
                form.insert(one.start, ' ');
                found.push((BLANK_COST, form));
            }
        }
        lines(text, conversions, found);
        return;
    }
    for blank in ["\\n", " "] {
        let rest = text.strip_suffix(blank).filter(|rest| !is_open(rest));
        match rest {
            Some(rest) => found.push((BLANK_COST, rest.to_owned())),
            None => found.push((BLANK_COST, format!("{text}{blank}"))),
        }
    }
    match text.strip_prefix(' ') {
        Some(rest) => found.push((BLANK_COST, rest.to_owned())),
        None => found.push((BLANK_COST, format!(" {text}"))),
    }
}

/// A line where a word is read.
fn lines(text: &str, conversions: &[Conversion], found: &mut Vec<(u32, String)>) {
    for one in conversions {
        if &text[one.letter..one.end] != "s" {
            continue;
        }
        let (before, after) = (&text[..one.letter], &text[one.end..]);
        found.push((BLANK_COST, format!("{before}[^\\n]{after}")));
        // What is left of the line before is no line.
        if !text[..one.start].ends_with([' ', 'n']) {
            let (before, flags) = (&text[..one.start], &text[one.start..one.letter]);
            found.push((BLANK_COST, format!("{before} {flags}[^\\n]{after}")));
        }
    }
}

/// Floating numbers with other digits behind the point, integers with zeros in front, characters as numbers.
fn digits(text: &str, conversions: &[Conversion], found: &mut Vec<(u32, String)>) {
    for one in conversions {
        let flags = &text[one.start + 1..one.length];
        // An argument says it.
        if flags.contains('*') {
            continue;
        }
        let rest = &text[one.length..one.end];
        let letter = &text[one.letter..one.end];
        let mut push = |cost: u32, flags: &str, rest: &str| {
            let (before, after) = (&text[..one.start], &text[one.end..]);
            found.push((cost, format!("{before}%{flags}{rest}{after}")));
        };
        // `%2x` and `%02x`, `%-8s` and `%8s`.
        let is_integer = matches!(letter, "d" | "i" | "u" | "x" | "X" | "o");
        let padded = flags.strip_prefix('0').filter(|width| !width.is_empty());
        let adjusted = flags.strip_prefix('-');
        match (padded, adjusted) {
            (Some(width), _) if is_integer => push(BLANK_COST, width, rest),
            (_, Some(width)) => push(OTHER_COST, width, rest),
            _ if flags.starts_with(|c: char| c.is_ascii_digit()) => {
                if is_integer {
                    push(BLANK_COST, &format!("0{flags}"), rest);
                }
                push(OTHER_COST, &format!("-{flags}"), rest);
            }
            _ => {}
        }
        match letter {
            "x" | "X" if flags.is_empty() => {
                for width in ["02", "04", "08"] {
                    push(OTHER_COST, width, rest);
                }
            }
            _ => {}
        }
        match letter {
            "f" | "e" | "g" => {
                let width = flags.split('.').next().unwrap_or_default();
                for digits in DIGITS {
                    push(BLANK_COST, &format!("{width}{digits}"), rest);
                }
            }
            "d" | "i" | "u" if flags.is_empty() => {
                push(OTHER_COST, "02", rest);
                push(OTHER_COST, "03", rest);
                if rest.len() == 1 {
                    push(OTHER_COST, "", "c");
                }
            }
            "d" | "i" | "u" => push(OTHER_COST, "", rest),
            "x" => push(OTHER_COST, flags, &rest.replace('x', "X")),
            "X" => push(OTHER_COST, flags, &rest.replace('X', "x")),
            "c" => push(OTHER_COST, "", "d"),
            _ => {}
        }
    }
}

/// Integers with another base or without a sign, floating numbers in another notation: what keeps the argument's type.
fn letters(text: &str, conversions: &[Conversion], found: &mut Vec<(u32, String)>) {
    for one in conversions {
        let others: &[&str] = match &text[one.letter..one.end] {
            "d" | "i" => &["x", "u", "o"],
            "u" => &["x", "d", "o"],
            "x" | "X" => &["d", "o"],
            "o" => &["d", "x"],
            "f" => &["g", "e"],
            "e" | "g" => &["f"],
            _ => &[],
        };
        for other in others {
            let (before, after) = (&text[..one.letter], &text[one.end..]);
            found.push((OTHER_COST, format!("{before}{other}{after}")));
        }
    }
}

/// Another separator in the place of one, one less, and a blank behind one.
fn separators(text: &str, conversions: &[Conversion], found: &mut Vec<(u32, String)>) {
    let mut places = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if let Some(one) = conversions.iter().find(|one| one.start == at) {
            at = one.end;
            continue;
        }
        let rest = &text[at..];
        let length = match rest.chars().next() {
            Some('\\') => rest.chars().take(2).map(char::len_utf8).sum(),
            first => first.map_or(1, char::len_utf8),
        };
        if SEPARATORS.contains(&&rest[..length]) {
            places.push(at..at + length);
        }
        at += length;
    }
    if places.len() > MOST_SEPARATORS {
        return;
    }
    for place in places {
        let (before, after) = (&text[..place.start], &text[place.end..]);
        let old = &text[place];
        for new in SEPARATORS {
            found.push((OTHER_COST, format!("{before}{new}{after}")));
        }
        found.push((OTHER_COST, format!("{before}{after}")));
        if old != " " {
            found.push((OTHER_COST, format!("{before}{old} {after}")));
        }
    }
}

/// The letters all large, all small, or the first one large.
fn cases(text: &str, conversions: &[Conversion], found: &mut Vec<(u32, String)>) {
    let mut letters = Vec::new();
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        let converted = conversions
            .iter()
            .any(|one| (one.start..one.end).contains(&at));
        if !is_escaped && !converted && letter.is_ascii_alphabetic() {
            letters.push(at);
        }
        is_escaped = letter == '\\' && !is_escaped;
    }
    let mut push = |is_large: &dyn Fn(usize) -> bool| {
        let mut form = text.as_bytes().to_vec();
        for (number, &at) in letters.iter().enumerate() {
            match is_large(number) {
                true => form[at].make_ascii_uppercase(),
                false => form[at].make_ascii_lowercase(),
            }
        }
        found.extend(String::from_utf8(form).map(|form| (OTHER_COST, form)));
    };
    push(&|_| true);
    push(&|_| false);
    push(&|number| number == 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str, use_: Use, values: &[Value]) -> Vec<String> {
        let forms = forms(text, use_, values).into_iter();
        forms.map(|(_, form)| form).collect()
    }

    fn first(text: &str, use_: Use, values: &[Value]) -> Option<(u32, String)> {
        forms(text, use_, values).into_iter().next()
    }

    const INT: Value = Value::Integer("", true);
    const LONG_LONG: Value = Value::Integer("ll", true);

    #[test]
    fn widths_get_and_lose_zeros_and_sides() {
        for (text, form) in [
            (" %2x", " %02x"),
            ("%02d", "%2d"),
            ("%8s|", "%-8s|"),
            ("%-8s|", "%8s|"),
            ("%x", "%02x"),
        ] {
            let found = texts(text, Use::Output, &[Value::Other]);
            assert!(found.iter().any(|other| other == form), "{text}: {found:?}");
        }
        let found = texts("%8s", Use::Output, &[Value::Text]);
        assert!(!found.iter().any(|other| other == "%08s"));
    }

    #[test]
    fn numbers_get_another_base_and_keep_their_width_and_length() {
        for (text, form) in [
            ("%04ld ", "%04lx "),
            ("%x", "%d"),
            ("%6.2f", "%6.2g"),
            ("%llu", "%lld"),
        ] {
            let found = texts(text, Use::Output, &[Value::Other]);
            assert!(found.iter().any(|other| other == form), "{text}: {found:?}");
        }
        let found = texts("%s%c%%", Use::Output, &[Value::Text, INT]);
        assert!(!found.iter().any(|other| other.contains('x')), "{found:?}");
    }

    #[test]
    fn conversions_are_fitted_to_their_arguments() {
        let output = |text, values: &[Value]| first(text, Use::Output, values);
        let fitted = |text: &str| Some((FITTED_COST, text.to_owned()));
        assert_eq!(
            output("%d of %5d\\n", &[INT, LONG_LONG]),
            fitted("%d of %5lld\\n")
        );
        assert_eq!(
            output("%.2d %s", &[Value::Floating(""), INT]),
            fitted("%.2f %d")
        );
        assert_eq!(output("%*d", &[INT, LONG_LONG]), fitted("%*lld"));
        assert_eq!(
            output("%zu", &[Value::Integer("l", false)]).unwrap().0,
            BLANK_COST
        );
        assert_eq!(
            output("%lf%%", &[Value::Floating("")]).unwrap().0,
            BLANK_COST
        );
        let input = |text, values: &[Value]| first(text, Use::Input, values);
        assert_eq!(
            input("%d %*d %f", &[LONG_LONG, Value::Floating("l")]),
            fitted("%lld %*d %lf")
        );
        let line = "%d%9[^\\n]".to_owned();
        assert_eq!(
            input("%d%9s", &[INT, Value::Text]),
            Some((BLANK_COST, line))
        );
    }

    #[test]
    fn what_becomes_a_floating_number_has_the_digits_of_others() {
        let values = [Value::Floating(""), Value::Floating("")];
        let found = texts("%.1f is %d", Use::Output, &values);
        assert_eq!(found[..2], ["%.1f is %f", "%.1f is %.1f"]);
        assert_eq!(texts("%d", Use::Output, &values)[2], "%.2f");
    }

    #[test]
    fn blanks_and_separators_and_digits_are_other_ones() {
        let output = texts("%d;%d", Use::Output, &[INT, INT]);
        for form in ["%d;%d\\n", "%d,%d", "%d;%02d", "%d; %d", "%d%d", "%d;%d "] {
            assert!(output.contains(&form.to_owned()), "{form} {output:?}");
        }
        let floating = texts("%f\\n", Use::Output, &[Value::Floating("")]);
        for form in ["%.2f\\n", "%f", "%f \\n"] {
            let has = floating.contains(&form.to_owned());
            assert_eq!(has, form != "%f \\n", "{form} {floating:?}");
        }
        let input = texts("%d%c", Use::Input, &[INT, Value::Text]);
        assert_eq!(input, ["%d %c"]);
        let plain = texts("yes 100%", Use::Plain, &[]);
        for form in ["YES 100%", "Yes 100%", "yes 100%\\n"] {
            assert!(plain.contains(&form.to_owned()), "{form} {plain:?}");
        }
        assert!(!plain.contains(&"yes 100%".to_owned()));
        assert!(!texts("\\n", Use::Plain, &[]).contains(&String::new()));
    }

    #[test]
    fn what_belongs_together_stays_together() {
        let path = texts("a\\\\n", Use::Output, &[]);
        assert!(path.contains(&"a\\\\n\\n".to_owned()), "{path:?}");
        assert!(!path.contains(&"a\\".to_owned()), "{path:?}");
        let given = texts("%.*f", Use::Output, &[INT, Value::Floating("")]);
        assert!(given.iter().all(|form| form.contains("%.*")), "{given:?}");
        assert_eq!(texts("%hhd", Use::Input, &[Value::Text]), [""; 0]);
        assert!(!is_one_literal("gr\u{fffd}n"));
        assert!(!is_one_literal("a\" \"b"));
        assert!(is_one_literal("a\\\" \\\"b"));
    }

    #[test]
    fn unusual_formats_are_left_alone() {
        for text in ["%1$d", "%n", "%", "%ls%C"] {
            assert_eq!(texts(text, Use::Output, &[INT]), [""; 0], "{text}");
        }
    }
}
