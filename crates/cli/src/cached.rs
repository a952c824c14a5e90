//! `--cache` and `--no-cache`: the cache of clang's answers and of untouched programs.

use std::path::PathBuf;

use clap::Args;
use patchwright_exec::Cache;

use crate::state;

/// Bytes that the cache may have.
const LIMIT: u64 = 512 << 20;

/// Flags of the cache.
#[derive(Args, Clone, Debug, Default)]
pub struct CacheArgs {
    /// The folder of the cache [default: patchwright/sources in $XDG_CACHE_HOME or ~/.cache]
    ///
    /// It keeps for later runs: the answers of clang, and the builds and test results of untouched programs.
    #[arg(long, value_name = "DIR", help_heading = "Cache")]
    pub cache: Option<PathBuf>,

    /// Neither read nor write a cache
    #[arg(long, conflicts_with = "cache", help_heading = "Cache")]
    pub no_cache: bool,
}

impl CacheArgs {
    /// Opens the cache. It is `None` with `--no-cache`, or if the folder cannot be used.
    pub fn open(&self) -> Option<Cache> {
        if self.no_cache {
            return None;
        }
        let usual = || Some(state::folder()?.join("sources"));
        let folder = self.cache.clone().or_else(usual)?;
        Cache::open(&folder, LIMIT)
    }
}
