//! Instructions, terminators and operands of the IR.

use patchwright_semantics::{BinaryOp, UnaryOp};

use crate::{
    function::Edge,
    module::Target,
    types::{BlockId, FunctionId, LocalId, OriginId, TempId, Type},
};

/// The value of an operand: a temporary, a constant or an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// The value of a temporary.
    Temp(TempId),
    /// A constant: for the scalar types the canonical form of crate `semantics`; for the wide
    /// integers their bits; for `F80` its 80 bits.
    Constant {
        /// Its type.
        ty: Type,
        /// Its bits.
        bits: u128,
    },
    /// The address of an object or function, and bytes after it; a `Ptr`.
    Address {
        /// What is pointed to.
        target: Target,
        /// Bytes after its start.
        addend: i64,
    },
}

/// An operand with the node of the source whose value it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// Its value.
    pub value: Value,
    /// The node.
    pub origin: OriginId,
}

/// The function that a call calls: a known one, or a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// This function.
    Direct(FunctionId),
    /// The function whose address this is.
    Indirect(Operand),
}

/// An argument of a call, with the type that it is passed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The type that it is passed as.
    pub ty: Type,
    /// Its value; the address of the object for an aggregate.
    pub value: Operand,
    /// It points to what is `const` for the function that is called.
    pub to_const: bool,
}

/// An instruction with its origin in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// What it does.
    pub kind: InstructionKind,
    /// The node that it computes.
    pub origin: OriginId,
}

/// The bounds of the index of an array whose length is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subscript {
    /// Elements of the array; at least one.
    pub count: u64,
    /// Only the address is taken, which may be the one past the last element.
    pub end: bool,
}

impl Subscript {
    /// Returns the greatest permitted index.
    pub fn greatest(self) -> u64 {
        match self.end {
            true => self.count,
            false => self.count - 1,
        }
    }
}

/// The operation of an instruction, with its operands. `dst` is the temporary that it defines.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum InstructionKind {
    /// The value of a register local; undefined when it was not written since it came to life.
    Read { dst: TempId, local: LocalId },
    /// Writes a register local.
    Write { local: LocalId, value: Operand },
    /// The lifetime of a local begins, with no value; where one of the same name was alive, it
    /// has ended.
    Live { local: LocalId },
    /// The lifetime of a local ends.
    Dead { local: LocalId },
    /// A memory local that is `const` has its value: it must not be written until its lifetime ends.
    Settle { local: LocalId },
    /// The address of a memory local.
    LocalAddress { dst: TempId, local: LocalId },
    /// Reads an object of type `ty`.
    Load {
        dst: TempId,
        ty: Type,
        address: Operand,
        volatile: bool,
    },
    /// Writes an object of type `ty`.
    Store {
        ty: Type,
        address: Operand,
        value: Operand,
        volatile: bool,
    },
    /// Reads `width` bits that begin `offset` bits after the address, in little-endian order, as
    /// a value of type `ty`, sign-extended when that is signed.
    LoadBits {
        dst: TempId,
        ty: Type,
        address: Operand,
        offset: u32,
        width: u32,
    },
    /// Writes the low `width` bits of a value; the bits around them keep their values.
    StoreBits {
        ty: Type,
        address: Operand,
        value: Operand,
        offset: u32,
        width: u32,
    },
    /// Sign- or zero-extends the low `width` bits of a value of type `ty`: what a bit-field holds
    /// after an assignment.
    Extend {
        dst: TempId,
        ty: Type,
        value: Operand,
        width: u32,
    },
    /// `op a`, `a` of the promoted type `ty`; `!` gives an `I32`.
    Unary {
        dst: TempId,
        op: UnaryOp,
        ty: Type,
        a: Operand,
    },
    /// `a op b`, both of type `ty`; comparisons give an `I32`. Not for shifts.
    Binary {
        dst: TempId,
        op: BinaryOp,
        ty: Type,
        a: Operand,
        b: Operand,
    },
    /// `a << b` or `a >> b`, `a` of the promoted type `ty`, `b` of type `count`.
    Shift {
        dst: TempId,
        op: BinaryOp,
        ty: Type,
        count: Type,
        a: Operand,
        b: Operand,
    },
    /// A conversion.
    Convert {
        dst: TempId,
        from: Type,
        to: Type,
        a: Operand,
    },
    /// The address `index` elements of `size` bytes after (or, when `negative`, before) `a`.
    PointerAdd {
        dst: TempId,
        a: Operand,
        index: Operand,
        ty: Type,
        size: Operand,
        negative: bool,
        /// The bounds of an array that is part of a larger object. An index outside of them is undefined, although the address may lie
        /// in the object.
        subscript: Option<Subscript>,
    },
    /// `a - b` in elements of `size` bytes, an `I64`.
    PointerDifference {
        dst: TempId,
        a: Operand,
        b: Operand,
        size: Operand,
    },
    /// The address `offset` bytes into the record at `a`; undefined when `a` is null.
    MemberAddress {
        dst: TempId,
        a: Operand,
        offset: u64,
        /// For a member that is an array, its bytes, which what is made of the address by arithmetic does not leave;
        /// `u64::MAX` where the array may be longer than its type says, as the last member of a record may. Nothing
        /// checks this; analyses use it.
        array: Option<u64>,
    },
    /// Copies `size` bytes; the ranges are equal or do not overlap.
    Copy {
        to: Operand,
        from: Operand,
        size: u64,
    },
    /// Fills `size` bytes with zeros.
    Zero { address: Operand, size: u64 },
    /// Calls a function. An aggregate result is written to `result_address`.
    Call {
        dst: Option<TempId>,
        callee: Callee,
        arguments: Vec<Argument>,
        /// The number of arguments that the callee's type, as the caller sees it, declares.
        fixed: usize,
        result: Type,
        result_address: Option<Operand>,
    },
    /// Makes the `va_list` at `list` refer to the first argument that is not declared.
    VaStart { list: Operand },
    /// The next argument of the `va_list` at `list`, as a value of type `ty`. For an aggregate it is the address of a copy, which
    /// lives as long as the function is executed.
    VaArg {
        dst: TempId,
        ty: Type,
        list: Operand,
    },
    /// Copies a `va_list`.
    VaCopy { to: Operand, from: Operand },
    /// A new object of `size` bytes (a `U64`), which lives until `scope` dies or the function
    /// returns: variable arrays have a scope, `alloca` has none.
    Allocate {
        dst: TempId,
        size: Operand,
        scope: Option<LocalId>,
    },
    /// What could not be lowered. Executing it ends the execution; `dst`, of any type, stands for
    /// the value that it would have given.
    Unsupported { dst: Option<TempId>, reason: String },
}

/// The temporary that an instruction defines, of a kind that is borrowed in either way.
macro_rules! defined {
    ($kind:expr) => {{
        use InstructionKind::*;
        match $kind {
            Read { dst, .. }
            | LocalAddress { dst, .. }
            | Load { dst, .. }
            | LoadBits { dst, .. }
            | Extend { dst, .. }
            | Unary { dst, .. }
            | Binary { dst, .. }
            | Shift { dst, .. }
            | Convert { dst, .. }
            | PointerAdd { dst, .. }
            | PointerDifference { dst, .. }
            | MemberAddress { dst, .. }
            | VaArg { dst, .. }
            | Allocate { dst, .. } => Some(dst),
            Call { dst, .. } | Unsupported { dst, .. } => Option::from(dst),
            Write { .. }
            | Live { .. }
            | Dead { .. }
            | Settle { .. }
            | Store { .. }
            | StoreBits { .. }
            | Copy { .. }
            | Zero { .. }
            | VaStart { .. }
            | VaCopy { .. } => None,
        }
    }};
}

/// Hands over each operand, in order, of a kind that is borrowed in either way.
macro_rules! each_operand {
    ($kind:expr, $visit:expr) => {{
        use InstructionKind::*;
        match $kind {
            Read { .. }
            | Live { .. }
            | Dead { .. }
            | Settle { .. }
            | LocalAddress { .. }
            | Unsupported { .. } => {}
            Write { value: a, .. }
            | Extend { value: a, .. }
            | Load { address: a, .. }
            | LoadBits { address: a, .. }
            | Zero { address: a, .. }
            | Unary { a, .. }
            | Convert { a, .. }
            | MemberAddress { a, .. }
            | VaStart { list: a }
            | VaArg { list: a, .. }
            | Allocate { size: a, .. } => $visit(a),
            Store {
                address: a,
                value: b,
                ..
            }
            | StoreBits {
                address: a,
                value: b,
                ..
            }
            | Binary { a, b, .. }
            | Shift { a, b, .. }
            | Copy { to: a, from: b, .. }
            | VaCopy { to: a, from: b } => {
                $visit(a);
                $visit(b);
            }
            PointerAdd {
                a, index: b, size, ..
            }
            | PointerDifference { a, b, size, .. } => {
                $visit(a);
                $visit(b);
                $visit(size);
            }
            Call {
                callee,
                arguments,
                result_address,
                ..
            } => {
                if let Callee::Indirect(callee) = callee {
                    $visit(callee);
                }
                for argument in arguments {
                    let Argument { value, .. } = argument;
                    $visit(value);
                }
                if let Some(address) = result_address {
                    $visit(address);
                }
            }
        }
    }};
}

impl Instruction {
    /// Returns the temporary that the instruction defines, if any.
    pub fn defines(&self) -> Option<TempId> {
        defined!(&self.kind).copied()
    }

    /// Returns the temporary that the instruction defines, so that it can be renamed.
    pub fn defines_mut(&mut self) -> Option<&mut TempId> {
        defined!(&mut self.kind)
    }

    /// Returns all operands, in order.
    pub fn operands(&self) -> Vec<Operand> {
        let mut all = Vec::new();
        let mut add = |operand: &Operand| all.push(*operand);
        each_operand!(&self.kind, add);
        all
    }

    /// Calls `visit` with each operand, in the order of [`Instruction::operands`].
    pub fn for_each_operand_mut(&mut self, visit: &mut dyn FnMut(&mut Operand)) {
        each_operand!(&mut self.kind, visit);
    }

    /// Returns the reason of an `unsupported` instruction, which stands for code that could not be
    /// lowered.
    pub fn unsupported(&self) -> Option<&str> {
        match &self.kind {
            InstructionKind::Unsupported { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// The end of a block: where control goes next.
#[derive(Clone, Debug, PartialEq)]
pub struct Terminator {
    /// What it does.
    pub kind: TerminatorKind,
    /// The node that it comes from: the condition of a branch, the statement of a jump.
    pub origin: OriginId,
    /// Where control would go without it, if it is a jump. No execution goes there.
    pub without: Without,
    /// The loop or `switch` that a `break` or `continue` belongs to, without which it means nothing.
    pub inside: Option<OriginId>,
}

/// Where control would go if a jump were left out of the source. Jumps are `break`, `continue`, `goto`,
/// `return`, calls that never return, and the way back of a loop without a condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Without {
    /// To where it goes with it; and what is no jump.
    #[default]
    Same,
    /// To this block.
    Block(BlockId),
    /// To the end of the function.
    End,
}

/// One case of a switch: the values from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SwitchCase {
    /// The least value, in the mathematical sense.
    pub low: i128,
    /// The greatest one; more than `low` for GNU C's ranges only.
    pub high: i128,
    /// Where control goes.
    pub edge: Edge,
}

/// The kind of a terminator, with its edges.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum TerminatorKind {
    /// Goes on elsewhere.
    Goto(Edge),
    /// Goes one way when the condition, of type `ty`, compares unequal to zero, else the other.
    Branch {
        condition: Operand,
        ty: Type,
        then: Edge,
        otherwise: Edge,
    },
    /// Goes where the value, of the promoted type `ty`, says. No two cases overlap.
    Switch {
        value: Operand,
        ty: Type,
        cases: Vec<SwitchCase>,
        default: Edge,
    },
    /// Returns to the caller; the address of the object for an aggregate.
    Return(Option<Operand>),
    /// Returns from the end of a function that returns a value, without one: undefined if the
    /// caller uses it.
    ReturnNothing,
    /// Control never gets here (after a call that does not return,
    /// `__builtin_unreachable()`): undefined.
    Unreachable,
}

impl Terminator {
    /// Returns all edges: `then` before `otherwise`, and cases before the default.
    pub fn edges(&self) -> Vec<Edge> {
        match &self.kind {
            TerminatorKind::Goto(edge) => vec![*edge],
            TerminatorKind::Branch {
                then, otherwise, ..
            } => vec![*then, *otherwise],
            TerminatorKind::Switch { cases, default, .. } => cases
                .iter()
                .map(|case| case.edge)
                .chain([*default])
                .collect(),
            TerminatorKind::Return(_)
            | TerminatorKind::ReturnNothing
            | TerminatorKind::Unreachable => Vec::new(),
        }
    }

    /// Returns the edges that control can take: a branch on a constant has one.
    pub fn taken(&self) -> Vec<Edge> {
        match &self.kind {
            TerminatorKind::Branch {
                condition:
                    Operand {
                        value: Value::Constant { ty, bits },
                        ..
                    },
                then,
                otherwise,
                ..
            } => {
                // Zero has two signs.
                let sign = match ty {
                    Type::F32 => 1 << 31,
                    Type::F64 => 1 << 63,
                    Type::F80 => 1 << 79,
                    _ => 0,
                };
                vec![if bits & !sign != 0 { *then } else { *otherwise }]
            }
            _ => self.edges(),
        }
    }

    /// Calls `visit` with each edge, in the order of [`Terminator::edges`].
    pub fn for_each_edge_mut(&mut self, visit: &mut dyn FnMut(&mut Edge)) {
        match &mut self.kind {
            TerminatorKind::Goto(edge) => visit(edge),
            TerminatorKind::Branch {
                then, otherwise, ..
            } => {
                visit(then);
                visit(otherwise);
            }
            TerminatorKind::Switch { cases, default, .. } => {
                for case in cases {
                    visit(&mut case.edge);
                }
                visit(default);
            }
            TerminatorKind::Return(_)
            | TerminatorKind::ReturnNothing
            | TerminatorKind::Unreachable => {}
        }
    }

    /// Returns the operand of a branch, a switch or a return, to be changed.
    pub fn operand_mut(&mut self) -> Option<&mut Operand> {
        match &mut self.kind {
            TerminatorKind::Branch { condition, .. } => Some(condition),
            TerminatorKind::Switch { value, .. } => Some(value),
            TerminatorKind::Return(value) => value.as_mut(),
            _ => None,
        }
    }

    /// Returns the operand of a branch, a switch or a return, if there is one.
    pub fn operand(&self) -> Option<Operand> {
        match &self.kind {
            TerminatorKind::Branch { condition, .. } => Some(*condition),
            TerminatorKind::Switch { value, .. } => Some(*value),
            TerminatorKind::Return(value) => *value,
            TerminatorKind::Goto(_)
            | TerminatorKind::ReturnNothing
            | TerminatorKind::Unreachable => None,
        }
    }
}
