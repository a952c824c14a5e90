//! Records the calls of a program by the project's own tests: arguments, standard input, and files in the
//! folder of the call.
//!
//! Tests that a driver runs are scripts of which nothing is known. For a while a script stands in the program's place that
//! keeps what it was called with, and then is the program. What was kept is executed in both versions, and changed, like
//! the cases of projects that have some.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use patchwright_compare::Case;
use patchwright_exec::{
    CancelToken, Limits, Project, TestKind, files, run_test, runner::Environment,
};

use super::{
    named::Made,
    native::{Built, files_in},
};
use crate::encoded::Problem;

/// Where calls are kept, within the copy.
const KEPT: &str = ".patchwright-calls";
/// Calls that are kept at most.
const MOST: usize = 400;
/// Time for a test at most.
const PATIENCE: Duration = Duration::from_secs(20);
/// Bytes of a case at most.
const MOST_BYTES: usize = 1 << 20;

/// Returns the calls of a project's program by its tests, with the tests' names, as many as there is time
/// for until `end`. There are none if no driver runs the tests, or if the program is not known.
///
/// # Errors
/// What cannot be written, and interruption.
pub fn calls(
    project: &Project,
    made: &mut Made,
    end: Instant,
    cancel: &CancelToken,
) -> Result<Vec<(String, Case)>, Problem> {
    let is_driven = |kind: &TestKind| matches!(kind, TestKind::Driver { .. });
    let tests = project.tests.iter().flat_map(|tests| &tests.tests);
    let tests: Vec<_> = tests.filter(|test| is_driven(&test.kind)).collect();
    let Some(built) = made.built.as_mut().filter(|_| !tests.is_empty()) else {
        return Ok(Vec::new());
    };
    let folder = built.worker.sandbox.folder().to_path_buf();
    let program = folder.join(&built.program);
    let real = moved(&program);
    let kept = folder.join(KEPT);
    if !program.is_file() || built.program.is_absolute() {
        return Ok(Vec::new());
    }
    files::create_folder(&kept).map_err(Problem::of)?;
    files::rename(&program, &real).map_err(Problem::of)?;
    let script = script(built);
    built
        .worker
        .sandbox
        .write(&built.program, script.as_bytes(), Some(true))
        .map_err(Problem::of)?;
    let mut names: Vec<(String, usize)> = Vec::new();
    for test in tests {
        let now = Instant::now();
        if now >= end || names.iter().map(|one| one.1).sum::<usize>() >= MOST {
            break;
        }
        let before = count(&kept);
        let limits = Limits::with_wall((end - now).min(PATIENCE));
        let (runner, sandbox) = (&mut built.worker.runner, &built.worker.sandbox);
        let ran = run_test(runner, sandbox, test, &Environment::default(), &limits);
        if cancel.is_cancelled() {
            return Err(Problem::Interrupted);
        }
        // One that cannot be run calls nothing.
        let _ = ran;
        names.push((test.name.clone(), count(&kept) - before));
    }
    files::rename(&real, &program).map_err(Problem::of)?;
    let mut all: Vec<(String, Case)> = Vec::new();
    let mut number = 0;
    for (name, count) in names {
        for _ in 0..count {
            number += 1;
            let case = read(&kept.join(number.to_string()));
            let size: usize = case.files.iter().map(|(_, held)| held.len()).sum();
            let is_new = all.iter().all(|(_, other)| *other != case);
            if is_new && size + case.input.len() <= MOST_BYTES && all.len() < MOST {
                all.push((name.clone(), case));
            }
        }
    }
    files::remove_tree(&kept).map_err(Problem::of)?;
    Ok(all)
}

/// Where the program is while its calls are kept.
fn moved(program: &Path) -> PathBuf {
    let mut name = program.file_name().unwrap_or_default().to_owned();
    name.push(".patchwright-real");
    program.with_file_name(name)
}

/// Calls so far.
fn count(kept: &Path) -> usize {
    let mut number = 0;
    while kept.join((number + 1).to_string()).exists() {
        number += 1;
    }
    number
}

/// Keeps what it is called with under the next free number, and is the program then. A folder is only made by one of several.
/// Nothing but standard input is kept of a call in a folder that is large, or the copy's own.
fn script(built: &Built) -> String {
    let root = built.worker.sandbox.run_root();
    let quoted = |path: &Path| {
        let text = path.to_string_lossy().into_owned();
        shlex::try_quote(&text).map_or_else(|_| text.clone(), |quoted| quoted.into_owned())
    };
    format!(
        "#!/bin/sh\n\
         kept={}\nreal={}\nroot={}\nn=1\n\
         while ! mkdir \"$kept/$n\" 2>/dev/null; do\n\
         \x20 [ $n -ge {MOST} ] && exec \"$real\" \"$@\"\n\
         \x20 n=$((n + 1))\n\
         done\n\
         for word; do printf '%s\\0' \"$word\"; done > \"$kept/$n/arguments\"\n\
         if [ \"$(pwd -P)\" != \"$root\" ] && [ \"$(find . -type f | head -n 65 | wc -l)\" -le 64 ] \\\n\
         \x20 && [ \"$(du -sk . | cut -f 1)\" -le 1024 ]; then\n\
         \x20 mkdir \"$kept/$n/files\"\n\
         \x20 cp -R . \"$kept/$n/files\" 2>/dev/null\n\
         fi\n\
         if [ -t 0 ]; then exec \"$real\" \"$@\"; fi\n\
         cat > \"$kept/$n/input\"\n\
         exec \"$real\" \"$@\" < \"$kept/$n/input\"\n",
        quoted(&root.join(KEPT)),
        quoted(&moved(&root.join(&built.program))),
        quoted(root),
    )
}

/// A call that was kept.
fn read(folder: &Path) -> Case {
    let held = |name: &str| files::read(&folder.join(name)).unwrap_or_default();
    let words = held("arguments");
    let mut arguments: Vec<Vec<u8>> = words.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    // Each of them ends with a zero.
    arguments.pop();
    Case {
        arguments,
        input: held("input"),
        files: files_in(&folder.join("files")),
    }
}
