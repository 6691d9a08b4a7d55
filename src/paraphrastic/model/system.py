"""What every system that is evaluated looks like, whoever made it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.model.encoder import Float32


@dataclass(frozen=True, slots=True)
class Stages:
    """The two stages of embedding, apart, so that each can be timed.

    Attributes:
        prepare: turns sentences in a language into what the model reads.
        embed: turns that into their vectors, float32 [n, dim], as `System.embed` would.
    """

    prepare: Callable[[Sequence[str], str | None], Any]
    embed: Callable[[Any], Float32]


@dataclass(frozen=True, slots=True)
class System:
    """An encoder under its name.

    Attributes:
        label: its name in tables.
        dim: dimension of its vectors.
        digest: of what decides a sentence's vector.
        embed: turns n raw sentences in a language, whose code a model may need or not, into vectors, float32
            [n, dim].
        stages: the same in two stages; None where nothing is computed.
    """

    label: str
    dim: int
    digest: str
    embed: Callable[[Sequence[str], str | None], Float32]
    stages: Stages | None = None

    def embed_finite(self, sentences: Sequence[str], language: str | None, *, name: str) -> Float32:
        """Vectors of sentences that `name` has, [n, dim]; an `InputError` if one is not finite."""
        vectors = self.embed(sentences, language)
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            sentence = sentences[int(finite.argmin())]
            raise InputError(f"{self.label}: {name}: the vector of {sentence!r} is not finite")
        return vectors
