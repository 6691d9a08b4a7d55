"""Test what works in an environment with nothing but the wheel and the packages that it needs."""

import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipelines import MakeOnce

from paraphrastic.cli.models import _FORMATS
from paraphrastic_pipeline.base.code_version import ROOT as SOURCES

ROOT = SOURCES.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Settings of pip that would offer packages from elsewhere.
NO_PIP_SETTINGS = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
LINES = "A dog runs.\nIt rains.\n"
PIPELINE = (
    r"this command needs the packages of the pipeline \(\w+ is missing\); "
    "run `make install` in the project's folder"
)
EXTRA = r"{} is not installed; run pip install '\.\[{}\]' in the project's folder"
EXPORT = ["export", "--model", "en", "--output", "out", "--format"]
NEEDS = {
    "export --format onnx": ([*EXPORT, "onnx"], EXTRA.format("onnx", "onnx")),
    "export --format model2vec": ([*EXPORT, "model2vec"], EXTRA.format("model2vec", "model2vec")),
    "export --format sentence-transformers": (
        [*EXPORT, "sentence-transformers"],
        EXTRA.format("sentence_transformers", "sentence-transformers"),
    ),
    "search with another encoder": (
        ["search", "--model", "sts", "--index", "v.npy", "--input", "in.txt", "--output", "out"],
        "sts: is not a folder, and a model of the Hugging Face Hub needs sentence-transformers, which is not "
        r"installed; run pip install '\.\[sentence-transformers\]' in the project's folder",
    ),
    "embed with a name of no model": (
        ["embed", "--model", "nope", "--input", "in.txt", "--output", "out.npy"],
        "nope: is not a folder, and a model of the Hugging Face Hub needs sentence-transformers, which is "
        r"not installed; run pip install '\.\[sentence-transformers\]' in the project's folder",
    ),
}
# Commands of the pipeline, which the wheel does not have.
OF_PIPELINE = {
    "new": (
        ["new", "--languages", "en-de", "--corpus", "in.txt", "--output", "-"],
        PIPELINE.format("yaml"),
    ),
    "corpora": (["corpora", "--languages", "en-pl"], PIPELINE.format("requests")),
    "config": (["config"], PIPELINE.format("yaml")),
    "plan": (["plan"], PIPELINE.format("yaml")),
    "negatives": (["negatives", "--model", "en", "--pairs", "pairs.tsv"], PIPELINE.format("torch")),
    "report": (["report", "--output", "report.html"], "results: is not a folder of results"),
    "verify": (["verify", "--results", "."], r"provenance\.json: .+"),
    "links": (["links", "--registry", str(ROOT / "config/datasets.tsv")], PIPELINE.format("requests")),
}


def normalized(name: str) -> str:
    return re.sub("[-_.]+", "-", name).lower()


def distributions(requirements: list[str]) -> set[str]:
    """Names of packages and of those that they need."""
    remaining, found = [*requirements], set()
    while remaining:
        requirement = remaining.pop()
        name = normalized(re.split(r"[^\w.-]", requirement)[0])
        if name not in found and "extra ==" not in requirement:
            found.add(name)
            remaining += metadata.requires(name) or []
    return found


def link_packages(folder: Path, requirements: list[str]) -> None:
    """Put links to the packages and to what they need, and to nothing else, into a folder."""
    for name in distributions(requirements):
        files = metadata.distribution(name).files or []
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (folder / top).symlink_to(metadata.distribution(name).locate_file(top))


def make_environment(folder: Path, requirements: list[str]) -> None:
    """Make an environment that has the wheel, the packages, what they need, and nothing else."""
    wheels, made = folder / "wheels", folder / "environment"
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", wheels, ROOT], check=True)
    venv.create(made)
    link_packages(next(made.glob("lib/python*/site-packages")), requirements)
    # Without an index, this also checks that everything that the wheel needs is there.
    pip = [sys.executable, "-m", "pip", "--python", made / "bin/python"]
    install = [*pip, "install", "--quiet", "--no-index", *wheels.glob("*.whl")]
    subprocess.run(install, check=True, env=NO_PIP_SETTINGS)


# The environment has its own copy of the package.
WITHOUT_PATH = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}


@dataclass(frozen=True)
class Environment:
    """An environment of its own with only some packages."""

    python: list[str | Path]
    variables: dict[str, str]

    def run(self, code: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [*self.python, "-c", code, *arguments]
        return subprocess.run(command, cwd=folder, env=self.variables, capture_output=True, text=True)

    def command(self, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(PROGRAM, folder, *arguments)


PROGRAM = "import sys; from paraphrastic.cli import main; sys.exit(main())"


def environment(made_once: MakeOnce, kind: str, name: str, requirements: list[str]) -> Environment:
    if kind == "wheel":
        made = made_once(f"{name}-wheel", lambda folder: make_environment(folder, requirements))
        return Environment([made / "environment/bin/python"], WITHOUT_PATH)
    links = made_once(name, lambda folder: link_packages(folder, requirements))
    # With -S, Python has no other packages than those on this path.
    path = os.pathsep.join(map(str, (links, SOURCES)))
    return Environment([sys.executable, "-S"], {**WITHOUT_PATH, "PYTHONPATH": path})


KINDS = ["links", pytest.param("wheel", marks=pytest.mark.slow("builds and installs a wheel"))]


@pytest.fixture(scope="session", params=KINDS)
def core(request: pytest.FixtureRequest, made_once: MakeOnce) -> Environment:
    """An environment in which only the package and what it needs are installed."""
    return environment(made_once, request.param, "core", PROJECT["dependencies"])


def write_lines(folder: Path) -> None:
    (folder / "in.txt").write_text(LINES)
    (folder / "pairs.tsv").write_text("A dog runs.\tThe dog is running.\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_lines(tmp_path)
    return tmp_path


def test_python(core: Environment, folder: Path) -> None:
    code = """
import paraphrastic

for name in paraphrastic.__all__:
    getattr(paraphrastic, name)
model = paraphrastic.load_model("en")
vectors = model.embed_raw_text(["A dog runs.", "It rains."])
assert "SentenceVectors" in dir(paraphrastic)
try:
    paraphrastic.SentenceVectors
except ImportError as error:
    assert str(error) == "SentenceVectors needs scikit-learn: pip install scikit-learn", error
assert paraphrastic.search(vectors, vectors, k=1).indices.tolist() == [[0], [1]]
print(paraphrastic.__file__)
"""
    ended = core.run(code, folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ("site-packages" in ended.stdout) == has_wheel(core)


def test_embed_and_score(core: Environment, folder: Path) -> None:
    code = """
from paraphrastic.cli import main

for name, given, output in (("embed", "in.txt", "out.npy"), ("score", "pairs.tsv", "scores.tsv")):
    assert main([name, "--model", "en", "--input", given, "--output", output]) == 0
"""
    ended = core.run(code, folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert len(np.load(folder / "out.npy")) == 2
    assert (folder / "scores.tsv").read_text().endswith("\tA dog runs.\tThe dog is running.\n")


def test_every_command_has_help(core: Environment, folder: Path) -> None:
    ended = core.command(folder, "--help")
    names = re.findall(r"^  ([a-z][a-z-]+) {2,}", ended.stdout, re.M)
    assert {"embed", "export", "mine"} < set(names)
    assert {"links", "report"}.isdisjoint(names) == has_wheel(core)
    code = """
import sys
from paraphrastic.cli import main

for arguments in (["--help"], *([name, "--help"] for name in sys.argv[1:])):
    try:
        main(arguments)
    except SystemExit as end:
        assert end.code == 0
"""
    ended = core.run(code, folder, *names)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.count("usage: paraphrastic") == len(names) + 1


def has_wheel(environment: Environment) -> bool:
    return environment.python[-1] != "-S"


def needs(core: Environment) -> dict[str, tuple[list[str], str]]:
    return NEEDS if has_wheel(core) else NEEDS | OF_PIPELINE


@pytest.fixture(scope="session")
def said(core: Environment, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What commands that need more say, all in one process: the status, both streams and the files."""
    code = """
import contextlib, io, json, os, sys
from paraphrastic.cli import main

said = {}
for case, arguments in json.loads(sys.argv[1]).items():
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        status = main(arguments)
    said[case] = [status, out.getvalue(), err.getvalue(), sorted(os.listdir())]
print(json.dumps(said))
"""
    folder = tmp_path_factory.mktemp("needs")
    write_lines(folder)
    cases = {case: arguments for case, (arguments, _) in needs(core).items()}
    ended = core.run(code, folder, json.dumps(cases))
    assert (ended.returncode, ended.stderr) == (0, "")
    found: dict[str, list[Any]] = json.loads(ended.stdout)
    return found


@pytest.mark.parametrize("case", [*NEEDS, *OF_PIPELINE])
def test_a_command_that_needs_more_says_so_in_one_line(
    case: str, core: Environment, said: dict[str, list[Any]]
) -> None:
    if case not in needs(core):
        ended = core.command(Path(), *OF_PIPELINE[case][0])
        assert ended.returncode == 2
        assert ended.stderr.endswith(
            f"'{case}' is not a command of the library alone; those that train and evaluate come with the "
            "pipeline: run `make install` in the project's folder\n"
        )
        return
    status, output, error, files = said[case]
    assert (status, output, files) == (1, "", ["in.txt", "pairs.tsv"])
    assert re.fullmatch(f"paraphrastic: error: {needs(core)[case][1]}\n", error)


def test_the_page_to_try_a_model_needs_no_more(core: Environment, folder: Path) -> None:
    page = folder / "demo.html"
    ended = core.command(folder, "demo", "--output", page.name)
    assert re.fullmatch(r"paraphrastic: demo\.html: \d\.\d MB; open it in a browser\n", ended.stderr)
    assert ended.returncode == 0
    assert page.stat().st_size > 1_000_000


@pytest.mark.parametrize(
    "form", ["paraphrastic", pytest.param("glove", marks=pytest.mark.slow("writes a model as text"))]
)
def test_some_exports_need_no_more(form: str, core: Environment, folder: Path) -> None:
    ended = core.command(folder, *EXPORT, form, "--text", "in.txt")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "with identical pieces: 100 %" in ended.stdout
    assert (folder / "out/README.md").is_file()


def test_extras_that_messages_name_exist() -> None:
    extras = PROJECT["optional-dependencies"]
    sources = [path.read_text(encoding="utf-8") for path in SOURCES.rglob("*.py")]
    named = {name for text in sources for name in re.findall(r"'\.\[([\w-]+)\]'", text)}
    named |= {*_FORMATS} - {"paraphrastic", "glove", "javascript"}
    assert {"faiss", "chinese", "onnx"} <= named <= set(extras)
    # The package is not on an index.
    assert not [text for text in sources if re.search("pip install '?paraphrastic", text)]
