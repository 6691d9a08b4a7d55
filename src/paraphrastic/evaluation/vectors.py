"""Vectors of test sentences, refused where no figure could be made of them."""

from collections.abc import Sequence

from paraphrastic.encoders import Encoder
from paraphrastic.errors import InputError
from paraphrastic.mining.bitext import embed_directions
from paraphrastic.mining.directions import Directions


def distinct_directions(
    encoder: Encoder, sentences: Sequence[str], language: str, *, name: str
) -> Directions:
    """Directions of the vectors of the sentences of the test set `name`.

    Raises:
        InputError: a vector is not finite, or all sentences have the same direction.
    """
    directions = embed_directions(encoder, sentences, language, name=name)
    if len(directions) > 1 and (directions.entries == directions.entries[0]).all():
        raise InputError(f"{encoder.label}: {name}: all sentences in {language} have the same direction")
    return directions
