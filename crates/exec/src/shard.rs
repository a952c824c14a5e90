//! Parts of one piece of work, done on machines that know nothing of each other, and their results.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

/// One of several parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// Which, from 1.
    pub number: usize,
    /// Of how many.
    pub of: usize,
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/');
        let numbers = parts.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if 1 <= number && number <= of => Ok(Shard { number, of }),
            _ => Err(format!(
                "`{text}` is no part; write K/N with K from 1 to N, such as 3/64"
            )),
        }
    }
}

impl Shard {
    /// Whether this part has the `index`-th of the things that are divided, from 0.
    pub fn has(self, index: usize) -> bool {
        index % self.of == self.number - 1
    }

    /// Whether this part has what is called so, where things have no number that is the same for all parts.
    pub fn has_named(self, name: &str) -> bool {
        // FNV-1a: the same on every machine.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        // Its low bits are the least mixed.
        let hash = hash ^ (hash >> 32);
        hash % self.of as u64 == self.number as u64 - 1
    }
}

/// What a part has found out, as it is kept in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part<T> {
    /// The name of the schema.
    pub schema: String,
    /// Its version.
    pub schema_version: u32,
    /// What all parts of one run have in common: the input and the flags.
    pub key: String,
    /// Which part it is.
    pub shard: Shard,
    /// It was ended before its end.
    pub interrupted: bool,
    /// The command that made it, by its words.
    #[serde(default)]
    pub command: Vec<String>,
    /// What it has found out.
    pub found: T,
}

/// Returns the command that makes another part, for a shell. `command` has the words of the one that made the part `made`. A file of
/// results whose name does not say which part it has is left out: the other part would overwrite it.
pub fn command_of_part(command: &[String], made: Shard, wanted: Shard) -> String {
    let named = |shard: Shard| format!("{}-of-{}", shard.number, shard.of);
    let is_for_one = |file: &str| !file.contains(&named(made));
    let mut words = Vec::new();
    let mut rest = command.iter().peekable();
    while let Some(word) = rest.next() {
        let result = word.strip_prefix("--shard-result");
        match (&word[..], rest.peek()) {
            ("--shard", Some(_)) => {
                rest.next();
                words.extend([word.clone(), wanted.to_string()]);
            }
            ("--shard-result", Some(file)) if is_for_one(file) => drop(rest.next()),
            _ if word.starts_with("--shard=") => words.push(format!("--shard={wanted}")),
            _ if result.is_some_and(|file| file.starts_with('=') && is_for_one(file)) => {}
            // Mostly the name of the file that the part writes.
            _ => words.push(word.replace(&named(made), &named(wanted))),
        }
    }
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

impl<T: Serialize> Part<T> {
    /// Returns the part as the text of its file.
    pub fn to_json(&self) -> String {
        // Strings and numbers only: this cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl<T: DeserializeOwned> Part<T> {
    /// Reads the text of such a file.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn from_json(text: &[u8], schema: &str, version: u32) -> Result<Self, String> {
        let read: Part<T> = serde_json::from_slice(text)
            .map_err(|error| format!("it is no result of --shard: {error}"))?;
        if (&read.schema[..], read.schema_version) != (schema, version) {
            return Err(format!(
                "it is a {} of version {}, and {schema} of version {version} is read",
                read.schema, read.schema_version
            ));
        }
        Ok(read)
    }
}

/// Why parts cannot be put together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GatherError {
    /// There is none.
    #[error("there is nothing to merge; name the files that --shard has written")]
    Nothing,
    /// They are of different runs.
    #[error("part {first} and part {second} are of different runs: the input or the flags differ")]
    Different {
        /// A part.
        first: Shard,
        /// Another one.
        second: Shard,
    },
}

/// The parts of a run, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered<T> {
    /// What the parts have found out, by their numbers.
    pub parts: Vec<T>,
    /// The parts that are missing, or were interrupted.
    pub missing: Vec<Shard>,
    /// How many results were of a part that had one.
    pub repeated: usize,
}

/// Leaves each part once: of those that were run several times one that went to its end, if there is one.
///
/// # Errors
/// See [`GatherError`].
pub fn gather<T>(parts: Vec<Part<T>>) -> Result<Gathered<T>, GatherError> {
    let first = parts.first().ok_or(GatherError::Nothing)?;
    let (key, first) = (first.key.clone(), first.shard);
    let mut chosen: BTreeMap<usize, Part<T>> = BTreeMap::new();
    let mut repeated = 0;
    for part in parts {
        if (&part.key, part.shard.of) != (&key, first.of) {
            return Err(GatherError::Different {
                first,
                second: part.shard,
            });
        }
        let number = part.shard.number;
        match chosen.get(&number) {
            Some(known) => {
                repeated += 1;
                if known.interrupted && !part.interrupted {
                    chosen.insert(number, part);
                }
            }
            None => drop(chosen.insert(number, part)),
        }
    }
    let of = first.of;
    let is_complete = |number: &usize| chosen.get(number).is_some_and(|part| !part.interrupted);
    let missing = (1..=of)
        .filter(|number| !is_complete(number))
        .map(|number| Shard { number, of })
        .collect();
    Ok(Gathered {
        parts: chosen.into_values().map(|part| part.found).collect(),
        missing,
        repeated,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_belongs_to_one_part() {
        for of in [1, 2, 7] {
            for index in 0..20 {
                let parts = (1..=of).filter(|&number| Shard { number, of }.has(index));
                assert_eq!(parts.count(), 1);
                let name = format!("a.c:{index}");
                let parts = (1..=of).filter(|&number| Shard { number, of }.has_named(&name));
                assert_eq!(parts.count(), 1);
            }
        }
        assert_eq!("3/64".parse(), Ok(Shard { number: 3, of: 64 }));
        for wrong in ["0/4", "5/4", "3", "a/b", "/"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_command_of_another_part_differs_in_its_number_and_file() {
        let [made, wanted] = [1, 3].map(|number| Shard { number, of: 4 });
        let of = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            command_of_part(&words, made, wanted)
        };
        assert_eq!(
            of("patchwright validate p set --shard 1/4 --shard-result out/1-of-4.json"),
            "patchwright validate p set --shard 3/4 --shard-result out/3-of-4.json"
        );
        for result in ["--shard-result one.json", "--shard-result=one.json"] {
            assert_eq!(
                of(&format!(
                    "patchwright prove a.c --shard 1/4 {result} --json"
                )),
                "patchwright prove a.c --shard 3/4 --json"
            );
        }
        assert_eq!(
            of("patchwright repair --shard=1/4"),
            "patchwright repair '--shard=3/4'"
        );
    }

    #[test]
    fn names_are_spread_over_the_parts() {
        let names: Vec<String> = (0..800).map(|line| format!("main.c:{line}")).collect();
        for of in [2, 7, 64] {
            for number in 1..=of {
                let shard = Shard { number, of };
                let own = names.iter().filter(|name| shard.has_named(name)).count();
                assert!(own * of > 200 && own * of < 2400, "{shard} has {own}");
            }
        }
    }

    #[test]
    fn a_part_that_went_to_its_end_replaces_one_that_did_not() {
        let part = |number, interrupted, found| Part {
            schema: String::new(),
            schema_version: 1,
            key: "k".to_owned(),
            shard: Shard { number, of: 3 },
            interrupted,
            command: Vec::new(),
            found,
        };
        let parts = vec![
            part(2, false, "b"),
            part(1, true, "half of a"),
            part(1, false, "a"),
            part(2, true, "half of b"),
        ];
        let gathered = gather(parts).unwrap();
        assert_eq!(gathered.parts, ["a", "b"]);
        assert_eq!(gathered.missing, [Shard { number: 3, of: 3 }]);
        assert_eq!(gathered.repeated, 2);
        let other = Part {
            key: "other".to_owned(),
            ..part(2, false, "b")
        };
        assert!(gather(vec![part(1, false, "a"), other]).is_err());
    }
}
