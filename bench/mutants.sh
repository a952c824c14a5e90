#!/bin/sh
# Prints mutants of a source file as JSON lines for `patchwright validate`.
#
#   mutate src/x.c --mutantDir mutants       (of universalmutator, from PyPI)
#   bench/mutants.sh src/x.c mutants > mutants.jsonl
#
# FILE is the path of the source relative to the project's root, where this is run; FOLDER has the mutants, whole files
# named x.mutant.NUMBER.c.
set -eu
[ $# -eq 2 ] || { echo "usage: $0 FILE FOLDER" >&2; exit 2; }
exec python3 - "$1" "$2" <<'PYTHON'
import difflib, json, os, re, sys

path, folder = sys.argv[1:]


def lines(name):
    try:
        with open(name, encoding="utf-8", newline="") as file:
            return re.findall(r"[^\n]*\n|[^\n]+", file.read())
    except UnicodeDecodeError:
        sys.exit(f"{name} is not UTF-8, which JSON is; make diffs of the mutants with diff -u")


def diff(old, new):
    for line in difflib.unified_diff(old, new, "a/" + path, "b/" + path):
        yield line if line.endswith("\n") else line + "\n\\ No newline at end of file\n"


stem, extension = os.path.splitext(os.path.basename(path))
pattern = re.compile(re.escape(stem) + r"\.mutant\.(\d+)" + re.escape(extension) + "$")
numbers = sorted(int(m.group(1)) for m in map(pattern.match, os.listdir(folder)) if m)
if not numbers:
    sys.exit(f"{folder} has no mutant of {path}: no file {stem}.mutant.NUMBER{extension}")
original = lines(path)
for number in numbers:
    mutant = lines(os.path.join(folder, f"{stem}.mutant.{number}{extension}"))
    text = "".join(diff(original, mutant))
    if text:
        print(json.dumps({"id": f"{path}#{number}", "patch": text}))
PYTHON
