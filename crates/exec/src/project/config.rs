//! Reads `patchwright.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::error::{Place, ProjectError};
use crate::{duration::Written, files};

/// A description as it was written, with what is needed to find the line of a value.
#[derive(Debug, Default)]
pub(super) struct Config {
    path: PathBuf,
    text: String,
    pub(super) file: ConfigFile,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct ConfigFile {
    pub(super) project: ProjectTable,
    pub(super) tests: TestsTable,
    pub(super) limits: LimitsTable,
    pub(super) repair: RepairTable,
    pub(super) protection: ProtectionTable,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct ProtectionTable {
    pub(super) allow_writes: Option<Vec<Spanned<String>>>,
    pub(super) network: Option<Spanned<bool>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct ProjectTable {
    pub(super) build: Option<String>,
    pub(super) compile_commands: Option<PathBuf>,
    pub(super) prepare: Option<String>,
    pub(super) exclude: Option<Vec<Spanned<String>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct TestsTable {
    pub(super) driver: Option<Spanned<String>>,
    pub(super) names: Option<Vec<Spanned<String>>>,
    pub(super) program: Option<Spanned<String>>,
    pub(super) cases: Option<Spanned<String>>,
    pub(super) timeout: Option<Spanned<Written>>,
    /// What `timeout` was called before it had a unit.
    pub(super) timeout_ms: Option<Spanned<toml::Value>>,
    pub(super) ignore_trailing_whitespace: Option<Spanned<bool>>,
    pub(super) environment: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct LimitsTable {
    pub(super) memory_mb: Option<Spanned<u64>>,
    pub(super) output_mb: Option<Spanned<u64>>,
    pub(super) processes: Option<Spanned<u64>>,
    pub(super) build_memory_mb: Option<Spanned<u64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct RepairTable {
    pub(super) files: Option<Vec<Spanned<String>>>,
}

/// A value with its place.
pub(super) struct Located<'a, T> {
    pub(super) value: &'a T,
    pub(super) place: Place,
}

impl Config {
    pub(super) fn read(path: &Path) -> Result<Self, ProjectError> {
        let bytes = files::read(path)?;
        let at = |line| Place::Config {
            path: path.to_path_buf(),
            line,
        };
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = line_of(error.as_bytes(), valid);
            ProjectError::Syntax {
                place: at(line),
                message: "the file is not UTF-8".into(),
            }
        })?;
        let file = toml::from_str(&text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let place = at(line_of(text.as_bytes(), start));
            ProjectError::Syntax {
                place,
                // A former key is no choice.
                message: error.message().replace("`timeout-ms`, ", ""),
            }
        })?;
        Ok(Config {
            path: path.to_path_buf(),
            text,
            file,
        })
    }

    pub(super) fn locate<'a, T>(&self, value: &'a Spanned<T>) -> Located<'a, T> {
        let line = line_of(self.text.as_bytes(), value.span().start);
        let place = Place::Config {
            path: self.path.clone(),
            line,
        };
        Located {
            value: value.get_ref(),
            place,
        }
    }
}

/// The line (from 1) of an offset.
fn line_of(text: &[u8], offset: usize) -> usize {
    let before = &text[..offset.min(text.len())];
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}
