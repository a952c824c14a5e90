//! Gates, shared and simplified, before any of them becomes clauses.

use std::hash::BuildHasher;
use std::ops::Not;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};

/// The output of a gate, or its negation.
#[derive(Copy, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Lit(u32);

/// Bits, the lowest first.
pub(crate) type Word = Vec<Lit>;

impl Lit {
    /// The literal that is always false.
    pub(crate) const FALSE: Lit = Lit(0);
    /// The literal that is always true.
    pub(crate) const TRUE: Lit = Lit(1);

    /// The place of the gate.
    pub(crate) fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether the literal is the negated output of its gate.
    pub(crate) fn is_negated(self) -> bool {
        self.0 & 1 == 1
    }

    /// Whether the literal is always true or always false.
    pub(crate) fn is_constant(self) -> bool {
        self.gate() == 0
    }

    /// The output of a gate as it is.
    pub(crate) fn of(gate: usize) -> Self {
        Lit((gate as u32) << 1)
    }

    /// Returns the literal of a truth value.
    pub(crate) fn constant(value: bool) -> Self {
        Lit(u32::from(value))
    }

    /// Negated where `negate` is set.
    pub(crate) fn negated_if(self, negate: bool) -> Self {
        Lit(self.0 ^ u32::from(negate))
    }
}

impl Not for Lit {
    type Output = Lit;

    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// What gives an output.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Gate {
    /// The first gate is false.
    False,
    /// What is free.
    Input,
    /// Both.
    And(Lit, Lit),
    /// One of both.
    Xor(Lit, Lit),
    /// The second where the first is true, else the third.
    Mux(Lit, Lit, Lit),
    /// Two at least.
    Majority(Lit, Lit, Lit),
}

/// Gates in an order in which each is after those that it reads.
pub(crate) struct Gates {
    gates: Vec<Gate>,
    /// How many gates read one, up to two.
    readers: Vec<u8>,
    table: HashTable<u32>,
    /// Clauses that always hold, and help who solves to see what else takes long to find out.
    pub laws: Vec<Vec<Lit>>,
    /// Quotients and rests by dividend and divisor.
    pub(super) divisions: FxHashMap<(Word, Word), (Word, Word)>,
}

impl Gates {
    /// Starts with the gate of false only.
    pub(crate) fn new() -> Self {
        Gates {
            gates: vec![Gate::False],
            readers: vec![0],
            table: HashTable::new(),
            laws: Vec::new(),
            divisions: FxHashMap::default(),
        }
    }

    /// Returns the number of gates.
    pub(crate) fn len(&self) -> usize {
        self.gates.len()
    }

    /// Returns the gate at a place.
    pub(crate) fn gate(&self, at: usize) -> Gate {
        self.gates[at]
    }

    /// Whether at most one other gate reads this one.
    pub(crate) fn is_private(&self, at: usize) -> bool {
        self.readers[at] < 2
    }

    fn push(&mut self, gate: Gate) -> u32 {
        let at = u32::try_from(self.gates.len()).expect("fewer than 2^31 gates");
        assert!(at < 1 << 31, "fewer than 2^31 gates");
        let readers = &mut self.readers;
        let mut read = |lit: Lit| readers[lit.gate()] = (readers[lit.gate()] + 1).min(2);
        match gate {
            Gate::False | Gate::Input => {}
            Gate::And(a, b) | Gate::Xor(a, b) => {
                read(a);
                read(b);
            }
            Gate::Mux(a, b, c) | Gate::Majority(a, b, c) => {
                read(a);
                read(b);
                read(c);
            }
        }
        self.gates.push(gate);
        self.readers.push(0);
        at
    }

    fn intern(&mut self, gate: Gate) -> Lit {
        let hash = FxBuildHasher.hash_one(gate);
        let gates = &self.gates;
        let entry = self.table.entry(
            hash,
            |&at| gates[at as usize] == gate,
            |&at| FxBuildHasher.hash_one(gates[at as usize]),
        );
        let at = match entry {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(place) => {
                place.insert(self.gates.len() as u32);
                self.push(gate)
            }
        };
        Lit::of(at as usize)
    }

    /// A free bit.
    pub(crate) fn input(&mut self) -> Lit {
        let at = self.push(Gate::Input);
        Lit::of(at as usize)
    }

    /// Free bits.
    pub(crate) fn inputs(&mut self, width: u32) -> Word {
        (0..width).map(|_| self.input()).collect()
    }

    /// Returns a literal for `a && b`; known and equal gates are reused.
    pub(crate) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        if a == Lit::FALSE || a == !b {
            return Lit::FALSE;
        }
        if a == Lit::TRUE || a == b {
            return b;
        }
        for (x, y) in [(a, b), (b, a)] {
            if let Gate::And(p, q) = self.gates[x.gate()] {
                if x.is_negated() {
                    // ¬(p ∧ q) ∧ y
                    if y == !p || y == !q {
                        return y;
                    }
                    if y == p {
                        return self.and(y, !q);
                    }
                    if y == q {
                        return self.and(y, !p);
                    }
                } else {
                    if y == p || y == q {
                        return x;
                    }
                    if y == !p || y == !q {
                        return Lit::FALSE;
                    }
                }
            }
        }
        self.intern(Gate::And(a, b))
    }

    /// Returns a literal for `a || b`.
    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// Returns a literal for `a != b`.
    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let negate = a.is_negated() ^ b.is_negated();
        let (a, b) = (a.negated_if(a.is_negated()), b.negated_if(b.is_negated()));
        let (a, b) = if a < b { (a, b) } else { (b, a) };
        let result = if a == b {
            Lit::FALSE
        } else if a == Lit::FALSE {
            b
        } else {
            match (self.gates[a.gate()], self.gates[b.gate()]) {
                (Gate::Xor(p, q), _) if p == b => q,
                (Gate::Xor(p, q), _) if q == b => p,
                (_, Gate::Xor(p, q)) if p == a => q,
                (_, Gate::Xor(p, q)) if q == a => p,
                _ => self.intern(Gate::Xor(a, b)),
            }
        };
        result.negated_if(negate)
    }

    /// Equal.
    pub(crate) fn iff(&mut self, a: Lit, b: Lit) -> Lit {
        !self.xor(a, b)
    }

    /// Returns a literal for `condition ? then : otherwise`.
    pub(crate) fn mux(&mut self, condition: Lit, then: Lit, otherwise: Lit) -> Lit {
        if condition.is_negated() && !condition.is_constant() {
            return self.mux(!condition, otherwise, then);
        }
        if condition == Lit::TRUE || then == otherwise {
            return then;
        }
        if condition == Lit::FALSE {
            return otherwise;
        }
        if then == !otherwise {
            return self.iff(condition, then);
        }
        if then == Lit::TRUE || then == condition {
            return self.or(condition, otherwise);
        }
        if then == Lit::FALSE || then == !condition {
            return self.and(!condition, otherwise);
        }
        if otherwise == Lit::TRUE || otherwise == !condition {
            return self.or(!condition, then);
        }
        if otherwise == Lit::FALSE || otherwise == condition {
            return self.and(condition, then);
        }
        let negate = then.is_negated();
        self.intern(Gate::Mux(
            condition,
            then.negated_if(negate),
            otherwise.negated_if(negate),
        ))
        .negated_if(negate)
    }

    /// Returns a literal that is true if at least two of the three are.
    pub(crate) fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut lits = [a, b, c];
        lits.sort_unstable();
        let [a, b, c] = lits;
        if a == b || a == !c {
            return b;
        }
        if b == c || a == !b {
            return c;
        }
        if b == !c {
            return a;
        }
        // A constant comes first.
        if a == Lit::FALSE {
            return self.and(b, c);
        }
        if a == Lit::TRUE {
            return self.or(b, c);
        }
        // It is its own dual: of it and its negation one is kept.
        let negate = a.is_negated();
        self.intern(Gate::Majority(
            a.negated_if(negate),
            b.negated_if(negate),
            c.negated_if(negate),
        ))
        .negated_if(negate)
    }

    /// All of them.
    pub(crate) fn all(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        lits.into_iter()
            .fold(Lit::TRUE, |so_far, lit| self.and(so_far, lit))
    }

    /// Returns a literal that is true if at least one of these is.
    pub(crate) fn any(&mut self, lits: impl IntoIterator<Item = Lit>) -> Lit {
        lits.into_iter()
            .fold(Lit::FALSE, |so_far, lit| self.or(so_far, lit))
    }
}

impl Gates {
    /// Computes the outputs of all gates for 64 assignments at once. `inputs` are in the order in which they were made.
    #[cfg(test)]
    pub(crate) fn simulated(&self, inputs: &[u64]) -> Vec<u64> {
        let mut inputs = inputs.iter();
        let mut values: Vec<u64> = Vec::with_capacity(self.gates.len());
        for &gate in &self.gates {
            let of = |lit: Lit| {
                let value = values[lit.gate()];
                if lit.is_negated() { !value } else { value }
            };
            let value = match gate {
                Gate::False => 0,
                Gate::Input => *inputs.next().expect("a value for each input"),
                Gate::And(a, b) => of(a) & of(b),
                Gate::Xor(a, b) => of(a) ^ of(b),
                Gate::Mux(c, a, b) => of(c) & of(a) | !of(c) & of(b),
                Gate::Majority(a, b, c) => of(a) & of(b) | of(c) & (of(a) | of(b)),
            };
            values.push(value);
        }
        values
    }
}
