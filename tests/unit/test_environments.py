"""Test that environments have the packages that rules import, and that all packages are pinned."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from paraphrastic_pipeline.base.code_version import ROOT as SOURCES
from paraphrastic_pipeline.evaluation.tasks import TASKS
from paraphrastic_pipeline.workflow.functions import FIGURES, TABLES, TESTSETS, full_name

ROOT = SOURCES.parent
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
OURS = {"paraphrastic", "paraphrastic_pipeline", "snakemake_logger_plugin_paraphrastic", "adapter"}
# Imported late, only if a setting or an argument asks for them, with a message that says what to install, or
# where they are installed.
OPTIONAL = {"ctranslate2", "faiss", "tensorboard", "umap"}
# Needed only for systems of other makes; the step says what to install.
OTHER_SYSTEMS = {"model2vec", "sentence-transformers", "transformers"}


# Files with rules that use those of other files.
USING_OTHERS = ("filter_study",)
# The functions that scripts call by their names.
CALLED: dict[str, Mapping[str, str]] = {
    "TABLES": TABLES,
    "FIGURES": FIGURES,
    "TESTSETS": TESTSETS,
    "TASKS": {name: task.function for name, task in TASKS.items()},
}


class Rule(NamedTuple):
    """A rule: its script, the name of its environment, and the functions that the script calls by name."""

    script: Path
    environment: str
    functions: set[str]


def rules() -> dict[str, Rule]:
    """Each rule that runs a script in an environment, also if it takes either from another rule."""
    found: dict[str, Rule] = {}
    for path in sorted((ROOT / "rules").glob("*.smk"), key=lambda path: path.stem in USING_OTHERS):
        text = path.read_text(encoding="utf-8")
        for base, name, block in re.findall(
            r"^(?:use )?rule (?:(\w+) as )?(\w+)(?: with)?:\n((?:(?: .*)?\n)+)", text, flags=re.M
        ):
            script = re.search(r'script:\s+"\.\./workflow/scripts/(\w+\.py)"', block)
            environment = re.search(r'conda:\s+"\.\./envs/(\w+)\.yaml"', block)
            named = re.findall(r'(?:function=|lambda wildcards: )([A-Z]+)\[(?:"(\w+)")?', block)
            # A wildcard stands for all names that no other rule has for itself.
            own = set(re.findall(r'function=[A-Z]+\["(\w+)"', text))
            functions = {
                full_name(function)
                for table, single in named
                if table in CALLED
                for key, function in CALLED[table].items()
                if (key == single if single else key not in own)
            }
            inherited = found.get(base)
            if script or inherited:
                found[name] = Rule(
                    ROOT / "workflow/scripts" / script[1] if script else inherited.script,
                    environment[1] if environment else inherited.environment,
                    functions or (inherited.functions if inherited else set()),
                )
    return found


RULES = rules()


def packages(environment: str) -> set[str]:
    described = yaml.safe_load((ROOT / f"envs/{environment}.yaml").read_text(encoding="utf-8"))
    lines = [
        line
        for entry in described["dependencies"]
        for line in (entry["pip"] if isinstance(entry, dict) else [entry])
    ]
    return {re.split("=+", line)[0] for line in lines}


@cache
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


def file_of(name: str) -> Path | None:
    """The file of ours that holds a name such as `package.module.function`."""
    module = SOURCES.joinpath(*name.split("."))
    files = (module.with_suffix(".py"), module / "__init__.py", module.parent.with_suffix(".py"))
    return next((file for file in files if file.is_file()), None)


def test_there_are_rules() -> None:
    assert len(RULES) > 50


@cache
def needed(script: Path, *functions: str) -> set[str]:
    """Packages that a script imports, itself and by the modules that it imports or calls."""
    waiting = [script, *map(file_of, ("paraphrastic_pipeline.workflow.step", *functions))]
    files: set[Path] = set()
    while waiting:
        if (path := waiting.pop()) and path not in files:
            files.add(path)
            waiting += map(file_of, imported(path))
    return packages_of(*files)


@pytest.mark.parametrize("rule", RULES)
def test_an_environment_has_what_its_rule_imports(rule: str) -> None:
    script, environment, functions = RULES[rule]
    # Code that opens any model imports these late; in this environment, no rule opens a Transformer.
    late = OTHER_SYSTEMS if environment == "train" else set()
    assert not needed(script, *sorted(functions)) - packages(environment) - late


def test_the_pipeline_is_installed_with_what_its_rules_import() -> None:
    installed = {Requirement(line).name for line in CORE + EXTRAS["pipeline"]}
    for script, _, functions in RULES.values():
        assert not needed(script, *sorted(functions)) - installed - OTHER_SYSTEMS, script.name


def pinned(name: str) -> dict[str, str]:
    """Version of each package that a file in requirements/ pins for this Python and system."""
    entries = re.split(r"^(?=[a-z])", (ROOT / f"requirements/{name}.txt").read_text(), flags=re.M)[1:]
    for entry in entries:
        assert name == "torch" or re.search(r"\\\n    --hash=sha256:[0-9a-f]{64}", entry), entry
    lines = (Requirement(re.split(r" \\|\n", entry)[0]) for entry in entries)
    return {line.name: str(line.specifier)[2:] for line in lines if not line.marker or line.marker.evaluate()}


@pytest.mark.parametrize(
    ("name", "extras"),
    [("pipeline", {"pipeline", "slurm", "build"}), ("all", set(EXTRAS) - {"tensorboard", "frameworks"})],
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


def test_tests_and_benchmarks_name_what_they_import() -> None:
    paths = [path for folder in ("tests", "benchmarks", "docs") for path in (ROOT / folder).rglob("*.py")]
    own = {path.stem for path in paths}
    named = {
        canonicalize_name(Requirement(line).name) for lines in [CORE, *EXTRAS.values()] for line in lines
    }
    for path in paths:
        assert not packages_of(path) - {name.replace("_", "-") for name in own} - named, path


def used_actions(node: object) -> Iterator[str]:
    """What the steps and jobs of a workflow of GitHub use."""
    if isinstance(node, dict):
        yield from ([node["uses"]] if "uses" in node else [])
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from used_actions(inner)


@pytest.mark.parametrize("path", [*(ROOT / ".github").rglob("*.yml")], ids=lambda path: path.name)
def test_actions_are_pinned_by_commit_with_their_version(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    used = [*used_actions(yaml.safe_load(text))]
    assert used
    for name in used:
        assert re.fullmatch(r"[\w-]+/[\w/-]+@[0-9a-f]{40}", name)
        assert re.search(rf"uses: {re.escape(name)} # v\d+\.\d+\.\d+$", text, re.MULTILINE)


def test_the_image_has_a_pinned_base_and_runs_as_a_user() -> None:
    lines = (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
    for base in [line for line in lines if line.startswith("FROM ")]:
        assert re.fullmatch(r"FROM [\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}", base)
    assert [line for line in lines if line.startswith("USER ")][-1] == "USER 1000"
    # Any user may write the home and the folder of the results.
    assert "chmod 1777 /home/paraphrastic /work" in "".join(lines)
    assert {"ENV HOME=/home/paraphrastic USER=paraphrastic", "WORKDIR /work"} <= {*lines}
