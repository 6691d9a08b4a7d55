"""sentencepiece models as protocol buffers; whatever cannot be read is an error in one line."""

import sys
from pathlib import Path

import pytest
from test_export_tokenizer import trained

from paraphrastic.base.errors import InputError
from paraphrastic.interop.sentencepiece_proto import read_model_proto


def test_a_model_read_and_written_is_the_same() -> None:
    processor = trained()
    content = processor.serialized_model_proto()
    model = read_model_proto(content)
    assert model.SerializeToString() == content
    assert [piece.piece for piece in model.pieces] == processor.id_to_piece(list(range(len(model.pieces))))


@pytest.mark.parametrize("content", [b"", b"\x89PNG\r\n\x1a\n", b"\n\xff"])
def test_damaged_models_are_refused(content: bytes) -> None:
    with pytest.raises(InputError, match=r"en\.model: is no sentencepiece model: "):
        read_model_proto(content, "en.model")


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece.sentencepiece_model_pb2", None)
    with pytest.raises(InputError, match="pip install protobuf"):
        read_model_proto(b"")


def test_models_in_use_are_read_without_it() -> None:
    package = Path(__file__).parents[2] / "src" / "paraphrastic"
    importers = {
        path.relative_to(package).parts[0]
        for path in package.rglob("*.py")
        if "sentencepiece_model_pb2" in path.read_text(encoding="utf-8")
    }
    assert importers == {"interop"}
