//! Finds the holes of a function, where kinds of change apply.
//!
//! A hole is a pure expression as large as possible, in a place that can be edited. All changes
//! inside of it share one hole, and the value of the whole decides about their classes. (A change
//! of `b` in `a < b` matters only when the comparison changes.) Subscripts and pointers inside of
//! it are holes of their own, because the object that they select is not known before. A condition
//! that is not pure has a hole for conjuncts and disjuncts. A statement has a hole for its guard.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Function, Part, Place, Role, Scope, ScopeMap, Slot,
    StmtId, StmtKind, Storage, UnaryOperator, VarId,
};
use patchwright_text::Span;

use crate::ways_out::Exits;
use crate::{
    assign::AssignmentAt,
    choices::Choice,
    endings::{is_constant, last_statements},
    sites,
    slots::{AtomBuilder, Atoms},
    term::{CType, Context, Precedence, Term, promote},
};

/// The kind of a hole.
#[derive(Clone, Debug, PartialEq)]
pub enum HoleKind {
    /// A pure expression: its value is replaced (EXPRESSION, and REFINEMENT where it is a
    /// condition).
    Expression {
        /// The expression as it is.
        original: Term,
        /// It is a condition.
        condition: bool,
    },
    /// A condition with effects: what is added to it (REFINEMENT).
    Refinement(Added),
    /// A statement before which a variable is assigned (ASSIGNMENT).
    Assignment(AssignmentAt),
    /// A statement: the condition under which it is executed (GUARD).
    Guard {
        /// Number of nodes of the statement: the price of deleting it.
        size: u32,
        /// The statement stands alone where the grammar wants one (`if (x) s;`), so that
        /// deleting it leaves `;`.
        is_body: bool,
    },
    /// A call, a declaration or a statement with changes that are no terms (INITIALIZATION, FUNCTION, SWAP, FORMAT, MOVE): the
    /// value is the number of one of them, or 0.
    Choice(Choice),
    /// A statement before which the function, the loop or the `switch` is left (EXIT): the value is the number of the
    /// way out, or 0.
    Exit(Exits),
}

/// Where something is added to a condition that has effects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Added {
    /// `C && b`, `C || b`: slot 0 is the truth of `C`.
    Behind,
    /// `b && C`: the value is that of `b`. The precedence is that of `C`.
    AndBefore(Precedence),
    /// `b || C`: the value is that of `b`.
    OrBefore(Precedence),
}

/// A part of an expression that has effects: it is evaluated once, by the program itself, and
/// its value is handed over in slot 0. Terms at the hole contain it exactly once.
#[derive(Clone, Debug, PartialEq)]
pub struct Captured {
    /// The part's text.
    pub span: Span,
    /// Its type.
    pub ctype: CType,
}

/// A location of the program with everything that candidates there need.
#[derive(Clone, Debug)]
pub struct Hole {
    /// Index of the function in its unit.
    pub function: usize,
    /// The text that the hole replaces or guards.
    pub span: Span,
    /// What it is for.
    pub kind: HoleKind,
    /// What happens to its value.
    pub context: Context,
    /// The type to which the woven source casts the value; `None` for truth values.
    pub ctype: Option<CType>,
    /// Its own atoms; leaves are added to them.
    pub atoms: Atoms,
    /// The variables that can be named here.
    pub scope: Scope,
    /// The expression, for holes that are one.
    pub expr: Option<ExprId>,
    /// It lies in a macro's argument.
    pub in_macro_argument: bool,
    /// The part of the expression that has effects.
    pub captured: Option<Captured>,
}

impl Hole {
    /// Whether the hook itself hands over slot 0, which no term but the original reads.
    pub fn hands_over_a_value(&self) -> bool {
        self.captured.is_some() || self.kind == HoleKind::Refinement(Added::Behind)
    }
}

/// Finds the holes of one function: expressions without effects, conditions that can be extended, and
/// statements that can be guarded.
pub fn holes(
    builder: &mut AtomBuilder<'_>,
    function_index: usize,
    function: &Function,
    scopes: &ScopeMap,
) -> Vec<Hole> {
    let last = last_statements(builder.unit, function);
    let mut finder = Finder {
        builder,
        function_index,
        function,
        scopes,
        last,
        scope: None,
        found: Vec::new(),
        spans: Default::default(),
        sizes: sizes(function),
    };
    finder.stmt(function.body, Position::Fixed);
    finder.found
}

/// The most nodes of a hole. Of a larger expression only parts are holes: a candidate needs one instruction for each node, the probe's
/// room for instructions is limited, and each site takes time in proportion.
const LARGEST: u32 = 256;

/// The number of nodes of each expression.
fn sizes(function: &Function) -> Vec<u32> {
    let mut sizes: Vec<u32> = vec![0; function.exprs.len()];
    // What is in an expression comes before it.
    for number in 0..sizes.len() {
        let children = function.children(ExprId(number as u32)).into_iter();
        let below: u32 = children.map(|child| sizes[child.0 as usize]).sum();
        let own = match function.exprs[number].kind {
            ExprKind::Paren(_) | ExprKind::Cast { implicit: true, .. } => 0,
            _ => 1,
        };
        sizes[number] = own + below;
    }
    sizes
}

/// How a statement is placed.
#[derive(Clone, Copy, PartialEq)]
enum Position {
    /// Among others in a block.
    Block,
    /// As the body of a control statement.
    Body,
    /// As the first part of a `for`, or with a label: it cannot be guarded.
    Fixed,
}

/// What happens to the value of an expression.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Use {
    Truth,
    Convert(CType),
    /// It selects one of so many elements of an array.
    Index(u64),
    /// The type matters to what is around: it must stay.
    Same,
    /// The value is not used.
    Discard,
}

impl Use {
    /// The context of terms in place of an expression of type `own`, and the type that the woven
    /// source gives them.
    pub(crate) fn context(self, own: CType) -> Option<(Context, Option<CType>)> {
        match self {
            Use::Truth => Some((Context::Truth, None)),
            Use::Convert(to) => Some((Context::Convert(to), Some(to))),
            Use::Index(count) => Some((Context::Index(count), Some(CType::Long))),
            Use::Same => Some((Context::Same, Some(promote(own)))),
            Use::Discard => None,
        }
    }
}

/// Finds the holes of one function.
pub(crate) struct Finder<'b, 'a, 'f> {
    pub(crate) builder: &'b mut AtomBuilder<'a>,
    pub(crate) function_index: usize,
    pub(crate) function: &'f Function,
    scopes: &'f ScopeMap,
    /// Statements behind which the function would end without a value.
    last: rustc_hash::FxHashSet<StmtId>,
    pub(crate) scope: Option<Scope>,
    pub(crate) found: Vec<Hole>,
    /// Expression spans that have a hole: a macro may use an argument several times.
    pub(crate) spans: rustc_hash::FxHashSet<Span>,
    /// The number of nodes of each expression.
    sizes: Vec<u32>,
}

impl Finder<'_, '_, '_> {
    fn full(&mut self, id: ExprId, usage: Use) {
        self.scope = self.scopes.at_expr(id).cloned();
        if self.scope.is_some() {
            self.expr(id, usage);
        }
    }

    /// The condition of a statement. Where a constant is why control does not get behind the statement, it stays.
    fn condition(&mut self, of: StmtId, condition: ExprId) {
        if !self.last.contains(&of) || !is_constant(self.function, condition) {
            self.full(condition, Use::Truth);
        }
    }

    fn stmt(&mut self, id: StmtId, position: Position) {
        let stmt = self.function.stmt(id);
        if position != Position::Fixed && !self.last.contains(&id) {
            self.guard(id, position);
        }
        for part in stmt.kind.parts() {
            match part {
                Part::Statement(inner, slot) => match slot {
                    Slot::Block(_) => self.stmt(inner, Position::Block),
                    Slot::Arm | Slot::Loop | Slot::Labelled => self.stmt(inner, Position::Body),
                    Slot::Init | Slot::Switch => self.stmt(inner, Position::Fixed),
                    Slot::Unknown => {}
                },
                Part::Expression(expr, role) => match role {
                    Role::Effect => self.full(expr, Use::Discard),
                    Role::Condition => self.condition(id, expr),
                    Role::Selector => self.full(expr, Use::Same),
                    Role::Result => {
                        let ctype = self.builder.ctype(self.function.expr(expr).ty);
                        self.full(expr, ctype.map_or(Use::Same, Use::Convert));
                    }
                    Role::Unknown => {}
                },
                Part::Variable(variable) => self.initializer(variable),
            }
        }
    }

    fn initializer(&mut self, variable: VarId) {
        let variable = self.builder.unit.variable(variable);
        let ty = variable.ty;
        if let (Storage::Local, Some(value)) = (variable.storage, variable.initializer) {
            let usage = match self.builder.ctype(ty) {
                Some(ctype) if self.builder.is_scalar(ty) => Use::Convert(ctype),
                _ => Use::Same,
            };
            self.full(value, usage);
        }
    }

    /// The block of a statement expression, whose value is that of its last statement.
    fn statement_expression(&mut self, block: StmtId) {
        let StmtKind::Compound(inner) = &self.function.stmt(block).kind else {
            return;
        };
        let Some((&last, others)) = inner.split_last() else {
            return;
        };
        for &stmt in others {
            self.stmt(stmt, Position::Block);
        }
        match self.function.stmt(last).kind {
            // A guard would leave the block without a value.
            StmtKind::Expression(value) => self.full(value, Use::Same),
            _ => self.stmt(last, Position::Block),
        }
    }

    fn guard(&mut self, id: StmtId, position: Position) {
        let stmt = self.function.stmt(id);
        let eligible = match &stmt.kind {
            StmtKind::Compound(_) => position == Position::Block,
            kind => kind.is_step() || kind.is_jump(),
        };
        let (true, Place::Written(span), Some(scope)) =
            (eligible, stmt.place, self.scopes.at_stmt(id))
        else {
            return;
        };
        self.found.push(Hole {
            function: self.function_index,
            span,
            kind: HoleKind::Guard {
                size: self.stmt_size(id),
                is_body: position == Position::Body,
            },
            context: Context::Truth,
            ctype: None,
            atoms: Atoms::default(),
            scope: scope.clone(),
            expr: None,
            in_macro_argument: false,
            captured: None,
        });
    }

    fn expr_size(&self, id: ExprId) -> u32 {
        self.sizes[id.0 as usize]
    }

    fn stmt_size(&self, id: StmtId) -> u32 {
        let kind = &self.function.stmt(id).kind;
        let expressions = self.builder.unit.expressions_of(kind).into_iter();
        let own: u32 = expressions.map(|id| self.expr_size(id)).sum();
        let inner = kind.inner().into_iter();
        1 + own + inner.map(|id| self.stmt_size(id)).sum::<u32>()
    }

    /// Places a hole at `id` or, where it is not pure, at what is below.
    pub(crate) fn expr(&mut self, id: ExprId, usage: Use) {
        if !self.function.expr(id).evaluated {
            return;
        }
        if usage != Use::Discard && self.try_hole(id, usage) {
            for part in sites::repeated(self.function, id) {
                self.expr(part, Use::Same);
            }
            self.selectors(id);
            return;
        }
        self.below(id, usage);
    }

    /// Whether no term is made of an expression, because it would be too large.
    pub(crate) fn is_large(&self, id: ExprId) -> bool {
        self.sizes[id.0 as usize] > LARGEST
    }

    fn try_hole(&mut self, id: ExprId, usage: Use) -> bool {
        if self.is_large(id) {
            return false;
        }
        let Some(scope) = self.scope.clone() else {
            return false;
        };
        // The text of implicit conversions and parentheses is that of what they contain, or a
        // little more: the hole is the outermost, its type that of the bare expression.
        let bare = self.function.stripped(id);
        let expr = self.function.expr(bare);
        let place = expr.place;
        let Some(span) = place.editable() else {
            return false;
        };
        if self.spans.contains(&span) {
            return true;
        }
        let ty = expr.ty;
        let mut atoms = Atoms::default();
        let Some(original) = self.modelled(&mut atoms, id) else {
            return false;
        };
        let decayed = self.decayed(id);
        let own = match expr.kind {
            // Its declared type is not the one that operators see.
            ExprKind::Member {
                bit_field: true, ..
            } => Some(original.ctype()),
            _ => self.builder.ctype(decayed.unwrap_or(ty)),
        };
        let Some(own) = own else {
            return false;
        };
        // What a macro makes of it may depend on its type, which neither weaving nor a candidate changes.
        let is_typed = self.function.is_typed_argument(span);
        let used = match (is_typed, decayed) {
            (true, Some(_)) => None,
            (true, None) => Use::Convert(own).context(own),
            (false, _) => usage.context(own),
        };
        let Some((context, ctype)) = used else {
            return false;
        };
        self.spans.insert(span);
        self.found.push(Hole {
            function: self.function_index,
            span,
            kind: HoleKind::Expression {
                original,
                condition: usage == Use::Truth && !is_typed,
            },
            context,
            ctype,
            atoms,
            scope,
            expr: Some(id),
            in_macro_argument: matches!(place, Place::MacroArgument { .. }),
            captured: None,
        });
        true
    }

    /// The type of the pointer that an array decays to, if `id` is one.
    pub(crate) fn decayed(&self, id: ExprId) -> Option<patchwright_csource::types::TypeId> {
        let id = self.function.without_parens(id);
        match self.function.expr(id).kind {
            ExprKind::Cast {
                cast: CastKind::ArrayToPointer,
                ..
            } => Some(self.function.expr(id).ty),
            ExprKind::Cast {
                operand,
                implicit: true,
                ..
            } => self.decayed(operand),
            _ => None,
        }
    }

    /// Returns the term of an expression; `None` if terms cannot express it.
    pub(crate) fn modelled(&mut self, atoms: &mut Atoms, id: ExprId) -> Option<Term> {
        self.builder.model(atoms, self.function, id)
    }

    /// `id` itself is no hole: looks below.
    pub(crate) fn below(&mut self, id: ExprId, usage: Use) {
        let expr = self.function.expr(id);
        if !expr.evaluated {
            return;
        }
        match expr.kind.clone() {
            ExprKind::Paren(inner) => self.expr(inner, usage),
            ExprKind::Cast {
                operand,
                implicit: true,
                cast,
            } => match cast {
                CastKind::LValueToRValue | CastKind::ArrayToPointer => {
                    self.refinement(id, usage);
                    self.lvalue(operand);
                }
                _ => {
                    let inner = match usage {
                        Use::Truth => Use::Truth,
                        Use::Convert(_) | Use::Index(_) => usage,
                        _ => Use::Same,
                    };
                    self.below(operand, inner);
                }
            },
            ExprKind::Cast { operand, cast, .. } => {
                self.refinement(id, usage);
                let ty = self.function.expr(id).ty;
                let inner = match (cast, self.builder.ctype(ty)) {
                    (CastKind::Arithmetic, Some(to)) => Use::Convert(to),
                    (CastKind::ToVoid, _) => Use::Discard,
                    _ => Use::Same,
                };
                self.expr(operand, inner);
            }
            ExprKind::Binary {
                operator: BinaryOperator::LogicalAnd | BinaryOperator::LogicalOr,
                left,
                right,
            } => {
                self.refinement(id, usage);
                self.expr(left, Use::Truth);
                self.expr(right, Use::Truth);
            }
            ExprKind::Binary {
                operator: BinaryOperator::Comma,
                left,
                right,
            } => {
                self.expr(left, Use::Discard);
                self.expr(right, usage);
            }
            ExprKind::Binary { left, right, .. } => {
                self.refinement(id, usage);
                self.captured_operand(id, left, right, usage);
                self.expr(left, Use::Same);
                self.expr(right, Use::Same);
            }
            ExprKind::Unary { operator, operand } => match operator {
                UnaryOperator::Step => {
                    self.refinement(id, usage);
                    self.lvalue(operand);
                }
                UnaryOperator::AddressOf => {
                    self.refinement(id, usage);
                    self.address_of(operand);
                }
                UnaryOperator::Not => {
                    self.refinement(id, usage);
                    self.expr(operand, Use::Truth);
                }
                UnaryOperator::Dereference => self.base(operand),
                _ => {
                    self.refinement(id, usage);
                    self.expr(operand, Use::Same);
                }
            },
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            } => {
                self.refinement(id, usage);
                self.expr(condition, Use::Truth);
                self.expr(then, usage);
                self.expr(otherwise, usage);
            }
            ExprKind::Assign {
                operator,
                target,
                value,
            } => {
                self.refinement(id, usage);
                let ty = self.function.expr(target).ty;
                let inner = match (operator, self.builder.ctype(ty)) {
                    (None, Some(to)) => Use::Convert(to),
                    (Some(_), Some(CType::Pointer(_))) => Use::Convert(CType::Long),
                    _ => Use::Same,
                };
                self.expr(value, inner);
                self.lvalue(target);
            }
            ExprKind::Call {
                callee,
                arguments,
                prototyped,
            } => {
                self.refinement(id, usage);
                self.captured_whole(id, usage);
                for (i, argument) in arguments.into_iter().enumerate() {
                    let ty = self.function.expr(argument).ty;
                    let inner = match self.builder.ctype(ty) {
                        Some(to) if i < prototyped => Use::Convert(to),
                        _ => Use::Same,
                    };
                    self.expr(argument, inner);
                }
                let callee = self.function.stripped(callee);
                if !matches!(self.function.expr(callee).kind, ExprKind::Function(_)) {
                    self.lvalue(callee);
                }
            }
            ExprKind::Member { .. } | ExprKind::Subscript { .. } => self.lvalue(id),
            ExprKind::Other {
                kind,
                children,
                body,
                evaluated: true,
            } => {
                self.refinement(id, usage);
                for child in children {
                    let ty = self.function.expr(child).ty;
                    let inner = match (kind.as_str(), self.builder.ctype(ty)) {
                        ("InitListExpr", Some(to)) if self.builder.is_scalar(ty) => {
                            Use::Convert(to)
                        }
                        _ => Use::Same,
                    };
                    if kind != "BinaryConditionalOperator" {
                        self.expr(child, inner);
                    }
                }
                if let Some(body) = body {
                    let scope = self.scope.take();
                    self.statement_expression(body);
                    self.scope = scope;
                }
            }
            _ => {}
        }
    }
}
