//! Reports of `patchwright regression`, as text and JSON.

use std::fmt::Write;

use patchwright_changes::git::{Commit, days_between};
use patchwright_history::{Answer, FixCheck, Outcome, Tried, Verdict};
use serde::Serialize;

use crate::complexity::{self, Measured};
use crate::text::{Style, count};

/// The name that `regression --json` gives its format.
pub const SCHEMA: &str = "patchwright-regression";
/// The version of `regression --json`. It is raised when a field changes its meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// Suspects that are listed for people.
const MOST_SUSPECTS: usize = 20;

/// The answer, with the measured complexity of its commits.
pub struct Report<'r> {
    /// The test.
    pub test: &'r str,
    /// The answer.
    pub answer: &'r Answer,
    /// The change of the commit that introduced the failure.
    pub introduction: Option<Measured>,
    /// The change of the fix.
    pub fix: Option<Measured>,
    /// Commits from the introduction to the fix, or to the commit from which the search began.
    pub life_commits: Option<usize>,
}

fn title(commit: &Commit) -> String {
    format!(
        "{} · {} · {}",
        commit.short(),
        commit.date(),
        commit.subject
    )
}

/// Days, as people count them.
fn days(days: f64) -> String {
    match days {
        days if days.abs() < 1.0 => "less than a day".to_owned(),
        days => count(days as u64, "day", "days"),
    }
}

impl Report<'_> {
    /// Returns the report as text.
    pub fn text(&self, style: Style) -> String {
        let answer = self.answer;
        let mut text = String::new();
        match answer.verdict {
            Verdict::Found => self.found(&mut text, style),
            Verdict::Suspects => {
                let _ = writeln!(
                    text,
                    "{}: one of these commits made `{}` fail; only the last one could be tested:",
                    style.paint(
                        "33;1",
                        &count(answer.suspects.len() as u64, "suspect", "suspects")
                    ),
                    self.test
                );
                self.suspects(&mut text);
            }
            Verdict::NeverPassed => {
                let oldest = answer.suspects.first().map_or(String::new(), title);
                let _ = writeln!(
                    text,
                    "{}: `{}` fails in the oldest commit, too: {oldest}",
                    style.paint("33;1", "No regression"),
                    self.test
                );
                if answer.is_cut_off {
                    text.push_str(
                        "The clone is shallow: `git fetch --unshallow` brings the rest of the history.\n",
                    );
                }
            }
            Verdict::Unfinished if answer.introduced.is_some() => {
                self.found(&mut text, style);
                text.push_str("Time was over before the fix was checked.\n");
            }
            Verdict::Unfinished => {
                let _ = writeln!(
                    text,
                    "{}: one of {} made `{}` fail.",
                    style.paint("33;1", "Unfinished"),
                    count(answer.suspects.len() as u64, "commit", "commits"),
                    self.test
                );
                self.suspects(&mut text);
            }
        }
        self.tried(&mut text);
        for (what, change) in [("introduction", &self.introduction), ("fix", &self.fix)] {
            if let Some(change) = change {
                let _ = write!(text, "\nThe {what}:\n{}", complexity::text(change, style));
            }
        }
        text
    }

    fn found(&self, text: &mut String, style: Style) {
        let answer = self.answer;
        let Some(introduced) = &answer.introduced else {
            return;
        };
        let _ = writeln!(
            text,
            "{}: {}",
            style.paint("1", "introduced by"),
            title(introduced)
        );
        if introduced.parents > 1 {
            text.push_str("  it is a merge, and the test passes in what it merges\n");
        }
        let tried = |commit: &Commit| answer.tried.iter().find(|one| one.commit.id == commit.id);
        let outcome = |commit: &Commit| tried(commit).map(|one| one.outcome.text());
        if let Some(outcome) = outcome(introduced) {
            let _ = writeln!(text, "  `{}` {outcome}", self.test);
            let last = &answer.bad;
            if let Some(last_outcome) = tried(last).map(|one| one.outcome.text())
                && last_outcome != outcome
            {
                let _ = writeln!(text, "  in {}, it {last_outcome}", last.short());
            }
        }
        if let Some(check) = &answer.fix {
            let _ = writeln!(
                text,
                "{}: {}",
                style.paint("1", "fixed by"),
                title(&check.fix)
            );
            self.check(check, text, style);
        }
        let end = last(answer);
        if end.id != introduced.id {
            let until = match &answer.fix {
                Some(_) => String::new(),
                None => format!(" until {}, where it still fails", end.short()),
            };
            let commits = self.life_commits.map_or(String::new(), |commits| {
                format!(", {}", count(commits as u64, "commit", "commits"))
            });
            let span = days(days_between(introduced, end));
            let _ = writeln!(text, "life span: {span}{commits}{until}");
        }
        let figure = |change: &Option<Measured>| {
            change
                .as_ref()
                .map(|change| change.measurement.complexity().to_string())
        };
        if let Some(introduced) = figure(&self.introduction) {
            let fix = figure(&self.fix).map_or(String::new(), |fix| format!(", {fix} of the fix"));
            let _ = writeln!(text, "CyCC: {introduced} of the introduction{fix}");
        }
    }

    fn check(&self, check: &FixCheck, text: &mut String, style: Style) {
        let said = match check.is_verified {
            true => style.paint("32", "pass-fail-fail-pass: verified"),
            false => style.paint("31;1", "not pass-fail-fail-pass"),
        };
        let _ = writeln!(text, "  {said}");
        for (name, tried) in &check.steps {
            let _ = writeln!(
                text,
                "    {name:<23} {} {}",
                tried.commit.short(),
                tried.outcome.text()
            );
        }
        if !check.is_after {
            text.push_str("  note: the introduction does not lead to the fix: they are in different branches\n");
        }
    }

    fn suspects(&self, text: &mut String) {
        let suspects = &self.answer.suspects;
        let tried = |commit: &Commit| {
            let tried = self.answer.tried.iter();
            let mut tried = tried.filter(|tried| tried.commit.id == commit.id);
            tried
                .next()
                .map_or(String::new(), |tried| format!(": {}", tried.outcome.text()))
        };
        let left_out = suspects.len().saturating_sub(MOST_SUSPECTS);
        if left_out > 0 {
            let _ = writeln!(text, "  {left_out} older ones, and");
        }
        for commit in &suspects[left_out..] {
            let _ = writeln!(text, "  {}{}", title(commit), tried(commit));
        }
    }

    fn tried(&self, text: &mut String) {
        let of = |word: &str, is: fn(&Tried) -> bool| {
            let number = self.answer.tried.iter().filter(|tried| is(tried)).count();
            (number > 0).then(|| format!("{number} {word}"))
        };
        let kinds = [
            of("passing", |tried| tried.outcome == Outcome::Passes),
            of("failing", |tried| {
                matches!(tried.outcome, Outcome::Fails(_))
            }),
            of("not steady", |tried| {
                matches!(tried.outcome, Outcome::Unsteady { .. })
            }),
            of("not building", |tried| {
                matches!(tried.outcome, Outcome::NotBuilt(_))
            }),
            of("not testable", |tried| {
                matches!(tried.outcome, Outcome::NotTested(_))
            }),
        ];
        let kinds: Vec<String> = kinds.into_iter().flatten().collect();
        let _ = writeln!(
            text,
            "{} looked at ({}), {}",
            count(self.answer.tried.len() as u64, "commit", "commits"),
            kinds.join(", "),
            count(self.answer.builds as u64, "build", "builds")
        );
    }

    /// Returns the report as JSON with a newline at the end.
    pub fn json(&self) -> String {
        let answer = self.answer;
        let report = Entry {
            schema: SCHEMA,
            schema_version: SCHEMA_VERSION,
            test: self.test,
            verdict: answer.verdict.code(),
            introduced: answer.introduced.as_ref().map(commit),
            bad: commit(&answer.bad),
            suspects: answer.suspects.iter().map(commit).collect(),
            history_is_cut_off: answer.is_cut_off,
            tried: answer.tried.iter().map(tried_entry).collect(),
            builds: answer.builds,
            life_days: answer
                .introduced
                .as_ref()
                .map(|introduced| days_between(introduced, last(answer))),
            life_commits: self.life_commits,
            fix: answer.fix.as_ref().map(|check| FixEntry {
                commit: commit(&check.fix),
                verified: check.is_verified,
                after_introduction: check.is_after,
                steps: check
                    .steps
                    .iter()
                    .map(|(name, tried)| (*name, tried_entry(tried)))
                    .collect(),
            }),
            introduction_change: self.introduction.as_ref().map(complexity::entry),
            fix_change: self.fix.as_ref().map(complexity::entry),
        };
        // Strings and numbers only: this cannot fail.
        let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
        text.push('\n');
        text
    }
}

/// The commit at the end of the failure's life, as far as is known.
fn last(answer: &Answer) -> &Commit {
    answer.fix.as_ref().map_or(&answer.bad, |check| &check.fix)
}

fn commit(commit: &Commit) -> CommitEntry<'_> {
    CommitEntry {
        id: &commit.id,
        subject: &commit.subject,
        time: commit.time,
        parents: commit.parents,
    }
}

fn tried_entry(tried: &Tried) -> TriedEntry<'_> {
    TriedEntry {
        commit: commit(&tried.commit),
        outcome: outcome(tried),
        text: tried.outcome.text(),
    }
}

fn outcome(tried: &Tried) -> &'static str {
    match tried.outcome {
        Outcome::Passes => "passes",
        Outcome::Fails(_) => "fails",
        Outcome::Unsteady { .. } => "unsteady",
        Outcome::NotBuilt(_) => "not-built",
        Outcome::NotTested(_) => "not-tested",
    }
}

#[derive(Serialize)]
struct Entry<'r> {
    /// The name of the schema.
    schema: &'static str,
    /// Its version: a field keeps its name and meaning within one.
    schema_version: u32,
    /// The test.
    test: &'r str,
    /// `found`, `suspects` (one of several commits), `never-passed` or `unfinished`.
    verdict: &'static str,
    /// The commit that introduced the failure.
    introduced: Option<CommitEntry<'r>>,
    /// The revision at which the test fails.
    bad: CommitEntry<'r>,
    /// The commits of which one introduced the failure, where they cannot be told apart.
    suspects: Vec<CommitEntry<'r>>,
    /// Whether the repository lacks the history before.
    history_is_cut_off: bool,
    /// The commits that were built and tested, in order.
    tried: Vec<TriedEntry<'r>>,
    /// How many builds that took.
    builds: usize,
    /// How long the error lived, in days.
    life_days: Option<f64>,
    /// How long, in commits.
    life_commits: Option<usize>,
    /// What is known of the fix that was named.
    fix: Option<FixEntry<'r>>,
    /// The change of the introducing commit, as an entry of `changes` of `complexity`.
    introduction_change: Option<complexity::Entry>,
    /// That of the fix.
    fix_change: Option<complexity::Entry>,
}

#[derive(Serialize)]
struct CommitEntry<'r> {
    /// Its hash.
    id: &'r str,
    /// The first line of its message.
    subject: &'r str,
    /// When it was committed, in seconds since 1970.
    time: i64,
    /// How many parents it has.
    parents: usize,
}

#[derive(Serialize)]
struct TriedEntry<'r> {
    /// The commit.
    commit: CommitEntry<'r>,
    /// `passes`, `fails`, `unsteady`, `not-built` or `not-tested`.
    outcome: &'static str,
    /// The same in words.
    text: String,
}

#[derive(Serialize)]
struct FixEntry<'r> {
    /// The commit.
    commit: CommitEntry<'r>,
    /// Whether the test passes before the introduction, fails from there on, and passes with the fix.
    verified: bool,
    /// Whether it comes after the introducing commit.
    after_introduction: bool,
    /// The commits that were tested for that, each with what it is to show.
    steps: Vec<(&'static str, TriedEntry<'r>)>,
}
