# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# CVE-2025-27113: the pattern child::a does not match what the pattern a matches.
package=libxml2
version=2.9.14+dfsg-1.3~deb12u6
fix_patch=CVE-2025-27113.patch
buggy_file=pattern.c
build_command='make -s xmllint runtest testchar testdict testrecurse'
timeout=60s

configure_subject() {
  export ASAN_OPTIONS=detect_leaks=0
  run env NOCONFIGURE=1 autoreconf -fi
  run env CFLAGS='-g -O1 -fsanitize=address -fno-omit-frame-pointer' ./configure \
    --disable-shared --enable-static --without-python --without-lzma --without-zlib
}

add_files() {
  cp "$subject/run-test.sh" "$subject/document.xml" pw/
}

# Debian's source leaves out nearly all inputs of runtest; the category that still has its own is taken.
test_names() {
  sed -n 's/^  \([a-z_]*\)) [mr][ae][tf].*/\1/p' "$subject/run-test.sh"
  printf '%s\n' runtest_paths testdict testchar testrecurse
}
