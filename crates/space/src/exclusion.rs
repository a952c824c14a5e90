//! Finds the numbers of a block that hold a candidate: those that do not repeat another candidate.

use patchwright_semantics::BinaryOp;

use crate::{
    holes::HoleKind,
    leaves::next_characters,
    pools::{Facts, PoolId, PoolKind, is_redundant},
    sites::operands,
    space::{Block, Space, Template},
    term::{Kind, Term},
};

impl Space {
    /// Returns the numbers of a block that hold a candidate, in ascending order.
    pub fn lanes(&self, block: &Block) -> Vec<u32> {
        let mut lanes = Vec::with_capacity(block.length as usize);
        self.each_lane(block, |lane| lanes.push(lane));
        lanes
    }

    /// The number of places of a block that hold a candidate.
    pub(crate) fn live(&self, block: &Block) -> usize {
        let mut live = 0;
        self.each_lane(block, |_| live += 1);
        live
    }

    fn each_lane(&self, block: &Block, take: impl FnMut(u32)) {
        let site = &self.sites[block.site as usize].term;
        // `a || b || a` is `a || b`, which takes an operand out and is a block of its own.
        let repeating = match &self.hole.kind {
            HoleKind::Expression { original, .. } => {
                repeating(original, &self.sites[block.site as usize].path)
            }
            _ => Vec::new(),
        };
        match block.template {
            Template::One(a) => {
                let original = self.place_of(a, site);
                // `x - x` and `x < x` say nothing, and fit tests by chance.
                let beside = match &self.hole.kind {
                    HoleKind::Expression { original, .. } => {
                        self.beside(original, block.site as usize)
                    }
                    _ => None,
                };
                let twin = match beside {
                    Some((BinaryOp::Add | BinaryOp::Mul | BinaryOp::Shl, _)) | None => None,
                    Some((_, other)) => self.place_of(a, other),
                };
                // What is given to a variable elsewhere, too, is cheaper.
                let given = self.given.iter().filter(|_| !self.pools.is_fixed(a));
                let next = match self.pools.is_fixed(a) {
                    true => Vec::new(),
                    false => next_characters(site),
                };
                let cheaper: Vec<usize> = given
                    .chain(repeating.iter().copied())
                    .chain(&next)
                    .filter_map(|term| self.place_of(a, term))
                    .collect();
                self.each_single(a, take, |i, facts| {
                    !facts.redundant
                        && Some(i) != original
                        && Some(i) != twin
                        && !cheaper.contains(&i)
                });
            }
            Template::Unary(_, a) => self.each_single(a, take, |_, facts| {
                !facts.redundant && facts.constant.is_none()
            }),
            Template::Cast(_, a) => self.each_single(a, take, |_, facts| facts.constant.is_none()),
            Template::And(a, b) | Template::Or(a, b) => {
                let takes = |facts: Facts| !facts.redundant && facts.constant.is_none();
                self.each_pair((a, b), take, |_, left| {
                    let takes_left = takes(left);
                    move |_, right| takes_left && takes(right)
                });
            }
            Template::Binary(op, a, b) => {
                let columns = self.pools.get(b).length;
                let repeating: Vec<u32> = (repeating.iter())
                    .filter_map(|term| match term.kind() {
                        Kind::Binary(of, l, r) if *of == op => {
                            Some((self.place_of(a, l)? * columns + self.place_of(b, r)?) as u32)
                        }
                        _ => None,
                    })
                    .collect();
                let mut take = take;
                self.each_of_binary(op, a, b, site, |lane| {
                    if !repeating.contains(&lane) {
                        take(lane);
                    }
                });
            }
            Template::Select(a, b, c) => self.each_of_selection(a, b, c, take),
            Template::Extreme(op, a, b) => {
                // The site's own term has a block of its own, in which it is no leaf.
                let is_original = |pool: PoolId, i: usize, facts: &Facts| {
                    facts.rank.is_some() && self.part(pool, i) == Some(site)
                };
                self.each_pair((a, b), take, |i, left| {
                    let is_left = is_original(a, i, &left);
                    move |j, right| {
                        !is_left
                            && !is_original(b, j, &right)
                            && !is_redundant(op, &left, &right, a == b && i == j)
                    }
                });
            }
        }
    }

    fn each_single(
        &self,
        pool: PoolId,
        mut take: impl FnMut(u32),
        takes: impl Fn(usize, Facts) -> bool,
    ) {
        for i in 0..self.pools.get(pool).length {
            if takes(i, self.pools.facts(pool, i)) {
                take(i as u32);
            }
        }
    }

    fn each_of_binary(
        &self,
        op: BinaryOp,
        a: PoolId,
        b: PoolId,
        site: &Term,
        take: impl FnMut(u32),
    ) {
        let (is_same_op, same_left, same_right) = match site.kind() {
            Kind::Binary(old, l, r) => (*old == op, self.place_of(a, l), self.place_of(b, r)),
            _ => (false, None, None),
        };
        // Operands that change places have a block of their own.
        let (other_left, other_right) = match site.kind() {
            Kind::Binary(old, l, r) if is_same_op && are_exchanged(*old) => {
                (self.place_of(a, r), self.place_of(b, l))
            }
            _ => (None, None),
        };
        let (a_is_fixed, b_is_fixed) = (self.pools.is_fixed(a), self.pools.is_fixed(b));
        // A leaf that is the site's own text is combined with others in blocks of their own.
        let is_expression = matches!(self.hole.kind, HoleKind::Expression { .. });
        let is_leaf =
            is_expression && matches!(site.kind(), Kind::Atom(_)) && !(a_is_fixed || b_is_fixed);
        let own_left = is_leaf.then(|| self.place_of(a, site)).flatten();
        let own_right = is_leaf.then(|| self.place_of(b, site)).flatten();
        // One more and one less than what is assigned to are steps, which are cheaper.
        let (step_left, step_right) = match self.assigned() {
            Some(own)
                if matches!(op, BinaryOp::Add | BinaryOp::Sub) && !(a_is_fixed || b_is_fixed) =>
            {
                (self.place_of(a, &own), self.place_of(b, &own))
            }
            _ => (None, None),
        };
        // The candidate is the original, or also stands in another block with a smaller change.
        let repeats = |is_left: bool, is_right: bool| {
            if a_is_fixed && b_is_fixed {
                is_same_op && is_left && is_right
            } else if a_is_fixed || b_is_fixed {
                // These blocks keep one operand: the other one and the operator change.
                is_same_op || is_left && is_right
            } else {
                is_left || is_right
            }
        };
        self.each_pair((a, b), take, |i, left| {
            let is_left = same_left == Some(i);
            let is_own = own_left == Some(i);
            let is_other_left = other_left == Some(i) && !(a_is_fixed || b_is_fixed);
            let (is_stepped, is_one) = (step_left == Some(i), left.constant == Some(1));
            move |j, right| {
                let is_step = is_stepped && right.constant == Some(1)
                    || is_one && op == BinaryOp::Add && step_right == Some(j);
                let is_exchange = is_other_left && other_right == Some(j);
                !is_step
                    && !is_exchange
                    && !is_redundant(op, &left, &right, a == b && i == j)
                    && !repeats(is_left, same_right == Some(j))
                    && !is_own
                    && own_right != Some(j)
            }
        });
    }

    /// Goes through pairs of two pools; `of_left` tells for a left operand which right ones are taken.
    fn each_pair<F: Fn(usize, Facts) -> bool>(
        &self,
        (a, b): (PoolId, PoolId),
        mut take: impl FnMut(u32),
        of_left: impl Fn(usize, Facts) -> F,
    ) {
        let columns = self.pools.get(b).length;
        for i in 0..self.pools.get(a).length {
            let takes = of_left(i, self.pools.facts(a, i));
            for j in 0..columns {
                if takes(j, self.pools.facts(b, j)) {
                    take((i * columns + j) as u32);
                }
            }
        }
    }

    fn each_of_selection(&self, a: PoolId, b: PoolId, c: PoolId, mut take: impl FnMut(u32)) {
        let (m, n) = (self.pools.get(b).length, self.pools.get(c).length);
        // What is given to a variable elsewhere, too, has blocks of its own.
        let b_varies = !self.pools.is_fixed(b);
        let is_given = |j: usize| {
            self.part(b, j)
                .is_some_and(|term| self.given.contains(term))
        };
        for i in 0..self.pools.get(a).length {
            let condition = self.pools.facts(a, i);
            if condition.constant.is_some() || condition.redundant {
                continue;
            }
            for j in 0..m {
                for k in 0..n {
                    let alike = (b == c && j == k) || self.part(b, j) == self.part(c, k);
                    let is_elsewhere = b_varies && is_given(j);
                    if !alike && !is_elsewhere {
                        take(((i * m + j) * n + k) as u32);
                    }
                }
            }
        }
    }

    /// Returns the old value of the assigned object as a term; `None` without an assignment, or if the object has no value there.
    pub(crate) fn assigned(&self) -> Option<Term> {
        let HoleKind::Assignment(at) = &self.hole.kind else {
            return None;
        };
        Some(Term::atom(at.target()?.atom?, &self.hole.atoms.table))
    }

    /// The operator that a site of `root` is an operand of, and the other operand.
    pub(crate) fn beside<'t>(&self, root: &'t Term, site: usize) -> Option<(BinaryOp, &'t Term)> {
        let (&last, path) = self.sites[site].path.split_last()?;
        let mut parent = root;
        for &operand in path {
            parent = operands(parent).get(usize::from(operand)).copied()?;
        }
        match parent.kind() {
            Kind::Binary(op, left, right) => Some((*op, if last == 0 { right } else { left })),
            _ => None,
        }
    }

    /// Where a term stands in a pool of terms.
    fn place_of(&self, pool: PoolId, term: &Term) -> Option<usize> {
        match &self.pools.get(pool).kind {
            PoolKind::Terms { terms, .. } => terms.iter().position(|other| other == term),
            PoolKind::Unary(..) | PoolKind::Binary(..) => None,
        }
    }

    /// Returns a term of a pool that lists its terms; `None` for pools that combine others.
    pub(crate) fn part(&self, pool: PoolId, i: usize) -> Option<&Term> {
        match &self.pools.get(pool).kind {
            PoolKind::Terms { terms, .. } => terms.get(i),
            PoolKind::Unary(..) | PoolKind::Binary(..) => None,
        }
    }
}

/// Returns the terms that would repeat another operand of a chain of `&&` or `||`, if they stood at the end of `path` within
/// `root`.
fn repeating<'t>(root: &'t Term, path: &[u8]) -> Vec<&'t Term> {
    let mut found = Vec::new();
    // The operands beside the ones that were passed on the way, of the chain that goes on here.
    let (mut at, mut beside, mut is_or) = (root, Vec::new(), None);
    for (depth, &step) in path.iter().enumerate() {
        let own = chain(at);
        if own != is_or {
            found.extend(
                beside
                    .drain(..)
                    .filter_map(|other| at_twin(at, other, &path[depth..])),
            );
            is_or = own;
        }
        if own.is_some() {
            let others = operands(at).into_iter().enumerate();
            let others = others.filter(|&(number, _)| number != usize::from(step));
            others.for_each(|(_, other)| side_by_side(other, own, &mut beside));
        }
        match operands(at).get(usize::from(step)) {
            Some(&operand) => at = operand,
            None => return found,
        }
    }
    found.extend(beside);
    found
}

/// Whether a term is an `||` or else an `&&`; `None` if it is neither.
fn chain(term: &Term) -> Option<bool> {
    match term.kind() {
        Kind::LogicalOr(..) => Some(true),
        Kind::LogicalAnd(..) => Some(false),
        _ => None,
    }
}

fn side_by_side<'t>(term: &'t Term, of: Option<bool>, found: &mut Vec<&'t Term>) {
    match chain(term) == of {
        true => (operands(term).into_iter()).for_each(|operand| side_by_side(operand, of, found)),
        false => found.push(term),
    }
}

/// What stands in `twin` at the end of `path`, if nothing else parts it from `term`.
fn at_twin<'t>(term: &Term, twin: &'t Term, path: &[u8]) -> Option<&'t Term> {
    let Some((&first, rest)) = path.split_first() else {
        return Some(twin);
    };
    let is_same_operator = match (term.kind(), twin.kind()) {
        (Kind::Binary(a, ..), Kind::Binary(b, ..)) => a == b,
        (Kind::Unary(a, _), Kind::Unary(b, _)) => a == b,
        (Kind::Cast(_), Kind::Cast(_)) => term.ctype() == twin.ctype(),
        (Kind::LogicalAnd(..), Kind::LogicalAnd(..))
        | (Kind::LogicalOr(..), Kind::LogicalOr(..))
        | (Kind::Conditional(..), Kind::Conditional(..)) => true,
        _ => false,
    };
    let pairs = operands(term).into_iter().zip(operands(twin)).enumerate();
    let mut others = pairs.filter(|&(number, _)| number != usize::from(first));
    if !is_same_operator || others.any(|(_, (own, other))| own != other) {
        return None;
    }
    let first = usize::from(first);
    at_twin(operands(term).get(first)?, operands(twin).get(first)?, rest)
}

/// Whether operands of an operator are tried in the other order.
pub(crate) fn are_exchanged(op: BinaryOp) -> bool {
    !op.is_commutative() && !op.is_comparison()
}
