//! What the tests of this crate share.
#![allow(
    clippy::disallowed_methods,
    reason = "tests make projects and start programs"
)]
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use patchwright_exec::{CancelToken, Limits, Request, Runner, RunnerProgram, View};

pub fn program() -> RunnerProgram {
    RunnerProgram {
        exe: env!("CARGO_BIN_EXE_patchwright-runner").into(),
        args: vec![],
    }
}

pub fn runner() -> Runner {
    Runner::start(&program(), None, CancelToken::new().unwrap()).unwrap()
}

pub fn runner_with_view(view: View) -> Runner {
    Runner::start(&program(), Some(view), CancelToken::new().unwrap()).unwrap()
}

/// A temporary folder by its real path.
pub struct Folder {
    pub path: PathBuf,
    _guard: tempfile::TempDir,
}

pub fn folder() -> Folder {
    let guard = tempfile::tempdir().unwrap();
    Folder {
        path: fs::canonicalize(guard.path()).unwrap(),
        _guard: guard,
    }
}

impl Folder {
    pub fn write(&self, name: &str, contents: &str) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, contents).unwrap();
        path
    }

    pub fn script(&self, name: &str, contents: &str) -> PathBuf {
        let path = self.write(name, contents);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// Compiles a C program.
    pub fn compile(&self, name: &str, source: &str) -> PathBuf {
        let file = self.write(&format!("{name}.c"), source);
        let program = self.path.join(name);
        let status = Command::new("cc")
            .arg("-o")
            .args([&program, &file])
            .status()
            .unwrap();
        assert!(status.success());
        program
    }
}

/// A variable that marks the processes of one run, however they try to hide.
pub struct Mark {
    value: String,
}

pub fn mark() -> Mark {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    Mark {
        value: format!("{}-{number}", std::process::id()),
    }
}

impl Mark {
    pub const NAME: &str = "PATCHWRIGHT_TEST_MARK";

    pub fn put_on(&self, request: Request) -> Request {
        request.env(Mark::NAME, self.value.as_str())
    }

    pub fn value(&self) -> &str {
        &self.value
    }

    /// The processes that carry the mark.
    pub fn processes(&self) -> Vec<i32> {
        let entry = format!("{}={}", Mark::NAME, self.value);
        let pids = fs::read_dir("/proc").unwrap().flatten();
        let pids = pids.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|e| e == entry.as_bytes())
        })
        .collect()
    }
}

pub fn seconds(seconds: u64) -> Limits {
    Limits::with_wall(std::time::Duration::from_secs(seconds))
}

pub fn make_fifo(path: &Path) {
    let path = std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap();
    // SAFETY: a NUL-terminated path.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0);
}
