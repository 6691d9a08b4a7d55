"""Test how words and trigrams are spelled, and models of them from the vocabulary to raw text."""

import random
import unicodedata

import numpy as np
import pytest
import sentencepiece
from pair_files import write_pairs
from small_corpus import sentence_pairs, trained_vocabulary

from paraphrastic.base.units import spell
from paraphrastic.model.average import AverageEncoder
from paraphrastic_pipeline.training.dataset import UnitVocabulary, encode_dataset
from paraphrastic_pipeline.training.model_files import tables_by_language
from paraphrastic_pipeline.training.pair_dataset import PairDataset


def test_words():
    assert spell(['He said: "Don\'t go  (yet)!"', "", "3.5 %"], "word") == [
        'He said : " Don\'t go ( yet ) ! "', "", "3.5 %"
    ]  # fmt: skip


def test_trigrams():
    assert spell(["ab c", "a", "", " \u00a0", "ﬁn ¨"], "trigram") == [
        "␠ab ab␠ b␠c ␠c␠", "␠a␠", "", "", "␠fi fin in␠ n␠\u0308 ␠\u0308␠"
    ]  # fmt: skip


def test_characters_that_sentencepiece_turns_into_spaces_are_spaces_in_trigrams():
    for invisible in "\u061c\u200b\u200c\u200e\u200f\u2581\ufeff\ufffd":
        assert spell([f"ab{invisible}c"], "trigram") == spell(["ab c"], "trigram")


def test_trigrams_are_those_of_a_sentence_with_a_space_at_both_ends():
    generator = random.Random(1)
    # Among them are wide and combining characters, ligatures, and several kinds of white space.
    characters = "abcdeé.,!1ａﬁ½中\u0301\u0308 \t\u00a0\u3000"
    texts = ["".join(generator.choices(characters, k=generator.randrange(15))) for _ in range(500)]
    for text, spelled in zip(texts, spell(texts, "trigram"), strict=True):
        sentence = " ".join(unicodedata.normalize("NFKC", text).split())
        padded = f" {sentence} "
        expected = [padded[start : start + 3] for start in range(len(padded) - 2)]
        assert spelled.split() == [trigram.replace(" ", "␠") for trigram in expected]


def test_subwords_are_left_to_sentencepiece():
    assert spell(["Don't go!"], "subword") == ["Don't go!"]


@pytest.mark.parametrize(("unit", "size"), [("word", 60), ("trigram", 300)])
def test_from_pairs_to_raw_text(tmp_path, unit, size):
    """A model of the most frequent units embeds raw text as the average of the units that it knows."""
    lines = sentence_pairs(200)
    pairs = write_pairs(tmp_path / "pairs.parquet", lines)
    dataset = tmp_path / "train.h5"
    vocabulary = trained_vocabulary(pairs, tmp_path / "sentencepiece.model", unit=unit, size=size)
    encode_dataset(pairs, [UnitVocabulary(unit, (vocabulary,), None)], dataset, threads=1)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(vocabulary))
    text = lines[0][0]
    expected = [processor.piece_to_id("▁" + piece) for piece in spell([text], unit)[0].split()]
    with PairDataset(dataset) as data:
        source, _ = data.read(0, 1)
        known = [piece for piece in expected if piece != processor.unk_id()]
        assert len(known) > 3
        assert data.units[0].pieces[source.tokens].tolist() == known
        table = np.random.default_rng(1).normal(size=(data.units[0].n_rows, 5)).astype(np.float32)
        (tensors,) = tables_by_language(table, data.units[0])
    config = {"lowercase": True, "segmentation": {}, "folding": {}, "unit": unit}
    model = AverageEncoder(*tensors, processor, config)
    vectors = model.embed_raw_text([text.upper(), "", "ωξψ"])
    np.testing.assert_allclose(vectors[0], tensors[0][known].mean(axis=0), rtol=1e-5)
    assert not vectors[1].any()
    np.testing.assert_array_equal(vectors[2], tensors[2])
