"""Test that damaged training data are named and refused before training begins, whatever the damage."""

import contextlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from small_corpus import sentence_pairs, write_training_data
from training_runs import SETTINGS, train_model

from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.base.hdf5 import new_hdf5, seal
from paraphrastic_pipeline.training.pair_dataset import PairDataset

COUNT = 40
CHANGED = "damaged: its content has changed since it was written; delete the file, and the pipeline makes it"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """Training data, their vocabulary and a teacher's vectors."""
    folder = tmp_path_factory.mktemp("written")
    data, model = write_training_data(folder, sentence_pairs(COUNT))
    with h5py.File(data, "r+") as file:
        groups = file.create_group("groups")
        groups["tokens"], groups["offsets"] = np.arange(COUNT, dtype=np.int32), np.arange(COUNT + 1)
        seal(file)
    generator = np.random.default_rng(0)
    with new_hdf5(folder / "teacher.h5") as file:
        for side in ("source", "target"):
            file[side] = generator.normal(size=(COUNT, 8)).astype(np.float16)
    return data, model, folder / "teacher.h5"


@pytest.fixture
def data(written: tuple[Path, Path, Path], tmp_path: Path) -> Path:
    """A copy of the training data, beside the vectors of `teacher.h5`, which a test may damage."""
    for path in (written[0], written[2]):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path / written[0].name


def changed(path: Path, change: Callable[[h5py.File], Any], *, sealed: bool = False) -> None:
    with h5py.File(path, "r+", track_order=True) as file:
        change(file)
        if sealed:
            seal(file)


def assigned(name: str, place: Any, value: Any) -> Callable[[h5py.File], Any]:
    """Return a function that sets some numbers of an array."""

    def change(file: h5py.File) -> None:
        file[name][place] = value

    return change


def replaced(name: str, make: Callable[[np.ndarray], np.ndarray]) -> Callable[[h5py.File], Any]:
    """Return a function that puts another array in the place of one."""

    def change(file: h5py.File) -> None:
        array = file[name][:]
        del file[name]
        file[name] = make(array)

    return change


def resized(name: str, size: int) -> Callable[[h5py.File], Any]:
    return lambda file: file[name].resize((size,))


def empty_of_huge_size(file: h5py.File) -> None:
    """Make an array that says it has a million million numbers, and has none."""
    del file["subword/source/tokens"]
    file.create_dataset("subword/source/tokens", (10**12,), np.int32, chunks=(1 << 16,), compression="gzip")


def external(file: h5py.File) -> None:
    del file["subword/source/tokens"]
    file.create_dataset("subword/source/tokens", (64,), np.int32, external=[("/etc/passwd", 0, 256)])


def virtual(file: h5py.File) -> None:
    count = len(file["subword/source/tokens"])
    layout = h5py.VirtualLayout((count,), np.int32)
    layout[:] = h5py.VirtualSource("other.h5", "tokens", (count,))
    del file["subword/source/tokens"]
    file.create_virtual_dataset("subword/source/tokens", layout)


def linked(link: Any, name: str = "subword/source/tokens") -> Callable[[h5py.File], Any]:
    def change(file: h5py.File) -> None:
        del file[name]
        file[name] = link

    return change


def circle(file: h5py.File) -> None:
    file["subword/more"] = file["subword"]


def attribute(name: str, value: Any) -> Callable[[h5py.File], Any]:
    return lambda file: file["subword"].attrs.update({name: value})


FAULTS: dict[str, tuple[Callable[[h5py.File], Any], str]] = {
    "token": (assigned("subword/source/tokens", 7, 10**6), "subword/source/tokens: the token 1000000 is not"),
    "negative token": (assigned("subword/target/tokens", 7, -1), "target/tokens: the token -1 is not"),
    "group": (assigned("groups/tokens", 0, -3), "groups/tokens: the token -3 is not one of"),
    "first offset": (assigned("subword/source/offsets", 0, 2), "source/offsets: offsets do not rise from 0"),
    "falling offsets": (assigned("subword/target/offsets", 9, 0), "offsets: offsets do not rise from 0"),
    "negative offset": (assigned("subword/target/offsets", 1, -5), "offsets: offsets do not rise from 0"),
    "large offset": (assigned("subword/source/offsets", COUNT, 10**15), "tokens, but a sentence ends at 1"),
    "offsets of groups": (assigned("groups/offsets", 3, 1), "groups/offsets: offsets do not rise from 0"),
    "fewer tokens": (resized("subword/source/tokens", 9), "there are 9 tokens, but a sentence ends at"),
    "fewer offsets": (resized("subword/source/offsets", 9), "subword/target has "),
    "no offsets": (resized("subword/source/offsets", 0), "subword/source has "),
    "fewer groups": (replaced("groups/offsets", lambda a: a[:9]), "groups has "),
    "no such pair": (lambda file: file.create_dataset("alone", data=[3, 10**6]), "alone has other numbers"),
    "half a pair": (lambda file: file.create_dataset("alone", data=[0.5]), "alone has other numbers than"),
    "short tokens": (replaced("subword/source/tokens", lambda a: a.astype(np.int16)), "subword/source has "),
    "real tokens": (replaced("subword/source/tokens", lambda a: a.astype(float)), "subword/source has "),
    "short offsets": (replaced("subword/source/offsets", lambda a: a.astype(np.int32)), "source has "),
    "two axes": (replaced("subword/source/tokens", lambda a: a[:, None]), "subword/source has "),
    "a scalar": (replaced("subword/source/tokens", lambda a: a[0]), "subword/source has "),
    "text": (replaced("subword/pieces", lambda a: a.astype("S")), "subword/pieces are not pieces of"),
    "a piece": (assigned("subword/pieces", 3, 10**6), "subword/pieces are not pieces of vocabularies"),
    "one alike": (replaced("subword/alike", lambda a: np.ones((2, 3), np.int32)), "subword/alike are not"),
    "alike": (replaced("subword/alike", lambda a: np.full((2, 2), -1, np.int32)), "subword/alike are not"),
    "no unit": (lambda file: file.pop("subword"), "list index out of range"),
    "no side": (lambda file: file["subword"].pop("target"), "object 'target' doesn't exist"),
    "no pieces": (lambda file: file["subword"].pop("pieces"), "pieces is missing"),
    "no sizes": (lambda file: file["subword"].attrs.pop("sizes"), "sizes"),
    "no vocabulary": (lambda file: file["subword"].attrs.pop("sentencepiece_sha256"), "sentencepiece_sha256"),
    "size 0": (attribute("sizes", [0]), "subword has the sizes (0,) and 1 vocabularies"),
    "three sizes": (attribute("sizes", [9, 9, 9]), "subword has the sizes (9, 9, 9) and 1 vocabularies"),
    "sizes of text": (attribute("sizes", "x"), "invalid literal"),
    "huge": (empty_of_huge_size, "tokens is <HDF5 dataset"),
    "external": (external, "tokens lies in another file"),
    "virtual": (virtual, "tokens lies in another file"),
    "soft link": (linked(h5py.SoftLink("/subword/target/tokens")), "tokens is missing, or is a link to"),
    "external link": (linked(h5py.ExternalLink("other.h5", "/tokens")), "tokens is missing, or is a link to"),
    "another array": (lambda file: file.create_dataset("subword/more", data="text"), "not an array of"),
    "circle": (circle, "has too many groups or data sets"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_what_is_wrong_is_named_even_if_the_digest_is_right(data: Path, name: str) -> None:
    change, cause = FAULTS[name]
    with h5py.File(data.with_name("other.h5"), "w") as other:
        other["tokens"] = np.zeros(1000, np.int32)
    # Some of these cannot even be given a digest.
    with contextlib.suppress(ValueError):
        changed(data, change, sealed=True)
    with pytest.raises(InputError, match=r"train\.h5: ") as caught:
        PairDataset(data)
    assert cause in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        assigned("subword/source/tokens", slice(0, 2), [3, 4]),
        lambda file: assigned("subword/target/offsets", 5, file["subword/target/offsets"][5] + 1)(file),
        assigned("subword/pieces", slice(0, 2), [9, 9]),
        assigned("groups/tokens", 5, 6),
        attribute("shared_unknown", value=True),
        attribute("sentencepiece_sha256", ["0" * 64]),
        attribute("sizes", [61]),
        lambda file: file.attrs.update({"more": 1}),
        lambda file: file.create_dataset("subword/more", data=[1]),
        lambda file: file.attrs.update({"content_sha256": "0" * 64}),
    ],
)
def test_what_could_be_right_has_another_digest(data: Path, change: Callable[[h5py.File], Any]) -> None:
    changed(data, change)
    with pytest.raises(InputError, match=rf"train\.h5: {CHANGED}"):
        PairDataset(data)


def test_data_without_a_digest_are_those_of_another_version(data: Path) -> None:
    changed(data, lambda file: file.attrs.pop("content_sha256"))
    with pytest.raises(
        InputError, match=r"train\.h5: not a training data set: it has no digest of its content"
    ):
        PairDataset(data)


def test_a_flipped_bit_is_refused_or_changes_nothing(data: Path) -> None:
    whole, generator, refused = data.read_bytes(), random.Random(4), 0

    def content() -> list[Any]:
        with PairDataset(data) as pairs:
            sides = [array.tolist() for side in pairs.read(0, COUNT) for array in (side.tokens, side.offsets)]
            return [*sides, pairs.units[0].pieces.tolist(), pairs.units[0].sizes, pairs.digests]

    expected = content()
    with h5py.File(data) as file:
        arrays = [
            file[f"subword/{name}"][:].tobytes() for name in ("source/tokens", "target/offsets", "pieces")
        ]
    # Numbers, then HDF5's own structures at the beginning, of which many bits belong to nothing.
    places = [whole.index(each) + generator.randrange(len(each)) for each in arrays for _ in range(5)]
    for number, place in enumerate([*places, *generator.sample(range(9000), 30)]):
        flipped = bytearray(whole)
        flipped[place] ^= 1 << generator.randrange(8)
        data.write_bytes(flipped)
        try:
            assert content() == expected
        except InputError as error:
            refused += 1
            assert str(error).startswith(f"{data}: ")  # noqa: PT017 - some flips change nothing
            assert "\n" not in str(error)  # noqa: PT017
        if number < len(places):
            assert refused == number + 1
    assert refused > len(places)


@pytest.mark.parametrize("share", [0, 0.1, 0.5, 0.99])
def test_a_file_that_is_cut_off_is_named(data: Path, share: float) -> None:
    whole = data.read_bytes()
    data.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(InputError, match=r"train\.h5: not a training data set: "):
        PairDataset(data)


@pytest.mark.parametrize(
    ("change", "sealed", "cause"),
    [
        (assigned("source", (3, 2), np.nan), True, "damaged: source has numbers that are not finite"),
        (assigned("target", (3, 2), 0.25), False, CHANGED),
        (
            replaced("source", lambda array: array[:-1]),
            True,
            "does not have a vector for each of the 40 pairs",
        ),
        (replaced("source", lambda array: array[:, :2]), True, "does not have a vector for each of the 40"),
        (replaced("source", lambda array: array[:, 0]), True, "does not have a vector for each of the 40"),
        (lambda file: file.pop("target"), True, "not the vectors of a teacher: target is missing"),
        (
            linked(h5py.ExternalLink("other.h5", "/tokens"), "source"),
            False,
            "source is missing, or is a link",
        ),
    ],
)
def test_damaged_vectors_of_a_teacher_are_named(
    data: Path, change: Callable[[h5py.File], Any], sealed: bool, cause: str
) -> None:
    teacher = data.with_name("teacher.h5")
    with PairDataset(data, teacher) as pairs:
        assert len(pairs.digests) == 2
    changed(teacher, change, sealed=sealed)
    with pytest.raises(InputError, match=r"teacher\.h5: ") as caught:
        PairDataset(data, teacher)
    assert cause in str(caught.value)
    teacher.write_bytes(b"not HDF5")
    with pytest.raises(InputError, match=r"teacher\.h5: not the vectors of a teacher: "):
        PairDataset(data, teacher)


def test_training_on_damaged_data_writes_nothing(
    data: Path, written: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    changed(data, assigned("subword/source/tokens", 7, 10**6))
    with pytest.raises(
        InputError, match=r"train\.h5: damaged: subword/source/tokens: the token 1000000 is not"
    ):
        train_model((data, written[1]), tmp_path / "model", SETTINGS)
    assert not (tmp_path / "model").exists()


def test_digests_are_those_of_the_content_alone(data: Path, tmp_path: Path) -> None:
    """Data that were written in other steps have the same digest, so a run goes on with its checkpoint."""
    other = tmp_path / "other.h5"
    with h5py.File(data) as old, new_hdf5(other) as new:
        for name in reversed(sorted(old)):
            old.copy(name, new)
    with PairDataset(data) as first, PairDataset(other) as second:
        assert first.digests == second.digests
