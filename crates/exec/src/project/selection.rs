//! Reads `FILE[:LINE[-LINE]]`: a file, some of its lines, or a folder.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// A file, a range of its lines, or all files of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSelection {
    /// The file, or the folder.
    pub file: PathBuf,
    /// The first and the last line, from 1; all lines if `None`.
    pub lines: Option<(u32, u32)>,
}

/// Why a text is not a [`FileSelection`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?}: {problem}; write FILE, FILE:LINE or FILE:FIRST-LAST")]
pub struct SelectionError {
    /// What was written.
    pub text: OsString,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl FileSelection {
    /// Parses `FILE`, `FILE:LINE` or `FILE:FIRST-LAST`. A colon that no digit follows is a part of
    /// the file's name.
    ///
    /// # Errors
    /// An empty name, a line that is 0, too large or no number, or a range that ends before it
    /// starts.
    pub fn parse(text: &OsStr) -> Result<Self, SelectionError> {
        let error = |problem| SelectionError {
            text: text.to_owned(),
            problem,
        };
        let bytes = text.as_bytes();
        let colon = bytes.iter().rposition(|byte| *byte == b':');
        let split = colon.map(|colon| (&bytes[..colon], &bytes[colon + 1..]));
        let (file, lines) = match split {
            Some((file, [first, ..])) if first.is_ascii_digit() => {
                let lines = &bytes[file.len() + 1..];
                (file, Some(parse_lines(lines).map_err(error)?))
            }
            Some((_, [])) => return Err(error("the line is missing after the colon")),
            _ => (bytes, None),
        };
        if file.is_empty() {
            return Err(error("the name of the file is missing"));
        }
        Ok(FileSelection {
            file: OsStr::from_bytes(file).into(),
            lines,
        })
    }

    /// Whether `file`, or a part of it, is selected.
    pub fn covers(&self, file: &Path) -> bool {
        file.starts_with(&self.file)
    }

    /// Whether `line` (from 1) is selected. Without lines all are.
    pub fn contains_line(&self, line: u32) -> bool {
        self.lines
            .is_none_or(|(first, last)| (first..=last).contains(&line))
    }
}

fn parse_lines(bytes: &[u8]) -> Result<(u32, u32), &'static str> {
    let number = |digits: &[u8]| {
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err("a line is not a number");
        }
        let value = std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse().ok());
        match value {
            Some(0) => Err("lines are counted from 1"),
            Some(value) => Ok(value),
            None => Err("a line is too large"),
        }
    };
    let (first, last) = match bytes.iter().position(|byte| *byte == b'-') {
        Some(dash) => (number(&bytes[..dash])?, number(&bytes[dash + 1..])?),
        None => (number(bytes)?, number(bytes)?),
    };
    if last < first {
        return Err("the last line is before the first");
    }
    Ok((first, last))
}

impl fmt::Display for FileSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match self.lines {
            None => Ok(()),
            Some((first, last)) if first == last => write!(f, ":{first}"),
            Some((first, last)) => write!(f, ":{first}-{last}"),
        }
    }
}

impl std::str::FromStr for FileSelection {
    type Err = SelectionError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        FileSelection::parse(OsStr::new(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> Result<FileSelection, SelectionError> {
        text.parse()
    }

    #[test]
    fn files_lines_and_ranges_are_parsed() {
        let lines = |text| parse(text).unwrap().lines;
        assert_eq!(lines("src/pch.c"), None);
        assert_eq!(lines("main.c:20"), Some((20, 20)));
        assert_eq!(lines("lib.c:5-45"), Some((5, 45)));
        let odd = parse("a:b.c").unwrap();
        assert_eq!((odd.file, odd.lines), (PathBuf::from("a:b.c"), None));
        let odd = parse("a:b.c:3").unwrap();
        assert_eq!(
            (odd.file, odd.lines),
            (PathBuf::from("a:b.c"), Some((3, 3)))
        );
    }

    #[test]
    fn mistakes_are_explained() {
        let texts = [
            "",
            ":3",
            "a.c:",
            "a.c:0",
            "a.c:5-",
            "a.c:5-3",
            "a.c:5x",
            "a.c:1-2-3",
            "a.c:99999999999",
        ];
        let messages: Vec<String> = texts
            .iter()
            .map(|text| parse(text).unwrap_err().to_string())
            .collect();
        insta::assert_snapshot!(messages.join("\n"));
    }

    proptest! {
        #[test]
        fn a_printed_selection_is_parsed_to_itself(
            file in "[a-zA-Z0-9_./ '-]{1,20}",
            lines in proptest::option::of((1u32.., any::<u32>())),
        ) {
            let lines = lines.map(|(first, more)| (first, first.saturating_add(more)));
            let selection = FileSelection { file: file.into(), lines };
            prop_assert_eq!(parse(&selection.to_string()).unwrap(), selection);
        }

        #[test]
        fn any_bytes_are_parsed_without_panic(bytes: Vec<u8>) {
            if let Ok(selection) = FileSelection::parse(OsStr::from_bytes(&bytes)) {
                prop_assert!(!selection.file.as_os_str().is_empty());
                if let Some((first, last)) = selection.lines {
                    prop_assert!(1 <= first && first <= last);
                }
            }
        }
    }
}
