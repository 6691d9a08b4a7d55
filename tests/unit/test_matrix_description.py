"""Test the file that `embed` writes beside a matrix, and whether `search` believes it."""

import io
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sentence_files import LINES, embed, error_of, note_of, search, write

from paraphrastic.base.errors import InputError
from paraphrastic.model import embed_files
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.matrix_description import Maker, MatrixDescription, read_description, sampled_rows


def described_by(model: AverageEncoder, vectors: np.ndarray) -> MatrixDescription:
    maker = Maker.of(model, model="m", language=None, dtype="float32", normalized=False)
    return MatrixDescription.about(maker, vectors)


@pytest.mark.parametrize("options", [(), ("--normalize",), ("--dtype", "float16")])
def test_a_matrix_of_the_same_model_is_searched_in_silence(
    folder: Path, model: AverageEncoder, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
) -> None:  # fmt: skip
    assert embed(folder, corpus, tmp_path / "v.npy", *options) == 0
    found = json.loads((tmp_path / "v.npy.json").read_text(encoding="utf-8"))
    dtype = "float16" if "float16" in options else "float32"
    expected = {
        "paraphrastic_matrix": 1, "label": model.label, "model": str(folder), "digest": model.digest,
        "preparation": model.preparation, "language": None, "rows": len(LINES), "dimension": model.dim,
        "dtype": dtype, "normalized": "--normalize" in options,
    }  # fmt: skip
    assert {key: found[key] for key in expected} == expected
    assert search(folder, tmp_path / "v.npy", corpus, tmp_path / "out.tsv", "--sentences", corpus) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("later", ["np.save", "copy"])
def test_a_description_of_other_vectors_is_not_believed(
    folder: Path, model: AverageEncoder, changed: Callable[..., Path], corpus: Path, index: Path,
    tmp_path: Path, capsys: pytest.CaptureFixture[str], later: str,
) -> None:  # fmt: skip
    other = changed("other", model="other")
    if later == "np.save":
        np.save(index, model.embed_raw_text(LINES)[::-1])
    else:
        assert embed(other, corpus, tmp_path / "other.npy") == 0
        shutil.copy(tmp_path / "other.npy", index)
    for place in (folder, other):
        assert search(place, index, corpus, tmp_path / "out.tsv") == 0
        assert f"{index}: {index}.json describes other vectors, so" in note_of(capsys)
    np.save(index, model.embed_raw_text(LINES[1:]))
    assert search(folder, index, corpus, tmp_path / "out.tsv") == 0
    assert "describes other vectors" in note_of(capsys)


@pytest.mark.parametrize("lines", [[], [""] * 40, ["", "the dog"], ["the dog"] * 17])
def test_matrices_of_any_size(
    folder: Path, changed: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str],
    lines: list[str],
) -> None:  # fmt: skip
    source, index = write(tmp_path / "in.txt", lines), tmp_path / "v.npy"
    assert embed(folder, source, index) == 0
    query = write(tmp_path / "q.txt", ["the dog"])
    assert search(folder, index, query, tmp_path / "out.tsv", "--sentences", source) == 0
    assert capsys.readouterr().err == ""
    assert search(changed("other", model="other"), index, query, tmp_path / "out.tsv") == 1
    assert "made by the model" in error_of(capsys)


def test_a_description_knows_the_size_and_all_of_its_numbers(model: AverageEncoder) -> None:
    generator = np.random.default_rng(0)
    vectors = generator.normal(size=(40, 200)).astype(np.float32)

    def described(rows: np.ndarray) -> MatrixDescription:
        return described_by(model, rows)

    found, sample = described(vectors), vectors[sampled_rows(40)]
    assert found.describes(40, sample)
    assert found.describes(40, 7 * sample)
    assert not found.describes(39, sample)
    assert not found.describes(40, sample[:, 1:])
    # The numbers of each row are other ones, so that no column is out of sight.
    for column in range(0, 120, 8):
        other = sample.copy()
        other[:, column : column + 8] *= -1
        assert not found.describes(40, other), column
    assert not described(0 * vectors).describes(40, sample)
    assert not found.describes(40, 0 * sample)
    assert described(0 * vectors).describes(40, 0 * sample)
    # Rough vectors have a cosine of about 0.7 with those that were described.
    rough = sample + np.abs(sample).mean() * 1.2 * generator.normal(size=sample.shape)
    assert found.describes(40, rough, is_exact=False)
    assert not found.describes(40, rough)


def test_the_rows_that_identify_a_matrix_are_spread_from_the_first_to_the_last() -> None:
    assert sampled_rows(0).tolist() == []
    assert sampled_rows(1).tolist() == [0]
    assert sampled_rows(16).tolist() == list(range(16))
    assert sampled_rows(1000)[[0, 1, -1]].tolist() == [0, 66, 999]


def damaged(content: str, kind: str) -> str:
    if kind == "no JSON":
        return content[:-30]
    entries = json.loads(content)
    sample = entries["sample"]
    if kind == "missing":
        del entries["digest"]
    changes = {
        "later": {"paraphrastic_matrix": 2},
        "type": {"rows": "many"},
        "deep": {"preparation": json.loads("[" * 90 + "]" * 90)},
        "truth": {"rows": True},
        "sample": {"sample": sample[:-8]},
        "letters": {"sample": "?" + sample[1:]},
        # Some decoders leave out what is not base64.
        "more letters": {"sample": "*" + sample},
    }
    return json.dumps(entries | changes.get(kind, {}))


@pytest.mark.parametrize(
    "kind", ["no JSON", "later", "missing", "type", "deep", "truth", "sample", "letters", "more letters"]
)
def test_a_damaged_description_is_named(
    folder: Path, corpus: Path, index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    beside = Path(f"{index}.json")
    beside.write_text(damaged(beside.read_text(encoding="utf-8"), kind), encoding="utf-8")
    assert search(folder, index, corpus, tmp_path / "out.tsv") == 1
    message = error_of(capsys)
    assert message.startswith(f"{beside}: ")
    assert message.endswith("; remove v.npy.json, or make the matrix again with `paraphrastic embed`")
    named = {"missing": "digest: is missing", "type": "rows: 'many' is not", "truth": "rows: True is not"}
    assert named.get(kind, "") in message


def test_numbers_that_are_not_finite_describe_nothing(index: Path) -> None:
    found = read_description(Path(f"{index}.json"))
    rows = np.full((16, found.dimension), np.nan, np.float32)
    assert not found.describes(found.rows, rows)
    assert not found.describes(found.rows, np.full_like(rows, np.inf))


@pytest.mark.parametrize("content", ["my notes", '{"a": 1}', "[]", None])
def test_a_file_of_the_user_is_not_replaced(
    folder: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None
) -> None:
    beside = tmp_path / "v.npy.json"
    if content is None:
        beside.mkdir()
    else:
        beside.write_text(content)
    assert embed(folder, corpus, tmp_path / "v.npy") == 1
    assert error_of(capsys).startswith(f"{beside}: is in the way: ")
    assert not (tmp_path / "v.npy").exists()
    assert content is None or beside.read_text() == content


def test_outputs_that_are_no_files_have_no_description(
    folder: Path, model: AverageEncoder, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        assert embed(folder, corpus, pipe) == 0
        vectors = np.load(io.BytesIO(read.result(timeout=30)))
    np.testing.assert_array_equal(vectors, model.embed_raw_text(LINES))
    for output in ("-", "/dev/null"):
        assert embed(folder, corpus, output) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["corpus.txt", "pipe"]
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_is_read_only(
    folder: Path, corpus: Path, index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "shut"
    place.mkdir()
    for file in (index, Path(f"{index}.json")):
        shutil.copy(file, place)
    place.chmod(0o555)
    assert search(folder, place / "v.npy", corpus, tmp_path / "out.tsv") == 0
    assert embed(folder, corpus, place / "w.npy") == 1
    assert error_of(capsys).startswith(f"{place}/w.npy: cannot be written: ")


def test_a_failure_leaves_the_old_pair(
    folder: Path, changed: Callable[..., Path], corpus: Path, index: Path, tmp_path: Path
) -> None:
    before = {path: path.read_bytes() for path in (index, Path(f"{index}.json"))}
    other, bad = changed("other", model="other"), tmp_path / "bad.txt"
    bad.write_bytes(b"good\nb\xff\n")
    assert embed(other, bad, index, "--strict") == 1
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("when", ["before the matrix", "after the matrix"])
def test_a_kill_leaves_no_false_description(
    folder: Path, model: AverageEncoder, changed: Callable[..., Path], corpus: Path, index: Path,
    tmp_path: Path, capsys: pytest.CaptureFixture[str], when: str,
) -> None:  # fmt: skip
    other = changed("other", model="other")
    code = """
import os, signal, sys
from pathlib import Path
from paraphrastic.cli import main
from paraphrastic.model.matrix_description import MatrixDescription
def kill(*_): os.kill(os.getpid(), signal.SIGKILL)
if sys.argv.pop(1).startswith("after"): MatrixDescription.write = kill
else: Path.replace = kill
main(sys.argv[1:])
"""
    words = ["embed", "--model", other, "--input", corpus, "--output", index]
    ended = subprocess.run([sys.executable, "-c", code, when, *map(str, words)], check=False)
    assert ended.returncode == -signal.SIGKILL
    expected = model.embed_raw_text(LINES)
    assert np.array_equal(np.load(index), expected) == when.startswith("before")
    for place in (folder, other):
        assert search(place, index, corpus, tmp_path / "out.tsv") == 0
        assert "so it is not known which model made it" in note_of(capsys)


def test_no_description_of_a_matrix_that_another_run_wrote_meanwhile(
    folder: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    write_description = MatrixDescription.write

    def late(description: MatrixDescription, path: Path) -> None:
        np.save(tmp_path / "v.npy", np.ones((len(LINES), description.dimension), np.float32))
        write_description(description, path)

    monkeypatch.setattr(embed_files.MatrixDescription, "write", late)
    assert embed(folder, corpus, tmp_path / "v.npy") == 0
    assert search(folder, tmp_path / "v.npy", corpus, tmp_path / "out.tsv") == 0
    assert "describes other vectors" in note_of(capsys)


def test_a_description_needs_its_rows(model: AverageEncoder, tmp_path: Path) -> None:
    vectors = model.embed_raw_text(LINES)
    found = described_by(model, vectors)
    found.write(tmp_path / "v.npy.json")
    assert read_description(tmp_path / "v.npy.json") == found
    (tmp_path / "v.npy.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match=r"v.npy.json: not readable as JSON"):
        read_description(tmp_path / "v.npy.json")
