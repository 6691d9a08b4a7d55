"""Find training pairs with a sentence that occurs in a test set, exactly or nearly."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa

from paraphrastic.base.files import read_json, write_json
from paraphrastic_pipeline.base.tables import write_csv, write_tsv
from paraphrastic_pipeline.corpus.blocks import read_blocks, read_table, write_blocks
from paraphrastic_pipeline.corpus.normal_form import ngrams_of, words_of
from paraphrastic_pipeline.corpus.sampling import Samples

_SCHEMA = pa.schema(
    {
        "row": pa.int64(), "line": pa.int64(), "testset": pa.string(), "dataset": pa.string(),
        "kind": pa.string(), "similarity": pa.float32(), "side": pa.string(), "sentence": pa.string(),
        "test_sentence": pa.string(),
    }
)  # fmt: skip
_SIDES = ("source", "target")
# The name of the sentences that are held out, among the test sets that training pairs are searched for.
HELD_OUT = "held_out"
# Kinds of contamination.
_KINDS = ("exact", "near")
_REPEATED = ("testset", "dataset", "kind", "side")
_EXAMPLE_COLUMNS = ("testset", "kind", "dataset", "similarity", "line", "side", "sentence", "test_sentence")
# Whether a sentence equals a test sentence, how similar they are, the test sentence's number, and the side
# of the pair. Different sentences can have the same n-grams, and so a similarity of 1.
Match = tuple[bool, float, int, int]


class SentenceIndex:
    """An index of test sentences by their normal form and by their n-grams.

    Only the test sentences, which are few, are held in memory; the training data stream past them. The search
    for near duplicates is exact. Similarity is the Jaccard index: the share of the distinct n-grams of two
    sentences that both have. A sentence with n of them shares at least ⌈sn⌉ with every sentence of similarity
    s. One of its n - ⌈sn⌉ + 1 rarest is therefore among those of the other, so only these lead from one to
    the other (prefix filtering; Chaudhuri, Ganti and Kaushik 2006).

    Args:
        rows: rows of a file made by `testsets.gather_testsets`.
        ngram: number of words in an n-gram. Shorter sentences have no near duplicates.
        min_similarity: least similarity of near duplicates.
    """

    def __init__(self, rows: Sequence[Any], *, ngram: int = 3, min_similarity: float = 0.6) -> None:
        self.rows, self._ngram, self._min_similarity = rows, ngram, min_similarity
        self._exact: dict[str, list[int]] = {}
        self._having: dict[tuple[str, ...], list[int]] = {}
        self._ngrams = [ngrams_of(row.words, ngram) for row in rows]
        for number, row in enumerate(rows):
            self._exact.setdefault("".join(row.words), []).append(number)
            for each in self._ngrams[number]:
                self._having.setdefault(each, []).append(number)
        self._known = frozenset(self._having)

    def find(self, *sides: list[str]) -> dict[str, Match]:
        """The best match in each test set, the first of equal ones, for a pair's words by side."""
        best: dict[str, Match] = {}
        for side, words in enumerate(sides):
            near = ((False, similarity, number) for number, similarity in self._near(words))
            exact = ((True, 1.0, number) for number in self._exact.get("".join(words), ()))
            for match in chain(near, exact):
                testset = self.rows[match[2]].testset
                if testset not in best or match[:2] > best[testset][:2]:
                    best[testset] = (*match, side)
        return best

    def _near(self, words: Sequence[str]) -> Iterator[tuple[int, float]]:
        ngrams = ngrams_of(words, self._ngram)
        known = ngrams & self._known
        # The small term keeps rounding from adding one: in floats, 0.56 * 25 is a little more than 14.
        needed = max(1, math.ceil(self._min_similarity * len(ngrams) - 1e-9))
        if len(known) < needed:
            return
        rarest = sorted(map(self._having.__getitem__, known), key=len)[: len(known) - needed + 1]
        # Sorted, so that the first of equally similar sentences wins; the order of a set varies.
        for number in sorted(set(chain.from_iterable(rarest))):
            shared = len(known & self._ngrams[number])
            similarity = shared / (len(ngrams) + len(self._ngrams[number]) - shared)
            if similarity >= self._min_similarity:
                yield number, similarity


def mark_contamination(
    selected: str | Path,
    sentences: str | Path,
    contaminated: str | Path,
    *,
    counts: str | Path,
    examples: str | Path,
    held_out: str | Path | None = None,
    seed: int,
) -> dict[str, Any]:
    """Write which pairs have a side that occurs in a test set, and the test sentence most similar to it.

    Columns: `row` (of the pair in `selected`, from 0), `line`, `testset`, `dataset`, `kind` (`exact` or
    `near`), `similarity`, `side`, `sentence`, `test_sentence`. There is one row per pair and test set. A pair
    is exact if one of its sides is. The sentences that are held out are a test set, which neither the counts
    nor the examples have.

    Args:
        selected: a Parquet file made by `select_pairs`.
        sentences: a Parquet file made by `testset_sentences.gather_testsets`.
        contaminated: the Parquet file.
        counts: JSON file with the result, which is also returned: pairs `read`, and pairs found `exact` and
            `near`, in `all` and by test set.
        examples: TSV file for people to read: 20 random findings for each test set and kind.
        held_out: a Parquet file made by `held_out.hold_out_pairs`, whose sentences are looked for, too.
        seed: seed for the examples.
    """
    rows = [SimpleNamespace(**row) for row in read_table(sentences).to_pylist()]
    own = read_table(held_out, columns=[*_SIDES]).to_pylist() if held_out else []
    for sentence in (text for pair in own for text in pair.values()):
        words = words_of(sentence)
        rows.append(SimpleNamespace(testset=HELD_OUT, dataset="", sentence=sentence, words=words))
    index = SentenceIndex(rows)
    names = [name for name in dict.fromkeys(row.testset for row in rows) if name != HELD_OUT]
    samples = Samples(list(product(names, _KINDS)), seed)
    number_of = {key: number for number, key in enumerate(samples.counts)}
    pairs = Counter[str]()
    read = 0
    with write_blocks(contaminated, _SCHEMA, dictionary=_REPEATED) as writer:
        for block in read_blocks(selected, columns=[*_SIDES, "line"]):
            found = list(_find(index, block, first_row=read))
            read += block.num_rows
            batch = pa.RecordBatch.from_pylist([*map(vars, found)], schema=_SCHEMA)
            writer.write(batch)
            numbers = [number_of.get((row.testset, row.kind), -1) for row in found]
            samples.add(batch, np.array(numbers, np.intp))
            # What is exact comes last, and so it decides on a pair that is also near.
            counted = sorted((row.kind, row.row) for row in found if row.testset != HELD_OUT)
            pairs.update({row: kind for kind, row in reversed(counted)}.values())
    shown = [{**row, "similarity": f"{row['similarity']:.2f}"} for _, row in samples.rows("line", "row")]
    write_tsv(examples, _EXAMPLE_COLUMNS, [[row[name] for name in _EXAMPLE_COLUMNS] for row in shown])
    result = {
        "read": read,
        "all": {kind: pairs[kind] for kind in _KINDS},
        "testsets": {name: {kind: samples.counts[name, kind] for kind in _KINDS} for name in names},
    }
    write_json(counts, result)
    return result


def _find(index: SentenceIndex, block: pa.RecordBatch, *, first_row: int) -> Iterator[Any]:
    """The rows of the table for a block of pairs."""
    for row, pair in enumerate(block.to_pylist(), start=first_row):
        found = index.find(*(words_of(pair[side]) for side in _SIDES))
        for testset, (is_exact, similarity, number, of_side) in found.items():
            side, test, kind = _SIDES[of_side], index.rows[number], _KINDS[0 if is_exact else 1]
            yield SimpleNamespace(
                row=row, line=pair["line"], testset=testset, dataset=test.dataset, kind=kind,
                similarity=similarity, side=side, sentence=pair[side], test_sentence=test.sentence,
            )  # fmt: skip


def tabulate_contamination(
    counts: Sequence[Path], table: Path, *, corpora: Sequence[tuple[str, str]], drop: Sequence[str]
) -> None:
    """Write how many pairs of each model and corpus occur in each test set, and in any of them (`all`).

    Columns: `model`, `corpus`, `testset`, `read` (selected pairs), `exact`, `near`,
    `dropped` (according to `drop`) and `share` (of the pairs read, in %).

    Args:
        counts: JSON files written by `mark_contamination`, in the order of the rows.
        table: the CSV file.
        corpora: the model and corpus of each file.
        drop: kinds of contamination that are left out of training.
    """
    rows = []
    for (model, corpus), path in zip(corpora, counts, strict=True):
        about = SimpleNamespace(**read_json(path))
        for testset, kinds in (*about.testsets.items(), ("all", about.all)):
            share = f"{100 * sum(kinds.values()) / about.read:.2f}" if about.read else ""
            dropped = sum(kinds[kind] for kind in drop)
            rows.append((model, corpus, testset, about.read, *kinds.values(), dropped, share))
    columns = ("model", "corpus", "testset", "read", *_KINDS, "dropped", "share")
    write_csv(table, columns, (dict(zip(columns, row, strict=True)) for row in rows))
