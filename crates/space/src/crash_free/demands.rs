//! Finds the conditions under which the crashing statements would not crash.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Function, Place, TranslationUnit, UnaryOperator,
    VarId,
    types::{TypeId, TypeKind},
};
use patchwright_text::Span;

use crate::selectors::{decayed_array, declared_length};

/// Most demands of one function.
const MOST_DEMANDS: usize = 12;

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
    pub(super) value: u64,
    /// What the declaration calls it, and the type of that.
    pub(super) name: Option<(String, LengthType)>,
}

/// Where the length of an array comes from, if it has a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum LengthType {
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
    /// Returns the expression.
    pub(super) fn expr(self) -> ExprId {
        match self {
            Operand::Value(id) | Operand::Stepped(id, _) => id,
        }
    }
}

/// The conditions under which a function would not crash where failing tests crash.
#[derive(Clone, Debug, Default)]
pub struct Demands(pub(super) Vec<Demand>);

impl Demands {
    /// Finds the conditions of the statements at `crashes`, as far as they are in `function`.
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

    /// Whether no statement where a test crashed demands anything.
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
                let counted = patchwright_clib::byte_count(name);
                for (number, &argument) in arguments.iter().enumerate() {
                    if counted == Some(number) {
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
