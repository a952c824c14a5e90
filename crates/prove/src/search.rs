//! All minimal repairs: which patch is left, and is it right?
//!
//! One solver knows the patches that are left, another one programs: what a patch makes of the program is asked about with
//! its changes in place, so that all that it has in common with the reference, or with itself elsewhere, is one term. A
//! patch that is wrong comes with an input; with this input in place what makes the program fail is a condition of the
//! changes alone, and no patch that satisfies it is asked about again. Where that condition is large, the changes and
//! non-changes that make the program fail for this input (a must location set) are excluded instead.
//!
//! Patches are taken by their number of changes, so a right one is minimal: those with fewer changes were all wrong.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_solve::{Answer, Backend, Budget, Node, Solver, Sort, Statistics, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{mutation::Change, repaired::Repaired, trial::Trial};

/// An expression that can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choosable {
    /// The number of its choice.
    pub number: u32,
    /// For each alternative the constant that it leaves open, if it does.
    pub open: Vec<Option<u32>>,
}

/// What a patch has to achieve. Choices are the variables `choice.NUMBER.ALTERNATIVE`, open constants the variables
/// `constant.NUMBER` of 64 bits; all other variables are inputs.
#[derive(Clone, Debug)]
pub struct Question {
    /// What must not happen.
    pub bad: Term,
    /// What some execution must do, or else the patch only makes the question void.
    pub some: Option<Term>,
    /// What can be seen of an execution: a value, where the condition holds.
    pub seen: Vec<(Term, Term)>,
    /// The expressions that can be changed.
    pub choosable: Vec<Choosable>,
    /// The least and the greatest value of each open constant.
    pub constants: BTreeMap<u32, (i64, i64)>,
    /// The value of each open constant that stands there now, where one does.
    pub near: BTreeMap<u32, i64>,
}

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Changes of a patch at most.
    pub changes: u32,
    /// Conflicts of one question to a solver at most.
    pub conflicts: Option<u64>,
    /// Patches that are tried at most.
    pub patches: Option<u64>,
    /// Ranges of constants that are looked for in one patch at most.
    pub ranges: usize,
    /// Also give patches that make the question void.
    pub void: bool,
    /// Leave out patches that do what one with fewer changes does.
    pub fewest: bool,
}

impl Default for Extent {
    fn default() -> Extent {
        Extent {
            changes: 2,
            conflicts: None,
            patches: None,
            ranges: 8,
            void: false,
            fewest: false,
        }
    }
}

/// A patch that is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Its changes.
    pub changes: Vec<Change>,
    /// Values of the constants that it leaves open: those nearest to what stands there.
    pub constants: BTreeMap<u32, i64>,
    /// All values of its only open constant that are right, as ranges with both ends.
    pub ranges: Vec<(i64, i64)>,
    /// There are more values than `ranges` says.
    pub more: bool,
    /// No execution satisfies the assumptions, ends within the bound and reaches what shall hold.
    pub void: bool,
    /// The repair, by its position in the order in which repairs were found, that does the same for all inputs.
    pub same_as: Option<usize>,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Patches that were asked about.
    pub patches: u64,
    /// Questions to the solver that knows the program.
    pub questions: u64,
    /// Inputs for which a patch was wrong.
    pub inputs: u64,
    /// Wrong patches excluded by the condition that their input leaves.
    pub by_condition: u64,
    /// Wrong patches excluded by must location sets.
    pub by_must_set: u64,
    /// Right patches excluded with all that contain them.
    pub by_repair: u64,
}

/// How a search ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The repairs, in the order in which they were found.
    pub repairs: Vec<Repair>,
    /// There is no other minimal repair, but for `undecided`.
    pub complete: bool,
    /// Patches that could not be decided within the budget.
    pub undecided: Vec<Vec<Change>>,
    /// The number of changes up to which all patches are decided.
    pub decided: u32,
    /// It was interrupted.
    pub interrupted: bool,
    /// What was done.
    pub counts: Counts,
    /// What the solver of patches and the solver of the program did.
    pub solvers: (Statistics, Statistics),
}

/// Terms of a condition that is given to the solver of patches; larger ones give way to must location sets.
const LARGE: usize = 6_000;

/// Terms of all trials together; beyond them patches are no more tried one by one.
const MOST_TRIED: usize = 10_000_000;

/// Terms of all such conditions together.
const LARGE_TOGETHER: usize = 1_500_000;

/// A search for all minimal repairs.
pub struct Search<'a> {
    pub(crate) terms: &'a mut Terms,
    pub(crate) question: &'a Question,
    pub(crate) extent: Extent,
    pub(crate) interrupt: &'a dyn Fn() -> bool,
    /// Knows the patches that are left.
    patches: Solver,
    /// Knows repaired programs.
    program: Repaired,
    /// Knows single inputs: which changes and non-changes make the program fail, and what constants do not.
    pub(crate) cores: Solver,
    inputs: Vec<Term>,
    pub(crate) sites: Vec<Site>,
    /// The site and the alternative of each choice.
    pub(crate) choice_of: FxHashMap<Term, (usize, usize)>,
    /// All choices, which are false.
    unchosen: FxHashMap<Term, Term>,
    /// The inputs that were found, to try patches on; empty where that is not possible.
    pub(crate) trials: Vec<Trial>,
    /// What fails for each of them.
    pub(crate) folded: Vec<Term>,
    /// The trials, those that exclude most first.
    pub(crate) hardest: Vec<usize>,
    /// Terms of all trials.
    tried: usize,
    /// Patches are tried one by one on all inputs, as long as that is possible.
    pub(crate) explicit: bool,
    /// The changes that are in place in all trials.
    pub(crate) chosen: Vec<(usize, usize)>,
    /// Patches that are right, or do what a right one does.
    pub(crate) blocked: Vec<Vec<(usize, usize)>>,
    /// Patches that were judged and are not to be asked about again.
    pub(crate) judged: FxHashSet<Vec<(usize, usize)>>,
    /// Values of constants that were judged, as conditions.
    pub(crate) refused: FxHashMap<Vec<(usize, usize)>, Vec<Term>>,
    /// For one patch what the inputs say of its constants.
    pub(crate) said: (Vec<(usize, usize)>, Vec<Term>),
    /// What was learnt and the solver of patches does not know yet.
    pending: Vec<(Candidate, Term)>,
    /// For each number of changes, counted from 0: there are more.
    more_than: Vec<Term>,
    given: usize,
    /// How many values of its constants made the question void, for each patch.
    void_tries: BTreeMap<Vec<Change>, usize>,
    pub(crate) found: Found,
}

/// An expression's variables.
pub(crate) struct Site {
    number: u32,
    /// It is changed.
    changed: Term,
    pub(crate) choices: Vec<Term>,
    pub(crate) open: Vec<Option<u32>>,
}

/// A patch that is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// Positions of sites, and of their alternatives, counted from 0.
    pub(crate) changes: Vec<(usize, usize)>,
    pub(crate) constants: BTreeMap<u32, i64>,
}

/// What became of a patch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It is wrong for an input that is known now.
    Wrong,
    /// It is listed, undecided, or void; it was excluded as far as that goes.
    Done,
    Interrupted,
}

/// What came of a question.
pub(crate) enum Verdict {
    Right,
    /// Wrong, with these values of the open constants.
    Wrong(BTreeMap<u32, i64>),
    Unknown,
}

impl<'a> Search<'a> {
    /// Begins a search.
    pub fn new(
        terms: &'a mut Terms,
        question: &'a Question,
        extent: Extent,
        interrupt: &'a dyn Fn() -> bool,
    ) -> Search<'a> {
        let mut patches = Solver::new(Backend::default());
        let mut sites = Vec::new();
        let mut choice_of = FxHashMap::default();
        for choosable in &question.choosable {
            let number = choosable.number;
            let choices: Vec<Term> = (1..=choosable.open.len())
                .map(|which| terms.variable(&format!("choice.{number}.{which}"), Sort::Bool))
                .collect();
            let changed = terms.variable(&format!("changed.{number}"), Sort::Bool);
            let any = terms.or_all(choices.iter().copied());
            let means = terms.iff(changed, any);
            patches.assert(terms, means);
            at_most_one(terms, &mut patches, &choices);
            for (which, &choice) in choices.iter().enumerate() {
                choice_of.insert(choice, (sites.len(), which));
            }
            sites.push(Site {
                number,
                changed,
                choices,
                open: choosable.open.clone(),
            });
        }
        for (&number, &(low, high)) in &question.constants {
            let variable = constant(terms, number);
            let within = between(terms, variable, low, high);
            patches.assert(terms, within);
        }
        let changed: Vec<Term> = sites.iter().map(|site| site.changed).collect();
        let more_than = count(terms, &changed, extent.changes as usize + 1);
        patches.assert(terms, more_than[0]);
        let mut own: BTreeSet<Term> = sites
            .iter()
            .flat_map(|site| site.choices.iter().copied())
            .collect();
        own.extend(
            question
                .constants
                .keys()
                .map(|&number| constant(terms, number)),
        );
        let roots: Vec<Term> = std::iter::once(question.bad)
            .chain(question.some)
            .chain(question.seen.iter().flat_map(|&(a, b)| [a, b]))
            .collect();
        let mut inputs = terms.within(&roots);
        inputs
            .retain(|&term| matches!(terms.node(term), Node::Variable(_)) && !own.contains(&term));
        let no = terms.truth(false);
        Search {
            terms,
            question,
            extent,
            interrupt,
            patches,
            program: Repaired::new(),
            cores: Solver::new(Backend::default()),
            inputs,
            sites,
            unchosen: choice_of.keys().map(|&choice| (choice, no)).collect(),
            choice_of,
            trials: Vec::new(),
            folded: Vec::new(),
            hardest: Vec::new(),
            tried: 0,
            explicit: true,
            chosen: Vec::new(),
            blocked: Vec::new(),
            judged: FxHashSet::default(),
            refused: FxHashMap::default(),
            said: (Vec::new(), Vec::new()),
            pending: Vec::new(),
            more_than,
            given: 0,
            void_tries: BTreeMap::new(),
            found: Found::default(),
        }
    }

    pub(crate) fn budget(&self) -> Budget<'a> {
        Budget {
            conflicts: self.extent.conflicts,
            interrupt: Some(self.interrupt),
        }
    }

    /// Looks for all minimal repairs; each is told to `tell` when it is found.
    pub fn run(mut self, tell: &mut dyn FnMut(&Repair)) -> Found {
        self.all(tell);
        self.found.solvers = (self.patches.statistics(), self.program.statistics());
        self.found
    }

    fn all(&mut self, tell: &mut dyn FnMut(&Repair)) {
        for changes in 1..=self.extent.changes {
            if !self.with_changes(changes as usize, tell) {
                self.found.interrupted = (self.interrupt)();
                return;
            }
            self.found.decided = changes;
        }
        self.found.complete = true;
    }

    /// All repairs of so many changes; whether none is left to be decided.
    fn with_changes(&mut self, changes: usize, tell: &mut dyn FnMut(&Repair)) -> bool {
        let mut also = Vec::new();
        if self.explicit {
            match self.try_all(changes, tell) {
                Judgement::Interrupted => return false,
                Judgement::Done => {
                    // Only constants are left, where they are open together with another change.
                    let open = self.open_choices();
                    if open.is_empty() || changes == 1 {
                        return true;
                    }
                    also.push(self.terms.or_all(open));
                }
                // Some input could not be tried.
                Judgement::Wrong => {}
            }
        }
        also.push(self.terms.not(self.more_than[changes]));
        loop {
            if self.is_over() {
                return false;
            }
            self.tell_patches();
            match self.patches.check(self.terms, &also, &self.budget()) {
                Answer::Unsatisfiable => return true,
                Answer::Unknown => return false,
                Answer::Satisfiable => {}
            }
            let candidate = self.candidate();
            if self.judge(&candidate, tell) == Judgement::Interrupted {
                return false;
            }
        }
    }

    /// It was interrupted, or has tried as many patches as it may.
    pub(crate) fn is_over(&self) -> bool {
        let most = self.extent.patches;
        (self.interrupt)() || most.is_some_and(|most| self.found.counts.patches >= most)
    }

    fn open_choices(&self) -> Vec<Term> {
        let sites = self.sites.iter();
        sites
            .flat_map(|site| site.choices.iter().zip(&site.open))
            .filter(|(_, open)| open.is_some())
            .map(|(&choice, _)| choice)
            .collect()
    }

    /// Asks about a patch, and excludes it.
    pub(crate) fn judge(
        &mut self,
        candidate: &Candidate,
        tell: &mut dyn FnMut(&Repair),
    ) -> Judgement {
        self.found.counts.patches += 1;
        let void = match self.verdict(candidate, None) {
            Verdict::Wrong(_) => return Judgement::Wrong,
            Verdict::Unknown if (self.interrupt)() => return Judgement::Interrupted,
            Verdict::Unknown => None,
            Verdict::Right => self.is_void(candidate),
        };
        let Some(void) = void else {
            let changes = self.named(&candidate.changes);
            self.found.undecided.push(changes);
            self.exclude_exactly(candidate);
            return Judgement::Done;
        };
        if void && !self.extent.void {
            self.exclude_void(candidate);
            return Judgement::Done;
        }
        let mut repair = self.ranges(candidate);
        repair.void = void;
        repair.same_as = self.same_as(&repair);
        self.exclude_with_more(candidate);
        let less = repair.same_as.is_some_and(|other| {
            let other = &self.found.repairs[other];
            other.changes.len() < repair.changes.len()
        });
        if !(less && self.extent.fewest) {
            tell(&repair);
            self.found.repairs.push(repair);
        }
        Judgement::Done
    }

    /// The patch that the solver of patches has just found.
    fn candidate(&mut self) -> Candidate {
        let mut changes = Vec::new();
        let mut constants = BTreeMap::new();
        for (position, site) in self.sites.iter().enumerate() {
            for (which, &choice) in site.choices.iter().enumerate() {
                if truth(&self.patches, self.terms, choice) {
                    changes.push((position, which));
                    if let Some(number) = site.open[which] {
                        let variable = constant(self.terms, number);
                        let value = bits(&self.patches, self.terms, variable) as u64 as i64;
                        constants.insert(number, value);
                    }
                }
            }
        }
        Candidate { changes, constants }
    }

    pub(crate) fn named(&self, changes: &[(usize, usize)]) -> Vec<Change> {
        let named = changes.iter();
        named
            .map(|&(site, which)| (self.sites[site].number, which as u32 + 1))
            .collect()
    }

    /// What holds of the choices when exactly these changes are made.
    fn exactly(&mut self, changes: &[(usize, usize)]) -> Vec<Term> {
        let mut all = Vec::new();
        for (position, site) in self.sites.iter().enumerate() {
            let chosen = changes.iter().find(|&&(site, _)| site == position);
            match chosen {
                None => all.push(self.terms.not(site.changed)),
                Some(&(_, which)) => {
                    for (other, &choice) in site.choices.iter().enumerate() {
                        all.push(match other == which {
                            true => choice,
                            false => self.terms.not(choice),
                        });
                    }
                }
            }
        }
        all
    }

    pub(crate) fn fixed(&mut self, constants: &BTreeMap<u32, i64>) -> Vec<Term> {
        constants
            .iter()
            .map(|(&number, &value)| {
                let variable = constant(self.terms, number);
                let value = self.terms.constant(64, u128::from(value as u64));
                self.terms.eq(variable, value)
            })
            .collect()
    }

    /// A condition with the changes of a patch in place, and, where they are given, its constants.
    pub(crate) fn in_place(
        &mut self,
        condition: Term,
        changes: &[(usize, usize)],
        constants: &BTreeMap<u32, i64>,
    ) -> Term {
        // No change is made: all choices are false but those of the patch.
        let mut values = std::mem::take(&mut self.unchosen);
        for &(site, which) in changes {
            let yes = self.terms.truth(true);
            values.insert(self.sites[site].choices[which], yes);
        }
        for (&number, &value) in constants {
            let variable = constant(self.terms, number);
            let value = self.terms.constant(64, u128::from(value as u64));
            values.insert(variable, value);
        }
        let found = self.terms.substitute(condition, &values);
        for &(site, which) in changes {
            let no = self.terms.truth(false);
            values.insert(self.sites[site].choices[which], no);
        }
        for &number in constants.keys() {
            values.remove(&constant(self.terms, number));
        }
        self.unchosen = values;
        found
    }

    /// Whether a patch is right; constants are those of the patch, or what `instead` says. Of a wrong one it is learnt why.
    pub(crate) fn verdict(&mut self, candidate: &Candidate, instead: Option<Term>) -> Verdict {
        let none = BTreeMap::new();
        let constants = match instead {
            Some(_) => &none,
            None => &candidate.constants,
        };
        let bad = self.in_place(self.question.bad, &candidate.changes, constants);
        let bad = match instead {
            Some(instead) => self.terms.and(bad, instead),
            None => bad,
        };
        self.found.counts.questions += 1;
        let budget = self.budget();
        match self.program.check(self.terms, bad, &budget) {
            Answer::Unsatisfiable => Verdict::Right,
            Answer::Unknown => Verdict::Unknown,
            Answer::Satisfiable => {
                let mut constants = candidate.constants.clone();
                if instead.is_some() {
                    for (&number, value) in &mut constants {
                        let variable = constant(self.terms, number);
                        *value = bits(&self.program.solver, self.terms, variable) as u64 as i64;
                    }
                }
                let candidate = Candidate {
                    changes: candidate.changes.clone(),
                    constants,
                };
                self.learn(&candidate);
                Verdict::Wrong(candidate.constants)
            }
        }
    }

    /// Learns from the input that the solver of the program has just found for a wrong patch.
    fn learn(&mut self, wrong: &Candidate) {
        self.found.counts.inputs += 1;
        let mut input: FxHashMap<Term, Term> = FxHashMap::default();
        for &variable in &self.inputs {
            let value = match self.terms.sort(variable) {
                Sort::Bool => {
                    let truth = truth(&self.program.solver, self.terms, variable);
                    self.terms.truth(truth)
                }
                Sort::Bits(width) => {
                    let bits = bits(&self.program.solver, self.terms, variable);
                    self.terms.constant(width, bits)
                }
                Sort::Array { .. } => continue,
            };
            input.insert(variable, value);
        }
        let folded = self.terms.substitute(self.question.bad, &input);
        self.pending.push((wrong.clone(), folded));
        if self.explicit {
            self.explicit = self.can_try(folded);
        }
    }

    /// Makes a trial of what fails for an input, if that is possible.
    fn can_try(&mut self, folded: Term) -> bool {
        let constants: FxHashSet<Term> = self
            .question
            .constants
            .keys()
            .map(|&number| constant(self.terms, number))
            .collect();
        let trial = Trial::new(
            self.terms,
            folded,
            |term| self.choice_of.contains_key(&term),
            |term| constants.contains(&term),
        );
        let Some(mut trial) = trial else {
            return false;
        };
        self.tried += trial.size();
        for &(site, which) in &self.chosen {
            trial.put(self.terms, self.sites[site].choices[which]);
        }
        self.hardest.insert(0, self.trials.len());
        self.trials.push(trial);
        self.folded.push(folded);
        self.tried <= MOST_TRIED
    }

    /// Gives the solver of patches what was learnt since.
    pub(crate) fn tell_patches(&mut self) {
        for (wrong, folded) in std::mem::take(&mut self.pending) {
            let size = self.terms.size(folded);
            let closed = self.is_of_choices(folded);
            if closed && size <= LARGE && self.given + size <= LARGE_TOGETHER {
                self.given += size;
                self.found.counts.by_condition += 1;
                let fine = self.terms.not(folded);
                self.patches.assert(self.terms, fine);
                continue;
            }
            self.found.counts.by_must_set += 1;
            self.exclude_must_set(&wrong, folded);
            if !wrong.constants.is_empty() && closed {
                self.learn_of_constants(&wrong, folded);
            }
        }
    }

    /// Nothing but choices and open constants is left to decide a condition.
    fn is_of_choices(&self, folded: Term) -> bool {
        let inputs: BTreeSet<Term> = self.inputs.iter().copied().collect();
        let mut left = self.terms.within(&[folded]).into_iter();
        !left.any(|term| match self.terms.node(term) {
            Node::Variable(_) => inputs.contains(&term),
            // Of what a function gives that nobody knows nothing can be learnt.
            Node::Apply(..) => true,
            _ => false,
        })
    }

    /// With these changes, what the input says of their constants.
    fn learn_of_constants(&mut self, wrong: &Candidate, folded: Term) {
        let folded = self.in_place(folded, &wrong.changes, &BTreeMap::new());
        let exactly = self.exactly(&wrong.changes);
        let exactly = self.terms.and_all(exactly);
        let wrong = self.terms.and(exactly, folded);
        let fine = self.terms.not(wrong);
        self.patches.assert(self.terms, fine);
    }

    /// Excludes all patches that agree with a wrong one in what makes it fail for an input; `folded` is what fails for it.
    fn exclude_must_set(&mut self, wrong: &Candidate, folded: Term) {
        let exactly = self.exactly(&wrong.changes);
        let constants = self.fixed(&wrong.constants);
        let own: Vec<Term> = exactly.iter().chain(&constants).copied().collect();
        let fine = self.terms.not(folded);
        let must = match self.excluded(fine, &own) {
            Some(core) => self.smaller(fine, core),
            None => own,
        };
        let must = self.terms.and_all(must);
        let other = self.terms.not(must);
        self.patches.assert(self.terms, other);
    }

    /// Those of `own` that are impossible together with `fine`, if they are.
    fn excluded(&mut self, fine: Term, own: &[Term]) -> Option<Vec<Term>> {
        let assumed: Vec<Term> = std::iter::once(fine).chain(own.iter().copied()).collect();
        self.found.counts.questions += 1;
        if self.cores.check(self.terms, &assumed, &self.budget()) != Answer::Unsatisfiable {
            return None;
        }
        let core = self.cores.core();
        Some(
            own.iter()
                .copied()
                .filter(|term| core.contains(term))
                .collect(),
        )
    }

    /// Drops what is not needed to exclude what is fixed.
    fn smaller(&mut self, fine: Term, core: Vec<Term>) -> Vec<Term> {
        let mut open = core;
        let mut kept: Vec<Term> = Vec::new();
        while let Some(candidate) = open.pop() {
            let rest: Vec<Term> = open.iter().chain(&kept).copied().collect();
            match self.excluded(fine, &rest) {
                Some(less) => {
                    open.retain(|term| less.contains(term));
                    kept.retain(|term| less.contains(term));
                }
                None => kept.push(candidate),
            }
        }
        kept
    }

    /// Whether a right patch makes the question void; nothing when that is not known.
    fn is_void(&mut self, candidate: &Candidate) -> Option<bool> {
        let Some(some) = self.question.some else {
            return Some(false);
        };
        let some = self.in_place(some, &candidate.changes, &candidate.constants);
        self.found.counts.questions += 1;
        let budget = self.budget();
        match self.program.check(self.terms, some, &budget) {
            Answer::Satisfiable => Some(false),
            Answer::Unsatisfiable => Some(true),
            Answer::Unknown => None,
        }
    }

    fn exclude_exactly(&mut self, candidate: &Candidate) {
        let mut all = self.exactly(&candidate.changes);
        let fixed = self.fixed(&candidate.constants);
        match fixed.is_empty() {
            true => {
                self.judged.insert(candidate.changes.clone());
            }
            false => {
                let values = self.terms.and_all(fixed.iter().copied());
                let refused = self.refused.entry(candidate.changes.clone()).or_default();
                refused.push(values);
            }
        }
        all.extend(fixed);
        let all = self.terms.and_all(all);
        let other = self.terms.not(all);
        self.patches.assert(self.terms, other);
    }

    /// Excludes a patch that makes the question void; of one that leaves constants open only some values are tried.
    fn exclude_void(&mut self, candidate: &Candidate) {
        const TRIES: usize = 20;
        let changes = self.named(&candidate.changes);
        let tries = self.void_tries.entry(changes.clone()).or_default();
        *tries += 1;
        if candidate.constants.is_empty() || *tries < TRIES {
            return self.exclude_exactly(candidate);
        }
        self.found.undecided.push(changes);
        let any = Candidate {
            changes: candidate.changes.clone(),
            constants: BTreeMap::new(),
        };
        self.exclude_exactly(&any);
    }

    fn exclude_with_more(&mut self, candidate: &Candidate) {
        self.found.counts.by_repair += 1;
        self.blocked.push(candidate.changes.clone());
        let chosen = candidate.changes.iter();
        let chosen: Vec<Term> = chosen
            .map(|&(site, which)| self.sites[site].choices[which])
            .collect();
        let chosen = self.terms.and_all(chosen);
        let other = self.terms.not(chosen);
        self.patches.assert(self.terms, other);
    }

    /// The values of a right patch's only open constant that are right, too.
    fn ranges(&mut self, candidate: &Candidate) -> Repair {
        let mut repair = Repair {
            changes: self.named(&candidate.changes),
            constants: candidate.constants.clone(),
            ranges: Vec::new(),
            more: candidate.constants.len() > 1,
            void: false,
            same_as: None,
        };
        let mut open = candidate.constants.iter();
        let (Some((&number, &value)), None) = (open.next(), open.next()) else {
            return repair;
        };
        let (least, greatest) = self
            .question
            .constants
            .get(&number)
            .copied()
            .unwrap_or((value, value));
        let mut next = Some(value);
        while let Some(value) = next.take() {
            if repair.ranges.len() >= self.extent.ranges || (self.interrupt)() {
                repair.more = true;
                break;
            }
            let high = self.furthest(candidate, number, value, greatest);
            let low = self.furthest(candidate, number, value, least);
            let (Some(high), Some(low)) = (high, low) else {
                repair.ranges.push((value, value));
                repair.more = true;
                break;
            };
            repair.ranges.push((low, high));
            // Another value outside of the ranges that is not known to be wrong.
            match self.another(candidate, number, &repair.ranges) {
                Ok(other) => next = other,
                Err(()) => repair.more = true,
            }
        }
        repair.ranges.sort_unstable();
        let near = self.question.near.get(&number).copied().unwrap_or(0);
        let nearest = repair
            .ranges
            .iter()
            .map(|&(low, high)| near.clamp(low, high));
        if let Some(value) = nearest.min_by_key(|value| (value.abs_diff(near), *value < near)) {
            repair.constants.insert(number, value);
        }
        repair
    }

    /// The furthest value towards `end` up to which all from `value` on are right.
    fn furthest(
        &mut self,
        candidate: &Candidate,
        number: u32,
        value: i64,
        end: i64,
    ) -> Option<i64> {
        let variable = constant(self.terms, number);
        let (mut good, mut bad) = (value, None::<i64>);
        loop {
            let to = match bad {
                None => end,
                Some(bad) => (i128::from(good) + (i128::from(bad) - i128::from(good)) / 2) as i64,
            };
            if to == good {
                return Some(good);
            }
            let (low, high) = (value.min(to), value.max(to));
            let within = between(self.terms, variable, low, high);
            match self.verdict(candidate, Some(within)) {
                Verdict::Right => good = to,
                Verdict::Unknown => return None,
                Verdict::Wrong(constants) => {
                    bad = Some(constants.get(&number).copied().unwrap_or(to))
                }
            }
        }
    }

    /// A right value outside of the ranges, if there is one.
    fn another(
        &mut self,
        candidate: &Candidate,
        number: u32,
        ranges: &[(i64, i64)],
    ) -> Result<Option<i64>, ()> {
        let variable = constant(self.terms, number);
        let mut outside = Vec::new();
        for &(low, high) in ranges {
            let within = between(self.terms, variable, low, high);
            outside.push(self.terms.not(within));
        }
        let exactly = self.exactly(&candidate.changes);
        const TRIES: usize = 200;
        for _ in 0..TRIES {
            let value = if self.explicit {
                match self.constants(&candidate.changes, &outside)? {
                    Some(values) => values.get(&number).copied().unwrap_or(0),
                    None => return Ok(None),
                }
            } else {
                self.tell_patches();
                let all: Vec<Term> = exactly.iter().chain(&outside).copied().collect();
                match self.patches.check(self.terms, &all, &self.budget()) {
                    Answer::Unsatisfiable => return Ok(None),
                    Answer::Unknown => return Err(()),
                    Answer::Satisfiable => bits(&self.patches, self.terms, variable) as u64 as i64,
                }
            };
            let mut other = candidate.clone();
            other.constants.insert(number, value);
            match self.verdict(&other, None) {
                Verdict::Right => return Ok(Some(value)),
                Verdict::Wrong(_) => {}
                Verdict::Unknown => return Err(()),
            }
        }
        Err(())
    }

    /// The repair before this one that does the same for all inputs, if one is known to.
    fn same_as(&mut self, repair: &Repair) -> Option<usize> {
        if self.question.seen.is_empty() {
            return None;
        }
        // That two repairs do the same is worth knowing, but not any price.
        const MOST_CONFLICTS: u64 = 10_000;
        let budget = Budget {
            conflicts: Some(
                self.extent
                    .conflicts
                    .unwrap_or(MOST_CONFLICTS)
                    .min(MOST_CONFLICTS),
            ),
            interrupt: Some(self.interrupt),
        };
        let own = self.behaviour(repair);
        for position in 0..self.found.repairs.len() {
            if self.found.repairs[position].same_as.is_some() {
                continue;
            }
            let other = self.found.repairs[position].clone();
            let other = self.behaviour(&other);
            let mut differs = Vec::new();
            for (&(here, a), &(there, b)) in own.iter().zip(&other) {
                let condition = self.terms.xor(here, there);
                let values = self.terms.ne(a, b);
                let both = self.terms.and(here, values);
                differs.push(self.terms.or(condition, both));
            }
            let differs = self.terms.or_all(differs);
            self.found.counts.questions += 1;
            let answer = self.program.check(self.terms, differs, &budget);
            if answer == Answer::Unsatisfiable {
                return Some(position);
            }
        }
        None
    }

    /// What is seen of a repaired program.
    fn behaviour(&mut self, repair: &Repair) -> Vec<(Term, Term)> {
        let mut values: FxHashMap<Term, Term> = FxHashMap::default();
        for site in &self.sites {
            for (which, &choice) in site.choices.iter().enumerate() {
                let chosen = repair.changes.contains(&(site.number, which as u32 + 1));
                values.insert(choice, self.terms.truth(chosen));
            }
        }
        for (&number, &value) in &repair.constants {
            let variable = constant(self.terms, number);
            let value = self.terms.constant(64, u128::from(value as u64));
            values.insert(variable, value);
        }
        let seen = self.question.seen.iter();
        let flat: Vec<Term> = seen.flat_map(|&(a, b)| [a, b]).collect();
        let flat = self.terms.substitute_all(&flat, &values);
        flat.chunks(2).map(|pair| (pair[0], pair[1])).collect()
    }
}

pub(crate) fn truth(solver: &Solver, terms: &Terms, variable: Term) -> bool {
    solver.model().get(terms, variable).truth()
}

pub(crate) fn bits(solver: &Solver, terms: &Terms, variable: Term) -> u128 {
    solver.model().get(terms, variable).bits()
}

/// The variable of an open constant.
pub(crate) fn constant(terms: &mut Terms, number: u32) -> Term {
    terms.variable(&format!("constant.{number}"), Sort::Bits(64))
}

pub(crate) fn between(terms: &mut Terms, variable: Term, low: i64, high: i64) -> Term {
    let low = terms.constant(64, u128::from(low as u64));
    let high = terms.constant(64, u128::from(high as u64));
    let above = terms.sle(low, variable);
    let below = terms.sle(variable, high);
    terms.and(above, below)
}

/// Asserts that at most one of these holds.
fn at_most_one(terms: &mut Terms, solver: &mut Solver, all: &[Term]) {
    let mut before: Option<Term> = None;
    for &one in all {
        before = Some(match before {
            None => one,
            Some(before) => {
                let both = terms.and(before, one);
                let not_both = terms.not(both);
                solver.assert(terms, not_both);
                terms.or(before, one)
            }
        });
    }
}

/// For each number from 0 to below `most`: more of these hold.
fn count(terms: &mut Terms, all: &[Term], most: usize) -> Vec<Term> {
    let no = terms.truth(false);
    let mut more: Vec<Term> = vec![no; most];
    for &one in all {
        for number in (0..most).rev() {
            let before = match number {
                0 => terms.truth(true),
                _ => more[number - 1],
            };
            let now = terms.and(before, one);
            more[number] = terms.or(more[number], now);
        }
    }
    more
}
