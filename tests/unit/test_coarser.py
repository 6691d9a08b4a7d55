"""Test training on coarser cuts of the text, whose tables are joined into one."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from sentencepiece import SentencePieceProcessor
from small_corpus import sentence_pairs, write_training_data
from test_dataset import listed
from training_runs import SETTINGS, history, train_model, training_inputs, write_data

from paraphrastic import load_model
from paraphrastic.base.errors import InputError
from paraphrastic.model.vocabulary import load_sentencepiece
from paraphrastic_pipeline.training.beginning import begin
from paraphrastic_pipeline.training.coarser import CoarserPairs, join_tables
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.sentences import Sentences

SIZE = 100


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def whole(data: tuple[Path, Path]) -> Iterator[PairDataset]:
    with PairDataset(data[0]) as pairs:
        yield pairs


@pytest.fixture(scope="module")
def coarse(data: tuple[Path, Path]) -> Iterator[CoarserPairs]:
    with CoarserPairs(data[0], load_sentencepiece(data[1]), SIZE) as pairs:
        yield pairs


def pieces_of(pairs: PairDataset, processor: SentencePieceProcessor) -> list[list[str]]:
    """The pieces of all sentences, as text."""
    (unit,), sentences = pairs.units, Sentences.concatenate(list(pairs.read(0, len(pairs))))
    texts = list(map(processor.id_to_piece, unit.pieces.tolist()))
    return [[texts[row] for row in each] for each in listed(sentences)]


def test_sentences_are_the_same_in_fewer_different_pieces(
    data: tuple[Path, Path], whole: PairDataset, coarse: CoarserPairs
) -> None:
    smaller = SentencePieceProcessor(model_proto=coarse.model)
    before, after = pieces_of(whole, load_sentencepiece(data[1])), pieces_of(coarse, smaller)
    assert ["".join(each) for each in after] == ["".join(each) for each in before]
    assert [[*chain(*map(smaller.encode_as_pieces, each))] for each in before] == after
    different = {piece for each in after for piece in each}
    assert len(coarse.units[0].pieces) == len(different)
    assert len(different) <= SIZE < len({piece for each in before for piece in each})
    assert smaller.get_piece_size() == SIZE + 256


def test_bytes_remain_whole(tmp_path: Path) -> None:
    (source, target), *others = sentence_pairs(200)
    pairs = [(f"{source} \u2602", target), *others]
    model = write_training_data(tmp_path, pairs, size=60, unknown="bytes", character_coverage=0.9998)[1]
    processor = load_sentencepiece(model)
    with PairDataset(tmp_path / "train.h5") as whole, CoarserPairs(whole.path, processor, 45) as coarse:
        smaller = SentencePieceProcessor(model_proto=coarse.model)
        before, after = pieces_of(whole, processor), pieces_of(coarse, smaller)
        assert "".join(before[0]) == "".join(after[0])
        assert after[0][-3:] == before[0][-3:] == ["<0xE2>", "<0x98>", "<0x82>"]
        # Those that the text lacks have rows, too.
        assert sum(map(smaller.is_byte, coarse.units[0].pieces.tolist())) == 256
        (counts,) = coarse.counts()
        is_byte = np.array([*map(smaller.is_byte, coarse.units[0].pieces.tolist()), False])
        assert ((counts == 0) & is_byte).sum() == 253


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (5, r"train\.h5: 5 pieces are too few for \d+ different characters: training\.coarser takes \d\d"),
        (290, r"train\.h5: 290 pieces are not fewer than its \d+ \(training\.coarser\)"),
    ],
)
def test_a_vocabulary_may_be_too_small_or_no_smaller(
    data: tuple[Path, Path], size: int, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        CoarserPairs(data[0], load_sentencepiece(data[1]), size)


def test_the_smallest_vocabulary_is_the_one_that_the_message_names(data: tuple[Path, Path]) -> None:
    processor = load_sentencepiece(data[1])
    with pytest.raises(InputError) as error:
        CoarserPairs(data[0], processor, 5)
    least = int(str(error.value).split()[-3])
    with CoarserPairs(data[0], processor, least) as pairs:
        assert len(pairs.units[0].pieces) <= least
    with pytest.raises(InputError, match=f"takes {least} or more"):
        CoarserPairs(data[0], processor, least - 1)


def test_a_model_without_training_has_its_own_pieces_alone(data: tuple[Path, Path], tmp_path: Path) -> None:
    models = [
        train_model(data, tmp_path / name, replace(SETTINGS, epochs=0, coarser=coarser))
        for name, coarser in (("plain", []), ("coarser", [SIZE]))
    ]
    assert models[0].read_bytes() == models[1].read_bytes()


def test_rows_are_counted_as_they_are_read(coarse: CoarserPairs) -> None:
    (counts,), sides = coarse.counts(), coarse.read(0, len(coarse))
    np.testing.assert_array_equal(
        counts, sum(np.bincount(side.tokens, minlength=len(counts)) for side in sides)
    )
    (counts,) = coarse.counts("target")
    np.testing.assert_array_equal(counts, np.bincount(sides[1].tokens, minlength=len(counts)))
    blocks = list(coarse.shuffled(np.random.default_rng(1), window=64))
    assert sum(len(block[0].tokens) for block in blocks) == len(sides[0].tokens)


def sums(pairs: PairDataset, table: np.ndarray) -> np.ndarray:
    sentences = pairs.read(0, 100)[0]
    return np.add.reduceat(table[sentences.tokens], sentences.offsets[:-1], axis=0)


def test_a_folded_table_has_the_sums_of_the_coarser_one(whole: PairDataset, coarse: CoarserPairs) -> None:
    table = np.random.default_rng(1).normal(size=(coarse.units[0].n_rows, 8)).astype(np.float32)
    folded = coarse.fold(table)
    assert folded.shape == (whole.units[0].n_rows, 8)
    np.testing.assert_allclose(sums(whole, folded), sums(coarse, table), rtol=1e-4, atol=1e-4)


def test_a_joined_table_keeps_what_its_tables_say_together(whole: PairDataset) -> None:
    generator = np.random.default_rng(1)
    rows = whole.units[0].n_rows
    # Both tables say different things in a few columns each.
    tables = [
        (scale * generator.normal(size=(rows, 6)) @ generator.normal(size=(6, 12))).astype(np.float32)
        for scale in (1, 50)
    ]

    def cosines(table: np.ndarray) -> np.ndarray:
        vectors = sums(whole, table)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors @ vectors.T

    joined = join_tables(tables, whole, 12)
    assert joined.shape == (rows, 12)
    # Each counts equally, however long its vectors are, and nothing is lost.
    together = (cosines(tables[0]) + cosines(tables[1])) / 2
    assert np.abs(cosines(joined) - together).mean() < 0.1
    lengths = [np.linalg.norm(sums(whole, table), axis=1).mean() for table in tables]
    beside = np.concatenate([tables[0] * lengths[1] / lengths[0], tables[1]], axis=1)
    assert np.abs(cosines(joined) - cosines(beside)).max() < 0.05
    # A direction and its opposite are the same; the one whose largest entry is above zero is taken.
    again = join_tables([-table for table in tables], whole, 12)
    np.testing.assert_allclose(again, -joined, atol=1e-3 * np.abs(joined).max())
    # With more to say than there are columns, it keeps more than columns at random do.
    wide = [generator.normal(size=(rows, 12)).astype(np.float32) for _ in range(2)]
    best = cosines(np.concatenate(wide, axis=1))
    drawn = np.concatenate(wide, axis=1) @ generator.normal(size=(24, 12)).astype(np.float32)
    joined = join_tables(wide, whole, 12)
    errors = [np.abs(cosines(table) - best).mean() for table in (joined, drawn, wide[0])]
    assert errors[0] < min(errors[1:])
    # With room for all of it, nothing is lost again.
    even = [table / np.linalg.norm(sums(whole, table), axis=1).mean() for table in wide]
    whole_room = cosines(join_tables(wide, whole, 24))
    assert np.abs(whole_room - cosines(np.concatenate(even, axis=1))).max() < 0.05


def test_each_cut_begins_with_its_own_embeddings(
    data: tuple[Path, Path], whole: PairDataset, coarse: CoarserPairs, tmp_path: Path
) -> None:
    # With hardly any learning, the model is what its two tables begin with.
    settings = replace(SETTINGS, epochs=1, init="cooccurrences", coarser=[SIZE], learning_rate=1e-9)
    embeddings = load_file(train_model(data, tmp_path / "model", settings))["embeddings"]
    inputs, tables = training_inputs(data, settings), []
    for number, pairs in enumerate((whole, coarse)):
        model = tmp_path / f"{number}.model"
        model.write_bytes(coarse.model if number else data[1].read_bytes())
        encoder = begin(pairs, replace(inputs, sentencepiece=[model]), 1).encoder
        tables.append(encoder.get_parameter("parts.0.table").detach().numpy())
    joined = join_tables([tables[0], coarse.fold(tables[1])], whole, SETTINGS.dimension)
    (unit,) = whole.units
    np.testing.assert_allclose(embeddings[unit.pieces], joined[:-1], atol=1e-4)


@pytest.mark.parametrize("soup", [1, 2])
def test_a_model_joins_the_trainings_of_all_cuts(data: tuple[Path, Path], tmp_path: Path, soup: int) -> None:
    settings = replace(SETTINGS, epochs=2, soup=soup, coarser=[SIZE, 60])
    path = train_model(data, tmp_path / "joined", settings)
    model = load_model(path.parent)
    assert model.embeddings.shape == (load_sentencepiece(data[1]).get_piece_size(), SETTINGS.dimension)
    assert history(path)[-1]["epoch"] == 2 * 3 * soup
    assert model.config["training"]["coarser"] == [SIZE, 60]
    # A single training of the model's own pieces is the first of the three.
    alone = load_file(train_model(data, tmp_path / "alone", replace(settings, coarser=[])))["embeddings"]
    sources = [source for source, _ in sentence_pairs(40)]
    joined = model.embed_raw_text(sources)
    assert not np.allclose(model.embeddings, alone, atol=1e-3)
    assert np.isfinite(joined).all()
    assert (np.linalg.norm(joined, axis=1) > 0).all()


def test_tables_of_fewer_dimensions_are_joined(data: tuple[Path, Path], tmp_path: Path) -> None:
    small = replace(SETTINGS, epochs=1, dimension=8, coarser=[SIZE])
    wide = replace(small, dimension=16, trained_dimension=8)
    paths = [train_model(data, tmp_path / f"{each.dimension}", each) for each in (small, wide)]
    models = [load_model(path.parent) for path in paths]
    assert [model.dim for model in models] == [8, 16]
    assert [model.config["dimension"] for model in models] == [8, 16]
    # The trainings are the same, and the wide table keeps all that the small one does, and more.
    assert [line["loss"] for line in history(paths[0])] == [line["loss"] for line in history(paths[1])]
    narrow, kept = models[0].embeddings, models[1].embeddings[:, :8]
    np.testing.assert_allclose(narrow, kept, atol=1e-4 * np.abs(narrow).max())
    assert np.abs(models[1].embeddings[:, 8:]).max() > 1e-3
    # Without training, nothing is joined.
    untrained = train_model(data, tmp_path / "untrained", replace(wide, epochs=0))
    assert load_model(untrained.parent).dim == 16
