//! Writes a test for each partition: a case for `patchwright repair`, and for functions a C file.

use std::{
    ffi::OsStr,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use patchwright_exec::files;
use patchwright_prove::{For, Parts, arguments, harness, standard_input};

use super::{arguments::CompareArgs, native::Seen, replay, symbolic::Compared};
use crate::encoded::Problem;

/// Writes the tests, and the report as `manifest.json`. The number of a partition names its files.
pub fn write(compared: &mut Compared, args: &CompareArgs, folder: &Path) -> Result<(), Problem> {
    files::create_output_folder(folder).map_err(Problem::of)?;
    let report = &compared.report;
    let versions = compared.versions.iter().flat_map(|versions| {
        let told = compared.partitions.iter().zip(&report.partitions);
        told.map(move |one| (versions, one))
    });
    for (versions, (partition, told)) in versions {
        if args.minimal && !partition.kind.differs() {
            continue;
        }
        let write = |ending: &str, contents: &[u8]| {
            let path = folder.join(format!("{:04}.{ending}", told.number));
            files::write_atomic(&path, contents).map_err(Problem::of)
        };
        match &args.function {
            Some(function) => {
                for (side, name) in [(0, "old.c"), (1, "new.c")] {
                    let version = &versions.both[side];
                    let text = harness(
                        &version.sources,
                        function,
                        &version.shapes,
                        &partition.samples[side],
                        &version.source().path,
                        For::Compiler,
                        true,
                    );
                    write(name, text.map_err(Problem::of)?.as_bytes())?;
                }
            }
            None => {
                let reads = partition
                    .samples
                    .iter()
                    .map(|inputs| standard_input(inputs));
                write("in", &reads.max_by_key(Vec::len).unwrap_or_default())?;
                write("args", &joined(&arguments(&partition.samples[0]))?)?;
                // The expected output is that of the version before the change.
                if let Some(old) = &told.old.observed {
                    write("out", old.output.as_bytes())?;
                    if let Some(status) = status(&old.ending) {
                        write("code", status.as_bytes())?;
                    }
                }
                if let Some(new) = &told.new.observed {
                    write("new", new.output.as_bytes())?;
                }
            }
        }
    }
    for (number, seen) in (1..).zip(&compared.cases) {
        write_seen(folder, number, seen)?;
    }
    files::write_atomic(&folder.join("manifest.json"), report.json().as_bytes())
        .map_err(Problem::of)
}

/// Writes a C program that calls the function of NEW with each sample, and fails if the effects are not
/// those of OLD. It includes `source`, or else NEW.
pub fn c_test(
    compared: &mut Compared,
    args: &CompareArgs,
    source: Option<&str>,
    file: &Path,
) -> Result<(), Problem> {
    let (Some(versions), Some(function)) = (&mut compared.versions, &args.function) else {
        return Ok(());
    };
    let mut text = String::new();
    let mut calls = String::new();
    for (number, partition) in (1..).zip(&compared.partitions) {
        if args.minimal && !partition.kind.differs() {
            continue;
        }
        // What fails in the version before the change is not what a test asks for.
        let Some(expected) = replay::expected(versions, function, partition)? else {
            continue;
        };
        let version = &versions.both[1];
        let own = harness(
            &version.sources,
            function,
            &version.shapes,
            &partition.samples[1],
            source.unwrap_or(&version.source().path),
            For::Interpreter,
            true,
        );
        let own = own.map_err(Problem::of)?;
        let Some(parts) = Parts::of(&own) else {
            continue;
        };
        if text.is_empty() {
            text = format!(
                "/* Calls `{function}` with one input of each partition, and checks that it does what it did in {}. */\n\
                 #include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n{}",
                compared.report.old, parts.before
            );
        }
        let condition = partition.condition.join(" && ").replace("*/", "* /");
        text.push_str(&format!(
            "\n/* {condition} */\n{}",
            parts.called(&format!("test_{number}"))
        ));
        let bytes: Vec<String> = expected.iter().map(u8::to_string).collect();
        calls.push_str(&format!(
            "    {{\n        static const unsigned char expected[] = {{{}}};\n        failed += !passes({number}, test_{number}, \
             expected, sizeof expected);\n    }}\n",
            bytes.join(", ")
        ));
    }
    text.push_str(PASSES);
    text.push_str(&format!(
        "\nint main(void)\n{{\n    int failed = 0;\n{calls}    return failed != 0;\n}}\n"
    ));
    files::write_atomic(file, text.as_bytes()).map_err(Problem::of)
}

/// Executes a test with its output in a file, and compares that.
const PASSES: &str = "
static int passes(int number, int (*test)(void), const unsigned char *expected, size_t size)
{
    static unsigned char found[1 << 16];
    fflush(stdout);
    FILE *file = tmpfile();
    int saved = dup(1);
    if (!file || saved < 0)
        exit(2);
    dup2(fileno(file), 1);
    test();
    fflush(stdout);
    dup2(saved, 1);
    close(saved);
    rewind(file);
    size_t count = fread(found, 1, sizeof found, file);
    fclose(file);
    int same = count == size && !memcmp(found, expected, size);
    printf(\"%s %d\\n\", same ? \"ok\" : \"not ok\", number);
    return same;
}
";

/// Writes an input of a program as a case that expects what the first version does. The files that were written.
///
/// # Errors
/// Files that cannot be written.
pub fn case(
    folder: &Path,
    name: &str,
    (input, words): (&[u8], &[Vec<u8>]),
    (ending, output): (&str, &[u8]),
) -> Result<Vec<PathBuf>, Problem> {
    files::create_output_folder(folder).map_err(Problem::of)?;
    let mut written = Vec::new();
    let mut write = |extension: &str, contents: &[u8]| {
        let path = folder.join(format!("{name}.{extension}"));
        files::write_atomic(&path, contents).map_err(Problem::of)?;
        written.push(path);
        Ok::<(), Problem>(())
    };
    write("in", input)?;
    write("args", &joined(words)?)?;
    write("out", output)?;
    if let Some(status) = status(ending) {
        write("code", status.as_bytes())?;
    }
    Ok(written)
}

fn write_seen(folder: &Path, number: usize, seen: &Seen) -> Result<(), Problem> {
    let write = |ending: &str, contents: &[u8]| {
        let path = folder.join(format!("seen-{number}.{ending}"));
        files::write_atomic(&path, contents).map_err(Problem::of)
    };
    write("in", &seen.case.input)?;
    write("args", &joined(&seen.case.arguments)?)?;
    for (name, held) in &seen.case.files {
        let path = folder
            .join(format!("seen-{number}.files"))
            .join(Path::new(OsStr::from_bytes(name)));
        if let Some(parent) = path.parent() {
            files::create_output_folder(parent).map_err(Problem::of)?;
        }
        files::write_atomic(&path, held).map_err(Problem::of)?;
    }
    let (Some(old), Some(new)) = (seen.ran.first(), seen.ran.last()) else {
        return Ok(());
    };
    write("out", &old.output)?;
    if let Some(status) = status(&old.ending) {
        write("code", status.as_bytes())?;
    }
    write("new", &new.output)
}

/// Returns arguments in the format of a case's file.
pub fn joined(words: &[Vec<u8>]) -> Result<Vec<u8>, Problem> {
    let words: Vec<String> = words
        .iter()
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect();
    let joined = shlex::try_join(words.iter().map(String::as_str)).map_err(Problem::of)?;
    Ok(joined.into_bytes())
}

/// The status of an execution that exits, unless it is 0.
fn status(ending: &str) -> Option<&str> {
    ending.strip_prefix("exit ").filter(|status| *status != "0")
}
