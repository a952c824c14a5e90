//! The names of a translation unit, which tell whether what a patch adds is new.

use std::collections::BTreeSet;

use patchwright_csource::{Function, lex};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::outside::Brought;
use crate::preprocessed::Preprocessed;

/// The names of a translation unit and its headers.
#[derive(Clone, Debug, Default)]
pub struct KnownNames {
    /// The words of the source.
    own: FxHashSet<String>,
    /// The words of all that it includes.
    headers: FxHashSet<String>,
    /// Those of them by which a header could mean what the source defines: in macros, and in the project's headers.
    meant: FxHashSet<String>,
    /// What the preprocessor makes of the headers: the project's, and the system's.
    of_headers: (String, String),
    /// What macros put words together of: a name that has both parts of a pair could be meant where it is not mentioned.
    pasted: Vec<(String, String)>,
}

impl KnownNames {
    /// Collects the names of a source and of its preprocessed text.
    pub fn new(source: &[u8], preprocessed: &[u8]) -> Self {
        let read = Preprocessed::read(preprocessed);
        let words = |text: &[u8]| lex::words(text).into_iter().collect::<FxHashSet<String>>();
        let mut own = words(source);
        for line in read.own.values() {
            own.extend(lex::words(line.as_bytes()));
        }
        let mut headers = words(read.project.as_bytes());
        let mut meant = headers.clone();
        headers.extend(lex::words(read.system.as_bytes()));
        let macros = || read.system.lines().filter(|line| line.starts_with('#'));
        meant.extend(macros().flat_map(macro_words));
        // A macro that nobody mentions but its own definition puts nothing together: the compiler's own have names of one letter in them.
        let mut mentions: FxHashMap<String, usize> = FxHashMap::default();
        for word in lex::words(read.project.as_bytes()) {
            *mentions.entry(word).or_default() += 1;
        }
        let is_used = |line: &&str| {
            let name = lex::words(line.as_bytes()).into_iter().nth(1);
            name.is_some_and(|name| {
                own.contains(&name) || mentions.get(&name).is_some_and(|count| *count > 1)
            })
        };
        let of_headers = read.project.lines().chain(macros()).filter(is_used);
        let of_source = read.own.values().map(String::as_str);
        let pasted = of_source.chain(of_headers).flat_map(pasted).collect();
        Self {
            own,
            headers,
            meant,
            pasted,
            of_headers: (read.project, read.system),
        }
    }

    /// Whether all included text is the same in `preprocessed`, the source with other macros. The
    /// name of a used macro is not in the text.
    pub fn have_same_headers(&self, preprocessed: &[u8]) -> bool {
        let read = Preprocessed::read(preprocessed);
        self.of_headers == (read.project, read.system)
    }

    /// Whether an addition at `offset` only adds new names, except those in `replaced`, or declares
    /// what exists already.
    pub fn allow(
        &self,
        brought: &Brought,
        replaced: &BTreeSet<String>,
        source: &[u8],
        functions: &[Function],
        offset: u32,
    ) -> bool {
        let is_new = |name: &String| !self.headers.contains(name) && !self.own.contains(name);
        let is_pasted = |name: &String| {
            let mut pairs = self.pasted.iter();
            pairs.any(|(left, right)| name.contains(left.as_str()) && name.contains(right.as_str()))
        };
        brought.defined.iter().all(|name| {
            is_new(name)
                || replaced.contains(name) && !self.meant.contains(name) && !is_pasted(name)
        }) && brought
            .declared
            .iter()
            .all(|name| is_new(name) || is_announced(name, source, functions, offset))
    }
}

/// The words of a directive; of the definition of a macro without its parameters, which mean nothing outside.
fn macro_words(line: &str) -> Vec<String> {
    let parameters = line.split_once('(').and_then(|(name, rest)| {
        let is_definition = name.starts_with("#define ") && !name["#define ".len()..].contains(' ');
        is_definition.then(|| rest.split_once(')')).flatten()
    });
    let mut words = lex::words(line.as_bytes());
    if let Some((parameters, _)) = parameters {
        let parameters = lex::words(parameters.as_bytes());
        words.retain(|word| !parameters.contains(word));
    }
    words
}

/// Returns the words that the definition of a macro joins: for each `##` the word on its left and on its right. A parameter, or
/// no word, is an empty text.
fn pasted(line: &str) -> Vec<(String, String)> {
    let words = lex::words(line.as_bytes());
    let has_parameters = line
        .find('(')
        .is_some_and(|at| !line["#define ".len().min(at)..at].contains(' '));
    let list = line
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'));
    let parameters = list
        .filter(|_| has_parameters)
        .map(|(list, _)| lex::words(list.as_bytes()));
    let is_parameter = |word: &str| {
        let mut parameters = parameters.iter().flatten();
        word == "__VA_ARGS__" || parameters.any(|parameter| parameter == word)
    };
    let fixed = |word: Option<&String>| {
        let word = word.filter(|word| !is_parameter(word));
        word.cloned().unwrap_or_default()
    };
    if words.first().is_none_or(|word| word != "define") {
        return Vec::new();
    }
    let parts: Vec<&str> = line.split("##").collect();
    let pairs = parts.windows(2).map(|pair| {
        let (left, right) = (
            lex::words(pair[0].as_bytes()),
            lex::words(pair[1].as_bytes()),
        );
        (fixed(left.last()), fixed(right.first()))
    });
    pairs.collect()
}

/// Whether a function of the file may be declared at `offset`: nothing calls it between there and where it is declared
/// anyhow.
fn is_announced(name: &str, source: &[u8], functions: &[Function], offset: u32) -> bool {
    let places = lex::words_with_places(source);
    let next = places
        .iter()
        .find(|(word, at)| word == name && *at >= offset as usize);
    functions.iter().any(|function| function.name == name)
        && next.is_some_and(|(_, at)| {
            let at = *at as u32;
            !functions
                .iter()
                .any(|function| function.body_span.start <= at && at < function.body_span.end)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_a_macro_puts_together_are_known_by_their_parts() {
        for (line, pairs) in [
            ("#define GET(x) x##_VALUE", vec![("", "_VALUE")]),
            (
                "#define ON(a, b) (on_ ## a ## _ ## b)",
                vec![("on_", ""), ("", "_"), ("_", "")],
            ),
            ("#define BOTH(a, b) a ## b", vec![("", "")]),
            ("#define x (y)", vec![]),
            ("int a = \"##\";", vec![]),
        ] {
            let found = pasted(line);
            let found: Vec<(&str, &str)> = found.iter().map(|(a, b)| (&a[..], &b[..])).collect();
            assert_eq!(found, pairs, "{line}");
        }
    }

    #[test]
    fn parameters_of_a_macro_are_none_of_its_words() {
        for (line, words) in [
            (
                "#define twice(size) ((size) * count) ",
                "define twice count",
            ),
            ("#define twice (size) ", "define twice size"),
            ("#define none ", "define none"),
            ("#undef size ", "undef size"),
        ] {
            assert_eq!(macro_words(line).join(" "), words, "{line}");
        }
    }
}
