//! The data about each fix: numbers, names of repositories, files and functions, and commits. It has no
//! text of anybody's program.

use std::{collections::BTreeSet, error::Error, path::Path};

use patchwright_exec::files;
use patchwright_repair::likelihood::Traits;
use serde::{
    Deserialize, Serialize,
    de::{DeserializeOwned, IgnoredAny},
};

/// A fix whose file could be read with types.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measured {
    pub repository: String,
    pub commit: String,
    pub file: String,
    pub function: String,
    /// What the message says of the failure: crash, leak or other.
    pub failure: String,
    /// What the change does, by its words and signs.
    pub form: String,
    /// In how many places it changes something.
    pub places: usize,
    /// Why nothing is changed in the function, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// By cost, how many candidates the function has; nothing if the change is none of them.
    pub candidates: Vec<u64>,
    /// The candidate that is the change, if one is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub developer: Option<Developer>,
    /// Others of the same function.
    pub sample: Vec<Sampled>,
}

/// The candidate that equals the developer's change.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Developer {
    /// It is spelled in another way.
    pub respelled: bool,
    /// Its rank in the order of the search, from 1.
    pub rank: u64,
    pub traits: Traits,
}

/// A sampled candidate that stands for `weight` candidates of its cost and kind.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Sampled {
    pub weight: f64,
    pub traits: Traits,
}

impl Measured {
    /// Returns the number of candidates that the sample stands for.
    pub fn total(&self) -> u64 {
        self.candidates.iter().sum()
    }

    /// Returns an estimate of the rank of the developer's candidate, if `order` compares two
    /// candidates. Of candidates that it does not distinguish, half come first.
    pub fn rank(&self, order: impl Fn(&Traits, &Traits) -> std::cmp::Ordering) -> Option<f64> {
        let developer = self.developer.as_ref()?;
        let ahead = self
            .sample
            .iter()
            .map(|other| match order(&other.traits, &developer.traits) {
                std::cmp::Ordering::Less => other.weight,
                std::cmp::Ordering::Equal => other.weight / 2.0,
                std::cmp::Ordering::Greater => 0.0,
            });
        Some(1.0 + ahead.sum::<f64>())
    }
}

/// Reads a file of JSON lines.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Box<dyn Error>> {
    let text = files::read(path)?;
    let lines = text.split(|byte| *byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    lines
        .map(|(number, line)| {
            let read = serde_json::from_slice(line);
            read.map_err(|error| {
                let place = format!("{}:{}", path.display(), number + 1);
                format!("{place}: {error}; measure again with `fixes --again`").into()
            })
        })
        .collect()
}

/// A small fix whose file need not compile.
#[derive(Serialize, Deserialize)]
pub struct Untyped {
    pub repository: String,
    /// Those of its text; its kind and its cost mean nothing.
    pub traits: Traits,
}

/// What every version of this program reads of a fix.
#[derive(Deserialize)]
struct Named {
    commit: String,
    developer: Option<IgnoredAny>,
}

/// Returns the commits in a file of JSON lines whose changes are in the space.
pub fn inside(path: &Path) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let all: Vec<Named> = read(path)?;
    let inside = all.into_iter().filter(|one| one.developer.is_some());
    Ok(inside.map(|one| one.commit).collect())
}
