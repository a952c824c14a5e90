//! What is hard for a solver by itself: products, functions of `math.h`; and other orders of looking at inputs.

use crate::common::{Asked, compared};
use patchwright_compare::{Kind, Strategy, Verdict, executes_change};

#[test]
#[ignore = "nightly: 4 s; functions_of_which_nothing_is_known_are_what_they_are_where_versions_differ goes this way"]
fn products_that_are_written_otherwise_are_the_same_and_what_is_added_to_them_is_found() {
    let old = "unsigned f(unsigned a, unsigned b) { return a * a - b * b; }\n";
    let new = "unsigned f(unsigned a, unsigned b) { return (a - b) * (a + b); }\n";
    let answer = compared(old, new, &Asked::function("f"));
    assert_eq!(answer.verdict, Verdict::Equal);
    let new = "unsigned f(unsigned a, unsigned b) { return (a - b) * (a + b) + (a == 77u); }\n";
    let answer = compared(old, new, &Asked::function("f"));
    assert_eq!(answer.verdict, Verdict::Different);
    assert_eq!(answer.with("a == 77").kind, Kind::Different);
    assert!(answer.explored.differences_complete);
}

#[test]
fn functions_of_which_nothing_is_known_are_what_they_are_where_versions_differ() {
    let old = "double sin(double); double cos(double);\n\
               double f(double x) { return sin(x) * sin(x) + cos(x) * cos(x); }\n";
    let new = "double f(double x) { return 1.0; }\n";
    let answer = compared(old, new, &Asked::function("f"));
    assert_eq!(answer.verdict, Verdict::Different);
    // The sample is one for which rounding really shows.
    let name = answer.pair.inputs()[0].term;
    let one = answer.explored.partitions.iter();
    let one = one.filter(|one| one.kind == Kind::Different);
    for partition in one {
        let bits = answer.terms.evaluate(name, &partition.model).bits();
        let x = f64::from_bits(bits as u64);
        assert_ne!(x.sin() * x.sin() + x.cos() * x.cos(), 1.0, "{x}");
    }
    // No number is known that differs, and none is excluded.
    let old = "double pow(double, double); double f(double x) { return pow(x, 2); }\n";
    let new = "double f(double x) { return x * x; }\n";
    let answer = compared(old, new, &Asked::function("f"));
    assert_eq!(answer.verdict, Verdict::Unknown);
    assert_eq!(answer.explored.open_functions, ["pow"]);
}

const OLD: &str = "int f(signed char i, signed char j)\n{\n    int r = 0, t = 0;\n    if (i > 0)\n        t = 1;\n    \
                   if (j > 0)\n        r += 2;\n    return r;\n}\n";

#[test]
fn all_paths_of_the_new_version_are_partitions_that_cover_everything() {
    let new = OLD.replace("r += 2", "r += 3");
    let mut asked = Asked::function("f");
    let directed = compared(OLD, &new, &asked);
    let mut found = directed.conditions();
    found.sort();
    assert_eq!(
        found,
        [
            (Kind::Different, "j > 0".to_owned()),
            (Kind::Equal, "j <= 0".to_owned())
        ]
    );
    asked.strategy = Strategy::AllPaths;
    let all = compared(OLD, &new, &asked);
    assert!(all.explored.covered);
    assert_eq!(all.verdict, Verdict::Different);
    let mut found = all.conditions();
    found.sort();
    assert_eq!(
        found,
        [
            (Kind::Different, "j > 0 && i <= 0".to_owned()),
            (Kind::Different, "j > 0 && i > 0".to_owned()),
            (Kind::Equal, "j <= 0 && i <= 0".to_owned()),
            (Kind::Equal, "j <= 0 && i > 0".to_owned()),
        ]
    );
}

#[test]
fn inputs_execute_a_change_or_do_not() {
    let new = OLD.replace("r += 2", "r += 3");
    let mut answer = compared(OLD, &new, &Asked::function("f"));
    let file = answer.pair.encoding(patchwright_compare::Side::New).steps[0]
        .place
        .file
        .clone();
    let lines = [7];
    let changed = [(file.as_str(), &lines[..]), (file.as_str(), &lines[..])];
    let executed = executes_change(&mut answer.terms, &answer.pair, changed);
    for partition in &answer.explored.partitions {
        let executes = answer.terms.evaluate(executed, &partition.model).truth();
        assert_eq!(executes, partition.kind == Kind::Different);
    }
}

#[test]
fn what_was_found_is_not_looked_for_again_and_looked_at_all_the_same() {
    let new = OLD.replace("r += 2", "r += 3").replace("i > 0", "i >= 0");
    let mut asked = Asked::function("f");
    let first = compared(OLD, &new, &asked);
    asked.known = first.found.clone();
    let again = compared(OLD, &new, &asked);
    assert_eq!(again.conditions(), first.conditions());
    assert_eq!(again.verdict, first.verdict);
    let [fewer, more] = [&again, &first].map(|one| one.explored.statistics.calls);
    assert!(fewer < more, "{fewer} {more}");
    // Of other versions it would be wrong, and no word of it is believed.
    let other = compared(OLD, OLD, &asked);
    assert_eq!(other.verdict, Verdict::Equal);
    assert!(
        other
            .conditions()
            .iter()
            .all(|(kind, _)| *kind == Kind::Equal)
    );
}

#[test]
fn what_is_printed_before_an_endless_loop_is_compared() {
    let old = "#include <stdio.h>\nint main(void) { int c = getchar(); if (c == 'x') { puts(\"a\"); for (;;); } return 0; }\n";
    let answer = compared(old, &old.replace("\"a\"", "\"b\""), &Asked::program());
    assert_eq!(answer.verdict, Verdict::Different);
    let answer = compared(old, old, &Asked::program());
    assert_eq!(answer.verdict, Verdict::Equal);
}

#[test]
fn what_is_beyond_the_bound_for_all_inputs_is_not_the_same_within_it() {
    let old = "unsigned f(unsigned n) { unsigned s = n; for (unsigned i = 0; i < 20 + (n & 1); i++) s ^= i; return s; }\n";
    let new = old.replace("return s", "return s + 1");
    let asked = |bound| Asked {
        bound,
        ..Asked::function("f")
    };
    assert_eq!(compared(old, &new, &asked(10)).verdict, Verdict::Unknown);
    assert_eq!(compared(old, &new, &asked(30)).verdict, Verdict::Different);
    // For some inputs it is within the bound.
    let some = old.replace("20 + (n & 1)", "(n & 31)");
    let other = some.replace("s ^= i", "s = i ^ s");
    let verdict = compared(&some, &other, &asked(10)).verdict;
    assert_eq!(verdict, Verdict::EqualWithinBound);
}
