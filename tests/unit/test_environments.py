"""Test that environments have the packages that rules import, and that all packages are pinned."""

import ast
import re
import runpy
import sys
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src"
_PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
_METADATA, UV = _PROJECT["project"], _PROJECT["tool"]["uv"]
CORE: list[str] = _METADATA["dependencies"]
EXTRAS: dict[str, list[str]] = _METADATA["optional-dependencies"]
# The names under which packages are installed, if they differ from those that are imported.
DISTRIBUTIONS = {
    "haystack": "haystack-ai",
    "llama_index": "llama-index-core",
    "datasets": "mteb",
    "fasttext": "fasttext-wheel",
    "google": "protobuf",
    "huggingface_hub": "sentence-transformers",
    "llvmlite": "numba",
    "pydantic_core": "pydantic",
    "markdown_it": "markdown-it-py",
    "markupsafe": "jinja2",
    "sklearn": "scikit-learn",
    "snakemake_interface_logger_plugins": "snakemake",
    "tokenizers": "sentence-transformers",
    "transformers": "sentence-transformers",
    "urllib3": "requests",
    "yaml": "pyyaml",
    "yte": "snakemake",
}
OURS = {"paraphrastic", "paraphrastic_pipeline", "snakemake_logger_plugin_paraphrastic"}
# Imported late, only if a setting or an argument asks for them, with a message that says what to install, or
# where they are installed.
OPTIONAL = {"ctranslate2", "faiss"}


def imported(path: Path) -> set[str]:
    """Names that a file imports, at its top or late."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def packages_of(*files: Path) -> set[str]:
    """The packages from elsewhere that files need."""
    names = {name.split(".")[0] for path in files for name in imported(path)}
    names -= {*sys.stdlib_module_names, *OURS, *OPTIONAL}
    return {DISTRIBUTIONS.get(name, name).replace("_", "-") for name in names}


def test_environments_have_what_the_package_asks_for() -> None:
    made = runpy.run_path(str(ROOT / "envs/make.py"))["environments"]()
    assert made == {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "envs").glob("*.yaml")}


def test_the_pipeline_names_what_it_imports() -> None:
    neural = ("pipeline", "neural", "model2vec", "onnx")
    named = {
        canonicalize_name(Requirement(line).name)
        for line in [*CORE, *chain(*(EXTRAS[name] for name in neural))]
    }
    assert not packages_of(*SOURCES.rglob("*.py"), *(ROOT / "workflow").rglob("*.py")) - named


def pinned(name: str) -> dict[str, str]:
    """Version of each package that a file in requirements/ pins for this Python and system."""
    entries = re.split(r"^(?=[a-z])", (ROOT / f"requirements/{name}.txt").read_text(), flags=re.M)[1:]
    for entry in entries:
        assert name == "torch" or re.search(r"\\\n    --hash=sha256:[0-9a-f]{64}", entry), entry
    lines = (Requirement(re.split(r" \\|\n", entry)[0]) for entry in entries)
    return {line.name: str(line.specifier)[2:] for line in lines if not line.marker or line.marker.evaluate()}


@pytest.mark.parametrize(
    ("name", "extras"),
    [("pipeline", {"pipeline", "slurm", "build"}), ("all", set(EXTRAS) - {"frameworks"})],
)
def test_pinned_packages_are_complete(name: str, extras: set[str]) -> None:
    versions = {**pinned(name), **pinned("torch")}
    directly = {"paraphrastic": [line for extra in extras for line in EXTRAS[extra]] + CORE}
    # A build of torch for GPUs also names packages that a build for processors does not need.
    stated = {entry["name"]: entry["requires-dist"] for entry in UV["dependency-metadata"]}
    needed = {each: stated.get(each, metadata.requires(each) or []) for each in versions}
    for package, lines in {**directly, **needed}.items():
        assert package == "paraphrastic" or metadata.version(package).split("+")[0] == versions[package]
        for line in map(Requirement, lines):
            if not line.marker or line.marker.evaluate({"extra": ""}):
                missing = f"{package} needs {line}"
                assert line.specifier.contains(versions[canonicalize_name(line.name)]), missing


def test_the_pipeline_has_the_versions_that_tests_have() -> None:
    assert pinned("pipeline").items() < pinned("all").items()


def test_frameworks_are_pinned_beside_what_tests_have() -> None:
    frameworks, others = pinned("frameworks"), {**pinned("all"), **pinned("torch")}
    assert {name: others[name] for name in frameworks.keys() & others} == {
        name: frameworks[name] for name in frameworks.keys() & others
    }
    for line in map(Requirement, EXTRAS["frameworks"]):
        assert line.specifier.contains(frameworks[canonicalize_name(line.name)])
