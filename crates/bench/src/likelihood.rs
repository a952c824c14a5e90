//! Fits the model of how likely candidates are to the fixes that `fixes` has found.

mod fit;
mod model;

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fmt::Write as _,
    path::PathBuf,
};

use patchwright_exec::files;
use patchwright_repair::likelihood::{FEATURES, Traits, Weights, learned::TOLD};

use crate::{
    fixes::data::{Measured, Untyped, read},
    statistics::median,
};
use model::{Data, Model, usual_lengths};

/// Flags of `patchwright-bench likelihood`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Fits a log-linear model: prints how good it is for repositories that were not looked at, with all features and without each
    Fit {
        /// What `fixes --data` has written
        data: PathBuf,
        /// What `fixes --untyped --data` has written: weights are drawn to what these say instead of to zero
        #[arg(long, value_name = "FILE")]
        untyped: Option<PathBuf>,
        /// How much of what they say counts, from 0 to 1
        #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
        trust: f64,
        /// How much weights are drawn to zero
        #[arg(long, value_name = "STRENGTH", default_value_t = 3.0)]
        penalty: f64,
        /// Leave these features out
        #[arg(long, value_name = "NAME", num_args = 1..)]
        without: Vec<String>,
        /// Also fit without each feature
        #[arg(long)]
        ablation: bool,
        /// Write to this file how many of the fixes without types make each change, which `patchwright learn` compares with
        #[arg(long, value_name = "FILE", requires = "untyped")]
        made: Option<PathBuf>,
        /// Write the weights, fitted to all repositories, to this file
        #[arg(long, value_name = "FILE")]
        weights: Option<PathBuf>,
    },
}

/// So many parts repositories are divided into; each is held out once.
const PARTS: usize = 3;

/// How good an order is.
#[derive(Clone, Debug, Default)]
struct Quality {
    ranks: Vec<f64>,
    /// −log₂ of the probability of each developer's candidate.
    bits: Vec<f64>,
}

impl Quality {
    fn share(&self, most: f64) -> f64 {
        let first = self.ranks.iter().filter(|rank| **rank <= most).count();
        100.0 * first as f64 / self.ranks.len().max(1) as f64
    }

    fn mean(values: &[f64]) -> f64 {
        values.iter().sum::<f64>() / values.len().max(1) as f64
    }

    fn row(&self, name: &str) -> String {
        let logarithms: Vec<f64> = self.ranks.iter().map(|rank| rank.log2()).collect();
        let bits = match self.bits.is_empty() {
            true => "–".to_owned(),
            false => format!("{:.2}", Quality::mean(&self.bits)),
        };
        format!(
            "| {name} | {:.1} | {:.0} % | {:.0} % | {:.0} % | {:.0} % | {:.2} | {bits} |\n",
            median(&self.ranks),
            self.share(1.0),
            self.share(3.0),
            self.share(10.0),
            self.share(20.0),
            Quality::mean(&logarithms),
        )
    }
}

const HEAD: &str = "| order | median rank | first | first 3 | first 10 | first 20 | mean log₂ of the rank | mean bits |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n";

/// Fits the model and prints Markdown tables.
pub fn run(arguments: &Arguments) -> Result<bool, Box<dyn Error>> {
    let Command::Fit {
        data,
        untyped,
        trust,
        penalty,
        without,
        ablation,
        made,
        weights,
    } = &arguments.command;
    for name in without {
        if !FEATURES.iter().any(|feature| feature.name == name) {
            let all: Vec<&str> = FEATURES.iter().map(|feature| feature.name).collect();
            return Err(format!("there is no feature {name}; there are {}", all.join(", ")).into());
        }
    }
    let measured: Vec<Measured> = read(data)?;
    let counted = measured.into_iter().filter(|one| {
        let cost = one
            .developer
            .as_ref()
            .map(|developer| developer.traits.cost);
        cost.is_some_and(|cost| cost as usize <= one.candidates.len())
    });
    let measured: Vec<Measured> = counted.collect();
    let repositories: BTreeSet<&str> = measured.iter().map(|one| &one.repository[..]).collect();
    let repositories: Vec<&str> = repositories.into_iter().collect();
    if repositories.len() < PARTS {
        return Err(format!(
            "{} has fixes in the space of {} repositories; it takes {PARTS}, since each third is held out once",
            data.display(),
            repositories.len()
        )
        .into());
    }
    let part = |one: &Measured| {
        let number = repositories.iter().position(|name| *name == one.repository);
        number.unwrap_or(0) % PARTS
    };
    let parts: Vec<usize> = measured.iter().map(part).collect();
    let usual = usual_lengths(&measured);
    let untyped: Vec<Untyped> = match untyped {
        Some(file) => read(file)?,
        None => Vec::new(),
    };
    if let Some(file) = made {
        files::write_atomic(file, counts(&untyped).as_bytes())?;
    }
    let (names, untyped): (Vec<String>, Vec<Traits>) = untyped
        .into_iter()
        .filter(|one| {
            let usual = usual.get(&one.traits.form);
            usual.is_some_and(|most| one.traits.added <= *most)
        })
        .map(|one| (one.repository, one.traits))
        .unzip();
    let all = Data::of(&measured, &untyped);
    // What the repositories do that are held out is not looked at.
    let expected = |kept: &[bool], allowed: &[bool], held_out: Option<usize>| -> Model {
        let is_held_out = |name: &str| {
            let number = repositories.iter().position(|other| *other == name);
            held_out.is_some() && number.map(|number| number % PARTS) == held_out
        };
        let made: Vec<bool> = names.iter().map(|name| !is_held_out(name)).collect();
        all.expected(kept, &made, allowed, *trust)
    };
    let without: BTreeSet<&str> = without.iter().map(|name| &name[..]).collect();
    let mut out = String::new();
    let _ = writeln!(
        out,
        "{} fixes of {} repositories; each third of these is held out once\n",
        measured.len(),
        repositories.len()
    );
    out.push_str(HEAD);
    let search = Quality {
        ranks: measured
            .iter()
            .filter_map(|one| Some(one.developer.as_ref()?.rank as f64))
            .collect(),
        bits: Vec::new(),
    };
    out.push_str(&search.row("search"));
    let report = Quality {
        ranks: measured
            .iter()
            .filter_map(|one| one.rank(|a, b| Weights::fitted().order(a, b)))
            .collect(),
        bits: Vec::new(),
    };
    out.push_str(&report.row("report"));
    let fit_parts = |without: &BTreeSet<&str>, from: Option<&[Model]>| -> Vec<Model> {
        (0..PARTS)
            .map(|part| {
                let kept = parts
                    .iter()
                    .map(|other| *other != part)
                    .collect::<Vec<bool>>();
                let start = from.map(|from| &from[part]);
                let allowed = all.allowed(without);
                let expected = expected(&kept, &allowed, Some(part));
                all.fit(&kept, &allowed, *penalty, &expected, start)
            })
            .collect()
    };
    let quality = |models: &[Model]| -> Quality {
        let mut quality = Quality::default();
        for (number, part) in parts.iter().enumerate() {
            let (rank, bits) = all.judge(number, &models[*part]);
            quality.ranks.push(rank);
            quality.bits.push(bits);
        }
        quality
    };
    let models = fit_parts(&without, None);
    let whole = quality(&models);
    out.push_str(&whole.row("likelihood"));
    for part in 0..PARTS {
        let names = repositories.iter().skip(part).step_by(PARTS);
        let names: Vec<&str> = names.copied().collect();
        let own = parts.iter().zip(0..).filter(|(other, _)| **other == part);
        let mut quality = Quality::default();
        for (_, number) in own {
            quality.ranks.push(whole.ranks[number]);
            quality.bits.push(whole.bits[number]);
        }
        out.push_str(&quality.row(&format!("likelihood, of {}", names.join(", "))));
    }
    let everything = vec![true; parts.len()];
    let allowed = all.allowed(&without);
    let expected = expected(&everything, &allowed, None);
    let fitted = all.fit(&everything, &allowed, *penalty, &expected, None);
    let mut seen = Quality::default();
    for number in 0..parts.len() {
        let (rank, bits) = all.judge(number, &fitted);
        seen.ranks.push(rank);
        seen.bits.push(bits);
    }
    out.push_str(&seen.row("likelihood, all looked at"));
    if *ablation {
        let _ = write!(out, "\n{HEAD}");
        for feature in FEATURES
            .iter()
            .filter(|feature| !without.contains(feature.name))
        {
            let mut fewer = without.clone();
            fewer.insert(feature.name);
            let models = fit_parts(&fewer, Some(&models));
            out.push_str(&quality(&models).row(&format!("without {}", feature.name)));
            eprintln!("without {}", feature.name);
        }
    }
    print!("{out}");
    if let Some(file) = weights {
        files::write_atomic(
            file,
            all.toml(&fitted, measured.len(), &repositories).as_bytes(),
        )?;
    }
    Ok(true)
}

/// How many fixes have each choice of the features that the text of a change tells, as TOML.
fn counts(fixes: &[Untyped]) -> String {
    let repositories: BTreeSet<&str> = fixes.iter().map(|one| &one.repository[..]).collect();
    let mut out = format!(
        "# How people mend things: how many of {} small fixes of {} repositories make each change.\n\
         # `patchwright-bench fixes --untyped` finds them, and `patchwright-bench likelihood fit --made` writes this file.\n\
         fixes = {}\n",
        fixes.len(),
        repositories.len(),
        fixes.len()
    );
    for feature in FEATURES
        .iter()
        .filter(|feature| TOLD.contains(&feature.name))
    {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let names = fixes.iter().filter_map(|one| feature.of(&one.traits));
        for (name, _) in names {
            *counts.entry(name).or_default() += 1;
        }
        let mut counts: Vec<(String, usize)> = counts.into_iter().collect();
        counts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let _ = writeln!(out, "\n[{}]", feature.name);
        for (name, count) in counts {
            let choice = name.split_once('=').map_or(&*name, |(_, choice)| choice);
            let _ = writeln!(out, "{choice} = {count}");
        }
    }
    out
}
