//! Conditions read bit-fields behind pointers.

use crate::common;

use patchwright_repair::RepairOptions;

/// What is hidden is taken for two letters, as what is quoted should be, too.
const WORDS: &str = r#"#include <stdio.h>
#include <string.h>

struct word { unsigned quoted : 1; unsigned hidden : 2; const char *text; };

static int letters(const struct word *word, const char *next) {
  const char *sign = strchr(word->text, '=');
  if (word->quoted)
    return 2;
  if (sign > next)
    return (int)(next - word->text);
  return (int)(sign - word->text);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    struct word word = { argv[i][0] == '+', argv[i][0] == '.', argv[i] };
    printf("%d\n", letters(&word, argv[i] + strcspn(argv[i], " ")));
  }
  return 0;
}
"#;

fn filled(source: &str) -> String {
    let more = (0..900)
        .map(|number| format!("int filler_{number}(int n) {{ return n + {number} * n; }}\n"));
    format!("{source}{}", more.collect::<String>())
}

fn options() -> RepairOptions {
    RepairOptions {
        jobs: 2,
        scrutinize: false,
        locations: 40,
        budget: Some(std::time::Duration::from_secs(300)),
        ..Default::default()
    }
}

#[test]
#[ignore = "nightly: 11 s; verdicts_of_candidates_with_bit_fields_are_those_of_plain_execution has bit fields"]
fn a_bit_field_behind_a_pointer_can_be_what_a_condition_lacks() {
    let source = WORDS.replace(
        "  if (sign > next)\n",
        "  if (sign == NULL || sign > next)\n",
    );
    let cases = [
        ("abc=d", "3\n"),
        ("a=b", "1\n"),
        ("+quoted=", "2\n"),
        (".a=b", "2\n"),
        (".abc", "2\n"),
        ("abcd", "4\n"),
    ];
    let (outcome, _) = common::repaired(&filled(&source), &cases, &options());
    let diffs: Vec<String> = outcome
        .patches
        .iter()
        .map(|patch| String::from_utf8_lossy(&patch.diff).into_owned())
        .collect();
    let mends = |diff: &String| {
        diff.contains("word->quoted || word->hidden")
            || diff.contains("word->hidden || word->quoted")
    };
    assert!(diffs.iter().any(mends), "{diffs:#?}");
}
