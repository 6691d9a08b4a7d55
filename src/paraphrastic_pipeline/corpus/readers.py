"""Convert the files of a published corpus, or a user's own files, into one Parquet file of pairs."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from paraphrastic.base.errors import InputError
from paraphrastic.base.rows import kind_of
from paraphrastic_pipeline.corpus.blocks import PAIR_SCHEMA, READ_ROWS, write_blocks
from paraphrastic_pipeline.corpus.counts import loss, warn
from paraphrastic_pipeline.corpus.groups import READERS, drawn_pairs
from paraphrastic_pipeline.corpus.lines import Text, Unreadable, aligned_lines
from paraphrastic_pipeline.corpus.tables import PairRows, pair_rows, scored, tabbed_rows, table_rows
from paraphrastic_pipeline.corpus.tmx import tmx_rows


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One file of a corpus, with the `languages` and `members` of its row in the registry.

    Paraphrase scores in a table are on the scale of `score_range`.
    """

    path: str | Path
    languages: tuple[str, ...]
    members: tuple[str, ...] = ()
    score_range: Sequence[float] = (0, 1)


def extract_corpus(
    kind: str,
    downloads: Sequence[str | Path],
    files: Sequence[Mapping[str, Any]],
    languages: Sequence[str],
    pairs: str | Path,
    *,
    max_unreadable: float = 0.01,
    seed: int = 1,
) -> dict[str, int]:
    """Write the pairs of a corpus as Parquet: `source`, `target`, `line` (in the original file, from 1).

    A row that cannot be read (bytes that are not UTF-8, a NUL character, a line of more than a MiB, a wrong
    number of columns, a score that is no number, broken JSON, a unit without one of the languages) is left
    out and counted, and the first ten are logged. Pairs with an empty side are kept, since the selection
    drops and counts them.

    Args:
        kind: a key of `registry.datasets.KINDS`, which describes the format of the files.
        downloads: the files of the corpus; tables, archives of bitext and TMX have just one.
        files: the other fields of `CorpusFile` for each.
        languages: languages of the sources and of the targets; for paraphrases, the same one twice.
        pairs: the Parquet file.
        max_unreadable: the largest share of the rows that may be unreadable.
        seed: seed of the pairs that are drawn from `groups`; their `line` is the number of a group.

    Returns:
        How many `lines` were read, how many `pairs` were written, and how many rows were `unreadable`.

    Raises:
        InputError: there are too many unreadable rows, sides of unequal length, damaged files, another
            encoding than UTF-8, columns that are missing, no pairs at all, or no disk space.
    """
    unreadable = Unreadable(Path(pairs).parent.name, max_unreadable)
    described = [CorpusFile(path, **file) for path, file in zip(downloads, files, strict=True)]
    read = read_pairs(kind, described, unreadable, seed=seed)
    rows = read.rows
    if languages[0] != described[0].languages[0]:
        rows = ((other, one, *rest) for one, other, *rest in rows)
    schema = pa.schema([*PAIR_SCHEMA, *(pa.field(score, pa.float64()) for score in read.scores)])
    with write_blocks(pairs, schema) as writer:
        while block := list(islice(rows, READ_ROWS)):
            columns = zip(*block, strict=True)
            arrays = [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)]
            writer.write(pa.RecordBatch.from_arrays(arrays, schema=schema))
        unreadable.check()
        if not writer.rows:
            names = ", ".join(map(str, downloads))
            raise InputError(f"{names}: the corpus is empty: no pairs in {unreadable.rows:,} rows")
    warn(loss(str(pairs), unreadable.rows, {"unreadable": unreadable.count}))
    counts = {"lines": unreadable.rows, "pairs": writer.rows, "unreadable": unreadable.count}
    logging.info("%s: %s", pairs, counts)
    return counts


def read_pairs(kind: str, files: Sequence[CorpusFile], unreadable: Unreadable, *, seed: int = 1) -> PairRows:
    """The pairs of a corpus, with the sides in the order of the files' languages."""
    first, sides = files[0], (files[0].languages[0], files[-1].languages[-1])
    match kind:
        case "opus" | "aligned":
            texts = [Text(file.path) for file in files]
            if kind == "opus":
                # A member has several possible names, since OPUS orders two languages either way.
                texts = [Text(first.path, first.members[side::2]) for side in range(2)]
            return PairRows((*sides, number) for number, sides in aligned_lines(texts, unreadable))
        case "captions":
            return PairRows(_captions(files, unreadable))
        case "groups":
            reader, *columns = first.members
            if reader not in READERS:
                raise InputError(f"{first.path}: there is no reader {reader!r} of groups")
            groups = READERS[reader]([file.path for file in files], columns, unreadable)
            return PairRows(drawn_pairs(groups, seed))
        case "text":
            return PairRows(_text(files, unreadable))
        case "paranmt" | "manythings":
            # Lines of an archive's member; manythings may have a third column, which names the licence.
            widths, cells = ((3,), 3) if kind == "paranmt" else ((2, 3), 2)
            text = Text(first.path, first.members)
            rows = tabbed_rows(text, widths, range(cells), unreadable)
            return PairRows(scored(rows, text, unreadable), ("paraphrase_score",)[: cells - 2])
        case "tmx":
            return PairRows(tmx_rows(Text(first.path), sides, unreadable))
        case _:
            return pair_rows(kind, Path(first.path), sides, first.members, unreadable, first.score_range)


def _captions(files: Sequence[CorpusFile], unreadable: Unreadable) -> Iterator[tuple[str, str, int]]:
    """Pair every two of a line's k sentences, which gives k (k - 1) / 2 pairs per line.

    The sides of every other pair are swapped, so that no side collects the sentences of one annotator.
    """
    for number, sentences in aligned_lines([Text(file.path) for file in files], unreadable):
        for rank, (one, other) in enumerate(combinations(sentences, 2)):
            yield (other, one, number) if (number + rank) % 2 else (one, other, number)


def _text(files: Sequence[CorpusFile], unreadable: Unreadable) -> Iterator[tuple[str, str, int]]:
    """Sentences without pairs, each of which is both sides of a pair; rows of all files have one count."""
    rows = chain.from_iterable(_sentences(file, unreadable) for file in files)
    for number, texts in enumerate(rows, start=1):
        yield from ((text, text, number) for text in texts if text.strip())


def _sentences(file: CorpusFile, unreadable: Unreadable) -> Iterator[Sequence[str]]:
    """The sentences on each line of a file, in columns of a table, or before the tabs of a member."""
    if not file.members:
        yield from (texts for _, texts in aligned_lines([Text(file.path)], unreadable))
    elif kind_of(file.path):
        yield from (texts for _, texts in table_rows(file.path, file.members, unreadable))
    else:
        yield from (line.split("\t")[:1] for _, line in Text(file.path, file.members[:1]).lines(unreadable))
