//! Reads `patchwright.toml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::error::{Place, ProjectError};
use crate::{duration::Written, files};

/// A description as it was written, with what is needed to find the line of a value.
#[derive(Debug, Default)]
pub(super) struct Config {
    path: PathBuf,
    text: String,
    pub(super) file: ConfigFile,
}

// The comments below are also the table of keys in docs/reference/project.md and the descriptions of the JSON schema beside
// it; `PATCHWRIGHT_BLESS=1 cargo test -p patchwright-tidy project` renews both.

/// The whole file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct ConfigFile {
    /// How the program is built.
    pub(super) project: ProjectTable,
    /// How the program is tested.
    pub(super) tests: TestsTable,
    /// What a test or a build may use.
    pub(super) limits: LimitsTable,
    /// What `repair` may change.
    pub(super) repair: RepairTable,
    /// What builds and tests may do outside of their copy.
    pub(super) protection: ProtectionTable,
}

/// How the program is built.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct ProjectTable {
    /// The shell command that builds the program, from the root; required.
    /// Flag: `--build CMD`
    pub(super) build: Option<Spanned<String>>,
    /// A shell command that runs once in each copy before its first build.
    /// Flag: `--prepare CMD`
    pub(super) prepare: Option<Spanned<String>>,
    /// Files and folders that are in no copy; key and flag both count.
    /// Flag: `--exclude PATH`
    pub(super) exclude: Option<Vec<Spanned<String>>>,
    /// The compile database.
    /// Flag: `--compile-commands PATH`
    pub(super) compile_commands: Option<PathBuf>,
}

/// How the program is tested.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct TestsTable {
    /// The program that runs one test.
    /// Flag: `--driver PATH`
    pub(super) driver: Option<Spanned<String>>,
    /// The names of the tests; with `cases`, those to use. The flag also takes commas, and `--tests=-q` for a name like a flag.
    /// Flag: `--tests ID…`
    pub(super) names: Option<Vec<Spanned<String>>>,
    /// The program that runs on cases, in place of a driver.
    /// Flag: `--program PATH`
    pub(super) program: Option<Spanned<String>>,
    /// The folder of its cases.
    /// Flag: `--cases DIR`
    pub(super) cases: Option<Spanned<String>>,
    /// The time-out of each test.
    /// Flag: `--test-timeout TIME`
    pub(super) timeout: Option<Spanned<Written>>,
    // What `timeout` was called before it had a unit.
    pub(super) timeout_ms: Option<Spanned<toml::Value>>,
    /// Ignores blanks at the ends of lines and empty last lines in the output of cases.
    /// Flag: `--ignore-trailing-whitespace`
    pub(super) ignore_trailing_whitespace: Option<Spanned<bool>>,
    /// More variables of the environment of tests.
    pub(super) environment: BTreeMap<String, String>,
}

/// What a test or a build may use.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct LimitsTable {
    /// The memory of a test, all its processes together, in MiB (4096).
    pub(super) memory_mb: Option<Spanned<u64>>,
    /// The output of a test in MiB (64); a driver's output is cut off.
    pub(super) output_mb: Option<Spanned<u64>>,
    /// The processes of a test (512).
    pub(super) processes: Option<Spanned<u64>>,
    /// The memory of a build in MiB (4096, or three quarters of the machine's).
    /// Flag: `--build-memory MIB`
    pub(super) build_memory_mb: Option<Spanned<u64>>,
}

/// What `repair` may change.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct RepairTable {
    /// The files, folders and lines in which changes are allowed.
    /// Flag: `--files FILE[:LINE[-LINE]]…`
    pub(super) files: Option<Vec<Spanned<String>>>,
}

/// What builds and tests may do outside of their copy.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub(super) struct ProtectionTable {
    /// Folders that builds and tests may write to; key and flag both count, and a key gives a warning.
    /// Flag: `--allow-writes DIR`
    pub(super) allow_writes: Option<Vec<Spanned<String>>>,
    /// Permits the network; a key gives a warning.
    /// Flag: `--network`
    pub(super) network: Option<Spanned<bool>>,
}

/// A value with its place.
pub(super) struct Located<'a, T> {
    pub(super) value: &'a T,
    pub(super) place: Place,
}

impl Config {
    /// Reads a `patchwright.toml`.
    pub(super) fn read(path: &Path) -> Result<Self, ProjectError> {
        let bytes = files::read(path)?;
        let at = |line| Place::Config {
            path: path.to_path_buf(),
            line,
        };
        let text = String::from_utf8(bytes).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let line = line_of(error.as_bytes(), valid);
            ProjectError::Syntax {
                place: at(line),
                message: "the file is not UTF-8".into(),
            }
        })?;
        if let Some((table, offset)) = no_table(&text) {
            return Err(ProjectError::Syntax {
                place: at(line_of(text.as_bytes(), offset)),
                message: format!("`{table}` is a table: its keys stand below `[{table}]`"),
            });
        }
        let file = toml::from_str(&text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let place = at(line_of(text.as_bytes(), start));
            ProjectError::Syntax {
                place,
                message: refusal(error.message()),
            }
        })?;
        Ok(Config {
            path: path.to_path_buf(),
            text,
            file,
        })
    }

    /// Returns a value with its place in the file, for messages.
    pub(super) fn locate<'a, T>(&self, value: &'a Spanned<T>) -> Located<'a, T> {
        let line = line_of(self.text.as_bytes(), value.span().start);
        let place = Place::Config {
            path: self.path.clone(),
            line,
        };
        Located {
            value: value.get_ref(),
            place,
        }
    }
}

/// The tables of the file.
const TABLES: [&str; 5] = ["project", "tests", "limits", "repair", "protection"];

/// Returns a table of the file that is written as another value, and the offset of that value. The reader would take a list
/// for the table's keys in their order.
fn no_table(text: &str) -> Option<(&'static str, usize)> {
    let values: BTreeMap<String, Spanned<toml::Value>> = toml::from_str(text).ok()?;
    TABLES.into_iter().find_map(|table| {
        let value = values.get(table)?;
        (!value.get_ref().is_table()).then(|| (table, value.span().start))
    })
}

/// Says why the reader refuses a file, and where a key that stands in the wrong table belongs.
fn refusal(message: &str) -> String {
    // A former key is no choice.
    let message = message.replace("`timeout-ms`, ", "").replace(
        "expected a sequence",
        "expected a list, such as [\"a\", \"b\"]",
    );
    let unknown = message.strip_prefix("unknown field `");
    let Some((key, _)) = unknown.and_then(|rest| rest.split_once('`')) else {
        return message;
    };
    let knows = |table: &&&str| {
        let text = format!("[{table}]\n{key:?} = 0\n");
        match toml::from_str::<ConfigFile>(&text) {
            Ok(_) => true,
            Err(error) => !error.message().starts_with("unknown field"),
        }
    };
    match TABLES.iter().find(knows) {
        Some(table) => format!("`{key}` belongs to the table `[{table}]`"),
        None => message,
    }
}

/// The line (from 1) of an offset.
fn line_of(text: &[u8], offset: usize) -> usize {
    let before = &text[..offset.min(text.len())];
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const SCHEMA: &str = include_str!("../../../../docs/reference/patchwright.schema.json");

    /// A value that the schema permits, as TOML.
    fn sample(schema: &Value) -> String {
        match (schema["type"].as_str().unwrap(), &schema["pattern"]) {
            ("string", Value::String(_)) => "\"10s\"".to_owned(),
            ("string", _) => "\"text\"".to_owned(),
            ("boolean", _) => "true".to_owned(),
            ("integer", _) => schema["minimum"].to_string(),
            ("array", _) => format!("[{}]", sample(&schema["items"])),
            ("object", _) => format!("{{ NAME = {} }}", sample(&schema["additionalProperties"])),
            (other, _) => panic!("{other}"),
        }
    }

    #[test]
    fn the_reader_takes_the_keys_of_the_schema_and_no_others() {
        let schema: Value = serde_json::from_str(SCHEMA).unwrap();
        let mut keys = 0;
        for (table, of_table) in schema["properties"].as_object().unwrap() {
            for (key, of_key) in of_table["properties"].as_object().unwrap() {
                let text = format!("[{table}]\n{key} = {}\n", sample(of_key));
                let read: Result<ConfigFile, _> = toml::from_str(&text);
                assert!(read.is_ok(), "{text}: {}", read.unwrap_err());
                keys += 1;
            }
            let text = format!("[{table}]\nno-such-key = 1\n");
            let refused: Result<ConfigFile, _> = toml::from_str(&text);
            let message = refused.unwrap_err().message().to_owned();
            // The message names all keys of the table, and one that was renamed.
            for key in of_table["properties"].as_object().unwrap().keys() {
                assert!(message.contains(key), "{key}: {message}");
            }
            let named = message.matches('`').count() / 2 - 1;
            let former = usize::from(table == "tests");
            let listed = of_table["properties"].as_object().unwrap().len();
            assert_eq!(named, listed + former, "{message}");
        }
        assert!(keys > 15);
        let tables: Vec<&str> = schema["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let mut known = TABLES.to_vec();
        known.sort_unstable();
        assert_eq!(tables, known);
    }

    #[test]
    fn a_key_in_the_wrong_table_is_told_where_it_belongs() {
        for (text, told) in [
            (
                "build = \"make\"\n",
                "`build` belongs to the table `[project]`",
            ),
            (
                "[project]\nnames = []\n",
                "`names` belongs to the table `[tests]`",
            ),
            (
                "[tests]\nmemory-mb = 3\n",
                "`memory-mb` belongs to the table `[limits]`",
            ),
        ] {
            let refused: Result<ConfigFile, _> = toml::from_str(text);
            assert_eq!(refusal(refused.unwrap_err().message()), told);
        }
        assert_eq!(no_table("tests = [\"a\"]\n"), Some(("tests", 8)));
        assert_eq!(no_table("[tests]\nnames = [\"a\"]\n"), None);
        let refused: Result<ConfigFile, _> = toml::from_str("[tests]\nno-such-key = 1\n");
        let message = refusal(refused.unwrap_err().message());
        assert!(
            message.starts_with("unknown field `no-such-key`, expected one of"),
            "{message}"
        );
    }
}
