//! The supervisor as a program of its own, for the tests of crate `exec`.

fn main() {
    patchwright_exec::supervisor_main()
}
