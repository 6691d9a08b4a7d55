"""The statistics that describe corpora in Table 2 of ParaNMT-50M, except its column of parses."""

from collections.abc import Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd

from paraphrastic.base.files import read_json, write_json
from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.corpus.blocks import read_table, write_table
from paraphrastic_pipeline.corpus.counts import merged_corpora
from paraphrastic_pipeline.corpus.database import Resources, list_rows, open_database, random_number
from paraphrastic_pipeline.corpus.tokens import tokenize

_COLUMNS = (
    "model", "corpus", "language", "pairs", "used", "length", "length_std", "idf", "idf_std",
    "vocabulary_entropy", "paraphrase_score", "paraphrase_score_std",
)  # fmt: skip


def describe_corpus(
    scored: Sequence[str | Path],
    statistics: str | Path,
    sample: str | Path,
    *,
    languages: Sequence[str],
    sentences: int,
    seed: int,
    resources: Resources,
) -> dict[str, Any]:
    """Measure a corpus in one pass, and sample the sentences for the other statistics.

    If both sides are in one language, the sources represent it, as in the paper (section 5, "we sampled 100k
    source sentences").

    Args:
        scored: Parquet files made by `score_pairs`: the shards of a corpus, in order.
        statistics: JSON file with the result, which is also returned: `pairs`, and the mean and the standard
            deviation of the numbers of tokens by language (`lengths`) and of the `paraphrase_score`, which
            are null if no pair has one.
        sample: Parquet file with the sentences of so many random pairs, or of all if fewer, by language.
        languages: languages of the sources and of the targets.
        sentences: number of pairs to sample.
        seed: seed for the sample.
        resources: threads, memory and temporary folder for DuckDB.

    Raises:
        InputError: the disk is full.
    """
    # The source of a paraphrase stands for both sides.
    sides = {languages[0]: "source"}
    sides.setdefault(languages[1], "target")
    measures = {language: f"{side}_tokens" for language, side in sides.items()} | {"": "paraphrase_score"}
    with open_database(f"{statistics}: cannot be measured", **resources) as database:
        list_rows(database, scored, columns=[*measures.values()], numbered_through=True)
        # Rounded, since the last digits of a sum depend on the order of its threads.
        moments = ", ".join(f"[round(avg({x}), 9), round(stddev_pop({x}), 9)]" for x in measures.values())
        ((pairs, *figures),) = database.execute(f"SELECT count(*), {moments} FROM rows").fetchall()  # noqa: S608
        texts = ", ".join(f'{side} AS "{language}"' for language, side in sides.items())
        order = random_number(seed, "describe")
        chosen = database.sql(f"SELECT {texts} FROM rows ORDER BY {order}, place LIMIT {sentences}")  # noqa: S608
        write_table(sample, chosen.to_arrow_table())
    lengths = dict(zip(measures, figures, strict=True))
    result = {"pairs": pairs, "paraphrase_score": lengths.pop(""), "lengths": lengths}
    write_json(statistics, result)
    return result


def tabulate_corpora(
    statistics: Sequence[Path],
    samples: Sequence[Path],
    merged: Sequence[Path],
    table: Path,
    *,
    corpora: Sequence[tuple[str, str]],
    models: Sequence[str],
) -> None:
    """Write the statistics of each model's corpora, and how many of their pairs the model is trained on.

    Columns: `model`, `corpus`, `language` (of the side that is measured), `pairs`, `used`, and the figures
    of ParaNMT-50M's Table 2: `length` and `length_std` (tokens), `idf`, `idf_std` and `vocabulary_entropy`
    (nats, on the sample), `paraphrase_score` and `paraphrase_score_std` (empty if there is no score). The
    last row of each model has the corpus `all` and the number of pairs that the model is trained on, as in
    Table 1 of *Paraphrastic Representations at Scale*.

    Args:
        statistics: JSON files written by `describe_corpus`, in the order of the rows.
        samples: the samples that it wrote beside them.
        merged: JSON files written by `merge_pairs`, one per model.
        table: the CSV file.
        corpora: the model and corpus of each of the `statistics`, in the order of the models.
        models: the model of each of the merged.
    """
    texts: dict[str, dict[Path, list[str]]] = {}
    for path, sample in zip(statistics, samples, strict=True):
        for language, sentences in read_table(sample).to_pydict().items():
            texts.setdefault(language, {})[path] = sentences
    words = {language: word_statistics(of_language) for language, of_language in texts.items()}
    rows: list[Sequence[Any]] = []
    for model, of_model in groupby(merged_corpora(corpora, statistics, models, merged), itemgetter(0)):
        pairs, used, known = 0, 0, dict[str, None]()
        for _, corpus, path, then in of_model:
            about, kept = SimpleNamespace(**read_json(path)), then["kept"]
            pairs, used, known = pairs + about.pairs, used + kept, known | about.lengths
            for language, length in about.lengths.items():
                figures = (*length, *words[language][path], *about.paraphrase_score)
                cells = ("" if pd.isna(value) else f"{value:.2f}" for value in figures)
                rows.append((model, corpus, language, about.pairs, kept, *cells))
        rows.append((model, "all", "-".join(known), pairs, used))
    write_csv(table, _COLUMNS, (dict(zip(_COLUMNS, row, strict=False)) for row in rows))


def word_statistics(samples: Mapping[Any, Sequence[str]]) -> dict[Any, tuple[float, float, float]]:
    """Inverse document frequencies and vocabulary entropy of sampled sentences in one language.

    Every sentence of every sample is a document, so all corpora are measured alike; the paper took document
    frequencies from Wikipedia. Words are split by `tokens.tokenize`.

    Args:
        samples: sentences by corpus.

    Returns:
        For each corpus: the mean and the standard deviation, over its sentences with words, of the mean IDF
        ln(N / d) of a sentence's words, where d of N documents have the word, NaN if there are no words; and
        the entropy of its words, in nats.
    """
    tokens = tokenize([*chain.from_iterable(samples.values())])
    corpora = np.repeat(np.arange(len(samples)), [len(texts) for texts in samples.values()])
    words = pd.DataFrame({"corpus": corpora[tokens.owners], "document": tokens.owners, "word": tokens.ids})
    frequency = words.drop_duplicates(["document", "word"]).word.value_counts()
    words["idf"] = np.log(len(corpora) / words.word.map(frequency))
    result = {}
    for number, name in enumerate(samples):
        of_corpus = words[words.corpus == number]
        means = of_corpus.groupby("document").idf.mean()
        shares = of_corpus.word.value_counts(normalize=True).to_numpy()
        result[name] = (means.mean(), means.std(ddof=0), float(shares @ np.log(1 / shares)))
    return result
