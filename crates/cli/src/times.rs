//! Times on the command line.

use patchwright_exec::duration::NoDuration;

/// A time.
pub fn duration(text: &str) -> Result<std::time::Duration, NoDuration> {
    patchwright_exec::duration::parse(text, "s")
}
