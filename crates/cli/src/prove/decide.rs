//! Decides about a program: all paths at once up to a bound, by induction, and by executions.

use std::{collections::HashSet, time::Instant};

use patchwright_prove::{Counterexample, Induction, Inductive, Prover, Replay, Verdict, WrongKind};
use patchwright_report::proof::{self, Report};
use patchwright_solve::{Budget, Term, Terms};
use patchwright_symbolic::{
    Check, Encoding, Entry, FailureKind, INPUT_IS_LIMITED, InputKind, Options, SCANF_SUCCEEDS,
    UnwindingKind,
};

use super::{Asked, Job, deeper, show};
use crate::{encoded::Problem, limits};

/// The decision about a program, with its evidence.
pub struct Decided {
    pub verdict: Verdict,
    pub report: Report,
    /// The interpreter does something else than the counterexample says.
    pub bug: Option<String>,
    /// What the reference prints for its inputs.
    pub expected: Option<Vec<u8>>,
    pub options: Options,
}

/// Sizes that the program names and that are tried at most.
const MOST_SIZES: usize = 2;

/// What the limit of standard input is of.
const INPUT: &str = "bytes of standard input";

/// The functions that notes take to succeed.
pub(super) fn succeeding(notes: &[String]) -> Vec<String> {
    match notes.iter().any(|note| note == SCANF_SUCCEEDS) {
        true => vec!["scanf".to_owned()],
        false => Vec::new(),
    }
}

/// Whether more work cannot say more.
pub(super) fn is_decided(verdict: &Verdict) -> bool {
    !matches!(
        verdict,
        Verdict::Bounded(_) | Verdict::Unknown(_) | Verdict::Budget
    )
}

/// The result of executing a counterexample, and what the reference prints for its inputs.
pub type Replayed = (Replay, Option<Vec<u8>>);

impl Job<'_> {
    /// Decides about the program, and executes a counterexample. If nothing fails within the bound and the user named none, larger
    /// bounds are tried while that is little work. Work is counted, not timed, so that the answer is always the same.
    pub(super) fn decided(&mut self) -> Result<Decided, Problem> {
        let mut known = self.decided_of_trees()?;
        let holds = matches!(known.verdict, Verdict::Proved | Verdict::Bounded(_));
        if !holds || !self.program.told().links_apart {
            return Ok(known);
        }
        // Structures whose pointers lead back, or to one object: loops over them may have no end.
        let trees = self.program.link_structures();
        self.like = None;
        let conflicts = self.args.conflicts.unwrap_or(u64::MAX);
        let little = (
            Some(conflicts.min(deeper::FIRST_CONFLICTS)),
            self.instructions().min(deeper::INSTRUCTIONS),
        );
        let bound = self
            .args
            .bound
            .unwrap_or(deeper::LINKED)
            .min(deeper::LINKED);
        match self.decided_within(bound, little) {
            Ok(linked) if matches!(linked.verdict, Verdict::Failed(_)) => return Ok(linked),
            Ok(linked) if matches!(linked.verdict, Verdict::Proved) => {
                known.report.inputs = linked.report.inputs;
                known.report.assumed = linked.report.assumed;
            }
            Ok(_) | Err(Problem::Interrupted) => {}
            Err(other) => return Err(other),
        }
        self.program.part_structures(trees);
        self.like = None;
        Ok(known)
    }

    /// The same, where structures that structures lead to are their own.
    fn decided_of_trees(&mut self) -> Result<Decided, Problem> {
        let known = self.decided_for_one_number()?;
        match self.args.arguments.is_none() && self.args.paths.is_none() {
            true => self.for_other_numbers(known),
            false => Ok(known),
        }
    }

    /// What holds for some arguments need not hold for fewer: a program that looks at their number should be ready for that.
    fn for_other_numbers(&mut self, mut known: Decided) -> Result<Decided, Problem> {
        let others = self.program.other_arguments();
        if others.is_empty()
            || self.program.reference.is_some()
            || !matches!(known.verdict, Verdict::Proved)
        {
            return Ok(known);
        }
        let limits = self.little_work();
        for number in others {
            let before = self.program.entry.clone();
            let is_more = self.program.arguments().is_some_and(|own| number > own);
            if let Entry::Main { arguments, .. } = &mut self.program.entry {
                *arguments = number;
            }
            let bound = known.options.bound;
            match self.decided_within(bound, limits) {
                Ok(next) if matches!(next.verdict, Verdict::Failed(_)) => return Ok(next),
                Ok(next) if matches!(next.verdict, Verdict::Proved) => {
                    if is_more {
                        known = next;
                    } else {
                        self.program.entry = before;
                    }
                    known.report.fewer_arguments = number == 0 || is_more;
                }
                // What is known stays known.
                Ok(_) | Err(Problem::Interrupted) => {
                    self.program.entry = before;
                    break;
                }
                Err(other) => return Err(other),
            }
        }
        let gets = "the program gets ";
        for note in known
            .report
            .notes
            .iter_mut()
            .filter(|_| known.report.fewer_arguments)
        {
            if let Some(rest) = note.strip_prefix(gets) {
                *note = format!("{gets}at most {rest}");
            }
        }
        Ok(known)
    }

    /// The most conflicts of the solver, and the most instructions, that are little work.
    fn little_work(&self) -> (Option<u64>, u64) {
        let conflicts = self.args.conflicts.unwrap_or(u64::MAX);
        let most = self.instructions().min(deeper::INSTRUCTIONS);
        (Some(conflicts.min(deeper::CONFLICTS)), most)
    }

    /// Tries sizes that the program names, while that is little work. A short input may be harmless where one that is longer than an
    /// array is not.
    fn for_longer_input(&mut self, mut known: Decided) -> Result<Decided, Problem> {
        let is_usual = self.args.input == deeper::INPUT && self.args.paths.is_none();
        let limits = self.little_work();
        for size in self
            .program
            .sizes_above(self.input)
            .into_iter()
            .take(MOST_SIZES)
        {
            let is_limited = known
                .report
                .limits
                .iter()
                .any(|limit| limit.ends_with(INPUT));
            if !is_usual || !is_limited || !matches!(known.verdict, Verdict::Proved) {
                break;
            }
            let before = std::mem::replace(&mut self.input, size);
            self.like = None;
            let bound = known.options.bound.max(size + 1);
            match self.decided_within(bound, limits) {
                Ok(next) if matches!(next.verdict, Verdict::Proved | Verdict::Failed(_)) => {
                    known = next;
                }
                // What is known stays known.
                Ok(_) | Err(Problem::Interrupted) => {
                    self.input = before;
                    self.like = None;
                    break;
                }
                Err(other) => return Err(other),
            }
        }
        Ok(known)
    }

    /// What is known of a program for a short input, where the usual one takes much work: that may end without an answer.
    fn for_shorter_input(
        &mut self,
        bound: u32,
        limits: (Option<u64>, u64),
    ) -> Result<Option<Decided>, Problem> {
        let is_usual = self.args.input == deeper::INPUT && self.input == deeper::INPUT;
        if !is_usual || !matches!(self.program.entry, Entry::Main { .. }) {
            return Ok(None);
        }
        self.input = deeper::SHORT_INPUT;
        self.like = None;
        let known = self.decided_within(bound, limits);
        self.input = deeper::INPUT;
        match known {
            Ok(known) => {
                let is_held = matches!(known.verdict, Verdict::Proved | Verdict::Bounded(_));
                let is_whole = known.report.instructions.is_none();
                Ok((is_held && is_whole).then_some(known))
            }
            Err(Problem::Interrupted) => Ok(None),
            Err(other) => Err(other),
        }
    }

    fn decided_for_one_number(&mut self) -> Result<Decided, Problem> {
        let known = self.decided_for_arguments()?;
        let mut known = self.for_longer_input(known)?;
        self.look_for_endless(&mut known);
        let is_short = self.args.longest.is_none() && self.program.reference.is_none();
        if !is_short || self.args.paths.is_some() || self.program.arguments().is_none_or(|n| n == 0)
        {
            return Ok(known);
        }
        self.for_longer_arguments(known)
    }

    /// Where executions go on beyond the bound, whether some never end: that is told with an example.
    fn look_for_endless(&mut self, known: &mut Decided) {
        let is_new = !known.options.checks.contains(&Check::Termination);
        if !is_new
            || !matches!(known.verdict, Verdict::Bounded(_))
            || self.program.reference.is_some()
            || self.args.paths.is_some()
        {
            return;
        }
        self.doing("looking for loops that never end");
        let limits = self.little_work();
        let checks = self.checks.replace([Check::Termination].into());
        let found = self.decided_within(known.options.bound, limits);
        self.checks = checks;
        let Ok(found) = found else { return };
        let is_endless =
            |found: &Counterexample| found.kind == WrongKind::Failure(FailureKind::Endless);
        let Verdict::Failed(example) = &found.verdict else {
            return;
        };
        let told = found.report.counterexample.as_ref();
        if !is_endless(example) || told.is_none_or(|told| told.replay != "agrees") {
            return;
        }
        known.report.endless = found.report.counterexample;
    }

    /// What holds for short arguments need not hold for longer ones: they are tried as long as that is little work.
    fn for_longer_arguments(&mut self, mut known: Decided) -> Result<Decided, Problem> {
        let conflicts = self
            .args
            .conflicts
            .unwrap_or(u64::MAX)
            .min(deeper::CONFLICTS);
        let mut lengths = deeper::LONGEST[1..].to_vec();
        let last = deeper::LONGEST[deeper::LONGEST.len() - 1];
        lengths.extend(self.program.sizes_above(last).into_iter().take(MOST_SIZES));
        for longer in &lengths {
            let is_held = matches!(known.verdict, Verdict::Proved | Verdict::Bounded(_));
            if !is_held || known.report.induction.is_some() || !deeper::is_little(self.work) {
                break;
            }
            let before = self.program.entry.clone();
            if let Entry::Main { longest, .. } = &mut self.program.entry {
                *longest = *longer;
            }
            let most = self.instructions().min(deeper::INSTRUCTIONS);
            let bound = known.options.bound;
            match self.decided_within(bound, (Some(conflicts), most)) {
                Ok(next)
                    if next.report.instructions.is_none()
                        && match next.verdict {
                            Verdict::Proved | Verdict::Failed(_) => true,
                            // A proof for shorter arguments is worth more.
                            Verdict::Bounded(_) => matches!(known.verdict, Verdict::Bounded(_)),
                            _ => false,
                        } =>
                {
                    known = next;
                }
                // What is known stays known.
                Ok(_) | Err(Problem::Interrupted) => {
                    self.program.entry = before;
                    break;
                }
                Err(other) => return Err(other),
            }
        }
        Ok(known)
    }

    fn decided_for_arguments(&mut self) -> Result<Decided, Problem> {
        if let Some(most) = self.args.paths {
            return self.decided_by_paths(most);
        }
        let mut bound = self.args.bound.unwrap_or(deeper::FIRST);
        // What is easily decided otherwise is tried before much work.
        let most = (self.args.conflicts, self.instructions());
        let conflicts = self.args.conflicts.unwrap_or(u64::MAX);
        let little = (
            Some(conflicts.min(deeper::FIRST_CONFLICTS)),
            self.instructions().min(deeper::INSTRUCTIONS),
        );
        let mut known = self.decided_within(bound, little)?;
        if !is_decided(&known.verdict) {
            self.doing("looking for what holds in each round");
            let started = Instant::now();
            let induction = self.by_induction(&known.options);
            self.phase("induction", started);
            if let Some(Inductive { loops, notes }) = induction {
                known.verdict = Verdict::Proved;
                known.report.verdict = proof::Verdict::Proved;
                known.report.checks = None;
                known.report.beyond.clear();
                known.report.reasons.clear();
                known.report.instructions = None;
                known.report.induction = Some(loops);
                // Rounds beyond the bound meet what those within it do not.
                known.report.succeeding = succeeding(&notes);
                for note in notes {
                    if !known.report.notes.contains(&note) {
                        known.report.notes.push(note);
                    }
                }
                return Ok(known);
            }
            if let Some(found) = self.by_few_paths()? {
                return Ok(found);
            }
        }
        let is_cut =
            known.report.instructions.is_some() || matches!(known.verdict, Verdict::Unknown(_));
        let is_cut = is_cut && little.1 < most.1 && self.stats.instructions >= little.1;
        if is_cut || matches!(known.verdict, Verdict::Budget) && little.0 != most.0 {
            let short = self.for_shorter_input(bound, little)?;
            self.like = None;
            let is_answer =
                |verdict: &Verdict| is_decided(verdict) || matches!(verdict, Verdict::Bounded(_));
            known = match (self.decided_within(bound, most), short) {
                (Err(Problem::Interrupted), Some(short)) => return Ok(short),
                (Ok(known), Some(short)) if !is_answer(&known.verdict) => return Ok(short),
                (known, _) => known?,
            };
        }
        if self.args.bound.is_some() {
            return Ok(known);
        }
        loop {
            let work = self.work;
            let goes_on = matches!(known.verdict, Verdict::Bounded(_));
            if !goes_on || !deeper::is_little(work) || bound >= deeper::LAST {
                return Ok(known);
            }
            bound *= 2;
            self.like = None;
            let budget = Some(conflicts.min(deeper::CONFLICTS));
            match self.decided_within(bound, (budget, most.1)) {
                Ok(next) if matches!(next.verdict, Verdict::Budget | Verdict::Unknown(_)) => {
                    return Ok(known);
                }
                Ok(next) => known = next,
                // What is known stays known.
                Err(Problem::Interrupted) => return Ok(known),
                Err(other) => return Err(other),
            }
        }
    }

    /// How many loops are followed by a proof for any number of rounds, if there is one.
    fn by_induction(&self, options: &Options) -> Option<Inductive> {
        let program = &self.program;
        let [source] = program.sources.as_slice() else {
            return None;
        };
        if program.reference.is_some() {
            return None;
        }
        let (function, shapes) = match &program.entry {
            Entry::Function { name, parameters } => (name.as_str(), parameters.as_slice()),
            Entry::Main { .. } => ("main", [].as_slice()),
        };
        let module = patchwright_lower::lower(&source.unit, &source.path);
        let cancel = self.cancel;
        let induction = Induction {
            module: &module,
            library: &program.library,
            function,
            shapes,
            options,
            interrupt: &|| cancel.is_cancelled(),
        };
        induction.proves()
    }

    /// Decides as far as so many rounds of each loop, with so many conflicts of each question and so many instructions at
    /// most.
    fn decided_within(
        &mut self,
        bound: u32,
        (conflicts, instructions): (Option<u64>, u64),
    ) -> Result<Decided, Problem> {
        let before = (self.stats.instructions, self.stats.conflicts);
        let mut options = Options {
            instructions,
            ..self.options(bound)?
        };
        self.doing("encoding");
        let started = Instant::now();
        let Asked { encoding, spec } = self.asked(None, &mut options)?;
        self.phase("encode", started);
        if self.program.reference.is_none()
            && !self.program.has_assertion()
            && encoding.counts.checks == 0
            && encoding.unknown.is_empty()
            && encoding.unwinding.is_empty()
        {
            return Err(Problem::Input(format!(
                "there is nothing to prove about {}: it has no assertion, and nothing that --check looks for; write \
                 `assert(condition)`, `__VERIFIER_assert(condition)` or `if (…) reach_error();`, or compare it with a \
                 reference (--like)",
                self.program.name()
            )));
        }
        let cancel = self.cancel;
        let interrupt = move || cancel.is_cancelled();
        let budget = Budget {
            conflicts,
            interrupt: Some(&interrupt),
        };
        self.doing("deciding");
        if !self.tried_paths && encoding.counts.instructions >= deeper::MANY {
            if let Some(found) = self.by_few_paths()? {
                return Ok(found);
            }
            self.doing("deciding");
        }
        let started = Instant::now();
        let mut prover = Prover {
            terms: &mut self.terms,
            encoding: &encoding,
            spec: &spec,
            budget,
        };
        let (mut verdict, statistics) = prover.verdict();
        let seconds = started.elapsed().as_secs_f64();
        self.count(&statistics);
        self.took("decide", seconds);
        let (instructions, conflicts) = (self.stats.instructions, self.stats.conflicts);
        self.work = (instructions - before.0, conflicts - before.1);
        let unconfirmed = |terms: &mut Terms, found: &Counterexample| {
            let mut prover = Prover {
                terms,
                encoding: &encoding,
                spec: &spec,
                budget,
            };
            prover.unconfirmed(found)
        };
        let replayed = self.replayed(&mut verdict, &options, unconfirmed);
        let mut report = self.report(&verdict, &encoding, &options);
        report.limits = self.input_limits(&Asked { encoding, spec }, &options);
        // Repairs and faults are looked for in all of it.
        options.instructions = self.instructions();
        Ok(self.concluded(verdict, report, replayed, options))
    }

    /// How far the inputs go, where the answer depends on what lies near their end.
    fn input_limits(&self, asked: &Asked, options: &Options) -> Vec<String> {
        let within: HashSet<Term> = self.terms.within(&asked.spec.roots()).into_iter().collect();
        let inputs = asked.encoding.inputs.iter();
        let matters: Vec<&InputKind> = inputs
            .filter(|input| within.contains(&input.term))
            .map(|input| &input.kind)
            .collect();
        let mut limits = Vec::new();
        if let Entry::Main { longest, .. } = &self.program.entry
            && asked.encoding.to_their_ends
            && matters
                .iter()
                .any(|kind| matches!(kind, InputKind::ArgumentByte(..)))
        {
            limits.push(format!("{longest} bytes of each argument"));
        }
        let last = options.input.saturating_sub(1);
        if matters
            .iter()
            .any(|kind| matches!(kind, InputKind::Byte(at) if *at >= last))
        {
            limits.push(format!("{} {INPUT}", options.input));
        }
        limits
    }

    /// Returns the limits of inputs that single paths have met. `last` is the last path.
    pub(super) fn limits_of_paths(&self, last: &Encoding, notes: &[String]) -> Vec<String> {
        let mut limits = Vec::new();
        let is_number = |kind: &InputKind| matches!(kind, InputKind::ArgumentNumber(..));
        if let Entry::Main { longest, .. } = &self.program.entry
            && self.program.arguments().is_some_and(|count| count > 0)
            && !last.inputs.iter().any(|input| is_number(&input.kind))
        {
            limits.push(format!("{longest} bytes of each argument"));
        }
        if notes.iter().any(|note| note.starts_with(INPUT_IS_LIMITED)) {
            limits.push(format!("{} {INPUT}", self.input));
        }
        limits
    }

    /// Executes a counterexample, and returns what it does and what the reference prints. A counterexample that rests on something unknown
    /// and is not confirmed is dropped.
    pub(super) fn replayed(
        &mut self,
        verdict: &mut Verdict,
        options: &Options,
        unconfirmed: impl FnOnce(&mut Terms, &Counterexample) -> Verdict,
    ) -> Option<Replayed> {
        let Verdict::Failed(found) = &verdict else {
            return None;
        };
        let started = Instant::now();
        let (replay, expected) = self.program.replayed(found, &options.checks);
        self.phase("replay", started);
        if found.doubtful && replay != Replay::Agrees {
            *verdict = unconfirmed(&mut self.terms, found);
            return None;
        }
        Some((replay, expected))
    }

    /// Makes the decision of a verdict: the report, the exit status, and what a replayed counterexample shows.
    pub(super) fn concluded(
        &self,
        verdict: Verdict,
        mut report: Report,
        replayed: Option<Replayed>,
        options: Options,
    ) -> Decided {
        let mut bug = None;
        let mut expected = None;
        if let (Verdict::Failed(found), Some((replay, output))) = (&verdict, replayed) {
            if let Replay::Differs(message) = &replay {
                bug = Some(message.clone());
            }
            report.counterexample = Some(show::counterexample(&self.program, found, &replay));
            expected = output;
        }
        Decided {
            verdict,
            report,
            bug,
            expected,
            options,
        }
    }

    /// Makes the report of a verdict: assumptions, places, and reasons why something is not known.
    pub(super) fn report(
        &self,
        verdict: &Verdict,
        encoding: &Encoding,
        options: &Options,
    ) -> Report {
        let program = &self.program;
        let place = |place| show::place(program, place);
        let told = program.told();
        let mut reasons = Vec::new();
        let mut beyond = Vec::new();
        let verdict = match verdict {
            Verdict::Proved => proof::Verdict::Proved,
            Verdict::Bounded(places) => {
                beyond = places.iter().map(place).collect();
                proof::Verdict::Bounded
            }
            Verdict::Failed(_) => proof::Verdict::Failed,
            Verdict::Unknown(all) => {
                reasons = all
                    .iter()
                    .map(|(reason, at)| (reason.clone(), at.as_ref().map(place)))
                    .collect();
                proof::Verdict::Unknown
            }
            Verdict::Budget if limits::exceeded().is_some() => {
                reasons.extend(limits::exceeded().map(|why| (why.to_owned(), None)));
                proof::Verdict::Unknown
            }
            Verdict::Budget if self.cancel.is_cancelled() => proof::Verdict::Interrupted,
            Verdict::Budget => proof::Verdict::OutOfBudget,
            Verdict::Void => proof::Verdict::Void,
        };
        Report {
            schema_version: proof::SCHEMA_VERSION,
            sources: program
                .sources
                .iter()
                .map(|one| program.shown(&one.path))
                .collect(),
            entry: program.name(),
            part: self.args.sharding.shard.map(|shard| shard.to_string()),
            bound: options.bound,
            instructions: (verdict == proof::Verdict::Bounded
                && encoding
                    .unwinding
                    .iter()
                    .any(|one| one.kind == UnwindingKind::Instructions))
            .then_some(options.instructions),
            arguments: program.arguments(),
            fewer_arguments: false,
            limits: Vec::new(),
            succeeding: succeeding(&encoding.notes),
            verdict,
            checks: Some(encoding.counts.checks).filter(|_| verdict == proof::Verdict::Proved),
            stated: program.reference.is_some() || program.has_assertion(),
            induction: None,
            paths: None,
            beyond,
            reasons,
            counterexample: None,
            inputs: told.inputs,
            assumed: told.assumed,
            endless: None,
            notes: encoding
                .notes
                .iter()
                .cloned()
                .chain(program.order_taken())
                .collect(),
            must_sets: None,
            repairs: None,
            stats: None,
        }
    }
}
