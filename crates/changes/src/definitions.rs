//! Finds the macros and header folders that a compiler's flags give each file.

use std::cell::RefCell;
use std::fmt::Debug;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use patchwright_flow::Macros;
use patchwright_flow::headers::{Header, Headers, Setting};
use rustc_hash::FxHashMap;

/// The flags of a compiler that decide conditional directives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Macros of `-D` and `-U`.
    pub macros: Macros,
    /// Folders of headers, in the order in which they are searched: for `"…"` only, for all, and those that come last.
    folders: [Vec<PathBuf>; 3],
    /// Headers that are included first.
    before: Vec<String>,
}

impl Flags {
    /// Reads flags. Folders are relative to `directory`. Other flags are ignored.
    pub fn new<'a>(flags: impl IntoIterator<Item = &'a str> + Clone, directory: &Path) -> Flags {
        let mut found = Flags {
            macros: Macros::from_flags(flags.clone()),
            ..Flags::default()
        };
        let mut flags = flags.into_iter();
        while let Some(flag) = flags.next() {
            const FOLDERS: [(&str, usize); 4] = [
                ("-iquote", 0),
                ("-idirafter", 2),
                ("-isystem", 2),
                ("-I", 1),
            ];
            if flag == "-include" {
                found.before.extend(flags.next().map(str::to_owned));
            } else if let Some((name, which)) = FOLDERS.iter().find(|(n, _)| flag.starts_with(n)) {
                let folder = match &flag[name.len()..] {
                    "" => flags.next().unwrap_or_default(),
                    folder => folder,
                };
                found.folders[*which].push(directory.join(folder));
            }
        }
        found
    }
}

/// The known macros and flags for the files of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    /// Of files that are not named below.
    pub all: Option<Flags>,
    /// Of these files.
    pub files: Vec<(PathBuf, Flags)>,
}

/// The headers of a version of the program.
pub trait Version: Debug {
    /// Returns the header at `path` in the version.
    fn header(&self, path: &Path) -> Option<Arc<Header>>;

    /// Returns a header that the version does not have, because a build makes it or because it is
    /// installed.
    fn other_header(&self, path: &Path) -> Option<Arc<Header>>;
}

/// The headers of the files on the disk.
#[derive(Debug)]
pub struct Disk {
    root: Option<PathBuf>,
    known: RefCell<FxHashMap<PathBuf, Option<Arc<Header>>>>,
}

impl Disk {
    /// Finds headers relative to `root`, if given, and others by their absolute paths.
    pub fn new(root: Option<&Path>) -> Self {
        Disk {
            root: root.map(Path::to_path_buf),
            known: RefCell::default(),
        }
    }
}

impl Version for Disk {
    fn header(&self, path: &Path) -> Option<Arc<Header>> {
        let mut known = self.known.borrow_mut();
        let entry = known.entry(path.to_path_buf());
        let read = || {
            let path = match (&self.root, path.is_absolute()) {
                (_, true) => path.to_path_buf(),
                (root, false) => root.as_ref()?.join(path),
            };
            let text = path.is_file().then(|| std::fs::read(path).ok())??;
            Some(Arc::new(Header::read(&text)))
        };
        entry.or_insert_with(read).clone()
    }

    fn other_header(&self, _: &Path) -> Option<Arc<Header>> {
        None
    }
}

/// What is known of the macros of a file: by its flags, and by the headers of its version.
pub(crate) struct Known<'a> {
    flags: Option<&'a Flags>,
    finder: Option<Finder<'a>>,
    path: &'a str,
}

impl Known<'_> {
    /// Whether headers are looked up, so that their contents matter.
    pub fn depends_on_headers(&self) -> bool {
        self.finder.is_some()
    }

    /// Returns the macros, headers and forced includes with which the file is to be read.
    pub fn setting(&self) -> Setting<'_> {
        Setting {
            macros: self
                .flags
                .map(|flags| flags.macros.clone())
                .unwrap_or_default(),
            headers: self.finder.as_ref().map(|finder| finder as &dyn Headers),
            path: self.path,
            before: self.flags.map_or(&[], |flags| &flags.before),
        }
    }
}

impl Definitions {
    /// Returns the known macros of a file. `path` is its path in the repository or folder, whose end is the name by which the file was
    /// given.
    pub(crate) fn of<'a>(
        &'a self,
        path: &'a str,
        version: Option<&'a Rc<dyn Version>>,
    ) -> Known<'a> {
        let named = self
            .files
            .iter()
            .find(|(file, _)| file.ends_with(Path::new(path)));
        let flags = named.map(|(_, flags)| flags).or(self.all.as_ref());
        // What comes before the path is where the version is.
        let root = named.map(|(file, _)| {
            let names = Path::new(path).components().count();
            file.ancestors().nth(names).unwrap_or(file).to_path_buf()
        });
        let finder = flags.zip(version).map(|(flags, version)| Finder {
            version: &**version,
            root: root.unwrap_or_default(),
            flags,
        });
        Known {
            flags,
            finder,
            path,
        }
    }
}

/// Looks for headers as compilers do.
struct Finder<'a> {
    version: &'a dyn Version,
    root: PathBuf,
    flags: &'a Flags,
}

impl Headers for Finder<'_> {
    fn find(&self, file: &str, name: &str, quoted: bool) -> Option<(String, Arc<Header>)> {
        let beside = Path::new(file).parent().filter(|_| quoted);
        let first = usize::from(!quoted);
        let folders = self.flags.folders[first..].iter().flatten();
        let folders = beside.into_iter().chain(folders.map(PathBuf::as_path));
        let paths: Vec<PathBuf> = folders
            .map(|folder| {
                let path = normal(&folder.join(name));
                let inside = path.strip_prefix(&self.root).map(Path::to_path_buf);
                inside.unwrap_or(path)
            })
            .collect();
        let in_version = paths.iter().zip(std::iter::repeat(true));
        let elsewhere = paths.iter().zip(std::iter::repeat(false));
        in_version.chain(elsewhere).find_map(|(path, inside)| {
            let header = match inside {
                true => self.version.header(path),
                false => self.version.other_header(path),
            };
            Some((path.to_string_lossy().into_owned(), header?))
        })
    }
}

/// Without `.` and `..`, as far as the path alone tells.
fn normal(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if found.file_name().is_some() => {
                found.pop();
            }
            part => found.push(part),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Only(&'static str);

    impl Version for Only {
        fn header(&self, path: &Path) -> Option<Arc<Header>> {
            (path == Path::new(self.0)).then(|| Arc::new(Header::default()))
        }

        fn other_header(&self, _: &Path) -> Option<Arc<Header>> {
            None
        }
    }

    #[test]
    fn headers_are_searched_for_in_order() {
        let flags = [
            "-Ilib",
            "-iquote",
            "quoted",
            "-I",
            "/usr/include/more",
            "-DX",
        ];
        let definitions = Definitions {
            files: vec![(
                PathBuf::from("/home/me/tree/src/f.c"),
                Flags::new(flags, Path::new("/home/me/tree/src")),
            )],
            ..Definitions::default()
        };
        let found = |only: &'static str, name: &str, quoted: bool| {
            let version: Rc<dyn Version> = Rc::new(Only(only));
            let known = definitions.of("src/f.c", Some(&version));
            let finder = known.finder.as_ref().unwrap();
            finder.find("src/f.c", name, quoted).map(|(path, _)| path)
        };
        let some = |path: &str| Some(path.to_owned());
        assert_eq!(found("src/a.h", "a.h", true), some("src/a.h"));
        assert_eq!(found("src/a.h", "a.h", false), None);
        assert_eq!(found("src/lib/a.h", "a.h", false), some("src/lib/a.h"));
        assert_eq!(found("src/quoted/a.h", "a.h", true), some("src/quoted/a.h"));
        assert_eq!(found("src/quoted/a.h", "a.h", false), None);
        assert_eq!(
            found("include/a.h", "../include/a.h", true),
            some("include/a.h")
        );
        let outside = "/usr/include/more/a.h";
        assert_eq!(found(outside, "a.h", false), some(outside));
    }
}
