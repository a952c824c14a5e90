//! A patch in the report of a repair.

use std::{cmp::Ordering, path::PathBuf};

use patchwright_space::Schema;
use patchwright_text::Edit;
use serde::{Deserialize, Serialize};

/// What decides where a patch stands in a report: the likeliest comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rank {
    /// It keeps something from happening or from being seen: those come last.
    pub is_evasion: bool,
    /// Enough patches before it differ from it in a number only, or are of the same location.
    pub is_crowd: bool,
    /// How unlikely it is, in bits ([`crate::likelihood`]).
    pub bits: f64,
    /// The number of its location among all that were looked at.
    pub location: usize,
}

impl Rank {
    /// Compares the places of two patches in a report.
    pub fn order(&self, other: &Rank) -> Ordering {
        let kind = |rank: &Rank| (rank.is_evasion, rank.is_crowd);
        let by_bits = self.bits.total_cmp(&other.bits);
        kind(self).cmp(&kind(other)).then(by_bits)
    }

    /// Returns the rank of a patch that makes the changes of both.
    pub(crate) fn and(self, other: Rank) -> Rank {
        Rank {
            is_evasion: self.is_evasion || other.is_evasion,
            is_crowd: self.is_crowd || other.is_crowd,
            bits: self.bits + other.bits,
            location: self.location.min(other.location),
        }
    }
}

/// The name of a kind of change. (Written out, `serde` would borrow it from what it reads.)
type SchemaName = &'static str;

/// A plausible patch that has been verified.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Patch {
    /// The file, relative to the project's root.
    pub file: PathBuf,
    /// The line on which the changed location begins.
    pub line: u32,
    /// The function whose body is changed; empty if the change lies outside of bodies.
    pub function: String,
    /// The schema, as JSON has it: `EXPRESSION`, `two_places`.
    #[serde(deserialize_with = "schema_name")]
    pub schema: SchemaName,
    /// The name of the kind of change, of those that `patchwright kinds` lists.
    pub kind: Option<String>,
    /// Its cost.
    pub cost: u32,
    /// A unified diff that `patch -p1` and `git apply` take.
    pub diff: Vec<u8>,
    /// The same as edits of the file, sorted.
    pub edits: Vec<Edit>,
    /// The number of its test-equivalence class among the plausible ones, from 1.
    pub class: usize,
    /// Number of candidates in the class, of its cost.
    pub class_size: usize,
    /// It is the first of its class.
    pub representative: bool,
    /// The compiler makes other code of it than of every patch before it: if they are of one class, they are equal on
    /// every test, but hardly equivalent. Of one that is not the first of its class this is said only where one before it is of its class.
    pub code_differs: bool,
    /// What the compiler's sanitizers say against it: it passes the tests, but not for sure.
    pub undefined: Option<String>,
    /// With `all`: of the first candidates of the class, itself included, how many are programs of their own, by the code that the
    /// compiler makes of them. 0 where that is not known.
    pub distinct: usize,
    /// What somebody calls it who has proposed it, too ([`crate::proposer`]).
    pub proposal: Option<String>,
    /// Where it stands in a report.
    pub rank: Rank,
    /// What the compiler makes of its function, as a digest, if that is known.
    pub code: Option<String>,
}

/// The name of a kind of change, as the program has it.
fn schema_name<'de, D: serde::Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    let name = String::deserialize(from)?;
    let known = Schema::ALL.iter().map(|schema| schema.name());
    let known = known.into_iter().find(|known| *known == name);
    known.ok_or_else(|| serde::de::Error::custom(format!("no kind of change is called {name}")))
}

impl Patch {
    /// Returns the schema as reports for people write it: `TWO PLACES` for `two_places`.
    pub fn schema_in_words(&self) -> String {
        self.schema.replace('_', " ").to_uppercase()
    }
}
