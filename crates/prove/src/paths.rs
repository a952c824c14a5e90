//! Explores the program path by path, along one input after the other, instead of all paths at once.
//!
//! Along an input nothing is merged and no loop is unwound further than the input goes, so a failure deep in a loop is found
//! where the encoding of all paths would be too large. A decision of the path is then turned around, and the solver is asked
//! for an input that decides otherwise there. When no decision is left, the paths are those of all inputs, and that none
//! fails is a proof. The choice among the decisions is by place: those about which the fewest questions were asked first, so
//! one loop does not take all the time.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, VecDeque},
};

use patchwright_solve::{Assignment, Backend, Budget, Solver, Statistics, Term, Terms};
use patchwright_symbolic::{EncodeError, Encoding, Input, InputKind, Place};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    arguments::ArgumentUses,
    spec::Spec,
    tree::{Decision, Leaf, NodeId, Tree},
    turn::{Turned, Turner},
    verdict::{Prover, Verdict},
};

/// Conflicts that a question for an input of another path may cost at first. When all remaining questions were too hard, the
/// limit becomes four times as high.
const FIRST_EFFORT: u64 = 1_000;
/// Terms that are made at most.
const MOST_TERMS: usize = 12_000_000;
/// What one more question at a place counts, in decisions before it.
const PER_QUESTION: u64 = 12;

/// A program that is followed along inputs.
pub struct Followed {
    /// The program.
    pub program: Encoding,
    /// The reference along the same input, if there is one.
    pub reference: Option<Encoding>,
    /// What shall hold.
    pub spec: Spec,
}

/// The exploration of a program, path by path.
pub struct Paths<'a> {
    /// Follows it along one.
    #[allow(clippy::type_complexity, reason = "it is one function")]
    pub follow: &'a mut dyn FnMut(&mut Terms, &Assignment) -> Result<Followed, EncodeError>,
    /// Paths at most.
    pub most: u64,
    /// Conflicts and clauses of all questions at most.
    pub work: (u64, u64),
    /// Bytes of standard input at most.
    pub longest: u32,
    /// The cost of one question at most.
    pub budget: Budget<'a>,
}

/// The result of exploring paths: a failure, a proof, or why neither was found.
pub struct PathsFound {
    /// What is known. Of a failure the path stands in `last`; where paths are left nothing is said but
    /// [`Verdict::Budget`].
    pub verdict: Verdict,
    /// The path that was followed last; none if somebody interrupted before.
    pub last: Option<Followed>,
    /// Paths that were followed.
    pub followed: u64,
    /// Those of them whose inputs the assumptions exclude.
    pub excluded: u64,
    /// Decisions of which it is not known whether they can be turned around.
    pub left: u64,
    /// An argument matters both as a number and by its bytes: whoever follows has to do so by bytes only.
    pub is_mixed: bool,
    /// What the solvers did.
    pub statistics: Statistics,
    /// What was taken for granted.
    pub notes: Vec<String>,
}

/// What is known so far.
struct Walk {
    tree: Tree,
    turner: Turner,
    waiting: VecDeque<Assignment>,
    queue: BinaryHeap<Reverse<(u64, usize, NodeId)>>,
    /// Decisions that were too hard to turn around.
    hard: Vec<NodeId>,
    order: usize,
    /// Places where something is decided, and how many questions were about them.
    places: FxHashMap<(String, String, u32), usize>,
    asked: Vec<u64>,
    /// What inputs have to satisfy: lengths within their limits.
    domain: Vec<Term>,
    inputs: Vec<Input>,
    arguments: ArgumentUses,
    cut: Vec<Place>,
    reasons: Vec<(String, Option<Place>)>,
    /// An input did not take the path that it was made for.
    astray: bool,
}

impl Walk {
    /// Nothing is known, and the input that is zero everywhere waits.
    fn new() -> Walk {
        Walk {
            tree: Tree::default(),
            turner: Turner::default(),
            waiting: VecDeque::from([Assignment::new()]),
            queue: BinaryHeap::new(),
            hard: Vec::new(),
            order: 0,
            places: FxHashMap::default(),
            asked: Vec::new(),
            domain: Vec::new(),
            inputs: Vec::new(),
            arguments: ArgumentUses::default(),
            cut: Vec::new(),
            reasons: Vec::new(),
            astray: false,
        }
    }

    fn push(&mut self, node: NodeId) {
        self.order += 1;
        let cost = self.cost(node);
        self.queue.push(Reverse((cost, self.order, node)));
    }

    fn cost(&self, node: NodeId) -> u64 {
        let (place, depth) = (self.tree.place(node), self.tree.depth(node));
        let asked = self.asked.get(place).copied().unwrap_or(0);
        asked * PER_QUESTION + u64::from(depth) / 8
    }

    /// The decision that is turned around next.
    fn next(&mut self) -> Option<NodeId> {
        while let Some(Reverse((cost, order, node))) = self.queue.pop() {
            // Since it was put there, others of its place may have been asked for.
            let now = self.cost(node);
            match now > cost {
                true => self.queue.push(Reverse((now, order, node))),
                false => return Some(node),
            }
        }
        None
    }

    fn left(&self) -> usize {
        self.waiting.len() + self.queue.len() + self.hard.len()
    }

    fn reason(&mut self, reason: String, place: Option<Place>) {
        if !self.reasons.contains(&(reason.clone(), place.clone())) {
            self.reasons.push((reason, place));
        }
    }

    /// Variables that were not seen before.
    fn notice(&mut self, terms: &mut Terms, followed: &Followed, longest: u32) {
        let reference = followed.reference.iter().flat_map(|one| &one.inputs);
        for input in followed.program.inputs.iter().chain(reference) {
            if self.inputs.iter().any(|one| one.term == input.term) {
                continue;
            }
            if input.kind == InputKind::Length {
                let most = terms.constant(32, u128::from(longest));
                let fits = terms.ule(input.term, most);
                self.domain.push(fits);
            }
            self.inputs.push(input.clone());
        }
    }

    /// What was decided, the program's first; what the reference decides in the same way is said once.
    fn decisions(&mut self, followed: &Followed) -> Vec<Decision> {
        let mut known = FxHashSet::default();
        let reference = followed.reference.iter().flat_map(|one| &one.turns);
        let mut path = Vec::new();
        for turn in followed.program.turns.iter().chain(reference) {
            if !known.insert(turn.condition) {
                continue;
            }
            let at = &turn.place;
            let place = (at.file.clone(), at.function.clone(), at.line);
            let next = self.places.len();
            let place = *self.places.entry(place).or_insert(next);
            if place == self.asked.len() {
                self.asked.push(0);
            }
            path.push(Decision {
                condition: turn.condition,
                place,
                distance: 0,
            });
        }
        path
    }
}

impl Paths<'_> {
    /// Follows paths until one fails, all paths are known, the permitted number is reached, or the
    /// user interrupts.
    ///
    /// # Errors
    /// Those of following the program, interruption aside.
    pub fn explore(self, terms: &mut Terms) -> Result<PathsFound, EncodeError> {
        let mut walk = Walk::new();
        let mut found = PathsFound {
            verdict: Verdict::Budget,
            last: None,
            followed: 0,
            excluded: 0,
            left: 0,
            is_mixed: false,
            statistics: Statistics::default(),
            notes: Vec::new(),
        };
        let mut effort = FIRST_EFFORT;
        loop {
            let is_late = self.budget.interrupt.is_some_and(|interrupt| interrupt());
            let done = found.statistics + walk.turner.statistics();
            let is_much = done.conflicts > self.work.0 || done.clauses > self.work.1;
            if is_late || is_much || found.followed >= self.most || terms.len() > MOST_TERMS {
                break;
            }
            if let Some(input) = walk.waiting.pop_front() {
                let followed = match (self.follow)(terms, &input) {
                    Ok(followed) => followed,
                    Err(EncodeError::Interrupted) => {
                        walk.waiting.push_front(input);
                        break;
                    }
                    Err(other) => return Err(other),
                };
                let fails = self.look(terms, &mut walk, &mut found, followed, input);
                if fails || found.is_mixed {
                    break;
                }
                continue;
            }
            let Some(node) = walk.next() else {
                if walk.hard.is_empty() || self.budget.conflicts.is_some_and(|most| effort >= most)
                {
                    break;
                }
                // What was too hard is asked again, with more effort.
                effort = effort.saturating_mul(4);
                for node in std::mem::take(&mut walk.hard) {
                    walk.push(node);
                }
                continue;
            };
            self.turn(terms, &mut walk, node, effort);
        }
        found.left = walk.left() as u64;
        found.statistics = found.statistics + walk.turner.statistics();
        if walk.astray {
            let reason = "an input did not take the path that it was made for";
            walk.reason(reason.to_owned(), None);
        }
        if !matches!(found.verdict, Verdict::Failed(_)) && found.left == 0 && !found.is_mixed {
            found.verdict = if !walk.reasons.is_empty() {
                Verdict::Unknown(walk.reasons)
            } else if !walk.cut.is_empty() {
                Verdict::Bounded(walk.cut)
            } else if found.excluded == found.followed {
                Verdict::Void
            } else {
                Verdict::Proved
            };
        }
        Ok(found)
    }

    fn turn(&self, terms: &mut Terms, walk: &mut Walk, node: NodeId, effort: u64) {
        let place = walk.tree.place(node);
        if let Some(asked) = walk.asked.get_mut(place) {
            *asked += 1;
        }
        let budget = Budget {
            conflicts: Some(self.budget.conflicts.unwrap_or(effort).min(effort)),
            ..self.budget
        };
        match walk
            .turner
            .turn(terms, &walk.tree, node, &walk.domain, &budget)
        {
            Turned::Input(input) => {
                walk.waiting.push_back(input);
                // It may have other ways still.
                walk.push(node);
            }
            Turned::Nothing => {}
            Turned::Unknown => walk.hard.push(node),
        }
    }

    /// Looks at the path of an input; whether it fails.
    fn look(
        &self,
        terms: &mut Terms,
        walk: &mut Walk,
        found: &mut PathsFound,
        followed: Followed,
        input: Assignment,
    ) -> bool {
        walk.notice(terms, &followed, self.longest);
        let path = walk.decisions(&followed);
        let mut roots = followed.spec.roots();
        roots.extend(path.iter().map(|one| one.condition));
        let all = &walk.inputs;
        if walk.arguments.mix(terms, &roots, all) {
            found.is_mixed = true;
            return false;
        }
        for note in &followed.program.notes {
            if !found.notes.contains(note) {
                found.notes.push(note.clone());
            }
        }
        let put = walk.tree.put(&path, input);
        if !put.is_new {
            walk.astray = true;
            return false;
        }
        for node in put.changed {
            walk.push(node);
        }
        found.followed += 1;
        let (leaf, verdict) = self.judge(terms, walk, found, &followed, &path);
        walk.tree.settle(put.leaf, leaf);
        found.last = Some(followed);
        let fails = verdict.is_some();
        if let Some(verdict) = verdict {
            found.verdict = verdict;
        }
        fails
    }

    /// What is known of the inputs of a path, and the failure of one of them.
    fn judge(
        &self,
        terms: &mut Terms,
        walk: &mut Walk,
        found: &mut PathsFound,
        followed: &Followed,
        path: &[Decision],
    ) -> (Leaf, Option<Verdict>) {
        let spec = &followed.spec;
        let mut conditions: Vec<Term> = path.iter().map(|one| one.condition).collect();
        conditions.extend(&walk.domain);
        let on_path = terms.and_all(conditions);
        let mut prover = Prover {
            terms,
            encoding: &followed.program,
            spec,
            budget: self.budget,
        };
        let mut solver = Solver::new(Backend::default());
        let failing = prover.failing_where(&mut solver, on_path);
        let mut unknown = false;
        if let Some(verdict) = failing {
            found.statistics = found.statistics + solver.statistics();
            if matches!(verdict, Verdict::Failed(_)) {
                return (Leaf::Known, Some(verdict));
            }
            let reason = "the solver did not find out whether a path fails, within the budget";
            walk.reason(reason.to_owned(), None);
            unknown = true;
        }
        for (condition, reason, place) in &spec.reasons {
            if terms.as_truth(*condition) != Some(false) {
                walk.reason(reason.clone(), place.clone());
                unknown = true;
            }
        }
        let reference = followed.reference.iter().flat_map(|one| &one.unwinding);
        for one in followed.program.unwinding.iter().chain(reference) {
            unknown = true;
            if !walk.cut.contains(&one.place) {
                walk.cut.push(one.place.clone());
            }
        }
        if terms.as_truth(spec.assumption) == Some(false) {
            found.excluded += 1;
            return (Leaf::Void, None);
        }
        match unknown {
            true => (Leaf::Open, None),
            false => (Leaf::Known, None),
        }
    }
}
