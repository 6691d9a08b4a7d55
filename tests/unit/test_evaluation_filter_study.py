"""Test the table and the picture of the filter study."""

import json
from pathlib import Path

import pytest
from pictures import drawn

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.evaluation.study_tables import FILTER_STUDY_COLUMNS, tabulate_filter_study
from paraphrastic_pipeline.report.figures.studies import plot_filter_study

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "config/published/filter_study.csv"

# Development scores by measure and part. If two parts are equal, the first is the best.
SCORES = {"paraphrase_score": [70.04, 81.26, 75.0], "trigram_overlap": [60.0, 79.96, 79.96]}


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path


def study(tmp_path: Path, *, data: str = "official", missing: tuple[str, ...] = ()) -> Path:
    summaries, development, sts = [], [], []
    for measure, scores in SCORES.items():
        parts = []
        for number, score in enumerate(scores, 1):
            parts.append(
                {"part": number, "min": number / 8, "max": number / 8 + 0.0625, "pairs": 900, "sampled": 100}
            )
            folder = tmp_path / measure / str(number)
            development.append(write(folder / "development.json", {"sts2017": score, "development": score}))
            average = {"value": score / 200, "interval": [score / 200 - 0.02, score / 200 + 0.0151]}
            system = {"system": "P-SP en", "source": "measured"}
            measurements = {"pearson avg": average}
            result = {**system, "data": data, "missing": missing, "measurements": measurements}
            sts.append(write(folder / "sts.json", result))
        summaries.append(write(tmp_path / f"{measure}.json", {"measure": measure, "parts": parts}))
    output = tmp_path / "filter_study.csv"
    tabulate_filter_study(summaries, development, sts, PUBLISHED, output)
    return output


def test_a_row_for_each_part(tmp_path: Path) -> None:
    found = read_csv(study(tmp_path, data="sample"))
    assert list(found[0]) == FILTER_STUDY_COLUMNS
    assert list(found[1].values()) == [
        "P-SP en", "measured", "sample", "paraphrase_score", "2", "0.2500", "0.3125", "900", "100",
        "81.3", "40.6", "38.6", "42.1", "yes",
    ]  # fmt: skip
    places = [(row["rank_by"], row["part"], row["best"]) for row in found]
    parts = (("1", ""), ("2", "yes"), ("3", ""))
    assert places == [
        (measure, *part) for measure in ("paraphrase_score", "trigram_overlap") for part in parts
    ]


def test_published_rows_stand_beside_official_data_only(tmp_path: Path) -> None:
    found = read_csv(study(tmp_path, missing=("2013/SMT",)))
    published = found[:3]
    assert [(row["rank_by"], row["development"]) for row in published] == [
        ("paraphrase_score", "83.8"),
        ("trigram_overlap", "83.4"),
        ("translation_score", "83.4"),
    ]
    assert {(row["system"], row["source"], row["part"], row["sts"]) for row in published} == {
        ("LSTM Avg.", "published", "", "")
    }
    assert len(found) == 9
    assert found[3]["system"] == "P-SP en (2013 without SMT)"


def test_the_picture(tmp_path: Path) -> None:
    shown = drawn(tmp_path, plot_filter_study, study(tmp_path))
    assert {"paraphrase score", "trigram overlap", "1", "2", "3", "STS 2012–2016, average"} <= set(shown)
    # Published rows belong to no part, so the picture has no place for them.
    assert "translation score" not in shown


def test_a_picture_of_nothing(tmp_path: Path) -> None:
    table = study(tmp_path)
    table.write_text("\n".join(table.read_text().splitlines()[:4]) + "\n")
    with pytest.raises(InputError, match=r"filter_study\.csv: contains no parts"):
        plot_filter_study(table, [tmp_path / "filter_study.svg"])
