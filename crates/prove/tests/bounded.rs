//! Repairs of programs whose loops run to the bound, below it and beyond it, against compiling and running every mutant on
//! every input: those for all inputs, those within the bound, and those that are not decided.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write and compile their own sources"
)]

use std::{collections::BTreeSet, fmt::Write as _, process::Command};

use crate::{
    all_mutants::{Chance, asked_for, patches},
    common::{Asked, Reader, deep, encode, with_choices},
};
use patchwright_prove::{
    Change, Extent, Found, Level, Mutations, OneByOne, Open, Search, Source, Standing, changed,
    link, mutations, question, spec,
};
use patchwright_solve::{Answer, Backend, Budget, Solver, Terms};
use patchwright_symbolic::Options;

const HEAD: &str = "void __VERIFIER_assume(int);\nvoid __VERIFIER_assert(int);\n#define TICK(n)\n";

/// What makes a mutant tell natively for each input how many rounds it makes, and whether it is right (`+`), fails (`-`) or
/// does not end (`*`).
const NATIVE: &str = "#include <setjmp.h>\n#include <stdio.h>\n\
    static long ticks; static jmp_buf over; static int failed;\n\
    #define TICK(n) if (++ticks > 60) longjmp(over, 1);\n\
    #define __VERIFIER_assume(c) if (!(c)) return 0\n\
    #define __VERIFIER_assert(c) do { if (!(c)) failed = 1; return 0; } while (0)\n\
    typedef int (*function)(unsigned char, unsigned char);\n\
    static void test(function f) { for (int a = 0; a < 9; a++) for (int b = 0; b < 4; b++) {\n\
    ticks = 0; failed = 0; if (setjmp(over)) putchar('*'); else { f(a, b); putchar(failed ? '-' : '+'); }\n\
    printf(\"%ld \", ticks); } putchar('\\n'); }\n";

/// A loop as it is meant, which the assertion says without a loop, and as it is written.
struct Written {
    text: String,
    /// Rounds of each loop that are followed with the whole bound, and with all mutants at once.
    bounds: (u32, u32),
}

/// The parts of a loop that counts from `start` to `a + more`, in steps, and adds to `x`.
#[derive(Clone, Copy, PartialEq)]
struct Loop {
    start: i64,
    within: bool,
    more: i64,
    step: i64,
    first: i64,
    by: i64,
    less: bool,
}

impl Loop {
    fn any(chance: &mut Chance) -> Loop {
        Loop {
            start: chance.below(3) as i64,
            within: chance.below(2) == 0,
            more: chance.below(2) as i64,
            step: 1 + chance.below(2) as i64,
            first: chance.below(4) as i64,
            by: 1 + chance.below(4) as i64,
            less: chance.below(3) == 0,
        }
    }

    /// The same with a mistake.
    fn mistaken(mut self, chance: &mut Chance) -> Loop {
        match chance.below(6) {
            0 => self.start += 1,
            1 => self.within = !self.within,
            2 => self.more += 1,
            3 => self.by += 1,
            4 => self.first += 1,
            _ => self.less = !self.less,
        }
        self
    }

    fn text(self) -> String {
        format!(
            "int x = {} + b; for (int i = {}; i {} a{}; i += {}) {{ TICK(0) x {} {}; }}",
            self.first,
            self.start,
            if self.within { "<=" } else { "<" },
            if self.more > 0 {
                format!(" + {}", self.more)
            } else {
                String::new()
            },
            self.step,
            if self.less { "-=" } else { "+=" },
            self.by
        )
    }

    /// What `x` is in the end, without a loop.
    fn meant(self) -> String {
        let last = self.more - i64::from(!self.within);
        format!(
            "{} + b {} {} * (a + {last} >= {start} ? (a + {last} - {start}) / {} + 1 : 0)",
            self.first,
            if self.less { "-" } else { "+" },
            self.by,
            self.step,
            start = self.start,
        )
    }
}

fn program(chance: &mut Chance, number: usize) -> Written {
    let meant = Loop::any(chance);
    let mut written = meant.mistaken(chance);
    if chance.below(3) == 0 {
        written = written.mistaken(chance);
    }
    let bound = 2 + chance.below(7) as u32;
    Written {
        text: format!(
            "int f{number}(unsigned char a, unsigned char b)\n{{\n__VERIFIER_assume(a < 9 && b < 4);\n\
             //<ASSUME_CORRECT>\nint meant = {};\n//</ASSUME_CORRECT>\n{}\n__VERIFIER_assert(x == meant);\nreturn x;\n}}\n",
            meant.meant(),
            written.text()
        ),
        bounds: (bound, 1 + chance.below(u64::from(bound)) as u32),
    }
}

/// What the search says, if the program fails as far as all mutants are encoded.
fn found(
    sources: &[Source; 1],
    library: &patchwright_ir::Module,
    own: &[Mutations],
    name: &str,
    (bound, first): (u32, u32),
) -> Option<Found> {
    let asked = Asked {
        function: Some(name.to_owned()),
        bound: Some(bound),
        ..Asked::default()
    };
    let mut terms = Terms::new();
    let entry = asked.entry(sources);
    let few = Options {
        bound: first,
        ..asked.options()
    };
    let plain = encode(&mut terms, sources, library, &entry, &few, None);
    let plain = spec(&mut terms, &plain, None);
    let fails = plain.fails(&mut terms);
    let answer = Solver::new(Backend::default()).check(&terms, &[fails], &Budget::none());
    if answer != Answer::Satisfiable {
        return None;
    }
    let encoding = encode(&mut terms, sources, library, &entry, &few, Some(own));
    let spec = spec(&mut terms, &encoding, None);
    let question = question(&mut terms, &spec, own, &Budget::none());
    let program = link(sources, Some(&[&own[0].alternatives]), library).expect("links");
    let options = with_choices(sources, library, &entry, &asked.options(), own);
    let mut decider = OneByOne::new((&program, &entry), None, &options, Budget::none());
    let never = || false;
    let search = Search::new(
        &mut terms,
        &question,
        Extent::default(),
        &mut decider,
        &never,
    );
    Some(search.run(&mut |_| ()))
}

/// What a mutant does natively for one input.
#[derive(Clone, Copy)]
struct Run {
    how: char,
    rounds: u32,
}

fn runs(line: &str) -> Vec<Run> {
    let inputs = line.split_ascii_whitespace();
    inputs
        .map(|input| Run {
            how: input.chars().next().expect("a sign"),
            rounds: input[1..].parse().expect("a number"),
        })
        .collect()
}

/// For which inputs a mutant is right, of a program that does this without the patch.
fn standing(original: &[Run], mutant: &[Run], bound: u32) -> Option<Standing> {
    if mutant.iter().all(|run| run.how == '+') {
        return Some(Standing::AllInputs);
    }
    let within = original.iter().zip(mutant).all(|(before, now)| {
        let ends = before.how != '*' && before.rounds <= bound;
        let fails = now.how == '-' && now.rounds <= bound;
        !fails && (!ends || now.how == '+' && now.rounds <= 2 * bound)
    });
    within.then_some(Standing::WithinBound)
}

#[test]
#[ignore = "nightly: 8 s; `search` compares repairs with trying everything"]
fn repairs_are_right_for_the_inputs_that_they_are_said_to_be_right_for_and_no_other_is_left_out() {
    // `PATCHWRIGHT_PROGRAMS=300` tries as many, `PATCHWRIGHT_SEED=S` others.
    let (programs, mut chance) = asked_for(6);
    let all: Vec<Written> = (0..programs)
        .map(|number| program(&mut chance, number))
        .collect();
    let mut reader = Reader::new();
    let library = reader.library();
    let mut native = String::from(NATIVE);
    let mut table = String::new();
    let mut count = 0;
    let mut tried: Vec<(usize, Level, Vec<Vec<Change>>, Found)> = Vec::new();
    for (number, written) in all.iter().enumerate() {
        let name = format!("f{number}");
        let whole = format!("{HEAD}{}", written.text);
        for level in [Level::One, Level::Two] {
            let sources = [reader.source("unit.c", &whole)];
            let own = mutations(&sources, level);
            let Some(found) = deep(|| found(&sources, &library, &own, &name, written.bounds))
            else {
                continue;
            };
            let mut patches = patches(&own[0], &name);
            patches.insert(0, Vec::new());
            for patch in &patches {
                let new = changed(whole.as_bytes(), &own[0].sites, patch, &Default::default());
                let new = String::from_utf8(new.expect("it fits")).expect("text");
                let mutant = new.strip_prefix(HEAD).expect("the head stays");
                let unique = format!("m{count}");
                count += 1;
                let _ = writeln!(native, "static {}", mutant.replacen(&name, &unique, 1));
                let _ = writeln!(table, "test({unique});");
            }
            tried.push((number, level, patches, found));
        }
    }
    let _ = write!(native, "int main(void) {{\n{table}return 0; }}\n");
    let folder = tempfile::tempdir().expect("a folder");
    let (file, binary) = (folder.path().join("all.c"), folder.path().join("all"));
    std::fs::write(&file, &native).expect("written");
    let compiled = Command::new("gcc")
        .args(["-w", "-O0", "-fwrapv", "-o"])
        .args([&binary, &file])
        .output()
        .expect("gcc is installed");
    let complaints = String::from_utf8_lossy(&compiled.stderr).into_owned();
    assert!(compiled.status.success(), "{complaints}");
    let output = Command::new(&binary).output().expect("it starts");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut lines = output.lines();
    let (mut for_all, mut within, mut open) = (0, 0, 0);
    for (number, level, patches, found) in &tried {
        let (bound, _) = all[*number].bounds;
        let text = &all[*number].text;
        let mut line = || runs(lines.next().expect("a line for each mutant"));
        let original = line();
        let mut left: BTreeSet<Vec<Change>> = BTreeSet::new();
        assert!(found.complete && !found.more_open, "{text}");
        for patch in &patches[1..] {
            let run = line();
            let truth = standing(&original, &run, bound);
            let contains = |less: &[Change]| less.iter().all(|change| patch.contains(change));
            let here = || {
                format!(
                    "bound {:?}, {level:?}, {patch:?}\n{text}",
                    all[*number].bounds
                )
            };
            let listed = found.repairs.iter().find(|one| one.changes == *patch);
            if let Some(listed) = listed {
                let truth = truth.unwrap_or_else(|| panic!("listed and wrong: {}", here()));
                assert!(listed.standing >= truth, "claims too much: {}", here());
                let few = run.iter().all(|run| run.rounds <= bound);
                if few {
                    assert_eq!(listed.standing, Standing::AllInputs, "{}", here());
                }
                match listed.standing {
                    Standing::AllInputs => for_all += 1,
                    Standing::WithinBound => within += 1,
                }
                continue;
            }
            let is_open = found.open.iter().any(|(one, _)| contains(one));
            let is_larger = found.repairs.iter().any(|one| contains(&one.changes));
            if let Some((_, why)) = found.open.iter().find(|(one, _)| one == patch) {
                assert!(matches!(why, Open::Beyond(_)), "{why:?}");
                // What is right or wrong within few rounds is decided.
                let decided = run.iter().any(|run| run.how == '-' && run.rounds <= bound)
                    || run.iter().all(|run| run.rounds <= bound);
                assert!(!decided, "not decided: {}", here());
                open += 1;
            }
            // Rounds that facts decide do not count towards the bound, so more of them may have been looked at.
            let fails = run
                .iter()
                .any(|run| run.how == '-' && run.rounds <= 2 * bound + 2);
            if truth.is_some() && !fails && !is_larger && !is_open {
                left.insert(patch.clone());
            }
        }
        assert!(
            left.is_empty(),
            "left out: {left:?}, bound {:?}, {level:?}\n{text}",
            all[*number].bounds
        );
    }
    println!(
        "{} searches in {programs} programs, {count} mutants: {for_all} repairs for all inputs, {within} within the bound, \
         {open} patches not decided",
        tried.len()
    );
    assert!(for_all > 0 && within > 0, "{for_all} {within}");
}
