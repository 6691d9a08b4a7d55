"""Test what works in an environment with nothing but the wheel and the packages that it needs."""

import os
import re
import subprocess
import sys
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from pipelines import MakeOnce

from paraphrastic.base.code_version import PACKAGE
from paraphrastic.cli import build_parser
from paraphrastic.cli.models import _EXTRAS

ROOT = PACKAGE.parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# Settings of pip that would offer packages from elsewhere.
NO_PIP_SETTINGS = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
LINES = "A dog runs.\nIt rains.\n"
PIPELINE = (
    r"this command needs the packages of the pipeline \(\w+ is missing\); "
    "run `make install` in the project's folder"
)
EXTRA = r"jinja2 is not installed; run pip install '\.\[{}\]' in the project's folder"
EXPORT = ["export", "--model", "en", "--output", "out", "--format"]
NEEDS = {
    "export --format paraphrastic": ([*EXPORT, "paraphrastic"], EXTRA.format("export")),
    "export --format glove": ([*EXPORT, "glove"], EXTRA.format("export")),
    "export --format onnx": ([*EXPORT, "onnx"], EXTRA.format("export,onnx")),
    "export --format model2vec": ([*EXPORT, "model2vec"], EXTRA.format("export,model2vec")),
    "export --format sentence-transformers": (
        [*EXPORT, "sentence-transformers"],
        EXTRA.format("export,sentence-transformers"),
    ),
    "demo": (
        ["demo", "--output", "demo.html"],
        r"markupsafe is not installed; run pip install '\.\[export\]' in the project's folder",
    ),
    "import-checkpoint": (
        ["import-checkpoint", "model.pt", "--sp-model", "sp.model", "--output", "out"],
        EXTRA.format("export"),
    ),
    "search with another encoder": (
        ["search", "--model", "sts", "--index", "v.npy", "--input", "in.txt", "--output", "out"],
        "sts: is not a folder, and a model of the Hugging Face Hub needs sentence-transformers, which is not "
        r"installed; run pip install '\.\[sentence-transformers\]' in the project's folder",
    ),
    "new": (
        ["new", "--languages", "en-de", "--corpus", "in.txt", "--output", "-"],
        PIPELINE.format("yaml"),
    ),
    "corpora": (["corpora", "--languages", "en-pl"], PIPELINE.format("requests")),
    "config": (["config"], PIPELINE.format("yaml")),
    "plan": (["plan"], PIPELINE.format("yaml")),
    "negatives": (["negatives", "--model", "en", "--pairs", "pairs.tsv"], PIPELINE.format("torch")),
    "report": (["report", "--output", "report.html"], PIPELINE.format("jinja2")),
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


def make_environment(folder: Path, wheel: Path, requirements: list[str]) -> None:
    """Make an environment that has the wheel, the packages, what they need, and nothing else."""
    venv.create(folder)
    site = next(folder.glob("lib/python*/site-packages"))
    for name in distributions(requirements):
        files = metadata.distribution(name).files or []
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (site / top).symlink_to(metadata.distribution(name).locate_file(top))
    # Without an index, this also checks that everything that the wheel needs is there.
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", wheel], check=True, env=NO_PIP_SETTINGS)


@pytest.fixture(scope="session")
def wheel(made_once: MakeOnce) -> Path:
    def build(folder: Path) -> None:
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
        subprocess.run([*command, "--wheel-dir", folder, ROOT], check=True)

    (found,) = made_once("wheel", build).glob("*.whl")
    return found


@pytest.fixture(scope="session")
def core(made_once: MakeOnce, wheel: Path) -> Path:
    """The folder of commands of an environment in which only the wheel and what it needs are installed."""
    return made_once("core", lambda folder: make_environment(folder, wheel, PROJECT["dependencies"])) / "bin"


def run(command: list[str | Path], folder: Path) -> subprocess.CompletedProcess[str]:
    # The environment has its own copy of the package.
    own = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_text(LINES)
    (tmp_path / "pairs.tsv").write_text("A dog runs.\tThe dog is running.\n")
    return tmp_path


def test_python(core: Path, folder: Path) -> None:
    code = """
import paraphrastic

assert "site-packages" in paraphrastic.__file__
for name in paraphrastic.__all__:
    getattr(paraphrastic, name)
model = paraphrastic.load_model("en")
vectors = model.embed_raw_text(["A dog runs.", "It rains."])
assert paraphrastic.search(vectors, vectors, k=1).indices.tolist() == [[0], [1]]
"""
    ended = run([core / "python", "-c", code], folder)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_embed_and_score(core: Path, folder: Path) -> None:
    for name, arguments in (("embed", ("in.txt", "out.npy")), ("score", ("pairs.tsv", "scores.tsv"))):
        given, output = arguments
        command = [core / "paraphrastic", name, "--model", "en", "--input", given, "--output", output]
        ended = run(command, folder)
        assert (ended.returncode, ended.stderr) == (0, "")
    assert len(np.load(folder / "out.npy")) == 2
    assert (folder / "scores.tsv").read_text().endswith("\tA dog runs.\tThe dog is running.\n")


def test_every_command_has_help(core: Path, folder: Path) -> None:
    names = re.findall(r"^  ([a-z-]+) {2,}", build_parser().epilog or "", re.M)
    assert {"embed", "export", "links", "report"} < set(names)
    code = """
import sys
from paraphrastic.cli import main

for arguments in (["--help"], *([name, "--help"] for name in sys.argv[1:])):
    try:
        main(arguments)
    except SystemExit as end:
        assert end.code == 0
"""
    ended = run([core / "python", "-c", code, *names], folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.count("usage: paraphrastic") == len(names) + 1


@pytest.mark.parametrize("case", NEEDS)
def test_a_command_that_needs_more_says_in_one_line_what_to_install(
    case: str, core: Path, folder: Path
) -> None:
    arguments, message = NEEDS[case]
    ended = run([core / "paraphrastic", *arguments], folder)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert re.fullmatch(f"paraphrastic: error: {message}\n", ended.stderr)
    assert {path.name for path in folder.iterdir()} == {"in.txt", "pairs.tsv"}


@pytest.fixture(scope="session")
def with_export(made_once: MakeOnce, wheel: Path) -> Path:
    """The folder of commands of an environment that has the packages of the extra `export`, too."""
    packages = PROJECT["dependencies"] + PROJECT["optional-dependencies"]["export"]
    return made_once("core-export", lambda folder: make_environment(folder, wheel, packages)) / "bin"


def test_the_readme_installs_what_the_page_to_try_a_model_needs(with_export: Path, folder: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    installed, page = readme.split("`paraphrastic demo --output demo.html`")[0], folder / "demo.html"
    assert installed.rstrip().endswith("`pip install '.[export]'`,")
    ended = run([with_export / "paraphrastic", "demo", "--output", page.name], folder)
    assert re.fullmatch(r"paraphrastic: demo\.html: \d\.\d MB; open it in a browser\n", ended.stderr)
    assert ended.returncode == 0
    assert page.stat().st_size > 1_000_000


@pytest.mark.parametrize("form", ["paraphrastic", "glove"])
def test_an_extra_of_small_packages_is_enough_to_export(form: str, with_export: Path, folder: Path) -> None:
    ended = run([with_export / "paraphrastic", *EXPORT, form, "--text", "in.txt"], folder)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "with identical pieces: 100 %" in ended.stdout
    assert (folder / "out/README.md").is_file()


def test_a_name_without_a_model_is_explained(core: Path, folder: Path) -> None:
    command = ["embed", "--model", "nope", "--input", "in.txt", "--output", "out.npy"]
    ended = run([core / "paraphrastic", *command], folder)
    message = "nope: there is no folder of this name; models that come with the package: en, en-de-es-fr"
    assert ended.stderr == f"paraphrastic: error: {message}\n"


def test_extras_that_messages_name_exist() -> None:
    extras = PROJECT["optional-dependencies"]
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    named = {name for text in sources for name in re.findall(r"'\.\[([\w-]+)\]'", text)}
    named |= {name for each in _EXTRAS.values() for name in each.split(",")}
    assert {"faiss", "chinese", "export", "onnx"} <= named <= set(extras)
    # The package is not on an index.
    assert not [text for text in sources if re.search("pip install '?paraphrastic", text)]
