//! Projects and patches that attack what lies outside of their copy: nothing there is changed, and what was tried is told.
//!
//! A table: every [`Way`] is tried by each of the [`ACTORS`], a build, a test that passes, one that fails, and a patch.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};

use crate::common::{Folder, folder, make_fifo, program};
use patchwright_exec::{
    Baseline, BaselineOptions, CancelToken, Limits, Project, ProjectFlags, Rules, Scratch, Worker,
    WorkerOptions, record, run_build, run_test, runner::Environment,
};

/// Who attacks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Actor {
    Build,
    PassingTest,
    FailingTest,
    Patch,
}

const ACTORS: [Actor; 4] = [
    Actor::Build,
    Actor::PassingTest,
    Actor::FailingTest,
    Actor::Patch,
];

/// An attack: a shell script that knows `$OUT`, the folder around the project, `$TOOL`, the program below, and `$SCRATCH`.
struct Way {
    script: &'static str,
    /// What is told must name this.
    told: Option<&'static str>,
}

/// What shell scripts cannot do.
const TOOL: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <arpa/inet.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static void spoil(const char *path) {
  int file = open(path, O_WRONLY | O_TRUNC);
  if (file >= 0) { if (write(file, "spoilt", 6)) {} close(file); }
  unlink(path);
}

static void descriptors(void) {
  char path[64];
  int fd;
  for (fd = 3; fd < 1024; fd++) {
    if (write(fd, "spoilt", 6)) {}
    if (ftruncate(fd, 1)) {}
    fchmod(fd, 0777);
    sprintf(path, "/proc/self/fd/%d", fd);
    spoil(path);
  }
}

static void mounts(const char *path) {
  char handle[256];
  int turn, fd;
  for (turn = 0; turn < 2; turn++) {
    mount(0, "/", 0, MS_REMOUNT | MS_BIND, 0);
    mount(0, "/", 0, MS_REMOUNT, 0);
    spoil(path);
    umount2("/tmp", MNT_DETACH);
    umount2("/", MNT_DETACH);
    umount2("/dev", MNT_DETACH);
    spoil(path);
    fd = open("/proc/1/ns/mnt", O_RDONLY);
    setns(fd, CLONE_NEWNS);
    spoil(path);
    memset(handle, 0, sizeof handle);
    *(unsigned *)handle = 8; *(unsigned *)(handle + 8) = 2;
    fd = syscall(304, AT_FDCWD, handle, O_RDONLY);
    if (fd >= 0) spoil(path);
    mknod("disk", 060666, 0xfe00);
    fd = open("disk", O_WRONLY);
    if (fd >= 0) printf("a disk is open\n");
    unshare(CLONE_NEWUSER | CLONE_NEWNS);
  }
}

static void processes(int other) {
  int status;
  kill(other, SIGKILL);
  if (ptrace(PTRACE_SEIZE, 1, 0, 0) == 0) printf("the supervisor is traced\n");
  if (ptrace(PTRACE_ATTACH, other, 0, 0) == 0) { waitpid(other, &status, 0); printf("traced\n"); }
  if (open("/proc/1/mem", O_RDWR) >= 0) printf("the supervisor's memory is open\n");
  spoil("/proc/1/fd/3");
}

static int reach(int family, const char *name) {
  struct sockaddr_un address = {AF_UNIX, {0}};
  struct sockaddr_in internet = {0};
  int s, kind, length = offsetof(struct sockaddr_un, sun_path) + strlen(name);
  if (family == AF_INET) {
    internet.sin_family = AF_INET;
    internet.sin_port = htons(atoi(name));
    internet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    s = socket(AF_INET, SOCK_STREAM, 0);
    return connect(s, (struct sockaddr *)&internet, sizeof internet) == 0 && write(s, "x", 1);
  }
  memcpy(address.sun_path, name, strlen(name));
  if (name[0] == '@') address.sun_path[0] = 0; else length++;
  for (kind = 1; kind < 6; kind++) {
    s = socket(AF_UNIX, kind, 0);
    if (s < 0) continue;
    sendto(s, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&address, length);
    if (connect(s, (struct sockaddr *)&address, length) == 0) printf("connected\n");
    close(s);
  }
  return 0;
}

static void daemon_of(const char *path) {
  if (fork()) return;
  setsid();
  if (fork()) _exit(0);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  close(0); close(1); close(2);
  for (;;) { spoil(path); usleep(1000); }
}

int main(int argc, char **argv) {
  (void)argc;
  if (!strcmp(argv[1], "descriptors")) descriptors();
  if (!strcmp(argv[1], "mounts")) mounts(argv[2]);
  if (!strcmp(argv[1], "processes")) processes(atoi(argv[2]));
  if (!strcmp(argv[1], "unix")) reach(AF_UNIX, argv[2]);
  if (!strcmp(argv[1], "internet")) reach(AF_INET, argv[2]);
  if (!strcmp(argv[1], "daemon")) { daemon_of(argv[2]); usleep(20000); }
  return 0;
}
"#;

/// What lies outside of the copy, and listens there.
struct Outside {
    around: Folder,
    scratch: Scratch,
    socket: UnixListener,
    hidden: UnixListener,
    internet: TcpListener,
    pipe: fs::File,
    _base: Folder,
}

fn outside() -> Outside {
    let (around, base) = (folder(), folder());
    let kept = around.write("beside/kept", "kept");
    around.write("beside/folder/deep", "kept");
    around.write("allowed/state/journal.jsonl", "kept");
    around.write("project/program", "as it was");
    around.write("project/attack", "exit 0");
    around.script("project/driver", "#!/bin/sh\nsh ./attack\nexit $1\n");
    std::os::unix::fs::symlink("../beside/kept", around.path.join("project/link")).unwrap();
    fs::hard_link(&kept, around.path.join("project/hard")).unwrap();
    around.compile("tool", TOOL);
    let pipe = around.path.join("beside/pipe");
    make_fifo(&pipe);
    let pipe = fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK)
        .open(pipe)
        .unwrap();
    let listening = |listener: UnixListener| {
        listener.set_nonblocking(true).unwrap();
        listener
    };
    let name = format!("patchwright-hostile-{}", std::process::id());
    let name = SocketAddr::from_abstract_name(name).unwrap();
    let internet = TcpListener::bind("127.0.0.1:0").unwrap();
    internet.set_nonblocking(true).unwrap();
    let mut scratch = Scratch::new(&base.path).unwrap();
    scratch.set_rules(Rules {
        allowed: vec![around.path.join("allowed")],
        kept: vec![around.path.join("allowed/state")],
        ..Rules::default()
    });
    Outside {
        socket: listening(UnixListener::bind(around.path.join("beside/socket")).unwrap()),
        hidden: listening(UnixListener::bind_addr(&name).unwrap()),
        around,
        scratch,
        internet,
        pipe,
        _base: base,
    }
}

impl Outside {
    fn worker(&self, name: &str) -> Worker {
        let (program, project) = (program(), self.around.path.join("project"));
        let options = WorkerOptions {
            program: &program,
            scratch: &self.scratch,
            project: &project,
            source: &project,
            prepare: None,
            view: true,
            exclude: vec![],
            build_timeout: None,
            cancel: CancelToken::new().unwrap(),
        };
        Worker::start(0, name, &options).unwrap()
    }

    /// The attack in words of the shell.
    fn attack(&self, script: &str) -> String {
        let port = self.internet.local_addr().unwrap().port();
        format!(
            "OUT={out}\nTOOL=$OUT/tool\nSCRATCH={scratch}\nPORT={port}\nHOST={host}\n\
             ABSTRACT=@patchwright-hostile-$HOST\n(\n{script}\n) 2>/dev/null\nexit 0\n",
            out = self.around.path.display(),
            scratch = self.scratch.path().display(),
            host = std::process::id(),
        )
    }

    /// Whether somebody reached one of those who listen.
    fn was_reached(&mut self) -> bool {
        let mut bytes = [0; 16];
        self.socket.accept().is_ok()
            || self.hidden.accept().is_ok()
            || self.internet.accept().is_ok()
            || matches!(self.pipe.read(&mut bytes), Ok(1..))
    }
}

/// Everything that is in a folder: names, kinds, modes, owners, times, contents.
fn state(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(path) = open.pop() {
        let about = fs::symlink_metadata(&path).unwrap();
        let contents = match about.is_file() {
            true => fs::read(&path).unwrap(),
            false => vec![],
        };
        found.push(format!(
            "{} {:o} {}:{} {}.{} {} {contents:?}",
            path.display(),
            about.mode(),
            about.uid(),
            about.gid(),
            about.mtime(),
            about.mtime_nsec(),
            about.nlink(),
        ));
        if about.is_dir() {
            let entries = fs::read_dir(&path).unwrap();
            open.extend(entries.map(|entry| entry.unwrap().path()));
        }
    }
    found.sort();
    found
}

fn project(outside: &Outside, tests: &[&str]) -> Project {
    let flags = ProjectFlags {
        driver: Some("driver".into()),
        tests: tests.iter().map(|name| (*name).to_owned()).collect(),
        ..ProjectFlags::default()
    };
    Project::load(&outside.around.path.join("project"), &flags).unwrap()
}

/// Lets somebody attack in the copy of a worker.
fn act(outside: &Outside, actor: Actor, worker: &mut Worker, attack: &str) {
    let put = |worker: &Worker| {
        let (path, text) = (Path::new("attack"), attack.as_bytes());
        worker.sandbox.write(path, text, None).unwrap();
    };
    let test = |worker: &mut Worker, status: &str| {
        let project = project(outside, &[status]);
        let suite = project.require_tests().unwrap();
        Baseline::measure(
            &mut worker.runner,
            &worker.sandbox,
            suite,
            &BaselineOptions::default(),
            |_| (),
        )
        .unwrap()
    };
    match actor {
        Actor::Build => {
            let _ = record::run_in_copy(worker, attack.as_ref());
        }
        Actor::PassingTest | Actor::FailingTest => {
            put(worker);
            let passes = actor == Actor::PassingTest;
            let baseline = test(worker, if passes { "0" } else { "1" });
            assert_eq!(
                baseline.passing().count(),
                usize::from(passes),
                "{baseline:?}"
            );
        }
        Actor::Patch => {
            worker.runner.set_subject(Some("patch 7".to_owned()));
            put(worker);
            let (none, limits) = (Environment::default(), Limits::for_build());
            let (runner, sandbox) = (&mut worker.runner, &worker.sandbox);
            let _ = run_build(runner, sandbox, "sh ./attack".as_ref(), &none, &limits);
            let project = project(outside, &["0"]);
            let test = &project.require_tests().unwrap().tests[0];
            let _ = run_test(runner, sandbox, test, &none, &Limits::default());
        }
    }
}

/// Who looks for these finds processes of an attack that are still alive.
fn alive(tool: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let programs = entries.filter_map(|entry| fs::read_link(entry.path().join("exe")).ok());
    programs.filter(|program| program == tool).collect()
}

fn check(way: &Way) {
    let mut outside = outside();
    // What an ancestor may have open, and forgets to close.
    let kept = outside.around.path.join("beside/kept");
    let open = fs::OpenOptions::new()
        .append(true)
        .read(true)
        .open(kept)
        .unwrap();
    // SAFETY: no pointers.
    let leaked = unsafe { libc::dup2(open.as_raw_fd(), 333) };
    assert_eq!(leaked, 333);
    let _ = open.into_raw_fd();
    let other = outside.worker("other");
    let others = [
        outside.around.path.clone(),
        other.folder.clone(),
        other.shared.clone(),
        outside.scratch.path().join("run"),
    ];
    let states = || others.iter().map(|path| state(path)).collect::<Vec<_>>();
    let kernel = || fs::read("/proc/sys/kernel/core_uses_pid").unwrap_or_default();
    let (before, kernel_before) = (states(), kernel());
    for actor in ACTORS {
        let mut worker = outside.worker(&format!("{actor:?}"));
        let attack = outside.attack(way.script);
        act(&outside, actor, &mut worker, &attack);
        assert_eq!(states(), before, "{actor:?}");
        assert_eq!(kernel(), kernel_before, "{actor:?}");
        assert!(!outside.was_reached(), "{actor:?}");
        assert!(
            alive(&outside.around.path.join("tool")).is_empty(),
            "{actor:?}"
        );
        let told = outside.scratch.attempts().news();
        if actor == Actor::Build
            && let Some(wanted) = way.told
        {
            let named = told.iter().any(|told| told.contains(wanted));
            assert!(named, "{wanted}: {told:#?}");
            let step = told.iter().all(|told| told.starts_with("the build "));
            assert!(step, "{told:#?}");
        }
    }
}

macro_rules! ways {
    ($($name:ident: $script:expr => $told:expr;)*) => {
        $(
            #[test]
            fn $name() {
                check(&Way { script: $script, told: $told });
            }
        )*
    };
}

ways! {
    by_path: "rm -rf $OUT/beside/folder; echo x > $OUT/beside/kept; echo x > $OUT/new; chmod 777 $OUT/beside/kept
        mv $OUT/beside $OUT/moved; touch $OUT/beside/kept; ln -s x $OUT/beside/link; mkdir $OUT/beside/new; cd .. && rm -rf beside"
        => Some("beside/kept outside of the copy");
    by_a_symbolic_link_of_its_own: "ln -s $OUT/beside/kept mine; echo x > mine; ln -s $OUT/beside all; rm -rf all/; echo x > all/new"
        => Some("beside/kept outside of the copy");
    by_a_symbolic_link_of_the_project: "echo x > link; cat link > link; truncate -s 0 link" => Some("beside/kept outside of the copy");
    by_a_hard_link: "echo x > hard; ln $OUT/beside/kept mine && echo x > mine; ln $OUT/beside/kept /tmp/mine && echo x > /tmp/mine"
        => Some("beside/kept outside of the copy (linkat");
    by_an_inherited_descriptor: "$TOOL descriptors; echo x >&333; echo x > /proc/self/fd/333" => None;
    by_proc: "for p in /proc/[0-9]*; do echo x > $p/root$OUT/beside/kept; echo x > $p/cwd$OUT/beside/kept
        rm -f $p/root$OUT/beside/kept; done; echo 1 > /proc/sys/kernel/core_uses_pid; echo 0 > /proc/sys/kernel/core_uses_pid; echo b > /proc/sysrq-trigger.not"
        => Some("/proc/sys/kernel/core_uses_pid");
    by_a_daemon_that_survives: "$TOOL daemon $OUT/beside/kept" => Some("beside/kept outside of the copy");
    by_a_socket_with_a_path: "$TOOL unix $OUT/beside/socket; ln -s $OUT/beside/socket s; $TOOL unix s"
        => Some("tried to reach");
    by_a_socket_with_a_name: "$TOOL unix $ABSTRACT" => None;
    by_the_network: "$TOOL internet $PORT" => None;
    by_a_pipe: "echo x > $OUT/beside/pipe & sleep 0.1; kill $!" => Some("beside/pipe outside of the copy");
    by_the_journal: "cd $OUT/allowed; echo x >> state/journal.jsonl; rm -rf state; mv state old; mkdir state; echo x > state/journal.jsonl"
        => Some("state/journal.jsonl");
    by_the_copy_of_another_worker: "for f in $SCRATCH/other/tree $SCRATCH/other/run $SCRATCH/run; do echo x > $f/program; echo x > $f/new; rm -rf $f; done
        rm -rf $SCRATCH/other /dev/shm/patchwright-*/other*; echo x > $SCRATCH/lock" => None;
    by_mounts_and_capabilities: "$TOOL mounts $OUT/beside/kept | grep . && $TOOL internet $PORT" => Some("beside/kept outside of the copy");
    by_other_processes: "$TOOL processes $HOST | grep . && echo x > $OUT/beside/kept" => None;
}
