//! What candidates cost, and which of them come first.

use crate::candidates::{candidates, candidates_of, cost, is_assignment, is_expression, least};

#[test]
fn one_more_is_a_constant_before_it_is_a_variable_and_bits_come_last() {
    let source = "int f(int n, int size, int last) { size = last; return n; }";
    let found = candidates(source, "last", is_expression);
    let place = |text: &str| found.iter().position(|(_, put)| put == text).unwrap();
    let in_order = [
        "last + 1",
        "last + n",
        "last - 1",
        "last - n",
        "last * n",
        "last / n",
        "last % n",
        "last << n",
        "last & 1",
        "last & n",
    ];
    let places = in_order.map(place);
    assert!(places.is_sorted(), "{places:?}");
    // Operators that the function does not use cost one more.
    let costs = places.map(|place| found[place].0);
    assert_eq!(costs, [2, 2, 2, 2, 3, 3, 3, 3, 3, 3]);
    let source = source.replace("return n", "return n % 8");
    let found = candidates(&source, "last", is_expression);
    assert_eq!(cost(&found, "last * n"), Some(2));
    assert_eq!(cost(&found, "last & n"), Some(3));
}

#[test]
fn what_only_other_functions_mention_costs_one_more() {
    let other = "static int seen, kept; static int rest(void) { return kept > 640; }";
    let source = format!("{other} int g(int a) {{ if (a > 9) return rest(); return 3; }}");
    let found = candidates_of("g", &source, "a > 9", is_expression);
    // A global of a function that is called, a constant that it has, and one that programs are full of.
    assert_eq!(cost(&found, "a > 8"), Some(1));
    assert_eq!(cost(&found, "kept > 9"), Some(2));
    assert_eq!(cost(&found, "a > 640"), Some(2));
    assert_eq!(cost(&found, "a > 64"), Some(2));
    assert_eq!(cost(&found, "a > 9 || kept"), Some(3));
    assert_eq!(cost(&found, "a > 9 && a != 640"), Some(5));
    assert!(found.iter().all(|(_, put)| !put.contains("seen")));
}

#[test]
fn one_more_of_several_comparisons_with_constants_costs_little() {
    let source = "int f(int c, int d) { return c == 'a' || c == 'e' || d == 'x'; }";
    let text = "c == 'a' || c == 'e' || d == 'x'";
    let found = candidates(source, text, is_expression);
    let least = |added: &str| {
        let all = found.iter().filter(|(_, put)| put.ends_with(added));
        all.map(|(cost, _)| *cost).min()
    };
    assert_eq!(least("d == 'x' || c == 'x'"), Some(2));
    assert_eq!(least("d == 'x' || d == 'a'"), Some(4));
    // A character is no small number.
    assert_eq!(least("d == 1"), Some(3));
}

#[test]
fn what_a_variable_is_given_elsewhere_costs_less_to_assign() {
    let source = "int f(int n) { int best = 0, other = 7; while (n) { if (n > best) best = n; n--; other--; } return best; }";
    let found = candidates(source, "n--;", is_assignment);
    assert_eq!(cost(&found, "best = 0; n--;"), Some(2));
    assert_eq!(cost(&found, "best = n; n--;"), Some(2));
    assert_eq!(cost(&found, "other = 7; n--;"), Some(2));
    assert_eq!(cost(&found, "other = 0; n--;"), Some(3));
    assert_eq!(cost(&found, "best = other; n--;"), Some(3));
}

#[test]
fn a_sign_is_turned_and_a_string_ended() {
    let source = "int f(int a) { int sign = 1; a++; return a * sign; }";
    let placed = candidates(source, "a++;", is_assignment);
    assert_eq!(least(&placed, "sign = -sign; a++;"), Some(3));
    assert_eq!(least(&placed, "a = -a; a++;"), None);
    let source = "void f(char *to, int n) { for (int i = 0; i < n; i++) to[i] = 'a'; n++; }";
    let placed = candidates(source, "n++;", is_assignment);
    assert_eq!(least(&placed, "to[n] = 0; n++;"), Some(2));
    assert_eq!(least(&placed, "to[n] = 1; n++;"), None);
}

#[test]
fn a_constant_becomes_a_floating_number_where_the_whole_is_one() {
    let source = "double f(double a) { return 5 / 9 * (a - 32); }";
    let found = candidates(source, "5 / 9 * (a - 32)", is_expression);
    assert_eq!(least(&found, "5.0 / 9 * (a - 32)"), Some(1));
    let whole = candidates(
        "int f(int a) { return 5 / 9 * a; }",
        "5 / 9 * a",
        is_expression,
    );
    assert!(!whole.iter().any(|(_, text)| text.contains('.')));
}

#[test]
fn digits_and_per_cent_are_taken_and_made_even_if_the_function_has_no_such_number() {
    let source = "int f(int n, int digit) { return n * 3 + digit; }";
    let found = candidates(source, "n * 3 + digit", is_expression);
    assert_eq!(least(&found, "n * 3 * 10 + digit"), Some(3));
    assert_eq!(least(&found, "(n * 3 + digit) / 100"), Some(3));
}

#[test]
fn calculating_with_truth_values_costs_more() {
    let source =
        "double f(double max, double x) { double best = 0; if (x > max) best = x; return best; }";
    let found = candidates(source, "x > max", is_expression);
    assert_eq!(least(&found, "(x > max) - max"), Some(4));
    assert_eq!(least(&found, "x > max - best"), Some(2));
}

#[test]
fn the_operands_of_a_difference_change_places_at_the_cost_of_one() {
    let source = "struct e { int n; }; int f(struct e *x, struct e *y) { return x->n - y->n; }";
    let found = candidates(source, "x->n - y->n", is_expression);
    assert_eq!(cost(&found, "y->n - x->n"), Some(1));
    // What would be zero whatever the values are is left out.
    for said_already in ["y->n - y->n", "x->n - x->n"] {
        assert_eq!(cost(&found, said_already), None, "{said_already}");
    }
}

#[test]
fn what_comes_before_a_sign_in_the_order_of_characters_costs_more() {
    let source = "int f(int c) { if (c == ';') return 1; if (c == '0') return 2; return 0; }";
    let of_sign = candidates(source, "c == ';'", is_expression);
    assert_eq!(cost(&of_sign, "c <= ';'"), Some(3));
    assert_eq!(cost(&of_sign, "c != ';'"), Some(1));
    let of_digit = candidates(source, "c == '0'", is_expression);
    assert_eq!(cost(&of_digit, "c >= '0'"), Some(1));
}

#[test]
fn numbers_and_sizes_in_place_of_variables_cost_more() {
    let source = "int g(int); int f(int n, int most) { int a[9]; a[0] = n; \
                  if (n > most) return 7; return g(most) + a[n] + (n - most); }";
    let compared = candidates(source, "n > most", is_expression);
    assert_eq!(cost(&compared, "n > 0"), Some(2));
    assert_eq!(cost(&compared, "n > 7"), Some(2));
    assert_eq!(cost(&compared, "n > sizeof(a)"), Some(2));
    let given = candidates(source, "most", is_expression);
    assert_eq!(cost(&given, "n"), Some(1));
    assert_eq!(cost(&given, "0"), Some(2));
}

#[test]
fn something_else_of_the_same_two_is_compared_at_less_cost() {
    let source = "int f(int *a, int *best, int i, int j) { \
                  if (a[j] < a[i]) best[i] = best[j] + 1; return i < j; }";
    let found = candidates(source, "a[j] < a[i]", is_expression);
    let costs = |text: &str| {
        let is_it = found.iter().filter(move |(_, put)| put == text);
        is_it.map(|(cost, _)| *cost).min()
    };
    assert_eq!(costs("a[j] < a[i] && best[j] >= best[i]"), Some(2));
}

#[test]
fn sums_of_characters_cost_more_where_there_are_none() {
    let source = "int g(int); int f(const char *s, int n) { g(s[n]); return n; }";
    let sum = |source: &str| cost(&candidates(source, "s[n]", is_expression), "s[n] - 1");
    assert_eq!(sum(source), Some(3));
    assert_eq!(sum(&source.replace("return n", "return n - 'a'")), Some(2));
}

#[test]
fn something_else_of_two_things_is_one_change() {
    let source = "struct e { int begin, end; }; int f(struct e *x, struct e *y) { \
                  return x->begin - y->begin; }";
    let found = candidates(source, "x->begin - y->begin", is_expression);
    let costs: Vec<u32> = found
        .iter()
        .filter(|(_, put)| put == "x->end - y->end")
        .map(|(cost, _)| *cost)
        .collect();
    assert_eq!(costs.first(), Some(&2));
}

#[test]
fn what_is_a_number_becomes_no_truth_value_at_the_cost_of_one() {
    let source = "int f(int a, int b) { if (a < b) return a - b; return 0; }";
    let calculated = candidates(source, "a - b", is_expression);
    assert_eq!(cost(&calculated, "a > b"), Some(3));
    let compared = candidates(source, "a < b", is_expression);
    assert_eq!(cost(&compared, "a > b"), Some(1));
}

#[test]
fn an_operand_of_a_chain_is_taken_out_and_not_made_the_same_as_another() {
    let source = "int f(int c, int d) { return c == 7 || c == 9 || c == d; }";
    let found = candidates(source, "c == 7 || c == 9 || c == d", is_expression);
    let least = |text: &str| {
        found
            .iter()
            .filter(|one| one.1 == text)
            .map(|one| one.0)
            .min()
    };
    assert_eq!(least("c == 7 || c == 9"), Some(2));
    assert_eq!(least("c == 9 || c == d"), Some(2));
    for text in [
        "c == 7 || c == 7 || c == d",
        "c == 7 || c == 9 || c == 9",
        "c == 9 || c == 9 || c == d",
        "c == d || c == 9 || c == d",
    ] {
        assert_eq!(least(text), None, "{text}");
    }
    assert_eq!(least("c == 7 || c == 8 || c == d"), Some(1));
}

#[test]
fn beside_a_character_is_a_character_and_numbers_are_none() {
    let source = "int f(int c, int n) { return c == 'H' || c == 'y' + n; }";
    let found = candidates(source, "c == 'H' || c == 'y' + n", is_expression);
    assert_eq!(cost(&found, "c == 'G' || c == 'y' + n"), Some(1));
    assert_eq!(cost(&found, "c == 'H' || c == 'z' + n"), Some(1));
    assert_eq!(cost(&found, "c == 'z' || c == 'y' + n"), None);
    assert_eq!(cost(&found, "c == 73 || c == 'y' + n"), None);
    let negated = found
        .iter()
        .filter(|one| one.1 == "-c == 'H' || c == 'y' + n");
    assert_eq!(negated.map(|one| one.0).min(), Some(3));
    assert!(
        found
            .iter()
            .all(|(cost, text)| *cost > 2 || !text.starts_with("c == 1 "))
    );
}

#[test]
fn digits_at_both_ends_of_a_range_become_characters() {
    let source = "int f(int c) { if (c == 'x') return 1; return c >= 0 && c <= 9; }";
    let found = candidates_of("f", source, "c >= 0 && c <= 9", is_expression);
    assert_eq!(cost(&found, "c >= '0' && c <= '9'"), Some(2));
    let without = "int f(int c) { return c >= 0 && c <= 9; }";
    let found = candidates_of("f", without, "c >= 0 && c <= 9", is_expression);
    assert_eq!(cost(&found, "c >= '0' && c <= '9'"), None);
}

#[test]
fn what_counts_bytes_is_rarely_compared_with_a_character() {
    let source = "int f(unsigned long n, char *s, int c) { return s[n] == c; }";
    let found = candidates(source, "s[n] == c", is_expression);
    let costs = |text: &str| -> Vec<u32> {
        let found = found.iter().filter(|one| one.1.contains(text));
        found.map(|one| one.0).collect()
    };
    let (usual, mixed) = (
        costs("*s < c").into_iter().min(),
        costs("*s < n").into_iter().min(),
    );
    assert!(
        usual.is_some() && mixed > usual,
        "{usual:?} {mixed:?} {found:?}"
    );
}

#[test]
fn the_pair_that_is_missing_among_things_that_are_compared_is_likely() {
    let source = "int f(int a, int b, int c, int d) { return a == b || b == c || d > 1; }";
    let found = candidates(source, "a == b || b == c || d > 1", is_expression);
    let least = |text: &str| {
        found
            .iter()
            .filter(|one| one.1 == text)
            .map(|one| one.0)
            .min()
    };
    assert_eq!(least("a == b || b == c || d > 1 || a == c"), Some(2));
    assert!(least("a == b || b == c || d > 1 || a == d") > Some(2));
}
