#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# Each test formats a piece of C and compares the checksum of the result with that of the repaired program.
set -u
export ASAN_OPTIONS=detect_leaks=0 LC_ALL=C

# formats TEXT SUM [OPTION...]
formats() {
  text=$1
  sum=$2
  shift 2
  output=$(printf '%s\n' "$text" | ./src/indent -npro -st "$@" 2>/dev/null && echo .) || return 1
  found=$(printf '%s' "${output%.}" | cksum)
  echo "sum and length: $found, should be $sum"
  [ "$found" = "$sum" ]
}

case $1 in
  comment_before_parameters) formats 'int f /* comment */ (int a) { return a; }' '1259052154 44' ;;
  comment_before_bracket) formats 'int table /* comment */ [3];' '3049496929 29' ;;
  comment_in_return) formats 'int g(int a) { return /* c */ (a); }' '2608426511 41' -kr ;;
  comment_before_subscript) formats 'int h(int a, int b) { x = a /* c */ [b] + call_with_a_long_name(a, b, other_call_with(a, a[b], b)); }' '2958542340 134' -l40 ;;
  comment_before_call) formats 'int h(int a, int b) { x = long_name_of_a_function /* c */ (a, b) + call_with_a_long_name(a, b); }' '1302797464 110' -l40 -nlp ;;
  comment_in_assignment) formats 'int g(int a) { a = /* c */ (a + 1) * 2; return a; }' '3644681233 57' -nlp ;;
  comment_in_call) formats 'int h(int a, int b) { x = long_name_of_a_function(a /* c */ [b], b) + call_with_a_long_name(a, b); }' '2397881206 123' -l40 ;;
  comment_in_nested_call) formats 'int h(int a) { first_long_name(second_long_name(/* c */ (a), third_long_name(a /* d */ [1]))); }' '549559292 117' -l40 ;;
  comment_in_condition) formats 'int h(int a) { if (a && /* c */ (a > 1 || another_long_name(a)) && yet_another_long_name(a)) return 1; return 0; }' '3001502037 146' -l40 ;;
  comment_after_bracket) formats 'int h(int a) { return ( /* c */ a + a_rather_long_name_of_a_function(a, a, a)); }' '3412836239 92' -l40 ;;
  long_call) formats 'int h(int a, int b) { call_with_a_long_name(a, b, other_call_with_a_long_name(a, a[b], b), third_call_here(a, b)); }' '3754599341 139' -l40 ;;
  long_call_not_lined_up) formats 'int h(int a, int b) { call_with_a_long_name(a, b, other_call_with_a_long_name(a, a[b], b), third_call_here(a, b)); }' '1796045266 133' -l40 -nlp ;;
  long_call_indented) formats 'int h(int a, int b) { call_with_a_long_name(a, b, other_call_with_a_long_name(a, a[b], b), third_call_here(a, b)); }' '3739782544 136' -l40 -nlp -pi3 -ci5 ;;
  long_declaration) formats 'int a_function_with_a_long_name(int first_parameter, int second_parameter, int third_parameter);' '3482645181 123' -l50 ;;
  long_sum) formats 'int h(void) { total_of_all = first_long_name + second_long_name + third_long_name[index_of_it] + fourth; }' '85580769 122' -l40 ;;
  initializer) formats 'int values[] = { 1, 2, 3, function_of_two(first_value, second_value), 5 };' '1667945137 79' -l30 ;;
  loop) formats 'int h(int n) { for (index_of_loop = 0; index_of_loop < number_of_values; index_of_loop++) n += values[index_of_loop]; return n; }' '2123794988 143' -l45 -kr ;;
  *)
    echo "no such test: $1" >&2
    exit 2
    ;;
esac
