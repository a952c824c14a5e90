//! Random C programs without undefined behaviour, the same for the same seed.
//!
//! Signed operators get operands that are small enough, or are done in unsigned types; divisors
//! are made odd, counts of shifts masked, indices taken modulo the length. Functions that
//! expressions call change nothing that others see, so no order of evaluation shows.

use std::fmt::Write;

/// A deterministic source of choices (xorshift64*).
struct Choices(u64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one_of<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

const TYPES: &[&str] = &[
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "_Bool",
];

const PRELUDE: &str = r#"#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned long sum = 14695981039346656037UL;
static void mix(unsigned long v) { sum = (sum ^ v) * 1099511628211UL; }
struct S { int a; unsigned b : 5; int c : 7; unsigned char d[3]; long e; };
union U { unsigned u; unsigned char c[4]; short s; };
static struct S make(int x) {
  struct S s = { .a = x, .b = x & 31, .c = x & 63, .d = { 1, 2, x & 127 } };
  s.e = (long)x * 3;
  return s;
}
static unsigned long fold(struct S s) {
  s.b++; s.c ^= 1;
  return (unsigned long)s.a + s.b * 7UL + (unsigned long)s.c + s.d[0] + s.d[2] + (unsigned long)s.e;
}
static int total(int n, ...) {
  va_list l; va_start(l, n);
  unsigned t = 0;
  while (n-- > 0) t += (unsigned)va_arg(l, int);
  double d = va_arg(l, double);
  va_end(l);
  return (int)(t + (unsigned)(d * 2));
}
static int order(const void *x, const void *y) {
  int a = *(const int *)x, b = *(const int *)y;
  return (a > b) - (a < b);
}
typedef unsigned long (*fn)(unsigned long, long);
"#;

/// Returns the text of the random program with this seed.
pub fn program(seed: u64) -> String {
    let mut generator = Generator {
        choices: Choices(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        out: String::from(PRELUDE),
        variables: Vec::new(),
        indent: 0,
        functions: 0,
        loops: 0,
        pure: false,
    };
    generator.program();
    generator.out
}

struct Generator {
    choices: Choices,
    out: String,
    /// Names of integer lvalues in scope.
    variables: Vec<String>,
    indent: usize,
    functions: usize,
    loops: usize,
    /// Only locals change.
    pure: bool,
}

impl Generator {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", 2 * self.indent);
    }

    fn program(&mut self) {
        for i in 0..4 {
            let ty = self.choices.one_of(TYPES);
            let value = self.choices.next() % 100;
            self.line(&format!("static {ty} g{i} = {value};"));
            self.variables.push(format!("g{i}"));
        }
        self.line("static int array[8] = { [2] = 5, -7, 11 };");
        self.line("static double real = 1.25;");
        self.line("static struct S record = { 3, 2, -1, \"ab\", 9 };");
        self.line("static union U both = { .u = 0x01020304 };");
        for index in 0..3 {
            self.function(index);
        }
        self.line("static fn table[] = { f0, f1, f2 };");
        self.line("int main(void) {");
        self.indent = 1;
        let globals = self.variables.len();
        self.variables
            .extend(["record.a", "record.b", "both.s"].map(str::to_owned));
        self.block(3, 6);
        self.line("for (unsigned i = 0; i < 6; i++) mix(table[i % 3](i * 1000, (long)i - 3));");
        self.line("qsort(array, 8, sizeof array[0], order);");
        self.line("for (int i = 0; i < 8; i++) mix((unsigned long)array[i]);");
        self.line("mix(fold(record)); mix(fold(make(total(3, 4, 5, array[0] & 255, 2.5))));");
        self.line("for (unsigned i = 0; i < sizeof both; i++) mix(both.c[i]);");
        self.line("char text[64];");
        self.line("int n = snprintf(text, sizeof text, \"%d|%5u|%-6lx|%.3f|%s\", array[3], (unsigned)g0, (unsigned long)g1, real, \"end\");");
        self.line("mix((unsigned long)n); mix(strlen(text)); puts(text);");
        for name in ["g0", "g1", "g2", "g3"] {
            self.line(&format!("mix((unsigned long){name});"));
        }
        self.line("printf(\"%lx %.6g\\n\", sum, real);");
        self.line("return (int)(sum & 63);");
        self.indent = 0;
        self.line("}");
        self.variables.truncate(globals);
    }

    fn function(&mut self, index: usize) {
        self.line(&format!(
            "static unsigned long f{index}(unsigned long p, long q) {{"
        ));
        self.indent = 1;
        self.pure = true;
        let known = self.variables.len();
        self.variables.push("p".to_owned());
        self.variables.push("q".to_owned());
        self.block(2, 4);
        let value = self.expression(3);
        self.line(&format!("return (unsigned long)({value});"));
        self.variables.truncate(known);
        self.pure = false;
        self.indent = 0;
        self.line("}");
        self.functions = index + 1;
    }

    fn block(&mut self, depth: usize, statements: usize) {
        let known = self.variables.len();
        for _ in 0..2 {
            let ty = self.choices.one_of(TYPES);
            let name = format!("v{}", self.variables.len());
            let value = self.expression(2);
            self.line(&format!("{ty} {name} = ({ty})({value});"));
            self.variables.push(name);
        }
        for _ in 0..statements {
            self.statement(depth);
        }
        self.variables.truncate(known);
    }

    fn nested(&mut self, head: &str, depth: usize) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        let count = 1 + self.choices.below(3);
        self.block(depth - 1, count);
        self.indent -= 1;
        self.line("}");
    }

    fn target(&mut self) -> String {
        if self.pure {
            // Behind the four globals.
            let index = 4 + self.choices.below(self.variables.len() - 4);
            return self.variables[index].clone();
        }
        let index = self.choices.below(self.variables.len() + 2);
        match self.variables.get(index) {
            Some(name) => name.clone(),
            None => {
                let index = self.expression(1);
                format!("array[(unsigned long)({index}) % 8]")
            }
        }
    }

    fn statement(&mut self, depth: usize) {
        let simple = depth == 0;
        let mut choice = self.choices.below(if simple { 5 } else { 11 });
        if self.pure && matches!(choice, 3 | 4 | 9 | 10) {
            choice = 0;
        }
        match choice {
            0 | 1 => {
                let target = self.target();
                let value = self.expression(3);
                self.line(&format!("{target} = ({value});"));
            }
            2 => {
                // Wraps in every type: the operand is small, and signed targets are masked.
                let target = self.target();
                let value = self.expression(2);
                let op = self.choices.one_of(&["^=", "|=", "&="]);
                self.line(&format!("{target} {op} (int)({value}) & 0x3fff;"));
            }
            3 => {
                let value = self.expression(3);
                self.line(&format!("mix((unsigned long)({value}));"));
            }
            4 => {
                let value = self.expression(2);
                let op = self.choices.one_of(&["+", "-", "*"]);
                self.line(&format!(
                    "real = real / 2 {op} (double)((int)({value}) & 1023) / 8;"
                ));
            }
            5 => {
                let condition = self.expression(2);
                self.nested(&format!("if ({condition})"), depth);
                if self.choices.below(2) == 0 {
                    self.nested("else", depth);
                }
            }
            6 => {
                self.loops += 1;
                let counter = format!("i{}", self.loops);
                let most = 1 + self.choices.below(6);
                self.nested(
                    &format!("for (int {counter} = 0; {counter} < {most}; {counter}++)"),
                    depth,
                );
            }
            7 => {
                self.loops += 1;
                let counter = format!("w{}", self.loops);
                let condition = self.expression(2);
                self.line(&format!("{{ int {counter} = 0;"));
                self.nested("do", depth);
                self.line(&format!("while ({counter}++ < 3 && ({condition})); }}"));
            }
            8 => {
                let value = self.expression(2);
                self.line(&format!("switch ((int)({value}) & 7) {{"));
                for label in ["case 0:", "case 1: case 2:", "case 3 ... 4:", "default:"] {
                    self.line(label);
                    self.indent += 1;
                    self.statement(0);
                    if self.choices.below(3) > 0 {
                        self.line("break;");
                    }
                    self.indent -= 1;
                }
                self.line("}");
            }
            9 => {
                let (value, index) = (self.expression(2), self.choices.below(8));
                self.line(&format!(
                    "{{ int *at = &array[{index}]; *at = (int)({value}) & 0xffff; mix((unsigned long)(at - array)); }}"
                ));
            }
            _ => {
                let value = self.expression(2);
                self.line(&format!(
                    "{{ struct S copy = make((int)({value}) & 0xffff); record = copy; copy.e = 1; mix(fold(copy)); }}"
                ));
            }
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 {
            return match self.choices.below(4) {
                0 => format!("{}", self.choices.next() % 1000),
                1 => format!("{}u", self.choices.next() % 70000),
                _ => {
                    let index = self.choices.below(self.variables.len());
                    self.variables[index].clone()
                }
            };
        }
        let a = self.expression(depth - 1);
        let b = self.expression(depth - 1);
        match self.choices.below(15) {
            0 => {
                let op = self.choices.one_of(&["+", "-", "*"]);
                format!("((unsigned long)({a}) {op} (unsigned long)({b}))")
            }
            1 => {
                let op = self.choices.one_of(&["+", "-", "*"]);
                format!("((unsigned)({a}) {op} (unsigned)({b}))")
            }
            2 => {
                let op = self.choices.one_of(&["+", "-", "*"]);
                format!("(((int)({a}) & 0x3fff) {op} ((int)({b}) & 0x3fff))")
            }
            3 => {
                let op = self.choices.one_of(&["/", "%"]);
                format!("((int)({a}) {op} (((int)({b}) & 0xfff) | 1))")
            }
            4 => {
                let op = self.choices.one_of(&["/", "%"]);
                format!("((unsigned long)({a}) {op} ((unsigned long)({b}) | 1))")
            }
            5 => {
                let op = self.choices.one_of(&["&", "|", "^"]);
                format!("(({a}) {op} ({b}))")
            }
            6 => format!("((unsigned)({a}) << ((unsigned)({b}) & 31))"),
            7 => format!("((long)({a}) >> ((unsigned)({b}) & 63))"),
            8 => {
                let op = self.choices.one_of(&["<", "<=", ">", ">=", "==", "!="]);
                format!("(({a}) {op} ({b}))")
            }
            9 => {
                let op = self.choices.one_of(&["&&", "||"]);
                format!("(({a}) {op} ({b}))")
            }
            10 => {
                let c = self.expression(depth - 1);
                format!("(({a}) ? ({b}) : ({c}))")
            }
            11 => {
                let ty = self.choices.one_of(TYPES);
                format!("(({ty})({a}))")
            }
            12 => {
                let op = self.choices.one_of(&["~", "!", "-(unsigned)", "+"]);
                format!("({op}({a}))")
            }
            13 if self.functions > 0 => {
                let index = self.choices.below(self.functions);
                format!("f{index}((unsigned long)({a}) & 7, (long)({b}) & 7)")
            }
            _ => format!("(int)(real > 1e6 ? 1 : ({a}) & 15)"),
        }
    }
}
