//! Finds small fixes in a git history: commits that say that they mend something, and change little of one C file.

use std::path::{Component, Path, PathBuf};

use patchwright_changes::git::{Commit, GitError, History, Item};
use patchwright_text::unified_diff;

/// Most lines that a small fix takes away.
const MOST_REMOVED: usize = 3;

/// Most lines that a small fix adds.
const MOST_ADDED: usize = 5;

/// Words in the message of a fix, in small letters.
const FIX: [&str; 24] = [
    "fix",
    "bug",
    "crash",
    "leak",
    "overflow",
    "underflow",
    "overrun",
    "wrong",
    "incorrect",
    "off-by",
    "off by one",
    "segfault",
    "cve-",
    "regression",
    "use-after-free",
    "use after free",
    "double free",
    "null pointer",
    "uninitialized",
    "deadlock",
    "infinite loop",
    "broken",
    "out of bounds",
    "out-of-bounds",
];

/// Words in the subject of what is not about what a program does, in small letters.
const NO_FIX: [&str; 22] = [
    "warning",
    "compil",
    "build",
    "test",
    "comment",
    "document",
    "doc:",
    "docs",
    "typo",
    "style",
    "refactor",
    "revert",
    "coverity",
    "lint",
    "indent",
    "whitespace",
    "cosmetic",
    "spelling",
    "configure",
    "cmake",
    "makefile",
    "merge",
];

/// Words that say what a failure looked like.
const CRASH: [&str; 16] = [
    "crash",
    "segfault",
    "segv",
    "overflow",
    "overrun",
    "null",
    "hang",
    "cve-",
    "assert",
    "uninitial",
    "out of bounds",
    "out-of-bounds",
    "use-after",
    "use after",
    "double free",
    "abort",
];

/// The kind of failure that the message of a fix mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// A crash, or what leads to one.
    Crash,
    /// Memory or files that are not given back.
    Leak,
    /// Anything else.
    Other,
}

impl Failure {
    /// Returns the name of the kind in tables.
    pub fn name(self) -> &'static str {
        match self {
            Failure::Crash => "crash",
            Failure::Leak => "leak",
            Failure::Other => "other",
        }
    }
}

/// A commit that changes little of one C file.
pub struct SmallFix {
    /// The full name of the commit.
    pub commit: String,
    /// Its parent.
    pub parent: String,
    /// The file, from the top of the repository.
    pub path: PathBuf,
    /// The file before.
    pub old: Vec<u8>,
    /// The file afterwards.
    pub new: Vec<u8>,
    /// What the message says was wrong.
    pub failure: Failure,
}

/// Returns the kind of failure that a commit's message says was mended, or `None`.
pub fn failure(message: &str) -> Option<Failure> {
    let text = message.trim_start().to_lowercase();
    let subject = text.lines().next().unwrap_or_default();
    let first = text.split("\n\n").next().unwrap_or_default();
    let second = text.split("\n\n").nth(1).unwrap_or_default();
    let said = format!("{first}\n{second}");
    if NO_FIX.iter().any(|word| subject.contains(word))
        || !FIX.iter().any(|word| said.contains(word))
    {
        return None;
    }
    Some(match said {
        _ if said.contains("leak") => Failure::Leak,
        _ if CRASH.iter().any(|word| said.contains(word)) => Failure::Crash,
        _ => Failure::Other,
    })
}

/// Whether a path leads to tests, documentation, examples, or code of others.
fn is_aside(path: &Path) -> bool {
    const FOLDERS: [&str; 18] = [
        "test",
        "tests",
        "testing",
        "t",
        "doc",
        "docs",
        "example",
        "examples",
        "samples",
        "deps",
        "third_party",
        "vendor",
        "vendored",
        "contrib",
        "bench",
        "benchmarks",
        "regress",
        "fuzz",
    ];
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let parts: Vec<String> = parts.map(str::to_lowercase).collect();
    let Some((name, folders)) = parts.split_last() else {
        return false;
    };
    folders.iter().any(|folder| FOLDERS.contains(&&folder[..]))
        || name.starts_with("test")
        || name.ends_with("test.c")
        || name.ends_with("tests.c")
}

/// Whether a file is source of a language like C.
fn is_source(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    matches!(
        extension,
        Some("c" | "h" | "cc" | "cpp" | "cxx" | "hpp" | "y" | "l" | "def" | "inc" | "m")
    )
}

/// The one C file that a fix changes, if it is one; the others of these paths are tests and the like.
fn only_source(paths: &[PathBuf]) -> Option<&PathBuf> {
    let mut sources = paths
        .iter()
        .filter(|path| is_source(path) && !is_aside(path));
    let only = sources.next()?;
    let is_c = only.extension().is_some_and(|extension| extension == "c");
    (is_c && sources.next().is_none()).then_some(only)
}

/// Whether two texts differ little, apart from lines of blanks, braces, comments and includes.
pub fn is_small(old: &[u8], new: &[u8]) -> bool {
    let diff = unified_diff(b"", old, new);
    let (mut removed, mut added) = (0, 0);
    for line in diff.split(|byte| *byte == b'\n').skip(2) {
        let Some((sign, text)) = line.split_first() else {
            continue;
        };
        let text = text.trim_ascii();
        let is_braces = text
            .iter()
            .all(|byte| matches!(byte, b'{' | b'}' | b' ' | b'\t'));
        let is_comment = [&b"/*"[..], b"*/", b"//", b"* "]
            .iter()
            .any(|begin| text.starts_with(begin))
            || text == b"*";
        let ends = text.ends_with(b"*/") || !text.starts_with(b"/*");
        if is_braces || is_comment && ends || text.starts_with(b"#include") {
            continue;
        }
        match sign {
            b'-' => removed += 1,
            b'+' => added += 1,
            _ => {}
        }
    }
    (removed, added) != (0, 0) && removed <= MOST_REMOVED && added <= MOST_ADDED
}

/// The numbers of commits that were looked at and why they were skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Commits with one parent that were looked at.
    pub commits: usize,
    /// Those whose message says that something is mended.
    pub fixes: usize,
    /// Those that change one C file.
    pub one_file: usize,
    /// Those that change little of it.
    pub small: usize,
}

/// Iterates over the small fixes of a history, the newest first.
pub struct SmallFixes<'h> {
    history: &'h History,
    commits: std::vec::IntoIter<Commit>,
    /// How many commits have been looked at so far.
    pub counts: Counts,
}

impl<'h> SmallFixes<'h> {
    /// Begins with the newest commit of `history`.
    ///
    /// # Errors
    /// When the repository cannot be read.
    pub fn of(history: &'h History) -> Result<Self, GitError> {
        Ok(SmallFixes {
            history,
            commits: history.newest_first("HEAD")?.into_iter(),
            counts: Counts::default(),
        })
    }

    /// The commit as a small fix, if it is one.
    fn small(&mut self, commit: &Commit) -> Result<Option<SmallFix>, GitError> {
        self.counts.commits += 1;
        let Some(failure) = failure(&self.history.message(&commit.id)?) else {
            return Ok(None);
        };
        self.counts.fixes += 1;
        let Some(parent) = self.history.first_parent(&commit.id)? else {
            return Ok(None);
        };
        let paths = self.history.paths_between(&parent, &commit.id)?;
        let Some(path) = only_source(&paths) else {
            return Ok(None);
        };
        self.counts.one_file += 1;
        let text = |revision: &str| {
            Ok(match self.history.item(revision, path)? {
                Some(Item::File { contents, .. }) => Some(contents),
                _ => None,
            })
        };
        let (Some(old), Some(new)) = (text(&parent)?, text(&commit.id)?) else {
            return Ok(None);
        };
        if !is_small(&old, &new) {
            return Ok(None);
        }
        self.counts.small += 1;
        Ok(Some(SmallFix {
            commit: commit.id.clone(),
            path: path.clone(),
            parent,
            old,
            new,
            failure,
        }))
    }
}

impl Iterator for SmallFixes<'_> {
    type Item = Result<SmallFix, GitError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let commit = self.commits.next()?;
            match self.small(&commit) {
                Ok(None) => {}
                Ok(Some(fix)) => return Some(Ok(fix)),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use git2::{IndexAddOption, Repository, Signature};

    use super::*;

    fn commit(repository: &Repository, files: &[(&str, &str)], message: &str) {
        for (path, text) in files {
            let path = repository.workdir().unwrap().join(path);
            patchwright_exec::files::create_folder(path.parent().unwrap()).unwrap();
            patchwright_exec::files::write_atomic(&path, text.as_bytes()).unwrap();
        }
        let mut index = repository.index().unwrap();
        index.add_all(["*"], IndexAddOption::DEFAULT, None).unwrap();
        index.write().unwrap();
        let tree = repository.find_tree(index.write_tree().unwrap()).unwrap();
        let time = git2::Time::new(1_000_000_000 + repository.index().unwrap().len() as i64, 0);
        let author = Signature::new("A", "a@example.invalid", &time).unwrap();
        let head = repository
            .head()
            .ok()
            .and_then(|head| head.peel_to_commit().ok());
        let parents: Vec<&git2::Commit<'_>> = head.iter().collect();
        repository
            .commit(Some("HEAD"), &author, &author, message, &tree, &parents)
            .unwrap();
    }

    #[test]
    fn commits_that_mend_little_of_one_c_file_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let repository = Repository::init(folder.path()).unwrap();
        let text = |condition: &str| {
            format!("int f(int n)\n{{\n  if ({condition})\n    return 0;\n  return n;\n}}\n")
        };
        commit(
            &repository,
            &[("a.c", &text("n > 9")), ("b.h", "int f(int);\n")],
            "First version",
        );
        commit(&repository, &[("a.c", &text("n > 8"))], "Lower the bound");
        commit(
            &repository,
            &[
                ("a.c", &text("n >= 8")),
                ("tests/a.c", "int main(void) { return f(8); }\n"),
                ("NEWS", "f\n"),
            ],
            "Fix an off-by-one error\n\nf(8) crashed.",
        );
        commit(
            &repository,
            &[("a.c", &text("n >= 7")), ("b.h", "int f(int n);\n")],
            "Fix f",
        );
        commit(
            &repository,
            &[("a.c", &text("n > 7"))],
            "Fix a warning of the compiler",
        );
        let long: String = (0..9).map(|n| format!("int g{n};\n")).collect();
        commit(
            &repository,
            &[("a.c", &(text("n > 7") + &long))],
            "Fix all of them",
        );
        let history = History::open(folder.path()).unwrap();
        let mut fixes = SmallFixes::of(&history).unwrap();
        let found: Vec<SmallFix> = fixes.by_ref().map(Result::unwrap).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, Path::new("a.c"));
        assert_eq!(found[0].failure, Failure::Crash);
        assert_eq!(found[0].old, text("n > 8").into_bytes());
        assert_eq!(found[0].new, text("n >= 8").into_bytes());
        let expected = Counts {
            commits: 5,
            fixes: 3,
            one_file: 2,
            small: 1,
        };
        assert_eq!(fixes.counts, expected);
    }

    #[test]
    fn comments_and_braces_make_no_change_large() {
        let old = b"if (a)\n  b();\n";
        let new = b"/* Why: because\n * of this\n * and of that\n * and more\n * and more\n * and more */\nif (a)\n{\n  c();\n}\n";
        assert!(is_small(old, new));
        assert!(!is_small(old, old));
        let many = b"a;\nb;\nc;\nd;\ne;\nf;\n";
        assert!(!is_small(b"", many));
    }
}
