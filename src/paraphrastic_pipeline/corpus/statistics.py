"""The statistics that describe a corpus in Table 2 of ParaNMT-50M."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from paraphrastic.base.arrays import Float64
from paraphrastic.base.errors import InputError
from paraphrastic.base.files import write_json
from paraphrastic_pipeline.corpus.blocks import read_blocks, write_blocks
from paraphrastic_pipeline.corpus.sampling import Samples
from paraphrastic_pipeline.corpus.text import collapse_spaces
from paraphrastic_pipeline.corpus.tokens import tokenize

_SIDES = ("source", "target")
_SAMPLE_SCHEMA = pa.schema([("source", pa.string()), ("target", pa.string())])
# Statistics are rounded to so many digits that the division of pairs into blocks makes no difference.
_DIGITS = 6


def describe_corpus(
    scored: Sequence[str | Path],
    output: str | Path,
    sample: str | Path,
    *,
    languages: tuple[str, str],
    sentences: int,
    seed: int,
) -> dict[str, Any]:
    """Measure a corpus in one pass, and sample the sentences for the other statistics.

    Lengths (in tokens) and paraphrase scores are measured on all pairs; `std` is the standard deviation. If
    both sides are in one language, the sources represent it, as in the paper (section 5, "we sampled 100k
    source sentences").

    Args:
        scored: Parquet files made by `score_pairs`: the shards of a corpus, in order.
        output: JSON file with the result, which is also returned: `pairs`, `sampled`, `paraphrase_score`
            (`mean` and `std`, or null if no pair has one), and `sides`, which gives for each language its
            `side` and `length` (`mean` and `std`).
        sample: Parquet file with `source` and `target` of `sentences` random pairs, or of all if fewer.
        languages: languages of the sources and of the targets.
        sentences: number of pairs to sample.
        seed: seed for the sample.

    Raises:
        InputError: the corpus is empty, or the disk is full.
    """
    sides = {languages[0]: "source"}
    sides.setdefault(languages[1], "target")
    moments = {name: np.zeros(3) for name in (*sides.values(), "paraphrase_score")}
    sampled = Samples(["pair"], seed, size=sentences)
    columns = [*_SIDES, "source_tokens", "target_tokens", "paraphrase_score"]
    shards = (read_blocks(shard, columns=columns) for shard in scored)
    for block in chain.from_iterable(shards):
        for measure, sums in moments.items():
            column = block[measure if measure == "paraphrase_score" else f"{measure}_tokens"]
            values = column.drop_null().to_numpy().astype(np.float64)
            sums += len(values), values.sum(), (values * values).sum()
        sampled.add(block.select(_SIDES), np.zeros(block.num_rows, np.intp))
    if not sampled.read:
        name = scored[0] if len(scored) == 1 else Path(scored[0]).parent
        raise InputError(f"{name}: the corpus is empty: no pairs")
    rows = [row for _, row in sampled.rows()]
    texts = {side: collapse_spaces([row[side] for row in rows]) for side in _SIDES}
    with write_blocks(sample, _SAMPLE_SCHEMA) as writer:
        writer.write(pa.RecordBatch.from_pydict(texts, schema=_SAMPLE_SCHEMA))
    result = {
        "pairs": sampled.read,
        "sampled": len(rows),
        "paraphrase_score": _mean_and_std(moments["paraphrase_score"]),
        "sides": {
            language: {"side": side, "length": _mean_and_std(moments[side])}
            for language, side in sides.items()
        },
    }
    write_json(output, result)
    return result


class WordStatistics:
    """Vocabulary entropy and inverse document frequencies of sampled sentences in one language.

    Every sentence of every sample is a document, so all corpora are measured alike. The paper took the
    frequencies from Wikipedia. Words are split by `tokens.tokenize`.

    Args:
        samples: sentences by the name of the corpus.
    """

    def __init__(self, samples: Mapping[Any, Sequence[str]]) -> None:
        self._tokens = {name: tokenize(texts) for name, texts in samples.items()}
        self._documents = 0
        self._frequencies: Counter[str] = Counter()
        for tokens in self._tokens.values():
            self._documents += len(tokens.offsets) - 1
            # Document and word are packed into one integer, to count each word once per document.
            vocabulary = max(1, len(tokens.words))
            distinct = np.unique(tokens.owners * vocabulary + tokens.ids)
            counts = np.bincount(distinct % vocabulary, minlength=len(tokens.words)).tolist()
            self._frequencies.update(dict(zip(tokens.words, counts, strict=False)))

    def idf(self, name: Any) -> tuple[float | None, float | None]:
        """Mean and standard deviation, over a sample's sentences, of the mean IDF of a sentence's words.

        The IDF of a word in d of N documents is ln(N / d); a word in none of them counts as in one. Sentences
        without a word are left out; if no sentence has a word, both values are None.
        """
        tokens = self._tokens[name]
        frequencies = np.array([max(1, self._frequencies[word]) for word in tokens.words], np.float64)
        idf = np.log(self._documents / frequencies)
        lengths = np.diff(tokens.offsets)
        sums = np.bincount(tokens.owners, weights=idf[tokens.ids], minlength=len(lengths))
        means = sums[lengths > 0] / lengths[lengths > 0]
        return (float(means.mean()), float(means.std())) if len(means) else (None, None)

    def vocabulary_entropy(self, name: Any) -> float:
        """Entropy of a sample's words, in nats."""
        return entropy(np.bincount(self._tokens[name].ids))


def entropy(counts: npt.ArrayLike) -> float:
    """Entropy, in nats, of the distribution with these counts."""
    values = np.asarray(counts, np.float64)
    shares = values[values > 0] / values.sum()
    return float(-(shares * np.log(shares)).sum())


def _mean_and_std(moments: Float64) -> dict[str, float] | None:
    """Mean and standard deviation from the count, sum and sum of squares; None without values."""
    n, total, squares = moments.tolist()
    if not n:
        return None
    mean = total / n
    variance = max(0.0, squares / n - mean * mean)
    return {"mean": round(mean, _DIGITS), "std": round(variance**0.5, _DIGITS)}
