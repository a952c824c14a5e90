//! Explores both versions path by path, along one input after the other (algorithms 1 to 4 of the
//! thesis).
//!
//! An input is taken, and both versions are followed along it. What they decided are the conditions of a pair of paths;
//! under these what they leave behind are two terms without a choice. Where these are the same the pair is *equal*; where
//! they may differ, the pair is parted like any other inputs ([`Explorer`]). Then a decision is turned around, and the
//! solver is asked for an input that decides otherwise there, those first that lie nearest to what has changed. When no
//! decision is left, the paths are those of all inputs, and what was said of them is a proof ([`Tree`]).

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
    time::{Duration, Instant},
};

use patchwright_prove::{ArgumentUses, Decision, Leaf, NodeId, Tree, Turned, Turner};
use patchwright_solve::{Assignment, Budget, Sort, Term, Terms};
use patchwright_symbolic::{EncodeError, Encoding, Input, InputKind, UnwindingKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    columns::Columns,
    coverage::{Share, wilson},
    explore::Known,
    holders::Holder,
    interactions::{Exercised, Sequence},
    pair::{Pair, Side},
    partition::{Explored, Explorer, Extent, Kind, Partition},
    random::Random,
    verdict::{Reason, Verdict},
};

/// The first limit of conflicts for a question about an input of another path. When all questions that are left have exceeded it, it grows by
/// four.
const FIRST_EFFORT: u64 = 1_000;
/// Terms that are made at most.
const MOST_TERMS: usize = 12_000_000;
/// What one more question at a place counts against it, in decisions between a node and what has changed.
const PER_QUESTION: u64 = 12;
/// Random inputs that are looked at to say how much is covered, at most, and values that are calculated for that, and at once.
const SAMPLES: usize = 1024;
/// And so much time.
const LONGEST_SHARE: Duration = Duration::from_secs(1);
const MOST_VALUES: usize = 50_000_000;
const AT_ONCE: usize = 4_000_000;

/// The order in which decisions are turned around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turning {
    /// Those nearest to what has changed first.
    Nearest,
    /// Those of executions that execute a changed line first, in the order in which they were seen.
    Changed,
    /// In the order in which they were seen.
    Any,
}

/// Two versions that are followed along inputs.
pub struct Followed<'a> {
    /// Follows a version along an input.
    #[allow(clippy::type_complexity, reason = "it is one function")]
    pub follow: &'a mut dyn FnMut(&mut Terms, Side, &Assignment) -> Result<Encoding, EncodeError>,
    /// Whole programs are compared.
    pub is_program: bool,
    /// Objects that hold pointers.
    pub holders: &'a [Holder],
    /// Bytes of standard input at most.
    pub input: u32,
    /// The file of each version, and the lines that have changed.
    pub changed: [(&'a str, &'a [u32]); 2],
}

impl Followed<'_> {
    /// What both versions did along an input.
    fn pair(&self, terms: &mut Terms, [old, new]: [Encoding; 2]) -> Pair {
        Pair::new(terms, old, new, self.is_program, self.holders, self.input)
    }
}

/// Why an exploration has ended: all paths are known, it was interrupted, or an argument matters both by
/// its bytes and as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All paths are known, as far as they can be.
    All,
    /// Somebody interrupted, or too much is known already.
    Interrupted,
    /// A number that is read from an argument and bytes of the same argument both matter: whoever follows has to do so by
    /// bytes only.
    Mixed,
}

/// The answer of an exploration by single paths, with its partitions, reasons and share of the inputs.
pub struct Found {
    /// Partitions, and how far it got.
    pub explored: Explored,
    /// Why nothing is known of some inputs.
    pub reasons: Vec<Reason>,
    /// What was taken for granted.
    pub notes: Vec<String>,
    /// The answer.
    pub verdict: Verdict,
    /// The share of the inputs whose paths are known.
    pub share: Share,
    /// What is known of sequences of changed lines, if somebody asked.
    pub sequences: Vec<Sequence>,
    /// The terms of all that.
    pub terms: Terms,
}

/// The exploration of two programs, path by path.
pub struct Paths {
    terms: Terms,
    extent: Extent,
    turning: Turning,
    tree: Tree,
    turner: Turner,
    /// What inputs have to satisfy: lengths within their limits.
    domain: Vec<Term>,
    /// Bytes of standard input at most.
    longest: u32,
    /// Inputs that are to be looked at.
    waiting: VecDeque<Assignment>,
    queue: BinaryHeap<Reverse<(u64, usize, NodeId)>>,
    /// Decisions that were too hard to turn around.
    hard: Vec<NodeId>,
    effort: u64,
    order: usize,
    /// Places where something is decided, and how many questions were about them.
    places: FxHashMap<(Option<Side>, String, u32), usize>,
    asked: Vec<u64>,
    inputs: Vec<Input>,
    /// How arguments of the program matter.
    arguments: ArgumentUses,
    explored: Explored,
    reasons: Vec<Reason>,
    notes: Vec<String>,
    /// Inputs of pairs of paths that are equal, of which partitions are listed.
    equal: Vec<Assignment>,
    /// Pairs of paths of which not everything is known.
    open: usize,
    /// Those of them in which the solver did not get to the end: some of their inputs may differ.
    undecided: usize,
    /// Pairs of paths of inputs that count.
    counted: usize,
    /// Those of them on which both versions come to their end.
    finishing: usize,
    /// It happened that an input did not take the way that it was made for.
    astray: usize,
    too_much: bool,
    cut_off: bool,
    exercised: Exercised,
}

impl Paths {
    /// Prepares an exploration that begins with the input in which everything is zero.
    pub fn new(extent: Extent, turning: Turning) -> Paths {
        Paths {
            terms: Terms::new(),
            extent,
            turning,
            tree: Tree::default(),
            turner: Turner::default(),
            domain: Vec::new(),
            longest: 0,
            waiting: VecDeque::from([Assignment::new()]),
            queue: BinaryHeap::new(),
            hard: Vec::new(),
            effort: FIRST_EFFORT,
            order: 0,
            places: FxHashMap::default(),
            asked: Vec::new(),
            inputs: Vec::new(),
            arguments: ArgumentUses::default(),
            explored: Explored::default(),
            reasons: Vec::new(),
            notes: Vec::new(),
            equal: Vec::new(),
            open: 0,
            undecided: 0,
            counted: 0,
            finishing: 0,
            astray: 0,
            too_much: false,
            cut_off: false,
            exercised: Exercised::default(),
        }
    }

    /// Sets sequences of changed lines of NEW's file. The exploration also looks for inputs that execute each of them.
    pub fn interactions(&mut self, sequences: &[Vec<u32>]) {
        self.exercised = Exercised::of(sequences);
    }

    /// Explores this input before others are made. The format is that of [`Known::Path`].
    pub fn seed(&mut self, values: &[(String, u32, u128)]) {
        let mut input = Assignment::new();
        for (name, width, bits) in values {
            let sort = match width {
                0 => Sort::Bool,
                width => Sort::Bits(*width),
            };
            let variable = self.terms.variable(name, sort);
            input.set_bits(&self.terms, variable, *bits);
        }
        self.waiting.push_back(input);
    }

    /// Whether an execution took more instructions than are followed.
    pub fn is_cut_off(&self) -> bool {
        self.cut_off
    }

    /// Whether a difference was found.
    pub fn differs(&self) -> bool {
        let mut all = self.explored.partitions.iter();
        all.any(|one| one.kind.differs() && !one.is_undetermined)
    }

    /// Returns the conditions of all explored pairs of paths. The flag says whether everything is
    /// known of their inputs: the versions do the same, except in partitions that differ.
    pub fn looked_at(&mut self) -> Vec<(Term, bool)> {
        let ends: Vec<(NodeId, Leaf)> = self.tree.ends().collect();
        let mut all = Vec::new();
        for (node, leaf) in ends {
            let conditions = self.tree.conditions(node);
            all.push((self.terms.and_all(conditions), leaf == Leaf::Known));
        }
        all
    }

    /// Whether more exploration cannot help: all paths are known and decided, or the wanted number of
    /// differences was found.
    pub fn is_settled(&self) -> bool {
        let left = self.waiting.len() + self.queue.len() + self.hard.len();
        let is_all = left + self.open + self.undecided + self.astray == 0 && !self.too_much;
        self.explored.more_differ || is_all
    }

    /// Explores until all paths are known or the user interrupts. It can be called again to go on.
    /// `tell` gets each partition that differs; `keep` gets results for a later exploration of the
    /// same programs.
    ///
    /// # Errors
    /// Those of following a version, interruption aside.
    pub fn explore(
        &mut self,
        followed: &mut Followed<'_>,
        interrupt: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(&Partition),
        keep: &mut dyn FnMut(Known),
    ) -> Result<Stop, EncodeError> {
        loop {
            if interrupt() {
                return Ok(Stop::Interrupted);
            }
            if self.terms.len() > MOST_TERMS {
                self.too_much = true;
                return Ok(Stop::Interrupted);
            }
            if self.is_enough() {
                self.explored.more_differ = true;
                return Ok(Stop::Interrupted);
            }
            if let Some(input) = self.waiting.pop_front() {
                match self.look(followed, input.clone(), interrupt, tell) {
                    Ok(true) => keep(Known::Path(self.values(&input))),
                    Ok(false) => return Ok(Stop::Mixed),
                    Err(EncodeError::Interrupted) => {
                        self.waiting.push_front(input);
                        return Ok(Stop::Interrupted);
                    }
                    Err(other) => return Err(other),
                }
                continue;
            }
            let Some(node) = self.next() else {
                if self.hard.is_empty() || self.extent.conflicts.is_some() {
                    return Ok(Stop::All);
                }
                // What was too hard is asked again, with more effort.
                self.effort = self.effort.saturating_mul(4);
                for node in std::mem::take(&mut self.hard) {
                    self.push(node);
                }
                continue;
            };
            self.turn(node, interrupt);
        }
    }

    /// As many partitions of each kind that differ as were asked for are known.
    fn is_enough(&self) -> bool {
        let mut counts: FxHashMap<Kind, usize> = FxHashMap::default();
        for one in &self.explored.partitions {
            *counts.entry(one.kind).or_default() += 1;
        }
        let mut differing = counts.iter().filter(|(kind, _)| kind.differs());
        differing.any(|(_, &count)| count >= self.extent.different)
    }

    /// The decision that is turned around next.
    fn next(&mut self) -> Option<NodeId> {
        while let Some(Reverse((cost, order, node))) = self.queue.pop() {
            // Since it was put there, others of its place may have been asked for.
            let now = self.cost(node, order);
            match now > cost {
                true => self.queue.push(Reverse((now, order, node))),
                false => return Some(node),
            }
        }
        None
    }

    fn push(&mut self, node: NodeId) {
        self.order += 1;
        let cost = self.cost(node, self.order);
        self.queue.push(Reverse((cost, self.order, node)));
    }

    fn cost(&self, node: NodeId, order: usize) -> u64 {
        let distance = u64::from(self.tree.distance(node).min(1024));
        match self.turning {
            Turning::Any => order as u64,
            Turning::Changed => {
                let far = self.tree.distance(node) == u32::MAX;
                order as u64 + if far { 1 << 40 } else { 0 }
            }
            Turning::Nearest => {
                let asked = self.asked.get(self.tree.place(node)).copied();
                let depth = u64::from(self.tree.depth(node)) / 8;
                asked.unwrap_or(0) * PER_QUESTION + distance + depth
            }
        }
    }

    /// Asks for an input that takes none of the known ways from a node.
    fn turn(&mut self, node: NodeId, interrupt: &dyn Fn() -> bool) {
        if let Some(asked) = self.asked.get_mut(self.tree.place(node)) {
            *asked += 1;
        }
        let budget = Budget {
            conflicts: Some(self.extent.conflicts.unwrap_or(self.effort)),
            interrupt: Some(interrupt),
        };
        let (terms, domain) = (&mut self.terms, &self.domain);
        match self.turner.turn(terms, &self.tree, node, domain, &budget) {
            Turned::Input(input) => {
                self.waiting.push_back(input);
                // It may have other ways still.
                self.push(node);
            }
            Turned::Nothing => {}
            Turned::Unknown if interrupt() => self.push(node),
            Turned::Unknown => self.hard.push(node),
        }
    }

    /// Looks at an input. `false` if arguments have to be followed by their bytes.
    fn look(
        &mut self,
        followed: &mut Followed<'_>,
        input: Assignment,
        interrupt: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(&Partition),
    ) -> Result<bool, EncodeError> {
        let old = (followed.follow)(&mut self.terms, Side::Old, &input)?;
        let new = (followed.follow)(&mut self.terms, Side::New, &input)?;
        let mut ends = old.unwinding.iter().chain(&new.unwinding);
        self.cut_off |= ends.any(|end| end.kind == UnwindingKind::Instructions);
        self.notice(&old, &new, followed.input);
        let path = self.decisions(&old, &new, followed.changed);
        let pair = followed.pair(&mut self.terms, [old, new]);
        let inputs = &self.inputs;
        if self.arguments.mix(&self.terms, &pair.roots(), inputs) {
            return Ok(false);
        }
        for note in pair.notes() {
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
        let put = self.tree.put(&path, input.clone());
        if !put.is_new {
            self.astray += 1;
            return Ok(true);
        }
        for node in put.changed {
            self.push(node);
        }
        self.explored.made += 1;
        let before = self.explored.partitions.len();
        let leaf = self.judge(&pair, followed.is_program, &input, interrupt, tell);
        let made = &self.explored.partitions[before..];
        let differing = made
            .iter()
            .find(|one| one.kind.differs() && !one.is_undetermined);
        let model = differing.map_or(&input, |one| &one.model);
        if leaf != Leaf::Void {
            let differs = differing.is_some();
            let file = followed.changed[1].0;
            self.exercised
                .look(&self.terms, &pair, file, model, differs);
        }
        match leaf {
            Leaf::Open => self.open += 1,
            Leaf::Known => {
                self.counted += 1;
                let ends = self.terms.evaluate(pair.finishes, model).truth();
                self.finishing += usize::from(ends);
            }
            Leaf::Void => {}
        }
        self.tree.settle(put.leaf, leaf);
        Ok(true)
    }

    /// The names and bits of an input.
    fn values(&self, input: &Assignment) -> Vec<(String, u32, u128)> {
        let mut all = Vec::new();
        for one in &self.inputs {
            let width = match self.terms.sort(one.term) {
                Sort::Bool => 0,
                Sort::Bits(width) => width,
                Sort::Array { .. } => continue,
            };
            let bits = input.get(&self.terms, one.term).bits();
            if let (Some(name), true) = (self.terms.name(one.term), bits != 0) {
                all.push((name.to_owned(), width, bits));
            }
        }
        all
    }

    /// Variables that were not seen before.
    fn notice(&mut self, old: &Encoding, new: &Encoding, longest: u32) {
        for input in old.inputs.iter().chain(&new.inputs) {
            if self.inputs.iter().any(|one| one.term == input.term) {
                continue;
            }
            if input.kind == InputKind::Length {
                let most = self.terms.constant(32, u128::from(longest));
                let fits = self.terms.ule(input.term, most);
                self.domain.push(fits);
                self.longest = longest;
            }
            self.inputs.push(input.clone());
        }
        for &bound in old.bounds.iter().chain(&new.bounds) {
            if !self.domain.contains(&bound) {
                self.domain.push(bound);
            }
        }
    }

    /// What both versions decided, OLD first; what NEW decides in the same way as OLD is said once.
    fn decisions(
        &mut self,
        old: &Encoding,
        new: &Encoding,
        changed: [(&str, &[u32]); 2],
    ) -> Vec<Decision> {
        let mut distances: [FxHashMap<Term, u32>; 2] = Default::default();
        for (side, encoding) in [old, new].into_iter().enumerate() {
            let (file, lines) = changed[side];
            // How many turns were taken when a changed line was executed.
            let mut met: Vec<usize> = Vec::new();
            let mut turns = encoding.turns.iter().peekable();
            let mut taken = 0;
            for (at, step) in encoding.steps.iter().enumerate() {
                while turns.next_if(|turn| turn.steps <= at).is_some() {
                    taken += 1;
                }
                let place = &step.place;
                if lines.contains(&place.line) && place.file == file && met.last() != Some(&taken) {
                    met.push(taken);
                }
            }
            for (at, turn) in encoding.turns.iter().enumerate() {
                let after = met.partition_point(|&other| other < at);
                let near = [after.checked_sub(1), Some(after)].into_iter().flatten();
                let near = near.filter_map(|index| met.get(index));
                let distance = near.map(|other| other.abs_diff(at) as u32).min();
                let own = lines.contains(&turn.place.line) && turn.place.file == file;
                let distance = match own {
                    true => 0,
                    false => distance.unwrap_or(u32::MAX),
                };
                distances[side].insert(turn.condition, distance);
            }
        }
        let mut path = Vec::new();
        let mut known = FxHashSet::default();
        for (side, encoding) in Side::BOTH.into_iter().zip([old, new]) {
            for turn in &encoding.turns {
                if !known.insert(turn.condition) {
                    continue;
                }
                let [a, b] = [0, 1].map(|side| distances[side].get(&turn.condition).copied());
                let (distance, alone) = match (a, b) {
                    (Some(a), Some(b)) => (a.min(b), None),
                    _ => (0, Some(side)),
                };
                let place = (alone, turn.place.file.clone(), turn.place.line);
                let next = self.places.len();
                let place = *self.places.entry(place).or_insert(next);
                if place == self.asked.len() {
                    self.asked.push(0);
                }
                path.push(Decision {
                    condition: turn.condition,
                    place,
                    distance,
                });
            }
        }
        path
    }

    /// What is known of the inputs of a pair of paths.
    fn judge(
        &mut self,
        pair: &Pair,
        is_program: bool,
        input: &Assignment,
        interrupt: &dyn Fn() -> bool,
        tell: &mut dyn FnMut(&Partition),
    ) -> Leaf {
        if self.terms.as_truth(pair.domain) == Some(false) {
            return Leaf::Void;
        }
        for text in &pair.not_compared {
            self.reason(Reason {
                text: text.clone(),
                place: None,
                is_bound: false,
            });
        }
        // Along an input what is not known is so for the whole path.
        if let Some(limit) = pair.limits.first() {
            let reason = Reason {
                text: limit.reason.clone(),
                place: limit.place.clone(),
                is_bound: false,
            };
            self.reason(reason);
            return Leaf::Open;
        }
        if self.terms.as_truth(pair.different) == Some(false) {
            if self.equal.len() < self.extent.equal {
                self.equal.push(input.clone());
            }
            return Leaf::Known;
        }
        let mut explorer = Explorer::new(&mut self.terms, pair, is_program, self.extent, interrupt);
        explorer.is_one_path = true;
        let made = self.explored.made;
        let is_all = explorer.one_path(input, &mut self.explored, tell);
        let calls = explorer.calls();
        self.explored.calls += calls;
        self.explored.made = made;
        if is_all {
            return Leaf::Known;
        }
        self.undecided += 1;
        Leaf::Open
    }

    fn reason(&mut self, reason: Reason) {
        if !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// Returns the result. It makes partitions of equal paths, as many as are wanted and there is
    /// time for.
    ///
    /// # Errors
    /// Those of following a version, interruption aside.
    pub fn finish(
        mut self,
        followed: &mut Followed<'_>,
        interrupt: &dyn Fn() -> bool,
    ) -> Result<Found, EncodeError> {
        let open = self.open;
        let is_all = self.waiting.is_empty()
            && self.queue.is_empty()
            && self.hard.is_empty()
            && self.astray == 0
            && !self.too_much;
        let share = self.share(is_all && self.open == 0);
        for input in std::mem::take(&mut self.equal) {
            if interrupt() {
                break;
            }
            let both = Side::BOTH.map(|side| (followed.follow)(&mut self.terms, side, &input));
            let [old, new] = match both {
                [Ok(old), Ok(new)] => [old, new],
                [Err(EncodeError::Interrupted), _] | [_, Err(EncodeError::Interrupted)] => break,
                [Err(other), _] | [_, Err(other)] => return Err(other),
            };
            let pair = followed.pair(&mut self.terms, [old, new]);
            let is_program = followed.is_program;
            let mut explorer =
                Explorer::new(&mut self.terms, &pair, is_program, self.extent, interrupt);
            explorer.is_one_path = true;
            explorer.one_by_one = true;
            let partition = explorer.partition(Kind::Equal, input);
            let calls = explorer.calls();
            self.explored.partitions.push(partition);
            self.explored.calls += calls;
        }
        let explored = &mut self.explored;
        explored.partitions.sort_by_key(|partition| partition.kind);
        explored.statistics = self.turner.statistics();
        explored.calls += explored.statistics.calls;
        let is_decided = is_all && self.undecided == 0;
        explored.differences_complete = is_decided && !explored.more_differ;
        explored.covered = is_all && self.open == 0 && explored.made == explored.partitions.len();
        if self.too_much {
            self.reasons.push(Reason {
                text: "the terms of all paths that were looked at need too much memory".to_owned(),
                place: None,
                is_bound: false,
            });
        }
        let mut differing = self.explored.partitions.iter();
        let undetermined = differing.any(|one| one.is_undetermined);
        let verdict = if self.differs() {
            Verdict::Different
        } else if !is_decided {
            Verdict::Unfinished
        } else if undetermined || self.open > 0 || !self.reasons.is_empty() {
            Verdict::Unknown
        } else if self.counted == 0 {
            Verdict::Void
        } else if self.finishing == 0 {
            Verdict::NoneEnds
        } else {
            Verdict::Equal
        };
        Ok(Found {
            explored: self.explored,
            reasons: self.reasons,
            notes: self.notes,
            verdict,
            share,
            sequences: self.exercised.finish(is_all && open == 0),
            terms: self.terms,
        })
    }

    /// The share of the inputs whose path is known, by random inputs.
    fn share(&self, is_all: bool) -> Share {
        if is_all {
            return Share::Exact(1.0);
        }
        let size = self.tree.size(&self.terms).max(1);
        let count = (MOST_VALUES / size).min(SAMPLES);
        let scalars = self.inputs.iter();
        let scalars =
            scalars.filter(|one| !matches!(self.terms.sort(one.term), Sort::Array { .. }));
        let variables: Vec<&Input> = scalars.collect();
        let mut random = Random::new(1);
        let mut value = |one: &&Input| {
            let bits = random.wide();
            match (self.terms.sort(one.term), &one.kind) {
                (Sort::Bits(_), InputKind::Length) => (bits >> 64) % (u128::from(self.longest) + 1),
                (Sort::Bits(width), _) => bits >> (128 - width),
                _ => bits >> 64 & 1,
            }
        };
        let inputs = (0..count).map(|_| variables.iter().map(&mut value).collect());
        let inputs: Vec<Vec<u128>> = inputs.collect();
        let variables: Vec<Term> = variables.iter().map(|one| one.term).collect();
        let (mut tried, mut inside) = (0, 0);
        let begin = Instant::now();
        // Not too many at once: all terms have a value for each. Where they take long, fewer are looked at.
        for some in inputs.chunks((AT_ONCE / size).max(1)) {
            for found in self.known(&variables, some) {
                if found != Some(Leaf::Void) {
                    tried += 1;
                    inside += u32::from(found == Some(Leaf::Known));
                }
            }
            if begin.elapsed() >= LONGEST_SHARE {
                break;
            }
        }
        wilson(inside, tried)
    }
    /// What is known of each input; nothing where its path was not seen. All are values of the `variables`.
    fn known(&self, variables: &[Term], inputs: &[Vec<u128>]) -> Vec<Option<Leaf>> {
        let conditions = self.tree.all_conditions();
        let columns = Columns::new(&self.terms, &conditions, variables).evaluate(inputs);
        let place: FxHashMap<Term, usize> = conditions
            .iter()
            .enumerate()
            .map(|(at, &condition)| (condition, at))
            .collect();
        let of = |input: usize| self.tree.known(|one| columns[place[&one]][input] != 0);
        (0..inputs.len()).map(of).collect()
    }
}
