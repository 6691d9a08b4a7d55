"""A tiny corpus for the tests of vocabularies, data sets, training and models."""

import random
from pathlib import Path

import polars as pl

from paraphrastic.base.units import Unknown
from paraphrastic_pipeline.training.dataset import UnitVocabulary, encode_dataset
from paraphrastic_pipeline.training.vocabulary import VocabularySettings, train_vocabulary

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


def write_pairs(path: Path, pairs: list[tuple[str, str]]) -> Path:
    source, target = zip(*pairs, strict=True)
    pl.DataFrame({"source": source, "target": target}).write_parquet(path)
    return path


def write_training_data(
    folder: Path, pairs: list[tuple[str, str]], *, size: int = 60, unknown: Unknown = "omit",
    character_coverage: float = 1.0,
) -> tuple[Path, Path]:  # fmt: skip
    """Write the data set and the sentencepiece model of `pairs`."""
    parquet = write_pairs(folder / "pairs.parquet", pairs)
    model = folder / "sentencepiece.model"
    train_vocabulary(
        parquet,
        model,
        VocabularySettings(
            size=size,
            character_coverage=character_coverage,
            max_sentences=10_000,
            hard_limit=False,
            unknown=unknown,
        ),
    )
    encode_dataset(parquet, [UnitVocabulary("subword", (model,), 100)], folder / "train.h5", threads=1)
    return folder / "train.h5", model
