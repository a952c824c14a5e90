//! The schemas: kinds of change.

/// The kinds of change, in the order in which candidates of one cost are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Schema {
    /// Another expression.
    Expression,
    /// A condition with something added by `&&` or `||`.
    Refinement,
    /// A statement under a condition.
    Guard,
    /// An assignment inserted before a statement.
    Assignment,
    /// Something that begins as zero.
    Initialization,
    /// Another function called.
    Function,
    /// Two arguments of a call exchanged.
    Swap,
    /// Another text with which something is printed or read.
    Format,
    /// Another operator of an assignment.
    Operator,
    /// A section of a `switch` that ends before the next.
    Break,
    /// A `for` over the same range the other way round, or over another range.
    Loop,
    /// A statement executed earlier or later in its block.
    Move,
    /// A function, a loop or a `switch` left early.
    Exit,
    /// Another type, size or first value of what is declared.
    Declaration,
    /// Another expression of an unusual kind: a number computed where a truth value is wanted.
    UnusualExpression,
    /// A statement taken out.
    Deletion,
}

impl Schema {
    /// All kinds, in their order.
    pub const ALL: [Schema; 16] = [
        Schema::Expression,
        Schema::Refinement,
        Schema::Guard,
        Schema::Assignment,
        Schema::Initialization,
        Schema::Function,
        Schema::Swap,
        Schema::Format,
        Schema::Operator,
        Schema::Break,
        Schema::Loop,
        Schema::Move,
        Schema::Exit,
        Schema::Declaration,
        Schema::UnusualExpression,
        Schema::Deletion,
    ];

    /// Returns the schema's name in reports, such as `EXPRESSION`. Two schemas of the search may have one name.
    pub fn name(self) -> &'static str {
        match self {
            Schema::Expression | Schema::UnusualExpression => "EXPRESSION",
            Schema::Refinement => "REFINEMENT",
            Schema::Guard | Schema::Deletion => "GUARD",
            Schema::Assignment => "ASSIGNMENT",
            Schema::Initialization => "INITIALIZATION",
            Schema::Function => "FUNCTION",
            Schema::Swap => "SWAP",
            Schema::Format => "FORMAT",
            Schema::Operator => "OPERATOR",
            Schema::Break => "BREAK",
            Schema::Loop => "LOOP",
            Schema::Move => "MOVE",
            Schema::Exit => "EXIT",
            Schema::Declaration => "DECLARATION",
        }
    }
}
