"""Test that `tokenizer.json` cuts any text as sentencepiece does."""

import io
import json
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest
import sentencepiece
from unicode_text import ODD, texts

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.base.text import prepare_text
from paraphrastic.base.units import spell
from paraphrastic.interop.parity import TEXT
from paraphrastic.interop.tokenizer import tokenizer_json
from paraphrastic.model.sentencepiece_models import add_unknown_pieces, read_model_proto, with_unknown_pieces

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

SENTENCES = TEXT.read_text(encoding="utf-8").split("\n")
PLAIN = {"folding": {}, "lowercase": False, "unit": "subword"}
LOWER = {**PLAIN, "lowercase": True}


def trained(
    sentences: Sequence[str] = SENTENCES[:-8], **options: Any
) -> sentencepiece.SentencePieceProcessor:
    # The last of `SENTENCES` are left out because they are a long text and rare characters.
    return sentencepiece.SentencePieceProcessor(model_proto=_trained(tuple(sentences), json.dumps(options)))


@cache
def _trained(sentences: tuple[str, ...], options: str) -> bytes:
    model = io.BytesIO()
    settings = {"vocab_size": 900, "hard_vocab_limit": False, "character_coverage": 0.99}
    settings |= json.loads(options)
    lines = [line.lower() for line in sentences] * 3
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, minloglevel=2, num_threads=1, **settings
    )
    return model.getvalue()


def prepared(sentences: Sequence[str], config: dict[str, Any]) -> list[str]:
    settings = {name: config[name] for name in ("folding", "lowercase")}
    return spell(prepare_text(sentences, **settings), config["unit"])


def cut(
    processor: sentencepiece.SentencePieceProcessor, config: dict[str, Any], sentences: Sequence[str]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return the pieces by sentencepiece and by the tokenizer; each run of unknown pieces counts as one."""
    content = tokenizer_json(read_model_proto(processor.serialized_model_proto()), config)
    tokenizer = tokenizers.Tokenizer.from_str(content)
    assert tokenizer.get_vocab_size() == processor.get_piece_size()
    theirs = [each.ids for each in tokenizer.encode_batch(list(sentences), add_special_tokens=False)]
    unknown = processor.unk_id()

    def joined(ids: Sequence[int]) -> list[int]:
        return [
            piece for piece, before in zip(ids, [-1, *ids], strict=False) if (piece, before) != (unknown,) * 2
        ]

    return [list(map(joined, each)) for each in (processor.encode(prepared(sentences, config)), theirs)]


KINDS = {
    "unigram": ({}, LOWER),
    "capitals": ({}, PLAIN),
    "identity": ({"normalization_rule_name": "identity"}, LOWER),
    "other ids": ({"pad_id": 3, "unk_id": 2, "bos_id": -1, "eos_id": 1}, LOWER),
    "word": ({"model_type": "word"}, {**LOWER, "unit": "word"}),
    "word identity": (
        {"model_type": "word", "normalization_rule_name": "identity"},
        {**PLAIN, "unit": "word"},
    ),
    "russian": ({}, {**LOWER, "folding": {"ru": "yo"}}),
    "turkish": ({}, {**LOWER, "folding": {"tr": "dotless"}}),
    "arabic": ({}, {**LOWER, "folding": {"ar": "marks"}}),
    "nfkc": ({"normalization_rule_name": "nfkc"}, LOWER),
    "bytes": ({"vocab_size": 1156, "byte_fallback": True}, LOWER),
    "bytes of words": (
        {"vocab_size": 600, "byte_fallback": True, "model_type": "word"},
        {**LOWER, "unit": "word"},
    ),
    "bytes and capitals": ({"vocab_size": 1156, "byte_fallback": True, "character_coverage": 0.98}, PLAIN),
}


@pytest.mark.parametrize(
    "kind",
    [
        *(kind for kind in KINDS if kind != "nfkc"),
        pytest.param("nfkc", marks=pytest.mark.slow("reads another map of characters")),
    ],
)
def test_any_text_has_the_same_pieces(kind: str) -> None:
    options, config = KINDS[kind]
    processor = trained(**options)
    sentences = [*SENTENCES, *ODD, *texts(400, SENTENCES, seed=len(kind))]
    if "byte_fallback" in options:
        # Libraries with a newer Unicode lower-case letters that this Python does not know.
        sentences = [text for text in sentences if "Cn" not in map(unicodedata.category, text)]
    for text, ours, theirs in zip(sentences, *cut(processor, config, sentences), strict=True):
        # Two ways to cut with the same score give the same pieces in a different order.
        assert Counter(theirs) == Counter(ours), ascii(text)


def test_real_text_has_the_same_pieces_in_the_same_order() -> None:
    ours, theirs = cut(trained(), LOWER, SENTENCES)
    assert theirs == ours
    assert sum(map(len, ours)) > 3000


def test_long_words_and_texts() -> None:
    sentences = ["x" * 40_000, "a\u0301" * 10_000, "▁" * 10_000 + "x", "!" * 10_000, "a" + "!" * 10_000]
    sentences.append(" " * 10_000)
    for options, config in ({}, LOWER), ({"model_type": "word"}, {**LOWER, "unit": "word"}):
        ours, theirs = cut(trained(**options), config, sentences)
        assert list(map(Counter, theirs)) == list(map(Counter, ours))


def test_the_usual_conversion_is_not_exact() -> None:
    # The usual conversion loses a mark after a character that the normalizer's map contains. Ours exists
    # because of that.
    processor = trained()
    ours = tokenizer_json(read_model_proto(processor.serialized_model_proto()), PLAIN)
    content = json.loads(ours)
    steps = content["normalizer"]["normalizers"]
    (content["normalizer"],) = [step for step in steps if step["type"] == "Precompiled"]
    usual = tokenizers.Tokenizer.from_str(json.dumps(content)).normalizer
    text = "ª\u0327x"
    normalized = tokenizers.Tokenizer.from_str(ours).normalizer.normalize_str(text)
    assert processor.normalize(text) == normalized == "▁a\u0327x"
    assert usual.normalize_str(text) == "ax"


@pytest.mark.parametrize("lowercase", [True, False])
def test_spellings_of_unknown_characters(lowercase: bool) -> None:
    config = {**LOWER, "lowercase": lowercase}
    lines = [*SENTENCES, "room 2011", "it is 50% of 2011", "20℃ and ℕ and 𝐀", "1984 is a book"]
    processor = trained(character_coverage=0.98)
    spelled = processor.encode([line.lower() for line in lines], out_type=str)
    vocabulary = list(dict.fromkeys(piece for line in spelled for piece in line))
    extended = with_unknown_pieces(add_unknown_pieces(processor, vocabulary), lowercase=lowercase)
    sentences = [*lines, *texts(400, lines, seed=3)]
    unknown, found = extended.unk_id(), 0
    for text, ours, theirs in zip(sentences, *cut(extended, config, sentences), strict=True):
        # The marks around runs are unknown as well.
        counts = [Counter(piece for piece in ids if piece != unknown) for ids in (ours, theirs)]
        assert counts[0] == counts[1], ascii(text)
        found += sum(piece >= processor.get_piece_size() for piece in ours)
    assert found > 100


def test_a_letter_that_is_looked_up_alone_has_no_unknown_ones_beside_it() -> None:
    # Such pieces would count if unknown pieces had an embedding.
    processor = trained(character_coverage=0.98)
    pieces = {processor.id_to_piece(number) for number in range(processor.get_piece_size())}
    capitals = [letter for letter in "ℭℬℱℋℐℒℕℙℚℝℤ" if unicodedata.normalize("NFKC", letter) not in pieces]
    extended = with_unknown_pieces(add_unknown_pieces(processor, ["狗狗"]), lowercase=True)
    sentences = [f"a{letter} {letter}ᄅ‎{letter}the {letter}" for letter in capitals]
    assert len(sentences) > 5
    for text, ours, theirs in zip(sentences, *cut(extended, LOWER, sentences), strict=True):
        assert theirs == ours, ascii(text)


def test_a_final_sigma_is_one_in_bytes_and_in_spellings_too() -> None:
    # No piece has a sigma, but its bytes have pieces, or a spelling has it.
    plain = trained(SENTENCES[:20])
    spelled = with_unknown_pieces(add_unknown_pieces(plain, ["σς", "οδος"]), lowercase=True)
    in_bytes = trained(SENTENCES[:20], byte_fallback=True, vocab_size=600)
    for processor in (spelled, in_bytes):
        ours, theirs = cut(processor, LOWER, ["ΣΣ", "σς", "ΟΔΟΣ", "ΑΣ."])
        assert theirs == ours
        assert ours[0] == ours[1] != [processor.unk_id()]


REFUSED = {
    "bpe": {"model_type": "bpe"},
    "characters": {"model_type": "char"},
    "case folding": {"normalization_rule_name": "nmt_nfkc_cf"},
    "suffix": {"treat_whitespace_as_suffix": True},
    "no dummy prefix": {"add_dummy_prefix": False},
    "all spaces": {"remove_extra_whitespaces": False},
    "over spaces": {"split_by_whitespace": False},
    "symbols": {"user_defined_symbols": ["<sep>"]},
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_said_is_refused(kind: str) -> None:
    model = read_model_proto(trained(**REFUSED[kind]).serialized_model_proto())
    with pytest.raises(InputError, match=r"needs a sentencepiece model of subwords \(unigram\) or of"):
        tokenizer_json(model, LOWER)


def test_trigrams_and_maps_of_ones_own_are_refused(tmp_path: Any) -> None:
    (tmp_path / "rules.tsv").write_text("71 75\t6B 77\n")
    own = trained(normalization_rule_tsv=str(tmp_path / "rules.tsv"))
    for processor, config in ((own, LOWER), (trained(model_type="word"), {**LOWER, "unit": "trigram"})):
        with pytest.raises(InputError, match=r"its vocabulary cannot be written as a tokenizer\.json"):
            tokenizer_json(read_model_proto(processor.serialized_model_proto()), config)


def test_the_name_of_a_byte_in_a_text_is_text() -> None:
    processor = trained(byte_fallback=True, vocab_size=1156)
    texts = ["<0x41>", "a <0x41> b", "x<0x00><0xf0>", "<0xF0>"]
    ours, theirs = cut(processor, LOWER, texts)
    assert theirs == ours
    # The vocabularies in the package have a piece for a sign that begins a word.
    model = load_model("en")
    ours, theirs = cut(model.processor, model.config, texts)
    assert theirs == ours
