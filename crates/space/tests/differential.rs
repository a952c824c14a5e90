//! Terms mean what C compilers make of them: values, types, undefined behaviour and text.
//!
//! Everything is derived from fixed seeds.

mod program;
mod random;
mod typing;
mod walk;

use std::thread;

use self::program::{Purpose, compiler, messages, run, source};
use self::random::{Random, World};
use self::walk::{Rows, Scalar, result_type};
use patchwright_semantics::evaluate;
use patchwright_space::term::{CType, Context, Kind, Simplification, Term, compile};

/// Strict C17, and an error for everything that people put parentheses round for clarity.
const STRICT: [&str; 6] = [
    "-std=gnu17",
    "-pedantic-errors",
    "-Wparentheses",
    "-Werror=parentheses",
    "-Wlogical-not-parentheses",
    "-Werror=logical-not-parentheses",
];

struct Batch {
    terms: Vec<(Term, Context)>,
    states: Vec<Vec<u64>>,
    /// By term, then by state; `None` is ⊥.
    values: Vec<Vec<Option<u64>>>,
}

impl Batch {
    fn new(world: &World, seed: u64, terms: usize, states: usize) -> Self {
        let mut random = Random::new(seed);
        let terms: Vec<_> = (0..terms)
            .map(|i| {
                let term = world.term(&mut random, 1 + i % 4);
                let context = world.context(&mut random, &term);
                (term, context)
            })
            .collect();
        let states: Vec<_> = (0..states).map(|_| world.state(&mut random)).collect();
        let values = terms
            .iter()
            .map(|(term, context)| scalar_values(world, term, *context, &states))
            .collect();
        Self {
            terms,
            states,
            values,
        }
    }

    fn defined(&self) -> Vec<Vec<bool>> {
        let is_defined = |row: &Vec<Option<u64>>| row.iter().map(Option::is_some).collect();
        self.values.iter().map(is_defined).collect()
    }
}

fn scalar_values(
    world: &World,
    term: &Term,
    context: Context,
    states: &[Vec<u64>],
) -> Vec<Option<u64>> {
    let (atoms, pointees) = (&world.atoms, &world.pointees);
    states
        .iter()
        .map(|state| {
            Scalar {
                atoms,
                pointees,
                state,
            }
            .in_context(term, context)
        })
        .collect()
}

/// Equality of values, all NaNs being one.
fn same(ctype: CType, a: Option<u64>, b: Option<u64>) -> bool {
    let is_nan = |value: Option<u64>| {
        value.is_some_and(|value| match ctype {
            CType::Float => f32::from_bits(value as u32).is_nan(),
            CType::Double => f64::from_bits(value).is_nan(),
            _ => false,
        })
    };
    a == b || is_nan(a) && is_nan(b)
}

#[test]
#[ignore = "nightly: 7 s; a_term_is_undefined_exactly_where_the_undefined_behaviour_sanitizers_trap goes this way"]
fn terms_have_the_values_that_gcc_computes_with_and_without_optimisation() {
    let world = World::new();
    let mut pairs = 0;
    let batches = patchwright_testkit::cases(2, 4);
    for seed in 1..=batches {
        let batch = &Batch::new(&world, seed, 1_000, 50);
        let source = &source(&world, &batch.terms, batch.states.len(), Purpose::Values);
        let wanted = &batch.defined();
        let results = thread::scope(|scope| {
            let levels = ["-O0", "-O2"].map(|level| {
                scope.spawn(move || {
                    let flags = [&STRICT[..], &[level]].concat();
                    run(source, &flags, "gcc", &batch.states, wanted)
                })
            });
            levels.map(|level| level.join().expect("no panic"))
        });
        for (t, (term, context)) in batch.terms.iter().enumerate() {
            let ctype = result_type(term, *context);
            for (s, state) in batch.states.iter().enumerate() {
                let Some(expected) = batch.values[t][s] else {
                    continue;
                };
                pairs += 1;
                for result in &results {
                    assert!(
                        same(ctype, Some(result[t][s]), Some(expected)),
                        "{} as {context:?} is {:#x} for gcc and {expected:#x} for us in {state:x?}",
                        world.text(term),
                        result[t][s],
                    );
                }
            }
        }
    }
    println!("{pairs} defined pairs of term and state agree with gcc");
    assert!(pairs >= 25_000 * batches, "only {pairs} pairs are defined");
}

#[test]
fn a_term_is_undefined_exactly_where_the_undefined_behaviour_sanitizers_trap() {
    let world = World::new();
    // Clang is exact but for pointers, whose check is left out because it takes adding 0 to a null
    // pointer for undefined, which C2y defines. gcc checks pointers, but folds some conditions
    // (`-x != 0` to `x != 0`) before it looks at them, so it is no witness that a term is defined.
    let compilers: [(&str, &[&str]); 2] = [
        (
            "gcc",
            &[
                "-std=gnu17",
                "-w",
                "-O0",
                "-fsanitize=undefined,float-cast-overflow",
                "-fsanitize-undefined-trap-on-error",
            ],
        ),
        (
            "clang-19",
            &[
                "-std=gnu17",
                "-w",
                "-O0",
                "-fsanitize=undefined,float-cast-overflow",
                "-fno-sanitize=pointer-overflow",
                "-fsanitize-trap=all",
            ],
        ),
    ];
    let batch = &Batch::new(&world, 99, 1_500, 30);
    let source = &source(&world, &batch.terms, batch.states.len(), Purpose::Traps);
    let all = &vec![vec![true; batch.states.len()]; batch.terms.len()];
    let traps = thread::scope(|scope| {
        compilers
            .map(|(command, flags)| {
                scope.spawn(move || run(source, flags, command, &batch.states, all))
            })
            .map(|thread| thread.join().expect("no panic"))
    });
    let (mut undefined, mut defined) = (0, 0);
    let mut complaints = Vec::new();
    for (t, (term, context)) in batch.terms.iter().enumerate() {
        for (s, state) in batch.states.iter().enumerate() {
            let ours = batch.values[t][s].is_none();
            *(if ours { &mut undefined } else { &mut defined }) += 1;
            for ((command, _), traps) in compilers.iter().zip(&traps) {
                let theirs = traps[t][s] != 0;
                let unseen = ours && (*command == "gcc" || moves_pointers(term));
                if ours != theirs && !unseen {
                    complaints.push(format!(
                        "{} as {context:?}: undefined for us {ours}, for {command} {theirs}; {state:x?}",
                        world.text(term)
                    ));
                }
            }
        }
    }
    println!("{undefined} undefined and {defined} defined pairs compared");
    for complaint in complaints.iter().take(15) {
        println!("{complaint}");
    }
    assert!(complaints.is_empty(), "{} disagreements", complaints.len());
    assert!(undefined > 3_000 && defined > 15_000);
}

/// Whether there is pointer arithmetic in a term, of which no sanitizer checks everything: uneven
/// differences, for example.
fn moves_pointers(term: &Term) -> bool {
    match term.kind() {
        Kind::Atom(_) | Kind::Constant(..) => false,
        Kind::Unary(_, a) | Kind::Cast(a) => moves_pointers(a),
        Kind::LogicalAnd(a, b) | Kind::LogicalOr(a, b) => moves_pointers(a) || moves_pointers(b),
        Kind::Conditional(a, b, c) => [a, b, c].into_iter().any(moves_pointers),
        Kind::Binary(op, a, b) => {
            let pointer = a.pointee().is_some() || b.pointee().is_some();
            pointer && !op.is_comparison() || moves_pointers(a) || moves_pointers(b)
        }
    }
}

#[test]
fn compiled_terms_and_columns_have_the_values_of_the_scalar_operators() {
    let world = World::new();
    let (atoms, pointees) = (&world.atoms, &world.pointees);
    let batch = Batch::new(&world, 7, 8_000, 50);
    let defined = vec![0; atoms.iter().count()];
    for (t, (term, context)) in batch.terms.iter().enumerate() {
        let ctype = result_type(term, *context);
        let code = compile(term, *context, atoms, pointees).expect("small and well-typed");
        let rows = Rows {
            atoms,
            pointees,
            states: &batch.states,
        };
        let column = rows.in_context(term, *context);
        for (s, state) in batch.states.iter().enumerate() {
            let expected = batch.values[t][s];
            for (how, value) in [
                ("code", evaluate(&code, state, &defined)),
                ("column", column.get(s)),
            ] {
                assert!(
                    same(ctype, value, expected),
                    "{how} of {} as {context:?}: {value:x?} instead of {expected:x?} in {state:x?}",
                    world.text(term)
                );
            }
        }
    }
}

#[test]
fn a_simplification_has_the_value_of_the_term_wherever_that_is_defined() {
    let world = World::new();
    let mut random = Random::new(11);
    let states: Vec<_> = (0..60).map(|_| world.state(&mut random)).collect();
    let (mut equal, mut undefined) = (0, 0);
    for i in 0..60_000 {
        let mut term = world.term(&mut random, 1 + i % 3);
        // Equal operands are rare by chance.
        if let (Kind::Binary(op, left, _), 0) = (term.kind(), i % 5)
            && let Ok(doubled) = Term::binary(*op, left.clone(), left.clone(), &world.pointees)
        {
            term = doubled;
        }
        let mut steps = 0;
        loop {
            let values = scalar_values(&world, &term, Context::Same, &states);
            match term.simplification(&world.pointees) {
                None => break,
                Some(Simplification::Undefined) => {
                    undefined += 1;
                    assert!(values.iter().all(Option::is_none), "{}", world.text(&term));
                    break;
                }
                Some(Simplification::Equal(simpler)) => {
                    equal += 1;
                    assert!(simpler.size() <= term.size(), "{}", world.text(&term));
                    let others = scalar_values(&world, &simpler, Context::Same, &states);
                    for (value, other) in values.iter().zip(&others) {
                        assert!(
                            value.is_none() || same(term.ctype(), *value, *other),
                            "{} is {value:x?} and {} is {other:x?}",
                            world.text(&term),
                            world.text(&simpler)
                        );
                    }
                    term = simpler;
                    steps += 1;
                    assert!(steps < 100, "{} is simplified forever", world.text(&term));
                }
            }
        }
    }
    println!("{equal} simplifications, {undefined} terms without a value");
    assert!(equal > 10_000 && undefined > 50);
}

#[test]
fn clang_does_not_ask_for_parentheses_either() {
    let world = World::new();
    let batch = Batch::new(&world, 5, 2_000, 1);
    let source = source(&world, &batch.terms, 1, Purpose::Values);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let flags = [
        "-std=gnu17",
        "-fsyntax-only",
        "-Wno-everything",
        "-Werror=parentheses",
        "-Werror=logical-not-parentheses",
        "-Werror=bitwise-op-parentheses",
        "-Werror=logical-op-parentheses",
        "-Werror=shift-op-parentheses",
    ];
    let output = compiler("clang-19", &flags, &source, folder.path(), "warnings");
    assert!(output.status.success(), "{}", messages(&output));
}
