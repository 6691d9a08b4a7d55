"""Test reading sentencepiece models as protocol buffers; whatever cannot be read is an error of one line."""

import sys

import numpy as np
import pytest
from test_export_tokenizer import trained

from paraphrastic.base.errors import InputError
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.sentencepiece_models import add_unknown_pieces, read_model_proto


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


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece.sentencepiece_model_pb2", None)
    with pytest.raises(InputError, match="pip install protobuf"):
        read_model_proto(b"")


def test_models_in_use_are_read_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    processor = add_unknown_pieces(trained(), ["☃☃"])
    spelling = processor.piece_to_id("☃☃")
    monkeypatch.setitem(sys.modules, "google.protobuf", None)
    monkeypatch.setitem(sys.modules, "sentencepiece.sentencepiece_model_pb2", None)
    size = processor.get_piece_size()
    config = {"lowercase": True, "segmentation": {}, "folding": {}}
    table, known = np.ones((size, 2), np.float32), np.ones(size, np.bool_)
    model = AverageEncoder(table, known, np.zeros(2, np.float32), processor, config)
    assert spelling in model.known_tokens(["☃☃"])[0]
