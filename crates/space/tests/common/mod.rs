//! Sources that clang really reads.
#![allow(
    clippy::disallowed_methods,
    reason = "the source that clang reads is written by the test"
)]

use std::fs;

use patchwright_csource::{Clang, TranslationUnit, parse};
use patchwright_exec::{CancelToken, CompileCommand, Runner, RunnerProgram};

/// `source`, compiled plainly.
pub fn read(source: &str) -> TranslationUnit {
    let folder = tempfile::tempdir().unwrap();
    let folder_path = fs::canonicalize(folder.path()).unwrap();
    let file = folder_path.join("unit.c");
    fs::write(&file, source).unwrap();
    let program = RunnerProgram::this_binary();
    let mut runner = Runner::start(&program, None, CancelToken::new().unwrap()).unwrap();
    let clang = Clang::find(&mut runner).unwrap();
    let command = CompileCommand {
        file,
        directory: folder_path,
        arguments: ["cc", "-c", "unit.c"].map(Into::into).into(),
        output: None,
        included: None,
    };
    parse(&clang, &mut runner, &command, source.into()).unwrap()
}
