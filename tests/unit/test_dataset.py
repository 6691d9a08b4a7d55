"""Test the vocabulary and the encoded training data."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import sentencepiece
from pair_files import write_pairs
from small_corpus import sentence_pairs, trained_vocabulary, write_training_data

from paraphrastic.base.errors import InputError
from paraphrastic.model.vocabulary import ordinary_pieces
from paraphrastic_pipeline.training import pair_dataset
from paraphrastic_pipeline.training.dataset import encode_dataset
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.same_meaning import sentence_ids
from paraphrastic_pipeline.training.sentences import Sentences


def flat(*sentences: list[int]) -> Sentences:
    offsets = np.cumsum([0, *map(len, sentences)])
    return Sentences(np.array([token for sentence in sentences for token in sentence], np.int32), offsets)


def listed(sentences: Sentences) -> list[list[int]]:
    return [part.tolist() for part in np.split(sentences.tokens, sentences.offsets[1:-1])]


def test_take_part_and_concatenate_are_those_of_lists() -> None:
    sentences = flat([1, 2], [], [3], [4, 5, 6])
    assert listed(sentences.take(np.array([3, 0, 1, 0]))) == [[4, 5, 6], [1, 2], [], [1, 2]]
    assert listed(sentences.part(1, 3)) == [[], [3]]
    assert listed(Sentences.concatenate([sentences.part(0, 1), flat([9])])) == [[1, 2], [9]]
    assert len(sentences.take(np.array([], np.int64))) == 0


@pytest.mark.parametrize("sides", [(), ("source",), ("target",)])
def test_counts_are_those_of_all_tokens_however_many_are_read_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sides: tuple[str, ...]
) -> None:
    monkeypatch.setattr(pair_dataset, "TOKENS_PER_READ", 7)
    data, _ = write_training_data(tmp_path, sentence_pairs(50))
    with PairDataset(data) as pairs:
        read = dict(zip(("source", "target"), pairs.read(0, len(pairs)), strict=True))
        tokens = np.concatenate([read[side].tokens for side in sides or read])
        (counts,) = pairs.counts(*sides)
        assert counts.tolist() == [(tokens == row).sum() for row in range(pairs.units[0].n_rows)]


def test_equal_sentences_have_the_same_number() -> None:
    same = [[7, 8, 9], [9, 8, 7], [7, 8], [0], [], [0, 0], [7, 8, 9]]
    assert sentence_ids(flat(*same)).tolist() == [0, 1, 2, 3, 4, 5, 0]


def test_rows_follow_first_appearance_and_decode_to_the_sentences(tmp_path: Path) -> None:
    pairs = sentence_pairs(50)
    dataset, model = write_training_data(tmp_path, pairs)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(model))
    met: list[int] = []
    for pair in pairs:
        for sentence in pair:
            met = list(dict.fromkeys([*met, *processor.encode(sentence)]))
    with PairDataset(dataset) as data:
        pieces = data.units[0].pieces.tolist()
        assert pieces[: len(met)] == met
        # Pieces that are only parts of others in the data have rows, too.
        assert len(pieces) > len(met)
        assert sorted(pieces) == ordinary_pieces(processor)
        assert data.units[0].n_rows == len(pieces) + 1
        for side, sentences in enumerate(data.read(0, len(data))):
            decoded = [processor.decode(data.units[0].pieces[rows].tolist()) for rows in listed(sentences)]
            assert decoded == [pair[side] for pair in pairs]


def test_encoding_does_not_depend_on_the_batch_size(tmp_path: Path) -> None:
    dataset, model = write_training_data(tmp_path, sentence_pairs(50))
    encode_dataset(
        tmp_path / "pairs.parquet",
        # Parameters of rules name files as text.
        [{"unit": "subword", "models": (str(model),), "max_pieces": 100}],
        tmp_path / "other.h5",
        threads=2,
        batch_rows=7,
    )
    with PairDataset(dataset) as one, PairDataset(tmp_path / "other.h5") as other:
        assert one.units[0].pieces.tolist() == other.units[0].pieces.tolist()
        for first, second in zip(one.read(0, 50), other.read(0, 50), strict=True):
            assert listed(first) == listed(second)


def encoded(
    folder: Path, pairs: list[tuple[str, str]], *, max_pieces: int | None = None,
    columns: Mapping[str, pa.Array] | None = None, **options: Any,
) -> PairDataset:  # fmt: skip
    """The data of these pairs, in pieces of a vocabulary of other ones."""
    _, model = write_training_data(folder, sentence_pairs(50))
    parquet = write_pairs(folder / "own.parquet", pairs, **(columns or {}))
    units = [{"unit": "subword", "models": (model,), "max_pieces": max_pieces}]
    encode_dataset(parquet, units, folder / "own.h5", threads=1, **options)
    return PairDataset(folder / "own.h5")


def test_unknown_pieces_are_left_out_and_long_sentences_cut(tmp_path: Path) -> None:
    pairs = [("狗", "das haus"), ("the dog 狗", "das auto"), ("the dog " * 50, "das haus")]
    with encoded(tmp_path, pairs, max_pieces=20) as data:
        source, _ = data.read(0, 3)
        processor = sentencepiece.SentencePieceProcessor(model_file=str(tmp_path / "sentencepiece.model"))
        only_unknown, mixed, long = listed(source)
        assert processor.unk_id() not in data.units[0].pieces
        # The first sentence has only one known piece, "▁".
        assert [processor.id_to_piece(int(data.units[0].pieces[row])) for row in only_unknown] == ["▁"]
        assert processor.decode(data.units[0].pieces[mixed].tolist()).strip() == "the dog"
        assert len(long) == 20


def test_a_sentence_without_any_piece_is_the_last_row(tmp_path: Path) -> None:
    with encoded(tmp_path, [("\u200b", "das haus"), ("the dog", "")]) as data:
        source, target = data.read(0, 2)
        assert listed(source)[0] == [data.units[0].n_rows - 1]
        assert listed(target)[1] == [data.units[0].n_rows - 1]


def test_separate_sides_have_pieces_and_unknown_rows_of_their_own(tmp_path: Path) -> None:
    pairs = [("the dog", "the dog"), ("\u200b", "\u200b")]
    with encoded(tmp_path, pairs, tables="separate") as data:
        (unit,) = data.units
        source, target = (listed(side) for side in data.read(0, 2))
        assert not set(source[0]) & set(target[0])
        assert (unit.pieces[target[0]] - unit.pieces[source[0]] == unit.sizes[0]).all()
        assert (source[1], target[1]) == ([unit.n_rows - 2], [unit.n_rows - 1])


def test_overlapping_vocabularies_share_what_is_spelled_alike(tmp_path: Path) -> None:
    pairs = [(f"{english} taxi", f"{german} taxi") for english, german in sentence_pairs(80)]
    parquet = write_pairs(tmp_path / "pairs.parquet", pairs)
    models = tuple(
        trained_vocabulary(parquet, tmp_path / f"{side}.model", sides=[side]) for side in ("source", "target")
    )
    units = [{"unit": "subword", "models": models, "max_pieces": None}]
    encode_dataset(parquet, units, tmp_path / "train.h5", tables="overlapping", threads=1)
    processors = [sentencepiece.SentencePieceProcessor(model_file=str(model)) for model in models]
    with PairDataset(tmp_path / "train.h5") as data:
        (unit,) = data.units
        row_of: dict[str, int] = {}
        for side, processor, sentences in zip((0, 1), processors, data.read(0, len(data)), strict=True):
            for pair, rows in zip(pairs, listed(sentences), strict=True):
                pieces = processor.encode(pair[side], out_type=str)
                # Each spelling has one row, whichever vocabulary it comes from.
                assert [
                    row_of.setdefault(piece, row) for piece, row in zip(pieces, rows, strict=True)
                ] == rows
        assert len(set(row_of.values())) == len(row_of)
        spelled = [{p.id_to_piece(i): i for i in range(p.get_piece_size())} for p in processors]
        both = sorted((spelled[0][piece], spelled[1][piece]) for piece in set(spelled[0]) & set(spelled[1]))
        spellings = {p.id_to_piece(i) for p in processors for i in ordinary_pieces(p)}
        assert unit.n_rows - 2 == len(spellings) > len(row_of)
        assert 3 < len(both) < 60
        # The data set still has two languages.
        assert len(unit.sizes) == 2


@pytest.mark.parametrize("window", [64, 640])
def test_shuffling_gives_every_pair_once_and_keeps_sides_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, window: int
) -> None:
    monkeypatch.setattr("paraphrastic_pipeline.training.pair_dataset.PAIRS_PER_BLOCK", 64)
    pairs = sentence_pairs(2 * 64 + 10)
    dataset, _ = write_training_data(tmp_path, pairs)

    def epoch(seed: int, skip: int = 0) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        shuffled = data.shuffled(np.random.default_rng(seed), window=window, skip=skip)
        return [
            (tuple(source), tuple(target))
            for sources, targets in shuffled
            for source, target in zip(listed(sources), listed(targets), strict=True)
        ]

    with PairDataset(dataset) as data:
        source, target = data.read(0, len(data))
        stored = list(zip(map(tuple, listed(source)), map(tuple, listed(target)), strict=True))
        assert sorted(epoch(1)) == sorted(stored)
        assert epoch(1) != stored
        assert epoch(1) == epoch(1)
        assert epoch(1) != epoch(2)
        for skip in (1, 64, len(data) - 1, len(data)):
            assert epoch(1, skip) == epoch(1)[skip:]


def test_a_vocabulary_that_cannot_be_had_is_one_line(tmp_path: Path) -> None:
    parquet = write_pairs(tmp_path / "pairs.parquet", sentence_pairs(5))
    with pytest.raises(InputError, match=r"pairs\.parquet: no vocabulary of 5 pieces") as error:
        trained_vocabulary(parquet, tmp_path / "m", size=5)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "m").exists()


def test_a_vocabulary_of_the_first_sentences_is_the_same_in_every_run(tmp_path: Path) -> None:
    pairs = sentence_pairs(200)
    models = []
    for number, (some, most) in enumerate([(pairs, 50), (pairs[:50], 400), (pairs, 50), (pairs, 200)]):
        path = write_pairs(tmp_path / f"{number}.parquet", some)
        model = trained_vocabulary(path, tmp_path / "m", sides=["source"], size=30, max_sentences=most)
        models.append(model.read_bytes())
    assert models[0] == models[1] == models[2]
    assert models[0] != models[3]


def test_groups_of_pairs_reach_training(tmp_path: Path) -> None:
    groups = pa.array([[0], [0, 3], [1], [2], [3, 4, 5], [3]], pa.list_(pa.int32()))
    # Blocks of two rows, so that groups span them.
    with encoded(tmp_path, sentence_pairs(6), columns={"groups": groups}, grouped=True, batch_rows=2) as data:
        for side in data.read(1, 6):
            taken = side.take(np.array([4, 0, 3])).groups
            assert taken is not None
            assert taken.tokens.tolist() == [3, 0, 3, 3, 4, 5]
            assert taken.lengths.tolist() == [1, 2, 3]
