#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# lookup_*: a JSON pointer and what it finds; every other name is a test program of cJSON's own.
set -u

# finds POINTER WHAT
finds() {
  found=$(./pw/lookup "$1") || exit 1
  echo "$1 finds $found, should find $2"
  [ "$found" = "$2" ]
}

case $1 in
  lookup_digit_then_capital) finds /a/1A null ;;
  lookup_digit_then_colon) finds /a/1: null ;;
  lookup_digit_then_small) finds /a/0a null ;;
  lookup_first) finds /a/0 0 ;;
  lookup_second) finds /a/1 1 ;;
  lookup_nine) finds /a/9 9 ;;
  lookup_ten) finds /a/10 10 ;;
  lookup_nineteen) finds /a/19 19 ;;
  lookup_last) finds /a/59 59 ;;
  lookup_one_past_last) finds /a/60 null ;;
  lookup_far_past_last) finds /a/100 null ;;
  lookup_two_zeros) finds /a/00 null ;;
  lookup_leading_zero) finds /a/01 null ;;
  lookup_letter) finds /a/x null ;;
  lookup_capital_then_digit) finds /a/A1 null ;;
  lookup_colon) finds /a/: null ;;
  lookup_minus) finds /a/-1 null ;;
  lookup_digit_then_minus) finds /a/1- null ;;
  lookup_digit_then_blank) finds '/a/1 ' null ;;
  lookup_array) finds /a array ;;
  lookup_nested) finds /b/0/1 2 ;;
  lookup_nested_second) finds /b/1/0 3 ;;
  lookup_nested_past_last) finds /b/1/1 null ;;
  lookup_key_like_index) finds /c/1A 7 ;;
  lookup_missing_key) finds /d null ;;
  lookup_*)
    echo "no such test: $1" >&2
    exit 2
    ;;
  cJSON_test) exec ./build/cJSON_test ;;
  *) cd build/tests && exec "./$1" ;;
esac
