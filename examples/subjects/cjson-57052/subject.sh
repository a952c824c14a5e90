# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# CVE-2025-57052: an index in a JSON pointer is checked at the wrong character.
package=cjson
version=1.7.15-1+deb12u4
fix_patch=CVE-2025-57052.patch
buggy_file=cJSON_Utils.c
build_command='make -s -C build && make -s -C pw'
compile_commands=build/compile_commands.json

configure_subject() {
  run cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DBUILD_SHARED_LIBS=OFF \
    -DENABLE_CJSON_UTILS=ON -DENABLE_CJSON_TEST=ON -DENABLE_SANITIZERS=OFF -DENABLE_CUSTOM_COMPILER_FLAGS=OFF \
    -DENABLE_FUZZING=OFF -DCMAKE_TARGET_MESSAGES=OFF
}

add_files() {
  cp "$subject/run-test.sh" "$subject/lookup.c" "$subject/Makefile" pw/
}

test_names() {
  sed -n 's/^  \(lookup_[a-z0-9_]*\)) .*/\1/p' "$subject/run-test.sh"
  sed -n 's/^add_test(\[*=*"*\([A-Za-z0-9_-]*\).*/\1/p' build/CTestTestfile.cmake build/tests/CTestTestfile.cmake
}
