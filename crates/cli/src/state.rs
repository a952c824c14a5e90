//! The folders of journals.

use std::path::PathBuf;

use clap::Args;
use patchwright_exec::JournalOptions;

/// Returns the folder of all caches and journals, in the user's cache.
pub fn folder() -> Option<PathBuf> {
    let named = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let cache = named("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(named("HOME")?).join(".cache")))?;
    Some(cache.join("patchwright"))
}

/// Returns the journals' folder for `command`: the folder of `--state`, else one in the user's cache.
pub fn journal(resuming: &Resuming, command: &str) -> Option<JournalOptions> {
    let given = resuming.state.clone();
    let folder = given.or_else(|| Some(folder()?.join(command)))?;
    Some(JournalOptions {
        folder,
        resume: resuming.resume,
        required: resuming.resume || resuming.state.is_some(),
    })
}

/// Flags for resuming an interrupted run.
#[derive(Args, Clone, Debug, Default)]
pub struct Resuming {
    /// Go on where the same command ended, and execute nothing twice
    #[arg(long, help_heading = "Resuming")]
    pub resume: bool,

    /// The folder of the journal that --resume reads [default: in $XDG_CACHE_HOME/patchwright or ~/.cache/patchwright]
    #[arg(long, value_name = "DIR", help_heading = "Resuming")]
    pub state: Option<PathBuf>,
}
