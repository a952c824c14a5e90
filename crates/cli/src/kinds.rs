//! `patchwright kinds`: the kinds of change that are data, and those of users' files.

use std::path::{Path, PathBuf};

use clap::Args;
use patchwright_exec::files;
use patchwright_kinds::{Kind, joined, read};
use patchwright_report::kinds::{ExampleOfKind, KindOfChange, Kinds, SCHEMA_VERSION};

use crate::Exit;

/// Where a project has kinds of its own.
const FOLDER: &str = ".patchwright/kinds";

/// Flags of `patchwright kinds`.
#[derive(Args, Debug)]
pub struct KindsArgs {
    /// Show only this kind, with its pattern and its example
    #[arg(value_name = "NAME")]
    pub name: Option<String>,

    /// Read the kinds of this file, too; a kind with a known name replaces the known one
    #[arg(long, value_name = "FILE", help_heading = "Kinds")]
    pub kinds: Vec<PathBuf>,

    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

/// Runs `patchwright kinds`: lists the kinds of change, prints one, or tries kinds on a file. Returns the exit status.
pub fn run(args: &KindsArgs) -> Exit {
    match try_run(args) {
        Ok(()) => Exit::Found,
        Err(message) => {
            eprintln!("patchwright: error: {message}");
            Exit::BadInput
        }
    }
}

fn try_run(args: &KindsArgs) -> Result<(), String> {
    let mut kinds = list(&args.kinds, Some(Path::new(".")))?;
    if let Some(name) = &args.name {
        kinds.retain(|kind| kind.name() == name);
        let Some(kind) = kinds.first() else {
            return Err(format!(
                "there is no kind of change `{name}`; `patchwright kinds` lists them"
            ));
        };
        if !args.json {
            println!("{}", kind.text());
            return Ok(());
        }
    }
    let kinds = Kinds {
        schema: "patchwright-kinds",
        schema_version: SCHEMA_VERSION,
        kinds: kinds.iter().map(shown).collect(),
    };
    match args.json {
        true => match serde_json::to_string_pretty(&kinds) {
            Ok(text) => println!("{text}"),
            Err(error) => return Err(error.to_string()),
        },
        false => print!("{}", kinds.text()),
    }
    Ok(())
}

fn shown(kind: &Kind) -> KindOfChange {
    let examples = kind.examples().iter().map(|example| ExampleOfKind {
        before: example.before.clone(),
        after: example.after.clone(),
    });
    KindOfChange {
        name: kind.name().to_owned(),
        of: kind.schema().to_owned(),
        cost: kind.cost(),
        about: kind.about().to_owned(),
        text: kind.text().to_owned(),
        examples: examples.collect(),
    }
}

/// The kinds of this program, with those of a project's folder and of the files that are named.
///
/// # Errors
/// If a file cannot be read, or is no list of kinds.
pub(crate) fn list(named: &[PathBuf], project: Option<&Path>) -> Result<Vec<Kind>, String> {
    let mut own: Vec<PathBuf> = Vec::new();
    if let Some(folder) = project.map(|project| project.join(FOLDER)) {
        own.extend(in_folder(&folder)?);
    }
    own.extend(named.iter().cloned());
    let mut kinds = patchwright_kinds::built_in().to_vec();
    for path in own {
        let shown = path.display().to_string();
        let bytes = files::read(&path).map_err(|error| error.to_string())?;
        let text = String::from_utf8(bytes)
            .map_err(|_| format!("{shown}: this is no text in UTF-8; a list of kinds is one"))?;
        let more = read(&text, &shown).map_err(|error| error.to_string())?;
        kinds = joined(kinds, more);
    }
    Ok(kinds)
}

/// The lists of kinds in a folder, by name; none if there is no such folder.
fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, String> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = folder
        .read_dir()
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut found = Vec::new();
    for entry in entries {
        let path = entry
            .map_err(|error| format!("{}: {error}", folder.display()))?
            .path();
        if path.extension().is_some_and(|ext| ext == "kinds") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
