//! Lists the expressions of a source file that can be changed, and their mutations.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Function, Part, Role as Use, Scope, ScopeMap, Slot,
    StmtId, StmtKind, Storage, TranslationUnit, UnaryOperator, VarId, scopes,
};
use patchwright_lower::alternatives::{Alternative, Atom, Choice};
use patchwright_text::{LineMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    defines,
    level::Level,
    mutation::{Mutation, Mutations, Site},
    operators::is_comparison,
    trusted::{self, Trusted},
};

/// What the value of an expression is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It decides where control goes.
    Condition,
    /// It is not used.
    Effect,
    /// It is used.
    Value,
}

/// An expression that is no part of another one.
pub(crate) struct Root {
    id: ExprId,
    role: Role,
    pub(crate) scope: Option<Scope>,
}

/// Returns the mutations of a source file at a level. `source` is its position among the sources.
/// Expressions and open constants are numbered from `next` on.
pub fn enumerate(
    unit: &TranslationUnit,
    source: usize,
    level: Level,
    trusted: &Trusted,
    next: &mut u32,
) -> Mutations {
    let mut all = Mutations::default();
    let spans = trusted::spans(trusted, unit);
    let lines = LineMap::new(&unit.source);
    let mut uses = Vec::new();
    for function in &unit.functions {
        if trusted::is_trusted(trusted, &function.name) || function.refusal.is_some() {
            continue;
        }
        let mut walker = Walker {
            unit,
            function,
            level,
            scopes: scopes(unit, function),
            spans: &spans,
            roots: Vec::new(),
            parents: FxHashMap::default(),
            roles: FxHashMap::default(),
            found: Vec::new(),
            mentioned: Vec::new(),
            out_of_reach: 0,
            uses: Vec::new(),
            next,
        };
        walker.statement(function.body);
        walker.mention();
        let roots = std::mem::take(&mut walker.roots);
        for root in &roots {
            walker.root(root);
        }
        let Walker {
            found,
            out_of_reach,
            uses: own,
            ..
        } = walker;
        uses.extend(own);
        all.out_of_reach += out_of_reach;
        gather(&mut all, function, source, &lines, found, next);
    }
    defines::add(&mut all, unit, source, &spans, &uses, next);
    all
}

/// An expression with alternatives, before it has a number.
struct Found {
    id: ExprId,
    span: Span,
    alternatives: Vec<(Alternative, Mutation)>,
}

/// Gives the expressions numbers. Those that are one text, in several copies of a macro's argument, share one; if they
/// differ in what they can become, they become nothing.
fn gather(
    all: &mut Mutations,
    function: &Function,
    source: usize,
    lines: &LineMap,
    found: Vec<Found>,
    next: &mut u32,
) {
    let mut by_text: Vec<(Span, std::mem::Discriminant<ExprKind>, Vec<Found>)> = Vec::new();
    for one in found {
        let kind = std::mem::discriminant(&function.expr(one.id).kind);
        match by_text
            .iter_mut()
            .find(|(span, other, _)| *span == one.span && *other == kind)
        {
            Some((_, _, group)) => group.push(one),
            None => by_text.push((one.span, kind, vec![one])),
        }
    }
    let choices = all
        .alternatives
        .of
        .entry(function.name.clone())
        .or_default();
    for (span, _, group) in by_text {
        let first = &group[0];
        let shape = |one: &Found| -> Vec<Alternative> {
            let all = one.alternatives.iter();
            all.map(|(alternative, _)| closed(alternative)).collect()
        };
        if group.iter().any(|one| shape(one) != shape(first)) {
            all.out_of_reach += 1;
            continue;
        }
        let number = *next;
        *next += 1;
        let alternatives: Vec<Alternative> =
            first.alternatives.iter().map(|(a, _)| a.clone()).collect();
        all.sites.push(Site {
            number,
            source,
            function: function.name.clone(),
            line: lines.line(span.start),
            span,
            mutations: first.alternatives.iter().map(|(_, m)| m.clone()).collect(),
        });
        for one in &group {
            choices.insert(
                one.id,
                Choice {
                    number,
                    alternatives: alternatives.clone(),
                },
            );
        }
    }
}

/// An alternative without the numbers of open constants.
fn closed(alternative: &Alternative) -> Alternative {
    let atom = |atom: &Atom| match atom {
        Atom::Open(_) => Atom::Open(0),
        other => other.clone(),
    };
    match alternative {
        Alternative::Open(_) => Alternative::Open(0),
        Alternative::Beside {
            operator,
            before,
            left,
            comparison,
            right,
        } => Alternative::Beside {
            operator: *operator,
            before: *before,
            left: atom(left),
            comparison: *comparison,
            right: atom(right),
        },
        other => other.clone(),
    }
}

/// Walks over the expressions of a function and collects the mutations of a level.
pub(crate) struct Walker<'a> {
    pub(crate) unit: &'a TranslationUnit,
    pub(crate) function: &'a Function,
    pub(crate) level: Level,
    scopes: ScopeMap,
    pub(crate) spans: &'a [Span],
    roots: Vec<Root>,
    /// The written expression around each one.
    pub(crate) parents: FxHashMap<ExprId, ExprId>,
    roles: FxHashMap<ExprId, Role>,
    found: Vec<Found>,
    /// Variables that the function mentions.
    pub(crate) mentioned: Vec<VarId>,
    pub(crate) out_of_reach: usize,
    /// Numbers that macros write.
    pub(crate) uses: Vec<defines::Use>,
    pub(crate) next: &'a mut u32,
}

impl Walker<'_> {
    fn statement(&mut self, id: StmtId) {
        let function = self.function;
        let kind = &function.stmt(id).kind;
        let asserts = match kind {
            StmtKind::If {
                then, otherwise, ..
            } => {
                let mut arms = std::iter::once(*then).chain(*otherwise);
                arms.any(|arm| trusted::reports_error(function, arm))
            }
            _ => false,
        };
        for part in kind.parts() {
            match part {
                Part::Statement(_, Slot::Unknown) => {}
                Part::Statement(inner, _) => self.statement(inner),
                Part::Variable(variable) => {
                    let declared = self.unit.variable(variable);
                    if let (Some(value), Storage::Local) = (declared.initializer, declared.storage)
                    {
                        self.push(value, Role::Value);
                    }
                }
                Part::Expression(expr, role) => match role {
                    Use::Effect => self.push(expr, Role::Effect),
                    Use::Condition if asserts => {}
                    Use::Condition => self.push(expr, Role::Condition),
                    Use::Selector | Use::Result => {
                        self.push(expr, Role::Value);
                    }
                    Use::Unknown => {}
                },
            }
        }
    }

    fn push(&mut self, id: ExprId, role: Role) {
        let scope = self.scopes.at_expr(id).cloned();
        self.roots.push(Root { id, role, scope });
    }

    fn mention(&mut self) {
        let mut seen = FxHashSet::default();
        for expr in &self.function.exprs {
            if let ExprKind::Variable(variable) = expr.kind
                && seen.insert(variable)
            {
                self.mentioned.push(variable);
            }
        }
    }

    fn root(&mut self, root: &Root) {
        self.roles.insert(root.id, root.role);
        self.visit(root.id, None, root);
    }

    /// Visits an expression; `parent` is the written one around it.
    fn visit(&mut self, id: ExprId, parent: Option<ExprId>, root: &Root) {
        let function = self.function;
        let expr = function.expr(id);
        if !expr.evaluated || trusted::is_in_assertion(self.unit, expr.place) {
            return;
        }
        if let Some(parent) = parent {
            self.parents.insert(id, parent);
        }
        let is_implicit = matches!(expr.kind, ExprKind::Cast { implicit: true, .. });
        let around = if is_implicit { parent } else { Some(id) };
        let role = self.roles.get(&id).copied().unwrap_or(Role::Value);
        match &expr.kind {
            ExprKind::Paren(inner) => {
                self.roles.insert(*inner, role);
                self.visit(*inner, around, root);
            }
            ExprKind::Cast { operand, cast, .. } => {
                match cast {
                    CastKind::ToVoid => {
                        self.roles.insert(*operand, Role::Effect);
                    }
                    CastKind::NullToPointer => return,
                    _ => {}
                }
                self.visit(*operand, around, root);
            }
            ExprKind::Binary {
                operator,
                left,
                right,
            } => {
                match operator {
                    BinaryOperator::Comma => {
                        self.roles.insert(*left, Role::Effect);
                        self.roles.insert(*right, role);
                    }
                    BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr => {
                        self.roles.insert(*left, Role::Condition);
                        self.roles.insert(*right, Role::Condition);
                    }
                    _ => {}
                }
                self.visit(*left, around, root);
                self.visit(*right, around, root);
            }
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.roles.insert(*condition, Role::Condition);
                for part in [*condition, *then, *otherwise] {
                    self.visit(part, around, root);
                }
            }
            ExprKind::Call {
                callee, arguments, ..
            } => {
                if trusted::is_statement_call(function, *callee) {
                    return;
                }
                self.visit(*callee, around, root);
                for &argument in arguments {
                    self.visit(argument, around, root);
                }
            }
            ExprKind::CompilerConstant => return,
            ExprKind::Other { body, .. } => {
                if let Some(body) = body {
                    let before = self.roots.len();
                    self.statement(*body);
                    for inner in self.roots.split_off(before) {
                        self.root(&inner);
                    }
                }
                for child in function.children(id) {
                    self.visit(child, around, root);
                }
            }
            _ => {
                for child in function.children(id) {
                    self.visit(child, around, root);
                }
            }
        }
        self.consider(id, parent, role, root);
    }

    /// The text of an expression, if it can be changed.
    pub(crate) fn editable(&mut self, id: ExprId) -> Option<Span> {
        let place = self.function.expr(id).place;
        let span = match place.editable() {
            Some(span) if !self.function.is_typed_argument(span) => span,
            _ => {
                self.out_of_reach += 1;
                return None;
            }
        };
        let allowed = !self.spans.iter().any(|trusted| trusted.overlaps(span))
            && self.function.body_span.contains_span(span);
        allowed.then_some(span)
    }

    /// Adds the alternatives of an expression, if there are any.
    pub(crate) fn add(
        &mut self,
        id: ExprId,
        span: Span,
        alternatives: Vec<(Alternative, Mutation)>,
    ) {
        if alternatives.is_empty() {
            return;
        }
        match self.found.iter_mut().find(|one| one.id == id) {
            Some(one) => one.alternatives.extend(alternatives),
            None => self.found.push(Found {
                id,
                span,
                alternatives,
            }),
        }
    }

    fn consider(&mut self, id: ExprId, parent: Option<ExprId>, role: Role, root: &Root) {
        let function = self.function;
        match &function.expr(id).kind {
            ExprKind::Binary {
                operator,
                left,
                right,
            } => {
                if *operator != BinaryOperator::Comma {
                    self.binary(id, parent, *operator, *left, *right, role);
                }
                if self.level == Level::Three && is_comparison(*operator) {
                    self.off_by_one(*right);
                }
            }
            ExprKind::Assign {
                operator: Some(operator),
                target,
                value,
            } => self.compound(id, *operator, *target, *value),
            ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand,
            } => self.step(id, *operand, role),
            ExprKind::Integer {
                value, character, ..
            } if self.level >= Level::Two => self.integer(id, parent, (*value, *character), root),
            ExprKind::Cast {
                operand,
                cast: CastKind::LValueToRValue | CastKind::ArrayToPointer,
                ..
            } if self.level == Level::Three => {
                if let ExprKind::Variable(variable) = function.expr(*operand).kind {
                    self.variable(id, variable, root);
                }
            }
            ExprKind::Subscript { index, .. } if self.level == Level::Three => {
                self.off_by_one(*index);
            }
            ExprKind::Call { arguments, .. } if self.level == Level::Three => {
                self.arguments(id, arguments);
            }
            ExprKind::Conditional {
                then, otherwise, ..
            } if self.level == Level::Three => self.one_value(id, parent, [*then, *otherwise]),
            _ => {}
        }
        if self.level == Level::Three {
            self.negated(id, role);
            self.beside(id, parent, role, root);
        }
    }

    /// Returns the place of an expression that can be replaced in the text.
    pub(crate) fn place(&self, id: ExprId) -> Option<Span> {
        self.function.expr(id).place.editable()
    }
}
