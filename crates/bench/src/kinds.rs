//! Measures which kinds of change mend anything: undoes right programs by likely mistakes, and repairs them again.
//!
//! The right program is a project of a list with the developer's fix. Mutants that a test kills are bugs whose fix is known: the text before. For each form of the fix the table says how many of its bugs were repaired, at which rank, and at what cost.

use std::{
    collections::BTreeMap,
    error::Error,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use patchwright_exec::{
    CancelToken, CopyOptions, Project, ProjectFlags, RunnerProgram, Sandbox, Scratch, files,
};
use patchwright_mutants::{Asked, Fate, Judged, MutantsOptions, mutate, outcome::Answer};
use patchwright_repair::{
    Event, RepairOptions, Surroundings, phases::Phases, prepare::prepare, repair,
};
use patchwright_text::apply_edits;
use patchwright_validate::{Surroundings as ValidateSurroundings, ValidateOptions};
use serde::Serialize;

use crate::markdown;
use crate::random::Random;
use crate::repairs::{
    developer::{Developer, texts},
    list::{Entry, Lists},
};

/// The patches that a person looks at.
const LOOKED_AT: usize = 3;

/// Flags of `patchwright-bench kinds`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    lists: Lists,
    /// Mutants of each form and project
    #[arg(long, value_name = "N", default_value_t = 1)]
    each: usize,
    /// Time for each repair
    #[arg(long, value_name = "TIME", default_value = "20s", value_parser = crate::time::time)]
    budget: Duration,
    /// Chooses the mutants
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Workers
    #[arg(short, long, default_value_t = 2)]
    jobs: usize,
    /// Write what became of each mutant into this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write the table into this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// What became of a mutant that was repaired.
#[derive(Debug, Serialize)]
struct Repaired {
    project: String,
    line: u32,
    /// What the right change does to words and signs.
    form: String,
    /// The mutant, as a diff of the right program.
    mutant: String,
    /// The place of the first patch with the effect of the right program, from 1.
    rank: Option<usize>,
    /// The kind of that patch.
    kind: Option<String>,
    patches: usize,
    executions: u64,
    seconds: f64,
}

/// The sums of a row of the table.
#[derive(Default)]
struct Row {
    bugs: usize,
    first: usize,
    looked_at: usize,
    found: usize,
    only_others: usize,
    executions: u64,
    seconds: f64,
}

impl Row {
    fn add(&mut self, one: &Repaired) {
        let within = |most: usize| usize::from(one.rank.is_some_and(|rank| rank <= most));
        self.bugs += 1;
        self.first += within(1);
        self.looked_at += within(LOOKED_AT);
        self.found += within(usize::MAX);
        self.only_others += usize::from(one.rank.is_none() && one.patches > 0);
        self.executions += one.executions;
        self.seconds += one.seconds;
    }
}

/// Measures and prints the table. The result is false if a project could not be measured.
pub fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let mut all: Vec<Repaired> = Vec::new();
    let all_measured = arguments.lists.each(|entry| {
        all.extend(measure(entry, arguments)?);
        if let Some(file) = &arguments.json {
            files::write_atomic(file, &serde_json::to_vec_pretty(&all)?)?;
        }
        Ok(())
    })?;
    markdown::print(&table(&all), arguments.markdown.as_deref())?;
    Ok(all_measured)
}

/// Mutates the right program of an entry, and repairs the mutants.
fn measure(entry: &Entry, arguments: &Arguments) -> Result<Vec<Repaired>, Box<dyn Error>> {
    let scratch = Scratch::in_default_place()?;
    let right = scratch.path().join("right");
    let options = CopyOptions::default();
    let copy = Sandbox::create(&entry.folder, &right, &entry.folder, &options)?;
    let fix = texts(&entry.folder, files::read(&entry.fix)?, &entry.fix)?;
    for (path, text) in &fix {
        files::replace(&copy.folder().join(path), text)?;
    }
    let right = copy.folder();
    let judged = judged(right, arguments, &scratch)?;
    let mut found = Vec::new();
    for one in chosen(&judged, arguments) {
        let path = right.join(&one.mistake.file);
        let source = files::read(&path)?;
        let text = apply_edits(&source, std::slice::from_ref(&one.mistake.edit))?;
        files::replace(&path, &text)?;
        let repaired = repaired(entry, right, one, source.clone(), arguments);
        files::replace(&path, &source)?;
        let repaired = repaired?;
        let rank = repaired
            .rank
            .map_or("-".to_owned(), |rank| rank.to_string());
        eprintln!(
            "  {}:{} {}: rank {rank} of {}",
            one.mistake.file.display(),
            one.mistake.line,
            repaired.form,
            repaired.patches
        );
        found.push(repaired);
    }
    Ok(found)
}

/// All mutants of a right program, with what its tests say of them.
fn judged(
    right: &Path,
    arguments: &Arguments,
    scratch: &Scratch,
) -> Result<Vec<Judged>, Box<dyn Error>> {
    let project = Project::load(right, &ProjectFlags::default())?;
    let options = MutantsOptions {
        limit: 0,
        budget: None,
        each: Duration::ZERO,
        asks: false,
        asking: String::new(),
        repair: RepairOptions {
            schemas: MutantsOptions::schemas(),
            ..RepairOptions::default()
        },
        validate: ValidateOptions {
            jobs: arguments.jobs,
            ignore_failing: true,
            ask_first: true,
            ..ValidateOptions::default()
        },
        part: None,
    };
    let program = RunnerProgram::current_exe(["__runner"])?;
    let surroundings = ValidateSurroundings {
        program: &program,
        scratch,
        cancel: CancelToken::new()?,
        events: &|_| {},
    };
    let mut unasked = |_: &Asked<'_>| {
        let because = "nobody asks".to_owned();
        Ok(Answer::Unknown { because })
    };
    let outcome = mutate(&project, &options, &surroundings, &mut unasked)?;
    Ok(outcome.mutants)
}

/// Some killed mutants of each form, the same ones for a seed.
fn chosen<'j>(judged: &'j [Judged], arguments: &Arguments) -> Vec<&'j Judged> {
    let is_bug = |one: &&Judged| matches!(&one.fate, Fate::Killed { timed_out, .. } if !timed_out);
    let mut forms: BTreeMap<String, Vec<&Judged>> = BTreeMap::new();
    for one in judged.iter().filter(is_bug) {
        forms.entry(one.mistake.form.name()).or_default().push(one);
    }
    let mut random = Random(arguments.seed);
    let chosen = forms.into_values().flat_map(|mut own| {
        random.shuffle(&mut own);
        own.truncate(arguments.each);
        own
    });
    chosen.collect()
}

/// Repairs the program in the folder `mutated`; `source` is the right text of the mutant's file.
fn repaired(
    entry: &Entry,
    mutated: &Path,
    one: &Judged,
    source: Vec<u8>,
    arguments: &Arguments,
) -> Result<Repaired, Box<dyn Error>> {
    let project = Project::load(mutated, &ProjectFlags::default())?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let (own, other) = (Scratch::in_default_place()?, Scratch::in_default_place()?);
    let silent = |_: Event| {};
    let surroundings = |scratch| -> Result<_, Box<dyn Error>> {
        Ok(Surroundings {
            program: &program,
            scratch,
            cancel: CancelToken::new()?,
            events: &silent,
        })
    };
    let options = RepairOptions {
        jobs: arguments.jobs,
        budget: Some(arguments.budget),
        ..RepairOptions::default()
    };
    let started = Instant::now();
    let outcome = repair(&project, &options, &surroundings(&own)?);
    let seconds = started.elapsed().as_secs_f64();
    let mut result = Repaired {
        project: entry.listed.name.clone(),
        line: one.mistake.line,
        form: one.mistake.form.name(),
        mutant: String::from_utf8_lossy(&one.diff).into_owned(),
        rank: None,
        kind: None,
        patches: 0,
        executions: 0,
        seconds,
    };
    let outcome = match outcome {
        Ok(outcome) => outcome,
        // Nothing to look at is nothing found.
        Err(error) => {
            eprintln!("  {error}");
            return Ok(result);
        }
    };
    result.executions = outcome.stats.executions;
    result.patches = outcome.patches.len();
    if outcome.patches.is_empty() {
        return Ok(result);
    }
    let right = BTreeMap::from([(one.mistake.file.clone(), source)]);
    let developer = Developer::of(&[], mutated, right);
    let mut phases = Phases::default();
    let mut prepared = prepare(&project, &options, &surroundings(&other)?, &mut phases)?;
    for (rank, patch) in (1..).zip(&outcome.patches) {
        if developer.recognizes(patch, &mut prepared)?.is_some() {
            result.rank = Some(rank);
            result.kind = Some(
                patch
                    .kind
                    .clone()
                    .unwrap_or_else(|| patch.schema.to_string()),
            );
            break;
        }
    }
    Ok(result)
}

fn table(all: &[Repaired]) -> String {
    let mut rows: BTreeMap<&str, Row> = BTreeMap::new();
    let mut total = Row::default();
    for one in all {
        rows.entry(&one.form).or_default().add(one);
        total.add(one);
    }
    let mut rows: Vec<(&str, Row)> = rows.into_iter().collect();
    rows.sort_by_key(|(name, row)| (std::cmp::Reverse(row.bugs), *name));
    rows.push(("all", total));
    let mut text = "\
| the right change | bugs | first | among the first three | found | only others | executions | seconds |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
"
    .to_owned();
    for (name, row) in rows {
        let of_each = |sum: f64| sum / row.bugs.max(1) as f64;
        text.push_str(&format!(
            "| {name} | {} | {} | {} | {} | {} | {:.0} | {:.1} |\n",
            row.bugs,
            row.first,
            row.looked_at,
            row.found,
            row.only_others,
            of_each(row.executions as f64),
            of_each(row.seconds)
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_with_most_bugs_come_first_and_all_are_summed() {
        let one = |form: &str, rank, patches| Repaired {
            project: "p".to_owned(),
            line: 1,
            form: form.to_owned(),
            mutant: String::new(),
            rank,
            kind: None,
            patches,
            executions: 10,
            seconds: 2.0,
        };
        let text = table(&[
            one("added one", Some(1), 2),
            one("boundary operator", Some(4), 9),
            one("boundary operator", None, 3),
        ]);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "| boundary operator | 2 | 0 | 0 | 1 | 1 | 10 | 2.0 |",
                "| added one | 1 | 1 | 1 | 1 | 0 | 10 | 2.0 |",
                "| all | 3 | 1 | 1 | 2 | 1 | 10 | 2.0 |",
            ]
        );
    }
}
