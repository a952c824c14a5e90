//! Prepares the words of the command line for clap, and rewrites its errors.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Returns the command line with each name of a test behind `--tests` as a word `--tests=NAME`, so that names may begin with a minus
/// sign. The names end at a word that is a flag of the command.
pub fn with_separate_tests(words: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let subcommand = words.iter().skip(1).find_map(|word| {
        let word = word.to_str()?;
        command.find_subcommand(word)
    });
    let Some(subcommand) = subcommand else {
        return words;
    };
    let arguments = || subcommand.get_arguments().chain(command.get_arguments());
    let longs: BTreeSet<&str> = arguments()
        .flat_map(|argument| argument.get_long_and_visible_aliases().unwrap_or_default())
        .chain(["version"])
        .collect();
    let shorts: BTreeSet<char> = arguments()
        .filter_map(clap::Arg::get_short)
        .chain(['V'])
        .collect();
    let is_flag = |word: &str| {
        if let Some(long) = word.strip_prefix("--") {
            let name = long.split_once('=').map_or(long, |(name, _)| name);
            return name.is_empty() || longs.contains(name);
        }
        let mut letters = word.trim_start_matches('-').chars();
        let first = letters.next();
        let rest = letters.as_str();
        let is_value = rest.strip_prefix('=').unwrap_or(rest);
        first.is_some_and(|first| shorts.contains(&first))
            && is_value.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut separate = Vec::with_capacity(words.len());
    let mut is_test = false;
    let mut rest = words.into_iter();
    for word in rest.by_ref() {
        let text = word.to_str().unwrap_or_default();
        if text == "--" {
            separate.push(word);
            break;
        }
        if text == "--tests" && longs.contains("tests") {
            is_test = true;
            continue;
        }
        is_test &= !(text.starts_with('-') && text.len() > 1 && is_flag(text));
        if is_test {
            let mut joined = OsString::from("--tests=");
            joined.push(&word);
            separate.push(joined);
        } else {
            separate.push(word);
        }
    }
    separate.extend(rest);
    separate
}

/// Flags that have another name now: the command, the name before, the name now.
const RENAMED: [(&str, &str, &str); 1] = [("prove", "--timeout", "--budget")];

/// Returns the error about the command line `words` in the form of all other errors, or `None` for errors
/// that are no messages, such as help.
pub fn told(error: &clap::Error, words: &[OsString]) -> Option<String> {
    let text = error.render().to_string();
    let rest = text.strip_prefix("error: ")?;
    let unknown = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(flag))) => flag.as_str(),
        _ => "",
    };
    let renamed = RENAMED.iter().find(|(command, before, _)| {
        *before == unknown && words.iter().any(|word| word == command)
    });
    Some(match renamed {
        Some((_, before, now)) => {
            format!(
                "patchwright: error: `{before}` is called `{now}`\n\n{}",
                usage(rest)
            )
        }
        None => format!("patchwright: error: {rest}"),
    })
}

/// What an error says behind its first line and its tips.
fn usage(text: &str) -> &str {
    text.find("Usage:").map_or("", |at| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tests_that_begin_with_a_minus_sign_are_told_from_flags() {
        let separate = |text: &str| {
            let words = text.split(' ').map(OsString::from).collect();
            let words = with_separate_tests(words, &crate::help::command(true));
            let words: Vec<String> = words
                .into_iter()
                .map(|word| word.into_string().unwrap())
                .collect();
            words.join(" ")
        };
        for (given, wanted) in [
            (
                "pw repair p --tests -neg a --json",
                "pw repair p --tests=-neg --tests=a --json",
            ),
            (
                "pw repair --tests --odd -1 -j2 p",
                "pw repair --tests=--odd --tests=-1 -j2 p",
            ),
            ("pw run --tests -x", "pw run --tests -x"),
            ("pw repair p --tests", "pw repair p"),
            (
                "pw validate --tests a --color=never -- --tests",
                "pw validate --tests=a --color=never -- --tests",
            ),
        ] {
            assert_eq!(separate(given), wanted);
        }
    }
}
