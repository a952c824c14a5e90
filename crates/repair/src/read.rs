//! Reads the sources: finds their locations and how these are woven.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    path::{Path, PathBuf},
};

use patchwright_csource::{Clang, Refusal, TranslationUnit};
use patchwright_exec::{
    CompileCommand, FailReason, Project, TestKind, Verdict, Worker, files, includers,
};
use patchwright_space::{Shown, TouchPoint};
use patchwright_text::{LineMap, Span};
use patchwright_weave::{AssignmentPlace, FunctionId, HoleId, WovenFunction};

use crate::{
    Event, RepairError, RepairOptions, Surroundings,
    focus::{Focus, MANY_LOCATIONS, TIE_FACTOR},
    hooks::{assignment_place, hook, moved, touch},
    instrumented::{HoleEntry, LeftAlone, SourceFile},
    linked::Linked,
    locate::{LocatedWay, locate},
    prepare::Prepared,
    selected::selected,
    unchangeable::UnchangeableKind,
};

/// A file that is going to be woven.
pub(crate) struct Plan {
    pub(crate) file: SourceFile,
    /// Functions with locations: index in the unit, id.
    pub(crate) functions: Vec<(usize, FunctionId)>,
    /// What touches the variables that are assigned.
    touches: Vec<(FunctionId, TouchPoint)>,
    pub(crate) host_path: PathBuf,
    /// The sources that include it, if no command compiles it by itself.
    pub(crate) includers: Vec<PathBuf>,
}

impl Plan {
    /// The plan with number `file` for a source in one of its ways; its holes go to `entries`.
    pub(crate) fn new(
        file: usize,
        relative: &Path,
        way: LocatedWay,
        next_function: &mut u32,
        entries: &mut Vec<HoleEntry>,
    ) -> Self {
        let lines = LineMap::new(&way.unit.source);
        let (mut functions, mut touches) = (Vec::new(), Vec::new());
        for function in way.functions {
            let id = FunctionId(*next_function);
            *next_function += 1;
            functions.push((function.index, id));
            touches.extend(function.touches.into_iter().map(|point| (id, point)));
            for (hole, leaves) in function.holes {
                let line = lines.line(hole.span.start);
                entries.push(HoleEntry {
                    file,
                    line,
                    place: format!("{}:{line}", relative.display()),
                    expr: hole.expr,
                    hole,
                    leaves,
                    id: HoleId(0),
                    function: id,
                    visited_by: BTreeSet::new(),
                    is_partial: false,
                    nearness: 0.0,
                    held: 0.0,
                    suspiciousness: 0.0,
                    order: 0,
                });
            }
        }
        Plan {
            file: SourceFile {
                relative: relative.to_path_buf(),
                unit: way.unit,
                types: way.types,
                parents: way.parents,
            },
            functions,
            touches,
            host_path: PathBuf::new(),
            includers: Vec::new(),
        }
    }

    /// The functions to weave, with the holes that are left of `entries`. With `unset`, the bytes of variables without a
    /// value hold that.
    pub(crate) fn woven(
        &self,
        entries: &[&HoleEntry],
        left_out: &BTreeSet<FunctionId>,
        unset: Option<u8>,
    ) -> Vec<WovenFunction> {
        let mut woven = Vec::new();
        for &(index, id) in &self.functions {
            let own = || entries.iter().filter(|entry| entry.function == id);
            if own().next().is_none() || left_out.contains(&id) {
                continue;
            }
            let assignments: Vec<AssignmentPlace> =
                own().filter_map(|entry| assignment_place(entry)).collect();
            let touches = self.touches.iter().filter(|(function, _)| *function == id);
            let touches = if assignments.is_empty() {
                Vec::new()
            } else {
                touches.map(|(_, point)| touch(point)).collect()
            };
            let function = &self.file.unit.functions[index];
            woven.push(WovenFunction {
                id,
                body: function.body_span,
                labels: function.labels.clone(),
                hooks: own()
                    .filter_map(|entry| hook(entry, &self.file, unset))
                    .collect(),
                assignments,
                touches,
                always: unset.is_some() && own().any(|entry| entry.declares()),
                moved: own().flat_map(|entry| moved(entry)).collect(),
            });
        }
        woven
    }
}

/// Orders the ways of compiling a source so that the one with the most functions comes first: a function belongs to the first way that has
/// it.
pub(crate) fn largest_first(units: &mut [TranslationUnit]) {
    let size = |unit: &TranslationUnit| -> usize {
        unit.functions.iter().map(|one| one.exprs.len()).sum()
    };
    units.sort_by_key(|unit| std::cmp::Reverse(size(unit)));
}

/// The largest number of functions left alone that a message names.
const MOST_REFUSED_TOLD: usize = 10;

/// So many locations a statement has at least, on the average. It has mostly three times as many.
const LOCATIONS_OF_STATEMENT: usize = 2;

/// Where the statements end that are looked at if those before `first` have been, and `wanted` locations are wanted: functions without
/// any of them need not be read.
fn most_statements(focus: &Focus, first: usize, wanted: usize) -> usize {
    let most = first + wanted.div_ceil(LOCATIONS_OF_STATEMENT);
    match wanted {
        0 => focus.len(),
        _ if most >= focus.len() => focus.len(),
        MANY_LOCATIONS.. => most,
        _ => focus.tie(most - 1).end,
    }
}

/// Reads sources and finds their holes: all that are selected, or with a focus those of the most suspicious statements.
/// The third result is the number of statements of the focus that were looked at.
pub(crate) fn read_sources(
    prepared: &mut Prepared,
    project: &Project,
    options: &RepairOptions,
    focus: Option<&Focus>,
    clang: &Clang,
    surroundings: &Surroundings<'_>,
    left_alone: &mut LeftAlone,
) -> Result<(Vec<Plan>, Vec<HoleEntry>, usize), RepairError> {
    let events = surroundings.events;
    let sources = selected(prepared, project)?;
    let total = sources.len();
    let shown = shown(prepared);
    let first = prepared.looked_at.statements;
    let worker = &mut prepared.worker;
    let mut reader = Reader::new(worker, project, options, clang, events, left_alone);
    reader.shown = shown;
    reader.focus = focus;
    if let Some(focus) = focus {
        reader.places = first..most_statements(focus, first, options.locations);
    }
    let mut considered = first;
    match focus {
        None => {
            for (done, (relative, commands)) in sources.iter().enumerate() {
                events(Event::Progress { done, total });
                reader.read(relative, commands)?;
            }
        }
        Some(focus) => {
            let sources: BTreeMap<PathBuf, Vec<CompileCommand>> = sources.into_iter().collect();
            let mut read = BTreeSet::new();
            // How many locations each statement has; a file is read when its first statement comes.
            let mut counts = vec![0; focus.len()];
            let end = reader.places.end;
            let mut locations = 0;
            // Where those begin that are as suspicious as the one at which there were enough, with the locations until there.
            let mut tie: Option<Range<usize>> = None;
            let mut before_tie = 0;
            while considered < end {
                if options.locations > 0 && locations >= options.locations {
                    // So many take long to weave, and what is as suspicious as the last ones is no likelier than they are.
                    if options.locations >= MANY_LOCATIONS {
                        break;
                    }
                    let tie = tie.get_or_insert_with(|| {
                        let tie = focus.tie(considered - 1);
                        before_tie = counts[first..tie.start.max(first)].iter().sum();
                        tie
                    });
                    let is_long = locations > options.locations * TIE_FACTOR;
                    if is_long && before_tie > 0 {
                        considered = tie.start;
                        break;
                    }
                    if considered >= tie.end {
                        break;
                    }
                }
                let relative = focus.file(considered);
                if read.insert(relative)
                    && let Some(commands) = sources.get(relative)
                {
                    let before = reader.entries.len();
                    reader.read(relative, commands)?;
                    for entry in &reader.entries[before..] {
                        if let Some(place) = focus.place_of(relative, &entry.hole) {
                            counts[place] += usize::from(entry.is_counted());
                        }
                    }
                }
                locations += counts[considered];
                considered += 1;
            }
            let plans = &reader.plans;
            reader.entries.retain_mut(|entry| {
                let place = focus.place_of(&plans[entry.file].file.relative, &entry.hole);
                let Some(place) = place.filter(|&place| (first..considered).contains(&place))
                else {
                    return false;
                };
                entry.nearness = focus.nearness(place);
                entry.held = focus.score(place);
                entry.order = place;
                true
            });
        }
    }
    let Reader {
        plans,
        mut entries,
        refused,
        ..
    } = reader;
    if let Some(more) = refused
        .checked_sub(MOST_REFUSED_TOLD)
        .filter(|more| *more > 0)
    {
        events(Event::Warning(format!(
            "no change is sought in {more} more functions, as the report says"
        )));
    }
    for (number, entry) in entries.iter_mut().enumerate() {
        tracing::debug!(
            "hole {number}: line {} {:?} {:?}",
            entry.line,
            entry.hole.span,
            entry.hole.kind
        );
        entry.id = HoleId(number as u32);
    }
    Ok((plans, entries, considered))
}

/// Returns the numbers, characters and expected lines of failing tests that run a program themselves. They come from the
/// arguments, the standard input and the expected output.
fn shown(prepared: &Prepared) -> Shown {
    let mut shown = Shown::default();
    let case_of = |test: usize| match &prepared.suite.tests[test].kind {
        TestKind::Case(case) => Some(case),
        _ => None,
    };
    for &test in &prepared.failing {
        let Some(case) = case_of(test) else {
            continue;
        };
        for argument in &case.arguments {
            shown.add(argument.as_encoded_bytes());
        }
        // A file that cannot be read shows nothing.
        if let Some(text) = case.stdin.as_ref().and_then(|path| files::read(path).ok()) {
            shown.add(&text);
        }
        shown.expect(&case.expected_stdout);
        let expected = String::from_utf8_lossy(&case.expected_stdout);
        let missing = match &prepared.baseline.tests[test].verdict {
            Verdict::Fail(FailReason::Output(difference)) => difference.line..difference.line + 1,
            // It ended before it had printed all. How far it got is not known.
            _ => 1..expected.lines().count() + 1,
        };
        // What a passing test expects, too, the program can say already.
        let is_said = |line: &str| {
            let passing = prepared.passing.iter().filter_map(|&test| case_of(test));
            let mut texts = passing.map(|case| String::from_utf8_lossy(&case.expected_stdout));
            texts.any(|text| text.lines().any(|other| other == line))
        };
        let lines = expected.lines().zip(1..);
        for (line, _) in lines.filter(|(line, number)| missing.contains(number) && !is_said(line)) {
            shown.miss(line);
        }
    }
    shown
}

/// Whether changes are allowed on a line of a source.
pub(crate) fn is_wanted(project: &Project, relative: &Path, line: u32) -> bool {
    let mut selections = project.files.iter();
    project.files.is_empty()
        || selections.any(|selection| selection.covers(relative) && selection.contains_line(line))
}

/// Reads one source after the other.
pub(crate) struct Reader<'a> {
    worker: &'a mut Worker,
    project: &'a Project,
    options: &'a RepairOptions,
    clang: &'a Clang,
    events: &'a (dyn Fn(Event) + Sync),
    left_alone: &'a mut LeftAlone,
    pub(crate) plans: Vec<Plan>,
    pub(crate) entries: Vec<HoleEntry>,
    next_function: u32,
    /// The functions of the program, once a source has been read.
    linked: Option<Linked>,
    /// What the failing tests show.
    shown: Shown,
    /// Where they crash.
    focus: Option<&'a Focus>,
    /// The statements of its order that are looked at.
    places: Range<usize>,
    /// Functions that may be to blame and are left alone.
    refused: usize,
}

impl<'a> Reader<'a> {
    /// Prepares to read sources in the copy of a worker. `left_alone` gets what cannot be changed.
    pub(crate) fn new(
        worker: &'a mut Worker,
        project: &'a Project,
        options: &'a RepairOptions,
        clang: &'a Clang,
        events: &'a (dyn Fn(Event) + Sync),
        left_alone: &'a mut LeftAlone,
    ) -> Self {
        Reader {
            worker,
            project,
            options,
            clang,
            events,
            left_alone,
            plans: Vec::new(),
            entries: Vec::new(),
            next_function: 0,
            linked: None,
            shown: Shown::default(),
            focus: None,
            places: 0..0,
            refused: 0,
        }
    }

    /// Whether the failing tests execute something of a function, as far as that is known.
    fn is_suspicious(&self, relative: &Path, function: Span) -> bool {
        let executed = |focus: &Focus| focus.executes(relative, function, 0..focus.len());
        self.focus.is_none_or(executed)
    }

    /// Adds the holes of a source, if clang accepts it.
    pub(crate) fn read(
        &mut self,
        relative: &Path,
        commands: &[CompileCommand],
    ) -> Result<(), RepairError> {
        let selections = &self.project.files;
        let host = self.worker.sandbox.folder().join(relative);
        let text = files::read(&host)?;
        let runner = &mut self.worker.runner;
        let units = patchwright_csource::parse_variants(self.clang, runner, commands, &text);
        let units = match units {
            Ok(mut units) => {
                largest_first(&mut units);
                units
            }
            Err(error @ patchwright_csource::ParseError::Rejected { .. })
                if selections.is_empty() =>
            {
                (self.events)(Event::Warning(format!("{error}; the file is left alone")));
                let reason = Refusal::NotAccepted.reason().to_owned();
                *self.left_alone.refused.entry(reason).or_default() += 1;
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let wanted = |line: u32| is_wanted(self.project, relative, line);
        let schemas = self.options.schemas;
        if schemas.function && self.linked.is_none() {
            self.linked = Some(Linked::read(self.worker.sandbox.folder()));
        }
        let linked = |name: &str| self.linked.as_ref().is_some_and(|all| all.has(name));
        let crashes = self.focus.map(|focus| focus.crashes(relative));
        let crashes = crashes.unwrap_or_default();
        // A function without a statement that is looked at has none of the locations.
        let is_read = |function: Span| match self.focus {
            Some(focus) => focus.executes(relative, function, self.places.clone()),
            None => true,
        };
        let located = locate(
            units,
            self.options.leaves,
            schemas,
            &self.shown,
            &crashes,
            (&wanted, &is_read),
            (&linked, &self.options.kinds),
        );
        for (reason, n) in &located.refused_changes {
            *self.left_alone.changes.entry(reason).or_default() += n;
        }
        self.left_alone.disagreements += located.disagreements;
        for (reason, n) in located.refused() {
            *self
                .left_alone
                .refused
                .entry(reason.to_owned())
                .or_default() += n;
        }
        for way in &located.ways {
            self.left_alone
                .unchangeable
                .add_globals(&way.unit, relative);
            let lines = LineMap::new(&way.unit.source);
            for (index, reason) in &way.all {
                let function = &way.unit.functions[*index];
                let span = function.span;
                let line = lines.line(span.start);
                if let Some(reason) = reason
                    && (line..=lines.line(span.end)).any(wanted)
                {
                    let (name, file) = (&function.name, relative.display());
                    if crashes.iter().any(|crash| span.contains_span(*crash)) {
                        (self.events)(Event::Warning(format!(
                            "tests crash in {name} ({file}:{line}) or in what it calls, and it is left alone: {reason}"
                        )));
                    } else if self.is_suspicious(relative, span) {
                        self.refused += 1;
                        if self.refused <= MOST_REFUSED_TOLD {
                            (self.events)(Event::Warning(format!(
                                "no change is sought in {name} ({file}:{line}): {reason}"
                            )));
                        }
                    }
                    let kind = UnchangeableKind::RefusedFunction(reason.clone());
                    let place = (relative.to_path_buf(), line);
                    self.left_alone.unchangeable.add(kind, place);
                }
            }
        }
        let including = includers(commands, &self.worker.sandbox);
        for way in located.ways {
            if !way.functions.is_empty() {
                let mut plan = Plan::new(
                    self.plans.len(),
                    relative,
                    way,
                    &mut self.next_function,
                    &mut self.entries,
                );
                plan.includers.clone_from(&including);
                self.plans.push(plan);
            }
        }
        Ok(())
    }
}
