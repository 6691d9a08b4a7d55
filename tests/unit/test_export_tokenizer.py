"""Test that `tokenizer.json` cuts any text as sentencepiece does."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
import sentencepiece
from hard_texts import TEXTS
from small_models import LOWER, SENTENCES, trained
from unicode_text import ODD, texts

from paraphrastic import InputError, load_model
from paraphrastic.base.text import prepare_text
from paraphrastic.interop.model_proto import read_model_proto
from paraphrastic.interop.tokenizer import tokenizer_json
from paraphrastic.interop.unknown_pieces import add_unknown_pieces
from paraphrastic.model.units import spell
from paraphrastic.model.vocabulary import with_unknown_pieces

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

PLAIN = {**LOWER, "lowercase": False}
LONG = ["x" * 40_000, "a\u0301" * 10_000, "▁" * 10_000 + "x", "!" * 10_000, "a" + "!" * 10_000, " " * 10_000]
HARD = [*SENTENCES, *(hard.text for hard in TEXTS), *ODD, *LONG]


def cut(
    processor: sentencepiece.SentencePieceProcessor, config: dict[str, Any], sentences: Sequence[str]
) -> tuple[list[list[int]], list[list[int]]]:
    """The pieces by sentencepiece and by the tokenizer; each run of unknown pieces counts as one."""
    content = tokenizer_json(read_model_proto(processor.serialized_model_proto()), config)
    tokenizer = tokenizers.Tokenizer.from_str(content)
    assert tokenizer.get_vocab_size() == processor.get_piece_size()
    theirs = [each.ids for each in tokenizer.encode_batch(list(sentences), add_special_tokens=False)]
    settings = {name: config[name] for name in ("folding", "lowercase")}
    ours = processor.encode(spell(prepare_text(sentences, **settings), config["unit"]))
    unknown = (processor.unk_id(),) * 2

    def joined(ids: Sequence[int]) -> list[int]:
        return [ids[row] for row in range(len(ids)) if not row or (ids[row - 1], ids[row]) != unknown]

    return list(map(joined, ours)), list(map(joined, theirs))


KINDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "unigram": ({}, LOWER),
    "capitals": ({}, PLAIN),
    "identity": ({"normalization_rule_name": "identity"}, LOWER),
    "nfkc": ({"normalization_rule_name": "nfkc"}, LOWER),
    "other ids": ({"pad_id": 3, "unk_id": 2, "bos_id": -1, "eos_id": 1}, LOWER),
    "word": ({"model_type": "word"}, {**LOWER, "unit": "word"}),
    "russian": ({}, {**LOWER, "folding": {"ru": "yo"}}),
    "turkish": ({}, {**LOWER, "folding": {"tr": "dotless"}}),
    "arabic": ({}, {**LOWER, "folding": {"ar": "marks"}}),
    "bytes": ({"vocab_size": 1156, "byte_fallback": True}, LOWER),
    "bytes of words": (
        {"vocab_size": 600, "byte_fallback": True, "model_type": "word"},
        {**LOWER, "unit": "word"},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_any_text_has_the_same_pieces(kind: str) -> None:
    options, config = KINDS[kind]
    processor = trained(**options)
    sentences = [*HARD, *texts(200, SENTENCES, seed=len(kind))]
    # Libraries with a newer Unicode lower-case letters that this Python does not know.
    sentences = [text for text in sentences if "Cn" not in map(unicodedata.category, text)]
    for text, ours, theirs in zip(sentences, *cut(processor, config, sentences), strict=True):
        # Two ways to cut with the same score give the same pieces in a different order.
        assert Counter(theirs) == Counter(ours), ascii(text[:200])


@pytest.mark.parametrize("lowercase", [True, False])
def test_spellings_of_unknown_characters_have_pieces(lowercase: bool) -> None:
    config = {**LOWER, "lowercase": lowercase}
    lines = [
        *HARD,
        "room 2011",
        "it is 50% of 2011",
        "20℃ and ℕ and 𝐀",
        "1984 is a book",
        "ΣΣ ΟΔΟΣ",
        "q ℚ z ℤ",
    ]
    processor = trained(character_coverage=0.98)
    spelled = processor.encode([line.lower() for line in lines], out_type=str)
    vocabulary = list(dict.fromkeys(piece for line in spelled for piece in line))
    extended = with_unknown_pieces(add_unknown_pieces(processor, vocabulary), lowercase=lowercase)
    sentences = [*lines, *texts(200, lines, seed=3)]
    unknown, found = extended.unk_id(), 0
    for text, ours, theirs in zip(sentences, *cut(extended, config, sentences), strict=True):
        # The marks around runs are unknown as well.
        counts = [Counter(piece for piece in ids if piece != unknown) for ids in (ours, theirs)]
        assert counts[0] == counts[1], ascii(text[:200])
        found += sum(piece >= processor.get_piece_size() for piece in ours)
    assert found > 100


def test_the_name_of_a_byte_in_a_text_is_text() -> None:
    names = ["<0x41>", "a <0x41> b", "x<0x00><0xf0>", "<0xF0>"]
    # The vocabularies in the package have a piece for a sign that begins a word.
    model = load_model("en")
    for processor, config in (
        (trained(byte_fallback=True, vocab_size=1156), LOWER),
        (model.processor, model.config),
    ):
        ours, theirs = cut(processor, config, names)
        assert theirs == ours


@pytest.mark.parametrize(
    "options",
    [
        {"model_type": "char"},
        {"normalization_rule_name": "nmt_nfkc_cf"},
        {"add_dummy_prefix": False},
        {"remove_extra_whitespaces": False},
        {"normalization_rule_tsv": "rules.tsv"},
    ],
    ids=str,
)
def test_what_cannot_be_said_is_refused(
    options: dict[str, Any], tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.tsv").write_text("71 75\t6B 77\n")
    model = read_model_proto(trained(**options).serialized_model_proto())
    with pytest.raises(InputError, match=r"vocabulary .*tokenizer\.json"):
        tokenizer_json(model, LOWER)
