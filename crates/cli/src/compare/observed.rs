//! Describes the execution of a sample for people.

use patchwright_compare::{Holder, spelled};
use patchwright_interpret::Ending;
use patchwright_ir::Type;
use patchwright_prove::{number_of_pointer, pointers, shown};
use patchwright_report::comparison::Observed;
use patchwright_symbolic::{ParameterShape, Pointee, Shape};

use super::replay::{Execution, Watch};

/// Describes an execution of version `side` (0 or 1). `shapes` are those of the function's parameters,
/// and `holders` are the objects that hold pointers.
pub fn observed(
    one: &Execution,
    watch: &Watch,
    side: usize,
    shapes: &[ParameterShape],
    holders: &[Holder],
) -> Observed {
    let ending = match &one.ending {
        Ending::Exit(status) => format!("exit {status}"),
        Ending::Abort => format!("abort{}", one.at),
        Ending::Assumption => "an assumption does not hold".to_owned(),
        Ending::Undefined { kind, message } => {
            format!("undefined ({}): {message}{}", kind.code(), one.at)
        }
        Ending::Unsupported(reason) => format!("not supported: {reason}"),
        Ending::Limit(what) => format!("endless, as far as the limit of {what} tells"),
    };
    let left = one.left.iter().map(|(name, bytes)| {
        if let Some(shape) = shapes.iter().find(|shape| shape.name == *name) {
            let value = behind(&shape.shape, bytes);
            return match value.starts_with('{') {
                true => (name.clone(), value),
                false => (format!("*{name}"), value),
            };
        }
        let mut globals = watch.globals.iter();
        let value = match (name.as_str(), watch.result[side]) {
            ("result", Some(Type::Ptr)) => pointer(bytes, shapes),
            ("result", Some(ty)) => match &watch.records[side] {
                Some(record) => object(record, bytes),
                None => values(bytes, ty),
            },
            _ => {
                let size = globals.find(|(global, _)| global == name).map(|one| one.1);
                let is_pointer = |holder: &Holder| {
                    holder.name == *name && size == Some(8) && holder.offsets == Some(vec![0])
                };
                let ty = match size {
                    _ if holders.iter().any(is_pointer) => Type::Ptr,
                    Some(4) => Type::I32,
                    Some(8) => Type::I64,
                    Some(2) => Type::I16,
                    _ => Type::U8,
                };
                values(bytes, ty)
            }
        };
        (name.clone(), value)
    });
    Observed {
        ending,
        output: String::from_utf8_lossy(&one.output).into_owned(),
        left: left.collect(),
    }
}

/// A result that is a pointer, as the harness prints it.
fn pointer(bytes: &[u8], shapes: &[ParameterShape]) -> String {
    let bits = bytes.try_into().map_or(0, u64::from_le_bytes);
    if bits == 0 {
        return shown(Type::Ptr, 0);
    }
    let all = pointers(shapes);
    let mut all = all.iter();
    match all.find(|(name, _)| u64::from(number_of_pointer(name)) == bits >> 48) {
        Some((name, size)) => {
            let object = Pointee::Object {
                name: name.clone(),
                element: Some(*size),
            };
            spelled(&object, (bits << 16) as i64 >> 16)
        }
        None => shown(Type::Ptr, bits.into()),
    }
}

/// The bytes of the objects behind a pointer.
fn behind(shape: &Shape, bytes: &[u8]) -> String {
    let Shape::Pointer { to: Some(to), .. } = shape else {
        return values(bytes, Type::U8);
    };
    if let Shape::Scalar(ty) = to.as_ref() {
        return values(bytes, *ty);
    }
    let size = (to.size() as usize).max(1);
    let all: Vec<String> = bytes.chunks(size).map(|one| object(to, one)).collect();
    match all.as_slice() {
        [only] => only.clone(),
        _ => listed(&all),
    }
}

/// The bytes of one object, by its members and elements.
fn object(shape: &Shape, bytes: &[u8]) -> String {
    let part = |at: u64, size: u64| {
        let end = (at + size) as usize;
        bytes.get(at as usize..end).unwrap_or_default()
    };
    match shape {
        Shape::Scalar(ty) => values(bytes, *ty),
        Shape::Pointer { .. } | Shape::Function { .. } => values(bytes, Type::Ptr),
        Shape::Record { members, .. } => {
            let all = members.iter().map(|(at, name, shape)| {
                let value = object(shape, part(*at, shape.size()));
                match shape {
                    // What has no name of its own is written byte by byte.
                    Shape::Scalar(Type::U8) if *name == format!("byte{at}") => value,
                    _ => format!(".{name} = {value}"),
                }
            });
            format!("{{{}}}", all.collect::<Vec<_>>().join(", "))
        }
        Shape::Array { element, count } => {
            let size = element.size();
            let all = (0..*count).map(|index| object(element, part(index * size, size)));
            listed(&all.collect::<Vec<_>>())
        }
    }
}

fn values(bytes: &[u8], ty: Type) -> String {
    let size = (ty.size() as usize).max(1);
    let all: Vec<String> = bytes
        .chunks(size)
        .map(|chunk| {
            let mut bits = 0;
            for (at, &byte) in chunk.iter().enumerate().take(16) {
                bits |= u128::from(byte) << (8 * at);
            }
            shown(ty, bits)
        })
        .collect();
    match all.as_slice() {
        [only] => only.clone(),
        _ => listed(&all),
    }
}

/// From this number on, equal neighbouring values are written once, with their number.
const MANY: usize = 8;

/// Values in braces.
fn listed(all: &[String]) -> String {
    let runs = all.chunk_by(|one, next| one == next);
    let parts: Vec<String> = runs
        .flat_map(|run| match run.len() < MANY {
            true => run.to_vec(),
            false => vec![format!("{} ({} times)", run[0], run.len())],
        })
        .collect();
    format!("{{{}}}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_shown_by_their_members_and_pointers_without_their_addresses() {
        let node = Shape::Record {
            size: 16,
            members: vec![
                (0, "key".to_owned(), Shape::Scalar(Type::I32)),
                (8, "next".to_owned(), Shape::Scalar(Type::Ptr)),
            ],
        };
        let list = Shape::Pointer {
            to: Some(Box::new(node)),
            count: 1,
            nullable: false,
            text: false,
            cast: None,
        };
        let mut bytes = [0; 16];
        bytes[0] = 7;
        assert_eq!(behind(&list, &bytes), "{.key = 7, .next = a null pointer}");
        bytes[8] = 1;
        assert_eq!(behind(&list, &bytes), "{.key = 7, .next = a pointer}");
    }

    #[test]
    fn many_equal_values_are_written_once() {
        let mut bytes = [0; 24];
        bytes[20] = 1;
        assert_eq!(values(&bytes, Type::U8), "{0 (20 times), 1, 0, 0, 0}");
        assert_eq!(values(&bytes, Type::I32), "{0, 0, 0, 0, 0, 1}");
    }
}
