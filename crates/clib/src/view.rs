//! Queries of the table.

use std::{collections::HashMap, sync::LazyLock};

use crate::{
    fact::{Argument, Content, Extent, Fact, Size},
    table::TABLE,
};

/// The type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A pointer to memory that is only read.
    Source,
    /// A pointer to memory that is written.
    Target,
    /// An `int`.
    Int,
    /// A `long`.
    Long,
    /// A `size_t`.
    Size,
}

/// The names that the table knows, each with its words.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE
        .iter()
        .flat_map(|(words, names)| names.split_whitespace().map(move |name| (name, *words)))
}

fn words(name: &str) -> Option<&'static str> {
    static BY_NAME: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| rows().collect());
    BY_NAME.get(name).copied()
}

fn facts_of(words: &'static str) -> impl Iterator<Item = Fact> {
    words.split_whitespace().filter_map(Fact::read)
}

fn has(name: &str, fact: Fact) -> bool {
    words(name).is_some_and(|words| facts_of(words).any(|found| found == fact))
}

/// Returns the names of the functions about which everything is known, in the order of the table.
pub fn names() -> impl Iterator<Item = &'static str> {
    rows()
        .filter(|(_, words)| !facts_of(words).any(|fact| fact == Fact::Unknown))
        .map(|(name, _)| name)
}

/// Whether everything that a function does to memory is known.
pub fn is_known(name: &str) -> bool {
    facts(name).is_some()
}

/// Returns all facts about a function, or `None` if something about it is not known.
pub fn facts(name: &str) -> Option<Vec<Fact>> {
    let facts: Vec<Fact> = facts_of(words(name)?).collect();
    (!facts.contains(&Fact::Unknown)).then_some(facts)
}

/// Returns the types of a function's parameters, or `None` if the table does not have them.
pub fn parameters(name: &str) -> Option<Vec<Parameter>> {
    let words = words(name)?;
    let letters = words
        .split_whitespace()
        .find_map(|word| word.strip_prefix('(')?.strip_suffix(')'))?;
    let is_written = |argument: Argument| {
        facts_of(words).any(|fact| matches!(fact, Fact::Write(written, _) if written == argument))
    };
    let parameter = |(argument, letter)| match letter {
        'p' if is_written(argument) => Some(Parameter::Target),
        'p' => Some(Parameter::Source),
        'i' => Some(Parameter::Int),
        'l' => Some(Parameter::Long),
        'z' => Some(Parameter::Size),
        _ => None,
    };
    letters.chars().enumerate().map(parameter).collect()
}

/// Returns the argument that says how many bytes or members a function reads or writes.
pub fn byte_count(name: &str) -> Option<Argument> {
    facts_of(words(name)?).find_map(|fact| match fact {
        Fact::Read(_, extent) | Fact::Write(_, extent) => match extent {
            Extent::TextOf(most) => Some(most),
            Extent::Exactly(size) | Extent::AtMost(size) => Some(Size::counting(size)),
            Extent::Some | Extent::Text | Extent::CopyOf(_) | Extent::CopyBehind(_) => None,
        },
        _ => None,
    })
}

/// Whether a function returns new memory in which nothing was written, as `malloc` does.
pub fn gives_unwritten(name: &str) -> bool {
    words(name).is_some_and(|words| {
        facts_of(words).any(|fact| matches!(fact, Fact::GivesNew(Content::Unwritten, _)))
    })
}

/// Whether a function only gives another result in each run, as `rand` and `time` do. It may change the
/// state of the library, and no memory of the program.
pub fn is_unpredictable(name: &str) -> bool {
    facts(name).is_some_and(|facts| {
        facts.contains(&Fact::Varies)
            && facts
                .iter()
                .all(|fact| matches!(fact, Fact::Varies | Fact::State))
    })
}

/// Whether a function never returns.
pub fn never_returns(name: &str) -> bool {
    has(name, Fact::NeverReturns)
}

/// Whether a function ends the process without calling the functions of `atexit`.
pub fn leaves_at_once(name: &str) -> bool {
    has(name, Fact::LeavesAtOnce)
}

/// Whether a function changes more than the program: files, processes or the machine.
pub fn changes_system(name: &str) -> bool {
    has(name, Fact::System)
}

/// Whether a function tests the class of a character, as `isalpha` does. It may be a macro.
pub fn is_character_class(name: &str) -> bool {
    name.starts_with("is") && has(name, Fact::Classifies(0))
}

/// Returns a name without the decoration of compilers and libraries: `__builtin___memcpy_chk` becomes
/// `memcpy`.
pub fn plain(name: &str) -> &str {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let checked = name
        .strip_prefix("__")
        .and_then(|name| name.strip_suffix("_chk"));
    let name = checked.unwrap_or(name);
    name.strip_prefix("__isoc99_")
        .or_else(|| name.strip_prefix("__isoc23_"))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_the_table_is_understood() {
        for (name, words) in rows() {
            for word in words.split_whitespace() {
                let is_parameters = word.starts_with('(');
                assert!(
                    is_parameters || Fact::read(word).is_some(),
                    "{name}: {word}"
                );
            }
            let lists = words.matches('(').count();
            assert_eq!(parameters(name).is_some(), lists == 1, "{name}");
        }
    }

    #[test]
    fn a_function_has_one_line() {
        let mut names: Vec<&str> = rows().map(|(name, _)| name).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn facts_are_about_parameters_that_are_there() {
        for (name, words) in rows() {
            let Some(parameters) = parameters(name) else {
                continue;
            };
            for fact in facts_of(words) {
                if let Fact::Read(argument, extent) | Fact::Write(argument, extent) = fact {
                    let pointer = parameters[argument];
                    assert!(matches!(pointer, Parameter::Source | Parameter::Target));
                    match extent {
                        Extent::Exactly(size) | Extent::AtMost(size) => {
                            assert_eq!(parameters[size.counting()], Parameter::Size, "{name}");
                        }
                        Extent::TextOf(most) => {
                            assert_eq!(parameters[most], Parameter::Size, "{name}");
                        }
                        Extent::CopyOf(text) | Extent::CopyBehind(text) => {
                            assert_eq!(parameters[text], Parameter::Source, "{name}");
                        }
                        Extent::Some | Extent::Text => {}
                    }
                }
            }
        }
    }

    #[test]
    fn words_say_what_they_mean() {
        assert_eq!(
            parameters("memcpy"),
            Some(vec![Parameter::Target, Parameter::Source, Parameter::Size])
        );
        assert_eq!(byte_count("fread"), Some(2));
        assert_eq!(byte_count("bzero"), Some(1));
        assert_eq!(byte_count("strlen"), None);
        let facts = facts("bsearch").expect("it is known");
        assert!(facts.contains(&Fact::Calls(4, [Some(0), Some(1)])));
        assert!(gives_unwritten("malloc") && !gives_unwritten("calloc"));
        assert!(never_returns("abort") && leaves_at_once("_exit") && !leaves_at_once("exit"));
        assert!(changes_system("fork") && !is_known("fork") && is_known("unlink"));
        assert!(is_character_class("isspace") && !is_character_class("toupper"));
        assert_eq!(plain("__builtin___memcpy_chk"), "memcpy");
    }
}
