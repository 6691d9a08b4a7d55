"""Test the page on engines: type each of its recipes, stop it half-way, and let it go on."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from pipelines import ROOT, environment

from paraphrastic import best_pairs, load_model, near_duplicates
from paraphrastic.neighbours.nearest import nearest_neighbours

PAGE = (ROOT / "docs/engines.md").read_text(encoding="utf-8")
# The code below each heading, and what it needs.
SECTIONS = {
    heading: re.findall(r"^```python\n(.*?)^```$", section, re.M | re.S)
    for heading, section in re.findall(r"^##? (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.M | re.S)
}
NEEDS = {"Snakemake": "snakemake", "Dask": "distributed", "Ray": "ray", "Spark": "pyspark"}
ROWS = 300

pytestmark = pytest.mark.slow("starts Dask, Ray and Spark")


@pytest.fixture(params=NEEDS)
def engine(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    if importlib.util.find_spec(NEEDS[name]) is None:
        pytest.skip(f"{name} is not installed: `make install-engines`")
    if name == "Spark" and shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    return name


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with shards of text."""
    (tmp_path / "texts").mkdir()
    for shard in range(3):
        rows = range(shard * ROWS, (shard + 1) * ROWS)
        table = pl.DataFrame({"id": rows, "text": [f"This is number {row}, isn't it?" for row in rows]})
        table.write_parquet(tmp_path / f"texts/{shard}.parquet")
    (library,) = SECTIONS["More sentences than one machine holds"]
    (tmp_path / "shards.py").write_text(library)
    return tmp_path


# Added to `shards.py`: the first worker that embeds a shard is killed.
KILL = """
import os
import signal

embed_in_peace = embed_shard


def embed_shard(model, shard):
    try:
        Path("killed").touch(exist_ok=False)
    except FileExistsError:
        return embed_in_peace(model, shard)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def run(place: Path, engine: str, code: str) -> None:
    variables = {**environment(), "PYTHONPATH": str(ROOT / "src"), "RAY_USAGE_STATS_ENABLED": "0"}
    variables |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    variables["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), variables["PATH"]])
    name = "Snakefile" if engine == "Snakemake" else "recipe.py"
    (place / name).write_text(code)
    command = ["-m", "snakemake", "--cores", "2"] if engine == "Snakemake" else [name]
    ended = subprocess.run(
        [sys.executable, *command], cwd=place, env=variables, text=True, capture_output=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def assert_vectors(found: pl.DataFrame) -> None:
    expected = load_model("en").embed_raw_text(
        [f"This is number {row}, isn't it?" for row in range(3 * ROWS)]
    )
    found = found.sort("id")
    assert found["id"].to_list() == list(range(3 * ROWS))
    np.testing.assert_array_equal(np.stack(found["vector"].to_list()), expected)


def test_shards_become_vectors_and_only_missing_ones_are_made(engine: str, place: Path) -> None:
    recipe = SECTIONS[engine][0]
    run(place, engine, recipe)
    vectors = place / "vectors"
    assert_vectors(pl.read_parquet(vectors / "*.parquet"))
    (vectors / "1.parquet").unlink()
    before = {path.name: path.stat().st_mtime_ns for path in vectors.iterdir()}
    run(place, engine, recipe)
    assert_vectors(pl.read_parquet(vectors / "*.parquet"))
    assert {name: (vectors / name).stat().st_mtime_ns for name in before} == before


@pytest.mark.parametrize("engine", ["Spark"], indirect=True)
def test_a_column_of_a_data_frame_becomes_vectors(engine: str, place: Path) -> None:
    run(place, engine, SECTIONS[engine][1])
    assert_vectors(pl.read_parquet(place / "frame/*.parquet"))


@pytest.mark.parametrize("engine", ["Dask", "Ray", "Spark"], indirect=True)
def test_a_killed_worker_costs_no_shard(engine: str, place: Path) -> None:
    with (place / "shards.py").open("a") as file:
        file.write(KILL)
    run(place, engine, SECTIONS[engine][0])
    assert (place / "killed").exists()
    assert_vectors(pl.read_parquet(place / "vectors/*.parquet"))


@pytest.mark.parametrize("engine", ["Spark", "Dask", "Ray"], indirect=True)
def test_near_duplicates_across_shards(engine: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    vectors = random.standard_normal((700, 60)).astype(np.float32)
    # Chains, too: each row is near the one before it.
    for row in range(400, 700):
        vectors[row] = vectors[row - random.integers(1, 400)] + 0.3 * vectors[row]
    vectors[5] = 0
    (tmp_path / "vectors").mkdir()
    ids = random.permutation(700)
    for shard, rows in enumerate(np.array_split(ids, 3)):
        table = pl.DataFrame({"id": rows, "vector": vectors[rows]})
        table.write_parquet(tmp_path / f"vectors/{shard}.parquet")
    library, *recipes = SECTIONS["Near duplicates"]
    (tmp_path / "bands.py").write_text(library)
    run(tmp_path, engine, recipes[["Spark", "Dask", "Ray"].index(engine)])
    found = pl.read_parquet(tmp_path / "duplicates/*.parquet").sort("id")
    expected = near_duplicates(vectors, 0.9)
    left_out = np.flatnonzero(expected.originals >= 0)
    assert 100 < len(left_out) < 300
    assert found["id"].to_list() == left_out.tolist()
    assert found["original"].to_list() == expected.originals[left_out].tolist()


@pytest.mark.parametrize("engine", ["Dask", "Ray", "Spark"], indirect=True)
def test_translations_across_shards(engine: str, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    first = random.standard_normal((500, 30)).astype(np.float32)
    second = (first + 0.4 * random.standard_normal((500, 30))).astype(np.float32)[random.permutation(500)][
        :450
    ]
    for language, vectors in (("de", first), ("en", second)):
        (tmp_path / "vectors" / language).mkdir(parents=True)
        for shard, rows in enumerate(np.array_split(np.arange(len(vectors)), 3)):
            table = pl.DataFrame({"id": rows, "vector": vectors[rows]})
            table.write_parquet(tmp_path / f"vectors/{language}/{shard}.parquet")
    library, *recipes, pairs = SECTIONS["Translations"]
    nearest = recipes[["Dask", "Ray", "Spark"].index(engine)]
    (tmp_path / "neighbours.py").write_text(library)
    for code in (nearest, pairs):
        run(tmp_path, engine, code)
    expected = best_pairs(*nearest_neighbours(first, second, 4), "ratio")
    with np.load(tmp_path / "pairs.npz") as found:
        np.testing.assert_array_equal(found["sources"], expected.sources)
        np.testing.assert_array_equal(found["targets"], expected.targets)
        np.testing.assert_allclose(found["scores"], expected.scores, rtol=1e-12)
