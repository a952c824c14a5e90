//! A batch: one woven build of many patches.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use patchwright_csource::{Clang, StmtKind, TranslationUnit};
use patchwright_exec::Worker;
use patchwright_probe_image::{PatchTable, TableAlternative, TablePlace};
use patchwright_text::{LineMap, Span};
use patchwright_weave::{
    Alternative, MAX_ALTERNATIVES, PlaceId, PlaceKind, WovenPlace, WovenPlaces, weave_places,
};

use crate::additions::{self, OwnText};
use crate::captures::{CapturedPlace, Captures, function_at};
use crate::compiler::{Depth, Diagnostic};
use crate::placing::{self, BatchPlace, Width};
use crate::plan::Plan;
use crate::planned::SourceFile;
use crate::scan;
use crate::uncaptured::Uncaptured;
use crate::{Apart, EngineError, Outside, Stats, Unwoven};

/// Alternatives of a batch have so many bytes at most: the syntax tree of some takes three thousand times as much
/// memory.
const MOST_TEXT: usize = 200_000;

/// The woven texts of a batch, and its table of patches.
pub struct Batch {
    /// Index of each patch of the batch in the plan.
    pub members: Vec<usize>,
    /// Index in the sources, woven text.
    pub files: Vec<(usize, Vec<u8>)>,
    /// Who has what; patches are numbered as in [`Batch::members`].
    pub table: PatchTable,
}

/// The result of weaving patches together: the batch, and those that did not fit.
pub struct Batched {
    /// Those that are.
    pub batch: Batch,
    /// Those for which that cannot be done, with the reason.
    pub apart: Vec<(usize, Apart)>,
    /// The last ones, for which there was no room.
    pub left: Vec<usize>,
}

/// Weaves planned patches into batches: sets of patches that one woven build holds.
pub struct Batcher<'a> {
    /// A built copy of the untouched program.
    pub worker: &'a mut Worker,
    /// Reads C.
    pub clang: &'a Clang,
    /// Sources and patches.
    pub plan: &'a Plan,
    /// The counts to which this work is added.
    pub stats: &'a mut Stats,
    /// Whether alternatives are tried and undone, so that patches with the same effect share an execution.
    pub dedup: bool,
    /// Grows when a woven process cannot tell which patch it should run.
    pub unobserved: &'a Path,
    /// The finished texts are compiled, and what the compiler rejects in them is left out. The texts for evaluations, which
    /// nobody else compiles before the build, hardly ever need that.
    pub checked: bool,
    /// Patches of the plan that did not go into smaller places.
    pub widths: &'a mut BTreeMap<usize, Width>,
    /// How often patches may still be parted, or get wider places, to find out to whom an error belongs. A file that cannot be
    /// woven at all would take a compilation for each.
    pub trials: &'a mut usize,
}

impl Batcher<'_> {
    /// Weaves these patches of the plan together, as many of the first ones as a batch has room for.
    ///
    /// # Errors
    /// Processes that cannot be run, and files that cannot be read or written.
    pub fn batch(&mut self, members: &[usize]) -> Result<Batched, EngineError> {
        let mut members = members.to_vec();
        let mut left = Vec::new();
        let mut apart: Vec<(usize, Apart)> = Vec::new();
        loop {
            let places = placing::places(self.plan, &members, self.widths);
            let alternatives = places.iter().flat_map(|place| &place.alternatives);
            let size: usize = alternatives.map(|known| known.text.len()).sum();
            tracing::debug!("{} patches are {size} bytes of alternatives", members.len());
            if size > MOST_TEXT && members.len() > 1 {
                let rest = members.split_off(members.len() / 2);
                left.splice(0..0, rest);
                continue;
            }
            let crowded: BTreeSet<u32> = places
                .iter()
                .filter(|place| place.alternatives.len() >= MAX_ALTERNATIVES)
                .flat_map(|place| &place.alternatives[MAX_ALTERNATIVES - 1..])
                .flat_map(|alternative| alternative.patches.iter().copied())
                .collect();
            if !crowded.is_empty() {
                let (rest, kept) = parted(&members, |patch| crowded.contains(&patch));
                members = kept;
                left.splice(0..0, rest);
                continue;
            }
            let mut refused: BTreeMap<u32, Apart> = BTreeMap::new();
            let mut unassigned = false;
            let mut texts = Vec::new();
            let undefined = undefined(self.plan, &members);
            for file in file_numbers(&places) {
                match self.weave_file(file, &places, &undefined)? {
                    Ok(text) => texts.push((file, text)),
                    Err(Refused::Patches(patches)) => refused.extend(patches),
                    Err(Refused::Unassigned) => unassigned = true,
                }
            }
            if refused.is_empty() && !unassigned {
                // What was found out about each alternative is in the texts and the table.
                let table = texts.iter().flat_map(|(_, woven)| &woven.places);
                let mut by_id: Vec<(PlaceId, TablePlace)> =
                    table.map(|(id, place)| (*id, place.clone())).collect();
                by_id.sort_by_key(|(id, _)| *id);
                let batch = Batch {
                    table: PatchTable {
                        patches: members.len() as u32,
                        places: by_id.into_iter().map(|(_, place)| place).collect(),
                    },
                    files: texts
                        .into_iter()
                        .map(|(file, woven)| (file, woven.text))
                        .collect(),
                    members,
                };
                return Ok(Batched { batch, apart, left });
            }
            if refused.is_empty() && *self.trials == 0 {
                let everyone = members.into_iter();
                let reason = |member| (member, Apart::NotWoven(Unwoven::Unassigned));
                apart.extend(everyone.map(reason));
                members = Vec::new();
                continue;
            }
            *self.trials -= usize::from(refused.is_empty());
            if refused.is_empty() && members.len() > 1 {
                // Nobody is to blame as far as can be seen.
                let rest = members.split_off(members.len() / 2);
                left.splice(0..0, rest);
                continue;
            }
            if refused.is_empty() {
                refused.insert(0, Apart::NotWoven(Unwoven::Unassigned));
            }
            // Those that may go into wider places are woven again with the others.
            refused.retain(|patch, reason| {
                let member = members[*patch as usize];
                let width = self.widths.entry(member).or_default();
                let wider = width
                    .wider()
                    .filter(|_| matches!(reason, Apart::NotWoven(_)));
                *width = wider.unwrap_or(*width);
                wider.is_none()
            });
            for (patch, reason) in &refused {
                apart.push((members[*patch as usize], reason.clone()));
            }
            members = parted(&members, |patch| refused.contains_key(&patch)).1;
        }
    }

    /// Weaves the places of one file, first without evaluations, to have the alternatives read.
    fn weave_file(
        &mut self,
        file: usize,
        places: &[BatchPlace],
        undefined: &BTreeSet<u32>,
    ) -> Result<Result<WovenFile, Refused>, EngineError> {
        let source = &self.plan.sources[file];
        let own: Vec<usize> = (0..places.len())
            .filter(|place| places[*place].file == file)
            .collect();
        let suffix = own.first().map_or(0, |place| *place).to_string();
        let mut base = source.unit.source.clone();
        for function in own.iter().filter_map(|place| places[*place].function) {
            let body = source.unit.functions[function].body_span;
            scan::without_register(&mut base[body.start as usize..body.end as usize]);
        }
        let own_text = |text: &[u8]| {
            let mut text = text.to_vec();
            scan::without_register(&mut text);
            text
        };
        let mut woven: Vec<WovenPlace> = own
            .iter()
            .map(|place| {
                let known = &places[*place];
                WovenPlace {
                    id: PlaceId(*place as u32),
                    span: known.run.span,
                    kind: known.run.kind,
                    result: known.value.clone(),
                    captured: None,
                    labels: scan::labels(slice(&source.unit.source, known.run.span)),
                    alternatives: known
                        .alternatives
                        .iter()
                        .map(|alternative| Alternative {
                            text: own_text(&alternative.text),
                            line: alternative.line,
                            captured: None,
                            labels: scan::labels(&alternative.text),
                        })
                        .collect(),
                }
            })
            .collect();
        let unobserved = Some(self.unobserved.as_os_str().as_bytes());
        // What macros define as labels only the compiler knows: it tells of those that are there twice, and they are woven again.
        let (plain, text, diagnostics) = loop {
            let plain = match weave_places(&base, &suffix, &woven, unobserved) {
                Ok(plain) => plain,
                Err(error) => {
                    tracing::warn!("{}: {error}", source.relative.display());
                    return Ok(Err(Refused::Unassigned));
                }
            };
            let text = without_line_directives(&plain.text);
            let mut diagnostics = Vec::new();
            for (_, compiler) in source.compilers() {
                self.stats.compilations += 1;
                diagnostics.extend(compiler.check(self.worker, &text, Depth::Syntax)?);
            }
            if !own_labels(&mut woven, &plain.alternatives, &text, &diagnostics) {
                break (plain, text, diagnostics);
            }
        };
        let lines = LineMap::new(&text);
        let mut refused: Vec<(u32, Apart)> = Vec::new();
        let mut unassigned = false;
        for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.is_error) {
            tracing::info!(
                "{}: woven line {:?}: {}",
                source.relative.display(),
                diagnostic.line,
                diagnostic.message
            );
            let at = diagnostic.line.and_then(|line| lines.line_span(line));
            let hit = at.and_then(|at| {
                own.iter().enumerate().find_map(|(number, place)| {
                    let mut spans = plain.alternatives[number].iter();
                    let hit = spans.position(|span| touches(*span, at))?;
                    Some(&places[*place].alternatives[hit])
                })
            });
            match hit {
                Some(alternative) => {
                    let reason = Apart::NotWoven(Unwoven::Error(diagnostic.message.clone()));
                    let patches = alternative.patches.iter();
                    refused.extend(patches.map(|patch| (*patch, reason.clone())));
                }
                None => unassigned = true,
            }
        }
        let texts: Vec<OwnText<'_>> = own
            .iter()
            .zip(&plain.alternatives)
            .flat_map(|(place, spans)| {
                let known = &places[*place];
                known
                    .alternatives
                    .iter()
                    .zip(spans)
                    .map(|(alternative, span)| OwnText {
                        span: *span,
                        patches: &alternative.patches,
                        added: known.function.is_none(),
                    })
            })
            .collect();
        if refused.is_empty() && unassigned {
            let added = texts.iter().filter(|text| text.added);
            let patches = added.flat_map(|added| added.patches);
            let reason = |patch: &u32| (*patch, Apart::NotWoven(Unwoven::Unassigned));
            refused.extend(patches.map(reason));
            if refused.is_empty() {
                return Ok(Err(Refused::Unassigned));
            }
        }
        if refused.is_empty() && texts.iter().any(|text| text.added) {
            let undeclared = diagnostics.iter().any(Diagnostic::is_undeclared_function);
            let mut meddling = BTreeSet::new();
            for (_, compiler) in source.compilers() {
                let own = additions::meddling(self.worker, compiler, &text, &texts, undeclared)?;
                meddling.extend(own);
            }
            let reason = |patch| (patch, Apart::OutsideOfFunctions(Outside::Meddles));
            refused.extend(meddling.into_iter().map(reason));
        }
        if !refused.is_empty() {
            return Ok(Err(Refused::Patches(refused)));
        }
        let read = match self.dedup {
            true => self.read_woven(source, &text)?,
            false => Vec::new(),
        };
        for unit in &read {
            let escaped = escaping_declarations(unit, &own, places, &plain.alternatives);
            if !escaped.is_empty() {
                return Ok(Err(Refused::Patches(escaped)));
            }
        }
        let mut table = Vec::with_capacity(own.len());
        // A place that is visited during an evaluation would spoil it.
        let in_functions = own.iter().filter_map(|place| places[*place].function);
        let excluded = in_functions
            .map(|function| source.unit.functions[function].name.as_str())
            .collect();
        let captures = Captures::new(source, &read, undefined, &excluded);
        for (number, place) in own.iter().enumerate() {
            let Some(function) = places[*place].function else {
                continue;
            };
            let spans = &plain.alternatives[number];
            if let Some(found) = captures.of_place(&places[*place], function, &suffix, spans) {
                self.keep(found, &mut woven[number]);
            }
        }
        let text = loop {
            let finished = match weave_places(&base, &suffix, &woven, unobserved) {
                Ok(finished) => finished,
                Err(error) => {
                    tracing::warn!("{}: {error}", source.relative.display());
                    return Ok(Err(Refused::Unassigned));
                }
            };
            if !self.checked {
                break finished.text;
            }
            match self.rejected(source, &finished, &mut woven)? {
                Rejected::Nothing => break finished.text,
                Rejected::Evaluations => {}
                Rejected::Alternatives(hit) => {
                    let patches = hit.iter().flat_map(|(number, ordinal)| {
                        &places[own[*number]].alternatives[*ordinal].patches
                    });
                    let reason = |patch: &u32| (*patch, Apart::NotWoven(Unwoven::Unassigned));
                    let refused = patches.map(reason);
                    return Ok(Err(Refused::Patches(refused.collect())));
                }
                Rejected::Everything => return Ok(Err(Refused::Unassigned)),
            }
        };
        for (number, place) in own.iter().enumerate() {
            table.push((
                PlaceId(*place as u32),
                table_place(&places[*place], &woven[number]),
            ));
        }
        Ok(Ok(WovenFile {
            text,
            places: table,
        }))
    }

    /// Puts the texts for evaluations of a place where it is woven, as far as there are some.
    fn keep(&mut self, found: CapturedPlace, target: &mut WovenPlace) {
        target.captured = self.note(found.original);
        let alternatives = target.alternatives.iter_mut().zip(found.alternatives);
        for (alternative, captured) in alternatives {
            if let Err(reason) = &captured {
                let text = String::from_utf8_lossy(&alternative.text);
                tracing::debug!("cannot be tried, for it {}: {text}", reason.reason());
            }
            alternative.captured = self.note(captured);
        }
        let alternatives = target.alternatives.iter();
        let captured = alternatives.filter_map(|alternative| alternative.captured.as_ref());
        let mut captured = target.captured.iter().chain(captured);
        let returns =
            target.kind == PlaceKind::Statements && captured.any(|text| contains(text, b"__pw_r="));
        if let (true, Some(result)) = (returns, found.result) {
            target.result = Some(result.to_owned());
        }
    }

    /// Compiles a finished text. Places in which the compiler rejects what is there for evaluations only lose it.
    fn rejected(
        &mut self,
        source: &SourceFile,
        finished: &WovenPlaces,
        woven: &mut [WovenPlace],
    ) -> Result<Rejected, EngineError> {
        let text = without_line_directives(&finished.text);
        let mut diagnostics = Vec::new();
        for (_, compiler) in source.compilers() {
            self.stats.compilations += 1;
            diagnostics.extend(compiler.check(self.worker, &text, Depth::Full)?);
        }
        let lines = LineMap::new(&text);
        let (mut hit, mut has_errors, mut dropped) = (Vec::new(), false, false);
        for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.is_error) {
            let name = source.relative.display();
            tracing::info!(
                "{name}: finished line {:?}: {}",
                diagnostic.line,
                diagnostic.message
            );
            has_errors = true;
            let Some(at) = diagnostic.line.and_then(|line| lines.line_span(line)) else {
                continue;
            };
            let meets = |span: &Span| touches(*span, at);
            // Of places in one another the inner one.
            let places = (0..woven.len()).filter(|number| meets(&finished.places[*number]));
            let Some(place) = places.min_by_key(|number| finished.places[*number].len()) else {
                continue;
            };
            match finished.alternatives[place].iter().position(meets) {
                Some(ordinal) => hit.push((place, ordinal)),
                None => dropped |= without_evaluations(&mut woven[place]),
            }
        }
        if !has_errors {
            return Ok(Rejected::Nothing);
        }
        if !hit.is_empty() {
            return Ok(Rejected::Alternatives(hit));
        }
        if !dropped {
            for place in woven {
                dropped |= without_evaluations(place);
            }
        }
        Ok(if dropped {
            Rejected::Evaluations
        } else {
            Rejected::Everything
        })
    }

    /// Counts why a text cannot be evaluated.
    fn note(&mut self, captured: Result<Vec<u8>, Uncaptured>) -> Option<Vec<u8>> {
        match captured {
            Ok(text) => {
                self.stats.captured += 1;
                Some(text)
            }
            Err(reason) => {
                *self.stats.uncaptured.entry(reason).or_default() += 1;
                None
            }
        }
    }

    /// A woven file as each way has it; none when clang does not accept what the project's compiler does.
    fn read_woven(
        &mut self,
        source: &SourceFile,
        text: &[u8],
    ) -> Result<Vec<TranslationUnit>, EngineError> {
        let path = self.worker.sandbox.folder().join(&source.relative);
        let mut units = Vec::new();
        for (command, _) in source.compilers() {
            let exchanged = patchwright_exec::files::Exchanged::put(&path, text)?;
            let runner = &mut self.worker.runner;
            let parsed = patchwright_csource::parse(self.clang, runner, command, text.to_vec());
            exchanged.put_back()?;
            match parsed {
                Ok(unit) => units.push(unit),
                Err(patchwright_csource::ParseError::Run(error)) => return Err(error.into()),
                Err(error) => {
                    tracing::info!("{}: {error}", source.relative.display());
                    return Ok(Vec::new());
                }
            }
        }
        Ok(units)
    }
}

/// Why a file cannot be woven.
enum Refused {
    /// Patches (numbered as in the batch) that cannot be woven, and why.
    Patches(Vec<(u32, Apart)>),
    /// The compiler rejects it, and nobody is to blame as far as can be seen.
    Unassigned,
}

/// Returns the members whose behaviour C may not define, by their numbers in the batch.
pub fn undefined(plan: &Plan, members: &[usize]) -> BTreeSet<u32> {
    let numbered = (0..).zip(members);
    numbered
        .filter(|(_, member)| plan.patches[**member].suspicion.doubt.is_some())
        .map(|(number, _)| number)
        .collect()
}

/// Members whose numbers in the batch are wanted, and the others.
fn parted(members: &[usize], wanted: impl Fn(u32) -> bool) -> (Vec<usize>, Vec<usize>) {
    let numbered = (0..).zip(members.iter().copied());
    let (wanted, others): (Vec<_>, Vec<_>) = numbered.partition(|(patch, _)| wanted(*patch));
    let members = |list: Vec<(u32, usize)>| list.into_iter().map(|(_, member)| member).collect();
    (members(wanted), members(others))
}

/// Gives texts the labels that they define by way of macros, as the compiler's complaints of labels that are there twice tell. Whether
/// one got a label that it did not have.
fn own_labels(
    woven: &mut [WovenPlace],
    alternatives: &[Vec<Span>],
    text: &[u8],
    diagnostics: &[Diagnostic],
) -> bool {
    let lines = LineMap::new(text);
    let mut found = false;
    for diagnostic in diagnostics {
        let Some(label) = diagnostic.repeated_label() else {
            continue;
        };
        let Some(at) = diagnostic.line.and_then(|line| lines.line_span(line)) else {
            continue;
        };
        let mut add = |labels: &mut Vec<String>| {
            if !labels.iter().any(|known| known == label) {
                labels.push(label.to_owned());
                found = true;
            }
        };
        for (place, spans) in woven.iter_mut().zip(alternatives) {
            let named = place.alternatives.iter_mut().zip(spans);
            for (alternative, _) in named.filter(|(_, span)| touches(**span, at)) {
                add(&mut alternative.labels);
                // No jump from outside may reach the original's instead.
                add(&mut place.labels);
            }
        }
    }
    found
}

/// Whether a line of a woven text is one of an alternative's, or the one behind it, in which its statement would have to end.
fn touches(alternative: Span, line: Span) -> bool {
    alternative.start <= line.end && line.start <= alternative.end + 2
}

/// What the compiler rejects in a finished text.
enum Rejected {
    /// Nothing.
    Nothing,
    /// What is there for evaluations, and has been left out.
    Evaluations,
    /// Alternatives: places by their index in the file, and ordinals.
    Alternatives(Vec<(usize, usize)>),
    /// Something else.
    Everything,
}

/// Leaves out what is there for evaluations; whether there was anything.
fn without_evaluations(place: &mut WovenPlace) -> bool {
    let mut had = place.captured.take().is_some();
    for alternative in &mut place.alternatives {
        had |= alternative.captured.take().is_some();
    }
    if place.kind == PlaceKind::Statements {
        place.result = None;
    }
    had
}

/// Who has what at a place.
fn table_place(known: &BatchPlace, woven: &WovenPlace) -> TablePlace {
    if known.function.is_none() {
        // Nobody visits it; ids are indices.
        return TablePlace {
            captured: false,
            alternatives: Vec::new(),
        };
    }
    let alternatives = known.alternatives.iter().zip(&woven.alternatives);
    let mut entry = TablePlace {
        captured: woven.captured.is_some(),
        alternatives: (1..)
            .zip(alternatives)
            .map(|(number, (alternative, woven))| TableAlternative {
                number,
                captured: woven.captured.is_some(),
                patches: alternative.patches.clone(),
            })
            .collect(),
    };
    if !known.inside.is_empty() {
        entry.alternatives.push(TableAlternative {
            number: 0,
            captured: false,
            patches: known.inside.clone(),
        });
    }
    entry
}

struct WovenFile {
    text: Vec<u8>,
    places: Vec<(PlaceId, TablePlace)>,
}

fn slice(source: &[u8], span: Span) -> &[u8] {
    span.slice(source).unwrap_or_default()
}

/// Whether `part` stands somewhere in a text.
pub(crate) fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn file_numbers(places: &[BatchPlace]) -> Vec<usize> {
    let mut files: Vec<usize> = places.iter().map(|place| place.file).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// Blanks the added directives, so that a compiler's lines are those of the text. As many bytes, as many lines.
fn without_line_directives(text: &[u8]) -> Vec<u8> {
    let mut text = text.to_vec();
    let mut start = 0;
    while start < text.len() {
        let end = text[start..]
            .iter()
            .position(|byte| *byte == b'\n')
            .map_or(text.len(), |length| start + length);
        if text[start..end].starts_with(b"#line ") {
            let kept = text[..end].ends_with(b"\r");
            let blank = end - usize::from(kept);
            text[start..blank].fill(b' ');
        }
        start = end + 1;
    }
    text
}

/// Patches whose alternatives declare something that was not expected to be a declaration, so that its scope would end
/// too early.
fn escaping_declarations(
    unit: &TranslationUnit,
    own: &[usize],
    places: &[BatchPlace],
    spans: &[Vec<Span>],
) -> Vec<(u32, Apart)> {
    let mut found = Vec::new();
    for (number, place) in own.iter().enumerate() {
        let known = &places[*place];
        if known.run.to_the_end || known.run.kind != PlaceKind::Statements {
            continue;
        }
        for (alternative, span) in known.alternatives.iter().zip(&spans[number]) {
            let Some(function) = function_at(unit, *span) else {
                continue;
            };
            let inside = |stmt: patchwright_csource::StmtId| {
                let place = function.stmt(stmt).place.editable();
                place.is_some_and(|at| span.contains_span(at))
            };
            // The block that was put round the alternative has its statements as children.
            let declares = function.stmts.iter().any(|stmt| match &stmt.kind {
                StmtKind::Compound(children) => {
                    let around = stmt
                        .place
                        .editable()
                        .is_none_or(|at| !span.contains_span(at));
                    around
                        && children.iter().any(|child| {
                            inside(*child)
                                && matches!(function.stmt(*child).kind, StmtKind::Declaration(_))
                        })
                }
                _ => false,
            });
            if declares {
                let reason = |patch: &u32| (*patch, Apart::NotWoven(Unwoven::Declares));
                found.extend(alternative.patches.iter().map(reason));
            }
        }
    }
    found
}
