//! Searches for the commit that introduced a failure: checks the ends of the range, bisects, and verifies
//! a fix.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use patchwright_changes::git::{Commit, GitError, History, Member};

use crate::bisect::Search;
use crate::trial::{Outcome, TrialError, Trials};

/// The range to search, and the fix to verify.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// A revision in which the test passes; none: one is looked for.
    pub good: Option<String>,
    /// One in which it fails; none: the last commit, or the one before the fix.
    pub bad: Option<String>,
    /// The revision that mends it.
    pub fix: Option<String>,
}

/// A message of a search about its progress.
#[derive(Debug)]
pub enum Event<'e> {
    /// A commit is going to be built and tested.
    Trying {
        /// The commit.
        commit: &'e Commit,
        /// Commits among which the one is, if that is known.
        left: Option<usize>,
    },
    /// What it did.
    Tried {
        /// The commit.
        commit: &'e Commit,
        /// What the test did on the commit.
        outcome: &'e Outcome,
    },
    /// Something that the user should know.
    Note(String),
}

/// A mistake in the question, or ends of the range that do not behave as the question says.
#[derive(Debug, thiserror::Error)]
pub enum RegressionError {
    /// A commit cannot be tried.
    #[error(transparent)]
    Trial(#[from] TrialError),
    /// The test does not fail in the bad revision.
    #[error("the test `{test}` passes in {commit}, where it should fail{hint}")]
    BadPasses {
        /// The test.
        test: String,
        /// The revision.
        commit: String,
        /// What to do.
        hint: String,
    },
    /// The test fails in the good revision.
    #[error(
        "the test `{test}` fails in {commit}, where it should pass ({reason}); name an earlier revision, or leave it out \
         (..BAD) to have one looked for"
    )]
    GoodFails {
        /// The test.
        test: String,
        /// The revision.
        commit: String,
        /// How it fails.
        reason: String,
    },
    /// The ends are in branches that parted before the failure came.
    #[error(
        "the test `{test}` fails already in {base}, the last common commit of {good} and {bad}: the failure was mended on the way to {good}; name a revision before {base}"
    )]
    BaseFails {
        /// The test.
        test: String,
        /// Where they part.
        base: String,
        /// The good end.
        good: String,
        /// The bad end.
        bad: String,
    },
    /// An end of the range tells nothing.
    #[error("{commit}, an end of the range, {outcome}; name another revision")]
    EndUnknown {
        /// The revision.
        commit: String,
        /// What it does.
        outcome: String,
        /// It does not build.
        is_build: bool,
    },
    /// The ends have nothing in common.
    #[error(
        "{good} and {bad} have no commit in common, so nothing between them can be searched; leave the first one out: ..{bad}{hint}"
    )]
    Unrelated {
        /// The good end.
        good: String,
        /// The bad end.
        bad: String,
        /// What to do.
        hint: &'static str,
    },
    /// Both ends are the same.
    #[error("both ends of the range are {commit}")]
    Empty {
        /// The revision.
        commit: String,
    },
    /// A fix has no parent.
    #[error(
        "{commit} has no parent, so it mends nothing; name the commit that mends the failure with --fix"
    )]
    FixIsRoot {
        /// The revision.
        commit: String,
    },
}

impl From<GitError> for RegressionError {
    fn from(error: GitError) -> Self {
        RegressionError::Trial(error.into())
    }
}

/// The result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// One commit introduced the failure.
    Found,
    /// One of several did; nothing can be told of the others.
    Suspects,
    /// The test fails in the oldest commits, too: no regression.
    NeverPassed,
    /// Time was over, or somebody interrupted.
    Unfinished,
}

impl Verdict {
    /// Returns the stable name of the result for programs.
    pub fn code(self) -> &'static str {
        match self {
            Verdict::Found => "found",
            Verdict::Suspects => "suspects",
            Verdict::NeverPassed => "never-passed",
            Verdict::Unfinished => "unfinished",
        }
    }
}

/// A commit that was built and tested, with its outcome.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The commit.
    pub commit: Commit,
    /// What it did.
    pub outcome: Outcome,
}

/// The four outcomes by which a fix is verified: before and at the introduction, before and at the fix.
#[derive(Clone, Debug)]
pub struct FixCheck {
    /// The commit that mends the failure.
    pub fix: Commit,
    /// The four commits: before the introduction, the introduction, before the fix, the fix; the first is missing for a root.
    pub steps: Vec<(&'static str, Tried)>,
    /// They pass, fail, fail and pass.
    pub is_verified: bool,
    /// The fix comes after the introduction.
    pub is_after: bool,
}

/// The result of a search with its evidence.
#[derive(Clone, Debug)]
pub struct Answer {
    /// In a word.
    pub verdict: Verdict,
    /// The commit that introduced the failure, if it is one; it is the last of `suspects`.
    pub introduced: Option<Commit>,
    /// The commits of which one introduced it, each behind its parents; all of them until the search is over.
    pub suspects: Vec<Commit>,
    /// The commit in which the test fails from which the search began.
    pub bad: Commit,
    /// Each commit that was looked at, in that order.
    pub tried: Vec<Tried>,
    /// What was said of the fix.
    pub fix: Option<FixCheck>,
    /// The history ends where a shallow clone ends.
    pub is_cut_off: bool,
    /// Builds that were made.
    pub builds: usize,
}

/// The largest number of suspects that are described.
const MOST_SUSPECTS: usize = 200;

/// A search for the commit that made a test fail.
pub struct Hunt<'h, 'b> {
    trials: &'h mut Trials<'b>,
    test: String,
    events: &'h dyn Fn(Event<'_>),
    tried: Vec<Tried>,
    /// Files with changes that are not committed.
    dirty: Vec<PathBuf>,
}

impl<'h, 'b> Hunt<'h, 'b> {
    /// Prepares the search for the commit that made `test` fail. `dirty` are files with changes that
    /// are not committed; errors mention them.
    pub fn new(
        trials: &'h mut Trials<'b>,
        test: &str,
        dirty: &[PathBuf],
        events: &'h dyn Fn(Event<'_>),
    ) -> Self {
        Hunt {
            trials,
            test: test.to_owned(),
            events,
            tried: Vec::new(),
            dirty: dirty.to_vec(),
        }
    }

    fn history(&self) -> &'b History {
        self.trials.history()
    }

    /// Runs the search and answers `question`.
    ///
    /// # Errors
    /// See [`RegressionError`]. When time is over before the ends were tried that is [`TrialError::Cancelled`].
    pub fn run(mut self, question: &Question) -> Result<Answer, RegressionError> {
        let history = self.history();
        let fix = question.fix.as_deref();
        let fix = fix.map(|fix| history.commit(fix)).transpose()?;
        let before_fix = fix.as_ref().map(|fix| self.parent(fix)).transpose()?;
        let bad = match (&question.bad, &before_fix) {
            (Some(bad), _) => history.commit(bad)?,
            (None, Some(before)) => before.clone(),
            (None, None) => history.commit("HEAD")?,
        };
        let good = question.good.as_deref();
        let good = good.map(|good| history.commit(good)).transpose()?;
        if good.as_ref().is_some_and(|good| good.id == bad.id) {
            return Err(RegressionError::Empty {
                commit: short(&bad),
            });
        }
        self.expect_failure(&bad, question.bad.is_none() && fix.is_none())?;
        let mut search = match &good {
            Some(good) => {
                let from = self.good_end(good, &bad)?;
                Search::new(history.members(&[&from], &bad.id)?)
            }
            None => match self.look_back(&bad) {
                Ok((Some(from), bad)) => Search::new(history.members(&[&from], &bad)?),
                Ok((None, bad)) => Search::new(history.members(&[], &bad)?),
                Err(RegressionError::Trial(TrialError::Cancelled)) => {
                    let fails = |tried: &&Tried| matches!(tried.outcome, Outcome::Fails(_));
                    let earliest = self.tried.iter().rev().find(fails);
                    let earliest = earliest.map_or(&bad.id, |tried| &tried.commit.id);
                    let search = Search::new(history.members(&[], earliest)?);
                    return self.unfinished(search, bad);
                }
                Err(error) => return Err(error),
            },
        };
        match self.bisect(&mut search) {
            Ok(()) => {}
            Err(RegressionError::Trial(TrialError::Cancelled)) => {
                return self.unfinished(search, bad);
            }
            Err(error) => return Err(error),
        }
        let suspects = self.described(&search)?;
        let only = <[Commit; 1]>::try_from(suspects.clone()).ok();
        let passes = |tried: &Tried| tried.outcome == Outcome::Passes;
        let verdict = match &only {
            Some([only]) if only.parents == 0 && !self.tried.iter().any(passes) => {
                Verdict::NeverPassed
            }
            Some([only]) if history.first_parent(&only.id)?.is_none() && history.is_shallow() => {
                Verdict::NeverPassed
            }
            Some(_) => Verdict::Found,
            None => Verdict::Suspects,
        };
        let introduced = only.filter(|_| verdict == Verdict::Found);
        let introduced = introduced.map(|[only]| only);
        let mut answer = Answer {
            verdict,
            introduced,
            suspects,
            bad,
            tried: Vec::new(),
            fix: None,
            is_cut_off: history.is_shallow(),
            builds: 0,
        };
        if let (Some(fix), Some(before), Some(introduced)) =
            (fix, before_fix, answer.introduced.clone())
        {
            match self.check_fix(&introduced, &before, fix) {
                Ok(check) => answer.fix = Some(check),
                Err(RegressionError::Trial(TrialError::Cancelled)) => {
                    answer.verdict = Verdict::Unfinished;
                }
                Err(error) => return Err(error),
            }
        }
        answer.tried = self.tried;
        answer.builds = self.trials.builds();
        Ok(answer)
    }

    fn unfinished(self, search: Search, bad: Commit) -> Result<Answer, RegressionError> {
        Ok(Answer {
            verdict: Verdict::Unfinished,
            introduced: None,
            suspects: self.described(&search)?,
            bad,
            fix: None,
            is_cut_off: self.history().is_shallow(),
            builds: self.trials.builds(),
            tried: self.tried,
        })
    }

    /// The commits that are left, as many as can be told.
    fn described(&self, search: &Search) -> Result<Vec<Commit>, RegressionError> {
        let suspects = search.suspects();
        let newest = suspects.len().saturating_sub(MOST_SUSPECTS);
        let ids = suspects[newest..]
            .iter()
            .map(|commit| &search.commits()[*commit].id);
        let commits = ids.map(|id| self.history().commit(id));
        Ok(commits.collect::<Result<_, _>>()?)
    }

    fn parent(&self, commit: &Commit) -> Result<Commit, RegressionError> {
        match self.history().first_parent(&commit.id)? {
            Some(parent) => Ok(self.history().commit(&parent)?),
            None => Err(RegressionError::FixIsRoot {
                commit: short(commit),
            }),
        }
    }

    fn outcome(&mut self, commit: &Commit, left: Option<usize>) -> Result<Outcome, TrialError> {
        let known = self.tried.iter().find(|tried| tried.commit.id == commit.id);
        if let Some(tried) = known {
            return Ok(tried.outcome.clone());
        }
        (self.events)(Event::Trying { commit, left });
        let outcome = self.trials.outcome(commit)?;
        (self.events)(Event::Tried {
            commit,
            outcome: &outcome,
        });
        self.tried.push(Tried {
            commit: commit.clone(),
            outcome: outcome.clone(),
        });
        Ok(outcome)
    }

    fn expect_failure(&mut self, bad: &Commit, is_default: bool) -> Result<(), RegressionError> {
        match self.outcome(bad, None)? {
            Outcome::Fails(_) => Ok(()),
            Outcome::Passes => Err(RegressionError::BadPasses {
                test: self.test.clone(),
                commit: short(bad),
                hint: match (is_default, self.dirty.is_empty()) {
                    (true, false) => format!(
                        "; if it fails in the working tree, what is not committed in {} is why: `patchwright complexity` shows that",
                        names(&self.dirty)
                    ),
                    (true, true) => "; name a revision in which it fails: ..BAD".to_owned(),
                    (false, _) => "; name another revision".to_owned(),
                },
            }),
            outcome => Err(self.unknown_end(bad, &outcome)),
        }
    }

    fn unknown_end(&self, commit: &Commit, outcome: &Outcome) -> RegressionError {
        let text = match outcome {
            Outcome::Unsteady { .. } => format!(
                "{}; with --any-failure a commit fails if one of its runs fails, and --runs says how many there are",
                outcome.text()
            ),
            outcome => outcome.text(),
        };
        RegressionError::EndUnknown {
            commit: short(commit),
            outcome: text,
            is_build: matches!(outcome, Outcome::NotBuilt(_)),
        }
    }

    /// A commit before `bad` in which the test passes: `good`, or where its branch parts from that of `bad`.
    fn good_end(&mut self, good: &Commit, bad: &Commit) -> Result<String, RegressionError> {
        let history = self.history();
        if history.leads_to(&good.id, &bad.id)? {
            return match self.outcome(good, None)? {
                Outcome::Passes => Ok(good.id.clone()),
                Outcome::Fails(reason) => Err(RegressionError::GoodFails {
                    test: self.test.clone(),
                    commit: short(good),
                    reason,
                }),
                outcome => Err(self.unknown_end(good, &outcome)),
            };
        }
        let base = history.common_ancestor(&good.id, &bad.id)?;
        let base = base.ok_or_else(|| RegressionError::Unrelated {
            good: short(good),
            bad: short(bad),
            hint: shallow_hint(history),
        })?;
        let base = history.commit(&base)?;
        (self.events)(Event::Note(format!(
            "{} does not lead to {}; the search begins where they part, at {}",
            short(good),
            short(bad),
            short(&base)
        )));
        match self.outcome(&base, None)? {
            Outcome::Passes => Ok(base.id),
            Outcome::Fails(_) => Err(RegressionError::BaseFails {
                test: self.test.clone(),
                base: short(&base),
                good: short(good),
                bad: short(bad),
            }),
            outcome => Err(self.unknown_end(&base, &outcome)),
        }
    }

    /// Looks back from `bad` in growing steps, along first parents, for a commit in which the test passes. The result are that commit, if
    /// there is one, and the earliest seen in which it fails.
    fn look_back(&mut self, bad: &Commit) -> Result<(Option<String>, String), RegressionError> {
        let history = self.history();
        let mut earliest = bad.id.clone();
        let mut at = bad.id.clone();
        let mut step = 1;
        loop {
            let mut moved = false;
            for _ in 0..step {
                match history.first_parent(&at)? {
                    Some(parent) => at = parent,
                    None => break,
                }
                moved = true;
            }
            if !moved {
                return Ok((None, earliest));
            }
            let commit = history.commit(&at)?;
            match self.outcome(&commit, None)? {
                Outcome::Passes => return Ok((Some(at), earliest)),
                Outcome::Fails(_) => earliest.clone_from(&at),
                _ => {}
            }
            step *= 2;
        }
    }

    fn bisect(&mut self, search: &mut Search) -> Result<(), RegressionError> {
        // What was tried on the way here.
        let known: BTreeMap<&str, &Outcome> = self
            .tried
            .iter()
            .map(|tried| (tried.commit.id.as_str(), &tried.outcome))
            .collect();
        let members: Vec<Member> = search.commits().to_vec();
        for (index, member) in members.iter().enumerate() {
            match known.get(member.id.as_str()) {
                Some(Outcome::Passes) => search.is_good(index),
                Some(Outcome::Fails(_)) | None => {}
                Some(_) => search.skip(index),
            }
        }
        search.begin();
        while let Some(next) = search.next() {
            let commit = self.history().commit(&members[next].id)?;
            let left = search.suspects().len();
            match self.outcome(&commit, Some(left))? {
                Outcome::Passes => search.is_good(next),
                Outcome::Fails(_) => search.is_bad(next),
                _ => search.skip(next),
            }
        }
        Ok(())
    }

    fn check_fix(
        &mut self,
        introduced: &Commit,
        before_fix: &Commit,
        fix: Commit,
    ) -> Result<FixCheck, RegressionError> {
        let history = self.history();
        let before = history.first_parent(&introduced.id)?;
        let before = before.map(|id| history.commit(&id)).transpose()?;
        let mut steps = Vec::new();
        let mut is_verified = true;
        let wanted = [
            ("before the introduction", before, true),
            ("the introduction", Some(introduced.clone()), false),
            ("before the fix", Some(before_fix.clone()), false),
            ("the fix", Some(fix.clone()), true),
        ];
        for (name, commit, passes) in wanted {
            let Some(commit) = commit else { continue };
            let outcome = self.outcome(&commit, None)?;
            is_verified &= match &outcome {
                Outcome::Passes => passes,
                Outcome::Fails(_) => !passes,
                _ => false,
            };
            steps.push((name, Tried { commit, outcome }));
        }
        Ok(FixCheck {
            is_after: history.leads_to(&introduced.id, &fix.id)?,
            fix,
            steps,
            is_verified,
        })
    }
}

/// Returns advice for a message if the history may be cut off, as in a shallow clone.
pub fn shallow_hint(history: &History) -> &'static str {
    match history.is_shallow() {
        true => "; the clone is shallow: `git fetch --unshallow` brings the rest of the history",
        false => "",
    }
}

fn short(commit: &Commit) -> String {
    commit.short().to_owned()
}

/// Returns the names of files for a message, as many as a line has room for.
pub fn names(paths: &[PathBuf]) -> String {
    const MOST: usize = 3;
    let shown: Vec<String> = paths
        .iter()
        .take(MOST)
        .map(|path: &PathBuf| Path::display(path).to_string())
        .collect();
    let more = paths.len().saturating_sub(MOST);
    match more {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
