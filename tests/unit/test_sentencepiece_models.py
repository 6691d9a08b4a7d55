"""Test reading sentencepiece models as protocol buffers; whatever cannot be read is an error of one line."""

import sys

import numpy as np
import pytest
from test_export_tokenizer import trained

from paraphrastic.base.errors import InputError
from paraphrastic.interop.model_proto import read_model_proto
from paraphrastic.interop.unknown_pieces import add_unknown_pieces
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.vocabulary import add_unseen_rows


def test_a_model_read_and_written_is_the_same() -> None:
    processor = trained()
    content = processor.serialized_model_proto()
    model = read_model_proto(content)
    assert model.SerializeToString() == content
    assert [piece.piece for piece in model.pieces] == processor.id_to_piece(list(range(len(model.pieces))))


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"\n\xff"])
def test_damaged_models_are_refused(content: bytes) -> None:
    with pytest.raises(InputError, match=r"sentencepiece\.model: is not a sentencepiece model: "):
        read_model_proto(content)


@pytest.mark.parametrize(("foreign", "refused"), [(1, False), (2, True)])
def test_one_in_a_hundred_spellings_may_be_foreign(foreign: int, refused: bool) -> None:
    processor = trained()
    pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
    (letter, *_) = (piece for piece in pieces if len(piece) == 1 and piece.isalpha())
    vocabulary = [*pieces[-100 + foreign :], *(letter * (30 + number) for number in range(foreign))]
    assert len(vocabulary) == 100
    if refused:
        with pytest.raises(InputError, match=r"^2 of the vocabulary's 100 pieces, such as "):
            add_unknown_pieces(processor, vocabulary)
    else:
        assert add_unknown_pieces(processor, vocabulary).piece_to_id(vocabulary[-1]) >= len(pieces)


@pytest.mark.parametrize("kind", [np.float32, np.int8])
def test_rows_of_unseen_pieces_have_a_size_even_if_no_other_row_has(kind: type) -> None:
    processor = trained()
    size = processor.get_piece_size()
    weights = np.ones(size, np.float32) if kind is np.int8 else None
    for any_known in (False, True):
        known = np.zeros(size, np.bool_)
        known[-1] = any_known
        table, complete, factors = add_unseen_rows(np.zeros((size, 4), kind), known, processor, weights)
        rows = table if factors is None else table * factors[:, None]
        assert np.isfinite(rows).all()
        # Without any row, there is no usual size, and 1 takes its place.
        assert set(np.abs(rows[complete & ~known]).ravel().tolist()) == {0.0 if any_known else 1.0}


def test_models_in_use_are_read_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    processor = add_unknown_pieces(trained(), ["☃☃"])
    spelling = processor.piece_to_id("☃☃")
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    monkeypatch.setitem(sys.modules, "sentencepiece.sentencepiece_model_pb2", None)
    size = processor.get_piece_size()
    config = {"model": "x", "lowercase": True, "segmentation": {}, "folding": {}}
    table, known = np.ones((size, 2), np.float32), np.ones(size, np.bool_)
    model = AverageEncoder(
        {"embeddings": table, "known": known, "unknown": np.zeros(2, np.float32)},
        processor.serialized_model_proto(),
        config,
    )
    assert spelling in model.tokenize(["☃☃"]).lists()[0]
