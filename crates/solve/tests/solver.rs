//! One suite for every back end: answers, models and cores are right, and always the same.

use crate::common;

use std::cell::Cell;

use crate::common::{Pool, mask};
use patchwright_solve::{
    Answer, Assignment, Backend, Budget, Float, Solver, Sort, Statistics, Term, Terms, Value,
};

fn bits(terms: &mut Terms, name: &str, width: u32) -> Term {
    terms.variable(name, Sort::Bits(width))
}

#[track_caller]
fn check(solver: &mut Solver, terms: &Terms, assumptions: &[Term]) -> Answer {
    let answer = solver.check(terms, assumptions, &Budget::none());
    if answer == Answer::Satisfiable {
        for &term in assumptions {
            assert_eq!(solver.value(terms, term), Value::Truth(true));
        }
    }
    answer
}

#[test]
fn satisfiable_is_what_some_values_satisfy() {
    for backend in Backend::ALL {
        for seed in 0..25 {
            for width in 1..=3u32 {
                let mut pool = Pool::new(seed, &[width], 0);
                pool.all_values(width);
                let mut solver = Solver::new(backend);
                for _ in 0..40 {
                    let term = pool.grow();
                    if pool.terms.sort(term) != Sort::Bool {
                        continue;
                    }
                    let (_, values) = pool.made.last().unwrap().clone();
                    let answer = check(&mut solver, &pool.terms, &[term]);
                    assert_eq!(answer == Answer::Satisfiable, values.contains(&1));
                    let not = pool.terms.not(term);
                    let answer = check(&mut solver, &pool.terms, &[not]);
                    assert_eq!(answer == Answer::Satisfiable, values.contains(&0));
                }
            }
        }
    }
}

/// With the variables' values assumed, no other value of the term is possible; and with one more bit open, a model's.
fn circuits_agree(mut pool: Pool, backend: Backend, steps: usize) {
    let mut solver = Solver::new(backend);
    for _ in 0..steps {
        pool.grow();
        let (term, values) = pool.made.last().unwrap().clone();
        let at = pool.random.below(pool.assignments.len());
        let assignment = pool.assignments[at].clone();
        let mut assumed = Vec::new();
        for variable in pool.terms.variables_of(term) {
            let value = assignment.get(&pool.terms, variable).bits();
            let constant = match pool.terms.sort(variable) {
                Sort::Bool => pool.terms.truth(value == 1),
                Sort::Bits(width) => pool.terms.constant(width, value),
                Sort::Array { .. } => unreachable!(),
            };
            assumed.push(pool.terms.eq(variable, constant));
        }
        let expected = match pool.terms.sort(term) {
            Sort::Bool => pool.terms.truth(values[at] == 1),
            Sort::Bits(width) => pool.terms.constant(width, values[at]),
            Sort::Array { .. } => unreachable!(),
        };
        let other = pool.terms.ne(term, expected);
        assert_eq!(
            check(&mut solver, &pool.terms, &assumed),
            Answer::Satisfiable
        );
        assert_eq!(solver.value(&pool.terms, term).bits(), values[at]);
        assumed.push(other);
        assert_eq!(
            check(&mut solver, &pool.terms, &assumed),
            Answer::Unsatisfiable,
            "{:?}",
            pool.terms.node(term)
        );
    }
}

#[test]
fn circuits_of_mixed_widths_give_what_rust_computes() {
    for backend in Backend::ALL {
        for seed in 0..4 {
            let pool = Pool::new(seed, &[1, 3, 8, 16, 32, 64, 128], 6);
            circuits_agree(pool, backend, 40);
            circuits_agree(Pool::new(100 + seed, &[8, 32], 6), backend, 40);
        }
    }
}

#[test]
#[ignore = "nightly: 5 s; circuits_of_mixed_widths_give_what_rust_computes goes this way"]
fn circuits_of_floating_point_give_what_rust_computes() {
    for backend in Backend::ALL {
        for seed in 0..3 {
            circuits_agree(Pool::of_floats(seed, 6), backend, 30);
        }
    }
}

#[test]
#[ignore = "nightly: 4 s; circuits_of_mixed_widths_give_what_rust_computes goes this way"]
fn operations_with_numbers_without_sign_and_large_ones_are_right() {
    // Single operations on many operands, so that each is hit at each width.
    let mut random = common::Random::new(7);
    for backend in Backend::ALL {
        for width in [16u32, 32, 64, 128] {
            let mut terms = Terms::new();
            let t = &mut terms;
            let (a, b) = (bits(t, "a", width), bits(t, "b", width));
            let operations = [
                t.add(a, b),
                t.sub(a, b),
                t.mul(a, b),
                t.udiv(a, b),
                t.urem(a, b),
                t.sdiv(a, b),
                t.srem(a, b),
                t.shl(a, b),
                t.lshr(a, b),
                t.ashr(a, b),
            ];
            let tests = [
                t.ult(a, b),
                t.slt(a, b),
                t.add_overflows_signed(a, b),
                t.sub_overflows_signed(a, b),
                t.mul_overflows_signed(a, b),
                t.mul_overflows_unsigned(a, b),
            ];
            let results = t.fresh("results", Sort::Bits(width));
            let mut solver = Solver::new(backend);
            for _ in 0..if width > 32 { 1 } else { 3 } {
                let (x, y) = (random.bits(width), random.bits(width));
                let (x, y) = (t.constant(width, x), t.constant(width, y));
                let assumed = [t.eq(a, x), t.eq(b, y)];
                assert_eq!(check(&mut solver, t, &assumed), Answer::Satisfiable);
                for (place, operation) in operations.into_iter().enumerate() {
                    let same = t.eq(results, operation);
                    assert_eq!(
                        check(&mut solver, t, &[assumed[0], assumed[1], same]),
                        Answer::Satisfiable
                    );
                    // The model satisfies the equation by evaluation, so the circuit gave what evaluation gives.
                    let found = solver.value(t, results);
                    let expected = t.evaluate(operation, solver.model());
                    assert_eq!(found, expected, "operation {place} at {width} bits");
                }
                for test in tests {
                    let model = solver.model().clone();
                    let expected = t.evaluate(test, &model).truth();
                    let wrong = if expected { t.not(test) } else { test };
                    assert_eq!(
                        check(&mut solver, t, &[assumed[0], assumed[1], wrong]),
                        Answer::Unsatisfiable
                    );
                    check(&mut solver, t, &assumed);
                }
            }
        }
    }
}

#[test]
fn equations_are_solved() {
    for backend in Backend::ALL {
        let mut t = Terms::new();
        let (x, y) = (bits(&mut t, "x", 32), bits(&mut t, "y", 32));
        let product = t.mul(x, y);
        let number = t.constant(32, 101 * 103);
        let two = t.constant(32, 2);
        let limit = t.constant(32, 200);
        let mut solver = Solver::new(backend);
        for term in [
            t.eq(product, number),
            t.ult(x, limit),
            t.ult(y, limit),
            t.ule(two, x),
            t.ule(x, y),
        ] {
            solver.assert(&t, term);
        }
        assert_eq!(check(&mut solver, &t, &[]), Answer::Satisfiable);
        assert_eq!(solver.value(&t, x), Value::Bits(101));
        assert_eq!(solver.value(&t, y), Value::Bits(103));
        // A term that no one asked about.
        let sum = t.add(x, y);
        assert_eq!(solver.value(&t, sum), Value::Bits(204));
        let other = bits(&mut t, "other", 8);
        assert_eq!(solver.value(&t, other), Value::Bits(0));
        let hundred_one = t.constant(32, 101);
        let different = t.ne(x, hundred_one);
        assert_eq!(check(&mut solver, &t, &[different]), Answer::Unsatisfiable);
        assert_eq!(check(&mut solver, &t, &[]), Answer::Satisfiable);
        solver.assert(&t, different);
        assert_eq!(check(&mut solver, &t, &[]), Answer::Unsatisfiable);
        assert!(solver.core().is_empty());
    }
}

#[test]
fn floating_point_equations_are_solved() {
    for backend in Backend::ALL {
        for kind in [Float::F32, Float::F64] {
            let mut t = Terms::new();
            let x = bits(&mut t, "x", kind.width());
            let whole = bits(&mut t, "n", 8);
            // x = n / 4 and x + x = 2.5
            let n = t.float_from_signed(kind, whole);
            let four = t.constant(8, 4);
            let four = t.float_from_signed(kind, four);
            let quarter = t.float_div(kind, n, four);
            let same = t.float_eq(kind, x, quarter);
            let sum = t.float_add(kind, x, x);
            let five = t.constant(8, 5);
            let five = t.float_from_signed(kind, five);
            let two = t.constant(8, 2);
            let two = t.float_from_signed(kind, two);
            let target = t.float_div(kind, five, two);
            let equal = t.float_eq(kind, sum, target);
            let mut solver = Solver::new(backend);
            assert_eq!(check(&mut solver, &t, &[same, equal]), Answer::Satisfiable);
            assert_eq!(solver.value(&t, whole), Value::Bits(5));
            // A number that is not equal to itself is none.
            let itself = t.float_eq(kind, x, x);
            let differs = t.not(itself);
            let nan = t.float_is_nan(kind, x);
            assert_eq!(check(&mut solver, &t, &[differs]), Answer::Satisfiable);
            let number = t.not(nan);
            assert_eq!(
                check(&mut solver, &t, &[differs, number]),
                Answer::Unsatisfiable
            );
        }
    }
}

#[test]
fn a_difference_is_zero_where_two_finite_numbers_are_equal() {
    for kind in [Float::F32, Float::F64] {
        let mut t = Terms::new();
        let (x, y) = (
            bits(&mut t, "x", kind.width()),
            bits(&mut t, "y", kind.width()),
        );
        let difference = t.float_sub(kind, x, y);
        let zero = t.constant(kind.width(), 0);
        let nothing = t.float_eq(kind, difference, zero);
        let equal = t.float_eq(kind, x, y);
        let (not_nothing, not_equal) = (t.not(nothing), t.not(equal));
        let mut solver = Solver::new(Backend::default());
        // Gradual underflow is what makes this true.
        assert_eq!(
            check(&mut solver, &t, &[nothing, not_equal]),
            Answer::Unsatisfiable
        );
        // Infinity minus itself is no number.
        assert_eq!(
            check(&mut solver, &t, &[equal, not_nothing]),
            Answer::Satisfiable
        );
        let nan = t.float_is_nan(kind, difference);
        assert!(solver.value(&t, nan).truth());
        let number = t.not(nan);
        assert_eq!(
            check(&mut solver, &t, &[equal, not_nothing, number]),
            Answer::Unsatisfiable
        );
    }
}

#[test]
fn equal_arguments_give_equal_results() {
    for backend in Backend::ALL {
        let mut t = Terms::new();
        let (x, y) = (bits(&mut t, "x", 32), bits(&mut t, "y", 32));
        let p = t.variable("p", Sort::Bool);
        let (fx, fy) = (
            t.apply("f", &[x, p], Sort::Bits(16)),
            t.apply("f", &[y, p], Sort::Bits(16)),
        );
        let (differ, equal) = (t.ne(fx, fy), t.eq(x, y));
        let mut solver = Solver::new(backend);
        assert_eq!(
            check(&mut solver, &t, &[differ, equal]),
            Answer::Unsatisfiable
        );
        assert_eq!(check(&mut solver, &t, &[differ]), Answer::Satisfiable);
        assert_ne!(solver.value(&t, x), solver.value(&t, y));
        assert_ne!(solver.value(&t, fx), solver.value(&t, fy));
        // One that comes later, and one inside of another.
        let ffx = {
            let wide = t.zero_extend(fx, 32);
            t.apply("f", &[wide, p], Sort::Bits(16))
        };
        let wide = t.zero_extend(fx, 32);
        let fixed = t.eq(wide, x);
        let moves = t.ne(ffx, fx);
        assert_eq!(
            check(&mut solver, &t, &[fixed, moves]),
            Answer::Unsatisfiable
        );
        assert_eq!(check(&mut solver, &t, &[moves]), Answer::Satisfiable);
        let z = bits(&mut t, "z", 32);
        let fz = t.apply("f", &[z, p], Sort::Bits(16));
        let between = [t.eq(x, z), t.eq(z, y), t.ne(fx, fy)];
        assert_eq!(check(&mut solver, &t, &between), Answer::Unsatisfiable);
        let between = [t.eq(x, z), t.ne(z, y), t.ne(fz, fy)];
        assert_eq!(check(&mut solver, &t, &between), Answer::Satisfiable);
        assert_eq!(solver.value(&t, fx), solver.value(&t, fz));
    }
}

#[test]
fn what_is_read_is_what_was_written() {
    for backend in Backend::ALL {
        let mut t = Terms::new();
        let sort = Sort::Array {
            index: 16,
            element: 8,
        };
        let (a, b) = (t.variable("a", sort), t.variable("b", sort));
        let [i, j, k] = ["i", "j", "k"].map(|name| bits(&mut t, name, 16));
        let (v, w) = (bits(&mut t, "v", 8), bits(&mut t, "w", 8));
        let p = t.variable("p", Sort::Bool);
        let one = t.store(a, i, v);
        let two = t.store(one, j, w);
        let read = t.select(two, i);
        let kept = t.eq(read, v);
        let lost = t.not(kept);
        let apart = t.ne(i, j);
        let mut solver = Solver::new(backend);
        assert_eq!(
            check(&mut solver, &t, &[lost, apart]),
            Answer::Unsatisfiable
        );
        assert_eq!(check(&mut solver, &t, &[lost]), Answer::Satisfiable);
        // Elsewhere nothing changed.
        let (before, after) = (t.select(a, k), t.select(two, k));
        let changed = t.ne(before, after);
        let elsewhere = [t.ne(k, i), t.ne(k, j), changed];
        assert_eq!(check(&mut solver, &t, &elsewhere), Answer::Unsatisfiable);
        assert_eq!(check(&mut solver, &t, &[changed]), Answer::Satisfiable);
        // One of two arrays.
        let choice = t.ite(p, two, b);
        let read = t.select(choice, j);
        let other = t.ne(read, w);
        assert_eq!(check(&mut solver, &t, &[p, other]), Answer::Unsatisfiable);
        assert_eq!(check(&mut solver, &t, &[other]), Answer::Satisfiable);
        let above = t.store(choice, k, v);
        let read = t.select(above, i);
        let in_b = t.select(b, i);
        let not_p = t.not(p);
        let facts = [not_p, t.ne(i, k), t.ne(read, in_b)];
        assert_eq!(check(&mut solver, &t, &facts), Answer::Unsatisfiable);
        // The same element twice.
        let (at_i, at_j) = (t.select(a, i), t.select(a, j));
        let facts = [t.eq(i, j), t.ne(at_i, at_j)];
        assert_eq!(check(&mut solver, &t, &facts), Answer::Unsatisfiable);
        // An array that is one element everywhere.
        let zero = t.constant(8, 0);
        let zeros = t.array_of(16, zero);
        let written = t.store(zeros, i, v);
        let read = t.select(written, j);
        let facts = [t.ne(read, zero), t.ne(i, j)];
        assert_eq!(check(&mut solver, &t, &facts), Answer::Unsatisfiable);
    }
}

#[test]
fn arrays_are_right_for_all_values_of_small_ones() {
    // Random programs that write to and read from two elements, against all their inputs.
    for backend in Backend::ALL {
        for seed in 0..40 {
            let mut random = common::Random::new(seed);
            let mut t = Terms::new();
            let sort = Sort::Array {
                index: 1,
                element: 2,
            };
            let base = t.variable("a", sort);
            let names = ["i", "j"].map(|name| bits(&mut t, name, 1));
            let mut elements = vec![bits(&mut t, "v", 2)];
            let p = t.variable("p", Sort::Bool);
            let zero = t.constant(2, 0);
            let mut arrays = vec![base, t.array_of(1, zero)];
            for _ in 0..6 {
                let array = random.pick(&arrays);
                let index = random.pick(&names);
                match random.below(3) {
                    0 => arrays.push(t.store(array, index, *elements.last().unwrap())),
                    1 => {
                        let read = t.select(array, index);
                        let element = random.pick(&elements);
                        elements.push(t.add(read, element));
                    }
                    _ => {
                        let other = random.pick(&arrays);
                        arrays.push(t.ite(p, array, other));
                    }
                }
            }
            let last = t.select(*arrays.last().unwrap(), names[0]);
            let element = random.pick(&elements);
            let question = t.eq(last, element);
            let mut found = false;
            for inputs in 0..1u128 << 9 {
                let mut assignment = Assignment::new();
                assignment.set_bits(&t, names[0], inputs & 1);
                assignment.set_bits(&t, names[1], inputs >> 1 & 1);
                assignment.set_bits(&t, elements[0], inputs >> 2 & 3);
                assignment.set_bits(&t, p, inputs >> 4 & 1);
                let mut value = patchwright_solve::ArrayValue::default();
                value.set(0, inputs >> 5 & 3);
                value.set(1, inputs >> 7 & 3);
                assignment.set(&t, base, Value::Array(value.into()));
                found |= t.evaluate(question, &assignment).truth();
            }
            let mut solver = Solver::new(backend);
            let answer = check(&mut solver, &t, &[question]);
            assert_eq!(answer == Answer::Satisfiable, found, "seed {seed}");
        }
    }
}

/// Selectors of which some exclude each other because of a sum.
fn selected(backend: Backend) -> (Terms, Solver, Vec<Term>) {
    let mut t = Terms::new();
    let x = bits(&mut t, "x", 16);
    let mut solver = Solver::new(backend);
    let mut selectors = Vec::new();
    for at in 0..12u128 {
        let selector = t.variable(&format!("s{at}"), Sort::Bool);
        let k = t.constant(16, 100 + at % 4);
        // The last four ask for numbers that no other asks for.
        let says = if at < 8 {
            t.ult(x, k)
        } else {
            let limit = t.constant(16, 90 + 5 * (at - 8));
            t.ult(limit, x)
        };
        let claim = t.implies(selector, says);
        solver.assert(&t, claim);
        selectors.push(selector);
    }
    (t, solver, selectors)
}

#[test]
fn cores_are_impossible_and_after_minimising_nothing_can_be_left_out() {
    for backend in Backend::ALL {
        let (t, mut solver, selectors) = selected(backend);
        assert_eq!(check(&mut solver, &t, &selectors), Answer::Unsatisfiable);
        let core = solver.core().to_vec();
        assert!(core.iter().all(|term| selectors.contains(term)));
        assert_eq!(check(&mut solver, &t, &core), Answer::Unsatisfiable);
        check(&mut solver, &t, &selectors);
        let least = solver.minimise_core(&t, &Budget::none());
        assert_eq!(least, solver.core());
        assert!(!least.is_empty());
        assert_eq!(check(&mut solver, &t, &least), Answer::Unsatisfiable);
        for at in 0..least.len() {
            let mut fewer = least.clone();
            fewer.remove(at);
            assert_eq!(check(&mut solver, &t, &fewer), Answer::Satisfiable);
        }
    }
}

#[test]
fn an_assumption_that_is_false_is_a_core_by_itself() {
    for backend in Backend::ALL {
        let mut t = Terms::new();
        let (p, never) = (t.variable("p", Sort::Bool), t.truth(false));
        let mut solver = Solver::new(backend);
        assert_eq!(check(&mut solver, &t, &[p, never]), Answer::Unsatisfiable);
        assert_eq!(solver.core(), [never]);
        let not = t.not(p);
        assert_eq!(check(&mut solver, &t, &[p, not]), Answer::Unsatisfiable);
        assert_eq!(solver.core().len(), 2);
        assert_eq!(check(&mut solver, &t, &[p, p]), Answer::Satisfiable);
    }
}

/// Two numbers of 40 bits whose product is a square of a prime without sign: too hard for a small budget.
fn hard(t: &mut Terms) -> Term {
    let (x, y) = (bits(t, "x", 80), bits(t, "y", 80));
    let product = t.mul(x, y);
    let number = t.constant(80, 1_099_511_627_689u128 * 1_099_511_627_563);
    let limit = t.constant(80, 1 << 40);
    let one = t.constant(80, 1);
    let parts = [
        t.eq(product, number),
        t.ult(x, limit),
        t.ult(y, limit),
        t.ult(one, x),
        t.ult(one, y),
        t.ult(x, y),
    ];
    t.and_all(parts)
}

#[test]
fn a_budget_that_is_spent_is_no_answer() {
    for backend in Backend::ALL {
        let mut t = Terms::new();
        let hard = hard(&mut t);
        let mut solver = Solver::new(backend);
        let answer = solver.check(&t, &[hard], &Budget::conflicts(200));
        assert_eq!(answer, Answer::Unknown);
        let spent = solver.statistics().conflicts;
        assert!((100..1000).contains(&spent), "{spent}");
        // The solver goes on to be of use.
        let easy = bits(&mut t, "easy", 8);
        let zero = t.constant(8, 0);
        let is_zero = t.eq(easy, zero);
        assert_eq!(check(&mut solver, &t, &[is_zero]), Answer::Satisfiable);
    }
}

#[test]
fn an_interrupted_search_is_no_answer() {
    for backend in Backend::ALL {
        let mut t = Terms::new();
        let hard = hard(&mut t);
        let mut solver = Solver::new(backend);
        let asked = Cell::new(0);
        let interrupt = || {
            asked.set(asked.get() + 1);
            asked.get() > 20
        };
        let budget = Budget {
            conflicts: None,
            interrupt: Some(&interrupt),
        };
        assert_eq!(solver.check(&t, &[hard], &budget), Answer::Unknown);
        assert!(asked.get() > 20);
    }
}

/// A sequence of questions, with all that can be seen of the answers.
fn session(backend: Backend) -> (Vec<(Answer, Vec<u128>)>, Statistics) {
    let mut pool = Pool::new(5, &[8, 16], 1);
    let mut solver = Solver::new(backend);
    let mut seen = Vec::new();
    for _ in 0..120 {
        let term = pool.grow();
        if pool.terms.sort(term) != Sort::Bool {
            continue;
        }
        let answer = check(&mut solver, &pool.terms, &[term]);
        let values = match answer {
            Answer::Satisfiable => pool
                .variables
                .iter()
                .map(|&variable| solver.value(&pool.terms, variable).bits())
                .collect(),
            _ => Vec::new(),
        };
        seen.push((answer, values));
    }
    (seen, solver.statistics())
}

#[test]
fn the_same_questions_get_the_same_answers() {
    for backend in Backend::ALL {
        let (first, statistics) = session(backend);
        assert!(
            first
                .iter()
                .any(|(answer, _)| *answer == Answer::Satisfiable)
        );
        assert!(statistics.clauses > 1000 && statistics.calls > 20);
        assert_eq!(session(backend), (first, statistics));
    }
}

#[test]
fn tables_are_read_as_they_were_written() {
    // Constants written at constant indices, some twice, over something unknown, with a store at an open index between.
    for backend in Backend::ALL {
        for seed in 0..20 {
            let mut random = common::Random::new(seed);
            let mut t = Terms::new();
            let sort = Sort::Array {
                index: 5,
                element: 8,
            };
            let base = t.variable("a", sort);
            let (i, j) = (bits(&mut t, "i", 5), bits(&mut t, "j", 5));
            let mut array = base;
            for at in 0..random.below(60) {
                let place = random.bits(5);
                let index = if at == 20 { j } else { t.constant(5, place) };
                let element = random.bits(8);
                let element = t.constant(8, element);
                array = t.store(array, index, element);
            }
            let read = t.select(array, i);
            let mut solver = Solver::new(backend);
            for _ in 0..40 {
                let mut assignment = Assignment::new();
                assignment.set_bits(&t, i, random.bits(5));
                assignment.set_bits(&t, j, random.bits(5));
                let mut value = patchwright_solve::ArrayValue::default();
                let mut facts = Vec::new();
                for index in 0..32 {
                    let element = random.bits(8);
                    value.set(index, element);
                    let (index, element) = (t.constant(5, index), t.constant(8, element));
                    let there = t.select(base, index);
                    facts.push(t.eq(there, element));
                }
                assignment.set(&t, base, Value::Array(value.into()));
                for variable in [i, j] {
                    let value = assignment.get(&t, variable).bits();
                    let value = t.constant(5, value);
                    facts.push(t.eq(variable, value));
                }
                let expected = t.evaluate(read, &assignment).bits();
                let expected = t.constant(8, expected);
                facts.push(t.eq(read, expected));
                assert_eq!(check(&mut solver, &t, &facts), Answer::Satisfiable);
                let last = facts.pop().unwrap();
                facts.push(t.not(last));
                assert_eq!(check(&mut solver, &t, &facts), Answer::Unsatisfiable);
            }
        }
    }
}

#[test]
fn stores_of_any_number_are_read_through() {
    for backend in Backend::ALL {
        let mut t = Terms::new();
        let sort = Sort::Array {
            index: 32,
            element: 8,
        };
        let mut array = t.variable("a", sort);
        let i = bits(&mut t, "i", 32);
        for at in 0..2000u128 {
            let index = t.constant(32, at);
            let element = t.constant(8, at & mask(8));
            array = t.store(array, index, element);
        }
        let read = t.select(array, i);
        let limit = t.constant(32, 2000);
        let inside = t.ult(i, limit);
        let low = t.extract(i, 7, 0);
        let wrong = t.ne(read, low);
        let mut solver = Solver::new(backend);
        let seven = t.constant(8, 7);
        let is_seven = t.eq(read, seven);
        assert_eq!(
            check(&mut solver, &t, &[inside, is_seven]),
            Answer::Satisfiable
        );
        assert_eq!(
            check(&mut solver, &t, &[inside, wrong]),
            Answer::Unsatisfiable
        );
    }
}
