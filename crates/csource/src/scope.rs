//! Computes which variables are visible at a statement or expression, and which of them have a value
//! there.

use rustc_hash::FxHashMap;

use crate::{tree::*, types::TypeKind};

/// The variables that are visible at one point of a function, the innermost declared last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Locals, static locals and parameters that a name reaches here and that have a value on
    /// every way to this point.
    pub assigned: Vec<VarId>,
    /// Those that a name reaches here, with or without a value.
    pub visible: Vec<VarId>,
}

/// The scopes of a function's statements and full expressions.
#[derive(Clone, Debug, Default)]
pub struct ScopeMap {
    by_stmt: FxHashMap<StmtId, usize>,
    by_expr: FxHashMap<ExprId, usize>,
    scopes: Vec<Scope>,
}

impl ScopeMap {
    /// Returns the scope just before a statement, or `None` if control never reaches it.
    pub fn at_stmt(&self, id: StmtId) -> Option<&Scope> {
        self.by_stmt.get(&id).map(|&i| &self.scopes[i])
    }

    /// Returns the scope just before a full expression: a condition, an initialiser, an operand of
    /// `return`, or an expression statement. It is `None` for other expressions and unreachable ones.
    pub fn at_expr(&self, id: ExprId) -> Option<&Scope> {
        self.by_expr.get(&id).map(|&i| &self.scopes[i])
    }
}

/// Computes the scopes of `function`.
///
/// A variable counts as assigned where every path has assigned it, initialised it, passed its address, or read it (if reading it was
/// undefined, the program was already). The analysis is forward definite assignment, with jumps joined at labels. Arrays and records
/// count as a whole. An array that a loop fills has a value behind the loop.
pub fn scopes(unit: &TranslationUnit, function: &Function) -> ScopeMap {
    let mut walker = Walker::new(unit, function);
    let mut start = Bits::new(function.locals.len());
    for (i, &id) in function.locals.iter().enumerate() {
        if matches!(
            unit.variable(id).storage,
            Storage::Parameter | Storage::StaticLocal | Storage::Global
        ) {
            start.insert(i);
        }
    }
    loop {
        walker.changed = false;
        walker.stack = vec![function.parameters.clone()];
        walker.stmt(function.body, Some(start.clone()));
        if !walker.changed {
            break;
        }
    }
    walker.record = true;
    walker.stack = vec![function.parameters.clone()];
    walker.stmt(function.body, Some(start));
    walker.map
}

/// Returns the locals of `function` that every evaluation of `expr` mentions, so that they have a value
/// behind it.
pub fn mentioned_for_certain(
    unit: &TranslationUnit,
    function: &Function,
    expr: ExprId,
) -> Vec<VarId> {
    let mut state = Bits::new(function.locals.len());
    Walker::new(unit, function).expr(expr, &mut state);
    let locals = function.locals.iter().enumerate();
    locals
        .filter(|(i, _)| state.contains(*i))
        .map(|(_, &id)| id)
        .collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(length: usize) -> Self {
        Bits(vec![0; length.div_ceil(64)])
    }

    fn insert(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn contains(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 == 1
    }

    fn intersect(&mut self, other: &Bits) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a &= b;
        }
    }
}

/// What is assigned; `None` when control does not get here.
type State = Option<Bits>;

fn join(a: State, b: State) -> State {
    match (a, b) {
        (Some(mut a), Some(b)) => {
            a.intersect(&b);
            Some(a)
        }
        (a, None) => a,
        (None, b) => b,
    }
}

struct Walker<'a> {
    unit: &'a TranslationUnit,
    function: &'a Function,
    number: FxHashMap<VarId, usize>,
    /// What jumps bring to each label so far.
    labels: FxHashMap<String, State>,
    changed: bool,
    record: bool,
    stack: Vec<Vec<VarId>>,
    breaks: Vec<State>,
    continues: Vec<State>,
    switches: Vec<State>,
    map: ScopeMap,
}

impl<'a> Walker<'a> {
    fn new(unit: &'a TranslationUnit, function: &'a Function) -> Self {
        Walker {
            unit,
            function,
            number: function
                .locals
                .iter()
                .enumerate()
                .map(|(i, &id)| (id, i))
                .collect(),
            labels: FxHashMap::default(),
            changed: false,
            record: false,
            stack: Vec::new(),
            breaks: Vec::new(),
            continues: Vec::new(),
            switches: Vec::new(),
            map: ScopeMap::default(),
        }
    }

    fn scope(&mut self, state: &State) -> Option<usize> {
        let state = state.as_ref().filter(|_| self.record)?;
        let mut visible: Vec<VarId> = Vec::new();
        for id in self.stack.iter().flatten() {
            let name = &self.unit.variable(*id).name;
            visible.retain(|other| &self.unit.variable(*other).name != name);
            visible.push(*id);
        }
        let assigned = visible
            .iter()
            .copied()
            .filter(|id| self.number.get(id).is_none_or(|&i| state.contains(i)))
            .collect();
        let scope = Scope { assigned, visible };
        if self.map.scopes.last() != Some(&scope) {
            self.map.scopes.push(scope);
        }
        Some(self.map.scopes.len() - 1)
    }

    /// A whole expression: records its scope, then evaluates it.
    fn full(&mut self, id: ExprId, state: State) -> State {
        if let Some(scope) = self.scope(&state) {
            self.map.by_expr.insert(id, scope);
        }
        let mut state = state?;
        self.expr(id, &mut state);
        Some(state)
    }

    /// Marks what evaluating `id` mentions for certain.
    fn expr(&mut self, id: ExprId, state: &mut Bits) {
        let expr = self.function.expr(id);
        if !expr.evaluated {
            return;
        }
        match &expr.kind {
            ExprKind::Variable(variable) => {
                if let Some(&i) = self.number.get(variable) {
                    state.insert(i);
                }
            }
            ExprKind::Binary {
                operator: BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr,
                left,
                ..
            } => self.expr(*left, state),
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.expr(*condition, state);
                let mut other = state.clone();
                self.expr(*then, state);
                self.expr(*otherwise, &mut other);
                state.intersect(&other);
            }
            ExprKind::Other {
                kind,
                children,
                body,
                ..
            } => {
                if kind == "BinaryConditionalOperator" {
                    if let Some(&first) = children.first() {
                        self.expr(first, state);
                    }
                } else {
                    for &child in children {
                        self.expr(child, state);
                    }
                }
                if let Some(body) = body
                    && let Some(after) = self.stmt(*body, Some(state.clone()))
                {
                    *state = after;
                }
            }
            _ => {
                for child in self.function.children(id) {
                    self.expr(child, state);
                }
            }
        }
    }

    fn declare(&mut self, id: VarId) {
        if let Some(top) = self.stack.last_mut() {
            top.push(id);
        }
    }

    fn stmt(&mut self, id: StmtId, state: State) -> State {
        if let Some(scope) = self.scope(&state) {
            self.map.by_stmt.insert(id, scope);
        }
        let function = self.function;
        match &function.stmt(id).kind {
            StmtKind::Compound(inner) => {
                self.stack.push(Vec::new());
                let mut state = state;
                for &stmt in inner {
                    state = self.stmt(stmt, state);
                }
                self.stack.pop();
                state
            }
            StmtKind::Declaration(variables) => {
                let mut state = state;
                for &variable in variables {
                    let initializer = self.unit.variable(variable).initializer;
                    // Its own initialiser sees the name, but no value.
                    self.declare(variable);
                    if let Some(initializer) = initializer {
                        if self.unit.variable(variable).storage == Storage::Local {
                            state = self.full(initializer, state);
                        }
                        if let (Some(state), Some(&i)) = (&mut state, self.number.get(&variable)) {
                            state.insert(i);
                        }
                    }
                }
                state
            }
            StmtKind::Expression(expr) => self.full(*expr, state),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let after = self.full(*condition, state);
                let yes = self.stmt(*then, after.clone());
                let no = match otherwise {
                    Some(otherwise) => self.stmt(*otherwise, after),
                    None => after,
                };
                join(yes, no)
            }
            StmtKind::While { condition, body } => {
                let after = self.full(*condition, state);
                let (end, breaks) = self.loop_body(*body, after.clone());
                let leaves = if self.always_true(*condition) {
                    None
                } else {
                    after
                };
                join(self.with_arrays_of(leaves, &end), breaks)
            }
            StmtKind::Do { body, condition } => {
                let (end, breaks) = self.loop_body(*body, state);
                let after = self.full(*condition, end);
                let leaves = if self.always_true(*condition) {
                    None
                } else {
                    after
                };
                join(leaves, breaks)
            }
            StmtKind::For {
                init,
                condition,
                increment,
                body,
            } => {
                self.stack.push(Vec::new());
                let mut state = state;
                if let Some(init) = init {
                    state = self.stmt(*init, state);
                }
                let mut endless = true;
                if let Some(condition) = condition {
                    state = self.full(*condition, state);
                    endless = self.always_true(*condition);
                }
                let (end, breaks) = self.loop_body(*body, state.clone());
                if let Some(increment) = increment {
                    self.full(*increment, end.clone());
                }
                self.stack.pop();
                let leaves = if endless { None } else { state };
                join(self.with_arrays_of(leaves, &end), breaks)
            }
            StmtKind::Switch { condition, body } => {
                let after = self.full(*condition, state);
                self.switches.push(after.clone());
                self.breaks.push(None);
                let end = self.stmt(*body, None);
                self.switches.pop();
                let breaks = self.breaks.pop().flatten();
                join(join(end, breaks), after)
            }
            StmtKind::Case(body) | StmtKind::Default(body) => {
                let entry = self.switches.last().cloned().flatten();
                self.stmt(*body, join(state, entry))
            }
            StmtKind::Label { name, body } => {
                let jumps = self.labels.get(name).cloned().flatten();
                self.stmt(*body, join(state, jumps))
            }
            StmtKind::Goto(name) => {
                let known = self.labels.get(name).cloned().flatten();
                let joined = join(known.clone(), state);
                if joined != known {
                    self.changed = true;
                    self.labels.insert(name.clone(), joined);
                }
                None
            }
            StmtKind::Break => {
                if let Some(top) = self.breaks.last_mut() {
                    *top = join(top.take(), state);
                }
                None
            }
            StmtKind::Continue => {
                if let Some(top) = self.continues.last_mut() {
                    *top = join(top.take(), state);
                }
                None
            }
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    self.full(*value, state);
                }
                None
            }
            StmtKind::Null => state,
            StmtKind::Other {
                expressions,
                statements,
                ..
            } => {
                let mut state = state;
                for &expr in expressions {
                    state = self.full(expr, state);
                }
                for &stmt in statements {
                    state = self.stmt(stmt, state);
                }
                state
            }
        }
    }

    /// The state at the end of a loop's body (with `continue`), and what `break` brings.
    fn loop_body(&mut self, body: StmtId, state: State) -> (State, State) {
        self.breaks.push(None);
        self.continues.push(None);
        let end = self.stmt(body, state);
        let continues = self.continues.pop().flatten();
        let breaks = self.breaks.pop().flatten();
        (join(end, continues), breaks)
    }

    /// Returns the state behind a loop whose body ends with `end`. An array that the body fills counts as filled: without any round, the program
    /// takes it for empty.
    fn with_arrays_of(&self, behind: State, end: &State) -> State {
        let mut behind = behind?;
        let Some(end) = end else {
            return Some(behind);
        };
        for (i, &id) in self.function.locals.iter().enumerate() {
            let kind = self.unit.types.kind(self.unit.variable(id).ty);
            if end.contains(i) && matches!(kind, TypeKind::Array(..)) {
                behind.insert(i);
            }
        }
        Some(behind)
    }

    fn always_true(&self, condition: ExprId) -> bool {
        let stripped = self.function.stripped(condition);
        matches!(self.function.expr(stripped).kind,
            ExprKind::Integer { value, .. } if value != 0)
    }
}
