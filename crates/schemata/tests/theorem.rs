//! The efficiency theorem of execution scheduling: as many rounds as there are classes of patches that a test cannot
//! tell apart.

use std::collections::BTreeSet;

use crate::common::{Subject, validate};
use patchwright_schemata::Options;

/// A generator of numbers that are the same on every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

#[derive(Clone)]
enum Term {
    Constant(i32),
    /// `i`, `s`, `x` or `n`.
    Variable(usize),
    Operation(char, Box<Term>, Box<Term>),
}

const NAMES: [&str; 4] = ["i", "s", "x", "n"];

impl Term {
    fn random(random: &mut Random, depth: u64) -> Term {
        if depth == 0 || random.below(4) == 0 {
            return match random.below(2) {
                0 => Term::Constant(random.below(4) as i32),
                _ => Term::Variable(random.below(4) as usize),
            };
        }
        let operator = ['+', '-', '*', '&', '|', '^', '<'][random.below(7) as usize];
        let left = Term::random(random, depth - 1);
        let right = Term::random(random, depth - 1);
        Term::Operation(operator, left.into(), right.into())
    }

    fn text(&self) -> String {
        match self {
            Term::Constant(value) => value.to_string(),
            Term::Variable(number) => NAMES[*number].to_owned(),
            Term::Operation(operator, a, b) => format!("({} {operator} {})", a.text(), b.text()),
        }
    }

    fn value(&self, variables: &[i32; 4]) -> i32 {
        match self {
            Term::Constant(value) => *value,
            Term::Variable(number) => variables[*number],
            Term::Operation(operator, a, b) => {
                let (a, b) = (a.value(variables), b.value(variables));
                match operator {
                    '+' => a.wrapping_add(b),
                    '-' => a.wrapping_sub(b),
                    '*' => a.wrapping_mul(b),
                    '&' => a & b,
                    '|' => a | b,
                    '^' => a ^ b,
                    _ => i32::from(a < b),
                }
            }
        }
    }
}

/// The statement that patches change, in a loop.
fn program(statement: &str) -> String {
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n\n\
         int main(int argc, char **argv)\n{{\n    int n = argc > 1 ? atoi(argv[1]) : 3;\n    \
         int x = 1, s = 0;\n    for (int i = 0; i < n; i++) {{\n        {statement}\n        \
         s = s * 3 + x;\n    }}\n    printf(\"%d\\n\", s & 1);\n    return 0;\n}}\n"
    )
}

/// What `x` becomes by the statement at each of its visits, with what it was, and the sum.
fn trace(n: i32, step: &dyn Fn(&[i32; 4]) -> Option<i32>) -> (Vec<(i32, i32)>, i32) {
    let (mut x, mut s) = (1i32, 0i32);
    let mut seen = Vec::new();
    for i in 0..n {
        let value = step(&[i, s, x, n]).unwrap_or(x);
        seen.push((value, x));
        x = value;
        s = s.wrapping_mul(3).wrapping_add(x);
    }
    (seen, s)
}

#[test]
#[ignore = "nightly: 5 s; there_are_as_many_rounds_as_classes_of_conditions goes this way"]
fn there_are_as_many_rounds_as_classes_of_assignments() {
    // A write of the old value changes nothing.
    let changed = |(value, old): (i32, i32)| (value != old).then_some(value);
    rounds_are_classes(&|term| format!("x = {term};"), changed);
}

#[test]
#[ignore = "nightly: 5 s; there_are_as_many_rounds_as_classes_of_conditions goes this way"]
fn there_are_as_many_rounds_as_classes_of_what_a_variable_begins_with() {
    // What stands behind it calls a function and cannot be tried.
    let statement =
        |term: &str| format!("int unused = 0, y = {term}; x = abs(y) == y ? y : -abs(y);");
    rounds_are_classes(&statement, |(value, _)| Some(value));
}

/// `x` becomes the value of a term by a statement of which patches change the term; `seen` is what is compared of it and of
/// the value that `x` had.
fn rounds_are_classes(
    statement: &dyn Fn(&str) -> String,
    seen: impl Fn((i32, i32)) -> Option<i32>,
) {
    let mut random = Random(0x5eed_1234_9876);
    for _ in 0..3 {
        let terms: Vec<Term> = (0..60).map(|_| Term::random(&mut random, 2)).collect();
        let original = Term::random(&mut random, 1);
        let n = 4;
        let base = trace(n, &|v| Some(original.value(v)));
        let mut subject = Subject::new(
            &program(&statement(&original.text())),
            &[("4", &format!("{}\n", base.1 & 1))],
        );
        subject.cflags = vec!["-fwrapv".into()];
        let different: Vec<&Term> = terms
            .iter()
            .filter(|term| term.text() != original.text())
            .collect();
        let texts: Vec<String> = different
            .iter()
            .map(|term| program(&statement(&term.text())))
            .collect();
        let found = validate(&subject, &texts, Options::default());
        let traces: Vec<_> = different
            .iter()
            .map(|term| trace(n, &|v| Some(term.value(v))))
            .collect();
        let compared = |(values, _): &(Vec<(i32, i32)>, i32)| -> Vec<Option<i32>> {
            values.iter().map(|value| seen(*value)).collect()
        };
        let mut classes: BTreeSet<_> = traces.iter().map(compared).collect();
        classes.insert(compared(&base));
        assert_eq!(found.stats.rounds, classes.len(), "{:?}", found.stats);
        assert_eq!(found.stats.executions, classes.len());
        for (patch, (_, sum)) in traces.iter().enumerate() {
            let verdict = &found.verdicts[&(patch, 0)];
            assert_eq!(verdict.is_pass(), sum & 1 == base.1 & 1, "{}", texts[patch]);
        }
    }
}

#[test]
fn there_are_as_many_rounds_as_classes_of_conditions() {
    let mut random = Random(0xc0de_4321_7777);
    let original = Term::Operation('<', Term::Variable(2).into(), Term::Variable(0).into());
    // The body calls a function, so only the condition's truth can be compared.
    let with = |condition: &str| {
        program(&format!(
            "if ({condition}) {{ x = abs(x - 7); printf(\"*\"); }}"
        ))
    };
    let step = |term: &Term, v: &[i32; 4]| {
        (term.value(v) != 0).then(|| v[2].wrapping_sub(7).wrapping_abs())
    };
    let terms: Vec<Term> = (0..80).map(|_| Term::random(&mut random, 2)).collect();
    let n = 5;
    // The trace that counts is that of truths.
    let truths = |term: &Term| {
        let seen = std::cell::RefCell::new(Vec::new());
        trace(n, &|v| {
            seen.borrow_mut().push(term.value(v) != 0);
            step(term, v)
        });
        seen.into_inner()
    };
    let output = |term: &Term| {
        let stars = truths(term).iter().filter(|truth| **truth).count();
        let sum = trace(n, &|v| step(term, v)).1;
        format!("{}{}\n", "*".repeat(stars), sum & 1)
    };
    let mut subject = Subject::new(&with(&original.text()), &[("5", &output(&original))]);
    subject.cflags = vec!["-fwrapv".into()];
    let different: Vec<&Term> = terms
        .iter()
        .filter(|term| term.text() != original.text())
        .collect();
    let texts: Vec<String> = different.iter().map(|term| with(&term.text())).collect();
    let found = validate(&subject, &texts, Options::default());
    let mut classes: BTreeSet<_> = different.iter().map(|term| truths(term)).collect();
    classes.insert(truths(&original));
    assert_eq!(found.stats.rounds, classes.len(), "{:?}", found.stats);
    for (patch, term) in different.iter().enumerate() {
        let pass = output(term) == output(&original);
        assert_eq!(
            found.verdicts[&(patch, 0)].is_pass(),
            pass,
            "{}",
            texts[patch]
        );
    }
}
