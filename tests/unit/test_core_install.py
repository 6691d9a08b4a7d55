"""Test what works in an environment with nothing but the library and the packages that it needs."""

import os
import random
import re
import subprocess
import sys
import tomllib
import venv
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from pipelines import MakeOnce

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PROGRAM = "import sys; from paraphrastic.cli import main; sys.exit(main())"
# Settings of pip that would offer packages from elsewhere, and a path to another copy of the library.
VARIABLES = {
    key: value for key, value in os.environ.items() if not key.startswith("PIP_") and key != "PYTHONPATH"
}


def distributions(requirements: list[str]) -> set[str]:
    """Names of packages and of those that they need."""
    remaining, found = [*requirements], set()
    while remaining:
        requirement = remaining.pop()
        name = re.sub("[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()
        if name not in found and "extra ==" not in requirement:
            found.add(name)
            remaining += metadata.requires(name) or []
    return found


def link_packages(folder: Path) -> None:
    """Put links to what the library needs, and to nothing else, into a folder."""
    for name in distributions(PROJECT["dependencies"]):
        files = metadata.distribution(name).files or []
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (folder / top).symlink_to(metadata.distribution(name).locate_file(top))


def make_environment(folder: Path) -> None:
    """Make an environment that has the wheel, what it needs, and nothing else."""
    wheels, made = folder / "wheels", folder / "environment"
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", wheels, ROOT], check=True)
    venv.create(made)
    link_packages(next(made.glob("lib/python*/site-packages")))
    # Without an index, this also checks that everything that the wheel needs is there.
    pip = [sys.executable, "-m", "pip", "--python", made / "bin/python"]
    subprocess.run(
        [*pip, "install", "--quiet", "--no-index", *wheels.glob("*.whl")], check=True, env=VARIABLES
    )


@dataclass(frozen=True)
class Environment:
    """An environment of its own with only some packages."""

    python: list[str | Path]
    variables: dict[str, str]
    is_wheel: bool

    def run(self, code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*self.python, "-c", code, *arguments]
        return subprocess.run(
            command, cwd=folder, env=self.variables, capture_output=True, text=True, check=False
        )

    def command(self, folder: Path, *arguments: str) -> str:
        """Run a command, which must succeed without PyTorch."""
        ended = self.run(PROGRAM, folder, *arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout


@pytest.fixture(
    scope="session", params=["links", pytest.param("wheel", marks=pytest.mark.slow("builds a wheel"))]
)
def core(request: pytest.FixtureRequest, made_once: MakeOnce) -> Environment:
    if request.param == "wheel":
        made = made_once("core-wheel", make_environment)
        return Environment([made / "environment/bin/python"], VARIABLES, is_wheel=True)
    links = made_once("core", link_packages)
    # With -S, Python has no other packages than those on this path.
    path = os.pathsep.join(map(str, (links, SOURCES)))
    return Environment([sys.executable, "-S"], {**VARIABLES, "PYTHONPATH": path}, is_wheel=False)


@pytest.mark.slow("handles 40,000 lines")
def test_every_command_of_the_library_on_real_sizes(core: Environment, tmp_path: Path) -> None:
    """Deduplicate 40,000 lines, mine two files of 30,000, and run all other commands on a part of them."""
    assert "torch" not in {name.partition("-")[0] for name in distributions(PROJECT["dependencies"])}
    generator = random.Random(0)
    words = [
        "dog",
        "cat",
        "man",
        "house",
        "river",
        "train",
        "red",
        "old",
        "small",
        "runs",
        "sees",
        "eats",
        "near",
    ]
    lines = [" ".join(generator.choices(words, k=9)) for _ in range(20_000)]
    (tmp_path / "many.txt").write_text("".join(f"{line}\n" for line in lines * 2))
    (tmp_path / "target.txt").write_text("".join(f"{line.upper()}\n" for line in reversed(lines)))
    core.command(
        tmp_path, "dedup", "--model", "en", "--input", "many.txt", "--output", "kept.txt", "--threshold", "1"
    )
    kept = (tmp_path / "kept.txt").read_text().splitlines()
    # Sentences of the same words have the same average.
    assert len({tuple(sorted(line.split())) for line in lines}) == len(kept) <= len(lines)
    source = lines + [f"{line} {number}" for number, line in enumerate(lines[:10_000])]
    (tmp_path / "source.txt").write_text("".join(f"{line}\n" for line in source))
    mine = ["mine", "--model", "en", "--source", "source.txt", "--target", "target.txt", "--margin", "cosine"]
    core.command(tmp_path, *mine, "--output", "mined.tsv", "--min-score", "0.999")
    assert len((tmp_path / "mined.tsv").read_text().splitlines()) > 0.9 * len(kept)
    (tmp_path / "few.txt").write_text("A dog runs.\nIt rains.\nThe train is late.\n")
    (tmp_path / "pairs.tsv").write_text("A dog runs.\tThe dog is running.\nIt rains.\tIt is raining.\nA\tB\n")
    for output in ("v.npy", "v.parquet", "v.jsonl"):
        core.command(tmp_path, "embed", "--input", "few.txt", "--output", output)
    assert len(np.load(tmp_path / "v.npy")) == 3
    core.command(tmp_path, "search", "--index", "v.parquet", "--input", "few.txt", "--output", "found.tsv")
    core.command(tmp_path, "score", "--input", "pairs.tsv", "--output", "scores.tsv")
    core.command(tmp_path, "evaluate", "--pairs", "pairs.tsv", "--output", "quality.json")
    core.command(tmp_path, "demo", "--output", "demo.html")
    for form in ("paraphrastic", "javascript"):
        core.command(tmp_path, "export", "--model", "en", "--format", form, "--output", form)
    assert core.command(tmp_path, "models").count("\n") == 2


def test_the_library_in_python(core: Environment, tmp_path: Path) -> None:
    code = """
import sys
import paraphrastic

for name in paraphrastic.__all__:
    getattr(paraphrastic, name)
try:
    paraphrastic.SentenceVectors
except ImportError as error:
    assert "scikit-learn" in str(error)
vectors = paraphrastic.load_model("en").encode(["A dog runs.", "It rains."])
assert paraphrastic.search(vectors, vectors, k=1).indices.tolist() == [[0], [1]]
assert not {"torch", "pandas", "sklearn", "scipy"} & {*sys.modules}
"""
    ended = core.run(code, tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "package"),
    [
        (["export", "--model", "en", "--format", "onnx", "--output", "out"], "onnx"),
        (["embed", "--model", "nope", "--input", "few.txt", "--output", "v.npy"], "sentence-transformers"),
        (["evaluate", "--model", "model2vec=nope", "--pairs", "pairs.tsv"], "model2vec"),
        (["import-checkpoint", "few.txt", "--sp-model", "few.txt", "--output", "out"], "torch"),
    ],
)
def test_a_command_that_needs_more_names_the_package(
    words: list[str], package: str, core: Environment, tmp_path: Path
) -> None:
    (tmp_path / "few.txt").write_text("A dog runs.\n")
    (tmp_path / "pairs.tsv").write_text("a\tb\nc\td\ne\tf\n")
    ended = core.run(PROGRAM, tmp_path, *words)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("paraphrastic: error: ")
    assert ended.stderr.count("\n") == 1
    assert package in ended.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"few.txt", "pairs.tsv"}


def test_commands_of_the_pipeline_say_where_they_come_from(core: Environment, tmp_path: Path) -> None:
    ended = core.run(PROGRAM, tmp_path, "new")
    assert ended.returncode == 2
    assert "'new'" in ended.stderr
    assert "make install" in ended.stderr
