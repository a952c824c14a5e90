//! `--cache` and `--no-cache`: what clang has said of a source, and what an untouched program does, is kept for later runs.

use std::path::PathBuf;

use clap::Args;
use patchwright_exec::Cache;

use crate::state;

/// Bytes that the cache may have.
const LIMIT: u64 = 512 << 20;

/// Where what was read of sources is kept.
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
    /// The cache, if there is to be one and its folder can be used.
    pub fn open(&self) -> Option<Cache> {
        if self.no_cache {
            return None;
        }
        let usual = || Some(state::folder()?.join("sources"));
        let folder = self.cache.clone().or_else(usual)?;
        Cache::open(&folder, LIMIT)
    }
}
