"""The configuration is checked before anything runs, each fault in one line with the key's path."""

import copy
from pathlib import Path

import pytest
import yaml

from paraphrastic.config import check_config, sweep_runs
from paraphrastic.errors import InputError
from paraphrastic.registry import read_registry

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
REGISTRY = read_registry(ROOT / "config" / "datasets.tsv")


def load(name: str) -> dict:
    return yaml.safe_load((ROOT / "config" / f"{name}.yaml").read_text(encoding="utf-8"))


def checked(config: dict) -> dict:
    return check_config(config, schema=SCHEMA, registry=REGISTRY)


def changed(path: str, value: object) -> dict:
    """The default configuration with one key set."""
    config = load("config")
    *parents, key = path.split(".")
    section = config
    for parent in parents:
        section = section[parent]
    section[key] = value
    return config


@pytest.mark.parametrize("name", ["config", "small", "paper"])
def test_shipped_configurations_are_valid_and_complete(name: str) -> None:
    config = load(name)
    complete = checked(config)
    # A shipped file says every setting, so that nobody has to look for a default.
    assert complete.keys() == config.keys()
    for section in (
        "text",
        "selection",
        "contamination",
        "statistics",
        "vocabulary",
        "training",
        "sweep",
        "evaluation",
    ):
        assert complete[section] == config[section], section


def test_a_short_configuration_is_filled_with_defaults() -> None:
    minimal = {
        "models": ["de"],
        "definitions": {"de": {"languages": ["en", "de"], "corpora": ["multi30k"]}},
        "language_id": "lid176",
        "evaluation": {"sts": "sts"},
    }
    config = checked(minimal)
    assert config["mirror"] is None
    definition = config["definitions"]["de"]
    assert definition["training"]["dimension"] == 1024
    assert definition["selection"]["bitext"]["length"] == {"min": 3, "max": 100, "count": "both"}
    assert config["evaluation"]["bootstrap_samples"] == 1000


def test_a_definition_overrides_key_by_key() -> None:
    config = load("config")
    config["definitions"]["de"]["training"] = {"epochs": 2}
    config["definitions"]["de"]["selection"] = {"bitext": {"length": {"min": 4}, "language": None}}
    definitions = checked(config)["definitions"]
    assert definitions["de"]["training"] == {**config["training"], "epochs": 2}
    assert definitions["de"]["selection"]["bitext"]["length"] == {"min": 4, "max": 100, "count": "both"}
    assert definitions["de"]["selection"]["bitext"]["language"] is None
    assert definitions["fr"]["training"] == config["training"]
    assert definitions["fr"]["selection"] == config["selection"]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("trainig", {}, "trainig: unknown key; did you mean 'training'?"),
        ("training.epoch", 3, "training.epoch: unknown key; did you mean 'epochs'?"),
        (
            "definitions.de.selection",
            {"bitex": {}},
            "definitions.de.selection.bitex: unknown key; did you mean",
        ),
        ("training.epochs", "5", "training.epochs: '5' is not of type 'integer'"),
        ("training.margin", -0.1, "training.margin: -0.1 is less than or equal to the minimum of 0"),
        ("sweep.dropout", [0.1, 1.0], "sweep.dropout.1: 1.0 is greater than or equal to the maximum of 1"),
        ("sweep.megabatch", [], "sweep.megabatch: is empty"),
        (
            "selection.paraphrase.trigram_overlap",
            {"min": 0, "max": 1.7},
            "trigram_overlap.max: 1.7 is greater",
        ),
        (
            "definitions.en.selection",
            {"paraphrase": {"paraphrase_score": {"min": 0.9, "max": 0.4}}},
            "definitions.en.selection.paraphrase.paraphrase_score: min 0.9 is more than max 0.4",
        ),
        ("definitions.fr.corpora", [], "definitions.fr.corpora: is empty"),
        ("definitions.fr", {"languages": ["en", "fr"]}, "definitions.fr.corpora: is missing"),
        (
            "definitions.fr.corpora",
            ["sample_alined"],
            "definitions.fr.corpora: 'sample_alined' is not in the registry of data sets; "
            "did you mean 'sample_aligned'?",
        ),
        (
            "definitions.fr.corpora",
            ["sample_opus"],
            "definitions.fr.corpora: data set 'sample_opus' has nothing in en-fr; it has de-en",
        ),
        (
            "definitions.fr.corpora",
            ["sts"],
            "definitions.fr.corpora: 'sts' is not a corpus (its kind is 'file')",
        ),
        ("definitions.fr.languages", ["french"], "definitions.fr.languages.0: 'french' does not match"),
        ("models", ["en", "it"], "models: 'it' is not described under definitions; there are en, de, es, fr"),
        ("models", "en", "models: 'en' is not of type 'array'"),
        ("language_id", "lid175", "language_id: 'lid175' is not in the registry of data sets; did you mean"),
        (
            "language_id",
            None,
            "config: selection.paraphrase.language: needs language_id, which is null",
        ),
        ("evaluation.sts", "multi30k", "evaluation.sts: 'multi30k' is a corpus (its kind is 'aligned')"),
        ("duplicates", "keep", "duplicates: 'keep' is not one of ['keep_one', 'drop_all']"),
        (
            "contamination.testsets.tatoeba",
            "tatoba",
            "contamination.testsets.tatoeba: 'tatoba' is not in the registry of data sets; did you mean",
        ),
        (
            "contamination.testsets.glue",
            "sts",
            "contamination.testsets.glue: unknown key; known keys are sts",
        ),
        ("contamination.drop", "all", "contamination.drop: 'all' is not one of ['none', 'exact', 'near']"),
        (
            "contamination",
            {"drop": "near", "near_duplicates": None},
            "config: contamination.drop: near needs contamination.near_duplicates, which is null",
        ),
        ("statistics.parsers", {"en": ""}, "statistics.parsers.en: '' does not match"),
        ("max_pairs", {"opensub": 3}, "config: max_pairs: 'opensub' is not in the registry of data sets"),
        ("definitions", {"x; rm -rf ~": {}}, "definitions: 'x; rm -rf ~' does not match"),
    ],
)
def test_each_fault_is_one_line_with_the_path_of_the_key(path: str, value: object, message: str) -> None:
    with pytest.raises(InputError) as error:
        checked(changed(path, value))
    assert any(line.startswith("config: ") and message in line for line in str(error.value).split("\n")), (
        error
    )


def test_all_faults_are_told_at_once() -> None:
    config = changed("training.epoch", 3)
    config["sweep"]["dropot"] = []
    with pytest.raises(InputError) as error:
        checked(config)
    assert len(str(error.value).split("\n")) == 2


def test_checking_leaves_the_given_configuration_alone() -> None:
    config = load("config")
    before = copy.deepcopy(config)
    checked(config)
    assert config == before


def test_a_sweep_is_every_combination() -> None:
    runs = sweep_runs(checked(load("paper")), "fr")
    assert len(runs) == 9
    run = runs["dropout-0.3-megabatch-140"]
    assert (run["dropout"], run["megabatch"], run["seed"]) == (0.3, 140, 1)
    assert list(sweep_runs(checked(load("paper")), "en")) == ["dropout-0.0-megabatch-100"]


def test_the_paper_configuration_has_the_papers_values() -> None:
    config = load("paper")
    assert config["training"] == {
        "dimension": 1024,
        "init_std": 1.0,
        "epochs": 25,
        "batch_size": 128,
        "megabatch_anneal": 150,
        "margin": 0.4,
        "learning_rate": 0.001,
        "negatives": "other_side",
        "exclude_duplicates": False,
        "shuffle_window": 16777216,
    }
    assert config["sweep"] == {"dropout": [0.0, 0.1, 0.3], "megabatch": [60, 100, 140]}
    assert config["vocabulary"]["size"] == 50_000
    assert config["duplicates"] == "drop_all"
    paraphrase = config["selection"]["paraphrase"]
    assert paraphrase["length"] == {"min": 5, "max": 40, "count": "mean"}
    assert (paraphrase["paraphrase_score"]["min"], paraphrase["trigram_overlap"]["max"]) == (0.4, 0.7)
