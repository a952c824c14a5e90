//! From the text of C to its tree and to IR.
#![allow(
    clippy::disallowed_methods,
    reason = "the sources that clang reads are written by tests"
)]

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use patchwright_csource::{Clang, ParseError, TranslationUnit, parse, parse_variants};
use patchwright_exec::{CancelToken, CompileCommand, Runner, RunnerProgram};
use patchwright_ir::{Module, print_module, verify};

/// Reads sources of C in a folder of its own.
pub struct Reader {
    /// What starts processes; a test may have others started by it.
    pub runner: Runner,
    /// The compiler that reads C.
    pub clang: Clang,
    folder: tempfile::TempDir,
}

impl Default for Reader {
    fn default() -> Reader {
        Reader::new()
    }
}

impl Reader {
    /// Starts a supervisor and looks for clang.
    pub fn new() -> Reader {
        let cancel = CancelToken::new().expect("a pipe");
        let program = RunnerProgram::this_binary();
        let mut runner = Runner::start(&program, None, cancel).expect("a supervisor");
        let clang = Clang::find(&mut runner).expect("clang is installed");
        Reader {
            runner,
            clang,
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    /// Returns the folder in which sources are written.
    pub fn folder(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("the folder is there")
    }

    /// Writes a file beside the sources, as a header.
    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder().join(name);
        fs::write(&file, text).expect("written");
        file
    }

    /// How a source is compiled, with options that have blanks between them.
    fn command(&self, file: &Path, options: &str) -> CompileCommand {
        let directory = self.folder();
        let name = file.strip_prefix(&directory).unwrap_or(file);
        let mut arguments: Vec<OsString> = vec!["cc".into(), "-c".into(), name.into()];
        arguments.extend(options.split_whitespace().map(OsString::from));
        CompileCommand {
            directory,
            arguments,
            output: None,
            included: None,
            file: file.to_path_buf(),
        }
    }

    /// Reads a source that is compiled once with each of these options, words with blanks between them.
    ///
    /// # Errors
    /// What clang says of it.
    pub fn variants(
        &mut self,
        file: &Path,
        options: &[&str],
    ) -> Result<Vec<TranslationUnit>, ParseError> {
        let commands = options.iter().map(|options| self.command(file, options));
        let commands: Vec<CompileCommand> = commands.collect();
        let text = fs::read(file).expect("the source is there");
        parse_variants(&self.clang, &mut self.runner, &commands, &text)
    }

    /// Reads a source that stands in a file.
    pub fn file(&mut self, file: &Path, options: &str) -> TranslationUnit {
        let command = self.command(file, options);
        let text = fs::read(file).expect("the source is there");
        let read = parse(&self.clang, &mut self.runner, &command, text.clone());
        let text = String::from_utf8_lossy(&text);
        read.unwrap_or_else(|error| panic!("{}: {error}\n{text}", file.display()))
    }

    /// Reads a source; returns its path, too.
    pub fn read(&mut self, name: &str, source: &str) -> (TranslationUnit, String) {
        let file = self.write(name, source);
        let unit = self.file(&file, "");
        (unit, file.to_string_lossy().into_owned())
    }

    /// Lowers a source that stands in a file.
    pub fn lowered(&mut self, file: &Path, options: &str) -> Module {
        let unit = self.file(file, options);
        let module = patchwright_lower::lower(&unit, &file.to_string_lossy());
        assert_eq!(verify(&module), Ok(()), "{}", print_module(&module));
        module
    }

    /// Reads a source and lowers it.
    pub fn module(&mut self, name: &str, source: &str) -> Module {
        let file = self.write(name, source);
        self.lowered(&file, "")
    }
}

/// Returns the tree of a source, `unit.c`.
pub fn unit(source: &str) -> TranslationUnit {
    Reader::new().read("unit.c", source).0
}

/// Returns the IR of a source, `unit.c`.
pub fn module(source: &str) -> Module {
    Reader::new().module("unit.c", source)
}
