//! Writes values for people and as C code.

use patchwright_ir::Type;

/// Returns a value as text for people. A printable byte is also shown as a character.
pub fn shown(ty: Type, bits: u128) -> String {
    match ty {
        Type::F32 => float(f64::from(f32::from_bits(bits as u32))),
        Type::F64 => float(f64::from_bits(bits as u64)),
        Type::Ptr => match bits as u64 {
            0 => "a null pointer".to_owned(),
            _ => "a pointer".to_owned(),
        },
        Type::I8 | Type::U8 => {
            let number = signed(ty, bits);
            match u8::try_from(number) {
                Ok(byte) if byte.is_ascii_graphic() => format!("{number} ('{}')", byte as char),
                _ => number.to_string(),
            }
        }
        _ => signed(ty, bits).to_string(),
    }
}

fn float(value: f64) -> String {
    match value.is_nan() {
        true => "NaN".to_owned(),
        false => format!("{value:?}"),
    }
}

/// The number that the low bits of an integer type stand for.
pub(crate) fn signed(ty: Type, bits: u128) -> i128 {
    let width = 8 * ty.size() as u32;
    let bits = match width {
        0 | 128 => bits,
        _ => bits & ((1 << width) - 1),
    };
    match ty.is_signed() && width < 128 && bits >> (width - 1) & 1 == 1 {
        true => bits as i128 - (1 << width),
        false => bits as i128,
    }
}

/// A constant of C with this value.
pub(crate) fn constant(ty: Type, bits: u128) -> String {
    match ty {
        Type::F32 => c_float(f64::from(f32::from_bits(bits as u32)), "f"),
        Type::F64 => c_float(f64::from_bits(bits as u64), ""),
        Type::Ptr => "0".to_owned(),
        Type::U64 => format!("{}UL", bits as u64),
        Type::U32 => format!("{}U", bits as u32),
        Type::I64 if bits as u64 as i64 == i64::MIN => format!("(-{}L - 1)", i64::MAX),
        Type::I64 => format!("{}L", bits as u64 as i64),
        Type::I32 if bits as u32 as i32 == i32::MIN => format!("(-{} - 1)", i32::MAX),
        _ => signed(ty, bits).to_string(),
    }
}

fn c_float(value: f64, suffix: &str) -> String {
    match value {
        _ if value.is_nan() => "(0.0 / 0.0)".to_owned(),
        f64::INFINITY => "(1.0 / 0.0)".to_owned(),
        f64::NEG_INFINITY => "(-1.0 / 0.0)".to_owned(),
        _ => format!("{value:?}{suffix}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_their_type() {
        assert_eq!(shown(Type::I32, 0xffff_ffff), "-1");
        assert_eq!(shown(Type::U8, 0x41), "65 ('A')");
        assert_eq!(constant(Type::I32, 0x8000_0000), "(-2147483647 - 1)");
        assert_eq!(constant(Type::F64, u128::from(0.1f64.to_bits())), "0.1");
        assert_eq!(
            signed(Type::U64, u128::from(u64::MAX)),
            i128::from(u64::MAX)
        );
    }
}
