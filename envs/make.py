"""Writes the environments of the rules: what pyproject.toml asks for, in the versions of requirements/."""

import re
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
# What each environment is for, and the extras of the package that it has.
ENVIRONMENTS = {
    "pipeline": ("All steps but those with models of other libraries.", ["pipeline"]),
    "neural": (
        "Transformers, translation, and systems of other libraries.",
        ["pipeline", "neural", "model2vec"],
    ),
}


def environments() -> dict[str, str]:
    """The text of each file of envs/, by its name without the ending."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = dict(
        line.split("==")
        for name in ("torch", "all")
        for line in re.findall(r"^[\w.-]+==[\w.]+", (ROOT / f"requirements/{name}.txt").read_text(), re.M)
    )
    texts = {}
    for name, (purpose, extras) in ENVIRONMENTS.items():
        lines = [
            *project["dependencies"],
            *(line for one in extras for line in project["optional-dependencies"][one]),
        ]
        packages = sorted({canonicalize_name(Requirement(line).name) for line in lines})
        pins = "".join(f"      - {package}=={pinned[package]}\n" for package in packages)
        head = f"# {purpose} Made by envs/make.py.\nchannels: [conda-forge, nodefaults]\n"
        texts[name] = f"{head}dependencies:\n  - python=3.11\n  - pip\n  - pip:\n{pins}"
    return texts


if __name__ == "__main__":
    for name, text in environments().items():
        (ROOT / f"envs/{name}.yaml").write_text(text, encoding="utf-8")
