//! Patches that may use what nobody has written are woven where executions show that they do not.
#![allow(clippy::disallowed_methods)] // Tests write into folders of their own.

use crate::common::{Found, Subject, driver_project, validate, validate_texts};
use patchwright_exec::Verdict;
use patchwright_schemata::{Options, Watch};

const SOURCE: &str = "\
#include <stdio.h>
#include <stdlib.h>

static int twice(int k)
{
    int result;
    if (k > 0)
        result = k * 2;
    if (k > 50)
        result = result + 1;
    return k > 0 ? result : 7;
}

int main(int argc, char **argv)
{
    int k = argc > 1 ? atoi(argv[1]) : 0;
    printf(\"%s\\n\", twice(k) > 9 ? \"large\" : \"small\");
    return 0;
}
";

/// Texts in the place of others, and whether the patch passes its tests; `None` if that depends on what nobody has written.
const CHANGES: [(&str, &str, Option<bool>); 6] = [
    ("if (k > 0)\n", "if (k > 2)\n", Some(true)),
    ("if (k > 0)\n", "if (k >= 3)\n", Some(true)),
    (
        "if (k > 0)\n        result = k * 2",
        "if (k > 2)\n        result = k * 4",
        Some(false),
    ),
    ("if (k > 0)\n", "if (k > 3)\n", None),
    ("if (k > 50)\n", "if (k > 60)\n", Some(true)),
    ("if (k > 0)\n", "if (k > 8)\n", None),
];

fn texts() -> Vec<String> {
    let change = |(from, to, _): &(&str, &str, _)| {
        assert!(SOURCE.contains(from), "{from}");
        SOURCE.replacen(from, to, 1)
    };
    CHANGES.iter().map(change).collect()
}

fn passes(found: &Found, patch: usize) -> Option<bool> {
    let verdicts = found.verdicts.iter().filter(|((own, _), _)| *own == patch);
    let verdicts: Vec<&Verdict> = verdicts.map(|(_, verdict)| verdict).collect();
    let is_open = found.open.iter().any(|(own, _)| *own == patch);
    assert!(
        is_open || !verdicts.is_empty(),
        "nothing is said of patch {patch}"
    );
    (!is_open).then(|| verdicts.iter().all(|verdict| verdict.is_pass()))
}

#[test]
fn what_a_patch_does_counts_where_it_uses_only_what_is_written() {
    let cases = [("3", "small\n"), ("60", "large\n")];
    let subject = Subject::new(SOURCE, &cases);
    let found = validate(&subject, &texts(), Options::default());
    for (patch, (_, to, expected)) in CHANGES.iter().enumerate() {
        assert_eq!(passes(&found, patch), *expected, "{to}");
    }
    assert!(found.stats.cleared >= 3, "{:?}", found.stats);
    let never = Options {
        watch: Watch::NEVER,
        ..Options::default()
    };
    let found = validate(&subject, &texts(), never);
    assert_eq!(found.stats.cleared, 0);
    assert!(
        [0, 1, 2, 3, 5]
            .iter()
            .all(|patch| passes(&found, *patch).is_none())
    );
}

#[test]
#[ignore = "nightly: 2 s; what_a_patch_does_counts_where_it_uses_only_what_is_written goes this way"]
fn with_all_tests_run_each_is_watched_in_which_the_patch_was_executed() {
    let cases = [("3", "small\n"), ("2", "small\n"), ("60", "large\n")];
    let subject = Subject::new(SOURCE, &cases);
    let options = Options {
        keep_going: true,
        ..Options::default()
    };
    let found = validate(&subject, &texts(), options);
    // With 2 it uses what is not written.
    assert_eq!(passes(&found, 0), None);
    assert_eq!(passes(&found, 2), None);
    assert_eq!(passes(&found, 4), Some(true));
}

/// What is said of a patch of a project that is built and tested so.
fn said(build: &str, script: &str) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    let files = [("prog.c", SOURCE)];
    let project = driver_project(folder.path(), &files, build, script, ["3", "60"]);
    let (from, to, _) = CHANGES[2];
    let texts = [("prog.c", SOURCE, SOURCE.replacen(from, to, 1))];
    let found = validate_texts(folder.path(), &project, &texts, Options::default());
    passes(&found, 0)
}

#[test]
#[ignore = "nightly: 6 s; what_a_patch_does_counts_where_it_uses_only_what_is_written goes this way"]
fn nothing_counts_where_reports_would_not_be_heard_of() {
    let script =
        "#!/bin/sh\nwanted=small\ntest $1 = 3 || wanted=large\ntest \"$(./prog $1)\" = $wanted\n";
    assert_eq!(said("cc -o prog prog.c", script), Some(false));
    // The program does not see what its environment says.
    let blind = script.replace("./prog", "env -i ./prog");
    assert_eq!(said("cc -o prog prog.c", &blind), None);
    // It is not compiled by what stands first in the path.
    assert_eq!(said("/usr/bin/cc -o prog prog.c", script), None);
}

#[test]
#[ignore = "nightly: 4 s; what_a_patch_does_counts_where_it_uses_only_what_is_written goes this way"]
fn programs_beside_that_no_test_opens_are_no_part_of_what_is_watched() {
    let script =
        "#!/bin/sh\nwanted=small\ntest $1 = 3 || wanted=large\ntest \"$(./prog $1)\" = $wanted\n";
    // As a build tool does that asks what its compiler makes.
    let build = "cc -o prog prog.c && echo 'int main(void) { return 0; }' > asked.c && \
                 /usr/bin/cc -o asked.bin asked.c && rm asked.c";
    assert_eq!(said(build, script), Some(false));
    let executing = script.replace("wanted=small\n", "wanted=small\n./asked.bin\n");
    assert_eq!(said(build, &executing), None);
}

#[test]
fn each_test_begins_with_what_the_earlier_ones_have_left() {
    let script = "#!/bin/sh\nwanted=small\ntest $1 = 3 || wanted=large\ntest \"$(./prog $1)\" = $wanted && \
        { test $1 = 3 || grep -q 3 log; }\nstatus=$?\necho $1 >>log\nexit $status\n";
    let folder = tempfile::tempdir().unwrap();
    let files = [("prog.c", SOURCE)];
    let project = driver_project(
        folder.path(),
        &files,
        "cc -o prog prog.c",
        script,
        ["3", "60"],
    );
    let texts = texts();
    let texts = texts.iter().map(|text| ("prog.c", SOURCE, text.clone()));
    let texts: Vec<_> = texts.collect();
    // Both tests are run twice, and all are in order.
    let options = Options {
        twice: true,
        ..Options::default()
    };
    let found = validate_texts(folder.path(), &project, &texts, options);
    for (patch, (_, to, expected)) in CHANGES.iter().enumerate() {
        assert_eq!(passes(&found, patch), *expected, "{to}");
    }
    assert!(found.stats.cleared >= 3, "{:?}", found.stats);
}

#[test]
fn a_parameter_that_a_call_does_not_give_is_not_watched() {
    let source = "\
#include <stdio.h>
#include <stdlib.h>

int sum(a, b)
int a, b;
{
    return a + b > 9;
}

int main(int argc, char **argv)
{
    int k = argc > 1 ? atoi(argv[1]) : 0;
    printf(\"%d\\n\", sum(k, 1));
    return 0;
}
";
    let mut subject = Subject::new(source, &[("3", "0\n"), ("60", "1\n")]);
    subject.cflags = vec!["-std=gnu89".to_owned()];
    let texts = [
        source.replace("sum(k, 1)", "sum(k)"),
        source.replace("sum(k, 1)", "sum(k, 9)"),
    ];
    let found = validate(&subject, &texts, Options::default());
    assert_eq!(passes(&found, 0), None);
    assert_eq!(passes(&found, 1), Some(false));
}
