//! What could make the woven program say something else than a plain build.
#![allow(clippy::disallowed_methods)] // Tests write into folders of their own.

use crate::common;

use crate::common::{Plain, PlainRun, Subject, driver_project, plain, validate, validate_texts};
use patchwright_schemata::{Apart, Fate, Options, Outside};

const PROGRAM: &str = "\
#include <stdio.h>
#include <stdlib.h>

int not_linked(int);

static int work(int n)
{
    int *p = n > 2 ? &n : NULL;
    int x = 1;
    for (int i = 0; i < n; i++) {
        if (i == 3)
            goto done;
        x += i;
    }
    if (n > 7) {
        x = 7;
        if (x > n)
            x = 8;
    }
done:
    return x + (p ? *p : 0);
}

int main(int argc, char **argv)
{
    printf(\"%d\\n\", work(argc > 1 ? atoi(argv[1]) : 0));
    return 0;
}
";

fn options() -> Options {
    Options {
        keep_going: true,
        ..Options::default()
    }
}

#[test]
#[ignore = "nightly: 10 s; processes_that_lost_their_environment_find_the_channel goes this way"]
fn traps_endless_loops_and_missing_symbols_are_the_patchs_own() {
    let mut subject = Subject::new(PROGRAM, &[("1", "1\n"), ("5", "9\n"), ("9", "13\n")]);
    subject.timeout = std::time::Duration::from_secs(3);
    let with = |from: &str, to: &str| {
        assert!(PROGRAM.contains(from), "{from}");
        PROGRAM.replacen(from, to, 1)
    };
    let texts = [
        with("    int x = 1;", "    int x = *p;"),
        with("x += i;", "x += i / (i - 2);"),
        with("x += i;", "i--;"),
        with("x += i;", "x += not_linked(i);"),
        with("int x = 1;", "int x = 1; *(int *)\"text\" = n;"),
        with("i == 3", "*p == 3"),
        with(
            "        x = 7;\n        if (x > n)\n            x = 8;\n",
            "        x = 8;\n",
        ),
        with("x > n", "x < n"),
        with("done:\n    return x", "    x++;\ndone:\n    return x"),
        with("goto done;", "break;"),
        with("goto done;", "goto end;").replacen("done:", "end:", 1),
    ];
    let found = validate(&subject, &texts, options());
    assert_eq!(found.fates[3], Fate::Apart(Apart::NotLinked));
    let folder = tempfile::tempdir().unwrap();
    let mut seen = Vec::new();
    for (patch, text) in texts.iter().enumerate().filter(|(patch, _)| *patch != 3) {
        let runs: Vec<PlainRun> = (0..3)
            .map(|test| PlainRun::of(&found.verdicts[&(patch, test)]))
            .collect();
        seen.extend(runs.clone());
        assert_eq!(
            Plain::Ran(runs),
            plain(&subject, folder.path(), text),
            "{text}"
        );
    }
    for run in [
        PlainRun::Pass,
        PlainRun::Output,
        PlainRun::Endless,
        PlainRun::Signal(8),
        PlainRun::Signal(11),
    ] {
        assert!(seen.contains(&run), "{run:?}");
    }
}

const TELLING: &str = "\
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#define ERROR(a, b)
#define HALF(n) if (half((n), 2) > 1) goto end

static int half(int n, int by)
{
    ERROR(n,
          by);
    n = n / by;
    return n;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    while (n > 8) {
        ERROR(\"large\",
              n);
        n--;
    }
    HALF(n);
    assert(n != 3);
end:
    printf(\"%d %d\\n\", n, n > 4 ? __LINE__ : 0);
    return 0;
}
";

/// The fates of these changed texts of [`TELLING`], whose verdicts are those of plain builds.
fn fates_of_telling(changes: &[(&str, &str)]) -> Vec<Fate> {
    let subject = Subject::new(TELLING, &[("1", "1 0\n"), ("5", "5 27\n"), ("9", "8 27\n")]);
    let texts: Vec<String> = changes
        .iter()
        .map(|(from, to)| {
            assert!(TELLING.contains(from), "{from}");
            TELLING.replacen(from, to, 1)
        })
        .collect();
    let found = validate(&subject, &texts, options());
    let folder = tempfile::tempdir().unwrap();
    for (patch, text) in texts.iter().enumerate() {
        if found.fates[patch] == Fate::Woven {
            let runs = (0..3).map(|test| PlainRun::of(&found.verdicts[&(patch, test)]));
            let plain = plain(&subject, folder.path(), text);
            assert_eq!(Plain::Ran(runs.collect()), plain, "{text}");
        }
    }
    found.fates
}

#[test]
#[ignore = "nightly: 2 s; processes_that_lost_their_environment_find_the_channel goes this way"]
fn what_says_on_which_line_it_stands_says_another_when_lines_are_added_before_it() {
    let fates = fates_of_telling(&[
        ("    n = n / by;\n", "    n = n / by;\n    n += 0;\n"),
        ("    n = n / by;\n", ""),
        ("    n = n / by;\n", "    if (by)\n        n = n / by;\n"),
        ("        n--;\n", "        n--;\n\n"),
        ("    return 0;\n", "    n = 0;\n    return 0;\n"),
        ("int main(", "/* Here. */\nint main("),
    ]);
    // The last adds nothing but a comment, and is another program all the same.
    assert_eq!(fates, vec![Fate::Woven; 6]);
}

#[test]
#[ignore = "nightly: 2 s; processes_that_lost_their_environment_find_the_channel goes this way"]
fn arguments_of_a_macro_of_which_nothing_is_left_are_no_place_for_an_alternative() {
    let fates = fates_of_telling(&[
        ("          by);\n", "          by - 1);\n"),
        ("          by);\n", "          break; by);\n"),
        ("              n);\n", "              continue; n);\n"),
        ("              n);\n", "              n + 1);\n"),
        ("\"large\"", "\"small\""),
    ]);
    assert_eq!(fates, vec![Fate::Woven; 5]);
}

#[test]
fn an_error_in_the_text_of_a_macro_is_one_of_where_it_is_used() {
    let fates = fates_of_telling(&[
        ("HALF(n);", "HALF(div(n, 2));"),
        ("HALF(n);", "HALF(&);"),
        ("HALF(n);", "HALF(n + 1);"),
    ]);
    for (number, fate) in fates.iter().enumerate() {
        match fate {
            Fate::Woven => assert_eq!(number, 2),
            Fate::DoesNotCompile { line, .. } => assert!(number < 2 && *line == 24, "{line}"),
            Fate::Apart(reason) => panic!("{number}: {reason:?}"),
        }
    }
}

#[test]
#[ignore = "nightly: 2 s; processes_that_lost_their_environment_find_the_channel goes this way"]
fn where_warnings_are_errors_they_keep_a_patch_from_compiling() {
    let mut subject = Subject::new(PROGRAM, &[("1", "1\n")]);
    subject.cflags = ["-Wall", "-Wextra", "-Werror", "-O2"]
        .map(String::from)
        .to_vec();
    let texts = [
        PROGRAM.replacen("    int x = 1;", "    int x = 1, unused = 2;", 1),
        PROGRAM.replacen("    int x = 1;", "    int y, x = y;", 1),
        PROGRAM.replacen("x += i;", "x -= i;", 1),
        PROGRAM.replacen("    return x + (p ? *p : 0);", "    x = 2;", 1),
    ];
    let found = validate(&subject, &texts, options());
    for patch in [0, 1, 3] {
        assert!(
            matches!(&found.fates[patch], Fate::DoesNotCompile { message, .. } if message.contains("-Werror")),
            "{:?}",
            found.fates[patch]
        );
    }
    assert_eq!(found.fates[2], Fate::Woven);
    assert_eq!(PlainRun::of(&found.verdicts[&(2, 0)]), PlainRun::Pass);
}

#[test]
fn processes_with_threads_are_not_compared_in() {
    let source = "\
#include <pthread.h>
#include <stdio.h>

static int sum;

static void add(int n)
{
    sum += n;
}

static void *run(void *p)
{
    add(*(int *)p);
    return NULL;
}

int main(void)
{
    int n = 3;
    pthread_t thread;
    pthread_create(&thread, NULL, run, &n);
    pthread_join(thread, NULL);
    printf(\"%d\\n\", sum);
    return 0;
}
";
    let mut subject = Subject::new(source, &[("", "3\n")]);
    subject.cflags = vec!["-pthread".into()];
    let texts = ["sum = n;", "sum = 3;", "sum -= n;", "sum = n + 1;"]
        .map(|text| source.replacen("sum += n;", text, 1));
    let found = validate(&subject, &texts, options());
    let passes: Vec<bool> = (0..4)
        .map(|patch| found.verdicts[&(patch, 0)].is_pass())
        .collect();
    assert_eq!(passes, [true, true, false, false]);
    assert_eq!((found.stats.threads, found.stats.evaluations), (1, 0));
}

fn validate_driver(
    source: &str,
    flags: &str,
    script: &str,
    changes: &[(&str, &str)],
) -> common::Found {
    validate_beside(source, flags, script, changes, &[])
}

/// With other files in the project.
fn validate_beside(
    source: &str,
    flags: &str,
    script: &str,
    changes: &[(&str, &str)],
    others: &[(&str, &str)],
) -> common::Found {
    let folder = tempfile::tempdir().unwrap();
    let build = format!("cc -O1 {flags} -o prog prog.c");
    let files = [&[("prog.c", source)], others].concat();
    let project = driver_project(folder.path(), &files, &build, script, ["one", "two"]);
    let texts: Vec<(&str, &str, String)> = changes
        .iter()
        .map(|(from, to)| ("prog.c", source, source.replacen(from, to, 1)))
        .collect();
    validate_texts(folder.path(), &project, &texts, options())
}

const SIMPLE: &str = "\
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    n = n + 1;
    printf(\"%d\\n\", n);
    return 0;
}
";

#[test]
#[ignore = "nightly: 2 s; processes_that_lost_their_environment_find_the_channel goes this way"]
fn patches_part_in_any_of_the_processes_of_a_test() {
    let script = "#!/bin/sh\n\
        test \"$(./prog 1)\" = 2 && test \"$(./prog 2)\" = 3 && test \"$1\" = one || test \"$(./prog 5)\" = 6\n";
    let changes = [
        ("n = n + 1;", "n += 1;"),
        ("n = n + 1;", "n = n * 2;"),
        ("n = n + 1;", "n = n == 2 ? 3 : n * 2;"),
        ("n = n + 1;", "n = n == 2 ? 3 : n == 5 ? 6 : 2;"),
    ];
    let found = validate_driver(SIMPLE, "", script, &changes);
    let pass = |patch, test| found.verdicts[&(patch, test)].is_pass();
    let passes: Vec<[bool; 2]> = (0..4)
        .map(|patch| [pass(patch, 0), pass(patch, 1)])
        .collect();
    assert_eq!(
        passes,
        [[true, true], [false, false], [true, false], [true, true]]
    );
    // In the first test three patches do what the original does, in its two processes.
    assert_eq!(found.stats.splits.len(), 1, "{:?}", found.stats);
}

#[test]
fn processes_that_lost_their_environment_find_the_channel() {
    let script = "#!/bin/sh\n\
        if test \"$1\" = one; then test \"$(env -i ./prog 1)\" = 2; else test \"$(./prog 1)\" = 2; fi\n";
    let found = validate_driver(
        SIMPLE,
        "",
        script,
        &[("n + 1", "n + 2"), ("n + 1", "1 + n")],
    );
    assert_eq!(found.open, [(0, 0); 0]);
    assert!(!found.verdicts[&(0, 0)].is_pass(), "{:?}", found.verdicts);
    assert!(found.verdicts[&(1, 0)].is_pass(), "{:?}", found.verdicts);
}

#[test]
fn a_static_program_is_handed_back() {
    let script = "#!/bin/sh\ntest \"$(./prog 1)\" = 2\n";
    let found = validate_driver(SIMPLE, "-static", script, &[("n + 1", "n + 2")]);
    assert_eq!(found.open, [(0, 0)], "{:?}", found.verdicts);
}

#[test]
#[ignore = "nightly: 2 s; processes_that_lost_their_environment_find_the_channel goes this way"]
fn an_alternative_that_writes_over_what_is_to_undo_it_decides_about_no_other_patch() {
    const SORT: &str = "\
#include <stdio.h>
#include <stdlib.h>

struct result { char name[16]; int points; };
static struct result results[32], buffer[32];

static void merge(int from, int middle, int to)
{
    int left = from, right = middle;
    for (int at = from; at < to; at++) {
        if (left < middle && (right >= to || results[left].points > results[right].points))
            buffer[at] = results[left++];
        else
            buffer[at] = results[right++];
    }
    for (int at = from; at < to; at++)
        results[at] = buffer[at];
}

static void sort(int from, int to)
{
    if (to - from < 2)
        return;
    int middle = from + (to - from) / 2;
    sort(from, middle);
    sort(middle, to);
    merge(from, middle, to);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        results[i - 1].name[0] = 'a' + i - 1;
        results[i - 1].points = atoi(argv[i]);
    }
    sort(0, argc - 1);
    for (int i = 0; i < argc - 1; i++)
        printf(\"%s%d \", results[i].name, results[i].points);
    printf(\"\\n\");
    return 0;
}
";
    let cases = [
        ("3 1 2", "a3 c2 b1 \n"),
        ("4 4", "a4 b4 \n"),
        ("1 7 7 9 1", "d9 b7 c7 a1 e1 \n"),
    ];
    let subject = Subject::new(SORT, &cases);
    let texts = [
        SORT.replacen("at < to; at++) {", "at < to; at--) {", 1),
        SORT.replacen("points > results", "points >= results", 1),
        SORT.replacen("right >= to", "right > to", 1),
    ];
    let found = validate(&subject, &texts, options());
    let folder = tempfile::tempdir().unwrap();
    // Where the first one writes to is undefined.
    for (patch, text) in texts.iter().enumerate().skip(1) {
        let runs = (0..cases.len()).map(|test| PlainRun::of(&found.verdicts[&(patch, test)]));
        let plainly = plain(&subject, folder.path(), text);
        assert_eq!(Plain::Ran(runs.collect()), plainly, "{text}");
    }
    assert_eq!(PlainRun::of(&found.verdicts[&(1, 2)]), PlainRun::Pass);
    assert!(found.stats.unfinished > 0);
}

#[test]
#[ignore = "nightly: 2 s; processes_that_lost_their_environment_find_the_channel goes this way"]
fn of_patches_that_use_the_word_of_a_missing_symbol_the_one_where_the_linker_says_is_apart() {
    let mut subject = Subject::new(PROGRAM, &[("1", "1\n"), ("5", "9\n"), ("9", "13\n")]);
    subject.cflags.push("-g".into());
    let texts = [
        PROGRAM.replacen("x += i;", "x += not_linked(i);", 1),
        PROGRAM.replacen(
            "    printf(\"%d\\n\", work(",
            "    int not_linked = 1;\n    printf(\"%d\\n\", not_linked * work(",
            1,
        ),
    ];
    let found = validate(&subject, &texts, options());
    assert_eq!(
        found.fates,
        [Fate::Apart(Apart::NotLinked), Fate::Woven],
        "{texts:?}"
    );
}

#[test]
#[ignore = "nightly: 2 s; processes_that_lost_their_environment_find_the_channel goes this way"]
fn what_has_no_value_in_a_patched_function_depends_on_the_build_and_is_handed_back() {
    const LESS: &str = "\
#include <stdio.h>
#include <stdlib.h>

static int less(int a, int b)
{
    int r;
    if (a < b)
        r = a;
    else
        r = b;
    return r;
}

static int odd(int a)
{
    int known;
    if (a)
        known = 1;
    return a + known % 1;
}

int main(int argc, char **argv)
{
    printf(\"%d\\n\", less(atoi(argv[1]), argc) + odd(1));
    return 0;
}
";
    let subject = Subject::new(LESS, &[("1", "2\n"), ("5", "3\n")]);
    let with = |from: &str, to: &str| {
        assert!(LESS.contains(from), "{from}");
        LESS.replacen(from, to, 1)
    };
    let texts = [
        with("    return r;\n", ""),
        with("    return r;\n", "    if (r > 100)\n        return r;\n"),
        with("    else\n        r = b;\n", ""),
        with(
            "    if (a < b)\n        r = a;\n    else\n        r = b;\n",
            "",
        ),
        with("    int r;\n", "    int r = 0;\n"),
        with("a < b", "a <= b"),
        with("    return r;\n", "    exit(r);\n"),
        // That it may have no value is true of the untouched function.
        with("a + known", "known + a"),
    ];
    let found = validate(&subject, &texts, options());
    assert_eq!(found.fates, vec![Fate::Woven; 8]);
    let handed_back = |patch: usize| found.open.iter().any(|(open, _)| *open == patch);
    let expected: Vec<bool> = (0..8).map(|patch| patch < 4).collect();
    assert_eq!((0..8).map(handed_back).collect::<Vec<bool>>(), expected);
    assert!(!found.verdicts.keys().any(|(patch, _)| *patch < 4));
}

#[test]
#[ignore = "nightly: 3 s; processes_that_lost_their_environment_find_the_channel goes this way"]
fn macros_that_an_included_source_asks_for_or_another_definition_are_not_replaced() {
    let source = "\
#include <stdio.h>
#define MODE 2
#define OWN 3
#define ASKED 1
#define SEEN 1
#include \"part.c\"

static int own(int n)
{
#ifdef ASKED
    n += OWN;
#endif
    return n;
}

int main(void)
{
    printf(\"%d\\n\", own(part(1)));
    return 0;
}
";
    let part =
        "static int part(int n) { return n + MODE; }\n#ifdef SEEN\nstatic int seen;\n#endif\n";
    let script = "#!/bin/sh\n[ \"$(./prog)\" = 6 ]\n";
    let changes = [
        ("#define MODE 2", "#define MODE 1"),
        ("#define SEEN 1", "#define SEEN_BEFORE 1"),
        ("#define ASKED 1", "#define ASKED_FOR 1"),
        ("#define OWN 3", "#define OWN 4"),
        ("#define OWN 3", "#define OWN (2 + 1)"),
    ];
    let found = validate_beside(source, "", script, &changes, &[("part.c", part)]);
    let apart = |name: &str| {
        Fate::Apart(Apart::OutsideOfFunctions(Outside::Definition(
            name.to_owned(),
        )))
    };
    let woven = Fate::Woven;
    let added = Outside::Adds("SEEN_BEFORE".to_owned());
    let added = Fate::Apart(Apart::OutsideOfFunctions(added));
    let fates = [&apart("MODE"), &added, &woven, &woven, &woven];
    assert_eq!(found.fates.iter().collect::<Vec<_>>(), fates);
    let passes = |patch: usize| found.verdicts[&(patch, 0)].is_pass();
    assert_eq!((passes(2), passes(3), passes(4)), (false, false, true));
}

#[test]
#[ignore = "nightly: 6 s; processes_that_lost_their_environment_find_the_channel goes this way"]
fn a_source_that_is_compiled_twice_is_woven_whether_or_not_to_the_same_text() {
    let source = "\
#include <stdio.h>

static int twice(int n)
{
#if WAY == 2
    n++;
#endif
    return n * 2;
}

int main(void)
{
    printf(\"%d\\n\", twice(2));
    return 0;
}
";
    let script = "#!/bin/sh\n[ \"$(./prog)\" = 4 ] && [ \"$(./other)\" = 4 ]\n";
    let changes = [("n * 2", "n + 2"), ("n * 2", "n * 3")];
    let passes = |found: &common::Found, patch: usize| found.verdicts[&(patch, 0)].is_pass();
    let flags = "-DPIC -fPIC -o other prog.c && cc -O1";
    let found = validate_driver(source, flags, script, &changes);
    assert_eq!(found.fates, [Fate::Woven, Fate::Woven]);
    assert_eq!((passes(&found, 0), passes(&found, 1)), (true, false));
    for (flags, passing) in [
        ("-DWAY=2 -o other prog.c && cc -O1", false),
        ("-std=c99 -o other prog.c && cc -O1", true),
    ] {
        let found = validate_driver(source, flags, script, &changes);
        assert_eq!(found.fates, [Fate::Woven, Fate::Woven], "{flags}");
        let verdicts = (passes(&found, 0), passes(&found, 1));
        assert_eq!(verdicts, (passing, false), "{flags}");
    }
}

#[test]
#[ignore = "nightly: 2 s; processes_that_lost_their_environment_find_the_channel goes this way"]
fn what_is_called_when_a_variable_goes_is_called_once() {
    let source = "\
#include <stdio.h>
#include <stdlib.h>

static int freed;

static void done(int *p)
{
    freed += *p;
}

static int use(int n)
{
    {
        __attribute__((cleanup(done))) int x = n;
        x += 1;
        if (n == 9)
            return freed + 2;
    }
    return freed;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    int first = use(n);
    printf(\"%d %d\\n\", first, use(n));
    return 0;
}
";
    let subject = Subject::new(source, &[("4", "5 10\n"), ("9", "2 12\n")]);
    let found = common::as_plainly(
        &subject,
        &[
            &[("__attribute__((cleanup(done))) ", "")],
            &[("x += 1;", "x += 2;")],
            &[("x += 1;", "x += n;")],
            &[("x += 1;\n        if (n == 9)", "if (n == 9)")],
            &[("freed + 2", "freed + 3")],
        ],
    );
    assert_eq!(found.fates, vec![Fate::Woven; 5]);
    assert_eq!(found.open, []);
}
