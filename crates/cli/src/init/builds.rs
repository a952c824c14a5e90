//! How a project may be built, by the files in its root.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use patchwright_exec::{FileError, files};

use super::build::quoted;
use super::build::{Build, System};
use super::fuzzers;
use super::look::files_of;

/// The ways to build the project in `root`, the likeliest first. If nothing in the root says how, folders in it may.
///
/// # Errors
/// A tree that cannot be read.
pub fn guesses(root: &Path) -> Result<Vec<Build>, FileError> {
    let found = described(root)?;
    if !found.is_empty() {
        return Ok(found);
    }
    let all = files_of(root)?;
    let plain = plain(root, &all);
    let mut folders: Vec<String> = (all.iter())
        .filter(|path| path.components().count() == 2)
        .filter_map(|path| Some(path.parent()?.to_string_lossy().into_owned()))
        .filter(|folder| !folder.starts_with('.'))
        .collect();
    folders.dedup();
    // Sources first, tests last.
    let is_of_tests = |folder: &String| folder.contains("test") || folder.contains("check");
    folders.sort_by_key(|folder| (folder != "src", is_of_tests(folder)));
    let mut below = Vec::new();
    for folder in &folders {
        let ways = described(&root.join(folder))?;
        below.extend(ways.into_iter().map(|build| build.within(folder)));
    }
    below.extend(plain);
    if below.is_empty() {
        for folder in &folders {
            let inside = root.join(folder);
            let ways = self::plain(&inside, &files_of(&inside)?);
            below.extend(ways.into_iter().map(|build| build.within(folder)));
        }
    }
    Ok(below)
}

/// The ways to build that the files in a folder describe, and C files beside them.
fn described(root: &Path) -> Result<Vec<Build>, FileError> {
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
    } else if let Some(name) = SCRIPTS.iter().find(|name| has(name)) {
        found.push(Build {
            prepare: Some(format!("sh ./{name}")),
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
        let generators = ["autogen.sh", "bootstrap", "bootstrap.sh", "buildconf"];
        let generate = match generators.iter().find(|name| has(name)) {
            Some(name) => format!("NOCONFIGURE=1 sh ./{name} && sh ./configure"),
            None => "autoreconf -fi && sh ./configure".to_owned(),
        };
        found.push(Build {
            prepare: Some(generate),
            ..configure
        });
    }
    let has_sources = all.iter().any(|path| {
        path.components().count() == 1 && path.extension().is_some_and(|end| end == "c")
    });
    if has_sources || !found.is_empty() {
        found.extend(plain(root, &all));
    }
    Ok(found)
}

/// Scripts that make a Makefile.
const SCRIPTS: [&str; 4] = ["configure", "configure.sh", "Configure", "config.sh"];

/// The flags of the compiler for headers that lie in folders of their own.
fn include_flags(all: &BTreeSet<PathBuf>) -> String {
    let folders: BTreeSet<&Path> = all
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "h"))
        .filter_map(|path| path.parent())
        .filter(|folder| folder.components().count() == 1)
        .collect();
    let flag = |folder: &&Path| format!(" -I{}", quoted(&folder.to_string_lossy()));
    folders.iter().map(flag).collect()
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
                "cc -g -O1 -fsanitize=address,undefined{} -o fuzz-one {} {} -lm",
                include_flags(all),
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
                "cc -g{} -o {} {} -lm",
                include_flags(all),
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
