//! Files whose memory the host shares with the processes of a run.

use memmap2::MmapRaw;
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// The error that a shared file cannot be made.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot make a file of {size} bytes to share with tests in {}: {source}; make room there, or set PATCHWRIGHT_TMP \
     to a folder on a larger disk",
    folder.display()
)]
pub struct SharedFileError {
    /// Where it should have been.
    pub folder: PathBuf,
    /// Its size.
    pub size: u64,
    /// What the system says.
    pub source: io::Error,
}

/// Makes a file of `size` bytes in `folder` and maps it. The space is reserved now, so that a full file system is an
/// error here and not a crash of a tested program.
pub(crate) fn create(
    folder: &Path,
    prefix: &str,
    size: u64,
) -> Result<(NamedTempFile, MmapRaw), SharedFileError> {
    let failed = |source| SharedFileError {
        folder: folder.to_path_buf(),
        size,
        source,
    };
    // The woven programs map the path that they are told, whatever their working directory.
    let folder = std::path::absolute(folder).map_err(failed)?;
    let file = tempfile::Builder::new()
        .prefix(prefix)
        .tempfile_in(folder)
        .map_err(failed)?;
    let length = libc::off_t::try_from(size)
        .map_err(|_| failed(io::Error::from(io::ErrorKind::FileTooLarge)))?;
    // SAFETY: the descriptor is our own.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
        0 => {}
        code => return Err(failed(io::Error::from_raw_os_error(code))),
    }
    let memory = MmapRaw::map_raw(file.as_file()).map_err(failed)?;
    Ok((file, memory))
}
