//! Our own objects that are linked to the programs of a copy.

use std::{ffi::OsString, path::PathBuf};

use patchwright_exec::{Limits, files, runner::Request};

use crate::{RepairError, clean_copy::CleanCopy};

/// An object in a copy, for a moment.
const OBJECT: &str = ".patchwright-object.o";

/// Compiles a source of Patchwright's into a folder of this name, and returns the object's path as programs of the copy see it. `None` if
/// it cannot be compiled.
///
/// # Errors
/// When files cannot be written.
pub(crate) fn compiled(
    copy: &mut CleanCopy<'_>,
    name: &str,
    source: &str,
) -> Result<Option<PathBuf>, RepairError> {
    let (folder, seen) = copy.run_folders();
    let (folder, seen) = (folder.join(name), seen.join(name));
    if !folder.exists() {
        files::create_private_folder(&folder)?;
    }
    let object = folder.join("object.o");
    if object.exists() {
        return Ok(Some(seen.join("object.o")));
    }
    files::write_atomic(&folder.join("source.c"), source.as_bytes())?;
    // Programs can write to the copy only.
    let (tree, root) = (copy.sandbox().folder(), copy.sandbox().run_root());
    let made = tree.join(OBJECT);
    let words = ["-c", "-O1", "-fPIC", "-w", "-o", OBJECT].map(OsString::from);
    let words = words.into_iter().chain([seen.join("source.c").into()]);
    let request = Request::new("cc", root).args(words);
    if !copy.run_program(&request.limits(Limits::for_build()))? {
        return Ok(None);
    }
    files::write_atomic(&object, &files::read(&made)?)?;
    files::remove_file(&made)?;
    Ok(Some(seen.join("object.o")))
}
