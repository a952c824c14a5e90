//! Reports of `patchwright prove`: the verdict, a counterexample, must sets and repairs, as text and
//! JSON.

mod parts;

use std::fmt::Write;

use serde::{Deserialize, Serialize};

pub use parts::{PART_SCHEMA, PART_VERSION};

use crate::text::{Style, count, grouped, with_arguments};

/// The version of `prove --json`. It is raised when a field changes its meaning, not when one is added.
pub const SCHEMA_VERSION: u32 = 1;

/// A place in a source, with the text of its line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The file, as the user named it.
    pub file: String,
    /// The line, counted from 1.
    pub line: u32,
    /// The function.
    pub function: String,
    /// The line's text.
    pub text: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Whether the program meets its specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds for all inputs.
    Proved,
    /// It holds as far as the bound.
    Bounded,
    /// It fails for an input.
    Failed,
    /// Something is not encoded.
    Unknown,
    /// The budget was spent.
    OutOfBudget,
    /// No input satisfies the assumptions.
    Void,
    /// It was interrupted.
    Interrupted,
}

/// The name and the value of an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// A step of the execution of a counterexample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// Where.
    pub place: Place,
    /// What gets a value; nothing for a decision.
    pub name: Option<String>,
    /// The value.
    pub value: Option<String>,
}

/// An execution that violates the specification.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counterexample {
    /// A stable name of the mistake.
    pub kind: String,
    /// In words.
    pub message: String,
    /// Where.
    pub place: Option<Place>,
    /// The inputs in the order in which they are consumed.
    pub inputs: Vec<Input>,
    /// Standard input, if any is read.
    pub standard_input: Option<String>,
    /// The program's arguments.
    pub arguments: Vec<String>,
    /// The steps that matter, in order.
    pub trace: Vec<Step>,
    /// What the interpreter says: `agrees`, or why it could not be asked.
    pub replay: String,
}

/// The statements of which every repair changes one, for one failing execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MustSets {
    /// What goes wrong.
    pub message: String,
    /// Where.
    pub place: Option<Place>,
    /// The input for which it does: that of the counterexample in the first of several.
    pub inputs: Vec<Input>,
    /// By the slice of the formula (FOSFL).
    pub slice: Vec<Place>,
    /// By the core of the statements, which is no larger.
    pub core: Vec<Place>,
}

/// The inputs for which a repair is right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// For all.
    #[default]
    AllInputs,
    /// For all for which the untouched program ends within the bound.
    WithinBound,
}

/// A patch that is not decided, with the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Open {
    /// Where it changes something.
    pub places: Vec<Place>,
    /// The lines that it writes.
    pub lines: Vec<String>,
    /// Why it is not decided.
    pub reason: String,
}

/// A repair with its diff.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    /// Its number.
    pub number: usize,
    /// For which inputs it is right.
    pub standing: Standing,
    /// Where it changes something.
    pub places: Vec<Place>,
    /// A unified diff.
    pub diff: String,
    /// All values that an open constant may have, as ranges with both ends.
    pub constants: Vec<(i64, i64)>,
    /// There are more constants than `constants` says.
    pub more_constants: bool,
    /// Whether no execution that satisfies the assumptions reaches an assertion and ends.
    pub void: bool,
    /// The repair that does the same for all inputs.
    pub same_as: Option<usize>,
}

/// All repairs, and whether the list is complete.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repairs {
    /// The level.
    pub level: u8,
    /// Changes of a repair at most.
    pub max_edits: u32,
    /// Expressions that can be changed.
    pub places: usize,
    /// Mutations of them.
    pub mutations: usize,
    /// Rounds of each loop within which the repairs of [`Standing::WithinBound`] are right.
    pub bound: u32,
    /// The repairs: those for all inputs first, and of these those with the fewest changes.
    pub repairs: Vec<Repair>,
    /// There is no other minimal repair in the level.
    pub complete: bool,
    /// Up to this number of changes all patches were decided.
    pub decided: u32,
    /// How many patches are not decided.
    pub undecided: usize,
    /// Whether there may be more of these.
    pub more_undecided: bool,
    /// Some of the patches that are not decided.
    pub open: Vec<Open>,
    /// Why the list is not complete, for people; nothing where it is.
    pub incomplete: Vec<String>,
    /// Expressions that cannot be changed because a macro writes them.
    pub out_of_reach: usize,
}

/// Numbers about the work of a proof.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stats {
    /// Terms that were made.
    pub terms: u64,
    /// Instructions that were encoded.
    pub instructions: u64,
    /// Variables of the solvers.
    pub variables: u64,
    /// Clauses of the solvers.
    pub clauses: u64,
    /// Questions to solvers.
    pub calls: u64,
    /// Conflicts of solvers.
    pub conflicts: u64,
    /// Patches that were asked about.
    pub patches: u64,
    /// Wrong patches excluded by the condition that their input leaves.
    pub by_condition: u64,
    /// Wrong patches excluded by must sets.
    pub by_must_set: u64,
    /// Right patches excluded with all that contain them.
    pub by_repair: u64,
    /// Patches that were encoded and decided by themselves.
    pub single: u64,
    /// Seconds of each phase.
    pub seconds: Vec<(String, f64)>,
    /// The most memory that the process has used, in MiB.
    pub memory: u64,
}

/// Counts of single paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paths {
    /// Paths that were followed.
    pub followed: u64,
    /// Those of them whose inputs the assumptions exclude.
    pub excluded: u64,
    /// Decisions on them that may go another way, which is not known.
    pub left: u64,
}

/// The report of a proof: verdict, counterexample, must sets and repairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The version of the schema.
    pub schema_version: u32,
    /// The sources.
    pub sources: Vec<String>,
    /// Where the program begins.
    pub entry: String,
    /// Which part of the run this is, of those of `--shard`: it is about some of what must not happen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    /// Rounds of loops.
    pub bound: u32,
    /// The limit of instructions beyond which executions were not followed.
    pub instructions: Option<u64>,
    /// How many arguments the program gets, where it looks at them. The verdict is about so many.
    pub arguments: Option<u32>,
    /// The verdict is also about fewer arguments, down to none.
    #[serde(default)]
    pub fewer_arguments: bool,
    /// How far the inputs go that the verdict is about, where there are larger ones: `64 bytes of standard input`.
    #[serde(default)]
    pub limits: Vec<String>,
    /// Functions of the library that the verdict takes to succeed.
    #[serde(default)]
    pub succeeding: Vec<String>,
    /// What is known.
    pub verdict: Verdict,
    /// For a proved program: how many places were checked, if counted.
    pub checks: Option<u64>,
    /// Whether the program or a reference states what must hold.
    pub stated: bool,
    /// How many loops were proved for any number of rounds by induction.
    pub induction: Option<usize>,
    /// Counts, if paths were followed one by one.
    pub paths: Option<Paths>,
    /// Places that executions go on from beyond the bound.
    pub beyond: Vec<Place>,
    /// Why it is not known.
    pub reasons: Vec<(String, Option<Place>)>,
    /// An execution in which something goes wrong.
    pub counterexample: Option<Counterexample>,
    /// Which inputs were considered, where that is not obvious.
    pub inputs: Vec<String>,
    /// What is taken for granted of inputs, and how to drop that.
    pub assumed: Vec<String>,
    /// An execution that never ends, where executions go on beyond the bound.
    pub endless: Option<Counterexample>,
    /// What was taken for granted.
    pub notes: Vec<String>,
    /// Statements of which every repair changes one.
    pub must_sets: Option<Vec<MustSets>>,
    /// The repairs.
    pub repairs: Option<Repairs>,
    /// What was done.
    pub stats: Option<Stats>,
}

/// Says for which inputs a loop never ends.
fn never_ends(found: &Counterexample) -> String {
    let mut inputs: Vec<String> = found
        .inputs
        .iter()
        .take(MOST_INPUTS)
        .map(|input| format!("{} = {}", input.name, input.value))
        .collect();
    inputs.extend(
        found
            .arguments
            .iter()
            .map(|word| format!("the argument {word:?}")),
    );
    inputs.extend(
        found
            .standard_input
            .iter()
            .map(|text| format!("the standard input {text:?}")),
    );
    let example = match inputs.is_empty() {
        true => "whatever its input is".to_owned(),
        false => format!("for example for {}", inputs.join(", ")),
    };
    let place = found
        .place
        .as_ref()
        .map_or(String::new(), |place| format!(" at {place}"));
    format!("It never ends, {example}: the loop{place} comes back to a state that it had.")
}

/// Steps of a trace that are shown at most, those near the end.
const MOST_STEPS: usize = 40;

/// Inputs that are shown at most.
const MOST_INPUTS: usize = 60;

impl Report {
    /// Returns the report as JSON.
    pub fn json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data");
        text.push('\n');
        text
    }

    /// Returns the verdict as text.
    pub fn verdict(&self, style: Style) -> String {
        let mut text = String::new();
        match self.verdict {
            Verdict::Proved => {
                let _ = writeln!(
                    text,
                    "{}: {} holds for all inputs{}{}{}.",
                    style.paint("32;1", "Proved"),
                    self.entry,
                    with_arguments(self.arguments, self.fewer_arguments),
                    self.extent(),
                    if self.inputs.is_empty() && self.assumed.is_empty() {
                        ""
                    } else {
                        " of these shapes"
                    }
                );
                if let (Some(checks), false) = (self.checks, self.stated) {
                    let checks = count(checks, "check holds", "checks hold");
                    let _ = writeln!(text, "It has no assertion; {checks}.");
                }
                if let Some(loops) = self.induction {
                    let loops = count(loops as u64, "loop", "loops");
                    let _ = writeln!(text, "By induction over the rounds of {loops}.");
                }
                if let Some(paths) = self.paths {
                    let paths = count(paths.followed, "path", "paths");
                    let _ = writeln!(
                        text,
                        "There are no others than the {paths} that were followed."
                    );
                }
            }
            Verdict::Bounded if self.paths.is_some() => {
                let followed = self.paths.map_or(0, |paths| paths.followed);
                let _ = writeln!(
                    text,
                    "{}: {} holds for all inputs{}, on {}, as far as {} instructions of each, and executions go on \
                     beyond that:",
                    style.paint("33;1", "Bounded"),
                    self.entry,
                    with_arguments(self.arguments, self.fewer_arguments),
                    count(followed, "path", "paths"),
                    grouped(self.instructions.unwrap_or(0)),
                );
                places(&mut text, &self.beyond);
                let _ = writeln!(text, "Give a larger --max-instructions, or assume less.");
            }
            Verdict::Bounded => {
                let _ = writeln!(
                    text,
                    "{}: {} holds for all inputs{}{} as far as {}{}, and executions go on beyond that:",
                    style.paint("33;1", "Bounded"),
                    self.entry,
                    with_arguments(self.arguments, self.fewer_arguments),
                    match self.extent() {
                        none if none.is_empty() => none,
                        extent => format!("{extent}, and"),
                    },
                    count(
                        u64::from(self.bound),
                        "round of each loop",
                        "rounds of each loop"
                    ),
                    match self.instructions {
                        Some(most) => format!(" ({most} instructions where constants decide)"),
                        None => String::new(),
                    },
                );
                places(&mut text, &self.beyond);
                let larger = match self.instructions {
                    Some(_) => "--max-instructions",
                    None => "--bound",
                };
                let _ = writeln!(text, "Give a larger {larger}, or assume less.");
            }
            Verdict::Failed => {}
            Verdict::Unknown => {
                let _ = writeln!(
                    text,
                    "{}: whether {} holds, because of",
                    style.paint("33;1", "Unknown"),
                    self.entry
                );
                for (reason, place) in &self.reasons {
                    match place {
                        Some(place) => {
                            let _ = writeln!(text, "  {reason}, at {place} in {}", place.function);
                        }
                        None => {
                            let _ = writeln!(text, "  {reason}");
                        }
                    }
                }
            }
            Verdict::OutOfBudget => {
                let _ = writeln!(
                    text,
                    "{}: whether {} holds, within the solver's conflicts; give more --conflicts, or a smaller --bound.",
                    style.paint("33;1", "Unknown"),
                    self.entry
                );
            }
            Verdict::Void => {
                let _ = writeln!(
                    text,
                    "{}: {} holds, but no input satisfies the assumptions.",
                    style.paint("33;1", "Void"),
                    self.entry
                );
            }
            Verdict::Interrupted => {
                let _ = writeln!(
                    text,
                    "Interrupted: whether {} holds is not known.",
                    self.entry
                );
                if let Some(paths) = self.paths {
                    let paths = count(paths.followed, "path was", "paths were");
                    let _ = writeln!(text, "{paths} followed, none of which fails.");
                }
            }
        }
        if let Some(found) = &self.counterexample {
            counterexample(&mut text, found, style);
        }
        if self.verdict != Verdict::Failed {
            crate::text::write_inputs(&mut text, &self.inputs, &self.assumed);
        }
        if let Some(endless) = &self.endless {
            let _ = writeln!(text, "{}", never_ends(endless));
        }
        for note in &self.notes {
            let _ = writeln!(text, "Taken for granted: {note}.");
        }
        if let Some(part) = &self.part {
            let _ = writeln!(
                text,
                "This is part {part}: others look for the rest, and `patchwright merge` puts them together."
            );
        }
        text
    }

    /// How far the inputs go: `, as far as …, where … succeeds`.
    fn extent(&self) -> String {
        let mut text = String::new();
        if !self.limits.is_empty() {
            let _ = write!(text, ", as far as {}", self.limits.join(" and "));
        }
        for name in &self.succeeding {
            let _ = write!(text, ", where `{name}` succeeds");
        }
        text
    }

    /// Returns the must sets as text.
    pub fn must_sets(&self, style: Style) -> String {
        let mut text = String::new();
        for (position, sets) in self.must_sets.iter().flatten().enumerate() {
            let inputs: Vec<String> = sets
                .inputs
                .iter()
                .take(MOST_INPUTS)
                .map(|input| format!("{} = {}", input.name, input.value))
                .collect();
            let input = match position > 0 && !inputs.is_empty() {
                true => inputs.join(", "),
                false => "this input".to_owned(),
            };
            let at = sets
                .place
                .as_ref()
                .map_or(String::new(), |place| format!(" at {place}"));
            let _ = writeln!(
                text,
                "{} changes one of these lines. Otherwise, for {input}: {}{at}.",
                style.paint("1", "Every repair"),
                sets.message
            );
            for place in &sets.slice {
                let mark = if sets.core.contains(place) { "*" } else { " " };
                let _ = writeln!(text, "{mark} {:>5}  {}", place.line, place.text.trim_end());
            }
            let _ = writeln!(
                text,
                "  (* also in the core, a smaller must set of its own)"
            );
        }
        text
    }

    /// Returns the text behind the last repair: how many there are, and whether there may be others.
    pub fn repairs_end(&self, style: Style) -> String {
        let mut text = String::new();
        let Some(found) = &self.repairs else {
            return text;
        };
        let different = found
            .repairs
            .iter()
            .filter(|one| one.same_as.is_none())
            .count();
        let all = found.repairs.len();
        let within = found
            .repairs
            .iter()
            .filter(|one| one.standing == Standing::WithinBound)
            .count();
        let number = count(different as u64, "minimal repair", "minimal repairs");
        let _ = write!(text, "{}", style.paint("1", &number));
        if all > different {
            let _ = write!(
                text,
                " ({} in all: {} the same as another)",
                all,
                match all - different {
                    1 => "1 does".to_owned(),
                    more => format!("{more} do"),
                }
            );
        }
        let bound = count(u64::from(found.bound), "round", "rounds");
        let _ = match within {
            0 => Ok(()),
            _ if within == all => write!(text, " within the bound of {bound}"),
            _ => write!(text, ", {within} of them only within the bound of {bound}"),
        };
        let _ = write!(
            text,
            ", among {} of {}, {} at most.",
            count(found.mutations as u64, "mutation", "mutations"),
            count(found.places as u64, "expression", "expressions"),
            count(u64::from(found.max_edits), "change", "changes"),
        );
        if found.complete {
            let _ = writeln!(text, " There is no other in level {}.", found.level);
        } else {
            let _ = writeln!(
                text,
                " The list is not complete: {}.",
                found.incomplete.join("; ")
            );
        }
        if within > 0 {
            let _ = writeln!(
                text,
                "Within the bound: right for all inputs for which the untouched program makes at most {bound} of each loop."
            );
        }
        for open in &found.open {
            let places: Vec<String> = open.places.iter().map(Place::to_string).collect();
            let title = format!("Not decided: {}", places.join(", "));
            let _ = writeln!(text, "{} ({})", style.paint("1", &title), open.reason);
            for line in &open.lines {
                let _ = writeln!(text, "{line}");
            }
        }
        if found.out_of_reach > 0 {
            let _ = writeln!(
                text,
                "{} written by macros cannot be changed.",
                count(found.out_of_reach as u64, "expression", "expressions")
            );
        }
        text
    }

    /// Returns the text of `prove --stats`: sizes of formulas, questions, conflicts and times. It is empty without counts.
    pub fn stats(&self) -> String {
        let Some(stats) = &self.stats else {
            return String::new();
        };
        let mut text = String::new();
        let _ = writeln!(
            text,
            "{} terms of {} instructions; {} variables, {} clauses; {} questions, {} conflicts",
            grouped(stats.terms),
            grouped(stats.instructions),
            grouped(stats.variables),
            grouped(stats.clauses),
            grouped(stats.calls),
            grouped(stats.conflicts)
        );
        if stats.patches > 0 {
            let _ = writeln!(
                text,
                "{} patches asked about, {} of them by themselves; excluded by conditions {}, by must sets {}, by repairs {}",
                grouped(stats.patches),
                grouped(stats.single),
                grouped(stats.by_condition),
                grouped(stats.by_must_set),
                grouped(stats.by_repair)
            );
        }
        let phases: Vec<String> = stats
            .seconds
            .iter()
            .map(|(phase, seconds)| format!("{phase} {seconds:.2} s"))
            .collect();
        let _ = writeln!(text, "{}; {} MiB", phases.join(", "), stats.memory);
        text
    }
}

impl Repair {
    /// Returns the repair as text, to be printed when it is found.
    pub fn text(&self, style: Style) -> String {
        let mut text = String::new();
        let places: Vec<String> = self.places.iter().map(Place::to_string).collect();
        let kind = match self.standing {
            Standing::AllInputs => "Repair",
            Standing::WithinBound => "Repair within the bound",
        };
        let title = format!("{kind} {}: {}", self.number, places.join(", "));
        let _ = write!(text, "{}", style.paint("1", &title));
        if let Some(other) = self.same_as {
            let _ = write!(text, " (does the same as repair {other})");
        }
        if self.void {
            let _ = write!(text, " (void: nothing is left that has to hold)");
        }
        text.push('\n');
        match self.same_as {
            None => text.push_str(&self.diff),
            // What it does is known; how it is written is enough.
            Some(_) => {
                for line in added(&self.diff) {
                    let _ = writeln!(text, "{line}");
                }
            }
        }
        if !self.constants.is_empty() {
            let ranges: Vec<String> = self
                .constants
                .iter()
                .map(|&(low, high)| match low == high {
                    true => low.to_string(),
                    false => format!("{low} to {high}"),
                })
                .collect();
            let more = if self.more_constants {
                ", and perhaps others"
            } else {
                ""
            };
            let _ = writeln!(text, "The constant may be: {}{more}.", ranges.join("; "));
        }
        text
    }
}

/// Returns the lines that a diff adds, with their `+`.
pub fn added(diff: &str) -> impl Iterator<Item = &str> {
    diff.lines()
        .filter(|line| line.starts_with('+') && !line.starts_with("+++"))
}

fn places(text: &mut String, all: &[Place]) {
    for place in all {
        let _ = writeln!(text, "  {place} in {}", place.function);
    }
}

fn counterexample(text: &mut String, found: &Counterexample, style: Style) {
    let title = style.paint("31;1", "Fails");
    let _ = match &found.place {
        Some(place) => writeln!(
            text,
            "{title}: {} at {place} in {}.",
            found.message, place.function
        ),
        None => writeln!(text, "{title}: {}.", found.message),
    };
    if !found.inputs.is_empty() {
        let _ = writeln!(text, "Inputs:");
        for input in found.inputs.iter().take(MOST_INPUTS) {
            let _ = writeln!(text, "  {} = {}", input.name, input.value);
        }
        if found.inputs.len() > MOST_INPUTS {
            let _ = writeln!(text, "  … and {} more", found.inputs.len() - MOST_INPUTS);
        }
    }
    if !found.arguments.is_empty() {
        let _ = writeln!(text, "Arguments: {:?}", found.arguments);
    }
    if let Some(input) = &found.standard_input {
        let _ = writeln!(text, "Standard input: {input:?}");
    }
    if !found.trace.is_empty() {
        let _ = writeln!(text, "What happens:");
        let left_out = found.trace.len().saturating_sub(MOST_STEPS);
        if left_out > 0 {
            let _ = writeln!(
                text,
                "  … {} before",
                count(left_out as u64, "step", "steps")
            );
        }
        for step in &found.trace[left_out..] {
            let what = match (&step.name, &step.value) {
                (Some(name), Some(value)) => format!("{name} = {value}"),
                (None, Some(value)) => format!("decides {value}"),
                _ => "gets here".to_owned(),
            };
            let _ = writeln!(
                text,
                "  {}  {:<24}  {}",
                step.place,
                what,
                step.place.text.trim()
            );
        }
    }
    let _ = match found.replay.as_str() {
        "agrees" => writeln!(text, "The interpreter agrees."),
        other => writeln!(text, "Not confirmed by an execution: {other}."),
    };
}
