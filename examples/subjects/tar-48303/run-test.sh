#!/bin/bash
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# Puts bytes into a numeric field of an archive's header, and compares what tar says of the archive.
set -u
export LC_ALL=C TZ=UTC

tar=$PWD/src/tar
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
printf 'text\n' >file
touch -d @86400 file
"$tar" --format=gnu --owner=a:7 --group=b:8 --mode=644 -cf archive.tar file || exit 2

# field OFFSET LENGTH BYTES: BYTES, in printf's notation, filled up with blanks in front
field() {
  # shellcheck disable=SC2059 # the bytes are in printf's notation
  size=$(printf "$3" | wc -c)
  # shellcheck disable=SC2059
  { printf "%$(($2 - size))s" '' | head -c "$(($2 - size))" && printf "$3"; } |
    dd of=archive.tar bs=1 seek="$1" conv=notrunc 2>/dev/null
  printf '        ' | dd of=archive.tar bs=1 seek=148 conv=notrunc 2>/dev/null
  sum=$(head -c 512 archive.tar | od -An -v -tu1 | awk '{ for (i = 1; i <= NF; i++) sum += $i } END { print sum }')
  printf '%06o\0 ' "$sum" | dd of=archive.tar bs=1 seek=148 conv=notrunc 2>/dev/null
}

# says EXPECTED: the first line on standard error, else the listing
says() {
  output=$("$tar" --numeric-owner -tvf archive.tar 2>error) || output=$(head -n 1 error | sed 's/^[^:]*: //')
  output=$(printf '%s' "$output" | tr -s ' ')
  echo "says: $output; expected: $1"
  [ "$output" = "$1" ]
}

mtime() {
  field 136 12 "$1"
  says "$2"
}

uid() {
  field 108 8 "$1"
  says "$2"
}

case $1 in
  mtime_as_written) says '-rw-r--r-- 7/8 5 1970-01-02 00:00 file' ;;
  mtime_octal) mtime '250600 ' '-rw-r--r-- 7/8 5 1970-01-02 00:00 file' ;;
  mtime_base_256) mtime '\200\0\0\0\0\0\0\0\0\1\121\200' '-rw-r--r-- 7/8 5 1970-01-02 00:00 file' ;;
  mtime_base_256_negative) mtime '\377\377\377\377\377\377\377\377\377\376\256\200' '-rw-r--r-- 7/8 5 1969-12-31 00:00 file' ;;
  mtime_two_bytes) mtime '\200\170' '-rw-r--r-- 7/8 5 1970-01-01 00:02 file' ;;
  mtime_two_bytes_negative) mtime '\377\210' '-rw-r--r-- 7/8 5 1969-12-31 23:58 file' ;;
  mtime_three_bytes) mtime '\200\001\054' '-rw-r--r-- 7/8 5 1970-01-01 00:05 file' ;;
  mtime_last_byte) mtime '\200' "Archive contains ' \200' where numeric time_t value expected" ;;
  mtime_last_byte_negative) mtime '\377' "Archive contains ' \377' where numeric time_t value expected" ;;
  mtime_last_byte_letter) mtime 'x' "Archive contains ' x' where numeric time_t value expected" ;;
  mtime_last_byte_digit) mtime '7' '-rw-r--r-- 7/8 5 1970-01-01 00:00 file' ;;
  uid_octal) uid '31' '-rw-r--r-- 25/8 5 1970-01-02 00:00 file' ;;
  uid_base_256) uid '\200\0\0\0\0\0\1\2' '-rw-r--r-- 258/8 5 1970-01-02 00:00 file' ;;
  uid_two_bytes) uid '\200\7' '-rw-r--r-- 7/8 5 1970-01-02 00:00 file' ;;
  uid_last_byte) uid '\200' "Archive contains ' \200' where numeric uid_t value expected" ;;
  *)
    echo "no such test: $1" >&2
    exit 2
    ;;
esac
