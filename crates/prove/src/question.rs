//! The question to a search for repairs, and its answers.

use std::collections::BTreeMap;

use patchwright_solve::{Statistics, Term, Terms};

use crate::mutation::Change;

/// An expression that can be changed: the number of its choice and of its alternatives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choosable {
    /// The number of its choice.
    pub number: u32,
    /// For each alternative the constant that it leaves open, if it does.
    pub open: Vec<Option<u32>>,
}

/// The condition that a repair must meet, with the alternatives to choose from. Choices are the variables
/// `choice.NUMBER.ALTERNATIVE`, open constants the variables `constant.NUMBER` of 64 bits; all other
/// variables are inputs.
#[derive(Clone, Debug)]
pub struct Question {
    /// What shows that a patch is wrong: within the bound an execution fails, or one never ends that ended before.
    pub fails: Term,
    /// Whether a patch is not right within the bound. It `fails`, it goes on beyond the bound where the untouched program does not,
    /// or it reaches something that is not encoded.
    pub bad: Term,
    /// Whether an execution goes on beyond the bound.
    pub beyond: Term,
    /// What some execution must do, or else the patch only makes the question void.
    pub some: Option<Term>,
    /// What can be seen of an execution: a value, where the condition holds.
    pub seen: Vec<(Term, Term)>,
    /// The expressions that can be changed.
    pub choosable: Vec<Choosable>,
    /// The least and the greatest value of each open constant.
    pub constants: BTreeMap<u32, (i64, i64)>,
    /// The value of each open constant that stands there now, where one does.
    pub near: BTreeMap<u32, i64>,
}

/// The limits of a search for repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Changes of a patch at most.
    pub changes: u32,
    /// Conflicts of one question to a solver at most.
    pub conflicts: Option<u64>,
    /// Patches that are tried at most.
    pub patches: Option<u64>,
    /// Ranges of constants that are looked for in one patch at most.
    pub ranges: usize,
    /// Also give patches that make the question void.
    pub void: bool,
    /// Leave out patches that do what one with fewer changes does.
    pub fewest: bool,
}

impl Default for Extent {
    fn default() -> Extent {
        Extent {
            changes: 2,
            conflicts: None,
            patches: None,
            ranges: 8,
            void: false,
            fewest: false,
        }
    }
}

/// The inputs for which a repair is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// For all.
    AllInputs,
    /// For all for which the program as it is ends within the bound; and for no other one it fails within the bound.
    WithinBound,
}

/// Why a patch is not decided: a loop goes on beyond the bound, something is not encoded, or it costs too
/// much.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Open {
    /// Some execution goes on beyond so many rounds of a loop, for an input for which the program as it is does not go on
    /// beyond the bound.
    Beyond(u32),
    /// Some execution leads to what is not encoded: the reason.
    NotEncoded(String),
    /// It costs more than the solver may do.
    Effort,
}

/// The judgement of a patched program: right, wrong, or not decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It is right.
    Right {
        /// For which inputs.
        standing: Standing,
        /// No execution satisfies the assumptions, ends, and gets to what shall hold.
        void: bool,
    },
    /// Some execution fails, or does not end.
    Wrong,
    /// It is not known.
    Open(Open),
}

/// Decides about single patches that a [`Question`] leaves open: with larger bounds, or in other ways.
pub trait Decider {
    /// Decides about the program with these changes, and these values of open constants.
    fn decide(
        &mut self,
        terms: &mut Terms,
        changes: &[Change],
        constants: &BTreeMap<u32, i64>,
    ) -> Judged;
}

/// A decider that leaves each patch open that goes beyond the bound of the question, which is the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoDecider(pub u32);

impl Decider for NoDecider {
    fn decide(&mut self, _: &mut Terms, _: &[Change], _: &BTreeMap<u32, i64>) -> Judged {
        Judged::Open(Open::Beyond(self.0))
    }
}

/// A patch that is right, with its changes and constants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Its changes.
    pub changes: Vec<Change>,
    /// For which inputs it is right.
    pub standing: Standing,
    /// Values of the constants that it leaves open: those nearest to what stands there.
    pub constants: BTreeMap<u32, i64>,
    /// All values of its only open constant that are right, as ranges with both ends.
    pub ranges: Vec<(i64, i64)>,
    /// There are more values than `ranges` says.
    pub more: bool,
    /// No execution satisfies the assumptions, ends within the bound and reaches what shall hold.
    pub void: bool,
    /// The repair, by its position in the order in which repairs were found, that does the same for all inputs.
    pub same_as: Option<usize>,
}

/// Numbers about the work of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Patches that were asked about.
    pub patches: u64,
    /// Questions to the solver that knows the program.
    pub questions: u64,
    /// Inputs for which a patch was wrong.
    pub inputs: u64,
    /// Wrong patches excluded by the condition that their input leaves.
    pub by_condition: u64,
    /// Wrong patches excluded by must location sets.
    pub by_must_set: u64,
    /// Right patches excluded with all that contain them.
    pub by_repair: u64,
    /// Patches that were decided by themselves.
    pub single: u64,
}

/// The result of a search: whether all patches are decided, and those that are not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The repairs, in the order in which they were found.
    pub repairs: Vec<Repair>,
    /// There is no other minimal repair, but for `open`.
    pub complete: bool,
    /// Patches that are not decided, and why. Others that contain one of them were looked at as far as the bound of the
    /// question, not by themselves.
    pub open: Vec<(Vec<Change>, Open)>,
    /// So many were not decided that no more of them were looked at.
    pub more_open: bool,
    /// The number of changes up to which all patches are decided.
    pub decided: u32,
    /// It was interrupted.
    pub interrupted: bool,
    /// What was done.
    pub counts: Counts,
    /// What the solver of patches and the solver of the program did.
    pub solvers: (Statistics, Statistics),
}
