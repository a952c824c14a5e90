//! What people get wrong who write small programs: labels, what is read and printed, which element.

use crate::changes;

use changes::{changes, changes_shown, contain, lacks};
use patchwright_space::{Schema, Shown};

#[test]
fn a_switch_has_one_more_label_another_one_or_one_less() {
    let source = "\
enum fruit { APPLE, PEAR, PLUM, QUINCE };
int f(int c, enum fruit fruit)
{
    int n = 0;
    switch (c) {
    case '+':
    case '-':
        n = 1;
        break;
    case '*':
        n = 2;
        break;
    case ':': n = 3; break;
    default:
        n = 2;
    }
    switch (fruit) {
    case APPLE:
        return n;
    case PLUM:
        return n + 1;
    default:
        return 0;
    }
}
";
    let mut shown = Shown::default();
    shown.add(b"3 / 4");
    let found = changes_shown(source, Schema::Refinement, &[], &shown);
    contain(
        &found,
        &[
            "3: case '/':",
            "3: case ':': case '/': n = 3; break;",
            "2: case PEAR:",
        ],
    );
    lacks(&found, &["case '-':", "case APPLE:"]);
    let found = changes_shown(source, Schema::Expression, &[], &shown);
    contain(&found, &["3: case QUINCE:", "4: case '/':", "2: "]);
}

#[test]
fn a_number_between_the_labels_is_one_that_was_forgotten() {
    let source = "\
int f(int m)
{
    switch (m) {
    case 4:
    case 6:
    case 11: return 30;
    default: return 31;
    }
}
";
    let found = changes(source, Schema::Refinement, &[]);
    contain(
        &found,
        &[
            "2: case 11: case 7: return 30;",
            "3: case 11: case 9: return 30;",
        ],
    );
    lacks(&found, &["case 14:"]);
}

#[test]
fn a_label_is_put_beside_the_last_of_those_for_which_the_same_is_done() {
    let source = "\
int f(int c)
{
    switch (c) {
    case 1: return 5;
    case 3: return 5;
    case 4: return c++;
    }
    return 0;
}
";
    let found = changes(source, Schema::Refinement, &[]);
    contain(
        &found,
        &[
            "2: case 3: case 2: return 5;",
            "2: case 4: case 2: return c++;",
        ],
    );
    lacks(&found, &["case 1: case"]);
}

#[test]
fn what_is_passed_fits_what_is_read_and_printed() {
    let source = "\
int printf(const char *, ...);
int scanf(const char *, ...);
struct s { int a[3]; double d; };
int f(struct s *s)
{
    int n, *p = &n;
    scanf(\"%d %lf\", s->a[1], s->d);
    scanf(\"%d\", &p);
    scanf(\"%d\", &n, &s->d);
    printf(\"%d\\n\", p);
    printf(\"%d and \\n\", n, s->a[0]);
    printf(\"%d %f\", n);
    return n;
}
";
    let found = changes(source, Schema::Format, &[]);
    contain(
        &found,
        &[
            "1: scanf(\"%d %lf\", &s->a[1], &s->d);",
            "1: scanf(\"%d\", p);",
            "2: scanf(\"%d %lf\", &n, &s->d);",
            "1: printf(\"%d\\n\", *p);",
            "2: printf(\"%d and %d\\n\", n, s->a[0]);",
        ],
    );
}

#[test]
fn a_line_is_read_in_the_place_of_a_word() {
    let source = "\
int scanf(const char *, ...);
int f(char *s)
{
    return scanf(\"%9s\", s);
}
";
    let found = changes(source, Schema::Format, &[]);
    contain(
        &found,
        &[
            "2: return scanf(\"%9[^\\n]\", s);",
            "2: return scanf(\" %9[^\\n]\", s);",
        ],
    );
}

#[test]
fn texts_become_those_of_expected_lines() {
    let source = "\
int printf(const char *, ...);
const char *f(int n)
{
    char own[] = \"Sunday\";
    printf(\"%s has %d appels\\n\", own, n);
    if (n > 1)
        return \"Teusday\";
    return \"none\";
}
";
    let mut shown = Shown::default();
    shown.expect(b"Monday has 3 apples\nTuesday\n");
    let found = changes_shown(source, Schema::Format, &[], &shown);
    contain(
        &found,
        &[
            "2: printf(\"%s has %d apples\\n\", own, n);",
            "2: return \"Tuesday\";",
        ],
    );
    lacks(&found, &["char own"]);
}

#[test]
fn elements_of_other_arrays_and_members_further_in_are_read() {
    let source = "\
struct span { int from, to; };
int f(const struct span *spans, int n)
{
    int a[9], b[9];
    int grid[3][3], other[3][3];
    for (int i = 1; i < n; i++)
        a[i] = a[i - 1] + spans[i].from;
    return b[0] + a[n - 1] + grid[n][1] + other[0][0];
}
";
    let found = changes(source, Schema::Expression, &[]);
    contain(
        &found,
        &[
            "2: a[i] = b[i - 1] + spans[i].from;",
            "2: a[i] = a[i - 1] + spans[i].to;",
            "2: return b[0] + a[n - 1] + other[n][1] + other[0][0];",
        ],
    );
}

#[test]
fn cases_are_joined_by_else_and_parted() {
    let source = "\
int f(int age, int student)
{
    int price = 9;
    if (age < 6)
        price = 0;
    if (student)
        price = 5;
    if (age > 90)
        if (student)
            return 1;
    if (age > 60)
        return 2;
    else if (age > 50)
        return 3;
    return price;
}
";
    let found = changes(source, Schema::Guard, &[]);
    contain(
        &found,
        &[
            "2: else if (student)",
            "2: else if (age > 90)",
            "2: if (age > 50)",
        ],
    );
    lacks(&found, &["else if (age > 60)"]);
}

#[test]
fn all_cases_in_a_row_are_joined_by_else_at_once() {
    let source = "\
int f(int points)
{
    char grade = 'F';
    if (points >= 90)
        grade = 'A';
    if (points >= 80) grade = 'B';
    if (points >= 70)
        grade = 'C';
    return grade;
}
";
    let found = changes(source, Schema::Guard, &[]);
    contain(
        &found,
        &["2: else if (points >= 80) grade = 'B'; | else if (points >= 70)"],
    );
}

#[test]
fn a_case_comes_before_those_that_hide_it() {
    let source = "\
int f(int n)
{
    if (n > 10)
        return 1;
    else if (n > 100) {
        return 2; /* never */
    } else if (n > 50)
        n = 7;
    else
        n = 8;
    if (n) goto out;
    else if (n > 2) { out: return 5; }
    return n;
}
";
    let found = changes(source, Schema::Move, &[]);
    contain(
        &found,
        &[
            "1: if (n > 100) { | return 2; /* never */ | } | else if (n > 10) | return 1; else if (n > 50)",
            "1: if (n > 50) | n = 7; | else if (n > 10) | return 1; else if (n > 100) { | return 2; /* never */ | }",
            "1: else if (n > 50) | n = 7; else if (n > 100) { | return 2; /* never */ | }",
        ],
    );
    lacks(&found, &["if (n > 2) { out: return 5; } else"]);
}

#[test]
fn an_integer_that_is_printed_with_a_fraction_is_calculated_with_one() {
    let source = "\
int printf(const char *, ...);
int f(int sum, int n)
{
    printf(\"%.1f\\n\", sum / n);
    printf(\"%.1f\\n\", (sum + n) / 2);
    return printf(\"%f\", sum - n);
}
";
    let found = changes(source, Schema::Format, &[]);
    contain(
        &found,
        &[
            "1: printf(\"%.1f\\n\", (double)sum / n);",
            "1: printf(\"%.1f\\n\", (sum + n) / 2.0);",
            "1: return printf(\"%f\", (double)(sum - n));",
        ],
    );
}

#[test]
fn a_variable_is_put_where_a_null_pointer_stands() {
    let source = "\
#define NULL ((void *)0)
struct node { struct node *next; };
struct node *f(struct node *node, struct node *rest, int *other)
{
    node->next = NULL;
    if (rest == NULL)
        return 0;
    return *other ? node : NULL;
}
";
    let found = changes(source, Schema::Expression, &[]);
    contain(
        &found,
        &[
            "2: node->next = rest;",
            "2: return node;",
            "2: return rest;",
        ],
    );
    lacks(&found, &["= other", "return other", "rest == node"]);
}

#[test]
fn a_line_is_ended_behind_what_prints_it() {
    let source = "\
int printf(const char *, ...);
int f(int n)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            printf(\"#\");
    }
    if (n)
        printf(\"%d\", n);
    else
        n = 2;
    for (int i = 0; i < n; i++)
        n--;
    return n;
}
";
    let found = changes(source, Schema::Format, &[]);
    let added = found
        .iter()
        .filter(|text| text.contains("3: printf(\"\\n\");"));
    assert_eq!(added.count(), 3, "{found:#?}");
}
