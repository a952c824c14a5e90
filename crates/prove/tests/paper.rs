//! The examples of the paper, and programs as users of AllRepair write them.
#![allow(clippy::disallowed_methods, reason = "tests read their own sources")]

use crate::common::{Asked, Reader, deep, encode, repairs};
use patchwright_ir::Node;
use patchwright_prove::{Level, MustSets, locate, spec, unchanged};
use patchwright_solve::{Budget, Terms};

fn located(text: &str) -> Vec<MustSets> {
    let mut reader = Reader::new();
    let library = reader.library();
    let sources = [reader.source("unit.c", text)];
    deep(|| {
        let asked = Asked::default();
        let mut terms = Terms::new();
        let entry = asked.entry(&sources);
        let mut options = asked.options();
        options.locations = true;
        let encoding = encode(&mut terms, &sources, &library, &entry, &options, None);
        let spec = spec(&mut terms, &encoding, None);
        let fixed = unchanged(&sources[0].unit, &sources[0].trusted);
        let changeable = |place: &patchwright_symbolic::Place| {
            place.file == sources[0].path
                && match place.origin.and_then(|origin| origin.node) {
                    Some(Node::Expression(id)) => !fixed.contains(&(place.function.clone(), id)),
                    _ => true,
                }
        };
        locate(
            &mut terms,
            &encoding,
            &spec,
            &changeable,
            &[],
            5,
            &Budget::none(),
        )
    })
}

fn lines(places: &[patchwright_symbolic::Place]) -> Vec<u32> {
    places.iter().map(|place| place.line).collect()
}

#[test]
fn figure_1_gives_the_condition_and_the_first_assignment() {
    let found = located(
        "int __VERIFIER_nondet_int(void); void __VERIFIER_assert(int); void __VERIFIER_assume(int); int main(void) {\n\
         int x = __VERIFIER_nondet_int(); __VERIFIER_assume(x > -100); int abs;\n\
         abs = x;\n\
         if (x < -1)\n\
         abs = -x;\n\
         __VERIFIER_assert(abs >= 0);\n\
         return 0; }\n",
    );
    assert_eq!(found.len(), 1);
    let own: Vec<u32> = lines(&found[0].slice)
        .into_iter()
        .filter(|&line| line > 2)
        .collect();
    assert_eq!(own, [3, 4]);
    let core: Vec<u32> = lines(&found[0].core)
        .into_iter()
        .filter(|&line| line > 2)
        .collect();
    assert!(core.iter().all(|line| own.contains(line)), "{core:?}");
}

#[test]
fn figure_2_leaves_out_what_does_not_decide_the_assertion_that_fails() {
    let found = located(
        "int __VERIFIER_nondet_int(void); void __VERIFIER_assert(int); void __VERIFIER_assume(int); int main(void) { int x, w, t, y, z;\n\
         x = __VERIFIER_nondet_int(); w = __VERIFIER_nondet_int(); __VERIFIER_assume(x == 0 && w == 0);\n\
         t = 0;\n\
         y = x - 3;\n\
         z = x + 3;\n\
         if (w > 3) {\n\
         t = z + w;\n\
         __VERIFIER_assert(t < x);\n\
         y = y + 10; }\n\
         __VERIFIER_assert(y > z);\n\
         return 0; }\n",
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].place.as_ref().map(|place| place.line), Some(10));
    let own: Vec<u32> = lines(&found[0].slice)
        .into_iter()
        .filter(|&line| line > 2)
        .collect();
    // The paper's lines 2, 3 and 4; its line 1 is `t := 0`.
    assert_eq!(own, [4, 5, 6]);
}

#[test]
fn files_of_allrepair_work_as_they_are() {
    let text = "typedef int bool;\n\
        int nondet_int();\n\
        AllRepair_correct_larger(a, b) int a; int b;\n{\n  if (a >= b) return a;\n  return b;\n}\n\
        larger(a, b)\nint a, b;\n{\n  bool first;\n  first = a < b;\n  if (first) return a;\n  return b;\n}\n\
        main()\n{\n  int a, b, expected, found;\n\
        //<ASSUME_CORRECT>\n  a = nondet_int() + 0;\n  b = nondet_int();\n//</ASSUME_CORRECT>\n\
        expected = AllRepair_correct_larger(a, b);\n  found = larger(a, b);\n\
        __CPROVER_assert(expected == found, \"the larger one\");\n  return 0;\n}\n";
    let mut reader = Reader::new();
    let library = reader.library();
    let sources = [reader.source("unit.c", text)];
    let asked = Asked::default();
    let (found, texts) = deep(|| repairs(&sources, &library, &asked, Level::Two, 2));
    assert!(found.complete);
    let mut conditions: Vec<String> = texts
        .iter()
        .filter_map(|(_, text)| {
            text.lines()
                .find(|line| line.contains("first ="))
                .map(str::to_owned)
        })
        .collect();
    conditions.sort();
    assert_eq!(conditions, ["  first = a > b;", "  first = a >= b;"]);
    assert!(found.repairs.iter().any(|one| one.same_as.is_some()));
}
