"""Test the ledger, and how systems differ from one dataset to the next."""

import csv
import json
import logging
from pathlib import Path

import numpy as np
import pytest

from paraphrastic.evaluation.ledger import LEDGER_COLUMNS, write_ledger
from paraphrastic.evaluation.measurement import correlations
from paraphrastic.evaluation.results import write_result
from paraphrastic.evaluation.studies import tabulate_differences
from paraphrastic.evaluation.tables import INTERVAL_COLUMNS
from paraphrastic.evaluation.tasks import CAPTION_DATASETS
from paraphrastic.model.system import System

ROOT = Path(__file__).resolve().parents[2]
ABOUT = {"paper": "A Paper", "table": "Table 2", "protocol": "by hand", "model": ""}


def write(path: Path, rows: list[dict[str, str]], columns: list[str] | None = None) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns or list(rows[0]), restval="")
        writer.writeheader()
        writer.writerows(rows)
    return path


def intervals(folder: Path, table: str, *cells: tuple[str, str, float, float, float], data: str) -> Path:
    rows = [
        {
            "name": name, "system": f"P-SP {name}", "source": "measured", "data": data, "column": column,
            "value": str(value), "low": str(low), "high": str(high), "test_digest": "t", "model_digest": "m",
        }
        for name, column, value, low, high in cells
    ]  # fmt: skip
    return write(folder / f"{table}_intervals.csv", rows, INTERVAL_COLUMNS)


def ledger(folder: Path, published: Path, measured: dict[str, Path], **settings) -> list[dict[str, str]]:
    output = folder / "ledger.csv"
    write_ledger(
        [published],
        measured,
        settings.get("tables", {}),
        output,
        published_as=settings.get("published_as", {}),
        config_digests={"en": "c"},
        gathered=["en"],
        off=settings.get("off", {}),
    )
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == LEDGER_COLUMNS
    return rows


def test_every_published_figure_has_a_verdict(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    published = write(
        tmp_path / "sts.csv",
        [
            {"system": "P-SP", "2012": "68.7", "2013": "64.7", "avg": "74.6", **ABOUT, "model": "en"},
            {"system": "LASER", "2012": "63.1", "2013": "", "avg": "64.9", **ABOUT},
        ],
    )
    cells = (
        ("en", "2012", 67.0, 65.0, 68.66),
        ("en", "2013", 70.0, 69.0, 71.0),
        ("en", "avg", 70.0, 69.0, 71.0),
    )
    measured = {"sts": intervals(tmp_path, "sts", *cells, data="official")}
    rows = ledger(tmp_path, published, measured)
    assert [(row["system"], row["column"], row["verdict"]) for row in rows] == [
        # The printed 68.7 stands for any value from 68.65 on.
        ("P-SP", "2012", "reproduced"),
        ("P-SP", "2013", "better"),
        ("P-SP", "avg", "worse"),
        ("LASER", "2012", "not run"),
        ("LASER", "avg", "not run"),
    ]
    first = rows[0]
    assert (first["name"], first["measured"], first["difference"]) == ("en", "67.00", "-1.70")
    assert (first["test_digest"], first["model_digest"], first["config_digest"]) == ("t", "m", "c")
    assert (first["paper"], first["printed_in"], first["protocol"]) == ("A Paper", "Table 2", "by hand")
    assert rows[3]["why"] == "nothing in the configuration is published_as 'LASER'"
    assert "2 not run" in caplog.text
    rows = ledger(tmp_path, published, measured, published_as={"en": ["LASER"]})
    assert [row["verdict"] for row in rows[3:]] == ["better", "better"]


def test_what_was_not_run_says_why(tmp_path: Path) -> None:
    published = write(tmp_path / "sts.csv", [{"system": "P-SP", "2012": "68.7", **ABOUT, "model": "en"}])

    def why(measured: dict[str, Path], **settings) -> str:
        (row,) = ledger(tmp_path, published, measured, **settings)
        assert (row["verdict"], row["measured"]) == ("not run", "")
        return row["why"]

    cell = ("en", "2012", 67.0, 65.0, 69.0)
    on_sample = {"sts": intervals(tmp_path, "sts", cell, data="sample")}
    assert why(on_sample) == "the published figures come from other test data than those of en"
    other = {"sts": intervals(tmp_path, "sts", ("de", "2012", 1.0, 1.0, 1.0), data="official")}
    assert why(other) == "there is no figure for en in this column"
    assert why({}, off={"sts": "the task is off"}) == "the task is off"


def test_a_lower_error_rate_is_better(tmp_path: Path) -> None:
    published = write(
        tmp_path / "tatoeba.csv", [{"system": "P-SP", "de": "1.5", "fr": "5.4", **ABOUT, "model": "*"}]
    )
    cells = ("*", "de", 0.5, 0.1, 0.9), ("*", "fr", 50.0, 45.0, 55.0)
    rows = ledger(tmp_path, published, {"tatoeba": intervals(tmp_path, "tatoeba", *cells, data="official")})
    assert [row["verdict"] for row in rows] == ["better", "worse"]


def test_means_over_other_data_have_no_verdict(tmp_path: Path) -> None:
    published = write(
        tmp_path / "tatoeba.csv",
        [{"system": "P-SP", "de": "1.5", "fr": "5.4", "avg": "3.4", **ABOUT, "model": "*"}],
    )
    cells = [("*", "de", 1.5, 1.0, 2.0), ("*", "fr", 5.4, 5.0, 6.0), ("*", "avg", 3.4, 3.0, 4.0)]
    measured = intervals(tmp_path, "tatoeba", *cells, data="official")
    rows = ledger(tmp_path, published, {"tatoeba": measured})
    assert [row["verdict"] for row in rows] == ["reproduced"] * 3
    measured = intervals(tmp_path, "tatoeba", *cells, ("*", "zh", 9.0, 8.0, 9.5), data="official")
    *others, average = ledger(tmp_path, published, {"tatoeba": measured})
    assert [row["verdict"] for row in others] == ["reproduced"] * 2
    assert (average["verdict"], average["measured"]) == ("not run", "3.40")
    assert average["why"] == "the two means cover different columns: only one of them has zh"

    published = write(
        tmp_path / "sts.csv", [{"system": "P-SP", "2012": "60", "2013": "60", **ABOUT, "model": "en"}]
    )
    path = intervals(tmp_path, "sts", ("en", "2012", 60, 50, 70), ("en", "2013", 60, 50, 70), data="official")
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    lines[1]["without"] = "2013/SMT"
    rows = ledger(tmp_path, published, {"sts": write(path, lines)})
    assert [row["verdict"] for row in rows] == ["reproduced", "not run"]
    assert rows[1]["why"] == "the measured figure lacks 2013/SMT, which the published figure includes"


def test_figures_are_compared_in_one_unit(tmp_path: Path) -> None:
    published = write(
        tmp_path / "senteval.csv", [{"system": "P-SP", "SICK-R": "0.858", **ABOUT, "model": "en"}]
    )
    cell = ("en", "SICK-R", 79.59, 78.0, 81.0)
    measured = {"senteval": intervals(tmp_path, "senteval", cell, data="official")}
    (row,) = ledger(tmp_path, published, measured)
    assert (row["published"], row["difference"], row["verdict"]) == ("85.8", "-6.21", "worse")


def test_mined_pairs_are_those_of_the_cosine_whatever_the_system_is_called(tmp_path: Path) -> None:
    published = write(
        tmp_path / "bucc.csv", [{"system": "S", "pair": "de-en", "f1": "90", **ABOUT, "model": "en"}]
    )
    path = intervals(tmp_path, "bucc", ("en", "f1", 85, 84, 86), ("en", "f1", 87, 86, 88), data="official")
    with path.open(newline="") as file:
        lines = list(csv.DictReader(file))
    for line, scoring in zip(lines, ("cosine", "margin"), strict=True):
        line |= {"row": "de-en", "system": f"X (cosine) ({scoring})"}
    (row,) = ledger(tmp_path, published, {"bucc": write(path, lines)})
    assert row["measured"] == "85.00"


def test_a_row_of_several_models_has_a_digest_of_all_their_configurations(tmp_path: Path) -> None:
    published = write(tmp_path / "tatoeba.csv", [{"system": "P-SP", "de": "1.5", **ABOUT, "model": "*"}])
    measured = {"tatoeba": intervals(tmp_path, "tatoeba", ("*", "de", 1.5, 1.0, 2.0), data="official")}
    digests = []
    for second in ("d", "e"):
        known = {"en": "c", "de": second, "system": "x"}
        settings = {"published_as": {}, "config_digests": known, "gathered": ["en", "de"], "off": {}}
        write_ledger([published], measured, {}, tmp_path / "ledger.csv", **settings)
        with (tmp_path / "ledger.csv").open(newline="") as file:
            digests += [row["config_digest"] for row in csv.DictReader(file)]
    assert len(set(digests)) == 2
    assert {len(digest) for digest in digests} == {64}


def test_tables_with_columns_of_their_own_are_compared(tmp_path: Path) -> None:
    named = intervals(tmp_path, "sts", ("word", "2012", 1, 1, 1), ("tri", "2012", 1, 1, 1), data="official")
    published = write(
        tmp_path / "dataset_differences.csv",
        [{"system": "Word Avg.", "other": "Trigram Avg.", "difference": "2.75", **ABOUT}],
    )
    row = {"system": "P-SP word", "other": "P-SP tri", "source": "measured", "data": "official"}
    figures = {"difference": "2.60", "difference_low": "2.50", "difference_high": "2.90"}
    table = write(tmp_path / "differences.csv", [row | figures])
    (found,) = ledger(
        tmp_path,
        published,
        {"sts": named},
        tables={"dataset_differences": table},
        published_as={"word": ["Word Avg."], "tri": ["Trigram Avg."]},
    )
    assert (found["verdict"], found["row"], found["measured"]) == ("reproduced", "Trigram Avg.", "2.60")


def test_published_files_of_the_project_make_a_ledger(tmp_path: Path) -> None:
    paths = sorted((ROOT / "config/published").glob("*.csv"))
    output = tmp_path / "ledger.csv"
    write_ledger(paths, {}, {}, output, published_as={}, config_digests={}, gathered=[], off={})
    with output.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["table"] for row in rows} == {path.stem for path in paths}
    assert {row["verdict"] for row in rows} == {"not run"}
    for row in rows:
        float(row["published"])
    # Table 3 of the 2019 paper has three systems and two pairs of languages.
    assert sum(row["table"] == "bucc" for row in rows) == 6


def test_differences_are_those_of_the_datasets(tmp_path: Path) -> None:
    paths, values = {}, {}
    for name, noise in (("word", 0.5), ("tri", 1.0)):
        found = {}
        for seed, dataset in enumerate((*CAPTION_DATASETS, "2013/FNWN")):
            generator = np.random.default_rng(seed)
            gold = generator.normal(size=100)
            scores = gold + noise * np.random.default_rng([seed, len(name)]).normal(size=100)
            found |= correlations(scores, gold, name=dataset, at=dataset, digest="d", samples=100)
        encoder = System(f"P-SP {name}", 3, name, lambda sentences, _: np.ones((1, 1)))
        paths[name] = [tmp_path / f"{name}.json"]
        datasets = {"datasets": {each: {} for each in (*CAPTION_DATASETS, "2013/FNWN")}}
        write_result(
            paths[name][0], encoder, found, task="sts", source="measured", official=False, details=datasets
        )
        values[name] = np.array([found[f"pearson {dataset}"].value for dataset in datasets["datasets"]])
    published = write(tmp_path / "p.csv", [{"system": "A", "other": "B", "difference": "2.75"}])
    captions = write(
        tmp_path / "c.csv",
        [
            {"data": data, "InferSent (SNLI)": f"{number}.5", **ABOUT}
            for number, data in enumerate(
                ["Mean diff.", "MSRvid (2012) diff.", "Images (2014) diff.", "Images (2015) diff."]
            )
        ],
    )
    tabulate_differences(paths, published, captions, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    differences = 100 * (values["word"] - values["tri"])
    assert (row["system"], row["other"], row["datasets"]) == ("P-SP word", "P-SP tri", "4")
    assert row["difference"] == f"{np.abs(differences).mean():.2f}"
    assert row["mean"] == f"{differences.mean():.2f}"
    for kind in ("mean", "difference"):
        assert float(row[f"{kind}_low"]) < float(row[kind]) < float(row[f"{kind}_high"])
    assert row["model_digest"] == "word,tri"
    assert row["2014/images"] == f"{differences[1]:.2f}"
    for path in (paths["word"][0], paths["tri"][0]):
        path.write_text(json.dumps(json.loads(path.read_text()) | {"data": "official"}))
    tabulate_differences(paths, published, captions, tmp_path / "t.csv")
    text = (tmp_path / "t.csv").read_text()
    assert "A,B,published,official,25,2.75" in text
    with (tmp_path / "t.csv").open(newline="") as file:
        printed = list(csv.DictReader(file))[1]
    assert (printed["system"], printed["other"]) == ("Trigram-Word (concatenation)", "InferSent (SNLI)")
    assert [printed[name] for name in ("mean", *CAPTION_DATASETS)] == ["0.5", "1.5", "2.5", "3.5"]


def test_correlations_have_a_row_a_figure(tmp_path: Path) -> None:
    keys = {"languages": "All Lang.", "embeddings": "shared"}
    published = write(
        tmp_path / "language_choice_correlations.csv",
        [{**keys, "sp_overlap": "71.5", "language_distance": "-22.8", **ABOUT}],
    )
    figures = {"sp_overlap": ("60.0", "40.0", "75.0"), "language_distance": ("-60.0", "-80.0", "-30.0")}
    measured = write(
        tmp_path / "measured.csv",
        [
            {"source": source, "data": "official", **keys, "predictor": predictor, "spearman": value,
             "low": low, "high": high, "p": "0.010"}
            for source in ("published", "measured")
            for predictor, (value, low, high) in figures.items()
        ],
    )  # fmt: skip
    rows = ledger(tmp_path, published, {}, tables={"language_choice_correlations": measured})
    assert [(row["row"], row["column"], row["measured"], row["verdict"]) for row in rows] == [
        ("All Lang., shared", "sp_overlap", "60.00", "reproduced"),
        ("All Lang., shared", "language_distance", "-60.00", "worse"),
    ]
