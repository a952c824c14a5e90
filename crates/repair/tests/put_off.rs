//! Candidates without classes, which are executed one by one, have their turn before dearer ones of all locations are tried.

use crate::common;

use patchwright_repair::RepairOptions;
use patchwright_space::Schemas;

#[test]
#[ignore = "nightly: 45 s; what is put off is counted in crate repair's own unit tests"]
fn what_is_visited_too_often_for_classes_is_executed_when_the_next_cost_begins() {
    let source = |bits: &str| {
        format!(
            r#"#include <stdio.h>
#include <stdlib.h>

static unsigned mix(unsigned n, unsigned a, unsigned b, unsigned c)
{{
    unsigned h = 7;
    for (unsigned i = 0; i < 4200; i++)
        h = h * 31 + (i ^ a) * (n + b) - (c | {bits});
    return h;
}}

int main(int argc, char **argv)
{{
    unsigned n = atoi(argv[1]);
    printf("%u\n", mix(n, n + 3, n * 5, n / 2) % 1000);
    return 0;
}}
"#
        )
    };
    let expected = common::outputs(&source("n"), &["1", "5", "8"]);
    let cases: Vec<(&str, &str)> = ["1", "5", "8"]
        .into_iter()
        .zip(expected.iter().map(String::as_str))
        .collect();
    let options = RepairOptions {
        jobs: 1,
        scrutinize: false,
        max_cost: 3,
        schemas: Schemas {
            expression: true,
            ..Schemas::NONE
        },
        ..Default::default()
    };
    let (outcome, _) = common::repaired(&source("i"), &cases, &options);
    let patch = outcome.patches.first().expect("a patch");
    let diff = String::from_utf8_lossy(&patch.diff).into_owned();
    assert!(diff.contains("(n + b) - (c | n)"), "{diff}");
    // Nothing of a higher cost was explored, and nothing was left for the end.
    assert!(!outcome.stats.in_deferred);
    assert!(
        outcome.stats.complete_cost <= Some(1),
        "{:?}",
        outcome.stats
    );
}
