//! Measures how fast terms are made and questions are answered: `cargo run --release -p patchwright-solve --example
//! measure`.

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
fn selectors(backend: Backend, loops: u32) {
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
                    (4, false) => t.mul(a, k),
                    (4, true) => t.mul(b, k),
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
    solver.assert(t, differ);
    let (mut yes, mut no, mut open) = (0, 0, 0);
    let mut slowest = std::time::Duration::ZERO;
    for question in 0..200usize {
        let on = [question % 30, (question * 7 + question / 30) % 30];
        let assumptions: Vec<Term> = selectors
            .iter()
            .enumerate()
            .map(|(at, &selector)| {
                if on.contains(&at) {
                    selector
                } else {
                    t.not(selector)
                }
            })
            .collect();
        let asked = Instant::now();
        match solver.check(t, &assumptions, &Budget::conflicts(20_000)) {
            Answer::Satisfiable => yes += 1,
            Answer::Unsatisfiable => no += 1,
            Answer::Unknown => open += 1,
        }
        slowest = slowest.max(asked.elapsed());
    }
    let s = solver.statistics();
    println!(
        "{backend:?}: 200 questions with 30 selectors, {loops} rounds: {yes} satisfiable, {no} not, {open} open in {:?}, the \
         slowest {slowest:?}; {} clauses, {} conflicts",
        start.elapsed(),
        s.clauses,
        s.conflicts
    );
}

fn main() {
    for backend in Backend::ALL {
        unrolling(backend);
        selectors(backend, 1);
        selectors(backend, 4);
    }
}
