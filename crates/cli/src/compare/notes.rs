//! The notes under a report: the assumptions of a comparison.

use super::read::Versions;

/// Returns the notes about the inputs for which two versions are compared.
pub fn notes(versions: &Versions) -> Vec<String> {
    let mut notes = Vec::new();
    for (of_new, of_old) in &versions.renamed {
        notes.push(format!(
            "`{of_new}` of NEW is called `{of_old}` here, as in OLD"
        ));
    }
    notes
}
