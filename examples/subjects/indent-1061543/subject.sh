# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# GNU indent reads in front of a table when a comment precedes a bracket at the outermost level.
package=indent
version=2.2.12-4+deb12u3
fix_patch=05-fix-a-heap-buffer-underread-in-set-buf-break.patch
buggy_file=src/output.c
build_command='make -s -C src indent AM_CFLAGS=-w'

configure_subject() {
  export ASAN_OPTIONS=detect_leaks=0
  # Files that the build system and gperf have made are taken as they are, whatever the times that unpacking gave.
  for names in '*.m4 *.ac *.am *.gperf' aclocal.m4 'configure *.in gperf*.c'; do
    stamp=$((${stamp:-1704067200} + 60))
    set -f
    for name in $names; do find . -name "$name" -exec touch -d "@$stamp" {} +; done
    set +f
  done
  run env CFLAGS='-g -O1 -fsanitize=address' ./configure
}

add_files() {
  cp "$subject/run-test.sh" pw/
}

test_names() {
  sed -n 's/^  \([a-z0-9_]*\)) .*/\1/p' "$subject/run-test.sh"
}
