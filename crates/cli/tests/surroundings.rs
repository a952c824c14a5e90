//! Patchwright in places that are poor in something: what it can do it does, and else it says what is missing.
//!
//! Most of them are made with `unshare`, which needs either root or a kernel that lets everyone have namespaces.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::process::{Command, Output, Stdio};

use crate::common::{Place, stderr, stdout};

/// Runs a shell script as root of namespaces of its own, in the place. `$P` is Patchwright.
fn within(place: &Place, script: &str) -> Output {
    Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-ec", script])
        .current_dir(&place.root)
        .env("P", env!("CARGO_BIN_EXE_patchwright"))
        .env("PATCHWRIGHT_TMP", place.root.join("scratch"))
        .env_remove("PATCHWRIGHT_LOG")
        .output()
        .unwrap()
}

/// Exit status and standard error, with the folder of the test called `[ROOT]`.
fn said(place: &Place, output: &Output) -> String {
    let text = stderr(output).replace(place.root.to_str().unwrap(), "[ROOT]");
    format!(
        "exit status {}\n{}",
        output.status.code().unwrap(),
        without_numbers(&text)
    )
}

/// Leaves out the numbers in names of scratch folders, and the size of the file that tests share, which grows with what
/// tests are told.
fn without_numbers(text: &str) -> String {
    let named = without_after(text, "patchwright-", |c| c.is_ascii_hexdigit() || c == '-');
    without_after(&named, "a file of ", |c| c.is_ascii_digit())
}

/// Leaves out the characters that directly follow each `mark` and are `left_out`.
fn without_after(text: &str, mark: &str, left_out: fn(char) -> bool) -> String {
    let mut parts = text.split(mark);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |shown, part| {
        shown + mark + part.trim_start_matches(left_out)
    })
}

#[test]
#[ignore = "nightly: 2 s; where_no_copy_can_appear_at_the_projects_path goes this way"]
fn a_root_that_is_read_only_and_little_shared_memory() {
    let place = Place::with_max2();
    let output = within(
        &place,
        "mount -t tmpfs -o size=64k none /dev/shm\nmount -t tmpfs none scratch\nmount --rbind / /mnt\n\
         mount -o remount,bind,ro /mnt\nmount --bind scratch /mnt/$PWD/scratch 2>/dev/null || true\n\
         exec chroot /mnt sh -c 'cd \"$0\" && ! touch project/x 2>/dev/null && exec \"$P\" repair project/max.c --first --json -j 2' \"$PWD\"",
    );
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    assert!(stdout(&output).contains("a >= b"));
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
fn a_disk_that_is_full() {
    let place = Place::with_max2();
    place.write("large", vec![7; 3 << 20]);
    place.script("driver", "#!/bin/sh\ntest \"$(./max $1 $1)\" = 0\n");
    let output = within(
        &place,
        "mount -t tmpfs -o size=2m none scratch\n\
         exec \"$P\" repair project --build 'cc -o max max.c' --driver driver --tests 1 2",
    );
    insta::assert_snapshot!(said(&place, &output));
}

#[test]
fn a_disk_that_is_full_only_for_the_channel() {
    let place = Place::with_max2();
    let output = within(
        &place,
        "mount -t tmpfs -o size=64k none /dev/shm\nmount -t tmpfs -o size=4m none scratch\n\
         exec \"$P\" repair project/max.c",
    );
    insta::assert_snapshot!(said(&place, &output));
}

#[test]
fn an_output_folder_that_is_read_only() {
    let place = Place::with_max2();
    let output = within(
        &place,
        "mkdir out\nmount --bind out out\nmount -o remount,bind,ro out\n\
         exec \"$P\" repair project/max.c --first --output out",
    );
    insta::assert_snapshot!(said(&place, &output));
}

#[test]
fn a_temporary_folder_that_is_read_only_or_missing() {
    let place = Place::with_max2();
    let output = within(
        &place,
        "mount --bind scratch scratch\nmount -o remount,bind,ro scratch\nexec \"$P\" repair project/max.c",
    );
    let missing = place
        .patchwright(["repair", "project/max.c"])
        .env("PATCHWRIGHT_TMP", place.root.join("nowhere"))
        .output()
        .unwrap();
    insta::assert_snapshot!(format!(
        "{}{}",
        said(&place, &output),
        said(&place, &missing)
    ));
}

/// A program that executes itself without its environment.
fn bare() -> Place {
    let place = Place::new();
    let program = include_str!("constructs/cleared_environment.c");
    place.write("bare.c", program);
    for (number, (argument, output)) in [("3", "1"), ("0", "1"), ("-1", "0")].iter().enumerate() {
        place.write(&format!("cases/{number}.args"), argument);
        place.write(&format!("cases/{number}.out"), format!("{output}\n"));
    }
    place
}

#[test]
fn where_no_copy_can_appear_at_the_projects_path() {
    let place = bare();
    // No capabilities, and no further namespaces: as in many containers.
    let output = within(
        &place,
        "echo 0 >/proc/sys/user/max_user_namespaces\n\
         exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all \"$P\" repair project/bare.c --first --json --unprotected -j 2",
    );
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["patches"][0]["function"], "natural");
    let message = stderr(&output);
    assert!(message.contains("going on with one worker"), "{message}");
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
fn patches_are_woven_where_no_copy_can_appear_at_the_projects_path() {
    let place = Place::with_max2();
    place.script("driver", "#!/bin/sh\ntest \"$(./max $1 1)\" = 0\n");
    let patch = |condition: &str| {
        let diff = format!(
            "--- a/max.c\n+++ b/max.c\n@@ -8 +8 @@\n-  if (a > b) {{\n+  if ({condition}) {{\n"
        );
        format!("{}\n", serde_json::json!({"id": condition, "patch": diff}))
    };
    let patches = ["a >= b", "a < b", "a > b + 1"].map(patch).concat();
    place.write("patches.jsonl", patches);
    let output = within(
        &place,
        "echo 0 >/proc/sys/user/max_user_namespaces\necho 0 >/proc/sys/user/max_mnt_namespaces\n\
         exec \"$P\" validate project project/patches.jsonl --build 'cc -o max max.c' --driver driver \
         --tests 1 2 -j 2 --json --weave-few --state state --unprotected",
    );
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["stats"]["woven"]["patches"], 3);
    assert_eq!(report["patches"][0]["verdict"], "plausible");
}

#[test]
#[ignore = "nightly: 8 s; crate exec makes copies and processes of several runs at once"]
fn two_runs_at_once_give_what_each_gives_alone() {
    let place = bare();
    let patches = |output: &Output| -> serde_json::Value {
        assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
        let report: serde_json::Value = serde_json::from_str(&stdout(output)).unwrap();
        report["patches"].clone()
    };
    let arguments = ["repair", "project/bare.c", "--json", "--first", "-j", "2"];
    let alone = patches(&place.run(arguments));
    let start = || {
        let mut command = place.patchwright(arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let runs = [start(), start()];
    for run in runs {
        let output = run.wait_with_output().unwrap();
        assert_eq!(patches(&output), alone);
    }
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
#[ignore = "nightly: 3 s; where_no_copy_can_appear_at_the_projects_path goes this way"]
fn a_location_with_many_states_takes_less_than_a_gibibyte() {
    let place = Place::new();
    place.write(
        "many.c",
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n\
         \x20 unsigned n = (unsigned)atoi(argv[1]), sum = 0, i, j = 0;\n  for (i = 0; i < n; i++) {\n\
         \x20   j = j * 1103515245u + 12345u + (unsigned)argc;\n    if (i % 7 > 4 || j < 9)\n      sum += i;\n  }\n\
         \x20 printf(\"%u\\n\", sum);\n  return 0;\n}\n",
    );
    // Right is `i % 7 > 3`.
    let right = |n: u32| (0..n).filter(|i| i % 7 > 3).sum::<u32>();
    for n in [0, 3, 2_000] {
        place.write(&format!("cases/{n}.args"), n.to_string());
        place.write(&format!("cases/{n}.out"), format!("{}\n", right(n)));
    }
    let output = place.run([
        "repair",
        "project/many.c",
        "--json",
        "--files",
        "project/many.c:8",
        "--first",
    ]);
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let stats = &report["stats"];
    let peak = stats["peak_memory_bytes"].as_u64().unwrap();
    assert!(peak > 1 << 20 && peak < 1 << 30, "{stats}");
    assert!(stats["executions"].as_u64() > Some(0), "{stats}");
}

#[test]
#[ignore = "nightly: 33 s; a_location_with_many_states_takes_less_than_a_gibibyte goes the same way, crate repair counts what is put off"]
fn candidates_whose_states_are_too_many_are_executed_one_by_one() {
    let place = Place::new();
    place.write(
        "many.c",
        "#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n\
         \x20 unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 0, sum = 0, i;\n  for (i = 0; i < n; i++)\n\
         \x20   if (i == n)\n      sum += i;\n  printf(\"%u\\n\", sum);\n  return 0;\n}\n",
    );
    // Right is `i + 1 == n`: what is true for the last of all values only looks like `i == n` as far as that is observed.
    for (n, sum) in [("0", "0\n"), ("66000", "65999\n")] {
        place.write(&format!("cases/{n}.args"), n);
        place.write(&format!("cases/{n}.out"), sum);
    }
    let line = ["--files", "project/many.c:7", "--schemas", "expression"];
    let arguments = [
        "repair",
        "project/many.c",
        "--json",
        "--first",
        "--max-cost",
        "2",
    ];
    let output = place.run([&arguments[..], &line].concat());
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let diff = report["patches"][0]["diff"].as_str().unwrap_or_default();
    assert!(diff.contains("+    if (i + 1 == n)"), "{report}");
}

/// Some versions of ccache take texts that differ for the same one under `-fsyntax-only`.
#[test]
#[ignore = "nightly: 3 s; where_no_copy_can_appear_at_the_projects_path goes this way"]
fn compilers_behind_a_cache_are_asked_anew() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::with_max2();
    let caches = place.root.join("caches");
    std::fs::create_dir(&caches).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    for compiler in ["cc", "gcc", "clang-19"] {
        let script = format!(
            "#!/bin/sh\ncase \" $* \" in *-fsyntax-only*|*\" -S \"*|*\" -E \"*)\n\
             [ \"$CCACHE_DISABLE\" = 1 ] || {{ echo stale; exit 0; }};; esac\nexec {} \"$@\"\n",
            folders
                .iter()
                .map(|folder| folder.join(compiler))
                .find(|path| path.exists())
                .unwrap()
                .display()
        );
        let path = caches.join(compiler);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", caches.display(), std::env::var("PATH").unwrap());
    let diff = |text: &str| {
        format!("--- a/max.c\n+++ b/max.c\n@@ -8 +8 @@\n-  if (a > b) {{\n+  if ({text}) {{\n")
    };
    let set = ["a >= b", "a < b", "a >=< b"].map(|text| {
        let id = text.replace(' ', "");
        format!("{}\n", serde_json::json!({ "id": id, "patch": diff(text) }))
    });
    place.write("set.jsonl", set.concat());
    let verdicts = |path: &str| {
        let output = place
            .patchwright(["validate", "project/max.c", "project/set.jsonl", "--jsonl"])
            .env("PATH", path)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = stdout(&output);
        ["plausible", "implausible", "not_compiling"]
            .map(|word| text.matches(&format!("\"verdict\":\"{word}\"")).count())
    };
    assert_eq!(verdicts(&path), verdicts(&std::env::var("PATH").unwrap()));
    let output = place
        .patchwright(["repair", "project/max.c", "--first"])
        .env("PATH", &path)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("1 patch, verified"));
}

#[test]
fn advice_fits_what_stands_in_the_way() {
    let place = Place::with_max2();
    let repair = "exec \"$P\" repair project/max.c --first";
    let few = within(&place, &format!("ulimit -n 12\n{repair}"));
    let told = stderr(&few);
    assert_eq!(few.status.code(), Some(2), "{told}");
    assert!(told.contains("`ulimit -n 1024`"), "{told}");
    assert!(!told.contains("namespaces"), "{told}");
    // The folder itself is only copied; it is the copy of a project that must not lie in it.
    let project = "repair project --build 'cc -o max max.c' --program max --cases cases --first";
    let inside = within(
        &place,
        &format!("mkdir project/tmp\nPATCHWRIGHT_TMP=project/tmp exec \"$P\" {project}"),
    );
    let told = stderr(&inside);
    assert_eq!(inside.status.code(), Some(2), "{told}");
    assert!(
        told.contains("set PATCHWRIGHT_TMP to a folder outside"),
        "{told}"
    );
    assert!(!told.contains("--unprotected"), "{told}");
    let chroot = within(
        &place,
        &format!(
            "mkdir r; for d in /*; do if [ -d $d ] && [ ! -L $d ]; then mkdir r$d 2>/dev/null || mkdir -p r$d; mount --rbind $d r$d; \
             elif [ -L $d ]; then cp -P $d r$d; fi; done\n\
             exec chroot r sh -c 'cd {} && {repair}'",
            place.root.display()
        ),
    );
    let told = stderr(&chroot);
    assert_eq!(chroot.status.code(), Some(2), "{told}");
    assert!(told.contains("because it runs in a chroot"), "{told}");
}
