//! The pages of `--html` in a browser: no error, the numbers of the JSON, keys. Nightly, and only where Chromium is installed; what the
//! pages hold is tested by `ci` and `localize`.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::{ffi::OsStr, fs, path::Path, process::Command};

use serde_json::Value;

use crate::common::{Place, git::Git, stderr, stdout};

/// What a browser makes of a page.
struct Opened {
    /// The document, when its script has run.
    document: String,
    /// What can be read on it.
    text: String,
    /// What the browser says of errors.
    console: String,
}

/// Whether there is a browser.
fn has_browser() -> bool {
    let version = Command::new("chromium").arg("--version").output();
    version.is_ok_and(|output| output.status.success())
}

/// Opens a page in a browser, with a script behind its own.
fn opened(place: &Place, page: &str, script: &str) -> Opened {
    let text = fs::read_to_string(place.root.join(page)).unwrap();
    let text = text.replace("</body>", &format!("<script>{script}</script></body>"));
    let copy = place.root.join("opened.html");
    fs::write(&copy, text).unwrap();
    let profile = place.root.join("profile");
    let output = Command::new("chromium")
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(["--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("file://{}", copy.display()))
        .output()
        .unwrap();
    let document = String::from_utf8(output.stdout).unwrap();
    let console = String::from_utf8_lossy(&output.stderr);
    let console = console.lines().filter(|line| line.contains("CONSOLE"));
    Opened {
        text: read(&document),
        console: console.collect::<Vec<&str>>().join("\n"),
        document,
    }
}

/// The text of a document, without its script and its style.
fn read(document: &str) -> String {
    let mut text = String::new();
    let mut rest = document;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let hidden = ["style", "script"]
            .into_iter()
            .find(|name| tag.starts_with(name));
        let end = hidden.map_or(">".to_owned(), |name| format!("</{name}>"));
        rest = tag.split_once(&end).map_or("", |(_, rest)| rest);
        text.push(' ');
    }
    text.push_str(rest);
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

/// A script that presses keys: twice `j`, and twice Enter on the head of a column. It notes what has the focus, and which row is first.
fn keys(column: usize) -> String {
    format!(
        "const press = (key, on) => on.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true }}));
        press('j', document); press('j', document);
        document.body.dataset.focused = document.activeElement.id;
        const head = document.querySelectorAll('table.sortable th')[{column}];
        press('Enter', head); press('Enter', head);
        document.body.dataset.first = document.querySelector('table.sortable tbody td').textContent;"
    )
}

/// The JSON of a command that also writes `page.html`; it ends with this status.
fn made<S: AsRef<OsStr>>(place: &Place, arguments: &[S], status: i32) -> Value {
    let flags = ["--html", "page.html", "--json"];
    let arguments = arguments.iter().map(AsRef::as_ref);
    let output = place.run(arguments.chain(flags.iter().map(OsStr::new)));
    assert_eq!(output.status.code(), Some(status), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// Opens the page, and looks for what the JSON has.
fn shows(place: &Place, values: &[String]) -> Opened {
    let page = opened(place, "page.html", "");
    assert_eq!(page.console, "");
    for value in values {
        assert!(
            page.text.contains(&value[..]),
            "{value} is not on the page: {}",
            page.text
        );
    }
    page
}

fn example(name: &str) -> String {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    examples.join(name).display().to_string()
}

#[test]
#[ignore = "nightly: starts a browser; `ci` protects what the page holds"]
fn the_page_of_a_repair_shows_its_patches_and_is_used_by_keys() {
    if !has_browser() {
        return;
    }
    let place = Place::with_max2();
    let report = made(&place, &["repair", "project/max.c"], 0);
    let patches = report["patches"].as_array().unwrap();
    assert!(patches.len() > 1);
    let places = patches
        .iter()
        .map(|patch| format!("max.c:{}", patch["line"]));
    let costs = patches
        .iter()
        .map(|patch| format!("cost {}", patch["cost"]));
    shows(&place, &places.chain(costs).collect::<Vec<String>>());
    let keys = "
        const press = (key, on) => on.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
        press('j', document); press('j', document); press('k', document); press('j', document);
        document.body.dataset.focused = document.activeElement.id;
        const head = document.querySelector('th[tabindex]');
        press('Enter', head); press('Enter', head);
        document.body.dataset.first = document.querySelector('tbody td').textContent;";
    let page = opened(&place, "page.html", keys);
    assert_eq!(page.console, "");
    assert!(page.document.contains("data-focused=\"patch-2\""));
    let last = format!("data-first=\"{}\"", patches.len());
    assert!(page.document.contains(&last), "{}", page.document);
}

#[test]
#[ignore = "nightly: starts a browser; `ci` protects what the page holds"]
fn the_page_of_a_validation_has_the_verdicts_and_a_cell_for_each_test() {
    if !has_browser() {
        return;
    }
    let place = Place::new();
    let arguments = [
        "validate",
        &example("ledger"),
        &example("validate"),
        "--keep-going",
    ];
    let report = made(&place, &arguments, 0);
    let patches = report["patches"].as_array().unwrap();
    let values = patches.iter().flat_map(|patch| {
        let text = |key: &str| patch[key].as_str().unwrap().to_owned();
        [text("id"), text("verdict").replace('_', " ")]
    });
    let page = shows(&place, &values.collect::<Vec<String>>());
    let cells = page.document.matches("<td class=\"pass\"").count()
        + page.document.matches("<td class=\"fail\"").count();
    let results = patches
        .iter()
        .map(|patch| patch["tests"].as_array().map_or(0, Vec::len));
    assert_eq!(cells, results.sum::<usize>());
}

#[test]
#[ignore = "nightly: starts a browser; `localize`, `ci` and `compare` protect what the pages hold"]
fn the_pages_of_other_commands_open_without_an_error_and_show_their_numbers() {
    if !has_browser() {
        return;
    }
    let place = Place::with_max2();
    let report = made(&place, &["localize", "project/max.c"], 0);
    let lines = report["statements"].as_array().unwrap().iter();
    let values = lines.map(|one| format!("{:.3}", one["suspiciousness"].as_f64().unwrap()));
    shows(&place, &values.take(3).collect::<Vec<String>>());
    let page = opened(&place, "page.html", &keys(0));
    assert_eq!(page.console, "");
    // The second in the order of suspicion is not the second of the file.
    assert!(
        page.document.contains("data-focused=\"line-0-6\""),
        "{}",
        page.document
    );
    assert!(
        page.document.contains("data-first=\"2\""),
        "{}",
        page.document
    );

    let clamp = example("prove/clamp.c");
    let report = made(&place, &["prove", &clamp, "--function", "clamp"], 1);
    let inputs = report["counterexample"]["inputs"]
        .as_array()
        .unwrap()
        .iter();
    let values = inputs.map(|input| input["value"].as_str().unwrap().to_owned());
    shows(&place, &values.collect::<Vec<String>>());

    let versions = [example("compare/price.c"), example("compare/price-new.c")];
    let arguments = ["compare", &versions[0], &versions[1], "--function", "price"];
    let report = made(&place, &arguments, 1);
    let partitions = report["partitions"].as_array().unwrap().iter();
    let values = partitions.flat_map(|one| one["condition"].as_array().unwrap());
    let values = values.map(|text| text.as_str().unwrap().to_owned());
    shows(&place, &values.collect::<Vec<String>>());
    let page = opened(&place, "page.html", &keys(0));
    assert_eq!(page.console, "");
    let last = report["partitions"].as_array().unwrap().len();
    let focused = format!("data-focused=\"partition-{}\"", last.min(2));
    assert!(page.document.contains(&focused), "{}", page.document);
    assert!(page.document.contains(&format!("data-first=\"{last}\"")));

    let mut git = Git::new();
    git.commit("first", &[("a.c", "int f(int x) {\n  return x;\n}\n")]);
    git.commit(
        "second",
        &[(
            "a.c",
            "int f(int x) {\n  if (x > 1)\n    x++;\n  return x;\n}\n",
        )],
    );
    let report = made(
        &git.place,
        &["complexity", "HEAD~1..HEAD", "--repo", "project"],
        0,
    );
    let total = &report["changes"][0]["cycc"];
    shows(&git.place, &[total.to_string()]);
}
