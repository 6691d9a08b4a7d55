#!/bin/sh
# Tell the state of a Job in Snakemake's words: status.sh JOB
conditions=$(kubectl get "$1" --output 'jsonpath={.status.conditions[?(@.status=="True")].type}') || exit 1
case " $conditions " in
  *" Complete "*) echo success ;;
  *" Failed "*) echo failed ;;
  *) echo running ;;
esac
