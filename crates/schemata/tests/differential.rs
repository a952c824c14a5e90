//! The engine's verdicts are those of plain builds, for random patches of random programs.
//!
//! `PATCHWRIGHT_PROGRAMS` in the environment asks for more programs than the few of every day.

#![allow(clippy::disallowed_methods)] // The reference is the compiler, run by the test itself.

use std::fmt::Write as _;
use std::time::Duration;

use crate::common::{Plain, PlainRun, Subject, plain, run, validate};
use patchwright_schemata::{Fate, Options};

/// Patches of each program.
const PATCHES: usize = 60;

struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// Terms whose value is defined in C, or a trap of the processor.
fn term(random: &mut Random, depth: usize) -> String {
    if depth == 0 || random.below(4) == 0 {
        return match random.below(3) {
            0 => (random.below(9) as i32 - 2).to_string(),
            _ => random
                .of(&["x", "y", "n", "i", "g", "r->a", "r->b[1]"])
                .to_owned(),
        };
    }
    let a = term(random, depth - 1);
    let b = term(random, depth - 1);
    match random.below(15) {
        12 => format!("(int)strlen(text + (({a}) & 7))"),
        13 => format!("!!isdigit((unsigned char)text[({a}) & 15])"),
        14 => random
            .of(&[
                "(memcmp(text, text + 2, n & 7) < 0)",
                "abs(x)",
                "(strchr(text, 'a' + (y & 3)) != 0)",
                "(strncmp(text, \"a1b\", y & 3) > 0)",
                "tolower(65 + (x & 31))",
            ])
            .to_owned(),
        0 => format!("t[({a}) & 7]"),
        1 => format!("({a}) / ((({b}) & 7) + 1)"),
        2 => format!("({a}) / ({b})"),
        3 => format!("*(({a}) & 1 ? p : &g)"),
        4 => format!("(({a}) < ({b}) ? ({b}) : x)"),
        5 => format!("pure({a}, {b})"),
        6 => format!("!({a})"),
        _ => {
            let operator = random.of(&["+", "-", "*", "&", "|", "^", "<", "==", "&&", "||", "!="]);
            format!("({a} {operator} {b})")
        }
    }
}

fn target(random: &mut Random) -> String {
    match random.below(9) {
        0 => "*p".to_owned(),
        1 => format!("t[({}) & 7]", term(random, 1)),
        2 => "r->a".to_owned(),
        3 => "r->b[n & 1]".to_owned(),
        4 => "r->bits".to_owned(),
        5 => "g".to_owned(),
        _ => random.of(&["x", "y", "n"]).to_owned(),
    }
}

/// A statement on one line.
fn simple(random: &mut Random) -> String {
    match random.below(24) {
        22 => random
            .of(&[
                "memset(text + (n & 3), 'x', y & 3);",
                "memcpy(text + 8, text, x & 7);",
                "strcpy(text, \"zz\");",
                "text[x & 7] = '5';",
                "memmove(t + 1, t, (n & 3) * sizeof *t);",
                "strcpy(x > 9000 ? 0 : text, \"1\");",
            ])
            .to_owned(),
        23 => format!("if (!strcmp(text, \"zz\")) y += {};", term(random, 1)),
        0 => "return x;".to_owned(),
        1 => "break;".to_owned(),
        2 => "continue;".to_owned(),
        3 => "goto out;".to_owned(),
        4 => format!("printf(\"%d\\n\", {});", term(random, 1)),
        5 => format!("note({});", term(random, 1)),
        6 => format!("{}++;", target(random)),
        7 => format!("if ({}) {}", term(random, 2), "return y;"),
        8 => format!(
            "if ({}) x = {}; else y++;",
            term(random, 2),
            term(random, 1)
        ),
        9 => format!("{{ int k = {}; x += k; }}", term(random, 2)),
        10 => "p = &t[n & 7];".to_owned(),
        11 => "p = 0;".to_owned(),
        12 => format!("for (int k = 0; k < 3; k++) {} += k;", target(random)),
        13 => format!("if ({}) break;", term(random, 1)),
        14 => format!(
            "switch ({} & 3) {{ case 1: x++; break; case 2: goto out; default: y--; }}",
            term(random, 1)
        ),
        15 => ";".to_owned(),
        16 => "exit(3);".to_owned(),
        17 => format!("while ({}) {{ if (n++ > 5) break; }}", term(random, 1)),
        _ => {
            let operator = random.of(&["=", "+=", "-=", "^=", "=", "="]);
            format!("{} {operator} {};", target(random), term(random, 2))
        }
    }
}

/// Lines of a function's body; the second element is a template in which `@` is a condition.
fn body(random: &mut Random, depth: usize, lines: &mut Vec<String>) {
    for _ in 0..2 + random.below(3) {
        if depth > 0 && random.below(3) == 0 {
            let condition = term(random, 1);
            let head = match random.below(4) {
                0 => "for (i = 0; i < 4; i++) {".to_owned(),
                1 => format!("for (i = 0; i < 6 && ({condition}); i++) {{"),
                _ => format!("if ({condition}) {{"),
            };
            lines.push(head);
            body(random, depth - 1, lines);
            lines.push("}".to_owned());
        } else {
            // The original ends, and does not end early.
            let mut line = simple(random);
            while ["return", "break", "continue", "goto", "exit", "while"]
                .iter()
                .any(|word| line.contains(word))
                || line.contains(") / (")
            {
                line = simple(random);
            }
            lines.push(line);
        }
    }
}

const HEAD: &str = "\
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct record { int a; int b[2]; unsigned bits : 3; };
static int g = 5;
static int noted;
static char text[16] = \"a1b2c3\";
static struct record record = {1, {2, 3}, 4};
static int pure(int a, int b) { return a > b ? a - b : b; }
static void note(int v) { noted = noted * 31 + v; }
";

const TAIL: &str = "\
int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    int result = 0;
    for (int round = 0; round < 3; round++)
        result = result * 7 + work(n + round, result);
    printf(\"%d %d %d %d %d %s\\n\", result, g, noted, record.a, record.bits, text);
    return result & 1;
}
";

fn program(lines: &[String]) -> String {
    with_helper("", lines)
}

/// A helper that several patches may bring, not all the same.
fn helper(random: &mut Random) -> String {
    let value = random.of(&[
        "a + b",
        "a < b ? a : b",
        "used++ ? a : b",
        "strlen(text) + a",
        "c",
    ]);
    format!("static int used;\nstatic int helper(int a, int b)\n{{\n    return {value};\n}}\n")
}

fn with_helper(helper: &str, lines: &[String]) -> String {
    let mut text = HEAD.to_owned() + helper;
    text += "static int work(int n, int y)\n{\n    int x = 2, i = 0;\n    int t[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n";
    text += "    int *p = &t[2];\n    struct record *r = &record;\n";
    for line in lines {
        let _ = writeln!(text, "    {line}");
    }
    text += "out:\n    return x + y + t[3] + *(p ? p : &g);\n}\n";
    text + TAIL
}

/// A patch: lines replaced, added, removed.
fn mutated(random: &mut Random, lines: &[String]) -> Vec<String> {
    let mut lines = lines.to_vec();
    for _ in 0..1 + random.below(8) / 6 {
        let place = random.below(lines.len());
        let line = lines[place].clone();
        let is_head = line.ends_with('{');
        match random.below(8) {
            _ if line == "}" => lines.insert(place, simple(random)),
            0 | 1 => lines.insert(place, simple(random)),
            2 if !is_head => {
                lines.remove(place);
                if lines.is_empty() {
                    lines.push(";".to_owned());
                }
            }
            3 => {
                let declared = format!("int v{place} = {};", term(random, 1));
                lines.insert(place, declared);
                let used = format!("y += v{place};");
                let behind = (place + 1..lines.len())
                    .find(|at| !lines[*at].ends_with('{'))
                    .unwrap_or(lines.len());
                lines.insert(behind, used);
            }
            4 if random.below(3) == 0 => {
                let wrong = [
                    "x = undeclared;",
                    "x = ;",
                    "y = (x;",
                    "p->a = 1;",
                    "int;;",
                    "r->c = 2;",
                ];
                lines.insert(place, random.of(&wrong).to_owned());
            }
            5 if !is_head => lines[place] = format!("if ({}) {line}", term(random, 2)),
            6 if !is_head => {
                lines[place] = format!("if ({}) {{ {line} {} }}", term(random, 1), simple(random))
            }
            _ if is_head => {
                let at = line.find('(').unwrap_or(0);
                lines[place] = if line.starts_with("if") {
                    format!("{}({}) {{", &line[..at], term(random, 2))
                } else {
                    format!("for (i = 0; i < 5 && ({}); i++) {{", term(random, 2))
                };
            }
            _ => lines[place] = simple(random),
        }
    }
    lines
}

/// The outputs of the original for these arguments; `None` when it does not end well.
fn outputs(
    folder: &std::path::Path,
    text: &str,
    flags: &[String],
) -> Option<Vec<(String, String)>> {
    let (file, program) = (folder.join("original.c"), folder.join("original"));
    std::fs::write(&file, text).unwrap();
    let compiled = std::process::Command::new("cc")
        .args(["-w", "-o"])
        .args([&program, &file])
        .args(flags)
        .status()
        .unwrap();
    assert!(compiled.success(), "{text}");
    ["0", "3", "12"]
        .iter()
        .map(|argument| {
            let out = folder.join("original.out");
            let status = run(&program, argument, &out, Duration::from_secs(3))?;
            let ended = status.code().is_some_and(|code| code < 2);
            ended.then(|| {
                let text = std::fs::read_to_string(&out).unwrap();
                ((*argument).to_owned(), text)
            })
        })
        .collect()
}

fn compare(seed: u64, dedup: bool) -> (usize, usize) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..20 {
        random.below(2);
    }
    let folder = tempfile::tempdir().unwrap();
    let flags = vec!["-O0".to_owned(), "-fwrapv".to_owned()];
    let (lines, text, cases) = loop {
        let mut lines = Vec::new();
        body(&mut random, 2, &mut lines);
        let text = program(&lines);
        if let Some(cases) = outputs(folder.path(), &text, &flags) {
            break (lines, text, cases);
        }
    };
    let subject = Subject {
        source: text.clone(),
        cases,
        cflags: flags,
        timeout: Duration::from_secs(3),
    };
    let mut texts = Vec::new();
    while texts.len() < PATCHES {
        let mut changed = mutated(&mut random, &lines);
        let mut added = String::new();
        if random.below(6) == 0 {
            added = helper(&mut random);
            let call = format!(
                "{} = helper({}, n);",
                target(&mut random),
                term(&mut random, 1)
            );
            changed.insert(0, call);
        }
        let patched = with_helper(&added, &changed);
        if patched != text {
            texts.push(patched);
        }
    }
    let options = Options {
        keep_going: true,
        dedup,
        jobs: 2,
        ..Options::default()
    };
    let found = validate(&subject, &texts, options);
    let mut woven = 0;
    for (patch, text) in texts.iter().enumerate() {
        let expected = match &found.fates[patch] {
            Fate::Apart(_) => continue,
            _ => plain(&subject, folder.path(), text),
        };
        let said = match &found.fates[patch] {
            Fate::DoesNotCompile { .. } => Plain::DoesNotCompile,
            _ => {
                let runs = (0..subject.cases.len()).map(|test| {
                    let verdict = found.verdicts.get(&(patch, test));
                    let verdict = verdict.unwrap_or_else(|| {
                        panic!(
                            "seed {seed}: no verdict on patch {patch} in test {test}: {:?}\n{text}",
                            found.open
                        )
                    });
                    PlainRun::of(verdict)
                });
                woven += 1;
                Plain::Ran(runs.collect())
            }
        };
        if said != expected {
            let diff = patchwright_text::unified_diff(
                b"subject.c",
                subject.source.as_bytes(),
                text.as_bytes(),
            );
            panic!(
                "seed {seed}, dedup {dedup}, patch {patch}: {said:?}, plainly {expected:?}\n{}\n{:?}\n{}",
                String::from_utf8_lossy(&diff),
                found.fates[patch],
                subject.source
            );
        }
    }
    println!(
        "seed {seed}: {woven} of {} woven, {:?}",
        texts.len(),
        found.stats
    );
    (texts.len(), woven)
}

fn programs(few: u64) -> std::ops::Range<u64> {
    let asked = std::env::var("PATCHWRIGHT_PROGRAMS").ok();
    match asked.and_then(|text| text.parse::<u64>().ok()) {
        Some(count) => 0..count,
        None => 0..few,
    }
}

#[test]
fn shared_verdicts_are_those_of_plain_builds() {
    let (mut all, mut woven) = (0, 0);
    for seed in programs(1) {
        let (patches, some) = compare(seed, true);
        (all, woven) = (all + patches, woven + some);
    }
    println!("{woven} of {all} patches woven");
    assert!(woven * 2 > all, "{woven} of {all}");
}

#[test]
#[ignore = "nightly: 10 s; shared_verdicts_are_those_of_plain_builds has the same patches woven together"]
fn verdicts_of_patches_run_one_by_one_are_those_of_plain_builds() {
    for seed in programs(1) {
        compare(seed + 1000, false);
    }
}
