//! Parses unified diffs, before any tree is looked at.
//!
//! Two forms are read: git's, with its extended headers for renames, copies, modes, new and deleted files; and plain ones
//! (`diff -u`, with time stamps or without). Text before, between and behind the diffs of single files is skipped, as `patch(1)`
//! does. A hunk with more lines than its header says is an error here, while `patch(1)` skips these lines: a patch applied in
//! half is worse than one that is refused.

/// A parsed unified diff of any number of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// One for each file, in the order of the text; at least one.
    pub files: Vec<FileDiff>,
    /// Whether the last line had no newline and was given one.
    pub newline_added: bool,
    /// The number of hunks that have not as many lines as their headers say.
    pub recounted: usize,
}

/// Whether the line counts in hunk headers are believed. Language models often miscount them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counts {
    /// A hunk has as many lines as its header says. Where the diff makes no sense so, as the other way would read it.
    #[default]
    Corrected,
    /// A hunk goes on as long as there are lines that can be its own, as for `git apply --recount`. Empty lines at its end
    /// belong to the text around it.
    Ignored,
}

/// The part of a diff that changes one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// The line at which it begins, from 1.
    pub line: usize,
    /// Whether it has a line `diff --git`.
    pub git: bool,
    /// The name of the old file, with all of its leading parts.
    pub old: Name,
    /// The name of the new file.
    pub new: Name,
    /// Whether the diff makes the file.
    pub created: bool,
    /// Whether the diff removes the file.
    pub deleted: bool,
    /// `rename from` and `rename to`, or `copy from` and `copy to`; these have no leading part.
    pub moved: Option<Moved>,
    /// The mode that the file gets, where the diff changes it or makes the file.
    pub new_mode: Option<u32>,
    /// The hunks, in order.
    pub hunks: Vec<Hunk>,
}

/// A renaming or a copy, as git's extended headers write it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// The path of the source file, without a leading part.
    pub from: Vec<u8>,
    /// The path of the new file, without a leading part.
    pub to: Vec<u8>,
    /// Whether the source stays.
    pub copy: bool,
}

/// The name of a file in the header of a diff (`---` or `+++`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Name {
    /// The header has none.
    #[default]
    None,
    /// `/dev/null`
    DevNull,
    /// A path.
    Path(Vec<u8>),
}

/// One hunk: lines that a diff removes and adds, with the lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// The line of the diff at which it begins, from 1.
    pub line: usize,
    /// The line of the old file at which it begins, as written: from 1, or the line before an
    /// insertion.
    pub old_start: usize,
    /// Its lines.
    pub lines: Vec<HunkLine>,
}

/// One line of a hunk, with the side to which it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    /// Whether it is in the old text, the new one, or both.
    pub side: Side,
    /// Its text; with a newline, unless the diff says that there is none.
    pub text: Vec<u8>,
}

/// Whether a line of a hunk stands in the old text, in the new text, or in both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In both texts.
    Context,
    /// In the old text.
    Old,
    /// In the new text.
    New,
}

/// Why [`parse`] cannot read a diff, and in which line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct DiffError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

/// Parses a unified diff, git's or plain. Text before, between and behind the parts of single files is
/// skipped.
///
/// # Errors
/// A text without any diff of a file, binary diffs, other forms of diffs, and hunks whose lines cannot be told apart from the text
/// around them.
pub fn parse(text: &[u8], counts: Counts) -> Result<Diff, DiffError> {
    match (read(text, counts), counts) {
        // The first error names what is wrong; that of a text which is no diff either way.
        (Err(error), Counts::Corrected) => match read(text, Counts::Ignored) {
            Ok(diff) if diff.recounted > 0 => Ok(diff),
            _ => Err(error),
        },
        (diff, _) => diff,
    }
}

fn read(text: &[u8], counts: Counts) -> Result<Diff, DiffError> {
    let newline_added = text.last().is_some_and(|byte| *byte != b'\n');
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let mut parser = Parser {
        lines,
        at: 0,
        counts,
        recounted: 0,
    };
    let mut files: Vec<FileDiff> = Vec::new();
    while let Some(line) = parser.peek() {
        if line.starts_with(b"diff --git ") {
            files.push(parser.git_file()?);
        } else if parser.at_plain_header() {
            files.push(parser.plain_file()?);
        } else if is_hunk_header(line) {
            return Err(parser.error("a hunk without the names of its file (--- and +++) above it"));
        } else if line.starts_with(b"Binary files ") && line.trim_ascii_end().ends_with(b"differ") {
            return Err(parser.error(BINARY));
        } else if parser.at_context_diff() {
            return Err(
                parser.error("a context diff; only unified diffs are read (diff -u, git diff)")
            );
        } else {
            parser.at += 1;
        }
    }
    if files.is_empty() {
        return Err(DiffError {
            line: 1,
            message: if text.trim_ascii().is_empty() {
                "the patch is empty".into()
            } else {
                "there is no unified diff in this text (no --- and +++ lines, no diff --git)".into()
            },
        });
    }
    Ok(Diff {
        files,
        newline_added,
        recounted: parser.recounted,
    })
}

const BINARY: &str = "a binary file; only text can be patched";

struct Parser<'t> {
    lines: Vec<&'t [u8]>,
    at: usize,
    counts: Counts,
    recounted: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t [u8]> {
        self.lines.get(self.at).copied()
    }

    fn error(&self, message: impl Into<String>) -> DiffError {
        DiffError {
            line: self.at + 1,
            message: message.into(),
        }
    }

    fn at_plain_header(&self) -> bool {
        let next = self.lines.get(self.at + 1);
        self.lines[self.at].starts_with(b"--- ") && next.is_some_and(|l| l.starts_with(b"+++ "))
    }

    fn at_context_diff(&self) -> bool {
        let next = self.lines.get(self.at + 1);
        self.lines[self.at].starts_with(b"*** ") && next.is_some_and(|l| l.starts_with(b"--- "))
    }

    fn plain_file(&mut self) -> Result<FileDiff, DiffError> {
        let mut file = FileDiff {
            line: self.at + 1,
            ..FileDiff::default()
        };
        self.names(&mut file)?;
        if !self.peek().is_some_and(is_hunk_header) {
            return Err(self.error("the header of a file without a hunk (@@ -a,b +c,d @@)"));
        }
        self.hunks(&mut file)?;
        Ok(file)
    }

    /// `---` and `+++`, which are the next two lines.
    fn names(&mut self, file: &mut FileDiff) -> Result<(), DiffError> {
        let (old, old_gone) = name(&self.lines[self.at][4..]).map_err(|m| self.error(m))?;
        self.at += 1;
        let (new, new_gone) = name(&self.lines[self.at][4..]).map_err(|m| self.error(m))?;
        self.at += 1;
        file.created |= old == Name::DevNull || old_gone;
        file.deleted |= new == Name::DevNull || new_gone;
        if old == Name::DevNull && new == Name::DevNull {
            self.at -= 1;
            return Err(self.error("both names are /dev/null"));
        }
        (file.old, file.new) = (old, new);
        Ok(())
    }

    fn git_file(&mut self) -> Result<FileDiff, DiffError> {
        let mut file = FileDiff {
            line: self.at + 1,
            git: true,
            ..FileDiff::default()
        };
        let line = self.lines[self.at];
        if let Some((old, new)) = git_names(trim_end(&line[b"diff --git ".len()..])) {
            (file.old, file.new) = (Name::Path(old), Name::Path(new));
        }
        self.at += 1;
        while let Some(line) = self.peek() {
            let after = |key: &str| line.strip_prefix(key.as_bytes()).map(trim_end);
            let path = |text: &[u8]| unquote(text).map_err(|message| self.error(message));
            let mode = |text: &[u8]| {
                let text = std::str::from_utf8(text).unwrap_or_default();
                u32::from_str_radix(text, 8).map_err(|_| self.error("a mode that is no number"))
            };
            if let Some(text) = after("rename from ").or_else(|| after("copy from ")) {
                let moved = file.moved.get_or_insert_default();
                moved.from = path(text)?;
                moved.copy = line.starts_with(b"copy");
            } else if let Some(text) = after("rename to ").or_else(|| after("copy to ")) {
                file.moved.get_or_insert_default().to = path(text)?;
            } else if let Some(text) = after("new mode ") {
                file.new_mode = Some(mode(text)?);
            } else if let Some(text) = after("new file mode ") {
                file.new_mode = Some(mode(text)?);
                file.created = true;
            } else if after("deleted file mode ").is_some() {
                file.deleted = true;
            } else if line.starts_with(b"GIT binary patch") || line.starts_with(b"Binary files ") {
                return Err(self.error(BINARY));
            } else if ![
                "old mode ",
                "index ",
                "similarity index ",
                "dissimilarity index ",
            ]
            .iter()
            .any(|key| line.starts_with(key.as_bytes()))
            {
                break;
            }
            self.at += 1;
        }
        if self.peek().is_some() && self.at_plain_header() {
            self.names(&mut file)?;
            if !self.peek().is_some_and(is_hunk_header) {
                return Err(self.error("the header of a file without a hunk (@@ -a,b +c,d @@)"));
            }
            self.hunks(&mut file)?;
        }
        if file.old == Name::None && file.moved.is_none() {
            return Err(DiffError {
                line: file.line,
                message: "the names on this line cannot be told apart".into(),
            });
        }
        if let Some(moved) = &file.moved
            && (moved.from.is_empty() || moved.to.is_empty())
        {
            return Err(DiffError {
                line: file.line,
                message: "a rename or copy without both of its names".into(),
            });
        }
        Ok(file)
    }

    fn hunks(&mut self, file: &mut FileDiff) -> Result<(), DiffError> {
        while let Some(line) = self.peek().filter(|line| is_hunk_header(line)) {
            let header = hunk_header(line)
                .ok_or_else(|| self.error("a hunk's header is `@@ -line,count +line,count @@`"))?;
            let header = match self.counts {
                Counts::Corrected => header,
                Counts::Ignored => self.recount(header),
            };
            file.hunks.push(self.hunk(header)?);
            let rest = &self.lines[self.at..];
            let empty = rest.iter().take_while(|line| line.trim_ascii().is_empty());
            let empty = empty.count();
            let goes_on = rest.get(empty).is_some_and(|line| is_hunk_header(line));
            if self.counts == Counts::Ignored && goes_on {
                self.at += empty;
            }
        }
        Ok(())
    }

    /// The header that the hunk below should have.
    fn recount(&mut self, header: HunkHeader) -> HunkHeader {
        let start = self.at;
        let (mut old, mut new) = (0, 0);
        // Of empty lines it is not known whether they belong to the hunk before another one follows that does.
        let mut empty = 0;
        self.at += 1;
        while let Some(line) = self.peek() {
            let is_end = self.at_plain_header() || line.trim_ascii_end() == b"--";
            match line[0] {
                _ if is_end => break,
                b'\n' | b'\r' => empty += 1,
                b' ' | b'-' | b'+' => {
                    old += empty + usize::from(line[0] != b'+');
                    new += empty + usize::from(line[0] != b'-');
                    empty = 0;
                }
                b'\\' => {}
                _ => break,
            }
            self.at += 1;
        }
        self.at = start;
        self.recounted += usize::from((old, new) != (header.old_count, header.new_count));
        HunkHeader {
            old_count: old,
            new_count: new,
            ..header
        }
    }

    fn hunk(&mut self, header: HunkHeader) -> Result<Hunk, DiffError> {
        let mut hunk = Hunk {
            line: self.at + 1,
            old_start: header.old_start,
            lines: Vec::new(),
        };
        let start = self.at;
        self.at += 1;
        let (mut old, mut new) = (0, 0);
        while old < header.old_count || new < header.new_count {
            let short = |at: usize, old: usize, new: usize| DiffError {
                line: start + 1,
                message: format!(
                    "the hunk says {} old and {} new lines but has {old} and {new} (line {})",
                    header.old_count,
                    header.new_count,
                    at + 1
                ),
            };
            let Some(line) = self.peek() else {
                return Err(short(self.at, old, new));
            };
            let (side, text) = match line[0] {
                b' ' => (Side::Context, &line[1..]),
                b'-' => (Side::Old, &line[1..]),
                b'+' => (Side::New, &line[1..]),
                // Mail programs and editors strip the blank of an empty context line.
                b'\n' => (Side::Context, line),
                b'\r' if line == b"\r\n" => (Side::Context, line),
                b'\\' => {
                    self.no_newline(&mut hunk)?;
                    continue;
                }
                _ => return Err(short(self.at, old, new)),
            };
            old += usize::from(side != Side::New);
            new += usize::from(side != Side::Old);
            if old > header.old_count || new > header.new_count {
                return Err(short(self.at, old, new));
            }
            let mut text = text.to_vec();
            if !text.ends_with(b"\n") {
                // The last line of the diff.
                text.push(b'\n');
            }
            hunk.lines.push(HunkLine { side, text });
            self.at += 1;
        }
        if self.peek().is_some_and(|line| line[0] == b'\\') {
            self.no_newline(&mut hunk)?;
        }
        if !hunk.lines.iter().any(|line| line.side != Side::Context) {
            return Err(DiffError {
                line: start + 1,
                message: "the hunk changes nothing".into(),
            });
        }
        let more = self.peek().is_some_and(|line| {
            let signature = line.trim_ascii_end() == b"--";
            matches!(line[0], b' ' | b'+' | b'-') && !signature && !self.at_plain_header()
        });
        if more {
            return Err(self.error(format!(
                "the hunk above says {} old and {} new lines but goes on",
                header.old_count, header.new_count
            )));
        }
        Ok(hunk)
    }

    /// `\ No newline at end of file`, for the line above it.
    fn no_newline(&mut self, hunk: &mut Hunk) -> Result<(), DiffError> {
        let Some(last) = hunk.lines.last_mut() else {
            return Err(self.error("`\\ No newline` without a line above it"));
        };
        if last.text.ends_with(b"\n") {
            last.text.pop();
        }
        self.at += 1;
        Ok(())
    }
}

fn trim_end(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}

fn is_hunk_header(line: &[u8]) -> bool {
    line.starts_with(b"@@ ") || line.starts_with(b"@@-")
}

struct HunkHeader {
    old_start: usize,
    old_count: usize,
    new_count: usize,
}

fn hunk_header(line: &[u8]) -> Option<HunkHeader> {
    let text = std::str::from_utf8(line.get(2..)?)
        .or_else(|error| std::str::from_utf8(&line[2..2 + error.valid_up_to()]))
        .ok()?;
    let (ranges, _) = text.split_once("@@")?;
    let mut words = ranges.split_whitespace();
    let (old, new) = (words.next()?, words.next()?);
    let range = |word: &str| -> Option<(usize, usize)> {
        let number = |text: &str| text.parse::<u32>().ok().map(|n| n as usize);
        match word.split_once(',') {
            Some((start, count)) => Some((number(start)?, number(count)?)),
            None => Some((number(word)?, 1)),
        }
    };
    let (old_start, old_count) = range(old.strip_prefix('-')?)?;
    let (_, new_count) = range(new.strip_prefix('+')?)?;
    (words.next().is_none()).then_some(HunkHeader {
        old_start,
        old_count,
        new_count,
    })
}

/// The name behind `---` or `+++`, and whether its time stamp is that of a file that is not there.
fn name(text: &[u8]) -> Result<(Name, bool), String> {
    // GNU diff quotes as git does, and writes a time stamp behind the quotes, too.
    let end = match text.strip_prefix(b"\"").and_then(unquote_prefix) {
        Some((_, rest)) => text.len() - rest.len(),
        None => text
            .iter()
            .position(|byte| *byte == b'\t')
            .unwrap_or(text.len()),
    };
    let (text, rest) = text.split_at(end);
    let (text, stamp) = match rest.strip_prefix(b"\t") {
        Some(stamp) => (text.to_vec(), trim_end(stamp)),
        None => (trim_end(&[text, rest].concat()).to_vec(), &[][..]),
    };
    if text == b"/dev/null" {
        return Ok((Name::DevNull, true));
    }
    if text.is_empty() {
        return Err("a file without a name".into());
    }
    Ok((Name::Path(unquote(&text)?), is_epoch(stamp)))
}

/// Whether a time stamp such as `1970-01-01 01:00:00.000000000 +0100` is that of the epoch, by
/// which `diff -N` says that a file is not there.
fn is_epoch(stamp: &[u8]) -> bool {
    let seconds = (|| {
        let text = std::str::from_utf8(stamp).ok()?;
        let mut words = text.split_whitespace();
        let day = match words.next()? {
            "1970-01-01" => 0,
            "1969-12-31" => -86_400,
            _ => return None,
        };
        let time = words.next()?;
        let mut parts = time.split('.').next()?.split(':');
        let mut part = || parts.next()?.parse::<i64>().ok();
        let (hours, minutes, seconds) = (part()?, part()?, part().unwrap_or(0));
        let zone = match words.next() {
            None => 0,
            Some(zone) => {
                let (sign, digits) = zone.split_at_checked(1)?;
                let digits: i64 = digits.parse().ok()?;
                let seconds = digits / 100 * 3600 + digits % 100 * 60;
                if sign == "-" { -seconds } else { seconds }
            }
        };
        Some(day + hours * 3600 + minutes * 60 + seconds - zone)
    })();
    seconds == Some(0)
}

/// A name as git writes it: in quotes, with C's escapes, if it has odd bytes.
fn unquote(text: &[u8]) -> Result<Vec<u8>, String> {
    let Some(quoted) = text.strip_prefix(b"\"") else {
        return Ok(text.to_vec());
    };
    match unquote_prefix(quoted) {
        Some((name, [])) => Ok(name),
        _ => Err(format!(
            "{} is not quoted as git quotes names",
            String::from_utf8_lossy(text)
        )),
    }
}

/// The name up to the closing quote, and what follows it.
fn unquote_prefix(quoted: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut name = Vec::new();
    let mut rest = quoted;
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (&escaped, after) = rest.split_first()?;
                rest = after;
                name.push(match escaped {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => escaped,
                    b'0'..=b'3' => {
                        let digits = [escaped, *rest.first()?, *rest.get(1)?];
                        rest = &rest[2..];
                        let text = std::str::from_utf8(&digits).ok()?;
                        u8::from_str_radix(text, 8).ok()?
                    }
                    _ => return None,
                });
            }
            byte => name.push(byte),
        }
    }
}

/// The two names on a line `diff --git`. Unquoted names may have blanks; then they can be told
/// apart only where both are the same but for their first part.
fn git_names(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    if let Some(quoted) = text.strip_prefix(b"\"") {
        let (old, rest) = unquote_prefix(quoted)?;
        return Some((old, unquote(rest.strip_prefix(b" ")?).ok()?));
    }
    if text.ends_with(b"\"") {
        let at = text.windows(2).position(|pair| pair == b" \"")?;
        return Some((text[..at].to_vec(), unquote(&text[at + 1..]).ok()?));
    }
    let without_first = |name: &[u8]| {
        let slash = name.iter().position(|byte| *byte == b'/')?;
        Some(name[slash + 1..].to_vec())
    };
    let blanks = || (0..text.len()).filter(|at| text[*at] == b' ');
    let split = |at: usize| (text[..at].to_vec(), text[at + 1..].to_vec());
    let same = blanks().map(split).find(|(old, new)| {
        old == new || without_first(old).is_some() && without_first(old) == without_first(new)
    });
    same.or_else(|| {
        // Of a renaming: names without blanks.
        let mut blanks = blanks();
        let at = blanks.next()?;
        blanks.next().is_none().then(|| split(at))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Name {
        Name::Path(text.as_bytes().to_vec())
    }

    fn message(text: &str) -> String {
        parse(text.as_bytes(), Counts::Corrected)
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn a_plain_diff_is_read() {
        let diff = parse(
            b"hello\n--- x.c.orig\t2020-01-01 00:00:00.0 +0000\n+++ x.c\t2020-01-02 00:00:00 +0000\n\
              @@ -1,2 +1,2 @@ int f(void)\n-a\n+b\n c\n",
            Counts::Corrected,
        )
        .unwrap();
        let file = &diff.files[0];
        assert_eq!((&file.old, &file.new), (&path("x.c.orig"), &path("x.c")));
        assert!(!file.git && !file.created && !file.deleted);
        assert_eq!(file.line, 2);
        assert_eq!(file.hunks[0].lines.len(), 3);
        assert_eq!(file.hunks[0].old_start, 1);
    }

    #[test]
    fn extended_headers_of_git_are_read() {
        let diff = parse(
            b"diff --git a/old name b/new name\nsimilarity index 90%\nrename from old name\n\
              rename to new name\nold mode 100644\nnew mode 100755\n\
              diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1..0\n\
              diff --git a/made b/made\nnew file mode 100644\n--- /dev/null\n+++ b/made\n@@ -0,0 +1 @@\n+x\n-- \n2.39.5\n",
            Counts::Corrected,
        )
        .unwrap();
        let [renamed, gone, made] = &diff.files[..] else {
            panic!("{diff:?}")
        };
        let moved = renamed.moved.as_ref().unwrap();
        assert_eq!(
            (&moved.from[..], &moved.to[..]),
            (&b"old name"[..], &b"new name"[..])
        );
        assert_eq!(renamed.new_mode, Some(0o100755));
        assert!(gone.deleted && gone.hunks.is_empty());
        assert_eq!(gone.old, path("a/gone"));
        assert!(made.created);
        assert_eq!(made.old, Name::DevNull);
    }

    #[test]
    fn epochs_of_all_time_zones_mean_that_a_file_is_not_there() {
        for stamp in [
            "1970-01-01 00:00:00.000000000 +0000",
            "1970-01-01 01:00:00 +0100",
            "1969-12-31 19:00:00.000000000 -0500",
        ] {
            assert!(is_epoch(stamp.as_bytes()), "{stamp}");
        }
        assert!(!is_epoch(b"1970-01-01 01:00:00 +0000"));
        assert!(!is_epoch(b""));
    }

    #[test]
    fn names_are_unquoted() {
        assert_eq!(
            unquote(br#""b/\303\244\"\n.c""#).unwrap(),
            "b/\u{e4}\"\n.c".as_bytes()
        );
        assert!(unquote(br#""b/x"#).is_err());
        // As GNU diff writes it.
        let stamped = b"\"a/a b/t\\303\\244st.c\"\t1970-01-01 00:00:00.000000000 +0000\n";
        let expected = Name::Path("a/a b/täst.c".into());
        assert_eq!(name(stamped), Ok((expected, true)));
        assert_eq!(
            git_names(b"a/x y.c b/x y.c").unwrap(),
            (b"a/x y.c".to_vec(), b"b/x y.c".to_vec())
        );
    }

    #[test]
    fn broken_diffs_are_refused_with_the_line() {
        assert_eq!(
            message("--- a\n+++ b\n@@ -1,3 +1,2 @@\n x\n"),
            "line 3: the hunk says 3 old and 2 new lines but has 1 and 1 (line 5)"
        );
        assert!(message("--- a\n+++ b\n@@ -1 +1\n-x\n+y\n").contains("header is"));
        assert!(message("diff --git a/x b/x\nGIT binary patch\nliteral 0\n").contains("binary"));
        assert!(message("Binary files a and b differ\n").contains("binary"));
        assert!(message("*** a\n--- b\n***************\n*** 1 ****\n").contains("context diff"));
        assert!(message("@@ -1 +1 @@\n-x\n+y\n").contains("without the names"));
        assert!(message("--- a\n+++ b\n").contains("without a hunk"));
        assert!(message("no patch here\n").contains("no unified diff"));
        assert!(message(" \n").contains("empty"));
    }

    #[test]
    fn blanks_that_editors_strip_are_forgiven() {
        let diff = parse(
            b"--- a\n+++ b\n@@ -1,3 +1,3 @@\n x\n\n-y\n+z",
            Counts::Corrected,
        )
        .unwrap();
        assert!(diff.newline_added);
        let lines = &diff.files[0].hunks[0].lines;
        assert_eq!(lines[1].text, b"\n");
        assert_eq!(lines[3].text, b"z\n");
    }

    #[test]
    fn a_missing_newline_belongs_to_the_line_above() {
        let text = b"--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n";
        let diff = parse(text, Counts::Corrected).unwrap();
        let texts: Vec<&[u8]> = diff.files[0].hunks[0]
            .lines
            .iter()
            .map(|l| &l.text[..])
            .collect();
        assert_eq!(texts, [&b"x"[..], b"y\n"]);
    }

    #[test]
    fn lines_are_counted_up_to_what_cannot_be_of_the_hunk() {
        let text = "--- a\n+++ b\n@@ -1,9 +1 @@\n x\n\n-y\n+z\n\n@@ -8,2 +8,2 @@\n-v\n+w\n u\n\n\
                    --- c\n+++ d\n@@ -1,3 +1,3 @@\n-p\n+q\n-- \n2.0\n";
        let diff = parse(text.as_bytes(), Counts::Ignored).unwrap();
        assert_eq!(diff.recounted, 2);
        assert_eq!(parse(text.as_bytes(), Counts::Corrected).unwrap(), diff);
        let hunks = diff.files.iter().flat_map(|file| &file.hunks);
        let counts: Vec<usize> = hunks.map(|hunk| hunk.lines.len()).collect();
        assert_eq!(counts, [4, 3, 2]);
    }
}
