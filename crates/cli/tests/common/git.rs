//! A git repository in the project of a place, whose commits have fixed names.

use std::fs;

use git2::{Oid, Repository, Signature, Time};

use super::Place;

/// The time of the first commit.
pub const FIRST: i64 = 1_700_000_000;

/// A repository in `project`; each commit is a day younger than the one before it.
pub struct Git {
    pub place: Place,
    pub repository: Repository,
    commits: i64,
}

impl Git {
    pub fn new() -> Self {
        let place = Place::new();
        let repository = Repository::init(place.project()).unwrap();
        Git {
            place,
            repository,
            commits: 0,
        }
    }

    /// Commits the working tree on top of HEAD, after these files were written; one without text is removed.
    pub fn commit(&mut self, subject: &str, files: &[(&str, &str)]) -> Oid {
        let head = self
            .repository
            .head()
            .and_then(|head| head.peel_to_commit());
        let parents: Vec<Oid> = head.iter().map(git2::Commit::id).collect();
        drop(head);
        self.commit_on(subject, &parents, files)
    }

    /// The same, with these parents; the working tree stays what it is otherwise.
    pub fn commit_on(&mut self, subject: &str, parents: &[Oid], files: &[(&str, &str)]) -> Oid {
        for (path, text) in files {
            if text.is_empty() {
                fs::remove_file(self.place.project().join(path)).unwrap();
            } else {
                self.place.write(path, text);
            }
        }
        let mut index = self.repository.index().unwrap();
        index
            .add_all(["*"], git2::IndexAddOption::DEFAULT, None)
            .unwrap();
        index.update_all(["*"], None).unwrap();
        index.write().unwrap();
        let tree = index.write_tree().unwrap();
        let tree = self.repository.find_tree(tree).unwrap();
        let time = Time::new(FIRST + 86_400 * self.commits, 0);
        self.commits += 1;
        let who = Signature::new("A", "a@example.invalid", &time).unwrap();
        let parents: Vec<_> = parents
            .iter()
            .map(|id| self.repository.find_commit(*id).unwrap())
            .collect();
        let parents: Vec<&git2::Commit> = parents.iter().collect();
        let id = self
            .repository
            .commit(None, &who, &who, subject, &tree, &parents)
            .unwrap();
        let head = self.repository.find_reference("HEAD").unwrap();
        let name = head.symbolic_target().unwrap().unwrap().to_owned();
        self.repository.reference(&name, id, true, "").unwrap();
        id
    }
}
