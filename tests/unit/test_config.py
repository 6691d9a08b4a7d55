"""Test how configurations are completed: with defaults, recipes and global sections."""

from pathlib import Path

import pytest
from configurations import ROOT, changed, checked, configured, load

from paraphrastic.base.errors import InputError
from paraphrastic.model.architecture import Architecture
from paraphrastic_pipeline.settings.check import complete_config, read_config
from paraphrastic_pipeline.settings.definitions import RECIPES

SHIPPED = sorted(path.stem for path in (ROOT / "config").glob("*.yaml"))


@pytest.mark.parametrize(
    ("recipe", "text", "found"),
    [
        (None, {}, ("script", "model")),
        ("best", {}, ("script", "model")),
        ("paper", {}, ("white_space", "original")),
        ("paper", {"words": "script"}, ("script", "original")),
        (None, {"identify": "original"}, ("script", "original")),
    ],
)
def test_the_recipe_of_the_papers_counts_and_identifies_as_they_did(recipe, text, found) -> None:
    config = {**changed("recipe", recipe), "text": text}
    assert tuple(checked(config)["text"][key] for key in ("words", "identify")) == found


@pytest.mark.parametrize("name", SHIPPED)
def test_a_completed_configuration_is_a_configuration_of_the_same(name: str) -> None:
    once = complete_config(load(name))
    assert repr(complete_config(once)) == repr(once)
    assert repr(checked(once)) == repr(checked(load(name)))


def test_a_recipe_is_what_training_leaves_out() -> None:
    config = load("config")
    config["training"]["margin"] = 0.5
    config["definitions"]["de"]["recipe"] = "paper"
    config["definitions"]["fr"]["training"] = {"init_std": 0.2}
    complete = checked(config)
    de, fr = (complete["definitions"][model]["training"] for model in ("de", "fr"))
    assert (de["margin"], de["init_std"], de["init_sif"], de["learning_rate"]) == (0.5, 1.0, None, 0.001)
    assert (fr["margin"], fr["init_std"], fr["init_sif"], fr["learning_rate"]) == (0.5, 0.2, 0.003, 0.003)


def test_a_definition_overrides_key_by_key() -> None:
    config = load("config")
    config["definitions"]["de"]["training"] = {"epochs": 2}
    config["definitions"]["de"]["selection"] = {"bitext": {"length": {"min": 4}, "language": None}}
    definitions = checked(config)["definitions"]
    complete = complete_config(config)
    assert definitions["de"]["training"] == {**RECIPES["best"], **complete["training"], "epochs": 2}
    assert definitions["de"]["selection"]["bitext"]["length"] == {"min": 4, "max": 100, "count": "both"}
    assert definitions["de"]["selection"]["bitext"]["language"] is None
    assert definitions["fr"]["training"] == {**RECIPES["best"], **complete["training"]}
    assert definitions["fr"]["selection"] == complete["selection"]


@pytest.mark.parametrize(
    ("path", "value", "other"),
    [
        (
            "selection.bitext.length",
            {"min": 1, "max": 100, "count": "both"},
            {"count": "both", "max": 100.0, "min": 1},
        ),
        ("training.epochs", 1000, 1e3),
        ("training.epochs", 1000, "1000"),
        ("sweep.dropout", [0.0, 0.1], [0, 0.1]),
        ("sweep.megabatch", [10], [10.0]),
        ("definitions.de.seeds", 2, 2.0),
        (
            "definitions.de.training",
            {"margin": 1.0, "early_stopping": {"patience": 2, "every": 1.0}},
            {"early_stopping": {"every": 1, "patience": 2.0}, "margin": 1},
        ),
        ("definitions.de.max_pairs", {"sample_opus": 9}, {"sample_opus": 9.0}),
        (
            "studies",
            {"s": {"model": "de", "vary": {"sweep.dropout": [0.0, [0.0, 0.2]], "training.margin": [1.0]}}},
            {"s": {"vary": {"sweep.dropout": [0, [0, 0.2]], "training.margin": [1]}, "model": "de"}},
        ),
    ],
)
def test_another_spelling_is_the_same_to_the_last_character(path: str, value: object, other: object) -> None:
    # The printed form shows the type of the value and the order of the keys.
    assert repr(checked(changed(path, other))) == repr(checked(changed(path, value)))


def test_the_paper_configuration_has_the_papers_values() -> None:
    config = checked(load("paper"))
    expected = {
        "dimension": 1024, "init": "random", "init_std": 1.0, "init_sif": None, "epochs": 25, "soup": 1,
        "batch_size": 128, "megabatch_anneal": 150, "loss": "margin", "margin": 0.4, "optimizer": "adam",
        "learning_rate": 0.001, "learning_rate_schedule": "constant", "warmup": 0.0, "weight_decay": 0.0,
        "max_gradient_norm": None, "precision": "float32", "negatives": "other_side",
        "exclude_duplicates": False, "max_negative_share": None, "mining_precision": "float32",
        "early_stopping": None, "initial_vectors": None, "teacher": None,
    }  # fmt: skip
    assert expected.items() <= config["training"].items()
    assert config["sweep"] == {"dropout": [0.0, 0.1, 0.3], "megabatch": [60, 100, 140]}
    definitions = config["definitions"]
    papers = configured(load("paper")).definitions
    vocabulary = papers["de"].vocabulary.of_unit("subword")
    assert (vocabulary.size, vocabulary.character_coverage, vocabulary.max_pieces) == (50_000, 0.995, 100)
    assert (vocabulary.unknown, vocabulary.max_sentences) == ("spellings", 10_000_000)
    assert papers["en"].vocabulary.of_unit("subword").max_pieces is None
    assert definitions["de"]["duplicates"] == "drop_all"
    assert definitions["en"]["duplicates"] == "drop_all"
    paraphrase = config["selection"]["paraphrase"]
    assert paraphrase["length"] == {"min": 5, "max": 40, "count": "mean"}
    assert (paraphrase["paraphrase_score"]["min"], paraphrase["trigram_overlap"]["max"]) == (0.4, 0.7)
    assert (paraphrase["near_copy"], paraphrase["rank"]) == (None, None)


@pytest.mark.parametrize("name", ["paranmt50m", "simple_effective"])
def test_models_of_earlier_papers_are_the_best_epoch_of_a_whole_training(name: str) -> None:
    trainings = [each["training"] for each in checked(load(f"papers/{name}"))["definitions"].values()]
    assert {training["epochs"] for training in trainings} - {0, 1} == {{"paranmt50m": 5}.get(name, 10)}
    for training in (training for training in trainings if training["epochs"] > 1):
        assert training["early_stopping"]["patience"] >= training["epochs"]
        assert training["early_stopping"]["every"] == 1


PAPERS = ["paper", "papers/mined_paraphrases", "papers/paranmt50m", "papers/simple_effective"]


@pytest.mark.parametrize("name", PAPERS)
def test_the_scaled_configuration_of_a_paper_has_all_its_tables(name: str) -> None:
    """Nothing is left out, and what could take hours is small."""
    files = [ROOT / f"config/{name}.yaml", ROOT / f"config/papers/scaled/{Path(name).name}.yaml"]
    papers, scaled = checked(load(name)), checked(read_config(files))
    assert not papers["sample"]
    assert scaled["sample"]
    assert set(papers["models"]) <= set(scaled["models"])
    assert {study: entry["model"] for study, entry in scaled["studies"].items()} == {
        study: entry["model"] for study, entry in papers["studies"].items()
    }
    assert scaled["language_choice"]["models"] == papers["language_choice"]["models"]
    for task in ("senteval", "polish", "bucc", "tatoeba"):
        assert scaled["evaluation"][task] == papers["evaluation"][task]
    made = {*scaled["models"], *scaled["language_choice"]["models"]}
    made.update(*(entry["model"] for entry in scaled["studies"].values()))
    for model in made:
        definition = scaled["definitions"][model]
        assert definition["training"]["epochs"] <= 1
        mined = set(definition["corpora"]) <= set(scaled["mined"])
        assert mined or all(definition["max_pairs"][corpus] <= 20_000 for corpus in definition["corpora"])


def test_every_definition_of_a_paper_is_made() -> None:
    for name in PAPERS:
        config = checked(load(name))
        made = {*config["models"], *config["language_choice"]["models"]}
        made.update(*(entry["model"] for entry in config["studies"].values()))
        assert set(load(name)["definitions"]) == made


def test_only_corpora_that_allow_commercial_use() -> None:
    config = load("small") | {"licences": "commercial"}
    names = ["tr", "zh", "ar"]
    config |= {"models": names, "language_choice": {"models": []}, "studies": {}}
    config["definitions"] = {name: config["definitions"][name] for name in names}
    config["evaluation"] = {}
    complete = checked(config)
    assert complete["definitions"]["tr"]["corpora"] == ["tatoeba_pairs"]
    config["definitions"]["tr"]["corpora"] = ["tanzil"]
    with pytest.raises(
        InputError, match=r"definitions\.tr\.corpora: none of them clearly allows commercial use"
    ):
        checked(config)


def test_a_transformer_has_the_recipe_of_its_paper() -> None:
    """Section IV-C of Dadas 2022."""
    config = configured(changed("definitions.de.encoder", {"transformer": "some/name"}))
    definition = config.definitions["de"]
    training = definition.training
    assert (training.loss, training.scale, training.batch_size) == ("multiple_negatives", 20.0, 64)
    assert (training.learning_rate, training.warmup, training.optimizer) == (2e-6, 0.1, "adamw")
    assert config.definitions["en"].training.loss == "margin"
    architecture = definition.architecture
    assert architecture.units == ("tokens",)
    assert Architecture.from_json(architecture.to_json()) == architecture
