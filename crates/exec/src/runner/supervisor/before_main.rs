//! Lets any binary that links this crate be a supervisor, for tests.
//!
//! The functions of `.init_array` run before `main` and, in the GNU C library, get the arguments.
//! A test binary thus needs no second binary beside it that might not have been built.

use std::ffi::{CStr, c_char, c_int};

use crate::runner::protocol::SUPERVISOR_FOR_TESTS;

#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = before_main;

extern "C" fn before_main(
    count: c_int,
    arguments: *const *const c_char,
    _environment: *const *const c_char,
) {
    if count != 2 {
        return;
    }
    // SAFETY: the C library passes `main`'s arguments: `count` pointers to NUL-terminated strings.
    let argument = unsafe { CStr::from_ptr(*arguments.add(1)) };
    if argument.to_bytes() == SUPERVISOR_FOR_TESTS.as_bytes() {
        super::supervisor_main();
    }
}
