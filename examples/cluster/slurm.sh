#!/bin/bash
#SBATCH --job-name=patchwright
#SBATCH --array=1-64
#SBATCH --cpus-per-task=4
#SBATCH --time=02:00:00
#SBATCH --requeue
# Validates a set of patches as a job array of Slurm, a part in each task:
#
#     sbatch --export=ALL,PROJECT=$PWD/project,PATCHES=$PWD/patches.jsonl,PARTS=$PWD/parts examples/cluster/slurm.sh
#     patchwright merge parts/*.json
#
# `--array` says how many parts there are; it must begin with 1. A task that was lost is run again by its number alone:
# `sbatch --array=7 --export=ALL,OF=64,… slurm.sh`. The parts' folder must be one that all nodes share.
set -euo pipefail
: "${PROJECT:?the folder of the project}" "${PATCHES:?the patches}" "${PARTS:?a folder for the results}"
part=$SLURM_ARRAY_TASK_ID
of=${OF:-$SLURM_ARRAY_TASK_COUNT}
mkdir -p "$PARTS"
# Status 1 says that no patch of this part is plausible, which is no failure of the task.
patchwright validate "$PROJECT" "$PATCHES" -j "${SLURM_CPUS_PER_TASK:-1}" --quiet \
  --shard "$part/$of" --shard-result "$PARTS/$part-of-$of.json" >/dev/null || [ $? -eq 1 ]
