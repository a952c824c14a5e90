//! `--budget` is the time for all of a repair.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::fs;

use crate::common::{Place, stderr, stdout};

/// The example with a driver in place of cases.
fn driven(driver: &str) -> Place {
    let place = Place::with_max2();
    fs::remove_dir_all(place.project().join("cases")).unwrap();
    place.script("driver", driver);
    place
}

fn repair(place: &Place, build: &str, budget: &str) -> serde_json::Value {
    let output = place.run([
        "repair", "project", "--build", build, "--driver", "./driver", "--tests", "less", "same",
        "--json", "--first", "--budget", budget,
    ]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert_eq!(place.leftovers(), [""; 0]);
    serde_json::from_str(&stdout(&output)).unwrap()
}

#[test]
fn a_build_without_end_is_part_of_the_budget() {
    let place = driven("#!/bin/sh\nexit 1\n");
    let report = repair(&place, "sleep 1000", "1s");
    assert_eq!(report["stats"]["out_of_time"], true);
    assert_eq!(report["stats"]["ended_in"], "building the program");
    assert_eq!(report["patches"], serde_json::json!([]));
}

#[test]
fn tests_without_end_are_part_of_the_budget() {
    let place = driven("#!/bin/sh\nsleep 1000\n");
    let report = repair(&place, "cc -o max max.c", "1s");
    let phase = "running the tests of the untouched program";
    assert_eq!(report["stats"]["ended_in"], phase);
}

#[test]
#[ignore = "nightly: 7 s; tests_without_end_are_part_of_the_budget goes this way"]
fn what_is_found_and_not_verified_in_time_is_counted_and_not_reported() {
    let place = driven(
        "#!/bin/sh\ncase $1 in\nless) test \"$(./max 1 2)\" = 1 ;;\nsame) test \"$(./max 3 3)\" = 0 ;;\nesac\n",
    );
    // Only a changed program without instrumentation is never built.
    let build = "cmp -s max.c project.c || grep -qi patchwright max.c || [ ! -e max ] || sleep 1000; \
                 cp max.c project.c; cc -o max max.c";
    let report = repair(&place, build, "8s");
    let stats = &report["stats"];
    assert_eq!(stats["out_of_time"], true, "{stats}");
    assert_eq!(report["patches"], serde_json::json!([]));
    assert!(stats["plausible_classes"].as_u64() > Some(0), "{stats}");
    assert_eq!(stats["unverified_classes"], stats["plausible_classes"]);
}
