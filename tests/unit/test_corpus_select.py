"""Test the thresholds, reasons and counts of the selection, and its sample of dropped pairs."""

import csv
import json
from hashlib import md5
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from paraphrastic_pipeline.corpus.filter_files import FilterFiles
from scored_corpus import PAPER, block

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.corpus import blocks, sampling
from paraphrastic_pipeline.corpus.readers import CorpusFile, extract_corpus
from paraphrastic_pipeline.corpus.score import TextSettings, score_pairs
from paraphrastic_pipeline.corpus.select import select_pairs


def select(tmp_path, pairs, settings, *, cuts=(), name="out.parquet", **changes):
    """Select from pairs whose scores are in one file, or in shards that end at these `cuts` and the end."""
    shards = []
    for start, stop in pairwise([0, *cuts, len(pairs)]):
        shards.append(tmp_path / ("scored.parquet" if not cuts else f"{len(shards)}.parquet"))
        pq.write_table(pa.Table.from_batches([pairs]).slice(start, stop - start), shards[-1])
    files = FilterFiles(*(tmp_path / each for each in (name, "counts.json", "dropped.tsv")))
    options = {"languages": ("en", "en"), "preparation": {"lowercase": False}, "seed": 1, **changes}
    counts = select_pairs(shards, files, settings=settings, **options)
    assert counts == json.loads(files.counts.read_text())
    with files.examples.open(encoding="utf-8", newline="") as file:
        dropped = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return counts, pq.read_table(files.pairs).to_pylist(), dropped


def test_reasons_counts_and_sample(tmp_path):
    pairs = block(
        source=["  Kept\u2028ONE ", "", "b", "c", "tab\tbed", "e"],
        source_tokens=[10, 0, 60, 60, 10, 10],
        target_tokens=[10, 3, 60, 60, 10, 10],
        source_language=["en", "en", "de", "de", "de", "en"],
        trigram_overlap=[0.7, 0, 0.9, 0, 0.9, 0.1],
        paraphrase_score=[0.4, 0.1, 0.1, 0.8, 0.8, None],
        line=[11, 12, 13, 14, 15, 16],
    )
    counts, kept, dropped = select(tmp_path, pairs, PAPER)
    assert counts == {
        "read": 6,
        "kept": 1,
        "dropped": {"empty": 1, "length": 2, "language": 1, "trigram_overlap": 0, "paraphrase_score": 1},
        "fails": {"empty": 1, "length": 3, "language": 3, "trigram_overlap": 2, "paraphrase_score": 3},
        "fails_both": {
            "empty": {"length": 1, "language": 0, "trigram_overlap": 0, "paraphrase_score": 1},
            "length": {"language": 2, "trigram_overlap": 1, "paraphrase_score": 2},
            "language": {"trigram_overlap": 2, "paraphrase_score": 1},
            "trigram_overlap": {"paraphrase_score": 1},
        },
    }
    assert kept == [{"source": "Kept ONE", "target": "target 0", "line": 11}]
    assert [(row["reason"], row["line"]) for row in dropped] == [
        ("empty", "12"),
        ("length", "13"),
        ("length", "14"),
        ("language", "15"),
        ("paraphrase_score", "16"),
    ]
    assert dropped[3]["source"] == "tab bed"
    assert dropped[3]["trigram_overlap"] == "0.9000"
    assert dropped[4]["paraphrase_score"] == ""


def test_a_large_loss_is_logged(tmp_path, caplog):
    select(tmp_path, block(source_tokens=[10, 60, 60, 10, 10], target_tokens=[10, 60, 60, 10, 10]), PAPER)
    (message,) = caplog.messages
    assert message.startswith("warning: The filters drop 40% of ")
    assert message.endswith("all because of their length; the setting is selection.paraphrase.length.")
    caplog.clear()
    select(tmp_path, block(source_tokens=[10] * 5), PAPER)
    assert caplog.messages == []


def noise(size=500) -> pa.RecordBatch:
    draw = np.random.default_rng(2)
    return block(
        source_tokens=draw.integers(0, 60, size).tolist(),
        trigram_overlap=draw.random(size).tolist(),
        paraphrase_score=draw.random(size).tolist(),
    )


def test_sample_is_seeded_and_of_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(sampling, "EXAMPLES", 7)
    samples = [select(tmp_path, noise(), PAPER, seed=seed)[2] for seed in (1, 1, 2)]
    assert samples[0] == samples[1] != samples[2]
    reasons = [row["reason"] for row in samples[0]]
    for reason in ("empty", "trigram_overlap", "paraphrase_score"):
        assert reasons.count(reason) == 7


def test_small_blocks_give_the_same_bytes(tmp_path, monkeypatch):
    written = []
    for rows in (3, 65_536):
        monkeypatch.setattr(blocks, "READ_ROWS", rows)
        select(tmp_path, noise(), PAPER)
        names = ("out.parquet", "counts.json", "dropped.tsv")
        written.append([(tmp_path / name).read_bytes() for name in names])
    assert written[0] == written[1]


def test_nothing_kept(tmp_path):
    pairs = block(source_tokens=[0, 60, 60], target_tokens=[5, 60, 60])
    with pytest.raises(InputError) as caught:
        select(tmp_path, pairs, PAPER)
    path = tmp_path / "scored.parquet"
    assert (
        str(caught.value)
        == f"{path}: no pair is left of 3 read; dropped: empty 1, length 2; see selection.paraphrase.length"
    )
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(InputError, match=r"length 2; see selection\.bitext\.length$"):
        select(tmp_path, pairs, PAPER, is_text=True)


def test_no_pairs_at_all(tmp_path):
    with pytest.raises(InputError, match=r"scored\.parquet: the corpus is empty"):
        select(tmp_path, block(source=[]), PAPER)
    with pytest.raises(InputError, match=r"scored\.parquet: the corpus is empty"):
        ranked(tmp_path, block(source=[]), 0.8, 1)


@pytest.mark.parametrize(
    ("column", "setting", "cause"),
    [
        (
            "paraphrase_score",
            "paraphrase_score",
            "has no paraphrase score; set selection.paraphrase.paraphrase_score to null",
        ),
        (
            "trigram_overlap",
            "trigram_overlap",
            "has no trigram overlap, as its sides differ in language; "
            "set selection.paraphrase.trigram_overlap to null",
        ),
        (
            "source_language",
            "language",
            "has no language identification; set selection.paraphrase.language to null",
        ),
    ],
)
def test_threshold_on_a_score_that_the_corpus_does_not_have(tmp_path, column, setting, cause):
    pairs = block(**{column: [None, None]})
    with pytest.raises(InputError, match=rf"scored\.parquet: {cause}"):
        select(tmp_path, pairs, PAPER)
    assert select(tmp_path, pairs, {**PAPER, setting: None})[0]["kept"] == 2


def test_of_several_scores_that_the_corpus_does_not_have_the_first_filters_is_named(tmp_path):
    pairs = block(trigram_overlap=[None, None], paraphrase_score=[None, None])
    with pytest.raises(InputError, match=r"scored\.parquet: has no trigram overlap, "):
        select(tmp_path, pairs, PAPER)


def test_a_filter_of_bitext_is_named_by_its_key(tmp_path):
    settings = {"language": {"rule": "probability", "min_probability": 0.1}}
    unknown = block(source_language=[None], source_probability=[None])
    with pytest.raises(InputError, match=r"set selection\.bitext\.language to null"):
        select(tmp_path, unknown, settings, languages=("en", "de"))


@pytest.mark.parametrize(("languages", "kind"), [(("en", "xx"), "bitext"), (("xx", "xx"), "paraphrase")])
def test_a_language_that_the_identifier_does_not_know(tmp_path, languages, kind):
    pairs = block(source_tokens=[10, 0], target_probability=[None, None])
    settings = {"language": {"rule": "probability", "min_probability": 0.1}}
    with pytest.raises(InputError) as caught:
        select(tmp_path, pairs, settings, languages=languages)
    assert str(caught.value).endswith(
        "no pair is left of 2 read; dropped: empty 1, language 1; the language identifier does not know xx, "
        f"as it has no label xx; set selection.{kind}.language to null, or give an identifier that knows it"
    )


def test_every_pair_is_in_another_language(tmp_path):
    pairs = block(target_probability=[0.0, 0.05])
    settings = {"language": {"rule": "probability", "min_probability": 0.1}}
    with pytest.raises(InputError) as caught:
        select(tmp_path, pairs, settings, languages=("en", "zh"))
    assert str(caught.value).endswith(
        "dropped: language 2; no text has enough of the labels en and wuu+yue+zh; set selection.bitext."
        "language to null to keep text in other languages"
    )


def test_a_pair_without_a_score_fails_where_others_have_one(tmp_path):
    counts, _, _ = select(tmp_path, block(paraphrase_score=[None, 0.9]), PAPER)
    assert counts["dropped"]["paraphrase_score"] == 1


def test_shards_are_selected_as_one_corpus(tmp_path):
    pairs = block(source_tokens=[10, 1, 10, 1, 10], paraphrase_score=[0.9, 0.9, None, None, 0.1])
    whole = select(tmp_path, pairs, PAPER)
    assert select(tmp_path, pairs, PAPER, cuts=(2, 2, 4), name="shards.parquet") == whole
    assert (tmp_path / "shards.parquet").read_bytes() == (tmp_path / "out.parquet").read_bytes()


def test_further_columns_are_kept_with_their_rows(tmp_path):
    pairs = block(source=["A", "x", "C"], source_tokens=[1, 0, 1], paraphrase_score=[0.5, 1, 0.25])
    select(tmp_path, pairs, {}, keep=["paraphrase_score", "translation_score"])
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema.types[3:] == [pa.float64(), pa.float64()]
    assert table.drop_columns("target").to_pydict() == {
        "source": ["A", "C"],
        "line": [1, 3],
        "paraphrase_score": [0.5, 0.25],
        "translation_score": [None, None],
    }


def ranked(tmp_path, pairs, low, high, **changes):
    settings = {"rank": {"by": "paraphrase_score", "min": low, "max": high}}
    return [row["line"] for row in select(tmp_path, pairs, settings, **changes)[1]]


@pytest.mark.parametrize(("low", "high", "lines"), [(0.8, 1, [2, 5]), (0, 0.1, [7]), (0.3, 0.5, [3, 9])])
def test_tenths_of_a_ranking(tmp_path, low, high, lines):
    scores = [0.5, 0.95, 0.3, 0.6, 0.9, 0.7, -0.2, 0.2, 0.4, 0.1]
    assert ranked(tmp_path, block(paraphrase_score=scores), low, high) == lines


def test_pairs_without_a_score_have_no_rank(tmp_path):
    pairs = block(paraphrase_score=[None, 0.1, 0.2, float("nan"), 0.3, 0.4])
    assert ranked(tmp_path, pairs, 0.5, 1) == [5, 6]
    counts, _, _ = select(tmp_path, pairs, {"rank": {"by": "paraphrase_score", "min": 0, "max": 1}})
    assert counts["dropped"] == {"empty": 0, "rank": 2}


def test_ranks_of_equal_scores_are_random(tmp_path):
    pairs = block(paraphrase_score=[0.5] * 1000)
    kept = [ranked(tmp_path, pairs, 0.8, 1, seed=seed) for seed in (1, 1, 2)]
    assert kept[0] == kept[1] != kept[2]
    assert [len(lines) for lines in kept] == [200] * 3
    assert 400 < np.mean(kept[0]) < 600
    # The range begins among equals and ends among others.
    pairs = block(paraphrase_score=[0.1] * 40 + [0.5] * 60)
    lines = ranked(tmp_path, pairs, 0.2, 0.7)
    assert (sum(line <= 40 for line in lines), len(lines)) == (20, 50)
    assert len(ranked(tmp_path, pairs, 0.1, 0.3)) == 20


def test_the_whole_corpus_is_ranked(tmp_path, monkeypatch):
    """The ranking has the pairs that other filters drop, too, and does not depend on blocks and shards."""
    pairs = noise()
    scores = np.array(pairs["paraphrase_score"])
    best = {int(n) + 1 for n in np.argsort(scores)[400:]}
    expected = sorted(best & {n + 1 for n in range(500) if pairs["source_tokens"][n].as_py()})
    assert ranked(tmp_path, pairs, 0.8, 1) == expected
    monkeypatch.setattr(blocks, "READ_ROWS", 7)
    assert ranked(tmp_path, pairs, 0.8, 1, cuts=(120, 121)) == expected


def test_a_corpus_without_the_score_to_rank_by(tmp_path):
    with pytest.raises(
        InputError, match=r"has no paraphrase score to rank by; set selection\.paraphrase\.rank"
    ):
        ranked(tmp_path, block(paraphrase_score=[None, None]), 0.8, 1)


def test_raw_tells_copies_of_a_line_from_pairs_that_become_equal(tmp_path):
    pairs = block(source=["A  b", "a b", "A  b", "x"], target=["C"] * 3 + ["y"])
    _, rows, _ = select(tmp_path, pairs, {}, preparation={"lowercase": True}, raw=True)
    assert {row["source"] for row in rows[:3]} == {"a b"}
    assert rows[0]["raw"] == rows[2]["raw"] == md5(b"A  b\tC").digest() != rows[1]["raw"]


def test_raw_is_of_the_text_before_chinese_is_segmented(tmp_path):
    pairs = block(source=["a"] * 3, target=["我们 都认识他", "我们都认识他", "我们都认识他"])
    preparation = {"segmentation": {"zh": "full"}}
    _, rows, _ = select(tmp_path, pairs, {}, languages=("en", "zh"), preparation=preparation, raw=True)
    assert {row["target"] for row in rows} == {"我们 都 认识 他"}
    raw = [md5(f"a\t{target}".encode()).digest() for target in pairs["target"].to_pylist()]
    assert [row["raw"] for row in rows] == raw


def test_text_is_prepared_by_the_models_settings_whatever_its_language(tmp_path):
    """A model of Turkish and Chinese folds and segments in use, too, in whatever pair a sentence is."""
    preparation = {"segmentation": {"zh": "accurate"}, "folding": {"tr": "dotted"}, "lowercase": True}
    pairs = block(source=["İzmir is a city"], target=["我们来到İzmir"])
    _, (row,), _ = select(tmp_path, pairs, {}, languages=("en", "zh"), preparation=preparation)
    assert (row["source"], row["target"]) == ("izmir is a city", "我们 来到 izmir")


def test_multi30k_at_the_papers_lengths(tmp_path, mirror):
    folder = mirror / "raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
    files = [CorpusFile(folder / f"train.{code}.gz", (code,)) for code in ("en", "de")]
    pairs, scores = tmp_path / "pairs.parquet", tmp_path / "scored.parquet"
    extract_corpus("aligned", files, ("en", "de"), pairs)
    text = TextSettings(segmentation={}, folding={}, lowercase=True)
    score_pairs(pairs, scores, languages=("en", "de"), identifier=None, word_vectors=None, text=text)
    counts = select_pairs(
        [scores],
        FilterFiles(tmp_path / "out.parquet", tmp_path / "counts.json", tmp_path / "dropped.tsv"),
        languages=("en", "de"),
        settings={"length": {"min": 3, "max": 100, "count": "both"}},
        preparation={"lowercase": True},
        seed=1,
    )
    assert counts["dropped"] == {"empty": 0, "length": 5}
