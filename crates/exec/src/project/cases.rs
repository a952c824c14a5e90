//! Reads a folder of cases. A case has its expected output in `NAME.out`, and optionally its standard
//! input in `NAME.in`, its arguments in `NAME.args` and its exit status in `NAME.code`.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::error::{Place, ProjectError};
use crate::files::{self, Context};
use crate::suite::{Case, Comparison};

/// Reads all cases of a folder, in the order of their names.
pub(super) fn read_cases(
    folder: &Path,
    program: &Path,
    comparison: Comparison,
    place: &Place,
) -> Result<Vec<(String, Case)>, ProjectError> {
    let folder = match fs::canonicalize(folder) {
        Ok(path) if path.is_dir() => path,
        _ => {
            let (place, folder) = (place.clone(), folder.to_path_buf());
            return Err(ProjectError::CasesMissing { place, folder });
        }
    };
    // The parts of each case, by its name.
    let mut found: BTreeMap<OsString, Vec<PathBuf>> = BTreeMap::new();
    for entry in fs::read_dir(&folder).context("read the folder", &folder)? {
        let path = entry.context("read the folder", &folder)?.path();
        let extension = path.extension().and_then(OsStr::to_str);
        if let (Some("out" | "in" | "args" | "code"), Some(name)) = (extension, path.file_stem()) {
            found.entry(name.to_owned()).or_default().push(path);
        }
    }
    if found.is_empty() {
        return Err(ProjectError::CasesEmpty {
            place: place.clone(),
            folder,
        });
    }
    let mut cases: Vec<(String, Case)> = Vec::new();
    for (name, mut parts) in found {
        parts.sort();
        let case = read_case(&parts, program, comparison)?;
        let name = name.to_string_lossy().into_owned();
        if cases.iter().any(|(other, _)| *other == name) {
            return Err(ProjectError::DuplicateTest {
                place: place.clone(),
                name,
            });
        }
        cases.push((name, case));
    }
    Ok(cases)
}

/// The extensions of a case's files.
const PARTS: [&str; 4] = ["args", "code", "in", "out"];

impl Case {
    /// Whether `path`, relative to the project at `root`, is one of the case's files.
    pub fn has_file(&self, root: &Path, path: &Path) -> bool {
        let mut parts = PARTS.iter().map(|part| self.expected.with_extension(part));
        parts.any(|part| part.strip_prefix(root).is_ok_and(|part| part == path))
    }

    /// Reads the case again from `copy`, a copy of the project at `root` whose files may differ. A
    /// case outside of the project stays as it is.
    ///
    /// # Errors
    /// A case that is none any more, and files that cannot be read.
    pub fn in_copy(&self, root: &Path, copy: &Path) -> Result<Case, ProjectError> {
        let Ok(relative) = self.expected.strip_prefix(root) else {
            return Ok(self.clone());
        };
        let expected = copy.join(relative);
        let parts = PARTS.iter().map(|part| expected.with_extension(part));
        let mut parts: Vec<PathBuf> = parts.filter(|part| part.is_file()).collect();
        if parts.is_empty() {
            parts.push(expected.clone());
        }
        if !expected.is_file() {
            return Err(ProjectError::OutputMissing {
                file: parts.swap_remove(0),
                missing: expected,
            });
        }
        let case = read_case(&parts, &self.program, self.comparison)?;
        // Programs see the copy in the project's place.
        let in_project = |_| self.expected.with_extension("in");
        Ok(Case {
            stdin: case.stdin.map(in_project),
            expected: self.expected.clone(),
            ..case
        })
    }
}

fn read_case(
    parts: &[PathBuf],
    program: &Path,
    comparison: Comparison,
) -> Result<Case, ProjectError> {
    let part = |extension: &str| {
        parts
            .iter()
            .find(|part| part.extension() == Some(OsStr::new(extension)))
    };
    let Some(output) = part("out") else {
        let missing = parts[0].with_extension("out");
        return Err(ProjectError::OutputMissing {
            file: parts[0].clone(),
            missing,
        });
    };
    let arguments = match part("args") {
        None => Vec::new(),
        Some(file) => shlex::bytes::split(&files::read(file)?)
            .ok_or_else(|| ProjectError::BadArguments { file: file.clone() })?,
    };
    let expected_code = match part("code") {
        None => 0,
        Some(file) => parse_code(file, &files::read(file)?)?,
    };
    Ok(Case {
        program: program.to_path_buf(),
        arguments: arguments.into_iter().map(OsString::from_vec).collect(),
        stdin: part("in").cloned(),
        expected: output.clone(),
        expected_stdout: files::read(output)?,
        comparison,
        expected_code,
    })
}

fn parse_code(file: &Path, bytes: &[u8]) -> Result<i32, ProjectError> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    match text.parse::<u8>() {
        Ok(code) => Ok(i32::from(code)),
        Err(_) => {
            let text = text.to_owned();
            Err(ProjectError::BadExitStatus {
                file: file.to_path_buf(),
                text,
            })
        }
    }
}
