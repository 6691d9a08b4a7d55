"""Test that a matrix which `embed` wrote knows its model, and that `search` refuses those of other models."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from faults import message
from sentence_files import SENTENCES, search, write

from paraphrastic.base.errors import InputError
from paraphrastic.cli import main
from paraphrastic.model import embed_files
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.folder import save_model
from paraphrastic.model.matrix_description import MatrixDescription, read_description

LINES = ["", *SENTENCES[:200], "  ", "the\tend"]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus.txt", LINES)


def embed(folder: object, source: object, output: object, *more: object) -> int:
    places = ["--model", folder, "--input", source, "--output", output]
    return main(["embed", *map(str, (*places, *more))])


@pytest.fixture
def index(folder: Path, corpus: Path, tmp_path: Path) -> Path:
    assert embed(folder, corpus, tmp_path / "v.npy") == 0
    return tmp_path / "v.npy"


@pytest.fixture
def changed(model: AverageEncoder, tmp_path: Path) -> Callable[..., Path]:
    """A function that saves a model of the same dimension in a folder of this name."""

    def save(name: str, **config: object) -> Path:
        embeddings = model.embeddings[::-1] if "model" in config else model.embeddings
        entries = {**model.config, **config}
        made = AverageEncoder(
            np.ascontiguousarray(embeddings), model.known, model.unknown, model.processor, entries
        )
        save_model(made, tmp_path / name)
        return tmp_path / name

    return save


def error_of(capsys: pytest.CaptureFixture[str]) -> str:
    error = capsys.readouterr().err
    assert error.startswith("paraphrastic: error: ")
    assert error.count("\n") == 1
    return error.removeprefix("paraphrastic: error: ").strip()


def note_of(capsys: pytest.CaptureFixture[str]) -> str:
    note = capsys.readouterr().err
    assert note.startswith("paraphrastic: ")
    assert note.count("\n") == 1
    assert "error" not in note
    return note.removeprefix("paraphrastic: ").strip()


@pytest.mark.parametrize("options", [(), ("--normalize",), ("--dtype", "float16")])
def test_a_matrix_of_the_same_model_is_searched_in_silence(
    folder: Path,
    model: AverageEncoder,
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
) -> None:
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


def test_a_matrix_of_another_model_is_refused(
    folder: Path,
    model: AverageEncoder,
    changed: Callable[..., Path],
    corpus: Path,
    index: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = changed("another one", model="other")
    assert search(other, index, corpus, tmp_path / "out.tsv") == 1
    assert error_of(capsys) == (
        f"{index}: made by the model {model.label}, but P-SP other embeds the sentences to search for; "
        f"give --model {folder}, or make the matrix again with --model '{other}'"
    )
    assert not (tmp_path / "out.tsv").exists()
    # A model of the same name in another folder, and one that prepares text otherwise.
    for name in (changed("copy", model=model.config["model"]), changed("cased", lowercase=False)):
        assert search(name, index, corpus, tmp_path / "out.tsv") == 1
        assert f"made by the model {model.label} of --model {folder}, but " in error_of(capsys)


def test_a_model_that_was_trained_again(
    folder: Path,
    model: AverageEncoder,
    changed: Callable[..., Path],
    corpus: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place, index = tmp_path / "model", tmp_path / "v.npy"
    shutil.copytree(folder, place)
    assert embed(place, corpus, index) == 0
    shutil.rmtree(place)
    changed("model", model=model.config["model"])
    assert search(place, index, corpus, tmp_path / "out.tsv") == 1
    assert error_of(capsys) == (
        f"{index}: made by {model.label} before the model in {place} changed; "
        "make it again with `paraphrastic embed`"
    )
    assert embed(place, corpus, index) == 0
    assert search(place, index, corpus, tmp_path / "out.tsv") == 0


def test_a_language_chooses_another_model_of_the_package(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    english, german = write(tmp_path / "en.txt", ["A dog."]), write(tmp_path / "de.txt", ["Ein Hund."])
    places = ["--output", str(tmp_path / "v.npy")]
    assert main(["embed", "--input", str(english), *places]) == 0
    query = ["search", "--index", str(tmp_path / "v.npy"), "--input", str(german), "--output", "-"]
    assert main([*query, "--language", "de"]) == 1
    assert error_of(capsys).endswith("give --model en, or make the matrix again with --model en-de-es-fr")
    assert (
        main(["embed", "--model", "en-de-es-fr", "--language", "en", "--input", str(english), *places]) == 0
    )
    assert main([*query, "--language", "de", "--sentences", str(english)]) == 0
    assert capsys.readouterr().err == ""


def test_a_matrix_from_elsewhere_is_taken_with_a_note(
    folder: Path, model: AverageEncoder, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "own.npy", model.embed_raw_text(LINES).astype(np.float64) * 1e300)
    (tmp_path / "own.npy.json").write_text('{"about": "a file of another program"}')
    assert search(folder, tmp_path / "own.npy", corpus, tmp_path / "out.tsv", "--sentences", corpus) == 0
    assert note_of(capsys) == (
        f"{tmp_path}/own.npy: there is no description beside it, so it is not known which model made it; "
        f"the result makes sense only if it was {model.label}"
    )


@pytest.mark.parametrize("later", ["np.save", "copy"])
def test_a_description_of_other_vectors_is_not_believed(
    folder: Path,
    model: AverageEncoder,
    changed: Callable[..., Path],
    corpus: Path,
    index: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    later: str,
) -> None:
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
    folder: Path,
    changed: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    lines: list[str],
) -> None:
    source, index = write(tmp_path / "in.txt", lines), tmp_path / "v.npy"
    assert embed(folder, source, index) == 0
    query = write(tmp_path / "q.txt", ["the dog"])
    assert search(folder, index, query, tmp_path / "out.tsv", "--sentences", source) == 0
    assert capsys.readouterr().err == ""
    assert search(changed("other", model="other"), index, query, tmp_path / "out.tsv") == 1
    assert "made by the model" in error_of(capsys)


def test_sentences_in_another_order_are_refused(
    folder: Path, model: AverageEncoder, corpus: Path, index: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    shuffled = write(tmp_path / "shuffled.txt", LINES[::-1])
    assert search(folder, index, corpus, tmp_path / "out.tsv", "--sentences", shuffled) == 1
    message = error_of(capsys)
    line = int(message.removeprefix(f"{shuffled}:").partition(":")[0])
    assert f":{line}: is not the sentence of row {line} of {index} (their cosine is " in message
    half = write(tmp_path / "half.txt", [*LINES[:100], "a line more", *LINES[100:-1]])
    assert search(folder, index, corpus, tmp_path / "out.tsv", "--sentences", half) == 1
    assert "is not the sentence of row" in error_of(capsys)
    # A matrix from elsewhere is refused only if all rows differ, because less is known about it.
    Path(f"{index}.json").unlink()
    assert search(folder, index, corpus, tmp_path / "out.tsv", "--sentences", half) == 0
    assert "there is no description" in note_of(capsys)
    assert search(folder, index, corpus, tmp_path / "out.tsv", "--sentences", shuffled) == 1
    assert f"{model.label} embeds it otherwise than row " in error_of(capsys)


def test_a_matrix_from_elsewhere_of_another_model(
    folder: Path,
    changed: Callable[..., Path],
    corpus: Path,
    index: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path(f"{index}.json").unlink()
    other = changed("other", model="other")
    assert search(other, index, corpus, tmp_path / "out.tsv", "--sentences", corpus) == 1
    assert "give the model and the text that the matrix was made of" in error_of(capsys)


def damaged(content: str, kind: str) -> str:
    entries = json.loads(content)
    if kind == "no JSON":
        return content[:-30]
    if kind == "later":
        entries["paraphrastic_matrix"] = 2
    elif kind == "missing":
        del entries["digest"]
    elif kind == "type":
        entries["rows"] = "many"
    elif kind == "truth":
        entries["rows"] = True
    elif kind == "sample":
        entries["sample"] = entries["sample"][:-8]
    else:
        entries["sample"] = "?" + entries["sample"][1:]
    return json.dumps(entries)


@pytest.mark.parametrize("kind", ["no JSON", "later", "missing", "type", "truth", "sample", "letters"])
def test_a_damaged_description_is_named(
    folder: Path, corpus: Path, index: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    beside = Path(f"{index}.json")
    beside.write_text(damaged(beside.read_text(encoding="utf-8"), kind), encoding="utf-8")
    assert search(folder, index, corpus, tmp_path / "out.tsv") == 1
    message = error_of(capsys)
    assert message.startswith(f"{beside}: ")
    assert message.endswith("; remove v.npy.json, or make the matrix again with `paraphrastic embed`")


def test_the_page_on_troubleshooting(
    folder: Path,
    changed: Callable[..., Path],
    corpus: Path,
    index: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    beside = Path(f"{index}.json")
    assert search(changed("other", model="other"), index, corpus, "-") == 1
    entries = json.loads(beside.read_text())
    beside.write_text(json.dumps({**entries, "digest": "of the earlier one"}))
    assert search(folder, index, corpus, "-") == 1
    beside.write_text(json.dumps(entries))
    shuffled = write(tmp_path / "shuffled.txt", LINES[::-1])
    assert search(folder, index, corpus, "-", "--sentences", shuffled) == 1
    beside.unlink()
    assert search(folder, index, corpus, tmp_path / "out.tsv") == 0
    patterns = message("A matrix of another model").pattern.split("|")
    for pattern, line in zip(patterns, capsys.readouterr().err.splitlines(), strict=True):
        assert re.fullmatch(pattern, line)


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
    folder: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        assert embed(folder, corpus, pipe) == 0
        assert np.load(io.BytesIO(read.result(timeout=30))).shape[0] == len(LINES)
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
    assert embed(other, bad, index) == 1
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("when", ["before the matrix", "after the matrix"])
def test_a_kill_leaves_no_false_description(
    folder: Path,
    model: AverageEncoder,
    changed: Callable[..., Path],
    corpus: Path,
    index: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    when: str,
) -> None:
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


def test_a_link_to_a_matrix(
    folder: Path, changed: Callable[..., Path], corpus: Path, index: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    (tmp_path / "sub").mkdir()
    link = tmp_path / "sub" / "link.npy"
    link.symlink_to(index)
    assert search(folder, link, corpus, tmp_path / "out.tsv") == 0
    assert capsys.readouterr().err == ""
    assert search(changed("other", model="other"), link, corpus, tmp_path / "out.tsv") == 1
    assert error_of(capsys).startswith(f"{link}: made by the model")


@pytest.mark.parametrize("kind", ["Flat", "IDMap,Flat", "IVF4,Flat", "HNSW8", "IVF4,SQ8"])
def test_an_index_of_faiss_knows_its_model(
    folder: Path,
    model: AverageEncoder,
    changed: Callable[..., Path],
    corpus: Path,
    index: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
) -> None:
    faiss = pytest.importorskip("faiss")
    vectors = np.load(index)
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-30)
    other, output = changed("other", model="other"), tmp_path / "out.tsv"

    def save(name: str, rows: np.ndarray) -> Path:
        made = faiss.index_factory(rows.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
        made.train(rows)
        made.add_with_ids(rows, np.arange(len(rows))) if "IDMap" in kind else made.add(rows)
        faiss.write_index(made, str(tmp_path / name))
        return tmp_path / name

    saved = save("v.faiss", units)
    for place in ("v.npy.json", "v.faiss.json"):
        if place == "v.faiss.json":
            (tmp_path / "v.npy.json").rename(tmp_path / place)
        assert search(folder, saved, corpus, output, "--sentences", corpus) == 0
        assert capsys.readouterr().err == ""
        assert search(other, saved, corpus, output) == 1
        assert error_of(capsys).startswith(f"{saved}: made by the model {model.label}, but P-SP other")
    (tmp_path / "v.faiss.json").rename(tmp_path / "w.faiss.json")
    assert search(folder, saved, corpus, output) == 0
    assert f"{saved}: there is no description beside it" in note_of(capsys)
    assert search(folder, save("w.faiss", np.ascontiguousarray(units[::-1])), corpus, output) == 0
    assert "w.faiss.json describes other vectors" in note_of(capsys)


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
    found = MatrixDescription.of(model, vectors, model="m", language=None, normalized=False)
    found.write(tmp_path / "v.npy.json")
    assert read_description(tmp_path / "v.npy.json") == found
    (tmp_path / "v.npy.json").write_text("[" * 100_000)
    with pytest.raises(InputError, match=r"v.npy.json: not readable as JSON"):
        read_description(tmp_path / "v.npy.json")
