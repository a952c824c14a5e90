//! Operators on terms mean what `semantics` and `ir::wide` say: for all values of eight bits, and for
//! random and special ones of all types.

use patchwright_ir::{Type, wide};
use patchwright_semantics::{BinaryOp, UnaryOp};
use patchwright_solve::{Assignment, Sort, Term, Terms};
use patchwright_symbolic::meaning::{self, Meaning};

const TYPES: [Type; 14] = [
    Type::Bool,
    Type::I8,
    Type::U8,
    Type::I16,
    Type::U16,
    Type::I32,
    Type::U32,
    Type::I64,
    Type::U64,
    Type::I128,
    Type::U128,
    Type::F32,
    Type::F64,
    Type::Ptr,
];

struct Random(patchwright_testkit::Random);

impl Random {
    fn new(seed: u64) -> Random {
        Random(patchwright_testkit::Random::new(seed))
    }

    fn next(&mut self) -> u64 {
        self.0.next()
    }

    /// A value of a type in canonical form; often a special one.
    fn value(&mut self, ty: Type) -> u128 {
        let wide = u128::from(self.next()) << 64 | u128::from(self.next());
        let bits = match self.next() % 6 {
            0 => wide & 0xf,
            1 => (wide & 0xf).wrapping_neg(),
            2 => 1 << (wide % 128),
            3 => (1u128 << (wide % 127)).wrapping_sub(1),
            _ => wide,
        };
        let floats = [
            0.0,
            -0.0,
            1.0,
            -1.5,
            2147483648.0,
            -129.0,
            255.9,
            1e300,
            f64::INFINITY,
        ];
        match ty {
            Type::F64 if self.next().is_multiple_of(2) => {
                u128::from(floats[self.next() as usize % floats.len()].to_bits())
            }
            Type::F32 if self.next().is_multiple_of(2) => {
                let value = floats[self.next() as usize % floats.len()] as f32;
                u128::from(value.to_bits())
            }
            _ => wide::canonical(ty, bits),
        }
    }
}

/// Any NaN is one value: sign and payload are the hardware's.
fn same(ty: Type, a: u128, b: u128) -> bool {
    let is_nan = |bits: u128| match ty {
        Type::F32 => f32::from_bits(bits as u32).is_nan(),
        Type::F64 => f64::from_bits(bits as u64).is_nan(),
        _ => false,
    };
    a == b || is_nan(a) && is_nan(b)
}

/// Operations as terms over two variables, evaluated.
struct Case {
    terms: Terms,
    a: (Type, Term),
    b: (Type, Term),
    meaning: Option<Meaning>,
    result: Type,
}

impl Case {
    fn new(
        left: Type,
        right: Type,
        result: Type,
        make: impl FnOnce(&mut Terms, Term, Term) -> Option<Meaning>,
    ) -> Case {
        let mut terms = Terms::new();
        let sort = |ty| Sort::Bits(meaning::width(ty).expect("a value"));
        let a = terms.variable("a", sort(left));
        let b = terms.variable("b", sort(right));
        let meaning = make(&mut terms, a, b);
        Case {
            terms,
            a: (left, a),
            b: (right, b),
            meaning,
            result,
        }
    }

    fn check(&mut self, what: &str, a: u128, b: u128, expected: Option<u128>) {
        let Some(meaning) = &self.meaning else {
            assert_eq!(expected, None, "{what}");
            return;
        };
        let mask = |ty: Type| match ty.size() {
            16 => u128::MAX,
            size => (1u128 << (size * 8)) - 1,
        };
        let mut assignment = Assignment::new();
        assignment.set_bits(&self.terms, self.a.1, a & mask(self.a.0));
        assignment.set_bits(&self.terms, self.b.1, b & mask(self.b.0));
        let undefined = meaning
            .undefined
            .iter()
            .any(|&(_, condition)| self.terms.evaluate(condition, &assignment).truth());
        let value = self.terms.evaluate(meaning.value, &assignment).bits();
        match expected {
            None => assert!(undefined, "{what} of {a:#x}, {b:#x} is undefined"),
            Some(expected) => {
                assert!(!undefined, "{what} of {a:#x}, {b:#x} is defined");
                let expected = expected & mask(self.result);
                assert!(
                    same(self.result, value, expected),
                    "{what} of {a:#x}, {b:#x}: {value:#x} for {expected:#x}"
                );
            }
        }
    }
}

fn result_of(op: BinaryOp, ty: Type) -> Type {
    match op.is_comparison() {
        true => Type::I32,
        false => ty,
    }
}

#[test]
fn binary_operators_mean_the_same() {
    let mut random = Random::new(1);
    for ty in TYPES {
        for op in BinaryOp::ALL.into_iter().filter(|op| !op.is_shift()) {
            let what = format!("{ty} {}", op.spelling());
            let mut case = Case::new(ty, ty, result_of(op, ty), |terms, a, b| {
                meaning::binary(terms, op, ty, a, b)
            });
            if case.meaning.is_none() || !op.is_comparison() && ty.size() < 4 {
                // C does not have it: integers are promoted first.
                continue;
            }
            for _ in 0..400 {
                let a = random.value(ty);
                let b = match random.next() % 4 {
                    0 => a,
                    _ => random.value(ty),
                };
                case.check(&what, a, b, wide::binary(op, ty, a, b));
            }
        }
    }
}

#[test]
fn comparisons_of_all_bytes_mean_the_same() {
    for ty in [Type::I8, Type::U8] {
        for op in BinaryOp::ALL.into_iter().filter(|op| op.is_comparison()) {
            let mut case = Case::new(ty, ty, Type::I32, |terms, a, b| {
                meaning::binary(terms, op, ty, a, b)
            });
            for a in 0..256 {
                for b in 0..256 {
                    let (a, b) = (wide::canonical(ty, a), wide::canonical(ty, b));
                    case.check(op.spelling(), a, b, wide::binary(op, ty, a, b));
                }
            }
        }
    }
}

#[test]
fn shifts_mean_the_same() {
    let mut random = Random::new(2);
    for left in TYPES
        .into_iter()
        .filter(|ty| ty.size() >= 4 && ty.is_integer())
    {
        for right in TYPES.into_iter().filter(|ty| ty.is_integer()) {
            for op in [BinaryOp::Shl, BinaryOp::Shr] {
                let what = format!("{left} {} {right}", op.spelling());
                let mut case = Case::new(left, right, left, |terms, a, b| {
                    meaning::shift(terms, op, (left, a), (right, b))
                });
                for _ in 0..200 {
                    let a = random.value(left);
                    let b = match random.next() % 2 {
                        0 => wide::canonical(right, u128::from(random.next() % 70)),
                        _ => random.value(right),
                    };
                    case.check(&what, a, b, wide::shift(op, left, right, a, b));
                }
            }
        }
    }
}

#[test]
fn unary_operators_mean_the_same() {
    let mut random = Random::new(3);
    for ty in TYPES {
        for op in UnaryOp::ALL {
            let result = if op == UnaryOp::Not { Type::I32 } else { ty };
            let what = format!("{} {ty}", op.spelling());
            let mut case = Case::new(ty, ty, result, |terms, a, _| {
                meaning::unary(terms, op, ty, a)
            });
            if case.meaning.is_none() || op != UnaryOp::Not && ty.size() < 4 {
                continue;
            }
            for _ in 0..400 {
                let a = random.value(ty);
                case.check(&what, a, 0, wide::unary(op, ty, a));
            }
        }
    }
}

#[test]
fn conversions_mean_the_same() {
    let mut random = Random::new(4);
    for from in TYPES {
        for to in TYPES {
            let what = format!("{from} to {to}");
            let mut case = Case::new(from, to, to, |terms, a, _| {
                meaning::convert(terms, from, to, a)
            });
            if case.meaning.is_none() {
                continue;
            }
            let small = matches!(from, Type::I8 | Type::U8 | Type::I16 | Type::U16);
            let all = if small { 1 << (from.size() * 8) } else { 0 };
            for value in 0..all {
                let a = wide::canonical(from, value);
                case.check(&what, a, 0, wide::convert(from, to, a));
            }
            for _ in 0..400 {
                let a = random.value(from);
                case.check(&what, a, 0, wide::convert(from, to, a));
            }
        }
    }
}
