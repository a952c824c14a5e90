//! Programs that the build has made and that are suites, by their names.

use std::path::PathBuf;

use super::build::Build;
use super::build::quoted;
use super::look::Look;
use super::parts::{Part, tests_of_parts};
use super::written::Tests;

/// Words in the names of programs that are tests, or of the folders in which they lie, …
const WORDS: [&str; 5] = ["test", "check", "suite", "spec", "unit"];

/// Parts of the names of programs that are no tests, or of the folders in which they lie.
pub const OTHERS: [&str; 6] = ["perf", "bench", "fuzz", "example", "demo", "gen"];

/// Endings of files of expected output beside the program or script that prints it.
pub const EXPECTED: [&str; 6] = ["ans", "expected", "exp", "ok", "out", "ref"];

/// Finds built test programs and the names of their tests, from their own lists or their output. What could not be found out is
/// added to `open`, in words. Returns `None` without such a program.
pub fn suite(look: &mut Look<'_>, _: &mut Build, open: &mut Vec<String>) -> Option<Tests> {
    let is_test = |path: &PathBuf| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().to_lowercase());
        let has = |words: &[&str]| {
            let name = name.as_deref().unwrap_or_default();
            words.iter().any(|word| name.contains(word))
        };
        let is_shown = path.iter().any(|folder| {
            let folder = folder.to_string_lossy();
            OTHERS.contains(&folder.trim_end_matches('s'))
        });
        let is_named = has(&WORDS) || path.extension().is_some_and(|end| end == "t");
        is_named && !has(&OTHERS) && !is_shown
    };
    let programs = look.programs().into_iter().filter(is_test).collect();
    tests_of(look, programs, open)
}

/// Makes tests of these built programs, but for those that only print how to call them.
pub fn tests_of(
    look: &mut Look<'_>,
    mut programs: Vec<PathBuf>,
    open: &mut Vec<String>,
) -> Option<Tests> {
    programs.retain(|program| {
        let told = look.ask(&format!(
            "{} </dev/null",
            quoted(&format!("./{}", program.display()))
        ));
        !is_usage(&told.text)
    });
    let parts: Vec<Part> = programs
        .iter()
        .map(|program| {
            let label = program.display().to_string();
            let expected = EXPECTED.iter().map(|end| format!("{label}.{end}"));
            let expected = expected
                .rev()
                .find(|path| look.sources.contains(std::path::Path::new(path)));
            let folder = program
                .parent()
                .map_or_else(String::new, |folder| folder.to_string_lossy().into_owned());
            let name = program.file_name().unwrap_or_default().to_string_lossy();
            match expected {
                // It says nothing by its status.
                Some(expected) => Part {
                    command: format!(
                        "{} | diff - {}",
                        quoted(&format!("./{name}")),
                        quoted(expected.rsplit('/').next().unwrap_or_default())
                    ),
                    folder,
                    label,
                    takes_flags: false,
                },
                None => Part {
                    command: quoted(&format!("./{label}")),
                    folder: String::new(),
                    label,
                    takes_flags: true,
                },
            }
        })
        .collect();
    let how = match &programs[..] {
        [only] => only.display().to_string(),
        _ => format!("{} programs", programs.len()),
    };
    tests_of_parts(look, &parts, &how, open)
}

/// Whether a program that was called without arguments says nothing but how to call it.
fn is_usage(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines
        .by_ref()
        .take(3)
        .any(|line| line.trim_start().starts_with("usage") || line.contains("usage:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_prints_how_to_call_it_has_tested_nothing() {
        assert!(is_usage("sorttest, version 2\n\nusage: sorttest FILE\n"));
        assert!(is_usage("Usage: t [-v] FILE"));
        assert!(!is_usage(
            "test 1: ok\ntest 2: ok\nmemory usage at its end: 3\nusage: none\n"
        ));
    }
}
