//! Patches that add something outside of functions: woven where that is sound, and with the verdicts of plain builds.

use std::fmt::Write as _;

use crate::common::{Plain, PlainRun, Subject, plain, validate};
use patchwright_schemata::{Apart, Fate, Options, Outside};

const SOURCE: &str = "\
#include <stdio.h>
#include <stdlib.h>

struct item
{
    int weight;
};

static int rounds;

static int size(const char *text)
{
    int n = 0;
    while (text[n])
        n++;
    return n;
}

static int count(const char *text)
{
    int found = 0;
    rounds++;
    for (int i = 0; i < size(text); i++)
        if (text[i] >= '0')
            found++;
    return found;
}

int main(int argc, char **argv)
{
    struct item item = {rounds};
    if (argc < 2)
        return 2;
    printf(\"%d %d\\n\", count(argv[1]), item.weight);
    return 0;
}
";

const TEST: &str = "text[i] >= '0'";
const BEFORE: &str = "static int count(";

/// A patch that adds text before `count`, and changes what is counted.
fn with(added: &str, condition: &str) -> String {
    let text = SOURCE.replacen(TEST, condition, 1);
    text.replacen(BEFORE, &format!("{added}{BEFORE}"), 1)
}

/// Validates texts; each must be woven or not as it says, and its verdicts be those of a plain build.
fn compare(texts: &[(&str, String, bool)]) -> Vec<Fate> {
    let subject = Subject::new(
        SOURCE,
        &[("a1b2", "2 0\n"), ("abc", "0 0\n"), ("77", "2 0\n")],
    );
    let options = Options {
        keep_going: true,
        ..Options::default()
    };
    let all: Vec<String> = texts.iter().map(|(_, text, _)| text.clone()).collect();
    let found = validate(&subject, &all, options);
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = String::new();
    for (number, (name, text, woven)) in texts.iter().enumerate() {
        let fate = &found.fates[number];
        if matches!(fate, Fate::Apart(_)) == *woven {
            writeln!(wrong, "{name}: {fate:?}").unwrap();
        }
        let verdicts = (0..subject.cases.len()).map(|test| found.verdicts.get(&(number, test)));
        match plain(&subject, folder.path(), text) {
            Plain::DoesNotCompile => {
                if matches!(fate, Fate::Woven) {
                    writeln!(wrong, "{name} is woven and does not compile").unwrap();
                }
            }
            Plain::Ran(runs) if matches!(fate, Fate::Woven) => {
                let own: Vec<Option<PlainRun>> =
                    verdicts.map(|verdict| verdict.map(PlainRun::of)).collect();
                let runs: Vec<Option<PlainRun>> = runs.into_iter().map(Some).collect();
                if own != runs {
                    writeln!(wrong, "{name}: {own:?}, plainly {runs:?}").unwrap();
                }
            }
            Plain::Ran(_) => {
                if matches!(fate, Fate::DoesNotCompile { .. }) {
                    writeln!(wrong, "{name}: {fate:?}, but it compiles").unwrap();
                }
            }
        }
    }
    assert_eq!(wrong, "");
    found.fates
}

#[test]
#[ignore = "nightly: 9 s; the others of this file name what stands outside"]
fn what_only_the_patch_names_is_woven() {
    let helper =
        |code: &str| format!("static int is_digit(char c)\n{{\n    return {code};\n}}\n\n");
    let right = "c >= '0' && c <= '9'";
    // As a difference shows it that has matched the other brace.
    let prototype = "static int is_digit(char);\n\n";
    let behind = with(prototype, "is_digit(text[i])").replacen(
        "int main(",
        &format!("{}int main(", helper(right)),
        1,
    );
    let with_state =
        "static int seen;\nstatic int fresh(char c)\n{\n    return c <= '9' && !seen++;\n}\n\n";
    compare(&[
        ("helper", with(&helper(right), "is_digit(text[i])"), true),
        (
            "other helper",
            with(&helper("c <= '1'"), "is_digit(text[i])"),
            true,
        ),
        (
            "broken helper",
            with(&helper("d"), "is_digit(text[i])"),
            true,
        ),
        ("helper unused", with(&helper(right), TEST), true),
        (
            "external helper",
            with(
                &helper(right).replacen("static ", "", 1),
                "is_digit(text[i])",
            ),
            true,
        ),
        (
            "external helper of another kind",
            with(
                &helper("c == '7'").replacen("static ", "", 1),
                "is_digit(text[i])",
            ),
            true,
        ),
        ("prototype first", behind, true),
        ("macro", with("#define LAST '9'\n", "text[i] <= LAST"), true),
        (
            "other macro",
            with("#define LAST 'b'\n", "text[i] <= LAST"),
            true,
        ),
        (
            "macro with arguments",
            with(
                "#define IS_DIGIT(c) \\\n    ((c) <= '9')\n",
                "IS_DIGIT(text[i])",
            ),
            true,
        ),
        (
            "constant",
            with("static const char last = '9';\n", "text[i] <= last"),
            true,
        ),
        (
            "enumeration",
            with(
                "enum limits { FIRST = '0', LAST = '9' };\n",
                "text[i] >= FIRST && text[i] <= LAST",
            ),
            true,
        ),
        ("state", with(with_state, "fresh(text[i])"), true),
        (
            "table",
            with(
                "static const struct { char low, high; } table[2] = {{'0', '4'}, {'5', '9'}};\n",
                "(text[i] >= table[0].low && text[i] <= table[1].high)",
            ),
            true,
        ),
        (
            "type",
            with(
                "typedef int (*test)(int);\nstatic int low(int c) { return c < ':'; }\nstatic test tests[] = {low};\n",
                "tests[0](text[i])",
            ),
            true,
        ),
        // A variable of another patch is called so.
        (
            "macro of a common name",
            with("#define found_one '9'\n", "text[i] <= found_one"),
            true,
        ),
        (
            "variable of that name",
            SOURCE.replacen(TEST, "text[i] <= '9'", 1).replacen(
                "int found = 0;",
                "int found_one = 3, found = 0; found_one--;",
                1,
            ),
            true,
        ),
        (
            "header",
            with("#include <ctype.h>\n", "isdigit((unsigned char)text[i])"),
            true,
        ),
        (
            "header, at the top",
            with("", "isdigit((unsigned char)text[i])").replacen(
                "#include <stdio.h>",
                "#include <ctype.h>\n#include <stdio.h>",
                1,
            ),
            true,
        ),
        (
            "macro before headers",
            with("", "text[i] <= LIMIT").replacen(
                "#include <stdio.h>",
                "#define LIMIT '9'\n#include <stdio.h>",
                1,
            ),
            true,
        ),
    ]);
}

#[test]
#[ignore = "nightly: 4 s; what_others_would_see_is_built_apart goes this way"]
fn a_changed_definition_is_another_one_beside_the_first() {
    let source = |from: &str, to: &str| {
        assert!(SOURCE.contains(from), "{from}");
        SOURCE.replacen(from, to, 1)
    };
    let with_parameter = |test: &str| {
        source(
            "static int size(const char *text)\n{\n    int n = 0;",
            "static int size(const char *text, int n)\n{",
        )
        .replacen("size(text)", "size(text, 1)", 1)
        .replacen(TEST, test, 1)
    };
    // Two hunks of one patch, one of which changes a head.
    compare(&[
        ("a parameter", with_parameter(TEST), true),
        (
            "a parameter and more",
            with_parameter("text[i] < '9'"),
            true,
        ),
        (
            "half",
            source("size(const char *text)", "size(const char *text, int n)"),
            true,
        ),
        (
            "a type",
            source("static int size(", "static unsigned size("),
            true,
        ),
        (
            "a variable",
            source("static int rounds;", "static int rounds = 4;"),
            true,
        ),
        (
            "a variable, and its use",
            source("static int rounds;", "static int rounds = 4;").replacen(
                "rounds++;",
                "rounds += 2; found = rounds > 5;",
                1,
            ),
            true,
        ),
        (
            "a new name",
            source("static int size(const", "static int length(const").replacen(
                "size(text)",
                "length(text)",
                1,
            ),
            true,
        ),
        (
            "not static any more",
            source("static int size(", "int size("),
            false,
        ),
        (
            "a type that a declaration uses",
            source("    int weight;", "    long weight;"),
            true,
        ),
        (
            "a name that a parameter shadows",
            source("static int rounds;", "static int rounds = 4;")
                .replacen(
                    "int count(const char *text)",
                    "int count(const char *text, int rounds)",
                    1,
                )
                .replacen("count(argv[1])", "count(argv[1], 3)", 1),
            true,
        ),
        (
            "a name that a variable shadows",
            source("static int rounds;", "static int rounds = 4;")
                .replacen("int found = 0;", "int found = 0, rounds = 7;", 1)
                .replacen("return found;", "return found + rounds;", 1),
            true,
        ),
        (
            "the one that starts",
            source(
                "int main(int argc",
                "int main(int count_of, char **argv); int main(int argc",
            ),
            false,
        ),
    ]);
}

#[test]
fn what_others_would_see_is_built_apart() {
    let fates = compare(&[
        (
            "a member",
            SOURCE.replacen("    int weight;\n", "    int first;\n    int weight;\n", 1),
            false,
        ),
        ("a known name", with("#define size(x) 4\n", TEST), true),
        (
            "a function that runs by itself",
            with(
                "static void __attribute__((constructor)) early(void) { rounds = 5; }\n",
                TEST,
            ),
            false,
        ),
        (
            "an attribute that others see",
            with(
                "static int __attribute__((visibility(\"default\"))) more(int n) { return n; }\n",
                "more(text[i]) >= '0'",
            ),
            false,
        ),
        (
            "a name of another object",
            with(
                "int environ_of_nobody;\nextern int rounds_of_all;\nint puts(const char *s) { return rounds_of_all + *s; }\n",
                TEST,
            ),
            false,
        ),
        (
            "a header that is asked for something",
            SOURCE
                .replacen(
                    "#include <stdio.h>",
                    "#define _GNU_SOURCE 1\n#include <stdio.h>",
                    1,
                )
                .replacen(TEST, "text[i] <= '9'", 1),
            false,
        ),
        (
            "an undeclared function",
            with("", "isdigit((unsigned char)text[i])"),
            false,
        ),
        (
            "its own name",
            with(
                "static int told(void) { return __func__[0] == 't'; }\n",
                "told()",
            ),
            true,
        ),
    ]);
    assert_eq!(
        fates[0],
        Fate::Apart(Apart::OutsideOfFunctions(Outside::Meddles))
    );
    assert_eq!(fates[2], Fate::Apart(Apart::Special));
}

#[test]
#[ignore = "nightly: 2 s; what_others_would_see_is_built_apart goes this way"]
fn a_helper_with_attributes_is_woven() {
    compare(&[
        (
            "in front",
            with(
                "__attribute__((noinline, unused))\nstatic int digit(char c)\n{\n    return c >= '0' && c <= '9';\n}\n\n",
                "digit(text[i])",
            ),
            true,
        ),
        (
            "of a declaration",
            with(
                "static int first(const char *) __attribute__((__nonnull__(1)));\nstatic int first(const char *t) { return *t; }\n",
                "first(text) >= '0'",
            ),
            true,
        ),
    ]);
}

#[test]
#[ignore = "nightly: 3 s; what_others_would_see_is_built_apart goes this way"]
fn a_function_that_names_itself_is_not_woven_under_another_name() {
    let told = |code: &str| {
        with(
            &format!("static int told(void) {{ return {code}; }}\n"),
            "told()",
        )
    };
    compare(&[
        ("one", told("__func__[4] == 0"), false),
        ("other", told("__func__[4] != 0"), false),
        (
            "a third",
            with(
                "static int third(void) { return __func__[5] == 0; }\n",
                "third()",
            ),
            true,
        ),
    ]);
}

#[test]
#[ignore = "nightly: 3 s; what_others_would_see_is_built_apart goes this way"]
fn a_function_with_a_head_for_each_standard_is_checked_without_the_other_head() {
    let head = "#ifdef OLD\nstatic int size(text)\n  const char *text;\n#else\nstatic int size(const char *text)\n#endif\n";
    let new_first = "#ifndef OLD\nstatic int size(const char *text)\n#else\nstatic int size(text)\n  const char *text;\n#endif\n";
    for head in [head, new_first] {
        let source = SOURCE.replacen("static int size(const char *text)\n", head, 1);
        let subject = Subject::new(&source, &[("a1b2", "2 0\n"), ("abc", "0 0\n")]);
        let texts = [
            source.replacen("n = 0;", "n = 0, end = 3;", 1),
            source.replacen("text[n])", "text[n] && n < 3)", 1),
            source.replacen("text[n])", "text[m])", 1),
        ];
        let found = validate(&subject, &texts, Options::default());
        for (fate, text) in found.fates.iter().zip(&texts) {
            assert_eq!(
                matches!(fate, Fate::DoesNotCompile { .. }),
                text.contains("text[m]"),
                "{fate:?}"
            );
        }
    }
}
