//! The IR of C: functions of basic blocks of typed instructions.
//!
//! # The model
//! A [`Module`] is one translation unit. A [`Function`] has *locals* (the variables of the source,
//! and a few that lowering adds) and *temporaries*. A local is either a [`LocalKind::Register`]: a
//! scalar whose address is never taken, touched only by `read` and `write`; or a
//! [`LocalKind::Memory`]: an object, touched through its `address`. A temporary is defined by
//! exactly one instruction, which dominates all of its uses. There are no phi functions: values
//! that meet (`?:`, `&&`) do so in a register local.
//!
//! Values of the scalar types are those of crate `semantics`, in its canonical form, and every
//! operator means what that crate says; [`Type::I128`], [`Type::U128`] and [`Type::F80`] are wider
//! and known to the IR only.
//!
//! # Order of evaluation
//! Side effects are explicit and in one order, where C leaves it open what gcc 12 does for x86-64
//! without optimisation (see crate `lower`).
//!
//! # Places
//! Every instruction, terminator, edge and operand has an [`Origin`]: the node of the C tree it
//! comes from and its span. Changing one operator of the source changes exactly one instruction.
//!
//! # What must not exist here
//! Processes, files, clang.

pub mod drawing;
mod effects;
pub mod extended;
mod function;
mod graph;
mod instruction;
mod link;
mod module;
mod text;
mod types;
mod undefined;
mod verify;
pub mod wide;

pub use effects::{Access, LocalUse, VA_LIST, Way};
pub use function::{Block, Edge, Function, Linkage, Local, LocalKind, Parameter, Temporary};
pub use graph::Dominators;
pub use instruction::{
    Argument, Callee, Instruction, InstructionKind, Operand, Subscript, SwitchCase, Terminator,
    TerminatorKind, Value, Without,
};
pub use link::{LinkError, Object, Program, Routine};
pub use module::{Data, Global, Hook, Module, Node, Origin, Relocation, SourceFile, Target};
pub use text::{ReadError, print_function, print_module, read_module};
pub use types::{
    BlockId, FileId, FunctionId, GlobalId, LocalId, ObjectId, OriginId, RoutineId, TempId, Type,
};
pub use undefined::{Undefined, bytes};
pub use verify::{Invariant, Violation, verify};
