"""Test that a file is either complete or absent."""

import errno
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from small_corpus import sentence_pairs, write_training_data
from training_runs import SETTINGS, train_model

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import atomic_output, new_folder, sha256, unwritable_named
from paraphrastic_pipeline.evaluation.sts_data import prepare_sts
from paraphrastic_pipeline.training.dataset import encode_dataset
from paraphrastic_pipeline.training.vocabulary import train_vocabulary

ROOT = Path(__file__).resolve().parents[2]


def test_what_a_killed_process_left_is_removed_and_a_living_one_is_left_alone(tmp_path: Path) -> None:
    killed = "from paraphrastic.base.files import atomic_output; import os, sys\n" + (
        "with atomic_output(sys.argv[1]) as temporary:\n temporary.write_text('half')\n os._exit(9)"
    )
    target = tmp_path / "file"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, "-c", killed, str(target)], env=environment, check=False)
    (leftover,) = tmp_path.iterdir()
    with atomic_output(target) as temporary, atomic_output(target) as other:
        assert temporary != other
        assert not leftover.exists()
        temporary.write_text("one")
        other.write_text("two")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_files_and_folders_have_the_permissions_of_any_other(
    mask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, umask = os.umask(mask), os.umask
    # For an instant, another thread's files would have other permissions.
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("the umask was changed"))
    try:
        with atomic_output(tmp_path / "file") as temporary:
            temporary.unlink()
            # Some libraries rename a private file of theirs.
            temporary.touch(mode=0o600)
        with new_folder(tmp_path / "folder") as temporary:
            (temporary / "x").touch()
        (tmp_path / "other").touch()
        (tmp_path / "other folder").mkdir()
    finally:
        umask(old)
    for one, other in (("file", "other"), ("folder", "other folder"), ("folder/x", "other")):
        assert (tmp_path / one).stat().st_mode == (tmp_path / other).stat().st_mode


def test_sha256(tmp_path: Path) -> None:
    (tmp_path / "abc").write_bytes(b"abc")
    assert sha256(tmp_path / "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "whatever"), InputError),
        (RuntimeError("I/O error: No space left on device (os error 28)"), InputError),
        (PermissionError(errno.EACCES, "denied"), PermissionError),
        (ValueError("other"), ValueError),
        (InputError("x: No space left on device"), InputError),
    ],
)
def test_a_full_disk_is_told_by_any_exception(error: Exception, expected: type[Exception]) -> None:
    with pytest.raises(expected) as caught, unwritable_named("out"):
        raise error
    if expected is InputError and not isinstance(error, InputError):
        assert str(caught.value).startswith("out: ")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_training_data(tmp_path_factory.mktemp("data"), sentence_pairs(3000))


def test_every_step_survives_a_full_disk(data: tuple[Path, Path], full_disk: Path, tmp_path: Path) -> None:
    pairs = data[0].parent / "pairs.parquet"
    settings = replace(SETTINGS, dimension=512, epochs=1)
    steps = {
        "vocabulary": lambda: train_vocabulary(
            pairs,
            full_disk / "v",
            {"size": 60, "character_coverage": 1.0, "max_sentences": 9999, "unknown": "omit"},
        ),
        "data set": lambda: encode_dataset(
            pairs, [{"unit": "subword", "models": (data[1],), "max_pieces": None}], full_disk / "d", threads=1
        ),
        "model": lambda: train_model(data, full_disk, settings, minutes=10.0),
        "test sets": lambda: prepare_sts(ROOT / "data/sample/STS.zip", full_disk / "s"),
        "parquet": lambda: write_parquet(full_disk / "p"),
    }
    (full_disk / "more").write_bytes(bytes(98_000))
    for name, step in steps.items():
        with pytest.raises(InputError, match="cannot be written: No space"):
            step()
        # A run writes its history as it goes. Here it has failed before the first checkpoint.
        (full_disk / "training.jsonl").unlink(missing_ok=True)
        assert sorted(path.name for path in full_disk.iterdir()) == ["ballast", "more"], name


def write_parquet(path: Path) -> None:
    with atomic_output(path) as temporary:
        pd.DataFrame({"a": range(100_000)}).to_parquet(temporary)
