//! `patchwright prove` on programs that call functions of `math.h`.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and read what it wrote"
)]

use crate::common::{Place, stderr, stdout};

fn prove(function: &str) -> (Option<i32>, String) {
    let place = Place::new();
    place.write(
        "waves.c",
        "#include <assert.h>
#include <math.h>

/* What is calculated of constants is known. */
int fixed(void)
{
    double rest = fmod(7.5, 2.0), cube = pow(3.0, 3.0);
    assert(rest == 1.5 && cube == 27.0);
    return 0;
}

/* Fails for the one value at which the cosine is 1. */
int one(signed char at)
{
    double wave = cos((double)at);
    assert(wave < 1.0);
    return 0;
}

/* Holds, but nothing that is known of the sine says so. */
int within(double at)
{
    double wave = sin(at);
    assert(isnan(wave) || (wave >= -1.0 && wave <= 1.0));
    return 0;
}

/* What this one gives is calculated. */
int whole(double at)
{
    int power = 0;
    double part = frexp(at, &power);
    assert(isnan(part) || isinf(part) || (part > -1.0 && part < 1.0));
    return 0;
}

/* Equal arguments give equal results. */
int twice(double at)
{
    double a = exp(at), b = exp(at);
    assert(a == b || isnan(a));
    return 0;
}
",
    );
    let output = place.run(["prove", "project/waves.c", "--function", function]);
    (
        output.status.code(),
        format!("{}{}", stdout(&output), stderr(&output)),
    )
}

#[test]
fn a_failure_is_one_with_what_the_functions_give_on_this_machine() {
    let (status, text) = prove("one");
    assert_eq!(status, Some(1), "{text}");
    assert!(text.contains("at = 0\n"), "{text}");
    assert!(text.contains("The interpreter agrees."), "{text}");
    for function in ["fixed", "twice"] {
        let (status, text) = prove(function);
        assert_eq!(status, Some(0), "{function}: {text}");
    }
}

#[test]
fn what_rests_on_more_than_single_values_is_unknown_and_no_failure() {
    let (status, text) = prove("whole");
    assert_eq!(status, Some(0), "{text}");
    let (status, text) = prove("within");
    assert_eq!(status, Some(5), "{text}");
    assert!(
        text.contains("what `sin` gives, of which only single values are known"),
        "{text}"
    );
}

#[test]
fn a_list_of_repairs_that_may_lack_some_for_a_function_says_so() {
    let place = Place::new();
    place.write(
        "root.c",
        "#include <assert.h>
#include <math.h>
int nearer(int n)
{
    double root = cbrt((double)n);
    int found = n > 2;
    assert(found == (n > 1) || root < 0.0);
    return found;
}
",
    );
    let flags = [
        "prove",
        "project/root.c",
        "--function",
        "nearer",
        "--repair",
    ];
    let output = place.run(flags);
    let (text, errors) = (stdout(&output), stderr(&output));
    assert!(text.contains("+    int found = n >= 2;"), "{text}{errors}");
    assert!(
        text.contains(
            "The list is not complete: repairs that depend on what `cbrt` gives may be missing"
        ),
        "{text}{errors}"
    );
}
