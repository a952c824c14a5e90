//! The typed tree of a translation unit: what the rest of Patchwright sees of C.
//!
//! Expressions and statements live in one arena per function and are named by small ids. Every
//! node says where it stands in the file as the user wrote it ([`Place`]).

use patchwright_semantics::Precedence;
use patchwright_text::Span;
use rustc_hash::FxHashMap;

use crate::types::{RecordId, TypeId, TypeTable};

/// The number of an expression in its [`Function`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExprId(pub u32);

/// The number of a statement in its [`Function`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StmtId(pub u32);

/// The number of a variable (a local, a parameter or a global) in its [`TranslationUnit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VarId(pub u32);

/// Where a node stands in the file as the user wrote it, and whether it can be replaced there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Its first and last token are written in the file, outside any macro invocation, or it
    /// covers whole invocations: replacing `span` replaces exactly this node.
    Written(Span),
    /// It lies inside one argument of a macro invocation that is written in the file.
    /// Replacing `span` replaces this node, once for each time the macro uses the argument.
    MacroArgument {
        /// The text of the node, inside the argument.
        span: Span,
        /// The whole invocation, name and arguments.
        invocation: Span,
    },
    /// It comes, at least in part, from the body of a macro.
    MacroBody {
        /// The invocation (the outermost one) that it comes from.
        invocation: Span,
    },
    /// It lies inside an argument that a macro also makes a string of, or pastes: replacing its
    /// text would change more than this node.
    Stringified {
        /// The invocation.
        invocation: Span,
    },
    /// It lies inside an argument that a macro uses several times, with different meanings.
    SeveralMeanings {
        /// The invocation.
        invocation: Span,
    },
    /// It is written in another file (a header, a file included in the middle of a function).
    OtherFile,
    /// The source is compiled in several ways, in which it is not the same.
    Disagreement,
    /// The compiler gave no usable position.
    Unknown,
}

impl Place {
    /// Returns why this place cannot be edited, or `None` if it can.
    pub fn refusal(self) -> Option<Refusal> {
        Some(match self {
            Place::Written(_) | Place::MacroArgument { .. } => return None,
            Place::MacroBody { .. } => Refusal::MacroBody,
            Place::Stringified { .. } => Refusal::Stringified,
            Place::SeveralMeanings { .. } => Refusal::SeveralMeanings,
            Place::OtherFile => Refusal::InHeader,
            Place::Disagreement => Refusal::Ambiguous,
            Place::Unknown => Refusal::Unsupported,
        })
    }

    /// Returns the span whose replacement replaces exactly this node, or `None` if there is none.
    pub fn editable(self) -> Option<Span> {
        match self {
            Place::Written(span) | Place::MacroArgument { span, .. } => Some(span),
            _ => None,
        }
    }
}

/// C's unary operators, with and without a side effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-x`
    Minus,
    /// `+x`
    Plus,
    /// `~x`
    Complement,
    /// `!x`
    Not,
    /// `*p`
    Dereference,
    /// `&x`
    AddressOf,
    /// `++x`, `x++`, `--x`, `x--`
    Step,
    /// `__extension__ x`
    Extension,
    /// `__real`, `__imag` and other operators of GNU C
    Other,
}

/// C's binary operators other than assignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOperator {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    LogicalAnd,
    LogicalOr,
    Comma,
}

impl BinaryOperator {
    /// Returns the operator as C writes it, such as `<<`.
    pub fn spelling(self) -> &'static str {
        use BinaryOperator::*;
        match self {
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            Rem => "%",
            Shl => "<<",
            Shr => ">>",
            And => "&",
            Or => "|",
            Xor => "^",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            Eq => "==",
            Ne => "!=",
            LogicalAnd => "&&",
            LogicalOr => "||",
            Comma => ",",
        }
    }

    /// Returns the precedence of the operator.
    pub fn precedence(self) -> Precedence {
        let known = Precedence::of_sign(self.spelling());
        known.expect("each operator between operands has a precedence")
    }

    /// Returns the operator with this spelling, such as `<<`; `None` for other texts.
    pub fn from_spelling(text: &str) -> Option<Self> {
        use BinaryOperator::*;
        Some(match text {
            "+" => Add,
            "-" => Sub,
            "*" => Mul,
            "/" => Div,
            "%" => Rem,
            "<<" => Shl,
            ">>" => Shr,
            "&" => And,
            "|" => Or,
            "^" => Xor,
            "<" => Lt,
            "<=" => Le,
            ">" => Gt,
            ">=" => Ge,
            "==" => Eq,
            "!=" => Ne,
            "&&" => LogicalAnd,
            "||" => LogicalOr,
            "," => Comma,
            _ => return None,
        })
    }
}

/// The kind of an expression, with its operands.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// An integer, character or enumeration constant; `value` is its 128-bit value.
    Integer {
        /// The constant's mathematical value.
        value: i128,
        /// A character literal.
        character: bool,
        /// The enumerator's name, if it is one.
        enumerator: Option<String>,
    },
    /// A floating constant.
    Float(f64),
    /// A string literal.
    String,
    /// A use of a variable.
    Variable(VarId),
    /// A use of a function's name.
    Function(String),
    /// `base.member` or `base->member`.
    Member {
        /// The object, or the pointer when `arrow` holds.
        base: ExprId,
        /// `->`
        arrow: bool,
        /// The member's name, empty for an anonymous one.
        name: String,
        /// It is a bit-field.
        bit_field: bool,
    },
    /// `base[index]`.
    Subscript {
        /// The array, decayed, or the pointer.
        base: ExprId,
        /// The index.
        index: ExprId,
    },
    /// A unary operator.
    Unary {
        /// Which one.
        operator: UnaryOperator,
        /// Its operand.
        operand: ExprId,
    },
    /// A binary operator that assigns nothing.
    Binary {
        /// Which one.
        operator: BinaryOperator,
        /// Left operand.
        left: ExprId,
        /// Right operand.
        right: ExprId,
    },
    /// `target = value`, or `target op= value`.
    Assign {
        /// `op` of a compound assignment.
        operator: Option<BinaryOperator>,
        /// What is written.
        target: ExprId,
        /// The right-hand side.
        value: ExprId,
    },
    /// `condition ? then : otherwise`.
    Conditional {
        /// Its condition.
        condition: ExprId,
        /// The value when it holds.
        then: ExprId,
        /// The value when it does not.
        otherwise: ExprId,
    },
    /// A conversion, written or implicit.
    Cast {
        /// What is converted.
        operand: ExprId,
        /// The compiler put it there.
        implicit: bool,
        /// What the conversion does.
        cast: CastKind,
    },
    /// `( inner )`.
    Paren(ExprId),
    /// A call.
    Call {
        /// The function.
        callee: ExprId,
        /// Its arguments, converted.
        arguments: Vec<ExprId>,
        /// The number of parameters that have a declared type: the arguments after them are
        /// passed by the default promotions and must keep their type.
        prototyped: usize,
    },
    /// `sizeof`, `_Alignof`, `offsetof`: a constant that the compiler knows.
    CompilerConstant,
    /// A statement expression, a compound literal, an initialiser list, a builtin…
    Other {
        /// The compiler's name of its kind.
        kind: String,
        /// The expressions directly below, in order.
        children: Vec<ExprId>,
        /// The statement of a statement expression.
        body: Option<StmtId>,
        /// The operands are evaluated once each when the expression is.
        evaluated: bool,
    },
}

/// The effect of a conversion on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CastKind {
    /// Reads an object.
    LValueToRValue,
    /// An array becomes a pointer to its first element.
    ArrayToPointer,
    /// A function becomes a pointer to it.
    FunctionToPointer,
    /// Between arithmetic types (`_Bool` and enumerations included).
    Arithmetic,
    /// An integer zero becomes a null pointer.
    NullToPointer,
    /// A pointer becomes a truth value.
    PointerToBoolean,
    /// Between pointers.
    Pointer,
    /// A pointer becomes an integer.
    PointerToInteger,
    /// An integer becomes a pointer.
    IntegerToPointer,
    /// Nothing changes but qualifiers or sugar.
    NoOp,
    /// `(void)x`
    ToVoid,
    /// Anything else.
    Other,
}

/// An expression: kind, type, place and value category.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: TypeId,
    /// It designates an object.
    pub lvalue: bool,
    /// Where it stands.
    pub place: Place,
    /// It is evaluated when control reaches it (not under `sizeof`, `typeof`, `_Generic`…).
    pub evaluated: bool,
}

/// The kind of a statement, with its parts.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum StmtKind {
    Compound(Vec<StmtId>),
    Declaration(Vec<VarId>),
    Expression(ExprId),
    If {
        condition: ExprId,
        then: StmtId,
        otherwise: Option<StmtId>,
    },
    While {
        condition: ExprId,
        body: StmtId,
    },
    Do {
        body: StmtId,
        condition: ExprId,
    },
    For {
        init: Option<StmtId>,
        condition: Option<ExprId>,
        increment: Option<ExprId>,
        body: StmtId,
    },
    Switch {
        condition: ExprId,
        body: StmtId,
    },
    Case(StmtId),
    Default(StmtId),
    Label {
        name: String,
        body: StmtId,
    },
    Goto(String),
    Break,
    Continue,
    Return(Option<ExprId>),
    Null,
    /// Inline assembly, computed `goto` and other things that are left alone.
    Other {
        kind: String,
        expressions: Vec<ExprId>,
        statements: Vec<StmtId>,
    },
}

impl StmtKind {
    /// Whether the statement is an expression, a selection or a loop, after which control goes on
    /// with the next statement.
    pub fn is_step(&self) -> bool {
        matches!(
            self,
            StmtKind::Expression(_)
                | StmtKind::If { .. }
                | StmtKind::While { .. }
                | StmtKind::Do { .. }
                | StmtKind::For { .. }
                | StmtKind::Switch { .. }
        )
    }

    /// Whether the statement is a jump: `break`, `continue`, `goto` or `return`.
    pub fn is_jump(&self) -> bool {
        matches!(
            self,
            StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_)
        )
    }
}

/// A statement: kind and place.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands; the span includes the closing `;` where the statement has one.
    pub place: Place,
}

/// The storage of a variable: parameter, local, static or global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Storage {
    /// A parameter.
    Parameter,
    /// A local with automatic storage.
    Local,
    /// A `static` local.
    StaticLocal,
    /// A variable at file scope, or a local `extern`.
    Global,
}

/// A variable of the translation unit: name, type and storage.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name, as written.
    pub name: String,
    /// Its type.
    pub ty: TypeId,
    /// Where it lives.
    pub storage: Storage,
    /// The initialiser, in the arena of the function that declares it.
    pub initializer: Option<ExprId>,
    /// Thread-local.
    pub thread_local: bool,
    /// Where it is declared: byte offset in the main file, if it is declared there.
    pub declared_at: Option<u32>,
    /// It is declared in a file of the system.
    pub in_system_header: bool,
}

/// Why a function or an expression cannot be edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Refusal {
    /// It is written in another file, mostly a header.
    InHeader,
    /// Its body, or its braces, come from a macro.
    BodyFromMacro,
    InlineAssembly,
    NestedFunction,
    ComputedGoto,
    /// It is `inline` without `static`: what it refers to must be visible everywhere.
    ExternInline,
    /// It is compiled in several ways that disagree about it.
    Ambiguous,
    /// The preprocessor changes state inside the body.
    PreprocessorInBody,
    /// Comes from a macro's body.
    MacroBody,
    /// A macro makes a string of it or pastes it.
    Stringified,
    /// Used by a macro with different meanings.
    SeveralMeanings,
    /// Not evaluated (`sizeof`, `typeof`) or needed as a constant.
    Unevaluated,
    /// Calls, assignments, `volatile`…
    Impure,
    /// Its type is no integer, pointer or floating type that terms can have.
    TypeOutOfReach,
    /// A construct that the view of C does not model.
    Unsupported,
    /// The source is not accepted by the parser.
    NotAccepted,
    /// Its tree has more levels than the parser can handle; its body is left out.
    TooLarge,
}

impl Refusal {
    /// Returns the reason as a phrase for messages and tables.
    pub fn reason(self) -> &'static str {
        match self {
            Refusal::InHeader => "is written in another file",
            Refusal::BodyFromMacro => "its body comes from a macro that is used there",
            Refusal::InlineAssembly => "contains inline assembly",
            Refusal::NestedFunction => "contains a nested function",
            Refusal::ComputedGoto => "contains a computed goto",
            Refusal::ExternInline => "is inline with external linkage",
            Refusal::Ambiguous => "is compiled in several ways that disagree about it",
            Refusal::PreprocessorInBody => "its body changes the preprocessor's state",
            Refusal::MacroBody => "comes from a macro's body",
            Refusal::Stringified => "a macro makes a string of it or pastes it",
            Refusal::SeveralMeanings => "a macro uses it with different meanings",
            Refusal::Unevaluated => "is not evaluated at run time",
            Refusal::Impure => "has side effects or reads volatile memory",
            Refusal::TypeOutOfReach => "is of a type that terms cannot have",
            Refusal::Unsupported => "uses a construct that is not modelled",
            Refusal::NotAccepted => "is not accepted by the parser",
            Refusal::TooLarge => "has more levels of nesting than the parser can handle",
        }
    }
}

/// A function that is defined in the main file of the translation unit, with its expressions and
/// statements.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// From its first token to the closing brace.
    pub span: Span,
    /// From `{` to `}`, both included.
    pub body_span: Span,
    /// The body: a compound statement.
    pub body: StmtId,
    /// Parameters in order.
    pub parameters: Vec<VarId>,
    /// The type that it returns.
    pub return_type: TypeId,
    /// Labels that it declares.
    pub labels: Vec<String>,
    /// Variables that it declares, parameters included.
    pub locals: Vec<VarId>,
    /// Locals and parameters whose address is taken somewhere in the body.
    pub address_taken: Vec<VarId>,
    /// Why it can hold no location, if so.
    pub refusal: Option<Refusal>,
    /// Arguments of macros that look at types (`typeof`, `sizeof`): another type there may change what the macro does.
    pub typed_arguments: Vec<Span>,
    /// All expressions.
    pub exprs: Vec<Expr>,
    /// All statements.
    pub stmts: Vec<Stmt>,
    /// What executing it needs to know beyond the tree.
    pub details: crate::detail::Details,
}

impl Function {
    /// Returns the expression with the number `id`.
    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id.0 as usize]
    }

    /// Returns the statement with the number `id`.
    pub fn stmt(&self, id: StmtId) -> &Stmt {
        &self.stmts[id.0 as usize]
    }

    /// Whether `span` lies in an argument of a macro that depends on the argument's type.
    pub fn is_typed_argument(&self, span: Span) -> bool {
        let mut arguments = self.typed_arguments.iter();
        arguments.any(|argument| argument.contains_span(span))
    }

    /// Returns the expression inside the parentheses of `id`, or `id` itself.
    pub fn without_parens(&self, mut id: ExprId) -> ExprId {
        while let ExprKind::Paren(inner) = self.expr(id).kind {
            id = inner;
        }
        id
    }

    /// Returns the expression inside the parentheses and implicit conversions of `id`, or `id`
    /// itself.
    pub fn stripped(&self, mut id: ExprId) -> ExprId {
        loop {
            match self.expr(id).kind {
                ExprKind::Paren(inner) => id = inner,
                ExprKind::Cast {
                    operand,
                    implicit: true,
                    ..
                } => id = operand,
                _ => return id,
            }
        }
    }
}

/// An object-like macro whose value is an integer constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MacroConstant {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: i128,
    /// The C type of the value.
    pub ty: TypeId,
    /// It is defined by the project, not by the system.
    pub in_project: bool,
    /// Its text can be an operand as it is. `1 << 16` needs parentheses round the macro's name.
    pub is_operand: bool,
    /// Where the source's text names it, its own definition in the source included, in order.
    pub mentions: Vec<u32>,
}

/// The typed tree of one source file, compiled in one way.
#[derive(Clone, Debug)]
pub struct TranslationUnit {
    /// What the flags of the compile command say of the meaning of C.
    pub dialect: crate::Dialect,
    /// Names of functions and objects that are other names of others of the file (`alias`, `weakref`), with those.
    pub aliases: FxHashMap<String, String>,
    /// The source's text.
    pub source: Vec<u8>,
    /// All types.
    pub types: TypeTable,
    /// All variables; [`VarId`] indexes it.
    pub variables: Vec<Variable>,
    /// Variables at file scope, in order of declaration.
    pub globals: Vec<VarId>,
    /// Functions that the main file defines.
    pub functions: Vec<Function>,
    /// Number of functions with a body that other files define.
    pub functions_elsewhere: usize,
    /// Those functions, with places in other files.
    pub functions_in_headers: Vec<Function>,
    /// Names of those that are part of the program though nothing of the file uses them: somebody asks for them.
    pub wanted: Vec<String>,
    /// The files that the unit consists of; lines are counted in them.
    pub files: Vec<String>,
    /// All declarations of functions, by name; one that defines a function, or has a prototype,
    /// takes precedence.
    pub declarations: rustc_hash::FxHashMap<String, crate::detail::Declaration>,
    /// How each variable is declared; [`VarId`] indexes it.
    pub declared: Vec<crate::detail::Declared>,
    /// The initialisers of variables at file scope.
    pub initializers: Vec<crate::detail::FileInitializer>,
    /// Macro constants that can be used in the file.
    pub macros: Vec<MacroConstant>,
    /// The enumerations: names and values of their enumerators, in order.
    pub enumerations: Vec<Vec<(String, i128)>>,
    /// Names of macros that stand for something else. A variable or member with such a name cannot be written by it, as
    /// in `action.__sigaction_handler.sa_handler`, whose last name is a macro for the last two.
    pub replaced_names: rustc_hash::FxHashSet<String>,
    /// Names of macros that the project defines.
    pub project_macros: rustc_hash::FxHashSet<String>,
    /// The source, or a macro of the project that it names, mentions `__LINE__`.
    pub mentions_line: bool,
}

impl TranslationUnit {
    /// Returns the variable with the number `id`.
    ///
    /// # Panics
    /// If `id` belongs to another unit.
    pub fn variable(&self, id: VarId) -> &Variable {
        &self.variables[id.0 as usize]
    }

    /// Returns the source text of `span`. Invalid UTF-8 is replaced.
    pub fn text(&self, span: Span) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.source[span.start as usize..span.end as usize])
    }

    /// Returns the name of a record for messages.
    pub fn record_name(&self, id: RecordId) -> &str {
        &self.types.record(id).name
    }
}
