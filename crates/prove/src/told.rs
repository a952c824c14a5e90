//! Describes to the user which inputs of a function are looked at, and what is assumed of them.

use std::collections::BTreeSet;

use patchwright_ir::{Callee, InstructionKind, Module, Target, Type, Value};
use patchwright_symbolic::{
    ParameterShape, Shape, changing,
    inputs::{self, Way},
    naming,
};

use crate::inputs::{Wishes, are_compatible, has_pointers};

/// The lines `Inputs:` and `Assumed:` of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Told {
    /// What each pointer parameter may lead to.
    pub inputs: Vec<String>,
    /// What is assumed of inputs, and the flag that drops the assumption.
    pub assumed: Vec<String>,
    /// Whether linked structures are assumed to share no other structure.
    pub links_apart: bool,
}

/// Pairs of pointers that are named at most.
const MOST_PAIRS: usize = 3;
/// Pointers in structures, and unions, that are named at most.
const MOST_WITHIN: usize = 6;
/// Variables that are named at most.
const MOST_NAMES: usize = 4;

/// Returns the lines `Inputs:` and `Assumed:` for parameters of these shapes, as the flags in `wishes` permit them.
pub fn told(shapes: &[ParameterShape], wishes: &Wishes) -> Told {
    let mut told = Told::default();
    let mut never_null = Vec::new();
    for one in shapes {
        let name = &one.name;
        match &one.shape {
            Shape::Function { nullable } => {
                let null = if *nullable { ", or null" } else { "" };
                told.inputs.push(format!("`{name}` is {}{null}", foreign()));
                if !nullable {
                    never_null.push(name.as_str());
                }
            }
            Shape::Pointer { to: None, .. } => told.assumed.push(format!(
                "`{name}` is null, for nothing tells what it leads to"
            )),
            Shape::Pointer {
                to: Some(to),
                count,
                nullable,
                text,
                ..
            } => {
                let mut words = format!("`{name}` leads to {}", many(to, *count, *text));
                for way in one.ways(name) {
                    words.push_str(&format!(", or {}", other(way)));
                }
                if *nullable {
                    words.push_str(", or is null");
                } else {
                    never_null.push(name.as_str());
                }
                told.inputs.push(words);
            }
            _ => {}
        }
    }
    within(shapes, &mut told);
    if let Some((names, flags)) = all_of(&never_null, "--null ") {
        let are = if never_null.len() == 1 { "is" } else { "are" };
        told.assumed
            .push(format!("{names} {are} not null; `{flags}` drops this"));
    }
    apart(shapes, &mut told);
    outside(shapes, &mut told);
    before(shapes, &mut told);
    let has_links = shapes.iter().any(|one| leads_from_structure(&one.shape, 0));
    if has_links && !wishes.links {
        told.links_apart = true;
        told.assumed.push(
            "each pointer in a structure leads to an object of its own: none leads back, and no two lead to the same".to_owned(),
        );
    }
    if shapes.iter().any(|one| holds_unknown(&one.shape, false)) {
        told.assumed.push(
            "pointers in structures are null where nothing tells what they lead to".to_owned(),
        );
    }
    if let Some(depth) = shapes.iter().filter_map(|one| one.shape.cut()).max() {
        told.assumed.push(format!(
            "pointers are followed {depth} deep, and deeper ones are null; `--nodes {}` follows them further",
            wishes.nodes + 1
        ));
    }
    told
}

/// Returns the assumption about variables of static storage that `function` of `module` uses, itself or in functions that it calls.
/// They hold what the program starts with, although it may have changed them before. `havoc` sets those without a first value
/// free.
pub fn beginning(module: &Module, function: &str, havoc: bool) -> Option<String> {
    let mut seen = BTreeSet::from([function]);
    let mut open = vec![function];
    let mut used: BTreeSet<&str> = BTreeSet::new();
    while let Some(next) = open.pop() {
        let body = module
            .functions
            .iter()
            .find(|one| one.name == next && one.is_defined());
        let blocks = body.into_iter().flat_map(|function| &function.blocks);
        for instruction in blocks.flat_map(|block| &block.instructions) {
            let mut called = Vec::new();
            if let InstructionKind::Call {
                callee: Callee::Direct(id),
                ..
            } = &instruction.kind
            {
                called.push(*id);
            }
            for operand in instruction.operands() {
                match operand.value {
                    Value::Address {
                        target: Target::Function(id),
                        ..
                    } => called.push(id),
                    Value::Address {
                        target: Target::Global(id),
                        ..
                    } => {
                        let global = &module.globals[id.index()];
                        let data = global.data.as_ref().filter(|_| !global.constant);
                        if data.is_some_and(|data| {
                            !havoc || !data.bytes.is_empty() || !data.relocations.is_empty()
                        }) {
                            used.insert(global.name.as_str());
                        }
                    }
                    _ => {}
                }
            }
            let names = called.iter().map(|id| module.function(*id).name.as_str());
            open.extend(names.filter(|name| seen.insert(name)));
        }
    }
    let changing = changing(module);
    let names: Vec<String> = used
        .iter()
        .filter(|name| changing.contains(**name))
        // One of a function has a number behind its name.
        .map(|name| format!("`{}`", name.split('.').next().unwrap_or(name)))
        .collect();
    let (first, others) = names.split_at(names.len().min(MOST_NAMES));
    let holds = if names.len() == 1 { "holds" } else { "hold" };
    let rest = match others.len() {
        0 => String::new(),
        others => format!(" and {others} other variables"),
    };
    let flag = if havoc {
        ""
    } else {
        "; `--havoc` drops this where the source gives no value or 0"
    };
    (!names.is_empty()).then(|| {
        format!(
            "{}{rest} {holds} what the program starts with{flag}",
            first.join(", ")
        )
    })
}

/// What pointers are taken not to lead into: a line for each parameter, and one for all that lie in memory.
fn outside(shapes: &[ParameterShape], told: &mut Told) {
    let mut inner: Vec<&str> = Vec::new();
    let mut wholes: Vec<&str> = Vec::new();
    for one in shapes {
        for (name, outside) in &one.outside {
            let outside = outside.iter().map(String::as_str);
            if *name == one.name {
                let all: Vec<&str> = outside.collect();
                told.assumed
                    .push(format!("`{name}` leads to {}", no_part_of(&all)));
                continue;
            }
            inner.push(name);
            for whole in outside {
                if !wholes.contains(&whole) {
                    wholes.push(whole);
                }
            }
        }
    }
    let (named, more) = inner.split_at(inner.len().min(MOST_PAIRS));
    if let Some((names, _)) = all_of(named, "") {
        let others = match more.len() {
            0 => String::new(),
            1 => " and 1 other pointer".to_owned(),
            more => format!(" and {more} other pointers"),
        };
        let lead = if inner.len() == 1 { "leads" } else { "lead" };
        let no_part = no_part_of(&wholes);
        told.assumed
            .push(format!("{names}{others} {lead} to {no_part}"));
    }
}

fn no_part_of(wholes: &[&str]) -> String {
    let (named, others) = wholes.split_at(wholes.len().min(MOST_PAIRS));
    let named: Vec<String> = named.iter().map(|name| format!("`{name}`")).collect();
    let rest = match others.len() {
        0 => String::new(),
        1 => ", nor of 1 other object".to_owned(),
        others => format!(", nor of {others} other objects"),
    };
    format!("no part of {}{rest}", named.join(", "))
}

/// What is taken for granted of what lies before what pointers lead to.
fn before(shapes: &[ParameterShape], told: &mut Told) {
    let is_array = |one: &&ParameterShape| matches!(&one.shape, Shape::Pointer { to: Some(_), count, text, .. } if *count > 1 && !text);
    let (entered, alone): (Vec<_>, Vec<_>) = shapes
        .iter()
        .filter(|one| is_array(one) || !one.before.is_empty())
        .partition(|one| one.before(&one.name).is_some());
    for (all, unless) in [
        (alone, ""),
        (entered, ", unless another pointer leads into its array"),
    ] {
        let names: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
        if let Some((names, _)) = all_of(&names, "") {
            let lead = if all.len() == 1 { "leads" } else { "lead" };
            told.assumed.push(format!(
                "nothing lies before what {names} {lead} to{unless}"
            ));
        }
    }
}

/// Names in a row, and a flag for each.
fn all_of(names: &[&str], flag: &str) -> Option<(String, String)> {
    let flags: Vec<String> = names.iter().map(|name| format!("{flag}{name}")).collect();
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    let (last, first) = quoted.split_last()?;
    let words = match first.is_empty() {
        true => last.clone(),
        false => format!("{} and {last}", first.join(", ")),
    };
    Some((words, flags.join(" ")))
}

/// What a pointer to a function is, in words.
fn foreign() -> &'static str {
    "any function, but none of this program"
}

/// A pointer in memory or in a structure that is handed over, or a union that holds one.
enum Within<'s> {
    Pointer(&'s Shape),
    /// The member that has a value.
    Union(&'s str),
}

/// What pointers in structures lead to, and which members of unions have a value.
fn within(shapes: &[ParameterShape], told: &mut Told) {
    let mut all = Vec::new();
    for one in shapes {
        let from = all.len();
        inner(&one.shape, &one.name, true, &mut all);
        // How far structures lead to each other is told as an assumption.
        if one.shape.cut().is_some() {
            let own = all.split_off(from);
            all.extend(own.into_iter().filter(|(_, found)| !is_link(found)));
        }
    }
    let (mut pointers, mut unions) = (Vec::new(), Vec::new());
    for (name, found) in &all {
        match found {
            Within::Pointer(Shape::Pointer {
                to: Some(to),
                count,
                nullable,
                text,
                ..
            }) => {
                let null = if *nullable { ", or is null" } else { "" };
                pointers.push(format!(
                    "`{name}` leads to {}{null}",
                    many(to, *count, *text)
                ));
            }
            Within::Pointer(Shape::Function { nullable }) => {
                let null = if *nullable { ", or null" } else { "" };
                pointers.push(format!("`{name}` is {}{null}", foreign()));
            }
            // That it is null is told for all of them.
            Within::Pointer(_) => {}
            Within::Union(member) => {
                unions.push(format!(
                    "the union `{name}` has a value of its member `{member}`"
                ));
            }
        }
    }
    for (mut lines, what, to) in [
        (pointers, "pointers in structures", &mut told.inputs),
        (unions, "unions", &mut told.assumed),
    ] {
        let more = lines.len().saturating_sub(MOST_WITHIN);
        lines.truncate(MOST_WITHIN);
        to.extend(lines);
        if more > 0 {
            to.push(format!("{more} other {what} likewise"));
        }
    }
}

/// Whether it is a pointer to one structure.
fn is_link(found: &Within<'_>) -> bool {
    matches!(found, Within::Pointer(Shape::Pointer { to: Some(to), count: 1, .. })
        if matches!(to.as_ref(), Shape::Record { .. }))
}

/// Adds what lies in an object that C calls `name`, of several objects what lies in the first. `is_given` says that it is an
/// argument, which is told of by itself.
fn inner<'s>(shape: &'s Shape, name: &str, is_given: bool, all: &mut Vec<(String, Within<'s>)>) {
    match shape {
        Shape::Scalar(_) => {}
        Shape::Record { members, .. } => {
            let given: Vec<_> = inputs::given_members(members).collect();
            for (at, member, shape) in &given {
                let is_shared = members
                    .iter()
                    .any(|(other, own, _)| at == other && own != member);
                if is_shared && has_pointers(shape) {
                    all.push((name.to_owned(), Within::Union(member)));
                }
                inner(shape, &naming::member(name, member), false, all);
            }
        }
        Shape::Array { element, .. } => inner(element, &naming::element(name, 0), false, all),
        Shape::Pointer { to, count, .. } => {
            if !is_given {
                all.push((name.to_owned(), Within::Pointer(shape)));
            }
            if let Some(to) = to {
                let pointed = naming::behind(&shape.typed(name), *count, 0, to);
                inner(to, &pointed, false, all);
            }
        }
        Shape::Function { .. } if is_given => {}
        Shape::Function { .. } => all.push((name.to_owned(), Within::Pointer(shape))),
    }
}

fn many(to: &Shape, count: u64, text: bool) -> String {
    match (to, count) {
        (_, count) if text => format!(
            "a text of at most {} bytes in an array of {count}",
            count.saturating_sub(1)
        ),
        (Shape::Scalar(ty), 1) if ty.size() == 1 => "1 byte".to_owned(),
        (Shape::Scalar(ty), _) if ty.size() == 1 => format!("{count} bytes"),
        (_, 1) => "1 object".to_owned(),
        _ => format!("{count} objects"),
    }
}

fn other(way: &Way) -> String {
    match (&way.to, way.most) {
        (inputs::Target::Pointer { name, .. }, 0) => format!("to the same as `{name}`"),
        (inputs::Target::Pointer { name, .. }, _) if way.before.is_some() => {
            format!("into the array of `{name}`, before or behind it")
        }
        (inputs::Target::Pointer { name, .. }, _) => format!("into the array of `{name}`"),
        (inputs::Target::Global(name), 0) => format!("to `{name}`"),
        (inputs::Target::Global(name), _) => format!("into `{name}`"),
    }
}

/// Pairs of parameters that are taken to lead to different objects though C would let them lead to one.
fn apart(shapes: &[ParameterShape], told: &mut Told) {
    let pointers: Vec<(&str, &Shape)> = shapes
        .iter()
        .filter_map(|one| match &one.shape {
            Shape::Pointer { to: Some(to), .. } => Some((one.name.as_str(), to.as_ref())),
            _ => None,
        })
        .collect();
    let is_bytes =
        |shape: &Shape| matches!(shape, Shape::Scalar(ty) if ty.size() == 1 && *ty != Type::Bool);
    let mut pairs = Vec::new();
    for (at, (a, of_a)) in pointers.iter().enumerate() {
        for (b, of_b) in &pointers[at + 1..] {
            let meet = shapes.iter().any(|one| {
                let mut ways = one.ways.iter().filter(|(name, _)| name == a || name == b);
                ways.any(|(from, ways)| {
                    let to = if from == a { b } else { a };
                    ways.iter().any(
                        |way| matches!(&way.to, inputs::Target::Pointer { name, .. } if name == to),
                    )
                })
            });
            // Objects of different types are different ones, but for bytes.
            let may = are_compatible(of_a, of_b) || is_bytes(of_a) || is_bytes(of_b);
            if !meet && may {
                pairs.push((*a, *b));
            }
        }
    }
    for (a, b) in pairs.iter().take(MOST_PAIRS) {
        told.assumed.push(format!(
            "`{a}` and `{b}` point to different objects; `--alias {a},{b}` drops this"
        ));
    }
    if pairs.len() > MOST_PAIRS {
        told.assumed.push(format!(
            "the same of {} other pairs of pointers",
            pairs.len() - MOST_PAIRS
        ));
    }
}

/// Whether a pointer lies in memory of which nobody knows what it leads to.
fn holds_unknown(shape: &Shape, is_within: bool) -> bool {
    match shape {
        Shape::Scalar(_) | Shape::Function { .. } => false,
        Shape::Pointer { to: None, .. } => is_within,
        Shape::Pointer { to: Some(to), .. } => holds_unknown(to, true),
        Shape::Array { element, .. } => holds_unknown(element, true),
        Shape::Record { members, .. } => members
            .iter()
            .any(|(_, _, member)| holds_unknown(member, true)),
    }
}

/// Whether a structure leads to structures.
fn leads_from_structure(shape: &Shape, within: u32) -> bool {
    match shape {
        Shape::Scalar(_) | Shape::Function { .. } | Shape::Pointer { to: None, .. } => false,
        Shape::Record { members, .. } => members
            .iter()
            .any(|(_, _, member)| leads_from_structure(member, within + 1)),
        Shape::Array { element, .. } => leads_from_structure(element, within),
        Shape::Pointer { to: Some(to), .. } => {
            within > 0 && matches!(to.as_ref(), Shape::Record { .. })
                || leads_from_structure(to, within)
        }
    }
}
