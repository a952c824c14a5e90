//! Builds the space of a hole: which templates are filled with which pools at which site, and at what
//! cost.

mod additions;
mod alike;
mod assignments;
mod choices;
mod crash_free;
mod levels;
mod likelihood;
mod rearrangements;

pub use assignments::ASSIGNMENT_COST;

use patchwright_csource::{ExprId, Function};
use patchwright_semantics::{BinaryOp, UnaryOp};
use rustc_hash::FxHashMap;

use self::likelihood::LeafKind;
use crate::{
    distant::Leaves,
    familiar::{Familiar, is_of_bits},
    holes::{Hole, HoleKind},
    pools::{PoolId, Pools},
    sites::{Parents, Site, operands, sites, uses},
    space::{Block, Schema, Space, SpaceLimits, Step, Template, Way, original},
    term::{
        self, CType, Context, Kind, Operand, Pointees, Precedence, Term, binary_type,
        conditional_type, unary_type,
    },
};

/// With how many leaves constants from elsewhere are compared.
const NEAREST: usize = 8;

/// What it costs beyond its nodes to cut off a part of a number.
const NARROWING: u32 = 2;

/// What it costs beyond its nodes to move a pointer to a structure of which no function moves one.
const BESIDE_ONE: u32 = 2;

/// What it costs beyond its nodes to compare what a comparison gives.
const CHAINED_COMPARISON: u32 = 2;

/// What it costs beyond its nodes to compare a character with what counts bytes: `length < *s`.
const CHARACTER_AS_SIZE: u32 = 2;

/// What a negative number from elsewhere costs more than others: tests have them, programs hardly ever.
const NEGATIVE: u32 = 2;

/// What it costs beyond its nodes to calculate where an enumerator is named: `state = DONE - n`.
const CALCULATED_ENUMERATOR: u32 = 2;

/// What a choice between two indices costs beyond its nodes.
const CHOSEN_INDEX: u32 = 2;

/// What it costs beyond its nodes to calculate with a `bool` or with what a comparison gives, or a value for a `bool`: `after_newline + n`.
const CALCULATED_TRUTH: u32 = 2;

/// Whether a macro looks at the type of what fills the hole.
fn keeps_type(hole: &Hole, function: &Function) -> bool {
    let is_value = matches!(hole.kind, HoleKind::Expression { .. });
    is_value && function.is_typed_argument(hole.span)
}

impl Space {
    /// Builds the space of `hole` from the given leaves.
    pub fn build(
        hole: Hole,
        leaves: Leaves,
        function: &Function,
        parents: &Parents,
        expr: Option<ExprId>,
        pointees: &Pointees,
        limits: SpaceLimits,
    ) -> Space {
        let root = original(&hole);
        let truth = hole.context == Context::Truth;
        let uses = match (&hole.kind, expr) {
            (HoleKind::Expression { .. }, Some(id)) => uses(function, id, &root),
            _ => Vec::new(),
        };
        let sites = match (&hole.kind, expr) {
            (HoleKind::Expression { .. }, Some(id)) => sites(function, parents, id, &root, truth),
            _ => vec![Site {
                path: Vec::new(),
                term: root.clone(),
                span: hole.span,
                least: expr.map_or(Precedence::Assignment, |id| {
                    if hole.in_macro_argument {
                        Precedence::Postfix
                    } else {
                        parents.least(function, function.stripped(id))
                    }
                }),
                below_or: !hole.in_macro_argument
                    && expr.is_some_and(|id| parents.is_below_or(function, function.stripped(id))),
                truth,
                is_enumerator: false,
            }],
        };
        let mut builder = SpaceBuilder {
            keeps_type: keeps_type(&hole, function),
            familiar: Familiar::of(function),
            space: Space {
                hole,
                pools: Pools::default(),
                sites,
                uses,
                blocks: Vec::new(),
                ways: Vec::new(),
                given: Vec::new(),
                candidates: 0,
            },
            pointees,
            root,
            leaves: Vec::new(),
            nearest: Vec::new(),
            distant: Vec::new(),
            distant_constants: Vec::new(),
            crash_free: Vec::new(),
            greatest: Vec::new(),
            places: 0,
            fixed: FxHashMap::default(),
            ways: FxHashMap::default(),
            relations: None,
            products: None,
            large_relations: None,
            is_argument: expr.is_some_and(|id| parents.is_argument(function, id)),
        };
        builder.leaves(leaves);
        match builder.space.hole.kind.clone() {
            HoleKind::Expression { .. } => {
                builder.expression_level_1();
                builder.clamped();
            }
            HoleKind::Guard { size, .. } => builder.deletion(size),
            HoleKind::Refinement(_) => {}
            HoleKind::Assignment(_) => builder.assign_leaves(),
            HoleKind::Choice(choice) => builder.choices(&choice),
            HoleKind::Exit(_) => {}
        }
        // Conditions have two values, so candidates are nearly free there.
        let wanted = match builder.space.hole.context {
            Context::Truth => limits.wanted.saturating_mul(limits.truth_factor),
            _ => limits.wanted,
        };
        for level in [2, 3, 5, 7] {
            if level > limits.term_size {
                break;
            }
            builder.level(level, limits.most);
            if builder.space.candidates >= wanted && level >= 3 {
                break;
            }
        }
        let mut space = builder.space;
        space.blocks.sort_by_key(|block| (block.cost, block.schema));
        space
    }
}

/// What leaves of one pool have in common: their type, whether they are null pointers, and what they are for.
type LeafKey = (CType, bool, LeafKind);

struct SpaceBuilder<'a> {
    /// A macro looks at the type of the original, so candidates are of the same type.
    keeps_type: bool,
    /// Other operators cost more.
    familiar: Familiar,
    space: Space,
    pointees: &'a Pointees,
    root: Term,
    /// Leaves by type; null pointer constants of pointer type apart.
    leaves: Vec<PoolId>,
    /// The first integers and floating values among the leaves, again, by type.
    nearest: Vec<PoolId>,
    /// What varies and comes from elsewhere ([`mod@crate::distant`]), by type…
    distant: Vec<PoolId>,
    /// …and the constants from there.
    distant_constants: Vec<PoolId>,
    /// Conditions that keep tests from crashing, each with its negation ([`mod@crate::crash_free`]).
    crash_free: Vec<(PoolId, PoolId)>,
    /// The greatest values that the hole's may have where tests crash.
    greatest: Vec<PoolId>,
    /// Places of all blocks, live or not.
    places: usize,
    fixed: FxHashMap<Term, PoolId>,
    /// Ways by site and by type of what fills it, and whether that is a null pointer constant; `None` where C's types or
    /// the hole forbid it.
    ways: FxHashMap<(usize, CType, bool), Option<u32>>,
    relations: Option<Vec<PoolId>>,
    products: Option<Vec<PoolId>>,
    large_relations: Option<Vec<PoolId>>,
    /// The hole is an argument of a call.
    is_argument: bool,
}

impl SpaceBuilder<'_> {
    fn leaves(&mut self, leaves: Leaves) {
        let is_constant = |term: &Term| matches!(term.kind(), Kind::Constant(..));
        let first_distant = leaves.near.len() as u32;
        let near: Vec<(u32, Term)> = (0..).zip(leaves.near).collect();
        let distant: Vec<(u32, Term)> = (first_distant..).zip(leaves.distant).collect();
        let numbers = near
            .iter()
            .filter(|(_, term)| !is_constant(term) && term.ctype().is_arithmetic());
        let nearest = numbers.take(NEAREST).cloned().collect();
        let (constants, varying): (Vec<_>, Vec<_>) =
            distant.into_iter().partition(|(_, term)| is_constant(term));
        let (negative, constants) =
            (constants.into_iter()).partition(|(_, term)| is_unusual_negative(term));
        self.leaves = self.leaf_pools(near);
        self.nearest = self.leaf_pools(nearest);
        self.distant = self.leaf_pools(varying);
        self.distant_constants = self.leaf_pools(constants);
        for &pool in self.distant.iter().chain(&self.distant_constants) {
            self.space.pools.surcharge(pool, 1);
        }
        for pool in self.leaf_pools(negative) {
            self.space.pools.surcharge(pool, 1 + NEGATIVE);
            self.distant_constants.push(pool);
        }
        self.crash_free_pools(leaves.crash_free);
    }

    /// Leaves, with their numbers among all leaves, as pools by type.
    fn leaf_pools(&mut self, leaves: Vec<(u32, Term)>) -> Vec<PoolId> {
        // Constants apart from what varies, and sizes: they are filled in for other reasons.
        let mut by_type: Vec<(LeafKey, Vec<Term>, Vec<u32>)> = Vec::new();
        for (rank, term) in leaves {
            let null = matches!(term.ctype(), CType::Pointer(_))
                && term.operand(self.pointees).is_null_pointer_constant;
            let kind = LeafKind::of(&term, &self.space.hole.atoms.table);
            let key = (term.ctype(), null, kind);
            match by_type.iter_mut().find(|(known, ..)| *known == key) {
                Some((_, terms, ranks)) => {
                    if !terms.contains(&term) {
                        terms.push(term);
                        ranks.push(rank);
                    }
                }
                None => by_type.push((key, vec![term], vec![rank])),
            }
        }
        let (pools, atoms) = (&mut self.space.pools, &self.space.hole.atoms.table);
        by_type
            .into_iter()
            .filter_map(|(_, terms, ranks)| pools.add_terms(terms, ranks, atoms, self.pointees))
            .collect()
    }

    fn fixed(&mut self, term: &Term) -> Option<PoolId> {
        if let Some(&id) = self.fixed.get(term) {
            return Some(id);
        }
        let atoms = &self.space.hole.atoms.table;
        let id =
            self.space
                .pools
                .add_terms(vec![term.clone()], Vec::new(), atoms, self.pointees)?;
        self.fixed.insert(term.clone(), id);
        Some(id)
    }

    fn length(&self, id: PoolId) -> usize {
        self.space.pools.get(id).length
    }

    /// What the terms of a pool cost.
    fn cost(&self, id: PoolId) -> u32 {
        self.space.pools.get(id).cost
    }

    /// Adds a block if C's types allow it.
    fn block(&mut self, site: usize, template: Template, cost: u32, schema: Schema, most: usize) {
        let length = Space::pools_of(template)
            .into_iter()
            .map(|id| self.length(id))
            .product::<usize>();
        // Places are numbered with 32 bits ([`crate::Level`]).
        let is_too_long = self.places + length > u32::MAX as usize;
        if length == 0 || self.space.candidates + length > most || is_too_long {
            return;
        }
        if !self.keeps_what_is_captured(site, template) || self.is_zero_for_null(template) {
            return;
        }
        let Some(filling) = self.filling_type(template) else {
            return;
        };
        let place = &self.space.sites[site];
        let is_cast = match template {
            Template::Cast(..) => true,
            // Nothing but the same number is put in place of a constant as it is.
            Template::One(pool) => {
                self.space.pools.is_fixed(pool) && matches!(place.term.kind(), Kind::Constant(..))
            }
            _ => false,
        };
        if !place.truth && !is_cast && !self.fits(filling, &place.term) {
            return;
        }
        let place_is_truth = place.truth;
        let beyond = self.beyond(place, template, filling.ctype);
        let Some(way) = self.way(site, filling) else {
            return;
        };
        if self.keeps_type && self.space.ways[way as usize].result != self.root.ctype() {
            return;
        }
        // Numbers as conditions, signs and casts are rarely what a person would change.
        let schema = match template {
            Template::Binary(op, ..) if place_is_truth && !op.is_comparison() => {
                Schema::UnusualExpression
            }
            // So are comparisons of what a comparison gives: `a < b <= c`.
            Template::Binary(op, a, b)
                if op.is_comparison() && (self.is_truth_value(a) || self.is_truth_value(b)) =>
            {
                schema.max(Schema::UnusualExpression)
            }
            // What a call gives is compared, or one more or less is taken.
            Template::Binary(op, ..)
                if self.space.hole.captured.is_some()
                    && !op.is_comparison()
                    && !matches!(op, BinaryOp::Add | BinaryOp::Sub) =>
            {
                Schema::UnusualExpression
            }
            // So is what the function does nowhere else.
            Template::Binary(op, ..)
                if schema == Schema::Expression && self.familiar.binary(op) > 0 =>
            {
                Schema::UnusualExpression
            }
            // So is a choice in a condition, which could say when it holds.
            Template::Select(..)
                if schema == Schema::Expression && self.space.hole.context == Context::Truth =>
            {
                Schema::UnusualExpression
            }
            Template::Cast(to, _) if to.is_floating() => schema,
            Template::Unary(UnaryOp::Neg | UnaryOp::Complement, _) | Template::Cast(..) => {
                Schema::UnusualExpression
            }
            Template::One(pool) if place_is_truth && self.space.pools.is_constant(pool, 0) => {
                schema.max(Schema::UnusualExpression)
            }
            _ => schema,
        };
        let block = Block {
            site: site as u32,
            template,
            cost: cost + beyond,
            schema,
            length: length as u32,
            way,
        };
        let live = self.space.live(&block);
        if live > 0 {
            self.space.candidates += live;
            self.places += length;
            self.space.blocks.push(block);
        }
    }

    /// What a template costs beyond its nodes, where it gives a value of type `filled` at a site.
    fn beyond(&self, site: &Site, template: Template, filled: CType) -> u32 {
        let is_pointer = |ctype: CType| matches!(ctype, CType::Pointer(_));
        let is_alone = |ctype| matches!(ctype, CType::Pointer(to) if self.pointees[to].is_alone);
        let calculates =
            is_pointer(site.term.ctype()) && matches!(site.term.kind(), Kind::Binary(..));
        let of_enumeration = match template {
            Template::Binary(..)
            | Template::Unary(..)
            | Template::Cast(..)
            | Template::Extreme(..)
                if site.is_enumerator =>
            {
                CALCULATED_ENUMERATOR
            }
            _ => 0,
        };
        // The number that a character is counts no bytes.
        let is_character =
            |ctype: CType| matches!(ctype, CType::Char | CType::SChar | CType::UChar);
        let is_size = self.space.hole.context == Context::Convert(CType::ULong);
        let counts = is_size
            && site.term.ctype().is_integer()
            && !is_character(site.term.ctype())
            && !matches!(site.term.kind(), Kind::Constant(..));
        let of_character =
            counts && is_character(filled) && !self.familiar.calculates_with_characters();
        u32::from(of_character)
            + of_enumeration
            + match template {
                Template::Binary(..) if is_alone(filled) => BESIDE_ONE + u32::from(!calculates),
                // Where nothing is known of what lies round an object, what is read beside it passes by chance.
                Template::Binary(..) | Template::Select(..)
                    if is_pointer(filled) && self.space.assigned().is_none() =>
                {
                    u32::from(!calculates)
                }
                // `n < most >= x` passes by chance.
                Template::Binary(op, a, b) if op.is_comparison() => {
                    let is_chain = self.is_truth_value(a) || self.is_truth_value(b);
                    self.character_as_size(op, a, b) + if is_chain { CHAINED_COMPARISON } else { 0 }
                }
                Template::Binary(op, a, b) => {
                    // Bits of what a function returns are rarely what it returns it for.
                    let of_call = self.space.hole.captured.is_some();
                    let is_truth = |pool: PoolId| {
                        self.space.pools.get(pool).ctype == CType::Bool || self.is_truth_value(pool)
                    };
                    let of_truth = !is_of_bits(op)
                        && (site.term.ctype() == CType::Bool || is_truth(a) || is_truth(b));
                    let is_character = is_character(site.term.ctype())
                        && !self.familiar.calculates_with_characters();
                    self.familiar.binary(op)
                        + u32::from(is_character)
                        + u32::from(of_call && is_of_bits(op))
                        + if of_truth { CALCULATED_TRUTH } else { 0 }
                }
                // Which element it is does not depend on what another one holds.
                Template::Select(..) if matches!(self.space.hole.context, Context::Index(_)) => {
                    CHOSEN_INDEX
                }
                Template::Unary(op, _) => self.familiar.unary(op),
                Template::Cast(to, a) if !to.is_floating() => {
                    // What is cut off is rarely meant to be.
                    let from = self.space.pools.get(a).ctype.value_type();
                    let narrows = from.is_integer() && to.value_type().size() < from.size();
                    self.familiar.cast() + if narrows { NARROWING } else { 0 }
                }
                _ => 0,
            }
    }

    /// What it costs beyond its nodes to compare two pools' terms, where one holds characters and the other numbers so large that they
    /// count bytes.
    fn character_as_size(&self, op: BinaryOp, a: PoolId, b: PoolId) -> u32 {
        let is_character =
            |ctype: CType| matches!(ctype, CType::Char | CType::SChar | CType::UChar);
        let is_size = |ctype: CType| ctype.is_integer() && ctype.value_type().size() == 8;
        let ctypes = [a, b].map(|pool| self.space.pools.get(pool).ctype);
        let is_mixed = ctypes.into_iter().any(is_character) && ctypes.into_iter().any(is_size);
        match op.is_comparison() && is_mixed {
            true => CHARACTER_AS_SIZE,
            false => 0,
        }
    }

    /// Pointers are compared with the leaf for the null pointer, not with the number 0 as well.
    fn is_zero_for_null(&self, template: Template) -> bool {
        let Template::Binary(_, a, b) = template else {
            return false;
        };
        let is_pointer =
            |pool: PoolId| matches!(self.space.pools.get(pool).ctype, CType::Pointer(_));
        let is_zero = |pool: PoolId| {
            !is_pointer(pool)
                && self.leaves.contains(&pool)
                && self.space.pools.operand(pool).is_null_pointer_constant
        };
        is_pointer(a) && is_zero(b) || is_pointer(b) && is_zero(a)
    }

    /// What has effects must be evaluated exactly once, whatever else changes.
    fn keeps_what_is_captured(&self, site: usize, template: Template) -> bool {
        if self.space.hole.captured.is_none() || !contains_captured(&self.space.sites[site].term) {
            return true;
        }
        let contains = |pool: PoolId| self.space.part(pool, 0).is_some_and(contains_captured);
        match template {
            // What is behind is evaluated afterwards, in the program as here; what is in front would be evaluated before.
            Template::And(left, right) | Template::Or(left, right) => {
                return contains(left) && !contains(right);
            }
            // C does not say which operand comes first, and compilers mostly take the left one: it would be read before.
            Template::Binary(_, left, right) if contains(right) => {
                let pools = &self.space.pools;
                if !pools.is_fixed(left) && !pools.get(left).has_constants() {
                    return false;
                }
            }
            Template::Select(..) | Template::Extreme(..) => return false,
            _ => {}
        }
        Space::pools_of(template)
            .into_iter()
            .filter(|&pool| contains(pool))
            .count()
            == 1
    }

    /// Whether values of this type make sense in place of `old`: numbers for numbers, no floating
    /// ones for integers, pointers for pointers.
    fn fits(&self, new: Operand, old: &Term) -> bool {
        match (new.ctype, old.ctype()) {
            (CType::Pointer(_), CType::Pointer(_)) => true,
            // Only what may stand for a null pointer: it has a leaf of its own where pointers are.
            (_, CType::Pointer(_)) => false,
            (CType::Pointer(_), _) => {
                old.operand(self.pointees).is_null_pointer_constant && new.is_null_pointer_constant
            }
            (new, old) => !new.is_floating() || old.is_floating(),
        }
    }

    /// Whether a pool's terms are 0 or 1 because they are comparisons or the like.
    fn is_truth_value(&self, pool: PoolId) -> bool {
        self.space.part(pool, 0).is_some_and(levels::is_truth_value)
    }

    /// Whether the whole is a floating number, or becomes one.
    fn gives_floating_value(&self) -> bool {
        match self.space.hole.context {
            Context::Convert(to) => to.is_floating(),
            Context::Same => self.root.ctype().is_floating(),
            Context::Truth | Context::Index(_) => false,
        }
    }

    fn filling_type(&self, template: Template) -> Option<Operand> {
        let pools = &self.space.pools;
        let plain = |ctype: CType| Operand::from(ctype);
        match template {
            Template::One(a) => Some(pools.operand(a)),
            Template::Unary(op, a) => unary_type(op, pools.get(a).ctype).ok().map(plain),
            Template::Cast(to, a) => term::cast_type(pools.get(a).ctype, to, self.pointees)
                .ok()
                .map(plain),
            Template::Binary(op, a, b) => {
                binary_type(op, pools.operand(a), pools.operand(b), self.pointees)
                    .ok()
                    .map(plain)
            }
            Template::And(..) | Template::Or(..) => Some(plain(CType::Int)),
            Template::Select(_, b, c) | Template::Extreme(_, b, c) => {
                conditional_type(pools.operand(b), pools.operand(c), self.pointees)
                    .ok()
                    .map(plain)
            }
        }
    }

    /// The number of the way from a site that is filled so, if C's types and the hole allow it.
    fn way(&mut self, site: usize, filling: Operand) -> Option<u32> {
        let key = (site, filling.ctype, filling.is_null_pointer_constant);
        if let Some(known) = self.ways.get(&key) {
            return *known;
        }
        let mut steps = Vec::new();
        let path = &self.space.sites[site].path;
        let result = self.path_steps(&self.root, path, filling, &mut steps);
        let fits = |result: Operand| match self.space.hole.context {
            Context::Truth => true,
            Context::Convert(to) => term::is_assignable(result, to, self.pointees),
            Context::Index(_) => term::is_assignable(result, CType::Long, self.pointees),
            Context::Same => term::promote(result.ctype) == term::promote(self.root.ctype()),
        };
        let way = result.filter(|&result| fits(result)).map(|result| {
            self.space.ways.push(Way {
                steps,
                result: result.ctype,
            });
            self.space.ways.len() as u32 - 1
        });
        self.ways.insert(key, way);
        way
    }

    /// The operators from the site up to the root, and the type of the whole.
    fn path_steps(
        &self,
        term: &Term,
        path: &[u8],
        filling: Operand,
        steps: &mut Vec<Step>,
    ) -> Option<Operand> {
        let Some((&first, rest)) = path.split_first() else {
            return Some(filling);
        };
        let parts = operands(term);
        let inner = self.path_steps(parts[first as usize], rest, filling, steps)?;
        let sibling = |i: usize| parts[i].clone();
        let operand = |i: usize| parts[i].operand(self.pointees);
        let plain = |ctype: CType| Some(Operand::from(ctype));
        match (term.kind(), first) {
            (Kind::Unary(op, _), _) => {
                steps.push(Step::Unary(*op, inner.ctype));
                plain(unary_type(*op, inner.ctype).ok()?)
            }
            (Kind::Cast(_), _) => {
                let to = term::cast_type(inner.ctype, term.ctype(), self.pointees).ok()?;
                steps.push(Step::Cast(inner.ctype, to));
                plain(to)
            }
            (Kind::Binary(op, ..), 0) => {
                let ctype = binary_type(*op, inner, operand(1), self.pointees).ok()?;
                steps.push(Step::Left(*op, inner.ctype, sibling(1)));
                plain(ctype)
            }
            (Kind::Binary(op, ..), _) => {
                let ctype = binary_type(*op, operand(0), inner, self.pointees).ok()?;
                steps.push(Step::Right(*op, sibling(0), inner.ctype));
                plain(ctype)
            }
            (Kind::LogicalAnd(..), 0) => {
                steps.push(Step::AndLeft(inner.ctype, sibling(1)));
                plain(CType::Int)
            }
            (Kind::LogicalAnd(..), _) => {
                steps.push(Step::AndRight(sibling(0), inner.ctype));
                plain(CType::Int)
            }
            (Kind::LogicalOr(..), 0) => {
                steps.push(Step::OrLeft(inner.ctype, sibling(1)));
                plain(CType::Int)
            }
            (Kind::LogicalOr(..), _) => {
                steps.push(Step::OrRight(sibling(0), inner.ctype));
                plain(CType::Int)
            }
            (Kind::Conditional(..), 0) => {
                steps.push(Step::SelectCondition(
                    inner.ctype,
                    sibling(1),
                    sibling(2),
                    term.ctype(),
                ));
                plain(term.ctype())
            }
            (Kind::Conditional(..), 1) => {
                let ctype = conditional_type(inner, operand(2), self.pointees).ok()?;
                steps.push(Step::SelectThen(sibling(0), inner.ctype, sibling(2), ctype));
                plain(ctype)
            }
            (Kind::Conditional(..), _) => {
                let ctype = conditional_type(operand(1), inner, self.pointees).ok()?;
                steps.push(Step::SelectOtherwise(
                    sibling(0),
                    sibling(1),
                    inner.ctype,
                    ctype,
                ));
                plain(ctype)
            }
            (Kind::Atom(_) | Kind::Constant(..), _) => None,
        }
    }
}

/// The term contains the part of its hole that has effects, which is atom 0.
fn contains_captured(term: &Term) -> bool {
    matches!(term.kind(), Kind::Atom(term::AtomId(0)))
        || operands(term).into_iter().any(contains_captured)
}

/// A negative integer other than -1.
fn is_unusual_negative(term: &Term) -> bool {
    match term.kind() {
        Kind::Constant(value, _) => term.ctype().is_integer() && (*value as i64) < -1,
        _ => false,
    }
}
