//! A folder of cases: `NAME.out` with the expected output, and optionally `NAME.in` with the
//! standard input, `NAME.args` with the arguments and `NAME.code` with the expected exit status.

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
