//! Measures repairs of a list of projects in several modes; the counterparts of f1x's tables 2, 3 and 4.

pub mod developer;
pub mod list;
mod modes;
mod tables;

use std::{error::Error, path::PathBuf, time::Duration};

use patchwright_exec::files;
use serde::{Deserialize, Serialize};

use list::Lists;
use modes::Measured;

/// Flags of `patchwright-bench repairs`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    lists: Lists,
    /// Only these measurements. first: a repair with the defaults. plain-first: the first patch without
    /// classes. full: all of the space, and a sample of it without classes. small: a small space with and
    /// without classes. relations: each relation by itself
    #[arg(long, value_name = "MODE", value_delimiter = ',')]
    modes: Vec<String>,
    /// Time for each search
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = crate::time::time)]
    budget: Duration,
    /// Executions of tests for each search but the first
    #[arg(long, default_value_t = 5000)]
    executions: u64,
    /// Candidates of the sample that is explored without classes
    #[arg(long, default_value_t = 1000)]
    sample: u64,
    /// Workers
    #[arg(short, long, default_value_t = 2)]
    jobs: usize,
    /// Add the results to this file of JSON, and print the tables of all that is in it
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also write the tables into this file
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

impl Arguments {
    fn wants(&self, mode: &str) -> bool {
        self.modes.is_empty() || self.modes.iter().any(|wanted| wanted == mode)
    }
}

/// The results of all projects so far.
#[derive(Default, Serialize, Deserialize)]
struct Results {
    projects: Vec<Measured>,
}

/// Measures and prints the tables. The result is false if a project could not be measured.
pub fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let mut results = match &arguments.json {
        Some(file) if file.exists() => serde_json::from_slice(&files::read(file)?)
            .map_err(|error| format!("{}: {error}", file.display()))?,
        _ => Results::default(),
    };
    let all_measured = arguments.lists.each(|entry| {
        results.add(modes::measure(entry, arguments)?);
        if let Some(file) = &arguments.json {
            files::write_atomic(file, &serde_json::to_vec_pretty(&results)?)?;
        }
        Ok(())
    })?;
    let text = tables::tables(&results.projects);
    if let Some(file) = &arguments.markdown {
        files::write_atomic(file, text.as_bytes())?;
    }
    print!("{text}");
    Ok(all_measured)
}

impl Results {
    /// Adds what was measured; modes that were not measured this time keep their results.
    fn add(&mut self, new: Measured) {
        let Some(old) = self.projects.iter_mut().find(|old| old.name == new.name) else {
            self.projects.push(new);
            return;
        };
        let before = std::mem::replace(old, new);
        if old.first.is_none() {
            old.first = before.first;
            old.total_seconds = before.total_seconds;
            old.patches = before.patches;
            old.rejected = before.rejected;
        }
        old.first_plain = old.first_plain.take().or(before.first_plain);
        if old.full.is_none() {
            old.full = before.full;
            old.kinds = before.kinds;
            old.plain = before.plain;
        }
        old.small = old.small.take().or(before.small);
        if old.relations.is_empty() {
            old.relations = before.relations;
        }
        old.locations = old.locations.max(before.locations);
    }
}
