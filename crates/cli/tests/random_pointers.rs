//! Random functions that take pointers of all shapes: what `compare` calls equal and `prove` calls proved holds when compiled
//! programs are executed with many arguments.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

use std::{
    fmt::Write as _,
    process::{Command, Output},
};

use crate::common::{Place, stderr, stdout};
use serde_json::Value;

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

/// A kind of function: its parameters, what its expressions are made of, its statements (`E` is an expression, `C` a comparison), and
/// how a driver makes arguments (`make`) and calls the function `f` with them (`call`). Names of a driver are its own by a `@`.
struct Kind {
    parameters: &'static str,
    leaves: &'static [&'static str],
    statements: &'static [&'static str],
    driver: &'static str,
    make: &'static str,
    call: &'static str,
}

const KINDS: [Kind; 8] = [
    // Two pointers to one object or two.
    Kind {
        parameters: "unsigned *a, unsigned *b, unsigned n",
        leaves: &["*a", "*b", "n", "t"],
        statements: &[
            "*a = E;",
            "*b = E;",
            "t = E;",
            "if (C) *b = E;",
            "if (a == b) t = E;",
            "if (!a) return 3;",
        ],
        driver: "static unsigned @x[2], @n, *@p, *@q;",
        make: "@x[0] = value(); @x[1] = value(); @n = value(); @p = null(9) ? 0 : &@x[next() % 2]; @q = null(9) ? 0 : &@x[next() % 2];",
        call: r#"printf("%u", f(@p, @q, @n)); printf(" %u %u", @x[0], @x[1]);"#,
    },
    // Two places in one array of bytes, in any order.
    Kind {
        parameters: "const unsigned char *p, const unsigned char *end, unsigned n",
        leaves: &["*p", "t", "n", "(unsigned)(end - p)"],
        statements: &[
            "for (; p != end; p++) { if (C) t = E; }",
            "for (; p < end; p++) { if (C) t = E; }",
            "if (p == end) return n + 1;",
            "if (p != end) t = E;",
            "if (p > end) t = E;",
            "if (p > end) t += p[-1];",
            "if (p < end) t += end[-1];",
        ],
        driver: "static unsigned char *@buffer; static unsigned @n; static int @from, @to;",
        make: "@buffer = malloc(8); for (int i = 0; i < 8; i++) @buffer[i] = value(); @to = next() % 9; @from = next() % 3 ? 0 : next() % 9; @n = value();",
        call: r#"printf("%u", f(@buffer + @from, @buffer + @to, @n));"#,
    },
    // Any function.
    Kind {
        parameters: "unsigned (*g)(unsigned), unsigned *a, unsigned n",
        leaves: &["*a", "n", "t"],
        statements: &["t = g(E) ^ E;", "if (C) t += g(E);", "*a = E;", "t = E;"],
        driver: r#"static unsigned @cell, @n, @given[16]; static int @called;
static unsigned @g(unsigned x) { printf("[%u]", x); return @called < 16 ? @given[@called++] : 0; }"#,
        make: "@called = 0; @cell = value(); @n = value(); for (int i = 0; i < 16; i++) @given[i] = value();",
        call: r#"printf("%u", f(@g, &@cell, @n)); printf(" %u", @cell);"#,
    },
    // Structures that lead to each other, in any way.
    Kind {
        parameters: "struct node *a, struct node *b, unsigned n",
        leaves: &["n", "t", "(a ? a->v : 7)", "(b ? b->v : 5)"],
        statements: &[
            "if (a && a->next && a->next->prev == a) t = E;",
            "if (a && b && a->next == b) t = E;",
            "if (b && b->next) b->next->v = E;",
            "if (a) a->v = E;",
            "if (a == b) t = E;",
            "if (a && a->next && a->next->next) t = E + a->next->next->v;",
        ],
        driver: "static struct node @x[3], *@p, *@q; static unsigned @n;
static struct node *@any(void) { int i = next() % 4; return i < 3 ? &@x[i] : 0; }",
        make: "for (int i = 0; i < 3; i++) { @x[i].v = value(); @x[i].next = @any(); @x[i].prev = @any(); } \
               if (next() % 2) { @x[0].next = &@x[1]; @x[1].prev = &@x[0]; } @p = next() % 2 ? @x : @any(); @q = @any(); @n = value();",
        call: r#"printf("%u", f(@p, @q, @n)); printf(" %u %u %u", @x[0].v, @x[1].v, @x[2].v);"#,
    },
    // Bytes behind a pointer to nothing in particular.
    Kind {
        parameters: "void *data, unsigned n",
        leaves: &[
            "n",
            "t",
            "((unsigned char *)data)[n & 7]",
            "*(unsigned char *)data",
        ],
        statements: &[
            "((unsigned char *)data)[E & 7] = E;",
            "t = E;",
            "if (C) t = E;",
            "if (data) t = E;",
            "for (unsigned i = 0; i < 4; i++) { t = E; n ^= i; }",
        ],
        driver: "static unsigned char *@data; static unsigned @n; static int @null;",
        make: "@data = malloc(8); for (int i = 0; i < 8; i++) @data[i] = value(); @n = value(); @null = null(9);",
        call: r#"printf("%u", f(@null ? 0 : @data, @n)); for (int i = 0; i < 8; i++) printf(" %u", @data[i]);"#,
    },
    // Numbers of one array that are written through either pointer.
    Kind {
        parameters: "unsigned *p, unsigned *q, unsigned n",
        leaves: &["*p", "*q", "n", "t"],
        statements: &[
            "*p++ = E;",
            "*q++ = E;",
            "t = E;",
            "if (p < q) *p = E;",
            "if (C) q++;",
            "if (p == q) t = E;",
            "for (unsigned i = 0; i < 2; i++) p[i] = q[i];",
        ],
        driver: "static unsigned *@x, *@y, @n; static int @from, @to, @apart;",
        make: "@x = malloc(16); @y = malloc(16); for (int i = 0; i < 4; i++) { @x[i] = value(); @y[i] = value(); } \
               @from = next() % 2 ? 0 : next() % (4 + in_array); @to = next() % (4 + in_array); @apart = next() % 3 == 0; @n = value();",
        call: r#"printf("%u", @apart ? f(@x, @y, @n) : f(@x + @from, @x + @to, @n)); for (int i = 0; i < 4; i++) printf(" %u %u", @x[i], @y[i]);"#,
    },
    // Texts, of which one may be the end of the other.
    Kind {
        parameters: "const char *s, const char *u, unsigned n",
        leaves: &["(unsigned)*s", "(unsigned)*u", "n", "t"],
        statements: &[
            "while (*s && *s == *u) { s++; u++; }",
            "for (; *s; s++) { if (C) t = E; }",
            "t = E;",
            "if (s > u) t = E;",
            "if (s == u) t = E;",
            "if (*u) u++;",
        ],
        driver: "static char *@s, *@u; static unsigned @n;",
        make: r#"@s = malloc(8); @u = malloc(8); for (int i = 0; i < 7; i++) { @s[i] = "ab\0 "[next() % 4]; @u[i] = "ab\0a"[next() % 4]; } @s[7] = @u[7] = 0;
if (next() % 2) { @u = @s + next() % 8; if (next() % 2) { char *h = @s; @s = @u; @u = h; } } @n = value();"#,
        call: r#"printf("%u", f(@s, @u, @n));"#,
    },
    // A pointer to a pointer into a text.
    Kind {
        parameters: "const char **at, unsigned n",
        leaves: &["(unsigned)**at", "n", "t"],
        statements: &[
            "while (**at && C) { ++*at; n /= 2; }",
            "if (**at == 'a') ++*at;",
            "if (**at) t += (unsigned)(*at)[1];",
            "t = E;",
            "if (C) t = E;",
        ],
        driver: "static char *@s; static const char *@at; static unsigned @n;",
        make: r#"@s = malloc(8); for (int i = 0; i < 7; i++) @s[i] = "ab\0 "[next() % 4]; @s[7] = 0; @at = @s; @n = value();"#,
        call: r#"printf("%u", f(&@at, @n)); printf(" %d", (int)(@at - @s));"#,
    },
];

fn expression(random: &mut Random, leaves: &[&str], depth: u32) -> String {
    if depth == 0 || random.below(3) == 0 {
        return match random.below(4) {
            0 => random.below(6).to_string(),
            _ => random.of(leaves).to_owned(),
        };
    }
    let a = expression(random, leaves, depth - 1);
    let b = expression(random, leaves, depth - 1);
    format!("({a} {} {b})", random.of(&["+", "-", "^", "&", "|"]))
}

fn comparison(random: &mut Random, kind: &Kind) -> String {
    let a = expression(random, kind.leaves, 1);
    let b = expression(random, kind.leaves, 1);
    format!("{a} {} {b}", random.of(&["<", "<=", "==", "!=", ">"]))
}

fn statement(random: &mut Random, kind: &Kind) -> String {
    let pattern = random.of(kind.statements);
    let mut text = String::new();
    for (at, c) in pattern.char_indices() {
        let is_alone = |other: Option<char>| !other.is_some_and(|c| c.is_alphanumeric());
        let is_hole =
            is_alone(pattern[..at].chars().last()) && is_alone(pattern[at + 1..].chars().next());
        match c {
            'E' if is_hole => text.push_str(&expression(random, kind.leaves, 2)),
            'C' if is_hole => text.push_str(&comparison(random, kind)),
            _ => text.push(c),
        }
    }
    text
}

fn function(kind: &Kind, name: &str, body: &[String]) -> String {
    format!(
        "unsigned {name}({})\n{{\n    unsigned t = 0;\n    {}\n    return t;\n}}\n",
        kind.parameters,
        body.join("\n    ")
    )
}

/// What stands before a function.
const BEFORE: &str = "struct node { struct node *next, *prev; unsigned v; };\n";

/// The statements of a function, and those of another one that differs in one of them.
fn pair(random: &mut Random, kind: &Kind) -> [Vec<String>; 2] {
    let count = 2 + random.below(3);
    let old: Vec<String> = (0..count).map(|_| statement(random, kind)).collect();
    let mut new = old.clone();
    let at = random.below(count);
    match random.below(3) {
        0 => new.swap(at, (at + 1) % count),
        1 => new[at] = statement(random, kind),
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
    [old, new]
}

/// What is claimed of functions: that two do the same, or that nothing fails in one.
struct Claim {
    seed: u64,
    kind: usize,
    /// The bodies.
    bodies: Vec<Vec<String>>,
    /// No pointer is null.
    not_null: bool,
    /// Pointers lead into arrays, up to their ends.
    in_array: bool,
    /// For people.
    words: String,
}

/// What drivers share. Executions are processes whose undefined behaviour a sanitizer sees.
const DRIVER: &str = r#"#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned long state;
static int not_null, in_array;
static unsigned next(void) { state = state * 6364136223846793005UL + 1442695040888963407UL; return state >> 33; }
static unsigned value(void) { unsigned k = next() % 8; return k < 5 ? next() % 4 : k < 7 ? next() % 64 : -(next() % 4); }
static int null(int often) { return next() % often == 0 && !not_null; }
static struct outcome { int status; char text[400]; } old_outcomes[SHAPES], new_outcomes[SHAPES];
static unsigned long seed_of(int number, int at) { return number * 1000003UL + at * 7919UL; }
/* Of processor time: what takes longer has no end. */
static struct itimerval most = {.it_value = {.tv_usec = 50000}};
/* One process executes shape after shape until one of them fails; another one goes on behind that. */
static void outcomes(int number, void (*run)(void), struct outcome *found)
{
    static char text[SHAPES * 400];
    for (int first = 0; first < SHAPES;) {
        int pair[2], size = 0, count, status, at = first, used = 0;
        fflush(stdout);
        if (pipe(pair)) exit(2);
        pid_t child = fork();
        if (!child) {
            dup2(pair[1], 1);
            close(2);
            for (int i = first; i < SHAPES; i++) { setitimer(ITIMER_VIRTUAL, &most, 0); state = seed_of(number, i); run(); printf("\n"); fflush(stdout); }
            _exit(0);
        }
        close(pair[1]);
        while ((count = read(pair[0], text + size, sizeof text - 1 - size)) > 0) size += count;
        close(pair[0]);
        waitpid(child, &status, 0);
        for (int i = 0; i < size && at < SHAPES; i++) {
            if (text[i] == '\n') { found[at].text[used] = 0; found[at++].status = 0; used = 0; }
            else if (used < 399) found[at].text[used++] = text[i];
        }
        if (at < SHAPES) {
            found[at].text[used] = 0;
            found[at++].status = WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM ? 2 : 1;
        }
        first = at;
    }
}
static void same(int number, void (*old)(void), void (*new)(void))
{
    outcomes(number, old, old_outcomes);
    outcomes(number, new, new_outcomes);
    for (int i = 0; i < SHAPES; i++) {
        struct outcome *a = &old_outcomes[i], *b = &new_outcomes[i];
        if (a->status == 2 || b->status == 2 || a->status && b->status) continue;
        if (a->status != b->status || strcmp(a->text, b->text)) {
            printf("%d: for %lu: %d %s, %d %s\n", number, seed_of(number, i), a->status, a->text, b->status, b->text);
            return;
        }
    }
}
static void fine(int number, void (*one)(void))
{
    outcomes(number, one, old_outcomes);
    for (int i = 0; i < SHAPES; i++)
        if (old_outcomes[i].status == 1) {
            printf("%d: for %lu: fails after %s\n", number, seed_of(number, i), old_outcomes[i].text);
            return;
        }
}
"#;

/// One program that executes the functions of all claims with many arguments, and says of which that shows that they are wrong.
fn driver(claims: &[Claim]) -> String {
    const SHAPES: u32 = 200;
    let mut text = format!("#define SHAPES {SHAPES}\n{DRIVER}{BEFORE}");
    for (at, kind) in KINDS.iter().enumerate() {
        let own = |text: &str| text.replace('@', &format!("k{at}_"));
        let _ = writeln!(
            text,
            "{}\nstatic void k{at}_make(void) {{ {} }}\nstatic void k{at}_run(unsigned (*f)({})) {{ k{at}_make(); {} }}",
            own(kind.driver),
            own(kind.make),
            kind.parameters,
            own(kind.call)
        );
    }
    let mut main = String::new();
    for claim in claims {
        let mut calls = Vec::new();
        for (side, body) in claim.bodies.iter().enumerate() {
            let name = format!("f_{}_{side}", claim.seed);
            text.push_str(&function(&KINDS[claim.kind], &name, body));
            let _ = writeln!(
                text,
                "static void run_{name}(void) {{ k{}_run({name}); }}",
                claim.kind
            );
            calls.push(format!("run_{name}"));
        }
        let asked = if calls.len() == 2 { "same" } else { "fine" };
        let _ = writeln!(
            main,
            "    not_null = {};\n    in_array = {};\n    {asked}({}, {});",
            u8::from(claim.not_null),
            u8::from(claim.in_array),
            claim.seed,
            calls.join(", ")
        );
    }
    format!("{text}int main(void)\n{{\n{main}    return 0;\n}}\n")
}

/// Executes the functions of claims. Panics for one that is wrong.
fn hold(claims: &[Claim]) {
    let place = Place::new();
    let source = place.write("drive.c", driver(claims));
    let program = source.with_extension("");
    // Without optimisation gcc leaves out reads whose values do not matter, as in `x - *p + *p`, and null is not noticed.
    let compiled = Command::new("clang-19")
        .args(["-w", "-O0", "-fsanitize=address,undefined"])
        .args(["-fno-sanitize-recover=all", "-o"])
        .args([&program, &source])
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", stderr(&compiled));
    let found = Command::new(&program)
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .output()
        .unwrap();
    let found = stdout(&found);
    let mut wrong = String::new();
    for line in found.lines() {
        let seed = line.split(':').next().and_then(|word| word.parse().ok());
        let claim = claims.iter().find(|claim| Some(claim.seed) == seed);
        let _ = writeln!(wrong, "{line}");
        if let Some(claim) = claim {
            let _ = writeln!(wrong, "{}", claim.words);
            for body in &claim.bodies {
                wrong.push_str(&function(&KINDS[claim.kind], "f", body));
            }
        }
    }
    assert_eq!(wrong, "");
}

/// The seeds to look at: as many as PATCHWRIGHT_PAIRS says, from PATCHWRIGHT_FIRST_PAIR on.
fn seeds(usual: u64) -> std::ops::Range<u64> {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        text.parse::<u64>().ok()
    };
    let first = number("PATCHWRIGHT_FIRST_PAIR").unwrap_or(0);
    first..first + number("PATCHWRIGHT_PAIRS").unwrap_or(usual)
}

fn report(seed: u64, output: &Output) -> Value {
    assert_ne!(
        output.status.code(),
        Some(70),
        "{seed}: {}{}",
        stdout(output),
        stderr(output)
    );
    serde_json::from_str(&stdout(output)).unwrap_or_default()
}

/// Among the inputs that were looked at are places in arrays.
fn leads_into_an_array(report: &Value) -> bool {
    report["inputs"].to_string().contains("into the array of")
}

/// So many claims are compiled together.
const TOGETHER: usize = 50;

#[test]
fn random_functions_that_are_called_equal_do_the_same_with_pointers_of_all_shapes() {
    let seeds = seeds(8);
    let (mut equal, mut different, mut all) = (0, 0, 0);
    let mut claims = Vec::new();
    for seed in seeds {
        let mut random = Random(seed * 2_654_435_761 + 1);
        let kind = random.below(KINDS.len());
        let bodies = pair(&mut random, &KINDS[kind]);
        if bodies[0] == bodies[1] {
            continue;
        }
        all += 1;
        let [old, new] =
            [0, 1].map(|side| BEFORE.to_owned() + &function(&KINDS[kind], "f", &bodies[side]));
        let place = Place::with_versions(&old, &new);
        let output = place.run([
            "compare",
            "project/old.c",
            "project/new.c",
            "--function",
            "f",
            "--json",
            "--equal",
            "0",
            "--different",
            "2",
            "--budget",
            "4s",
        ]);
        let report = report(seed, &output);
        let verdict = report["verdict"].as_str().unwrap_or_default().to_owned();
        different += u32::from(verdict == "different");
        if ["equal", "equal-within-bound", "same-code"].contains(&verdict.as_str()) {
            equal += 1;
            claims.push(Claim {
                seed,
                kind,
                bodies: bodies.to_vec(),
                not_null: false,
                in_array: leads_into_an_array(&report),
                words: verdict,
            });
        }
        if claims.len() == TOGETHER {
            hold(&std::mem::take(&mut claims));
            println!("up to {seed}: {all} pairs: {equal} called the same, {different} different");
        }
    }
    hold(&claims);
    println!("{all} pairs: {equal} called the same, {different} different");
}

#[test]
fn random_functions_that_are_proved_do_not_fail_with_pointers_of_all_shapes() {
    let seeds = seeds(8);
    let (mut proved, mut fails, mut all) = (0, 0, 0);
    let mut claims = Vec::new();
    for seed in seeds {
        let mut random = Random(seed * 2_246_822_519 + 3);
        let kind = random.below(KINDS.len());
        let own = &KINDS[kind];
        let count = 1 + random.below(3);
        let mut body: Vec<String> = (0..count).map(|_| statement(&mut random, own)).collect();
        let asserted = match random.below(3) {
            // What holds more often than not.
            0 => "assert((t & 1) <= 1);".to_owned(),
            1 => format!("assert({} || t != 1);", comparison(&mut random, own)),
            _ => format!("if (t > 3) assert({});", comparison(&mut random, own)),
        };
        body.insert(random.below(count + 1), asserted);
        all += 1;
        let text = format!("#include <assert.h>\n{BEFORE}{}", function(own, "f", &body));
        let place = Place::new();
        place.write("f.c", text);
        let output = place.run([
            "prove",
            "project/f.c",
            "--function",
            "f",
            "--json",
            "--budget",
            "4s",
        ]);
        let report = report(seed, &output);
        let verdict = report["verdict"].as_str().unwrap_or_default().to_owned();
        fails += u32::from(verdict == "failed");
        if !["proved", "bounded"].contains(&verdict.as_str()) {
            continue;
        }
        let assumed = report["assumed"].to_string();
        if assumed.contains("are their own") {
            continue;
        }
        proved += 1;
        claims.push(Claim {
            seed,
            kind,
            bodies: vec![body],
            not_null: assumed.contains("not null"),
            in_array: leads_into_an_array(&report),
            words: format!("{verdict}: {assumed}"),
        });
        if claims.len() == TOGETHER {
            hold(&std::mem::take(&mut claims));
            println!("up to {seed}: {all} functions: {proved} proved, {fails} fail");
        }
    }
    hold(&claims);
    println!("{all} functions: {proved} proved, {fails} fail");
}
