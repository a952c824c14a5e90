//! The private folder of one run of Patchwright, removed at its end or by the next run.
//!
//! A folder is named `patchwright-UID-PID-RANDOM` and holds a file that its owner keeps locked
//! (`flock`) for as long as it lives; the lock cannot outlive the owner, however it dies. Whoever
//! makes a scratch folder first removes those of the same user whose lock is free. There is one
//! folder on disk and one in shared memory.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use crate::attempts::Attempts;
use crate::files::{self, Context, FileError};
use crate::view::Protection;

/// The name of the locked file.
const LOCK: &str = "lock";
/// The name of the folder that all workers have at the same path.
const RUN: &str = "run";
/// The name of the folder in which all programs that are tested may write.
const COMMON: &str = "common";
/// Where memory that processes share has its names.
const SHARED_MEMORY: &str = "/dev/shm";

/// The private folder for everything that one run of Patchwright writes. Dropping it removes the folder.
#[derive(Debug)]
pub struct Scratch {
    disk: LockedFolder,
    /// `None` where the system has no shared memory that we may use.
    shared: Option<LockedFolder>,
    rules: Rules,
    /// What the programs of this run try outside of their copies.
    attempts: Arc<Attempts>,
}

/// What the programs of a run may do outside of their copies, as the user's flags say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    /// Everything that the user may.
    pub unprotected: bool,
    /// Write to these folders; absolute and existing.
    pub allowed: Vec<PathBuf>,
    /// Reach the network.
    pub network: bool,
    /// Folders that nobody may write to, whatever is allowed: where results are kept.
    pub kept: Vec<PathBuf>,
}

impl Scratch {
    /// Makes a scratch folder in `base`, after removing there what dead processes of this user
    /// left behind.
    ///
    /// # Errors
    /// When `base` does not exist or cannot be written to.
    pub fn new(base: &Path) -> Result<Self, FileError> {
        Scratch::after_removing(base, &|_| {})
    }

    /// The same; `slow` is called with what a dead process has left behind if removing it takes more than a second.
    fn after_removing(base: &Path, slow: &(dyn Fn(&Path) + Sync)) -> Result<Self, FileError> {
        let base = fs::canonicalize(base).context(files::USE_TEMPORARY, base)?;
        let disk = LockedFolder::create(&base, slow)?;
        let shared = LockedFolder::create(Path::new(SHARED_MEMORY), slow).ok();
        let own = std::iter::once(&disk).chain(&shared);
        let own = own.map(|folder| folder.path.clone()).collect();
        let scratch = Scratch {
            disk,
            shared,
            rules: Rules::default(),
            attempts: Arc::new(Attempts::of_run(own)),
        };
        scratch.create_folder(RUN)?;
        scratch.create_folder(COMMON)?;
        Ok(scratch)
    }

    /// Makes a scratch folder in the place that the environment names: `PATCHWRIGHT_TMP`, else
    /// `TMPDIR`, else `/tmp`.
    ///
    /// # Errors
    /// As [`Scratch::new`].
    pub fn in_default_place() -> Result<Self, FileError> {
        Scratch::in_default_place_telling(&|_| {})
    }

    /// Does the same as [`Scratch::in_default_place`]. It calls `slow` with each folder of an earlier
    /// run whose removal takes more than a second.
    ///
    /// # Errors
    /// As [`Scratch::new`].
    pub fn in_default_place_telling(slow: &(dyn Fn(&Path) + Sync)) -> Result<Self, FileError> {
        let named = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let base = named("PATCHWRIGHT_TMP").or_else(|| named("TMPDIR"));
        Scratch::after_removing(Path::new(&base.unwrap_or_else(|| "/tmp".into())), slow)
    }

    /// Returns the folder as an absolute path without symbolic links.
    pub fn path(&self) -> &Path {
        &self.disk.path
    }

    /// Returns the folder for files that are mapped as shared memory: in memory if the system has
    /// such a file system, else on disk.
    pub fn shared_path(&self) -> PathBuf {
        let shared = self.shared.as_ref();
        shared.map_or_else(|| self.common_path(), |folder| folder.path.clone())
    }

    /// Returns a folder on disk in which all tested programs may write.
    pub fn common_path(&self) -> PathBuf {
        self.disk.path.join(COMMON)
    }

    /// Sets what programs may do outside of their copies. Call it before any of them is started.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    /// Returns what programs have tried to change or reach outside of their copies.
    pub fn attempts(&self) -> &Arc<Attempts> {
        &self.attempts
    }

    /// Returns the protection for the programs of a worker whose folder is `worker`; `None` if the user gave it up. `shared` is the
    /// worker's folder for memory, `layers` an empty folder.
    pub(crate) fn protection(
        &self,
        worker: &Path,
        shared: &Path,
        layers: PathBuf,
    ) -> Option<Protection> {
        if self.rules.unprotected {
            return None;
        }
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let folder = |name| variable(name).map(PathBuf::from);
        let home = folder("HOME");
        let in_home = |name| home.as_ref().map(|home| home.join(name));
        let caches: Vec<PathBuf> = [
            in_home(".cache"),
            in_home(".ccache"),
            folder("CCACHE_DIR"),
            folder("XDG_CACHE_HOME"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let mut kept = self.rules.kept.clone();
        kept.push(self.disk.path.clone());
        kept.extend([worker.join(RUN), layers.clone()]);
        Some(Protection {
            writable: vec![worker.to_owned(), self.common_path(), shared.to_owned()],
            allowed: self.rules.allowed.clone(),
            private: home.clone().into_iter().chain(caches.clone()).collect(),
            empty: folder("XDG_RUNTIME_DIR")
                .into_iter()
                .chain(caches)
                .collect(),
            temporary: ["/tmp", "/var/tmp"].map(PathBuf::from).into(),
            kept,
            layers,
            network: self.rules.network,
        })
    }

    /// Returns the path, the same for all tested programs, at which they find the files of their
    /// worker (see [`Worker::run_folder`](crate::Worker::run_folder)).
    pub fn run_path(&self) -> PathBuf {
        self.disk.path.join(RUN)
    }

    /// Makes a folder called `name` in the scratch folder. It must not exist yet.
    pub fn create_folder(&self, name: &str) -> Result<PathBuf, FileError> {
        let path = self.disk.path.join(name);
        files::create_private_folder(&path)?;
        Ok(path)
    }
}

#[derive(Debug)]
struct LockedFolder {
    path: PathBuf,
    /// Holds the lock while open. Closed on exec, so no other process ever holds it.
    _lock: File,
}

/// The scratch folders of this process that are there.
static THERE: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn there() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    THERE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the folders that would remain if this process were killed now. The next run would remove them.
pub fn left_behind() -> Vec<PathBuf> {
    there()
        .iter()
        .filter(|path| path.exists())
        .cloned()
        .collect()
}

impl Drop for LockedFolder {
    fn drop(&mut self) {
        if let Err(error) = dismantle(&self.path) {
            tracing::warn!("{error}");
        }
        there().remove(&self.path);
    }
}

impl LockedFolder {
    fn create(base: &Path, slow: &(dyn Fn(&Path) + Sync)) -> Result<Self, FileError> {
        remove_stale(base, slow);
        let prefix = format!("{}{}", prefix(), std::process::id());
        loop {
            let random = RandomState::new().hash_one(0) as u32;
            let path = base.join(format!("{prefix}-{random:08x}"));
            match files::create_private_folder(&path) {
                Err(error) if error.source.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other?,
            }
            // Until the lock is held, another process may take the folder for a stale one and
            // remove it; then there is nothing to hold, and we try again.
            let lock_path = path.join(LOCK);
            let lock = OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(&lock_path);
            let lock = match lock {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                other => other.context("create", &lock_path)?,
            };
            if try_lock(&lock) && is_same_file(&lock, &lock_path) {
                there().insert(path.clone());
                return Ok(LockedFolder { path, _lock: lock });
            }
        }
    }
}

fn prefix() -> String {
    // SAFETY: no pointers.
    format!("patchwright-{}-", unsafe { libc::geteuid() })
}

fn try_lock(file: &File) -> bool {
    // SAFETY: no pointers.
    unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) == 0 }
}

fn is_same_file(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => (open.dev(), open.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

/// Removes the scratch folders of this user in `base` whose owners are dead. What cannot be
/// removed is left for another time: it must not keep the user from working.
fn remove_stale(base: &Path, slow: &(dyn Fn(&Path) + Sync)) {
    // SAFETY: no pointers.
    let user = unsafe { libc::geteuid() };
    let prefix = prefix();
    let Ok(entries) = fs::read_dir(base) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        let named = entry.file_name().as_bytes().starts_with(prefix.as_bytes());
        // In a folder that all may write to, a name proves nothing.
        let ours = fs::symlink_metadata(&path).is_ok_and(|m| m.is_dir() && m.uid() == user);
        if !(named && ours) {
            continue;
        }
        match OpenOptions::new()
            .write(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(path.join(LOCK))
        {
            Ok(lock) => {
                if try_lock(&lock)
                    && let Err(error) = telling_when_slow(&path, slow)
                {
                    tracing::warn!("{error}");
                }
            }
            // Its owner is about to lock it, or someone is about to have removed it. An empty one
            // may go in both cases: the owner notices.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let _ = fs::remove_dir(&path);
            }
            Err(_) => {}
        }
    }
}

/// Removes a scratch folder, and tells so if that takes its time.
fn telling_when_slow(path: &Path, slow: &(dyn Fn(&Path) + Sync)) -> Result<(), FileError> {
    const PATIENCE: Duration = Duration::from_secs(1);
    std::thread::scope(|scope| {
        let (done, is_done) = mpsc::channel::<()>();
        let teller = std::thread::Builder::new().spawn_scoped(scope, move || {
            if is_done.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                slow(path);
            }
        });
        // Without a thread nothing is told.
        let _ = teller;
        let result = dismantle(path);
        drop(done);
        result
    })
}

/// Removes a scratch folder, its lock last: if this is cut short, the rest is still recognised.
fn dismantle(path: &Path) -> Result<(), FileError> {
    for entry in fs::read_dir(path).context("read the folder", path)? {
        let entry = entry.context("read the folder", path)?;
        let inner = entry.path();
        let kind = entry.file_type().context("read", &inner)?;
        if kind.is_dir() {
            files::remove_tree(&inner)?;
        } else if entry.file_name() != LOCK {
            files::remove_file(&inner)?;
        }
    }
    files::remove_tree(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(base: &Path) -> Vec<PathBuf> {
        fs::read_dir(base)
            .unwrap()
            .map(|e| e.unwrap().path())
            .collect()
    }

    #[test]
    fn a_scratch_folder_is_private_and_gone_after_its_use() {
        let base = tempfile::tempdir().unwrap();
        let scratch = Scratch::new(base.path()).unwrap();
        assert_eq!(fs::metadata(scratch.path()).unwrap().mode() & 0o777, 0o700);
        let inner = scratch.create_folder("inner").unwrap();
        fs::write(inner.join("file"), "").unwrap();
        let shared = scratch.shared_path().to_path_buf();
        fs::write(shared.join("channel"), "").unwrap();
        let path = scratch.path().to_path_buf();
        assert!(left_behind().contains(&path));
        drop(scratch);
        assert!(!left_behind().contains(&path));
        assert!(entries(base.path()).is_empty());
        assert!(!shared.exists());
    }

    #[test]
    fn two_live_scratch_folders_leave_each_other_alone() {
        let base = tempfile::tempdir().unwrap();
        let first = Scratch::new(base.path()).unwrap();
        let second = Scratch::new(base.path()).unwrap();
        assert!(first.path().join(LOCK).exists() && second.path().join(LOCK).exists());
    }

    #[test]
    fn a_folder_whose_owner_died_is_removed_by_the_next() {
        let base = tempfile::tempdir().unwrap();
        let stale = base.path().join(format!("{}1-00000000", prefix()));
        fs::create_dir_all(stale.join("copy/src")).unwrap();
        fs::write(stale.join(LOCK), "").unwrap();
        let foreign = base.path().join("patchwright-notes");
        fs::create_dir(&foreign).unwrap();
        let scratch = Scratch::new(base.path()).unwrap();
        assert!(!stale.exists());
        assert!(foreign.exists());
        drop(scratch);
    }

    #[test]
    fn a_link_with_the_name_of_a_stale_folder_is_not_followed() {
        let base = tempfile::tempdir().unwrap();
        let precious = base.path().join("precious");
        fs::create_dir(&precious).unwrap();
        fs::write(precious.join(LOCK), "").unwrap();
        let link = base.path().join(format!("{}1-00000000", prefix()));
        std::os::unix::fs::symlink(&precious, &link).unwrap();
        let _scratch = Scratch::new(base.path()).unwrap();
        assert!(precious.join(LOCK).exists());
    }

    #[test]
    fn a_missing_base_is_an_error_that_names_it() {
        let error = Scratch::new(Path::new("/nonexistent/base")).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/base"));
    }
}
