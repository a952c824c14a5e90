//! Indices of arrays that are parts of objects: an execution ends at those, and only those, that gcc's `-fsanitize=bounds` reports.
//! `PATCHWRIGHT_SUBSCRIPTS=N` tries N functions, `PATCHWRIGHT_SEED=S` begins with seed S.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write and compile their own sources"
)]

use std::{fmt::Write as _, process::Command};

use patchwright_interpret::{Closed, Ending, Limits, Machine, Undefined};
use patchwright_ir::Module;
use patchwright_testkit::Reader;

struct Chance(u64);

impl Chance {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) as usize % n
    }
}

/// A type of C.
enum Kind {
    Int,
    Array(usize, Box<Kind>),
    /// A structure, or a union, with its members.
    Record(usize, Vec<Kind>),
}

/// What the index may be, in the array that is subscripted.
const INDICES: std::ops::Range<i32> = -2..6;

struct Generator {
    chance: Chance,
    definitions: String,
    records: usize,
}

impl Generator {
    fn record(&mut self, depth: usize) -> Kind {
        let count = 1 + self.chance.below(3);
        let members: Vec<Kind> = (0..count).map(|_| self.kind(depth)).collect();
        let number = self.records;
        self.records += 1;
        let word = match self.chance.below(5) {
            0 => "union",
            _ => "struct",
        };
        let _ = write!(self.definitions, "typedef {word} {{ ");
        for (index, member) in members.iter().enumerate() {
            let declared = declaration(member, &format!("m{index}"));
            let _ = write!(self.definitions, "{declared}; ");
        }
        let _ = writeln!(self.definitions, "}} r{number};");
        Kind::Record(number, members)
    }

    fn kind(&mut self, depth: usize) -> Kind {
        match self.chance.below(7) {
            0 => Kind::Int,
            1..=2 if depth > 0 => self.record(depth - 1),
            3 if depth > 0 => {
                let of = self.record(depth - 1);
                Kind::Array(1 + self.chance.below(3), Box::new(of))
            }
            4 => {
                let row = Kind::Array(1 + self.chance.below(3), Box::new(Kind::Int));
                Kind::Array(1 + self.chance.below(3), Box::new(row))
            }
            _ => Kind::Array(1 + self.chance.below(3), Box::new(Kind::Int)),
        }
    }

    /// A way from an lvalue to a number, or to an array of them, with one index that is `i`; whether there is one.
    fn way<'k>(&mut self, lvalue: &mut String, mut kind: &'k Kind) -> Option<&'k Kind> {
        let mut open = true;
        loop {
            match kind {
                Kind::Int => return (!open).then_some(kind),
                Kind::Record(_, members) => {
                    let index = self.chance.below(members.len());
                    let _ = write!(lvalue, ".m{index}");
                    kind = &members[index];
                }
                Kind::Array(count, of) => {
                    if matches!(**of, Kind::Int) && !open && self.chance.below(3) == 0 {
                        return Some(kind);
                    }
                    if open && self.chance.below(2) == 0 {
                        open = false;
                        lvalue.push_str("[i]");
                    } else {
                        let _ = write!(lvalue, "[{}]", self.chance.below(*count));
                    }
                    kind = of;
                }
            }
        }
    }

    /// A function that uses its parameter `i` as an index.
    fn function(&mut self, number: usize) {
        let depth = 1 + self.chance.below(2);
        let kind = loop {
            let kind = self.record(depth);
            if has_array(&kind) {
                break kind;
            }
        };
        let Kind::Record(record, _) = kind else {
            return;
        };
        let (mut lvalue, end) = loop {
            let start = ["root.t", "(*p)", "p[1]", "rows[1]", "(*list)[1]"];
            let mut lvalue = start[self.chance.below(start.len())].to_owned();
            if let Some(end) = self.way(&mut lvalue, &kind) {
                break (lvalue, end);
            }
        };
        if self.chance.below(4) == 0 {
            lvalue = format!("({lvalue})");
        }
        let uses: &[&str] = match end {
            Kind::Int => &[
                "sink = X;",
                "X = 1;",
                "X += 2;",
                "X++;",
                "to = &X;",
                "sink = *&X;",
                "sink = sizeof X;",
                "if (i > 9 && X) sink = 1;",
            ],
            _ => &[
                "to = X;",
                "to = X + 1;",
                "to = &X[0];",
                "sink = X[0];",
                "sink = 0[X];",
                "sink = sizeof X[7];",
                // gcc does not look at the index of the row here, which is accessed all the same.
                "sink = *(X + 1);",
                "to = X; sink = to[5]; sink = to[-1];",
            ],
        };
        let text = uses[self.chance.below(uses.len())].replace('X', &lvalue);
        let _ = writeln!(
            self.definitions,
            "static void f{number}(int i)\n{{\n    static struct {{ int before[99]; r{record} t; int after[99]; }} root;\n    \
             static r{record} rows[99]; r{record} *p = rows + 50; r{record} (*list)[3] = (r{record} (*)[3])p;\n    \
             (void)p; (void)list; (void)root;\n    {text}\n}}"
        );
    }
}

fn has_array(kind: &Kind) -> bool {
    match kind {
        Kind::Int => false,
        Kind::Array(..) => true,
        Kind::Record(_, members) => members.iter().any(has_array),
    }
}

fn declaration(kind: &Kind, name: &str) -> String {
    match kind {
        Kind::Int => format!("int {name}"),
        Kind::Record(number, _) => format!("r{number} {name}"),
        Kind::Array(count, of) => declaration(of, &format!("{name}[{count}]")),
    }
}

/// Natively, prints whether each function reported an index; interpreted, executes one.
const MAIN: &str = "#ifdef NATIVE
static int reported;
void __ubsan_handle_out_of_bounds(void *a, void *b) { (void)a; (void)b; reported = 1; }
int printf(const char *, ...);
int main(void)
{
    for (int k = 0; k < sizeof table / sizeof *table; k++)
        for (int i = FIRST; i < LAST; i++) { reported = 0; table[k](i); printf(\"%d\\n\", reported); }
    return 0;
}
#else
int atoi(const char *);
int main(int argc, char **argv) { table[atoi(argv[1])](atoi(argv[2])); return 0; }
#endif
";

fn program(seed: u64, functions: usize) -> String {
    let mut generator = Generator {
        chance: Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        definitions: "static volatile int sink; static int *volatile to;\n".to_owned(),
        records: 0,
    };
    for number in 0..functions {
        generator.function(number);
    }
    let table: Vec<String> = (0..functions).map(|number| format!("f{number}")).collect();
    format!(
        "{}static void (*const table[])(int) = {{ {} }};\n{MAIN}",
        generator.definitions,
        table.join(", ")
    )
}

fn execute(module: &Module, words: &[String]) -> Ending {
    let mut world = Closed::with_input("");
    let mut machine =
        Machine::link(vec![module.clone()], Limits::default(), &mut world).expect("links");
    let mut arguments = vec![b"prog".to_vec()];
    arguments.extend(words.iter().map(|word| word.as_bytes().to_vec()));
    machine.run(&arguments, &[]).ending
}

/// An execution ended at an index outside of its array.
fn is_index(ending: &Ending) -> bool {
    matches!(ending, Ending::Undefined { kind: Undefined::OutOfBounds, message } if message.starts_with("index"))
}

fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
#[ignore = "nightly: 4 s; indices_outside_of_a_member_or_a_row_are_those_that_gcc_reports goes this way"]
fn what_a_row_past_the_last_one_becomes_is_not_accessed() {
    let mut reader = Reader::new();
    for (text, is_outside) in [
        ("int *p = s.m[2]; return p == s.m[0];", false),
        ("return *s.m[2];", true),
        ("return *&s.a[3];", true),
        (
            "int *p = &s.a[3], *q = s.a; while (q != p) q++; return 0;",
            false,
        ),
        ("return s.a[3];", true),
        ("s.a[-1] = 1; return 0;", true),
        ("int *p = s.a + 1; return p[-1];", false),
        ("int *p = s.m[0]; return p[2] + p[3];", false),
        ("return s.m[0][2];", true),
        (
            "struct tail *t = malloc(sizeof *t + 9); t->bytes[8] = 0; free(t); return 0;",
            false,
        ),
        (
            "struct old *t = malloc(sizeof *t + 9); t->bytes[8] = 0; free(t); return 0;",
            false,
        ),
        ("struct old t[2] = { 0 }; return t[0].bytes[4];", true),
        (
            "union either u = { 0 }; union either *p = &u; return p->few[1];",
            false,
        ),
        (
            "int n = s.a[0] + 3; int v[n][n]; v[0][n - 1] = 1; return v[0][n - 1];",
            false,
        ),
        ("unsigned long long i = -1; return s.a[i];", true),
        ("return (int)sizeof s.a[9];", false),
    ] {
        let source = format!(
            "#include <stdlib.h>\nstruct tail {{ int n; char bytes[]; }}; struct old {{ int n; char bytes[1]; }};\n\
             union either {{ int few[1]; int many[4]; }};\n\
             static struct {{ int before; int a[3]; int m[2][2]; int after; }} s;\n\
             int main(void) {{ {text} }}\n"
        );
        let module = reader.module("unit.c", &source);
        let ending = execute(&module, &[]);
        assert_eq!(is_index(&ending), is_outside, "{text}: {ending:?}");
        let ends = matches!(ending, Ending::Exit(_));
        assert!(ends || is_outside, "{text}: {ending:?}");
    }
}

#[test]
fn indices_outside_of_a_member_or_a_row_are_those_that_gcc_reports() {
    let functions = number("PATCHWRIGHT_SUBSCRIPTS", 150) as usize;
    let source = program(number("PATCHWRIGHT_SEED", 1), functions);
    let folder = tempfile::tempdir().expect("a folder");
    let (file, binary) = (folder.path().join("unit.c"), folder.path().join("unit"));
    std::fs::write(&file, &source).expect("written");
    let object = folder.path().join("unit.o");
    let bounds = [
        format!("-DFIRST=({})", INDICES.start),
        format!("-DLAST={}", INDICES.end),
    ];
    let compiled = Command::new("gcc")
        .args(["-w", "-O0", "-DNATIVE", "-fsanitize=bounds", "-c", "-o"])
        .args([&object, &file])
        .args(&bounds)
        .output()
        .expect("gcc is installed");
    let complaints = String::from_utf8_lossy(&compiled.stderr).into_owned();
    assert!(compiled.status.success(), "{complaints}");
    let linked = Command::new("gcc")
        .arg("-o")
        .args([&binary, &object])
        .output()
        .expect("gcc is installed");
    let complaints = String::from_utf8_lossy(&linked.stderr).into_owned();
    assert!(linked.status.success(), "{complaints}");
    let output = Command::new(&binary).output().expect("it starts");
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut reported = output.lines().map(|line| line == "1");

    let module = Reader::new().module("unit.c", &source);
    let (mut wrong, mut found) = (Vec::new(), 0);
    for function in 0..functions {
        for index in INDICES {
            let words = [function.to_string(), index.to_string()];
            let ending = execute(&module, &words);
            let ends = is_index(&ending);
            assert!(
                ends || ending == Ending::Exit(0),
                "f{function}({index}): {ending:?}\n{source}"
            );
            let expected = reported.next().expect("a line for each");
            found += usize::from(expected);
            if ends != expected {
                wrong.push(format!(
                    "f{function}({index}): ends is {ends}, reported is {expected}"
                ));
            }
        }
    }
    let text = wrong.join("\n");
    assert!(wrong.is_empty(), "{source}\n{text}");
    println!("{functions} functions, {found} executions with an index outside");
    assert!(found > functions);
}
