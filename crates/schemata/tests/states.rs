//! What tests leave in the copy: the state in which the next one is run.

use crate::common::{PlainRun, Subject, validate};
use patchwright_schemata::Options;

const SOURCE: &str = "\
#include <stdio.h>
#include <stdlib.h>

int twice(int v)
{
    return v * 2;
}

int main(int argc, char **argv)
{
    int v = atoi(argv[1]);
    FILE *f;
    if (v < 0)
    {
        f = fopen(\"left\", \"a\");
        fprintf(f, \"%d\\n\", twice(v));
        fclose(f);
        return 0;
    }
    f = fopen(\"left\", \"r\");
    printf(\"%d %d\\n\", twice(v), f != NULL);
    return 0;
}
";

fn patches() -> Vec<String> {
    ["v + v", "2 * v", "v * 3"]
        .map(|code| SOURCE.replace("v * 2", code))
        .to_vec()
}

fn options() -> Options {
    Options {
        jobs: 2,
        ..Options::default()
    }
}

#[test]
fn tests_that_leave_nothing_are_executed_once_for_each_class_and_cost_no_copies() {
    let subject = Subject::new(SOURCE, &[("1", "2 0\n"), ("2", "4 0\n")]);
    let found = validate(&subject, &patches(), options());
    assert_eq!(found.stats.state_copies, 0);
    // The untouched program in both, and the patch that does something else in the first.
    assert_eq!(found.stats.executions, 3);
    assert!(found.open.is_empty());
}

#[test]
fn what_tests_leave_is_copied_once_and_then_only_what_differs() {
    let cases = [
        ("1", "2 0\n"),
        ("-1", ""),
        ("-1", ""),
        ("2", "4 1\n"),
        ("-2", ""),
        ("3", "6 1\n"),
    ];
    let subject = Subject::new(SOURCE, &cases);
    let keep_going = Options {
        keep_going: true,
        ..options()
    };
    for options in [options(), keep_going] {
        let found = validate(&subject, &patches(), options.clone());
        assert_eq!(found.stats.state_copies, 1);
        for patch in 0..2 {
            for test in 0..cases.len() {
                let verdict = &found.verdicts[&(patch, test)];
                assert_eq!(PlainRun::of(verdict), PlainRun::Pass, "{patch} {test}");
            }
        }
        // It prints and leaves something else.
        let told = |test: usize| found.verdicts.get(&(2, test)).map(PlainRun::of);
        assert_eq!(told(0), Some(PlainRun::Output));
        assert_eq!(told(1), None);
        let open = match options.keep_going {
            true => vec![(2, 1)],
            false => vec![],
        };
        assert_eq!(found.open, open);
    }
}
