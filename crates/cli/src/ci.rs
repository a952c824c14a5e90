//! What editors, code reviews and pipelines read, beside what people do.

use std::path::PathBuf;

use clap::Args;
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

    /// Writes findings wherever they are wanted.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, findings: impl FnOnce() -> Findings) -> Result<(), FileError> {
        if self.sarif.is_none() && self.junit.is_none() && !self.github {
            return Ok(());
        }
        let findings = findings();
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
