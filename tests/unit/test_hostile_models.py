"""Test the weights and vocabularies of folders from strangers: they are used or refused in one line."""

import json
import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save
from small_models import model_of, two_parts_of

from paraphrastic.base.errors import InputError
from paraphrastic.interop.model_proto import read_model_proto
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic.model.composite import CompositeEncoder
from paraphrastic.model.files import ModelFiles
from paraphrastic.model.folder import open_folder

PARTS = (Part(), Part(kind="bilstm", dimension=6, directions="concatenate", peepholes=True))
WIDTH, WEIGHTS, VOCABULARY = 3, "model.safetensors", "sentencepiece.model"


def composite() -> CompositeEncoder:
    """A model with an LSTM and with a vocabulary and parameters of its own for each language."""
    generator = np.random.default_rng(0)
    shapes = {"w": (4 * WIDTH, 48), "u": (4 * WIDTH, WIDTH), "bias": (4 * WIDTH,), "peepholes": (3, WIDTH)}
    lstms = {
        f"1.lstm.directions.{direction}.{name}": generator.normal(size=shape).astype(np.float32)
        for name, shape in shapes.items()
        for direction in ("0", "1")
    }
    return two_parts_of(Architecture(parts=PARTS, languages="separate", vocabularies="separate"), **lstms)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("models")
    for name, model in (("average", model_of()), ("composite", composite())):
        model.write(base / name)
    return {path.name: path for path in base.iterdir()}


@pytest.fixture
def folder(folders: dict[str, Path], request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a model, which a test may change."""
    for file in folders[getattr(request, "param", "average")].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    return tmp_path


def fault(folder: Path) -> str:
    """The line about a folder; empty if the model can be used."""
    try:
        model = open_folder(folder)
        model.embed_raw_text(["The dog", "☃ ﬁne"], language="en")
    except InputError as error:
        said = str(error)
        assert said.startswith(str(folder))
        assert "\n" not in said
        return said.removeprefix(str(folder))
    return ""


both = pytest.mark.parametrize("folder", ["average", "composite"], indirect=True)


@both
@pytest.mark.parametrize(
    "dtype", ["F8_E4M3", "F8_E5M2", "BF16", "I16", "I64", "U64", "F64", "C64", "F4", "X", ""]
)
def test_tensors_of_other_types_are_named(folder: Path, dtype: str) -> None:
    tensors = load_file(folder / WEIGHTS)
    name = min(name for name in tensors if "embeddings" in name)
    size = {"F8_E4M3": 1, "F8_E5M2": 1, "BF16": 2, "I16": 2}.get(dtype, 8)
    count = tensors[name].nbytes // size
    header = {
        name: {"dtype": dtype, "shape": [count], "data_offsets": [0, count * size]},
        "other": {"dtype": "F32", "shape": [1], "data_offsets": [count * size, count * size + 4]},
    }
    text = json.dumps(header).encode()
    (folder / WEIGHTS).write_bytes(struct.pack("<Q", len(text)) + text + bytes(count * size + 4))
    assert WEIGHTS in fault(folder)


@both
def test_tensors_of_other_shapes_and_names_are_one_line(folder: Path) -> None:
    whole = load_file(folder / WEIGHTS)
    generator = random.Random(3)
    changes: list[Callable[[Any], Any]] = [
        lambda array: array[:0], lambda array: array[:-1], lambda array: array[..., :1],
        lambda array: array[None], lambda array: array.ravel(), lambda array: array.T,
        lambda array: array.astype(np.float16), lambda array: array.astype(np.uint8),
        lambda array: np.concatenate([array, array]),
    ]  # fmt: skip
    for name, tensor in whole.items():
        for change in generator.sample(changes, 2):
            other = np.ascontiguousarray(change(tensor))
            if (other.shape, other.dtype) == (tensor.shape, tensor.dtype):
                continue
            (folder / WEIGHTS).write_bytes(save({**whole, name: other}))
            assert fault(folder), (name, other.shape, other.dtype)
    for changed in (dict(list(whole.items())[1:]), {}):
        (folder / WEIGHTS).write_bytes(save(changed))
        assert fault(folder)


def test_an_empty_lstm_of_a_huge_width_asks_for_no_memory(folders: dict[str, Path], tmp_path: Path) -> None:
    whole = dict(load_file(folders["composite"] / WEIGHTS))
    config = json.loads((folders["composite"] / "config.json").read_text())
    for name in list(whole):
        if name.endswith(".u.en"):
            whole[name] = np.empty((0, 1 << 40), np.float32)
    proto = (folders["composite"] / VOCABULARY).read_bytes()
    ModelFiles("parts", config["dimension"], whole, proto, config).write(tmp_path)
    assert ".u.en is float32 (0, 1099511627776)" in fault(tmp_path)


@both
def test_a_damaged_header_of_the_weights_is_one_line(folder: Path) -> None:
    whole = (folder / WEIGHTS).read_bytes()
    (size,) = struct.unpack_from("<Q", whole)
    generator, refused = random.Random(5), 0
    for _ in range(60):
        damaged = bytearray(whole)
        damaged[generator.randrange(8 + size)] ^= 1 << generator.randrange(8)
        (folder / WEIGHTS).write_bytes(bytes(damaged))
        refused += bool(fault(folder))
    assert refused > 40


@pytest.mark.parametrize(
    "change",
    [
        lambda proto: [
            setattr(piece, "type", piece.NORMAL) for piece in proto.pieces if piece.type == piece.UNKNOWN
        ],
        lambda proto: setattr(proto.pieces[9], "type", proto.pieces[9].UNKNOWN),
        lambda proto: setattr(proto.pieces[9], "piece", ""),
        lambda proto: setattr(proto.pieces[9], "piece", proto.pieces[8].piece),
        lambda proto: setattr(proto.pieces[9], "score", float("nan")),
        lambda proto: setattr(proto.trainer_spec, "byte_fallback", True),
        lambda proto: proto.ClearField("pieces"),
        lambda proto: setattr(proto.normalizer_spec, "precompiled_charsmap", b"\xff\xff\xff\x7fabc"),
        lambda proto: proto.Clear(),
        lambda proto: proto.pieces.pop(),
    ],
)
def test_a_vocabulary_that_is_none_is_one_line(folder: Path, change: Callable[[Any], Any]) -> None:
    proto = read_model_proto((folder / VOCABULARY).read_bytes())
    change(proto)
    (folder / VOCABULARY).write_bytes(proto.SerializeToString())
    assert fault(folder)


@both
def test_a_damaged_vocabulary_is_one_line(folder: Path) -> None:
    tensors, whole = load_file(folder / WEIGHTS), (folder / VOCABULARY).read_bytes()
    generator, refused = random.Random(7), 0
    for number in range(40):
        damaged = bytearray(whole)
        for _ in range(number % 4 + 1):
            damaged[generator.randrange(len(whole))] ^= 1 << generator.randrange(8)
        if "sentencepiece.subword.de" in tensors:
            own = {"sentencepiece.subword.de": np.frombuffer(damaged, np.uint8)}
            (folder / WEIGHTS).write_bytes(save(tensors | own))
        else:
            (folder / VOCABULARY).write_bytes(bytes(damaged))
        refused += bool(fault(folder))
    assert refused > 5


@pytest.mark.parametrize(
    "entries",
    [
        {"encoder": []}, {"folding": {"ar": ["x"]}}, {"segmentation": {"zh": {}}}, {"languages": [1]},
        {"encoder": "parts", "architecture": {"parts": []}}, {"encoder": "parts", "architecture": 7},
    ],
)  # fmt: skip
def test_entries_of_other_kinds_are_one_line(folder: Path, entries: dict[str, Any]) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | entries))
    assert fault(folder)
