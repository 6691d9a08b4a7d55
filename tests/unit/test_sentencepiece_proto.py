"""What sentencepiece models say of themselves, beside sentencepiece's own reading."""

import io
import random
from typing import Any

import pytest
import sentencepiece
from small_corpus import sentence_pairs

from paraphrastic.base.errors import InputError
from paraphrastic.model.sentencepiece_proto import ModelProto, ModelType, PieceType, read_model_proto


def trained(**options: Any) -> sentencepiece.SentencePieceProcessor:
    model = io.BytesIO()
    sentences = [side for pair in sentence_pairs(200) for side in pair]
    settings = {"vocab_size": 60, "hard_vocab_limit": False, "minloglevel": 2, **options}
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=model, num_threads=1, **settings
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def read(processor: sentencepiece.SentencePieceProcessor) -> ModelProto:
    return read_model_proto(processor.serialized_model_proto())


@pytest.mark.parametrize("kind", ["unigram", "bpe", "word", "char"])
def test_pieces_are_those_of_sentencepiece(kind: str) -> None:
    processor = trained(model_type=kind, vocab_size=40)
    model = read(processor)
    assert model.trainer.model_type is ModelType[kind.upper()]
    assert len(model.pieces) == processor.get_piece_size() > 10
    for number, piece in enumerate(model.pieces):
        assert piece.piece == processor.id_to_piece(number)
        assert piece.score == processor.get_score(number)
        assert (piece.type is PieceType.UNKNOWN) == processor.is_unknown(number)
        assert (piece.type is PieceType.CONTROL) == processor.is_control(number)


def test_settings_are_those_of_the_training() -> None:
    symbols = ["<sep>", "ſ"]
    model = read(
        trained(
            model_type="bpe",
            vocab_size=330,
            byte_fallback=True,
            user_defined_symbols=symbols,
            treat_whitespace_as_suffix=True,
            split_by_whitespace=False,
            split_digits=True,
            normalization_rule_name="nfkc_cf",
            add_dummy_prefix=False,
            remove_extra_whitespaces=False,
            unk_id=1,
            bos_id=0,
            pad_id=3,
            unk_piece="<?>",
        )
    )
    trainer, normalizer = model.trainer, model.normalizer
    assert trainer.byte_fallback
    assert trainer.treat_whitespace_as_suffix
    assert not trainer.split_by_whitespace
    assert trainer.split_digits
    assert (trainer.unk_id, trainer.bos_id, trainer.eos_id, trainer.pad_id) == (1, 0, 2, 3)
    assert trainer.unk_piece == model.pieces[1].piece == "<?>"
    assert [model.pieces[number].piece for number in model.ids(PieceType.USER_DEFINED)] == symbols
    assert len(model.ids(PieceType.BYTE)) == 256
    assert normalizer.name == "nfkc_cf"
    assert len(normalizer.precompiled_charsmap) > 100_000
    assert not normalizer.add_dummy_prefix
    assert not normalizer.remove_extra_whitespaces
    assert normalizer.escape_whitespaces


def test_what_is_not_said_is_as_sentencepiece_has_it() -> None:
    model = read(trained(pad_id=-1, normalization_rule_name="identity"))
    assert model.trainer.pad_id == -1
    assert not model.trainer.byte_fallback
    assert model.normalizer.precompiled_charsmap == b""
    assert model.normalizer.add_dummy_prefix
    assert model.normalizer.remove_extra_whitespaces


def test_all_fields_agree_with_protobuf() -> None:
    pytest.importorskip("google.protobuf", reason="protobuf is not installed")
    from sentencepiece.sentencepiece_model_pb2 import ModelProto as Theirs

    content = trained(model_type="unigram", user_defined_symbols=["ab"]).serialized_model_proto()
    ours, theirs = read_model_proto(content), Theirs.FromString(content)
    assert [tuple(piece) for piece in ours.pieces] == [(p.piece, p.score, p.type) for p in theirs.pieces]
    pairs = ((ours.trainer, theirs.trainer_spec), (ours.normalizer, theirs.normalizer_spec))
    for mine, spec in pairs:
        for name in mine.__slots__:
            assert getattr(mine, name) == getattr(spec, name), name


def test_damaged_models_are_refused() -> None:
    content = trained(vocab_size=40).serialized_model_proto()
    generator = random.Random(0)
    with pytest.raises(InputError, match="there are no pieces in it"):
        read_model_proto(b"")
    with pytest.raises(InputError, match=r"en\.model: is no sentencepiece model"):
        read_model_proto(b"\x89PNG\r\n\x1a\n", "en.model")
    refused = 0
    for _ in range(300):
        damaged = bytearray(content[: generator.randrange(1, 600)])
        damaged[generator.randrange(len(damaged))] ^= 1 << generator.randrange(8)
        try:
            read_model_proto(bytes(damaged))
        except InputError:
            refused += 1
    assert refused > 200
