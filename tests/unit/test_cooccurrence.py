"""Test initial embeddings from co-occurrences against a plain computation, and what stays random."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from small_corpus import NOUNS, sentence_pairs, write_training_data
from test_dataset import listed
from training_runs import SETTINGS, train_model

from paraphrastic import load_model
from paraphrastic.base.files import read_json
from paraphrastic.model.architecture import Architecture, Part
from paraphrastic_pipeline.training import cooccurrence
from paraphrastic_pipeline.training.cooccurrence import cooccurrence_vectors, initialize_from_cooccurrences
from paraphrastic_pipeline.training.encoder_modules import initial_encoder
from paraphrastic_pipeline.training.pair_dataset import PairDataset


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return write_training_data(tmp_path, sentence_pairs(400), size=120)[0]


def plain(pairs: PairDataset, dimension: int) -> np.ndarray:
    """The same vectors' products, by dense matrices and numpy's decomposition."""
    n = pairs.units[0].n_rows
    counts = np.zeros((n, n))
    sides = [map(set, listed(side)) for side in pairs.read(0, len(pairs))]
    for source, target in zip(*sides, strict=True):
        for i in source:
            for j in target:
                counts[i, j] += 1 / np.sqrt(len(source) * len(target))
    counts += counts.T
    rows = counts.sum(axis=1)
    contexts = rows**0.75 / (rows**0.75).sum()
    expected = np.sqrt(np.outer(rows, contexts) * np.outer(contexts, rows))
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.nan_to_num(np.maximum(np.log(counts / expected), 0), neginf=0)
    values, vectors = np.linalg.eigh(information)
    largest = vectors[:, -dimension:] * np.sqrt(np.maximum(values[-dimension:], 0))
    return largest @ largest.T


def test_vectors_are_those_of_a_plain_computation(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cooccurrence, "PAIRS_PER_BLOCK", 3)  # several blocks
    with PairDataset(data) as pairs:
        vectors = cooccurrence_vectors(pairs, 0, 20, seed=1, threads=1)
        np.testing.assert_allclose(vectors @ vectors.T, plain(pairs, 20), atol=0.02)
        np.testing.assert_array_equal(vectors, cooccurrence_vectors(pairs, 0, 20, seed=1, threads=3))


def begun(pairs: PairDataset, dimension: int) -> tuple[np.ndarray, np.ndarray]:
    """The table of an average before and after it is set from co-occurrences."""
    encoder = initial_encoder(pairs.units, replace(SETTINGS, dimension=dimension), Architecture())
    table = encoder.get_parameter("parts.0.table").data
    before = table.clone().numpy()
    initialize_from_cooccurrences(encoder, pairs, seed=1, threads=2)
    return before, table.numpy()


def test_translations_are_alike_before_training_and_other_rows_are_as_before(data: Path) -> None:
    with PairDataset(data) as pairs:
        before, after = begun(pairs, 16)
        (counts,) = pairs.counts()
        spelled = sentencepiece.SentencePieceProcessor(model_file=str(data.with_name("sentencepiece.model")))
        row = {spelled.id_to_piece(int(piece)): number for number, piece in enumerate(pairs.units[0].pieces)}
    unseen = counts == 0
    assert unseen.any()
    np.testing.assert_array_equal(after[unseen], before[unseen])
    lengths = np.linalg.norm(after[~unseen], axis=1)
    np.testing.assert_allclose(lengths, np.linalg.norm(before, axis=1).mean(), rtol=1e-5)
    unit = after / np.linalg.norm(after, axis=1, keepdims=True)
    whole = [
        (f"▁{one}", f"▁{other}") for one, other in NOUNS.items() if {f"▁{one}", f"▁{other}"} <= row.keys()
    ]
    assert len(whole) >= 3
    for english, german in whole:
        others = [unit[row[english]] @ unit[row[each]] for _, each in whole if each != german]
        assert unit[row[english]] @ unit[row[german]] > max(others)


def test_columns_beyond_the_largest_rank_stay_random(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cooccurrence, "_RANK", 10)
    with PairDataset(data) as pairs:
        before, after = begun(pairs, 16)
        (counts,) = pairs.counts()
    np.testing.assert_array_equal(after[:, 10:], before[:, 10:])
    lengths = np.linalg.norm(after[counts > 0, :10], axis=1)
    np.testing.assert_allclose(lengths, np.linalg.norm(before[:, :10], axis=1).mean(), rtol=1e-5)


def test_pairs_without_information_leave_everything_random(tmp_path: Path) -> None:
    data, _ = write_training_data(tmp_path, [("dog", "dog")] * 30, size=30)
    with PairDataset(data) as pairs:
        np.testing.assert_array_equal(*begun(pairs, SETTINGS.dimension))


def test_lstms_begin_at_random(data: Path) -> None:
    architecture = Architecture(parts=(Part(kind="lstm", dimension=8), Part(dimension=8)))
    with PairDataset(data) as pairs:
        encoder = initial_encoder(pairs.units, replace(SETTINGS, dimension=8), architecture)
        before = {name: value.clone() for name, value in encoder.named_parameters()}
        initialize_from_cooccurrences(encoder, pairs, seed=1, threads=2)
    changed = [name for name, value in encoder.named_parameters() if (value != before[name]).any()]
    assert changed == ["parts.1.table"]


def test_training_begins_from_them_and_says_so(tmp_path: Path, data: Path) -> None:
    scores = {}
    for init in ("random", "cooccurrences"):
        settings = replace(SETTINGS, init=init, epochs=0)
        train_model((data, data.with_name("sentencepiece.model")), tmp_path / init, settings)
        assert read_json(tmp_path / init / "config.json")["training"]["init"] == init
        (same,) = load_model(tmp_path / init).score_raw_text(
            [("the old dog sees the cat", "das alte hund sieht das katze")]
        )
        scores[init] = same
    assert scores["cooccurrences"] > scores["random"] + 0.2
