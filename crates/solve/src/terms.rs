//! Terms and the pool that makes and keeps them.

use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashTable;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::fold::{FloatOp, mask};
use crate::known::Known;
use crate::sort::{Float, MOST_BITS, Sort};

/// A term of a pool. It means something only together with the [`Terms`] that made it.
///
/// What a term is made of was made before it: its parts are lower in the order.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Term(pub(crate) u32);

impl Term {
    /// Returns the position of the term in its pool, from zero.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The name of a variable or of an uninterpreted function.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Symbol(pub(crate) u32);

/// The number of a list of arguments. [`Terms::arguments`] returns the terms.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Arguments(pub(crate) u32);

/// The root of a term: a constant, a variable, or an operation on other terms. Operations that are
/// missing here (`or`, `sub`, `ule`…) are written with these.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// A truth value.
    Truth(bool),
    /// Bits; the width is the sort's.
    Constant(u128),
    /// What is free.
    Variable(Symbol),
    /// Negation of a truth value.
    Not(Term),
    /// Conjunction of truth values.
    And(Term, Term),
    /// Two truth values differ.
    Xor(Term, Term),
    /// The second where the first is true, else the third; of any sort.
    Ite(Term, Term, Term),
    /// Two vectors are equal.
    Eq(Term, Term),
    /// Less, without sign.
    Ult(Term, Term),
    /// Less, with sign.
    Slt(Term, Term),
    /// The product does not fit, with sign.
    MulOverflowsSigned(Term, Term),
    /// The product does not fit, without sign.
    MulOverflowsUnsigned(Term, Term),
    /// Two's complement.
    Neg(Term),
    /// Sum.
    Add(Term, Term),
    /// Product.
    Mul(Term, Term),
    /// Quotient without sign; all ones where the divisor is zero.
    Udiv(Term, Term),
    /// Rest without sign; the dividend where the divisor is zero.
    Urem(Term, Term),
    /// Quotient with sign, towards zero; 1 or -1 where the divisor is zero.
    Sdiv(Term, Term),
    /// Rest with the dividend's sign; the dividend where the divisor is zero.
    Srem(Term, Term),
    /// All bits inverted.
    BitNot(Term),
    /// Bitwise conjunction.
    BitAnd(Term, Term),
    /// Bitwise difference.
    BitXor(Term, Term),
    /// Shift to the left by a count in bits of the same width.
    Shl(Term, Term),
    /// Shift to the right, zeros come in.
    Lshr(Term, Term),
    /// Shift to the right, copies of the sign come in.
    Ashr(Term, Term),
    /// The bits `low` to `high`, both included.
    Extract {
        /// Of what.
        of: Term,
        /// Last bit.
        high: u32,
        /// First bit.
        low: u32,
    },
    /// The first above the second.
    Concat(Term, Term),
    /// Widened to the sort's width with copies of the sign.
    SignExtend(Term),
    /// An operation of floating point on two numbers.
    FloatBinary(Float, FloatOp, Term, Term),
    /// Square root.
    FloatSqrt(Float, Term),
    /// The nearest number to an integer with sign.
    FloatFromSigned(Float, Term),
    /// The nearest number to an integer without sign.
    FloatFromUnsigned(Float, Term),
    /// An integer with sign, the fraction cut off; the nearest that there is where it is out of range.
    FloatToSigned(Float, Term),
    /// An integer without sign, the fraction cut off; the nearest that there is where it is out of range.
    FloatToUnsigned(Float, Term),
    /// From the first format to the second.
    FloatConvert(Float, Float, Term),
    /// An uninterpreted function: equal arguments give equal results.
    Apply(Symbol, Arguments),
    /// The array that has the same element everywhere.
    ArrayOf(Term),
    /// Array, index, and the element that is there now.
    Store(Term, Term, Term),
    /// The element of an array at an index.
    Select(Term, Term),
}

/// A pool of terms. Terms are made by its methods and stay as long as it does.
///
/// A method whose operands have the wrong sorts panics: that is a mistake in the program, not in its input.
pub struct Terms {
    /// No other pool of this process has this number.
    pool: u64,
    nodes: Vec<Node>,
    sorts: Vec<Sort>,
    known: Vec<Known>,
    table: HashTable<u32>,
    symbols: Vec<String>,
    symbol_of: FxHashMap<String, Symbol>,
    variables: FxHashMap<Symbol, Term>,
    /// How many arguments of which sorts a function has is fixed by its first use.
    signatures: FxHashMap<Symbol, (Vec<Sort>, Sort)>,
    lists: Vec<Box<[Term]>>,
    list_of: FxHashMap<Box<[Term]>, Arguments>,
    fresh: u64,
}

fn hash(node: &Node, sort: Sort) -> u64 {
    FxBuildHasher.hash_one((node, sort))
}

impl Default for Terms {
    fn default() -> Self {
        Self::new()
    }
}

impl Terms {
    /// Makes a pool without terms.
    pub fn new() -> Self {
        static POOLS: AtomicU64 = AtomicU64::new(0);
        Terms {
            pool: POOLS.fetch_add(1, Ordering::Relaxed),
            nodes: Vec::new(),
            sorts: Vec::new(),
            known: Vec::new(),
            table: HashTable::new(),
            symbols: Vec::new(),
            symbol_of: FxHashMap::default(),
            variables: FxHashMap::default(),
            signatures: FxHashMap::default(),
            lists: Vec::new(),
            list_of: FxHashMap::default(),
            fresh: 0,
        }
    }

    /// Returns the number of the pool, by which terms of other pools are noticed.
    pub(crate) fn pool(&self) -> u64 {
        self.pool
    }

    /// Returns the number of terms in the pool.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the pool has no term.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the term of a node; an equal node gives the same term.
    pub(crate) fn intern(&mut self, node: Node, sort: Sort) -> Term {
        let Terms {
            nodes,
            sorts,
            table,
            ..
        } = self;
        let entry = table.entry(
            hash(&node, sort),
            |&at| nodes[at as usize] == node && sorts[at as usize] == sort,
            |&at| hash(&nodes[at as usize], sorts[at as usize]),
        );
        match entry {
            hashbrown::hash_table::Entry::Occupied(found) => Term(*found.get()),
            hashbrown::hash_table::Entry::Vacant(place) => {
                let term = u32::try_from(nodes.len()).expect("fewer than 2^32 terms");
                place.insert(term);
                let known = Known::of(self, node, sort);
                self.nodes.push(node);
                self.sorts.push(sort);
                self.known.push(known);
                Term(term)
            }
        }
    }

    /// Returns the root of a term.
    pub fn node(&self, term: Term) -> Node {
        self.nodes[term.index()]
    }

    /// Returns the sort of a term: truth, bits or array.
    pub fn sort(&self, term: Term) -> Sort {
        self.sorts[term.index()]
    }

    /// Returns which bits of a term are known.
    pub(crate) fn known(&self, term: Term) -> Known {
        self.known[term.index()]
    }

    /// Returns the number of bits of a term's values.
    #[track_caller]
    pub fn width(&self, term: Term) -> u32 {
        match self.sort(term) {
            Sort::Bits(width) => width,
            other => panic!("bits are needed, and this is {other}"),
        }
    }

    /// The width that two terms share.
    #[track_caller]
    pub(crate) fn common_width(&self, a: Term, b: Term) -> u32 {
        let width = self.width(a);
        assert_eq!(width, self.width(b), "operands differ in width");
        width
    }

    /// Panics unless the term is a truth value.
    #[track_caller]
    pub(crate) fn expect_bool(&self, term: Term) {
        assert_eq!(self.sort(term), Sort::Bool, "a truth value is needed");
    }

    /// Returns the constant true or false.
    pub fn truth(&mut self, value: bool) -> Term {
        self.intern(Node::Truth(value), Sort::Bool)
    }

    /// Returns the constant of `width` bits with the low bits of `value`.
    #[track_caller]
    pub fn constant(&mut self, width: u32, value: u128) -> Term {
        assert!(
            (1..=MOST_BITS).contains(&width),
            "{width} bits are not supported"
        );
        self.intern(Node::Constant(value & mask(width)), Sort::Bits(width))
    }

    /// Returns the truth value of a constant term, or `None` for other terms.
    pub fn as_truth(&self, term: Term) -> Option<bool> {
        match self.node(term) {
            Node::Truth(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the bits of a constant term, or `None` for other terms.
    pub fn as_constant(&self, term: Term) -> Option<u128> {
        match self.node(term) {
            Node::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the number of a name.
    pub(crate) fn symbol(&mut self, name: &str) -> Symbol {
        if let Some(&symbol) = self.symbol_of.get(name) {
            return symbol;
        }
        let symbol = Symbol(self.symbols.len() as u32);
        self.symbols.push(name.to_owned());
        self.symbol_of.insert(name.to_owned(), symbol);
        symbol
    }

    /// Returns the name that a symbol stands for.
    pub fn symbol_name(&self, symbol: Symbol) -> &str {
        &self.symbols[symbol.0 as usize]
    }

    /// Returns the variable called `name`, which is made if it does not exist.
    ///
    /// # Panics
    ///
    /// If there is one of that name and another sort.
    #[track_caller]
    pub fn variable(&mut self, name: &str, sort: Sort) -> Term {
        match sort {
            Sort::Bool => {}
            Sort::Bits(width) => assert!((1..=MOST_BITS).contains(&width)),
            Sort::Array { index, element } => {
                assert!((1..=MOST_BITS).contains(&index) && (1..=MOST_BITS).contains(&element));
            }
        }
        let symbol = self.symbol(name);
        if let Some(&term) = self.variables.get(&symbol) {
            assert_eq!(self.sort(term), sort, "variable {name} has another sort");
            return term;
        }
        let term = self.intern(Node::Variable(symbol), sort);
        self.variables.insert(symbol, term);
        term
    }

    /// Returns the sort of the variable called `name`, if it exists.
    pub fn sort_of_variable(&self, name: &str) -> Option<Sort> {
        let term = self.variables.get(self.symbol_of.get(name)?)?;
        Some(self.sort(*term))
    }

    /// Makes a new variable, called `prefix!number`.
    pub fn fresh(&mut self, prefix: &str, sort: Sort) -> Term {
        loop {
            let name = format!("{prefix}!{}", self.fresh);
            self.fresh += 1;
            let taken = self.symbol_of.get(&name);
            if taken.is_none_or(|symbol| !self.variables.contains_key(symbol)) {
                return self.variable(&name, sort);
            }
        }
    }

    /// Returns the name of a variable, or `None` for other terms.
    pub fn name(&self, term: Term) -> Option<&str> {
        match self.node(term) {
            Node::Variable(symbol) => Some(self.symbol_name(symbol)),
            _ => None,
        }
    }

    /// Returns the application of an uninterpreted function to truth values and bits.
    ///
    /// # Panics
    ///
    /// If the function was used with other sorts before, or one of them is an array.
    #[track_caller]
    pub fn apply(&mut self, function: &str, arguments: &[Term], result: Sort) -> Term {
        let sorts: Vec<Sort> = arguments.iter().map(|&term| self.sort(term)).collect();
        assert!(
            !sorts
                .iter()
                .chain([&result])
                .any(|sort| matches!(sort, Sort::Array { .. })),
            "function {function} has an array among its arguments or as its result"
        );
        let symbol = self.symbol(function);
        let signature = self
            .signatures
            .entry(symbol)
            .or_insert_with(|| (sorts.clone(), result));
        assert_eq!(
            *signature,
            (sorts, result),
            "function {function} has another signature"
        );
        let arguments = self.list(arguments);
        self.intern(Node::Apply(symbol, arguments), result)
    }

    fn list(&mut self, terms: &[Term]) -> Arguments {
        if let Some(&list) = self.list_of.get(terms) {
            return list;
        }
        let list = Arguments(self.lists.len() as u32);
        self.lists.push(terms.into());
        self.list_of.insert(terms.into(), list);
        list
    }

    /// Returns the terms of a list of arguments.
    pub fn arguments(&self, list: Arguments) -> &[Term] {
        &self.lists[list.0 as usize]
    }

    /// Returns the sorts of a function's arguments and of its result.
    pub fn signature(&self, function: Symbol) -> (&[Sort], Sort) {
        let (arguments, result) = &self.signatures[&function];
        (arguments, *result)
    }
}
