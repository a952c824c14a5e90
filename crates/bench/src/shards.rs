//! Simulates a validation on 1 to 1,000 workers, by the times that parts of it took.

use std::{
    error::Error,
    fmt::Write as _,
    path::{Path, PathBuf},
};

use clap::Args;
use patchwright_exec::files;
use patchwright_validate::shard::{Measured, PartResult};

use crate::{markdown, random::Random, statistics::median};

/// Flags of `patchwright-bench shards`.
#[derive(Args)]
pub struct Arguments {
    /// The files of parts that `patchwright validate --shard` has written on one machine, by preference of 1/1, and of some of more
    #[arg(required = true)]
    parts: Vec<PathBuf>,
    /// Numbers of workers
    #[arg(long, value_name = "N", num_args = 1.., default_values = ["1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1000"])]
    workers: Vec<usize>,
    /// Number of patches [default: those of the parts' set]
    #[arg(long, value_name = "N")]
    patches: Option<usize>,
    /// One of so many workers is slow; 0 means none
    #[arg(long, value_name = "N", default_value_t = 20)]
    slow_one_of: usize,
    /// It takes so many times as long
    #[arg(long, value_name = "FACTOR", default_value_t = 3.0)]
    slow: f64,
    /// One of so many workers is lost, and its part is run again; 0 means none
    #[arg(long, value_name = "N", default_value_t = 100)]
    lost_one_of: usize,
    /// Simulations of each number of workers
    #[arg(long, value_name = "N", default_value_t = 501)]
    rounds: usize,
    /// The first seed
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// Write the table into this file, too
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// What parts took, in seconds, as a line: what each does before its first patch, and what each patch adds. Work that patches share is in
/// the first part of the sum, because each part does it once.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    /// Copying, building and testing the untouched program.
    setup: f64,
    /// What patches share: the woven program, and the executions of its classes.
    shared: f64,
    /// Each patch.
    patch: f64,
    /// What parts took, as multiples of what the line says.
    spread: Vec<f64>,
}

impl Model {
    /// The line through parts, by least squares. Parts of one size say nothing on what is shared.
    fn of(parts: &[Measured]) -> Self {
        let setups: Vec<f64> = parts
            .iter()
            .map(|part| part.prepare.as_secs_f64())
            .collect();
        let setup = median(&setups);
        let count = parts.len() as f64;
        let points = parts
            .iter()
            .map(|part| (part.patches as f64, part.validate.as_secs_f64()));
        let points: Vec<(f64, f64)> = points.collect();
        let mean =
            |value: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(value).sum::<f64>() / count;
        let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
        let squares: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
        let products: f64 = points
            .iter()
            .map(|point| (point.0 - x) * (point.1 - y))
            .sum();
        let slope = match squares > 0.0 {
            true => (products / squares).max(0.0),
            false => y / x.max(1.0),
        };
        let patch = slope.min(y / x.max(1.0));
        let mut model = Model {
            setup,
            shared: (y - patch * x).max(0.0),
            patch,
            spread: Vec::new(),
        };
        let ratios = parts.iter().map(|part| {
            let took = (part.prepare + part.validate).as_secs_f64();
            took / model.part(part.patches).max(f64::MIN_POSITIVE)
        });
        model.spread = ratios.collect();
        model
    }

    /// The seconds of a part with so many patches.
    fn part(&self, patches: usize) -> f64 {
        match patches {
            // Only the patches are read.
            0 => 0.0,
            patches => self.setup + self.shared + self.patch * patches as f64,
        }
    }
}

/// One simulated run.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    /// Until the last worker is done.
    wall: f64,
    /// Of all workers together.
    total: f64,
}

fn simulate(
    model: &Model,
    patches: usize,
    workers: usize,
    args: &Arguments,
    random: &mut Random,
) -> Run {
    let mut is_one_of = |number: usize| number > 0 && random.below(number) == 0;
    let mut chances: Vec<(bool, bool)> = Vec::new();
    for _ in 0..workers {
        chances.push((is_one_of(args.slow_one_of), is_one_of(args.lost_one_of)));
    }
    let (mut wall, mut total) = (0.0_f64, 0.0);
    for (worker, (is_slow, is_lost)) in chances.into_iter().enumerate() {
        let own = patches / workers + usize::from(worker < patches % workers);
        let spread = model.spread[random.below(model.spread.len())];
        let again = model.part(own) * spread;
        let mut took = again * if is_slow { args.slow } else { 1.0 };
        if is_lost {
            // It is lost somewhere on the way, and somebody else begins anew.
            took = took * random.below(1000) as f64 / 1000.0 + again;
        }
        wall = wall.max(took);
        total += took;
    }
    Run { wall, total }
}

/// Simulates and prints the table.
pub fn run(args: &Arguments) -> Result<bool, Box<dyn Error>> {
    let parts = args.parts.iter().map(|file| measured(file));
    let parts: Vec<Measured> = parts.collect::<Result<_, _>>()?;
    let model = Model::of(&parts);
    let patches = match (args.patches, parts.iter().map(|part| part.total).max()) {
        (Some(patches), _) => patches,
        (None, total) => total.unwrap_or(0),
    };
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut text = format!(
        "# Validation on many workers\n\n    patchwright-bench {}\n\n",
        words.join(" ")
    );
    let _ = writeln!(
        text,
        "{} parts were measured. A part takes {:.2} s for the untouched program, {:.2} s for what its patches share, and {:.3} s \
         for each patch. One worker needs {:.1} s for {patches} patches.\n",
        parts.len(),
        model.setup,
        model.shared,
        model.patch,
        model.part(patches)
    );
    text.push_str("| workers | until all are done | of 20 runs the worst | all workers together | faster | of each worker's time, lost |\n");
    text.push_str("| ---: | ---: | ---: | ---: | ---: | ---: |\n");
    let one = model.part(patches);
    let mut random = Random(args.seed);
    for &workers in &args.workers {
        let runs = (0..args.rounds.max(1))
            .map(|_| simulate(&model, patches, workers.max(1), args, &mut random));
        let runs: Vec<Run> = runs.collect();
        let mut walls: Vec<f64> = runs.iter().map(|run| run.wall).collect();
        let totals: Vec<f64> = runs.iter().map(|run| run.total).collect();
        walls.sort_by(f64::total_cmp);
        let (wall, worst) = (
            median(&walls),
            walls[(walls.len() * 19 / 20).min(walls.len() - 1)],
        );
        let total = median(&totals);
        // What one machine would not have done, and what workers wait for the last one.
        let lost = 1.0 - (one / (wall * workers as f64)).min(1.0);
        let _ = writeln!(
            text,
            "| {workers} | {wall:.1} s | {worst:.1} s | {total:.0} s | {:.1}× | {:.0}% |",
            one / wall,
            lost * 100.0
        );
    }
    markdown::print(&text, args.markdown.as_deref())?;
    Ok(true)
}

fn measured(file: &Path) -> Result<Measured, Box<dyn Error>> {
    let part = PartResult::from_json(&files::read(file)?);
    let part = part.map_err(|message| format!("{}: {message}", file.display()))?;
    let measured = part.measured();
    match measured.patches {
        0 => Err(format!("{}: this part has no patch; leave it out", file.display()).into()),
        _ => Ok(measured),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn part(patches: usize, validate: f64) -> Measured {
        Measured {
            patches,
            total: 800,
            prepare: Duration::from_secs(4),
            validate: Duration::from_secs_f64(validate),
        }
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn what_patches_share_is_told_from_what_each_takes() {
        let model = Model::of(&[part(100, 20.0), part(200, 30.0), part(800, 90.0)]);
        assert!(close(model.setup, 4.0) && close(model.patch, 0.1));
        assert!(close(model.shared, 10.0) && close(model.part(800), 94.0));
        assert!(model.spread.iter().all(|&spread| close(spread, 1.0)));
        // Of parts of one size nothing is known but what a patch takes.
        let model = Model::of(&[part(100, 20.0)]);
        assert!(close(model.patch, 0.2) && close(model.shared, 0.0));
    }

    #[test]
    fn workers_share_patches_and_each_pays_for_what_is_shared() {
        let model = Model::of(&[part(100, 20.0), part(200, 30.0), part(800, 90.0)]);
        let args = Arguments {
            parts: Vec::new(),
            workers: Vec::new(),
            patches: None,
            slow_one_of: 0,
            slow: 3.0,
            lost_one_of: 0,
            rounds: 1,
            seed: 1,
            markdown: None,
        };
        let run = |workers| simulate(&model, 800, workers, &args, &mut Random(1));
        assert!(close(run(1).wall, 94.0) && close(run(1).total, 94.0));
        assert!(close(run(8).wall, 24.0) && close(run(8).total, 8.0 * 24.0));
        // More workers than patches have nothing to do.
        assert!(close(run(1000).total, 800.0 * 14.1));
        let slow = Arguments {
            slow_one_of: 1,
            ..args
        };
        let slow = simulate(&model, 800, 8, &slow, &mut Random(1));
        assert!(close(slow.wall, 72.0));
    }
}
