//! One more case beside cases that are alike.

use crate::changes;

use changes::{changes_shown, contain, lacks};
use patchwright_space::{Schema, Shown};

fn with(source: &str, text: &str) -> Vec<String> {
    let mut shown = Shown::default();
    shown.add(text.as_bytes());
    changes_shown(source, Schema::Guard, &[], &shown)
}

#[test]
fn an_else_if_is_added_that_sets_another_variable_for_another_word() {
    let source = "\
int strcmp(const char *, const char *);
int f(const char *a)
{
    int fold = 0, invert = 0, numbers = 0;
    double part = 0;
    if (strcmp(a, \"-i\") == 0)
        fold = 1;
    else if (strcmp(a, \"-n\") == 0)
        numbers = 1;
    else
        return -1;
    return fold + invert * 2 + numbers * 4 + (int)part;
}
";
    let found = with(source, "-v word 7");
    contain(
        &found,
        &["3: else if (strcmp(a, \"-v\") == 0) | invert = 1;"],
    );
    // What is of another kind, or of another type.
    lacks(&found, &["\"word\"", "part = 1", "\"7\""]);
    // Nothing is asked for that tests do not show.
    lacks(&with(source, "-n"), &["invert = 1"]);
}

#[test]
fn a_case_is_added_that_calculates_otherwise() {
    let source = "\
int f(int c, int a, int b)
{
    int r = 0;
    switch (c) {
    case '+':
        r = a + b;
        break;
    case '-':
        r = a - b;
        break;
    default:
        r = -1;
    }
    return r;
}
";
    let found = with(source, "7 % 3");
    contain(
        &found,
        &["2: case '%': | r = a % b;", "3: case '%': | r = a * b;"],
    );
}

#[test]
fn an_if_is_added_behind_others_that_return() {
    let source = "\
enum kind { NONE, LOW, MIDDLE, HIGH };
enum kind f(int n)
{
    if (n < 10)
        return LOW;
    if (n < 20)
        return MIDDLE;
    return NONE;
}
";
    let found = with(source, "25");
    contain(
        &found,
        &[
            "3: if (n < 30) | return HIGH;",
            "3: if (n < 25) | return HIGH;",
        ],
    );
    lacks(&found, &["if (n < 20) | return HIGH"]);
}

#[test]
fn cases_that_are_not_alike_say_nothing_of_one_more() {
    let source = "\
int f(int n, int m)
{
    if (n == 1)
        return m + 1;
    else if (m == 2)
        return 7;
    return 0;
}
";
    lacks(&with(source, "3 4"), &["== 3", "== 4"]);
}
