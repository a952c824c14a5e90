//! Whether two changes of a file are one: asked of the project's own compiler.
//!
//! Texts whose optimised code is the same do the same in every execution that C gives a meaning to. The reverse does
//! not hold: what differs in code may still be equivalent.

use std::path::Path;

use patchwright_exec::{CompileCommand, Limits, Project, Worker, files, record, runner::Request};
use patchwright_text::{Digest, Hasher};

use crate::{
    RepairError, Surroundings,
    prepare::{Prepared, worker_options},
};

/// The code of a text in all the ways in which it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code(Digest);

/// A copy of the untouched program in which changed files are compiled, and nothing is linked or run.
pub(crate) struct Compilations {
    worker: Worker,
    commands: Vec<CompileCommand>,
}

impl Compilations {
    /// Makes the copy.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn start<'a>(
        prepared: &Prepared,
        project: &'a Project,
        surroundings: &Surroundings<'a>,
    ) -> Result<Self, RepairError> {
        let base = &prepared.worker.sandbox;
        let folder = base.folder().to_path_buf();
        let worker = Worker::start(
            0,
            "compare",
            &worker_options(project, &folder, surroundings),
        )?;
        let (from, to) = (base.run_root(), worker.sandbox.run_root());
        let commands = prepared.commands.iter();
        let commands = commands.map(|command| command.rebase(from, to)).collect();
        Ok(Compilations { worker, commands })
    }

    /// The code of `text` in the place of `file`; `None` if it does not compile, or it is not known how.
    ///
    /// # Errors
    /// When the compiler cannot be run, or files cannot be written.
    pub(crate) fn code(&mut self, file: &Path, text: &[u8]) -> Result<Option<Code>, RepairError> {
        let Some(commands) = record::sources(&self.commands, &self.worker.sandbox).remove(file)
        else {
            return Ok(None);
        };
        let path = self.worker.sandbox.folder().join(file);
        let original = files::read(&path)?;
        files::replace(&path, text)?;
        let mut hash = Hasher::new();
        let mut complete = true;
        for command in &commands {
            let outcome = self.worker.runner.run(&assembly(command))?;
            complete &= outcome.ending.is_success();
            hash.field(&outcome.stdout);
        }
        files::replace(&path, &original)?;
        Ok(complete.then(|| Code(hash.finish())))
    }

    /// Removes the copy.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub(crate) fn remove(self) -> Result<(), RepairError> {
        let folder = self.worker.folder.clone();
        drop(self.worker);
        Ok(files::remove_tree(&folder)?)
    }
}

/// A command that prints optimised assembly without what tells where the text came from.
fn assembly(command: &CompileCommand) -> Request {
    let mut limits = Limits::for_build();
    limits.output = 1 << 30;
    let mut arguments = command.without_products().into_iter();
    let program = arguments.next().unwrap_or_default();
    let kept = arguments.filter(|argument| {
        let text = argument.to_string_lossy();
        !["-O", "-g", "-Werror"]
            .iter()
            .any(|flag| text.starts_with(flag))
    });
    let request = Request::new(program, &command.directory).limits(limits);
    request
        .past_compiler_caches()
        .args(kept)
        .args(["-w", "-O2", "-g0", "-fno-lto", "-S", "-o", "-"])
}
