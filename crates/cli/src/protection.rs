//! Sets what builds and tests may do outside of their copies, and reports what they have tried.

use std::path::PathBuf;

use patchwright_exec::{
    FileError, JournalOptions, Project, Rules, Scratch, files, project::Place, set_build_memory,
};

use crate::state;

/// Permits what the user's flags and the project's description permit. It returns warnings about
/// permissions that the description gives, because somebody else may have written it.
///
/// # Errors
/// When the folder of results, which nobody else may write to, cannot be made.
pub fn set_up(
    scratch: &mut Scratch,
    project: &Project,
    journal: Option<&JournalOptions>,
) -> Result<Vec<String>, FileError> {
    if let Some(memory) = project.build_memory {
        set_build_memory(memory);
    }
    let allowed: Vec<PathBuf> = project
        .allow_writes
        .iter()
        .map(|(folder, _)| folder.clone())
        .collect();
    let mut kept = Vec::new();
    let folders = journal.map(|journal| journal.folder.clone());
    if let Some(folder) = &folders {
        // If it cannot be made, that is told when it is used.
        let _ = files::create_folder(folder);
    }
    for folder in folders.into_iter().chain(state::folder()) {
        let path = std::path::absolute(&folder).unwrap_or_else(|_| folder.clone());
        // Where programs may write, they could make it.
        if allowed.iter().any(|allowed| path.starts_with(allowed)) {
            files::create_folder(&path)?;
        }
        if path.is_dir() {
            kept.push(path);
        }
    }
    let in_file = |place: &Place| matches!(place, Place::Config { .. });
    let mut told = Vec::new();
    for (folder, place) in &project.allow_writes {
        if in_file(place) {
            told.push(format!(
                "{place} lets builds and tests write to {}",
                folder.display()
            ));
        }
    }
    if let Some(place) = project.network.as_ref().filter(|place| in_file(place)) {
        told.push(format!("{place} lets builds and tests reach the network"));
    }
    if project.unprotected {
        told.push("nothing is protected: builds and tests can change whatever you can".to_owned());
    }
    scratch.set_rules(Rules {
        unprotected: project.unprotected,
        allowed,
        network: project.network.is_some(),
        kept,
    });
    Ok(told)
}

/// Returns what programs tried outside of their copies and was not reported yet.
pub fn untold(scratch: &Scratch) -> Vec<String> {
    let mut told = scratch.attempts().news();
    let more = scratch.attempts().unnamed();
    if more > 0 {
        told.push(format!(
            "{more} more attempts to change something outside of the copies were refused or thrown away"
        ));
    }
    told
}
