"""A tiny corpus for the tests of vocabularies, data sets, training and models."""

import random
from pathlib import Path
from typing import Any

from pair_files import write_pairs

from paraphrastic_pipeline.training.dataset import encode_dataset
from paraphrastic_pipeline.training.vocabulary import train_vocabulary

NOUNS = {"dog": "hund", "cat": "katze", "house": "haus", "tree": "baum", "car": "auto", "river": "fluss"}
VERBS = {"sees": "sieht", "likes": "mag", "finds": "findet", "paints": "malt"}
ADJECTIVES = {"small": "kleine", "red": "rote", "old": "alte", "quiet": "ruhige", "new": "neue"}


def sentence_pairs(n: int, *, seed: int = 0) -> list[tuple[str, str]]:
    generator = random.Random(seed)
    pairs = []
    for _ in range(n):
        english, german = [], []
        for part in (ADJECTIVES, NOUNS, VERBS, ADJECTIVES, NOUNS):
            word = generator.choice(sorted(part))
            english.append(word)
            german.append(part[word])
        pairs.append(("the {} {} {} the {} {}".format(*english), "das {} {} {} das {} {}".format(*german)))
    return pairs


def distinct_pairs(n: int) -> list[tuple[str, str]]:
    """Return pairs with rare words, so that no two sentences have the same vector."""
    generator = random.Random(1)
    rare = ["".join(generator.choices("bcdfgklmnprst", k=5)) for _ in range(80)]
    words = (" ".join(generator.sample(rare, 3)) for _ in range(n))
    return [
        (f"{source} {more}", f"{target} {more}")
        for (source, target), more in zip(sentence_pairs(n), words, strict=True)
    ]


PAIRS = distinct_pairs(300)


def trained_vocabulary(pairs: Path, output: Path, **changes: Any) -> Path:
    """Train a vocabulary of 60 pieces, or with these changes of its settings."""
    settings = {"size": 60, "character_coverage": 1.0, "max_sentences": 10_000}
    train_vocabulary(pairs, output, {**settings, "unknown": "omit", **changes})
    return output


def write_training_data(folder: Path, pairs: list[tuple[str, str]], **vocabulary: Any) -> tuple[Path, Path]:
    """Write the data set and the sentencepiece model of `pairs`."""
    parquet = write_pairs(folder / "pairs.parquet", pairs)
    model = trained_vocabulary(parquet, folder / "sentencepiece.model", **vocabulary)
    encode_dataset(
        parquet, [{"unit": "subword", "models": (model,), "max_pieces": 100}], folder / "train.h5", threads=1
    )
    return folder / "train.h5", model
