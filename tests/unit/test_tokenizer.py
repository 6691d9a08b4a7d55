"""Test that tokenizing word by word from memory gives the pieces that sentencepiece gives."""

import io
import random
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from small_corpus import sentence_pairs

from paraphrastic.model import tokenizer as module
from paraphrastic.model.tokenizer import Tokenizer, Tokens, is_cut_at_spaces
from paraphrastic.model.units import spell

SCRIPTS = [
    "the dog", "Größe", "naïve", "Ångström", "ΑΣ", "ΟΔΟΣ", "İstanbul", "ёлка", "Ёж", "שלום", "مُحَمَّد",
    "हिन्दी", "ไทย", "日本語テキスト", "狗", "𠀋", "👩‍👩‍👧", "🇩🇪", "e\u0301", "\u0301", "ﬁ", "①", "½",
    "ｆｕｌｌ", "ﷺ", "▁", "a▁b", "▁▁", "\u00a0", "x\u00a0y", "\u3000", "\u200b", "a\u200bb", "\u200d",
    "\ufeff", "\t", "a\tb", "\x00", "\x07", "\r", "\n", "a\nb", "\u2028", "don't", "U.S.A.", "3.14", "--",
    "<unk>", "<s>", "\ufffd", "a" * 63, "a" * 64, "a" * 65, "ä" * 40, "x" * 5000,
]  # fmt: skip


def train(kind: str, **options: object) -> sentencepiece.SentencePieceProcessor:
    proto = io.BytesIO()
    text = [sentence for pair in sentence_pairs(300) for sentence in pair] + SCRIPTS
    settings = {"vocab_size": 300, "hard_vocab_limit": False, "minloglevel": 2, "character_coverage": 0.98}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for line in text if "\n" not in line and "\x00" not in line]),
        model_writer=proto,
        model_type=kind,
        **(settings | options),
    )
    return sentencepiece.SentencePieceProcessor(model_proto=proto.getvalue())


def tokenizer_of(processor: sentencepiece.SentencePieceProcessor, unit: str = "subword") -> Tokenizer:
    """A tokenizer for which all pieces count."""
    return Tokenizer(processor, np.ones(processor.get_piece_size(), np.bool_), unit)


def random_texts(count: int, seed: int = 0) -> list[str]:
    generator = random.Random(seed)
    words = [word for pair in sentence_pairs(50, seed=seed) for text in pair for word in text.split()]
    texts = ["", " ", "  ", " a", "a ", " a  b "]
    while len(texts) < count:
        parts = [
            generator.choice(SCRIPTS) if generator.random() < 0.4 else generator.choice(words)
            for _ in range(generator.randint(0, 12))
        ]
        parts += ["".join(chr(generator.randrange(1, 0xD800)) for _ in range(3))] * (generator.random() < 0.2)
        texts.append(generator.choice([" ", "  ", " \u0301"]).join(parts))
    # Preparation leaves no ends of lines.
    return [text.replace("\n", " ") for text in texts]


def assert_same_pieces(found: Tokens, expected: list[list[int]]) -> None:
    """Assert equal pieces; the order may differ if sentencepiece breaks a tie at random (aa a or a aa)."""
    own = found.lists()
    assert [sorted(pieces) for pieces in own] == [sorted(pieces) for pieces in expected]
    assert sum(pieces != other for pieces, other in zip(own, expected, strict=True)) <= len(own) / 10


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("unigram", {}),
        ("bpe", {}),
        ("char", {}),
        ("word", {"vocab_size": 80}),
        ("unigram", {"byte_fallback": True, "vocab_size": 600}),
        ("unigram", {"normalization_rule_name": "identity"}),
        ("unigram", {"normalization_rule_name": "nfkc_cf"}),
        ("unigram", {"user_defined_symbols": ["dog", "▁cat"]}),
    ],
)
def test_pieces_are_those_of_sentencepiece(kind: str, options: dict, monkeypatch: pytest.MonkeyPatch) -> None:
    processor = train(kind, **options)
    known = np.random.default_rng(0).random(processor.get_piece_size()) < 0.8
    # The unknown piece never occurs in training, so it never counts.
    known[processor.unk_id()] = False
    tokenizer = Tokenizer(processor, known, "subword")
    assert tokenizer.by_word
    # The table is so small that it starts anew again and again.
    monkeypatch.setattr(module, "MAX_WORDS", 200)
    texts = random_texts(1500)
    for start in range(0, len(texts), 100):
        block = texts[start : start + 100]
        found = tokenizer.tokenize(block)
        ids = processor.encode(block, out_type=int)
        assert_same_pieces(found, [[piece for piece in text if known[piece]] for text in ids])
        assert found.has_text.tolist() == [len(text) > 0 for text in ids]


@pytest.mark.parametrize(
    "options",
    [
        {"add_dummy_prefix": False},
        {"remove_extra_whitespaces": False},
        {"treat_whitespace_as_suffix": True},
        {"split_by_whitespace": False},
        {"user_defined_symbols": ["the dog"]},
    ],
)
def test_models_that_look_over_spaces_are_tokenized_whole(options: dict) -> None:
    processor = train("unigram", **options)
    tokenizer = tokenizer_of(processor)
    assert not tokenizer.by_word
    texts = random_texts(200)
    assert tokenizer.tokenize(texts).lists() == processor.encode(texts, out_type=int)


def test_a_normalization_of_ones_own_is_not_trusted(tmp_path: Path) -> None:
    rules = tmp_path / "rules.tsv"
    rules.write_text("20 61\t62\n")
    assert not is_cut_at_spaces(train("unigram", normalization_rule_tsv=str(rules)))


@pytest.mark.parametrize("unit", ["word", "trigram"])
def test_other_units(unit: str) -> None:
    processor = train("word", vocab_size=80, normalization_rule_name="identity")
    tokenizer = tokenizer_of(processor, unit)
    assert tokenizer.by_word == (unit == "word")
    texts = random_texts(300)
    whole = processor.encode(spell(texts, unit), out_type=int)
    unknown = processor.unk_id()
    for own, other in zip(tokenizer.tokenize(texts).lists(), whole, strict=True):
        # sentencepiece joins neighbouring unknown words into one piece.
        assert [piece for piece in own if piece != unknown] == [piece for piece in other if piece != unknown]


def test_threads_do_not_disturb_each_other() -> None:
    processor = train("unigram")
    tokenizer = tokenizer_of(processor)
    blocks = [random_texts(200, seed) for seed in range(24)]
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(tokenizer.tokenize, blocks))
    for block, own in zip(blocks, found, strict=True):
        assert_same_pieces(own, processor.encode(block, out_type=int))


def test_long_words_are_not_kept() -> None:
    processor = train("unigram")
    tokenizer = tokenizer_of(processor)
    table, asked = module._WordTable(), []

    def encode(words: Sequence[str]) -> Any:
        asked.append(sorted(words))
        return tokenizer._encode(words)

    # The lengths count in bytes.
    long, short = ["x" * 65, "ä" * 33], ["x" * 64, "ä" * 32, *(f"dog{number}" for number in range(10))]
    texts = [f"{word} {other}" for word in long for other in short]
    for _ in range(3):
        found = table.tokenize(*module._utf8(texts), encode)
        assert found.lists() == processor.encode(texts, out_type=int)
    assert table._size == len(short)
    assert asked == [sorted(long + short), sorted(long), sorted(long)]


def test_a_table_grows_when_more_than_half_of_its_slots_are_taken() -> None:
    table = module._WordTable()

    def encode(words: Sequence[str]) -> Any:
        return np.zeros(len(words), np.int32), np.ones(len(words), np.int64), np.ones(len(words), np.bool_)

    for words, slots in ((2048, 4096), (2049, 16384)):
        texts = [str(number) for number in range(words)]
        assert table.tokenize(*module._utf8(texts), encode).lists() == [[0]] * words
        assert (table._size, len(table._slots)) == (words, slots)


def test_a_table_of_too_many_words_is_emptied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_WORDS", 3)
    table = module._WordTable()

    def encode(words: Sequence[str]) -> Any:
        return np.arange(len(words), dtype=np.int32), np.ones(len(words), np.int64), np.ones(len(words), bool)

    sizes = []
    for texts in (["a b c"], ["d"], ["e"]):
        table.tokenize(*module._utf8(texts), encode)
        sizes.append(table._size)
    # It is emptied before it is used again, and three words are not too many.
    assert sizes == [3, 4, 1]


def test_entries_with_one_hash_take_one_place_each() -> None:
    slots = np.full(8, -1, np.int32)
    module.insert(slots, np.zeros(3, np.uint64), 0, 3)
    assert slots.tolist() == [0, 1, 2, -1, -1, -1, -1, -1]
