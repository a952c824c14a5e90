//! FUNCTION round an expression: `abs(a - b)` for `a - b`, `tolower(c)` for `c`, and the other way round.
//!
//! The functions are those of the C library that calculate one value from another one, and that the source declares. Characters get functions
//! that change the case of letters. Signed numbers get functions that drop the sign.

use patchwright_csource::{
    BinaryOperator, CastKind, ExprId, ExprKind, Part, Role, Slot, StmtId, StmtKind, Storage,
    UnaryOperator, VarId, lex,
    types::{IntegerKind, TypeKind},
};
use patchwright_text::{Edit, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    choices::{Alternative, Callees, Finder, Form},
    operators::{LONGEST, discarded},
    space::Schema,
    term::{CType, promote},
};

/// The function's name, and the call.
const WRAPPED_COST: u32 = 2;

/// The functions that change the case of letters.
pub(crate) const OF_CHARACTERS: [&str; 2] = ["tolower", "toupper"];

/// What drops the sign of a number of a type.
const OF_SIGNS: [(CType, &str); 5] = [
    (CType::Int, "abs"),
    (CType::Long, "labs"),
    (CType::LongLong, "llabs"),
    (CType::Float, "fabsf"),
    (CType::Double, "fabs"),
];

/// Others of floating numbers, which are tried where the source calls them elsewhere, too: many are in a library of their own.
const OF_FLOATING: [&str; 6] = ["sqrt", "floor", "ceil", "round", "exp", "log"];

/// What gives a character.
const READERS: [&str; 3] = ["getchar", "getc", "fgetc"];

/// An expression whose value is used.
pub(crate) struct Used {
    pub(crate) id: ExprId,
    /// It, with the parentheses round it.
    pub(crate) span: Span,
    /// What is put round it.
    pub(crate) around: Around,
}

/// What is put round an expression.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Around {
    /// Every function.
    Any,
    /// Functions of the program only: it is the index of an element.
    Own,
    /// No function: it is an argument of one of those of the library, or counts a loop.
    Nothing,
    /// It is a number, which the value of a call may replace.
    Constant,
}

/// Adds calls such as `abs` and `tolower` round expressions, and takes them away.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, callees: &Callees<'_>) {
    let used = used(finder);
    let characters = characters(finder);
    let mut spans: FxHashSet<Span> = FxHashSet::default();
    for Used { id, span, around } in used {
        if around == Around::Constant
            || !finder.is_short(span, LONGEST)
            || finder.has_statements(id)
            || !spans.insert(span)
        {
            continue;
        }
        let ty = finder.function.expr(id).ty;
        let Some(ctype) = finder
            .builder
            .ctype(ty)
            .filter(|ctype| ctype.is_arithmetic())
        else {
            continue;
        };
        let mut texts: Vec<String> = Vec::new();
        if let Some(argument) = unwrapped(finder, id) {
            texts.push(argument);
        } else if around == Around::Any {
            let inner = inner_text(finder, id);
            let names = names(finder, id, ctype, &characters, callees);
            texts.extend(names.into_iter().map(|name| call(finder, name, ty, &inner)));
        }
        let alternatives = texts
            .into_iter()
            .map(|text| Alternative {
                schema: Schema::Function,
                cost: WRAPPED_COST,
                woven: text.clone(),
                edit: Edit::replace(span, text),
            })
            .collect();
        finder.add(span, Some(promote(ctype)), Form::Expression, alternatives);
    }
}

/// The functions that are tried round an expression.
pub(crate) fn names(
    finder: &Finder<'_, '_, '_>,
    id: ExprId,
    ctype: CType,
    characters: &FxHashSet<VarId>,
    callees: &Callees<'_>,
) -> Vec<&'static str> {
    let expr = finder.function.expr(id);
    let is_character = matches!(ctype, CType::Char | CType::UChar)
        || matches!(expr.kind, ExprKind::Variable(id) if characters.contains(&id));
    let mut found: Vec<&'static str> = Vec::new();
    if is_character {
        found.extend(OF_CHARACTERS);
    } else {
        let of_type = OF_SIGNS.iter().filter(|(of, _)| *of == ctype);
        found.extend(of_type.map(|(_, name)| *name));
        if ctype == CType::Double {
            let called = |name: &&str| callees.direct.contains(*name);
            found.extend(OF_FLOATING.into_iter().filter(called));
        }
    }
    let is_of_library = |name: &&str| {
        let declared = finder.builder.unit.declarations.get(*name);
        declared.is_some_and(|declared| declared.in_system_header) && finder.can_name(name)
    };
    found.retain(is_of_library);
    found
}

/// The call. Functions of characters want them without a sign, which a file that knows it says in a cast.
pub(crate) fn call(
    finder: &Finder<'_, '_, '_>,
    name: &str,
    ty: patchwright_csource::types::TypeId,
    inner: &str,
) -> String {
    const CAST: &str = "(unsigned char)";
    let is_char = finder.builder.unit.types.integer_kind(ty) == Some(IntegerKind::Char);
    let source = &finder.builder.unit.source;
    let casts = source
        .windows(CAST.len())
        .any(|text| text == CAST.as_bytes());
    let is_plain = inner
        .bytes()
        .all(|byte| lex::is_word(byte) || matches!(byte, b'[' | b']' | b'.' | b'*'));
    match (OF_CHARACTERS.contains(&name) && is_char && casts, is_plain) {
        (true, true) => format!("{name}({CAST}{inner})"),
        (true, false) => format!("{name}({CAST}({inner}))"),
        (false, _) => format!("{name}({inner})"),
    }
}

/// Returns the text of an expression that can be replaced; empty for others.
pub(crate) fn inner_text(finder: &Finder<'_, '_, '_>, id: ExprId) -> String {
    let span = finder.function.expr(id).place.editable();
    span.map_or_else(String::new, |span| finder.plain(span))
}

/// The argument of a call of one of the functions.
fn unwrapped(finder: &Finder<'_, '_, '_>, id: ExprId) -> Option<String> {
    let argument = wrapped(finder, id)?;
    let bare = finder.function.stripped(argument);
    let text = finder.plain(finder.function.expr(bare).place.editable()?);
    let binds = matches!(
        finder.function.expr(bare).kind,
        ExprKind::Binary { .. } | ExprKind::Conditional { .. } | ExprKind::Assign { .. }
    );
    Some(if binds { format!("({text})") } else { text })
}

/// The argument, if an expression is a call of one of the functions.
pub(crate) fn wrapped(finder: &Finder<'_, '_, '_>, id: ExprId) -> Option<ExprId> {
    let ExprKind::Call {
        callee, arguments, ..
    } = &finder.function.expr(id).kind
    else {
        return None;
    };
    let callee = finder.function.stripped(*callee);
    let (ExprKind::Function(name), &[argument]) =
        (&finder.function.expr(callee).kind, &arguments[..])
    else {
        return None;
    };
    let known = OF_CHARACTERS.iter().chain(&OF_FLOATING);
    let mut known = known.chain(OF_SIGNS.iter().map(|(_, name)| name));
    known.any(|known| known == name).then_some(argument)
}

/// Variables that hold characters: what was read by a function that gives one.
pub(crate) fn characters(finder: &Finder<'_, '_, '_>) -> FxHashSet<VarId> {
    let function = finder.function;
    let is_read = |id: ExprId| {
        let ExprKind::Call { callee, .. } = function.expr(function.stripped(id)).kind else {
            return false;
        };
        let callee = &function.expr(function.stripped(callee)).kind;
        matches!(callee, ExprKind::Function(name) if READERS.contains(&name.as_str()))
    };
    let mut found = FxHashSet::default();
    for expr in &function.exprs {
        match &expr.kind {
            ExprKind::Assign { target, value, .. } if is_read(*value) => {
                if let ExprKind::Variable(id) = function.expr(function.stripped(*target)).kind {
                    found.insert(id);
                }
            }
            // `isalpha(c)`
            ExprKind::Call {
                callee, arguments, ..
            } => {
                let callee = &function.expr(function.stripped(*callee)).kind;
                let is_ctype = matches!(callee, ExprKind::Function(name)
                    if patchwright_csource::CTYPE_FUNCTIONS.contains(&name.as_str()));
                if let (true, &[argument]) = (is_ctype, &arguments[..])
                    && let ExprKind::Variable(id) = function.expr(function.stripped(argument)).kind
                {
                    found.insert(id);
                }
            }
            _ => {}
        }
    }
    found
}

/// The expressions of statements whose value is used, but names of constants, and what is only true or false.
pub(crate) fn used(finder: &Finder<'_, '_, '_>) -> Vec<Used> {
    let function = finder.function;
    let mut walker = Walker {
        finder,
        discarded: discarded(function),
        heads: FxHashSet::default(),
        parens: FxHashMap::default(),
        found: Vec::new(),
    };
    for (number, expr) in function.exprs.iter().enumerate() {
        if let ExprKind::Paren(inner) = expr.kind {
            walker.parens.insert(inner, ExprId(number as u32));
        }
    }
    walker.stmt(function.body);
    walker.found
}

struct Walker<'w, 'b, 'a, 'f> {
    finder: &'w Finder<'b, 'a, 'f>,
    discarded: FxHashSet<ExprId>,
    /// Variables that count loops.
    heads: FxHashSet<VarId>,
    /// The parentheses round an expression.
    parens: FxHashMap<ExprId, ExprId>,
    found: Vec<Used>,
}

impl Walker<'_, '_, '_, '_> {
    fn stmt(&mut self, id: StmtId) {
        let kind = &self.finder.function.stmt(id).kind;
        if let StmtKind::For {
            increment: Some(increment),
            ..
        } = kind
        {
            self.counters(*increment);
        }
        for part in kind.parts() {
            match part {
                Part::Statement(_, Slot::Unknown) | Part::Expression(_, Role::Unknown) => {}
                Part::Statement(inner, _) => self.stmt(inner),
                Part::Expression(expr, _) => self.expr(expr, Around::Any),
                Part::Variable(id) => {
                    let variable = self.finder.builder.unit.variable(id);
                    if let (Storage::Local, Some(value)) = (variable.storage, variable.initializer)
                    {
                        self.expr(value, Around::Any);
                    }
                }
            }
        }
    }

    /// The variables that a loop's step changes.
    fn counters(&mut self, id: ExprId) {
        let function = self.finder.function;
        for id in function.within(id) {
            let (ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand: target,
            }
            | ExprKind::Assign { target, .. }) = function.expr(id).kind
            else {
                continue;
            };
            if let ExprKind::Variable(id) = function.expr(function.stripped(target)).kind {
                self.heads.insert(id);
            }
        }
    }

    /// An expression and those inside of it, and what is put round it.
    fn expr(&mut self, id: ExprId, around: Around) {
        let function = self.finder.function;
        let expr = function.expr(id);
        if !expr.evaluated {
            return;
        }
        let is_value = match &expr.kind {
            ExprKind::Binary { operator, .. } => matches!(
                operator,
                BinaryOperator::Add
                    | BinaryOperator::Sub
                    | BinaryOperator::Mul
                    | BinaryOperator::Div
                    | BinaryOperator::Rem
            ),
            ExprKind::Call { .. } => !self.discarded.contains(&id),
            ExprKind::Cast {
                implicit: false,
                cast: CastKind::Arithmetic,
                ..
            } => true,
            _ => false,
        };
        if is_value {
            self.add(id, around);
        }
        match expr.kind.clone() {
            ExprKind::Cast {
                operand,
                implicit: true,
                cast,
            } => {
                let read = function.without_parens(operand);
                let is_counter = matches!(function.expr(read).kind, ExprKind::Variable(id) if self.heads.contains(&id));
                if cast == CastKind::LValueToRValue {
                    self.add(read, if is_counter { Around::Nothing } else { around });
                }
                self.expr(operand, around);
            }
            // The cast is what is put into a call.
            ExprKind::Cast { operand, .. } => self.expr(operand, Around::Nothing),
            ExprKind::Paren(inner) => self.expr(inner, around),
            ExprKind::Subscript { base, index } => {
                self.expr(base, Around::Nothing);
                self.expr(index, Around::Own);
            }
            ExprKind::Call { arguments, .. } => {
                let inside = match wrapped(self.finder, id) {
                    Some(_) => Around::Nothing,
                    None => Around::Any,
                };
                for argument in arguments {
                    self.expr(argument, inside);
                }
            }
            ExprKind::Integer {
                enumerator: None,
                character: false,
                ..
            } if around == Around::Any => self.add(id, Around::Constant),
            ExprKind::Other { body: Some(_), .. } => {}
            _ => {
                for child in function.children(id) {
                    self.expr(child, Around::Any);
                }
            }
        }
    }

    fn add(&mut self, id: ExprId, around: Around) {
        let function = self.finder.function;
        let types = &self.finder.builder.unit.types;
        // Enumerators and truth values have no sign.
        if matches!(types.kind(function.expr(id).ty), TypeKind::Enum { .. }) {
            return;
        }
        let mut outer = id;
        while let Some(&paren) = self.parens.get(&outer) {
            outer = paren;
        }
        let bare = function.expr(id).place.editable();
        if let (Some(_), Some(span)) = (bare, function.expr(outer).place.editable().or(bare)) {
            self.found.push(Used { id, span, around });
        }
    }
}
