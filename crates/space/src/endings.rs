//! Statements without which a function would end without giving its value.
//!
//! Behind the closing brace of a function that gives a value, whoever uses that value reads one that was never given. So
//! the statement that keeps control from getting there (a `return`, an `if` that returns both ways, an endless loop) gets
//! no guard and is not taken out. What can be reached is asked of the tree alone: of conditions only constants are known.

use patchwright_csource::{
    BinaryOperator, ExprId, ExprKind, Function, StmtId, StmtKind, TranslationUnit, types::TypeKind,
};
use rustc_hash::FxHashSet;

/// The statements behind which control must not get.
///
/// Nothing can leave a loop by `break` if the loop is one of them, nor by `continue` if its body is.
pub(crate) fn last_statements(unit: &TranslationUnit, function: &Function) -> FxHashSet<StmtId> {
    let mut found = FxHashSet::default();
    // The end of `main` is `return 0;`.
    let gives_nothing = matches!(unit.types.kind(function.return_type), TypeKind::Void);
    if gives_nothing || function.name == "main" {
        return found;
    }
    let leaves = leaving(unit, function);
    // A `switch` over an enumeration without `default:` may have a section for each value or not. Either is assumed in
    // turn: what is the last statement under one of the assumptions is one.
    let has_enumerations = function.stmts.iter().any(|stmt| match stmt.kind {
        StmtKind::Switch { condition, .. } => is_enumeration(unit, function, condition),
        _ => false,
    });
    let assumptions: &[bool] = match has_enumerations {
        true => &[false, true],
        false => &[false],
    };
    for &enumerations_are_complete in assumptions {
        let walk = |passed: &[StmtId]| {
            let mut flow = Flow {
                unit,
                function,
                leaves: &leaves,
                enumerations_are_complete,
                passed: vec![false; function.stmts.len()],
                labels: FxHashSet::default(),
                inside: Vec::new(),
                entered: vec![false; function.stmts.len()],
                left: vec![false; function.stmts.len()],
            };
            for id in passed {
                flow.passed[id.0 as usize] = true;
            }
            let ends = flow.function();
            (ends, flow)
        };
        let (ends, flow) = walk(&[]);
        if ends {
            continue;
        }
        let barriers: Vec<StmtId> = (0..function.stmts.len())
            .filter(|&number| flow.entered[number] && !flow.left[number])
            .map(|number| StmtId(number as u32))
            .collect();
        add_last(&barriers, &|passed| walk(passed).0, &mut found);
    }
    found
}

/// Adds those of `barriers` that control must not pass. If it does not get to the end by passing all of them, none of them is
/// one: large functions have hundreds of `return`s, and few that matter.
fn add_last(barriers: &[StmtId], ends: &dyn Fn(&[StmtId]) -> bool, found: &mut FxHashSet<StmtId>) {
    if barriers.is_empty() || !ends(barriers) {
        return;
    }
    if let &[last] = barriers {
        found.insert(last);
        return;
    }
    let (first, second) = barriers.split_at(barriers.len() / 2);
    add_last(first, ends, found);
    add_last(second, ends, found);
}

fn is_enumeration(unit: &TranslationUnit, function: &Function, id: ExprId) -> bool {
    let ty = function.expr(function.stripped(id)).ty;
    matches!(unit.types.kind(ty), TypeKind::Enum { .. })
}

/// The value of a condition that is a constant.
fn constant(function: &Function, condition: ExprId) -> Option<bool> {
    match function.expr(function.stripped(condition)).kind {
        ExprKind::Integer { value, .. } => Some(value != 0),
        _ => None,
    }
}

/// Whether a condition is a constant.
pub(crate) fn is_constant(function: &Function, condition: ExprId) -> bool {
    constant(function, condition).is_some()
}

/// For each expression whether there is something in it that control may not come back from.
fn leaving(unit: &TranslationUnit, function: &Function) -> Vec<bool> {
    let mut known = vec![None; function.exprs.len()];
    for number in 0..function.exprs.len() {
        may_leave(unit, function, ExprId(number as u32), &mut known);
    }
    known.into_iter().map(|known| known == Some(true)).collect()
}

fn may_leave(
    unit: &TranslationUnit,
    function: &Function,
    id: ExprId,
    known: &mut [Option<bool>],
) -> bool {
    if let Some(known) = known[id.0 as usize] {
        return known;
    }
    let expr = function.expr(id);
    let mut found = match &expr.kind {
        ExprKind::Call { callee, .. } => never_returns(unit, function, *callee),
        ExprKind::Other { body, .. } => body.is_some(),
        _ => false,
    };
    for child in function.children(id) {
        found |= may_leave(unit, function, child, known);
    }
    found &= expr.evaluated;
    known[id.0 as usize] = Some(found);
    found
}

fn never_returns(unit: &TranslationUnit, function: &Function, callee: ExprId) -> bool {
    match &function.expr(function.stripped(callee)).kind {
        ExprKind::Function(name) => {
            let declared = unit.declarations.get(name);
            patchwright_clib::never_returns(name) || declared.is_some_and(|known| known.no_return)
        }
        _ => false,
    }
}

/// A loop or a `switch` that is walked through.
#[derive(Default)]
struct Inside {
    is_switch: bool,
    /// Control reaches a `switch`, and so its sections.
    entered: bool,
    has_default: bool,
    broken: bool,
    continued: bool,
}

/// A walk through a function: which statements control reaches, and which ends.
struct Flow<'a> {
    unit: &'a TranslationUnit,
    function: &'a Function,
    leaves: &'a [bool],
    enumerations_are_complete: bool,
    /// Statements that control gets behind, whatever they are.
    passed: Vec<bool>,
    /// Labels that a `goto` leads to.
    labels: FxHashSet<&'a str>,
    inside: Vec<Inside>,
    entered: Vec<bool>,
    left: Vec<bool>,
}

impl<'a> Flow<'a> {
    /// Whether control reaches the closing brace.
    fn function(&mut self) -> bool {
        loop {
            let labels = self.labels.len();
            let ends = self.stmt(self.function.body, true);
            if self.labels.len() == labels {
                return ends;
            }
        }
    }

    /// Whether control gets behind the statement, if it reaches it or not.
    fn stmt(&mut self, id: StmtId, entered: bool) -> bool {
        let own = self.unpassed(id, entered);
        let left = own || entered && self.passed[id.0 as usize];
        self.entered[id.0 as usize] |= entered;
        self.left[id.0 as usize] |= left;
        left
    }

    fn unpassed(&mut self, id: StmtId, entered: bool) -> bool {
        let function = self.function;
        match &function.stmt(id).kind {
            StmtKind::Compound(inner) => {
                let mut at = entered;
                for &stmt in inner {
                    at = self.stmt(stmt, at);
                }
                at
            }
            StmtKind::Declaration(variables) => {
                let mut at = entered;
                for &variable in variables {
                    if let Some(initializer) = self.unit.variable(variable).initializer {
                        at = self.expr(initializer, at);
                    }
                }
                at
            }
            StmtKind::Expression(expr) => self.expr(*expr, entered),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let decided = self.expr(*condition, entered);
                let constant = constant(function, *condition);
                let then = self.stmt(*then, decided && constant != Some(false));
                let otherwise_entered = decided && constant != Some(true);
                match otherwise {
                    Some(otherwise) => self.stmt(*otherwise, otherwise_entered) || then,
                    None => otherwise_entered || then,
                }
            }
            StmtKind::While { condition, body } => {
                self.repeated(entered, Some(*condition), None, *body)
            }
            StmtKind::For {
                init,
                condition,
                increment,
                body,
            } => {
                let entered = match init {
                    Some(init) => self.stmt(*init, entered),
                    None => entered,
                };
                self.repeated(entered, *condition, *increment, *body)
            }
            StmtKind::Do { body, condition } => {
                let mut at = entered;
                loop {
                    self.inside.push(Inside::default());
                    let through = self.stmt(*body, at);
                    let around = self.inside.pop().unwrap_or_default();
                    let decided = self.expr(*condition, through || around.continued);
                    let constant = constant(function, *condition);
                    if decided && constant != Some(false) && !at {
                        at = true;
                        continue;
                    }
                    return around.broken || decided && constant != Some(true);
                }
            }
            StmtKind::Switch { condition, body } => {
                let decided = self.expr(*condition, entered);
                self.inside.push(Inside {
                    is_switch: true,
                    entered: decided,
                    ..Inside::default()
                });
                let through = self.stmt(*body, false);
                let around = self.inside.pop().unwrap_or_default();
                let is_complete = around.has_default
                    || self.enumerations_are_complete
                        && is_enumeration(self.unit, function, *condition);
                if around.continued
                    && let Some(outer) = self.inside.last_mut()
                {
                    outer.continued = true;
                }
                through || around.broken || decided && !is_complete
            }
            StmtKind::Case(body) => {
                let section = self.section(false);
                self.stmt(*body, entered || section)
            }
            StmtKind::Default(body) => {
                let section = self.section(true);
                self.stmt(*body, entered || section)
            }
            StmtKind::Label { name, body } => {
                let target = self.labels.contains(name.as_str());
                self.stmt(*body, entered || target)
            }
            StmtKind::Goto(label) => {
                if entered {
                    self.labels.insert(label);
                }
                false
            }
            StmtKind::Break => {
                if let Some(around) = self.inside.last_mut() {
                    around.broken |= entered;
                }
                false
            }
            StmtKind::Continue => {
                if let Some(around) = self.inside.last_mut() {
                    around.continued |= entered;
                }
                false
            }
            StmtKind::Return(value) => {
                if let Some(value) = value {
                    self.expr(*value, entered);
                }
                false
            }
            StmtKind::Null => entered,
            StmtKind::Other {
                expressions,
                statements,
                ..
            } => {
                let mut at = entered;
                for &expr in expressions {
                    at = self.expr(expr, at);
                }
                for &stmt in statements {
                    at = self.stmt(stmt, at);
                }
                at
            }
        }
    }

    /// A loop whose condition comes first.
    fn repeated(
        &mut self,
        entered: bool,
        condition: Option<ExprId>,
        increment: Option<ExprId>,
        body: StmtId,
    ) -> bool {
        let known = condition.map_or(Some(true), |condition| constant(self.function, condition));
        let mut at = entered;
        loop {
            let decided = match condition {
                Some(condition) => self.expr(condition, at),
                None => at,
            };
            self.inside.push(Inside::default());
            let through = self.stmt(body, decided && known != Some(false));
            let around = self.inside.pop().unwrap_or_default();
            let mut again = through || around.continued;
            if let Some(increment) = increment {
                again = self.expr(increment, again);
            }
            // A label in the body may be the way into the loop.
            if again && !at {
                at = true;
                continue;
            }
            return around.broken || decided && known != Some(true);
        }
    }

    /// Whether control reaches a label of the `switch` around it.
    fn section(&mut self, is_default: bool) -> bool {
        let around = self.inside.iter_mut().rev();
        around
            .filter(|around| around.is_switch)
            .map(|around| {
                around.has_default |= is_default;
                around.entered
            })
            .next()
            .unwrap_or(false)
    }

    /// Whether control gets behind an expression that it reaches.
    fn expr(&mut self, id: ExprId, entered: bool) -> bool {
        if !self.leaves[id.0 as usize] {
            return entered;
        }
        let function = self.function;
        match &function.expr(id).kind {
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                let decided = self.expr(*condition, entered);
                let constant = constant(function, *condition);
                let then = self.expr(*then, decided && constant != Some(false));
                let otherwise = self.expr(*otherwise, decided && constant != Some(true));
                then || otherwise
            }
            ExprKind::Binary {
                operator: operator @ (BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr),
                left,
                right,
            } => {
                let decided = self.expr(*left, entered);
                let constant = constant(function, *left);
                let decides = *operator == BinaryOperator::LogicalOr;
                let right = self.expr(*right, decided && constant != Some(decides));
                right || decided && constant != Some(!decides)
            }
            ExprKind::Other {
                body: Some(body), ..
            } => self.stmt(*body, entered),
            kind => {
                let mut at = entered;
                for child in function.children(id) {
                    at = self.expr(child, at);
                }
                let never = matches!(kind, ExprKind::Call { callee, .. }
                    if never_returns(self.unit, function, *callee));
                at && !never
            }
        }
    }
}

/// Whether what stands behind a statement may be reached from it.
pub(crate) fn goes_on(function: &Function, id: StmtId) -> bool {
    let id = function.behind_labels(id);
    match &function.stmt(id).kind {
        StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_) | StmtKind::Return(_) => false,
        StmtKind::Compound(inner) => inner.last().is_none_or(|&last| goes_on(function, last)),
        StmtKind::If {
            then,
            otherwise: Some(otherwise),
            ..
        } => goes_on(function, *then) || goes_on(function, *otherwise),
        _ => true,
    }
}
