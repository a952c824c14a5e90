//! Reads compile databases: how each C file of a project is compiled.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::sandbox::normalize;

/// How one C file is compiled: folder, file and arguments.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CompileCommand {
    /// The source file: absolute, without `.` and `..`.
    pub file: PathBuf,
    /// The working directory of the compiler: absolute.
    pub directory: PathBuf,
    /// The compiler and its arguments, among them the source file as it was written.
    pub arguments: Vec<OsString>,
    /// The file that the compiler writes, if it is known: absolute, without `.` and `..`.
    pub output: Option<PathBuf>,
    /// The file that is meant, where that is not `file` itself but one that it includes: absolute, without `.` and `..`.
    pub included: Option<PathBuf>,
}

impl CompileCommand {
    /// Returns the absolute path of the compiled source.
    pub fn source(&self) -> &Path {
        self.included.as_deref().unwrap_or(&self.file)
    }

    /// Whether `name`, as a message of the compiler has it, means this source.
    pub fn is_source(&self, name: &str) -> bool {
        normalize(&self.directory.join(name)) == self.source()
    }

    /// Returns the absolute path of the object file, without `.` and `..`, or `None` if it is not
    /// known.
    pub fn object(&self) -> Option<PathBuf> {
        if let Some(output) = &self.output {
            return Some(output.clone());
        }
        let mut words = self.arguments.iter();
        if let Some(named) = words.by_ref().position(|word| word == "-o") {
            let output = self.arguments.get(named + 1)?;
            return Some(normalize(&self.directory.join(output)));
        }
        let is_object = self.arguments.iter().any(|word| word == "-c");
        let name = Path::new(self.file.file_name()?).with_extension("o");
        is_object.then(|| self.directory.join(name))
    }

    /// Returns the compiler and its arguments without those that name outputs: the kind of output,
    /// its file, and lists of dependencies.
    pub fn without_products(&self) -> Vec<OsString> {
        let mut kept = Vec::new();
        let mut arguments = self.arguments.iter();
        while let Some(argument) = arguments.next() {
            match argument.to_string_lossy().as_ref() {
                "-o" | "-MF" | "-MT" | "-MQ" => {
                    arguments.next();
                }
                "-c" | "-S" => {}
                text if text.starts_with("-save-temps")
                    || text.starts_with("-Wp,-M")
                    || text.starts_with("-M") => {}
                _ => kept.push(argument.clone()),
            }
        }
        kept
    }

    /// Returns the command for a tree at `to` in place of `from`. The path `from` is replaced in
    /// every path and in every argument that has it as a whole path or as the beginning of one.
    pub fn rebase(&self, from: &Path, to: &Path) -> Self {
        let path = |path: &Path| PathBuf::from(replace_path(path.as_os_str(), from, to));
        CompileCommand {
            file: path(&self.file),
            directory: path(&self.directory),
            arguments: self
                .arguments
                .iter()
                .map(|a| replace_path(a, from, to))
                .collect(),
            output: self.output.as_deref().map(path),
            included: self.included.as_deref().map(path),
        }
    }
}

/// Replaces a path wherever it stands in a text and is not a part of a longer name.
fn replace_path(text: &OsStr, from: &Path, to: &Path) -> OsString {
    let (text, from) = (text.as_bytes(), from.as_os_str().as_bytes());
    let names = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    let mut result = Vec::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        match rest.strip_prefix(from) {
            Some(after) if !from.is_empty() && !after.first().is_some_and(names) => {
                result.extend_from_slice(to.as_os_str().as_bytes());
                rest = after;
            }
            _ => {
                result.push(rest[0]);
                rest = &rest[1..];
            }
        }
    }
    OsString::from_vec(result)
}

/// Why a compile database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The file cannot be read.
    #[error("cannot read the compile database {}: {source}", path.display())]
    Read {
        /// The database.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
    /// The file is not a JSON list.
    #[error("{}: the compile database is not a JSON list of objects: {source}", path.display())]
    Syntax {
        /// The database.
        path: PathBuf,
        /// What is wrong and where.
        source: serde_json::Error,
    },
    /// An entry lacks something or has it in a wrong form.
    #[error("{}: entry {entry}: {problem}", path.display())]
    Entry {
        /// The database.
        path: PathBuf,
        /// The number of the entry, from 1.
        entry: usize,
        /// What is wrong.
        problem: String,
    },
    /// There is no entry.
    #[error("{}: the compile database is empty; build the project first, or name another", path.display())]
    Empty {
        /// The database.
        path: PathBuf,
    },
}

#[derive(Deserialize)]
struct RawEntry {
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
    output: Option<PathBuf>,
}

/// Reads a `compile_commands.json`. Entries have `arguments` or, split as a shell does, `command`.
/// Relative folders are relative to the database's own, relative files to the entry's folder.
///
/// # Errors
/// With the name of the database and the number of the entry.
pub fn read_compile_database(path: &Path) -> Result<Vec<CompileCommand>, DatabaseError> {
    let text = fs::read(path).map_err(|source| DatabaseError::Read {
        path: path.to_path_buf(),
        source,
    })?;
    let syntax = |source| DatabaseError::Syntax {
        path: path.to_path_buf(),
        source,
    };
    let entries: Vec<&RawValue> = serde_json::from_slice(&text).map_err(syntax)?;
    if entries.is_empty() {
        return Err(DatabaseError::Empty {
            path: path.to_path_buf(),
        });
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let base = absolute.parent().unwrap_or(Path::new("/"));
    let parsed = entries.iter().enumerate().map(|(index, raw)| {
        parse_entry(raw.get(), base).map_err(|problem| DatabaseError::Entry {
            path: path.to_path_buf(),
            entry: index + 1,
            problem,
        })
    });
    parsed.collect()
}

fn parse_entry(json: &str, base: &Path) -> Result<CompileCommand, String> {
    // The position in the message would be relative to the entry, so it is left out.
    let entry: RawEntry = serde_json::from_str(json).map_err(|error| {
        let text = error.to_string();
        text.split(" at line ")
            .next()
            .unwrap_or_default()
            .to_owned()
    })?;
    let arguments = match (entry.arguments, entry.command) {
        (Some(arguments), _) => arguments,
        (None, Some(command)) => shlex::split(&command)
            .ok_or_else(|| format!("unbalanced quotes in \"command\": {command}"))?,
        (None, None) => {
            let file = entry.file.display();
            return Err(format!("neither \"arguments\" nor \"command\" for {file}"));
        }
    };
    if arguments.is_empty() {
        return Err(format!("the command for {} is empty", entry.file.display()));
    }
    let directory = normalize(&base.join(entry.directory));
    Ok(CompileCommand {
        file: normalize(&directory.join(entry.file)),
        output: entry
            .output
            .map(|output| normalize(&directory.join(output))),
        arguments: arguments.into_iter().map(OsString::from).collect(),
        directory,
        included: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Vec<CompileCommand>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("compile_commands.json");
        fs::write(&path, json).unwrap();
        read_compile_database(&path).map_err(|e| {
            e.to_string()
                .replace(folder.path().to_str().unwrap(), "FOLDER")
        })
    }

    #[test]
    fn both_forms_of_an_entry_are_read() {
        let commands = read(
            r#"[{"directory": "/p/build", "file": "../src/a b.c", "output": "a.o",
                 "command": "gcc -DX='a b' -c \"../src/a b.c\" -o a.o"},
                {"directory": "/p", "file": "/p/./b.c", "arguments": ["cc", "-c", "b.c"]}]"#,
        )
        .unwrap();
        assert_eq!(commands[0].file, Path::new("/p/src/a b.c"));
        assert_eq!(
            commands[0].output.as_deref(),
            Some(Path::new("/p/build/a.o"))
        );
        assert_eq!(commands[0].arguments[1], "-DX=a b");
        assert_eq!(commands[0].arguments[3], "../src/a b.c");
        assert_eq!(commands[1].file, Path::new("/p/b.c"));
        assert_eq!(commands[1].output, None);
    }

    #[test]
    fn errors_name_the_file_and_the_entry() {
        let broken = [
            "{}",
            "[]",
            "[",
            r#"[{"directory": "/", "file": "a.c", "command": "cc a.c"}, {"file": "b.c"}]"#,
            r#"[{"directory": "/", "file": "a.c"}]"#,
            r#"[{"directory": "/", "file": "a.c", "arguments": []}]"#,
            r#"[{"directory": "/", "file": "a.c", "command": "cc 'a.c"}]"#,
            r#"[{"directory": "/", "file": 3, "command": "cc a.c"}]"#,
        ];
        let messages: Vec<String> = broken.iter().map(|json| read(json).unwrap_err()).collect();
        insta::assert_snapshot!(messages.join("\n"));
    }

    #[test]
    fn what_says_where_products_go_is_taken_out_of_a_command() {
        let arguments = "cc -Wall -march=native -MD -MP -MF deps/x.d -MTx.o -Wp,-MD,y.d -c -o x.o \
                         -save-temps=obj -O2 x.c";
        let command = CompileCommand {
            file: "/p/x.c".into(),
            directory: "/p".into(),
            arguments: arguments.split_whitespace().map(OsString::from).collect(),
            output: None,
            included: None,
        };
        let kept = ["cc", "-Wall", "-march=native", "-O2", "x.c"];
        assert_eq!(command.without_products(), kept);
    }

    #[test]
    fn rebasing_replaces_whole_paths_only() {
        let command = CompileCommand {
            file: "/tmp/copy/a.c".into(),
            directory: "/tmp/copy".into(),
            arguments: ["cc", "-I/tmp/copy/include", "-I/tmp/copy2", "/tmp/copy/a.c"]
                .map(OsString::from)
                .to_vec(),
            output: Some("/tmp/copy/a.o".into()),
            included: None,
        };
        let rebased = command.rebase(Path::new("/tmp/copy"), Path::new("/home/p"));
        assert_eq!(rebased.file, Path::new("/home/p/a.c"));
        assert_eq!(rebased.directory, Path::new("/home/p"));
        assert_eq!(
            rebased.arguments,
            ["cc", "-I/home/p/include", "-I/tmp/copy2", "/home/p/a.c"].map(OsString::from)
        );
        assert_eq!(rebased.output.as_deref(), Some(Path::new("/home/p/a.o")));
    }
}
