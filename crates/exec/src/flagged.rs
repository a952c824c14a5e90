//! Builds a project by its own build command, with more flags for its C compilers.
//!
//! As when a build is watched, a folder stands first in `PATH` that has a script in place of each C compiler; here it adds the
//! flags. A build that names its compiler by an absolute path does not see these scripts, nor does a tree that CMake has
//! configured before. So the caller must look at the built programs ([`any_program_names`]).

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::files::{self, FileError};
use crate::intercept::{compilers_in_path, is_compiler_of_cpp, shell_quote};
use crate::runner::Environment;
use crate::sandbox::{Sandbox, touch_all};

/// What is added to a project's own build.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flagged<'f> {
    /// Flags that are added to every call of a C compiler.
    pub flags: &'f [&'f str],
    /// Objects (as programs see them) that are linked to every program.
    pub objects: &'f [&'f Path],
    /// What compiles C in place of each C compiler: its path, or its name in `PATH`. Those of C++ are called as they are then.
    pub compiler: Option<&'f Path>,
}

/// Returns the environment in which a build adds `flagged` to its compiler calls. It writes scripts in
/// place of the C compilers to `folder`, which programs see at `seen`.
///
/// # Errors
/// When a script cannot be written.
pub fn flagged_environment(
    folder: &Path,
    seen: &Path,
    flagged: Flagged<'_>,
) -> Result<Environment, FileError> {
    if !folder.exists() {
        files::create_private_folder(folder)?;
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let cc = std::env::var_os("CC");
    let compilers = compilers_in_path(&path, cc.as_deref());
    let instead = flagged.compiler.map(|named| {
        // The scripts stand before it in the path.
        compilers.get(named.as_os_str()).map_or(named, |path| path)
    });
    for (name, compiler) in &compilers {
        let script = folder.join(name);
        let text = match instead {
            Some(_) if is_compiler_of_cpp(name.as_bytes()) => {
                script_text(compiler, Flagged::default())
            }
            Some(instead) => script_text(instead, flagged),
            None => script_text(compiler, flagged),
        };
        files::write_atomic(&script, &text)?;
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

fn script_text(compiler: &Path, flagged: Flagged<'_>) -> Vec<u8> {
    let mut call = b"exec ".to_vec();
    call.extend(shell_quote(compiler.as_os_str()));
    call.extend_from_slice(b" \"$@\"");
    for flag in flagged.flags {
        call.push(b' ');
        call.extend(shell_quote(OsStr::new(flag)));
    }
    let mut script = b"#!/bin/sh\n".to_vec();
    if !flagged.objects.is_empty() {
        // What says that nothing is linked. A language that was named before (-x) is not the object's.
        script.extend_from_slice(
            b"for word; do\n  case $word in\n  -c|-S|-E|-M|-MM|-fsyntax-only|-v|-V|--version|-qversion|-dump*|-print*|--print*)\n    ",
        );
        script.extend_from_slice(&call);
        script.extend_from_slice(b" ;;\n  esac\ndone\n");
        call.extend_from_slice(b" -x none");
        for object in flagged.objects {
            call.push(b' ');
            call.extend(shell_quote(object.as_os_str()));
        }
    }
    script.extend_from_slice(&call);
    script.push(b'\n');
    script
}

/// Makes all C files of a tree newer than their objects, so that `make` compiles them again.
///
/// # Errors
/// When a time cannot be set.
pub fn touch_sources_of(sandbox: &Sandbox) -> Result<(), FileError> {
    touch_all(sandbox.folder(), OsStr::new("c"))
}

/// Whether the bytes of a program, a library or an object file of the tree contain `name`. It tells
/// whether the flags have reached the compiler.
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
