//! A project's own build with more flags for its C compilers.
//!
//! As when a build is watched, a folder stands first in `PATH` that has a script in place of each C compiler; here it adds the flags. A
//! build that names its compiler by an absolute path does not see them, nor does a tree that CMake has configured before, so
//! what is built is to be looked at ([`any_program_names`]).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::files::{self, FileError};
use crate::intercept::{compilers_in_path, shell_quote};
use crate::runner::Environment;
use crate::sandbox::{Sandbox, touch_all};

/// Makes scripts that add `flags` to every call of a C compiler, and `object` (a path as programs see it) where it links. They are written
/// to `folder`, which programs see at `seen`; the result is the environment in which a build uses them.
///
/// # Errors
/// When a script cannot be written.
pub fn flagged_environment(
    folder: &Path,
    seen: &Path,
    flags: &[&str],
    object: Option<&Path>,
) -> Result<Environment, FileError> {
    if !folder.exists() {
        files::create_private_folder(folder)?;
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let cc = std::env::var_os("CC");
    for (name, compiler) in compilers_in_path(&path, cc.as_deref()) {
        let script = folder.join(name);
        files::write_atomic(&script, &script_text(&compiler, flags, object))?;
        files::make_executable(&script)?;
    }
    let mut environment = Environment::default();
    let mut search = OsString::from(seen);
    search.push(":");
    search.push(&path);
    environment.set.insert("PATH".into(), search);
    // What is in the cache was compiled without the flags.
    environment.set.insert("CCACHE_DISABLE".into(), "1".into());
    Ok(environment)
}

fn script_text(compiler: &Path, flags: &[&str], object: Option<&Path>) -> Vec<u8> {
    let mut call = b"exec ".to_vec();
    call.extend(shell_quote(compiler.as_os_str()));
    call.extend_from_slice(b" \"$@\"");
    for flag in flags {
        call.push(b' ');
        call.extend(shell_quote(OsStr::new(flag)));
    }
    let mut script = b"#!/bin/sh\n".to_vec();
    if let Some(object) = object {
        // What says that nothing is linked. A language that was named before (-x) is not the object's.
        script.extend_from_slice(
            b"for word; do\n  case $word in\n  -c|-S|-E|-M|-MM|-fsyntax-only|-v|-V|--version|-qversion|-dump*|-print*|--print*)\n    ",
        );
        script.extend_from_slice(&call);
        script.extend_from_slice(b" ;;\n  esac\ndone\n");
        call.extend_from_slice(b" -x none ");
        call.extend(shell_quote(object.as_os_str()));
    }
    script.extend_from_slice(&call);
    script.push(b'\n');
    script
}

/// Lets `make` compile all C files of a tree again.
///
/// # Errors
/// When a time cannot be set.
pub fn touch_sources_of(sandbox: &Sandbox) -> Result<(), FileError> {
    touch_all(sandbox.folder(), OsStr::new("c"))
}

/// Whether some program, library or object file of a tree has this name in it.
///
/// # Errors
/// When the tree cannot be read.
pub fn any_program_names(sandbox: &Sandbox, name: &str) -> Result<bool, FileError> {
    for path in files::regular_files_below(sandbox.folder())? {
        // A file that cannot be read names nothing.
        let Ok(bytes) = files::read(&path) else {
            continue;
        };
        let is_elf = bytes.starts_with(b"\x7fELF");
        if is_elf && has(&bytes, OsStr::new(name).as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn has(bytes: &[u8], wanted: &[u8]) -> bool {
    bytes.windows(wanted.len()).any(|window| window == wanted)
}
