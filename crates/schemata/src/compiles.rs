//! Finds which of the planned patches compile. The compiler is asked about all patches of a file
//! together, as far as possible.

use std::collections::BTreeMap;
use std::path::Path;

use patchwright_csource::{Clang, lex};
use patchwright_definite::Analysis;
use patchwright_exec::Worker;
use patchwright_patches::{Digest, FileChange, NewText, Patch};
use patchwright_text::Edit;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::compiler::{Compiler, Depth, Diagnostic};
use crate::edits::{is_blank, trimmed};
use crate::initializers::changed_initializer;
use crate::isolate::{Clone as FunctionClone, Compiles, Isolation};
use crate::outside;
use crate::plan::{Plan, Planner};
use crate::planned::{PlannedPatch, SourceFile};
use crate::undeclared_calls::UndeclaredCall;
use crate::undefined::{Doubts, Suspicion};
use crate::warnings::Warnings;
use crate::{Apart, EngineError, Event, Fate};

/// Fewer patched functions are compiled sooner than another copy is made.
const LEAST_FOR_A_COPY: usize = 150;

impl Planner<'_, '_> {
    /// Compiles every different patched function once. The result is what is to be said of patches besides.
    pub(crate) fn compile_functions(
        &mut self,
        plan: &mut Plan,
        patches: &[Patch],
        fates: &mut [Option<Fate>],
    ) -> Result<BTreeMap<usize, Suspicion>, EngineError> {
        let mut doubtful: BTreeMap<usize, Suspicion> = BTreeMap::new();
        for file in 0..plan.sources.len() {
            let source = &plan.sources[file];
            let mut numbers: FxHashMap<(usize, Vec<u8>), usize> = FxHashMap::default();
            let mut clones: Vec<FunctionClone> = Vec::new();
            // Clones of each patch; a patch with several functions has several.
            let mut users: Vec<(usize, usize)> = Vec::new();
            let functions_only = plan.patches.iter().enumerate();
            for (number, planned) in functions_only.filter(|(_, planned)| !planned.adds()) {
                for own in planned.files.iter().filter(|own| own.file == file) {
                    for edits in &own.functions {
                        let function = &source.unit.functions[edits.function];
                        let body = crate::runs::alternative(
                            &source.unit.source,
                            function.body_span,
                            &edits.edits,
                        );
                        let original = function.body_span.slice(&source.unit.source);
                        // Behind the original, and before all others, they would be defined twice.
                        if lex::lasting_directives(original.unwrap_or_default())
                            != lex::lasting_directives(&body)
                        {
                            fates[planned.patch].get_or_insert(Fate::Apart(Apart::NotIsolated));
                            continue;
                        }
                        let line = i64::from(source.lines.line(function.body_span.start))
                            + own.lines_before(function.body_span.start);
                        let next = clones.len();
                        let clone = *numbers.entry((edits.function, body)).or_insert_with_key(
                            |(function, body)| {
                                let line = u32::try_from(line).unwrap_or(1);
                                let body = body.clone();
                                clones.push(FunctionClone::of_body(*function, body, line));
                                next
                            },
                        );
                        users.push((number, clone));
                    }
                }
            }
            drop(numbers);
            let workers = self.helpers.parts(clones.len(), LEAST_FOR_A_COPY);
            let parts = clones.chunks(clones.len().div_ceil(workers).max(1));
            let clang = self.clang;
            let ask =
                |worker: &mut Worker, clones| SaidOfClones::ask(worker, clang, source, clones);
            let said = self
                .helpers
                .run(self.worker, parts.collect(), workers, ask)?;
            let (mut verdicts, mut doubts) = (Vec::new(), BTreeMap::new());
            for said in said {
                let said: SaidOfClones = said?;
                self.stats.compilations += said.compilations;
                let before = verdicts.len();
                doubts.extend(
                    said.doubts
                        .into_iter()
                        .map(|(clone, suspicion)| (before + clone, suspicion)),
                );
                verdicts.extend(said.verdicts);
            }
            let is_once = source.others.are_none();
            for (number, clone) in users {
                let patch = plan.patches[number].patch;
                let fate = match &verdicts[clone] {
                    Compiles::Yes => {
                        if let Some(suspicion) = doubts.get(&clone) {
                            tracing::info!("{}: {suspicion:?}", patches[patch].id);
                            doubtful.entry(patch).or_default().add(suspicion);
                        }
                        continue;
                    }
                    Compiles::No { line, message } => Fate::DoesNotCompile {
                        file: source.relative.clone(),
                        line: *line,
                        message: message.clone(),
                    },
                    // The linker would have to be asked about each way.
                    Compiles::Undeclared(_) if !is_once => Fate::Apart(Apart::CompiledTwice),
                    Compiles::Undeclared(names) => {
                        let call = |name: &String| UndeclaredCall {
                            patch,
                            file,
                            function: clones[clone].function,
                            body: clones[clone].body.clone(),
                            name: name.clone(),
                        };
                        plan.undeclared.extend(names.iter().map(call));
                        Fate::Apart(Apart::Undeclared)
                    }
                    Compiles::Unknown(message) => {
                        tracing::info!("{}: {message}", patches[patch].id);
                        Fate::Apart(Apart::NotIsolated)
                    }
                };
                // An error of one function is an error of the patch, whatever is said of the others.
                let fails = matches!(fate, Fate::DoesNotCompile { .. });
                if fates[patch].is_none() || fails {
                    fates[patch] = Some(fate);
                }
            }
        }
        let is_unlinked =
            |planned: &PlannedPatch| fates[planned.patch] == Some(Fate::Apart(Apart::Undeclared));
        let unlinked = plan.patches.iter().filter(|planned| is_unlinked(planned));
        plan.unlinked = unlinked.cloned().collect();
        plan.patches
            .retain(|planned| fates[planned.patch].is_none());
        Ok(doubtful)
    }

    /// Compiles each patched file by itself if warnings are errors, because some warnings come late or concern the whole file. It does so
    /// too for files to which something is added outside of functions, which a clone of a function would not find.
    pub(crate) fn compile_files(
        &mut self,
        plan: &mut Plan,
        patches: &[Patch],
        fates: &mut [Option<Fate>],
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), EngineError> {
        let mut known = KnownFiles::default();
        let arrays = self.compile_arrays(plan, patches)?;
        let unwarned = self.give_no_warnings(plan, patches)?;
        for planned in &plan.patches {
            match arrays.get(&planned.patch) {
                Some(Compiles::Yes) => continue,
                Some(Compiles::No { line, message }) => {
                    let file = planned.files.first().map(|own| own.file);
                    fates[planned.patch] = file.map(|file| Fate::DoesNotCompile {
                        file: plan.sources[file].relative.clone(),
                        line: *line,
                        message: message.clone(),
                    });
                    continue;
                }
                Some(Compiles::Undeclared(_) | Compiles::Unknown(_)) | None => {}
            }
            for own in &planned.files {
                let source = &plan.sources[own.file];
                if unwarned.contains(&(own.file, planned.patch)) {
                    continue;
                }
                let depth = match source.warnings_are_errors() {
                    true => Depth::Full,
                    false if planned.adds() => Depth::Syntax,
                    false => continue,
                };
                let patch = &patches[planned.patch];
                tracing::debug!("compiled by itself: {}", patch.id);
                let said = self.file_said(own.file, source, patch, depth, &mut known)?;
                if let Some(error) = said.error(source) {
                    fates[planned.patch] = Some(error);
                    break;
                }
                if planned.adds() && said.undeclared {
                    fates[planned.patch] = Some(Fate::Apart(Apart::Undeclared));
                }
            }
            sink(Event::Progress(planned.patch));
        }
        plan.patches
            .retain(|planned| fates[planned.patch].is_none());
        Ok(())
    }

    /// Patches of function bodies that compile though warnings are errors, as pairs of source and patch: those that are found without
    /// compiling each by itself.
    fn give_no_warnings(
        &mut self,
        plan: &Plan,
        patches: &[Patch],
    ) -> Result<FxHashSet<(usize, usize)>, EngineError> {
        let mut found = FxHashSet::default();
        for (file, source) in plan.sources.iter().enumerate() {
            let compilers = source.compilers().map(|(_, compiler)| compiler);
            let strict = compilers.filter(|compiler| compiler.warnings_are_errors());
            let strict: Vec<&Compiler> = strict.collect();
            if strict.is_empty()
                || !strict
                    .iter()
                    .all(|compiler| compiler.judges_functions_alone())
            {
                continue;
            }
            let functions_only = plan.patches.iter().filter(|planned| !planned.adds());
            let edits = functions_only.filter_map(|planned| {
                let mut changes = patches[planned.patch].changes.iter();
                let change = changes.find(|change| change.path().as_path() == source.relative)?;
                Some((planned.patch, change.text()?.edits()))
            });
            let unwarned = Warnings {
                worker: &mut *self.worker,
                compilers: strict,
                source: &source.unit.source,
                functions: &source.unit.functions,
                compilations: &mut self.stats.compilations,
            }
            .give_none(edits)?;
            found.extend(unwarned.into_iter().map(|patch| (file, patch)));
        }
        Ok(found)
    }

    /// Patches that add or change something between functions are looked at as files: what they add, others may use.
    pub(crate) fn doubt_files(
        &mut self,
        plan: &mut Plan,
        patches: &[Patch],
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), EngineError> {
        // For each source and each of its ways.
        let mut untouched: BTreeMap<(usize, usize), Option<Analysis>> = BTreeMap::new();
        for planned in &mut plan.patches {
            if !planned.may_define_otherwise() {
                continue;
            }
            sink(Event::Progress(planned.patch));
            for change in &patches[planned.patch].changes {
                let FileChange::Modify { path, text } = change else {
                    continue;
                };
                let mut sources = plan.sources.iter();
                let file = sources.position(|source| source.relative == path.as_path());
                let Some(file) = file else {
                    continue;
                };
                let source = &plan.sources[file];
                let host = self.worker.sandbox.folder().join(&source.relative);
                for (way, (command, _)) in source.compilers().enumerate() {
                    let said = Doubts {
                        worker: &mut *self.worker,
                        clang: self.clang,
                        command,
                        host: &host,
                        source: &source.unit.source,
                        functions: &source.unit.functions,
                        clones: &[],
                    }
                    .of_file(text.to_vec(), untouched.entry((file, way)).or_default())?;
                    planned.suspicion.add(&said.unwrap_or(Suspicion::NOT_READ));
                }
            }
        }
        Ok(())
    }

    /// Compiles all arrays of which patches change nothing but the initializer, those of a file together.
    fn compile_arrays(
        &mut self,
        plan: &Plan,
        patches: &[Patch],
    ) -> Result<BTreeMap<usize, Compiles>, EngineError> {
        let mut found = BTreeMap::new();
        for (file, source) in plan.sources.iter().enumerate() {
            if source.warnings_are_errors() {
                continue;
            }
            let (mut clones, mut users) = (Vec::new(), Vec::new());
            for planned in plan.patches.iter().filter(|planned| planned.adds()) {
                let [FileChange::Modify { text, .. }] = &patches[planned.patch].changes[..] else {
                    continue;
                };
                if planned.files.iter().any(|own| own.file != file) {
                    continue;
                }
                let (base, functions) = (&source.unit.source, &source.unit.functions);
                if let Some(changed) = changed_initializer(base, functions, text.edits()) {
                    let line = source.lines.line(changed.definition.start);
                    clones.push(FunctionClone::of_array(&changed, clones.len(), line));
                    users.push(planned.patch);
                }
            }
            let mut said: Vec<Compiles> = Vec::new();
            for (_, compiler) in source.compilers() {
                let own = self.isolation(source, compiler, &clones).check()?;
                in_each_way(&mut said, own);
            }
            found.extend(users.into_iter().zip(said));
        }
        Ok(found)
    }

    /// Finds patches that cannot be woven for a `wanted` reason and do not compile either. They need no build: many change the
    /// head of a function, or leave a bracket open.
    pub(crate) fn compile_apart(
        &mut self,
        plan: &mut Plan,
        patches: &[Patch],
        fates: &mut [Option<Fate>],
        wanted: &dyn Fn(&Apart) -> bool,
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), EngineError> {
        let mut known = KnownFiles::default();
        for (number, (patch, fate)) in patches.iter().zip(fates).enumerate() {
            if !matches!(fate, Some(Fate::Apart(reason)) if wanted(reason)) {
                continue;
            }
            sink(Event::Progress(number));
            // Nothing else that is compiled changes.
            let changes = patch.changes.iter().map(|change| {
                let FileChange::Modify { path, text } = change else {
                    return None;
                };
                let mut sources = plan.sources.iter();
                let file = sources.position(|source| source.relative == path.as_path())?;
                Some((file, text))
            });
            let Some(changes) = changes.collect::<Option<Vec<_>>>() else {
                continue;
            };
            let is_nothing = *fate == Some(Fate::Apart(Apart::Nothing));
            // Compilers read comments, too: that a case falls through may be said in one.
            let depth = if is_nothing {
                Depth::Full
            } else {
                Depth::Syntax
            };
            let mut is_same = is_nothing;
            for (file, text) in changes {
                let source = &plan.sources[file];
                tracing::debug!("compiled by itself: {} ({fate:?})", patch.id);
                let said = self.file_said(file, source, patch, depth, &mut known)?;
                if let Some(error) = said.error(source) {
                    *fate = Some(error);
                    is_same = false;
                    break;
                }
                is_same = is_same && self.is_same_program(source, text)?;
            }
            if is_same {
                *fate = None;
                plan.patches.push(PlannedPatch::new(number));
            }
        }
        plan.patches.sort_by_key(|planned| planned.patch);
        Ok(())
    }

    /// Whether the compiler gets to see the same text as without the patch, what says on which line it stands included.
    fn is_same_program(
        &mut self,
        source: &SourceFile,
        text: &NewText,
    ) -> Result<bool, EngineError> {
        let own: &Path = &source.relative;
        let text = text.to_vec();
        for (_, compiler) in source.compilers() {
            let before = compiler.expand(self.worker, &[])?;
            let after = compiler.expand(self.worker, &[(own, &text)])?;
            let both = before.zip(after);
            if !both.is_some_and(|(before, after)| before.is_same_program(&after)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Finds patches that surely do not compile among those that change the head of a function or a declaration, or leave brackets
    /// unbalanced. One compilation serves all patches of a file. It finds most; the others are compiled one by one. Verdicts
    /// are written to `fates`.
    pub(crate) fn reject_functions(
        &mut self,
        plan: &mut Plan,
        patches: &[Patch],
        fates: &mut [Option<Fate>],
    ) -> Result<(), EngineError> {
        let adding = plan.patches.iter().filter(|planned| planned.adds());
        let adding: FxHashSet<usize> = adding.map(|planned| planned.patch).collect();
        for source in &plan.sources {
            let (mut clones, mut users) = (Vec::new(), Vec::new());
            for (number, patch) in patches.iter().enumerate() {
                let wanted = match &fates[number] {
                    None => adding.contains(&number),
                    Some(Fate::Apart(reason)) => {
                        matches!(
                            reason,
                            Apart::OutsideOfFunctions(_)
                                | Apart::Special
                                | Apart::Unbalanced
                                | Apart::NotTwice
                        )
                    }
                    Some(_) => false,
                };
                if !wanted {
                    continue;
                }
                let [FileChange::Modify { path, text }] = &patch.changes[..] else {
                    continue;
                };
                if source.relative != path.as_path() {
                    continue;
                }
                if let Some(clone) = whole_item(source, text.edits()) {
                    clones.push(clone);
                    users.push(number);
                }
            }
            // What is redefined means something else to what stands behind it.
            let both = clones.into_iter().zip(users);
            let parts: (Vec<_>, Vec<_>) = both.partition(|(clone, _)| clone.is_redefinition);
            for part in [parts.0, parts.1] {
                let (clones, users): (Vec<FunctionClone>, Vec<usize>) = part.into_iter().unzip();
                if clones.is_empty() {
                    continue;
                }
                let rejected = self.isolation(source, &source.compiler, &clones).reject()?;
                for (number, rejected) in users.into_iter().zip(rejected) {
                    if let Some((line, message)) = rejected {
                        fates[number] = Some(Fate::DoesNotCompile {
                            file: source.relative.clone(),
                            line,
                            message,
                        });
                    }
                }
            }
        }
        plan.patches
            .retain(|planned| fates[planned.patch].is_none());
        Ok(())
    }

    /// Whether a source compiles as a patch changes it and what it includes, late warnings included where they are errors.
    pub(crate) fn compiles_strictly(
        &mut self,
        file: usize,
        source: &SourceFile,
        patch: &Patch,
    ) -> Result<bool, EngineError> {
        let said = self.file_said(file, source, patch, Depth::Full, &mut KnownFiles::default())?;
        Ok(said.error.is_none())
    }

    /// What the compiler says about a source when all files have the texts that a patch gives them: the source may include the
    /// others. The patch adds and removes no file.
    fn file_said(
        &mut self,
        file: usize,
        source: &SourceFile,
        patch: &Patch,
        depth: Depth,
        known: &mut KnownFiles,
    ) -> Result<Said, EngineError> {
        let digest = patch.digest();
        if let Some(said) = known.get(&(file, digest)) {
            return Ok(said.clone());
        }
        let changes = patch.changes.iter();
        let texts = changes.filter_map(|change| Some((change.path(), change.text()?.to_vec())));
        let texts: Vec<_> = texts.collect();
        let texts: Vec<(&Path, &[u8])> = texts
            .iter()
            .map(|(path, text)| (path.as_path(), &text[..]))
            .collect();
        let (mut error, mut undeclared) = (None, false);
        for (_, compiler) in source.compilers() {
            self.stats.compilations += 1;
            let found = compiler.check_all(self.worker, &texts, depth)?;
            undeclared |= found.iter().any(Diagnostic::is_undeclared_function);
            error = error.or(found.into_iter().find(|diagnostic| diagnostic.is_error));
        }
        let said = Said {
            error: error.map(|error| (error.line.unwrap_or(0), error.message)),
            undeclared,
        };
        known.insert((file, digest), said.clone());
        Ok(said)
    }

    /// What the compiler is asked about these clones.
    fn isolation<'i>(
        &'i mut self,
        source: &'i SourceFile,
        compiler: &'i Compiler,
        clones: &'i [FunctionClone],
    ) -> Isolation<'i> {
        Isolation {
            worker: self.worker,
            compiler,
            source: &source.unit.source,
            functions: &source.unit.functions,
            clones,
            compilations: &mut self.stats.compilations,
        }
    }
}

/// Takes in what one more compiler says of the same texts: one compiles if it does so in each way.
fn in_each_way(verdicts: &mut Vec<Compiles>, said: Vec<Compiles>) {
    if verdicts.is_empty() {
        *verdicts = said;
        return;
    }
    for (known, said) in verdicts.iter_mut().zip(said) {
        let is_worse = *known == Compiles::Yes || matches!(said, Compiles::No { .. });
        if is_worse && !matches!(known, Compiles::No { .. }) {
            *known = said;
        }
    }
}

/// What compilers say of patched functions.
struct SaidOfClones {
    verdicts: Vec<Compiles>,
    /// What is to be said of those that compile.
    doubts: BTreeMap<usize, Suspicion>,
    compilations: usize,
}

impl SaidOfClones {
    fn ask(
        worker: &mut Worker,
        clang: &Clang,
        source: &SourceFile,
        clones: &[FunctionClone],
    ) -> Result<Self, EngineError> {
        let mut compilations = 0;
        let mut verdicts: Vec<Compiles> = Vec::new();
        for (_, compiler) in source.compilers() {
            let said = Isolation {
                worker: &mut *worker,
                compiler,
                source: &source.unit.source,
                functions: &source.unit.functions,
                clones,
                compilations: &mut compilations,
            }
            .check()?;
            in_each_way(&mut verdicts, said);
        }
        let compile = (0..clones.len()).filter(|clone| verdicts[*clone] == Compiles::Yes);
        let compile: Vec<usize> = compile.collect();
        let host = worker.sandbox.folder().join(&source.relative);
        let mut doubts: BTreeMap<usize, Suspicion> = BTreeMap::new();
        for (command, _) in source.compilers() {
            let found = Doubts {
                worker: &mut *worker,
                clang,
                command,
                host: &host,
                source: &source.unit.source,
                functions: &source.unit.functions,
                clones,
            }
            .find(&compile)?;
            for (clone, suspicion) in found {
                doubts.entry(clone).or_default().add(&suspicion);
            }
        }
        Ok(SaidOfClones {
            verdicts,
            doubts,
            compilations,
        })
    }
}

/// What the compiler says about a patched source.
#[derive(Clone, Debug)]
struct Said {
    /// The line of its first error, and the message.
    error: Option<(u32, String)>,
    /// It calls functions that are not declared.
    undeclared: bool,
}

impl Said {
    fn error(&self, source: &SourceFile) -> Option<Fate> {
        let (line, message) = self.error.clone()?;
        Some(Fate::DoesNotCompile {
            file: source.relative.clone(),
            line,
            message,
        })
    }
}

/// The one function or declaration that edits change, or the text that they add between others, as a clone; `None` when
/// they change anything else.
fn whole_item(source: &SourceFile, edits: &[Edit]) -> Option<FunctionClone> {
    let base = &source.unit.source;
    let edits: Vec<Edit> = edits
        .iter()
        .filter_map(|edit| trimmed(base, edit))
        .collect();
    let first = edits.first()?;
    let functions = &source.unit.functions;
    let line = |offset| source.lines.line(offset);
    let is_addition = is_blank(first.span.slice(base)?)
        && outside::is_between_items(base, functions, first.span.start);
    if is_addition {
        let at = first.span.start;
        return FunctionClone::stray(first.text.clone(), at, line(at)).filter(|_| edits.len() == 1);
    }
    let span = outside::definition_at(base, functions, first.span)?;
    // Behind the original the names of its macros would still be macros.
    if !lex::lasting_directives(span.slice(base)?).is_empty() {
        return None;
    }
    if !edits.iter().all(|edit| span.contains_span(edit.span)) {
        return None;
    }
    let text = crate::runs::alternative(base, span, &edits);
    let index = functions.iter().position(|function| function.span == span);
    let as_function = index.and_then(|index| {
        FunctionClone::with_head(base, functions, index, text.clone(), line(span.start))
    });
    as_function.or_else(|| FunctionClone::stray(text, span.end, line(span.start)))
}

/// What is known of sources as patches change them.
type KnownFiles = FxHashMap<(usize, Digest), Said>;
