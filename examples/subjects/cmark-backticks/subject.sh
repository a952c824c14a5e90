# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# A run of backticks that nothing closes gets the position of the character behind it. Fixed upstream in 7e63cfd1,
# release 0.30.3.
package=cmark
version=0.30.2-6
fix_diff=fix.diff
buggy_file=src/inlines.c
build_command='make -s -C build cmark_exe api_test'
compile_commands=build/compile_commands.json

configure_subject() {
  run cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_TARGET_MESSAGES=OFF \
    -DCMARK_SHARED=OFF
}

add_files() {
  cp "$subject/run-test.sh" pw/
}

test_names() {
  sed -n 's/^  \(position_[a-z_]*\)).*/\1/p' "$subject/run-test.sh"
  printf 'spec_%d\n' 328 330 335 338 341 342 345 346 347 348 349 350 472 523 644
  printf '%s\n' regression smart_punct api
}
