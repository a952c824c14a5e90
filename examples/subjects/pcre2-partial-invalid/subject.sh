# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# A partial match in front of an invalid end of the text is reported. Fixed upstream in 1bb1ef67, release 10.43.
package=pcre2
version=10.42-1
fix_diff=fix.diff
buggy_file=src/pcre2_match.c
build_command='make -s pcre2test'
timeout=30s

configure_subject() {
  run env CFLAGS='-g -O1' ./configure --disable-shared
}

add_files() {
  cp "$subject/run-test.sh" "$subject"/*.in "$subject"/*.out pw/
}

test_names() {
  for input in pw/*.in; do basename "$input" .in; done
  printf 'runtest_%s\n' 1 2 4 5 6 7 9 10 15 16 18 19 20 21 22 23 24 25 26
}
