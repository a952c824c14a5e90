//! Applies raw patches to a tree in memory.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as MapEntry;
use std::sync::Arc;

use patchwright_text::{Edit, Span, apply_edits, line_edits};

use crate::diff::{self, Counts, Diff, FileDiff, Name};
use crate::hunk::{self, Lines, Lost, Progress};
use crate::model::{
    Applied, ApplyNote, Body, DoesNotApply, FileChange, NewText, Origin, Patch, RawPatch, Reason,
};
use crate::path::RelativePath;
use crate::tree::{BaseFile, BaseTree, Entry, line_starts};

/// The most leading parts of paths that are left out when the level is searched for.
const MOST_STRIP: usize = 8;

/// How [`Applier`] reads diffs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// How many leading parts of paths are dropped (`-p`). `None` searches for the number with which
    /// the files exist and everything applies.
    pub strip: Option<usize>,
    /// Whether the line counts in hunk headers are believed.
    pub counts: Counts,
}

/// Applies raw patches to one tree, each to the untouched tree.
pub struct Applier<'t> {
    tree: &'t dyn BaseTree,
    reading: Reading,
}

/// What a file of the tree has become so far.
#[derive(Clone)]
struct State {
    base: Option<BaseFile>,
    now: Option<Now>,
}

#[derive(Clone)]
struct Now {
    /// The edits of the base, if there is no second change of the file; else its whole text.
    text: Text,
    executable: bool,
    /// The file that this one was, in the tree.
    was: Option<RelativePath>,
}

#[derive(Clone)]
enum Text {
    Edits { base: BaseFile, edits: Vec<Edit> },
    Whole { base: BaseFile, text: Arc<[u8]> },
}

impl Text {
    fn of(file: BaseFile) -> Self {
        Text::Edits {
            base: file,
            edits: Vec::new(),
        }
    }

    fn empty() -> Self {
        Text::of(BaseFile::new(Vec::new(), false))
    }

    fn base(&self) -> &BaseFile {
        match self {
            Text::Edits { base, .. } | Text::Whole { base, .. } => base,
        }
    }

    /// The text as it is now, with its lines.
    fn current(&self) -> (Arc<[u8]>, Arc<[u32]>) {
        let text: Arc<[u8]> = match self {
            Text::Edits { base, edits } if edits.is_empty() => {
                return (base.text.clone(), base.starts.clone());
            }
            // The edits come from hunks, which do not overlap.
            Text::Edits { base, edits } => {
                apply_edits(&base.text, edits).unwrap_or_default().into()
            }
            Text::Whole { text, .. } => text.clone(),
        };
        let starts = line_starts(&text).into();
        (text, starts)
    }

    /// Applies edits of the current text.
    fn edit(&mut self, new: Vec<Edit>) {
        if new.is_empty() {
            return;
        }
        match self {
            Text::Edits { edits, .. } if edits.is_empty() => *edits = new,
            _ => {
                let (text, _) = self.current();
                let text = apply_edits(&text, &new).unwrap_or_default().into();
                let base = self.base().clone();
                *self = Text::Whole { base, text };
            }
        }
    }

    fn into_new_text(self) -> NewText {
        match self {
            Text::Edits { base, edits } => NewText::new(base.text.clone(), shortened(&base, edits)),
            Text::Whole { base, text } => {
                let edits = line_edits(&base.text, &text);
                NewText::new(base.text, edits)
            }
        }
    }
}

/// Edits without those that change nothing.
fn shortened(base: &BaseFile, mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.retain(|edit| base.text[edit.span.range()] != edit.text[..]);
    edits
}

type Files = BTreeMap<RelativePath, State>;

impl<'t> Applier<'t> {
    /// Makes an applier for `tree` that reads diffs as `reading` says.
    pub fn new(tree: &'t dyn BaseTree, reading: Reading) -> Self {
        Applier { tree, reading }
    }

    /// Applies one raw patch to the untouched tree. The result is the changed files, or the reason
    /// why the patch does not apply. The tree itself stays as it is.
    pub fn apply(&self, raw: RawPatch) -> Applied {
        let RawPatch { id, origin, body } = raw;
        let result = match body {
            Body::Diff(text) => self.diff(&origin, &text),
            Body::Replace {
                file,
                above,
                unpatched,
                below,
                new,
            } => self.replace(&origin, &file, [&above, &unpatched, &below], &new),
        };
        match result {
            Ok((changes, notes)) => Applied::Patch(Patch {
                id,
                origin,
                changes,
                notes,
            }),
            Err(reason) => Applied::DoesNotApply(DoesNotApply { id, origin, reason }),
        }
    }

    fn replace(
        &self,
        origin: &Origin,
        file: &str,
        [above, unpatched, below]: [&str; 3],
        new: &str,
    ) -> Result<(Vec<FileChange>, Vec<ApplyNote>), Reason> {
        let place = origin.to_string();
        let path = RelativePath::parse(file.as_bytes()).map_err(|source| Reason::Path {
            place: place.clone(),
            source,
        })?;
        let Some(base) = self.file(&path, &place)? else {
            return Err(Reason::NoFile {
                place,
                file: file.to_owned(),
            });
        };
        let fits = base.text.strip_prefix(above.as_bytes()).and_then(|rest| {
            rest.strip_suffix(below.as_bytes())
                .filter(|piece| *piece == unpatched.as_bytes())
        });
        if fits.is_none() {
            return Err(Reason::OtherContext { place, file: path });
        }
        // Edits are of whole lines.
        let start = base.text[..above.len()]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        let end = above.len() + unpatched.len();
        let end = base.text[end..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(base.text.len(), |at| end + at + 1);
        let mut text = base.text[start..above.len()].to_vec();
        text.extend_from_slice(new.as_bytes());
        text.extend_from_slice(&base.text[above.len() + unpatched.len()..end]);
        let edit = Edit::replace(Span::new(start as u32, end as u32), text);
        let edits = shortened(&base, vec![edit]);
        if edits.is_empty() {
            return Ok((vec![], vec![]));
        }
        let text = NewText::new(base.text, edits);
        Ok((vec![FileChange::Modify { path, text }], vec![]))
    }

    fn diff(
        &self,
        origin: &Origin,
        text: &[u8],
    ) -> Result<(Vec<FileChange>, Vec<ApplyNote>), Reason> {
        let diff = diff::parse(text, self.reading.counts).map_err(|error| Reason::Malformed {
            place: origin.place(error.line),
            message: error.message,
        })?;
        let usual = usize::from(looks_like_git(&diff));
        let levels: Vec<usize> = match self.reading.strip {
            Some(level) => vec![level],
            None => std::iter::once(usual)
                .chain((0..=MOST_STRIP).filter(|level| *level != usual))
                .collect(),
        };
        // What does not exist at the usual level may at another one. Anything else that is wrong at
        // a level is wrong with the patch: elsewhere it could only hit a file that is not meant.
        let mut missing = None;
        for level in levels {
            match self.at_level(origin, &diff, level) {
                Ok((changes, mut notes)) => {
                    if self.reading.strip.is_none() && level != usual {
                        notes.insert(0, ApplyNote::Strip(level));
                    }
                    if diff.newline_added {
                        notes.push(ApplyNote::NoFinalNewline);
                    }
                    if diff.recounted > 0 {
                        notes.push(ApplyNote::Recounted(diff.recounted));
                    }
                    return Ok((changes, notes));
                }
                Err(reason @ Reason::NoFile { .. }) => {
                    missing.get_or_insert(reason);
                }
                Err(reason) => return Err(reason),
            }
        }
        Err(missing.unwrap_or_else(|| Reason::Malformed {
            place: origin.to_string(),
            message: "it names no file".into(),
        }))
    }

    fn at_level(
        &self,
        origin: &Origin,
        diff: &Diff,
        level: usize,
    ) -> Result<(Vec<FileChange>, Vec<ApplyNote>), Reason> {
        let mut files = Files::new();
        let mut notes = Vec::new();
        for file in &diff.files {
            let place = origin.place(file.line);
            self.file_diff(origin, &place, file, level, &mut files, &mut notes)?;
        }
        Ok((changes(files), notes))
    }

    /// The regular file at a path of the tree, if there is one.
    fn file(&self, path: &RelativePath, place: &str) -> Result<Option<BaseFile>, Reason> {
        match self.tree.look_up(path) {
            Ok(Entry::Missing) => Ok(None),
            Ok(Entry::File(file)) => Ok(Some(file)),
            Ok(Entry::Other(what)) => Err(Reason::NotRegular {
                place: place.to_owned(),
                file: path.clone(),
                what,
            }),
            Err(error) => Err(Reason::Unreadable {
                file: path.clone(),
                message: error.to_string(),
            }),
        }
    }

    fn state<'f>(
        &self,
        files: &'f mut Files,
        path: &RelativePath,
        place: &str,
    ) -> Result<&'f mut State, Reason> {
        match files.entry(path.clone()) {
            MapEntry::Occupied(entry) => Ok(entry.into_mut()),
            MapEntry::Vacant(entry) => {
                let base = self.file(path, place)?;
                let now = base.clone().map(|file| Now {
                    executable: file.executable,
                    text: Text::of(file),
                    was: Some(path.clone()),
                });
                Ok(entry.insert(State { base, now }))
            }
        }
    }

    /// Returns the path that the diff of a file means, as `patch(1)` chooses: of its two names the one that exists. If both
    /// exist, the name with fewer parts wins, then the shorter one.
    fn target(
        &self,
        file: &FileDiff,
        level: usize,
        files: &mut Files,
        place: &str,
    ) -> Result<RelativePath, Reason> {
        let mut paths: Vec<RelativePath> = Vec::new();
        let mut shown = String::new();
        for name in [&file.new, &file.old] {
            let Name::Path(name) = name else { continue };
            if shown.is_empty() {
                shown = String::from_utf8_lossy(name).into_owned();
            }
            if let Some(rest) = stripped(name, level) {
                paths.push(parse_path(rest, place)?);
            }
        }
        if paths.is_empty() {
            return Err(Reason::NoFile {
                place: place.to_owned(),
                file: format!("{shown} (with -p{level})"),
            });
        }
        let mut existing = Vec::new();
        for path in &paths {
            if self.state(files, path, place)?.now.is_some() {
                existing.push(path.clone());
            }
        }
        existing.sort_by_key(|path| {
            let name = path.as_path().file_name().map_or(0, |name| name.len());
            (
                path.as_path().components().count(),
                name,
                path.as_bytes().len(),
            )
        });
        match existing.into_iter().next() {
            Some(path) => Ok(path),
            None if file.created || file.inserts_at_start() => Ok(paths.remove(0)),
            None => Err(Reason::NoFile {
                place: place.to_owned(),
                file: paths.remove(0).to_string(),
            }),
        }
    }

    fn file_diff(
        &self,
        origin: &Origin,
        place: &str,
        file: &FileDiff,
        level: usize,
        files: &mut Files,
        notes: &mut Vec<ApplyNote>,
    ) -> Result<(), Reason> {
        if let Some(mode) = file.new_mode
            && mode & 0o170_000 != 0o100_000
        {
            return Err(Reason::Malformed {
                place: place.to_owned(),
                message: format!("mode {mode:o} is not one of a regular file"),
            });
        }
        let path = match &file.moved {
            Some(moved) => {
                let strip = level.saturating_sub(1);
                let path = |name: &[u8]| match stripped(name, strip) {
                    Some(rest) => parse_path(rest, place),
                    None => Err(Reason::NoFile {
                        place: place.to_owned(),
                        file: String::from_utf8_lossy(name).into_owned(),
                    }),
                };
                let (from, to) = (path(&moved.from)?, path(&moved.to)?);
                let source = self.state(files, &from, place)?;
                let Some(now) = source.now.clone() else {
                    return Err(Reason::NoFile {
                        place: place.to_owned(),
                        file: from.to_string(),
                    });
                };
                if !moved.copy {
                    source.now = None;
                }
                let target = self.state(files, &to, place)?;
                if target.now.is_some() {
                    return Err(Reason::Exists {
                        place: place.to_owned(),
                        file: to,
                    });
                }
                let was = now.was.clone().filter(|_| !moved.copy);
                target.now = Some(Now { was, ..now });
                to
            }
            None => self.target(file, level, files, place)?,
        };
        let state = self.state(files, &path, place)?;
        let creates = file.created || state.now.is_none();
        if creates {
            if let Some(now) = &state.now
                && !now.text.current().0.is_empty()
            {
                return Err(Reason::Exists {
                    place: place.to_owned(),
                    file: path,
                });
            }
            let kept = state.now.take();
            state.now = Some(kept.unwrap_or_else(|| Now {
                text: Text::empty(),
                executable: false,
                was: None,
            }));
        }
        let Some(now) = &mut state.now else {
            return Ok(()); // It was just given one.
        };
        let (text, starts) = now.text.current();
        let edits = hunks(origin, file, &path, &text, &starts, notes)?;
        now.text.edit(edits);
        if let Some(mode) = file.new_mode {
            now.executable = mode & 0o100 != 0;
        }
        if file.deleted {
            let (left, _) = now.text.current();
            // Git's form may leave out the text of a file that goes.
            if !left.is_empty() && !file.hunks.is_empty() {
                return Err(Reason::NotEmptied {
                    place: place.to_owned(),
                    file: path,
                });
            }
            state.now = None;
        }
        Ok(())
    }
}

/// Finds all hunks of a file in its text.
fn hunks(
    origin: &Origin,
    file: &FileDiff,
    path: &RelativePath,
    text: &[u8],
    starts: &[u32],
    notes: &mut Vec<ApplyNote>,
) -> Result<Vec<Edit>, Reason> {
    let lines = Lines::new(text, starts);
    let attempt = |hunks: &[diff::Hunk]| {
        let mut progress = Progress::default();
        let mut edits = Vec::new();
        let mut notes = Vec::new();
        for (index, hunk) in hunks.iter().enumerate() {
            let found = hunk::find(hunk, &lines, &mut progress).map_err(|lost| (index, lost))?;
            if found.offset != 0 {
                notes.push(ApplyNote::Offset {
                    file: path.clone(),
                    hunk: index + 1,
                    line: found.line,
                    offset: found.offset,
                });
            }
            if found.fuzz > 0 {
                notes.push(ApplyNote::Fuzz {
                    file: path.clone(),
                    hunk: index + 1,
                    fuzz: found.fuzz,
                });
            }
            edits.extend(found.edits);
        }
        Ok((edits, notes))
    };
    // Only where all lines of the file end so: of others nobody knows what the new ones should be.
    let filled: Option<Vec<diff::Hunk>> =
        file.hunks.iter().map(hunk::with_carriage_returns).collect();
    if let Some(filled) = filled.filter(|_| all_lines_end_with_returns(text, starts))
        && let Ok((edits, found)) = attempt(&filled)
    {
        notes.push(ApplyNote::CarriageReturnsAdded { file: path.clone() });
        notes.extend(found);
        return Ok(edits);
    }
    let (index, lost) = match attempt(&file.hunks) {
        Ok((edits, found)) => {
            notes.extend(found);
            return Ok(edits);
        }
        Err(failure) => failure,
    };
    let stripped: Option<Vec<diff::Hunk>> = file
        .hunks
        .iter()
        .map(hunk::without_carriage_returns)
        .collect();
    if let Some(stripped) = stripped
        && let Ok((edits, found)) = attempt(&stripped)
    {
        notes.push(ApplyNote::CarriageReturns { file: path.clone() });
        notes.extend(found);
        return Ok(edits);
    }
    let hunk = &file.hunks[index];
    let place = origin.place(hunk.line);
    let (file, line) = (path.clone(), hunk.old_start);
    Err(match lost {
        Lost::Ambiguous(lines) => Reason::Ambiguous {
            place,
            file,
            hunk: index + 1,
            line,
            lines,
        },
        Lost::Nowhere => {
            let in_file = text.windows(2).any(|pair| pair == b"\r\n");
            let in_hunk = hunk.lines.iter().any(|line| line.text.ends_with(b"\r\n"));
            let hint = if in_file && !in_hunk {
                ": the file's lines end with \\r\\n, those of the diff do not"
            } else if hunk::is_applied(hunk, text) {
                ": the file looks as if it had been applied already"
            } else {
                ""
            };
            Reason::Hunk {
                place,
                file,
                hunk: index + 1,
                line,
                hint,
            }
        }
    })
}

/// Whether a text with lines that begin at these offsets has ends of lines, and each is `\r\n`. Mostly the first line tells that they are not.
fn all_lines_end_with_returns(text: &[u8], starts: &[u32]) -> bool {
    let ends = starts.iter().skip(1).map(|start| *start as usize);
    let mut ended = ends.filter(|end| text[..*end].ends_with(b"\n")).peekable();
    ended.peek().is_some() && ended.all(|end| text[..end].ends_with(b"\r\n"))
}

impl FileDiff {
    /// Whether it does nothing but insert into an empty file.
    fn inserts_at_start(&self) -> bool {
        matches!(&self.hunks[..], [hunk] if hunk.old_start == 0
            && hunk.lines.iter().all(|line| line.side == diff::Side::New))
    }
}

/// Whether the names begin with `a/` and `b/`, or git's headers say so.
fn looks_like_git(diff: &Diff) -> bool {
    let prefixed = |name: &Name, prefix: &[u8]| match name {
        Name::Path(path) => path.starts_with(prefix),
        Name::DevNull => true,
        Name::None => false,
    };
    diff.files.iter().all(|file| {
        file.moved.is_some() || prefixed(&file.old, b"a/") && prefixed(&file.new, b"b/")
    })
}

/// A path without its first parts; repeated slashes count as one, as for `patch -p`.
fn stripped(path: &[u8], level: usize) -> Option<&[u8]> {
    let mut rest = path;
    for _ in 0..level {
        let slash = rest.iter().position(|byte| *byte == b'/')?;
        rest = &rest[slash..];
        let next = rest.iter().position(|byte| *byte != b'/')?;
        rest = &rest[next..];
    }
    Some(rest)
}

fn parse_path(bytes: &[u8], place: &str) -> Result<RelativePath, Reason> {
    RelativePath::parse(bytes).map_err(|source| Reason::Path {
        place: place.to_owned(),
        source,
    })
}

/// What the files have become, compared with what they were.
fn changes(files: Files) -> Vec<FileChange> {
    let gone = |path: &RelativePath| {
        files
            .get(path)
            .is_some_and(|state| state.base.is_some() && state.now.is_none())
    };
    let moved: Vec<RelativePath> = files
        .iter()
        .filter(|(_, state)| state.base.is_none())
        .filter_map(|(_, state)| state.now.as_ref()?.was.clone())
        .filter(|was| gone(was))
        .collect();
    let mut changes = Vec::new();
    let mut used: Vec<RelativePath> = Vec::new();
    for (path, State { base, now }) in files.iter() {
        let (path, now) = (path.clone(), now.clone());
        match (base, now) {
            (None, None) => {}
            (Some(_), None) => {
                if !moved.contains(&path) {
                    changes.push(FileChange::Delete { path });
                }
            }
            (None, Some(now)) => {
                let executable = now.executable;
                match now
                    .was
                    .filter(|was| moved.contains(was) && !used.contains(was))
                {
                    Some(from) => {
                        used.push(from.clone());
                        changes.push(FileChange::Rename {
                            from,
                            to: path,
                            text: now.text.into_new_text(),
                            executable,
                        });
                    }
                    None => changes.push(FileChange::Add {
                        path,
                        text: NewText::added(now.text.current().0.to_vec()),
                        executable,
                    }),
                }
            }
            (Some(base), Some(now)) => {
                let executable = now.executable;
                let (text, _) = now.text.current();
                if text != base.text {
                    let text = match now.was.as_ref() == Some(&path) {
                        true => now.text.into_new_text(),
                        false => NewText::new(base.text.clone(), line_edits(&base.text, &text)),
                    };
                    let path = path.clone();
                    changes.push(FileChange::Modify { path, text });
                }
                if executable != base.executable {
                    changes.push(FileChange::Mode { path, executable });
                }
            }
        }
    }
    changes
}
