# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# A copy of an image that has drawn a filled polygon crashes. Fixed upstream in 58d25665, release 2.4.0 (issue 855).
package=libgd2
version=2.3.3-9+deb12u1
fix_diff=fix.diff
buggy_file=src/gd.c
# The programs in these folders of the project's tests are built and run.
folders='gdimageclone gdimagefilledpolygon gdimagepolygon gdimageopenpolygon gdimagecopy gdimagefill'
build_command='make -s -C build/tests'
compile_commands=build/compile_commands.json

configure_subject() {
  cp "$subject/polyInts.c" tests/gdimageclone/
  sed -i 's/^\tstyle$/&\n\tpolyInts/' tests/gdimageclone/CMakeLists.txt
  # The release leaves out sources of other folders of tests.
  sed -i "s/FOREACH(test_dir .*/FOREACH(test_dir gdtest $folders)/" tests/CMakeLists.txt
  run cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DBUILD_TEST=ON -DENABLE_PNG=ON \
    -DENABLE_CPP=OFF
}

add_files() {
  cp "$subject/run-test.sh" pw/
}

test_names() {
  for folder in $folders; do
    sed -n "s/^[[:space:]]\([A-Za-z0-9_]*\)\$/${folder}_\1/p" "tests/$folder/CMakeLists.txt"
  done | grep -v gdimagefill_bug00002_1 # fails with and without the bug
}
