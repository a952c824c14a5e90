//! C files that are linked together, as modules of the IR.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use patchwright_csource::Clang;
use patchwright_exec::{CancelToken, CompileCommand, Runner, RunnerProgram, files};
use patchwright_ir::Module;

/// A C file and what became of it.
pub struct Source {
    /// Its path, absolute.
    pub file: PathBuf,
    /// Its text.
    pub text: Vec<u8>,
    /// It in the IR; its file 0 is this file.
    pub module: Module,
}

/// Reads and lowers C files, with these flags for the compiler.
///
/// # Errors
/// A message for the user.
pub fn lower(sources: &[OsString], cflags: Option<&str>) -> Result<Vec<Source>, String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let program = RunnerProgram::current_exe(["__runner"]).map_err(|e| text(&e))?;
    let cancel = CancelToken::new().map_err(|e| text(&e))?;
    let mut runner = Runner::start(&program, None, cancel).map_err(|e| text(&e))?;
    let clang = Clang::find(&mut runner).map_err(|e| text(&e))?;
    let here = std::env::current_dir().map_err(|e| text(&e))?;
    let flags = match cflags {
        None => Vec::new(),
        Some(flags) => {
            shlex::split(flags).ok_or_else(|| format!("`--cflags {flags}` has an open quote"))?
        }
    };
    let mut lowered = Vec::new();
    for source in sources {
        let file = here.join(source);
        let bytes = files::read(&file).map_err(|e| text(&e))?;
        let mut words: Vec<OsString> = vec!["cc".into()];
        words.extend(flags.iter().map(OsString::from));
        words.push("-c".into());
        words.push(source.clone());
        let command = CompileCommand {
            directory: here.clone(),
            arguments: words,
            output: None,
            included: None,
            file: file.clone(),
        };
        let unit = patchwright_csource::parse(&clang, &mut runner, &command, bytes.clone())
            .map_err(|e| text(&e))?;
        let module = patchwright_lower::lower(&unit, &file.to_string_lossy());
        lowered.push(Source {
            file,
            text: bytes,
            module,
        });
    }
    Ok(lowered)
}

/// The name that a program is called by when nobody says another one: that of its first file,
/// without the extension.
pub fn program_name(first: &OsString) -> OsString {
    Path::new(first).with_extension("").into_os_string()
}
