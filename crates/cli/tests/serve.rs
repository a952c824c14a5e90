//! `patchwright validate --serve`: patches as lines of JSON, verdicts as lines of JSON.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::Value;

use crate::common::Place;

/// The diff of `max.c` that makes this its condition.
fn condition(text: &str) -> String {
    format!("--- a/max.c\n+++ b/max.c\n@@ -8 +8 @@\n-  if (a > b) {{\n+  if ({text}) {{\n")
}

fn line(id: &str, patch: &str) -> String {
    format!("{}\n", serde_json::json!({ "id": id, "patch": patch }))
}

/// A server for `max.c`.
struct Server {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Server {
    fn start(place: &Place, flags: &[&str]) -> Self {
        let arguments = ["validate", "project/max.c", "--serve"];
        let mut child = place
            .patchwright(arguments.iter().chain(flags))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = child.stdin.take();
        let from = BufReader::new(child.stdout.take().unwrap());
        Server { child, to, from }
    }

    fn send(&mut self, lines: &str) {
        let to = self.to.as_mut().unwrap();
        to.write_all(lines.as_bytes()).unwrap();
        to.flush().unwrap();
    }

    fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The remaining answers, and the status.
    fn rest(mut self) -> (Vec<Value>, Option<i32>) {
        drop(self.to.take());
        let lines = self.from.lines().map(|line| line.unwrap());
        let answers = lines.map(|line| serde_json::from_str(&line).unwrap());
        (answers.collect(), self.child.wait().unwrap().code())
    }
}

#[test]
fn what_is_refused_while_the_program_is_built_is_answered_behind_the_first_line() {
    let place = Place::with_max2();
    let mut server = Server::start(&place, &[]);
    server.send("no JSON\n");
    let (answers, status) = server.rest();
    assert_eq!(status, Some(1));
    let types: Vec<&str> = (answers.iter())
        .map(|answer| answer["type"].as_str().unwrap())
        .collect();
    assert_eq!(types, ["start", "error", "end"]);
}

#[test]
fn a_patch_that_is_sent_is_answered_before_the_next_one_comes() {
    let place = Place::with_max2();
    let mut server = Server::start(&place, &[]);
    let start = server.answer();
    assert_eq!(start["type"], "start");
    assert_eq!(start["tests"].as_array().unwrap().len(), 3);
    server.send(&line("wrong", &condition("a < b")));
    let verdict = server.answer();
    assert_eq!(verdict["patch"]["id"], "wrong");
    assert_eq!(verdict["patch"]["verdict"], "implausible");
    assert_eq!(verdict["patch"]["failure"]["kind"], "output");
    server.send(&format!(
        "{}\n",
        serde_json::json!({ "instance_id": "right", "model_patch": condition("a >= b") })
    ));
    let verdict = server.answer();
    assert_eq!(verdict["index"], 1);
    assert_eq!(verdict["patch"]["id"], "right");
    assert_eq!(verdict["patch"]["verdict"], "plausible");
    server.send("no JSON\n");
    let refused = server.answer();
    assert_eq!(
        (&refused["type"], &refused["line"]),
        (&"error".into(), &3.into())
    );
    server.send(&line("right", &condition("a >= b")));
    assert_eq!(server.answer()["type"], "error");
    server.send(&line("the same", &condition("a >= b")));
    let same = server.answer();
    assert_eq!(same["patch"]["verdict"], "plausible");
    assert_eq!(same["patch"]["same_as"], "right");
    server.send(&line(
        "miscounted",
        &condition("a < b").replace("-8 +8", "-8,7 +8,9"),
    ));
    let counted = server.answer();
    assert_eq!(counted["patch"]["verdict"], "implausible");
    assert!(
        counted["patch"]["notes"][0]
            .as_str()
            .unwrap()
            .contains("counted")
    );
    let (rest, status) = server.rest();
    assert_eq!(status, Some(0));
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0]["type"], "end");
    assert_eq!(rest[0]["summary"]["patches"], 4);
    assert_eq!(rest[0]["summary"]["plausible"], 2);
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
fn five_hundred_patches_of_which_half_are_broken_get_the_verdicts_of_their_kind() {
    let place = Place::with_max2();
    let mut expected: BTreeMap<String, &str> = BTreeMap::new();
    let mut lines = String::new();
    for number in 0..500 {
        let (text, verdict) = match number % 8 {
            0 | 1 => (format!("a >= b || a > b + {number}"), "plausible"),
            2 | 3 => (format!("a > b + {number} || a < b"), "implausible"),
            4 => (format!("a >=< {number}"), "does_not_compile"),
            5 => (format!("a >= nothing_{number}"), "does_not_compile"),
            6 => (format!("a >= {number}"), "does_not_apply"),
            _ => (String::new(), "does_not_apply"),
        };
        let id = format!("p{number}");
        let patch = match number % 8 {
            6 => condition(&text).replace("a > b", "a == b"),
            7 => String::from("I would change the condition."),
            _ => condition(&text),
        };
        lines += &line(&id, &patch);
        expected.insert(id, verdict);
    }
    let mut server = Server::start(&place, &[]);
    server.send(&lines);
    let (answers, status) = server.rest();
    assert_eq!(status, Some(0));
    let verdicts: BTreeMap<String, &str> = answers
        .iter()
        .filter(|answer| answer["type"] == "verdict")
        .map(|answer| {
            let word = answer["patch"]["verdict"].as_str().unwrap();
            (answer["patch"]["id"].as_str().unwrap().to_owned(), word)
        })
        .collect();
    for (id, verdict) in &expected {
        assert_eq!(verdicts.get(id), Some(verdict), "{id}");
    }
    let end = answers.last().unwrap();
    assert_eq!(end["summary"]["patches"], 500);
    assert_eq!(end["interrupted"], false);
}
