#!/bin/sh
# usage: pw/run-test.sh NAME, from the project's root; exit status 0: the test has passed
# runtest_N: test N of the project's RunTest; the others: pcre2test's output for pw/NAME.in is that in pw/NAME.out.
set -u
export LC_ALL=C
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 2
ln -s "$root/pcre2test" pcre2test
case $1 in
  runtest_*) srcdir=$root sh "$root/RunTest" "${1#runtest_}" ;;
  *)
    ./pcre2test -q "$root/pw/$1.in" output || exit 1
    diff "$root/pw/$1.out" output
    ;;
esac
