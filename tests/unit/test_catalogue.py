"""Test what the rules ask the library about a configuration's corpora, models, evaluations and results."""

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from configurations import ROOT, SCHEMA, load

from paraphrastic.base.errors import InputError
from paraphrastic.config.check import check_config
from paraphrastic.config.definitions import RECIPES
from paraphrastic.evaluation.layouts import LAYOUTS, TASKS
from paraphrastic.evaluation.ledger import Run
from paraphrastic.pipeline.corpora import Corpora, languages_of, one_of
from paraphrastic.pipeline.evaluations import Evaluations
from paraphrastic.pipeline.models import Models
from paraphrastic.pipeline.results import Results, configs_below
from paraphrastic.report.contents import CAPTIONS, CHAPTERS

SECTIONS = ("contamination", "evaluation", "filter_study", "language_choice", "studies")


def results(name: str = "config", **changes: Any) -> Results:
    """Return the results of a configuration; `changes` are merged into its sections."""
    return read_results(name, changes) if changes else shipped_results(name)


@cache
def shipped_results(name: str) -> Results:
    return read_results(name, {})


def read_results(name: str, changes: dict[str, Any]) -> Results:
    config = load(name)
    for key, value in changes.items():
        config[key] = {**config.get(key, {}), **value} if key in SECTIONS else value
    config["registry"] = str(ROOT / "config/datasets.tsv")
    checked, datasets = check_config(config, schema=SCHEMA)
    return Results(Evaluations(Models(Corpora(checked, datasets, lambda path: f"ancient {path}"))), ROOT)


def of(**wildcards: str) -> SimpleNamespace:
    return SimpleNamespace(**wildcards)


def test_a_dry_run_imports_nothing_heavy() -> None:
    code = "import sys; from paraphrastic.pipeline import hooks, resources, results"
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
    assert corpora.overlap_tokenizer(english) == corpora.config["text"]["overlap_tokenizer"]
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
    assert models.run(part) == {**first, **models.config["filter_study"]["training"]}
    assert models.run(part)["epochs"] == 5
    assert models.of_runs("{model}/{run}", "x")(of(model="en"))[:2] == ["en/dropout-0.0-megabatch-10", "x"]
    about = models.about(of(model="en", measure="paraphrase_score", part="2"))
    assert (about["model"], about["rank_by"], about["part"]) == ("en", "paraphrase_score", 2)
    assert "part" not in models.about(of(model="en"))


def test_test_sets_are_a_reason_to_train_again_if_scores_decide_when_to_stop() -> None:
    wildcards = of(model="en", run="dropout-0.0-megabatch-10")
    models = results().evaluations.models
    assert models.development_testsets(wildcards) == "ancient results/testsets/sts.parquet"
    assert models.uncounted_modules(wildcards) == ["paraphrastic.evaluation.development"]
    training = {**load("config")["training"], "early_stopping": {"patience": 2, "every": 1}}
    stopping = results(training=training).evaluations.models
    assert stopping.development_testsets(wildcards) == "results/testsets/sts.parquet"
    assert stopping.uncounted_modules(wildcards) == []


def test_studies_that_are_off_are_refused_by_their_key() -> None:
    models = results(filter_study={"model": None}, language_choice={"models": []}).evaluations.models
    with pytest.raises(InputError, match=r"filter_study\.model: is null"):
        models.filter_study_files("parts.json")(of())
    with pytest.raises(InputError, match=r"language_choice\.models: is empty"):
        models.language_choice_files("{model}")(of())
    there = results().evaluations.models
    assert there.filter_study_files("{part}/x")(of())[0] == "results/filter_study/en/paraphrase_score/1/x"
    assert len(there.filter_study_files("{part}/x")(of())) == 5
    assert there.language_choice_files("{model}")(of()) == ["de", "es", "fr"]
    assert there.language_choice_files("{model}", prefixed=True)(of()) == []


# Evaluations.


def test_systems_are_models_before_and_after_training_and_other_peoples() -> None:
    encoder = {"sentence_transformers": "some/name", "languages": ["en"]}
    evaluations = results(systems={"theirs": encoder}).evaluations
    assert evaluations.systems[:3] == ["theirs", "en-untrained", "en"]
    assert evaluations.place("theirs") == {
        "sentence_transformers": "some/name",
        "label": "theirs",
    }
    assert evaluations.files("theirs") == []
    assert evaluations.place("fr-untrained") == "results/untrained/fr"
    assert evaluations.files("fr")[0] == "results/models/fr/model.safetensors"
    assert evaluations.knows("theirs", "en")
    assert not evaluations.knows("theirs", "en", "fr")


def test_a_task_is_for_systems_that_know_its_languages() -> None:
    evaluations = results().evaluations
    assert evaluations.systems_of("sts") == [
        name for model in ("en", "de", "es", "fr") for name in (f"{model}-untrained", model)
    ]
    assert evaluations.systems_of("stsb") == []  # evaluation.only leaves out this task
    assert evaluations.parts("xling_sts", "es") == ["es-es", "es-en", "en-en"]
    assert evaluations.parts("xling_sts", "fr") == ["en-en"]
    assert evaluations.parts("tatoeba", "fr") == ["fr"]
    assert evaluations.parts("bucc", "fr") == []
    assert evaluations.systems_of("polish") == evaluations.systems_of("senteval") == []
    assert evaluations.systems_of("speed") == ["en", "de", "es", "fr"]
    with pytest.raises(InputError, match=r"evaluation\.bucc: is null"):
        evaluations.evaluated("bucc", "fr")
    with pytest.raises(InputError, match="en: knows none of the evaluated languages"):
        evaluations.evaluated("tatoeba", "en")
    path = "{language}.parquet"
    assert evaluations.part_files("tatoeba", path)(of(system="fr")) == ["fr.parquet"]


def test_settings_of_an_evaluation_name_its_task_and_tracks() -> None:
    evaluations = results().evaluations
    common = {"source": "untrained", "bootstrap_samples": 1000, "sample": False}
    assert evaluations.settings(of(system="fr-untrained")) == common
    assert evaluations.settings(of(system="fr-untrained", suite="polish")) == {
        **common,
        "suite": "polish",
    }
    found = evaluations.settings(of(system="fr-untrained", task="xling_sts"))
    assert found == {**common, "task": "xling_sts", "tracks": ["en-en"]}
    assert evaluations.settings(of(system="fr", task="sts"))["tracks"] == []


def test_only_names_tasks() -> None:
    with pytest.raises(
        InputError, match=r"config: evaluation.only.tatoba: unknown key; did you mean 'tatoeba'"
    ):
        results(evaluation={"only": {"tatoba": []}})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dee", "'dee' is not a system that is evaluated; did you mean 'de'?"),
        (
            "LaBSE",
            "'LaBSE' is not a system that is evaluated; there are en-untrained, en, de-untrained, de, ",
        ),
    ],
)
def test_only_names_systems(name: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"config: evaluation\.only\.sts: {message}"):
        results(evaluation={"only": {"sts": ["de-untrained", name]}})


def test_only_may_name_models_that_are_not_built() -> None:
    found = results(
        models=["de"],
        filter_study={"model": None},
        language_choice={"models": []},
        evaluation={"only": {"sts": ["de", "fr", "fr-untrained"]}},
    )
    assert found.evaluations.systems_of("sts") == ["de"]


def test_a_model_without_epochs_is_untrained_itself() -> None:
    definitions = load("config")["definitions"]
    untrained = {**definitions["de"], "training": {"epochs": 0}}
    with pytest.raises(InputError, match="'de-untrained' is not a system that is evaluated; did you mean"):
        results(definitions={**definitions, "de": untrained}, evaluation={"only": {"sts": ["de-untrained"]}})


def test_prepared_test_sets_are_those_of_the_tasks() -> None:
    assert results().evaluations.prepared_testsets == [
        "results/testsets/sts.parquet",
        *(f"results/testsets/tatoeba/{language}.parquet" for language in ("de", "es", "fr")),
    ]


def test_training_data_are_held_against_test_sets_in_their_languages() -> None:
    evaluations = results().evaluations
    languages = {file.languages for _, file in evaluations.contamination_files(of(model="fr"))}
    assert {frozenset(pair) for pair in languages} == {frozenset(), frozenset({"en", "fr"})}
    named = results(evaluation={"tatoeba": {"testsets": "sample_tatoeba", "languages": ["de"]}})
    found = named.evaluations.contamination_files(of(model="fr"))
    assert {testset for testset, _ in found} == {"sts"}


def test_a_card_tells_of_what_the_model_knows() -> None:
    evaluations = results().evaluations
    assert evaluations.card_results(of(model="fr")) == [
        "results/eval/fr/sts.json",
        "results/eval/fr/xling_sts.json",
    ]
    assert len(evaluations.tokenizer_files(of(model="fr"))) == 2


def test_speed_that_is_off_is_refused_by_its_key() -> None:
    with pytest.raises(InputError, match=r"evaluation\.speed: is null"):
        results(evaluation={"speed": None}).evaluations.speed_columns()
    assert next(iter(results().evaluations.speed_columns().values())) == ["source", "target"]


# Tables.


def test_every_table_has_a_title_and_a_caption() -> None:
    sections = [section for chapter in CHAPTERS for section in chapter.sections]
    assert all(section.title and bool(section.caption) == section.table for section in sections)
    # The map is a picture without a table.
    assert {*results().tables, *results().absent} - {"map"} == CAPTIONS.keys()
    assert [layout.task for layout in LAYOUTS.values()] == [
        name for name, task in TASKS.items() for _ in task.tables
    ]


def test_tables_are_those_that_have_rows() -> None:
    found = results()
    assert found.system_tables == ["sts", "sts_spearman", "xling_sts", "xling_sts_spearman", "tatoeba"]
    assert found.absent["bucc"] == "no system of the configuration is evaluated on bucc"
    assert found.off["bucc"] == found.absent["bucc"]
    assert CAPTIONS["sts"] == LAYOUTS["sts"].caption
    assert "training/de/dropout-0.0-megabatch-10" in found.figures
    assert "contamination" in found.tables
    assert "contamination" not in found.figures
    off = results(filter_study={"model": None}, language_choice={"models": []})
    assert off.absent["filter_study"] == "the configuration does not ask for it"


def test_models_that_are_not_trained_have_no_curve_of_their_training() -> None:
    definitions = load("config")["definitions"]
    found = results(definitions={**definitions, "de": {**definitions["de"], "training": {"epochs": 0}}})
    assert not [figure for figure in found.figures if figure.startswith("training/de/")]
    assert [figure for figure in found.figures if figure.startswith("training/")]


def test_negatives_are_those_of_one_model() -> None:
    assert "negatives" not in results().tables
    with pytest.raises(InputError, match=r"negatives\.model: is null"):
        results().evaluations.models.negatives_files("{model}")(of())
    found = results(negatives={"model": "de-megabatch-2", "megabatch": [3]})
    assert "negatives" in found.tables
    models = found.evaluations.models
    assert models.negatives_files("{model}/a", "{data}/b")(of()) == ["de-megabatch-2/a", "de/b"]
    assert models.negatives_settings(of()) == {"megabatch": [3], "sentences": None, "batch_size": 128}


def test_trainings_are_compared_on_the_pairs_of_one_model() -> None:
    assert "comparison" not in results().tables
    with pytest.raises(InputError, match=r"comparison\.model: is null"):
        results().evaluations.models.comparison_curve("own")(of())
    found = results(comparison={"model": "de-megabatch-2", "points": 20})
    assert "comparison" in found.tables
    assert "comparison" in found.figures
    models, wildcards = found.evaluations.models, of(model="de-megabatch-2", run="dropout-0.0-megabatch-10")
    assert models.comparison_curve("own")(of()) == "results/comparison/de-megabatch-2/own.csv"
    assert models.merged_pairs(wildcards) == "results/corpora/de/pairs.parquet"
    run = models.run(wildcards)
    own, paper = (models.compared_run(of(model=wildcards.model, recipe=each)) for each in ("own", "paper"))
    assert own == {**run, "early_stopping": None, "device": "cpu"}
    assert paper == {**own, "init": "random", **RECIPES["paper"], "epochs": 5} != own
    assert models.epochs_between_scores(wildcards) == 5 / 20
    assert models.static_embedding(wildcards) == {
        "dimension": own["dimension"],
        "epochs": 5,
        "points": 20,
        "max_pieces": 100,
        "seed": own["seed"],
    }
    fewer = results(comparison={"model": "en", "epochs": 2}).evaluations.models
    assert fewer.compared_run(of(model="en", recipe="own"))["epochs"] == 2
    assert fewer.epochs_between_scores(of(model="en")) == 2 / 10


def test_the_ledger_knows_the_files_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "config/papers").mkdir(parents=True)
    files = ["config/papers/b.yaml", "config/a.yaml", "mine.yaml", "config/../c.yaml"]
    paths = [tmp_path / file for file in files]
    assert configs_below([*paths, str(paths[1])], str(tmp_path)) == ["a.yaml", "papers/b.yaml"]
    claims = {"fr": {**load("config")["definitions"]["fr"], "published_as": ["LASER"]}}
    run = Run(**results(definitions={**load("config")["definitions"], **claims}).ledger_run)
    assert run.claiming("LASER") == ["fr"]
    assert run.claiming("P-SP") == []
    assert run.configs == []
    assert len(run.digest("fr")) == len(run.digest("*")) == 64
    assert run.gathered == ["en", "de", "es", "fr"]


def test_results_of_a_table_are_those_of_all_seeds() -> None:
    definitions = load("config")["definitions"]
    found = results(definitions={**definitions, "fr": {**definitions["fr"], "seeds": 2}})
    assert found.systems("sts")["fr"] == [
        "results/eval/fr/sts.json",
        "results/eval/fr-seed-2/sts.json",
    ]
    assert "fr-untrained" not in found.differing
    assert found.differing["fr"] == "results/eval/fr/sts.json"
    assert "results/eval/fr-seed-2/sts.json" in found.files("sts")
    assert found.intervals(of(table="sts")) == ["results/tables/intervals/sts.csv"]
    assert found.intervals(of(table="funnel")) == []
    assert found.published_file(of(table="sts")) == ["config/published/sts.csv"]
    assert found.published_file(of(table="funnel")) == []


def test_files_that_stand_after_forcerun_are_targets() -> None:
    found = results(models=["fr"], filter_study={"model": None}, language_choice={"models": []})
    assert found.default_targets(["train_model"]) == ["results/tables/sts.csv", "results/models/fr/README.md"]
    assert found.default_targets(["train_model", "results/x"]) == ["results/x"]
    # Without English, there is no table of STS.
    alone = results("papers/mined_paraphrases")
    assert alone.default_targets([]) == [
        f"results/models/{model}/README.md"
        for model in ("pl-mean", "pl-lstm-1024", "pl-lstm-2048", "pl-lstm-4096")
    ]


@pytest.mark.parametrize("only", [True, False])
def test_all_words_with_vectors_have_rows_if_the_vocabulary_has_no_others(*, only: bool) -> None:
    definitions = load("config")["definitions"]
    definitions["en"] |= {
        "encoder": {"parts": [{"kind": "average", "unit": "word"}, {"kind": "average", "unit": "trigram"}]},
        "vocabulary": {"only_initial_vectors": only},
        "training": {"initial_vectors": "paragram_phrase"},
    }
    words, trigrams = results(definitions=definitions).evaluations.models.derived["en"]["units"]
    assert (words["keep_unseen"], trigrams["keep_unseen"]) == (only, False)
