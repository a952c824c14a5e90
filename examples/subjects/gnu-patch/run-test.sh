#!/bin/bash
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# Runs pw/tests/NAME or else tests/NAME, a test of `make check`, in a folder of its own.
set -u

root=$PWD
if [ -f "pw/tests/$1" ]; then
  test=$root/pw/tests/$1
elif [ -f "tests/$1" ]; then
  test=$root/tests/$1
else
  echo "no such test: $1" >&2
  exit 2
fi

folder=$(mktemp -d)
trap 'chmod -R u+rwx "$folder"; rm -rf "$folder"' EXIT
# The tests of `make check` work in $abs_top_builddir/tests.
mkdir "$folder/tests"
cd "$folder/tests" || exit 2
PATCH=$root/src/patch srcdir=$root/tests abs_top_builddir=$folder bash "$test" </dev/null
status=$?
if [ $status -eq 77 ]; then
  echo "skipped: this machine cannot run the test"
  status=0
fi
exit $status
