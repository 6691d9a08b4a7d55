"""Test that the benchmarks run; their figures depend on the machine, so the tests make no demands on them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

pytestmark = pytest.mark.slow("runs the benchmarks")

ROOT = Path(__file__).parents[2]


def test_corpus_benchmark(tmp_path):
    output = tmp_path / "corpus.json"
    command = [
        sys.executable,
        "benchmarks/corpus.py",
        "--pairs",
        "300",
        "--repeats",
        "1",
        "--output",
        str(output),
    ]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    figures = json.loads(output.read_text())
    assert set(figures["labels"]["all labels"]) == {"pairs_per_second", "reference", "ratio"}
    steps = figures["steps"]["300"]
    assert list(steps) == ["extract", "score", "describe", "select", "mark contamination", "merge"]
    assert all(10 < step["peak_mb"] < 2000 and step["pairs_per_second"] > 0 for step in steps.values())
    assert len(result.stdout.splitlines()) == len(figures["labels"]) + len(steps)


def test_training_benchmark(tmp_path):
    output = tmp_path / "training.json"
    command = [sys.executable, "benchmarks/training.py", "--quick", "--repeats", "1", "--rows", "500"]
    result = subprocess.run(
        [*command, "--output", str(output)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    cases = json.loads(output.read_text())["cases"]
    assert list(cases) == ["32 dimensions, M 2, dropout 0.0", "32 dimensions, M 2, dropout 0.1"]
    for case in cases.values():
        assert set(case) == {"reference", "float32", "bfloat16", "int8", "leading"}
        assert all(part > 0 for row in case.values() for part in row.values())
    assert len(result.stdout.splitlines()) == 4 * len(cases)


def test_gpu_benchmark(tmp_path):
    output = tmp_path / "gpu.json"
    command = [sys.executable, "benchmarks/training.py", "--device", "cuda", "--quick", "--repeats", "1"]
    command += ["--rows", "500", "--output", str(output)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if not torch.cuda.is_available():
        assert result.returncode == 1
        assert result.stderr.startswith("--device: cuda is asked for, but torch ")
        pytest.skip("no GPU: torch sees none")
    cases = json.loads(output.read_text())["cases"]
    assert len(cases) == 4
    assert all(figure > 0 for case in cases.values() for figure in case.values())


def test_memory_benchmark(tmp_path):
    output = tmp_path / "memory.json"
    command = [sys.executable, "benchmarks/training.py", "--quick", "--memory-pairs", "20000"]
    options = ["--rows", "500", "--window", "8192", "--steps", "20", "--output", str(output)]
    subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=True)
    figures = json.loads(output.read_text())
    # Training went into the second window and stopped after the requested number of mini-batches.
    assert figures["trained_pairs"] == 20 * 128
    assert figures["parameters_mb"] == 3 * 4 * 500 * 32 / 1e6
    assert 50 < figures["imported_mb"] < figures["peak_mb"] < 2000


def test_mining_benchmark(tmp_path):
    output = tmp_path / "mining.json"
    command = [sys.executable, "benchmarks/mining.py", "--quick", "--repeats", "1", "--output", str(output)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (case,) = json.loads(output.read_text())["seconds"].values()
    assert {"paraphrastic", "numpy"} <= set(case)
    assert all(seconds > 0 for seconds in case.values())
    assert len(result.stdout.splitlines()) == 1
    options = ["--sentences", "3000", "--dimension", "16"]
    subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, check=True)
    figures = json.loads(output.read_text())
    assert 1500 < figures["pairs"] <= 3000
    assert 50 < figures["imported_mb"] < figures["peak_mb"] < 2000


def test_search_benchmark(tmp_path):
    output = tmp_path / "search.json"
    command = [sys.executable, "benchmarks/search.py", "--quick", "--repeats", "1", "--output", str(output)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    cases = json.loads(output.read_text())["seconds"]
    assert [name.split(",")[0].partition(" ")[2] for name in cases] == 3 * ["queries"] + [
        "duplicates of 600 sentences"
    ]
    assert all({"paraphrastic", "numpy"} <= set(case) and min(case.values()) > 0 for case in cases.values())
    subprocess.run(
        [*command, "--sentences", "3000", "--dimension", "16"], cwd=ROOT, capture_output=True, check=True
    )
    figures = json.loads(output.read_text())
    assert 50 < figures["imported_mb"] < figures["peak_mb"] < 2000


def test_embedding_benchmark(tmp_path):
    output = tmp_path / "embedding.json"
    command = [sys.executable, "benchmarks/embedding.py", "--sentences", "300", "--dimension", "16"]
    subprocess.run(
        [*command, "--repeats", "1", "--output", str(output)], cwd=ROOT, capture_output=True, check=True
    )
    figures = json.loads(output.read_text())
    speeds = figures["sentences_per_second"]
    assert {"model2vec", "paraphrastic, 2 threads"} < set(speeds)
    assert all(speed > 0 for speed in speeds.values())
    assert set(figures["parts"]) == {"prepare", "tokenize", "average", "write memory", "sentencepiece alone"}
    assert figures["columns"]["list"] == 1
    assert {"pandas", "Arrow", "NumPy, objects"} < set(figures["columns"])
    for name in ("en", "en-de-es-fr"):
        own, static = (figures["packaged"][name][way] for way in (name, "StaticEmbedding"))
        assert own["sentences_per_second"] > 0 < static["sentences_per_second"]
        assert own["mb"] < 8 < 30 < static["mb"]
