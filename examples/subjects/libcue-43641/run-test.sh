#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# index_*: a cue sheet with one line of an index, and the indexes read from it; the rest are libcue's own tests.
set -u
export ASAN_OPTIONS=detect_leaks=0

# reads NUMBER EXPECTED: the track has this index and the usual two
reads() {
  found=$(printf 'FILE "a.bin" BINARY\nTRACK 01 AUDIO\nINDEX 00 00:01:00\nINDEX 01 00:02:00\nINDEX %s 00:03:00\n' "$1" |
    ./pw/indexes 2>/dev/null) || return 1
  echo "found: $found; expected: $2"
  [ "$found" = "$2" ]
}

case $1 in
  index_2) reads 02 'track 1 from 150: 0=75 1=150 2=225' ;;
  index_50) reads 50 'track 1 from 150: 0=75 1=150 50=225' ;;
  index_0_again) reads 00 'track 1 from 150: 0=225 1=150' ;;
  index_98) reads 98 'track 1 from 150: 0=75 1=150 98=225' ;;
  index_last) reads 99 'track 1 from 150: 0=75 1=150 99=225' ;;
  index_one_past_last) reads 100 'track 1 from 150: 0=75 1=150' ;;
  index_large) reads 2147483647 'track 1 from 150: 0=75 1=150' ;;
  index_below_zero) reads 4294967196 'track 1 from 150: 0=75 1=150' ;;
  index_far_below_zero) reads 4294567296 'track 1 from 150: 0=75 1=150' ;;
  index_lowest) reads 2147483648 'track 1 from 150: 0=75 1=150' ;;
  index_*)
    echo "no such test: $1" >&2
    exit 2
    ;;
  issue10 | 99_tracks) cd t && exec "../build/$1" ;;
  *) exec "./build/$1" ;;
esac
