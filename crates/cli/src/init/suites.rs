//! Suites that tools know: CTest, Meson, automake, and a target of make.

use std::path::{Path, PathBuf};

use super::builds::{Build, System};
use super::look::Look;
use super::written::Tests;

/// So many tests are taken.
const MOST: usize = 5000;

/// Asks CTest for the names of the tests, and returns them with a script that runs one. What could not be found out is added to
/// `open`. Returns `None` if the project is not built by CMake.
pub fn ctest(look: &mut Look<'_>, build: &Build, open: &mut Vec<String>) -> Option<Tests> {
    let folder = match (build.system, &build.folder) {
        (System::Cmake, Some(folder)) => folder.clone(),
        _ => return None,
    };
    let said = look.ask(&format!("ctest --test-dir {folder} -N"));
    let names: Vec<String> = said
        .text
        .lines()
        .filter_map(|line| {
            let (number, name) = line.trim().strip_prefix("Test")?.split_once(": ")?;
            let number = number.trim().strip_prefix('#')?;
            number.parse::<u32>().ok().map(|_| name.trim().to_owned())
        })
        .take(MOST)
        .collect();
    if names.is_empty() {
        open.push("CTest lists no tests".to_owned());
    }
    let script = format!(
        "#!/bin/sh\n# Runs one test of CTest.\nname=$(printf '%s' \"$1\" | sed 's/[][\\\\.*^$+?(){{}}|]/\\\\&/g')\n\
         exec ctest --test-dir {folder} -R \"^$name\\$\" --no-tests=error --output-on-failure\n"
    );
    Tests::of_script(script, names, "CTest")
}

/// Asks Meson for the names of the tests, and returns them with a script that runs one. What could not be found out is added to
/// `open`. Returns `None` if the project is not built by Meson.
pub fn meson(look: &mut Look<'_>, build: &Build, open: &mut Vec<String>) -> Option<Tests> {
    let folder = match (build.system, &build.folder) {
        (System::Meson, Some(folder)) => folder.clone(),
        _ => return None,
    };
    let said = look.ask(&format!(
        "meson test -C {folder} --list --no-rebuild 2>/dev/null"
    ));
    let names: Vec<String> = said
        .text
        .lines()
        .filter(|line| !line.contains("ninja:"))
        .map(|line| line.rsplit(" / ").next().unwrap_or(line).trim().to_owned())
        .take(MOST)
        .collect();
    if names.is_empty() {
        open.push("Meson lists no tests".to_owned());
    }
    let script = format!(
        "#!/bin/sh\n# Runs one test of Meson.\nexec meson test -C {folder} --no-rebuild --print-errorlogs \"$1\"\n"
    );
    Tests::of_script(script, names, "Meson")
}

/// Runs `make check` and finds automake's tests by their `.trs` files. What could not be found out is added to `open`. Returns
/// `None` if no makefile has automake's test target.
pub fn automake(look: &mut Look<'_>, _: &Build, open: &mut Vec<String>) -> Option<Tests> {
    let has_target = |look: &Look<'_>, path: &Path| {
        path.file_name().is_some_and(|name| name == "Makefile")
            && look.text(path).contains("check-TESTS:")
    };
    let made: Vec<PathBuf> = look.files.iter().cloned().collect();
    let folders: Vec<&Path> = made
        .iter()
        .filter(|path| has_target(look, path))
        .filter_map(|path| path.parent())
        .collect();
    if folders.is_empty() {
        return None;
    }
    let said = look.ask_long("make -k check");
    let results = look.files.iter().filter(|path| {
        path.extension().is_some_and(|end| end == "trs")
            && path
                .parent()
                .is_some_and(|parent| folders.iter().any(|folder| parent.starts_with(folder)))
    });
    // A result may lie below the folder of the Makefile that makes it.
    let names: Vec<String> = results
        .filter_map(|path| {
            let folder = folders.iter().filter(|folder| path.starts_with(folder));
            let folder = folder.max_by_key(|folder| folder.components().count())?;
            let stem = path.strip_prefix(folder).ok()?.with_extension("");
            let folder = match folder.as_os_str().is_empty() {
                true => ".".to_owned(),
                false => folder.to_string_lossy().into_owned(),
            };
            Some(format!("{folder}:{}", stem.display()))
        })
        .take(MOST)
        .collect();
    if !names.is_empty() {
        let script = "#!/bin/sh\n# Runs one test of automake: FOLDER:TEST.\n\
             exec make -s -C \"${1%%:*}\" check-am TEST_LOGS=\"${1#*:}.log\"\n";
        return Tests::of_script(script.to_owned(), names, "automake");
    }
    // The old harness only prints.
    let names: Vec<String> = said
        .text
        .lines()
        .filter_map(|line| {
            let rest = ["PASS: ", "FAIL: ", "XFAIL: ", "ERROR: "];
            let rest = rest.iter().find_map(|word| line.strip_prefix(word))?;
            Some(rest.trim().to_owned())
        })
        .take(MOST)
        .collect();
    if let ([folder], false) = (&folders[..], names.is_empty()) {
        let folder = match folder.as_os_str().is_empty() {
            true => ".".to_owned(),
            false => folder.to_string_lossy().into_owned(),
        };
        let script = format!(
            "#!/bin/sh\n# Runs one test of automake.\nexec make -s -C {folder} check-am TESTS=\"$1\"\n"
        );
        return Tests::of_script(script, names, "automake");
    }
    open.push(format!(
        "`make check` names no tests{}",
        last_line(&said.text)
    ));
    None
}

/// The last line of a text, in parentheses.
fn last_line(text: &str) -> String {
    let last = text.lines().rev().find(|line| !line.trim().is_empty());
    last.map_or_else(String::new, |line| {
        format!(" (it ends with: {})", line.trim())
    })
}

/// Returns the make target `check`, `test` or `tests` as a single test, and notes in `open` that its parts are not known. Returns
/// `None` without such a target.
pub fn make_target(look: &mut Look<'_>, build: &Build, open: &mut Vec<String>) -> Option<Tests> {
    if !matches!(build.system, System::Make | System::Configure) {
        return None;
    }
    for target in ["check", "test", "tests"] {
        // What is up to date and what does not exist are told apart by the status of -q.
        let known = look.ask(&format!("make -n {target}"));
        if !known.is_success || known.text.contains("Nothing to be done") {
            continue;
        }
        open.push(format!(
            "which tests `make {target}` runs, so all of them are one test"
        ));
        let script = format!("#!/bin/sh\n# Runs all tests at once.\nexec make -s {target}\n");
        return Tests::of_script(
            script,
            vec![target.to_owned()],
            "make: a target that runs all",
        );
    }
    open.push("where the tests are".to_owned());
    None
}
