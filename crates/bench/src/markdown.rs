//! Where tables go.

use std::{error::Error, path::Path};

use patchwright_exec::files;

/// Prints a table, and writes it into a file as well, if one is named.
pub fn print(text: &str, file: Option<&Path>) -> Result<(), Box<dyn Error>> {
    if let Some(file) = file {
        if let Some(parent) = file.parent() {
            files::create_folder(parent)?;
        }
        files::write_atomic(file, text.as_bytes())?;
    }
    print!("{text}");
    Ok(())
}
