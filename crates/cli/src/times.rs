//! Durations on the command line.

use patchwright_exec::duration::NoDuration;

/// Reads a duration such as `30s`.
pub fn duration(text: &str) -> Result<std::time::Duration, NoDuration> {
    patchwright_exec::duration::parse(text, "s")
}
