"""Tables of words that begin with word vectors."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import sentencepiece
import torch
from torch import Tensor

from paraphrastic.base.errors import InputError
from paraphrastic.config.architecture import Architecture
from paraphrastic.corpus.word_vectors import WordVectors
from paraphrastic.training.dataset import UnitTable
from paraphrastic.training.encoder import TrainableEncoder

log = logging.getLogger(__name__)

# What sentencepiece puts before a word.
_START = "▁"


def use_word_vectors(
    encoder: TrainableEncoder,
    path: Path,
    units: Sequence[UnitTable],
    processors: Mapping[str, Sequence[sentencepiece.SentencePieceProcessor]],
    architecture: Architecture,
) -> tuple[dict[str, Tensor], dict[str, int]]:
    """Give the rows of words their vectors; words that have none keep their random ones.

    Args:
        encoder: its tables of words are changed in place.
        path: text file, as `WordVectors` reads it.
        units: rows of the tables, in the order of `architecture.units`.
        processors: by unit, its sentencepiece models.
        architecture: of the encoder.

    Returns:
        Copies of these tables, by the parameters' names, and counts: of the `words` and of those `found`.

    Raises:
        InputError: the vectors have another dimension than a table; a line that `WordVectors` refuses.
    """
    unit = units[architecture.units.index("word")]
    words = [_word(int(piece), processors["word"]) for piece in unit.pieces]
    vectors = WordVectors(path, only=frozenset(words))
    rows = np.array([vectors.words.get(word, -1) for word in words], np.int64)
    counts = {"words": len(words), "found": int((rows >= 0).sum())}
    log.info("%s: vectors of %d of %d words", path, counts["found"], counts["words"])
    anchors = {}
    for number, part in enumerate(architecture.parts):
        if part.unit != "word":
            continue
        table = encoder.get_parameter(f"parts.{number}.table")
        if vectors.vectors.shape[1] != table.shape[1]:
            raise InputError(
                f"{path}: its vectors have {vectors.vectors.shape[1]} dimensions, and the embeddings of part "
                f"{number} of the encoder {table.shape[1]}: set training.dimension or the part's dimension"
            )
        found = np.flatnonzero(rows >= 0)
        table.data[torch.from_numpy(found)] = torch.from_numpy(vectors.vectors[rows[found]])
        anchors[f"parts.{number}.table"] = table.detach().clone()
    return anchors, counts


def _word(piece: int, processors: Sequence[sentencepiece.SentencePieceProcessor]) -> str:
    for processor in processors:
        if piece < processor.get_piece_size():
            return str(processor.id_to_piece(piece)).removeprefix(_START)
        piece -= processor.get_piece_size()
    # The languages have tables of their own, but one vocabulary.
    return str(processors[0].id_to_piece(piece)).removeprefix(_START)
