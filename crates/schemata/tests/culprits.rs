//! One patch whose weaving changes the program does not cost the others their test.
#![allow(clippy::disallowed_methods)] // Tests write into folders of their own.

use crate::common::{Found, driver_project, validate_texts};
use patchwright_schemata::{Fate, Options};

const MAIN: &str = "\
#include <stdio.h>
#include <stdlib.h>

int side(int n);

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    n = n + 1;
    printf(\"%d\\n\", n + side(n));
    return 0;
}
";

const SIDE: &str = "int side(int n)\n{\n    return n;\n}\n";

/// One test runs the program, the other one also looks at an object of it.
fn validated(changes: &[(&str, &str, &str)], looks_at: &str) -> Found {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "#!/bin/sh\ntest \"$1\" = one || test \"$(nm {looks_at} | grep -c ' [TtDdBb] ')\" = 1 || exit 1\n\
         test \"$(./prog 3)\" = 8\n"
    );
    let build = "cc -O1 -c prog.c && cc -O1 -c side.c && cc -o prog prog.o side.o";
    let files = [("prog.c", MAIN), ("side.c", SIDE)];
    let project = driver_project(folder.path(), &files, build, &script, ["one", "two"]);
    let texts: Vec<(&str, &str, String)> = changes
        .iter()
        .map(|(file, from, to)| {
            let source = if *file == "side.c" { SIDE } else { MAIN };
            assert!(source.contains(from), "{from}");
            (*file, source, source.replacen(from, to, 1))
        })
        .collect();
    validate_texts(folder.path(), &project, &texts, Options::default())
}

/// Patches of the main file: the even ones pass.
fn of_main() -> Vec<(String, String)> {
    let text = |number: usize| match number % 2 {
        0 => format!("n = n + {number} - {};", number - 1),
        _ => format!("n = n + {number} + 7;"),
    };
    (2..12)
        .map(|number| ("n = n + 1;".to_owned(), text(number)))
        .collect()
}

#[test]
#[ignore = "nightly: 9 s; where_every_weaving_changes_the_program_nobody_is_looked_for_long goes this way"]
fn who_changes_the_program_by_being_woven_is_handed_back_and_the_others_are_woven_again() {
    let of_main = of_main();
    let mut changes: Vec<(&str, &str, &str)> = of_main
        .iter()
        .map(|(from, to)| ("prog.c", from.as_str(), to.as_str()))
        .collect();
    changes.insert(5, ("side.c", "return n;", "return n + 0;"));
    let found = validated(&changes, "side.o");
    assert_eq!(found.fates, vec![Fate::Woven; changes.len()]);
    assert_eq!(found.open, [(5, 1)]);
    for (patch, (file, _, to)) in changes.iter().enumerate() {
        if *file == "side.c" {
            continue;
        }
        let passes = !to.ends_with("+ 7;");
        assert_eq!(found.verdicts[&(patch, 0)].is_pass(), passes, "{to}");
        let second = found.verdicts.get(&(patch, 1));
        assert_eq!(
            second.is_some_and(|verdict| verdict.is_pass()),
            passes,
            "{to}"
        );
    }
}

#[test]
fn where_every_weaving_changes_the_program_nobody_is_looked_for_long() {
    let of_main = of_main();
    let changes: Vec<(&str, &str, &str)> = of_main
        .iter()
        .map(|(from, to)| ("prog.c", from.as_str(), to.as_str()))
        .collect();
    let found = validated(&changes, "prog.o");
    // The five that pass the first test are told by nobody.
    assert_eq!(found.open.len(), 5);
    assert!(found.stats.builds <= 3, "{:?}", found.stats);
}
