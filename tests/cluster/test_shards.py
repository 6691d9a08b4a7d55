"""Test that a cluster embeds a folder of shards with the rules of docs/engines.md and our profile."""

import re
import shutil
import sys
from pathlib import Path

import polars as pl
import pytest
from clusters import Cluster
from pipelines import ROOT

from paraphrastic import load_model

pytestmark = [pytest.mark.cluster, pytest.mark.slow("starts a Slurm"), pytest.mark.timeout(600)]


def test_a_cluster_embeds_shards_and_then_only_missing_ones(cluster: Cluster, tmp_path: Path) -> None:
    page = (ROOT / "docs/engines.md").read_text(encoding="utf-8")
    recipe = re.search(r"^## Snakemake\n.*?^```python\n(.*?)^```$", page, re.M | re.S)
    assert recipe
    (tmp_path / "Snakefile").write_text(recipe[1])
    shutil.copytree(ROOT / "profiles/slurm", tmp_path / "profiles/slurm")
    (tmp_path / "texts").mkdir()
    texts = [f"This is number {row}, isn't it?" for row in range(80)]
    for shard in range(4):
        rows = range(20 * shard, 20 * shard + 20)
        table = pl.DataFrame({"id": rows, "text": texts[rows[0] : rows[-1] + 1]})
        table.write_parquet(tmp_path / f"texts/{shard}.parquet")

    command = [*(sys.executable, "-m", "snakemake", "--nocolor", "--profile", "profiles/slurm")]
    command += ["--slurm-init-seconds-before-status-checks", "3"]
    run = cluster.run(*command, cwd=tmp_path)
    assert run.returncode == 0, run.stdout
    found = pl.read_parquet(tmp_path / "vectors/*.parquet").sort("id")
    assert found["vector"].to_list() == load_model("en").embed_raw_text(texts).tolist()
    jobs = cluster.ended(tmp_path)
    assert len(jobs) == 4
    assert {job["JobState"] for job in jobs} == {"COMPLETED"}

    (tmp_path / "vectors/2.parquet").unlink()
    again = cluster.run(*command, cwd=tmp_path)
    assert again.returncode == 0, again.stdout
    assert len(cluster.ended(tmp_path)) == 5
    assert pl.read_parquet(tmp_path / "vectors/*.parquet").sort("id").equals(found)
