"""Test definitions with several languages: the pairs that their corpora give, and their faults."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from configurations import DEFAULT, REGISTRY, ROOT, changed, checked

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.registry.opus import list_path
from paraphrastic_pipeline.settings.check import check_config
from paraphrastic_pipeline.workflow.models import Models

HERE = {"registry": str(ROOT / DEFAULT)}
ALL = ["sample_paranmt", "sample_opus", "sample_manythings", "sample_aligned"]


def several(corpora: list, languages: tuple[str, ...] = ("en", "de", "es", "fr"), **more: object) -> dict:
    """The default configuration with a model of several languages."""
    config = changed("definitions.all", {"languages": [*languages], "corpora": corpora, **more})
    return config | {"models": ["all"]}


def models_of(config: dict) -> Models:
    found, datasets = check_config(config | HERE)
    return Models(found, datasets)


@pytest.mark.parametrize(
    ("name", "languages", "pairs"),
    [
        ("multi30k", ("en", "de", "fr"), [("en", "de"), ("en", "fr"), ("de", "fr")]),
        ("multi30k", ("fr", "en", "pl"), [("fr", "en")]),
        ("multi30k_captions", ("en", "de", "fr"), [("en", "en"), ("de", "de")]),
        ("quora", ("fr", "en"), [("en", "en")]),
        ("tatoeba_pairs", ("en", "de", "es"), [("en", "de"), ("en", "es")]),
    ],
)
def test_a_corpus_gives_its_pairs_or_else_its_paraphrases(
    name: str, languages: tuple[str, ...], pairs: list[tuple[str, str]]
) -> None:
    assert REGISTRY[name].pairs_among(languages) == pairs


def test_aligned_files_of_one_language_are_no_paraphrases() -> None:
    with pytest.raises(InputError, match="'multi30k' has nothing in de; it has en, de, fr"):
        REGISTRY["multi30k"].pairs_among(["de"])


def test_a_corpus_of_several_pairs_has_a_file_and_a_name_for_each() -> None:
    limits = {"max_pairs": {"multi30k": 7}, "weights": {"multi30k": 3, "sample_paranmt": None}}
    config = several(["multi30k", "sample_paranmt"], ("en", "de", "fr"), **limits)
    models = models_of(config)
    assert models.model_corpora == [
        ("all", "multi30k en-de"), ("all", "multi30k en-fr"), ("all", "multi30k de-fr"),
        ("all", "sample_paranmt"),
    ]  # fmt: skip
    assert models.of_model_corpora("{data}/{corpus}/{pair}")[2:] == [
        "all/multi30k/de-fr", "all/sample_paranmt/en-en",
    ]  # fmt: skip
    assert models.derived["all"]["max_pairs"] == [7, 7, 7, None]
    assert models.derived["all"]["weights"] == [3, 3, 3, 1]
    # The counts of merged pairs have a row for each of them, and so has the card.
    counted = models.counted_corpora(SimpleNamespace(model="all"))
    assert [("all", name) for name, *_ in counted] == models.model_corpora


def test_a_file_may_have_some_of_the_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine.tsv", "ours.tsv"):
        Path(name).write_text("content")
    entries = [{"path": "mine.tsv", "languages": ["es"]}, {"path": "ours.tsv", "languages": ["fr", "en"]}]
    assert models_of(several(entries)).corpus_pairs["all"] == [("mine", ("es", "es")), ("ours", ("fr", "en"))]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"corpora": [{"path": "mine.tsv"}]}, "corpora.0.languages: []"),
        (
            {"corpora": [{"path": "mine.tsv", "languages": ["pl"]}]},
            "corpora.0.languages: ['pl']",
        ),
        ({"languages": ["en", "es", "fr"]}, "'sample_opus' has nothing in en-es-fr; it has de-en"),
        (
            {"languages": ["en", "fr"], "corpora": ["sample_aligned", "sample_paranmt"],
             "encoder": {"languages": "separate"}},
            "['sample_paranmt'] has no translations",
        ),
        (
            {"selection": {"paraphrase": {"rank": {"by": "paraphrase_score", "min": 0.8, "max": 1}}},
             "corpora": [*ALL, "quora"]},
            "rank.by: 'quora'",
        ),
    ],
)  # fmt: skip
def test_faults_are_told(more: dict, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.tsv").write_text("content")
    with pytest.raises(InputError) as error:
        checked(several(**{"corpora": ALL, **more}))
    assert message in str(error.value)


def test_corpora_of_opus_need_the_lists_of_all_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for languages in (("en", "de"), ("en", "fr")):
        a, b = sorted(languages)
        entry = {
            "corpus": "Books", "version": "v1", "url": f"https://host/Books/v1/moses/{a}-{b}.txt.zip",
            "size": 9, "alignment_pairs": 9,
        }  # fmt: skip
        list_path(languages).parent.mkdir(parents=True, exist_ok=True)
        list_path(languages).write_text(json.dumps({"corpora": [entry]}))
    config = several(["Books"], ("en", "de", "fr"))
    with pytest.raises(InputError, match=r"OPUS's list of de-fr is missing; .* --languages de-fr"):
        checked(config)
    list_path(("de", "fr")).write_text(json.dumps({"corpora": []}))
    assert models_of(config).corpus_pairs["all"] == [("Books", ("en", "de")), ("Books", ("en", "fr"))]
