//! Caches clang's answers about a source, under the digest of all that they depend on.
//!
//! The digest covers four things:
//!
//! * the preprocessed source with all macro definitions, among them the version of the compiler;
//! * the text of every file of the source, because preprocessed text does not have the columns of words;
//! * the compiler's description of what it is going to do, its configuration included;
//! * the question.
//!
//! So the preprocessor runs each time, and nothing else has to.

use std::{
    collections::{HashMap, HashSet},
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStringExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use patchwright_exec::{
    Cache, CompileCommand, Request,
    cache::{Stamp, read_stamped, stamp},
    runner::Stdin,
};
use patchwright_text::{Digest, Hasher};

/// A file with more bytes is not read.
const LARGEST: u64 = 256 << 20;

/// A cache for clang's answers.
#[derive(Debug)]
pub(crate) struct Memory {
    cache: Cache,
    /// The digests of files that were read, with what tells whether they have changed.
    files: Mutex<HashMap<PathBuf, (Stamp, Digest)>>,
}

/// All that clang's answers about one source depend on.
#[derive(Clone, Debug)]
pub(crate) struct About {
    memory: Arc<Memory>,
    key: Digest,
    files: Vec<(PathBuf, Stamp)>,
}

impl Memory {
    /// Makes a memory of clang's answers that are kept in `cache`.
    pub(crate) fn new(cache: Cache) -> Memory {
        Memory {
            cache,
            files: Mutex::default(),
        }
    }

    /// The digest of a file's text, and its stamp; `None` if it cannot be read, or may be changing.
    fn file(&self, path: &Path) -> Option<(Stamp, Digest)> {
        let now = stamp(path)?;
        let known = |files: &HashMap<PathBuf, (Stamp, Digest)>| {
            let (then, digest) = files.get(path)?;
            (*then == now).then_some(*digest)
        };
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(digest) = known(&files) {
            return Some((now, digest));
        }
        let (stamp, text) = read_stamped(path, LARGEST).ok()?;
        if stamp.is_fresh() {
            return None;
        }
        let digest = Hasher::new().field(text).finish();
        files.insert(path.to_owned(), (stamp.clone(), digest));
        Some((stamp, digest))
    }

    /// Returns what answers about a source depend on. `preprocessed` is the preprocessor's output, and `plan` clang's plan of its jobs.
    /// `None` if that cannot be found out.
    pub(crate) fn about(
        self: &Arc<Self>,
        clang: &Path,
        command: &CompileCommand,
        preprocessed: &str,
        plan: &[u8],
    ) -> Option<About> {
        let program = on_path(clang)?;
        let mut hasher = Hasher::new();
        hasher
            .field(env!("CARGO_PKG_VERSION"))
            .field(program.as_os_str().as_encoded_bytes())
            .field(format!("{:?}", stamp(&program)?))
            .field(plan)
            .field(preprocessed);
        let mut files = Vec::new();
        for name in file_names(preprocessed) {
            let path = command.directory.join(&name);
            let (stamp, digest) = self.file(&path)?;
            hasher.field(digest.to_string());
            files.push((path, stamp));
        }
        Some(About {
            memory: Arc::clone(self),
            key: hasher.finish(),
            files,
        })
    }
}

impl About {
    /// Returns clang's kept answer to a request.
    pub(crate) fn recall(&self, request: &Request) -> Option<Vec<u8>> {
        self.memory.cache.get(key_of(Some(self.key), request))
    }

    /// Keeps what clang has printed, unless a file has changed since the preprocessor ran.
    pub(crate) fn keep(&self, request: &Request, printed: &[u8]) {
        let is_same = |(path, before): &(PathBuf, Stamp)| stamp(path).as_ref() == Some(before);
        if self.files.iter().all(is_same) {
            self.memory
                .cache
                .put(key_of(Some(self.key), request), printed);
        }
    }
}

/// A name for a request about something.
pub(crate) fn key_of(about: Option<Digest>, request: &Request) -> Digest {
    let mut hasher = Hasher::new();
    hasher
        .field(about.map_or(String::new(), |about| about.to_string()))
        .field(request.cwd.as_os_str().as_encoded_bytes())
        .number(request.command.len() as u64);
    for word in &request.command {
        hasher.field(word.as_encoded_bytes());
    }
    match &request.stdin {
        Stdin::Bytes(text) => hasher.field("text").field(text),
        other => hasher.field(format!("{other:?}")),
    };
    hasher.field(format!("{:?}", request.stdout)).finish()
}

/// Returns clang's plan of its jobs (`-###`) without the names of the sources. The plan is the same for several sources at once
/// as for each alone.
pub(crate) fn plan_without(told: &[u8], sources: &[&OsStr]) -> Vec<u8> {
    // A word is quoted only where it needs to be.
    let plain = |word: &[u8]| -> Vec<u8> {
        let inside = word.strip_prefix(b"\"");
        let inside = inside.and_then(|word| word.strip_suffix(b"\""));
        inside.unwrap_or(word).to_vec()
    };
    let is_source = |word: &[u8]| {
        let mut sources = sources.iter();
        sources.any(|source| source.as_encoded_bytes() == word)
    };
    let mut seen = HashSet::new();
    let mut plan = Vec::new();
    for line in told.split(|&byte| byte == b'\n') {
        if !seen.insert(line) {
            continue;
        }
        let mut words = line.split(|&byte| byte == b' ');
        while let Some(word) = words.next() {
            let inside = plain(word);
            if inside == b"-main-file-name" {
                words.next();
            } else if !is_source(&inside) {
                plan.extend_from_slice(word);
                plan.push(b' ');
            }
        }
        plan.push(b'\n');
    }
    plan
}

/// The file that a program's name stands for.
fn on_path(program: &Path) -> Option<PathBuf> {
    let found = match program.components().count() {
        1 => std::env::split_paths(&std::env::var_os("PATH")?)
            .map(|folder| folder.join(program))
            .find(|file| file.is_file())?,
        _ => program.to_owned(),
    };
    found.canonicalize().ok()
}

/// The files that the preprocessor's output comes from, or says to come from, each once, in order.
fn file_names(preprocessed: &str) -> Vec<OsString> {
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for line in preprocessed.lines() {
        // # 12 "file" 1 3
        let Some((_, rest)) = line
            .strip_prefix("# ")
            .and_then(|rest| rest.split_once('"'))
        else {
            continue;
        };
        let Some((written, _flags)) = rest.rsplit_once('"') else {
            continue;
        };
        if seen.insert(written) && !written.starts_with('<') {
            names.push(OsString::from_vec(unescaped(written.as_bytes())));
        }
    }
    names
}

/// Removes the escapes from a file name in a line marker: `\"`, and three octal digits for other bytes.
pub(crate) fn unescaped(mut written: &[u8]) -> Vec<u8> {
    let mut name = Vec::with_capacity(written.len());
    while let [first, rest @ ..] = written {
        written = rest;
        match (first, rest) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..]) => {
                let digits = [a, b, c].map(|digit| digit - b'0');
                name.push(digits[0] << 6 | digits[1] << 3 | digits[2]);
                written = rest;
            }
            (b'\\', [b't', rest @ ..]) => {
                name.push(b'\t');
                written = rest;
            }
            (b'\\', [b'n', rest @ ..]) => {
                name.push(b'\n');
                written = rest;
            }
            (b'\\', [other, rest @ ..]) => {
                name.push(*other);
                written = rest;
            }
            (other, _) => name.push(*other),
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_for_several_sources_is_that_for_each() {
        let one = b" \"/bin/clang\" -main-file-name b.c -I \"x y\" /p/b.c\nsearch\n /usr\n";
        let several =
            b" \"/bin/clang\" -main-file-name b.c -I \"x y\" \"/p/a.c\" /p/b.c\nsearch\n /usr\nsearch\n /usr\n";
        let (a, b) = (OsStr::new("/p/a.c"), OsStr::new("/p/b.c"));
        assert_eq!(plan_without(one, &[b]), plan_without(several, &[a, b]));
        let other = plan_without(
            b" \"/bin/clang\" -main-file-name b.c -I y /p/b.c\nsearch\n /usr\n",
            &[b],
        );
        assert_ne!(plan_without(one, &[b]), other);
    }

    #[test]
    fn the_files_of_an_output_are_those_of_its_markers() {
        let text = "# 1 \"a b.c\"\n# 1 \"<built-in>\" 1\n#define A \"x.c\"\n# 1 \"/usr/include/stdio.h\" 1 3 4\n\
                    int x;\n# 2 \"a b.c\" 2\n#pragma \"p.h\"\n# 7 \"odd\\\\\\\"n\\303\\244me.h\"\n";
        assert_eq!(
            file_names(text),
            ["a b.c", "/usr/include/stdio.h", "odd\\\"näme.h"]
        );
    }
}
