//! `patchwright compare` as its users see it.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

use std::fs;

use crate::common::{Place, stderr, stdout};
use serde_json::Value;

const OLD: &str = "static int calls;
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
fn a_patch_and_a_set_of_patches_are_compared_with_what_they_are_patches_of() {
    let place = Place::with_versions(OLD, OLD);
    let diff = |name: &str, from: &str, to: &str| {
        let text = format!(
            "--- a/old.c\n+++ b/old.c\n@@ -4,3 +4,3 @@\n     calls++;\n-    {from}\n+    {to}\n         discount = 50;\n"
        );
        fs::create_dir_all(place.project().join("patches")).unwrap();
        fs::write(place.project().join("patches").join(name), text).unwrap();
    };
    diff("1.diff", "if (discount > 50)", "if (discount > 60)");
    diff("2.diff", "if (discount > 50)", "if (discount >= 50)");
    let one = [
        "compare",
        "project/old.c",
        "project/patches/1.diff",
        "--function",
        "price",
    ];
    let output = place.run(one);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stdout(&output).contains("discount"), "{}", stdout(&output));
    let all = [
        "compare",
        "project/old.c",
        "project/patches",
        "--function",
        "price",
    ];
    let output = place.run(all);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(
        text.contains("Different") && text.contains("Equal for all inputs"),
        "{text}"
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
const CUT: &str = "#include <assert.h>
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
fn a_regression_that_needs_two_changes_is_found_by_the_sequence_of_them() {
    let old = CUT
        .replace(" int lhs = 0;", "")
        .replace("lhs = 1;\n", "\n")
        .replace("c = lhs;", "c = v;");
    let place = Place::with_versions(&old, CUT);
    let flags = ["--function", "parse", "--length", "fs=4", "--interactions"];
    let report = place.compared(&flags, 1);
    let found = report["interactions"]["sequences"].as_array().unwrap();
    let of = |lines: &[u32]| {
        let lines: Value = lines.to_vec().into();
        found
            .iter()
            .find(|one| one["lines"] == lines)
            .unwrap_or_else(|| panic!("{found:#?}"))
    };
    // A digit, then a minus sign.
    let critical = of(&[2, 6, 8]);
    assert_eq!(
        (&critical["differs"], &critical["critical"]),
        (&true.into(), &true.into()),
        "{found:#?}"
    );
    assert_eq!(of(&[2])["critical"], false);
    assert!(
        found.iter().all(|one| one["feasible"] == true),
        "{found:#?}"
    );
    let edges = report["interactions"]["edges"].to_string();
    assert!(
        edges.contains("[\"6\",\"8\"]") && edges.contains("[\"8\",\"6\"]"),
        "{edges}"
    );
    assert_eq!(report["partitions"][0]["kind"], "new-fails");
}

#[test]
fn a_golden_version_tells_progress_from_regressions() {
    let old = "int f(signed char x) { return x > 9 ? 9 : x; }\n";
    let new = "int f(signed char x) { return x > 9 ? 9 : x < -9 ? -8 : x == 3 ? 4 : x; }\n";
    let place = Place::with_versions(old, new);
    let right = "int f(signed char x) { return x > 9 ? 9 : x < -9 ? -8 : x; }\n";
    fs::write(place.project().join("right.c"), right).unwrap();
    let report = place.compared(&["--function", "f", "--golden", "project/right.c"], 1);
    let golden = report["golden"]["differences"].as_array().unwrap();
    let of = |condition: &str| {
        let partitions = report["partitions"].as_array().unwrap();
        let found = partitions
            .iter()
            .find(|one| one["condition"][0] == condition);
        let number = found.unwrap_or_else(|| panic!("{report:#}"))["number"].to_string();
        golden.iter().find(|one| one[0] == number.as_str()).unwrap()[1].clone()
    };
    assert_eq!(of("x == 3"), "regression");
    assert_eq!(of("x <= -10"), "progress");
}

#[test]
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
fn of_three_versions_it_is_told_which_agree_for_which_inputs() {
    let first = "int f(int x) { if (x < 0) return 1; if (x == 7) return 2; return 0; }\n";
    let place = Place::with_versions(first, &first.replace("return 1", "return -1"));
    let third = first
        .replace("return 1", "return -1")
        .replace("== 7", "== 8");
    place.write("third.c", &third);
    let arguments = [
        "compare",
        "project/old.c",
        "project/new.c",
        "project/third.c",
        "--function",
        "f",
    ];
    let output = place.run(arguments);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", stderr(&output));
    let all = &text[text.find("All 3 versions").unwrap()..];
    assert!(all.contains("3 partitions"), "{all}");
    for (groups, condition) in [
        ("project/old.c | project/new.c, project/third.c", "x < 0"),
        ("project/old.c, project/new.c | project/third.c", "x == 7"),
        ("project/old.c, project/new.c | project/third.c", "x == 8"),
    ] {
        let part = all
            .split("\n\n")
            .find(|part| part.contains(groups) && part.contains(&format!("for   {condition}\n")));
        assert!(part.is_some(), "{groups} {condition}\n{all}");
    }
    assert!(all.contains("project/old.c: result = 1"), "{all}");
    assert!(
        all.contains("For all other inputs all versions do the same"),
        "{all}"
    );
    assert!(!all.contains("not confirmed"), "{all}");

    let json = place.run(arguments.iter().chain(&["--json"]));
    let json = stdout(&json);
    let documents = serde_json::Deserializer::from_str(&json).into_iter::<Value>();
    let documents: Vec<Value> = documents.map(Result::unwrap).collect();
    assert_eq!(documents.len(), 3);
    assert_eq!(documents[2]["schema"], "patchwright-compare-versions");
    assert_eq!(documents[2]["complete"], true);
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
fn each_of_several_versions_is_judged_by_the_golden_one() {
    let place = Place::new();
    let project = place.project();
    fs::create_dir_all(&project).unwrap();
    // Right: what is not positive is 0. The second version mends that and breaks 100, the third one changes 7 in vain.
    for (name, body) in [
        ("v1.c", "if (x == 7) return 1; return x;"),
        (
            "v2.c",
            "if (x == 7) return 1; if (x == 100) return 99; return x > 0 ? x : 0;",
        ),
        (
            "v3.c",
            "if (x == 7) return 2; if (x == 100) return 99; return x > 0 ? x : 0;",
        ),
        ("right.c", "return x > 0 ? x : 0;"),
    ] {
        fs::write(project.join(name), format!("int f(int x) {{ {body} }}\n")).unwrap();
    }
    let output = place.run([
        "compare",
        "project/v1.c",
        "project/v2.c",
        "project/v3.c",
        "--function",
        "f",
        "--golden",
        "project/right.c",
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let json = stdout(&output);
    let documents = serde_json::Deserializer::from_str(&json).into_iter::<Value>();
    let all = documents.last().unwrap().unwrap();
    assert_eq!(all["golden"], "project/right.c");
    let mut judged: Vec<(String, Vec<String>)> = all["partitions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let members = one["members"].as_array().unwrap().iter();
            let words = members.map(|member| member["judged"].as_str().unwrap_or("–").to_owned());
            (
                one["condition"][0].as_str().unwrap().to_owned(),
                words.collect(),
            )
        })
        .collect();
    judged.sort();
    let expected = [
        ("x < 0", ["–", "progress", "–"]),
        ("x == 100", ["–", "regression", "–"]),
        ("x == 7", ["–", "–", "change"]),
    ];
    let expected = expected
        .map(|(condition, words)| (condition.to_owned(), words.map(str::to_owned).to_vec()));
    assert_eq!(judged, expected);
}

#[test]
fn a_result_of_another_type_is_shown_as_what_it_is() {
    let place = Place::with_versions(
        "int f(int x) { return x; }\n",
        "signed char f(int x) { return x > 0 ? 1 : -1; }\n",
    );
    let report = place.compared(&["--function", "f"], 1);
    let first = &report["partitions"][0];
    assert_eq!(first["differs"][0], "the type of the result");
    assert_eq!(first["new"]["observed"]["left"][0][1], "-1", "{first:#}");
}

#[test]
fn a_function_without_a_body_is_told() {
    let place = Place::with_versions("int f(int x);\n", "int f(int x);\n");
    let output = place.run([
        "compare",
        "project/old.c",
        "project/new.c",
        "--function",
        "f",
    ]);
    assert_eq!(output.status.code(), Some(2));
    let message = stderr(&output);
    assert!(
        message.contains("they define none: a declaration has no body"),
        "{message}"
    );
}

#[test]
fn what_is_too_large_for_one_formula_is_explored_along_inputs() {
    let old = include_str!("../../../bench/compare/expression.c");
    let new = old.replace("if (operator == '%' && right != 0)", "if (operator == '%')");
    assert_ne!(old, new);
    let place = Place::with_versions(old, &new);
    let flags = ["--no-native", "--budget", "12s", "--different", "1"];
    let found = place.compared(&flags, 1);
    assert_eq!(found["verdict"], "different");
    let first = &found["partitions"][0];
    assert_eq!(first["kind"], "new-fails", "{found}");
    // Not all inputs are known, and nothing is claimed of the others.
    assert_eq!(found["differences_complete"], false);
}

#[test]
fn loops_are_the_same_for_any_number_of_rounds_or_differ_beyond_the_bound() {
    let old = "int f(int n)\n{\n  int s = 0;\n  for (int i = 0; i < n; i++)\n    s ^= i * 3;\n  return s;\n}\n";
    let new = "int f(int n)\n{\n  int s = 0, i = 0;\n  while (n > i) {\n    s = s ^ (i + i + i);\n    i++;\n  }\n  return s;\n}\n";
    let same = Place::with_versions(old, new).compared(&["--function", "f"], 0);
    assert_eq!(same["verdict"], "equal");
    let note = same["notes"][0].as_str().unwrap();
    assert!(note.contains("proved by induction"), "{note}");
    // The bound is 16 rounds.
    let late = new.replace("i++;", "if (i == 120) s++;\n    i++;");
    let place = Place::with_versions(old, &late);
    let report = place.compared(&["--function", "f", "--different", "1"], 1);
    assert_eq!(report["verdict"], "different", "{report:#}");
    assert_eq!(report["partitions"][0]["replay"], "agrees");
}

#[test]
fn a_parameter_that_was_only_given_another_name_is_the_same_input() {
    let place = Place::with_versions(
        "int least(int a, int b) { return a < b ? a : b; }\n",
        "int least(int x, int y) { return y ^ ((x ^ y) & -(x < y)); }\n",
    );
    let report = place.compared(&["--function", "least"], 0);
    assert_eq!(report["verdict"], "equal", "{report:#}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("`x` of NEW is called `a` here"), "{notes}");
}

#[test]
fn pointers_lead_to_as_many_objects_as_the_parameter_is_declared_to_have() {
    // One reads all of them, the other one stops early; and one says how many there are.
    let place = Place::with_versions(
        "int at(const int list[6]) { int found = -1; for (int i = 5; i >= 0; i--) if (list[i] == 7) found = i; return found; }\n",
        "int at(const int *list) { for (int i = 0; i < 6; i++) if (list[i] == 7) return i; return -1; }\n",
    );
    let report = place.compared(&["--function", "at"], 0);
    assert_eq!(report["verdict"], "equal", "{report:#}");
    assert!(
        report["inputs"].to_string().contains("6 objects"),
        "{report:#}"
    );
}

#[test]
fn loops_over_the_bits_of_a_number_are_followed_to_their_end_without_a_bound() {
    let place = Place::with_versions(
        "int odd(unsigned x) { int n = 0; for (int i = 0; i < 20; i++) n ^= x >> i & 1; return n; }\n",
        "int odd(unsigned x) { int n = 0, left = 20; while (left-- > 0) { n ^= x & 1; x >>= 1; } return n; }\n",
    );
    let report = place.compared(&["--function", "odd"], 0);
    assert_eq!(report["verdict"], "equal", "{report:#}");
}

#[test]
fn a_budget_is_kept_where_conditions_would_be_endless_texts() {
    let kernighan =
        "int ones(unsigned x) { int n = 0; while (x) { x &= x - 1; n++; } return n; }\n";
    let shifts =
        "int ones(unsigned x) { int n = 0; while (x) { n += x & 1; x >>= 1; } return n; }\n";
    let place = Place::with_versions(shifts, kernighan);
    let begin = std::time::Instant::now();
    let flags = ["--function", "ones", "--bound", "72", "--budget", "2s"];
    let report = place.compared(&flags, 0);
    assert_ne!(report["verdict"], "different", "{report:#}");
    // It took minutes, whatever was said.
    assert!(begin.elapsed().as_secs() < 30);
}

#[test]
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

#[test]
fn a_returned_structure_is_shown_by_its_members() {
    let old = "struct date { int year, month, day; };
struct date next(struct date today)
{
    static const int days[] = { 31, 28, 31 };
    today.day++;
    if (today.day > days[today.month - 1]) {
        today.month++;
        today.day = 1;
    }
    return today;
}
";
    let place = Place::with_versions(old, &old.replace("today.day = 1", "today.day = 0"));
    let report = place.compared(&["--function", "next"], 1);
    let mut partitions = report["partitions"].as_array().unwrap().iter();
    let differing = partitions.find(|one| one["kind"] == "different").unwrap();
    let text = format!("{}", differing["old"]["observed"]);
    assert!(text.contains("{.year = "), "{text}");
    assert!(text.contains(", .day = 1}"), "{text}");
    // A variable of the function is named as it is written.
    let place = Place::with_versions(old, &old.replace("today.month - 1]", "today.month]"));
    let report = place.compared(&["--function", "next"], 1);
    let mut partitions = report["partitions"].as_array().unwrap().iter();
    let failing = partitions.find(|one| one["kind"] == "new-fails").unwrap();
    let text = format!("{}", failing["new"]);
    assert!(text.contains("outside of `days`"), "{text}");
}

#[test]
fn a_patch_that_does_not_apply_does_not_keep_others_from_being_compared() {
    let place = Place::with_versions(OLD, OLD);
    let diff = |old: &str, new: &str| {
        format!("--- a/old.c\n+++ b/old.c\n@@ -5 +5 @@\n-    if ({old})\n+    if ({new})\n")
    };
    place.write("patches/1.diff", diff("discount > 50", "discount > 60"));
    place.write("patches/2.diff", diff("discount < 50", "discount < 60"));
    place.write("patches/3.diff", "");
    let arguments = [
        "compare",
        "project/old.c",
        "project/patches",
        "--function",
        "price",
    ];
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let told = stderr(&output);
    assert!(told.contains("2.diff does not apply to"), "{told}");
    assert!(
        told.contains("the patch is empty; it is left out"),
        "{told}"
    );
    // With nothing else there is nothing to compare.
    let single = [
        "compare",
        "project/old.c",
        "project/patches/3.diff",
        "--function",
        "price",
    ];
    assert_eq!(place.run(single).status.code(), Some(2));
}

#[test]
fn what_is_said_of_the_bits_of_floating_point_numbers_is_not_said_of_their_values() {
    let old = "double larger(double a, double b) { return a < b ? b : a; }\n";
    let place = Place::with_versions(old, &old.replace("? b", "? -b"));
    let report = place.compared(&["--function", "larger"], 1);
    let partitions = report["partitions"].as_array().unwrap();
    // Of two negative numbers the one with the larger bits is the smaller one.
    for partition in partitions {
        let condition = partition["condition"].to_string();
        assert!(
            !condition.contains("(long)a") && !condition.contains("a >= b"),
            "{condition}"
        );
    }
    let text = report["partitions"].to_string();
    assert!(text.contains("returns -b"), "{text}");
    assert!(
        text.contains("signbit(") && text.contains("isnan("),
        "{text}"
    );
}
