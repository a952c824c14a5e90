//! The sources of a project: those that commands compile, and files with functions that these include.
//!
//! A library that is one header, a source that includes all others, functions in a header of one's own: their text is the
//! project's, though no command names it. Directives are read without a preprocessor, so what is found here may be left out by a
//! condition; the compiler that reads the file then finds no function in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::compile_commands::CompileCommand;
use crate::files::{self, FileError};
use crate::sandbox::{Sandbox, normalize};

/// A file that more sources include is left alone: it would have to be read in each of them.
const MOST_INCLUDERS: usize = 8;

/// Endings of files in which no C is expected.
pub(crate) const OTHER_LANGUAGES: [&str; 8] = ["cc", "cpp", "cxx", "C", "hh", "hpp", "m", "mm"];

/// Whether a file is a source of another language, by its name.
pub(crate) fn is_of_other_language(file: &Path) -> bool {
    let extension = file.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|known| OTHER_LANGUAGES.contains(&known))
}

/// Returns the C files that commands compile, relative to the root of the project, each with its commands
/// in order. The commands must be those of [`crate::record::record_build`].
pub fn sources(
    commands: &[CompileCommand],
    sandbox: &Sandbox,
) -> BTreeMap<PathBuf, Vec<CompileCommand>> {
    let mut sources: BTreeMap<PathBuf, Vec<CompileCommand>> = BTreeMap::new();
    for command in commands {
        let Ok(relative) = command.file.strip_prefix(sandbox.run_root()) else {
            continue;
        };
        let is_c = relative.extension().is_some_and(|e| e == "c");
        if is_c && sandbox.folder().join(relative).exists() {
            let known = sources.entry(relative.to_path_buf()).or_default();
            known.push(command.clone());
        }
    }
    sources
}

/// Returns the files with functions that C sources of the project include and that no command compiles.
/// Each has the commands of the sources that include it. Files that are also included by sources in
/// another language are left out.
pub fn included_sources(
    commands: &[CompileCommand],
    sandbox: &Sandbox,
) -> BTreeMap<PathBuf, Vec<CompileCommand>> {
    let sources = sources(commands, sandbox);
    let mut files = Files::default();
    let mut found: BTreeMap<PathBuf, Vec<CompileCommand>> = BTreeMap::new();
    for (source, commands) in &sources {
        for command in commands {
            for path in files.included_by(source, command, sandbox) {
                if !sources.contains_key(&path) && files.read(sandbox, &path).has_functions {
                    let within = CompileCommand {
                        included: Some(sandbox.run_root().join(&path)),
                        ..command.clone()
                    };
                    found.entry(path).or_default().push(within);
                }
            }
        }
    }
    let by_few = |commands: &[CompileCommand]| {
        let includers: BTreeSet<&Path> = commands.iter().map(|command| &*command.file).collect();
        includers.len() <= MOST_INCLUDERS
    };
    found.retain(|_, commands| by_few(commands));
    if !found.is_empty() {
        let others = commands
            .iter()
            .filter(|command| is_of_other_language(&command.file));
        for command in others {
            if let Some(source) = sandbox.below_root(&command.file) {
                for path in files.included_by(&source, command, sandbox) {
                    found.remove(&path);
                }
            }
        }
    }
    found
}

/// Returns the files of the project that `source` includes, directly or through others, relative to the
/// root.
pub fn included_files(
    commands: &[CompileCommand],
    sandbox: &Sandbox,
    source: &Path,
) -> Vec<PathBuf> {
    let mut files = Files::default();
    let own = sandbox.run_root().join(source);
    let mut found = BTreeSet::new();
    for command in commands.iter().filter(|command| command.file == own) {
        found.extend(files.included_by(source, command, sandbox));
    }
    found.into_iter().collect()
}

/// Returns the sources that include `file`, directly or through others, relative to the root of
/// `sandbox`.
pub fn includers_of(commands: &[CompileCommand], sandbox: &Sandbox, file: &Path) -> Vec<PathBuf> {
    let mut files = Files::default();
    let sources = sources(commands, sandbox).into_iter();
    let including = sources.filter(|(source, commands)| {
        let mut commands = commands.iter();
        commands.any(|command| {
            let included = files.included_by(source, command, sandbox);
            included.iter().any(|included| included == file)
        })
    });
    including.map(|(source, _)| source).collect()
}

/// Returns the results of [`sources`] and [`included_sources`] together.
pub fn all_sources(
    commands: &[CompileCommand],
    sandbox: &Sandbox,
) -> BTreeMap<PathBuf, Vec<CompileCommand>> {
    let mut all = sources(commands, sandbox);
    all.append(&mut included_sources(commands, sandbox));
    all
}

/// Returns the sources that include the file that `commands` belong to, relative to the root of
/// `sandbox`. There is none if the commands compile the file itself.
pub fn includers(commands: &[CompileCommand], sandbox: &Sandbox) -> Vec<PathBuf> {
    let including = commands.iter().filter(|command| command.included.is_some());
    let mut found: Vec<PathBuf> = including
        .filter_map(|command| sandbox.below_root(&command.file))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Writes `text` into a source of a copy, relative to its root. It also makes the `includers` newer,
/// because makefiles written by hand do not know what a source includes.
///
/// # Errors
/// Files that cannot be written.
pub fn put_source(
    sandbox: &Sandbox,
    relative: &Path,
    text: &[u8],
    includers: &[PathBuf],
) -> Result<(), FileError> {
    files::replace(&sandbox.folder().join(relative), text)?;
    let mut including = includers.iter();
    including.try_for_each(|file| files::touch(&sandbox.folder().join(file)))
}

/// What is known of files.
#[derive(Default)]
struct Files(BTreeMap<PathBuf, File>);

#[derive(Default)]
struct File {
    includes: Vec<Included>,
    has_functions: bool,
}

impl Files {
    /// A file that cannot be read includes nothing.
    fn read(&mut self, sandbox: &Sandbox, file: &Path) -> &File {
        self.0.entry(file.to_path_buf()).or_insert_with(|| {
            let text = files::read(&sandbox.folder().join(file)).unwrap_or_default();
            File {
                includes: includes(&text),
                has_functions: has_functions(&text),
            }
        })
    }
}

impl Files {
    /// The files of the project that a source includes under a command, itself or in turn.
    fn included_by(
        &mut self,
        source: &Path,
        command: &CompileCommand,
        sandbox: &Sandbox,
    ) -> Vec<PathBuf> {
        let search = search_path(command);
        let mut seen = BTreeSet::from([source.to_path_buf()]);
        let mut open = vec![source.to_path_buf()];
        let mut found = Vec::new();
        while let Some(file) = open.pop() {
            let includes = self.read(sandbox, &file).includes.clone();
            for included in includes {
                let Some(path) = included.resolve(&file, &search, sandbox) else {
                    continue;
                };
                if seen.insert(path.clone()) {
                    found.push(path.clone());
                    open.push(path);
                }
            }
        }
        found
    }
}

/// The file that a directive names.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Included {
    name: PathBuf,
    /// It is looked for where the file lies that includes it.
    is_quoted: bool,
}

impl Included {
    /// The file of the project, relative to its root; `None` if it is none.
    fn resolve(&self, from: &Path, search: &[PathBuf], sandbox: &Sandbox) -> Option<PathBuf> {
        let beside = sandbox.run_root().join(from);
        let beside = beside.parent().filter(|_| self.is_quoted);
        let mut folders = beside
            .into_iter()
            .chain(search.iter().map(PathBuf::as_path));
        folders.find_map(|folder| {
            let path = sandbox.below_root(&normalize(&folder.join(&self.name)))?;
            sandbox.folder().join(&path).is_file().then_some(path)
        })
    }
}

/// The folders in which a command looks for headers.
fn search_path(command: &CompileCommand) -> Vec<PathBuf> {
    const OPTIONS: [&str; 4] = ["-I", "-iquote", "-isystem", "-idirafter"];
    let mut found = Vec::new();
    let mut arguments = command.arguments.iter();
    while let Some(argument) = arguments.next() {
        let text = argument.to_string_lossy();
        let Some(rest) = OPTIONS.iter().find_map(|option| text.strip_prefix(option)) else {
            continue;
        };
        let folder = match rest.is_empty() {
            true => arguments.next().map(PathBuf::from),
            false => Some(PathBuf::from(rest)),
        };
        found.extend(folder.map(|folder| command.directory.join(folder)));
    }
    found
}

/// What the directives of a text name.
fn includes(text: &[u8]) -> Vec<Included> {
    let directives = patchwright_ctext::directives(text);
    let includes = directives.filter(|directive| *directive.name() == *b"include");
    let named = includes.filter_map(|directive| {
        let first = directive.arguments().next()?;
        let (open, rest) = directive.raw[first.start..].split_first()?;
        let close = match open {
            b'"' => b'"',
            b'<' => b'>',
            _ => return None,
        };
        let end = rest.iter().position(|byte| *byte == close)?;
        Some(Included {
            name: PathBuf::from(String::from_utf8_lossy(&rest[..end]).into_owned()),
            is_quoted: *open == b'"',
        })
    });
    named.collect()
}

/// Returns the files that the `#include` directives of a text name in quotes.
pub(crate) fn quoted(text: &[u8]) -> Vec<PathBuf> {
    let included = includes(text).into_iter();
    let quoted = included.filter(|included| included.is_quoted);
    quoted.map(|included| included.name).collect()
}

/// Whether a text may have a function: a block behind a list of parameters.
fn has_functions(text: &[u8]) -> bool {
    let mut last = b' ';
    text.iter().any(|&byte| {
        let is_body = byte == b'{' && last == b')';
        if !byte.is_ascii_whitespace() {
            last = byte;
        }
        is_body
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_name_files_in_quotes_or_brackets() {
        let text = b"#include \"a/b.h\"\n # include <c.h> /* d.h */\n#include NAME\nint x;\n#define e \"f.h\"\n";
        let found = includes(text);
        let names: Vec<_> = found
            .iter()
            .map(|one| (one.name.to_str().unwrap(), one.is_quoted))
            .collect();
        assert_eq!(names, [("a/b.h", true), ("c.h", false)]);
    }

    #[test]
    fn folders_of_headers_are_those_of_the_options() {
        let command = CompileCommand {
            file: "/p/a.c".into(),
            directory: "/p".into(),
            arguments: ["cc", "-Iinc", "-I", "../x", "-isystem", "/s", "-c", "a.c"]
                .map(Into::into)
                .into(),
            output: None,
            included: None,
        };
        let folders: Vec<PathBuf> = search_path(&command);
        assert_eq!(folders, ["/p/inc", "/p/../x", "/s"].map(PathBuf::from));
    }

    #[test]
    fn a_file_with_a_block_behind_parameters_may_have_a_function() {
        assert!(has_functions(b"static int f(int a)\n{ return a; }"));
        assert!(!has_functions(b"int f(int a);\nstruct s { int a; };"));
    }
}
