//! Decides which functions of a source have locations, and why others have none.
//!
//! This is the one place that decides it; measurements count what is decided here.

use std::collections::BTreeMap;

use patchwright_csource::{
    ExprId, ExprKind, Function, Place, Refusal, StmtKind, TranslationUnit, UnaryOperator, scopes,
    variants::is_same_function,
};
use patchwright_kinds::Kind;
use patchwright_space::{
    Assignments, AtomBuilder, Callees, Choices, CrashFree, Demands, Hole, HoleKind, LeafLimits,
    Leaves, Mentions, Parents, Schemas, Shown, TermTypes, TouchPoint, agreement, assignments,
    choices, distant, exits::Conditions, holes, leaves, mentions,
};
use patchwright_text::{LineMap, Span};
use patchwright_weave::{can_duplicate, on_one_line};
use rustc_hash::{FxHashMap, FxHashSet};

/// A hole with the leaves of its terms.
pub type HoleWithLeaves = (Hole, Leaves);

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
    /// Changes that are no terms and are left out, by reason.
    pub refused_changes: BTreeMap<&'static str, usize>,
}

impl Located {
    /// Returns the number of refused functions, by reason.
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

    fn choices(
        &mut self,
        index: usize,
        function: &Function,
        schemas: Schemas,
        (callees, shown): (&Callees<'_>, &Shown),
    ) -> Choices {
        let scope_map = scopes(&self.unit, function);
        let mut builder = self.builder();
        let mut found = choices(
            &mut builder,
            index,
            function,
            &scope_map,
            schemas,
            callees,
            shown,
        );
        found.holes.retain(|hole| match &hole.kind {
            HoleKind::Choice(choice) => {
                let mut texts = choice.alternatives.iter().map(|one| one.woven.as_bytes());
                let plain = texts.all(|text| on_one_line(text).is_some());
                if !plain {
                    let reason = "changes of texts with directives in them";
                    *found.refused.entry(reason).or_default() += choice.alternatives.len();
                }
                plain
            }
            _ => true,
        });
        found
    }

    /// What terms at a hole are made of; alternatives need no terms. `mentioned` is what each function of the file
    /// mentions, `own` the place of this one.
    fn leaves(
        &mut self,
        function: &Function,
        (mentioned, own): (&[Mentions], usize),
        (shown, demands): (&Shown, &Demands),
        hole: &mut Hole,
        limits: LeafLimits,
    ) -> Leaves {
        if let HoleKind::Choice(_) = hole.kind {
            return Leaves::default();
        }
        let mut builder = self.builder();
        let near = leaves(&mut builder, function, &mentioned[own], hole, limits);
        let distant = distant(&mut builder, mentioned, own, shown, hole, &near, limits);
        let crash_free = CrashFree::at(&mut builder, function, demands, hole, &near);
        Leaves {
            near,
            distant,
            crash_free,
        }
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

    /// What each of these functions mentions.
    fn mentions(&mut self, functions: &[Function]) -> Vec<Mentions> {
        let mut builder = self.builder();
        functions
            .iter()
            .map(|function| mentions(&mut builder, function))
            .collect()
    }
}

/// Tells whether the program has a function of a name.
pub type IsLinked<'a> = &'a dyn Fn(&str) -> bool;

/// Finds the locations of a source that is compiled in the ways `units`. `wanted` selects lines (from 1)
/// on which a location may begin; `is_read` selects functions by their span. `shown` is what the tests
/// show, `crashes` are the statements where they crash. `linked` tells whether the program has a function
/// of a name, and `kinds` are the kinds of change that are data.
pub fn locate(
    units: Vec<TranslationUnit>,
    limits: LeafLimits,
    schemas: Schemas,
    shown: &Shown,
    crashes: &[Span],
    (wanted, is_read): (&dyn Fn(u32) -> bool, &dyn Fn(Span) -> bool),
    (linked, kinds): (IsLinked<'_>, &[Kind]),
) -> Located {
    let lines = units
        .first()
        .map_or_else(|| LineMap::new(b""), |unit| LineMap::new(&unit.source));
    let mut functions: Vec<Vec<Function>> = Vec::new();
    let mut ways: Vec<Way> = Vec::new();
    for mut unit in units {
        let own = std::mem::take(&mut unit.functions);
        ways.push(Way {
            types: TermTypes::of(&mut unit.types, &own),
            unit,
        });
        functions.push(own);
    }
    let direct: Vec<FxHashSet<String>> = ways
        .iter()
        .zip(&functions)
        .map(|(way, functions)| named(&way.unit, functions))
        .collect();
    let predicates: Vec<FxHashSet<String>> = functions.iter().map(|all| predicates(all)).collect();
    let defined: Vec<Calls> = functions.iter().map(|all| calls(all)).collect();
    let mentioned: Vec<Vec<Mentions>> = ways
        .iter_mut()
        .zip(&functions)
        .map(|(way, functions)| way.mentions(functions))
        .collect();
    let mut disagreements = 0;
    let mut refused_changes = BTreeMap::new();
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
            let mut its_lines =
                lines.line(function.span.start)..=lines.line(function.body_span.end);
            if !usable || !is_read(function.span) || !its_lines.any(wanted) {
                continue;
            }
            let demands = Demands::of(&ways[number].unit, function, crashes);
            let schemas = schemas_at(schemas, &demands);
            let mut own = ways[number].holes(index, function);
            let callees = Callees {
                direct: &direct[number],
                predicates: &predicates[number],
                defined: &defined[number],
                linked,
                functions: &functions[number],
                kinds,
            };
            let mut found = ways[number].choices(index, function, schemas, (&callees, shown));
            for (reason, n) in std::mem::take(&mut found.refused) {
                *refused_changes.entry(reason).or_default() += n;
            }
            own.extend(found.holes);
            own.retain(|hole| {
                let tried = match hole.kind {
                    // Where declarations are to be changed, statements tell which functions tests reach.
                    HoleKind::Guard { .. } => schemas.guard || schemas.declarations,
                    HoleKind::Refinement(_) => schemas.refinement,
                    HoleKind::Choice(_) | HoleKind::Exit(_) => true,
                    _ => schemas.expression || schemas.refinement,
                };
                tried && wanted(lines.line(hole.span.start))
            });
            let body = function.body_span;
            if (lines.line(body.start)..=lines.line(body.end)).any(wanted) {
                disagreements += disagreeing(function);
            }
            let sought = Sought {
                limits,
                schemas,
                linked,
                kinds,
                direct: &direct,
                predicates: &predicates,
                defined: &defined,
                shown,
                crashes,
                mentioned: &mentioned,
            };
            let others = twins(&mut ways, &functions, number, function, &sought);
            let mentions = (&mentioned[number][..], index);
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
                let terms = way.leaves(function, mentions, (shown, &demands), &mut hole, limits);
                kept.push((hole, terms));
            }
            let mut assigned = Assignments::default();
            // Ways that disagree would need agreement about every touch.
            if schemas.assignment && others.is_empty() {
                let mentions = &mentioned[number][index];
                assigned = ways[number].assignments(index, function, mentions, limits);
                assigned
                    .places
                    .retain(|(hole, _)| wanted(lines.line(hole.span.start)));
            }
            let mut touches = Vec::new();
            if !assigned.places.is_empty() {
                touches = assigned.touches;
                kept.extend(assigned.places.into_iter().map(|(hole, near)| {
                    let leaves = Leaves {
                        near,
                        ..Leaves::default()
                    };
                    (hole, leaves)
                }));
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
        refused_changes,
    }
}

/// Returns the functions that the object code of a unit can name without a change of its link: those that it defines, and those
/// that it calls already.
fn named(unit: &TranslationUnit, functions: &[Function]) -> FxHashSet<String> {
    let is_internal = |name: &str| {
        let declared = unit.declarations.get(name);
        declared.is_some_and(|declared| declared.internal)
    };
    let in_headers = unit.functions_in_headers.iter();
    let mut found: FxHashSet<String> = in_headers
        .filter(|function| is_internal(&function.name))
        .map(|function| function.name.clone())
        .collect();
    for function in functions {
        if function.refusal != Some(Refusal::ExternInline) {
            found.insert(function.name.clone());
        }
        for expr in &function.exprs {
            if let (ExprKind::Function(name), true) = (&expr.kind, expr.evaluated) {
                found.insert(name.clone());
            }
        }
    }
    found
}

/// See [`Callees::defined`].
type Calls = FxHashMap<String, FxHashSet<String>>;

/// What each function calls, itself or in turn.
fn calls(functions: &[Function]) -> Calls {
    let direct = |function: &Function| -> FxHashSet<String> {
        let exprs = function.exprs.iter().filter(|expr| expr.evaluated);
        exprs
            .filter_map(|expr| match &expr.kind {
                ExprKind::Function(name) => Some(name.clone()),
                _ => None,
            })
            .collect()
    };
    let own: Calls = functions
        .iter()
        .map(|function| (function.name.clone(), direct(function)))
        .collect();
    let in_turn = |name: &String| {
        let mut waiting: Vec<&String> = vec![name];
        let mut found: FxHashSet<String> = FxHashSet::default();
        while let Some(next) = waiting.pop() {
            let called = own.get(next).into_iter().flatten();
            waiting.extend(called.filter(|name| found.insert((*name).clone())));
        }
        found
    };
    own.keys()
        .map(|name| (name.clone(), in_turn(name)))
        .collect()
}

/// The functions that say yes or no: all that they return is a truth value, and not always the same.
fn predicates(functions: &[Function]) -> FxHashSet<String> {
    let is_predicate = |function: &&Function| {
        let mut values = function.stmts.iter().filter_map(|stmt| match stmt.kind {
            StmtKind::Return(Some(value)) => Some(value),
            _ => None,
        });
        let mut constants = FxHashSet::default();
        let all = values.all(|value| {
            match truth(function, value) {
                Some(Truth::Constant(value)) => constants.insert(Some(value)),
                Some(Truth::Varying) => constants.insert(None),
                None => return false,
            };
            true
        });
        all && (constants.contains(&None) || constants.len() > 1)
    };
    let found = functions.iter().filter(is_predicate);
    found.map(|function| function.name.clone()).collect()
}

enum Truth {
    Constant(bool),
    Varying,
}

/// What an expression says, if it says yes or no.
fn truth(function: &Function, id: ExprId) -> Option<Truth> {
    match function.expr(function.stripped(id)).kind {
        ExprKind::Integer { value: 0, .. } => Some(Truth::Constant(false)),
        ExprKind::Integer { value: 1, .. } => Some(Truth::Constant(true)),
        ExprKind::Binary { operator, .. }
            if matches!(
                operator.spelling(),
                "<" | "<=" | ">" | ">=" | "==" | "!=" | "&&" | "||"
            ) =>
        {
            Some(Truth::Varying)
        }
        ExprKind::Unary {
            operator: UnaryOperator::Not,
            ..
        } => Some(Truth::Varying),
        ExprKind::Conditional {
            then, otherwise, ..
        } => truth(function, then)
            .and(truth(function, otherwise))
            .map(|_| Truth::Varying),
        _ => None,
    }
}

/// The schemas for a function of which crashes demand this.
fn schemas_at(schemas: Schemas, demands: &Demands) -> Schemas {
    let exits = schemas
        .exits
        .filter(|conditions| *conditions == Conditions::All || !demands.is_empty());
    Schemas { exits, ..schemas }
}

/// What is looked for.
struct Sought<'a> {
    limits: LeafLimits,
    schemas: Schemas,
    linked: &'a dyn Fn(&str) -> bool,
    kinds: &'a [Kind],
    /// See [`Callees::direct`], for each way.
    direct: &'a [FxHashSet<String>],
    predicates: &'a [FxHashSet<String>],
    defined: &'a [Calls],
    shown: &'a Shown,
    crashes: &'a [Span],
    /// What the functions of each way mention.
    mentioned: &'a [Vec<Mentions>],
}

/// The holes that the function has in the other ways that compile it, with leaves.
fn twins<'f>(
    ways: &mut [Way],
    functions: &'f [Vec<Function>],
    home: usize,
    function: &Function,
    sought: &Sought<'_>,
) -> Vec<(Vec<HoleWithLeaves>, &'f Function, TermTypes)> {
    // What one way has room for must not depend on what only another one has.
    let more = LeafLimits {
        atoms: sought.limits.atoms * 2,
        constants: sought.limits.constants * 2,
        distant: sought.limits.distant * 2,
    };
    let mut found = Vec::new();
    for (number, way) in ways.iter_mut().enumerate() {
        let same = |other: &&Function| is_same_function(function, other);
        let Some(place) = functions[number].iter().position(|other| same(&other)) else {
            continue;
        };
        let twin = &functions[number][place];
        if number == home {
            continue;
        }
        let mentions = (&sought.mentioned[number][..], place);
        let demands = Demands::of(&way.unit, twin, sought.crashes);
        let mut holes = Vec::new();
        let callees = Callees {
            direct: &sought.direct[number],
            predicates: &sought.predicates[number],
            defined: &sought.defined[number],
            linked: sought.linked,
            functions: &functions[number],
            kinds: sought.kinds,
        };
        let known = (&callees, sought.shown);
        let changes = way.choices(0, twin, sought.schemas, known).holes;
        for mut hole in way.holes(0, twin).into_iter().chain(changes) {
            let terms = way.leaves(twin, mentions, (sought.shown, &demands), &mut hole, more);
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
