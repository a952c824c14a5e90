#!/bin/bash
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# yyeof_*: what bison says of a grammar; testsuite_N: group N of the project's test suite.
set -u
export LC_ALL=C
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# says EXPECTED GRAMMAR: the first line on standard error, '' if bison accepts the grammar
says() {
  cd "$folder" || exit 2
  printf '%b' "$2" >input.y
  output=$("$root/tests/bison" -Wnone -fno-caret input.y 2>&1 && echo accepted)
  printf '%s\n' "$output" "expected: $1"
  [ "$(head -n 1 <<<"$output")" = "$1" ]
}

case $1 in
  yyeof_rule) says 'input.y:3.1-5: error: rule given for YYEOF, which is a token' "%%\nstart: YYEOF;\nYYEOF: 'x';\n" ;;
  yyeof_empty_rule) says 'input.y:3.1-5: error: rule given for YYEOF, which is a token' "%%\nstart: YYEOF;\nYYEOF: %empty;\n" ;;
  yyeof_rule_with_other_end) says accepted "%token MYEOF 0\n%%\nstart: YYEOF;\nYYEOF: 'x';\n" ;;
  yyeof_as_token) says accepted "%%\nstart: 'x' YYEOF;\n" ;;
  testsuite_*)
    mkdir "$folder/tests" && cd "$folder/tests" && ln -s "$root/tests"/* . || exit 2
    bash ./testsuite "${1#testsuite_}"
    status=$?
    cat testsuite.dir/*/testsuite.log 2>/dev/null
    exit $status
    ;;
  *)
    echo "no such test: $1" >&2
    exit 2
    ;;
esac
