//! Scripts that are tests, and files of expected output.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::builds::Build;
use super::look::{Look, quoted};
use super::written::Tests;

/// Folders with these names may have tests.
const FOLDERS: [&str; 6] = ["tests", "test", "t", "testsuite", "check", "regress"];

/// So many scripts are tried to find out from where they are run.
const TRIED: usize = 8;

/// Finds the folder with the most cases (`NAME.out` beside `NAME.in` or `NAME.args`). If the build makes several programs, the
/// question goes to `open`. Returns `None` without cases or without a single program.
pub fn cases(look: &mut Look<'_>, _: &Build, open: &mut Vec<String>) -> Option<Tests> {
    let mut folders: BTreeMap<&Path, BTreeSet<PathBuf>> = BTreeMap::new();
    for path in &look.sources {
        let stem = path.with_extension("");
        let is_expected = path.extension().is_some_and(|end| end == "out");
        let beside = |end: &str| look.sources.contains(&stem.with_extension(end));
        if let (true, Some(folder)) = (
            is_expected && (beside("in") || beside("args")),
            path.parent(),
        ) {
            folders.entry(folder).or_default().insert(stem);
        }
    }
    let (folder, stems) = folders.into_iter().max_by_key(|(_, stems)| stems.len())?;
    let (folder, count) = (folder.to_string_lossy().into_owned(), stems.len());
    let programs = look.programs();
    let [program] = &programs[..] else {
        open.push(format!(
            "which of {} programs the {count} cases in {folder} are for",
            programs.len()
        ));
        return None;
    };
    Some(Tests::Cases {
        program: program.to_string_lossy().into_owned(),
        folder: if folder.is_empty() {
            ".".to_owned()
        } else {
            folder
        },
        count,
    })
}

/// Whether a file may be a script that is a test.
fn is_script(look: &Look<'_>, path: &Path) -> bool {
    let in_folder = path
        .parent()
        .and_then(Path::file_name)
        .is_some_and(|name| FOLDERS.iter().any(|folder| name == *folder));
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let is_helper = [
        "run",
        "common",
        "lib",
        "helper",
        "setup",
        "functions",
        "util",
        "init",
        "all",
        "driver",
    ]
    .iter()
    .any(|word| name.split(['.', '-', '_']).next() == Some(*word));
    let end = path
        .extension()
        .and_then(|end| end.to_str())
        .unwrap_or_default();
    let text = || look.text(path);
    let is_shell = || {
        text()
            .lines()
            .next()
            .is_some_and(|line| line.starts_with("#!"))
    };
    in_folder
        && !is_helper
        && match end {
            "t" | "test" => is_shell(),
            "sh" => true,
            "" => look.is_executable(path) && is_shell(),
            _ => false,
        }
}

/// Scripts in folders of tests, each a test.
pub fn scripts(look: &mut Look<'_>, _: &Build, open: &mut Vec<String>) -> Option<Tests> {
    let scripts: Vec<PathBuf> = look
        .sources
        .iter()
        .filter(|path| is_script(look, path))
        .cloned()
        .collect();
    if scripts.is_empty() {
        return None;
    }
    // From the root, or from where they lie: by what more of the first ones pass.
    let command = |path: &Path, from_root: bool| {
        let full = path.to_string_lossy().into_owned();
        let folder = path
            .parent()
            .map(|folder| folder.to_string_lossy().into_owned());
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        match from_root {
            true => format!("run={}; export run; {}", quoted(&full), RUN),
            false => format!(
                "cd {} && run={}; export run; {}",
                quoted(&folder.unwrap_or_default()),
                quoted(&name.unwrap_or_default()),
                RUN
            ),
        }
    };
    let mut passed = [0, 0];
    for (at, from_root) in [(0, true), (1, false)] {
        for path in scripts.iter().take(TRIED) {
            passed[at] += usize::from(look.ask(&command(path, from_root)).is_success);
        }
    }
    if passed == [0, 0] {
        open.push(format!(
            "from where the scripts are run: of {} none passed from the root or from its own folder",
            scripts.len().min(TRIED)
        ));
    }
    let names: Vec<String> = scripts
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let from = match passed[0] >= passed[1] {
        true => "run=$1",
        false => "cd \"$(dirname \"$1\")\" || exit\nrun=$(basename \"$1\")",
    };
    let script = format!(
        "#!/bin/sh\n# Runs one script; a line of TAP that says `not ok` is a failure, too.\n{from}\n{RUN}\n"
    );
    Tests::of_script(script, names, "scripts")
}

/// Runs the script in the variable `run` by what its first line says, or by the shell.
const RUN: &str = "if [ -x \"$run\" ]; then out=$(\"./$run\" 2>&1); else out=$(sh \"./$run\" 2>&1); fi; status=$?; \
printf '%s\\n' \"$out\"; [ $status -eq 0 ] && ! printf '%s\\n' \"$out\" | grep -v '# TODO' | grep -q '^not ok'";
