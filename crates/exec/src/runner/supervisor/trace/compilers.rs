//! Notes which C compilers a build executes, whatever names them: for builds that do not look for their compiler in `PATH`.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::super::sys::Pid;
use super::{Watcher, Watching};
use crate::intercept::is_compiler;

/// The variable whose value is the shell command to run and watch.
pub(crate) const COMMAND: &str = "PATCHWRIGHT_WATCHED_BUILD";

/// The variable that names the folder for the records.
pub(crate) const RECORDS: &str = "PATCHWRIGHT_WATCHED_RECORDS";

/// With an argument like these a compiler is one that another one has started.
const INNER: [&[u8]; 2] = [b"-cc1", b"-cc1as"];

/// Watches a build.
struct Build<'a> {
    records: &'a Path,
    number: u32,
}

impl Watcher for Build<'_> {
    fn executes(&mut self, pid: Pid) -> io::Result<()> {
        self.number += 1;
        // What cannot be read has ended.
        if let Ok(Some(text)) = record(pid) {
            fs::write(self.records.join(format!("watched-{}", self.number)), text)?;
        }
        Ok(())
    }
}

/// Runs the command of a build, notes each compiler in a file of the folder `records`, and tells the exit status. Where it is not permitted
/// to watch, the build runs all the same, and nothing is noted.
pub(super) fn watched(command: &OsStr, records: &Path) -> io::Result<i32> {
    let arguments = [b"/bin/sh", &b"-c"[..], command.as_bytes()];
    let arguments: Vec<CString> = arguments
        .map(CString::new)
        .into_iter()
        .collect::<Result<_, _>>()?;
    let mut build = Build { records, number: 0 };
    Watching {
        arguments: &arguments,
        hidden: &[COMMAND, RECORDS],
        is_needed: false,
    }
    .run(&mut build)
}

/// The program that a process has become, if it is a C compiler, in the form of the shims' records.
fn record(pid: Pid) -> io::Result<Option<Vec<u8>>> {
    let line = fs::read(format!("/proc/{pid}/cmdline"))?;
    let words: Vec<&[u8]> = line
        .strip_suffix(b"\0")
        .unwrap_or(&line)
        .split(|b| *b == 0)
        .collect();
    let Some((called, arguments)) = words.split_first() else {
        return Ok(None);
    };
    let name = called
        .rsplit(|byte| *byte == b'/')
        .next()
        .unwrap_or_default();
    if !is_compiler(name) || arguments.iter().any(|word| INNER.contains(word)) {
        return Ok(None);
    }
    let folder = fs::read_link(format!("/proc/{pid}/cwd"))?;
    let program: PathBuf = match called.contains(&b'/') {
        true => folder.join(OsStr::from_bytes(called)),
        false => fs::read_link(format!("/proc/{pid}/exe"))?,
    };
    let mut text = arguments.len().to_string().into_bytes();
    let head = [folder.as_os_str(), program.as_os_str()].map(OsStr::as_bytes);
    for word in head.iter().chain(arguments) {
        text.push(0);
        text.extend_from_slice(word);
    }
    text.push(0);
    Ok(Some(text))
}
