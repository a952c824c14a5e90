//! Programs as students write them, in the interpreter and compiled: they print the same.
#![allow(clippy::disallowed_methods, reason = "the programs are files")]

use std::{collections::BTreeMap, ffi::OsString, path::Path, time::Duration};

use patchwright_exec::runner::{Ending as HowEnded, Stdin};
use patchwright_exec::{Limits as ProcessLimits, Request};
use patchwright_interpret::{Closed, Ending, Limits, Machine};
use patchwright_testkit::Reader;

/// Program, arguments, input.
const RUNS: &[(&str, &[&str], &str)] = &[
    ("words", &[], "the cat and the dog\nand The bird, and\n"),
    (
        "calc",
        &[],
        "1+2*3\na=2^3^2\na/4-1\n(1+2\n5/0\n-(2.5)*2\n17%5\nx\n\n",
    ),
    ("matrix", &[], "3\n2 1 -1 8\n-3 -1 2 -11\n-2 1 2 -3\n"),
    ("matrix", &[], "2\n1 2 3\n2 4 6\n"),
    (
        "records",
        &[],
        "mia 2001-02-03 91.5\nben 1999-12-31 68\ncleo 2000-02-29 55.25\n",
    ),
    (
        "options",
        &["-n", "-k", "3", "file", "--width=6", "-r"],
        "Hello, world\nabc\n",
    ),
    ("options", &[], ""),
    ("options", &["--bad"], ""),
    ("life", &[], "0,1 1,2 2,0 2,1 2,2"),
];

#[test]
fn programs_of_students_run_as_compiled_ones_do() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/student");
    let mut reader = Reader::new();
    let folder = reader.folder();
    let mut modules = BTreeMap::new();
    for &(name, arguments, input) in RUNS {
        let file = sources.join(format!("{name}.c"));
        let module = modules.entry(name).or_insert_with(|| {
            let build = Request::new("gcc", &folder)
                .args(["-w", "-o", name])
                .arg(&file)
                .arg("-lm")
                .limits(ProcessLimits::for_build());
            let built = reader.runner.run(&build).expect("gcc is installed");
            assert!(built.ending.is_success(), "{name}");
            reader.lowered(&file, "")
        });
        let run = Request::new(folder.join(name), &folder)
            .args(arguments.iter().map(OsString::from))
            .stdin(Stdin::Bytes(input.as_bytes().to_vec()))
            .limits(ProcessLimits::with_wall(Duration::from_secs(20)));
        let expected = reader.runner.run(&run).expect("it runs");
        let HowEnded::Exited(status) = expected.ending else {
            panic!("{name}: {:?}", expected.ending);
        };
        let mut world = Closed::with_input(input);
        let mut machine =
            Machine::link(vec![module.clone()], Limits::default(), &mut world).expect("links");
        let mut words = vec![
            folder
                .join(name)
                .to_string_lossy()
                .into_owned()
                .into_bytes(),
        ];
        words.extend(arguments.iter().map(|word| word.as_bytes().to_vec()));
        let outcome = machine.run(&words, &[]);
        assert_eq!(
            outcome.ending,
            Ending::Exit(status),
            "{name}: {:?}",
            outcome.trace
        );
        drop(machine);
        assert_eq!(
            String::from_utf8_lossy(&world.output),
            String::from_utf8_lossy(&expected.stdout),
            "{name}"
        );
    }
}
