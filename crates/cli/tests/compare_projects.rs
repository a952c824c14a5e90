//! `patchwright compare` on projects of which nobody says what to execute, or whose tests are scripts.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

use std::fs;

use crate::common::{Place, stderr, stdout};
use serde_json::Value;

/// Two projects that consist of a source.
fn projects(old: &str, new: &str, description: &str) -> Place {
    let place = Place::new();
    for (version, text) in [("a", old), ("b", new)] {
        let folder = place.project().join(version);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("patchwright.toml"), description).unwrap();
        fs::write(folder.join("source.c"), text).unwrap();
    }
    place
}

fn run(place: &Place, flags: &[&str]) -> (Option<i32>, String) {
    let files = ["compare", "project/a", "project/b"];
    let output = place.run(files.iter().chain(flags));
    let status = output.status.code();
    (status, stdout(&output) + &stderr(&output))
}

#[test]
#[ignore = "nightly: 5 s; `compare` builds and executes two projects by default"]
fn what_tests_call_a_program_with_is_kept_and_changed_files_included() {
    // Sorts the numbers of a file in place; a test is a script.
    let old = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
               int main(int argc, char **argv)\n{\n  int n[64], count = 0;\n  if (argc < 2) return 2;\n\
               FILE *file = fopen(argv[1], \"r\");\n  if (!file) return 3;\n\
               while (count < 64 && fscanf(file, \"%d\", &n[count]) == 1) count++;\n  fclose(file);\n\
               for (int i = 0; i < count; i++) for (int j = i + 1; j < count; j++)\n\
               if (n[j] < n[i]) { int t = n[i]; n[i] = n[j]; n[j] = t; }\n\
               file = fopen(argv[1], \"w\");\n  for (int i = 0; i < count; i++) fprintf(file, \"%d\\n\", n[i]);\n\
               fclose(file);\n  return 0;\n}\n";
    let new = old.replace("j < count; j++)", "j < count && j < 3; j++)");
    assert_ne!(old, new);
    let description = "[project]\nbuild = \"cc -o sorts source.c\"\n[tests]\ndriver = \"drive.sh\"\nnames = [\"short\", \"none\"]\n";
    let place = projects(old, &new, description);
    for version in ["a", "b"] {
        let driver = place.project().join(version).join("drive.sh");
        let script = "#!/bin/sh\nroot=$(pwd)\nmkdir -p work/$1 && cd work/$1 || exit 1\n\
                      [ $1 = none ] || printf '3\\n1\\n2\\n' > numbers\n$root/sorts numbers\n[ $1 = none ] || [ $(head -n 1 numbers) = 1 ]\n";
        fs::write(&driver, script).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(&driver, mode).unwrap();
    }
    let flags = ["--program", "sorts", "--executions", "800"];
    let tests = place.project().join("tests");
    let output = ["--json", "--output", tests.to_str().unwrap()];
    let (status, text) = run(&place, &[&flags[..], &output].concat());
    assert_eq!(status, Some(1), "{text}");
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["executions"]["of_tests"], 2, "{report:#}");
    let seen = &report["seen"][0];
    assert_eq!(seen["of"], "short", "{report:#}");
    assert_eq!(seen["files"][0][0], "numbers");
    assert_ne!(seen["old"]["written"], seen["new"]["written"]);
    // It is what the program was really executed with.
    let numbers = fs::read_to_string(tests.join("seen-1.files/numbers")).unwrap();
    assert_eq!(seen["files"][0][1], numbers);
}

#[test]
#[ignore = "nightly: 6 s; `compare` builds and executes two projects by default"]
fn functions_of_libraries_that_differ_are_found_and_compared() {
    let old = "static int sign(int x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }\n\
               int size(int x) { return x < 0 ? -(x + 1) : x; }\n\
               int same(int x) { return x + sign(x); }\n\
               int number(const char *text)\n{\n  int all = 0;\n\
               for (int i = 0; text[i] >= '0' && text[i] <= '9' && i < 6; i++)\n    all = all * 10 + (text[i] - '0');\n\
               return text[0] == '-' ? -1 : all;\n}\n";
    let new = old
        .replace("text[i] <= '9'", "text[i] <= 'A'")
        .replace("x < 0 ? -(x + 1) : x", "x >= 0 ? x : -(x + 1)");
    let description = "[project]\nbuild = \"cc -c -o source.o source.c\"\n";
    let place = projects(old, &new, description);
    let (status, text) = run(&place, &["--budget", "20s"]);
    assert_eq!(status, Some(1), "{text}");
    assert!(
        !text.contains("`sign`") && !text.contains("`same`"),
        "{text}"
    );
    let (size, number) = text.split_once("number\n").unwrap_or(("", ""));
    assert!(size.contains("Equal for all inputs: `size`"), "{text}");
    assert!(number.contains("Different: `number` differs"), "{text}");
    // Nothing but an unused macro differs.
    let other = format!("#define UNUSED 1\n{old}");
    let place = projects(old, &other, description);
    let (status, text) = run(&place, &[]);
    assert_eq!(status, Some(2), "{text}");
    assert!(
        text.contains("no function that") && text.contains("--program"),
        "{text}"
    );
}

#[test]
#[ignore = "nightly: 35 s; `compare` builds and executes two projects by default"]
fn inputs_come_nearer_to_the_change_by_what_executions_go_through_and_compare() {
    // What has changed is behind a word, and a number that depends on all of its line.
    let old = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
               int main(void)\n{\n  char line[80];\n  int sum = 40, at = 0, limit = 3;\n\
               while (fgets(line, sizeof line, stdin)) {\n    line[strcspn(line, \"\\n\")] = 0;\n\
               if (at == 0) {\n      if (strncmp(line, \"open \", 5) != 0) { puts(\"closed\"); return 1; }\n\
               for (char *c = line; *c; c++) sum = sum * 3 + *c;\n      at = 1;\n\
               } else if (at == 1) {\n      if (atoi(line) != (sum & 0xffff)) { puts(\"no\"); return 1; }\n      at = 2;\n\
               } else {\n      limit--;\n      if (limit < 3) puts(\"taken\");\n    }\n  }\n  return 0;\n}\n";
    let new = old.replace("limit < 3", "limit < 2");
    assert_ne!(old, new);
    let place = projects(old, &new, "[project]\nbuild = \"cc -o takes source.c\"\n");
    let flags = [
        "--program",
        "takes",
        "--executions",
        "4000",
        "--budget",
        "10m",
        "--json",
    ];
    let (status, text) = run(&place, &flags);
    assert_eq!(status, Some(1), "{text}");
    let report: Value = serde_json::from_str(&text).unwrap();
    let seen = &report["seen"][0];
    assert!(
        seen["input"].as_str().unwrap().starts_with("open "),
        "{report:#}"
    );
    assert_eq!(seen["old"]["output"], "taken\n", "{report:#}");
    assert_eq!(seen["new"]["output"], "", "{report:#}");
}
