//! Where the most suspicious locations are not enough, the next ones are looked at.

use crate::common;

use patchwright_repair::{RepairOptions, RepairOutcome};

/// Only failing tests print a value, and nothing that is printed there can be right.
const AREA: &str = r#"#include <stdio.h>
#include <stdlib.h>

static int area(int side) { return side * side + 2 * side; }

static void show(int value) {
  if (value)
    printf("%d\n", value);
  else
    puts("none");
}

int main(int argc, char **argv) {
  show(area(atoi(argv[1])));
  return 0;
}
"#;

const CASES: [(&str, &str); 4] = [
    ("0", "none\n"),
    ("5", "40\n"),
    ("7", "70\n"),
    ("11", "154\n"),
];

/// Repairs the program, with `more` behind it, looking at three locations first. With it what was said.
fn repaired(more: &str, widens: bool) -> (RepairOutcome, Vec<String>) {
    let options = RepairOptions {
        jobs: 2,
        scrutinize: false,
        max_cost: 1,
        locations: 3,
        widens,
        budget: Some(std::time::Duration::from_secs(300)),
        ..Default::default()
    };
    common::repaired(&format!("{AREA}{more}"), &CASES, &options)
}

fn is_widened(outcome: &RepairOutcome, notes: &[String]) {
    let patch = outcome.patches.first().expect("a patch of area");
    assert_eq!(patch.function, "area");
    let diff = String::from_utf8_lossy(&patch.diff).into_owned();
    assert!(
        diff.contains("+static int area(int side) { return side * side + 3 * side; }"),
        "{diff}"
    );
    assert!(
        notes
            .iter()
            .any(|note| note.contains("looking at the next ones")),
        "{notes:?}"
    );
}

#[test]
fn a_small_program_is_searched_further_when_the_most_suspicious_locations_are_not_enough() {
    let (outcome, notes) = repaired("", true);
    is_widened(&outcome, &notes);
    let (narrow, notes) = repaired("", false);
    assert!(narrow.patches.is_empty());
    assert!(
        notes
            .iter()
            .all(|note| !note.contains("looking at the next ones")),
        "{notes:?}"
    );
    let (all, few) = (&outcome.stats, &narrow.stats);
    assert!(!few.left_out.is_empty());
    assert!(all.reached > few.reached && all.executions > few.executions);
}

#[test]
#[ignore = "nightly: 4 s; a_small_program_is_searched_further_when_the_most_suspicious_locations_are_not_enough goes this way"]
fn a_large_program_is_searched_further_statement_by_statement() {
    let more: String = (0..900)
        .map(|number| format!("int filler_{number}(int n) {{ return n + {number} * n; }}\n"))
        .collect();
    let (outcome, notes) = repaired(&more, true);
    is_widened(&outcome, &notes);
    assert!(
        outcome.stats.left_out.of_statements > 0,
        "it is localized first"
    );
    assert_eq!(outcome.stats.left_out.locations, 0);
}
