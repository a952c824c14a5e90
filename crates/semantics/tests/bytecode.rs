//! The stack machine: laziness, and robustness against code that nobody compiled.

use patchwright_semantics::{BinaryOp, Instruction, MAX_STACK, Ty, UnaryOp, evaluate};

/// `slot 0 != 0 && 10 / slot 0 > slot 1`
fn guarded_division() -> Vec<Instruction> {
    vec![
        Instruction::slot(0),
        Instruction::convert(Ty::I32, Ty::Bool),
        Instruction::jump_if_zero(7),
        Instruction::constant(10),
        Instruction::slot(0),
        Instruction::binary(BinaryOp::Div, Ty::I32),
        Instruction::slot(1),
        Instruction::binary(BinaryOp::Gt, Ty::I32),
        Instruction::convert(Ty::I32, Ty::Bool),
        Instruction::jump(1),
        Instruction::constant(0),
    ]
}

#[test]
fn what_a_jump_skips_is_not_evaluated() {
    let code = guarded_division();
    assert_eq!(evaluate(&code, &[0, 4], &[0, 0]), Some(0));
    assert_eq!(evaluate(&code, &[2, 4], &[0, 0]), Some(1));
    assert_eq!(evaluate(&code, &[3, 4], &[0, 0]), Some(0));
    assert_eq!(evaluate(&code, &[0, 4], &[0, 1]), Some(0));
    assert_eq!(evaluate(&code, &[2, 4], &[0, 1]), None);
    assert_eq!(evaluate(&code, &[0, 4], &[1, 0]), None);
}

#[test]
fn every_instruction_computes_its_operator() {
    let run = |code: &[Instruction]| evaluate(code, &[0x1000, 5], &[0, 0]);
    assert_eq!(
        run(&[
            Instruction::slot(1),
            Instruction::unary(UnaryOp::Neg, Ty::I32)
        ]),
        Some(-5_i64 as u64)
    );
    assert_eq!(
        run(&[
            Instruction::slot(1),
            Instruction::constant(2),
            Instruction::shift(BinaryOp::Shl, Ty::I32, Ty::I64)
        ]),
        Some(20)
    );
    let mut pointer = vec![
        Instruction::slot(0),
        Instruction::slot(1),
        Instruction::pointer_add(Ty::I32, 8),
    ];
    assert_eq!(run(&pointer), Some(0x1028));
    let index = |count| run(&[Instruction::slot(1), Instruction::within(count)]);
    assert_eq!((index(6), index(5)), (Some(5), None));
    pointer.extend([Instruction::slot(0), Instruction::pointer_difference(8)]);
    assert_eq!(run(&pointer), Some(5));
    pointer[2] = Instruction::pointer_sub(Ty::I32, 8);
    assert_eq!(run(&pointer), Some(-5_i64 as u64));
}

#[test]
fn malformed_code_is_undefined_instead_of_a_crash() {
    let one = Instruction::constant(1);
    let bad = |field: fn(&mut Instruction)| {
        let mut instruction = Instruction::binary(BinaryOp::Add, Ty::I32);
        field(&mut instruction);
        vec![one, one, instruction]
    };
    for code in [
        vec![],
        vec![one, one],
        vec![Instruction::binary(BinaryOp::Add, Ty::I32)],
        vec![one, Instruction::binary(BinaryOp::Add, Ty::I32)],
        vec![one, Instruction::jump(1)],
        vec![one, Instruction::jump(u32::MAX)],
        vec![Instruction::slot(0)],
        bad(|i| i.opcode = 0xff),
        bad(|i| i.op = 0xff),
        bad(|i| i.ty = 0xff),
        bad(|i| {
            i.opcode = 9;
            i.immediate = u64::MAX;
        }),
    ] {
        assert_eq!(evaluate(&code, &[], &[]), None, "{code:?}");
    }
}

#[test]
fn the_stack_is_bounded() {
    let deep = |depth: usize| {
        let mut code = vec![Instruction::constant(1); depth];
        code.resize(2 * depth - 1, Instruction::binary(BinaryOp::Add, Ty::I32));
        evaluate(&code, &[], &[])
    };
    assert_eq!(deep(MAX_STACK), Some(MAX_STACK as u64));
    assert_eq!(deep(MAX_STACK + 1), None);
}

#[test]
fn random_bytes_as_code_always_end() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    for _ in 0..200_000 {
        let code: Vec<Instruction> = (0..random() % 12)
            .map(|_| {
                let bits = random();
                Instruction {
                    // Mostly valid, or evaluation would end at the first instruction.
                    opcode: (bits & 0xff) as u8 % 12,
                    op: (bits >> 8) as u8 % 17,
                    ty: (bits >> 16) as u8 % 13,
                    other_ty: (bits >> 24) as u8 % 13,
                    reserved: (bits >> 32) as u32,
                    immediate: match bits >> 62 {
                        0 => random(),
                        1 => random() % 4,
                        2 => u64::MAX - random() % 3,
                        _ => 1 << (random() % 64),
                    },
                }
            })
            .collect();
        // Whatever comes out: it must come out, and be the same again.
        let slots = [random(), random(), 0];
        let first = evaluate(&code, &slots, &[0, 0]);
        assert_eq!(first, evaluate(&code, &slots, &[0, 0]));
    }
}
