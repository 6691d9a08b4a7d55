"""Test the tables of systems and how tables are rendered."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from result_files import write_figures

from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.system_tables import INTERVAL_COLUMNS, tabulate_systems
from paraphrastic_pipeline.report.render import render_table

TRACKS = {"en": ["en-en"], "ar": ["ar-ar", "ar-en", "en-en"], "es": ["es-es", "es-en", "en-en"]}


def write(path: Path, system: str, figures: dict[str, tuple[float, int]], **about: object) -> Path:
    return write_figures(path, figures, system=f"P-SP {system}", **{"task": "x", **about})


def result(folder: Path, system: str, *, official: bool = True, seed: int = 1) -> Path:
    """Write a result on the tracks of STS 2017 that the system knows."""
    values = np.random.default_rng([seed, len(system), ord(system[0])]).uniform(0.5, 0.9, 3)
    figures = {
        f"pearson 2017/{track}": (float(value), 250)
        for track, value in zip(TRACKS[system], values, strict=False)
    }
    return write(folder / f"{system}-{seed}.json", system, figures, data="official" if official else "sample")


def published(folder: Path, value: str) -> Path:
    path = folder / "published.csv"
    path.write_text(
        "system,dim,ar-ar,ar-en,es-es,es-en,en-en,tr-en,training_data,paper,table\n"
        f"LASER,1024,69.3,65.5,79.7,59.7,{value},72.0,-,A Paper,Table 3\n"
    )
    return path


def tabulated(folder: Path, systems: dict[str, list[Path]], known: Path | None = None):
    table, intervals = folder / "t.csv", folder / "intervals.csv"
    tabulate_systems(systems, "xling_sts", table, intervals, published=known, gather=list(systems))
    return [read_csv(path) for path in (table, intervals)]


def test_a_row_of_all_models_has_each_language_from_its_own(tmp_path: Path) -> None:
    systems = {name: [result(tmp_path, name)] for name in TRACKS}
    rows, intervals = tabulated(tmp_path, systems)
    header = (tmp_path / "t.csv").read_text().splitlines()[0]
    assert header == "system,source,data,dim,ar-ar,ar-en,es-es,es-en,en-en,tr-en"
    assert [row["system"] for row in rows] == [
        "P-SP, one model per language",
        "P-SP en",
        "P-SP ar",
        "P-SP es",
    ]
    together, english, arabic, spanish = rows
    assert together["dim"] == "300"
    assert together["ar-en"] == arabic["ar-en"] != ""
    assert together["es-en"] == spanish["es-en"] != ""
    assert together["en-en"] == english["en-en"] != arabic["en-en"]
    assert arabic["es-es"] == together["tr-en"] == ""
    assert list(intervals[0]) == INTERVAL_COLUMNS
    assert [row["column"] for row in intervals if row["name"] == "*"] == [
        "ar-ar", "ar-en", "es-es", "es-en", "en-en",
    ]  # fmt: skip
    for row in intervals:
        assert float(row["low"]) < float(row["value"]) < float(row["high"])


def test_published_rows_stand_above_official_data_only(tmp_path: Path) -> None:
    known = published(tmp_path, "80.0")
    rows, intervals = tabulated(tmp_path, {"en": [result(tmp_path, "en")]}, known)
    assert [(row["system"], row["source"]) for row in rows] == [
        ("LASER", "published"),
        ("P-SP en", "measured"),
    ]
    assert (rows[0]["dim"], rows[0]["ar-ar"]) == ("1024", "69.3")
    assert intervals[0]["group"] == "A Paper, Table 3"
    rows, _ = tabulated(tmp_path, {"en": [result(tmp_path, "en", official=False)]}, known)
    assert [(row["source"], row["data"]) for row in rows] == [("measured", "sample")]


def test_several_seeds_are_one_row(tmp_path: Path) -> None:
    runs = [result(tmp_path, "en", seed=seed) for seed in (1, 2, 3)]
    (row,), (figure,) = tabulated(tmp_path, {"en": runs})
    values = [json.loads(run.read_text())["measurements"]["pearson 2017/en-en"]["value"] for run in runs]
    assert row["system"] == "P-SP en (3 seeds)"
    assert row["en-en"] == f"{100 * np.mean(values):.1f}"
    assert float(figure["deviation"]) == pytest.approx(100 * np.std(values, ddof=1), abs=1e-3)


def test_error_rates_have_a_mean_whose_interval_is_narrower(tmp_path: Path) -> None:
    figures = {"error de": (0.1, 100), "error fr": (0.3, 300), "error de-en": (0.1, 100)}
    both = write(tmp_path / "a.json", "de", figures)
    # A single figure is no mean.
    one = write(tmp_path / "b.json", "one", {"error de": (0.1, 100)})
    tabulate_systems(
        {"de": [both], "one": [one]}, "tatoeba", tmp_path / "t.csv", tmp_path / "i.csv", gather=["de"]
    )
    assert (tmp_path / "t.csv").read_text().splitlines() == [
        "system,source,data,de,fr,avg",
        "P-SP de,measured,sample,10.0,30.0,20.0",
        "P-SP one,measured,sample,10.0,,",
    ]
    (mean,) = [row for row in read_csv(tmp_path / "i.csv") if row["column"] == "avg"]
    ends = [20 - 100 * 0.01 * 2**0.5 / 2, 20 + 100 * 0.03 * 2**0.5 / 2]
    assert [float(mean[end]) for end in ("low", "high")] == pytest.approx(ends, abs=1e-3)
    assert mean["n"] == "400"


def test_pairs_and_ways_of_mining_have_rows_of_their_own(tmp_path: Path) -> None:
    figures = {
        f"{figure} de-en {scoring}": (value, 100)
        for scoring, value in (("cosine", 0.4), ("margin", 0.6))
        for figure in ("precision", "recall", "f1")
    }
    scorings = {"cosine": {"threshold": 0.75}, "margin": {"threshold": 1.0625}}
    mined = write(tmp_path / "b.json", "de", figures, datasets={"de-en": {"scorings": scorings}})
    tabulate_systems({"de": [mined]}, "bucc", tmp_path / "t.csv", tmp_path / "i.csv", gather=["de"])
    assert (tmp_path / "t.csv").read_text().splitlines() == [
        "system,source,data,pair,precision,recall,f1,threshold",
        "P-SP de (cosine),measured,sample,de-en,40.0,40.0,40.0,0.7500",
        "P-SP de (margin),measured,sample,de-en,60.0,60.0,60.0,1.0625",
    ]
    names = ("forward", "backward", "forward 1", "backward 1")
    retrieved = {f"{name} {pair}": (0.5, n) for pair, n in (("de-en", 7), ("fr-en", 9)) for name in names}
    held_out = write(tmp_path / "h.json", "de", retrieved, datasets={"de-en": {"n": 7}, "fr-en": {"n": 9}})
    tabulate_systems({"de": [held_out]}, "held_out", tmp_path / "t.csv", tmp_path / "i.csv")
    assert (tmp_path / "t.csv").read_text().splitlines()[1:] == [
        f"P-SP de,measured,sample,{pair},{n},50.0,50.0,50.0,50.0" for pair, n in (("de-en", 7), ("fr-en", 9))
    ]


def rendered(table: Path, caption: str, intervals: Path | None = None) -> tuple[str, str]:
    """A table as Markdown and as LaTeX, with white space collapsed."""
    paths = table.with_suffix(".md"), table.with_suffix(".tex")
    render_table(table, *paths, caption=caption, intervals=intervals)
    markdown, latex = (re.sub(" +", " ", path.read_text(encoding="utf-8")) for path in paths)
    return markdown, latex


def test_tables_are_rendered_for_reading_and_for_papers(tmp_path: Path) -> None:
    table, intervals = tmp_path / "t.csv", tmp_path / "i.csv"
    table.write_text(
        "system,source,data,2012,avg,empty\nA&B,published,official,50.0,60.5,\n"
        "<b>*x* ≤ 3,untrained,official,9.0,-9.1,\nC_1 (2013 without SMT),measured,official,70.0,60.1,\n",
        encoding="utf-8",
    )
    measured = {"system": "C_1 (2013 without SMT)", "source": "measured"}
    rows = [
        {"system": "A&B", "source": "published", "group": "Paper, Table 2", "column": "2012"},
        measured | {"column": "2012", "low": "68.04", "high": "71.96"},
        measured | {"column": "avg", "low": "59", "high": "61", "deviation": "0.31"},
    ]
    write_csv(intervals, INTERVAL_COLUMNS, rows)
    markdown, latex = rendered(table, "Spearman's ρ 100%", intervals)
    assert markdown.splitlines() == [
        "Spearman's ρ 100%; \\* 2013 without SMT",
        "",
        "| system | average | 2012 | source |",
        markdown.splitlines()[3],
        "| &lt;b>\\*x\\* ≤ 3 | −9.1 | 9.0 | This run, before training |",
        "| C_1\\* | 60.1 ± 0.3 [59.0, 61.0] | 70.0 [68.0, 72.0] | This run |",
        "| A&B | 60.5 | 50.0 | Published: Paper, Table 2 |",
    ]
    alignment = [cell.endswith(":") for cell in markdown.splitlines()[3].strip("|").split("|")]
    assert alignment == [False, True, True, False]
    assert latex.isascii()
    for part in (
        r"\caption{Spearman's $\rho$ 100\%; * 2013 without SMT}",
        r"\begin{tabular}{lrrl}",
        r"\toprule",
        r"$<$b$>$*x* $\leq$ 3 & $-$9.1 & 9.0 & This run, before training \\",
        r"C\_1* & 60.1 $\pm$ 0.3 [59.0, 61.0] & 70.0 [68.0, 72.0] & This run \\",
        r"A\&B & 60.5 & 50.0 & Published: Paper, Table 2 \\",
    ):
        assert part in latex


def test_long_and_wide_tables_fit_a_page(tmp_path: Path) -> None:
    wide = ",".join(f"a_long_name_{i}" for i in range(12))
    for rows, begun, turned in ((3, r"\resizebox{\textwidth}{!}{%", 0), (60, r"\begin{longtable}", 1)):
        (tmp_path / "t.csv").write_text(f"system,{wide}\n" + ("x" + ",1" * 12 + "\n") * rows)
        _, latex = rendered(tmp_path / "t.csv", "Wide")
        assert begun in latex
        assert latex.count(r"\begin{landscape}") == latex.count(r"\end{landscape}") == turned
        assert latex.count(r"\begin{") == latex.count(r"\end{")
        assert latex.count("{") == latex.count("}")
        assert latex.count(" & 1") == 12 * rows


def test_tables_without_systems_and_without_rows_are_rendered(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("model,read,note\nfr,20,\ntr,9000,x|y\n")
    markdown, _ = rendered(tmp_path / "t.csv", "Counts")
    assert markdown.splitlines()[4:] == ["| fr | 20 | |", r"| tr | 9,000 | x\|y |"]
    (tmp_path / "t.csv").write_text("model,read\n")
    markdown, latex = rendered(tmp_path / "t.csv", "Counts")
    assert "| model | read |" in markdown
    assert "model & read" in latex
