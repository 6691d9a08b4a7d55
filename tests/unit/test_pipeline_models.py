"""Test what the rules ask the library about a configuration's corpora and models."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from catalogue import of, pipeline
from configurations import load

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.workflow.corpora import languages_of, one_of


def test_a_dry_run_imports_nothing_heavy() -> None:
    code = "import sys; from paraphrastic_pipeline.workflow import pipeline, resources"
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
    corpora = pipeline()
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
    corpora = pipeline(
        models=["fr"],
        definitions=definitions,
        language_choice={"models": []},
        studies={"megabatch": {"model": "fr", "vary": {"sweep.megabatch": [1]}}},
    )
    assert corpora.downloads("mine", ("en", "fr")) == [f"ancient {path}"]


def test_paraphrases_alone_are_compared_by_their_words() -> None:
    corpora = pipeline("paper")
    english, french = of(corpus="x", pair="en-en"), of(corpus="x", pair="en-fr")
    assert corpora.punkt(french) == []
    assert corpora.punkt(english) == ["resources/downloads/punkt/punkt_tab.zip"]
    assert pipeline().preparation(("en", "tr"))["folding"] == {"tr": "dotted"}


# Models.


def test_models_of_a_study_have_the_data_of_their_model() -> None:
    models = pipeline()
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
    models = pipeline()
    assert models.of_corpora("{model}/{corpus}")(of(model="fr")) == ["fr/sample_aligned"]
    assert models.contaminated(of(model="fr")) == ["results/contamination/fr/sample_aligned/en-fr.parquet"]
    kept = pipeline(contamination={"drop": "none"}, held_out=None, choose_by="sts2017")
    assert kept.contaminated(of(model="fr")) == []
    assert models.of_model_corpora("{data}/{pair}/{corpus}")[-1] == "fr/en-fr/sample_aligned"
    assert models.derived["fr"]["max_pairs"] == [None]
    assert [name for name, *_ in models.counted_corpora(of(model="fr"))] == ["sample_aligned"]


def test_a_run_has_the_settings_of_the_sweep() -> None:
    models = pipeline()
    assert models.definition(of(model="en")).trainings.keys() == {
        "dropout-0.0-megabatch-10",
        "dropout-0.1-megabatch-10",
    }
    run = models.run(of(model="en", run="dropout-0.1-megabatch-10"))
    assert (run["settings"]["dropout"], run["settings"]["megabatch"]) == (0.1, 10)
    assert run["config"]["model"] == "en"
    assert models.of_runs("x")(of(model="en"))[0] == "results/training/en/dropout-0.0-megabatch-10/x"


def test_the_runs_of_all_models_share_the_cores() -> None:
    models = pipeline()
    run = of(model="fr", run="dropout-0.0-megabatch-10")
    # Six models, two of them of a study, have two runs each.
    assert [models.training_threads(run, n) for n in (1, 23, 24, 1000)] == [1, 1, 2, 8]
    training = {**load("config")["training"], "engine": "autograd"}
    # More threads would change the digits of autograd.
    assert pipeline(training=training).training_threads(run, 1000) == 1


def test_test_sets_are_no_reason_to_train_again() -> None:
    wildcards = of(model="en", run="dropout-0.0-megabatch-10")
    models = pipeline()
    files = {"sts2017": "results/testsets/sts.parquet", "held_out": "results/held_out/en.parquet"}
    for measure, path in files.items():
        assert models.development(measure)(wildcards) == [f"ancient {path}"]
    modules = ("evaluation.development", "evaluation.held_out", "training.transformer")
    assert models.uncounted_modules(wildcards) == tuple(f"paraphrastic_pipeline.{name}" for name in modules)


def test_a_study_that_is_off_is_refused_by_its_key() -> None:
    with pytest.raises(InputError, match=r"language_choice\.models: is empty"):
        pipeline(language_choice={"models": []}).language_choice_files("{model}")
    there = pipeline()
    assert there.language_choice_files("{model}") == ["de", "es", "fr"]
    assert there.language_choice_files("{model}", prefixed=True) == []


# Evaluations.
