//! Tries many proposals together, as `validate` does: what does not compile or fails a test is refused, and the rest goes to the search.

use std::time::Duration;

use patchwright_exec::{
    CancelToken, Deadline, FailReason, FileError, Project, RunnerProgram, Scratch,
};
use patchwright_patches::Reading;
use patchwright_repair::proposer::{Answer, FailingTest};
use patchwright_validate::{
    Confirm, Event, Failure, PatchVerdict, ProjectTree, Surroundings, ValidateOptions, Validated,
    serve,
};

use super::desk::Desk;
use crate::args::BUILD_TIMEOUT;

/// What is needed to build and test.
pub struct Sieve<'a> {
    /// The project.
    pub project: &'a Project,
    /// How to start supervisors.
    pub program: &'a RunnerProgram,
    /// The private folder of the run.
    pub scratch: &'a Scratch,
    /// Number of workers.
    pub jobs: usize,
    /// The longest time that a build may take, if the user says one.
    pub build_timeout: Option<Duration>,
}

/// Ends what waits at a desk, also where the search panics.
struct Closing<'d>(&'d Desk, CancelToken);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
        self.1.cancel();
    }
}

impl Sieve<'_> {
    /// Does `search`, and meanwhile tries together what lies on the desk.
    ///
    /// # Errors
    /// A process that may open no further file.
    pub fn beside<T>(
        &self,
        desk: &Desk,
        cancel: &CancelToken,
        search: impl FnOnce() -> T,
    ) -> Result<T, FileError> {
        let own = Deadline::new(cancel, None)
            .map_err(|source| FileError::new("open", "a timer", source))?;
        desk.offer();
        Ok(std::thread::scope(|scope| {
            scope.spawn(|| {
                if desk.are_many() {
                    self.work(desk, own.token());
                }
                desk.withdraw();
            });
            let _closing = Closing(desk, own.token().clone());
            search()
        }))
    }

    fn work(&self, desk: &Desk, cancel: &CancelToken) {
        let events = |event: Event<'_>| match event {
            Event::Verdict { index, patch } => desk.judge(index, self.refusal(patch)),
            Event::Warning(text) => tracing::info!("proposals that are tried together: {text}"),
            Event::Phase(_) | Event::Progress { .. } | Event::Tests { .. } => {}
        };
        let served = serve(
            self.project,
            &ProjectTree::new(self.project),
            Reading::default(),
            &self.options(),
            &Surroundings {
                program: self.program,
                scratch: self.scratch,
                cancel: cancel.clone(),
                events: &events,
            },
            &mut || desk.together(),
        );
        if let Err(error) = served {
            tracing::info!("proposals are tried one by one: {error}");
        }
    }

    /// Why a patch is refused. It is not where the search has to look itself: at what passes, and at what takes long while the
    /// search keeps the processors busy.
    fn refusal(&self, patch: &Validated) -> Option<Answer> {
        match patch.verdict.as_ref()? {
            PatchVerdict::DoesNotCompile(failure) => Some(Answer::DoesNotBuild {
                message: format!("it does not compile: {failure}"),
            }),
            PatchVerdict::Implausible(killer) => {
                let (Failure::Ran(reason), Some(suite)) = (&killer.failure, &self.project.tests)
                else {
                    return None;
                };
                if matches!(
                    reason,
                    FailReason::TimedOut(_) | FailReason::LimitExceeded(_)
                ) {
                    return None;
                }
                let test = suite.tests.get(killer.test)?;
                Some(Answer::Fails {
                    message: format!("test {} fails with the patch: {reason}", test.name),
                    test: FailingTest::of(test, Some(reason.clone())),
                })
            }
            PatchVerdict::Plausible | PatchVerdict::DoesNotApply(_) | PatchVerdict::Unstable(_) => {
                None
            }
        }
    }

    /// What passes is built by itself later, in a clean copy.
    fn options(&self) -> ValidateOptions {
        ValidateOptions {
            jobs: self.jobs,
            by_cost: true,
            ask_first: true,
            confirm: Confirm::Never,
            build_timeout: self.build_timeout.unwrap_or(BUILD_TIMEOUT),
            ..ValidateOptions::default()
        }
    }
}
