"""Test what the profiles plan, and run those for qsub and kubectl with a queue of one machine."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pipelines import Run, command, environment, snakemake

PROFILES = ("slurm", "cluster-generic", "kubernetes")
TARGET = "results/testsets/sts.parquet"
TRAINING = "results/training/fr/dropout-0.0-megabatch-10/model.safetensors"

# A queue in which every job starts at once; a file keeps its exit status.
SUBMIT = """#!/bin/sh
for script in "$@"; do :; done
number=$(ls "$QUEUE" | wc -l); job="$QUEUE/$number"
mkdir "$job"; echo "$@" >"$job/arguments"
eval "$BEFORE_JOB"
{ sh "$script" >"$job/output" 2>&1; echo $? >"$job/status"; } </dev/null >/dev/null 2>&1 &
echo "$number"
"""
QSTAT = """#!/bin/sh
for number in "$@"; do :; done
if [ -e "$QUEUE/$number/status" ]; then
  printf '    job_state = F\\n    Exit_status = %s\\n' "$(cat "$QUEUE/$number/status")"
else
  echo "    job_state = R"
fi
"""
KUBECTL = """#!/bin/sh
if [ "$1" = create ]; then
  manifest=$(cat)
  script=$(echo "$manifest" | sed -n 's/.*command: ."timeout", "[0-9]*m", "bash", "\\(.*\\)".$/\\1/p')
  number=$(submit "$script"); echo "$manifest" >"$QUEUE/$number/arguments"
  echo "job.batch/paraphrastic-$number"
elif [ "$1" = get ]; then
  case "$(cat "$QUEUE/${2##*-}/status" 2>/dev/null)" in
    0) echo SuccessCriteriaMet Complete ;;
    "") ;;
    *) echo FailureTarget Failed ;;
  esac
fi
"""


@pytest.fixture
def queue(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine that has such a queue."""
    programs, jobs = tmp_path / "bin", tmp_path / "queue"
    programs.mkdir()
    jobs.mkdir()
    for name, text in {"submit": SUBMIT, "qsub": SUBMIT, "qstat": QSTAT, "kubectl": KUBECTL}.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return {
        **environment(),
        "PATH": f"{programs}:{os.environ['PATH']}",
        "QUEUE": str(jobs),
        "BEFORE_JOB": "",
        "PARAPHRASTIC_IMAGE": "registry.example/paraphrastic:1",
        "PARAPHRASTIC_CLAIM": "shared",
        "PARAPHRASTIC_VOLUME": str(tmp_path),
    }


@pytest.mark.slow("plans the sample six times")
@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_plans_what_one_machine_does(pipeline: Path, profile: str) -> None:
    run = snakemake(pipeline, "--dry-run", "--profile", f"profiles/{profile}", "all")
    assert run.returncode == 0, run.stdout
    here = snakemake(pipeline, "--dry-run", "all")
    counts = [re.findall(r"^(\w+) +(\d+)$", text, re.M) for text in (run.stdout, here.stdout)]
    assert counts[0] == counts[1]
    assert ("train_model", "8") in counts[0]


# What Snakemake asks of conda before it makes environments.
CONDA = """#!/bin/sh
case "$*" in
  *--version) echo "conda 26.1.0" ;;
  *info*) echo '{"conda_prefix": "/conda", "root_prefix": "/conda", "platform": "linux-64"}' ;;
  *config*) echo '{"success": true, "get": {"channel_priority": "strict"}}' ;;
esac
"""


def test_environments_of_conda_are_planned(pipeline: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (pipeline / "bin").mkdir()
    (pipeline / "bin/conda").write_text(CONDA)
    (pipeline / "bin/conda").chmod(0o755)
    monkeypatch.setenv("PATH", f"{pipeline / 'bin'}:{os.environ['PATH']}")
    run = snakemake(pipeline, "--dry-run", "--sdm", "conda", "--", "all")
    assert run.returncode == 0, run.stdout
    assert set(re.findall(r"envs/\w+\.yaml", run.stdout)) == {"envs/pipeline.yaml", "envs/neural.yaml"}


def test_a_folder_is_unlocked_without_a_number_of_cores(pipeline: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-m", "snakemake", "--unlock"],
        cwd=pipeline,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
    )
    assert run.returncode == 0, run.stdout


@pytest.mark.slow("waits for a queue")
@pytest.mark.parametrize("profile", ["cluster-generic", "kubernetes"])
def test_a_step_runs_in_a_queue(pipeline: Path, queue: dict[str, str], profile: str) -> None:
    run = run_in(pipeline, queue, profile)
    assert run.returncode == 0, run.stdout
    assert (pipeline / TARGET).exists()
    (job,) = Path(queue["QUEUE"]).iterdir()
    arguments = (job / "arguments").read_text()
    if profile == "cluster-generic":
        assert "select=1:ncpus=1:mem=700mb -l walltime=00:3:00" in arguments
    else:
        assert 'requests: {cpu: "1", memory: "700M"}' in arguments
        assert '"timeout", "3m"' in arguments
        assert f'workingDir: "{pipeline}"' in arguments
        assert f"runAsUser: {os.getuid()}, runAsGroup: {os.getgid()}" in arguments


@pytest.mark.slow("waits for jobs to fail")
@pytest.mark.parametrize("profile", ["cluster-generic", "kubernetes"])
def test_a_failed_job_comes_again_with_more_memory(
    pipeline: Path, queue: dict[str, str], profile: str
) -> None:
    script = pipeline / "workflow/scripts/run.py"
    text = script.read_text()
    first_time = "snakemake.rule == 'prepare_testsets' and snakemake.resources.mem_mb <= 700"
    script.write_text(f"import sys\n{first_time} and sys.exit('too little')\n{text}")
    run = run_in(pipeline, queue, profile)
    assert run.returncode == 0, run.stdout
    first, second = sorted(Path(queue["QUEUE"]).iterdir())
    assert [(job / "status").read_text().strip() for job in (first, second)] == ["1", "0"]
    assert re.search("mem=1100mb|1100M", (second / "arguments").read_text())


@pytest.mark.slow("trains a model")
def test_a_training_has_one_core_of_a_cluster(pipeline: Path, queue: dict[str, str]) -> None:
    before = ("datasets/fr/train.h5", "vocabulary/fr/sentencepiece.model", "testsets/sts.parquet")
    first = snakemake(pipeline, "--", *(f"results/{name}" for name in before))
    assert first.returncode == 0, first.stdout
    # On one machine with as many cores, it would have eight.
    run = run_in(pipeline, queue, "cluster-generic", "--cores", "100", target=TRAINING)
    assert run.returncode == 0, run.stdout
    (job,) = Path(queue["QUEUE"]).iterdir()
    assert "select=1:ncpus=1:" in (job / "arguments").read_text()


def run_in(folder: Path, queue: dict[str, str], profile: str, *more: str, target: str = TARGET) -> Run:
    arguments = [
        "--profile",
        f"profiles/{profile}",
        "--seconds-between-status-checks",
        "1",
        "--latency-wait",
        "5",
        *more,
    ]
    return subprocess.run(
        command(*arguments, "--", target),
        cwd=folder,
        env=queue,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
        check=False,
    )
