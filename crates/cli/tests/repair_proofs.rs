//! Proofs of what a repair reports.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use crate::common::{Place, stderr, stdout};

const CLAMP: &str = "\
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

int clamp(int value, int low, int high)
{
    if (value < low)
        value = low;
    if (value < high)
        value = high;
    assert(low > high || (value >= low && value <= high));
    return value;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    printf(\"%d\\n\", clamp(atoi(argv[1]), atoi(argv[2]), atoi(argv[3])));
    return 0;
}

// case 5 1 9 => 5
// case 0 1 9 => 1
// case 12 1 9 => 9
";

#[test]
fn each_patch_is_proved_or_refuted_by_an_input() {
    let place = Place::new();
    place.write_program(CLAMP);
    let flags = [
        "repair",
        "project/program.c",
        "--prove",
        "--max-patches",
        "2",
    ];
    let output = place.run(flags);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stdout(&output);
    assert!(text.contains("\nProofs, for all inputs:\n"), "{text}");
    assert!(
        text.contains("  patch 1: proved for all inputs\n"),
        "{text}"
    );
    // Of `value / high` the tests say nothing against.
    assert!(
        text.contains("  patch 2: refuted: / by zero at program.c:9 in clamp, by arguments"),
        "{text}"
    );
    assert_eq!(place.leftovers(), [""; 0]);
}

#[test]
#[ignore = "nightly: 8 s; each_patch_is_proved_or_refuted_by_an_input goes this way"]
fn a_project_is_proved_towards_a_reference_and_json_says_so() {
    let place = Place::new();
    place.write("limit.h", "#define LIMIT 10\nint limited(int n);\n");
    place.write(
        "limit.c",
        "#include \"limit.h\"\nint limited(int n)\n{\n    if (n < LIMIT)\n        return LIMIT;\n    return n;\n}\n",
    );
    place.write(
        "main.c",
        "#include \"limit.h\"\n#include <stdio.h>\n#include <stdlib.h>\nint main(int argc, char **argv)\n{\n    \
         if (argc < 2)\n        return 2;\n    printf(\"%d\\n\", limited(atoi(argv[1])));\n    return 0;\n}\n",
    );
    for (number, (given, expected)) in [(3, 3), (10, 10), (25, 10)].into_iter().enumerate() {
        place.write(&format!("tests/{number}.args"), format!("{given}\n"));
        place.write(&format!("tests/{number}.out"), format!("{expected}\n"));
    }
    place.write(
        "patchwright.toml",
        "[project]\nbuild = \"cc -o limit main.c limit.c\"\n[tests]\nprogram = \"limit\"\ncases = \"tests\"\n",
    );
    std::fs::write(
        place.root.join("good.c"),
        "int limited(int n) { return n > 10 ? 10 : n; }\n",
    )
    .expect("written");
    let output = place.run([
        "repair",
        "project",
        "--first",
        "--schemas",
        "expression",
        "--json",
        "--prove",
        "--prove-function",
        "limited",
        "--prove-like",
        "good.c",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("it is JSON");
    let proofs = &report["proofs"];
    assert_eq!(proofs["bound"], 16);
    assert_eq!(proofs["stated"], true);
    assert_eq!(proofs["patches"][0]["patch"], 1);
    assert_eq!(proofs["patches"][0]["verdict"], "proved", "{proofs}");
    // Without a reference nothing says what shall hold.
    let output = place.run([
        "repair",
        "project",
        "--first",
        "--schemas",
        "expression",
        "--prove",
    ]);
    let text = stdout(&output);
    assert!(
        text.contains(
            "The program has no assertion, so only memory accesses and divisions were checked"
        ),
        "{text}"
    );
}
