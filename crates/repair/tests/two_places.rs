//! Faults at two places, which no change of one place mends.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::{fs, path::Path};

use patchwright_exec::{CancelToken, Project, ProjectFlags, RunnerProgram, Scratch};
use patchwright_repair::{RepairOptions, RepairOutcome, Surroundings, repair};

/// The same mistake in `before` and `back`.
const RING: &str = r#"#include <stdio.h>
#include <stdlib.h>

static int before(int i, int size) { return (i - 1) % size; }
static int back(int j, int size) { return (j - 1) % size; }

int main(int argc, char **argv) {
  if (argv[1][0] == 'b')
    printf("%d\n", before(atoi(argv[2]), atoi(argv[3])));
  else
    printf("%d\n", back(atoi(argv[2]), atoi(argv[3])));
  return 0;
}
"#;

const RING_CASES: [(&str, &str); 6] = [
    ("b 0 5", "4\n"),
    ("b 3 5", "2\n"),
    ("r 0 5", "4\n"),
    ("r 4 5", "3\n"),
    ("b 0 3", "2\n"),
    ("r 0 4", "3\n"),
];

/// `is_adult` and `is_senior` are wrong in different ways.
const AGES: &str = r#"#include <stdio.h>
#include <stdlib.h>

static int is_adult(int age) { return age > 18; }
static int is_senior(int age) { return age >= 68; }

int main(int argc, char **argv) {
  int age = atoi(argv[2]);
  printf("%d\n", argv[1][0] == 'a' ? is_adult(age) : is_senior(age));
  return 0;
}
"#;

const AGES_CASES: [(&str, &str); 8] = [
    ("a 17", "0\n"),
    ("a 18", "1\n"),
    ("a 19", "1\n"),
    ("s 64", "0\n"),
    ("s 65", "1\n"),
    ("s 67", "1\n"),
    ("s 68", "1\n"),
    ("a 40", "1\n"),
];

/// What `halved` does wrong is hidden by what `total` does wrong: no change of `halved` alone passes a failing test.
const SUM: &str = r#"#include <stdio.h>
#include <stdlib.h>

static int halved(int x) { return x / 3; }

static int total(int n) {
  int sum = 0;
  for (int i = 1; i < n; i++)
    sum += i;
  return sum;
}

int main(int argc, char **argv) {
  int sum = total(atoi(argv[1]));
  printf("%d\n", argv[2][0] == 'h' ? halved(sum) : sum);
  return 0;
}
"#;

const SUM_CASES: [(&str, &str); 8] = [
    ("0 s", "0\n"),
    ("3 s", "6\n"),
    ("4 s", "10\n"),
    ("0 h", "0\n"),
    ("1 h", "0\n"),
    ("3 h", "3\n"),
    ("4 h", "5\n"),
    ("6 h", "10\n"),
];

fn repaired(source: &str, cases: &[(&str, &str)], places: usize) -> RepairOutcome {
    let temporary = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(temporary.path()).unwrap();
    let write = |path: &str, text: &str| fs::write(folder.join(path), text).unwrap();
    for name in ["cases", "scratch"] {
        fs::create_dir(folder.join(name)).unwrap();
    }
    write("subject.c", source);
    for (number, (arguments, output)) in cases.iter().enumerate() {
        write(&format!("cases/{number}.args"), arguments);
        write(&format!("cases/{number}.out"), output);
    }
    let scratch = Scratch::new(&folder.join("scratch")).unwrap();
    let flags = ProjectFlags::default();
    let (file, tests) = (folder.join("subject.c"), folder.join("cases"));
    let project = Project::single_file(&file, &tests, &[], &scratch, &flags).unwrap();
    let options = RepairOptions {
        jobs: 2,
        places,
        max_cost: 6,
        ..Default::default()
    };
    let surroundings = Surroundings {
        program: &RunnerProgram::this_binary(),
        scratch: &scratch,
        cancel: CancelToken::new().unwrap(),
        events: &|_| {},
    };
    let outcome = repair(&project, &options, &surroundings).unwrap();
    let is_empty = |folder: &Path| fs::read_dir(folder).unwrap().count() == 1;
    assert!(
        is_empty(&folder.join("scratch")),
        "only the run's own folder is left"
    );
    assert_eq!(fs::read_to_string(&file).unwrap(), source);
    outcome
}

fn diffs(outcome: &RepairOutcome) -> Vec<String> {
    let diffs = outcome.patches.iter().map(|patch| &patch.diff);
    diffs
        .map(|diff| String::from_utf8(diff.clone()).unwrap())
        .collect()
}

#[test]
#[ignore = "nightly: 9 s; two_mistakes_that_fail_tests_of_their_own_are_mended_together goes the same way"]
fn the_same_mistake_at_two_places_is_mended_at_both() {
    assert!(repaired(RING, &RING_CASES, 1).patches.is_empty());
    let outcome = repaired(RING, &RING_CASES, 2);
    let first = &diffs(&outcome)[0];
    for changed in ["i - 1 + size) % size", "j - 1 + size) % size"] {
        assert!(first.contains(changed), "{first}");
    }
    assert_eq!(outcome.patches[0].schema, "two_places");
    assert_eq!(outcome.patches[0].edits.len(), 2);
}

#[test]

fn two_mistakes_that_fail_tests_of_their_own_are_mended_together() {
    let outcome = repaired(AGES, &AGES_CASES, 2);
    let first = &diffs(&outcome)[0];
    for changed in ["age >= 18", "age >= 65"] {
        assert!(first.contains(changed), "{first}");
    }
}

#[test]
#[ignore = "nightly: 48 s; the two other tests of this file mend two places"]
fn a_mistake_that_another_one_hides_is_mended_after_it_before_changes_that_cost_much() {
    let outcome = repaired(SUM, &SUM_CASES, 2);
    let first = &diffs(&outcome)[0];
    for changed in ["i <= n", "x / 2"] {
        assert!(first.contains(changed), "{first}");
    }
    assert_eq!(outcome.patches[0].edits.len(), 2);
    // The search for one place goes on to cost 6 if nothing is found.
    assert!(outcome.stats.complete_cost <= Some(4));
    assert!(outcome.stats.two_places.is_some_and(|two| two.pairs > 0));
}
