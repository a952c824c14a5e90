#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# word_*: what a regular expression with the ends of words matches; the rest are Jim's own files of tests.
set -u
export LC_ALL=C TZ=UTC

root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2

# gives EXPECTED SCRIPT
gives() {
  printf '%s\n' "puts [$2]" >script.tcl
  output=$("$root/jimsh" script.tcl 2>&1)
  echo "$2 gives: $output; expected: $1"
  [ "$output" = "$1" ]
}

case $1 in
  word_end_inside) gives 0 'regexp {\mcd\M} cdef' ;;
  word_end_before_underscore) gives 0 'regexp {cd\M} cd_ef' ;;
  word_end_marked) gives 'one| two_2|' 'regsub -all {\M} {one two_2} {|}' ;;
  word_end_of_string) gives 1 'regexp {\mcd\M} cd' ;;
  word_end_before_blank) gives 1 'regexp {\mcd\M} {ab cd ef}' ;;
  word_end_after_blank) gives 0 'regexp { \M} {ab cd}' ;;
  word_end_at_start) gives 0 'regexp {^\M} cd' ;;
  word_start_inside) gives 0 'regexp {c\md} cd' ;;
  *)
    [ -f "$root/tests/$1.test" ] || {
      echo "no such test: $1" >&2
      exit 2
    }
    output=$("$root/jimsh" "$root/tests/$1.test" 2>&1)
    status=$?
    echo "$output"
    case $output in *'Failed     0'*) exit $status ;; *) exit 1 ;; esac
    ;;
esac
