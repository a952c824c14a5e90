//! Changes of calls: FUNCTION, SWAP, FORMAT (its texts are those of [`crate::formats`]), and fresh memory that is zero.
//!
//! Another function gets the arguments that the call has. Each parameter takes the first argument of a fitting type that is still
//! free. Arguments keep their order if possible; those that are left are dropped. Functions of the system are called only if
//! the source calls them already, or if they are known to change nothing but the memory that they are given.

use patchwright_clib::{changes_system, meaning, never_returns};
use patchwright_csource::{
    CTYPE_FUNCTIONS, CastKind, ExprId, ExprKind, StmtKind,
    detail::Declaration,
    types::{TypeId, TypeKind},
};
use patchwright_text::{Edit, Span};
use rustc_hash::FxHashSet;

use crate::{
    choices::{Alternative, Callees, Finder, Form},
    formats,
    space::{Schema, Schemas},
    term::{self, CType, Operand},
};

/// Most functions that are tried in the place of another. Those of `<ctype.h>` do not count: they are few, their names do not
/// say which are alike, and each is right somewhere.
pub(crate) const MOST_FUNCTIONS: usize = 6;

/// Most pairs of arguments of one call that are exchanged.
const MOST_SWAPS: usize = 6;

/// A call whose text is longer is left alone: it would be repeated for each alternative.
const LONGEST_CALL: u32 = 400;

/// Most arguments of calls that are looked at.
const MOST_ARGUMENTS: usize = 8;

/// The function's name, and that it does not stand there by chance.
const FUNCTION_COST: u32 = 2;

/// The name of a function of the program that is called in the same way: it is taken for another one as a variable is.
pub(crate) const ALIKE_COST: u32 = 1;

/// A function whose value says another thing: a length in place of an order. So many letters of its name and so many costs more.
const OTHER_MEANING: u32 = 2;

/// Two arguments.
const SWAP_COST: u32 = 2;

/// The function's name, and an argument.
const ZEROED_COST: u32 = 2;

/// How the names of the functions begin that are tried in place of others though the source does not call them: those
/// for text, memory and characters.
const FAMILIES: [&str; 9] = [
    "str", "mem", "is", "to", "ato", "wcs", "abs", "labs", "llabs",
];

/// An argument of a call.
pub(crate) struct Argument {
    pub(crate) span: Span,
    pub(crate) text: String,
    /// Its type as it stands; `None` for what only equal types take.
    operand: Option<Operand>,
    pub(crate) ty: TypeId,
    /// It names an object whose address can be taken.
    pub(crate) is_object: bool,
    /// It, converted.
    pub(crate) id: ExprId,
}

/// A call that can be changed.
pub(crate) struct Call {
    pub(crate) span: Span,
    callee: Span,
    /// The function's name, if it is called by it.
    pub(crate) name: Option<String>,
    pub(crate) arguments: Vec<Argument>,
    /// The value that it gives, if that is used.
    value: Option<CType>,
    /// Its value is not used, though it may have one.
    discarded: bool,
}

/// Adds the changes of calls that `schemas` selects: FUNCTION, SWAP and FORMAT.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, schemas: Schemas, callees: &Callees<'_>) {
    let discarded: FxHashSet<ExprId> = finder
        .function
        .stmts
        .iter()
        .filter_map(|stmt| match stmt.kind {
            StmtKind::Expression(expr) => Some(value_of(finder, expr)),
            _ => None,
        })
        .collect();
    let mut spans: FxHashSet<Span> = FxHashSet::default();
    for number in 0..finder.function.exprs.len() {
        let id = ExprId(number as u32);
        let Some(call) = call(finder, id, discarded.contains(&id)) else {
            continue;
        };
        if !spans.insert(call.span) {
            continue;
        }
        let mut found = Vec::new();
        if schemas.initialization {
            found.extend(zeroed(finder, &call));
        }
        if schemas.swap {
            swapped(finder, &call, &mut found);
        }
        if schemas.function {
            replaced(finder, &call, callees, &mut found);
        }
        if schemas.format {
            formats::find(finder, &call, &mut found);
        }
        finder.add(call.span, call.value, Form::Expression, found);
    }
}

/// The expression whose value a statement throws away.
fn value_of(finder: &Finder<'_, '_, '_>, mut id: ExprId) -> ExprId {
    loop {
        id = finder.function.stripped(id);
        match finder.function.expr(id).kind {
            ExprKind::Cast {
                operand,
                cast: CastKind::ToVoid,
                ..
            } => id = operand,
            _ => return id,
        }
    }
}

/// The call, if it is one whose parts are plain text and whose value can be handed on.
fn call(finder: &mut Finder<'_, '_, '_>, id: ExprId, discarded: bool) -> Option<Call> {
    let expr = finder.function.expr(id);
    let ExprKind::Call {
        callee, arguments, ..
    } = &expr.kind
    else {
        return None;
    };
    if !expr.evaluated || arguments.len() > MOST_ARGUMENTS {
        return None;
    }
    let Some(span) = expr.place.editable() else {
        finder.found.refuse("calls from the body of a macro");
        return None;
    };
    if !finder.is_short(span, LONGEST_CALL) {
        finder.found.refuse("calls with very long text");
        return None;
    }
    if finder.has_statements(id) {
        finder
            .found
            .refuse("calls with statements in their arguments");
        return None;
    }
    let ty = expr.ty;
    let value = match finder.builder.unit.types.kind(ty) {
        TypeKind::Void => None,
        _ => {
            let value = finder.builder.ctype(ty);
            if !value.is_some_and(|value| finder.can_spell(value)) {
                finder
                    .found
                    .refuse("calls whose value is of a type that is not modelled");
                return None;
            }
            value
        }
    };
    let function = finder.function.stripped(*callee);
    let callee = finder.function.expr(function).place.editable()?;
    let name = match &finder.function.expr(function).kind {
        ExprKind::Function(name) if finder.text(callee) == *name => Some(name.clone()),
        _ => None,
    };
    // Its value is not that of an ordinary call.
    if name
        .as_ref()
        .is_some_and(|name| name.contains("setjmp") || name.starts_with("__builtin_"))
    {
        finder
            .found
            .refuse("calls that return twice, or of the compiler's own functions");
        return None;
    }
    let arguments = arguments.clone();
    let mut read = Vec::new();
    for argument in arguments {
        read.push(self::argument(finder, argument)?);
    }
    Some(Call {
        span,
        callee,
        name,
        arguments: read,
        value,
        discarded: discarded || value.is_none(),
    })
}

fn argument(finder: &mut Finder<'_, '_, '_>, id: ExprId) -> Option<Argument> {
    let mut outer = id;
    let mut null = false;
    while let ExprKind::Cast {
        operand,
        implicit: true,
        cast,
    } = finder.function.expr(outer).kind
    {
        null |= cast == CastKind::NullToPointer;
        outer = operand;
    }
    let span = finder.function.expr(outer).place.editable()?;
    let ty = match null {
        true => finder.function.expr(id).ty,
        false => finder.function.expr(finder.function.stripped(outer)).ty,
    };
    let operand = finder.builder.ctype(ty).map(|ctype| Operand {
        is_null_pointer_constant: null,
        ..Operand::from(ctype)
    });
    Some(Argument {
        span,
        text: finder.text(span),
        is_object: is_object(finder, outer),
        id,
        operand: operand.filter(|operand| !is_function_pointer(finder, operand.ctype)),
        ty,
    })
}

fn is_object(finder: &Finder<'_, '_, '_>, id: ExprId) -> bool {
    let expr = finder.function.expr(finder.function.stripped(id));
    let is_named = match expr.kind {
        ExprKind::Variable(_) | ExprKind::Subscript { .. } => true,
        ExprKind::Member { bit_field, .. } => !bit_field,
        _ => false,
    };
    is_named && expr.lvalue
}

/// Pointers to functions do not tell what those take.
fn is_function_pointer(finder: &Finder<'_, '_, '_>, ctype: CType) -> bool {
    match ctype {
        CType::Pointer(to) => finder.builder.types.pointees()[to].is_function,
        _ => false,
    }
}

/// Whether an argument can be passed where a value of this type is wanted, and is of the same kind: a number for a
/// number, a pointer for a pointer.
fn fits(finder: &mut Finder<'_, '_, '_>, argument: &Argument, parameter: TypeId) -> bool {
    let Some(to) = finder.builder.ctype(parameter) else {
        // Structures.
        let plain = finder.builder.unit.types.unqualified(parameter);
        let is_record = matches!(finder.builder.unit.types.kind(plain), TypeKind::Record(_));
        return is_record && finder.builder.unit.types.unqualified(argument.ty) == plain;
    };
    let Some(from) = argument.operand else {
        return false;
    };
    !is_function_pointer(finder, to) && same_kind(finder, from, to)
}

fn same_kind(finder: &Finder<'_, '_, '_>, from: Operand, to: CType) -> bool {
    let pointees = finder.builder.types.pointees();
    let alike = match (from.ctype, to) {
        (CType::Pointer(_), CType::Pointer(_)) => true,
        (CType::Pointer(_), _) | (_, CType::Pointer(_)) => false,
        (from, to) => from.is_floating() == to.is_floating(),
    };
    alike && term::is_assignable(from, to, pointees)
}

/// `malloc(n)` as `calloc(1, n)`.
fn zeroed(finder: &mut Finder<'_, '_, '_>, call: &Call) -> Option<Alternative> {
    let name = call.name.as_deref()?;
    if matches!(
        name,
        "realloc" | "reallocarray" | "alloca" | "aligned_alloc"
    ) {
        finder.found.refuse(match name {
            "realloc" | "reallocarray" => {
                "INITIALIZATION of memory from realloc, whose old size is not known"
            }
            _ => "INITIALIZATION of memory that is not from malloc",
        });
        return None;
    }
    let ([size], "malloc") = (&call.arguments[..], name) else {
        return None;
    };
    if !finder.can_name("calloc") {
        finder
            .found
            .refuse("INITIALIZATION by calloc, which the source does not declare");
        return None;
    }
    let text = format!("calloc(1, {})", size.text);
    Some(Alternative {
        schema: Schema::Initialization,
        cost: ZEROED_COST,
        edit: Edit::replace(call.span, text.clone()),
        woven: text,
    })
}

/// Two arguments exchanged.
fn swapped(finder: &mut Finder<'_, '_, '_>, call: &Call, found: &mut Vec<Alternative>) {
    let declared = call
        .name
        .as_ref()
        .and_then(|name| finder.builder.unit.declarations.get(name).cloned());
    let mut count = 0;
    for (i, a) in call.arguments.iter().enumerate() {
        for (j, b) in call.arguments.iter().enumerate().skip(i + 1) {
            if a.text == b.text {
                continue;
            }
            let parameter = |n: usize| {
                let declared = declared.as_ref().filter(|declared| declared.prototyped);
                declared.and_then(|declared| declared.parameters.get(n).copied())
            };
            let exchangeable = match (parameter(i), parameter(j)) {
                (Some(first), Some(second)) => fits(finder, b, first) && fits(finder, a, second),
                // Passed as they are, or by a function whose parameters are not known.
                (None, None) => a.operand.is_some_and(|_| a.ty == b.ty),
                _ => false,
            };
            if !exchangeable {
                continue;
            }
            if count == MOST_SWAPS {
                finder.found.refuse("SWAP of further arguments of a call");
                return;
            }
            count += 1;
            let source = &finder.builder.unit.source;
            let between =
                String::from_utf8_lossy(&source[a.span.end as usize..b.span.start as usize])
                    .into_owned();
            let exchanged = format!("{}{between}{}", b.text, a.text);
            let within = Span::new(a.span.start, b.span.end);
            let text = |from: u32, to: u32| finder.text(Span::new(from, to));
            let woven = format!(
                "{}{exchanged}{}",
                text(call.span.start, within.start),
                text(within.end, call.span.end)
            );
            found.push(Alternative {
                schema: Schema::Swap,
                cost: SWAP_COST,
                woven,
                edit: Edit::replace(within, exchanged),
            });
        }
    }
}

/// How well a function fits in the place of another; smaller is better.
type Likeness = (usize, String);

/// Another function called.
fn replaced(
    finder: &mut Finder<'_, '_, '_>,
    call: &Call,
    callees: &Callees<'_>,
    found: &mut Vec<Alternative>,
) {
    let declarations = &finder.builder.unit.declarations;
    let Some(old) = call
        .name
        .as_ref()
        .and_then(|name| declarations.get(name))
        .cloned()
    else {
        return;
    };
    if old.renamed || old.implicit {
        return;
    }
    let names: Vec<String> = declarations
        .keys()
        .filter(|name| **name != old.name && **name != finder.function.name && *name != "main")
        .filter(|name| old.name.starts_with('_') || !name.starts_with('_'))
        .cloned()
        .collect();
    let mut fitting: Vec<(Likeness, Declaration, Vec<usize>, bool)> = Vec::new();
    for name in names {
        let Some(new) = finder.builder.unit.declarations.get(&name).cloned() else {
            continue;
        };
        if !is_tried(&new, callees) || !finder.can_name(&name) {
            continue;
        }
        if let Some((order, alike)) = fitting_call(finder, call, &old, &new) {
            let distance = edit_distance(old.name.as_bytes(), name.as_bytes());
            let is_alike = alike == 0 && !new.in_system_header;
            let unlike = alike + distance + says_another_thing(call, &old, &new) as usize;
            fitting.push(((unlike, name), new, order, is_alike));
        }
    }
    fitting.sort_by(|a, b| a.0.cmp(&b.0));
    let mut others = 0;
    fitting.retain(|(_, new, ..)| {
        let kept = is_ctype(&old) && is_ctype(new) || others < MOST_FUNCTIONS;
        others += usize::from(!(is_ctype(&old) && is_ctype(new)));
        kept
    });
    for _ in MOST_FUNCTIONS..others {
        finder
            .found
            .refuse("FUNCTION: less similar functions in place of a call's");
    }
    for ((_, name), new, order, is_alike) in fitting {
        let texts: Vec<&str> = order
            .iter()
            .map(|&i| call.arguments[i].text.as_str())
            .collect();
        let arguments = texts.join(", ");
        let dropped = call.arguments.len() - order.len();
        let in_order = order
            .iter()
            .enumerate()
            .all(|(place, &taken)| place == taken);
        let edit = if dropped == 0 && in_order {
            Edit::replace(call.callee, name.clone())
        } else {
            Edit::replace(call.span, format!("{name}({arguments})"))
        };
        // A library that has one of <ctype.h> has them all, and may have macros for them.
        let is_there = callees.direct.contains(&name) || is_ctype(&old) && is_ctype(&new);
        let woven = linked(&name, is_there, &format!("{name}({arguments})"));
        found.push(Alternative {
            schema: Schema::Function,
            cost: match is_alike {
                true => ALIKE_COST,
                false => {
                    let of_arguments = dropped as u32 + u32::from(!in_order);
                    FUNCTION_COST + of_arguments + says_another_thing(call, &old, &new)
                }
            },
            woven,
            edit,
        });
    }
}

/// How unlikely it makes one function in the place of another that its value says another thing.
fn says_another_thing(call: &Call, old: &Declaration, new: &Declaration) -> u32 {
    let is_known = !call.discarded && old.in_system_header && new.in_system_header;
    match (meaning(&old.name), meaning(&new.name)) {
        (Some(old), Some(new)) if is_known && old != new => OTHER_MEANING,
        _ => 0,
    }
}

/// Returns the text that calls function `name`. `text` is the name or the call. If the function may be missing from the linked program
/// (`is_there` is false), the text ends the candidate's execution in that case: only the running program knows.
pub(crate) fn linked(name: &str, is_there: bool, text: &str) -> String {
    if is_there {
        return text.to_owned();
    }
    format!(
        "(__extension__({{__PW_LINKED({name});if(!&__pw_linked_{name})__pw_absent();__pw_linked_{text};}}))"
    )
}

/// Whether it is one of the functions of `<ctype.h>`.
fn is_ctype(function: &Declaration) -> bool {
    function.in_system_header && CTYPE_FUNCTIONS.contains(&function.name.as_str())
}

/// Whether a function may be called that the program does not call there, and is likely to be linked with it.
pub(crate) fn is_tried(new: &Declaration, callees: &Callees<'_>) -> bool {
    if new.renamed || new.implicit || new.weak || new.no_return || new.result.is_none() {
        return false;
    }
    let direct = callees.direct.contains(&new.name);
    if new.in_system_header {
        let of_family = |start: &&str| new.name.starts_with(*start);
        let drastic = changes_system(&new.name) || never_returns(&new.name);
        !drastic && (direct || FAMILIES.iter().any(of_family))
    } else {
        direct || (callees.linked)(&new.name)
    }
}

/// Which arguments the new function takes in which order, and how unlike the old one it is.
fn fitting_call(
    finder: &mut Finder<'_, '_, '_>,
    call: &Call,
    old: &Declaration,
    new: &Declaration,
) -> Option<(Vec<usize>, usize)> {
    let (old_result, new_result) = (old.result?, new.result?);
    if !call.discarded {
        let to = call.value?;
        let from = finder.builder.ctype(new_result)?;
        let named = |ctype| !is_function_pointer(finder, ctype);
        if !(named(from) && named(to) && same_kind(finder, Operand::from(from), to)) {
            return None;
        }
    }
    // The value is converted to that of the old function, if that has one.
    let returns = |finder: &Finder<'_, '_, '_>, ty| {
        !matches!(finder.builder.unit.types.kind(ty), TypeKind::Void)
    };
    if call.value.is_some()
        && (!returns(finder, new_result) || finder.builder.ctype(new_result).is_none())
    {
        return None;
    }
    if call.discarded && call.value.is_some() {
        // Casts of unlike values would be errors.
        let (from, to) = (finder.builder.ctype(new_result)?, call.value?);
        if !same_kind(finder, Operand::from(from), to) {
            return None;
        }
    }
    if !new.prototyped || new.variadic && !old.variadic {
        return None;
    }
    let mut taken = Vec::new();
    let wanted = &new.parameters;
    let in_order = take(finder, call, wanted, true, &mut taken)
        || !new.variadic && take(finder, call, wanted, false, &mut taken);
    if !in_order {
        return None;
    }
    let is_identity = taken
        .iter()
        .enumerate()
        .all(|(place, &argument)| place == argument);
    if new.variadic {
        // The others are passed as they are.
        if !is_identity || old.parameters.len() != wanted.len() {
            return None;
        }
        taken.extend(wanted.len()..call.arguments.len());
    }
    let dropped = call.arguments.len() - taken.len();
    let same_types = old.parameters == new.parameters && old_result == new_result;
    let unlike = 2 * dropped + 2 * usize::from(!is_identity) + 2 * usize::from(!same_types);
    Some((taken, unlike))
}

/// Gives each parameter an argument: the first that fits and works out for the others, too.
fn take(
    finder: &mut Finder<'_, '_, '_>,
    call: &Call,
    parameters: &[TypeId],
    in_order: bool,
    taken: &mut Vec<usize>,
) -> bool {
    let Some(&parameter) = parameters.get(taken.len()) else {
        return true;
    };
    let first = match (in_order, taken.last()) {
        (true, Some(last)) => last + 1,
        _ => 0,
    };
    for argument in first..call.arguments.len() {
        if taken.contains(&argument) || !fits(finder, &call.arguments[argument], parameter) {
            continue;
        }
        taken.push(argument);
        if take(finder, call, parameters, in_order, taken) {
            return true;
        }
        taken.pop();
    }
    false
}

/// Letters to add, remove and change to make one name of another.
pub(crate) fn edit_distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::edit_distance;

    #[test]
    fn names_are_alike_when_few_letters_differ() {
        assert_eq!(edit_distance(b"isalpha", b"isdigit"), 5);
        assert_eq!(edit_distance(b"strcmp", b"strncmp"), 1);
        assert_eq!(edit_distance(b"f", b""), 1);
        assert_eq!(edit_distance(b"same", b"same"), 0);
    }
}
