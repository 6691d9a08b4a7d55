#!/usr/bin/env bash
# Runs a throw-away Slurm cluster on one machine, as root or as a plain user, without systemd or Docker.
#   tests/cluster/slurm_cluster.sh start|stop|status DIR
# Needs: apt-get install -y --no-install-recommends slurm-wlm munge     (the script exits with 77 without them)
# Then:  export PATH=DIR/bin:$PATH    (wrappers set SLURM_CONF; the Snakemake jobstep plugin
#        strips SLURM_* before its inner srun, so exporting SLURM_CONF alone does not work)
set -euo pipefail
cmd=${1:?start|stop|status}; dir=$(readlink -m "${2:?dir}")
nodes=${SLURM_TEST_NODES:-"n1 n2"} cpus=${SLURM_TEST_CPUS:-2} mem=${SLURM_TEST_MEM_MB:-4000}
port=${SLURM_TEST_PORT:-16800} host=$(hostname -s) user=$(id -un)
export SLURM_CONF=$dir/etc/slurm.conf PATH=/usr/bin:/bin:/usr/sbin:/sbin
alive() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }
case $cmd in
start)
  for b in munged slurmctld slurmd sbatch; do command -v $b >/dev/null || { echo "missing $b" >&2; exit 77; }; done
  mkdir -p "$dir"/{bin,etc,run,log,state,munge}; chmod 755 "$dir" "$dir/run"; chmod 700 "$dir/munge"
  [ -s "$dir/munge/key" ] || (umask 077; head -c 1024 /dev/urandom >"$dir/munge/key")
  task=none track=linuxproc; echo CgroupAutomount=no >"$dir/etc/cgroup.conf"
  if [ "${SLURM_TEST_CGROUP:-0}" = 1 ]; then   # only root can do this; jobs then end as OUT_OF_MEMORY
    task=cgroup track=cgroup; echo ConstrainRAMSpace=yes >"$dir/etc/cgroup.conf"
  fi
  cat >"$SLURM_CONF" <<CONF
ClusterName=testcluster
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$dir/run/munge.sock
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool-%n
SlurmctldPidFile=$dir/run/slurmctld.pid
SlurmdPidFile=$dir/run/slurmd-%n.pid
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
ProctrackType=proctrack/$track
TaskPlugin=task/$task
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
DefMemPerCPU=500
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
$([ $task = none ] && echo JobAcctGatherParams=OverMemoryKill)
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/filetxt
JobCompLoc=$dir/log/jobcomp.log
MinJobAge=600
KillWait=5
ReturnToService=2
SchedulerParameters=bf_interval=5
$(i=1; for n in $nodes; do echo "NodeName=$n NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port+i)) CPUs=$cpus RealMemory=$mem"; i=$((i+1)); done)
PartitionName=short Nodes=ALL Default=YES MaxTime=00:30:00
PartitionName=long Nodes=ALL MaxTime=1-00:00:00
CONF
  for b in sbatch srun squeue scancel sinfo scontrol sacct sacctmgr sshare; do
    printf '#!/bin/sh\nSLURM_CONF=%s exec %s "$@"\n' "$SLURM_CONF" "$(command -v $b)" >"$dir/bin/$b"; chmod 755 "$dir/bin/$b"
  done
  alive "$dir/run/munged.pid" || munged --socket="$dir/run/munge.sock" --key-file="$dir/munge/key" \
    --pid-file="$dir/run/munged.pid" --seed-file="$dir/munge/seed" --log-file="$dir/munge/log"
  alive "$dir/run/slurmctld.pid" || slurmctld -c
  for n in $nodes; do mkdir -p "$dir/spool-$n"; alive "$dir/run/slurmd-$n.pid" || slurmd -N "$n"; done
  for _ in $(seq 60); do
    [ "$(sinfo -hN -p short -t idle -o %N 2>/dev/null | wc -l)" = "$(wc -w <<<"$nodes")" ] && { sinfo; exit 0; }; sleep 0.5
  done
  tail -n 20 "$dir"/log/*.log >&2; exit 1 ;;
status) sinfo; squeue ;;
stop)
  scancel -u "$user" 2>/dev/null || true; sleep 1
  for p in "$dir"/run/slurmd-*.pid "$dir"/run/slurmctld.pid "$dir"/run/munged.pid; do
    alive "$p" || continue; pid=$(cat "$p"); kill "$pid"
    for _ in $(seq 60); do kill -0 "$pid" 2>/dev/null || break; sleep 0.25; done
  done ;;
esac
