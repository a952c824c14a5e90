//! A sample of the candidates of a project's own space, as patches.
//!
//! Locations, then kinds of change, then costs are chosen with equal chances, so that the many
//! candidates of a large location, or the many expensive ones, do not crowd out the others.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    ffi::OsString,
    io::{BufWriter, Write},
    path::PathBuf,
};

use patchwright_exec::{CancelToken, FileSelection, Project, ProjectFlags, RunnerProgram, Scratch};
use patchwright_repair::{
    Event, RepairOptions, Surroundings,
    instrument::instrument,
    instrumented::{HoleEntry, Instrumented},
    phases::Phases,
    prepare::prepare,
};
use patchwright_space::{CandidateId, Schema, Space, SpaceLimits, holes::HoleKind};
use patchwright_text::{apply_edits, unified_diff};
use serde::Serialize;

use crate::random::Random;

/// Flags of `patchwright-bench sample`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The project's folder, with a patchwright.toml
    project: PathBuf,
    /// Where candidates are taken from (FILE[:LINE[-LINE]]), instead of the project's own choice
    #[arg(long, value_name = "PLACE")]
    files: Vec<OsString>,
    /// Number of patches; fewer are printed where the locations do not have so many
    #[arg(short, long, value_name = "N", default_value_t = 1000)]
    number: usize,
    /// Chooses the sample
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Candidates above this cost are not taken
    #[arg(long, default_value_t = 4)]
    max_cost: u32,
}

#[derive(Serialize)]
struct Line<'a> {
    id: String,
    patch: &'a str,
}

/// So many draws in a row that give no new patch end the sample.
const VAIN: usize = 200;

/// Prints sampled candidates as JSON lines for `patchwright validate`.
pub fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let mut flags = ProjectFlags::default();
    for selection in &arguments.files {
        flags.files.push(FileSelection::parse(selection)?);
    }
    let project = Project::load(&arguments.project, &flags)?;
    let scratch = Scratch::in_default_place()?;
    let program = RunnerProgram::current_exe(["__runner"])?;
    let show = |event: Event| {
        if let Event::Warning(text) = event {
            eprintln!("warning: {text}");
        }
    };
    let surroundings = Surroundings {
        program: &program,
        scratch: &scratch,
        cancel: CancelToken::new()?,
        events: &show,
    };
    let options = RepairOptions::default();
    let mut phases = Phases::default();
    let mut prepared = prepare(&project, &options, &surroundings, &mut phases)?;
    let instrumented = instrument(
        &mut prepared,
        &project,
        &options,
        &surroundings,
        &mut phases,
    )?;
    let mut sampler = Sampler {
        instrumented: &instrumented,
        random: Random(arguments.seed),
        max_cost: arguments.max_cost,
        spaces: BTreeMap::new(),
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut seen = BTreeSet::new();
    let mut vain = 0;
    while seen.len() < arguments.number && vain < VAIN {
        let drawn = sampler.draw()?;
        let new = drawn.filter(|(_, patch)| seen.insert(patch.clone()));
        let Some((place, patch)) = new else {
            vain += 1;
            continue;
        };
        vain = 0;
        let line = Line {
            id: format!("{}-{place}", seen.len()),
            patch: &patch,
        };
        serde_json::to_writer(&mut out, &line)?;
        out.write_all(b"\n")?;
    }
    out.flush()?;
    if seen.len() < arguments.number {
        eprintln!("{} patches; the locations seem to have no more", seen.len());
    }
    Ok(true)
}

struct Sampler<'a> {
    instrumented: &'a Instrumented,
    random: Random,
    max_cost: u32,
    /// By hole and target.
    spaces: BTreeMap<(usize, Option<usize>), Space>,
}

impl Sampler<'_> {
    /// A patch and its place; `None` where the draw has no text, is no UTF-8, or is the original.
    fn draw(&mut self) -> Result<Option<(String, String)>, Box<dyn Error>> {
        let number = self.random.below(self.instrumented.holes.len());
        let entry = &self.instrumented.holes[number];
        let target = match &entry.hole.kind {
            HoleKind::Assignment(at) if at.targets.is_empty() => return Ok(None),
            HoleKind::Assignment(at) => Some(self.random.below(at.targets.len())),
            _ => None,
        };
        let file = &self.instrumented.files[entry.file];
        let pointees = file.types.pointees();
        let space = self
            .spaces
            .entry((number, target))
            .or_insert_with(|| build(self.instrumented, entry, target, self.max_cost));
        let mut by_schema: BTreeMap<Schema, BTreeMap<u32, Vec<usize>>> = BTreeMap::new();
        for (index, block) in space.blocks.iter().enumerate() {
            if block.cost <= self.max_cost && block.length > 0 {
                let costs = by_schema.entry(block.schema).or_default();
                costs.entry(block.cost).or_default().push(index);
            }
        }
        if by_schema.is_empty() {
            return Ok(None);
        }
        let mut nth = |length| self.random.below(length);
        let schema = nth(by_schema.len());
        let Some(costs) = by_schema.into_values().nth(schema) else {
            return Ok(None);
        };
        let cost = nth(costs.len());
        let Some(blocks) = costs.into_values().nth(cost) else {
            return Ok(None);
        };
        let block = blocks[nth(blocks.len())];
        let lanes = space.lanes(&space.blocks[block]);
        let id = CandidateId {
            block: block as u32,
            lane: lanes[nth(lanes.len())],
        };
        let source = &file.unit.source;
        let Some(edit) = space.edit(id, source, pointees) else {
            return Ok(None);
        };
        let patched = apply_edits(source, &[edit])?;
        let path = file.relative.as_os_str().as_encoded_bytes();
        let diff = unified_diff(path, source, &patched);
        let patch = String::from_utf8(diff).ok();
        let place = entry.place.clone();
        Ok(patch
            .filter(|patch| !patch.is_empty())
            .map(|patch| (place, patch)))
    }
}

fn build(
    instrumented: &Instrumented,
    entry: &HoleEntry,
    target: Option<usize>,
    max_cost: u32,
) -> Space {
    let file = &instrumented.files[entry.file];
    let hole = match target {
        Some(target) => entry.hole.assigning(target),
        None => entry.hole.clone(),
    };
    let limits = SpaceLimits {
        term_size: max_cost,
        ..SpaceLimits::default()
    };
    Space::build(
        hole,
        entry.leaves.clone(),
        &file.unit.functions[entry.hole.function],
        &file.parents[entry.hole.function],
        entry.expr,
        file.types.pointees(),
        limits,
    )
}
