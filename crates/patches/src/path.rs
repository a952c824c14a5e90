//! Paths of files relative to the root of a tree.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// The path of a file relative to the root of a tree: at least one component, none of them `.` or
/// `..`, so it cannot leave the tree by its text alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativePath(PathBuf);

/// Why a path does not name a file inside a tree.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It begins with a slash.
    #[error("{0:?} is an absolute path; patches name files relative to the project's root")]
    Absolute(String),
    /// It has a component `..`.
    #[error("{0:?} leaves the project's tree")]
    Escapes(String),
    /// Nothing is left of it, or it has a NUL byte.
    #[error("{0:?} is not the path of a file")]
    NoFile(String),
}

impl RelativePath {
    /// Reads a path. `.` and repeated slashes are dropped.
    ///
    /// # Errors
    /// See [`PathError`].
    pub fn parse(bytes: &[u8]) -> Result<Self, PathError> {
        let shown = || String::from_utf8_lossy(bytes).into_owned();
        let mut path = PathBuf::new();
        for component in Path::new(OsStr::from_bytes(bytes)).components() {
            match component {
                Component::Normal(part) => path.push(part),
                Component::CurDir => {}
                Component::ParentDir => return Err(PathError::Escapes(shown())),
                Component::RootDir | Component::Prefix(_) => {
                    return Err(PathError::Absolute(shown()));
                }
            }
        }
        if path.as_os_str().is_empty() || bytes.contains(&0) || bytes.ends_with(b"/") {
            return Err(PathError::NoFile(shown()));
        }
        Ok(RelativePath(path))
    }

    /// Returns the path for use with `std`; it is never empty or absolute and has no `..`.
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// Returns the bytes of the path, with `/` between its parts.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_os_str().as_bytes()
    }
}

impl AsRef<Path> for RelativePath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl fmt::Display for RelativePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.display().fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_tree_have_a_path() {
        let path = RelativePath::parse(b"./src//x.c").unwrap();
        assert_eq!(path.as_path(), Path::new("src/x.c"));
        assert!(matches!(
            RelativePath::parse(b"/etc/passwd"),
            Err(PathError::Absolute(_))
        ));
        for escaping in [&b"../x.c"[..], b"src/../../x.c", b"src/.."] {
            assert!(matches!(
                RelativePath::parse(escaping),
                Err(PathError::Escapes(_))
            ));
        }
        for none in [&b""[..], b".", b"src/", b"a\0b"] {
            assert!(matches!(
                RelativePath::parse(none),
                Err(PathError::NoFile(_))
            ));
        }
    }
}
