"""Test that faults of checkpoints are named in one line, and that loading one runs no code."""

import collections
import contextlib
import os
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from original_code import SENTENCES, UNKNOWN, Original, train_sentencepiece
from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.interop.checkpoint_import import open_checkpoint


class Bomb:
    """An object that creates a file when its pickle is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (f"touch {self.path}",)


@pytest.mark.parametrize("legacy", [False, True], ids=["new", "legacy"])
@pytest.mark.parametrize("key", ["args", "optimizer", "vocab"])
def test_nothing_in_a_file_is_run(
    sp_model: Path, tmp_path: Path, original: Original, key: str, legacy: bool
) -> None:
    checkpoint = original.save(tmp_path / "model.pt", legacy=legacy, **{key: Bomb(tmp_path / "boom")})
    with pytest.raises(InputError, match=r"model\.pt: refused: it asks for (posix|nt)\.system"):
        open_checkpoint(checkpoint, sp_model)
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(Bomb(tmp_path / "boom")))
    with pytest.raises(InputError, match=r"plain\.pt: not readable as a checkpoint"):
        open_checkpoint(tmp_path / "plain.pt", sp_model)
    assert not (tmp_path / "boom").exists()


@pytest.mark.parametrize("legacy", [False, True], ids=["new", "legacy"])
def test_other_classes_are_refused_by_name(
    sp_model: Path, tmp_path: Path, original: Original, legacy: bool
) -> None:
    checkpoint = original.save(tmp_path / "model.pt", legacy=legacy, epoch=collections.UserDict())
    with pytest.raises(
        InputError, match=r"it asks for collections\.UserDict, but argparse.Namespace is the only"
    ):
        open_checkpoint(checkpoint, sp_model)


def nan(original: Original) -> dict[str, torch.Tensor]:
    return {"embedding.weight": original.module.embedding.weight.detach() * float("nan")}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda o: {"state_dict": "left out", "vocab": "left out"}, "has no state_dict and no vocab"),
        (lambda o: {"args": {"model": "avg"}}, "args is not an argparse.Namespace"),
        (lambda o: {"args": namespace(o, pool="max")}, "args.pool is 'max'; an average needs 'mean'"),
        (
            lambda o: {"args": namespace(o, model="gru")},
            "args.model is 'gru', which is neither 'avg' nor 'lstm'",
        ),
        (lambda o: {"args": namespace(o, ngrams=3)}, "is a model of character 3-grams"),
        (lambda o: {"args": namespace(o, model=["avg"])}, "args.model has the type list"),
        (lambda o: {"args": namespace(o, pool=None)}, "args.pool is None"),
        (lambda o: {"args": namespace(o, zero_unk="left out")}, "args has no zero_unk"),
        (
            lambda o: {"args": namespace(o, dim=300)},
            "embedding.weight is 36 × 24, but vocab has 36 pieces and",
        ),
        (lambda o: {"args": namespace(o, model="lstm")}, "state_dict has no lstm.weight_ih_l0 of numbers"),
        (lambda o: {"state_dict": {}}, "state_dict has no embedding.weight of numbers"),
        (lambda o: {"state_dict": {"embedding.weight": torch.ones(36)}}, "has 1 dimensions, not 2"),
        (lambda o: {"state_dict": nan(o)}, "embedding.weight has numbers that are not finite"),
        (
            lambda o: {"vocab": {**o.vocab, "more": 36}},
            "embedding.weight is 36 × 24, but vocab has 37 pieces",
        ),
        (lambda o: {"vocab": {**o.vocab, UNKNOWN: 36}}, "the row of 'UUUNKKK' is 36, but there are 36 rows"),
        (
            lambda o: {"vocab": {**o.vocab, UNKNOWN: 1.0}},
            "the row of 'UUUNKKK' is 1.0, but there are 36 rows",
        ),
        (
            lambda o: {"vocab": {piece: row for piece, row in o.vocab.items() if piece != UNKNOWN}},
            "no UUUNKKK",
        ),
        (lambda o: {"vocab": list(o.vocab)}, "vocab is not a dictionary of pieces"),
    ],
)
def test_what_is_wrong_with_a_checkpoint_is_one_line(
    sp_model: Path, tmp_path: Path, original: Original, changed: Any, message: str
) -> None:
    assert len(original.vocab) == 36
    checkpoint = original.save(tmp_path / "model.pt", **changed(original))
    with pytest.raises(InputError) as raised:
        open_checkpoint(checkpoint, sp_model)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"{checkpoint}: ")
    assert "\n" not in str(raised.value)


def namespace(original: Original, **changed: Any) -> Any:
    arguments = {**original.arguments, **changed}
    return type(original.content()["args"])(**{k: v for k, v in arguments.items() if v != "left out"})


def test_wrong_sizes_of_an_lstm(sp_model: Path, tmp_path: Path) -> None:
    original = Original(sp_model, SENTENCES, model="lstm")
    state = original.module.state_dict()
    for name, value, message in (
        ("lstm.bias_hh_l0_reverse", torch.zeros(39), "the sizes of lstm's weights do not fit each other"),
        ("lstm.weight_ih_l0", torch.zeros(40, 23), "the weights of its LSTM do not fit its architecture"),
    ):
        checkpoint = original.save(tmp_path / "model.pt", state_dict={**state, name: value})
        with pytest.raises(InputError, match=f"model.pt.*: {message}"):
            open_checkpoint(checkpoint, sp_model)


@pytest.mark.parametrize("legacy", [False, True], ids=["new", "legacy"])
def test_damaged_files_are_named(sp_model: Path, tmp_path: Path, original: Original, legacy: bool) -> None:
    path = tmp_path / "model.pt"
    whole = original.save(path, legacy=legacy).read_bytes()
    for length in (0, 1, 5, 200, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError, match=r"model\.pt: not readable as a checkpoint"):
            open_checkpoint(path, sp_model)
    generator = np.random.default_rng(1)
    for _ in range(60):
        damaged = bytearray(whole)
        for place in generator.integers(0, min(len(whole), 6000), 3):
            damaged[place] = generator.integers(256)
        path.write_bytes(damaged)
        # The damage is reported or changes only a number in the model; no other exception may come.
        with contextlib.suppress(InputError):
            open_checkpoint(path, sp_model)


def test_missing_files_are_named(sp_model: Path, tmp_path: Path, original: Original) -> None:
    with pytest.raises(InputError, match=r"no\.pt: is not a file"):
        load_model(tmp_path / "no.pt", sp_model=sp_model)
    checkpoint = original.save(tmp_path / "model.pt")
    with pytest.raises(InputError, match=r"no\.model: cannot be read: No such file"):
        load_model(checkpoint, sp_model=tmp_path / "no.model")
    with pytest.raises(InputError, match=r"model\.pt: is a file, .* opened with its sp_model"):
        load_model(checkpoint)


def other_vocabulary(path: Path, sentences: Sequence[str]) -> Path:
    return train_sentencepiece([sentence[::-1] for sentence in sentences], path, character_coverage=1.0)


def test_another_sentencepiece_model_is_noticed(tmp_path: Path, original: Original) -> None:
    other = other_vocabulary(tmp_path / "other.model", SENTENCES)
    with pytest.raises(InputError, match=r"pieces, such as '.*', are not in the sentencepiece model"):
        open_checkpoint(original.save(tmp_path / "model.pt"), other)
