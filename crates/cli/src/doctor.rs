//! `patchwright doctor`: what this machine lacks, and the command that mends it.

use std::path::Path;
use std::time::Duration;

use patchwright_csource::Clang;
use patchwright_exec::{
    CancelToken, FileError, Limits, PoolError, Request, Rules, RunError, Runner, RunnerProgram,
    Scratch, Worker, WorkerOptions, files, runner::Sink,
};

use crate::{Exit, repair::default_jobs, signals};

/// Whether something is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It is.
    Fine,
    /// Something works less well without it.
    Lacks,
    /// Nothing, or not much, works without it.
    Broken,
}

/// What was found out about one thing.
struct Finding {
    state: State,
    what: &'static str,
    found: String,
    /// What mends it.
    remedy: Option<String>,
}

impl Finding {
    fn fine(what: &'static str, found: impl Into<String>) -> Self {
        Finding {
            state: State::Fine,
            what,
            found: found.into(),
            remedy: None,
        }
    }

    fn not(
        state: State,
        what: &'static str,
        found: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Finding {
            state,
            what,
            found: found.into(),
            remedy: Some(remedy.into()),
        }
    }
}

/// Runs `patchwright doctor`: prints what the machine has and lacks. The exit status is [`Exit::Nothing`] if something that every
/// command needs is missing.
pub fn run() -> Exit {
    match findings() {
        Ok(findings) => {
            print!("{}", told(&findings));
            let is_broken = findings.iter().any(|found| found.state == State::Broken);
            if is_broken {
                Exit::Nothing
            } else {
                Exit::Found
            }
        }
        Err(error) => {
            eprintln!("patchwright: error: {error}");
            Exit::BadInput
        }
    }
}

fn told(findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let word = match finding.state {
            State::Fine => "fine   ",
            State::Lacks => "lacks  ",
            State::Broken => "broken ",
        };
        text += &format!("{word} {:<18} {}\n", finding.what, finding.found);
        if let Some(remedy) = &finding.remedy {
            text += &format!("        {:<18} mend it: {remedy}\n", "");
        }
    }
    text
}

fn findings() -> Result<Vec<Finding>, PoolError> {
    if !Path::new("/proc/self").exists() {
        return Ok(vec![Finding::not(
            State::Broken,
            "/proc",
            "it is not mounted, and no command runs without it",
            "mount -t proc proc /proc (as root; in a chroot: mount -t proc proc ROOT/proc)",
        )]);
    }
    let mut scratch = Scratch::in_default_place_telling(&signals::removing)?;
    let cancel = CancelToken::new().map_err(|source| FileError::new("open", "a pipe", source))?;
    let program = RunnerProgram::current_exe(["__runner"])
        .map_err(|source| FileError::new("find", "the running program", source))?;
    let empty = scratch.create_folder("nothing")?;
    let options = |name: &str, scratch: &Scratch| -> Result<Worker, PoolError> {
        let options = WorkerOptions {
            program: &program,
            scratch,
            project: &empty,
            source: &empty,
            prepare: None,
            view: true,
            exclude: Vec::new(),
            build_timeout: None,
            cancel: cancel.clone(),
        };
        Worker::start(0, name, &options)
    };
    let mut found = vec![system()];
    // Whatever is protected or not, the compilers are asked.
    let protection = match options("protected", &scratch) {
        Ok(worker) => {
            drop(worker);
            Finding::fine(
                "protection",
                "builds and tests can write to their copies only",
            )
        }
        Err(PoolError::Runner(RunError::Unprotectable(refusal))) => Finding {
            state: State::Lacks,
            what: "protection",
            found: refusal.to_string(),
            remedy: refusal.command().map(str::to_owned),
        },
        Err(error) => return Err(error),
    };
    scratch.set_rules(Rules {
        unprotected: true,
        ..Rules::default()
    });
    let mut worker = options("open", &scratch)?;
    found.push(compiler(&mut worker.runner));
    found.push(clang(&mut worker.runner));
    if said(&mut worker.runner, "cc --version").is_some() {
        found.push(sanitizers(&mut worker.runner));
    }
    found.push(tool(
        &mut worker.runner,
        "make",
        "make --version",
        "apt-get install make",
    ));
    found.push(tool(
        &mut worker.runner,
        "git",
        "git --version",
        "apt-get install git",
    ));
    found.push(protection);
    found.push(tracing());
    let shared = Path::new("/dev/shm");
    found.push(room(
        "shared memory",
        shared,
        18 * default_jobs() as u64,
        match shared.is_dir() {
            true => "mount -o remount,size=2G /dev/shm (docker run --shm-size=2g)",
            false => {
                "mkdir /dev/shm && mount -t tmpfs -o size=2G,mode=1777 tmpfs /dev/shm (as root)"
            }
        },
    ));
    let folder = scratch.path().parent().unwrap_or(Path::new("/tmp"));
    found.push(room(
        "space for copies",
        folder,
        1024,
        "PATCHWRIGHT_TMP=DIR names a folder with room",
    ));
    found.push(descriptors());
    Ok(found)
}

/// The kernel and the processor.
fn system() -> Finding {
    let release = files::read(Path::new("/proc/sys/kernel/osrelease")).unwrap_or_default();
    let release = String::from_utf8_lossy(&release).trim().to_owned();
    let mut numbers = release
        .split(['.', '-'])
        .map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    let found = format!("Linux {release} on {}", std::env::consts::ARCH);
    match version >= (5, 12) {
        true => Finding::fine("system", found),
        false => Finding::not(
            State::Lacks,
            "system",
            found,
            "protection needs Linux 5.12; say --unprotected with an older one",
        ),
    }
}

/// What a shell command prints first, if it succeeds.
fn said(runner: &mut Runner, script: &str) -> Option<String> {
    let mut request =
        Request::shell(script, "/").limits(Limits::with_wall(Duration::from_secs(20)));
    request.stderr = Sink::WithStdout;
    let outcome = runner.run(&request).ok()?;
    let text = String::from_utf8_lossy(&outcome.stdout).into_owned();
    let first = text.lines().next().unwrap_or_default().trim().to_owned();
    outcome.ending.is_success().then_some(first)
}

fn tool(runner: &mut Runner, what: &'static str, script: &str, remedy: &'static str) -> Finding {
    match said(runner, script) {
        Some(version) => Finding::fine(what, version),
        None => Finding::not(State::Lacks, what, "not found", remedy),
    }
}

/// The compiler that programs are built with.
fn compiler(runner: &mut Runner) -> Finding {
    let links = "printf 'int main(void){return 0;}' | cc -x c - -o /dev/null";
    match (said(runner, "cc --version"), said(runner, links)) {
        (Some(version), Some(_)) => Finding::fine("compiler", version),
        (Some(_), None) => Finding::not(
            State::Broken,
            "compiler",
            "cc does not link an empty program",
            "apt-get install gcc libc6-dev",
        ),
        (None, _) => Finding::not(
            State::Broken,
            "compiler",
            "there is no cc",
            "apt-get install gcc libc6-dev",
        ),
    }
}

/// The clang that sources are read with.
fn clang(runner: &mut Runner) -> Finding {
    match Clang::find(runner) {
        Ok(clang) => Finding::fine(
            "clang",
            format!("version {} ({})", clang.version, clang.program().display()),
        ),
        Err(error) => Finding::not(
            State::Broken,
            "clang",
            error.to_string(),
            "apt-get install clang-19",
        ),
    }
}

/// What patches are looked at for undefined behaviour with.
fn sanitizers(runner: &mut Runner) -> Finding {
    let links =
        "printf 'int main(void){return 0;}' | cc -fsanitize=address,undefined -x c - -o /dev/null";
    match said(runner, links) {
        Some(_) => Finding::fine("sanitizers", "cc has AddressSanitizer and UBSan"),
        None => Finding::not(
            State::Lacks,
            "sanitizers",
            "cc links no program with -fsanitize=address,undefined",
            "apt-get install libgcc-12-dev, or libclang-rt-19-dev where cc is clang",
        ),
    }
}

/// Whether processes may be traced.
fn tracing() -> Finding {
    let scope = files::read(Path::new("/proc/sys/kernel/yama/ptrace_scope")).unwrap_or_default();
    match scope.trim_ascii() {
        b"3" => Finding::not(
            State::Lacks,
            "ptrace",
            "no process may trace another one",
            "sysctl -w kernel.yama.ptrace_scope=1 (as root; from 3 only a reboot leads back)",
        ),
        _ => Finding::fine("ptrace", "programs that are started can be traced"),
    }
}

/// The room in a folder; so many MiB are wanted.
fn room(what: &'static str, folder: &Path, wanted: u64, remedy: &'static str) -> Finding {
    match files::free_space(folder) {
        Ok(bytes) if bytes >> 20 >= wanted => Finding::fine(
            what,
            format!("{} MiB free in {}", bytes >> 20, folder.display()),
        ),
        Ok(bytes) => Finding::not(
            State::Lacks,
            what,
            format!(
                "{} MiB free in {}; {wanted} MiB are good for {} workers",
                bytes >> 20,
                folder.display(),
                default_jobs()
            ),
            remedy,
        ),
        Err(error) => Finding::not(State::Lacks, what, error.to_string(), remedy),
    }
}

/// How many files may be open.
fn descriptors() -> Finding {
    let limits = files::read(Path::new("/proc/self/limits")).unwrap_or_default();
    let limits = String::from_utf8_lossy(&limits).into_owned();
    let line = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let hard = line.and_then(|line| line.split_whitespace().nth(4)?.parse::<u64>().ok());
    match hard {
        Some(number) if number < 1024 => Finding::not(
            State::Lacks,
            "open files",
            format!("{number} at most"),
            "ulimit -n 1024",
        ),
        Some(number) => Finding::fine("open files", format!("{number} at most")),
        None => Finding::fine("open files", "no limit"),
    }
}
