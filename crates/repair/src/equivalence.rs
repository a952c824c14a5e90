//! Asks the project's own compiler whether two changes of a file give the same code.
//!
//! Texts whose optimised code is the same do the same in every execution that C gives a meaning to. The reverse does
//! not hold: what differs in code may still be equivalent.
//!
//! Most of the time of such a compilation goes to functions that are the same in both texts. So those are compiled without
//! their bodies, where that is possible ([`alone`]).

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use patchwright_csource::{Function, TranslationUnit};
use patchwright_exec::{CompileCommand, Project, Worker, all_sources, files, runner::Request};
use patchwright_text::{Digest, Edit, Hasher, Span, apply_edits};

use crate::{
    RepairError, Surroundings,
    optimised::optimised,
    prepare::{Prepared, worker_options},
};

/// The code of a text in all the ways in which it is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code(Digest);

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A copy of the untouched program in which changed files are compiled, and nothing is linked or run.
pub struct Compilations {
    worker: Worker,
    /// How each source is compiled there.
    sources: BTreeMap<PathBuf, Vec<CompileCommand>>,
}

impl Compilations {
    /// Makes the copy; `name` is that of its folder, which must be new.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn start<'a>(
        name: &str,
        prepared: &Prepared,
        project: &'a Project,
        surroundings: &Surroundings<'a>,
    ) -> Result<Self, RepairError> {
        let base = &prepared.worker.sandbox;
        let folder = base.folder().to_path_buf();
        let worker = Worker::start(0, name, &worker_options(project, &folder, surroundings))?;
        let (from, to) = (base.run_root(), worker.sandbox.run_root());
        let commands = prepared.commands.iter();
        let commands: Vec<CompileCommand> =
            commands.map(|command| command.rebase(from, to)).collect();
        let sources = all_sources(&commands, &worker.sandbox);
        Ok(Compilations::of(worker, sources))
    }

    /// Compiles in the copy of a worker, in which nothing else is done; `sources` says how each source is compiled there.
    pub fn of(worker: Worker, sources: BTreeMap<PathBuf, Vec<CompileCommand>>) -> Self {
        Compilations { worker, sources }
    }

    /// Returns the machine code of `text` in place of `file`. `None` if it does not compile, if its compilation is unknown, or if the
    /// function `wanted` has no code.
    ///
    /// # Errors
    /// When the compiler cannot be run, or files cannot be written.
    pub fn code(
        &mut self,
        file: &Path,
        text: &[u8],
        wanted: Option<&str>,
    ) -> Result<Option<Code>, RepairError> {
        let Some(commands) = self.sources.get(file) else {
            return Ok(None);
        };
        let path = self.worker.sandbox.folder().join(file);
        let exchanged = files::Exchanged::put(&path, text)?;
        let mut hash = Hasher::new();
        let label = wanted.map(|name| format!("\n{name}:"));
        let (mut complete, mut has_wanted) = (true, label.is_none());
        for command in commands {
            let outcome = self.worker.runner.run(&assembly(command))?;
            complete &= outcome.ending.is_success();
            has_wanted |= label.as_ref().is_some_and(|label| {
                let mut places = outcome.stdout.windows(label.len());
                places.any(|text| text == label.as_bytes())
            });
            hash.field(&outcome.stdout);
        }
        exchanged.put_back()?;
        Ok((complete && has_wanted).then(|| Code(hash.finish())))
    }

    /// Removes the copy.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove(self) -> Result<(), RepairError> {
        let folder = self.worker.folder.clone();
        drop(self.worker);
        Ok(files::remove_tree(&folder)?)
    }
}

/// Returns the function that holds all of these edits and its machine code with them, told apart as those of the search's own patches.
/// `None` where it cannot be compiled, or where edits lie elsewhere.
///
/// # Errors
/// See [`Compilations::code`].
pub(crate) fn code_with(
    edits: &[Edit],
    unit: &TranslationUnit,
    file: &Path,
    compilations: &mut Compilations,
) -> Result<Option<(String, Code)>, RepairError> {
    let mut functions = unit.functions.iter();
    let holds = |function: &Function| {
        let mut edits = edits.iter();
        edits.all(|edit| function.body_span.contains_span(edit.span))
    };
    let Some(function) = functions.position(holds) else {
        return Ok(None);
    };
    let name = &unit.functions[function].name;
    let mut alone = alone(unit, function);
    let text = |edits: Vec<Edit>| apply_edits(&unit.source, &edits).ok();
    let original = text(alone.clone());
    let original = original.map(|text| compilations.code(file, &text, Some(name)));
    if original.transpose()?.flatten().is_none() {
        alone.clear();
    }
    let wanted = (!alone.is_empty()).then_some(&name[..]);
    let Some(text) = text(alone.iter().chain(edits).cloned().collect()) else {
        return Ok(None);
    };
    let code = compilations.code(file, &text, wanted)?;
    Ok(code.map(|code| (name.clone(), code)))
}

/// Returns edits that reduce all functions of a source but one to declarations.
///
/// The remaining function keeps its meaning. It and all `static` variables of the file are named in a table that other files could
/// see. So the compiler neither drops the function nor assumes that nobody else writes the variables.
pub fn alone(unit: &TranslationUnit, function: usize) -> Vec<Edit> {
    let mut edits: Vec<Edit> = unit
        .functions
        .iter()
        .enumerate()
        .filter(|(index, other)| *index != function && is_removable(&unit.source, other))
        .map(|(_, other)| Edit::replace(other.body_span, ";"))
        .collect();
    let mut kept = BTreeSet::from([unit.functions[function].name.clone()]);
    for (variable, declared) in unit.variables.iter().zip(&unit.declared) {
        // `static` locals are declared so, too, but cannot be named here.
        let is_global = variable.storage == patchwright_csource::Storage::Global;
        if is_global && declared.internal && !variable.thread_local {
            kept.insert(format!("&{}", variable.name));
        }
    }
    let kept: Vec<String> = kept
        .iter()
        .map(|name| format!("(const volatile void *){name}"))
        .collect();
    let table = format!(
        "\nconst volatile void *patchwright_kept[] = {{ {} }};\n",
        kept.join(", ")
    );
    let end = unit.source.len() as u32;
    edits.push(Edit::replace(Span::empty(end), table));
    edits
}

/// Whether a function without its body is a declaration. That needs a body in the file without directives, directly behind the list of
/// parameters. (In an old-style definition the parameters' types stand between.)
fn is_removable(source: &[u8], function: &Function) -> bool {
    let (head, body) = (
        &source[..function.body_span.start as usize],
        &source[function.body_span.range()],
    );
    let has_directive = body
        .split(|&byte| byte == b'\n')
        .any(|line| line.trim_ascii_start().starts_with(b"#"));
    !function.body_span.is_empty() && head.trim_ascii_end().ends_with(b")") && !has_directive
}

/// A command that prints optimised assembly without what tells where the text came from.
fn assembly(command: &CompileCommand) -> Request {
    optimised(command).args(["-w", "-O2", "-g0", "-fno-lto", "-S", "-o", "-"])
}
