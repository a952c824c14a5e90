//! Patches that use what has no value: no other build says what theirs does, and no verdict depends on the order of a set.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests make projects, and look at what became of them"
)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::{Place, diff};
use patchwright_exec::{CancelToken, ProjectFlags};
use patchwright_validate::{Confirm, PatchVerdict, ValidateOptions, Validation};

const TAG: &str = "\
#include <stdio.h>
#include <stdlib.h>

struct pair { int first; int second; };

static void show(const char *text)
{
	puts(text);
}

static void tag(int n)
{
	const char *word;

	if (n % 2) {
		word = \"odd or even\";
	} else {
		word = \"odd or even\";
	}
	show(word);
}

static int sum(int n)
{
	int values[4];
	int all = 0;

	for (int i = 0; i < 4; i++)
		values[i] = n + i;
	for (int i = 0; i < 4; i++)
		all += values[i];
	return all;
}

static int half(int n, int *out)
{
	if (n & 1)
		return 0;
	*out = n / 2;
	return 1;
}

static int both(int n)
{
	struct pair pair;
	int part;

	pair.first = n;
	pair.second = n + 1;
	if (!half(n, &part))
		part = 0;
	return pair.first + pair.second + part;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	tag(n);
	printf(\"%d %d\\n\", sum(n), both(n));
	return 0;
}
";

const DRIVER: &str = "\
#!/bin/sh
case $1 in
odd) test \"$(./tag 3)\" = 'odd or even
18 7' ;;
even) test \"$(./tag 4)\" = 'odd or even
22 11' ;;
esac
";

fn place() -> Place {
    let place = Place::new();
    place.write("tag.c", TAG);
    let driver = place.write("run.sh", DRIVER);
    fs::set_permissions(driver, fs::Permissions::from_mode(0o755)).unwrap();
    place
}

fn run(place: &Place, patches: &[(&str, String)], schemata: bool) -> Validation {
    let options = ValidateOptions {
        schemata,
        confirm: Confirm::Together,
        ..place.options()
    };
    let flags = ProjectFlags {
        build: Some("cc -O2 -w -o tag tag.c".into()),
        driver: Some("run.sh".into()),
        tests: ["odd", "even"].map(String::from).to_vec(),
        ..ProjectFlags::default()
    };
    place
        .run_with(
            patches,
            &options,
            &flags,
            CancelToken::new().unwrap(),
            &|_| {},
        )
        .unwrap()
}

/// The tree with some text in the place of another one.
fn in_tag(old: &str, new: &str) -> String {
    assert_eq!(TAG.matches(old).count(), 1, "{old}");
    diff("tag.c", TAG, &TAG.replace(old, new))
}

/// Patches that may use what has no value, and others.
fn patches() -> Vec<(&'static str, String)> {
    let word = "\tif (n % 2) {\n\t\tword = \"odd or even\";\n";
    vec![
        ("word", in_tag(word, "\tif (n % 2) {\n")),
        ("values", in_tag("\t\tvalues[i] = n + i;", "\t\t;")),
        (
            "fewer",
            in_tag("i < 4; i++)\n\t\tvalues", "i < 3; i++)\n\t\tvalues"),
        ),
        ("member", in_tag("\tpair.second = n + 1;\n", "")),
        (
            "half",
            in_tag("\t\treturn 0;\n\t*out", "\t\treturn 1;\n\t*out"),
        ),
        (
            "unasked",
            in_tag("\tif (!half(n, &part))\n\t\tpart = 0;", "\thalf(n, &part);"),
        ),
        ("never", in_tag("if (n & 1)", "if (n)")),
        ("right", in_tag("int all = 0;", "int all = 0 + 0;")),
        ("wrong", in_tag("int all = 0;", "int all = 1;")),
        ("text", in_tag("puts(text)", "printf(\"%s\\n\", text)")),
    ]
}

fn words<'p>(
    patches: &[(&'p str, String)],
    outcome: &Validation,
) -> BTreeMap<&'p str, &'static str> {
    let verdicts = outcome.patches.iter().map(|patch| {
        let verdict = patch.verdict.as_ref();
        verdict.map_or("none", PatchVerdict::word)
    });
    let ids = patches.iter().map(|(id, _)| *id);
    ids.zip(verdicts).collect()
}

#[test]
fn what_may_use_something_without_a_value_has_the_verdict_of_its_own_build() {
    let (place, patches) = (place(), patches());
    let woven = run(&place, &patches, true);
    let plain = run(&place, &patches, false);
    assert_eq!(words(&patches, &woven), words(&patches, &plain));
    for (patch, (id, _)) in woven.patches.iter().zip(&patches) {
        let apart = patch.apart.as_deref().unwrap_or_default();
        let is_doubted = apart.starts_with("may do what C does not define: in `");
        // "never" may use what nobody has written, as far as the analysis sees; it is seen not to.
        let wanted = !["never", "right", "wrong", "text"].contains(id);
        assert_eq!(is_doubted, wanted, "{id}: {apart}");
    }
    let stats = woven.stats.woven.unwrap();
    assert_eq!(stats.cleared, 1);
}

#[test]
#[ignore = "nightly: 12 s; plain::verdicts_do_not_depend_on_workers_or_on_what_came_before goes the same way"]
fn verdicts_depend_neither_on_the_order_of_a_set_nor_on_names() {
    let place = place();
    let patches = patches();
    let known = words(&patches, &run(&place, &patches, true));
    for step in [3, 7] {
        let order = (0..patches.len()).map(|number| (number * step + 1) % patches.len());
        let order: Vec<usize> = order.collect();
        let names: Vec<String> = order
            .iter()
            .map(|number| format!("z{}", 9 - number))
            .collect();
        let shuffled = order.iter().zip(&names);
        let shuffled: Vec<(&str, String)> = shuffled
            .map(|(number, name)| (name.as_str(), patches[*number].1.clone()))
            .collect();
        let outcome = run(&place, &shuffled, true);
        let verdicts = words(&shuffled, &outcome);
        for (number, name) in order.iter().zip(&names) {
            let id = patches[*number].0;
            assert_eq!(verdicts[name.as_str()], known[id], "{id} as {name}");
        }
    }
}
