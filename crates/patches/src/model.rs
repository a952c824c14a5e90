//! The types of patches: raw as they were read, and applied as edits of files.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use patchwright_text::{Edit, apply_edits};
use serde::{Deserialize, Serialize};

use crate::path::{PathError, RelativePath};
use patchwright_text::{Digest, Hasher};

/// The name of a patch in reports. It is unique in its set, printable and not empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PatchId(pub String);

impl fmt::Display for PatchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The file, and the line in it, where a patch was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The file as it was named; `-` for standard input.
    pub file: PathBuf,
    /// The line at which the patch begins, from 1.
    pub line: usize,
    /// Whether line `n` of the patch is line `line + n - 1` of the file. A diff inside of JSON has
    /// its own lines.
    pub lines_are_of_file: bool,
}

impl Origin {
    /// Returns `FILE:LINE` of line `line` (from 1) of the patch, for a message.
    pub fn place(&self, line: usize) -> String {
        let file = self.file.display();
        if self.lines_are_of_file {
            format!("{file}:{}", self.line + line - 1)
        } else {
            format!("{file}:{}, line {line} of the patch", self.line)
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file.display(), self.line)
    }
}

/// A patch as it was read, not yet applied to a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawPatch {
    /// Its name.
    pub id: PatchId,
    /// Where it was read.
    pub origin: Origin,
    /// What it does.
    pub body: Body,
}

/// What a raw patch changes: a diff, or a replacement in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// The text of a unified diff, with whatever stands round it.
    Diff(Vec<u8>),
    /// The replacement of a piece of one file (ExpressAPR's manifests): the file must consist of
    /// `above`, `unpatched` and `below`.
    Replace {
        /// The file, as it was written.
        file: String,
        /// What stands before the piece.
        above: Arc<str>,
        /// The piece.
        unpatched: Arc<str>,
        /// What stands behind the piece.
        below: Arc<str>,
        /// What comes in its place.
        new: String,
    },
}

/// The new text of a file, as edits of the old one. All patches of a file share its old text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewText {
    base: Arc<[u8]>,
    edits: Box<[Edit]>,
}

/// Old lines and the new lines that replace them, without context. Ranges are half open and count from 0;
/// an empty range stands before the line that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineRange {
    /// In the old text.
    pub old: Range<usize>,
    /// In the new text.
    pub new: Range<usize>,
}

impl NewText {
    /// Makes the text that `edits` turn `base` into. They must be sorted, must not overlap, and must lie in the text.
    pub(crate) fn new(base: Arc<[u8]>, edits: Vec<Edit>) -> Self {
        debug_assert!(apply_edits(&base, &edits).is_ok());
        NewText {
            base,
            edits: edits.into_boxed_slice(),
        }
    }

    /// Makes the text of a new file, whose old text is empty.
    pub fn added(text: Vec<u8>) -> Self {
        let edits = match text.is_empty() {
            true => vec![],
            false => vec![Edit::insert(0, text)],
        };
        NewText::new(Arc::from([]), edits)
    }

    /// Returns the old text. It is empty for a new file.
    pub fn base(&self) -> &Arc<[u8]> {
        &self.base
    }

    /// Returns the edits of the old text: whole lines, sorted, not overlapping.
    pub fn edits(&self) -> &[Edit] {
        &self.edits
    }

    /// Returns the pieces whose concatenation is the new text, without making it.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> + Clone {
        let starts = std::iter::once(0).chain(self.edits.iter().map(|e| e.span.end as usize));
        let ends = self.edits.iter().map(|e| e.span.start as usize);
        let ends = ends.chain(std::iter::once(self.base.len()));
        let kept = starts.zip(ends).map(|(start, end)| &self.base[start..end]);
        let added = self.edits.iter().map(|edit| &edit.text[..]);
        kept.zip(added.chain(std::iter::once(&[][..])))
            .flat_map(|(kept, added)| [kept, added])
    }

    /// Returns the whole new text.
    pub fn to_vec(&self) -> Vec<u8> {
        self.pieces().flatten().copied().collect()
    }

    /// The text with these edits as well; `None` if they are of another text, or if some of them touch each other.
    fn and(&self, other: &NewText) -> Option<NewText> {
        let mut edits = [&self.edits[..], &other.edits].concat();
        edits.sort_by_key(|edit| edit.span);
        let parted = edits
            .windows(2)
            .all(|pair| pair[0].span.end < pair[1].span.start);
        (parted && self.base == other.base).then(|| NewText::new(self.base.clone(), edits))
    }

    /// Returns the replaced lines with their replacements, in order.
    pub fn changed_lines(&self) -> Vec<LineRange> {
        let count = |bytes: &[u8]| {
            let newlines = bytes.iter().filter(|byte| **byte == b'\n').count();
            newlines + usize::from(bytes.last().is_some_and(|byte| *byte != b'\n'))
        };
        let (mut offset, mut old, mut new) = (0, 0, 0);
        let mut changed = Vec::with_capacity(self.edits.len());
        for edit in &self.edits {
            let kept = count(&self.base[offset..edit.span.start as usize]);
            let (taken, given) = (count(&self.base[edit.span.range()]), count(&edit.text));
            (old, new) = (old + kept, new + kept);
            changed.push(LineRange {
                old: old..old + taken,
                new: new..new + given,
            });
            (old, new) = (old + taken, new + given);
            offset = edit.span.end as usize;
        }
        changed
    }
}

/// What a patch does to one file of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChange {
    /// Gives an existing file another text.
    Modify {
        /// The file.
        path: RelativePath,
        /// Its new text, as edits of the old one.
        text: NewText,
    },
    /// Makes a file that was not there, and the folders that it needs.
    Add {
        /// The file.
        path: RelativePath,
        /// Its text.
        text: NewText,
        /// Whether it may be executed.
        executable: bool,
    },
    /// Removes a file.
    Delete {
        /// The file.
        path: RelativePath,
    },
    /// Removes a file and makes another one, whose text begins as that of the first.
    Rename {
        /// The file that goes.
        from: RelativePath,
        /// The file that comes.
        to: RelativePath,
        /// Its text, as edits of the text of `from`.
        text: NewText,
        /// Whether it may be executed.
        executable: bool,
    },
    /// Changes whether an existing file may be executed.
    Mode {
        /// The file.
        path: RelativePath,
        /// Whether it may be, from now on.
        executable: bool,
    },
}

impl FileChange {
    /// Returns the path of the file after the change, or of the removed file.
    pub fn path(&self) -> &RelativePath {
        match self {
            FileChange::Modify { path, .. }
            | FileChange::Add { path, .. }
            | FileChange::Delete { path }
            | FileChange::Rename { to: path, .. }
            | FileChange::Mode { path, .. } => path,
        }
    }

    /// Returns all paths that the change touches: for a renaming the old and the new one.
    pub fn paths(&self) -> impl Iterator<Item = &RelativePath> {
        let from = match self {
            FileChange::Rename { from, .. } => Some(from),
            _ => None,
        };
        from.into_iter().chain([self.path()])
    }

    /// Returns the new text, or `None` if the change removes the file or only changes its mode.
    pub fn text(&self) -> Option<&NewText> {
        match self {
            FileChange::Modify { text, .. }
            | FileChange::Add { text, .. }
            | FileChange::Rename { text, .. } => Some(text),
            FileChange::Delete { .. } | FileChange::Mode { .. } => None,
        }
    }
}

/// A patch that was applied to a tree in memory: which files it changes, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Its name.
    pub id: PatchId,
    /// Where it was read.
    pub origin: Origin,
    /// What it does, in the order of the paths; each file at most once, but for
    /// [`FileChange::Mode`], which may follow a [`FileChange::Modify`].
    pub changes: Vec<FileChange>,
    /// What was needed to apply it.
    pub notes: Vec<ApplyNote>,
}

impl Patch {
    /// Combines two patches into one with this patch's id. The result is `None` unless both only
    /// modify existing files, and at least one unchanged byte lies between any two edits.
    pub fn and(&self, other: &Patch) -> Option<Patch> {
        let mut changes = self.changes.clone();
        for change in &other.changes {
            let same = changes
                .iter()
                .position(|known| known.path() == change.path());
            match (same.map(|at| &mut changes[at]), change) {
                (None, FileChange::Modify { .. }) => changes.push(change.clone()),
                (Some(FileChange::Modify { text: own, .. }), FileChange::Modify { text, .. }) => {
                    *own = own.and(text)?;
                }
                _ => return None,
            }
        }
        let modifies = |change: &FileChange| matches!(change, FileChange::Modify { .. });
        if !changes.iter().all(modifies) {
            return None;
        }
        changes.sort_by(|a, b| a.path().cmp(b.path()));
        Some(Patch {
            changes,
            ..self.clone()
        })
    }

    /// Returns a digest that is equal for two patches exactly if they turn the tree into the same
    /// tree.
    pub fn digest(&self) -> Digest {
        let mut hasher = Hasher::new();
        let mut write = |path: &RelativePath, kind: u64, text: Option<&NewText>| {
            hasher.field(path.as_bytes()).number(kind);
            if let Some(text) = text {
                hasher.pieces(text.pieces());
            }
        };
        // A renaming is a removal and an addition, in the order of the paths.
        let mut parts: Vec<(&RelativePath, u64, Option<&NewText>)> = Vec::new();
        for change in &self.changes {
            match change {
                FileChange::Modify { path, text } => parts.push((path, 0, Some(text))),
                FileChange::Add {
                    path,
                    text,
                    executable,
                } => parts.push((path, 1 + u64::from(*executable), Some(text))),
                FileChange::Delete { path } => parts.push((path, 3, None)),
                FileChange::Rename {
                    from,
                    to,
                    text,
                    executable,
                } => {
                    parts.push((from, 3, None));
                    parts.push((to, 1 + u64::from(*executable), Some(text)));
                }
                FileChange::Mode { path, executable } => {
                    parts.push((path, 4 + u64::from(*executable), None));
                }
            }
        }
        parts.sort_by_key(|(path, kind, _)| (*path, *kind));
        for (path, kind, text) in parts {
            write(path, kind, text);
        }
        hasher.finish()
    }
}

/// What the user should know about how a patch was applied, for instance with an offset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApplyNote {
    /// Leading parts of the paths were left out, as by `patch -pN`; not said for the usual level
    /// of the form of diff (1 of git's, 0 of plain ones).
    Strip(usize),
    /// A hunk was found at another line than it says.
    Offset {
        /// The file.
        file: RelativePath,
        /// The number of the hunk in its file, from 1.
        hunk: usize,
        /// The line, from 1, at which it was applied.
        line: usize,
        /// How many lines further down (or up) that is.
        offset: isize,
    },
    /// Lines of a hunk's context were ignored.
    Fuzz {
        /// The file.
        file: RelativePath,
        /// The number of the hunk in its file, from 1.
        hunk: usize,
        /// How many lines at each end of the context.
        fuzz: usize,
    },
    /// The lines of the diff end with `\r\n` and those of the file do not: the `\r` were left out.
    CarriageReturns {
        /// The file.
        file: RelativePath,
    },
    /// The lines of the file end with `\r\n` and those of the diff do not: the `\r` were added.
    CarriageReturnsAdded {
        /// The file.
        file: RelativePath,
    },
    /// The last line of the diff has no newline; one was added.
    NoFinalNewline,
    /// So many hunks have not as many lines as their headers say; the lines were counted.
    Recounted(usize),
}

impl fmt::Display for ApplyNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApplyNote::Strip(level) => write!(f, "applied with -p{level}"),
            ApplyNote::Offset {
                file,
                hunk,
                line,
                offset,
            } => write!(
                f,
                "{file}: hunk #{hunk} applied at line {line} (offset {offset})"
            ),
            ApplyNote::Fuzz { file, hunk, fuzz } => {
                write!(f, "{file}: hunk #{hunk} applied with fuzz {fuzz}")
            }
            ApplyNote::CarriageReturns { file } => write!(
                f,
                "{file}: carriage returns at the ends of the diff's lines were left out"
            ),
            ApplyNote::CarriageReturnsAdded { file } => write!(
                f,
                "{file}: its lines end with carriage returns, which the diff's lines were given"
            ),
            ApplyNote::NoFinalNewline => {
                f.write_str("the diff's last line has no newline; one was added")
            }
            ApplyNote::Recounted(1) => {
                f.write_str("one hunk has not as many lines as its header says; they were counted")
            }
            ApplyNote::Recounted(hunks) => write!(
                f,
                "{hunks} hunks have not as many lines as their headers say; they were counted"
            ),
        }
    }
}

/// The result of applying a raw patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// It applies.
    Patch(Patch),
    /// It does not.
    DoesNotApply(DoesNotApply),
}

/// A raw patch that does not apply, with the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DoesNotApply {
    /// Its name.
    pub id: PatchId,
    /// Where it was read.
    pub origin: Origin,
    /// Why the patch does not apply.
    pub reason: Reason,
}

/// Why a patch does not apply.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The text is no diff, or a broken one.
    #[error("{place}: {message}")]
    Malformed {
        /// The file and line.
        place: String,
        /// What is wrong.
        message: String,
    },
    /// It names a path that is not one of a file in the tree.
    #[error("{place}: {source}")]
    Path {
        /// The file and line.
        place: String,
        /// What is wrong with the path.
        source: PathError,
    },
    /// A file that it changes does not exist.
    #[error("{place}: there is no file {file} in the project")]
    NoFile {
        /// The file and line of the diff.
        place: String,
        /// The file, as the diff names it.
        file: String,
    },
    /// A file that it makes exists already.
    #[error("{place}: the patch makes {file}, which exists already")]
    Exists {
        /// The file and line of the diff.
        place: String,
        /// The file.
        file: RelativePath,
    },
    /// A file that is a folder, a symbolic link, lies beyond one, or is no regular file.
    #[error("{place}: {file} {what}; patches change regular files only")]
    NotRegular {
        /// The file and line of the diff.
        place: String,
        /// The file.
        file: RelativePath,
        /// What it is: "is a folder", "is a symbolic link", …
        what: &'static str,
    },
    /// A hunk does not fit.
    #[error("{place}: hunk #{hunk} of {file} (line {line}) does not fit{hint}")]
    Hunk {
        /// The file and line of the diff.
        place: String,
        /// The file.
        file: RelativePath,
        /// The number of the hunk in its file, from 1.
        hunk: usize,
        /// The line at which it should be, from 1.
        line: usize,
        /// What may be the cause; empty, or begins with a colon.
        hint: &'static str,
    },
    /// A hunk fits in two places that are equally near.
    #[error(
        "{place}: hunk #{hunk} of {file} is ambiguous: it fits at line {} and at line {}, \
         equally far from line {line}", lines[0], lines[1]
    )]
    Ambiguous {
        /// The file and line of the diff.
        place: String,
        /// The file.
        file: RelativePath,
        /// The number of the hunk in its file, from 1.
        hunk: usize,
        /// The line at which it should be, from 1.
        line: usize,
        /// Where it fits.
        lines: [usize; 2],
    },
    /// A deletion of a file that has more than what the diff removes.
    #[error("{place}: the patch removes {file}, but the diff does not have all of its text")]
    NotEmptied {
        /// The file and line of the diff.
        place: String,
        /// The file.
        file: RelativePath,
    },
    /// The context of a replacement is not that of the file.
    #[error(
        "{place}: context_above, unpatched and context_below together are not the text of {file}"
    )]
    OtherContext {
        /// The file and line.
        place: String,
        /// The file.
        file: RelativePath,
    },
    /// The tree cannot be read.
    #[error("{file} cannot be read: {message}")]
    Unreadable {
        /// The file.
        file: RelativePath,
        /// What the operating system said.
        message: String,
    },
}

impl Reason {
    /// Whether the patch is broken in itself, so that it applies to no tree.
    pub fn is_malformed(&self) -> bool {
        matches!(self, Reason::Malformed { .. } | Reason::Path { .. })
    }
}

#[cfg(test)]
mod tests {
    use patchwright_text::Span;

    use super::*;

    const TEXT: &[u8] = b"a\nb\nc\nd\ne\n";

    fn patch(edits: &[(&str, Edit)]) -> Patch {
        let base: Arc<[u8]> = TEXT.into();
        let change = |(path, edit): &(&str, Edit)| FileChange::Modify {
            path: RelativePath::parse(path.as_bytes()).unwrap(),
            text: NewText::new(base.clone(), vec![edit.clone()]),
        };
        Patch {
            id: PatchId("p".into()),
            origin: Origin {
                file: "p.diff".into(),
                line: 1,
                lines_are_of_file: true,
            },
            changes: edits.iter().map(change).collect(),
            notes: Vec::new(),
        }
    }

    fn line(number: u32, text: &str) -> Edit {
        Edit::replace(Span::new(2 * number, 2 * number + 2), text)
    }

    #[test]
    fn changes_of_other_lines_and_files_are_done_both() {
        let first = patch(&[("x.c", line(0, "A\n")), ("z.c", line(1, "B\n"))]);
        let second = patch(&[("x.c", line(2, "")), ("y.c", line(0, "Y\n"))]);
        let both = first.and(&second).unwrap();
        let texts = both.changes.iter().map(|change| {
            let text = change.text().unwrap().to_vec();
            (change.path().clone(), String::from_utf8(text).unwrap())
        });
        let expected = [
            ("x.c", "A\nb\nd\ne\n"),
            ("y.c", "Y\nb\nc\nd\ne\n"),
            ("z.c", "a\nB\nc\nd\ne\n"),
        ];
        let path = |path: &str| RelativePath::parse(path.as_bytes()).unwrap();
        let expected = expected.map(|(file, text)| (path(file), text.to_owned()));
        assert_eq!(texts.collect::<Vec<_>>(), expected);
        assert_eq!(second.and(&first).unwrap().digest(), both.digest());
    }

    #[test]
    fn changes_that_touch_each_other_are_not_joined() {
        let first = patch(&[("x.c", line(1, "B\n"))]);
        for edit in [line(1, "C\n"), line(2, "C\n"), Edit::insert(2, "new\n")] {
            assert!(first.and(&patch(&[("x.c", edit)])).is_none());
        }
        let removed = Patch {
            changes: vec![FileChange::Delete {
                path: RelativePath::parse(b"y.c").unwrap(),
            }],
            ..first.clone()
        };
        assert!(first.and(&removed).is_none() && removed.and(&first).is_none());
    }
}
