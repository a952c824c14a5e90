//! The specification of a program as one list: failures, and differences from a reference.

use patchwright_ir::Undefined;
use patchwright_solve::{Term, Terms};
use patchwright_symbolic::{
    Encoding, Failure, FailureKind, Outcome, Piece, Place, difference, reads_otherwise,
};

/// The name of the function that assumes what the user says of a function's inputs, and calls that function.
pub const ASSUMING: &str = "patchwright_assuming";

/// Takes inputs for which an assumption of the user cannot be evaluated as those for which it does not hold. Of what goes wrong
/// in the function called [`ASSUMING`] only what it hands over is left.
pub fn excuse(terms: &mut Terms, encoding: &mut Encoding) {
    let excused = excused(terms, encoding);
    if terms.as_truth(excused) == Some(false) {
        return;
    }
    let defined = terms.not(excused);
    encoding.failures.retain(|failure| !is_excused(failure));
    let failures = encoding.failures.iter_mut().map(|one| &mut one.condition);
    let unknown = encoding.unknown.iter_mut().map(|one| &mut one.condition);
    let unwinding = encoding.unwinding.iter_mut().map(|one| &mut one.condition);
    let others = encoding
        .endless
        .iter_mut()
        .chain([&mut encoding.assumption]);
    for condition in failures.chain(unknown).chain(unwinding).chain(others) {
        *condition = terms.and(*condition, defined);
    }
}

/// The condition that an assumption of the user cannot be evaluated.
fn excused(terms: &mut Terms, encoding: &Encoding) -> Term {
    let all = encoding.failures.iter().filter(|one| is_excused(one));
    terms.or_all(all.map(|failure| failure.condition))
}

fn is_excused(failure: &Failure) -> bool {
    failure.place.function == ASSUMING
        && matches!(failure.kind, FailureKind::Undefined(kind) if kind != Undefined::BadCall)
}

/// The kind of a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrongKind {
    /// A failure of the program.
    Failure(FailureKind),
    /// Another result than the reference's.
    Result,
    /// Another content of an object than the reference leaves in it.
    Object(String),
    /// Another output than the reference's.
    Output,
}

impl WrongKind {
    /// Returns the stable name of the kind for scripts.
    pub fn code(&self) -> String {
        match self {
            WrongKind::Failure(FailureKind::Assertion) => "assertion".to_owned(),
            WrongKind::Failure(FailureKind::Abort) => "abort".to_owned(),
            WrongKind::Failure(FailureKind::Leak) => "leak".to_owned(),
            WrongKind::Failure(FailureKind::Endless) => "endless".to_owned(),
            WrongKind::Failure(FailureKind::Undefined(kind)) => kind.code().to_owned(),
            WrongKind::Result => "other-result".to_owned(),
            WrongKind::Object(_) => "other-object".to_owned(),
            WrongKind::Output => "other-output".to_owned(),
        }
    }
}

/// A violation of the specification, with its condition.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// When it does.
    pub condition: Term,
    /// The kind of the violation.
    pub kind: WrongKind,
    /// In words.
    pub message: String,
    /// Where; nowhere for what differs at the end.
    pub place: Option<Place>,
}

/// The specification of a program: all that must not happen.
#[derive(Clone, Debug)]
pub struct Spec {
    /// What must not happen, in the order in which an execution meets it.
    pub wrong: Vec<Wrong>,
    /// The bound ends an execution.
    pub unwinding: Term,
    /// An execution is in a loop that does nothing and is never left.
    pub endless: Term,
    /// It is not known what happens.
    pub unknown: Term,
    /// Why, and when.
    pub reasons: Vec<(Term, String, Option<Place>)>,
    /// An execution satisfies all assumptions.
    pub assumption: Term,
    /// An execution satisfies all assumptions, ends, and gets to what shall hold.
    pub fulfilled: Term,
    /// An execution satisfies the assumptions that it meets and gets to what shall hold, whether that holds or not.
    pub concerned: Term,
    /// What can be seen of an execution.
    pub seen: Vec<(Term, Term)>,
}

/// Returns the specification of an encoded program as terms: when an execution fails, is unknown, or goes on. With `reference` a
/// different result, memory or output is a failure, too.
pub fn spec(terms: &mut Terms, program: &Encoding, reference: Option<&Encoding>) -> Spec {
    let mut own;
    let program = match program.failures.iter().any(is_excused) {
        false => program,
        true => {
            own = program.clone();
            excuse(terms, &mut own);
            &own
        }
    };
    let mut wrong: Vec<Wrong> = program
        .failures
        .iter()
        .map(|failure| Wrong {
            condition: failure.condition,
            kind: WrongKind::Failure(failure.kind),
            message: failure.message.clone(),
            place: Some(failure.place.clone()),
        })
        .collect();
    let mut reasons: Vec<(Term, String, Option<Place>)> = program
        .unknown
        .iter()
        .map(|unknown| {
            (
                unknown.condition,
                unknown.reason.clone(),
                Some(unknown.place.clone()),
            )
        })
        .collect();
    let unwinding: Vec<Term> = program.unwinding.iter().map(|one| one.condition).collect();
    let mut unwinding = terms.or_all(unwinding);
    let ends = ends(terms, &program.outcome);
    let mut fulfilled = terms.and(program.assumption, ends);
    let mut concerned = program.assumption;
    if !program.reached.is_empty() {
        let reached = terms.or_all(program.reached.iter().copied());
        fulfilled = terms.and(fulfilled, reached);
        concerned = terms.and(concerned, reached);
    }
    if let Some(reference) = reference {
        let fails: Vec<Term> = reference.failures.iter().map(|one| one.condition).collect();
        let fails = terms.or_all(fails);
        let works = terms.not(fails);
        let works = terms.and(works, reference.assumption);
        let reference_ends = self::ends(terms, &reference.outcome);
        let defined = terms.and(works, reference_ends);
        let defined = terms.and(defined, program.assumption);
        // What the reference itself does wrong is no fault of the program.
        for one in &mut wrong {
            one.condition = terms.and(one.condition, works);
        }
        let both = terms.and(defined, ends);
        fulfilled = terms.and(fulfilled, both);
        let differences = difference(terms, program, reference);
        for one in differences.found {
            let condition = terms.and(defined, one.condition);
            wrong.push(Wrong {
                condition,
                kind: match one.what.as_str() {
                    "the result" => WrongKind::Result,
                    "the output" => WrongKind::Output,
                    other => WrongKind::Object(other.to_owned()),
                },
                message: format!("{} is not that of the reference", one.what),
                place: None,
            });
        }
        if let Some(reason) = reads_otherwise(program, reference) {
            reasons.push((both, reason.to_owned(), None));
        }
        for reason in differences.unknown {
            let reason = format!("what is not compared with the reference: {reason}");
            reasons.push((both, reason, None));
        }
        let over: Vec<Term> = reference
            .unwinding
            .iter()
            .map(|one| one.condition)
            .collect();
        let over = terms.or_all(over);
        // Nobody asks what the reference does for inputs that the program's assumptions exclude.
        let over = terms.and(over, program.assumption);
        unwinding = terms.or(unwinding, over);
        for unknown in &reference.unknown {
            let condition = terms.and(unknown.condition, program.assumption);
            let reason = format!("in the reference: {}", unknown.reason);
            reasons.push((condition, reason, Some(unknown.place.clone())));
        }
    }
    let unknown: Vec<Term> = reasons.iter().map(|(condition, ..)| *condition).collect();
    let unknown = terms.or_all(unknown);
    let seen = seen(terms, program, ends);
    let endless = terms.or_all(program.endless.iter().copied());
    Spec {
        wrong,
        unwinding,
        endless,
        unknown,
        reasons,
        assumption: program.assumption,
        fulfilled,
        concerned,
        seen,
    }
}

impl Spec {
    /// Returns all terms of which the specification consists.
    pub fn roots(&self) -> Vec<Term> {
        let wrong = self.wrong.iter().map(|one| one.condition);
        let own = [
            self.unwinding,
            self.endless,
            self.unknown,
            self.fulfilled,
            self.concerned,
        ];
        let seen = self
            .seen
            .iter()
            .flat_map(|&(condition, value)| [condition, value]);
        wrong.chain(own).chain(seen).collect()
    }

    /// Leaves those violations for whose names `is_own` holds. All that happen at one place for one reason have one name, however often loops
    /// are unwound.
    pub fn keep(&mut self, is_own: &dyn Fn(&str) -> bool) {
        self.wrong.retain(|wrong| {
            let place = wrong.place.as_ref();
            let place = place.map_or(String::new(), |at| format!("{}:{}", at.function, at.line));
            is_own(&format!("{place} {} {}", wrong.kind.code(), wrong.message))
        });
    }

    /// Returns the condition that some violation happens.
    pub fn fails(&self, terms: &mut Terms) -> Term {
        terms.or_all(self.wrong.iter().map(|wrong| wrong.condition))
    }

    /// Returns the condition that a violation happens that does not depend on anything unknown.
    pub fn fails_clearly(&self, terms: &mut Terms) -> Term {
        let fails = self.fails(terms);
        let known = terms.not(self.unknown);
        terms.and(fails, known)
    }
}

fn ends(terms: &mut Terms, outcome: &Outcome) -> Term {
    match outcome.ends {
        Some(ends) => ends,
        None => terms.truth(false),
    }
}

/// What tells executions apart: results, objects, output; of a program that shows nothing at its end, the values that
/// its variables get.
fn seen(terms: &mut Terms, program: &Encoding, ends: Term) -> Vec<(Term, Term)> {
    let outcome = &program.outcome;
    let mut seen = Vec::new();
    if let Some((_, value)) = outcome.result
        && terms.as_constant(value).is_none()
    {
        seen.push((ends, value));
    }
    for (_, parts) in &outcome.objects {
        seen.extend(parts.iter().map(|&part| (ends, part)));
    }
    for one in &outcome.output {
        match one.piece {
            Piece::Text(_) => seen.push((one.condition, ends)),
            Piece::Value(_, _, value) | Piece::Byte(value) => seen.push((one.condition, value)),
        }
    }
    if seen.is_empty() {
        for step in &program.steps {
            if let Some((_, value)) = step.value {
                seen.push((step.condition, value));
            }
        }
    }
    seen.retain(|&(condition, value)| {
        terms.as_truth(condition) != Some(false)
            && !matches!(terms.sort(value), patchwright_solve::Sort::Array { .. })
    });
    seen
}
