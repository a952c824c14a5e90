//! Compiles sources to object code, to compare it.

use std::{error::Error, ffi::OsString};

use patchwright_exec::{CompileCommand, Limits, Request, Worker, files};

/// The bytes of an object file, or the compiler's first error.
pub type Object = Result<Vec<u8>, String>;

/// Returns the object code of a compile command at an optimization level such as `-O0`, or the compiler's
/// first error.
pub fn object(
    worker: &mut Worker,
    command: &CompileCommand,
    level: &str,
) -> Result<Object, Box<dyn Error>> {
    let output = worker.folder.join("object.o");
    let mut arguments = command.without_products().into_iter();
    let program = arguments.next().unwrap_or_default();
    let kept = arguments.filter(|argument| {
        let text = argument.to_string_lossy();
        !["-O", "-g", "-Werror"]
            .iter()
            .any(|flag| text.starts_with(flag))
    });
    let request = Request::new(program, &command.directory)
        .limits(Limits::for_build())
        .args(kept);
    let last: [OsString; 6] = [
        "-w".into(),
        level.into(),
        "-g0".into(),
        "-c".into(),
        "-o".into(),
        output.clone().into(),
    ];
    let outcome = worker.runner.run(&request.args(last))?;
    if outcome.ending.is_success() {
        return Ok(Ok(files::read(&output)?));
    }
    let text = String::from_utf8_lossy(&outcome.stderr).into_owned();
    let line = text
        .lines()
        .find(|line| line.contains("error"))
        .unwrap_or("fails");
    Ok(Err(line.to_owned()))
}
