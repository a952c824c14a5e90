# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# What the subjects made of GNU patch have in common.
package='patch'
version=2.7.6-7
build_command='make -s -C src'

configure_subject() {
  # Unpacking leaves the files of the build system with times in any order; in this order nothing is remade.
  for names in '*.m4 *.ac *.am' aclocal.m4 'configure *.in *.hin'; do
    stamp=$((${stamp:-1704067200} + 60))
    set -f
    for name in $names; do find . -name "$name" -exec touch -d "@$stamp" {} +; done
    set +f
  done
  run env CFLAGS='-g -O1' ./configure --enable-merge
  run make -s
}

add_files() {
  cp "$here/gnu-patch/run-test.sh" pw/
  mkdir pw/tests
  cp "$subject/tests/"* pw/tests/
}

# The tests made for the bug, then those of `make check` less the two that are known to fail (XFAIL_TESTS).
test_names() {
  ls pw/tests
  sed -n '/^TESTS = /,/[^\\]$/p' tests/Makefile.am | grep -o '[a-z][a-z-]*' |
    grep -v -x -e dash-o-append -e context-format
}
