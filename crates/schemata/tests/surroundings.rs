//! What a woven program has round it is what a program has: a fresh heap, lines, and the rounding of calculations.
#![allow(clippy::disallowed_methods)] // The reference is the compiler, run by the test itself.

use crate::common::{Subject, as_plainly, validate};
use patchwright_schemata::{Apart, Fate, Options};

const HEAP: &str = "\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy(const char *text, size_t size)
{
    char *own = malloc(size);
    strcpy(own, text);
    return own;
}

static unsigned sum(const unsigned char *at, size_t size)
{
    unsigned found = 0;
    while (size--)
        found += *at++;
    return found;
}

int main(void)
{
    static const size_t sizes[] = {9, 24, 40, 100, 500, 1000, 2000, 9000, 40000, 100000};
    char text[16];
    if (scanf(\"%15s\", text) != 1)
        return 1;
    for (int i = 0; i < 10; i++) {
        char *own = copy(text, sizes[i]);
        printf(\"%s %u\\n\", own, sum((unsigned char *)own, 0));
    }
    return 0;
}
";

#[test]
fn memory_that_was_never_used_is_zero() {
    let subject = Subject::new(HEAP, &[("word", "word 0\n")]);
    let found = as_plainly(
        &subject,
        &[
            // The end of the text is forgotten.
            &[("strcpy(own, text)", "memcpy(own, text, strlen(text))")],
            // All that was not written is looked at.
            &[(
                "(unsigned char *)own, 0)",
                "(unsigned char *)own, sizes[i])",
            )],
            &[(
                "(unsigned char *)own, 0)",
                "(unsigned char *)own + 8, sizes[i] - 8)",
            )],
        ],
    );
    let is_woven = |fate: &Fate| *fate == Fate::Woven;
    assert!(found.fates.iter().all(is_woven), "{:?}", found.fates);
}

const LINES: &str = "\
#include <stdio.h>
static int counter;
static int bump(int n) { return counter += n; }
int main(void)
{
    int x = 0;
    scanf(\"%d\", &x);
    if (counter == 0) { x += bump(x); printf(\"%d %d\\n\", x, __LINE__); }
    return 0;
}
";

#[test]
#[ignore = "nightly: 2 s; memory_that_was_never_used_is_zero goes this way"]
fn a_line_that_tells_its_number_and_names_a_changed_definition_is_moved() {
    let subject = Subject::new(LINES, &[("2", "4 9\n"), ("3", "6 8\n")]);
    let found = as_plainly(
        &subject,
        &[
            &[("static int bump", "typedef int number;\nstatic number bump")],
            &[("static int bump(int n)", "\n\nstatic int bump(long n)")],
            &[("int x = 0;", "int x = 0;\n")],
        ],
    );
    let is_apart = |fate: &Fate| matches!(fate, Fate::Apart(_));
    assert!(!found.fates.iter().any(is_apart), "{:?}", found.fates);
}

const ROUNDED: &str = "\
#include <stdio.h>

static double rest(double a, double b)
{
    double product = a * b;
    return product - a * 3;
}

static int twice(int n)
{
    return n + n;
}

int main(void)
{
    int n = 0;
    scanf(\"%d\", &n);
    printf(\"%d %g\\n\", twice(n), rest(n, 3));
    return 0;
}
";

#[test]
#[ignore = "nightly: 3 s; memory_that_was_never_used_is_zero goes this way"]
fn calculations_that_are_rounded_by_what_stands_round_them_are_built_as_they_are() {
    let texts = [
        ROUNDED.replace("a * 3", "3 * a"),
        ROUNDED.replace("return n + n", "return 2 * n"),
    ];
    let fates = |cflags: &[&str]| {
        let mut subject = Subject::new(ROUNDED, &[("2", "4 0\n")]);
        subject.cflags = cflags.iter().map(|&flag| flag.into()).collect();
        validate(&subject, &texts, Options::default()).fates
    };
    assert_eq!(fates(&["-O1"]), [Fate::Woven, Fate::Woven]);
    assert_eq!(
        fates(&["-O1", "-ffast-math"]),
        [Fate::Apart(Apart::Rounding), Fate::Woven]
    );
}
