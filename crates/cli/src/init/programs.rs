//! A program that is a suite: it is split into tests by its own list, or by the lines that it prints for each.

use std::path::PathBuf;

use super::builds::{Build, System};
use super::look::{Look, Said, quoted};
use super::written::Tests;

/// Words in the names of programs that are tests.
const WORDS: [&str; 5] = ["test", "check", "suite", "spec", "unit"];

/// A name that no test has.
const NOBODY: &str = "no-such-test-of-anybody";

/// Flags by which programs list their tests, and those by which they run one.
const LISTS: [(&str, &str); 6] = [
    ("--list", "--filter"),
    ("--list", ""),
    ("--list-tests", ""),
    ("-l", ""),
    ("list", ""),
    ("--list", "--run"),
];

/// What frameworks print for each test: what stands before and behind its name if it passes, and if it fails.
const LINES: [([&str; 2], [&str; 2]); 9] = [
    // cmocka
    (["[       OK ] ", ""], ["[  FAILED  ] ", ""]),
    // Unity
    (["", ":PASS"], ["", ":FAIL"]),
    // TAP
    (["ok ", ""], ["not ok ", ""]),
    // Check, with CK_VERBOSITY=verbose
    (["", ": Passed"], ["", ": "]),
    (["PASS: ", ""], ["FAIL: ", ""]),
    (["[PASS] ", ""], ["[FAIL] ", ""]),
    (["PASS ", ""], ["FAIL ", ""]),
    (["", ": ok"], ["", ": failed"]),
    (["", " ... ok"], ["", " ... FAILED"]),
];

/// Finds a built test program and the names of its tests, from its own list or its output. What could not be found out is
/// added to `open`, in words. Returns `None` without such a program.
pub fn suite(look: &mut Look<'_>, build: &Build, open: &mut Vec<String>) -> Option<Tests> {
    let is_test = |path: &PathBuf| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().to_lowercase());
        name.is_some_and(|name| WORDS.iter().any(|word| name.contains(word)))
    };
    let mut programs: Vec<PathBuf> = look.programs().into_iter().filter(is_test).collect();
    let mut build_first = None;
    if programs.is_empty() && matches!(build.system, System::Make | System::Configure) {
        for target in ["check", "test", "tests"] {
            if !look.ask(&format!("make -n {target}")).is_success {
                continue;
            }
            look.ask_long(&format!("make -k {target}"));
            programs = look.programs().into_iter().filter(is_test).collect();
            if !programs.is_empty() {
                build_first = Some(target);
                break;
            }
        }
    }
    if programs.is_empty() {
        return None;
    }
    let mut parts: Vec<(PathBuf, Split)> = Vec::new();
    for program in programs.iter().take(20) {
        let split = split(look, program).unwrap_or(Split::Whole);
        parts.push((program.clone(), split));
    }
    let make = match build_first {
        // The build makes the program only for its tests; what they say comes from the program.
        Some(target) => {
            open.push(format!(
                "how the test programs alone are built: each test runs `make {target}` first"
            ));
            format!("make -s {target} >/dev/null 2>&1\n")
        }
        None => String::new(),
    };
    if let [(program, split)] = &parts[..] {
        let run = quoted(&format!("./{}", program.display()));
        let (script, names) = match split {
            Split::Whole => {
                open.push(format!(
                    "how {} names its tests, so it is one test",
                    program.display()
                ));
                let name = program
                    .file_name()
                    .map(|name| name.to_string_lossy().into_owned());
                (format!("exec {run}\n"), vec![name.unwrap_or_default()])
            }
            Split::ByFlag { flag, names } => (format!("exec {run} {flag} \"$1\"\n"), names.clone()),
            Split::ByLine {
                environment,
                pass,
                names,
            } => (by_line(&run, environment, *pass, "$1"), names.clone()),
        };
        let how = format!("{}, {}", program.display(), split.how());
        return Tests::of_script(format!("#!/bin/sh\n{make}{script}"), names, &how);
    }
    let mut cases = String::new();
    let mut names = Vec::new();
    for (program, split) in &parts {
        let label = program.display().to_string();
        let run = quoted(&format!("./{label}"));
        let (command, own) = match split {
            Split::Whole => (format!("exec {run}\n"), vec![label.clone()]),
            Split::ByFlag { flag, names } => (
                format!("exec {run} {flag} \"$name\"\n"),
                with(&label, names),
            ),
            Split::ByLine {
                environment,
                pass,
                names,
            } => (
                by_line(&run, environment, *pass, "$name"),
                with(&label, names),
            ),
        };
        let pattern = match split {
            Split::Whole => quoted(&label),
            _ => format!("{}:*", quoted(&label)),
        };
        cases += &format!("{pattern})\n{command};;\n");
        names.extend(own);
    }
    let script = format!("#!/bin/sh\n{make}name=${{1#*:}}\ncase \"$1\" in\n{cases}esac\n");
    Tests::of_script(script, names, &format!("{} programs", parts.len()))
}

fn with(label: &str, names: &[String]) -> Vec<String> {
    names.iter().map(|name| format!("{label}:{name}")).collect()
}

/// How a program is split.
enum Split {
    /// It is one test.
    Whole,
    /// It runs one by its name.
    ByFlag { flag: String, names: Vec<String> },
    /// It runs all, and one of its lines tells of each.
    ByLine {
        environment: &'static str,
        pass: [&'static str; 2],
        names: Vec<String>,
    },
}

impl Split {
    fn how(&self) -> &'static str {
        match self {
            Split::Whole => "as a whole",
            Split::ByFlag { .. } => "by its own list",
            Split::ByLine { .. } => "by the lines that it prints",
        }
    }
}

fn split(look: &mut Look<'_>, program: &std::path::Path) -> Option<Split> {
    let run = quoted(&format!("./{}", program.display()));
    for (list, flag) in LISTS {
        let said = look.ask(&format!("{run} {list} </dev/null"));
        let names = listed(&said);
        if names.len() < 2 {
            continue;
        }
        let mut runs = |name: &str| look.ask(&format!("{run} {flag} {} </dev/null", quoted(name)));
        let mut few = Vec::new();
        for name in names.iter().take(5) {
            few.push(runs(name));
        }
        let nobody = look.ask(&format!("{run} {flag} {NOBODY} </dev/null"));
        // One that minds the name does not do the same for what is not there.
        let passes = few.iter().any(|said| said.is_success);
        let minds = !nobody.is_success || few.iter().any(|said| said.text != nobody.text);
        if passes && minds {
            return Some(Split::ByFlag {
                flag: flag.to_owned(),
                names,
            });
        }
    }
    for environment in ["", "CK_VERBOSITY=verbose CK_FORK=yes "] {
        let said = look.ask(&format!("{environment}{run} </dev/null"));
        for (pass, fail) in LINES {
            let is_check = pass[1] == ": Passed";
            if is_check == environment.is_empty() {
                continue;
            }
            let names = names_in(&said.text, pass, fail);
            if names.len() >= 2 {
                return Some(Split::ByLine {
                    environment,
                    pass,
                    names,
                });
            }
        }
    }
    None
}

/// The names in a list: a word on each line, perhaps below a heading of its suite.
fn listed(said: &Said) -> Vec<String> {
    if !said.is_success {
        return Vec::new();
    }
    let mut suite = None;
    let mut names = Vec::new();
    for line in said.text.lines() {
        let plain = line.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '/');
        let plain = plain.trim_end().trim_end_matches(':');
        if let Some((name, _)) = plain
            .split_once(": ")
            .filter(|(_, rest)| rest.ends_with("tests") || rest.ends_with("test"))
        {
            // As Criterion does it.
            suite = Some(name.to_owned());
            continue;
        }
        let is_name = !plain.is_empty()
            && plain
                .chars()
                .all(|c| c.is_alphanumeric() || "_-/.:+".contains(c));
        if !is_name {
            continue;
        }
        names.push(match &suite {
            Some(suite) => format!("{suite}/{plain}"),
            None => plain.to_owned(),
        });
    }
    names
}

/// The names of tests in what a program prints.
fn names_in(text: &str, pass: [&str; 2], fail: [&str; 2]) -> Vec<String> {
    let is_tap = pass[0] == "ok ";
    let mut names = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        let inner = |[before, behind]: [&str; 2]| line.strip_prefix(before)?.strip_suffix(behind);
        let is_check = pass[1] == ": Passed";
        let name = match (is_tap, is_check) {
            // ok 3 - name
            (true, _) => inner(pass).or_else(|| inner(fail)).and_then(|rest| {
                let rest = rest
                    .trim_start_matches(|c: char| c.is_ascii_digit())
                    .trim_start();
                rest.strip_prefix("- ").or(Some(rest)).map(str::to_owned)
            }),
            // file.c:12:P:Case:test:0: Passed
            (_, true) => {
                let parts: Vec<&str> = line.split(':').collect();
                match &parts[..] {
                    [_, _, "P" | "F" | "E", case, test, number, ..] => {
                        Some(format!("{case}:{test}:{number}"))
                    }
                    _ => None,
                }
            }
            // file.c:12:name:PASS, or with a message behind FAIL.
            _ if pass[1] == ":PASS" => {
                let parts: Vec<&str> = line.split(':').collect();
                match &parts[..] {
                    [_, _, name, "PASS" | "FAIL", ..] => Some((*name).to_owned()),
                    _ => None,
                }
            }
            _ => inner(pass).or_else(|| inner(fail)).map(str::to_owned),
        };
        let name = name.map(|name| name.trim().to_owned());
        names.extend(name.filter(|name| !name.is_empty() && name.len() < 200));
    }
    names
}

/// A script that runs a program and looks for the line that says that a test has passed.
fn by_line(run: &str, environment: &str, pass: [&str; 2], name: &str) -> String {
    let wanted = match pass {
        ["ok ", ""] => format!("grep -Eq \"^ok [0-9]*( - | )\"$(escaped \"{name}\")'$'"),
        ["", ": Passed"] => format!("grep -Fq \":P:{name}: \""),
        ["", ":PASS"] => format!("grep -Fq \":{name}:PASS\""),
        [before, behind] => format!(
            "grep -Fxq {}\"{name}\"{}",
            quoted_or_nothing(before),
            quoted_or_nothing(behind)
        ),
    };
    let escaped = match pass {
        ["ok ", ""] => "escaped() { printf '%s' \"$1\" | sed 's/[][\\\\.*^$+?(){}|]/\\\\&/g'; }\n",
        _ => "",
    };
    format!(
        "{escaped}out=$({environment}{run} 2>&1 </dev/null)\nprintf '%s\\n' \"$out\"\nprintf '%s\\n' \"$out\" | {wanted}\n"
    )
}

fn quoted_or_nothing(text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => quoted(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_frameworks_are_read() {
        let said = |text: &str| Said {
            is_success: true,
            crashes: false,
            text: text.to_owned(),
        };
        assert_eq!(listed(&said("alpha\nbeta\n")), ["alpha", "beta"]);
        assert_eq!(
            listed(&said("math: 2 tests\n├── add\n└── sub\n")),
            ["math/add", "math/sub"]
        );
        assert!(listed(&said("usage: suite [options]\n")).is_empty());
    }

    #[test]
    fn the_lines_that_tell_of_tests_are_read() {
        let of = |text: &str, at: usize| names_in(text, LINES[at].0, LINES[at].1);
        assert_eq!(of("[       OK ] a\n[  FAILED  ] b\n", 0), ["a", "b"]);
        assert_eq!(
            of("t.c:3:a:PASS\nt.c:9:b:FAIL: Expected 1\n", 1),
            ["a", "b"]
        );
        assert_eq!(of("1..2\nok 1 - a b\nnot ok 2 - c\n", 2), ["a b", "c"]);
        assert_eq!(
            of(
                "t.c:3:P:Core:test_a:0: Passed\nt.c:9:F:Core:test_b:0: Assertion\n",
                3
            ),
            ["Core:test_a:0", "Core:test_b:0"]
        );
    }
}
