//! Finds conditions that depend only on the choices of a meta-program, and not on inputs.

use patchwright_solve::{Node, Term, Terms};
use rustc_hash::FxHashMap;

/// What is known of terms: whether no variable but choices is in them. Each term is looked at once.
#[derive(Debug, Default)]
pub(crate) struct ChoicesAlone {
    known: FxHashMap<Term, bool>,
}

impl ChoicesAlone {
    /// Whether a term has no variables other than these choices.
    pub(crate) fn holds(
        &mut self,
        terms: &Terms,
        choices: &FxHashMap<Term, u32>,
        term: Term,
    ) -> bool {
        let mut open = vec![term];
        while let Some(&next) = open.last() {
            if self.known.contains_key(&next) {
                open.pop();
                continue;
            }
            let mut alone = match terms.node(next) {
                Node::Variable(_) => choices.contains_key(&next),
                // What a function gives that nobody knows may differ from input to input.
                Node::Apply(..) => false,
                _ => true,
            };
            let mut missing = Vec::new();
            terms.for_each_part(next, |part| match self.known.get(&part) {
                Some(known) => alone &= known,
                None => missing.push(part),
            });
            if alone && !missing.is_empty() {
                open.append(&mut missing);
                continue;
            }
            self.known.insert(next, alone);
            open.pop();
        }
        self.known[&term]
    }
}

#[cfg(test)]
mod tests {
    use patchwright_solve::Sort;

    use super::*;

    #[test]
    fn a_term_with_an_input_in_it_is_not_left_to_choices() {
        let mut terms = Terms::new();
        let choice = terms.variable("choice.1.1", Sort::Bool);
        let input = terms.variable("input.n", Sort::Bits(32));
        let choices = FxHashMap::from_iter([(choice, 1)]);
        let [two, three] = [2, 3].map(|value| terms.constant(32, value));
        let chosen = terms.ite(choice, two, three);
        let decided = terms.ult(chosen, three);
        let compared = terms.ult(chosen, input);
        let mut alone = ChoicesAlone::default();
        assert!(alone.holds(&terms, &choices, decided));
        assert!(!alone.holds(&terms, &choices, compared));
        assert!(alone.holds(&terms, &choices, chosen));
    }
}
