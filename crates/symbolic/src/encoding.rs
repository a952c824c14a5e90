//! The result of encoding: conditions over inputs, and what they are conditions of.

use std::sync::Arc;

use patchwright_ir::{Origin, Type, Undefined};
use patchwright_solve::Term;

use crate::{
    inputs::{Before, Way},
    pointee::Leads,
};

/// How a note ends that says what is taken for granted though standard C leaves it open.
pub const LEFT_OPEN: &str = " (standard C leaves that open)";

/// A place in the source: file, line and function.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The function.
    pub function: String,
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, counted from 1; 0 when it is not known.
    pub line: u32,
    /// The node of the C tree, and its span in the main file.
    pub origin: Option<Origin>,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{} in {}", self.file, self.line, self.function)
    }
}

/// The kind of an input, which decides how an execution gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// Part of the argument of the function that is encoded; the path to it (`p[3]`, `s->x`).
    Argument(Type),
    /// The pointer argument with this name is null where the term (a truth value) holds.
    Null,
    /// The pointer argument with this name leads to something else than its own object, where the term (a truth value) holds.
    Same {
        /// The pointer.
        pointer: String,
        /// What it leads to.
        way: Way,
    },
    /// How many elements behind what the other pointer leads to it leads then; what is outside of the array stands for its end.
    Distance {
        /// The pointer.
        pointer: String,
        /// What it leads to.
        way: Way,
    },
    /// How many elements lie before what a pointer leads to, where another one leads into its array; more than there may be
    /// stand for the most.
    Before {
        /// The pointer.
        pointer: String,
        /// How C calls it where it speaks of what it leads to.
        typed: String,
        /// What they are.
        before: Before,
    },
    /// What a function gives that an argument leads to: the one of this name, the call of this number, counted from 1, and
    /// the type of its value.
    Called {
        /// The pointer to the function.
        function: String,
        /// Which call of it.
        number: u32,
        /// The type; a function that gives nothing has one such input, which says nothing.
        ty: Type,
        /// The types of what it gets.
        parameters: Vec<Type>,
    },
    /// The value of a call of this function (`__VERIFIER_nondet_int`, or one without a body).
    Returned {
        /// The function.
        function: String,
        /// The type of its value.
        ty: Type,
    },
    /// What a call of a function without a body gives or leaves behind, where two versions share that. No execution gets it.
    Outside {
        /// The function.
        function: String,
        /// The type of the value.
        ty: Type,
    },
    /// What a conversion of `scanf` reads.
    Scanned {
        /// The conversion, without `%` and what suppresses or limits it: `d`, `lf`, `s`…
        conversion: String,
        /// The type of the object that it is stored in.
        ty: Type,
    },
    /// There is something left for a conversion of `scanf` to read, where the term (a truth value)
    /// holds.
    Present,
    /// What is left is something else than a conversion of `scanf` wants, where the term (a truth value) holds.
    Unfit,
    /// A byte of standard input, by its position.
    Byte(u32),
    /// The length of standard input in bytes.
    Length,
    /// A byte of an argument of the program: its number, counted from 1, and the byte's position.
    ArgumentByte(u32, u32),
    /// The number that `atoi` or one of its relatives reads from an argument of the program: the argument's number,
    /// counted from 1, and the type of what is read. It stands for the argument as a whole.
    ArgumentNumber(u32, Type),
    /// The initial value of an object that has none in the source.
    Initial(Type),
    /// The value of a variable or of memory that none was written to.
    Unwritten(Type),
}

/// An input: its kind, and the variable of the terms that stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name, for people.
    pub name: String,
    /// What it is.
    pub kind: InputKind,
    /// The variable.
    pub term: Term,
    /// The condition under which it is consumed; inputs are listed in the order in which
    /// executions consume them.
    pub condition: Term,
    /// Where it is consumed.
    pub place: Place,
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// An assertion, or a function that must not be reached.
    Assertion,
    /// `abort`.
    Abort,
    /// Undefined behaviour.
    Undefined(Undefined),
    /// Memory is not freed when the program ends.
    Leak,
    /// A loop never ends.
    Endless,
}

/// A failure with the condition under which it happens.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The kind of the failure.
    pub kind: FailureKind,
    /// In words.
    pub message: String,
    /// The place in the source.
    pub place: Place,
    /// The condition: control gets there, what was assumed before holds, and this fails. Failures are
    /// listed in the order in which an execution meets them; the first one that holds is what happens.
    pub condition: Term,
    /// How many parts of the [`Outcome::output`] come before it.
    pub printed: usize,
}

/// Which bound ends an unwinding: of rounds, of nested calls or of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnwindingKind {
    /// A loop has had its rounds.
    Rounds,
    /// Calls are nested too deeply.
    Calls,
    /// All has been encoded that may be; the execution is the only one that was left.
    Instructions,
}

/// A place where the bound ends an unwinding, with the condition under which executions get there.
#[derive(Clone, Debug)]
pub struct Unwinding {
    /// The loop, or the call.
    pub place: Place,
    /// What ends there.
    pub kind: UnwindingKind,
    /// The condition under which an execution goes on there.
    pub condition: Term,
}

/// Something that could not be encoded, with the condition under which executions get there.
#[derive(Clone, Debug)]
pub struct Unknown {
    /// What is not encoded.
    pub reason: String,
    /// The place in the source.
    pub place: Place,
    /// The condition under which an execution gets there; what happens from then on is not known.
    pub condition: Term,
}

/// A step of an execution for the trace: an object got a value, or a condition decided.
#[derive(Clone, Debug)]
pub struct Step {
    /// The place in the source.
    pub place: Arc<Place>,
    /// The condition under which it is executed.
    pub condition: Term,
    /// What got the value: a variable's name; `None` for a decision.
    pub name: Option<Arc<str>>,
    /// Type and value.
    pub value: Option<(Type, Term)>,
}

/// A part of printed output: fixed text, a value with its conversion, or a byte.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// These bytes.
    Text(Vec<u8>),
    /// A value in a conversion of `printf`: the conversion as it is written (`%5d`), the type and the
    /// value.
    Value(String, Type, Term),
    /// A byte, as a value of 8 bits.
    Byte(Term),
}

/// Something that is printed, with the condition under which that happens.
#[derive(Clone, Debug)]
pub struct Output {
    /// The condition under which it is.
    pub condition: Term,
    /// To standard error, not standard output.
    pub error: bool,
    /// The text that is printed.
    pub piece: Piece,
}

/// The state when the program or the function has ended: result, memory and outputs.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The condition under which it returns to its caller or exits.
    pub ends: Option<Term>,
    /// Its result, or the exit status of a program; `None` where it has none.
    pub result: Option<(Type, Term)>,
    /// What `errno` is, where a function ends; whether the program itself uses it.
    pub errno: Option<Term>,
    /// See there.
    pub uses_errno: bool,
    /// Where its result leads, if that is a pointer.
    pub leads: Leads,
    /// The condition under which a function exits by `exit`, and the status; that of a program is its result.
    pub exits: Vec<(Term, Term)>,
    /// The objects that the caller of a function can see, by name: globals, and those that arguments point to. Their
    /// bytes in order.
    pub objects: Vec<(String, Vec<Term>)>,
    /// Of these objects that were written: the condition under which one holds something else than in the beginning.
    pub changed: Vec<(String, Term)>,
    /// Where pointers in these objects lead: the object, the offset in bytes, and where.
    pub pointers: Vec<(String, u64, Leads)>,
    /// What is printed, in order.
    pub output: Vec<Output>,
}

/// The place of a statement, for the localization of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Its place.
    pub place: Place,
    /// The variable: where it holds, the statement's value is any.
    pub variable: Term,
    /// The statement is executed.
    pub executed: Term,
}

/// A decision on the path that an encoding along an input follows.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The condition, which holds for the input.
    pub condition: Term,
    /// Where it was decided.
    pub place: Place,
    /// How many [`Encoding::steps`] come before it.
    pub steps: usize,
}

/// Numbers about the work of encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions of the IR, unwound and inlined.
    pub instructions: u64,
    /// Calls that were inlined.
    pub calls: u64,
    /// Rounds of loops.
    pub rounds: u64,
    /// Times that paths met.
    pub meetings: u64,
    /// Questions to the solver whether a loop goes on.
    pub questions: u64,
    /// The most rounds that a loop had in a row.
    pub longest: u64,
    /// Places at which it was looked for something that must not happen, also where constants decide that it does not.
    pub checks: u64,
    /// The encoding ended at a limit, with paths that are not encoded.
    pub exhausted: bool,
}

/// An encoded program or function: failures, outputs and more as conditions over its inputs.
#[derive(Clone, Debug)]
pub struct Encoding {
    /// Arguments of the program are read as far as they may go: longer ones would be read further.
    pub to_their_ends: bool,
    /// The inputs, in the order of consumption.
    pub inputs: Vec<Input>,
    /// The condition under which an execution satisfies all assumptions that it meets.
    pub assumption: Term,
    /// What of that says of pointers into arrays that they are within these.
    pub bounds: Vec<Term>,
    /// What must not happen.
    pub failures: Vec<Failure>,
    /// Where the bound ended the unwinding.
    pub unwinding: Vec<Unwinding>,
    /// Conditions under which a loop that does nothing is never left.
    pub endless: Vec<Term>,
    /// What is not known.
    pub unknown: Vec<Unknown>,
    /// What is taken for granted: functions without a body return anything, and the like.
    pub notes: Vec<String>,
    /// A function without a body could reach an object, whose address it may keep for later calls.
    pub is_kept_by_others: bool,
    /// What can be seen and is not part of the outcome.
    pub unseen: Vec<String>,
    /// What is left at the end.
    pub outcome: Outcome,
    /// What happens on the way, in order.
    pub steps: Vec<Step>,
    /// Statements whose values can be set free.
    pub locations: Vec<Location>,
    /// The conditions under which assertions are reached.
    pub reached: Vec<Term>,
    /// What was counted.
    pub counts: Counts,
    /// Of an encoding along an input: all conditions on which the path rests that it follows. Everything else that is said
    /// here holds where these do, and says nothing of other inputs.
    pub turns: Vec<Turn>,
}

/// Why a program cannot be encoded at all.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// No such function with a body.
    #[error("no file that was given defines `{0}`")]
    NoFunction(String),
    /// Several functions have the name.
    #[error("{count} functions are called `{name}`")]
    Several {
        /// The name.
        name: String,
        /// How many.
        count: usize,
    },
    /// The shapes are not those of the parameters.
    #[error("`{name}` takes {expected} arguments, and {given} were described")]
    Parameters {
        /// The function.
        name: String,
        /// Parameters that it has.
        expected: usize,
        /// Shapes that were given.
        given: usize,
    },
    /// Somebody asked for an end.
    #[error("interrupted")]
    Interrupted,
}
