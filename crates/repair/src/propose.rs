//! Chooses the candidates to verify: none twice, and none that changes nothing.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use patchwright_exec::Project;
use patchwright_space::Schema;
use patchwright_text::{Edit, apply_edits};

use crate::{
    RepairError, RepairOptions, Surroundings,
    at_once::at_once,
    equivalence::{Code, Compilations, alone},
    found::Found,
    instrumented::Instrumented,
    prepare::Prepared,
    ranking::{MEMBERS_REPORTED, Places, Proposal, ranked},
};

/// The number of members of a class that are compiled, to count the different programs among them.
const MEMBERS_COMPILED: usize = 6;

/// The largest number of texts that are compiled for that, over all classes.
const MOST_COMPILED: usize = 300;

/// With so many bytes less a text is shorter than another one; `> 17` is not for `>= 18`.
const SHORTER_BY: i64 = 3;

/// The number of later candidates nearer to the program's text that are compiled for each proposed candidate.
const NEARER_COMPILED: usize = 6;

/// A candidate to verify.
pub(crate) struct Proposed<'f> {
    /// The proposed candidate.
    pub(crate) proposal: Proposal<'f>,
    /// Its file's text.
    pub(crate) text: Vec<u8>,
    /// Its diff.
    pub(crate) diff: Vec<u8>,
    /// The compiler makes other code of the patch than of the untouched program and of all patches proposed before. If the
    /// patch is not the first of its class, one of those was of its class.
    pub(crate) code_differs: bool,
    /// See [`crate::Patch::distinct`].
    pub(crate) distinct: usize,
    /// See [`crate::Patch::code`].
    pub(crate) code: Option<String>,
}

/// What is known of the code of a function.
struct Codes {
    /// What makes declarations of all other functions; empty if they are compiled, too.
    alone: Vec<Edit>,
    /// Of the untouched program.
    original: Option<Code>,
    /// Of what was proposed.
    proposed: Vec<Code>,
}

/// The number of proposals that are compiled ahead.
const AHEAD: usize = 8;

/// A text of a source, and the function whose code is wanted if it is one.
#[derive(PartialEq, Eq, Hash)]
struct Compiled {
    file: usize,
    wanted: Option<usize>,
    text: Vec<u8>,
}

impl Compiled {
    fn compile(
        &self,
        instrumented: &Instrumented,
        compilations: &mut Compilations,
    ) -> Result<Option<Code>, RepairError> {
        let file = &instrumented.files[self.file];
        let name = self
            .wanted
            .map(|function| &file.unit.functions[function].name);
        compilations.code(&file.relative, &self.text, name.map(String::as_str))
    }
}

/// Whether a candidate is this edit of this file.
fn is_it(file: &Path, edit: &Edit, proposal: &Proposal<'_>, places: Places<'_>) -> bool {
    *edit == *proposal.edit && proposal.found.changed(places.holes, places.files).0 == file
}

/// Whether a candidate is one of these edits.
fn is_among(edits: &[(PathBuf, Edit)], proposal: &Proposal<'_>, places: Places<'_>) -> bool {
    let mut edits = edits.iter();
    edits.any(|(file, edit)| is_it(file, edit, proposal, places))
}

/// The candidates to verify, best first.
pub(crate) struct Selection<'f> {
    proposals: std::vec::IntoIter<Proposal<'f>>,
    instrumented: &'f Instrumented,
    /// Diffs that were proposed.
    seen: BTreeSet<Vec<u8>>,
    /// Where texts are compiled, several at the same time.
    compilations: Vec<Compilations>,
    /// The code of what was compiled ahead.
    ahead: HashMap<Compiled, Option<Code>>,
    /// What is known of the code of each function, by file and number.
    codes: BTreeMap<(usize, usize), Codes>,
    duplicates: usize,
    compiled: usize,
    /// How long texts may be compiled, and how long they have been.
    compares_for: Option<Duration>,
    compared_for: Duration,
    /// How long the slowest of them has taken that was compiled by itself.
    slowest: Duration,
    all: bool,
    /// Classes of which a member was proposed.
    represented: BTreeSet<usize>,
    /// What has been shown as verified already and is not proposed yet: the file, and the edit.
    shown: Vec<(PathBuf, Edit)>,
    /// What was passed over for the sake of what has been shown.
    passed_over: VecDeque<Proposal<'f>>,
    /// What has been shown and gave its turn to another one that has been shown, because that reads better: it comes next.
    gave_way: Vec<Proposal<'f>>,
    /// What is the same as something that keeps a statement from being executed: it comes last.
    postponed: VecDeque<Proposed<'f>>,
}

impl<'f> Selection<'f> {
    /// Ranks what was found. Of a whole space there is one candidate for each class.
    ///
    /// # Errors
    /// When the copy in which texts are compiled cannot be made.
    pub(crate) fn new<'a>(
        found: &'f Found,
        instrumented: &'f Instrumented,
        prepared: &Prepared,
        project: &'a Project,
        options: &RepairOptions,
        surroundings: &Surroundings<'a>,
    ) -> Result<Self, RepairError> {
        let mut proposals = ranked(&found.classes, instrumented.places());
        let shown: Vec<(PathBuf, Edit)> = prepared
            .checks
            .shown()
            .iter()
            .filter_map(|patch| match &patch.edits[..] {
                [edit] => Some((patch.file.clone(), edit.clone())),
                _ => None,
            })
            .collect();
        let places = instrumented.places();
        proposals.retain(|proposal| {
            proposal.member < MEMBERS_REPORTED || is_among(&shown, proposal, places)
        });
        let copies = match options.first || options.all {
            true => 1,
            false => options.jobs.max(1),
        };
        let copies = copies.min(proposals.len());
        let compilations = (0..copies)
            .map(|number| {
                let name = format!("compare-{number}");
                Compilations::start(&name, prepared, project, surroundings)
            })
            .collect::<Result<_, RepairError>>()?;
        Ok(Selection {
            proposals: proposals.into_iter(),
            instrumented,
            seen: BTreeSet::new(),
            compilations,
            ahead: HashMap::new(),
            codes: BTreeMap::new(),
            duplicates: 0,
            compiled: 0,
            compares_for: options.compares_for,
            compared_for: Duration::ZERO,
            slowest: Duration::ZERO,
            all: options.all,
            represented: BTreeSet::new(),
            shown,
            passed_over: VecDeque::new(),
            gave_way: Vec::new(),
            postponed: VecDeque::new(),
        })
    }

    /// Returns how many of the patches shown as verified are still to come.
    pub(crate) fn shown_left(&self) -> usize {
        self.shown.len()
    }

    /// Returns the next candidate. With `only_shown` there is room only for candidates that were shown as verified.
    ///
    /// # Errors
    /// When texts cannot be compiled.
    pub(crate) fn next(&mut self, only_shown: bool) -> Result<Option<Proposed<'f>>, RepairError> {
        let places = self.instrumented.places();
        loop {
            self.compile_ahead()?;
            let known = self.gave_way.pop();
            let known = known.or_else(|| match only_shown {
                true => None,
                false => self.passed_over.pop_front(),
            });
            let Some(mut proposal) = known.or_else(|| self.proposals.next()) else {
                // It has been left out as the same as another one.
                self.shown.clear();
                return Ok(self.postponed.pop_front());
            };
            if only_shown && !is_among(&self.shown, &proposal, places) {
                self.passed_over.push_back(proposal);
                continue;
            }
            if self.all && self.represented.contains(&proposal.class) {
                continue;
            }
            let Some((_, mut text, mut diff)) = proposal.applied(self.instrumented.places()) else {
                continue;
            };
            if !self.seen.insert(diff.clone()) {
                continue;
            }
            let mut is_evasion = false;
            let mut is_known = false;
            // What stands outside of the function may change the code of others.
            let code = match proposal.found.is_local {
                true => self.code(proposal.found.entry, &proposal.edit)?,
                false => None,
            };
            if let Some(code) = &code {
                let known = self.codes(proposal.found.entry)?;
                // Of what an uninitialised variable holds, the compiler may assume that it is zero.
                let is_original = known.original.as_ref() == Some(code)
                    && proposal.schema != Schema::Initialization;
                is_known = is_original || known.proposed.contains(code);
                if is_known && !is_among(&self.shown, &proposal, places) {
                    self.duplicates += 1;
                    continue;
                }
                let known = self.codes(proposal.found.entry)?;
                known.proposed.push(code.clone());
                if !is_known && let Some(nearer) = self.nearer(&proposal, code)? {
                    let applied = nearer.applied(self.instrumented.places());
                    let applied = applied.map(|(_, text, diff)| (text, diff));
                    if let Some(applied) = applied {
                        is_evasion = nearer.is_evasion && !proposal.is_evasion;
                        if is_among(&self.shown, &proposal, places) {
                            self.seen.remove(&diff);
                            self.gave_way.push(proposal);
                        } else {
                            self.duplicates += 1;
                        }
                        proposal = nearer;
                        (text, diff) = applied;
                        self.seen.insert(diff.clone());
                    }
                }
            }
            let distinct = self.distinct(&proposal, code.as_ref())?;
            let is_first = proposal.member == 0;
            let code_differs = code.is_some()
                && !is_known
                && (is_first || self.represented.contains(&proposal.class));
            self.represented.insert(proposal.class);
            self.shown
                .retain(|(file, edit)| !is_it(file, edit, &proposal, places));
            let proposed = Proposed {
                proposal,
                text,
                diff,
                code_differs,
                distinct,
                code: code.as_ref().map(Code::to_string),
            };
            if is_evasion {
                self.postponed.push_back(proposed);
                continue;
            }
            return Ok(Some(proposed));
        }
    }

    /// Returns a later candidate that should take the place of `proposal`, because it reads better. It has the same machine code and costs
    /// at most one more. Candidates that only remove text are preferred (`n = a;` for `n += a - n;`), then those that keep more
    /// of the old text (`>= LEAST` for `> 4999`). If both keep as much, the shorter one is preferred (`'0'` for `'1' - 1`). A
    /// patch that was already shown as verified only gives its turn to another that was.
    fn nearer(
        &mut self,
        proposal: &Proposal<'f>,
        code: &Code,
    ) -> Result<Option<Proposal<'f>>, RepairError> {
        let places = self.instrumented.places();
        if self.all {
            return Ok(None);
        }
        let only_shown = is_among(&self.shown, proposal, places);
        let holes = &self.instrumented.holes;
        let place = |proposal: &Proposal<'_>| {
            let entry = &holes[proposal.found.entry];
            (entry.file, entry.hole.function)
        };
        let takes_out = proposal.takes_out();
        let distance = proposal.distance();
        let later = self.proposals.as_slice().iter();
        let later = later.chain(&self.passed_over).filter_map(|other| {
            if !other.found.is_local || place(other) != place(proposal) {
                return None;
            }
            let was_shown = is_among(&self.shown, other, places);
            if only_shown && !was_shown {
                return None;
            }
            let is_shown = !only_shown && !takes_out && was_shown;
            let is_cheap = other.found.cost <= proposal.found.cost + 1;
            let is_shorter = other.growth() + SHORTER_BY <= proposal.growth();
            let only_takes_out = !takes_out && is_shorter && other.takes_out();
            let distance_of_other = other.distance();
            let is_nearer = !takes_out
                && (distance_of_other < distance || distance_of_other == distance && is_shorter);
            let key = (
                !is_shown,
                !only_takes_out,
                distance_of_other,
                other.growth(),
            );
            (is_shown || is_cheap && (only_takes_out || is_nearer)).then(|| (key, other.clone()))
        });
        let mut later: Vec<_> = later.collect();
        later.sort_by_key(|(key, other)| (*key, other.class != proposal.class));
        later.truncate(NEARER_COMPILED);
        for (_, other) in later {
            if self.code(other.found.entry, &other.edit)?.as_ref() == Some(code) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Removes the copy. Returns how many candidates equal the untouched program or another candidate.
    ///
    /// # Errors
    /// When the copy cannot be removed.
    pub(crate) fn finish(&mut self) -> Result<usize, RepairError> {
        for compilations in std::mem::take(&mut self.compilations) {
            compilations.remove()?;
        }
        Ok(self.duplicates)
    }

    /// What is known of the code of the function that a hole is in.
    fn codes(&mut self, entry: usize) -> Result<&mut Codes, RepairError> {
        let instrumented = self.instrumented;
        let hole = &instrumented.holes[entry];
        let key = (hole.file, hole.hole.function);
        if !self.codes.contains_key(&key) {
            let file = &instrumented.files[hole.file];
            let mut alone = alone(&file.unit, hole.hole.function);
            let mut original = self.compiled(entry, &alone, None)?;
            if original.is_none() {
                alone.clear();
                original = self.compiled(entry, &alone, None)?;
            }
            let proposed = Vec::new();
            let codes = Codes {
                alone,
                original,
                proposed,
            };
            self.codes.insert(key, codes);
        }
        Ok(self.codes.get_mut(&key).expect("it has just been added"))
    }

    /// The code of a candidate.
    fn code(&mut self, entry: usize, edit: &Edit) -> Result<Option<Code>, RepairError> {
        let alone = self.codes(entry)?.alone.clone();
        self.compiled(entry, &alone, Some(edit))
    }

    /// The code of a function with an edit, or without one.
    fn compiled(
        &mut self,
        entry: usize,
        alone: &[Edit],
        edit: Option<&Edit>,
    ) -> Result<Option<Code>, RepairError> {
        let Some(wanted) = self.text(entry, alone, edit) else {
            return Ok(None);
        };
        if let Some(known) = self.ahead.get(&wanted) {
            return Ok(known.clone());
        }
        if self.is_out_of_time() {
            return Ok(None);
        }
        let Some(compilations) = self.compilations.first_mut() else {
            return Ok(None);
        };
        let begun = Instant::now();
        let code = wanted.compile(self.instrumented, compilations);
        let took = begun.elapsed();
        self.compared_for += took;
        self.slowest = self.slowest.max(took);
        code
    }

    /// How many texts can be compiled in the time that is left, several at the same time.
    fn texts_left(&self) -> usize {
        let Some(most) = self.compares_for else {
            return usize::MAX;
        };
        let left = most.saturating_sub(self.compared_for).as_secs_f64();
        let rounds = left / self.slowest.as_secs_f64().max(f64::EPSILON);
        (rounds * self.compilations.len() as f64) as usize
    }

    /// Whether texts have been compiled for as long as they may be.
    fn is_out_of_time(&self) -> bool {
        (self.compares_for).is_some_and(|most| self.compared_for >= most)
    }

    /// What is compiled for the code of a function with an edit, or without one.
    fn text(&self, entry: usize, alone: &[Edit], edit: Option<&Edit>) -> Option<Compiled> {
        let edits: Vec<Edit> = alone.iter().chain(edit).cloned().collect();
        let hole = &self.instrumented.holes[entry];
        let file = &self.instrumented.files[hole.file];
        let text = apply_edits(&file.unit.source, &edits).ok()?;
        Some(Compiled {
            file: hole.file,
            wanted: (!alone.is_empty()).then_some(hole.hole.function),
            text,
        })
    }

    /// Compiles what the next proposals are told apart by, several at the same time.
    fn compile_ahead(&mut self) -> Result<(), RepairError> {
        if self.compilations.len() < 2 || self.is_out_of_time() {
            return Ok(());
        }
        let next = self.proposals.as_slice().iter();
        let next = next.filter(|proposal| proposal.found.is_local).take(AHEAD);
        let next: Vec<Proposal<'f>> = next.cloned().collect();
        let mut wanted: Vec<Compiled> = Vec::new();
        for (number, proposal) in next.iter().enumerate() {
            let entry = proposal.found.entry;
            let alone = self.codes(entry)?.alone.clone();
            let text = self.text(entry, &alone, Some(&proposal.edit));
            let is_known = |text: &Compiled| self.ahead.contains_key(text) || wanted.contains(text);
            match text.filter(|text| !is_known(text)) {
                Some(text) => wanted.push(text),
                // What comes next is there.
                None if number == 0 => return Ok(()),
                None => {}
            }
        }
        wanted.truncate(self.texts_left());
        let begun = Instant::now();
        let instrumented = self.instrumented;
        let free = Mutex::new(std::mem::take(&mut self.compilations));
        let lock = || free.lock().unwrap_or_else(PoisonError::into_inner);
        let jobs = lock().len();
        let codes = at_once(jobs, &wanted, |_, wanted| {
            let own = lock().pop();
            let Some(mut own) = own else {
                return Ok(None);
            };
            let code = wanted.compile(instrumented, &mut own);
            lock().push(own);
            code
        });
        self.compilations = free.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.compared_for += begun.elapsed();
        for (wanted, code) in wanted.into_iter().zip(codes) {
            self.ahead.insert(wanted, code?);
        }
        Ok(())
    }

    /// How many programs the first members of a candidate's class are, where a whole space is reported.
    fn distinct(
        &mut self,
        proposal: &Proposal<'f>,
        code: Option<&Code>,
    ) -> Result<usize, RepairError> {
        let Some(code) = code.filter(|_| self.all && proposal.found.members.len() > 1) else {
            return Ok(0);
        };
        let mut codes = vec![code.clone()];
        for (edit, _) in proposal
            .found
            .members
            .iter()
            .skip(1)
            .take(MEMBERS_COMPILED - 1)
        {
            if self.compiled == MOST_COMPILED {
                return Ok(0);
            }
            self.compiled += 1;
            if let Some(code) = self.code(proposal.found.entry, edit)?
                && !codes.contains(&code)
            {
                codes.push(code);
            }
        }
        Ok(codes.len())
    }
}
