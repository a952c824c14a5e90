//! What clang has said before: its answers about a source are kept in a cache, under the digest of all that they depend on.
//!
//! That is: what the preprocessor makes of the source, with all definitions, among them the version of the compiler; the text of every
//! file that it comes from, since the places of words within a line do not show there; what the compiler says it is going to do, its
//! configuration included; and the question. So the preprocessor runs each time, and nothing else has to.

use std::{
    collections::{HashMap, HashSet},
    ffi::OsString,
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

    /// What answers about a source depend on: `preprocessed` is what clang's preprocessor printed, and `plan` what it told of itself.
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
    fn key(&self, request: &Request) -> Digest {
        let mut hasher = Hasher::new();
        hasher
            .field(self.key.to_string())
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

    /// What clang has printed for this request before.
    pub(crate) fn recall(&self, request: &Request) -> Option<Vec<u8>> {
        self.memory.cache.get(self.key(request))
    }

    /// Keeps what clang has printed, unless a file has changed since the preprocessor ran.
    pub(crate) fn keep(&self, request: &Request, printed: &[u8]) {
        let is_same = |(path, before): &(PathBuf, Stamp)| stamp(path).as_ref() == Some(before);
        if self.files.iter().all(is_same) {
            self.memory.cache.put(self.key(request), printed);
        }
    }
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

/// A file name as a marker has it, without its escapes: `\"`, and three octal digits for a byte that is no printable character.
fn unescaped(mut written: &[u8]) -> Vec<u8> {
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
    fn the_files_of_an_output_are_those_of_its_markers() {
        let text = "# 1 \"a b.c\"\n# 1 \"<built-in>\" 1\n#define A \"x.c\"\n# 1 \"/usr/include/stdio.h\" 1 3 4\n\
                    int x;\n# 2 \"a b.c\" 2\n#pragma \"p.h\"\n# 7 \"odd\\\\\\\"n\\303\\244me.h\"\n";
        assert_eq!(
            file_names(text),
            ["a b.c", "/usr/include/stdio.h", "odd\\\"näme.h"]
        );
    }
}
