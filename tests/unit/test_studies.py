"""Test the definitions, shared data and table of models that differ in a few settings."""

import json
from pathlib import Path
from typing import Any

import pytest
from configurations import assert_fault, checked, configured, load

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.tables import read_csv_with_header
from paraphrastic_pipeline.evaluation.study_tables import STUDIES_COLUMNS, tabulate_studies
from paraphrastic_pipeline.settings.check import check_config
from paraphrastic_pipeline.settings.definitions import seed_runs, variants
from paraphrastic_pipeline.workflow.models import data_models

PUBLISHED = Path(__file__).resolve().parents[2] / "config/published/studies.csv"


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


def test_a_study_that_varies_nothing_compares_its_definitions() -> None:
    config = checked(config_with(languages={"model": ["de", "fr"]}))
    assert not [name for name in config["definitions"] if "languages" in name]
    found = variants("languages", ["de", "fr"], {})
    assert {model: variant.name for model, variant in found.items()} == {"de": "de", "fr": "fr"}


def test_named_values_have_the_number_types_of_their_setting() -> None:
    study = {
        "model": "de",
        "vary": {"sweep.dropout": {"none": 0, "some": 0.1}, "training.epochs": {"a": 2.0}},
    }
    vary = checked(config_with(named=study))["studies"]["named"]["vary"]
    assert repr(vary) == "{'sweep.dropout': {'none': 0.0, 'some': 0.1}, 'training.epochs': {'a': 2}}"


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


def test_a_definition_before_another_does_not_take_over_its_data() -> None:
    config = load("small")
    de = config["definitions"]["de"]
    config["definitions"] = {"a": de, **config["definitions"]}
    assert data_models(configured(config))["de"] == data_models(configured(config))["a"] == "de"


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
        ({"model": "de", "vary": {"seeds": [None]}}, ".vary.seeds.0", "integer"),
        ({"model": "de", "vary": {"seeds": [[1]]}}, ".vary.seeds.0", "integer"),
        ({"model": "de", "vary": {"training.epochs": [float("inf")]}}, ".vary.training.epochs.0", "finite"),
        ({"model": "de", "vary": {"vocabulary.size": [-float("inf")]}}, ".vary.vocabulary.size.0", "finite"),
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
    with pytest.raises(InputError, match=r"studies\.x: 'de-x-1' is a definition already"):
        check_config(config)


def table(
    folder: Path, *, data: str, study: str = "megabatch", with_sts: bool = True
) -> list[dict[str, str]]:
    models, files = [], []
    for number, score in enumerate((0.6, 0.7)):
        sweep, sts = folder / f"{number}.csv", folder / f"{number}.json"
        sweep.write_text(f"dropout,megabatch,development,chosen\n0.0,1,71.06,\n0.1,1,7{number}.16,yes\n")
        result = {
            "system": f"P-SP de-{number}",
            "missing": [],
            "source": "measured",
            "data": data,
            "datasets": {"2012/MSRpar": {}, "2013/FNWN": {}},
            "measurements": {
                "pearson avg": {"value": score, "interval": [score - 0.02, score + 0.02]},
                "pearson datasets": {"value": score - 0.1, "interval": [score - 0.11, score]},
            },
        }
        sts.write_text(json.dumps(result))
        models.append((study, f"sweep.megabatch {number}", f"de-{number}"))
        files.append((sweep, sts))
    sweeps, results = zip(*files, strict=True)
    results = results if with_sts else ()
    tabulate_studies(sweeps, results, PUBLISHED, folder / "studies.csv", models=models)
    header, rows = read_csv_with_header(folder / "studies.csv")
    assert header == STUDIES_COLUMNS
    return rows


def test_a_row_each_with_the_chosen_run(tmp_path: Path) -> None:
    rows = table(tmp_path, data="sample")
    assert [
        (row["setting"], row["development"], row["sts"], row["sts_low"], row["sts_high"]) for row in rows
    ] == [
        ("sweep.megabatch 0", "70.2", "60.0", "58.0", "62.0"),
        ("sweep.megabatch 1", "71.2", "70.0", "68.0", "72.0"),
    ]
    second = rows[1]
    assert (second["model"], second["datasets"]) == ("de-1", "2")
    assert [second[f"sts_datasets{end}"] for end in ("", "_low", "_high")] == ["60.0", "59.0", "70.0"]


def test_a_study_without_test_sets_of_sts(tmp_path: Path) -> None:
    rows = table(tmp_path, data="official", with_sts=False)
    assert [(row["model"], row["source"], row["development"]) for row in rows] == [
        ("de-0", "measured", "70.2"),
        ("de-1", "measured", "71.2"),
    ]
    assert not any(row[name] for row in rows for name in ("sts", "sts_low", "datasets", "sts_datasets"))


def test_published_rows_stand_beside_a_study_of_their_name_on_official_data(tmp_path: Path) -> None:
    rows = table(tmp_path, data="official")
    assert [row["source"] for row in rows] == ["published"] * 6 + ["measured"] * 2
    assert rows[-1]["system"] == "P-SP de-1"
    assert (rows[3]["system"], rows[3]["setting"], rows[3]["development"]) == (
        "BiLSTM Avg.",
        "sweep.megabatch 1",
        "82.4",
    )
    assert rows[3]["datasets"] == ""
    assert len(table(tmp_path, data="official", study="other")) == 2
    sizes = table(tmp_path, data="official", study="corpus_size")
    printed = next(row for row in sizes if row["setting"] == "cs-sp-2m")
    assert (printed["system"], printed["sts"], printed["sts_datasets"]) == ("SP (20k)", "", "70.0")
    assert printed["datasets"] == "25"


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


def test_a_run_of_another_seed_does_not_take_a_name() -> None:
    config = config_with()
    config["definitions"]["de"]["seeds"] = 2
    config["definitions"]["de-seed-2"] = config["definitions"]["fr"]
    with pytest.raises(InputError, match=r"definitions\.de\.seeds: 'de-seed-2' is a definition already"):
        check_config(config)
