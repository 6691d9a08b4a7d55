"""Similarity search on Tatoeba: how often a sentence's nearest neighbour is not its translation."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json
from paraphrastic.evaluation.results import Measurement, Source, share, write_result
from paraphrastic.evaluation.testsets import read_testsets, table_digest
from paraphrastic.evaluation.vectors import distinct_entries
from paraphrastic.model.system import System
from paraphrastic.neighbours.nearest import nearest_neighbours


def evaluate_tatoeba(
    encoder: System,
    testsets: Mapping[str, Path],
    result: Path,
    *,
    official: Path,
    source: Source,
    bootstrap_samples: int,
) -> None:
    """Evaluate as LASER does (Artetxe and Schwenk 2019): the nearest neighbour by cosine on the other side.

    Measurements: `error de-en`, where a German sentence's nearest English one is not that of its line;
    `error en-de`; and `error de`, which is the first one again, the direction of the figures that Wieting et
    al. (2021), Table 4, compares with. Lines count, not texts: of two lines with the same sentence, at least
    one is an error.

    Args:
        encoder: the system.
        testsets: Parquet files of `prepare_tatoeba`, by language.
        result: the JSON file, see `write_result`; `languages` says of each language how many pairs there
            are, how many of them have a sentence, or an English one, that an earlier line has, and whether
            they are official.
        official: JSON file with the digests of the official test sets, by language.
        source: whether the system was trained.
        bootstrap_samples: resamples of each language's pairs, for the intervals.

    Raises:
        InputError: there is no test set, or a damaged one; vectors that are not finite, or the same for all
            sentences.
    """
    if not testsets:
        raise InputError(f"{encoder.label}: there is no test set of Tatoeba in its languages")
    digests = read_json(official)
    measurements: dict[str, Measurement] = {}
    languages = {}
    for language, path in testsets.items():
        pairs = read_testsets(path).select("sentence", "english")
        x, y = (
            distinct_entries(encoder, pairs[column].to_list(), code, name=f"Tatoeba {language}-en")
            for column, code in (("sentence", language), ("english", "en"))
        )
        digest = table_digest(pairs)
        for name, neighbours in zip(
            (f"{language}-en", f"en-{language}"), nearest_neighbours(x, y, 1), strict=True
        ):
            measurements[f"error {name}"] = share(
                neighbours.indices[:, 0] != np.arange(len(pairs)),
                name=f"tatoeba {language}",
                digest=digest,
                samples=bootstrap_samples,
                higher_is_better=False,
            )
        measurements[f"error {language}"] = measurements[f"error {language}-en"]
        languages[language] = {
            "n": len(pairs),
            "repeated": {column: len(pairs) - pairs[column].n_unique() for column in pairs.columns},
            "official": digests.get(language) == digest,
        }
    write_result(
        result,
        encoder,
        measurements,
        task="tatoeba",
        source=source,
        official=all(about["official"] for about in languages.values()),
        details={"languages": languages},
    )
