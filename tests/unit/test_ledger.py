"""Test the ledger's verdicts, and its count of figures that can be made."""

import logging
from collections import Counter
from pathlib import Path

import pytest
from ledgers import ABOUT, EN, intervals, ledger, printed_row, run, write

from paraphrastic_pipeline.base.tables import read_csv
from paraphrastic_pipeline.evaluation.ledger import write_ledger

ROOT = Path(__file__).resolve().parents[2]


def test_every_published_figure_has_a_verdict(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    published = write(
        tmp_path / "sts.csv",
        [
            {"system": "P-SP", "2012": "68.7", "2013": "64.7", "avg": "74.6", **ABOUT, **EN},
            {"system": "LASER", "2012": "63.1", "2013": "", "avg": "64.9", **ABOUT},
        ],
    )
    cells = (
        ("en", "2012", 67.0, 65.0, 68.66),
        ("en", "2013", 70.0, 69.0, 71.0),
        ("en", "avg", 70.0, 69.0, 71.0),
    )
    measured = intervals(tmp_path, "sts", *cells)
    rows = ledger(tmp_path, published, measured)
    assert [(row["system"], row["column"], row["verdict"]) for row in rows] == [
        # The printed 68.7 stands for any value from 68.65 on.
        ("P-SP", "2012", "reproduced"),
        ("P-SP", "2013", "better"),
        ("P-SP", "avg", "worse"),
        ("LASER", "2012", "baseline"),
        ("LASER", "avg", "baseline"),
    ]
    first = rows[0]
    assert (first["name"], first["measured"], first["difference"]) == ("en", "67.00", "-1.70")
    assert (first["test_digest"], first["model_digest"], first["config_digest"]) == ("t", "m", "c")
    assert (first["paper"], first["printed_in"], first["protocol"]) == ("A Paper", "Table 2", "by hand")
    assert (first["config"], first["model"]) == ("paper.yaml", "en")
    assert rows[3]["why"] == "others trained 'LASER', and nothing in the configuration is published_as it"
    assert (
        "5 published figures; 3 are of models that this project can make, of which this configuration makes "
        "3 and has run 3; 0 need what the project lacks; 2 are of baselines that others trained, of which 0 "
        "were run; 1 reproduced, 1 better, 1 worse, 0 different" in caplog.text
    )
    rows = ledger(tmp_path, published, measured, published_as={"en": ["LASER"]})
    assert [row["verdict"] for row in rows[3:]] == ["better", "better"]
    assert "2 are of baselines that others trained, of which 2 were run" in caplog.text


@pytest.mark.parametrize(
    ("printed", "low", "high", "verdict"),
    [
        # These numbers have no rounding errors. A printed 64 stands for 63.5 to 64.5.
        ("64", 64.5, 66.0, "reproduced"),
        ("64", 64.501, 66.0, "better"),
        ("64", 62.0, 63.5, "reproduced"),
        ("64", 62.0, 63.499, "worse"),
    ],
)
def test_a_printed_figure_is_as_wide_as_its_rounding(
    tmp_path: Path, printed: str, low: float, high: float, verdict: str
) -> None:
    published = printed_row(tmp_path, "sts", {"system": "P-SP", "2012": printed})
    cell = ("en", "2012", (low + high) / 2, low, high)
    (row,) = ledger(tmp_path, published, intervals(tmp_path, "sts", cell))
    assert row["verdict"] == verdict


def test_what_was_not_run_says_why(tmp_path: Path) -> None:
    published = printed_row(tmp_path, "sts", {"system": "P-SP", "2012": "68.7"})

    def why(measured: dict[str, Path], **settings) -> str:
        (row,) = ledger(tmp_path, published, measured, **settings)
        assert (row["verdict"], row["measured"]) == ("not run", "")
        return row["why"]

    cell = ("en", "2012", 67.0, 65.0, 69.0)
    other = intervals(tmp_path, "sts", ("de", "2012", 1.0, 1.0, 1.0))
    assert why(other) == "there is no figure for en in this column"
    assert why(other, gaps={"sts": "no GPU"}) == "there is no figure for en in this column: no GPU"
    left_out = {"sts": ["en"], "bucc": ["de"]}
    assert why(other, left_out=left_out) == "evaluation.only leaves en out of this table"
    assert why({}, off={"sts": "the task is off"}) == "the task is off"
    assert why({}) == "the pipeline has no such table"
    measured = intervals(tmp_path, "sts", cell)
    assert why(measured, configs=["small.yaml"]) == "config/paper.yaml makes this figure, from en"
    assert why(measured, published_as={"de": ["P-SP"]}, configs=[]).endswith("figure for de in this column")
    (row,) = ledger(tmp_path, published, measured, published_as={"en": ["P-SP"]}, configs=[])
    assert (row["name"], row["verdict"]) == ("en", "reproduced")


def test_a_model_of_a_study_without_its_file_says_which_file(tmp_path: Path) -> None:
    about = {"study": "corpus_size", "setting": "cs-1m", "system": "SP", **ABOUT, "config": "x.yaml"}
    published = printed_row(tmp_path, "studies", {**about, "sts_datasets": "68.6", "model": "cs-1m"})
    row = {"study": "corpus_size", "setting": "en-1m", "model": "en-1m", "source": "measured",
           "data": "official", "sts_datasets": "68.0", "datasets": "25"}  # fmt: skip
    tables = {"studies": write(tmp_path / "measured.csv", [row])}
    lacking = {"cs-1m": "it needs resources/cs.tsv.gz (cs), which is given on request"}
    # The table may have other models, or it is not made because all of them lack a file.
    for made, off in ((tables, {}), ({}, {"studies": "the configuration does not ask for the table"})):
        more = {"tables": dict(made), "off": off, "lacking": lacking}
        (found,) = ledger(tmp_path, published, {}, configs=["x.yaml"], **more)
        assert (found["verdict"], found["why"]) == ("not run", lacking["cs-1m"])
        (found,) = ledger(tmp_path, published, {}, configs=["y.yaml"], **more)
        assert found["why"] == "config/x.yaml makes this figure, from cs-1m"


def test_figures_of_samples_are_shown_but_not_judged(tmp_path: Path) -> None:
    published = printed_row(tmp_path, "sts", {"system": "P-SP", "2012": "68.7"})
    cell = ("en", "2012", 68.0, 67.0, 69.0)
    of_sample = "the measured figure comes from a sample, so it says nothing about the published one"
    for data, sample, why in (
        ("sample", False, "the published figures come from other test data than those of en"),
        ("official", True, of_sample),
        ("sample", True, of_sample),
    ):
        measured = intervals(tmp_path, "sts", cell, data=data)
        (row,) = ledger(tmp_path, published, measured, sample=sample)
        assert (row["verdict"], row["measured"], row["why"]) == ("not run", "68.00", why)


def test_what_the_project_lacks_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    about = {**ABOUT, "config": "papers/x.yaml", "model": "pl-mean", "needs": "a Transformer"}
    published = printed_row(tmp_path, "polish", {"system": "Mean pooling", "PPC": "79.40", **about})
    for configs in (["papers/x.yaml"], []):
        (row,) = ledger(tmp_path, published, {}, configs=configs)
        assert (row["verdict"], row["why"]) == ("not run", "it needs a Transformer")
        assert "1 published figures; 0 are of models that this project can make" in caplog.text
        assert "1 need what the project lacks" in caplog.text
        caplog.clear()
    measured = intervals(tmp_path, "polish", ("mine", "PPC", 79, 78, 80))
    (row,) = ledger(tmp_path, published, measured, published_as={"mine": ["Mean pooling"]})
    assert row["verdict"] == "reproduced"


def test_a_row_of_several_models_takes_each_figure_from_the_first_that_has_it(tmp_path: Path) -> None:
    about = {**ABOUT, "config": "papers/x.yaml", "model": "es-sp ar-sp"}
    published = printed_row(
        tmp_path,
        "xling_sts",
        {"system": "SP", "ar-en": "70", "es-en": "71", "en-en": "80", "tr-en": "60", **about},
    )
    cells = [(f"{code}-sp", track, number, number, number)
             for number, code, track in ((70, "ar", "ar-en"), (71, "es", "es-en"), (81, "ar", "en-en"),
                                         (80, "es", "en-en"), (60, "tr", "tr-en"))]  # fmt: skip
    measured = intervals(tmp_path, "xling_sts", *cells)
    rows = ledger(tmp_path, published, measured, configs=["papers/x.yaml"])
    assert [(row["column"], row["name"], row["verdict"]) for row in rows] == [
        ("ar-en", "ar-sp", "reproduced"),
        ("es-en", "es-sp", "reproduced"),
        ("en-en", "es-sp", "reproduced"),
        ("tr-en", "", "not run"),
    ]
    assert rows[3]["why"] == "there is no figure for es-sp or ar-sp in this column"
    (row, *_) = ledger(tmp_path, published, measured)
    assert row["why"] == "config/papers/x.yaml makes this figure, from es-sp and ar-sp"


def test_a_lower_error_rate_is_better(tmp_path: Path) -> None:
    published = printed_row(tmp_path, "tatoeba", {"system": "P-SP", "de": "1.5", "fr": "5.4", "model": "*"})
    cells = ("*", "de", 0.5, 0.1, 0.9), ("*", "fr", 50.0, 45.0, 55.0)
    rows = ledger(tmp_path, published, intervals(tmp_path, "tatoeba", *cells))
    assert [row["verdict"] for row in rows] == ["better", "worse"]


def test_means_over_other_data_have_no_verdict(tmp_path: Path) -> None:
    published = printed_row(
        tmp_path, "tatoeba", {"system": "P-SP", "de": "1.5", "fr": "5.4", "avg": "3.4", "model": "*"}
    )
    cells = [("*", "de", 1.5, 1.0, 2.0), ("*", "fr", 5.4, 5.0, 6.0), ("*", "avg", 3.4, 3.0, 4.0)]
    rows = ledger(tmp_path, published, intervals(tmp_path, "tatoeba", *cells))
    assert [row["verdict"] for row in rows] == ["reproduced"] * 3
    measured = intervals(tmp_path, "tatoeba", *cells, ("*", "zh", 9.0, 8.0, 9.5))
    *others, average = ledger(tmp_path, published, measured)
    assert [row["verdict"] for row in others] == ["reproduced"] * 2
    assert (average["verdict"], average["measured"]) == ("not run", "3.40")
    assert average["why"] == "the two means cover different columns: only one of them has zh"

    published = printed_row(tmp_path, "sts", {"system": "P-SP", "2012": "60", "2013": "60"})
    measured = intervals(tmp_path, "sts", ("en", "2012", 60, 50, 70), ("en", "2013", 60, 50, 70))
    lines = read_csv(measured["sts"])
    lines[1]["without"] = "2013/SMT"
    write(measured["sts"], lines)
    rows = ledger(tmp_path, published, measured)
    assert [row["verdict"] for row in rows] == ["reproduced", "not run"]
    assert rows[1]["why"] == "the measured figure lacks 2013/SMT, which the published figure includes"


def test_figures_are_compared_in_one_unit(tmp_path: Path) -> None:
    published = printed_row(tmp_path, "senteval", {"system": "P-SP", "SICK-R": "0.858"})
    cell = ("en", "SICK-R", 79.59, 78.0, 81.0)
    measured = intervals(tmp_path, "senteval", cell)
    (row,) = ledger(tmp_path, published, measured)
    assert (row["published"], row["difference"], row["verdict"]) == ("85.8", "-6.21", "worse")


def test_mined_pairs_are_those_of_the_cosine_whatever_the_system_is_called(tmp_path: Path) -> None:
    published = printed_row(tmp_path, "bucc", {"system": "S", "pair": "de-en", "f1": "90"})
    measured = intervals(tmp_path, "bucc", ("en", "f1", 85, 84, 86), ("en", "f1", 87, 86, 88))
    lines = read_csv(measured["bucc"])
    for line, scoring in zip(lines, ("cosine", "margin"), strict=True):
        line |= {"row": "de-en", "system": f"X (cosine) ({scoring})"}
    write(measured["bucc"], lines)
    (row,) = ledger(tmp_path, published, measured)
    assert row["measured"] == "85.00"


def test_a_row_of_several_models_has_a_digest_of_all_their_configurations(tmp_path: Path) -> None:
    published = printed_row(tmp_path, "tatoeba", {"system": "P-SP", "de": "1.5", "model": "*"})
    measured = intervals(tmp_path, "tatoeba", ("*", "de", 1.5, 1.0, 2.0))
    digests = []
    for second in ("d", "e"):
        known = {"en": "c", "de": second, "system": "x"}
        rows = ledger(tmp_path, published, measured, config_digests=known, gathered=["en", "de"])
        digests += [row["config_digest"] for row in rows]
    assert len(set(digests)) == 2
    assert {len(digest) for digest in digests} == {64}


def test_published_files_of_the_project_make_a_ledger(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    paths = sorted((ROOT / "config/published").glob("*.csv"))
    output = tmp_path / "ledger.csv"
    caplog.set_level(logging.INFO)
    write_ledger(paths, {}, {}, output, run=run(configs=["config.yaml"]))
    rows = read_csv(output)
    assert {row["table"] for row in rows} == {path.stem for path in paths}
    verdicts = Counter(row["verdict"] for row in rows)
    assert set(verdicts) == {"not run", "baseline"}
    for row in rows:
        assert (row["config"] or row["system"]) in row["why"] or row["why"].startswith("it needs")
    ours = sum("makes this figure" in row["why"] for row in rows)
    assert f"{len(rows)} published figures; {ours} are of models that this project can make" in caplog.text
    assert f"{verdicts['baseline']} are of baselines" in caplog.text
    page = " ".join((ROOT / "docs/evaluation.md").read_text(encoding="utf-8").split())
    for count in (
        f"{len(rows)} figures",
        f"{ours} are of models",
        f"{verdicts['baseline']} are of baselines",
    ):
        assert count in page
    for row in rows:
        float(row["published"])
    # Table 3 of the 2019 paper has three systems and two pairs of languages.
    assert sum(row["table"] == "bucc" for row in rows) == 6
