//! Decides whether a program meets its specification, and makes counterexamples.

use std::collections::HashSet;

use patchwright_ir::{Type, Undefined};
use patchwright_solve::{
    Answer, Assignment, Backend, Budget, Node, Solver, Statistics, Term, Terms,
};
use patchwright_symbolic::{Encoding, FailureKind, Input, InputKind, Place, naming::opened};

use crate::{
    real::Real,
    shortest::shortest,
    simple::simple,
    spec::{Spec, WrongKind},
    value::shown,
};

/// Whether a program meets its specification, and how far that is known.
#[derive(Clone, Debug)]
pub enum Verdict {
    /// It does what it shall, for all inputs.
    Proved,
    /// It does as far as the bound; at these places executions go on beyond it.
    Bounded(Vec<Place>),
    /// An execution does something else.
    Failed(Box<Counterexample>),
    /// It is not known, for these reasons; no execution is known that fails.
    Unknown(Vec<(String, Option<Place>)>),
    /// It is not known within the budget.
    Budget,
    /// No input satisfies the assumptions.
    Void,
}

/// The value of an input in a counterexample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    /// The name, for people.
    pub name: String,
    /// What it is.
    pub kind: InputKind,
    /// The type of the value, where it has one.
    pub ty: Option<Type>,
    /// The value.
    pub bits: u128,
    /// The execution consumes it.
    pub consumed: bool,
}

impl Given {
    /// Returns the value as text for people.
    pub fn text(&self) -> String {
        match self.ty {
            Some(ty) => shown(ty, self.bits),
            None if matches!(self.kind, InputKind::Length) => self.bits.to_string(),
            None => (if self.bits != 0 { "yes" } else { "no" }).to_owned(),
        }
    }
}

/// A step of a counterexample's execution that matters for the failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The place of the step in the source.
    pub place: Place,
    /// What gets a value; nothing for a decision.
    pub name: Option<String>,
    /// The value.
    pub value: Option<String>,
}

/// An input with the execution that violates the specification.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// What goes wrong.
    pub kind: WrongKind,
    /// In words.
    pub message: String,
    /// The place of the failure, if it has one.
    pub place: Option<Place>,
    /// The inputs, in the order in which they are consumed.
    pub inputs: Vec<Given>,
    /// What happens on the way.
    pub trace: Vec<TraceStep>,
    /// The condition of what goes wrong.
    pub condition: Term,
    /// On the way something happens that is not known: only an execution tells whether it goes wrong.
    pub doubtful: bool,
    /// The values of the variables.
    pub model: Assignment,
}

impl Counterexample {
    /// Returns the command that compiles `counterexample.c` so that it fails where the counterexample
    /// does. It has the sanitizer that notices the undefined behaviour. It is `None` if the program
    /// fails anyway, or if only a comparison with the reference shows the difference.
    pub fn compiled_by(&self) -> Option<&'static str> {
        match self.kind {
            WrongKind::Failure(FailureKind::Undefined(Undefined::UninitializedRead)) => {
                Some("clang -g -fsanitize=memory -fno-sanitize-recover=all counterexample.c")
            }
            // No sanitizer looks for these.
            WrongKind::Failure(FailureKind::Undefined(
                Undefined::BadVariadic | Undefined::BadArgument,
            )) => None,
            WrongKind::Failure(FailureKind::Undefined(_) | FailureKind::Leak) => Some(
                "cc -g -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all counterexample.c",
            ),
            WrongKind::Failure(
                FailureKind::Assertion | FailureKind::Abort | FailureKind::Endless,
            )
            | WrongKind::Result
            | WrongKind::Object(_)
            | WrongKind::Output => None,
        }
    }
}

/// Times that a solver is told what functions of `math.h` give, at most.
const MOST_TOLD: usize = 64;

/// Conflicts of each question for a simpler input at most.
const SIMPLE: u64 = 1_000;

/// A program to decide about, with its encoding and specification.
pub struct Prover<'a> {
    /// The terms of its encoding.
    pub terms: &'a mut Terms,
    /// The encoding.
    pub encoding: &'a Encoding,
    /// What it shall do.
    pub spec: &'a Spec,
    /// The cost of one question at most.
    pub budget: Budget<'a>,
}

impl Prover<'_> {
    /// Decides whether the program meets its specification.
    pub fn verdict(&mut self) -> (Verdict, Statistics) {
        let mut solver = Solver::new(Backend::default());
        let verdict = self.ask(&mut solver);
        (verdict, solver.statistics())
    }

    fn ask(&mut self, solver: &mut Solver) -> Verdict {
        let all = self.terms.truth(true);
        if let Some(verdict) = self.failing_where(solver, all) {
            return verdict;
        }
        match solver.check(self.terms, &[self.spec.unknown], &self.budget) {
            Answer::Satisfiable => return Verdict::Unknown(self.reasons(solver)),
            Answer::Unknown => return Verdict::Budget,
            Answer::Unsatisfiable => {}
        }
        match solver.check(self.terms, &[self.spec.unwinding], &self.budget) {
            Answer::Satisfiable => return Verdict::Bounded(self.beyond(solver)),
            Answer::Unknown => return Verdict::Budget,
            Answer::Unsatisfiable => {}
        }
        match solver.check(self.terms, &[self.spec.assumption], &self.budget) {
            Answer::Unsatisfiable => Verdict::Void,
            _ => Verdict::Proved,
        }
    }

    /// Returns the verdict if no execution confirms a counterexample that depends on something
    /// unknown.
    pub fn unconfirmed(&mut self, found: &Counterexample) -> Verdict {
        let mut solver = Solver::new(Backend::default());
        let mut reasons = self.reasons(&mut solver);
        let real = Real::of(self.terms, &[found.condition]);
        if !real.unknown().is_empty() {
            reasons.push((what_is_not_known(real.unknown()), None));
        }
        Verdict::Unknown(reasons)
    }

    /// Returns a failing execution among those for which a condition holds. If the solver cannot tell, the verdict says less.
    pub(crate) fn failing_where(
        &mut self,
        solver: &mut Solver,
        condition: Term,
    ) -> Option<Verdict> {
        let fails = self.spec.fails(self.terms);
        let fails = self.terms.and(condition, fails);
        if self.terms.as_truth(fails) == Some(false) {
            return None;
        }
        // First executions of which everything is known.
        let known = self.terms.not(self.spec.unknown);
        let clearly = self.terms.and(fails, known);
        if clearly != fails
            && let Some(found @ (Verdict::Failed(_) | Verdict::Budget)) =
                self.failing(solver, clearly)
        {
            return Some(found);
        }
        self.failing(solver, fails)
    }

    /// An execution in which this condition of failing holds, if there is one. What functions of `math.h` give there is what
    /// this machine calculates.
    fn failing(&mut self, solver: &mut Solver, fails: Term) -> Option<Verdict> {
        let real = Real::of(self.terms, &[fails]);
        for _ in 0..MOST_TOLD {
            match solver.check(self.terms, &[fails], &self.budget) {
                Answer::Satisfiable => {}
                Answer::Unknown => return Some(Verdict::Budget),
                Answer::Unsatisfiable => return None,
            }
            let model = solver.model().clone();
            let holds = |terms: &Terms, model: &Assignment| terms.evaluate(fails, model).truth();
            let truthful = real.truthful(self.terms, &model);
            if !real.is_empty() && !holds(self.terms, &truthful) {
                for fact in real.facts(self.terms, &truthful) {
                    solver.assert(self.terms, fact);
                }
                continue;
            }
            // One that a person can read, where that is cheap.
            let inputs: Vec<&Input> = self.encoding.inputs.iter().collect();
            let budget = Budget {
                conflicts: Some(SIMPLE.min(self.budget.conflicts.unwrap_or(SIMPLE))),
                ..self.budget
            };
            let (early, model) = shortest(
                self.terms,
                (self.spec, &self.encoding.inputs),
                solver,
                fails,
                model,
                &budget,
            );
            let simpler = simple(self.terms, &inputs, solver, (early, None), model, &budget);
            let simpler = real.truthful(self.terms, &simpler);
            let model = match holds(self.terms, &simpler) {
                true => simpler,
                false => truthful,
            };
            return Some(match self.counterexample(model) {
                Some(found) => Verdict::Failed(Box::new(found)),
                None => Verdict::Unknown(self.reasons(solver)),
            });
        }
        let names = real.names();
        Some(Verdict::Unknown(vec![(what_is_not_known(&names), None)]))
    }

    /// Why something is not known: all reasons that can hold.
    fn reasons(&mut self, solver: &mut Solver) -> Vec<(String, Option<Place>)> {
        let mut found: Vec<(String, Option<Place>)> = Vec::new();
        for (condition, reason, place) in &self.spec.reasons {
            let known = found
                .iter()
                .any(|(other, there)| other == reason && there == place);
            if !known
                && solver.check(self.terms, &[*condition], &self.budget) != Answer::Unsatisfiable
            {
                found.push((reason.clone(), place.clone()));
            }
        }
        found
    }

    /// The loops and calls that go on beyond the bound.
    fn beyond(&mut self, solver: &mut Solver) -> Vec<Place> {
        let mut found: Vec<Place> = Vec::new();
        for one in &self.encoding.unwinding {
            if !found.contains(&one.place)
                && solver.check(self.terms, &[one.condition], &self.budget) != Answer::Unsatisfiable
            {
                found.push(one.place.clone());
            }
        }
        found
    }

    /// Returns the counterexample for a model, or `None` if nothing is violated in it.
    pub fn counterexample(&self, model: Assignment) -> Option<Counterexample> {
        let conditions: Vec<Term> = self.spec.wrong.iter().map(|one| one.condition).collect();
        let values = self.terms.evaluate_all(&conditions, &model);
        let first = values.iter().position(|value| value.truth())?;
        let wrong = &self.spec.wrong[first];
        let unknown = self.terms.evaluate_all(&[self.spec.unknown], &model);
        let mut inputs = given(self.terms, &self.encoding.inputs, &model);
        // What stands in objects of other files is any value; what it was only matters where something depends on it.
        let matter = self.terms.variables_of(wrong.condition);
        for (given, input) in inputs.iter_mut().zip(&self.encoding.inputs) {
            if matches!(given.kind, InputKind::Initial(_)) && !matter.contains(&input.term) {
                given.consumed = false;
            }
        }
        let trace = self.trace(wrong.condition, &model);
        let real = Real::of(self.terms, &[wrong.condition]);
        Some(Counterexample {
            kind: wrong.kind.clone(),
            message: wrong.message.clone(),
            place: wrong.place.clone(),
            inputs,
            trace,
            condition: wrong.condition,
            doubtful: unknown[0].truth() || !real.unknown().is_empty(),
            model,
        })
    }

    /// The steps that decide that a condition holds.
    fn trace(&self, condition: Term, model: &Assignment) -> Vec<TraceStep> {
        let passed: HashSet<Term> = crate::slice::passed(self.terms, condition, model);
        let steps: Vec<_> = self
            .encoding
            .steps
            .iter()
            .filter(|step| match step.value {
                Some((_, value)) => {
                    let constant =
                        matches!(self.terms.node(value), Node::Constant(_) | Node::Truth(_));
                    constant || passed.contains(&value)
                }
                None => passed.contains(&step.condition),
            })
            .collect();
        let terms: Vec<Term> = steps
            .iter()
            .flat_map(|step| [Some(step.condition), step.value.map(|(_, value)| value)])
            .flatten()
            .collect();
        let mut values = self.terms.evaluate_all(&terms, model).into_iter();
        let mut found: Vec<TraceStep> = Vec::new();
        for step in steps {
            let holds = values.next().is_some_and(|value| value.truth());
            let value = step.value.map(|(ty, _)| {
                let bits = values.next().map_or(0, |value| value.bits());
                shown(ty, bits)
            });
            let step = TraceStep {
                place: (*step.place).clone(),
                name: step.name.as_deref().map(str::to_owned),
                value,
            };
            if holds && found.last() != Some(&step) {
                found.push(step);
            }
        }
        found
    }
}

fn what_is_not_known(functions: &[String]) -> String {
    let (open, named): (Vec<_>, Vec<_>) = functions.iter().partition(|name| opened(name).is_some());
    let mut all: Vec<String> = open
        .into_iter()
        .filter_map(|name| opened(name).map(str::to_owned))
        .collect();
    all.dedup();
    if !named.is_empty() {
        let names: Vec<String> = named.iter().map(|name| format!("`{name}`")).collect();
        all.push(format!(
            "what {} gives, of which only single values are known",
            names.join(", ")
        ));
    }
    all.join("; ")
}

/// Returns the values of `inputs` in a model.
pub fn given(terms: &Terms, inputs: &[Input], model: &Assignment) -> Vec<Given> {
    let conditions: Vec<Term> = inputs.iter().map(|input| input.condition).collect();
    let consumed = terms.evaluate_all(&conditions, model);
    inputs
        .iter()
        .zip(consumed)
        .map(|(input, consumed)| {
            let ty = input_type(&input.kind);
            Given {
                name: name_of(input).to_owned(),
                kind: input.kind.clone(),
                ty,
                bits: model.get(terms, input.term).bits(),
                consumed: consumed.truth(),
            }
        })
        .collect()
}

/// Returns the name of an input as shown to the user: the C name without the suffix of the encoding.
pub(crate) fn name_of(input: &Input) -> &str {
    let name = match input.kind {
        InputKind::Argument(_)
        | InputKind::Null
        | InputKind::Same { .. }
        | InputKind::Distance { .. }
        | InputKind::Before { .. } => input.name.split('#').next(),
        _ => None,
    };
    name.unwrap_or(&input.name)
}

/// Returns the C type of an input's value, if it has one.
pub(crate) fn input_type(kind: &InputKind) -> Option<Type> {
    match kind {
        InputKind::Argument(ty) | InputKind::Initial(ty) | InputKind::Unwritten(ty) => Some(*ty),
        InputKind::Returned { ty, .. }
        | InputKind::Outside { ty, .. }
        | InputKind::Scanned { ty, .. }
        | InputKind::ArgumentNumber(_, ty) => Some(*ty),
        InputKind::Called { ty, .. } => Some(*ty).filter(|ty| *ty != Type::Void),
        InputKind::Byte(_) | InputKind::ArgumentByte(..) | InputKind::Before { .. } => {
            Some(Type::U8)
        }
        InputKind::Distance { .. } => Some(Type::I16),
        InputKind::Null
        | InputKind::Present
        | InputKind::Unfit
        | InputKind::Length
        | InputKind::Same { .. } => None,
    }
}
