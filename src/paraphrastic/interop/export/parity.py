"""How far a model agrees elsewhere with what it is here, on real text."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import HAN
from paraphrastic.base.units import spell
from paraphrastic.model.average import AverageEncoder
from paraphrastic.model.encoder import Float32, cosines

# Sentences of many languages and scripts, and such as are hard to cut alike.
TEXT = Path(__file__).with_name("sentences.txt")

_BLOCK = 1024
# Of those that differ, as many are named.
_NAMED = 5


@dataclass(frozen=True, slots=True)
class Other:
    """The model as another library has it.

    Attributes:
        cut: texts into the ids of all their pieces; those of unknown ones may be any that have no embedding.
        embed: texts into vectors, [n, dim].
        tolerance: by which cosines may differ.
        unknown: whether a sentence of unknown pieces has the vector that it has here.
    """

    cut: Callable[[list[str]], list[list[int]]]
    embed: Callable[[list[str]], Float32]
    tolerance: float
    unknown: bool = False


@dataclass(slots=True)
class Parity:
    """What a comparison found.

    Attributes:
        sentences: how many were compared; lines count from 1.
        identical: how many are cut into the same known pieces.
        reordered: lines with the same pieces in another order, which makes no other average.
        ties: lines cut in two ways that sentencepiece's single precision cannot tell apart.
        different: lines cut into other pieces.
        unknown: lines of unknown pieces alone, if they have no vector elsewhere.
        segmented: lines of `different` with Chinese words.
        pairs: how many cosines of consecutive sentences were compared.
        largest: difference of two cosines.
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
        """Raise an `InputError` that names lines, unless the model is the same elsewhere."""
        if not self.sentences:
            raise InputError(f"{text}: there is no sentence in it to compare the export with")
        faults = []
        if self.different:
            reason = ""
            if self.segmented:
                reason = (
                    f", {len(self.segmented):,} of them with Chinese characters, among which jieba finds the "
                    "words for the model, and not for the export"
                )
            faults.append(
                f"{len(self.different):,} of {self.sentences:,} sentences are cut into other pieces"
                f" (line {_lines(self.different)}){reason}"
            )
        if self.apart:
            faults.append(
                f"{len(self.apart):,} cosines of sentences with the next one differ by more than "
                f"{self.tolerance:g}, at most by {self.largest:.2g} (line {_lines(self.apart)})"
            )
        if faults:
            raise InputError(f"{text}: {name} does not agree with the model: {'; '.join(faults)}")

    def table(self) -> list[tuple[str, str]]:
        """What was found, for a person to read."""
        rows = [
            ("sentences", f"{self.sentences:,}"),
            ("with identical pieces", f"{100 * self.identical / self.sentences:.4g} %"),
            ("largest difference of cosines", f"{self.largest:.2g} (tolerated: {self.tolerance:g})"),
            ("cosines compared, of sentences with the next one", f"{self.pairs:,}"),
        ]
        counted = {
            "with the same pieces in another order": self.reordered,
            "with two ways to be cut that have the same score": self.ties,
            "of unknown pieces alone, which are zero there": self.unknown,
        }
        return rows + [
            (what, f"{len(each):,} (line {_lines(each)})") for what, each in counted.items() if each
        ]


def compare(model: AverageEncoder, other: Other, sentences: Iterable[str]) -> Parity:
    """Cut and embed sentences here and elsewhere.

    Sentences with a vector of their own here, and those with two best ways to be cut, are counted apart, and
    no cosine with them is compared.
    """
    found = Parity(other.tolerance)
    remaining = iter(sentences)
    before: tuple[Float32, Float32] | None = None
    while block := list(islice(remaining, _BLOCK)):
        apart = _compare_pieces(model, other, block, found)
        vectors = model.embed_raw_text(block), np.asarray(other.embed(block), np.float32)
        if vectors[1].shape != vectors[0].shape:
            raise InputError(f"vectors are {vectors[1].shape}, and here {vectors[0].shape}")
        for side in vectors:
            side[apart] = np.nan
        if before is not None:
            vectors = np.vstack([before[0], vectors[0]]), np.vstack([before[1], vectors[1]])
        first = found.sentences + 1 - (before is not None)
        _compare_cosines(vectors, first, found)
        before = vectors[0][-1:], vectors[1][-1:]
        found.sentences += len(block)
    return found


def _compare_pieces(model: AverageEncoder, other: Other, block: list[str], found: Parity) -> list[int]:
    """Places of sentences whose vectors are not to be compared."""
    apart = []
    ours = model.tokenize(block)
    for place, (text, own, pieces) in enumerate(zip(block, ours.lists(), other.cut(block), strict=True)):
        line = found.sentences + place + 1
        known = [piece for piece in pieces if model.known[piece]]
        if known == own:
            found.identical += 1
        elif Counter(known) == Counter(own):
            found.reordered.append(line)
        elif _is_tie(model, text, pieces):
            found.ties.append(line)
            apart.append(place)
        else:
            found.different.append(line)
            if model.config["segmentation"].get("zh") and HAN.search(text):
                found.segmented.append(line)
        if not own and ours.has_text[place] and not other.unknown:
            found.unknown.append(line)
            apart.append(place)
    return apart


def _is_tie(model: AverageEncoder, text: str, pieces: Sequence[int]) -> bool:
    """Whether two ways to cut a text score the same, but for what sums in single precision lose."""
    processor, unknown = model.processor, model.processor.unk_id()
    (spelled,) = spell(model._prepare([text]), model.config.get("unit", "subword"))
    own = processor.encode(spelled)
    scores = [sum(processor.get_score([piece for piece in way if piece != unknown])) for way in (own, pieces)]
    lost = len(own) * float(np.finfo(np.float32).eps) * max(map(abs, scores))
    return abs(scores[0] - scores[1]) <= lost and unknown not in {*own} ^ {*pieces}


def _compare_cosines(vectors: tuple[Float32, Float32], first: int, found: Parity) -> None:
    ours, theirs = (cosines(side[:-1], side[1:]) for side in vectors)
    compared = np.isfinite(vectors[0][:-1]).all(axis=1) & np.isfinite(vectors[0][1:]).all(axis=1)
    # A vector that is not finite elsewhere differs.
    differences = np.nan_to_num(np.abs(ours - theirs)[compared], nan=np.inf)
    found.pairs += int(compared.sum())
    found.largest = max([found.largest, *differences.tolist()])
    places = np.flatnonzero(compared)[differences > found.tolerance]
    found.apart += (places + first).tolist()


def _lines(numbers: Collection[int]) -> str:
    named = ", ".join(map(str, list(numbers)[:_NAMED]))
    return named + (", …" if len(numbers) > _NAMED else "")
