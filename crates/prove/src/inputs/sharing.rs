//! Says which pointers of a function may lead to the same objects.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::{ExprKind, VarId, types::TypeKind};
use patchwright_ir::Type;
use patchwright_symbolic::{
    ParameterShape, Shape,
    inputs::{Before, Target, Way, given_members},
    naming,
    uses::Use,
};

use super::{Builder, FARTHEST, MOST_GLOBALS, MOST_WAYS, Wishes, add};
use crate::source::{Source, find};

/// A pointer among the inputs.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub(super) name: String,
    typed: String,
    parameter: String,
    /// It is a parameter itself, and no part of memory.
    is_parameter: bool,
    to: Shape,
    count: u64,
    pub(super) text: bool,
}

/// All pointers of a parameter, in the order in which they get their values.
pub(super) fn pointers_of(parameter: &ParameterShape) -> Vec<Pointer> {
    let mut all = Vec::new();
    collect(&parameter.shape, &parameter.name, parameter, &mut all);
    all
}

/// Adds the pointers of a shape, and of the shapes to which they lead.
pub(super) fn collect(
    shape: &Shape,
    name: &str,
    parameter: &ParameterShape,
    all: &mut Vec<Pointer>,
) {
    match shape {
        Shape::Scalar(_) | Shape::Function { .. } | Shape::Pointer { to: None, .. } => {}
        Shape::Record { members, .. } => {
            for (_, member, shape) in given_members(members) {
                collect(shape, &naming::member(name, member), parameter, all);
            }
        }
        Shape::Array { element, count } => {
            for index in 0..*count {
                collect(element, &naming::element(name, index), parameter, all);
            }
        }
        Shape::Pointer {
            to: Some(to),
            count,
            text,
            ..
        } => {
            let typed = shape.typed(name);
            all.push(Pointer {
                name: name.to_owned(),
                typed: typed.clone(),
                parameter: parameter.name.clone(),
                is_parameter: name == parameter.name,
                to: to.as_ref().clone(),
                count: *count,
                text: *text,
            });
            for index in 0..*count {
                let inner = naming::behind(&typed, *count, index, to);
                collect(to, &inner, parameter, all);
            }
        }
    }
}

/// Whether objects of two shapes may be the same.
pub(crate) fn are_compatible(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Scalar(a), Shape::Scalar(b)) => {
            a.size() == b.size()
                && a.is_float() == b.is_float()
                && (*a == Type::Ptr) == (*b == Type::Ptr)
        }
        (
            Shape::Record { size, members },
            Shape::Record {
                size: other_size,
                members: others,
            },
        ) => {
            let names = |all: &[(u64, String, Shape)]| -> Vec<(u64, String)> {
                all.iter()
                    .map(|(at, name, _)| (*at, name.clone()))
                    .collect()
            };
            size == other_size && names(members) == names(others)
        }
        (
            Shape::Array { element, count },
            Shape::Array {
                element: other,
                count: other_count,
            },
        ) => count == other_count && are_compatible(element, other),
        (Shape::Pointer { to: Some(a), .. }, Shape::Pointer { to: Some(b), .. }) => {
            are_compatible(a, b)
        }
        (Shape::Function { .. }, Shape::Function { .. }) => true,
        _ => false,
    }
}

/// Adds to the shapes what pointers may point to that is not their own. `versions` are the parameters of
/// the function in each version that gets these inputs, the first one first. `sources` define the
/// globals.
pub fn connect(
    versions: &mut [&mut Vec<ParameterShape>],
    sources: &[Source],
    function: &str,
    wishes: &Wishes,
) {
    if wishes.may_alias {
        widen(versions, wishes);
    }
    let mut all: Vec<ParameterShape> = Vec::new();
    for version in versions.iter() {
        for one in version.iter() {
            if !all.iter().any(|other| other.name == one.name) {
                all.push(one.clone());
            }
        }
    }
    let globals = match wishes.may_alias {
        true => globals_used(sources, function, &all),
        false => Vec::new(),
    };
    let restricted = restricted(sources, function);
    let mut before: Vec<Pointer> = Vec::new();
    let mut found: BTreeMap<String, Vec<(String, Vec<Way>)>> = BTreeMap::new();
    // Of each parameter its pointers into whose arrays others lead.
    let mut entered: BTreeMap<String, Vec<(String, Before)>> = BTreeMap::new();
    for parameter in &all {
        for pointer in pointers_of(parameter) {
            let near = globals.iter().filter(|global| !global.is_const);
            let near: Vec<&Global> = near.take(MOST_GLOBALS).collect();
            let mut ways = ways_of(&pointer, &before, &near, wishes);
            ways.retain(|way| {
                let asked = |(a, b): &(String, String)| {
                    [a, b].contains(&&pointer.name) && [a.as_str(), b].contains(&way.to.name())
                };
                let is_restricted =
                    restricted.contains(&pointer.name[..]) || restricted.contains(way.to.name());
                !is_restricted || wishes.alias.iter().any(asked)
            });
            for way in &ways {
                if let (Target::Pointer { name, parameter }, Some(before)) = (&way.to, &way.before)
                {
                    let own = entered.entry(parameter.clone()).or_default();
                    add(own, (name.clone(), before.clone()));
                }
            }
            if !ways.is_empty() {
                let own = found.entry(parameter.name.clone()).or_default();
                own.push((pointer.name.clone(), ways));
            }
            before.push(pointer);
        }
    }
    let all_ways = found.values().flatten();
    let meet: Vec<(&str, &str)> = all_ways
        .flat_map(|(name, ways)| ways.iter().map(move |way| (name.as_str(), way.to.name())))
        .collect();
    for version in versions {
        for one in version.iter_mut() {
            let own = before.iter().filter(|own| own.parameter == one.name);
            let outside = own.map(|own| {
                (
                    own.name.clone(),
                    wholes(own, &before, &globals, (&meet, &restricted)),
                )
            });
            one.outside = outside.filter(|(_, wholes)| !wholes.is_empty()).collect();
            one.ways = found.get(&one.name).cloned().unwrap_or_default();
            one.before = entered.get(&one.name).cloned().unwrap_or_default();
        }
    }
}

/// The parameters that are `restrict`: what they lead to, no other pointer leads to (C11, 6.7.3.1).
fn restricted<'s>(sources: &'s [Source], function: &str) -> BTreeSet<&'s str> {
    let Ok((position, body)) = find(sources, function) else {
        return BTreeSet::new();
    };
    let unit = &sources[position].unit;
    let all = body.parameters.iter().map(|&id| unit.variable(id));
    let restricted = all.filter(|one| unit.types.qualifiers(one.ty).is_restrict);
    restricted.map(|one| &one.name[..]).collect()
}

/// Returns the objects that a pointer could lead to in C but is assumed not to, for the line `Assumed:`. These are structures with a member
/// of its type, any object for a pointer to bytes, and globals and further pointers for a pointer in a structure.
fn wholes(
    own: &Pointer,
    pointers: &[Pointer],
    globals: &[Global],
    (meet, restricted): (&[(&str, &str)], &BTreeSet<&str>),
) -> Vec<String> {
    let is_text = own.is_parameter && own.text;
    let is_byte = matches!(own.to, Shape::Scalar(ty) if ty.size() == 1 && ty != Type::Bool);
    let is_scalar = matches!(own.to, Shape::Scalar(_) | Shape::Pointer { .. });
    let is_met =
        |other: &str| meet.contains(&(&own.name, other)) || meet.contains(&(other, &own.name));
    let others = pointers.iter().filter(|one| {
        if is_text || one.name == own.name || own.is_parameter && one.parameter == own.parameter {
            return false;
        }
        // Two parameters are told of as a pair. That C lets `restrict` ones meet where nobody writes is left out, and said.
        let is_restricted = |name: &String| restricted.contains(&name[..]);
        let is_pair = own.is_parameter
            && one.is_parameter
            && !is_restricted(&own.name)
            && !is_restricted(&one.name);
        has_part(&one.to, &own.to)
            || !is_pair && is_byte && !are_compatible(&one.to, &own.to)
            || !is_pair && is_scalar && are_compatible(&one.to, &own.to) && !is_met(&one.name)
    });
    let used = globals.iter().filter(|global| {
        let alike = are_compatible(&global.element, &own.to);
        let may = has_part(&global.element, &own.to) || is_byte && !alike;
        !is_text && may || alike && !is_met(&global.name)
    });
    let others = others.map(|one| format!("*{}", one.name));
    others
        .chain(used.map(|global| global.name.clone()))
        .collect()
}

/// Whether an object of one shape has an object of the other inside.
fn has_part(whole: &Shape, part: &Shape) -> bool {
    let is_or_has = |inner: &Shape| are_compatible(inner, part) || has_part(inner, part);
    match whole {
        Shape::Record { members, .. } => members.iter().any(|(_, _, member)| is_or_has(member)),
        Shape::Array { element, .. } => is_or_has(element),
        Shape::Scalar(_) | Shape::Pointer { .. } | Shape::Function { .. } => false,
    }
}

/// Makes a pointer to one number lead to as many numbers as any pointer that may lead into the same array.
fn widen(versions: &mut [&mut Vec<ParameterShape>], wishes: &Wishes) {
    let number = |one: &ParameterShape| match &one.shape {
        Shape::Pointer {
            to: Some(to),
            count,
            text: false,
            ..
        } if matches!(to.as_ref(), Shape::Scalar(ty) if *ty != Type::Ptr) => {
            Some((to.as_ref().clone(), *count))
        }
        _ => None,
    };
    let all: Vec<(Shape, u64)> = versions
        .iter()
        .flat_map(|version| version.iter().filter_map(number))
        .collect();
    for one in versions.iter_mut().flat_map(|version| version.iter_mut()) {
        let Some((own, 1)) = number(one) else {
            continue;
        };
        if wishes.lengths.contains_key(&one.name) {
            continue;
        }
        let others = all.iter().filter(|(other, _)| are_compatible(&own, other));
        if let (Shape::Pointer { count, .. }, Some(most)) =
            (&mut one.shape, others.map(|other| other.1).max())
        {
            *count = most;
        }
    }
}

fn ways_of(
    pointer: &Pointer,
    before: &[Pointer],
    globals: &[&Global],
    wishes: &Wishes,
) -> Vec<Way> {
    let mut all = Vec::new();
    let is_record = matches!(pointer.to, Shape::Record { .. });
    for other in before {
        let named = wishes.alias.iter().any(|(a, b)| {
            (*a == pointer.name && *b == other.name) || (*b == pointer.name && *a == other.name)
        });
        let is_usual = wishes.may_alias
            && are_compatible(&pointer.to, &other.to)
            && (pointer.is_parameter || !is_record || wishes.links);
        if !named && !is_usual {
            continue;
        }
        // One element behind the last is where an array ends.
        let is_array = other.count > 1 || pointer.count > 1;
        let most = match is_array && pointer.to.size() == other.to.size() {
            true => (other.count - u64::from(other.text)).min(FARTHEST),
            false => 0,
        };
        let target = Target::Pointer {
            name: other.name.clone(),
            parameter: other.parameter.clone(),
        };
        let before = before_it(other).filter(|_| most > 0);
        let place = (other.typed.clone(), other.to.size());
        all.push(way(pointer, target, place, most, before));
    }
    if pointer.is_parameter {
        for global in globals {
            if !are_compatible(&pointer.to, &global.element) {
                continue;
            }
            let (expression, most) = match global.count {
                None => (format!("&{}", global.name), 0),
                Some(count) => (global.name.clone(), count.min(FARTHEST)),
            };
            let target = Target::Global(global.name.clone());
            let place = (expression, global.element.size());
            all.push(way(pointer, target, place, most, None));
        }
    }
    // Parameters come first in what they were compared with.
    all.truncate(MOST_WAYS);
    all
}

/// What lies before what a pointer leads to, if others lead into its array.
fn before_it(pointer: &Pointer) -> Option<Before> {
    // Each object with pointers would bring others with it.
    (!has_pointers(&pointer.to)).then(|| Before {
        name: naming::before(&pointer.name),
        most: (pointer.count - u64::from(pointer.text)).min(FARTHEST),
        shortens: !pointer.text,
    })
}

/// Whether pointers lie in an object.
pub(crate) fn has_pointers(shape: &Shape) -> bool {
    match shape {
        Shape::Scalar(ty) => *ty == Type::Ptr,
        Shape::Function { .. } | Shape::Pointer { .. } => true,
        Shape::Record { members, .. } => members.iter().any(|(_, _, shape)| has_pointers(shape)),
        Shape::Array { element, .. } => has_pointers(element),
    }
}

fn way(
    pointer: &Pointer,
    to: Target,
    (expression, element): (String, u64),
    most: u64,
    before: Option<Before>,
) -> Way {
    let own = &pointer.typed;
    let first = match &before {
        Some(before) => format!("{expression} - {}", before.most),
        None => expression.clone(),
    };
    let (label, distance) = match most {
        0 => (format!("{own} == {expression}"), None),
        _ => (
            format!("{first} <= {own} && {own} <= {expression} + {most}"),
            Some(format!("{own} - {expression}")),
        ),
    };
    Way {
        to,
        most,
        before,
        element: element.max(1),
        label,
        distance,
        expression,
    }
}

/// A global that pointers may lead to.
struct Global {
    name: String,
    /// It, or what it is an array of.
    element: Shape,
    /// How many, if it is an array.
    count: Option<u64>,
    /// It holds what the source gives it.
    is_const: bool,
}

/// The variables at file scope that a function, or one that it calls, uses.
fn globals_used(sources: &[Source], function: &str, parameters: &[ParameterShape]) -> Vec<Global> {
    let Ok((position, _)) = find(sources, function) else {
        return Vec::new();
    };
    let unit = &sources[position].unit;
    let mut seen: BTreeSet<&str> = BTreeSet::from([function]);
    let mut open: Vec<&str> = vec![function];
    let mut used: Vec<VarId> = Vec::new();
    while let Some(next) = open.pop() {
        let mut bodies = unit.functions.iter().chain(&unit.functions_in_headers);
        let body = bodies.find(|one| one.name == next);
        for expr in body.iter().flat_map(|body| &body.exprs) {
            match &expr.kind {
                ExprKind::Function(name) if seen.insert(name) => open.push(name),
                ExprKind::Variable(id) if unit.globals.contains(id) && !used.contains(id) => {
                    used.push(*id);
                }
                _ => {}
            }
        }
    }
    used.sort_unstable_by_key(|id| id.0);
    let builder = Builder {
        types: &unit.types,
        wishes: &Wishes::default(),
        used: Use::default(),
        declared: None,
        taken_for: None,
    };
    let mut all = Vec::new();
    for id in used {
        let variable = unit.variable(id);
        let is_taken = parameters.iter().any(|one| one.name == variable.name)
            || ["result", "at"].contains(&variable.name.as_str());
        let (ty, count) = match unit.types.kind(variable.ty) {
            TypeKind::Array(of, Some(count)) => (*of, Some(*count)),
            _ => (variable.ty, None),
        };
        let is_defined = !unit.declared[id.0 as usize].is_extern;
        if is_taken || !is_defined {
            continue;
        }
        if let Some(element) = builder.shape(ty, &variable.name, 0, false) {
            all.push(Global {
                name: variable.name.clone(),
                element,
                count,
                is_const: unit.types.qualifiers(ty).is_const,
            });
        }
    }
    all
}
