//! Finds values that a patched function may use unwritten, and the untouched one does not.
//!
//! Tests say nothing about that: fresh memory that is compared with fresh memory is equal in every pattern. Only a new use in a
//! function whose text the patch changes speaks against the patch. A use that the untouched function may make as well does not
//! count, even if the patch changes a condition on the way to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use patchwright_csource::{Clang, ParseError, TranslationUnit, parse_variants};
use patchwright_definite::Analysis;
use patchwright_exec::{CompileCommand, Worker, all_sources, files};

use crate::{RepairError, changed_file::Candidate, prepare::Prepared};

/// The untouched sources as the analysis has read them, once for each way of compiling. Sources that it cannot read are missing.
#[derive(Default)]
pub(crate) struct Untouched {
    read: Mutex<BTreeMap<PathBuf, Arc<Vec<TranslationUnit>>>>,
}

impl Untouched {
    /// Returns what a candidate in the copy of `worker` may use without a value. `None` if that is nothing, or if the analysis does not
    /// understand the code.
    ///
    /// # Errors
    /// When clang cannot be run, or files cannot be written.
    pub(crate) fn objection(
        &self,
        worker: &mut Worker,
        prepared: &Prepared,
        candidate: &Candidate<'_>,
    ) -> Result<Option<String>, RepairError> {
        let changed = (candidate.file, candidate.text);
        let found = self.compared(worker, prepared, changed, may_be_new, new_in)?;
        Ok(found.into_iter().flatten().next())
    }

    /// Returns the functions that the analysis understands, and that use nothing without a value which the untouched file does not use
    /// likewise.
    ///
    /// # Errors
    /// When clang cannot be run, or files cannot be written.
    pub(crate) fn harmless<'f>(
        &self,
        worker: &mut Worker,
        prepared: &Prepared,
        changed: (&Path, &[u8]),
        functions: &[&'f str],
    ) -> Result<Vec<&'f str>, RepairError> {
        let harmless = |untouched: &_, patched: &_, commands: &[CompileCommand]| {
            let path = commands.first()?.file.to_string_lossy();
            let (untouched, patched) =
                (Analysis::of(untouched, &path), Analysis::of(patched, &path));
            let is_harmless = |function: &&&'f str| {
                let is_read = patched.is_whole(function) || !untouched.is_whole(function);
                is_read && untouched.new_use(&patched, function).is_none()
            };
            let harmless = functions.iter().filter(is_harmless);
            Some(harmless.copied().collect::<Vec<&str>>())
        };
        let always = |_: &[u8], _: &TranslationUnit, _: &str| true;
        let found = self.compared(worker, prepared, changed, always, harmless)?;
        let is_in_all = |function: &&&str| {
            let mut found = found.iter();
            found.all(|own| own.as_ref().is_some_and(|own| own.contains(function)))
        };
        Ok(match found.is_empty() {
            true => Vec::new(),
            false => functions.iter().filter(is_in_all).copied().collect(),
        })
    }

    /// What a comparison of the untouched trees of a file with those that it has with another text finds, each time; `worker` has it in
    /// its copy. Nothing where it is not understood, or where no tree of the text `may` have anything to find: the untouched source is not
    /// read for it.
    fn compared<T>(
        &self,
        worker: &mut Worker,
        prepared: &Prepared,
        (file, text): (&Path, &[u8]),
        may: impl Fn(&[u8], &TranslationUnit, &str) -> bool,
        compare: impl Fn(&TranslationUnit, &TranslationUnit, &[CompileCommand]) -> Option<T>,
    ) -> Result<Vec<Option<T>>, RepairError> {
        let (from, to) = (
            prepared.worker.sandbox.run_root(),
            worker.sandbox.run_root(),
        );
        let commands = prepared.commands.iter();
        let commands: Vec<CompileCommand> =
            commands.map(|command| command.rebase(from, to)).collect();
        let mut sources = all_sources(&commands, &worker.sandbox);
        let Some(commands) = sources.remove(file) else {
            return Ok(Vec::new());
        };
        let patched = read(worker, &commands, text)?;
        if !self.has_read(file)
            && let Some(command) = commands.first()
        {
            let untouched = files::read(&prepared.worker.sandbox.folder().join(file))?;
            let path = command.file.to_string_lossy();
            if !patched.iter().any(|unit| may(&untouched, unit, &path)) {
                return Ok(Vec::new());
            }
        }
        let untouched = self.untouched(worker, prepared, file, &commands)?;
        if patched.len() != untouched.len() {
            return Ok(Vec::new());
        }
        let pairs = patched.iter().zip(untouched.iter());
        let compared = pairs.map(|(patched, untouched)| compare(untouched, patched, &commands));
        Ok(compared.collect())
    }

    fn has_read(&self, file: &Path) -> bool {
        let known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        known.contains_key(file)
    }

    fn untouched(
        &self,
        worker: &mut Worker,
        prepared: &Prepared,
        file: &Path,
        commands: &[CompileCommand],
    ) -> Result<Arc<Vec<TranslationUnit>>, RepairError> {
        let mut known = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(file) {
            return Ok(known.clone());
        }
        let text = files::read(&prepared.worker.sandbox.folder().join(file))?;
        let exchanged = files::Exchanged::put(&worker.sandbox.folder().join(file), &text)?;
        let units = read(worker, commands, &text);
        exchanged.put_back()?;
        let units = Arc::new(units?);
        known.insert(file.to_path_buf(), units.clone());
        Ok(units)
    }
}

/// The trees of a source that holds `text`; none if clang does not accept it.
fn read(
    worker: &mut Worker,
    commands: &[CompileCommand],
    text: &[u8],
) -> Result<Vec<TranslationUnit>, RepairError> {
    let clang = Clang::find(&mut worker.runner)?;
    match parse_variants(&clang, &mut worker.runner, commands, text) {
        Ok(units) => Ok(units),
        Err(ParseError::Run(error)) => Err(error.into()),
        Err(error) => {
            tracing::info!("{error}");
            Ok(Vec::new())
        }
    }
}

/// Whether a function that holds something of what differs from the untouched text may use what nobody has written.
fn may_be_new(untouched: &[u8], patched: &TranslationUnit, path: &str) -> bool {
    let text = &patched.source;
    let same = untouched.iter().zip(text.iter());
    let before = same.take_while(|(own, other)| own == other).count();
    let same = untouched.iter().rev().zip(text.iter().rev());
    let behind = same.take_while(|(own, other)| own == other).count();
    let (first, last) = (before, text.len().saturating_sub(behind).max(before));
    let analysis = Analysis::of(patched, path);
    let mut functions = patched.functions.iter();
    functions.any(|function| {
        let span = function.span.range();
        span.start <= last && first <= span.end && analysis.has_uses(&function.name)
    })
}

/// What a function with another text may use without a value, and does not so far.
fn new_in(
    untouched: &TranslationUnit,
    patched: &TranslationUnit,
    commands: &[CompileCommand],
) -> Option<String> {
    let path = commands.first()?.file.to_string_lossy();
    let changed: Vec<&str> = patched
        .functions
        .iter()
        .filter(|function| {
            let before = untouched
                .functions
                .iter()
                .find(|other| other.name == function.name);
            before.is_some_and(|before| {
                before.span.slice(&untouched.source) != function.span.slice(&patched.source)
            })
        })
        .map(|function| function.name.as_str())
        .collect();
    if changed.is_empty() {
        return None;
    }
    let (untouched, patched) = (Analysis::of(untouched, &path), Analysis::of(patched, &path));
    let doubt = changed
        .into_iter()
        .find_map(|function| untouched.new_use(&patched, function))?;
    Some(format!("in `{}`, {}", doubt.function, doubt.text))
}
