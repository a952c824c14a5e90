//! Whatever a module holds, its text reads back to the same module.

use patchwright_ir::{
    Argument, Block, BlockId, Callee, Data, Edge, FileId, Function, FunctionId, Global, GlobalId,
    Hook, Instruction, InstructionKind, Linkage, Local, LocalId, LocalKind, Module, Node, Operand,
    Origin, OriginId, Parameter, Relocation, SourceFile, Subscript, SwitchCase, Target, TempId,
    Temporary, Terminator, TerminatorKind, Type, Value, Without, print_module, read_module,
};
use patchwright_semantics::{BinaryOp, UnaryOp};
use patchwright_text::Span;
use proptest::prelude::*;

/// Choices that follow from a seed (xorshift64*).
struct Choices(u64);

impl Choices {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u32) -> u32 {
        (self.next() >> 33) as u32 % n
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }

    fn of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }

    fn ty(&mut self) -> Type {
        use Type::*;
        let all = [
            Bool, I8, U8, I16, U16, I32, U32, I64, U64, I128, U128, F32, F64, F80, Ptr,
        ];
        self.of(&all)
    }

    fn passed(&mut self) -> Type {
        match self.below(5) {
            0 => Type::Aggregate {
                size: u64::from(self.below(100)),
            },
            _ => self.ty(),
        }
    }

    fn origin(&mut self) -> OriginId {
        OriginId(self.below(3))
    }

    fn local(&mut self) -> LocalId {
        LocalId(self.below(4))
    }

    fn operand(&mut self) -> Operand {
        let value = match self.below(4) {
            0 => Value::Temp(TempId(self.below(9))),
            1 => Value::Address {
                target: self.target(),
                addend: self.next() as i64 >> self.below(64),
            },
            _ => {
                let ty = self.ty();
                let bits = u128::from(self.next()) << 64 | u128::from(self.next());
                let bits = match ty.scalar() {
                    Some(scalar) => u128::from(scalar.canonical(bits as u64)),
                    None if ty == Type::F80 => bits >> 48,
                    None => bits,
                };
                Value::Constant { ty, bits }
            }
        };
        Operand {
            value,
            origin: self.origin(),
        }
    }

    fn target(&mut self) -> Target {
        match self.coin() {
            true => Target::Global(GlobalId(self.below(2))),
            false => Target::Function(FunctionId(self.below(2))),
        }
    }

    fn edge(&mut self) -> Edge {
        Edge {
            target: BlockId(self.below(3)),
            origin: self.origin(),
        }
    }

    fn text(&mut self) -> String {
        self.of(&[
            "",
            "x",
            "two words",
            "a \"quote\"",
            "back\\slash\nand line",
            "ä→\r",
        ])
        .to_owned()
    }

    /// An instruction; temporaries that it defines are new ones.
    fn instruction(&mut self, temporaries: &mut Vec<Temporary>) -> Instruction {
        use InstructionKind::*;
        let mut new = |ty: Type| {
            temporaries.push(Temporary { ty });
            TempId(temporaries.len() as u32 - 1)
        };
        let (local, ty, width) = (self.local(), self.ty(), 1 + self.below(64));
        let (a, b, c) = (self.operand(), self.operand(), self.operand());
        let offset = self.below(1000);
        let ops = [
            BinaryOp::Add,
            BinaryOp::Rem,
            BinaryOp::Lt,
            BinaryOp::Xor,
            BinaryOp::Shl,
        ];
        let kind = match self.below(22) {
            0 => Read {
                dst: new(ty),
                local,
            },
            1 => Write { local, value: a },
            2 => Live { local },
            3 => Dead { local },
            4 => LocalAddress {
                dst: new(Type::Ptr),
                local,
            },
            5 => Load {
                dst: new(ty),
                ty,
                address: a,
                volatile: self.coin(),
            },
            6 => Store {
                ty,
                address: a,
                value: b,
                volatile: self.coin(),
            },
            7 => LoadBits {
                dst: new(ty),
                ty,
                address: a,
                offset,
                width,
            },
            8 => StoreBits {
                ty,
                address: a,
                value: b,
                offset,
                width,
            },
            9 => Extend {
                dst: new(ty),
                ty,
                value: a,
                width,
            },
            10 => {
                let op = self.of(&[UnaryOp::Neg, UnaryOp::Complement, UnaryOp::Not]);
                Unary {
                    dst: new(ty),
                    op,
                    ty,
                    a,
                }
            }
            11 => Binary {
                dst: new(ty),
                op: self.of(&ops),
                ty,
                a,
                b,
            },
            12 => {
                let op = self.of(&[BinaryOp::Shl, BinaryOp::Shr]);
                Shift {
                    dst: new(ty),
                    op,
                    ty,
                    count: self.ty(),
                    a,
                    b,
                }
            }
            13 => Convert {
                dst: new(ty),
                from: self.ty(),
                to: ty,
                a,
            },
            14 => PointerAdd {
                dst: new(Type::Ptr),
                a,
                index: b,
                ty,
                size: c,
                negative: self.coin(),
                subscript: match offset % 3 {
                    0 => None,
                    more => Some(Subscript {
                        count: u64::from(offset),
                        end: more == 1,
                    }),
                },
            },
            15 => PointerDifference {
                dst: new(Type::I64),
                a,
                b,
                size: c,
            },
            16 => MemberAddress {
                dst: new(Type::Ptr),
                a,
                offset: u64::from(offset),
                array: match offset % 3 {
                    0 => None,
                    1 => Some(u64::from(offset)),
                    _ => Some(u64::MAX),
                },
            },
            17 => Copy {
                to: a,
                from: b,
                size: u64::from(offset),
            },
            18 => Zero {
                address: a,
                size: u64::from(offset),
            },
            19 => {
                let callee = match self.coin() {
                    true => Callee::Direct(FunctionId(self.below(2))),
                    false => Callee::Indirect(a),
                };
                let count = self.below(4);
                let arguments = (0..count).map(|_| Argument {
                    ty: self.passed(),
                    value: self.operand(),
                    to_const: self.coin(),
                });
                let arguments = arguments.collect();
                let result_address = self.coin().then(|| self.operand());
                Call {
                    dst: self.coin().then(|| new(ty)),
                    callee,
                    arguments,
                    fixed: offset as usize,
                    result: self.passed(),
                    result_address,
                }
            }
            20 => match self.below(4) {
                0 => VaStart { list: a },
                1 => VaArg {
                    dst: new(ty),
                    ty,
                    list: a,
                },
                2 => VaCopy { to: a, from: b },
                _ => Allocate {
                    dst: new(Type::Ptr),
                    size: a,
                    scope: self.coin().then_some(local),
                },
            },
            _ => Unsupported {
                dst: self.coin().then(|| new(ty)),
                reason: self.text(),
            },
        };
        Instruction {
            kind,
            origin: self.origin(),
        }
    }

    fn terminator(&mut self) -> Terminator {
        let kind = match self.below(7) {
            0 => TerminatorKind::Goto(self.edge()),
            1 => TerminatorKind::Branch {
                condition: self.operand(),
                ty: self.ty(),
                then: self.edge(),
                otherwise: self.edge(),
            },
            2 => {
                let count = self.below(3);
                let cases = (0..count).map(|_| SwitchCase {
                    low: i128::from(self.next() as i64),
                    high: i128::from(self.next()),
                    edge: self.edge(),
                });
                let cases = cases.collect();
                TerminatorKind::Switch {
                    value: self.operand(),
                    ty: self.ty(),
                    cases,
                    default: self.edge(),
                }
            }
            3 => TerminatorKind::Return(Some(self.operand())),
            4 => TerminatorKind::Return(None),
            5 => TerminatorKind::ReturnNothing,
            _ => TerminatorKind::Unreachable,
        };
        Terminator {
            kind,
            origin: self.origin(),
            without: match self.below(4) {
                0 => Without::Block(BlockId(self.below(9))),
                1 => Without::End,
                _ => Without::Same,
            },
            inside: (self.below(3) == 0).then(|| self.origin()),
        }
    }

    fn place(&mut self) -> Origin {
        let start = self.below(1000);
        Origin {
            node: match self.below(4) {
                0 => None,
                1 => Some(Node::Expression(self.below(9))),
                2 => Some(Node::Statement(self.below(9))),
                _ => Some(Node::Variable(self.below(9))),
            },
            span: self.coin().then(|| Span::new(start, start + 5)),
            line: self.coin().then(|| (FileId(0), self.below(99))),
        }
    }

    fn function(&mut self, name: &str) -> Function {
        let mut temporaries = Vec::new();
        let blocks = (0..self.below(4))
            .map(|_| Block {
                instructions: (0..self.below(9))
                    .map(|_| self.instruction(&mut temporaries))
                    .collect(),
                terminator: self.terminator(),
            })
            .collect();
        Function {
            name: name.to_owned(),
            linkage: self.of(&[Linkage::Internal, Linkage::External, Linkage::Weak]),
            parameters: (0..self.below(4))
                .map(|_| Parameter { ty: self.passed() })
                .collect(),
            variadic: self.coin(),
            prototyped: self.coin(),
            no_return: self.coin(),
            result: self.passed(),
            locals: (0..self.below(4))
                .map(|_| Local {
                    name: self.text(),
                    kind: match self.coin() {
                        true => LocalKind::Register(self.ty()),
                        false => LocalKind::Memory {
                            size: u64::from(self.below(99)),
                            align: 8,
                        },
                    },
                    origin: self.origin(),
                })
                .collect(),
            temporaries,
            blocks,
            origins: (0..1 + self.below(3)).map(|_| self.place()).collect(),
        }
    }

    fn global(&mut self, name: &str) -> Global {
        let relocations = (0..self.below(3)).map(|index| Relocation {
            offset: 8 * u64::from(index),
            target: self.target(),
            addend: i64::from(self.below(99)) - 50,
        });
        let data = Data {
            relocations: relocations.collect(),
            bytes: (0..self.below(20)).map(|i| i as u8).collect(),
        };
        Global {
            name: name.to_owned(),
            linkage: self.of(&[Linkage::Internal, Linkage::External, Linkage::Weak]),
            size: 40,
            align: self.of(&[1, 8, 64]),
            constant: self.coin(),
            thread_local: self.coin(),
            tentative: self.coin(),
            data: self.coin().then_some(data),
            unsupported: self.coin().then(|| self.text()),
            origin: self.place(),
        }
    }
}

impl Choices {
    fn hooks(&mut self) -> Vec<Hook> {
        let hook = Hook {
            function: FunctionId(1),
            priority: 101,
        };
        if self.coin() { vec![hook] } else { Vec::new() }
    }
}

proptest! {
    #[test]
    fn the_text_of_a_module_reads_back(seed in 1u64..) {
        let mut choices = Choices(seed);
        let module = Module {
            files: vec![SourceFile { path: choices.text() }],
            globals: vec![choices.global("g"), choices.global(".string.1")],
            functions: vec![choices.function("f"), choices.function("other")],
            constructors: choices.hooks(),
            destructors: choices.hooks(),
        };
        let text = print_module(&module);
        let again = read_module(&text);
        prop_assert_eq!(again.as_ref(), Ok(&module), "{}", text);
        prop_assert_eq!(print_module(&again.expect("it was read")), text);
    }
}
