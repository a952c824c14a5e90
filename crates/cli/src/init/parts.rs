//! Parts of a suite: programs and commands, each of which is split into tests by its own list, or by the lines that it prints.

use std::time::Duration;

use super::build::quoted;
use super::look::{Look, Said};
use super::written::Tests;

/// Only so few parts are split further.
const FEW: usize = 20;

/// Lines tell of tests only if all tests together, each as a run of the whole, take no longer than this.
const LONGEST: Duration = Duration::from_secs(60);

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

/// A command that runs tests.
pub struct Part {
    /// Its name.
    pub label: String,
    /// The folder in which it runs, relative to the root; empty for the root.
    pub folder: String,
    /// The command, for the shell.
    pub command: String,
    /// Whether it is one program with plain arguments, so that flags can be put behind them.
    pub takes_flags: bool,
}

impl Part {
    /// The command, for a shell in the root.
    pub fn run(&self) -> String {
        match &self.folder[..] {
            "" => self.command.clone(),
            folder => format!("cd {} || exit\n{}", quoted(folder), self.command),
        }
    }
}

/// Makes tests of these parts, each split where that works. `how` is told before the number of tests. A part that is left whole
/// goes to `open` if it is the only one. Returns `None` without parts.
pub fn tests_of_parts(
    look: &mut Look<'_>,
    parts: &[Part],
    how: &str,
    open: &mut Vec<String>,
) -> Option<Tests> {
    let mut cases = String::new();
    let mut names = Vec::new();
    let mut ways = std::collections::BTreeSet::new();
    for part in parts {
        let split = match parts.len() <= FEW {
            true => split(look, part, parts.len() == 1).unwrap_or(Split::Whole),
            false => Split::Whole,
        };
        let (label, run) = (&part.label, part.run());
        let (command, own) = match &split {
            Split::Whole => (format!("{run}\n"), None),
            Split::ByFlag { flag, names } => (format!("{run} {flag} \"$name\"\n"), Some(names)),
            Split::ByLine {
                environment,
                lines,
                names,
            } => (by_line(&run, environment, *lines), Some(names)),
        };
        ways.insert(split.how());
        match (own, parts.len()) {
            (None, _) => {
                cases += &format!("{})\n{command};;\n", quoted(label));
                names.push(label.clone());
            }
            (Some(own), 1) => {
                cases += &format!("?*)\nname=$1\n{command};;\n");
                names.extend(own.iter().cloned());
            }
            (Some(own), _) => {
                let label = quoted(&format!("{label}:"));
                cases += &format!("{label}*)\nname=${{1#{label}}}\n{command};;\n");
                names.extend(own.iter().map(|name| format!("{}:{name}", part.label)));
            }
        }
    }
    if let ([_], [_]) = (parts, &names[..]) {
        open.push(format!(
            "how {how} names its tests, so all of them are one test"
        ));
    }
    let ways: Vec<&str> = ways.into_iter().collect();
    let script = format!(
        "#!/bin/sh\n# Runs one test by its name.\ncase \"$1\" in\n{cases}*) echo \"no such test: $1\" >&2; exit 2;;\nesac\n"
    );
    Tests::of_script(script, names, &format!("{how}, {}", ways.join(" or ")))
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
        /// What stands around the name of a test that passes, and of one that fails.
        lines: ([&'static str; 2], [&'static str; 2]),
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

fn split(look: &mut Look<'_>, part: &Part, is_alone: bool) -> Option<Split> {
    let run = part.run();
    let all = look.ask(&format!("{run} </dev/null"));
    let lists = LISTS.iter().filter(|_| part.takes_flags);
    for (list, flag) in lists {
        let said = look.ask(&format!("{run} {list} </dev/null"));
        if said.text == all.text {
            // It minds no arguments.
            break;
        }
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
                flag: (*flag).to_owned(),
                names,
            });
        }
    }
    // Each test would be a run of the whole, which pays only if nothing else divides the suite.
    if !is_alone {
        return None;
    }
    for environment in ["", "export CK_VERBOSITY=verbose CK_FORK=yes; "] {
        let said = look.ask(&format!("{environment}{run} </dev/null"));
        for (pass, fail) in LINES {
            let is_check = pass[1] == ": Passed";
            if is_check == environment.is_empty() {
                continue;
            }
            let told = told_in(&said.text, pass, fail);
            let count = u32::try_from(told.len()).unwrap_or(u32::MAX);
            let is_short = said.time.saturating_mul(count) <= LONGEST;
            // If the whole fails for another reason than a test that it names, only the whole tells of that.
            let is_all = said.is_success || !said.crashes && told.iter().any(|(_, passes)| !passes);
            if told.len() >= 2 && is_short && is_all {
                return Some(Split::ByLine {
                    environment,
                    lines: (pass, fail),
                    names: told.into_iter().map(|(name, _)| name).collect(),
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

/// The tests of which a program's lines tell, and whether they pass.
fn told_in(text: &str, pass: [&str; 2], fail: [&str; 2]) -> Vec<(String, bool)> {
    let mut told = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        let inner = |[before, behind]: [&str; 2]| line.strip_prefix(before)?.strip_suffix(behind);
        let either = || {
            let passed = inner(pass).map(|name| (name, true));
            passed.or_else(|| inner(fail).map(|name| (name, false)))
        };
        let parts: Vec<&str> = line.split(':').collect();
        let test = match (pass, &parts[..]) {
            // ok 3 - name
            (["ok ", ""], _) => either().map(|(rest, passes)| {
                let name = rest
                    .trim_start_matches(|c: char| c.is_ascii_digit())
                    .trim_start();
                let name = name.strip_prefix("- ").unwrap_or(name);
                // A test without a name has its number.
                let name = if name.is_empty() { rest } else { name };
                (name.to_owned(), passes)
            }),
            // file.c:12:P:Case:test:0: Passed
            (["", ": Passed"], [_, _, result @ ("P" | "F" | "E"), case, test, number, ..]) => {
                Some((format!("{case}:{test}:{number}"), *result == "P"))
            }
            (["", ": Passed"], _) => None,
            // file.c:12:name:PASS, or with a message behind FAIL.
            (["", ":PASS"], [_, _, name, result @ ("PASS" | "FAIL"), ..]) => {
                Some(((*name).to_owned(), *result == "PASS"))
            }
            (["", ":PASS"], _) => None,
            _ => either().map(|(name, passes)| (name.to_owned(), passes)),
        };
        let test = test.map(|(name, passes)| (name.trim().to_owned(), passes));
        // cmocka: [  FAILED  ] 1 test(s), listed below:
        let is_name =
            |name: &str| !name.is_empty() && name.len() < 200 && !name.ends_with(" listed below:");
        told.extend(test.filter(|(name, _)| is_name(name)));
    }
    told
}

/// Returns a script that runs a program and passes if the program prints the line of a passed test, and no line of a failed one.
fn by_line(run: &str, environment: &str, (pass, fail): ([&str; 2], [&str; 2])) -> String {
    let around = |[before, behind]: [&str; 2]| {
        format!(
            "grep -Fxq -e {}\"$name\"{}",
            quoted_or_nothing(before),
            quoted_or_nothing(behind)
        )
    };
    let tap = |word: &str| {
        format!("grep -Eq \"^{word} ([0-9]+( - | ))?$(escaped \"$name\")[[:space:]]*\\$\"")
    };
    let (passes, fails) = match pass {
        ["ok ", ""] => (tap("ok"), tap("not ok")),
        ["", ": Passed"] => (
            "grep -Fq -e \":P:$name: \"".to_owned(),
            "grep -Eq -e \":[FE]:$(escaped \"$name\"): \"".to_owned(),
        ),
        ["", ":PASS"] => (
            "grep -Fq -e \":$name:PASS\"".to_owned(),
            "grep -Fq -e \":$name:FAIL\"".to_owned(),
        ),
        _ => (around(pass), around(fail)),
    };
    let escaped = match fails.contains("escaped") {
        true => "escaped() { printf '%s' \"$1\" | sed 's/[][\\.*^$+?(){}|]/\\\\&/g'; }\n",
        false => "",
    };
    format!(
        "{escaped}out=$({environment}{run} 2>&1 </dev/null)\nprintf '%s\\n' \"$out\"\n\
         printf '%s\\n' \"$out\" | {passes} || exit 1\n! printf '%s\\n' \"$out\" | {fails}\n"
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
            time: Duration::ZERO,
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
        let of = |text: &str, at: usize| {
            let told = told_in(text, LINES[at].0, LINES[at].1).into_iter();
            let word = |(name, passes): (String, bool)| format!("{name} {passes}");
            told.map(word).collect::<Vec<String>>()
        };
        assert_eq!(
            of(
                "[       OK ] a\n[  FAILED  ] b\n[  FAILED  ] 1 test(s), listed below:\n",
                0
            ),
            ["a true", "b false"]
        );
        assert_eq!(
            of("t.c:3:a:PASS\nt.c:9:b:FAIL: Expected 1\n", 1),
            ["a true", "b false"]
        );
        assert_eq!(
            of("1..2\nok 1 - a b\nnot ok 2 - c\nok 3\n", 2),
            ["a b true", "c false", "3 true"]
        );
        assert_eq!(
            of(
                "t.c:3:P:Core:test_a:0: Passed\nt.c:9:F:Core:test_b:0: Assertion\n",
                3
            ),
            ["Core:test_a:0 true", "Core:test_b:0 false"]
        );
    }
}
