//! Two versions explored path by path.

use crate::common::{Asked, by_paths};
use patchwright_compare::{Kind, Share, Stop, Verdict};

/// A matcher of patterns with `*`, `?` and sets, whose nested loops over strings are too much for one formula.
const MATCHER: &str = r#"
#include <stdio.h>
#include <string.h>
static char pattern[12], text[12];
static int in_set(const char *set, int length, char c)
{
    int not = 0, at = 0, found = 0;
    if (length > 0 && set[0] == '!') {
        not = 1;
        at = 1;
    }
    while (at < length) {
        if (at + 2 < length && set[at + 1] == '-') {
            if (set[at] <= c && c <= set[at + 2])
                found = 1;
            at += 3;
        } else {
            if (set[at] == c)
                found = 1;
            at++;
        }
    }
    return not ? !found : found;
}
static int match(const char *p, const char *t)
{
    while (*p) {
        if (*p == '*') {
            while (*p == '*')
                p++;
            for (;; t++) {
                if (match(p, t))
                    return 1;
                if (!*t)
                    return 0;
            }
        }
        if (!*t)
            return 0;
        if (*p == '[') {
            const char *end = strchr(p, ']');
            if (end) {
                if (!in_set(p + 1, (int)(end - p - 1), *t))
                    return 0;
                p = end + 1;
                t++;
                continue;
            }
        }
        if (*p != '?' && *p != *t)
            return 0;
        p++;
        t++;
    }
    return !*t;
}
int main(void)
{
    if (!fgets(pattern, sizeof pattern, stdin) || !fgets(text, sizeof text, stdin))
        return 2;
    pattern[strcspn(pattern, "\n")] = 0;
    text[strcspn(text, "\n")] = 0;
    puts(match(pattern, text) ? "yes" : "no");
    return 0;
}
"#;

fn line_of(source: &str, part: &str) -> u32 {
    let at = source.find(part).expect("it is there");
    source[..at].matches('\n').count() as u32 + 1
}

#[test]
#[ignore = "nightly: 5 s; what_one_exploration_looked_at_another_one_goes_on_with goes this way"]
fn a_difference_deep_in_loops_over_strings_is_found() {
    for (from, to) in [
        (
            "found = 1;\n            at += 3",
            "found = 1;\n            at += 2",
        ),
        ("return not ? !found : found;", "return found;"),
        ("c <= set[at + 2]", "c < set[at + 2]"),
    ] {
        let new = MATCHER.replace(from, to);
        let changed = [line_of(MATCHER, from)];
        let asked = Asked {
            equal: 0,
            different: 1,
            ..Asked::program()
        };
        let answer = by_paths(MATCHER, &new, &asked, [&changed, &changed]);
        let found = &answer.found;
        assert_eq!(found.verdict, Verdict::Different, "{to}");
        let all = found.explored.partitions.iter();
        assert!(all.map(|one| one.kind).eq([Kind::Different]), "{to}");
    }
}

#[test]
fn when_no_decision_is_left_the_paths_are_those_of_all_inputs() {
    let old = "int f(int a, int b)\n{\n    if (a > b)\n        return a - b > 10;\n    return a == b ? 2 : 3;\n}\n";
    let same = "int f(int a, int b)\n{\n    if (a == b)\n        return 2;\n    if (b >= a)\n        return 3;\n    \
                return b < a - 10;\n}\n";
    let asked = Asked::function("f");
    // `a - b` overflows where `a - 10` does not, and the other way round.
    let within = |text: &str| {
        text.replace(
            "int f(int a, int b)\n{\n",
            "int f(short c, short d)\n{\n    int a = c, b = d;\n",
        )
    };
    let answer = by_paths(&within(old), &within(same), &asked, [&[], &[]]);
    assert_eq!(answer.stop, Stop::All);
    assert_eq!(answer.found.verdict, Verdict::Equal);
    assert_eq!(answer.found.share, Share::Exact(1.0));
    // Three paths of OLD, and no two of NEW for any of them.
    assert_eq!(answer.paths.len(), 3);
    let other = within(same).replace("a - 10", "a - 11");
    let answer = by_paths(&within(old), &other, &asked, [&[], &[]]);
    assert_eq!(answer.stop, Stop::All);
    assert_eq!(answer.found.verdict, Verdict::Different);
    let all = answer.found.explored.partitions.iter();
    let differing: Vec<String> = all
        .filter(|one| one.kind == Kind::Different)
        .map(|one| one.condition.join(" && "))
        .collect();
    assert_eq!(differing.len(), 1, "{differing:?}");
}

#[test]
fn a_loop_is_followed_as_far_as_the_input_says() {
    let old = "int f(unsigned char m)\n{\n    int n = m % 64, sum = 0;\n    for (int i = 0; i < n; i++)\n        sum += i;\n    return sum;\n}\n";
    let new = "int f(unsigned char m)\n{\n    int n = m % 64;\n    return n * (n - 1) / 2;\n}\n";
    let asked = Asked {
        equal: 0,
        ..Asked::function("f")
    };
    let answer = by_paths(old, new, &asked, [&[], &[]]);
    // Nothing is unwound, so no bound is in the way of a proof.
    assert_eq!(answer.found.verdict, Verdict::Equal);
    assert_eq!(answer.paths.len(), 64);
    let other = new.replace("n - 1", "n - 1 + n / 50");
    let answer = by_paths(old, &other, &asked, [&[], &[]]);
    assert_eq!(answer.found.verdict, Verdict::Different);
}

#[test]
fn what_one_exploration_looked_at_another_one_goes_on_with() {
    let new = MATCHER.replace("at += 3", "at += 2");
    let asked = Asked {
        equal: 0,
        different: 1,
        ..Asked::program()
    };
    let first = by_paths(MATCHER, &new, &asked, [&[], &[]]);
    assert_eq!(first.found.verdict, Verdict::Different);
    let again = Asked {
        known: first.known.last().cloned().into_iter().collect(),
        ..asked
    };
    let second = by_paths(MATCHER, &new, &again, [&[], &[]]);
    // The input that is zero everywhere, and the one that differs.
    assert_eq!(second.found.verdict, Verdict::Different);
    assert_eq!(second.paths.len(), 2);
}

#[test]
fn a_pair_of_paths_that_is_too_hard_keeps_the_rest_from_being_called_proved() {
    let body = |special: &str, usual: &str| {
        format!(
            "int f(short a, short b)\n{{\n    if (a == 7)\n        return {special};\n    \
             unsigned p = (unsigned)(a * b);\n    return (int)({usual});\n}}\n"
        )
    };
    // Both count bits, and are the same, which takes the solver more than these few conflicts.
    let one_by_one: Vec<String> = (0..16).map(|bit| format!("(p >> {bit} & 1)")).collect();
    let one_by_one = one_by_one.join(" + ");
    let two = "((p & 0x5555) + (p >> 1 & 0x5555))";
    let four = format!("(({two} & 0x3333) + ({two} >> 2 & 0x3333))");
    let eight = format!("(({four} & 0x0f0f) + ({four} >> 4 & 0x0f0f))");
    let at_once = format!("({eight} & 0xff) + ({eight} >> 8)");
    let (old, new) = (body("0", &one_by_one), body("1", &at_once));
    let asked = Asked {
        equal: 0,
        conflicts: Some(2),
        ..Asked::function("f")
    };
    let answer = by_paths(&old, &new, &asked, [&[], &[]]);
    assert_eq!(answer.stop, Stop::All);
    assert_eq!(answer.found.verdict, Verdict::Different);
    assert!(!answer.found.explored.differences_complete);
    let same = body("0", &at_once);
    let answer = by_paths(&old, &same, &asked, [&[], &[]]);
    assert_eq!(answer.found.verdict, Verdict::Unfinished);
}
