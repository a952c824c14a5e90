#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# The tests are those of the project's libarchive_test, each by its name.
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
TMPDIR=$folder "$root/build/bin/libarchive_test" -v -r "$root/libarchive/test" "test_$1"
