//! Files of input and of expected output.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::build::Build;
use super::build::quoted;
use super::look::Look;
use super::written::Tests;

/// Finds the folder with the most cases (`NAME.out` beside `NAME.in` or `NAME.args`). If the build makes several programs, the
/// question goes to `open`. Returns `None` without cases or without a single program.
pub fn cases(look: &mut Look<'_>, _: &mut Build, open: &mut Vec<String>) -> Option<Tests> {
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

/// Words for a file of input, in its name or in that of its folder.
const INPUTS: [&str; 6] = ["inputs", "input", "stdin", "inp", "in", "dat"];

/// Words for a file of expected output.
const OUTPUTS: [&str; 12] = [
    "expected_output",
    "expected",
    "outputs",
    "output",
    "stdout",
    "answer",
    "golden",
    "ans",
    "exp",
    "out",
    "ref",
    "ok",
];

/// A path in which the last of these words that stands alone is taken out: what an input and its output have in common.
fn common(path: &Path, words: &[&str]) -> Option<String> {
    let text = path.to_string_lossy().into_owned();
    let found = words.iter().filter_map(|word| {
        let alone = text.match_indices(word).filter(|(at, _)| {
            let before = text[..*at].chars().next_back();
            let behind = text[at + word.len()..].chars().next();
            !before.is_some_and(char::is_alphabetic) && !behind.is_some_and(char::is_alphabetic)
        });
        alone.last().map(|(at, _)| (at, word.len()))
    });
    let (at, length) = found.max_by_key(|(at, length)| (at + length, *length))?;
    // Often only the input or the output has an ending such as `.txt`.
    let rest = format!("{}*{}", &text[..at], &text[at + length..]);
    Some(rest.trim_end_matches(".txt").to_owned())
}

/// How a program gets its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Standard,
    Argument,
}

/// Finds files of input and of expected output by their names (`input1.txt` and `expected1.txt`, `in/a` and `out/a`, `a.input` and
/// `a.expected`), and the program that they are for by what it prints. What could not be found out is added to `open`. Returns
/// `None` without such files or programs.
pub fn pairs(look: &mut Look<'_>, _: &mut Build, open: &mut Vec<String>) -> Option<Tests> {
    let mut inputs: BTreeMap<String, &PathBuf> = BTreeMap::new();
    for path in &look.sources {
        if let Some(common) = common(path, &INPUTS) {
            inputs.entry(common).or_insert(path);
        }
    }
    let mut found: Vec<(String, PathBuf, PathBuf)> = Vec::new();
    for output in &look.sources {
        let Some(input) = common(output, &OUTPUTS).and_then(|common| inputs.get(&common)) else {
            continue;
        };
        if *input != output && !found.iter().any(|(_, known, _)| known == *input) {
            let name = input.to_string_lossy().into_owned();
            found.push((name, (*input).clone(), output.clone()));
        }
    }
    let programs = look.programs();
    if found.is_empty() || programs.is_empty() {
        return None;
    }
    let ways = [Way::Standard, Way::Argument].map(|way| [(way, false), (way, true)]);
    let mut best: Option<(usize, &PathBuf, Way, bool)> = None;
    for program in &programs {
        for (way, loosely) in ways.into_iter().flatten() {
            let few = found.iter().take(8);
            let passing = few
                .filter(|(_, input, output)| {
                    look.ask(&compared(program, way, loosely, input, output))
                        .is_success
                })
                .count();
            if best.is_none_or(|(most, ..)| passing > most) {
                best = Some((passing, program, way, loosely));
            }
        }
    }
    let (passing, program, way, loosely) = best?;
    if passing == 0 {
        open.push(format!(
            "how {} gets its input: with no input of {} it prints what is expected",
            program.display(),
            found.len()
        ));
    }
    let mut cases = String::new();
    for (name, input, output) in &found {
        let command = compared(program, way, loosely, input, output);
        cases += &format!("{}) {command};;\n", quoted(name));
    }
    let script = format!(
        "#!/bin/sh\n# Gives an input to the program and compares what it prints.\ncase \"$1\" in\n{cases}*) echo \"no such test: $1\" >&2; exit 2;;\nesac\n"
    );
    let names = found.iter().map(|(name, ..)| name.clone()).collect();
    let how = format!("inputs with expected output, for {}", program.display());
    Tests::of_script(script, names, &how)
}

/// The command that gives an input to a program and compares what it prints.
fn compared(program: &Path, way: Way, loosely: bool, input: &Path, output: &Path) -> String {
    let word = |path: &Path| quoted(&path.to_string_lossy());
    let given = match way {
        Way::Standard => format!("<{}", word(input)),
        Way::Argument => format!("{} </dev/null", word(input)),
    };
    format!(
        "./{} {given} | diff {}{} -",
        word(program),
        if loosely { "-bB " } else { "" },
        word(output)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_and_its_output_have_a_name_in_common() {
        let of = |input: &str, output: &str| {
            let input = common(Path::new(input), &INPUTS).unwrap();
            let output = common(Path::new(output), &OUTPUTS).unwrap();
            assert_eq!(input, output);
        };
        of("tests/input1.txt", "tests/expected1.txt");
        of("tests/1.in", "tests/1.expected");
        of("tests/in/a.txt", "tests/out/a.txt");
        of("inputs/a", "expected/a");
        of("case-input.txt", "case-expected_output");
        assert_eq!(common(Path::new("main.c"), &INPUTS), None);
    }
}
