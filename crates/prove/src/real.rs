//! Evaluates functions of `math.h` on this machine, because terms do not model them.
//!
//! A solver may take `sin(0.0)` for any number. So the true results are put into each model that it finds. If the model
//! does not break the assertion any more, the solver gets these results as assertions and is asked again.

use patchwright_interpret::real_value;
use patchwright_solve::{Assignment, Node, Symbol, Term, Terms};

/// Results that are calculated for one input at most.
const MOST: usize = 512;

/// An application of such a function.
struct Application {
    term: Term,
    function: Symbol,
    name: String,
    arguments: Vec<Term>,
}

/// The applications of such functions in some terms. An application inside the arguments of another comes
/// first.
pub struct Real {
    all: Vec<Application>,
    /// Functions of which this machine says nothing, or of which there are too many applications.
    unknown: Vec<String>,
}

impl Real {
    /// Collects the applications of uninterpreted functions within `roots`. Functions that this machine cannot evaluate, and all of
    /// them if there are too many applications, are [`Real::unknown()`].
    pub fn of(terms: &Terms, roots: &[Term]) -> Real {
        let mut all = Vec::new();
        let mut unknown = Vec::new();
        for term in terms.within(roots) {
            if let Node::Apply(function, list) = terms.node(term) {
                let arguments = terms.arguments(list).to_vec();
                let name = terms.symbol_name(function).to_owned();
                let zeros = vec![0; arguments.len()];
                match real_value(&name, &zeros) {
                    Some(_) => all.push(Application {
                        term,
                        function,
                        name,
                        arguments,
                    }),
                    None => unknown.push(name),
                }
            }
        }
        if all.len() > MOST {
            unknown.extend(all.drain(..).map(|one| one.name));
        }
        unknown.sort_unstable();
        unknown.dedup();
        Real { all, unknown }
    }

    /// Whether there is no application that this machine can evaluate.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the names of functions that this machine cannot evaluate.
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// Returns the names of functions that this machine can evaluate.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.all.iter().map(|one| one.name.clone()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns `model` with the results that the functions really have.
    pub fn truthful(&self, terms: &Terms, model: &Assignment) -> Assignment {
        let mut model = model.clone();
        for one in &self.all {
            let arguments = terms.evaluate_all(&one.arguments, &model);
            let arguments: Vec<u128> = arguments.iter().map(|value| value.bits()).collect();
            if let Some(value) = real_value(&one.name, &arguments) {
                model.set_result(one.function, arguments, value);
            }
        }
        model
    }

    /// Returns terms that state the results of the functions for their arguments in `model`, which is
    /// truthful.
    pub fn facts(&self, terms: &mut Terms, model: &Assignment) -> Vec<Term> {
        let mut facts = Vec::new();
        for one in &self.all {
            let mut asked = one.arguments.clone();
            asked.push(one.term);
            let values = terms.evaluate_all(&asked, model);
            let mut same = Vec::new();
            for (&term, value) in asked.iter().zip(&values) {
                let constant = terms.constant(terms.width(term), value.bits());
                same.push(terms.eq(term, constant));
            }
            if let Some(result) = same.pop() {
                let given = terms.and_all(same);
                facts.push(terms.implies(given, result));
            }
        }
        facts
    }
}
