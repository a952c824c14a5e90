//! `patchwright compare` with several versions and patches.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

use std::fs;

use serde_json::Value;

use crate::common::{Place, stderr, stdout};
use crate::compare::{CUT, OLD};

#[test]
#[ignore = "nightly: 6 s; of_three_versions_it_is_told_which_agree_for_which_inputs goes this way"]
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
#[ignore = "nightly: 2 s; of_three_versions_it_is_told_which_agree_for_which_inputs goes this way"]
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
#[ignore = "nightly: 3 s; of_three_versions_it_is_told_which_agree_for_which_inputs goes this way"]
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
