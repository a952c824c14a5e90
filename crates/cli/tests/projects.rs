//! Every kind of project: build systems, libraries, compilers and their flags, ways of testing. The bug is always the
//! same, in a file of its own.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they make projects and start it"
)]

use std::process::Command;

use crate::common::{Place, stderr, stdout};

const NATURAL: &str = "#include \"natural.h\"\n\nint natural(int n)\n{\n  return n > 0;\n}\n";
const HEADER: &str = "#ifndef NATURAL_H\n#define NATURAL_H\nint natural(int n);\n#endif\n";
const MAIN: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include \"natural.h\"\n\n\
    int main(int argc, char **argv)\n{\n  if (argc != 2)\n    return 2;\n\
    \x20 printf(\"%d\\n\", natural(atoi(argv[1])));\n  return 0;\n}\n";

/// A project with the library `src/natural.c`, a program, and a driver that starts it.
fn project() -> Place {
    let place = Place::new();
    place.write("src/natural.c", NATURAL);
    place.write("src/natural.h", HEADER);
    place.write("src/main.c", MAIN);
    place.script(
        "driver",
        "#!/bin/sh\ncase $1 in\npositive) test \"$(./natural 5)\" = 1 ;;\nzero) test \"$(./natural 0)\" = 1 ;;\n\
         negative) test \"$(./natural -5)\" = 0 ;;\n*) exit 2 ;;\nesac\n",
    );
    place
}

/// Repairs the project; the patch must be in `file`. Gives the report and what was said besides.
fn repair(place: &Place, build: &str, file: &str, more: &[&str]) -> (serde_json::Value, String) {
    let before = place.snapshot();
    let arguments = [
        &["repair", "project", "--build", build, "--driver", "driver"],
        &[
            "--tests", "positive", "zero", "negative", "--first", "--json",
        ][..],
        more,
    ];
    let output = place.run(arguments.concat());
    let messages = stderr(&output);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}{messages}",
        stdout(&output)
    );
    assert_eq!(place.leftovers(), [""; 0]);
    assert_eq!(place.snapshot(), before);
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let patch = &report["patches"][0];
    assert_eq!(patch["file"], file, "{patch}");
    assert!(patch["diff"].as_str().unwrap().contains("\n+"), "{patch}");
    (report, messages)
}

/// Runs a shell command in the project: what its user has done before.
fn prepare(place: &Place, command: &str) {
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(place.project())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
}

#[test]
#[ignore = "nightly: 10 s; cmake_and_ninja_with_ccache_before_the_compiler has libraries, guides run make"]
fn make_with_libraries_and_several_programs() {
    let place = project();
    place.write(
        "src/twice.c",
        "#include <stdio.h>\n#include \"natural.h\"\nint main(int argc, char **argv)\n{\n\
         \x20 (void)argv;\n  printf(\"%d%d\\n\", natural(argc - 2), natural(1));\n  return 0;\n}\n",
    );
    place.write(
        "Makefile",
        "CFLAGS = -O2 -std=c99 -Wall -Wextra -Werror -pedantic -fPIC\nall: natural twice\n\
         src/%.o: src/%.c src/natural.h\n\t$(CC) $(CFLAGS) -c -o $@ $<\n\
         libnatural.a: src/natural.o\n\tar rc $@ $<\n\
         lib/libnatural.so: src/natural.o\n\tmkdir -p lib && $(CC) -shared -o $@ $<\n\
         natural: src/main.o lib/libnatural.so\n\t$(CC) -o $@ $< -Llib -lnatural -Wl,-rpath,'$$ORIGIN/lib'\n\
         twice: src/twice.o libnatural.a\n\t$(CC) -o $@ $< libnatural.a\n",
    );
    // Many processes: in a pipeline, in parallel, in the background.
    place.script(
        "driver",
        "#!/bin/bash\ncase $1 in\npositive) test \"$(./natural 5 | cat)\" = 1 && test \"$(./twice x x)\" = 11 ;;\n\
         zero) test \"$(for i in 1 2 3 4 5 6 7 8; do ./natural 0 & done | sort | uniq -c | tr -d ' ')\" = 81 &&\n\
         \x20 test \"$(./twice x)\" = 11 ;;\n\
         negative) test \"$(printf '%s\\n' -1 -2 -3 | xargs -n1 -P3 ./natural | sort -u)\" = 0 && test \"$(./twice)\" = 01 ;;\n\
         esac\n",
    );
    prepare(&place, "make");
    repair(&place, "make", "src/natural.c", &[]);
}

#[test]
fn configure_and_make_out_of_the_tree() {
    let place = project();
    // Like that of autoconf, it writes the absolute path of the sources into what it makes.
    place.script(
        "configure",
        "#!/bin/sh\nsrc=$(cd \"$(dirname \"$0\")\" && pwd)\necho '#define HAVE_STDIO_H 1' >config.h\n\
         cat >config.status <<EOF\nsrcdir=$src\nEOF\n\
         cat >Makefile <<EOF\nsrcdir = $src\nall: $src/natural\n\
         natural.o: \\$(srcdir)/src/natural.c config.h\n\tgcc -include config.h -g -O1 -c -o natural.o \\$(srcdir)/src/natural.c\n\
         main.o: \\$(srcdir)/src/main.c\n\tgcc -g -O1 -c -o main.o \\$(srcdir)/src/main.c\n\
         $src/natural: main.o natural.o\n\tgcc -o $src/natural main.o natural.o\nEOF\n",
    );
    prepare(&place, "mkdir build && cd build && ../configure && make");
    repair(&place, "make -C build", "src/natural.c", &[]);
}

#[test]
#[ignore = "nightly: 5 s; configure_and_make_out_of_the_tree goes this way"]
fn cmake_and_ninja_with_ccache_before_the_compiler() {
    let place = project();
    place.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(natural C)\nset(CMAKE_C_STANDARD 11)\n\
         set(CMAKE_C_COMPILER_LAUNCHER ccache)\nset(CMAKE_EXPORT_COMPILE_COMMANDS ON)\n\
         add_library(numbers SHARED src/natural.c)\nadd_library(helper STATIC src/helper.c)\n\
         add_executable(natural src/main.c)\ntarget_link_libraries(natural numbers helper)\n",
    );
    place.write("src/helper.c", "int helper(int n) { return n; }\n");
    prepare(
        &place,
        "mkdir build && cd build && CCACHE_DISABLE=1 cmake -G Ninja -DCMAKE_BUILD_TYPE=Release .. && CCACHE_DISABLE=1 ninja\n\
         sed -i 's|[.]/natural|build/natural|' ../driver",
    );
    let cache = place.root.join("ccache");
    std::fs::create_dir(&cache).unwrap();
    let build = format!("CCACHE_DIR='{}' ninja -C build", cache.display());
    let allowed = ["--allow-writes", "ccache"];
    repair(&place, &build, "src/natural.c", &allowed);
}

#[test]
#[ignore = "nightly: 6 s; cmake_and_ninja_with_ccache_before_the_compiler goes the same way"]
fn cmake_has_configured_the_folder_before() {
    let place = project();
    place.write(
        "CMakeLists.txt",
        "cmake_minimum_required(VERSION 3.13)\nproject(natural C)\nadd_executable(natural src/main.c src/natural.c)\n",
    );
    prepare(
        &place,
        "cmake -B 'the build' && sed -i 's|[.]/natural|\"the build\"/natural|' driver && chmod +x driver",
    );
    repair(&place, "make -C 'the build'", "src/natural.c", &[]);
}

#[test]
#[ignore = "nightly: 12 s; test_programs has programs of tests that are not changed"]
fn tests_that_the_build_compiles_are_not_changed_unless_they_are_named() {
    let place = project();
    place.write(
        "tests/check.c",
        "#include <assert.h>\n#include <stdlib.h>\n#include \"../src/natural.h\"\nint main(int argc, char **argv)\n{\n\
         \x20 int n = atoi(argv[argc - 1]);\n  int expected = n >= 0;\n  assert(natural(n) == expected);\n  return 0;\n}\n",
    );
    place.script(
        "driver",
        "#!/bin/sh\ncase $1 in\npositive) ./check 5 ;;\nzero) ./check 0 ;;\nnegative) ./check -5 ;;\nesac\n",
    );
    let build = "gcc -o check tests/check.c src/natural.c";
    let told = "tests/check.c looks like a test";
    let (_, messages) = repair(&place, build, "src/natural.c", &[]);
    assert!(messages.contains(told), "{messages}");
    let (_, messages) = repair(&place, build, "tests/check.c", &["--files", "tests"]);
    assert!(!messages.contains(told), "{messages}");
}

#[test]
#[ignore = "nightly: 5 s; cmake_and_ninja_with_ccache_before_the_compiler has ccache too"]
fn ccache_in_front_of_gcc_without_a_compile_database() {
    let place = project();
    let cache = place.root.join("ccache");
    std::fs::create_dir(&cache).unwrap();
    let build = format!(
        "export CCACHE_DIR='{}'; for f in natural main; do ccache gcc -O1 -c -o $f.o src/$f.c || exit 1; done; \
         gcc -o natural main.o natural.o",
        cache.display()
    );
    let allowed = ["--allow-writes", "ccache"];
    repair(&place, &build, "src/natural.c", &allowed);
}

/// The bug is an access beyond an array that only a sanitizer notices.
const LAST: &str = "#include <stdlib.h>\n#include \"natural.h\"\n\nint natural(int n)\n{\n\
    \x20 int found = 0, *cells = calloc(4, sizeof *cells);\n  if (!cells)\n    return -1;\n  cells[3] = n >= 0;\n\
    \x20 for (int i = 0; i <= 4 && n == 0; i++)\n    found |= cells[i];\n  if (n != 0)\n    found = cells[3];\n\
    \x20 free(cells);\n  return found;\n}\n";

#[test]
#[ignore = "nightly: 8 s; configure_and_make_out_of_the_tree goes this way"]
fn address_sanitizer_shows_the_bug() {
    for compiler in ["gcc", "clang-19"] {
        let place = project();
        place.write("src/natural.c", LAST);
        let build = format!(
            "{compiler} -g -fsanitize=address -fno-omit-frame-pointer -o natural src/main.c src/natural.c"
        );
        let (report, _) = repair(
            &place,
            &build,
            "src/natural.c",
            &["--files", "src/natural.c:10"],
        );
        let diff = report["patches"][0]["diff"].as_str().unwrap();
        assert!(diff.contains("i < 4"), "{compiler}: {diff}");
    }
}

#[test]
#[ignore = "nightly: 8 s; address_sanitizer_shows_the_bug goes the same way"]
fn undefined_behaviour_sanitizer_shows_the_bug() {
    for compiler in ["gcc", "clang-19"] {
        let place = project();
        place.write(
            "src/natural.c",
            "#include <limits.h>\n#include \"natural.h\"\n\nint natural(int n)\n{\n  int limit = INT_MAX;\n\
             \x20 if (n < 0)\n    return 0;\n  if (n <= 0)\n    limit = limit + 1;\n  return limit != n;\n}\n",
        );
        let build = format!(
            "{compiler} -O1 -fsanitize=undefined -fno-sanitize-recover=all -o natural src/main.c src/natural.c"
        );
        repair(
            &place,
            &build,
            "src/natural.c",
            &["--files", "src/natural.c:9-10"],
        );
    }
}

#[test]
#[ignore = "nightly: 20 s; crate weave compiles under all flags what it writes"]
fn every_standard_with_every_warning_an_error() {
    // One build compiles the library once more for each compiler and standard, and all copies are used.
    let place = project();
    let mut build = String::from("set -e\n");
    let mut programs = Vec::new();
    for (compiler, standards) in [("gcc", "c89 gnu17 c2x"), ("clang-19", "gnu89 c99 c23")] {
        for standard in standards.split(' ') {
            let program = format!("natural-{compiler}-{standard}");
            let level = programs.len() % 3;
            build += &format!(
                "{compiler} -std={standard} -O{level} -pedantic -Wall -Wextra -Wshadow -Wconversion -Werror \
                 -o {program} src/main.c src/natural.c\n"
            );
            programs.push(program);
        }
    }
    place.script("build.sh", &format!("#!/bin/sh\n{build}"));
    place.script(
        "driver",
        &format!(
            "#!/bin/sh\nfor program in {}; do\n  case $1 in\n  positive) test \"$(./$program 5)\" = 1 ;;\n\
             \x20 zero) test \"$(./$program 0)\" = 1 ;;\n  negative) test \"$(./$program -5)\" = 0 ;;\n  esac || exit 1\ndone\n",
            programs.join(" ")
        ),
    );
    repair(&place, "./build.sh", "src/natural.c", &[]);
}

#[test]
#[ignore = "nightly: 4 s; configure_and_make_out_of_the_tree goes this way"]
fn a_source_that_the_build_writes_is_left_alone() {
    let place = project();
    place.write(
        "src/natural.h",
        HEADER.replace("int natural", "int is_zero(int n);\nint natural"),
    );
    place.write(
        "src/natural.c",
        NATURAL.replace("n > 0", "n > 0 || (is_zero(n) && n)"),
    );
    place.script(
        "build.sh",
        "#!/bin/sh\nset -e\nprintf 'int is_zero(int n);\\nint is_zero(int n)\\n{\\n  return n == 0;\\n}\\n' >generated.c\n\
         gcc -o natural -Isrc src/main.c src/natural.c generated.c\n",
    );
    let (_, messages) = repair(&place, "./build.sh", "src/natural.c", &[]);
    assert!(
        messages.contains("generated.c is written by the build"),
        "{messages}"
    );
}

#[test]
#[ignore = "nightly: 20 s; included::patches_of_included_files_are_woven_and_have_the_verdicts_of_their_own_builds has such units"]
fn functions_of_a_unit_that_only_includes_others_are_repaired_where_they_stand() {
    let place = project();
    place.write("src/all.c", "#include \"main.c\"\n#include \"natural.c\"\n");
    let arguments = |files: &'static [&'static str]| {
        [
            &[
                "repair", "project", "--driver", "driver", "--tests", "positive", "zero",
            ][..],
            &["--build", "gcc -o natural src/all.c"],
            files,
        ]
        .concat()
    };
    for files in [&[][..], &["--files", "src/natural.c"]] {
        let output = place.run(arguments(files));
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let report = stdout(&output);
        assert!(report.contains("+++ b/src/natural.c"), "{report}");
    }
}

#[test]
#[ignore = "nightly: 4 s; configure_and_make_out_of_the_tree goes this way"]
fn a_static_function_in_a_header_of_several_files_is_repaired_or_left_alone_with_a_reason() {
    let place = project();
    place.write(
        "src/natural.h",
        "static inline int is_natural(int n)\n{\n  return n > 0;\n}\nint natural(int n);\n",
    );
    let source = "#include \"natural.h\"\n\nint natural(int n)\n{\n  return is_natural(n);\n}\n";
    place.write("src/natural.c", source);
    place.write(
        "src/main.c",
        MAIN.replace("natural(atoi", "is_natural(atoi"),
    );
    let output = place.run([
        "repair",
        "project",
        "--build",
        "gcc -o natural src/main.c src/natural.c",
        "--driver",
        "driver",
        "--tests",
        "positive",
        "zero",
        "negative",
        "--first",
        "--json",
        "--files",
        "src/natural.h",
    ]);
    if output.status.code() == Some(0) {
        assert!(
            stdout(&output).contains("+++ b/src/natural.h"),
            "{}",
            stdout(&output)
        );
    } else {
        assert_eq!(output.status.code(), Some(2));
        let message = stderr(&output);
        assert!(
            message.contains(
                "src/natural.h is included by src/main.c, src/natural.c: functions in headers \
                 and other included files are not searched; name sources in --files"
            ),
            "{message}"
        );
    }
}
