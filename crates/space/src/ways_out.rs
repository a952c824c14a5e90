//! The places before which a function, a loop or a `switch` can be left early.

/// A statement that leaves early, such as `return -1;` or `break;`, with its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The statement: `return -1;`, `break;`.
    pub text: String,
    /// Its cost without the condition: the `if`, and its own nodes.
    pub cost: u32,
}

/// A place before which the function, the loop or the `switch` can be left, with the ways to leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exits {
    /// The statement stands alone where the grammar wants one.
    pub is_body: bool,
    /// The ways out; the number of the first is 1.
    pub ways: Vec<Exit>,
    /// Under which conditions.
    pub under: Conditions,
}

/// The conditions under which a function, a loop or a `switch` is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conditions {
    /// All that a guard may have.
    All,
    /// Comparisons of what a function is given, where it begins.
    Entry,
    /// Comparisons, where a line is printed that tests expect (module `answers`).
    Answer,
    /// Those that keep tests from crashing ([`mod@crate::crash_free`]).
    CrashFree,
}
