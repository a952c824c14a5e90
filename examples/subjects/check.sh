#!/bin/sh
# usage: check.sh DEST
# Runs every test of a fetched subject once and prints each one that fails, the number of tests and the seconds.
set -eu
cd "$1"
count=0
failed=0
begin=$(date +%s%N)
while IFS= read -r name; do
  count=$((count + 1))
  if ! ./pw/run-test.sh "$name" >/dev/null 2>&1 </dev/null; then
    failed=$((failed + 1))
    echo "FAIL $name"
  fi
done <pw/tests.txt
end=$(date +%s%N)
echo "$count tests, $failed failed, $(((end - begin) / 1000000)) ms"
