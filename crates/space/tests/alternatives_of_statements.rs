//! Changes that move, repeat or leave out statements.

use crate::changes::{changes, contain, lacks};
use patchwright_space::Schema;

#[test]
fn a_statement_moves_across_the_bounds_of_a_loop() {
    let source = "int g(int);\nint f(int n) {\n\
                  int s = 0;\n\
                  while (n > 0) {\n\
                  s += n--;\n\
                  g(s);\n\
                  }\n\
                  s = 1;\n\
                  return s;\n}\n";
    let found = changes(source, Schema::Move, &[]);
    for expected in [
        "3: } | g(s);",
        "3: s = 1; | }",
        "3: s += n--; | while (n > 0) {",
    ] {
        assert!(
            found.iter().any(|text| text == expected),
            "{expected}: {found:#?}"
        );
    }
}

#[test]
fn a_statement_is_repeated_where_all_that_it_mentions_is_there() {
    let source = "void swap(int *a, int *b);\nvoid g(int);\n\
                  void f(int *a, int n) {\n\
                  for (int i = 0; i < n; i++) {\n\
                  swap(a, &a[i]);\n\
                  g(n - 1);\n\
                  }\n\
                  n = 0;\n}\n";
    let found = changes(source, Schema::Move, &[]);
    contain(&found, &["4: swap(a, &a[i]);", "4: g(n - 1);"]);
    // Behind the loop there is no `i`.
    let mut repeated = found.iter().filter(|text| text.starts_with("4: "));
    assert!(!repeated.any(|text| text.contains("n = 0;")), "{found:#?}");
}

#[test]
fn what_is_done_to_one_of_two_things_is_done_to_the_other() {
    let source = "void take(int *out, int x);\n\
                  int f(int *a, int n, int *b, int m, int *out) {\n\
                  int i = 0, j = 0, k = 0;\n\
                  while (i < n && j < m) {\n\
                  if (a[i] <= b[j]) out[k++] = a[i++];\n\
                  else out[k++] = b[j++];\n\
                  }\n\
                  while (i < n) out[k++] = a[i++];\n\
                  return k;\n}\n";
    let found = changes(source, Schema::Move, &[]);
    contain(&found, &["3: while (j < m) out[k++] = b[j++];"]);
    // What is there already, and names of another type.
    let alone = "int f(int *a, int n, long m) {\nint i = 0, j = 0, k = 0;\nn = i < n; k = j < m;\n\
                 while (i < n) k += a[i++];\nreturn k;\n}\n";
    let alone = changes(alone, Schema::Move, &[]);
    assert!(
        !alone.iter().any(|text| text.contains("j < m) k +=")),
        "{alone:#?}"
    );
}

#[test]
fn what_an_if_governs_ends_with_a_jump() {
    let source = "int g(int);\nint f(int *a, int n, int x) {\n\
                  int at = -1;\n\
                  for (int i = 0; i < n; i++)\n\
                  if (a[i] == x)\n\
                  at = i;\n\
                  if (at < 0) {\n\
                  g(n);\n\
                  }\n\
                  return at;\n}\n";
    contain(
        &changes(source, Schema::Exit, &[]),
        &[
            "2: { at = i; break; }",
            "2: { at = i; continue; }",
            "3: { at = i; return at; }",
            "3: return at;",
            "4: return -1;",
        ],
    );
}

#[test]
fn what_an_if_governs_without_doing_anything_is_a_jump() {
    let source = "int f(int *a, int n, int x) {\n\
                  for (int i = 0; i < n; i++) {\n\
                  if (a[i] == x) {}\n\
                  if (a[i] < 0) ;\n\
                  }\n\
                  return -1;\n}\n";
    contain(
        &changes(source, Schema::Exit, &[]),
        &[
            "2: if (a[i] == x) { break; }",
            "3: if (a[i] == x) { return i; }",
            "3: if (a[i] == x) { return x; }",
            "2: if (a[i] < 0) { continue; }",
        ],
    );
}

#[test]
fn a_statement_is_made_again_with_another_member() {
    let source = "struct s { int x, y; char c; };\n\
                  int f(struct s *a, struct s *b) {\n\
                  if (a->x != b->x) return a->x - b->x;\n\
                  a->c = b->c;\n\
                  a->y += b->x;\n\
                  return 0;\n}\n";
    let found = changes(source, Schema::Move, &[]);
    contain(
        &found,
        &[
            // Behind the other one, and in front of it.
            "3: if (a->y != b->y) return a->y - b->y;",
            "3: if (a->y != b->y) return a->y - b->y;",
        ],
    );
    lacks(&found, &["a->c != b->c", "a->x = b->x"]);
}

#[test]
fn an_else_is_that_of_another_if() {
    let source = "int g(int);\n\
                  int f(int a, int b) {\n\
                  if (a) { if (b) g(1); else g(2); }\n\
                  if (b) { g(4); if (a) g(1); } else { g(3); }\n\
                  return 0;\n}\n";
    contain(
        &changes(source, Schema::Guard, &[]),
        &[
            "3: if (a) { if (b) g(1); } else g(2);",
            "3: if (b) { g(4); if (a) g(1); else { g(3); } }",
        ],
    );
}

#[test]
fn a_statement_moves_across_the_bounds_of_a_branch() {
    let source = "int g(int);\n\
                  int f(int a) {\n\
                  g(0);\n\
                  if (a) { g(1); g(2); } else { g(3); return 1; }\n\
                  g(4);\n\
                  return 0;\n}\n";
    contain(
        &changes(source, Schema::Move, &[]),
        &[
            // Into a branch, …
            "3: if (a) { g(0); g(1); g(2); } else { g(3); return 1; }",
            "3: if (a) { g(1); g(2); } else { g(0); g(3); return 1; }",
            "3: if (a) { g(1); g(2); g(4); } else { g(3); return 1; }",
            // … out of it, …
            "3: g(1); | if (a) { g(2); } else { g(3); return 1; }",
            "3: if (a) { g(1);  } else { g(3); return 1; } | g(2);",
            // … and into the other one.
            "3: if (a) { g(2); } else { g(1); g(3); return 1; }",
            "3: if (a) { g(1); g(2); g(3); } else { return 1; }",
        ],
    );
}

#[test]
fn a_choice_of_a_loop_is_made_once_more_behind_it() {
    let source = "\
int f(int *a, int n)
{
    int best = 0, run = 1;
    for (int i = 1; i < n; i++) {
        if (a[i] > a[i - 1]) {
            run++;
        } else {
            if (run > best)
                best = run;
            run = 1;
        }
        if (run > 100)
            break;
    }
    return best;
}
";
    let found = changes(source, Schema::Move, &[]);
    contain(&found, &["3: if (run > best) | best = run;"]);
    // Neither what leaves the loop nor what mentions its counter.
    let behind = |change: &&String| change.starts_with("3: if") && !change.contains("else");
    assert_eq!(found.iter().filter(behind).count(), 1, "{found:#?}");
}

#[test]
fn a_statement_does_not_leave_the_branch_that_declares_what_it_mentions() {
    let source = "\
int find(int n);
int f(int n)
{
    int kept = 0;
    if (n < 0) {
        kept = 2;
    } else {
        int found;
        found = find(n);
        kept = 1;
    }
    return kept;
}
";
    let found = changes(source, Schema::Move, &[]);
    assert!(
        found.iter().any(|text| text.contains("kept = 1;")),
        "{found:#?}"
    );
    // In its own block it may come later.
    let leaves = |text: &&String| {
        [
            "found = find(n); | } else {",
            "} | found = find(n);",
            "found = find(n); | kept = 2;",
            "kept = 2; | found = find(n);",
        ]
        .iter()
        .any(|elsewhere| text.contains(elsewhere))
    };
    let left: Vec<&String> = found.iter().filter(leaves).collect();
    assert!(left.is_empty(), "{left:#?}");
}
