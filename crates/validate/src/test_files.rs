//! Finds the files that belong to a project's tests. They are taken from the untouched tree, because a
//! patch that changes its own judges proves nothing.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::{Path, PathBuf};

use patchwright_exec::{FileError, Project, TestKind, files};

/// Folders with these names have tests in them.
const FOLDERS: [&str; 4] = ["test", "tests", "testsuite", "check"];

/// What programs are made of, and not tests: a driver may name such files and does not judge by them.
const OF_PROGRAMS: [&str; 14] = [
    "c", "cc", "cpp", "cxx", "C", "h", "hh", "hpp", "inc", "y", "l", "S", "s", "in",
];

/// Files by which builds are done.
const OF_BUILDS: [&str; 9] = [
    "Makefile",
    "makefile",
    "GNUmakefile",
    "CMakeLists.txt",
    "configure",
    "meson.build",
    "build.ninja",
    "config.status",
    "build.sh",
];

/// A longer file is no script.
const LONGEST_SCRIPT: u64 = 1 << 20;

/// The files that belong to the tests of a project.
pub struct TestFiles<'p> {
    project: &'p Project,
    /// Drivers, and what they name, relative to the root.
    named: BTreeSet<PathBuf>,
    /// What was asked before: large sets change few files.
    asked: RefCell<HashMap<PathBuf, bool>>,
}

impl<'p> TestFiles<'p> {
    /// Finds the test files of a project: drivers and cases, files in folders for tests, and files
    /// that a driver or its scripts name, except sources and build files.
    ///
    /// # Errors
    /// A tree that cannot be read.
    pub fn of(project: &'p Project) -> Result<Self, FileError> {
        let mut named = BTreeSet::new();
        let mut open: VecDeque<PathBuf> = VecDeque::new();
        for test in project.tests.iter().flat_map(|suite| &suite.tests) {
            if let TestKind::Driver { driver } = &test.kind
                && named.insert(driver.clone())
            {
                open.push_back(driver.clone());
            }
        }
        let all = match open.is_empty() {
            true => Vec::new(),
            false => files::regular_files_below(&project.root)?,
        };
        let inside = |path: &Path| Some(path.strip_prefix(&project.root).ok()?.to_path_buf());
        let all: Vec<PathBuf> = all.iter().filter_map(|path| inside(path)).collect();
        while let Some(script) = open.pop_front() {
            let path = project.root.join(&script);
            let is_short =
                std::fs::metadata(&path).is_ok_and(|about| about.len() <= LONGEST_SCRIPT);
            // What cannot be read names nothing.
            let Some(text) = is_short.then(|| files::read(&path).ok()).flatten() else {
                continue;
            };
            let words = names(&text);
            for file in &all {
                let name = file.file_name().and_then(|name| name.to_str());
                let is_named = name.is_some_and(|name| words.contains(name));
                if is_named && !is_of_program(file) && named.insert(file.clone()) {
                    open.push_back(file.clone());
                }
            }
        }
        Ok(TestFiles {
            project,
            named,
            asked: RefCell::default(),
        })
    }

    /// Whether a file, relative to the root, belongs to the tests. It need not exist.
    pub fn contain(&self, path: &Path) -> bool {
        if let Some(known) = self.asked.borrow().get(path) {
            return *known;
        }
        let found = self.find(path);
        self.asked.borrow_mut().insert(path.to_path_buf(), found);
        found
    }

    fn find(&self, path: &Path) -> bool {
        let tests = self.project.tests.iter().flat_map(|suite| &suite.tests);
        let mut cases = tests.filter_map(|test| match &test.kind {
            TestKind::Case(case) => Some(case),
            TestKind::Driver { .. } => None,
        });
        let root = home(self.project).unwrap_or(&self.project.root);
        self.named.contains(path)
            || is_in_test_folder(path)
            || cases.any(|case| {
                let folder = case.stdin.as_ref().and_then(|file| file.parent());
                case.has_file(root, path)
                    || folder
                        .is_some_and(|folder| folder != root && root.join(path).starts_with(folder))
            })
    }

    /// Whether a file, relative to the root, lies beside the single C file of the project without
    /// being a part of it.
    pub fn is_beside(&self, path: &Path) -> bool {
        let is_there = |home: &Path| home.join(path).exists();
        home(self.project).is_some_and(is_there) && !self.project.root.join(path).exists()
    }

    /// Returns the test files that exist, relative to the root.
    ///
    /// # Errors
    /// A tree that cannot be read.
    pub fn existing(&self) -> Result<Vec<PathBuf>, FileError> {
        let root = &self.project.root;
        let all = files::regular_files_below(root)?;
        let inside = all.iter().filter_map(|path| path.strip_prefix(root).ok());
        let own = inside.filter(|path| self.contain(path));
        Ok(own.map(Path::to_path_buf).collect())
    }
}

/// The folder of the single C file of which a project was made. Its cases may lie below it, and not in the project's own folder.
pub(crate) fn home(project: &Project) -> Option<&Path> {
    project.single_file.as_deref().and_then(Path::parent)
}

/// Whether a file, relative to the root, lies in a folder whose name is that of tests.
pub fn is_in_test_folder(path: &Path) -> bool {
    let folders = path.parent().into_iter().flat_map(Path::iter);
    folders
        .into_iter()
        .any(|part| FOLDERS.iter().any(|name| part == *name))
}

/// Whether a file is a source or a build file, by its name.
pub fn is_of_program(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let name = path.file_name().and_then(|name| name.to_str());
    extension.is_some_and(|extension| OF_PROGRAMS.contains(&extension))
        || name.is_some_and(|name| OF_BUILDS.contains(&name))
}

/// What could be names of files in a script.
fn names(text: &[u8]) -> BTreeSet<String> {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-+".contains(byte);
    let words = text.split(|byte| !is_part(byte));
    let words = words.filter(|word| !word.is_empty());
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}
