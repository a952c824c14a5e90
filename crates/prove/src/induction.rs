//! Proves assertions for any number of rounds: finds what holds at the beginning of each round, from
//! which the assertions follow.
//!
//! The function is cut at the heads of its loops ([`patchwright_symbolic::segments`]). At each head,
//! relations between the variables are guessed, such as `0 <= i`, `i <= n` or `s == 3 * i`. A relation
//! that does not hold at the end of some segment that leads there is dropped, until nothing has to be
//! dropped (the algorithm Houdini of Flanagan and Leino). The remaining relations hold in each round, by
//! induction. If nothing fails in any segment under them, nothing fails in any execution, however long it
//! is.

mod ends;

use std::collections::{BTreeMap, BTreeSet};

use patchwright_ir::{InstructionKind, Module, Program, Type, Value};
use patchwright_solve::{Answer, Backend, Budget, Node, Rings, Solver, Term, Terms};
use patchwright_symbolic::{
    Check, Encoding, InputKind, Options, ParameterShape, encode,
    segments::{AT, Carried, KEPT, Segments, keeps_state},
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::spec::excuse;

/// Conflicts that a question may cost.
const EFFORT: u64 = 20_000;
/// Conflicts that a question about one guess may cost.
const LITTLE: u64 = 500;
/// Conflicts that all questions may cost.
const MOST_CONFLICTS: u64 = 100_000;
/// Questions at most.
const MOST_QUESTIONS: usize = 2_000;
/// Guesses at one beginning at most.
const MOST_GUESSES: usize = 4_000;
/// Constants of which sums and products are used as well.
const MOST_COMBINED: usize = 4;
/// Variables of which products are guessed at most.
const MOST_FACTORS: usize = 6;
/// Constants of the function that are used in guesses.
const MOST_CONSTANTS: usize = 16;

/// A function to prove, and how it is encoded.
pub struct Induction<'a> {
    /// Its module; no other one belongs to the program.
    pub module: &'a Module,
    /// What is known of the C library.
    pub library: &'a Module,
    /// Its name.
    pub function: &'a str,
    /// Its parameters.
    pub shapes: &'a [ParameterShape],
    /// What is looked at.
    pub options: &'a Options,
    /// Ends the work.
    pub interrupt: &'a dyn Fn() -> bool,
}

/// A proof that no execution fails, whatever the number of rounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inductive {
    /// The number of loops of the function.
    pub loops: usize,
    /// What the proof takes for granted: see [`Encoding::notes`].
    pub notes: Vec<String>,
}

/// Something that may hold at the beginning of a round.
#[derive(Clone, Copy, Debug)]
struct Guess {
    term: Term,
    /// A variable, and what it is.
    is: Option<(Term, Term)>,
    /// What is zero if, and only if, it holds.
    zero: Option<Term>,
}

/// It is not known whether something fails.
struct NotProved;

type Proved<T> = Result<T, NotProved>;

/// What there is to know of one segment.
struct Step {
    /// Variables that go into the round.
    given: Vec<(Term, Carried)>,
    /// Something fails, or is not known.
    wrong: Term,
    /// An execution that counts gets to the end of the segment.
    ends: Term,
    /// Where that is.
    at: Term,
    /// What is kept there, by its name.
    kept: FxHashMap<String, Term>,
    /// Something is asked here.
    reached: Term,
}

/// A segment under what holds at its beginning.
struct Seen {
    wrong: Term,
    ends: Term,
    at: Term,
    reached: Term,
    kept: FxHashMap<String, Term>,
    /// What variables are, as others say.
    is: FxHashMap<Term, Term>,
    /// It knows what holds.
    solver: Solver,
}

impl Induction<'_> {
    /// Returns a proof that the function fails for no input and no number of rounds, and that each loop ends
    /// where that is asked. It is `None` if there is no loop or no proof.
    pub fn proves(&self) -> Option<Inductive> {
        let leaks = self.options.checks.contains(&Check::Leak);
        if leaks || keeps_state(self.module, self.library, self.function) {
            return None;
        }
        let registers = Segments::of(self.module, self.function, self.shapes, "round");
        let proof = registers.and_then(|segments| self.proof(segments));
        // What holds of memory takes more guesses, so it is sought where the program needs it.
        proof.or_else(|| {
            let memory = Segments::with_memory(self.module, self.function, self.shapes, "round");
            memory.and_then(|segments| self.proof(segments))
        })
    }

    /// Seeks a proof from what rounds pass on.
    fn proof(&self, segments: Segments<'_>) -> Option<Inductive> {
        if segments.count() == 0 {
            return None;
        }
        let mut proof = Proof {
            asked: self,
            segments,
            terms: Terms::new(),
            constants: self.constants(),
            steps: BTreeMap::new(),
            holds: BTreeMap::new(),
            questions: 0,
            conflicts: 0,
            is_concerned: false,
            notes: Vec::new(),
        };
        proof.run().ok().map(|()| Inductive {
            loops: proof.holds.len(),
            notes: proof.notes,
        })
    }

    /// Numbers that the function mentions, and those next to them.
    fn constants(&self) -> Vec<i64> {
        let mut all = BTreeSet::new();
        let functions = self.module.functions.iter();
        let own = functions.filter(|one| one.name == self.function);
        let blocks = own.flat_map(|function| &function.blocks);
        for instruction in blocks.flat_map(|block| &block.instructions) {
            if matches!(instruction.kind, InstructionKind::Call { .. }) {
                continue;
            }
            for operand in instruction.operands() {
                if let Value::Constant { ty, bits } = operand.value
                    && ty.is_integer()
                    && ty.size() <= 8
                {
                    all.insert(bits as u64 as i64);
                }
            }
        }
        let mut all: Vec<i64> = all.into_iter().collect();
        all.sort_by_key(|one| one.unsigned_abs());
        all.truncate(MOST_CONSTANTS);
        // `2 * k`, where `k` is always 100.
        let few = all.iter().copied().filter(|one| one.unsigned_abs() > 1);
        let few: Vec<i64> = few.take(MOST_COMBINED).collect();
        let pairs = few.iter().enumerate();
        let combined = pairs.flat_map(|(at, &a)| {
            let others = few[at..].iter();
            others.flat_map(move |&b| [a.wrapping_mul(b), a.wrapping_add(b)])
        });
        let combined: Vec<i64> = combined.collect();
        for one in all.clone() {
            all.extend([one.wrapping_add(1), one.wrapping_sub(1)]);
        }
        all.extend(combined);
        all.extend([0, 1, -1]);
        all.sort_unstable();
        all.dedup();
        all
    }
}

struct Proof<'a> {
    asked: &'a Induction<'a>,
    segments: Segments<'a>,
    terms: Terms,
    constants: Vec<i64>,
    /// By the loop with whose round it begins; nothing for where the function begins.
    steps: BTreeMap<Option<usize>, Step>,
    /// What is not known to be wrong at the beginnings of rounds.
    holds: BTreeMap<usize, Vec<Guess>>,
    questions: usize,
    conflicts: u64,
    /// An execution may return, or get to what is asked.
    is_concerned: bool,
    /// What the segments take for granted, each once.
    notes: Vec<String>,
}

impl Proof<'_> {
    fn run(&mut self) -> Proved<()> {
        let mut open = BTreeSet::from([None]);
        while let Some(place) = open.pop_first() {
            open.extend(self.follow(place)?);
        }
        // What was dropped on the way may have been needed where nobody has looked again.
        let places: Vec<Option<usize>> = self.steps.keys().copied().collect();
        for place in places {
            if !self.follow(place)?.is_empty() {
                return Err(NotProved);
            }
        }
        // Where nothing is asked, and nobody returns, there is nothing to be said.
        if !self.is_concerned {
            return Err(NotProved);
        }
        match self.asked.options.checks.contains(&Check::Termination) {
            true => self.all_end(),
            false => Ok(()),
        }
    }

    /// Looks at a segment. Beginnings at which less holds than was thought have to be looked at again.
    fn follow(&mut self, place: Option<usize>) -> Proved<Vec<Option<usize>>> {
        let mut seen = self.seen(place)?;
        let mut again = Vec::new();
        let arrived = self.arrived(&mut seen)?;
        for (head, here) in arrived {
            let from = (place, &seen.is);
            if self.arrive(&mut seen.solver, here, (from, head), &seen.kept)? {
                again.push(Some(head));
            }
        }
        // While less may come to hold here it is too early to ask.
        let is_settled = again.is_empty();
        if is_settled {
            if self.is_possible(&mut seen.solver, seen.wrong)? {
                return Err(NotProved);
            }
            let zero = self.terms.constant(32, 0);
            let returns = self.terms.eq(seen.at, zero);
            let returns = self.terms.and(returns, seen.ends);
            let concerned = self.terms.or(returns, seen.reached);
            self.is_concerned |= self.is_possible(&mut seen.solver, concerned)?;
        }
        Ok(again)
    }

    /// What there is to know of a segment where that holds which is not known to be wrong at its beginning.
    fn seen(&mut self, place: Option<usize>) -> Proved<Seen> {
        self.make(place)?;
        let held = place.map_or_else(Vec::new, |head| self.holds[&head].clone());
        let step = &self.steps[&place];
        let names: Vec<String> = step.kept.keys().cloned().collect();
        let mut roots = vec![step.wrong, step.ends, step.at, step.reached];
        roots.extend(names.iter().map(|name| step.kept[name]));
        roots.extend(held.iter().map(|guess| guess.term));
        let is = self.known(&held);
        let roots = self.terms.substitute_all(&roots, &is);
        let roots = Rings::default().unified(&mut self.terms, &roots);
        let (values, held) = roots[4..].split_at(names.len());
        let mut solver = Solver::new(Backend::default());
        for &term in held {
            solver.assert(&self.terms, term);
        }
        Ok(Seen {
            wrong: roots[0],
            ends: roots[1],
            at: roots[2],
            reached: roots[3],
            kept: names.into_iter().zip(values.iter().copied()).collect(),
            is,
            solver,
        })
    }

    /// The loops to whose heads a segment may lead, each with where it does.
    fn arrived(&mut self, seen: &mut Seen) -> Proved<Vec<(usize, Term)>> {
        let mut arrived = Vec::new();
        for head in 0..self.segments.count() {
            let number = self.terms.constant(32, head as u128 + 1);
            let here = self.terms.eq(seen.at, number);
            let here = self.terms.and(here, seen.ends);
            if self.is_possible(&mut seen.solver, here)? {
                arrived.push((head, here));
            }
        }
        Ok(arrived)
    }

    /// What is true or false where this holds.
    fn taken(&mut self, here: Term) -> FxHashMap<Term, Term> {
        let mut known = FxHashMap::default();
        let mut open = vec![(here, true)];
        while let Some((term, holds)) = open.pop() {
            match self.terms.node(term) {
                Node::Not(of) => open.push((of, !holds)),
                Node::And(a, b) if holds => open.extend([(a, true), (b, true)]),
                _ => {
                    known.insert(term, self.terms.truth(holds));
                }
            }
        }
        known
    }

    /// What variables are, as others say.
    fn known(&self, held: &[Guess]) -> FxHashMap<Term, Term> {
        let mut is: FxHashMap<Term, Term> = FxHashMap::default();
        let mut used: FxHashSet<Term> = FxHashSet::default();
        for (variable, value) in held.iter().filter_map(|guess| guess.is) {
            let others = self.terms.variables_of(value);
            let is_free = !is.contains_key(&variable)
                && !used.contains(&variable)
                && !others.iter().any(|one| is.contains_key(one));
            if is_free {
                used.extend(others);
                is.insert(variable, value);
            }
        }
        is
    }

    /// Drops what does not hold at the beginning of a round where a segment leads there. Whether something had to be, or
    /// nobody has been there before.
    fn arrive(
        &mut self,
        solver: &mut Solver,
        here: Term,
        (from, head): ((Option<usize>, &FxHashMap<Term, Term>), usize),
        kept: &FxHashMap<String, Term>,
    ) -> Proved<bool> {
        let is_new = !self.holds.contains_key(&head);
        if is_new {
            self.make(Some(head))?;
        }
        let mut becomes: FxHashMap<Term, Term> = FxHashMap::default();
        for (variable, carried) in &self.steps[&Some(head)].given {
            let value = kept.get(&carried.kept).ok_or(NotProved)?;
            becomes.insert(*variable, *value);
        }
        // What is kept is a choice between this end of the segment and others, which are left out here.
        let taken = self.taken(here);
        let values: Vec<(Term, Term)> = becomes.into_iter().collect();
        let chosen: Vec<Term> = values.iter().map(|one| one.1).collect();
        let chosen = self.terms.substitute_all(&chosen, &taken);
        let variables = values.into_iter().map(|one| one.0);
        let becomes: FxHashMap<Term, Term> = variables.zip(chosen).collect();
        if is_new {
            let guesses = self.guesses(head, &becomes);
            self.holds.insert(head, guesses);
        }
        let guesses = self.holds[&head].clone();
        let then: Vec<Term> = guesses.iter().map(|guess| guess.term).collect();
        let then = self.terms.substitute_all(&then, &becomes);
        let mut then = Rings::default().unified(&mut self.terms, &then);
        if from.0 == Some(head) {
            self.keep_what_does_not_change(&guesses, from.1, &becomes, &mut then);
        }
        let mut left: Vec<(Guess, Term)> = guesses.into_iter().zip(then).collect();
        let before = left.len();
        loop {
            let fails: Vec<Term> = left.iter().map(|one| self.terms.not(one.1)).collect();
            let fails = self.terms.or_all(fails);
            let fails = self.terms.and(here, fails);
            match self.answer(solver, fails, EFFORT)? {
                Answer::Unsatisfiable => break,
                Answer::Satisfiable => {}
                Answer::Unknown => {
                    left = self.each(solver, here, left)?;
                    break;
                }
            }
            let model = solver.model();
            let terms = &self.terms;
            let count = left.len();
            left.retain(|one| terms.evaluate(one.1, model).bits() != 0);
            if left.len() == count {
                return Err(NotProved);
            }
        }
        let is_less = left.len() < before;
        let left = left.into_iter().map(|one| one.0).collect();
        self.holds.insert(head, left);
        Ok(is_new || is_less)
    }

    /// An equation holds after a round if the difference of its sides is the same polynomial as before. A solver does not see
    /// that where variables are multiplied.
    fn keep_what_does_not_change(
        &mut self,
        guesses: &[Guess],
        is: &FxHashMap<Term, Term>,
        becomes: &FxHashMap<Term, Term>,
        then: &mut [Term],
    ) {
        let yes = self.terms.truth(true);
        for (guess, then) in guesses.iter().zip(then) {
            let Some(zero) = guess.zero.filter(|_| self.terms.as_truth(*then).is_none()) else {
                continue;
            };
            let before = self.terms.substitute_all(&[zero], is)[0];
            let after = self.terms.substitute_all(&[zero], becomes)[0];
            let same = self.terms.eq(before, after);
            if Rings::default().unified(&mut self.terms, &[same])[0] == yes {
                *then = yes;
            }
        }
    }

    /// Those guesses that hold `here` without much work, where all together are too much.
    fn each(
        &mut self,
        solver: &mut Solver,
        here: Term,
        guesses: Vec<(Guess, Term)>,
    ) -> Proved<Vec<(Guess, Term)>> {
        let mut left = Vec::new();
        for one in guesses {
            let fails = self.terms.not(one.1);
            let fails = self.terms.and(here, fails);
            if self.answer(solver, fails, LITTLE)? == Answer::Unsatisfiable {
                left.push(one);
            }
        }
        Ok(left)
    }

    fn is_possible(&mut self, solver: &mut Solver, condition: Term) -> Proved<bool> {
        match self.answer(solver, condition, EFFORT)? {
            Answer::Satisfiable => Ok(true),
            Answer::Unsatisfiable => Ok(false),
            Answer::Unknown => Err(NotProved),
        }
    }

    fn answer(&mut self, solver: &mut Solver, condition: Term, effort: u64) -> Proved<Answer> {
        if self.terms.as_truth(condition) == Some(false) {
            return Ok(Answer::Unsatisfiable);
        }
        self.questions += 1;
        if self.questions > MOST_QUESTIONS || self.conflicts > MOST_CONFLICTS {
            return Err(NotProved);
        }
        let budget = Budget {
            conflicts: Some(effort),
            interrupt: Some(self.asked.interrupt),
        };
        let before = solver.statistics().conflicts;
        let answer = solver.check(&self.terms, &[condition], &budget);
        self.conflicts += solver.statistics().conflicts - before;
        Ok(answer)
    }

    /// Makes terms of a segment.
    fn make(&mut self, place: Option<usize>) -> Proved<()> {
        if self.steps.contains_key(&place) {
            return Ok(());
        }
        let mut encoding = self.encoded(place)?;
        excuse(&mut self.terms, &mut encoding);
        let carried = place.map_or_else(Vec::new, |head| self.segments.carried(head));
        let mut given = Vec::new();
        for one in carried {
            let input = encoding.inputs.iter().find(|input| input.name == one.name);
            given.push((input.ok_or(NotProved)?.term, one));
        }
        let terms = &mut self.terms;
        let mut at = terms.constant(32, 0);
        let mut kept = FxHashMap::default();
        for (name, parts) in std::mem::take(&mut encoding.outcome.objects) {
            if name != AT && !name.starts_with(KEPT) {
                continue;
            }
            let Some((&first, rest)) = parts.split_first() else {
                continue;
            };
            let whole = rest
                .iter()
                .fold(first, |low, &high| terms.concat(high, low));
            match name == AT {
                true => at = whole,
                false => {
                    kept.insert(name, whole);
                }
            }
        }
        let fails = encoding.failures.iter().map(|one| one.condition);
        let unknown = encoding.unknown.iter().map(|one| one.condition);
        let beyond = encoding.unwinding.iter().map(|one| one.condition);
        let wrong = terms.or_all(fails.chain(unknown).chain(beyond));
        let no = terms.truth(false);
        let ends = encoding.outcome.ends.unwrap_or(no);
        // That nothing fails before is what is shown of the same segment.
        let fine = terms.not(wrong);
        let ends = terms.and_all([ends, encoding.assumption, fine]);
        let reached = terms.or_all(encoding.reached.iter().copied());
        let step = Step {
            given,
            reached,
            wrong,
            ends,
            at,
            kept,
        };
        self.steps.insert(place, step);
        Ok(())
    }

    fn encoded(&mut self, from: Option<usize>) -> Proved<Encoding> {
        let asked = self.asked;
        let (module, entry) = self.segments.segment(from);
        let program = Program::link(vec![module, asked.library.clone()]).map_err(|_| NotProved)?;
        let options = Options {
            havoc: asked.options.havoc || from.is_some(),
            locations: false,
            ..asked.options.clone()
        };
        let encoding = encode(&program, &entry, &options, &mut self.terms, asked.interrupt)
            .map_err(|_| NotProved)?;
        for note in &encoding.notes {
            if !self.notes.contains(note) {
                self.notes.push(note.clone());
            }
        }
        // Bytes that are read one after the other go on in the next round; what is returned, or converted by `scanf`, may
        // be anything each time.
        let is_free = |kind: &InputKind| {
            matches!(
                kind,
                InputKind::Argument(_)
                    | InputKind::Null
                    | InputKind::Same { .. }
                    | InputKind::Distance { .. }
                    | InputKind::Before { .. }
                    | InputKind::Initial(_)
                    | InputKind::Returned { .. }
                    | InputKind::Outside { .. }
                    | InputKind::Present
                    | InputKind::Unfit
                    | InputKind::Scanned { .. }
            )
        };
        // What a call in one round got, a call in the next one may write to.
        let is_known = !encoding.is_kept_by_others
            && encoding.endless.is_empty()
            && encoding.inputs.iter().all(|input| is_free(&input.kind));
        is_known.then_some(encoding).ok_or(NotProved)
    }

    /// What may hold at the beginning of a round; of the first one the values are known.
    fn guesses(&mut self, head: usize, first: &FxHashMap<Term, Term>) -> Vec<Guess> {
        let is_number = |ty: Type| ty.is_integer() && ty != Type::Bool;
        let given = self.steps[&Some(head)].given.iter();
        let numbers: Vec<Term> = given
            .filter(|(_, one)| is_number(one.ty))
            .map(|(term, _)| *term)
            .collect();
        let mut all = Vec::new();
        for &a in &numbers {
            self.by_itself(a, &mut all);
            for &b in &numbers {
                if a != b && self.terms.width(a) == self.terms.width(b) {
                    self.of_two(a, b, &numbers, &mut all);
                    self.in_step(a, b, first, &mut all);
                }
            }
        }
        for &a in &numbers {
            self.products(a, &numbers, &mut all);
        }
        let mut seen = FxHashSet::default();
        all.retain(|&Guess { term, .. }| self.terms.as_truth(term).is_none() && seen.insert(term));
        all.truncate(MOST_GUESSES);
        all
    }

    fn constant(&mut self, width: u32, value: i64) -> Term {
        self.terms
            .constant(width, value as u128 & (u128::MAX >> (128 - width)))
    }

    /// How a variable may stand to numbers.
    fn by_itself(&mut self, a: Term, all: &mut Vec<Guess>) {
        let width = self.terms.width(a);
        for value in self.constants.clone() {
            let c = self.constant(width, value);
            let terms = &mut self.terms;
            let (less, more) = (terms.slt(a, c), terms.slt(c, a));
            let (below, above) = (terms.ult(a, c), terms.ult(c, a));
            let is = terms.eq(a, c);
            all.push(equal(terms, a, c));
            all.extend([is, less, more, below, above].map(|one| other(terms.not(one))));
            if value > 1 {
                let rest = terms.urem(a, c);
                all.extend([0, 1].map(|left| {
                    let left = terms.constant(width, left);
                    other(terms.eq(rest, left))
                }));
            }
        }
    }

    /// A variable that changes by so much whenever another one changes by one, from where both begin.
    fn in_step(&mut self, a: Term, b: Term, first: &FxHashMap<Term, Term>, all: &mut Vec<Guess>) {
        let width = self.terms.width(a);
        let begin = [a, b].map(|one| {
            first
                .get(&one)
                .and_then(|&term| self.terms.as_constant(term))
        });
        let [Some(from_a), Some(from_b)] = begin else {
            return;
        };
        for step in self.constants.clone() {
            let offset = (from_a as i64).wrapping_sub(step.wrapping_mul(from_b as i64));
            if step == 0 || offset == 0 {
                continue;
            }
            let [step, offset] = [step, offset].map(|value| self.constant(width, value));
            let terms = &mut self.terms;
            let grown = terms.mul(b, step);
            let value = terms.add(grown, offset);
            all.push(equal(terms, a, value));
        }
    }

    /// What sums of variables come to: products.
    fn products(&mut self, a: Term, numbers: &[Term], all: &mut Vec<Guess>) {
        if numbers.len() > MOST_FACTORS {
            return;
        }
        let width = self.terms.width(a);
        let same = |terms: &Terms, one: &&Term| **one != a && terms.width(**one) == width;
        let others: Vec<Term> = numbers
            .iter()
            .filter(|one| same(&self.terms, one))
            .copied()
            .collect();
        let terms = &mut self.terms;
        let one = terms.constant(width, 1);
        for (at, &b) in others.iter().enumerate() {
            for &c in &others[at..] {
                let value = terms.mul(b, c);
                all.push(equal(terms, a, value));
            }
            let twice = terms.add(a, a);
            for next in [terms.add(b, one), terms.sub(b, one)] {
                let value = terms.mul(b, next);
                all.push(Guess {
                    term: terms.eq(twice, value),
                    is: None,
                    zero: Some(terms.sub(twice, value)),
                });
            }
        }
    }

    /// How a variable may stand to another one, and both to a third.
    fn of_two(&mut self, a: Term, b: Term, numbers: &[Term], all: &mut Vec<Guess>) {
        let width = self.terms.width(a);
        for value in self.constants.clone() {
            let c = self.constant(width, value);
            let terms = &mut self.terms;
            for value in [terms.add(b, c), terms.mul(b, c), terms.sub(c, b)] {
                all.push(equal(terms, a, value));
            }
        }
        let terms = &mut self.terms;
        let [zero, one] = [0, 1].map(|value| terms.constant(width, value));
        let next = terms.add(b, one);
        let (less, below) = (terms.slt(a, b), terms.ult(a, b));
        let (more, above) = (terms.slt(b, a), terms.ult(b, a));
        let [up_to, up_to_unsigned] = [more, above].map(|one| terms.not(one));
        // What counts up ends at the other one, if there is a round at all.
        let is_zero = terms.eq(a, zero);
        let beyond = terms.slt(next, a);
        let (any, within) = (terms.or(up_to, is_zero), terms.not(beyond));
        all.extend([less, below, up_to, up_to_unsigned, any, within].map(other));
        for &third in numbers {
            if third != a && third != b && terms.width(third) == width {
                let sum = terms.add(a, b);
                all.push(equal(terms, third, sum));
            }
        }
    }
}

fn other(term: Term) -> Guess {
    Guess {
        term,
        is: None,
        zero: None,
    }
}

/// A variable is this.
fn equal(terms: &mut Terms, variable: Term, value: Term) -> Guess {
    Guess {
        term: terms.eq(variable, value),
        is: Some((variable, value)),
        zero: Some(terms.sub(variable, value)),
    }
}
