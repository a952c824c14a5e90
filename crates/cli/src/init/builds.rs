//! How a project may be built, by the files in its root.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use patchwright_exec::{FileError, files};

use super::fuzzers;
use super::look::{files_of, quoted};

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
    /// The folder in which it is built, where that is one of its own.
    pub folder: Option<String>,
    /// The compile database.
    pub compile_commands: Option<String>,
    /// Files that it needs and that are not there.
    pub files: Vec<(String, String)>,
}

/// What builds a project.
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
}

/// The ways to build the project in `root`, the likeliest first.
///
/// # Errors
/// A tree that cannot be read.
pub fn guesses(root: &Path) -> Result<Vec<Build>, FileError> {
    let all = files_of(root)?;
    let has = |name: &str| all.contains(Path::new(name));
    let mut found = Vec::new();
    // A folder of that name may hold sources.
    let folder = ["build", "build-patchwright", "build-of-patchwright"];
    let folder = folder.iter().find(|name| !root.join(name).exists());
    let folder = folder.unwrap_or(&"build-for-patchwright");
    if has("CMakeLists.txt") {
        found.push(Build {
            how: "built by CMake".to_owned(),
            system: System::Cmake,
            build: format!(
                "cmake -S . -B {folder} -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_BUILD_TYPE=Debug -DBUILD_TESTING=ON && cmake --build {folder}"
            ),
            folder: Some((*folder).to_owned()),
            compile_commands: Some(format!("{folder}/compile_commands.json")),
            ..Build::default()
        });
    }
    if has("meson.build") {
        found.push(Build {
            how: "built by Meson".to_owned(),
            system: System::Meson,
            build: format!(
                "{{ test -f {folder}/build.ninja || meson setup {folder}; }} && ninja -C {folder}"
            ),
            folder: Some((*folder).to_owned()),
            compile_commands: Some(format!("{folder}/compile_commands.json")),
            ..Build::default()
        });
    }
    let makefile = ["GNUmakefile", "makefile", "Makefile"]
        .iter()
        .any(|name| has(name));
    let is_configured = makefile && has("config.status");
    let configure = Build {
        how: "configured and built by make".to_owned(),
        system: System::Configure,
        build: "make".to_owned(),
        ..Build::default()
    };
    if is_configured {
        found.push(configure.clone());
    } else if has("configure") {
        found.push(Build {
            prepare: Some("sh ./configure".to_owned()),
            ..configure.clone()
        });
    }
    if makefile && !is_configured {
        found.push(Build {
            how: "built by make".to_owned(),
            system: System::Make,
            build: "make".to_owned(),
            ..Build::default()
        });
    }
    if !is_configured && (has("configure.ac") || has("configure.in")) {
        let generate = match has("autogen.sh") {
            true => "NOCONFIGURE=1 sh ./autogen.sh && sh ./configure",
            false => "autoreconf -fi && sh ./configure",
        };
        found.push(Build {
            prepare: Some(generate.to_owned()),
            ..configure
        });
    }
    found.extend(plain(root, &all));
    Ok(found)
}

/// C files that the compiler makes a program of.
fn plain(root: &Path, all: &BTreeSet<PathBuf>) -> Vec<Build> {
    let is_c = |path: &&PathBuf| path.extension().is_some_and(|end| end == "c");
    let in_root: Vec<&PathBuf> = all
        .iter()
        .filter(is_c)
        .filter(|path| path.components().count() == 1)
        .collect();
    let sources: Vec<&PathBuf> = match in_root.is_empty() {
        false => in_root,
        true => all
            .iter()
            .filter(is_c)
            .filter(|path| path.starts_with("src"))
            .collect(),
    };
    let text = |path: &Path| {
        let text = files::read(&root.join(path)).unwrap_or_default();
        String::from_utf8_lossy(&text).into_owned()
    };
    if sources.is_empty() {
        return Vec::new();
    }
    let has_fuzzer = sources.iter().any(|path| fuzzers::is_harness(&text(path)));
    let with_main: Vec<&&PathBuf> = sources
        .iter()
        .filter(|path| has_main(&text(path)))
        .collect();
    let list = |sources: &[&PathBuf]| {
        let names = sources.iter().map(|path| quoted(&path.to_string_lossy()));
        names.collect::<Vec<String>>().join(" ")
    };
    if has_fuzzer {
        let without: Vec<&PathBuf> = sources
            .iter()
            .filter(|path| !with_main.contains(path))
            .copied()
            .collect();
        return vec![Build {
            how: "compiled with sanitizers, as a program that runs one input of a fuzzer"
                .to_owned(),
            system: System::Compiler,
            build: format!(
                "cc -g -O1 -fsanitize=address,undefined -o fuzz-one {} {} -lm",
                fuzzers::MAIN,
                list(&without)
            ),
            files: vec![(fuzzers::MAIN.to_owned(), fuzzers::main_text())],
            ..Build::default()
        }];
    }
    let shared: Vec<&PathBuf> = sources
        .iter()
        .filter(|path| !with_main.contains(path))
        .copied()
        .collect();
    // A program for each `main`, with the files that have none.
    let commands: Vec<String> = with_main
        .iter()
        .map(|main| {
            let program = main.with_extension("");
            let sources: Vec<&PathBuf> = std::iter::once(**main)
                .chain(shared.iter().copied())
                .collect();
            format!(
                "cc -g -o {} {} -lm",
                quoted(&program.to_string_lossy()),
                list(&sources)
            )
        })
        .collect();
    match commands.is_empty() {
        true => Vec::new(),
        false => vec![Build {
            how: "compiled by one call of the compiler for each program".to_owned(),
            system: System::Compiler,
            build: commands.join(" && "),
            ..Build::default()
        }],
    }
}

/// Whether a C file defines `main`, by its words.
fn has_main(text: &str) -> bool {
    text.match_indices("main").any(|(at, word)| {
        let before = text[..at].chars().next_back();
        let behind = text[at + word.len()..].trim_start();
        let is_word = before.is_none_or(|c| c.is_whitespace() || c == '*');
        // A call ends with a semicolon, a definition has a body.
        let body = behind.find('{').unwrap_or(usize::MAX);
        let end = behind.find(';').unwrap_or(usize::MAX);
        is_word && behind.starts_with('(') && body < end
    })
}

#[cfg(test)]
mod tests {
    use super::has_main;

    #[test]
    fn a_definition_of_main_is_told_from_a_call_and_from_longer_words() {
        assert!(has_main("int main(int argc, char **argv) {\n}"));
        assert!(has_main("int\nmain (void)\n{}"));
        assert!(!has_main("int domain(void) { return 0; }"));
        assert!(!has_main("void f(void) { main(0); }"));
    }
}
