# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# CVE-2023-43641: an index below zero in a cue sheet is written in front of its table.
package=libcue
version=2.2.1-4+deb12u1
fix_patch=CVE-2023-43641.patch
buggy_file=cd.c
build_command='make -s -C build && make -s -C pw'
compile_commands=build/compile_commands.json

configure_subject() {
  export ASAN_OPTIONS=detect_leaks=0
  run cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON \
    -DCMAKE_C_FLAGS=-fsanitize=address -Wno-dev
}

add_files() {
  cp "$subject/run-test.sh" "$subject/indexes.c" "$subject/Makefile" pw/
}

test_names() {
  sed -n 's/^  \(index_[a-z0-9_]*\)) .*/\1/p' "$subject/run-test.sh"
  printf '%s\n' standard_cue single_file_idx_00 multiple_files noncompliant issue10 99_tracks
}
