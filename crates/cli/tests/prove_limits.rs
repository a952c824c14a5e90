//! What `patchwright prove` may take: memory, and time.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and read what it wrote"
)]

use crate::common::{Place, prove};

#[test]
#[ignore = "nightly: 6 s; when_the_time_is_up_it_is_unknown_and_said_why goes this way"]
fn a_formula_that_needs_too_much_memory_is_unknown() {
    let place = Place::new();
    // One grows while it is encoded, the other when it becomes clauses.
    place.write(
        "terms.c",
        "unsigned t[64];\nint f(unsigned x, unsigned y)\n{\n    for (int i = 0; i < 100000; i++) {\n        x = x * 31 + y;\n        \
         y ^= x >> 3;\n        t[i % 64] += y;\n    }\n    if (x == y) __builtin_trap();\n    return 0;\n}\n",
    );
    place.write(
        "clauses.c",
        "#include <assert.h>\nint f(unsigned long x, unsigned long y)\n{\n    for (int i = 0; i < 400; i++)\n        \
         x = x * (y | 1) + i;\n    assert(x % 4 != 3 || y % 7 != 5 || x % 11 != y % 3);\n    return 0;\n}\n",
    );
    for file in ["project/terms.c", "project/clauses.c"] {
        let flags = [file, "--function", "f", "--memory", "100"];
        let (status, text, errors) = prove(&place, &flags);
        assert_eq!(status, Some(5), "{file}: {text}{errors}");
        let told = format!("{text}{errors}");
        assert!(
            told.contains("more than 100 MiB of memory would be needed"),
            "{file}: {told}"
        );
    }
}

#[test]
fn when_the_time_is_up_it_is_unknown_and_said_why() {
    let place = Place::new();
    // The solver would have to find the factors of a product of two large primes; the other program has paths without end.
    place.write(
        "factors.c",
        "#include <assert.h>\nint f(unsigned long x, unsigned long y)\n{\n    if (x > 1 && y > 1 && x < 0xffffffff && y < 0xffffffff)\n        \
         assert(x * y != 8061522714793830173ul);\n    return 0;\n}\n",
    );
    place.write(
        "rounds.c",
        "#include <assert.h>\nunsigned t[256];\nint f(unsigned x, unsigned y)\n{\n    for (unsigned i = 0; i < 4000000000u; i++) {\n        \
         t[x % 256] += y;\n        x = x * 31 + t[y % 256];\n    }\n    assert(x != y);\n    return 0;\n}\n",
    );
    for (file, flags) in [
        ("project/factors.c", &["--json"][..]),
        (
            "project/rounds.c",
            &["--bound", "1000000", "--max-instructions", "4000000000"][..],
        ),
        ("project/factors.c", &["--repair"][..]),
    ] {
        let own = [file, "--function", "f", "--budget", "1s"];
        let (status, text, errors) = prove(&place, &[&own[..], flags].concat());
        assert_eq!(status, Some(5), "{file}: {text}{errors}");
        let told = format!("{text}{errors}");
        assert!(told.contains("it takes more than 1s"), "{file}: {told}");
    }
}

#[test]
#[ignore = "nightly: 20 s; what_scanf_may_find_is_any_number_something_else_or_the_end follows input by default"]
fn what_is_known_of_a_short_input_is_said_where_more_takes_too_much() {
    let place = Place::new();
    place.write(
        "lines.c",
        "#include <assert.h>\n#include <stdio.h>\n#include <string.h>\nint main(void)\n{\n    char line[8];\n    \
         while (fgets(line, sizeof line, stdin)) {\n        assert(strlen(line) < 8);\n        line[strcspn(line, \"\\n\")] = 0;\n        \
         assert(!strchr(line, '\\n'));\n    }\n    return 0;\n}\n",
    );
    let flags = ["project/lines.c", "--budget", "20s"];
    let (status, text, errors) = prove(&place, &flags);
    assert_eq!(status, Some(0), "{text}{errors}");
    assert!(
        text.contains("as far as 8 bytes of standard input"),
        "{text}"
    );
}
