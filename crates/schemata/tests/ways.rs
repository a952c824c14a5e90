//! A source that is compiled in several ways is woven, and patches have the verdicts of their own builds in all of them.
#![allow(clippy::disallowed_methods)] // Tests write into folders of their own.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{driver_project, validate_texts};
use patchwright_schemata::{Apart, Fate, Options, Outside};

/// Two programs of one text. What `SCALE` is decides about types and values; `WIDE` leaves some of it out.
const SOURCE: &str = "\
#include <stdio.h>
#include <stdlib.h>

#ifdef WIDE
typedef long number;
#define SCALE 100000L
#else
typedef int number;
#define SCALE 10
#endif

#define LIMIT 50
#define PICK(what) what##_BONUS
#define SMALL_BONUS 0

static const int steps[3] = {1, 2, 3};

static number scaled(number n)
{
    number r = n * SCALE + PICK(SMALL);
    if (r > LIMIT)
        r = r + steps[0];
#ifdef WIDE
    r = r - 2;
#endif
    return r;
}

#ifdef WIDE
static number extra(number n)
{
    return n + 3;
}
#endif

static number both(number n)
{
    return n + 1;
}

int main(int argc, char **argv)
{
    number n = argc > 1 ? atoi(argv[1]) : 0;
    n = both(scaled(n));
#ifdef WIDE
    n = extra(n);
#endif
    printf(\"%ld\\n\", (long)n);
    return 0;
}
";

const BUILD: &str = "cc -w -O1 -DWIDE -o wide prog.c && cc -w -O1 -o narrow prog.c";

const SCRIPT: &str = "#!/bin/sh\ntest \"$(./$1 3)\" = \"$2\" && test \"$(./$1 7)\" = \"$3\"\n";

/// The tests that fail, by a build of its own; `None` if there is none.
fn plain(folder: &Path, text: &str) -> Option<Vec<bool>> {
    fs::write(folder.join("prog.c"), text).unwrap();
    let shell = |script: &str| {
        let mut command = Command::new("sh");
        let output = command.args(["-c", script]).current_dir(folder).output();
        output.unwrap().status.success()
    };
    shell(BUILD).then(|| {
        ["wide", "narrow"]
            .map(|test| !shell(&format!("./test.sh {test}")))
            .to_vec()
    })
}

#[test]
#[ignore = "nightly: 10 s; hazards and `outside` weave by the same plan"]
fn patches_of_a_source_that_is_compiled_in_two_ways_are_woven_for_both() {
    let changes = [
        ("r > LIMIT", "r > 5"),
        ("r > LIMIT", "r > 60"),
        ("r + steps[0]", "r + 2"),
        ("n * SCALE", "n * SCALE + 1"),
        ("n + 1", "n + 1 + (SCALE > 10)"),
        ("n + 1", "n + 1 + (sizeof n > 4 ? 0 : 1)"),
        ("r = r - 2", "r = r - 3"),
        ("n = both(scaled(n))", "n = scaled(both(n))"),
        ("n + 1", "n + undeclared_name"),
        ("n + 1", "(n & 7L) == n + 100 ? 0 : n + 1"),
        ("if (r > LIMIT)", "if (r > 29)"),
        ("    return r;", "    r += SCALE == 10;\n    return r;"),
        ("n + 3", "n + 4"),
        (
            "number r = n * SCALE + PICK(SMALL);",
            "number r = SCALE; r = r * n;",
        ),
        (
            "r = r + steps[0];",
            "{ int k = 0; for (; k < 1; k++) r++; }",
        ),
        // Between functions: for both programs at once, or for one of them.
        ("{1, 2, 3}", "{2, 2, 3}"),
        ("{1, 2, 3}", "{1, 3, 3}"),
        ("LIMIT 50", "LIMIT 80"),
        (
            "static number both(number n)\n{",
            "static int more(int k) { return sizeof(number) > 4 ? k : 0; }\n\nstatic number both(number n)\n{\n    n += more(1);",
        ),
        // What a macro puts together is not seen by its name.
        ("SMALL_BONUS 0", "SMALL_BONUS 4"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let script = SCRIPT.replace(
        "#!/bin/sh\n",
        "#!/bin/sh\ncase $1 in wide) set wide 300003 700003 ;; *) set narrow 31 72 ;; esac\n",
    );
    let files = [("prog.c", SOURCE)];
    let project = driver_project(folder.path(), &files, BUILD, &script, ["wide", "narrow"]);
    let own = folder.path().join("plain");
    fs::create_dir(&own).unwrap();
    fs::copy(project.root.join("test.sh"), own.join("test.sh")).unwrap();
    assert_eq!(plain(&own, SOURCE), Some(vec![false, false]));
    let texts: Vec<String> = changes
        .iter()
        .map(|(from, to)| {
            assert!(SOURCE.contains(from), "{from}");
            SOURCE.replacen(from, to, 1)
        })
        .collect();
    let options = Options {
        keep_going: true,
        ..Options::default()
    };
    let of_file = texts.iter().map(|text| ("prog.c", SOURCE, text.clone()));
    let of_file: Vec<(&str, &str, String)> = of_file.collect();
    let found = validate_texts(folder.path(), &project, &of_file, options);
    let mut fates: BTreeMap<&str, usize> = BTreeMap::new();
    for (patch, text) in texts.iter().enumerate() {
        let plain = plain(&own, text);
        let word = match &found.fates[patch] {
            Fate::Woven => {
                let failed = |test| {
                    let verdict = found.verdicts.get(&(patch, test));
                    verdict.map(|verdict| !verdict.is_pass())
                };
                let own: Option<Vec<bool>> = (0..2).map(failed).collect();
                if found.open.iter().all(|(open, _)| *open != patch) {
                    assert_eq!(own, plain, "{:?}", changes[patch]);
                }
                "woven"
            }
            Fate::DoesNotCompile { .. } => {
                assert_eq!(plain, None, "{:?}", changes[patch]);
                "does not compile"
            }
            Fate::Apart(reason) => {
                let expected = match changes[patch].0 {
                    "SMALL_BONUS 0" => {
                        Apart::OutsideOfFunctions(Outside::Definition("SMALL_BONUS".to_owned()))
                    }
                    _ => Apart::CompiledTwice,
                };
                assert_eq!(*reason, expected, "{:?}", changes[patch]);
                "apart"
            }
        };
        *fates.entry(word).or_default() += 1;
    }
    // One way has no such function.
    let expected = [("apart", 2), ("does not compile", 1), ("woven", 17)];
    assert_eq!(fates, BTreeMap::from(expected));
    assert_eq!(found.open, []);
    // What does the same in a test is executed once for all, where both ways have the same text for it.
    let stats = &found.stats;
    assert!(
        stats.captured > 0 && stats.executions < 2 * (texts.len() - 3),
        "{stats:?}"
    );
}
