//! The notes under a report: the assumptions of a comparison.

use super::{arguments::CompareArgs, read::Versions, replay};

/// Returns the notes about the inputs for which two versions are compared.
pub fn notes(versions: &Versions, args: &CompareArgs) -> Vec<String> {
    let mut notes = Vec::new();
    if args.function.is_some() && !args.havoc && !replay::globals(versions).is_empty() {
        notes.push(
            "globals hold their first values; --havoc lets those without a first value in the source hold any value".to_owned(),
        );
    }
    for (of_new, of_old) in &versions.renamed {
        notes.push(format!(
            "`{of_new}` of NEW is called `{of_old}` here, as in OLD"
        ));
    }
    notes
}
