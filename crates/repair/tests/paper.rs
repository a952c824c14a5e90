//! The classes of f1x's examples are those of the paper.

use std::{collections::BTreeSet, fs};

use crate::common::{Location, Subject, explore};
use patchwright_repair::{Relations, RepairOptions, found::Found};
use patchwright_space::Schemas;
use patchwright_text::apply_edits;

const ASSIGNMENT: Schemas = Schemas {
    assignment: true,
    ..Schemas::NONE
};

fn explored(subject: &Subject, change: fn(&mut RepairOptions)) -> (Found, Vec<Location>) {
    let temporary = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(temporary.path()).unwrap();
    explore(&folder, subject, change)
}

fn line_of(source: &str, offset: u32) -> usize {
    1 + source[..offset as usize].matches('\n').count()
}

/// The lines at which the members of each plausible class insert something, with what they insert.
fn insertions(subject: &Subject, found: &Found) -> Vec<BTreeSet<(usize, String)>> {
    found
        .classes
        .iter()
        .map(|class| {
            let members = class.members.iter();
            members
                .map(|(edit, _)| {
                    let text = String::from_utf8_lossy(&edit.text).trim().to_owned();
                    (line_of(subject.source, edit.span.start), text)
                })
                .collect()
        })
        .collect()
}

/// Example 3.6: `x > 0` and `y == 2` are one class of a test with x = 1, y = 2.
#[test]
fn conditions_with_equal_values_are_one_class() {
    let subject = Subject {
        source: r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int x = atoi(argv[1]);
  int y = atoi(argv[2]);
  if (x > 0)
    x = y;
  printf("%d %d\n", x, y);
  return 0;
}
"#,
        names: &[],
        cases: &[("1 2", "1 2\n"), ("0 5", "0 5\n")],
        schemas: Schemas {
            expression: true,
            ..Schemas::NONE
        },
        max_cost: 3,
    };
    let (found, locations) = explored(&subject, |_| {});
    let condition = locations.iter().position(|at| at.line == 6).unwrap();
    // The failing test has two classes, true and false; so has the other one.
    let effort = found.effort[&condition];
    assert_eq!(effort.classes, 2);
    assert!(effort.executions <= 4, "{effort:?}");
    assert!(effort.explored > 100, "{effort:?}");
    let verdict_of = |wanted: &str| {
        let group = found.verdicts.iter().find(|group| {
            group.entry == condition
                && group.candidates.iter().any(|one| {
                    let edit = std::slice::from_ref(&one.edit);
                    let text = apply_edits(subject.source.as_bytes(), edit).unwrap();
                    let text = String::from_utf8(text).unwrap();
                    text.contains(&format!("  if ({wanted})\n"))
                })
        });
        group
            .unwrap_or_else(|| panic!("{wanted} is a candidate"))
            .verdict
            .clone()
    };
    // Where the condition is true the failing test fails, and where it is false it passes.
    assert!(!verdict_of("x != y").is_pass() && !verdict_of("x <= y").is_pass());
    assert!(verdict_of("x == y").is_pass() && verdict_of("x > y").is_pass());
}

/// Example 3.9: `x = y` in front of the `if`, or in it, is one class of a test with x = 1, y = 2.
#[test]
fn one_assignment_at_two_places_without_a_use_between_them_is_one_class() {
    let subject = Subject {
        source: r#"#include <stdio.h>
#include <stdlib.h>
static int run(int x, int y) {
  if (y > 0) {
    y = x + 1;
  }
  return y;
}
int main(int argc, char **argv) {
  int x = atoi(argv[1]);
  int y = atoi(argv[2]);
  printf("%d\n", run(x, y));
  return 0;
}
"#,
        names: &[],
        // The paper speaks of one test, in which the branch is taken.
        cases: &[("1 2", "3\n")],
        schemas: ASSIGNMENT,
        max_cost: 3,
    };
    let (found, _) = explored(&subject, |_| {});
    let wanted = |line: usize| (line, "x = y;".to_owned());
    let classes = insertions(&subject, &found);
    assert!(
        classes
            .iter()
            .any(|class| class.contains(&wanted(4)) && class.contains(&wanted(5))),
        "{classes:?}"
    );
}

const GZIP: Subject = Subject {
    source: r#"#include <stdio.h>
#include <stdlib.h>
static int ifd = 7;
static int part_nb = 5;
static int decompress;
static int get_method(int fd) { return fd == 0 ? 8 : -1; }
static int treat(void) {
  int method = 0;
  part_nb = 0;
  if (decompress) {
    method = get_method(ifd);
  }
  return method;
}
int main(int argc, char **argv) {
  decompress = atoi(argv[1]);
  printf("%d\n", treat());
  return 0;
}
"#,
    names: &[],
    // The paper speaks of one test, in which the branch is taken.
    cases: &[("1", "8\n")],
    schemas: ASSIGNMENT,
    max_cost: 3,
};

/// Figure 4: all three patches are one class; it takes both relations to see that.
#[test]
fn assignments_of_equal_values_at_equivalent_places_are_one_class() {
    let (found, _) = explored(&GZIP, |_| {});
    let classes = insertions(&GZIP, &found);
    let wanted = [
        (10, "ifd = part_nb;".to_owned()),
        (10, "ifd = 0;".to_owned()),
        (11, "ifd = part_nb;".to_owned()),
    ];
    assert!(
        classes
            .iter()
            .any(|class| wanted.iter().all(|one| class.contains(one))),
        "{classes:?}"
    );
}

/// Table 4: both relations together need fewer executions than each by itself, and these fewer than none.
/// What is plausible is the same.
#[test]
#[ignore = "nightly: 5 s; one_assignment_at_two_places_without_a_use_between_them_is_one_class goes this way"]
fn each_relation_gives_the_same_patches_with_more_executions_than_both() {
    let both = explored(&GZIP, |_| {}).0.stats;
    let value = explored(&GZIP, |options| options.relations = Relations::Value);
    let dependency = explored(&GZIP, |options| options.relations = Relations::Dependency);
    let none = explored(&GZIP, |options| options.relations = Relations::None);
    for (other, _) in [&value, &dependency, &none] {
        assert_eq!(other.stats.plausible, both.plausible);
        assert_eq!(other.stats.explored, both.explored);
        assert!(other.stats.executions > both.executions);
    }
    let none = none.0.stats;
    assert!(none.executions >= none.explored);
    assert!(value.0.stats.executions < none.executions);
    assert!(dependency.0.stats.executions < none.executions);
}
