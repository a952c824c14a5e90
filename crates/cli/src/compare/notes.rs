//! The notes under a report: the assumptions of a comparison.

use patchwright_prove::beginning;

use super::{arguments::CompareArgs, read::Versions};

/// Returns the notes about the inputs for which two versions are compared.
pub fn notes(versions: &Versions, args: &CompareArgs) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(function) = &args.function {
        let mut both = versions.both.iter();
        notes.extend(both.find_map(|version| beginning(&version.module(), function, args.havoc)));
    }
    for (of_new, of_old) in &versions.renamed {
        notes.push(format!(
            "`{of_new}` of NEW is called `{of_old}` here, as in OLD"
        ));
    }
    notes
}
