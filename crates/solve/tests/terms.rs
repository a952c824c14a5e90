//! Terms mean what Rust's numbers say, however much they were simplified.

use std::collections::HashMap;

use crate::common::Pool;
use patchwright_solve::{Assignment, Node, Sort, Term, Terms, Value};

fn agree(mut pool: Pool, steps: usize) {
    for _ in 0..steps {
        pool.grow();
    }
    pool.check();
    // The same with constants for the variables: everything folds.
    for at in 0..pool.assignments.len() {
        let mut constants = HashMap::new();
        for &variable in &pool.variables {
            let value = pool.assignments[at].get(&pool.terms, variable).bits();
            let constant = match pool.terms.sort(variable) {
                Sort::Bool => pool.terms.truth(value == 1),
                Sort::Bits(width) => pool.terms.constant(width, value),
                Sort::Array { .. } => unreachable!(),
            };
            constants.insert(variable, constant);
        }
        let all: Vec<Term> = pool.made.iter().map(|(term, _)| *term).collect();
        let folded = pool.terms.substitute_all(&all, &constants);
        for ((_, values), folded) in pool.made.iter().zip(folded) {
            let found = match pool.terms.node(folded) {
                Node::Truth(value) => u128::from(value),
                Node::Constant(value) => value,
                other => panic!("{other:?} is no constant"),
            };
            assert_eq!(found, values[at]);
        }
        // And with some of them only.
        let some: HashMap<Term, Term> = constants
            .into_iter()
            .filter(|_| pool.random.below(2) == 0)
            .collect();
        for (term, new) in all.iter().zip(pool.terms.substitute_all(&all, &some)) {
            let assignment = &pool.assignments[at];
            assert_eq!(
                pool.terms.evaluate(*term, assignment),
                pool.terms.evaluate(new, assignment)
            );
        }
    }
}

#[test]
fn simplified_terms_of_small_widths_mean_the_same_for_all_values() {
    for seed in 0..60 {
        for width in 1..=4 {
            let mut pool = Pool::new(seed, &[width], 0);
            pool.all_values(width);
            for _ in 0..80 {
                pool.grow();
            }
            pool.check();
        }
    }
}

#[test]
fn simplified_terms_of_mixed_widths_mean_the_same() {
    for seed in 0..150 {
        agree(Pool::new(seed, &[1, 3, 8, 16, 32, 64, 128], 6), 120);
        agree(Pool::new(1000 + seed, &[8, 32], 6), 120);
        agree(Pool::new(2000 + seed, &[5, 7, 12], 6), 120);
    }
}

#[test]
fn simplified_terms_of_floating_point_mean_the_same() {
    for seed in 0..100 {
        agree(Pool::of_floats(seed, 6), 100);
    }
}

fn bits(terms: &mut Terms, name: &str, width: u32) -> Term {
    terms.variable(name, Sort::Bits(width))
}

#[test]
fn what_is_built_twice_is_one_term() {
    let mut t = Terms::new();
    let (x, y) = (bits(&mut t, "x", 32), bits(&mut t, "y", 32));
    assert_eq!(t.add(x, y), t.add(y, x));
    assert_eq!(t.mul(x, y), t.mul(y, x));
    assert_eq!(t.eq(x, y), t.eq(y, x));
    assert_eq!(t.variable("x", Sort::Bits(32)), x);
    let f = t.apply("f", &[x, y], Sort::Bits(8));
    assert_eq!(t.apply("f", &[x, y], Sort::Bits(8)), f);
    assert_ne!(t.apply("f", &[y, x], Sort::Bits(8)), f);
    let (a, b) = (t.fresh("v", Sort::Bool), t.fresh("v", Sort::Bool));
    assert_ne!(a, b);
}

#[test]
fn truth_in_a_number_and_back_leaves_nothing() {
    let mut t = Terms::new();
    let (x, y) = (bits(&mut t, "x", 32), bits(&mut t, "y", 32));
    let less = t.slt(x, y);
    let number = t.from_truth(less, 32);
    let zero = t.constant(32, 0);
    let is_zero = t.eq(number, zero);
    assert_eq!(is_zero, t.not(less));
    let wide = t.sign_extend(number, 64);
    let zero = t.constant(64, 0);
    assert_eq!(t.ne(wide, zero), less);
    let other = t.ult(x, y);
    let other_number = t.from_truth(other, 32);
    let both = t.bit_and(number, other_number);
    let zero = t.constant(32, 0);
    let is_set = t.ne(both, zero);
    assert_eq!(is_set, t.and(less, other));
}

#[test]
fn paths_that_meet_again_leave_no_condition() {
    let mut t = Terms::new();
    let [p, c] = ["p", "c"].map(|name| t.variable(name, Sort::Bool));
    let no = t.not(c);
    let (then, otherwise) = (t.and(p, c), t.and(p, no));
    assert_eq!(t.or(then, otherwise), p);
    let never = t.and(then, otherwise);
    assert_eq!(t.as_truth(never), Some(false));
}

#[test]
fn bytes_that_are_cut_out_and_put_together_are_the_number() {
    let mut t = Terms::new();
    let x = bits(&mut t, "x", 32);
    let mut whole = t.extract(x, 7, 0);
    for byte in 1..4 {
        let part = t.extract(x, 8 * byte + 7, 8 * byte);
        whole = t.concat(part, whole);
    }
    assert_eq!(whole, x);
    // With shifts, as programs do it.
    let mut sum = t.constant(32, 0);
    for byte in 0..4 {
        let part = t.extract(x, 8 * byte + 7, 8 * byte);
        let wide = t.zero_extend(part, 32);
        let count = t.constant(32, u128::from(8 * byte));
        let shifted = t.shl(wide, count);
        sum = t.bit_or(sum, shifted);
    }
    assert_eq!(sum, x);
    let wide = t.sign_extend(x, 64);
    let mut whole = t.extract(wide, 7, 0);
    for byte in 1..8 {
        let part = t.extract(wide, 8 * byte + 7, 8 * byte);
        whole = t.concat(part, whole);
    }
    assert_eq!(whole, wide);
}

#[test]
fn sums_with_constants_are_in_one_form() {
    let mut t = Terms::new();
    let (x, y) = (bits(&mut t, "x", 32), bits(&mut t, "y", 32));
    let one = t.constant(32, 1);
    let more = t.add(x, one);
    assert_eq!(t.sub(more, one), x);
    let sum = t.add(more, y);
    assert_eq!(t.sub(sum, y), more);
    let twice = t.add(more, one);
    let two = t.constant(32, 2);
    assert_eq!(twice, t.add(x, two));
    let five = t.constant(32, 5);
    let three = t.constant(32, 3);
    let is_five = t.eq(twice, five);
    assert_eq!(is_five, t.eq(x, three));
    let equal = t.eq(more, x);
    assert_eq!(t.as_truth(equal), Some(false));
    let overflows = t.add_overflows_signed(x, one);
    let last = t.constant(32, 0x7FFF_FFFF);
    assert_eq!(overflows, t.eq(x, last));
}

#[test]
fn quotient_and_rest_give_the_dividend() {
    let mut t = Terms::new();
    let (x, y) = (bits(&mut t, "x", 32), bits(&mut t, "y", 32));
    let ten = t.constant(32, 10);
    for by in [y, ten] {
        for (quotient, rest) in [
            (t.udiv(x, by), t.urem(x, by)),
            (t.sdiv(x, by), t.srem(x, by)),
        ] {
            let product = t.mul(quotient, by);
            assert_eq!(t.add(product, rest), x);
            assert_eq!(t.sub(x, product), rest);
        }
    }
}

#[test]
fn what_cannot_overflow_is_seen() {
    let mut t = Terms::new();
    let (x, y) = (bits(&mut t, "x", 16), bits(&mut t, "y", 16));
    let (a, b) = (t.sign_extend(x, 32), t.sign_extend(y, 32));
    for overflows in [
        t.add_overflows_signed(a, b),
        t.sub_overflows_signed(a, b),
        t.mul_overflows_signed(a, b),
    ] {
        assert_eq!(t.as_truth(overflows), Some(false));
    }
    let (a, b) = (t.zero_extend(x, 32), t.zero_extend(y, 32));
    let overflows = t.mul_overflows_unsigned(a, b);
    assert_eq!(t.as_truth(overflows), Some(false));
}

#[test]
fn elements_are_found_under_stores_that_are_elsewhere() {
    let mut t = Terms::new();
    let array = t.variable(
        "a",
        Sort::Array {
            index: 64,
            element: 8,
        },
    );
    let (i, v) = (bits(&mut t, "i", 64), bits(&mut t, "v", 8));
    let base = bits(&mut t, "base", 64);
    let [one, two] = [1, 2].map(|k| t.constant(64, k));
    let [at_one, at_two] = [one, two].map(|k| t.add(base, k));
    let w = t.constant(8, 7);
    let stored = t.store(array, at_one, v);
    let stored = t.store(stored, at_two, w);
    assert_eq!(t.select(stored, at_one), v);
    assert_eq!(t.select(stored, at_two), w);
    let open = t.select(stored, i);
    assert!(t.as_constant(open).is_none());
    let zeros = t.array_of(64, w);
    assert_eq!(t.select(zeros, i), w);

    let mut assignment = Assignment::new();
    assignment.set_bits(&t, i, 5);
    assignment.set_bits(&t, base, 3);
    assignment.set_bits(&t, v, 9);
    assert_eq!(t.evaluate(open, &assignment), Value::Bits(7));
    assignment.set_bits(&t, base, 4);
    assert_eq!(t.evaluate(open, &assignment), Value::Bits(9));
    assignment.set_bits(&t, base, 0);
    let mut elements = patchwright_solve::ArrayValue::default();
    elements.set(5, 11);
    assignment.set(&t, array, Value::Array(elements.into()));
    assert_eq!(t.evaluate(open, &assignment), Value::Bits(11));
    let Value::Array(found) = t.evaluate(stored, &assignment) else {
        panic!("it is an array");
    };
    assert_eq!([1, 2, 5, 6].map(|index| found.get(index)), [9, 7, 11, 0]);
}

#[test]
fn elements_are_found_where_two_arrays_meet() {
    let mut t = Terms::new();
    let zero = t.constant(8, 0);
    let array = t.array_of(32, zero);
    let (p, v) = (t.variable("p", Sort::Bool), bits(&mut t, "v", 8));
    let [one, two, three] = [1, 2, 3].map(|k| t.constant(32, k));
    let then = t.store(array, one, v);
    let otherwise = t.store(array, two, v);
    let either = t.ite(p, then, otherwise);
    let expected = t.ite(p, v, zero);
    assert_eq!(t.select(either, one), expected);
    assert_eq!(t.select(either, three), zero);
    let above = t.store(either, three, v);
    assert_eq!(t.select(above, one), expected);
    // Where one of both is open, so is the element.
    let unknown = t.variable("a", t.sort(array));
    let open = t.ite(p, then, unknown);
    let read = t.select(open, one);
    assert!(matches!(t.node(read), Node::Select(..)));
}

#[test]
fn terms_of_any_depth_are_walked_through() {
    let mut t = Terms::new();
    let x = bits(&mut t, "x", 32);
    let (mut sum, mut path) = (x, t.truth(true));
    for round in 0..30_000 {
        let k = t.constant(32, round | 1);
        let product = t.mul(sum, sum);
        sum = t.bit_xor(product, k);
        let below = t.slt(sum, x);
        path = t.and(path, below);
    }
    let choice = t.ite(path, sum, x);
    let three = t.constant(32, 3);
    let folded = t.substitute(choice, &HashMap::from([(x, three)]));
    assert!(t.as_constant(folded).is_some());
    let mut assignment = Assignment::new();
    assignment.set_bits(&t, x, 3);
    assert_eq!(
        t.evaluate(choice, &assignment).bits(),
        t.as_constant(folded).unwrap()
    );
    assert!(t.size(choice) > 90_000);
    assert_eq!(t.variables_of(choice), [x]);
}
