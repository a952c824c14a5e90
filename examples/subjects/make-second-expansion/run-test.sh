#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# The tests are the scripts of the project's test suite, each by its folder and name.
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
ln -s "$root/tests/scripts" scripts
perl "$root/tests/run_make_tests.pl" -srcdir "$root" -make "$root/make" "$1"
status=$?
cat work/*/*.diff work/*/*.log 2>/dev/null
exit $status
