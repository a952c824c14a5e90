//! Converts inputs to the standard input and the arguments of a real execution.

use patchwright_ir::Type;
use patchwright_symbolic::InputKind;

use crate::{value::signed, verdict::Given};

/// Returns the bytes of standard input that `inputs` mean.
pub fn standard_input(inputs: &[Given]) -> Vec<u8> {
    let mut bytes: Vec<u8> = Vec::new();
    let length = inputs.iter().find(|given| given.kind == InputKind::Length);
    for given in inputs {
        if let InputKind::Byte(at) = given.kind {
            let at = at as usize;
            if bytes.len() <= at {
                bytes.resize(at + 1, 0);
            }
            bytes[at] = given.bits as u8;
        }
    }
    if let Some(length) = length {
        // Bytes that no execution asks for do not matter, however long the input is said to be.
        bytes.truncate(length.bits.min(bytes.len() as u128) as usize);
    }
    let mut more = true;
    let mut word_ended = false;
    for given in inputs.iter().filter(|given| given.consumed) {
        match &given.kind {
            InputKind::Present => more &= given.bits != 0,
            // A sign without a number is read, and nothing else.
            InputKind::Unfit if more && given.bits != 0 => {
                if !bytes.is_empty() {
                    bytes.push(b'\n');
                }
                bytes.extend(b"-\n");
            }
            InputKind::Scanned { conversion, ty } if more => match conversion.as_str() {
                "s" => {
                    let first = given.name.ends_with("[0]");
                    word_ended &= !first;
                    if first && !bytes.is_empty() {
                        bytes.push(b'\n');
                    }
                    let byte = given.bits as u8;
                    word_ended |= matches!(byte, b' ' | 9..=13);
                    if !word_ended {
                        bytes.push(byte);
                    }
                }
                "c" => bytes.push(given.bits as u8),
                _ => {
                    if !bytes.is_empty() {
                        bytes.push(b'\n');
                    }
                    bytes.extend(scanned(conversion, *ty, given.bits).into_bytes());
                }
            },
            _ => {}
        }
    }
    bytes
}

/// A number as a conversion of `scanf` reads it.
fn scanned(conversion: &str, ty: Type, bits: u128) -> String {
    match (conversion.chars().last(), ty) {
        (_, Type::F32) => format!("{:?}", f32::from_bits(bits as u32)),
        (_, Type::F64) => format!("{:?}", f64::from_bits(bits as u64)),
        (Some('x' | 'X'), _) => format!("{:x}", signed(unsigned(ty), bits)),
        (Some('o'), _) => format!("{:o}", signed(unsigned(ty), bits)),
        _ => signed(ty, bits).to_string(),
    }
}

fn unsigned(ty: Type) -> Type {
    match ty.size() {
        1 => Type::U8,
        2 => Type::U16,
        8 => Type::U64,
        _ => Type::U32,
    }
}

/// Returns the arguments of the program that `inputs` mean, without its name.
pub fn arguments(inputs: &[Given]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    let mut put = |number: u32, at: usize, bytes: &[u8]| {
        let number = number as usize;
        if all.len() < number {
            all.resize(number, Vec::new());
        }
        let argument = &mut all[number - 1];
        let end = at + bytes.len();
        if argument.len() < end {
            argument.resize(end, 0);
        }
        argument[at..end].copy_from_slice(bytes);
    };
    for given in inputs {
        if let InputKind::ArgumentByte(number, at) = given.kind {
            put(number, at as usize, &[given.bits as u8]);
        }
    }
    for given in inputs {
        if let InputKind::ArgumentNumber(number, ty) = given.kind {
            let text = signed(ty, given.bits).to_string();
            put(number, 0, format!("{text}\0").as_bytes());
        }
    }
    for argument in &mut all {
        let end = argument.iter().position(|&byte| byte == 0);
        argument.truncate(end.unwrap_or(argument.len()));
    }
    all
}
