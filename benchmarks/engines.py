"""Speed of embedding on engines: `python benchmarks/engines.py [--rows N] [--shards N] [--near]`.

Writes shards of different sentences as Parquet files, and embeds them by each recipe of docs/engines.md on
two workers, beside one call of this library with two threads that reads the same rows from one file. With
--near, also finds near duplicates across shards, beside `near_duplicates`. An engine that is
not installed is left out. Writes results/benchmarks/engines.json.
"""

import argparse
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from paraphrastic import Source, embed_file, load_model, near_duplicates
from paraphrastic.base.files import write_json

ROOT = Path(__file__).resolve().parents[1]
SAMPLE = ROOT / "data/sample/tatoeba/tatoeba.deu-eng.eng"
MODULES = {"Snakemake": "snakemake", "Dask": "distributed", "Ray": "ray", "Spark": "pyspark"}
WORDS = 12


def main() -> None:
    """Measure, print and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--shards", type=int, default=20)
    parser.add_argument("--near", action="store_true", help="also find near duplicates across shards")
    parser.add_argument("--output", default="results/benchmarks/engines.json")
    options = parser.parse_args()
    sections = recipes()
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_shards(folder, options.rows, options.shards)
        model = load_model("en")
        model.embed_raw_text(["compiles the kernels"])
        whole = Source(str(folder / "all.parquet"), ["text"], "id")
        seconds = timed(lambda: embed_file(model, whole, str(folder / "all-vectors.parquet"), threads=2))
        figures["embed_file"] = options.rows / seconds
        for engine, module in MODULES.items():
            if importlib.util.find_spec(module) is None:
                print(f"{engine} is not installed")
                continue
            shutil.rmtree(folder / "vectors", ignore_errors=True)
            seconds = timed(partial(run, folder, engine, sections[engine][0]))
            figures[engine] = options.rows / seconds
        for engine, rate in figures.items():
            print(f"{engine}: {rate:,.0f} sentences/s, {rate / figures['embed_file']:.2f} of embed_file's")
        if options.near:
            figures["near"] = measure_near(folder, sections["Near duplicates"], options.rows)
    write_json(options.output, {"rows": options.rows, "shards": options.shards, **figures})


def recipes() -> dict[str, list[str]]:
    """The code below each heading of the page."""
    page = (ROOT / "docs/engines.md").read_text(encoding="utf-8")
    return {
        heading: re.findall(r"^```python\n(.*?)^```$", section, re.M | re.S)
        for heading, section in re.findall(r"^##? (.*?)\n(.*?)(?=^## |\Z)", page, re.M | re.S)
    }


def write_shards(folder: Path, rows: int, shards: int) -> None:
    """Write sentences of random words of the sample, and the library of the page."""
    words = np.array(sorted({*SAMPLE.read_text(encoding="utf-8").lower().split()}))
    random = np.random.default_rng(0)
    # Frequent words are less frequent than in real text, where they leave more to the others.
    weights = 1 / np.sqrt(np.arange(1, len(words) + 1))
    drawn = words[random.choice(len(words), (rows, WORDS), p=weights / weights.sum())]
    # The last tenth says what others say, but for a word.
    copies = rows // 10
    drawn[rows - copies :] = drawn[random.choice(rows - copies, copies, replace=False)]
    drawn[rows - copies :, 0] = random.choice(words, copies)
    table = pl.DataFrame({"id": np.arange(rows), "text": [" ".join(row) for row in drawn.tolist()]})
    (folder / "texts").mkdir()
    table.write_parquet(folder / "all.parquet")
    for number in range(shards):
        part = table[number * rows // shards : (number + 1) * rows // shards]
        part.write_parquet(folder / f"texts/{number:03}.parquet")
    (folder / "shards.py").write_text(recipes()["More sentences than one machine holds"][0])


def measure_near(folder: Path, codes: list[str], rows: int) -> dict[str, float]:
    """Seconds for near duplicates across shards; prints how many of those of `near_duplicates` are found."""
    library, *others = codes
    (folder / "bands.py").write_text(re.sub(r"ROWS = .*", f"ROWS = 0.9, {rows}", library))
    vectors = pl.read_parquet(folder / "vectors/*.parquet").sort("id")["vector"]
    x: np.ndarray = np.stack(vectors.to_list(), dtype=np.float32)
    start = time.perf_counter()
    expected = np.flatnonzero(near_duplicates(x, 0.9).originals >= 0)
    figures = {"near_duplicates": time.perf_counter() - start}
    for engine, code in zip(("Spark", "Dask", "Ray"), others, strict=True):
        if importlib.util.find_spec(MODULES[engine]) is None:
            continue
        shutil.rmtree(folder / "duplicates", ignore_errors=True)
        figures[engine] = timed(partial(run, folder, engine, code))
        found = pl.read_parquet(folder / "duplicates/*.parquet")["id"].to_numpy()
        share = np.isin(expected, found).mean() if len(expected) else 1.0
        print(f"near duplicates with {engine}: {figures[engine]:.0f} s, {len(found)} of {len(expected)}, "
              f"{100 * share:.1f} % of those of near_duplicates")  # fmt: skip
    return figures


def timed(work: Callable[[], object]) -> float:
    """The seconds that some work takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def run(folder: Path, engine: str, code: str) -> None:
    """Run a recipe in a folder."""
    name = "Snakefile" if engine == "Snakemake" else "recipe.py"
    (folder / name).write_text(code)
    command = ["-m", "snakemake", "--cores", "2", "--quiet"] if engine == "Snakemake" else [name]
    variables = {
        **os.environ, "PYTHONPATH": str(ROOT / "src"), "RAY_USAGE_STATS_ENABLED": "0",
        "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable,
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    }  # fmt: skip
    words = [sys.executable, *command]
    subprocess.run(words, cwd=folder, env=variables, check=True, capture_output=True)  # noqa: S603 - recipes


if __name__ == "__main__":
    main()
