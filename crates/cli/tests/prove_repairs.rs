//! Which repairs `patchwright prove --repair` lists, for which inputs they are right, and what it says of the others.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and read what it wrote"
)]

use crate::common::{Place, prove};

/// What came of looking for repairs of these files: the status and the text.
fn repairs(files: &[(&str, &str)], flags: &[&str]) -> (Option<i32>, String) {
    let place = Place::new();
    for (name, text) in files {
        place.write(name, text);
    }
    let first = format!("project/{}", files[0].0);
    let flags = [&[first.as_str(), "--repair"], flags].concat();
    let (status, text, errors) = prove(&place, &flags);
    (status, format!("{text}{errors}"))
}

const WEIGHTS: &str = "#include <assert.h>
int nondet_int(void);
static int heaviest(const int *w)
{
    int most = w[0];
    for (int i = 1; i < 23; i++)
        if (w[i] >= most)
            most = w[i] * 1;
    return most - 1;
}
int main(void)
{
    int w[23];
    for (int i = 0; i < 23; i++) {
        int one = nondet_int();
        w[i] = one & 7;
    }
    int most = heaviest(w);
    for (int i = 0; i < 23; i++)
        assert(w[i] <= most);
    return 0;
}
";

#[test]
#[ignore = "nightly: 15 s; nested_loops_of_few_rounds_are_repaired_at_the_default_bound and crate prove have loops"]
fn a_loop_with_more_rounds_than_the_bound_hides_no_repair_and_those_of_the_function_come_first() {
    let (status, text) = repairs(&[("weights.c", WEIGHTS)], &["--max-edits", "1"]);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("+    return most;\n"), "{text}");
    assert!(
        text.contains("Repair 1: project/weights.c:"),
        "it is right for all inputs: {text}"
    );
    let idle = text.contains("most - 0");
    assert!(!idle, "what does nothing is left out of a repair: {text}");
    let lines = text.lines().filter(|line| line.starts_with("Repair "));
    let lines: Vec<u32> = lines
        .filter_map(|line| {
            line.split(':')
                .nth(2)?
                .split([' ', ','])
                .next()?
                .parse()
                .ok()
        })
        .collect();
    let first_of_main = lines.iter().position(|&line| line >= 11);
    let last_of_function = lines.iter().rposition(|&line| line < 11);
    assert!(last_of_function.is_some(), "{text}");
    assert!(
        first_of_main.is_none_or(|first| Some(first) > last_of_function),
        "{text}"
    );
}

const COUNTED: &str = "#include <assert.h>
void __VERIFIER_assume(int);
static int taken(int price, int pieces)
{
    int all = 0;
    for (int i = 0; i < pieces; i++)
        all -= price;
    return all;
}
int owed(int pieces)
{
    __VERIFIER_assume(pieces >= 0 && pieces <= 9);
    int all = taken(3, pieces);
    assert(all == 3 * pieces);
    return all;
}
";

#[test]
fn a_repair_of_a_loop_that_goes_on_beyond_the_bound_is_right_within_the_bound() {
    let flags = ["--function", "owed", "--level", "1", "--max-edits", "1"];
    let flags = [&flags[..], &["--bound", "4"]].concat();
    let (status, text) = repairs(&[("owed.c", COUNTED)], &flags);
    assert_eq!(status, Some(0), "{text}");
    assert!(
        text.contains("Repair within the bound 1: project/owed.c:7\n"),
        "{text}"
    );
    assert!(text.contains("+        all += price;\n"), "{text}");
    assert!(!text.contains("There is no other"), "{text}");
    assert!(
        text.contains("The list is not complete: 1 patch goes on beyond 8 rounds of a loop"),
        "{text}"
    );
    // With the rounds that it needs it is right for all inputs.
    let flags = [&flags[..flags.len() - 1], &["9"]].concat();
    let (status, text) = repairs(&[("owed.c", COUNTED)], &flags);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("Repair 1: project/owed.c:7\n"), "{text}");
}

#[test]
fn a_repair_may_need_one_round_more_than_the_program_at_every_bound() {
    let program = "unsigned steps(unsigned char n)
{
    unsigned r = 1;
    for (unsigned i = 1; i < n; i++)
        r += i;
    return r;
}
";
    let reference = program.replace("i < n", "i <= n");
    for bound in ["3", "5"] {
        let flags = ["--like", "project/reference.c", "--function", "steps"];
        let more = ["--level", "1", "--max-edits", "1", "--bound", bound];
        let files = [("steps.c", program), ("reference.c", reference.as_str())];
        let (status, text) = repairs(&files, &[&flags[..], &more].concat());
        assert_eq!(status, Some(0), "{text}");
        assert!(
            text.contains("+    for (unsigned i = 1; i <= n; i++)\n"),
            "{text}"
        );
        assert!(
            text.contains("Repair within the bound 1:"),
            "nobody knows what it does for large numbers: {text}"
        );
    }
}

#[test]
fn an_assumption_about_arguments_holds_for_the_reference_too() {
    let reference = "int spread(int n)
{
    int r = 0;
    for (int i = 0; i < n; i++)
        r += 5;
    return r;
}
";
    let program = reference.replace("int r = 0", "int r = 1");
    let flags = ["--like", "project/reference.c", "--function", "spread"];
    let more = ["--assume", "n >= 0 && n <= 4", "--max-edits", "1"];
    let flags = [&flags[..], &more].concat();
    let files = [("spread.c", program.as_str()), ("reference.c", reference)];
    let (status, text) = repairs(&files, &flags);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("+    int r = 0;\n"), "{text}");
    let files = [("spread.c", reference), ("reference.c", reference)];
    let (status, text) = repairs(&files, &flags);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.starts_with("Proved"), "{text}");
}

#[test]
fn nested_loops_of_few_rounds_are_repaired_at_the_default_bound() {
    let sorted = "#include <assert.h>
void order(unsigned char *a, int n)
{
    for (int last = n - 1; last > 1; last--)
        for (int at = 0; at < last; at++)
            if (a[at] > a[at + 1]) {
                unsigned char kept = a[at];
                a[at] = a[at + 1];
                a[at + 1] = kept;
            }
    for (int at = 1; at < n; at++)
        assert(a[at - 1] <= a[at]);
}
";
    let flags = ["--function", "order", "--length", "a=3", "--max-edits", "1"];
    let flags = [&flags[..], &["--assume", "n == 3", "--json"]].concat();
    let (status, text) = repairs(&[("order.c", sorted)], &flags);
    assert_eq!(status, Some(0), "{text}");
    assert!(text.contains("last >= 1; last--"), "{text}");
}
