//! The description as it is written.

use std::fmt::Write;

use super::build::Build;

/// The driver that is written beside the description.
pub const DRIVER: &str = "patchwright-test.sh";

/// The tests of a project.
pub enum Tests {
    /// A script runs each by its name.
    Driver {
        /// The script.
        script: String,
        /// The names.
        names: Vec<String>,
        /// How they were found.
        how: String,
    },
    /// A program is run on cases.
    Cases {
        /// The program, relative to the root.
        program: String,
        /// The folder.
        folder: String,
        /// How many there are.
        count: usize,
    },
}

impl Tests {
    /// Makes tests that `script` runs by their names. Repeated, empty and unprintable names are dropped; returns `None` if no name
    /// is left. `how` says where the names come from.
    pub fn of_script(script: String, mut names: Vec<String>, how: &str) -> Option<Self> {
        let mut seen = std::collections::BTreeSet::new();
        names.retain(|name| {
            let is_plain = !name.is_empty() && !name.chars().any(char::is_control);
            is_plain && seen.insert(name.clone())
        });
        (!names.is_empty()).then(|| Tests::Driver {
            how: format!("{} of {how}", names.len()),
            script,
            names,
        })
    }

    /// Returns where the tests come from and how many there are, for a message.
    pub fn how(&self) -> String {
        match self {
            Tests::Driver { how, .. } => how.clone(),
            Tests::Cases {
                program,
                folder,
                count,
            } => format!("{count} cases in {folder}, for {program}"),
        }
    }
}

fn text(value: &str) -> String {
    toml::Value::String(value.to_owned()).to_string()
}

/// Returns the text of a `patchwright.toml` for this build and these tests.
pub fn description(build: &Build, tests: Option<&Tests>) -> String {
    let mut out = String::from("# Written by `patchwright init`.\n\n[project]\n");
    // Into a string nothing fails.
    let _ = writeln!(out, "build = {}", text(&build.build));
    if let Some(prepare) = &build.prepare {
        let _ = writeln!(out, "prepare = {}", text(prepare));
    }
    if let Some(database) = &build.compile_commands {
        let _ = writeln!(out, "compile-commands = {}", text(database));
    }
    match tests {
        None => {}
        Some(Tests::Driver { names, .. }) => {
            let _ = writeln!(
                out,
                "\n[tests]\ndriver = {}\nnames = [",
                text(&format!("./{DRIVER}"))
            );
            for name in names {
                let _ = writeln!(out, "    {},", text(name));
            }
            out.push_str("]\n");
        }
        Some(Tests::Cases {
            program, folder, ..
        }) => {
            let _ = writeln!(
                out,
                "\n[tests]\nprogram = {}\ncases = {}",
                text(program),
                text(folder)
            );
        }
    }
    out
}
