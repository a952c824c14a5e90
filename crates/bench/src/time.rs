//! Times on the command line.

use std::time::Duration;

use patchwright_exec::duration::{self, NoDuration};

/// Reads a time of the command line, such as `90s`, as `patchwright` itself does.
///
/// # Errors
/// A text that is no time; the message says what to write.
pub fn time(text: &str) -> Result<Duration, NoDuration> {
    duration::parse(text, "s")
}
