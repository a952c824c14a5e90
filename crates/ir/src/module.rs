//! Translation units, their objects, and where things come from.

use patchwright_text::Span;

use crate::{
    function::{Function, Linkage},
    types::{FileId, FunctionId, GlobalId},
};

/// One translation unit.
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

/// A function that is called before `main`, or when the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hook {
    /// The function.
    pub function: FunctionId,
    /// Before `main` those with lower numbers are called first, of equal ones those that stand earlier; at the end it is the
    /// other way round.
    pub priority: u32,
}

impl Module {
    /// The function that `id` names.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.index()]
    }

    /// The global that `id` names.
    pub fn global(&self, id: GlobalId) -> &Global {
        &self.globals[id.index()]
    }

    /// The function called `name`, defined or declared.
    pub fn function_named(&self, name: &str) -> Option<FunctionId> {
        let index = self.functions.iter().position(|f| f.name == name)?;
        Some(FunctionId(index as u32))
    }
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its path, as the compile command or the compiler names it.
    pub path: String,
}

/// The node of the C tree that something comes from, by its number in crate `csource`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Node {
    /// `ExprId`
    Expression(u32),
    /// `StmtId`
    Statement(u32),
    /// `VarId`
    Variable(u32),
}

/// Where something comes from.
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

/// What an address constant points to.
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

/// What an object holds when the program starts.
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
