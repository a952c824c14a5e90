//! Inputs that fuzzers have kept: each is a test, which passes if nothing crashes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::build::quoted;
use super::build::{Build, System};
use super::look::Look;
use super::written::Tests;

/// The name of the C file that `init` writes beside a fuzzer's harness. Its `main` gives the harness one input file.
pub const MAIN: &str = "patchwright-fuzz-main.c";

/// Returns the C text of the file [`MAIN`].
pub fn main_text() -> String {
    "/* Written by `patchwright init`: gives the file that is named to the harness. */\n\
     #include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n\
     int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);\n\n\
     int main(int argc, char **argv) {\n\
     \x20 FILE *file = argc > 1 ? fopen(argv[1], \"rb\") : stdin;\n\
     \x20 if (!file) return 2;\n\
     \x20 size_t size = 0, room = 4096;\n\
     \x20 uint8_t *data = malloc(room);\n\
     \x20 for (size_t got; data && (got = fread(data + size, 1, room - size, file)) > 0;) {\n\
     \x20   size += got;\n\
     \x20   if (size == room) data = realloc(data, room *= 2);\n\
     \x20 }\n\
     \x20 if (!data) return 2;\n\
     \x20 /* So that reads behind the end are seen. */\n\
     \x20 uint8_t *exact = malloc(size ? size : 1);\n\
     \x20 if (!exact) return 2;\n\
     \x20 for (size_t i = 0; i < size; i++) exact[i] = data[i];\n\
     \x20 LLVMFuzzerTestOneInput(exact, size);\n\
     \x20 free(exact);\n\x20 free(data);\n\x20 return 0;\n}\n"
        .to_owned()
}

/// Whether a C file is a harness of libFuzzer.
pub fn is_harness(text: &str) -> bool {
    text.contains("LLVMFuzzerTestOneInput")
}

/// Whether a file is an input that a fuzzer has kept because of what it does, by its name.
fn is_crash(path: &Path) -> bool {
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let kept = ["crash-", "leak-", "timeout-", "oom-", "slow-unit-"];
    let of_libfuzzer = kept.iter().any(|word| name.starts_with(word)) && path.extension().is_none();
    let folder = path.parent().and_then(Path::file_name);
    let of_afl = folder.is_some_and(|folder| folder == "crashes" || folder == "hangs");
    of_libfuzzer || of_afl && name != "README.txt"
}

/// Whether a file is an input of which a fuzzer knows nothing bad.
fn is_good(path: &Path) -> bool {
    let folder = path.parent().and_then(Path::file_name);
    ["corpus", "seeds", "queue", "seed_corpus"]
        .iter()
        .any(|name| folder.is_some_and(|folder| folder == *name))
}

/// The largest number of good inputs that are taken.
const MOST_GOOD: usize = 50;

/// What a harness is compiled with.
const SANITIZERS: &str = "-g -fsanitize=address,undefined";

/// Has the build make a program of the only harness in the tree with the static libraries that it makes, all with sanitizers where the
/// Makefile minds `CFLAGS`. Returns the program.
fn harness(look: &mut Look<'_>, build: &mut Build) -> Option<PathBuf> {
    let is_source = |path: &&PathBuf| path.extension().is_some_and(|end| end == "c");
    let sources: Vec<PathBuf> = look.sources.iter().filter(is_source).cloned().collect();
    let mut found = sources
        .iter()
        .filter(|path| is_harness(&look.text(path)) && !path.ends_with(MAIN));
    let (Some(source), None) = (found.next(), found.next()) else {
        return None;
    };
    let is_library = |path: &&PathBuf| path.extension().is_some_and(|end| end == "a");
    let libraries = look.files.iter().filter(is_library);
    let libraries: Vec<String> = libraries
        .map(|path| quoted(&path.to_string_lossy()))
        .collect();
    if libraries.is_empty() {
        return None;
    }
    let is_header = |path: &&PathBuf| path.extension().is_some_and(|end| end == "h");
    let folders = look.sources.iter().filter(is_header).map(|path| {
        let folder = path.parent().unwrap_or(Path::new(""));
        format!("-I{} ", quoted(&format!("./{}", folder.display())))
    });
    let folders: BTreeSet<String> = folders.collect();
    let folders: String = folders.into_iter().collect();
    let compile = format!(
        "cc {SANITIZERS} {folders}-o {PROGRAM} {} {MAIN} {}",
        quoted(&source.to_string_lossy()),
        libraries.join(" ")
    );
    let mut ways = vec![build.build.clone()];
    if build.system == System::Make {
        let make = build.make();
        let with = build
            .build
            .replacen(&make, &format!("{make} CFLAGS='{SANITIZERS}'"), 1);
        ways.insert(0, with);
    }
    for way in ways {
        let mut extended = build.clone();
        extended.build = format!("{way} && {compile}");
        extended.files.push((MAIN.to_owned(), main_text()));
        if look.refresh(&extended) {
            extended.how += &format!(", with a program of {}", source.display());
            *build = extended;
            return Some(PathBuf::from(PROGRAM));
        }
    }
    None
}

/// The program that is made of a harness.
const PROGRAM: &str = "patchwright-fuzz";

/// Makes a test of each crashing input of a fuzzer in the tree, and of up to 50 good inputs. What could not be found out is added
/// to `open`. Returns `None` without crashing inputs.
pub fn crash_inputs(
    look: &mut Look<'_>,
    build: &mut Build,
    open: &mut Vec<String>,
) -> Option<Tests> {
    let crashes: Vec<PathBuf> = look
        .sources
        .iter()
        .filter(|path| is_crash(path))
        .cloned()
        .collect();
    if crashes.is_empty() {
        return None;
    }
    let good = look.sources.iter().filter(|path| is_good(path));
    let good: Vec<PathBuf> = good.take(MOST_GOOD).cloned().collect();
    let programs = look.programs();
    let is_fuzzer = |path: &&PathBuf| path.to_string_lossy().contains("fuzz");
    let program = programs.iter().find(is_fuzzer).cloned();
    let program = program.or_else(|| harness(look, build));
    let Some(program) = program.or_else(|| match &programs[..] {
        [only] => Some(only.clone()),
        _ => None,
    }) else {
        let which = match programs.len() {
            0 => "a program that reads".to_owned(),
            several => format!("which of {several} programs reads"),
        };
        open.push(format!(
            "{which} the {} inputs of a fuzzer; let the build make its harness with sanitizers",
            crashes.len()
        ));
        return None;
    };
    let run = quoted(&format!("./{}", program.display()));
    // By its argument or on standard input: by what crashes.
    let count = |look: &mut Look<'_>, way: &str| {
        let few = crashes.iter().take(5);
        few.filter(|path| {
            let path = quoted(&path.to_string_lossy());
            look.ask(&format!("{run} {way}{path}")).crashes
        })
        .count()
    };
    let by_argument = count(look, "");
    let by_input = match by_argument {
        0 => count(look, "<"),
        _ => 0,
    };
    if by_argument + by_input == 0 {
        let hint = match build.system {
            System::Compiler => "",
            _ => "; build with -fsanitize=address,undefined so that more is seen",
        };
        open.push(format!("an input that crashes {}{hint}", program.display()));
    }
    let way = if by_input > 0 { "<" } else { "" };
    let names: Vec<String> = crashes
        .iter()
        .chain(&good)
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let script = format!(
        "#!/bin/sh\n# Gives one input of a fuzzer to the program; it passes if nothing crashes.\n\
         out=$({run} {way}\"$1\" 2>&1)\nstatus=$?\nprintf '%s\\n' \"$out\"\n\
         [ $status -lt 128 ] && ! printf '%s\\n' \"$out\" | grep -Eq 'Sanitizer|runtime error: '\n"
    );
    Tests::of_script(script, names, "inputs of a fuzzer")
}
