//! Reads sets of patches from files, folders and standard input.
//!
//! What is read, by content and not by name:
//!
//! | form | patches | their ids |
//! | --- | --- | --- |
//! | a unified diff | one for each file, whatever number of files it changes | the file as it was named |
//! | JSON lines, or JSON values one after the other | one for each object | `id`, `instance_id` or `name`; else `FILE:LINE`, and for further ones in the line `FILE:LINE:NUMBER` |
//! | a JSON object of such objects | one for each of them | the same, else the key |
//! | a JSON array of such objects | one for each object | the same |
//! | ExpressAPR's manifest, version 2 or 3 | one for each string of `patches` | `FILE[NUMBER]`, from 0 |
//!
//! In objects the diff is `patch`, `model_patch` or `diff`; `null` is an empty one. Of a manifest, `filename` is the file,
//! which must consist of `context_above`, `unpatched` and `context_below`; each of `patches` comes
//! in the place of `unpatched`. `interface`, `bug`, `project` and `version` name the program in
//! ExpressAPR's benchmarks and are not looked at.
//!
//! A folder stands for all files in it, at any depth, whose names end in `.diff`, `.patch`,
//! `.json`, `.jsonl` or `.ndjson`, in the order of their names with numbers by their value.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use crate::model::{Body, Origin, PatchId, RawPatch};

/// A file, a folder or standard input from which patches are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file or a folder.
    Path(PathBuf),
    /// Standard input, named `-`.
    Stdin,
}

/// Why patches cannot be read, with file and line.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// A file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A folder without patches.
    #[error(
        "{} has no patches: no file whose name ends in .diff, .patch, .json, .jsonl or .ndjson",
        folder.display()
    )]
    EmptyFolder {
        /// The folder.
        folder: PathBuf,
    },
    /// JSON that is none, or not of a form that is known.
    #[error("{}:{line}: {message}", file.display())]
    Json {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what to do.
        message: String,
    },
    /// Two patches with the same id.
    #[error("two patches are called {id:?}: {first} and {second}; give each an id of its own")]
    SameId {
        /// The id.
        id: String,
        /// Where the first is.
        first: Origin,
        /// Where the second is.
        second: Origin,
    },
    /// No patch at all.
    #[error(
        "there are no patches; name diffs, folders of diffs or JSON lines, or - to read them from standard input"
    )]
    NoPatches,
}

/// Iterates over the raw patches of some sources. It reads them one at a time, so large sets need little
/// memory.
pub struct Inputs<'s> {
    files: std::vec::IntoIter<Source>,
    stdin: &'s mut dyn Read,
    /// Read, and not yet given.
    pending: std::vec::IntoIter<RawPatch>,
    /// The rest of the file of JSON that is being read.
    json: Option<Json>,
    seen: HashMap<String, Origin>,
    failed: bool,
}

/// Returns an iterator over the patches of `sources`, in their order. `stdin` stands for standard input.
///
/// # Errors
/// Folders that cannot be listed, and having no source. What is wrong with a file comes as an item.
pub fn read_inputs<'s>(
    sources: &[Source],
    stdin: &'s mut dyn Read,
) -> Result<Inputs<'s>, InputError> {
    if sources.is_empty() {
        return Err(InputError::NoPatches);
    }
    let mut files = Vec::new();
    for source in sources {
        match source {
            Source::Path(path) if path.is_dir() => {
                let before = files.len();
                list(path, &mut files)?;
                if files.len() == before {
                    return Err(InputError::EmptyFolder {
                        folder: path.clone(),
                    });
                }
            }
            other => files.push(other.clone()),
        }
    }
    Ok(Inputs {
        files: files.into_iter(),
        stdin,
        pending: Vec::new().into_iter(),
        json: None,
        seen: HashMap::new(),
        failed: false,
    })
}

/// The patches of a line of JSON, which is line `line` of `file`. Only their ids within the line are compared.
///
/// # Errors
/// A line that is no JSON of patches.
pub fn read_json_line(file: &Path, line: usize, text: &[u8]) -> Result<Vec<RawPatch>, InputError> {
    let mut json = Json {
        path: file.to_path_buf(),
        text: text.to_vec(),
        offset: 0,
        line,
        in_line: (0, 0),
    };
    let mut found = Vec::new();
    while let Some(patches) = json.next_patches()? {
        found.extend(patches);
    }
    Ok(found)
}

impl Iterator for Inputs<'_> {
    type Item = Result<RawPatch, InputError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.failed {
                return None;
            }
            if let Some(patch) = self.pending.next() {
                let id = patch.id.0.clone();
                if let Some(first) = self.seen.insert(id.clone(), patch.origin.clone()) {
                    self.failed = true;
                    return Some(Err(InputError::SameId {
                        id,
                        first,
                        second: patch.origin,
                    }));
                }
                return Some(Ok(patch));
            }
            let more = match &mut self.json {
                Some(json) => json.next_patches(),
                None => match self.files.next() {
                    Some(source) => self.read(source),
                    None => {
                        self.failed = true;
                        return self.seen.is_empty().then_some(Err(InputError::NoPatches));
                    }
                },
            };
            match more {
                Ok(Some(patches)) => self.pending = patches.into_iter(),
                Ok(None) => self.json = None,
                Err(error) => {
                    self.failed = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

impl Inputs<'_> {
    /// Reads a file: its only patch, or the beginning of one of JSON.
    fn read(&mut self, source: Source) -> Result<Option<Vec<RawPatch>>, InputError> {
        let (path, text) = match source {
            Source::Path(path) => (path.clone(), std::fs::read(&path).map_err(|e| (path, e))),
            Source::Stdin => {
                let mut text = Vec::new();
                let read = self.stdin.read_to_end(&mut text);
                let path = PathBuf::from("-");
                (path.clone(), read.map(|_| text).map_err(|e| (path, e)))
            }
        };
        let mut text = text.map_err(|(path, source)| InputError::Read { path, source })?;
        // A byte order mark, as editors on Windows write it.
        if text.starts_with(b"\xef\xbb\xbf") {
            text.drain(..3);
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        if text.trim_ascii().is_empty()
            && let Some("json" | "jsonl" | "ndjson") = extension
        {
            return Ok(Some(Vec::new()));
        }
        if let Some(b'{' | b'[') = text.trim_ascii_start().first() {
            self.json = Some(Json {
                path,
                text,
                offset: 0,
                line: 1,
                in_line: (0, 0),
            });
            return Ok(Some(Vec::new()));
        }
        Ok(Some(vec![RawPatch {
            id: PatchId(path.to_string_lossy().into_owned()),
            origin: Origin {
                file: path,
                line: 1,
                lines_are_of_file: true,
            },
            body: Body::Diff(text),
        }]))
    }
}

/// A file of JSON values, read one at a time.
struct Json {
    path: PathBuf,
    text: Vec<u8>,
    /// Where the next value begins, or blanks before it.
    offset: usize,
    /// The line of that place, from 1.
    line: usize,
    /// The line in which the last value began, and how many have begun there.
    in_line: (usize, usize),
}

impl Json {
    /// The patches of the next value; `None` at the end.
    fn next_patches(&mut self) -> Result<Option<Vec<RawPatch>>, InputError> {
        let rest = &self.text[self.offset..];
        let blank = rest.len() - rest.trim_ascii_start().len();
        self.skip(blank);
        let (path, line) = (&self.path, self.line);
        self.in_line = match self.in_line {
            (last, count) if last == line => (line, count + 1),
            _ => (line, 1),
        };
        let number_in_line = self.in_line.1;
        let rest = &self.text[self.offset..];
        let error = |line: usize, message: String| InputError::Json {
            file: path.clone(),
            line,
            message,
        };
        let broken = |e: serde_json::Error| {
            // A newline in a string is told as the beginning of the next line.
            let is_cut = e.is_syntax() && e.column() == 0 && e.line() > 1;
            let message = match is_cut {
                true => "this is not JSON of a patch: the line ends in the middle of a string"
                    .to_owned(),
                false => format!("this is not JSON of a patch: {e}"),
            };
            let at = e.line().max(1) - usize::from(is_cut);
            error(line + at - 1, message)
        };
        let mut patches = Vec::new();
        let read = match rest.first() {
            None => return Ok(None),
            Some(b'[') => {
                let mut values =
                    serde_json::Deserializer::from_slice(rest).into_iter::<Vec<Object>>();
                let objects = values.next().transpose().map_err(broken)?;
                // The lines of an array's objects are not known; they are told apart by their
                // number.
                for (number, object) in objects.unwrap_or_default().into_iter().enumerate() {
                    let id = format!("{}[{number}]", path.display());
                    let added = object.patches(path, line, id, &mut patches);
                    added.map_err(|message| error(line, message))?;
                }
                values.byte_offset()
            }
            Some(_) => {
                let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<Object>();
                let object = values.next().transpose().map_err(broken)?;
                let end = values.byte_offset();
                let id = match number_in_line {
                    1 => format!("{}:{line}", path.display()),
                    number => format!("{}:{line}:{number}", path.display()),
                };
                let objects: Vec<(String, Object)> = match object {
                    None => Vec::new(),
                    Some(object) if object.is_patch() => vec![(id, object)],
                    Some(object) => match serde_json::from_slice::<Keyed>(&rest[..end]) {
                        Ok(keyed) if !keyed.0.is_empty() => keyed.0,
                        _ => vec![(id, object)],
                    },
                };
                for (id, object) in objects {
                    let added = object.patches(path, line, id, &mut patches);
                    added.map_err(|message| error(line, message))?;
                }
                end
            }
        };
        self.skip(read.max(1));
        Ok(Some(patches))
    }

    fn skip(&mut self, bytes: usize) {
        let end = (self.offset + bytes).min(self.text.len());
        let skipped = &self.text[self.offset..end];
        self.line += skipped.iter().filter(|byte| **byte == b'\n').count();
        self.offset = end;
    }
}

/// An object that has a patch, or a manifest of ExpressAPR.
#[derive(Deserialize)]
struct Object {
    id: Option<serde_json::Value>,
    instance_id: Option<serde_json::Value>,
    name: Option<serde_json::Value>,
    #[serde(default, deserialize_with = "present")]
    patch: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    model_patch: Option<Option<String>>,
    #[serde(default, deserialize_with = "present")]
    diff: Option<Option<String>>,
    manifest_version: Option<u64>,
    filename: Option<String>,
    context_above: Option<String>,
    context_below: Option<String>,
    unpatched: Option<String>,
    patches: Option<Vec<String>>,
}

/// A key that is there, whatever its value.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Objects by their ids, in the order in which they are written.
struct Keyed(Vec<(String, Object)>);

impl<'de> Deserialize<'de> for Keyed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> serde::de::Visitor<'de> for Entries {
            type Value = Keyed;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("patches by their ids")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Keyed, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Keyed(entries))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

impl Object {
    /// Whether it is a manifest, or names a patch, also an empty one.
    fn is_patch(&self) -> bool {
        let named = [&self.patch, &self.model_patch, &self.diff];
        self.manifest_version.is_some() || named.iter().any(|named| named.is_some())
    }

    fn patches(
        self,
        path: &Path,
        line: usize,
        default_id: String,
        patches: &mut Vec<RawPatch>,
    ) -> Result<(), String> {
        let origin = Origin {
            file: path.to_path_buf(),
            line,
            lines_are_of_file: false,
        };
        if let Some(version) = self.manifest_version {
            if !(2..=3).contains(&version) {
                return Err(format!(
                    "manifest_version {version} is not known; versions 2 and 3 are"
                ));
            }
            let (Some(file), Some(above), Some(below), Some(unpatched), Some(new)) = (
                self.filename,
                self.context_above,
                self.context_below,
                self.unpatched,
                self.patches,
            ) else {
                return Err(
                    "a manifest needs filename, context_above, unpatched, context_below and patches"
                        .into(),
                );
            };
            let [above, unpatched, below] =
                [above, unpatched, below].map(|text| -> Arc<str> { text.into() });
            for (number, new) in new.into_iter().enumerate() {
                patches.push(RawPatch {
                    id: PatchId(format!("{}[{number}]", path.display())),
                    origin: origin.clone(),
                    body: Body::Replace {
                        file: file.clone(),
                        above: above.clone(),
                        unpatched: unpatched.clone(),
                        below: below.clone(),
                        new,
                    },
                });
            }
            return Ok(());
        }
        let named = [self.patch, self.model_patch, self.diff];
        let is_named = named.iter().any(Option::is_some);
        // `null` is what programs write that have found no patch: an empty one, whose verdict says so.
        let mut values = named.into_iter().flatten().flatten();
        let Some(diff) = values.next().or(is_named.then(String::new)) else {
            return Err(
                "an object without a patch; it is the value of \"patch\", \"model_patch\" or \"diff\""
                    .into(),
            );
        };
        let id = match self.id.or(self.instance_id).or(self.name) {
            None => default_id,
            Some(serde_json::Value::String(text)) => text,
            Some(serde_json::Value::Number(number)) => number.to_string(),
            Some(_) => return Err("an id is a string or a number".into()),
        };
        if id.is_empty() || id.chars().any(char::is_control) {
            return Err(format!(
                "{id:?} cannot be the id of a patch: it is empty or cannot be printed"
            ));
        }
        patches.push(RawPatch {
            id: PatchId(id),
            origin,
            body: Body::Diff(diff.into_bytes()),
        });
        Ok(())
    }
}

/// The files with patches below a folder.
fn list(folder: &Path, files: &mut Vec<Source>) -> Result<(), InputError> {
    let failed = |source| InputError::Read {
        path: folder.to_path_buf(),
        source,
    };
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .map_err(failed)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(failed)?;
    entries.sort_by(|a, b| natural(&a.to_string_lossy(), &b.to_string_lossy()));
    for path in entries {
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() {
            list(&path, files)?;
        } else if let Some("diff" | "patch" | "json" | "jsonl" | "ndjson") = extension {
            files.push(Source::Path(path));
        }
    }
    Ok(())
}

/// Compares names with the numbers in them by their value: `2.diff` comes before `10.diff`.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.as_bytes(), b.as_bytes());
    while let (Some(x), Some(y)) = (left.first(), right.first()) {
        if x.is_ascii_digit() && y.is_ascii_digit() {
            let number = |text: &[u8]| {
                let end = text.iter().take_while(|b| b.is_ascii_digit()).count();
                let zeros = text[..end].iter().take_while(|b| **b == b'0').count();
                (zeros, end)
            };
            let ((zeros_a, end_a), (zeros_b, end_b)) = (number(left), number(right));
            let (a, b) = (&left[zeros_a..end_a], &right[zeros_b..end_b]);
            let order = a.len().cmp(&b.len()).then_with(|| a.cmp(b));
            if order != Ordering::Equal {
                return order;
            }
            (left, right) = (&left[end_a..], &right[end_b..]);
        } else {
            if x != y {
                return x.cmp(y);
            }
            (left, right) = (&left[1..], &right[1..]);
        }
    }
    left.len().cmp(&right.len()).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<RawPatch>, InputError> {
        read_inputs(&[Source::Stdin], &mut text.as_bytes())?.collect()
    }

    fn ids(text: &str) -> Vec<String> {
        read(text)
            .unwrap()
            .into_iter()
            .map(|patch| patch.id.0)
            .collect()
    }

    #[test]
    fn a_text_that_is_not_json_is_one_diff() {
        let patches = read("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n").unwrap();
        assert_eq!(patches.len(), 1);
        assert_eq!(patches[0].id.0, "-");
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_patch() {
        let diff = read("\u{feff}--- a\n+++ b\n").unwrap().remove(0);
        assert!(matches!(diff.body, Body::Diff(text) if text.starts_with(b"---")));
        assert_eq!(ids("\u{feff}{\"id\": \"a\", \"patch\": \"x\"}"), ["a"]);
    }

    #[test]
    fn an_empty_file_of_json_lines_has_no_patches() {
        let mut file = tempfile::Builder::new()
            .suffix(".jsonl")
            .tempfile()
            .unwrap();
        io::Write::write_all(&mut file, b"\n").unwrap();
        let path = file.path().to_path_buf();
        let patches: Result<Vec<RawPatch>, InputError> =
            read_inputs(&[Source::Path(path)], &mut io::empty())
                .unwrap()
                .collect();
        assert!(matches!(patches, Err(InputError::NoPatches)));
    }

    #[test]
    fn json_lines_have_ids_of_several_names() {
        let text = "{\"id\": \"a\", \"patch\": \"x\"}\n\n{\"instance_id\": \"b\", \"model_patch\": \"y\"}\n\
                    {\"id\": 3, \"diff\": \"z\", \"more\": [1]}\n{\"patch\": \"w\"}\n";
        assert_eq!(ids(text), ["a", "b", "3", "-:5"]);
        assert_eq!(
            ids("{\"patch\": \"x\"}{\"patch\": \"y\"}\n{\"patch\": \"z\"}"),
            ["-:1", "-:1:2", "-:2"]
        );
        assert_eq!(
            ids(
                "{\"z\": {\"model_patch\": \"x\"},\n\"a\": {\"model_patch\": \"y\", \"id\": \"b\"}}"
            ),
            ["z", "b"]
        );
        assert_eq!(
            ids("[\n{\"id\":\"a\",\"patch\":\"x\"},\n{\"patch\":\"x\"}]"),
            ["a", "-[1]"]
        );
    }

    #[test]
    fn an_object_may_say_that_there_is_no_patch() {
        let patches =
            read("{\"id\": 1, \"patch\": null}\n{\"id\": 2, \"patch\": null, \"diff\": \"x\"}")
                .unwrap();
        let diff = |number: usize| match &patches[number].body {
            Body::Diff(diff) => String::from_utf8_lossy(diff).into_owned(),
            Body::Replace { .. } => unreachable!("these are no manifests"),
        };
        assert_eq!((diff(0).as_str(), diff(1).as_str()), ("", "x"));
    }

    #[test]
    fn manifests_of_expressapr_have_a_patch_for_each_text() {
        let text = r#"{"manifest_version": 3, "interface": "x", "bug": "y", "filename": "a.c",
            "context_above": "int x = ", "unpatched": "1", "context_below": ";\n",
            "patches": ["2", "3"]}"#;
        let patches = read(text).unwrap();
        assert_eq!(patches.len(), 2);
        assert_eq!(patches[1].id.0, "-[1]");
        assert!(matches!(&patches[1].body, Body::Replace { new, .. } if new == "3"));
    }

    #[test]
    fn mistakes_are_reported_with_their_line() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert!(message("{\"id\": \"a\", \"patch\": \"x\"}\n{\"id\"\n").starts_with("-:3: "));
        let cut = message(
            "{\"id\": \"a\", \"patch\": \"x\"}\n{\"id\": \"b\", \"patch\": \"--- a\n{\"id\": \"c\"}\n",
        );
        assert!(
            cut.starts_with("-:2: ") && cut.contains("middle of a string"),
            "{cut}"
        );
        assert!(message("{\"id\": \"a\"}").contains("without a patch"));
        assert!(message("{\"manifest_version\": 1}").contains("not known"));
        assert!(message("{\"id\": \"a\\u0007\", \"patch\": \"\"}").contains("printed"));
        assert_eq!(
            message("{\"id\":1,\"patch\":\"x\"}\n{\"id\":1,\"patch\":\"y\"}"),
            "two patches are called \"1\": -:1 and -:2; give each an id of its own"
        );
        assert!(message("[]").contains("no patches"));
    }

    #[test]
    fn numbers_in_names_are_ordered_by_value() {
        let mut names = ["10.diff", "2.diff", "1.diff", "a2/9", "a10/1", "02.diff"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(
            names,
            ["1.diff", "02.diff", "2.diff", "10.diff", "a2/9", "a10/1"]
        );
    }
}
