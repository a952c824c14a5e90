//! What editors, code reviews and pipelines read: SARIF, annotations, JUnit, pages, changed lines.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::fs;

use serde_json::Value;

use crate::common::{Place, git::Git, stderr, stdout};

/// Objects of SARIF that are written: what they are below, what they must have, and what else they may have.
const OBJECTS: [(&str, &[&str], &[&str]); 22] = [
    ("", &["version", "runs"], &["$schema"]),
    (
        "runs",
        &["tool"],
        &["results", "columnKind", "automationDetails"],
    ),
    ("automationDetails", &[], &["id"]),
    ("tool", &["driver"], &[]),
    ("driver", &["name"], &["version", "rules"]),
    ("rules", &["id"], &["shortDescription"]),
    ("shortDescription", &["text"], &[]),
    (
        "results",
        &["message"],
        &["ruleId", "level", "locations", "rank", "codeFlows", "fixes"],
    ),
    ("message", &["text"], &[]),
    ("description", &["text"], &[]),
    ("locations", &[], &["physicalLocation", "location"]),
    ("location", &[], &["physicalLocation", "message"]),
    ("physicalLocation", &["artifactLocation"], &["region"]),
    ("artifactLocation", &["uri"], &["uriBaseId"]),
    ("region", &["startLine"], &[]),
    ("codeFlows", &["threadFlows"], &[]),
    ("threadFlows", &["locations"], &[]),
    ("fixes", &["artifactChanges"], &["description"]),
    (
        "artifactChanges",
        &["artifactLocation", "replacements"],
        &[],
    ),
    ("replacements", &["deletedRegion"], &["insertedContent"]),
    (
        "deletedRegion",
        &["startLine"],
        &["startColumn", "endLine", "endColumn"],
    ),
    ("insertedContent", &["text"], &[]),
];

/// Holds a value to the standard's schema, as far as that speaks of what is written.
fn check(name: &str, value: &Value) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| check(name, value)),
        Value::Object(members) => {
            let known = OBJECTS.iter().find(|(of, ..)| *of == name);
            let (_, required, optional) = known.unwrap_or_else(|| panic!("{name}: {value:#}"));
            for key in *required {
                assert!(
                    members.contains_key(*key),
                    "{name} without {key}: {value:#}"
                );
            }
            for (key, member) in members {
                let is_known = required.contains(&&key[..]) || optional.contains(&&key[..]);
                assert!(is_known, "{name} with {key}: {value:#}");
                check(key, member);
            }
        }
        Value::Number(number) if name.contains("Line") || name.contains("Column") => {
            assert!(number.as_u64().unwrap() > 0, "{name}: {value}");
        }
        _ => {}
    }
}

/// The log in a file, if it is SARIF 2.1.0.
fn sarif(place: &Place, name: &str) -> Value {
    let text = fs::read_to_string(place.root.join(name)).unwrap();
    let log: Value = serde_json::from_str(&text).unwrap();
    check("", &log);
    assert_eq!(log["version"], "2.1.0");
    log["runs"][0].clone()
}

#[test]
fn suspicious_statements_are_results_of_sarif() {
    let place = Place::with_max2();
    let arguments = [
        "localize",
        "project/max.c",
        "--sarif",
        "l.sarif",
        "--github",
    ];
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let run = sarif(&place, "l.sarif");
    let first = &run["results"][0];
    assert_eq!(first["ruleId"], "suspicious-statement");
    let place_of = &first["locations"][0]["physicalLocation"];
    // Seen from where the user is, for there is no repository.
    assert_eq!(place_of["artifactLocation"]["uri"], "project/max.c");
    assert!(place_of["region"]["startLine"].as_u64().unwrap() > 1);
    assert!(stderr(&output).contains("::warning file=project/max.c,line="));
}

#[test]
fn patches_are_fixes_of_sarif_that_an_editor_can_apply() {
    let place = Place::with_max2();
    let arguments = [
        "repair",
        "project/max.c",
        "--first",
        "--sarif",
        "r.sarif",
        "--junit",
        "r.xml",
        "--html",
        "r.html",
        "--json",
    ];
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let run = sarif(&place, "r.sarif");
    let fix = &run["results"][0]["fixes"][0]["artifactChanges"][0];
    assert_eq!(fix["artifactLocation"]["uri"], "project/max.c");
    let replacement = &fix["replacements"][0];
    let line = replacement["deletedRegion"]["startLine"].as_u64().unwrap() as usize;
    let source = fs::read_to_string(place.project().join("max.c")).unwrap();
    let old = source.lines().nth(line - 1).unwrap();
    let new = replacement["insertedContent"]["text"].as_str().unwrap();
    let diff = report["patches"][0]["diff"].as_str().unwrap();
    assert!(diff.contains(&format!("-{old}\n+{new}")), "{diff}");
    let junit = fs::read_to_string(place.root.join("r.xml")).unwrap();
    assert!(
        junit.contains("plausible-patch at project/max.c:"),
        "{junit}"
    );
    let page = fs::read_to_string(place.root.join("r.html")).unwrap();
    assert!(page.contains("id=\"patch-1\"") && page.contains("class=\"added\""));
}

#[test]
fn a_counterexample_is_a_result_with_its_way_as_a_code_flow() {
    let place = Place::new();
    place.write(
        "clamp.c",
        "#include <assert.h>\nint clamp(int x) {\n  int y = x;\n  if (y > 10)\n    y = 11;\n  assert(y <= 10);\n  return y;\n}\n",
    );
    let arguments = [
        "prove",
        "project/clamp.c",
        "--function",
        "clamp",
        "--sarif",
        "p.sarif",
        "--junit",
        "p.xml",
        "--html",
        "p.html",
    ];
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let run = sarif(&place, "p.sarif");
    let result = &run["results"][0];
    assert_eq!(result["level"], "error");
    let flow = &result["codeFlows"][0]["threadFlows"][0]["locations"];
    let lines: Vec<u64> = flow
        .as_array()
        .unwrap()
        .iter()
        .map(|step| {
            let region = &step["location"]["physicalLocation"]["region"];
            region["startLine"].as_u64().unwrap()
        })
        .collect();
    assert!(lines.contains(&5), "{flow:#}");
    assert_eq!(lines.last(), Some(&6), "the way ends where it fails");
    assert!(
        fs::read_to_string(place.root.join("p.xml"))
            .unwrap()
            .contains("<failure")
    );
    assert!(
        fs::read_to_string(place.root.join("p.html"))
            .unwrap()
            .contains("The way to it")
    );
}

#[test]
fn the_page_of_a_validation_has_its_verdicts_and_a_cell_for_each_test() {
    let place = Place::with_max2();
    let wrong = "--- a/max.c\n+++ b/max.c\n@@ -8 +8 @@\n-  if (a > b) {\n+  if (a < b) {\n";
    fs::write(place.root.join("wrong.diff"), wrong).unwrap();
    let arguments = [
        "validate",
        "project/max.c",
        "wrong.diff",
        "--keep-going",
        "--html",
        "v.html",
    ];
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let page = fs::read_to_string(place.root.join("v.html")).unwrap();
    assert!(page.contains("<td class=\"bad\">implausible</td>"));
    assert_eq!(page.matches("<td class=\"fail\"").count(), 3, "{page}");
}

#[test]
#[ignore = "nightly: 8 s; patches_are_fixes_of_sarif_that_an_editor_can_apply goes this way"]
fn only_lines_that_have_changed_since_a_revision_are_changed_again() {
    let example = Place::with_max2();
    let right = fs::read_to_string(example.project().join("max.c")).unwrap();
    let mut git = Git::new();
    git.commit("first", &[("max.c", &right)]);
    let place = &git.place;
    for name in [
        "equal.args",
        "equal.out",
        "first-greater.args",
        "first-greater.out",
    ] {
        let case = format!("cases/{name}");
        place.write(&case, fs::read(example.project().join(&case)).unwrap());
    }
    let unchanged = place.run(["repair", "project/max.c", "--base", "HEAD"]);
    assert_eq!(unchanged.status.code(), Some(0));
    assert!(stderr(&unchanged).contains("--base HEAD: no line of a C file has changed"));
    place.write("max.c", right.replace("a > b", "a > b + 0"));
    let output = place.run(["repair", "project/max.c", "--base", "HEAD", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let patches = report["patches"].as_array().unwrap();
    assert!(patches.iter().all(|patch| patch["line"] == 8), "{report:#}");
    let diff = "--- a/max.c\n+++ b/max.c\n@@ -8 +8 @@\n-  if (a > b) {\n+  if (a > b + 0) {\n";
    fs::write(place.root.join("change.diff"), diff).unwrap();
    let arguments = [
        "repair",
        "project/max.c",
        "--first",
        "--in-diff",
        "change.diff",
    ];
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("max.c:8"), "{}", stdout(&output));
    let elsewhere = place.run(["localize", "project/max.c", "--in-diff", "none.diff"]);
    assert_eq!(elsewhere.status.code(), Some(2), "{}", stderr(&elsewhere));
}

#[test]
#[ignore = "nightly: 3 s; patches_are_fixes_of_sarif_that_an_editor_can_apply goes this way"]
fn a_trace_has_the_phases_and_the_commands_of_each_worker() {
    let place = Place::with_max2();
    let arguments = [
        "repair",
        "project/max.c",
        "--first",
        "--trace",
        "trace.json",
    ];
    let output = place.run(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = fs::read_to_string(place.root.join("trace.json")).unwrap();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |kind: &str| -> Vec<&str> {
        let found = events.iter().filter(|event| event["cat"] == kind);
        found.map(|event| event["name"].as_str().unwrap()).collect()
    };
    assert!(of("phase").contains(&"searching"), "{text}");
    assert!(
        of("command").iter().any(|name| name.contains("cc ")),
        "{text}"
    );
    assert!(
        events
            .iter()
            .any(|event| event["args"]["name"] == "worker 1")
    );
}

#[test]
#[ignore = "nightly: 5 s; patches_are_fixes_of_sarif_that_an_editor_can_apply goes this way"]
fn a_patch_is_written_into_the_users_file_when_that_is_asked_for() {
    let place = Place::with_max2();
    let before = place.snapshot();
    let output = place.run(["repair", "project/max.c", "--first", "--apply", "2"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("there is no patch 2 to apply: 1 were found"));
    assert_eq!(place.snapshot(), before);
    let output = place.run(["repair", "project/max.c", "--first", "--apply", "1"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let source = fs::read_to_string(place.project().join("max.c")).unwrap();
    assert!(!source.contains("if (a > b) {"), "{source}");
    let again = place.run(["repair", "project/max.c"]);
    assert_eq!(again.status.code(), Some(3), "{}", stderr(&again));
}
