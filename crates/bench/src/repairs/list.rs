//! Reads lists of projects to measure.

use std::{
    error::Error,
    path::{Path, PathBuf},
};

use patchwright_exec::files;
use serde::Deserialize;

/// A list as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Written {
    /// The folder of the projects, from the list's own.
    root: Option<PathBuf>,
    /// The developer's fix, from each project's folder.
    fix: PathBuf,
    project: Vec<Listed>,
}

/// A project in a list, as written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Listed {
    /// Its name, which is also that of its folder.
    pub name: String,
    /// What the bug is.
    pub about: String,
    /// Why the developer's fix, or one with its effect, is no candidate.
    pub not_in_space: Option<String>,
    /// Patches that have the developer's effect although neither text nor object code shows it.
    #[serde(default)]
    pub same_effect: Vec<SameEffect>,
}

/// A patch that a person has marked as having the developer's effect.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SameEffect {
    /// A line that the patch adds, blanks aside.
    pub adds: String,
    /// A line that it removes.
    pub removes: String,
    /// Why it has the same effect.
    pub why: String,
}

/// Flags that choose projects from lists.
#[derive(clap::Args)]
pub struct Lists {
    /// Lists of projects
    #[arg(value_name = "LIST")]
    lists: Vec<PathBuf>,
    /// The folder of the projects, instead of the one that the list names
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,
    /// Only these projects
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    only: Vec<String>,
}

impl Lists {
    /// Measures each project that is chosen. The result is false if one could not be measured, which is said.
    pub fn each(
        &self,
        mut measure: impl FnMut(&Entry) -> Result<(), Box<dyn Error>>,
    ) -> Result<bool, Box<dyn Error>> {
        let mut all_measured = true;
        for list in &self.lists {
            for entry in read(list, self.root.as_deref())? {
                let name = &entry.listed.name;
                if !self.only.is_empty() && !self.only.contains(name) {
                    continue;
                }
                eprintln!("{name}");
                if let Err(error) = measure(&entry) {
                    eprintln!("  {name} could not be measured: {error}");
                    all_measured = false;
                }
            }
        }
        Ok(all_measured)
    }
}

/// A project of a list with its folder.
pub struct Entry {
    /// As it is listed.
    pub listed: Listed,
    /// Its folder.
    pub folder: PathBuf,
    /// The developer's fix.
    pub fix: PathBuf,
}

/// Returns the projects of a list, in order.
pub fn read(list: &Path, root: Option<&Path>) -> Result<Vec<Entry>, Box<dyn Error>> {
    let text = files::read(list)?;
    let text = String::from_utf8(text).map_err(|_| format!("{}: no UTF-8", list.display()))?;
    let written: Written =
        toml::from_str(&text).map_err(|error| format!("{}: {error}", list.display()))?;
    let own = list.parent().unwrap_or(Path::new("."));
    let root = match (root, &written.root) {
        (Some(root), _) => root.to_path_buf(),
        (None, Some(root)) => own.join(root),
        (None, None) => {
            return Err(format!(
                "{} does not say where its projects are: fetch them, and name their folder with --root",
                list.display()
            )
            .into());
        }
    };
    Ok(written
        .project
        .into_iter()
        .map(|listed| {
            let folder = root.join(&listed.name);
            Entry {
                fix: folder.join(&written.fix),
                folder,
                listed,
            }
        })
        .collect())
}
