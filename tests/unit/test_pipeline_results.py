"""Test what the rules ask the library about a configuration's evaluations and results."""

import pytest
from catalogue import of, pipeline
from configurations import load

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.evaluation.tasks import LAYOUTS, TASKS
from paraphrastic_pipeline.report.contents import CHAPTERS, TABLES


def test_systems_are_models_before_and_after_training_and_other_peoples() -> None:
    encoder = {"sentence_transformers": "some/name", "languages": ["en"]}
    evaluations = pipeline(systems={"theirs": encoder})
    assert evaluations.systems[:3] == ["theirs", "en-untrained", "en"]
    assert evaluations.place("theirs") == {"sentence_transformers": "some/name", "label": "theirs"}
    assert evaluations.system_files("theirs") == []
    assert evaluations.place("fr-untrained") == "results/untrained/fr"
    assert evaluations.system_files("fr")[0] == "results/models/fr/model.safetensors"
    assert evaluations.knows("theirs", "en")
    assert not evaluations.knows("theirs", "en", "fr")


def test_a_task_is_for_systems_that_know_its_languages() -> None:
    evaluations = pipeline()
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
    assert evaluations.evaluated("xling_sts", "fr") == ["en-en"]


def test_only_names_tasks() -> None:
    with pytest.raises(InputError, match=r"config: evaluation.only.tatoba: 'tatoba' .*'tatoeba'"):
        pipeline(evaluation={"only": {"tatoba": []}})


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("dee", "'dee' .*'de'"),
        ("LaBSE", "'LaBSE' .*en-untrained, en, de-untrained, de, "),
    ],
)
def test_only_names_systems(name: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"config: evaluation\.only\.sts: {message}"):
        pipeline(evaluation={"only": {"sts": ["de-untrained", name]}})


def test_only_may_name_models_that_are_not_built() -> None:
    found = pipeline(
        models=["de"],
        language_choice={"models": []},
        evaluation={"only": {"sts": ["de", "fr", "fr-untrained"]}},
    )
    assert found.systems_of("sts") == ["de"]


def test_a_model_without_epochs_is_untrained_itself() -> None:
    definitions = load("config")["definitions"]
    untrained = {**definitions["de"], "training": {"epochs": 0}}
    with pytest.raises(InputError, match="'de-untrained'"):
        pipeline(definitions={**definitions, "de": untrained}, evaluation={"only": {"sts": ["de-untrained"]}})


def test_training_data_are_held_against_test_sets_in_their_languages() -> None:
    evaluations = pipeline()
    languages = {file["languages"] for file in evaluations.contamination_files(of(model="fr")).values()}
    assert {frozenset(pair) for pair in languages} == {frozenset(), frozenset({"en", "fr"})}
    named = pipeline(evaluation={"tatoeba": {"testsets": "sample_tatoeba", "languages": ["de"]}})
    found = named.contamination_files(of(model="fr"))
    assert {file["testset"] for file in found.values()} == {"sts"}


@pytest.mark.parametrize(
    "evaluation",
    [{}, {"tatoeba": None, "only": {"sts": [], "tatoeba": []}}, {"bucc": {"testsets": "bucc2018"}}],
)
def test_contamination_does_not_depend_on_the_tables(evaluation: dict) -> None:
    testsets = {"sts": "sample_sts", "tatoeba": "sample_tatoeba", "bucc": "bucc2018"}
    found = pipeline(contamination={"testsets": testsets}, evaluation=evaluation)
    downloads = "resources/downloads/sample_tatoeba/tatoeba.deu-eng"
    assert [*found.contamination_files(of(model="de"))] == [
        "results/testsets/sts.parquet",
        f"{downloads}.deu",
        f"{downloads}.eng",
        "results/testsets/bucc/de-en.parquet",
    ]
    assert found.testset_name("bucc") == "bucc2018"


def test_speed_that_is_off_is_refused_by_its_key() -> None:
    with pytest.raises(InputError, match=r"evaluation\.speed: is null"):
        pipeline(evaluation={"speed": None}).speed_columns()
    assert next(iter(pipeline().speed_columns().values())) == ["source", "target"]


# Tables.


def test_every_table_has_a_title_and_a_caption() -> None:
    sections = [section for chapter in CHAPTERS for section in chapter.sections]
    assert all(section.title for section in sections)
    # The curves of trainings are pictures without a table.
    assert {section.name for section in sections} - TABLES.keys() == {"training"}
    assert TABLES.keys() > set(pipeline().tables)
    assert [layout.task for layout in LAYOUTS.values()] == [
        name for name, task in TASKS.items() for _ in task.tables
    ]


def test_tables_are_those_that_have_rows() -> None:
    found = pipeline()
    assert found.system_tables == [
        "held_out", "sts", "sts_spearman", "xling_sts", "xling_sts_spearman", "tatoeba",
    ]  # fmt: skip
    assert TABLES["sts"].caption == LAYOUTS["sts"].caption
    assert "training/de/dropout-0.0-megabatch-10" in found.figures
    assert "contamination" in found.tables
    assert "contamination" not in found.figures
    assert "language_choice" not in pipeline(language_choice={"models": []}).tables


def test_without_sts_nothing_is_tested_on_it() -> None:
    off = pipeline(evaluation={**load("config")["evaluation"], "sts": None})
    assert off.system_tables == ["held_out", "tatoeba"]
    assert off.systems_of("sts") == []
    assert off.default_targets([])[0] == "results/tables/held_out.csv"
    assert off.card_results(of(model="de")) == []


def test_models_that_are_not_trained_have_no_curve_of_their_training() -> None:
    definitions = load("config")["definitions"]
    found = pipeline(definitions={**definitions, "de": {**definitions["de"], "training": {"epochs": 0}}})
    assert not [figure for figure in found.figures if figure.startswith("training/de/")]
    assert [figure for figure in found.figures if figure.startswith("training/")]


def test_results_of_a_table_are_those_of_all_seeds() -> None:
    definitions = load("config")["definitions"]
    found = pipeline(definitions={**definitions, "fr": {**definitions["fr"], "seeds": 2}})
    assert found.table_results("sts")["fr"] == ["results/eval/fr/sts.json", "results/eval/fr-seed-2/sts.json"]
    assert "results/eval/fr-seed-2/sts.json" in found.all_results("sts")


def test_files_that_stand_after_forcerun_are_targets() -> None:
    found = pipeline(models=["fr"], language_choice={"models": []})
    assert found.default_targets(["train_model"]) == [
        "results/tables/held_out.csv",
        "results/tables/sts.csv",
        "results/models/fr/README.md",
    ]
    assert found.default_targets(["train_model", "results/x"]) == ["results/x"]
    # Without English, there is no table of STS.
    alone = pipeline("papers/mined_paraphrases")
    assert alone.default_targets([]) == [
        f"results/models/{model}/README.md"
        for model in ("pl-mean", "pl-lstm-1024", "pl-lstm-2048", "pl-lstm-4096")
    ]
