//! What editors, code reviews and pipelines read, beside what people do.

use std::path::{Path, PathBuf};

use clap::Args;
use patchwright_changes::git::History;
use patchwright_exec::{FileError, files};
use patchwright_report::findings::Findings;

/// The flags for outputs that editors and pipelines read.
#[derive(Args, Clone, Debug, Default)]
pub struct CiArgs {
    /// Also write SARIF 2.1.0 to this file, for editors and code reviews
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub sarif: Option<PathBuf>,

    /// Also write JUnit XML to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub junit: Option<PathBuf>,

    /// Also print annotations for GitHub's workflows, on standard error
    #[arg(long, help_heading = "Output")]
    pub github: bool,
}

impl CiArgs {
    /// Makes the files, so that one that cannot be written to is an error at once and not after the work.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn check(&self) -> Result<(), FileError> {
        let wanted = self.sarif.iter().chain(&self.junit);
        wanted
            .into_iter()
            .try_for_each(|file| files::write_atomic(file, b""))
    }

    /// Writes findings wherever they are wanted, with files seen from the root of the git repository that `folder` lies in, or else
    /// from the current folder. The files of the findings are relative to `folder`, which may be a C file in it.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(
        &self,
        folder: &Path,
        findings: impl FnOnce() -> Findings,
    ) -> Result<(), FileError> {
        if self.sarif.is_none() && self.junit.is_none() && !self.github {
            return Ok(());
        }
        let findings = findings().below(&from_root(folder));
        if let Some(file) = &self.sarif {
            files::write_atomic(file, findings.sarif().as_bytes())?;
        }
        if let Some(file) = &self.junit {
            files::write_atomic(file, findings.junit().as_bytes())?;
        }
        if self.github {
            eprint!("{}", findings.annotations());
        }
        Ok(())
    }
}

/// Returns a folder, or the folder of a C file, relative to the root of its repository, else to the current folder. The path is empty for
/// that root itself, and for folders elsewhere.
fn from_root(folder: &Path) -> PathBuf {
    let Ok(folder) = folder.canonicalize() else {
        return PathBuf::new();
    };
    let folder = match folder.is_file() {
        true => folder.parent().unwrap_or(&folder),
        false => &folder,
    };
    let repository = History::open(folder).and_then(|history| history.working_tree());
    let root = repository.ok().or_else(|| std::env::current_dir().ok());
    root.and_then(|root| folder.strip_prefix(root).ok().map(Path::to_path_buf))
        .unwrap_or_default()
}
