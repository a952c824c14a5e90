# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# \M, the end of a word in a regular expression, matches inside a word. Fixed upstream in c9f2fda, release 0.82.
package=jimtcl
version=0.81+dfsg0-2
fix_diff=fix.diff
buggy_file=jimregexp.c
build_command='make -s jimsh'

configure_subject() {
  # Debian's source leaves this generated file out.
  ./make-bootstrap-jim >autosetup/jimsh0.c
  run ./configure --disable-docs
}

add_files() {
  cp "$subject/run-test.sh" pw/
}

test_names() {
  sed -n 's/^  \([a-z_0-9]*\)).*/\1/p' "$subject/run-test.sh"
  printf '%s\n' regexp regexp2 regcount regmin string stringmatch subst parse list lsearch lsort dict expr format scan \
    proc namespace util
}
