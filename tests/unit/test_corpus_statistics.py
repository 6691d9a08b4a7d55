"""Test the statistics, parses and tables of the corpora."""

import csv
import gzip
import json
import math
import statistics
import sys
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from paraphrastic_pipeline.corpus.corpus_tables import tabulate_corpora
from scored_corpus import write_scored

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import blocks
from paraphrastic_pipeline.corpus.statistics import (
    WordStatistics,
    describe_corpus,
    entropy,
    parse_entropy,
    top_levels,
)


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
    figures = [result["paraphrase_score"], *(side["length"] for side in result["sides"].values())]
    assert all(value == round(value, 6) for each in figures for value in (each["mean"], each["std"]))
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
    names, statistics, samples = zip(*described, strict=True)
    files = (statistics, samples, list(merged.values()), tmp_path / "table.csv")
    tabulate = partial(tabulate_corpora, *files, corpora=names, models=list(merged))
    tabulate()
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
    tabulate(documents=[documents], languages=["en"])
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
