//! Facts that executing a program needs beyond the tree: contents of strings, initialiser lists, operands
//! of `sizeof`, labels of cases, lines, attributes, declarations of functions.
//!
//! It stands beside the tree, by the numbers of its nodes, so that the tree stays what editing
//! needs.

use rustc_hash::FxHashMap;

use crate::{
    tree::{ExprId, Function, StmtId, VarId},
    types::{LengthId, RecordId, TypeId},
};

/// Facts about an expression beyond its [`ExprKind`](crate::tree::ExprKind), such as the characters of a
/// string.
#[derive(Clone, Debug, PartialEq)]
pub enum Detail {
    /// `++x`, `x++`, `--x`, `x--`
    Step {
        /// `++`
        increment: bool,
        /// The operator stands before the operand.
        prefix: bool,
    },
    /// A compound assignment: the types that its left operand is converted to and that the
    /// result of its operator has.
    Compute {
        /// Of the left operand.
        left: TypeId,
        /// Of the result, before it is converted to the target's type.
        result: TypeId,
    },
    /// A string literal: its characters, without the terminator.
    String(Vec<u32>),
    /// A floating constant, as decimal digits that determine it.
    Float(String),
    /// An initialiser list in the order of the elements or members; `None` is zero. Elements
    /// after the last one are zero, too.
    List {
        /// The elements.
        elements: Vec<Option<ExprId>>,
        /// The member of a union that is initialised.
        member: Option<usize>,
    },
    /// A member: its record and position there.
    Member {
        /// The record.
        record: RecordId,
        /// Index in its fields.
        index: usize,
    },
    /// A member of a record that is defined where its type is named, in a cast: where it is, in bytes.
    MemberAt(u64),
    /// `sizeof` of this type, or of an expression of it.
    SizeOf(TypeId),
    /// `_Alignof` of this type.
    AlignOf(TypeId),
    /// `_Alignof` of an expression whose declaration says more than its type.
    Alignment(u64),
    /// `offsetof`.
    OffsetOf {
        /// Its position among all of them in the unit.
        number: u32,
        /// Bytes, without what the indices add; known in what [`crate::parse`] gives.
        value: Option<u64>,
        /// Indices that are no constants, and the size of what each counts.
        indices: Vec<(ExprId, u64)>,
    },
    /// Evaluates this expression: what a `_Generic` selects.
    Same(ExprId),
    /// The operator of an expression that the tree has no operator for.
    Operator(String),
    /// What a question about types (`__builtin_types_compatible_p`) answers.
    Answer(bool),
    /// The address of the label of this name.
    Label(String),
}

/// Facts about a function beyond its tree: of its expressions, its `case` labels, its lines and its
/// declaration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Details {
    /// Of its expressions.
    pub of: FxHashMap<ExprId, Detail>,
    /// The labels of `case`: the value, or the first and last one.
    pub cases: FxHashMap<StmtId, (ExprId, Option<ExprId>)>,
    /// File and line (counted from 1) of each expression; the file indexes
    /// [`crate::TranslationUnit::files`].
    pub expr_lines: Vec<(u32, u32)>,
    /// File and line of each statement.
    pub stmt_lines: Vec<(u32, u32)>,
    /// How it is declared.
    pub declaration: Declaration,
    /// Lengths of arrays that are computed at run time; those that are not understood are missing.
    pub lengths: FxHashMap<LengthId, ExprId>,
    /// The lengths that are computed where a variable is declared, in order.
    pub declared_lengths: FxHashMap<VarId, Vec<LengthId>>,
    /// Those that are computed when an expression is evaluated: of the type that it names.
    pub named_lengths: FxHashMap<ExprId, Vec<LengthId>>,
    /// Those of the typedefs of a declaration.
    pub typedef_lengths: FxHashMap<StmtId, Vec<LengthId>>,
    /// Inline assembly that has no instructions.
    pub assembly: FxHashMap<StmtId, Assembly>,
    /// What is evaluated when the function is entered: lengths in parameters that become pointers, where they have effects. `None` is one
    /// that is not understood.
    pub parameter_effects: Vec<(VarId, Option<ExprId>)>,
    /// Locals that a function is called for when they go out of scope, and its name: `cleanup`. Empty where the compiler does not
    /// tell it.
    pub cleanups: FxHashMap<VarId, String>,
    /// The labels whose addresses are taken, in order.
    pub label_addresses: Vec<String>,
    /// The place of its definition among the declarations of the file, as in [`Declaration::order`].
    pub position: u32,
}

/// One declaration of a function, with or without a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Declaration {
    /// Its name.
    pub name: String,
    /// What it returns; `None` when the spelling of the type does not tell.
    pub result: Option<TypeId>,
    /// The types of its parameters.
    pub parameters: Vec<TypeId>,
    /// `...`
    pub variadic: bool,
    /// The declaration has a prototype.
    pub prototyped: bool,
    /// `static`
    pub internal: bool,
    /// `inline`
    pub inline: bool,
    /// `weak`
    pub weak: bool,
    /// The alignment that declarations ask for, in bytes.
    pub align: Option<u64>,
    /// It never returns.
    pub no_return: bool,
    /// It is called before `main`.
    pub constructor: Option<Priority>,
    /// It is called when the program ends.
    pub destructor: Option<Priority>,
    /// The compiler made it up: the source declares no such function.
    pub implicit: bool,
    /// A declaration gives it another name in object files (`__asm__("name")`).
    pub renamed: bool,
    /// Some declaration of it stands in a file of the system.
    pub in_system_header: bool,
    /// Its place among the declarations of the file, the first one if there are several: a function can name those
    /// that come before its own definition.
    pub order: u32,
}

/// The operands of inline assembly whose template is empty.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    /// Evaluated first.
    pub inputs: Vec<ExprId>,
    /// What is written, and the input whose value it gets; without one it keeps its own.
    pub outputs: Vec<(ExprId, Option<ExprId>)>,
}

/// When a constructor runs among the functions before `main`. Destructors run in the opposite order at
/// the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// After all that have a number, before `main`.
    Last,
    /// The attribute says so.
    Number(u32),
    /// It is written where it cannot be read.
    Unknown,
}

/// Facts about a variable's declaration beyond its type: linkage and alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Declared {
    /// `static`
    pub internal: bool,
    /// `extern` without an initialiser
    pub is_extern: bool,
    /// An `_Alignas` or `aligned` of so many bytes.
    pub align: Option<u64>,
    /// `weak`
    pub weak: bool,
}

/// The initialiser of a variable at file scope, with an arena of its own.
#[derive(Clone, Debug)]
pub struct FileInitializer {
    /// The variable.
    pub variable: VarId,
    /// The value, in `arena`.
    pub value: ExprId,
    /// Holds the expressions; it has no body.
    pub arena: Function,
}
