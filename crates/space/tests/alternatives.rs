//! Changes that are no terms, as texts: what of, what into, at what cost.

use crate::changes;

use changes::{changes, contain, lacks};
use patchwright_space::Schema;

#[test]
fn functions_of_the_library_are_put_round_expressions_and_taken_away() {
    let source = "#include <stdlib.h>\n#include <ctype.h>\n\
                  int f(int a, const char *s) {\n\
                  int n = labs(a);\n\
                  for (int i = 0; s[i]; i++)\n\
                  n += (a - i);\n\
                  return n;\n}\n";
    let found = changes(source, Schema::Function, &[]);
    for expected in [
        "2: int n = a;",
        "2: for (int i = 0; tolower(s[i]); i++)",
        "2: n += abs(a - i);",
        "2: n += (abs(a) - i);",
        "2: return abs(n);",
    ] {
        assert!(
            found.iter().any(|text| text == expected),
            "{expected}: {found:#?}"
        );
    }
    // Neither an index nor what counts a loop, and nothing twice.
    assert!(
        !found.iter().any(|text| text.contains("abs(i)")),
        "{found:#?}"
    );
    assert!(
        !found.iter().any(|text| text.contains("abs(labs")),
        "{found:#?}"
    );
}

#[test]
fn a_function_whose_value_says_another_thing_costs_more() {
    let source = "#include <string.h>\n\
                  int f(const char *a, const char *b) {\n\
                  return strcmp(a, b);\n}\n";
    let found = changes(source, Schema::Function, &[]);
    contain(
        &found,
        &["2: return strcoll(a, b);", "4: return strspn(a, b);"],
    );
}

#[test]
fn a_function_that_is_a_value_becomes_one_of_the_same_type() {
    let source = "typedef int (*op)(int, int);\n\
                  static int add(int a, int b) { return a + b; }\n\
                  static int sub(int a, int b) { return a - b; }\n\
                  static int neg(int a) { return -a; }\n\
                  static long mul(int a, int b) { return a * b; }\n\
                  static int use(op f, int a) { return f(a, 1); }\n\
                  struct s { op f; };\n\
                  static op pick(int a) {\n\
                  static op fixed = add;\n\
                  struct s s = {&sub};\n\
                  if (use(add, sizeof add) > add(1, 1)) s.f = fixed;\n\
                  return neg(a) ? s.f : sub;\n}\n";
    let found = changes(source, Schema::Function, &[]);
    let is_call = |text: &str| {
        ["sub(1, 1)", "mul(1, 1)"]
            .iter()
            .any(|call| text.contains(call))
    };
    let is_value = |text: &&String| text.starts_with("1: ") && !is_call(text);
    let of_values = found.iter().filter(is_value);
    let of_values: Vec<&str> = of_values.map(String::as_str).collect();
    assert_eq!(
        of_values,
        [
            "1: struct s s = {&add};",
            "1: if (use(sub, sizeof add) > add(1, 1)) s.f = fixed;",
            "1: return neg(a) ? s.f : add;",
        ]
    );
}

#[test]
fn a_member_begins_again_beside_others() {
    let source = "#include <stddef.h>\n\
                  struct s { int count, longest; double mean; struct s *next; char name[8]; const int id; };\n\
                  struct box { struct s s; };\n\
                  void f(struct s *s, struct box *box, int n) {\n\
                  s->next = NULL;\n\
                  s->count = 0;\n\
                  if (n) { box->s.mean = n; box->s.longest = 1; }\n}\n";
    let found = changes(source, Schema::Initialization, &[]);
    let resets: Vec<&str> = found
        .iter()
        .filter(|text| text.starts_with("2: "))
        .map(String::as_str)
        .collect();
    assert_eq!(
        resets,
        [
            "2: s->longest = 0;",
            "2: s->mean = 0.0;",
            "2: if (n) { box->s.mean = n; box->s.count = 0; box->s.longest = 1; }",
            "2: if (n) { box->s.mean = n; box->s.mean = 0.0; box->s.longest = 1; }",
            "2: if (n) { box->s.mean = n; box->s.next = NULL; box->s.longest = 1; }",
        ]
    );
}

#[test]
fn a_loop_counts_the_other_way_round() {
    let source = "int f(int *a, int n) {\n\
                  int s = 0;\n\
                  for (int i = 0; i < n; i++)\n\
                  s = 2 * s + a[i];\n\
                  return s;\n}\n";
    let found = changes(source, Schema::Loop, &[]);
    assert_eq!(
        found,
        [
            "2: for (int i = n - 1; i >= 0; i--)",
            "2: for (int i = 1; i <= n; i++)",
            "2: for (int i = 1; i < n + 1; i++)",
            "2: for (int i = 1; i < n - 1; i++)",
        ]
    );
}

#[test]
fn an_array_is_cleared_before_a_loop_that_counts_in_it() {
    let source = "#include <string.h>\nstatic int seen[9];\nint f(const char *s) {\n\
                  int count[26], n = 0;\n\
                  for (int i = 0; s[i]; i++) {\n\
                  count[s[i] - 'a']++;\n\
                  seen[i] = 1;\n\
                  }\n\
                  return n;\n}\n";
    let found = changes(source, Schema::Initialization, &[]);
    for expected in [
        "3: memset(count, 0, sizeof count); | for (int i = 0; s[i]; i++) {",
        "3: memset(seen, 0, sizeof seen); | for (int i = 0; s[i]; i++) {",
    ] {
        let is_it = |text: &String| expected.starts_with(text.as_str());
        assert!(found.iter().any(is_it), "{expected}: {found:#?}");
    }
}

#[test]
fn a_remainder_is_taken_by_what_the_file_takes_remainders_by() {
    let source = "enum { MOD = 9973, MOST = 1000 };\nlong g(long x) { return x * 2 % MOD; }\nvoid f(int *a, int n) {\n\
                  for (int i = 1; i < n; i++)\n\
                  a[i] += a[i - 1];\n}\n";
    let mut found = changes(source, Schema::Assignment, &[]);
    found.retain(|text| text.contains("%="));
    assert_eq!(found, ["3: { a[i] += a[i - 1]; a[i] %= MOD; }"]);
}

#[test]
fn conditions_are_refined_by_the_programs_own_predicates() {
    let source = "int leap(int y);\nint f(int y, int m) {\n\
                  if (m > 2)\n\
                  return 1;\n\
                  return 0;\n}\n";
    let found = changes(source, Schema::Refinement, &["leap"]);
    for expected in [
        "3: if (m > 2 && leap(y))",
        "3: if (m > 2 || leap(y))",
        "4: if (m > 2 && !leap(y))",
    ] {
        assert!(
            found.iter().any(|text| text == expected),
            "{expected}: {found:#?}"
        );
    }
}

#[test]
fn the_programs_own_functions_are_called_round_expressions_and_for_numbers() {
    let source = "static int find(int x) { return x; }\n\
                  static int most(int a, int b) { return a > b ? a : b; }\n\
                  static int up(int x) { return x; }\n\
                  int parent[9];\n\
                  int f(int a, int b) {\n\
                  int best = 0;\n\
                  best = a;\n\
                  parent[b] = a;\n\
                  if (a > 30)\n\
                  return 1;\n\
                  return best;\n}\n";
    let found = changes(source, Schema::Function, &[]);
    contain(
        &found,
        &[
            "3: best = find(a);",
            "3: best = most(best, a);",
            "4: best = most(a, b);",
            "3: parent[find(b)] = a;",
            "4: if (a > find(a))",
        ],
    );
    // Who calls the function at hand would be called by it without end.
    let source = source.replace(
        "int up(int x) { return x; }",
        "int up(int x) { return f(x, x); }",
    );
    let source = source.replace("static int find", "int f(int a, int b);\nstatic int find");
    let found = changes(&source, Schema::Function, &[]);
    assert!(!found.iter().any(|text| text.contains("up(")), "{found:#?}");
}

#[test]
fn what_becomes_negative_by_a_remainder_is_mended() {
    let source = "int f(int t, int n) {\n\
                  int i;\n\
                  t %= 24 * 60;\n\
                  i = (t - 1) % n;\n\
                  return i;\n}\n";
    contain(
        &changes(source, Schema::Assignment, &[]),
        &["3: if (t < 0) t += 24 * 60;", "3: if (i < 0) i += n;"],
    );
    contain(
        &changes(source, Schema::Expression, &[]),
        &["3: i = ((t - 1) % n + n) % n;"],
    );
    let unsigned = source.replace("int t, int n", "unsigned t, unsigned n");
    let found = changes(&unsigned, Schema::Expression, &[]);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn what_has_no_predecessor_is_assigned_elsewhere() {
    let source = "struct e { struct e *next; };\nstruct e *first;\n\
                  void f(struct e *prev, struct e *it) {\n\
                  if (first == it)\n\
                  prev->next = it->next;\n\
                  prev->next = it->next;\n}\n";
    let found = changes(source, Schema::Guard, &[]);
    contain(
        &found,
        &[
            "4: if (prev) | prev->next = it->next; | else | first = it->next;",
            "4: { if (prev) prev->next = it->next; else first = it->next; }",
        ],
    );
}

#[test]
fn an_assignment_is_to_something_else_of_the_same_type() {
    let source = "struct s { double least, most; const double sum; int n; };\nint rows[9];\nint cols[9];\n\
                  static const int table[9];\n\
                  int f(struct s *s, int i, int j, long k) {\n\
                  s->least = 1;\n\
                  for (j = 0; j < 9; i++)\n\
                  rows[j] = k;\n\
                  return cols[i] + table[i];\n}\n";
    let found = changes(source, Schema::Assignment, &[]);
    contain(
        &found,
        &[
            "2: s->most = 1;",
            "2: for (j = 0; j < 9; j++)",
            "2: for (i = 0; j < 9; i++)",
            "2: cols[j] = k;",
        ],
    );
    // What a loop steps is what it begins with.
    let counted = "int f(int n, int m) {\nfor (int i = 0; i < n; i++)\nm = n;\nreturn m;\n}\n";
    let counted = changes(counted, Schema::Assignment, &[]);
    assert!(
        !counted.iter().any(|text| text.contains("++")),
        "{counted:#?}"
    );
    for other in ["s->n", "k++", "k = 0", "s->sum = ", "table[j] = "] {
        assert!(!found.iter().any(|text| text.contains(other)), "{found:#?}");
    }
}

#[test]
fn a_program_begins_with_other_numbers() {
    let source = "\
#include <limits.h>
static int least = 0, count;
static const int fixed = 3, table[2] = {1, 5};
static const char *name;
extern int other;
static int look(int x) { if (x < least || least == 77) least = x; return ++count; }
int main(int argc, char **argv) {
int n = argc;
return look(n) + fixed + table[1] + (name != argv[0]) + other + (n == INT_MAX);
}
";
    let found = changes(source, Schema::Initialization, &[]);
    contain(
        &found,
        &[
            "2: static int least = 1, count;",
            "2: static int least = 77, count;",
            "2: static int least = INT_MAX, count;",
            "2: static int least = 0, count = 1;",
        ],
    );
    lacks(&found, &["fixed = 4", "other", "name"]);

    // Whoever calls `main` would begin again.
    let again = source.replace("return ++count;", "return main(0, 0);");
    let again = again.replace(
        "static int look",
        "int main(int, char **);\nstatic int look",
    );
    lacks(
        &changes(&again, Schema::Initialization, &[]),
        &["least = 1"],
    );
}

#[test]
fn elements_of_tables_become_others() {
    let source = "\
static const int days[] = {31, 28}, more = 1;
static const int steps[2][2] = {{0, 1}, {-1, 0}};
int flags[] = {0, 1};
const int seen[] = {8, 9};
int main(void) { return days[0] + more + steps[1][0] + flags[1] + seen[0]; }
";
    let found = changes(source, Schema::Initialization, &[]);
    contain(
        &found,
        &[
            "2: static const int days[] = {30, 28}, more = 1;",
            "2: static const int steps[2][2] = {{0, 1}, {1, 0}};",
            "2: static const int steps[2][2] = {{0, 2}, {-1, 0}};",
            "2: int flags[] = {0, -1};",
        ],
    );
    // Other files may see it, as what it is declared here.
    lacks(&found, &["seen[] = {9", "seen[] = {7"]);
}

#[test]
fn what_two_calls_give_is_exchanged() {
    let source = "int next(void);\nint same(int);\n\
                  int f(void) {\n\
                  int a = next(), b = next();\n\
                  int c = next();\n\
                  long d = next();\n\
                  long e = same(d);\n\
                  return a - b + c - d + e;\n}\n";
    let found = changes(source, Schema::Swap, &[]);
    contain(
        &found,
        &[
            "2: int b = next(), a = next();",
            "2: int a = next(), c = next(); | int b = next();",
        ],
    );
    lacks(&found, &["long c", "long e = next"]);
}

#[test]
fn a_calculation_is_made_in_the_type_in_which_its_value_is_used() {
    let source = "\
long long f(int a, int b, int m, long long s, unsigned u)
{
    s += a * b + 1;
    int r = (a * b + a) % m;
    if (a * b > m)
        s = 1 << r;
    static long long t = 2 * 3;
    switch (s) {
    case 1 << 3:
        return 0;
    }
    int table[2 * 3];
    double d = a * b;
    r = a * b;
    s += (long long)(a * b) + t + table[0] + (long long)d;
    return u * u;
}
";
    let mut found = changes(source, Schema::Expression, &[]);
    found.retain(|change| change.contains("(long") || change.contains("1LL"));
    contain(
        &found,
        &[
            "2: s += (long long)a * b + 1;",
            "2: int r = ((long long)a * b + a) % m;",
            "2: if ((long long)a * b > m)",
            "2: s = 1LL << r;",
            "2: s += (long long)((long long)a * b) + t + table[0] + (long long)d;",
            "2: return (long long)u * u;",
        ],
    );
    assert_eq!(found.len(), 6, "{found:#?}");
}

#[test]
fn a_name_is_another_one_wherever_an_expression_mentions_it() {
    let source = "\
struct talk { int begin, end; char *name; };
int f(const struct talk *x, const struct talk *y, int a, int b)
{
    int area = a * a;
    if (a > 0 && a < 9)
        area++;
    return x->begin - y->begin + area;
}
";
    let found = changes(source, Schema::Expression, &[]);
    contain(
        &found,
        &[
            "2: int area = b * b;",
            "2: if (b > 0 && b < 9)",
            "1: return x->end - y->end + area;",
        ],
    );
}

#[test]
fn a_function_is_called_once_more_with_other_arguments() {
    let source = "\
int fall(int l, int r) { return l < r; }
int solve(int l, int r, int n)
{
    if (n > 2)
        return 2 * solve(l, r, n - 1);
    return fall(l + 1, r);
}
";
    let found = changes(source, Schema::Function, &["fall"]);
    contain(
        &found,
        &[
            "5: return fall(l + 1, r) || fall(l, r - 1);",
            "4: return fall(l + 1, r) && fall(l, r);",
            "4: return 2 * (solve(l, r, n - 1) + solve(l, r, n - 2));",
        ],
    );
    let endless = |change: &String| change.contains("solve(l, r, n))");
    assert!(!found.iter().any(endless), "{found:#?}");
}

#[test]
fn a_number_of_bytes_counts_objects() {
    let source = "\
void *memcpy(void *, const void *, unsigned long);
void *malloc(unsigned long);
struct node { struct node *next; int values[4]; };
void f(int *to, const int *from, int n, char *text, struct node *node)
{
    memcpy(to + 1, from, n);
    memcpy(text, text + 1, n);
    to = malloc(n + 1);
    node = (struct node *)malloc(sizeof(node));
    node->next = malloc(sizeof node);
    node->next = malloc(sizeof(struct node));
    int *more = malloc(n);
    more[0] = to[0];
}
";
    let found = changes(source, Schema::Expression, &[]);
    let found: Vec<&String> = found
        .iter()
        .filter(|text| text.contains("sizeof"))
        .collect();
    assert_eq!(
        found,
        [
            "1: memcpy(to + 1, from, n * sizeof(int));",
            "1: to = malloc((n + 1) * sizeof(int));",
            "1: int *more = malloc(n * sizeof(int));",
            "1: node = (struct node *)malloc(sizeof(*node));",
            "1: node->next = malloc(sizeof(*node));",
        ]
    );
}

#[test]
fn what_a_call_tells_ends_the_function() {
    let source = "\
int printf(const char *, ...);
static int parse(int n) { return n > 3; }
int f(int (*handle)(int), int n)
{
    if (n < 0)
        return -1;
    while (n--) {
        handle(n);
        printf(\"%d\", n);
    }
    parse(n);
    return 0;
}
";
    let found = changes(source, Schema::Exit, &[]);
    contain(
        &found,
        &[
            "3: if (handle(n)) | return -1;",
            "4: if (!handle(n)) | return 0;",
            "3: if (handle(n)) | break;",
            "3: if (parse(n)) | return -1;",
        ],
    );
    assert!(
        !found.iter().any(|text| text.contains("(printf")),
        "{found:#?}"
    );
}

#[test]
fn conditions_with_effects_get_another_connective() {
    let source = "int p(int); int q(int);\n\
                  int f(int a, int b) {\n\
                  if (p(a) || q(a) || b != 3) return 1;\n\
                  if (p(a) && (!q(b) || a)) return 2;\n\
                  if (a > 1 || b > 2) return 3;\n\
                  return p(a) && q(b);\n}\n";
    let found = changes(source, Schema::Operator, &[]);
    contain(
        &found,
        &[
            "1: if (p(a) || q(a) && b != 3) return 1;",
            "1: if ((p(a) || q(a)) && b != 3) return 1;",
            "1: if (p(a) && q(a) || b != 3) return 1;",
            "2: if (p(a) || b != 3) return 1;",
            "2: if (q(a) || b != 3) return 1;",
            "2: if (p(a) || !q(a) || b != 3) return 1;",
            "1: if (p(a) || (!q(b) || a)) return 2;",
            "1: if (p(a) && (!q(b) && a)) return 2;",
            "2: if (p(a) && (q(b) || a)) return 2;",
            "2: if ((!q(b) || a)) return 2;",
            "1: return p(a) || q(b);",
        ],
    );
    // What has no effects is a term.
    lacks(&found, &["a > 1 &&"]);
}
