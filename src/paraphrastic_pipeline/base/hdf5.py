"""HDF5 files between steps. Each holds a digest of its content, with which it is compared before use."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from paraphrastic.base.errors import InputError, on_one_line
from paraphrastic.base.files import atomic_output
from paraphrastic.base.threads import available_cores, in_order
from paraphrastic_pipeline.base.errors import is_out_of_memory

_DIGEST = "content_sha256"
# Numbers that are read at a time, in bytes.
_BLOCK = 1 << 22
# Groups inside each other, and objects in a file, at most. Links could lead in a circle.
_MOST_LEVELS, _MOST_OBJECTS = 4, 1000
# Takes the path of an array in the file and some of its rows, one block after the other.
Look = Callable[[str, npt.NDArray[Any]], None]


@contextmanager
def new_hdf5(path: str | Path) -> Iterator[h5py.File]:
    """Write an HDF5 file that is either complete or absent, with the digest of its content."""
    with atomic_output(path) as temporary, h5py.File(temporary, "w", track_order=True) as file:
        yield file
        seal(file)


def seal(file: h5py.File) -> None:
    """Note the digest of a file's content in the file."""
    file.attrs[_DIGEST] = content_digest(file)


@contextmanager
def hdf5_named(path: str | Path, kind: str) -> Iterator[None]:
    """Turn the errors of reading an HDF5 file into an `InputError` that names it and says what it is not."""
    try:
        yield
    except Exception as error:  # of a damaged file, h5py can raise anything
        if isinstance(error, InputError) or is_out_of_memory(error):
            raise
        raise InputError(f"{path}: not {kind}: {on_one_line(error)}") from None


def verify(file: h5py.File, look: Look) -> str:
    """Compare a file with the digest of its content, and return it.

    Args:
        file: the file.
        look: is shown every number, and may raise an `InputError` that says more than a wrong digest.

    Raises:
        InputError: the content has changed since it was written.
        ValueError: the file has no digest, or is not one of arrays of numbers.
    """
    if (expected := file.attrs.get(_DIGEST)) is None:
        raise ValueError("it has no digest of its content, so this version did not write it")
    digest = content_digest(file, look)
    if digest != expected:
        raise InputError(
            f"{file.filename}: damaged: its content has changed since it was written; delete the file, and "
            "the pipeline makes it again"
        )
    return digest


def content_digest(file: h5py.File, look: Look | None = None) -> str:
    """SHA-256 of all names, types, shapes, attributes and numbers; blocks are hashed in parallel."""
    digest = hashlib.sha256()
    for path, item in _objects(file):
        about: list[Any] = [path, {name: np.asarray(value).tolist() for name, value in item.attrs.items()}]
        about[1].pop(_DIGEST, None)
        if isinstance(item, h5py.Dataset):
            about += [item.dtype.str, item.shape]
        digest.update(json.dumps(about, sort_keys=True, default=str).encode())
        if isinstance(item, h5py.Dataset):
            for block, of_block in _hashed(item):
                digest.update(of_block)
                if look:
                    look(path, block)
    return digest.hexdigest()


def plain_dataset(group: h5py.Group, name: str) -> h5py.Dataset:
    """A data set whose numbers are all in the same file.

    Raises:
        ValueError: it is a group, or HDF5 would read it from another file or make numbers up.
    """
    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"{name} is missing, or is a link to another place")
    dataset = group[name]
    if not isinstance(dataset, h5py.Dataset):
        raise ValueError(f"{name} is {dataset}, not a data set")
    if dataset.external or dataset.is_virtual:
        raise ValueError(f"{name} lies in another file")
    if dataset.dtype.kind in "biuf" and dataset.id.get_storage_size() < dataset.nbytes:
        raise ValueError(f"{name} is {dataset}, but its numbers are not all there")
    return dataset


def _objects(group: h5py.Group, path: str = "", level: int = 1) -> Iterator[tuple[str, Any]]:
    """Everything in a file with its path: the groups, and data sets whose numbers are all there."""
    yield path, group
    if level > _MOST_LEVELS or len(group) > _MOST_OBJECTS:
        raise ValueError(f"{path or 'the file'} has too many groups or data sets")
    for name in sorted(group):
        within = f"{path}/{name}".removeprefix("/")
        if isinstance(group.get(name, getlink=True), h5py.HardLink) and isinstance(group[name], h5py.Group):
            yield from _objects(group[name], within, level + 1)
            continue
        item = plain_dataset(group, name)
        if item.ndim == 0 or item.dtype.kind not in "biuf":
            raise ValueError(f"{within} is {item}, not an array of numbers")
        yield within, item


def _hashed(item: h5py.Dataset) -> Iterator[tuple[npt.NDArray[Any], bytes]]:
    rows = max(1, _BLOCK // max(1, item.dtype.itemsize * int(np.prod(item.shape[1:], dtype=np.int64))))

    def block(start: int) -> tuple[npt.NDArray[Any], bytes]:
        values = np.ascontiguousarray(item[start : start + rows])
        return values, hashlib.sha256(values.view(np.uint8).data).digest() if values.size else b""

    starts = range(0, len(item), rows)
    return in_order(block, starts, max(1, min(available_cores(), len(starts))))
