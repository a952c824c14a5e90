//! The journal of a comparison, under a digest of the code of both versions and all flags that matter.

use patchwright_compare::{Kind, Known};
use patchwright_exec::{Durability, Journal, JournalKind, JournalOptions, open_wanted_journal};
use patchwright_ir::print_module;
use patchwright_text::{Digest, Hasher};
use serde_json::{Value, json};

use super::{arguments::CompareArgs, read::Versions};
use crate::encoded::Problem;

/// Of the format of the lines, and of what partitions mean.
const VERSION: u32 = 1;

/// Opens the journal of a comparison, if one is wanted. It also returns the earlier results, if the
/// comparison is resumed.
pub fn open(
    args: &CompareArgs,
    versions: &Versions,
    options: Option<&JournalOptions>,
) -> Result<Option<(Journal, Vec<Known>)>, Problem> {
    let begin = |options: &JournalOptions| {
        let kind = JournalKind {
            journal: "patchwright-compare".into(),
            version: VERSION,
        };
        let key = key(args, versions);
        Journal::open::<Value>(options, kind, key, "", Durability::Process)
    };
    let warn = |message: String| eprintln!("patchwright: warning: {message}");
    let opened = open_wanted_journal(options, begin, warn).map_err(Problem::of)?;
    Ok(opened.map(|(journal, lines)| (journal, lines.iter().filter_map(known).collect())))
}

/// Everything that partitions depend on.
fn key(args: &CompareArgs, versions: &Versions) -> Digest {
    let mut hasher = Hasher::new();
    hasher.field(env!("CARGO_PKG_VERSION"));
    for version in &versions.both {
        hasher.field(print_module(&version.module()));
        hasher.field(format!("{:?}", version.entry));
    }
    hasher.field(format!("{:?}", versions.holders));
    hasher.field(format!(
        "{:?}",
        (
            &args.function,
            &args.check,
            args.havoc,
            args.input,
            args.rounds(),
            args.conflicts,
            args.strategy,
        )
    ));
    hasher.field(format!("{} {}", args.different, args.equal));
    hasher.finish()
}

/// Returns the line of the journal for a result.
pub fn line(known: &Known) -> Value {
    match known {
        Known::All(kind) => json!({ "all": kind.code() }),
        Known::Path(values) => {
            let values: Vec<Value> = values
                .iter()
                .map(|(name, width, bits)| json!([name, width, format!("{bits:x}")]))
                .collect();
            json!({ "path": values })
        }
        Known::Input {
            kind,
            values,
            quickly,
        } => {
            let values: Vec<Value> = values
                .iter()
                .map(|(name, bits)| json!([name, format!("{bits:x}")]))
                .collect();
            json!({ "kind": kind.code(), "values": values, "quickly": quickly })
        }
    }
}

fn known(line: &Value) -> Option<Known> {
    let kind = |name: &str| {
        let code = line[name].as_str()?;
        let mut all = Kind::ALL.into_iter();
        all.find(|kind| kind.code() == code)
    };
    if let Some(kind) = kind("all") {
        return Some(Known::All(kind));
    }
    if let Some(values) = line["path"].as_array() {
        let values = values.iter().map(|one| {
            let bits = u128::from_str_radix(one[2].as_str()?, 16).ok()?;
            let width = u32::try_from(one[1].as_u64()?).ok()?;
            Some((one[0].as_str()?.to_owned(), width, bits))
        });
        return values.collect::<Option<_>>().map(Known::Path);
    }
    let values = line["values"].as_array()?.iter().map(|pair| {
        let bits = u128::from_str_radix(pair[1].as_str()?, 16).ok()?;
        Some((pair[0].as_str()?.to_owned(), bits))
    });
    Some(Known::Input {
        kind: kind("kind")?,
        values: values.collect::<Option<_>>()?,
        quickly: line["quickly"].as_bool()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_read_as_it_was_written() {
        let all = [
            Known::All(Kind::OldFails),
            Known::Path(vec![("input.x".to_owned(), 32, 7)]),
            Known::Input {
                kind: Kind::Equal,
                values: vec![("x".to_owned(), u128::MAX), ("y z".to_owned(), 0)],
                quickly: true,
            },
        ];
        for one in all {
            assert_eq!(known(&line(&one)), Some(one));
        }
        assert_eq!(known(&json!({ "kind": "unheard-of" })), None);
    }
}
