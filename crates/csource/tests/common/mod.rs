//! Sources that clang really reads.
#![allow(
    clippy::disallowed_methods,
    reason = "tests make projects and start programs"
)]
#![allow(dead_code, reason = "each test file uses a part of it")]

use patchwright_csource::{Function, ParseError, TranslationUnit};
use patchwright_testkit::Reader;

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
    let mut reader = Reader::new();
    if let Some(header) = header {
        reader.write("unit.h", header);
    }
    let file = reader.write("unit.c", source);
    reader.variants(&file, options)
}

pub fn function<'u>(unit: &'u TranslationUnit, name: &str) -> &'u Function {
    unit.functions
        .iter()
        .find(|function| function.name == name)
        .expect("the function is there")
}
