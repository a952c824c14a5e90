#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# position_*: where the texts and codes of a paragraph lie; spec_N: example N of the specification of CommonMark,
# run as the project's own test suite does; regression, smart_punct and api: other parts of that suite.
# shellcheck disable=SC2016 # the backticks are Markdown
set -u
export PYTHONDONTWRITEBYTECODE=1

# lie MARKDOWN EXPECTED...: the kind, the first and the last column of every text and code
lie() {
  markdown=$1
  shift
  output=$(printf '%s\n' "$markdown" | ./build/src/cmark -t xml --sourcepos |
    sed -n 's/ *<\(text\|code\) sourcepos="[0-9]*:\([0-9]*\)-[0-9]*:\([0-9]*\)".*/\1:\2-\3/p' | tr '\n' ' ')
  echo "$markdown: $output; expected: $*"
  [ "$output" = "$* " ]
}

spec_tests() {
  output=$(python3 test/spec_tests.py --no-normalize --program "$@" 2>&1)
  status=$?
  echo "$output"
  case $output in "0 passed"*) exit 1 ;; esac
  exit $status
}

case $1 in
  position_unclosed_at_start) lie '``d' 'text:1-3' ;;
  position_unclosed_at_end) lie '*a* ```' 'text:2-2' 'text:4-7' ;;
  position_unclosed_after_emphasis) lie '*a*``' 'text:2-2' 'text:4-5' ;;
  position_text) lie 'abc' 'text:1-3' ;;
  position_emphasis) lie '*a* b' 'text:2-2' 'text:4-5' ;;
  position_code) lie 'a `x` b' 'text:1-2' 'code:4-4' 'text:6-7' ;;
  position_long_code) lie '``x`y``' 'code:3-5' ;;
  spec_*) spec_tests build/src/cmark --spec test/spec.txt -n "${1#spec_}" ;;
  regression) spec_tests build/src/cmark --spec test/regression.txt ;;
  smart_punct) spec_tests 'build/src/cmark --smart' --spec test/smart_punct.txt ;;
  api) ./build/api_test/api_test ;;
  *)
    echo "no such test: $1" >&2
    exit 2
    ;;
esac
