//! What is asked of a search for repairs, and what it answers.

use std::collections::BTreeMap;

use patchwright_solve::{Statistics, Term};

use crate::mutation::Change;

/// An expression that can be changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choosable {
    /// The number of its choice.
    pub number: u32,
    /// For each alternative the constant that it leaves open, if it does.
    pub open: Vec<Option<u32>>,
}

/// What a patch has to achieve. Choices are the variables `choice.NUMBER.ALTERNATIVE`, open constants the variables
/// `constant.NUMBER` of 64 bits; all other variables are inputs.
#[derive(Clone, Debug)]
pub struct Question {
    /// What must not happen.
    pub bad: Term,
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

/// How far a search goes.
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

/// A patch that is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Its changes.
    pub changes: Vec<Change>,
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

/// What was done.
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
}

/// How a search ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The repairs, in the order in which they were found.
    pub repairs: Vec<Repair>,
    /// There is no other minimal repair, but for `undecided`.
    pub complete: bool,
    /// Patches that could not be decided within the budget.
    pub undecided: Vec<Vec<Change>>,
    /// The number of changes up to which all patches are decided.
    pub decided: u32,
    /// It was interrupted.
    pub interrupted: bool,
    /// What was done.
    pub counts: Counts,
    /// What the solver of patches and the solver of the program did.
    pub solvers: (Statistics, Statistics),
}
