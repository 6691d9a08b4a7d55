"""Test that the environment of each rule has the packages that its script imports."""

import ast
import re
import sys
from pathlib import Path

import pytest
import yaml

from paraphrastic.base.code_version import PACKAGE, modules_of

ROOT = PACKAGE.parents[1]
# The names under which packages are installed, if they differ from those that are imported.
DISTRIBUTIONS = {
    "fasttext": "fasttext-wheel",
    "google": "protobuf",
    "huggingface_hub": "sentence-transformers",
    "llvmlite": "numba",
    "markupsafe": "jinja2",
    "sklearn": "scikit-learn",
    "transformers": "sentence-transformers",
    "urllib3": "requests",
    "yaml": "pyyaml",
}
# Imported late, only if a setting or an argument asks for them, with a message that says what to install.
OPTIONAL = {"faiss", "tensorboard"}


def rules() -> dict[str, tuple[Path, str]]:
    """Each rule that runs a script in an environment: the script and the name of the environment."""
    found = {}
    for path in sorted((ROOT / "rules").glob("*.smk")):
        for block in re.split(r"^(?:rule|checkpoint) ", path.read_text(encoding="utf-8"), flags=re.M)[1:]:
            script = re.search(r'script:\s+"\.\./workflow/scripts/(\w+\.py)"', block)
            environment = re.search(r'conda:\s+"\.\./envs/(\w+)\.yaml"', block)
            if script and environment:
                found[block.split(":")[0]] = (ROOT / "workflow/scripts" / script[1], environment[1])
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


def imported(path: Path) -> set[str]:
    """Top-level names of the packages from elsewhere that a file imports, at its top or late."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names - set(sys.stdlib_module_names) - {"paraphrastic", "adapter"} - OPTIONAL


def test_there_are_rules() -> None:
    assert len(RULES) > 45


@pytest.mark.parametrize("rule", RULES)
def test_an_environment_has_what_its_rule_imports(rule: str) -> None:
    script, environment = RULES[rule]
    step = PACKAGE / "pipeline/step.py"
    needed = {
        DISTRIBUTIONS.get(name, name).replace("_", "-")
        for path in {script, *modules_of("paraphrastic.pipeline.step", script=script), step}
        for name in imported(path)
    }
    assert not needed - packages(environment)
