//! `--base` and `--in-diff`: the lines that a change has touched.

use std::path::{Path, PathBuf};

use clap::Args;
use patchwright_changes::{Source, git::History};
use patchwright_exec::{FileSelection, ProjectError, files};
use patchwright_patches::Counts;
use patchwright_patches::diff::{self, Name, Side};
use patchwright_text::{LineMap, line_edits};

/// Which change is looked at.
#[derive(Args, Clone, Debug, Default)]
pub struct ChangedArgs {
    /// Look only at lines changed since this revision of git
    #[arg(
        long,
        value_name = "REV",
        alias = "changed",
        conflicts_with = "files",
        help_heading = "Project"
    )]
    pub base: Option<String>,

    /// Look only at lines that this diff has changed; it has been applied to the project
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["files", "base"],
        help_heading = "Project"
    )]
    pub in_diff: Option<PathBuf>,
}

impl ChangedArgs {
    /// Returns the changed lines as selections of the project in folder `project`. The result is empty if neither `--base` nor
    /// `--in-diff` is given.
    ///
    /// # Errors
    /// A revision or a diff that cannot be read, and a change of no line.
    pub fn selected(&self, project: &Path) -> Result<Vec<FileSelection>, ProjectError> {
        let (named, found) = match (&self.base, &self.in_diff) {
            (Some(base), _) => {
                // A range that ends with what is there.
                let revision = base.strip_suffix("..").unwrap_or(base);
                (format!("--base {base}"), since(project, revision))
            }
            (None, Some(diff)) => {
                let named = format!("--in-diff {}", diff.display());
                (named, of_diff(diff))
            }
            (None, None) => return Ok(Vec::new()),
        };
        let found = found.map_err(|message| ProjectError::Changed {
            named: named.clone(),
            message,
        })?;
        match found.is_empty() {
            true => Err(ProjectError::NothingChanged { named }),
            false => Ok(found),
        }
    }
}

/// Lines that have changed since a revision.
fn since(project: &Path, base: &str) -> Result<Vec<FileSelection>, String> {
    let folder = match project.is_dir() {
        true => project,
        false => project
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or(Path::new(".")),
    };
    let repository = History::open(folder).map_err(|error| error.to_string())?;
    let root = repository
        .working_tree()
        .map_err(|error| error.to_string())?;
    let change = repository.since(base).map_err(|error| error.to_string())?;
    let absolute = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (root, own) = (absolute(&root), absolute(project));
    let mut found = Vec::new();
    for file in &change.files {
        let Some(new) = &file.new else { continue };
        let path = root.join(&new.path);
        let file_name = match project.is_dir() {
            true => path.strip_prefix(&own).ok().map(Path::to_path_buf),
            // A single file is named as the user named it.
            false => (path == own).then(|| project.to_path_buf()),
        };
        let Some(name) = file_name else { continue };
        let old = file.old.as_ref().map_or(&b""[..], |old: &Source| &old.text);
        for lines in changed_lines(old, &new.text) {
            found.push(FileSelection {
                file: name.clone(),
                lines: Some(lines),
            });
        }
    }
    Ok(found)
}

/// The lines of a text, from 1, that another one does not have; where lines are gone, the one behind them.
fn changed_lines(old: &[u8], new: &[u8]) -> Vec<(u32, u32)> {
    let lines = LineMap::new(new);
    let mut shift: i64 = 0;
    let mut found = Vec::new();
    for edit in line_edits(old, new) {
        let start = i64::from(edit.span.start) + shift;
        let length = edit.text.len() as i64;
        shift += length - i64::from(edit.span.len());
        let (Ok(first), Ok(last)) = (
            u32::try_from(start),
            u32::try_from(start + (length - 1).max(0)),
        ) else {
            continue;
        };
        found.push((lines.line(first), lines.line(last)));
    }
    found
}

/// Lines that a diff has changed, in the new files.
fn of_diff(path: &Path) -> Result<Vec<FileSelection>, String> {
    let text = match path == Path::new("-") {
        true => {
            let mut text = Vec::new();
            let read = std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut text);
            read.map_err(|error| error.to_string())?;
            text
        }
        false => files::read(path).map_err(|error| error.to_string())?,
    };
    let diff = diff::parse(&text, Counts::Corrected).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    for file in diff.files {
        let Name::Path(name) = &file.new else {
            continue;
        };
        let name = String::from_utf8_lossy(name).into_owned();
        // The first part of git's names is none of the tree.
        let name = match name.split_once('/') {
            Some(("a" | "b", rest)) => rest.to_owned(),
            _ => name,
        };
        if !name.ends_with(".c") && !name.ends_with(".h") {
            continue;
        }
        let mut shift: i64 = 0;
        for hunk in &file.hunks {
            let mut line = hunk.old_start as i64 + shift;
            for one in &hunk.lines {
                match one.side {
                    Side::Context => line += 1,
                    Side::Old => shift -= 1,
                    Side::New => {
                        if let Ok(number) = u32::try_from(line) {
                            found.push(FileSelection {
                                file: PathBuf::from(&name),
                                lines: Some((number, number)),
                            });
                        }
                        (line, shift) = (line + 1, shift + 1);
                    }
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::changed_lines;

    #[test]
    fn changed_lines_are_those_of_the_new_text() {
        let old = b"a\nb\nc\nd\n";
        assert_eq!(changed_lines(old, b"a\nx\ny\nc\nd\n"), [(2, 3)]);
        assert_eq!(changed_lines(old, b"a\nb\nd\n"), [(3, 3)]);
        assert_eq!(changed_lines(b"", b"a\nb\n"), [(1, 2)]);
        assert!(changed_lines(old, old).is_empty());
    }
}
