//! Evaluates terms for many inputs at once.
//!
//! What has to be evaluated, and in which order, is found out once; each term is then evaluated for a block of inputs
//! before the next one is. That costs some nanoseconds a term and input, where [`Terms::evaluate_all`] looks everything up.

use patchwright_interpret::real_value;
use patchwright_solve::{Node, Sort, Term, Terms};
use rustc_hash::FxHashMap;

/// Inputs that are evaluated together.
const BLOCK: usize = 256;

/// Something that has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Key {
    /// A term that is no array.
    Scalar(Term),
    /// The element of an array at an index.
    Element(Term, Term),
}

/// How a value is made of others, which are named by their places in the list.
enum Step {
    /// As the term says, of the values of its parts.
    Node(Term, Vec<(Term, usize)>),
    /// An input: its place among the inputs.
    Input(usize),
    /// Nothing is known, and it is zero.
    Zero,
    /// What a function of `math.h` gives for values of others; zero where this machine does not know.
    Real(String, Vec<usize>),
    /// The same as another.
    Same(usize),
    /// The second or third one, as the first one says.
    Choice([usize; 3]),
    /// The third one if the first two are the same, or else the fourth.
    Stored([usize; 4]),
}

/// Terms that are prepared to be evaluated for many inputs.
pub struct Columns<'t> {
    terms: &'t Terms,
    steps: Vec<Step>,
    roots: Vec<usize>,
}

impl<'t> Columns<'t> {
    /// Prepares `roots`, which must not be arrays, to be evaluated for many values of the variables `inputs`.
    ///
    /// Other variables and unknown functions are zero or false, as in an [`Assignment`](patchwright_solve::Assignment) without them.
    /// Functions of `math.h` have the results of this machine.
    pub fn new(terms: &'t Terms, roots: &[Term], inputs: &[Term]) -> Columns<'t> {
        let mut found: FxHashMap<Key, usize> = FxHashMap::default();
        let mut steps = Vec::new();
        let places: FxHashMap<Term, usize> = inputs
            .iter()
            .enumerate()
            .map(|(at, &term)| (term, at))
            .collect();
        for &root in roots {
            let mut open = vec![Key::Scalar(root)];
            while let Some(&key) = open.last() {
                if found.contains_key(&key) {
                    open.pop();
                    continue;
                }
                let needed = needed(terms, key);
                let before = open.len();
                open.extend(needed.iter().filter(|key| !found.contains_key(key)));
                if open.len() > before {
                    continue;
                }
                open.pop();
                let at: Vec<usize> = needed.iter().map(|key| found[key]).collect();
                found.insert(key, steps.len());
                steps.push(step(terms, key, &at, &places));
            }
        }
        let roots = roots
            .iter()
            .map(|&root| found[&Key::Scalar(root)])
            .collect();
        Columns {
            terms,
            steps,
            roots,
        }
    }

    /// Returns for each root its values for all inputs, in order. Each input gives the values of all
    /// variables. Truth values are one or zero.
    pub fn evaluate(&self, inputs: &[Vec<u128>]) -> Vec<Vec<u128>> {
        let mut found = vec![Vec::with_capacity(inputs.len()); self.roots.len()];
        let width = inputs.len().clamp(1, BLOCK);
        let mut values = vec![0; self.steps.len() * width];
        for block in inputs.chunks(width) {
            for (at, step) in self.steps.iter().enumerate() {
                let (done, rest) = values.split_at_mut(at * width);
                let own = &mut rest[..block.len()];
                self.fill(step, (done, width), block, own);
            }
            for (root, found) in self.roots.iter().zip(&mut found) {
                found.extend(&values[root * width..][..block.len()]);
            }
        }
        found
    }

    fn fill(
        &self,
        step: &Step,
        (done, width): (&[u128], usize),
        block: &[Vec<u128>],
        own: &mut [u128],
    ) {
        let of = |step: usize, input: usize| done[step * width + input];
        for (at, value) in own.iter_mut().enumerate() {
            *value = match step {
                Step::Node(term, parts) => {
                    let part = |wanted: Term| {
                        let part = parts.iter().find(|(part, _)| *part == wanted);
                        part.map_or(0, |&(_, step)| of(step, at))
                    };
                    self.terms.value_of_parts(*term, part).unwrap_or(0)
                }
                Step::Input(input) => block[at][*input],
                Step::Zero => 0,
                Step::Real(name, arguments) => {
                    let arguments: Vec<u128> = arguments.iter().map(|&one| of(one, at)).collect();
                    real_value(name, &arguments).unwrap_or(0)
                }
                Step::Same(other) => of(*other, at),
                Step::Choice([condition, then, otherwise]) => match of(*condition, at) {
                    0 => of(*otherwise, at),
                    _ => of(*then, at),
                },
                Step::Stored([here, wanted, value, rest]) => {
                    match of(*here, at) == of(*wanted, at) {
                        true => of(*value, at),
                        false => of(*rest, at),
                    }
                }
            };
        }
    }
}

/// What a value is made of.
fn needed(terms: &Terms, key: Key) -> Vec<Key> {
    match key {
        Key::Scalar(term) => match terms.node(term) {
            Node::Select(array, index) => vec![Key::Element(array, index)],
            _ => {
                let mut parts = Vec::new();
                terms.for_each_part(term, |part| {
                    if !matches!(terms.sort(part), Sort::Array { .. }) {
                        parts.push(Key::Scalar(part));
                    }
                });
                parts
            }
        },
        Key::Element(array, index) => match terms.node(array) {
            Node::Store(rest, here, value) => vec![
                Key::Scalar(here),
                Key::Scalar(index),
                Key::Scalar(value),
                Key::Element(rest, index),
            ],
            Node::Ite(condition, then, otherwise) => vec![
                Key::Scalar(condition),
                Key::Element(then, index),
                Key::Element(otherwise, index),
            ],
            Node::ArrayOf(element) => vec![Key::Scalar(element)],
            _ => Vec::new(),
        },
    }
}

fn step(terms: &Terms, key: Key, at: &[usize], inputs: &FxHashMap<Term, usize>) -> Step {
    match (key, at) {
        (Key::Scalar(term), _) => match terms.node(term) {
            Node::Variable(_) => inputs.get(&term).map_or(Step::Zero, |&at| Step::Input(at)),
            Node::Select(..) => Step::Same(at[0]),
            Node::Apply(function, _) => {
                Step::Real(terms.symbol_name(function).to_owned(), at.to_vec())
            }
            _ => {
                let mut parts = Vec::new();
                terms.for_each_part(term, |part| {
                    if !matches!(terms.sort(part), Sort::Array { .. }) {
                        parts.push(part);
                    }
                });
                Step::Node(term, parts.into_iter().zip(at.iter().copied()).collect())
            }
        },
        (_, &[here, wanted, value, rest]) => Step::Stored([here, wanted, value, rest]),
        (_, &[condition, then, otherwise]) => Step::Choice([condition, then, otherwise]),
        (_, &[element]) => Step::Same(element),
        _ => Step::Zero,
    }
}

#[cfg(test)]
mod tests {
    use patchwright_solve::{Assignment, Sort, Terms};

    use super::Columns;

    #[test]
    fn values_of_many_inputs_are_those_of_each() {
        let mut terms = Terms::new();
        let x = terms.variable("x", Sort::Bits(8));
        let y = terms.variable("y", Sort::Bits(8));
        let (seven, sum) = (terms.constant(8, 7), terms.add(x, y));
        let array = terms.variable(
            "a",
            Sort::Array {
                index: 8,
                element: 8,
            },
        );
        let stored = terms.store(array, x, seven);
        let stored = terms.store(stored, sum, y);
        let is_less = terms.ult(x, y);
        let chosen = terms.ite(is_less, stored, array);
        let read = terms.select(chosen, seven);
        let quotient = terms.udiv(read, x);
        let roots = [read, quotient, is_less];
        let inputs: Vec<Vec<u128>> = (0..1000).map(|n| vec![n * 7 % 256, n % 32]).collect();
        let found = Columns::new(&terms, &roots, &[x, y]).evaluate(&inputs);
        for (at, input) in inputs.iter().enumerate() {
            let mut assignment = Assignment::new();
            assignment.set_bits(&terms, x, input[0]);
            assignment.set_bits(&terms, y, input[1]);
            let values = terms.evaluate_all(&roots, &assignment);
            let values: Vec<u128> = values.iter().map(|value| value.bits()).collect();
            let columns: Vec<u128> = found.iter().map(|column| column[at]).collect();
            assert_eq!(columns, values, "{input:?}");
        }
    }
}
