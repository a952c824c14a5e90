//! Sources that clang really reads.
#![allow(
    clippy::disallowed_methods,
    reason = "tests make projects and start programs"
)]
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::ffi::OsString;

use patchwright_csource::{Clang, Function, ParseError, TranslationUnit, parse_variants};
use patchwright_exec::{CancelToken, CompileCommand, Runner, RunnerProgram};

/// `source`, compiled plainly.
pub fn read(source: &str) -> TranslationUnit {
    read_ways(source, &["-fsome-flag-of-gcc-only"]).remove(0)
}

/// `source`, compiled with each of these options.
pub fn read_ways(source: &str, options: &[&str]) -> Vec<TranslationUnit> {
    try_read(source, options).expect("the source is valid")
}

/// `source`, which includes `unit.h`.
pub fn read_with_header(source: &str, header: &str) -> TranslationUnit {
    let read = try_read_beside(source, &[""], Some(header));
    read.expect("the source is valid").remove(0)
}

pub fn try_read(source: &str, options: &[&str]) -> Result<Vec<TranslationUnit>, ParseError> {
    try_read_beside(source, options, None)
}

fn try_read_beside(
    source: &str,
    options: &[&str],
    header: Option<&str>,
) -> Result<Vec<TranslationUnit>, ParseError> {
    let folder = tempfile::tempdir().expect("a folder");
    if let Some(header) = header {
        std::fs::write(folder.path().join("unit.h"), header).expect("written");
    }
    let file = folder.path().join("unit.c");
    std::fs::write(&file, source).expect("written");
    let cancel = CancelToken::new().expect("a pipe");
    let program = RunnerProgram::this_binary();
    let mut runner = Runner::start(&program, None, cancel).expect("a supervisor");
    let clang = Clang::find(&mut runner).expect("clang is installed");
    let command = |options: &&str| CompileCommand {
        directory: folder.path().to_path_buf(),
        arguments: ["cc", "-c", "unit.c"]
            .into_iter()
            .chain(options.split_whitespace())
            .map(OsString::from)
            .collect(),
        output: None,
        included: None,
        file: file.clone(),
    };
    let commands: Vec<CompileCommand> = options.iter().map(command).collect();
    parse_variants(&clang, &mut runner, &commands, source.as_bytes())
}

pub fn function<'u>(unit: &'u TranslationUnit, name: &str) -> &'u Function {
    unit.functions
        .iter()
        .find(|function| function.name == name)
        .expect("the function is there")
}
