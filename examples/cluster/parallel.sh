#!/bin/bash
# usage: parallel.sh PROJECT PATCHES PARTS HOSTS...
#
# Validates a set of patches on several hosts by GNU parallel over ssh, with four parts for each host so that a slow one holds
# nobody up. The folders must be the same on all hosts. Afterwards: patchwright merge PARTS/*.json
set -euo pipefail
project=$1 patches=$2 parts=$3
shift 3
of=$((4 * $#))
mkdir -p "$parts"
hosts=$(IFS=,; echo "$*")
# A part that fails, or whose host is lost, is run once more elsewhere. Status 1 says that no patch is plausible.
parallel --sshlogin "$hosts" --jobs 1 --retries 2 --quote sh -c \
  'patchwright validate "$1" "$2" --quiet --shard "$4/$5" --shard-result "$3/$4-of-$5.json" >/dev/null || [ $? -eq 1 ]' \
  sh "$project" "$patches" "$parts" {} "$of" ::: $(seq "$of")
