//! Which patches can be woven: those that change bodies of functions of sources that are understood, and compile.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use patchwright_csource::Clang;
use patchwright_exec::{CompileCommand, FileError, Worker, files};
use patchwright_patches::{Digest, FileChange, Hasher, NewText, Patch};
use patchwright_text::{Edit, LineMap};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::compiler::{Compiler, Depth, Diagnostic, undeclared_name};
use crate::edits::{is_blank, trimmed};
use crate::engine::UndeclaredCall;
use crate::helpers::Helpers;
use crate::inactive::{are_within, left_out};
use crate::initializers::changed_initializer;
use crate::isolate::{Clone as FunctionClone, Compiles, Isolation};
use crate::large::has_large_array;
use crate::linked::Symbols;
use crate::macros::{Untouched, may_be_of_functions};
use crate::outside::{self, Brought, KnownNames};
use crate::planned::{PlannedFile, PlannedPatch, SourceFile, planned_file};
use crate::preprocessed::Preprocessed;
use crate::undefined::Doubts;
use crate::{Apart, EngineError, Event, Fate, Stats};

/// The sources that patches change, and the patches that can be woven.
#[derive(Default)]
pub struct Plan {
    /// The sources.
    pub sources: Vec<SourceFile>,
    /// The patches, in their order.
    pub patches: Vec<PlannedPatch>,
    /// What patches that are set apart call without a declaration.
    pub undeclared: Vec<UndeclaredCall>,
}

/// Fewer patched functions are compiled sooner than another copy is made.
const LEAST_FOR_A_COPY: usize = 150;

/// Looks at every patch; says in `fates` what becomes of those that are not woven.
pub struct Planner<'a, 'h> {
    /// A built copy of the untouched program.
    pub worker: &'a mut Worker,
    /// Copies of it.
    pub helpers: &'a mut Helpers<'h>,
    /// How its sources are compiled, as programs in the sandbox see it.
    pub commands: &'a [CompileCommand],
    /// Reads C.
    pub clang: &'a Clang,
    /// Is counted up.
    pub stats: &'a mut Stats,
    /// The names that the program is linked by, once they are needed.
    pub symbols: Option<Symbols>,
    /// Whether sources include a file of the project (relative to its root), and nobody else reads it.
    pub is_only_included: &'a (dyn Fn(&Path) -> Result<bool, FileError> + Sync),
}

/// The sources that have been looked at: their indices, or why patches of them are not woven.
pub type KnownSources = BTreeMap<PathBuf, Result<usize, Apart>>;

impl Planner<'_, '_> {
    /// The plan for these patches.
    ///
    /// # Errors
    /// Processes that cannot be run, and files that cannot be read or written.
    pub fn plan(
        &mut self,
        patches: &[Patch],
        fates: &mut [Option<Fate>],
        sink: &mut dyn FnMut(Event),
    ) -> Result<Plan, EngineError> {
        let mut plan = Plan::default();
        let mut known = KnownSources::new();
        for (index, patch) in patches.iter().enumerate() {
            match self.plan_patch(index, patch, &mut plan, &mut known)? {
                Ok(planned) => plan.patches.push(planned),
                Err(reason) => fates[index] = Some(Fate::Apart(reason)),
            }
        }
        sink(Event::Phase("finding out which patches compile"));
        self.reject_functions(&mut plan, patches, fates)?;
        self.compile_apart(&mut plan, patches, fates, &|_| true, sink)?;
        let mut untouched = Untouched::default();
        for (index, (patch, fate)) in patches.iter().zip(&mut *fates).enumerate() {
            if !matches!(fate, Some(Fate::Apart(reason)) if may_be_of_functions(reason)) {
                continue;
            }
            sink(Event::Progress(index));
            let patch = (index, patch);
            if let Some(planned) =
                self.plan_expanded(patch, &mut plan, &mut known, &mut untouched)?
            {
                plan.patches.push(planned);
                *fate = None;
            }
        }
        plan.patches.sort_by_key(|planned| planned.patch);
        let doubtful = self.compile_functions(&mut plan, patches, fates)?;
        let is_unassigned = |reason: &Apart| *reason == Apart::NotIsolated;
        self.compile_apart(&mut plan, patches, fates, &is_unassigned, sink)?;
        self.compile_files(&mut plan, patches, fates, sink)?;
        for planned in &mut plan.patches {
            planned.undefined = doubtful.contains(&planned.patch);
        }
        Ok(plan)
    }

    fn plan_patch(
        &mut self,
        index: usize,
        patch: &Patch,
        plan: &mut Plan,
        known: &mut KnownSources,
    ) -> Result<Result<PlannedPatch, Apart>, EngineError> {
        let mut planned = PlannedPatch::new(index);
        let mut is_left_out = !patch.changes.is_empty();
        for change in &patch.changes {
            let FileChange::Modify { path, text } = change else {
                return Ok(Err(Apart::Files));
            };
            let file = match self.known_source(path.as_path(), text.base(), plan, known)? {
                Ok(file) => file,
                Err(reason) => return Ok(Err(reason)),
            };
            if self.is_left_out(&mut plan.sources[file], text)? {
                continue;
            }
            is_left_out = false;
            match planned_file(file, &plan.sources[file], text.edits()) {
                Ok(Some(edits)) => {
                    let source = &mut plan.sources[file];
                    if !edits.additions.is_empty()
                        && let Err(reason) = self.admit(&edits, source, &mut planned.brought)?
                    {
                        return Ok(Err(reason));
                    }
                    let replaces_macros = planned.brought.macros && !edits.replaced.is_empty();
                    if replaces_macros && self.changes_headers(change, source)? {
                        return Ok(Err(Apart::OutsideOfFunctions));
                    }
                    planned.files.push(edits);
                }
                Ok(None) => {}
                Err(reason) => return Ok(Err(reason)),
            }
        }
        let external = &planned.brought.external;
        if !external.is_empty() && self.is_linked(external)? {
            return Ok(Err(Apart::OutsideOfFunctions));
        }
        if planned.files.is_empty() && !is_left_out {
            return Ok(Err(Apart::Nothing));
        }
        if planned.texts().any(has_large_array) {
            return Ok(Err(Apart::LargeArray));
        }
        Ok(Ok(planned))
    }

    /// Whether the compiler leaves out all that is changed of a source.
    fn is_left_out(
        &mut self,
        source: &mut SourceFile,
        text: &NewText,
    ) -> Result<bool, EngineError> {
        let base = &source.unit.source;
        let breaks = |text: &[u8]| text.iter().filter(|byte| **byte == b'\n').count();
        let tells_lines = |from: u32| {
            let from = source.lines.line(from);
            let telling = source.telling_lines.as_ref();
            telling.is_none_or(|lines| lines.iter().any(|line| *line >= from))
        };
        let is_told = text.edits().iter().any(|edit| {
            let old = edit.span.slice(base).unwrap_or_default();
            breaks(&edit.text) != breaks(old) && tells_lines(edit.span.start)
        });
        // Warnings are about what is left out, too.
        if is_told || source.compiler.warnings_are_errors() {
            return Ok(false);
        }
        let left_out = match &mut source.left_out {
            Some(left_out) => left_out,
            none => none.insert(left_out(&source.compiler, self.worker, base)?),
        };
        Ok(are_within(base, text.edits(), left_out))
    }

    /// Whether what a patch adds to a file outside of functions means nothing to anybody else; notes what it brings.
    fn admit(
        &mut self,
        edits: &PlannedFile,
        source: &mut SourceFile,
        all: &mut Brought,
    ) -> Result<Result<(), Apart>, EngineError> {
        let names = match &mut source.names {
            Some(names) => names,
            none => {
                let text = &source.unit.source;
                let with_headers = source.compiler.preprocess(self.worker, text)?;
                let Some(with_headers) = with_headers else {
                    return Ok(Err(Apart::OutsideOfFunctions));
                };
                none.insert(KnownNames::new(text, &with_headers))
            }
        };
        let unit = &source.unit;
        for addition in &edits.additions {
            let brought = outside::brought(&addition.text).filter(|brought| {
                let (text, functions) = (&unit.source, &unit.functions);
                names.allow(brought, &edits.replaced, text, functions, addition.offset)
            });
            let Some(mut brought) = brought else {
                return Ok(Err(Apart::OutsideOfFunctions));
            };
            all.defined.append(&mut brought.defined);
            all.external.append(&mut brought.external);
            all.declared.append(&mut brought.declared);
            all.replaced.extend(edits.replaced.iter().cloned());
            all.includes |= brought.includes;
            all.macros |= brought.macros;
        }
        Ok(Ok(()))
    }

    /// Whether a file that `source` includes means something else with a change of it.
    fn changes_headers(
        &mut self,
        change: &FileChange,
        source: &SourceFile,
    ) -> Result<bool, EngineError> {
        let (Some(names), Some(text)) = (&source.names, change.text()) else {
            return Ok(true);
        };
        let text = source.compiler.preprocess(self.worker, &text.to_vec())?;
        Ok(text.is_none_or(|text| !names.have_same_headers(&text)))
    }

    /// Whether some object file or program of the built copy mentions one of these names: there it would be found, or
    /// found twice, when the program is linked.
    fn is_linked(&mut self, names: &BTreeSet<String>) -> Result<bool, EngineError> {
        let symbols = match &mut self.symbols {
            Some(symbols) => symbols,
            none => none.insert(Symbols::below(self.worker.sandbox.folder())?),
        };
        Ok(symbols.mention(names))
    }

    /// The source with this path and this text, read at most once.
    pub fn known_source(
        &mut self,
        relative: &Path,
        text: &[u8],
        plan: &mut Plan,
        known: &mut KnownSources,
    ) -> Result<Result<usize, Apart>, EngineError> {
        if let Some(file) = known.get(relative) {
            return Ok(file.clone());
        }
        let file = self.source(relative, text, plan)?;
        known.insert(relative.to_path_buf(), file.clone());
        Ok(file)
    }

    /// Reads a source that some patch changes.
    fn source(
        &mut self,
        relative: &Path,
        text: &[u8],
        plan: &mut Plan,
    ) -> Result<Result<usize, Apart>, EngineError> {
        if relative
            .extension()
            .is_none_or(|extension| extension != "c")
        {
            return Ok(Err(Apart::NotASource));
        }
        let path = self.worker.sandbox.run_root().join(relative);
        let commands = self.commands.iter().filter(|command| command.file == path);
        let commands: Vec<CompileCommand> = commands.cloned().collect();
        let Some((command, others)) = commands.split_first() else {
            return Ok(Err(Apart::NotASource));
        };
        if !others.iter().all(|other| says_the_same(command, other)) {
            return Ok(Err(Apart::CompiledTwice));
        }
        let host = self.worker.sandbox.folder().join(relative);
        if files::read(&host)? != text {
            return Ok(Err(Apart::NotASource));
        }
        if has_line_directives(text) {
            return Ok(Err(Apart::NotUnderstood));
        }
        let runner = &mut self.worker.runner;
        let unit = match patchwright_csource::parse_variants(self.clang, runner, &commands, text) {
            Ok(mut units) if units.len() == 1 => units.remove(0),
            // Its text is not the same each time.
            Ok(_) => return Ok(Err(Apart::CompiledTwice)),
            Err(patchwright_csource::ParseError::Run(error)) => return Err(error.into()),
            Err(error) => {
                tracing::info!("{}: {error}", relative.display());
                return Ok(Err(Apart::NotUnderstood));
            }
        };
        let compiler = Compiler::new(self.worker, command, relative)?;
        let telling_lines = match unit.mentions_line {
            true => self.telling_lines(&compiler, text)?,
            false => Some(Vec::new()),
        };
        plan.sources.push(SourceFile {
            relative: relative.to_path_buf(),
            command: command.clone(),
            compiler,
            lines: LineMap::new(&unit.source),
            unit,
            telling_lines,
            names: None,
            // In the other ways it may be compiled.
            left_out: (!others.is_empty()).then(Vec::new),
        });
        Ok(Ok(plan.sources.len() - 1))
    }

    fn telling_lines(
        &mut self,
        compiler: &Compiler,
        text: &[u8],
    ) -> Result<Option<Vec<u32>>, EngineError> {
        let as_it_is = compiler.preprocess(self.worker, text)?;
        let moved = compiler.preprocess(self.worker, &[b"\n", text].concat())?;
        Ok(as_it_is.zip(moved).map(|(as_it_is, moved)| {
            Preprocessed::read(&as_it_is).lines_that_tell(&Preprocessed::read(&moved))
        }))
    }

    /// Compiles every different patched function once. The result are the patches whose behaviour C may not define.
    fn compile_functions(
        &mut self,
        plan: &mut Plan,
        patches: &[Patch],
        fates: &mut [Option<Fate>],
    ) -> Result<BTreeSet<usize>, EngineError> {
        let mut doubtful = BTreeSet::new();
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
                        .map(|(clone, text)| (before + clone, text)),
                );
                verdicts.extend(said.verdicts);
            }
            for (number, clone) in users {
                let patch = plan.patches[number].patch;
                let fate = match &verdicts[clone] {
                    Compiles::Yes => {
                        if let Some(message) = doubts.get(&clone) {
                            tracing::info!("{}: {message}", patches[patch].id);
                            doubtful.insert(patch);
                        }
                        continue;
                    }
                    Compiles::No { line, message } => Fate::DoesNotCompile {
                        file: source.relative.clone(),
                        line: *line,
                        message: message.clone(),
                    },
                    Compiles::Undeclared(message) => {
                        plan.undeclared.extend(undeclared_name(message).map(|name| {
                            UndeclaredCall {
                                patch,
                                file,
                                function: clones[clone].function,
                                body: clones[clone].body.clone(),
                                name: name.to_owned(),
                            }
                        }));
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
        plan.patches
            .retain(|planned| fates[planned.patch].is_none());
        Ok(doubtful)
    }

    /// Where warnings are errors some of them come late, or say what the whole file lacks: each patched file is compiled
    /// by itself. So is each to which something is added outside of functions, which a clone of a function would not find.
    fn compile_files(
        &mut self,
        plan: &mut Plan,
        patches: &[Patch],
        fates: &mut [Option<Fate>],
        sink: &mut dyn FnMut(Event),
    ) -> Result<(), EngineError> {
        let mut known = KnownFiles::default();
        let arrays = self.compile_arrays(plan, patches)?;
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
                let depth = match source.compiler.warnings_are_errors() {
                    true => Depth::Full,
                    false if planned.adds() => Depth::Syntax,
                    false => continue,
                };
                let mut changes = patches[planned.patch].changes.iter();
                let change = changes.find(|change| change.path().as_path() == source.relative);
                let Some(text) = change.and_then(FileChange::text) else {
                    continue;
                };
                tracing::debug!("compiled by itself: {}", patches[planned.patch].id);
                let said = self.file_said(own.file, source, text, depth, &mut known)?;
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

    /// Compiles all arrays of which patches change nothing but the initializer, those of a file together.
    fn compile_arrays(
        &mut self,
        plan: &Plan,
        patches: &[Patch],
    ) -> Result<BTreeMap<usize, Compiles>, EngineError> {
        let mut found = BTreeMap::new();
        for (file, source) in plan.sources.iter().enumerate() {
            if source.compiler.warnings_are_errors() {
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
            let said = Isolation {
                worker: self.worker,
                compiler: &source.compiler,
                source: &source.unit.source,
                functions: &source.unit.functions,
                clones: &clones,
                compilations: &mut self.stats.compilations,
            }
            .check()?;
            found.extend(users.into_iter().zip(said));
        }
        Ok(found)
    }

    /// Of patches that cannot be woven for a reason that is `wanted`, those that do not compile need no build to be known: many
    /// change the head of a function, or leave a bracket open.
    fn compile_apart(
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
                let said = self.file_said(file, source, text, depth, &mut known)?;
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
        let before = source.compiler.expand(self.worker, &[])?;
        let after = source
            .compiler
            .expand(self.worker, &[(own, &text.to_vec())])?;
        let both = before.zip(after);
        Ok(both.is_some_and(|(before, after)| before.is_same_program(&after)))
    }

    /// Of the patches that change the head of a function, or a declaration, or leave brackets unbalanced, those that surely do
    /// not compile, found for all patches of a file at once: most of them, and the others are compiled one by one.
    fn reject_functions(
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
                        matches!(reason, Apart::OutsideOfFunctions | Apart::Unbalanced)
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
                let rejected = Isolation {
                    worker: self.worker,
                    compiler: &source.compiler,
                    source: &source.unit.source,
                    functions: &source.unit.functions,
                    clones: &clones,
                    compilations: &mut self.stats.compilations,
                }
                .reject()?;
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

    /// What the compiler says about a patched source.
    fn file_said(
        &mut self,
        file: usize,
        source: &SourceFile,
        text: &NewText,
        depth: Depth,
        known: &mut KnownFiles,
    ) -> Result<Said, EngineError> {
        let digest = Hasher::new().pieces(text.pieces()).finish();
        if let Some(said) = known.get(&(file, digest)) {
            return Ok(said.clone());
        }
        self.stats.compilations += 1;
        let found = source.compiler.check(self.worker, &text.to_vec(), depth)?;
        let undeclared = found.iter().any(Diagnostic::is_undeclared_function);
        let error = found.into_iter().find(|diagnostic| diagnostic.is_error);
        let said = Said {
            error: error.map(|error| (error.line.unwrap_or(0), error.message)),
            undeclared,
        };
        known.insert((file, digest), said.clone());
        Ok(said)
    }
}

/// What compilers say of patched functions.
struct SaidOfClones {
    verdicts: Vec<Compiles>,
    /// Of those that compile, those that may do what C does not define, with what is said of them.
    doubts: BTreeMap<usize, String>,
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
        let verdicts = Isolation {
            worker: &mut *worker,
            compiler: &source.compiler,
            source: &source.unit.source,
            functions: &source.unit.functions,
            clones,
            compilations: &mut compilations,
        }
        .check()?;
        let compile = (0..clones.len()).filter(|clone| verdicts[*clone] == Compiles::Yes);
        let host = worker.sandbox.folder().join(&source.relative);
        let doubts = Doubts {
            worker,
            clang,
            command: &source.command,
            host: &host,
            source: &source.unit.source,
            functions: &source.unit.functions,
            clones,
        }
        .find(&compile.collect::<Vec<usize>>())?;
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

/// What is known of patched sources.
type KnownFiles = FxHashMap<(usize, Digest), Said>;

/// Whether compilers that are called so accept the same texts, and warn of the same, macros and what they make of the text
/// aside: for a library that is linked in two ways, or for two programs.
fn says_the_same(a: &CompileCommand, b: &CompileCommand) -> bool {
    let matters = |command: &CompileCommand| -> Vec<OsString> {
        let mut arguments = command.without_products();
        let decides = |argument: &OsString| {
            let text = argument.to_string_lossy();
            let independence = ["-fPIC", "-fpic", "-fPIE", "-fpie"].contains(&&*text);
            let of_macros = ["-D", "-U", "-I"].iter().any(|flag| text.starts_with(flag));
            let of_linker = text.starts_with("-l") || text.starts_with("-L");
            // Other sources, objects and libraries.
            let is_file = !text.starts_with('-');
            !independence && !of_macros && !of_linker && !is_file
        };
        let program: Vec<OsString> = arguments.drain(..1.min(arguments.len())).collect();
        program
            .into_iter()
            .chain(arguments.into_iter().filter(decides))
            .collect()
    };
    a.directory == b.directory && matters(a) == matters(b)
}

/// Whether lines of the text are said to be lines of something else.
fn has_line_directives(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| {
        let line = line.trim_ascii_start().strip_prefix(b"#");
        line.map(<[u8]>::trim_ascii_start).is_some_and(|directive| {
            directive.first().is_some_and(u8::is_ascii_digit)
                || directive
                    .strip_prefix(b"line")
                    .is_some_and(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))
        })
    })
}
