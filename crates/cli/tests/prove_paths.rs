//! `patchwright prove --paths` as its users see it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and read what it wrote"
)]

use crate::common::{Place, prove};

const ORDERS: &str = "#include <stdio.h>
#include <assert.h>

int main(void)
{
    int c, open = 0, word = 0, lines = 0;
    while ((c = getchar()) != EOF) {
        if (c == '\\n')
            lines++;
        else if (c == '{')
            open++;
        if (word == 0 && c == 'e')
            word = 1;
        else if (word == 1 && c == 'n')
            word = 2;
        else if (word == 2 && c == 'd')
            word = 3;
        else if (word != 3)
            word = 0;
        assert(word != 3 || open != 2 || lines == 0);
    }
    return 0;
}
";

const MILES: &str = "#include <assert.h>

int miles(unsigned steps, int careful)
{
    unsigned done = 0, counted = 0;
    while (done < steps) {
        done++;
        if (careful)
            counted += 2;
        else
            counted += 3;
    }
    assert(counted != 900);
    return counted;
}
";

const PRICE: &str = "#include <assert.h>

int price(int age, int group)
{
    int full = 12;
    if (age < 0 || group < 1)
        return -1;
    if (age < 6)
        full = 0;
    else if (age < 18)
        full = 7;
    if (group >= 10)
        full -= full / 4;
    assert(full >= 0 && full <= 12);
    return full;
}
";

#[test]
#[ignore = "nightly: 7 s; crate compare finds what is deep in loops over strings by the same exploration"]
fn failures_that_need_a_long_input_or_many_rounds_are_found_path_by_path() {
    let place = Place::new();
    place.write("orders.c", ORDERS);
    let (status, text, errors) = prove(&place, &["project/orders.c", "--paths"]);
    assert_eq!(status, Some(1), "{text}{errors}");
    assert!(text.contains("The interpreter agrees."), "{text}");
    // Beyond the rounds that are followed without the flag.
    place.write("miles.c", MILES);
    let miles = ["project/miles.c", "--function", "miles"];
    let (status, text, errors) = prove(&place, &miles);
    assert_eq!(status, Some(5), "{text}{errors}");
    let (status, text, errors) = prove(&place, &[&miles[..], &["--paths"]].concat());
    assert_eq!(status, Some(1), "{text}{errors}");
    assert!(
        text.contains("steps = 300") || text.contains("steps = 450"),
        "{text}"
    );
    assert!(text.contains("The interpreter agrees."), "{text}");
}

#[test]
fn where_all_paths_are_known_and_none_fails_it_is_proved() {
    let place = Place::new();
    place.write("price.c", PRICE);
    let price = ["project/price.c", "--function", "price", "--paths"];
    let (status, text, errors) = prove(&place, &price);
    assert_eq!(status, Some(0), "{errors}");
    insta::assert_snapshot!(text, @"
    Proved: `price` holds for all inputs.
    There are no others than the 8 paths that were followed.
    ");
    // The reference is followed along the same inputs.
    place.write("other.c", PRICE.replace("age < 6", "age <= 5"));
    let like = [&price[..], &["--like", "project/other.c"]].concat();
    let (status, text, errors) = prove(&place, &like);
    assert_eq!(status, Some(0), "{text}{errors}");
    place.write("other.c", PRICE.replace("age < 18", "age <= 18"));
    let (status, text, errors) = prove(&place, &like);
    assert_eq!(status, Some(1), "{text}{errors}");
    assert!(text.contains("age = 18"), "{text}");
}

#[test]
fn what_is_left_is_said_where_there_are_more_paths() {
    let place = Place::new();
    place.write("miles.c", MILES);
    let few = ["project/miles.c", "--function", "miles", "--paths=5"];
    let (status, text, errors) = prove(&place, &few);
    assert_eq!(status, Some(5), "{errors}");
    insta::assert_snapshot!(text, @"
    Unknown: whether `miles` holds, because of
      more paths than the 5 that were followed, none of which fails (--paths=N follows more)
    ");
    // A path that goes on beyond what is followed of each.
    place.write(
        "endless.c",
        "#include <assert.h>
int wait(int n)
{
    unsigned i = 0;
    if (n > 3)
        for (;;)
            i += 3;
    assert(n <= 3);
    return (int)i;
}
",
    );
    let flags = [
        "project/endless.c",
        "--function",
        "wait",
        "--paths",
        "--max-instructions",
        "5000",
    ];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(5), "{errors}");
    insta::assert_snapshot!(text, @"
    Bounded: `wait` holds for all inputs, on 2 paths, as far as 5,000 instructions of each, and executions go on beyond that:
      project/endless.c:6 in wait
    Give a larger --max-instructions, or assume less.
    ");
    let (status, _, errors) = prove(&place, &[&few[..], &["--repair"]].concat());
    assert_eq!(status, Some(2), "{errors}");
    assert!(errors.contains("--paths"), "{errors}");
}

#[test]
fn inputs_that_the_assumptions_exclude_do_not_count() {
    let place = Place::new();
    place.write("price.c", PRICE);
    let price = [
        "project/price.c",
        "--function",
        "price",
        "--paths",
        "--assume",
    ];
    let (status, text, errors) = prove(&place, &[&price[..], &["age > 20", "--json"]].concat());
    assert_eq!(status, Some(0), "{text}{errors}");
    let report: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(report["verdict"], "proved");
    assert!(report["paths"]["excluded"].as_u64() > Some(0), "{text}");
    let never = [&price[..], &["age > 20 && age < 20"]].concat();
    let (status, text, errors) = prove(&place, &never);
    assert_eq!(status, Some(2), "{text}{errors}");
    assert!(text.starts_with("Void"), "{text}");
}

#[test]
fn where_the_formula_of_all_paths_is_too_large_a_few_paths_may_decide() {
    let place = Place::new();
    // Calls within calls: all paths at once are too many, one after the other there are few.
    place.write(
        "calls.c",
        "#include <assert.h>
extern int nondet_int(void);
static int climb(int n)
{
    if (n > 40)
        return n - 4;
    return climb(climb(climb(n + 9)));
}
int main(void)
{
    int n = nondet_int();
    if (n < 36)
        return 0;
    int found = climb(n);
    assert(found == 37 || n > 41 && found == n - 4);
    return 0;
}
",
    );
    let (status, text, errors) = prove(&place, &["project/calls.c"]);
    assert_eq!(status, Some(0), "{text}{errors}");
    assert!(text.contains("There are no others than the"), "{text}");
    // A list whose elements come from several rounds of a loop.
    place.write(
        "list.c",
        "#include <assert.h>
#include <stdlib.h>
extern int nondet_int(void);
struct element { int value; struct element *next; };
int main(void)
{
    struct element *first = malloc(sizeof *first), *last = first;
    int count = 1, seen = 0;
    if (first == 0)
        return 0;
    first->value = 7;
    while (count < 4 && nondet_int()) {
        struct element *new = malloc(sizeof *new);
        if (new == 0)
            return 0;
        new->value = 7;
        last->next = new;
        last = new;
        count++;
    }
    last->next = 0;
    for (struct element *at = first; at; at = at->next) {
        assert(at->value == 7);
        seen++;
    }
    assert(seen == count);
    return 0;
}
",
    );
    let (status, text, errors) = prove(&place, &["project/list.c"]);
    assert_eq!(status, Some(0), "{text}{errors}");
}

#[test]
fn repairs_are_looked_for_in_all_of_a_program_also_where_it_is_long() {
    let place = Place::new();
    place.write(
        "long.c",
        "#include <assert.h>
static unsigned mark = 1;
static void mix(void)
{
    for (int i = 0; i < 12000; i++)
        mark = mark * 5 + 3;
}
int late(int n)
{
    mix();
    int found = n > 2;
    assert(found == (n > 1));
    return found;
}
",
    );
    let flags = [
        "project/long.c",
        "--function",
        "late",
        "--repair",
        "--level",
        "1",
        "--max-edits",
        "1",
        "--trusted",
        "mix",
    ];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(0), "{text}{errors}");
    assert!(text.contains("+    int found = n >= 2;"), "{text}{errors}");
    assert!(
        text.contains("There is no other in level 1."),
        "{text}{errors}"
    );
}
