# shellcheck shell=sh disable=SC2034,SC2154 # fetch.sh reads these variables and sets subject and here
# CVE-2022-48281: tiffcrop keeps the size of the wrong buffer and writes past the end of another.
package=tiff
version=4.5.0-6+deb12u4
fix_patch=CVE-2022-48281.patch
buggy_file=tools/tiffcrop.c
build_command='make -s -C port && make -s -C libtiff && make -s -C tools all thumbnail && make -s -C test pw-programs'

configure_subject() {
  export ASAN_OPTIONS=detect_leaks=0
  run autoreconf -fi
  run env CFLAGS='-g -O1 -fsanitize=address' ./configure --disable-shared --enable-static --disable-cxx --without-x \
    --disable-jpeg --disable-lzma --disable-zstd --disable-webp --disable-jbig --disable-lerc --disable-libdeflate
  # The programs of `make check` without running it, and the names of its tests.
  # shellcheck disable=SC2016 # make expands these
  printf '\npw-programs: $(check_PROGRAMS)\npw-names:\n\t@printf "%%s\\n" $(TESTS)\n' >>test/Makefile
}

add_files() {
  cp "$subject/run-test.sh" pw/
}

# Two pages of grey, 100x100 and 200x100 pixels, whose samples are the text of two source files.
finish_subject() {
  head -c 10000 libtiff/tif_dir.c >pw/samples
  run ./tools/raw2tiff -w 100 -l 100 -c none pw/samples pw/small.tif
  head -c 20000 libtiff/tif_write.c >pw/samples
  run ./tools/raw2tiff -w 200 -l 100 -c none pw/samples pw/wide.tif
  run ./tools/tiffcp pw/small.tif pw/wide.tif pw/small-wide.tif
  run ./tools/tiffcp pw/wide.tif pw/small.tif pw/wide-small.tif
  run ./tools/tiffcp pw/small.tif pw/wide.tif pw/small.tif pw/small-wide-small.tif
  rm pw/samples
}

test_names() {
  sed -n 's/^  \(crop_[a-z_]*\)) .*/\1/p' "$subject/run-test.sh"
  make -s -C test pw-names
}
