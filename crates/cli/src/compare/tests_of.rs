//! A test for each partition: a case for `patchwright repair`, and a C file where a function is compared.

use std::path::Path;

use patchwright_compare::Partition;
use patchwright_exec::files;
use patchwright_prove::{For, arguments, harness, standard_input};
use patchwright_report::comparison::Comparison;

use super::{CompareArgs, read::Versions};
use crate::encoded::Problem;

/// Writes the tests and `manifest.json`, which is the report; a partition's number names its files.
pub fn write(
    versions: &mut Versions,
    args: &CompareArgs,
    folder: &Path,
    partitions: &[Partition],
    report: &Comparison,
) -> Result<(), Problem> {
    files::create_output_folder(folder).map_err(Problem::of)?;
    for (partition, told) in partitions.iter().zip(&report.partitions) {
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
                let words: Vec<String> = arguments(&partition.samples[0])
                    .into_iter()
                    .map(|word| String::from_utf8_lossy(&word).into_owned())
                    .collect();
                let joined =
                    shlex::try_join(words.iter().map(String::as_str)).map_err(Problem::of)?;
                write("args", joined.as_bytes())?;
                // The expected output is that of the version before the change.
                if let Some(old) = &told.old.observed {
                    write("out", old.output.as_bytes())?;
                }
                if let Some(new) = &told.new.observed {
                    write("new", new.output.as_bytes())?;
                }
            }
        }
    }
    files::write_atomic(&folder.join("manifest.json"), report.json().as_bytes())
        .map_err(Problem::of)
}
