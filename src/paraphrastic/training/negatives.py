"""The negatives that training chooses, to look at (Wieting and Gimpel 2018, table 6)."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain
from typing import NamedTuple

import numpy as np
import torch

from paraphrastic.base.errors import InputError
from paraphrastic.base.threads import Workers
from paraphrastic.corpus.blocks import open_parquet, read_blocks
from paraphrastic.model.embed_files import read_sentences
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.training.dataset import Sentences
from paraphrastic.training.negative_mining import NO_NEGATIVE, hardest_negatives

Pair = tuple[str, str]
SHOWN = 5


class Negative(NamedTuple):
    """The negative of a sentence in a mega-batch; `negative` and `cosine` are None where there is none."""

    sentence: str
    megabatch: int
    negative: str | None
    cosine: float | None


def choose_negatives(
    model: SentenceEncoder,
    pairs: Iterable[Pair],
    sentences: Sequence[str],
    *,
    megabatch: Sequence[int],
    batch_size: int,
    threads: int = 1,
) -> list[Negative]:
    """The negatives of `sentences` that training would choose by this model, by size of the mega-batch.

    A mega-batch has the pairs of the sentences (of each, the first pair that has it on a side; one that no
    pair has is paired with itself) and then the first pairs that there are, so that a larger one holds all
    of a smaller one. Where fewer pairs are left than it takes, it is all of them. The other settings are
    those that the model was trained with.

    Args:
        model: the encoder.
        pairs: pairs of the training data, in random order.
        sentences: where there are none, the sources of the first pairs are taken.
        megabatch: sizes M, in mini-batches.
        batch_size: pairs of a mini-batch.
        threads: threads of the search.

    Raises:
        InputError: there are no pairs, or more sentences than pairs in the smallest mega-batch.
    """
    gathered, asked = _gather(model, pairs, sentences, size=max(megabatch) * batch_size)
    if not gathered:
        raise InputError("there are no pairs to look for negatives in")
    if len(sentences) > min(megabatch) * batch_size:
        raise InputError(
            f"{len(sentences)} sentences are more than the smallest mega-batch has pairs, which is "
            f"{min(megabatch) * batch_size}"
        )
    texts = list(zip(*gathered, strict=True))
    languages = model.config["languages"]
    vectors, fingerprints = [], []
    for own, language in zip(texts, (languages[0], languages[-1]), strict=True):
        embedded = torch.from_numpy(model.embed_raw_text(own, language=language, threads=threads))
        vectors.append(torch.nn.functional.normalize(embedded))
        fingerprints.append(_fingerprints(model, own, language))
    training = model.config.get("training", {})
    found: list[list[Negative]] = [[] for _ in asked]
    with closing(Workers(threads)) as workers:
        for size in megabatch:
            n = min(len(gathered), size * batch_size)
            stacked = torch.cat([side[:n] for side in vectors])
            negatives = hardest_negatives(
                stacked,
                np.concatenate([side[:n] for side in fingerprints]),
                workers,
                either_side=training.get("negatives") == "either_side",
                exclude_duplicates=training.get("exclude_duplicates", True),
                precision=training.get("mining_precision", "auto"),
            )
            for (pair, side), of_sentence in zip(asked, found, strict=True):
                row, chosen = side * n + pair, int(negatives[side * n + pair])
                negative = cosine = None
                if chosen != NO_NEGATIVE:
                    negative = texts[chosen // n][chosen % n]
                    cosine = float(stacked[row] @ stacked[chosen])
                of_sentence.append(Negative(texts[side][pair], size, negative, cosine))
    return list(chain.from_iterable(found))


def _gather(
    model: SentenceEncoder, pairs: Iterable[Pair], sentences: Sequence[str], *, size: int
) -> tuple[list[Pair], list[tuple[int, int]]]:
    """At most `size` pairs, and of each sentence the pair and the side that it stands on."""

    def plain(text: str) -> str:
        return " ".join(text.lower().split() if model.config["lowercase"] else text.split())

    missing = {plain(sentence) for sentence in sentences}
    found: dict[str, tuple[Pair, int]] = {}
    others: list[Pair] = []
    for pair in pairs:
        own = [(plain(text), side) for side, text in enumerate(pair)] if missing else []
        hits = [(text, side) for text, side in own if text in missing]
        for text, side in hits:
            if text in missing:
                found[text] = (pair, side)
                missing.remove(text)
        if not hits and len(others) < size:
            others.append(pair)
        if not missing and len(others) >= size:
            break
    if not sentences:
        return others, [(pair, 0) for pair in range(min(SHOWN, len(others)))]
    for sentence in sentences:
        found.setdefault(plain(sentence), ((sentence, sentence), 0))
    first = list(dict.fromkeys(pair for pair, _ in found.values()))
    asked = [found[text] for text in dict.fromkeys(map(plain, sentences))]
    return (first + others)[:size], [(first.index(pair), side) for pair, side in asked]


def _fingerprints(model: SentenceEncoder, sentences: Sequence[str], language: str) -> np.ndarray:
    """Equal for sentences that are equal to training."""
    pieces = model.known_tokens(sentences, language=language)
    tokens = np.fromiter(chain.from_iterable(pieces), np.int32)
    offsets = np.cumsum([0, *map(len, pieces)])
    return Sentences(tokens, offsets).fingerprints()


def read_pairs(path: str) -> Iterator[Pair]:
    """Pairs of a Parquet file (`source`, `target`) or of the first two columns of a TSV file; `-` is stdin.

    Raises:
        InputError: the file cannot be read, or a line has no two columns.
    """
    if path.endswith(".parquet"):
        with open_parquet(path) as file:
            if missing := {"source", "target"} - set(file.schema_arrow.names):
                raise InputError(f"{path}: has no column {' and no '.join(map(repr, sorted(missing)))}")
        for block in read_blocks(path, columns=["source", "target"]):
            yield from zip(*(column.to_pylist() for column in block.columns), strict=True)
        return
    for number, line in enumerate(read_sentences(path), start=1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise InputError(f"{path}:{number}: has no two columns")
        yield columns[0], columns[1]


def as_table(rows: Iterable[Negative]) -> Iterator[str]:
    """Lines of a TSV file: sentence, M, negative, cosine."""
    yield "sentence\tM\tnegative\tcosine\n"
    for row in rows:
        sentence, negative = (" ".join((text or "").split()) for text in (row.sentence, row.negative))
        cosine = "" if row.cosine is None else f"{row.cosine:.4f}"
        yield f"{sentence}\t{row.megabatch}\t{negative}\t{cosine}\n"
