//! Runs a build command in a copy of a project.

use std::ffi::{OsStr, OsString};
use std::time::Duration;

use crate::limits::Limits;
use crate::runner::{Ending, Environment, Overflow, Request, RunError, Runner, Sink};
use crate::sandbox::Sandbox;

/// The output and the duration of a successful build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildLog {
    /// What the build printed, both streams in the order of the writes.
    pub output: Vec<u8>,
    /// How long it took.
    pub wall: Duration,
}

/// Why a build did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The build command could not be run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// It ran and failed.
    #[error("the {} {}", if *prepares { "`prepare` command" } else { "build" }, describe_failure(command, *ending, first_error.as_deref(), tail))]
    Failed {
        /// It is the command that prepares a copy for its first build.
        prepares: bool,
        /// The build command.
        command: OsString,
        /// How it ended.
        ending: Ending,
        /// The first line of its output that reports an error, if one does.
        first_error: Option<String>,
        /// The last lines of its output.
        tail: Box<str>,
        /// All of its output.
        output: Vec<u8>,
    },
}

impl BuildError {
    /// Returns the error of a command that prepares a copy.
    pub(crate) fn of_preparation(mut self) -> Self {
        if let BuildError::Failed { prepares, .. } = &mut self {
            *prepares = true;
        }
        self
    }
}

fn describe_failure(
    command: &OsStr,
    ending: Ending,
    first_error: Option<&str>,
    tail: &str,
) -> String {
    let mut text = format!(
        "`{}` {ending}{}",
        command.display(),
        ending.more_for_builds()
    );
    if let Some(line) = first_error {
        text += &format!("\nfirst error: {line}");
    }
    if tail.is_empty() {
        text += "\nit printed nothing";
    } else {
        text += "\nthe end of its output:";
        for line in tail.lines() {
            text += &format!("\n  {line}");
        }
    }
    text
}

/// Number of lines of the output that an error quotes.
const TAIL: usize = 20;

/// Runs `sh -c command` in the root of the sandbox. Variables that a surrounding `make` sets for
/// its own children are removed, unless `environment` sets them.
///
/// # Errors
/// [`BuildError::Failed`] unless the command exits with status 0 within the limits.
pub fn run_build(
    runner: &mut Runner,
    sandbox: &Sandbox,
    command: &OsStr,
    environment: &Environment,
    limits: &Limits,
) -> Result<BuildLog, BuildError> {
    let limits = Limits {
        wall: runner
            .build_timeout()
            .map_or(limits.wall, |most| limits.wall.min(most)),
        ..limits.clone()
    };
    let mut request = Request::shell(command, sandbox.run_root()).limits(limits);
    request.environment = environment.clone();
    // Their job server is out of reach.
    let make = [
        "MAKEFLAGS",
        "MFLAGS",
        "MAKELEVEL",
        "MAKEFILES",
        "GNUMAKEFLAGS",
    ];
    request.environment.remove.extend(make.map(OsString::from));
    request.stderr = Sink::WithStdout;
    request.overflow = Overflow::Discard;
    let outcome = runner.run(&request)?;
    runner.note("the build", &outcome);
    if outcome.ending.is_success() {
        return Ok(BuildLog {
            output: outcome.stdout,
            wall: outcome.wall,
        });
    }
    let text = String::from_utf8_lossy(&outcome.stdout);
    let first_error = first_error(&text).map(str::to_owned);
    let tail = tail(&text, TAIL).into();
    Err(BuildError::Failed {
        prepares: false,
        command: command.to_owned(),
        ending: outcome.ending,
        first_error,
        tail,
        output: outcome.stdout,
    })
}

/// The first line that reports an error: of the compiler, else of the linker, else of `make` or
/// the shell.
pub(crate) fn first_error(output: &str) -> Option<&str> {
    let kinds: [&[&str]; 3] = [
        &[": error:", ": fatal error:", ": internal compiler error:"],
        &[
            "undefined reference to ",
            "multiple definition of ",
            "ld: cannot find ",
            "error: ",
        ],
        &[": *** ", ": not found", ": command not found", "Error: "],
    ];
    // Says that the linker has said something.
    let is_summary =
        |line: &str| line.contains("ld returned ") || line.contains("linker command failed");
    let of_kind = |marks: &[&str], line: &str| marks.iter().any(|mark| line.contains(mark));
    let lines = || output.lines();
    kinds
        .iter()
        .find_map(|marks| lines().find(|line| of_kind(marks, line) && !is_summary(line)))
        .or_else(|| lines().find(|line| is_summary(line)))
}

/// The last lines of a text.
fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_error_of_the_compiler_comes_before_those_of_make() {
        let output =
            "make: *** earlier\ncc -c a.c\na.c:3:1: error: expected ';'\nb.c:1: error: x\n";
        assert_eq!(first_error(output), Some("a.c:3:1: error: expected ';'"));
        assert_eq!(
            first_error("/bin/ld: a.o: undefined reference to `f'\n"),
            Some("/bin/ld: a.o: undefined reference to `f'")
        );
        let linker = "/bin/ld: a.o: undefined reference to `f'\ncollect2: error: ld returned 1 exit status\n";
        assert_eq!(first_error(linker), linker.lines().next());
        assert_eq!(
            first_error("make: *** No rule\n"),
            Some("make: *** No rule")
        );
        assert_eq!(first_error("all well\n"), None);
    }

    #[test]
    fn a_failure_is_described_with_its_first_error_and_tail() {
        let text = describe_failure(
            OsStr::new("make -j2"),
            Ending::Exited(2),
            Some("a.c:3:1: error: expected ';'"),
            "cc -c a.c\na.c:3:1: error: expected ';'",
        );
        assert_eq!(
            text,
            "`make -j2` ended with exit status 2\n\
             first error: a.c:3:1: error: expected ';'\n\
             the end of its output:\n  cc -c a.c\n  a.c:3:1: error: expected ';'"
        );
    }

    #[test]
    fn the_tail_keeps_the_last_lines() {
        assert_eq!(tail("a\nb\nc\n", 2), "b\nc");
        assert_eq!(tail("", 2), "");
    }
}
