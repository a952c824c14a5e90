# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# Rules for the token YYEOF make bison abort. Fixed upstream in dd6ca199 (2022, after release 3.8.2; issue 92).
package=bison
version=3.8.2+dfsg-1
fix_diff=fix.diff
buggy_file=src/reader.c
build_command='make -s src/bison tests/bison'
timeout=30s

configure_subject() {
  run env CFLAGS='-g -O1' ./configure --disable-nls ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=:
  # Debian's source leaves the manual out, from which a full build takes other sources.
  # shellcheck disable=SC2016 # for make
  printf 'include Makefile\npw-sources: $(filter lib/%%,$(BUILT_SOURCES))\n' >pw/sources.mk
  run make -s -f pw/sources.mk pw-sources
}

add_files() {
  cp "$subject/run-test.sh" pw/
}

test_names() {
  sed -n 's/^  \(yyeof_[a-z_]*\)).*/\1/p' "$subject/run-test.sh"
  printf 'testsuite_%d\n' 9 10 12 13 14 17 18 19 22 27 28 36 37 39 41 42
}
