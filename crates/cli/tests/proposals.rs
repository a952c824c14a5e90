//! `patchwright repair --propose`: another program proposes patches.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Place, stderr, stdout};

/// The diff of `max.c` that makes this its condition.
fn condition(text: &str) -> String {
    format!("--- a/max.c\n+++ b/max.c\n@@ -8 +8 @@\n-  if (a > b) {{\n+  if ({text}) {{\n")
}

fn line(id: &str, patch: &str) -> String {
    format!("{}\n", serde_json::json!({ "id": id, "patch": patch }))
}

/// Repairs `max.c` with the example script, which proposes these lines; the report, and what the script was told.
fn repaired(place: &Place, lines: &str, flags: &[&str]) -> (Value, Vec<Value>) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/propose/from-file.sh");
    let (patches, told) = (place.root.join("patches.jsonl"), place.root.join("told"));
    fs::write(&patches, lines).unwrap();
    let command = format!(
        "{} {} {}",
        script.display(),
        patches.display(),
        told.display()
    );
    let arguments = ["repair", "project/max.c", "--json", "--propose", &command];
    let output = place.run(arguments.iter().chain(flags));
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let told = fs::read_to_string(told).unwrap();
    let told = told.lines().map(|line| serde_json::from_str(line).unwrap());
    (
        serde_json::from_str(&stdout(&output)).unwrap(),
        told.collect(),
    )
}

#[test]
fn proposals_are_tried_beside_the_search_and_refused_ones_are_answered_with_the_reason() {
    let place = Place::with_max2();
    let lines = line("wrong", &condition("a < b"))
        + &line("right", &condition("!(a < b)"))
        + &line("again", &condition("!(a < b)"))
        + &line("ours, too", &condition("a >= b"))
        + &line("broken", &condition("a >"))
        + &line("elsewhere", &condition("a >= b").replace("a > b", "a == b"))
        + &line(
            "tests",
            "--- a/cases/equal.out\n+++ b/cases/equal.out\n@@ -1 +1 @@\n-0\n+1\n",
        )
        + "no patch\n";
    let (report, told) = repaired(&place, &lines, &[]);
    let task = &told[0];
    assert_eq!(task["type"], "task");
    assert_eq!(task["failing"][0]["name"], "equal");
    assert_eq!(
        task["failing"][0]["expected"],
        "line 1 of the output is \"0\""
    );
    assert_eq!(
        task["failing"][0]["actual"],
        "line 1 of the output is \"1\""
    );
    assert_eq!(
        task["failing"][0]["case"]["arguments"],
        serde_json::json!(["3", "3"])
    );
    assert_eq!(task["suspects"][0]["function"], "main");
    assert!(
        task["functions"][0]["text"]
            .as_str()
            .unwrap()
            .contains("if (a > b)")
    );
    assert_eq!(told.last().unwrap()["type"], "end");
    let verdict = |id: &str| told.iter().find(|line| line["id"] == id).unwrap();
    let word = |id: &str| verdict(id)["verdict"].as_str().unwrap();
    assert_eq!(word("wrong"), "implausible");
    assert_eq!(verdict("wrong")["test"]["name"], "equal");
    assert!(verdict("wrong")["test"]["actual"].is_string());
    assert_eq!(word("right"), "plausible");
    assert_eq!(verdict("again")["reason"], "it is the same change as right");
    assert_eq!(word("ours, too"), "plausible");
    assert_eq!(word("broken"), "does_not_compile");
    for id in ["elsewhere", "tests", "proposal:8"] {
        assert_eq!(word(id), "does_not_apply", "{}", verdict(id));
    }
    let patches = report["patches"].as_array().unwrap();
    let proposed: Vec<(&str, &str)> = patches
        .iter()
        .filter_map(|patch| {
            let name = patch["proposal"].as_str()?;
            Some((name, patch["transformation"].as_str().unwrap()))
        })
        .collect();
    assert!(proposed.contains(&("right", "PROPOSED")), "{report:#}");
    assert!(
        proposed.contains(&("ours, too", "EXPRESSION")),
        "{report:#}"
    );
    // The compiler makes the same of both.
    let class = |name: &str| {
        let mut patches = patches.iter();
        &patches.find(|patch| patch["proposal"] == name).unwrap()["class"]
    };
    assert_eq!(class("right"), class("ours, too"), "{report:#}");
    assert_eq!(report["stats"]["proposals"]["passed"], 2);
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
#[ignore = "nightly: 66 s; proposals_are_tried_beside_the_search_and_refused_ones_are_answered_with_the_reason goes this way"]
fn many_proposals_are_tried_together_and_have_the_verdicts_that_each_has_by_itself() {
    let place = Place::with_max2();
    let lines: String = (0..12)
        .map(|number| {
            let text = match number % 4 {
                0 => format!("a >= b || a > b + {number}"),
                1 => format!("a > b + {number} || a < b"),
                2 => format!("a >= b + nothing{number}"),
                _ => "a >= b".to_owned(),
            };
            line(&format!("p{number}"), &condition(&text))
        })
        .collect();
    let (report, told) = repaired(&place, &lines, &["--max-cost", "1"]);
    let verdict = |number: usize| {
        let id = format!("p{number}");
        told.iter().find(|line| line["id"] == id[..]).unwrap()
    };
    for number in 0..12 {
        let word = verdict(number)["verdict"].as_str().unwrap();
        let wanted = match number % 4 {
            0 => "plausible",
            1 => "implausible",
            2 => "does_not_compile",
            _ if number == 3 => "plausible",
            _ => "known",
        };
        assert_eq!(word, wanted, "{}", verdict(number));
    }
    assert_eq!(verdict(1)["test"]["name"], "equal");
    assert_eq!(
        verdict(1)["test"]["case"]["arguments"],
        serde_json::json!(["3", "3"])
    );
    let reason = verdict(2)["reason"].as_str().unwrap();
    assert!(reason.contains("nothing2"), "{reason}");
    assert_eq!(verdict(7)["reason"], "it is the same change as p3");
    let proposals = &report["stats"]["proposals"];
    assert_eq!(
        (&proposals["tried"], &proposals["passed"]),
        (&10.into(), &4.into())
    );
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
#[ignore = "nightly: 6 s; proposals_are_tried_beside_the_search_and_refused_ones_are_answered_with_the_reason goes this way"]
fn a_program_that_proposes_learns_what_the_search_has_found_itself() {
    let place = Place::with_max2();
    let command = r#"read task; while read -r line; do case "$line" in *'"type":"found"'*) printf '%s\n' "$line" >found; break;; esac; done
        echo '{"type": "end"}'; cat >/dev/null"#;
    let output = place.run(["repair", "project/max.c", "--propose", command]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found = fs::read_to_string(place.root.join("found")).unwrap();
    let found: Value = serde_json::from_str(&found).unwrap();
    let patch = found["patch"].as_str().unwrap();
    assert!(patch.starts_with("--- a/max.c\n"), "{patch}");
}

#[test]
#[ignore = "nightly: builds hundreds of programs; that proposals are tried is shown above"]
fn five_hundred_proposals_get_an_answer_each() {
    let place = Place::with_max2();
    let lines: String = (0..500)
        .map(|number| {
            let text = match number % 4 {
                0 => format!("a >= b || a > b + {number}"),
                1 => format!("a > b + {number} || a < b"),
                2 => format!("a >=< {number}"),
                _ => format!("a >= b {number}"),
            };
            line(&format!("p{number}"), &condition(&text))
        })
        .collect();
    let (_, told) = repaired(&place, &lines, &["--max-patches", "1000"]);
    let count = |word: &str| told.iter().filter(|line| line["verdict"] == word).count();
    assert_eq!(count("plausible"), 125);
    assert_eq!(count("implausible"), 125);
    assert_eq!(count("does_not_compile"), 250);
}

#[test]
#[ignore = "nightly: 2 s; proposals_are_tried_beside_the_search_and_refused_ones_are_answered_with_the_reason goes this way"]
fn the_first_proposal_that_passes_ends_a_run_that_wants_one_patch() {
    let place = Place::with_max2();
    let lines = line("right", &condition("a >= b"));
    let (report, _) = repaired(&place, &lines, &["--first", "--max-cost", "0"]);
    assert_eq!(report["patches"].as_array().unwrap().len(), 1);
    assert_eq!(report["patches"][0]["proposal"], "right");
}
