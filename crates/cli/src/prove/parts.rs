//! `prove --shard`: some of what must not happen, decided about on a machine of its own.

use patchwright_text::Hasher;

use super::{ProveArgs, read::Program};
use crate::{cached::CacheArgs, ci::CiArgs, shards::ShardArgs};

/// What all parts of one run have in common, as a digest: the sources and the flags.
pub fn key(args: &ProveArgs, program: &Program) -> String {
    let mut hasher = Hasher::new();
    hasher
        .field(patchwright_report::proof::PART_SCHEMA)
        .field(env!("CARGO_PKG_VERSION"));
    let flags = ProveArgs {
        sharding: ShardArgs::default(),
        cache: CacheArgs::default(),
        ci: CiArgs::default(),
        json: false,
        stats: false,
        html: None,
        test: None,
        ..args.clone()
    };
    // Their debug form shows every field.
    hasher.field(format!("{flags:?}"));
    let reference = program.reference.iter().map(|one| &one.source);
    for source in program.sources.iter().chain(reference) {
        hasher.field(&source.unit.source);
    }
    hasher.finish().to_string()
}
