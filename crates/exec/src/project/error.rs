//! The errors in a project's description.

use std::fmt;
use std::path::PathBuf;

use super::selection::SelectionError;
use crate::files::FileError;

/// The flag or the line of `patchwright.toml` where a value was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// In a description, on this line (from 1).
    Config {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// By this flag.
    Flag(&'static str),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Config { path, line } => write!(f, "{}:{line}", path.display()),
            Place::Flag(flag) => f.write_str(flag),
        }
    }
}

/// Why a description cannot be used: the place, the mistake and the remedy.
#[derive(Debug, thiserror::Error)]
#[allow(
    missing_docs,
    reason = "the fields are named after what the messages say"
)]
pub enum ProjectError {
    /// The root is no folder.
    #[error("the project's root {} is not a folder", root.display())]
    NoRoot { root: PathBuf },
    /// A file cannot be read or written.
    #[error("{source}")]
    File { source: FileError },
    /// The description is not TOML, or has keys or values that mean nothing.
    #[error("{place}: {message}")]
    Syntax { place: Place, message: String },
    /// The single C file cannot be read.
    #[error("{} is no folder and no readable file", file.display())]
    NoSource { file: PathBuf },
    /// The single file is not C.
    #[error("{} is not a C file: its name must end in .c", file.display())]
    NotC { file: PathBuf },
    /// Tests are needed and none are described.
    #[error(
        "no tests are described; name a test driver and its tests (--driver PATH --tests ID…, \
         or driver and names under [tests] in patchwright.toml), or a program and a folder of \
         cases (--program PATH --cases FOLDER)"
    )]
    NoTestsDescribed,
    /// A build or `prepare` command without a word.
    #[error("{place}: the command is empty; leave it out, or say `true` if there is nothing to do")]
    NoCommand { place: Place },
    /// Test names without a driver or cases.
    #[error("{place}: tests are named, but no driver; add --driver PATH, or driver under [tests]")]
    NoDriver { place: Place },
    /// Both a driver and cases.
    #[error("{place}: tests have either a driver or a program with cases, not both; remove one")]
    TwoKinds { place: Place },
    /// Cases without a program.
    #[error(
        "{place}: cases need the program that they run; add --program PATH, or program under [tests]"
    )]
    NoProgram { place: Place },
    /// A program without cases.
    #[error("{place}: the program has no cases; add --cases FOLDER, or cases under [tests]")]
    NoCases { place: Place },
    /// Something about the comparison of outputs, and a driver, which compares itself.
    #[error(
        "{place}: a driver decides by itself what passes; whitespace can be ignored in the output of a \
         program with cases"
    )]
    DriverCompares { place: Place },
    /// The driver does not exist.
    #[error("{place}: the test driver {} does not exist; paths are relative to the project's root", driver.display())]
    DriverMissing { place: Place, driver: PathBuf },
    /// The driver is a folder.
    #[error("{place}: the test driver {} is a folder; name the file in it that runs a test", driver.display())]
    DriverIsFolder { place: Place, driver: PathBuf },
    /// The driver cannot be executed.
    #[error("{place}: the test driver {} is not executable; run chmod +x on it", driver.display())]
    DriverNotExecutable { place: Place, driver: PathBuf },
    /// A driver without tests.
    #[error("{place}: the test driver has no tests; add --tests ID…, or names under [tests]")]
    NoTestNames { place: Place },
    /// An empty name, or one with a NUL byte.
    #[error("{place}: {name:?} cannot be the name of a test")]
    BadTestName { place: Place, name: String },
    /// A name that was given twice.
    #[error("{place}: the test {name:?} is named twice")]
    DuplicateTest { place: Place, name: String },
    /// The folder of cases does not exist.
    #[error("{place}: the folder of cases {} does not exist; paths are relative to the project's root", folder.display())]
    CasesMissing { place: Place, folder: PathBuf },
    /// The folder of cases of a single C file does not exist.
    #[error("there is no folder `{}`; the folder of cases is named after the C file, or with --cases", folder.display())]
    FileCasesMissing { folder: PathBuf },
    /// A folder of cases after the folder of a project.
    #[error("{}: only a single C file is followed by its folder of cases; for the project {}, say --program PATH --cases FOLDER", folder.display(), root.display())]
    CasesOfFolder { folder: PathBuf, root: PathBuf },
    /// The folder of cases has none.
    #[error("{place}: {} has no cases; a case NAME has its expected output in NAME.out", folder.display())]
    CasesEmpty { place: Place, folder: PathBuf },
    /// A case without an expected output.
    #[error("{}: the case has no expected output; write it to {}", file.display(), missing.display())]
    OutputMissing { file: PathBuf, missing: PathBuf },
    /// A selected case that is not there.
    #[error("{place}: there is no case {name:?} in {}", folder.display())]
    UnknownCase {
        place: Place,
        name: String,
        folder: PathBuf,
    },
    /// Arguments that cannot be split into words.
    #[error("{}: a quote is not closed; arguments are written as in a shell", file.display())]
    BadArguments { file: PathBuf },
    /// An exit status that is none.
    #[error("{}: {text:?} is not an exit status; write a number from 0 to 255", file.display())]
    BadExitStatus { file: PathBuf, text: String },
    /// A time-out of nothing.
    #[error("{place}: a time-out of 0 lets no test pass; give a time such as 10s")]
    ZeroTimeout { place: Place },
    /// A key that has another name now.
    #[error("{place}: `{former}` is written `{now}`")]
    FormerKey {
        place: Place,
        former: String,
        now: String,
    },
    /// A limit of nothing.
    #[error("{place}: {name} must be at least 1")]
    ZeroLimit { place: Place, name: &'static str },
    /// A selection that cannot be understood.
    #[error("{place}: {source}")]
    Selection {
        place: Place,
        source: SelectionError,
    },
    /// A change whose lines are to be looked at, and that cannot be read or has none.
    #[error("{named}: {message}")]
    Changed { named: String, message: String },
    /// What `--base` or `--in-diff` names has changed no line of a C file.
    #[error("{named}: no line of a C file has changed, so there is nothing to look at")]
    NothingChanged { named: String },
    /// A selected file outside the project.
    #[error("{place}: {} is outside the project {}", file.display(), root.display())]
    OutsideProject {
        place: Place,
        file: PathBuf,
        root: PathBuf,
    },
    /// A selected file that does not exist.
    #[error("{place}: {} does not exist; paths are relative to the project's root", file.display())]
    FileMissing { place: Place, file: PathBuf },
    /// A folder to write to that is none.
    #[error("{place}: {} is not a folder, so writing to it cannot be allowed", folder.display())]
    NoFolder { place: Place, folder: PathBuf },
    /// The whole system to write to.
    #[error("{place}: writing everywhere cannot be allowed; use --unprotected for that")]
    WholeSystem { place: Place },
    /// Lines of a selected folder.
    #[error("{place}: {} is a folder; lines can only be chosen in a file", folder.display())]
    LinesOfFolder { place: Place, folder: PathBuf },
}
