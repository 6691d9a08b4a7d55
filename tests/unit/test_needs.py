"""Test which resources jobs request, according to the names of their steps."""

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from catalogue import results

from paraphrastic_pipeline.settings.check import complete_definition
from paraphrastic_pipeline.workflow.resources import (
    LOADED_WEIGHTS,
    NEEDS,
    Need,
    Needs,
    megabytes_on_disk,
    memory_mb,
    minutes,
    weights_mb,
)
from paraphrastic_pipeline.workflow.transformer_needs import lstm_mb, transformer_need


class Wildcards(dict[str, str]):
    """Wildcards that can be read as entries and as attributes, as in Snakemake."""

    def __getattr__(self, name: str) -> str:
        if name in self:
            return self[name]
        raise AttributeError(name)


def size(paths: str | Iterable[str]) -> float:
    return 10.0


def need_of(step: str, *, config: dict[str, Any] | None = None, **wildcards: str) -> Need:
    needs = Needs(results(**(config or {})).evaluations)
    files = SimpleNamespace(pairs="", dataset="", word_vectors=[], system=[], sentences=[], testsets="")
    found: Need = needs(step)["mem_mb"].need(Wildcards(wildcards), files, size)  # type: ignore[attr-defined]
    return found


def test_a_step_asks_for_what_its_input_takes(tmp_path: Path) -> None:
    asked = Needs(results().evaluations)("extract_corpus")
    file = tmp_path / "archive"
    file.write_bytes(bytes(1_000_000))
    assert megabytes_on_disk([str(file), str(file)]) == 2
    need = NEEDS["extract_corpus"].of(1)
    assert asked["mem_mb"](Wildcards(), str(file), attempt=2) == memory_mb(need, attempt=2)
    assert asked["runtime"](Wildcards(), str(file), attempt=1, threads=2) == minutes(
        need, attempt=1, threads=2
    )


def test_threads_that_do_not_share_the_work_do_not_share_the_time() -> None:
    needs = Needs(results().evaluations)
    asked = [
        needs("measure_speed", shared=shared)["runtime"](Wildcards(), [], attempt=1, threads=1000)
        for shared in (True, False)
    ]
    assert asked[1] >= asked[0]


def test_an_evaluation_takes_what_its_task_says_and_the_weights() -> None:
    evaluations = results().evaluations
    definition = evaluations.config.definitions["fr"]
    for system in ("fr", "fr-untrained"):
        found = need_of("evaluate_{task}", task="stsb", system=system)
        assert found == NEEDS["evaluate_stsb"] + LOADED_WEIGHTS.of(weights_mb(definition))
    # This step copies files and loads no model.
    assert need_of("choose_model", model="fr") == NEEDS["choose_model"]


def test_lstms_take_the_time_to_embed_the_test_sets() -> None:
    config = {"encoder": {"parts": [{"kind": "bilstm", "dimension": 600}]}}
    plain = need_of("evaluate_{task}", task="sts", system="fr")
    recurrent = need_of("evaluate_{task}", config=config, task="sts", system="fr")
    assert recurrent.seconds > plain.seconds + 100
    assert need_of("evaluate_run", config=config, model="fr").seconds > 100
    # Before training, a model is only written.
    assert need_of("initialise_model", config=config, model="fr").seconds < 10
    assert need_of("evaluate_bucc", config=config, system="fr").seconds > 100


def test_bucc_grows_with_its_sentences() -> None:
    small = need_of("evaluate_bucc", system="fr")
    assert small.mb > NEEDS["evaluate_bucc"].mb
    encoder = {"theirs": {"sentence_transformers": "some/name"}}
    assert need_of("evaluate_bucc", config={"systems": encoder}, system="theirs").mb > small.mb


def test_special_steps() -> None:
    near = {"near_duplicates": {"ngram": 3, "min_similarity": 0.6}}
    plain = need_of("merge_pairs", model="fr")
    assert plain == NEEDS["merge_pairs"].of(10)
    assert need_of("merge_pairs", config=near, model="fr").mb > plain.mb
    assert need_of("score_pairs", corpus="x", pair="en-en").seconds > 0
    assert need_of("train_vocabulary", model="fr", vocabulary="sentencepiece").mb > 0
    run = need_of("train_model", model="en", run="dropout-0.0-megabatch-10")
    part = need_of("train_model", model="en", measure="paraphrase_score", part="1")
    assert run.mb == part.mb
    assert need_of("measure_similarity", mined="x", corpus="y").seconds > 0


def test_an_unknown_step_is_refused() -> None:
    with pytest.raises(KeyError):
        need_of("nothing")


@pytest.mark.parametrize(
    "text",
    ["[]", "{}", "null", *(f'{{"hidden_size": {each}}}' for each in ('"x"', -1, "1e400", "[1]", 10**8))],
)
def test_a_transformer_of_a_stranger_has_the_usual_width(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    assert lstm_mb(str(tmp_path), 1024) == lstm_mb("some/name", 1024)
    (tmp_path / "config.json").write_text('{"hidden_size": 32}')
    assert lstm_mb(str(tmp_path), 1024) < lstm_mb("some/name", 1024)


def test_an_lstm_over_a_transformer_takes_memory_and_time() -> None:
    chosen = {"languages": ["en"], "recipe": "transformer", "training": {"epochs": 1}}
    settings = complete_definition(chosen).training
    sizes = [lstm_mb("some/name", size) for size in (None, 1024, 4096)]
    # Four gates, each with its own and the Transformer's states and two biases.
    assert sizes == [0.0, 4e-6 * 4 * 1024 * (768 + 1024 + 2), 4e-6 * 4 * 4096 * (768 + 4096 + 2)]
    needs = [transformer_need(500 + size, settings, 100.0, lstm=size > 0) for size in sizes]
    assert needs[0].mb < needs[1].mb < needs[2].mb
    assert needs[0].seconds < needs[1].seconds < needs[2].seconds
    # Measured on two cores: 5.9, 5.6 and 3.2 pairs a second.
    pairs = 100.0 * 5_500
    for need, rate in zip(needs, (5.9, 5.6, 3.2), strict=True):
        assert pairs / (need.seconds / 2) == pytest.approx(rate, rel=0.4)
