//! Finds the objects whose bytes hold pointers, and which bytes these are.

use patchwright_csource::{
    TranslationUnit,
    types::{TypeId, TypeKind, TypeTable},
};
use patchwright_ir::Type;
use patchwright_symbolic::{ParameterShape, Shape, naming};

/// An object of which some bytes are pointers or padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its name, as the encoding calls it.
    pub name: String,
    /// The offsets of the pointers in bytes, in order; nothing if it is not known where they are.
    pub offsets: Option<Vec<u64>>,
    /// Bytes that belong to no member, from and to: nobody may look at them.
    pub gaps: Vec<(u64, u64)>,
}

impl Holder {
    /// Whether some bytes of the object are pointers, or may be.
    pub fn has_pointers(&self) -> bool {
        self.offsets
            .as_ref()
            .is_none_or(|offsets| !offsets.is_empty())
    }
}

/// Pointers of larger objects are not looked at one by one.
const MOST_POINTERS: usize = 256;

/// Returns the objects behind these parameters, and the globals, that have pointers or padding.
pub fn holders(
    unit: &TranslationUnit,
    parameters: &[ParameterShape],
    result: Option<&Shape>,
) -> Vec<Holder> {
    let mut all = Vec::new();
    for &global in &unit.globals {
        let variable = unit.variable(global);
        let mut gaps = Vec::new();
        gaps_of_type(&unit.types, variable.ty, 0, &mut gaps);
        let has_pointers = has_pointer(&unit.types, variable.ty);
        if has_pointers || !gaps.is_empty() {
            let mut offsets = Vec::new();
            let known = in_type(&unit.types, variable.ty, 0, &mut offsets);
            all.push(Holder {
                name: variable.name.clone(),
                offsets: known.map(|()| offsets),
                gaps,
            });
        }
    }
    if let Some(result) = result {
        object(result, 1, "result".to_owned(), &mut all);
    }
    for parameter in parameters {
        behind(&parameter.shape, &parameter.name, parameter, &mut all);
    }
    all
}

fn has_pointer(types: &TypeTable, ty: TypeId) -> bool {
    match types.kind(ty) {
        TypeKind::Pointer(_) => true,
        TypeKind::Array(of, _) => has_pointer(types, *of),
        TypeKind::Record(record) => match &types.record(*record).fields {
            Some(fields) => fields.iter().any(|field| has_pointer(types, field.ty)),
            None => true,
        },
        _ => false,
    }
}

/// Adds the offsets of the pointers in an object of a type; nothing if they are not known: those of unions hold something else
/// at times.
fn in_type(types: &TypeTable, ty: TypeId, at: u64, offsets: &mut Vec<u64>) -> Option<()> {
    match types.kind(ty) {
        TypeKind::Pointer(_) => offsets.push(at),
        TypeKind::Array(of, count) if has_pointer(types, *of) => {
            let size = types.size(*of)?;
            for index in 0..(*count)? {
                in_type(types, *of, at + index * size, offsets)?;
            }
        }
        TypeKind::Record(record) if has_pointer(types, ty) => {
            let (record, layout) = (types.record(*record), types.layout(*record)?);
            if record.is_union {
                return None;
            }
            let fields = record.fields.as_ref()?;
            for (field, bits) in fields.iter().zip(&layout.offsets) {
                in_type(types, field.ty, at + bits / 8, offsets)?;
            }
        }
        _ => {}
    }
    (offsets.len() <= MOST_POINTERS).then_some(())
}

/// Objects that pointers lead to, named as the encoding names them.
fn behind(shape: &Shape, name: &str, parameter: &ParameterShape, all: &mut Vec<Holder>) {
    match shape {
        Shape::Pointer {
            to: Some(to),
            count,
            ..
        } => {
            let typed = shape.typed(name);
            let before = parameter.before(name).map_or(0, |before| before.most);
            object(to, before + count, naming::pointed(&typed, *count), all);
            for index in 0..*count {
                let inner = naming::behind(&typed, *count, index, to);
                behind(to, &inner, parameter, all);
            }
        }
        Shape::Record { members, .. } => {
            for (_, member, shape) in members {
                behind(shape, &naming::member(name, member), parameter, all);
            }
        }
        Shape::Array { element, count } => {
            for index in 0..*count {
                behind(element, &naming::element(name, index), parameter, all);
            }
        }
        Shape::Scalar(_) | Shape::Function { .. } | Shape::Pointer { to: None, .. } => {}
    }
}

/// So many objects of a shape behind each other, of this name.
fn object(shape: &Shape, count: u64, name: String, all: &mut Vec<Holder>) {
    let (mut offsets, mut gaps) = (Vec::new(), Vec::new());
    for index in 0..count {
        gaps.extend(
            shape
                .gaps()
                .into_iter()
                .map(|(from, to)| (from + index * shape.size(), to + index * shape.size())),
        );
    }
    let has_pointers = is_within(shape);
    if !has_pointers && gaps.is_empty() {
        return;
    }
    let known = match has_pointers {
        true => {
            (0..count).try_for_each(|index| in_shape(shape, index * shape.size(), &mut offsets))
        }
        false => Some(()),
    };
    all.push(Holder {
        name,
        offsets: known.map(|()| offsets),
        gaps,
    });
}

/// Adds the bytes of an object of a type that belong to no member.
fn gaps_of_type(types: &TypeTable, ty: TypeId, at: u64, gaps: &mut Vec<(u64, u64)>) {
    /// Of larger arrays they are not looked for.
    const MOST: u64 = 256;
    match types.kind(ty) {
        TypeKind::Array(of, Some(count)) if *count <= MOST => {
            let Some(size) = types.size(*of) else {
                return;
            };
            for index in 0..*count {
                gaps_of_type(types, *of, at + index * size, gaps);
            }
        }
        TypeKind::Record(record) => {
            let (record, Some(layout)) = (types.record(*record), types.layout(*record)) else {
                return;
            };
            let fields = record.fields.as_deref().unwrap_or_default();
            // What is not whole bytes has gaps of bits, which are compared.
            if record.is_union || fields.iter().any(|field| field.bit_width.is_some()) {
                return;
            }
            let mut end = 0;
            for (field, bits) in fields.iter().zip(&layout.offsets) {
                let begin = bits / 8;
                if begin > end {
                    gaps.push((at + end, at + begin));
                }
                gaps_of_type(types, field.ty, at + begin, gaps);
                let size = types.size_and_align(field.ty).map_or(0, |(size, _)| size);
                end = end.max(begin + size);
            }
            if layout.size > end {
                gaps.push((at + end, at + layout.size));
            }
        }
        _ => {}
    }
}

fn is_within(shape: &Shape) -> bool {
    match shape {
        Shape::Pointer { .. } | Shape::Function { .. } => true,
        Shape::Scalar(ty) => *ty == Type::Ptr,
        Shape::Record { members, .. } => members.iter().any(|(_, _, shape)| is_within(shape)),
        Shape::Array { element, .. } => is_within(element),
    }
}

/// As [`in_type`], of an object of a shape. Members of a union overlap.
fn in_shape(shape: &Shape, at: u64, offsets: &mut Vec<u64>) -> Option<()> {
    match shape {
        Shape::Pointer { .. } | Shape::Function { .. } | Shape::Scalar(Type::Ptr) => {
            offsets.push(at);
        }
        Shape::Scalar(_) => {}
        Shape::Record { members, .. } => {
            let mut end = 0;
            for (offset, _, shape) in members {
                if *offset < end {
                    return None;
                }
                end = offset + shape.size();
                in_shape(shape, at + offset, offsets)?;
            }
        }
        Shape::Array { element, count } => {
            if is_within(element) {
                for index in 0..*count {
                    in_shape(element, at + index * element.size(), offsets)?;
                }
            }
        }
    }
    (offsets.len() <= MOST_POINTERS).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointer(to: Option<Shape>) -> Shape {
        Shape::Pointer {
            to: to.map(Box::new),
            count: 1,
            nullable: true,
            text: false,
            cast: None,
        }
    }

    fn record(size: u64, members: &[(u64, Shape)]) -> Shape {
        let members = members.iter().cloned();
        Shape::Record {
            size,
            members: members
                .map(|(at, shape)| (at, format!("m{at}"), shape))
                .collect(),
        }
    }

    #[test]
    fn pointers_are_found_in_members_and_elements_and_not_in_unions() {
        let node = record(
            16,
            &[(0, Shape::Scalar(Type::I32)), (8, Shape::Scalar(Type::Ptr))],
        );
        let list = Shape::Pointer {
            to: Some(Box::new(node)),
            count: 2,
            nullable: false,
            text: false,
            cast: None,
        };
        let union = record(8, &[(0, pointer(None)), (0, Shape::Scalar(Type::I64))]);
        let mut all = Vec::new();
        for (name, shape) in [
            ("list", list),
            ("u", pointer(Some(union))),
            ("numbers", pointer(Some(Shape::Scalar(Type::I32)))),
        ] {
            let parameter = ParameterShape {
                name: name.to_owned(),
                shape,
                ways: Vec::new(),
                before: Vec::new(),
                outside: Vec::new(),
            };
            behind(&parameter.shape, name, &parameter, &mut all);
        }
        let expected = [("list", Some(vec![8, 24])), ("*u", None)];
        let expected = expected.map(|(name, offsets)| Holder {
            name: name.to_owned(),
            offsets,
            gaps: match name {
                "list" => vec![(4, 8), (20, 24)],
                _ => Vec::new(),
            },
        });
        assert_eq!(all, expected);
    }
}
