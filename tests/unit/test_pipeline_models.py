"""Test what the rules ask the library about a configuration's corpora and models."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from catalogue import of, results
from configurations import load

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.workflow.corpora import languages_of, one_of
from paraphrastic_pipeline.workflow.studies import Studies


def test_a_dry_run_imports_nothing_heavy() -> None:
    code = "import sys; from paraphrastic_pipeline.workflow import hooks, resources, outputs"
    shown = subprocess.run(
        [sys.executable, "-c", f"{code}; print(*sys.modules)"], capture_output=True, text=True, check=True
    )
    heavy = {"torch", "numpy", "pandas", "polars", "pyarrow", "scipy", "numba", "snakemake"}
    assert heavy.isdisjoint(shown.stdout.split())


@pytest.mark.parametrize(
    ("names", "text", "matches"),
    [(["a", "b.c"], "b.c", True), (["a", "b.c"], "bxc", False), ([], "", False), ([], "a", False)],
)
def test_a_wildcard_is_one_of_the_names(names: list[str], text: str, matches: bool) -> None:
    assert bool(re.fullmatch(one_of(names), text)) == matches


def test_languages_of_a_pair_are_named_once() -> None:
    assert (languages_of("en-fr"), languages_of("en-en")) == (("en", "fr"), ("en",))


# Corpora.


def test_files_of_a_corpus_are_those_of_its_languages() -> None:
    corpora = results().evaluations.corpora
    paths = corpora.downloads("sample_aligned", ("en", "fr"))
    assert paths == [file.location for file in corpora.datasets["sample_aligned"].select(("en", "fr"))]
    assert [file["languages"] for file in corpora.described_files("sample_aligned", ("en", "fr"))] == [
        ("en",),
        ("fr",),
    ]
    assert "sample_aligned" in corpora.corpora
    file = corpora.datasets["sample_aligned"].files[0]
    known = corpora.expected_file(of(dataset="sample_aligned", file=file.name))
    assert known == (file.version, file.sha256)
    assert corpora.expected_file(of(dataset="sample_aligned", file="nothing")) is None


def test_a_file_of_ones_own_is_known_by_its_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "mine.tsv"
    path.write_text("a\tb\n")
    definitions = {"fr": {"languages": ["en", "fr"], "corpora": [{"path": str(path)}]}}
    corpora = results(
        models=["fr"],
        definitions=definitions,
        filter_study={"model": None},
        language_choice={"models": []},
        studies={"megabatch": {"model": "fr", "vary": {"sweep.megabatch": [1]}}},
    ).evaluations.corpora
    assert corpora.downloads("mine", ("en", "fr")) == [f"ancient {path}"]


def test_paraphrases_alone_are_scored_by_word_vectors() -> None:
    corpora = results("paper").evaluations.corpora
    english, french = of(corpus="x", pair="en-en"), of(corpus="x", pair="en-fr")
    assert corpora.overlap_tokenizer(french) == "word"
    assert corpora.overlap_tokenizer(english) == corpora.config.text.overlap_tokenizer
    assert corpora.paraphrase_vectors(french) == []
    assert corpora.modes("folding", ("en", "tr")) in ({"tr": "dotted"}, {})
    assert results().evaluations.corpora.modes("folding", ("en", "tr")) == {"tr": "dotted"}


def test_language_identification_is_trained_on_labelled_text() -> None:
    assert results().evaluations.corpora.language_id == ["resources/language_id/sample_languages.bin"]
    without = {"bitext": {"language": None}, "paraphrase": {"language": None}}
    assert results(language_id=None, selection=without).evaluations.corpora.language_id == []


# Models.


def test_models_of_a_study_have_the_data_of_their_model() -> None:
    models = results().evaluations.models
    assert models.data_models["de-megabatch-2"] == "de"
    assert models.of("training_data")(of(model="de-megabatch-2")) == "results/datasets/de/train.h5"
    assert models.derived["de-megabatch-2"]["vocabulary_files"] == [
        "results/vocabulary/de/sentencepiece.model"
    ]
    assert models.study_models == [
        ("megabatch", "sweep.megabatch 1", "de-megabatch-1"),
        ("megabatch", "sweep.megabatch 10", "de-megabatch-2"),
    ]


def test_corpora_of_a_model_are_those_of_its_definition() -> None:
    models = results().evaluations.models
    assert models.of_corpora("{model}/{corpus}")(of(model="fr")) == ["fr/sample_aligned"]
    assert models.if_dropped("{model}/{corpus}")(of(model="fr")) == ["fr/sample_aligned"]
    kept = results(contamination={"drop": "none"}).evaluations.models
    assert kept.if_dropped("{model}/{corpus}")(of(model="fr")) == []
    assert models.of_model_corpora("{data}/{pair}/{corpus}")[-1] == "fr/en-fr/sample_aligned"
    assert models.derived["fr"]["max_pairs"] == [None]
    assert [name for name, *_ in models.counted_corpora(of(model="fr"))] == ["sample_aligned"]


def test_a_run_has_the_settings_of_the_sweep_or_of_the_filter_study() -> None:
    models = results().evaluations.models
    assert models.derived["en"]["runs"].keys() == {"dropout-0.0-megabatch-10", "dropout-0.1-megabatch-10"}
    run = models.run(of(model="en", run="dropout-0.1-megabatch-10"))
    assert (run["dropout"], run["megabatch"]) == (0.1, 10)
    first = models.run(of(model="en", run="dropout-0.0-megabatch-10"))
    part = of(model="en", measure="paraphrase_score", part="2")
    assert models.run(part) == {**first, **models.config.filter_study.training}
    assert models.run(part)["epochs"] == 5
    assert models.of_runs("{model}/{run}", "x")(of(model="en"))[:2] == ["en/dropout-0.0-megabatch-10", "x"]
    about = models.about(of(model="en", measure="paraphrase_score", part="2"))
    assert (about["model"], about["rank_by"], about["part"]) == ("en", "paraphrase_score", 2)
    assert "part" not in models.about(of(model="en"))


def machine(cores: int | None, **more: bool) -> SimpleNamespace:
    """A workflow of Snakemake."""
    settings = SimpleNamespace(cores=cores)
    return SimpleNamespace(resource_settings=settings, **{"local_exec": True, "remote_exec": False, **more})


def test_the_runs_of_all_models_share_the_cores() -> None:
    models = results().evaluations.models
    run = of(model="fr", run="dropout-0.0-megabatch-10")
    # Six models, two of them of a study, have two runs each.
    assert [models.training_threads(machine(n))(run) for n in (None, 1, 23, 24, 1000)] == [1, 1, 1, 2, 8]
    for elsewhere in ({"local_exec": False}, {"remote_exec": True}):
        assert models.training_threads(machine(1000, **elsewhere))(run) == 1
    training = {**load("config")["training"], "engine": "autograd"}
    # More threads would change the digits of autograd.
    assert results(training=training).evaluations.models.training_threads(machine(1000))(run) == 1


def test_test_sets_are_a_reason_to_train_again_if_scores_decide_when_to_stop() -> None:
    wildcards = of(model="en", run="dropout-0.0-megabatch-10")
    models = results().evaluations.models
    files = {"sts2017": "results/testsets/sts.parquet", "held_out": "results/held_out/en.parquet"}
    for measure, path in files.items():
        assert models.development(measure)(wildcards) == [f"ancient {path}"]
    assert models.uncounted_modules(wildcards) == (
        "paraphrastic_pipeline.evaluation.development",
        "paraphrastic_pipeline.evaluation.held_out",
    )
    training = {**load("config")["training"], "early_stopping": {"patience": 2, "every": 1}}
    stopping = results(training=training).evaluations.models
    for measure, path in files.items():
        assert stopping.development(measure)(wildcards) == [path]
    assert stopping.uncounted_modules(wildcards) == ()


def test_studies_that_are_off_are_refused_by_their_key() -> None:
    models = Studies(results(filter_study={"model": None}, language_choice={"models": []}).evaluations.models)
    with pytest.raises(InputError, match=r"filter_study\.model: is null"):
        models.filter_study_files("parts.json")(of())
    with pytest.raises(InputError, match=r"language_choice\.models: is empty"):
        models.language_choice_files("{model}")(of())
    there = Studies(results().evaluations.models)
    assert there.filter_study_files("{part}/x")(of())[0] == "results/filter_study/en/paraphrase_score/1/x"
    assert len(there.filter_study_files("{part}/x")(of())) == 5
    assert there.language_choice_files("{model}")(of()) == ["de", "es", "fr"]
    assert there.language_choice_files("{model}", prefixed=True)(of()) == []


# Evaluations.


def test_negatives_are_those_of_one_model() -> None:
    assert "negatives" not in results().tables
    with pytest.raises(InputError, match=r"negatives\.model: is null"):
        Studies(results().evaluations.models).study_file("negatives", "{model}")(of())
    found = results(negatives={"model": "de-megabatch-2", "megabatch": [3]})
    assert "negatives" in found.tables
    models = Studies(found.evaluations.models)
    assert models.study_file("negatives", "{model}/{data}")(of()) == "de-megabatch-2/de"
    assert models.negatives_settings(of()) == {
        "megabatch": [3], "sentences": None, "batch_size": 128, "texts": [],
        "model": "results/models/de-megabatch-2",
    }  # fmt: skip
