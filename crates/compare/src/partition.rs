//! Differential partitions: sets of inputs for which both programs do the same, or for which they differ in the same way.
//!
//! The solver finds an input that no partition covers yet. For this input, branches of the two paths and comparisons of their
//! outcomes decide whether the programs differ, and how ([`crate::specialise`]). The solver finds a core of these conditions:
//! that is the condition of the new partition. Inputs that differ come first. When there are none left, one proof shows
//! that the programs are equal on the rest (theorem 2: exploration ends when everything is covered).

use patchwright_prove::{Given, Real, given, simple};
use patchwright_solve::{
    Answer, Assignment, Backend, Budget, Node, Solver, Sort, Statistics, Term, Terms,
};
use patchwright_symbolic::{InputKind, Place, naming::opened};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    apart::partial,
    behaviour::{self, Formulas, cut, formulas},
    bounds::{Context, Part, joined, texts},
    congruence::Congruence,
    coverage::Region,
    explore::Known,
    pair::{Pair, Seen, Side},
    shown::{Names, Printer},
    specialise::Specialised,
    strongest::strongest,
};

/// The kind of a partition: equal, or one way to differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// NEW fails (it crashes, or is undefined), where OLD does not.
    NewFails,
    /// OLD fails, where NEW does not.
    OldFails,
    /// Both fail, one by undefined behaviour, the other by `abort`.
    FailsOtherwise,
    /// Both end, and what can be seen differs.
    Different,
    /// Both do the same.
    Equal,
}

impl Kind {
    /// All kinds of partitions.
    pub const ALL: [Kind; 5] = [
        Kind::NewFails,
        Kind::OldFails,
        Kind::FailsOtherwise,
        Kind::Different,
        Kind::Equal,
    ];

    /// Returns the stable name of the kind for scripts.
    pub const fn code(self) -> &'static str {
        match self {
            Kind::NewFails => "new-fails",
            Kind::OldFails => "old-fails",
            Kind::FailsOtherwise => "fails-otherwise",
            Kind::Different => "different",
            Kind::Equal => "equal",
        }
    }

    /// Whether the programs differ in partitions of this kind.
    pub const fn differs(self) -> bool {
        !matches!(self, Kind::Equal)
    }
}

/// The effects of one program in a partition.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// How it fails, and where; nothing where it does not.
    pub failure: Option<(String, Place)>,
    /// What it does, as formulas over the inputs that hold for the whole partition: `returns x + 1`.
    pub formulas: Vec<String>,
    /// Lines that it executes for the sample: file and line.
    pub lines: Vec<(String, u32)>,
}

/// A differential partition: its condition, a sample, and what both programs do.
#[derive(Clone, Debug)]
pub struct Partition {
    /// What its inputs have in common.
    pub kind: Kind,
    /// In what the programs differ.
    pub seen: Vec<Seen>,
    /// The condition on the inputs, as a conjunction: in C.
    pub condition: Vec<String>,
    /// The condition.
    pub term: Term,
    /// What OLD and NEW do.
    pub behaviours: [Behaviour; 2],
    /// An input of it, as each program consumes it.
    pub samples: [Vec<Given>; 2],
    /// The sample.
    pub model: Assignment,
    /// The condition rests on something that no input determines.
    pub is_undetermined: bool,
    pub(crate) region: Region,
}

/// The partitions that an exploration has found, and how complete they are.
#[derive(Clone, Debug, Default)]
pub struct Explored {
    /// The partitions: those that differ first, and of these where NEW fails.
    pub partitions: Vec<Partition>,
    /// There is no other input for which the programs differ, as far as they are encoded.
    pub differences_complete: bool,
    /// Whether they differ for other inputs, too: the limit of partitions was reached.
    pub more_differ: bool,
    /// Partitions cover all inputs, as far as they are encoded.
    pub covered: bool,
    /// Functions of which so little is known that it is not known whether the programs differ.
    pub open_functions: Vec<String>,
    /// Partitions that were made, those included that are not listed.
    pub made: usize,
    /// Questions that solvers were asked.
    pub calls: u64,
    /// What the solver did that looks for inputs.
    pub statistics: Statistics,
}

/// The limits of an exploration.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Partitions of each kind for which the programs differ that are looked for at most.
    pub different: usize,
    /// Partitions of inputs for which the programs are the same that are listed at most: what is left of these is known to
    /// be the same anyway.
    pub equal: usize,
    /// Conflicts of one question to the solver at most.
    pub conflicts: Option<u64>,
    /// In which order inputs are looked at.
    pub strategy: Strategy,
}

/// The order in which inputs are explored, and what separates partitions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Inputs for which the programs differ first, by differential partitions.
    #[default]
    Differences,
    /// Any inputs, by the paths that NEW takes.
    AllPaths,
    /// Inputs for which this holds, which says that a changed line is executed, by the paths that NEW takes.
    ChangedPaths(Term),
}

/// Conflicts of a question whose answer only makes what is shown simpler.
const MINOR: u64 = 20_000;
/// The same where many inputs are looked at one by one, since one question about all of them is too hard.
const LEAST: u64 = 500;

/// Values that are put into a sample without a question at most, and terms that are calculated for each.
const MOST_PLAIN: usize = 96;
const MOST_EVALUATED: usize = 20_000;

/// Literals of one path that are tried to be left out.
const MOST_TRIES: usize = 32;

/// Explores the inputs of two programs by partitions.
pub struct Explorer<'a> {
    pub(crate) terms: &'a mut Terms,
    pub(crate) pair: &'a Pair,
    pub(crate) names: Names,
    is_program: bool,
    pub(crate) extent: Extent,
    pub(crate) interrupt: &'a dyn Fn() -> bool,
    /// Inputs that are not covered.
    pub(crate) open: Solver,
    /// What holds for these.
    pub(crate) left: Term,
    /// All inputs.
    pub(crate) judge: Solver,
    /// What the judge was told of products and quotients.
    told: Congruence,
    /// What functions of `math.h` give.
    pub(crate) real: Real,
    /// Partitions are made quickly, not well.
    pub(crate) one_by_one: bool,
    /// Both programs were followed along an input: few of the literals can be left out, and there may be thousands.
    pub(crate) is_one_path: bool,
    /// The partitions that were made: their parts, and the whole.
    pub(crate) listed: Vec<(Vec<Part>, Term)>,
    /// What an earlier exploration found.
    pub(crate) known: Vec<Known>,
    /// Who wants to know what this one finds.
    pub(crate) log: Option<&'a mut dyn FnMut(Known)>,
}

impl<'a> Explorer<'a> {
    /// Makes an explorer of the differences of `pair`.
    pub fn new(
        terms: &'a mut Terms,
        pair: &'a Pair,
        is_program: bool,
        extent: Extent,
        interrupt: &'a dyn Fn() -> bool,
    ) -> Explorer<'a> {
        let mut open = Solver::new(Backend::default());
        let mut judge = Solver::new(Backend::default());
        let budget = Budget {
            conflicts: None,
            interrupt: Some(interrupt),
        };
        let within = terms.not(pair.limited);
        open.assert_within(terms, pair.domain, &budget);
        judge.assert_within(terms, pair.domain, &budget);
        open.assert_within(terms, within, &budget);
        let left = terms.and(pair.domain, within);
        let names = names(pair);
        let roots = [pair.different, pair.limited, pair.domain];
        Congruence::default().tell(terms, &mut open, &roots, interrupt);
        let mut told = Congruence::default();
        told.tell(terms, &mut judge, &roots, interrupt);
        let real = Real::of(terms, &pair.roots());
        Explorer {
            terms,
            pair,
            names,
            is_program,
            extent,
            interrupt,
            open,
            left,
            judge,
            told,
            real,
            one_by_one: false,
            is_one_path: false,
            listed: Vec::new(),
            known: Vec::new(),
            log: None,
        }
    }

    /// Adds another pair of versions, with its names.
    pub(crate) fn also(&mut self, pair: &Pair, names: Names) {
        self.names.of.extend(names.of);
        let within = self.terms.not(pair.limited);
        let counts = self.terms.and(pair.domain, within);
        let budget = self.budget();
        self.open.assert_within(self.terms, counts, &budget);
        self.judge.assert_within(self.terms, pair.domain, &budget);
        self.left = self.terms.and(self.left, counts);
        let roots = [pair.different, pair.limited, pair.domain];
        Congruence::default().tell(self.terms, &mut self.open, &roots, self.interrupt);
        self.told
            .tell(self.terms, &mut self.judge, &roots, self.interrupt);
    }

    /// Returns the budget of one question: the conflicts of the extent, and the user's interruption.
    pub(crate) fn budget(&self) -> Budget<'a> {
        Budget {
            conflicts: self.extent.conflicts,
            interrupt: Some(self.interrupt),
        }
    }

    /// The budget of questions that make what is shown simpler.
    pub(crate) fn minor(&self) -> Budget<'a> {
        let most = self.extent.conflicts.unwrap_or(u64::MAX);
        let usual = if self.one_by_one { LEAST } else { MINOR };
        Budget {
            conflicts: Some(most.min(usual)),
            ..self.budget()
        }
    }

    /// Returns the number of questions that the solvers were asked.
    pub(crate) fn calls(&self) -> u64 {
        self.open.statistics().calls + self.judge.statistics().calls
    }

    /// Takes the inputs that satisfy `condition` out of those that are still open.
    pub(crate) fn cover(&mut self, condition: Term) {
        let not = self.terms.not(condition);
        let budget = self.budget();
        self.open.assert_within(self.terms, not, &budget);
        self.left = self.terms.and(self.left, not);
    }

    /// The partition of an input.
    pub(crate) fn partition(&mut self, kind: Kind, model: Assignment) -> Partition {
        let pair = self.pair;
        let (mut roots, mut holding) = (vec![pair.limited], Vec::new());
        for side in Side::BOTH {
            let firsts = &pair.failures[side.index()];
            let conditions: Vec<Term> = firsts.iter().map(|first| first.condition).collect();
            let values = self.terms.evaluate_all(&conditions, &model);
            let first = values.iter().position(|value| value.truth());
            let matters = match kind {
                Kind::NewFails => side == Side::New,
                Kind::OldFails => side == Side::Old,
                Kind::FailsOtherwise => true,
                _ => false,
            };
            if let (true, Some(at)) = (matters, first) {
                let alike = self.alike(side, at);
                holding.push(self.terms.or_all(alike));
            }
        }
        let mut seen = Vec::new();
        let mut asked = Vec::new();
        match kind {
            Kind::NewFails => holding.push(pair.alone[1]),
            Kind::OldFails => holding.push(pair.alone[0]),
            Kind::FailsOtherwise => holding.push(pair.otherwise),
            Kind::Different => {
                let conditions: Vec<Term> = pair.differences.iter().map(|one| one.1).collect();
                let values = self.terms.evaluate_all(&conditions, &model);
                for ((what, condition), value) in pair.differences.iter().zip(values) {
                    if value.truth() {
                        holding.push(*condition);
                        seen.push(what.clone());
                    } else {
                        roots.push(*condition);
                    }
                }
                asked.clone_from(&seen);
            }
            Kind::Equal => roots.push(pair.different),
        }
        if matches!(kind, Kind::NewFails | Kind::OldFails | Kind::FailsOtherwise) {
            seen.push(Seen::Failure);
        }
        let excluded = roots.clone();
        roots.extend(&holding);
        for side in Side::BOTH {
            roots.extend(behaviour::roots(pair.encoding(side), &asked));
        }
        let mut under = Specialised::new(self.terms, model.clone());
        under.prepare(&roots);
        for &root in excluded.iter().chain(&holding) {
            under.of(root);
        }
        let formulas = Side::BOTH.map(|side| formulas(pair.encoding(side), &asked, &mut under));
        let literals = std::mem::take(&mut under.literals);
        let mut property = self.terms.and_all(holding);
        for term in excluded {
            let not = self.terms.not(term);
            property = self.terms.and(property, not);
        }
        for one in &formulas {
            property = self.terms.and(property, one.claim);
        }
        let path = match self.extent.strategy {
            Strategy::Differences => Vec::new(),
            Strategy::AllPaths | Strategy::ChangedPaths(_) => self.path_of_new(&model),
        };
        let (parts, term) = self.condition(literals, property, &model, path);
        let model = self.sample(term, model);
        let mut behaviours = [Behaviour::default(), Behaviour::default()];
        for side in Side::BOTH {
            behaviours[side.index()] =
                self.behaviour(side, kind, term, &model, &formulas[side.index()]);
        }
        let mut samples =
            Side::BOTH.map(|side| given(self.terms, &pair.encoding(side).inputs, &model));
        same_arguments(&mut samples);
        let printer = Printer::new(self.terms, &self.names);
        let is_undetermined = self.is_undetermined(term);
        Partition {
            kind,
            seen,
            condition: texts(&parts, &printer),
            term,
            behaviours,
            samples,
            model,
            is_undetermined,
            region: Region::of(self.terms, &parts),
        }
    }

    /// Conditions of failures that say the same, at the same place, as this one, which is one of the list: rounds of a loop do.
    fn alike(&self, side: Side, at: usize) -> Vec<Term> {
        let (pair, failures) = (self.pair, &self.pair.encoding(side).failures);
        let firsts = &pair.failures[side.index()];
        let own = &failures[firsts[at].index];
        let alike = firsts.iter().filter(|first| {
            let other = &failures[first.index];
            other.kind == own.kind && other.message == own.message && other.place == own.place
        });
        alike.map(|first| first.condition).collect()
    }

    /// A simple input of a partition.
    pub(crate) fn sample(&mut self, condition: Term, model: Assignment) -> Assignment {
        if self.one_by_one {
            return self.plain_sample(condition, model);
        }
        let budget = self.minor();
        let simpler = simple(
            self.terms,
            &self.pair.inputs(),
            &mut self.open,
            (condition, Some(self.left)),
            model.clone(),
            &budget,
        );
        if self.real.is_empty() {
            return simpler;
        }
        let simpler = self.real.truthful(self.terms, &simpler);
        let values = self.terms.evaluate_all(&[condition, self.left], &simpler);
        match values.iter().all(|value| value.truth()) {
            true => simpler,
            false => model,
        }
    }

    /// As [`Self::sample`], without a question: values that a person likes better are put in one by one, as long as the
    /// condition holds.
    fn plain_sample(&mut self, condition: Term, mut model: Assignment) -> Assignment {
        const LIKED: [u128; 5] = [0, b'0' as u128, b'a' as u128, b' ' as u128, 1];
        let roots = [condition, self.left];
        if self.terms.within(&roots).len() > MOST_EVALUATED {
            return model;
        }
        let inputs: Vec<Term> = self.pair.inputs().iter().map(|input| input.term).collect();
        let mut left = MOST_PLAIN;
        for input in inputs {
            let Sort::Bits(width) = self.terms.sort(input) else {
                continue;
            };
            let now = self.terms.evaluate(input, &model).bits();
            let liked = match width {
                8 => &LIKED[..],
                _ => &[0, 1][..],
            };
            for &bits in liked.iter().take_while(|bits| **bits != now) {
                if left == 0 {
                    return model;
                }
                left -= 1;
                let mut new = model.clone();
                new.set_bits(self.terms, input, bits);
                let new = self.real.truthful(self.terms, &new);
                let values = self.terms.evaluate_all(&roots, &new);
                if values.iter().all(|value| value.truth()) {
                    model = new;
                    break;
                }
            }
        }
        model
    }

    /// What decides that NEW takes its path.
    fn path_of_new(&mut self, model: &Assignment) -> Vec<Term> {
        let decisions: Vec<(Term, Term)> = self
            .pair
            .encoding(Side::New)
            .steps
            .iter()
            .filter(|step| step.name.is_none())
            .filter_map(|step| Some((step.condition, step.value?.1)))
            .collect();
        let roots: Vec<Term> = decisions.iter().flat_map(|&(a, b)| [a, b]).collect();
        let mut under = Specialised::new(self.terms, model.clone());
        under.prepare(&roots);
        for (condition, value) in decisions {
            under.of(condition);
            if under.holds(condition) {
                under.value(value);
            }
        }
        std::mem::take(&mut under.literals)
    }

    /// Returns a condition under which a property holds, as literals and as one term. It is made of `literals`, which are true for the
    /// model and imply the property, and of `kept`, which are true for the model, too.
    pub(crate) fn condition(
        &mut self,
        mut literals: Vec<Term>,
        property: Term,
        model: &Assignment,
        kept: Vec<Term>,
    ) -> (Vec<Part>, Term) {
        self.plainer(&mut literals, model);
        // Simple literals are kept rather than others: what comes last is dropped first.
        literals.sort_by_cached_key(|&literal| {
            let within = self.terms.within(&[literal]);
            let variables = self.terms.variables_of(literal).len();
            (variables, within.len(), literal)
        });
        let mut core = self.core(&literals, property);
        core.extend(
            kept.into_iter()
                .filter(|literal| !literals.contains(literal)),
        );
        let mut core = strongest(self.terms, core);
        let guards = self.guards(&core, model);
        core.extend(guards);
        let (mut parts, mut term) = self.joined(&core, model);
        let apart = self.apart(term, model);
        if !apart.is_empty() {
            core.extend(apart);
            (parts, term) = self.joined(&core, model);
        }
        // What calculates something that is not defined for all inputs comes behind what says that it is.
        let terms = &*self.terms;
        parts.sort_by_key(|part| match part {
            Part::Term(term) => !partial(terms, &[*term]).is_empty(),
            _ => false,
        });
        self.listed.push((parts.clone(), term));
        (parts, term)
    }

    /// Literals as parts, and all of them as one term.
    fn joined(&mut self, literals: &[Term], model: &Assignment) -> (Vec<Part>, Term) {
        let pair = self.pair;
        let bounds: Vec<Term> = Side::BOTH
            .into_iter()
            .flat_map(|side| pair.encoding(side).bounds.iter().copied())
            .collect();
        let context = Context {
            names: &self.names,
            bounds: &bounds,
            model,
            budget: self.minor(),
        };
        let parts = joined(self.terms, &context, literals);
        let term = parts.iter().fold(self.terms.truth(true), |all, part| {
            let part = part.term(self.terms);
            self.terms.and(all, part)
        });
        (parts, term)
    }

    /// Whether a condition rests on something that no input determines.
    pub(crate) fn is_undetermined(&self, condition: Term) -> bool {
        let variables = self.terms.variables_of(condition);
        let is_open = |term: &Term| match self.terms.node(*term) {
            Node::Apply(function, _) => opened(self.terms.symbol_name(function)).is_some(),
            _ => false,
        };
        variables
            .iter()
            .any(|variable| !self.names.of.contains_key(variable))
            || self.terms.within(&[condition]).iter().any(is_open)
    }

    /// Says of a value whose upper bits are known to be zero that they are, once, and speaks of the value everywhere else:
    /// `x >= 0 && x / 3 > 7` says more to a reader than `(x & 0x7fffffff) / 3 > 7`. All hold for the model, and what is not
    /// needed is dropped later.
    fn plainer(&mut self, literals: &mut Vec<Term>, model: &Assignment) {
        let cuts = cut(self.terms, literals);
        let asked: Vec<Term> = cuts.iter().flat_map(|one| one.sides.clone()).collect();
        let values = self.terms.evaluate_all(&asked, model);
        let holding: FxHashSet<Term> = asked
            .into_iter()
            .zip(values)
            .filter(|(_, value)| value.truth())
            .map(|(side, _)| side)
            .collect();
        let mut whole: FxHashMap<Term, Term> = FxHashMap::default();
        for one in cuts {
            if one.is_sign && one.sides.iter().all(|side| holding.contains(side)) {
                whole.insert(one.term, one.whole);
                literals.extend(one.sides);
            }
        }
        for literal in literals.iter_mut() {
            if !whole.is_empty() {
                *literal = self.terms.substitute(*literal, &whole);
            }
        }
        let mut signed = Vec::new();
        for &literal in literals.iter() {
            // The order of numbers with a sign is what their type says.
            let (node, negated) = match self.terms.node(literal) {
                Node::Not(inner) => (self.terms.node(inner), true),
                node => (node, false),
            };
            if let Node::Ult(a, b) = node {
                let less = self.terms.slt(a, b);
                signed.push(if negated { self.terms.not(less) } else { less });
            }
        }
        let values = self.terms.evaluate_all(&signed, model);
        let holding = signed.into_iter().zip(values);
        literals.extend(
            holding
                .filter(|(_, value)| value.truth())
                .map(|(term, _)| term),
        );
        let mut seen = FxHashSet::default();
        literals
            .retain(|literal| self.terms.as_truth(*literal) != Some(true) && seen.insert(*literal));
    }

    /// Few literals that imply a property, which all of them do.
    fn core(&mut self, literals: &[Term], property: Term) -> Vec<Term> {
        let not = self.terms.not(property);
        let mut assumptions = vec![not];
        assumptions.extend(literals);
        self.told
            .tell(self.terms, &mut self.judge, &assumptions, self.interrupt);
        let budget = self.minor();
        // Those that say nothing of single bits are enough most of the time, and can be read.
        let mut plain = vec![not];
        for &literal in literals {
            if cut(self.terms, &[literal]).is_empty() {
                plain.push(literal);
            }
        }
        let is_enough = plain.len() < assumptions.len()
            && self.judge.check(self.terms, &plain, &budget) == Answer::Unsatisfiable;
        if !is_enough
            && self.judge.check(self.terms, &assumptions, &budget) != Answer::Unsatisfiable
        {
            return literals.to_vec();
        }
        // The last are tried first, so that simple ones stay.
        let within = |judge: &Solver, literals: &[Term]| -> Vec<Term> {
            let core = judge.core();
            let kept = literals.iter().copied();
            kept.filter(|literal| core.contains(literal)).collect()
        };
        let mut kept = within(&self.judge, literals);
        let mut at = kept.len();
        let mut tries = 0;
        while at > 0 && (!self.is_one_path || tries < MOST_TRIES) {
            at -= 1;
            tries += 1;
            let mut fewer = vec![not];
            let others = kept.iter().enumerate().filter(|&(other, _)| other != at);
            fewer.extend(others.map(|(_, literal)| *literal));
            if self.judge.check(self.terms, &fewer, &budget) == Answer::Unsatisfiable {
                kept = within(&self.judge, &kept);
                at = at.min(kept.len());
            }
        }
        kept
    }

    /// Whether one condition implies another one, as far as the budget shows.
    pub(crate) fn implies(&mut self, condition: Term, conclusion: Term) -> bool {
        let not = self.terms.not(conclusion);
        self.told.tell(
            self.terms,
            &mut self.judge,
            &[condition, not],
            self.interrupt,
        );
        let budget = self.minor();
        self.judge.check(self.terms, &[condition, not], &budget) == Answer::Unsatisfiable
    }

    /// Returns what one version does for the inputs of a partition: how it ends, and its results as terms and as values of `model`.
    pub(crate) fn behaviour(
        &mut self,
        side: Side,
        kind: Kind,
        condition: Term,
        model: &Assignment,
        known: &Formulas,
    ) -> Behaviour {
        let pair = self.pair;
        let encoding = pair.encoding(side);
        let firsts = &pair.failures[side.index()];
        let conditions: Vec<Term> = firsts.iter().map(|first| first.condition).collect();
        let values = self.terms.evaluate_all(&conditions, model);
        let at = values.iter().position(|value| value.truth());
        // Other inputs of a partition without a difference may fail elsewhere, or not at all.
        let failure = match at {
            None => None,
            Some(at) => {
                let alike = self.alike(side, at);
                let alike = self.terms.or_all(alike);
                let failure = &encoding.failures[firsts[at].index];
                self.implies(condition, alike)
                    .then(|| (failure.message.clone(), failure.place.clone()))
            }
        };
        let mut text = Vec::new();
        if at.is_none() {
            let mut found = known.clone();
            if kind != Kind::Different {
                // What else can be said of the whole partition.
                let asked = [Seen::Result, Seen::Output];
                let roots = behaviour::roots(encoding, &asked);
                let mut under = Specialised::new(self.terms, model.clone());
                under.prepare(&roots);
                found = formulas(encoding, &asked, &mut under);
                if !self.implies(condition, found.claim) {
                    found.result = None;
                    found.output.clear();
                }
            }
            let cut = found.cut(self.terms);
            let mut equal = FxHashMap::default();
            for one in cut {
                let sides = self.terms.and_all(one.sides);
                if self.implies(condition, sides) {
                    equal.insert(one.term, one.whole);
                }
            }
            found.replace(self.terms, &equal);
            let printer = Printer::new(self.terms, &self.names);
            text = found.text(&printer, self.is_program);
        }
        let conditions: Vec<Term> = encoding.steps.iter().map(|step| step.condition).collect();
        let values = self.terms.evaluate_all(&conditions, model);
        let mut lines: Vec<(String, u32)> = Vec::new();
        for (step, value) in encoding.steps.iter().zip(values) {
            let line = (step.place.file.clone(), step.place.line);
            if value.truth() && !lines.contains(&line) {
                lines.push(line);
            }
        }
        Behaviour {
            failure,
            formulas: text,
            lines,
        }
    }
}

/// Names for people, and types, of what is an input.
pub(crate) fn names(pair: &Pair) -> Names {
    let mut names = Names {
        pointees: pair.pointees.clone(),
        ..Names::default()
    };
    for input in pair.inputs() {
        if let Some(ty) = input_type(&input.kind) {
            names.of.insert(input.term, (input.name.clone(), ty));
        }
    }
    names
}

/// The type of an input's value, if the input is one that somebody gives; nothing in it where it has none.
fn input_type(kind: &patchwright_symbolic::InputKind) -> Option<Option<patchwright_ir::Type>> {
    use patchwright_ir::Type;
    match kind {
        InputKind::Argument(ty) | InputKind::Initial(ty) => Some(Some(*ty)),
        InputKind::Returned { ty, .. }
        | InputKind::Outside { ty, .. }
        | InputKind::Scanned { ty, .. }
        | InputKind::ArgumentNumber(_, ty) => Some(Some(*ty)),
        InputKind::Called { ty, .. } => Some(Some(*ty).filter(|ty| *ty != Type::Void)),
        InputKind::Byte(_) | InputKind::ArgumentByte(..) | InputKind::Before { .. } => {
            Some(Some(Type::U8))
        }
        InputKind::Distance { .. } => Some(Some(Type::I16)),
        InputKind::Length => Some(Some(Type::U64)),
        InputKind::Null | InputKind::Present | InputKind::Unfit | InputKind::Same { .. } => {
            Some(None)
        }
        InputKind::Unwritten(_) => None,
    }
}

/// Gives both programs the same arguments: one of them may read a number from an argument that the other does not look at.
fn same_arguments(samples: &mut [Vec<Given>; 2]) {
    let is_number = |given: &&Given| matches!(given.kind, InputKind::ArgumentNumber(..));
    let all: Vec<Given> = samples
        .iter()
        .flatten()
        .filter(is_number)
        .cloned()
        .collect();
    for own in samples {
        for given in &all {
            if !own.iter().any(|other| other.kind == given.kind) {
                own.push(given.clone());
            }
        }
    }
}
