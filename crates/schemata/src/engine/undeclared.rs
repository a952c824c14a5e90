//! Patches that call functions that are not declared: whether the linker would find them, asked for all at once.
//!
//! One build of a program that refers to all these names shows which of them nobody defines. A patch does not link if the
//! object that is made of it refers to such a name; a call that the compiler sees to be unreachable is not in it.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::lex;
use patchwright_exec::{BuildError, Limits, Worker, files, run_build, runner::Environment};
use patchwright_patches::{FileChange, Patch};

use super::Engine;
use crate::compiler::CompilerError;
use crate::helpers::Helpers;
use crate::isolate::{Clone, cloned};
use crate::linked::Symbols;
use crate::missing::missing_symbols;
use crate::outside::{Renames, renamed};
use crate::planned::SourceFile;
use crate::{Apart, EngineError, Fate};

/// A function of a patch that calls one that is not declared.
pub struct UndeclaredCall {
    /// Index of the patch in the set.
    pub patch: usize,
    /// Index among the sources.
    pub file: usize,
    /// Index of the function in its unit.
    pub function: usize,
    /// Its body.
    pub body: Vec<u8>,
    /// The name that is called.
    pub name: String,
}

impl Engine<'_> {
    /// Finds out which of the patches that call what is not declared do not link, and leaves the others as they are.
    ///
    /// # Errors
    /// As for [`Engine::prepare`].
    pub(super) fn settle_undeclared(
        &mut self,
        base: &mut Worker,
        helpers: &mut Helpers<'_>,
        patches: &[Patch],
    ) -> Result<(), EngineError> {
        /// Fewer are compiled sooner than another copy is made.
        const LEAST_FOR_A_COPY: usize = 4;
        let is_open = |call: &UndeclaredCall| {
            self.fates[call.patch] == Fate::Apart(Apart::Undeclared)
                && matches!(patches[call.patch].changes[..], [FileChange::Modify { .. }])
                && !self.plan.sources[call.file].compiler.links_optimized()
        };
        let calls = std::mem::take(&mut self.plan.undeclared);
        let calls: Vec<UndeclaredCall> = calls.into_iter().filter(is_open).collect();
        // One build for these, or one for each.
        if calls.len() < 2 {
            return Ok(());
        }
        let missing = self.missing(base, &calls)?;
        let calls = calls.into_iter();
        let mut calls: Vec<UndeclaredCall> = calls.filter(|c| missing.contains(&c.name)).collect();
        for file in 0..self.plan.sources.len() {
            let names = calls.iter().filter(|call| call.file == file);
            let names: BTreeSet<&str> = names.map(|call| call.name.as_str()).collect();
            if names.is_empty() {
                continue;
            }
            // A compiler may know what they give, and call nothing.
            let built_in = self.plan.sources[file].compiler.built_in(base, &names)?;
            calls.retain(|call| call.file != file || !built_in.contains(&call.name));
        }
        for file in 0..self.plan.sources.len() {
            let own: Vec<&UndeclaredCall> = calls.iter().filter(|c| c.file == file).collect();
            let (together, alone): (Vec<_>, Vec<_>) = own.into_iter().partition(|call| {
                let source = &self.plan.sources[file];
                !source.compiler.optimizes() || !is_static(source, call.function)
            });
            let mut referring = self.referring(base, file, &together)?;
            self.stats.compilations += alone.len();
            let compiler = &self.plan.sources[file].compiler;
            let refers = |worker: &mut Worker, call: &UndeclaredCall| {
                let change = patches[call.patch].changes.first();
                let Some(text) = change.and_then(FileChange::text) else {
                    return Ok(None);
                };
                // By a name that stands nowhere else in the object.
                let renames = Renames::from([(call.name.clone(), other(0))]);
                let object = compiler.object(worker, &renamed(&text.to_vec(), &renames))?;
                let refers = object.is_some_and(|object| Symbols::of(&object).contain(&other(0)));
                Ok(refers.then_some(call.patch))
            };
            let workers = helpers.parts(alone.len(), LEAST_FOR_A_COPY);
            for patch in helpers.run(base, alone, workers, refers)? {
                let patch: Result<Option<usize>, CompilerError> = patch;
                referring.extend(patch?);
            }
            for call in calls.iter().filter(|call| referring.contains(&call.patch)) {
                self.fates[call.patch] = Fate::DoesNotCompile {
                    file: self.plan.sources[file].relative.clone(),
                    line: 0,
                    message: format!("undefined reference to `{}'", call.name),
                };
            }
        }
        Ok(())
    }

    /// The names that the linker does not find.
    fn missing(
        &mut self,
        base: &mut Worker,
        calls: &[UndeclaredCall],
    ) -> Result<BTreeSet<String>, EngineError> {
        let build = self.context.project.build.as_ref();
        let build = build.ok_or(EngineError::NoBuild)?;
        let mut names: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        for call in calls {
            names.entry(call.file).or_default().insert(&call.name);
        }
        let mut worker = self
            .context
            .worker(0, "patches-undeclared", base.sandbox.folder())?;
        for (file, names) in names {
            let source = &self.plan.sources[file];
            let mut text = source.unit.source.clone();
            text.push(b'\n');
            // By another name in C, so that it may be one that the compiler knows.
            for (number, name) in names.into_iter().enumerate() {
                let reference = format!(
                    "extern char __pw_other_{number} __asm__(\"{name}\");\n\
                     __attribute__((used)) static char *__pw_refers_{number} = &__pw_other_{number};\n"
                );
                text.extend_from_slice(reference.as_bytes());
            }
            files::replace(&worker.sandbox.folder().join(&source.relative), &text)?;
        }
        self.stats.builds += 1;
        let built = run_build(
            &mut worker.runner,
            &worker.sandbox,
            build,
            &Environment::default(),
            &Limits::for_build(),
        );
        worker.sandbox.remove()?;
        let output = match built {
            Ok(_) => return Ok(BTreeSet::new()),
            Err(BuildError::Run(error)) => return Err(error.into()),
            Err(BuildError::Failed { output, .. }) => output,
        };
        let output = String::from_utf8_lossy(&output);
        let missing = missing_symbols(&output);
        Ok(missing.iter().map(|m| m.symbol.to_owned()).collect())
    }

    /// The patches whose functions refer to what they call when they are compiled as copies beside the others.
    fn referring(
        &mut self,
        base: &mut Worker,
        file: usize,
        calls: &[&UndeclaredCall],
    ) -> Result<BTreeSet<usize>, EngineError> {
        if calls.is_empty() {
            return Ok(BTreeSet::new());
        }
        let source = &self.plan.sources[file];
        let clones: Vec<Clone> = calls
            .iter()
            .enumerate()
            .map(|(number, call)| {
                let function = &source.unit.functions[call.function];
                let head = &source.unit.source
                    [function.span.start as usize..function.body_span.start as usize];
                let renames = Renames::from([(call.name.clone(), other(number))]);
                Clone {
                    head: Some([b"__attribute__((used)) ", head].concat()),
                    ..Clone::of_body(call.function, renamed(&call.body, &renames), 1)
                }
            })
            .collect();
        let all: Vec<usize> = (0..clones.len()).collect();
        let (text, functions) = (&source.unit.source, &source.unit.functions);
        let with = cloned(text, functions, &clones, &all, false);
        self.stats.compilations += 1;
        let Some(object) = source.compiler.object(base, &with.text)? else {
            return Ok(BTreeSet::new());
        };
        let symbols = Symbols::of(&object);
        let numbered = calls.iter().enumerate();
        let refers = numbered.filter(|(number, _)| symbols.contain(&other(*number)));
        Ok(refers.map(|(_, call)| call.patch).collect())
    }
}

/// Another name for what is not declared.
fn other(number: usize) -> String {
    format!("__pw_undeclared_{number}_")
}

/// Whether other files may not see a function, as far as its declarations tell: then compilers know all its callers.
fn is_static(source: &SourceFile, function: usize) -> bool {
    let (text, function) = (&source.unit.source, &source.unit.functions[function]);
    let words = lex::words_with_places(text);
    let named = words.iter().filter(|(word, _)| *word == function.name);
    named.into_iter().any(|(_, at)| {
        let before = &text[..*at];
        let start = before
            .iter()
            .rposition(|byte| b";{}".contains(byte))
            .map_or(0, |end| end + 1);
        let declaration = lex::words(&before[start..]);
        let internal = ["static", "inline", "__inline", "__inline__"];
        declaration
            .iter()
            .any(|word| internal.contains(&word.as_str()))
    })
}
