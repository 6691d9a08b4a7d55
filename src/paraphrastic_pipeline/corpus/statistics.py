"""The statistics that describe corpora in Table 2 of ParaNMT-50M, except its column of parses."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from paraphrastic.base.errors import InputError
from paraphrastic.base.files import read_json, write_json
from paraphrastic_pipeline.base.tables import write_csv
from paraphrastic_pipeline.corpus.blocks import read_table, write_table
from paraphrastic_pipeline.corpus.database import Resources, list_rows, open_database, random_number
from paraphrastic_pipeline.corpus.tokens import tokenize

_COLUMNS = (
    "model", "corpus", "language", "pairs", "used", "length", "length_std", "idf", "idf_std",
    "vocabulary_entropy", "paraphrase_score", "paraphrase_score_std",
)  # fmt: skip
_MEASURES = ("source_tokens", "target_tokens", "paraphrase_score")


def describe_corpus(
    scored: Sequence[str | Path],
    output: str | Path,
    sample: str | Path,
    *,
    languages: tuple[str, str],
    sentences: int,
    seed: int,
    **resources: Unpack[Resources],
) -> dict[str, Any]:
    """Measure a corpus in one pass, and sample the sentences for the other statistics.

    If both sides are in one language, the sources represent it, as in the paper (section 5, "we sampled 100k
    source sentences").

    Args:
        scored: Parquet files made by `score_pairs`: the shards of a corpus, in order.
        output: JSON file with the result, which is also returned: `pairs`; `sides`, which gives for each
            language its `side` and the mean and standard deviation of its lengths in tokens (`length`); and
            those of the `paraphrase_score`, which are null if no pair has one.
        sample: Parquet file with `source` and `target` of `sentences` random pairs, or of all if fewer.
        languages: languages of the sources and of the targets.
        sentences: number of pairs to sample.
        seed: seed for the sample.
        **resources: threads, memory and temporary folder for DuckDB.

    Raises:
        InputError: the corpus is empty, or the disk is full.
    """
    with open_database(f"{output}: cannot be measured", **resources) as database:
        list_rows(database, scored, columns=_MEASURES, numbered_through=True)
        # Rounded, since the last digits of a sum depend on the order of its threads.
        moments = ", ".join(f"round(avg({name}), 9), round(stddev_pop({name}), 9)" for name in _MEASURES)
        ((pairs, *figures),) = database.execute(f"SELECT count(*), {moments} FROM rows").fetchall()  # noqa: S608
        order = random_number(seed, "describe")
        chosen = database.sql(f"SELECT source, target FROM rows ORDER BY {order}, place LIMIT {sentences}")  # noqa: S608
        write_table(sample, chosen.to_arrow_table())
    if not pairs:
        raise InputError(f"{Path(scored[0])}: the corpus is empty: no pairs")
    measured = {name: figures[2 * number : 2 * number + 2] for number, name in enumerate(_MEASURES)}
    sides = {languages[0]: "source"}
    sides.setdefault(languages[1], "target")
    result = {
        "pairs": pairs,
        "sides": {
            language: {"side": side, "length": measured[f"{side}_tokens"]} for language, side in sides.items()
        },
        "paraphrase_score": measured["paraphrase_score"],
    }
    write_json(output, result)
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
        corpora: the model and corpus of each of the `statistics`.
        models: the model of each of the merged.
    """
    described = {path: read_json(path) for path in statistics}
    texts: dict[str, dict[Path, list[str]]] = {}
    for path, sample in zip(statistics, samples, strict=True):
        for language, side in described[path]["sides"].items():
            column = read_table(sample, columns=[side["side"]]).column(0).to_pylist()
            texts.setdefault(language, {})[path] = column
    words = {language: word_statistics(of_language) for language, of_language in texts.items()}
    rows: list[Sequence[Any]] = []
    for model, counts in zip(models, merged, strict=True):
        files = [
            (corpus, path) for (name, corpus), path in zip(corpora, statistics, strict=True) if name == model
        ]
        pairs, used, known = 0, 0, dict[str, None]()
        for (corpus, path), then in zip(files, read_json(counts)["corpora"], strict=True):
            about = described[path]
            pairs, used = pairs + about["pairs"], used + then["kept"]
            for language, side in about["sides"].items():
                figures = (*side["length"], *words[language][path], *about["paraphrase_score"])
                cells = ("" if value is None else f"{value:.2f}" for value in figures)
                rows.append((model, corpus, language, about["pairs"], then["kept"], *cells))
                known[language] = None
        rows.append((model, "all", "-".join(known), pairs, used))
    write_csv(table, _COLUMNS, (dict(zip(_COLUMNS, row, strict=False)) for row in rows))


def word_statistics(
    samples: Mapping[Any, Sequence[str]],
) -> dict[Any, tuple[float | None, float | None, float]]:
    """Inverse document frequencies and vocabulary entropy of sampled sentences in one language.

    Every sentence of every sample is a document, so all corpora are measured alike; the paper took document
    frequencies from Wikipedia. Words are split by `tokens.tokenize`.

    Args:
        samples: sentences by corpus.

    Returns:
        For each corpus: the mean and the standard deviation, over its sentences with words, of the mean IDF
        ln(N / d) of a sentence's words, where d of N documents have the word; and the entropy of its words,
        in nats.
    """
    tokens = {name: tokenize(texts) for name, texts in samples.items()}
    documents = sum(len(each.offsets) - 1 for each in tokens.values())
    frequencies = Counter[str]()
    for each in tokens.values():
        # Document and word are packed into one integer, to count each word once per document.
        size = max(1, len(each.words))
        distinct = np.unique(each.owners * size + each.ids)
        counts = np.bincount(distinct % size, minlength=len(each.words)).tolist()
        frequencies.update(dict(zip(each.words, counts, strict=False)))
    result = {}
    for name, each in tokens.items():
        idf = np.log(documents / np.array([frequencies[word] for word in each.words], np.float64))
        lengths = np.diff(each.offsets)
        sums = np.bincount(each.owners, weights=idf[each.ids], minlength=len(lengths))
        means = sums[lengths > 0] / lengths[lengths > 0]
        shares = np.bincount(each.ids) / max(1, len(each.ids))
        entropy = float(-(shares[shares > 0] * np.log(shares[shares > 0])).sum())
        mean_and_std = (float(means.mean()), float(means.std())) if len(means) else (None, None)
        result[name] = (*mean_and_std, entropy)
    return result
