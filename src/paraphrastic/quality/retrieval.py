"""Retrieval of partners: how often the sentence that is nearest to another one is its partner."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from paraphrastic.base.arrays import Bool, Float32, Float64, Int64
from paraphrastic.model.encoder import Encoder, cosines, finite_vectors
from paraphrastic.neighbours.nearest import Neighbours, nearest_neighbours

# Partners are looked for among so many nearest sentences.
NEAREST = 10
# Half the width of a 95 % interval, in standard errors.
Z = 1.959964


@dataclass(frozen=True, slots=True)
class Retrieval:
    """What the sentences on one side of n pairs find among candidates on the other side.

    Attributes:
        candidates: the different sentences that could be found.
        found: indices of each sentence's nearest candidates, nearest first, int64 [n, k].
        cosines: their cosines, [n, k].
        right: whether each of them is a partner of the sentence, in any of the pairs, [n, k].
    """

    candidates: Sequence[str]
    found: Int64
    cosines: Float64
    right: Bool

    @property
    def hits(self) -> Bool:
        """Whether the nearest candidate is a partner, [n]."""
        return self.right[:, 0]

    @property
    def hits_among_nearest(self) -> Bool:
        """Whether a partner is among the `NEAREST` nearest candidates, [n]."""
        return np.asarray(self.right.any(axis=1))


class PairVectors:
    """The vectors of the different sentences on both sides of pairs, and of more sentences to choose from.

    Args:
        encoder: embeds the sentences.
        pairs: sources and targets of the pairs, each with n sentences, at least one.
        languages: languages of the sides, for an encoder that asks for them.
        name: what error messages call the pairs.
        distractors: more sentences of each side that can be found.

    Raises:
        InputError: a vector is not finite.
    """

    def __init__(
        self,
        encoder: Encoder,
        pairs: tuple[Sequence[str], Sequence[str]],
        languages: Sequence[str | None] = (None, None),
        *,
        name: str,
        distractors: tuple[Sequence[str], Sequence[str]] = ((), ()),
    ) -> None:
        self.texts: list[list[str]] = []
        self._own: list[int] = []
        self._rows: list[Int64] = []
        self._vectors: list[Float32] = []
        for side, more, language in zip(pairs, distractors, languages, strict=True):
            texts, indices = unify([*side, *more])
            self.texts.append(texts)
            self._rows.append(indices[: len(side)])
            self._own.append(int(indices[: len(side)].max()) + 1)
            self._vectors.append(finite_vectors(encoder, texts, language, name=name))
        self._pairs = set(zip(*(rows.tolist() for rows in self._rows), strict=True))

    def cosines(self) -> Float64:
        """The cosine of each pair, [n]; 0 if a sentence has no vector."""
        sides = zip(self._vectors, self._rows, strict=True)
        return cosines(*(vectors[rows] for vectors, rows in sides))

    def retrieve(self, *, among_distractors: bool = False, threads: int = 1) -> tuple[Retrieval, Retrieval]:
        """What sources find among targets, and targets among sources, or `among_distractors` as well."""
        own = [vectors[:size] for vectors, size in zip(self._vectors, self._own, strict=True)]
        if not among_distractors:
            found = nearest_neighbours(own[0], own[1], NEAREST, threads=threads)
        else:
            forward, _ = nearest_neighbours(own[0], self._vectors[1], NEAREST, threads=threads)
            _, backward = nearest_neighbours(self._vectors[0], own[1], NEAREST, threads=threads)
            found = forward, backward
        return self._judged(found[0], side=0), self._judged(found[1], side=1)

    def _judged(self, neighbours: Neighbours, *, side: int) -> Retrieval:
        queries = self._rows[side]
        found, cosines = neighbours.indices[queries], neighbours.cosines[queries]
        ends = [np.repeat(queries, found.shape[1]).tolist(), found.ravel().tolist()]
        pairs = zip(*(ends if side == 0 else ends[::-1]), strict=True)
        right = np.fromiter((pair in self._pairs for pair in pairs), np.bool_, found.size)
        return Retrieval(self.texts[1 - side], found, cosines, right.reshape(found.shape))


def wilson(hits: int, n: int) -> tuple[float, float]:
    """The 95 % interval of a share, by Wilson's score (Wilson 1927)."""
    center, room = hits + Z**2 / 2, Z * math.sqrt(hits * (n - hits) / n + Z**2 / 4)
    return (center - room) / (n + Z**2), (center + room) / (n + Z**2)


def unify(sentences: Iterable[str]) -> tuple[list[str], Int64]:
    """Return the different sentences, in order of first occurrence, and each sentence's index there, [n]."""
    index_of: dict[str, int] = {}
    indices = [index_of.setdefault(sentence, len(index_of)) for sentence in sentences]
    return list(index_of), np.array(indices, np.int64)
