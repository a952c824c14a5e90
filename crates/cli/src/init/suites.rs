//! Suites that tools know: CTest, Meson and automake.

use std::path::{Path, PathBuf};

use super::build::quoted;
use super::build::{Build, System};
use super::look::Look;
use super::parts::{Part, tests_of_parts};
use super::written::Tests;

/// The largest number of tests that are taken.
const MOST: usize = 5000;

/// Asks CTest for the names of the tests, and returns them with a script that runs one. What could not be found out is added to
/// `open`. Returns `None` if the project is not built by CMake.
pub fn ctest(look: &mut Look<'_>, build: &mut Build, open: &mut Vec<String>) -> Option<Tests> {
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
        return None;
    }
    if let [_] = &names[..]
        && let Some(part) = only_of_ctest(look, &folder)
        && let Some(tests) = divided(look, &part, "the only test of CTest", open)
    {
        return Some(tests);
    }
    let script = format!(
        "#!/bin/sh\n# Runs one test of CTest.\nname=$(printf '%s' \"$1\" | sed 's/[][\\\\.*^$+?(){{}}|]/\\\\&/g')\n\
         exec ctest --test-dir {folder} -R \"^$name\\$\" --no-tests=error --output-on-failure\n"
    );
    Tests::of_script(script, names, "CTest")
}

/// Asks Meson for the names of the tests, and returns them with a script that runs one. What could not be found out is added to
/// `open`. Returns `None` if the project is not built by Meson.
pub fn meson(look: &mut Look<'_>, build: &mut Build, open: &mut Vec<String>) -> Option<Tests> {
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
        .filter(|line| !line.contains("ninja:") && *line != "No tests defined.")
        .map(|line| line.rsplit(" / ").next().unwrap_or(line).trim().to_owned())
        .take(MOST)
        .collect();
    if names.is_empty() {
        return None;
    }
    if let [_] = &names[..]
        && let Some(part) = only_of_meson(look, &folder)
        && let Some(tests) = divided(look, &part, "the only test of Meson", open)
    {
        return Some(tests);
    }
    let script = format!(
        "#!/bin/sh\n# Runs one test of Meson.\nexec meson test -C {folder} --no-rebuild --print-errorlogs \"$1\"\n"
    );
    Tests::of_script(script, names, "Meson")
}

/// Runs `make check` and finds automake's tests by their `.trs` files. What could not be found out is added to `open`. Returns
/// `None` if no makefile has automake's test target.
pub fn automake(look: &mut Look<'_>, build: &mut Build, open: &mut Vec<String>) -> Option<Tests> {
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
    let said = look.ask_long(&format!("{} -k check", build.make()));
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
    if let [only] = &names[..]
        && let Some((folder, stem)) = only.split_once(':')
    {
        let (folder, stem) = (quoted(folder), quoted(stem));
        let part = Part {
            label: only.clone(),
            folder: String::new(),
            command: format!(
                "make -s -C {folder} check-am TEST_LOGS={stem}.log\nstatus=$?\ncat {folder}/{stem}.log\n(exit $status)"
            ),
            takes_flags: false,
        };
        if let Some(tests) = divided(look, &part, "the only test of automake", open) {
            return Some(tests);
        }
    }
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

/// The tests of a part that is the whole suite, if it can be divided. If not, that goes to `open`.
fn divided(look: &mut Look<'_>, part: &Part, how: &str, open: &mut Vec<String>) -> Option<Tests> {
    let mut told = Vec::new();
    let tests = tests_of_parts(look, std::slice::from_ref(part), how, &mut told);
    match told.is_empty() {
        true => tests,
        false => {
            open.push(format!(
                "how {} names its tests, so all of them are one test",
                part.label
            ));
            None
        }
    }
}

/// The command of the only test that CTest knows.
fn only_of_ctest(look: &mut Look<'_>, folder: &str) -> Option<Part> {
    let said = look.ask(&format!(
        "ctest --test-dir {folder} --show-only=json-v1 2>/dev/null"
    ));
    let json = &said.text[said.text.find('{')?..];
    let all: serde_json::Value = serde_json::from_str(json).ok()?;
    let test = all.get("tests")?.get(0)?;
    let mut place = folder.to_owned();
    for property in test.get("properties")?.as_array()? {
        match property.get("name")?.as_str()? {
            "WORKING_DIRECTORY" => place = property.get("value")?.as_str()?.to_owned(),
            "ENVIRONMENT" | "WILL_FAIL" | "PASS_REGULAR_EXPRESSION" => return None,
            _ => {}
        }
    }
    only(look, test.get("name")?, test.get("command")?, &place)
}

/// The command of the only test that Meson knows.
fn only_of_meson(look: &mut Look<'_>, folder: &str) -> Option<Part> {
    let said = look.ask(&format!("meson introspect --tests {folder} 2>/dev/null"));
    let all: serde_json::Value = serde_json::from_str(&said.text).ok()?;
    let test = all.get(0)?;
    let is_plain = test.get("env")?.as_object()?.is_empty();
    let place = test.get("workdir")?.as_str().unwrap_or(folder);
    match is_plain {
        true => only(look, test.get("name")?, test.get("cmd")?, place),
        false => None,
    }
}

/// A part of a command by its words, with paths relative to the folder where it runs.
fn only(
    look: &Look<'_>,
    name: &serde_json::Value,
    words: &serde_json::Value,
    place: &str,
) -> Option<Part> {
    let root = look.root();
    let place = match Path::new(place).is_absolute() {
        true => Path::new(place).strip_prefix(&root).ok()?.to_path_buf(),
        false => PathBuf::from(place),
    };
    let up = "../".repeat(place.components().count());
    let word = |word: &serde_json::Value| {
        let word = word.as_str()?;
        Some(match Path::new(word).strip_prefix(&root) {
            Ok(path) => quoted(&format!(
                "{}{}",
                if up.is_empty() { "./" } else { &up },
                path.display()
            )),
            Err(_) => quoted(word),
        })
    };
    let words: Option<Vec<String>> = words.as_array()?.iter().map(word).collect();
    Some(Part {
        label: name.as_str()?.to_owned(),
        folder: place.to_string_lossy().into_owned(),
        command: words?.join(" "),
        takes_flags: true,
    })
}
