//! Programs of several files, libraries, processes and threads.
#![allow(clippy::disallowed_methods)] // Tests start compilers and write into folders of their own.

use crate::common::{Bench, Program, integer, rows};
use patchwright_probe_image::Slot;
use patchwright_semantics::{BinaryOp, Instruction, Ty};
use patchwright_weave::HookKind;
use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt;

const LIBRARY: &str = "int twice(int x)\n{\n  return x * 2;\n}\n";

fn library() -> Program {
    Program::new(LIBRARY).function(40, "int twice(", &[]).hole(
        20,
        "x * 2",
        integer("int"),
        &["(__pw_u64)(x)"],
    )
}

/// `x + 1000` where the program has `x * 2`.
fn select_library(bench: &mut Bench) {
    let code = [
        Instruction::slot(0),
        Instruction::constant(1000),
        Instruction::binary(BinaryOp::Add, Ty::I32),
    ];
    bench.candidate(40, 20, &[Slot::Value(Ty::I32)], &code);
}

const CALLER: &str = "#include <stdio.h>\n#include <stdlib.h>\nint twice(int);\n\
    int main(int argc, char **argv) { for (int i = 1; i < argc; i++) printf(\"%d \", twice(atoi(argv[i])));\n return 0; }\n";

#[test]
fn a_library_reports_from_every_program_that_uses_it() {
    let mut bench = Bench::new();
    bench.write("twice.c", library().woven());
    bench.write("one.c", CALLER);
    bench.write("two.c", CALLER.replace("%d ", "[%d]"));
    bench.compile("gcc -c -fPIC -o twice.o twice.c");
    bench.compile("ar rc libtwice.a twice.o");
    bench.compile("gcc -shared -Wl,-z,defs -o libshared.so twice.o");
    bench.compile("gcc -o one one.c libtwice.a");
    bench.compile("gcc -o two two.c ./libshared.so");
    for (program, plain, patched) in [
        ("one", "6 8 ", "1003 1004 "),
        ("two", "[6][8]", "[1003][1004]"),
    ] {
        select_library(&mut bench);
        assert_eq!(bench.plain(program, &["3", "4"]), plain);
        assert_eq!(bench.observation().attached, 0);
        assert_eq!(bench.run(program, &["3", "4"]), patched);
        assert_eq!(rows(&bench.observation()), [[3], [4]]);
    }
    // A shell script that calls the programs: all their processes report.
    select_library(&mut bench);
    bench.write(
        "script.sh",
        "./one 5 6 | cat; ./two 6 7; (./one 7 & wait); echo end\n",
    );
    assert_eq!(
        bench.run("sh", &["script.sh"]),
        "1005 1006 [1006][1007]1007 end\n"
    );
    let observation = bench.observation();
    assert_eq!((observation.attached, observation.visits), (3, 5));
    let seen: BTreeSet<Vec<u64>> = rows(&observation).into_iter().collect();
    assert_eq!(seen.len(), 3);
    assert_eq!(observation.states.len(), 3);
}

#[test]
fn a_plugin_attaches_when_it_is_opened() {
    let mut bench = Bench::new();
    bench.write("twice.c", library().woven());
    bench.write(
        "host.c",
        "#include <dlfcn.h>\n#include <errno.h>\n#include <stdio.h>\nint main(void) {\n\
         for (int i = 0; i < 2; i++) {\n  errno = 5; void *h = dlopen(\"./plugin.so\", RTLD_NOW);\n\
         if (!h || dlerror()) return 1;\n  int (*f)(int) = (int (*)(int))dlsym(h, \"twice\");\n\
         printf(\"%d \", f(i)); dlclose(h); }\n return 0; }\n",
    );
    bench.compile("gcc -shared -fPIC -o plugin.so twice.c");
    bench.compile("clang-19 -o host host.c");
    assert_eq!(bench.plain("host", &[]), "0 2 ");
    select_library(&mut bench);
    assert_eq!(bench.run("host", &[]), "1000 1001 ");
    let observation = bench.observation();
    assert_eq!(
        (rows(&observation), observation.attached),
        // It is another library each time.
        (vec![vec![0], vec![1]], 2)
    );
}

#[test]
fn forked_processes_and_threads_share_one_log() {
    let source = r#"#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int value(int x, int y)
{
  return x + y;
}
static void on_alarm(int signal) { (void)signal; value(-1, -1); }
static void *thread(void *argument)
{
  for (int round = 0; round < 50; round++)
    for (int i = 0; i < 100; i++)
      if (value(i, (int)(long)argument / 4) != 7)
        abort();
  return NULL;
}
int main(void)
{
  signal(SIGUSR1, on_alarm);
  for (int child = 0; child < 4; child++) {
    pid_t pid = fork();
    if (pid < 0)
      return 1;
    if (pid == 0) {
      pthread_t threads[4];
      for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread, (void *)i);
      raise(SIGUSR1);
      for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
      _exit(0);
    }
  }
  for (int child = 0; child < 4; child++) {
    int status;
    wait(&status);
    if (status != 0)
      return 1;
  }
  return 0;
}
"#;
    let program = Program::new(source)
        .function(3, "static int value(", &[])
        .hole(
            3,
            "x + y",
            integer("int"),
            &["(__pw_u64)(x)", "(__pw_u64)(y)"],
        );
    for flags in ["gcc -O0", "gcc -O2 -fsanitize=thread", "clang-19 -O2"] {
        let mut bench = Bench::new();
        bench.write("fork.c", program.woven());
        bench.compile(&format!("{flags} -pthread -o fork fork.c"));
        bench.candidate(
            3,
            3,
            &[Slot::Value(Ty::I32); 2],
            &[Instruction::constant(7)],
        );
        bench.run("fork", &[]);
        let observation = bench.observation();
        assert_eq!(observation.visits, 4 * (4 * 50 * 100 + 1), "{flags}");
        assert!(observation.is_complete(), "{flags}");
        let mut expected: BTreeSet<Vec<u64>> = (0..100).map(|i| vec![i, 0]).collect();
        expected.insert(vec![u64::MAX, u64::MAX]);
        let seen: BTreeSet<Vec<u64>> = rows(&observation).into_iter().collect();
        assert_eq!(seen, expected, "{flags}");
        assert_eq!(observation.states.len(), expected.len(), "{flags}");
    }
}

#[test]
fn processes_that_are_killed_block_nobody() {
    let source = r#"#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static int value(int x)
{
  return x + 1;
}
int main(void)
{
  for (int child = 0; child < 30; child++) {
    pid_t pid = fork();
    if (pid < 0)
      return 1;
    if (pid == 0)
      for (int i = 0;; i = (i + 1) % 2000)
        value(i);
    for (int i = 0; i < 50; i++)
      value(10000 + i);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
  }
  puts("done");
  return 0;
}
"#;
    let program = Program::new(source)
        .function(3, "static int value(", &[])
        .hole(3, "x + 1", integer("int"), &["(__pw_u64)(x)"]);
    let mut bench = Bench::new();
    bench.write("kill.c", program.woven());
    bench.compile("gcc -O1 -o kill kill.c");
    bench.candidate(3, 3, &[Slot::Value(Ty::I32)], &[Instruction::slot(0)]);
    assert_eq!(bench.run("kill", &[]), "done\n");
    let observation = bench.observation();
    assert!(!observation.overflow && observation.incomplete <= 30);
    let seen: BTreeSet<u64> = rows(&observation).into_iter().map(|row| row[0]).collect();
    assert_eq!(seen.len(), observation.states.len());
    assert!((10000..10050).all(|x| seen.contains(&x)));
}

#[test]
fn a_program_with_its_own_allocator_and_its_own_names_of_libc_can_be_woven() {
    let source = r#"#include <stdio.h>
#include <string.h>
static char arena[1 << 16];
static unsigned long used;
void *malloc(unsigned long size) { void *p = arena + used; used += (size + 15) / 16 * 16; return used > sizeof arena ? 0 : p; }
void free(void *p) { (void)p; }
void *calloc(unsigned long n, unsigned long size) { void *p = malloc(n * size); return p ? memset(p, 0, n * size) : p; }
void *realloc(void *p, unsigned long size) { void *q = malloc(size); return p && q ? memcpy(q, p, size) : q; }
char *getenv(const char *name) { (void)name; return 0; }
static int dlopen(int x) { return x; }
static int open(int x) { return dlopen(x) + 1; }
int mmap(int x)
{
  return open(x) * 2;
}
int main(void) { printf("%d\n", mmap(3)); return 0; }
"#;
    let program = Program::new(source).function(3, "int mmap(", &[]).hole(
        3,
        "open(x) * 2",
        HookKind::Condition,
        &["(__pw_u64)(x)"],
    );
    let mut bench = Bench::new();
    bench.write("own.c", program.woven());
    for compiler in ["gcc", "clang-19", "gcc -Dstatic= -Dconst="] {
        bench.compile(&format!("{compiler} -O1 -fno-builtin -o own own.c"));
        assert_eq!(bench.plain("own", &[]), "8\n");
        bench.candidate(3, 3, &[Slot::Value(Ty::I32)], &[Instruction::constant(0)]);
        assert_eq!(bench.run("own", &[]), "0\n");
    }
}

#[test]
fn a_woven_file_may_be_included_more_than_once_and_built_into_several_objects() {
    let inner = Program::new("static int NAME(inner)(int x)\n{\n  return x + 1;\n}\n")
        .function(8, "static int NAME(inner)(", &[])
        .hole(8, "x + 1", integer("int"), &["(__pw_u64)(x)"]);
    let outer = Program::new(
        "#define NAME(x) first_##x\n#include \"inner.h\"\n#undef NAME\n#define NAME(x) second_##x\n#include \"inner.h\"\n\
         int PUBLIC(int x)\n{\n  return first_inner(x) * 100 + second_inner(x) + x * 0;\n}\n",
    )
    .function(9, "int PUBLIC(", &[])
    .hole(9, "x * 0", integer("int"), &[]);
    let mut bench = Bench::new();
    bench.write("inner.h", inner.woven());
    bench.write("outer.c", outer.woven());
    bench.write(
        "main.c",
        "#include <stdio.h>\nint a(int), b(int);\nint main(void) { printf(\"%d %d\\n\", a(1), b(2)); return 0; }\n",
    );
    bench.compile("gcc -DPUBLIC=a -c -o a.o outer.c");
    bench.compile("gcc -DPUBLIC=b -c -o b.o outer.c");
    bench.compile("gcc -o main main.c a.o b.o");
    assert_eq!(bench.plain("main", &[]), "202 303\n");
    bench.candidate(8, 8, &[Slot::Value(Ty::I32)], &[Instruction::constant(7)]);
    assert_eq!(bench.run("main", &[]), "707 707\n");
    // The order in which the arguments of one call are evaluated is the compiler's choice.
    let seen: BTreeSet<Vec<u64>> = rows(&bench.observation()).into_iter().collect();
    assert_eq!(seen, BTreeSet::from([vec![1], vec![2]]));
}

/// `same(n)` is called with `n` from the arguments, in a process that has nothing of its parent's environment.
const BARE: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int same(int n)
{
  return n + 1;
}
int main(int argc, char **argv)
{
  char *again[] = { argv[0], argv[1], argv[1], NULL }, *none[] = { NULL };
  if (argc == 2)
    execve("/proc/self/exe", again, none);
  printf("%d\n", same(atoi(argv[1])));
  return 0;
}
"#;

fn bare(run: Option<std::path::PathBuf>) -> Program {
    let program = Program::new(BARE)
        .function(3, "static int same(", &[])
        .hole(3, "n + 1", integer("int"), &["(__pw_u64)(n)"]);
    match run {
        Some(run) => program.run_folder(run),
        None => program,
    }
}

#[test]
fn a_process_without_its_environment_finds_the_run_in_its_folder() {
    let mut bench = Bench::new();
    let run = bench.path("a \"run\" ??/");
    bench.write("bare.c", bare(Some(run.clone())).woven());
    for flags in ["gcc -Wall -Wextra -Werror -pedantic", "clang-19 -static"] {
        bench.compile(&format!("{flags} -o bare bare.c"));
        bench.candidate(3, 3, &[Slot::Value(Ty::I32)], &[Instruction::slot(0)]);
        // There is no such folder, so there is no run.
        assert_eq!(bench.run("bare", &["7"]), "8\n");
        assert_eq!(bench.channel.found_by_path(), 0);
        std::fs::create_dir(&run).unwrap();
        std::fs::write(run.join("probe"), patchwright_probe_image::PROBE).unwrap();
        std::os::unix::fs::symlink(bench.channel.path(), run.join("channel")).unwrap();
        bench.candidate(3, 3, &[Slot::Value(Ty::I32)], &[Instruction::slot(0)]);
        assert_eq!(bench.run("bare", &["7"]), "7\n");
        let observation = bench.observation();
        assert_eq!((observation.attached, observation.visits), (2, 1));
        assert_eq!(bench.channel.found_by_path(), 1);
        std::fs::remove_dir_all(&run).unwrap();
    }
}

#[test]
fn a_process_that_cannot_report_to_its_run_is_ended_at_the_first_hole() {
    let mut bench = Bench::new();
    bench.write("bare.c", bare(None).woven());
    bench.compile("gcc -o bare bare.c");
    bench.candidate(3, 3, &[Slot::Value(Ty::I32)], &[Instruction::slot(0)]);
    let folder = bench.folder().to_path_buf();
    bench.write("empty", "");
    for (probe, channel) in [
        ("probe", "empty"),
        ("probe", "."),
        (".", "probe"),
        ("empty", "probe"),
    ] {
        let mut command = bench.plain_command("bare");
        command
            .env("PATCHWRIGHT_PROBE", folder.join(probe))
            .env("PATCHWRIGHT_CHANNEL", folder.join(channel));
        // With two arguments it does not execute itself.
        let output = command.args(["7", "7"]).output().unwrap();
        assert_eq!(output.status.signal(), Some(9), "{probe} {channel}");
        assert_eq!(output.stdout, b"", "{probe} {channel}");
    }
}

#[test]
fn a_sanitizers_report_is_without_names_unless_the_program_says_otherwise() {
    const CRASH: &str = "#include <stdlib.h>\nint crash(int x)\n{\n  int *cells = malloc(4);\n  return cells[x];\n}\n\
        int main(int argc, char **argv) { (void)argv;\n return crash(argc + 2); }\n";
    const OWN: &str = "const char *__asan_default_options(void) { return \"symbolize=1\"; }\n";
    for (own, has_names) in [("", false), (OWN, true)] {
        let source = format!("{CRASH}{own}");
        let program = Program::new(&source).function(40, "int crash(", &[]).hole(
            20,
            "cells[x]",
            integer("int"),
            &["(__pw_u64)(x)"],
        );
        let bench = Bench::new();
        bench.write("crash.c", program.woven());
        bench.compile("gcc -g -fsanitize=address -o crash crash.c");
        let mut command = bench.plain_command("crash");
        let output = command
            .env("ASAN_OPTIONS", "detect_leaks=0")
            .output()
            .unwrap();
        let report = String::from_utf8_lossy(&output.stderr);
        assert!(report.contains("heap-buffer-overflow"), "{report}");
        assert_eq!(report.contains("in crash"), has_names, "{report}");
    }
}
