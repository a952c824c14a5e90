//! Scripts that are tests, and a script that runs all tests.

use std::path::{Path, PathBuf};

use super::build::Build;
use super::build::quoted;
use super::look::Look;
use super::parts::{Part, tests_of_parts};
use super::programs::{EXPECTED, OTHERS};
use super::written::Tests;

/// Folders with these names may have tests.
const FOLDERS: [&str; 6] = ["tests", "test", "t", "testsuite", "check", "regress"];

/// What the names of scripts begin with that help others or run them.
const HELPERS: [&str; 14] = [
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
    "build",
    "install",
    "make",
    "clean",
];

/// What the names of scripts begin with that run all tests.
const RUNNERS: [&str; 5] = ["run", "test", "tests", "check", "all"];

/// The number of scripts that are tried to find out from where they are run.
const TRIED: usize = 8;

/// Whether a script of this name helps others, or runs them.
fn is_helper(name: &str) -> bool {
    let first = name.split(['.', '-', '_']).next();
    let is_other = |piece: &str| OTHERS.contains(&piece) || piece.ends_with("fuzz");
    HELPERS.iter().any(|word| first == Some(*word)) || name.split(['.', '-', '_']).any(is_other)
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
        && !is_helper(&name)
        && match end {
            "t" | "test" => is_shell(),
            "sh" => true,
            "" => look.is_executable(path) && is_shell(),
            _ => false,
        }
}

/// Scripts in folders of tests, each a test.
pub fn scripts(look: &mut Look<'_>, _: &mut Build, open: &mut Vec<String>) -> Option<Tests> {
    let scripts: Vec<PathBuf> = look
        .sources
        .iter()
        .filter(|path| is_script(look, path))
        .cloned()
        .collect();
    if scripts.is_empty() {
        return None;
    }
    let names: Vec<String> = scripts
        .iter()
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    // Many of them may have a file with what they must print.
    let beside = |end: &&&str| {
        let has = |path: &&PathBuf| look.sources.contains(&path.with_extension(end));
        scripts.iter().filter(has).count() * 2 > scripts.len()
    };
    let expected = EXPECTED.iter().find(beside).copied();
    let folders: std::collections::BTreeSet<String> = look
        .programs()
        .iter()
        .filter_map(|path| path.parent())
        .map(|folder| format!("$PWD/{}:", folder.display()))
        .collect();
    let folders: String = folders.into_iter().take(3).collect();
    // From the root, or from where they lie, and with the programs in the path or not: by what more of the first ones pass.
    let mut best = (0, String::new());
    for path in ["", &folders[..]] {
        for from_root in [true, false] {
            let script = running(from_root, path, expected);
            let (passing, _) = look.passing(&script, &names);
            if passing > best.0 || best.1.is_empty() {
                best = (passing, script);
            }
        }
    }
    let (passing, script) = best;
    if passing == 0 {
        open.push(format!(
            "from where the scripts are run: of {} none passed from the root or from its own folder",
            scripts.len().min(TRIED)
        ));
    }
    Tests::of_script(script, names, "scripts")
}

/// Writes a driver that runs one script from the root or from the script's folder. These folders stand first in `PATH`. A file
/// with this ending holds the expected output.
fn running(from_root: bool, path: &str, expected: Option<&str>) -> String {
    let path = match path.is_empty() {
        true => String::new(),
        false => format!("PATH=\"{path}$PATH\"; export PATH\n"),
    };
    let (from, file) = match from_root {
        true => ("run=$1", "${1%.*}"),
        false => (
            "cd \"$(dirname \"$1\")\" || exit\nrun=$(basename \"$1\")",
            "${run%.*}",
        ),
    };
    let judged = match expected {
        Some(end) => format!("printf '%s\\n' \"$out\" | diff \"{file}.{end}\" -\n"),
        None => "printf '%s\\n' \"$out\"\n[ $status -eq 0 ] && ! printf '%s\\n' \"$out\" | grep -v '# TODO' | grep -q '^not ok'\n"
            .to_owned(),
    };
    let told = match expected {
        Some(_) => "what it prints is compared",
        None => "a line of TAP that says `not ok` is a failure, too",
    };
    format!(
        "#!/bin/sh\n# Runs one script; {told}.\n{path}{from}\n\
         if [ -x \"$run\" ]; then out=$(\"./$run\" 2>&1); else out=$(sh \"./$run\" 2>&1); fi; status=$?\n{judged}"
    )
}

/// Finds a script that runs all tests, in the root or a folder of tests, and splits it by the lines that it prints. What could
/// not be found out is added to `open`. Returns `None` without such a script.
pub fn runner(look: &mut Look<'_>, _: &mut Build, open: &mut Vec<String>) -> Option<Tests> {
    let is_runner = |path: &&PathBuf| {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let first = name
            .split(['.', '-', '_'])
            .next()
            .unwrap_or_default()
            .to_owned();
        let is_near = match path.components().count() {
            1 => true,
            2 => FOLDERS.iter().any(|folder| path.starts_with(folder)),
            _ => false,
        };
        let is_shell = path
            .extension()
            .is_some_and(|end| end == "sh" || end == "bash")
            || path.extension().is_none() && look.text(path).starts_with("#!");
        is_near && is_shell && RUNNERS.contains(&&first[..])
    };
    let scripts: Vec<PathBuf> = look.sources.iter().filter(is_runner).cloned().collect();
    let part = |path: &PathBuf, from_root: bool| {
        let full = path.to_string_lossy().into_owned();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let folder = path
            .parent()
            .map(|folder| folder.to_string_lossy().into_owned());
        let (folder, file) = match from_root {
            true => (String::new(), full.clone()),
            false => (folder.unwrap_or_default(), name),
        };
        let by = match look.text(path).lines().next() {
            Some(line) if line.starts_with("#!") && line.contains("bash") => "bash",
            _ => "sh",
        };
        Part {
            label: full,
            folder,
            command: format!("{by} {}", quoted(&format!("./{file}"))),
            takes_flags: false,
        }
    };
    let mut parts: Vec<Part> = scripts
        .iter()
        .flat_map(|path| {
            let below = path.components().count() > 1;
            [Some(part(path, true)), below.then(|| part(path, false))]
        })
        .flatten()
        .collect();
    let passing = parts
        .iter()
        .position(|part| look.ask_long(&part.run()).is_success);
    let best = match parts.is_empty() {
        true => return None,
        false => parts.swap_remove(passing.unwrap_or_default()),
    };
    let text = look.text(Path::new(&best.label));
    if text.lines().any(compiles) {
        open.push(format!(
            "whether {} tests what the build makes: it calls the compiler itself",
            best.label
        ));
    }
    tests_of_parts(look, &[best], "a script that runs all", open)
}

/// Whether a line of a script calls a compiler.
fn compiles(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    ["cc", "gcc", "clang", "c99", "$CC", "${CC}"].contains(&first)
}
