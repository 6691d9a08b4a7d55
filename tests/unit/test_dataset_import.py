"""Test that training data of the original code are converted row by row, or that one line says why not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import h5py
import numpy as np
import pytest
import sentencepiece
from test_dataset import listed
from training_runs import SETTINGS, train_model

from original_code import corpus, train_sentencepiece, vocabulary_of, write_data
from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic_pipeline.training.dataset_import import import_dataset, read_vocabulary
from paraphrastic_pipeline.training.pair_dataset import PairDataset

SENTENCES = corpus(1200)
PAIRS = [*zip(SENTENCES[::2], SENTENCES[1::2], strict=True), ("", "the dog"), ("the cat", "")]
VLEN = h5py.vlen_dtype(np.dtype("int32"))


class Files(NamedTuple):
    hdf5: Path
    vocabulary: Path
    sentencepiece: Path

    def imported(self, folder: Path, **options: Any) -> tuple[Path, Path, Path]:
        outputs = (folder / "train.h5", folder / "sentencepiece.model", folder / "counts.json")
        import_dataset(*self, *outputs, **options)
        return outputs


@pytest.fixture
def files(tmp_path: Path) -> Files:
    folder = tmp_path / "theirs"
    folder.mkdir()
    model = train_sentencepiece(SENTENCES, folder / "paranmt.model")
    return Files(*write_data(folder, model, PAIRS), model)


def test_rows_are_theirs_and_spell_the_sentences(files: Files, tmp_path: Path) -> None:
    dataset, model, counts = files.imported(tmp_path)
    vocabulary = vocabulary_of(files.sentencepiece, [side for pair in PAIRS for side in pair])
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(files.sentencepiece))
    ours = sentencepiece.SentencePieceProcessor(model_file=str(model))
    assert any(theirs.piece_to_id(piece) == theirs.unk_id() for piece in vocabulary)
    with PairDataset(dataset) as data, h5py.File(files.hdf5) as file:
        assert ours.id_to_piece(data.units[0].pieces.tolist()) == list(vocabulary)
        assert len(data) == len(PAIRS)
        for side, sentences in enumerate(data.read(0, len(data))):
            rows = listed(sentences)
            expected = [cell.tolist() or [len(vocabulary)] for cell in file["data"][:, side]]
            assert rows == expected
            for pair, row in zip(PAIRS, rows, strict=True):
                pieces = theirs.encode(pair[side], out_type=str)
                known = data.units[0].pieces[[each for each in row if each < len(vocabulary)]]
                assert ours.id_to_piece(known.tolist()) == pieces
    assert json.loads(counts.read_text()) == {"corpora": [{"kept": len(PAIRS)}]}


def test_blocks_do_not_matter(files: Files, tmp_path: Path) -> None:
    one, *_ = files.imported(tmp_path / "one")
    other, *_ = files.imported(tmp_path / "other", batch_rows=7)
    with PairDataset(one) as first, PairDataset(other) as second:
        for mine, yours in zip(first.read(0, len(first)), second.read(0, len(second)), strict=True):
            assert listed(mine) == listed(yours)


def test_a_model_trained_on_them_knows_their_spellings(files: Files, tmp_path: Path) -> None:
    dataset, model, _ = files.imported(tmp_path)
    train_model((dataset, model), tmp_path / "model", SETTINGS)
    trained = load_model(tmp_path / "model")
    with PairDataset(dataset) as data:
        pieces = data.units[0].pieces.tolist()
        ids = dict(zip(trained.processor.id_to_piece(pieces), pieces, strict=True))
    assert trained.tokenize(["The JAZZ", "1984 9999"]).lists() == [
        [ids[piece] for piece in ("▁the", "▁", "j", "a", "zz")],
        [ids["▁"], ids["1984"], ids["▁"]],
    ]


def test_rows_can_stand_in_any_order(tmp_path: Path) -> None:
    path = tmp_path / "vocab"
    path.write_bytes("▁b\t1\r\n▁a\t0\né\t2".encode())
    assert read_vocabulary(path) == ["▁a", "▁b", "é"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ": is empty"),
        (b"a\t0\nb\n", ", line 2: is not a piece, a tab and a row: b'b'"),
        (b"a\t0\nb\tone\n", ", line 2: is not a piece, a tab and a row"),
        ("a\t\N{ARABIC-INDIC DIGIT THREE}\n".encode(), ", line 1: is not a piece, a tab and a row"),
        (b"a\t-1\n", ", line 1: is not a piece, a tab and a row"),
        (b"a b\t0\n", ", line 1: is not a piece, a tab and a row"),
        (b"a\t0\n\xff\t1\n", ", line 2: is not UTF-8"),
        (b"a\t0\nb\t1\na\t2\n", ", line 3: 'a' is already in line 1"),
        (b"a\t0\nb\t0\n", ", line 2: 'a' has the row 0 already"),
        (b"a\t0\nb\t2\n", ": has 2 pieces but a row 2, so rows are missing"),
    ],
)
def test_what_is_wrong_with_a_vocabulary_is_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "train.vocab"
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        read_vocabulary(path)
    assert str(raised.value).startswith(f"{path}{message}")


def with_data(change: Callable[[h5py.File], object]) -> Callable[[Path], None]:
    """Return a function that damages a file by replacing its data set."""

    def damage(path: Path) -> None:
        with h5py.File(path, "w") as file:
            change(file)

    return damage


def with_cell(row: int, column: int, value: list[int]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with h5py.File(path, "a") as file:
            file["data"][row, column] = np.array(value, np.int32)

    return damage


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda path: path.write_bytes(b"hello"), "not readable as HDF5: "),
        (cut, "not readable as HDF5: Unable to synchronously open file (truncated file"),
        (with_data(lambda file: file.create_group("pairs")), "has no data set 'data'"),
        (with_data(lambda file: file.create_group("data")), "has no data set"),
        (with_data(lambda file: file.create_dataset("data", data=[[1, 2]])), "two columns of integer arrays"),
        (with_data(lambda file: file.create_dataset("data", (4,), VLEN)), "two columns of integer arrays"),
        (with_data(lambda file: file.create_dataset("data", (4, 3), VLEN)), "two columns of integer arrays"),
        (
            with_data(lambda file: file.create_dataset("data", (4, 2), h5py.string_dtype())),
            "two columns of integer arrays",
        ),
        (with_data(lambda file: file.create_dataset("data", (0, 2), VLEN)), "data has no rows"),
        (
            with_data(lambda file: file.update({"data": h5py.ExternalLink("/etc/passwd", "/")})),
            "has no data set 'data'",
        ),
        (with_cell(5, 1, [3, 35, 2]), "data, row 5, column 1: 35 is not one of the vocabulary's 35 rows"),
        (with_cell(9, 0, [-1]), "data, row 9, column 0: -1 is not one of the vocabulary's 35 rows"),
    ],
)
def test_what_is_wrong_with_the_data_is_one_line(
    files: Files, tmp_path: Path, damage: Callable[[Path], object], message: str
) -> None:
    damage(files.hdf5)
    with pytest.raises(InputError) as raised:
        files.imported(tmp_path, batch_rows=4)
    assert str(raised.value).startswith(f"{files.hdf5}: ")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert not (tmp_path / "train.h5").exists()


def test_files_that_do_not_belong_together_are_noticed(files: Files, tmp_path: Path) -> None:
    other = train_sentencepiece(
        [sentence[::-1] for sentence in SENTENCES], tmp_path / "other.model", character_coverage=1.0
    )
    with pytest.raises(
        InputError, match=r"final\.vocab with .*other\.model: .* which belongs to another vocabulary"
    ):
        files._replace(sentencepiece=other).imported(tmp_path)
    files.vocabulary.write_text("<unk>\t0\n")
    with pytest.raises(InputError, match="has '<unk>', which is not a piece"):
        files.imported(tmp_path)
