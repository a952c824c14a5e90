//! Makes the edges of the control flow.

use patchwright_ir::{BlockId, Edge, OriginId};

/// The edge to a block, for what is at this place of the source.
pub(crate) fn to(target: BlockId, origin: OriginId) -> Edge {
    Edge { target, origin }
}
