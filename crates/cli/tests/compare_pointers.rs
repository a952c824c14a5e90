//! `patchwright compare` on functions that go through memory by pointers.
#![allow(
    clippy::disallowed_methods,
    reason = "these tests are a user of the program: they write sources and start it"
)]

use crate::common::Place;
use serde_json::Value;

fn compared(old: &str, new: &str, flags: &[&str], status: i32) -> Value {
    Place::with_versions(old, new).compared(flags, status)
}

#[test]
fn how_far_a_pointer_may_be_moved_is_the_same_in_terms_and_in_executions() {
    let old = "int same(const char *a, const char *b, unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        if (a[i] != b[i] || !a[i])
            return a[i] == b[i];
    return 1;
}
";
    let new = "int same(const char *a, const char *b, unsigned long n)
{
    const char *end = a + n;
    while (a != end) {
        if (*a != *b || !*a)
            return *a == *b;
        a++, b++;
    }
    return 1;
}
";
    let flags = ["--function", "same", "--length", "a=3", "--length", "b=3"];
    let report = compared(old, new, &flags, 1);
    let partitions = report["partitions"].as_array().unwrap();
    assert_eq!(partitions[0]["kind"], "new-fails");
    for one in partitions {
        assert_eq!(one["replay"], "agrees", "{one:#}");
    }
}

#[test]
fn a_result_that_leads_behind_an_argument_is_compared_by_its_place() {
    let old = "const char *word(const char *s)
{
    while (*s == ' ')
        s++;
    return s;
}
";
    let same = "const char *word(const char *text)
{
    int at = 0;
    while (text[at] == ' ')
        at = at + 1;
    return &text[at];
}
";
    let flags = ["--function", "word", "--length", "s=4"];
    assert_eq!(compared(old, same, &flags, 0)["verdict"], "equal");
    // It skips tabulators, too.
    let new = old.replace("== ' '", "== ' ' || *s == '\\t'");
    let report = compared(old, &new, &flags, 1);
    let partitions = report["partitions"].as_array().unwrap();
    let mut differing = partitions.iter().filter(|one| one["kind"] == "different");
    let first = differing.next().unwrap();
    assert_eq!(first["replay"], "agrees", "{first:#}");
    let said = |side: &str| first[side]["observed"]["left"][0][1].clone();
    assert_eq!(said("old"), "s", "{first:#}");
    assert!(
        said("new").as_str().unwrap().starts_with("&s["),
        "{first:#}"
    );
    let formula = first["new"]["formulas"].to_string();
    assert!(formula.contains("returns &s["), "{formula}");
}

#[test]
fn elements_of_arrays_that_are_found_are_told_apart_by_their_numbers() {
    let old = "int *find(int *table, int key)
{
    for (int i = 0; i < 4; i++)
        if (table[i] == key)
            return &table[i];
    return 0;
}
";
    let new = "int *find(int *table, int key)
{
    for (int *at = table + 3; at >= table; at--)
        if (*at == key)
            return at;
    return 0;
}
";
    let flags = ["--function", "find", "--length", "table=4"];
    let report = compared(old, new, &flags, 1);
    let partitions = report["partitions"].as_array().unwrap();
    let differing = partitions.iter().filter(|one| one["kind"] == "different");
    let mut count = 0;
    for one in differing {
        count += 1;
        assert_eq!(one["replay"], "agrees", "{one:#}");
    }
    // The first and the last of several: one pair of places for each.
    assert!(count >= 3, "{partitions:#?}");
}

#[test]
#[ignore = "nightly: 2 s; lists_that_are_linked_anew_are_compared_by_where_their_pointers_lead goes this way"]
fn literals_that_are_returned_are_compared_by_their_text() {
    let old = "const char *sign(int n)
{
    if (n < 0)
        return \"minus\";
    return n ? \"plus\" : \"zero\";
}
";
    let same = "static const char *const NAMES[] = {\"minus\", \"zero\", \"plus\"};
const char *sign(int n)
{
    return NAMES[(n > 0) - (n < 0) + 1];
}
";
    let flags = ["--function", "sign"];
    assert_eq!(compared(old, same, &flags, 0)["verdict"], "equal");
    let new = old.replace("\"zero\"", "\"nil\"");
    let report = compared(old, &new, &flags, 1);
    let differing = &report["partitions"][0];
    let formulas = [&differing["old"]["formulas"], &differing["new"]["formulas"]];
    assert_eq!(
        formulas.map(|one| one[0].clone()),
        ["returns \"zero\"", "returns \"nil\""]
    );
}

#[test]
#[ignore = "nightly: 2 s; lists_that_are_linked_anew_are_compared_by_where_their_pointers_lead goes this way"]
fn memory_without_a_name_is_compared_for_being_null_only_and_that_is_said() {
    let old = "#include <stdlib.h>
char *room(int n)
{
    if (n <= 0 || n > 8)
        return 0;
    return malloc(n);
}
";
    let flags = ["--function", "room"];
    let new = old.replace("n > 8", "n > 7");
    let report = compared(old, &new, &flags, 1);
    assert_eq!(report["partitions"][0]["kind"], "different");
    let same = old.replace("malloc(n)", "calloc(n, 1)");
    let report = compared(old, &same, &flags, 0);
    assert_eq!(report["verdict"], "unknown");
    assert!(
        report["reasons"].to_string().contains("no name"),
        "{report:#}"
    );
}

const LIST: &str = "struct node { int key; struct node *next; };\n";

#[test]
fn lists_that_are_linked_anew_are_compared_by_where_their_pointers_lead() {
    let old = "struct node *reverse(struct node *list)
{
    struct node *done = 0;
    while (list) {
        struct node *rest = list->next;
        list->next = done;
        done = list;
        list = rest;
    }
    return done;
}
";
    let same = "struct node *reverse(struct node *list)
{
    if (!list || !list->next)
        return list;
    struct node *first = reverse(list->next);
    list->next->next = list;
    list->next = 0;
    return first;
}
";
    let flags = ["--function", "reverse"];
    let (old, same) = (format!("{LIST}{old}"), format!("{LIST}{same}"));
    let report = compared(&old, &same, &flags, 0);
    assert_eq!(report["verdict"], "equal");
    let assumed = report["assumed"].to_string();
    assert!(assumed.contains("followed 3 deep"), "{assumed}");
    // The last one still leads to the one before.
    let new = same.replace("    list->next = 0;\n", "");
    let report = compared(&old, &new, &flags, 1);
    let first = &report["partitions"][0];
    assert_eq!(first["differs"][0], "what `*list` holds", "{first:#}");
    let formulas = first["new"]["formulas"].to_string();
    assert!(formulas.contains("list->next"), "{formulas}");
}

#[test]
fn pointers_to_pointers_are_named_as_c_has_them_and_executed() {
    let old = format!(
        "{LIST}int take(struct node **list, int key)
{{
    for (; *list; list = &(*list)->next)
        if ((*list)->key == key) {{
            *list = (*list)->next;
            return 1;
        }}
    return 0;
}}
"
    );
    let new = old.replace("== key", ">= key");
    let flags = ["--function", "take", "--equal", "1"];
    let report = compared(&old, &new, &flags, 1);
    let partitions = report["partitions"].as_array().unwrap();
    let of_result = partitions
        .iter()
        .find(|one| one["differs"].to_string().contains("the result"))
        .unwrap();
    assert_eq!(of_result["replay"], "agrees", "{of_result:#}");
    let sample = of_result["sample"].to_string();
    assert!(sample.contains("(*list)->key"), "{sample}");
}

#[test]
fn globals_that_are_pointers_are_compared_by_where_they_lead() {
    let old = format!(
        "{LIST}struct node *head;
void push(struct node *one)
{{
    one->next = head;
    head = one;
}}
"
    );
    let same = old.replace(
        "    one->next = head;\n    head = one;\n",
        "    struct node *second = head;\n    head = one;\n    head->next = second;\n",
    );
    let flags = ["--function", "push"];
    let report = compared(&old, &same, &flags, 0);
    assert_eq!(report["verdict"], "equal", "{report:#}");
    assert!(report["assumed"].to_string().contains("--havoc"));
    let new = old.replace("    head = one;\n", "    head = one->next;\n");
    let report = compared(&old, &new, &flags, 1);
    let first = &report["partitions"][0];
    assert_eq!(first["differs"][0], "what `head` holds", "{first:#}");
}

#[test]
fn what_a_static_variable_points_to_is_no_number_of_an_object() {
    let old = "static int first, second;
int next(void)
{
    static int *at = &first;
    at = at == &first ? &second : &first;
    return *at;
}
";
    // Another object comes before: the numbers of all others are new.
    let same = format!("static int unused = 3;\nint other(void) {{ return unused++; }}\n{old}");
    let report = compared(old, &same, &["--function", "next"], 0);
    assert_eq!(report["verdict"], "equal", "{report:#}");
}

#[test]
fn functions_that_are_returned_are_compared_by_their_names() {
    let old = "static int twice(int x) { return x + x; }
static int same(int x) { return x; }
int (*choose(int n))(int) { return n > 0 ? twice : same; }
";
    let flags = ["--function", "choose"];
    let other = old.replace("n > 0 ? twice : same", "n <= 0 ? same : twice");
    assert_eq!(compared(old, &other, &flags, 0)["verdict"], "equal");
    let new = old.replace("n > 0", "n >= 0");
    let report = compared(old, &new, &flags, 1);
    let formulas = report["partitions"][0]["new"]["formulas"].to_string();
    assert!(formulas.contains("returns twice"), "{formulas}");
}

#[test]
#[ignore = "nightly: 3 s; lists_that_are_linked_anew_are_compared_by_where_their_pointers_lead goes this way"]
fn what_a_global_of_any_value_leads_to_is_not_known_when_it_is_freed() {
    let old = "#include <stdlib.h>
static char *kept;
int f(int n)
{
    if (n > 3) {
        free(kept);
        kept = NULL;
    }
    return n;
}
";
    let new = old.replace("n > 3", "n >= 3");
    let flags = ["--function", "f", "--havoc"];
    let report = compared(old, &new, &flags, 0);
    assert_eq!(report["verdict"], "unfinished", "{report:#}");
}
