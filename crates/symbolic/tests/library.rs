//! The library's functions stand in the crate as IR; they are what is written in C.
#![allow(clippy::disallowed_methods, reason = "a test's own files")]

use crate::common::with_reader;
use patchwright_ir::print_module;

#[test]
fn the_librarys_ir_is_what_its_c_is_lowered_to() {
    let mut module = with_reader(|reader| {
        reader.module(include_str!("../src/library.c"), "patchwright-library.c")
    });
    // Where it lay when it was read says nothing.
    for file in &mut module.files {
        file.path = "patchwright-library.c".to_owned();
    }
    let text = print_module(&module);
    if std::env::var_os("PATCHWRIGHT_BLESS").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/library.ir");
        std::fs::write(path, text).expect("written");
        return;
    }
    assert!(
        text == include_str!("../src/library.ir") && module == patchwright_symbolic::library(),
        "library.c has changed: run this test with PATCHWRIGHT_BLESS=1"
    );
}
