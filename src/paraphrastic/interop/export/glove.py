"""A model as text, a piece and its embedding a line, as the vectors of GloVe are."""

from pathlib import Path

import numpy as np
import sentencepiece

from paraphrastic.base.errors import InputError
from paraphrastic.base.units import spell
from paraphrastic.interop.export.parity import Other
from paraphrastic.interop.export.static import TOLERANCE
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import Float32
from paraphrastic.model.files import SENTENCEPIECE
from paraphrastic.model.unknown_pieces import UnknownPieceProcessor

VECTORS = "vectors.txt"
# The name that GloVe has for the vector of unknown words; here it is that of a sentence without known pieces.
UNKNOWN = "<unk>"


def write_glove(model: AverageEncoder, folder: Path) -> None:
    """Write `vectors.txt`, lines of a known piece and its embedding, and the sentencepiece model beside it.

    Numbers have nine digits, from which a reader gets back what single precision has.

    Raises:
        InputError: a piece has white space in it, by which readers part a line.
    """
    processor = model.processor
    pieces = processor.id_to_piece(list(range(processor.get_piece_size())))
    factors = np.ones(len(pieces), np.float32) if model.weights is None else model.weights
    form = " ".join(["%.9g"] * model.dim)
    with (folder / VECTORS).open("w", encoding="utf-8", newline="\n") as file:
        for row in np.flatnonzero(model.known):
            if pieces[row].split() != [pieces[row]] or pieces[row] == UNKNOWN:
                raise InputError(f"the piece {pieces[row]!r} cannot begin a line of text")
            embedding = model.embeddings[row].astype(np.float32) * factors[row]
            file.write(f"{pieces[row]} {form % tuple(embedding.tolist())}\n")
        file.write(f"{UNKNOWN} {form % tuple(model.unknown.tolist())}\n")
    (folder / SENTENCEPIECE).write_bytes(processor.serialized_model_proto())


def in_glove(model: AverageEncoder, folder: Path) -> Other:
    """The text, read back: a sentence is the mean of its pieces that are in it, or else that of `<unk>`."""
    vectors: dict[str, Float32] = {}
    with (folder / VECTORS).open(encoding="utf-8", newline="\n") as file:
        for line in file:
            piece, _, numbers = line.rstrip("\n").partition(" ")
            vectors[piece] = np.array(numbers.split(" "), np.float32)
    processor = sentencepiece.SentencePieceProcessor(model_file=str(folder / SENTENCEPIECE))
    lowercase = isinstance(model.processor, UnknownPieceProcessor) and model.config["lowercase"]

    def pieces(sentences: list[str]) -> list[list[str]]:
        texts = spell(model._prepare(sentences), model.config.get("unit", "subword"))
        cut = processor.encode(texts, out_type=str)
        return [[p if p in vectors or not lowercase else p.lower() for p in each] for each in cut]

    def cut(sentences: list[str]) -> list[list[int]]:
        unknown = processor.unk_id()
        return [
            [processor.piece_to_id(piece) if piece in vectors else unknown for piece in each]
            for each in pieces(sentences)
        ]

    def embed(sentences: list[str]) -> Float32:
        means = np.zeros((len(sentences), model.dim), np.float32)
        for row, each in enumerate(pieces(sentences)):
            if each:
                known = [vectors[piece] for piece in each if piece in vectors] or [vectors[UNKNOWN]]
                means[row] = np.mean(known, axis=0, dtype=np.float64)
        return means

    return Other(cut, embed, TOLERANCE, unknown=True)
