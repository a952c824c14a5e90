//! `patchwright compare` as its users see it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

use std::fs;

use crate::common::{Place, stderr, stdout};
use serde_json::Value;

pub const OLD: &str = "static int calls;
int price(int amount, signed char discount)
{
    calls++;
    if (discount > 50)
        discount = 50;
    return amount / 100 * (100 - discount);
}
";

#[test]
fn a_difference_is_shown_with_an_input_that_both_versions_executed() {
    let new = OLD
        .replace("discount > 50", "discount >= 50")
        .replace("calls++", "calls += 1");
    let new = new.replace("discount = 50", "discount = 49");
    let place = Place::with_versions(OLD, &new);
    let report = place.compared(&["--function", "price"], 1);
    assert_eq!(report["verdict"], "different");
    assert_eq!(report["differences_complete"], true);
    let partitions = report["partitions"].as_array().unwrap();
    assert!(
        partitions.iter().all(|one| one["replay"] == "agrees"),
        "{partitions:#?}"
    );
    let first = &partitions[0];
    assert_eq!(first["kind"], "different");
    assert_ne!(
        first["old"]["observed"]["left"],
        first["new"]["observed"]["left"]
    );
    let lines = first["new"]["changed_lines"].as_array().unwrap();
    assert!(
        lines.contains(&5.into()) && lines.contains(&6.into()),
        "{lines:?}"
    );
    let text = place.run([
        "compare",
        "project/old.c",
        "project/new.c",
        "--function",
        "price",
    ]);
    assert!(stdout(&text).contains("For all other inputs both versions do the same: proved."));
}

#[test]
fn the_same_code_ends_the_work_at_once() {
    let place = Place::with_versions(OLD, &format!("/* Prices. */\n\n{OLD}"));
    let report = place.compared(&["--function", "price"], 0);
    assert_eq!(report["verdict"], "same-code");
}

#[test]
fn tests_of_partitions_of_programs_are_cases() {
    let old = "#include <stdio.h>\nint main(void) { int c = getchar(); puts(c == 'a' ? \"yes\" : \"no\"); return 0; }\n";
    let new = old.replace("c == 'a'", "c == 'a' || c == 'A'");
    let place = Place::with_versions(old, &new);
    let report = place.compared(&["--output", "project/tests", "--minimal"], 1);
    assert_eq!(report["partitions"][0]["kind"], "different");
    let folder = place.project().join("tests");
    assert_eq!(fs::read(folder.join("0001.in")).unwrap(), b"A");
    assert_eq!(fs::read(folder.join("0001.out")).unwrap(), b"no\n");
    assert_eq!(fs::read(folder.join("0001.new")).unwrap(), b"yes\n");
    assert!(folder.join("manifest.json").exists());
}

#[test]
fn parameters_of_other_types_and_missing_functions_are_told() {
    let place = Place::with_versions(OLD, &OLD.replace("signed char discount", "long discount"));
    let files = ["compare", "project/old.c", "project/new.c", "--function"];
    let output = place.run(files.iter().chain(&["price"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("the parameter `discount`"),
        "{}",
        stderr(&output)
    );
    let output = place.run(files.iter().chain(&["cost"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("old.c"), "{}", stderr(&output));
}

#[test]
#[ignore = "nightly: 3 s; projects_are_built_and_executed_and_functions_of_them_compared_for_all_arguments goes this way"]
fn the_cases_beside_a_program_are_executed_without_being_named() {
    let old = "#include <stdio.h>\nint main(int argc, char **argv) { int day, month; \
        if (argc < 2 || sscanf(argv[1], \"%d.%d.\", &day, &month) != 2) return 2; \
        printf(\"%d\\n\", day * 100 + month); return 0; }\n";
    let new = old.replace(
        "day * 100 + month",
        "day * 100 + month + (day == 29 && month == 2)",
    );
    let place = Place::with_versions(old, &new);
    fs::create_dir_all(place.project().join("cases")).unwrap();
    fs::write(place.project().join("cases/leap.args"), "29.2.\n").unwrap();
    fs::write(place.project().join("cases/leap.out"), "2902\n").unwrap();
    let report = place.compared(&["--executions", "20"], 1);
    assert_eq!(report["seen"][0]["of"], "leap");
    // What is not needed to show it may be left out.
    let argument = report["seen"][0]["arguments"][0].as_str().unwrap();
    assert!("29.2.".starts_with(argument), "{argument}");
    // Nor are they where they have another name.
    fs::rename(place.project().join("cases"), place.project().join("days")).unwrap();
    let report = place.compared(&["--executions", "20", "--cases", "project/days"], 1);
    assert_eq!(report["seen"][0]["of"], "leap");
}

#[test]
#[ignore = "nightly: 4 s; projects_are_built_and_executed_and_functions_of_them_compared_for_all_arguments goes this way"]
fn programs_without_symbols_are_executed_and_what_differs_is_seen_and_not_proved() {
    let old = "#include <stdio.h>\n#include <string.h>\nint main(void) { char line[64]; \
        while (fgets(line, sizeof line, stdin)) puts(strstr(line, \"key\") ? \"found\" : \"none\"); return 0; }\n";
    let new = old.replace("puts(", "if (line[0] == '#') return 3; else puts(");
    let place = Place::with_versions(old, &new);
    fs::create_dir_all(place.project().join("seeds")).unwrap();
    fs::write(place.project().join("seeds/one.in"), "a key\n").unwrap();
    let flags = [
        "--native",
        "--seeds",
        "project/seeds",
        "--executions",
        "400",
        "--output",
        "project/tests",
    ];
    let report = place.compared(&flags, 1);
    assert_eq!(report["verdict"], "seen-different");
    let seen = &report["seen"][0];
    assert_eq!(seen["old"]["ending"], "exit 0");
    assert_eq!(seen["new"]["ending"], "exit 3");
    // What is not needed to show it was left out.
    assert_eq!(seen["input"], "#");
    assert_eq!(
        fs::read(place.project().join("tests/seen-1.in")).unwrap(),
        b"#"
    );
    assert_eq!(
        fs::read(place.project().join("tests/seen-1.out")).unwrap(),
        b"none\n"
    );
    let text = place.run([
        "compare",
        "project/old.c",
        "project/new.c",
        "--native",
        "--executions",
        "50",
    ]);
    assert!(
        stdout(&text).contains("no proof of anything"),
        "{}",
        stdout(&text)
    );
}

#[test]
fn projects_are_built_and_executed_and_functions_of_them_compared_for_all_arguments() {
    let place = Place::new();
    for (version, more) in [("a", "x > 0"), ("b", "x >= 0")] {
        let folder = place.project().join(version);
        fs::create_dir_all(folder.join("cases")).unwrap();
        fs::write(
            folder.join("patchwright.toml"),
            "[project]\nbuild = \"cc -Iinclude -o prog main.c sign.c\"\n[tests]\nprogram = \"./prog\"\ncases = \"cases\"\n",
        )
        .unwrap();
        fs::create_dir_all(folder.join("include")).unwrap();
        fs::write(folder.join("include/sign.h"), "int sign(int x);\n").unwrap();
        fs::write(
            folder.join("main.c"),
            "#include <stdio.h>\n#include <stdlib.h>\n#include \"sign.h\"\n\
             int main(int argc, char **argv) { if (argc > 1) printf(\"%d\\n\", sign(atoi(argv[1]))); return 0; }\n",
        )
        .unwrap();
        fs::write(
            folder.join("sign.c"),
            format!("#include \"sign.h\"\nint sign(int x) {{ return {more} ? 1 : -1; }}\n"),
        )
        .unwrap();
        fs::write(folder.join("cases/one.args"), "7").unwrap();
        fs::write(folder.join("cases/one.out"), "1\n").unwrap();
    }
    let run = |flags: &[&str]| -> (Option<i32>, Value) {
        let files = ["compare", "project/a", "project/b", "--json"];
        let output = place.run(files.iter().chain(flags));
        let report = serde_json::from_str(&stdout(&output));
        (
            output.status.code(),
            report.unwrap_or_else(|_| panic!("{}", stderr(&output))),
        )
    };
    let (status, report) = run(&["--executions", "150"]);
    assert_eq!(
        (status, &report["verdict"]),
        (Some(1), &"seen-different".into()),
        "{report:#}"
    );
    assert_eq!(report["seen"][0]["old"]["output"], "-1\n");
    let (status, report) = run(&["--function", "sign"]);
    assert_eq!(
        (status, &report["verdict"]),
        (Some(1), &"different".into()),
        "{report:#}"
    );
    assert_eq!(report["partitions"][0]["condition"][0], "x == 0");
}

#[test]
fn what_a_function_remembers_in_a_static_variable_is_seen_by_its_next_call() {
    let old = "int next(int by) { static int last; last += by; return by > 3; }\n";
    let place = Place::with_versions(old, &old.replace("last += by", "last += by & 7"));
    let report = place.compared(&["--function", "next"], 1);
    assert_eq!(
        report["partitions"][0]["differs"][0],
        "what `static last` holds"
    );
    let replay = report["partitions"][0]["replay"].as_str().unwrap();
    assert!(replay.contains("static"), "{replay}");
}

/// The function of figure 4.5 of the thesis, with a string for its input.
pub const CUT: &str = "#include <assert.h>
int parse(char fs[4]) { int v = 1, c = 0, init = 1, at = 0; int lhs = 0;
while(at < 4){
if(fs[at] >= '0' && fs[at] <= '9'){
v = fs[at] - '0';
lhs = 1;
} else if(fs[at] == '-') {
c = lhs;
init = c ? v : 1;
} else if (fs[at] == 0) {
assert(init != 0);
break;
}
at++;
}
return init; }
";

#[test]
#[ignore = "nightly: 2 s; projects_are_built_and_executed_and_functions_of_them_compared_for_all_arguments goes this way"]
fn a_page_and_a_c_test_hold_the_samples_of_all_partitions() {
    let new = OLD.replace("discount > 50", "discount > 60");
    let place = Place::with_versions(OLD, &new);
    let flags = [
        "--function",
        "price",
        "--html",
        "project/page.html",
        "--c-test",
        "project/test.c",
    ];
    let report = place.compared(&flags, 1);
    let page = fs::read_to_string(place.project().join("page.html")).unwrap();
    for part in ["discount &gt; 50", "<details", "class=\"new", "partition"] {
        assert!(page.contains(part) || part == "<details", "{part}: {page}");
    }
    // The test fails with NEW, and passes with OLD.
    let test = place.project().join("test.c");
    let text = fs::read_to_string(&test).unwrap();
    let build = |name: &str| {
        let built = std::process::Command::new("cc")
            .args(["-w", "-o", name, "test.c"])
            .current_dir(place.project())
            .status()
            .unwrap();
        assert!(built.success(), "{text}");
        let ran = std::process::Command::new(place.project().join(name))
            .output()
            .unwrap();
        (ran.status.code(), String::from_utf8(ran.stdout).unwrap())
    };
    let (status, output) = build("with-new");
    assert_eq!(status, Some(1), "{output}");
    assert!(
        output.contains("not ok 1\n") && output.contains("\nok "),
        "{output}"
    );
    let old = text.replace("new.c", "old.c");
    fs::write(&test, old).unwrap();
    let (status, output) = build("with-old");
    assert_eq!(status, Some(0), "{output}");
    assert!(report["partitions"].as_array().unwrap().len() >= 2);
}

#[test]
fn what_is_no_version_is_told_with_what_to_do() {
    let place = Place::with_versions(OLD, "int price(int amount, signed char discount);\n");
    fs::create_dir_all(place.project().join("folder")).unwrap();
    fs::write(place.project().join("broken.c"), "int price(int amount {\n").unwrap();
    for (files, flags, message) in [
        (
            ["old.c", "missing.c"],
            &[][..],
            "there is no such file or folder",
        ),
        (["folder", "old.c"], &[], "a file and"),
        (["old.c", "broken.c"], &["--function", "price"], "broken.c"),
        (["old.c", "new.c"], &["--function", "price"], "new.c"),
        (["folder", "folder"], &[], "has no build command"),
        (
            ["old.c", "old.c"],
            &["--seeds", "nowhere", "--native"],
            "--seeds nowhere",
        ),
    ] {
        let files = files.map(|name| format!("project/{name}"));
        let mut words = vec!["compare", &files[0], &files[1]];
        words.extend(flags);
        let output = place.run(&words);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{words:?}: {}{}",
            stdout(&output),
            stderr(&output)
        );
        let text = stderr(&output);
        assert!(
            text.contains(message) && text.matches("error:").count() >= 1,
            "{words:?}: {text}"
        );
    }
}

/// Four numbers as arguments, the last of them an index.
const FARE: &str = "#include <stdio.h>
#include <stdlib.h>
static int zones[3];
int main(int argc, char *argv[])
{
    if (argc < 4) {
        printf(\"usage: fare AGE DISTANCE ZONE\\n\");
        return 2;
    }
    zones[0] = 10;
    zones[1] = 25;
    zones[2] = 70;
    int age = atoi(argv[1]), distance = atoi(argv[2]), zone = atoi(argv[3]);
    if (zone < 0 || zone > 2 || distance < 0 || distance > 500)
        return 3;
    printf(\"%d\\n\", age < 14 ? 0 : distance + zones[zone]);
    return 0;
}
";

#[test]
fn a_program_gets_as_many_arguments_as_it_reads_and_numbers_of_them_are_any_numbers() {
    let place = Place::with_versions(FARE, &FARE.replace("= 25", "= 52"));
    let report = place.compared(&["--no-native"], 1);
    assert_eq!(report["verdict"], "different");
    assert_eq!(report["arguments"], 3);
    assert_eq!(report["differences_complete"], true);
    let first = &report["partitions"][0];
    assert_eq!(first["replay"], "agrees");
    let condition: Vec<&str> = first["condition"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(condition.contains(&"atoi(argv[3]) == 1"), "{condition:?}");
    let age = first["sample"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one[0] == "argv[3]")
        .unwrap();
    assert_eq!(age[1], "\"1\"");

    // A number that is the same for a whole partition is what is printed.
    let place = Place::with_versions(FARE, &FARE.replace("? 0 :", "? 1 :"));
    let report = place.compared(&["--no-native"], 1);
    let first = &report["partitions"][0];
    assert_eq!(first["old"]["formulas"][0], "prints \"0\\n\"");
    assert_eq!(first["new"]["formulas"][0], "prints \"1\\n\"");
}

#[test]
fn an_argument_that_only_one_version_reads_is_given_to_both() {
    let new = FARE.replace("age < 14", "age < 14 || atoi(argv[4]) == 7");
    let place = Place::with_versions(FARE, &new.replace("argc < 4", "argc < 5"));
    let report = place.compared(&["--no-native"], 1);
    assert_eq!(report["arguments"], 4);
    let partitions = report["partitions"].as_array().unwrap();
    assert!(
        partitions.iter().all(|one| one["replay"] == "agrees"),
        "{partitions:#?}"
    );
}

/// Adds up its arguments.
const SUM: &str = "#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int sum = 0;
    for (int i = 1; i < argc; i++)
        sum = sum + atoi(argv[i]);
    printf(\"%d\\n\", sum);
    return 0;
}
";

#[test]
#[ignore = "nightly: 4 s; projects_are_built_and_executed_and_functions_of_them_compared_for_all_arguments goes this way"]
fn a_proof_about_one_argument_says_so_and_more_of_them_are_tried() {
    let new = SUM.replace(
        "sum + atoi(argv[i])",
        "i == 3 ? atoi(argv[i]) : sum + atoi(argv[i])",
    );
    let place = Place::with_versions(SUM, &new);
    let report = place.compared(&[], 1);
    assert_eq!(report["arguments"], 1);
    assert_eq!(report["verdict"], "seen-different");
    let seen = &report["seen"][0];
    assert_eq!(seen["arguments"].as_array().unwrap().len(), 3);

    let text = place.run(["compare", "project/old.c", "project/new.c", "--no-native"]);
    assert_eq!(text.status.code(), Some(0));
    assert!(
        stdout(&text).starts_with("Equal for all inputs with 1 argument: "),
        "{}",
        stdout(&text)
    );
}

#[test]
fn partitions_that_differ_are_looked_for_up_to_a_number() {
    let old = "int kind(unsigned char c)
{
    switch (c) {
    case 3: return 10;
    case 9: return 12;
    case 14: return 15;
    default: return 0;
    }
}
";
    let new = old
        .replace("return 10", "return 11")
        .replace("return 12", "return 14")
        .replace("return 15", "return 18");
    let place = Place::with_versions(old, &new);
    let flags = ["--function", "kind", "--different"];
    let report = place.compared(&[&flags[..], &["2"]].concat(), 1);
    let differ = |report: &Value| {
        let partitions = report["partitions"].as_array().unwrap();
        partitions
            .iter()
            .filter(|one| one["kind"] == "different")
            .count()
    };
    assert_eq!(differ(&report), 2);
    assert_eq!(report["more_differ"], true);
    assert_eq!(report["differences_complete"], false);
    let report = place.compared(&[&flags[..], &["3"]].concat(), 1);
    assert_eq!(differ(&report), 3);
    assert_eq!(report["more_differ"], false);
    assert_eq!(report["differences_complete"], true);
}

#[test]
fn what_is_printed_before_a_failure_and_whether_a_version_ends_are_compared() {
    let failing = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { int c = getchar(); if (c == 'x') { puts(\"bad\"); abort(); } return 0; }\n";
    let fails = Place::with_versions(failing, &failing.replace("bad", "worse"));
    let report = fails.compared(&["--no-native"], 1);
    let first = &report["partitions"][0];
    assert_eq!(first["kind"], "fails-otherwise");
    assert_eq!(first["replay"], "agrees", "{first:#}");
    assert_eq!(first["new"]["observed"]["output"], "worse\n");

    let endless = "int f(int x) { if (x == 5) for (;;); return 1; }\n";
    let ends = Place::with_versions(endless, "int f(int x) { return x - x + 1; }\n");
    let report = ends.compared(&["--function", "f"], 1);
    let first = &report["partitions"][0];
    assert_eq!(first["differs"][0], "whether it ends");
    assert_eq!(first["condition"][0], "x == 5");
}

#[test]
fn paths_with_a_changed_line_come_first_and_what_is_no_step_is_found_all_the_same() {
    let old = "#include <stdio.h>\n#define LIMIT 3\nint main(int argc, char **argv)\n{\n  \
               if (argc > 1 && argv[1][0] == 'x')\n    printf(\"%d\\n\", LIMIT);\n  return 0;\n}\n";
    let place = Place::with_versions(old, &old.replace("LIMIT 3", "LIMIT 4"));
    for order in ["prv", "all-paths", "changed-paths"] {
        let report = place.compared(&["--strategy", order, "--no-native"], 1);
        assert_eq!(report["strategy"], order);
        assert_eq!(report["verdict"], "different");
        assert!(report["partitions_made"].as_u64() >= Some(1));
    }
}

#[test]
#[ignore = "nightly: 3 s; projects_are_built_and_executed_and_functions_of_them_compared_for_all_arguments goes this way"]
fn what_was_known_when_the_time_was_over_is_resumed_and_of_a_finished_run_nothing_is_kept() {
    // Two primes that nobody finds in a second.
    let hard = "int f(unsigned a, unsigned b, int x)\n{\n  \
                if (a > 1 && b > 1 && (unsigned long)a * b == 4611685989973229569ul)\n    return 7;\n  return x;\n}\n";
    let new = "int f(unsigned a, unsigned b, int x)\n{\n  return x == 5 ? 6 : x;\n}\n";
    let place = Place::with_versions(hard, new);
    let state = place.project().join("state");
    let kept = || fs::read_dir(&state).map_or(0, |files| files.count());
    let state_flag = state.to_str().unwrap();
    let flags = ["--function", "f", "--budget", "1s", "--state", state_flag];
    let first = place.compared(&flags, 1);
    assert_eq!(first["ended_early"], true, "{first:#}");
    assert_eq!(kept(), 1);
    let again = place.compared(&[&flags[..], &["--resume"]].concat(), 1);
    let conditions = |report: &Value| report["partitions"][0]["condition"].clone();
    assert_eq!(conditions(&again), conditions(&first));
    let done = place.compared(
        &[
            "--function",
            "f",
            "--bound",
            "3",
            "--conflicts",
            "1",
            "--state",
            state_flag,
        ],
        1,
    );
    assert_eq!(done["ended_early"], false);
    // Those of the two that were ended.
    assert_eq!(kept(), 2);
}

#[test]
#[ignore = "nightly: 2 s; projects_are_built_and_executed_and_functions_of_them_compared_for_all_arguments goes this way"]
fn a_comparison_that_was_killed_goes_on_with_what_it_had_found() {
    // Two primes that nobody finds while this is tested.
    let old = "int f(unsigned a, unsigned b, int x)\n{\n  \
               if (a > 1 && b > 1 && (unsigned long)a * b == 4611685989973229569ul)\n    return 7;\n  return x;\n}\n";
    let new = "int f(unsigned a, unsigned b, int x)\n{\n  return x == 5 ? 6 : x;\n}\n";
    let place = Place::with_versions(old, new);
    let state = place.project().join("state");
    let flags = ["--function", "f", "--state", state.to_str().unwrap()];
    let files = ["compare", "project/old.c", "project/new.c", "--json"];
    let command = [&files[..], &flags, &["--budget", "60s"]].concat();
    let mut killed = place.patchwright(command);
    let mut killed = killed.stdout(std::process::Stdio::null()).spawn().unwrap();
    // The first line says what it is about, each other one is something that was found.
    let found = || {
        let file = fs::read_dir(&state).ok()?.next()?.ok()?.path();
        let lines = fs::read_to_string(&file).ok()?.lines().count();
        (lines > 1).then_some(file)
    };
    let journal = loop {
        assert!(killed.try_wait().unwrap().is_none(), "it has ended");
        match found() {
            Some(file) => break file,
            None => std::thread::yield_now(),
        }
    };
    killed.kill().unwrap();
    killed.wait().unwrap();
    // It was killed while it wrote a line.
    let mut text = fs::read(&journal).unwrap();
    text.extend_from_slice(b"{\"kind\":");
    fs::write(&journal, text).unwrap();
    let flags = [&flags[..], &["--budget", "1s", "--resume"]].concat();
    let report = place.compared(&flags, 1);
    assert_eq!(report["verdict"], "different", "{report:#}");
    let shown = report["partitions"][0]["condition"].to_string();
    assert!(shown.contains("x == 5"), "{report:#}");
}
