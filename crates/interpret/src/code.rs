//! The code that the interpreter executes: instructions over the registers of a frame.

use patchwright_ir::{OriginId, Type};
use patchwright_semantics::{BinaryOp, Ty, UnaryOp};

/// A register of the frame; with the top bit set, a constant of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reg(pub u32);

/// Set in the number of a register that is a constant.
pub(crate) const CONSTANT: u32 = 1 << 31;

/// Where a register local that may be read without a value keeps whether it has one.
pub(crate) type Flag = u32;

/// An instruction of the interpreter. `dst` is a register for the result, `a` and `b` are operands.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Move {
        dst: u32,
        a: Reg,
    },
    MoveWide {
        dst: u32,
        a: Reg,
    },
    Flag {
        flag: Flag,
        value: bool,
    },
    Check {
        flag: Flag,
        local: u32,
    },
    /// The address of the memory local whose address the register `slot` keeps.
    Slot {
        dst: u32,
        slot: u32,
        size: u64,
        align: u64,
    },
    Kill {
        slot: u32,
    },
    Load {
        dst: u32,
        address: Reg,
        ty: Ty,
    },
    Store {
        address: Reg,
        value: Reg,
        ty: Ty,
    },
    /// Stores what was loaded for that only.
    StoreCopy {
        address: Reg,
        value: Reg,
        ty: Ty,
    },
    /// A local that is `const` has its value.
    Settle {
        slot: u32,
    },
    LoadWide {
        dst: u32,
        address: Reg,
        ty: Type,
    },
    StoreWide {
        address: Reg,
        value: Reg,
        ty: Type,
    },
    LoadBits {
        dst: u32,
        address: Reg,
        offset: u32,
        width: u32,
        ty: Ty,
    },
    StoreBits {
        address: Reg,
        value: Reg,
        offset: u32,
        width: u32,
    },
    Extend {
        dst: u32,
        a: Reg,
        width: u32,
        ty: Ty,
    },
    Unary {
        op: UnaryOp,
        ty: Ty,
        dst: u32,
        a: Reg,
    },
    Binary {
        op: BinaryOp,
        ty: Ty,
        dst: u32,
        a: Reg,
        b: Reg,
    },
    Shift {
        op: BinaryOp,
        ty: Ty,
        count: Ty,
        dst: u32,
        a: Reg,
        b: Reg,
    },
    Convert {
        from: Ty,
        to: Ty,
        dst: u32,
        a: Reg,
    },
    WideUnary {
        op: UnaryOp,
        ty: Type,
        dst: u32,
        a: Reg,
    },
    WideBinary {
        op: BinaryOp,
        ty: Type,
        dst: u32,
        a: Reg,
        b: Reg,
    },
    WideShift {
        op: BinaryOp,
        ty: Type,
        count: Type,
        dst: u32,
        a: Reg,
        b: Reg,
    },
    WideConvert {
        from: Type,
        to: Type,
        dst: u32,
        a: Reg,
    },
    Advance {
        dst: u32,
        a: Reg,
        index: Reg,
        ty: Ty,
        size: Reg,
        negative: bool,
        /// The greatest index of the array that this is the subscript of; `u64::MAX` where any may be.
        greatest: u64,
    },
    Distance {
        dst: u32,
        a: Reg,
        b: Reg,
        size: Reg,
    },
    Member {
        dst: u32,
        a: Reg,
        offset: u64,
    },
    Copy {
        to: Reg,
        from: Reg,
        size: u64,
    },
    Zero {
        address: Reg,
        size: u64,
    },
    Call(u32),
    VaStart {
        list: Reg,
    },
    VaArg {
        dst: u32,
        list: Reg,
        ty: Type,
    },
    VaCopy {
        to: Reg,
        from: Reg,
    },
    Allocate {
        dst: u32,
        size: Reg,
        /// The local with whose life the object ends.
        slot: Option<u32>,
    },
    Unsupported(u32),
    Jump(u32),
    Branch {
        a: Reg,
        ty: Ty,
        then: u32,
        otherwise: u32,
    },
    BranchWide {
        a: Reg,
        ty: Type,
        then: u32,
        otherwise: u32,
    },
    Switch {
        a: Reg,
        table: u32,
    },
    Return {
        a: Reg,
        ty: Type,
    },
    ReturnVoid,
    ReturnNothing,
    Unreachable,
}

/// The callee, arguments and result of a call.
#[derive(Clone, Debug)]
pub(crate) struct CallSite {
    pub(crate) callee: Target,
    pub(crate) arguments: Vec<(Type, Reg)>,
    pub(crate) result: Type,
    pub(crate) dst: Option<u32>,
    /// The value is used.
    pub(crate) used: bool,
    pub(crate) result_address: Option<Reg>,
}

/// The function that a call reaches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target {
    /// The function of the program with this number.
    Direct(u32),
    Indirect(Reg),
}

/// The arms of a switch, in order of their values.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// Signed values are compared as such.
    pub(crate) ty: Type,
    pub(crate) arms: Vec<(i128, i128, u32)>,
    pub(crate) default: u32,
}

/// How a parameter arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Incoming {
    Register {
        register: u32,
        ty: Type,
    },
    Memory {
        slot: u32,
        ty: Type,
        size: u64,
        align: u64,
    },
}

/// A function ready to be executed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Code {
    pub(crate) ops: Vec<Op>,
    pub(crate) origins: Vec<OriginId>,
    pub(crate) constants: Vec<u64>,
    pub(crate) calls: Vec<CallSite>,
    pub(crate) tables: Vec<Table>,
    pub(crate) reasons: Vec<String>,
    pub(crate) incoming: Vec<Incoming>,
    /// Registers of a frame.
    pub(crate) registers: u32,
    /// Registers that keep addresses of memory locals.
    pub(crate) slots: Vec<u32>,
    /// The loads whose values are only stored, in order.
    pub(crate) copies: Vec<u32>,
    /// For an observer; empty when there is none.
    pub(crate) marks: Marks,
}

/// What belongs to the operations of a function that is observed, by their positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    /// The instruction that begins here.
    pub(crate) steps: Vec<Option<(u32, u32)>>,
    /// The register that holds the value of the instruction that ends here.
    pub(crate) values: Vec<Option<(u32, Type)>>,
}
