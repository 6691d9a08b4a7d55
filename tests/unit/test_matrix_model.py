"""Test that `search` refuses a matrix of another model, and sentences that are not those of the rows."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from faults import message
from sentence_files import LINES, embed, error_of, note_of, search, write

from paraphrastic.cli import main
from paraphrastic.model.average import AverageEncoder


def test_a_matrix_of_another_model_is_refused(
    folder: Path, model: AverageEncoder, changed: Callable[..., Path], corpus: Path, index: Path,
    tmp_path: Path, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
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
    folder: Path, model: AverageEncoder, changed: Callable[..., Path], corpus: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
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
    assert main(["embed", "--language", "en", "--input", str(english), *places]) == 0
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


def test_sentences_in_another_order_are_refused(
    folder: Path, model: AverageEncoder, corpus: Path, index: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    shuffled = write(tmp_path / "shuffled.txt", LINES[::-1])
    assert search(folder, index, corpus, tmp_path / "out.tsv", "--sentences", shuffled) == 1
    message = error_of(capsys)
    line = int(message.removeprefix(f"{shuffled}:").partition(":")[0])
    assert f":{line}: is not the sentence of row {line} of {index} (their cosine is " in message
    late = write(tmp_path / "late.txt", [*LINES[:150], *LINES[150:][::-1]])
    assert search(folder, index, corpus, tmp_path / "out.tsv", "--sentences", late) == 1
    assert int(error_of(capsys).removeprefix(f"{late}:").partition(":")[0]) > 150
    half = write(tmp_path / "half.txt", [*LINES[:100], "a line more", *LINES[100:-1]])
    assert search(folder, index, corpus, tmp_path / "out.tsv", "--sentences", half) == 1
    assert "is not the sentence of row" in error_of(capsys)
    # A matrix from elsewhere is refused only if all rows differ, because less is known about it.
    Path(f"{index}.json").unlink()
    assert search(folder, index, corpus, tmp_path / "out.tsv", "--sentences", half) == 0
    assert "there is no description" in note_of(capsys)
    assert search(folder, index, corpus, tmp_path / "out.tsv", "--sentences", shuffled) == 1
    message = error_of(capsys)
    assert f"{model.label} embeds it otherwise than row " in message
    assert "give the model and the text that the matrix was made of" in message


@pytest.mark.parametrize("lines", [["the dog", ""], ["", "the dog"]])
def test_a_blank_line_is_not_the_sentence_of_a_row(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lines: list[str]
) -> None:
    source, other = write(tmp_path / "in.txt", lines), write(tmp_path / "other.txt", ["the dog", "the dog"])
    for made, given in ((source, other), (other, source)):
        assert embed(folder, made, tmp_path / "v.npy") == 0
        assert search(folder, tmp_path / "v.npy", source, tmp_path / "out.tsv", "--sentences", given) == 1
        assert f":{1 + lines.index('')}: is not the sentence of row " in error_of(capsys)


def test_the_page_on_troubleshooting(
    folder: Path, changed: Callable[..., Path], corpus: Path, index: Path, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
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


@pytest.mark.parametrize("kind", ["Flat", "IDMap,Flat", "IVF4,Flat", "HNSW8", "IVF4,SQ8", "PQ8x4"])
def test_an_index_of_faiss_knows_its_model(
    folder: Path, model: AverageEncoder, changed: Callable[..., Path], corpus: Path, index: Path,
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str,
) -> None:  # fmt: skip
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
    strange = np.random.default_rng(0).normal(size=units.shape).astype(np.float32)
    assert search(folder, save("w.faiss", strange), corpus, output) == 0
    assert "w.faiss.json describes other vectors" in note_of(capsys)
