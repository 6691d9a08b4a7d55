#!/usr/bin/env bash
# Run this in the pipeline's folder after Snakemake was killed: profiles/slurm/unlock.sh
# It cancels the jobs that runs in this folder left in Slurm's queue, waits for their end, and unlocks the folder.
set -euo pipefail
runs=$(grep -hos '^SLURM run ID: .*' .snakemake/log/*.log | sed 's/.*: //' | sort -u | paste -sd,) || runs=
if [ -n "$runs" ]; then
  # scancel takes one name, squeue a list of them.
  for run in ${runs//,/ }; do scancel --user "$(id -un)" --name "$run"; done
  while left=$(squeue --noheader --user "$(id -un)" --name "$runs" --format %A) && [ -n "$left" ]; do
    echo "waiting for jobs to end: $(paste -sd' ' <<<"$left")" >&2
    sleep 2
  done
fi
snakemake --unlock "$@"
