"""Test `paraphrastic embed` and `score` with files of any size and kind."""

import bz2
import gzip
import io
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sentence_files import cells_of, run
from small_corpus import sentence_pairs

from paraphrastic.base.errors import InputError
from paraphrastic.base.lines import read_batches
from paraphrastic.model.average import AverageEncoder

SENTENCES = ["the dog", "", "  ", "das kleine haus\u2028", "a\x0bb", "the\tdog", "é" * 100, "the old car "]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_a_row_for_each_line(
    folder: Path, model: AverageEncoder, tmp_path: Path, end: str, last: bool
) -> None:
    text = end.join(SENTENCES * 100) + end * last
    (tmp_path / "in.txt").write_bytes(text.encode())
    for batch in ("1", "7", "2048"):
        assert run("embed", folder, tmp_path / "in.txt", tmp_path / "out.npy", "--batch", batch) == 0
        vectors = np.load(tmp_path / "out.npy", mmap_mode="r")
        np.testing.assert_array_equal(vectors, model.embed_raw_text(SENTENCES * 100))
    options = ("--dtype", "float16", "--normalize", "--threads", "3")
    assert run("embed", folder, tmp_path / "in.txt", tmp_path / "out.npy", *options) == 0
    expected = model.embed_raw_text(SENTENCES * 100, dtype=np.float16, normalize=True)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected)


def test_files_without_lines(folder: Path, model: AverageEncoder, tmp_path: Path) -> None:
    for content, rows in ((b"", 0), (b"\n", 1), (b"\xef\xbb\xbf", 0), (b"\n\n", 2), (b"a", 1)):
        (tmp_path / "in.txt").write_bytes(content)
        assert run("embed", folder, tmp_path / "in.txt", tmp_path / "out.npy") == 0
        assert np.load(tmp_path / "out.npy").shape == (rows, model.dim)


def test_lines_do_not_depend_on_how_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraphrastic.base.lines._CHUNK_BYTES", 10_007)
    generator = random.Random(1)
    text = "".join(generator.choices(["a", "é", "😀", "\n", "\r\n", "bc "], k=60_000))
    lines = text.split("\n")
    expected = [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]

    class Slow(io.BytesIO):
        def read(self, size: int = -1) -> bytes:
            return super().read(min(size, generator.randrange(1, 40)))

    for size in (1, 1000, 10**9):
        for stream in (io.BytesIO(text.encode()), Slow(text.encode())):
            batches = list(read_batches(stream, "x", size))
            assert max(map(len, batches)) <= size
            assert [line for batch in batches for line in batch] == expected


def test_a_line_that_is_not_utf8_is_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.txt").write_bytes(b"the dog\n" * 140_000 + b"caf\xe9\n" + b"the dog\n" * 10)
    assert run("embed", folder, tmp_path / "in.txt", tmp_path / "out.npy", "--strict") == 1
    named = f"{tmp_path}/in.txt:140001: not UTF-8: byte 0xe9\n"
    assert capsys.readouterr().err == f"paraphrastic: error: {named}"
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]
    assert run("embed", folder, tmp_path / "in.txt", tmp_path / "out.npy") == 0
    assert capsys.readouterr().err == f"paraphrastic: {named}"
    empty = ~np.load(tmp_path / "out.npy").any(axis=1)
    assert np.flatnonzero(empty).tolist() == [140_000]


@pytest.mark.parametrize("command", ["embed", "score", "search", "search --sentences", "dedup"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_line_with_a_nul_character_is_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, encoding: str
) -> None:
    bad, good = tmp_path / "bad.txt", tmp_path / "good.txt"
    output = tmp_path / ("out.npy" if command == "embed" else "out.tsv")
    bad.write_bytes("the dog\tthe\0cat\n".encode(encoding))
    good.write_text("the dog\n")
    source, options = bad, []
    if command.startswith("search"):
        assert run("embed", folder, good, tmp_path / "v.npy") == 0
        options = ["--index", str(tmp_path / "v.npy")]
    if command.endswith("--sentences"):
        source, options = good, [*options, "--sentences", str(bad)]
    assert run(command.split()[0], folder, source, output, *options) == 1
    error = capsys.readouterr().err
    assert re.search("^paraphrastic: error: .*NUL|no row can be read", error, re.M)
    assert f"{bad}:1: contains a NUL character, which is not valid in text\n" in error
    assert not output.exists()


def test_control_characters_are_spaces(folder: Path, model: AverageEncoder, tmp_path: Path) -> None:
    odd = "".join(map(chr, [*range(1, 9), 11, 12, *range(14, 32), *range(127, 160)]))
    lines, plain = [f"the{each}dog" for each in odd], ["the dog"] * len(odd)
    (tmp_path / "odd.txt").write_bytes("\n".join(lines).encode())
    (tmp_path / "odd.tsv").write_bytes("\n".join(f"{line}\tthe cat" for line in lines).encode())
    expected = model.embed_raw_text(plain)
    np.testing.assert_array_equal(model.embed_raw_text(lines), expected)
    assert run("embed", folder, tmp_path / "odd.txt", tmp_path / "out.npy") == 0
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected)
    scores = model.score_raw_text([(line, "the cat") for line in plain])
    assert model.score_raw_text([(line, "the cat") for line in lines]) == scores
    assert run("score", folder, tmp_path / "odd.tsv", tmp_path / "out.tsv") == 0
    rows = (tmp_path / "out.tsv").read_text(encoding="utf-8").split("\n")[:-1]
    assert rows == [f"{scores[0]:.6f}\tthe dog\tthe cat"] * len(odd)


def test_a_nul_character_in_a_string(model: AverageEncoder) -> None:
    with pytest.raises(InputError, match=r"^a sentence \(number 1\) contains a NUL character"):
        model.embed_raw_text(["the dog", "the\0dog"])
    with pytest.raises(InputError, match=r"^a sentence \(the second of pair 1\) contains a NUL character"):
        model.score_raw_text([("the dog", "the cat"), ("the dog", "the\0cat")])


def test_compressed_files_and_standard_streams(
    folder: Path, model: AverageEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "\n".join(SENTENCES).encode()
    expected = model.embed_raw_text(SENTENCES)
    for name, packed in (("a.gz", gzip.compress(content, mtime=0)), ("a.bz2", bz2.compress(content))):
        (tmp_path / name).write_bytes(packed)
        assert run("embed", folder, tmp_path / name, tmp_path / "out.npy") == 0
        np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), expected)
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert run("embed", folder, "-", "-") == 0
    np.testing.assert_array_equal(np.load(io.BytesIO(written.getvalue())), expected)


def test_places_that_cannot_be_read_or_written(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.txt").write_text("the dog\n")
    (tmp_path / "broken.gz").write_bytes(gzip.compress(b"the dog\n" * 1000, mtime=0)[:-20])
    for source, output, message in (
        ("none.txt", "out.npy", "none.txt: cannot be read: No such file or directory"),
        ("in.txt", "", ": cannot be written: Is a directory"),
        ("in.txt", "in.txt/out.npy", "in.txt/out.npy: cannot be written: File exists"),
        ("broken.gz", "out.npy", "broken.gz: "),
    ):
        for command in ("embed", "score"):
            assert run(command, folder, tmp_path / source, tmp_path / output) == 1
            errors = capsys.readouterr().err
            assert errors.startswith("paraphrastic: error: ")
            assert message in errors
            assert len(errors.splitlines()) == 1
    assert {path.name for path in tmp_path.iterdir()} == {"in.txt", "broken.gz"}


def test_scores_stand_before_their_pairs(folder: Path, model: AverageEncoder, tmp_path: Path) -> None:
    pairs = [("the dog", "the small dog"), ("", "the dog"), ("é", "é"), *sentence_pairs(3000, seed=5)]
    (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
    assert run("score", folder, tmp_path / "pairs.tsv", tmp_path / "out.tsv", "--batch", "64") == 0
    rows = cells_of(tmp_path / "out.tsv")
    assert [(a, b) for _, a, b in rows] == pairs
    np.testing.assert_allclose([float(row[0]) for row in rows], model.score_raw_text(pairs), atol=5e-7)


def test_lines_with_other_columns(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["the dog\tthe cat"] * 3000
    lines[2500], lines[2600], lines[2700] = "the dog", "a\tb\tc", ""
    (tmp_path / "pairs.tsv").write_text("\n".join(lines))
    assert run("score", folder, tmp_path / "pairs.tsv", tmp_path / "out.tsv", "--strict") == 1
    named = f"{tmp_path}/pairs.tsv:2501: 1 columns, where 2 are expected\n"
    assert capsys.readouterr().err == f"paraphrastic: error: {named}"
    assert not (tmp_path / "out.tsv").exists()
    assert run("score", folder, tmp_path / "pairs.tsv", tmp_path / "out.tsv") == 0
    assert len((tmp_path / "out.tsv").read_text().splitlines()) == 2997
    named = [line.split(": ")[1].split(":")[1] for line in capsys.readouterr().err.splitlines()]
    # A blank line is no row.
    assert named == ["2501", "2601"]


def test_memory_does_not_grow_with_the_file(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "small.txt").write_text("the dog sees the cat\n" * 20_000)
    (tmp_path / "large.txt").write_text("the dog sees the cat\n" * 400_000)
    assert run("embed", folder, tmp_path / "small.txt", tmp_path / "out.npy") == 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert run("embed", folder, tmp_path / "large.txt", tmp_path / "out.npy") == 0
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    grown, written = 1024 * (after - before), (tmp_path / "out.npy").stat().st_size
    assert written > 24_000_000
    assert grown < 12_000_000


def test_a_link_stays_one(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("the dog\n")
    (tmp_path / "sub").mkdir()
    for name in ("there.npy", "not_yet.npy"):
        link, file = tmp_path / f"link-{name}", tmp_path / "sub" / name
        link.symlink_to(Path("sub") / name)
        if name == "there.npy":
            file.write_bytes(b"old")
        assert run("embed", folder, tmp_path / "in.txt", link) == 0
        assert link.is_symlink()
        assert np.load(file).shape[0] == 1
    names = ["not_yet.npy", "not_yet.npy.json", "there.npy", "there.npy.json"]
    assert sorted(path.name for path in (tmp_path / "sub").iterdir()) == names


PROGRAM = "import sys; from paraphrastic.cli import main; sys.exit(main(sys.argv[1:]))"


def test_a_file_that_may_not_grow(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("the dog\n" * 20_000)
    words = [sys.executable, "-c", PROGRAM, "embed", "--model", folder, "--input", tmp_path / "in.txt"]
    line = shlex.join(map(str, [*words, "--output", tmp_path / "out.npy"]))
    run = subprocess.run(
        ["bash", "-c", f"ulimit -f 100; {line}"], capture_output=True, text=True, check=False, timeout=120
    )
    assert (run.returncode, run.stderr) == (
        1,
        f"paraphrastic: error: {tmp_path}/out.npy: cannot be written: the file would be too large\n",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


@pytest.mark.parametrize(
    ("ending", "message"), [(signal.SIGINT, "paraphrastic: interrupted\n"), (signal.SIGTERM, "")]
)
def test_an_end_by_a_signal_leaves_nothing(
    folder: Path, tmp_path: Path, ending: signal.Signals, message: str
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    words = [sys.executable, "-c", PROGRAM, "embed", "--model", folder, "--input", pipe]
    run = subprocess.Popen(
        list(map(str, [*words, "--output", tmp_path / "out.npy"])), stderr=subprocess.PIPE, text=True
    )
    with pipe.open("w") as stream:
        stream.write("the dog\n")
        stream.flush()
        while not list(tmp_path.glob(".out.npy*")):
            time.sleep(0.05)
        run.send_signal(ending)
        _, errors = run.communicate(timeout=60)
    assert (run.returncode, errors) == (128 + ending, message)
    assert [path.name for path in tmp_path.iterdir()] == ["pipe"]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("in.txt", "vectors are written as .npy, .parquet or .jsonl, not as .txt"),
        ("out.csv", "vectors are written as .npy, .parquet or .jsonl, not as .csv"),
        ("in.jsonl", "is the text itself; name another file for the vectors"),
        ("in.npy", "is the text itself; name another file for the vectors"),
    ],
)
def test_no_output_takes_the_place_of_the_text_or_a_wrong_name(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], output: str, message: str
) -> None:
    for name in ("in.txt", "in.jsonl"):
        (tmp_path / name).write_text('{"text": "a dog"}\n')
    (tmp_path / "in.npy").symlink_to("in.txt")
    source = "in.jsonl" if output == "in.jsonl" else "in.txt"
    column = ("--column", "text") if source == "in.jsonl" else ()
    assert run("embed", folder, tmp_path / source, tmp_path / output, *column) != 0
    assert f"{tmp_path / output}: {message}" in capsys.readouterr().err
    assert (tmp_path / source).read_text() == '{"text": "a dog"}\n'
    assert not (tmp_path / "out.csv").exists()
