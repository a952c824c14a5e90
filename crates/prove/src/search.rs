//! Searches for all minimal repairs: proposes a patch that is left, and decides whether it is right.
//!
//! There are two solvers. The first knows which patches are left. The second decides whether a patched program is right; its
//! formula has the changes in place, so that parts shared with the reference or with each other are one term.
//!
//! A wrong patch comes with an input. For this input, failure of the program is a condition on the changes alone. All patches
//! that satisfy it are excluded. If the condition is large, a must location set is excluded instead: the changes and non-changes that make
//! the program fail for this input.
//!
//! Patches are taken by their number of changes, so a right one is minimal: those with fewer changes were all wrong.
//!
//! For each number of changes there are two turns. The first one looks for patches that are right as far as the bound. The
//! second turn takes the patches that remain undecided: they go on beyond the bound, or lead to a construct that is not
//! encoded. A [`Decider`] looks at each of these by itself.

mod excluded;
mod learn;
mod ranges;
mod terms;

use std::{
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};

use patchwright_solve::{Answer, Backend, Budget, Node, Solver, Sort, Term, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    base::{Base, Circuit},
    mutation::Change,
    question::{Decider, Extent, Found, Judged, Open, Question, Repair, Standing},
    repaired::Repaired,
    trial::Input,
};
use terms::{at_most_one, count};
pub(crate) use terms::{between, bits, constant, truth};

/// Conflicts of a question in the second turn at most: what is asked there says of most patches only why they are open.
const EFFORT: u64 = 1_000;

/// Conflicts of all questions of the second turns at most.
const EFFORT_TOGETHER: u64 = 20_000;

/// A search for all minimal repairs.
pub struct Search<'a> {
    pub(crate) terms: &'a mut Terms,
    pub(crate) question: &'a Question,
    pub(crate) extent: Extent,
    pub(crate) interrupt: &'a dyn Fn() -> bool,
    /// Decides about what the question leaves open.
    decider: &'a mut dyn Decider,
    /// Whether it is the second turn, of what is open.
    second: bool,
    /// Conflicts of the second turns that are over, and all conflicts when this turn began.
    spent: u64,
    at_turn: u64,
    /// Know the patches that are left in the first turn, and in the second one.
    patches: [Solver; 2],
    /// Knows repaired programs.
    program: Repaired,
    /// Knows single inputs: which changes and non-changes make the program fail, and what constants do not.
    pub(crate) cores: Solver,
    inputs: Vec<Term>,
    pub(crate) sites: Vec<Site>,
    /// The site and the alternative of each choice.
    pub(crate) choice_of: FxHashMap<Term, (usize, usize)>,
    circuit: Rc<Circuit>,
    /// What is known for all inputs.
    pub(crate) base: Base,
    /// What is known for each input that was found, with the changes of `chosen` in place; where the circuit is small.
    pub(crate) bases: Vec<Base>,
    /// The inputs that were found, to try patches on; empty where that is not possible.
    pub(crate) tried: Vec<Input>,
    /// The trials, those that exclude most first.
    pub(crate) hardest: Vec<usize>,
    /// Patches are tried one by one on all inputs, as long as that is possible.
    pub(crate) explicit: bool,
    /// The changes that are in place in all trials.
    pub(crate) chosen: Vec<(usize, usize)>,
    /// Patches that are right, or do what a right one does.
    pub(crate) blocked: Vec<Vec<(usize, usize)>>,
    /// Patches that are not decided.
    left_open: Vec<Vec<(usize, usize)>>,
    /// Patches that were judged and are not to be asked about again.
    pub(crate) judged: FxHashSet<Vec<(usize, usize)>>,
    /// Values of constants that were judged, as conditions.
    pub(crate) refused: FxHashMap<Vec<(usize, usize)>, Vec<Term>>,
    /// For one patch what the inputs say of its constants.
    pub(crate) said: (Vec<(usize, usize)>, Vec<Term>),
    /// What was learnt and the solver of patches of this turn does not know yet.
    pending: Vec<(Candidate, FxHashMap<Term, Term>)>,
    /// For each number of changes, counted from 0: there are more.
    more_than: Vec<Term>,
    given: usize,
    /// How many values of its constants were judged and are no repair, for each patch.
    tries: BTreeMap<Vec<Change>, usize>,
    /// What must not happen with the changes of the patch that was last looked at in place.
    placed: Option<(Vec<(usize, usize)>, Term)>,
    /// What is seen of the program with each of the repairs that were found.
    behaviours: Vec<Vec<(Term, Term)>>,
    pub(crate) found: Found,
}

/// An expression that patches may change, with the variables that choose its alternatives.
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

/// The judgement on a patch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judgement {
    /// It is wrong for an input that is known now.
    Wrong,
    /// It is listed, undecided, or void; it was excluded as far as that goes.
    Done,
    Interrupted,
}

/// The answer to a question.
pub(crate) enum Verdict {
    Right,
    /// Wrong, with these values of the open constants.
    Wrong(BTreeMap<u32, i64>),
    Unknown,
}

impl<'a> Search<'a> {
    /// Prepares a search within `extent`. `decider` judges patches that the question leaves open.
    pub fn new(
        terms: &'a mut Terms,
        question: &'a Question,
        extent: Extent,
        decider: &'a mut dyn Decider,
        interrupt: &'a dyn Fn() -> bool,
    ) -> Search<'a> {
        let mut asserted = Vec::new();
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
            asserted.push(means);
            at_most_one(terms, &mut asserted, &choices);
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
            asserted.push(within);
        }
        let changed: Vec<Term> = sites.iter().map(|site| site.changed).collect();
        let more_than = count(terms, &changed, extent.changes as usize + 1);
        asserted.push(more_than[0]);
        let patches = [(); 2].map(|()| {
            let mut solver = Solver::new(Backend::default());
            for &one in &asserted {
                solver.assert(terms, one);
            }
            solver
        });
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
        let roots: Vec<Term> = [question.bad, question.fails, question.beyond]
            .into_iter()
            .chain(question.some)
            .chain(question.seen.iter().flat_map(|&(a, b)| [a, b]))
            .collect();
        let mut inputs = terms.within(&roots);
        inputs
            .retain(|&term| matches!(terms.node(term), Node::Variable(_)) && !own.contains(&term));
        let circuit = Rc::new(Circuit::new(terms, &roots));
        let base = Base::new(terms, &circuit, |variable| {
            choice_of.contains_key(&variable).then_some(0)
        });
        Search {
            terms,
            question,
            extent,
            interrupt,
            decider,
            second: false,
            spent: 0,
            at_turn: 0,
            patches,
            program: Repaired::new(),
            cores: Solver::new(Backend::default()),
            inputs,
            sites,
            choice_of,
            circuit,
            base,
            bases: Vec::new(),
            tried: Vec::new(),
            hardest: Vec::new(),
            explicit: true,
            chosen: Vec::new(),
            blocked: Vec::new(),
            left_open: Vec::new(),
            judged: FxHashSet::default(),
            refused: FxHashMap::default(),
            said: (Vec::new(), Vec::new()),
            pending: Vec::new(),
            more_than,
            given: 0,
            tries: BTreeMap::new(),
            placed: None,
            behaviours: Vec::new(),
            found: Found::default(),
        }
    }

    /// Continues where another search ended, which asked the same about all patches with fewer
    /// changes.
    pub fn after(mut self, found: Found) -> Search<'a> {
        for repair in &found.repairs {
            let number = |site: u32| self.sites.iter().position(|one| one.number == site);
            let changes = repair.changes.iter();
            let changes: Option<Vec<(usize, usize)>> = changes
                .map(|&(site, which)| Some((number(site)?, which as usize - 1)))
                .collect();
            let behaviour = self.behaviour(repair);
            self.behaviours.push(behaviour);
            if let Some(changes) = changes {
                self.exclude_with_more(&changes);
            }
        }
        self.found = found;
        self
    }

    /// Returns the budget of one question: its conflicts, and the user's interruption.
    pub(crate) fn budget(&self) -> Budget<'a> {
        let conflicts = match self.second {
            false => self.extent.conflicts,
            true => Some(self.extent.conflicts.unwrap_or(u64::MAX).min(EFFORT)),
        };
        Budget {
            conflicts,
            interrupt: Some(self.interrupt),
        }
    }

    /// Searches for all minimal repairs. Each is given to `tell` when it is found.
    pub fn run(mut self, tell: &mut dyn FnMut(&Repair)) -> Found {
        self.all(tell);
        let [first, second] = &self.patches;
        self.found.solvers = (
            first.statistics() + second.statistics(),
            self.program.statistics(),
        );
        self.found
    }

    /// Returns the condition under which a patch is wrong, as this turn asks for it.
    pub(crate) fn bad(&self) -> Term {
        match self.second {
            false => self.question.bad,
            true => self.question.fails,
        }
    }

    fn all(&mut self, tell: &mut dyn FnMut(&Repair)) {
        let is_open = self.leaves_open();
        for changes in self.found.decided + 1..=self.extent.changes {
            for second in [false, true] {
                if second && !is_open {
                    continue;
                }
                self.turn(second);
                if !self.with_changes(changes as usize, tell) {
                    self.found.interrupted = (self.interrupt)();
                    return;
                }
            }
            self.found.decided = changes;
        }
        self.found.complete = true;
    }

    /// Whether some patch may be neither right as far as the bound nor shown to be wrong.
    fn leaves_open(&mut self) -> bool {
        let fails = self.terms.not(self.question.fails);
        let open = self.terms.and(self.question.bad, fails);
        if self.terms.as_truth(open) == Some(false) {
            return false;
        }
        // A question that costs more than that is answered by the search.
        const MOST_CONFLICTS: u64 = 2_000;
        let budget = Budget {
            conflicts: Some(MOST_CONFLICTS),
            interrupt: Some(self.interrupt),
        };
        self.found.counts.questions += 1;
        self.program.check(self.terms, open, &budget) != Answer::Unsatisfiable
    }

    fn turn(&mut self, second: bool) {
        if self.second == second {
            return;
        }
        self.tell_patches();
        let now = self.program.statistics().conflicts;
        if self.second {
            self.spent += now - self.at_turn;
        }
        self.at_turn = now;
        self.second = second;
        self.placed = None;
        self.said = (Vec::new(), Vec::new());
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
            if self.leaves_rest() {
                return true;
            }
            self.tell_patches();
            let budget = self.budget();
            let patches = &mut self.patches[usize::from(self.second)];
            match patches.check(self.terms, &also, &budget) {
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

    /// Whether the search was interrupted, or has tried its largest number of patches.
    pub(crate) fn is_over(&self) -> bool {
        let most = self.extent.patches;
        (self.interrupt)() || most.is_some_and(|most| self.found.counts.patches >= most)
    }

    /// Whether the search stops because too many patches are open, or they cost too much.
    pub(crate) fn leaves_rest(&mut self) -> bool {
        if self.second {
            let spent = self.spent + self.program.statistics().conflicts - self.at_turn;
            self.found.more_open |= spent > EFFORT_TOGETHER;
        }
        self.second && self.found.more_open
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
        let judged = match self.verdict(candidate, None) {
            Verdict::Wrong(_) => return Judgement::Wrong,
            Verdict::Unknown => Judged::Open(Open::Effort),
            Verdict::Right => self.judged(candidate),
        };
        if (self.interrupt)() && matches!(judged, Judged::Open(_)) {
            return Judgement::Interrupted;
        }
        match judged {
            Judged::Open(why) => self.leave_open(candidate, why),
            Judged::Wrong => self.exclude_value(candidate, Open::Effort),
            Judged::Right { void: true, .. } if !self.extent.void => {
                self.exclude_value(candidate, Open::Effort);
            }
            Judged::Right { standing, void } => self.list(candidate, standing, void, tell),
        }
        Judgement::Done
    }

    /// What is known of a patch that does nothing wrong as far as it was asked.
    fn judged(&mut self, candidate: &Candidate) -> Judged {
        if !self.second {
            let beyond = self.question.beyond;
            let beyond = self.in_place(beyond, &candidate.changes, &candidate.constants);
            self.found.counts.questions += 1;
            let budget = self.budget();
            match self.program.check(self.terms, beyond, &budget) {
                Answer::Unsatisfiable => {
                    return match self.is_void(candidate) {
                        None => Judged::Open(Open::Effort),
                        Some(void) => Judged::Right {
                            standing: Standing::AllInputs,
                            void,
                        },
                    };
                }
                Answer::Satisfiable => {}
                Answer::Unknown => return Judged::Open(Open::Effort),
            }
        }
        self.found.counts.single += 1;
        let changes = self.named(&candidate.changes);
        self.decider
            .decide(self.terms, &changes, &candidate.constants)
    }

    /// Adds a right patch to the list, unless a smaller one does the same.
    fn list(
        &mut self,
        candidate: &Candidate,
        standing: Standing,
        void: bool,
        tell: &mut dyn FnMut(&Repair),
    ) {
        let mut repair = match self.second {
            false => self.ranges(candidate),
            // The decider speaks of these values alone.
            true => self.unranged(candidate),
        };
        repair.void = void;
        repair.standing = standing;
        let behaviour = self.behaviour(&repair);
        // Of what goes on beyond the bound nobody has compared what it does there.
        if standing == Standing::AllInputs && !self.second {
            repair.same_as = self.same_as(&behaviour);
        }
        self.exclude_with_more(&candidate.changes);
        let less = repair.same_as.is_some_and(|other| {
            let other = &self.found.repairs[other];
            other.changes.len() < repair.changes.len()
        });
        if !(less && self.extent.fewest) {
            tell(&repair);
            self.found.repairs.push(repair);
            self.behaviours.push(behaviour);
        }
    }

    /// The patch that the solver of patches has just found.
    fn candidate(&mut self) -> Candidate {
        let mut changes = Vec::new();
        let mut constants = BTreeMap::new();
        for (position, site) in self.sites.iter().enumerate() {
            for (which, &choice) in site.choices.iter().enumerate() {
                let patches = &self.patches[usize::from(self.second)];
                if truth(patches, self.terms, choice) {
                    changes.push((position, which));
                    if let Some(number) = site.open[which] {
                        let variable = constant(self.terms, number);
                        let value = bits(patches, self.terms, variable) as u64 as i64;
                        constants.insert(number, value);
                    }
                }
            }
        }
        Candidate { changes, constants }
    }

    /// Converts changes to the numbers that the encoding knows.
    pub(crate) fn named(&self, changes: &[(usize, usize)]) -> Vec<Change> {
        let named = changes.iter();
        named
            .map(|&(site, which)| (self.sites[site].number, which as u32 + 1))
            .collect()
    }

    /// Returns the conditions that give open constants their values.
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

    /// A condition of the question with the changes of a patch in place, and, where they are given, its constants.
    pub(crate) fn in_place(
        &mut self,
        condition: Term,
        changes: &[(usize, usize)],
        constants: &BTreeMap<u32, i64>,
    ) -> Term {
        let found = self.left_open(condition, changes, None);
        self.with_constants(found, constants)
    }

    /// What must not happen, with these changes in place.
    fn bad_with(&mut self, changes: &[(usize, usize)]) -> Term {
        if let Some((last, bad)) = &self.placed
            && last == changes
        {
            return *bad;
        }
        let bad = self.in_place(self.bad(), changes, &BTreeMap::new());
        self.placed = Some((changes.to_vec(), bad));
        bad
    }

    /// Whether a patch is right; constants are those of the patch, or what `instead` says. Of a wrong one it is learnt why.
    pub(crate) fn verdict(&mut self, candidate: &Candidate, instead: Option<Term>) -> Verdict {
        let bad = self.bad_with(&candidate.changes);
        let bad = match instead {
            Some(instead) => self.terms.and(bad, instead),
            None => self.with_constants(bad, &candidate.constants),
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
}
