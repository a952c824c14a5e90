//! Another solver, z3, says the same. It is installed by `scripts/setup`; without it these tests fail.
#![allow(clippy::disallowed_methods)] // tests start processes themselves

use crate::common;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::Pool;
use patchwright_solve::{Answer, Backend, Budget, Float, Solver, Sort, Term, Terms, smtlib};

/// The answers to the questions of a script.
fn asked(script: &str) -> Vec<String> {
    let mut child = Command::new("z3")
        .args(["-in", "-smt2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("z3 is installed: scripts/setup does it");
    let mut input = child.stdin.take().unwrap();
    let script = script.to_owned();
    let writer = std::thread::spawn(move || input.write_all(script.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// Questions about terms of one pool, to be asked together.
struct Questions {
    script: String,
    expected: Vec<Answer>,
    said: Vec<String>,
}

impl Questions {
    fn new(terms: &Terms, all: &[Term]) -> Self {
        Questions {
            script: smtlib::definitions(terms, all),
            expected: Vec::new(),
            said: Vec::new(),
        }
    }

    fn add(&mut self, assertions: &[String], expected: Answer, said: String) {
        self.script.push_str("(push)\n");
        for assertion in assertions {
            let _ = writeln!(self.script, "(assert {assertion})");
        }
        self.script.push_str("(check-sat)\n(pop)\n");
        self.expected.push(expected);
        self.said.push(said);
    }

    fn compare(self) {
        let answers = asked(&self.script);
        assert_eq!(answers.len(), self.expected.len(), "{answers:?}");
        for ((answer, expected), said) in answers.iter().zip(self.expected).zip(self.said) {
            let expected = match expected {
                Answer::Satisfiable => "sat",
                Answer::Unsatisfiable => "unsat",
                Answer::Unknown => unreachable!("nothing was bounded"),
            };
            assert_eq!(answer, expected, "{said}");
        }
    }
}

/// Random questions get the same answers, and the values of our models satisfy them there, too.
fn agree(mut pool: Pool, steps: usize, questions: usize) {
    let mut truths = Vec::new();
    for _ in 0..steps {
        let term = pool.grow();
        if pool.terms.sort(term) == Sort::Bool && pool.terms.as_truth(term).is_none() {
            truths.push(term);
        }
    }
    let all: Vec<Term> = pool.made.iter().map(|(term, _)| *term).collect();
    let mut asked = Questions::new(&pool.terms, &all);
    let mut solver = Solver::new(Backend::default());
    for _ in 0..questions {
        let count = 1 + pool.random.below(3);
        let terms: Vec<Term> = (0..count).map(|_| pool.random.pick(&truths)).collect();
        let answer = solver.check(&pool.terms, &terms, &Budget::none());
        let mut assertions: Vec<String> = terms
            .iter()
            .map(|&term| smtlib::reference(&pool.terms, term))
            .collect();
        let said = format!("{terms:?}");
        asked.add(&assertions, answer, said.clone());
        if answer == Answer::Satisfiable {
            for &variable in &pool.variables {
                let value = solver.value(&pool.terms, variable).bits();
                let literal = match pool.terms.sort(variable) {
                    Sort::Bits(width) => smtlib::literal(width, value),
                    _ => (value == 1).to_string(),
                };
                let name = smtlib::reference(&pool.terms, variable);
                assertions.push(format!("(= {name} {literal})"));
            }
            asked.add(&assertions, answer, format!("the model of {said}"));
        }
    }
    asked.compare();
}

#[test]
fn random_questions_about_bits_get_the_same_answers() {
    for seed in 0..30 {
        agree(Pool::new(seed, &[1, 4, 6], 1), 60, 12);
        // Without what is hard for all solvers.
        let mut pool = Pool::new(100 + seed, &[8, 16, 32, 64], 1);
        pool.hard = false;
        agree(pool, 60, 12);
    }
}

/// With the operands known, only one result is possible: for us, and there.
fn results_agree(mut pool: Pool, steps: usize) {
    for _ in 0..steps {
        pool.grow();
    }
    let all: Vec<Term> = pool.made.iter().map(|(term, _)| *term).collect();
    let mut asked = Questions::new(&pool.terms, &all);
    for at in 0..pool.assignments.len() {
        let mut assertions = Vec::new();
        let mut wrong = String::from("(or");
        for (place, (term, values)) in pool.made.iter().enumerate() {
            let literal = match pool.terms.sort(*term) {
                Sort::Bits(width) => smtlib::literal(width, values[at]),
                _ => (values[at] == 1).to_string(),
            };
            let name = smtlib::reference(&pool.terms, *term);
            if place < pool.variables.len() {
                assertions.push(format!("(= {name} {literal})"));
            } else {
                let _ = write!(wrong, " (distinct {name} {literal})");
            }
        }
        wrong.push(')');
        assertions.push(wrong);
        asked.add(&assertions, Answer::Unsatisfiable, format!("values {at}"));
    }
    asked.compare();
}

#[test]
fn operations_on_known_bits_have_the_same_results() {
    for seed in 0..30 {
        results_agree(Pool::new(seed, &[1, 3, 8, 16, 32, 64, 128], 4), 80);
    }
}

#[test]
fn operations_on_known_floating_point_numbers_have_the_same_results() {
    for seed in 0..20 {
        results_agree(Pool::of_floats(seed, 4), 60);
    }
}

#[test]
#[ignore = "nightly: 5 s; random_questions_about_bits_get_the_same_answers goes this way"]
fn questions_about_floating_point_get_the_same_answers() {
    // z3 takes a minute for these in binary64, and for differences in any format.
    {
        let kind = Float::F32;
        let mut t = Terms::new();
        let sort = Sort::Bits(kind.width());
        let (x, y) = (t.variable("x", sort), t.variable("y", sort));
        let n = t.variable("n", Sort::Bits(16));
        let one = t.constant(16, 1);
        let one = t.float_from_signed(kind, one);
        let whole = t.float_from_signed(kind, n);
        let back = t.float_to_signed(kind, whole, 16);
        let sum = t.float_add(kind, x, one);
        let sum_other = t.float_add(kind, x, y);
        let less = t.float_lt(kind, sum, x);
        let stays = t.float_eq(kind, sum, x);
        let equal = t.float_eq(kind, x, y);
        let (nan_x, nan_y) = (t.float_is_nan(kind, x), t.float_is_nan(kind, y));
        let nan_sum = t.float_is_nan(kind, sum_other);
        let questions = vec![
            vec![less],
            vec![stays],
            vec![nan_sum, t.not(nan_x), t.not(nan_y)],
            vec![t.ne(back, n)],
            vec![nan_x, equal],
        ];
        let all: Vec<Term> = questions.iter().flatten().copied().collect();
        let mut asked = Questions::new(&t, &all);
        let mut solver = Solver::new(Backend::default());
        for question in questions {
            let answer = solver.check(&t, &question, &Budget::none());
            let assertions: Vec<String> = question
                .iter()
                .map(|&term| smtlib::reference(&t, term))
                .collect();
            asked.add(&assertions, answer, format!("{question:?} of {kind:?}"));
        }
        asked.compare();
    }
}

#[test]
fn random_questions_about_arrays_and_functions_get_the_same_answers() {
    for seed in 0..40 {
        let mut random = common::Random::new(seed);
        let mut t = Terms::new();
        let sort = Sort::Array {
            index: 3,
            element: 4,
        };
        let mut arrays = vec![t.variable("a", sort), t.variable("b", sort)];
        let zero = t.constant(4, 0);
        arrays.push(t.array_of(3, zero));
        let mut indices = Vec::new();
        let mut elements = Vec::new();
        let mut truths = Vec::new();
        for at in 0..3 {
            indices.push(t.variable(&format!("i{at}"), Sort::Bits(3)));
            elements.push(t.variable(&format!("e{at}"), Sort::Bits(4)));
            truths.push(t.variable(&format!("p{at}"), Sort::Bool));
        }
        for _ in 0..40 {
            let (array, index, element, truth) = (
                random.pick(&arrays),
                random.pick(&indices),
                random.pick(&elements),
                random.pick(&truths),
            );
            let other = random.pick(&elements);
            match random.below(8) {
                0 | 1 => arrays.push(t.store(array, index, element)),
                2 => arrays.push({
                    let other = random.pick(&arrays);
                    t.ite(truth, array, other)
                }),
                3 | 4 => elements.push(t.select(array, index)),
                5 => elements.push(t.apply("f", &[index, truth], Sort::Bits(4))),
                6 => indices.push(t.extract(element, 2, 0)),
                _ => truths.push(match random.below(3) {
                    0 => t.eq(element, other),
                    1 => t.ult(element, other),
                    _ => t.apply("q", &[element, other], Sort::Bool),
                }),
            }
        }
        let questions: Vec<Vec<Term>> = (0..12)
            .map(|_| {
                (0..4)
                    .map(|_| {
                        let term = random.pick(&truths);
                        if random.below(2) == 0 {
                            term
                        } else {
                            t.not(term)
                        }
                    })
                    .collect()
            })
            .collect();
        let all: Vec<Term> = questions.iter().flatten().copied().collect();
        let mut asked = Questions::new(&t, &all);
        let mut solver = Solver::new(Backend::default());
        for question in questions {
            let answer = solver.check(&t, &question, &Budget::none());
            if answer == Answer::Satisfiable {
                for &term in &question {
                    assert!(solver.value(&t, term).truth());
                }
            }
            let assertions: Vec<String> = question
                .iter()
                .map(|&term| smtlib::reference(&t, term))
                .collect();
            asked.add(&assertions, answer, format!("{question:?}, seed {seed}"));
        }
        asked.compare();
    }
}

#[test]
fn a_whole_query_is_understood() {
    let mut t = Terms::new();
    let x = t.variable("a strange | name", Sort::Bits(8));
    let y = t.variable("y", Sort::Bits(8));
    let product = t.mul(x, y);
    let k = t.constant(8, 35);
    let equal = t.eq(product, k);
    let five = t.constant(8, 5);
    let is_five = t.eq(x, five);
    assert_eq!(asked(&smtlib::query(&t, &[equal, is_five])), ["sat"]);
    let two = t.constant(8, 2);
    let even = t.mul(y, two);
    let odd = t.eq(even, k);
    assert_eq!(asked(&smtlib::query(&t, &[equal, odd])), ["unsat"]);
}
