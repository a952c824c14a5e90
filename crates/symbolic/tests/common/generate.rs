//! Random C programs: a function of two small numbers, with what C has to go wrong with.

use std::fmt::Write;

/// Marsaglia's xorshift.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 |= u64::from(self.0 == 0);
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// A program with a function `int f(signed char a, unsigned char b)`.
pub fn program(seed: u64) -> String {
    let mut generator = Generator {
        random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1),
        out: String::new(),
        depth: 1,
        loops: 0,
        in_loop: false,
        assertions: true,
        function: "f",
    };
    generator.program();
    generator.out
}

struct Generator {
    random: Random,
    out: String,
    depth: usize,
    loops: u32,
    in_loop: bool,
    assertions: bool,
    function: &'static str,
}

impl Generator {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "    ".repeat(self.depth));
    }

    fn program(&mut self) {
        self.depth = 0;
        self.line("#include <assert.h>");
        self.line("struct s { int x; signed char c; unsigned u; short h[2]; };");
        self.line("static int g = 5;");
        self.line("static unsigned v;");
        self.line("static int t[4] = { 3, 1, -2 };");
        self.line("static struct s r = { 1, 2, 3, { 4, 5 } };");
        self.line("static struct s mk(int x, int y) { struct s n = { x, (signed char)y, (unsigned)x, { (short)x, (short)y } }; return n; }");
        self.line("static int h(int a, int b)");
        self.line("{");
        self.function = "h";
        self.assertions = false;
        self.body(3);
        self.line("}");
        self.function = "f";
        self.assertions = true;
        self.line("int f(signed char a, unsigned char b)");
        self.line("{");
        self.body(7);
        self.line("}");
    }

    fn body(&mut self, statements: u64) {
        self.depth = 1;
        self.line("int x = a, y = b;");
        self.line("int *p = &x;");
        self.line("struct s l = { 0 };");
        self.line("unsigned w = 7;");
        let count = 2 + self.random.below(statements);
        for _ in 0..count {
            self.statement(3);
        }
        let value = self.expression(2);
        self.line(&format!(
            "return (int)((unsigned)({value}) * 31u + (unsigned)x * 7u + (unsigned)y * 5u + (unsigned)g \
             + (unsigned)t[1] + w + l.u + (unsigned)r.x);"
        ));
        self.depth = 0;
    }

    fn block(&mut self, fuel: u32) {
        self.depth += 1;
        let count = 1 + self.random.below(3);
        for _ in 0..count {
            self.statement(fuel);
        }
        self.depth -= 1;
    }

    fn statement(&mut self, fuel: u32) {
        let kind = self.random.below(if fuel == 0 { 9 } else { 17 });
        match kind {
            0..=3 => {
                let target = self.place();
                let op = self
                    .random
                    .pick(&["=", "=", "=", "+=", "-=", "^=", "*=", "|=", ">>=", "/="]);
                let value = self.expression(2);
                self.line(&format!("{target} {op} {value};"));
            }
            4 => {
                let pointer = self
                    .random
                    .pick(&["&x", "&y", "&t[1]", "&g", "&r.x", "&l.x"]);
                self.line(&format!("p = {pointer};"));
            }
            5 => {
                let text = self
                    .random
                    .pick(&["x++;", "--y;", "g++;", "w--;", "(*p)++;", "v += w;"]);
                self.line(text);
            }
            6 if self.assertions => {
                let condition = self.condition();
                self.line(&format!("assert({condition});"));
            }
            7 if self.function == "f" => {
                let target = self.place();
                let (a, b) = (self.expression(1), self.expression(1));
                self.line(&format!("{target} = h({a}, {b});"));
            }
            8 => {
                let (a, b) = (self.expression(1), self.expression(1));
                let text = match self.random.below(3) {
                    0 => format!("l = mk({a}, {b});"),
                    1 => "r = l;".to_owned(),
                    _ => format!("x = mk({a}, {b}).h[1];"),
                };
                self.line(&text);
            }
            9..=11 => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) {{"));
                self.block(fuel - 1);
                if self.random.below(2) == 0 {
                    self.line("} else {");
                    self.block(fuel - 1);
                }
                self.line("}");
            }
            12 | 13 if self.loops < 3 => {
                self.loops += 1;
                let name = format!("i{}", self.loops);
                let limit = match self.random.below(3) {
                    0 => format!("{}", 1 + self.random.below(4)),
                    1 => "(b & 3)".to_owned(),
                    _ => "(x & 7)".to_owned(),
                };
                let before = std::mem::replace(&mut self.in_loop, true);
                self.line(&format!(
                    "for (int {name} = 0; {name} < {limit}; {name}++) {{"
                ));
                self.block(fuel - 1);
                self.line("}");
                self.in_loop = before;
                self.loops -= 1;
            }
            14 => {
                let value = self.expression(1);
                self.line(&format!("switch ({value}) {{"));
                for label in ["case 0:", "case 1 ... 3:", "case -1:", "default:"] {
                    self.line(label);
                    self.block(fuel - 1);
                    if self.random.below(3) > 0 {
                        self.depth += 1;
                        self.line("break;");
                        self.depth -= 1;
                    }
                }
                self.line("}");
            }
            15 if self.in_loop => {
                let condition = self.condition();
                let jump = self.random.pick(&["break;", "continue;"]);
                self.line(&format!("if ({condition}) {jump}"));
            }
            16 => {
                let condition = self.condition();
                let value = self.expression(1);
                self.line(&format!("if ({condition}) return {value};"));
            }
            _ => {
                let value = self.expression(1);
                self.line(&format!("y = {value};"));
            }
        }
    }

    fn place(&mut self) -> String {
        match self.random.below(12) {
            0..=2 => "x".to_owned(),
            3 | 4 => "y".to_owned(),
            5 => "g".to_owned(),
            6 => "*p".to_owned(),
            7 => self.random.pick(&["w", "v"]).to_owned(),
            8 => {
                let index = self.expression(1);
                format!("t[({index}) & 3]")
            }
            9 => {
                let index = self.random.pick(&["a & 7", "x & 3", "b & 3", "y"]);
                format!("t[{index}]")
            }
            10 => self
                .random
                .pick(&[
                    "l.x",
                    "r.c",
                    "l.u",
                    "r.h[1]",
                    "l.h[x & 1]",
                    "r.x",
                    "r.h[b & 3]",
                    "l.h[a]",
                ])
                .to_owned(),
            _ => "r.x".to_owned(),
        }
    }

    fn atom(&mut self) -> String {
        match self.random.below(10) {
            0..=2 => self.random.pick(&["a", "b"]).to_owned(),
            3 | 4 => self.random.pick(&["x", "y"]).to_owned(),
            5 | 6 => {
                let constants = [
                    "0", "1", "2", "3", "7", "-1", "10", "100", "255", "128", "-128", "65535",
                    "31u",
                ];
                self.random.pick(&constants).to_owned()
            }
            _ => self.place(),
        }
    }

    fn condition(&mut self) -> String {
        let (a, b) = (self.expression(1), self.expression(1));
        let op = self.random.pick(&["<", "<=", ">", ">=", "==", "!="]);
        match self.random.below(5) {
            0 => {
                let (c, d) = (self.atom(), self.atom());
                let and = self.random.pick(&["&&", "||"]);
                format!("({a} {op} {b}) {and} {c} < {d}")
            }
            1 => format!("!({a})"),
            _ => format!("{a} {op} {b}"),
        }
    }

    fn expression(&mut self, fuel: u32) -> String {
        if fuel == 0 {
            return self.atom();
        }
        match self.random.below(14) {
            0..=3 => self.atom(),
            4..=9 => {
                let (a, b) = (self.expression(fuel - 1), self.expression(fuel - 1));
                let op = self.random.pick(&[
                    "+", "-", "+", "-", "*", "&", "|", "^", "/", "%", "<<", ">>", "<", "==",
                ]);
                match op {
                    "<<" | ">>" if self.random.below(4) > 0 => format!("(({a}) {op} (({b}) & 7))"),
                    _ => format!("(({a}) {op} ({b}))"),
                }
            }
            10 => {
                let inner = self.expression(fuel - 1);
                let ty = self.random.pick(&[
                    "unsigned char",
                    "short",
                    "unsigned",
                    "long",
                    "signed char",
                    "_Bool",
                ]);
                let whole = if self.random.below(2) == 0 {
                    "(int)"
                } else {
                    ""
                };
                format!("({whole}({ty})({inner}))")
            }
            11 => {
                let inner = self.expression(fuel - 1);
                let op = self.random.pick(&["-", "~", "!"]);
                format!("({op}({inner}))")
            }
            12 => {
                let condition = self.condition();
                let (a, b) = (self.expression(fuel - 1), self.expression(fuel - 1));
                format!("(({condition}) ? ({a}) : ({b}))")
            }
            _ => self.condition_value(),
        }
    }

    fn condition_value(&mut self) -> String {
        let condition = self.condition();
        format!("({condition})")
    }
}
