"""Show the negatives that training would choose (Wieting and Gimpel 2018, table 6)."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from itertools import chain, compress, repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from paraphrastic.base.errors import InputError
from paraphrastic.base.text import clean
from paraphrastic.base.text_files import read_sentences
from paraphrastic.model.encoder import SentenceEncoder
from paraphrastic.model.folder import open_folder
from paraphrastic_pipeline.base.tables import tsv_line, write_csv
from paraphrastic_pipeline.corpus.blocks import open_parquet, read_blocks
from paraphrastic_pipeline.training.fingerprints import fingerprints
from paraphrastic_pipeline.training.negative_mining import hardest_negatives
from paraphrastic_pipeline.training.negative_search import NO_NEGATIVE
from paraphrastic_pipeline.training.sentences import Sentences
from paraphrastic_pipeline.training.threads import Workers

Pair = tuple[str, str]
SHOWN = 5
NEGATIVES_COLUMNS = ["sentence", "M", "negative", "cosine"]


class Negative(NamedTuple):
    """The negative of a sentence in a mega-batch; `negative` and `cosine` are None if there is none."""

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
    """Choose negatives of `sentences` as training would with this model, for several mega-batch sizes.

    A mega-batch begins with the first pair that has each sentence on either side; a sentence in no pair is
    paired with itself. The first of the other pairs follow, so a larger mega-batch holds every pair of a
    smaller one. If there are too few pairs, it holds all of them. The other settings are those that the model
    was trained with.

    Args:
        model: the encoder.
        pairs: pairs of the training data, in random order.
        sentences: sentences to find negatives for; if there are none, the sources of the first pairs.
        megabatch: sizes M, in mini-batches.
        batch_size: pairs per mini-batch.
        threads: number of threads.

    Raises:
        InputError: there are no pairs, or the smallest mega-batch has fewer pairs than there are sentences.
    """
    gathered, asked = _gather(model, pairs, sentences, size=max(megabatch) * batch_size)
    if not gathered:
        raise InputError("there are no pairs to look for negatives in")
    if len(sentences) > min(megabatch) * batch_size:
        raise InputError(
            f"{len(sentences)} sentences do not fit into the smallest mega-batch, which has "
            f"{min(megabatch) * batch_size} pairs"
        )
    texts = list(zip(*gathered, strict=True))
    languages = model.config["languages"] or [None]
    vectors, ids = [], []
    for side_texts, language in zip(texts, (languages[0], languages[-1]), strict=True):
        embedded = torch.from_numpy(model.embed_raw_text(side_texts, language=language, threads=threads))
        vectors.append(torch.nn.functional.normalize(embedded))
        # Sentences with the same known pieces are equal in training, so their fingerprints are equal.
        pieces = model.tokenize(side_texts, language=language).lists()
        tokens = np.fromiter(chain.from_iterable(pieces), np.int32)
        ids.append(fingerprints(Sentences(tokens, np.cumsum([0, *map(len, pieces)]))))
    training = model.config["training"]
    negatives_of: list[list[Negative]] = [[] for _ in asked]
    with closing(Workers(threads)) as workers:
        for size in megabatch:
            n = min(len(gathered), size * batch_size)
            stacked = torch.cat([side[:n] for side in vectors])
            negatives = hardest_negatives(
                stacked,
                np.concatenate([side[:n] for side in ids]),
                workers,
                either_side=training.get("negatives") == "either_side",
                exclude_duplicates=training.get("exclude_duplicates", True),
                max_share=training.get("max_negative_share"),
                precision=training.get("mining_precision", "auto"),
            )
            for (pair, side), of_sentence in zip(asked, negatives_of, strict=True):
                row, chosen = side * n + pair, int(negatives[side * n + pair])
                negative = cosine = None
                if chosen != NO_NEGATIVE:
                    negative = texts[chosen // n][chosen % n]
                    cosine = float(stacked[row] @ stacked[chosen])
                of_sentence.append(Negative(texts[side][pair], size, negative, cosine))
    return list(chain.from_iterable(negatives_of))


def _gather(
    model: SentenceEncoder, pairs: Iterable[Pair], sentences: Sequence[str], *, size: int
) -> tuple[list[Pair], list[tuple[int, int]]]:
    """Gather at most `size` pairs, and find the pair and the side of each sentence."""

    def plain(text: str) -> str:
        return " ".join(text.lower().split() if model.config["lowercase"] else text.split())

    missing = {plain(sentence) for sentence in sentences}
    pairs_of: dict[str, tuple[Pair, int]] = {}
    others: list[Pair] = []
    for pair in pairs:
        # The source comes last, because it wins if both sides have the sentence.
        hits = {plain(pair[side]): (pair, side) for side in (1, 0)} if missing else {}
        hits = {text: place for text, place in hits.items() if text in missing}
        pairs_of |= hits
        missing -= hits.keys()
        if not hits and len(others) < size:
            others.append(pair)
        if not missing and len(others) >= size:
            break
    if not sentences:
        return others, [(pair, 0) for pair in range(min(SHOWN, len(others)))]
    for sentence in sentences:
        pairs_of.setdefault(plain(sentence), ((sentence, sentence), 0))
    first = list(dict.fromkeys(pair for pair, _ in pairs_of.values()))
    asked = [pairs_of[text] for text in dict.fromkeys(map(plain, sentences))]
    return (first + others)[:size], [(first.index(pair), side) for pair, side in asked]


def read_pairs(path: str | Path, texts: Sequence[int] = ()) -> Iterator[Pair]:
    """Read pairs from a Parquet file (`source`, `target`) or a TSV file's first two columns; `-` is stdin.

    Rows of a Parquet file whose column `corpus` has one of the numbers `texts` are left out.

    Raises:
        InputError: the file cannot be read or lacks a column, or a line has fewer than two columns.
    """
    if str(path).endswith(".parquet"):
        with open_parquet(path) as file:
            if missing := {"source", "target"} - set(file.schema_arrow.names):
                raise InputError(f"{path}: has no column {' and no '.join(map(repr, sorted(missing)))}")
        for block in read_blocks(path, columns=["source", "target", *(["corpus"] if texts else [])]):
            sides = zip(*(block[side].to_pylist() for side in ("source", "target")), strict=True)
            paired = ~np.isin(block["corpus"], texts) if texts else repeat(True)
            yield from compress(sides, paired)
        return
    for number, line in enumerate(read_sentences(str(path)), start=1):
        columns = line.split("\t")
        if len(columns) < 2:
            raise InputError(f"{path}:{number}: does not have two columns")
        yield columns[0], columns[1]


def tabulate_negatives(
    pairs: str | Path,
    table: str | Path,
    *,
    model: str | Path,
    sentences: Sequence[str] | None,
    megabatch: Sequence[int],
    batch_size: int,
    texts: Sequence[int] = (),
) -> None:
    """Write the negatives that training would choose with a model, as in Table 6 of ParaNMT-50M.

    Columns: `sentence`; `M`, the size of the mega-batch; `negative`, which is empty if every candidate is
    ruled out; and `cosine`.

    Args:
        pairs: Parquet file of the model's training pairs.
        table: the CSV file.
        model: the model's folder.
        sentences: sentences to find negatives for; None for the sources of the first pairs.
        megabatch: sizes M, in mini-batches.
        batch_size: pairs per mini-batch.
        texts: numbers of the corpora without pairs.

    Raises:
        InputError: a file is damaged, or the sentences do not fit into the smallest mega-batch.
    """
    read, given = read_pairs(pairs, texts), sentences or []
    rows = choose_negatives(open_folder(Path(model)), read, given, megabatch=megabatch, batch_size=batch_size)
    write_csv(
        table, NEGATIVES_COLUMNS, (dict(zip(NEGATIVES_COLUMNS, _cells(row), strict=True)) for row in rows)
    )


def as_table(rows: Iterable[Negative]) -> Iterator[str]:
    """Lines of a TSV file for people to read: sentence, M, negative, cosine."""
    yield from map(tsv_line, (NEGATIVES_COLUMNS, *map(_cells, rows)))


def _cells(row: Negative) -> list[str]:
    sentence, negative = (" ".join(clean(text or "").split()) for text in (row.sentence, row.negative))
    return [sentence, str(row.megabatch), negative, "" if row.cosine is None else f"{row.cosine:.4f}"]
