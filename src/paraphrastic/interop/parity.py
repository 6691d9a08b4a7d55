"""Comparison, on real text, of a model in another library with the same model here."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np
from sentencepiece import SentencePieceProcessor

from paraphrastic.base.arrays import Float32, unit_rows
from paraphrastic.base.errors import InputError
from paraphrastic.base.text import is_chinese
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import SentenceEncoder

# Sentences in many languages and scripts, some of which are hard to cut in the same way.
TEXT = Path(__file__).with_name("sentences.txt")

# Two vectors of length 1 may be this far apart, since sums of many pieces are rounded in single precision. A
# cosine of two sentences differs by no more than the distances of both.
TOLERANCE = 1e-4
_BLOCK = 1024
# Number of differing lines that a message names.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Other:
    """A model in another library.

    Attributes:
        cut: turns texts into the ids of all their pieces; unknown pieces may have any id without embedding.
        embed: turns texts into vectors, [n, dim], of the same directions as here.
        tolerance: largest distance from the vector here that is tolerated, both of length 1.
        unknown: whether a sentence of unknown pieces has the same vector as here.
    """

    cut: Callable[[list[str]], list[list[int]]]
    embed: Callable[[list[str]], Float32]
    tolerance: float = TOLERANCE
    unknown: bool = False


@dataclass(slots=True)
class Parity:
    """What a comparison found.

    Attributes:
        sentences: number of sentences that were compared; lines count from 1.
        identical: number of sentences that are cut into the same known pieces.
        reordered: lines with the same pieces in another order, which does not change the average.
        ties: lines cut in two ways that sentencepiece's single precision cannot tell apart.
        different: lines cut into other pieces.
        empty: lines without text, whose vectors are zero.
        unknown: lines of only unknown pieces, if the other library has no vector for them.
        segmented: lines of `different` with Chinese words.
        vectors: number of compared vectors that are not zero.
        largest: largest distance of two vectors of length 1.
        apart: lines whose vectors are farther apart than is tolerated.
        tolerance: see `Other`.
    """

    tolerance: float
    sentences: int = 0
    identical: int = 0
    reordered: list[int] = field(default_factory=list)
    ties: list[int] = field(default_factory=list)
    different: list[int] = field(default_factory=list)
    empty: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    segmented: list[int] = field(default_factory=list)
    vectors: int = 0
    largest: float = 0.0
    apart: list[int] = field(default_factory=list)

    def check(self, text: str, name: str) -> None:
        """Raise an `InputError` that names lines, unless vectors were compared and the models agree."""
        if not self.sentences:
            raise InputError(f"{text}: contains no sentence to compare the export with")
        faults = []
        if self.different:
            reason = ""
            if self.segmented:
                reason = (
                    f", including Chinese ones ({len(self.segmented):,}), in which jieba finds the words for "
                    "the model but not for the export"
                )
            faults.append(
                f"{len(self.different):,} of {self.sentences:,} sentences are cut into different pieces"
                f" (line {_lines(self.different)}){reason}"
            )
        if self.apart:
            faults.append(
                f"in {len(self.apart):,} of {self.sentences:,}, the vector, scaled to length 1, is farther "
                f"than {self.tolerance:g} from the model's, at most {self.largest:.2g} "
                f"(line {_lines(self.apart)})"
            )
        if faults:
            raise InputError(f"{text}: {name} does not agree with the model: {'; '.join(faults)}")
        if not self.vectors:
            causes = "; ".join(f"{what}: {lines}" for what, lines in self._left_out())
            raise InputError(
                f"{text}: has no sentence whose vector can be compared with {name} ({causes}); "
                "give a text with other sentences"
            )

    def table(self) -> list[tuple[str, str]]:
        """Return what was found, for a person to read."""
        rows = [
            ("sentences", f"{self.sentences:,}"),
            ("with identical pieces", f"{100 * self.identical / self.sentences:.4g} %"),
            ("compared vectors", f"{self.vectors:,}"),
            (
                "largest distance of vectors",
                f"{self.largest:.2g} at length 1 (tolerated: {self.tolerance:g})",
            ),
        ]
        if self.reordered:
            rows.append(("with the same pieces in another order", _counted(self.reordered)))
        return rows + self._left_out()

    def _left_out(self) -> list[tuple[str, str]]:
        """Why vectors were not compared, and for which lines."""
        causes = {
            "without text": self.empty,
            "with two cuts of the same score": self.ties,
            "with unknown pieces only, which are zero there": self.unknown,
        }
        return [(what, _counted(lines)) for what, lines in causes.items() if lines]


def compare(model: SentenceEncoder, other: Other, sentences: Iterable[str]) -> Parity:
    """Compare the pieces and vectors of sentences here and in another library.

    `model` is an average of one table, or a Transformer. Vectors are scaled to length 1 and compared with the
    vector of the same sentence. Those of sentences that can be cut in two best ways are not compared, and
    neither are those of unknown pieces that have a vector only here; both are counted. Sentences without text
    are zero here; in another library, a Transformer may have a vector for them.
    """
    parity = Parity(other.tolerance)
    remaining = iter(sentences)
    while block := list(islice(remaining, _BLOCK)):
        left_out = _compare_pieces(model, other, block, parity)
        ours, theirs = model.embed_raw_text(block), np.asarray(other.embed(block), np.float32)
        if theirs.shape != ours.shape:
            raise InputError(f"its vectors are {theirs.shape}, but those of the model {ours.shape}")
        _compare_vectors(ours, theirs, left_out, parity)
        parity.sentences += len(block)
    return parity


def _compare_pieces(model: SentenceEncoder, other: Other, block: list[str], parity: Parity) -> list[int]:
    """Compare pieces and return the places of sentences whose vectors are not to be compared."""
    left_out = []
    ours = model.tokenize(block)
    for place, (text, ids, pieces) in enumerate(zip(block, ours.lists(), other.cut(block), strict=True)):
        line = parity.sentences + place + 1
        average = model if isinstance(model, AverageEncoder) else None
        known = [piece for piece in pieces if average.known[piece]] if average else pieces
        if known == ids:
            parity.identical += 1
        elif Counter(known) == Counter(ids):
            parity.reordered.append(line)
        elif average and _is_tie(average, text, pieces):
            parity.ties.append(line)
            left_out.append(place)
        else:
            parity.different.append(line)
            if model.config["segmentation"].get("zh", "none") != "none" and is_chinese(text):
                parity.segmented.append(line)
        if not ours.has_text[place]:
            parity.empty.append(line)
            if not average:
                left_out.append(place)
        if not ids and ours.has_text[place] and not other.unknown:
            parity.unknown.append(line)
            left_out.append(place)
    return left_out


def _is_tie(model: AverageEncoder, text: str, pieces: Sequence[int]) -> bool:
    """Whether both ways to cut a text spell it and have the same score, up to single precision.

    All bytes have the same score, so the scores alone would not tell one character from another.
    """
    processor, unknown = model.processor, model.processor.unk_id()
    (ours,) = processor.encode(model.spelled([text]))
    scores = [
        sum(processor.get_score([piece for piece in cut if piece != unknown])) for cut in (ours, pieces)
    ]
    lost = len(ours) * float(np.finfo(np.float32).eps) * max(map(abs, scores))
    return abs(scores[0] - scores[1]) <= lost and _spelling(processor, ours) == _spelling(processor, pieces)


def _spelling(processor: SentencePieceProcessor, pieces: Sequence[int]) -> bytes:
    """The text of pieces in UTF-8, with one byte that UTF-8 does not have for a run of unknown pieces."""
    parts: list[bytes] = []
    for piece in pieces:
        name = processor.id_to_piece(piece)
        if processor.is_byte(piece):
            parts.append(bytes([int(name.strip("<>"), base=16)]))
        elif piece != processor.unk_id():
            parts.append(name.encode())
        elif parts[-1:] != [b"\xff"]:
            parts.append(b"\xff")
    return b"".join(parts)


def _compare_vectors(ours: Float32, theirs: Float32, left_out: Sequence[int], parity: Parity) -> None:
    compared = np.ones(len(ours), np.bool_)
    compared[left_out] = False
    # A vector that is not finite in the other library counts as different.
    distances = np.nan_to_num(np.linalg.norm(unit_rows(ours) - unit_rows(theirs), axis=1), nan=np.inf)
    parity.vectors += int((compared & ours.any(axis=1)).sum())
    parity.largest = max([parity.largest, *distances[compared].tolist()])
    places = np.flatnonzero(compared & (distances > parity.tolerance))
    parity.apart += (places + parity.sentences + 1).tolist()


def _counted(lines: Collection[int]) -> str:
    return f"{len(lines):,} (line {_lines(lines)})"


def _lines(numbers: Collection[int]) -> str:
    named = ", ".join(map(str, list(numbers)[:_NAMED]))
    return named + (", …" if len(numbers) > _NAMED else "")
