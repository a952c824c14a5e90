#!/bin/sh
# Proposes the patches of a file of JSON lines, in the place of a language model:
#
#     patchwright repair PROJECT --propose "examples/propose/from-file.sh patches.jsonl verdicts.jsonl"
#
# A program that asks a model does the same: it reads the task, prints patches, and reads what became of each of them. Both go on at
# the same time, so it can answer a verdict by another patch.
set -e
read -r task              # {"type": "task", "failing": [...], "suspects": [...], "functions": [...]}
cat "${1:-$(dirname "$0")/patches.jsonl}"    # {"id": "one", "patch": "--- a/max.c\n+++ b/max.c\n..."}
echo '{"type": "end"}'    # nothing more is proposed
{ printf '%s\n' "$task"; cat; } >"${2:-/dev/null}"    # {"type": "verdict", "id": "one", "verdict": "implausible", ...}, {"type": "tried", ...}, {"type": "found", ...}
