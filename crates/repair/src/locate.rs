//! The locations of one source: which functions have some, and which not, and why.
//!
//! This is the one place that decides it; measurements count what is decided here.

use std::collections::BTreeMap;

use patchwright_csource::{
    ExprKind, Function, Place, TranslationUnit, scopes, variants::is_same_function,
};
use patchwright_space::{
    Assignments, AtomBuilder, Hole, HoleKind, LeafLimits, Mentions, Parents, Schemas, TermTypes,
    TouchPoint, agreement, assignments, holes, leaves, mentions, term::Term,
};
use patchwright_text::LineMap;
use patchwright_weave::can_duplicate;

/// A hole and what terms at it are made of.
pub type HoleWithLeaves = (Hole, Vec<Term>);

/// A function that has locations.
pub struct LocatedFunction {
    /// Its index in the unit.
    pub index: usize,
    /// Its holes, in order, then the places for assignments.
    pub holes: Vec<HoleWithLeaves>,
    /// What touches the variables that are assigned.
    pub touches: Vec<TouchPoint>,
}

/// A source in one of the ways in which it is compiled.
pub struct LocatedWay {
    /// What is known of it.
    pub unit: TranslationUnit,
    /// The types of its terms.
    pub types: TermTypes,
    /// The parents of each function's expressions.
    pub parents: Vec<Parents>,
    /// The functions with locations that no way before this one has.
    pub functions: Vec<LocatedFunction>,
    /// The functions that no way before this one has, with the reason for those that are refused.
    pub all: Vec<(usize, Option<String>)>,
}

/// A source with its locations.
pub struct Located {
    /// The ways in which it is compiled.
    pub ways: Vec<LocatedWay>,
    /// Expressions and statements left out because the ways disagree about them.
    pub disagreements: usize,
}

impl Located {
    /// How many functions are refused, by reason.
    pub fn refused(&self) -> BTreeMap<&str, usize> {
        let mut refused = BTreeMap::new();
        let all = self.ways.iter().flat_map(|way| &way.all);
        for reason in all.filter_map(|(_, reason)| reason.as_deref()) {
            *refused.entry(reason).or_default() += 1;
        }
        refused
    }
}

/// Why a function can hold no location, if so.
fn refusal(unit: &TranslationUnit, function: &Function) -> Option<String> {
    match function.refusal {
        Some(refusal) => Some(refusal.reason().to_owned()),
        None => can_duplicate(&unit.source[function.body_span.range()])
            .err()
            .map(|refusal| refusal.to_string()),
    }
}

/// One way while functions are looked at; the functions themselves are kept elsewhere.
struct Way {
    unit: TranslationUnit,
    types: TermTypes,
}

impl Way {
    fn holes(&mut self, index: usize, function: &Function) -> Vec<Hole> {
        // Scopes need the unit with its variables, but not its functions.
        let scope_map = scopes(&self.unit, function);
        holes(&mut self.builder(), index, function, &scope_map)
    }

    fn builder(&mut self) -> AtomBuilder<'_> {
        AtomBuilder {
            unit: &mut self.unit,
            types: &mut self.types,
        }
    }

    fn assignments(
        &mut self,
        index: usize,
        function: &Function,
        mentioned: &Mentions,
        limits: LeafLimits,
    ) -> Assignments {
        let scope_map = scopes(&self.unit, function);
        let mut builder = self.builder();
        assignments(&mut builder, index, function, &scope_map, mentioned, limits)
    }

    fn mentions(&mut self, function: &Function) -> Mentions {
        mentions(&mut self.builder(), function)
    }
}

/// Finds the locations of a source that is compiled in the ways `units`. Those that begin on a line
/// (from 1) for which `wanted` does not hold are left out.
pub fn locate(
    units: Vec<TranslationUnit>,
    limits: LeafLimits,
    schemas: Schemas,
    wanted: &dyn Fn(u32) -> bool,
) -> Located {
    let lines = units
        .first()
        .map_or_else(|| LineMap::new(b""), |unit| LineMap::new(&unit.source));
    let mut functions: Vec<Vec<Function>> = Vec::new();
    let mut ways: Vec<Way> = Vec::new();
    for mut unit in units {
        functions.push(std::mem::take(&mut unit.functions));
        ways.push(Way {
            unit,
            types: TermTypes::default(),
        });
    }
    let mut disagreements = 0;
    let mut found = Vec::new();
    for number in 0..ways.len() {
        let (mut located, mut all) = (Vec::new(), Vec::new());
        for (index, function) in functions[number].iter().enumerate() {
            let overlaps = |other: &Function| {
                other.span.start < function.span.end && function.span.start < other.span.end
            };
            if functions[..number].iter().flatten().any(overlaps) {
                continue;
            }
            let reason = refusal(&ways[number].unit, function);
            let usable = reason.is_none();
            all.push((index, reason));
            if !usable {
                continue;
            }
            let mut own = ways[number].holes(index, function);
            own.retain(|hole| {
                let tried = match hole.kind {
                    HoleKind::Guard { .. } => schemas.guard,
                    HoleKind::Refinement(_) => schemas.refinement,
                    _ => schemas.expression || schemas.refinement,
                };
                tried && wanted(lines.line(hole.span.start))
            });
            let body = function.body_span;
            if (lines.line(body.start)..=lines.line(body.end)).any(wanted) {
                disagreements += disagreeing(function);
            }
            let others = twins(&mut ways, &functions, number, function, limits);
            let mentioned = ways[number].mentions(function);
            let mut kept = Vec::new();
            for mut hole in own {
                let way = &mut ways[number];
                let twins: Vec<agreement::Twin<'_>> = others
                    .iter()
                    .map(|(other, twin, types)| {
                        let own = way.types.pointees();
                        agreement::twin(&hole, own, twin, other, types.pointees())
                    })
                    .collect();
                match agreement::common(&twins) {
                    Ok(permitted) => hole.atoms.permitted = permitted,
                    Err(agreement::Disagreement) => {
                        disagreements += 1;
                        continue;
                    }
                }
                let terms = leaves(&mut way.builder(), function, &mentioned, &mut hole, limits);
                kept.push((hole, terms));
            }
            let mut assigned = Assignments::default();
            // Ways that disagree would need agreement about every touch.
            if schemas.assignment && others.is_empty() {
                assigned = ways[number].assignments(index, function, &mentioned, limits);
                assigned
                    .places
                    .retain(|(hole, _)| wanted(lines.line(hole.span.start)));
            }
            let mut touches = Vec::new();
            if !assigned.places.is_empty() {
                touches = assigned.touches;
                kept.extend(assigned.places);
            }
            if !kept.is_empty() {
                located.push(LocatedFunction {
                    index,
                    holes: kept,
                    touches,
                });
            }
        }
        found.push((located, all));
    }
    let ways = ways.into_iter().zip(functions).zip(found);
    Located {
        ways: ways
            .map(|((mut way, functions), (located, all))| {
                way.unit.functions = functions;
                LocatedWay {
                    parents: way.unit.functions.iter().map(Parents::of).collect(),
                    unit: way.unit,
                    types: way.types,
                    functions: located,
                    all,
                }
            })
            .collect(),
        disagreements,
    }
}

/// The holes that the function has in the other ways that compile it, with leaves.
fn twins<'f>(
    ways: &mut [Way],
    functions: &'f [Vec<Function>],
    home: usize,
    function: &Function,
    limits: LeafLimits,
) -> Vec<(Vec<HoleWithLeaves>, &'f Function, TermTypes)> {
    // What one way has room for must not depend on what only another one has.
    let more = LeafLimits {
        atoms: limits.atoms * 2,
        constants: limits.constants * 2,
    };
    let mut found = Vec::new();
    for (number, way) in ways.iter_mut().enumerate() {
        let same = |other: &&Function| is_same_function(function, other);
        let Some(twin) = functions[number].iter().find(same) else {
            continue;
        };
        if number == home {
            continue;
        }
        let mentioned = way.mentions(twin);
        let mut holes = Vec::new();
        for mut hole in way.holes(0, twin) {
            let terms = leaves(&mut way.builder(), twin, &mentioned, &mut hole, more);
            holes.push((hole, terms));
        }
        found.push((holes, twin, way.types.clone()));
    }
    found
}

/// Expressions and statements of a function that its tree already refuses because of other ways.
fn disagreeing(function: &Function) -> usize {
    let exprs = function
        .exprs
        .iter()
        .filter(|expr| !matches!(expr.kind, ExprKind::Cast { implicit: true, .. }))
        .map(|expr| expr.place);
    let stmts = function.stmts.iter().map(|stmt| stmt.place);
    exprs
        .chain(stmts)
        .filter(|place| *place == Place::Disagreement)
        .count()
}
