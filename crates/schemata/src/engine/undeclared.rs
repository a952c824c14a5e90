//! Finds out for all patches at once whether the linker would find the undeclared functions that they
//! call.
//!
//! One build of a program that refers to all these names shows which of them nobody defines. A patch does not link if the
//! object that is made of it refers to such a name; a call that the compiler sees to be unreachable is not in it.

use std::collections::{BTreeMap, BTreeSet};

use patchwright_csource::lex;
use patchwright_exec::{
    BuildError, Limits, Worker, put_source, run_build, runner::Environment, undefined_references,
};
use patchwright_patches::{FileChange, NewText, Patch};
use patchwright_text::{Edit, Span};

use super::Engine;
use super::kept::{Place, Places};
use crate::compiler::CompilerError;
use crate::helpers::Helpers;
use crate::isolate::{Clone, cloned};
use crate::linked::Symbols;
use crate::outside::{Renames, renamed};
use crate::planned::{PlannedPatch, SourceFile};
use crate::undeclared_calls::UndeclaredCall;
use crate::{Apart, EngineError, Fate};

impl Engine<'_> {
    /// Finds the patches that do not link because they call a function that is not declared. Other patches stay as they are.
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
        let unlinked = std::mem::take(&mut self.plan.unlinked);
        let calls: Vec<UndeclaredCall> = calls.into_iter().filter(is_open).collect();
        // One build for these, or one for each.
        if calls.len() < 2 {
            return Ok(());
        }
        let linked = self.linked(base, &calls)?;
        let is_missing = |call: &&UndeclaredCall| linked.missing.contains(&call.name);
        // What one program has another may not have, and the linker's message names no source.
        let is_of_one_file = |call: &&UndeclaredCall| {
            let others = calls.iter().filter(|other| other.name == call.name);
            others.into_iter().all(|other| other.file == call.file)
        };
        let missing = calls.iter().filter(is_missing).filter(is_of_one_file);
        let mut missing: Vec<&UndeclaredCall> = missing.collect();
        for file in 0..self.plan.sources.len() {
            let names = missing.iter().filter(|call| call.file == file);
            let names: BTreeSet<&str> = names.map(|call| call.name.as_str()).collect();
            if names.is_empty() {
                continue;
            }
            // A compiler may know what they give, and call nothing.
            let built_in = self.plan.sources[file].compiler.built_in(base, &names)?;
            missing.retain(|call| call.file != file || !built_in.contains(&call.name));
        }
        let mut unreachable: Vec<&UndeclaredCall> = Vec::new();
        for file in 0..self.plan.sources.len() {
            let own = missing.iter().copied().filter(|c| c.file == file);
            let (together, alone): (Vec<_>, Vec<_>) = own.partition(|call| {
                let source = &self.plan.sources[file];
                !source.compiler.optimizes() || !is_static(source, call.function)
            });
            let mut refer = self.referring(base, file, &together)?;
            let (placed, alone) = self.placed(base, file, alone, &unlinked)?;
            refer.extend(placed);
            let source = &self.plan.sources[file];
            let groups = of_different_functions(source, alone, patches);
            self.stats.compilations += groups.len();
            let workers = helpers.parts(groups.len(), LEAST_FOR_A_COPY);
            let ask = |worker: &mut Worker, group| Reference::of_group(source, worker, group);
            for said in helpers.run(base, groups, workers, ask)? {
                refer.extend(said?);
            }
            for Reference { call, stands } in refer {
                if !stands {
                    unreachable.push(call);
                    continue;
                }
                self.fates[call.patch] = Fate::DoesNotCompile {
                    file: self.plan.sources[file].relative.clone(),
                    line: 0,
                    message: format!("undefined reference to `{}'", call.name),
                };
            }
        }
        for planned in unlinked {
            let own: Vec<_> = calls
                .iter()
                .filter(|call| call.patch == planned.patch)
                .collect();
            let links = |call: &&UndeclaredCall| match is_missing(call) {
                true => unreachable.iter().any(|known| std::ptr::eq(*known, *call)),
                false => linked.is_complete,
            };
            let is_apart = self.fates[planned.patch] == Fate::Apart(Apart::Undeclared);
            if is_apart && !own.is_empty() && own.iter().all(links) {
                let dropped = own.into_iter().filter(is_missing);
                self.fates[planned.patch] = Fate::Woven;
                self.plan.patches.push(without(planned, dropped));
            }
        }
        self.plan.patches.sort_by_key(|planned| planned.patch);
        Ok(())
    }

    /// Returns which calls of static functions the compiler keeps, as far as the places tell where the calls stand, and the other calls.
    fn placed<'c>(
        &mut self,
        base: &mut Worker,
        file: usize,
        calls: Vec<&'c UndeclaredCall>,
        unlinked: &[PlannedPatch],
    ) -> Result<(Vec<Reference<'c>>, Vec<&'c UndeclaredCall>), EngineError> {
        /// Fewer are compiled one by one sooner.
        const LEAST: usize = 3;
        if calls.len() < LEAST {
            return Ok((Vec::new(), calls));
        }
        let source = &self.plan.sources[file];
        let places = Places::new(source, &calls, unlinked);
        let places = places.ask(base, &mut self.stats.compilations)?;
        let at = |wanted: Place| {
            let placed = calls.iter().zip(&places);
            let placed = placed.filter(move |(_, place)| **place == wanted);
            placed.map(|(call, _)| *call)
        };
        let kept: Vec<&UndeclaredCall> = at(Place::Kept).collect();
        // Whatever callers there are, the call may stand behind something that the patch makes unreachable.
        let (mut refer, unreachable): (Vec<_>, Vec<_>) = self
            .referring(base, file, &kept)?
            .into_iter()
            .partition(|reference| reference.stands);
        let unreachable = unreachable.into_iter().map(|reference| reference.call);
        let others = at(Place::Unknown).chain(unreachable).collect();
        let removed = at(Place::Removed);
        let stands = false;
        refer.extend(removed.map(|call| Reference { call, stands }));
        Ok((refer, others))
    }

    /// Which of the names the linker does not find. It may not get to speak of all programs at once: it is asked until it finds all
    /// that are left.
    fn linked(
        &mut self,
        base: &mut Worker,
        calls: &[UndeclaredCall],
    ) -> Result<Linked, EngineError> {
        let mut names: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        for call in calls {
            names.entry(call.file).or_default().insert(&call.name);
        }
        let name = "patches-undeclared";
        let mut worker = self.context.worker(0, name, base.sandbox.folder())?;
        let mut linked = Linked::default();
        loop {
            linked.is_complete = names.values().all(BTreeSet::is_empty);
            if linked.is_complete {
                break;
            }
            let Some(missing) = self.missing(&mut worker, &names)? else {
                linked.is_complete = true;
                break;
            };
            for names in names.values_mut() {
                names.retain(|name| !missing.contains(*name));
            }
            let before = linked.missing.len();
            linked.missing.extend(missing);
            if linked.missing.len() == before {
                break;
            }
        }
        worker.sandbox.remove()?;
        Ok(linked)
    }

    /// The names that the linker says it does not find; `None` if the program links with all of them, which are given by file.
    fn missing(
        &mut self,
        worker: &mut Worker,
        names: &BTreeMap<usize, BTreeSet<&str>>,
    ) -> Result<Option<BTreeSet<String>>, EngineError> {
        let build = self.context.project.build.as_ref();
        let build = build.ok_or(EngineError::NoBuild)?;
        for (&file, names) in names {
            let source = &self.plan.sources[file];
            let mut text = source.unit.source.clone();
            text.push(b'\n');
            // By another name in C, so that it may be one that the compiler knows.
            for (number, name) in names.iter().enumerate() {
                let reference = format!(
                    "extern char __pw_other_{number} __asm__(\"{name}\");\n\
                     __attribute__((used)) static char *__pw_refers_{number} = &__pw_other_{number};\n"
                );
                text.extend_from_slice(reference.as_bytes());
            }
            put_source(&worker.sandbox, &source.relative, &text, &source.includers)?;
        }
        self.stats.builds += 1;
        let built = run_build(
            &mut worker.runner,
            &worker.sandbox,
            build,
            &Environment::default(),
            &Limits::for_build(),
        );
        let output = match built {
            Ok(_) => return Ok(None),
            Err(BuildError::Run(error)) => return Err(error.into()),
            Err(BuildError::Failed { output, .. }) => output,
        };
        let output = String::from_utf8_lossy(&output);
        let missing = undefined_references(&output);
        Ok(Some(missing.iter().map(|m| m.symbol.to_owned()).collect()))
    }

    /// Whether functions refer to what they call when they are compiled as copies beside the others; nothing is said of those that
    /// the compiler refuses.
    fn referring<'c>(
        &mut self,
        base: &mut Worker,
        file: usize,
        calls: &[&'c UndeclaredCall],
    ) -> Result<Vec<Reference<'c>>, EngineError> {
        if calls.is_empty() {
            return Ok(Vec::new());
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
        let object = source.compiler.object(base, &with.text)?;
        Ok(Reference::of(object, calls.to_vec()))
    }
}

/// What the linker says of names.
#[derive(Default)]
struct Linked {
    /// Those that it does not find.
    missing: BTreeSet<String>,
    /// It finds all others.
    is_complete: bool,
}

/// What the compiler makes of a call.
struct Reference<'c> {
    call: &'c UndeclaredCall,
    /// It stands in the object.
    stands: bool,
}

impl<'c> Reference<'c> {
    fn of_group(
        source: &SourceFile,
        worker: &mut Worker,
        group: Group<'c>,
    ) -> Result<Vec<Self>, CompilerError> {
        let object = source.compiler.object(worker, &group.text)?;
        Ok(Self::of(object, group.calls))
    }

    /// Of calls by [`other`] names; none if there is no object.
    fn of(object: Option<Vec<u8>>, calls: Vec<&'c UndeclaredCall>) -> Vec<Self> {
        let Some(object) = object else {
            return Vec::new();
        };
        let symbols = Symbols::of(&object);
        let numbered = calls.into_iter().enumerate();
        let of_call = |(number, call)| Reference {
            call,
            stands: symbols.contain(&other(number)),
        };
        numbered.map(of_call).collect()
    }
}

/// A patch that links, for the compiler has found that these calls are unreachable; of the woven program it knows less. What it
/// does where it is reached a build of its own tells: C does not say what a function does whose declaration is guessed.
fn without<'c>(
    mut planned: PlannedPatch,
    calls: impl Iterator<Item = &'c UndeclaredCall>,
) -> PlannedPatch {
    let none = |call: &UndeclaredCall| (call.name.clone(), "((int (*)())0)".to_owned());
    let renames: Renames = calls.map(none).collect();
    let functions = planned
        .files
        .iter_mut()
        .flat_map(|file| &mut file.functions);
    for edit in functions.flat_map(|function| &mut function.edits) {
        edit.text = renamed(&edit.text, &renames);
    }
    planned
        .suspicion
        .doubt
        .get_or_insert_with(|| "it calls a function that is not declared".to_owned());
    planned.suspicion.is_hidden = true;
    planned
}

/// Calls of patches that are compiled together, each by a name of its own.
struct Group<'c> {
    calls: Vec<&'c UndeclaredCall>,
    /// The source with the bodies of all of them.
    text: Vec<u8>,
}

/// Divides patches of a source into groups that are compiled together. A group changes each function at most once: whether the
/// compiler finds code unreachable depends on a function's callers, not on other functions. A patch that changes anything but
/// the body of one function is a group by itself.
fn of_different_functions<'c>(
    source: &SourceFile,
    calls: Vec<&'c UndeclaredCall>,
    patches: &[Patch],
) -> Vec<Group<'c>> {
    let base = &source.unit.source;
    let body_span = |call: &UndeclaredCall| source.unit.functions[call.function].body_span;
    let mut groups: Vec<Vec<&UndeclaredCall>> = Vec::new();
    let mut others = Vec::new();
    for call in calls {
        let text = patches[call.patch].changes.first();
        let Some(text) = text.and_then(FileChange::text).map(NewText::to_vec) else {
            continue;
        };
        if alternative(base, &[Edit::replace(body_span(call), call.body.clone())]) != text {
            // By a name that stands nowhere else in the object.
            let renames = Renames::from([(call.name.clone(), other(0))]);
            let (calls, text) = (vec![call], renamed(&text, &renames));
            others.push(Group { calls, text });
            continue;
        }
        let is_free = |group: &Vec<&UndeclaredCall>| {
            let mut known = group.iter().map(|known| body_span(known));
            !known.any(|known| known.overlaps(body_span(call)))
        };
        match groups.iter().position(is_free) {
            Some(group) => groups[group].push(call),
            None => groups.push(vec![call]),
        }
    }
    let together = groups.into_iter().map(|mut calls| {
        calls.sort_by_key(|call| body_span(call).start);
        let bodies = calls.iter().enumerate().map(|(number, call)| {
            let renames = Renames::from([(call.name.clone(), other(number))]);
            Edit::replace(body_span(call), renamed(&call.body, &renames))
        });
        let text = alternative(base, &bodies.collect::<Vec<Edit>>());
        Group { calls, text }
    });
    together.chain(others).collect()
}

/// A whole source with these edits, which are sorted.
fn alternative(base: &[u8], edits: &[Edit]) -> Vec<u8> {
    crate::runs::alternative(base, Span::new(0, base.len() as u32), edits)
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
