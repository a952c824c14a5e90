//! The tests of a project: drivers with names, and programs with cases.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::runner::Environment;

/// All tests of a project in the order of their description, with their environment and time-out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestSuite {
    /// The tests; at least one, with different names.
    pub tests: Vec<Test>,
    /// The time-out of each test, if the description gives one.
    pub timeout: Option<Duration>,
    /// The environment of each test.
    pub environment: Environment,
}

/// One test: its name and how it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Its name, unique in its suite.
    pub name: String,
    /// What to do.
    pub kind: TestKind,
}

impl Test {
    /// Whether a driver runs the test. Reports then show the driver's ending and not the program's.
    pub fn is_driven(&self) -> bool {
        matches!(self.kind, TestKind::Driver { .. })
    }
}

/// Whether a driver runs the test, or the program runs on a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestKind {
    /// Runs the driver from the project's root with the test's name as its only argument. Exit
    /// status 0 means pass.
    Driver {
        /// The driver: relative to the project's root, or an absolute path outside it.
        driver: PathBuf,
    },
    /// Runs the program itself.
    Case(Arc<Case>),
}

/// One run of the program under test, with its input and its expected output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The program: relative to the project's root, or an absolute path outside it.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<std::ffi::OsString>,
    /// The file that it reads as standard input, absolute.
    pub stdin: Option<PathBuf>,
    /// The file with what it must print, absolute; its other files lie beside it.
    pub expected: PathBuf,
    /// What it must print to standard output.
    pub expected_stdout: Vec<u8>,
    /// How alike that must be.
    pub comparison: Comparison,
    /// The exit status that it must end with.
    pub expected_code: i32,
}

/// How the output of a case is compared with the expected output: exactly, or without trailing
/// whitespace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Comparison {
    /// To the byte.
    #[default]
    Exact,
    /// But for whitespace at the ends of lines, and for empty lines and a missing newline at the end.
    IgnoreTrailingWhitespace,
}

/// How a program, given relative to the working directory, must be written so that it is not
/// looked for in `PATH`.
pub(crate) fn in_working_directory(program: &Path) -> PathBuf {
    if program.components().count() == 1 && program.is_relative() {
        Path::new(".").join(program)
    } else {
        program.to_path_buf()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_is_meant_in_the_working_directory() {
        for (given, written) in [
            ("prog", "./prog"),
            ("./prog", "./prog"),
            ("a/prog", "a/prog"),
            ("/bin/x", "/bin/x"),
        ] {
            assert_eq!(in_working_directory(Path::new(given)), Path::new(written));
        }
    }
}
