//! Proofs for any number of rounds of loops, and for calls nested however deeply.

use crate::common::{Asked, by_rounds};

/// How many pairs of loops are followed together, if the versions are proved to be the same.
fn loops(old: &str, new: &str) -> Option<usize> {
    by_rounds(old, new, &Asked::function("f")).map(|found| found.loops)
}

#[test]
#[ignore = "nightly: 2 s; who_fails_in_a_round_fails_in_both_or_is_not_proved goes this way"]
fn loops_that_do_the_same_in_each_round_are_the_same_for_any_number_of_rounds() {
    let old = "int f(int n, unsigned k) { unsigned h = k; int i;\n\
               for (i = 0; i < n; i++) { if (h & 1) h = h * 3 + 1; else h = h / 2; }\n\
               return (int)(h & 0xffff); }\n";
    let new = "int f(int n, unsigned k) { unsigned g = k; int at = 0;\n\
               while (at < n) { if (g % 2 == 0) g >>= 1; else g = g + g + g + 1; at++; }\n\
               return (int)(g & 0xffff); }\n";
    assert_eq!(loops(old, new), Some(1));
    assert_eq!(loops(old, &new.replace("+ 1; at", "+ 3; at")), None);
    // The difference is far beyond any bound.
    let late = new.replace("at++;", "at++; if (at == 500000000) g ^= 8;");
    assert_eq!(loops(old, &late), None);
    // One round less.
    assert_eq!(loops(old, &new.replace("at < n", "at < n - 1")), None);
}

#[test]
#[ignore = "nightly: 3 s; who_fails_in_a_round_fails_in_both_or_is_not_proved goes this way"]
fn a_loop_may_count_down_where_the_other_one_counts_up() {
    let old = "double f(double x, int n) { double r = 1; for (int i = 0; i < n; i++) r = r * x; return r; }\n";
    let new = "double f(double x, int n) { double r = 1; int i = n; while (i > 0) { r = x * r; i--; } return r; }\n";
    assert_eq!(loops(old, new), Some(1));
    assert_eq!(loops(old, &new.replace("i > 0", "i > 1")), None);
    let seen = new.replace("return r", "return r + i");
    assert_eq!(loops(old, &seen), None, "what `i` is at the end differs");
}

#[test]
#[ignore = "nightly: 2 s; who_fails_in_a_round_fails_in_both_or_is_not_proved goes this way"]
fn loops_within_loops_and_loops_one_after_the_other_are_followed() {
    let old = "int f(int n, int m) { int c = 0;\n\
               for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) c ^= i * 31 + j;\n\
               for (int i = m; i > 3; i--) c ^= 5 + i;\n return c; }\n";
    let new = "int f(int n, int m) { int c = 0, i = 0;\n\
               while (i < n) { int j = 0; while (j < m) { c = c ^ (j + 31 * i); j++; } i++; }\n\
               while (m > 3) { c = (m + 5) ^ c; m--; }\n return c; }\n";
    assert_eq!(loops(old, new), Some(3));
    assert_eq!(loops(old, &new.replace("int j = 0", "int j = 1")), None);
    assert_eq!(loops(old, &new.replace("m > 3", "m > 2")), None);
}

#[test]
fn what_loops_print_and_leave_in_memory_is_compared_in_each_round() {
    let old = "int printf(const char *, ...); int g;\n\
               void f(int *p, int n) { for (int i = 0; i < n; i++) { *p ^= i; g += *p & 7; printf(\"%d\\n\", *p); } }\n";
    let new = "int printf(const char *, ...); int g;\n\
               void f(int *p, int n) { int i = 0; while (n > i) { int v = i ^ *p; *p = v; g = (v & 7) + g;\n\
               printf(\"%d\\n\", v); ++i; } }\n";
    assert_eq!(loops(old, new), Some(1));
    assert_eq!(loops(old, &new.replace("v & 7", "v & 6")), None);
    assert_eq!(loops(old, &new.replace("%d\\n\", v", "%d\\n\", g")), None);
    assert_eq!(loops(old, &new.replace("*p = v;", "")), None);
}

#[test]
fn who_fails_in_a_round_fails_in_both_or_is_not_proved() {
    let old =
        "int f(int n, int d) { int s = 0; for (int i = 0; i < n; i++) s ^= i / d; return s; }\n";
    let new = "int f(int n, int d) { int s = 0; for (int i = 0; i < n; i++) { s = (i / d) ^ s; } return s; }\n";
    assert_eq!(loops(old, new), Some(1));
    // It divides also where there is no round.
    let early = new.replace("for (", "s = 1 / d * 0; for (");
    assert_eq!(loops(old, &early), None);
    // One of them never ends.
    let endless = new.replace("return s", "while (n == 77) n = n; return s");
    assert_eq!(loops(old, &endless), None);
}

#[test]
fn functions_that_call_themselves_are_the_same_if_they_make_the_same_calls() {
    let old = "unsigned f(unsigned n) { if (n <= 1) return 1; return n * f(n - 1); }\n";
    let new = "unsigned f(unsigned n) { if (n == 0) return 1; if (n == 1) return 1;\n\
               unsigned m = n - 1; return f(m) * n; }\n";
    let found = by_rounds(old, new, &Asked::function("f")).expect("a proof");
    assert_eq!((found.loops, found.opaque), (0, vec!["f".to_owned()]));
    assert_eq!(loops(old, &new.replace("m = n - 1", "m = n - 2")), None);
    // What a call gives does not matter, but whether it comes back does.
    let more = new.replace("return f(m) * n", "return f(m) * n + f(m + 1) * 0");
    assert_eq!(loops(old, &more), None);
    // Through another function.
    let old = "int f(int n); static int g(int n) { return n < 0 ? 0 : f(n / 2); }\n\
               int f(int n) { return n == 0 ? 1 : g(n - 1) ^ 3; }\n";
    let new = "int f(int n) { if (!n) return 1; n--; return 3 ^ (n < 0 ? 0 : f(n / 2)); }\n";
    assert_eq!(loops(old, new), Some(0));
}

#[test]
fn what_is_no_number_in_a_variable_is_left_to_others() {
    let walks = "int f(const char *p) { int n = 0; while (*p) { n++; p++; } return n; }\n";
    assert_eq!(loops(walks, walks), None, "a pointer that moves");
    let keeps = "int f(int n) { int t[4] = {0}; for (int i = 0; i < n; i++) t[i & 3] += i; return t[0]; }\n";
    assert_eq!(loops(keeps, keeps), None, "an object of the function");
    let reads = "int getchar(void); int f(int n) { int s = 0; for (int i = 0; i < n; i++) s ^= getchar(); return s; }\n";
    assert_eq!(loops(reads, reads), None, "an input that goes on");
}

#[test]
fn what_the_library_keeps_from_round_to_round_is_not_taken_for_what_it_is_at_first() {
    let head = "#include <errno.h>\n#include <string.h>\n#include <stdlib.h>\n";
    let old = format!(
        "{head}int f(int n) {{ int c = 0; for (int i = 0; i < n; i++) {{ if (errno) c += 1; errno = i; }} return c; }}\n"
    );
    let new = old.replace("c += 1", "c += 2");
    assert_eq!(loops(&old, &new), None);
    let old = format!(
        "{head}int f(char *s, int n) {{ int c = 0; strtok(s, \",\"); for (int i = 0; i < n; i++) c += strtok(NULL, \",\") != NULL; return c; }}\n"
    );
    let new = old
        .replace("c += strtok", "c += 2 * (strtok")
        .replace("NULL; return", "NULL); return");
    assert_eq!(loops(&old, &new), None);
}
