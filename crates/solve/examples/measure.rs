//! Measures how fast terms are made and questions are answered: `cargo run --release -p patchwright-solve --example
//! measure`.

use std::collections::HashMap;
use std::time::Instant;

use patchwright_solve::{Answer, Backend, Budget, Solver, Sort, Term, Terms};

/// Rounds of a loop with products of 32 bits, checked for overflow.
fn rounds(terms: &mut Terms, rounds: u128) -> (Term, Term) {
    let (mut x, y) = (
        terms.variable("x", Sort::Bits(32)),
        terms.variable("y", Sort::Bits(32)),
    );
    let mut overflows = terms.truth(false);
    for round in 0..rounds {
        let k = terms.constant(32, round + 1);
        let too_large = terms.mul_overflows_signed(x, y);
        overflows = terms.or(overflows, too_large);
        let product = terms.mul(x, y);
        let sum = terms.add(product, k);
        let shifted = terms.lshr(sum, k);
        x = terms.bit_xor(sum, shifted);
    }
    (x, overflows)
}

fn unrolling(backend: Backend) {
    let start = Instant::now();
    let mut terms = Terms::new();
    let (x, overflows) = rounds(&mut terms, 20);
    let made = start.elapsed();
    let zero = terms.constant(32, 77);
    let equal = terms.eq(x, zero);
    let fits = terms.not(overflows);
    let mut solver = Solver::new(backend);
    let start = Instant::now();
    solver.assert(&terms, fits);
    solver.assert(&terms, equal);
    let blasted = start.elapsed();
    let s = solver.statistics();
    println!(
        "{backend:?}: 20 rounds with a product: {} terms in {made:?}; {} gates, {} variables, {} clauses in {blasted:?} \
         ({:.1} million clauses a second)",
        terms.len(),
        s.gates,
        s.variables,
        s.clauses,
        s.clauses as f64 / blasted.as_secs_f64() / 1e6
    );
}

/// A program of 30 statements in a loop, each of which may be replaced, against itself.
fn selectors(backend: Backend, loops: u32, products: bool, folded: bool) {
    let mut terms = Terms::new();
    let t = &mut terms;
    let inputs: Vec<Term> = (0..4)
        .map(|at| t.variable(&format!("in{at}"), Sort::Bits(32)))
        .collect();
    let selectors: Vec<Term> = (0..30)
        .map(|at| t.variable(&format!("s{at}"), Sort::Bool))
        .collect();
    let mut good = inputs.clone();
    let mut changed = inputs.clone();
    for _ in 0..loops {
        for (at, &selector) in selectors.iter().enumerate() {
            let k = t.constant(32, (at as u128 * 7) % 13);
            let step = |t: &mut Terms, state: &[Term], other: bool| {
                let (a, b, c) = (state[at % 4], state[(at + 1) % 4], state[(at + 2) % 4]);
                match (at % 6, other) {
                    (0, false) => t.add(a, b),
                    (0, true) => t.sub(a, b),
                    (1, false) => {
                        let less = t.slt(a, b);
                        t.ite(less, a, c)
                    }
                    (1, true) => {
                        let less = t.sle(a, b);
                        t.ite(less, a, c)
                    }
                    (2, false) => t.add(a, k),
                    (2, true) => {
                        let one = t.constant(32, 1);
                        let more = t.add(k, one);
                        t.add(a, more)
                    }
                    (3, false) => t.bit_and(a, b),
                    (3, true) => t.bit_or(a, b),
                    (4, false) if products => t.mul(a, k),
                    (4, true) if products => t.mul(b, k),
                    (4, false) => t.sub(a, b),
                    (4, true) => t.sub(b, a),
                    (_, false) => {
                        let equal = t.eq(a, b);
                        t.ite(equal, b, c)
                    }
                    (_, true) => {
                        let equal = t.ne(a, b);
                        t.ite(equal, b, c)
                    }
                }
            };
            let value = step(t, &good, false);
            good[at % 4] = value;
            let (same, other) = (step(t, &changed, false), step(t, &changed, true));
            changed[at % 4] = t.ite(selector, other, same);
        }
    }
    let equal: Vec<Term> = good
        .iter()
        .zip(&changed)
        .map(|(&a, &b)| t.eq(a, b))
        .collect();
    let all = t.and_all(equal);
    let differ = t.not(all);
    let small = t.constant(32, 100);
    let start = Instant::now();
    let mut solver = Solver::new(backend);
    for input in inputs {
        let small = t.ult(input, small);
        solver.assert(t, small);
    }
    if !folded {
        solver.assert(t, differ);
    }
    let (mut yes, mut no, mut open) = (0, 0, 0);
    let mut slowest = std::time::Duration::ZERO;
    for question in 0..200usize {
        let on = [question % 30, (question * 7 + question / 30) % 30];
        let asked = Instant::now();
        let assumptions: Vec<Term> = if folded {
            // The selectors are constants in this question.
            let values = selectors
                .iter()
                .enumerate()
                .map(|(at, &selector)| (selector, t.truth(on.contains(&at))))
                .collect::<HashMap<Term, Term>>();
            vec![t.substitute(differ, &values)]
        } else {
            selectors
                .iter()
                .enumerate()
                .map(|(at, &selector)| {
                    if on.contains(&at) {
                        selector
                    } else {
                        t.not(selector)
                    }
                })
                .collect()
        };
        match solver.check(t, &assumptions, &Budget::conflicts(20_000)) {
            Answer::Satisfiable => yes += 1,
            Answer::Unsatisfiable => no += 1,
            Answer::Unknown => open += 1,
        }
        slowest = slowest.max(asked.elapsed());
    }
    let s = solver.statistics();
    println!(
        "{backend:?}: 200 questions with 30 selectors, {loops} rounds{}: {yes} satisfiable, {no} not, {open} open in {:?}, the \
         slowest {slowest:?}; {} clauses, {} conflicts",
        match (products, folded) {
            (true, false) => " with products",
            (true, true) => " with products, folded",
            (false, false) => "",
            (false, true) => ", folded",
        },
        start.elapsed(),
        s.clauses,
        s.conflicts
    );
}

/// Claims that hold for all values, as the proofs of small programs need them.
fn proofs(backend: Backend) {
    let mut terms = Terms::new();
    let t = &mut terms;
    let mut claims: Vec<(String, Term)> = Vec::new();
    for width in [16, 32] {
        let x = t.variable(&format!("x{width}"), Sort::Bits(width));
        let y = t.variable(&format!("y{width}"), Sort::Bits(width));
        let ten = t.constant(width, 10);
        let (q, r) = (t.udiv(x, ten), t.urem(x, ten));
        let product = t.mul(q, ten);
        let sum = t.add(product, r);
        claims.push((
            format!("{width} bits: x / 10 * 10 + x % 10 == x, without sign"),
            t.eq(sum, x),
        ));
        let (q, r) = (t.sdiv(x, ten), t.srem(x, ten));
        let product = t.mul(q, ten);
        let sum = t.add(product, r);
        claims.push((
            format!("{width} bits: x / 10 * 10 + x % 10 == x"),
            t.eq(sum, x),
        ));
        let y_less = t.ult(r, y);
        let ten_less = t.ult(ten, y);
        let positive = t.is_negative(x);
        let either = t.or(y_less, positive);
        claims.push((
            format!("{width} bits: 10 < y implies x % 10 < y"),
            t.implies(ten_less, either),
        ));
        if width == 16 {
            let (q, r) = (t.udiv(x, y), t.urem(x, y));
            let product = t.mul(q, y);
            let sum = t.add(product, r);
            claims.push((
                format!("{width} bits: x / y * y + x % y == x"),
                t.eq(sum, x),
            ));
        }
        // The sum of digits of 4 rounds is at most 36.
        let mut rest = x;
        let mut total = t.constant(width, 0);
        for _ in 0..4 {
            let digit = t.urem(rest, ten);
            total = t.add(total, digit);
            rest = t.udiv(rest, ten);
        }
        let limit = t.constant(width, 36);
        claims.push((
            format!("{width} bits: four digits sum up to 36 at most"),
            t.ule(total, limit),
        ));
        // Years and months.
        let twelve = t.constant(width, 12);
        let (q, r) = (t.udiv(x, twelve), t.urem(x, twelve));
        let months = t.mul(q, twelve);
        let back = t.add(months, r);
        let again = t.urem(back, twelve);
        claims.push((
            format!("{width} bits: (x / 12 * 12 + x % 12) % 12 == x % 12"),
            t.eq(again, r),
        ));
        // Four rounds of Euclid's algorithm leave a divisor that is less than before.
        let (mut a, mut b) = (x, y);
        let zero = t.constant(width, 0);
        let mut path = t.truth(true);
        for _ in 0..3 {
            let more = t.ne(b, zero);
            path = t.and(path, more);
            let rest = t.urem(a, b);
            a = b;
            b = rest;
        }
        let less = t.ult(b, y);
        claims.push((
            format!("{width} bits: Euclid's rests fall"),
            t.implies(path, less),
        ));
    }
    let mut all = std::time::Duration::ZERO;
    for (said, claim) in claims {
        let broken = t.not(claim);
        let mut solver = Solver::new(backend);
        let start = Instant::now();
        let answer = solver.check(t, &[broken], &Budget::conflicts(200_000));
        let took = start.elapsed();
        all += took;
        let s = solver.statistics();
        println!(
            "{backend:?}: {said}: {answer:?} in {took:?}; {} clauses, {} conflicts",
            s.clauses, s.conflicts
        );
    }
    println!("{backend:?}: {all:?} together");
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("proofs") {
        return Backend::ALL.into_iter().for_each(proofs);
    }
    if std::env::args().nth(1).as_deref() == Some("selectors") {
        for backend in Backend::ALL {
            for folded in [true, false] {
                selectors(backend, 1, false, folded);
                selectors(backend, 4, false, folded);
            }
        }
        return;
    }
    for backend in Backend::ALL {
        unrolling(backend);
        for folded in [true, false] {
            for products in [false, true] {
                selectors(backend, 1, products, folded);
                selectors(backend, 4, products, folded);
            }
        }
    }
}
