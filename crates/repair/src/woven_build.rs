//! Builds the woven program, and takes out what does not compile.
//!
//! The program is woven and built. What the compiler rejects is taken out, as little of it as possible: an alternative, a
//! hole, at last a function. Which one it is shows when every part stands on lines of its own
//! ([`weave_file_apart`]); where messages name no place of the woven program, parts are built by halves.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsStr,
    path::Path,
};

use patchwright_csource::lex;
use patchwright_exec::{
    BuildError, Limits, Project, Worker, files, put_source, run_build, runner::Environment,
    undefined_references,
};
use patchwright_localize::blame::{WovenFile, blamed_functions, blamed_places, undeclared_names};
use patchwright_space::{Form, HoleKind, writable_tables};
use patchwright_text::LineMap;
use patchwright_weave::{
    Apart, FunctionId, WeaveError, WovenFunction, WovenPart, weave_file, weave_file_apart,
};

use crate::{
    Event, RepairError,
    instrumented::{HoleEntry, LeftAlone, SourceFile},
    read::Plan,
};

/// The number of builds after which the weaving gives up.
const MOST_BUILDS: usize = 60;

/// The number of builds after which whole functions are left out.
const BUILDS_FOR_PARTS: usize = 40;

/// Why a function is left alone whose woven text does not compile.
pub(crate) const NOT_WOVEN: &str = "its woven text does not compile (a bug of Patchwright)";

/// Why a change is left alone whose woven text does not compile.
const CHANGE_NOT_WOVEN: &str = "changes whose woven text the compiler does not accept";

/// Writes the woven files and builds them. What the compiler rejects is left out, with its holes, and reported. With
/// `unset`, the bytes of variables without a value hold that.
#[allow(clippy::too_many_arguments)]
pub(crate) fn build_woven(
    worker: &mut Worker,
    project: &Project,
    plans: &[Plan],
    entries: &mut Vec<HoleEntry>,
    run: &Path,
    events: &(dyn Fn(Event) + Sync),
    left_alone: &mut LeftAlone,
    unset: Option<u8>,
) -> Result<(), RepairError> {
    let mut build = Build {
        worker,
        project,
        plans,
        run,
        events,
        left_alone,
        unset,
        left_out: BTreeSet::new(),
        without: BTreeSet::new(),
        builds: 0,
        woven: Vec::new(),
        apart: Vec::new(),
    };
    build.until_it_compiles(entries)?;
    build.leave_out_what_is_written()?;
    let left_out = build.left_out;
    entries.retain(|entry| !left_out.contains(&entry.function));
    Ok(())
}

/// A woven program that is to be built.
struct Build<'a> {
    worker: &'a mut Worker,
    project: &'a Project,
    plans: &'a [Plan],
    run: &'a Path,
    events: &'a (dyn Fn(Event) + Sync),
    left_alone: &'a mut LeftAlone,
    unset: Option<u8>,
    /// Functions that are not woven.
    left_out: BTreeSet<FunctionId>,
    /// Parts that are not woven for now.
    without: BTreeSet<WovenPart>,
    /// Builds so far.
    builds: usize,
    /// The texts of the last build, source by source.
    woven: Vec<Vec<u8>>,
    /// Where their parts stand, if they stand on lines of their own.
    apart: Vec<Apart>,
}

impl Build<'_> {
    fn until_it_compiles(&mut self, entries: &mut Vec<HoleEntry>) -> Result<(), RepairError> {
        // Sources whose parts stand on lines of their own, and whether that may still tell something.
        let (mut apart, mut tells) = (BTreeSet::new(), true);
        loop {
            let built = self.build(entries, &apart)?;
            let error = match built {
                Ok(()) if apart.is_empty() => return Ok(()),
                Ok(()) => {
                    // The compiler accepts every part by itself, so lines tell no more.
                    apart.clear();
                    tells = false;
                    continue;
                }
                Err(error) if self.builds >= MOST_BUILDS => {
                    return Err(RepairError::WovenBuild(error));
                }
                Err(error) => error,
            };
            tracing::info!("the woven program does not build: {error}");
            let message = match &error {
                BuildError::Failed { output, .. } => String::from_utf8_lossy(output).into_owned(),
                BuildError::Run(_) => error.to_string(),
            };
            if let Some(told) = drop_missing(entries, &message) {
                (self.events)(Event::Warning(told));
                continue;
            }
            if apart.is_empty() && tells {
                apart = self.blamed_sources(&message);
                continue;
            }
            let may_drop = !apart.is_empty() && self.builds < BUILDS_FOR_PARTS;
            if may_drop && self.drop_parts(entries, &message) {
                // The compiler has told all errors of a source at once, mostly, and what builds now is wanted on its
                // usual lines: a large source takes long to compile twice.
                if !message.contains("too many errors") {
                    apart.clear();
                }
                continue;
            }
            if self.drop_functions(&message) || self.drop_by_halves(entries)? {
                continue;
            }
            return Err(RepairError::WovenBuild(error));
        }
    }

    /// Returns the sources that a compiler's message names, or all where it names none: they are numbered as in
    /// [`Self::woven`].
    fn blamed_sources(&self, message: &str) -> BTreeSet<usize> {
        let blamed: BTreeSet<&OsStr> = blamed_places(message)
            .into_iter()
            .filter_map(|(file, ..)| Path::new(file).file_name())
            .collect();
        let sources = || self.plans.chunk_by(|a, b| a.host_path == b.host_path);
        let is_named = |ways: &[Plan]| {
            let name = ways[0].file.relative.file_name();
            name.is_some_and(|name| blamed.contains(name))
        };
        let named = sources().enumerate().filter(|(_, ways)| is_named(ways));
        let named: BTreeSet<usize> = named.map(|(number, _)| number).collect();
        if named.is_empty() {
            (0..sources().count()).collect()
        } else {
            named
        }
    }

    /// Weaves what is left and builds it. The parts of the sources `apart` stand on lines of their own.
    fn build(
        &mut self,
        entries: &[HoleEntry],
        apart: &BTreeSet<usize>,
    ) -> Result<Result<(), BuildError>, RepairError> {
        self.builds += 1;
        self.woven.clear();
        self.apart.clear();
        let mut number = 0;
        // The ways of one source follow one another.
        let sources = self.plans.chunk_by(|a, b| a.host_path == b.host_path);
        for (source, ways) in sources.enumerate() {
            let mut functions = Vec::new();
            for plan in ways {
                let of_plan = |entry: &&HoleEntry| entry.file == number;
                let own: Vec<&HoleEntry> = entries.iter().filter(of_plan).collect();
                let woven = plan.woven(&own, &self.left_out, self.unset);
                functions.extend(woven.into_iter().map(|one| self.without_some(one)));
                number += 1;
            }
            let SourceFile { relative, unit, .. } = &ways[0].file;
            let woven = match self.weave(
                &writable_tables(unit),
                &functions,
                relative,
                apart.contains(&source),
            ) {
                Ok(woven) => woven,
                Err(error) => {
                    tracing::error!("{}: {error}", relative.display());
                    (self.events)(Event::Warning(format!(
                        "{} cannot be woven and is left alone: {error}",
                        relative.display()
                    )));
                    *self
                        .left_alone
                        .refused
                        .entry(error.to_string())
                        .or_default() += functions.len();
                    self.left_out
                        .extend(functions.iter().map(|function| function.id));
                    unit.source.clone()
                }
            };
            if files::read(&ways[0].host_path)? != woven {
                put_source(&self.worker.sandbox, relative, &woven, &ways[0].includers)?;
            }
            self.woven.push(woven);
        }
        let command = self.project.build.as_deref().unwrap_or_default();
        let built = run_build(
            &mut self.worker.runner,
            &self.worker.sandbox,
            command,
            &Environment::default(),
            &Limits::for_build(),
        );
        match built {
            Ok(_) => Ok(Ok(())),
            Err(BuildError::Run(error)) => Err(error.into()),
            Err(error) => Ok(Err(error)),
        }
    }

    /// A function without the parts that are not woven for now.
    fn without_some(&self, mut function: WovenFunction) -> WovenFunction {
        if self.without.is_empty() {
            return function;
        }
        let is_kept = |part: WovenPart| !self.without.contains(&part);
        function.hooks.retain_mut(|hook| {
            let id = hook.id;
            let Some(alternatives) = hook.kind.alternatives_mut() else {
                return is_kept(WovenPart::Hole(id));
            };
            let mut value = 0;
            alternatives.retain(|_| {
                value += 1;
                is_kept(WovenPart::Alternative(id, value))
            });
            true
        });
        let moved = &mut function.moved;
        moved.retain(|copy| is_kept(WovenPart::Alternative(copy.id, copy.value)));
        let assignments = &mut function.assignments;
        assignments.retain(|place| is_kept(WovenPart::Hole(place.id)));
        if assignments.is_empty() {
            function.touches.clear();
        }
        function
    }

    fn weave(
        &mut self,
        source: &[u8],
        functions: &[WovenFunction],
        relative: &Path,
        apart: bool,
    ) -> Result<Vec<u8>, WeaveError> {
        if !apart {
            return weave_file(source, functions, Some(self.run));
        }
        let name = relative.to_string_lossy();
        let woven = weave_file_apart(source, functions, Some(self.run), &name)?;
        let text = woven.text.clone();
        self.apart.push(woven);
        Ok(text)
    }

    /// Takes out the parts at which the compiler reports errors; whether there are any.
    fn drop_parts(&mut self, entries: &mut Vec<HoleEntry>, message: &str) -> bool {
        let mut parts: BTreeSet<(FunctionId, WovenPart)> = BTreeSet::new();
        for (file, line, _) in blamed_places(message) {
            let found = self.apart.iter().find_map(|woven| woven.part(file, line));
            if let Some((function, Some(part))) = found {
                parts.insert((function, part));
            }
        }
        // Compilers tell a name that they do not know once for each function, wherever else it stands. A name of the function's own is
        // known elsewhere: only that part stands where it is not.
        for (file, line, name) in undeclared_names(message) {
            for woven in &self.apart {
                if let Some((function, _)) = woven.part(file, line)
                    && !self.declares(function, name)
                {
                    let same = woven.parts_with(function, name).into_iter();
                    parts.extend(same.map(|part| (function, part)));
                }
            }
        }
        let mut dropped: BTreeMap<String, usize> = BTreeMap::new();
        // The last alternative of a hole first, so that the numbers of the others stay what they are.
        for &(function, part) in parts.iter().rev() {
            for place in drop_part(entries, Some(function), part) {
                *dropped.entry(place).or_default() += 1;
            }
        }
        self.note_dropped(&dropped);
        !dropped.is_empty()
    }

    /// Whether a function has a variable of this name.
    fn declares(&self, id: FunctionId, name: &str) -> bool {
        self.plans.iter().any(|plan| {
            let unit = &plan.file.unit;
            let mut own = plan.functions.iter().filter(|(_, own)| *own == id);
            own.any(|&(index, _)| {
                let mut locals = unit.functions[index].locals.iter();
                locals.any(|&local| unit.variable(local).name == name)
            })
        })
    }

    /// Notes how many changes have been taken out at each place.
    fn note_dropped(&mut self, dropped: &BTreeMap<String, usize>) {
        for (place, count) in dropped {
            *self.left_alone.changes.entry(CHANGE_NOT_WOVEN).or_default() += count;
            tracing::warn!("{place}: {count} changes do not compile when they are woven");
        }
    }

    /// Leaves out the functions in whose lines the compiler reports errors; whether there are any.
    fn drop_functions(&mut self, message: &str) -> bool {
        let mut blamed = blamed(message, self.plans, &self.left_out);
        for (file, line, _) in blamed_places(message) {
            let found = self.apart.iter().find_map(|woven| woven.part(file, line));
            blamed.extend(found.map(|(function, _)| function));
        }
        let blamed: BTreeSet<FunctionId> = blamed.into_iter().collect();
        for &id in &blamed {
            self.drop_function(id);
        }
        !blamed.is_empty()
    }

    fn drop_function(&mut self, id: FunctionId) {
        if !self.left_out.insert(id) {
            return;
        }
        let found = self.plans.iter().find_map(|plan| {
            let mut functions = plan.functions.iter();
            let &(index, _) = functions.find(|(_, known)| *known == id)?;
            Some((&plan.file, &plan.file.unit.functions[index]))
        });
        if let Some((file, function)) = found {
            let line = LineMap::new(&file.unit.source).line(function.span.start);
            (self.events)(Event::Warning(format!(
                "no change is sought in {} ({}:{line}): the compiler does not accept it when it is woven",
                function.name,
                file.relative.display(),
            )));
        }
        let refused = &mut self.left_alone.refused;
        *refused.entry(NOT_WOVEN.to_owned()).or_default() += 1;
    }

    /// Takes out the parts without which it compiles, which are found by building without halves of them: no message says which
    /// they are. Whether there are any.
    fn drop_by_halves(&mut self, entries: &mut Vec<HoleEntry>) -> Result<bool, RepairError> {
        let mut functions: BTreeMap<FunctionId, Vec<WovenPart>> = BTreeMap::new();
        for entry in entries.iter() {
            if !self.left_out.contains(&entry.function) {
                functions
                    .entry(entry.function)
                    .or_default()
                    .extend(parts(entry));
            }
        }
        // First of all, without any: if that does not build either, it is not for what is woven.
        self.without = functions.values().flatten().copied().collect();
        let is_for_them = self.build(entries, &BTreeSet::new())?.is_ok();
        let mut culprits = Vec::new();
        if is_for_them {
            let functions = functions.into_values().collect();
            for function in self.halves(entries, functions)? {
                let parts = function.into_iter().map(|part| vec![part]).collect();
                culprits.extend(self.halves(entries, parts)?);
            }
        }
        self.without.clear();
        let mut culprits: Vec<WovenPart> = culprits.concat();
        culprits.sort();
        let mut dropped = BTreeMap::new();
        for part in culprits.into_iter().rev() {
            for place in drop_part(entries, None, part) {
                *dropped.entry(place).or_default() += 1;
            }
        }
        self.note_dropped(&dropped);
        Ok(!dropped.is_empty())
    }

    /// Returns the parts of some groups that do not compile. Meanwhile no other part of these groups is woven, except for parts
    /// that are found to compile.
    fn halves(
        &mut self,
        entries: &[HoleEntry],
        all: Vec<Vec<WovenPart>>,
    ) -> Result<Vec<Vec<WovenPart>>, RepairError> {
        let mut culprits = Vec::new();
        let outside = self.without.clone();
        let mut unknown: BTreeSet<WovenPart> = all.iter().flatten().copied().collect();
        let mut waiting = vec![all];
        while let Some(groups) = waiting.pop() {
            self.without = outside.union(&unknown).copied().collect();
            for part in groups.iter().flatten() {
                self.without.remove(part);
            }
            let is_over = self.builds >= MOST_BUILDS;
            if !is_over && self.build(entries, &BTreeSet::new())?.is_ok() {
                for part in groups.iter().flatten() {
                    unknown.remove(part);
                }
            } else if groups.len() == 1 || is_over {
                culprits.extend(groups);
            } else {
                let (first, second) = groups.split_at(groups.len() / 2);
                waiting.extend([second.to_vec(), first.to_vec()]);
            }
        }
        self.without = outside.union(&unknown).copied().collect();
        Ok(culprits)
    }

    /// Leaves out the functions of files that the build writes itself.
    fn leave_out_what_is_written(&mut self) -> Result<(), RepairError> {
        let ways = self.plans.chunk_by(|a, b| a.host_path == b.host_path);
        for (ways, woven) in ways.zip(&self.woven) {
            if files::read(&ways[0].host_path)? == *woven {
                continue;
            }
            (self.events)(Event::Warning(format!(
                "{} is written by the build, which undoes every change of it; it is left alone",
                ways[0].file.relative.display()
            )));
            *self
                .left_alone
                .refused
                .entry("it stands in a file that the build writes".to_owned())
                .or_default() += ways[0].functions.len();
            let functions = ways.iter().flat_map(|plan| &plan.functions);
            self.left_out.extend(functions.map(|&(_, id)| id));
        }
        Ok(())
    }
}

/// What can be taken out of a hole: its alternatives, or all of it.
fn parts(entry: &HoleEntry) -> Vec<WovenPart> {
    let count = match &entry.hole.kind {
        HoleKind::Choice(choice) => choice.alternatives.len(),
        HoleKind::Exit(exits) => exits.ways.len(),
        _ => return vec![WovenPart::Hole(entry.id)],
    };
    let values = 1..=count as u64;
    values
        .map(|value| WovenPart::Alternative(entry.id, value))
        .collect()
}

/// Takes a part of a function out of what is woven; gives the place of each hole from which something is gone.
fn drop_part(
    entries: &mut Vec<HoleEntry>,
    function: Option<FunctionId>,
    part: WovenPart,
) -> Vec<String> {
    let mut dropped = Vec::new();
    entries.retain_mut(|entry| {
        let (is_gone, is_empty) = match part {
            WovenPart::Hole(hole) => (entry.id == hole, true),
            WovenPart::Alternative(hole, value) if entry.id == hole => {
                drop_alternative(entry, value)
            }
            WovenPart::Alternative(..) => (false, false),
            // What watches the variables that can be assigned.
            WovenPart::Touch => {
                let is_assignment = matches!(entry.hole.kind, HoleKind::Assignment(_));
                (Some(entry.function) == function && is_assignment, true)
            }
        };
        if is_gone {
            dropped.push(entry.place.clone());
        }
        !(is_gone && is_empty)
    });
    dropped
}

/// Takes an alternative out of a hole: whether the hole has it, and whether it was the last one.
fn drop_alternative(entry: &mut HoleEntry, value: u64) -> (bool, bool) {
    let Some(place) = usize::try_from(value).ok().and_then(|n| n.checked_sub(1)) else {
        return (false, false);
    };
    match &mut entry.hole.kind {
        HoleKind::Choice(choice) if place < choice.alternatives.len() => {
            choice.alternatives.remove(place);
            if let Form::Moved(destinations) = &mut choice.form {
                destinations.remove(place);
            }
            (true, choice.alternatives.is_empty())
        }
        HoleKind::Exit(exits) if place < exits.ways.len() => {
            exits.ways.remove(place);
            (true, exits.ways.is_empty())
        }
        _ => (false, false),
    }
}

/// Takes out the changes that name what the linker does not find, and says so; `None` if there are none. A header may define a function for clang,
/// which reads the sources, and not for the compiler that builds them.
fn drop_missing(entries: &mut Vec<HoleEntry>, message: &str) -> Option<String> {
    let missing = undefined_references(message);
    let names_missing = |text: &str| {
        let words = lex::words(text.as_bytes());
        missing
            .iter()
            .any(|missing| words.iter().any(|word| word == missing.symbol))
    };
    let mut count = 0;
    for entry in entries.iter_mut() {
        if let HoleKind::Choice(choice) = &mut entry.hole.kind
            && !matches!(choice.form, Form::Moved(_))
        {
            let before = choice.alternatives.len();
            choice
                .alternatives
                .retain(|alternative| !names_missing(&alternative.woven));
            count += before - choice.alternatives.len();
        }
    }
    let is_empty = |entry: &HoleEntry| match &entry.hole.kind {
        HoleKind::Choice(choice) => choice.alternatives.is_empty(),
        _ => false,
    };
    entries.retain(|entry| !is_empty(entry));
    let names: BTreeSet<&str> = missing.iter().map(|missing| missing.symbol).collect();
    let names: Vec<&str> = names.into_iter().collect();
    (count > 0).then(|| {
        format!(
            "the linker does not find {}; changes that name it are left alone: {count}",
            names.join(", ")
        )
    })
}

/// The functions in whose lines the compiler reports errors.
fn blamed(message: &str, plans: &[Plan], left_out: &BTreeSet<FunctionId>) -> Vec<FunctionId> {
    let woven: Vec<WovenFile<'_>> = plans
        .iter()
        .map(|plan| {
            let functions = plan.functions.iter();
            let functions = functions.filter(|(_, id)| !left_out.contains(id));
            WovenFile {
                relative: &plan.file.relative,
                source: &plan.file.unit.source,
                functions: functions
                    .map(|&(index, id)| {
                        let function = &plan.file.unit.functions[index];
                        (id.0, function.name.as_str(), function.body_span)
                    })
                    .collect(),
            }
        })
        .collect();
    let found = blamed_functions(message, &woven).into_iter();
    found.map(|(id, _)| FunctionId(id)).collect()
}
