//! Shows that loops end: by numbers that get less with each round.
//!
//! Compared as unsigned numbers, nothing gets less for ever, whatever it wraps around. The rounds of nested loops make
//! circles through several heads. A measure that grows in no part of a circle ends those parts in which it gets less.
//! Other measures are sought for what is left.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_ir::Type;
use patchwright_solve::{Answer, Solver, Term};
use rustc_hash::FxHashMap;

use super::{LITTLE, NotProved, Proof, Proved};

/// Constants that measures begin or end at.
const MOST_ENDS: usize = 24;

/// A segment that begins with a round.
struct Round {
    from: usize,
    to: usize,
    /// An execution gets to its end.
    here: Term,
    /// Variables at its beginning, by their names where they are kept.
    before: BTreeMap<String, Term>,
    /// What they are at its end.
    after: BTreeMap<String, Term>,
    /// It knows what holds at its beginning.
    solver: usize,
}

/// What may get less.
#[derive(Clone, Copy)]
enum Measure<'a> {
    /// A variable less a number.
    From(&'a str, i64),
    /// A number less a variable.
    To(i64, &'a str),
    /// A variable less another one, and more by a number.
    Between(&'a str, &'a str, i64),
    /// A sum.
    Sum(&'a str, &'a str),
}

impl Proof<'_> {
    /// Succeeds if each loop ends.
    pub(super) fn all_end(&mut self) -> Proved<()> {
        let mut solvers = Vec::new();
        let mut rounds = self.rounds(&mut solvers)?;
        loop {
            keep_circles(&mut rounds);
            let Some(first) = rounds.first() else {
                return Ok(());
            };
            let reach = reachable(&rounds, first.from);
            let circle: Vec<usize> = (0..rounds.len())
                .filter(|&at| {
                    reach.contains(&rounds[at].from)
                        && reachable(&rounds, rounds[at].to).contains(&first.from)
                })
                .collect();
            let ended = self.ended(&rounds, &circle, &mut solvers)?;
            let mut at = 0;
            rounds.retain(|_| {
                at += 1;
                !ended.contains(&(at - 1))
            });
        }
    }

    fn rounds(&mut self, solvers: &mut Vec<Solver>) -> Proved<Vec<Round>> {
        let heads: Vec<usize> = self.steps.keys().copied().flatten().collect();
        let mut rounds = Vec::new();
        for from in heads {
            let mut seen = self.seen(Some(from))?;
            let arrived = self.arrived(&mut seen)?;
            let numbers = self.steps[&Some(from)].given.iter();
            let numbers = numbers.filter(|(_, one)| one.ty.is_integer() && one.ty != Type::Bool);
            let numbers: Vec<(String, Term)> = numbers
                .map(|(term, one)| (one.kept.clone(), *term))
                .collect();
            let variables: Vec<Term> = numbers.iter().map(|one| one.1).collect();
            let values = self.terms.substitute_all(&variables, &seen.is);
            let names = numbers.iter().map(|one| one.0.clone());
            let before: BTreeMap<String, Term> = names.zip(values).collect();
            for (to, here) in arrived {
                let taken: FxHashMap<Term, Term> = self.taken(here);
                let names: Vec<String> = seen.kept.keys().cloned().collect();
                let values: Vec<Term> = names.iter().map(|name| seen.kept[name]).collect();
                let values = self.terms.substitute_all(&values, &taken);
                rounds.push(Round {
                    from,
                    to,
                    here,
                    before: before.clone(),
                    after: names.into_iter().zip(values).collect(),
                    solver: solvers.len(),
                });
            }
            solvers.push(seen.solver);
        }
        Ok(rounds)
    }

    /// Those parts of a circle that some measure ends.
    fn ended(
        &mut self,
        rounds: &[Round],
        circle: &[usize],
        solvers: &mut [Solver],
    ) -> Proved<BTreeSet<usize>> {
        let is_known = |name: &&String| {
            circle.iter().all(|&at| {
                rounds[at].before.contains_key(*name) && rounds[at].after.contains_key(*name)
            })
        };
        let Some(&first) = circle.first() else {
            return Err(NotProved);
        };
        let names: Vec<&str> = rounds[first]
            .before
            .keys()
            .filter(is_known)
            .map(String::as_str)
            .collect();
        let mut ends = self.constants.clone();
        ends.sort_by_key(|one| one.unsigned_abs());
        ends.truncate(MOST_ENDS);
        let mut measures: Vec<Measure<'_>> =
            names.iter().map(|one| Measure::From(one, 0)).collect();
        for (at, &a) in names.iter().enumerate() {
            let others = names.iter().filter(|&&b| a != b);
            measures.extend(others.map(|b| Measure::Between(a, b, 0)));
            measures.extend(names[..at].iter().map(|b| Measure::Sum(a, b)));
        }
        for &a in &names {
            measures.extend(ends.iter().map(|&end| Measure::To(end, a)));
            measures.extend(ends.iter().map(|&end| Measure::From(a, end)));
            let others = names.iter().filter(|&&b| a != b);
            measures.extend(others.map(|b| Measure::Between(a, b, 1)));
        }
        for measure in measures {
            let mut ended = BTreeSet::new();
            let mut never_grows = true;
            for &at in circle {
                let round = &rounds[at];
                let (Some(before), Some(after)) = (
                    self.measured(measure, &round.before),
                    self.measured(measure, &round.after),
                ) else {
                    never_grows = false;
                    break;
                };
                let less = self.terms.ult(after, before);
                let solver = &mut solvers[round.solver];
                if self.always(solver, round.here, less)? {
                    ended.insert(at);
                    continue;
                }
                let same = self.terms.eq(after, before);
                if !self.always(solver, round.here, same)? {
                    never_grows = false;
                    break;
                }
            }
            if never_grows && !ended.is_empty() {
                return Ok(ended);
            }
        }
        Err(NotProved)
    }

    fn measured(&mut self, measure: Measure<'_>, values: &BTreeMap<String, Term>) -> Option<Term> {
        let (Measure::From(a, _)
        | Measure::To(_, a)
        | Measure::Between(a, ..)
        | Measure::Sum(a, _)) = measure;
        let a = *values.get(a)?;
        let width = self.terms.width(a);
        if let Measure::Between(_, b, _) | Measure::Sum(_, b) = measure
            && self.terms.width(*values.get(b)?) != width
        {
            return None;
        }
        Some(match measure {
            Measure::From(_, 0) => a,
            Measure::From(_, end) => {
                let end = self.constant(width, end);
                self.terms.sub(a, end)
            }
            Measure::To(end, _) => {
                let end = self.constant(width, end);
                self.terms.sub(end, a)
            }
            Measure::Between(_, b, more) => {
                let more = self.constant(width, more);
                let left = self.terms.sub(a, *values.get(b)?);
                self.terms.add(left, more)
            }
            Measure::Sum(_, b) => self.terms.add(a, *values.get(b)?),
        })
    }

    /// Whether something is seen to hold wherever an execution gets `here`.
    fn always(&mut self, solver: &mut Solver, here: Term, holds: Term) -> Proved<bool> {
        let fails = self.terms.not(holds);
        let fails = self.terms.and(here, fails);
        Ok(self.answer(solver, fails, LITTLE)? == Answer::Unsatisfiable)
    }
}

/// The heads to which some rounds lead from one of them, itself included.
fn reachable(rounds: &[Round], from: usize) -> BTreeSet<usize> {
    let mut seen = BTreeSet::from([from]);
    let mut open = vec![from];
    while let Some(head) = open.pop() {
        for round in rounds.iter().filter(|round| round.from == head) {
            if seen.insert(round.to) {
                open.push(round.to);
            }
        }
    }
    seen
}

/// Drops rounds after which nothing leads back to where they begin.
fn keep_circles(rounds: &mut Vec<Round>) {
    let circular: Vec<bool> = rounds
        .iter()
        .map(|round| reachable(rounds, round.to).contains(&round.from))
        .collect();
    let mut at = 0;
    rounds.retain(|_| {
        at += 1;
        circular[at - 1]
    });
}
