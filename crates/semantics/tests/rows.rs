//! The row operators agree with the scalar ones, for every operator, type and shape of operands.

use patchwright_semantics::rows::{
    Operand, binary_row, convert_row, logical_and_row, logical_or_row, pointer_add_row,
    pointer_difference_row, pointer_sub_row, select_row, shift_row, truth_row, unary_row,
    within_row,
};
use patchwright_semantics::{
    BinaryOp, Ty, UnaryOp, binary, convert, pointer_add, pointer_difference, pointer_index,
    pointer_sub, shift, truth, unary, within,
};

/// Canonical values of a type where its operators have their corners.
fn corners(ty: Ty) -> Vec<u64> {
    let floats = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.9,
        127.5,
        255.0,
        256.0,
        2_147_483_648.0,
        -2_147_483_649.0,
        4_294_967_295.5,
        9.3e18,
        1.9e19,
        1e300,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    match ty {
        Ty::F32 => floats.map(|f| u64::from((f as f32).to_bits())).to_vec(),
        Ty::F64 => floats.map(f64::to_bits).to_vec(),
        _ => {
            let mut raw = vec![0, 1, 2, 3, 7, 31, 32, 63, 64, 100, 0x1000];
            for bit in [6, 7, 8, 15, 16, 31, 32, 62, 63] {
                raw.extend([
                    1 << bit,
                    (1 << bit) - 1,
                    u64::MAX << bit,
                    u64::MAX << bit >> 1,
                ]);
            }
            raw.push(u64::MAX);
            let mut values: Vec<u64> = raw.into_iter().map(|raw| ty.canonical(raw)).collect();
            values.sort_unstable();
            values.dedup();
            values
        }
    }
}

/// A NaN's bits may depend on how an operation was compiled; everything else must be equal.
fn same(ty: Ty, row: u64, scalar: u64) -> bool {
    let is_nan = |value: u64| match ty {
        Ty::F32 => f32::from_bits(value as u32).is_nan(),
        Ty::F64 => f64::from_bits(value).is_nan(),
        _ => false,
    };
    row == scalar || is_nan(row) && is_nan(scalar)
}

#[track_caller]
fn assert_row(ty: Ty, what: &str, values: &[u64], undefined: &[u8], expected: &[Option<u64>]) {
    for (i, expected) in expected.iter().enumerate() {
        match expected {
            Some(value) => assert!(
                undefined[i] == 0 && same(ty, values[i], *value),
                "{what} at {i}: {:#x}/{} instead of {value:#x}",
                values[i],
                undefined[i]
            ),
            None => assert_eq!((values[i], undefined[i]), (0, 1), "{what} at {i}"),
        }
    }
}

type RowFunction<'a> = &'a dyn Fn(Operand, Operand, &mut [u64], &mut [u8]);
type RowFunction1<'a> = &'a dyn Fn(Operand, &mut [u64], &mut [u8]);

/// Checks a row function of two operands on all pairs of corners in all four shapes, with every
/// fifth element undefined.
fn check2(
    what: &str,
    (left_ty, right_ty, result): (Ty, Ty, Ty),
    row: RowFunction,
    scalar: &dyn Fn(u64, u64) -> Option<u64>,
) {
    let lefts = corners(left_ty);
    let undefined: Vec<u8> = (0..lefts.len()).map(|i| u8::from(i % 5 == 4) * 7).collect();
    let of = |i: usize, b: u64| (undefined[i] == 0).then(|| scalar(lefts[i], b)).flatten();
    let (mut out, mut out_undefined) = (vec![3; lefts.len()], vec![3; lefts.len()]);
    let a = Operand::Row(&lefts, &undefined);
    for b in corners(right_ty) {
        let expected: Vec<_> = (0..lefts.len()).map(|i| of(i, b)).collect();
        row(a, Operand::Scalar(b, false), &mut out, &mut out_undefined);
        assert_row(result, what, &out, &out_undefined, &expected);
        let bs = vec![b; lefts.len()];
        let b_undefined: Vec<u8> = (0..lefts.len()).map(|i| u8::from(i % 7 == 6)).collect();
        let expected: Vec<_> = (0..lefts.len())
            .map(|i| of(i, b).filter(|_| b_undefined[i] == 0))
            .collect();
        row(
            a,
            Operand::Row(&bs, &b_undefined),
            &mut out,
            &mut out_undefined,
        );
        assert_row(result, what, &out, &out_undefined, &expected);
        for &a in lefts.iter().take(4) {
            let a_scalar = Operand::Scalar(a, false);
            let expected = vec![scalar(a, b); lefts.len()];
            row(
                a_scalar,
                Operand::Row(&bs, &vec![0; bs.len()]),
                &mut out,
                &mut out_undefined,
            );
            assert_row(result, what, &out, &out_undefined, &expected);
            row(
                a_scalar,
                Operand::Scalar(b, false),
                &mut out,
                &mut out_undefined,
            );
            assert_row(result, what, &out, &out_undefined, &expected);
            row(
                a_scalar,
                Operand::Scalar(b, true),
                &mut out,
                &mut out_undefined,
            );
            assert_row(result, what, &out, &out_undefined, &vec![None; lefts.len()]);
        }
    }
}

#[test]
fn binary_rows_and_shift_rows_agree_with_the_scalar_operators() {
    for op in BinaryOp::ALL {
        for ty in Ty::ALL {
            let result = patchwright_semantics::binary_result(op, ty);
            check2(
                &format!("{op:?} {ty:?}"),
                (ty, ty, result),
                &|a, b, out, undefined| binary_row(op, ty, a, b, out, undefined),
                &|a, b| binary(op, ty, a, b),
            );
        }
    }
    for op in [BinaryOp::Shl, BinaryOp::Shr, BinaryOp::Add] {
        for left in Ty::ALL {
            for right in Ty::ALL {
                check2(
                    &format!("{op:?} {left:?} {right:?}"),
                    (left, right, left),
                    &|a, b, out, undefined| shift_row(op, left, right, a, b, out, undefined),
                    &|a, b| shift(op, left, right, a, b),
                );
            }
        }
    }
}

#[test]
fn pointer_rows_agree_with_the_scalar_operators() {
    for index in [Ty::I8, Ty::I32, Ty::U32, Ty::I64, Ty::U64, Ty::F64] {
        for size in [0, 1, 4, 24, u64::MAX] {
            check2(
                "pointer +",
                (Ty::Ptr, index, Ty::Ptr),
                &|a, b, out, undefined| pointer_add_row(index, size, a, b, out, undefined),
                &|a, b| pointer_add(a, pointer_index(index, b)?, size),
            );
            check2(
                "pointer -",
                (Ty::Ptr, index, Ty::Ptr),
                &|a, b, out, undefined| pointer_sub_row(index, size, a, b, out, undefined),
                &|a, b| pointer_sub(a, pointer_index(index, b)?, size),
            );
            check2(
                "pointer difference",
                (Ty::Ptr, Ty::Ptr, Ty::I64),
                &|a, b, out, undefined| pointer_difference_row(size, a, b, out, undefined),
                &|a, b| pointer_difference(a, b, size),
            );
        }
    }
}

#[test]
fn unary_and_conversion_rows_agree_with_the_scalar_operators() {
    let check = |what: String,
                 (ty, result): (Ty, Ty),
                 row: RowFunction1,
                 scalar: &dyn Fn(u64) -> Option<u64>| {
        let values = corners(ty);
        let undefined: Vec<u8> = (0..values.len()).map(|i| u8::from(i % 5 == 4)).collect();
        let (mut out, mut flags) = (vec![3; values.len()], vec![3; values.len()]);
        let expected: Vec<_> = values
            .iter()
            .zip(&undefined)
            .map(|(&a, &undefined)| (undefined == 0).then(|| scalar(a)).flatten())
            .collect();
        row(Operand::Row(&values, &undefined), &mut out, &mut flags);
        assert_row(result, &what, &out, &flags, &expected);
        for &a in &values {
            row(Operand::Scalar(a, false), &mut out, &mut flags);
            assert_row(result, &what, &out, &flags, &vec![scalar(a); values.len()]);
        }
        row(Operand::Scalar(1, true), &mut out, &mut flags);
        assert_row(result, &what, &out, &flags, &vec![None; values.len()]);
    };
    for ty in Ty::ALL {
        for op in UnaryOp::ALL {
            let result = if op == UnaryOp::Not { Ty::I32 } else { ty };
            check(
                format!("{op:?} {ty:?}"),
                (ty, result),
                &|a, out, undefined| unary_row(op, ty, a, out, undefined),
                &|a| unary(op, ty, a),
            );
        }
        for to in Ty::ALL {
            check(
                format!("{ty:?} to {to:?}"),
                (ty, to),
                &|a, out, undefined| convert_row(ty, to, a, out, undefined),
                &|a| convert(ty, to, a),
            );
        }
        check(
            format!("truth of {ty:?}"),
            (ty, Ty::Bool),
            &|a, out, undefined| truth_row(ty, a, out, undefined),
            &|a| Some(u64::from(truth(ty, a))),
        );
    }
    for count in [1, 4, 100, u64::MAX] {
        check(
            format!("within {count}"),
            (Ty::I64, Ty::I64),
            &|a, out, undefined| within_row(count, a, out, undefined),
            &|a| within(a, count),
        );
    }
}

#[test]
fn lazy_rows_ignore_what_is_not_chosen() {
    // All combinations of 0, 1 and ⊥ on both sides.
    let values = |i: usize| (u64::from(i == 1), u8::from(i == 2));
    let (lefts, left_undefined): (Vec<_>, Vec<_>) = (0..9).map(|i| values(i / 3)).unzip();
    let (rights, right_undefined): (Vec<_>, Vec<_>) = (0..9).map(|i| values(i % 3)).unzip();
    let (left, right) = (
        Operand::Row(&lefts, &left_undefined),
        Operand::Row(&rights, &right_undefined),
    );
    let (mut out, mut undefined) = (vec![3; 9], vec![3; 9]);
    let (f, t, u) = (Some(0), Some(1), None);

    logical_and_row(left, right, &mut out, &mut undefined);
    assert_row(
        Ty::Bool,
        "&&",
        &out,
        &undefined,
        &[f, f, f, f, t, u, u, u, u],
    );
    logical_or_row(left, right, &mut out, &mut undefined);
    assert_row(
        Ty::Bool,
        "||",
        &out,
        &undefined,
        &[f, t, u, t, t, t, u, u, u],
    );
    select_row(
        left,
        right,
        Operand::Scalar(9, false),
        &mut out,
        &mut undefined,
    );
    let nine = Some(9);
    assert_row(
        Ty::I32,
        "?:",
        &out,
        &undefined,
        &[nine, nine, nine, f, t, u, u, u, u],
    );
    select_row(
        left,
        Operand::Scalar(9, true),
        right,
        &mut out,
        &mut undefined,
    );
    assert_row(
        Ty::I32,
        "?:",
        &out,
        &undefined,
        &[f, t, u, u, u, u, u, u, u],
    );
}
