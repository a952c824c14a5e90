//! Leaves from elsewhere: globals and constants that the function at hand does not mention.
//!
//! A function often lacks something that its surroundings have: a global that only its callees read, a limit of another
//! function, a number or a character of a failing test. Such leaves cost one node more than leaves of the function (see
//! `builder`), so they come later. Constants are only compared with the nearest values.

use patchwright_csource::{Storage, VarId, types::TypeKind};
use rustc_hash::FxHashSet;

use crate::constants::character;
use crate::{
    crash_free::CrashFree,
    holes::Hole,
    leaves::{LeafLimits, Mentions, Visible},
    slots::AtomBuilder,
    term::{CType, Kind, Term},
};

/// Most globals of functions that the one at hand calls…
const GLOBALS_OF_CALLED: usize = 12;

/// …and, with them, of others.
const GLOBALS: usize = 16;

/// Most constants of other functions.
const CONSTANTS_OF_OTHERS: usize = 12;

/// Numbers that programs are full of: sizes of words, of bytes, of calendars, limits of types.
const USUAL: [i64; 31] = [
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 16, 20, 24, 26, 30, 31, 32, 50, 60, 63, 64, 100, 127, 128,
    255, 256, 365, 400, 1000, 1024,
];

/// The leaves of the terms at a hole: near ones, and distant ones.
#[derive(Clone, Debug, Default)]
pub struct Leaves {
    /// What the function mentions, or has at hand; the nearest first.
    pub near: Vec<Term>,
    /// What only others mention.
    pub distant: Vec<Term>,
    /// What would keep tests from crashing.
    pub crash_free: CrashFree,
}

impl Leaves {
    /// Returns all leaves, near and distant ones.
    pub fn iter(&self) -> impl Iterator<Item = &Term> {
        self.near.iter().chain(&self.distant)
    }
}

/// The numbers and characters that tests give to a program or expect from it, in the order in which they come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    pub(crate) integers: Vec<i64>,
    floats: Vec<f64>,
    pub(crate) characters: Vec<u8>,
    /// The lines that are expected, each once.
    pub(crate) lines: Vec<String>,
    /// The lines that were expected where something else came first, each once.
    pub(crate) missing: Vec<String>,
    /// What stands between blanks, each once.
    pub(crate) words: Vec<String>,
}

impl Shown {
    const INTEGERS: usize = 24;
    const FLOATS: usize = 8;
    const CHARACTERS: usize = 40;
    const LINES: usize = 40;
    const WORDS: usize = 40;
    /// Longer words are not asked for.
    const LONGEST_WORD: usize = 20;
    /// Texts beyond this length tell no more.
    const LENGTH: usize = 4096;

    /// Adds the numbers and characters of an expected text.
    pub fn expect(&mut self, text: &[u8]) {
        self.add(text);
        let text = &text[..text.len().min(Self::LENGTH)];
        for line in String::from_utf8_lossy(text).lines() {
            let is_known = line.trim().is_empty() || self.lines.iter().any(|known| known == line);
            if !is_known && self.lines.len() < Self::LINES {
                self.lines.push(line.to_owned());
            }
        }
    }

    /// Adds a line that a failing test expected and did not get.
    pub fn miss(&mut self, line: &str) {
        if !self.missing.iter().any(|known| known == line) {
            self.missing.push(line.to_owned());
        }
    }

    /// Adds the numbers and characters of a text that a test gives to the program.
    pub fn add(&mut self, text: &[u8]) {
        let text = &text[..text.len().min(Self::LENGTH)];
        for &byte in text {
            let usual = byte.is_ascii_graphic() || matches!(byte, b' ' | b'\t' | b'\n');
            if usual && self.characters.len() < Self::CHARACTERS && !self.characters.contains(&byte)
            {
                self.characters.push(byte);
            }
        }
        for word in String::from_utf8_lossy(text).split_ascii_whitespace() {
            let is_new = self.words.iter().all(|known| known != word);
            if is_new && word.len() <= Self::LONGEST_WORD && self.words.len() < Self::WORDS {
                self.words.push(word.to_owned());
            }
        }
        let in_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
        for word in text.split(|&byte| !in_word(byte) && byte != b'-') {
            // `3-5` are two numbers, and `-5` is one.
            let mut from = 0;
            for at in 1..=word.len() {
                if at == word.len() || word[at] == b'-' {
                    let part = std::str::from_utf8(&word[from..at]).unwrap_or_default();
                    self.number(part, from > 0);
                    from = at;
                }
            }
        }
    }

    /// `after_word`: a `-` in front is no sign.
    fn number(&mut self, word: &str, after_word: bool) {
        let word = match after_word {
            true => word.trim_start_matches('-'),
            false => word,
        };
        // A number that ends a sentence.
        let word = word.strip_suffix('.').unwrap_or(word);
        if let Ok(value) = word.parse::<i64>() {
            if self.integers.len() < Self::INTEGERS && !self.integers.contains(&value) {
                self.integers.push(value);
            }
            return;
        }
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let is_decimal = word
            .trim_start_matches('-')
            .split_once('.')
            .is_some_and(|(whole, fraction)| digits(whole) && digits(fraction));
        if is_decimal
            && let Ok(value) = word.parse::<f64>()
            && self.floats.len() < Self::FLOATS
            && !self.floats.contains(&value)
        {
            self.floats.push(value);
        }
    }
}

/// Returns the leaves of `hole` from elsewhere: from other functions of the file, from tests, and from
/// usage. `file` has the mentions of all functions, of which the present one is `own`. `near` are the
/// leaves that the hole has already.
pub fn distant(
    builder: &mut AtomBuilder<'_>,
    file: &[Mentions],
    own: usize,
    shown: &Shown,
    hole: &mut Hole,
    near: &[Term],
    limits: LeafLimits,
) -> Vec<Term> {
    if limits.distant == 0 {
        return Vec::new();
    }
    let mut found = globals(builder, file, own, hole);
    found.extend(constants(file, own, shown, hole, near, limits.distant));
    if let Some(permitted) = &hole.atoms.permitted {
        let pointees = builder.types.pointees();
        found.retain(|leaf| permitted.permits_constant(leaf, &hole.atoms, pointees));
    }
    found
}

/// Scalar globals that other functions mention: first those of the functions that the one at hand calls, themselves or
/// in turn.
fn globals(
    builder: &mut AtomBuilder<'_>,
    file: &[Mentions],
    own: usize,
    hole: &mut Hole,
) -> Vec<Term> {
    let mut called: Vec<usize> = vec![own];
    let mut next = 0;
    while let Some(&function) = called.get(next) {
        next += 1;
        for name in &file[function].calls {
            let place = file.iter().position(|other| other.name == *name);
            called.extend(place.filter(|place| !called.contains(place)));
        }
    }
    let mut atoms = std::mem::take(&mut hole.atoms);
    let visible = Visible::at(builder.unit, hole);
    let mut wanted: Vec<(bool, u32, VarId)> = Vec::new();
    for (number, function) in file.iter().enumerate() {
        for (&id, places) in function.variables.iter().filter(|_| number != own) {
            let variable = builder.unit.variable(id);
            if variable.storage == Storage::Global
                && !variable.in_system_header
                && !file[own].variables.contains_key(&id)
                && visible.has_value(builder.unit, id)
            {
                let nearest = places.iter().map(|at| at.abs_diff(hole.span.start)).min();
                wanted.push((!called.contains(&number), nearest.unwrap_or(u32::MAX), id));
            }
        }
    }
    wanted.sort_unstable();
    let mut taken = FxHashSet::default();
    wanted.retain(|&(_, _, id)| taken.insert(id));
    let mut found = Vec::new();
    for (elsewhere, _, id) in wanted {
        let most = if elsewhere {
            GLOBALS
        } else {
            GLOBALS_OF_CALLED
        };
        let ty = builder.unit.variable(id).ty;
        let is_scalar = !matches!(
            builder.unit.types.kind(ty),
            TypeKind::Array(..) | TypeKind::Record(_)
        );
        if found.len() < most
            && is_scalar
            && let Some(atom) = builder.variable(&mut atoms, id)
        {
            found.push(Term::atom(atom, &atoms.table));
        }
    }
    hole.atoms = atoms;
    found
}

fn constants(
    file: &[Mentions],
    own: usize,
    shown: &Shown,
    hole: &Hole,
    near: &[Term],
    limit: usize,
) -> Vec<Term> {
    let is_integer = |term: &Term| term.ctype().is_integer() && term.ctype() != CType::Bool;
    let integers = near.iter().any(is_integer);
    let floats = near.iter().any(|term| term.ctype().is_floating());
    let characters = near.iter().any(|term| {
        let is_character = matches!(term.ctype(), CType::Char | CType::UChar);
        is_character || matches!(term.kind(), Kind::Constant(_, text) if text.starts_with('\''))
    });
    let mut seen: FxHashSet<(i128, bool)> = FxHashSet::default();
    for term in near {
        if let Kind::Constant(value, _) = term.kind() {
            let value = if term.ctype().is_floating() {
                i128::from(*value)
            } else {
                i128::from(*value as i64)
            };
            seen.insert((value, term.ctype().is_floating()));
        }
    }
    let mut found: Vec<Term> = Vec::new();
    let mut add = |found: &mut Vec<Term>, value: i128, term: Option<Term>, floating: bool| {
        if found.len() < limit && seen.insert((value, floating)) {
            found.extend(term);
        }
    };
    let number = |value: i64| {
        let ctype = match i32::try_from(value) {
            Ok(_) => CType::Int,
            Err(_) => CType::Long,
        };
        Term::literal(value as u64, ctype).ok()
    };
    let decimal = |value: f64| Term::literal(value.to_bits(), CType::Double).ok();
    if integers || floats {
        let mut others: Vec<(u32, i64)> = Vec::new();
        for (_, function) in file.iter().enumerate().filter(|(number, _)| *number != own) {
            for (value, ctype, spelling, at) in &function.constants {
                if ctype.is_integer()
                    && !spelling.starts_with('\'')
                    && let Ok(value) = i64::try_from(*value)
                {
                    others.push((at.abs_diff(hole.span.start), value));
                }
            }
        }
        others.sort_unstable();
        let mut taken = FxHashSet::default();
        others.retain(|&(_, value)| taken.insert(value));
        let others = others.into_iter().map(|(_, value)| value);
        let others = others.take(CONSTANTS_OF_OTHERS);
        for value in others.chain(shown.integers.iter().copied()) {
            add(&mut found, i128::from(value), number(value), false);
        }
    }
    if floats {
        for &value in &shown.floats {
            let bits = i128::from(value.to_bits());
            add(&mut found, bits, decimal(value), true);
        }
    }
    if characters {
        for &byte in &shown.characters {
            let term = Term::constant(u64::from(byte), CType::Int, character(byte));
            add(&mut found, i128::from(byte), Some(term), false);
        }
    }
    if integers || floats {
        for value in USUAL {
            add(&mut found, i128::from(value), number(value), false);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_characters_of_a_text_are_shown() {
        let mut shown = Shown::default();
        shown.add(b"3-5 x7 -12, 0.50 1.2.3 8.\n");
        assert_eq!(shown.integers, [3, 5, -12, 8]);
        assert_eq!(shown.floats, [0.5]);
        assert_eq!(shown.characters, *b"3-5 x712,0.8\n");
    }

    #[test]
    fn characters_are_written_as_in_c() {
        let written: Vec<String> = b"a'\\\n ".iter().map(|&byte| character(byte)).collect();
        assert_eq!(written, ["'a'", "'\\''", "'\\\\'", "'\\n'", "' '"]);
    }
}
