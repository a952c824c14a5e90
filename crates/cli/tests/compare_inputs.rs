//! What `patchwright compare` looks at where a function takes pointers.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

use crate::common::{Place, stderr, stdout};
use serde_json::Value;

fn compared(old: &str, new: &str, flags: &[&str], status: i32) -> Value {
    Place::with_versions(old, new).compared(flags, status)
}

/// The first difference, which executions confirm.
fn first_difference(report: &Value) -> Value {
    let partitions = report["partitions"].as_array().unwrap();
    let differing = partitions.iter().find(|one| one["kind"] != "equal");
    let first = differing.unwrap_or_else(|| panic!("{report:#}")).clone();
    assert_eq!(first["replay"], "agrees", "{first:#}");
    first
}

#[test]
fn two_pointers_may_lead_into_one_array() {
    let old = "int spaces(const char *first, const char *last)
{
    int count = 0;
    for (; first != last; first++)
        count += *first == ' ';
    return count;
}
";
    let new = old.replace("== ' '", "== '_'");
    let report = compared(old, &new, &["--function", "spaces"], 1);
    let first = first_difference(&report);
    let sample = first["sample"].to_string();
    assert!(sample.contains("first + "), "{sample}");
}

#[test]
fn two_pointers_may_lead_to_one_object_unless_the_user_says_otherwise() {
    let old = "unsigned sum(unsigned *a, unsigned *b)
{
    *a = 2;
    return *a + *b;
}
";
    let new = "unsigned sum(unsigned *a, unsigned *b)
{
    unsigned other = *b;
    *a = 2;
    return 2 + other;
}
";
    let flags = ["--function", "sum"];
    let report = compared(old, new, &flags, 1);
    let condition = first_difference(&report)["condition"].to_string();
    assert!(condition.contains("b == a"), "{condition}");
    let report = compared(old, new, &["--function", "sum", "--may-alias", "none"], 0);
    assert_eq!(report["verdict"], "equal");
    let assumed = report["assumed"].to_string();
    assert!(assumed.contains("--alias a,b"), "{assumed}");
    let text = Place::with_versions(old, new).run([
        "compare",
        "project/old.c",
        "project/new.c",
        "--function",
        "sum",
        "--may-alias",
        "none",
    ]);
    let text = stdout(&text);
    assert!(
        text.contains("Equal for all inputs of these shapes"),
        "{text}"
    );
    assert!(text.contains("Inputs: `a` leads to 1 object"), "{text}");
    assert!(
        text.contains("Assumed: `a` and `b` point to different objects"),
        "{text}"
    );
    let both = ["--function", "sum", "--may-alias", "none", "--alias", "a,b"];
    compared(old, new, &both, 1);
}

#[test]
fn a_pointer_may_lead_to_a_global() {
    let old = "unsigned total;
unsigned add(unsigned *to)
{
    total = 1;
    *to = 5;
    return total;
}
";
    let new = old.replace("return total;", "return 1;");
    let report = compared(old, &new, &["--function", "add"], 1);
    let condition = first_difference(&report)["condition"].to_string();
    assert!(condition.contains("to == &total"), "{condition}");
}

#[test]
fn a_pointer_to_void_leads_to_bytes() {
    let old = "int last(void *data, unsigned size)
{
    unsigned char *bytes = data;
    return size ? bytes[size - 1] : -1;
}
";
    let new = old.replace("size - 1]", "size - 1] & 127");
    let report = compared(old, &new, &["--function", "last"], 1);
    first_difference(&report);
    let inputs = report["inputs"].to_string();
    assert!(inputs.contains("8 bytes"), "{inputs}");
}

#[test]
fn calls_of_functions_that_arguments_lead_to_are_seen_with_their_arguments_in_order() {
    let old = "void each(void (*visit)(int, int), int n)
{
    visit(n, 1);
    visit(2, n);
}
";
    let swapped = "void each(void (*visit)(int, int), int n)
{
    visit(2, n);
    visit(n, 1);
}
";
    let flags = ["--function", "each"];
    let report = compared(old, swapped, &flags, 1);
    first_difference(&report);
    let same = old.replace("visit(2, n)", "visit(1 + 1, n)");
    assert_eq!(compared(old, &same, &flags, 0)["verdict"], "equal");
    let value = "unsigned twice(unsigned (*next)(void)) { return next() + 2 * next(); }\n";
    let other = "unsigned twice(unsigned (*next)(void)) { return 2 * next() + next(); }\n";
    let report = compared(value, other, &["--function", "twice"], 1);
    let sample = first_difference(&report)["sample"].to_string();
    assert!(sample.contains("next_gives_1"), "{sample}");
}

#[test]
fn a_cursor_leads_to_a_text() {
    let old = "int sign(const char **at)
{
    if (**at == '-') {
        ++*at;
        return -1;
    }
    return 1;
}
";
    let new = old.replace(
        "    return 1;",
        "    if ((*at)[0] == '+' && (*at)[1] == '1')\n        return 2;\n    return 1;",
    );
    let report = compared(old, &new, &["--function", "sign"], 1);
    let sample = first_difference(&report)["sample"].to_string();
    assert!(sample.contains("(*at)[1]"), "{sample}");
}

#[test]
fn structures_may_lead_back_and_several_to_one() {
    let old = "struct item { struct item *next, *owner; int weight; };
int owned(struct item *item)
{
    if (!item || !item->next || item->next->owner != item)
        return 0;
    return item->next->weight;
}
";
    let new = old.replace("item->next->weight", "item->weight");
    let report = compared(old, &new, &["--function", "owned"], 1);
    let condition = first_difference(&report)["condition"].to_string();
    assert!(
        condition.contains("item->next->owner == item"),
        "{condition}"
    );
}

#[test]
fn unions_and_arrays_at_the_end_of_structures_get_values() {
    let old = "union number { int whole; float part; };
int whole(union number of) { return of.whole & 1; }
";
    let new = old.replace("& 1", "& 3");
    first_difference(&compared(old, &new, &["--function", "whole"], 1));
    let old = "struct text { unsigned length; char bytes[]; };
int last(struct text *text) { return text->length ? text->bytes[text->length - 1] : 0; }
";
    let new = old.replace("text->length - 1", "text->length - 1 - (text->length > 2)");
    let report = compared(
        old,
        &new,
        &["--function", "last", "--length", "text->bytes=3"],
        1,
    );
    first_difference(&report);
}

#[test]
fn bytes_between_members_are_no_difference() {
    let old = "struct entry { char kind; long value; };
struct entry make(long value)
{
    struct entry made;
    made.kind = 1;
    made.value = value;
    return made;
}
";
    let new = "struct entry { char kind; long value; };
struct entry make(long value)
{
    struct entry made = {1, value};
    return made;
}
";
    assert_eq!(
        compared(old, new, &["--function", "make"], 0)["verdict"],
        "equal"
    );
}

#[test]
fn any_nan_is_the_same_as_any_other() {
    let old = "double turned(double x) { return x != x ? x : -x; }\n";
    let new = "double turned(double x) { return -x; }\n";
    assert_eq!(
        compared(old, new, &["--function", "turned"], 0)["verdict"],
        "equal"
    );
}

#[test]
fn versions_that_fail_for_every_input_are_not_equal() {
    let old = "int at(int *table, int index) { return table[index + 100]; }\n";
    let new = "int at(int *table, int index) { return table[index + 101]; }\n";
    let flags = ["--function", "at", "--assume", "index >= 0 && index < 9"];
    let report = compared(old, new, &flags, 0);
    assert_eq!(report["verdict"], "unknown");
    assert_eq!(report["none_ends"], true);
    assert!(!report["reasons"].as_array().unwrap().is_empty());
    let place = Place::with_versions(old, new);
    let mut words = vec!["compare", "project/old.c", "project/new.c"];
    words.extend(flags);
    let text = stdout(&place.run(words));
    assert!(
        text.contains("both versions fail for every input that was looked at"),
        "{text}"
    );
    assert!(!text.contains("Equal for all inputs"), "{text}");
}

#[test]
fn flags_that_name_no_pointer_are_errors() {
    let place = Place::with_versions(
        "int f(int x, int *p) { return x + *p; }\n",
        "int f(int x, int *p) { return *p + x; }\n",
    );
    for flags in [
        ["--length", "q=4"],
        ["--length", "x=4"],
        ["--length", "*p=4"],
        ["--alias", "p,q"],
        ["--null", "x"],
        ["--text", "p"],
        ["--length", "p=0"],
        ["--alias", "p"],
    ] {
        let mut words = vec![
            "compare",
            "project/old.c",
            "project/new.c",
            "--function",
            "f",
        ];
        words.extend(flags);
        let output = place.run(&words);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{flags:?}: {}",
            stdout(&output)
        );
        let said = stderr(&output);
        assert!(said.contains(flags[0]), "{said}");
    }
}

#[test]
fn behind_the_end_of_an_argument_there_is_nothing() {
    let old = "int main(int argc, char **argv) { return argc > 1 && argv[1][0] == 'x'; }\n";
    let new = "int main(int argc, char **argv) { return argc > 1 && argv[1][0] == 'x' && argv[1][2] != 'y'; }\n";
    let report = compared(old, new, &["--arguments", "1", "--no-native"], 1);
    assert_eq!(report["partitions"][0]["kind"], "new-fails");
    assert_eq!(report["partitions"][0]["replay"], "agrees");
}

#[test]
fn bytes_of_samples_can_be_had_back() {
    let old = "#include <stdio.h>\nint main(void) { return getchar() == 0xe9; }\n";
    let new = old.replace("== 0xe9", "== 0xe9 ? 2 : 0");
    let report = compared(old, &new, &["--no-native"], 1);
    let sample = &report["partitions"][0]["sample"];
    assert_eq!(sample[0][1], "\"\\xe9\"", "{sample}");
}

#[test]
fn functions_of_headers_are_compared_and_so_is_each_function_of_files_without_main() {
    let place = Place::with_versions("#include \"old.h\"\n", "#include \"new.h\"\n");
    place.write("old.h", "static inline int half(int x) { return x / 2; }\n");
    place.write(
        "new.h",
        "static inline int half(int x) { return x >> 1; }\n",
    );
    let report = place.compared(&["--function", "half"], 1);
    first_difference(&report);
    let headers = place.run(["compare", "project/old.h", "project/new.h", "--json"]);
    assert_eq!(headers.status.code(), Some(1), "{}", stderr(&headers));
    let old = "int one(int x) { return x + 1; }\nint two(int x) { return x - 2; }\nint same(int x) { return x; }\n";
    let place = Place::with_versions(old, &old.replace("- 2", "- 3"));
    let text = stdout(&place.run(["compare", "project/old.c", "project/new.c"]));
    assert!(text.contains("`two` differs"), "{text}");
    assert!(!text.contains("`one`"), "{text}");
}

#[test]
fn an_assumption_holds_for_both_versions() {
    let old = "int half(int n) { return n / 2; }\n";
    let new = "int half(int m) { return m >> 1; }\n";
    compared(old, new, &["--function", "half"], 1);
    let report = compared(old, new, &["--function", "half", "--assume", "n >= 0"], 0);
    assert_eq!(report["verdict"], "equal");
}

/// Random numbers that are the same each time.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn of<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.below(all.len())]
    }
}

/// A kind of function: its head, what its expressions are made of, its statements (`E` is an expression, `C` a comparison), and how a
/// driver makes arguments and calls `CALL`.
struct Kind {
    head: &'static str,
    leaves: &'static [&'static str],
    statements: &'static [&'static str],
    driver: &'static str,
}

const KINDS: [Kind; 4] = [
    Kind {
        head: "unsigned f(unsigned *a, unsigned *b, unsigned n)",
        leaves: &["*a", "*b", "n", "t"],
        statements: &["*a = E;", "*b = E;", "t = E;", "if (C) *b = E;", "if (a == b) t = E;", "if (!a) return 3;"],
        driver: "static unsigned x[2], n, *p, *q;
static void make(void) { x[0] = value(); x[1] = value(); n = value(); p = next() % 9 ? &x[next() % 2] : 0; q = next() % 9 ? &x[next() % 2] : 0; }
static void run(int which) { printf(\"%u\", CALL(p, q, n)); printf(\" %u %u\", x[0], x[1]); }",
    },
    Kind {
        head: "unsigned f(const unsigned char *p, const unsigned char *end, unsigned n)",
        leaves: &["*p", "t", "n", "(unsigned)(end - p)"],
        statements: &["for (; p != end; p++) { if (C) t = E; }", "if (p == end) return n + 1;", "if (p != end) t = E;"],
        driver: "static unsigned char *buffer; static unsigned n; static int from, to;
static void make(void) { buffer = malloc(7); for (int i = 0; i < 7; i++) buffer[i] = value(); to = next() % 8; from = next() % 3 ? 0 : next() % 8; n = value(); }
static void run(int which) { printf(\"%u\", CALL(buffer + from, buffer + to, n)); }",
    },
    Kind {
        head: "unsigned f(unsigned (*g)(unsigned), unsigned *a, unsigned n)",
        leaves: &["*a", "n", "t"],
        statements: &["t = g(E) ^ E;", "if (C) t += g(E);", "*a = E;", "t = E;"],
        driver: "static unsigned cell, n, given[16]; static int called;
static unsigned g(unsigned x) { printf(\"[%u]\", x); return called < 16 ? given[called++] : 0; }
static void make(void) { cell = value(); n = value(); for (int i = 0; i < 16; i++) given[i] = value(); }
static void run(int which) { printf(\"%u\", CALL(g, &cell, n)); printf(\" %u\", cell); }",
    },
    Kind {
        head: "unsigned f(struct node *a, struct node *b, unsigned n)",
        leaves: &["n", "t", "(a ? a->v : 7)", "(b ? b->v : 5)"],
        statements: &[
            "if (a && a->next && a->next->prev == a) t = E;",
            "if (a && b && a->next == b) t = E;",
            "if (b && b->next) b->next->v = E;",
            "if (a) a->v = E;",
            "if (a == b) t = E;",
            "if (a && a->next && a->next->next) t = E + a->next->next->v;",
        ],
        driver: "static struct node x[3], *p, *q; static unsigned n;
static struct node *any(void) { int i = next() % 4; return i < 3 ? &x[i] : 0; }
static void make(void) { for (int i = 0; i < 3; i++) { x[i].v = value(); x[i].next = any(); x[i].prev = any(); } if (next() % 2) { x[0].next = &x[1]; x[1].prev = &x[0]; } p = next() % 2 ? x : any(); q = any(); n = value(); }
static void run(int which) { printf(\"%u\", CALL(p, q, n)); printf(\" %u %u %u\", x[0].v, x[1].v, x[2].v); }",
    },
];

fn expression(random: &mut Random, leaves: &[&str], depth: u32) -> String {
    if depth == 0 || random.below(3) == 0 {
        return match random.below(4) {
            0 => random.below(6).to_string(),
            _ => random.of(leaves).to_owned(),
        };
    }
    let (a, b) = (
        expression(random, leaves, depth - 1),
        expression(random, leaves, depth - 1),
    );
    format!("({a} {} {b})", random.of(&["+", "-", "^", "&", "|"]))
}

/// A function, and another one that differs in one statement.
fn pair(random: &mut Random, kind: &Kind) -> [String; 2] {
    let statement = |random: &mut Random| {
        let mut text = random.of(kind.statements).to_owned();
        while let Some(at) = text.find(['E', 'C']) {
            let made = match &text[at..=at] {
                "E" => expression(random, kind.leaves, 2),
                _ => {
                    let (a, b) = (
                        expression(random, kind.leaves, 1),
                        expression(random, kind.leaves, 1),
                    );
                    format!("{a} {} {b}", random.of(&["<", "<=", "==", "!=", ">"]))
                }
            };
            text.replace_range(at..=at, &made.to_lowercase());
        }
        text
    };
    let count = 2 + random.below(3);
    let old: Vec<String> = (0..count).map(|_| statement(random)).collect();
    let mut new = old.clone();
    let at = random.below(count);
    match random.below(3) {
        0 => new.swap(at, (at + 1) % count),
        1 => new[at] = statement(random),
        _ => {
            let from = random.of(&["+", "-", "^", "&", "|", "<", "=="]);
            let to = match from {
                "<" => "<=",
                "==" => "!=",
                _ => random.of(&["+", "-", "^"]),
            };
            new[at] = new[at].replacen(&format!(" {from} "), &format!(" {to} "), 1);
        }
    }
    [old, new].map(|body| {
        format!(
            "struct node {{ struct node *next, *prev; unsigned v; }};\n{}\n{{\n    unsigned t = 0;\n    {}\n    return t;\n}}\n",
            kind.head,
            body.join("\n    ")
        )
    })
}

/// A program that executes both functions with many arguments, each in a process of its own, and says for which they differ.
fn driver(kind: &Kind, [old, new]: &[String; 2], seed: u64) -> String {
    let own = |text: &str, name: &str| {
        let body = text.split_once('\n').map_or("", |(_, rest)| rest);
        body.replacen(" f(", &format!(" {name}("), 1)
    };
    let calls = kind.driver.replace("CALL", "(which ? f_new : f_old)");
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n#include <sys/wait.h>\n
struct node {{ struct node *next, *prev; unsigned v; }};
static unsigned long state;
static unsigned next(void) {{ state = state * 6364136223846793005UL + 1442695040888963407UL; return state >> 33; }}
static unsigned value(void) {{ unsigned k = next() % 8; return k < 5 ? next() % 4 : k < 7 ? next() % 64 : -(next() % 4); }}
{}{}{calls}
static int outcome(unsigned long seed, int which, char *text)
{{
    int pair[2], size = 0, count, status;
    if (pipe(pair)) exit(2);
    pid_t child = fork();
    if (!child) {{ dup2(pair[1], 1); close(2); alarm(2); state = seed; make(); run(which); fflush(stdout); _exit(0); }}
    close(pair[1]);
    while ((count = read(pair[0], text + size, 4000 - size)) > 0) size += count;
    text[size] = 0;
    close(pair[0]);
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM ? 2 : status != 0;
}}
int main(void)
{{
    static char a[4096], b[4096];
    for (unsigned long i = 0; i < 60; i++) {{
        unsigned long seed = {seed}UL + i * 7919;
        int x = outcome(seed, 0, a), y = outcome(seed, 1, b);
        if (x == 2 || y == 2 || x && y) continue;
        if (x != y || strcmp(a, b)) {{ printf(\"for %lu: %d %s, %d %s\\n\", seed, x, a, y, b); return 0; }}
    }}
    return 0;
}}
",
        own(old, "f_old"),
        own(new, "f_new"),
    )
    .replacen("#include <stdio.h>", "#include <signal.h>\n#include <stdio.h>", 1)
}

/// As many pairs as PATCHWRIGHT_PAIRS says are looked at.
#[test]
fn random_functions_that_are_called_equal_do_the_same_with_pointers_of_all_shapes() {
    let count = std::env::var("PATCHWRIGHT_PAIRS")
        .ok()
        .and_then(|text| text.parse().ok());
    let count: u64 = count.unwrap_or(6);
    let (mut equal, mut different) = (0, 0);
    for seed in 0..count {
        let mut random = Random(seed * 2_654_435_761 + 1);
        let kind = &KINDS[random.below(KINDS.len())];
        let versions = pair(&mut random, kind);
        if versions[0] == versions[1] {
            continue;
        }
        let place = Place::with_versions(&versions[0], &versions[1]);
        let report = place.run([
            "compare",
            "project/old.c",
            "project/new.c",
            "--function",
            "f",
            "--json",
            "--equal",
            "0",
            "--budget",
            "10s",
        ]);
        assert_ne!(
            report.status.code(),
            Some(70),
            "{seed}: {}",
            stderr(&report)
        );
        let known: Value = serde_json::from_str(&stdout(&report)).unwrap_or_default();
        let verdict = known["verdict"].as_str().unwrap_or_default().to_owned();
        different += u32::from(verdict == "different");
        if !["equal", "equal-within-bound", "same-code"].contains(&verdict.as_str()) {
            continue;
        }
        equal += 1;
        let source = place.write("drive.c", driver(kind, &versions, seed * 1_000_003));
        let program = source.with_extension("");
        let compiled = std::process::Command::new("cc")
            .args([
                "-w",
                "-fsanitize=address,undefined",
                "-fno-sanitize-recover=all",
                "-o",
            ])
            .args([&program, &source])
            .output()
            .unwrap();
        assert!(compiled.status.success(), "{}", stderr(&compiled));
        let found = std::process::Command::new(&program)
            .env("ASAN_OPTIONS", "detect_leaks=0")
            .output()
            .unwrap();
        let found = stdout(&found);
        assert_eq!(
            found, "",
            "{seed}: {verdict}\n{}\n{}",
            versions[0], versions[1]
        );
    }
    println!("{count} pairs: {equal} called the same, {different} different");
}
