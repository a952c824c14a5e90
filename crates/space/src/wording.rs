//! FORMAT by what the tests expect: the words of a text written as they stand in a line that is expected.
//!
//! A text is aligned with each line, its conversions with what they may have printed. What comes out keeps the conversions and has
//! the line's characters in between. A text may print a whole line, or only a part of one.

use patchwright_csource::{CastKind, ExprId, ExprKind, Place};
use patchwright_text::{Edit, Span};
use rustc_hash::FxHashSet;

use crate::{
    choices::{Alternative, Finder, Form},
    formats::{Conversion, Use, conversions, is_one_literal},
    space::Schema,
};

/// Another word, or a part of one.
const WORD_COST: u32 = 2;

/// Several places of a text.
const WORDS_COST: u32 = 3;

/// Most texts that are tried for one.
const MOST_FORMS: usize = 5;

/// Most characters of a text or a line that are looked at.
const LONGEST: usize = 120;

/// Most characters that differ where a whole line is printed, however short the text is.
const MOST_ADDED: usize = 12;

/// Letters that the text must have if it prints a part of a line.
const LEAST_OF_PART: usize = 4;

/// Most places in which a text and a line differ.
const MOST_PLACES: usize = 3;

/// Differences with fewer pieces between them are in one place.
const SAME_PLACE: usize = 3;

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    /// A character, and how it is written.
    Plain(char, String),
    /// A conversion, with what it may print.
    Converted(Printed, String),
}

/// What a conversion prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Printed {
    /// A number, perhaps with blanks in front or behind.
    Integer {
        is_padded: bool,
    },
    /// The same with a fraction.
    Floating {
        is_padded: bool,
    },
    One,
    /// Whole words.
    Word,
    Any,
}

impl Printed {
    fn may_be(self, c: char) -> bool {
        match self {
            Printed::Integer { is_padded } => {
                c.is_ascii_hexdigit() || matches!(c, '-' | '+') || is_padded && c == ' '
            }
            Printed::Floating { is_padded } => {
                c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e') || is_padded && c == ' '
            }
            Printed::Word => c.is_alphanumeric() || matches!(c, '_' | '-' | ' '),
            Printed::One | Printed::Any => true,
        }
    }
}

/// String literals that are no formats: what a function returns, or what a variable points to.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    if finder.shown.lines.is_empty() {
        return;
    }
    let formats = texts_of_calls(finder);
    for number in 0..finder.function.exprs.len() {
        let id = ExprId(number as u32);
        let expr = finder.function.expr(id);
        // Where it begins an array it is no pointer.
        let ExprKind::Cast {
            operand,
            cast: CastKind::ArrayToPointer,
            ..
        } = expr.kind
        else {
            continue;
        };
        let literal = finder.function.without_parens(operand);
        let is_text = matches!(finder.function.expr(literal).kind, ExprKind::String);
        let Place::Written(span) = finder.function.expr(literal).place else {
            continue;
        };
        if !is_text || !expr.evaluated || formats.contains(&literal) {
            continue;
        }
        let own = finder.text(span);
        let inner = own
            .strip_prefix('"')
            .and_then(|text| text.strip_suffix('"'));
        let Some(inner) = inner.filter(|text| is_one_literal(text)) else {
            continue;
        };
        let Some(ctype) = finder.builder.ctype(expr.ty) else {
            continue;
        };
        let forms = forms(inner, Use::Plain, &[], &finder.shown.lines);
        let span_inside = Span::new(span.start + 1, span.end - 1);
        let alternatives = forms
            .into_iter()
            .map(|(cost, form)| Alternative {
                schema: Schema::Format,
                cost,
                woven: format!("\"{form}\""),
                edit: Edit::replace(span_inside, form),
            })
            .collect();
        finder.add(span, Some(ctype), Form::Expression, alternatives);
    }
}

/// The arguments by which calls print or read.
fn texts_of_calls(finder: &Finder<'_, '_, '_>) -> FxHashSet<ExprId> {
    let function = finder.function;
    let mut found = FxHashSet::default();
    for expr in &function.exprs {
        let ExprKind::Call {
            callee, arguments, ..
        } = &expr.kind
        else {
            continue;
        };
        if let ExprKind::Function(name) = &function.expr(function.stripped(*callee)).kind
            && let Some(number) = crate::formats::changed_argument(name)
            && let Some(&argument) = arguments.get(number)
        {
            found.insert(function.stripped(argument));
        }
    }
    found
}

/// Returns the other texts that expected lines make of a text, each with its cost.
pub(crate) fn texts(text: &str, use_: Use, lines: &[String]) -> Vec<(u32, String)> {
    let conversions = match use_ {
        Use::Input => return Vec::new(),
        Use::Plain => Some(Vec::new()),
        Use::Output => conversions(text, use_),
    };
    conversions.map_or_else(Vec::new, |conversions| {
        forms(text, use_, &conversions, lines)
    })
}

fn forms(
    text: &str,
    use_: Use,
    conversions: &[Conversion],
    lines: &[String],
) -> Vec<(u32, String)> {
    let Some(pieces) = pieces(text, use_, conversions) else {
        return Vec::new();
    };
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    let is_end = |piece: &Piece| matches!(piece, Piece::Plain('\n', _));
    let mut start = 0;
    while start < pieces.len() {
        let length = pieces[start..].iter().position(is_end);
        let end = length.map_or(pieces.len(), |length| start + length);
        let part = &pieces[start..end];
        let is_blank = |piece: &Piece| matches!(piece, Piece::Plain(c, _) if c.is_whitespace());
        for line in lines.iter().filter(|_| !part.iter().all(is_blank)) {
            let line: Vec<char> = line.chars().take(LONGEST).collect();
            let without_signs = restricted(part);
            let both = [Some(part.to_vec()), without_signs].into_iter().flatten();
            for form in both.flat_map(|part| aligned(&part, &line, use_)) {
                let text = [
                    &written(&pieces[..start]),
                    &form.text,
                    &written(&pieces[end..]),
                ];
                let text = text.map(String::as_str).concat();
                found.push((form.places, form.differences, text));
            }
        }
        start = end + 1;
    }
    found.sort();
    let mut seen = FxHashSet::default();
    found.retain(|(.., form)| form != text && seen.insert(form.clone()));
    found.truncate(MOST_FORMS);
    let cost = |places: usize| if places > 1 { WORDS_COST } else { WORD_COST };
    let found = found.into_iter();
    found
        .map(|(places, _, form)| (cost(places), form))
        .collect()
}

/// The pieces where texts that are printed are words, if there are such: `%s.` is expected where `%s` prints a name.
fn restricted(part: &[Piece]) -> Option<Vec<Piece>> {
    let restricted = part.iter().map(|piece| match piece {
        Piece::Converted(Printed::Any, text) => Piece::Converted(Printed::Word, text.clone()),
        piece => piece.clone(),
    });
    let restricted: Vec<Piece> = restricted.collect();
    (restricted != part).then_some(restricted)
}

/// Pieces as they are written.
fn written(pieces: &[Piece]) -> String {
    let texts = pieces.iter().map(|piece| match piece {
        Piece::Plain(_, text) | Piece::Converted(_, text) => text.as_str(),
    });
    texts.collect()
}

/// A text in pieces; `None` if it is too long, or some of it is not known.
fn pieces(text: &str, use_: Use, conversions: &[Conversion]) -> Option<Vec<Piece>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        if let Some(one) = conversions.iter().find(|one| one.start == at) {
            let flags = text[one.start + 1..one.letter].trim_start_matches('-');
            let is_padded = flags.starts_with(|c: char| c == ' ' || c == '*' || c.is_ascii_digit());
            let printed = match &text[one.letter..one.end] {
                "d" | "i" | "u" | "x" | "X" | "o" => Printed::Integer { is_padded },
                "c" => Printed::One,
                "s" | "p" => Printed::Any,
                _ => Printed::Floating { is_padded },
            };
            found.push(Piece::Converted(printed, text[at..one.end].to_owned()));
            at = one.end;
            continue;
        }
        let rest = &text[at..];
        let first = rest.chars().next()?;
        let second = rest[first.len_utf8()..].chars().next();
        let (c, length) = match (first, second) {
            ('\\', Some('n')) => ('\n', 2),
            ('\\', Some('t')) => ('\t', 2),
            ('\\', Some(c @ ('"' | '\\' | '\''))) => (c, 2),
            ('\\', _) => return None,
            ('%', Some('%')) if use_ == Use::Output => ('%', 2),
            (c, _) => (c, c.len_utf8()),
        };
        found.push(Piece::Plain(c, rest[..length].to_owned()));
        at += length;
    }
    (found.len() <= LONGEST).then_some(found)
}

/// What a line makes of a part of a text.
struct Aligned {
    /// In how many places they differ…
    places: usize,
    /// …and in how many characters.
    differences: usize,
    text: String,
}

/// A way to a pair of places in pieces and line.
#[derive(Clone, Copy, PartialEq)]
enum Step {
    /// The line is only begun here.
    Begin,
    /// The piece is the character.
    Same,
    /// Another character in the place of the piece.
    Changed,
    /// The piece is left out.
    Dropped,
    /// A character more.
    Added,
    /// A conversion begins to print, or goes on.
    Prints,
    /// A conversion has printed nothing, or all.
    Printed,
}

const FAR: usize = usize::MAX / 2;

/// Whether no word goes on here.
fn is_boundary(line: &[char], at: usize) -> bool {
    let in_word = |at: Option<usize>| {
        let c = at.and_then(|at| line.get(at));
        c.is_some_and(|c| c.is_alphanumeric())
    };
    !(in_word(at.checked_sub(1)) && in_word(Some(at)))
}

/// The wanted text in the place of a part of a printed text, by the part's position in the line: all of it, its beginning, its
/// end, or the middle.
fn aligned(part: &[Piece], line: &[char], use_: Use) -> Vec<Aligned> {
    let plain = part
        .iter()
        .filter(|piece| matches!(piece, Piece::Plain(c, _) if !c.is_whitespace()))
        .count();
    let mut found = Vec::new();
    for begins in [true, false] {
        let table = Table::fill(part, line, begins);
        for ends in [true, false] {
            let is_whole = begins && ends;
            let most = match is_whole {
                true => MOST_ADDED.max(plain),
                false if plain < LEAST_OF_PART => continue,
                false => 2.max(plain / 3),
            };
            let last = match ends {
                true => Some(line.len()),
                false => (0..=line.len())
                    .filter(|&at| is_boundary(line, at))
                    .min_by_key(|&at| table.cost(part.len(), at)),
            };
            let Some(last) = last.filter(|&at| table.cost(part.len(), at) <= most) else {
                continue;
            };
            let one = table.read(part, line, last, use_);
            if one.differences > 0 && one.places <= MOST_PLACES {
                found.push(one);
            }
        }
    }
    found
}

/// The least differences between beginnings of pieces and of a line, and the last step of each.
struct Table {
    width: usize,
    costs: Vec<usize>,
    steps: Vec<Step>,
    /// The same for ways that end inside of what a conversion prints.
    printing: Vec<usize>,
    printing_steps: Vec<Step>,
}

impl Table {
    fn cost(&self, piece: usize, at: usize) -> usize {
        self.costs[piece * self.width + at]
    }

    fn fill(part: &[Piece], line: &[char], begins: bool) -> Table {
        let width = line.len() + 1;
        let size = (part.len() + 1) * width;
        let mut table = Table {
            width,
            costs: vec![FAR; size],
            steps: vec![Step::Begin; size],
            printing: vec![FAR; size],
            printing_steps: vec![Step::Begin; size],
        };
        for i in 0..=part.len() {
            for j in 0..width {
                let here = i * width + j;
                let mut best = (FAR, Step::Begin);
                let mut take = |cost: usize, step: Step| {
                    if cost < best.0 {
                        best = (cost, step);
                    }
                };
                if i == 0 && (j == 0 || !begins && is_boundary(line, j)) {
                    take(0, Step::Begin);
                }
                match i.checked_sub(1).map(|i| &part[i]) {
                    Some(Piece::Plain(c, _)) => {
                        if j > 0 {
                            let diagonal = table.costs[here - width - 1];
                            match line[j - 1] == *c {
                                true => take(diagonal, Step::Same),
                                false if may_be_added(line[j - 1], Some(*c)) => {
                                    take(diagonal + 1, Step::Changed);
                                }
                                false => {}
                            }
                        }
                        take(table.costs[here - width] + 1, Step::Dropped);
                    }
                    Some(Piece::Converted(printed, _)) => {
                        if j > 0 && printed.may_be(line[j - 1]) {
                            let begins = line[j - 1] != ' ' && is_boundary(line, j - 1);
                            let begun = match *printed == Printed::Word && !begins {
                                true => FAR,
                                false => table.costs[here - width - 1],
                            };
                            let goes_on = match printed {
                                Printed::One => FAR,
                                _ => table.printing[here - 1],
                            };
                            table.printing[here] = begun.min(goes_on);
                            table.printing_steps[here] = match goes_on < begun {
                                true => Step::Prints,
                                false => Step::Begin,
                            };
                        }
                        take(table.printing[here], Step::Printed);
                        if matches!(printed, Printed::Any | Printed::Word) {
                            take(table.costs[here - width], Step::Dropped);
                        }
                    }
                    None => {}
                }
                if j > 0 && may_be_added(line[j - 1], None) {
                    take(table.costs[here - 1] + 1, Step::Added);
                }
                table.costs[here] = best.0;
                table.steps[here] = best.1;
            }
        }
        table
    }

    fn read(&self, part: &[Piece], line: &[char], last: usize, use_: Use) -> Aligned {
        let (mut i, mut j) = (part.len(), last);
        let mut texts: Vec<String> = Vec::new();
        let (mut places, mut differences) = (0, 0);
        // How many pieces have been the same since the last difference: a word is one place.
        let mut same = SAME_PLACE;
        loop {
            let step = self.steps[i * self.width + j];
            let own = |i: usize| match &part[i - 1] {
                Piece::Plain(_, text) | Piece::Converted(_, text) => text.clone(),
            };
            let is_different = match step {
                Step::Begin | Step::Prints => break,
                Step::Same => {
                    texts.push(own(i));
                    (i, j) = (i - 1, j - 1);
                    false
                }
                Step::Changed => {
                    texts.push(escaped(line[j - 1], use_));
                    (i, j) = (i - 1, j - 1);
                    true
                }
                Step::Added => {
                    texts.push(escaped(line[j - 1], use_));
                    j -= 1;
                    true
                }
                Step::Dropped => match &part[i - 1] {
                    Piece::Plain(..) => {
                        i -= 1;
                        true
                    }
                    Piece::Converted(..) => {
                        texts.push(own(i));
                        i -= 1;
                        false
                    }
                },
                Step::Printed => {
                    let end = j;
                    while self.printing_steps[i * self.width + j] == Step::Prints {
                        j -= 1;
                    }
                    (i, j) = (i - 1, j - 1);
                    let printed: String = line[j..end].iter().collect();
                    let fitted = fitted(&part[i], &printed);
                    let is_fitted = fitted.is_some();
                    texts.push(fitted.unwrap_or_else(|| own(i + 1)));
                    is_fitted
                }
            };
            differences += usize::from(is_different);
            places += usize::from(is_different && same >= SAME_PLACE);
            same = if is_different { 0 } else { same + 1 };
        }
        texts.reverse();
        Aligned {
            places,
            differences,
            text: texts.concat(),
        }
    }
}

/// The conversion with the digits that a line has: zeros in front of a number, and how many behind its point.
fn fitted(piece: &Piece, printed: &str) -> Option<String> {
    let Piece::Converted(kind, text) = piece else {
        return None;
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let new = match kind {
        Printed::Integer { is_padded: false } if text.len() == 2 => {
            let has_zeros = printed.len() > 1 && printed.starts_with('0') && digits(printed);
            has_zeros.then(|| format!("%0{}{}", printed.len(), &text[1..]))?
        }
        Printed::Floating { .. } if text.ends_with('f') && !text.contains('*') => {
            let flags = text[1..].trim_end_matches(['f', 'l']);
            let width = flags.split('.').next().unwrap_or_default();
            let length = &text[1 + flags.len()..];
            match printed.split_once('.') {
                Some((_, fraction)) if digits(fraction) => {
                    format!("%{width}.{}{length}", fraction.len())
                }
                Some(_) => return None,
                None => format!("%{width}.0{length}"),
            }
        }
        _ => return None,
    };
    // Six digits are usual.
    let is_same = new == *text || new.replace(".6", "") == *text;
    (!is_same).then_some(new)
}

/// Whether a character of a line may stand in a text, perhaps in the place of another. Numbers are rather calculated.
fn may_be_added(c: char, instead: Option<char>) -> bool {
    let is_number = c.is_ascii_digit() && !instead.is_some_and(|c| c.is_ascii_digit());
    !is_number && c != char::REPLACEMENT_CHARACTER && (!c.is_control() || c == '\t')
}

/// A character as it stands in a string literal.
fn escaped(c: char, use_: Use) -> String {
    match c {
        '"' | '\\' => format!("\\{c}"),
        '\t' => "\\t".to_owned(),
        '%' if use_ == Use::Output => "%%".to_owned(),
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, use_: Use, lines: &[&str]) -> Vec<String> {
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let texts = texts(text, use_, &lines).into_iter();
        texts.map(|(_, text)| text).collect()
    }

    #[test]
    fn words_are_written_as_a_line_has_them() {
        for (text, line, new) in [
            ("The lamp is of\\n", "The lamp is off", "The lamp is off\\n"),
            ("total = %d\\n", "Total: 17", "Total: %d\\n"),
            ("%d,%d\\n", "(3, -4)", "(%d, %d)\\n"),
            ("%s has %.1f\\n", "Ann has 2.5%", "%s has %.1f%%\\n"),
            ("%d\\n", "Sum: 12", "Sum: %d\\n"),
            ("nickle", "nickel: 1", "nickel"),
            ("%s ist not %s\\n", "x is not here.", "%s is not %s.\\n"),
            ("%d:%d%s\\n", "10:05 pm", "%d:%02d %s\\n"),
            ("%f m", "2.50 m", "%.2f m"),
            ("a\\nunkown name\\n", "unknown name", "a\\nunknown name\\n"),
        ] {
            let found = found(text, Use::Output, &[line]);
            assert!(found.iter().any(|text| text == new), "{text}: {found:?}");
        }
    }

    #[test]
    fn parts_of_lines_are_found() {
        let all = found("Hello Wold", Use::Output, &["Hello, World!"]);
        for new in ["Hello, World", "Hello, World!"] {
            assert!(all.iter().any(|text| text == new), "{all:?}");
        }
        let all = found("that way", Use::Plain, &["go the way of all"]);
        assert!(all.iter().any(|text| text == "the way"), "{all:?}");
    }

    #[test]
    fn numbers_are_not_written_for_what_is_calculated() {
        assert_eq!(found("%d\\n", Use::Output, &["42", "1 2"]), [""; 0]);
        assert_eq!(found("n: %d\\n", Use::Output, &["n: 5"]), [""; 0]);
        assert_eq!(found("%d of\\n", Use::Input, &["3 off"]), [""; 0]);
    }
}
