"""Test the scores of pairs, which are columns of a Parquet file."""

from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pair_files import write_pairs
from test_corpus_tokens import punkt_archive

from paraphrastic_pipeline.corpus import blocks
from paraphrastic_pipeline.corpus.score import SCORED_SCHEMA, score_pairs

PLAIN = {"segmentation": {}, "folding": {}, "lowercase": True}


@pytest.fixture
def lid(mirror):
    return mirror / "dl.fbaipublicfiles.com/fasttext/supervised-models/lid.176.ftz"


def score(folder, pairs, languages, **settings):
    """The columns of scored pairs."""
    preparation = {name: settings.pop(name, default) for name, default in PLAIN.items()}
    path = pairs if isinstance(pairs, Path) else write_pairs(folder / "pairs.parquet", pairs)
    score_pairs(path, folder / "scored.parquet", languages=languages, preparation=preparation, **settings)
    table = pq.read_table(folder / "scored.parquet")
    assert table.schema == SCORED_SCHEMA
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
        ({"punkt": "punkt.zip"}, ("the old cafe\u0301 is open", "old café is open"), 0),
        ({"punkt": "punkt.zip"}, ("I don't know. Go!", "I do n't know . Go!"), 1),
        ({}, ("彼は本を読みます", "彼は紙を読みます"), 1 / 2),
        ({"words": "white_space"}, ("彼は本を読みます", "彼は紙を読みます"), 0),
    ],
)
def test_words_of_the_overlap(tmp_path, settings, pair, overlap):
    if "punkt" in settings:
        settings = {"punkt": punkt_archive(tmp_path / settings["punkt"])}
    found = score(tmp_path, [pair], ("en", "en"), **settings)
    assert found["trigram_overlap"] == [pytest.approx(overlap)]


def test_characters_are_words_in_scripts_without_spaces(tmp_path):
    texts = ["先生は黒板に字を書きます。", "元気 です か", "寒すぎて\u200b外に出られませんでした。"]
    pairs = [("How are you?", text) for text in texts]
    found = score(tmp_path, pairs, ("en", "ja"))
    assert found["target_tokens"] == found["target_characters"] == [12, 5, 15]
    assert (found["source_tokens"], found["source_characters"]) == ([3] * 3, [0] * 3)
    assert score(tmp_path, pairs, ("en", "ja"), words="white_space")["target_tokens"] == [1, 3, 2]


@pytest.mark.parametrize(("mode", "tokens"), [("none", 1), ("accurate", 4), ("full", 7)])
@pytest.mark.parametrize("identified", [False, True])
def test_the_words_of_a_segmenter_count_if_white_space_does(tmp_path, lid, mode, tokens, identified):
    for words, expected in (("script", (8, 8)), ("white_space", (tokens, 0))):
        settings = {"segmentation": {"zh": mode}, "words": words, "identifier": lid if identified else None}
        found = score(tmp_path, [("We came.", "我们来到清华大学。")], ("en", "zh"), **settings)
        assert (found["target_tokens"][0], found["target_characters"][0]) == expected
        # The language is identified before, and the text itself is segmented when it is selected.
        assert found["target_language"] == (["zh"] if identified else [None])
        assert found["target"] == ["我们来到清华大学。"]


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


def test_blocks_and_shards_are_the_corpus_in_parts(tmp_path, lid, monkeypatch):
    texts = ["The dog runs.", "Der Hund läuft.", "我们来到清华大学。", ""]
    pairs = [(f"{texts[n % 4]} {n}", f"{texts[n % 3]} {n // 2}") for n in range(50)]
    path = write_pairs(tmp_path / "p", pairs, row_groups=12)

    def scored(number=1, count=1):
        return score(tmp_path, path, ("en", "en"), identifier=lid, shard=(number, count))

    whole = scored()
    monkeypatch.setattr(blocks, "READ_ROWS", 5)
    assert scored() == whole
    for count in (2, 3, 7):
        parts = [scored(number, count) for number in range(1, count + 1)]
        assert {name: [*chain.from_iterable(part[name] for part in parts)] for name in whole} == whole
