//! Records the places and the comparisons that executions of a version pass.
//!
//! The version is built with `-fsanitize-coverage`, and what that calls is linked (`cover.c`): it notes everything in a file
//! that the host reads between executions. Where that cannot be built, or nothing is noted, executions are only looked at
//! from outside.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    fs::File,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    time::Duration,
};

use patchwright_compare::Compared;
use patchwright_exec::{
    Ending, Flagged, Limits, Request, Runner, Worker, files, flagged_environment,
    runner::{Environment, Stdin},
};
use patchwright_text::{LineMap, line_edits};

use crate::encoded::Problem;

const SOURCE: &str = include_str!("cover.c");
const FLAGS: [&str; 6] = [
    "-fsanitize-coverage=trace-pc,trace-cmp",
    "-fno-builtin-strcmp",
    "-fno-builtin-strncmp",
    "-fno-builtin-memcmp",
    "-g1",
    "-w",
];
/// As `cover.c` has them.
const SLOTS: usize = 1 << 16;
const NUMBERS: usize = 8192;
const NUMBER: usize = 24;
const TEXTS: usize = 1024;
const TEXT: usize = 72;
const COUNTS_AT: u64 = 8;
const PLACES_AT: u64 = COUNTS_AT + SLOTS as u64;
const NUMBERS_AT: u64 = PLACES_AT + 4 * SLOTS as u64;
const TEXTS_AT: u64 = NUMBERS_AT + (NUMBERS * NUMBER) as u64;
const LENGTH: u64 = TEXTS_AT + (TEXTS * TEXT) as u64;
/// The bit of places in libraries, whose lines are not known.
const OF_LIBRARY: u32 = 1 << 31;
/// Asking for the lines of new places costs a process.
const EXECUTIONS_BETWEEN_QUESTIONS: u64 = 64;

/// The distance of a place from the change: on a changed line, in a changed function, or elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Near {
    /// Not at all, or nobody knows.
    #[default]
    Elsewhere,
    /// In a function that has changed.
    Function,
    /// On a line that has changed, or where lines were put in or taken out.
    Line,
}

/// The changed lines (by the file's path from the root) and functions of one version.
#[derive(Clone, Debug, Default)]
pub struct Changed {
    /// Lines, counted from 1.
    pub lines: BTreeMap<PathBuf, BTreeSet<u32>>,
    /// Names of functions.
    pub functions: BTreeSet<String>,
}

/// Returns the lines of `old` that are not in `new`, and the lines on both sides of insertions, counted
/// from 1.
pub fn lines_round(old: &[u8], new: &[u8]) -> BTreeSet<u32> {
    let map = LineMap::new(old);
    let mut lines = BTreeSet::new();
    for edit in line_edits(old, new) {
        let first = map.line(edit.span.start);
        match edit.span.is_empty() {
            true => lines.extend([first.saturating_sub(1), first]),
            false => lines.extend(first..=map.line(edit.span.end - 1)),
        }
    }
    lines
}

/// The coverage of the executions of a version.
#[derive(Debug)]
pub struct Cover {
    file: File,
    changed: Changed,
    /// Of each slot, what its place is; nothing while nobody has asked.
    near: HashMap<u16, Near>,
    /// Executions since somebody has asked. A count and no clock, so that a search is the same each time.
    unasked: u64,
    /// What was executed how often, in powers of two.
    seen: HashSet<(u16, u8)>,
    /// Ways through functions that have changed.
    ways: HashSet<u64>,
}

/// The places that one execution passed.
#[derive(Clone, Debug, Default)]
pub struct Through {
    /// A place that no execution was at before, or not so often.
    pub is_new: bool,
    /// A way through functions that have changed that none took before.
    pub is_new_way: bool,
    /// Its places.
    pub slots: Vec<u16>,
}

impl Cover {
    /// Prepares a copy so that its build records coverage, and returns the environment of the build.
    /// It is `None` if the recorder cannot be compiled.
    ///
    /// # Errors
    /// What cannot be written, and interruption.
    pub fn prepare(worker: &mut Worker) -> Result<Option<(Environment, Cover)>, Problem> {
        let folder = worker.folder.join("cover");
        files::create_private_folder(&folder).map_err(Problem::of)?;
        let path = worker.shared.join("cover");
        let file = files::create_zeroed(&path, LENGTH).map_err(Problem::of)?;
        let shown = path.display().to_string();
        if shown.contains(['"', '\\']) {
            return Ok(None);
        }
        let source = folder.join("cover.c");
        let text = format!("#define COVER_FILE \"{shown}\"\n{SOURCE}");
        files::write_atomic(&source, text.as_bytes()).map_err(Problem::of)?;
        let object = folder.join("cover.o");
        let words = [
            "-c",
            "-O2",
            "-fPIC",
            "-ffreestanding",
            "-fno-builtin",
            "-w",
            "-o",
        ];
        let words = words.into_iter().map(std::ffi::OsString::from);
        let words = words.chain([object.clone().into(), source.into()]);
        let mut request = Request::new("cc", &folder).args(words);
        request.limits = Limits::for_build();
        let compiled = worker.runner.run(&request);
        if !compiled.is_ok_and(|one| one.ending == Ending::Exited(0)) {
            return Ok(None);
        }
        let scripts = folder.join("compilers");
        let flagged = Flagged {
            flags: &FLAGS,
            objects: &[&object],
            ..Flagged::default()
        };
        let environment = flagged_environment(&scripts, &scripts, flagged);
        let cover = Cover {
            file,
            changed: Changed::default(),
            near: HashMap::new(),
            unasked: EXECUTIONS_BETWEEN_QUESTIONS,
            seen: HashSet::new(),
            ways: HashSet::new(),
        };
        Ok(Some((environment.map_err(Problem::of)?, cover)))
    }

    /// Sets what has changed in the version.
    pub fn set_changed(&mut self, changed: Changed) {
        self.changed = changed;
        self.near.clear();
    }

    /// Forgets the last execution. With `compares` the next one also records its comparisons.
    pub fn begin(&mut self, compares: bool) -> Result<(), Problem> {
        let mut head = [0; COUNTS_AT as usize + SLOTS];
        head[0] = u8::from(compares);
        let zeros = [0; (LENGTH - NUMBERS_AT) as usize];
        let written = self.file.write_all_at(&head, 0);
        let written = written.and_then(|()| match compares {
            true => self.file.write_all_at(&zeros, NUMBERS_AT),
            false => Ok(()),
        });
        written.map_err(Problem::of)
    }

    /// Returns the places that the last execution passed.
    pub fn through(&mut self) -> Result<Through, Problem> {
        let mut counts = vec![0; SLOTS];
        let read = self.file.read_exact_at(&mut counts, COUNTS_AT);
        read.map_err(Problem::of)?;
        self.unasked += 1;
        let mut through = Through::default();
        let mut way = 0u64;
        for (slot, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let slot = slot as u16;
            let power = 8 - count.leading_zeros() as u8;
            through.is_new |= self.seen.insert((slot, power));
            through.slots.push(slot);
            if self
                .near
                .get(&slot)
                .is_some_and(|near| *near > Near::Elsewhere)
            {
                let mixed = way ^ (u64::from(slot) + 1);
                way = mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23);
            }
        }
        through.is_new_way = way != 0 && self.ways.insert(way);
        Ok(through)
    }

    /// Returns how near the nearest of these places is to the change.
    pub fn nearest(&self, slots: &[u16]) -> Near {
        let near = slots.iter().filter_map(|slot| self.near.get(slot));
        near.max().copied().unwrap_or_default()
    }

    /// Asks `addr2line` for the source lines of new places in `program`, and notes how near each is to the change. That is slow, so
    /// it happens only after so many executions, or with `at_once`. Returns whether places were looked up.
    ///
    /// # Errors
    /// A coverage file that cannot be read.
    pub fn ask(
        &mut self,
        runner: &mut Runner,
        program: &Path,
        at_once: bool,
    ) -> Result<bool, Problem> {
        let is_time = self.unasked >= EXECUTIONS_BETWEEN_QUESTIONS;
        let nothing = self.changed.lines.is_empty() && self.changed.functions.is_empty();
        if nothing || !is_time && !at_once {
            return Ok(false);
        }
        let mut places = vec![0; 4 * SLOTS];
        self.file
            .read_exact_at(&mut places, PLACES_AT)
            .map_err(Problem::of)?;
        let place_of = |slot: usize| {
            let bytes = places[4 * slot..4 * slot + 4].try_into();
            u32::from_le_bytes(bytes.unwrap_or_default())
        };
        let open: Vec<(u16, u32)> = (0..SLOTS)
            .map(|slot| (slot as u16, place_of(slot)))
            .filter(|(slot, place)| *place != 0 && !self.near.contains_key(slot))
            .collect();
        if open.is_empty() {
            return Ok(false);
        }
        self.unasked = 0;
        let own: Vec<(u16, u32)> = open
            .iter()
            .copied()
            .filter(|(_, place)| place & OF_LIBRARY == 0)
            .collect();
        for (slot, _) in open {
            self.near.insert(slot, Near::Elsewhere);
        }
        let base = first_address(program);
        // Places are where calls return to.
        let asked: String = own
            .iter()
            .map(|(_, place)| format!("{:#x}\n", base + u64::from(*place) - 1))
            .collect();
        let folder = program.parent().unwrap_or(Path::new("/"));
        let words = ["-f".into(), "-e".into(), program.as_os_str().to_owned()];
        let mut request = Request::new("addr2line", folder)
            .args(words)
            .stdin(Stdin::Bytes(asked.into_bytes()));
        request.limits = Limits::with_wall(Duration::from_secs(20));
        // Where there is no such program nobody knows.
        let Ok(outcome) = runner.run(&request) else {
            return Ok(true);
        };
        let told = String::from_utf8_lossy(&outcome.stdout).into_owned();
        let mut told = told.lines();
        for (slot, _) in own {
            let (Some(function), Some(line)) = (told.next(), told.next()) else {
                break;
            };
            self.near.insert(slot, self.changed.near(function, line));
        }
        Ok(true)
    }

    /// Returns the comparisons of the last execution, those nearest to the change first.
    pub fn compared(&self) -> Result<Vec<(Near, Compared)>, Problem> {
        let mut held = vec![0; (LENGTH - PLACES_AT) as usize];
        self.file
            .read_exact_at(&mut held, PLACES_AT)
            .map_err(Problem::of)?;
        let word = |at: usize| u32::from_le_bytes(held[at..at + 4].try_into().unwrap_or_default());
        let long = |at: usize| u64::from_le_bytes(held[at..at + 8].try_into().unwrap_or_default());
        // Comparisons stand between the places of their own functions.
        let mut known: BTreeMap<u32, Near> = BTreeMap::new();
        for (slot, near) in &self.near {
            let known = known.entry(word(4 * usize::from(*slot))).or_default();
            *known = (*near).max(*known);
        }
        let near = |place: u32| {
            let before = known.range(..=place).next_back();
            before.map_or(Near::Elsewhere, |(_, near)| *near)
        };
        let mut all = BTreeSet::new();
        let numbers = (NUMBERS_AT - PLACES_AT) as usize;
        for at in (0..NUMBERS).map(|at| numbers + at * NUMBER) {
            if word(at) != 0 {
                let (a, b, size) = (long(at + 8), long(at + 16), word(at + 4));
                all.insert((near(word(at)), Compared::Numbers { a, b, size }));
            }
        }
        let texts = (TEXTS_AT - PLACES_AT) as usize;
        for at in (0..TEXTS).map(|at| texts + at * TEXT) {
            if word(at) != 0 {
                let lengths = [held[at + 4], held[at + 5]].map(|one| usize::from(one).min(32));
                let a = held[at + 8..at + 8 + lengths[0]].to_vec();
                let b = held[at + 40..at + 40 + lengths[1]].to_vec();
                all.insert((near(word(at)), Compared::Texts { a, b }));
            }
        }
        Ok(all.into_iter().rev().collect())
    }
}

impl Changed {
    fn near(&self, function: &str, place: &str) -> Near {
        let place = place.split(" (").next().unwrap_or(place);
        if let Some((path, line)) = place.rsplit_once(':')
            && let Ok(line) = line.parse::<u32>()
        {
            let path = Path::new(path);
            let is_one = |(of, lines): (&PathBuf, &BTreeSet<u32>)| {
                lines.contains(&line) && path.file_name() == of.file_name()
            };
            if self.lines.iter().any(is_one) {
                return Near::Line;
            }
        }
        // Parts that compilers split off have a longer name.
        let own = function.split('.').next().unwrap_or(function);
        match self.functions.contains(own) {
            true => Near::Function,
            false => Near::Elsewhere,
        }
    }
}

/// The address that the first byte of a program has as it is linked: 0 where it may be anywhere.
fn first_address(program: &Path) -> u64 {
    let held = files::read(program).unwrap_or_default();
    let number = |at: usize, length: usize| {
        let bytes = held.get(at..at + length).unwrap_or_default();
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        u64::from_le_bytes(all)
    };
    const FIXED: u64 = 2;
    const LOADED: u64 = 1;
    if number(16, 2) != FIXED {
        return 0;
    }
    let (table, size, count) = (number(32, 8) as usize, number(54, 2), number(56, 2));
    (0..count as usize)
        .map(|at| table + at * size as usize)
        .find(|&at| number(at, 4) == LOADED && number(at + 8, 8) == 0)
        .map_or(0, |at| number(at + 16, 8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_near_by_its_line_or_its_function() {
        let changed = Changed {
            lines: BTreeMap::from([(PathBuf::from("src/a.c"), BTreeSet::from([7]))]),
            functions: BTreeSet::from(["parse".to_owned()]),
        };
        assert_eq!(
            changed.near("other", "/x/src/a.c:7 (discriminator 2)"),
            Near::Line
        );
        assert_eq!(changed.near("parse.part.0", "/x/src/a.c:9"), Near::Function);
        assert_eq!(changed.near("other", "??:0"), Near::Elsewhere);
    }

    #[test]
    fn lines_on_both_sides_of_what_was_put_in_count() {
        let lines = lines_round(b"a\nb\nc\n", b"a\nb\nx\nc\n");
        assert_eq!(lines, BTreeSet::from([2, 3]));
        assert_eq!(lines_round(b"a\nb\nc\n", b"a\nd\nc\n"), BTreeSet::from([2]));
    }
}
