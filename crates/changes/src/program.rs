//! Finds the functions of the new version from which calls may lead to a change.

use std::hash::Hasher;
use std::sync::Arc;

use patchwright_flow::{Function, Outline, read_in};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};

use crate::compare::{Differences, FunctionChange, Source};
use crate::measure::Change;

/// The outlines of files that do not change between many changes, each read once.
#[derive(Debug, Default)]
pub struct Outlines {
    /// By the address of the source, which is kept, so that no other one gets it.
    known: FxHashMap<usize, (Arc<Source>, File)>,
}

#[derive(Debug)]
struct File {
    /// The words that stand in it, as hashes: two words for one only make it be read in vain.
    words: FxHashSet<u64>,
    outline: Option<Arc<Outline>>,
}

impl Outlines {
    fn file(&mut self, source: &Arc<Source>) -> &mut File {
        let entry = self.known.entry(Arc::as_ptr(source) as usize);
        let (_, file) = entry.or_insert_with(|| {
            let file = File {
                words: words(&source.text),
                outline: None,
            };
            (source.clone(), file)
        });
        file
    }

    fn mentions(&mut self, source: &Arc<Source>, word: u64) -> bool {
        self.file(source).words.contains(&word)
    }

    /// Whether a word stands in a file, or one with the same hash.
    pub(crate) fn has_word(&mut self, source: &Arc<Source>, word: &str) -> bool {
        self.mentions(source, hash(word.as_bytes()))
    }

    fn of(&mut self, source: &Arc<Source>, change: &Change) -> Arc<Outline> {
        let version = change.versions.as_ref().map(|[_, new]| new);
        let known = change.definitions.of(&source.path, version);
        let read = || Arc::new(read_in(&source.text, &known.setting()));
        if known.depends_on_headers() {
            // They may differ where the file does not.
            return read();
        }
        let file = self.file(source);
        file.outline.get_or_insert_with(read).clone()
    }
}

fn hash(word: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(word);
    hasher.finish()
}

/// The words of a text, wherever they stand.
fn words(text: &[u8]) -> FxHashSet<u64> {
    patchwright_ctext::runs(text).map(hash).collect()
}

/// Whether other files cannot call a function: those of headers, static or not, are in all files.
fn is_hidden(function: &Function, path: &str) -> bool {
    function.is_static && !path.ends_with(".h")
}

/// Returns the program's other files that matter for a change: those that mention a changed function, or a function that may lead to it by
/// calls. Other files are not parsed, because that takes most of the time.
pub(crate) fn files_that_matter<'c>(
    change: &'c Change,
    differences: &Differences,
    outlines: &mut Outlines,
) -> Vec<(&'c str, Arc<Outline>)> {
    let rest = change.rest.as_deref().unwrap_or_default();
    if rest.is_empty() {
        return Vec::new();
    }
    let mut search = Search::default();
    for (file, outline) in change.files.iter().zip(&differences.outlines) {
        let path = file.new.as_ref().map_or("", |source| source.path.as_str());
        search.add(path, outline);
    }
    for function in &differences.functions {
        if let Some(index) = function.index {
            let file = &change.files[function.file];
            let path = file.new.as_ref().map_or("", |source| source.path.as_str());
            let hidden = is_hidden(&differences.outlines[function.file].functions[index], path);
            search.want(&function.name, hidden);
        }
    }
    let mut read: Vec<Option<Arc<Outline>>> = vec![None; rest.len()];
    while let Some(name) = search.sought.pop() {
        let word = hash(name.as_bytes());
        for (source, read) in rest.iter().zip(&mut read) {
            if read.is_none() && outlines.mentions(source, word) {
                let outline = outlines.of(source, change);
                search.add(&source.path, &outline);
                *read = Some(outline);
            }
        }
    }
    let files = rest.iter().zip(read);
    files
        .filter_map(|(source, outline)| Some((source.path.as_str(), outline?)))
        .collect()
}

/// A search for names of functions from which control may come to a change.
#[derive(Default)]
struct Search {
    /// By the name of a function that is called: the callers in files that were read, and whether they are hidden.
    callers: FxHashMap<String, Vec<(String, bool)>>,
    /// Names from which control may come to a change.
    wanted: FxHashSet<String>,
    /// Of these, names that other files can call.
    visible: FxHashSet<String>,
    /// Of these, the ones that files have not been looked through for.
    sought: Vec<String>,
}

impl Search {
    /// A file was read.
    fn add(&mut self, path: &str, outline: &Outline) {
        for function in &outline.functions {
            let hidden = is_hidden(function, path);
            let calls = function.actions.iter().flat_map(|action| &action.calls);
            for called in calls.collect::<FxHashSet<_>>() {
                let caller = (function.name.clone(), hidden);
                self.callers.entry(called.clone()).or_default().push(caller);
                if self.wanted.contains(called) {
                    self.want(&function.name, hidden);
                }
            }
        }
    }

    /// From a function of this name control may come to a change.
    fn want(&mut self, name: &str, hidden: bool) {
        let mut open = vec![(name.to_owned(), hidden)];
        while let Some((name, hidden)) = open.pop() {
            if !hidden && self.visible.insert(name.clone()) {
                self.sought.push(name.clone());
            }
            if !self.wanted.contains(&name) {
                open.extend(self.callers.get(&name).into_iter().flatten().cloned());
                self.wanted.insert(name);
            }
        }
    }
}

/// A function of the new version.
pub(crate) struct Known<'a> {
    pub path: &'a str,
    pub file: usize,
    pub function: &'a Function,
    pub change: Option<&'a FunctionChange>,
}

/// The functions of the new version and who calls whom by name.
pub(crate) struct Program<'a> {
    pub known: Vec<Known<'a>>,
    by_name: FxHashMap<&'a str, Vec<usize>>,
    /// Names of functions whose addresses are taken, with the files.
    mentioned: FxHashSet<(usize, &'a str)>,
    mentioned_somewhere: FxHashSet<&'a str>,
    /// Files in which `main` is.
    with_main: FxHashSet<usize>,
    is_whole: bool,
}

impl<'a> Program<'a> {
    /// Collects the functions of the new version: those of the changed files and of `rest`.
    pub fn of(
        change: &'a Change,
        differences: &'a Differences,
        rest: &'a [(&'a str, Arc<Outline>)],
    ) -> Self {
        let changed: FxHashMap<(usize, usize), &FunctionChange> = differences
            .functions
            .iter()
            .filter_map(|function| Some(((function.file, function.index?), function)))
            .collect();
        let changed_files = change.files.iter().zip(&differences.outlines);
        let files = changed_files
            .map(|(file, outline)| (file.new.as_ref().map_or("", |s| s.path.as_str()), outline))
            .chain(rest.iter().map(|(path, outline)| (*path, &**outline)));
        let mut program = Program {
            known: Vec::new(),
            by_name: FxHashMap::default(),
            mentioned: FxHashSet::default(),
            mentioned_somewhere: FxHashSet::default(),
            with_main: FxHashSet::default(),
            is_whole: change.rest.is_some(),
        };
        for (file, (path, outline)) in files.enumerate() {
            for name in &outline.mentioned {
                program.mentioned.insert((file, name));
                program.mentioned_somewhere.insert(name);
            }
            for (index, function) in outline.functions.iter().enumerate() {
                if function.name == "main" {
                    program.with_main.insert(file);
                }
                let id = program.known.len();
                program.by_name.entry(&function.name).or_default().push(id);
                program.known.push(Known {
                    path,
                    file,
                    function,
                    change: changed.get(&(file, index)).copied(),
                });
            }
        }
        program
    }

    /// Returns the functions that `name` may mean in the file with number `file`: those of the file itself, else the visible ones of
    /// all files.
    pub fn resolve(&self, file: usize, name: &str) -> Vec<usize> {
        let Some(all) = self.by_name.get(name) else {
            return Vec::new();
        };
        let here: Vec<usize> = all
            .iter()
            .copied()
            .filter(|id| self.known[*id].file == file)
            .collect();
        if !here.is_empty() {
            return here;
        }
        let visible = |id: &usize| !is_hidden(self.known[*id].function, self.known[*id].path);
        all.iter().copied().filter(visible).collect()
    }

    /// Whether the program may begin with a function.
    pub fn is_root(&self, id: usize) -> bool {
        let known = &self.known[id];
        let name = known.function.name.as_str();
        let is_mentioned = match is_hidden(known.function, known.path) {
            true => self.mentioned.contains(&(known.file, name)),
            false => self.mentioned_somewhere.contains(name),
        };
        name == "main"
            || is_mentioned
            || !self.is_whole && !known.function.is_static && !self.with_main.contains(&known.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{FileChange, compare};

    fn source(path: &str, text: &str) -> Source {
        Source {
            path: path.to_owned(),
            text: text.into(),
        }
    }

    #[test]
    fn only_files_from_which_control_may_come_to_the_change_are_read() {
        let rest = [
            ("caller.c", "void twice(void) { run(); run(); }"),
            ("main.c", "int main(void) { return start(twice); }"),
            (
                "other.c",
                "static void helper(void) { } int f(void) { helper(); return 0; }",
            ),
            ("start.c", "int start(void (*f)(void)) { f(); return 0; }"),
        ];
        let change = Change {
            files: vec![FileChange {
                old: Some(source(
                    "run.c",
                    "static void helper(void) { } void run(void) { helper(); }",
                )),
                new: Some(source(
                    "run.c",
                    "static void helper(void) { puts(\"\"); } void run(void) { helper(); }",
                )),
            }],
            rest: Some(
                rest.map(|(path, text)| Arc::new(source(path, text)))
                    .to_vec(),
            ),
            ..Change::default()
        };
        let differences = compare(&change);
        let files = files_that_matter(&change, &differences, &mut Outlines::default());
        let paths: Vec<&str> = files.iter().map(|(path, _)| *path).collect();
        // `main` takes an address and calls nothing of what is wanted; `other.c` has its own `helper`.
        assert_eq!(paths, ["caller.c", "main.c"]);
    }
}
