//! Describes the inputs of a function. The encoding, the harness and the report are all made of this
//! description.
//!
//! A pointer is null, or leads to objects of its own, to the object of another pointer of a compatible type, to a place in its
//! array, or to a global. A pointer to `void` leads to bytes, or to what the function takes it for. A pointer to a function is
//! any function of its type.

mod sharing;

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::{
    ExprKind, Function, TranslationUnit, VarId, lex,
    types::{IntegerKind, TypeId, TypeKind, TypeTable},
};
use patchwright_ir::Type;
use patchwright_lower::{lower, scalar};
use patchwright_symbolic::{
    ParameterShape, Shape,
    inputs::given_members,
    naming,
    uses::{Use, uses},
};

use crate::source::{EntryError, Source, find};
pub use sharing::connect;
use sharing::pointers_of;
pub(crate) use sharing::{are_compatible, has_pointers};

/// What the user's flags say about inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wishes {
    /// `--length p=8`: pointers, and how many objects they lead to.
    pub lengths: BTreeMap<String, u64>,
    /// `--alias a,b`: pointers that may lead to the same, whatever else is said.
    pub alias: Vec<(String, String)>,
    /// `--null p`: pointers that may be null.
    pub null: BTreeSet<String>,
    /// `--text p`: pointers that lead to bytes which end with a NUL.
    pub text: BTreeSet<String>,
    /// `--may-alias`: pointers of compatible types may lead to the same.
    pub may_alias: bool,
    /// `--nodes`: so many structures that point to each other in a row.
    pub nodes: u32,
    /// Pointers in structures may lead back to others, and several to one.
    pub links: bool,
    /// Parameters may be null, also where the function does not ask for it.
    pub usually_null: bool,
}

impl Default for Wishes {
    fn default() -> Wishes {
        Wishes {
            lengths: BTreeMap::new(),
            alias: Vec::new(),
            null: BTreeSet::new(),
            text: BTreeSet::new(),
            may_alias: true,
            nodes: 3,
            links: false,
            usually_null: false,
        }
    }
}

impl Wishes {
    /// Returns the wishes for a function whose parameters have other names. Each pair of `names` has
    /// the other name and the name in the wishes.
    #[must_use]
    pub fn renamed(&self, names: &[(String, String)]) -> Wishes {
        let other = |text: &String| -> String {
            let mut new = text.clone();
            for (to, from) in names {
                new = with_name(&new, from, to);
            }
            new
        };
        Wishes {
            lengths: self
                .lengths
                .iter()
                .map(|(name, &count)| (other(name), count))
                .collect(),
            alias: self
                .alias
                .iter()
                .map(|(a, b)| (other(a), other(b)))
                .collect(),
            null: self.null.iter().map(other).collect(),
            text: self.text.iter().map(other).collect(),
            ..self.clone()
        }
    }
}

/// A text in which a name stands for another one.
fn with_name(text: &str, from: &str, to: &str) -> String {
    let is_part = lex::is_word_char;
    let mut new = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(from) {
        let (before, behind) = (&rest[..at], &rest[at + from.len()..]);
        let is_whole = !before.ends_with(is_part) && !behind.starts_with(is_part);
        new.push_str(before);
        new.push_str(if is_whole { to } else { from });
        rest = behind;
    }
    new.push_str(rest);
    new
}

/// Bytes that a pointer to bytes leads to.
const BYTES: u64 = 8;
/// Numbers that a pointer leads to from which the function goes on, or which a structure holds.
const NUMBERS: u64 = 4;
/// Other objects that a pointer leads to from which the function goes on.
const OBJECTS: u64 = 2;
/// What else one pointer may lead to, at most.
const MOST_WAYS: usize = 6;
/// Globals that pointers may lead to, at most.
const MOST_GLOBALS: usize = 4;
/// The most elements behind the first of an array that a pointer leads to.
const FARTHEST: u64 = 255;

/// Returns the shapes of a function's parameters. [`connect`] adds what they may point to that is not
/// their own.
///
/// # Errors
/// When there is no such function, or a parameter has a type that is not known.
pub fn parameters(
    sources: &[Source],
    name: &str,
    wishes: &Wishes,
) -> Result<Vec<ParameterShape>, EntryError> {
    let (position, function) = find(sources, name)?;
    let unit = &sources[position].unit;
    let is_pointer =
        |&id: &VarId| matches!(unit.types.kind(unit.variable(id).ty), TypeKind::Pointer(_));
    let used = match function.parameters.iter().any(is_pointer) {
        true => {
            let module = lower(unit, &sources[position].path);
            let own = module
                .functions
                .iter()
                .find(|one| one.name == name && one.is_defined());
            own.map(uses).unwrap_or_default()
        }
        false => Vec::new(),
    };
    let mut shapes = Vec::new();
    for (index, &parameter) in function.parameters.iter().enumerate() {
        let variable = unit.variable(parameter);
        let used = used.get(index).copied().unwrap_or_default();
        let builder = Builder {
            types: &unit.types,
            wishes,
            used,
            declared: declared_count(unit, function, &variable.name),
            taken_for: taken_for(unit, function, parameter),
        };
        let shape = match promoted(unit, name, index, variable.ty) {
            Some(ty) => Some(Shape::Scalar(ty)),
            None => builder.shape(variable.ty, &variable.name, 0, false),
        };
        let unknown = || EntryError::Parameter {
            function: name.to_owned(),
            parameter: variable.name.clone(),
        };
        shapes.push(ParameterShape {
            name: variable.name.clone(),
            shape: shape.ok_or_else(unknown)?,
            ways: Vec::new(),
            before: Vec::new(),
            outside: Vec::new(),
        });
    }
    Ok(shapes)
}

/// The type in which a caller hands over a parameter of this type, if that is another one. The caller of an old-style
/// definition promotes the argument, and the function narrows it.
fn promoted(unit: &TranslationUnit, function: &str, index: usize, ty: TypeId) -> Option<Type> {
    let passed = unit.declarations.get(function)?.parameters.get(index)?;
    let (own, passed) = (scalar(&unit.types, ty)?, scalar(&unit.types, *passed)?);
    (passed != own).then_some(passed)
}

/// Returns the shape of a function's result, if it is a structure or union whose members are known.
pub fn returned_record(sources: &[Source], name: &str) -> Option<Shape> {
    let (position, function) = find(sources, name).ok()?;
    let builder = Builder {
        types: &sources[position].unit.types,
        wishes: &Wishes::default(),
        used: Use::default(),
        declared: None,
        taken_for: None,
    };
    let shape = builder.shape(function.return_type, "result", 0, false)?;
    matches!(shape, Shape::Record { .. }).then_some(shape)
}

/// So many objects has the array that a parameter is declared to be: `int name[4]`.
fn declared_count(unit: &TranslationUnit, function: &Function, name: &str) -> Option<u64> {
    // The text of headers is not here.
    if !unit.functions.iter().any(|own| own.name == function.name) {
        return None;
    }
    let (from, to) = (
        function.span.start as usize,
        function.body_span.start as usize,
    );
    let head = String::from_utf8_lossy(unit.source.get(from..to)?);
    let is_part = lex::is_word_char;
    head.match_indices(name).find_map(|(at, _)| {
        if head[..at].ends_with(is_part) {
            return None;
        }
        let rest = head[at + name.len()..].trim_start().strip_prefix('[')?;
        let inner = rest.split_once(']')?.0;
        let count = inner.split_whitespace().last()?.parse().ok()?;
        (count > 0).then_some(count)
    })
}

/// The pointer that a function makes of a parameter which points to `void`, if that is only one: its type.
fn taken_for(unit: &TranslationUnit, function: &Function, parameter: VarId) -> Option<TypeId> {
    let types = &unit.types;
    let TypeKind::Pointer(to) = types.kind(unit.variable(parameter).ty) else {
        return None;
    };
    if !matches!(types.kind(*to), TypeKind::Void) {
        return None;
    }
    let mut found: Vec<TypeId> = Vec::new();
    for expr in &function.exprs {
        let ExprKind::Cast { operand, .. } = expr.kind else {
            continue;
        };
        let TypeKind::Pointer(to) = types.kind(expr.ty) else {
            continue;
        };
        let mut inner = operand;
        while let ExprKind::Cast { operand, .. } | ExprKind::Paren(operand) =
            function.expr(inner).kind
        {
            inner = operand;
        }
        let is_it = matches!(function.expr(inner).kind, ExprKind::Variable(id) if id == parameter);
        let is_object = types.size_and_align(*to).is_some_and(|(size, _)| size > 1)
            && !matches!(types.kind(*to), TypeKind::Void | TypeKind::Function);
        let is_known = found.iter().any(|&one| types.kind(one) == types.kind(*to));
        if is_it && is_object && !is_known {
            found.push(*to);
        }
    }
    match found.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

fn is_array(types: &TypeTable, ty: TypeId) -> bool {
    matches!(
        types.kind(ty),
        TypeKind::Array(..) | TypeKind::VariableArray(..)
    )
}

/// Makes shapes of types.
struct Builder<'a> {
    types: &'a TypeTable,
    wishes: &'a Wishes,
    used: Use,
    declared: Option<u64>,
    taken_for: Option<TypeId>,
}

impl Builder<'_> {
    /// What an object of a type is that C calls `name`, behind so many pointers. `is_last` says that it may be longer than its type
    /// says: it is one object behind a pointer.
    fn shape(&self, ty: TypeId, name: &str, depth: u32, is_last: bool) -> Option<Shape> {
        match self.types.kind(ty) {
            TypeKind::Pointer(to) => self.pointer(*to, name, depth),
            TypeKind::Array(of, Some(count)) => Some(Shape::Array {
                element: Box::new(self.shape(*of, &naming::element(name, 0), depth, false)?),
                count: *count,
            }),
            TypeKind::Record(_) => self.record(ty, name, depth, is_last),
            _ => scalar(self.types, ty).map(Shape::Scalar),
        }
    }

    fn pointer(&self, to: TypeId, name: &str, depth: u32) -> Option<Shape> {
        let types = self.types;
        let is_null = |nullable| Shape::Pointer {
            to: None,
            count: 1,
            nullable,
            text: false,
            cast: None,
        };
        // What lies in a structure that is handed over is no parameter itself.
        let is_parameter = depth == 0 && !name.contains(['.', '[']);
        let nullable = match is_parameter {
            true => {
                self.wishes.null.contains(name)
                    || self.declared.is_none() && (self.used.tested || self.wishes.usually_null)
            }
            false => true,
        };
        if matches!(types.kind(to), TypeKind::Function) {
            return Some(Shape::Function { nullable });
        }
        let (to, cast) = match (types.kind(to), self.taken_for) {
            // An array whose length is computed: its elements follow each other.
            _ if types.is_variable(to) => {
                let mut element = to;
                while let (true, Some(of)) = (is_array(types, element), types.element(element)) {
                    element = of;
                }
                (Some(element), types.spelling(element))
            }
            (TypeKind::Void, Some(other)) if is_parameter => (Some(other), types.spelling(other)),
            (TypeKind::Void, _) => (None, Some("unsigned char".to_owned())),
            _ => (Some(to), None),
        };
        let is_record = to.is_some_and(|to| matches!(types.kind(to), TypeKind::Record(_)));
        // What is deeper is null.
        if depth >= self.wishes.nodes + u32::from(!is_record) {
            return Some(Shape::Scalar(Type::Ptr));
        }
        let cast = cast.map(|cast| format!("{} *", cast.replace("const ", "")));
        let typed = match &cast {
            Some(cast) => naming::cast(name, cast),
            None => name.to_owned(),
        };
        let is_flexible = to.is_some_and(|to| self.flexible(to).is_some());
        let inner_named = |name: &str| match to {
            None => Some(Shape::Scalar(Type::U8)),
            Some(to) => self.shape(to, name, depth + 1, true),
        };
        let inner = inner_named(&naming::pointed(&typed, 1));
        // What is not a complete type cannot be made; there is no object, then.
        let Some(inner) = inner.filter(|inner| inner.size() > 0) else {
            return Some(is_null(true));
        };
        let is_bytes = matches!(&inner, Shape::Scalar(ty) if ty.size() == 1);
        let is_text = to.is_some_and(|to| {
            matches!(types.kind(to), TypeKind::Integer(IntegerKind::Char))
                && types.qualifiers(to).is_const
        });
        // What is declared as an array is one, up to its end.
        let is_array = is_parameter && self.declared.is_some();
        let text = is_bytes && (is_text && !is_array || self.wishes.text.contains(name));
        let usual = match &inner {
            _ if is_flexible => 1,
            _ if is_bytes => BYTES,
            Shape::Scalar(ty)
                if *ty != Type::Ptr && (!is_parameter || self.used.moves || self.used.hands_on) =>
            {
                NUMBERS
            }
            _ if is_parameter && self.used.moves => OBJECTS,
            _ => 1,
        };
        let said = self.wishes.lengths.get(name).copied();
        let declared = self.declared.filter(|_| is_parameter);
        let count = match is_flexible {
            true => 1,
            false => said.or(declared).unwrap_or(usual),
        };
        // Of several the names of what is behind them have an index.
        let inner = match count {
            1 => inner,
            _ => inner_named(&naming::element(&typed, 0))?,
        };
        Some(Shape::Pointer {
            to: Some(Box::new(inner)),
            count,
            nullable,
            text,
            cast,
        })
    }

    /// The element of the array without a length that a structure ends with, and its member's number.
    fn flexible(&self, ty: TypeId) -> Option<(usize, TypeId)> {
        let TypeKind::Record(record) = self.types.kind(ty) else {
            return None;
        };
        let record = self.types.record(*record);
        let fields = record.fields.as_ref()?;
        match (
            record.is_union,
            fields.last().map(|field| self.types.kind(field.ty)),
        ) {
            (false, Some(TypeKind::Array(of, None | Some(0)))) => Some((fields.len() - 1, *of)),
            _ => None,
        }
    }

    fn record(&self, ty: TypeId, name: &str, depth: u32, is_last: bool) -> Option<Shape> {
        let TypeKind::Record(id) = self.types.kind(ty) else {
            return None;
        };
        let (record, layout) = (self.types.record(*id), self.types.layout(*id)?);
        let fields = record.fields.as_ref()?;
        let has_bits = fields.iter().any(|field| field.bit_width.is_some());
        let mut size = layout.size;
        if has_bits || fields.iter().any(|field| field.name.is_empty()) {
            // What is not whole bytes, or has no name, is given byte by byte.
            let bytes = (0..size).map(|at| (at, format!("byte{at}"), Shape::Scalar(Type::U8)));
            return Some(Shape::Record {
                size,
                members: bytes.collect(),
            });
        }
        let flexible = self.flexible(ty);
        let mut members = Vec::new();
        for (index, (field, bits)) in fields.iter().zip(&layout.offsets).enumerate() {
            let member = naming::member(name, &field.name);
            let inner = match flexible {
                Some((last, of)) if last == index => {
                    if !is_last {
                        continue;
                    }
                    let element = self.shape(of, &naming::element(&member, 0), depth, false)?;
                    let usual = if element.size() == 1 { BYTES } else { NUMBERS };
                    let said = self.wishes.lengths.get(&member).copied();
                    let array = Shape::Array {
                        count: said.unwrap_or(usual),
                        element: Box::new(element),
                    };
                    size = size.max(bits / 8 + array.size());
                    array
                }
                _ => self.shape(field.ty, &member, depth, false)?,
            };
            members.push((bits / 8, field.name.clone(), inner));
        }
        if record.is_union {
            // The largest stands for all of them.
            members.sort_by_key(|(_, _, shape)| std::cmp::Reverse(shape.size()));
        }
        Some(Shape::Record { size, members })
    }
}

/// Checks that all names in `wishes` are pointers of the inputs.
///
/// # Errors
/// The first one that is none.
pub fn check(
    versions: &[&[ParameterShape]],
    function: &str,
    wishes: &Wishes,
) -> Result<(), EntryError> {
    let mut names: Vec<String> = Vec::new();
    let mut long: Vec<(String, u64)> = Vec::new();
    for parameter in versions.iter().flat_map(|one| one.iter()) {
        name_all(&parameter.shape, &parameter.name, &mut names, &mut long);
    }
    let refuse = |flag: String, name: &str, all: &[String]| EntryError::Flag {
        flag,
        function: function.to_owned(),
        name: name.to_owned(),
        known: listed(all),
    };
    for (name, count) in &wishes.lengths {
        if !long.contains(&(name.clone(), *count)) {
            let all: Vec<String> = long.iter().map(|(name, _)| name.clone()).collect();
            return Err(refuse(format!("--length {name}={count}"), name, &all));
        }
    }
    let alias = wishes.alias.iter();
    let alias = alias.flat_map(|(a, b)| {
        [
            (a, format!("--alias {a},{b}")),
            (b, format!("--alias {a},{b}")),
        ]
    });
    let null = wishes
        .null
        .iter()
        .map(|name| (name, format!("--null {name}")));
    for (name, flag) in alias.chain(null) {
        if !names.contains(name) {
            return Err(refuse(flag, name, &names));
        }
    }
    for name in &wishes.text {
        let is_text = versions.iter().flat_map(|one| one.iter()).any(|parameter| {
            let all = pointers_of(parameter);
            all.iter().any(|one| one.name == *name && one.text)
        });
        if !is_text {
            return Err(EntryError::Text {
                function: function.to_owned(),
                name: name.clone(),
            });
        }
    }
    Ok(())
}

fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    let mut all: Vec<String> = names
        .iter()
        .take(MOST)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.len() > MOST {
        all.push("…".to_owned());
    }
    match all.is_empty() {
        true => "there are none".to_owned(),
        false => format!("there are: {}", all.join(", ")),
    }
}

/// The names of all pointers, and of all that has a length, with that.
fn name_all(shape: &Shape, name: &str, names: &mut Vec<String>, long: &mut Vec<(String, u64)>) {
    match shape {
        Shape::Scalar(_) | Shape::Pointer { to: None, .. } => {}
        Shape::Function { .. } => add(names, name.to_owned()),
        Shape::Record { members, .. } => {
            for (_, member, shape) in given_members(members) {
                name_all(shape, &naming::member(name, member), names, long);
            }
        }
        Shape::Array { element, count } => {
            add(long, (name.to_owned(), *count));
            name_all(element, &naming::element(name, 0), names, long);
        }
        Shape::Pointer {
            to: Some(to),
            count,
            ..
        } => {
            add(names, name.to_owned());
            add(long, (name.to_owned(), *count));
            let typed = shape.typed(name);
            name_all(to, &naming::behind(&typed, *count, 0, to), names, long);
        }
    }
}

fn add<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
    }
}
