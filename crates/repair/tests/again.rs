//! A search after another one, as it follows when the verification rejects all patches.

use std::fs;

use crate::common::{ALL, Subject, explore_times};

#[test]
fn a_second_search_in_the_same_copies_finds_what_the_first_has_found() {
    let subject = Subject {
        source: r#"#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int limit = atoi(argv[1]);
  FILE *kept = fopen("kept", limit > 3 ? "w" : "r");
  if (kept)
    fclose(kept);
  printf("%d %d\n", limit > 4, kept != NULL);
  return 0;
}
"#,
        names: &[],
        cases: &[("2", "0 0\n"), ("4", "1 1\n"), ("7", "1 1\n")],
        schemas: ALL,
        max_cost: 2,
    };
    let temporary = tempfile::tempdir().unwrap();
    let folder = fs::canonicalize(temporary.path()).unwrap();
    let (found, _) = explore_times(&folder, &subject, |_| {}, 2);
    assert!(found[0].stats.plausible > 0);
    assert_eq!(found[0].stats.plausible, found[1].stats.plausible);
    assert_eq!(found[0].stats.explored, found[1].stats.explored);
}
