//! The outline of a source file: its functions as trees of statements, each with the actions that it executes.
//!
//! An [`Action`] is what becomes a node of a control-flow graph: a statement without the statements inside of it, or
//! one operand of a condition's `&&` and `||`. Actions of a function stand in the order of the source.

use patchwright_text::Span;

/// A token of the source. Comments are not tokens; a string is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Where it stands.
    pub span: Span,
    /// Its line, from 1.
    pub line: u32,
}

/// The index of an action in [`Function::actions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ActionId(pub u32);

impl ActionId {
    /// Returns the index in [`Function::actions`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The number of a list of statements of one [`Function`]. An `if` without `else` has an empty list
/// there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub u32);

/// The form of an action: what a step of a function is in the source.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// An expression, assembler, or what could not be read any further.
    Statement,
    /// A declaration with an initialiser that is executed.
    Initialisation,
    /// A declaration of which nothing is executed.
    Declaration,
    /// An operand of a condition, with its value if it is a constant.
    Condition(Option<bool>),
    /// The head of a loop that a macro makes: `list_for_each (item, list) { … }`.
    MacroLoop,
    /// The value that a `switch` looks at.
    Switch,
    /// `case …:`
    Case,
    /// `default:`
    Default,
    /// A label, which executes nothing.
    Label(String),
    /// `goto`
    Goto(String),
    /// `goto *…`, which can reach each label of the function.
    ComputedGoto,
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return`, with or without a value.
    Return,
}

/// A write to a variable by an action.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Definition {
    /// The variable's name; [`MEMORY`] for what pointers point to.
    pub name: String,
    /// Nothing of the former value is left: no element, member or mere possibility.
    pub whole: bool,
}

/// The variable that stands for all memory behind pointers.
pub const MEMORY: &str = "*";

/// A statement without the statements inside it, or one operand of a condition.
#[derive(Clone, Debug)]
pub struct Action {
    /// What it is.
    pub kind: ActionKind,
    /// From its first to its last token.
    pub span: Span,
    /// The line of its first token, from 1.
    pub line: u32,
    /// Its tokens.
    pub tokens: Vec<Token>,
    /// For an operand of a condition the operator that joins it to what stands before, and `!` where it counts negated.
    pub context: String,
    /// The functions that it calls by name, in order.
    pub calls: Vec<String>,
    /// The variables that it writes.
    pub definitions: Vec<Definition>,
    /// The variables that it reads.
    pub uses: Vec<String>,
    /// The variables that it declares.
    pub declares: Vec<Variable>,
}

/// A variable with its declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type as it is written, with the name in it and a space between tokens; `static` and `extern` are left out.
    pub type_text: String,
    /// Its initial value as it is written, if it has one.
    pub value: Option<String>,
    /// It is `extern` and has no initial value: it is defined elsewhere.
    pub is_extern: bool,
    /// It is `static`.
    pub is_static: bool,
}

impl Action {
    /// Whether control passes through the action, so that it is a node of the control-flow graph.
    pub fn is_executable(&self) -> bool {
        !matches!(self.kind, ActionKind::Declaration | ActionKind::Label(_))
    }

    /// Returns the tokens with one space between them. Actions that differ only in layout and
    /// comments have equal texts.
    pub fn text(&self, source: &[u8]) -> String {
        let mut text = self.context.clone();
        for token in &self.tokens {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(&String::from_utf8_lossy(&source[token.span.range()]));
        }
        text
    }
}

/// A condition: operands joined by `&&` and `||`.
#[derive(Clone, Debug)]
pub enum Condition {
    /// One operand.
    Leaf(ActionId),
    /// `left && right`
    And(Box<Condition>, Box<Condition>),
    /// `left || right`
    Or(Box<Condition>, Box<Condition>),
    /// `!inner`
    Not(Box<Condition>),
}

impl Condition {
    /// Returns the operand that is evaluated first.
    pub fn first(&self) -> ActionId {
        match self {
            Condition::Leaf(action) => *action,
            Condition::And(left, _) | Condition::Or(left, _) => left.first(),
            Condition::Not(inner) => inner.first(),
        }
    }

    /// Returns all operands, in order.
    pub fn leaves(&self) -> Vec<ActionId> {
        fn gather(condition: &Condition, leaves: &mut Vec<ActionId>) {
            match condition {
                Condition::Leaf(action) => leaves.push(*action),
                Condition::And(left, right) | Condition::Or(left, right) => {
                    gather(left, leaves);
                    gather(right, leaves);
                }
                Condition::Not(inner) => gather(inner, leaves),
            }
        }
        let mut leaves = Vec::new();
        gather(self, &mut leaves);
        leaves
    }

    /// Returns how the operands are grouped, as text without the operands themselves.
    pub fn shape(&self) -> String {
        match self {
            Condition::Leaf(_) => "x".to_owned(),
            Condition::And(left, right) => format!("({}&{})", left.shape(), right.shape()),
            Condition::Or(left, right) => format!("({}|{})", left.shape(), right.shape()),
            Condition::Not(inner) => format!("!{}", inner.shape()),
        }
    }
}

/// A list of statements.
#[derive(Clone, Debug)]
pub struct Block {
    /// Its name.
    pub id: BlockId,
    /// Its statements, in order.
    pub statements: Vec<Statement>,
}

/// A statement, with the actions and blocks of which it consists.
#[derive(Clone, Debug)]
pub enum Statement {
    /// One that holds no others.
    Simple(ActionId),
    /// `{ … }`
    Block(Block),
    /// `if`
    If {
        /// Its condition.
        condition: Condition,
        /// What is executed when it holds.
        then: Block,
        /// What is executed when it does not; empty without `else`.
        otherwise: Block,
    },
    /// `while`
    While {
        /// Its condition.
        condition: Condition,
        /// Its body.
        body: Block,
    },
    /// `do … while`
    Do {
        /// Its body.
        body: Block,
        /// Its condition.
        condition: Condition,
    },
    /// `for`
    For {
        /// What is executed before.
        init: Option<ActionId>,
        /// Its condition; none is always true.
        condition: Option<Condition>,
        /// What is executed after each round.
        step: Option<ActionId>,
        /// Its body.
        body: Block,
    },
    /// A loop that a macro makes.
    MacroLoop {
        /// The macro's invocation.
        head: ActionId,
        /// Its body.
        body: Block,
    },
    /// `switch`
    Switch {
        /// The value it looks at.
        value: ActionId,
        /// Its body, in which cases are statements among the others.
        body: Block,
    },
}

impl Statement {
    /// Returns the action that is executed first when control reaches the statement, if it has one of
    /// its own.
    pub fn head(&self) -> Option<ActionId> {
        match self {
            Statement::Simple(action) => Some(*action),
            Statement::Block(_) => None,
            Statement::If { condition, .. }
            | Statement::While { condition, .. }
            | Statement::Do { condition, .. } => Some(condition.first()),
            Statement::For {
                init,
                condition,
                step,
                ..
            } => condition.as_ref().map(Condition::first).or(*init).or(*step),
            Statement::MacroLoop { head, .. } => Some(*head),
            Statement::Switch { value, .. } => Some(*value),
        }
    }

    /// Returns the condition of an `if` or a loop.
    pub fn condition(&self) -> Option<&Condition> {
        match self {
            Statement::If { condition, .. }
            | Statement::While { condition, .. }
            | Statement::Do { condition, .. } => Some(condition),
            Statement::For { condition, .. } => condition.as_ref(),
            _ => None,
        }
    }

    /// Returns the blocks directly inside the statement, in order.
    pub fn blocks(&self) -> Vec<&Block> {
        match self {
            Statement::Simple(_) => Vec::new(),
            Statement::If {
                then, otherwise, ..
            } => vec![then, otherwise],
            Statement::Block(body)
            | Statement::While { body, .. }
            | Statement::Do { body, .. }
            | Statement::For { body, .. }
            | Statement::MacroLoop { body, .. }
            | Statement::Switch { body, .. } => vec![body],
        }
    }

    /// Returns the actions of the statement without those of statements inside it.
    pub fn own_actions(&self) -> Vec<ActionId> {
        match self {
            Statement::Simple(action) => vec![*action],
            Statement::Block(_) => Vec::new(),
            Statement::For {
                init,
                condition,
                step,
                ..
            } => {
                let mut actions: Vec<ActionId> = init.iter().copied().collect();
                actions.extend(condition.iter().flat_map(Condition::leaves));
                actions.extend(step);
                actions
            }
            Statement::If { condition, .. }
            | Statement::While { condition, .. }
            | Statement::Do { condition, .. } => condition.leaves(),
            Statement::MacroLoop { head, .. } => vec![*head],
            Statement::Switch { value, .. } => vec![*value],
        }
    }

    /// Returns the actions of the statement and of all statements inside it.
    pub fn all_actions(&self) -> Vec<ActionId> {
        let mut actions = self.own_actions();
        for block in self.blocks() {
            for statement in &block.statements {
                actions.extend(statement.all_actions());
            }
        }
        actions
    }
}

/// A function with a body: its actions and its statements.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The whole definition.
    pub span: Span,
    /// The line of its first token.
    pub line: u32,
    /// It is `static`.
    pub is_static: bool,
    /// The tokens before its body.
    pub header: Vec<Token>,
    /// Its parameters by name.
    pub parameters: Vec<String>,
    /// All actions, in the order of the source.
    pub actions: Vec<Action>,
    /// Its body.
    pub body: Block,
    /// How many [`BlockId`]s it has.
    pub block_count: u32,
    /// The variables whose address it takes, and its arrays.
    pub addressed: Vec<String>,
    /// The first line that could not be read as C and was taken as it came.
    pub unclear_line: Option<u32>,
}

impl Function {
    /// Returns the action with the number `id`.
    pub fn action(&self, id: ActionId) -> &Action {
        &self.actions[id.index()]
    }
}

/// A declaration, a type or a macro outside of functions.
#[derive(Clone, Debug)]
pub struct TopLevel {
    /// Its tokens with a space between them, or the normalised line of a directive.
    pub text: String,
    /// Its first line.
    pub line: u32,
    /// Its last line.
    pub last_line: u32,
    /// The variables that it declares.
    pub variables: Vec<Variable>,
}

/// The outline of one source file in one configuration of its conditional directives.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// Functions in the order of the source.
    pub functions: Vec<Function>,
    /// Declarations, types and directives outside of functions.
    pub top_level: Vec<TopLevel>,
    /// Names of functions used other than by a call: their address may be taken.
    pub mentioned: Vec<String>,
    /// Lines, first and last, outside of functions that could not be read as C.
    pub unclear: Vec<(u32, u32)>,
}
