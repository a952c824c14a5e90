//! Finds the sites of a hole: the subexpressions that candidates replace.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Function, Place, UnaryOperator,
};
use patchwright_text::Span;
use rustc_hash::FxHashMap;

use crate::term::{Kind, Precedence, Term};

/// The path to a subterm: which operand to follow, from the root.
pub type TermPath = Vec<u8>;

/// A subterm of the original expression that candidates replace.
#[derive(Clone, Debug)]
pub struct Site {
    /// Where it is in the original term.
    pub path: TermPath,
    /// The subterm.
    pub term: Term,
    /// Its text in the source.
    pub span: Span,
    /// The least precedence that a text in its place must have.
    pub least: Precedence,
    /// It is an operand of `||`: another `||` there needs no parentheses.
    pub below_or: bool,
    /// Only its truth matters to what is around.
    pub truth: bool,
    /// It is the name of an enumerator.
    pub is_enumerator: bool,
}

/// Returns the operands of a term, in the order of their text.
pub fn operands(term: &Term) -> Vec<&Term> {
    match term.kind() {
        Kind::Atom(_) | Kind::Constant(..) => Vec::new(),
        Kind::Unary(_, a) | Kind::Cast(a) => vec![a],
        Kind::Binary(_, a, b) | Kind::LogicalAnd(a, b) | Kind::LogicalOr(a, b) => vec![a, b],
        Kind::Conditional(a, b, c) => vec![a, b, c],
    }
}

/// Returns all sites of `term`, the model of the expression `id`, with the root first. `truth` says that
/// the whole is a condition.
///
/// `truth` tells that the whole is a condition.
pub fn sites(
    function: &Function,
    parents: &Parents,
    id: ExprId,
    term: &Term,
    truth: bool,
) -> Vec<Site> {
    let mut found = Vec::new();
    let mut add = |whole: ExprId, term: &Term, truth: bool, path: &TermPath| {
        let id = function.stripped(whole);
        let expr = function.expr(id);
        let Some(span) = expr.place.editable() else {
            return;
        };
        found.push(Site {
            path: path.clone(),
            term: term.clone(),
            span,
            least: match expr.place {
                // A macro's body may use its parameter without parentheses.
                Place::MacroArgument { .. } => Precedence::Postfix,
                _ => parents.least(function, id),
            },
            below_or: matches!(expr.place, Place::Written(_)) && parents.is_below_or(function, id),
            truth,
            is_enumerator: matches!(
                expr.kind,
                ExprKind::Integer {
                    enumerator: Some(_),
                    ..
                }
            ),
        });
    };
    walk(function, id, term, truth, &Vec::new(), &mut add);
    // Another text would be there in each of the places of a macro's argument that its body uses several times.
    let repeated: Vec<Span> = repeated(function, id)
        .into_iter()
        .filter_map(|part| function.expr(function.stripped(part)).place.editable())
        .collect();
    found.retain(|site| !repeated.iter().any(|part| part.contains_span(site.span)));
    found
}

/// The outermost parts of the expression `id` whose text a macro uses several times, each once: they are holes of their own.
pub(crate) fn repeated(function: &Function, id: ExprId) -> Vec<ExprId> {
    let mut seen: FxHashMap<Span, (ExprId, usize)> = FxHashMap::default();
    note_arguments(function, id, &mut seen);
    let mut found: Vec<(Span, ExprId)> = seen
        .into_iter()
        .filter(|(_, (_, count))| *count > 1)
        .map(|(span, (first, _))| (span, first))
        .collect();
    found.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    let mut end = 0;
    found.retain(|(span, _)| {
        let is_outermost = span.end > end;
        end = end.max(span.end);
        is_outermost
    });
    found.into_iter().map(|(_, id)| id).collect()
}

/// Counts the texts of macros' arguments in an expression. Parts that are not evaluated are none of its uses.
fn note_arguments(function: &Function, id: ExprId, seen: &mut FxHashMap<Span, (ExprId, usize)>) {
    let bare = function.stripped(id);
    let expr = function.expr(bare);
    if !expr.evaluated {
        return;
    }
    if let Place::MacroArgument { span, .. } = expr.place {
        seen.entry(span).or_insert((id, 0)).1 += 1;
    }
    for child in function.children(bare) {
        note_arguments(function, child, seen);
    }
}

/// A visitor of the places of a term. It gets the expression with its parentheses, the term, whether only its truth matters, and the path.
type Visit<'v> = dyn FnMut(ExprId, &Term, bool, &TermPath) + 'v;

/// Visits an expression and the parts of it that its term has, each with its term.
fn walk(
    function: &Function,
    whole: ExprId,
    term: &Term,
    truth: bool,
    path: &TermPath,
    visit: &mut Visit<'_>,
) {
    visit(whole, term, truth, path);
    let id = function.stripped(whole);
    let below = |n: u8| {
        let mut path = path.clone();
        path.push(n);
        path
    };
    match (&function.expr(id).kind, term.kind()) {
        (ExprKind::Unary { operand, .. }, Kind::Unary(op, inner)) => {
            let truth = *op == patchwright_semantics::UnaryOp::Not;
            walk(function, *operand, inner, truth, &below(0), visit);
        }
        (
            ExprKind::Unary {
                operator: UnaryOperator::Extension,
                operand,
            },
            _,
        ) => walk(function, *operand, term, truth, path, visit),
        (
            ExprKind::Cast {
                operand,
                implicit: false,
                cast,
            },
            Kind::Cast(inner),
        ) if *cast != CastKind::NullToPointer => {
            walk(function, *operand, inner, false, &below(0), visit);
        }
        (ExprKind::Binary { left, right, .. }, kind) => {
            let (truth, a, b) = match kind {
                Kind::Binary(_, a, b) => (false, a, b),
                Kind::LogicalAnd(a, b) | Kind::LogicalOr(a, b) => (true, a, b),
                _ => return,
            };
            walk(function, *left, a, truth, &below(0), visit);
            walk(function, *right, b, truth, &below(1), visit);
        }
        (
            ExprKind::Conditional {
                condition,
                then,
                otherwise,
            },
            Kind::Conditional(a, b, c),
        ) => {
            walk(function, *condition, a, true, &below(0), visit);
            walk(function, *then, b, truth, &below(1), visit);
            walk(function, *otherwise, c, truth, &below(2), visit);
        }
        _ => {}
    }
}

/// The parts of an expression that are whole uses of macros, by the text of the use: `IS(',')` stands for `text[at] == (',')`.
pub(crate) fn uses(function: &Function, id: ExprId, term: &Term) -> Vec<(Term, Span)> {
    let mut found = Vec::new();
    let mut add = |whole: ExprId, term: &Term, _: bool, _: &TermPath| {
        let bare = function.stripped(whole);
        let is_written = function.expr(bare).place.editable().is_some();
        let mut at = whole;
        while !is_written && at != bare {
            if let Place::Written(span) = function.expr(at).place {
                found.push((term.clone(), span));
                return;
            }
            at = match function.expr(at).kind {
                ExprKind::Paren(inner) => inner,
                ExprKind::Cast { operand, .. } => operand,
                _ => return,
            };
        }
    };
    walk(function, id, term, false, &Vec::new(), &mut add);
    found
}

/// The parent of each expression of a function.
#[derive(Clone, Debug)]
pub struct Parents(Vec<Option<ExprId>>);

impl Parents {
    /// Computes the parents of all expressions of a function.
    pub fn of(function: &Function) -> Self {
        let mut parents = vec![None; function.exprs.len()];
        for i in 0..function.exprs.len() {
            let id = ExprId(i as u32);
            for child in function.children(id) {
                parents[child.0 as usize] = Some(id);
            }
        }
        Parents(parents)
    }

    /// Returns the expression of which `id` is an operand.
    pub fn of_expr(&self, id: ExprId) -> Option<ExprId> {
        self.0[id.0 as usize]
    }

    /// Whether `id` is an operand of `||` without parentheses in between.
    pub fn is_below_or(&self, function: &Function, id: ExprId) -> bool {
        let mut parent = self.0[id.0 as usize];
        while let Some(at) = parent {
            match &function.expr(at).kind {
                ExprKind::Cast { implicit: true, .. } => parent = self.0[at.0 as usize],
                ExprKind::Binary { operator, .. } => return *operator == BinaryOperator::LogicalOr,
                _ => return false,
            }
        }
        false
    }

    /// Whether the value of `id` selects what is read or written: it is the index of a subscript, or the pointer of
    /// `*`, `->` or `[ ]`. Another value may select what lies outside of the object.
    pub fn selects(&self, function: &Function, id: ExprId) -> bool {
        let mut parent = self.0[id.0 as usize];
        while let Some(at) = parent {
            match &function.expr(at).kind {
                ExprKind::Paren(_) | ExprKind::Cast { implicit: true, .. } => {
                    parent = self.0[at.0 as usize];
                }
                ExprKind::Subscript { .. }
                | ExprKind::Member { arrow: true, .. }
                | ExprKind::Unary {
                    operator: UnaryOperator::Dereference,
                    ..
                } => return true,
                _ => return false,
            }
        }
        false
    }

    /// Whether `id` is an argument of a call.
    pub fn is_argument(&self, function: &Function, id: ExprId) -> bool {
        let mut parent = self.0[id.0 as usize];
        while let Some(at) = parent {
            match &function.expr(at).kind {
                ExprKind::Paren(_) | ExprKind::Cast { implicit: true, .. } => {
                    parent = self.0[at.0 as usize];
                }
                kind => return matches!(kind, ExprKind::Call { .. }),
            }
        }
        false
    }

    /// Returns the least precedence that a text in place of `id` must have.
    pub fn least(&self, function: &Function, id: ExprId) -> Precedence {
        let mut child = id;
        let mut parent = self.0[id.0 as usize];
        while let Some(at) = parent {
            match &function.expr(at).kind {
                ExprKind::Cast { implicit: true, .. } => {
                    child = at;
                    parent = self.0[at.0 as usize];
                }
                kind => return least_below(kind, child),
            }
        }
        Precedence::Assignment
    }
}

fn least_below(parent: &ExprKind, child: ExprId) -> Precedence {
    match parent {
        ExprKind::Binary { operator, left, .. } => match operator {
            BinaryOperator::Comma => Precedence::Assignment,
            // Compilers warn about `a && b || c` without parentheses, and people stumble.
            BinaryOperator::LogicalOr => Precedence::BitOr,
            BinaryOperator::LogicalAnd => Precedence::LogicalAnd,
            BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor => Precedence::Unary,
            BinaryOperator::Shl | BinaryOperator::Shr => Precedence::Unary,
            // These are grouped from the left.
            BinaryOperator::Add | BinaryOperator::Sub if *left == child => Precedence::Additive,
            BinaryOperator::Add | BinaryOperator::Sub => Precedence::Multiplicative,
            BinaryOperator::Mul | BinaryOperator::Div | BinaryOperator::Rem if *left == child => {
                Precedence::Multiplicative
            }
            BinaryOperator::Mul | BinaryOperator::Div | BinaryOperator::Rem => Precedence::Unary,
            _ => Precedence::Additive,
        },
        ExprKind::Unary { .. } | ExprKind::Cast { .. } => Precedence::Unary,
        ExprKind::Member { .. } => Precedence::Postfix,
        ExprKind::Subscript { base, .. } if *base == child => Precedence::Postfix,
        ExprKind::Call { callee, .. } if *callee == child => Precedence::Postfix,
        ExprKind::Call { .. } => Precedence::Conditional,
        ExprKind::Conditional { .. } => Precedence::LogicalOr,
        ExprKind::Assign { .. } => Precedence::Conditional,
        ExprKind::Paren(_) | ExprKind::Subscript { .. } => Precedence::Assignment,
        _ => Precedence::Conditional,
    }
}
