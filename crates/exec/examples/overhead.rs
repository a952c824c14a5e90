//! Measures what a run costs beyond the command itself: `cargo run --release --example overhead`.
#![allow(clippy::disallowed_methods, reason = "compares with the plain way")]

use std::process::Command;
use std::time::{Duration, Instant};

use patchwright_exec::{CancelToken, Request, Runner, RunnerProgram};

const RUNS: u32 = 1000;

fn time(mut run: impl FnMut()) -> Duration {
    let begin = Instant::now();
    (0..RUNS).for_each(|_| run());
    begin.elapsed() / RUNS
}

fn main() {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|argument| argument == "supervise")
    {
        patchwright_exec::supervisor_main();
    }
    // A big host: forks and page tables cost what they cost in practice.
    let ballast = vec![1u8; 200 << 20];
    let program = RunnerProgram::current_exe(["supervise"]).expect("this file exists");
    let cancel = CancelToken::new().expect("there are descriptors left");
    let mut runner = Runner::start(&program, None, cancel).expect("this file is a supervisor");
    let request = Request::new("/bin/true", "/");
    let supervised = time(|| assert!(runner.run(&request).is_ok_and(|o| o.ending.is_success())));
    let plain = time(|| {
        assert!(
            Command::new("/bin/true")
                .output()
                .is_ok_and(|o| o.status.success())
        )
    });
    println!(
        "host of {} MiB; one run of true: supervised {supervised:?}, std::process::Command {plain:?}",
        ballast.len() >> 20
    );
}
