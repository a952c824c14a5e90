//! Chooses the order in which inputs are explored.
//!
//! One question asks for an input that differs. It may be too hard, for instance if two nests of multiplications are equal only
//! on each path by itself. Then some inputs are explored one by one, and their partitions are excluded from the question.
//! The question is asked again with more effort, and so on.

use patchwright_solve::{Answer, Assignment, Budget, Sort, Term};

use crate::{
    guess,
    partition::{Explored, Explorer, Kind, Partition, Strategy},
};

/// Conflicts of the first question for inputs that differ; the next ones may have twice as many each.
const FIRST_EFFORT: u64 = 2_000;
/// Partitions that are made one by one after it, twice as many each time.
const FIRST_INPUTS: usize = 24;
/// Conflicts of a question for inputs that differ and take one pair of paths.
const OF_ONE_PATH: u64 = 20_000;
/// So often the solver is told what functions of `math.h` give, before it is given up that an input differs.
const MOST_REFUTED: usize = 40;

/// A result of exploration that a later exploration of the same programs can use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known {
    /// The partition of an input was made.
    Input {
        /// Its kind.
        kind: Kind,
        /// The input: names of variables, and their bits.
        values: Vec<(String, u128)>,
        /// It was made quickly, not well.
        quickly: bool,
    },
    /// There are no other inputs of that kind.
    All(Kind),
    /// Both programs were followed along an input: names of variables, their bits, and how many; none for truth values.
    Path(Vec<(String, u32, u128)>),
}

/// What came of a question for an input.
pub(crate) enum Input {
    Found(Assignment),
    None,
    /// It was too hard.
    Unknown,
    /// Only functions would differ that are not what the solver takes them for.
    Imagined,
}

/// How it ended to look for inputs of one kind.
enum End {
    All,
    Enough,
    Hard,
    Imagined,
}

impl<'a> Explorer<'a> {
    /// Explores until all inputs are covered or the user interrupts. Each partition is given to
    /// `tell` when it is known.
    pub fn run(mut self, tell: &mut dyn FnMut(&Partition)) -> Explored {
        let mut explored = Explored {
            differences_complete: true,
            ..Explored::default()
        };
        let proved = self.restore(&mut explored, tell);
        match self.extent.strategy {
            Strategy::Differences => self.differences(&proved, &mut explored, tell),
            Strategy::AllPaths => {
                let all = self.terms.truth(true);
                self.paths(all, &mut explored, tell);
            }
            Strategy::ChangedPaths(changed) => {
                self.paths(changed, &mut explored, tell);
                // Not all that changes is a step of its own: what the others do is a question, and no conclusion.
                if explored.differences_complete {
                    self.differences(&proved, &mut explored, tell);
                }
            }
        }
        let listed = explored.partitions.iter();
        let mut equal = listed.filter(|one| one.kind == Kind::Equal).count();
        while explored.differences_complete && !explored.covered && equal < self.extent.equal {
            let all = self.terms.truth(true);
            match self.input(all, self.budget()) {
                Input::Found(model) => {
                    self.add(Kind::Equal, model, &mut explored, tell);
                    equal += 1;
                }
                Input::None => explored.covered = true,
                Input::Unknown | Input::Imagined => break,
            }
        }
        // What was looked at and is not listed does not cover anything for whoever reads the list.
        explored.covered &= explored.made == explored.partitions.len();
        // What rests on more than inputs comes behind what does not.
        let order = |one: &Partition| (one.kind == Kind::Equal, one.is_undetermined, one.kind);
        explored.partitions.sort_by_key(order);
        explored.statistics = self.open.statistics();
        explored.calls = self.calls();
        explored
    }

    /// Uses the results of an earlier exploration of the same programs, and gives new ones to `log`.
    pub fn resumed(mut self, known: Vec<Known>, log: &'a mut dyn FnMut(Known)) -> Explorer<'a> {
        self.known = known;
        self.log = Some(log);
        self
    }

    /// Makes the partitions of inputs that are known, each of which is looked at anew; kinds of which all inputs are.
    fn restore(&mut self, explored: &mut Explored, tell: &mut dyn FnMut(&Partition)) -> Vec<Kind> {
        let mut proved = Vec::new();
        for known in std::mem::take(&mut self.known) {
            match known {
                Known::All(kind) => proved.push(kind),
                // Others go on with these.
                Known::Path(_) => {}
                Known::Input {
                    kind,
                    values,
                    quickly,
                } => {
                    let mut model = Assignment::new();
                    for input in self.pair.inputs() {
                        let name = self.terms.name(input.term).unwrap_or_default();
                        let value = values.iter().find(|(other, _)| other == name);
                        let (Some((_, bits)), Sort::Bits(_) | Sort::Bool) =
                            (value, self.terms.sort(input.term))
                        else {
                            continue;
                        };
                        model.set_bits(self.terms, input.term, *bits);
                    }
                    let model = self.real.truthful(self.terms, &model);
                    let is_left = self.terms.evaluate(self.left, &model).truth();
                    if !is_left || self.kind_of(&model) != kind {
                        // Other functions are not kept. What rests on this one is found again.
                        return Vec::new();
                    }
                    self.one_by_one = quickly;
                    self.add(kind, model, explored, tell);
                    self.one_by_one = false;
                }
            }
        }
        proved
    }

    fn log(&mut self, known: Known) {
        if let Some(log) = &mut self.log {
            log(known);
        }
    }

    /// Kinds of differences, and for which inputs they are.
    fn goals(&self) -> [(Kind, Term); 4] {
        [
            (Kind::NewFails, self.pair.alone[1]),
            (Kind::OldFails, self.pair.alone[0]),
            (Kind::FailsOtherwise, self.pair.otherwise),
            (Kind::Different, self.pair.ended),
        ]
    }

    /// Looks for inputs that differ.
    fn differences(
        &mut self,
        proved: &[Kind],
        explored: &mut Explored,
        tell: &mut dyn FnMut(&Partition),
    ) {
        let goals = self.goals();
        let wanted = goals.map(|goal| goal.1);
        let guessed = guess::guessed(self.terms, self.pair, &self.names, &wanted, self.interrupt);
        let mut open: Vec<(Kind, Term, Option<Assignment>)> = goals
            .into_iter()
            .zip(guessed)
            .map(|((kind, goal), guess)| (kind, goal, guess))
            .filter(|(_, goal, _)| self.terms.as_truth(*goal) != Some(false))
            .filter(|(kind, _, _)| !proved.contains(kind))
            .collect();
        let (mut effort, mut inputs) = (FIRST_EFFORT, FIRST_INPUTS);
        while !open.is_empty() {
            let mut hard = Vec::new();
            for (kind, goal, guess) in std::mem::take(&mut open) {
                match self.of_kind(kind, goal, guess, effort, explored, tell) {
                    End::All => self.log(Known::All(kind)),
                    End::Enough => {
                        explored.differences_complete = false;
                        explored.more_differ = true;
                    }
                    End::Imagined => {
                        explored.differences_complete = false;
                        explored.open_functions = self.real.names();
                    }
                    End::Hard => hard.push((kind, goal, None)),
                }
            }
            if hard.is_empty() {
                return;
            }
            if self.extent.conflicts.is_some()
                || (self.interrupt)()
                || !self.one_by_one(inputs, explored, tell)
            {
                explored.differences_complete = false;
                return;
            }
            if explored.covered {
                return;
            }
            open = hard;
            effort *= 2;
            inputs *= 2;
        }
    }

    /// Looks for inputs that differ in one way.
    fn of_kind(
        &mut self,
        kind: Kind,
        goal: Term,
        guess: Option<Assignment>,
        effort: u64,
        explored: &mut Explored,
        tell: &mut dyn FnMut(&Partition),
    ) -> End {
        // One that is known already may be covered.
        if let Some(model) = guess
            && self.terms.evaluate(self.left, &model).truth()
        {
            self.add(kind, model, explored, tell);
        }
        loop {
            let all = explored.partitions.iter();
            let found = all.filter(|partition| partition.kind == kind).count();
            let budget = Budget {
                conflicts: Some(self.extent.conflicts.unwrap_or(effort)),
                ..self.budget()
            };
            match self.input(goal, budget) {
                Input::Found(_) if found >= self.extent.different => return End::Enough,
                Input::Found(model) => self.add(kind, model, explored, tell),
                Input::None => return End::All,
                Input::Unknown => return End::Hard,
                Input::Imagined => return End::Imagined,
            }
        }
    }

    /// Looks for inputs that differ among those of one pair of paths. Returns whether all of them are known.
    pub(crate) fn one_path(
        &mut self,
        input: &Assignment,
        explored: &mut Explored,
        tell: &mut dyn FnMut(&Partition),
    ) -> bool {
        let mut is_all = true;
        let input = self.real.truthful(self.terms, input);
        for (kind, goal) in self.goals() {
            if self.terms.as_truth(goal) == Some(false) {
                continue;
            }
            let holds = self.terms.evaluate(goal, &input).truth();
            let guess = holds.then(|| input.clone());
            match self.of_kind(kind, goal, guess, OF_ONE_PATH, explored, tell) {
                End::All => {}
                End::Enough => {
                    explored.more_differ = true;
                    is_all = false;
                }
                End::Hard | End::Imagined => is_all = false,
            }
        }
        is_all
    }

    /// Looks at some inputs, whatever they do. Whether it makes sense to go on.
    fn one_by_one(
        &mut self,
        count: usize,
        explored: &mut Explored,
        tell: &mut dyn FnMut(&Partition),
    ) -> bool {
        self.one_by_one = true;
        let all = self.terms.truth(true);
        let mut goes_on = true;
        for _ in 0..count {
            match self.input(all, self.budget()) {
                Input::Found(model) => {
                    let kind = self.kind_of(&model);
                    self.add(kind, model, explored, tell);
                }
                Input::None => {
                    explored.covered = true;
                    break;
                }
                Input::Unknown | Input::Imagined => {
                    goes_on = false;
                    break;
                }
            }
        }
        self.one_by_one = false;
        goes_on
    }

    /// Looks at all inputs for which something holds, path by path.
    fn paths(&mut self, within: Term, explored: &mut Explored, tell: &mut dyn FnMut(&Partition)) {
        loop {
            match self.input(within, self.budget()) {
                Input::Found(model) => {
                    let kind = self.kind_of(&model);
                    self.add(kind, model, explored, tell);
                }
                Input::None => {
                    explored.covered = self.terms.as_truth(within) == Some(true);
                    return;
                }
                Input::Unknown | Input::Imagined => {
                    explored.differences_complete = false;
                    return;
                }
            }
        }
    }

    fn kind_of(&self, model: &Assignment) -> Kind {
        let goals = self.goals();
        let values = self.terms.evaluate_all(&goals.map(|goal| goal.1), model);
        let mut differing = goals.iter().zip(values);
        let found = differing.find(|(_, value)| value.truth());
        found.map_or(Kind::Equal, |((kind, _), _)| *kind)
    }

    /// Makes the partition of an input, which is covered from then on. It is listed if there are not too many of its kind.
    fn add(
        &mut self,
        kind: Kind,
        model: Assignment,
        explored: &mut Explored,
        tell: &mut dyn FnMut(&Partition),
    ) {
        let values = self.pair.inputs().into_iter().filter_map(|input| {
            let name = self.terms.name(input.term)?.to_owned();
            let is_plain = matches!(self.terms.sort(input.term), Sort::Bits(_) | Sort::Bool);
            is_plain.then(|| (name, self.terms.evaluate(input.term, &model).bits()))
        });
        let known = Known::Input {
            kind,
            values: values.collect(),
            quickly: self.one_by_one,
        };
        let partition = self.partition(kind, model);
        self.cover(partition.term);
        self.log(known);
        explored.made += 1;
        let all = explored.partitions.iter();
        let listed = all.filter(|one| one.kind == kind).count();
        let most = match kind {
            Kind::Equal => self.extent.equal,
            _ => self.extent.different,
        };
        if listed < most {
            tell(&partition);
            explored.partitions.push(partition);
        } else if kind.differs() {
            explored.more_differ = true;
        }
    }

    /// Finds an input that is not covered and satisfies `goal`. Functions of `math.h` have their real values.
    pub(crate) fn input(&mut self, goal: Term, budget: Budget<'_>) -> Input {
        for _ in 0..MOST_REFUTED {
            match self.open.check(self.terms, &[goal], &budget) {
                Answer::Satisfiable => {}
                Answer::Unsatisfiable => return Input::None,
                Answer::Unknown => return Input::Unknown,
            }
            let model = self.open.model().clone();
            if self.real.is_empty() {
                return Input::Found(model);
            }
            let model = self.real.truthful(self.terms, &model);
            let values = self.terms.evaluate_all(&[goal, self.left], &model);
            if values.iter().all(|value| value.truth()) {
                return Input::Found(model);
            }
            for fact in self.real.facts(self.terms, &model) {
                let budget = self.budget();
                self.open.assert_within(self.terms, fact, &budget);
            }
        }
        Input::Imagined
    }
}
