//! What an expression does with two things alike, done otherwise with both: their neighbours (`s[i - 1] == t[j - 1]` for
//! `s[i] == t[j]`), or something else of both (`&& best[j] < best[i]` beside `a[j] < a[i]`).

use super::{SpaceBuilder, levels::RELATIONAL};
use crate::constants::character;
use crate::{
    leaves::digit_of,
    pools::{PoolId, PoolKind},
    sites::operands,
    space::{Schema, Template, replace},
    spelling::{Element, difference, renamed},
    term::{AtomId, CType, Kind, Term},
};

/// One mistake about where something begins, made in several places.
const SHIFT_COST: u32 = 3;

/// The name of a member or an array, which stands there twice.
const OTHERS_COST: u32 = 2;

/// So much less than its nodes costs a comparison of something else of two things that are compared.
const OF_THE_SAME_TWO: u32 = 2;

/// Most comparisons of that kind.
const MOST_PAIRS: usize = 8;

/// Numbers for the characters that digits are is one mistake, made at both ends of a range.
const DIGITS_COST: u32 = 2;

impl SpaceBuilder<'_> {
    /// `c >= '0' && c <= '9'` for `c >= 0 && c <= 9`, where the function writes characters.
    pub(super) fn digits_as_characters(&mut self, site: usize) {
        let term = self.space.sites[site].term.clone();
        if !self.familiar.writes_characters() || self.beside(site).is_some() {
            return;
        }
        let mut found: Vec<(Vec<u8>, Term)> = Vec::new();
        digits(&term, Vec::new(), &mut found);
        // One alone is a leaf.
        if found.len() < 2 {
            return;
        }
        let whole = found.iter().try_fold(term, |term, (path, digit)| {
            replace(&term, path, digit, self.pointees)
        });
        if let Some(pool) = whole.and_then(|whole| self.fixed(&whole)) {
            let template = Template::One(pool);
            self.block(site, template, DIGITS_COST, Schema::Expression, usize::MAX);
        }
    }

    /// Adds the site with all its elements moved one back or one further.
    pub(super) fn shifted(&mut self, site: usize) {
        let term = self.space.sites[site].term.clone();
        // Of an operand, all ways are found at what it is an operand of.
        let is_inner = self.beside(site).is_some();
        if is_inner || !matches!(term.kind(), Kind::Binary(..)) {
            return;
        }
        for by in [-1, 1] {
            let mut found: Vec<(Vec<u8>, Term)> = Vec::new();
            if self
                .shifted_atoms(&term, by, Vec::new(), &mut found)
                .is_none()
                || found.len() < 2
            {
                continue;
            }
            let whole = found.iter().try_fold(term.clone(), |term, (path, atom)| {
                replace(&term, path, atom, self.pointees)
            });
            if let Some(pool) = whole.and_then(|whole| self.fixed(&whole)) {
                let template = Template::One(pool);
                self.block(site, template, SHIFT_COST, Schema::Expression, usize::MAX);
            }
        }
    }

    /// The elements of a term, each shifted; `None` if one of them has no such neighbour among the atoms.
    fn shifted_atoms(
        &self,
        term: &Term,
        by: i64,
        path: Vec<u8>,
        found: &mut Vec<(Vec<u8>, Term)>,
    ) -> Option<()> {
        let atoms = &self.space.hole.atoms;
        if let Kind::Atom(id) = term.kind() {
            if let Some(element) = Element::of(&atoms.table[*id].spelling) {
                let neighbour = atoms.find(&element.shifted(by))?;
                found.push((path, Term::atom(neighbour, &atoms.table)));
            }
            return Some(());
        }
        for (number, operand) in operands(term).into_iter().enumerate() {
            let mut below = path.clone();
            below.push(number as u8);
            self.shifted_atoms(operand, by, below, found)?;
        }
        Some(())
    }

    /// Adds the site with another member of both things that it calculates with: `x->end - y->end` for `x->start - y->start`.
    pub(super) fn same_two(&mut self, site: usize) {
        let term = self.space.sites[site].term.clone();
        let Kind::Binary(op, ..) = *term.kind() else {
            return;
        };
        let atoms = self.space.hole.atoms.table.clone();
        for (left, right) in self.others_of_same_two(&term) {
            let [left, right] = [left, right].map(|id| self.fixed(&Term::atom(id, &atoms)));
            if let (Some(left), Some(right)) = (left, right) {
                let template = Template::Binary(op, left, right);
                self.block(site, template, OTHERS_COST, Schema::Expression, usize::MAX);
            }
        }
    }

    /// If a term joins the same of two things (`a[j] < a[i]`), what else of both could be joined: pairs of leaves.
    fn others_of_same_two(&self, term: &Term) -> Vec<(AtomId, AtomId)> {
        let atoms = &self.space.hole.atoms;
        let spelling = |id: AtomId| atoms.table[id].spelling.as_str();
        let mut found = Vec::new();
        let Kind::Binary(_, left, right) = term.kind() else {
            return found;
        };
        let (Kind::Atom(left), Kind::Atom(right)) = (left.kind(), right.kind()) else {
            return found;
        };
        let Some((one, other)) = difference(spelling(*left), spelling(*right)) else {
            return found;
        };
        // `i < n` says nothing of other things of `i` and `n`.
        if spelling(*left) == one {
            return found;
        }
        for leaf in self.leaf_atoms() {
            let twin = renamed(spelling(leaf), one, other).and_then(|text| atoms.find(&text));
            if let Some(twin) = twin
                && leaf != *left
                && spelling(leaf) != one
                && found.len() < MOST_PAIRS
            {
                found.push((leaf, twin));
            }
        }
        found
    }

    /// Comparisons of something else of two things that the expression compares.
    pub(super) fn pools_of_same_two(&mut self) -> Vec<PoolId> {
        let atoms = self.space.hole.atoms.table.clone();
        let mut pairs: Vec<(AtomId, AtomId)> = Vec::new();
        for site in &self.space.sites {
            if matches!(site.term.kind(), Kind::Binary(op, ..) if op.is_comparison()) {
                pairs.extend(self.others_of_same_two(&site.term));
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs.truncate(MOST_PAIRS);
        let mut found = Vec::new();
        for (left, right) in pairs {
            let [left, right] = [left, right].map(|id| self.fixed(&Term::atom(id, &atoms)));
            if let (Some(left), Some(right)) = (left, right) {
                for pool in self.binary_pools(&RELATIONAL, &[left], &[right]) {
                    self.space.pools.discount(pool, OF_THE_SAME_TWO);
                    found.push(pool);
                }
            }
        }
        found
    }

    /// The leaves that vary, numbers only, the nearest first.
    fn leaf_atoms(&self) -> Vec<AtomId> {
        let pools = self.leaves.iter().map(|&pool| self.space.pools.get(pool));
        let terms = pools
            .filter(|pool| pool.ctype.is_arithmetic())
            .filter_map(|pool| match &pool.kind {
                PoolKind::Terms { terms, .. } => Some(terms),
                _ => None,
            });
        let atoms = terms.flatten().filter_map(|term| match term.kind() {
            Kind::Atom(id) => Some(*id),
            _ => None,
        });
        atoms.collect()
    }
}

/// The numbers of one digit in comparisons, and the characters that these digits are.
fn digits(term: &Term, path: Vec<u8>, found: &mut Vec<(Vec<u8>, Term)>) {
    for (number, operand) in operands(term).into_iter().enumerate() {
        let mut below = path.clone();
        below.push(number as u8);
        let is_compared = matches!(term.kind(), Kind::Binary(op, ..) if op.is_comparison());
        match operand.kind() {
            Kind::Constant(value, spelling) if is_compared && operand.ctype().is_integer() => {
                if let Some(digit) = digit_of(i128::from(*value), spelling) {
                    let term = Term::constant(u64::from(digit), CType::Int, character(digit));
                    found.push((below, term));
                }
            }
            _ => digits(operand, below, found),
        }
    }
}
