//! Writes drawings to files.

use std::path::{Path, PathBuf};

use patchwright_exec::files::{self, FileError};

/// The format of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Scalable vector graphics.
    Svg,
    /// The language of Graphviz.
    Dot,
}

/// The error that the name of a file does not tell the format of its drawing.
#[derive(Debug, thiserror::Error)]
#[error("--graph {}: the name must end in .svg or .dot", path.display())]
pub struct UnknownFormat {
    path: PathBuf,
}

/// A file for a drawing.
#[derive(Clone, Debug)]
pub struct Canvas<'a> {
    path: &'a Path,
    /// How it is drawn.
    pub format: Format,
}

impl<'a> Canvas<'a> {
    /// Takes the format from the extension of `path`.
    ///
    /// # Errors
    /// [`UnknownFormat`] if it does not.
    pub fn new(path: &'a Path) -> Result<Self, UnknownFormat> {
        let format = match path.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => Format::Svg,
            Some("dot") => Format::Dot,
            _ => {
                return Err(UnknownFormat {
                    path: path.to_path_buf(),
                });
            }
        };
        Ok(Canvas { path, format })
    }

    /// Writes the drawing to the file.
    ///
    /// # Errors
    /// [`FileError`] where that is not possible.
    pub fn write(&self, drawing: &str) -> Result<(), FileError> {
        files::write_atomic(self.path, drawing.as_bytes())
    }
}
