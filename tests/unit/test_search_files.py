"""Test the files and error messages of `paraphrastic search` and `dedup`, also in a base installation."""

import gzip
import io
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from sentence_files import SENTENCES, cells_of, dedup, embed, mine, search, write
from small_corpus import PAIRS
from test_matrix_search import plainly

from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import Source
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.system import System
from paraphrastic.neighbours import dedup_files, matrix_search, mine_files, search_files


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    lines = list(SENTENCES)
    lines[4], lines[9], lines[20] = "", lines[9].replace(" ", "\t"), f" {lines[3]} "
    return write(tmp_path / "corpus.txt", lines)


@pytest.fixture
def index(folder: Path, corpus: Path) -> Path:
    output = corpus.with_name("vectors.npy")
    assert embed(folder, corpus, output) == 0
    return output


@pytest.mark.parametrize("options", [(), ("--k", 3, "--min-score", 0.6, "--threads", 3)])
def test_the_nearest_rows_are_written(
    folder: Path, model: AverageEncoder, corpus: Path, index: Path, tmp_path: Path, options: tuple
) -> None:
    queries = [PAIRS[200][0], "", f"  {PAIRS[1][0]}\tand more", PAIRS[3][1]]
    (tmp_path / "q.txt.gz").write_bytes(gzip.compress("\r\n".join(queries).encode()))
    output = tmp_path / "new" / "hits.tsv"
    assert search(folder, index, tmp_path / "q.txt.gz", output, "--sentences", corpus, *options) == 0
    rows = cells_of(output)
    k, min_score = (3, 0.6) if "--k" in options else (10, None)
    expected = plainly(np.load(index), model.embed_raw_text(queries), k, min_score)
    lines = corpus.read_text(encoding="utf-8").splitlines()
    wanted = [
        (query, rank, row)
        for query in range(4)
        for rank, row in enumerate(expected.indices[query].tolist())
        if row >= 0
    ]
    assert [row[1:] for row in rows] == [
        [str(query + 1), str(rank + 1), str(row + 1), queries[query].replace("\t", " ").strip(),
         lines[row].replace("\t", " ").strip()]
        for query, rank, row in wanted
    ]  # fmt: skip
    scores = [expected.cosines[query, rank] for query, rank, _ in wanted]
    np.testing.assert_allclose([float(row[0]) for row in rows], scores, atol=1e-6)
    assert {row[1] for row in rows} <= {"1", "3", "4"}


def test_standard_input_and_output(
    folder: Path, index: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"\n{SENTENCES[7]}".encode())))
    assert search(folder, index, "-", "-", "--k", "1") == 0
    assert capfdbinary.readouterr().out == b"1.000000\t2\t1\t8\n"


def test_queries_in_groups(
    folder: Path, corpus: Path, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, parts = tmp_path / "whole.tsv", tmp_path / "parts.tsv"
    assert search(folder, index, corpus, whole, "--sentences", corpus) == 0
    monkeypatch.setattr(search_files, "QUERY_NUMBERS", 7 * np.load(index).shape[1])
    monkeypatch.setattr(matrix_search, "BLOCK_NUMBERS", 1000)
    assert search(folder, index, corpus, parts, "--sentences", corpus) == 0
    assert whole.read_bytes() == parts.read_bytes()


def test_nothing_to_look_for_or_in(folder: Path, index: Path, tmp_path: Path) -> None:
    empty = write(tmp_path / "empty.txt", [])
    assert search(folder, index, empty, tmp_path / "out.tsv") == 0
    assert (tmp_path / "out.tsv").read_bytes() == b""
    np.save(tmp_path / "none.npy", np.load(index)[:0])
    one = write(tmp_path / "one.txt", ["a dog"])
    assert search(folder, tmp_path / "none.npy", one, tmp_path / "out.tsv", "--sentences", empty) == 0
    assert (tmp_path / "out.tsv").read_bytes() == b""


def bad_index(path: Path, kind: str, vectors: np.ndarray) -> None:
    if kind in ("folder", "missing"):
        if kind == "folder":
            path.mkdir()
        return
    damaged = vectors.copy()
    damaged[12, 3] = np.nan
    arrays = {
        "nan": damaged, "dim": vectors[:, :-1], "flat": vectors[0], "int": vectors.astype(int),
        "columns": np.asfortranarray(vectors), "object": np.array([[None]]),
    }  # fmt: skip
    np.save(path, arrays.get(kind, vectors))
    whole, shape, dim = path.read_bytes(), str(vectors.shape).encode(), vectors.shape[1]
    contents = {
        "short": whole[:-1],
        "header": whole.replace(b"'descr': '", b"'descr': ((", 1),
        "negative": whole.replace(shape, (b"(-1, %d)" % dim).ljust(len(shape)), 1),
        "truth": whole.replace(shape, (b"(True, %d)" % dim).ljust(len(shape)), 1),
        "text": b"no vectors\n" * 20,
        "empty": b"",
    }
    path.write_bytes(contents.get(kind, whole))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("nan", "{path}: row 13 has numbers that are not finite"),
        ("dim", "{path} has vectors of {less} dimensions, but those of"),
        ("flat", "{path}: not rows of floating-point numbers, but float32 ({dim},)"),
        ("int", "{path}: not rows of floating-point numbers, but int64 (300, {dim})"),
        ("columns", "{path}: is stored by columns; save numpy.ascontiguousarray(vectors)"),
        ("object", "{path}: not rows of floating-point numbers, but object (1, 1)"),
        ("short", "{path}: damaged: "),
        ("header", "{path}: not a .npy file of vectors: "),
        ("negative", "{path}: damaged: its shape is (-1, {dim})"),
        ("truth", "{path}: damaged: its shape is (True, {dim})"),
        ("text", "{path}: not a .npy file of vectors: "),
        ("empty", "{path}: not a .npy file of vectors: "),
        ("folder", "{path}: a folder without .parquet files"),
        ("missing", "{path}: cannot be read: No such file or directory"),
    ],
)
def test_a_faulty_index_is_named(
    folder: Path, index: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str,
    message: str,
) -> None:  # fmt: skip
    vectors, path = np.load(index), tmp_path / "bad.npy"
    bad_index(path, kind, vectors)
    assert search(folder, path, corpus, tmp_path / "out.tsv") == 1
    error = capsys.readouterr().err
    dim = vectors.shape[1]
    assert error.startswith(f"paraphrastic: error: {message.format(path=path, dim=dim, less=dim - 1)}")
    assert error.count("\n") == 1
    assert not list(tmp_path.glob("*out.tsv*"))


def test_sentences_are_those_of_the_rows(
    folder: Path, index: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = write(tmp_path / "more.txt", [*SENTENCES, "one more"])
    assert search(folder, index, corpus, tmp_path / "out.tsv", "--sentences", more) == 1
    assert capsys.readouterr().err == (f"paraphrastic: error: {more} has 301 rows, but {index} has 300\n")
    assert search(folder, index, corpus, tmp_path / "out.tsv", "--sentences", "-") == 1
    assert "cannot come from a pipe" in capsys.readouterr().err


def test_an_index_of_faiss(
    folder: Path, index: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    faiss = pytest.importorskip("faiss")
    vectors = np.load(index)
    assert search(folder, index, corpus, tmp_path / "own.tsv", "--sentences", corpus) == 0
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
    # The indexes are an exact one for vectors of any length, one that searches all lists, and one that
    # searches one list.
    coarse = faiss.IndexFlatIP(vectors.shape[1])
    lists = faiss.IndexIVFFlat(coarse, vectors.shape[1], 4, faiss.METRIC_INNER_PRODUCT)
    lists.train(units)
    lists.add(units)
    flat = faiss.IndexFlatIP(vectors.shape[1])
    flat.add(vectors)
    faiss.write_index(flat, str(tmp_path / "flat.faiss"))
    lists.nprobe = 4
    faiss.write_index(lists, str(tmp_path / "lists.faiss"))
    for name in ("flat", "lists"):
        output = tmp_path / f"{name}.tsv"
        assert search(folder, tmp_path / f"{name}.faiss", corpus, output, "--sentences", corpus) == 0
    assert (tmp_path / "flat.tsv").read_bytes() == (tmp_path / "own.tsv").read_bytes()
    own, other = (
        [line.split("\t")[:3] for line in (tmp_path / f"{name}.tsv").read_text().splitlines()]
        for name in ("own", "lists")
    )
    assert len(own) == len(other)
    np.testing.assert_allclose(np.array(own, float), np.array(other, float), atol=2e-6)

    distances = faiss.IndexFlatL2(vectors.shape[1])
    faiss.write_index(distances, str(tmp_path / "distances.faiss"))
    (tmp_path / "text.faiss").write_text("no index\n")
    named = faiss.IndexIDMap(faiss.IndexFlatIP(vectors.shape[1]))
    named.add_with_ids(units, np.arange(300) + 1000)
    faiss.write_index(named, str(tmp_path / "named.faiss"))
    negative = faiss.IndexIDMap(faiss.IndexFlatIP(vectors.shape[1]))
    negative.add_with_ids(units, -np.arange(300))
    faiss.write_index(negative, str(tmp_path / "negative.faiss"))
    untrained = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(vectors.shape[1]), vectors.shape[1], 4, faiss.METRIC_INNER_PRODUCT
    )
    faiss.write_index(untrained, str(tmp_path / "untrained.faiss"))
    graph = faiss.IndexHNSWFlat(vectors.shape[1], 8, faiss.METRIC_INNER_PRODUCT)
    faiss.write_index(graph, str(tmp_path / "none.faiss"))
    assert search(folder, tmp_path / "none.faiss", corpus, tmp_path / "none.tsv") == 0
    assert (tmp_path / "none.tsv").read_bytes() == b""
    for name, cause in {
        "distances": "an index of distances",
        "text": "not an index of FAISS: ",
        "named": "its vectors have ids of their own",
        "negative": "its vectors have ids of their own",
        "untrained": "an index without vectors that FAISS has not trained",
        "missing": "cannot be read: No such file or directory",
    }.items():
        path = tmp_path / f"{name}.faiss"
        capsys.readouterr()
        assert search(folder, path, corpus, tmp_path / "out.tsv") == 1
        error = capsys.readouterr().err
        assert error.startswith(f"paraphrastic: error: {path}: {cause}")
        assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--threshold", "0"), "a threshold of 0 is not above 0 and at most 1"),
        (("--threshold", "1.5"), "a threshold of 1.5 is not above 0 and at most 1"),
        (("--report", "-"), "-: the lines and the report cannot both go there"),
        (("--threshold", "1.0000001"), "a threshold of 1.0000001 is not above 0 and at most 1"),
    ],
)
def test_options_that_make_no_sense(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str], message: str
) -> None:
    assert dedup(folder, write(tmp_path / "in.txt", ["a"]), "-", *options) == 1
    assert capsys.readouterr().err == f"paraphrastic: error: {message}\n"


@pytest.mark.parametrize("command", ["search", "dedup"])
def test_text_that_is_not_utf8_is_named(
    folder: Path, index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    bad, output = tmp_path / "bad.txt", tmp_path / "out"
    bad.write_bytes(b"good\nb\xff\n")

    def run(*options: str) -> int:
        if command == "search":
            return search(folder, index, bad, output, *options)
        return dedup(folder, bad, output, *options)

    assert run("--strict") == 1
    assert capsys.readouterr().err == f"paraphrastic: error: {bad}:2: not UTF-8: byte 0xff\n"
    assert not output.exists()
    assert run() == 0
    assert f"paraphrastic: {bad}:2: not UTF-8: byte 0xff\n" in capsys.readouterr().err
    if command == "dedup":
        assert output.read_bytes() == bad.read_bytes()
    else:
        assert {line.split(b"\t")[1] for line in output.read_bytes().splitlines()} == {b"1"}


def test_vectors_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    def embed(sentences, _):
        return np.full((len(sentences), 2), np.nan, np.float32)

    np.save(tmp_path / "v.npy", np.ones((3, 2), np.float32))
    source, output = str(write(tmp_path / "in.txt", ["a"])), str(tmp_path / "out")
    encoder = System("Odd", 2, "d", embed)
    with pytest.raises(InputError, match=r"Odd: .*in.txt: the vector of 'a' is not finite"):
        search_files.search_files(
            encoder,
            search_files.Index(str(tmp_path / "v.npy")),
            Source(source),
            output,
            options=search_files.SearchOptions(1),
        )
    with pytest.raises(InputError, match=r"Odd: .*in.txt: the vector of 'a' is not finite"):
        dedup_files.dedup_file(encoder, Source(source), output, threshold=0.9)


@pytest.mark.parametrize("command", ["search", "dedup", "mine"])
def test_an_interrupt_leaves_what_was_there(
    folder: Path, index: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch, command: str,
) -> None:  # fmt: skip
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(search_files, "search", interrupt)
    monkeypatch.setattr(dedup_files, "near_duplicates", interrupt)
    monkeypatch.setattr(mine_files, "nearest_neighbours", interrupt)
    places = tmp_path / "out.tsv", tmp_path / "report.tsv"
    for path in places:
        path.write_text("of an earlier run\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    run = {
        "search": lambda: search(folder, index, corpus, places[0]),
        "dedup": lambda: dedup(folder, corpus, places[0], "--report", places[1]),
        "mine": lambda: mine(folder, corpus, corpus, places[0]),
    }[command]
    assert run() == 128 + signal.SIGINT
    assert capsys.readouterr().err == "paraphrastic: interrupted\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert all(path.read_text() == "of an earlier run\n" for path in places)


@pytest.mark.parametrize("command", ["embed", "search", "dedup"])
def test_a_full_disk_is_told(
    folder: Path, index: Path, full_disk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str],
    command: str,
) -> None:  # fmt: skip
    lines = write(tmp_path / "many.txt", [f"{sentence} {n}" for n in range(40) for sentence in SENTENCES])
    output = full_disk / "out"
    run = {
        "embed": lambda: embed(folder, lines, output),
        "search": lambda: search(folder, index, lines, output),
        "dedup": lambda: dedup(folder, lines, tmp_path / "kept.txt", "--report", output),
    }[command]
    assert run() == 1
    assert not (tmp_path / "kept.txt").exists()
    message = f"paraphrastic: error: {output}: cannot be written: no space left on the disk\n"
    assert capsys.readouterr().err == message
    assert [path.name for path in full_disk.iterdir()] == ["ballast"]


def test_pipes_are_read_and_written(folder: Path, tmp_path: Path) -> None:
    source, output = tmp_path / "source", tmp_path / "output"
    os.mkfifo(source)
    os.mkfifo(output)
    read: list[str] = []
    threads = [
        threading.Thread(
            target=lambda: source.write_bytes(gzip.compress(b"a dog\nthe house\na dog", mtime=0))
        ),
        threading.Thread(target=lambda: read.append(output.read_text())),
    ]
    for thread in threads:
        thread.start()
    assert dedup(folder, source, output) == 0
    for thread in threads:
        thread.join()
    assert read == ["a dog\nthe house\n"]
    assert stat.S_ISFIFO(output.stat().st_mode)


# These packages are missing in a base installation.
ABSENT = (
    *("duckdb", "faiss", "fasttext", "h5py", "jieba", "jsonschema", "matplotlib", "nltk", "pandas", "polars"),
    *("pyarrow", "rensa", "scipy", "sentence_transformers", "sklearn", "snakemake", "torch", "tqdm", "yaml"),
)


def test_a_base_installation_is_enough(
    folder: Path, corpus: Path, index: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {ABSENT}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
import paraphrastic
from paraphrastic.cli import main
assert not {{"numpy", "numba", "sentencepiece"}} & set(sys.modules), "imported before they are needed"
folder, corpus, pairs, index, output = sys.argv[1:]
model = paraphrastic.load_model(folder)
assert model.embed_raw_text(["the dog"]).shape == (1, model.dim)
assert 0.99 < model.score_raw_text([("the dog", "The dog")])[0] <= 1
common = ["--model", folder, "--output", output]
assert main(["embed", *common, "--input", corpus]) == 0
assert main(["score", *common, "--input", pairs]) == 0
assert main(["search", *common, "--index", index, "--input", corpus]) == 0
assert main(["dedup", *common, "--input", corpus]) == 0
assert main(["mine", *common, "--source", corpus, "--target", corpus]) == 0
assert main(["search", *common, "--index", "made.faiss", "--input", corpus]) == 1
assert main(["dedup", *common, "--input", corpus + ".zst"]) == 1
"""
    corpus.with_suffix(".txt.zst").write_bytes(pyarrow.compress(b"a dog", codec="zstd", asbytes=True))
    pairs = write(tmp_path / "pairs.tsv", ["the dog\tder hund"])
    arguments = [str(path) for path in (folder, corpus, pairs, index, tmp_path / "out")]
    subprocess.run([sys.executable, "-c", code, *arguments], check=True)
    faiss, zstandard = capfd.readouterr().err.splitlines()[-2:]
    assert faiss.endswith("faiss is not installed; run pip install '.[faiss]' in the project's folder")
    assert zstandard.endswith(
        ": reading Zstandard needs pyarrow, which is not installed; run pip install pyarrow"
    )
