//! The expressions of a source file that can be changed, and what they can be changed to.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Function, Place, Scope, ScopeMap, StmtId, StmtKind,
    Storage, TranslationUnit, UnaryOperator, VarId,
    detail::Detail,
    scopes,
    types::{IntegerKind, TypeKind},
};
use patchwright_lower::alternatives::{Alternative, Atom, Choice};
use patchwright_text::{LineMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    defines,
    level::{Level, Operands, others},
    mutation::{Mutation, Mutations, Piece, Site, Text, literal},
    syntax::{Binding, binding, needs_parentheses, operator_between, written},
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

/// The mutations of a source file at a level; `source` is its position among the sources, and expressions and open
/// constants are numbered from `next` on.
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

pub(crate) struct Walker<'a> {
    pub(crate) unit: &'a TranslationUnit,
    pub(crate) function: &'a Function,
    level: Level,
    scopes: ScopeMap,
    spans: &'a [Span],
    roots: Vec<Root>,
    /// The written expression around each one.
    pub(crate) parents: FxHashMap<ExprId, ExprId>,
    roles: FxHashMap<ExprId, Role>,
    found: Vec<Found>,
    /// Variables that the function mentions.
    pub(crate) mentioned: Vec<VarId>,
    out_of_reach: usize,
    /// Numbers that macros write.
    uses: Vec<defines::Use>,
    pub(crate) next: &'a mut u32,
}

impl Walker<'_> {
    fn statement(&mut self, id: StmtId) {
        let function = self.function;
        match &function.stmt(id).kind {
            StmtKind::Compound(inner) => inner.iter().for_each(|&inner| self.statement(inner)),
            StmtKind::Declaration(variables) => {
                for &variable in variables {
                    let declared = self.unit.variable(variable);
                    if let (Some(value), Storage::Local) = (declared.initializer, declared.storage)
                    {
                        self.push(value, Role::Value);
                    }
                }
            }
            StmtKind::Expression(expr) => self.push(*expr, Role::Effect),
            StmtKind::If {
                condition,
                then,
                otherwise,
            } => {
                let asserts = [Some(*then), *otherwise].into_iter().flatten();
                if !asserts
                    .into_iter()
                    .any(|arm| trusted::reports_error(function, arm))
                {
                    self.push(*condition, Role::Condition);
                }
                self.statement(*then);
                if let Some(otherwise) = otherwise {
                    self.statement(*otherwise);
                }
            }
            StmtKind::While { condition, body } | StmtKind::Do { body, condition } => {
                self.push(*condition, Role::Condition);
                self.statement(*body);
            }
            StmtKind::For {
                init,
                condition,
                increment,
                body,
            } => {
                if let Some(init) = init {
                    self.statement(*init);
                }
                if let Some(condition) = condition {
                    self.push(*condition, Role::Condition);
                }
                if let Some(increment) = increment {
                    self.push(*increment, Role::Effect);
                }
                self.statement(*body);
            }
            StmtKind::Switch { condition, body } => {
                self.push(*condition, Role::Value);
                self.statement(*body);
            }
            StmtKind::Case(body) | StmtKind::Default(body) | StmtKind::Label { body, .. } => {
                self.statement(*body);
            }
            StmtKind::Return(Some(value)) => self.push(*value, Role::Value),
            _ => {}
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

    fn operands(&self, left: ExprId, right: ExprId) -> Operands {
        let types = &self.unit.types;
        let kind = |id: ExprId| types.kind(self.function.expr(id).ty);
        let is_integer = |id: ExprId| types.integer_kind(self.function.expr(id).ty).is_some();
        let is_float = |id: ExprId| matches!(kind(id), TypeKind::Float(_));
        let is_pointer = |id: ExprId| matches!(kind(id), TypeKind::Pointer(_));
        match (is_pointer(left), is_pointer(right)) {
            (true, true) => Operands::Pointers,
            (true, false) if is_integer(right) => Operands::PointerAndInteger,
            (false, false) if is_integer(left) && is_integer(right) => Operands::Integers,
            (false, false)
                if (is_float(left) || is_integer(left))
                    && (is_float(right) || is_integer(right)) =>
            {
                Operands::Floats
            }
            _ => Operands::Others,
        }
    }

    fn binary(
        &mut self,
        id: ExprId,
        parent: Option<ExprId>,
        operator: BinaryOperator,
        left: ExprId,
        right: ExprId,
        role: Role,
    ) {
        let Some(span) = self.editable(id) else {
            return;
        };
        let (Some(first), Some(second)) = (self.place(left), self.place(right)) else {
            return;
        };
        let Some(token) = operator_between(self.unit, first.end, second.start, operator.spelling())
        else {
            self.out_of_reach += 1;
            return;
        };
        let mut found = Vec::new();
        let mut operands = self.operands(left, right);
        if is_pointer_difference(operator, operands) {
            operands = Operands::Others;
        }
        for other in others(operator, self.level, operands) {
            let mut pieces = vec![replace(token, other.spelling())];
            let new = Binding::of(other);
            for (operand, place, is_right) in [(left, first, false), (right, second, true)] {
                let own = binding(self.function, operand);
                let weaker = own < new || own == new && is_right;
                let cautious = !weaker || Binding::of(operator) == new;
                if own < Binding::PRIMARY {
                    pieces.extend(parentheses(place, cautious));
                }
            }
            let cautious =
                Binding::of(operator) == new || !needs_parentheses(self.function, id, parent, new);
            pieces.extend(parentheses(span, cautious));
            found.push((Alternative::Operator(other), Mutation::new(pieces)));
        }
        let logical = matches!(
            operator,
            BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr
        );
        if self.level == Level::Three {
            found.extend(self.other_way_round(operator, (left, first), (right, second)));
        }
        if logical && self.level == Level::Three {
            for (alternative, kept, place) in [
                (Alternative::Left, left, first),
                (Alternative::Right, right, second),
            ] {
                let mut pieces = vec![
                    replace(Span::new(span.start, place.start), ""),
                    replace(Span::new(place.end, span.end), ""),
                ];
                pieces.retain(|piece| !piece.span.is_empty());
                if role != Role::Condition && !self.is_truth_value(kept) {
                    let weak = binding(self.function, kept) < Binding::of(BinaryOperator::Ne);
                    pieces.extend(parentheses(place, !weak));
                    pieces.push(behind(place, " != 0", place.len() + 1));
                    let whole = needs_parentheses(
                        self.function,
                        id,
                        parent,
                        Binding::of(BinaryOperator::Ne),
                    );
                    let mut outer = parentheses(place, !whole);
                    outer.iter_mut().for_each(|piece| piece.extent += 2);
                    pieces.extend(outer);
                }
                found.push((alternative, Mutation::new(pieces)));
            }
        }
        self.add(id, span, found);
    }

    /// Its value is 0 or 1, an `int`.
    pub(crate) fn is_truth_value(&self, id: ExprId) -> bool {
        let id = self.function.without_parens(written(self.function, id));
        match &self.function.expr(id).kind {
            ExprKind::Binary { operator, .. } => {
                is_comparison(*operator)
                    || matches!(
                        operator,
                        BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr
                    )
            }
            ExprKind::Unary { operator, .. } => *operator == UnaryOperator::Not,
            _ => false,
        }
    }

    pub(crate) fn place(&self, id: ExprId) -> Option<Span> {
        self.function.expr(id).place.editable()
    }

    fn compound(&mut self, id: ExprId, operator: BinaryOperator, target: ExprId, value: ExprId) {
        let Some(span) = self.editable(id) else {
            return;
        };
        let (Some(first), Some(second)) = (self.place(target), self.place(value)) else {
            return;
        };
        let spelling = format!("{}=", operator.spelling());
        let Some(token) = operator_between(self.unit, first.end, second.start, &spelling) else {
            self.out_of_reach += 1;
            return;
        };
        let operands = self.operands(target, value);
        let found = others(operator, self.level, operands)
            .into_iter()
            .map(|other| {
                let text = format!("{}=", other.spelling());
                let pieces = vec![replace(token, &text)];
                (Alternative::Operator(other), Mutation::new(pieces))
            })
            .collect();
        self.add(id, span, found);
    }

    fn step(&mut self, id: ExprId, operand: ExprId, role: Role) {
        let Some(&Detail::Step { increment, prefix }) = self.function.details.of.get(&id) else {
            return;
        };
        let (Some(span), Some(place)) = (self.editable(id), self.place(operand)) else {
            return;
        };
        let own: i64 = if increment { 1 } else { -1 };
        let token = match prefix {
            true => Span::new(span.start, place.start),
            false => Span::new(place.end, span.end),
        };
        let turned = if increment { "--" } else { "++" };
        let mut found = vec![(
            Alternative::Step(-own),
            Mutation::new(vec![replace(token, turned)]),
        )];
        if self.level >= Level::Two && role == Role::Effect {
            for by in [2 * own, 0] {
                let operator = if increment { "+=" } else { "-=" };
                let mut pieces = vec![
                    replace(token, ""),
                    behind(place, &format!(" {operator} {}", by.abs()), span.len()),
                ];
                if !prefix {
                    pieces = vec![replace(token, &format!(" {operator} {}", by.abs()))];
                }
                found.push((Alternative::Step(by), Mutation::new(pieces)));
            }
        }
        self.add(id, span, found);
    }

    /// Keeps a number that the definition of a macro may be the text of.
    fn written_by_macro(&mut self, id: ExprId, value: i128, kind: IntegerKind) {
        let (invocation, replaceable) = match self.function.expr(id).place {
            Place::Written(span) => (span, true),
            Place::MacroBody { invocation } => (invocation, false),
            _ => return,
        };
        let text = self.unit.text(invocation);
        let is_allowed = !self.spans.iter().any(|one| one.overlaps(invocation));
        if is_allowed
            && text
                .bytes()
                .next()
                .is_some_and(|byte| !byte.is_ascii_digit())
        {
            self.uses.push(defines::Use {
                function: self.function.name.clone(),
                id,
                invocation,
                value,
                kind,
                replaceable,
            });
        }
    }

    fn integer(
        &mut self,
        id: ExprId,
        parent: Option<ExprId>,
        (value, character): (i128, bool),
        root: &Root,
    ) {
        let Some(kind) = self.unit.types.integer_kind(self.function.expr(id).ty) else {
            return;
        };
        let Some((low, high)) = range(kind) else {
            return;
        };
        if self.level == Level::Three {
            self.written_by_macro(id, value, kind);
        }
        let Some(span) = self.editable(id) else {
            return;
        };
        let is_unsigned = low == 0;
        let tight = matches!(
            parent.map(|parent| &self.function.expr(parent).kind),
            Some(ExprKind::Binary { .. } | ExprKind::Unary { .. } | ExprKind::Cast { .. })
        );
        // `2[a]`
        if let Some(parent) = parent
            && let ExprKind::Other { kind, .. } = &self.function.expr(parent).kind
            && kind == "ArraySubscriptExpr"
        {
            return;
        }
        if self.level == Level::Three {
            let number = *self.next;
            *self.next += 1;
            let text = Text::Open {
                number,
                kind,
                parenthesised: tight,
            };
            let piece = Piece {
                span,
                text,
                extent: span.len(),
                closing: false,
                cautious: false,
            };
            let mut mutation = Mutation::new(vec![piece]);
            mutation.near = value as u64 as i64;
            self.add(id, span, vec![(Alternative::Open(number), mutation)]);
            self.variable_for_number(id, span, root);
            return;
        }
        let mut values: Vec<i128> = Vec::new();
        for other in [value + 1, value - 1, -value, 0] {
            let wrapped = match is_unsigned {
                true => other.rem_euclid(high + 1),
                false => other,
            };
            if wrapped != value && (low..=high).contains(&wrapped) && !values.contains(&wrapped) {
                values.push(wrapped);
            }
        }
        let source_text = self.unit.text(span).into_owned();
        let found = values
            .into_iter()
            .map(|other| {
                let text = match character && source_text.starts_with('\'') {
                    true => character_literal(other),
                    false => None,
                };
                let text = text.unwrap_or_else(|| literal(other, kind, tight));
                let mutation = Mutation::new(vec![replace(span, &text)]);
                // The canonical form of crate `semantics`: sign-extended for signed types.
                (Alternative::Constant(other as u64), mutation)
            })
            .collect();
        self.add(id, span, found);
    }
}

fn is_comparison(operator: BinaryOperator) -> bool {
    use BinaryOperator::*;
    matches!(operator, Lt | Le | Gt | Ge | Eq | Ne)
}

fn is_pointer_difference(operator: BinaryOperator, operands: Operands) -> bool {
    operator == BinaryOperator::Sub && operands == Operands::Pointers
}

pub(crate) fn replace(span: Span, text: &str) -> Piece {
    Piece {
        span,
        text: Text::Is(text.to_owned()),
        extent: span.len(),
        closing: false,
        cautious: false,
    }
}

/// Text behind an expression.
pub(crate) fn behind(place: Span, text: &str, extent: u32) -> Piece {
    Piece {
        span: Span::empty(place.end),
        text: Text::Is(text.to_owned()),
        extent,
        closing: true,
        cautious: false,
    }
}

pub(crate) fn parentheses(place: Span, cautious: bool) -> [Piece; 2] {
    let piece = |at: u32, text: &str, closing: bool| Piece {
        span: Span::empty(at),
        text: Text::Is(text.to_owned()),
        extent: place.len(),
        closing,
        cautious,
    };
    [piece(place.start, "(", false), piece(place.end, ")", true)]
}

pub(crate) fn size_of(kind: IntegerKind) -> Option<u64> {
    (kind.size() <= 8).then(|| kind.size())
}

/// The values of a type that literals can have.
pub(crate) fn range(kind: IntegerKind) -> Option<(i128, i128)> {
    use IntegerKind::*;
    Some(match kind {
        Int => (i128::from(i32::MIN), i128::from(i32::MAX)),
        UnsignedInt => (0, i128::from(u32::MAX)),
        Long | LongLong => (i128::from(i64::MIN), i128::from(i64::MAX)),
        UnsignedLong | UnsignedLongLong => (0, i128::from(u64::MAX)),
        _ => return None,
    })
}

fn character_literal(value: i128) -> Option<String> {
    let byte = u8::try_from(value).ok()?;
    match byte {
        b'\'' | b'\\' => Some(format!("'\\{}'", byte as char)),
        b' '..=b'~' => Some(format!("'{}'", byte as char)),
        _ => None,
    }
}
