//! Why a project cannot be described.

use std::path::PathBuf;

use patchwright_exec::{FileError, PoolError, ProjectError, RecordError, TestError};

/// Why a project cannot be described.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error("{} is there already; --force writes over it", .0.display())]
    Exists(PathBuf),
    #[error(
        "nothing in {} says how it is built: there is no Makefile, configure, CMakeLists.txt, meson.build or C file; give the command with --build",
        .0.display()
    )]
    NoBuild(PathBuf),
    #[error("none of the ways to build the project works: {0}")]
    NotBuilt(String),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Test(#[from] TestError),
}
