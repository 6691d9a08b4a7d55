"""Test how configurations are completed: with defaults, recipes and global sections."""

from pathlib import Path

import pytest
from configurations import ROOT, assert_fault, changed, checked, configured, load

from paraphrastic.model.architecture import Architecture
from paraphrastic_pipeline.settings.check import complete_config, read_config
from paraphrastic_pipeline.settings.faults import parsed
from paraphrastic_pipeline.settings.sections.configuration import Configuration
from paraphrastic_pipeline.settings.sections.fields import as_json

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
    once, config = complete_config(load(name)), configured(load(name))
    assert repr(complete_config(once)) == repr(once)
    assert parsed(Configuration, as_json(config)) == config == configured(once)


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
    de, fr = (checked(config)["definitions"][model] for model in ("de", "fr"))
    assert de["training"] == {**fr["training"], "epochs": 2}
    assert de["selection"]["bitext"]["length"] == {"min": 4, "max": 100, "count": "both"}
    assert de["selection"]["bitext"]["language"] is None
    assert fr["selection"] == complete_config(config)["selection"]


@pytest.mark.parametrize(
    ("path", "value", "other"),
    [
        (
            "selection.bitext.length",
            {"min": 1, "max": 100, "count": "both"},
            {"count": "both", "max": 100.0, "min": 1},
        ),
        ("training.epochs", 1000, "1000"),
        ("training.learning_rate", 0.001, "1e-3"),
        ("text.lowercase", False, "false"),
        ("sweep.dropout", [0.0, 0.1], [0, 0.1]),
        ("definitions.de.max_pairs", {"sample_opus": 9}, {"sample_opus": "9"}),
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


PAPERS = ["paper", "papers/mined_paraphrases", "papers/paranmt50m", "papers/simple_effective"]


@pytest.mark.parametrize("name", PAPERS)
def test_the_scaled_configuration_of_a_paper_has_all_its_tables(name: str) -> None:
    """Nothing is left out, and what could take hours is small."""
    files = [ROOT / f"config/{name}.yaml", ROOT / f"config/papers/scaled/{Path(name).name}.yaml"]
    papers, scaled = checked(load(name)), checked(read_config(files))
    assert (papers["sample"], scaled["sample"]) == (False, True)
    assert set(papers["models"]) <= set(scaled["models"])
    assert papers["studies"].keys() == scaled["studies"].keys()
    assert scaled["language_choice"]["models"] == papers["language_choice"]["models"]
    for task in ("senteval", "polish", "bucc", "tatoeba"):
        assert scaled["evaluation"][task] == papers["evaluation"][task]
    for model in made(scaled):
        definition = scaled["definitions"][model]
        assert definition["training"]["epochs"] <= 1
        mined = set(definition["corpora"]) <= set(scaled["mined"])
        assert mined or all(definition["max_pairs"][corpus] <= 20_000 for corpus in definition["corpora"])
    assert set(load(name)["definitions"]) == made(papers), "every definition of a paper is made"


def made(config: dict) -> set[str]:
    """The definitions that are trained for the models, the studies and the choice of a language."""
    studied = (model for study in config["studies"].values() for model in study["model"])
    return {*config["models"], *config["language_choice"]["models"], *studied}


def test_only_corpora_that_allow_commercial_use() -> None:
    config = load("small") | {"licences": "commercial", "models": ["tr"], "evaluation": {}, "studies": {}}
    config |= {"language_choice": {"models": []}, "definitions": {"tr": config["definitions"]["tr"]}}
    assert checked(config)["definitions"]["tr"]["corpora"] == ["tatoeba_pairs"]
    config["definitions"]["tr"]["corpora"] = ["tanzil"]
    assert_fault(config, "definitions.tr.corpora", "commercial")


def test_a_transformer_has_the_recipe_of_its_paper() -> None:
    """Section IV-C of Dadas 2022."""
    config = configured(changed("definitions.de.encoder", {"transformer": "some/name"}))
    training = config.definitions["de"].training
    assert (training.loss, training.scale, training.batch_size) == ("multiple_negatives", 20.0, 64)
    assert (training.learning_rate, training.warmup, training.optimizer) == (2e-6, 0.1, "adamw")
    assert config.definitions["en"].training.loss == "margin"
    architecture = config.definitions["de"].architecture
    assert Architecture.from_json(architecture.to_json()) == architecture


@pytest.mark.parametrize(
    ("name", "languages", "models"),
    [
        ("config", None, ["en", "de", "es", "fr"]),
        ("config", ["fr", "en"], ["en", "fr"]),
        ("small", ["de"], ["de", "de-paper"]),
    ],
)
def test_models_of_the_languages_are_kept_in_their_order(
    name: str, languages: list[str] | None, models: list[str]
) -> None:
    assert checked({**load(name), "languages": languages})["models"] == models
