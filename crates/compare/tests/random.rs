//! Random pairs of versions with sixteen bits of input: what is claimed holds when both are executed.
#![allow(
    clippy::disallowed_methods,
    reason = "a test's own files and processes"
)]

mod common;
#[allow(dead_code, reason = "the generator of another crate's tests")]
#[path = "../../symbolic/tests/common/generate.rs"]
mod generate;

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use common::{Answer, Asked, compared};
use generate::Random;
use patchwright_compare::{Kind, Side, Verdict};
use patchwright_solve::{Assignment, Term};

/// One to three operators or numbers are exchanged.
fn mutated(source: &str, random: &mut Random) -> String {
    let changes = [
        (" + ", " - "),
        (" - ", " + "),
        (" < ", " <= "),
        (" > ", " < "),
        (" == ", " != "),
        (" & ", " | "),
        ("100", "101"),
        (" * ", " + "),
        ("x++;", "x--;"),
        (" += ", " -= "),
    ];
    let mut text = source.to_owned();
    for _ in 0..1 + random.below(3) {
        let body = text.find("int f(").unwrap_or(0);
        let mut places: Vec<(usize, &str, &str)> = Vec::new();
        for (from, to) in changes {
            let found = text.match_indices(from).filter(|(at, _)| *at > body);
            places.extend(found.map(|(at, _)| (at, from, to)));
        }
        if places.is_empty() {
            break;
        }
        let (at, from, to) = places[random.below(places.len() as u64) as usize];
        text = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
    }
    text
}

/// Both versions in one program, which reads pairs of bytes and prints whether they do the same.
fn executed(old: &str, new: &str, inputs: &[(u8, u8)]) -> Vec<bool> {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("written");
    };
    write("old.h", old);
    write("new.h", new);
    let names = ["f", "h", "g", "v", "t", "r", "s", "mk"];
    let renamed = |side: &str| -> String {
        let lines = names
            .iter()
            .map(|name| format!("#define {name} {side}_{name}\n"));
        let ends = names.iter().map(|name| format!("#undef {name}\n"));
        format!(
            "{}#include \"{side}.h\"\nstatic struct {{ int g; unsigned v; int t[4]; struct s r; }} {side}_saved;\n\
             static void {side}_save(void) {{ {side}_saved.g = g; {side}_saved.v = v; memcpy({side}_saved.t, t, sizeof t); \
             {side}_saved.r = r; }}\n\
             static void {side}_load(void) {{ g = {side}_saved.g; v = {side}_saved.v; memcpy(t, {side}_saved.t, sizeof t); \
             r = {side}_saved.r; }}\n{}",
            lines.collect::<String>(),
            ends.collect::<String>()
        )
    };
    let main = "int main(void) { int a, b; old_save(); new_save();
while ((a = getchar()) != EOF && (b = getchar()) != EOF) { old_load(); new_load();
int x = old_f((signed char)a, (unsigned char)b), y = new_f((signed char)a, (unsigned char)b);
int same = x == y && old_g == new_g && old_v == new_v && !memcmp(old_t, new_t, sizeof old_t)
&& old_r.x == new_r.x && old_r.c == new_r.c && old_r.u == new_r.u && !memcmp(old_r.old_h, new_r.new_h, sizeof old_r.old_h);
putchar(same ? '1' : '0'); } return 0; }";
    let text = format!(
        "#include <stdio.h>\n#include <string.h>\n#include <stdlib.h>\n#include <assert.h>\n{}{}{main}\n",
        renamed("old"),
        renamed("new")
    );
    write("both.c", &text);
    let built = Command::new("gcc")
        .args(["-w", "-O0", "-o", "both", "both.c"])
        .current_dir(folder.path())
        .status()
        .expect("gcc is installed");
    assert!(built.success(), "{text}");
    let mut child = Command::new(folder.path().join("both"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let bytes: Vec<u8> = inputs.iter().flat_map(|&(a, b)| [a, b]).collect();
    let mut stdin = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = child.wait_with_output().expect("ends");
    writer.join().expect("no panic").expect("all is read");
    assert_eq!(
        output.stdout.len(),
        inputs.len(),
        "{:?}\n{old}\n{new}",
        output.status
    );
    output.stdout.iter().map(|&byte| byte == b'1').collect()
}

fn assigned(answer: &Answer, a: u8, b: u8) -> Assignment {
    let mut assignment = Assignment::new();
    for side in Side::BOTH {
        for input in &answer.pair.encoding(side).inputs {
            match input.name.as_str() {
                "a" => assignment.set_bits(&answer.terms, input.term, u128::from(a)),
                "b" => assignment.set_bits(&answer.terms, input.term, u128::from(b)),
                _ => {}
            }
        }
    }
    assignment
}

fn number(variable: &str, usual: u64) -> u64 {
    std::env::var(variable)
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(usual)
}

/// `COMPARE_PAIRS` pairs, `COMPARE_INPUTS` inputs of each (65536 are all).
#[test]
fn what_is_said_of_partitions_is_what_executions_do() {
    let pairs = number("COMPARE_PAIRS", 6);
    let count = number("COMPARE_INPUTS", 400);
    let (mut equal, mut different, mut proofs, mut fails) = (0, 0, 0, 0);
    for seed in 700..700 + pairs {
        let mut random = Random(seed * 7919);
        let old = generate::program(seed);
        let new = mutated(&old, &mut random);
        let answer = compared(&old, &new, &Asked::function("f"));
        let all_of_them = count >= 65536;
        let inputs: Vec<(u8, u8)> = (0..count.min(65536))
            .map(|number| match all_of_them {
                true => (number as u8, (number >> 8) as u8),
                false => (random.below(256) as u8, random.below(256) as u8),
            })
            .collect();
        let mut limits: Vec<Term> = Vec::new();
        let mut failing: Vec<Vec<Term>> = Vec::new();
        for side in Side::BOTH {
            let encoding = answer.pair.encoding(side);
            limits.extend(encoding.unknown.iter().map(|unknown| unknown.condition));
            limits.extend(encoding.unwinding.iter().map(|end| end.condition));
            failing.push(encoding.failures.iter().map(|one| one.condition).collect());
        }
        let partitions: Vec<Term> = answer
            .explored
            .partitions
            .iter()
            .map(|one| one.term)
            .collect();
        let mut run = Vec::new();
        for &(a, b) in &inputs {
            let assignment = assigned(&answer, a, b);
            let holds = |list: &[Term]| -> Vec<bool> {
                let values = answer.terms.evaluate_all(list, &assignment);
                values.iter().map(|value| value.truth()).collect()
            };
            let within = holds(&partitions);
            let is_limited = holds(&limits).contains(&true);
            let context = || {
                format!(
                    "seed {seed}, {a}, {b}: {:?}\n{old}\n{new}",
                    answer.conditions()
                )
            };
            if !is_limited && answer.explored.covered {
                assert!(within.contains(&true), "not covered: {}", context());
            }
            let kinds = answer
                .explored
                .partitions
                .iter()
                .zip(&within)
                .filter(|one| *one.1);
            let kinds: Vec<Kind> = kinds.map(|one| one.0.kind).collect();
            if kinds.is_empty() {
                continue;
            }
            assert!(!is_limited, "{}", context());
            let fails_now: Vec<bool> = failing
                .iter()
                .map(|list| holds(list).contains(&true))
                .collect();
            for kind in &kinds {
                match kind {
                    Kind::NewFails => assert_eq!(fails_now, [false, true], "{}", context()),
                    Kind::OldFails => assert_eq!(fails_now, [true, false], "{}", context()),
                    Kind::FailsOtherwise => assert_eq!(fails_now, [true, true], "{}", context()),
                    Kind::Different => assert_eq!(fails_now, [false, false], "{}", context()),
                    Kind::Equal => assert_eq!(fails_now[0], fails_now[1], "{}", context()),
                }
            }
            fails += usize::from(fails_now.contains(&true));
            if !fails_now.contains(&true) {
                run.push((a, b, kinds[0]));
            }
        }
        assert!(
            answer.explored.covered,
            "seed {seed}: {:?}",
            answer.conditions()
        );
        let fine: Vec<(u8, u8)> = run.iter().map(|&(a, b, _)| (a, b)).collect();
        let same = executed(&old, &new, &fine);
        for ((a, b, kind), same) in run.into_iter().zip(same) {
            assert_eq!(
                kind == Kind::Equal,
                same,
                "seed {seed}, {a}, {b}: {:?}\n{old}\n{new}",
                answer.conditions()
            );
            match same {
                true => equal += 1,
                false => different += 1,
            }
        }
        proofs += usize::from(matches!(
            answer.verdict,
            Verdict::Equal | Verdict::EqualWithinBound
        ));
    }
    println!(
        "{equal} equal, {different} different, {fails} failing inputs; {proofs} proofs in {pairs} pairs"
    );
    assert!(
        equal > 0 && different > 0,
        "{equal} equal, {different} different"
    );
}
