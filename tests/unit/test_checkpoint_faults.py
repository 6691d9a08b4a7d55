"""Test that faults of checkpoints are named in one line, and that loading one runs no code."""

import collections
import contextlib
import os
import pickle
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
    with pytest.raises(InputError, match=r"it asks for collections\.UserDict, but argparse.Namespace is"):
        open_checkpoint(checkpoint, sp_model)


def namespace(original: Original, **changed: Any) -> Any:
    arguments = {**original.arguments, **changed}
    return type(original.content()["args"])(**{k: v for k, v in arguments.items() if v != "left out"})


HUGE = 10**10


def expanded(*shape: int) -> torch.Tensor:
    """A tensor that repeats one number so often that it would need hundreds of gigabytes."""
    return torch.zeros(1).expand(*shape)


def weights(tensor: torch.Tensor) -> dict[str, Any]:
    return {"state_dict": {"embedding.weight": tensor}}


NO_TENSORS = {
    "expanded": lambda: expanded(36, 24),
    "sparse": lambda: torch.eye(36).to_sparse(),
    "compressed sparse": lambda: torch.eye(36).to_sparse_csr(),
    "meta": lambda: torch.empty(36, 24, device="meta"),
    "quantized": lambda: torch.quantize_per_tensor(torch.ones(36, 24), 0.1, 0, torch.quint8),
    "complex": lambda: torch.ones(36, 24, dtype=torch.complex64),
    "integers": lambda: torch.ones(36, 24, dtype=torch.int64),
    "booleans": lambda: torch.ones(36, 24, dtype=torch.bool),
    "8 bits": lambda: torch.ones(36, 24).to(torch.float8_e4m3fn),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(36, 24)]),
    "a list": lambda: [[0.0] * 24] * 36,
    "too large": lambda: torch.full((36, 24), 1e30, dtype=torch.float64),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("legacy", [False, True], ids=["new", "legacy"])
@pytest.mark.parametrize("kind", NO_TENSORS)
def test_tensors_of_other_kinds_are_one_line(
    sp_model: Path, tmp_path: Path, original: Original, kind: str, legacy: bool
) -> None:
    checkpoint = original.save(tmp_path / "model.pt", legacy=legacy, **weights(NO_TENSORS[kind]()))
    with pytest.raises(InputError, match=r"^\S+model\.pt: ") as caught:
        open_checkpoint(checkpoint, sp_model)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        (lambda o: {"state_dict": "left out", "vocab": "left out"}, "has no state_dict and no vocab"),
        (lambda o: {"args": {"model": "avg"}}, "args is not an argparse.Namespace"),
        (lambda o: {"args": namespace(o, pool="max")}, "args.pool is 'max'; an average needs 'mean'"),
        (lambda o: {"args": namespace(o, model="gru")},
         "args.model is 'gru', which is neither 'avg' nor 'lstm'"),
        (lambda o: {"args": namespace(o, ngrams=3)}, "is a model of character 3-grams"),
        (lambda o: {"args": namespace(o, model=["avg"])}, "args.model has the type list"),
        (lambda o: {"args": namespace(o, pool=None)}, "args.pool is None"),
        (lambda o: {"args": namespace(o, zero_unk="left out")}, "args has no zero_unk"),
        (lambda o: {"args": namespace(o, dim=300)},
         "embedding.weight is 36 × 24, but vocab has 36 pieces and"),
        (lambda o: {"args": namespace(o, model="lstm")}, "state_dict has no lstm.weight_hh_l0 of numbers"),
        (lambda o: {"state_dict": {}}, "state_dict has no embedding.weight of numbers"),
        (lambda o: weights(torch.ones(36)), "has 1 dimensions, not 2"),
        (lambda o: weights(torch.full((36, 24), torch.nan)),
         "embedding.weight has numbers that are not finite"),
        (lambda o: {"vocab": {**o.vocab, "more": 36}},
         "embedding.weight is 36 × 24, but vocab has 37 pieces"),
        (lambda o: {"vocab": {**o.vocab, UNKNOWN: 36}}, "the row of 'UUUNKKK' is 36, but there are 36 rows"),
        (lambda o: {"vocab": {**o.vocab, UNKNOWN: 1.0}}, "row of 'UUUNKKK' is 1.0, but there are 36 rows"),
        (lambda o: {"vocab": {each: row for each, row in o.vocab.items() if each != UNKNOWN}}, "no UUUNKKK"),
        (lambda o: {"vocab": list(o.vocab)}, "vocab is not a dictionary of pieces"),
        # What would fill the memory or a message.
        (lambda o: weights(expanded(36, HUGE)) | {"args": namespace(o, dim=HUGE)},
         "embedding.weight is 36 × 10000000000, but the file does not have so many numbers of it"),
        (lambda o: weights(expanded(HUGE, 24)),
         "embedding.weight is 10000000000 × 24, but the file does not have so many numbers of it"),
        (lambda o: weights(torch.zeros(36, 0)) | {"args": namespace(o, dim=0)},
         "embedding.weight is 36 × 0, but the file does not have so many numbers of it"),
        (lambda o: {"state_dict": {**o.module.state_dict(), 5: 1}}, "state_dict has keys that are not text"),
        (lambda o: {"vocab": {**o.vocab, "\ud800": 0}}, r"vocab: '\ud800' has half of a surrogate pair"),
        (lambda o: {"vocab": {**o.vocab, UNKNOWN: 10**400}}, "the row of 'UUUNKKK' is a int, but there"),
        (lambda o: {"vocab": {**o.vocab, UNKNOWN: [[1]]}}, "the row of 'UUUNKKK' is a list, but there are"),
        (lambda o: {"args": namespace(o, dim=10**400)}, "args.dim is too large"),
        (lambda o: {"args": namespace(o, dim="24")}, "but vocab has 36 pieces and args.dim is '24'"),
        (lambda o: {"args": namespace(o, ngrams="x" * 999)}, "is a model of character 'xxx"),
        (lambda o: {"args": namespace(o, dropout=-5)}, "training.dropout: -5 is less than the minimum of 0"),
        (lambda o: {"epoch": -1}, "training.epochs: -1 is less than the minimum of 0"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_checkpoint_is_one_line(
    sp_model: Path, tmp_path: Path, original: Original, change: Any, cause: str
) -> None:
    assert len(original.vocab) == 36
    checkpoint = original.save(tmp_path / "model.pt", **change(original))
    with pytest.raises(InputError, match=r"^\S+model\.pt: ") as caught:
        open_checkpoint(checkpoint, sp_model)
    assert cause in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


def test_wrong_sizes_of_an_lstm(sp_model: Path, tmp_path: Path) -> None:
    original = Original(sp_model, SENTENCES, model="lstm")
    state = original.module.state_dict()
    sizes = "its input has 24 dimensions and its state 10"
    for name, value, message in (
        ("lstm.bias_hh_l0_reverse", torch.zeros(39), f"lstm.bias_hh_l0_reverse is 39, but {sizes}"),
        ("lstm.weight_ih_l0", torch.zeros(40, 23), f"lstm.weight_ih_l0 is 40 × 23, but {sizes}"),
        ("lstm.weight_hh_l0", torch.zeros(44, 10), f"lstm.weight_hh_l0 is 44 × 10, but {sizes}"),
        ("lstm.weight_hh_l0", expanded(4 * 10**8, 10**8), "weight_hh_l0 is .*, but the file does not have"),
    ):
        checkpoint = original.save(tmp_path / "model.pt", state_dict={**state, name: value})
        with pytest.raises(InputError, match=f"model.pt.*: .*{message}"):
            open_checkpoint(checkpoint, sp_model)


def test_tensors_of_the_same_numbers_in_other_forms_are_read(
    sp_model: Path, tmp_path: Path, original: Original
) -> None:
    table = original.module.embedding.weight.detach()
    expected = open_checkpoint(original.save(tmp_path / "model.pt"), sp_model).tensors()["embeddings"]
    forms = (table.double(), torch.nn.Parameter(table), table.T.contiguous().T, torch._neg_view(-table))
    for form in forms:
        checkpoint = original.save(tmp_path / "model.pt", **weights(form))
        np.testing.assert_array_equal(open_checkpoint(checkpoint, sp_model).tensors()["embeddings"], expected)


@pytest.mark.parametrize("value", [10**400, float("nan"), [1], "x", True, None])
def test_settings_that_are_no_numbers_are_left_out(
    sp_model: Path, tmp_path: Path, original: Original, value: Any
) -> None:
    checkpoint = original.save(tmp_path / "model.pt", args=namespace(original, lr=value), epoch=value)
    training = open_checkpoint(checkpoint, sp_model).config["training"]
    assert training["margin"] == original.arguments["delta"]
    assert not {"learning_rate", "epochs"} & training.keys()


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


def test_another_sentencepiece_model_is_noticed(tmp_path: Path, original: Original) -> None:
    reverse = [sentence[::-1] for sentence in SENTENCES]
    other = train_sentencepiece(reverse, tmp_path / "other.model", character_coverage=1.0)
    with pytest.raises(InputError, match=r"pieces, such as '.*', are not in the sentencepiece model"):
        open_checkpoint(original.save(tmp_path / "model.pt"), other)
