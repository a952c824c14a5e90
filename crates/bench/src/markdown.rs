//! Prints Markdown tables.

use std::{error::Error, path::Path};

use patchwright_exec::files;

/// Prints a table, and also writes it into `file`, if given.
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
