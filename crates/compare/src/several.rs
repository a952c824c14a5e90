//! Explores more than two versions: in each partition the same versions agree (section 3.2 of the thesis,
//! for any number of versions).
//!
//! Every two versions are a [`Pair`]. Which pairs differ for an input divides the versions into groups; what decides that,
//! for this input, is the condition of a partition, as with two versions. When no input is left for which any two differ,
//! that is one proof that all of them are the same for the rest.

use patchwright_solve::{Assignment, Term, Terms};

use crate::{
    behaviour::{self, formulas},
    bounds::texts,
    coverage::Region,
    explore::Input,
    pair::{Pair, Seen, Side},
    partition::{Behaviour, Explorer, Extent, Kind, Partition, names},
    shown::Printer,
    specialise::Specialised,
};
use patchwright_prove::given;

/// A partition of the inputs of several versions, with the groups of versions that agree.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The group of each version: those with the same number do the same. The first version is in group 0.
    pub groups: Vec<usize>,
    /// The condition on the inputs, as a conjunction: in C.
    pub condition: Vec<String>,
    /// What each version does.
    pub behaviours: Vec<Behaviour>,
    /// The first version with each of the others: the same inputs.
    pub pairs: Vec<Partition>,
}

/// The result for several versions.
#[derive(Clone, Debug, Default)]
pub struct Several {
    /// Partitions in which not all versions agree.
    pub partitions: Vec<Shared>,
    /// For all other inputs they do, as far as they are encoded.
    pub complete: bool,
    /// There are others: as many were found as were asked for.
    pub more: bool,
}

/// Explores the inputs for which not all versions do the same. `pairs` are the pairs of versions in this
/// order: the first with the second, the first with the third, …, the second with the third, …
pub fn several(
    terms: &mut Terms,
    pairs: &[Pair],
    is_program: bool,
    extent: Extent,
    interrupt: &dyn Fn() -> bool,
) -> Several {
    let mut found = Several::default();
    let Some(first) = pairs.first() else {
        return found;
    };
    let count = (2..).find(|count| count * (count - 1) / 2 >= pairs.len());
    let count = count.unwrap_or(2);
    let mut explorer = Explorer::new(terms, first, is_program, extent, interrupt);
    for pair in pairs {
        explorer.also(pair, names(pair));
    }
    let any = pairs.iter().map(|pair| pair.different);
    let any = explorer.terms.or_all(any);
    loop {
        let budget = explorer.budget();
        match explorer.input(any, budget) {
            Input::Found(_) if found.partitions.len() >= extent.different => {
                found.more = true;
                return found;
            }
            Input::Found(model) => {
                let shared = explorer.shared(pairs, count, model);
                found.partitions.push(shared);
            }
            Input::None => {
                found.complete = true;
                return found;
            }
            Input::Unknown | Input::Imagined => return found,
        }
    }
}

impl<'a> Explorer<'a> {
    /// The partition of an input.
    fn shared(&mut self, pairs: &'a [Pair], count: usize, model: Assignment) -> Shared {
        let different: Vec<Term> = pairs.iter().map(|pair| pair.different).collect();
        let values = self.terms.evaluate_all(&different, &model);
        let differs: Vec<bool> = values.iter().map(|value| value.truth()).collect();
        let groups = groups(&differs, count);
        // The first version as OLD, each of the others as NEW.
        let of_version = |version: usize| match version {
            0 => (&pairs[0], Side::Old),
            other => (&pairs[other - 1], Side::New),
        };
        let mut asked = vec![Seen::Result, Seen::Output];
        for (name, _) in &pairs[0].encoding(Side::Old).outcome.objects {
            asked.push(Seen::Object(name.clone()));
        }
        let mut roots = different.clone();
        roots.extend(pairs.iter().map(|pair| pair.limited));
        let decided = roots.clone();
        for version in 0..count {
            let (pair, side) = of_version(version);
            roots.extend(behaviour::roots(pair.encoding(side), &asked));
        }
        let mut under = Specialised::new(self.terms, model.clone());
        under.prepare(&roots);
        for &root in &decided {
            under.of(root);
        }
        let known: Vec<_> = (0..count)
            .map(|version| {
                let (pair, side) = of_version(version);
                formulas(pair.encoding(side), &asked, &mut under)
            })
            .collect();
        let literals = std::mem::take(&mut under.literals);
        let mut property = self.terms.truth(true);
        for (at, &root) in decided.iter().enumerate() {
            let holds = differs.get(at).copied().unwrap_or(false);
            let as_it_is = if holds { root } else { self.terms.not(root) };
            property = self.terms.and(property, as_it_is);
        }
        for one in &known {
            property = self.terms.and(property, one.claim);
        }
        let (parts, term) = self.condition(literals, property, &model, Vec::new());
        let model = self.sample(term, model);
        let mut behaviours = Vec::new();
        for (version, known) in known.iter().enumerate() {
            let (pair, side) = of_version(version);
            self.pair = pair;
            behaviours.push(self.behaviour(side, Kind::Equal, term, &model, known));
        }
        self.pair = &pairs[0];
        let printer = Printer::new(self.terms, &self.names);
        let condition = texts(&parts, &printer);
        let is_undetermined = self.is_undetermined(term);
        let mut with_first = Vec::new();
        for (pair, group) in pairs.iter().zip(&groups[1..]) {
            let samples =
                Side::BOTH.map(|side| given(self.terms, &pair.encoding(side).inputs, &model));
            let alone = self
                .terms
                .evaluate_all(&[pair.alone[1], pair.alone[0], pair.otherwise], &model);
            let kinds = [Kind::NewFails, Kind::OldFails, Kind::FailsOtherwise];
            let kind = kinds
                .into_iter()
                .zip(alone)
                .find(|(_, value)| value.truth());
            with_first.push(Partition {
                kind: match (group, kind) {
                    (0, _) => Kind::Equal,
                    (_, Some((kind, _))) => kind,
                    _ => Kind::Different,
                },
                seen: Vec::new(),
                condition: condition.clone(),
                term,
                behaviours: [Behaviour::default(), Behaviour::default()],
                samples,
                model: model.clone(),
                is_undetermined,
                region: Region::of(self.terms, &parts),
            });
        }
        self.cover(term);
        Shared {
            groups,
            condition,
            behaviours,
            pairs: with_first,
        }
    }
}

/// Versions that do not differ are in one group. `differs` is about pairs in the order of [`several`].
fn groups(differs: &[bool], count: usize) -> Vec<usize> {
    let mut groups: Vec<usize> = Vec::new();
    let mut next = 0;
    let at = |one: usize, other: usize| one * (2 * count - one - 1) / 2 + (other - one - 1);
    for version in 0..count {
        let like = (0..version).find(|&other| !differs[at(other, version)]);
        groups.push(match like {
            Some(other) => groups[other],
            None => {
                next += 1;
                next - 1
            }
        });
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::groups;

    #[test]
    fn versions_that_do_not_differ_are_in_one_group() {
        // 1 and 3 are the same; 2 and 4 are not like any other.
        let differs = [true, false, true, true, true, true];
        assert_eq!(groups(&differs, 4), [0, 1, 0, 2]);
        assert_eq!(groups(&[false, false, false], 3), [0, 0, 0]);
    }
}
