//! Functions of the IR, with their variables and blocks.

use crate::{
    instruction::{Instruction, Terminator},
    module::Origin,
    types::{BlockId, LocalId, OriginId, TempId, Type},
};

/// Whether other modules can name a function or an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Linkage {
    /// Its translation unit only (`static`, literals).
    Internal,
    /// The whole program.
    External,
    /// The whole program, unless another definition exists (`inline`, `weak`).
    Weak,
}

/// A function of a module, defined or only declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Who can name it.
    pub linkage: Linkage,
    /// Parameters in order.
    pub parameters: Vec<Parameter>,
    /// It takes further arguments (`...`).
    pub variadic: bool,
    /// Its declaration has a prototype; without one calls are not checked against it.
    pub prototyped: bool,
    /// It never returns (`_Noreturn`).
    pub no_return: bool,
    /// What it returns.
    pub result: Type,
    /// Its variables; parameters come first.
    pub locals: Vec<Local>,
    /// Its temporaries.
    pub temporaries: Vec<Temporary>,
    /// Its blocks; empty for a declaration. The first one is the entry.
    pub blocks: Vec<Block>,
    /// Where its parts come from; entry 0 is the function itself.
    pub origins: Vec<Origin>,
}

impl Function {
    /// Whether the function has a body.
    pub fn is_defined(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// Returns the local with the number `id`.
    pub fn local(&self, id: LocalId) -> &Local {
        &self.locals[id.index()]
    }

    /// Returns the block with the number `id`.
    pub fn block(&self, id: BlockId) -> &Block {
        &self.blocks[id.index()]
    }

    /// Returns the type of the temporary with the number `id`.
    pub fn temporary(&self, id: TempId) -> Type {
        self.temporaries[id.index()].ty
    }

    /// Returns the origin with the number `id`.
    pub fn origin(&self, id: OriginId) -> Origin {
        self.origins[id.index()]
    }

    /// Returns the numbers of all blocks, in order. The entry comes first.
    pub fn block_ids(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks.len() as u32).map(BlockId)
    }

    /// Returns for each block the blocks with an edge to it. A block with several such edges is
    /// listed once for each.
    pub fn predecessors(&self) -> Vec<Vec<BlockId>> {
        let mut found = vec![Vec::new(); self.blocks.len()];
        for id in self.block_ids() {
            for edge in self.block(id).terminator.edges() {
                found[edge.target.index()].push(id);
            }
        }
        found
    }

    /// Returns the reasons of the `unsupported` instructions, in the order of the code.
    pub fn unsupported(&self) -> impl Iterator<Item = &str> {
        self.blocks.iter().flat_map(|block| {
            block
                .instructions
                .iter()
                .filter_map(|instruction| instruction.unsupported())
        })
    }
}

/// A parameter: the type that callers pass, and the local that holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// The type as it is passed.
    pub ty: Type,
}

/// A variable of a function, from the source or made by lowering.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Its name in C; empty for those that lowering adds.
    pub name: String,
    /// How it is touched.
    pub kind: LocalKind,
    /// Where it is declared.
    pub origin: OriginId,
}

/// Whether a local is a register or an object in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LocalKind {
    /// A scalar, by `read` and `write` only.
    Register(Type),
    /// An object, through its address.
    Memory {
        /// Bytes.
        size: u64,
        /// Alignment in bytes, a power of two.
        align: u64,
    },
}

/// An intermediate value, which one instruction defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Temporary {
    /// Its type.
    pub ty: Type,
}

/// Instructions that are executed in order, and the terminator behind them.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// How the block ends.
    pub terminator: Terminator,
}

/// An edge of the control flow: the next block, and where the edge comes from in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Where it goes.
    pub target: BlockId,
    /// What in the source makes control go this way: the branch taken, the label jumped to.
    pub origin: OriginId,
}
