//! Weaves patches of macros, directives and headers as the function bodies that the preprocessor makes of
//! them.
//!
//! Text outside of functions that only the preprocessor reads has no effect but in the texts that come out of it. Where those
//! of all sources are what they were, the patch is the untouched program. Where they differ in bodies of functions only, these
//! bodies are what the patch changes: their new text, macros expanded, becomes an alternative. That this text means the
//! same in the source as it stands is seen by preprocessing the source with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use patchwright_exec::{CompileCommand, Worker, files, included};
use patchwright_patches::{FileChange, Patch};
use patchwright_text::Edit;

use crate::compiler::{Compiler, CompilerError};
use crate::expanded::{Expanded, Group};
use crate::large::has_large_array;
use crate::plan::{KnownSources, Plan, Planner};
use crate::planned::{PlannedFile, PlannedPatch, SourceFile};
use crate::{Apart, EngineError};

/// Of more sources that no patch of the set has changed so far, the program is built anew sooner than they are read and woven.
const MOST_NEW_SOURCES: usize = 2;

/// The edits that make the body of a function, by its index, the second of two groups.
type EditsOf<'a> = dyn Fn(usize, (Group, Group)) -> Option<Vec<Edit>> + 'a;

/// The untouched sources after preprocessing, with which patched ones are compared.
#[derive(Default)]
pub struct Untouched {
    sources: BTreeMap<PathBuf, Vec<Way>>,
    /// Every source of the build has been read.
    all: bool,
}

/// One of the ways in which a source is compiled.
struct Way {
    compiler: Compiler,
    /// `None` if the preprocessor fails.
    expanded: Option<Expanded>,
    /// The files of the project that are read, relative to its root.
    files: BTreeSet<PathBuf>,
}

/// Whether a patch that is set apart for this reason may turn out to change only functions, or nothing.
pub fn may_be_of_functions(reason: &Apart) -> bool {
    matches!(
        reason,
        Apart::Nothing
            | Apart::NotASource
            | Apart::OutsideOfFunctions(_)
            | Apart::Unbalanced
            | Apart::NotTwice
    )
}

impl Untouched {
    fn read(
        &mut self,
        worker: &mut Worker,
        source: &Path,
        commands: &[CompileCommand],
    ) -> Result<(), CompilerError> {
        if self.sources.contains_key(source) {
            return Ok(());
        }
        let mut ways = Vec::with_capacity(commands.len());
        for command in commands {
            let compiler = Compiler::new(worker, command, source)?;
            let expanded = compiler.expand(worker, &[])?;
            let names = expanded.iter().flat_map(|expanded| &expanded.files);
            let files =
                names.filter_map(|name| worker.sandbox.below_root(&command.directory.join(name)));
            ways.push(Way {
                compiler,
                files: files.collect(),
                expanded,
            });
        }
        self.sources.insert(source.to_path_buf(), ways);
        Ok(())
    }

    /// The sources that read one of these files.
    fn reading(&self, files: &[&Path]) -> Vec<PathBuf> {
        let reads = |way: &Way| files.iter().any(|file| way.files.contains(*file));
        let sources = self
            .sources
            .iter()
            .filter(|(_, ways)| ways.iter().any(reads));
        sources.map(|(source, _)| source.clone()).collect()
    }
}

impl Planner<'_, '_> {
    /// Plans a patch that was set apart by comparing the preprocessed sources with and without it.
    ///
    /// # Errors
    /// Processes that cannot be run, and files that cannot be read or written.
    pub fn plan_expanded(
        &mut self,
        patch: (usize, &Patch),
        plan: &mut Plan,
        known: &mut KnownSources,
        untouched: &mut Untouched,
    ) -> Result<Option<PlannedPatch>, EngineError> {
        let (index, patch) = patch;
        let mut texts: Vec<(&Path, Vec<u8>)> = Vec::new();
        let mut bases: BTreeMap<&Path, &[u8]> = BTreeMap::new();
        for change in &patch.changes {
            let FileChange::Modify { path, text } = change else {
                return Ok(None);
            };
            texts.push((path.as_path(), text.to_vec()));
            bases.insert(path.as_path(), text.base());
        }
        let sources = included::sources(self.commands, &self.worker.sandbox);
        let is_source = |path: &&Path| sources.contains_key(*path);
        let (changed, headers): (Vec<&Path>, Vec<&Path>) = bases.keys().partition(|p| is_source(p));
        for header in &headers {
            if !(self.is_only_included)(header, false)? {
                return Ok(None);
            }
        }
        // What the build has compiled and removed would have to be read, too.
        let is_gone = |command: &CompileCommand| {
            let inside = self.worker.sandbox.below_root(&command.file);
            inside.is_some_and(|file| !self.worker.sandbox.folder().join(file).exists())
        };
        if !headers.is_empty() && self.commands.iter().any(is_gone) {
            return Ok(None);
        }
        let mut affected: Vec<PathBuf> = changed.iter().map(|path| path.to_path_buf()).collect();
        for source in &affected {
            untouched.read(self.worker, source, &sources[source])?;
        }
        if !headers.is_empty() {
            if !untouched.all {
                for (source, commands) in &sources {
                    untouched.read(self.worker, source, commands)?;
                }
                untouched.all = true;
            }
            affected.extend(untouched.reading(&headers));
            affected.sort_unstable();
            affected.dedup();
            // What no source reads, somebody else may.
            let read = |header: &&Path| !untouched.reading(&[*header]).is_empty();
            if !headers.iter().all(read) {
                return Ok(None);
            }
        }
        let texts: Vec<(&Path, &[u8])> = texts
            .iter()
            .map(|(path, text)| (*path, &text[..]))
            .collect();
        let mut differing = Vec::new();
        for source in affected {
            // A warning may be about a comment, or about a macro that is not used. Whole files are compiled later, but only those that
            // the patch changes, and only if what the preprocessor makes of them is another text; else at once.
            let ways = &untouched.sources[&source];
            let is_strict = ways.iter().any(|way| way.compiler.warnings_are_errors());
            if is_strict && !bases.contains_key(source.as_path()) {
                return Ok(None);
            }
            match self.changed_text(&untouched.sources[&source], &texts)? {
                None => return Ok(None),
                Some(None)
                    if is_strict && !self.gives_no_warning(&source, patch, plan, known)? =>
                {
                    return Ok(None);
                }
                Some(None) => {}
                Some(Some(texts)) => differing.push((source, texts)),
            }
        }
        let new = |(source, _): &&(PathBuf, _)| !known.contains_key(source);
        if differing.iter().filter(new).count() > MOST_NEW_SOURCES {
            return Ok(None);
        }
        let mut planned = PlannedPatch::new(index);
        for (source, (before, after)) in differing {
            let base = match bases.get(source.as_path()) {
                Some(base) => base.to_vec(),
                None => files::read(&self.worker.sandbox.folder().join(&source))?,
            };
            let file = match self.known_source(&source, &base, plan, known)? {
                Ok(file) => file,
                Err(_) => return Ok(None),
            };
            let own = &plan.sources[file];
            // The text was seen to become the same one in all ways; the functions must be the same, too.
            if !own.others.units.is_empty() {
                return Ok(None);
            }
            let Some(own) = self.expanded_file(file, own, before, &after)? else {
                return Ok(None);
            };
            planned.files.push(own);
        }
        if planned.texts().any(has_large_array) {
            return Ok(None);
        }
        Ok(Some(planned))
    }

    /// Whether a source compiles that a patch changes, although warnings are errors.
    fn gives_no_warning(
        &mut self,
        source: &Path,
        patch: &Patch,
        plan: &mut Plan,
        known: &mut KnownSources,
    ) -> Result<bool, EngineError> {
        let mut changes = patch.changes.iter();
        let change = changes.find(|change| change.path().as_path() == source);
        let Some(text) = change.and_then(FileChange::text) else {
            return Ok(false);
        };
        match self.known_source(source, text.base(), plan, known)? {
            Ok(file) => self.compiles_strictly(file, &plan.sources[file], patch),
            Err(_) => Ok(false),
        }
    }

    /// Returns the preprocessor's output for a source with and without these texts: `Some(None)` if both are the same, `None`
    /// if the ways of compiling it disagree, or one of them cannot be preprocessed.
    fn changed_text<'w>(
        &mut self,
        ways: &'w [Way],
        texts: &[(&Path, &[u8])],
    ) -> Result<Option<Option<(&'w Expanded, Expanded)>>, EngineError> {
        let mut found: Option<(&Expanded, Expanded)> = None;
        let mut same = 0;
        for way in ways {
            let after = way.compiler.expand(self.worker, texts)?;
            let Some((before, after)) = way.expanded.as_ref().zip(after) else {
                return Ok(None);
            };
            if before.is_same_program(&after) {
                same += 1;
            } else if let Some((first, known)) = &found {
                if !first.is_same_program(before) || !known.is_same_program(&after) {
                    return Ok(None);
                }
            } else {
                found = Some((before, after));
            }
        }
        if found.is_some() && same > 0 {
            return Ok(None);
        }
        Ok(Some(found))
    }

    /// The edits of the functions of a source that make it what it is `after`; `None` if functions are not all that differs.
    fn expanded_file(
        &mut self,
        file: usize,
        source: &SourceFile,
        before: &Expanded,
        after: &Expanded,
    ) -> Result<Option<PlannedFile>, EngineError> {
        let Some(groups) = before.differing_groups(after) else {
            return Ok(None);
        };
        let (text, functions) = (&source.unit.source, &source.unit.functions);
        let found = groups.iter().map(|group| {
            let function = before.function(group.0, functions, &source.lines)?;
            Some((function, *group))
        });
        let Some(found) = found.collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let by_line = |function: usize, group: (Group, Group)| {
            let body = functions[function].body_span;
            before.edits(group, after, (text, &source.lines, body))
        };
        let whole = |function: usize, group: (Group, Group)| {
            let body = functions[function].body_span;
            Some(vec![after.body_edit(group.1, body)?])
        };
        let attempts: [&EditsOf<'_>; 2] = [&by_line, &whole];
        for attempt in attempts {
            let mut planned = PlannedFile::new(file);
            let mut all: Vec<Edit> = Vec::new();
            let edits = found.iter().map(|(function, group)| {
                let edits = attempt(*function, *group)?;
                Some((*function, edits))
            });
            let Some(edits) = edits.collect::<Option<Vec<_>>>() else {
                continue;
            };
            for (function, edits) in edits {
                for edit in edits {
                    all.push(edit.clone());
                    planned.edit(function, edit);
                }
            }
            all.sort_by_key(|edit| edit.span);
            let Ok(edited) = patchwright_text::apply_edits(text, &all) else {
                continue;
            };
            let own: &Path = &source.relative;
            let now = source.compiler.expand(self.worker, &[(own, &edited)])?;
            if now.is_some_and(|now| now.is_same_program(after)) {
                match planned.refuse(source) {
                    Ok(()) => return Ok(Some(planned)),
                    Err(reason) => {
                        let name = source.relative.display();
                        tracing::debug!("{name}: it {}", reason.reason());
                    }
                }
            }
        }
        Ok(None)
    }
}
