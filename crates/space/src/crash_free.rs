//! Crash-free constraints: what would have to hold where failing tests crash, so that they do not.
//!
//! An index is below the length of its array, a pointer that is followed is no null pointer, what is divided by is not zero.
//! These conditions, and their negations, are leaves of conditions in the function that crashes: as guards, as parts of
//! conditions, and as the reason to leave (`if (index >= length) return -1;`). Where the length of what a pointer points to is
//! unknown, each number of the function may be it, and each pointer with which it compares others of that type, the end. Where
//! the length is known, the index itself may be the lesser of what it was and the last one.
//!
//! Source of the idea: X. Gao, B. Wang, G. J. Duck, R. Ji, Y. Xiong, A. Roychoudhury, *Beyond Tests: Program Vulnerability Repair
//! via Crash Constraint Extraction*, TOSEM 30(2), 2021, section 4.1.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Function, Place, TranslationUnit, UnaryOperator,
    VarId,
    types::{TypeId, TypeKind},
};
use patchwright_semantics::{BinaryOp, UnaryOp};
use patchwright_text::Span;

use crate::{
    holes::Hole,
    leaves::{Visible, variables_below},
    selectors::{decayed_array, declared_length},
    slots::{AtomBuilder, Atoms},
    term::{CType, Kind, Pointees, Term},
};

/// Most demands of one function.
const MOST_DEMANDS: usize = 12;

/// Most ends of what a pointer points to.
const MOST_ENDS: usize = 3;

/// Functions of the library that take a number of bytes: their name, and which argument it is.
const COUNTED: [(&str, usize); 14] = [
    ("memcpy", 2),
    ("memmove", 2),
    ("memset", 2),
    ("memcmp", 2),
    ("memchr", 2),
    ("bcopy", 2),
    ("bzero", 1),
    ("strncpy", 2),
    ("strncat", 2),
    ("strncmp", 2),
    ("fread", 2),
    ("fwrite", 2),
    ("read", 2),
    ("write", 2),
];

/// What a place where tests crash demands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Demand {
    /// A pointer that is followed, or a divisor: not null, not zero.
    NotZero(Operand),
    /// An index into something: the sum of these.
    Index {
        index: Vec<Operand>,
        /// The number of elements, where the array is declared.
        length: Option<Length>,
    },
    /// A number of bytes that are read or written.
    Count {
        count: Operand,
        /// How many there are, where the array is declared.
        length: Option<Length>,
    },
    /// A number that is given to a function of others together with a pointer: it is not negative.
    NotNegative(Operand),
    /// A pointer that moves through something: it is before an end.
    Before(Operand),
    /// A pointer, and what is added to it: they are before an end with which the function compares pointers.
    End {
        pointer: Operand,
        index: Vec<Operand>,
    },
}

/// The declared length of an array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Length {
    value: u64,
    /// What the declaration calls it, and the type of that.
    name: Option<(String, LengthType)>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum LengthType {
    Enumerator,
    Macro(TypeId),
}

/// A value at the place of the crash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operand {
    /// That of an expression.
    Value(ExprId),
    /// That of an object which is stepped there, and what has been added to it when it is used.
    Stepped(ExprId, i64),
}

impl Operand {
    fn expr(self) -> ExprId {
        match self {
            Operand::Value(id) | Operand::Stepped(id, _) => id,
        }
    }
}

/// What must hold for a function not to crash where failing tests crash.
#[derive(Clone, Debug, Default)]
pub struct Demands(Vec<Demand>);

impl Demands {
    /// What the statements at `crashes` demand, as far as they are in `function`.
    pub fn of(unit: &TranslationUnit, function: &Function, crashes: &[Span]) -> Demands {
        let mut found = Demands::default();
        for &crash in crashes {
            if !function.span.contains_span(crash) {
                continue;
            }
            let nested: Vec<Span> = function
                .stmts
                .iter()
                .filter_map(|stmt| stmt.place.editable())
                .filter(|span| crash.contains_span(*span) && *span != crash)
                .collect();
            for (number, expr) in function.exprs.iter().enumerate() {
                let Some(span) = written(expr.place) else {
                    continue;
                };
                let is_own = crash.contains_span(span)
                    && !nested.iter().any(|inner| inner.contains_span(span));
                if is_own && expr.evaluated {
                    let id = ExprId(number as u32);
                    Finder { unit, function }.demands(id, &mut found.0);
                }
            }
        }
        keep_furthest(function, &mut found.0);
        found.0.truncate(MOST_DEMANDS);
        found
    }

    /// Whether nothing is demanded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Of elements with fixed numbers that one pointer leads to, `p[2] + p[3]`, the last one demands most.
fn keep_furthest(function: &Function, demands: &mut Vec<Demand>) {
    let number = |index: &[Operand]| match index {
        [only] => constant_index(function, *only),
        _ => None,
    };
    // What is indexed, as far as it matters, and the number.
    let fixed = |demand: &Demand| match demand {
        Demand::Index {
            index,
            length: None,
        } => Some((None, number(index)?)),
        Demand::End { pointer, index } => Some((Some(named(function, *pointer)?), number(index)?)),
        _ => None,
    };
    let all: Vec<_> = demands.iter().filter_map(fixed).collect();
    demands.retain(|demand| {
        fixed(demand).is_none_or(|(of, number)| {
            !all.iter()
                .any(|(other, further)| *other == of && *further > number)
        })
    });
}

fn constant_index(function: &Function, operand: Operand) -> Option<i128> {
    match function.expr(function.stripped(operand.expr())).kind {
        ExprKind::Integer { value, .. } => Some(value),
        _ => None,
    }
}

/// The variable that an operand is.
fn named(function: &Function, operand: Operand) -> Option<VarId> {
    match function.expr(function.stripped(operand.expr())).kind {
        ExprKind::Variable(variable) => Some(variable),
        _ => None,
    }
}

/// Where an expression stands in the source: of what comes from a macro, where that is used.
fn written(place: Place) -> Option<Span> {
    match place {
        Place::Written(span) | Place::MacroArgument { span, .. } => Some(span),
        Place::MacroBody { invocation }
        | Place::Stringified { invocation }
        | Place::SeveralMeanings { invocation } => Some(invocation),
        Place::OtherFile | Place::Disagreement | Place::Unknown => None,
    }
}

struct Finder<'a> {
    unit: &'a TranslationUnit,
    function: &'a Function,
}

impl Finder<'_> {
    fn demands(&self, id: ExprId, found: &mut Vec<Demand>) {
        let mut add = |demand: Demand| {
            if !found.contains(&demand) {
                found.push(demand);
            }
        };
        match &self.function.expr(id).kind {
            ExprKind::Subscript { base, index } => self.indexed(*base, Some(*index), &mut add),
            ExprKind::Member {
                base, arrow: true, ..
            } => {
                if let Some(pointer) = self.followed(*base) {
                    add(Demand::NotZero(pointer));
                }
            }
            ExprKind::Unary {
                operator: UnaryOperator::Dereference,
                operand,
            } => {
                self.indexed(*operand, None, &mut add);
            }
            ExprKind::Binary {
                operator: BinaryOperator::Div | BinaryOperator::Rem,
                right,
                ..
            } => self.divisor(*right, &mut add),
            ExprKind::Assign {
                operator: Some(BinaryOperator::Div | BinaryOperator::Rem),
                value,
                ..
            } => self.divisor(*value, &mut add),
            ExprKind::Call {
                callee, arguments, ..
            } => {
                let callee = self.function.stripped(*callee);
                let name = match &self.function.expr(callee).kind {
                    ExprKind::Function(name) => name.as_str(),
                    _ => "",
                };
                // What it does with numbers is not seen here.
                let is_foreign = !self.unit.functions.iter().any(|known| known.name == name)
                    && arguments.iter().any(|&one| self.followed(one).is_some());
                let counted = COUNTED.iter().find(|(counted, _)| *counted == name);
                for (number, &argument) in arguments.iter().enumerate() {
                    if counted.is_some_and(|(_, place)| *place == number) {
                        let arrays = arguments.iter().filter_map(|&other| self.bytes(other));
                        let count = self.operand(argument);
                        let length = arrays.min_by_key(|length| length.value);
                        add(Demand::Count { count, length });
                        add(Demand::NotNegative(count));
                    } else if is_foreign && self.is_number(argument) {
                        add(Demand::NotNegative(self.operand(argument)));
                    } else if let Some(pointer) = self.followed(argument) {
                        add(Demand::NotZero(pointer));
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether an argument is a number that is not constant, whatever it is converted to.
    fn is_number(&self, id: ExprId) -> bool {
        let expr = self.function.expr(self.function.stripped(id));
        let is_integer = self.unit.types.integer_kind(expr.ty).is_some();
        is_integer && !matches!(expr.kind, ExprKind::Integer { .. })
    }

    /// `pointer[index]` or `*pointer`; both may add to where an object begins.
    fn indexed(&self, pointer: ExprId, index: Option<ExprId>, add: &mut impl FnMut(Demand)) {
        let mut added = Vec::new();
        let base = self.base(pointer, &mut added);
        added.extend(index.map(|index| self.operand(index)));
        let pointer = self.followed(base);
        if let Some(pointer) = pointer {
            add(Demand::NotZero(pointer));
        }
        if !added.is_empty() {
            let length = self.length(base);
            let index = added;
            if let (None, Some(pointer)) = (&length, pointer) {
                let index = index.clone();
                add(Demand::End { pointer, index });
            }
            add(Demand::Index { index, length });
        } else if let Some(pointer) = pointer
            && self.moves(pointer)
        {
            add(Demand::Before(pointer));
        }
    }

    /// Whether the function steps a pointer, or adds to it.
    fn moves(&self, pointer: Operand) -> bool {
        let variable = |id: ExprId| named(self.function, Operand::Value(id));
        let Some(pointer) = variable(pointer.expr()) else {
            return false;
        };
        self.function.exprs.iter().any(|expr| match expr.kind {
            ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand,
            } => variable(operand) == Some(pointer),
            ExprKind::Assign {
                operator: Some(_),
                target,
                ..
            } => variable(target) == Some(pointer),
            _ => false,
        })
    }

    /// What a pointer is calculated from, and what is added to it.
    fn base(&self, id: ExprId, added: &mut Vec<Operand>) -> ExprId {
        let bare = self.function.stripped(id);
        match self.function.expr(bare).kind {
            ExprKind::Binary {
                operator: BinaryOperator::Add,
                left,
                right,
            } => {
                let base = self.base(left, added);
                added.push(self.operand(right));
                base
            }
            // `(unsigned char *) text`: the same elements.
            ExprKind::Cast {
                operand,
                cast: CastKind::Pointer | CastKind::NoOp,
                ..
            } if self.element_size(operand) == self.element_size(id) => self.base(operand, added),
            _ => id,
        }
    }

    fn element_size(&self, pointer: ExprId) -> Option<u64> {
        let types = &self.unit.types;
        types.size(types.element(self.function.expr(pointer).ty)?)
    }

    fn divisor(&self, id: ExprId, add: &mut impl FnMut(Demand)) {
        let ty = self.function.expr(id).ty;
        let bare = self.function.stripped(id);
        let is_constant = matches!(self.function.expr(bare).kind, ExprKind::Integer { .. });
        if self.unit.types.integer_kind(ty).is_some() && !is_constant {
            add(Demand::NotZero(self.operand(id)));
        }
    }

    /// The pointer `id`, unless it is the address of an object that is there.
    fn followed(&self, id: ExprId) -> Option<Operand> {
        let ty = self.function.expr(id).ty;
        let bare = self.function.stripped(id);
        let is_pointer = matches!(self.unit.types.kind(ty), TypeKind::Pointer(_));
        let is_object = decayed_array(self.function, id).is_some()
            || !matches!(
                self.function.expr(bare).kind,
                ExprKind::Variable(_)
                    | ExprKind::Member { .. }
                    | ExprKind::Subscript { .. }
                    | ExprKind::Unary {
                        operator: UnaryOperator::Dereference | UnaryOperator::Step,
                        ..
                    }
            );
        (is_pointer && !is_object).then(|| self.operand(id))
    }

    /// An expression as an operand: of `i++` the object, which is what it was until then.
    fn operand(&self, id: ExprId) -> Operand {
        let bare = self.function.stripped(id);
        let expr = self.function.expr(bare);
        if let ExprKind::Unary {
            operator: UnaryOperator::Step,
            operand,
        } = expr.kind
            && let Some(span) = expr.place.editable()
        {
            let text = self.unit.text(span);
            let added = match text.get(..2) {
                Some("++") => 1,
                Some("--") => -1,
                _ => 0,
            };
            return Operand::Stepped(operand, added);
        }
        Operand::Value(id)
    }

    /// The declared length of the array that decays to `id`.
    fn length(&self, id: ExprId) -> Option<Length> {
        let array = decayed_array(self.function, id)?;
        let value = declared_length(self.unit, self.function, array)?;
        let name = self.length_name(array, value);
        Some(Length { value, name })
    }

    /// The number of bytes of such an array.
    fn bytes(&self, id: ExprId) -> Option<Length> {
        let length = self.length(id)?;
        let array = decayed_array(self.function, id)?;
        let value = self.unit.types.size(self.function.expr(array).ty)?;
        let name = length.name.filter(|_| value == length.value);
        Some(Length { value, name })
    }

    /// What stands in the brackets where an array is declared, if that is one name for a number.
    fn length_name(&self, array: ExprId, length: u64) -> Option<(String, LengthType)> {
        let array = self.function.without_parens(array);
        let ExprKind::Variable(id) = self.function.expr(array).kind else {
            return None;
        };
        let variable = self.unit.variable(id);
        let from = variable.declared_at? as usize;
        let text = self.unit.source.get(from..)?;
        let end = text.iter().position(|byte| *byte == b';')?;
        let text = String::from_utf8_lossy(&text[..end]);
        let (_, behind) = text.split_once(&variable.name)?;
        let (name, _) = behind.trim_start().strip_prefix('[')?.split_once(']')?;
        let name = name.trim();
        let is_it = |known: &str, value: i128| known == name && value == i128::from(length);
        let mut enumerators = self.unit.enumerations.iter().flatten();
        if enumerators.any(|(known, value)| is_it(known, *value)) {
            return Some((name.to_owned(), LengthType::Enumerator));
        }
        let mut macros = self.unit.macros.iter();
        let known = macros.find(|known| is_it(&known.name, known.value))?;
        known
            .is_operand
            .then(|| (name.to_owned(), LengthType::Macro(known.ty)))
    }
}

/// Crash-free constraints as terms of a hole.
#[derive(Clone, Debug, Default)]
pub struct CrashFree {
    /// Conditions with nothing left to choose, each with its negation.
    pub(crate) whole: Vec<(Term, Term)>,
    /// What is to be below a limit that is not known.
    pub(crate) limited: Vec<Limited>,
    /// Indices and numbers of bytes, and the greatest that each may be.
    pub(crate) greatest: Vec<(Term, Term)>,
}

/// See [`CrashFree::limited`].
#[derive(Clone, Debug)]
pub(crate) struct Limited {
    pub(crate) term: Term,
    /// It may be the limit itself: a number of bytes.
    pub(crate) inclusive: bool,
}

impl CrashFree {
    /// The constraints of `function` at one of its holes, whose leaves are `near`; atoms are added to the hole's table.
    pub fn at(
        builder: &mut AtomBuilder<'_>,
        function: &Function,
        demands: &Demands,
        hole: &mut Hole,
        near: &[Term],
    ) -> CrashFree {
        let mut found = CrashFree::default();
        if demands.is_empty() {
            return found;
        }
        let visible = Visible::at(builder.unit, hole);
        let mut atoms = std::mem::take(&mut hole.atoms);
        for demand in &demands.0 {
            let operands = match demand {
                Demand::NotZero(operand)
                | Demand::NotNegative(operand)
                | Demand::Before(operand)
                | Demand::Count { count: operand, .. } => vec![*operand],
                Demand::Index { index, .. } => index.clone(),
                Demand::End { pointer, index } => [&[*pointer], &index[..]].concat(),
            };
            let terms: Option<Vec<Term>> = operands
                .iter()
                .map(|&operand| modelled(builder, function, operand, &visible, &mut atoms))
                .collect();
            let Some(term) = terms.and_then(|terms| sum(terms, builder.types.pointees())) else {
                continue;
            };
            let length = match demand {
                Demand::Index { length, .. } | Demand::Count { length, .. } => length.as_ref(),
                _ => None,
            };
            let named = length
                .and_then(|length| length.name.as_ref())
                .and_then(|(name, ty)| {
                    let ctype = match ty {
                        LengthType::Enumerator => CType::Int,
                        LengthType::Macro(ty) => builder.ctype(*ty)?,
                    };
                    Some(Term::constant(length?.value, ctype, name.as_str()))
                });
            // Perhaps the function has a name for it.
            let is_length = |leaf: &&Term| match leaf.kind() {
                Kind::Constant(value, _) => {
                    leaf.ctype().is_integer() && length.is_some_and(|one| one.value == *value)
                }
                _ => false,
            };
            let length = named
                .or_else(|| near.iter().find(is_length).cloned())
                .or_else(|| Term::literal(length?.value, CType::Int).ok());
            if let (Demand::Index { .. } | Demand::Count { .. }, Some(length)) = (demand, &length) {
                let is_count = matches!(demand, Demand::Count { .. });
                let greatest = if is_count {
                    Some(length.clone())
                } else {
                    last(length)
                };
                found
                    .greatest
                    .extend(greatest.map(|greatest| (term.clone(), greatest)));
            }
            if let Demand::End { .. } = demand {
                let ends = ends(builder, function, &term, &visible, &mut atoms);
                let pointees = builder.types.pointees();
                for end in ends {
                    found.compared(BinaryOp::Lt, &term, end, pointees);
                }
                continue;
            }
            let pointees = builder.types.pointees();
            match demand {
                Demand::End { .. } => {}
                Demand::NotZero(_) => found.not_zero(term),
                Demand::NotNegative(_) => {
                    if is_signed(&term) {
                        let zero = Term::constant(0, CType::Int, "0");
                        found.compared(BinaryOp::Ge, &term, zero, pointees);
                    }
                }
                Demand::Before(_) => found.limited.push(Limited {
                    term,
                    inclusive: false,
                }),
                Demand::Index { .. } => {
                    if is_signed(&term) {
                        let zero = Term::constant(0, CType::Int, "0");
                        found.compared(BinaryOp::Ge, &term, zero, pointees);
                    }
                    found.limit(BinaryOp::Lt, term, length, pointees);
                }
                Demand::Count { .. } => {
                    found.limit(BinaryOp::Le, term, length, pointees);
                }
            }
        }
        if let Some(permitted) = &atoms.permitted {
            let pointees = builder.types.pointees();
            let is_permitted = |term: &Term| permitted.permits_term(term, &atoms, pointees);
            found.whole.retain(|(holds, _)| is_permitted(holds));
            found.limited.retain(|limited| is_permitted(&limited.term));
            found.greatest.retain(|(term, _)| is_permitted(term));
        }
        hole.atoms = atoms;
        found
    }

    fn not_zero(&mut self, term: Term) {
        if !matches!(term.kind(), Kind::Constant(..))
            && let Ok(zero) = Term::unary(UnaryOp::Not, term.clone())
        {
            self.whole.push((term, zero));
        }
    }

    fn limit(&mut self, op: BinaryOp, term: Term, length: Option<Term>, pointees: &Pointees) {
        match length {
            Some(length) => self.compared(op, &term, length, pointees),
            None => self.limited.push(Limited {
                inclusive: op == BinaryOp::Le,
                term,
            }),
        }
    }

    /// A comparison and its negation.
    fn compared(&mut self, op: BinaryOp, term: &Term, with: Term, pointees: &Pointees) {
        let compared = |op| Term::binary(op, term.clone(), with.clone(), pointees).ok();
        if let (Some(holds), Some(fails)) = (compared(op), compared(negated(op)))
            && !self.whole.iter().any(|(known, _)| *known == holds)
        {
            self.whole.push((holds, fails));
        }
    }
}

/// The last index into what has so many elements.
fn last(length: &Term) -> Option<Term> {
    match length.kind() {
        Kind::Constant(value, spelling) if spelling.starts_with(|c: char| c.is_ascii_digit()) => {
            Term::literal(value.checked_sub(1)?, length.ctype()).ok()
        }
        _ => {
            let one = Term::constant(1, CType::Int, "1");
            Term::binary(BinaryOp::Sub, length.clone(), one, &Pointees::default()).ok()
        }
    }
}

/// The pointers with which the function compares others of the type of `term`, but those that it moves.
fn ends(
    builder: &mut AtomBuilder<'_>,
    function: &Function,
    term: &Term,
    visible: &Visible,
    atoms: &mut Atoms,
) -> Vec<Term> {
    let mut found: Vec<Term> = Vec::new();
    for expr in &function.exprs {
        let ExprKind::Binary {
            operator:
                BinaryOperator::Lt
                | BinaryOperator::Le
                | BinaryOperator::Gt
                | BinaryOperator::Ge
                | BinaryOperator::Eq
                | BinaryOperator::Ne,
            left,
            right,
        } = expr.kind
        else {
            continue;
        };
        for side in [left, right] {
            let end = modelled(builder, function, Operand::Value(side), visible, atoms);
            if let Some(end) = end
                && end.ctype() == term.ctype()
                && !mentions(term, &end)
                && !matches!(end.kind(), Kind::Constant(..))
                && !found.contains(&end)
                && found.len() < MOST_ENDS
            {
                found.push(end);
            }
        }
    }
    found
}

/// Whether `part` is what `term` is calculated from.
fn mentions(term: &Term, part: &Term) -> bool {
    term == part
        || match term.kind() {
            Kind::Binary(_, left, right) => mentions(left, part) || mentions(right, part),
            _ => false,
        }
}

/// What holds where a comparison does not. (Indices and lengths are no floating values.)
pub(crate) fn negated(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Lt,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        other => other,
    }
}

fn is_signed(term: &Term) -> bool {
    let ctype = term.ctype();
    ctype.is_integer() && ctype.value_type().is_signed_integer()
}

/// The sum of terms, its constants in one.
fn sum(terms: Vec<Term>, pointees: &Pointees) -> Option<Term> {
    let constant = |term: &Term| match term.kind() {
        Kind::Constant(value, _) if term.ctype().is_integer() => Some(*value as i64),
        _ => None,
    };
    if let [_] = terms[..] {
        return terms.into_iter().next();
    }
    let (constants, varying): (Vec<Term>, Vec<Term>) =
        terms.into_iter().partition(|term| constant(term).is_some());
    let total = constants
        .iter()
        .filter_map(constant)
        .try_fold(0i64, i64::checked_add)?;
    let last = match &constants[..] {
        // Perhaps it has a name.
        [only] if total != 0 => Some(only.clone()),
        _ if total != 0 || varying.is_empty() => {
            let ctype = i32::try_from(total).map_or(CType::Long, |_| CType::Int);
            Some(Term::literal(total as u64, ctype).ok()?)
        }
        _ => None,
    };
    let mut all = varying.into_iter().chain(last);
    let first = all.next()?;
    all.try_fold(first, |sum, term| {
        Term::binary(BinaryOp::Add, sum, term, pointees).ok()
    })
}

/// An operand as a term at a hole where all that it names is visible and has a value.
fn modelled(
    builder: &mut AtomBuilder<'_>,
    function: &Function,
    operand: Operand,
    visible: &Visible,
    atoms: &mut Atoms,
) -> Option<Term> {
    let mut variables = Vec::new();
    variables_below(function, operand.expr(), &mut variables);
    variables
        .iter()
        .all(|&id| visible.has_value(builder.unit, id))
        .then_some(())?;
    match operand {
        Operand::Value(id) => builder.model(atoms, function, id),
        Operand::Stepped(id, added) => {
            let atom = builder.read(atoms, function, id)?;
            let term = Term::atom(atom, &atoms.table);
            if added == 0 {
                return Some(term);
            }
            let one = Term::constant(1, CType::Int, "1");
            let op = match added > 0 {
                true => BinaryOp::Add,
                false => BinaryOp::Sub,
            };
            Term::binary(op, term, one, builder.types.pointees()).ok()
        }
    }
}
