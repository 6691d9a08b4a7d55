"""Test the table of studies."""

from pathlib import Path

from result_files import write_figures

from paraphrastic_pipeline.base.tables import read_csv_with_header
from paraphrastic_pipeline.evaluation.study_tables import STUDIES_COLUMNS, tabulate_studies

PUBLISHED = Path(__file__).resolve().parents[2] / "config/published/studies.csv"


def table(
    folder: Path, *, data: str, study: str = "megabatch", with_sts: bool = True
) -> list[dict[str, str]]:
    models, files = [], []
    for number, score in enumerate((0.6, 0.7)):
        sweep, sts = folder / f"{number}.csv", folder / f"{number}.json"
        sweep.write_text(f"dropout,megabatch,development,chosen\n0.0,1,71.06,\n0.1,1,7{number}.16,yes\n")
        figures = {"pearson avg": score, "pearson datasets": score - 0.1}
        datasets = {"2012/MSRpar": {}, "2013/SMT": {}}
        write_figures(sts, figures, system=f"P-SP de-{number}", data=data, datasets=datasets)
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
        ("sweep.megabatch 0", "70.2", "60.0", "59.0", "63.0"),
        ("sweep.megabatch 1", "71.2", "70.0", "69.0", "73.0"),
    ]
    second = rows[1]
    assert (second["model"], second["datasets"]) == ("de-1", "2")
    assert [second[f"sts_datasets{end}"] for end in ("", "_low", "_high")] == ["60.0", "59.0", "63.0"]


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


def test_a_run_that_was_chosen_by_nothing_has_an_empty_cell(tmp_path: Path) -> None:
    (tmp_path / "sweep.csv").write_text("dropout,megabatch,development,chosen\n0.0,1,,yes\n")
    models = [("epochs", "training.epochs 1", "few")]
    tabulate_studies([tmp_path / "sweep.csv"], (), PUBLISHED, tmp_path / "studies.csv", models=models)
    _, (row,) = read_csv_with_header(tmp_path / "studies.csv")
    assert (row["model"], row["development"]) == ("few", "")
