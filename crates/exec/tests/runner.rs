//! Runs end within their limits and leave nothing behind, whatever the command tries.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and start processes"
)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{Mark, folder, make_fifo, mark, program, runner, seconds};
use patchwright_exec::limits::MIB;
use patchwright_exec::runner::{Overflow, Sink, Stdin};
use patchwright_exec::{
    CancelToken, Ending, LimitKind, Limits, Outcome, Request, RunError, Runner, RunnerProgram,
    TimeKind, ViewStatus, forget_own_peak_memory, own_peak_memory,
};

/// Runs a marked command and checks that nothing of it is left.
fn run(request: Request) -> Outcome {
    let mark = mark();
    let outcome = runner().run(&mark.put_on(request)).unwrap();
    assert_eq!(mark.processes(), [0; 0], "processes are left");
    assert_eq!(outcome.survivors, 0);
    outcome
}

fn shell(script: &str) -> Request {
    Request::shell(script, "/")
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn outputs_and_exit_status_are_reported() {
    let outcome = run(shell("echo out; echo err >&2; exit 3"));
    assert_eq!(outcome.ending, Ending::Exited(3));
    assert_eq!(
        (text(&outcome.stdout), text(&outcome.stderr)),
        ("out\n", "err\n")
    );
    assert_eq!((outcome.leftovers, outcome.output_truncated), (0, false));
    assert!(outcome.peak_memory > 0);
}

#[test]
fn a_signal_is_reported() {
    assert_eq!(
        run(shell("kill -SEGV $$")).ending,
        Ending::Signaled(libc::SIGSEGV)
    );
}

#[test]
fn merged_outputs_keep_their_order() {
    let mut request = shell("echo 1; echo 2 >&2; echo 3");
    request.stderr = Sink::WithStdout;
    assert_eq!(text(&run(request).stdout), "1\n2\n3\n");
}

#[test]
fn standard_input_is_empty_a_file_or_bytes() {
    assert_eq!(run(shell("wc -c")).stdout, b"0\n");
    let folder = folder();
    let file = folder.write("in put", "from a file");
    let outcome = run(shell("cat").stdin(Stdin::File(file)));
    assert_eq!(text(&outcome.stdout), "from a file");
    let bytes = vec![b'x'; 300_000];
    assert_eq!(
        run(shell("cat").stdin(Stdin::Bytes(bytes.clone()))).stdout,
        bytes
    );
}

#[test]
fn the_environment_is_inherited_changed_or_cleared() {
    let mut request = shell("echo \"$HOME|$A|$PWD\"").env("A", "b=c");
    request.environment.remove.insert("HOME".into());
    assert_eq!(text(&run(request).stdout), "|b=c|/\n");
    let mut request = Request::new("env", "/");
    request.environment.clear = true;
    // `run` adds its mark.
    let outcome = run(request);
    let names: Vec<_> = text(&outcome.stdout)
        .lines()
        .map(|l| l.split('=').next())
        .collect();
    assert_eq!(names, [Some(Mark::NAME), Some("PWD")]);
}

#[test]
fn arguments_and_folders_are_bytes_not_text() {
    let folder = folder();
    let odd = OsString::from_vec(b"it's \"odd\" \xff\n".to_vec());
    let inner = folder.path.join(&odd);
    fs::create_dir(&inner).unwrap();
    let request =
        Request::shell("printf '%s|' \"$PWD\" \"$0\" \"$1\"", &inner).args([&odd, OsStr::new("")]);
    let outcome = run(request);
    let expected = [inner.as_os_str().as_bytes(), b"|", odd.as_bytes(), b"||"].concat();
    assert_eq!(outcome.stdout, expected);
}

#[test]
fn a_command_starts_from_a_clean_state() {
    let script = "grep -E '^Sig(Blk|Ign)' /proc/self/status; ulimit -c; ls /proc/self/fd | wc -l; \
                  ps -o sid=,pgid=,pid= -p $$ | awk '{ print ($1 == $3 && $2 == $3) }'";
    let outcome = run(shell(script));
    let lines: Vec<_> = text(&outcome.stdout).lines().collect();
    let zero = "0000000000000000";
    assert_eq!(lines[0], format!("SigBlk:\t{zero}"));
    assert_eq!(lines[1], format!("SigIgn:\t{zero}"));
    // No core dumps; the three standard streams and the listing itself; a session of its own.
    assert_eq!(lines[2..], ["0", "4", "1"]);
}

#[test]
fn addresses_do_not_vary_between_runs() {
    let maps = || run(Request::new("cat", "/").arg("/proc/self/maps")).stdout;
    let first_line = |maps: Vec<u8>| maps.split(|b| *b == b'\n').next().unwrap().to_vec();
    assert_eq!(first_line(maps()), first_line(maps()));
}

#[test]
fn a_script_without_an_interpreter_line_is_run_by_the_shell() {
    let folder = folder();
    let script = folder.script("driver", "echo \"$1\"; exit 4\n");
    let outcome = run(Request::new("./driver", &folder.path).arg("t 1"));
    assert_eq!(
        (outcome.ending, text(&outcome.stdout)),
        (Ending::Exited(4), "t 1\n")
    );
    let outcome = run(Request::new("driver", "/")
        .env("PATH", script.parent().unwrap())
        .arg("x"));
    assert_eq!(outcome.ending, Ending::Exited(4));
}

#[test]
fn a_command_that_cannot_be_started_is_an_error_with_its_cause() {
    let mut runner = runner();
    let folder = folder();
    let plain = folder.write("plain", "");
    let mut cause = |request: Request| {
        let request = request.env("PATH", "/usr/bin:/bin");
        runner.run(&request).unwrap_err().to_string()
    };
    insta::assert_snapshot!(cause(Request::new("/no/such", "/")), @"cannot execute /no/such: No such file or directory (os error 2)");
    insta::assert_snapshot!(cause(Request::new("no-such-program", "/")), @"cannot execute no-such-program: No such file or directory (os error 2)");
    insta::assert_snapshot!(cause(Request::new("true", "/no/such")), @"cannot enter the folder /no/such: No such file or directory (os error 2)");
    insta::assert_snapshot!(cause(Request::new("true", "relative")), @r#"cannot run "true": the working directory is not an absolute path"#);
    insta::assert_snapshot!(cause(Request::new("true", "/").arg("a\0b")), @r#"cannot run "true": an argument contains a NUL byte"#);
    insta::assert_snapshot!(cause(Request::new("", "/")), @r#"cannot run "": the program's name is empty"#);
    insta::assert_snapshot!(cause(Request::new("true", "/").env("A=B", "")), @r#"cannot run "true": the name of an environment variable is empty or contains '='"#);
    insta::assert_snapshot!(cause(shell("cat").stdin(Stdin::File("/no/such".into()))), @"cannot open /no/such as standard input: No such file or directory (os error 2)");
    assert!(cause(Request::new(plain, "/")).contains("Permission denied"));
    // The runner is still good.
    assert!(
        runner
            .run(&Request::new("true", "/"))
            .unwrap()
            .ending
            .is_success()
    );
}

#[test]
fn a_test_that_hangs_is_ended_at_its_time_out() {
    let limits = Limits::with_wall(Duration::from_millis(200));
    let outcome = run(shell("echo before; sleep 1000").limits(limits));
    assert_eq!(outcome.ending, Ending::TimedOut(TimeKind::Wall));
    assert_eq!(text(&outcome.stdout), "before\n");
    assert!(outcome.wall >= Duration::from_millis(200) && outcome.wall < Duration::from_secs(5));
}

#[test]
fn a_test_that_ignores_sigterm_is_killed_within_its_limits() {
    let folder = folder();
    let source = "#include <signal.h>\n#include <unistd.h>\n\
                  int main(void) { for (int s = 1; s < 65; s++) signal(s, SIG_IGN);\n\
                  if (!fork()) setsid(); for (;;) pause(); }";
    let stubborn = folder.compile("stubborn", source);
    let begin = Instant::now();
    let limits = Limits::with_wall(Duration::from_millis(100));
    let outcome = run(Request::new(stubborn, "/").limits(limits));
    assert_eq!(outcome.ending, Ending::TimedOut(TimeKind::Wall));
    assert!(begin.elapsed() < Duration::from_secs(8));
}

#[test]
fn a_test_that_handles_sigterm_may_tidy_up() {
    let folder = folder();
    let script = "trap 'echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let limits = Limits {
        term_grace: Duration::from_secs(5),
        ..Limits::with_wall(Duration::from_millis(300))
    };
    let outcome = run(Request::shell(script, &folder.path).limits(limits));
    assert_eq!(outcome.ending, Ending::TimedOut(TimeKind::Wall));
    assert_eq!(text(&outcome.stdout), "ready\ntidy\n");
}

#[test]
fn a_stopped_test_is_ended() {
    let limits = Limits::with_wall(Duration::from_millis(100));
    let outcome = run(shell("kill -STOP $$").limits(limits));
    assert_eq!(outcome.ending, Ending::TimedOut(TimeKind::Wall));
}

#[test]
fn busy_processes_are_ended_at_their_processor_time() {
    let limits = Limits {
        cpu: Some(Duration::from_millis(300)),
        ..seconds(60)
    };
    let outcome = run(shell("while :; do :; done & while :; do :; done").limits(limits));
    assert_eq!(outcome.ending, Ending::TimedOut(TimeKind::Cpu));
    assert!(
        outcome.cpu >= Duration::from_millis(300),
        "{:?}",
        outcome.cpu
    );
}

const DAEMON: &str = "#include <unistd.h>\n#include <fcntl.h>\n\
    int main(void) { if (fork()) return 0; setsid(); if (fork()) return 0;\n\
    for (int fd = 0; fd < 64; fd++) close(fd); for (;;) pause(); }";

#[test]
fn a_daemon_that_forks_twice_is_found_and_killed() {
    let folder = folder();
    let daemon = folder.compile("daemon", DAEMON);
    let begin = Instant::now();
    let outcome = run(Request::new(daemon, "/").limits(seconds(30)));
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!(outcome.leftovers, 1);
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_background_process_may_finish_its_output() {
    let limits = Limits {
        pipe_grace: Duration::from_secs(20),
        ..seconds(30)
    };
    let outcome = run(shell("(sleep 0.05; echo late) & echo early").limits(limits));
    assert_eq!(text(&outcome.stdout), "early\nlate\n");
    assert_eq!((outcome.ending, outcome.leftovers), (Ending::Exited(0), 0));
}

#[test]
fn a_background_process_that_holds_the_output_does_not_hold_the_run() {
    let outcome = run(shell("sleep 1000 & echo done").limits(seconds(60)));
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!(text(&outcome.stdout), "done\n");
    assert_eq!(outcome.leftovers, 1);
}

#[test]
fn endless_output_is_ended_at_its_limit() {
    let limits = Limits {
        output: MIB,
        ..seconds(60)
    };
    let outcome = run(Request::new("yes", "/").limits(limits));
    assert_eq!(outcome.ending, Ending::LimitExceeded(LimitKind::Output));
    assert_eq!(outcome.stdout.len() as u64, MIB);
    assert!(outcome.output_truncated);
}

#[test]
fn output_beyond_the_limit_can_be_thrown_away() {
    let limits = Limits {
        output: 1000,
        ..seconds(60)
    };
    let mut request = shell("yes | head -c 3000000").limits(limits);
    request.overflow = Overflow::Discard;
    let outcome = run(request);
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!(
        (outcome.stdout.len(), outcome.output_truncated),
        (1000, true)
    );
}

#[test]
fn a_huge_file_is_cut_at_its_limit() {
    let folder = folder();
    let limits = Limits {
        file_size: Some(MIB),
        ..seconds(60)
    };
    let file = folder.path.join("huge");
    let mut request = Request::new("dd", &folder.path)
        .args(["if=/dev/zero", "of=huge", "bs=65536"])
        .limits(limits);
    request.stderr = Sink::Null;
    let outcome = run(request);
    assert_eq!(outcome.ending, Ending::LimitExceeded(LimitKind::FileSize));
    assert!(fs::metadata(file).unwrap().len() <= MIB);
}

#[test]
fn a_program_that_eats_memory_is_killed() {
    let folder = folder();
    let source = "#include <stdlib.h>\n#include <string.h>\n\
        int main(void) { for (;;) { char *p = malloc(1 << 20); if (p) memset(p, 1, 1 << 20); } }";
    let eater = folder.compile("eater", source);
    let limits = Limits {
        memory: Some(100 * MIB),
        ..seconds(60)
    };
    let outcome = run(Request::new(eater, "/").limits(limits));
    assert_eq!(outcome.ending, Ending::LimitExceeded(LimitKind::Memory));
    assert!(outcome.peak_memory > 100 * MIB);
}

#[test]
fn memory_that_forked_processes_share_counts_once() {
    let folder = folder();
    let source = "#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n#include <sys/wait.h>\n\
        int main(void) { char *p = malloc(60 << 20); memset(p, 1, 60 << 20);\n\
        for (int i = 0; i < 5; i++) if (!fork()) { usleep(200000); _exit(0); }\n\
        while (wait(0) > 0); return 0; }";
    let sharer = folder.compile("sharer", source);
    let limits = Limits {
        memory: Some(120 * MIB),
        ..seconds(60)
    };
    assert_eq!(
        run(Request::new(sharer, "/").limits(limits)).ending,
        Ending::Exited(0)
    );
}

/// Should the limits fail, the bombs of these tests end by themselves.
const FUSE: &str = "#include <time.h>\n#include <unistd.h>\n\
    static time_t lit; static void fuse(void) { if (time(0) - lit > 8) _exit(0); }\n";

#[test]
fn a_fork_bomb_is_stopped_at_its_limit() {
    let folder = folder();
    let source =
        format!("{FUSE}int main(void) {{ lit = time(0); for (;;) {{ fork(); fuse(); }} }}");
    let bomb = folder.compile("bomb", &source);
    let limits = Limits {
        processes: Some(50),
        ..seconds(60)
    };
    let outcome = run(Request::new(bomb, "/").limits(limits));
    assert_eq!(outcome.ending, Ending::LimitExceeded(LimitKind::Processes));
    assert!(outcome.wall < Duration::from_secs(5), "{:?}", outcome.wall);
}

#[test]
fn a_fork_bomb_that_changes_sessions_is_stopped() {
    let folder = folder();
    let source = format!(
        "{FUSE}int main(void) {{ lit = time(0);\n\
         for (;;) {{ if (fork()) _exit(0); setsid(); if (!fork()) setsid(); fuse(); }} }}"
    );
    let bomb = folder.compile("bomb", &source);
    let limits = Limits {
        processes: Some(50),
        ..Limits::with_wall(Duration::from_millis(500))
    };
    let begin = Instant::now();
    // Its first process ends at once, so the bomb is a leftover that must be caught.
    let outcome = run(Request::new(bomb, "/").limits(limits));
    assert!(matches!(
        outcome.ending,
        Ending::Exited(0) | Ending::LimitExceeded(_)
    ));
    assert!(
        begin.elapsed() < Duration::from_secs(8),
        "{:?}",
        begin.elapsed()
    );
}

#[test]
fn a_program_that_closes_all_descriptors_is_still_watched() {
    let folder = folder();
    let source = "#include <unistd.h>\n\
        int main(void) { for (int fd = 0; fd < 1024; fd++) close(fd); for (;;) pause(); }";
    let closer = folder.compile("closer", source);
    let limits = Limits::with_wall(Duration::from_millis(200));
    let outcome = run(Request::new(closer, "/").limits(limits));
    assert_eq!(outcome.ending, Ending::TimedOut(TimeKind::Wall));
}

#[test]
fn a_program_with_a_vast_address_space_is_not_over_its_memory() {
    let folder = folder();
    let source = "#include <sys/mman.h>\nint main(void) { return mmap(0, 1L << 42, PROT_READ, \
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) == MAP_FAILED; }";
    let vast = folder.compile("vast", source);
    let limits = Limits {
        memory: Some(100 * MIB),
        ..seconds(60)
    };
    assert_eq!(
        run(Request::new(&vast, "/").limits(limits)).ending,
        Ending::Exited(0)
    );
    let limits = Limits {
        address_space: Some(1 << 30),
        ..seconds(60)
    };
    assert_eq!(
        run(Request::new(&vast, "/").limits(limits)).ending,
        Ending::Exited(1)
    );
}

#[test]
fn cancelling_ends_the_run_and_all_later_ones() {
    let cancel = CancelToken::new().unwrap();
    let mut runner = Runner::start(&program(), None, cancel.clone()).unwrap();
    let folder = folder();
    let fifo = folder.path.join("fifo");
    make_fifo(&fifo);
    let mark = mark();
    let request = mark.put_on(Request::shell(
        "echo > fifo; sleep 1000 & sleep 1000",
        &folder.path,
    ));
    let canceller = std::thread::spawn(move || {
        // Opens only when the command is running.
        fs::read(fifo).unwrap();
        cancel.cancel();
    });
    assert!(matches!(runner.run(&request), Err(RunError::Cancelled)));
    canceller.join().unwrap();
    assert_eq!(mark.processes(), [0; 0]);
    assert!(matches!(
        runner.run(&shell("true")),
        Err(RunError::Cancelled)
    ));
}

#[test]
fn a_lost_supervisor_is_an_error_and_replaced() {
    let mut runner = runner();
    let first = runner.supervisor_id().unwrap();
    let folder = folder();
    let fifo = folder.path.join("fifo");
    make_fifo(&fifo);
    let mark = mark();
    let request = mark.put_on(Request::shell("echo > fifo; sleep 1000", &folder.path));
    let killer = std::thread::spawn(move || {
        // Opens only when the command is running.
        fs::read(fifo).unwrap();
        Command::new("kill")
            .args(["-9", &first.to_string()])
            .status()
    });
    assert!(matches!(
        runner.run(&request),
        Err(RunError::SupervisorLost { .. })
    ));
    assert!(killer.join().unwrap().unwrap().success());
    assert!(runner.run(&shell("true")).unwrap().ending.is_success());
    assert_ne!(runner.supervisor_id().unwrap(), first);
}

#[test]
fn signals_of_a_command_reach_neither_other_processes_nor_the_supervisor() {
    let outcome = runner().run(&shell("echo $PPID")).unwrap();
    if outcome.stdout != b"1\n" {
        // A namespace of processes is not permitted here, and signals reach whatever the user's do.
        return;
    }
    let mut bystander = Command::new("sleep").arg("1000").spawn().unwrap();
    let mut runner = runner();
    let script = format!(
        "kill -9 {} 2>/dev/null; kill -9 $PPID; kill -0 $$ && echo here",
        bystander.id()
    );
    let outcome = runner.run(&shell(&script)).unwrap();
    assert_eq!(outcome.stdout, b"here\n");
    assert!(bystander.try_wait().unwrap().is_none());
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[test]
fn a_program_that_is_no_supervisor_is_recognised() {
    let start = |exe: &str| {
        let program = RunnerProgram {
            exe: exe.into(),
            args: vec![],
        };
        Runner::start(&program, None, CancelToken::new().unwrap()).unwrap_err()
    };
    assert!(matches!(
        start("/bin/true"),
        RunError::NotASupervisor { .. }
    ));
    assert!(matches!(
        start("/no/such"),
        RunError::StartSupervisor { .. }
    ));
}

#[test]
fn without_a_view_none_is_reported() {
    let runner = runner();
    assert_eq!(*runner.view_status(), ViewStatus::NotRequested);
    assert!(!runner.view_active());
}

/// What `a_killed_host_leaves_nothing_behind` kills.
#[test]
#[ignore = "is the host of another test"]
fn host_to_be_killed() {
    let folder = std::env::var_os("PATCHWRIGHT_TEST_FOLDER").unwrap();
    let folder = Path::new(&folder);
    // All processes keep the FIFO open; the loop starts new ones without end.
    let script = "exec 5> alive; ./daemon; trap '' TERM; (while :; do sleep 0.01; done) & \
                  echo started >&5; sleep 1000";
    let _ = runner().run(&Request::shell(script, folder).limits(seconds(600)));
}

#[test]
fn a_killed_host_leaves_nothing_behind() {
    let folder = folder();
    // Keeps the FIFO open, unlike DAEMON.
    let source = "#include <unistd.h>\n\
        int main(void) { if (fork()) return 0; setsid(); if (fork()) return 0; for (;;) pause(); }";
    folder.compile("daemon", source);
    let fifo = folder.path.join("alive");
    make_fifo(&fifo);
    let mark = mark();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "runner::host_to_be_killed", "--ignored"])
        .env("PATCHWRIGHT_TEST_FOLDER", &folder.path)
        .env(Mark::NAME, mark.value())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let mut alive = fs::File::open(&fifo).unwrap();
    let mut started = [0; 8];
    alive.read_exact(&mut started).unwrap();
    host.kill().unwrap();
    host.wait().unwrap();
    // The end of the FIFO comes when its last writer is gone.
    alive.read_to_end(&mut Vec::new()).unwrap();
    // Only the supervisor may still be on its way out.
    let supervisor = |pid: &i32| {
        let name = fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.is_empty() || name.starts_with(b"patchwright-run")
    };
    assert!(mark.processes().iter().all(supervisor));
}

#[test]
fn the_peak_of_ones_own_memory_can_be_forgotten() {
    let large = std::hint::black_box(vec![1u8; 256 << 20]);
    assert!(own_peak_memory().unwrap() > 256 << 20);
    drop(large);
    forget_own_peak_memory();
    assert!(own_peak_memory().unwrap() < 256 << 20);
}

#[test]
fn a_dump_is_kept_compressed_without_indentation_and_its_limit_counts_what_was_written() {
    let mut runner = runner();
    let script = "yes '   0123456789abcdef' | head -c 3000000; echo end >&2";
    let outcome = runner
        .run(&Request::shell(script, "/").stdout(Sink::Dump))
        .unwrap();
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert!(outcome.stdout.len() < 30_000, "{}", outcome.stdout.len());
    let text = zstd::decode_all(&outcome.stdout[..]).unwrap();
    assert_eq!(text.len(), 3_000_000 / 20 * 17);
    assert!(text.starts_with(b"0123456789abcdef\n0123"));
    assert_eq!(outcome.stderr, b"end\n");
    let mut limited = Request::shell(script, "/").stdout(Sink::Dump);
    limited.limits.output = 1 << 20;
    let outcome = runner.run(&limited).unwrap();
    assert_eq!(outcome.ending, Ending::LimitExceeded(LimitKind::Output));
}
