//! Tracks which macros are known at each directive of a file: from flags, from its own directives, and
//! from headers that can be found.
//!
//! Nothing is guessed. A macro that is defined in a branch that may or may not be taken is unknown from there on. A macro that no
//! directive defines is unknown, too, because a header that was not found may define it.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::directives::{parts, scan};
use crate::macros::Macros;

/// The directives of a header.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The word and the rest of each.
    directives: Vec<(String, String)>,
    /// The macro that keeps it from being read twice.
    guard: Option<String>,
}

impl Header {
    /// Reads the directives of a header's text.
    pub fn read(source: &[u8]) -> Header {
        let texts = scan(source);
        let guard = guard(&texts);
        let mut directives: Vec<(usize, String, String)> = texts
            .iter()
            .map(|(at, _, text)| {
                let (word, rest) = parts(text);
                (*at, word.to_owned(), rest.to_owned())
            })
            .collect();
        let mut at = 0;
        for line in source.split_inclusive(|byte| *byte == b'\n') {
            if let Some(name) = left_undefined(line) {
                directives.push((at, LEFT.to_owned(), name.to_owned()));
            }
            at += line.len();
        }
        directives.sort_by_key(|(at, _, _)| *at);
        let directives = directives.into_iter();
        Header {
            directives: directives.map(|(_, word, rest)| (word, rest)).collect(),
            guard,
        }
    }
}

/// The word of what is no directive: `/* #undef NAME */`, as which configure scripts and CMake leave the macros of what a
/// system lacks.
const LEFT: &str = "left undefined";

fn left_undefined(line: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(line).ok()?.trim();
    let words = text.strip_prefix("/*")?.strip_suffix("*/")?;
    match words.split_whitespace().collect::<Vec<_>>()[..] {
        ["#undef", name] => Some(name),
        _ => None,
    }
}

/// The macro of `#ifndef NAME`, `#define NAME` … `#endif` round a whole file.
fn guard(texts: &[(usize, usize, String)]) -> Option<String> {
    let all: Vec<(&str, &str)> = texts.iter().map(|(_, _, text)| parts(text)).collect();
    let (&(first, condition), &(second, definition)) = (all.first()?, all.get(1)?);
    let name = match first {
        "ifndef" => condition,
        "if" => condition
            .strip_prefix('!')?
            .trim_start()
            .strip_prefix("defined")?
            .trim_matches(['(', ')', ' ']),
        _ => return None,
    };
    let mut depth = 0_usize;
    for (index, (word, _)) in all.iter().enumerate() {
        match *word {
            "if" | "ifdef" | "ifndef" => depth += 1,
            "endif" => depth = depth.checked_sub(1)?,
            "else" | "elif" if depth == 1 => return None,
            _ => {}
        }
        if depth == 0 && index + 1 < all.len() {
            return None;
        }
    }
    let defined = definition.split_whitespace().next()?;
    (second == "define" && defined == name).then(|| name.to_owned())
}

/// An interface through which the headers of `#include` directives are found.
pub trait Headers {
    /// Returns the header that `file` means by `#include "name"`, or by `#include <name>` if not
    /// `quoted`, and its path.
    fn find(&self, file: &str, name: &str, quoted: bool) -> Option<(String, Arc<Header>)>;
}

/// The macros that are known where a file begins, and where its headers are.
#[derive(Clone, Default)]
pub struct Setting<'a> {
    /// Macros that flags define.
    pub macros: Macros,
    /// Where the headers are that the file includes. Without that only the flags count, and what the file itself
    /// defines does not.
    pub headers: Option<&'a dyn Headers>,
    /// The file's path, for [`Headers::find`].
    pub path: &'a str,
    /// Headers that are included before the file begins, by the flag `-include`.
    pub before: &'a [String],
}

impl<'a> Setting<'a> {
    /// Returns what is known at the beginning of the file with these directives.
    pub(crate) fn knowledge(&self, texts: &[(usize, usize, String)]) -> Knowledge<'a> {
        let mut knowledge = Knowledge {
            flags: self.macros.clone(),
            macros: self.macros.clone(),
            headers: self.headers,
            files: vec![self.path.to_owned()],
            open: Vec::new(),
            perhaps: FxHashSet::default(),
            left: MOST_DIRECTIVES,
        };
        if self.headers.is_some() {
            for name in self.before {
                knowledge.include(name, true);
            }
            if let Some(name) = guard(texts)
                && knowledge.macros.is_defined(&name).is_none()
            {
                knowledge.macros.undefine(&name);
            }
        }
        knowledge
    }
}

/// Whether a branch is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taken {
    Yes,
    No,
    Perhaps,
}

impl Taken {
    fn of(decision: Option<bool>) -> Taken {
        match decision {
            Some(true) => Taken::Yes,
            Some(false) => Taken::No,
            None => Taken::Perhaps,
        }
    }
}

/// A conditional that has not ended.
#[derive(Clone, Copy)]
struct Open {
    /// Whether a branch before this one was taken.
    before: Taken,
    /// Whether this one is.
    now: Taken,
}

/// Of one file, and of headers that include each other.
const MOST_DIRECTIVES: usize = 1_000_000;
const MOST_NESTED: usize = 100;

/// What is known at a directive.
pub(crate) struct Knowledge<'a> {
    flags: Macros,
    macros: Macros,
    headers: Option<&'a dyn Headers>,
    /// The files that are being read, each included by the one before.
    files: Vec<String>,
    open: Vec<Open>,
    /// Headers that were read where it was not sure that they are.
    perhaps: FxHashSet<String>,
    /// So many directives may follow.
    left: usize,
}

impl Knowledge<'_> {
    /// Updates the known macros by the directive `word` with the text `rest` behind it. Returns whether its condition holds, or
    /// `None` if it has no condition or that is not known.
    pub fn directive(&mut self, word: &str, rest: &str) -> Option<bool> {
        let holds = self.macros.decide(word, rest);
        if self.headers.is_none() {
            return holds;
        }
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            // Too much: only what the flags say is known.
            self.headers = None;
            self.macros = self.flags.clone();
            return self.macros.decide(word, rest);
        }
        match word {
            "if" | "ifdef" | "ifndef" => self.open.push(Open {
                before: Taken::No,
                now: Taken::of(holds),
            }),
            "elif" | "elifdef" | "elifndef" | "else" => {
                if let Some(open) = self.open.last_mut() {
                    open.before = match (open.before, open.now) {
                        (Taken::Yes, _) | (_, Taken::Yes) => Taken::Yes,
                        (Taken::No, Taken::No) => Taken::No,
                        _ => Taken::Perhaps,
                    };
                    let holds = if word == "else" { Some(true) } else { holds };
                    open.now = match (open.before, Taken::of(holds)) {
                        (Taken::Yes, _) | (_, Taken::No) => Taken::No,
                        (Taken::Perhaps, _) | (_, Taken::Perhaps) => Taken::Perhaps,
                        (Taken::No, Taken::Yes) => Taken::Yes,
                    };
                }
            }
            "endif" => {
                self.open.pop();
            }
            _ => self.plain(word, rest),
        }
        holds
    }

    /// Whether control of the preprocessor gets here.
    fn here(&self) -> Taken {
        let mut here = Taken::Yes;
        for open in &self.open {
            match open.now {
                Taken::No => return Taken::No,
                Taken::Perhaps => here = Taken::Perhaps,
                Taken::Yes => {}
            }
        }
        here
    }

    /// A directive that is no conditional.
    fn plain(&mut self, word: &str, rest: &str) {
        let name = || patchwright_ctext::first_word(rest).0;
        match (self.here(), word) {
            (Taken::No, _) => {}
            (Taken::Yes, "define") => self.macros.define(rest),
            (Taken::Yes, "undef") => self.macros.undefine(name()),
            (Taken::Yes, LEFT) if self.macros.is_defined(rest).is_none() => {
                self.macros.undefine(rest);
            }
            (Taken::Perhaps, "define" | "undef") => self.macros.forget(name()),
            (_, "include" | "include_next" | "import") => {
                let quoted = |open: char, close: char| {
                    let inside = rest.strip_prefix(open)?;
                    Some(&inside[..inside.find(close)?])
                };
                if let Some(name) = quoted('"', '"') {
                    self.include(name, true);
                } else if let Some(name) = quoted('<', '>') {
                    self.include(name, false);
                }
            }
            _ => {}
        }
    }

    fn include(&mut self, name: &str, quoted: bool) {
        let (Some(headers), Some(file)) = (self.headers, self.files.last()) else {
            return;
        };
        let Some((path, header)) = headers.find(file, name, quoted) else {
            return;
        };
        let is_sure = self.here() == Taken::Yes;
        if self.files.len() > MOST_NESTED || !is_sure && !self.perhaps.insert(path.clone()) {
            return;
        }
        if let Some(guard) = &header.guard {
            match self.macros.is_defined(guard) {
                Some(true) => return,
                // Who includes it for the first time may not have defined it.
                _ if is_sure => self.macros.undefine(guard),
                _ => {}
            }
        }
        let depth = self.open.len();
        self.files.push(path);
        for (word, rest) in &header.directives {
            self.directive(word, rest);
        }
        self.files.pop();
        self.open.truncate(depth);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Directives;

    struct Folder(Vec<(&'static str, &'static str)>);

    impl Headers for Folder {
        fn find(&self, _: &str, name: &str, _: bool) -> Option<(String, Arc<Header>)> {
            let (path, text) = self.0.iter().find(|(path, _)| *path == name)?;
            Some(((*path).to_owned(), Arc::new(Header::read(text.as_bytes()))))
        }
    }

    /// The text that is left of `source`, words separated by one space.
    fn left(source: &str, headers: &[(&'static str, &'static str)], before: &[String]) -> String {
        let folder = Folder(headers.to_vec());
        let setting = Setting {
            headers: Some(&folder),
            path: "f.c",
            before,
            ..Setting::default()
        };
        let directives = Directives::read_in(source.as_bytes(), &setting);
        let text = directives.configured(source.as_bytes(), &directives.defaults());
        let text = String::from_utf8(text).unwrap();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    const USE: &str = "#if LEVEL > 2\na;\n#else\nb;\n#endif\n";

    #[test]
    fn what_a_header_defines_decides_conditions() {
        let including = format!("#include \"level.h\"\n{USE}");
        let guarded = "#ifndef LEVEL_H\n#define LEVEL_H\n#include <base.h>\n#define LEVEL (BASE + 1)\n#endif\n";
        for (base, taken) in [("1", "b;"), ("2", "a;")] {
            let base: &'static str = match base {
                "1" => "#define BASE 1\n",
                _ => "#define BASE 2\n",
            };
            let headers = [("level.h", guarded), ("base.h", base)];
            assert_eq!(left(&including, &headers, &[]), taken);
            assert_eq!(left(USE, &headers, &["level.h".to_owned()]), taken);
        }
        // Nothing is known: the first branch.
        assert_eq!(left(&including, &[], &[]), "a;");
    }

    #[test]
    fn what_may_be_defined_or_not_is_not_known() {
        let source = format!("#define LEVEL 1\n#ifdef X\n#define LEVEL 5\n#endif\n{USE}");
        assert_eq!(left(&source, &[], &[]), "a;");
        let decided = format!("#undef X\n{source}");
        assert_eq!(left(&decided, &[], &[]), "b;");
        let other = format!("#define LEVEL 1\n#if X\n#elif 0\n#define LEVEL 5\n#endif\n{USE}");
        assert_eq!(left(&other, &[], &[]), "b;");
    }

    #[test]
    fn what_a_configuration_leaves_undefined_is_undefined() {
        let source = "#include \"config.h\"\n#ifdef HAVE_X\nx;\n#else\ny;\n#endif\n";
        assert_eq!(
            left(source, &[("config.h", "/* #undef HAVE_X */\n")], &[]),
            "y;"
        );
        assert_eq!(
            left(source, &[("config.h", "#define HAVE_X 1\n")], &[]),
            "x;"
        );
    }

    #[test]
    fn headers_that_include_each_other_end() {
        let a = "#include \"b.h\"\n#define LEVEL 1\n";
        let b = "#include \"a.h\"\n#include \"a.h\"\n";
        let source = format!("#include \"a.h\"\n{USE}");
        // So much is read that nothing counts but the flags.
        assert_eq!(left(&source, &[("a.h", a), ("b.h", b)], &[]), "a;");
    }
}
