//! Sources that clang really reads.

pub use patchwright_testkit::unit as read;
