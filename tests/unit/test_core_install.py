"""Test what works after `pip install .`, which installs only the core packages, and what needs more."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from paraphrastic.base.code_version import PACKAGE
from paraphrastic.cli import build_parser
from paraphrastic.cli.models import _EXTRAS

ROOT = PACKAGE.parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LINES = "A dog runs.\nIt rains.\n"
# Hides the packages that `pip install .` does not install, and then runs a command or other code.
START = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in {*sys.stdlib_module_names, "paraphrastic", *sys.argv[1].split()}:
            if not top.startswith("_sysconfigdata"):
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

assert "jinja2" not in sys.modules
sys.meta_path.insert(0, Absent())
"""
COMMAND = f"{START}\nfrom paraphrastic.cli import main\nsys.exit(main(sys.argv[2:]))\n"
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
    "import-checkpoint": (
        ["import-checkpoint", "model.pt", "--sp-model", "sp.model", "--output", "out"],
        EXTRA.format("export"),
    ),
    "search with another encoder": (
        ["search", "--model", "sts", "--index", "v.npy", "--input", "in.txt", "--output", "out"],
        "sts: needs sentence-transformers, which is not installed; "
        r"run pip install '\.\[sentence-transformers\]' in the project's folder "
        r"\(there is no folder 'sts'\)",
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


def modules(requirements: list[str]) -> Iterator[str]:
    """Top-level modules of packages and of those that they need."""
    remaining, found = [*requirements], set()
    while remaining:
        requirement = remaining.pop()
        name = normalized(re.split(r"[^\w.-]", requirement)[0])
        if name not in found and "extra ==" not in requirement:
            found.add(name)
            remaining += metadata.requires(name) or []
    for module, distributions in metadata.packages_distributions().items():
        if found & set(map(normalized, distributions)):
            yield module


CORE = " ".join(modules(PROJECT["dependencies"]))


def run(code: str, folder: Path, *arguments: str, more: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, f"{CORE} {more}", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.txt").write_text(LINES)
    (tmp_path / "pairs.tsv").write_text("A dog runs.\tThe dog is running.\n")
    return tmp_path


def test_python(folder: Path) -> None:
    code = """
import paraphrastic

for name in paraphrastic.__all__:
    getattr(paraphrastic, name)
model = paraphrastic.load_model("en")
vectors = model.embed_raw_text(["A dog runs.", "It rains."])
assert paraphrastic.search(vectors, vectors, k=1).indices.tolist() == [[0], [1]]
"""
    ended = run(START + code, folder)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_embed_and_score(folder: Path) -> None:
    for name, arguments in (("embed", ("in.txt", "out.npy")), ("score", ("pairs.tsv", "scores.tsv"))):
        given, output = arguments
        ended = run(COMMAND, folder, name, "--model", "en", "--input", given, "--output", output)
        assert (ended.returncode, ended.stderr) == (0, "")
    assert len(np.load(folder / "out.npy")) == 2
    assert (folder / "scores.tsv").read_text().endswith("\tA dog runs.\tThe dog is running.\n")


def test_every_command_has_help(folder: Path) -> None:
    names = re.findall(r"^  ([a-z-]+) {2,}", build_parser().epilog or "", re.M)
    assert {"embed", "export", "links"} < set(names)
    code = f"""{START}
from paraphrastic.cli import main

for arguments in (["--help"], *([name, "--help"] for name in sys.argv[2:])):
    try:
        main(arguments)
    except SystemExit as end:
        assert end.code == 0
"""
    ended = run(code, folder, *names)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.count("usage: paraphrastic") == len(names) + 1


@pytest.mark.parametrize("case", NEEDS)
def test_a_command_that_needs_more_says_in_one_line_what_to_install(case: str, folder: Path) -> None:
    arguments, message = NEEDS[case]
    ended = run(COMMAND, folder, *arguments)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert re.fullmatch(f"paraphrastic: error: {message}\n", ended.stderr)
    assert {path.name for path in folder.iterdir()} == {"in.txt", "pairs.tsv"}


@pytest.mark.parametrize("form", ["paraphrastic", "glove"])
def test_an_extra_of_small_packages_is_enough_to_export(form: str, folder: Path) -> None:
    packages = " ".join(modules(PROJECT["optional-dependencies"]["export"]))
    ended = run(COMMAND, folder, *EXPORT, form, "--text", "in.txt", more=packages)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "with identical pieces: 100 %" in ended.stdout
    assert (folder / "out/README.md").is_file()


def test_a_name_without_a_model_is_explained(folder: Path) -> None:
    ended = run(COMMAND, folder, "embed", "--model", "nope", "--input", "in.txt", "--output", "out.npy")
    message = "nope: there is no folder of this name; models that come with the package: en"
    assert ended.stderr == f"paraphrastic: error: {message}\n"


def test_extras_that_messages_name_exist() -> None:
    extras = PROJECT["optional-dependencies"]
    sources = [path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py")]
    named = {name for text in sources for name in re.findall(r"'\.\[([\w-]+)\]'", text)}
    named |= {name for each in _EXTRAS.values() for name in each.split(",")}
    assert {"faiss", "chinese", "export", "onnx"} <= named <= set(extras)
    # The package is not on an index.
    assert not [text for text in sources if re.search("pip install '?paraphrastic", text)]
