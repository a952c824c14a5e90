//! Everything outside of a copy is made read-only, in a mount namespace of our own.

use std::cell::Cell;
use std::ffi::{CStr, CString, OsString};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::ptr;

use super::guardian::mount_at;
use super::mounts::{mount, unmount};
use super::sys::{check, open_place, path_of};
use crate::files::c_path;
use crate::refusal::Refusal;
use crate::view::Protection;

/// Places of the kernel that change the whole system; the rest of `/proc` is about processes, of which there are no others.
const KERNEL: [&str; 8] = [
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/fs",
    "/proc/acpi",
    "/proc/scsi",
    "/proc/mtrr",
];

/// The devices that there are, which hold nothing of anybody.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

/// Links in `/dev`.
const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// So many folders in a folder for temporary files are shown as they are, each by a mount of its own, which takes some
/// 100 µs for each supervisor. A layer shows the others: what a program changes in them is thrown away.
const FOLDERS_BESIDE_LAYER: usize = 64;

/// The same where no layer shows the others, which are missing then.
const FOLDERS_WITHOUT_LAYER: usize = 1000;

/// The layers whose changes are thrown away.
#[derive(Default)]
pub(super) struct Private {
    /// The numbers of their mounts.
    pub(super) mounts: Vec<u64>,
    /// Where each has what was changed.
    changes: Vec<OwnedFd>,
}

impl Private {
    /// Whether something is changed in one.
    pub(super) fn is_changed(&self) -> bool {
        let mut changes = self.changes.iter();
        changes.any(|changes| {
            let entries = fs::read_dir(path_of(changes));
            entries.is_ok_and(|mut entries| entries.next().is_some())
        })
    }
}

/// Protects all files from changes except those that may be changed. Returns what is thrown away at the end. After an error no command may
/// run.
pub(super) fn protect(protection: &Protection) -> Result<Private, Refusal> {
    let mounted = fs::read("/proc/self/mountinfo").map(|text| mounted(&text));
    let mounted =
        mounted.map_err(|error| Refusal::of_file("what is mounted is not known", &error))?;
    let places = Places::open(protection)?;
    // All at once, also what is hidden by other mounts.
    set(
        Path::new("/"),
        libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NODEV,
        0,
    )
    .map_err(|error| Refusal::of_namespace("the system cannot be made read-only", &error))?;
    // What is there of processes is their own.
    let proc = Path::new("/proc");
    set_one(proc, 0, libc::MOUNT_ATTR_RDONLY)
        .map_err(|error| Refusal::of_namespace("/proc", &error))?;
    let at = |what: &Path| {
        let what = what.display().to_string();
        move |error: io::Error| Refusal::of_namespace(what, &error)
    };
    let layers = Layers::new(&protection.layers).map_err(at(&protection.layers))?;
    let mut private = Private::default();
    for folder in &protection.temporary {
        let Some(folder) = folder_at(folder) else {
            continue;
        };
        let inner = folders_in(&folder);
        let within = within(&mounted, &folder);
        let shown = match layers.cover(&folder) {
            Some(changes) => {
                private.changes.push(changes);
                FOLDERS_BESIDE_LAYER
            }
            None => {
                new_memory(&folder, 0o1777).map_err(at(&folder))?;
                FOLDERS_WITHOUT_LAYER
            }
        };
        private.mounts.extend(mount_at(&folder));
        for (target, open) in within.iter().chain(inner.iter().take(shown)) {
            // One that is gone meanwhile, or cannot be shown, is not to be seen.
            let _ = show(open, target, false);
        }
    }
    for folder in &protection.private {
        let Some(folder) = folder_at(folder) else {
            continue;
        };
        let is_around = |other: &PathBuf| other.starts_with(&folder);
        let is_covered = mount_at(&folder).is_some_and(|at| private.mounts.contains(&at));
        if is_covered || folder == Path::new("/") || protection.temporary.iter().any(is_around) {
            continue;
        }
        let within = within(&mounted, &folder);
        if let Some(changes) = layers.cover(&folder) {
            private.changes.push(changes);
            private.mounts.extend(mount_at(&folder));
            for (target, open) in &within {
                let _ = show(open, target, false);
            }
        }
    }
    for folder in &protection.empty {
        // What is private already is theirs.
        let is_private =
            |folder: &Path| mount_at(folder).is_some_and(|at| private.mounts.contains(&at));
        match folder_at(folder) {
            Some(folder) if folder != Path::new("/") && !is_private(&folder) => {
                new_memory(&folder, 0o700).map_err(at(&folder))?;
            }
            _ => {}
        }
    }
    new_devices(&places.devices).map_err(at(Path::new("/dev")))?;
    for path in KERNEL.iter().map(Path::new).filter(|path| path.exists()) {
        mount(Some(path), path, libc::MS_BIND).map_err(at(path))?;
        set(path, libc::MOUNT_ATTR_RDONLY, 0).map_err(at(path))?;
    }
    for (folder, open) in &places.allowed {
        show(open, folder, true).map_err(at(folder))?;
    }
    let is_inner = |folder: &Path| {
        let mut writable = places.writable.iter();
        writable.any(|(writable, _)| folder.starts_with(writable))
    };
    let (inner, outer): (Vec<_>, Vec<_>) =
        places.kept.iter().partition(|(folder, _)| is_inner(folder));
    for (folder, open) in outer {
        keep(folder, open, protection).map_err(at(folder))?;
    }
    for (folder, open) in &places.writable {
        show(open, folder, true).map_err(at(folder))?;
    }
    for (folder, open) in inner {
        show(open, folder, false).map_err(at(folder))?;
    }
    Ok(private)
}

/// What is shown where it was, opened before anything covers it.
struct Places {
    writable: Vec<(PathBuf, OwnedFd)>,
    allowed: Vec<(PathBuf, OwnedFd)>,
    kept: Vec<(PathBuf, OwnedFd)>,
    devices: Vec<(&'static str, OwnedFd)>,
}

impl Places {
    fn open(protection: &Protection) -> Result<Self, Refusal> {
        let open = |path: &PathBuf| {
            let refused = |error: io::Error| Refusal::of_file(path.display(), &error);
            let path = fs::canonicalize(path).map_err(refused)?;
            let open = open_place(&path).map_err(refused)?;
            Ok((path, open))
        };
        let all = |paths: &[PathBuf]| paths.iter().map(open).collect::<Result<Vec<_>, Refusal>>();
        let devices = DEVICES.iter();
        Ok(Places {
            writable: all(&protection.writable)?,
            allowed: all(&protection.allowed)?,
            kept: all(&protection.kept)?,
            devices: devices
                .filter_map(|name| Some((*name, open_place(&Path::new("/dev").join(name)).ok()?)))
                .collect(),
        })
    }
}

/// A folder by its true path, if there is one.
fn folder_at(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok().filter(|path| path.is_dir())
}

/// The mounts below a folder, opened.
fn within(mounted: &[PathBuf], folder: &Path) -> Vec<(PathBuf, OwnedFd)> {
    let below = mounted
        .iter()
        .filter(|at| at.starts_with(folder) && *at != folder);
    below
        .filter_map(|at| Some((at.clone(), open_place(at).ok()?)))
        .collect()
}

/// The folders in a folder for temporary files, opened: those that were changed last, which somebody still uses, come
/// first.
fn folders_in(folder: &Path) -> Vec<(PathBuf, OwnedFd)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    let changed = |path: &PathBuf| fs::symlink_metadata(path).and_then(|about| about.modified());
    folders.sort_by_cached_key(|path| std::cmp::Reverse(changed(path).ok()));
    folders.truncate(FOLDERS_WITHOUT_LAYER);
    folders
        .into_iter()
        .filter_map(|path| open_place(&path).ok().map(|open| (path, open)))
        .collect()
}

/// Mounts an open file or folder at a path. A folder that is missing in a layer is made.
pub(super) fn show(open: &OwnedFd, target: &Path, writable: bool) -> io::Result<()> {
    if !target.exists() {
        fs::create_dir_all(target)?;
    }
    mount(Some(&path_of(open)), target, libc::MS_BIND | libc::MS_REC)?;
    match writable {
        true => set(target, 0, libc::MOUNT_ATTR_RDONLY),
        false => set(target, libc::MOUNT_ATTR_RDONLY, 0),
    }
}

/// Makes a folder read-only although it lies in what is writable. That no folder around it is renamed, and another one put in
/// its place, each becomes a mount.
fn keep(folder: &Path, open: &OwnedFd, protection: &Protection) -> io::Result<()> {
    let around = protection.allowed.iter().filter_map(|path| folder_at(path));
    let around = around.filter(|allowed| folder.starts_with(allowed));
    if let Some(allowed) = around.min_by_key(|allowed| allowed.components().count()) {
        let mut between: Vec<&Path> = folder.ancestors().skip(1).collect();
        between.retain(|path| path.starts_with(&allowed) && *path != allowed);
        for path in between.iter().rev() {
            mount(Some(path), path, libc::MS_BIND | libc::MS_REC)?;
        }
    }
    show(open, folder, false)
}

/// A file system in memory.
fn new_memory(at: &Path, mode: u32) -> io::Result<()> {
    let options = CString::new(format!("mode={mode:o}"))?;
    mount_new(
        c"tmpfs",
        at,
        libc::MS_NOSUID | libc::MS_NODEV,
        Some(&options),
    )
}

fn mount_new(
    kind: &CStr,
    at: &Path,
    flags: libc::c_ulong,
    options: Option<&CStr>,
) -> io::Result<()> {
    let at = c_path(at)?;
    let options = options.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: the strings are NUL-terminated and alive.
    check(unsafe {
        libc::mount(
            kind.as_ptr(),
            at.as_ptr(),
            kind.as_ptr(),
            flags,
            options.cast(),
        )
    })
    .map(drop)
}

/// Devices of our own: none of somebody's disk or terminal.
fn new_devices(devices: &[(&'static str, OwnedFd)]) -> io::Result<()> {
    let dev = Path::new("/dev");
    new_memory(dev, 0o755)?;
    // Else what is mounted in it could not be opened.
    for (name, open) in devices {
        let at = dev.join(name);
        fs::write(&at, "")?;
        mount(Some(&path_of(open)), &at, libc::MS_BIND)?;
        set(&at, 0, libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_RDONLY)?;
    }
    for (name, target) in LINKS {
        std::os::unix::fs::symlink(target, dev.join(name))?;
    }
    for name in ["pts", "shm"] {
        fs::create_dir(dev.join(name))?;
    }
    let options = c"newinstance,ptmxmode=0666,mode=620";
    mount_new(c"devpts", &dev.join("pts"), libc::MS_NOSUID, Some(options))?;
    new_memory(&dev.join("shm"), 0o1777)?;
    Ok(())
}

/// Where layers over folders have what is changed.
struct Layers {
    /// On disk.
    folder: PathBuf,
    /// The same, however the path is covered.
    open: OwnedFd,
    number: Cell<u32>,
}

impl Layers {
    fn new(folder: &Path) -> io::Result<Self> {
        let folder = fs::canonicalize(folder)?;
        mount(Some(&folder), &folder, libc::MS_BIND)?;
        set(&folder, 0, libc::MOUNT_ATTR_RDONLY)?;
        Ok(Layers {
            open: open_place(&folder)?,
            folder,
            number: Cell::new(0),
        })
    }

    /// A new folder for a layer: those of an earlier supervisor are left as they are.
    fn base(&self) -> io::Result<PathBuf> {
        loop {
            self.number.set(self.number.get() + 1);
            let base = path_of(&self.open).join(self.number.get().to_string());
            match fs::create_dir(&base) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                other => return other.map(|()| base),
            }
        }
    }

    /// Lays a layer over a folder, and gives the folder of what is changed in it; `None` if that is not possible.
    fn cover(&self, folder: &Path) -> Option<OwnedFd> {
        let covered = (|| {
            let base = self.base()?;
            let changes = |base: &Path| open_place(&base.join(CHANGES));
            if !self.folder.starts_with(folder) && lay(&base, folder).is_ok() {
                return changes(&base);
            }
            // A layer on disk cannot lie in what it covers, and not every file system can have one.
            new_memory(&base, 0o700)?;
            let result = lay(&base, folder).and_then(|()| changes(&base));
            unmount(&base);
            result
        })();
        if let Err(error) = &covered {
            tracing::info!("{} gets no layer: {error}", folder.display());
        }
        covered.ok()
    }
}

/// The folder of a layer with what is changed.
const CHANGES: &str = "changes";

/// Mounts over a folder a layer whose changes are in `base`.
fn lay(base: &Path, folder: &Path) -> io::Result<()> {
    let (changes, work) = (base.join(CHANGES), base.join("work"));
    for path in [&changes, &work] {
        if !path.exists() {
            fs::create_dir(path)?;
        }
    }
    let metadata = fs::metadata(folder)?;
    // The folder shown is this one.
    let _ = std::os::unix::fs::chown(&changes, Some(metadata.uid()), Some(metadata.gid()));
    fs::set_permissions(&changes, metadata.permissions())?;
    // By numbers: names may hold what separates options.
    let [lower, upper, work] = [folder, &changes, &work].map(open_place);
    let (lower, upper, work) = (lower?, upper?, work?);
    let [lower_path, upper_path, work_path] =
        [&lower, &upper, &work].map(|open| path_of(open).display().to_string());
    let options = format!("lowerdir={lower_path},upperdir={upper_path},workdir={work_path}");
    // Who is not root may not use the attributes that are usual.
    let tries = [options.clone(), options + ",userxattr"];
    let flags = libc::MS_NOSUID | libc::MS_NODEV;
    let [plain, own] = tries.map(|options| CString::new(options).expect("it has no NUL"));
    mount_new(c"overlay", folder, flags, Some(&plain))
        .or_else(|_| mount_new(c"overlay", folder, flags, Some(&own)))
}

/// Sets and clears attributes of a mount and of those below it.
fn set(path: &Path, set: u64, clear: u64) -> io::Result<()> {
    set_attributes(path, set, clear, libc::AT_RECURSIVE)
}

/// The same of one mount alone.
fn set_one(path: &Path, set: u64, clear: u64) -> io::Result<()> {
    set_attributes(path, set, clear, 0)
}

fn set_attributes(path: &Path, set: u64, clear: u64, flags: libc::c_int) -> io::Result<()> {
    let path = c_path(path)?;
    let attributes = libc::mount_attr {
        attr_set: set,
        attr_clr: clear,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is NUL-terminated, and it and the structure are alive; the size is that of the structure.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    check(result).map(drop)
}

/// Where a `mountinfo` says that something is mounted.
fn mounted(text: &[u8]) -> Vec<PathBuf> {
    let lines = text.split(|&byte| byte == b'\n');
    lines
        .filter_map(|line| Some(unescaped(line.split(|&byte| byte == b' ').nth(4)?)))
        .collect()
}

/// A path in which blanks and the like are written as a backslash and three octal digits.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| byte == b'\\');
        let value = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match value {
            Some(value) => {
                path.push(value);
                rest = &behind[3..];
            }
            None => {
                path.push(byte);
                rest = behind;
            }
        }
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_their_names() {
        let text = b"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            30 21 0:5 / /my\\040disk ro,nosuid - vfat /dev/sdb1 rw\n";
        assert_eq!(mounted(text), [Path::new("/"), Path::new("/my disk")]);
    }
}
