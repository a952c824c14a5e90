//! `--shard`: one of several parts of a run, each on a machine of its own.

use std::path::PathBuf;

use clap::Args;
use patchwright_exec::{FileError, Project, Shard, files, shard};
use patchwright_validate::{
    PatchSet, ValidateOptions, Validation,
    shard::{PartResult, key, options_of_part, part as part_of_set},
};

/// Which part of a run is done.
#[derive(Args, Clone, Debug, Default)]
pub struct ShardArgs {
    /// Do only part K of N of the work, and write the result to a file for `patchwright merge`
    #[arg(long, value_name = "K/N", help_heading = "Several machines")]
    pub shard: Option<Shard>,

    /// Write the result of the part to this file [default: patchwright-K-of-N.json]
    #[arg(
        long,
        value_name = "FILE",
        requires = "shard",
        help_heading = "Several machines"
    )]
    pub shard_result: Option<PathBuf>,
}

/// The file of a part, which is there from the beginning.
#[derive(Clone, Debug)]
pub struct PartFile {
    /// Which part.
    pub shard: Shard,
    file: PathBuf,
}

impl PartFile {
    /// Makes the file, if a part is asked for: now, not after the work.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn begin(args: &ShardArgs) -> Result<Option<Self>, FileError> {
        let Some(shard) = args.shard else {
            return Ok(None);
        };
        let usual = || format!("patchwright-{}-of-{}.json", shard.number, shard.of).into();
        let file = args.shard_result.clone().unwrap_or_else(usual);
        files::write_atomic(&file, b"")?;
        Ok(Some(PartFile { shard, file }))
    }

    /// Writes what was found out.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write<T: serde::Serialize>(
        &self,
        (schema, schema_version): (&str, u32),
        key: String,
        interrupted: bool,
        found: T,
    ) -> Result<(), FileError> {
        let part = shard::Part {
            schema: schema.to_owned(),
            schema_version,
            key,
            shard: self.shard,
            interrupted,
            command: own_command(),
            found,
        };
        files::write_atomic(&self.file, part.to_json().as_bytes())
    }
}

/// The words of the command that runs, with the program by its name alone.
fn own_command() -> Vec<String> {
    let words = std::env::args_os().skip(1);
    let words = words.map(|word| word.to_string_lossy().into_owned());
    std::iter::once("patchwright".to_owned())
        .chain(words)
        .collect()
}

/// A part that is validated.
pub struct Part {
    file: PartFile,
    key: String,
    total: usize,
    numbers: Vec<usize>,
}

/// Leaves those patches of a set that belong to the part, if one is asked for.
///
/// # Errors
/// A project that cannot be read, or a file that cannot be written.
pub fn part(
    args: &ShardArgs,
    project: &Project,
    set: &mut PatchSet,
    options: &mut ValidateOptions,
) -> Result<Option<Part>, FileError> {
    let Some(file) = PartFile::begin(args)? else {
        return Ok(None);
    };
    options_of_part(options);
    let (own, numbers) = part_of_set(set, file.shard);
    let part = Part {
        file,
        key: key(project, set, options)?,
        total: set.entries.len(),
        numbers,
    };
    *set = own;
    Ok(Some(part))
}

impl Part {
    /// Writes the result of the part to its file, for `patchwright merge`.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, outcome: &Validation) -> Result<(), FileError> {
        let mut result = PartResult::new(
            self.key.clone(),
            self.file.shard,
            self.total,
            &self.numbers,
            outcome,
        );
        result.command = own_command();
        files::write_atomic(&self.file.file, result.to_json().as_bytes())
    }
}
