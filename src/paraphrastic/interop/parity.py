"""Comparison, on real text, of a model in another library with the same model here."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError
from paraphrastic.base.text import is_chinese
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import SentenceEncoder, cosines

# Sentences in many languages and scripts, some of which are hard to cut in the same way.
TEXT = Path(__file__).with_name("sentences.txt")

# In single precision, cosines may differ by this much.
TOLERANCE = 1e-5
_BLOCK = 1024
# Number of differing lines that a message names.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Other:
    """A model in another library.

    Attributes:
        cut: turns texts into the ids of all their pieces; unknown pieces may have any id without embedding.
        embed: turns texts into vectors, [n, dim].
        tolerance: largest difference of cosines that is tolerated.
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
        unknown: lines of only unknown pieces, if the other library has no vector for them.
        segmented: lines of `different` with Chinese words.
        pairs: number of compared cosines of consecutive sentences.
        largest: largest difference of two cosines.
        apart: first lines of the pairs whose cosines differ by more than is tolerated.
        tolerance: see `Other`.
    """

    tolerance: float
    sentences: int = 0
    identical: int = 0
    reordered: list[int] = field(default_factory=list)
    ties: list[int] = field(default_factory=list)
    different: list[int] = field(default_factory=list)
    unknown: list[int] = field(default_factory=list)
    segmented: list[int] = field(default_factory=list)
    pairs: int = 0
    largest: float = 0.0
    apart: list[int] = field(default_factory=list)

    def check(self, text: str, name: str) -> None:
        """Raise an `InputError` that names lines, unless the models agree."""
        if not self.sentences:
            raise InputError(f"{text}: contains no sentence to compare the export with")
        faults = []
        if self.different:
            reason = ""
            if self.segmented:
                reason = (
                    f"; {len(self.segmented):,} of them contain Chinese characters, in which jieba finds the "
                    "words for the model but not for the export"
                )
            faults.append(
                f"{len(self.different):,} of {self.sentences:,} sentences are cut into different pieces"
                f" (line {_lines(self.different)}){reason}"
            )
        if self.apart:
            faults.append(
                f"{len(self.apart):,} cosines between a sentence and the next differ by more than "
                f"{self.tolerance:g}, at most by {self.largest:.2g} (line {_lines(self.apart)})"
            )
        if faults:
            raise InputError(f"{text}: {name} does not agree with the model: {'; '.join(faults)}")

    def table(self) -> list[tuple[str, str]]:
        """Return what was found, for a person to read."""
        rows = [
            ("sentences", f"{self.sentences:,}"),
            ("with identical pieces", f"{100 * self.identical / self.sentences:.4g} %"),
            ("largest difference of cosines", f"{self.largest:.2g} (tolerated: {self.tolerance:g})"),
            ("compared cosines between a sentence and the next", f"{self.pairs:,}"),
        ]
        counted = {
            "with the same pieces in another order": self.reordered,
            "with two cuts of the same score": self.ties,
            "with unknown pieces only, which are zero there": self.unknown,
        }
        return rows + [
            (what, f"{len(each):,} (line {_lines(each)})") for what, each in counted.items() if each
        ]


def compare(model: SentenceEncoder, other: Other, sentences: Iterable[str]) -> Parity:
    """Compare the pieces and cosines of sentences here and in another library.

    `model` is an average of one table, or a Transformer. Sentences without text, which are zero
    here, and those of unknown pieces that have a vector only here are not compared, and neither are the
    cosines of those with two best ways to be cut; all but the first are counted separately.
    """
    found = Parity(other.tolerance)
    remaining = iter(sentences)
    # The last row of the block before, here and there.
    before = [np.empty((0, model.dim), np.float32)] * 2
    while block := list(islice(remaining, _BLOCK)):
        apart = _compare_pieces(model, other, block, found)
        vectors = [model.embed_raw_text(block), np.asarray(other.embed(block), np.float32)]
        if vectors[1].shape != vectors[0].shape:
            raise InputError(f"its vectors are {vectors[1].shape}, but those of the model {vectors[0].shape}")
        for side in vectors:
            side[apart] = np.nan
        joined = [np.vstack(sides) for sides in zip(before, vectors, strict=True)]
        _compare_cosines(joined, found.sentences + 1 - len(before[0]), found)
        before = [side[-1:] for side in vectors]
        found.sentences += len(block)
    return found


def _compare_pieces(model: SentenceEncoder, other: Other, block: list[str], found: Parity) -> list[int]:
    """Compare pieces and return the places of sentences whose vectors are not to be compared."""
    apart = []
    ours = model.tokenize(block)
    for place, (text, own, pieces) in enumerate(zip(block, ours.lists(), other.cut(block), strict=True)):
        line = found.sentences + place + 1
        average = model if isinstance(model, AverageEncoder) else None
        known = [piece for piece in pieces if average.known[piece]] if average else pieces
        if known == own:
            found.identical += 1
        elif Counter(known) == Counter(own):
            found.reordered.append(line)
        elif average and _is_tie(average, text, pieces):
            found.ties.append(line)
            apart.append(place)
        else:
            found.different.append(line)
            if model.config["segmentation"].get("zh") and is_chinese(text):
                found.segmented.append(line)
        if not average and not ours.has_text[place]:
            apart.append(place)
        if not own and ours.has_text[place] and not other.unknown:
            found.unknown.append(line)
            apart.append(place)
    return apart


def _is_tie(model: AverageEncoder, text: str, pieces: Sequence[int]) -> bool:
    """Whether two ways to cut a text have the same score, up to rounding in single precision."""
    processor, unknown = model.processor, model.processor.unk_id()
    (own,) = processor.encode(model.spelled([text]))
    scores = [sum(processor.get_score([piece for piece in way if piece != unknown])) for way in (own, pieces)]
    lost = len(own) * float(np.finfo(np.float32).eps) * max(map(abs, scores))
    return abs(scores[0] - scores[1]) <= lost and unknown not in {*own} ^ {*pieces}


def _compare_cosines(vectors: Sequence[Float32], first: int, found: Parity) -> None:
    ours, theirs = (cosines(side[:-1], side[1:]) for side in vectors)
    compared = np.isfinite(vectors[0][:-1]).all(axis=1) & np.isfinite(vectors[0][1:]).all(axis=1)
    # A vector that is not finite in the other library counts as different.
    differences = np.nan_to_num(np.abs(ours - theirs)[compared], nan=np.inf)
    found.pairs += int(compared.sum())
    found.largest = max([found.largest, *differences.tolist()])
    places = np.flatnonzero(compared)[differences > found.tolerance]
    found.apart += (places + first).tolist()


def _lines(numbers: Collection[int]) -> str:
    named = ", ".join(map(str, list(numbers)[:_NAMED]))
    return named + (", …" if len(numbers) > _NAMED else "")
