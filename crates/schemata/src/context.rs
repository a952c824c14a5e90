//! The context of the engine and its workers.

use std::path::Path;

use patchwright_exec::{
    Baseline, CancelToken, CompileCommand, FileError, Project, RunnerProgram, Scratch,
};

/// The project, its tests and the options with which the engine works.
#[derive(Clone)]
pub struct Context<'a> {
    /// The project.
    pub project: &'a Project,
    /// What its tests do.
    pub baseline: &'a Baseline,
    /// Whether its tests leave something behind in the copy.
    pub leaves: bool,
    /// How its sources are compiled, as programs in the sandbox see it.
    pub commands: &'a [CompileCommand],
    /// How to start supervisors.
    pub program: &'a RunnerProgram,
    /// Whether sources include a file of the project (relative to its root), and nobody else reads it. With
    /// `true` it is woven in its place, so rules of makefiles may name it.
    pub is_only_included: &'a (dyn Fn(&Path, bool) -> Result<bool, FileError> + Sync),
    /// The private folder of the run.
    pub scratch: &'a Scratch,
    /// Ends the run.
    pub cancel: CancelToken,
}
