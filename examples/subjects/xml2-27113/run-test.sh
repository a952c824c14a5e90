#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# child_* and pattern_*: a pattern and the nodes of pw/document.xml that it matches; the rest are libxml2's own tests.
set -u
export ASAN_OPTIONS=detect_leaks=0

newline='
'

# matches PATTERN [NODE...]
matches() {
  pattern=$1
  shift
  expected=
  for node in "$@"; do
    expected="${expected}Node $node matches pattern $pattern$newline"
  done
  output=$(./xmllint --noout --walker --pattern "$pattern" pw/document.xml 2>&1 && echo .) || return 1
  printf 'found:\n%sexpected:\n%s' "${output%.}" "$expected"
  [ "$output" = "$expected." ]
}

# refuses PATTERN: it is not one of the language
refuses() {
  output=$(./xmllint --noout --walker --pattern "$1" pw/document.xml 2>&1)
  echo "$output"
  [ "$output" = "Pattern $1 failed to compile" ]
}

case $1 in
  child_name) matches child::a /r/a /r/b/a /r/b/a/a /r/b/c/a /r/p:b/a ;;
  child_name_of_root) matches /child::r/child::a /r/a ;;
  child_name_below_name) matches b//child::a /r/b/a /r/b/a/a /r/b/c/a ;;
  child_name_or_name) matches 'child::c|b' /r/b /r/b/c ;;
  child_name_without_match) matches child::x ;;
  child_any) matches 'child::*' /r /r/a /r/b /r/b/a /r/b/a/a /r/b/c /r/b/c/a /r/p:a /r/p:b /r/p:b/a ;;
  child_any_in_namespace) matches 'child::p:*' /r/p:a /r/p:b ;;
  pattern_name) matches a /r/a /r/b/a /r/b/a/a /r/b/c/a /r/p:b/a ;;
  pattern_name_of_root) matches /r/a /r/a ;;
  pattern_wrong_root) matches /a ;;
  pattern_name_in_name) matches b/a /r/b/a ;;
  pattern_name_in_same_name) matches a/a /r/b/a/a ;;
  pattern_name_below_name) matches b//a /r/b/a /r/b/a/a /r/b/c/a ;;
  pattern_name_anywhere) matches .//a /r/a /r/b/a /r/b/a/a /r/b/c/a /r/p:b/a ;;
  pattern_two_names) matches 'a|c' /r/a /r/b/a /r/b/a/a /r/b/c /r/b/c/a /r/p:b/a ;;
  pattern_any_in_name) matches 'r/*' /r/a /r/b /r/p:a /r/p:b ;;
  pattern_name_in_namespace) matches p:a /r/p:a ;;
  pattern_any_in_namespace) matches 'p:*' /r/p:a /r/p:b ;;
  pattern_unknown_namespace) refuses q:a ;;
  pattern_unknown_axis) refuses parent::a ;;
  pattern_axis_without_name) refuses child:: ;;
  pattern_step_without_name) refuses a/ ;;
  testchar | testdict | testrecurse) "./$1" ;;
  runtest_paths)
    folder=$(mktemp -d)
    ./runtest --out "$folder" 'Path URI conversion tests'
    status=$?
    rm -rf "$folder"
    exit $status
    ;;
  *)
    echo "no such test: $1" >&2
    exit 2
    ;;
esac
