//! Makes trees that CMake has configured find their C compiler anew.
//!
//! CMake writes the path of the compiler into its cache and into the makefiles. Without those entries the next build finds the compiler
//! in `PATH` again, and keeps all other answers and options.

use std::path::Path;

use patchwright_exec::{FileError, files};

/// Where CMake keeps what a tree was configured with.
const CACHE: &str = "CMakeCache.txt";

/// What it found out about the compiler, in a folder beside the cache.
const FOUND: &str = "CMakeCCompiler.cmake";

/// What the names of entries about the compiler begin with.
const ENTRY: &[u8] = b"CMAKE_C_COMPILER";

/// Removes what CMake knows of the C compiler from the trees below `folder`.
///
/// # Errors
/// A file that cannot be read, written or removed.
pub fn forget_compiler(folder: &Path) -> Result<(), FileError> {
    for path in files::regular_files_below(folder)? {
        let name = path.file_name().unwrap_or_default();
        if name == CACHE {
            files::write_atomic(&path, &without_compiler(&files::read(&path)?))?;
        } else if name == FOUND {
            files::remove_file(&path)?;
        }
    }
    Ok(())
}

/// The text of a cache without the entries about the C compiler and the comments in front of these.
fn without_compiler(cache: &[u8]) -> Vec<u8> {
    let (mut kept, mut comments) = (Vec::with_capacity(cache.len()), Vec::new());
    for line in cache.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"//") {
            comments.extend_from_slice(line);
            continue;
        }
        if !line.starts_with(ENTRY) {
            kept.append(&mut comments);
            kept.extend_from_slice(line);
        }
        comments.clear();
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_keeps_all_but_the_compiler() {
        let cache = b"# made\n\n//Type of build\nCMAKE_BUILD_TYPE:STRING=Debug\n\n//C compiler\nCMAKE_C_COMPILER:FILEPATH=/usr/bin/cc\n\n\
            //ADVANCED property\nCMAKE_C_COMPILER-ADVANCED:INTERNAL=1\nX:BOOL=ON\n";
        let kept = String::from_utf8(without_compiler(cache)).unwrap();
        assert_eq!(
            kept,
            "# made\n\n//Type of build\nCMAKE_BUILD_TYPE:STRING=Debug\n\n\nX:BOOL=ON\n"
        );
    }
}
