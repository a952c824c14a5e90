//! Programs that are started once and forked for each run, by a program that keeps to the protocol by itself.
#![allow(clippy::disallowed_methods, reason = "tests write files")]

use crate::common;

use std::path::Path;

use crate::common::{folder, mark, runner, seconds};
use patchwright_exec::runner::Stdin;
use patchwright_exec::{Ending, Request, Runner, TimeKind};

/// Before `main` it obeys, as the probe does. Each process that begins before `main` adds a letter to `starts`; what
/// `EARLY` is defined to comes before that.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#ifndef EARLY
#define EARLY
#endif
static void *wait_for_ever(void *unused) { pause(); return unused; }
static void start_thread(void) { pthread_t thread; pthread_create(&thread, NULL, wait_for_ever, NULL); }
__attribute__((constructor)) static void obey(void) {
  char order[8];
  uint64_t run[3];
  uint32_t own = getpid();
  int starts = open("starts", O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (write(starts, "x", 1) != 1) abort();
  close(starts);
  (void)start_thread;
  EARLY;
  if (recv(219, order, 8, MSG_DONTWAIT) != 8) return;
  if (send(219, &own, 4, MSG_NOSIGNAL) != 4 || memcmp(order, "PWserve!", 8)) { close(219); return; }
  for (;;) {
    union { char bytes[CMSG_SPACE(12)]; struct cmsghdr header; } control;
    struct iovec part = {run, sizeof run};
    struct msghdr message = {0};
    int wires[3], i;
    uint32_t child;
    message.msg_iov = &part; message.msg_iovlen = 1;
    message.msg_control = &control; message.msg_controllen = sizeof control;
    if (recvmsg(219, &message, 0) != sizeof run) _exit(0);
    memcpy(wires, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof wires);
    child = syscall(SYS_clone, 0x8000 | SIGCHLD, 0, 0, 0, 0);
    if (!child) {
      close(219);
      setsid();
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      if ((uint64_t)getppid() != run[0]) _exit(9);
      if (run[1] != UINT64_MAX) { struct rlimit limit = {run[1], run[2]}; setrlimit(RLIMIT_CPU, &limit); }
      for (i = 0; i < 3; i++) { dup2(wires[i], i); close(wires[i]); }
      return;
    }
    for (i = 0; i < 3; i++) close(wires[i]);
    send(219, &child, 4, MSG_NOSIGNAL);
  }
}
int main(int argc, char **argv) {
  char line[100];
  int how = 0;
  (void)argv;
  while (fgets(line, sizeof line, stdin)) printf("%d: %s", argc, line), how = atoi(line);
  fflush(stdout);
  fprintf(stderr, "%d", getpgrp() == getpid() && getsid(0) == getpid());
  if (how == 1) kill(getpid(), SIGSEGV);
  if (how == 2) for (;;) ;
  if (how == 3 && fork() == 0) { setsid(); pause(); }
  if (how == 4) return wait(NULL) == -1 ? 40 : 41;
  if (how == 5) kill(getppid() == 1 ? 0 : getpid(), SIGKILL);
  return how;
}
"#;

/// How many processes there are of something, where the kernel lists children: without that there are no servers.
fn with_servers(count: usize, without: usize) -> usize {
    match Path::new("/proc/thread-self/children").exists() {
        true => count,
        false => without,
    }
}

struct Bench {
    folder: common::Folder,
    runner: Runner,
}

fn bench(early: &str) -> Bench {
    let folder = folder();
    folder.compile("program", &format!("#define EARLY {early}\n{PROGRAM}"));
    Bench {
        folder,
        runner: runner(),
    }
}

impl Bench {
    fn request(&self, input: &str) -> Request {
        let mut request = Request::new("./program", &self.folder.path)
            .arg("argument")
            .stdin(Stdin::Bytes(input.into()))
            .limits(seconds(20));
        request.repeated = true;
        request
    }

    fn starts(&self) -> usize {
        let starts = std::fs::read(self.folder.path.join("starts"));
        starts.unwrap_or_default().len()
    }
}

#[test]
fn a_program_that_can_is_started_twice_and_every_run_is_its_own() {
    let mut bench = bench("(void)0");
    for number in 10..30 {
        let outcome = bench
            .runner
            .run(&bench.request(&format!("{number}")))
            .unwrap();
        assert_eq!(outcome.ending, Ending::Exited(number));
        assert_eq!(outcome.stdout, format!("2: {number}").as_bytes());
        assert_eq!(outcome.stderr, b"1", "it leads its session");
        assert_eq!((outcome.leftovers, outcome.survivors), (0, 0));
        assert_eq!(outcome.forked, number > 10 && with_servers(1, 0) == 1);
    }
    // Asked in the first run, and then as a server.
    assert_eq!(bench.starts(), with_servers(2, 20));
}

#[test]
fn runs_of_a_server_end_as_others_do_and_nothing_is_left_of_them() {
    let mark = mark();
    let mut bench = bench("(void)0");
    let mut run = |how: &str, cpu: Option<u64>| {
        let mut request = mark.put_on(bench.request(how));
        request.limits.cpu = cpu.map(std::time::Duration::from_millis);
        bench.runner.run(&request).unwrap()
    };
    for _ in 0..3 {
        assert_eq!(run("1", None).ending, Ending::Signaled(libc::SIGSEGV));
        assert_eq!(run("2", Some(200)).ending, Ending::TimedOut(TimeKind::Cpu));
        let left = run("3", None);
        assert_eq!((left.ending, left.leftovers), (Ending::Exited(3), 1));
        assert_eq!(
            run("4", None).ending,
            Ending::Exited(40),
            "there is no child"
        );
        assert_eq!(run("5", None).ending, Ending::Signaled(libc::SIGKILL));
    }
    assert_eq!(
        mark.processes().len(),
        with_servers(1, 0),
        "the server waits"
    );
    let after = bench.runner.run(&Request::shell("exit 6", "/")).unwrap();
    assert_eq!((after.ending, after.leftovers), (Ending::Exited(6), 0));
    assert_eq!(mark.processes().len(), 0, "another command ends it");
    assert_eq!(bench.starts(), with_servers(2, 15));
}

#[test]
fn a_server_ends_with_the_runner() {
    let mark = mark();
    let mut bench = bench("(void)0");
    for _ in 0..3 {
        let request = mark.put_on(bench.request("7"));
        assert_eq!(
            bench.runner.run(&request).unwrap().ending,
            Ending::Exited(7)
        );
    }
    assert_eq!(mark.processes().len(), with_servers(1, 0));
    drop(bench.runner);
    assert_eq!(mark.processes().len(), 0);
}

#[test]
fn who_has_threads_files_or_output_before_main_is_executed_for_each_run() {
    for early in [
        "start_thread()",
        r#"open("starts", O_RDONLY)"#,
        r#"if (write(1, "early", 5) != 5) abort()"#,
        "_exit(8)",
    ] {
        let mut bench = bench(early);
        for _ in 0..4 {
            let outcome = bench.runner.run(&bench.request("7")).unwrap();
            assert!(!outcome.forked);
            let expected = if early == "_exit(8)" { 8 } else { 7 };
            assert_eq!(outcome.ending, Ending::Exited(expected));
            let printed = match early {
                "_exit(8)" => "",
                early if early.contains("write") => "early2: 7",
                _ => "2: 7",
            };
            assert_eq!(outcome.stdout, printed.as_bytes());
        }
        assert!(bench.starts() >= 4, "{early}: {}", bench.starts());
    }
}

#[test]
fn a_program_that_is_built_anew_is_started_anew() {
    let mut bench = bench("(void)0");
    let expect = |bench: &mut Bench, words: &str| {
        for _ in 0..3 {
            let outcome = bench.runner.run(&bench.request("7")).unwrap();
            assert_eq!(outcome.stdout, words.as_bytes());
        }
    };
    expect(&mut bench, "2: 7");
    replace(&bench.folder, "%d: ", "%d! ");
    expect(&mut bench, "2! 7");
}

fn replace(folder: &common::Folder, old: &str, new: &str) {
    let source = PROGRAM.replace(old, new);
    folder.compile("other", &source);
    std::fs::rename(folder.path.join("other"), folder.path.join("program")).unwrap();
}

#[test]
fn commands_that_never_answer_are_executed() {
    let mut runner = runner();
    for _ in 0..3 {
        let mut request = Request::new("/bin/sh", Path::new("/")).args(["-c", "echo $$; exit 3"]);
        request.repeated = true;
        let outcome = runner.run(&request).unwrap();
        assert_eq!(outcome.ending, Ending::Exited(3));
    }
}
