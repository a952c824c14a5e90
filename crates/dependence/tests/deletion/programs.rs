//! Random C programs with jumps of all kinds, one statement a line, so that lines can be left out.
//!
//! All arithmetic wraps (`-fwrapv`), divisors are not zero, indices are masked, and every loop counts its rounds, so each program
//! comes to an end for every input.

use std::fmt::Write;

/// A deterministic source of choices (xorshift64*).
struct Choices(u64);

impl Choices {
    fn of(seed: u64) -> Choices {
        Choices(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16) as usize % n
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// What becomes of a line when others are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It does nothing by itself: a brace, a label, a declaration without a value, the head of a function.
    Always,
    /// A statement, or the head of one.
    Code,
    /// A part of the statement in another line, by its number: `else`, `do`, `case`.
    With(usize),
}

/// A program by its lines.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    lines: Vec<(String, Role)>,
    /// The numbers of the lines that print a value, counted from 1, with what begins their output.
    pub prints: Vec<(u32, String)>,
}

impl Lines {
    /// All of it.
    pub fn text(&self) -> String {
        self.without(&|_| true)
    }

    /// Without the statements that are not on these lines, counted from 1. What is left out leaves an empty line.
    pub fn without(&self, has: &dyn Fn(u32) -> bool) -> String {
        let mut out = String::new();
        for (index, (text, role)) in self.lines.iter().enumerate() {
            let number = index as u32 + 1;
            let kept = match *role {
                Role::Always => true,
                Role::Code => has(number),
                Role::With(other) => has(number) || has(other as u32),
            };
            let _ = writeln!(out, "{}", if kept { text.as_str() } else { "" });
        }
        out
    }

    /// How many lines are statements.
    pub fn statements(&self) -> usize {
        let roles = self.lines.iter();
        roles.filter(|(_, role)| *role == Role::Code).count()
    }
}

const PRELUDE: &[&str] = &[
    "#include <assert.h>",
    "#include <setjmp.h>",
    "#include <stdio.h>",
    "#include <stdlib.h>",
    "static int g0, g1, g2, left;",
    "static int array[4];",
    "static jmp_buf place;",
];

const GLOBALS: &[&str] = &["g0", "g1", "g2", "array[g0 & 3]", "array[1]"];

struct Generator {
    choices: Choices,
    program: Lines,
    variables: Vec<String>,
    indent: usize,
    functions: Vec<&'static str>,
    /// Labels that a `goto` before has named.
    pending: Vec<String>,
    labels: usize,
    loops: usize,
    /// Numbers of loops whose counters the function declares.
    declared: usize,
    in_loop: usize,
    in_switch: usize,
    /// The function gives a value.
    gives: bool,
    /// `place` is set by a call that is still active.
    is_set: bool,
}

/// The program with this seed.
pub fn program(seed: u64) -> Lines {
    let mut generator = Generator {
        choices: Choices::of(seed),
        program: Lines::default(),
        variables: Vec::new(),
        indent: 0,
        functions: Vec::new(),
        pending: Vec::new(),
        labels: 0,
        loops: 0,
        declared: 0,
        in_loop: 0,
        in_switch: 0,
        gives: false,
        is_set: seed.is_multiple_of(4),
    };
    for line in PRELUDE {
        generator.line(line, Role::Always);
    }
    for (name, gives) in [("f0", true), ("f1", false), ("f2", true)] {
        generator.function(name, gives);
    }
    generator.main();
    generator.program
}

impl Generator {
    fn line(&mut self, text: &str, role: Role) -> usize {
        let text = format!("{:1$}{text}", "", 2 * self.indent);
        self.program.lines.push((text, role));
        self.program.lines.len()
    }

    fn code(&mut self, text: &str) -> usize {
        self.line(text, Role::Code)
    }

    fn open(&mut self) {
        self.line("{", Role::Always);
        self.indent += 1;
    }

    fn close(&mut self) {
        self.indent -= 1;
        self.line("}", Role::Always);
    }

    /// The counters of eight loops, with values, and three variables.
    fn locals(&mut self) {
        self.declared = self.loops;
        let names: Vec<String> = (0..8).map(|n| format!("n{}", self.loops + n)).collect();
        self.line(&format!("int {}, x, y, z;", names.join(", ")), Role::Always);
        for name in names {
            self.code(&format!("{name} = 0;"));
        }
    }

    /// A counter, and how it is given its first value; none when all are used.
    fn counter(&mut self) -> Option<String> {
        if self.loops == self.declared + 8 {
            return None;
        }
        self.loops += 1;
        Some(format!("n{}", self.loops - 1))
    }

    fn function(&mut self, name: &'static str, gives: bool) {
        let ty = if gives { "int" } else { "void" };
        self.line(&format!("static {ty} {name}(int p, int q)"), Role::Always);
        self.open();
        self.gives = gives;
        self.variables = ["p", "q", "x", "y", "z"].map(str::to_owned).to_vec();
        self.body(4);
        if gives {
            let value = self.expression(1);
            self.code(&format!("return {value};"));
        }
        self.close();
        self.functions.push(name);
    }

    fn main(&mut self) {
        self.line("int main(int argc, char **argv)", Role::Always);
        self.open();
        self.gives = true;
        self.variables = ["a", "b", "x", "y", "z"].map(str::to_owned).to_vec();
        self.line("int a, b;", Role::Always);
        // What ends the program early has printed before.
        self.line("setbuf(stdout, 0);", Role::Always);
        self.code("a = atoi(argv[1]);");
        self.code("b = atoi(argv[2]);");
        self.code("left = 3;");
        self.body(7);
        for value in ["g0", "x", "array[2]"] {
            self.print(value);
        }
        self.code("return 0;");
        self.close();
    }

    fn body(&mut self, statements: usize) {
        self.locals();
        for name in ["x", "y", "z"] {
            let value = self.choices.below(9);
            self.code(&format!("{name} = {value};"));
        }
        if self.is_set && self.functions.len() == 3 {
            let head = self.code("if (setjmp(place) == 0)");
            self.block(2);
            self.line("else", Role::With(head));
            self.block(1);
        }
        for _ in 0..statements {
            if !self.statement(3) {
                break;
            }
        }
        for label in std::mem::take(&mut self.pending) {
            self.line(&format!("{label}: ;"), Role::Always);
        }
        if self.is_set && self.choices.below(2) == 0 {
            self.print("y");
        }
    }

    fn print(&mut self, value: &str) {
        let tag = format!("@{} ", self.program.prints.len());
        let number = self.code(&format!("printf(\"{tag}%d\\n\", {value});"));
        self.program.prints.push((number as u32, tag));
    }

    fn block(&mut self, depth: usize) {
        self.open();
        for _ in 0..1 + self.choices.below(3) {
            if !self.statement(depth) {
                break;
            }
        }
        self.close();
    }

    /// A statement; false if control does not go on behind it.
    fn statement(&mut self, depth: usize) -> bool {
        if !self.pending.is_empty() && self.choices.below(4) == 0 {
            let label = self.pending.swap_remove(0);
            self.line(&format!("{label}: ;"), Role::Always);
        }
        match self.choices.below(if depth == 0 { 8 } else { 17 }) {
            0..=2 => self.assign(),
            3 => {
                let value = self.expression(1);
                if self.choices.below(3) == 0 {
                    self.print(&value);
                } else {
                    self.assign();
                }
            }
            4 => match self.functions.len() {
                0 => self.assign(),
                count => {
                    let name = self.functions[self.choices.below(count)];
                    let (p, q) = (self.expression(1), self.expression(1));
                    let target = self.target();
                    self.code(&match name {
                        "f1" => format!("{name}({p}, {q});"),
                        _ => format!("{target} = {name}({p}, {q});"),
                    });
                }
            },
            5 | 6 => self.conditional_jump(),
            7 => return self.choices.below(3) > 0 || !self.jump(),
            8..=10 => {
                let condition = self.expression(2);
                let head = self.code(&format!("if ({condition})"));
                self.block(depth - 1);
                if self.choices.below(2) == 0 {
                    self.line("else", Role::With(head));
                    self.block(depth - 1);
                }
            }
            11..=14 => self.a_loop(depth),
            _ => self.switch(depth),
        }
        true
    }

    fn assign(&mut self) {
        let (target, value) = (self.target(), self.expression(2));
        self.code(&format!("{target} = {value};"));
    }

    fn a_loop(&mut self, depth: usize) {
        let Some(counter) = self.counter() else {
            return self.assign();
        };
        let most = 1 + self.choices.below(5);
        let switches = std::mem::take(&mut self.in_switch);
        self.in_loop += 1;
        match self.choices.below(6) {
            0 | 1 => {
                self.code(&format!(
                    "for ({counter} = 0; {counter} < {most}; {counter}++)"
                ));
                self.block(depth - 1);
            }
            2 => {
                self.code(&format!("{counter} = 0;"));
                let condition = self.expression(1);
                self.code(&format!("while ({counter}++ < {most} && {condition})"));
                self.block(depth - 1);
            }
            3 => {
                self.code(&format!("{counter} = 0;"));
                // The number of the line behind the body is not known before.
                let head = self.line("do", Role::Always);
                self.block(depth - 1);
                let condition = self.expression(1);
                let text = format!("while ({counter}++ < {most} && {condition});");
                let end = self.line(&text, Role::With(head));
                self.program.lines[head - 1].1 = Role::With(end);
            }
            form => {
                let head = if form == 4 { "for (;;)" } else { "while (1)" };
                self.code(&format!("{counter} = 0;"));
                self.code(head);
                self.open();
                self.code(&format!("if ({counter}++ >= {most})"));
                self.line("{", Role::Always);
                self.code("break;");
                self.line("}", Role::Always);
                for _ in 0..1 + self.choices.below(3) {
                    if !self.statement(depth - 1) {
                        break;
                    }
                }
                self.close();
            }
        }
        self.in_loop -= 1;
        self.in_switch = switches;
    }

    fn switch(&mut self, depth: usize) {
        let value = self.expression(1);
        let head = self.code(&format!("switch ({value} & 3)"));
        self.open();
        self.in_switch += 1;
        for label in ["case 0: ;", "case 1: ;", "default: ;", "case 3: ;"] {
            if self.choices.below(4) == 0 {
                continue;
            }
            self.line(label, Role::With(head));
            if self.statement(depth - 1) && self.choices.below(3) > 0 {
                self.code("break;");
            }
        }
        self.in_switch -= 1;
        self.close();
    }

    fn conditional_jump(&mut self) {
        let condition = self.expression(2);
        self.code(&format!("if ({condition})"));
        self.indent += 1;
        self.line("{", Role::Always);
        self.jump();
        self.line("}", Role::Always);
        self.indent -= 1;
    }

    /// A jump; false if nothing was fit.
    fn jump(&mut self) -> bool {
        match self.choices.below(10) {
            0 | 1 if self.in_loop + self.in_switch > 0 => {
                self.code("break;");
            }
            2 | 3 if self.in_loop > 0 => {
                self.code("continue;");
            }
            4 => {
                let value = self.expression(1);
                self.code(&match self.gives {
                    true => format!("return {value};"),
                    false => "return;".to_owned(),
                });
            }
            5 if self.choices.below(3) == 0 => {
                let text = ["exit(3);", "_Exit(4);", "abort();", "assert(g0 == 0);"];
                let text = self.choices.one_of(&text);
                self.code(text);
                return !text.starts_with("assert");
            }
            6 if self.is_set && !self.functions.is_empty() && self.functions.len() < 3 => {
                self.code("if (left-- > 0)");
                self.line("{", Role::Always);
                self.code("longjmp(place, 1);");
                self.line("}", Role::Always);
                return false;
            }
            _ => {
                self.labels += 1;
                let label = format!("L{}", self.labels);
                self.code(&format!("goto {label};"));
                self.pending.push(label);
            }
        }
        true
    }

    fn target(&mut self) -> String {
        let index = self.choices.below(self.variables.len() + GLOBALS.len());
        match self.variables.get(index) {
            Some(name) => name.clone(),
            None => GLOBALS[index - self.variables.len()].to_owned(),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.choices.below(3) {
                0 => self.choices.below(12).to_string(),
                _ => self.target(),
            };
        }
        let (a, b) = (self.expression(depth - 1), self.expression(depth - 1));
        match self.choices.below(8) {
            0 => format!("({a} / (({b} & 7) + 1))"),
            1 | 2 => format!("({a} + {b})"),
            3 => format!("({a} - {b})"),
            4 => format!("({a} & {b})"),
            5 => format!("({a} < {b})"),
            6 => format!("({a} == {b})"),
            _ => format!("({a} ^ {b})"),
        }
    }
}

#[test]
fn what_is_left_out_leaves_an_empty_line() {
    let lines = program(3);
    let text = lines.text();
    assert_eq!(text.lines().count(), lines.lines.len());
    let bare = lines.without(&|_| false);
    assert_eq!(bare.lines().count(), lines.lines.len());
    assert!(lines.statements() > 20);
    assert!(!bare.contains("goto") && !bare.contains("else"));
}

#[test]
fn the_programs_have_jumps_of_all_kinds() {
    let all: String = (0..60).map(|seed| program(seed).text()).collect();
    for word in [
        "break;",
        "continue;",
        "goto ",
        "return;",
        "return ",
        "exit(",
        "_Exit(",
        "abort(",
        "assert(",
        "longjmp(",
        "for (;;)",
        "while (1)",
        "do\n",
        "switch ",
        "default:",
    ] {
        assert!(all.contains(word), "{word}");
    }
}
