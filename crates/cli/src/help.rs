//! The two pages of help of each command: `--help` fits a screen, `--help-all` has every flag in groups.
//!
//! The flags themselves are declared with their commands. This module only says which of them stand on the short page,
//! and has the examples. Manual pages and completions are made of [`command`] with all flags.

use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::commands::Cli;

/// What the pages of a command have beside its description and its flags.
struct Page {
    command: &'static str,
    /// The flags of the short page, in order.
    flags: &'static [&'static str],
    /// Command lines and what they do. The short page has the first one.
    examples: &'static [(&'static str, &'static str)],
    /// What the exit statuses mean.
    status: &'static str,
}

const PROJECT_STATUS: &str =
    "2 the input is wrong; 3 the project does not build, or its tests are no basis; 4 interrupted";

const PAGES: [Page; 17] = [
    Page {
        command: "init",
        flags: &[
            "force",
            "print",
            "build",
            "prepare",
            "network",
            "unprotected",
        ],
        examples: &[
            ("patchwright init", "the current folder"),
            ("patchwright init --print ../tool", "write nothing"),
            ("patchwright init --build ./build.sh", "the build is known"),
        ],
        status: "0 it is described; 1 no tests were found; 2 the input is wrong; 3 it does not build; 4 interrupted",
    },
    Page {
        command: "doctor",
        flags: &[],
        examples: &[("patchwright doctor", "before the first run")],
        status: "0 Patchwright works here; 1 something that it needs is missing; 2 it could not be found out",
    },
    Page {
        command: "merge",
        flags: &["json", "junit", "html", "stats"],
        examples: &[(
            "patchwright merge patchwright-*-of-64.json",
            "the parts of one run",
        )],
        status: "0 a patch is plausible; 1 none is; 2 the files are no parts of one run; 4 parts are missing",
    },
    Page {
        command: "repair",
        flags: &["build", "driver", "tests", "first", "budget", "output"],
        examples: &[
            (
                "patchwright repair max.c --first",
                "tested by the folder `cases` beside it",
            ),
            (
                "patchwright repair FOLDER --build make --driver ./test.sh --tests a b",
                "a project",
            ),
            (
                "patchwright repair FOLDER --files src/parse.c:40-90 --budget 10m",
                "search some lines only",
            ),
        ],
        status: "0 a patch was found; 1 none was found",
    },
    Page {
        command: "run",
        flags: &[
            "cflags",
            "allow",
            "name",
            "time",
            "max_instructions",
            "stats",
        ],
        examples: &[(
            "patchwright run sum.c -- 1 2",
            "run with the arguments 1 and 2",
        )],
        status: "that of the program; 134 it called `abort`; 120 an assumption (`__VERIFIER_assume`) does not hold; \
                 121 undefined behaviour; 122 the interpreter does not support something; 123 a limit is reached; \
                 2 the input is wrong",
    },
    Page {
        command: "ir",
        flags: &["function", "graph", "cflags"],
        examples: &[
            (
                "patchwright ir sum.c --function main --graph main.svg",
                "draw the control flow",
            ),
            ("patchwright ir sum.c", "print the whole file"),
            ("patchwright ir sum.c --function main", "print one function"),
        ],
        status: "0 done; 1 something has no form in the IR, and is named; 2 the input is wrong",
    },
    Page {
        command: "slice",
        flags: &["forward", "dynamic", "relevant", "every", "with", "json"],
        examples: &[
            (
                "patchwright slice sum.c:12:total",
                "what may contribute to `total` on line 12",
            ),
            (
                "patchwright slice sum.c:5 --forward",
                "what line 5 may influence",
            ),
            (
                "patchwright slice sum.c:12 --dynamic -- 3",
                "what contributed, run with the argument 3",
            ),
        ],
        status: "0 done; 1 the execution does not reach the line; 2 the input is wrong",
    },
    Page {
        command: "localize",
        flags: &["build", "driver", "tests", "top", "annotate", "html"],
        examples: &[(
            "patchwright localize max.c --html max.html",
            "tested by the folder `cases` beside it",
        )],
        status: "0 done",
    },
    Page {
        command: "prove",
        flags: &["function", "length", "like", "bound", "repair", "test"],
        examples: &[
            (
                "patchwright prove sort.c --function sort --length a=4",
                "for all arrays of four elements",
            ),
            (
                "patchwright prove sort.c --function sort --length a=4 --repair --level 3",
                "list repairs",
            ),
            (
                "patchwright prove new.c --function f --like old.c",
                "the same as a reference",
            ),
            (
                "patchwright prove tool.c --locate",
                "the lines of which every repair changes one",
            ),
        ],
        status: "0 proved, or repaired; 1 it fails, or has no repair; 2 the input is wrong; 4 interrupted; \
                 5 not decided (the bound, the budget, or something that is not encoded)",
    },
    Page {
        command: "validate",
        flags: &["build", "driver", "tests", "must_fix", "keep_going", "json"],
        examples: &[
            (
                "patchwright validate FOLDER patches/",
                "all diffs of a folder",
            ),
            (
                "patchwright validate max.c fix.diff",
                "a C file with the folder `cases` beside it",
            ),
            (
                "git diff | patchwright validate . -",
                "a diff from standard input",
            ),
        ],
        status: "0 a patch is plausible; 1 none is",
    },
    Page {
        command: "mutants",
        flags: &["base", "limit", "budget", "output"],
        examples: &[
            (
                "patchwright mutants max.c",
                "a C file with the folder `cases` beside it",
            ),
            (
                "patchwright mutants FOLDER --files src/parse.c --output cases",
                "one file of a project; write tests that kill survivors",
            ),
            (
                "patchwright mutants FOLDER --base main --junit mutants.xml",
                "what has changed since a revision",
            ),
        ],
        status: "0 no mutant survives, except those proved equivalent; 1 some survive; 5 not all were tested",
    },
    Page {
        command: "compare",
        flags: &[
            "function",
            "length",
            "arguments",
            "seeds",
            "budget",
            "output",
        ],
        examples: &[
            (
                "patchwright compare old.c new.c --function f",
                "a function, for all arguments",
            ),
            (
                "patchwright compare old.c new.c --function f --length s=8",
                "`s` leads to eight objects",
            ),
            (
                "patchwright compare old.c new.c --arguments 1",
                "programs, for all arguments and inputs",
            ),
            (
                "patchwright compare old.c new.c --output tests",
                "and write a test for each partition",
            ),
        ],
        status: "0 no difference is known (the answer says whether that is proved, and how far); 1 there is a difference; \
                 2 the input is wrong; 4 interrupted",
    },
    Page {
        command: "kinds",
        flags: &["kinds", "json"],
        examples: &[
            (
                "patchwright kinds exchanged-subscripts",
                "show one, as its file writes it",
            ),
            ("patchwright kinds", "list all"),
            ("patchwright kinds --kinds own.kinds", "and those of a file"),
        ],
        status: "0 done; 2 the input is wrong",
    },
    Page {
        command: "learn",
        flags: &["most", "print", "output"],
        examples: &[
            ("patchwright learn", "the repository of the current folder"),
            ("patchwright learn --print ../tool", "write nothing"),
        ],
        status: "0 done; 1 the history has no small fix; 2 the input is wrong",
    },
    Page {
        command: "complexity",
        flags: &[
            "repo",
            "max_count",
            "whole_program",
            "graph",
            "plot",
            "json",
        ],
        examples: &[
            (
                "patchwright complexity v1..v2",
                "each commit of a range, as a table",
            ),
            ("patchwright complexity", "what is not committed yet"),
            (
                "patchwright complexity HEAD",
                "a commit, against its first parent",
            ),
            (
                "patchwright complexity OLD NEW",
                "two files, folders or revisions",
            ),
        ],
        status: "0 a statement changed; 1 none did; 2 the input is wrong",
    },
    Page {
        command: "regression",
        flags: &["project", "build", "driver", "fix", "runs", "budget"],
        examples: &[
            (
                "patchwright regression wraps v1.2..",
                "`wraps` passes in v1.2, and fails in HEAD",
            ),
            (
                "patchwright regression wraps",
                "search also for a commit in which it passes",
            ),
            (
                "patchwright regression wraps v1.2.. --fix a1b2c3",
                "and verify that a1b2c3 mends it",
            ),
        ],
        status: "0 the commit was found, and the commit of --fix mends the test; 1 several commits are left, the test never \
                 passed, or the commit of --fix does not mend it; 2 the input is wrong; 3 the named revisions do not build; 4 interrupted; \
                 5 the time is over",
    },
    Page {
        command: "man",
        flags: &[],
        examples: &[
            (
                "patchwright man ~/.local/share/man/man1",
                "to be read by `man patchwright-repair`",
            ),
            ("patchwright man | man -l -", "read the page of the program"),
        ],
        status: "0 it was written; 2 it cannot be",
    },
];

const PROGRAM_EXAMPLES: [(&str, &str); 1] = [(
    "patchwright repair max.c --first",
    "tested by the folder `cases` beside it",
)];

const PROGRAM_STATUS: &str = "0 done, something was found; 1 done, nothing was found; 2 the input is wrong; 3 the project does not \
     build, or its tests are no basis; 4 interrupted; 5 not decided (prove), or the time is over (regression, mutants); 70 a bug of Patchwright";

/// Returns the command line. With `is_full` its help has all flags in groups, else few flags in one list.
/// Both accept the same flags.
pub fn command(is_full: bool) -> Command {
    let short = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::HelpShort);
    let full = Arg::new("help-all")
        .long("help-all")
        .action(ArgAction::HelpLong);
    let mut command = Cli::command()
        .disable_help_flag(true)
        .max_term_width(100)
        .arg(shown(short).help("Print this page"))
        .arg(shown(full).help("Print all flags, in groups"));
    command = with_examples(command, &PROGRAM_EXAMPLES, PROGRAM_STATUS);
    command = short_page(command, &["version"], is_full);
    for page in &PAGES {
        let status = match page.command {
            "repair" | "localize" | "validate" | "mutants" => {
                format!("{}; {PROJECT_STATUS}", page.status)
            }
            _ => page.status.to_owned(),
        };
        command = command.mut_subcommand(page.command, |command| {
            let command = with_examples(command, page.examples, &status);
            short_page(command, page.flags, is_full)
        });
    }
    command
}

/// Whether the words of a command line ask for the page with all flags.
pub fn is_full<T: AsRef<std::ffi::OsStr>>(words: &[T]) -> bool {
    words
        .iter()
        .map(AsRef::as_ref)
        .take_while(|word| *word != "--")
        .enumerate()
        .any(|(at, word)| word == "--help-all" || at == 1 && word == "help")
}

/// A flag for help, which stands on both pages.
fn shown(flag: Arg) -> Arg {
    flag.global(true)
        .help_heading("Display")
        .display_order(usize::MAX)
}

/// Gives a short page the flags named, and no others but those for help.
fn short_page(command: Command, flags: &[&str], is_full: bool) -> Command {
    if is_full {
        return command;
    }
    command.mut_args(|argument| {
        if argument.is_positional() {
            return argument;
        }
        let id = argument.get_id().as_str();
        let place = flags.iter().position(|flag| *flag == id);
        let argument = match place {
            Some(place) => argument.display_order(place),
            None if id.starts_with("help") => argument,
            None => argument.hide_short_help(true),
        };
        argument.help_heading(None::<&str>)
    })
}

/// Puts the first example behind the short page, and all of them with the exit statuses behind the full one.
fn with_examples(command: Command, examples: &[(&str, &str)], status: &str) -> Command {
    let all: Vec<String> = examples
        .iter()
        .map(|(line, meaning)| format!("  {line}\n      {meaning}"))
        .collect();
    let (line, meaning) = examples[0];
    command
        .after_help(format!("Example, {meaning}:\n  {line}"))
        .after_long_help(format!(
            "Examples:\n{}\n\nExit status: {status}.",
            all.join("\n")
        ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        let all = command(true);
        let shown = all.get_subcommands().filter(|one| !one.is_hide_set());
        shown.map(|one| one.get_name().to_owned()).collect()
    }

    /// A flag as the page of all flags has it: its name with its value, its short help, and its default.
    fn entry(argument: &Arg) -> String {
        let value = match argument.get_value_names() {
            Some(names) if argument.get_action().takes_values() => format!(" {}", names[0]),
            _ => String::new(),
        };
        let name = match (argument.get_short(), argument.get_long()) {
            (Some(short), Some(long)) => format!("-{short}, --{long}"),
            (None, Some(long)) => format!("--{long}"),
            (short, None) => format!("-{}", short.unwrap()),
        };
        let defaults = argument.get_default_values();
        let defaults: Vec<_> = defaults
            .iter()
            .map(|value| value.to_string_lossy())
            .collect();
        let default = match &defaults[..] {
            [] => String::new(),
            [default] if default == "false" || default.is_empty() => String::new(),
            defaults => format!(" [default: {}]", defaults.join(",")),
        };
        let help = argument.get_help().unwrap();
        format!("  {name}{value}\n      {help}{default}\n")
    }

    /// The page of all flags: what several commands share stands once.
    fn reference() -> String {
        let all = command(true);
        let mut places: Vec<(String, String, Vec<String>)> = Vec::new();
        for name in names() {
            let found = all.find_subcommand(&name).unwrap();
            let flags = found.get_arguments().filter(|one| !one.is_positional());
            for argument in flags.filter(|one| !one.is_hide_set()) {
                let group = argument.get_help_heading().unwrap().to_owned();
                let entry = entry(argument);
                let known = places.iter_mut().find(|(_, known, _)| *known == entry);
                match known {
                    Some((_, _, commands)) => commands.push(name.clone()),
                    None => places.push((group, entry, vec![name.clone()])),
                }
            }
        }
        let mut page = "The flags of all commands. What several commands share stands once. `patchwright COMMAND --help-all` says more of each flag.\n\
                        `PATCHWRIGHT_BLESS=1 cargo test -p patchwright page_of_all_flags` renews this page from the command line itself.\n"
            .to_owned();
        let mut sections: Vec<(Vec<String>, String)> = Vec::new();
        for (group, entry, commands) in places {
            let title = match commands.len() {
                1 => commands.clone(),
                _ => [vec![group], commands.clone()].concat(),
            };
            match sections.iter_mut().find(|(known, _)| *known == title) {
                Some((_, text)) => *text += &entry,
                None => sections.push((title, entry)),
            }
        }
        sections.sort_by_key(|(title, _)| title.len() == 1);
        for (title, text) in sections {
            let heading = match &title[..] {
                [command] => format!("Only {command}"),
                [group, commands @ ..] => format!("{group}: {}", commands.join(", ")),
                [] => unreachable!(),
            };
            page += &format!("\n{heading}\n{text}");
        }
        page
    }

    #[test]
    fn the_page_of_all_flags_is_what_the_help_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/cli.txt");
        let page = reference();
        if std::env::var_os("PATCHWRIGHT_BLESS").is_some() {
            #[allow(
                clippy::disallowed_methods,
                reason = "the page is written when that is asked for"
            )]
            std::fs::write(path, &page).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            written == page,
            "docs/reference/cli.txt is not what the help says; PATCHWRIGHT_BLESS=1 renews it"
        );
    }

    fn help(is_full: bool, words: &[&str]) -> String {
        let command = command(is_full).term_width(80);
        let error = command.try_get_matches_from(words).unwrap_err();
        error.render().to_string()
    }

    #[test]
    fn help_of_each_command_fits_a_screen() {
        for name in names() {
            let page = help(false, &["patchwright", &name, "--help"]);
            assert!(page.lines().count() <= 24, "{name}:\n{page}");
            let widest = page.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(80), "{name}:\n{page}");
            assert!(page.contains("--help-all"), "{page}");
        }
        let page = help(false, &["patchwright", "--help"]);
        assert!(page.lines().count() <= 32, "{page}");
    }

    #[test]
    fn the_flags_of_the_short_page_are_flags_of_the_command() {
        let all = command(true);
        for page in &PAGES {
            let found = all.find_subcommand(page.command).unwrap();
            let short = help(false, &["patchwright", page.command, "--help"]);
            for flag in page.flags {
                let argument = found.get_arguments().find(|one| one.get_id() == flag);
                let long = argument.unwrap().get_long().unwrap();
                assert!(short.contains(&format!("--{long} ")), "{long}:\n{short}");
            }
        }
    }

    #[test]
    fn the_full_page_has_every_flag_in_a_group() {
        let all = command(true);
        for name in names() {
            let found = all.find_subcommand(&name).unwrap();
            let page = help(true, &["patchwright", &name, "--help-all"]);
            let flags = found.get_arguments().filter(|one| !one.is_positional());
            for argument in flags.filter(|one| !one.is_hide_set()) {
                let group = argument.get_help_heading();
                assert!(group.is_some(), "{name}: {argument:?}");
                let flag = match (argument.get_long(), argument.get_short()) {
                    (Some(long), _) => format!("--{long}"),
                    (None, short) => format!("-{}", short.unwrap()),
                };
                assert!(page.contains(&flag), "{flag}:\n{page}");
            }
        }
    }

    #[test]
    fn examples_are_command_lines_that_are_accepted() {
        let examples = PAGES.iter().flat_map(|page| page.examples);
        for (line, _) in examples.chain(&PROGRAM_EXAMPLES) {
            let at = line.find("patchwright").unwrap();
            let line = line[at..].split(" | ").next().unwrap();
            let words: Vec<&str> = line.split(' ').collect();
            let parsed = command(false).try_get_matches_from(&words);
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn words_behind_two_dashes_belong_to_the_program() {
        assert!(is_full(&["patchwright", "run", "--help-all"]));
        assert!(is_full(&["patchwright", "help", "run"]));
        assert!(!is_full(&["patchwright", "run", "a.c", "--", "--help-all"]));
        assert!(!is_full(&["patchwright", "run", "help"]));
    }
}
