#!/bin/sh
# usage: tests/run.sh NAME, from the project's root; exit status 0: the test has passed
# Runs ./ledger in the folder tests/NAME with the words of the file `arguments`. What it prints, to
# stdout and stderr, and its exit status when that is not 0, must be the contents of the file `output`.
set -u

program=$PWD/ledger
cd "tests/$1" || exit 2
read -r words <arguments
# shellcheck disable=SC2086 # split into words
{
  "$program" $words
  status=$?
  [ $status -eq 0 ] || echo "exit status $status"
} </dev/null 2>&1 | diff output -
