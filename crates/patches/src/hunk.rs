//! Finds the place of a hunk in a file, as `patch(1)` does.
//!
//! A hunk is looked for at the line that it says, moved by as much as the hunk before it was; then
//! further and further away on both sides. If it fits nowhere, one line of context less at each end
//! is asked for, and then two (*fuzz*). A hunk with less context before than behind its change is
//! held to begin the file (and the other way round) until fuzz allows for it. Unlike `patch(1)`,
//! which takes the later one, we refuse a hunk that fits at two places equally far away.

use patchwright_text::{Edit, Span};

use crate::diff::{Hunk, Side};
use crate::tree::line_starts;

/// Most lines of context at each end of a hunk that need not fit.
const MOST_FUZZ: usize = 2;

/// A text with its lines.
pub(crate) struct Lines<'t> {
    text: &'t [u8],
    starts: &'t [u32],
}

impl<'t> Lines<'t> {
    /// Views a text by lines; `starts` are the offsets of the lines and the length of the text.
    pub(crate) fn new(text: &'t [u8], starts: &'t [u32]) -> Self {
        Lines { text, starts }
    }

    fn count(&self) -> isize {
        self.starts.len() as isize - 1
    }

    /// The offset at which a line (from 1) begins; of a line behind the end, the end.
    fn offset(&self, line: isize) -> u32 {
        let index = usize::try_from(line - 1).unwrap_or(0);
        let end = self.text.len() as u32;
        self.starts.get(index).copied().unwrap_or(end)
    }

    fn line(&self, line: isize) -> &'t [u8] {
        &self.text[self.offset(line) as usize..self.offset(line + 1) as usize]
    }
}

/// Where hunks were applied so far.
#[derive(Default)]
pub(crate) struct Progress {
    /// How far the last hunk was from where it should have been.
    drift: isize,
    /// The last line, from 1, that has been changed or passed.
    frozen: isize,
}

/// A hunk that was found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The line of its first line, from 1.
    pub(crate) line: usize,
    /// How far that is from what the hunk says.
    pub(crate) offset: isize,
    pub(crate) fuzz: usize,
    /// What it changes.
    pub(crate) edits: Vec<Edit>,
}

/// Why a hunk was not found.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Lost {
    Nowhere,
    Ambiguous([usize; 2]),
}

/// The old side of a hunk.
struct Pattern<'h> {
    lines: Vec<&'h [u8]>,
    /// The line at which it should be, from 1, before any drift.
    first: isize,
    /// Number of lines of context before the first change and behind the last one.
    prefix: isize,
    suffix: isize,
}

impl<'h> Pattern<'h> {
    fn of(hunk: &'h Hunk) -> Self {
        let is_context = |line: &&crate::diff::HunkLine| line.side == Side::Context;
        let lines: Vec<&[u8]> = hunk
            .lines
            .iter()
            .filter(|line| line.side != Side::New)
            .map(|line| &line.text[..])
            .collect();
        let first = hunk.old_start as isize;
        Pattern {
            // An insertion without context names the line before it.
            first: if lines.is_empty() { first + 1 } else { first },
            prefix: hunk.lines.iter().take_while(is_context).count() as isize,
            suffix: hunk.lines.iter().rev().take_while(is_context).count() as isize,
            lines,
        }
    }

    fn count(&self) -> isize {
        self.lines.len() as isize
    }

    /// Whether it fits with its first line at `at`, without some of its lines at both ends.
    fn fits(&self, text: &Lines<'_>, at: isize, skip_first: isize, skip_last: isize) -> bool {
        (skip_first..self.count() - skip_last).all(|i| {
            let line = at + i;
            (1..=text.count()).contains(&line) && text.line(line) == self.lines[i as usize]
        })
    }

    /// Where it fits with this fuzz.
    fn locate(
        &self,
        text: &Lines<'_>,
        progress: &Progress,
        fuzz: isize,
    ) -> Result<Option<isize>, Lost> {
        let guess = self.first + progress.drift;
        let context = self.prefix.max(self.suffix);
        let skip_first = fuzz + self.prefix - context;
        let skip_last = fuzz + self.suffix - context;
        let earliest = progress.frozen + 1;
        if self.lines.is_empty() {
            let possible = (earliest..=text.count() + 1).contains(&guess);
            return Ok(possible.then_some(guess));
        }
        if skip_first < 0 && self.first <= 1 {
            // It must begin the file.
            let whole = skip_last >= 0 || self.count() == text.count();
            let fits =
                whole && progress.frozen <= self.prefix && self.fits(text, 1, 0, skip_last.max(0));
            return Ok(fits.then_some(1));
        }
        let skip_first = skip_first.max(0);
        if skip_last < 0 {
            // It must end the file.
            let at = text.count() - self.count() + 1;
            return Ok((at >= earliest && self.fits(text, at, skip_first, 0)).then_some(at));
        }
        let last = text.count() - (self.count() - skip_last) + 1;
        let first = earliest.max(1);
        let furthest = (last - guess).max(guess - first);
        for distance in 0..=furthest.max(0) {
            let possible = |at: isize| {
                (first..=last).contains(&at) && self.fits(text, at, skip_first, skip_last)
            };
            let (below, above) = (guess + distance, guess - distance);
            match (possible(below), distance > 0 && possible(above)) {
                (true, true) => return Err(Lost::Ambiguous([above as usize, below as usize])),
                (true, false) => return Ok(Some(below)),
                (false, true) => return Ok(Some(above)),
                (false, false) => {}
            }
        }
        Ok(None)
    }
}

/// Finds the place of a hunk and what it changes there.
pub(crate) fn find(hunk: &Hunk, text: &Lines<'_>, progress: &mut Progress) -> Result<Found, Lost> {
    let pattern = Pattern::of(hunk);
    let most = (pattern.prefix.max(pattern.suffix) as usize).min(MOST_FUZZ);
    for fuzz in 0..=most {
        if let Some(at) = pattern.locate(text, progress, fuzz as isize)? {
            let offset = at - pattern.first;
            progress.drift = offset;
            let edits = edits(hunk, text, at, progress);
            return Ok(Found {
                line: at as usize,
                offset,
                fuzz,
                edits,
            });
        }
    }
    Err(Lost::Nowhere)
}

/// The edits of a hunk whose first line is at `at`. Context stays as it is in the text.
fn edits(hunk: &Hunk, text: &Lines<'_>, at: isize, progress: &mut Progress) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut open = false;
    let mut line = at;
    for part in &hunk.lines {
        if part.side == Side::Context {
            line += 1;
            open = false;
            continue;
        }
        if !open {
            edits.push(Edit::insert(text.offset(line), Vec::new()));
            open = true;
        }
        let Some(edit) = edits.last_mut() else { break };
        match part.side {
            Side::Old => {
                line += 1;
                edit.span = Span::new(edit.span.start, text.offset(line));
            }
            _ => edit.text.extend_from_slice(&part.text),
        }
        progress.frozen = line - 1;
    }
    edits
}

/// Whether the hunk was applied to the text already: its new side is where it says, or near.
pub(crate) fn is_applied(hunk: &Hunk, text: &[u8]) -> bool {
    let mut reversed = hunk.clone();
    for line in &mut reversed.lines {
        line.side = match line.side {
            Side::Old => Side::New,
            Side::New => Side::Old,
            Side::Context => Side::Context,
        };
    }
    let pattern = Pattern::of(&reversed);
    let starts = line_starts(text);
    let lines = Lines::new(text, &starts);
    !pattern.lines.is_empty()
        && matches!(pattern.locate(&lines, &Progress::default(), 0), Ok(Some(_)))
}

/// The hunk with carriage returns at the ends of its lines, if no line has one.
pub(crate) fn with_carriage_returns(hunk: &Hunk) -> Option<Hunk> {
    let mut filled = hunk.clone();
    for line in &mut filled.lines {
        let at = match line.text.ends_with(b"\n") {
            true => line.text.len() - 1,
            // The last line of a file that ends without a newline.
            false => continue,
        };
        if at > 0 && line.text[at - 1] == b'\r' {
            return None;
        }
        line.text.insert(at, b'\r');
    }
    Some(filled)
}

/// The hunk without the carriage returns at the ends of its lines, if every line has one.
pub(crate) fn without_carriage_returns(hunk: &Hunk) -> Option<Hunk> {
    let mut stripped = hunk.clone();
    for line in &mut stripped.lines {
        let end = if line.text.ends_with(b"\n") { 1 } else { 0 };
        let at = line.text.len().checked_sub(end + 1)?;
        if line.text[at] != b'\r' {
            return None;
        }
        line.text.remove(at);
    }
    Some(stripped)
}
