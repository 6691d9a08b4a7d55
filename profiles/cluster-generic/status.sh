#!/bin/sh
# Tell the state of a PBS job in Snakemake's words: status.sh JOB
# The history of finished jobs (qstat -x) is kept for two weeks by default.
qstat -x -f "$1" | awk '
  $1 == "job_state" { state = $3 }
  $1 == "Exit_status" { status = $3 }
  END { print state != "F" && state != "" ? "running" : state == "F" && status == "0" ? "success" : "failed" }'
