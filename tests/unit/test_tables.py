"""Test the tables of systems and how tables are rendered."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from function_encoder import FunctionEncoder

from paraphrastic_pipeline.base.tables import read_csv, write_csv
from paraphrastic_pipeline.evaluation.measurement import correlations, share
from paraphrastic_pipeline.evaluation.results import write_result
from paraphrastic_pipeline.evaluation.system_tables import INTERVAL_COLUMNS, tabulate_systems
from paraphrastic_pipeline.report.render import render_table

TRACKS = {"en": ["en-en"], "ar": ["ar-ar", "ar-en", "en-en"], "es": ["es-es", "es-en", "en-en"]}


def result(folder: Path, system: str, *, noise: float = 1.0, official: bool = True, seed: int = 1) -> Path:
    """Write a result on the tracks of STS 2017 that the system knows."""
    measurements = {}
    for track in TRACKS[system]:
        gold = np.random.default_rng(0).normal(size=250)
        scores = gold + noise * np.random.default_rng([seed, len(system), ord(system[0])]).normal(size=250)
        name = f"2017/{track}"
        measurements |= correlations(scores, gold, name=name, at=name, digest=name, samples=200)
    encoder = FunctionEncoder(
        f"P-SP {system}", 300, f"digest of {system}", lambda sentences, _: np.ones((1, 1))
    )
    path = folder / f"{system}-{seed}.json"
    write_result(path, encoder, measurements, task="xling_sts", source="measured", official=official)
    return path


def published(folder: Path, value: str) -> Path:
    path = folder / "published.csv"
    path.write_text(
        "system,dim,ar-ar,ar-en,es-es,es-en,en-en,tr-en,training_data,paper,table\n"
        f"LASER,1024,69.3,65.5,79.7,59.7,{value},72.0,-,A Paper,Table 3\n"
    )
    return path


def tabulated(folder: Path, systems: dict[str, list[Path]], known: Path | None = None):
    table, intervals = folder / "t.csv", folder / "intervals.csv"
    tabulate_systems(systems, "xling_sts", known, table, intervals, gather=list(systems))
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
    of_together = {row["column"]: row["model_digest"] for row in intervals if row["name"] == "*"}
    assert of_together["ar-en"] == "digest of ar"
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


@pytest.mark.parametrize(("value", "marked"), [("10.0", "yes"), ("71.0", ""), ("99.0", "")])
def test_the_best_is_marked_where_it_is_beyond_the_published(tmp_path: Path, value: str, marked: str) -> None:
    _, intervals = tabulated(tmp_path, {"en": [result(tmp_path, "en")]}, published(tmp_path, value))
    (row,) = [row for row in intervals if row["name"] == "en"]
    assert row["best"] == marked


def test_the_better_of_two_models_is_marked(tmp_path: Path) -> None:
    systems = {"ar": [result(tmp_path, "ar", noise=0.3)], "es": [result(tmp_path, "es")]}
    _, intervals = tabulated(tmp_path, systems)
    assert {(row["name"], row["column"]) for row in intervals if row["best"]} == {("ar", "en-en")}


def test_several_seeds_are_one_row(tmp_path: Path) -> None:
    runs = [result(tmp_path, "en", seed=seed) for seed in (1, 2, 3)]
    (row,), (figure,) = tabulated(tmp_path, {"en": runs})
    values = [json.loads(run.read_text())["measurements"]["pearson 2017/en-en"]["value"] for run in runs]
    assert row["system"] == "P-SP en (3 seeds)"
    assert row["en-en"] == f"{100 * np.mean(values):.1f}"
    assert float(figure["deviation"]) == pytest.approx(100 * np.std(values, ddof=1), abs=1e-3)


def test_error_rates_have_a_mean_and_two_ways_of_mining_two_rows(tmp_path: Path) -> None:
    encoder = FunctionEncoder("P-SP de", 300, "d", lambda sentences, _: np.ones((1, 1)))
    shares = [
        share(np.arange(100) < n, name="x", digest="d", samples=100, higher_is_better=False) for n in (10, 30)
    ]
    names = ("error de", "error fr", "error de-en", "error en-de")
    write_result(
        tmp_path / "a.json", encoder, dict(zip(names, shares * 2, strict=True)), task="tatoeba",
        source="measured", official=False,
    )  # fmt: skip
    tabulate_systems({"de": [tmp_path / "a.json"]}, "tatoeba", None, tmp_path / "t.csv", tmp_path / "i.csv")
    # A single figure is no mean.
    write_result(
        tmp_path / "b.json", encoder, {names[0]: shares[0]}, task="tatoeba", source="measured", official=False
    )
    expected = "system,source,data,de,fr,avg\nP-SP de,measured,sample,10.0,30.0,20.0\n"
    assert (tmp_path / "t.csv").read_text() == expected
    both = {"de": [tmp_path / "a.json"], "one": [tmp_path / "b.json"]}
    tabulate_systems(both, "tatoeba", None, tmp_path / "t.csv", tmp_path / "i.csv")
    assert (tmp_path / "t.csv").read_text() == expected + "P-SP de,measured,sample,10.0,,\n"
    figures = {
        f"{figure} de-en {scoring}": share(np.arange(100) < n, name="x", digest="d", samples=100)
        for scoring, n in (("cosine", 40), ("margin", 60))
        for figure in ("precision", "recall", "f1")
    }
    pairs = {"de-en": {"cosine": {"threshold": 0.75}, "margin": {"threshold": 1.0625}}}
    write_result(
        tmp_path / "b.json", encoder, figures, task="bucc", source="measured", official=False,
        details={"pairs": pairs},
    )  # fmt: skip
    tabulate_systems({"de": [tmp_path / "b.json"]}, "bucc", None, tmp_path / "t.csv", tmp_path / "i.csv")
    assert (tmp_path / "t.csv").read_text().splitlines() == [
        "system,source,data,pair,precision,recall,f1,threshold",
        "P-SP de (cosine),measured,sample,de-en,40.0,40.0,40.0,0.7500",
        "P-SP de (margin),measured,sample,de-en,60.0,60.0,60.0,1.0625",
    ]


def test_tables_are_rendered_for_reading_and_for_papers(tmp_path: Path) -> None:
    source, intervals = tmp_path / "t.csv", tmp_path / "i.csv"
    source.write_text(
        "system,source,data,2012,avg\nA&B,published,official,50.0,60.5\nC_1,measured,official,70.0,60.1\n"
    )
    measured = {"system": "C_1", "source": "measured"}
    printed = {"system": "A&B", "source": "published", "group": "Paper, Table 2"}
    rows = [
        printed | {"column": "2012", "value": "50.0"},
        measured | {"column": "2012", "low": "68.04", "high": "71.96", "best": "yes"},
        measured | {"column": "avg", "low": "59", "high": "61", "deviation": "0.31"},
    ]
    write_csv(intervals, INTERVAL_COLUMNS, rows)
    paths = tmp_path / "t.md", tmp_path / "t.tex"
    render_table(source, *paths, caption="Figures 100%", intervals=intervals)
    markdown = re.sub(" +", " ", paths[0].read_text())
    assert "| C_1 | measured | official | **70.0** [68.0, 72.0] | 60.1 ± 0.3 [59.0, 61.0] |" in markdown
    assert "| A&B | published | official | 50.0 | 60.5 |" in markdown
    latex = re.sub(" +", " ", paths[1].read_text())
    assert r"\multicolumn{5}{l}{\emph{Paper, Table 2}} \\" in latex
    assert r"A\&B & published & official & 50.0 & 60.5 \\" in latex
    cells = r"\textbf{70.0}{\scriptsize [68.0, 72.0]} & 60.1{\scriptsize $\pm$ 0.3 [59.0, 61.0]} \\"
    assert rf"C\_1 & measured & official & {cells}" in latex
    assert latex.count(r"\midrule") == 2
    assert all(part in latex for part in (r"\toprule", r"\bottomrule", r"\caption{Figures 100\%}", "{lllrr}"))


def test_long_and_wide_tables_fit_a_page(tmp_path: Path) -> None:
    wide = ",".join(f"a_long_name_{i}" for i in range(12))
    for rows, begun, turned in ((3, r"\resizebox{\textwidth}{!}{%", 0), (60, r"\begin{longtable}", 1)):
        (tmp_path / "t.csv").write_text(f"system,{wide}\n" + ("x" + ",1" * 12 + "\n") * rows)
        render_table(tmp_path / "t.csv", tmp_path / "t.md", tmp_path / "t.tex", caption="Wide")
        latex = (tmp_path / "t.tex").read_text()
        assert begun in latex
        assert latex.count(r"\begin{landscape}") == latex.count(r"\end{landscape}") == turned
        assert latex.count(r"\begin{") == latex.count(r"\end{")
        assert latex.count("{") == latex.count("}")
        assert latex.count(" & 1") == 12 * rows


def test_signs_and_markup_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("system,ρ,empty\n<b>*x* `y` ≤ 3,1,\n", encoding="utf-8")
    render_table(tmp_path / "t.csv", tmp_path / "t.md", tmp_path / "t.tex", caption="Spearman's ρ × 100")
    markdown = (tmp_path / "t.md").read_text(encoding="utf-8")
    assert r"&lt;b>\*x\* \`y\` ≤ 3" in markdown
    # Only other configurations fill this column.
    assert "empty" not in markdown
    latex = (tmp_path / "t.tex").read_text(encoding="utf-8")
    assert latex.isascii()
    assert r"Spearman's $\rho$ $\times$ 100" in latex
    assert r"$<$b$>$*x* `y` $\leq$ 3 & 1 \\" in latex


def test_published_rows_stand_together(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("system,source,f\nA,published,1\nB,measured,2\n")
    render_table(tmp_path / "t.csv", tmp_path / "t.md", tmp_path / "t.tex", caption="Two")
    latex = (tmp_path / "t.tex").read_text()
    assert latex.index(r"\emph{published}") < latex.index("A & published") < latex.index("B & measured")
    assert latex.count(r"\midrule") == 2


def test_tables_of_other_columns_are_rendered_as_they_are(tmp_path: Path) -> None:
    source = tmp_path / "t.csv"
    source.write_text("model,read,near,note\nfr,20,,\ntr,9,3,x|y\n")
    render_table(source, tmp_path / "t.md", tmp_path / "t.tex", caption="Counts")
    header, rule, *rows = re.sub(" +", " ", (tmp_path / "t.md").read_text()).splitlines()[2:]
    assert header == "| model | read | near | note |"
    assert [cell.endswith(":") for cell in rule.strip("|").split("|")] == [False, True, True, False]
    assert rows == ["| fr | 20 | | |", r"| tr | 9 | 3 | x\|y |"]
    assert r"\begin{tabular}{lrrl}" in (tmp_path / "t.tex").read_text()
