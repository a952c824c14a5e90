//! The flags that describe the inputs of a function, for `prove` and `compare`.

use std::collections::{BTreeMap, BTreeSet};

use clap::{Args, ValueEnum};
use patchwright_prove::inputs::Wishes;

use crate::encoded::Problem;

/// Which pointers may point to the same object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum MayAlias {
    /// Only those of --alias
    None,
    /// All pointers to the same type
    #[default]
    Compatible,
}

/// Flags that describe the inputs of a function.
#[derive(Args, Clone, Debug, Default)]
pub struct InputArgs {
    /// Let a pointer lead to so many objects: p=8, *at=4, list->name=4
    ///
    /// Without it the number is that of the declaration, as in `int a[4]`. Else it is 8 for bytes, 4 for other numbers if
    /// the function reads beyond the first, and 1.
    #[arg(
        long,
        value_name = "POINTER=COUNT",
        allow_hyphen_values = true,
        help_heading = "Inputs of a function"
    )]
    pub length: Vec<String>,

    /// Let these two pointers lead to the same object, too
    #[arg(long, value_name = "A,B", help_heading = "Inputs of a function")]
    pub alias: Vec<String>,

    /// Let this pointer be null, too
    #[arg(long, value_name = "POINTER", help_heading = "Inputs of a function")]
    pub null: Vec<String>,

    /// Let this pointer lead to a text that ends with NUL [default: each `const char *`]
    #[arg(long, value_name = "POINTER", help_heading = "Inputs of a function")]
    pub text: Vec<String>,

    /// Which pointers may lead to the same object or array
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        default_value_t = MayAlias::Compatible,
        help_heading = "Inputs of a function"
    )]
    pub may_alias: MayAlias,

    /// Let lists and trees be this many structures deep
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..=8),
        help_heading = "Inputs of a function"
    )]
    pub nodes: u32,

    /// Pointers in structures may lead back, and several to one.
    #[arg(skip)]
    pub links: bool,
}

impl InputArgs {
    /// Returns the name of a flag about inputs, if one was given.
    pub fn given(&self) -> Option<&'static str> {
        let all = [
            ("--length", &self.length),
            ("--alias", &self.alias),
            ("--null", &self.null),
            ("--text", &self.text),
        ];
        all.into_iter()
            .find(|(_, values)| !values.is_empty())
            .map(|(flag, _)| flag)
    }

    /// Returns what the flags say. With `usually_null`, parameters may be null by default.
    ///
    /// # Errors
    /// Values that cannot be read.
    pub fn wishes(&self, usually_null: bool) -> Result<Wishes, Problem> {
        let mut alias = Vec::new();
        for text in &self.alias {
            let names: Vec<&str> = text.split(',').map(str::trim).collect();
            match names.as_slice() {
                [a, b] if !a.is_empty() && !b.is_empty() && a != b => {
                    alias.push(((*a).to_owned(), (*b).to_owned()));
                }
                _ => {
                    return Err(Problem::Input(format!(
                        "`--alias {text}`: write it as two pointers, as in `--alias p,q`"
                    )));
                }
            }
        }
        Ok(Wishes {
            lengths: lengths(&self.length)?,
            alias,
            null: self.null.iter().cloned().collect::<BTreeSet<String>>(),
            text: self.text.iter().cloned().collect(),
            may_alias: self.may_alias == MayAlias::Compatible,
            nodes: self.nodes,
            links: self.links,
            usually_null,
        })
    }
}

/// The values of `--length`.
fn lengths(flags: &[String]) -> Result<BTreeMap<String, u64>, Problem> {
    /// More is not encoded in any time.
    const MOST: u64 = 4096;
    let mut found = BTreeMap::new();
    for text in flags {
        let pair = text.rsplit_once('=');
        let pair = pair.and_then(|(name, count)| Some((name, count.parse::<u64>().ok()?)));
        match pair {
            Some((name, count)) if (1..=MOST).contains(&count) && !name.is_empty() => {
                found.insert(name.to_owned(), count);
            }
            _ => {
                return Err(Problem::Input(format!(
                    "`--length {text}`: write it as POINTER=COUNT, as in `--length p=8`; COUNT is 1 to {MOST}"
                )));
            }
        }
    }
    Ok(found)
}
