//! Prints how many elements the row operators process per second of processor time.
//!
//! `cargo run --release -p patchwright-semantics --example rows_throughput`

use patchwright_semantics::rows::{Operand, binary_row, convert_row, logical_and_row, shift_row};
use patchwright_semantics::{BinaryOp, Ty};
use std::hint::black_box;

/// Elements per row: small enough for the first-level caches, as columns are processed in chunks.
const ROW: usize = 1024;
const REPEATS: usize = 50_000;

/// Time on a processor so far: other work on the machine does not count.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells");
    let nanoseconds = text.split(' ').next().and_then(|field| field.parse().ok());
    nanoseconds.map_or(f64::NAN, |nanoseconds: f64| nanoseconds / 1e9)
}

fn measure(name: &str, mut run: impl FnMut(&mut [u64], &mut [u8])) {
    let (mut out, mut undefined) = (vec![0; ROW], vec![0; ROW]);
    run(&mut out, &mut undefined);
    let start = processor_seconds();
    for _ in 0..REPEATS {
        run(black_box(&mut out), black_box(&mut undefined));
    }
    let rate = (ROW * REPEATS) as f64 / (processor_seconds() - start);
    println!("{name:<24} {rate:9.2e} elements/s");
}

fn main() {
    let ints: Vec<u64> = (0..ROW)
        .map(|i| (i as i64 * 7_919 - 4_000_000) as u64)
        .collect();
    let others: Vec<u64> = (0..ROW).map(|i| (i as i64 % 37 + 1) as u64).collect();
    let doubles: Vec<u64> = (0..ROW).map(|i| (i as f64 / 3.0).to_bits()).collect();
    let bits: Vec<u64> = (0..ROW as u64).map(|i| i / 3 % 2).collect();
    let defined = vec![0; ROW];
    let row = |values| Operand::Row(values, &defined);
    for (name, op, ty, left, right) in [
        ("i32 +", BinaryOp::Add, Ty::I32, &ints, &others),
        ("i32 *", BinaryOp::Mul, Ty::I32, &ints, &others),
        ("i32 /", BinaryOp::Div, Ty::I32, &ints, &others),
        ("i32 &", BinaryOp::And, Ty::I32, &ints, &others),
        ("i32 <", BinaryOp::Lt, Ty::I32, &ints, &others),
        ("i32 ==", BinaryOp::Eq, Ty::I32, &ints, &others),
        ("i64 +", BinaryOp::Add, Ty::I64, &ints, &others),
        ("u64 +", BinaryOp::Add, Ty::U64, &ints, &others),
        ("double *", BinaryOp::Mul, Ty::F64, &doubles, &doubles),
    ] {
        let (left, right) = (row(left), row(right));
        measure(name, |out, undefined| {
            binary_row(op, ty, black_box(left), right, out, undefined);
        });
        if let ("i32 +" | "i32 <", scalar) = (name, Operand::Scalar(17, false)) {
            measure(&format!("{name} scalar"), |out, undefined| {
                binary_row(op, ty, black_box(left), scalar, out, undefined);
            });
        }
    }
    measure("i32 <<", |out, undefined| {
        let (left, right) = (row(&others), row(&bits));
        shift_row(
            BinaryOp::Shl,
            Ty::I32,
            Ty::I32,
            black_box(left),
            right,
            out,
            undefined,
        );
    });
    measure("i32 to signed char", |out, undefined| {
        convert_row(Ty::I32, Ty::I8, black_box(row(&ints)), out, undefined);
    });
    measure("double to int", |out, undefined| {
        convert_row(Ty::F64, Ty::I32, black_box(row(&doubles)), out, undefined);
    });
    measure("&&", |out, undefined| {
        logical_and_row(black_box(row(&bits)), row(&bits), out, undefined);
    });
}
