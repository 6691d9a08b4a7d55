"""Copies of the pipeline, and how tests run them."""

import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("Snakefile", "rules", "workflow", "envs", "profiles", "config", "src", "data")

Run = subprocess.CompletedProcess[str]
# A function that makes a folder of a given name once for all processes that run tests.
MakeOnce = Callable[[str, Callable[[Path], object]], Path]


def copy_pipeline(folder: Path) -> Path:
    """Copy the pipeline, along with what Python and numba have compiled, which takes minutes."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in PARTS:
        source = ROOT / part
        ignore = shutil.ignore_patterns(".*_cache")
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=ignore)
        else:
            shutil.copy2(source, folder / part)
    return folder


def keep_compiled(folder: Path) -> None:
    """Keep what numba has compiled in a copy, so that neither tests nor later copies compile it again."""
    place = ROOT / "src/paraphrastic/__pycache__"
    place.mkdir(exist_ok=True)
    with FileLock(place / "compiled.lock"):
        for index in (folder / "src").rglob("*.nbi"):
            own = ROOT / index.relative_to(folder)
            if own.exists():
                continue
            own.parent.mkdir(exist_ok=True)
            # An index and its files belong together, and another process may be reading.
            for compiled in (*index.parent.glob(f"{index.stem}.*.nbc"), index):
                copied = Path(shutil.copy2(compiled, own.with_name(f"{compiled.name}.kept")))
                copied.replace(own.with_name(compiled.name))


def configure(folder: Path, path: str, value: object) -> None:
    """Set an entry of the default configuration of the pipeline in `folder`, such as `training.epochs`."""
    file = folder / "config/config.yaml"
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    *sections, key = path.split(".")
    section = config
    for name in sections:
        section = section.setdefault(name, {})
    section[key] = value
    file.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "snakemake", "--cores", "2", "--nocolor", *arguments]


def snakemake_alone(folder: Path, *arguments: str) -> Run:
    """Run the pipeline in `folder` as `snakemake` does, in a process of its own."""
    return subprocess.run(
        command(*arguments),
        cwd=folder,
        env=environment(),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=900,
        check=False,
    )


def snakemake(folder: Path, *arguments: str) -> Run:
    """Run the pipeline in `folder`; output and errors come back as one text, as on a terminal."""
    server = snakemake_server()
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as output:
        request = {
            "folder": str(folder),
            "arguments": command(*arguments)[3:],
            "variables": environment(),
            "output": output.name,
        }
        server.stdin.write(f"{json.dumps(request)}\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return subprocess.CompletedProcess(command(*arguments), code, output.read())


@functools.cache
def snakemake_server() -> Any:
    """Start the process from which this one's runs of Snakemake are forked."""
    return subprocess.Popen(
        [sys.executable, Path(__file__).with_name("snakemake_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment(),
    )


def environment() -> dict[str, str]:
    # The import path of the tests must not reach the jobs. If Python kept no compiled modules, each job would
    # compile all its imports again.
    others = ("PYTHONPATH", "PYTEST_CURRENT_TEST", "PYTHONDONTWRITEBYTECODE")
    return {key: value for key, value in os.environ.items() if key not in others}


@dataclass(frozen=True)
class Plan:
    """The jobs of a dry run: their rules, and their messages, which show the wildcards."""

    rules: set[str]
    messages: set[str]


def planned(folder: Path, *arguments: str) -> Plan:
    run = snakemake(folder, "--dry-run", *arguments)
    assert run.returncode == 0, run.stdout
    rules = set(re.findall(r"^(\w+) +\d+$", run.stdout, re.M)) - {"total", "all", "paper_tables"}
    messages = set(re.findall(r"^Job \d+: (.*)$", run.stdout, re.M))
    assert bool(rules) == bool(messages)
    return Plan(rules, messages)
