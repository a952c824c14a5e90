//! Decides about one patched program by itself: with the whole bound, and beyond it if the original
//! program ends.

use std::collections::BTreeMap;

use patchwright_ir::Program;
use patchwright_solve::{Answer, Backend, Budget, Solver, Term, Terms};
use patchwright_symbolic::{Encoding, Entry, Made, Options, encode};

use crate::{
    mutation::Change,
    question::{Decider, Judged, Open, Standing},
    spec::{Spec, spec},
};

/// Encodes and decides patched programs, one at a time.
///
/// A patch is right *within the bound* if this holds for every input for which the untouched program stays within the bound: the
/// patched program does not fail, and stays within twice the bound. So a repair may need more rounds than the untouched program.
pub struct OneByOne<'a> {
    /// The program with all choices.
    pub program: &'a Program,
    /// Where it begins.
    pub entry: &'a Entry,
    /// The reference that it is compared with, and where that begins.
    pub reference: Option<(&'a Program, &'a Entry)>,
    /// How the program is encoded, with the whole bound.
    pub options: &'a Options,
    /// The cost of each question to the solver.
    pub budget: Budget<'a>,
    /// What is known of the program as it is.
    known: Option<Before>,
    /// The reference's encodings by their bounds.
    references: BTreeMap<u32, Encoding>,
    /// Instructions that were encoded.
    instructions: u64,
    /// Conflicts of all questions.
    conflicts: u64,
}

/// Conflicts of a question at most.
const EFFORT: u64 = 5_000;

/// Conflicts of all questions at most; then nothing is decided any more.
const EFFORT_TOGETHER: u64 = 50_000;

/// What the program as it is does within the bound, as conditions on inputs.
#[derive(Clone, Copy)]
struct Before {
    /// It ends within the bound.
    within: Term,
    /// It never ends, in a loop that does nothing.
    endless: Term,
    /// Some execution gets to what shall hold.
    concerned: bool,
}

impl<'a> OneByOne<'a> {
    /// Prepares decisions. Nothing is encoded yet.
    pub fn new(
        (program, entry): (&'a Program, &'a Entry),
        reference: Option<(&'a Program, &'a Entry)>,
        options: &'a Options,
        budget: Budget<'a>,
    ) -> OneByOne<'a> {
        OneByOne {
            program,
            entry,
            reference,
            options,
            budget,
            known: None,
            references: BTreeMap::new(),
            instructions: 0,
            conflicts: 0,
        }
    }

    /// Returns the number of encoded instructions.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// The program with these choices made, and what it shall do.
    fn spec(
        &mut self,
        terms: &mut Terms,
        made: Made,
        prefix: &str,
        bound: u32,
    ) -> Result<Spec, Open> {
        let options = Options {
            bound,
            recursion: bound,
            // A patch with which a loop never ends is wrong, not open.
            lassos: true,
            made: Some(made),
            prefix: prefix.to_owned(),
            ..self.options.clone()
        };
        let encoding = self.encoded(terms, self.program, self.entry, &options)?;
        if let Some((program, entry)) = self.reference
            && !self.references.contains_key(&bound)
        {
            let options = Options {
                prefix: "reference.".to_owned(),
                choices: BTreeMap::new(),
                decided_rounds: None,
                made: None,
                ..options
            };
            let encoding = self.encoded(terms, program, entry, &options)?;
            self.references.insert(bound, encoding);
        }
        let reference = self.reference.and_then(|_| self.references.get(&bound));
        let spec = spec(terms, &encoding, reference);
        let both: Vec<&Encoding> = std::iter::once(&encoding).chain(reference).collect();
        if self.options.argument_numbers
            && crate::arguments::mixes_arguments(terms, &spec.roots(), &both)
        {
            let reason = "it looks at an argument's bytes, which is taken as a number elsewhere";
            return Err(Open::NotEncoded(reason.to_owned()));
        }
        Ok(spec)
    }

    fn encoded(
        &mut self,
        terms: &mut Terms,
        program: &Program,
        entry: &Entry,
        options: &Options,
    ) -> Result<Encoding, Open> {
        let budget = self.budget;
        let interrupt = || budget.interrupt.is_some_and(|interrupt| interrupt());
        let encoding = encode(program, entry, options, terms, &interrupt);
        let encoding = encoding.map_err(|error| Open::NotEncoded(error.to_string()))?;
        self.instructions += encoding.counts.instructions;
        Ok(encoding)
    }

    /// What the program as it is does.
    fn before(&mut self, terms: &mut Terms) -> Result<Before, Open> {
        if let Some(known) = self.known {
            return Ok(known);
        }
        let bound = self.options.bound;
        let spec = self.spec(terms, Made::default(), "original.", bound)?;
        let concerned = self.may(terms, spec.concerned);
        let known = Before {
            within: terms.not(spec.unwinding),
            endless: spec.endless,
            concerned: concerned != Some(false),
        };
        self.known = Some(known);
        Ok(known)
    }

    /// Whether a condition holds for some input, as far as that is found out.
    fn may(&mut self, terms: &Terms, condition: Term) -> Option<bool> {
        let left = EFFORT_TOGETHER.saturating_sub(self.conflicts).min(EFFORT);
        let budget = Budget {
            conflicts: Some(self.budget.conflicts.unwrap_or(left).min(left)),
            ..self.budget
        };
        let mut solver = Solver::new(Backend::default());
        let answer = solver.check(terms, &[condition], &budget);
        self.conflicts += solver.statistics().conflicts;
        match answer {
            Answer::Satisfiable => Some(true),
            Answer::Unsatisfiable => Some(false),
            Answer::Unknown => None,
        }
    }

    /// Asks whether the patched program fails for inputs that satisfy a condition. `None` if it neither fails nor reaches anything unknown.
    fn wrong(
        &mut self,
        terms: &mut Terms,
        spec: &Spec,
        before: Before,
        here: Term,
    ) -> Option<Judged> {
        let clearly = spec.fails_clearly(terms);
        let ended = terms.not(before.endless);
        let never_ends = terms.and(spec.endless, ended);
        for wrong in [clearly, never_ends] {
            let wrong = terms.and(here, wrong);
            match self.may(terms, wrong) {
                Some(true) => return Some(Judged::Wrong),
                Some(false) => {}
                None => return Some(Judged::Open(Open::Effort)),
            }
        }
        for (condition, reason, _) in &spec.reasons {
            let unknown = terms.and(here, *condition);
            match self.may(terms, unknown) {
                Some(true) => return Some(Judged::Open(Open::NotEncoded(reason.clone()))),
                Some(false) => {}
                None => return Some(Judged::Open(Open::Effort)),
            }
        }
        None
    }

    fn judged(
        &mut self,
        terms: &mut Terms,
        changes: &[Change],
        constants: &BTreeMap<u32, i64>,
    ) -> Result<Judged, Open> {
        let made = Made {
            choices: changes.iter().copied().collect(),
            constants: constants.clone(),
        };
        let bound = self.options.bound;
        let before = self.before(terms)?;
        let all = terms.truth(true);
        let mut spec = self.spec(terms, made.clone(), "patched.", bound)?;
        if let Some(judged) = self.wrong(terms, &spec, before, all) {
            return Ok(judged);
        }
        let standing = match self.may(terms, spec.unwinding).ok_or(Open::Effort)? {
            false => Standing::AllInputs,
            true => Standing::WithinBound,
        };
        let newly = terms.and(spec.unwinding, before.within);
        if standing == Standing::WithinBound && self.may(terms, newly) != Some(false) {
            let further = bound.saturating_mul(2);
            spec = self.spec(terms, made, "patched.", further)?;
            if let Some(judged) = self.wrong(terms, &spec, before, before.within) {
                return Ok(judged);
            }
            let newly = terms.and(spec.unwinding, before.within);
            match self.may(terms, newly) {
                Some(false) => {}
                Some(true) => return Err(Open::Beyond(further)),
                None => return Err(Open::Effort),
            }
        }
        let void = before.concerned && !self.may(terms, spec.fulfilled).ok_or(Open::Effort)?;
        Ok(Judged::Right { standing, void })
    }
}

impl Decider for OneByOne<'_> {
    fn decide(
        &mut self,
        terms: &mut Terms,
        changes: &[Change],
        constants: &BTreeMap<u32, i64>,
    ) -> Judged {
        self.judged(terms, changes, constants)
            .unwrap_or_else(Judged::Open)
    }
}
