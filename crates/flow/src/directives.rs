//! Reads conditional directives: the branches of a file, and its text with one branch of each.
//!
//! A file is read in one configuration, as a compiler would. Nothing is known of the macros, so the caller says which
//! branches it prefers: those that a change touches. Text that is not taken, and the directives themselves, become
//! spaces: every byte keeps its offset and its line.

use crate::headers::{Knowledge, Setting};

/// One branch of a conditional: from `#if`, `#elif` or `#else` to the next of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The line of its directive, from 1.
    pub line: u32,
    /// The line of the directive that ends it; behind the last line of the file when it is not ended.
    pub end: u32,
    /// No configuration takes it: `#if 0`, or only C++ does, or known macros rule it out.
    pub impossible: bool,
    /// Known macros have it taken, unless one before it is.
    pub certain: bool,
}

/// A conditional from `#if` to `#endif`, with its branches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conditional {
    /// Its branches, in order; at least one.
    pub branches: Vec<Branch>,
}

/// A directive other than a conditional: `#define`, `#include`, and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// Its text with one space between words.
    pub text: String,
    /// Its first line.
    pub line: u32,
    /// Its last line.
    pub last_line: u32,
}

/// All directives of a file.
#[derive(Clone, Debug, Default)]
pub struct Directives {
    /// Conditionals, in the order of their ends.
    pub conditionals: Vec<Conditional>,
    /// Other directives in order.
    pub others: Vec<Directive>,
    /// The byte ranges of all directives, comments that begin in them included.
    ranges: Vec<(usize, usize)>,
    /// The byte at which each line begins.
    line_starts: Vec<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    Comment,
}

impl Directives {
    /// Reads the directives of `source`.
    pub fn read(source: &[u8]) -> Self {
        Self::read_in(source, &Setting::default())
    }

    /// Reads the directives of `source`. Branches that known macros exclude are marked as impossible.
    pub fn read_in(source: &[u8], setting: &Setting) -> Self {
        let mut found = Directives {
            line_starts: std::iter::once(0)
                .chain(
                    source
                        .iter()
                        .enumerate()
                        .filter(|(_, byte)| **byte == b'\n')
                        .map(|(i, _)| i + 1),
                )
                .collect(),
            ..Directives::default()
        };
        let mut open: Vec<Vec<Branch>> = Vec::new();
        let texts = scan(source);
        let mut knowledge = setting.knowledge(&texts);
        for (first, end, text) in &texts {
            found.ranges.push((*first, *end));
            let line = found.line_of(*first);
            let last_line = found.line_of((*end).max(1) - 1);
            found.note(&mut open, text, line, last_line, &mut knowledge);
        }
        let behind = found.line_starts.len() as u32 + 1;
        while let Some(mut branches) = open.pop() {
            if let Some(last) = branches.last_mut() {
                last.end = behind;
            }
            found.conditionals.push(Conditional { branches });
        }
        found
    }

    fn line_of(&self, offset: usize) -> u32 {
        self.line_starts.partition_point(|start| *start <= offset) as u32
    }

    fn note(
        &mut self,
        open: &mut Vec<Vec<Branch>>,
        text: &str,
        line: u32,
        last_line: u32,
        knowledge: &mut Knowledge,
    ) {
        let (word, rest) = parts(text);
        let holds = knowledge.directive(word, rest);
        let begin = |impossible| Branch {
            line,
            end: line,
            impossible: impossible || holds == Some(false),
            certain: holds == Some(true),
        };
        match word {
            "if" => open.push(vec![begin(rest == "0" || rest == "defined __cplusplus")]),
            "ifdef" => open.push(vec![begin(rest == "__cplusplus")]),
            "ifndef" => open.push(vec![begin(false)]),
            "elif" | "elifdef" | "elifndef" | "else" => {
                if let Some(branches) = open.last_mut() {
                    if let Some(last) = branches.last_mut() {
                        last.end = line;
                    }
                    let decided = branches.iter().any(|branch| branch.certain);
                    branches.push(begin(decided));
                }
            }
            "endif" => {
                if let Some(mut branches) = open.pop() {
                    if let Some(last) = branches.last_mut() {
                        last.end = line;
                    }
                    self.conditionals.push(Conditional { branches });
                }
            }
            _ => self.others.push(Directive {
                text: text.to_owned(),
                line,
                last_line,
            }),
        }
    }

    /// Returns the text with only the chosen branch of each conditional (`choice`, by number of the
    /// conditional). A conditional without a valid choice loses all branches. Everything removed,
    /// directives included, becomes blanks.
    pub fn configured(&self, source: &[u8], choice: &[Option<usize>]) -> Vec<u8> {
        let mut text = source.to_vec();
        let mut blank = |from: usize, to: usize| {
            for byte in &mut text[from..to] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        };
        for &(from, to) in &self.ranges {
            blank(from, to);
        }
        for (i, conditional) in self.conditionals.iter().enumerate() {
            for (b, branch) in conditional.branches.iter().enumerate() {
                if choice.get(i).copied().flatten() != Some(b) {
                    blank(self.start_of(branch.line), self.start_of(branch.end));
                }
            }
        }
        text
    }

    /// Whether the chosen branches leave `line` in the text.
    pub fn keeps(&self, choice: &[Option<usize>], line: u32) -> bool {
        self.conditionals.iter().enumerate().all(|(i, group)| {
            group.branches.iter().enumerate().all(|(b, branch)| {
                !(branch.line < line && line < branch.end)
                    || choice.get(i).copied().flatten() == Some(b)
            })
        })
    }

    fn start_of(&self, line: u32) -> usize {
        match self.line_starts.get(line as usize - 1) {
            Some(start) => *start,
            None => self.line_starts.last().copied().unwrap_or(0),
        }
    }

    /// Returns the first possible branch of each conditional.
    pub fn defaults(&self) -> Vec<Option<usize>> {
        self.conditionals
            .iter()
            .map(|group| group.branches.iter().position(|b| !b.impossible))
            .collect()
    }
}

/// The directives of a text: where each begins and ends, and its text.
pub(crate) fn scan(source: &[u8]) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    let mut state = State::Code;
    let mut at = 0;
    while at < source.len() {
        let first = source[at..]
            .iter()
            .position(|byte| !matches!(byte, b' ' | b'\t' | b'\x0c' | b'\x0b' | b'\r'))
            .map_or(source.len(), |n| at + n);
        if state == State::Code && source.get(first) == Some(&b'#') {
            let (end, text) = directive_at(source, first);
            at = next_line(source, end);
            found.push((first, end, text));
            continue;
        }
        at = skip_line(source, at, &mut state);
    }
    found
}

/// The word of a directive, and what follows.
pub(crate) fn parts(text: &str) -> (&str, &str) {
    let body = text[1..].trim_start();
    let word_end = body
        .find(|c: char| !c.is_ascii_alphanumeric())
        .unwrap_or(body.len());
    (&body[..word_end], body[word_end..].trim())
}

/// Where the directive ends that begins at `at`, and its text without comments, words separated by one space.
fn directive_at(source: &[u8], at: usize) -> (usize, String) {
    let mut text = Vec::new();
    let mut i = at;
    while i < source.len() && source[i] != b'\n' {
        match source[i] {
            b'\\' if source.get(i + 1) == Some(&b'\n') => {
                text.push(b' ');
                i += 2;
            }
            b'\\' if source[i + 1..].starts_with(b"\r\n") => {
                text.push(b' ');
                i += 3;
            }
            b'/' if source.get(i + 1) == Some(&b'*') => {
                text.push(b' ');
                i = comment_end(source, i);
            }
            b'/' if source.get(i + 1) == Some(&b'/') => {
                while i < source.len() && source[i] != b'\n' {
                    i += 1;
                }
            }
            quote @ (b'"' | b'\'') => {
                let end = quoted_end(source, i, quote);
                text.extend_from_slice(&source[i..end]);
                i = end;
            }
            byte => {
                text.push(byte);
                i += 1;
            }
        }
    }
    let text = String::from_utf8_lossy(&text);
    (i, text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Behind the comment that begins at `at`.
fn comment_end(source: &[u8], at: usize) -> usize {
    source[at + 2..]
        .windows(2)
        .position(|two| two == b"*/")
        .map_or(source.len(), |n| at + 2 + n + 2)
}

/// Behind the string or character that begins at `at`; it ends at the line's end at the latest.
fn quoted_end(source: &[u8], at: usize, quote: u8) -> usize {
    let mut i = at + 1;
    while i < source.len() && source[i] != b'\n' {
        match source[i] {
            b'\\' => i += 2,
            byte if byte == quote => return i + 1,
            _ => i += 1,
        }
    }
    i.min(source.len())
}

fn next_line(source: &[u8], at: usize) -> usize {
    source[at.min(source.len())..]
        .iter()
        .position(|byte| *byte == b'\n')
        .map_or(source.len(), |n| at + n + 1)
}

/// Behind the line that begins at `at`, with the state in which the next one begins.
fn skip_line(source: &[u8], at: usize, state: &mut State) -> usize {
    let mut i = at;
    while i < source.len() {
        if *state == State::Comment {
            match source[i] {
                b'*' if source.get(i + 1) == Some(&b'/') => {
                    *state = State::Code;
                    i += 2;
                }
                b'\n' => return i + 1,
                _ => i += 1,
            }
            continue;
        }
        match source[i] {
            b'\n' => return i + 1,
            b'/' if source.get(i + 1) == Some(&b'*') => {
                *state = State::Comment;
                i += 2;
            }
            b'/' if source.get(i + 1) == Some(&b'/') => return next_line(source, i),
            quote @ (b'"' | b'\'') => i = quoted_end(source, i, quote),
            _ => i += 1,
        }
    }
    source.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::macros::Macros;

    fn configured(source: &str, choice: Option<&[Option<usize>]>) -> String {
        let directives = Directives::read(source.as_bytes());
        let defaults = directives.defaults();
        let text = directives.configured(source.as_bytes(), choice.unwrap_or(&defaults));
        assert_eq!(text.len(), source.len());
        String::from_utf8(text)
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn the_first_possible_branch_is_taken_unless_another_is_asked_for() {
        let source = "#if A\na;\n#elif B\nb;\n#else\nc;\n#endif\n#if 0\nd;\n#else\ne;\n#endif\n";
        assert_eq!(configured(source, None), "a; e;");
        assert_eq!(configured(source, Some(&[Some(2), Some(0)])), "c; d;");
    }

    #[test]
    fn what_only_looks_like_a_directive_is_left() {
        let source =
            "/*\n#if A\n*/ x = \"/*\"; // \"\n#define F(a) \\\n  a /* more\n#endif */\ny;\n";
        let directives = Directives::read(source.as_bytes());
        assert_eq!(directives.conditionals, []);
        assert_eq!(directives.others.len(), 1);
        assert_eq!(directives.others[0].text, "#define F(a) a");
        assert_eq!(
            (directives.others[0].line, directives.others[0].last_line),
            (4, 6)
        );
    }

    #[test]
    fn macros_of_the_flags_choose_branches() {
        let source = "#if A > 1\na;\n#elif defined B\nb;\n#else\nc;\n#endif\n";
        let taken = |flags: &[&str]| {
            let macros = Macros::from_flags(flags.iter().copied());
            let setting = Setting {
                macros,
                ..Setting::default()
            };
            let directives = Directives::read_in(source.as_bytes(), &setting);
            let text = directives.configured(source.as_bytes(), &directives.defaults());
            String::from_utf8(text).unwrap().trim().to_owned()
        };
        assert_eq!(taken(&["-DA=2"]), "a;");
        assert_eq!(taken(&["-DA=1", "-DB"]), "b;");
        assert_eq!(taken(&["-UA", "-UB"]), "c;");
    }

    #[test]
    fn conditionals_nest_and_need_no_end() {
        let source = "#ifdef A\na;\n# ifdef B\nb;\n# endif\n#else\nc;\n";
        assert_eq!(configured(source, None), "a; b;");
        let directives = Directives::read(source.as_bytes());
        // The inner one is listed first.
        assert!(directives.keeps(&[Some(0), Some(1)], 7));
        assert!(!directives.keeps(&[Some(0), Some(1)], 4));
    }
}
