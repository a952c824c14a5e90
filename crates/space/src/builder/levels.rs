//! Lists, level by level, the templates with the pools that fill them, and their costs.

use patchwright_semantics::{BinaryOp, UnaryOp};

use super::{SpaceBuilder, likelihood::is_sign};
use crate::{
    exclusion::are_exchanged,
    holes::HoleKind,
    leaves::next_characters,
    pools::PoolId,
    sites::Site,
    space::{Schema, Template},
    term::{CType, Context, Kind, Term},
};

/// An operator, and a number that the function does not have.
const SCALE_COST: u32 = 3;

/// What is dropped is one decision, however long it is: a place has few such changes, and people make them as often as others.
const DROPPED_OPERAND: u32 = 2;

/// `a >= b` for `a == b`.
const ORDER_COST: u32 = 2;

/// `c <= ';'` for `c == ';'`: what comes before a sign in the order of characters, nobody means; before a letter, a digit or a blank is another matter.
const ORDER_OF_SIGN_COST: u32 = 3;

/// A comparison where something is calculated.
const TRUTH_COST: u32 = 3;

/// The choice, its condition and its other value, and that the condition is a number.
const SELECTION_COST: u32 = 4;

/// The subtraction, and the length.
const FROM_END_COST: u32 = 3;

/// The operators that compare.
pub(super) const RELATIONAL: [BinaryOp; 6] = [
    BinaryOp::Lt,
    BinaryOp::Le,
    BinaryOp::Gt,
    BinaryOp::Ge,
    BinaryOp::Eq,
    BinaryOp::Ne,
];
/// The arithmetic and bitwise operators with two operands.
pub(super) const ARITHMETIC: [BinaryOp; 10] = [
    BinaryOp::Add,
    BinaryOp::Sub,
    BinaryOp::Mul,
    BinaryOp::Div,
    BinaryOp::Rem,
    BinaryOp::Shl,
    BinaryOp::Shr,
    BinaryOp::And,
    BinaryOp::Or,
    BinaryOp::Xor,
];

impl SpaceBuilder<'_> {
    /// Adds the constant 0 as a candidate: it takes out what a condition governs.
    pub(super) fn deletion(&mut self, size: u32) {
        let zero = Term::constant(0, CType::Int, "0");
        if let Some(zero) = self.fixed(&zero) {
            self.block(0, Template::One(zero), size, Schema::Deletion, usize::MAX);
        }
    }

    /// Changes that need nothing but what the expression has: other operators, operands swapped
    /// or dropped, signs.
    pub(super) fn expression_level_1(&mut self) {
        let most = usize::MAX;
        for site in 0..self.space.sites.len() {
            let Site { term, truth, .. } = self.space.sites[site].clone();
            let Some(whole) = self.fixed(&term) else {
                continue;
            };
            let expression = Schema::Expression;
            match term.kind().clone() {
                Kind::Binary(old, l, r) => {
                    let (Some(a), Some(b)) = (self.fixed(&l), self.fixed(&r)) else {
                        continue;
                    };
                    for op in RELATIONAL.into_iter().chain(ARITHMETIC) {
                        let schema = if are_mixed_up(op, old) {
                            expression
                        } else {
                            Schema::UnusualExpression
                        };
                        // What was a number would be true or false.
                        let becomes_truth = !truth && op.is_comparison() && !old.is_comparison();
                        // Whether two variables are the same is hardly ever written where their order is meant.
                        let becomes_order =
                            old.is_equality() && op.is_comparison() && !op.is_equality();
                        let is_varying = |term: &&Term| !matches!(term.kind(), Kind::Constant(..));
                        let compared = [&l, &r];
                        let cost = match () {
                            () if becomes_truth => TRUTH_COST,
                            () if becomes_order && compared.iter().copied().any(is_sign) => {
                                ORDER_OF_SIGN_COST
                            }
                            () if becomes_order && compared.iter().all(is_varying) => ORDER_COST,
                            () => 1,
                        };
                        if op != old {
                            self.block(site, Template::Binary(op, a, b), cost, schema, most);
                        }
                    }
                    if are_exchanged(old) {
                        // Which of two is taken from the other is one decision, as in `x->count - y->count`.
                        let is_difference = old == BinaryOp::Sub
                            && [&l, &r]
                                .iter()
                                .all(|term| matches!(term.kind(), Kind::Atom(_)));
                        let cost = if is_difference { 1 } else { 2 };
                        self.block(site, Template::Binary(old, b, a), cost, expression, most);
                    }
                    // Of a comparison nothing is left that compares.
                    let dropped = |operand: &Term| match old.is_comparison() {
                        true => 1 + operand.size(),
                        false => DROPPED_OPERAND,
                    };
                    self.block(site, Template::One(a), dropped(&r), expression, most);
                    self.block(site, Template::One(b), dropped(&l), expression, most);
                }
                Kind::LogicalAnd(l, r) | Kind::LogicalOr(l, r) => {
                    let (Some(a), Some(b)) = (self.fixed(&l), self.fixed(&r)) else {
                        continue;
                    };
                    let other = if matches!(term.kind(), Kind::LogicalAnd(..)) {
                        Template::Or(a, b)
                    } else {
                        Template::And(a, b)
                    };
                    self.block(site, other, 1, expression, most);
                    self.block(site, Template::One(a), DROPPED_OPERAND, expression, most);
                    self.block(site, Template::One(b), DROPPED_OPERAND, expression, most);
                }
                Kind::Conditional(_, t, e) => {
                    let (Some(t_pool), Some(e_pool)) = (self.fixed(&t), self.fixed(&e)) else {
                        continue;
                    };
                    let cost = |kept: &Term| term.size() - kept.size();
                    self.block(site, Template::One(t_pool), cost(&t), expression, most);
                    self.block(site, Template::One(e_pool), cost(&e), expression, most);
                }
                Kind::Unary(_, inner) | Kind::Cast(inner) => {
                    if let Some(inner) = self.fixed(&inner) {
                        self.block(site, Template::One(inner), 1, expression, most);
                    }
                }
                _ => {}
            }
            self.rearrangements(site);
            self.shifted(site);
            self.same_two(site);
            self.digits_as_characters(site);
            // Signs and negations, except of constants (which have neighbours).
            if !matches!(term.kind(), Kind::Constant(..) | Kind::Unary(..)) {
                if truth {
                    self.block(
                        site,
                        Template::Unary(UnaryOp::Not, whole),
                        1,
                        expression,
                        most,
                    );
                } else if term.ctype().is_arithmetic() {
                    self.block(
                        site,
                        Template::Unary(UnaryOp::Neg, whole),
                        1 + self.unlikelihood_of_sign(site),
                        expression,
                        most,
                    );
                    if term.ctype().is_integer() {
                        let op = UnaryOp::Complement;
                        self.block(site, Template::Unary(op, whole), 1, expression, most);
                    }
                }
                // Integers that are divided, or get too large, on their way to a floating value.
                if !truth && term.ctype().is_integer() && self.gives_floating_value() {
                    let template = Template::Cast(CType::Double, whole);
                    self.block(site, template, 1, expression, most);
                }
                if !truth && term.ctype().is_integer() {
                    for to in [
                        CType::Int,
                        CType::UInt,
                        CType::Long,
                        CType::ULong,
                        CType::UChar,
                        CType::SChar,
                        CType::Short,
                        CType::UShort,
                    ] {
                        if to != term.ctype() {
                            self.block(site, Template::Cast(to, whole), 1, expression, most);
                        }
                    }
                }
            }
            // `5.0 / 9` for `5 / 9`.
            if let Kind::Constant(value, _) = term.kind()
                && term.ctype().is_integer()
                && self.gives_floating_value()
                && let Ok(value) = i32::try_from(*value)
                && let Ok(floating) = Term::literal(f64::from(value).to_bits(), CType::Double)
                && let Some(floating) = self.fixed(&floating)
            {
                self.block(site, Template::One(floating), 1, expression, most);
            }
            for next in next_characters(&term) {
                if let Some(next) = self.fixed(&next) {
                    self.block(site, Template::One(next), 1, expression, most);
                }
            }
            // The site's text by a leaf.
            let is_compared_with_constant = self.is_compared_with_constant(site);
            for leaf in self.leaves.clone() {
                // It would always be true, or never.
                if is_compared_with_constant && self.space.pools.get(leaf).has_constants() {
                    continue;
                }
                let cost = term.size() + self.unlikelihood(site, leaf);
                self.block(site, Template::One(leaf), cost, expression, most);
            }
            let mut distant = self.distant.clone();
            // A constant in place of something that is calculated fits no tests but those at hand.
            if !truth && term.size() == 1 && !is_compared_with_constant {
                distant.extend(&self.distant_constants);
            }
            let varies = !matches!(term.kind(), Kind::Constant(..));
            for leaf in distant {
                // What varied would be the same always: `n + 1` is more likely than 365 where `n` was.
                let loses = varies && self.space.pools.get(leaf).has_constants();
                let cost = term.size() - 1 + self.cost(leaf) + u32::from(loses);
                self.block(site, Template::One(leaf), cost, expression, most);
            }
        }
    }

    /// The operator that a site is an operand of, and the other operand.
    pub(super) fn beside(&self, site: usize) -> Option<(BinaryOp, &Term)> {
        self.space.beside(&self.root, site)
    }

    /// Whether the site is an operand of a comparison with a constant.
    fn is_compared_with_constant(&self, site: usize) -> bool {
        self.beside(site).is_some_and(|(op, other)| {
            op.is_comparison() && matches!(other.kind(), Kind::Constant(..))
        })
    }

    /// Returns the leaves with constants first. If a constant and a variable do the same in all tests, the variable mostly has that value
    /// by chance: `x + 1` is likelier than `x + n`.
    pub(super) fn constants_first(&self) -> Vec<PoolId> {
        let mut leaves = self.leaves.clone();
        leaves.sort_by_key(|&leaf| !self.space.pools.get(leaf).has_constants());
        leaves
    }

    /// Adds the terms of `size` nodes to all sites; at most `most` candidates in all.
    pub(super) fn level(&mut self, size: u32, most: usize) {
        match &self.space.hole.kind {
            HoleKind::Assignment(_) => return self.assign_terms(size, most),
            HoleKind::Choice(_) => return,
            HoleKind::Exit(exits) => {
                let exits = exits.clone();
                return self.exits(&exits, size, most);
            }
            _ => {}
        }
        for site in 0..self.space.sites.len() {
            match size {
                2 => self.unary_leaves(site, most),
                3 => self.pairs_at(site, most),
                5 => self.products_at(site, most),
                _ => self.large_at(site, most),
            }
        }
    }

    /// Returns the pools of all products of two leaves, made at the first call.
    pub(super) fn product_pools(&mut self) -> Vec<PoolId> {
        if let Some(pools) = &self.products {
            return pools.clone();
        }
        let pools = self.binary_pools(&ARITHMETIC, &self.leaves.clone(), &self.leaves.clone());
        self.products = Some(pools.clone());
        pools
    }

    /// Makes the pools of all pairs of two lists for each operator. Too large ones are left out.
    pub(super) fn binary_pools(
        &mut self,
        ops: &[BinaryOp],
        left: &[PoolId],
        right: &[PoolId],
    ) -> Vec<PoolId> {
        const LARGEST_POOL: usize = 4_000_000;
        let mut found = Vec::new();
        for &op in ops {
            for &a in left {
                for &b in right {
                    if self.length(a) * self.length(b) > LARGEST_POOL {
                        continue;
                    }
                    if let Ok(id) = self.space.pools.add_binary(op, a, b, self.pointees) {
                        let unusual = self.familiar.binary(op) + self.character_as_size(op, a, b);
                        self.space.pools.surcharge(id, unusual);
                        found.push(id);
                    }
                }
            }
        }
        found
    }

    fn is_expression(&self) -> bool {
        matches!(self.space.hole.kind, HoleKind::Expression { .. })
    }

    fn unary_leaves(&mut self, site: usize, most: usize) {
        self.refine(site, 1, most);
        self.refine(site, 2, most);
        if !self.is_expression() {
            return;
        }
        let Site { term, truth, .. } = self.space.sites[site].clone();
        let cost = 1 + term.size();
        let of_sign = cost + self.unlikelihood_of_sign(site);
        for leaf in self.leaves.clone() {
            if truth {
                let template = Template::Unary(UnaryOp::Not, leaf);
                self.block(site, template, cost, Schema::Expression, most);
            } else {
                let cost = of_sign;
                for op in [UnaryOp::Neg, UnaryOp::Complement] {
                    self.block(
                        site,
                        Template::Unary(op, leaf),
                        cost,
                        Schema::Expression,
                        most,
                    );
                }
            }
        }
    }

    /// Terms of two leaves, the site's term combined with a leaf, and choices.
    fn pairs_at(&mut self, site: usize, most: usize) {
        self.refine(site, 3, most);
        if !self.is_expression() {
            return;
        }
        let Site { term, truth, .. } = self.space.sites[site].clone();
        let schema = Schema::Expression;
        let ops: Vec<BinaryOp> = RELATIONAL.into_iter().chain(ARITHMETIC).collect();
        let leaves = self.leaves.clone();
        let Some(whole) = self.fixed(&term) else {
            return;
        };
        let constants_first = self.constants_first();
        let distant_constants = self.distant_constants.clone();
        for &op in &ops {
            if let Kind::Binary(_, l, r) = term.kind().clone()
                && let (Some(l_pool), Some(r_pool)) = (self.fixed(&l), self.fixed(&r))
            {
                for &leaf in &leaves {
                    // The operator and one operand change.
                    let cost = 1 + r.size();
                    self.block(site, Template::Binary(op, l_pool, leaf), cost, schema, most);
                    let cost = 1 + l.size();
                    self.block(site, Template::Binary(op, leaf, r_pool), cost, schema, most);
                }
                // Another limit, compared in another way.
                let is_limit = op.is_comparison() && matches!(r.kind(), Kind::Constant(..));
                for &limit in distant_constants.iter().filter(|_| is_limit) {
                    let cost = 1 + self.cost(limit);
                    let template = Template::Binary(op, l_pool, limit);
                    self.block(site, template, cost, schema, most);
                }
            }
            let relational = op.is_comparison();
            if relational && !truth && !is_truth_value(&term) {
                continue;
            }
            for &a in &leaves {
                for &b in &leaves {
                    let cost = match term.kind() {
                        Kind::Binary(_, l, r) => 1 + l.size() + r.size(),
                        _ => 2 + term.size(),
                    };
                    self.block(site, Template::Binary(op, a, b), cost, schema, most);
                }
            }
            if matches!(term.kind(), Kind::Constant(..)) {
                continue;
            }
            let added = if relational {
                &leaves
            } else {
                &constants_first
            };
            for &a in added {
                let cost = 1 + self.cost(a);
                self.block(site, Template::Binary(op, whole, a), cost, schema, most);
                if !op.is_commutative() && !relational {
                    self.block(site, Template::Binary(op, a, whole), cost, schema, most);
                }
            }
            let is_usual =
                relational || matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul);
            for &a in self.distant.clone().iter().filter(|_| is_usual) {
                let cost = 1 + self.cost(a);
                self.block(site, Template::Binary(op, whole, a), cost, schema, most);
            }
        }
        if !truth && term.ctype().is_integer() && matches!(term.kind(), Kind::Atom(_)) {
            self.counted_from_the_end(site, whole, most);
        }
        if !truth && term.ctype().is_arithmetic() && !matches!(term.kind(), Kind::Constant(..)) {
            for base in self.decimal_bases() {
                for op in [BinaryOp::Mul, BinaryOp::Div] {
                    self.block(
                        site,
                        Template::Binary(op, whole, base),
                        SCALE_COST,
                        schema,
                        most,
                    );
                }
            }
        }
        if !truth {
            // A limit that may be any number would be chosen so that the choice fits.
            let mut known: Vec<PoolId> = self.crash_free.iter().map(|&(holds, _)| holds).collect();
            known.retain(|&holds| self.cost(holds) == 0);
            for holds in known {
                for &b in &constants_first {
                    self.block(site, Template::Select(holds, whole, b), 2, schema, most);
                }
            }
            for &a in &leaves {
                for &b in &leaves {
                    for template in [Template::Select(a, whole, b), Template::Select(a, b, whole)] {
                        self.block(site, template, SELECTION_COST, schema, most);
                    }
                }
            }
            if self.space.hole.context != Context::Truth {
                self.extremes(site, whole, &leaves, most);
            }
        }
    }

    /// `n - 1 - i` for `i`: the element that is as far from the end.
    fn counted_from_the_end(&mut self, site: usize, whole: PoolId, most: usize) {
        let one = Term::constant(1, CType::Int, "1");
        let Some(one) = self.fixed(&one) else {
            return;
        };
        let is_integer = |pool: &PoolId| self.space.pools.get(*pool).ctype.is_integer();
        let nearest: Vec<PoolId> = self.nearest.iter().copied().filter(is_integer).collect();
        for last in self.binary_pools(&[BinaryOp::Sub], &nearest, &[one]) {
            let template = Template::Binary(BinaryOp::Sub, last, whole);
            self.block(site, template, FROM_END_COST, Schema::Expression, most);
        }
    }

    /// What people multiply and divide by even if the function has no such number: digits and per cent.
    fn decimal_bases(&mut self) -> Vec<PoolId> {
        let leaves = self.leaves.clone();
        let is_leaf = |builder: &Self, value: u64| {
            leaves.iter().any(|&leaf| {
                let pools = &builder.space.pools;
                let mut lanes = 0..pools.get(leaf).length;
                let is_it = |lane| pools.facts(leaf, lane).constant == Some(value);
                pools.get(leaf).ctype.is_integer() && lanes.any(is_it)
            })
        };
        let mut found = Vec::new();
        for value in [10, 100] {
            if !is_leaf(self, value) {
                found.extend(self.fixed(&Term::constant(value, CType::Int, value.to_string())));
            }
        }
        found
    }

    /// The lesser and the greater of the site's term and a leaf, and of two leaves.
    fn extremes(&mut self, site: usize, whole: PoolId, leaves: &[PoolId], most: usize) {
        let term = self.space.sites[site].term.clone();
        let is_number = |pool: PoolId, builder: &Self| {
            let ctype = builder.space.pools.get(pool).ctype;
            ctype.is_arithmetic() && ctype != CType::Bool
        };
        if !is_number(whole, self) {
            return;
        }
        let is_constant = matches!(term.kind(), Kind::Constant(..));
        let schema = Schema::Expression;
        for op in [BinaryOp::Lt, BinaryOp::Gt] {
            for &a in leaves {
                if !is_number(a, self) {
                    continue;
                }
                if !is_constant {
                    // The comparison, the choice, the leaf twice and the term once more.
                    let cost = 4 + term.size();
                    self.block(site, Template::Extreme(op, whole, a), cost, schema, most);
                }
                for &b in leaves {
                    if is_number(b, self) {
                        let cost = 5 + term.size();
                        self.block(site, Template::Extreme(op, a, b), cost, schema, most);
                    }
                }
            }
        }
    }

    fn products_at(&mut self, site: usize, most: usize) {
        self.refine(site, 5, most);
        if !self.is_expression() {
            return;
        }
        let Site { term, truth, .. } = self.space.sites[site].clone();
        let schema = Schema::Expression;
        let leaves = self.leaves.clone();
        let products = self.product_pools();
        let ops: &[BinaryOp] = if truth { &RELATIONAL } else { &ARITHMETIC };
        for &op in ops {
            for &a in &products {
                let cost = 1 + term.size() + self.cost(a);
                for &b in &leaves {
                    self.block(site, Template::Binary(op, a, b), cost, schema, most);
                    if !truth && !op.is_commutative() {
                        self.block(site, Template::Binary(op, b, a), cost, schema, most);
                    }
                }
            }
        }
    }

    fn large_at(&mut self, site: usize, most: usize) {
        let Site { term, truth, .. } = self.space.sites[site].clone();
        if !self.is_expression() || !truth {
            return;
        }
        let products = self.product_pools();
        for op in RELATIONAL {
            for &a in &products {
                for &b in &products {
                    let cost = term.size() + self.cost(a) + self.cost(b);
                    let template = Template::Binary(op, a, b);
                    self.block(site, template, cost, Schema::Expression, most);
                }
            }
        }
    }
}

/// Whether people write one operator where they mean the other.
fn are_mixed_up(a: BinaryOp, b: BinaryOp) -> bool {
    let kind = |op: BinaryOp| match op {
        BinaryOp::Add | BinaryOp::Sub => 0,
        BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 1,
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => 2,
        op if op.is_shift() => 3,
        _ => 4,
    };
    kind(a) == kind(b)
}

/// A term is 0 or 1: a comparison, or what is made of such.
pub(super) fn is_truth_value(term: &Term) -> bool {
    match term.kind() {
        Kind::Binary(op, ..) => op.is_comparison(),
        Kind::Unary(op, _) => *op == UnaryOp::Not,
        Kind::LogicalAnd(..) | Kind::LogicalOr(..) => true,
        _ => false,
    }
}
