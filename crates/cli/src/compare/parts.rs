//! `compare --shard`: the functions of two versions, compared on several machines.

use std::collections::BTreeMap;

use patchwright_text::Hasher;
use serde::{Deserialize, Serialize};

use super::arguments::CompareArgs;
use crate::{Exit, cached::CacheArgs, encoded::Problem, shards::ShardArgs, state::Resuming};

/// The name of the schema of a part's file.
pub const SCHEMA: &str = "patchwright-compare-shard";

/// The version of the parts' format.
pub const VERSION: u32 = 1;

/// The output of a comparison, as text and as JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: String,
}

/// The comparison of one function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Its number among all that are compared.
    pub number: usize,
    /// What is printed.
    pub told: Told,
    /// The exit status that it alone would have; none if it is not compared.
    pub status: Option<u8>,
    /// Why it is not compared.
    pub warning: Option<String>,
}

/// What a part has found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The functions of this part.
    pub units: Vec<Unit>,
}

/// The output that one machine would have printed, put together from parts.
pub struct Merged {
    /// For people.
    pub text: String,
    /// For programs.
    pub json: String,
    /// How it would have ended.
    pub exit: Exit,
    /// What could not be compared.
    pub warnings: Vec<String>,
}

/// Puts what parts have found together.
pub fn merge(parts: Vec<Found>) -> Merged {
    let units = parts.into_iter().flat_map(|part| part.units);
    let units: BTreeMap<usize, Unit> = units.map(|unit| (unit.number, unit)).collect();
    let (mut text, mut json, mut warnings) = (String::new(), String::new(), Vec::new());
    let mut statuses = Vec::new();
    for unit in units.into_values() {
        text.push_str(&unit.told.text);
        json.push_str(&unit.told.json);
        statuses.extend(unit.status);
        warnings.extend(unit.warning);
    }
    let exits = statuses.iter().map(|&status| exit(status));
    let exit = match statuses.is_empty() && !warnings.is_empty() {
        true => Exit::BadInput,
        false => super::worst(&exits.collect::<Vec<Exit>>()),
    };
    Merged {
        text,
        json,
        exit,
        warnings,
    }
}

fn exit(status: u8) -> Exit {
    let all = [
        Exit::Found,
        Exit::Nothing,
        Exit::BadInput,
        Exit::BadProject,
        Exit::Interrupted,
        Exit::Undecided,
    ];
    let known = all.into_iter().find(|exit| *exit as u8 == status);
    known.unwrap_or(Exit::Bug)
}

/// What all parts of one run have in common, as a digest: the functions in order, and the flags.
pub fn key(args: &CompareArgs, functions: &[String], texts: &[Vec<u8>]) -> String {
    let mut hasher = Hasher::new();
    hasher.field(SCHEMA).field(env!("CARGO_PKG_VERSION"));
    let flags = CompareArgs {
        sharding: ShardArgs::default(),
        cache: CacheArgs::default(),
        resuming: Resuming::default(),
        json: false,
        html: None,
        output: None,
        ..args.clone()
    };
    // Their debug form shows every field.
    hasher.field(format!("{flags:?}"));
    hasher.field(format!("{functions:?}"));
    for text in texts {
        hasher.field(text);
    }
    hasher.finish().to_string()
}

/// The error for a comparison that has only one part.
pub fn indivisible() -> Problem {
    Problem::Input(
        "--shard divides the functions of two versions, and here one program or function is compared; leave --shard out, \
         or compare versions without `main`"
            .to_owned(),
    )
}
