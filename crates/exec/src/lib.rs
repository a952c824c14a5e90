//! Running things: processes, limits, sandboxed copies, builds, tests and verdicts.
//!
//! Nothing else in Patchwright starts a process or writes a file. From the bottom up:
//!
//! * [`duration`] reads times as people write them. [`files`] writes, replaces and removes files; [`scratch`] owns the private folder of one run
//!   of Patchwright and removes what a killed run left behind. [`cache`] keeps what another run can use.
//! * [`runner`] runs one command at a time through a small *supervisor* process that sees, limits
//!   and finally kills every descendant of the command, also when the host itself is killed.
//! * [`sandbox`] copies a project's tree. [`snapshot`] undoes the changes of a copy, or lists them ([`changes`]). [`view`] makes a
//!   copy appear at the project's own absolute path, because build trees contain that path.
//! * [`view`] also protects everything else from changes. [`refusal`] says why it cannot, [`attempts`] what was tried.
//! * [`build`] runs a build, and [`linker`] reads the linker's messages. [`intercept`] makes compile databases and
//!   [`compile_commands`] reads them. [`record`] combines these for a project. [`kept_build`] lets the next run reuse a build.
//! * [`shard`] divides work among machines. [`project`] reads and checks a project's description; [`suite`] and [`verdict`] run its tests,
//!   [`baseline`] measures the untouched program, [`pool`] does all that on several workers.
//!
//! # Invariants
//!
//! * When a run has been reported, no process that it started is alive.
//! * A run always ends, within its limits and the graces of [`Limits`].
//! * The user's own tree is never written to, except through [`files`] with a path that the caller
//!   names.
//! * Paths, arguments and environments are byte strings of the operating system, never assumed to
//!   be UTF-8.

// The one crate that starts processes and writes files.
#![allow(clippy::disallowed_methods)]

pub mod attempts;
pub mod baseline;
pub mod build;
pub mod cache;
pub mod changes;
mod companion;
pub mod compile_commands;
pub mod duration;
mod executed;
pub mod files;
pub mod flagged;
pub mod included;
pub mod intercept;
pub mod journal;
pub mod kept_build;
pub mod limits;
pub mod linker;
pub mod opened;
pub mod pool;
pub mod project;
pub mod record;
pub mod refusal;
mod removal;
pub mod runner;
pub mod sandbox;
pub mod scratch;
pub mod shard;
pub mod snapshot;
pub mod suite;
pub mod test_records;
pub mod timeline;
pub mod verdict;
pub mod view;

pub use attempts::{Attempt, AttemptKind, Attempts};
pub use baseline::{Baseline, BaselineOptions, BaselineTest, Patience, TimeoutRule};
pub use build::{BuildError, BuildLog, run_build};
pub use cache::Cache;
pub use changes::{Changes, Left};
pub use companion::{Companion, Printed};
pub use compile_commands::{CompileCommand, DatabaseError, read_compile_database};
pub use executed::{ExecutedError, executed_sources};
pub use files::{FileError, Log};
pub use flagged::{Flagged, any_program_names, flagged_environment, touch_sources_of};
pub use included::{
    all_sources, included_files, included_sources, includers, includers_of, put_source,
};
pub use intercept::{InterceptError, intercept_build};
pub use journal::{
    Durability, Journal, JournalError, JournalKind, JournalOptions, hash_files, hash_project,
    open_wanted_journal,
};
pub use kept_build::{program_key, record_kept_build};
pub use limits::{Limits, build_memory, forget_own_peak_memory, own_peak_memory, set_build_memory};
pub use linker::{UndefinedReference, undefined_references};
pub use opened::Opened;
pub use pool::{Pool, PoolError, Worker, WorkerOptions};
pub use project::{FileSelection, Project, ProjectError, ProjectFlags};
pub use record::{RecordError, record_build, record_build_within};
pub use runner::supervisor::supervisor_main;
pub use runner::{
    CancelToken, Deadline, Ending, LimitKind, Outcome, Request, RunError, Runner, RunnerProgram,
    TimeKind, processor_time,
};
pub use sandbox::{Copied, CopyOptions, Sandbox};
pub use scratch::{Rules, Scratch};
pub use shard::Shard;
pub use snapshot::{Restored, Snapshot};
pub use suite::{Case, Comparison, Test, TestKind, TestSuite};
pub use test_records::is_record;
pub use verdict::{FailReason, TestError, TestRun, Verdict, run_test};
pub use view::{Protection, View, ViewStatus};
