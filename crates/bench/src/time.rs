//! Times on the command line.

use std::time::Duration;

use patchwright_exec::duration::{self, NoDuration};

/// A time on the command line, as `patchwright` takes it.
pub fn time(text: &str) -> Result<Duration, NoDuration> {
    duration::parse(text, "s")
}
