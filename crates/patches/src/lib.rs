//! Sets of patches: reading them in every usual form, and applying them to a tree in memory.
//!
//! * [`read_inputs`] reads unified diffs (files, folders, standard input), JSON lines and
//!   ExpressAPR's manifests into [`RawPatch`]es, one at a time.
//! * [`diff`] parses unified diffs, git's and plain ones.
//! * [`Applier`] applies a raw patch to a [`BaseTree`] as `patch(1)` does, with offsets and fuzz. The result is a [`Patch`]:
//!   the files that change, with their new texts as edits of the old ones.
//!
//! # Invariants
//! * The tree is only read, and nothing outside of it: no patch can name a file that is not in it.
//! * A patch takes as much memory as its changes, not as the files that it changes: a set of a
//!   hundred thousand patches fits in memory.
//! * What is applied is applied in whole. A patch of which one hunk fails does not apply.

mod apply;
/// Parsing of unified diffs, before any tree is looked at.
pub mod diff;
mod hunk;
mod input;
mod model;
mod path;
mod tree;

pub use apply::{Applier, Reading};
pub use diff::Counts;
pub use input::{InputError, Inputs, Source, read_inputs, read_json_line};
pub use model::{
    Applied, ApplyNote, Body, DoesNotApply, FileChange, LineRange, NewText, Origin, Patch, PatchId,
    RawPatch, Reason,
};
pub use patchwright_text::{Digest, Hasher};
pub use path::{PathError, RelativePath};
pub use tree::{BaseFile, BaseTree, Entry, FolderTree};
