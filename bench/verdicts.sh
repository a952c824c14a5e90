#!/bin/sh
# Compares the verdicts of `patchwright validate` with those of plain validation on the programs of bench/programs: for
# each, all mutants of universalmutator and a sample of the space of repairs.
#
#   bench/verdicts.sh FOLDER [PROGRAM...]
#
# FOLDER gets a copy of each program, its patches, the results of plain validation, and results.json, of which
# `patchwright-bench validate-report` makes a page. What is there already is kept. A program whose verdicts differ does
# not stop the others; the exit status tells. PATCHWRIGHT_BENCH is the binary, JOBS the number of workers, SAMPLES the
# size of the samples; PATCHES_ONLY=1 makes the patches and stops.
set -eu
[ $# -ge 1 ] || { echo "usage: $0 FOLDER [PROGRAM...]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
binary=${PATCHWRIGHT_BENCH:-$here/../target/release/patchwright-bench}
mkdir -p "$1"
folder=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- $(ls "$here/programs")
status=0
for name in "$@"; do
  project=$folder/$name
  if [ ! -d "$project" ]; then
    cp -R "$here/programs/$name" "$project"
    # Many mutants never end, and these tests take milliseconds.
    sed 's/^\[tests\]$/[tests]\ntimeout = "1500ms"/' "$here/programs/$name/patchwright.toml" >"$project/patchwright.toml"
  fi
  patches=$folder/$name.jsonl
  if [ ! -s "$patches" ]; then
    "$here/mutate.sh" "$project" "$name.c" >"$patches.part" 2>/dev/null
    "$binary" sample-space "$project" -n "${SAMPLES:-500}" --seed 1 >>"$patches.part"
    mv "$patches.part" "$patches"
  fi
  [ -z "${PATCHES_ONLY:-}" ] || continue
  "$binary" validate "$project" "$patches" -j "${JOBS:-2}" --plain "$folder/$name.plain.json" \
    --json "$folder/results.json" || status=1
done
exit $status
