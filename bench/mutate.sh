#!/bin/sh
# Prints mutants of a source file of a project as JSON lines for `patchwright validate`. The mutants are those of
# universalmutator, which is installed from PyPI into a cache folder when it is first needed; whether they compile is
# not asked.
#
#   bench/mutate.sh PROJECT FILE [FIRST LAST] > mutants.jsonl
#
# FILE is relative to the project's root; with FIRST and LAST only these lines are mutated.
set -eu
[ $# -eq 2 ] || [ $# -eq 4 ] || { echo "usage: $0 PROJECT FILE [FIRST LAST]" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
tool=${XDG_CACHE_HOME:-$HOME/.cache}/patchwright/universalmutator
[ -x "$tool/bin/mutate" ] || { python3 -m venv "$tool" && "$tool/bin/pip" install -q universalmutator==1.14.1; } >&2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/mutants"
cd "$1"
if [ $# -eq 4 ]; then
  seq "$3" "$4" >"$folder/lines"
  set -- "$1" "$2" --lines "$folder/lines"
fi
file=$2
shift 2
# It writes files of its own into the folder where it is run, so that is a copy.
mkdir -p "$folder/tree/$(dirname "$file")"
cp "$file" "$folder/tree/$file"
cd "$folder/tree"
"$tool/bin/mutate" "$file" --noCheck --mutantDir "$folder/mutants" "$@" >&2
"$here/mutants.sh" "$file" "$folder/mutants"
