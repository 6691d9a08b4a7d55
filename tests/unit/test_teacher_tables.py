"""Test that embeddings begin as what a teacher knows."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
from function_encoder import FunctionEncoder
from pair_files import write_pairs
from sentencepiece import SentencePieceProcessor
from small_corpus import sentence_pairs, trained_vocabulary
from training_runs import SETTINGS, train_model, training_inputs

from paraphrastic import load_model
from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.model.average import AverageEncoder
from paraphrastic_pipeline.training import teacher, teacher_tables
from paraphrastic_pipeline.training.dataset import encode_dataset
from paraphrastic_pipeline.training.initialization import untrained_model
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.teacher import Sample, embed_pieces, embed_sample, fit_tables
from paraphrastic_pipeline.training.teacher_tables import ridge

PAIRS = sentence_pairs(600)
DIM = 12


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """Teachers are open before they are named."""
    monkeypatch.setattr(teacher, "open_encoder", lambda system, **_: system)


class Counted:
    """A teacher whose vector of a sentence is the mean of random vectors of its words; it counts."""

    def __init__(self) -> None:
        self.sentences = 0
        self.asked: list[str | None] = []

    def vector(self, word: str) -> Float32:
        return np.random.default_rng([*word.encode()]).standard_normal(DIM).astype(np.float32)

    def embed(self, sentences: Sequence[str], language: str | None) -> Float32:
        self.asked.append(language)
        self.sentences += len(sentences)
        return np.stack([np.mean([self.vector(word) for word in text.split()], axis=0) for text in sentences])

    @property
    def encoder(self) -> FunctionEncoder:
        return FunctionEncoder("counted", DIM, "digest of counted", self.embed)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("data")
    return encoded(folder, merged(folder / "pairs.parquet"), size=300)


def merged(path: Path, corpora: Sequence[int] = (0,)) -> Path:
    return write_pairs(path, PAIRS, corpus=pa.array(np.resize(np.array(corpora, np.int16), len(PAIRS))))


def encoded(folder: Path, pairs: Path, *, size: int, texts: Sequence[int] = ()) -> tuple[Path, Path]:
    """The data set of these pairs, and its vocabulary."""
    vocabulary, dataset = trained_vocabulary(pairs, folder / "m", size=size), folder / "d.h5"
    encode_dataset(
        pairs,
        [{"unit": "subword", "models": (vocabulary,), "max_pieces": 100}],
        dataset,
        texts=texts,
        threads=1,
    )
    return dataset, vocabulary


SAMPLE: dict[str, Any] = {"languages": [("en", "en")] * 5, "known": None, "sentences": 2 * len(PAIRS)}


def sample(pairs: Path, teacher: Counted, **changes: Any) -> Float32:
    return embed_sample(pairs, teacher.encoder, Sample(**(SAMPLE | changes))).astype(np.float32)


def fitted(data: tuple[Path, Path], tables: Path, pairs: Path, *, threads: int = 1, **changes: Any) -> Path:
    dataset, vocabulary = data
    fit_tables(
        dataset,
        pairs,
        [vocabulary],
        tables,
        system=Counted().encoder,
        sample=SAMPLE | changes,
        threads=threads,
    )
    return tables


def test_sentences_have_the_teachers_unit_vectors(tmp_path: Path) -> None:
    teacher = Counted()
    source, target = sample(merged(tmp_path / "p"), teacher, sentences=101)
    for number, vectors in enumerate((source, target)):
        expected = teacher.embed([pair[number] for pair in PAIRS[:50]], None)
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        np.testing.assert_allclose(vectors, expected, atol=1e-3)


def test_a_side_that_the_teacher_does_not_know_has_the_vector_of_the_other(tmp_path: Path) -> None:
    pairs, teacher = merged(tmp_path / "p", corpora=(0, 1, 2)), Counted()
    languages = [("en", "de"), ("de", "en"), ("de", "fr")]
    source, target = sample(pairs, teacher, languages=languages, known=["en"])
    everything = sample(pairs, Counted(), languages=languages)
    for corpus, side in ((0, 0), (1, 1)):
        np.testing.assert_array_equal(source[corpus::3], everything[side][corpus::3])
        np.testing.assert_array_equal(target[corpus::3], everything[side][corpus::3])
    assert not source[2::3].any()
    assert not target[2::3].any()
    assert {*teacher.asked} == {"en"}
    write_pairs(tmp_path / "none", [], corpus=pa.array([], pa.int16()))
    for path, unknown in ((pairs, [("de", "fr")] * 3), (tmp_path / "none", languages)):
        with pytest.raises(InputError, match=f"{path}: contains no pairs in a language"):
            sample(path, teacher, languages=unknown, known=["en"])


def test_a_sentence_without_a_pair_is_embedded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("paraphrastic_pipeline.training.teacher._PAIRS", 7)
    pairs = [(one, one) if number % 3 == 1 else (one, other) for number, (one, other) in enumerate(PAIRS)]
    path = write_pairs(tmp_path / "p", pairs, corpus=pa.array(np.resize(np.array([0, 4, 0], np.int16), 600)))
    teacher = Counted()
    everything = sample(path, teacher, texts=[4])
    assert teacher.sentences == 200 + 2 * 400
    np.testing.assert_array_equal(sample(path, Counted()), everything)
    # 5 sentences a triple of pairs: 40 of them are 24 pairs, and the 42nd is the second one of a pair.
    for sentences, size in ((40, 24), (41, 24), (42, 25), (43, 26), (2, 1)):
        some = sample(path, Counted(), texts=[4], sentences=sentences)
        np.testing.assert_array_equal(some, everything[:, :size])


def test_tables_count_a_sentence_without_a_pair_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Such sentences weigh as much as if each of them were the side of a pair whose other side is unknown."""
    given: list[scipy.sparse.csr_matrix] = []

    def noted(bags: scipy.sparse.csr_matrix, *arguments: object, **others: object) -> Float32:
        given.append(bags)
        return ridge(bags, *arguments, **others)  # type: ignore[arg-type]

    monkeypatch.setattr(teacher, "ridge", noted)
    pairs = [(one, one) if number % 3 == 1 else (one, other) for number, (one, other) in enumerate(PAIRS)]
    path = write_pairs(tmp_path / "p", pairs, corpus=pa.array(np.resize(np.array([0, 4, 0], np.int16), 600)))
    for texts in ([4], []):
        fitted(encoded(tmp_path, path, size=300, texts=texts), tmp_path / "t", path, texts=texts)
    every = np.arange(1200)
    once = every[(every < 600) | (every % 3 != 1)]
    assert (given[0] != given[1][once]).nnz == 0


def test_pieces_are_embedded_without_their_marks(data: tuple[Path, Path]) -> None:
    dataset, vocabulary = data
    processor = SentencePieceProcessor(str(vocabulary))
    with PairDataset(dataset) as pairs:
        (unit,) = pairs.units
    vectors = embed_pieces(unit, [processor], Counted().encoder).astype(np.float32)
    assert len(vectors) == unit.n_rows
    spelled = [processor.id_to_piece(int(piece)) for piece in unit.pieces]
    assert any(piece.startswith("▁") and len(piece) > 1 for piece in spelled)
    # Bytes and the row of unknown pieces have no text.
    for piece, vector in zip([*spelled, ""], vectors, strict=True):
        if text := piece.replace("▁", ""):
            expected = Counted().vector(text)
            np.testing.assert_allclose(vector, expected / np.linalg.norm(expected), atol=1e-3)
        else:
            assert not vector.any()


def test_the_ridge_is_that_of_the_normal_equations() -> None:
    generator = np.random.default_rng(1)
    bags = scipy.sparse.random(400, 60, 0.1, format="csr", dtype=np.float32, rng=generator)
    targets, prior = (generator.standard_normal((rows, 5)).astype(np.float32) for rows in (400, 60))
    dense, penalty = bags.toarray(), teacher_tables._RIDGE
    expected = np.linalg.solve(dense.T @ dense + penalty * np.eye(60), dense.T @ targets + penalty * prior)
    np.testing.assert_allclose(ridge(bags, targets, prior, threads=1), expected, atol=2e-3)
    np.testing.assert_array_equal(
        ridge(bags, targets, prior, threads=3), ridge(bags, targets, prior, threads=1)
    )


def test_a_model_begins_near_its_teacher(data: tuple[Path, Path], tmp_path: Path) -> None:
    """Sentences of the sample and others have nearly the teacher's cosines, before any training."""
    settings = replace(SETTINGS, dimension=DIM, init="teacher", init_sif=None, epochs=0)
    inputs = replace(
        training_inputs(data, settings),
        tables=fitted(data, tmp_path / "t", data[0].with_name("pairs.parquet")),
    )
    untrained_model(inputs).write(tmp_path / "model")
    random = replace(training_inputs(data, replace(settings, init="random")))
    untrained_model(random).write(tmp_path / "random")
    sentences = [pair[0] for pair in sentence_pairs(900)[600:]]
    judged = []
    for vectors in (
        Counted().embed(sentences, None),
        load_model(tmp_path / "model").embed_raw_text(sentences),
        load_model(tmp_path / "random").embed_raw_text(sentences),
    ):
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        judged.append((unit @ unit.T)[np.triu_indices(len(unit), 1)])
    of_model, of_random = (float(np.corrcoef(judged[0], each)[0, 1]) for each in judged[1:])
    assert of_model > 0.9
    assert of_model > of_random + 0.2


@pytest.mark.parametrize("dimension", [5, 20])
def test_tables_of_other_dimensions(data: tuple[Path, Path], tmp_path: Path, dimension: int) -> None:
    """The first columns are the best ones, and columns that the teacher does not have are short."""
    tables = fitted(data, tmp_path / "t", data[0].with_name("pairs.parquet"))
    settings = replace(SETTINGS, dimension=dimension, init="teacher", init_sif=None)
    model = untrained_model(replace(training_inputs(data, settings), tables=tables))
    table = model.tensors["embeddings"]
    assert table.shape[1] == dimension
    vectors = np.linalg.norm(table, axis=0)
    assert vectors[:5].min() > vectors[5:DIM].max(initial=0) * 0.8
    assert vectors[:5].min() > 2 * vectors[DIM:].max(initial=0)


def test_neither_threads_nor_a_second_run_change_a_digit(data: tuple[Path, Path], tmp_path: Path) -> None:
    digits = []
    for threads in (1, 3, 1):
        tables = fitted(data, tmp_path / "t", data[0].with_name("pairs.parquet"), threads=threads)
        with h5py.File(tables) as file:
            digits.append(file["subword"][:])
    np.testing.assert_array_equal(digits[1], digits[0])
    np.testing.assert_array_equal(digits[2], digits[0])


def test_nothing_is_trained_on_sentences_without_a_pair(tmp_path: Path) -> None:
    alone = [(text, text) for text in ("a zebra jumps", "zebras jump over quick foxes")]
    pairs = [*PAIRS[:100], *20 * alone]
    path = write_pairs(tmp_path / "p", pairs, corpus=pa.array([0] * 100 + [1] * 40, pa.int16()))
    data, vocabulary = encoded(tmp_path, path, size=120, texts=[1])
    begun = untrained_model(training_inputs((data, vocabulary), SETTINGS)).tensors["embeddings"]
    model = load_model(train_model((data, vocabulary), tmp_path / "out", SETTINGS).parent)
    assert isinstance(model, AverageEncoder)
    assert model.config["pairs"] == 100
    learned, told = (
        {piece for text in texts for piece in model.processor.encode(text)}
        for texts in ([text for pair in pairs[:100] for text in pair], [text for text, _ in alone])
    )
    moved = (model.embeddings != begun).any(axis=1)
    assert moved[sorted(learned)].all()
    assert len(told - learned) > 5
    assert not moved[sorted(told - learned)].any()
