//! Programs about one part of the language each: in the interpreter they print what they print when gcc compiles them.
//!
//! A program may say `flags: FLAGS` in a comment, and `prints nothing of: REASON` for what the interpreter must refuse by name.
#![allow(clippy::disallowed_methods, reason = "the programs are files")]

use std::{path::Path, time::Duration};

use patchwright_exec::runner::Ending as HowEnded;
use patchwright_exec::{Limits as ProcessLimits, Request};
use patchwright_interpret::{Closed, Ending, Limits, Machine};
use patchwright_testkit::Reader;

fn compare(name: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/language")
        .join(format!("{name}.c"));
    let text = std::fs::read(&file).expect("it is there");
    let source = String::from_utf8_lossy(&text).into_owned();
    let note = |what: &str| {
        let mut lines = source.lines();
        lines.find_map(|line| Some(line.split_once(what)?.1.trim_end_matches("*/").trim()))
    };
    let flags = note("flags: ").unwrap_or_default();
    let mut reader = Reader::new();
    let folder = reader.folder();
    let module = reader.lowered(&file, flags);
    let mut world = Closed::with_input("");
    let mut machine = Machine::link(vec![module], Limits::default(), &mut world).expect("links");
    let outcome = machine.run(&[b"program".to_vec()], &[]);
    drop(machine);
    let printed = String::from_utf8_lossy(&world.output).into_owned();
    if let Some(reason) = note("refused: ") {
        match outcome.ending {
            Ending::Unsupported(found) => assert!(found.contains(reason), "{found}"),
            other => panic!("{name} is not refused: {other:?}\n{printed}"),
        }
        return;
    }
    let build = Request::new("gcc", &folder)
        .args(["-w", "-O0", "-o", "program"])
        .args(flags.split_whitespace())
        .arg(&file)
        .arg("-lm")
        .limits(ProcessLimits::for_build());
    let built = reader.runner.run(&build).expect("gcc is installed");
    assert!(
        built.ending.is_success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    let run = Request::new(folder.join("program"), &folder)
        .limits(ProcessLimits::with_wall(Duration::from_secs(20)));
    let expected = reader.runner.run(&run).expect("it runs");
    let HowEnded::Exited(status) = expected.ending else {
        panic!("{name}: {:?}", expected.ending);
    };
    assert_eq!(
        (&outcome.ending, printed.as_str()),
        (
            &Ending::Exit(status),
            String::from_utf8_lossy(&expected.stdout).as_ref()
        ),
        "{:?}",
        outcome.trace
    );
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                compare(stringify!($name));
            }
        )*

        #[test]
        fn every_program_has_a_test() {
            let names = [$(stringify!($name)),*];
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/language");
            for entry in std::fs::read_dir(folder).expect("it is there") {
                let name = entry.expect("it can be read").file_name();
                let name = name.to_string_lossy();
                let name = name.strip_suffix(".c").expect("only programs are there");
                assert!(names.contains(&name), "{name} has no test");
            }
        }
    };
}

programs! {
    absent_and_renamed
    assembly_refused
    assembly_without_instructions
    atomics
    attributes_with_effects
    bool_as_typedef
    builtin_families
    complex_integers
    complex_numbers
    conversions_to_unions
    ends_at_once
    floats_in_text
    texts_without_an_end
    functions_by_typedef
    hidden_tags_refused
    hints_and_alignments
    input_that_does_not_match
    labels_as_values
    layouts
    literals_in_loops
    members_of_results
    numbers_in_text
    offsets_with_indices
    old_style_definitions
    places_and_alignments
    questions_about_types
    real_functions
    signals
    types_by_declaration
    unnamed_types
    value_not_known
    value_not_read
    values_of_constants
    variable_arrays
    vectors
    wide_bit_field_refused
    wide_bit_fields
    wide_text
}
