"""Test that the benchmarks run; their figures depend on the machine, so the tests make no demands on them."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.slow("runs the benchmarks")

ROOT = Path(__file__).parents[2]
LABELS = {"trigram overlap", "trigram overlap, plain", "languages", "languages, plain"}
STEPS = {"extract", "score", "select", "mark contamination", "merge"}


def run(name: str, output: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, f"benchmarks/{name}.py", "--quick", "--repeats", "1", "--output", str(output)]
    return subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=False)


def numbers(figures: Any) -> Iterator[float]:
    """All numbers of the figures, however deep they are."""
    for figure in figures.values():
        yield from numbers(figure) if isinstance(figure, dict) else [figure]


@pytest.mark.parametrize(
    ("name", "measured"),
    [
        ("corpus", {"labels": LABELS, "steps/300": STEPS}),
        ("training", {"cases/32 dimensions, M 2, dropout 0.1": {"reference", "float32", "leading"}}),
        (
            "search",
            {
                "seconds/1 queries, 600 rows, 32 dimensions": {"paraphrastic", "numpy"},
                "seconds/near duplicates of 600 sentences, 32 dimensions": {"paraphrastic", "numpy"},
                "seconds/neighbours of 600 sentences on each side, 32 dimensions": {"paraphrastic", "numpy"},
            },
        ),
        (
            "embedding",
            {
                "sentences_per_second": {"model2vec", "paraphrastic, 2 threads"},
                "packaged/en": {"en", "StaticEmbedding, vocabulary of en"},
            },
        ),
    ],
)
def test_a_benchmark_measures_us_beside_others(
    name: str, measured: dict[str, set[str]], tmp_path: Path
) -> None:
    assert run(name, tmp_path / "figures.json").stdout
    for keys, ways in measured.items():
        figures = json.loads((tmp_path / "figures.json").read_text())
        for key in keys.split("/"):
            figures = figures[key]
        assert ways <= set(figures)
        assert all(number > 0 for number in numbers(figures))


def test_training_is_measured_on_a_gpu(tmp_path: Path) -> None:
    result = run("training", tmp_path / "figures.json", "--device", "cuda")
    if not torch.cuda.is_available():
        assert (result.returncode, result.stderr[:28]) == (1, "--device: cuda is asked for,")
        pytest.skip("no GPU: torch sees none")
    for case in json.loads((tmp_path / "figures.json").read_text())["cases"].values():
        assert set(case) == {"reference", "autograd"}
