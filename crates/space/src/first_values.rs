//! INITIALIZATION of what is not local: `static int best = 1000;` for `static int best = 0;`, `int next = 1;` for `int next;`.
//!
//! Nothing reads the first value of a global before `main` begins. So an assignment at the beginning of `main` has the same effect. That
//! assignment is woven, and the change needs no build of its own. The same is done for elements of tables ([`tables`]). DECLARATION
//! covers globals of other files, and first values on which a type depends.

use patchwright_csource::{
    ExprKind, Function, StmtKind, Storage, UnaryOperator, VarId, lex, types::TypeKind,
};
use patchwright_text::{Edit, Span};

pub mod tables;

use crate::{
    choices::{Alternative, Callees, Finder, Form},
    space::Schema,
};

/// The value, and that it is far from what is seen to go wrong.
const COST: u32 = 2;

/// Most variables of one program, the first ones.
const MOST_VARIABLES: usize = 16;

/// Most values of one variable.
const MOST_VALUES: usize = 12;

/// Limits of `int`, with which people begin where they look for the least and the greatest.
const EXTREMES: [&str; 2] = ["INT_MAX", "INT_MIN"];

/// Adds other first values of global and static variables, in the function `main`.
pub(crate) fn find(finder: &mut Finder<'_, '_, '_>, callees: &Callees<'_>) {
    let function = finder.function;
    let unit = &finder.builder.unit;
    let begins_again = callees.defined.values().any(|all| all.contains("main"));
    if function.name != "main" || begins_again || mentions(&unit.source, "constructor") {
        return;
    }
    let StmtKind::Compound(inner) = &function.stmt(function.body).kind else {
        return;
    };
    let Some(&first) = inner.first() else {
        return;
    };
    let mut statements = finder.statements.iter();
    let Some(span) = statements.find(|one| one.id == first).map(|one| one.span) else {
        return;
    };
    let globals: Vec<VarId> = unit.globals.clone();
    let mut alternatives: Vec<Alternative> = Vec::new();
    let mut variables = 0;
    for id in globals {
        let Some(place) = place(finder, id) else {
            continue;
        };
        if variables == MOST_VARIABLES {
            finder
                .found
                .refuse("INITIALIZATION of further variables that are not local");
            break;
        }
        variables += 1;
        let name = finder.builder.unit.variable(id).name.clone();
        for value in values(finder, &name, place.now) {
            let text = match place.is_there {
                true => value.clone(),
                false => format!(" = {value}"),
            };
            alternatives.push(Alternative {
                schema: Schema::Initialization,
                cost: COST,
                woven: format!("{name} = {value};"),
                edit: Edit::replace(place.span, text),
            });
        }
    }
    alternatives.extend(tables::alternatives(finder));
    finder.add(span, None, Form::Before { is_body: false }, alternatives);
}

/// Where the first value of a variable stands, or is to stand.
struct Place {
    span: Span,
    /// It has one, and does not begin as zero for want of one.
    is_there: bool,
    now: i128,
}

/// Where a variable gets its first value, if that is a number and can be another one.
fn place(finder: &Finder<'_, '_, '_>, id: VarId) -> Option<Place> {
    let unit = &finder.builder.unit;
    let (variable, declared) = (unit.variable(id), &unit.declared[id.0 as usize]);
    let qualifiers = unit.types.qualifiers(variable.ty);
    let is_plain = matches!(
        unit.types.kind(variable.ty),
        TypeKind::Integer(_) | TypeKind::Float(_)
    );
    let function = finder.function;
    let mut own = function.locals.iter().chain(&function.parameters);
    let is_hidden = own.any(|&own| unit.variable(own).name == variable.name);
    let is_alias = unit.aliases.contains_key(&variable.name)
        || unit.aliases.values().any(|of| *of == variable.name);
    let at = variable
        .declared_at
        .filter(|&at| at < function.span.start)?;
    if variable.storage != Storage::Global
        || declared.is_extern
        || variable.thread_local
        || variable.in_system_header
        || qualifiers.is_const
        || qualifiers.is_volatile
        || !is_plain
        || is_hidden
        || is_alias
    {
        return None;
    }
    let mut initializers = unit.initializers.iter();
    if let Some(initializer) = initializers.find(|initializer| initializer.variable == id) {
        let value = initializer.arena.stripped(initializer.value);
        let span = initializer.arena.expr(initializer.value).place.editable()?;
        let now = number(&initializer.arena, value)?;
        return Some(Place {
            span,
            is_there: true,
            now,
        });
    }
    let end = at as usize + variable.name.len();
    let source = &unit.source;
    let is_name = source.get(at as usize..end) == Some(variable.name.as_bytes());
    let next = source.get(end..)?.trim_ascii_start().first();
    (is_name && matches!(next, Some(b';' | b','))).then(|| Place {
        span: Span::empty(end as u32),
        is_there: false,
        now: 0,
    })
}

/// The number that an expression is.
fn number(function: &Function, id: patchwright_csource::ExprId) -> Option<i128> {
    let id = function.stripped(id);
    match function.expr(id).kind {
        ExprKind::Integer {
            value,
            character: false,
            ..
        } => Some(value),
        ExprKind::Unary {
            operator: UnaryOperator::Minus,
            operand,
        } => number(function, operand).map(|value| -value),
        ExprKind::Cast { operand, .. } => number(function, operand),
        _ => None,
    }
}

/// Returns numbers that the variable `name` may begin with instead of `now`, as text: the neighbours of `now`, usual first values, numbers in
/// statements with its name, and the limits of its type.
fn values(finder: &Finder<'_, '_, '_>, name: &str, now: i128) -> Vec<String> {
    let unit = &finder.builder.unit;
    let mut found: Vec<String> = Vec::new();
    let now = now.to_string();
    let mut add = |value: String| {
        if value != now && !found.contains(&value) {
            found.push(value);
        }
    };
    let number: i128 = now.parse().unwrap_or_default();
    for value in [0, 1, -1, number + 1, number - 1] {
        add(value.to_string());
    }
    let source = String::from_utf8_lossy(&unit.source);
    for words in lex::statements(&source) {
        if !words.contains(&name) {
            continue;
        }
        for word in words {
            if word.starts_with(|first: char| first.is_ascii_digit()) && word.parse::<i64>().is_ok()
            {
                add(word.to_owned());
            }
        }
    }
    for extreme in EXTREMES {
        if unit.macros.iter().any(|known| known.name == extreme) {
            add(extreme.to_owned());
        }
    }
    found.truncate(MOST_VALUES);
    found
}

/// Whether a text has this word.
fn mentions(text: &[u8], word: &str) -> bool {
    lex::words(text).iter().any(|known| known == word)
}
