//! INITIALIZATION: variables, arrays, structures and fresh memory that begin as zero.
//!
//! A declaration without an initialiser gets one. An array or a structure that a statement mentions is cleared
//! before it. (`malloc` to `calloc` is a change of a call: [`crate::calls`].)
//!
//! Reading a variable without a value is undefined: the unchanged program depends on what its stack holds. The changed one
//! does not, so one execution of each test decides.

use patchwright_csource::{
    ExprId, ExprKind, StmtKind, Storage, UnaryOperator, VarId, lex,
    types::{TypeId, TypeKind, TypeTable},
};
use patchwright_text::{Edit, Span};

use crate::constants::null;
use crate::{
    choices::{Alternative, Finder, Form, Standing},
    insertion::insertion,
    space::Schema,
};

/// The declaration and its initialiser.
const DECLARED_COST: u32 = 2;

/// The statement, the call and what it is given.
const CLEARED_COST: u32 = 5;

/// An array is mostly used again and again, and its text says all but its name.
const CLEARED_ARRAY_COST: u32 = 3;

/// Most objects that are cleared before one statement.
const MOST_CLEARED: usize = 3;

/// Adds variables, arrays, structures and fresh memory that begin as zero.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>) {
    for standing in finder.statements.clone() {
        let declared = match &finder.function.stmt(standing.id).kind {
            StmtKind::Declaration(variables) => Some(variables.clone()),
            _ => None,
        };
        match declared {
            Some(variables) if standing.block.is_some() => {
                let found = variables
                    .iter()
                    .enumerate()
                    .filter_map(|(i, &id)| declared_zero(finder, id, &variables[i + 1..]));
                // The finder is borrowed by the filter.
                let found: Vec<(Alternative, String)> = found.collect();
                let (found, unset): (Vec<_>, Vec<_>) = found.into_iter().unzip();
                finder.add(standing.span, None, Form::After { unset }, found);
            }
            Some(_) => {}
            None => cleared(finder, &standing),
        }
    }
}

/// `T x;` as `T x = 0;`, and the variable's name. The woven text comes after the whole declaration, so the `later` variables of it must not
/// read this one.
fn declared_zero(
    finder: &mut Finder<'_, '_, '_>,
    id: VarId,
    later: &[VarId],
) -> Option<(Alternative, String)> {
    let variable = finder.builder.unit.variable(id).clone();
    if variable.storage != Storage::Local || variable.initializer.is_some() {
        return None;
    }
    let types = &finder.builder.unit.types;
    if types.qualifiers(variable.ty).is_const {
        finder.found.refuse("INITIALIZATION of a constant variable");
        return None;
    }
    let (value, by_bytes) = match types.kind(variable.ty) {
        TypeKind::VariableArray(..) => {
            finder
                .found
                .refuse("INITIALIZATION of an array of variable length");
            return None;
        }
        TypeKind::Array(of, _) if types.qualifiers(*of).is_const => {
            finder.found.refuse("INITIALIZATION of a constant variable");
            return None;
        }
        TypeKind::Record(record) if types.record(*record).is_union => {
            // An initialiser sets its first member only.
            finder.found.refuse("INITIALIZATION of a union");
            return None;
        }
        TypeKind::Record(_) | TypeKind::Array(..) => {
            types.size(variable.ty)?;
            ("{0}", true)
        }
        TypeKind::Pointer(_) => (null(finder.builder.unit.source.as_slice()), false),
        TypeKind::Integer(_) | TypeKind::Enum { .. } => ("0", false),
        TypeKind::Float(_) => ("0.0", false),
        _ => {
            finder
                .found
                .refuse("INITIALIZATION of a type that is not modelled");
            return None;
        }
    };
    let reads = |other: &VarId| {
        let initializer = finder.builder.unit.variable(*other).initializer;
        initializer.is_some_and(|value| finder.function.mentions(value, id))
    };
    if later.iter().any(reads) {
        finder
            .found
            .refuse("INITIALIZATION of a variable that its own declaration reads");
        return None;
    }
    let source = &finder.builder.unit.source;
    let end = declarator_end(source, variable.declared_at?, &variable.name);
    let Some(end) = end else {
        finder
            .found
            .refuse("INITIALIZATION of a variable whose declaration is not plain text");
        return None;
    };
    let name = &variable.name;
    let woven = match by_bytes {
        true => format!("__builtin_memset((void *)&{name},0,sizeof({name}));"),
        false => format!("{name}=0;"),
    };
    let alternative = Alternative {
        schema: Schema::Initialization,
        cost: DECLARED_COST,
        woven,
        edit: Edit::insert(end, format!(" = {value}")),
    };
    Some((alternative, variable.name))
}

/// Where the initialiser of a declarator belongs: behind its last token. `None` where the text has comments,
/// directives or attributes there, or the name comes from a macro.
fn declarator_end(source: &[u8], name_at: u32, name: &str) -> Option<u32> {
    let start = name_at as usize;
    let text = source.get(start..)?;
    let mut tokens = lex::Tokens::new(text);
    let mut last = tokens.next().filter(|token| token.is(name))?;
    let declares = |byte: &u8| b";{}".contains(byte);
    let from = source[..start].iter().rposition(declares);
    let from = from.map_or(0, |at| at + 1);
    let before: Vec<lex::Token<'_>> = lex::Tokens::new(&source[from..start]).collect();
    let stars = before
        .iter()
        .rev()
        .take_while(|token| token.is("*"))
        .count();
    // `(*f)(int)`: the name stands in parentheses.
    let opens = before.iter().rev().nth(stars);
    let mut depth = usize::from(stars > 0 && opens.is_some_and(|token| token.is("(")));
    for token in tokens {
        let is_plain = |text: &[u8]| !text.iter().any(|byte| b"/#\"'{=".contains(byte));
        if !is_plain(token.raw) || !is_plain(&text[last.end()..token.start]) {
            return None;
        }
        match token.raw {
            b"," | b";" if depth == 0 => return Some((start + last.end()) as u32),
            b"(" | b"[" => depth += 1,
            b")" | b"]" => depth = depth.checked_sub(1)?,
            word if depth == 0 && lex::is_word_start(word[0]) => return None,
            _ => {}
        }
        last = token;
    }
    None
}

/// `memset(&s, 0, sizeof s);` before a statement that mentions `s` first.
fn cleared(finder: &mut Finder<'_, '_, '_>, standing: &Standing) {
    // What a loop changes may have to be cleared before it.
    let mut arrays = Vec::new();
    if finder.function.stmt(standing.id).kind.loop_body().is_some() {
        written_arrays(finder, standing.span, &mut arrays);
    }
    let heads: Vec<ExprId> = match &finder.function.stmt(standing.id).kind {
        StmtKind::Expression(expr) => vec![*expr],
        StmtKind::If { condition, .. }
        | StmtKind::While { condition, .. }
        | StmtKind::Switch { condition, .. } => vec![*condition],
        StmtKind::Return(Some(value)) => vec![*value],
        StmtKind::For {
            init: None,
            condition,
            ..
        } => condition.iter().copied().collect(),
        StmtKind::For { .. } | StmtKind::Do { .. } => Vec::new(),
        _ => return,
    };
    let mut variables = Vec::new();
    for head in heads {
        named(finder, head, &mut variables);
    }
    variables.retain(|id| !arrays.contains(id));
    let variables = arrays.into_iter().chain(variables);
    let mut found = Vec::new();
    for id in variables {
        if found.len() == MOST_CLEARED {
            break;
        }
        let is_global = finder.builder.unit.variable(id).storage == Storage::Global;
        if is_global || standing.scope.visible.contains(&id) {
            found.extend(clear(finder, standing, id));
        }
    }
    let is_body = standing.is_body;
    finder.add(standing.span, None, Form::Before { is_body }, found);
}

/// The arrays with elements that are assigned to in a part of the source.
fn written_arrays(finder: &Finder<'_, '_, '_>, within: Span, found: &mut Vec<VarId>) {
    let function = finder.function;
    for expr in &function.exprs {
        let is_within = expr
            .place
            .editable()
            .is_some_and(|span| within.contains_span(span));
        let target = match expr.kind {
            ExprKind::Assign { target, .. } => target,
            ExprKind::Unary {
                operator: UnaryOperator::Step,
                operand,
            } => operand,
            _ => continue,
        };
        let mut target = function.stripped(target);
        while let ExprKind::Subscript { base, .. } = function.expr(target).kind {
            target = function.stripped(base);
        }
        if let ExprKind::Variable(id) = function.expr(target).kind
            && is_within
            && is_array(finder, id)
            && !found.contains(&id)
        {
            found.push(id);
        }
    }
}

fn is_array(finder: &Finder<'_, '_, '_>, id: VarId) -> bool {
    let ty = finder.builder.unit.variable(id).ty;
    matches!(finder.builder.unit.types.kind(ty), TypeKind::Array(..))
}

fn named(finder: &Finder<'_, '_, '_>, expr: ExprId, found: &mut Vec<VarId>) {
    if !finder.function.expr(expr).evaluated {
        return;
    }
    if let ExprKind::Variable(id) = finder.function.expr(expr).kind
        && !found.contains(&id)
    {
        found.push(id);
    }
    for child in finder.function.children(expr) {
        named(finder, child, found);
    }
}

fn clear(finder: &mut Finder<'_, '_, '_>, standing: &Standing, id: VarId) -> Option<Alternative> {
    let variable = finder.builder.unit.variable(id).clone();
    let is_global = variable.storage == Storage::Global;
    let is_before = |at: u32| at < finder.function.span.start;
    if is_global
        && (!is_array(finder, id)
            || !variable.declared_at.is_some_and(is_before)
            || finder.is_hidden(&variable.name))
    {
        return None;
    }
    let types = &finder.builder.unit.types;
    let qualifiers = types.qualifiers(variable.ty);
    if qualifiers.is_volatile || qualifiers.is_atomic {
        return None;
    }
    let name = &variable.name;
    let object = match types.kind(variable.ty) {
        TypeKind::Pointer(to) => *to,
        _ => variable.ty,
    };
    if has_constant_member(types, object) {
        finder
            .found
            .refuse("INITIALIZATION of a structure with a constant member");
        return None;
    }
    let is_record = |ty| matches!(types.kind(ty), TypeKind::Record(_)) && types.size(ty).is_some();
    let (object, size, record) = match types.kind(variable.ty) {
        TypeKind::Record(_) if is_record(variable.ty) && !qualifiers.is_const => (
            format!("&{name}"),
            format!("sizeof {name}"),
            Some(variable.ty),
        ),
        TypeKind::Array(of, Some(_)) if !types.qualifiers(*of).is_const => {
            types.size(variable.ty)?;
            (name.clone(), format!("sizeof {name}"), None)
        }
        TypeKind::Pointer(to)
            if is_record(*to)
                && !types.qualifiers(*to).is_const
                && standing.scope.assigned.contains(&id) =>
        {
            (name.clone(), format!("sizeof *{name}"), None)
        }
        _ => return None,
    };
    let text = if finder.can_name("memset") {
        format!("memset({object}, 0, {size});")
    } else {
        let spelling = record.and_then(|ty| finder.builder.unit.types.spelling(ty));
        let Some(spelling) = spelling else {
            finder
                .found
                .refuse("INITIALIZATION by memset, which the source does not declare");
            return None;
        };
        format!("{name} = ({spelling}){{0}};")
    };
    let cost = match is_array(finder, id) {
        true => CLEARED_ARRAY_COST,
        false => CLEARED_COST,
    };
    let source = &finder.builder.unit.source;
    Some(Alternative {
        schema: Schema::Initialization,
        cost,
        edit: insertion(source, standing.span, standing.is_body, &text),
        woven: text,
    })
}

/// Whether something in an object cannot be assigned to.
fn has_constant_member(types: &TypeTable, ty: TypeId) -> bool {
    match types.kind(ty) {
        TypeKind::Record(record) => types.record(*record).fields.iter().flatten().any(|field| {
            types.qualifiers(field.ty).is_const || has_constant_member(types, field.ty)
        }),
        TypeKind::Array(of, _) => types.qualifiers(*of).is_const || has_constant_member(types, *of),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::declarator_end;

    #[test]
    fn an_initialiser_stands_behind_the_declarator() {
        let end = |source: &str, name: &str| {
            let at = source.rfind(name).unwrap();
            let end = declarator_end(source.as_bytes(), at as u32, name)? as usize;
            Some(source[..end].to_owned())
        };
        assert_eq!(end("int x;", "x").as_deref(), Some("int x"));
        assert_eq!(end("int *p , q;", "p").as_deref(), Some("int *p"));
        assert_eq!(
            end("char a[2][N + 1] ;", "a").as_deref(),
            Some("char a[2][N + 1]")
        );
        assert_eq!(
            end("int (*f)(int, char);", "f").as_deref(),
            Some("int (*f)(int, char)")
        );
        assert_eq!(end("int x __attribute__((unused));", "x"), None);
        assert_eq!(end("int x /* ; */;", "x"), None);
        assert_eq!(end("DECLARE(y);", "y"), None);
    }
}
