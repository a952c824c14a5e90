//! Writes terms in SMT-LIB 2, so that another solver can be asked the same.
//!
//! Two things are not in the standard: `fp.to_ieee_bv`, for the bits of floating-point numbers, and `(as const …)`, for
//! arrays; z3 has both.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::fold::{FloatOp, least_signed, mask};
use crate::sort::{Float, Sort};
use crate::terms::{Node, Symbol, Term, Terms};

/// Returns declarations of all variables and functions in `roots`, and a definition of each term that
/// they consist of. [`reference()`] gives the name of a term.
pub fn definitions(terms: &Terms, roots: &[Term]) -> String {
    let mut text = String::from("(set-logic ALL)\n");
    let within = terms.within(roots);
    let mut functions: BTreeSet<Symbol> = BTreeSet::new();
    for &term in &within {
        match terms.node(term) {
            Node::Variable(_) => {
                let _ = writeln!(
                    text,
                    "(declare-const {} {})",
                    reference(terms, term),
                    terms.sort(term)
                );
            }
            Node::Apply(function, _) => {
                functions.insert(function);
            }
            _ => {}
        }
    }
    for function in functions {
        let (arguments, result) = terms.signature(function);
        let arguments: Vec<String> = arguments.iter().map(Sort::to_string).collect();
        let name = name("f", terms, function);
        let _ = writeln!(
            text,
            "(declare-fun {name} ({}) {result})",
            arguments.join(" ")
        );
    }
    for &term in &within {
        if !matches!(terms.node(term), Node::Variable(_)) {
            let _ = writeln!(
                text,
                "(define-fun {} () {} {})",
                reference(terms, term),
                terms.sort(term),
                body(terms, term)
            );
        }
    }
    text
}

/// Returns a whole script that asks whether all `assertions` can be true at once.
pub fn query(terms: &Terms, assertions: &[Term]) -> String {
    let mut text = definitions(terms, assertions);
    for &term in assertions {
        let _ = writeln!(text, "(assert {})", reference(terms, term));
    }
    text.push_str("(check-sat)\n");
    text
}

/// Returns the name of `term` in the text of [`definitions`].
pub fn reference(terms: &Terms, term: Term) -> String {
    match terms.node(term) {
        Node::Variable(symbol) => name("v", terms, symbol),
        _ => format!("t{}", term.index()),
    }
}

/// A name that begins with the kind of thing that it names. What may not stand in a name is left out; the number keeps
/// names apart.
fn name(kind: &str, terms: &Terms, symbol: Symbol) -> String {
    let text: String = terms
        .symbol_name(symbol)
        .chars()
        .filter(|&c| c.is_ascii_graphic() && c != '|' && c != '\\')
        .collect();
    format!("|{kind}{}:{text}|", symbol.0)
}

/// Returns `value` as an SMT-LIB literal of `width` bits.
pub fn literal(width: u32, value: u128) -> String {
    format!("#b{:0width$b}", value & mask(width), width = width as usize)
}

fn float(kind: Float, bits: &str) -> String {
    format!(
        "((_ to_fp {} {}) {bits})",
        kind.exponent_bits(),
        kind.fraction_bits() + 1
    )
}

/// The bits of a floating-point number, NaN being one.
fn float_bits(kind: Float, number: &str) -> String {
    let nan = literal(kind.width(), kind.canonical_nan());
    format!("(let ((r {number})) (ite (fp.isNaN r) {nan} (fp.to_ieee_bv r)))")
}

/// Two to the power, or infinity.
fn power(kind: Float, power: u32, negative: bool) -> String {
    let bias = mask(kind.exponent_bits() - 1);
    let field = (bias + u128::from(power)).min(mask(kind.exponent_bits()));
    let sign = u128::from(negative) << (kind.width() - 1);
    float(
        kind,
        &literal(kind.width(), sign | field << kind.fraction_bits()),
    )
}

fn body(terms: &Terms, term: Term) -> String {
    let r = |part: Term| reference(terms, part);
    let one = |name: &str, a: Term| format!("({name} {})", r(a));
    let two = |name: &str, a: Term, b: Term| format!("({name} {} {})", r(a), r(b));
    let width = match terms.sort(term) {
        Sort::Bits(width) => width,
        _ => 1,
    };
    let indexed = |kind: Float| format!("{} {}", kind.exponent_bits(), kind.fraction_bits() + 1);
    match terms.node(term) {
        Node::Truth(value) => value.to_string(),
        Node::Constant(value) => literal(width, value),
        Node::Variable(_) => r(term),
        Node::Not(a) => one("not", a),
        Node::And(a, b) => two("and", a, b),
        Node::Xor(a, b) => two("xor", a, b),
        Node::Ite(c, a, b) => format!("(ite {} {} {})", r(c), r(a), r(b)),
        Node::Eq(a, b) => two("=", a, b),
        Node::Ult(a, b) => two("bvult", a, b),
        Node::Slt(a, b) => two("bvslt", a, b),
        Node::MulOverflowsSigned(a, b) | Node::MulOverflowsUnsigned(a, b) => {
            let extend = match terms.node(term) {
                Node::MulOverflowsSigned(..) => "sign_extend",
                _ => "zero_extend",
            };
            let w = terms.width(a);
            let (a, b) = (r(a), r(b));
            format!(
                "(distinct ((_ {extend} {w}) (bvmul {a} {b})) \
                 (bvmul ((_ {extend} {w}) {a}) ((_ {extend} {w}) {b})))"
            )
        }
        Node::Neg(a) => one("bvneg", a),
        Node::Add(a, b) => two("bvadd", a, b),
        Node::Mul(a, b) => two("bvmul", a, b),
        Node::Udiv(a, b) => two("bvudiv", a, b),
        Node::Urem(a, b) => two("bvurem", a, b),
        Node::Sdiv(a, b) => two("bvsdiv", a, b),
        Node::Srem(a, b) => two("bvsrem", a, b),
        Node::BitNot(a) => one("bvnot", a),
        Node::BitAnd(a, b) => two("bvand", a, b),
        Node::BitXor(a, b) => two("bvxor", a, b),
        Node::Shl(a, b) => two("bvshl", a, b),
        Node::Lshr(a, b) => two("bvlshr", a, b),
        Node::Ashr(a, b) => two("bvashr", a, b),
        Node::Extract { of, high, low } => format!("((_ extract {high} {low}) {})", r(of)),
        Node::Concat(a, b) => two("concat", a, b),
        Node::SignExtend(a) => format!("((_ sign_extend {}) {})", width - terms.width(a), r(a)),
        Node::FloatBinary(kind, op, a, b) => {
            let name = match op {
                FloatOp::Add => "fp.add",
                FloatOp::Mul => "fp.mul",
                FloatOp::Div => "fp.div",
            };
            let (a, b) = (float(kind, &r(a)), float(kind, &r(b)));
            float_bits(kind, &format!("({name} RNE {a} {b})"))
        }
        Node::FloatSqrt(kind, a) => {
            float_bits(kind, &format!("(fp.sqrt RNE {})", float(kind, &r(a))))
        }
        Node::FloatFromSigned(kind, a) => {
            float_bits(kind, &format!("((_ to_fp {}) RNE {})", indexed(kind), r(a)))
        }
        Node::FloatFromUnsigned(kind, a) => float_bits(
            kind,
            &format!("((_ to_fp_unsigned {}) RNE {})", indexed(kind), r(a)),
        ),
        // Out of range the standard leaves open what comes out.
        Node::FloatToSigned(kind, a) => format!(
            "(let ((r {})) (ite (fp.isNaN r) {} (ite (fp.geq r {}) {} (ite (fp.leq r {}) {} \
             ((_ fp.to_sbv {width}) RTZ r)))))",
            float(kind, &r(a)),
            literal(width, 0),
            power(kind, width - 1, false),
            literal(width, least_signed(width) - 1),
            power(kind, width - 1, true),
            literal(width, least_signed(width)),
        ),
        Node::FloatToUnsigned(kind, a) => format!(
            "(let ((r {})) (ite (or (fp.isNaN r) (fp.isNegative r)) {} (ite (fp.geq r {}) {} \
             ((_ fp.to_ubv {width}) RTZ r))))",
            float(kind, &r(a)),
            literal(width, 0),
            power(kind, width, false),
            literal(width, u128::MAX),
        ),
        Node::FloatConvert(from, to, a) => float_bits(
            to,
            &format!("((_ to_fp {}) RNE {})", indexed(to), float(from, &r(a))),
        ),
        Node::Apply(function, list) => {
            let name = name("f", terms, function);
            let arguments: Vec<String> = terms.arguments(list).iter().map(|&a| r(a)).collect();
            if arguments.is_empty() {
                name
            } else {
                format!("({name} {})", arguments.join(" "))
            }
        }
        Node::ArrayOf(element) => format!("((as const {}) {})", terms.sort(term), r(element)),
        Node::Store(a, i, v) => format!("(store {} {} {})", r(a), r(i), r(v)),
        Node::Select(a, i) => two("select", a, i),
    }
}
