//! Declares the variables that hold arguments.

use patchwright_csource::types::{TypeId, TypeKind, TypeTable};
use patchwright_lower::scalar;
use patchwright_symbolic::Shape;

use super::filler::spelled;

/// Returns the declaration of a variable of a type as C code, without any `const`: what it is and leads to is written. A pointer
/// to a function is one to `void`, for such types have no plain spelling. It is `None` for a type that has no name.
pub fn writable(types: &TypeTable, ty: TypeId, declarator: &str) -> Option<String> {
    match types.kind(ty) {
        TypeKind::Pointer(to) => match types.kind(*to) {
            TypeKind::Function => Some(format!("void *{declarator}")),
            // Its lengths are those of the function.
            _ if types.is_variable(*to) => Some(format!("void *{declarator}")),
            TypeKind::Array(..) => writable(types, *to, &format!("(*{declarator})")),
            _ => writable(types, *to, &format!("*{declarator}")),
        },
        TypeKind::Array(of, count) => {
            let count = count.map(|count| count.to_string()).unwrap_or_default();
            writable(types, *of, &format!("{declarator}[{count}]"))
        }
        TypeKind::Enum { name } => {
            let spelled = types.spelling(ty);
            let spelled = spelled.unwrap_or_else(|| types.enum_kind(name).spelling().to_owned());
            Some(format!("{} {declarator}", spelled.replace("const ", "")))
        }
        _ => {
            let spelled = types.spelling(ty)?.replace("const ", "");
            Some(format!("{spelled} {declarator}"))
        }
    }
}

/// The variable that holds an argument: its declaration, and how it is handed over.
pub(super) fn argument(
    types: &TypeTable,
    ty: TypeId,
    shape: &Shape,
    name: &str,
) -> Option<(String, String)> {
    if let Shape::Scalar(given) = shape
        && scalar(types, ty) != Some(*given)
        && !spelled(*given).is_empty()
    {
        // An old-style definition gets it promoted.
        return Some((format!("{} {name}", spelled(*given)), name.to_owned()));
    }
    let declared = writable(types, ty, name)?;
    let exact = types.declaration(ty, name);
    let is_other = exact.is_none_or(|exact| {
        let is_deep = exact.matches('*').count() > 1 || exact.contains('[');
        exact.contains("const ") && is_deep
    });
    let is_pointer = matches!(types.kind(ty), TypeKind::Pointer(_));
    let passed = match is_pointer && is_other {
        true => format!("(void *){name}"),
        false => name.to_owned(),
    };
    Some((declared, passed))
}
