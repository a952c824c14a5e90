//! Makes random C programs with unusual forms of expressions and types, without undefined behaviour. The same seed gives the same program.
//!
//! - members of results, conditionals, assignments, literals and statement expressions;
//! - records as parameters and results, with bit-fields, arrays, unions and records inside;
//! - tags and typedefs that hide others;
//! - old-style definitions, arrays of variable length, computed jumps.
//!
//! Bit-fields are no wider than `int`: beyond it gcc and clang differ.
//!
//! Every member is set before it is read, values stay small, and functions that expressions call change nothing that others see.

use std::fmt::Write;

use crate::random::Random;

#[derive(Clone)]
enum Kind {
    /// An integer type.
    Integer(&'static str),
    /// A bit-field of a type and a width.
    Bits(&'static str, u32),
    Double,
    Array(Box<Kind>, usize),
    /// A record, by its number.
    Record(usize),
}

struct Record {
    /// How its type is written.
    spelled: String,
    definition: String,
    fields: Vec<(String, Kind)>,
}

const INTEGERS: [&str; 9] = [
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long long",
    "_Bool",
];

const PRELUDE: &str = r"#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
static unsigned long sum = 14695981039346656037UL;
static unsigned long mix(unsigned long v) { sum = (sum ^ v) * 1099511628211UL; return v; }
";

/// Returns the text of the random program with this seed.
pub fn program(seed: u64) -> String {
    let mut generator = Generator {
        random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        out: String::from(PRELUDE),
        records: Vec::new(),
        counter: 0,
        callable: 0,
    };
    generator.program();
    generator.out
}

struct Generator {
    random: Random,
    out: String,
    records: Vec<Record>,
    /// For names.
    counter: usize,
    /// Records whose functions exist.
    callable: usize,
}

impl Generator {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{text}");
    }

    fn coin(&mut self) -> bool {
        self.random.below(2) == 0
    }

    fn name(&mut self) -> String {
        self.counter += 1;
        format!("n{}", self.counter)
    }

    fn program(&mut self) {
        let count = 3 + self.random.below(3);
        for number in 0..count {
            let record = self.record(number);
            let definition = record.definition.clone();
            self.line(&definition);
            self.records.push(record);
        }
        for number in 0..count {
            self.functions_of(number);
            self.callable = number + 1;
        }
        self.old_style();
        self.line("static void work(unsigned k) {");
        for number in 0..count {
            let spelled = self.records[number].spelled.clone();
            self.line(&format!(
                "  {spelled} v{number} = make{number}(k), a{number}[3] = {{ make{number}(1), make{number}(2) }}, *p{number} = &a{number}[1];"
            ));
            self.line(&format!("  a{number}[2] = v{number};"));
        }
        for _ in 0..8 + self.random.below(6) {
            self.statement(2);
        }
        for number in 0..count {
            self.line(&format!(
                "  mix(fold{number}(v{number})); mix(fold{number}(*p{number})); mix(fold{number}(a{number}[2])); mix(fold{number}(g{number}));"
            ));
        }
        self.line("}");
        self.line("int main(void) {");
        for number in 0..count {
            self.line(&format!("  g{number} = make{number}({number});"));
        }
        self.line("  for (unsigned k = 0; k < 4; k++) work(k);");
        self.line("  printf(\"%lx\\n\", sum);");
        self.line("  return (int)(sum & 63);");
        self.line("}");
    }

    fn kind(&mut self, number: usize, is_union: bool) -> Kind {
        match self.random.below(10) {
            0..=3 => {
                // Not every byte that another member of a union leaves is a `_Bool`, the last one.
                let types = INTEGERS.len() - usize::from(is_union);
                Kind::Integer(INTEGERS[self.random.below(types)])
            }
            4 | 5 => {
                let base = INTEGERS[self.random.below(INTEGERS.len())];
                let most = match base {
                    "_Bool" => 1,
                    "signed char" | "unsigned char" => 8,
                    "short" | "unsigned short" => 16,
                    "int" | "unsigned" => 32,
                    _ => 32,
                };
                let width = 1 + self.random.below(most) as u32;
                Kind::Bits(base, width)
            }
            6 => Kind::Double,
            7 | 8 if number > 0 && !is_union => Kind::Record(self.random.below(number)),
            _ => {
                let of = match number > 0 && !is_union && self.coin() {
                    true => Kind::Record(self.random.below(number)),
                    false => Kind::Integer(INTEGERS[self.random.below(8)]),
                };
                Kind::Array(Box::new(of), 1 + self.random.below(4))
            }
        }
    }

    fn record(&mut self, number: usize) -> Record {
        let is_union = self.random.below(5) == 0;
        let mut fields = Vec::new();
        let mut body = String::new();
        for index in 0..2 + self.random.below(4) {
            let name = format!("m{index}");
            let kind = self.kind(number, is_union);
            let _ = write!(body, " {};", self.declarator(&kind, &name));
            // A width of zero ends a unit.
            if matches!(kind, Kind::Bits(..)) && !is_union && self.random.below(4) == 0 {
                body.push_str(" unsigned : 0;");
            }
            fields.push((name, kind));
        }
        if !is_union && self.random.below(4) == 0 {
            let names = ["x0", "x1"].map(str::to_owned);
            let _ = write!(
                body,
                " struct {{ int {}; unsigned char {}; }};",
                names[0], names[1]
            );
            for (name, ty) in names.into_iter().zip(["int", "unsigned char"]) {
                fields.push((name, Kind::Integer(ty)));
            }
        }
        let word = if is_union { "union" } else { "struct" };
        let attribute = match self.random.below(6) {
            0 => " __attribute__((packed))",
            1 => " __attribute__((aligned(16)))",
            _ => "",
        };
        let (spelled, definition) = match self.random.below(3) {
            0 => (
                format!("T{number}"),
                format!("typedef {word} {{{body} }}{attribute} T{number};"),
            ),
            1 => (
                format!("T{number}"),
                format!(
                    "{word} R{number} {{{body} }}{attribute};\ntypedef {word} R{number} T{number};"
                ),
            ),
            _ => (
                format!("{word} R{number}"),
                format!("{word} R{number} {{{body} }}{attribute};"),
            ),
        };
        Record {
            spelled,
            definition,
            fields,
        }
    }

    fn declarator(&self, kind: &Kind, name: &str) -> String {
        match kind {
            Kind::Integer(ty) => format!("{ty} {name}"),
            Kind::Bits(ty, width) => format!("{ty} {name} : {width}"),
            Kind::Double => format!("double {name}"),
            Kind::Array(of, length) => self.declarator(of, &format!("{name}[{length}]")),
            Kind::Record(number) => format!("{} {name}", self.records[*number].spelled),
        }
    }

    /// All paths from a record to what it consists of.
    fn leaves(&self, number: usize) -> Vec<(String, Kind)> {
        let mut found = Vec::new();
        for (name, kind) in &self.records[number].fields {
            self.leaves_of(&format!(".{name}"), kind, &mut found);
        }
        found
    }

    fn leaves_of(&self, path: &str, kind: &Kind, found: &mut Vec<(String, Kind)>) {
        match kind {
            Kind::Array(of, length) => {
                for index in 0..*length {
                    self.leaves_of(&format!("{path}[{index}]"), of, found);
                }
            }
            Kind::Record(number) => {
                for (rest, kind) in self.leaves(*number) {
                    found.push((format!("{path}{rest}"), kind));
                }
            }
            _ => found.push((path.to_owned(), kind.clone())),
        }
    }

    fn leaf(&mut self, number: usize) -> (String, Kind) {
        let leaves = self.leaves(number);
        leaves[self.random.below(leaves.len())].clone()
    }

    /// What makes, folds, passes and picks records of one type.
    fn functions_of(&mut self, number: usize) {
        let spelled = self.records[number].spelled.clone();
        let leaves = self.leaves(number);
        self.line(&format!("static {spelled} g{number};"));
        self.line(&format!("static {spelled} make{number}(unsigned x) {{"));
        self.line(&format!("  {spelled} v; memset(&v, 0, sizeof v);"));
        for (index, (path, kind)) in leaves.iter().enumerate() {
            let value = match kind {
                Kind::Double => format!("(x & 63) / 4.0 + {index}"),
                _ => format!("(x * {} + {index}) & 63", index + 3),
            };
            self.line(&format!("  v{path} = {value};"));
        }
        self.line("  return v;\n}");
        self.line(&format!(
            "static unsigned long fold{number}({spelled} v) {{ unsigned long t = sizeof v;"
        ));
        for (path, kind) in &leaves {
            let value = match kind {
                Kind::Double => format!("(unsigned long)(long)(v{path} * 8)"),
                _ => format!("(unsigned long)v{path}"),
            };
            self.line(&format!("  t = t * 31 + {value};"));
        }
        self.line("  return t;\n}");
        let (path, _) = self.leaf(number);
        self.line(&format!(
            "static {spelled} pass{number}({spelled} v, int by) {{ v{path} = (int)(v{path}) + by & 63; return v; }}"
        ));
        self.line(&format!(
            "static {spelled} pick{number}(int n, ...) {{ va_list l; va_start(l, n); {spelled} v = va_arg(l, {spelled}); while (n-- > 0) v = va_arg(l, {spelled}); va_end(l); return v; }}"
        ));
        self.line(&format!(
            "static {spelled} (*const table{number}[2])(unsigned) = {{ make{number}, make{number} }};"
        ));
    }

    fn old_style(&mut self) {
        self.line("static unsigned long old(c, s, f, u, l) signed char c; short s; float f; unsigned char u; long l; { return (unsigned long)(c * 3 + s * 5 + (int)(f * 2) + u * 7) + (unsigned long)l; }");
        self.line("int older();");
        self.line("static unsigned long calls(int x) { return (unsigned long)(older(x, 1.5f) + older('a', 2.0)); }");
        self.line("int older(s, d) unsigned short s; float d; { short *p = (short *)&s; *p += 1; return s + (int)(d * 4); }");
    }

    /// An object of a record.
    fn object(&mut self, number: usize) -> String {
        match self.random.below(5) {
            0 => format!("v{number}"),
            1 => format!("(*p{number})"),
            2 => format!("a{number}[{}]", self.random.below(3)),
            3 => format!("p{number}[{}]", self.random.below(2)),
            _ => format!("g{number}"),
        }
    }

    /// An expression whose value is a record.
    fn value(&mut self, number: usize, depth: usize) -> String {
        let spelled = self.records[number].spelled.clone();
        if depth == 0 {
            return match self.coin() {
                true => self.object(number),
                false => format!("make{number}({})", self.random.below(60)),
            };
        }
        let inner = self.value(number, depth - 1);
        match self.random.below(12) {
            0 => {
                let x = self.scalar(depth - 1);
                format!("make{number}((unsigned)({x}))")
            }
            1 => {
                let (c, other) = (self.scalar(depth - 1), self.value(number, depth - 1));
                format!("(({c}) ? {inner} : {other})")
            }
            2 => {
                let x = self.scalar(depth - 1);
                format!("((void)({x}), {inner})")
            }
            3 => {
                let name = self.name();
                format!("({{ {spelled} {name} = {inner}; {name}; }})")
            }
            4 => {
                let (path, _) = self.leaf(number);
                let (name, x) = (self.name(), self.scalar(depth - 1));
                format!(
                    "({{ {spelled} {name} = {inner}, *q{name} = &{name}; (*q{name}){path} = (int)({x}) & 31; *q{name}; }})"
                )
            }
            5 => {
                let name = self.name();
                format!("({{ {spelled} {name}; ({name} = {inner}); }})")
            }
            6 => {
                let by = self.random.below(9);
                format!("pass{number}({inner}, {by})")
            }
            7 => {
                let (other, n) = (self.value(number, depth - 1), self.random.below(2));
                format!("pick{number}({n}, {inner}, {other})")
            }
            8 => {
                let x = self.scalar(depth - 1);
                format!("table{number}[({x}) != 0]({})", self.random.below(60))
            }
            9 => format!(
                "*&({spelled}[]){{ {inner}, make{number}(7) }}[{}]",
                self.random.below(2)
            ),
            10 => {
                // A member of a larger record that is one of these.
                let holders: Vec<(usize, String)> = (0..self.callable)
                    .flat_map(|holder| {
                        let fields = &self.records[holder].fields;
                        let of = fields.iter().filter_map(move |(name, kind)| match kind {
                            Kind::Record(inner) if *inner == number => Some(format!(".{name}")),
                            Kind::Array(of, _) => match **of {
                                Kind::Record(inner) if inner == number => {
                                    Some(format!(".{name}[0]"))
                                }
                                _ => None,
                            },
                            _ => None,
                        });
                        of.map(move |path| (holder, path)).collect::<Vec<_>>()
                    })
                    .collect();
                match holders.is_empty() {
                    true => inner,
                    false => {
                        let (holder, path) = holders[self.random.below(holders.len())].clone();
                        let object = self.value(holder, depth - 1);
                        format!("({object}){path}")
                    }
                }
            }
            _ => format!("({inner})"),
        }
    }

    /// An expression whose value is a small integer.
    fn scalar(&mut self, depth: usize) -> String {
        let number = self.random.below(self.callable.max(1));
        if self.callable == 0 {
            return "k".to_owned();
        }
        let (path, kind) = self.leaf(number);
        let record = self.value(number, depth);
        let member = match self.random.below(4) {
            0 if !matches!(kind, Kind::Bits(..)) => {
                // Behind a pointer.
                let object = self.object(number);
                format!("(&{object})->{}", &path[1..])
            }
            _ => format!("({record}){path}"),
        };
        let member = match kind {
            Kind::Double => format!("(int)({member} * 2)"),
            _ => member,
        };
        match self.random.below(8) {
            0 => format!("((unsigned)({member}) * 3u + k)"),
            1 => format!("(({member}) > 7)"),
            2 => format!("((int)({member}) & 15)"),
            3 => format!("(!({member}) || ({member}) == 3)"),
            4 => format!("(k & 1 ? (long)({member}) : -1L)"),
            _ => member,
        }
    }

    fn statement(&mut self, depth: usize) {
        let number = self.random.below(self.records.len());
        match self.random.below(13) {
            0..=2 => {
                let x = self.scalar(2);
                self.line(&format!("  mix((unsigned long)({x}));"));
            }
            3 => {
                let (object, (path, _), x) =
                    (self.object(number), self.leaf(number), self.scalar(2));
                self.line(&format!("  {object}{path} = (int)({x}) & 63;"));
            }
            4 => {
                let (object, (path, kind)) = (self.object(number), self.leaf(number));
                let op = match kind {
                    Kind::Double => ["+= 0.5", "*= 2", "++", "-= k"][self.random.below(4)],
                    _ => ["&= 31", "|= 9", "^= 5", "+= 1", "++", "--", "*= 2", "/= 3"]
                        [self.random.below(8)],
                };
                // It may have grown.
                if !matches!(kind, Kind::Double) {
                    self.line(&format!("  {object}{path} &= 63;"));
                } else {
                    self.line(&format!("  {object}{path} = (int){object}{path} & 63;"));
                }
                self.line(&format!("  {object}{path} {op};"));
                self.line(&format!("  mix((unsigned long)(long){object}{path});"));
                if !matches!(kind, Kind::Double) {
                    self.line(&format!("  {object}{path} &= 63;"));
                }
            }
            5 | 6 => {
                let (object, value) = (self.object(number), self.value(number, 2));
                self.line(&format!("  {object} = {value};"));
            }
            7 => {
                let value = self.value(number, 2);
                self.line(&format!("  mix(fold{number}({value}));"));
            }
            8 if depth > 0 => {
                // Names that hide others; a union's tag cannot be hidden by a structure's where the union is meant.
                let tag = match self.records[number].spelled.starts_with("union") {
                    true => format!("Q{number}"),
                    false => format!("R{number}"),
                };
                let (name, x) = (self.name(), self.scalar(1));
                let length = 2 + self.random.below(6);
                self.line(&format!("  {{ struct {tag} {{ char q[{length}]; int z; }} {name} = {{ \"a\", (int)({x}) & 63 }}, *p{name} = &{name};"));
                self.line(&format!("    typedef struct {tag} T{number}; T{number} u{name} = *p{name}, w{name}[2] = {{ u{name} }};"));
                self.line(&format!("    w{name}[1] = ({{ T{number} t = u{name}; t.z++; t; }}); p{name} = w{name} + 1;"));
                self.line(&format!("    mix((unsigned long)(p{name}->z + w{name}[0].q[0]) + sizeof(T{number}) * 3 + sizeof *p{name} + sizeof v{number} + sizeof *p{number});"));
                let object = self.object(number);
                self.line(&format!("    mix(fold{number}({object}));"));
                self.line("  }");
            }
            9 if depth > 0 => {
                let (name, spelled, x) = (
                    self.name(),
                    self.records[number].spelled.clone(),
                    self.scalar(1),
                );
                let (path, _) = self.leaf(number);
                self.line(&format!("  {{ int {name} = ((int)({x}) & 3) + 1; {spelled} a{name}[{name}][2]; int m{name}[{name} + 1];"));
                self.line(&format!("    for (int i = 0; i < {name}; i++) {{ a{name}[i][0] = make{number}((unsigned)i); a{name}[i][1] = v{number}; m{name}[i] = i; }}"));
                self.line(&format!("    {spelled} (*at)[2] = a{name} + {name} - 1;"));
                self.line(&format!("    mix((unsigned long)(long)(*at)[0]{path} + sizeof a{name} + sizeof m{name} * 7 + (unsigned long)m{name}[{name} - 1] + (unsigned long)(at - a{name}));"));
                self.line(&format!("    mix(fold{number}(a{name}[0][1]));\n  }}"));
            }
            10 if depth > 0 => {
                let (name, x) = (self.name(), self.scalar(1));
                self.line(&format!("  {{ static const void *const t{name}[] = {{ &&l{name}, &&o{name}, &&e{name} }}; unsigned i = 0;"));
                self.line(&format!("    goto *t{name}[(unsigned)({x}) % 3];"));
                self.line(&format!("    l{name}: mix(++i); if (i > 3) goto e{name};"));
                self.line(&format!("    o{name}: mix(i += 2); goto *t{name}[i % 3];"));
                self.line(&format!("    e{name}: mix(i);\n  }}"));
            }
            11 if depth > 0 => {
                let x = self.scalar(1);
                self.line(&format!("  switch ((int)({x}) & 7) {{"));
                for label in ["case 0 ... 1:", "case 2: case 3:", "default:", "case 5:"] {
                    self.line(label);
                    self.statement(0);
                    if self.coin() {
                        self.line("  break;");
                    }
                }
                self.line("  }");
            }
            _ => {
                let (x, y) = (self.scalar(1), self.scalar(1));
                self.line(&format!("  mix(old((char)({x}), (short)({y}), (float)((int)({x}) & 7), ({y}) & 127, 1L << 33)); mix(calls((int)({y}) & 1023));"));
            }
        }
    }
}
