//! The tree of the source, as patterns look at it: without parentheses, implicit conversions and single braces.

use std::{
    cell::{OnceCell, RefCell},
    rc::Rc,
};

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Function, Place, Scope, ScopeMap, StmtId, StmtKind,
    Storage, TranslationUnit, UnaryOperator, VarId,
    detail::Detail,
    lex,
    types::{TypeId, TypeKind},
};
use patchwright_semantics::Precedence;
use patchwright_text::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// A function with what is around it.
pub struct Surroundings<'a> {
    /// The file, without its functions.
    pub unit: &'a TranslationUnit,
    /// The function.
    pub function: &'a Function,
    /// What can be named where.
    pub scopes: &'a ScopeMap,
    /// All functions of the file.
    pub file: &'a [Function],
    /// Whether some part of the program defines or imports a function of this name.
    pub linked: &'a dyn Fn(&str) -> bool,
    /// Whether the function would end without a value behind a statement.
    pub ends: &'a dyn Fn(StmtId) -> bool,
}

/// What kinds ask of a function again and again.
pub(crate) struct Tree<'a> {
    pub(crate) unit: &'a TranslationUnit,
    pub(crate) function: &'a Function,
    pub(crate) file: &'a [Function],
    pub(crate) linked: &'a dyn Fn(&str) -> bool,
    pub(crate) ends: &'a dyn Fn(StmtId) -> bool,
    scopes: &'a ScopeMap,
    /// What each expression is directly in.
    parents: FxHashMap<ExprId, ExprId>,
    /// The statement that evaluates an expression that is in no other one.
    owners: FxHashMap<ExprId, StmtId>,
    /// What each statement is directly in, and its place in a block.
    around: FxHashMap<StmtId, (StmtId, usize)>,
    /// What the function consists of.
    pub(crate) whole: OnceCell<Rc<Parts>>,
    /// By the number of a pattern, where in the function it is found if nothing is known of its holes.
    pub(crate) places: RefCell<FxHashMap<usize, Rc<Places>>>,
    /// The other functions of the file, with what has been found out about them.
    others: OnceCell<Vec<Tree<'a>>>,
}

/// The expressions and statements that something consists of.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) expressions: Vec<ExprId>,
    pub(crate) statements: Vec<StmtId>,
}

/// Where a pattern is found.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) expressions: FxHashSet<ExprId>,
    pub(crate) statements: FxHashSet<StmtId>,
}

impl<'a> Tree<'a> {
    /// Prepares a function for questions of patterns.
    pub(crate) fn new(of: &Surroundings<'a>) -> Self {
        let mut tree = Tree {
            unit: of.unit,
            function: of.function,
            file: of.file,
            linked: of.linked,
            ends: of.ends,
            scopes: of.scopes,
            parents: FxHashMap::default(),
            owners: FxHashMap::default(),
            around: FxHashMap::default(),
            whole: OnceCell::new(),
            places: RefCell::default(),
            others: OnceCell::new(),
        };
        for number in 0..of.function.exprs.len() {
            let id = ExprId(number as u32);
            for child in of.function.children(id) {
                tree.parents.insert(child, id);
            }
        }
        for (number, stmt) in of.function.stmts.iter().enumerate() {
            let id = StmtId(number as u32);
            for expr in of.unit.expressions_of(&stmt.kind) {
                tree.owners.insert(expr, id);
            }
            for (place, inner) in stmt.kind.inner().into_iter().enumerate() {
                tree.around.insert(inner, (id, place));
            }
        }
        tree
    }

    /// Returns the other functions of the file.
    pub(crate) fn others(&self) -> &[Tree<'a>] {
        self.others.get_or_init(|| {
            let functions = self.file.iter();
            let others = functions.filter(|other| other.name != self.function.name);
            others.map(|function| self.of(function)).collect()
        })
    }

    /// The same view of another function of the file.
    fn of(&self, function: &'a Function) -> Tree<'a> {
        Tree {
            unit: self.unit,
            function,
            file: self.file,
            linked: self.linked,
            ends: self.ends,
            scopes: self.scopes,
            parents: FxHashMap::default(),
            owners: FxHashMap::default(),
            around: FxHashMap::default(),
            whole: OnceCell::new(),
            places: RefCell::default(),
            others: OnceCell::new(),
        }
    }

    /// Returns the expression of which this one is an operand.
    pub(crate) fn parent(&self, id: ExprId) -> Option<ExprId> {
        self.parents.get(&id).copied()
    }

    /// Returns the statement directly around a statement, and the place in it.
    pub(crate) fn around(&self, id: StmtId) -> Option<(StmtId, usize)> {
        self.around.get(&id).copied()
    }

    /// The statement that evaluates an expression.
    pub(crate) fn statement_of(&self, mut id: ExprId) -> Option<StmtId> {
        while let Some(parent) = self.parent(id) {
            id = parent;
        }
        self.owners.get(&id).copied()
    }

    /// Whether an expression has to be a constant: what a static variable begins with.
    pub(crate) fn is_constant_there(&self, id: ExprId) -> bool {
        let mut whole = id;
        while let Some(parent) = self.parent(whole) {
            whole = parent;
        }
        let owner = self
            .owners
            .get(&whole)
            .map(|id| &self.function.stmt(*id).kind);
        let Some(StmtKind::Declaration(variables)) = owner else {
            return false;
        };
        let mut variables = variables.iter().map(|&id| self.unit.variable(id));
        variables.any(|variable| {
            variable.initializer == Some(whole) && variable.storage != Storage::Local
        })
    }

    /// Returns the names that are visible where an expression is evaluated.
    pub(crate) fn scope_of(&self, id: ExprId) -> Option<&'a Scope> {
        let mut whole = id;
        while let Some(parent) = self.parent(whole) {
            whole = parent;
        }
        let own = self.scopes.at_expr(whole);
        own.or_else(|| self.scopes.at_stmt(self.statement_of(id)?))
    }

    /// Returns the names that are visible at a statement.
    pub(crate) fn scope_at(&self, id: StmtId) -> Option<&'a Scope> {
        self.scopes.at_stmt(id)
    }

    /// Returns the place of an expression in the text, without parentheses and conversions.
    pub(crate) fn place(&self, id: ExprId) -> Option<Span> {
        let bare = self.function.stripped(id);
        let own = self.function.expr(bare).place.editable();
        // A macro that stands for something in parentheses.
        own.or_else(|| self.function.expr(id).place.editable())
    }

    /// Returns the expression whose place [`Tree::place`] tells: the one inside of parentheses that are written apart from it.
    pub(crate) fn placed(&self, id: ExprId) -> ExprId {
        let bare = self.function.stripped(id);
        match self.function.expr(bare).place.editable() {
            Some(_) => bare,
            None => id,
        }
    }

    /// Returns the place of a statement that stands in the file as it is.
    pub(crate) fn statement_place(&self, id: StmtId) -> Option<Span> {
        match self.function.stmt(id).place {
            Place::Written(span) => Some(span),
            _ => None,
        }
    }

    /// Returns the source text of a span.
    pub(crate) fn text(&self, span: Span) -> String {
        self.unit.text(span).into_owned()
    }

    /// The text of an expression on one line.
    pub(crate) fn plain(&self, id: ExprId) -> Option<String> {
        Some(lex::on_one_line(&self.text(self.place(id)?)))
    }

    /// Returns the precedence of an expression's text.
    pub(crate) fn precedence(&self, id: ExprId) -> Precedence {
        let bare = self.function.stripped(id);
        if self.plain(id).is_some_and(lex::is_words) {
            return Precedence::Primary;
        }
        match &self.function.expr(bare).kind {
            ExprKind::Integer { value, .. } if *value < 0 => Precedence::Unary,
            ExprKind::Integer { .. }
            | ExprKind::Float(_)
            | ExprKind::String
            | ExprKind::Variable(_)
            | ExprKind::Function(_)
            | ExprKind::Paren(_) => Precedence::Primary,
            ExprKind::Member { .. } | ExprKind::Subscript { .. } | ExprKind::Call { .. } => {
                Precedence::Postfix
            }
            ExprKind::Unary {
                operator: UnaryOperator::Step,
                ..
            } => match self.function.details.of.get(&bare) {
                Some(Detail::Step { prefix: false, .. }) => Precedence::Postfix,
                _ => Precedence::Unary,
            },
            ExprKind::Unary { .. } | ExprKind::Cast { .. } | ExprKind::CompilerConstant => {
                Precedence::Unary
            }
            ExprKind::Binary { operator, .. } => operator.precedence(),
            ExprKind::Conditional { .. } => Precedence::Conditional,
            ExprKind::Assign { .. } => Precedence::Assignment,
            ExprKind::Other { .. } => Precedence::Assignment,
        }
    }

    /// Returns the least precedence of a text that can stand in place of an expression without parentheses.
    pub(crate) fn least(&self, id: ExprId) -> Precedence {
        let mut at = id;
        loop {
            let Some(parent) = self.parent(at) else {
                let declares = self.statement_of(at).is_some_and(|owner| {
                    matches!(self.function.stmt(owner).kind, StmtKind::Declaration(_))
                });
                return match declares {
                    true => Precedence::Assignment,
                    false => Precedence::Comma,
                };
            };
            let least = match &self.function.expr(parent).kind {
                ExprKind::Cast { implicit: true, .. } => {
                    at = parent;
                    continue;
                }
                ExprKind::Paren(_) => Precedence::Comma,
                ExprKind::Member { .. } => Precedence::Postfix,
                ExprKind::Subscript { base, .. } if *base == at => Precedence::Postfix,
                ExprKind::Subscript { .. } => Precedence::Comma,
                ExprKind::Call { callee, .. } if *callee == at => Precedence::Postfix,
                ExprKind::Call { .. } | ExprKind::Other { .. } => Precedence::Assignment,
                ExprKind::Unary { .. } | ExprKind::Cast { .. } => Precedence::Unary,
                ExprKind::Binary { operator, left, .. } => operand_of(*operator, *left == at),
                ExprKind::Assign { target, .. } if *target == at => Precedence::Unary,
                ExprKind::Assign { .. } => Precedence::Assignment,
                ExprKind::Conditional { condition, .. } if *condition == at => {
                    Precedence::LogicalOr
                }
                ExprKind::Conditional { .. } => Precedence::Conditional,
                _ => Precedence::Primary,
            };
            return least;
        }
    }

    /// Whether evaluating the expression changes nothing.
    pub(crate) fn is_pure(&self, id: ExprId) -> bool {
        !self.function.has_effects(id)
    }

    /// Whether two expressions, each of a function of the file, are the same but for their layout.
    pub(crate) fn is_alike(&self, one: ExprId, other: ExprId) -> bool {
        alike((self.function, one), (self.function, other))
    }

    /// The variables that an expression mentions.
    pub(crate) fn variables(&self, id: ExprId, found: &mut Vec<VarId>) {
        for variable in self.function.variables_within(id) {
            if !found.contains(&variable) {
                found.push(variable);
            }
        }
    }

    /// The whole expressions of a statement, without those of statements in it.
    pub(crate) fn whole_expressions(&self, id: StmtId, found: &mut Vec<ExprId>) {
        found.extend(self.unit.expressions_of(&self.function.stmt(id).kind));
    }

    /// Whether two types are the same but for their qualifiers.
    pub(crate) fn same_type(&self, one: TypeId, other: TypeId) -> bool {
        self.unit.types.kind(one) == self.unit.types.kind(other)
    }

    /// The type of an expression as it is written, before conversions.
    pub(crate) fn type_of(&self, id: ExprId) -> TypeId {
        self.function.expr(self.function.stripped(id)).ty
    }

    /// Whether a string literal is used by its address. One that begins an array is not: only a literal can.
    pub(crate) fn is_passed_on(&self, id: ExprId) -> bool {
        self.function.exprs.iter().any(|expr| {
            let ExprKind::Cast { operand, cast, .. } = expr.kind else {
                return false;
            };
            cast == CastKind::ArrayToPointer
                && self.function.without_parens(operand) == self.function.stripped(id)
        })
    }

    /// Whether an expression is a null pointer constant.
    pub(crate) fn is_null(&self, id: ExprId) -> bool {
        is_null(self.function, id)
    }

    /// Whether a function of this name is declared before the function at hand, and no variable hides it.
    pub(crate) fn can_name(&self, name: &str) -> bool {
        let declared = self.unit.declarations.get(name);
        let mut locals = self.function.locals.iter();
        declared.is_some_and(|declared| {
            !declared.implicit && declared.order < self.function.details.position
        }) && !locals.any(|&id| self.unit.variable(id).name == name)
    }

    /// Whether a type is a pointer type.
    pub(crate) fn is_pointer(&self, ty: TypeId) -> bool {
        matches!(self.unit.types.kind(ty), TypeKind::Pointer(_))
    }
}

/// Whether an expression of `function` is a null pointer constant, also in parentheses or a cast.
pub(crate) fn is_null(function: &Function, mut id: ExprId) -> bool {
    loop {
        match function.expr(id).kind {
            ExprKind::Paren(inner) => id = inner,
            ExprKind::Cast {
                cast: CastKind::NullToPointer,
                ..
            } => return true,
            ExprKind::Cast { operand, .. } => id = operand,
            _ => return false,
        }
    }
}

/// Whether two expressions are the same but for layout, parentheses and implicit conversions.
pub(crate) fn alike(one: (&Function, ExprId), other: (&Function, ExprId)) -> bool {
    let (f, a) = (one.0, one.0.stripped(one.1));
    let (g, b) = (other.0, other.0.stripped(other.1));
    let same = match (&f.expr(a).kind, &g.expr(b).kind) {
        (ExprKind::Integer { value, .. }, ExprKind::Integer { value: other, .. }) => value == other,
        (ExprKind::Float(a), ExprKind::Float(b)) => a.to_bits() == b.to_bits(),
        (ExprKind::String, ExprKind::String)
        | (ExprKind::CompilerConstant, ExprKind::CompilerConstant) => {
            f.details.of.contains_key(&a) && f.details.of.get(&a) == g.details.of.get(&b)
        }
        (ExprKind::Variable(a), ExprKind::Variable(b)) => a == b,
        (ExprKind::Function(a), ExprKind::Function(b)) => a == b,
        (
            ExprKind::Member { name, arrow, .. },
            ExprKind::Member {
                name: other,
                arrow: other_arrow,
                ..
            },
        ) => name == other && arrow == other_arrow,
        (ExprKind::Subscript { .. }, ExprKind::Subscript { .. })
        | (ExprKind::Conditional { .. }, ExprKind::Conditional { .. })
        | (ExprKind::Call { .. }, ExprKind::Call { .. }) => true,
        (
            ExprKind::Unary { operator, .. },
            ExprKind::Unary {
                operator: other, ..
            },
        ) => operator == other && f.details.of.get(&a) == g.details.of.get(&b),
        (
            ExprKind::Binary { operator, .. },
            ExprKind::Binary {
                operator: other, ..
            },
        ) => operator == other,
        (
            ExprKind::Assign { operator, .. },
            ExprKind::Assign {
                operator: other, ..
            },
        ) => operator == other,
        (ExprKind::Cast { .. }, ExprKind::Cast { .. }) => f.expr(a).ty == g.expr(b).ty,
        _ => false,
    };
    let (left, right) = (f.children(a), g.children(b));
    same && left.len() == right.len()
        && left
            .into_iter()
            .zip(right)
            .all(|(a, b)| alike((f, a), (g, b)))
}

/// Returns the least precedence of an operand. Operands of which compilers warn without parentheses (`a & b == c`, `a && b || c`, `a << b +
/// c`) need more.
pub(crate) fn operand_of(operator: BinaryOperator, is_left: bool) -> Precedence {
    use BinaryOperator::*;
    let own = operator.precedence();
    match operator {
        LogicalOr => Precedence::BitOr,
        And | Or | Xor | Shl | Shr => Precedence::Unary,
        Eq | Ne | Lt | Le | Gt | Ge => Precedence::Shift,
        _ if is_left => own,
        Comma => Precedence::Assignment,
        LogicalAnd => Precedence::BitOr,
        Mul | Div | Rem => Precedence::Unary,
        Add | Sub => Precedence::Multiplicative,
    }
}

/// The operator for exchanged operands.
pub(crate) fn mirrored(operator: BinaryOperator) -> Option<BinaryOperator> {
    use BinaryOperator::*;
    Some(match operator {
        Lt => Gt,
        Le => Ge,
        Gt => Lt,
        Ge => Le,
        Add | Mul | And | Or | Xor | Eq | Ne => operator,
        _ => return None,
    })
}
