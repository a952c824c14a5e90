//! A folder of results that are costly to make. Each entry's key is the digest of everything that the
//! result was made of.
//!
//! Nothing depends on it. It may be removed at any moment, and several runs may use it at once. A damaged entry counts as
//! missing. A folder that cannot be used is no error.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use patchwright_text::Digest;

/// How an entry begins: another form of entries has another one.
const MAGIC: &[u8; 16] = b"patchwright-1\n\0\0";
const HEAD: usize = MAGIC.len() + DIGEST + 8;
/// Digits of a key.
const DIGEST: usize = 64;
/// An entry takes at most one part in so many of the cache.
const PARTS: u64 = 4;
/// What is removed when there is too much: so much that this is rare.
const KEPT_OF_TEN: u64 = 8;
/// A file that was begun so long ago is not going to be finished.
const STALE: Duration = Duration::from_secs(3600);
/// How the names of entries that are being written begin.
const BEGUN: &str = "new-";

/// A folder of entries that belongs to the user alone.
#[derive(Debug)]
pub struct Cache {
    /// The folder itself, whatever becomes of its name.
    folder: File,
    /// Bytes that all entries may have.
    limit: u64,
    /// Bytes that were written since the folder was looked through last; at first as many as are worth a look.
    written: AtomicU64,
}

impl Cache {
    /// Opens or makes the cache in `folder`. Its entries may have `limit` bytes together; old ones
    /// are removed. The result is `None` if the folder cannot be made or read, is a link, belongs to
    /// somebody else, or can be written to by others.
    pub fn open(folder: &Path, limit: u64) -> Option<Cache> {
        if let Some(above) = folder.parent() {
            let _ = fs::create_dir_all(above);
        }
        // It fails where there is one.
        let _ = DirBuilder::new().mode(0o700).create(folder);
        let folder = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW)
            .open(folder)
            .ok()?;
        let metadata = folder.metadata().ok()?;
        // SAFETY: it has no arguments, and never fails.
        let user = unsafe { libc::geteuid() };
        let is_ours = metadata.uid() == user && metadata.mode() & 0o022 == 0;
        is_ours.then_some(Cache {
            folder,
            limit,
            written: AtomicU64::new(limit),
        })
    }

    /// A file of the folder, by a name that does not depend on where the folder is.
    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}/{name}", self.folder.as_raw_fd()))
    }

    /// Returns the contents of the entry under `key`, or `None` if there is none or it is damaged.
    pub fn get(&self, key: Digest) -> Option<Vec<u8>> {
        let mut file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(self.path(&key.to_string()))
            .ok()?;
        let metadata = file.metadata().ok()?;
        if !metadata.is_file() || metadata.len() > self.limit {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).ok()?);
        file.read_to_end(&mut bytes).ok()?;
        let head = bytes.get(..HEAD)?;
        if head != head_of(key, &bytes[HEAD..]) {
            return None;
        }
        // What was used last is removed last.
        let _ = file.set_modified(SystemTime::now());
        bytes.drain(..HEAD);
        Some(bytes)
    }

    /// Writes `contents` as the entry under `key`. If that is not possible, nothing happens.
    pub fn put(&self, key: Digest, contents: &[u8]) {
        let size = (HEAD + contents.len()) as u64;
        if size > self.limit / PARTS {
            return;
        }
        if self.write(key, contents).is_err() {
            return;
        }
        let written = self.written.fetch_add(size, Ordering::Relaxed) + size;
        if written > self.limit / PARTS {
            self.written.store(0, Ordering::Relaxed);
            // What cannot be removed now is removed another time.
            let _ = self.remove_oldest();
        }
    }

    fn write(&self, key: Digest, contents: &[u8]) -> io::Result<()> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let begun = self.path(&format!("{BEGUN}{}-{number}", std::process::id()));
        let written = (|| {
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&begun)?;
            file.write_all(&head_of(key, contents))?;
            file.write_all(contents)?;
            fs::rename(&begun, self.path(&key.to_string()))
        })();
        if written.is_err() {
            let _ = fs::remove_file(&begun);
        }
        written
    }

    /// Removes entries until the rest has its size, those first that were not used for the longest time.
    fn remove_oldest(&self) -> io::Result<()> {
        let now = SystemTime::now();
        let mut all = Vec::new();
        let mut total = 0;
        for entry in fs::read_dir(self.path("."))? {
            let entry = entry?;
            // It may be gone.
            let Ok(metadata) = fs::symlink_metadata(entry.path()) else {
                continue;
            };
            let used = metadata.modified()?;
            let name = entry.file_name();
            let is_begun = name.to_str().is_some_and(|name| name.starts_with(BEGUN));
            if is_begun {
                if now.duration_since(used).is_ok_and(|age| age > STALE) {
                    let _ = fs::remove_file(entry.path());
                }
                continue;
            }
            // Nothing of the user's is removed that may lie here.
            if metadata.is_file() && is_key(&name) {
                total += metadata.len();
                all.push((used, metadata.len(), entry.path()));
            }
        }
        if total <= self.limit {
            return Ok(());
        }
        all.sort();
        for (_, size, path) in all {
            if total <= self.limit / 10 * KEPT_OF_TEN {
                break;
            }
            if fs::remove_file(path).is_ok() {
                total -= size;
            }
        }
        Ok(())
    }
}

fn is_key(name: &std::ffi::OsStr) -> bool {
    let name = name.as_encoded_bytes();
    name.len() == DIGEST && name.iter().all(u8::is_ascii_hexdigit)
}

/// What stands before the contents of an entry.
fn head_of(key: Digest, contents: &[u8]) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend_from_slice(key.to_string().as_bytes());
    head.extend_from_slice(&checksum(contents).to_le_bytes());
    head
}

/// A number that damage changes. Nobody else writes into the folder, so it need not withstand anybody.
fn checksum(contents: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut sum = contents.len() as u64;
    let words = contents.chunks_exact(8);
    let rest = words.remainder();
    for word in words {
        let word = <[u8; 8]>::try_from(word).map_or(0, u64::from_le_bytes);
        sum = (sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
    }
    for &byte in rest {
        sum = (sum ^ u64::from(byte)).wrapping_mul(FACTOR).rotate_left(29);
    }
    sum
}

/// The place, the size and the times of a file. A different stamp shows that the file has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    place: (u64, u64),
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// Returns the stamp and the contents of a regular file of at most `most` bytes.
///
/// # Errors
/// A file that cannot be read, is not a regular file, or is larger than `most`.
pub fn read_stamped(path: &Path, most: u64) -> io::Result<(Stamp, Vec<u8>)> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() > most {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    (&file).take(most).read_to_end(&mut bytes)?;
    Ok((stamp_of(&metadata), bytes))
}

/// Returns the stamp of a file, or `None` if it does not exist.
pub fn stamp(path: &Path) -> Option<Stamp> {
    Some(stamp_of(&fs::metadata(path).ok()?))
}

fn stamp_of(metadata: &fs::Metadata) -> Stamp {
    Stamp {
        place: (metadata.dev(), metadata.ino()),
        size: metadata.size(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    }
}

impl Stamp {
    /// Whether the file changed less than 20 milliseconds ago, so that another change might leave an
    /// equal stamp.
    pub fn is_fresh(&self) -> bool {
        /// Longer than a tick of any kernel's clock.
        const TICK: Duration = Duration::from_millis(20);
        let (seconds, nanoseconds) = self.changed.max(self.modified);
        let (Ok(seconds), Ok(nanoseconds)) = (u64::try_from(seconds), u32::try_from(nanoseconds))
        else {
            return false;
        };
        let changed = SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds);
        let age = SystemTime::now().duration_since(changed);
        age.map_or(true, |age| age < TICK)
    }
}
