"""The common form of all systems that are evaluated, whoever made them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from paraphrastic.base.arrays import Float32
from paraphrastic.base.errors import InputError

# Turns sentences and the code of their language, which some models need, into vectors, float32 [n, dim].
Embed = Callable[[Sequence[str], str | None], Float32]


@dataclass(frozen=True, slots=True)
class Stages:
    """The two stages of embedding, kept apart so that each can be timed.

    Attributes:
        prepare: turns sentences in a language into what the model reads.
        embed: turns that into their vectors, float32 [n, dim], as `System.embed` would.
    """

    prepare: Callable[[Sequence[str], str | None], Any]
    embed: Callable[[Any], Float32]


@dataclass(frozen=True, slots=True)
class System:
    """An encoder with a name.

    Attributes:
        label: its name in tables.
        dim: dimension of its vectors.
        digest: digest of everything that determines a sentence's vector.
        embed: turns raw sentences into vectors.
        stages: the same in two stages; None if nothing is computed.
        preparation: how a model of this project prepares text; see `SentenceEncoder.preparation`.
    """

    label: str
    dim: int
    digest: str
    embed: Embed
    stages: Stages | None = None
    preparation: Mapping[str, Any] | None = None

    def embed_finite(self, sentences: Sequence[str], language: str | None, *, name: str) -> Float32:
        """Embed sentences of the data `name`: vectors, [n, dim]; an `InputError` if one is not finite."""
        vectors = self.embed(sentences, language)
        finite = np.isfinite(vectors).all(axis=1)
        if not finite.all():
            sentence = sentences[int(finite.argmin())]
            raise InputError(f"{self.label}: {name}: the vector of {sentence!r} is not finite")
        return vectors
