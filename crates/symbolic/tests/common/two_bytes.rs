//! Functions of two bytes, encoded and executed.

use patchwright_interpret::{Closed, Ending, Limits, Machine};
use patchwright_ir::{Module, Type};
use patchwright_solve::{Assignment, Terms};
use patchwright_symbolic::{Check, Encoding, Entry, FailureKind, Options, ParameterShape, Shape};

/// Calls `f` with two bytes of standard input, and prints what it returns.
pub const HARNESS: &str = "int f(signed char a, unsigned char b); int printf(const char *, ...);
int getchar(void); int main(void) { int a = getchar(), b = getchar();
printf(\"%d\", f((signed char)a, (unsigned char)b)); return 0; }";

/// What a call of `f` does.
#[derive(Debug, PartialEq)]
pub enum Happens {
    Returns(i32),
    Assertion(u32),
    Undefined(&'static str, u32),
}

/// What the interpreter does.
pub fn interpreted(modules: &[Module], a: u8, b: u8) -> Happens {
    let mut world = Closed::with_input(vec![a, b]);
    let mut machine =
        Machine::link(modules.to_vec(), Limits::default(), &mut world).expect("links");
    let outcome = machine.run(&[b"program".to_vec()], &[]);
    drop(machine);
    let line = outcome.trace.first().map_or(0, |place| place.line);
    match outcome.ending {
        Ending::Exit(0) => {
            let text = String::from_utf8_lossy(&world.output).into_owned();
            Happens::Returns(text.parse().expect("a number"))
        }
        Ending::Abort => Happens::Assertion(line),
        Ending::Undefined { kind, .. } => Happens::Undefined(class(kind), line),
        other => panic!("{other:?}"),
    }
}

/// What the encoding says; `None` where it does not know.
pub fn said(terms: &Terms, encoding: &Encoding, a: u8, b: u8) -> Option<Happens> {
    let assignment = assigned(terms, encoding, a, b);
    let mut conditions: Vec<_> = encoding.failures.iter().map(|f| f.condition).collect();
    conditions.extend(encoding.unknown.iter().map(|u| u.condition));
    conditions.extend(encoding.unwinding.iter().map(|u| u.condition));
    let (_, result) = encoding.outcome.result?;
    conditions.push(result);
    let values = terms.evaluate_all(&conditions, &assignment);
    let failures = encoding.failures.len();
    if let Some(first) = values[..failures].iter().position(|value| value.truth()) {
        let failure = &encoding.failures[first];
        let line = failure.place.line;
        return Some(match failure.kind {
            FailureKind::Undefined(kind) => Happens::Undefined(class(kind), line),
            _ => Happens::Assertion(line),
        });
    }
    if values[failures..values.len() - 1]
        .iter()
        .any(|value| value.truth())
    {
        return None;
    }
    Some(Happens::Returns(values.last()?.bits() as u32 as i32))
}

/// `int f(signed char a, unsigned char b)`.
pub fn entry() -> Entry {
    let scalar = |name: &str, ty| ParameterShape {
        name: name.to_owned(),
        shape: Shape::Scalar(ty),
        ways: Vec::new(),
        before: Vec::new(),
        outside: Vec::new(),
    };
    Entry::Function {
        name: "f".to_owned(),
        parameters: vec![scalar("a", Type::I8), scalar("b", Type::U8)],
    }
}

/// All checks but that of leaks.
pub fn options() -> Options {
    Options {
        checks: Check::ALL[..7].iter().copied().collect(),
        bound: 10,
        lazy: false,
        ..Options::default()
    }
}

/// The two bytes as values of the inputs.
pub fn assigned(terms: &Terms, encoding: &Encoding, a: u8, b: u8) -> Assignment {
    let mut assignment = Assignment::new();
    for input in &encoding.inputs {
        match input.name.as_str() {
            "a" => assignment.set_bits(terms, input.term, u128::from(a)),
            "b" => assignment.set_bits(terms, input.term, u128::from(b)),
            _ => {}
        }
    }
    assignment
}

/// How far a pointer may be moved before an access shows it depends on where objects lie.
fn class(kind: patchwright_ir::Undefined) -> &'static str {
    match kind {
        patchwright_ir::Undefined::BadPointerArithmetic => "out-of-bounds",
        kind => kind.code(),
    }
}
