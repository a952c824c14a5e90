//! Terms as circuits. Arrays and uninterpreted functions are gone after this: a read becomes a choice among what was
//! written, and any two applications with equal arguments are made to have equal results.

use rustc_hash::FxHashMap;

use crate::circuit::{Format, Gates, Lit, Word};
use crate::fold::FloatOp;
use crate::sort::Sort;
use crate::terms::{Node, Symbol, Term, Terms};

/// What is applied to arguments and known by its results only.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Unknown {
    /// A function.
    Function(Symbol),
    /// A variable that is an array; the argument is the index.
    Array(Term),
}

/// Arguments, one after the other, and the result.
pub(crate) struct Application {
    pub arguments: Word,
    pub result: Word,
}

/// Circuits of the terms that were asked for so far.
pub(crate) struct Blaster {
    pub gates: Gates,
    /// Where the bits of a term begin, or [`NONE`].
    starts: Vec<u32>,
    bits: Vec<Lit>,
    /// How many terms have bits.
    pub blasted: usize,
    /// Variables that have bits, in the order in which they got them.
    pub variables: Vec<Term>,
    pub applications: FxHashMap<Unknown, Vec<Application>>,
    places: FxHashMap<(Unknown, Word), usize>,
    /// The indices at which arrays were read, by number.
    pub(crate) indices: FxHashMap<Word, u32>,
    pub(crate) reads: FxHashMap<(Term, u32), Word>,
}

const NONE: u32 = u32::MAX;

impl Blaster {
    /// Starts without any gate.
    pub(crate) fn new() -> Self {
        Blaster {
            gates: Gates::new(),
            starts: Vec::new(),
            bits: Vec::new(),
            blasted: 0,
            variables: Vec::new(),
            applications: FxHashMap::default(),
            places: FxHashMap::default(),
            indices: FxHashMap::default(),
            reads: FxHashMap::default(),
        }
    }

    fn has(&self, term: Term) -> bool {
        self.starts
            .get(term.index())
            .is_some_and(|&start| start != NONE)
    }

    /// The bits of a term that has some.
    pub(crate) fn word(&self, terms: &Terms, term: Term) -> &[Lit] {
        let start = self.starts[term.index()] as usize;
        let width = match terms.sort(term) {
            Sort::Bits(width) => width as usize,
            _ => 1,
        };
        &self.bits[start..start + width]
    }

    /// The bits of a term; a truth value has one. Nothing if somebody interrupts: what is built by then stays.
    pub(crate) fn blast(
        &mut self,
        terms: &Terms,
        root: Term,
        interrupt: Option<&dyn Fn() -> bool>,
    ) -> Option<Word> {
        if !self.has(root) {
            for term in terms.within_unless(&[root], |term| self.has(term)) {
                if self.has(term) || matches!(terms.sort(term), Sort::Array { .. }) {
                    continue;
                }
                if interrupt.is_some_and(|interrupt| interrupt()) {
                    return None;
                }
                let word = self.circuit(terms, term);
                if self.starts.len() <= term.index() {
                    self.starts.resize(terms.len().max(term.index() + 1), NONE);
                }
                self.starts[term.index()] = self.bits.len() as u32;
                self.bits.extend(word);
                self.blasted += 1;
            }
        }
        Some(self.word(terms, root).to_vec())
    }

    fn circuit(&mut self, terms: &Terms, term: Term) -> Word {
        let width = match terms.sort(term) {
            Sort::Bits(width) => width,
            _ => 1,
        };
        macro_rules! w {
            ($part:expr) => {
                self.word(terms, $part).to_vec()
            };
        }
        macro_rules! t {
            ($part:expr) => {
                self.word(terms, $part)[0]
            };
        }
        match terms.node(term) {
            Node::Truth(value) => vec![Lit::constant(value)],
            Node::Constant(value) => (0..width)
                .map(|bit| Lit::constant(value >> bit & 1 == 1))
                .collect(),
            Node::Variable(_) => {
                self.variables.push(term);
                self.gates.inputs(width)
            }
            Node::Not(a) => vec![!t!(a)],
            Node::And(a, b) => {
                let (a, b) = (t!(a), t!(b));
                vec![self.gates.and(a, b)]
            }
            Node::Xor(a, b) => {
                let (a, b) = (t!(a), t!(b));
                vec![self.gates.xor(a, b)]
            }
            Node::Ite(c, a, b) => {
                let (c, a, b) = (t!(c), w!(a), w!(b));
                self.gates.mux_word(c, &a, &b)
            }
            Node::Eq(a, b) => {
                let (a, b) = (w!(a), w!(b));
                vec![self.gates.equal(&a, &b)]
            }
            Node::Ult(a, b) => {
                let (a, b) = (w!(a), w!(b));
                vec![self.gates.less(&a, &b)]
            }
            Node::Slt(a, b) => {
                let (a, b) = (w!(a), w!(b));
                vec![self.gates.less_signed(&a, &b)]
            }
            Node::MulOverflowsSigned(a, b) => {
                let (a, b) = (w!(a), w!(b));
                vec![self.gates.product_overflows_signed(&a, &b)]
            }
            Node::MulOverflowsUnsigned(a, b) => {
                let (a, b) = (w!(a), w!(b));
                vec![self.gates.product_overflows_unsigned(&a, &b)]
            }
            Node::Neg(a) => {
                let a = w!(a);
                self.gates.neg(&a)
            }
            Node::Add(a, b) => match (terms.node(a), terms.node(b)) {
                // One adder for a difference.
                (_, Node::Neg(b)) => {
                    let (a, b) = (w!(a), w!(b));
                    self.gates.sub(&a, &b)
                }
                (Node::Neg(a), _) => {
                    let (a, b) = (w!(a), w!(b));
                    self.gates.sub(&b, &a)
                }
                _ => {
                    let (a, b) = (w!(a), w!(b));
                    self.gates.add(&a, &b)
                }
            },
            Node::Mul(a, b) => {
                let (a, b) = (w!(a), w!(b));
                self.gates.product(&a, &b, width as usize)
            }
            Node::Udiv(a, b) => {
                let (a, b) = (w!(a), w!(b));
                self.gates.divided(&a, &b).0
            }
            Node::Urem(a, b) => {
                let (a, b) = (w!(a), w!(b));
                self.gates.divided(&a, &b).1
            }
            Node::Sdiv(a, b) => {
                let (a, b) = (w!(a), w!(b));
                self.gates.divided_signed(&a, &b).0
            }
            Node::Srem(a, b) => {
                let (a, b) = (w!(a), w!(b));
                self.gates.divided_signed(&a, &b).1
            }
            Node::BitNot(a) => w!(a).iter().map(|&lit| !lit).collect(),
            Node::BitAnd(a, b) => {
                let (a, b) = (w!(a), w!(b));
                a.iter()
                    .zip(&b)
                    .map(|(&x, &y)| self.gates.and(x, y))
                    .collect()
            }
            Node::BitXor(a, b) => {
                let (a, b) = (w!(a), w!(b));
                a.iter()
                    .zip(&b)
                    .map(|(&x, &y)| self.gates.xor(x, y))
                    .collect()
            }
            Node::Shl(a, count) => {
                let (a, count) = (w!(a), w!(count));
                self.gates.shifted_left(&a, &count)
            }
            Node::Lshr(a, count) => {
                let (a, count) = (w!(a), w!(count));
                self.gates.shifted_right(&a, &count, Lit::FALSE)
            }
            Node::Ashr(a, count) => {
                let (a, count) = (w!(a), w!(count));
                let sign = a[a.len() - 1];
                self.gates.shifted_right(&a, &count, sign)
            }
            Node::Extract { of, high, low } => {
                self.word(terms, of)[low as usize..=high as usize].to_vec()
            }
            Node::Concat(high, low) => {
                let mut word = w!(low);
                word.extend(w!(high));
                word
            }
            Node::SignExtend(a) => {
                let mut word = w!(a);
                let sign = word[word.len() - 1];
                word.resize(width as usize, sign);
                word
            }
            Node::FloatBinary(kind, op, a, b) => {
                let (a, b) = (w!(a), w!(b));
                let format = Format::from(kind);
                match op {
                    FloatOp::Add => self.gates.float_sum(format, &a, &b),
                    FloatOp::Mul => self.gates.float_product(format, &a, &b),
                    FloatOp::Div => self.gates.float_quotient(format, &a, &b),
                }
            }
            Node::FloatSqrt(kind, a) => {
                let a = w!(a);
                self.gates.float_root(kind.into(), &a)
            }
            Node::FloatFromSigned(kind, a) => {
                let a = w!(a);
                self.gates.float_of_integer(kind.into(), &a, true)
            }
            Node::FloatFromUnsigned(kind, a) => {
                let a = w!(a);
                self.gates.float_of_integer(kind.into(), &a, false)
            }
            Node::FloatToSigned(kind, a) => {
                let a = w!(a);
                self.gates
                    .integer_of_float(kind.into(), &a, width as usize, true)
            }
            Node::FloatToUnsigned(kind, a) => {
                let a = w!(a);
                self.gates
                    .integer_of_float(kind.into(), &a, width as usize, false)
            }
            Node::FloatConvert(from, to, a) => {
                let a = w!(a);
                self.gates.float_converted(from.into(), to.into(), &a)
            }
            Node::Apply(function, list) => {
                let mut arguments = Vec::new();
                for &argument in terms.arguments(list) {
                    arguments.extend(self.word(terms, argument));
                }
                self.applied(Unknown::Function(function), arguments, width)
            }
            Node::Select(array, index) => {
                let index = w!(index);
                self.read(terms, array, &index)
            }
            Node::ArrayOf(_) | Node::Store(..) => unreachable!("arrays have no bits"),
        }
    }

    /// Returns the free result of an unknown function: equal arguments give equal results.
    pub(crate) fn applied(&mut self, unknown: Unknown, arguments: Word, width: u32) -> Word {
        let place = (unknown, arguments);
        if let Some(&at) = self.places.get(&place) {
            return self.applications[&unknown][at].result.clone();
        }
        let result = self.gates.inputs(width);
        let others = self.applications.entry(unknown).or_default();
        for other in others.iter() {
            let same = self.gates.equal(&place.1, &other.arguments);
            if same == Lit::FALSE {
                continue;
            }
            for (&x, &y) in result.iter().zip(&other.result) {
                self.gates.laws.push(vec![!same, !x, y]);
                self.gates.laws.push(vec![!same, x, !y]);
            }
        }
        self.places.insert(place.clone(), others.len());
        others.push(Application {
            arguments: place.1,
            result: result.clone(),
        });
        result
    }
}
