//! The rules of `ARCHITECTURE.md`, as tests: see `tests/architecture.rs`. There is no code here.
