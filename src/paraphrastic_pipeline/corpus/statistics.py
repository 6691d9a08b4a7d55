"""The statistics that describe a corpus in Table 2 of ParaNMT-50M."""

import shlex
import subprocess
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
# Labels that parsers give to the node above the sentence, and the number of levels below it that count.
_ROOTS, _LEVELS = ("ROOT", "TOP", "S1", ""), 2
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
    parsers: Mapping[str, str],
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
            `side`, `length` (`mean` and `std`) and `parse_entropy` (or null).
        sample: Parquet file with `source` and `target` of `sentences` random pairs, or of all if fewer.
        languages: languages of the sources and of the targets.
        sentences: number of pairs to sample.
        parsers: a command by language; see `parse_entropy`.
        seed: seed for the sample.

    Raises:
        InputError: the input is damaged or empty, the disk is full, or a parser fails.
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
            language: {
                "side": side,
                "length": _mean_and_std(moments[side]),
                "parse_entropy": round(parse_entropy(texts[side], parsers[language]), _DIGITS)
                if language in parsers
                else None,
            }
            for language, side in sides.items()
        },
    }
    write_json(output, result)
    return result


class WordStatistics:
    """Vocabulary entropy and inverse document frequencies of sampled sentences in one language.

    All corpora are measured alike, with the frequencies of the same documents. The paper took them from
    Wikipedia. Words are split by `tokens.tokenize`.

    Args:
        samples: sentences by the name of the corpus.
        documents: batches of texts, each of which is a document; None takes every sentence of every sample.
    """

    def __init__(
        self, samples: Mapping[Any, Sequence[str]], documents: Iterable[Sequence[str]] | None = None
    ) -> None:
        self._tokens = {name: tokenize(texts) for name, texts in samples.items()}
        self._documents = 0
        self._frequencies: Counter[str] = Counter()
        # Only the words of the samples matter, and a large text has many more.
        known = {word for tokens in self._tokens.values() for word in tokens.words}
        for tokens in self._tokens.values() if documents is None else map(tokenize, documents):
            self._documents += len(tokens.offsets) - 1
            # Document and word are packed into one integer, to count each word once per document.
            vocabulary = max(1, len(tokens.words))
            distinct = np.unique(tokens.owners * vocabulary + tokens.ids)
            counts = np.bincount(distinct % vocabulary, minlength=len(tokens.words)).tolist()
            counted = zip(tokens.words, counts, strict=False)
            self._frequencies.update({word: count for word, count in counted if word in known})

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


def parse_entropy(sentences: Sequence[str], command: str) -> float:
    """Entropy, in nats, of the top two levels of the sentences' parses.

    ParaNMT-50M, section 5: "To prevent sparsity in the parse tree statistics, we used only the top 2 levels
    of the parse tree (i.e. 2 levels after the ROOT)".

    Args:
        sentences: the sentences; blank ones are left out.
        command: a program with its arguments, run without a shell. It reads one sentence per line, and writes
            its bracketed parse, such as `(ROOT (S (NP (PRP She)) (VP (VBZ sings))))`, on one line.

    Raises:
        InputError: the program is missing or fails, or its lines are too few, too many or not parses.
    """
    lines = [sentence for sentence in sentences if sentence.strip()]
    counts: Counter[str] = Counter()
    for number, parse in enumerate(_parses(lines, command), start=1):
        top = top_levels(parse)
        if top is None:
            raise InputError(
                f"statistics.parsers: {command}: line {number} is not a bracketed parse: {parse[:80]!r}"
            )
        counts[top] += 1
    return entropy(list(counts.values()))


def top_levels(parse: str) -> str | None:
    """The top two levels of a bracketed parse, without words: `(S(NP)(VP))`; None if it is not a parse."""
    # Imported here, since few corpora are parsed.
    from nltk.tree import Tree

    def cut(tree: Tree, levels: int) -> str:
        below = [cut(child, levels - 1) for child in tree if levels > 1 and isinstance(child, Tree)]
        return f"({tree.label()}{''.join(below)})"

    try:
        tree = Tree.fromstring(parse)
    except ValueError:
        return None
    tops = tree if tree.label() in _ROOTS else [tree]
    return "".join(cut(top, _LEVELS) for top in tops if isinstance(top, Tree)) or None


def _parses(lines: Sequence[str], command: str) -> list[str]:
    given = "".join(f"{line}\n" for line in lines)
    try:
        done = subprocess.run(  # noqa: S603 - the user's own program, and no shell
            shlex.split(command), input=given, capture_output=True, encoding="utf-8", errors="replace"
        )
    except OSError as error:
        raise InputError(f"statistics.parsers: {command}: cannot be run: {error.strerror}") from None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise InputError(f"statistics.parsers: {command}: ended with status {done.returncode}: {last}")
    parses = [line for line in done.stdout.splitlines() if line.strip()]
    if len(parses) != len(lines):
        raise InputError(f"statistics.parsers: {command}: {len(parses)} parses for {len(lines)} sentences")
    return parses


def _mean_and_std(moments: Float64) -> dict[str, float] | None:
    """Mean and standard deviation from the count, sum and sum of squares; None without values."""
    n, total, squares = moments.tolist()
    if not n:
        return None
    mean = total / n
    variance = max(0.0, squares / n - mean * mean)
    return {"mean": round(mean, _DIGITS), "std": round(variance**0.5, _DIGITS)}
