"""Test the statistics, parses and tables of the corpora, and the picture of the funnel."""

import csv
import gzip
import json
import math
import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paraphrastic.base.errors import InputError
from paraphrastic.corpus import blocks
from paraphrastic.corpus.corpus_tables import tabulate_corpora, tabulate_funnel
from paraphrastic.corpus.counts import in_order
from paraphrastic.corpus.filters import Filter, build_filters
from paraphrastic.corpus.merge import merge_pairs
from paraphrastic.corpus.score import SCORED_SCHEMA
from paraphrastic.corpus.select import select_pairs
from paraphrastic.corpus.statistics import (
    WordStatistics,
    describe_corpus,
    entropy,
    parse_entropy,
    top_levels,
)
from paraphrastic.report.figures.funnel import plot_funnel
from paraphrastic.report.first_screen import surprises
from paraphrastic.report.tables import read_table, words


def write_scored(path: Path, pairs: list[tuple[str, str]], scores: list[float | None] | None = None) -> Path:
    columns = {
        "source": [source for source, _ in pairs],
        "target": [target for _, target in pairs],
        "line": list(range(1, len(pairs) + 1)),
        "source_tokens": [len(source.split()) for source, _ in pairs],
        "target_tokens": [len(target.split()) for _, target in pairs],
        "paraphrase_score": scores or [None] * len(pairs),
    }
    arrays = [pa.array(columns.get(f.name, [None] * len(pairs)), f.type) for f in SCORED_SCHEMA]
    pq.write_table(pa.Table.from_arrays(arrays, schema=SCORED_SCHEMA), path)
    return path


def describe(tmp_path: Path, *scored: Path, languages=("en", "de"), name="corpus", **changes):
    settings = {"sentences": 1000, "parsers": {}, "seed": 1, **changes}
    outputs = tmp_path / f"{name}.json", tmp_path / f"{name}.parquet"
    result = describe_corpus(scored, *outputs, languages=languages, **settings)
    assert result == json.loads(outputs[0].read_text())
    return result, pq.read_table(outputs[1]).to_pylist()


def test_a_small_corpus_by_hand(tmp_path: Path) -> None:
    scored = write_scored(tmp_path / "s", [("a b", "x"), ("a b c d", "x  y z")], [0.5, None])
    result, sample = describe(tmp_path, scored)
    assert result == {
        "pairs": 2,
        "sampled": 2,
        "paraphrase_score": {"mean": 0.5, "std": 0.0},
        "sides": {
            "en": {"side": "source", "length": {"mean": 3.0, "std": 1.0}, "parse_entropy": None},
            "de": {"side": "target", "length": {"mean": 2.0, "std": 1.0}, "parse_entropy": None},
        },
    }
    assert sorted(map(tuple, (row.values() for row in sample))) == [("a b", "x"), ("a b c d", "x y z")]
    result, _ = describe(tmp_path, write_scored(tmp_path / "s", [("a b", "x")]), languages=("en", "en"))
    assert result["paraphrase_score"] is None
    assert list(result["sides"]) == ["en"]
    assert result["sides"]["en"]["side"] == "source"


def random_pairs(size: int) -> tuple[list[tuple[str, str]], list[float | None]]:
    draw = np.random.default_rng(4)
    texts = [" ".join(draw.choice(list("abcdefgh"), draw.integers(0, 12))) for _ in range(2 * size)]
    scores = [None if draw.random() < 0.2 else float(np.float32(draw.random())) for _ in range(size)]
    return list(zip(texts[:size], texts[size:], strict=True)), scores


def test_figures_are_those_of_the_standard_library(tmp_path: Path) -> None:
    pairs, scores = random_pairs(700)
    result, sample = describe(tmp_path, write_scored(tmp_path / "s", pairs, scores), sentences=100)
    given = [score for score in scores if score is not None]
    for side, number in (("en", 0), ("de", 1)):
        lengths = [len(pair[number].split()) for pair in pairs]
        assert result["sides"][side]["length"]["mean"] == pytest.approx(statistics.mean(lengths), abs=1e-6)
        assert result["sides"][side]["length"]["std"] == pytest.approx(statistics.pstdev(lengths), abs=1e-6)
    assert result["paraphrase_score"]["mean"] == pytest.approx(statistics.mean(given), abs=1e-6)
    assert result["paraphrase_score"]["std"] == pytest.approx(statistics.pstdev(given), abs=1e-6)
    assert len(sample) == result["sampled"] == 100
    assert {tuple(row.values()) for row in sample} <= set(pairs)


def test_the_sample_is_random_seeded_and_no_matter_of_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [(f"s {n}", f"t {n}") for n in range(2000)]
    scored = write_scored(tmp_path / "s", pairs, random_pairs(2000)[1])
    written = []
    for rows in (7, 65_536):
        monkeypatch.setattr(blocks, "READ_ROWS", rows)
        _, sample = describe(tmp_path, scored, sentences=200)
        written.append([(tmp_path / name).read_bytes() for name in ("corpus.json", "corpus.parquet")])
    assert written[0] == written[1]
    numbers = [int(row["source"].split()[1]) for row in sample]
    assert all(row["target"] == f"t {number}" for row, number in zip(sample, numbers, strict=True))
    assert 800 < sum(numbers) / 200 < 1200
    assert describe(tmp_path, scored, sentences=200, seed=2)[1] != sample


def test_shards_are_one_corpus(tmp_path: Path) -> None:
    pairs, scores = random_pairs(500)
    whole = write_scored(tmp_path / "s", pairs, scores)
    cuts = [(0, 200), (200, 200), (200, 500)]
    shards = [
        write_scored(tmp_path / f"s{number}", pairs[start:end], scores[start:end])
        for number, (start, end) in enumerate(cuts)
    ]
    assert describe(tmp_path, *shards, sentences=50) == describe(tmp_path, whole, sentences=50)
    with pytest.raises(InputError, match=rf"{tmp_path}: the corpus is empty: no pairs"):
        describe(tmp_path, shards[1], shards[1])


def test_an_empty_or_damaged_corpus(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"s: the corpus is empty: no pairs"):
        describe(tmp_path, write_scored(tmp_path / "s", []))
    (tmp_path / "s").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"s: not readable as Parquet"):
        describe(tmp_path, tmp_path / "s")
    assert [path.name for path in tmp_path.iterdir()] == ["s"]


def test_idf_and_entropy_by_hand() -> None:
    # Three of the four documents contain a, two contain b, and one contains c and d.
    words = WordStatistics({"one": ["a b", "A a!", ""], "two": ["b c d a"]})
    ln = math.log
    a, b, rare, mark = ln(4 / 3), ln(4 / 2), ln(4), ln(4)
    means = [(a + b) / 2, (2 * a + mark) / 3]
    mean, deviation = words.idf("one")
    assert mean == pytest.approx(statistics.mean(means))
    assert deviation == pytest.approx(statistics.pstdev(means))
    assert words.idf("two") == pytest.approx(((a + b + 2 * rare) / 4, 0.0))
    # The corpus has a three times, and b and ! once each.
    assert words.vocabulary_entropy("one") == pytest.approx(-(0.6 * ln(0.6) + 2 * 0.2 * ln(0.2)))
    assert words.vocabulary_entropy("two") == pytest.approx(ln(4))
    assert WordStatistics({"none": ["", " "]}).idf("none") == (None, None)


def test_idf_of_other_documents_by_hand() -> None:
    samples = {"one": ["a b", "A a!", ""], "two": ["b c d a"]}
    # Four of the five documents contain a, one contains b, and none contains any other word of the samples.
    words = WordStatistics(samples, [["a x", "A b b", "x y"], [], ["a", "z a"]])
    ln = math.log
    assert words.idf("two") == pytest.approx(((ln(5 / 4) + 3 * ln(5)) / 4, 0.0))
    assert words.idf("one")[0] == pytest.approx(((ln(5 / 4) + ln(5)) / 2 + (2 * ln(5 / 4) + ln(5)) / 3) / 2)
    assert words.vocabulary_entropy("two") == pytest.approx(ln(4))


def test_idf_and_entropy_are_those_of_a_plain_count() -> None:
    texts = {name: [pair[side] for pair in random_pairs(300)[0]] for side, name in enumerate(("one", "two"))}
    documents = [set(text.split()) for sample in texts.values() for text in sample]
    frequencies = Counter(word for document in documents for word in document)
    words = WordStatistics(texts)
    for name, sample in texts.items():
        split = [text.split() for text in sample]
        idf = [[math.log(len(documents) / frequencies[word]) for word in each] for each in split if each]
        means = [statistics.mean(each) for each in idf]
        assert words.idf(name) == pytest.approx((statistics.mean(means), statistics.pstdev(means)))
        counts = Counter(word for each in split for word in each)
        shares = [count / counts.total() for count in counts.values()]
        assert words.vocabulary_entropy(name) == pytest.approx(-sum(p * math.log(p) for p in shares))


def test_entropy() -> None:
    assert entropy([5, 0, 5]) == pytest.approx(math.log(2))
    assert entropy([7]) == entropy([]) == 0


@pytest.mark.parametrize(
    ("parse", "top"),
    [
        ("(ROOT (S (NP (PRP She)) (VP (VBZ sings) (NP (NNS songs))) (. .)))", "(S(NP)(VP)(.))"),
        ("( (S (NP (PRP She)) (VP (VBZ sings))))", "(S(NP)(VP))"),
        ("((S (NP (PRP She)) (VP (VBZ sings))))", "(S(NP)(VP))"),
        ("(S (NP She) (VP sings))", "(S(NP)(VP))"),
        ("(TOP (FRAG (UH Yes)))", "(FRAG(UH))"),
        ("She sings", None),
        ("(ROOT (S", None),
        ("(ROOT (S (NP x))) )", None),
        ("(S (NP x)) (S (NP y))", None),
        ("", None),
    ],
)
def test_the_top_two_levels_of_a_parse(parse: str, top: str | None) -> None:
    assert top_levels(parse) == top


def parser(tmp_path: Path, body: str) -> str:
    (tmp_path / "parser.py").write_text(f"import sys\nfor line in sys.stdin:\n    {body}\n")
    return f"{sys.executable} {tmp_path}/parser.py"


def test_parse_entropy(tmp_path: Path) -> None:
    # Words of one letter are nouns and all others are verbs, which gives (NP), (VP), (VP), (NP)(VP).
    command = parser(
        tmp_path,
        'print("(ROOT (S", *(f"({(len(w) > 1 and chr(86) or chr(78))}P {w})" for w in line.split()), "))")',
    )
    found = parse_entropy(["a", "bb", "", "cc", "a bb"], command)
    assert found == pytest.approx(-(2 * 0.25 * math.log(0.25) + 0.5 * math.log(0.5)))
    scored = write_scored(tmp_path / "s", [("a", "x"), ("bb", "x")])
    result, _ = describe(tmp_path, scored, parsers={"en": command})
    assert result["sides"]["en"]["parse_entropy"] == pytest.approx(math.log(2), abs=1e-6)
    assert result["sides"]["de"]["parse_entropy"] is None


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print(line)", "line 1 is not a bracketed parse: 'a b'"),
        ('print("(S (NP x))"); break', "1 parses for 2 sentences"),
        ('sys.exit("no model")', "ended with status 1: no model"),
        ("sys.exit(3)", "ended with status 3: it says nothing"),
    ],
)
def test_parsers_that_fail(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        parse_entropy(["a b", "c"], parser(tmp_path, body))
    assert str(error.value).startswith("statistics.parsers: ")
    assert "\n" not in str(error.value)


def test_a_parser_that_is_not_there() -> None:
    with pytest.raises(InputError, match=r"statistics\.parsers: nowhere -x: cannot be run: No such file"):
        parse_entropy(["a"], "nowhere -x")


def test_the_table_of_the_corpora(tmp_path: Path) -> None:
    described = []
    for corpus, pairs in (("one", [("a b", "x"), ("a a", "y")]), ("two", [("b c d a", "x y")])):
        scored = write_scored(tmp_path / "s", pairs, [0.5, 0.75] if corpus == "one" else None)
        describe(tmp_path, scored, name=corpus)
        described.append((("de", corpus), tmp_path / f"{corpus}.json", tmp_path / f"{corpus}.parquet"))
    # A second model uses the same corpus; its documents are not counted twice.
    described.append((("other", "one"), *described[0][1:]))
    merged = {}
    for model, kept in (("de", [2, 1]), ("other", [1])):
        merged[model] = tmp_path / f"{model}.counts.json"
        files = zip(("one", "two"), kept, strict=False)
        counted = [{"file": f"{name}.parquet", "read": n, "kept": n} for name, n in files]
        total = {"read": sum(kept), "kept": sum(kept)}
        merged[model].write_text(json.dumps({**total, "corpora": counted}))
    tabulate_corpora(described, merged, tmp_path / "table.csv")
    header, *rows = (tmp_path / "table.csv").read_text().splitlines()
    assert header == (
        "model,corpus,language,pairs,used,length,length_std,idf,idf_std,vocabulary_entropy,"
        "paraphrase_score,paraphrase_score_std,parse_entropy"
    )
    # All three English documents contain a, two contain b, and one contains c and d. Two of the three
    # German ones contain x, and two contain y.
    b, rare, entropy_of_one = math.log(3 / 2), math.log(3), -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
    one = f"2,2,2.00,0.00,{b / 4:.2f},{b / 4:.2f},{entropy_of_one:.2f},0.62,0.12,no parser"
    assert rows[0] == f"de,one,en,{one}"
    assert rows[1] == f"de,one,de,2,2,1.00,0.00,{b:.2f},0.00,{math.log(2):.2f},0.62,0.12,no parser"
    assert rows[2] == f"de,two,en,1,1,4.00,0.00,{(b + 2 * rare) / 4:.2f},0.00,{math.log(4):.2f},,,no parser"
    assert rows[4:] == [
        "de,all,en-de,3,3,,,,,,,,",
        f"other,one,en,{one.replace('2,2,', '2,1,', 1)}",
        rows[6],
        "other,all,en-de,2,1,,,,,,,,",
    ]
    # With documents in English, only the IDF of English is another one.
    before = list(csv.DictReader((tmp_path / "table.csv").open()))
    documents = tmp_path / "wiki.gz"
    documents.write_bytes(gzip.compress(b"a\nb c\n\nd"))
    tabulate_corpora(described, merged, tmp_path / "table.csv", documents=[documents], languages=["en"])
    after = list(csv.DictReader((tmp_path / "table.csv").open()))
    assert [(row["idf"], row["idf_std"]) for row in after[:4]] == [
        (f"{math.log(3):.2f}", "0.00"),
        (before[1]["idf"], "0.00"),
        (f"{math.log(3):.2f}", "0.00"),
        (before[3]["idf"], "0.00"),
    ]
    assert before[2]["idf"] != after[2]["idf"]
    for row in (*before, *after):
        del row["idf"], row["idf_std"]
    assert after == before
    with pytest.raises(InputError, match=r"wiki\.gz: .*5 bytes"):
        tabulate_corpora(
            described, merged, tmp_path / "table.csv", documents=[documents], languages=["en"], max_bytes=5
        )


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
        [(("de", "tanzil"), tmp_path / "selected.json")], {"de": tmp_path / "merged.json"}, *outputs
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
    with pytest.raises(InputError, match=r"merged\.json: all corpora have 102 pairs, but the total is 51"):
        tabulate_funnel([], {"de": tmp_path / "merged.json"}, tmp_path / "f.csv", tmp_path / "o.csv")


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

    monkeypatch.setattr("paraphrastic.corpus.select.build_filters", with_another)
    scored = write_scored(tmp_path / "s", [(f"source {n}", f"target {n}") for n in range(100)], [0.5] * 100)
    counts = {name: tmp_path / f"{name}.json" for name in ("selected", "merged")}
    select_pairs(
        [scored], tmp_path / "selected.parquet", counts=counts["selected"], dropped=tmp_path / "dropped.tsv",
        languages=("en", "de"), settings={}, preparation={}, seed=1,
    )  # fmt: skip
    merge_pairs(
        [tmp_path / "selected.parquet"], tmp_path / "merged.parquet", counts=counts["merged"],
        contaminated=[], drop=[], duplicates="keep_one", near_duplicates=None, max_pairs=[20], weights=[1],
        seed=1, memory_mb=200, threads=1, temporary=tmp_path / "temporary",
    )  # fmt: skip
    tables = tmp_path / "funnel.csv", tmp_path / "overlap.csv"
    tabulate_funnel([(("de", "mine"), counts["selected"])], {"de": counts["merged"]}, *tables)
    assert tables[0].read_text().splitlines() == [
        "model,corpus,read,empty,odd_line,duplicates,near_duplicates,contaminated,capped,kept",
        "de,mine,100,0,75,0,0,0,5,20",
    ]
    assert tables[1].read_text().splitlines()[1:] == ["de,mine,empty,0,0", "de,mine,odd_line,0,75"]
    plot_funnel(*tables, [tmp_path / "funnel.svg"])
    texts = ["".join(each.itertext()).strip() for each in ElementTree.parse(tmp_path / "funnel.svg").iter()]
    assert {"odd line", "75.0", "over the cap", "20.0"} <= set(texts)
    assert "odd line" in map(words, read_table(tables[0]).columns)
    (line,) = surprises(tmp_path, None, None, lambda name: name == "funnel")
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
