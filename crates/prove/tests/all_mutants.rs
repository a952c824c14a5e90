//! The minimal repairs of random programs, against compiling and running every mutant on every input.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write and compile their own sources"
)]

use std::{collections::BTreeSet, fmt::Write as _, process::Command};

use crate::common::{Asked, Reader, deep, encode};
use patchwright_prove::{
    Change, Extent, Level, Mutations, NoDecider, Search, changed, mutations, question, spec,
};
use patchwright_solve::{Budget, Terms};

pub struct Chance(pub u64);

/// How many programs are tried, and from where: as the environment says, or so many.
pub fn asked_for(default: u64) -> (usize, Chance) {
    let number = |name: &str, default: u64| {
        let given = std::env::var(name).ok();
        given.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let programs = number("PATCHWRIGHT_PROGRAMS", default) as usize;
    let seed = number("PATCHWRIGHT_SEED", 0);
    let from = 0x2545_f491_4f6c_dd1d ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (programs, Chance(from))
}

impl Chance {
    pub fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % n
    }

    pub fn one_of(&mut self, all: &[&'static str]) -> &'static str {
        all[self.below(all.len() as u64) as usize]
    }
}

/// The operators that may stand for each other.
const FAMILIES: &[&[&str]] = &[
    &["+", "-", "*"],
    &["&", "|", "^"],
    &["<", "<=", ">", ">="],
    &["==", "!="],
];

/// An expression as it is meant and as it is written; they differ in some operators and constants.
fn expression(chance: &mut Chance, faults: &mut u32, depth: u32) -> (String, String) {
    if depth == 0 || chance.below(4) == 0 {
        return match chance.below(4) {
            0 => ("a".into(), "a".into()),
            1 => ("b".into(), "b".into()),
            2 => ("x".into(), "x".into()),
            _ => {
                let value = chance.below(7);
                let meant = match *faults > 0 && chance.below(3) == 0 {
                    true => {
                        *faults -= 1;
                        value + 1
                    }
                    false => value,
                };
                (meant.to_string(), value.to_string())
            }
        };
    }
    let (left, left_written) = expression(chance, faults, depth - 1);
    let (right, right_written) = expression(chance, faults, depth - 1);
    let family = FAMILIES[chance.below(FAMILIES.len() as u64) as usize];
    let written = chance.one_of(family);
    let meant = match *faults > 0 && chance.below(2) == 0 {
        true => {
            *faults -= 1;
            chance.one_of(family)
        }
        false => written,
    };
    (
        format!("({left} {meant} {right})"),
        format!("({left_written} {written} {right_written})"),
    )
}

/// A function with an assertion that says what is meant; `number` tells it from others.
fn program(chance: &mut Chance, number: usize) -> String {
    let mut faults = 1 + chance.below(2) as u32;
    let (first, first_written) = expression(chance, &mut faults, 2);
    let (second, second_written) = expression(chance, &mut faults, 1);
    let form = chance.below(3);
    let body = |first: &str, second: &str| match form {
        0 => format!("x = {first}; if ({second}) x = x + 1;"),
        1 => format!("x = {second}; if (a > b && {first}) x = b;"),
        _ => format!("for (int i = 0; i < 3; i++) {{ TICK x += {first}; }} x ^= {second};"),
    };
    format!(
        "int f{number}(unsigned char a, unsigned char b)\n{{\n__VERIFIER_assume(a < 8 && b < 8);\n\
         int x = 1;\n//<ASSUME_CORRECT>\n{}\nint meant = x; x = 1;\n//</ASSUME_CORRECT>\n{}\n\
         __VERIFIER_assert(x == meant);\nreturn x;\n}}\n",
        body(&first, &second),
        body(&first_written, &second_written)
    )
}

const HEAD: &str = "void __VERIFIER_assume(int);\nvoid __VERIFIER_assert(int);\n#define TICK\n";

/// What makes a mutant tell natively whether it is right: 0, void: 1, wrong: 2.
const NATIVE: &str = "static long ticks; static int reached;\n\
    #define TICK if (++ticks > 12) return 2;\n\
    #define __VERIFIER_assume(c) if (!(c)) return 0\n\
    #define __VERIFIER_assert(c) do { reached = 1; if (!(c)) return 2; return 0; } while (0)\n\
    typedef int (*function)(unsigned char, unsigned char);\n\
    static int test(function f) { int any = 0; for (int a = 0; a < 256; a++) for (int b = 0; b < 256; b++) {\n\
    ticks = 0; reached = 0; if (f(a, b)) return 2; any |= reached; } return !any; }\n";

/// All patches of one and two changes of a function.
pub fn patches(own: &Mutations, function: &str) -> Vec<Vec<Change>> {
    let single: Vec<Change> = own
        .sites
        .iter()
        .filter(|site| site.function == function)
        .flat_map(|site| (1..=site.mutations.len() as u32).map(|which| (site.number, which)))
        .collect();
    let mut all: Vec<Vec<Change>> = single.iter().map(|&change| vec![change]).collect();
    for &first in &single {
        let later = single.iter().filter(|second| second.0 > first.0);
        all.extend(later.map(|&second| vec![first, second]));
    }
    all
}

#[test]
fn repairs_are_those_of_all_mutants_that_are_right_on_every_input() {
    // More of them take minutes; `PATCHWRIGHT_PROGRAMS=40` tries as many, `PATCHWRIGHT_SEED=S` others.
    let (programs, mut chance) = asked_for(1);
    let texts: Vec<String> = (0..programs)
        .map(|number| program(&mut chance, number))
        .collect();
    let mut reader = Reader::new();
    let library = reader.library();
    let mut native = String::from(NATIVE);
    let mut table = String::new();
    let mut tried: Vec<(usize, Level, Vec<Change>)> = Vec::new();
    let mut found = std::collections::BTreeMap::new();
    for (number, text) in texts.iter().enumerate() {
        let name = format!("f{number}");
        let whole = format!("{HEAD}{text}");
        for level in [Level::One, Level::Two] {
            let sources = [reader.source("unit.c", &whole)];
            let own = mutations(&sources, level);
            for patch in patches(&own[0], &name) {
                let new = changed(whole.as_bytes(), &own[0].sites, &patch, &Default::default());
                let new = String::from_utf8(new.expect("it fits")).expect("text");
                let mutant = new.strip_prefix(HEAD).expect("the head stays");
                let unique = format!("m{}", tried.len());
                let _ = writeln!(native, "static {}", mutant.replacen(&name, &unique, 1));
                let _ = writeln!(table, "printf(\"%d\\n\", test({unique}));");
                tried.push((number, level, patch));
            }
            let asked = Asked {
                function: Some(name.clone()),
                bound: Some(8),
                ..Asked::default()
            };
            let repairs = deep(|| {
                let mut terms = Terms::new();
                let entry = asked.entry(&sources);
                let options = asked.options();
                let encoding = encode(&mut terms, &sources, &library, &entry, &options, Some(&own));
                let spec = spec(&mut terms, &encoding, None);
                let question = question(&mut terms, &spec, &own, &Budget::none());
                let mut open = NoDecider(16);
                let never = || false;
                let search =
                    Search::new(&mut terms, &question, Extent::default(), &mut open, &never);
                search.run(&mut |_| ())
            });
            assert!(repairs.complete && repairs.open.is_empty());
            let repairs: BTreeSet<Vec<Change>> =
                repairs.repairs.into_iter().map(|one| one.changes).collect();
            found.insert((number, level), repairs);
        }
    }
    let _ = write!(
        native,
        "int printf(const char *, ...);\nint main(void) {{\n{table}return 0; }}\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let (file, binary) = (folder.path().join("all.c"), folder.path().join("all"));
    std::fs::write(&file, &native).expect("written");
    let compiled = Command::new("gcc")
        .args(["-w", "-O1", "-fwrapv", "-o"])
        .args([&binary, &file])
        .output()
        .expect("gcc is installed");
    let complaints = String::from_utf8_lossy(&compiled.stderr).into_owned();
    assert!(compiled.status.success(), "{complaints}");
    let output = Command::new(&binary).output().expect("it starts");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let verdicts: Vec<&str> = output.lines().collect();
    assert_eq!(verdicts.len(), tried.len());
    let mut total = 0;
    let mut pairs = 0;
    for (&(number, level), repairs) in &found {
        let mut right: BTreeSet<Vec<Change>> = BTreeSet::new();
        for ((other, at, patch), verdict) in tried.iter().zip(&verdicts) {
            let own = *other == number && *at == level && *verdict == "0";
            let smaller = |known: &Vec<Change>| known.iter().all(|change| patch.contains(change));
            if own && !right.iter().any(smaller) {
                right.insert(patch.clone());
            }
        }
        assert_eq!(repairs, &right, "{level:?}\n{}", texts[number]);
        total += right.len();
        pairs += right.iter().filter(|patch| patch.len() == 2).count();
    }
    println!(
        "{} mutants, {total} repairs, {pairs} of two changes",
        tried.len()
    );
    assert!(total >= programs, "{total} {pairs}");
}
