//! Chooses the sources to look at.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use patchwright_exec::{CompileCommand, Project, all_sources, files, includers};

use crate::{RepairError, prepare::Prepared};

/// The largest number of files that are named in a message.
const MOST_NAMED: usize = 5;

/// Whether a source includes a file of this name, wherever that is.
fn includes(source: &[u8], file: &Path) -> bool {
    source.split(|&byte| byte == b'\n').any(|line| {
        let line = String::from_utf8_lossy(line);
        let directive = line.trim_start().strip_prefix('#').map(str::trim_start);
        let included = directive.and_then(|directive| directive.strip_prefix("include"));
        let mut parts = included.unwrap_or_default().split(['"', '<', '>']);
        parts
            .nth(1)
            .is_some_and(|path| Path::new(path).file_name() == file.file_name())
    })
}

/// The sources to read: relative path and commands.
pub(crate) fn selected(
    prepared: &Prepared,
    project: &Project,
) -> Result<Vec<(PathBuf, Vec<CompileCommand>)>, RepairError> {
    let sandbox = &prepared.worker.sandbox;
    let sources = all_sources(&prepared.commands, sandbox);
    if project.files.is_empty() {
        let is_test = |path: &PathBuf| prepared.test_sources.contains(path);
        // What only tests include, and lies beside one of them, belongs to them; elsewhere it is what they test, as a library that is one header.
        let is_tests = |path: &Path, commands: &[CompileCommand]| {
            let including = includers(commands, sandbox);
            let mut beside = including.iter().filter(|one| one.parent() == path.parent());
            including.iter().all(is_test) && beside.next().is_some()
        };
        let (own, of_tests): (Vec<_>, Vec<_>) = sources
            .into_iter()
            .filter(|(path, _)| !is_test(path))
            .partition(|(path, commands)| !is_tests(path, commands));
        // There is nothing else.
        return Ok(if own.is_empty() { of_tests } else { own });
    }
    let mut chosen = BTreeMap::new();
    for selection in &project.files {
        let covered = || sources.iter().filter(|(file, _)| selection.covers(file));
        if covered().next().is_none() {
            return Err(not_compiled(&selection.file, &sources, prepared, project));
        }
        chosen.extend(covered().map(|(file, commands)| (file.clone(), commands.clone())));
    }
    Ok(chosen.into_iter().collect())
}

/// Why a file in which changes are wanted is not read.
fn not_compiled(
    file: &Path,
    sources: &BTreeMap<PathBuf, Vec<CompileCommand>>,
    prepared: &Prepared,
    project: &Project,
) -> RepairError {
    let listed = |paths: &[&PathBuf]| {
        let few: Vec<String> = paths
            .iter()
            .take(MOST_NAMED)
            .map(|path| path.display().to_string())
            .collect();
        let more = if paths.len() > few.len() { ", …" } else { "" };
        format!("{}{more}", few.join(", "))
    };
    let folder = prepared.worker.sandbox.folder();
    let including: Vec<&PathBuf> = sources
        .keys()
        .filter(|path| {
            // What cannot be read is not named.
            files::read(&folder.join(path)).is_ok_and(|text| includes(&text, file))
        })
        .collect();
    let is_header = file.extension().is_some_and(|extension| extension == "h");
    if is_header || !including.is_empty() {
        return RepairError::Included {
            file: file.to_path_buf(),
            how: match including.is_empty() {
                true => "a header".to_owned(),
                false => format!("included by {}", listed(&including)),
            },
        };
    }
    let name = file.file_name();
    let alike: Vec<String> = sources
        .keys()
        .filter(|path| path.file_name() == name)
        .map(|path| path.display().to_string())
        .collect();
    let hint = if alike.is_empty() {
        let all: Vec<&PathBuf> = sources.keys().collect();
        format!("; it compiles {}", listed(&all))
    } else {
        format!("; did you mean {}?", alike.join(" or "))
    };
    RepairError::NotCompiled {
        file: file.to_path_buf(),
        root: project.root.clone(),
        hint,
    }
}

#[cfg(test)]
mod tests {
    use super::includes;

    #[test]
    fn a_source_includes_a_file_by_its_name() {
        let source = b"#include <stdio.h>\n # include \"lib/list.h\" /* nodes */\n// list.c\n#include NAME\n";
        for (file, included) in [
            ("src/lib/list.h", true),
            ("list.h", true),
            ("include/stdio.h", true),
            ("list.c", false),
            ("NAME", false),
        ] {
            assert_eq!(includes(source, file.as_ref()), included, "{file}");
        }
    }
}
