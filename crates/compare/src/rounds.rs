//! Proves that two versions do the same for any number of rounds, by following their loops together.
//!
//! Both functions are cut at the heads of their loops ([`patchwright_symbolic::segments`]). At each pair
//! of heads, relations between the variables of both are guessed, such as `i` of one being `i` of the
//! other, or `n - i`. A relation that does not hold at the end of some segment that leads there is
//! dropped, until nothing has to be dropped. The remaining relations hold in each round, by induction.
//!
//! If under these relations no segment tells the versions apart, they are the same for all inputs. They
//! take rounds together, so both end or neither does.
//!
//! A recursive function is proved in the same way. Its inner calls are taken for one unknown function in
//! both versions. Both versions must then make the same calls in the same order.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_ir::{Callee, InstructionKind, Module, Program, Type};
use patchwright_solve::{Answer, Backend, Budget, Rings, Solver, Sort, Term, Terms};
use patchwright_symbolic::{
    Encoding, InputKind, Options, ParameterShape, encode,
    segments::{AT, Carried, KEPT, Segments, keeps_state},
};
use rustc_hash::FxHashMap;

use crate::{columns::Columns, congruence::Congruence, pair::Pair, random::Random};

/// Conflicts that a question may cost.
const EFFORT: u64 = 20_000;
/// Questions at most.
const MOST_QUESTIONS: usize = 2_000;
/// Inputs that guesses are tried with before a question is asked, and terms that are evaluated for each at most.
const INPUTS: usize = 256;
const MOST_EVALUATED: usize = 20_000;
/// Guesses at one pair of beginnings at most.
const MOST_GUESSES: usize = 4_000;

/// Two versions of a function, the library, and how they are encoded.
pub struct Rounds<'a> {
    /// The module of each, and what is known of the library.
    pub modules: [&'a Module; 2],
    /// See there.
    pub library: &'a Module,
    /// Parameters of the function, in each.
    pub shapes: [&'a [ParameterShape]; 2],
    /// How they are encoded.
    pub options: &'a Options,
    /// Ends the work.
    pub interrupt: &'a dyn Fn() -> bool,
}

/// How two functions were proved to be the same: the loops or calls that they share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    /// Pairs of loops that were followed round by round.
    pub loops: usize,
    /// Functions of which only was used that both versions have the same.
    pub opaque: Vec<String>,
}

/// What was tried and did not lead to a proof.
struct NotProved;

type Proved<T> = Result<T, NotProved>;

/// A pair of places where segments begin: the loops of OLD and NEW; nothing for where the functions begin.
type Place = Option<(usize, usize)>;

impl Rounds<'_> {
    /// Proves that the functions called `name` are the same for all inputs, by rounds that they take
    /// together. It is `None` if they have no loops and no recursion, or if there is no proof.
    pub fn together(&self, name: &str) -> Option<Together> {
        let mut modules = self.modules.iter();
        if modules.any(|module| keeps_state(module, self.library, name)) {
            return None;
        }
        let opaque = self.opaque(name);
        let calls_itself = opaque.contains(name);
        let own = [0, 1].map(|at| {
            let side = ["old", "new"][at];
            Segments::of(self.modules[at], name, self.shapes[at], side)
        });
        let [Some(old), Some(new)] = own else {
            return None;
        };
        let loops = old.count().max(new.count());
        if loops == 0 && !calls_itself || loops > 0 && old.globals() != new.globals() {
            return None;
        }
        let mut proof = Proof {
            rounds: self,
            segments: [old, new],
            opaque: &opaque,
            terms: Terms::new(),
            steps: BTreeMap::new(),
            holds: BTreeMap::new(),
            questions: 0,
        };
        let found = proof.run();
        let loops = proof.holds.len();
        found.ok().map(|()| Together {
            loops,
            opaque: opaque.into_iter().collect(),
        })
    }

    /// Functions whose calls need not be followed: this one, if it calls itself, and does nothing but calculate.
    fn opaque(&self, name: &str) -> BTreeSet<String> {
        let mut all = BTreeSet::new();
        let calls = self
            .modules
            .iter()
            .any(|module| calls(module, name).contains(name));
        let [old, new] = self.modules.map(|module| {
            let function = module.functions.iter().find(|one| one.name == name);
            function.map(|one| (one.result, one.parameters.clone()))
        });
        let names = |shapes: &[ParameterShape]| -> Vec<String> {
            shapes.iter().map(|shape| shape.name.clone()).collect()
        };
        let same_order = names(self.shapes[0]) == names(self.shapes[1]);
        let only_calculates = self.modules.iter().all(|module| calculates(module, name));
        if calls && old == new && same_order && only_calculates {
            all.insert(name.to_owned());
        }
        all
    }
}

/// The functions that a function of this name calls, and those which these call.
fn calls(module: &Module, name: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![name.to_owned()];
    while let Some(next) = open.pop() {
        let function = module.functions.iter().find(|one| one.name == next);
        let blocks = function.into_iter().flat_map(|function| &function.blocks);
        for instruction in blocks.flat_map(|block| &block.instructions) {
            if let Some(id) = instruction.called() {
                let callee = &module.function(id).name;
                if found.insert(callee.clone()) {
                    open.push(callee.clone());
                }
            }
        }
    }
    found
}

/// Whether a function, and all that it calls, only looks at its arguments, which are numbers, and touches nothing.
fn calculates(module: &Module, name: &str) -> bool {
    let mut all = calls(module, name);
    all.insert(name.to_owned());
    all.iter().all(|name| {
        let function = module.functions.iter().find(|one| one.name == *name);
        let Some(function) = function.filter(|one| one.is_defined()) else {
            return false;
        };
        let is_number = |ty: Type| !matches!(ty, Type::Ptr | Type::Aggregate { .. } | Type::F80);
        let instructions = function.blocks.iter().flat_map(|block| &block.instructions);
        function.parameters.iter().all(|one| is_number(one.ty))
            && is_number(function.result)
            && !function.variadic
            && instructions.into_iter().all(|instruction| {
                use InstructionKind::*;
                match &instruction.kind {
                    Read { .. } | Write { .. } | Live { .. } | Dead { .. } | Extend { .. } => true,
                    Unary { .. } | Binary { .. } | Shift { .. } | Convert { .. } => true,
                    Call { callee, .. } => matches!(callee, Callee::Direct(_)),
                    _ => false,
                }
            })
    })
}

/// A segment of both versions, as terms.
struct Step {
    /// Of each version the variables that stand for what goes into the round.
    given: [Vec<Variable>; 2],
    /// Inputs that count.
    domain: Term,
    /// What is not known, or differs.
    wrong: Term,
    /// Both get to the end of the segment.
    ends: Term,
    /// Where that is, for each.
    at: [Term; 2],
    /// What each holds then, by the name of where it is kept.
    kept: [FxHashMap<String, Term>; 2],
}

/// A number that goes into a round.
#[derive(Clone, Debug)]
struct Variable {
    term: Term,
    name: String,
    kept: String,
    ty: Type,
}

/// Something that may hold between variables at the beginning of a round.
#[derive(Clone, Copy, Debug)]
struct Guess {
    term: Term,
    /// A variable of NEW, and what it is.
    is: Option<(Term, Term)>,
}

struct Proof<'a> {
    rounds: &'a Rounds<'a>,
    segments: [Segments<'a>; 2],
    opaque: &'a BTreeSet<String>,
    terms: Terms,
    steps: BTreeMap<Place, Step>,
    /// What is not known to be wrong at each pair of beginnings that segments lead to.
    holds: BTreeMap<(usize, usize), Vec<Guess>>,
    questions: usize,
}

impl Proof<'_> {
    fn run(&mut self) -> Proved<()> {
        let mut open: BTreeSet<Place> = BTreeSet::from([None]);
        while let Some(place) = open.pop_first() {
            open.extend(self.follow(place)?);
        }
        Ok(())
    }

    /// Looks at a segment. Places of which less holds than was thought have to be looked at again.
    fn follow(&mut self, place: Place) -> Proved<Vec<Place>> {
        self.make(place)?;
        let held = place.map_or_else(Vec::new, |pair| self.holds[&pair].clone());
        // What a variable of NEW is stands in its place.
        let mut is: FxHashMap<Term, Term> = FxHashMap::default();
        for guess in &held {
            if let Some((variable, value)) = guess.is {
                is.entry(variable).or_insert(value);
            }
        }
        let step = &self.steps[&place];
        let kept: Vec<(usize, String, Term)> = (0..2)
            .flat_map(|side| {
                let all = step.kept[side].iter();
                all.map(move |(name, term)| (side, name.clone(), *term))
            })
            .collect();
        let mut roots = vec![step.domain, step.wrong, step.ends, step.at[0], step.at[1]];
        roots.extend(kept.iter().map(|one| one.2));
        roots.extend(held.iter().map(|guess| guess.term));
        let roots = self.terms.substitute_all(&roots, &is);
        let roots = Rings::default().unified(&mut self.terms, &roots);
        let [domain, wrong, ends, old_at, new_at, rest @ ..] = roots.as_slice() else {
            return Err(NotProved);
        };
        let (domain, wrong, ends, at) = (*domain, *wrong, *ends, [*old_at, *new_at]);
        let (values, held) = rest.split_at(kept.len());
        let mut known = held.to_vec();
        known.push(domain);
        let mut asked = Asked::new(self.rounds.interrupt);
        for &term in &known {
            asked.assert(&mut self.terms, term);
        }
        if self.is_possible(&mut asked, wrong)? {
            return Err(NotProved);
        }
        asked.assert(&mut self.terms, ends);
        let mut again = Vec::new();
        let counts = [0, 1].map(|side| self.segments[side].count());
        for old in 0..=counts[0] {
            for new in 0..=counts[1] {
                if (old, new) == (0, 0) {
                    continue;
                }
                let here = [(old, at[0]), (new, at[1])].map(|(number, at)| {
                    let number = self.terms.constant(32, number as u128);
                    self.terms.eq(at, number)
                });
                let here = self.terms.and(here[0], here[1]);
                if !self.is_possible(&mut asked, here)? {
                    continue;
                }
                // One of them goes on where the other one has ended.
                if old == 0 || new == 0 {
                    return Err(NotProved);
                }
                let pair = (old - 1, new - 1);
                if self.arrive(&mut asked, here, pair, &kept, values)? {
                    again.push(Some(pair));
                }
            }
        }
        Ok(again)
    }

    /// Drops what does not hold at a pair of beginnings where a segment leads there. Whether something had to be, or nobody
    /// has been there before.
    fn arrive(
        &mut self,
        asked: &mut Asked<'_>,
        here: Term,
        pair: (usize, usize),
        kept: &[(usize, String, Term)],
        values: &[Term],
    ) -> Proved<bool> {
        let is_new = !self.holds.contains_key(&pair);
        if is_new {
            self.make(Some(pair))?;
            let guesses = self.guesses(pair);
            self.holds.insert(pair, guesses);
        }
        let mut becomes: FxHashMap<Term, Term> = FxHashMap::default();
        for side in 0..2 {
            for variable in &self.steps[&Some(pair)].given[side] {
                let mut all = kept.iter().zip(values);
                let found = all.find(|(one, _)| one.0 == side && one.1 == variable.kept);
                let (_, &value) = found.ok_or(NotProved)?;
                becomes.insert(variable.term, value);
            }
        }
        let guesses = self.holds[&pair].clone();
        let then: Vec<Term> = guesses.iter().map(|guess| guess.term).collect();
        let then = self.terms.substitute_all(&then, &becomes);
        let then = Rings::default().unified(&mut self.terms, &then);
        let mut left: Vec<(Guess, Term)> = guesses.into_iter().zip(then).collect();
        let before = left.len();
        self.drop_seldom_right(asked, here, &mut left);
        loop {
            let fails: Vec<Term> = left.iter().map(|one| self.terms.not(one.1)).collect();
            let fails = self.terms.or_all(fails);
            let fails = self.terms.and(here, fails);
            if !self.is_possible(asked, fails)? {
                break;
            }
            let model = asked.solver.model();
            let terms = &self.terms;
            let count = left.len();
            left.retain(|one| terms.evaluate(one.1, model).bits() != 0);
            if left.len() == count {
                return Err(NotProved);
            }
        }
        let is_less = left.len() < before;
        let left = left.into_iter().map(|one| one.0).collect();
        self.holds.insert(pair, left);
        Ok(is_new || is_less)
    }

    /// Drops guesses that fail for one of some inputs, which costs less than a question each.
    fn drop_seldom_right(&self, asked: &Asked<'_>, here: Term, left: &mut Vec<(Guess, Term)>) {
        let mut roots = asked.told.clone();
        roots.push(here);
        let count = roots.len();
        roots.extend(left.iter().map(|one| one.1));
        let terms = &self.terms;
        if terms.within(&roots).len() > MOST_EVALUATED {
            return;
        }
        let mut variables: Vec<Term> = roots
            .iter()
            .flat_map(|&one| terms.variables_of(one))
            .collect();
        variables.sort_unstable();
        variables.dedup();
        variables.retain(|&one| !matches!(terms.sort(one), Sort::Array { .. }));
        let mut random = Random::new(1);
        let mut value = |variable: &Term| {
            let width = match terms.sort(*variable) {
                Sort::Bits(width) => width,
                _ => 1,
            };
            let small = random.below(12) as u128;
            let bits = match random.below(8) {
                0..=3 => small,
                4 => small.wrapping_neg(),
                // Floats that are whole numbers.
                5 if width == 64 => u128::from((small as f64).to_bits()),
                5 if width == 32 => u128::from((small as f32).to_bits()),
                _ => random.wide(),
            };
            bits & u128::MAX >> (128 - width)
        };
        let inputs = (0..INPUTS).map(|_| variables.iter().map(&mut value).collect());
        let inputs: Vec<Vec<u128>> = inputs.collect();
        let columns = Columns::new(terms, &roots, &variables).evaluate(&inputs);
        let (holding, then) = columns.split_at(count);
        let counts: Vec<usize> = (0..inputs.len())
            .filter(|&at| holding.iter().all(|column| column[at] != 0))
            .collect();
        let mut columns = then.iter();
        left.retain(|_| {
            let column = columns.next();
            column.is_none_or(|column| counts.iter().all(|&at| column[at] != 0))
        });
    }

    fn is_possible(&mut self, asked: &mut Asked<'_>, condition: Term) -> Proved<bool> {
        if let Some(holds) = self.terms.as_truth(condition)
            && !holds
        {
            return Ok(false);
        }
        self.questions += 1;
        if self.questions > MOST_QUESTIONS {
            return Err(NotProved);
        }
        match asked.check(&mut self.terms, condition) {
            Answer::Satisfiable => Ok(true),
            Answer::Unsatisfiable => Ok(false),
            Answer::Unknown => Err(NotProved),
        }
    }

    /// Makes terms of a segment of both versions.
    fn make(&mut self, place: Place) -> Proved<()> {
        if self.steps.contains_key(&place) {
            return Ok(());
        }
        let numbers = [place.map(|one| one.0), place.map(|one| one.1)];
        let mut made = Vec::new();
        let mut given: [Vec<Variable>; 2] = Default::default();
        let mut ends_at = Vec::new();
        let mut kept: [FxHashMap<String, Term>; 2] = Default::default();
        for side in 0..2 {
            let (mut encoding, carried) = self.encoded(side, numbers[side])?;
            for one in carried {
                let mut inputs = encoding.inputs.iter();
                let input = inputs
                    .find(|input| input.name == one.name)
                    .ok_or(NotProved)?;
                given[side].push(Variable {
                    term: input.term,
                    name: one.variable,
                    kept: one.kept,
                    ty: one.ty,
                });
            }
            let mut at = None;
            let terms = &mut self.terms;
            encoding.outcome.objects.retain(|(name, parts)| {
                let is_own = name == AT || name.starts_with(KEPT);
                if is_own {
                    let whole = parts[1..]
                        .iter()
                        .fold(parts[0], |low, &high| terms.concat(high, low));
                    match name == AT {
                        true => at = Some(whole),
                        false => {
                            kept[side].insert(name.clone(), whole);
                        }
                    }
                }
                !is_own
            });
            // Where no path gets to an end, nothing is left behind.
            ends_at.push(at.unwrap_or_else(|| terms.constant(32, 0)));
            made.push(encoding);
        }
        let (Some(mut new), Some(mut old)) = (made.pop(), made.pop()) else {
            return Err(NotProved);
        };
        let names = |one: &Encoding| -> BTreeSet<String> {
            let objects = one.outcome.objects.iter();
            objects.map(|(name, _)| name.clone()).collect()
        };
        if names(&old) != names(&new) {
            return Err(NotProved);
        }
        // Both have the same.
        for one in [&mut old, &mut new] {
            one.outcome.changed.clear();
        }
        let terms = &mut self.terms;
        let no = terms.truth(false);
        let ends = [&old, &new].map(|one| one.outcome.ends.unwrap_or(no));
        let failures = [&old, &new]
            .map(|one| terms.or_all(one.failures.iter().map(|failure| failure.condition)));
        let fails = terms.or(failures[0], failures[1]);
        let fine = terms.not(fails);
        let ends = terms.and_all([ends[0], ends[1], fine]);
        let pair = Pair::new(terms, old, new, false, &[], self.rounds.options.input);
        if !pair.not_compared.is_empty() {
            return Err(NotProved);
        }
        let wrong = terms.or(pair.limited, pair.different);
        let step = Step {
            given,
            domain: pair.domain,
            wrong,
            ends,
            at: [ends_at[0], ends_at[1]],
            kept,
        };
        self.steps.insert(place, step);
        Ok(())
    }

    /// A segment of one version, and what goes into it.
    fn encoded(&mut self, side: usize, from: Option<usize>) -> Proved<(Encoding, Vec<Carried>)> {
        let rounds = self.rounds;
        let (module, entry) = self.segments[side].segment(from);
        let carried = from.map_or_else(Vec::new, |head| self.segments[side].carried(head));
        let program = Program::link(vec![module, rounds.library.clone()]).map_err(|_| NotProved)?;
        let options = Options {
            prefix: ["old.", "new."][side].to_owned(),
            havoc: rounds.options.havoc || from.is_some(),
            opaque: self.opaque.clone(),
            ..rounds.options.clone()
        };
        let encoding = encode(
            &program,
            &entry,
            &options,
            &mut self.terms,
            rounds.interrupt,
        )
        .map_err(|_| NotProved)?;
        // What is read one after the other goes on in the next round.
        let is_once = |kind: &InputKind| {
            matches!(
                kind,
                InputKind::Argument(_)
                    | InputKind::Null
                    | InputKind::Same { .. }
                    | InputKind::Distance { .. }
                    | InputKind::Before { .. }
                    | InputKind::Initial(_)
            )
        };
        let is_known =
            encoding.endless.is_empty() && encoding.inputs.iter().all(|input| is_once(&input.kind));
        is_known.then_some((encoding, carried)).ok_or(NotProved)
    }

    /// What may hold at a pair of beginnings.
    fn guesses(&mut self, pair: (usize, usize)) -> Vec<Guess> {
        let given = self.steps[&Some(pair)].given.clone();
        let mut all = Vec::new();
        for new in &given[1] {
            // Of several that hold, what has the same name is what it is most likely meant to be.
            let mut olds: Vec<&Variable> = given[0].iter().collect();
            olds.sort_by_key(|old| old.name != new.name);
            for old in olds {
                self.equalities(&given[0], old, new, &mut all);
            }
        }
        for own in &given {
            self.orders(own, &mut all);
        }
        all.truncate(MOST_GUESSES);
        all
    }

    /// What a variable of NEW may be, as one of OLD says.
    fn equalities(
        &mut self,
        olds: &[Variable],
        old: &Variable,
        new: &Variable,
        all: &mut Vec<Guess>,
    ) {
        let terms = &mut self.terms;
        let width = terms.width(new.term);
        let is_number = |one: &Variable| one.ty.is_integer() && one.ty != Type::Bool;
        let mut values = Vec::new();
        if old.ty.is_float() || new.ty.is_float() {
            if old.ty == new.ty {
                values.push(old.term);
            }
        } else if let Some(value) = fitted(terms, old, width) {
            values.push(value);
            if is_number(old) && is_number(new) {
                let one = terms.constant(width, 1);
                let (more, less) = (terms.add(value, one), terms.sub(value, one));
                values.extend([more, less]);
                for other in olds.iter().filter(|other| is_number(other)) {
                    let Some(other) = fitted(terms, other, width) else {
                        continue;
                    };
                    let from = terms.sub(other, value);
                    let (before, behind) = (terms.sub(from, one), terms.add(from, one));
                    let sum = terms.add(other, value);
                    values.extend([from, before, behind, sum]);
                }
            }
        }
        for value in values {
            let term = terms.eq(new.term, value);
            if terms.as_truth(term).is_none() {
                let is = Some((new.term, value));
                all.push(Guess { term, is });
            }
        }
    }

    /// How variables of one version may stand to each other, and to zero.
    fn orders(&mut self, own: &[Variable], all: &mut Vec<Guess>) {
        let terms = &mut self.terms;
        let is_number = |one: &&Variable| one.ty.is_integer() && one.ty != Type::Bool;
        let mut add = |terms: &Terms, term: Term| {
            if terms.as_truth(term).is_none() {
                all.push(Guess { term, is: None });
            }
        };
        for one in own.iter().filter(is_number) {
            let width = terms.width(one.term);
            let zero = terms.constant(width, 0);
            let positive = terms.slt(zero, one.term);
            add(terms, positive);
            let negative = terms.slt(one.term, zero);
            let not = terms.not(negative);
            add(terms, not);
            let unit = terms.constant(width, 1);
            let (is_zero, is_unit) = (terms.eq(one.term, zero), terms.eq(one.term, unit));
            let less = terms.sub(one.term, unit);
            for other in own.iter().filter(is_number) {
                if terms.width(other.term) != width || other.term == one.term {
                    continue;
                }
                let (a, b) = (one.term, other.term);
                // What counts up ends at the other one, if there is a round at all; what counts down began with it.
                let (above, far_above) = (terms.slt(b, a), terms.slt(b, less));
                let (up, from_one) = (terms.not(above), terms.not(far_above));
                let same = terms.eq(a, b);
                let guesses = [
                    terms.or(up, is_zero),
                    terms.or(from_one, is_unit),
                    terms.or(not, same),
                ];
                guesses.into_iter().for_each(|guess| add(terms, guess));
                for (below, above) in [
                    (terms.slt(a, b), terms.slt(b, a)),
                    (terms.ult(a, b), terms.ult(b, a)),
                ] {
                    add(terms, below);
                    let not_above = terms.not(above);
                    add(terms, not_above);
                }
            }
        }
    }
}

/// A variable in so many bits, with its sign; nothing if it has more.
fn fitted(terms: &mut Terms, variable: &Variable, width: u32) -> Option<Term> {
    let own = terms.width(variable.term);
    match own.cmp(&width) {
        std::cmp::Ordering::Equal => Some(variable.term),
        std::cmp::Ordering::Greater => None,
        std::cmp::Ordering::Less if variable.ty.is_signed() => {
            Some(terms.sign_extend(variable.term, width))
        }
        std::cmp::Ordering::Less => Some(terms.zero_extend(variable.term, width)),
    }
}

/// A solver, and what it was told.
struct Asked<'a> {
    solver: Solver,
    told: Vec<Term>,
    congruence: Congruence,
    interrupt: &'a dyn Fn() -> bool,
}

impl<'a> Asked<'a> {
    fn new(interrupt: &'a dyn Fn() -> bool) -> Asked<'a> {
        Asked {
            solver: Solver::new(Backend::default()),
            told: Vec::new(),
            congruence: Congruence::default(),
            interrupt,
        }
    }

    fn assert(&mut self, terms: &mut Terms, term: Term) {
        self.congruence
            .tell(terms, &mut self.solver, &[term], self.interrupt);
        let budget = Budget {
            conflicts: None,
            interrupt: Some(self.interrupt),
        };
        self.solver.assert_within(terms, term, &budget);
        self.told.push(term);
    }

    fn check(&mut self, terms: &mut Terms, condition: Term) -> Answer {
        self.congruence
            .tell(terms, &mut self.solver, &[condition], self.interrupt);
        let budget = Budget {
            conflicts: Some(EFFORT),
            interrupt: Some(self.interrupt),
        };
        self.solver.check(terms, &[condition], &budget)
    }
}
