//! Plans patches: finds those that can be woven, because they change bodies of functions in sources that
//! are understood.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use patchwright_csource::{Clang, TranslationUnit};
use patchwright_exec::{CompileCommand, FileError, Worker, files, included_sources, includers};
use patchwright_patches::{FileChange, NewText, Patch};
use patchwright_text::LineMap;

use crate::compiler::Compiler;
use crate::helpers::Helpers;
use crate::inactive::{are_within, left_out};
use crate::known_names::KnownNames;
use crate::large::has_large_array;
use crate::linked::Symbols;
use crate::macros::{Untouched, may_be_of_functions};
use crate::outside::{self, Brought};
use crate::planned::{Others, PlannedFile, PlannedPatch, SourceFile, planned_file};
use crate::preprocessed::Preprocessed;
use crate::undeclared_calls::UndeclaredCall;
use crate::{Apart, EngineError, Event, Fate, Outside, Stats};

/// The sources that patches change, and the patches that can be woven.
#[derive(Default)]
pub struct Plan {
    /// The sources.
    pub sources: Vec<SourceFile>,
    /// The patches, in their order.
    pub patches: Vec<PlannedPatch>,
    /// What patches that are set apart call without a declaration.
    pub undeclared: Vec<UndeclaredCall>,
    /// These patches: they can be woven if they link.
    pub unlinked: Vec<PlannedPatch>,
}

/// A source that is compiled in more ways besides the first is not woven: each is asked about every patch.
const MOST_WAYS: usize = 4;

/// Plans patches one by one, and notes the fate of those that cannot be woven.
pub struct Planner<'a, 'h> {
    /// A built copy of the untouched program.
    pub worker: &'a mut Worker,
    /// Copies of it.
    pub helpers: &'a mut Helpers<'h>,
    /// How its sources are compiled, as programs in the sandbox see it.
    pub commands: &'a [CompileCommand],
    /// Reads C.
    pub clang: &'a Clang,
    /// The counts to which this work is added.
    pub stats: &'a mut Stats,
    /// The names that the program is linked by, once they are needed.
    pub symbols: Option<Symbols>,
    /// The files with functions that sources include, once they are needed.
    pub included: Option<BTreeMap<PathBuf, Vec<CompileCommand>>>,
    /// Whether sources include a file of the project (relative to its root), and nobody else reads it. With
    /// `true` it is woven in its place, so rules of makefiles may name it.
    pub is_only_included: &'a (dyn Fn(&Path, bool) -> Result<bool, FileError> + Sync),
}

/// The sources that were read, by path: the index, or why patches of the source cannot be woven.
pub type KnownSources = BTreeMap<PathBuf, Result<usize, Apart>>;

impl Planner<'_, '_> {
    /// Decides for each patch whether it can be woven, and notes the fate of the others in `fates`.
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
            if let Some(suspicion) = doubtful.get(&planned.patch) {
                planned.suspicion.add(suspicion);
            }
        }
        self.doubt_files(&mut plan, patches, sink)?;
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
                    // Names that it brings mean something in what stands behind the included file.
                    if !edits.additions.is_empty() && !source.includers.is_empty() {
                        return Ok(Err(outside_of_functions(&edits, &source.unit)));
                    }
                    if !edits.additions.is_empty()
                        && let Err(reason) = self.admit(&edits, source, &mut planned.brought)?
                    {
                        return Ok(Err(reason));
                    }
                    let replaces_macros = planned.brought.macros && !edits.replaced.is_empty();
                    if replaces_macros && self.changes_headers(change, source)? {
                        return Ok(Err(outside_of_functions(&edits, &source.unit)));
                    }
                    planned.files.push(edits);
                }
                Ok(None) => {}
                Err(reason) => return Ok(Err(reason)),
            }
        }
        let external = &planned.brought.external;
        if !external.is_empty() && self.is_linked(external)? {
            let name = external.first().cloned().unwrap_or_default();
            return Ok(Err(Apart::OutsideOfFunctions(Outside::Adds(name))));
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
        if is_told || source.warnings_are_errors() {
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
        if source.names.is_none() {
            let text = &source.unit.source;
            let mut names = Vec::new();
            for (_, compiler) in source.compilers() {
                let Some(with_headers) = compiler.preprocess(self.worker, text)? else {
                    return Ok(Err(outside_of_functions(edits, &source.unit)));
                };
                names.push(KnownNames::new(text, &with_headers));
            }
            source.names = Some(names);
        }
        let names = source.names.as_deref().unwrap_or_default();
        let unit = &source.unit;
        for addition in &edits.additions {
            let brought = outside::brought(&addition.text).filter(|brought| {
                let (text, functions) = (&unit.source, &unit.functions);
                names.iter().all(|names| {
                    names.allow(brought, &edits.replaced, text, functions, addition.offset)
                })
            });
            let Some(mut brought) = brought else {
                return Ok(Err(match outside::is_special(&addition.text) {
                    true => Apart::Special,
                    false => outside_of_functions(edits, unit),
                }));
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
        let text = text.to_vec();
        for ((_, compiler), names) in source.compilers().zip(names) {
            let text = compiler.preprocess(self.worker, &text)?;
            if text.is_none_or(|text| !names.have_same_headers(&text)) {
                return Ok(true);
            }
        }
        Ok(false)
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

    /// Returns the source at `relative` with this text. Each source is read at most once.
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
        let path = self.worker.sandbox.run_root().join(relative);
        let commands = self.commands.iter().filter(|command| command.file == path);
        let mut commands: Vec<CompileCommand> = commands.cloned().collect();
        if commands.is_empty() && (self.is_only_included)(relative, true)? {
            let sandbox = &self.worker.sandbox;
            let included = self
                .included
                .get_or_insert_with(|| included_sources(self.commands, sandbox));
            commands = included.get(relative).cloned().unwrap_or_default();
        }
        let Some((command, others)) = commands.split_first() else {
            return Ok(Err(Apart::NotASource));
        };
        let mut distinct: Vec<&CompileCommand> = Vec::new();
        for other in others {
            let is_same = |known: &&CompileCommand| {
                known.directory == other.directory
                    && known.without_products() == other.without_products()
            };
            if !distinct.iter().chain([&command]).any(is_same) {
                distinct.push(other);
            }
        }
        if distinct.len() > MOST_WAYS {
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
        let mut units =
            match patchwright_csource::parse_variants(self.clang, runner, &commands, text) {
                Ok(units) => units.into_iter(),
                Err(patchwright_csource::ParseError::Run(error)) => return Err(error.into()),
                Err(error) => {
                    tracing::info!("{}: {error}", relative.display());
                    return Ok(Err(Apart::NotUnderstood));
                }
            };
        let Some(unit) = units.next() else {
            return Ok(Err(Apart::NotUnderstood));
        };
        let compiler = Compiler::new(self.worker, command, relative)?;
        let mut more = Others {
            compilers: Vec::new(),
            units: units.collect(),
        };
        let is_once = |other: &CompileCommand| says_the_same(command, other);
        if !more.units.is_empty() || !distinct.iter().all(|other| is_once(other)) {
            for other in distinct {
                let compiler = Compiler::new(self.worker, other, relative)?;
                more.compilers.push((other.clone(), compiler));
            }
        }
        let mentions = unit.mentions_line || more.units.iter().any(|unit| unit.mentions_line);
        let mut telling_lines = Some(BTreeSet::new());
        let compilers = std::iter::once(&compiler).chain(more.compilers.iter().map(|(_, own)| own));
        for compiler in compilers.filter(|_| mentions) {
            let own = self.telling_lines(compiler, text)?;
            telling_lines = telling_lines.zip(own).map(|(mut known, own)| {
                known.extend(own);
                known
            });
        }
        let mut rounds_by_surroundings = compiler.rounds_by_surroundings(self.worker)?;
        for (_, other) in &more.compilers {
            rounds_by_surroundings |= other.rounds_by_surroundings(self.worker)?;
        }
        plan.sources.push(SourceFile {
            relative: relative.to_path_buf(),
            includers: includers(&commands, &self.worker.sandbox),
            command: command.clone(),
            compiler,
            lines: LineMap::new(&unit.source),
            unit,
            others: more,
            telling_lines: telling_lines.map(|lines| lines.into_iter().collect()),
            rounds_by_surroundings,
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
}

/// Whether two compile commands accept the same texts and give the same warnings, apart from macros. Only flags for macros,
/// position independence, linking and outputs may differ. That is usual for a library that is linked in two ways.
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

/// What a patch changes or adds outside of the bodies of functions, as a reason to build it by itself.
fn outside_of_functions(edits: &PlannedFile, unit: &TranslationUnit) -> Apart {
    let names = edits.additions.iter();
    let mut names = names.filter_map(|addition| outside::name_in(&addition.text));
    let added = names.find(|name| !edits.replaced.contains(name));
    if let Some(added) = added {
        return Apart::OutsideOfFunctions(Outside::Adds(added));
    }
    Apart::OutsideOfFunctions(match edits.replaced.first() {
        Some(name) if unit.functions.iter().any(|own| own.name == *name) => {
            Outside::Head(name.clone())
        }
        Some(name) => Outside::Definition(name.clone()),
        None => Outside::Text,
    })
}
