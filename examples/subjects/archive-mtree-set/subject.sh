# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# A keyword without a value in /set of an mtree file is not found again, and is there twice.
# Fixed upstream in 5c61644f (2026).
package=libarchive
version=3.6.2-1+deb12u5
fix_diff=fix.diff
buggy_file=libarchive/archive_read_support_format_mtree.c
build_command='make -s -C build libarchive_test'
compile_commands=build/compile_commands.json
# The test program has 700 tests; those of these files are built.
files='read_format_mtree|write_format_mtree|read_format_ar|archive_pathmatch'

configure_subject() {
  cat "$subject/tests.c" >>libarchive/test/test_read_format_mtree.c
  sed -i -E "/^ +test_/{/$files/!d}" libarchive/test/CMakeLists.txt
  run cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DCMAKE_TARGET_MESSAGES=OFF \
    -DENABLE_WERROR=OFF -DENABLE_OPENSSL=OFF -DENABLE_LZMA=OFF -DENABLE_ZSTD=OFF -DENABLE_BZip2=OFF -DENABLE_LIBXML2=OFF \
    -DENABLE_EXPAT=OFF -DENABLE_ACL=OFF
}

add_files() {
  cp "$subject/run-test.sh" pw/
}

test_names() {
  sed -n 's/^DEFINE_TEST(test_\(.*\))/\1/p' build/libarchive/test/list.h
}
