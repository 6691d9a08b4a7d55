"""Test the scores of pairs, which are columns of a Parquet file."""

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pair_files import write_pairs
from test_corpus_tokens import punkt_archive

from paraphrastic_pipeline.corpus import blocks
from paraphrastic_pipeline.corpus.score import SCORED_SCHEMA, TextSettings, score_pairs

PLAIN = TextSettings(segmentation={}, folding={}, lowercase=True)


@pytest.fixture
def lid(mirror: Path) -> Path:
    return mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz"


def score(
    folder: Path, pairs: list[tuple[str, str]] | Path, languages: tuple[str, str], **settings: Any
) -> dict[str, list[Any]]:
    """The columns of scored pairs."""
    others = {name: settings.pop(name) for name in ("identifier", "punkt", "shard") if name in settings}
    path = pairs if isinstance(pairs, Path) else write_pairs(folder / "pairs.parquet", pairs)
    text = replace(PLAIN, **settings)
    score_pairs(
        path, folder / "scored.parquet", languages=languages, text=text, **{"identifier": None, **others}
    )
    table = pq.read_table(folder / "scored.parquet")
    assert table.schema == SCORED_SCHEMA
    assert (
        table.select(["source", "target", "line"]) == pq.read_table(path).select(["source", "target", "line"])
        or others
    )
    return table.to_pydict()


def test_without_an_identifier_only_what_needs_none_is_scored(tmp_path):
    found = score(tmp_path, [("Eine  Katze .", "A cat."), ("\ufeff \u200b", " \x01")], ("de", "en"))
    counts = {name: found.pop(name) for name in list(found)[3:7]}
    assert list(counts.values()) == [[3, 0], [2, 0], [0, 0], [0, 0]]
    assert all(found[name] == [None, None] for name in list(found)[3:])


def test_the_corpuss_own_scores_are_passed_on_and_overlap_is_of_paraphrases_only(tmp_path):
    path = tmp_path / "p"
    own = {"paraphrase_score": pa.array([0.25, None]), "translation_score": pa.array([-1.5, -2.5])}
    write_pairs(path, [("a b c d", "A b c"), ("a", "b")], **own)
    for languages, expected in ((("en", "en"), ([1, 0], [1, 1])), (("en", "de"), ([None] * 2, [None] * 2))):
        found = score(tmp_path, path, languages)
        assert (found["trigram_overlap"], found["changed_words"]) == expected
        assert (found["paraphrase_score"], found["translation_score"]) == ([0.25, None], [-1.5, -2.5])


@pytest.mark.parametrize(
    ("language", "folding", "source", "target"),
    [
        ("ar", "marks", "بِسْمِ ٱللَّهِ ٱلرَّحْمَٰنِ", "بسم الله الرحمن"),
        ("ru", "yo", "Её ёлка ещё зелёная", "Ее елка еще зеленая"),
        ("tr", "dotted", "İyi günler İstanbul halkı", "iyi günler istanbul halkı"),
        ("tr", "dotless", "Kırmızı ışık çok yakın", "KIRMIZI IŞIK ÇOK YAKIN"),
        ("fr", None, "Un cafe\u0301 s'il te plai\u0302t", "un café s'il te plaît"),
        ("ja", None, "彼は 本を読む", "彼は本を読む"),
    ],
)
def test_sides_that_are_written_alike_are_the_same(tmp_path, language, folding, source, target):
    folded = {language: folding} if folding else {}
    found = score(tmp_path, [(source, target)], (language, language), folding=folded)
    assert (found["trigram_overlap"], found["changed_words"]) == ([1], [0])
    if folding:
        assert score(tmp_path, [(source, target)], (language, language))["changed_words"] > [0]


@pytest.mark.parametrize(
    ("settings", "pair", "overlap"),
    [
        ({}, ("the old cafe\u0301 is open", "old café is open"), 1),
        ({"overlap_tokenizer": "treebank"}, ("the old cafe\u0301 is open", "old café is open"), 0),
        ({"overlap_tokenizer": "treebank"}, ("I don't know. Go!", "I do n't know . Go!"), 1),
        ({}, ("I don't know. Go!", "I do n't know . Go!"), 1 / 2),
        ({}, ("彼は本を読みます", "彼は紙を読みます"), 1 / 2),
        ({"words": "white_space"}, ("彼は本を読みます", "彼は紙を読みます"), 0),
    ],
)
def test_words_of_the_overlap(tmp_path, settings, pair, overlap):
    punkt = punkt_archive(tmp_path / "punkt.zip")
    found = score(tmp_path, [pair], ("en", "en"), punkt=punkt, **settings)
    assert found["trigram_overlap"] == [pytest.approx(overlap)]


def test_words_are_characters_in_scripts_without_spaces_or_what_the_segmenter_makes(tmp_path, lid):
    pairs = [
        ("How are you?", text)
        for text in ("先生は黒板に字を書きます。", "元気 です か", "寒すぎて\u200b外に出られませんでした。")
    ]
    found = score(tmp_path, pairs, ("en", "ja"))
    assert found["target_tokens"] == found["target_characters"] == [12, 5, 15]
    assert (found["source_tokens"], found["source_characters"]) == ([3] * 3, [0] * 3)
    assert score(tmp_path, pairs, ("en", "ja"), words="white_space")["target_tokens"] == [1, 3, 2]
    pairs, languages, tokens = [("We came.", "我们来到清华大学。")], ("en", "zh"), {}
    for mode in ("none", "accurate", "full"):
        for words in ("script", "white_space"):
            settings = {"segmentation": {"zh": mode}, "words": words, "identifier": lid}
            found = score(tmp_path, pairs, languages, **settings)
            tokens[mode, words] = (found["target_tokens"][0], found["target_characters"][0])
            # The language is identified before, and the text itself is segmented when it is selected.
            assert (found["target_language"], found["target"]) == (["zh"], ["我们来到清华大学。"])
            assert (
                found["target_probability"]
                == score(tmp_path, pairs, languages, identifier=lid)["target_probability"]
            )
    assert tokens == {
        ("none", "script"): (8, 8), ("none", "white_space"): (1, 0), ("accurate", "script"): (8, 8),
        ("accurate", "white_space"): (4, 0), ("full", "script"): (8, 8), ("full", "white_space"): (7, 0),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("language", "text", "folding", "model", "original"),
    [
        ("de", "WIR MÜSSEN DAS GESCHÄFT UM SECHS UHR SCHLIESSEN.", {}, 1, 0),
        ("ar", "إِيَّاكَ نَعْبُدُ وَإِيَّاكَ نَسْتَعِينُ", {"ar": "marks"}, 1, 1),
        # All labels that stand for a language are added up.
        ("cmn", "我们来到清华大学。", {}, 1, 1),
        ("nb", "Jeg vil gjerne lære norsk, men det er vanskelig å snakke.", {}, 1, 1),
        ("xx", "Jeg vil gjerne lære norsk.", {}, None, None),
    ],
)
def test_languages_are_identified_as_the_model_sees_the_text(
    tmp_path, lid, language, text, folding, model, original
):
    for identify, expected in (("model", model), ("original", original)):
        settings = {"identifier": lid, "folding": folding, "identify": identify}
        found = score(tmp_path, [("A text.", text)], ("en", language), **settings)
        probability = found["target_probability"][0]
        assert (probability if probability is None else round(probability)) == expected
        assert found["source_language"] == ["en"]
        assert found["source_probability"] == found["source_confidence"]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_blocks_and_shards_are_the_corpus_in_parts(tmp_path, lid, monkeypatch, count):
    texts = ["The dog runs.", "Der Hund läuft.", "我们来到清华大学。", ""]
    pairs = [(f"{texts[n % 4]} {n}", f"{texts[n % 3]} {n // 2}") for n in range(50)]
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 12)
    path = tmp_path / "p"
    with blocks.write_blocks(path, blocks.PAIR_SCHEMA) as writer:
        for batch in pq.read_table(write_pairs(tmp_path / "all", pairs)).to_batches():
            writer.write(batch)
        writer.note("unreadable", 3)
    whole = score(tmp_path, path, ("en", "en"), identifier=lid)
    written = (tmp_path / "scored.parquet").read_bytes()
    assert blocks.noted(tmp_path / "scored.parquet", "unreadable") == 3
    monkeypatch.setattr(blocks, "READ_ROWS", 5)
    assert score(tmp_path, path, ("en", "en"), identifier=lid) == whole
    assert (tmp_path / "scored.parquet").read_bytes() == written
    parts, noted = [], []
    for number in range(count):
        parts.append(score(tmp_path, path, ("en", "en"), identifier=lid, shard=(number + 1, count)))
        noted.append(blocks.noted(tmp_path / "scored.parquet", "unreadable"))
    assert {name: list(chain.from_iterable(part[name] for part in parts)) for name in whole} == whole
    assert noted == [3] + [0] * (count - 1)
