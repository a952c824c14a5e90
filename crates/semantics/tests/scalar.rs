//! The scalar operators: values and undefined behaviour that C17 fixes.

use patchwright_semantics::{
    BinaryOp::*, Ty, UnaryOp, binary, common, conversion_is_identity, convert, pointer_add,
    pointer_difference, pointer_index, pointer_sub, promote, shift, truth, unary,
};

fn int(value: i64) -> u64 {
    value as u64
}

fn double(value: f64) -> u64 {
    value.to_bits()
}

fn float(value: f32) -> u64 {
    u64::from(value.to_bits())
}

const MIN32: i64 = i32::MIN as i64;
const MAX32: i64 = i32::MAX as i64;

#[test]
fn signed_overflow_is_undefined_and_unsigned_arithmetic_wraps() {
    assert_eq!(binary(Add, Ty::I32, int(MAX32), 1), None);
    assert_eq!(binary(Add, Ty::I64, int(MAX32), 1), Some(1 << 31));
    assert_eq!(binary(Sub, Ty::I32, int(MIN32), 1), None);
    assert_eq!(binary(Mul, Ty::I64, int(i64::MIN), int(-1)), None);
    assert_eq!(unary(UnaryOp::Neg, Ty::I32, int(MIN32)), None);
    assert_eq!(unary(UnaryOp::Neg, Ty::I64, int(i64::MIN)), None);
    assert_eq!(binary(Add, Ty::U32, u64::from(u32::MAX), 1), Some(0));
    assert_eq!(binary(Sub, Ty::U32, 0, 1), Some(u64::from(u32::MAX)));
    assert_eq!(unary(UnaryOp::Neg, Ty::U32, 1), Some(u64::from(u32::MAX)));
    assert_eq!(
        unary(UnaryOp::Complement, Ty::U32, 0),
        Some(u64::from(u32::MAX))
    );
    assert_eq!(unary(UnaryOp::Complement, Ty::I32, 0), Some(int(-1)));
}

#[test]
fn integer_division_truncates_and_is_undefined_by_zero_or_when_it_overflows() {
    assert_eq!(binary(Div, Ty::I32, int(-7), 2), Some(int(-3)));
    assert_eq!(binary(Rem, Ty::I32, int(-7), 2), Some(int(-1)));
    assert_eq!(binary(Div, Ty::U32, 0xffff_fff9, 2), Some(0x7fff_fffc));
    for op in [Div, Rem] {
        for ty in [Ty::I32, Ty::U32, Ty::I64, Ty::U64] {
            assert_eq!(binary(op, ty, 1, 0), None);
        }
        assert_eq!(binary(op, Ty::I32, int(MIN32), int(-1)), None);
        assert_eq!(binary(op, Ty::I64, int(i64::MIN), int(-1)), None);
    }
}

#[test]
fn float_arithmetic_is_ieee_in_its_own_type() {
    let third = binary(Div, Ty::F32, float(1.0), float(3.0));
    assert_eq!(third, Some(float(1.0 / 3.0)));
    assert_eq!(
        binary(Div, Ty::F64, double(1.0), double(0.0)),
        Some(double(f64::INFINITY))
    );
    let nan = binary(Div, Ty::F64, 0, 0).expect("defined");
    assert!(f64::from_bits(nan).is_nan());
    assert_eq!(binary(Eq, Ty::F64, nan, nan), Some(0));
    assert_eq!(binary(Ne, Ty::F64, nan, nan), Some(1));
    assert!(truth(Ty::F64, nan));
    assert!(!truth(Ty::F64, double(-0.0)));
    assert_eq!(unary(UnaryOp::Neg, Ty::F64, 0), Some(double(-0.0)));
    assert_eq!(binary(Rem, Ty::F64, 0, 0), None);
    assert_eq!(unary(UnaryOp::Complement, Ty::F32, 0), None);
}

#[test]
fn comparisons_follow_the_signedness_of_their_type() {
    assert_eq!(binary(Lt, Ty::I32, int(-1), 1), Some(1));
    assert_eq!(binary(Lt, Ty::U32, u64::from(u32::MAX), 1), Some(0));
    assert_eq!(binary(Ge, Ty::I64, int(-1), 0), Some(0));
    assert_eq!(binary(Ge, Ty::Ptr, u64::MAX, 0), Some(1));
    assert_eq!(binary(Le, Ty::F32, float(-1.0), float(-0.5)), Some(1));
}

#[test]
fn a_shift_is_undefined_unless_count_and_result_are_in_range() {
    assert_eq!(shift(Shl, Ty::I32, Ty::I32, 1, 30), Some(1 << 30));
    assert_eq!(shift(Shl, Ty::I32, Ty::I32, 1, 31), None);
    assert_eq!(shift(Shl, Ty::I32, Ty::I32, int(-1), 0), None);
    assert_eq!(shift(Shl, Ty::I32, Ty::I64, 1, int(-1)), None);
    assert_eq!(shift(Shl, Ty::U32, Ty::I32, 3, 31), Some(1 << 31));
    assert_eq!(shift(Shl, Ty::U32, Ty::I32, 3, 32), None);
    assert_eq!(shift(Shl, Ty::I64, Ty::U8, 1, 62), Some(1 << 62));
    assert_eq!(shift(Shl, Ty::I64, Ty::U8, 1, 63), None);
    assert_eq!(shift(Shl, Ty::U64, Ty::U8, 1, 63), Some(1 << 63));
    assert_eq!(shift(Shr, Ty::I32, Ty::I32, int(-5), 1), Some(int(-3)));
    assert_eq!(shift(Shr, Ty::I32, Ty::I32, int(-5), 31), Some(int(-1)));
    assert_eq!(
        shift(Shr, Ty::U32, Ty::I32, 0xffff_ffff, 4),
        Some(0x0fff_ffff)
    );
    assert_eq!(shift(Shr, Ty::U64, Ty::I32, 1, 64), None);
    assert_eq!(shift(Shr, Ty::U8, Ty::I32, 1, 1), None);
    assert_eq!(shift(Add, Ty::I32, Ty::I32, 1, 1), None);
}

#[test]
fn integer_conversions_wrap_and_conversion_to_bool_tests_for_zero() {
    assert_eq!(convert(Ty::I32, Ty::I8, 200), Some(int(-56)));
    assert_eq!(convert(Ty::I32, Ty::U8, int(-1)), Some(255));
    assert_eq!(convert(Ty::I8, Ty::U32, int(-1)), Some(0xffff_ffff));
    assert_eq!(convert(Ty::I8, Ty::U64, int(-1)), Some(u64::MAX));
    assert_eq!(convert(Ty::U32, Ty::I64, 0xffff_ffff), Some(0xffff_ffff));
    assert_eq!(convert(Ty::I32, Ty::Bool, 256), Some(1));
    assert_eq!(convert(Ty::F64, Ty::Bool, double(0.25)), Some(1));
    assert_eq!(convert(Ty::Ptr, Ty::Bool, 0), Some(0));
    assert_eq!(convert(Ty::F64, Ty::Ptr, 0), None);
    assert_eq!(convert(Ty::Ptr, Ty::F32, 0), None);
}

#[test]
fn a_float_converts_to_an_integer_type_exactly_when_its_integral_part_fits() {
    for (value, to, expected) in [
        (-128.9, Ty::I8, Some(int(-128))),
        (-129.0, Ty::I8, None),
        (127.9, Ty::I8, Some(127)),
        (128.0, Ty::I8, None),
        (-0.9, Ty::U8, Some(0)),
        (-1.0, Ty::U64, None),
        (2_147_483_647.9, Ty::I32, Some(int(MAX32))),
        (2_147_483_648.0, Ty::I32, None),
        (-2_147_483_648.9, Ty::I32, Some(int(MIN32))),
        (-9_223_372_036_854_775_808.0, Ty::I64, Some(1 << 63)),
        (9_223_372_036_854_775_808.0, Ty::I64, None),
        (9_223_372_036_854_775_808.0, Ty::U64, Some(1 << 63)),
        (18_446_744_073_709_551_616.0, Ty::U64, None),
        (f64::NAN, Ty::I32, None),
        (f64::INFINITY, Ty::U64, None),
    ] {
        assert_eq!(
            convert(Ty::F64, to, double(value)),
            expected,
            "{value} {to:?}"
        );
    }
    assert_eq!(
        convert(Ty::F32, Ty::I32, float(-2_147_483_648.0)),
        Some(int(MIN32))
    );
    assert_eq!(convert(Ty::F32, Ty::I32, float(2_147_483_648.0)), None);
}

#[test]
fn an_integer_converts_to_float_with_one_rounding() {
    // Rounded to binary64 first, this would come out as 2^54 and lose the tie.
    let value = (1 << 54) + (1 << 30) + 1;
    assert_eq!(
        convert(Ty::I64, Ty::F32, value),
        Some(float(18_014_400_656_965_632.0))
    );
    assert_eq!(
        convert(Ty::U64, Ty::F64, u64::MAX),
        Some(double(18_446_744_073_709_551_616.0))
    );
    assert_eq!(convert(Ty::I64, Ty::F64, u64::MAX), Some(double(-1.0)));
}

#[test]
fn pointer_arithmetic_that_leaves_the_address_space_or_null_is_undefined() {
    assert_eq!(pointer_add(0x1000, 3, 4), Some(0x100c));
    assert_eq!(pointer_add(0x1000, -3, 4), Some(0xff4));
    assert_eq!(pointer_sub(0x1000, 3, 4), Some(0xff4));
    assert_eq!(pointer_add(0, 0, 4), Some(0));
    assert_eq!(pointer_add(0, 1, 4), None);
    assert_eq!(pointer_sub(0x1000, 0x400, 4), None);
    assert_eq!(pointer_sub(0x1000, 0x401, 4), None);
    assert_eq!(pointer_add(0x1000, i64::MAX, 4), None);
    assert_eq!(pointer_sub(0x1000, i64::MIN, 1), None);
    assert_eq!(pointer_index(Ty::U64, u64::MAX), None);
    assert_eq!(pointer_index(Ty::I8, int(-1)), Some(-1));
    assert_eq!(pointer_index(Ty::F64, 0), None);
}

#[test]
fn a_pointer_difference_is_undefined_unless_the_size_divides_it() {
    assert_eq!(pointer_difference(0x1000, 0x100c, 4), Some(int(-3)));
    assert_eq!(pointer_difference(0x100d, 0x1000, 4), None);
    assert_eq!(pointer_difference(0x1000, 0x1000, 0), None);
    assert_eq!(pointer_difference(u64::MAX, 0, 1), None);
    assert_eq!(pointer_difference(0, u64::MAX, 1), None);
}

#[test]
fn the_usual_arithmetic_conversions_are_those_of_lp64() {
    assert_eq!(promote(Ty::U16), Ty::I32);
    assert_eq!(promote(Ty::Bool), Ty::I32);
    assert_eq!(common(Ty::U8, Ty::I8), Some(Ty::I32));
    assert_eq!(common(Ty::I32, Ty::U32), Some(Ty::U32));
    assert_eq!(common(Ty::U32, Ty::I64), Some(Ty::I64));
    assert_eq!(common(Ty::U64, Ty::I64), Some(Ty::U64));
    assert_eq!(common(Ty::U64, Ty::F32), Some(Ty::F32));
    assert_eq!(common(Ty::F32, Ty::F64), Some(Ty::F64));
    assert_eq!(common(Ty::Ptr, Ty::I32), None);
}

#[test]
fn raw_memory_becomes_canonical_by_size_and_sign() {
    assert_eq!(Ty::I8.canonical(0xabcd_ef80), int(-128));
    assert_eq!(Ty::U16.canonical(0xabcd_ef80), 0xef80);
    assert_eq!(Ty::Bool.canonical(0x1_02), 1);
    assert_eq!(Ty::Bool.canonical(0x1_00), 0);
    assert_eq!(Ty::F32.canonical(u64::MAX), 0xffff_ffff);
}

#[test]
fn a_conversion_is_called_an_identity_exactly_when_no_value_changes() {
    for from in Ty::ALL {
        for to in Ty::ALL {
            let raws = [
                0,
                1,
                2,
                127,
                128,
                255,
                256,
                1 << 15,
                1 << 16,
                1 << 31,
                1 << 32,
                u64::MAX,
            ];
            let unchanged = raws
                .map(|raw| from.canonical(raw))
                .iter()
                .all(|&value| convert(from, to, value) == Some(value));
            assert_eq!(
                conversion_is_identity(from, to),
                unchanged,
                "{from:?} to {to:?}"
            );
        }
    }
}
