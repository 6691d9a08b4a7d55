"""Test what a run leaves out of studies, because something is missing."""

from pathlib import Path

import pytest
from catalogue import pipeline, read_pipeline


@pytest.mark.parametrize(
    "place",
    [
        None,
        "resources/czeng16.tsv.gz",
        "resources/manual/czeng16/czeng16.tsv.gz",
        "resources/downloads/czeng16/czeng16.tsv.gz",
    ],
)
def test_a_study_leaves_out_models_whose_file_is_given_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    if place:
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).touch()
    # Not the cached results, since they depend on the files that are there.
    found = read_pipeline("papers/simple_effective", {})
    models = found
    czech = [f"cs-{encoder}-{size}" for size in ("1m", "2m") for encoder in ("lstm", "sp", "word", "trigram")]
    english = ["en-lstm-1m", "en-sp-1m", "en-word-1m", "en-trigram-1m"]
    assert [model for _, _, model in models.study_models] == [*english, *(czech if place else [])]
    assert list(models.left_out) == ([] if place else czech)
    why = "resources/czeng16.tsv.gz (czeng16)"
    assert set(models.left_out.values()) == (set() if place else {why})
    assert "studies" in found.tables


def test_a_model_to_build_stays_in_a_study_without_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    models = read_pipeline("papers/simple_effective", {"models": ["cs-sp-1m"]})
    assert "cs-sp-1m" in [model for _, _, model in models.study_models]
    assert "cs-sp-1m" not in models.left_out


def test_captions_say_that_data_are_a_sample() -> None:
    mark = "; the data are a sample, or stand in for others"
    assert {caption.endswith(mark) for caption in pipeline(sample=True).captions.values()} == {True}
    assert {caption.endswith(mark) for caption in pipeline(sample=False).captions.values()} == {False}
