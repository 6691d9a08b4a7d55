#!/usr/bin/env bash
# Make a Job that runs a script, and print its name: submit.sh CORES MB MINUTES SCRIPT
# The volume of the claim is mounted at the same path as on this machine, and this folder is on it. The step runs as
# the present user, so its files belong to that user, and no step is root unless this script is. The time limit
# applies to the step alone: a deadline of the Job would also count the time that it waits for a node or its image.
set -euo pipefail
: "${PARAPHRASTIC_IMAGE:?an image with Python and the pinned requirements}"
: "${PARAPHRASTIC_CLAIM:?a claim of a volume that all nodes can write}"
: "${PARAPHRASTIC_VOLUME:?where that volume is mounted, here and in the jobs}"
kubectl create --output name --filename - <<JOB
apiVersion: batch/v1
kind: Job
metadata:
  generateName: paraphrastic-
spec:
  backoffLimit: 0
  ttlSecondsAfterFinished: 86400
  template:
    spec:
      restartPolicy: Never
      securityContext: {runAsUser: $(id -u), runAsGroup: $(id -g)}
      containers:
        - name: step
          image: "$PARAPHRASTIC_IMAGE"
          command: ["timeout", "$3m", "bash", "$4"]
          workingDir: "$PWD"
          resources:
            requests: {cpu: "$1", memory: "$2M"}
            limits: {memory: "$2M"}
          volumeMounts:
            - {name: shared, mountPath: "$PARAPHRASTIC_VOLUME"}
      volumes:
        - name: shared
          persistentVolumeClaim: {claimName: "$PARAPHRASTIC_CLAIM"}
JOB
