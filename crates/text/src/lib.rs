//! Spans, line maps, edits, unified diffs and digests of contents.
//!
//! Everything here works on bytes: C sources need not be UTF-8, and compilers report byte offsets. Nothing here
//! touches a file; the caller reads and writes.
//!
//! Invariant: an [`Edit`] is data. It is sorted, checked for conflicts and applied in one place, [`apply_edits`].

mod diff;
mod digest;
mod edit;
mod line_map;
mod span;

pub use diff::{line_edits, unified_diff};
pub use digest::{Digest, Hasher};
pub use edit::{Beside, Edit, EditError, apply_edits};
pub use line_map::{LineColumn, LineMap};
pub use span::Span;
