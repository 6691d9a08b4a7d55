"""Test that the embedded sample can be made again bit by bit and has what the pipeline is tested with."""

import gzip
import subprocess
import sys
import zipfile
from collections import Counter
from pathlib import Path

import pytest

SAMPLE = Path(__file__).resolve().parents[2] / "data" / "sample"


def text(archive: str, member: str) -> str:
    with zipfile.ZipFile(SAMPLE / archive) as opened:
        return opened.read(member).decode("utf-8")


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of every generated file in the folder; archives are unpacked."""
    found: dict[str, bytes] = {}
    made = [
        p for p in folder.rglob("*") if p.is_file() and (p.suffix in (".zip", ".gz") or "tatoeba" in p.parts)
    ]
    for path in [*made, folder / "noise.tsv"]:
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                found |= {f"{name}/{info.filename}": archive.read(info) for info in archive.infolist()}
        else:
            found[name] = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return found


@pytest.mark.slow("makes the sample again")
def test_the_generator_makes_the_same_files_again(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-B", str(SAMPLE / "make.py"), str(tmp_path)], check=True, timeout=120)
    made, committed = contents(tmp_path), contents(SAMPLE)
    assert sorted(made) == sorted(committed)
    different = [name for name in made if made[name] != committed[name]]
    assert different == []


def test_the_sample_is_small() -> None:
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) < 6_000_000


def test_kinds_of_noise() -> None:
    header, *lines = (SAMPLE / "noise.tsv").read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == ["file", "line", "kind"]
    kinds = Counter((file, kind) for file, _, kind in (line.split("\t") for line in lines))
    bitext = ("aligned/train", "de-en.txt.zip", "spa-eng.zip")
    wanted = {(file, kind) for file in bitext for kind in ("copy", "mismatch", "short", "long")}
    wanted |= {("para-nmt-sample.zip", kind) for kind in ("near_copy", "mismatch", "short")}
    wanted |= {(file, kind) for file, _ in wanted for kind in ("wrong_language", "duplicate")}
    assert kinds.keys() == wanted


def test_no_training_sentence_stands_in_a_test() -> None:
    training = text("de-en.txt.zip", "Sample.de-en.en").lower().splitlines()
    training += [line.split("\t")[0] for line in text("spa-eng.zip", "spa.txt").lower().splitlines()]
    with zipfile.ZipFile(SAMPLE / "STS.zip") as archive:
        inputs = [name for name in archive.namelist() if ".input." in name]
        lines = [line for name in inputs for line in archive.read(name).decode().lower().splitlines()]
    testing = {side for line in lines for side in line.split("\t")[:2]}
    for path in SAMPLE.glob("tatoeba/*"):
        testing |= set(path.read_text(encoding="utf-8").lower().splitlines())
    assert len(testing) > 10_000
    assert testing.isdisjoint(training)
