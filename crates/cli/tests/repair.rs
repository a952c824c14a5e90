//! `patchwright repair` as its users see it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::{fs, process::Command};

use crate::common::{Place, stderr, stdout};

/// The first hunk's changed lines, without their signs: what goes and what comes.
fn changed(diff: &[u8]) -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let lines = |sign: u8, header: &[u8]| -> Vec<Vec<u8>> {
        diff.split_inclusive(|&byte| byte == b'\n')
            .filter(|line| line.first() == Some(&sign) && !line.starts_with(header))
            .map(|line| line[1..].to_vec())
            .collect()
    };
    (lines(b'-', b"---"), lines(b'+', b"+++"))
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
#[ignore = "nightly: 6 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn the_cheapest_patch_comes_first() {
    let place = Place::with_max2();
    let output = place.run(["repair", "project/max.c", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = json(&stdout(&output));
    let diff = report["patches"][0]["diff"].as_str().unwrap();
    let (gone, come) = changed(diff.as_bytes());
    assert_eq!(gone, [b"  if (a > b) {\n"]);
    assert_eq!(come, [b"  if (a >= b) {\n"]);
    assert_eq!(report["patches"][0]["cost"], 1);
    assert_eq!(report["patches"][0]["file"], "max.c");
}

#[test]
#[ignore = "nightly: 5 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn the_json_has_schema_version_1_and_agrees_with_itself() {
    let place = Place::with_max2();
    let output = place.run(["repair", "project/max.c", "--json", "--max-patches", "3"]);
    let report = json(&stdout(&output));
    assert_eq!(report["schema"], "patchwright-repair");
    assert_eq!(report["schema_version"], 1);
    let patches = report["patches"].as_array().unwrap();
    assert_eq!(patches.len(), 3);
    for (i, patch) in patches.iter().enumerate() {
        assert_eq!(patch["rank"], i as u64 + 1);
    }
    let stats = &report["stats"];
    assert_eq!(stats["failing_tests"], 1);
    assert_eq!(stats["passing_tests"], 2);
    assert!(stats["explored"].as_u64() <= stats["candidates"].as_u64());
    assert_eq!(stats["rejected_by_verification"], serde_json::json!([]));
}

#[test]
#[ignore = "nightly: 14 s; resume and shards compare the reports of two runs"]
fn two_runs_print_the_same_patches() {
    let patches = || {
        let place = Place::with_max2();
        let output = place.run(["repair", "project/max.c", "--json"]);
        json(&stdout(&output))["patches"].clone()
    };
    assert_eq!(patches(), patches());
}

#[test]
#[ignore = "nightly: 7 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn the_users_tree_is_only_read_and_nothing_is_left_behind() {
    let place = Place::with_max2();
    let before = place.snapshot();
    let output = place.run(["repair", "project/max.c"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(place.snapshot(), before);
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
fn every_patch_that_is_written_applies_and_repairs_the_program() {
    let place = Place::with_max2();
    let output = place.run(["repair", "project/max.c", "--output", "patches"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let mut names: Vec<_> = fs::read_dir(place.root.join("patches"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.contains(&"1.diff".to_owned()), "{names:?}");
    for name in names {
        let folder = place.root.join(format!("applied-{name}"));
        fs::create_dir(&folder).unwrap();
        fs::copy(place.project().join("max.c"), folder.join("max.c")).unwrap();
        let applied = Command::new("patch")
            .args(["-p1", "--fuzz=0", "-i"])
            .arg(place.root.join("patches").join(&name))
            .current_dir(&folder)
            .output()
            .unwrap();
        assert!(applied.status.success(), "{name}: {}", stdout(&applied));
        let built = Command::new("cc")
            .args(["-w", "-o", "max", "max.c"])
            .current_dir(&folder)
            .status()
            .unwrap();
        assert!(built.success(), "{name}");
        for case in ["equal", "first-greater", "second-greater"] {
            let read = |extension: &str| {
                let file = format!("cases/{case}.{extension}");
                fs::read_to_string(place.project().join(file)).unwrap()
            };
            let run = Command::new(folder.join("max"))
                .args(read("args").split_whitespace())
                .output()
                .unwrap();
            assert_eq!(stdout(&run), read("out"), "{name}, {case}");
        }
    }
}

#[test]
#[ignore = "nightly: 6 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn a_source_with_crlf_keeps_its_line_ends() {
    let place = Place::with_max2();
    let source = fs::read_to_string(place.project().join("max.c")).unwrap();
    place.write("max.c", source.replace('\n', "\r\n"));
    let output = place.run(["repair", "project/max.c", "--output", "patches"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let diff = fs::read(place.root.join("patches/1.diff")).unwrap();
    let (gone, come) = changed(&diff);
    assert_eq!(gone, [b"  if (a > b) {\r\n"]);
    assert_eq!(come, [b"  if (a >= b) {\r\n"]);
    // So does what is printed, which somebody may write to a file.
    let text = stdout(&output);
    let printed = String::from_utf8_lossy(&diff).into_owned();
    assert!(text.contains(&printed), "{text:?}");
    for entry in fs::read_dir(place.root.join("patches")).unwrap() {
        let diff = fs::read(entry.unwrap().path()).unwrap();
        for line in changed(&diff).1 {
            assert!(
                line.ends_with(b"\r\n"),
                "{}",
                String::from_utf8_lossy(&line)
            );
        }
    }
}

#[test]
#[ignore = "nightly: 2 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn a_source_with_a_byte_order_mark_keeps_it() {
    let place = Place::with_max2();
    let source = fs::read(place.project().join("max.c")).unwrap();
    let path = place.write("max.c", [b"\xef\xbb\xbf", &source[..]].concat());
    let output = place.run(["repair", "project/max.c", "--first", "--output", "patches"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let applied = Command::new("patch")
        .args(["-p1", "--fuzz=0", "-i", "../patches/1.diff"])
        .current_dir(place.project())
        .output()
        .unwrap();
    assert!(applied.status.success(), "{}", stdout(&applied));
    let patched = String::from_utf8(fs::read(path).unwrap()).unwrap();
    assert!(patched.starts_with("\u{feff}#include"));
    assert!(patched.contains("if (a >= b) {"));
}

#[test]
#[ignore = "nightly: 2 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn paths_with_spaces_and_quotes_work() {
    let place = Place::with_max2();
    let odd = place.project().join("it's \"odd\" $HOME; here");
    fs::create_dir(&odd).unwrap();
    let file = odd.join("max two.c");
    fs::rename(place.project().join("max.c"), &file).unwrap();
    fs::rename(place.project().join("cases"), odd.join("the cases")).unwrap();
    let output = place
        .patchwright([
            "repair".as_ref(),
            file.as_os_str(),
            odd.join("the cases").as_os_str(),
            "--first".as_ref(),
            "--json".as_ref(),
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = json(&stdout(&output));
    assert_eq!(report["patches"][0]["file"], "max two.c");
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
#[ignore = "nightly: 2 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn a_folder_with_a_driver_and_an_odd_name_is_repaired_too() {
    let place = Place::with_max2();
    fs::remove_dir_all(place.project().join("cases")).unwrap();
    place.script(
        "run tests.sh",
        "#!/bin/sh\ncase $1 in\nless) test \"$(./max 1 2)\" = 1 ;;\n\
         more) test \"$(./max 2 1)\" = 0 ;;\nsame) test \"$(./max 3 3)\" = 0 ;;\n\
         *) exit 2 ;;\nesac\n",
    );
    fs::rename(place.project(), place.root.join("a 'project'")).unwrap();
    let output = place.run([
        "repair",
        "a 'project'",
        "--build",
        "cc -o max max.c",
        "--driver",
        "run tests.sh",
        "--tests",
        "less",
        "more",
        "same",
        "--first",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = json(&stdout(&output));
    let diff = report["patches"][0]["diff"].as_str().unwrap();
    assert_eq!(changed(diff.as_bytes()).1, [b"  if (a >= b) {\n"]);
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
fn a_search_that_finds_nothing_says_so_with_status_1() {
    let place = Place::with_max2();
    place.write("cases/impossible.args", "5 6\n");
    place.write("cases/impossible.out", "no expression prints this\n");
    let before = place.snapshot();
    let output = place.run(["repair", "project/max.c", "--max-cost", "1"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(place.snapshot(), before);
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
#[ignore = "nightly: 18 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn a_space_of_fifty_thousand_candidates_takes_at_most_12_executions() {
    let place = Place::with_max2();
    let output = place.run([
        "repair",
        "project/max.c",
        "--files",
        "project/max.c:8",
        "--all",
        "--max-cost",
        "40",
        "--schemas",
        "expression,refinement,guard",
        "-j",
        "1",
        "--json",
    ]);
    let report = json(&stdout(&output));
    let stats = &report["stats"];
    assert!(stats["candidates"].as_u64() >= Some(50_000), "{stats}");
    assert_eq!(stats["explored"], stats["candidates"]);
    assert!(stats["executions"].as_u64() <= Some(12), "{stats}");
}

#[test]
#[ignore = "nightly: 4 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn a_macro_that_another_function_of_the_file_names_is_a_constant() {
    let place = Place::new();
    place.write(
        "port.c",
        "#include <stdio.h>\n#include <stdlib.h>\n#define LAST_PORT 65535\n\
         int is_usable(long port) { return port <= LAST_PORT; }\n\
         int is_given(long port)\n{\n  return port > 0 && port < 32767;\n}\n\
         int main(int n, char **v) { (void)n; long p = atol(v[1]);\n\
         puts(is_given(p) && is_usable(p) ? \"ok\" : \"no\"); return 0; }\n",
    );
    for (name, port, word) in [
        ("low", "80", "ok"),
        ("none", "0", "no"),
        ("high", "40000", "ok"),
        ("beyond", "65536", "no"),
    ] {
        place.write(&format!("cases/{name}.args"), port);
        place.write(&format!("cases/{name}.out"), format!("{word}\n"));
    }
    let output = place.run([
        "repair",
        "project/port.c",
        "--files",
        "port.c:7",
        "--schemas",
        "expression",
        "--max-cost",
        "1",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("port < LAST_PORT;"), "{text}");
}

#[test]
#[ignore = "nightly: 4 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn of_candidates_with_equal_code_the_shortest_is_shown() {
    let place = Place::new();
    place.write_program(
        "// case 3 5 => 3\n// case 5 3 => 3\n// case 4 4 => 4\n\
         #include <stdio.h>\n#include <stdlib.h>\n\
         static int slice_of(int left, int slice) {\n  if (left < slice)\n\
         slice = left - slice;\n  return slice;\n}\n\
         int main(int n, char **v) {\n\
         if (n > 2) printf(\"%d\\n\", slice_of(atoi(v[1]), atoi(v[2])));\n  return 0;\n}\n",
    );
    let mut arguments = vec!["repair", "project/program.c", "--max-cost", "2"];
    arguments.extend(["--schemas", "operator,expression", "--files", "program.c:8"]);
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    // `slice += left - slice;` costs less.
    assert!(text.contains("+slice = left;"), "{text}");
    assert!(!text.contains("+="), "{text}");
}

#[test]
#[ignore = "nightly: 5 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn where_a_class_does_not_keep_its_promise_the_search_goes_on() {
    let place = Place::with_max2();
    fs::remove_dir_all(place.project().join("cases")).unwrap();
    // The last test looks at the source, in which no candidate is written while it is searched for.
    place.script(
        "driver",
        "#!/bin/sh\ncase $1 in\nless) test \"$(./max 1 2)\" = 1 ;;\n\
         more) test \"$(./max 2 1)\" = 0 ;;\nsame) test \"$(./max 3 3)\" = 0 ;;\n\
         style) ! grep -q 'a >= b' max.c ;;\n*) exit 2 ;;\nesac\n",
    );
    let output = place.run([
        "repair",
        "project",
        "--build",
        "cc -o max max.c",
        "--driver",
        "./driver",
        "--tests",
        "less",
        "more",
        "same",
        "style",
        "--first",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report = json(&stdout(&output));
    let patches = report["patches"].as_array().unwrap();
    assert_eq!(patches.len(), 1);
    let diff = patches[0]["diff"].as_str().unwrap();
    assert!(!diff.contains("a >= b"), "{diff}");
    let rejected = report["stats"]["rejected_by_verification"]
        .as_array()
        .unwrap();
    assert!(
        rejected[0].as_str().unwrap().contains("a >= b"),
        "{rejected:?}"
    );
}

#[test]
#[ignore = "nightly: 3 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn a_patch_that_an_unstable_test_rejects_is_not_reported_and_the_warning_says_why() {
    let place = Place::with_max2();
    fs::remove_dir_all(place.project().join("cases")).unwrap();
    place.script(
        "driver",
        "#!/bin/sh\ncase $1 in\nless) test \"$(./max 1 2)\" = 1 ;;\n\
         same) test \"$(./max 3 3)\" = 0 ;;\n\
         moody) ! grep -q 'a >= b' max.c || [ -e seen ] || { touch seen; exit 1; } ;;\n*) exit 2 ;;\nesac\n",
    );
    let options = "--driver ./driver --tests less same moody --first";
    let project = ["repair", "project", "--build", "cc -o max max.c"];
    let output = place.run(project.into_iter().chain(options.split(' ')));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!stdout(&output).contains("a >= b"), "{}", stdout(&output));
    let said = "test moody is unstable with the patch, in a clean copy: it fails once and then passes twice";
    assert!(stderr(&output).contains(said), "{}", stderr(&output));
}

#[test]
#[ignore = "nightly: 7 s; every_patch_that_is_written_applies_and_repairs_the_program goes this way"]
fn that_more_classes_are_plausible_than_reported_is_said_with_the_option_that_shows_them() {
    let place = Place::new();
    // Either condition can be the one that is changed.
    place.write_program(
        "// case 4 => 0\n// case 5 => 1\n// case 6 => 1\n#include <stdio.h>\n#include <stdlib.h>\n\
         int main(int argc, char **argv) {\n  (void)argc;\n  int n = atoi(argv[1]), r = 0;\n\
         if (n > 5) r = 1;\n  if (n > 5) r = 1;\n  printf(\"%d\\n\", r);\n  return 0;\n}\n",
    );
    let said = |patches: &str| {
        let output = place.run([
            "repair",
            "project/program.c",
            "--max-cost",
            "1",
            "--max-patches",
            patches,
        ]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stdout(&output).contains("--max-patches N shows patches of more classes.")
    };
    assert!(said("1"));
    assert!(!said("1000"));
}
