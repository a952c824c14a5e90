//! Reads conditional directives: the branches of a file, and its text with one branch of each.
//!
//! A file is read in one configuration, as a compiler would. Nothing is known of the macros, so the caller says which
//! branches it prefers: those that a change touches. Text that is not taken, and the directives themselves, become
//! spaces: every byte keeps its offset and its line.

use patchwright_ctext::first_word;

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

/// The directives of a text: where each begins and ends, and its text without comments, words separated by one space.
pub(crate) fn scan(source: &[u8]) -> Vec<(usize, usize, String)> {
    let directives = patchwright_ctext::directives(source);
    let found = directives.map(|one| (one.start, one.end(), one.on_one_line()));
    found.collect()
}

/// The word of a directive, and what follows.
pub(crate) fn parts(text: &str) -> (&str, &str) {
    let body = text.strip_prefix("%:").or(text.strip_prefix('#'));
    let (word, rest) = first_word(body.unwrap_or(text).trim_start());
    (word, rest.trim())
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
    fn a_directive_may_stand_behind_a_comment_and_be_spliced() {
        let source = "/* x */ #if 0\na;\n#e\\\nlse\nb;\n%:endif // \\\n#if 0\nc;\n";
        assert_eq!(configured(source, None), "b; c;");
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
