//! Validates few patches before the untouched program is tested.

use std::ops::ControlFlow;

use patchwright_exec::{CompileCommand, Project};

use crate::Event;
use crate::board::Board;
use crate::cost::Cost;
use crate::error::ValidateError;
use crate::journal::Journal;
use crate::outcome::Tests;
use crate::phases::Phases;
use crate::prepare::{Asking, BUILDING, Changed, prepare};
use crate::set::PatchSet;
use crate::tasks::{Times, Weaving, run_tasks};
use crate::test_files::TestFiles;
use crate::unasked::{FEW, may_wait, may_wait_for_long, pays_to_build};

/// Few patches, which are validated before the untouched program is asked.
pub(crate) struct First<'f> {
    pub(crate) project: &'f Project,
    pub(crate) set: &'f PatchSet,
    pub(crate) test_files: &'f TestFiles<'f>,
    pub(crate) board: &'f Board<'f>,
    pub(crate) journal: Option<&'f Journal>,
    pub(crate) phases: &'f Phases,
}

impl First<'_> {
    /// Validates what can be validated so; breaks when nothing more is to be done.
    pub(crate) fn validate(&self) -> Result<ControlFlow<()>, ValidateError> {
        let (set, board, project) = (self.set, self.board, self.project);
        let (options, surroundings) = (board.options, board.surroundings);
        let is_open = |entry: &usize| !board.is_settled(*entry);
        let open: Vec<usize> = set.distinct().filter(is_open).collect();
        if open.is_empty() {
            let suite = project.require_tests()?;
            let _nothing_to_do = board.begin(Tests::not_asked(suite));
            return Ok(ControlFlow::Break(()));
        }
        let suite = project.require_tests()?;
        let learns = may_wait_for_long(open.len(), suite.tests.len(), options);
        if !learns && !may_wait(open.len(), options) {
            return Ok(ControlFlow::Continue(()));
        }
        let changed = Changed::by(set, &is_open);
        let patches = open.iter().filter_map(|entry| set.entries[*entry].patch());
        // Woven, many patches share their builds; that can only pay if there are more than a few.
        let asks = |commands: &[CompileCommand]| {
            let build = self.phases.processor(BUILDING);
            let cost = Cost::of_builds(set, &open, Some(commands), build);
            options.schemata && !learns && open.len() > FEW && cost.is_less_woven()
        };
        let asking = match pays_to_build(project, patches)? {
            true => Asking::Build(&asks),
            false => Asking::Nothing,
        };
        let changed = (&changed, self.test_files);
        let ready = prepare(project, None, changed, asking, options, surroundings)?;
        let (tests, way) = match ready.0.is_supposed {
            true if learns => (Tests::not_asked(suite), Weaving::IfTestsAreShort),
            true => (Tests::not_asked(suite), Weaving::Not),
            false => (
                Tests::of(&ready.0.untouched.baseline, options),
                Weaving::ByCost,
            ),
        };
        let is_supposed = ready.0.is_supposed;
        if let (Some(journal), false) = (self.journal, is_supposed) {
            journal.keep_untouched(&ready.0.untouched)?;
        }
        if board.begin(tests).is_continue() {
            let times = Times {
                phases: self.phases,
                build: self.phases.processor(BUILDING),
            };
            run_tasks(project, set, ready, way, board, self.journal, times)?;
        }
        let is_done = board.is_stopped() || !set.distinct().any(|entry| is_open(&entry));
        if !is_done && is_supposed && !surroundings.cancel.is_cancelled() {
            return Ok(ControlFlow::Continue(()));
        }
        if is_supposed && board.refutes_some() {
            (surroundings.events)(Event::Warning(UNASKED.to_owned()));
        }
        Ok(ControlFlow::Break(()))
    }
}

/// What is said where a test fails with a patch, and nobody knows what it does without.
const UNASKED: &str = "the tests were not run without a patch: one that fails with a patch may fail without it, too (--ask-first runs them)";
