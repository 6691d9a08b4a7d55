"""Test by which definitions a system is compared: it has not been trained on what they hold out."""

from typing import Any

import pytest
from catalogue import of
from configurations import ROOT, assert_fault, load

from paraphrastic_pipeline.settings.check import check_config
from paraphrastic_pipeline.workflow.evaluations import Evaluations

DEFINITIONS: dict[str, Any] = {
    "fr": {"languages": ["en", "fr"], "corpora": ["sample_aligned"]},
    "english": {"languages": ["en"], "corpora": ["sample_paranmt"]},
    "both": {"languages": ["en", "fr"], "corpora": ["sample_paranmt", "sample_aligned"]},
    # The same data as those of `fr`, in a model of its own.
    "wide": {"languages": ["en", "fr"], "corpora": ["sample_aligned"], "training": {"dimension": 64}},
}
SYSTEMS = {
    "other": {"sentence_transformers": "owner/name"},
    "english-only": {"sentence_transformers": "owner/name", "languages": ["en"]},
}


def config(**changes: Any) -> dict[str, Any]:
    evaluation = {"sts": "sample_sts", "retrieval": ["fr", "english", "both"], "untrained": False}
    return {
        **load("config"),
        "registry": str(ROOT / "config/datasets.tsv"),
        "models": ["fr", "wide"],
        "definitions": DEFINITIONS,
        "systems": SYSTEMS,
        "evaluation": {**evaluation, **changes},
        **{"studies": {}, "language_choice": {"models": []}},
    }


@pytest.fixture(scope="module")
def evaluations() -> Evaluations:
    checked, datasets = check_config(config())
    return Evaluations(checked, datasets)


@pytest.mark.parametrize(
    ("system", "definitions"),
    [
        ("fr", ["fr", "english"]),
        ("wide", ["fr", "english"]),
        ("other", ["fr", "english", "both"]),
        ("english-only", ["english"]),
    ],
)
def test_systems_are_compared_by_what_they_have_not_learned(
    evaluations: Evaluations, system: str, definitions: list[str]
) -> None:
    assert evaluations.parts("retrieval", system) == definitions
    assert (system in evaluations.systems_of("retrieval")) == bool(definitions)


def test_the_files_of_a_comparison(evaluations: Evaluations) -> None:
    job = of(task="retrieval", system="wide")
    assert evaluations.task_files(job) == {
        "testsets": ["results/held_out/fr.parquet", "results/held_out/english.parquet"],
        "pairs": ["results/corpora/fr/pairs.parquet", "results/corpora/english/pairs.parquet"],
    }
    assert evaluations.task_arguments(job) == {
        "definitions": ["fr", "english"],
        "languages": [[("en", "fr")], [("en", "en")]],
    }


@pytest.mark.parametrize(
    ("definitions", "cause"),
    [(["german"], "'german'"), (["fr", "fr"], "twice"), ([], "1")],
)
def test_faults_are_told(definitions: list[str], cause: str) -> None:
    assert_fault(config(retrieval=definitions), "evaluation.retrieval", cause)


def test_definitions_that_are_no_models_keep_their_corpora() -> None:
    def corpora(retrieval: list[str]) -> list[str]:
        quora = {"languages": ["en"], "corpora": ["quora", "coco_captions"]}
        changed = {**config(retrieval=retrieval), "licences": "commercial", "models": ["english"]}
        changed["definitions"] = {
            "english": {"languages": ["en"], "corpora": ["coco_captions"]},
            "quora": quora,
        }
        return check_config(changed)[0].definitions["quora"].corpora

    assert corpora(["quora"]) == ["quora", "coco_captions"]
    assert corpora(["english"]) == ["coco_captions"]
