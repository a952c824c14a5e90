//! EXPRESSION for numbers of bytes: `n * sizeof(int)` for `n` where memory is copied or allocated, `sizeof(*p)` for `sizeof(p)`.

use patchwright_csource::{
    CastKind, ExprId, ExprKind, Storage,
    types::{TypeId, TypeKind},
};
use patchwright_text::Edit;
use rustc_hash::FxHashMap;

use crate::{
    choices::{Alternative, Finder, Form},
    own_calls::innermost,
    space::Schema,
    term::CType,
    wraps::inner_text,
};

/// The operator with the size: where bytes are counted, that is mostly what was forgotten.
const SIZE_COST: u32 = 1;

/// An argument with a longer text is left alone.
const LONGEST: u32 = 120;

/// What knows whose bytes an argument counts.
enum Objects {
    /// Another argument points to them.
    Argument(usize),
    /// The value points to them.
    Value,
}

/// Functions that take a number of bytes: the name, which argument that is, and of what.
const OF_BYTES: [(&str, usize, Objects); 5] = [
    ("memcpy", 2, Objects::Argument(0)),
    ("memmove", 2, Objects::Argument(0)),
    ("memset", 2, Objects::Argument(0)),
    ("malloc", 0, Objects::Value),
    ("realloc", 1, Objects::Argument(0)),
];

pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    let function = finder.function;
    let targets = targets(finder);
    for (number, expr) in function.exprs.iter().enumerate() {
        let ExprKind::Call {
            callee, arguments, ..
        } = &expr.kind
        else {
            continue;
        };
        let ExprKind::Function(name) = &function.expr(function.stripped(*callee)).kind else {
            continue;
        };
        let Some((_, place, objects)) = OF_BYTES.iter().find(|(known, ..)| known == name) else {
            continue;
        };
        let Some(&argument) = arguments.get(*place).filter(|_| expr.evaluated) else {
            continue;
        };
        let pointer = match objects {
            Objects::Argument(other) => arguments
                .get(*other)
                .map(|&id| function.expr(function.stripped(id)).ty),
            Objects::Value => targets.get(&ExprId(number as u32)).copied(),
        };
        let bare = function.stripped(argument);
        let Some(span) = function.expr(bare).place.editable() else {
            continue;
        };
        if !finder.is_short(span, LONGEST)
            || finder.has_statements(argument)
            || innermost(finder, span).is_none()
        {
            continue;
        }
        let own = inner_text(finder, bare);
        let text = match own.contains("sizeof") {
            true => of_object(finder, &own),
            false => pointer.and_then(|pointer| of_objects(finder, pointer, bare, &own)),
        };
        let alternative = text.map(|text| Alternative {
            schema: Schema::Expression,
            cost: SIZE_COST,
            woven: text.clone(),
            edit: Edit::replace(span, text),
        });
        let alternatives = alternative.into_iter().collect();
        finder.add(span, Some(CType::ULong), Form::Expression, alternatives);
    }
}

/// The type of what the value of a call is assigned to, or begins, by the call.
fn targets(finder: &Finder<'_, '_, '_>) -> FxHashMap<ExprId, TypeId> {
    let function = finder.function;
    let mut found = FxHashMap::default();
    for expr in &function.exprs {
        if let ExprKind::Assign {
            operator: None,
            target,
            value,
        } = expr.kind
        {
            found.insert(called(finder, value), function.expr(target).ty);
        }
    }
    for &id in &function.locals {
        let variable = finder.builder.unit.variable(id);
        let value = variable.initializer.map(|value| called(finder, value));
        found.extend(value.map(|value| (value, variable.ty)));
    }
    found
}

/// An expression without the conversions round it, those that are written included.
fn called(finder: &Finder<'_, '_, '_>, mut id: ExprId) -> ExprId {
    loop {
        id = finder.function.stripped(id);
        match finder.function.expr(id).kind {
            ExprKind::Cast {
                operand,
                cast: CastKind::Pointer,
                ..
            } => id = operand,
            _ => return id,
        }
    }
}

/// So many objects as the argument says bytes.
fn of_objects(
    finder: &mut Finder<'_, '_, '_>,
    pointer: TypeId,
    argument: ExprId,
    own: &str,
) -> Option<String> {
    let types = &mut finder.builder.unit.types;
    let element = types.element(pointer)?;
    let element = types.unqualified(element);
    if types.size(element)? < 2 {
        return None;
    }
    let spelling = types.spelling(element)?;
    let binds = !matches!(
        finder.function.expr(argument).kind,
        ExprKind::Variable(_)
            | ExprKind::Member { .. }
            | ExprKind::Subscript { .. }
            | ExprKind::Integer { .. }
            | ExprKind::Call { .. }
    );
    Some(match binds {
        true => format!("({own}) * sizeof({spelling})"),
        false => format!("{own} * sizeof({spelling})"),
    })
}

/// The size of what a pointer points to for that of the pointer.
fn of_object(finder: &Finder<'_, '_, '_>, own: &str) -> Option<String> {
    let at = own.find("sizeof")?;
    let operand = own[at + "sizeof".len()..].trim_start();
    let inner = operand.strip_prefix('(').map_or(operand, str::trim_start);
    let end = inner.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let name = &inner[..end.unwrap_or(inner.len())];
    let closes = match operand.starts_with('(') {
        true => inner[name.len()..].trim_start().starts_with(')'),
        false => true,
    };
    let unit = &finder.builder.unit;
    let is_pointer = finder.variables().any(|id| {
        let variable = unit.variable(id);
        let is_named = variable.name == name && variable.storage != Storage::StaticLocal;
        is_named && matches!(unit.types.kind(variable.ty), TypeKind::Pointer(_))
    });
    let start = own.len() - inner.len();
    (closes && is_pointer && !name.is_empty()).then(|| {
        let (before, rest) = own.split_at(start);
        match operand.starts_with('(') {
            true => format!("{before}*{rest}"),
            false => format!("{}(*{name}){}", before.trim_end(), &rest[name.len()..]),
        }
    })
}
