"""Test the study of languages: overlap, correlations with scores, tables, definitions and the picture."""

import json
import logging
import os
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from configurations import assert_fault, checked, configured, load
from pictures import drawn
from result_files import write_figures
from scipy import stats
from small_corpus import sentence_pairs, write_pairs

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.tables import read_csv_with_header
from paraphrastic_pipeline.evaluation.language_choice import (
    CORRELATION_COLUMNS,
    DISTANCES,
    LANGUAGE_COLUMNS,
    PREDICTORS,
    SUBSETS,
    _correlation,
    distances_to_english,
    tabulate_language_choice,
)
from paraphrastic_pipeline.evaluation.piece_overlap import measure_overlap
from paraphrastic_pipeline.registry.datasets import read_registry
from paraphrastic_pipeline.report.figures.studies import plot_language_choice
from paraphrastic_pipeline.training.dataset import encode_dataset
from paraphrastic_pipeline.training.vocabulary import train_vocabulary
from paraphrastic_pipeline.workflow.models import data_models
from uriel_archives import ORDER, distances, write_matrices

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "config/published/language_choice_correlations.csv"
PAIRS = [(f"{english} taxi", f"{german} taxi") for english, german in sentence_pairs(200)]


@pytest.mark.parametrize(
    ("tables", "own"),
    [("shared", False), ("separate", False), ("overlapping", True), ("separate", True)],
)
@pytest.mark.parametrize("languages", [("en", "de"), ("de", "en")])
def test_overlap_is_the_share_of_english_pieces_by_their_spelling(
    tmp_path: Path, tables: str, own: bool, languages: tuple[str, str]
) -> None:
    # No vocabulary knows the character 狗, and the last pair has no known piece at all.
    pairs = [*PAIRS, ("狗 the dog", "der hund"), ("\u200b", "\u200b")]
    pairs = pairs if languages[0] == "en" else [(german, english) for english, german in pairs]
    parquet = write_pairs(tmp_path / "pairs.parquet", pairs)
    models = [tmp_path / f"{number}.model" for number in range(1 + own)]
    for model, sides in zip(
        models, (("source",), ("target",)) if own else (("source", "target"),), strict=True
    ):
        train_vocabulary(
            write_pairs(tmp_path / "known.parquet", pairs[:-2]),
            model,
            {
                "sides": sides,
                "size": 60,
                "character_coverage": 1.0,
                "max_sentences": 1000,
                "unknown": "omit",
            },
        )
    units = [{"unit": "subword", "models": tuple(models), "max_pieces": None}]
    encode_dataset(parquet, units, tmp_path / "train.h5", tables=tables, threads=1)
    measure_overlap(tmp_path / "train.h5", models, tmp_path / "overlap.json", languages=languages)
    found = json.loads((tmp_path / "overlap.json").read_text())

    pieces = {}
    for side, language in enumerate(languages):
        processor = sentencepiece.SentencePieceProcessor(model_file=str(models[side if own else 0]))
        cut = {piece for pair in pairs for piece in processor.encode(pair[side], out_type=str)}
        pieces[language] = {piece for piece in cut if processor.piece_to_id(piece) != processor.unk_id()}
    common = pieces["en"] & pieces["de"]
    assert 0 < len(common) < len(pieces["en"])
    assert found == {
        "language": "de",
        "pairs": len(pairs),
        "pieces": {language: len(pieces[language]) for language in languages},
        "common": len(common),
        "sp_overlap": pytest.approx(len(common) / len(pieces["en"])),
    }


def result(folder: Path, name: str, value: float, data: str = "sample") -> Path:
    # The first language alone has a third data set.
    datasets = {"2012/MSRpar": {}, "2013/FNWN": {}, **({"2013/OnWN": {}} if name == CODES[0] else {})}
    about = {"system": f"P-SP {name}", "data": data, "datasets": datasets}
    return write_figures(folder / f"{name}.json", {"pearson avg": value}, **about)


CODES = ("de", "fr", "ar", "zh", "tr", "deu")
OVERLAPS = (0.6, 0.31, 0.3, 0.1, 0.01, 0.45)
SCORES = (0.70, 0.68, 0.661, 0.662, 0.60, 0.69)
PREFIXED = (0.65, 0.66, 0.63, 0.64, 0.61, 0.62)


def tables(
    folder: Path,
    *,
    languages: int = 6,
    uriel: list[Path] | None = None,
    prefixed: bool = False,
    data: str = "sample",
    overlaps: tuple[float, ...] = OVERLAPS,
) -> tuple[list[dict[str, str]], dict[tuple[str, ...], dict[str, str]]]:
    models: dict[str, list[Path]] = {name: [] for name in ("overlaps", "sts", "prefixed")}
    for number, code in list(enumerate(CODES))[:languages]:
        overlap = folder / f"{code}.overlap.json"
        overlap.write_text(json.dumps({"language": code, "pairs": 1000, "sp_overlap": overlaps[number]}))
        models["overlaps"].append(overlap)
        models["sts"].append(result(folder, code, SCORES[number], data))
        if prefixed:
            models["prefixed"].append(result(folder, f"{code}-prefixed", PREFIXED[number], data))
    outputs = folder / "language_choice.csv", folder / "correlations.csv"
    tabulate_language_choice(*models.values(), uriel or [], PUBLISHED, *outputs, bootstrap_samples=200)
    (header, rows), (columns, correlations) = map(read_csv_with_header, outputs)
    assert (header, columns) == (LANGUAGE_COLUMNS, CORRELATION_COLUMNS)
    keys = ("source", "embeddings", "languages", "predictor")
    return rows, {tuple(row[key] for key in keys): row for row in correlations}


def test_a_row_a_language(tmp_path: Path) -> None:
    matrices = distances()
    rows, _ = tables(tmp_path, uriel=write_matrices(tmp_path / "uriel", matrices), prefixed=True)
    assert [row["language"] for row in rows] == list(CODES)
    german, turkish = rows[0], rows[4]
    assert (german["system"], german["pairs"], german["sp_overlap"]) == (
        "P-SP de (2013 without SMT)", "1000", "0.6000",
    )  # fmt: skip
    assert [german[name] for name in ("sts", "sts_low", "sts_high")] == ["70.0", "69.0", "73.0"]
    assert [german[name] for name in ("prefixed", "prefixed_low", "prefixed_high")] == [
        "65.0",
        "64.0",
        "68.0",
    ]
    assert {kind: float(german[kind]) for kind in DISTANCES} == {
        kind: matrices[kind][3, 1] for kind in DISTANCES
    }
    assert [turkish[kind] for kind in DISTANCES] == [""] * 6


def test_correlations_are_scipys_over_each_cluster(tmp_path: Path) -> None:
    matrices = distances()
    _, found = tables(tmp_path, uriel=write_matrices(tmp_path / "uriel", matrices), prefixed=True)
    order = {"de": 1, "fr": 5, "ar": 2, "zh": 4, "deu": 1}
    overlap = np.array(OVERLAPS)
    clusters = dict(zip(SUBSETS, (overlap >= 0, overlap <= 0.3, overlap > 0.3), strict=True))
    assert len(found) == 2 * 3 * 7
    for (_, embeddings, languages, predictor), row in found.items():
        scores = np.array(SCORES if embeddings == "shared" else PREFIXED)
        values = overlap
        if predictor != "sp_overlap":
            kind = next(kind for kind in DISTANCES if PREDICTORS[kind] == predictor)
            values = np.array([matrices[kind][3, order[code]] if code in order else np.nan for code in CODES])
        some = clusters[languages] & ~np.isnan(values)
        assert (row["n"], row["datasets"]) == (str(some.sum()), "2")
        if some.sum() < 3:
            assert [row[name] for name in ("spearman", "low", "high", "p")] == [""] * 4
            continue
        assert row["spearman"] == f"{100 * stats.spearmanr(values[some], scores[some]).statistic:.1f}"
        assert float(row["low"]) <= float(row["high"])
    # Turkish is not in the archive.
    sizes = [found["measured", "shared", languages, "genetic_distance"]["n"] for languages in SUBSETS]
    assert sizes == ["5", "2", "3"]


def test_p_is_the_share_of_pairings(tmp_path: Path) -> None:
    # Only the order matters, and not that one number of each is far away.
    x, y = np.array([1.0, 2.0, 3.0, 4.0, 90.0]), np.array([1.0, 3.0, 2.0, 90.0, 5.0])
    every = [stats.spearmanr(order, y).statistic for order in permutations(x)]
    rho = stats.spearmanr(x, y).statistic
    at_least = np.mean([each >= rho - 1e-9 for each in every])
    assert float(_correlation(x, y, "a", 100)["p"]) == pytest.approx(2 * at_least, abs=1e-3)
    generator = np.random.default_rng(0)
    x, y = generator.normal(size=(2, 30))
    y += 0.5 * x
    p = float(_correlation(x, y, "a", 100)["p"])
    assert p == pytest.approx(stats.spearmanr(x, y).pvalue, rel=0.4, abs=1e-3)


def test_too_few_languages_and_a_constant_are_empty_cells_and_a_word(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    _, found = tables(tmp_path, languages=2)
    assert [row["n"] for row in found.values()] == ["2", "0", "2"]
    assert {row["spearman"] + row["low"] + row["high"] + row["p"] for row in found.values()} == {""}
    assert "All Lang., sp_overlap: " in caplog.text
    _, found = tables(tmp_path, overlaps=(0.5,) * 6)
    assert found["measured", "shared", "All Lang.", "sp_overlap"]["spearman"] == ""
    assert "all 6 scores are 0.5" in caplog.text
    assert "nan" not in (tmp_path / "correlations.csv").read_text().lower()


def test_published_figures_stand_before_official_ones(tmp_path: Path) -> None:
    _, found = tables(
        tmp_path, uriel=write_matrices(tmp_path / "u", distances()), prefixed=True, data="official"
    )
    published = {key[1:]: row["spearman"] for key, row in found.items() if key[0] == "published"}
    everything, low, high = SUBSETS
    assert published == {
        ("shared", everything, "sp_overlap"): "71.5", ("shared", everything, "language_distance"): "-22.8",
        ("shared", low, "sp_overlap"): "23.6", ("shared", low, "language_distance"): "-63.8",
        ("shared", high, "sp_overlap"): "18.5", ("shared", high, "language_distance"): "-34.2",
        ("shared", low, "syntactic_distance"): "-56.1", ("shared", high, "syntactic_distance"): "-29.0",
        ("separate", everything, "sp_overlap"): "24.9",
        ("separate", everything, "language_distance"): "-10.1",
        ("separate", everything, "syntactic_distance"): "-37.5",
    }  # fmt: skip
    keys = list(found)
    for source, *key in keys:
        if source == "published":
            assert keys.index((source, *key)) + 1 == keys.index(("measured", *key))
    assert not any(key[0] == "published" for key in tables(tmp_path, prefixed=True)[1])
    # A published figure appears only together with a measured one.
    _, found = tables(tmp_path, data="official")
    assert [key[3] for key in found if key[0] == "published"] == ["sp_overlap"] * 3


@pytest.mark.parametrize(("uriel", "prefixed"), [(False, True), (True, False)])
def test_the_picture_shows_every_language(tmp_path: Path, uriel: bool, prefixed: bool) -> None:
    archive = write_matrices(tmp_path / "uriel", distances()) if uriel else None
    tables(tmp_path, uriel=archive, prefixed=prefixed)
    shown = drawn(tmp_path, plot_language_choice, tmp_path / "language_choice.csv")
    assert set(CODES) <= set(shown)
    assert any("featural distance from English" in text for text in shown) == uriel
    assert any("prefixed" in text for text in shown) == prefixed


def config_with(**study: Any) -> dict[str, Any]:
    config = load("small")
    config["language_choice"] = study
    return config


def test_a_prefixed_variant_differs_in_what_is_shared_alone() -> None:
    config = config_with(models=["de", "fr"], prefixed=True)
    config["definitions"]["fr"]["vocabulary"] = {"languages": "overlapping"}
    complete = configured(config).definitions
    for model in ("de", "fr"):
        base, variant = complete[model], complete[f"{model}-prefixed"]
        assert base.vocabularies == variant.vocabularies
        assert variant.architecture.tables == "separate"
        shared = replace(variant.encoder, languages="shared")
        assert replace(variant, encoder=shared) == base
    assert complete["de"].architecture.tables == "shared"
    assert complete["fr"].architecture.tables == "overlapping"
    # Its training data have different rows.
    assert data_models(configured(config))["fr-prefixed"] == "fr-prefixed"
    assert "de-prefixed" not in checked(config_with(models=["de"]))["definitions"]


@pytest.mark.parametrize(
    ("study", "at", "cause"),
    [
        ({"models": ["dee"]}, ".models", "'dee'"),
        ({"models": ["de"], "uriel": "sts"}, ".uriel", "kind"),
        ({"models": ["de"], "uriel": "uriell"}, ".uriel", "'uriel'"),
        ({"models": ["de"], "prefix": True}, ".prefix", "'prefixed'"),
    ],
)
def test_faults(study: dict[str, Any], at: str, cause: str) -> None:
    assert_fault(config_with(**study), f"language_choice{at}", cause)


def test_the_name_of_a_variant_may_be_taken() -> None:
    config = config_with(models=["de"], prefixed=True)
    config["definitions"]["de-prefixed"] = config["definitions"]["fr"]
    assert_fault(config, "language_choice.prefixed", "'de-prefixed'")


def test_distances_are_those_from_english(tmp_path: Path) -> None:
    matrices = distances()
    matrices["inventory"][ORDER.index("eng"), ORDER.index("fra")] = np.nan
    matrices["syntactic"][ORDER.index("eng"), ORDER.index("fra")] = -1
    # Some languages come before English in the order and some after it, several codes stand for one language,
    # and one is unknown.
    codes = {"de": "deu", "zh": "cmn", "ar": "arb", "fra": "fra", "ger": "deu", "en": "eng"}
    found = distances_to_english(write_matrices(tmp_path, matrices), [*codes, "tr"])
    assert list(found.index) == [*codes, "tr"]
    expected = [[matrices[kind][3, ORDER.index(code)] for kind in DISTANCES] for code in codes.values()]
    expected[3] = [
        np.nan if kind in ("inventory", "syntactic") else matrices[kind][3, 5] for kind in DISTANCES
    ]
    np.testing.assert_array_equal(found[list(DISTANCES)], [*expected, [np.nan] * len(DISTANCES)])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("distances2.zip", b""),
        ("distances_languages.txt", b"eng,deu"),
        ("distances_languages.txt", b"deu,fra"),
        ("letter_codes.json", b'["de"]'),
    ],
)
def test_other_files_are_one_line(tmp_path: Path, name: str, content: bytes) -> None:
    files = write_matrices(tmp_path, distances())
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=f"{name}.*lang2vec") as error:
        distances_to_english(files, ["de"])
    assert "\n" not in str(error.value)


def test_the_real_archive() -> None:
    """Read the real archive from the mirror, or from the folder that URIEL_ARCHIVES names."""
    mirror = Path(os.environ.get("PARAPHRASTIC_MIRROR", ROOT / ".." / "shared" / "mirror"))
    files = []
    for file in read_registry(ROOT / "config/datasets.tsv")["uriel"].files:
        place = mirror / file.addresses[-1].split("://")[1]
        files.append(
            Path(os.environ["URIEL_ARCHIVES"], file.name) if "URIEL_ARCHIVES" in os.environ else place
        )
        if not files[-1].is_file():
            pytest.skip(f"no real distances: {files[-1]} is not there")
    found = distances_to_english(files, ["de", "fr", "es", "cs", "ru", "tr", "ar", "zh"])
    assert ((found >= 0) & (found <= 1)).all(axis=None)
    # The documentation of lang2vec prints this distance.
    assert found["syntactic"]["fr"] == pytest.approx(0.4569, abs=0.006)
