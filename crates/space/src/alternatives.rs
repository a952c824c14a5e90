//! Changes without terms, which are woven in as numbered texts.

use patchwright_text::{Edit, Span};

use crate::schema::Schema;

/// A change that is woven in as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// The kind of change.
    pub schema: Schema,
    /// Its cost in nodes.
    pub cost: u32,
    /// C text: an expression or statements, as [`Form`] says. `__PW_LINKED` and `__pw_absent` are names of the glue.
    pub woven: String,
    /// The change of the source.
    pub edit: Edit,
}

/// A location with alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// What its alternatives are.
    pub form: Form,
    /// They; the number of the first is 1.
    pub alternatives: Vec<Alternative>,
    /// The name of the kind of change that they all are of, if it has one.
    pub name: Option<String>,
}

/// A place to which a statement can be moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// The statement of the same block beside which it comes to stand.
    pub beside: Span,
    /// After that one, not before it.
    pub after: bool,
}

/// The kind of a location's alternatives, which decides how they are woven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Expressions that are evaluated instead of the one that is there. Their value is of the hole's type; it is not
    /// used if the hole has none.
    Expression,
    /// Functions whose address is taken instead of that of the function of this name; all are of its type.
    FunctionPointer {
        /// The function that is there.
        named: String,
    },
    /// Statements that are executed before the one that is there.
    Before {
        /// The statement stands alone where the grammar wants one.
        is_body: bool,
    },
    /// Statements that are executed instead of the one that is there.
    Instead,
    /// Statements that are executed after the declaration that is there.
    After {
        /// The variables that it declares without a value.
        unset: Vec<String>,
    },
    /// The statement itself, executed at another place of its block: for each alternative where that is.
    Moved(Vec<Destination>),
}
