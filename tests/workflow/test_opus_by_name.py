"""Test that OPUS corpora given by name are listed, planned, estimated, downloaded from a mirror and used."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from pipelines import environment, snakemake

CONFIG = """
mirror: mirror
models: [xx]
definitions:
  xx: {languages: [en, xx], corpora: [CCMatrix, ELRC-10-A.b]}
language_id: null
selection:
  bitext: {language: null}
held_out: null
evaluation: {sts: sample_sts}
"""
RUN = ("--configfile", "config.yaml", "--")
MERGED = "results/corpora/xx/counts.json"


def publish(mirror: Path, corpus: str, sentences: int) -> dict[str, object]:
    """Put a corpus into the mirror and return its entry in OPUS's list."""
    host, path = "object.pouta.csc.fi", f"OPUS-{corpus}/v1/moses/en-xx.txt.zip"
    (mirror / host / path).parent.mkdir(parents=True)
    with zipfile.ZipFile(mirror / host / path, "w") as archive:
        for code in ("en", "xx"):
            lines = (f"{corpus} has this {code} sentence as number {i}\n" for i in range(sentences))
            archive.writestr(f"{corpus}.en-xx.{code}", "".join(lines))
    entry = {"corpus": corpus, "version": "v1", "url": f"https://{host}/{path}"}
    return entry | {"size": 9, "alignment_pairs": sentences}


@pytest.mark.slow("runs a pipeline")
def test_a_name_is_enough(pipeline: Path) -> None:
    mirror = pipeline / "mirror"
    entries = [publish(mirror, "CCMatrix", 60), publish(mirror, "ELRC-10-A.b", 50)]
    query = "?source=en&target=xx&preprocessing=moses&version=latest"
    answer = mirror / "opus.nlpl.eu/opusapi" / query
    answer.parent.mkdir(parents=True)
    answer.write_text(json.dumps({"corpora": entries}))
    (pipeline / "config.yaml").write_text(CONFIG)

    run = snakemake(pipeline, *RUN, MERGED)
    assert run.returncode != 0
    (line,) = {line for line in run.stdout.splitlines() if "CCMatrix" in line}
    assert "'CCMatrix' is not in the registry of data sets" in line
    command = line.rsplit("first: paraphrastic ", 1)[1].split()
    listed = subprocess.run(
        [sys.executable, "-m", "paraphrastic.cli", *command],
        cwd=pipeline,
        env=environment() | {"PYTHONPATH": "src"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert [row.split()[:3] for row in listed.stdout.splitlines()[1:]] == [
        ["CCMatrix", "v1", "60"],
        ["ELRC-10-A.b", "v1", "50"],
    ]

    run = snakemake(pipeline, "--dry-run", *RUN, MERGED)
    assert run.returncode == 0, run.stdout
    assert not (pipeline / "resources/downloads").exists()
    run = snakemake(pipeline, *RUN, MERGED)
    assert run.returncode == 0, run.stdout
    shown = run.stdout.index("estimate for CCMatrix v1 en-xx, ELRC-10-A.b v1 en-xx: 110 pairs")
    assert shown < run.stdout.index("Download en-xx.txt.zip of CCMatrix")
    counts = json.loads((pipeline / MERGED).read_text())
    assert [corpus["kept"] for corpus in counts["corpora"]] == [60, 50]

    # Downloaded corpora need neither an estimate nor the mirror.
    (pipeline / "config.yaml").write_text(CONFIG.replace("mirror: mirror", "mirror: null"))
    run = snakemake(pipeline, "--forcerun", "merge_pairs", *RUN, MERGED)
    assert run.returncode == 0, run.stdout
    assert "estimate" not in run.stdout
