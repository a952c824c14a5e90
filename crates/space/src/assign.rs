//! ASSIGNMENT: where `v = e;` can be inserted, for which `v`, and what touches `v` in between.
//!
//! The dependency relation (f1x, section 3.4) needs all reads and writes of the variable. They are
//! found in the text. A full expression *touches* a variable if it may read or write it:
//!
//! - A local whose address is never taken is touched where it is mentioned.
//! - A variable that other code can reach is also touched by calls and accesses through pointers.
//! - An object behind a pointer is touched by every access to memory, and by every mention of the pointer.
//!
//! If a touch cannot be woven, its variables count as touched at every place. Then each place is a class of its own.

mod elements;
pub(crate) mod given;
mod members;
mod watchables;

use patchwright_csource::{
    ExprId, ExprKind, Function, Part, Place, Role, Scope, ScopeMap, Slot, StmtId, StmtKind,
    Storage, UnaryOperator, VarId,
};
use patchwright_text::{Beside, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::endings::goes_on;
use crate::{
    holes::{Hole, HoleKind},
    leaves::{LeafLimits, Mentions, leaves},
    slots::{AtomBuilder, Atoms, ElementIndex},
    term::{AtomId, CType, Context, Term},
};
use watchables::{Reach, Watchable};

/// Most variables of a function that are assigned to.
const MOST_VARIABLES: usize = 24;

/// Most members, elements and objects behind pointers that are assigned to.
const MOST_PATHS: usize = 12;

/// Bit of a mask: there is a call.
const CALL: u64 = 1 << 63;

/// A variable or an object that can be assigned at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its number in the function, below 63.
    pub variable: u32,
    /// It as C text.
    pub lvalue: String,
    /// Its type.
    pub ctype: CType,
    /// Its value at the place, if it has one.
    pub atom: Option<AtomId>,
    /// What it is given elsewhere in the function, as text without blanks.
    pub given: Vec<String>,
    /// It is given nothing else: the end of a string is 0.
    pub given_only: bool,
}

/// A place for assignments: before a statement, behind the last one of a block, or as the `else` of an `if`.
#[derive(Clone, Debug, PartialEq)]
pub struct AssignmentAt {
    /// The statement stands alone where the grammar wants one.
    pub is_body: bool,
    /// Where it is, seen from the statement.
    pub beside: Beside,
    /// What can be assigned.
    pub targets: Vec<Target>,
    /// What can be named: more than can be assigned here, as some have no value on every way.
    pub nameable: Vec<Target>,
    /// What the statement touches first, as a mask; behind a statement only what is touched everywhere.
    pub touches: u64,
    /// Index of the target that a space is for.
    pub chosen: Option<usize>,
}

impl Hole {
    /// Returns the hole at a place for assignments, restricted to one of its targets.
    ///
    /// # Panics
    /// When the hole is no such place or has no such target.
    pub fn assigning(&self, target: usize) -> Hole {
        let mut hole = self.clone();
        let HoleKind::Assignment(at) = &mut hole.kind else {
            panic!("not a place for assignments");
        };
        at.chosen = Some(target);
        let ctype = at.targets[target].ctype;
        hole.context = Context::Convert(ctype);
        hole.ctype = Some(ctype);
        hole
    }
}

impl AssignmentAt {
    /// Returns the target of a hole that has exactly one.
    pub fn target(&self) -> Option<&Target> {
        self.targets.get(self.chosen?)
    }
}

/// An expression that touches variables, with the variables.
#[derive(Clone, Debug, PartialEq)]
pub struct TouchPoint {
    /// The expression, or the empty span before the function's closing brace.
    pub span: Span,
    /// What it touches.
    pub mask: u64,
    /// Numbers, lvalues and types of the variables that can be named there.
    pub nameable: Vec<Target>,
}

/// The places, targets and touches for assignments in one function.
#[derive(Clone, Debug, Default)]
pub struct Assignments {
    /// The places, with their leaves.
    pub places: Vec<(Hole, Vec<Term>)>,
    /// The touches.
    pub touches: Vec<TouchPoint>,
}

#[derive(Clone, Copy)]
enum Source {
    Variable(VarId),
    Path(ExprId),
    /// A field of a structure, by its number.
    Member(VarId, usize),
    /// The element of a string that a variable is the index of.
    Element(VarId, VarId),
}

/// What a full expression does.
#[derive(Default)]
struct Effects {
    variables: FxHashSet<VarId>,
    calls: bool,
    memory: bool,
    shared: bool,
}

struct Planner<'b, 'a, 'f> {
    builder: &'b mut AtomBuilder<'a>,
    function_index: usize,
    function: &'f Function,
    scopes: &'f ScopeMap,
    watchables: Vec<Watchable>,
    /// See [`given::given_values`].
    given: FxHashMap<String, Vec<String>>,
    places: Vec<PlaceFound>,
    touches: Vec<(Option<ExprId>, Span, u64, Vec<VarId>)>,
}

/// A place beside a statement.
struct PlaceFound {
    statement: StmtId,
    span: Span,
    is_body: bool,
    beside: Beside,
    touches: u64,
}

/// Finds in `function` the places for assignments, the targets that can be assigned there, and the
/// expressions that touch these targets.
pub fn assignments(
    builder: &mut AtomBuilder<'_>,
    function_index: usize,
    function: &Function,
    scopes: &ScopeMap,
    mentions: &Mentions,
    limits: LeafLimits,
) -> Assignments {
    let given = given::given_values(builder.unit, function);
    let mut planner = Planner {
        builder,
        given,
        function_index,
        function,
        scopes,
        watchables: Vec::new(),
        places: Vec::new(),
        touches: Vec::new(),
    };
    planner.find_watchables();
    if planner.watchables.is_empty() {
        return Assignments::default();
    }
    if planner.is_opaque() {
        planner.untrack(|_| true);
    }
    planner.stmt(function.body, Position::Fixed);
    planner.finish(mentions, limits)
}

/// How a statement is placed, as in [`crate::holes()`].
#[derive(Clone, Copy, PartialEq)]
enum Position {
    Block,
    Labelled,
    Body,
    Fixed,
}

/// Whether an `else` behind a statement would be taken for that of an `if` in it, or that cannot be seen.
fn takes_else(function: &Function, id: StmtId) -> bool {
    let stmt = function.stmt(id);
    match &stmt.kind {
        _ if !matches!(stmt.place, Place::Written(_)) => true,
        StmtKind::Compound(_)
        | StmtKind::Expression(_)
        | StmtKind::Do { .. }
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Goto(_)
        | StmtKind::Return(_)
        | StmtKind::Null => false,
        StmtKind::While { body, .. } | StmtKind::For { body, .. } => takes_else(function, *body),
        StmtKind::If {
            otherwise: Some(otherwise),
            ..
        } => takes_else(function, *otherwise),
        _ => true,
    }
}

impl Planner<'_, '_, '_> {
    fn effects(&self, id: ExprId, effects: &mut Effects) {
        for id in self.function.within(id) {
            match &self.function.expr(id).kind {
                ExprKind::Variable(variable) => {
                    effects.variables.insert(*variable);
                    effects.shared |= self.reach(*variable) != Reach::Private;
                }
                ExprKind::Member { arrow: true, .. }
                | ExprKind::Subscript { .. }
                | ExprKind::Unary {
                    operator: UnaryOperator::Dereference,
                    ..
                } => effects.memory = true,
                ExprKind::Call { .. } => effects.calls = true,
                ExprKind::Other { kind, .. } if kind != "InitListExpr" => {
                    effects.calls = true;
                    effects.memory = true;
                }
                _ => {}
            }
        }
    }

    /// What a full expression touches.
    fn mask(&self, id: ExprId) -> u64 {
        let mut effects = Effects::default();
        self.effects(id, &mut effects);
        let mut mask = if effects.calls { CALL } else { 0 };
        for (number, watchable) in self.watchables.iter().enumerate() {
            let mentioned = watchable
                .roots
                .iter()
                .any(|root| effects.variables.contains(root));
            let touched = match watchable.reach {
                Reach::Private => mentioned,
                Reach::Shared => mentioned || effects.calls || effects.memory,
                Reach::Memory => mentioned || effects.calls || effects.memory || effects.shared,
            };
            if touched {
                mask |= 1 << number;
            }
        }
        mask
    }

    fn all(&self) -> u64 {
        (1 << self.watchables.len()) - 1
    }

    /// The variables among those that can be watched, as a mask.
    fn declared(&self, variables: &[VarId]) -> u64 {
        let mut mask = 0;
        for (number, watchable) in self.watchables.iter().enumerate() {
            if watchable.roots.iter().any(|root| variables.contains(root)) {
                mask |= 1 << number;
            }
        }
        mask
    }

    /// A touch at a full expression that no place stands before.
    fn wrap(&mut self, id: ExprId, mask: u64, dropped: &[VarId]) {
        if mask == 0 {
            return;
        }
        let bare = self.function.stripped(id);
        match self.function.expr(bare).place.editable() {
            Some(span) if !matches!(self.function.expr(bare).kind, ExprKind::String) => {
                self.touches.push((Some(id), span, mask, dropped.to_vec()));
            }
            // Calls cannot be announced either.
            _ if mask & CALL != 0 => self.untrack(|_| true),
            _ => self.untrack(|bit| mask & bit != 0),
        }
    }

    fn stmt(&mut self, id: StmtId, position: Position) {
        let stmt = self.function.stmt(id);
        let at_place = self.place(id, position);
        if let StmtKind::Declaration(variables) = &stmt.kind {
            if !at_place {
                self.initializers(variables);
            }
            return;
        }
        for part in stmt.kind.parts() {
            match part {
                Part::Statement(inner, slot) => match slot {
                    Slot::Block(_) => self.stmt(inner, Position::Block),
                    Slot::Arm | Slot::Loop => self.stmt(inner, Position::Body),
                    Slot::Init | Slot::Switch => self.stmt(inner, Position::Fixed),
                    Slot::Labelled => self.stmt(inner, Position::Labelled),
                    Slot::Unknown => {}
                },
                Part::Expression(expr, role) => {
                    // What stands in front of a loop is not in front of each round.
                    let every_round = stmt.kind.loop_body().is_some();
                    if role != Role::Unknown && (every_round || !at_place) {
                        let touched = match role {
                            Role::Result => self.all() | CALL,
                            _ => self.mask(expr),
                        };
                        self.wrap(expr, touched, &[]);
                    }
                }
                Part::Variable(_) => {}
            }
        }
        match &stmt.kind {
            StmtKind::Compound(inner) => {
                if let Some(&last) = inner.last() {
                    self.place_behind(last, Position::Block);
                }
            }
            StmtKind::If {
                then,
                otherwise: None,
                ..
            } => self.place_otherwise(id, *then),
            StmtKind::Return(None) if !at_place => self.untrack(|_| true),
            _ => {}
        }
        if position == Position::Body && matches!(stmt.kind, StmtKind::Expression(_)) {
            self.place_behind(id, position);
        }
    }

    /// What a declaration that is no place touches.
    fn initializers(&mut self, variables: &[VarId]) {
        let declared = variables.iter().map(|&id| self.builder.unit.variable(id));
        let local = declared.filter(|variable| variable.storage == Storage::Local);
        let initializers: Vec<ExprId> = local.filter_map(|variable| variable.initializer).collect();
        let own = self.declared(variables);
        // Without an expression the old value could be taken for one of the new variable.
        if initializers.is_empty() {
            self.untrack(|bit| own & bit != 0);
        }
        for initializer in initializers {
            let mask = self.mask(initializer) | own;
            self.wrap(initializer, mask, variables);
        }
    }

    /// Makes the end of a block a place, if control gets there from its last statement. That what is visible and
    /// assigned before the statement is so behind it, too.
    fn place_behind(&mut self, id: StmtId, position: Position) {
        let stmt = self.function.stmt(id);
        let can_be_left = matches!(
            stmt.kind,
            StmtKind::Expression(_)
                | StmtKind::If { .. }
                | StmtKind::Switch { .. }
                | StmtKind::While { .. }
                | StmtKind::Do { .. }
                | StmtKind::For { .. }
        ) && goes_on(self.function, id);
        if let (true, Place::Written(span), Some(_)) =
            (can_be_left, stmt.place, self.scopes.at_stmt(id))
        {
            self.places.push(PlaceFound {
                statement: id,
                span,
                is_body: position == Position::Body,
                beside: Beside::Behind,
                touches: 0,
            });
        }
    }

    /// Makes the `else` that an `if` does not have a place. Where control does not get behind the `if` from its `then`, a
    /// place behind it is the same.
    fn place_otherwise(&mut self, id: StmtId, then: StmtId) {
        let is_same = !goes_on(self.function, then);
        if is_same || takes_else(self.function, then) {
            return;
        }
        if let (Place::Written(span), Some(_)) =
            (self.function.stmt(id).place, self.scopes.at_stmt(id))
        {
            self.places.push(PlaceFound {
                statement: id,
                span,
                is_body: false,
                beside: Beside::Else,
                touches: 0,
            });
        }
    }

    /// Makes the statement a place, if something can be inserted before it.
    fn place(&mut self, id: StmtId, position: Position) -> bool {
        let stmt = self.function.stmt(id);
        let touches = match &stmt.kind {
            _ if position == Position::Fixed => return false,
            StmtKind::Expression(expr) => self.mask(*expr),
            StmtKind::If { condition, .. } | StmtKind::Switch { condition, .. } => {
                self.mask(*condition)
            }
            StmtKind::Return(_) => self.all() | CALL,
            StmtKind::Declaration(variables) if position == Position::Block => {
                let mut mask = self.declared(variables);
                for &id in variables {
                    let variable = self.builder.unit.variable(id);
                    if let (Storage::Local, Some(initializer)) =
                        (variable.storage, variable.initializer)
                    {
                        mask |= self.mask(initializer);
                    }
                }
                mask
            }
            StmtKind::While { .. }
            | StmtKind::Do { .. }
            | StmtKind::For { .. }
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_) => 0,
            // `{ ; }`: perhaps the statement was forgotten. A loop has its empty body for a reason.
            StmtKind::Null if position == Position::Block && self.begins_block(stmt.place) => 0,
            _ => return false,
        };
        let (Place::Written(span), Some(_)) = (stmt.place, self.scopes.at_stmt(id)) else {
            return false;
        };
        self.places.push(PlaceFound {
            statement: id,
            span,
            is_body: position == Position::Body,
            beside: Beside::Before,
            touches,
        });
        true
    }

    /// Whether a statement follows the brace of its block. (The `;` behind a macro is a statement of its own if the macro's
    /// text ends with one.)
    fn begins_block(&self, place: Place) -> bool {
        let Place::Written(span) = place else {
            return false;
        };
        let before = &self.builder.unit.source[..span.start as usize];
        before.trim_ascii_end().ends_with(b"{")
    }

    fn nameable(&self, scope: &Scope, hidden: &[VarId]) -> Vec<Target> {
        self.watchables
            .iter()
            .enumerate()
            .filter(|(_, watchable)| {
                watchable.roots.iter().all(|root| {
                    let global = self.builder.unit.variable(*root).storage == Storage::Global;
                    !hidden.contains(root) && (global || scope.visible.contains(root))
                })
            })
            .map(|(number, watchable)| Target {
                variable: number as u32,
                lvalue: watchable.lvalue.clone(),
                ctype: watchable.ctype,
                atom: None,
                given: match watchable.source {
                    Source::Element(..) => vec!["0".to_owned()],
                    _ => self
                        .given
                        .get(&given::without_blanks(&watchable.lvalue))
                        .cloned()
                        .unwrap_or_default(),
                },
                given_only: matches!(watchable.source, Source::Element(..)),
            })
            .collect()
    }

    fn finish(mut self, mentions: &Mentions, limits: LeafLimits) -> Assignments {
        let mut found = Assignments::default();
        let places = std::mem::take(&mut self.places);
        let untracked = self
            .watchables
            .iter()
            .enumerate()
            .filter(|(_, watchable)| !watchable.tracked)
            .fold(0, |mask, (number, _)| mask | 1 << number);
        for place in places {
            let (id, span) = (place.statement, place.span);
            let Some(scope) = self.scopes.at_stmt(id).cloned() else {
                continue;
            };
            let mut hole = Hole {
                function: self.function_index,
                span,
                kind: HoleKind::Assignment(AssignmentAt {
                    is_body: place.is_body,
                    beside: place.beside,
                    targets: Vec::new(),
                    nameable: Vec::new(),
                    touches: place.touches | untracked,
                    chosen: None,
                }),
                context: Context::Same,
                ctype: None,
                atoms: Atoms::default(),
                scope: scope.clone(),
                expr: None,
                in_macro_argument: false,
                captured: None,
            };
            let terms = leaves(self.builder, self.function, mentions, &mut hole, limits);
            let declared_here: Vec<VarId> = match &self.function.stmt(id).kind {
                StmtKind::Declaration(variables) => variables.clone(),
                _ => Vec::new(),
            };
            let nameable = self.nameable(&scope, &declared_here);
            let mut targets = nameable.clone();
            targets.retain_mut(|target| {
                let watchable = &self.watchables[target.variable as usize];
                let before = |id: &VarId| {
                    let variable = self.builder.unit.variable(*id);
                    variable.storage != Storage::Global
                        || variable.declared_at.is_none_or(|at| at < span.start)
                };
                let assigned = watchable.roots.iter().all(|root| {
                    let variable = self.builder.unit.variable(*root);
                    variable.storage == Storage::Global || scope.assigned.contains(root)
                });
                if !watchable.roots.iter().all(before) {
                    return false;
                }
                match watchable.source {
                    Source::Variable(id) => {
                        if assigned {
                            target.atom = self.builder.variable(&mut hole.atoms, id);
                        }
                        true
                    }
                    Source::Path(id) => {
                        if assigned {
                            target.atom = self.builder.read(&mut hole.atoms, self.function, id);
                        }
                        target.atom.is_some()
                    }
                    Source::Member(id, number) => {
                        if assigned {
                            target.atom = self.member(&mut hole.atoms, id, number);
                        }
                        target.atom.is_some()
                    }
                    Source::Element(string, index) => {
                        if assigned {
                            let index = Some(ElementIndex::Variable(index));
                            target.atom = self.builder.element_of(&mut hole.atoms, string, index);
                        }
                        target.atom.is_some()
                    }
                }
            });
            if let HoleKind::Assignment(at) = &mut hole.kind {
                at.targets = targets;
                at.nameable = nameable;
            }
            found.places.push((hole, terms));
        }
        for (expr, span, mask, dropped) in std::mem::take(&mut self.touches) {
            let Some(scope) = expr.and_then(|id| self.scopes.at_expr(id)) else {
                // Control never comes here.
                continue;
            };
            found.touches.push(TouchPoint {
                span,
                mask,
                nameable: self.nameable(scope, &dropped),
            });
        }
        let end = self.function.body_span.end - 1;
        let lasting: Vec<VarId> = self.function.parameters.clone();
        let scope = Scope {
            visible: lasting,
            ..Scope::default()
        };
        let mut at_end = self.nameable(&scope, &[]);
        at_end.extend(self.at_the_end());
        at_end.sort_by_key(|target| target.variable);
        at_end.dedup_by_key(|target| target.variable);
        found.touches.push(TouchPoint {
            span: Span::new(end, end),
            mask: self.all() | CALL,
            nameable: at_end,
        });
        found
    }

    /// What lies behind variables of the outermost block, which can be named to its end.
    fn at_the_end(&self) -> Vec<Target> {
        let scope = Scope {
            visible: self.outermost().into_iter().collect(),
            ..Scope::default()
        };
        let mut found = self.nameable(&scope, &[]);
        found.retain(|target| self.watchables[target.variable as usize].reach == Reach::Memory);
        found
    }
}
