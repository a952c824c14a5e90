//! Compiles sources with optimization and reads the compiler's warnings.

use std::{collections::BTreeSet, path::Path};

use patchwright_exec::{CompileCommand, Limits, Worker, all_sources, runner::Request};

use crate::RepairError;

/// Returns the compiler's warnings about values that are read and were certainly never written. The source of the copy is
/// compiled as it is now, by `commands` of a copy at `from`. The result is empty if no command compiles it.
///
/// # Errors
/// When the compiler cannot be run.
pub(crate) fn reads_of_nothing(
    worker: &mut Worker,
    (commands, from): (&[CompileCommand], &Path),
    file: &Path,
) -> Result<BTreeSet<String>, RepairError> {
    let to = worker.sandbox.run_root();
    let commands = commands.iter();
    let commands: Vec<CompileCommand> = commands.map(|command| command.rebase(from, to)).collect();
    let sources = all_sources(&commands, &worker.sandbox);
    let mut found = BTreeSet::new();
    for command in sources.get(file).into_iter().flatten() {
        let outcome = worker.runner.run(&warning(command))?;
        let text = String::from_utf8_lossy(&outcome.stderr);
        let said = text
            .lines()
            .filter_map(|line| Some(line.split_once(": warning: ")?.1));
        let of_that = said.filter(|said| {
            said.contains("is used uninitialized") || said.contains("is uninitialized when used")
        });
        found.extend(of_that.map(|said| {
            let end = said.find(" [-W").unwrap_or(said.len());
            said[..end].to_owned()
        }));
    }
    Ok(found)
}

/// A command that warns of values that are read and were certainly never written, as far as an optimiser sees it, and leaves nothing
/// behind.
fn warning(command: &CompileCommand) -> Request {
    let flags = ["-Wuninitialized", "-fdiagnostics-color=never"];
    optimised(command)
        .args(flags)
        .args(["-O2", "-g0", "-fno-lto", "-S", "-o", "/dev/null"])
}

/// The beginning of such a command.
pub(crate) fn optimised(command: &CompileCommand) -> Request {
    let mut limits = Limits::for_build();
    limits.output = 1 << 30;
    let mut arguments = command.without_products().into_iter();
    let program = arguments.next().unwrap_or_default();
    let kept = arguments.filter(|argument| {
        let text = argument.to_string_lossy();
        text != "-w"
            && !["-O", "-g", "-Werror"]
                .iter()
                .any(|flag| text.starts_with(flag))
    });
    let request = Request::new(program, &command.directory).limits(limits);
    request.past_compiler_caches().args(kept)
}
