//! Labels that macros define: each text that is woven has its own, and nobody else loses by them.
#![allow(clippy::disallowed_methods)] // The reference is the compiler, run by the test itself.

use crate::common::{Subject, as_plainly};
use patchwright_schemata::Fate;

const PROGRAM: &str = "\
#include <stdio.h>
#include <stdlib.h>

#define NEED(n) { if (left < (n)) goto failed; left -= (n); }
#define ON_FAILURE goto done; failed: taken = -taken;
#define END done: ;

static int left;

static int take(int first, int second)
{
    int taken = 0;
    NEED(first)
    taken += first;
    NEED(second)
    taken += second;
    ON_FAILURE
        taken -= 100;
    END
    return taken;
}

static int twice(int n)
{
    int sum = n + n;
    return sum;
}

int main(int argc, char **argv)
{
    left = argc > 1 ? atoi(argv[1]) : 0;
    int taken = take(2, 3);
    printf(\"%d %d %d\\n\", taken, left, twice(left));
    return 0;
}
";

#[test]
fn texts_that_define_labels_by_way_of_macros_are_woven_together() {
    let subject = Subject::new(
        PROGRAM,
        &[("9", "5 4 8\n"), ("5", "5 0 0\n"), ("4", "-102 2 4\n")],
    );
    let changes: [&[(&str, &str)]; 7] = [
        &[("NEED(first)\n", "NEED(first + 1)\n")],
        // The texts reach from before the label to behind it.
        &[
            ("taken += first;", "taken += second;"),
            ("taken -= 100", "taken -= 99"),
        ],
        &[
            ("taken += first;", "taken = first;"),
            ("taken -= 100", "taken -= 0 + 100"),
        ],
        &[
            ("int taken = 0;", "int taken = 1;"),
            ("return taken;", "return taken - 1;"),
        ],
        &[("taken -= 100", "taken += 100")],
        &[("n + n", "n * 2")],
        &[("return sum;", "return sum + 1;")],
    ];
    let found = as_plainly(&subject, &changes);
    assert_eq!(found.fates, vec![Fate::Woven; changes.len()]);
    assert!(found.open.is_empty(), "{:?}", found.open);
}
