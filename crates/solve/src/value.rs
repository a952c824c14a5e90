//! Values of terms, and assignments of values to variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::fold;
use crate::fold::{mask, signed};
use crate::sort::Sort;
use crate::terms::{Node, Symbol, Term, Terms};

/// The value of an array: an element for every index.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct ArrayValue {
    /// The element where none is said.
    pub default: u128,
    /// Elements by index; none equals the default.
    pub elements: BTreeMap<u128, u128>,
}

impl ArrayValue {
    /// Returns the element at `index`, or the default if none is stored there.
    pub fn get(&self, index: u128) -> u128 {
        self.elements.get(&index).copied().unwrap_or(self.default)
    }

    /// Sets the element at an index.
    pub fn set(&mut self, index: u128, element: u128) {
        if element == self.default {
            self.elements.remove(&index);
        } else {
            self.elements.insert(index, element);
        }
    }
}

/// The value of a term: truth, bits or an array.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Value {
    /// A truth value.
    Truth(bool),
    /// Bits, in the low bits of the number.
    Bits(u128),
    /// An array.
    Array(Arc<ArrayValue>),
}

impl Value {
    /// Returns the value of a variable about which nothing is known: false, zero, or an array of
    /// zeros.
    pub fn zero(sort: Sort) -> Self {
        match sort {
            Sort::Bool => Value::Truth(false),
            Sort::Bits(_) => Value::Bits(0),
            Sort::Array { .. } => Value::Array(Arc::default()),
        }
    }

    /// Returns the truth value.
    ///
    /// # Panics
    ///
    /// If it is none.
    #[track_caller]
    pub fn truth(&self) -> bool {
        match self {
            Value::Truth(value) => *value,
            other => panic!("a truth value is needed, and this is {other:?}"),
        }
    }

    /// Returns the bits. A truth value is one or zero.
    ///
    /// # Panics
    ///
    /// If it is an array.
    #[track_caller]
    pub fn bits(&self) -> u128 {
        match self {
            Value::Truth(value) => u128::from(*value),
            Value::Bits(value) => *value,
            Value::Array(_) => panic!("bits are needed, and this is an array"),
        }
    }

    fn fits(&self, sort: Sort) -> bool {
        match (self, sort) {
            (Value::Truth(_), Sort::Bool) | (Value::Array(_), Sort::Array { .. }) => true,
            (Value::Bits(value), Sort::Bits(width)) => *value & !mask(width) == 0,
            _ => false,
        }
    }
}

/// Values of variables, and results of uninterpreted functions. Everything else is false or zero.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Assignment {
    variables: FxHashMap<Term, Value>,
    functions: FxHashMap<Symbol, BTreeMap<Vec<u128>, u128>>,
}

impl Assignment {
    /// Makes an assignment in which everything is false or zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the value of a variable.
    #[track_caller]
    pub fn set(&mut self, terms: &Terms, variable: Term, value: Value) {
        assert!(
            matches!(terms.node(variable), Node::Variable(_)),
            "only variables have values of their own"
        );
        assert!(
            value.fits(terms.sort(variable)),
            "{value:?} is no value of {}",
            terms.sort(variable)
        );
        self.variables.insert(variable, value);
    }

    /// Sets a variable to `bits`. A truth value is set by one or zero.
    #[track_caller]
    pub fn set_bits(&mut self, terms: &Terms, variable: Term, bits: u128) {
        let value = match terms.sort(variable) {
            Sort::Bool => Value::Truth(bits != 0),
            _ => Value::Bits(bits),
        };
        self.set(terms, variable, value);
    }

    /// Sets the result of a function for these arguments. Truth values are one or zero.
    pub fn set_result(&mut self, function: Symbol, arguments: Vec<u128>, result: u128) {
        self.functions
            .entry(function)
            .or_default()
            .insert(arguments, result);
    }

    /// Returns the value of a variable.
    pub fn get(&self, terms: &Terms, variable: Term) -> Value {
        self.variables
            .get(&variable)
            .cloned()
            .unwrap_or_else(|| Value::zero(terms.sort(variable)))
    }

    fn result(&self, function: Symbol, arguments: &[u128]) -> u128 {
        self.functions
            .get(&function)
            .and_then(|results| results.get(arguments))
            .copied()
            .unwrap_or(0)
    }
}

impl Terms {
    /// Returns the value of `term` under an assignment.
    pub fn evaluate(&self, term: Term, assignment: &Assignment) -> Value {
        self.evaluate_all(&[term], assignment).remove(0)
    }

    /// Returns the values of several terms. This is cheaper than one call for each.
    pub fn evaluate_all(&self, terms: &[Term], assignment: &Assignment) -> Vec<Value> {
        let mut evaluation = Evaluation {
            terms: self,
            assignment,
            values: FxHashMap::default(),
            arrays: FxHashMap::default(),
        };
        for term in self.within(terms) {
            match self.sort(term) {
                Sort::Array { .. } => {
                    if let Node::Variable(_) = self.node(term) {
                        let value = match assignment.get(self, term) {
                            Value::Array(value) => value,
                            _ => unreachable!("it was checked when it was set"),
                        };
                        evaluation.arrays.insert(term, value);
                    }
                }
                _ => {
                    let value = evaluation.scalar(term);
                    evaluation.values.insert(term, value);
                }
            }
        }
        terms
            .iter()
            .map(|&term| match self.sort(term) {
                Sort::Bool => Value::Truth(evaluation.values[&term] != 0),
                Sort::Bits(_) => Value::Bits(evaluation.values[&term]),
                Sort::Array { .. } => Value::Array(Arc::new(evaluation.array(term))),
            })
            .collect()
    }

    /// Returns the value of `term`, if `part` gives the values of its direct parts, with truth values
    /// as 0 or 1. It is `None` for variables, uninterpreted functions, arrays and their elements.
    pub fn value_of_parts(&self, term: Term, part: impl Fn(Term) -> u128) -> Option<u128> {
        let v = |of: Term| part(of);
        let t = |of: Term| part(of) != 0;
        let width = match self.sort(term) {
            Sort::Bits(width) => width,
            Sort::Bool => 1,
            Sort::Array { .. } => return None,
        };
        let result = match self.node(term) {
            Node::Truth(value) => u128::from(value),
            Node::Constant(value) => value,
            Node::Not(a) => u128::from(!t(a)),
            Node::And(a, b) => v(a) & v(b),
            Node::Xor(a, b) => v(a) ^ v(b),
            Node::Ite(c, a, b) => {
                if t(c) {
                    v(a)
                } else {
                    v(b)
                }
            }
            Node::Eq(a, b) => u128::from(v(a) == v(b)),
            Node::Ult(a, b) => u128::from(v(a) < v(b)),
            Node::Slt(a, b) => {
                let width = self.width(a);
                u128::from(signed(width, v(a)) < signed(width, v(b)))
            }
            Node::MulOverflowsSigned(a, b) => {
                u128::from(fold::mul_overflows_signed(self.width(a), v(a), v(b)))
            }
            Node::MulOverflowsUnsigned(a, b) => {
                u128::from(fold::mul_overflows_unsigned(self.width(a), v(a), v(b)))
            }
            Node::Neg(a) => v(a).wrapping_neg(),
            Node::Add(a, b) => v(a).wrapping_add(v(b)),
            Node::Mul(a, b) => v(a).wrapping_mul(v(b)),
            Node::Udiv(a, b) => fold::udiv(width, v(a), v(b)),
            Node::Urem(a, b) => fold::urem(v(a), v(b)),
            Node::Sdiv(a, b) => fold::sdiv(width, v(a), v(b)),
            Node::Srem(a, b) => fold::srem(width, v(a), v(b)),
            Node::BitNot(a) => !v(a),
            Node::BitAnd(a, b) => v(a) & v(b),
            Node::BitXor(a, b) => v(a) ^ v(b),
            Node::Shl(a, b) => fold::shl(width, v(a), v(b)),
            Node::Lshr(a, b) => fold::lshr(width, v(a), v(b)),
            Node::Ashr(a, b) => fold::ashr(width, v(a), v(b)),
            Node::Extract { of, low, .. } => v(of) >> low,
            Node::Concat(a, b) => (v(a) << self.width(b)) | v(b),
            Node::SignExtend(a) => signed(self.width(a), v(a)) as u128,
            Node::FloatBinary(kind, op, a, b) => fold::float_op(kind, op, v(a), v(b)),
            Node::FloatSqrt(kind, a) => fold::float_sqrt(kind, v(a)),
            Node::FloatFromSigned(kind, a) => fold::float_from_signed(kind, self.width(a), v(a)),
            Node::FloatFromUnsigned(kind, a) => fold::float_from_unsigned(kind, v(a)),
            Node::FloatToSigned(kind, a) => fold::float_to_signed(kind, v(a), width),
            Node::FloatToUnsigned(kind, a) => fold::float_to_unsigned(kind, v(a), width),
            Node::FloatConvert(from, to, a) => fold::float_convert(from, to, v(a)),
            Node::Variable(_)
            | Node::Apply(..)
            | Node::Select(..)
            | Node::ArrayOf(_)
            | Node::Store(..) => return None,
        };
        Some(result & mask(width))
    }
}

/// Values of the parts that were seen; truth values are one or zero.
struct Evaluation<'t> {
    terms: &'t Terms,
    assignment: &'t Assignment,
    values: FxHashMap<Term, u128>,
    arrays: FxHashMap<Term, Arc<ArrayValue>>,
}

impl Evaluation<'_> {
    fn scalar(&self, term: Term) -> u128 {
        let terms = self.terms;
        let v = |part: Term| self.values[&part];
        let result = match terms.node(term) {
            Node::Variable(_) => self.assignment.get(terms, term).bits(),
            Node::Apply(function, list) => {
                let arguments: Vec<u128> = terms.arguments(list).iter().map(|&a| v(a)).collect();
                self.assignment.result(function, &arguments)
            }
            Node::Select(array, index) => self.element(array, v(index)),
            _ => match terms.value_of_parts(term, v) {
                Some(value) => value,
                None => unreachable!("arrays are no scalars"),
            },
        };
        match terms.sort(term) {
            Sort::Bits(width) => result & mask(width),
            _ => result & 1,
        }
    }

    /// The element of an array, found by going down its stores: no array is made for it.
    fn element(&self, array: Term, index: u128) -> u128 {
        let mut at = array;
        loop {
            at = match self.terms.node(at) {
                Node::Store(_, there, element) if self.values[&there] == index => {
                    return self.values[&element];
                }
                Node::Store(below, ..) => below,
                Node::ArrayOf(element) => return self.values[&element],
                Node::Ite(condition, then, otherwise) => {
                    if self.values[&condition] != 0 {
                        then
                    } else {
                        otherwise
                    }
                }
                _ => return self.arrays[&at].get(index),
            }
        }
    }

    fn array(&self, array: Term) -> ArrayValue {
        let mut at = array;
        let mut above = Vec::new();
        let mut value = loop {
            at = match self.terms.node(at) {
                Node::Store(below, there, element) => {
                    above.push((self.values[&there], self.values[&element]));
                    below
                }
                Node::ArrayOf(element) => {
                    break ArrayValue {
                        default: self.values[&element],
                        elements: BTreeMap::new(),
                    };
                }
                Node::Ite(condition, then, otherwise) => {
                    if self.values[&condition] != 0 {
                        then
                    } else {
                        otherwise
                    }
                }
                _ => break (*self.arrays[&at]).clone(),
            }
        };
        for (index, element) in above.into_iter().rev() {
            value.set(index, element);
        }
        value
    }
}
