//! The `patchwright` command line.
fn main() {}
