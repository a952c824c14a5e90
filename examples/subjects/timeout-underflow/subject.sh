# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# timeout with a time too small for a number never ends the command. Fixed upstream in 026d0d7c4, release 9.7.
package=coreutils
version=9.1-1
fix_diff=fix.diff
buggy_file=src/timeout.c
build_command='make -s src/timeout src/sleep src/env src/seq src/getlimits'

configure_subject() {
  run env FORCE_UNSAFE_CONFIGURE=1 CFLAGS='-g -O1' ./configure --disable-nls --without-selinux --disable-libcap \
    --without-openssl
  # shellcheck disable=SC2016 # for make
  printf 'include Makefile\npw-sources: $(BUILT_SOURCES)\n' >pw/sources.mk
  run make -s -f pw/sources.mk pw-sources
}

add_files() {
  cp "$subject/run-test.sh" pw/
}

test_names() {
  sed -n 's/^  \([a-z_]*\)) .*/\1/p' "$subject/run-test.sh"
  printf 'misc/%s.sh\n' timeout-parameters timeout-large-parameters seq-precision seq-long-double seq-extra-number \
    seq-io-errors
}
