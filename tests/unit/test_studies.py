"""Test the definitions and shared data of models that differ in a few settings."""

from typing import Any

import pytest
from configurations import assert_fault, checked, configured, load

from paraphrastic_pipeline.settings.definitions import seed_runs, variants
from paraphrastic_pipeline.workflow.models import data_models


def config_with(**studies: Any) -> dict[str, Any]:
    config = load("small")
    config["studies"] = studies
    return config


def test_all_combinations_are_definitions_of_their_own() -> None:
    study = {"model": "de", "vary": {"sweep.megabatch": [1, 40], "recipe": ["paper", "best"]}}
    config = checked(config_with(two=study))
    definitions = configured(config_with(two=study)).definitions
    runs = [definitions[f"de-two-{number}"].runs for number in (1, 2, 3, 4)]
    found = [(run.megabatch, run.init_std) for each in runs for run in each.values()]
    # Each combination has two values of dropout.
    assert found == [*[(1, 1.0)] * 2, *[(1, 0.1)] * 2, *[(40, 1.0)] * 2, *[(40, 0.1)] * 2]
    assert config["definitions"]["de"]["sweep"]["megabatch"] == [60]
    assert "de-two-1" not in config["models"]
    names = {model: variant.name for model, variant in variants("two", ["de"], study["vary"]).items()}
    assert names["de-two-3"] == "sweep.megabatch 40, recipe paper"


def test_a_study_of_several_definitions_varies_each_of_them() -> None:
    study = {
        "model": ["de", "fr"],
        "vary": {
            "encoder.parts": {"BiLSTM": [{"kind": "bilstm"}], "Word": [{"kind": "average", "unit": "word"}]},
            "corpora": [["multi30k"], ["multi30k", "tanzil"]],
        },
    }
    config = checked(config_with(both=study))
    found = variants("both", study["model"], study["vary"])
    assert {model: variant.name for model, variant in found.items() if model.startswith("fr")} == {
        "fr-both-1": "BiLSTM, corpora multi30k",
        "fr-both-2": "BiLSTM, corpora multi30k + tanzil",
        "fr-both-3": "Word, corpora multi30k",
        "fr-both-4": "Word, corpora multi30k + tanzil",
    }
    definition = config["definitions"]["fr-both-4"]
    assert definition["languages"] == ["en", "fr"]
    assert [part["unit"] for part in definition["encoder"]["parts"]] == ["word"]
    assert definition["corpora"] == ["multi30k", "tanzil"]
    assert config["definitions"]["de-both-1"]["encoder"]["parts"][0]["kind"] == "bilstm"


def test_a_study_keeps_the_definitions_of_the_chosen_languages() -> None:
    config = config_with(
        both={"model": ["de", "fr"], "vary": {"training.epochs": [1]}}, plain={"model": ["de", "fr"]}
    )
    found = checked(config | {"languages": ["fr"]})
    assert list(found["studies"]) == ["both"]
    assert found["studies"]["both"]["model"] == ["fr"]
    assert "de-both-1" not in found["definitions"]


def test_models_of_the_same_pairs_share_them() -> None:
    config = config_with(
        m={"model": "de", "vary": {"sweep.megabatch": [1, 2]}},
        size={"model": "de", "vary": {"max_pairs.multi30k": [10, 20]}},
        unit={"model": "de", "vary": {"vocabulary.unit": ["subword", "word"]}},
        parts={"model": "de", "vary": {"encoder.parts": [[{"kind": "lstm"}]]}},
        separate={"model": "de", "vary": {"encoder.languages": ["separate"], "training.epochs": [1, 2]}},
        own={
            "model": "de",
            "vary": {"vocabulary.languages": ["overlapping"], "encoder.languages": ["shared", "separate"]},
        },
    )
    shared = data_models(configured(config))
    assert {model: own for model, own in shared.items() if model.startswith("de")} == {
        **dict.fromkeys(["de", "de-m-1", "de-m-2", "de-unit-1", "de-parts-1"], "de"),
        # Its vocabulary leaves out rare letters.
        "de-paper": "de-paper",
        **{model: model for model in ("de-size-1", "de-size-2", "de-unit-2", "de-own-1", "de-own-2")},
        # Its training data have different rows.
        **dict.fromkeys(["de-separate-1", "de-separate-2"], "de-separate-1"),
    }
    assert shared["fr"] == "fr"


@pytest.mark.parametrize(
    ("study", "at", "cause"),
    [
        ({"model": "dee", "vary": {"recipe": ["best"]}}, ".model", "'dee'"),
        ({"model": "de", "vary": {"swep.megabatch": [1]}}, ".vary.swep.megabatch", "'sweep'"),
        ({"model": "de", "vary": {"sweep.megabatch": ["a"]}}, ".vary.sweep.megabatch.0", "integer"),
        ({"model": "de", "vary": {"recipe.x": [1]}}, ".vary.recipe.x", "unknown"),
        ({"model": "de", "vary": {"recipe": []}}, ".vary.recipe", "1"),
        ({"model": "de", "vary": {"recipe": {"a": "bst"}}}, ".vary.recipe.a", "'best'"),
        ({"model": "de", "vary": {"seeds": ["x"]}}, ".vary.seeds.0", "integer"),
        ({"model": "de", "vary": {"seeds": [[1]]}}, ".vary.seeds.0", "integer"),
        ({"model": "de", "vary": {"training.epochs": [float("inf")]}}, ".vary.training.epochs.0", "finite"),
        ({"model": "de", "vary": {"selection.paraphrase.rank": {"a": {"min": 0}}}},
         ".vary.selection.paraphrase.rank.a.by", "missing"),
        ({"model": ["de", "de"]}, ".model", "twice"),
        ({"model": []}, ".model", "1"),
        ({"vary": {"recipe": ["best"]}}, ".model", "missing"),
    ],
)  # fmt: skip
def test_faults(study: dict[str, Any], at: str, cause: str) -> None:
    assert_fault(config_with(x=study), f"studies.x{at}", cause)


def test_what_a_study_may_vary() -> None:
    """A corpus of OPUS has capitals in its name, and a rank is a section."""
    ranks = {f"tenth {n}": {"by": "trigram_overlap", "min": n / 10, "max": (n + 1) / 10} for n in range(10)}
    config = config_with(
        pairs={"model": "de", "vary": {"max_pairs.multi30k": [10, "20"]}},
        ranks={"model": "de", "vary": {"selection.paraphrase.rank": ranks}},
    )
    definitions = configured(config).definitions
    assert definitions["de-pairs-2"].max_pairs == {"multi30k": 20}
    rank = definitions["de-ranks-3"].selection.paraphrase.rank
    assert rank is not None
    assert (rank.by, rank.min, rank.max) == ("trigram_overlap", 0.2, 0.3)
    capitals = config_with(a={"model": "de", "vary": {"max_pairs.CCMatrix": [10, 20]}})
    assert_fault(capitals, "definitions.de-a-1.max_pairs", "'CCMatrix'")


def test_a_name_that_is_taken() -> None:
    config = config_with(x={"model": "de", "vary": {"recipe": ["best"]}})
    config["definitions"]["de-x-1"] = config["definitions"]["fr"]
    assert_fault(config, "studies.x", "'de-x-1'")
    config = config_with()
    config["definitions"] |= {"de-seed-2": config["definitions"]["fr"]}
    config["definitions"]["de"]["seeds"] = 2
    assert_fault(config, "definitions.de.seeds", "'de-seed-2'")


def test_training_runs_with_other_seeds_are_models_of_the_same_data() -> None:
    config = config_with()
    config["definitions"]["de"]["seeds"] = 3
    found = configured(config)
    assert seed_runs(found, "de") == ["de", "de-seed-2", "de-seed-3"]
    assert seed_runs(found, "fr") == ["fr"]
    assert seed_runs(found, "fr-untrained") == ["fr-untrained"]
    seeds = [next(iter(found.definitions[run].runs.values())).seed for run in seed_runs(found, "de")]
    assert seeds == [found.seed, found.seed + 1, found.seed + 2]
    assert data_models(found)["de-seed-3"] == "de"
