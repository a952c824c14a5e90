//! The tests of `patchwright-validate` from outside, as one program: each that is linked by itself takes seconds of every build.

mod common;
mod fewer_builds;
mod headers;
mod judges;
mod left_behind;
mod plain;
mod undefined;
mod unread;
mod woven;
