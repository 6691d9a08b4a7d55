"""Training on coarser cuts of the same text, whose tables are joined into one (`training.coarser`).

A table of few pieces knows rare words by parts that are frequent, and a table of many pieces tells words
apart. Since each piece of the large vocabulary consists of pieces of the small one, the mean vector of a
sentence in the small one can be had from the large one: its row of a piece is the sum of the piece's parts,
as a word's vector is the sum of its n-grams' in fastText (Bojanowski et al. 2017, *Enriching Word Vectors
with Subword Information*). Several tables side by side are then reduced to the directions in which the
vectors of sentences are longest.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse
from sentencepiece import SentencePieceProcessor
from threadpoolctl import threadpool_limits

from paraphrastic.base.arrays import Float32, Int64
from paraphrastic.base.errors import InputError
from paraphrastic.model.vocabulary import BYTES
from paraphrastic_pipeline.training.dataset import PAIRS_PER_BLOCK
from paraphrastic_pipeline.training.pair_dataset import PairDataset
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.vocabulary import SPECIAL, train_sentencepiece

# Pairs that a smaller vocabulary is learned from; they are in random order.
_LEARNED = 100_000
# Pairs whose vectors decide which directions a joined table keeps.
_PAIRS = 32_768


class CoarserPairs(PairDataset):
    """The pairs of a data set with one table, whose pieces are cut into those of a smaller vocabulary.

    Args:
        path: HDF5 file written by `encode_dataset`.
        processor: the sentencepiece model of its pieces.
        size: number of pieces of the smaller vocabulary; bytes come on top.

    Attributes:
        model: the sentencepiece model of the smaller vocabulary, learned from the first pairs.

    Raises:
        InputError: there are more characters than pieces, or the vocabulary is no smaller than the model's.
    """

    def __init__(self, path: Path, processor: SentencePieceProcessor, size: int) -> None:
        super().__init__(path)
        (fine,) = self.units
        texts = list(map(processor.id_to_piece, fine.pieces.tolist()))
        whole = list(map(processor.is_byte, fine.pieces.tolist()))
        characters = {
            character for text, is_byte in zip(texts, whole, strict=True) if not is_byte for character in text
        }
        if size < (least := len(characters) + SPECIAL):
            raise InputError(
                f"{path}: {size:,} pieces are too few for {len(characters):,} different characters: "
                f"training.coarser takes {least:,} or more"
            )
        self.model = train_sentencepiece(
            self._sentences(texts, whole),
            f"{path}: its pieces cannot be cut into {size:,} others (training.coarser)",
            model_type="unigram",
            vocab_size=size + BYTES,
            character_coverage=1.0,
            byte_fallback=True,
            hard_vocab_limit=False,
            # Pieces are cut as they are: within a word, without a space before them.
            normalization_rule_name="identity",
            add_dummy_prefix=False,
            remove_extra_whitespaces=False,
        )
        smaller = SentencePieceProcessor(model_proto=self.model)
        cut = zip(texts, smaller.encode(texts), whole, strict=True)
        parts = [[smaller.piece_to_id(text)] if is_byte else ids for text, ids, is_byte in cut]
        if max(map(len, parts)) == 1:
            raise InputError(
                f"{path}: {size:,} pieces are not fewer than its {len(texts):,} (training.coarser)"
            )
        flat = np.array([part for piece in parts for part in piece], np.int32)
        pieces, first, rows = np.unique(flat, return_index=True, return_inverse=True)
        # The rows are in the order in which they first appear; the last one is for sentences without pieces.
        order = np.argsort(first)
        place = np.argsort(order).astype(np.int32)
        offsets = np.cumsum([0, *map(len, parts), 1])
        self._rows = Sentences(np.append(place[rows], np.int32(len(pieces))), offsets)
        size, digest = smaller.get_piece_size(), hashlib.sha256(self.model).hexdigest()
        self.units = (replace(fine, pieces=pieces[order], sizes=(size,), sentencepiece_sha256=(digest,)),)

    def read(self, start: int, stop: int) -> tuple[Sentences, Sentences]:
        """Read the pairs from `start` up to `stop`, as (source, target)."""
        source, target = map(self._cut, super().read(start, stop))
        return source, target

    def counts(self, *sides: str) -> list[Int64]:
        """Count how often each row occurs, on both sides or on those named."""
        ((whole,), (unit,)) = super().counts(*sides), self.units
        weights = np.repeat(whole, self._rows.lengths)
        return [np.bincount(self._rows.tokens, weights, minlength=unit.n_rows).astype(np.int64)]

    def fold(self, table: Float32) -> Float32:
        """Return the table of the data set's own pieces, each the sum of the rows of its parts."""
        return np.add.reduceat(table[self._rows.tokens], self._rows.offsets[:-1], axis=0)

    def _sentences(self, texts: Sequence[str], whole: Sequence[bool]) -> Iterator[str]:
        """The text of the first pairs, from the texts of the rows; without the rows that remain `whole`."""
        pieces = np.array([*np.where(whole, "", texts), ""], object)
        for start in range(0, min(len(self), _LEARNED), PAIRS_PER_BLOCK):
            for side in super().read(start, min(start + PAIRS_PER_BLOCK, len(self))):
                for sentence in np.split(pieces[side.tokens], side.offsets[1:-1]):
                    yield "".join(sentence)

    def _cut(self, sentences: Sentences) -> Sentences:
        parts = self._rows.take(sentences.tokens)
        return replace(sentences, tokens=parts.tokens, offsets=parts.offsets[sentences.offsets])


def join_tables(tables: Sequence[Float32], pairs: PairDataset, dimension: int) -> Float32:
    """Join tables with the same rows into one with `dimension` columns.

    A sentence's vectors in all of them, side by side, are projected on the directions in which the vectors of
    the first training pairs are longest (principal components, without centring, so that cosines remain).
    Each table counts equally, by the mean length of its vectors.
    """
    sentences = Sentences.concatenate(list(pairs.read(0, min(len(pairs), _PAIRS))))
    means = scipy.sparse.csr_matrix(
        (np.repeat(1.0 / sentences.lengths, sentences.lengths).astype(np.float32), sentences.tokens,
         sentences.offsets), shape=(len(sentences), len(tables[0])),
    )  # fmt: skip
    vectors = [means @ table for table in tables]
    lengths = [float(np.linalg.norm(table_vectors, axis=1).mean()) or 1.0 for table_vectors in vectors]
    beside = np.concatenate(
        [table_vectors / length for table_vectors, length in zip(vectors, lengths, strict=True)], axis=1
    )
    beside /= np.maximum(np.linalg.norm(beside, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    # The order in which threads add numbers up would change the last digits.
    with threadpool_limits(1):
        directions = principal_directions(beside)[:, :dimension]
        starts = np.cumsum([0, *(table.shape[1] for table in tables)])
        joined = sum(
            (table * np.float32(lengths[0] / length)) @ directions[start:stop]
            for table, length, start, stop in zip(tables, lengths, starts[:-1], starts[1:], strict=True)
        )
    return np.asarray(joined, np.float32)


def principal_directions(vectors: Float32) -> Float32:
    """The principal directions of vectors, without centring, float32 [dim, dim], the longest first."""
    _, directions = np.linalg.eigh((vectors.T @ vectors).astype(np.float64))
    longest: Float32 = directions[:, ::-1].astype(np.float32)
    # A direction and its opposite are equally good, so that of its largest entry is taken.
    largest = np.take_along_axis(longest, np.abs(longest).argmax(axis=0)[None], axis=0)
    return longest * np.sign(largest)
