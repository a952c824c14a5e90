//! The space of candidates at one hole: blocks of candidates of one cost.
//!
//! Nothing is enumerated up front. A [`Block`] stands for all ways to fill a template at a site
//! with the terms of its pools; a candidate is a block and a number. That is what lets ten
//! million candidates fit in memory: each costs the four bytes of its number.

use patchwright_semantics::{BinaryOp, Instruction, UnaryOp};
use patchwright_text::Span;

pub use crate::schema::Schema;
use crate::ways_out::Conditions;
use crate::{
    assign::Target,
    holes::{Added, Hole, HoleKind},
    pools::{PoolId, Pools},
    sites::{Site, operands},
    term::{self, CType, Kind, Pointees, Term},
};

/// The kinds of change to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schemas {
    /// [`Schema::Expression`] and [`Schema::UnusualExpression`].
    pub expression: bool,
    /// [`Schema::Refinement`].
    pub refinement: bool,
    /// [`Schema::Guard`] and [`Schema::Deletion`].
    pub guard: bool,
    /// [`Schema::Assignment`].
    pub assignment: bool,
    /// [`Schema::Initialization`].
    pub initialization: bool,
    /// [`Schema::Function`].
    pub function: bool,
    /// [`Schema::Swap`].
    pub swap: bool,
    /// [`Schema::Format`].
    pub format: bool,
    /// [`Schema::Operator`].
    pub operator: bool,
    /// [`Schema::Break`].
    pub breaks: bool,
    /// [`Schema::Loop`].
    pub loops: bool,
    /// [`Schema::Move`].
    pub moves: bool,
    /// [`Schema::Exit`], under these conditions.
    pub exits: Option<Conditions>,
    /// [`Schema::Exit`] where a function begins, under comparisons of what it is given.
    pub entries: bool,
    /// [`Schema::Declaration`].
    pub declarations: bool,
}

impl Default for Schemas {
    /// All, but exits only where tests crash: others overfit.
    fn default() -> Self {
        Schemas {
            exits: Some(Conditions::CrashFree),
            ..Schemas::ALL
        }
    }
}

impl Schemas {
    /// All kinds of change.
    pub const ALL: Schemas = Schemas {
        expression: true,
        refinement: true,
        guard: true,
        assignment: true,
        initialization: true,
        function: true,
        swap: true,
        format: true,
        operator: true,
        breaks: true,
        loops: true,
        moves: true,
        exits: Some(Conditions::All),
        entries: true,
        declarations: true,
    };

    /// No kind of change.
    pub const NONE: Schemas = Schemas {
        expression: false,
        refinement: false,
        guard: false,
        assignment: false,
        initialization: false,
        function: false,
        swap: false,
        format: false,
        operator: false,
        breaks: false,
        loops: false,
        moves: false,
        exits: None,
        entries: false,
        declarations: false,
    };

    /// Whether changes of this kind are tried.
    pub fn contains(&self, schema: Schema) -> bool {
        match schema {
            Schema::Expression | Schema::UnusualExpression => self.expression,
            Schema::Refinement => self.refinement,
            Schema::Guard | Schema::Deletion => self.guard,
            Schema::Assignment => self.assignment,
            Schema::Initialization => self.initialization,
            Schema::Function => self.function,
            Schema::Swap => self.swap,
            Schema::Format => self.format,
            Schema::Operator => self.operator,
            Schema::Break => self.breaks,
            Schema::Loop => self.loops,
            Schema::Move => self.moves,
            Schema::Exit => self.exits.is_some() || self.entries,
            Schema::Declaration => self.declarations,
        }
    }
}

/// The form of what a block's candidates put at their site, with the pools that fill it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// A term of the pool.
    One(PoolId),
    /// `op t`
    Unary(UnaryOp, PoolId),
    /// `(type) t`
    Cast(CType, PoolId),
    /// `l op r`
    Binary(BinaryOp, PoolId, PoolId),
    /// `l && r`
    And(PoolId, PoolId),
    /// `l || r`
    Or(PoolId, PoolId),
    /// `c ? t : e`; at most one of the pools has more than one term besides `c`.
    Select(PoolId, PoolId, PoolId),
    /// `l < r ? l : r` or `l > r ? l : r`: the lesser or the greater of two.
    Extreme(BinaryOp, PoolId, PoolId),
}

/// Candidates of one cost, one site and one template. Spaces have up to a million of them.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Where they differ from the original.
    pub site: u32,
    /// How the candidates of the block are built.
    pub template: Template,
    /// Their cost: nodes added, changed and removed (f1x, section 5).
    pub cost: u32,
    /// The kind of change.
    pub schema: Schema,
    /// Number of places, live or not.
    pub length: u32,
    /// How to get from the site's value to that of the whole: its number in [`Space::ways`].
    pub(crate) way: u32,
}

/// How to get from a site's value to that of the whole.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    /// The operators, from the inside out.
    pub(crate) steps: Vec<Step>,
    /// The type of the whole.
    pub(crate) result: CType,
}

/// One operator on the way from a site to the root.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Unary(UnaryOp, CType),
    Cast(CType, CType),
    /// The site's value is the left operand; type, sibling.
    Left(BinaryOp, CType, Term),
    Right(BinaryOp, Term, CType),
    AndLeft(CType, Term),
    AndRight(Term, CType),
    OrLeft(CType, Term),
    OrRight(Term, CType),
    SelectCondition(CType, Term, Term, CType),
    SelectThen(Term, CType, Term, CType),
    SelectOtherwise(Term, Term, CType, CType),
}

/// How many times as large the spaces of conditions are when whole spaces are explored.
const WHOLE_TRUTH_FACTOR: usize = 20;

/// The limits of a space's size.
#[derive(Clone, Copy, Debug)]
pub struct SpaceLimits {
    /// Terms get larger until a space has this many candidates (of conditions `truth_factor` times as many)…
    pub wanted: usize,
    /// How many times as large spaces of conditions are: they have few classes.
    pub truth_factor: usize,
    /// …or this many nodes…
    pub term_size: u32,
    /// …but never so many candidates that this is exceeded.
    pub most: usize,
}

impl SpaceLimits {
    /// Returns the limits for at least `wanted` candidates, if terms of `term_size` nodes give as
    /// many. A larger `wanted` also raises the ceiling.
    pub fn wanting(wanted: usize, term_size: u32) -> Self {
        let default = SpaceLimits::default();
        SpaceLimits {
            wanted,
            term_size,
            most: default.most.max(wanted.saturating_mul(WHOLE_TRUTH_FACTOR)),
            ..default
        }
    }

    /// Returns the limits for the exploration of whole spaces. Conditions get larger terms, because
    /// they hardly need more executions.
    pub fn of_whole_spaces(self) -> Self {
        SpaceLimits {
            truth_factor: WHOLE_TRUTH_FACTOR,
            ..self
        }
    }
}

impl Default for SpaceLimits {
    fn default() -> Self {
        SpaceLimits {
            wanted: 50_000,
            truth_factor: 1,
            term_size: 7,
            most: 10_000_000,
        }
    }
}

/// All candidates of one hole.
#[derive(Clone, Debug)]
pub struct Space {
    /// The hole.
    pub hole: Hole,
    /// The terms that fill sites.
    pub pools: Pools,
    /// Where candidates differ from the original.
    pub sites: Vec<Site>,
    /// Parts of the original that are whole uses of macros, and where these are written.
    pub(crate) uses: Vec<(Term, Span)>,
    /// Blocks, cheapest first.
    pub blocks: Vec<Block>,
    /// What leads from sites to the whole.
    pub(crate) ways: Vec<Way>,
    /// Of the leaves those that the assigned variable is given elsewhere in the function: they cost less than others.
    pub(crate) given: Vec<Term>,
    /// Number of candidates.
    pub candidates: usize,
}

impl Space {
    /// Returns an estimate of the memory in bytes.
    pub fn bytes(&self) -> usize {
        self.pools.bytes() + self.blocks.capacity() * size_of::<Block>()
    }
}

/// The number of a candidate of a [`Space`]: its block, and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CandidateId {
    /// The block.
    pub block: u32,
    /// The place in the block.
    pub lane: u32,
}

/// Returns the term that a hole's candidates change: the expression that stands there, `1` for guards,
/// `0` for choices.
pub fn original(hole: &Hole) -> Term {
    match &hole.kind {
        HoleKind::Expression { original, .. } => original.clone(),
        HoleKind::Refinement(Added::Behind) => Term::atom(term::AtomId(0), &hole.atoms.table),
        HoleKind::Refinement(Added::OrBefore(_)) => Term::constant(0, CType::Int, "0"),
        HoleKind::Refinement(Added::AndBefore(_)) => Term::constant(1, CType::Int, "1"),
        HoleKind::Guard { .. } => Term::constant(1, CType::Int, "1"),
        HoleKind::Assignment(at) => match at.target() {
            Some(Target {
                atom: Some(atom), ..
            }) => Term::atom(*atom, &hole.atoms.table),
            Some(target) => Term::constant(0, target.ctype, "0"),
            None => Term::constant(0, CType::Int, "0"),
        },
        HoleKind::Choice(_) | HoleKind::Exit(_) => Term::constant(0, CType::Int, "0"),
    }
}

impl Space {
    /// The pools that a block draws from, the last one varying fastest.
    pub(crate) fn pools_of(template: Template) -> Vec<PoolId> {
        match template {
            Template::One(a) | Template::Unary(_, a) | Template::Cast(_, a) => vec![a],
            Template::Binary(_, a, b)
            | Template::And(a, b)
            | Template::Or(a, b)
            | Template::Extreme(_, a, b) => vec![a, b],
            Template::Select(a, b, c) => vec![a, b, c],
        }
    }

    /// Returns the term of a candidate: the whole expression with its site replaced.
    pub fn term(&self, id: CandidateId, pointees: &Pointees) -> Option<Term> {
        let block = &self.blocks[id.block as usize];
        let filled = self.filling(id, pointees)?;
        let site = &self.sites[block.site as usize];
        replace(&original(&self.hole), &site.path, &filled, pointees)
    }

    /// Returns a candidate as code for the probe. It is `None` if C's types forbid it.
    pub fn code(&self, id: CandidateId, pointees: &Pointees) -> Option<Vec<Instruction>> {
        let term = self.term(id, pointees)?;
        let code =
            term::compile(&term, self.hole.context, &self.hole.atoms.table, pointees).ok()?;
        (!code.is_empty()).then_some(code)
    }

    /// Returns the term that a candidate puts at its site.
    pub fn filling(&self, id: CandidateId, pointees: &Pointees) -> Option<Term> {
        self.filling_with(id, pointees, &mut |term| term)
    }

    /// What a candidate puts at its site, each part of it passed through `part`.
    pub(crate) fn filling_with(
        &self,
        id: CandidateId,
        pointees: &Pointees,
        part: &mut dyn FnMut(Term) -> Term,
    ) -> Option<Term> {
        let block = &self.blocks[id.block as usize];
        let lane = id.lane as usize;
        let pools = &self.pools;
        let mut at = |pool: PoolId, lane: usize| Some(part(pools.term(pool, lane, pointees)?));
        let mut pair = |a: PoolId, b: PoolId| {
            let columns = pools.get(b).length;
            Some((at(a, lane / columns)?, at(b, lane % columns)?))
        };
        match block.template {
            Template::One(a) => at(a, lane),
            Template::Unary(op, a) => Term::unary(op, at(a, lane)?).ok(),
            Template::Cast(to, a) => Term::cast(to, at(a, lane)?, pointees).ok(),
            Template::Binary(op, a, b) => {
                let (l, r) = pair(a, b)?;
                Term::binary(op, l, r, pointees).ok()
            }
            Template::And(a, b) => pair(a, b).map(|(l, r)| Term::logical_and(l, r)),
            Template::Or(a, b) => pair(a, b).map(|(l, r)| Term::logical_or(l, r)),
            Template::Select(a, b, c) => {
                let (m, n) = (pools.get(b).length, pools.get(c).length);
                let (a, b, c) = (
                    at(a, lane / (m * n))?,
                    at(b, lane / n % m)?,
                    at(c, lane % n)?,
                );
                Term::conditional(a, b, c, pointees).ok()
            }
            Template::Extreme(op, a, b) => {
                let (l, r) = pair(a, b)?;
                let condition = Term::binary(op, l.clone(), r.clone(), pointees).ok()?;
                Term::conditional(condition, l, r, pointees).ok()
            }
        }
    }

    /// Returns the cost of a candidate.
    pub fn cost(&self, id: CandidateId) -> u32 {
        self.blocks[id.block as usize].cost
    }
}

/// Returns `term` with the subterm at `path` replaced. It is `None` if C's types forbid it.
pub fn replace(term: &Term, path: &[u8], by: &Term, pointees: &Pointees) -> Option<Term> {
    let Some((&first, rest)) = path.split_first() else {
        return Some(by.clone());
    };
    let mut parts: Vec<Term> = operands(term).into_iter().cloned().collect();
    let part = parts.get_mut(first as usize)?;
    *part = replace(part, rest, by, pointees)?;
    let mut parts = parts.into_iter();
    let mut next = || parts.next();
    match term.kind() {
        Kind::Unary(op, _) => Term::unary(*op, next()?).ok(),
        Kind::Cast(_) => Term::cast(term.ctype(), next()?, pointees).ok(),
        Kind::Binary(op, ..) => Term::binary(*op, next()?, next()?, pointees).ok(),
        Kind::LogicalAnd(..) => Some(Term::logical_and(next()?, next()?)),
        Kind::LogicalOr(..) => Some(Term::logical_or(next()?, next()?)),
        Kind::Conditional(..) => Term::conditional(next()?, next()?, next()?, pointees).ok(),
        Kind::Atom(_) | Kind::Constant(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::SpaceLimits;

    #[test]
    fn what_is_asked_for_raises_the_ceiling() {
        let modest = SpaceLimits::wanting(50_000, 7);
        assert_eq!(modest.most, SpaceLimits::default().most);
        let large = SpaceLimits::wanting(1_000_000, 7).of_whole_spaces();
        assert!(large.most >= large.wanted * large.truth_factor);
    }
}
