//! Reports of `patchwright complexity`, as text and JSON.

use std::fmt::Write;

use patchwright_changes::git::Commit;
use patchwright_changes::rank::spearman;
use patchwright_changes::{MeasuredFunction, Measurement, Note, Role, Status, Vertex};
use serde::Serialize;

use crate::text::{Style, count, grouped};

/// The version of `complexity --json`. It is raised when a field changes its meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// A measured change, with its commit if it has one.
pub struct Measured {
    /// What it is: a revision, a range, two paths.
    pub title: String,
    /// The commit, if it is one.
    pub commit: Option<Commit>,
    /// The figures.
    pub measurement: Measurement,
}

impl Measured {
    /// Whether the change counts in statistics: it changes statements and is not a merge.
    pub fn counts(&self) -> bool {
        !self.measurement.graph.is_empty() && !self.is_merge()
    }

    fn is_merge(&self) -> bool {
        self.commit
            .as_ref()
            .is_some_and(|commit| commit.parents > 1)
    }

    /// Returns CyCC and CLoC of the change.
    pub fn figures(&self) -> (usize, usize) {
        (
            self.measurement.complexity(),
            self.measurement.changed_lines,
        )
    }
}

/// Returns Spearman's ρ of CyCC and CLoC over the changes that count, or `None` if one of the two never
/// varies.
pub fn correlation(changes: &[Measured]) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = changes
        .iter()
        .filter(|change| change.counts())
        .map(|change| {
            let (complexity, lines) = change.figures();
            (complexity as f64, lines as f64)
        })
        .collect();
    spearman(&pairs)
}

/// Sequences that are listed for one change.
const MOST_SEQUENCES: usize = 20;
/// Changed statements that are listed for one change.
const MOST_PLACES: usize = 40;
/// Characters of a statement in a list.
const MOST_CHARACTERS: usize = 60;

fn shortened(text: &str) -> String {
    if text.chars().count() <= MOST_CHARACTERS {
        return text.to_owned();
    }
    let start: String = text.chars().take(MOST_CHARACTERS - 1).collect();
    format!("{start}…")
}

fn status(function: &MeasuredFunction) -> String {
    match &function.status {
        Status::Added => "added".to_owned(),
        Status::Removed => "removed".to_owned(),
        Status::Changed => "changed".to_owned(),
        Status::Renamed(old) => format!("renamed from {old}"),
        Status::MovedFrom(path) => format!("moved from {path}"),
    }
}

fn what_changed(function: &MeasuredFunction) -> String {
    let [added, modified, moved] = function.altered;
    let mut parts = Vec::new();
    for (n, word) in [
        (added, "added"),
        (modified, "modified"),
        (moved, "moved"),
        (function.deleted, "deleted"),
    ] {
        if n > 0 {
            parts.push(format!("{n} {word}"));
        }
    }
    if function.uses > 0 {
        parts.push(format!("{} by what it uses", function.uses));
    }
    if function.signature {
        parts.push("signature".to_owned());
    }
    parts.join(", ")
}

/// Returns the report of one change as text.
pub fn text(change: &Measured, style: Style) -> String {
    let measurement = &change.measurement;
    let mut text = String::new();
    let _ = writeln!(text, "{}", style.paint("1", &change.title));
    if change.is_merge() {
        text.push_str("a merge: compared with its first parent\n");
    }
    let (complexity, lines) = change.figures();
    let _ = writeln!(
        text,
        "CyCC {} · CLoC {} · {}",
        grouped(complexity as u64),
        grouped(lines as u64),
        count(measurement.functions.len() as u64, "function", "functions"),
    );
    let outside_text = outside(measurement);
    if measurement.functions.is_empty() && outside_text.is_empty() {
        text.push_str("no C code changed\n");
    }
    if !measurement.functions.is_empty() {
        text.push('\n');
    }
    for function in &measurement.functions {
        let place = format!("{}:{}", function.file, function.line);
        let what = what_changed(function);
        let separator = if what.is_empty() { "" } else { ": " };
        let _ = writeln!(
            text,
            "  {place} {} {}{separator}{what}",
            style.paint("1", &function.name),
            status(function),
        );
        for (line, changes) in &function.interactions {
            let lines: Vec<String> = changes.iter().map(|line| format!("line {line}")).collect();
            let _ = writeln!(
                text,
                "    line {line}: changes may interact, those of {}",
                lines.join(", ")
            );
        }
    }
    if !measurement.graph.is_empty() {
        sequences(measurement, &mut text);
    }
    text.push_str(&outside_text);
    for note in &measurement.notes {
        let _ = writeln!(text, "note: {}", note_text(note));
    }
    text
}

/// The changed statements with their numbers, and the sequences of those numbers.
fn sequences(measurement: &Measurement, text: &mut String) {
    let graph = &measurement.graph;
    text.push_str("\nchanged statements:\n");
    let places = graph.vertices.len() - 2;
    for (i, vertex) in graph.vertices.iter().skip(2).take(MOST_PLACES).enumerate() {
        if let Vertex::Place {
            file,
            line,
            text: statement,
            ..
        } = vertex
        {
            let _ = writeln!(
                text,
                "  [{}] {file}:{line}: {}",
                i + 1,
                shortened(statement)
            );
        }
    }
    if places > MOST_PLACES {
        let _ = writeln!(
            text,
            "  … and {} more",
            grouped((places - MOST_PLACES) as u64)
        );
    }
    let number = graph.sequence_count();
    let _ = writeln!(
        text,
        "\n{} in which they can be executed:",
        count(
            number as u64,
            "linearly independent sequence",
            "linearly independent sequences"
        )
    );
    for sequence in graph.sequences().iter().take(MOST_SEQUENCES) {
        let names: Vec<String> = sequence.iter().map(|v| format!("[{}]", v - 1)).collect();
        let _ = writeln!(text, "  {}", names.join(" → "));
    }
    if number > MOST_SEQUENCES {
        let _ = writeln!(
            text,
            "  … and {} more",
            grouped((number - MOST_SEQUENCES) as u64)
        );
    }
}

/// What the graph leaves out, as the thesis does.
fn outside(measurement: &Measurement) -> String {
    let outside = measurement.outside;
    let declarations = outside.declarations + measurement.local_declarations;
    let mut parts = Vec::new();
    if declarations > 0 {
        parts.push(count(declarations as u64, "declaration", "declarations"));
    }
    if outside.directives > 0 {
        parts.push(count(
            outside.directives as u64,
            "macro or directive",
            "macros or directives",
        ));
    }
    if parts.is_empty() {
        return String::new();
    }
    format!("\nalso changed, and no statements: {}\n", parts.join(", "))
}

fn note_text(note: &Note) -> String {
    match note {
        Note::OtherBranches { path, lines } => format!(
            "{path}: {} in branches of #if that exclude the one measured",
            count(*lines as u64, "changed line lies", "changed lines lie")
        ),
        Note::NotRead { path, line, lines } => format!(
            "{path}:{line}: {} cannot be read as C and was left out",
            count(*lines as u64, "changed line", "changed lines")
        ),
        Note::UsesElsewhere { names } => format!(
            "{} changed; uses in files that did not change do not count: --whole-program counts them",
            names.join(", ")
        ),
        Note::Unreachable {
            path,
            function,
            line,
        } => format!(
            "{path}:{line}: this changed statement of {function} is unreachable, so it is in no sequence"
        ),
        Note::Unclear {
            path,
            function,
            line,
        } => format!(
            "{path}:{line}: not all of {function} can be read as C; its graph may miss branches"
        ),
    }
}

/// Returns a table of the commits of a range, with statistics.
pub fn table(changes: &[Measured], style: Style) -> String {
    let mut text = String::new();
    let head = format!(
        "{:<12}  {:<10}  {:>6}  {:>6}  {:>9}  {:>9}  {}",
        "commit", "date", "CyCC", "CLoC", "functions", "sequences", "subject"
    );
    let _ = writeln!(text, "{}", style.paint("1", &head));
    for change in changes {
        let Some(commit) = &change.commit else {
            continue;
        };
        let measurement = &change.measurement;
        let (complexity, lines) = change.figures();
        let notes = if measurement.notes.is_empty() {
            ""
        } else {
            "!"
        };
        let merge = if commit.parents > 1 { "[merge] " } else { "" };
        let _ = writeln!(
            text,
            "{:<12}  {:<10}  {complexity:>6}  {lines:>6}  {:>9}  {:>9}  {merge}{}{notes}",
            commit.short(),
            commit.date(),
            measurement.functions.len(),
            measurement.graph.sequence_count(),
            shortened(&commit.subject),
        );
    }
    text.push('\n');
    text.push_str(&summary(changes));
    text
}

/// Returns the median, or the lower one of the two middle numbers.
pub fn median(mut figures: Vec<usize>) -> usize {
    figures.sort_unstable();
    let middle = figures.len().saturating_sub(1) / 2;
    figures.get(middle).copied().unwrap_or(0)
}

fn summary(changes: &[Measured]) -> String {
    let counted: Vec<(usize, usize)> = changes
        .iter()
        .filter(|change| change.counts())
        .map(Measured::figures)
        .collect();
    let mut text = format!(
        "{}, {} of them with changed statements and no merges.\n",
        count(changes.len() as u64, "commit", "commits"),
        grouped(counted.len() as u64)
    );
    if counted.is_empty() {
        return text;
    }
    let (complexity, lines): (Vec<usize>, Vec<usize>) = counted.into_iter().unzip();
    for (name, figures) in [("CyCC", complexity), ("CLoC", lines)] {
        let most = figures.iter().max().copied().unwrap_or(0);
        let _ = writeln!(
            text,
            "{name}: median {}, largest {}.",
            grouped(median(figures) as u64),
            grouped(most as u64)
        );
    }
    if let Some(rho) = correlation(changes) {
        let _ = writeln!(text, "Spearman's ρ of CyCC and CLoC: {rho:.3}.");
    }
    let noted = changes
        .iter()
        .filter(|change| !change.measurement.notes.is_empty());
    let noted = noted.count();
    if noted > 0 {
        let _ = writeln!(
            text,
            "Marked with !: {} not measured in whole; `patchwright complexity COMMIT` says why.",
            count(noted as u64, "commit", "commits")
        );
    }
    text
}

#[derive(Serialize)]
struct Report {
    /// The name of the schema.
    schema: &'static str,
    /// Its version: a field keeps its name and meaning within one.
    schema_version: u32,
    /// The changes, in the order in which they were named or made.
    changes: Vec<Entry>,
    /// What they come to together.
    summary: Summary,
}

#[derive(Serialize)]
struct Summary {
    /// How many changes.
    changes: usize,
    /// Those of them that change C functions.
    counted: usize,
    /// Spearman's rank correlation of CyCC and CLoC, if there are enough changes.
    spearman_rho: Option<f64>,
}

/// The JSON object of one change: its CyCC, CLoC and change sequence graph.
#[derive(Serialize)]
pub(crate) struct Entry {
    /// What the change is called: files, a revision or a diff.
    title: String,
    /// The commit, for a change of a repository.
    commit: Option<CommitEntry>,
    /// Its cyclomatic change complexity (CyCC).
    cycc: usize,
    /// Its changed lines of code (CLoC).
    cloc: usize,
    /// Vertices of its change sequence graph.
    vertices: usize,
    /// Its edges.
    edges: usize,
    /// Its connected components.
    components: usize,
    /// Its change sequences: paths of the graph.
    sequences: usize,
    /// The functions that changed.
    functions: Vec<FunctionEntry>,
    /// Changed declarations outside of functions.
    declarations: usize,
    /// Changed declarations in functions that count at their uses.
    local_declarations: usize,
    /// Changed lines that are directives of the preprocessor.
    directives: usize,
    /// What was not counted, or not as it stands, in words.
    notes: Vec<String>,
    /// The change sequence graph.
    graph: GraphEntry,
}

#[derive(Serialize)]
struct CommitEntry {
    /// Its hash.
    id: String,
    /// The first line of its message.
    subject: String,
    /// When it was committed, in seconds since 1970.
    time: i64,
    /// How many parents it has.
    parents: usize,
}

#[derive(Serialize)]
struct FunctionEntry {
    /// Its name.
    name: String,
    /// Its file.
    file: String,
    /// The line on which it begins.
    line: u32,
    /// `added`, `removed`, `changed`, `renamed` or `moved`.
    status: &'static str,
    /// Its name or file before, where it was renamed or moved.
    from: Option<String>,
    /// Added statements.
    added: usize,
    /// Modified statements.
    modified: usize,
    /// Moved statements.
    moved: usize,
    /// Deleted statements.
    deleted: usize,
    /// Statements that count because of what they use.
    uses: usize,
    /// Its changed lines.
    cloc: usize,
    /// Whether its head changed.
    signature: bool,
    /// Where changes meet.
    interactions: Vec<InteractionEntry>,
}

#[derive(Serialize)]
struct InteractionEntry {
    /// The line of the statement at which they meet.
    line: u32,
    /// The lines of the changes.
    changes: Vec<u32>,
}

#[derive(Serialize)]
struct GraphEntry {
    /// Its vertices.
    vertices: Vec<VertexEntry>,
    /// Its edges, each from one vertex to another, by their indices from 0.
    edges: Vec<(usize, usize)>,
}

#[derive(Serialize)]
struct VertexEntry {
    /// `entry`, `exit`, `changed` or `deleted`.
    kind: &'static str,
    /// The file of the statement.
    file: Option<String>,
    /// Its function.
    function: Option<String>,
    /// Its line.
    line: Option<u32>,
    /// Its text.
    text: Option<String>,
}

/// Returns the changes as JSON with a newline at the end.
pub fn json(changes: &[Measured]) -> String {
    let report = Report {
        schema: "patchwright-complexity",
        schema_version: SCHEMA_VERSION,
        changes: changes.iter().map(entry).collect(),
        summary: Summary {
            changes: changes.len(),
            counted: changes.iter().filter(|change| change.counts()).count(),
            spearman_rho: correlation(changes),
        },
    };
    // Strings and numbers only: this cannot fail.
    let mut text = serde_json::to_string_pretty(&report).unwrap_or_default();
    text.push('\n');
    text
}

/// Converts a change for JSON.
pub(crate) fn entry(change: &Measured) -> Entry {
    let measurement = &change.measurement;
    let graph = &measurement.graph;
    let (cycc, cloc) = change.figures();
    Entry {
        title: change.title.clone(),
        commit: change.commit.as_ref().map(|commit| CommitEntry {
            id: commit.id.clone(),
            subject: commit.subject.clone(),
            time: commit.time,
            parents: commit.parents,
        }),
        cycc,
        cloc,
        vertices: graph.vertices.len(),
        edges: graph.edges.len(),
        components: graph.components(),
        sequences: graph.sequence_count(),
        functions: measurement.functions.iter().map(function_entry).collect(),
        declarations: measurement.outside.declarations,
        local_declarations: measurement.local_declarations,
        directives: measurement.outside.directives,
        notes: measurement.notes.iter().map(note_text).collect(),
        graph: GraphEntry {
            vertices: graph.vertices.iter().map(vertex_entry).collect(),
            edges: graph.edges.iter().copied().collect(),
        },
    }
}

fn function_entry(function: &MeasuredFunction) -> FunctionEntry {
    let (status, from) = match &function.status {
        Status::Added => ("added", None),
        Status::Removed => ("removed", None),
        Status::Changed => ("changed", None),
        Status::Renamed(old) => ("renamed", Some(old.clone())),
        Status::MovedFrom(path) => ("moved", Some(path.clone())),
    };
    let [added, modified, moved] = function.altered;
    FunctionEntry {
        name: function.name.clone(),
        file: function.file.clone(),
        line: function.line,
        status,
        from,
        added,
        modified,
        moved,
        deleted: function.deleted,
        uses: function.uses,
        cloc: function.changed_lines,
        signature: function.signature,
        interactions: function
            .interactions
            .iter()
            .map(|(line, changes)| InteractionEntry {
                line: *line,
                changes: changes.clone(),
            })
            .collect(),
    }
}

fn vertex_entry(vertex: &Vertex) -> VertexEntry {
    let without_place = |kind| VertexEntry {
        kind,
        file: None,
        function: None,
        line: None,
        text: None,
    };
    match vertex {
        Vertex::Entry => without_place("entry"),
        Vertex::Exit => without_place("exit"),
        Vertex::Place {
            role,
            file,
            function,
            line,
            text,
        } => VertexEntry {
            kind: match role {
                Role::Changed => "changed",
                Role::Deleted => "deleted",
            },
            file: Some(file.clone()),
            function: Some(function.clone()),
            line: Some(*line),
            text: Some(text.clone()),
        },
    }
}
