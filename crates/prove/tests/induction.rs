//! Proofs by induction over the rounds of loops.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write, compile and start their own programs"
)]

use std::{fmt::Write as _, process::Command};

use crate::common::{Asked, Reader, deep};
use patchwright_prove::Induction;
use patchwright_symbolic::Entry;

/// How many loops are followed where a function, or `main`, is proved.
fn proved(reader: &mut Reader, text: &str, function: &str) -> Option<usize> {
    proved_of(reader, text, function, &[])
}

/// The same, where other checks are asked for.
fn proved_of(reader: &mut Reader, text: &str, function: &str, checks: &[&str]) -> Option<usize> {
    let sources = [reader.source("unit.c", text)];
    let library = reader.library();
    let asked = Asked {
        function: Some(function.to_owned()),
        checks: checks.iter().map(|&one| one.to_owned()).collect(),
        ..Asked::default()
    };
    deep(|| {
        let module = patchwright_lower::lower(&sources[0].unit, &sources[0].path);
        let Entry::Function { parameters, .. } = asked.entry(&sources) else {
            panic!("a function was asked for");
        };
        let induction = Induction {
            module: &module,
            library: &library,
            function,
            shapes: &parameters,
            options: &asked.options(),
            interrupt: &|| false,
        };
        induction.proves().map(|proof| proof.loops)
    })
}

const HEAD: &str =
    "#include <assert.h>\nextern int nondet_int(void);\nextern unsigned nondet_uint(void);\n";

fn check(cases: &[(&str, Option<usize>)]) {
    let mut reader = Reader::new();
    let mut wrong = Vec::new();
    for (body, expected) in cases {
        let text = format!("{HEAD}static int t[10];\nint main(void) {{ {body} }}\n");
        let found = proved(&mut reader, &text, "main");
        if found != *expected {
            wrong.push((body, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
#[ignore = "nightly: 4 s; what_fails_in_a_late_round_or_is_not_known_is_not_proved goes this way"]
fn what_grows_in_step_from_anywhere_and_what_sums_come_to_is_found() {
    check(&[
        // From 1 on, and with an offset.
        (
            "int n = nondet_int(), i, s = 0; if (n < 0 || n > 1000) return 0; for (i = 1; i <= n; i++) s += 2; assert(s == 2 * n);",
            Some(1),
        ),
        (
            "unsigned n = nondet_uint(), i = 3, s = 5; while (i < n) { i++; s += 7; } assert(s + 16 == 7 * i);",
            Some(1),
        ),
        // A bound that is the product of two constants.
        (
            "int i = 0, j = 0, k = 90, m; for (m = 0; m < 2 * k; m++) if (nondet_int()) i++; else j++; assert(i + j == 180);",
            Some(1),
        ),
        // Sums of numbers, of odd numbers, and of the same number.
        (
            "unsigned n = nondet_uint(), i = 0, s = 0; while (i < n) { s += i; i++; } assert(2 * s == i * (i - 1));",
            Some(1),
        ),
        (
            "unsigned n = nondet_uint(), i = 0, s = 0; while (i < n) { s += 2 * i + 1; i++; } assert(s == i * i);",
            Some(1),
        ),
        (
            "unsigned n = nondet_uint(), k = nondet_uint(), i = 0, s = 0; while (i < n) { s += k; i++; } assert(s == k * i);",
            Some(1),
        ),
        // None of these holds.
        (
            "unsigned n = nondet_uint(), i = 3, s = 5; while (i < n) { i++; s += 7; } assert(s + 15 == 7 * i);",
            None,
        ),
        (
            "unsigned n = nondet_uint(), i = 0, s = 0; while (i < n) { s += i; i++; } assert(2 * s == i * (i + 1));",
            None,
        ),
    ]);
}

#[test]
#[ignore = "nightly: 3 s; what_fails_in_a_late_round_or_is_not_known_is_not_proved goes this way"]
fn what_holds_in_each_round_is_found_and_what_follows_from_it_is_proved() {
    check(&[
        (
            "int n = nondet_int(), i = 0, s = 0; if (n < 0) return 0; while (i < n) { s += 3; i++; } assert(s == 3 * n);",
            Some(1),
        ),
        (
            "unsigned x = 10; while (nondet_int()) x += 2; assert(x % 2 == 0);",
            Some(1),
        ),
        (
            "int n = nondet_int(); for (int i = 0; i < n && i < 10; i++) for (int j = 0; j <= i; j++) t[j] = t[i - j] + 1;",
            Some(2),
        ),
        (
            "int lock = 0, old = 0, now = nondet_int(); do { lock = 1; old = now; if (nondet_int()) { lock = 0; now++; } } \
             while (now != old); assert(lock);",
            Some(1),
        ),
        (
            "int x = nondet_int(), y = 0, z = x; while (z != 0) { z--; y++; } assert(y == x);",
            Some(1),
        ),
    ]);
}

#[test]
fn what_fails_in_a_late_round_or_is_not_known_is_not_proved() {
    check(&[
        (
            "int n = nondet_int(), i = 0, s = 0; if (n < 0) return 0; while (i < n) { s += 3; i++; } assert(s != 30000000);",
            None,
        ),
        (
            "unsigned x = 10, i = 0; while (nondet_int()) { x += 2; if (++i == 4000000000u) x++; } assert(x % 2 == 0);",
            None,
        ),
        (
            "int n = nondet_int(); for (int i = 0; i < n && i <= 10; i++) t[i] = 1;",
            None,
        ),
        // A loop in the function only; one behind it that is not followed to its end; no loop.
        (
            "int i = 0; while (nondet_int()) i = !i; assert(i == 0);",
            None,
        ),
        ("int i = 1; assert(i);", None),
        // Nobody gets to what is asked.
        ("int i = 0; while (1) i ^= 1; assert(i == 0);", None),
    ]);
    let mut reader = Reader::new();
    let text = format!(
        "{HEAD}#include <errno.h>\nint main(void) {{ int i = 0; errno = 0; while (nondet_int()) {{ assert(errno == 0); errno = 5; i++; }} \
         return 0; }}\n"
    );
    assert_eq!(proved(&mut reader, &text, "main"), None);
    let text = format!(
        "{HEAD}int getchar(void);\nint main(void) {{ int i = 0; while (getchar() != -1) i = 1; assert(i < 2); return 0; }}\n"
    );
    assert_eq!(proved(&mut reader, &text, "main"), None);
}

struct Chance(u64);

impl Chance {
    fn one_of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        all[(self.0 >> 20) as usize % all.len()]
    }
}

/// A loop over two bytes, and something that may hold behind it.
fn random(chance: &mut Chance, number: u64) -> String {
    let value = ["0", "1", "2", "a", "b", "i", "s"];
    let (first, second) = (chance.one_of(&value[..5]), chance.one_of(&value[..5]));
    let step = chance.one_of(&["i++", "i++", "i += 2", "i--", "i = i + s"]);
    let change = chance.one_of(&[
        "s += 2",
        "s += i",
        "s = s + a",
        "s ^= 1",
        "s--",
        "s = i",
        "s = s * 2",
    ]);
    let guard = chance.one_of(&["", "", "if (i > 3) ", "if (s < a) ", "if (b & 1) "]);
    let (left, right) = (chance.one_of(&value), chance.one_of(&value));
    let goes_on = chance.one_of(&[
        "i < a",
        "i < b",
        "i != a",
        "s < 100",
        "i < 10 && s != b",
        "i > 0",
    ]);
    let relation = chance.one_of(&["<=", ">=", "==", "!=", "<"]);
    let ty = chance.one_of(&["int", "unsigned", "unsigned char", "signed char"]);
    let inner = chance.one_of(&["", "", "for (int j = 0; j < i && j < 4; j++) s += j; "]);
    format!(
        "int f{number}(signed char a, unsigned char b) {{ {ty} i = {first}, s = {second};\nwhile ({goes_on}) {{ TICK {guard}{change}; \
         {inner}{step}; }}\nassert({left} {relation} {right}); return 0; }}\n"
    )
}

/// Runs each function with all its inputs, as far as some thousand rounds, and prints whether one failed.
const NATIVE: &str = "#include <stdio.h>\n#include <setjmp.h>\nstatic jmp_buf out; static long ticks;\n\
    #define TICK if (++ticks > 3000) longjmp(out, 1);\n#define assert(c) do { if (!(c)) longjmp(out, 2); } while (0)\n\
    static int fails(int (*f)(signed char, unsigned char)) {\nfor (int input = 0; input < 65536; input++) { ticks = 0;\n\
    int how = setjmp(out); if (how == 2) return 1; if (how == 0) f((signed char)(input >> 8), (unsigned char)input); }\n\
    return 0; }\n";

#[test]
#[ignore = "nightly: 5 s; what_fails_in_a_late_round_or_is_not_known_is_not_proved goes this way"]
fn what_is_proved_of_random_loops_holds_in_all_their_executions() {
    // `PATCHWRIGHT_RANDOM=N` tries N loops, `PATCHWRIGHT_SEED=S` others.
    let number = |name: &str, default: u64| {
        let given = std::env::var(name).ok();
        given.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let count = patchwright_testkit::cases(16, 40);
    let mut chance = Chance(0x2545_f491_4f6c_dd1d ^ number("PATCHWRIGHT_SEED", 1) << 17);
    let mut reader = Reader::new();
    let mut native = NATIVE.to_owned();
    let mut calls = String::new();
    let mut known = Vec::new();
    for number in 0..count {
        let text = random(&mut chance, number);
        let whole = format!("#include <assert.h>\n#define TICK\n{text}");
        known.push((
            proved(&mut reader, &whole, &format!("f{number}")),
            text.clone(),
        ));
        native.push_str(&text);
        let _ = writeln!(calls, "printf(\"%d\\n\", fails(f{number}));");
    }
    let _ = writeln!(native, "int main(void) {{\n{calls}return 0; }}");
    let folder = tempfile::tempdir().expect("a folder");
    let (file, binary) = (folder.path().join("all.c"), folder.path().join("all"));
    std::fs::write(&file, native).expect("written");
    let compiled = Command::new("gcc")
        .args(["-w", "-O1", "-fwrapv", "-o"])
        .args([&binary, &file])
        .output()
        .expect("gcc is installed");
    let complaints = String::from_utf8_lossy(&compiled.stderr).into_owned();
    assert!(compiled.status.success(), "{complaints}");
    let output = Command::new(&binary).output().expect("it starts");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let (mut right, mut open) = (0, 0);
    for ((proved, text), fails) in known.iter().zip(output.lines()) {
        assert!(proved.is_none() || fails == "0", "{text}");
        right += usize::from(proved.is_some());
        open += usize::from(proved.is_none() && fails == "0");
    }
    println!("{count} loops: {right} proved, {open} that never fail are not");
    assert!(right > 0);
}

#[test]
#[ignore = "nightly: 4 s; what_fails_in_a_late_round_or_is_not_known_is_not_proved goes this way"]
fn loops_end_where_some_number_gets_less_with_each_round() {
    let ends = [
        "int f(int n) { int i = 0; while (i < n) i++; return 0; }",
        "int f(int n) { while (n > 5) n -= 2; return 0; }",
        "int f(int n) { int i; for (i = 0; i < 70000; i += 3) ; return i > 0; }",
        "int f(unsigned n) { while (n) n /= 2; return 0; }",
        "int f(unsigned a, unsigned b) { while (b) { unsigned r = a % b; a = b; b = r; } return 0; }",
        "int f(int n) { int i, j, s = 0; for (i = 0; i < n; i++) for (j = i; j > 0; j--) s ^= j; return s; }",
        "int f(unsigned a, unsigned b) { while (a != b) { if (a > b) b = b + 1; else return 1; } return 0; }",
    ];
    let goes_on = [
        // With an odd number, at the end of the numbers, and where one input goes back.
        "int f(unsigned n) { while (n != 0) n += 2; return 0; }",
        "int f(unsigned n) { for (unsigned i = 0; i <= n; i++) ; return 0; }",
        "int f(int n) { int i = 0; while (i < 90000) { if (i == 5000 && n == 77) i--; i++; } return 0; }",
        "int f(int n) { int i, j; for (i = 0; i < n; i++) for (j = 0; j != 300; j++) if (j == n) j = 7; return 0; }",
        "int g(void); int f(int n) { while (n > 0) if (g()) n--; else n = n + 0; return 0; }",
    ];
    let mut reader = Reader::new();
    let mut found = |text: &str| proved_of(&mut reader, text, "f", &["termination"]).is_some();
    let wrong: Vec<&str> = ends.into_iter().filter(|text| !found(text)).collect();
    assert!(wrong.is_empty(), "these end: {wrong:#?}");
    let wrong: Vec<&str> = goes_on.into_iter().filter(|text| found(text)).collect();
    assert!(wrong.is_empty(), "these may go on for ever: {wrong:#?}");
}
