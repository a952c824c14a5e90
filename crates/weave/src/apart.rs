//! Woven parts on lines of their own, so that a compiler's message tells which of them it is about.
//!
//! Parts stand between comments that name them. As nothing but lines and comments is added, what does not compile here does
//! not compile in the file as it is woven otherwise, and the other way round.

use crate::hook::Hook;
use patchwright_probe_abi::{FunctionId, HoleId};
use std::collections::{BTreeMap, BTreeSet};

/// A part of a woven function, such as a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WovenPart {
    /// A hole, without its alternatives.
    Hole(HoleId),
    /// One of a hole's alternatives, or a copy of a moved statement: the value that selects it.
    Alternative(HoleId, u64),
    /// A touch of the variables that are assigned somewhere in the function.
    Touch,
}

const OPEN: &str = "/*__pw_open ";
const CLOSE: &str = "/*__pw_close*/";
const END: &str = "*/";

/// What the name of the file begins with in which the lines of a function's copy are counted.
const FILE: &str = "__pw_woven_";

impl WovenPart {
    /// `text` between comments that name the part.
    pub(crate) fn on_its_own_lines(self, text: &[u8]) -> Vec<u8> {
        let named = match self {
            WovenPart::Hole(hole) => format!("hole {}", hole.0),
            WovenPart::Alternative(hole, value) => format!("alternative {} {value}", hole.0),
            WovenPart::Touch => "touch".to_owned(),
        };
        let before = format!("\n{OPEN}{named}{END}\n");
        let after = format!("\n{CLOSE}\n");
        [before.as_bytes(), text, after.as_bytes()].concat()
    }

    fn named(text: &str) -> Option<WovenPart> {
        let mut words = text.split(' ');
        let part = match words.next()? {
            "hole" => WovenPart::Hole(HoleId(words.next()?.parse().ok()?)),
            "alternative" => {
                let hole = HoleId(words.next()?.parse().ok()?);
                WovenPart::Alternative(hole, words.next()?.parse().ok()?)
            }
            "touch" => WovenPart::Touch,
            _ => return None,
        };
        Some(part)
    }
}

/// A woven file whose woven parts stand on lines of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Apart {
    /// The file.
    pub text: Vec<u8>,
    /// For each line of a function's copy the innermost part.
    lines: BTreeMap<FunctionId, Vec<Option<WovenPart>>>,
    /// The functions' copies.
    copies: BTreeMap<FunctionId, Vec<u8>>,
}

impl Apart {
    /// Starts with the text of a file, to which copies are added.
    pub(crate) fn new(text: Vec<u8>) -> Self {
        Apart {
            text,
            ..Apart::default()
        }
    }

    /// Notes the copy of a function.
    pub(crate) fn add(&mut self, function: FunctionId, copy: &[u8]) {
        let mut open = Vec::new();
        let lines = copy.split(|&byte| byte == b'\n').map(|line| {
            let line = String::from_utf8_lossy(line);
            let line = line.trim_end();
            if line == CLOSE {
                open.pop();
            }
            let named = line
                .strip_prefix(OPEN)
                .and_then(|rest| rest.strip_suffix(END));
            open.extend(named.and_then(WovenPart::named));
            open.last().copied()
        });
        let lines = lines.collect();
        self.lines.insert(function, lines);
        self.copies.insert(function, copy.to_vec());
    }

    /// Returns the woven parts of a function whose own lines have this name.
    pub fn parts_with(&self, function: FunctionId, name: &str) -> BTreeSet<WovenPart> {
        let (Some(lines), Some(copy)) = (self.lines.get(&function), self.copies.get(&function))
        else {
            return BTreeSet::new();
        };
        let has_name = |line: &[u8]| {
            patchwright_ctext::places_of(line, name.as_bytes())
                .next()
                .is_some()
        };
        let own = copy.split(|&byte| byte == b'\n').zip(lines);
        own.filter_map(|(line, part)| part.filter(|_| has_name(line)))
            .collect()
    }

    /// Returns the function, and the innermost woven part, at a file and line of a compiler's
    /// message. It is `None` if the place is not in a woven copy of this file.
    pub fn part(&self, file: &str, line: u32) -> Option<(FunctionId, Option<WovenPart>)> {
        let name = file.rsplit('/').next()?;
        let function = FunctionId(name.strip_prefix(FILE)?.parse().ok()?);
        let lines = self.lines.get(&function)?;
        let part = (line as usize).checked_sub(1).and_then(|at| lines.get(at));
        Some((function, part.copied().flatten()))
    }
}

/// A line of its own after which the lines of a function's copy are counted.
pub(crate) fn line_directive(function: FunctionId, newline: &str) -> String {
    format!("{newline}#line 1 \"{FILE}{}\"{newline}", function.0)
}

/// The hook with each of its alternatives on lines of its own.
pub(crate) fn marked(hook: &Hook) -> Hook {
    let mut hook = hook.clone();
    let Some(alternatives) = hook.kind.alternatives_mut() else {
        return hook;
    };
    for (value, alternative) in (1..).zip(alternatives) {
        let part = WovenPart::Alternative(hook.id, value);
        let text = part.on_its_own_lines(alternative.as_bytes());
        *alternative = String::from_utf8_lossy(&text).into_owned();
    }
    hook
}
