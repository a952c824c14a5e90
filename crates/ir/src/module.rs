//! Modules of the IR: translation units, their objects, and origins in the source.

use patchwright_text::Span;

use crate::{
    function::{Function, Linkage},
    types::{FileId, FunctionId, GlobalId},
};

/// One translation unit in the IR.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Module {
    /// Its source files; file 0 is the main one.
    pub files: Vec<SourceFile>,
    /// Objects of static storage duration, string literals included.
    pub globals: Vec<Global>,
    /// Functions, defined or only declared.
    pub functions: Vec<Function>,
    /// Functions that are called before `main`.
    pub constructors: Vec<Hook>,
    /// Functions that are called when the program ends, after those that it has registered.
    pub destructors: Vec<Hook>,
}

/// A function that runs before `main` (constructor) or at the end of the program (destructor).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The function.
    pub function: FunctionId,
    /// Before `main` those with lower numbers are called first, of equal ones those that stand earlier; at the end it is the
    /// other way round.
    pub priority: u32,
}

impl Module {
    /// Returns the function with the number `id`.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    /// Returns the global with the number `id`.
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.index()]
    }

    /// Returns the number of the function called `name`, defined or declared.
    pub fn function_named(&self, name: &str) -> Option<FunctionId> {
        let index = self.functions.iter().position(|f| f.name == name)?;
        Some(FunctionId(index as u32))
    }
}

/// A source file of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, as the compile command or the compiler names it.
    pub path: String,
}

/// The node of the C tree from which a piece of IR comes, by its number in crate `csource`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// `ExprId`
    Expression(u32),
    /// `StmtId`
    Statement(u32),
    /// `VarId`
    Variable(u32),
}

/// The node of the source from which a piece of IR comes, with its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Origin {
    /// The node of the C tree.
    pub node: Option<Node>,
    /// The span of the node in the main file, as the user wrote it; of the macro invocation for
    /// what comes from a macro's body; `None` for what stands in another file.
    pub span: Option<Span>,
    /// The file and the line, counted from 1, that a message names; line 0 is unknown.
    pub line: Option<(FileId, u32)>,
}

/// The function or object to which an address constant points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// An object.
    Global(GlobalId),
    /// A function.
    Function(FunctionId),
}

/// Eight bytes of initial data that hold an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Where in the data.
    pub offset: u64,
    /// What it points to.
    pub target: Target,
    /// Bytes after the target's start.
    pub addend: i64,
}

/// The contents of an object when the program starts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// Its first bytes; the rest is zero.
    pub bytes: Vec<u8>,
    /// Addresses in it, in order of their offsets.
    pub relocations: Vec<Relocation>,
}

/// An object of static storage duration.
#[derive(Clone, Debug, PartialEq)]
pub struct Global {
    /// Its name; string literals and the like have names with a dot, which C does not have.
    pub name: String,
    /// Who can name it.
    pub linkage: Linkage,
    /// Bytes.
    pub size: u64,
    /// Alignment in bytes, a power of two.
    pub align: u64,
    /// Writing to it is undefined.
    pub constant: bool,
    /// Each thread has its own.
    pub thread_local: bool,
    /// A tentative definition: another module's definition takes precedence.
    pub tentative: bool,
    /// What it holds; `None` for a declaration of an object of another module.
    pub data: Option<Data>,
    /// Why its initial value could not be lowered; reading it is then not possible.
    pub unsupported: Option<String>,
    /// Where it is declared.
    pub origin: Origin,
}
