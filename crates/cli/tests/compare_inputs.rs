//! What `patchwright compare` looks at where a function takes pointers.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

use crate::common::{Place, stderr, stdout};
use serde_json::Value;

fn compared(old: &str, new: &str, flags: &[&str], status: i32) -> Value {
    Place::with_versions(old, new).compared(flags, status)
}

/// The first difference, which executions confirm.
fn first_difference(report: &Value) -> Value {
    let partitions = report["partitions"].as_array().unwrap();
    let differing = partitions.iter().find(|one| one["kind"] != "equal");
    let first = differing.unwrap_or_else(|| panic!("{report:#}")).clone();
    assert_eq!(first["replay"], "agrees", "{first:#}");
    first
}

#[test]
fn two_pointers_may_lead_into_one_array() {
    let old = "int spaces(const char *first, const char *last)
{
    int count = 0;
    for (; first != last; first++)
        count += *first == ' ';
    return count;
}
";
    let new = old.replace("== ' '", "== '_'");
    let report = compared(old, &new, &["--function", "spaces"], 1);
    let first = first_difference(&report);
    let sample = first["sample"].to_string();
    assert!(sample.contains("first + "), "{sample}");
}

#[test]
#[ignore = "nightly: 2 s; two_pointers_may_lead_to_one_object_unless_the_user_says_otherwise goes this way"]
fn the_first_of_two_pointers_into_one_array_may_lead_behind_the_second() {
    let old = "int order(const int *p, const int *end)
{
    if (p > end)
        return 1;
    return p == end ? 0 : -1;
}
";
    let flags = ["--function", "order", "--length", "p=4"];
    // What lies before a pointer is there, and no more than that.
    let new = old.replace("return 1;", "return p[-1] == 7 ? 2 : 1;");
    let report = compared(old, &new, &flags, 1);
    let partitions = report["partitions"].as_array().unwrap();
    let first = partitions.iter().find(|one| one["kind"] == "different");
    let first = first.unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!(first["replay"], "agrees", "{first:#}");
    let sample = first["sample"].to_string();
    assert!(sample.contains(r#"["p[-1]","7"]"#), "{sample}");
    assert!(sample.contains("p - 1"), "{sample}");
    let two = old.replace("return 1;", "return p[-2] == 7 ? 1 : 1;");
    let report = compared(old, &two, &flags, 1);
    let fails = report["partitions"].as_array().unwrap().iter();
    let fails = fails.filter(|one| one["kind"] == "new-fails");
    assert!(fails.clone().any(|one| one["replay"] == "agrees"));
    let same = old.replace("p > end", "end < p");
    assert_eq!(compared(old, &same, &flags, 0)["verdict"], "equal");
}

#[test]
fn an_array_that_two_pointers_lead_into_is_as_long_for_both() {
    // Only `q` goes on, and it has to begin two elements before `p` to get there.
    let old = "unsigned met(unsigned *p, unsigned *q)
{
    unsigned t = *p;
    *q++ = 1;
    *q++ = 2;
    if (p == q)
        t = 5;
    return t;
}
";
    let new = "unsigned met(unsigned *p, unsigned *q)
{
    unsigned t = *p;
    *q++ = 1;
    if (p == q)
        t = 5;
    *q++ = 2;
    return t;
}
";
    first_difference(&compared(old, new, &["--function", "met"], 1));
}

#[test]
fn which_of_two_objects_lies_before_the_other_is_the_same_in_both_versions_and_unknown() {
    let old = "int first(int *a, int *b) { return a < b; }\n";
    let flags = [
        "--function",
        "first",
        "--may-alias",
        "none",
        "--assume",
        "a && b",
    ];
    let same = old.replace("a < b", "b > a");
    assert_eq!(compared(old, &same, &flags, 0)["verdict"], "equal");
    let other = old.replace("a < b", "a < b + 4");
    assert_eq!(compared(old, &other, &flags, 0)["verdict"], "unknown");
}

#[test]
fn pointers_with_restrict_lead_to_objects_of_their_own() {
    let old = "int last;
int sum(int *restrict a, int *b)
{
    *a += *b + last;
    return *a + *b + last;
}
";
    let new = "int last;
int sum(int *restrict a, int *b)
{
    int other = *b + last;
    *a += other;
    return *a + other;
}
";
    let report = compared(old, new, &["--function", "sum"], 0);
    assert_eq!(report["verdict"], "equal");
    let assumed = report["assumed"].to_string();
    assert!(assumed.contains("leads to no part of"), "{assumed}");
    let report = compared(old, new, &["--function", "sum", "--alias", "a,b"], 1);
    let condition = first_difference(&report)["condition"].to_string();
    assert!(condition.contains("b == a"), "{condition}");
    // Only the new version promises that the caller does not.
    let old = old.replace("restrict ", "");
    compared(&old, new, &["--function", "sum"], 1);
}

#[test]
fn two_pointers_may_lead_to_one_object_unless_the_user_says_otherwise() {
    let old = "unsigned sum(unsigned *a, unsigned *b)
{
    *a = 2;
    return *a + *b;
}
";
    let new = "unsigned sum(unsigned *a, unsigned *b)
{
    unsigned other = *b;
    *a = 2;
    return 2 + other;
}
";
    let flags = ["--function", "sum"];
    let report = compared(old, new, &flags, 1);
    let condition = first_difference(&report)["condition"].to_string();
    assert!(condition.contains("b == a"), "{condition}");
    let report = compared(old, new, &["--function", "sum", "--may-alias", "none"], 0);
    assert_eq!(report["verdict"], "equal");
    let assumed = report["assumed"].to_string();
    assert!(assumed.contains("--alias a,b"), "{assumed}");
    let text = Place::with_versions(old, new).run([
        "compare",
        "project/old.c",
        "project/new.c",
        "--function",
        "sum",
        "--may-alias",
        "none",
    ]);
    let text = stdout(&text);
    assert!(
        text.contains("Equal for all inputs of these shapes"),
        "{text}"
    );
    assert!(text.contains("Inputs: `a` leads to 1 object"), "{text}");
    assert!(
        text.contains("Assumed: `a` and `b` point to different objects"),
        "{text}"
    );
    let both = ["--function", "sum", "--may-alias", "none", "--alias", "a,b"];
    compared(old, new, &both, 1);
}

#[test]
fn a_pointer_may_lead_to_a_global() {
    let old = "unsigned total;
unsigned add(unsigned *to)
{
    total = 1;
    *to = 5;
    return total;
}
";
    let new = old.replace("return total;", "return 1;");
    let report = compared(old, &new, &["--function", "add"], 1);
    let condition = first_difference(&report)["condition"].to_string();
    assert!(condition.contains("to == &total"), "{condition}");
}

#[test]
fn a_pointer_to_void_leads_to_bytes() {
    let old = "int last(void *data, unsigned size)
{
    unsigned char *bytes = data;
    return size ? bytes[size - 1] : -1;
}
";
    let new = old.replace("size - 1]", "size - 1] & 127");
    let report = compared(old, &new, &["--function", "last"], 1);
    first_difference(&report);
    let inputs = report["inputs"].to_string();
    assert!(inputs.contains("8 bytes"), "{inputs}");
}

#[test]
#[ignore = "nightly: 2 s; two_pointers_may_lead_to_one_object_unless_the_user_says_otherwise goes this way"]
fn calls_of_functions_that_arguments_lead_to_are_seen_with_their_arguments_in_order() {
    let old = "void each(void (*visit)(int, int), int n)
{
    visit(n, 1);
    visit(2, n);
}
";
    let swapped = "void each(void (*visit)(int, int), int n)
{
    visit(2, n);
    visit(n, 1);
}
";
    let flags = ["--function", "each"];
    let report = compared(old, swapped, &flags, 1);
    first_difference(&report);
    let same = old.replace("visit(2, n)", "visit(1 + 1, n)");
    assert_eq!(compared(old, &same, &flags, 0)["verdict"], "equal");
    let value = "unsigned twice(unsigned (*next)(void)) { return next() + 2 * next(); }\n";
    let other = "unsigned twice(unsigned (*next)(void)) { return 2 * next() + next(); }\n";
    let report = compared(value, other, &["--function", "twice"], 1);
    let sample = first_difference(&report)["sample"].to_string();
    assert!(sample.contains("next_gives_1"), "{sample}");
}

#[test]
fn a_cursor_leads_to_a_text() {
    let old = "int sign(const char **at)
{
    if (**at == '-') {
        ++*at;
        return -1;
    }
    return 1;
}
";
    let new = old.replace(
        "    return 1;",
        "    if ((*at)[0] == '+' && (*at)[1] == '1')\n        return 2;\n    return 1;",
    );
    let report = compared(old, &new, &["--function", "sign"], 1);
    let sample = first_difference(&report)["sample"].to_string();
    assert!(sample.contains("(*at)[1]"), "{sample}");
}

#[test]
fn structures_may_lead_back_and_several_to_one() {
    let old = "struct item { struct item *next, *owner; int weight; };
int owned(struct item *item)
{
    if (!item || !item->next || item->next->owner != item)
        return 0;
    return item->next->weight;
}
";
    let new = old.replace("item->next->weight", "item->weight");
    let report = compared(old, &new, &["--function", "owned"], 1);
    let condition = first_difference(&report)["condition"].to_string();
    assert!(
        condition.contains("item->next->owner == item"),
        "{condition}"
    );
}

#[test]
fn unions_and_arrays_at_the_end_of_structures_get_values() {
    let old = "union number { int whole; float part; };
int whole(union number of) { return of.whole & 1; }
";
    let new = old.replace("& 1", "& 3");
    first_difference(&compared(old, &new, &["--function", "whole"], 1));
    let old = "struct text { unsigned length; char bytes[]; };
int last(struct text *text) { return text->length ? text->bytes[text->length - 1] : 0; }
";
    let new = old.replace("text->length - 1", "text->length - 1 - (text->length > 2)");
    let report = compared(
        old,
        &new,
        &["--function", "last", "--length", "text->bytes=3"],
        1,
    );
    first_difference(&report);
}

#[test]
fn bytes_between_members_are_no_difference() {
    let old = "struct entry { char kind; long value; };
struct entry make(long value)
{
    struct entry made;
    made.kind = 1;
    made.value = value;
    return made;
}
";
    let new = "struct entry { char kind; long value; };
struct entry make(long value)
{
    struct entry made = {1, value};
    return made;
}
";
    assert_eq!(
        compared(old, new, &["--function", "make"], 0)["verdict"],
        "equal"
    );
}

#[test]
fn any_nan_is_the_same_as_any_other() {
    let old = "double turned(double x) { return x != x ? x : -x; }\n";
    let new = "double turned(double x) { return -x; }\n";
    assert_eq!(
        compared(old, new, &["--function", "turned"], 0)["verdict"],
        "equal"
    );
}

#[test]
#[ignore = "nightly: 2 s; two_pointers_may_lead_to_one_object_unless_the_user_says_otherwise goes this way"]
fn versions_that_fail_for_every_input_are_not_equal() {
    let old = "int at(int *table, int index) { return table[index + 100]; }\n";
    let new = "int at(int *table, int index) { return table[index + 101]; }\n";
    let flags = ["--function", "at", "--assume", "index >= 0 && index < 9"];
    let report = compared(old, new, &flags, 0);
    assert_eq!(report["verdict"], "unknown");
    assert_eq!(report["none_ends"], true);
    assert!(!report["reasons"].as_array().unwrap().is_empty());
    let place = Place::with_versions(old, new);
    let mut words = vec!["compare", "project/old.c", "project/new.c"];
    words.extend(flags);
    let text = stdout(&place.run(words));
    assert!(
        text.contains("both versions fail for every input that was looked at"),
        "{text}"
    );
    assert!(!text.contains("Equal for all inputs"), "{text}");
}

#[test]
fn flags_that_name_no_pointer_are_errors() {
    let place = Place::with_versions(
        "int f(int x, int *p) { return x + *p; }\n",
        "int f(int x, int *p) { return *p + x; }\n",
    );
    for flags in [
        ["--length", "q=4"],
        ["--length", "x=4"],
        ["--length", "*p=4"],
        ["--alias", "p,q"],
        ["--null", "x"],
        ["--text", "p"],
        ["--length", "p=0"],
        ["--alias", "p"],
    ] {
        let mut words = vec![
            "compare",
            "project/old.c",
            "project/new.c",
            "--function",
            "f",
        ];
        words.extend(flags);
        let output = place.run(&words);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{flags:?}: {}",
            stdout(&output)
        );
        let said = stderr(&output);
        assert!(said.contains(flags[0]), "{said}");
    }
}

#[test]
fn behind_the_end_of_an_argument_there_is_nothing() {
    let old = "int main(int argc, char **argv) { return argc > 1 && argv[1][0] == 'x'; }\n";
    let new = "int main(int argc, char **argv) { return argc > 1 && argv[1][0] == 'x' && argv[1][2] != 'y'; }\n";
    let report = compared(old, new, &["--arguments", "1", "--no-native"], 1);
    assert_eq!(report["partitions"][0]["kind"], "new-fails");
    assert_eq!(report["partitions"][0]["replay"], "agrees");
}

#[test]
fn bytes_of_samples_can_be_had_back() {
    let old = "#include <stdio.h>\nint main(void) { return getchar() == 0xe9; }\n";
    let new = old.replace("== 0xe9", "== 0xe9 ? 2 : 0");
    let report = compared(old, &new, &["--no-native"], 1);
    let sample = &report["partitions"][0]["sample"];
    assert_eq!(sample[0][1], "\"\\xe9\"", "{sample}");
}

#[test]
#[ignore = "nightly: 2 s; two_pointers_may_lead_to_one_object_unless_the_user_says_otherwise goes this way"]
fn functions_of_headers_are_compared_and_so_is_each_function_of_files_without_main() {
    let place = Place::with_versions("#include \"old.h\"\n", "#include \"new.h\"\n");
    place.write("old.h", "static inline int half(int x) { return x / 2; }\n");
    place.write(
        "new.h",
        "static inline int half(int x) { return x >> 1; }\n",
    );
    let report = place.compared(&["--function", "half"], 1);
    first_difference(&report);
    let headers = place.run(["compare", "project/old.h", "project/new.h", "--json"]);
    assert_eq!(headers.status.code(), Some(1), "{}", stderr(&headers));
    let old = "int one(int x) { return x + 1; }\nint two(int x) { return x - 2; }\nint same(int x) { return x; }\n";
    let place = Place::with_versions(old, &old.replace("- 2", "- 3"));
    let text = stdout(&place.run(["compare", "project/old.c", "project/new.c"]));
    assert!(text.contains("`two` differs"), "{text}");
    assert!(!text.contains("`one`"), "{text}");
}

#[test]
fn an_assumption_holds_for_both_versions() {
    let old = "int half(int n) { return n / 2; }\n";
    let new = "int half(int m) { return m >> 1; }\n";
    compared(old, new, &["--function", "half"], 1);
    let report = compared(old, new, &["--function", "half", "--assume", "n >= 0"], 0);
    assert_eq!(report["verdict"], "equal");
}
