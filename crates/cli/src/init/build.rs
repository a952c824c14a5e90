//! A way to build a project, and how its commands are written.

use std::ffi::OsStr;

/// A way to build a project.
#[derive(Clone, Debug, Default)]
pub struct Build {
    /// What it is, for people.
    pub how: String,
    /// The system.
    pub system: System,
    /// Run once in a copy before.
    pub prepare: Option<String>,
    /// The command.
    pub build: String,
    /// The folder that has the Makefile or other description, if that is not the root.
    pub at: Option<String>,
    /// The folder in which it is built, where that is one of its own, relative to the root.
    pub folder: Option<String>,
    /// The compile database.
    pub compile_commands: Option<String>,
    /// Files that it needs and that are not there.
    pub files: Vec<(String, String)>,
}

/// The system that builds a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum System {
    /// A command of the user's.
    #[default]
    Given,
    /// CMake.
    Cmake,
    /// Meson.
    Meson,
    /// `configure` and make.
    Configure,
    /// Make.
    Make,
    /// The compiler.
    Compiler,
}

impl Build {
    /// Makes a [`Build`] of the user's own commands: `--build` and `--prepare`.
    pub fn given(build: &OsStr, prepare: Option<&OsStr>) -> Self {
        Build {
            how: "built by the command that was given".to_owned(),
            build: build.to_string_lossy().into_owned(),
            prepare: prepare.map(|prepare| prepare.to_string_lossy().into_owned()),
            ..Build::default()
        }
    }

    /// The call of make that reads the project's Makefile.
    pub fn make(&self) -> String {
        match &self.at {
            Some(at) => format!("make -C {}", quoted(at)),
            None => "make".to_owned(),
        }
    }

    /// Builds these targets of make, too.
    pub fn add_targets(&mut self, targets: &[String]) {
        let make = self.make();
        // A target in another folder needs a call of its own.
        let (elsewhere, here): (Vec<&String>, Vec<&String>) =
            targets.iter().partition(|target| target.starts_with("-C "));
        let here: Vec<&str> = here.iter().map(|target| &target[..]).collect();
        if !here.is_empty() {
            self.build += &format!(" && {make} {}", here.join(" "));
        }
        for target in elsewhere {
            self.build += &format!(" && {make} {target}");
        }
    }

    /// Returns this build for a folder below the root.
    pub fn within(self, at: &str) -> Build {
        let inside = |command: String| match self.system {
            System::Make | System::Configure if command == "make" => {
                format!("make -C {}", quoted(at))
            }
            _ => format!("cd {} && {command}", quoted(at)),
        };
        let below = |path: String| format!("{at}/{path}");
        Build {
            how: format!("{} in {at}", self.how),
            prepare: self.prepare.map(inside),
            build: inside(self.build),
            at: Some(at.to_owned()),
            folder: self.folder.map(below),
            compile_commands: self.compile_commands.map(below),
            files: (self.files.into_iter())
                .map(|(name, text)| (below(name), text))
                .collect(),
            system: self.system,
        }
    }
}

/// Returns `text` quoted as one word of the shell. The result is empty for a text with a NUL byte.
pub fn quoted(text: &str) -> String {
    shlex::try_quote(text).map_or_else(|_| String::new(), std::borrow::Cow::into_owned)
}
