"""Test that every script hands all that its rule declares to the library."""

import ast
import contextlib
import copy
import pickle
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pipelines import MakeOnce, copy_pipeline, environment

from paraphrastic_pipeline.corpus.database import resources_of
from paraphrastic_pipeline.evaluation.tasks import TASKS
from paraphrastic_pipeline.workflow.functions import FIGURES, TABLES, function_of, paths

SCRIPTS = Path(__file__).parents[2] / "workflow/scripts"
# Together, these configurations have a job for every script; a dry run needs none of their files.
CONFIGURATIONS = {
    "config/small.yaml": ["all", "paper_tables", "results/report.html", "results/provenance.json"],
    "config/config.yaml": ["all", "paper_tables"],
    "more.yaml": ["all", "paper_tables"],
}
MORE = """
models: [paraphrases, transformer, pupil]
definitions:
  fr: {languages: [en, fr], corpora: [sample_aligned]}
  paraphrases:
    languages: [en]
    corpora: [subtitles_mined]
    selection: {paraphrase: {paraphrase_score: null}}
  pupil: {languages: [en, fr], corpora: [sample_aligned], training: {soup: 2, init: teacher, teacher: fr}}
  transformer:
    languages: [en]
    corpora: [subtitles_translated]
    selection: {paraphrase: {paraphrase_score: null}}
    encoder: {transformer: some/transformer}
mined:
  subtitles_mined: {languages: [fr, en], corpora: [sample_aligned], encoder: fr, min_similarity: 0.7}
  subtitles_translated: {languages: [fr, en], corpora: [sample_aligned], translator: {model: some/translator}}
language_id: sample_languages
selection: {bitext: {language: null}, paraphrase: {language: null}}
contamination: {testsets: {sts: sample_sts}}
evaluation: {sts: sample_sts, retrieval: [pupil]}
"""
# Files that a script finds by itself, because they lie beside another one, or a parameter names their system.
FOUND_ELSEWHERE = {
    "average_runs": {"input.folders", "output.sentencepiece", "output.config"},
    "choose_model": {"input.models", "output.weights", "output.sentencepiece", "output.config"},
    "choose_transformer": {"input.models", "output.pooling"},
    "convert_tokenizer": {"input.sentencepiece", "input.config", "output.modules"},
    "embed_pieces": {"input.system"},
    "embed_sample": {"input.system"},
    "encode_dataset": {"input.sentencepiece"},
    "initialize_transformer": {"output.pooling"},
    "measure_similarity": {"input.system"},
    "measure_speed": {"input.systems"},
    "tabulate_systems": {"input.results"},
    "train_model": {"output.sentencepiece", "output.config", "output.history"},
    "train_transformer": {"output.history", "output.pooling"},
    "write_card": {"input.sweep", "input.tokenizer"},
    "write_provenance": {
        "input.tables",
        "input.intervals",
        "input.figures",
        "input.models",
        "input.results",
    },
    "write_report": {
        "input.tables",
        "input.intervals",
        "input.figures",
        "input.held_out",
        "input.provenance",
    },
}
# Parameters without which Snakemake would not run a step again after a change; `code` is one in every rule.
FOR_SNAKEMAKE = {
    "download_file": {"params.version"},
    "extract_corpus": {"params.files.0.version"},
    "gather_translations": {"params.corpora.0"},
    "merge_pairs": {"params.corpora.0"},
    "prepare_bucc": {"params.version"},
    "sample_paraphrases": {"params.corpora.0"},
    "write_provenance": {"params.config"},
}


class Recorded:
    """Stands for a function or class of the library, and writes down how it is called."""

    def __init__(self, name: str, calls: list[str]) -> None:
        self._name, self._calls = name, calls

    def __call__(self, *args: Any, **kwargs: Any) -> "Recorded":
        call = f"{self._name}({args!r}, {kwargs!r})"
        self._calls.append(call)
        return Recorded(call, self._calls)

    def __getattr__(self, name: str) -> "Recorded":
        return Recorded(f"{self._name}.{name}", self._calls)

    def __iter__(self) -> Iterator["Recorded"]:
        return iter([Recorded(f"{self._name}[0]", self._calls)])

    def __repr__(self) -> str:
        return self._name


OURS = ("adapter", "paraphrastic", "paraphrastic_pipeline")


def calls_of(script: str, job: dict[str, Any], **more: Any) -> list[str]:
    """Run a script in which the library is replaced by `Recorded`; return the calls, in their order.

    The script has `more` names that are not replaced.
    """
    calls: list[str] = []
    tree = ast.parse((SCRIPTS / script).read_text(encoding="utf-8"))
    names: dict[str, Any] = {"snakemake": SimpleNamespace(**job), "step": lambda _: contextlib.nullcontext()}
    names |= {"paths": paths, **more}
    for node in list(tree.body):
        if isinstance(node, ast.ImportFrom) and str(node.module).split(".")[0] in OURS:
            tree.body.remove(node)
            for alias in node.names:
                assert node.module == "adapter" or hasattr(import_module(str(node.module)), alias.name)
                # Resources become keyword arguments of the calls that are written down.
                used = resources_of if alias.name == "resources_of" else Recorded(alias.name, calls)
                names.setdefault(alias.asname or alias.name, used)
    exec(compile(tree, script, "exec"), names)
    return calls


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the paths of all values that are no dictionaries or lists."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    empty = True
    for key, item in inner:
        empty = False
        yield from leaves(item, (*path, key))
    if empty:
        yield path


def changed(value: Any, path: tuple[Any, ...] = ()) -> Any:
    """Return a copy of `value` in which the value at `path` is another one of the same kind."""
    if path:
        value = copy.copy(value)
        value[path[0]] = changed(value[path[0]], path[1:])
        return value
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, dict):
        return {**value, "changed": "changed"}
    if isinstance(value, list | tuple):
        return type(value)([*value, "changed"])
    return "changed" if value is None else f"changed/{value}"


def with_value(section: Any, name: str, value: Any) -> Any:
    """Return a copy of a rule's `input`, `output` or `params` in which a name has another value."""
    fresh = section._clone()
    first, end = fresh._names[name]
    fresh[first : first + 1 if end is None else end] = [value] if end is None else value
    fresh._set_name(name, first, end)
    return fresh


@pytest.fixture(scope="session")
def jobs(made_once: MakeOnce) -> dict[str, dict[str, Any]]:
    """A planned job of every step that runs a script, by the step's name."""

    def fill(folder: Path) -> None:
        copy_pipeline(folder / "pipeline")
        (folder / "pipeline/more.yaml").write_text(MORE)
        for name in ("own.h5", "own.txt", "own.model"):
            (folder / "pipeline" / name).touch()
        planned: dict[str, dict[str, Any]] = {}
        for configuration, targets in CONFIGURATIONS.items():
            run = subprocess.run(
                [sys.executable, Path(__file__).with_name("plan_jobs.py"), configuration, *targets],
                cwd=folder / "pipeline",
                env=environment(),
                capture_output=True,
                check=False,
            )
            assert run.returncode == 0, run.stderr.decode()
            planned = pickle.loads(run.stdout) | planned
        (folder / "jobs.pickle").write_bytes(pickle.dumps(planned))

    return pickle.loads((made_once("planned", fill) / "jobs.pickle").read_bytes())


def test_there_is_a_job_for_every_script(jobs: dict[str, dict[str, Any]]) -> None:
    assert {job["script"] for job in jobs.values()} == {p.name for p in SCRIPTS.glob("*.py")} - {"adapter.py"}


@pytest.mark.parametrize("script", sorted({path.name for path in SCRIPTS.glob("*.py")} - {"adapter.py"}))
def test_a_script_uses_everything_that_its_rule_declares(
    jobs: dict[str, dict[str, Any]], script: str
) -> None:
    for name_of_step, planned in jobs.items():
        if planned["script"] != script:
            continue
        job = {**planned, "resources": SimpleNamespace(**planned["resources"])}
        before = calls_of(script, job)
        assert before
        ignored = set()
        for section in ("input", "output"):
            for name, value in job[section].items():
                files = [changed(file) for file in value] if isinstance(value, list) else changed(value)
                if (
                    files
                    and calls_of(script, {**job, section: with_value(job[section], name, files)}) == before
                ):
                    ignored.add(f"{section}.{name}")
        for name, value in job["params"].items():
            for path in leaves(value):
                params = with_value(job["params"], name, changed(value, path))
                if calls_of(script, {**job, "params": params}) == before:
                    ignored.add(".".join(map(str, ("params", name, *path))))
        for_snakemake = FOR_SNAKEMAKE.get(name_of_step, set()) | (
            {"params.code"} if job["params"].get("code") else set()
        )
        assert ignored == for_snakemake | FOUND_ELSEWHERE.get(name_of_step, set()), name_of_step


def test_a_named_function_takes_what_its_rule_declares(jobs: dict[str, dict[str, Any]]) -> None:
    called = {name: job for name, job in jobs.items() if job["params"].get("function")}
    assert {f"tabulate_{name}" for name in TABLES} <= called.keys()
    assert {f"plot_{name}" for name in FIGURES} <= called.keys()
    assert {f"evaluate_{name}" for name in TASKS} <= called.keys()
    for job in called.values():
        bind = signature(function_of(job["params"].function)).bind
        calls_of(job["script"], job, function_of=lambda name, bind=bind: bind)
