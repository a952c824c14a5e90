//! Replaces the paths of copies in messages by the user's own paths.

use std::path::{Path, PathBuf};

/// The folder of copies, and the project that they are copies of.
pub struct Places {
    scratch: String,
    /// The project's folder, or that of the single file.
    folder: String,
}

/// Returns a path as seen from the current folder, or as it is if it lies elsewhere.
pub fn shown_path(path: &str) -> String {
    seen_from(&std::env::current_dir().unwrap_or_default(), path)
}

/// Returns a path as seen from the folder `here`, or as it is if it lies elsewhere.
pub fn seen_from(here: &Path, path: &str) -> String {
    let relative = Path::new(path).strip_prefix(here);
    relative.map_or(path.to_owned(), |short| {
        short.to_string_lossy().into_owned()
    })
}

impl Places {
    /// Makes the translation for copies of `project`, a folder or a file, in `scratch`.
    pub fn new(scratch: &Path, project: &Path) -> Self {
        let folder = match project.parent() {
            _ if project.is_dir() => project.to_path_buf(),
            Some(parent) if parent != Path::new("") => parent.to_path_buf(),
            _ => PathBuf::from("."),
        };
        let name = |path: &Path| path.display().to_string();
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        Places {
            scratch: format!("{}/", name(scratch)),
            folder: name(&folder),
        }
    }

    /// Returns the text with the user's own paths.
    pub fn shown(&self, text: &str) -> String {
        let mut parts = text.split(&self.scratch);
        let mut shown = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            // `WORKER/tree/…` or `single-file/…`
            let (first, rest) = part.split_once('/').unwrap_or((part, ""));
            if let Some(rest) = part.strip_prefix("single-file") {
                shown += &self.folder;
                shown += rest;
            } else if let (false, Some(rest)) = (first.is_empty(), rest.strip_prefix("tree")) {
                shown += &self.folder;
                shown += rest;
            } else {
                shown += &self.scratch;
                shown += part;
            }
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_called_by_the_names_of_what_they_are_copies_of() {
        let places = Places::new(Path::new("/tmp/pw-1"), Path::new("/home/me/max.c"));
        let text =
            "/tmp/pw-1/base/tree/a.c:3: x\n/tmp/pw-1/single-file/max.c /tmp/pw-1/probe /tmp/pw-12/";
        let shown = "/home/me/a.c:3: x\n/home/me/max.c /tmp/pw-1/probe /tmp/pw-12/";
        assert_eq!(places.shown(text), shown);
    }
}
