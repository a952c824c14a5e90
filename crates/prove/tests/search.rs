//! The search against trying everything.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_prove::{Change, Choosable, Extent, NoDecider, Question, Search};
use patchwright_solve::{Assignment, Sort, Term, Terms};
use patchwright_testkit::Random;

const WIDTH: u32 = 3;
const SITES: u32 = 4;

/// A word of two inputs of 3 bits, in which some operators and constants can be others.
fn word(terms: &mut Terms, chance: &mut Random, sites: &mut Vec<Choosable>, depth: u32) -> Term {
    if depth == 0 || chance.below(5) == 0 {
        return match chance.below(3) {
            0 => terms.variable("x", Sort::Bits(WIDTH)),
            1 => terms.variable("y", Sort::Bits(WIDTH)),
            _ => {
                let value = u128::from(chance.below(8_u64));
                let own = terms.constant(WIDTH, value);
                let others =
                    [value + 1, value.wrapping_sub(1), 0].map(|v| terms.constant(WIDTH, v & 7));
                site(terms, chance, sites, own, &others)
            }
        };
    }
    let a = word(terms, chance, sites, depth - 1);
    let b = word(terms, chance, sites, depth - 1);
    let results = [
        terms.add(a, b),
        terms.sub(a, b),
        terms.bit_and(a, b),
        terms.mul(a, b),
        terms.bit_xor(a, b),
    ];
    let first = chance.below(3) as usize;
    site(terms, chance, sites, results[first], &results[first + 1..])
}

fn site(
    terms: &mut Terms,
    chance: &mut Random,
    sites: &mut Vec<Choosable>,
    own: Term,
    others: &[Term],
) -> Term {
    if sites.len() >= SITES as usize || chance.below(3) == 0 {
        return own;
    }
    let number = sites.len() as u32 + 1;
    sites.push(Choosable {
        number,
        open: vec![None; others.len()],
    });
    let mut value = own;
    for (index, &other) in others.iter().enumerate() {
        let name = format!("choice.{number}.{}", index + 1);
        let choice = terms.variable(&name, Sort::Bool);
        value = terms.ite(choice, other, value);
    }
    value
}

/// All patches of at most two changes that are right and contain no other one.
fn by_force(terms: &mut Terms, question: &Question) -> BTreeSet<Vec<Change>> {
    let single: Vec<Change> = question
        .choosable
        .iter()
        .flat_map(|site| (1..=site.open.len() as u32).map(|which| (site.number, which)))
        .collect();
    let mut all: Vec<Vec<Change>> = single.iter().map(|&change| vec![change]).collect();
    for &first in &single {
        for &second in single.iter().filter(|second| second.0 > first.0) {
            all.push(vec![first, second]);
        }
    }
    let mut right: BTreeSet<Vec<Change>> = BTreeSet::new();
    for patch in all {
        if right
            .iter()
            .any(|known| known.iter().all(|change| patch.contains(change)))
        {
            continue;
        }
        let mut ever = false;
        let mut fails = false;
        for x in 0..8 {
            for y in 0..8 {
                let mut values = Assignment::new();
                for (name, value) in [("x", x), ("y", y)] {
                    let variable = terms.variable(name, Sort::Bits(WIDTH));
                    values.set_bits(terms, variable, value);
                }
                for &(number, which) in &patch {
                    let name = format!("choice.{number}.{which}");
                    let choice = terms.variable(&name, Sort::Bool);
                    values.set_bits(terms, choice, 1);
                }
                fails |= terms.evaluate(question.bad, &values).truth();
                ever |= question
                    .some
                    .is_none_or(|some| terms.evaluate(some, &values).truth());
            }
        }
        if !fails && ever {
            right.insert(patch);
        }
    }
    right
}

#[test]
fn the_minimal_repairs_are_those_that_trying_everything_finds() {
    let mut chance = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut repaired = 0;
    let mut pairs = 0;
    for round in 0..120 {
        let mut terms = Terms::new();
        let mut choosable = Vec::new();
        let wrong = word(&mut terms, &mut chance, &mut choosable, 3);
        // What is meant: the same with some alternatives, so that there are repairs.
        let mut meant = rustc_hash::FxHashMap::default();
        for site in &choosable {
            let chosen = chance.below(site.open.len() as u64 * 2 + 1) as usize;
            for which in 1..=site.open.len() {
                let name = format!("choice.{}.{which}", site.number);
                let choice = terms.variable(&name, Sort::Bool);
                let value = terms.truth(which == chosen);
                meant.insert(choice, value);
            }
        }
        let right = terms.substitute(wrong, &meant);
        let differs = terms.ne(wrong, right);
        let x = terms.variable("x", Sort::Bits(WIDTH));
        let most = terms.constant(WIDTH, 5);
        let assumed = terms.ule(x, most);
        let bad = terms.and(assumed, differs);
        let eight = terms.constant(WIDTH, 6);
        let small = terms.ult(wrong, eight);
        let small = terms.and(assumed, small);
        let some = (round % 3 == 0).then_some(small);
        let question = Question {
            fails: bad,
            bad,
            beyond: terms.truth(false),
            some,
            seen: vec![],
            choosable,
            constants: BTreeMap::new(),
            near: BTreeMap::new(),
        };
        let expected = by_force(&mut terms, &question);
        let mut open = NoDecider(0);
        let never = || false;
        let search = Search::new(&mut terms, &question, Extent::default(), &mut open, &never);
        let mut told = 0;
        let found = search.run(&mut |_| told += 1);
        assert!(found.complete);
        assert_eq!(told, found.repairs.len());
        let repairs: BTreeSet<Vec<Change>> = found
            .repairs
            .iter()
            .map(|repair| repair.changes.clone())
            .collect();
        assert_eq!(repairs, expected, "round {round}");
        repaired += usize::from(!expected.is_empty());
        pairs += expected.iter().filter(|patch| patch.len() == 2).count();
    }
    assert!(repaired > 40 && pairs > 20, "{repaired} {pairs}");
}

#[test]
fn all_constants_that_repair_are_given_as_ranges() {
    let mut terms = Terms::new();
    let x = terms.variable("x", Sort::Bits(32));
    let open = terms.variable("constant.7", Sort::Bits(64));
    let choice = terms.variable("choice.1.1", Sort::Bool);
    let low = terms.extract(open, 31, 0);
    let own = terms.constant(32, 3);
    let limit = terms.ite(choice, low, own);
    // `x < limit` shall hold where x is at most 10, and fail where it is at least 20.
    let less = terms.slt(x, limit);
    let (ten, twenty) = (terms.constant(32, 10), terms.constant(32, 20));
    let small = terms.sle(x, ten);
    let large = terms.sle(twenty, x);
    let more = terms.not(less);
    let (first, second) = (terms.and(small, more), terms.and(large, less));
    let bad = terms.or(first, second);
    let question = Question {
        fails: bad,
        bad,
        beyond: terms.truth(false),
        some: None,
        seen: vec![],
        choosable: vec![Choosable {
            number: 1,
            open: vec![Some(7)],
        }],
        constants: BTreeMap::from([(7, (i64::from(i32::MIN), i64::from(i32::MAX)))]),
        near: BTreeMap::new(),
    };
    let mut open = NoDecider(0);
    let never = || false;
    let found =
        Search::new(&mut terms, &question, Extent::default(), &mut open, &never).run(&mut |_| ());
    assert!(found.complete);
    assert_eq!(found.repairs.len(), 1);
    assert_eq!(found.repairs[0].ranges, [(11, 20)]);
    assert!(!found.repairs[0].more);
}

#[test]
fn repairs_that_do_the_same_are_marked_and_a_void_one_is_none() {
    let mut terms = Terms::new();
    let x = terms.variable("x", Sort::Bits(8));
    let choices: Vec<Term> = (1..=3)
        .map(|which| terms.variable(&format!("choice.1.{which}"), Sort::Bool))
        .collect();
    let five = terms.constant(8, 5);
    let six = terms.constant(8, 6);
    let own = terms.ult(x, five);
    let at_most = terms.ule(x, five);
    let below = terms.ult(x, six);
    let wrong = terms.xor(own, at_most);
    // The first two do the same; the third assumes what is false.
    let value = terms.ite(choices[0], at_most, own);
    let value = terms.ite(choices[1], below, value);
    let no = terms.truth(false);
    let yes = terms.truth(true);
    let assumed = terms.ite(choices[2], no, yes);
    let differs = terms.xor(value, at_most);
    let bad = terms.and(assumed, differs);
    assert_ne!(wrong, no);
    let question = Question {
        fails: bad,
        bad,
        beyond: terms.truth(false),
        some: Some(assumed),
        seen: vec![(yes, value)],
        choosable: vec![Choosable {
            number: 1,
            open: vec![None; 3],
        }],
        constants: BTreeMap::new(),
        near: BTreeMap::new(),
    };
    let mut open = NoDecider(0);
    let never = || false;
    let found =
        Search::new(&mut terms, &question, Extent::default(), &mut open, &never).run(&mut |_| ());
    let mut same: Vec<_> = found.repairs.iter().map(|one| one.same_as).collect();
    same.sort_unstable();
    assert_eq!(same, [None, Some(0)]);
    let extent = Extent {
        void: true,
        ..Extent::default()
    };
    let found = Search::new(&mut terms, &question, extent, &mut open, &never).run(&mut |_| ());
    assert_eq!(found.repairs.iter().filter(|one| one.void).count(), 1);
}
