//! Programs that never end are told from those that do, or might.
#![allow(
    clippy::disallowed_methods,
    reason = "tests write files and start the compiler"
)]

use std::path::Path;
use std::time::Duration;

use crate::common::{Folder, folder, runner, seconds};
use patchwright_exec::{Ending, Limits, Request, TimeKind};

/// The bodies of `main` after a long time in which nothing can be known yet.
fn compile(folder: &Folder, name: &str, flags: &[&str], body: &str) {
    let source = format!(
        "#define _GNU_SOURCE\n#include <poll.h>\n#include <pthread.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         #include <string.h>\n#include <sys/mman.h>\n#include <sys/time.h>\n#include <sys/timerfd.h>\n#include <time.h>\n#include <unistd.h>\n\
         volatile int flag, one = 1; volatile unsigned count; int table[64]; double sum;\n\
         static void *other(void *unused) {{ usleep(300000); flag = 1; return unused; }}\n\
         static void handler(int signal) {{ (void)signal; _exit(3); }}\n\
         int main(void) {{ (void)other; (void)handler; {body} return 7; }}\n"
    );
    let file = folder.write(&format!("{name}.c"), &source);
    let status = std::process::Command::new("cc")
        .args(["-w", "-pthread", "-o"])
        .arg(folder.path.join(name))
        .arg(file)
        .args(flags)
        .status()
        .unwrap();
    assert!(status.success(), "{name}");
}

fn run(folder: &Path, script: &str) -> Ending {
    let limits = Limits {
        endless_after: Some(Duration::from_millis(40)),
        ..seconds(8)
    };
    let request = Request::shell(script, folder).limits(limits);
    runner().run(&request).unwrap().ending
}

/// The body of a program that waits for what `./plain` writes, or for a descriptor `other` that is declared.
fn waiting_for_output(declared: &str) -> String {
    format!(
        "int out[2], err[2], other = -1; pipe(out); pipe(err); if (!fork()) {{ dup2(out[1], 1); dup2(err[1], 2); \
         execl(\"./plain\", \"plain\", NULL); }} close(out[1]); close(err[1]); {declared} \
         struct pollfd files[] = {{ {{ out[0], POLLIN }}, {{ err[0], POLLIN }}, {{ other, POLLIN }} }}; poll(files, 3, -1);"
    )
}

const ENDLESS: Ending = Ending::TimedOut(TimeKind::Endless);

#[test]
fn a_process_that_waits_for_its_reader_is_waited_for() {
    let folder = folder();
    let body =
        "static char text[65536]; for (int i = 0; i < 3000; i++) write(1, text, sizeof text);";
    compile(&folder, "writer", &["-O2"], body);
    let ending = run(&folder.path, "exec ./writer");
    let is_waited_for = matches!(ending, Ending::Exited(7) | Ending::LimitExceeded(_));
    assert!(is_waited_for, "{ending:?}");
}

#[test]
fn loops_that_come_back_to_their_state_or_only_count_never_end() {
    let folder = folder();
    for (number, body) in [
        "for (;;) { }",
        "int i = 0; while (i < 10) { if (i == 5) continue; i++; }",
        "while (one) count++;",
        "int n = 3; while (one) { for (int i = 0; i < 20; i++) table[i % 7] += n; n++; }",
        "while (one) { sum += 0.5; char text[40]; memset(text, 'a', 30); text[30] = 0; count += strlen(text); }",
        "struct node { struct node *next; int seen; } *p = calloc(2, sizeof *p); p[0].next = &p[1]; p[1].next = p; \
         while (p) { p->seen++; p = p->next; }",
        "int c; while ((c = getchar()) != 'x') if (c == EOF) count++;",
        "int x; while (scanf(\"%d\", &x) != 1) ;",
        "raise(SIGUSR1 * 0); unsigned seconds = 0; for (;;) seconds += flag ? 1 : 2;",
    ]
    .into_iter()
    .enumerate()
    {
        for flags in [["-O0"], ["-O2"]] {
            let name = format!("p{number}{}", flags[0]);
            compile(&folder, &name, &flags, body);
            let ending = run(&folder.path, &format!("exec ./{name}"));
            assert_eq!(ending, ENDLESS, "{flags:?} {body}");
        }
    }
}

#[test]
fn so_do_those_that_shells_wait_for_and_those_with_a_sanitizer() {
    let folder = folder();
    compile(&folder, "plain", &[], "while (one) count++;");
    compile(&folder, "waits", &[], &waiting_for_output(""));
    for script in [
        "./plain; echo never",
        "sh -c './plain | sed p | cat'; :",
        "found=$(./plain); test \"$found\"",
        "./plain < /dev/null 2>&1 | diff - /dev/null",
        "./plain | cksum",
        "./waits",
    ] {
        assert_eq!(run(&folder.path, script), ENDLESS, "{script}");
    }
    compile(
        &folder,
        "asan",
        &["-fsanitize=address"],
        "while (one) table[count % 64 ? 3 : 3]++;",
    );
    assert_eq!(run(&folder.path, "exec ./asan"), ENDLESS);
}

#[test]
fn so_do_those_that_read_on_where_nothing_more_comes_or_read_the_same_again() {
    let folder = folder();
    folder.write("data", "three\nlines\nof words\n");
    compile(
        &folder,
        "reads",
        &["-O2"],
        "char c; while (read(0, &c, 1) < 1 || c != 'x') count++;",
    );
    for script in [
        "exec ./reads < /dev/null",
        "exec ./reads < data",
        "echo words | ./reads",
        "sed p < data | ./reads | cat",
    ] {
        assert_eq!(run(&folder.path, script), ENDLESS, "{script}");
    }
    for (number, body) in [
        "char text[8]; for (;;) { lseek(0, 6, SEEK_SET); if (read(0, text, 5) != 5 || *text != 'l') break; count++; }",
        "char text[8]; while (pread(0, text, 5, 9) == 5) sum += *text;",
        "while (lseek(0, 0, SEEK_CUR) < 9) count++;",
        "char line[80]; while (fgets(line, 80, stdin)) if (!strncmp(line, \"of\", 2)) rewind(stdin);",
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("p{number}");
        compile(&folder, &name, &["-O1"], body);
        assert_eq!(run(&folder.path, &format!("exec ./{name} < data")), ENDLESS, "{body}");
    }
}

#[test]
#[ignore = "nightly: 3 s; loops_that_come_back_to_their_state_or_only_count_never_end goes this way"]
fn what_reads_where_more_may_come_is_waited_for() {
    let folder = folder();
    folder.write("data", "words");
    let reads = "char c; while (read(0, &c, 1) < 1 || c != 'x') count++;";
    compile(&folder, "reads", &["-O2"], reads);
    compile(
        &folder,
        "maps",
        &["-O1"],
        "char *m = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, 0, 0); char c = 0; \
         for (unsigned i = 0; c != 'z'; i++) { m[0] = i >> 12; pread(0, &c, 1, 0); }",
    );
    compile(
        &folder,
        "ends",
        &["-O1"],
        "char c; for (long i = 0; i < 3000000; i++) count += read(0, &c, 1); return 7;",
    );
    for script in [
        "(sleep 0.5; echo x >> data) & ./reads < data; exit 7",
        "mkfifo named; (sleep 0.5; echo x > named) & ./reads 0<> named; exit 7",
        "mkfifo other; (: > other; sleep 0.5; echo x > other) & ./reads < other; exit 7",
        "./maps <> data; exit 7",
        "./ends < data",
    ] {
        assert_eq!(run(&folder.path, script), Ending::Exited(7), "{script}");
    }
}

#[test]
#[ignore = "nightly: 24 s; the others of this file wait for threads and readers"]
fn what_ends_or_could_end_is_waited_for() {
    let folder = folder();
    for (number, (body, ending)) in [
        // Long, and then it ends.
        ("for (unsigned i = 0; i < 900; i++) for (unsigned k = 0; k < 1000000; k++) count += one;", 7),
        ("unsigned x = 1; do { x ^= x << 13; x ^= x >> 17; x ^= x << 5; } while (x != 1 && count++ < 300000000);", 7),
        ("int i = 1; while (i > 0) i = (int)((unsigned)i + 7u);", 7),
        ("double x = 1; while (x < 2) x += 1e-9;", 7),
        ("count = 900000000; while (count) count--;", 7),
        ("static char text[1 << 20]; memset(text, 'a', sizeof text - 1); for (int i = 0; i < 300; i++) { text[i] = 0; \
          for (int k = i + 1; k < 300000; k++) count += text[k]; }", 7),
        // Somebody else ends it.
        ("time_t end = time(NULL) + 2; while (time(NULL) < end) ;", 7),
        ("struct timespec t; do clock_gettime(CLOCK_MONOTONIC_COARSE, &t); while (t.tv_sec % 2 == 0); \
          do clock_gettime(CLOCK_MONOTONIC_COARSE, &t); while (t.tv_sec % 2);", 7),
        ("pthread_t t; pthread_create(&t, NULL, other, NULL); while (!flag) ;", 7),
        ("signal(SIGALRM, handler); alarm(1); for (;;) ;", 3),
        ("signal(SIGPROF, handler); struct itimerval t = {{0, 0}, {1, 0}}; setitimer(ITIMER_PROF, &t, NULL); for (;;) ;", 3),
        ("signal(SIGALRM, handler); timer_t t; timer_create(CLOCK_REALTIME, NULL, &t); \
          struct itimerspec s = {{0, 0}, {1, 0}}; timer_settime(t, 0, &s, NULL); for (;;) ;", 3),
        ("volatile int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); \
          if (!fork()) { usleep(500000); *shared = 1; _exit(0); } while (!*shared) ;", 7),
        ("unsigned long begun = __builtin_ia32_rdtsc(); while (__builtin_ia32_rdtsc() - begun < 2000000000ul) ;", 7),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("p{number}");
        compile(&folder, &name, &["-O1"], body);
        let found = run(&folder.path, &format!("exec ./{name}"));
        assert_eq!(found, Ending::Exited(ending), "{body}");
    }
    // Shells that are looked at go on as if nothing had been.
    assert_eq!(run(&folder.path, "./p0; exit 9"), Ending::Exited(9));
    let substituted = "found=$(./p0; echo $?); exit $((found + 1))";
    assert_eq!(run(&folder.path, substituted), Ending::Exited(8));
    compile(&folder, "endless", &[], "while (one) count++;");
    let killed = "./endless & sleep 0.5; kill -9 $!; wait $!; exit 4";
    assert_eq!(run(&folder.path, killed), Ending::Exited(4));
    let limited = "ulimit -t 1; ./endless; exit 5";
    assert_eq!(run(&folder.path, limited), Ending::Exited(5));
    let asked = "mkfifo pipe; (sleep 0.5; echo end > pipe) & ./endless & read word < pipe; kill -9 $!; exit 6";
    assert_eq!(run(&folder.path, asked), Ending::Exited(6));
    let alarmed = "perl -e 'alarm 1; exec @ARGV' sh -c './endless; :'; exit $?";
    assert_eq!(run(&folder.path, alarmed), Ending::Exited(142));
    let timed = "timeout 1 ./endless; exit $?";
    assert_eq!(run(&folder.path, timed), Ending::Exited(124));
    compile(&folder, "plain", &[], "while (one) count++;");
    let timer = "other = timerfd_create(CLOCK_REALTIME, 0); struct itimerspec s = {{0, 0}, {1, 0}}; \
                 timerfd_settime(other, 0, &s, NULL);";
    compile(&folder, "waits", &[], &waiting_for_output(timer));
    assert_eq!(run(&folder.path, "exec ./waits"), Ending::Exited(7));
}

/// What programs that wait for threads of their own begin with: two locks, and a thread that takes them in its order.
const LOCKS: &str = "static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER; \
    static pthread_barrier_t both; static pthread_cond_t news = PTHREAD_COND_INITIALIZER; pthread_t t; \
    auto void *turned(void *); void *turned(void *x) { pthread_mutex_lock(&b); pthread_barrier_wait(&both); \
    pthread_mutex_lock(&a); return x; } (void)a; (void)b; (void)news; (void)t; pthread_barrier_init(&both, NULL, 2);";

#[test]
fn threads_that_wait_for_each_other_never_end() {
    let folder = folder();
    for (number, body) in [
        "pthread_mutex_lock(&a); pthread_mutex_lock(&a);",
        "pthread_create(&t, NULL, turned, NULL); pthread_mutex_lock(&a); pthread_barrier_wait(&both); pthread_mutex_lock(&b);",
        "pthread_mutex_lock(&b); pthread_create(&t, NULL, turned, NULL); pthread_join(t, NULL);",
        "pthread_mutex_lock(&a); while (!flag) pthread_cond_wait(&news, &a);",
        "int ends[2]; char c; pipe(ends); read(ends[0], &c, 1);",
        "pause();",
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("p{number}");
        compile(&folder, &name, &[], &format!("{LOCKS} {body}"));
        for script in [format!("exec ./{name}"), format!("sh -c './{name}; :' | cat; :")] {
            assert_eq!(run(&folder.path, &script), ENDLESS, "{body}");
        }
    }
}

#[test]
#[ignore = "nightly: 7 s; loops_that_come_back_to_their_state_or_only_count_never_end goes this way"]
fn threads_that_somebody_will_wake_are_waited_for() {
    let folder = folder();
    for (number, (body, ending)) in [
        ("pthread_create(&t, NULL, other, NULL); pthread_join(t, NULL);", 7),
        ("signal(SIGALRM, handler); alarm(1); pthread_mutex_lock(&a); pthread_mutex_lock(&a);", 3),
        ("signal(SIGALRM, handler); alarm(1); pause();", 3),
        ("struct timespec end; clock_gettime(CLOCK_REALTIME, &end); end.tv_sec++; pthread_mutex_lock(&a); \
          pthread_mutex_timedlock(&a, &end);", 7),
        ("pthread_mutex_t *lock = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); \
          pthread_mutexattr_t shared; pthread_mutexattr_init(&shared); \
          pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED); pthread_mutex_init(lock, &shared); \
          pthread_mutex_lock(lock); if (!fork()) { usleep(500000); pthread_mutex_unlock(lock); _exit(0); } \
          pthread_mutex_lock(lock);", 7),
    ]
    .into_iter()
    .enumerate()
    {
        let name = format!("p{number}");
        compile(&folder, &name, &[], &format!("{LOCKS} {body}"));
        for script in [format!("exec ./{name}"), format!("./{name}; exit $?")] {
            assert_eq!(run(&folder.path, &script), Ending::Exited(ending), "{body}");
        }
    }
    assert_eq!(run(&folder.path, "sleep 0.6; exit 7"), Ending::Exited(7));
}
