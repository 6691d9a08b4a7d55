"""Test the counts of pairs, their tables, and the picture of the funnel."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from paraphrastic_pipeline.corpus.corpus_tables import tabulate_funnel
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from scored_corpus import write_scored

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus.counts import in_order
from paraphrastic_pipeline.corpus.filters import Filter, build_filters
from paraphrastic_pipeline.corpus.merge import Merging, merge_pairs
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.corpus.score import TextSettings, score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs
from paraphrastic_pipeline.report.figures.funnel import plot_funnel
from paraphrastic_pipeline.report.first_screen import surprises
from paraphrastic_pipeline.report.shown_tables import read_table, words
from paraphrastic_pipeline.report.summary import read_pairs

SELECTED = {
    "read": 100,
    "kept": 60,
    "dropped": {"empty": 0, "length": 30, "language": 10},
    "fails": {"empty": 0, "length": 30, "language": 15},
    "fails_both": {"empty": {"length": 0, "language": 0}, "length": {"language": 5}},
}
MERGED = {"read": 60, "duplicates": 4, "near_duplicates": 0, "contaminated": 3, "capped": 2, "kept": 51}


def funnel(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "selected.json").write_text(json.dumps(SELECTED))
    (tmp_path / "merged.json").write_text(
        json.dumps({**MERGED, "corpora": [{"file": "selected/de/tanzil.parquet", **MERGED}]})
    )
    outputs = tmp_path / "funnel.csv", tmp_path / "overlap.csv"
    tabulate_funnel(
        [tmp_path / "selected.json"],
        [tmp_path / "merged.json"],
        *outputs,
        corpora=[("de", "tanzil")],
        models=["de"],
    )
    return outputs


def test_the_tables_of_the_funnel(tmp_path: Path) -> None:
    flow, overlap = funnel(tmp_path)
    assert flow.read_text().splitlines() == [
        "model,corpus,read,empty,length,language,duplicates,near_duplicates,contaminated,capped,kept",
        "de,tanzil,100,0,30,10,4,0,3,2,51",
    ]
    assert overlap.read_text().splitlines() == [
        "model,corpus,filter,empty,length,language",
        "de,tanzil,empty,0,0,0",
        "de,tanzil,length,0,30,5",
        "de,tanzil,language,0,5,15",
    ]


def test_rows_that_the_extraction_left_out_are_the_first_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number goes from the extraction to the counts of the selection in the metadata of Parquet files."""
    corpus = tmp_path / "mine.tsv"
    corpus.write_text("a good line\teine gute Zeile\n" * 5 + "no column\n" * 8)
    file = CorpusFile(corpus, ("en", "de"))
    pairs = tmp_path / "pairs.parquet"
    extract_corpus("tsv", [file], ("en", "de"), pairs, max_unreadable=0.7)
    parts = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    for number, part in enumerate(parts, start=1):
        score_pairs(
            pairs, part, languages=("en", "de"), identifier=None, word_vectors=None,
            text=TextSettings(segmentation={}, folding={}, lowercase=True), shard=(number, 2),
        )  # fmt: skip
    counts = select_pairs(
        parts, FilterFiles(*(tmp_path / name for name in ("out.parquet", "counts.json", "dropped.tsv"))),
        languages=("en", "de"), settings={}, preparation={}, seed=1,
    )  # fmt: skip
    assert (counts["unreadable"], counts["read"], counts["kept"]) == (8, 5, 5)
    monkeypatch.setattr(f"{__name__}.SELECTED", {**SELECTED, "unreadable": 60})
    flow, _ = funnel(tmp_path)
    header, row = flow.read_text().splitlines()
    assert header.startswith("model,corpus,read,unreadable,empty,length,language,duplicates,")
    assert row == "de,tanzil,160,60,0,30,10,4,0,3,2,51"
    first, second = surprises(tmp_path, None, None, [], lambda name: name == "funnel")
    assert first.startswith("For de: The extraction drops 38% of tanzil, 60 of 160 pairs: all because of")
    assert second.startswith("For de: The filters drop 40% of tanzil, 40 of 100 pairs: 30 of them because of")


@pytest.mark.parametrize(
    ("selected", "merged", "message"),
    [
        ({"kept": 61}, {}, r"selected\.json: 100 pairs were read, but 101 were kept or dropped; delete the"),
        (
            {"dropped": {"empty": 0}},
            {},
            r"selected\.json: 100 pairs were read, but 60 were kept or dropped;",
        ),
        ({"dropped": None}, {}, r"selected\.json: not the counts of a selection; delete the file, and run"),
        (
            {},
            {"capped": 3},
            r"merged\.json: 60 pairs were read, but 61 were kept or dropped;",
        ),
        (
            {},
            {"blocked": 1},
            r"merged\.json: 60 pairs were read, but 61 were kept or dropped;",
        ),
        (
            {},
            {"read": 61, "capped": 3},
            r"merged\.json: 61 pairs of tanzil were read, but .*selected\.json",
        ),
        ({}, {"kept": "many"}, r"merged\.json: not the counts of a merge; delete the file, and run"),
        # A reason of the merge that has the name of a filter would hide it.
        ({}, {"capped": 0, "length": 2}, r"merged\.json: 100 pairs were read, but 98 were kept or dropped"),
    ],
)
def test_counts_that_do_not_add_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, selected: dict, merged: dict, message: str
) -> None:
    monkeypatch.setattr(f"{__name__}.SELECTED", {**SELECTED, **selected})
    monkeypatch.setattr(f"{__name__}.MERGED", {**MERGED, **merged})
    with pytest.raises(InputError, match=message) as caught:
        funnel(tmp_path)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "funnel.csv").exists()


def test_a_total_that_is_not_the_sum_of_the_corpora(tmp_path: Path) -> None:
    (tmp_path / "merged.json").write_text(json.dumps({**MERGED, "corpora": [MERGED, MERGED]}))
    tables = tmp_path / "f.csv", tmp_path / "o.csv"
    with pytest.raises(InputError, match=r"merged\.json: all corpora have 102 pairs, but the total is 51"):
        tabulate_funnel([], [tmp_path / "merged.json"], *tables, corpora=[], models=["de"])


def test_columns_keep_the_order_of_each_corpus() -> None:
    assert in_order([["empty", "length", "language"], ["empty", "rank", "length", "score"], ["copy"]]) == [
        *("copy", "empty", "rank", "length", "score", "language"),
    ]


def test_a_new_filter_is_in_the_tables_the_picture_and_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_another(settings: Any, languages: tuple[str, str]) -> list[Filter]:
        first, *others = build_filters(settings, languages)
        odd = Filter("odd_line", lambda block: block["line"].to_numpy()[:, None], lambda n: n[:, 0] % 4 == 0)
        return [first, odd, *others]

    monkeypatch.setattr("paraphrastic_pipeline.corpus.select.build_filters", with_another)
    scored = write_scored(tmp_path / "s", [(f"source {n}", f"target {n}") for n in range(100)], [0.5] * 100)
    counts = {name: tmp_path / f"{name}.json" for name in ("selected", "merged")}
    select_pairs(
        [scored],
        FilterFiles(tmp_path / "selected.parquet", counts["selected"], tmp_path / "dropped.tsv"),
        languages=("en", "de"), settings={}, preparation={}, seed=1,
    )  # fmt: skip
    merge_pairs(
        [tmp_path / "selected.parquet"], tmp_path / "merged.parquet", counts=counts["merged"],
        contaminated=[],
        merging=Merging(duplicates="keep_one", near_duplicates=None, drop=[], max_pairs=[20], weights=[1]),
        seed=1, memory_mb=200, threads=1, temporary=tmp_path / "temporary",
    )  # fmt: skip
    tables = tmp_path / "funnel.csv", tmp_path / "overlap.csv"
    files = ([counts["selected"]], [counts["merged"]], *tables)
    tabulate_funnel(*files, corpora=[("de", "mine")], models=["de"])
    assert tables[0].read_text().splitlines() == [
        "model,corpus,read,empty,odd_line,duplicates,near_duplicates,contaminated,held_out,capped,kept",
        "de,mine,100,0,75,0,0,0,0,5,20",
    ]
    assert tables[1].read_text().splitlines()[1:] == ["de,mine,empty,0,0", "de,mine,odd_line,0,75"]
    plot_funnel(*tables, [tmp_path / "funnel.svg"])
    texts = ["".join(each.itertext()).strip() for each in ElementTree.parse(tmp_path / "funnel.svg").iter()]
    assert {"odd line", "75.0", "over the cap", "20.0"} <= set(texts)
    assert "odd line" in map(words, read_table(tables[0]).columns)
    (line,) = surprises(tmp_path, None, None, [], lambda name: name == "funnel")
    assert line == (
        "For de: The filters drop 75% of mine, 75 of 100 pairs: all because of their odd line; the "
        "setting is selection.bitext.odd_line."
    )


def test_the_picture(tmp_path: Path) -> None:
    tables = funnel(tmp_path)
    outputs = [tmp_path / "funnel.svg", tmp_path / "funnel.png"]
    plot_funnel(*tables, outputs)
    assert outputs[1].read_bytes().startswith(b"\x89PNG")
    texts = ["".join(element.itertext()).strip() for element in ElementTree.parse(outputs[0]).iter()]
    shown = {text for text in texts if text and "\n" not in text}
    assert {"tanzil   de", "51 of 100", "51.0", "30.0", "10.0", "4.0"} <= shown
    assert "3.0" not in shown  # the bar is too narrow for a number
    # The picture shows the filters that drop something, the pairs that two filters drop together, and their
    # shares.
    assert {"length", "language", "duplicate", "contaminated", "5", "17 %", "33 %"} <= shown
    assert "trigram overlap" not in shown
    before = [path.read_bytes() for path in outputs]
    plot_funnel(*tables, outputs)
    assert [path.read_bytes() for path in outputs] == before


def test_sentences_without_pairs_are_no_pairs(tmp_path: Path) -> None:
    rows = "model,corpus,read,length,kept\na,one,10,4,6\nb,one,10,4,6\na,notes (text),900,0,900\nb,two,5,,5\n"
    (tmp_path / "funnel.csv").write_text(rows)
    assert read_pairs(tmp_path / "funnel.csv") == ("11", "15")


def test_a_picture_of_nothing(tmp_path: Path) -> None:
    flow, overlap = funnel(tmp_path)
    flow.write_text(flow.read_text().splitlines()[0] + "\n")
    with pytest.raises(InputError, match=r"funnel\.csv: contains no rows"):
        plot_funnel(flow, overlap, [tmp_path / "funnel.svg"])


def test_a_picture_without_a_filter(tmp_path: Path) -> None:
    flow, overlap = funnel(tmp_path)
    overlap.write_text(overlap.read_text().splitlines()[0] + "\n")
    plot_funnel(flow, overlap, [tmp_path / "funnel.svg"])
    assert "Which filters" not in (tmp_path / "funnel.svg").read_text()
